/* The row step in big words: one text, compiled once for each kind of big word (_words.h has them).
 *
 * The theory stands at the head of _step.py: the state is two bits a cell, the boundaries of a row are
 * balanced brackets, and the first closed boundary of a gap (the first kept cell of a set) is where a token
 * stops that the carry of one addition takes along, one addition for each depth. There the row is
 * one integer; here it is many words, so each sweep takes along from word to word what the integer had in itself: the
 * parity of each bit plane of the depth counter, and the token of each depth that is still on its way.
 *
 * The last closed boundary of a gap is the first one from the other side, so a row has two sweeps for its
 * boundaries and two for its cells, one each way; a sweep from the right runs in mirrored words. The depths are the
 * same seen from either side. So they are counted once for both sweeps, from the left, and a mirrored
 * sweep mirrors the planes: that is much less work than to count again.
 *
 * A big word is LANES 64-bit words, and everything here is written in a handful of operations on them, which the
 * including file gives. The words to its left and right, in the same row, stand STEP words away: 1 if the vector lies
 * along the row, LANES if each lane is a row of its own.
 *
 *   KIND, LANES, STEP, TARGET   a name for what is made here, and the function attribute of the machine
 *   big, big_load, big_store, big_fill, big_any
 *   big_reversed(x)             the columns from right to left
 *
 * and, along the row:
 *
 *   big_carry, carry_any        what a carry is between big words
 *   big_lanes(x)                1 if x is not 0
 *   big_prefix_xor(x, &carry)   for each bit the parity up to and with it; the carry is the parity so far
 *   big_add(a, b, &carry)       the sum as one number of LANES * 64 bits, carry in and out
 *
 * or, where each lane is a row of its own and so has carries of its own:
 *
 *   big_signed                  the vector with signed words
 *   big_prefix(x)               big_prefix_xor of each word, without a carry
 *
 * The arrays of a row_state have GUARD words before and behind them, so that a neighbour can always be read.
 * Bits behind the last column are 0 in the state and in the coins; where a sweep sets them they are masked off.
 */

#define INLINE static INLINE_HINT TARGET
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define NAME(name) GLUE(name##_, KIND)

#if STEP > 1

/* ---- the carries of rows side by side ---------------------------------------------------------- */

#define big_carry big
#define carry_any big_any
#define big_lanes NAME(lanes)
#define big_prefix_xor NAME(prefix_xor)
#define IDLE big_fill(~(word)0)
#define nothing_runs(tokens, moving) 0 /* it takes longer to ask */

INLINE unsigned NAME(lanes)(big x) /* bit i: lane i is not 0 */
{
    unsigned lanes = 0;
    for (int i = 0; i < LANES; i++)
        lanes |= (unsigned)(x[i] != 0) << i;
    return lanes;
}

INLINE big NAME(prefix_xor)(big x, big *parity) /* the parity so far is all ones or 0 in each lane */
{
    x = big_prefix(x) ^ *parity;
    *parity = (big)((big_signed)x >> 63);
    return x;
}

/* As below. What is handed on is all ones where no token is on its way, and 0 where one is: so tokens - halts + idle
 * is ~halts + tokens, and one more for a token that arrives. */
INLINE big NAME(run)(big tokens, big halts, big *idle)
{
    big sum = tokens - halts + *idle;
    *idle = (big)((big_signed)(halts | (sum & ~tokens)) >> 63); /* but where the topmost bit hands a carry on */
    return sum & halts;
}

#else

#define IDLE 0
#define nothing_runs(tokens, moving) (!(moving) && !big_any(tokens))

/* Where tokens stop that run to the next of the halts: the carry of an addition takes them through all other bits.
 * No token is a halt itself. What is handed on is the token that is still on its way. */
INLINE big NAME(run)(big tokens, big halts, unsigned *carry) { return big_add(~halts, tokens, carry) & halts; }

#endif

typedef struct {
    big_carry moving[DEPTHS]; /* whether a token of each depth is on its way where the next big word begins */
} NAME(sweep);

INLINE NAME(sweep) NAME(begin)(void)
{
    NAME(sweep) s;
    for (int depth = 0; depth < DEPTHS; depth++)
        s.moving[depth] = IDLE;
    return s;
}

typedef struct {
    big falls, third, even; /* whether a dead end is braided, and which way */
} NAME(braid_coins);

/* ---- the row's words ------------------------------------------------------------------------- */

INLINE big NAME(from_left)(const word *x, int i) /* bit c: what x says of column c - 1 */
{
    return big_load(x + i) << 1 | big_load(x + i - STEP) >> 63;
}

INLINE big NAME(from_right)(const word *x, int i) /* bit c: what x says of column c + 1 */
{
    return big_load(x + i) >> 1 | big_load(x + i + STEP) << 63;
}

/* Run the body with i at each big word, from the left or, backwards, from the right. */
#define EACH_BIG(i, backwards) \
    for (int step_ = (backwards) ? -LANES : LANES, i = (backwards) ? r->padded - LANES : 0; i >= 0 && i < r->padded; i += step_)

/* ---- depths ----------------------------------------------------------------------------------- */

/* Count the brackets of big word i, one bit plane after the other; on rings, an open counts as inside its own gap.
 * The highest plane is made where something toggles it only: in most rows nothing does. Returns what overflows. */
INLINE big NAME(depth_planes)(row_state *r, big_carry parity[PLANES], big opens, big closes, int rings, int i)
{
    big toggles = opens | closes;
    for (int k = 0; k < PLANES; k++) {
        big before = big_fill(0);
        if (k < PLANES - 1 || big_any(toggles) || carry_any(parity[k])) {
            before = big_prefix_xor(toggles, &parity[k]) ^ toggles;
            big_store(r->planes[k] + i, rings ? before ^ (toggles & opens) : before);
            toggles &= ~(before ^ opens); /* ups carry from 1, downs borrow from 0 */
        } else {
            big_store(r->planes[k] + i, before);
        }
    }
    return toggles;
}

INLINE big NAME(ring_depths)(row_state *r)
{
    big_carry parity[PLANES] = {0};
    big too_deep = big_fill(0);
    EACH_BIG(i, 0) {
        big n = big_load(r->has_next + i), q = NAME(from_right)(r->has_prev, i);
        big_store(r->q + i, q);
        too_deep |= NAME(depth_planes)(r, parity, n & ~q, q & ~n, 1, i);
    }
    return too_deep;
}

INLINE big NAME(cell_depths)(row_state *r)
{
    big_carry parity[PLANES] = {0};
    big too_deep = big_fill(0);
    EACH_BIG(i, 0) {
        big n = big_load(r->n + i), q = big_load(r->q + i);
        too_deep |= NAME(depth_planes)(r, parity, n & ~q, q & ~n, 0, i);
    }
    return too_deep;
}

/* ---- tokens ------------------------------------------------------------------------------------ */

/* Half of the depths: those whose highest plane is 0, or 1. */
INLINE big NAME(half_ripples)(NAME(sweep) *s, const big planes[PLANES], big tokens, big stops, int lowest, int base)
{
    big found = big_fill(0);
    UNROLL
    for (int depth = lowest; depth < DEPTHS / 2; depth++) {
        big here = big_fill(~(word)0);
        for (int k = 0; k < PLANES - 1; k++)
            here &= depth >> k & 1 ? planes[k] : ~planes[k];
        if (base + depth >= SELDOM && nothing_runs(tokens & here, s->moving[base + depth]))
            continue;
        found |= NAME(run)(tokens & here, stops & here, &s->moving[base + depth]);
    }
    return found;
}

/* Each token runs to the next stop of its own depth; tokens and stops have no bit in common. */
INLINE big NAME(ripples)(const row_state *r, NAME(sweep) *s, int mirror, big tokens, big stops, int lowest, int i)
{
    big planes[PLANES], found;
    if (mirror)
        tokens = big_reversed(tokens), stops = big_reversed(stops);
    for (int k = 0; k < PLANES - 1; k++)
        planes[k] = mirror ? big_reversed(big_load(r->planes[k] + i)) : big_load(r->planes[k] + i);
    big top = big_load(r->planes[PLANES - 1] + i);
    if (big_any(top)) {
        if (mirror)
            top = big_reversed(top);
        found = NAME(half_ripples)(s, planes, tokens & top, stops & top, 0, DEPTHS / 2);
        found |= NAME(half_ripples)(s, planes, tokens & ~top, stops & ~top, lowest, 0);
    } else {
        found = NAME(half_ripples)(s, planes, tokens, stops, lowest, 0);
    }
    return mirror ? big_reversed(found) : found;
}

/* First boundary of each gap that is not joined (its close always counts). */
INLINE big NAME(first_closed)(const row_state *r, NAME(sweep) *s, int mirror, big n, big q, big joined, int i)
{
    if (mirror) {
        big x = n;
        n = q, q = x;
    }
    big opens = n & ~q;
    return (opens & ~joined) | NAME(ripples)(r, s, mirror, opens & joined, ~(n | (joined & ~q)), 1, i);
}

/* First kept cell of each set (its last cell always counts). */
INLINE big NAME(first_kept)(const row_state *r, NAME(sweep) *s, int mirror, big dropped, int i)
{
    big next = big_load(r->n + i), prev = NAME(from_left)(r->q, i);
    if (mirror) {
        big x = next;
        next = prev, prev = x;
    }
    big stops = ~(dropped & next);
    big found = (~prev & stops) | NAME(ripples)(r, s, mirror, ~prev & ~stops, stops, 0, i);
    return found & big_load(r->cells + i);
}

/* ---- the four sweeps of a row ------------------------------------------------------------------ */

/* Passages east, and of each ring the boundary that stays closed first in the scan's order. */
INLINE void NAME(join_sweep)(row_state *r, int back)
{
    NAME(sweep) s = NAME(begin)();
    EACH_BIG(i, back) {
        big n = big_load(r->has_next + i), q = big_load(r->q + i), joins = big_load(r->joins + i);
        big first = NAME(first_closed)(r, &s, back, n, q, joins, i);
        big_store(r->first + i, first);
        big_store(r->east + i, joins & ~(n & q) & ~(first & (back ? n & ~q : q & ~n)));
    }
}

/* The one that stays closed last is the first one from the other side; then the boundaries' new n and q. */
INLINE void NAME(rejoin_sweep)(row_state *r, int back, int merging)
{
    NAME(sweep) s = NAME(begin)();
    EACH_BIG(i, !back) {
        big n = big_load(r->has_next + i), q = big_load(r->q + i), same = n & q;
        big east = big_load(r->east + i), first = big_load(r->first + i);
        big last = NAME(first_closed)(r, &s, !back, n, q, east, i);
        if (merging)
            east = big_load(r->boundaries + i) & ~(same | last), first = last;
        big_store(r->east + i, east);
        big_store(r->n + i, east | same | (back ? last : first));
        big_store(r->q + i, east | same | (back ? first : last));
    }
}

/* Passages south; a kept cell that is not the first of its set has another one behind it in the scan. */
INLINE void NAME(keep_sweep)(row_state *r, int back)
{
    NAME(sweep) s = NAME(begin)();
    word *behind = back ? r->next_after : r->prev_after;
    EACH_BIG(i, back) {
        big cells = big_load(r->cells + i), dropped = cells & ~big_load(r->keeps + i);
        big first = NAME(first_kept)(r, &s, back, dropped, i), south = (cells & ~dropped) | first;
        big_store(r->south + i, south);
        big_store(behind + i, south & ~first);
    }
}

INLINE void NAME(rekeep_sweep)(row_state *r, int back)
{
    NAME(sweep) s = NAME(begin)();
    word *ahead = back ? r->prev_after : r->next_after;
    EACH_BIG(i, !back) {
        big south = big_load(r->south + i), dropped = big_load(r->cells + i) & ~south;
        big_store(ahead + i, south & ~NAME(first_kept)(r, &s, !back, dropped, i));
    }
}

/* Carve one row from its coins; not 0 where it nests deeper than the planes count. */
INLINE big NAME(sweep_row)(row_state *r, int back, int merging)
{
    big too_deep = NAME(ring_depths)(r);
    NAME(join_sweep)(r, back);
    NAME(rejoin_sweep)(r, back, merging);
    too_deep |= NAME(cell_depths)(r);
    NAME(keep_sweep)(r, back);
    NAME(rekeep_sweep)(r, back);
    return too_deep;
}

/* ---- coins -------------------------------------------------------------------------------------- */

/* The words of a coin that are drawn in any case. One column is then left in four big words where all are asked for,
 * in eight where half of them are. */
#define FIRST_WORDS (LANES == 8 ? 11 : LANES == 4 ? 10 : LANES == 2 ? 9 : 8)

INLINE big NAME(mix)(big z)
{
    z = (z ^ z >> 30) * big_fill(MIX_1);
    z = (z ^ z >> 27) * big_fill(MIX_2);
    return z ^ z >> 31;
}

/* Draw the words of bits `top` to `low`; return the columns that fall, and leave those still undecided. */
INLINE big NAME(draw)(const coin *c, int top, int low, big offsets, big *undecided)
{
    big falls = big_fill(0);
    for (int bit = top; bit >= low; bit--) {
        big drawn = NAME(mix)(offsets + big_fill(c->key[bit]));
        if (c->n >> bit & 1)
            falls |= *undecided & drawn, *undecided &= ~drawn;
        else
            *undecided &= drawn;
    }
    return falls;
}

/* Which of the columns asked for fall, by the words whose offsets (word number + 1, times GOLDEN) are given.
 *
 * From the highest bit down a word decides half of the columns that are left: where both it and n have a 1 the coin
 * falls, where both have a 0 it does not. What no word decides does not fall either. The last words are drawn only where
 * the first ones leave a column undecided, which is seldom: a branch that cannot be foretold costs as much as ten words. */
INLINE big NAME(toss)(const coin *c, big asked, big offsets)
{
    if (c->n == ALWAYS)
        return asked;
    int low = c->lowest > 16 - FIRST_WORDS ? c->lowest : 16 - FIRST_WORDS;
    big falls = NAME(draw)(c, 15, low, offsets, &asked);
    if (low > c->lowest && big_any(asked))
        falls |= NAME(draw)(c, low - 1, c->lowest, offsets, &asked);
    return falls;
}

INLINE big NAME(offsets)(const row_state *r, word row, int i)
{
    return big_fill((row * (word)r->words + (word)(i / STEP)) * GOLDEN) + big_load(r->offsets);
}

INLINE void NAME(toss_row)(row_state *r, const coins *c, word row)
{
    for (int i = 0; i < r->padded; i += LANES) {
        big offsets = NAME(offsets)(r, row, i);
        big_store(r->joins + i, NAME(toss)(&c->east, big_load(r->boundaries + i), offsets));
        big_store(r->keeps + i, NAME(toss)(&c->south, big_load(r->cells + i), offsets));
    }
}

/* ---- braid and loops: in the output only ---------------------------------------------------------- */

/* One more passage for the dead ends whose coin falls; what goes west is kept in r->first for a second pass. */
INLINE void NAME(braid_words)(row_state *r, NAME(braid_coins) coin, int may_open_south, int i)
{
    big north = big_load(r->above + i), west = NAME(from_left)(r->east, i);
    big east = big_load(r->east + i), south = big_load(r->south + i);
    big dead_ends = (north ^ west ^ east ^ south) & ~(north & west) & ~(east & south) & coin.falls;
    big can_west = dead_ends & ~west & big_load(r->not_first + i);
    big can_east = dead_ends & ~east & big_load(r->boundaries + i);
    big can_south = may_open_south ? dead_ends & ~south & big_load(r->cells + i) : big_fill(0);
    big both = can_west & can_east, one = can_west ^ can_east;
    big to_south = can_south & (~(both | one) | (both & coin.third) | (one & ~coin.even));
    big to_west = can_west & ~to_south & (coin.even | ~can_east);
    big_store(r->first + i, to_west);
    big_store(r->n + i, can_east & ~to_south & ~to_west);
    big_store(r->south + i, south | to_south);
}

INLINE void NAME(braid_row)(row_state *r, const coins *c, word row, int may_open_south)
{
    for (int i = 0; i < r->padded; i += LANES) {
        big offsets = NAME(offsets)(r, row, i), falls = NAME(toss)(&c->braid, big_load(r->cells + i), offsets);
        NAME(braid_coins) coin = {falls, NAME(toss)(&c->third, falls, offsets), NAME(toss)(&c->even, falls, offsets)};
        NAME(braid_words)(r, coin, may_open_south, i);
    }
    for (int i = 0; i < r->padded; i += LANES)
        big_store(r->east + i, big_load(r->east + i) | big_load(r->n + i) | NAME(from_right)(r->first, i));
}

INLINE void NAME(loop_row)(row_state *r, const coins *c, word row, int last)
{
    for (int i = 0; i < r->padded; i += LANES) {
        big offsets = NAME(offsets)(r, row, i);
        big east = big_load(r->east + i), south = big_load(r->south + i);
        big_store(r->east + i, east | NAME(toss)(&c->loops_east, big_load(r->boundaries + i) & ~east, offsets));
        if (!last)
            big_store(r->south + i, south | NAME(toss)(&c->loops_south, big_load(r->cells + i) & ~south, offsets));
    }
}

/* ---- rows ----------------------------------------------------------------------------------------- */

TARGET static void NAME(carve_row)(row_state *r, const coins *c, word row, int merging, int last)
{
    NAME(toss_row)(r, c, row);
    int back = row & 1;
    unsigned deep = big_lanes(back ? NAME(sweep_row)(r, 1, merging) : NAME(sweep_row)(r, 0, merging));
    for (int lane = 0; deep >> lane; lane++)
        if (deep >> lane & 1)
            linked_list_row(r, lane, back, merging);
    end_row(r, last);
    if (c->braid.n)
        NAME(braid_row)(r, c, row, !merging);
    memcpy(r->above, r->south, sizeof(word) * (size_t)r->padded);
    if (c->loops_east.n)
        NAME(loop_row)(r, c, row, last);
}

#undef FIRST_WORDS
#undef EACH_BIG
#undef INLINE
#undef NAME
#undef GLUE
#undef GLUE_
#undef KIND
#undef LANES
#undef STEP
#undef TARGET
#undef big
#undef big_carry
#undef big_signed
#undef carry_any
#undef big_load
#undef big_store
#undef big_fill
#undef big_any
#undef big_lanes
#undef big_reversed
#undef big_prefix
#undef big_prefix_xor
#undef big_add
#undef IDLE
#undef nothing_runs
