/* The row step in big words: one text, compiled once for each kind of machine.
 *
 * A row is cut into big words of LANES * 64 columns, and everything here is written in a handful of
 * operations on them, which the including file gives for its LANES (1: a plain uint64_t; 4, 8: a vector):
 *
 *   big, big_load, big_store, big_fill, big_any
 *   big_reversed(x)             the columns from right to left
 *   big_prefix_xor(x, &carry)   for each bit the parity up to and with it; the carry is the parity so far
 *   big_add(a, b, &carry)       the sum as one number of LANES * 64 bits, carry in and out
 *
 * The theory stands at the head of _step.py: the state is two bits a cell, the boundaries of a row are
 * balanced brackets, and the first closed boundary of a gap (the first kept cell of a set) is where a token
 * stops that the carry of one addition takes along, one addition for each depth. There the row is
 * one integer; here it is many words, so each sweep takes along from word to word what the integer had in itself: the
 * parity of each bit plane of the depth counter, and the token of each depth that is still on its way.
 *
 * The arrays of a row_state have GUARD words before and behind them, so that a neighbour can always be read.
 * Bits behind the last column are 0 in the state and in the coins; where a sweep sets them they are masked off.
 */

#define INLINE static INLINE_HINT TARGET
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define NAME(name) GLUE(name##_, LANES)

typedef struct {
    unsigned parity[PLANES]; /* the depth counter where the next big word begins, bit by bit */
    unsigned moving;         /* bit d is set while a token of depth d is on its way */
    big too_deep;            /* not 0: the counter has overflown, and nothing it said can be trusted */
} NAME(sweep);

typedef struct {
    big falls, third, even; /* whether a dead end is braided, and which way */
} NAME(braid_coins);

/* ---- depths and tokens ---------------------------------------------------------------------- */

/* Depth before each boundary, as bit planes; on rings, an open counts as inside its own gap. */
INLINE void NAME(depth_planes)(NAME(sweep) *s, big opens, big closes, int rings, big planes[PLANES])
{
    big toggles = opens | closes;
    for (int k = 0; k < PLANES; k++) {
        big before = big_prefix_xor(toggles, &s->parity[k]) ^ toggles;
        planes[k] = rings ? before ^ (toggles & opens) : before;
        toggles &= ~(before ^ opens); /* ups carry from 1, downs borrow from 0 */
    }
    s->too_deep |= toggles;
}

INLINE big NAME(at_depth)(const big planes[PLANES], int depth)
{
    big here = depth & 1 ? planes[0] : ~planes[0];
    for (int k = 1; k < PLANES; k++)
        here &= depth >> k & 1 ? planes[k] : ~planes[k];
    return here;
}

/* Each token runs to the next stop of its own depth; tokens and stops have no bit in common. */
INLINE big NAME(ripples)(NAME(sweep) *s, const big planes[PLANES], big tokens, big stops, int lowest)
{
    big found = big_fill(0);
    UNROLL
    for (int depth = lowest; depth < DEPTHS; depth++) {
        if (!(s->moving >> depth) && !big_any(tokens))
            break;
        big here = NAME(at_depth)(planes, depth), free = ~(stops & here);
        unsigned carry = s->moving >> depth & 1;
        found |= big_add(free, tokens & here, &carry) & ~free;
        s->moving = (s->moving & ~(1u << depth)) | carry << depth;
        tokens &= ~here;
    }
    return found;
}

/* First boundary of each gap that is not joined (its close always counts), of boundaries n and q. */
INLINE big NAME(first_closed)(NAME(sweep) *s, big n, big q, big joined)
{
    big opens = n & ~q, closes = q & ~n, planes[PLANES];
    NAME(depth_planes)(s, opens, closes, 1, planes);
    return (opens & ~joined) | NAME(ripples)(s, planes, opens & joined, ~(n | (joined & ~q)), 1);
}

/* First kept cell of each set (its last cell always counts): has_next and has_prev of the cells, q ahead of them. */
INLINE big NAME(first_kept)(NAME(sweep) *s, big next, big prev, big q, big dropped)
{
    big planes[PLANES], stops = ~(dropped & next);
    NAME(depth_planes)(s, next & ~q, q & ~next, 0, planes);
    return (~prev & stops) | NAME(ripples)(s, planes, ~prev & ~stops, stops, 0);
}

/* ---- the row's words ------------------------------------------------------------------------- */

INLINE big NAME(from_left)(const word *x, int i) /* bit c: what x says of column c - 1 */
{
    return big_load(x + i) << 1 | big_load(x + i - 1) >> 63;
}

INLINE big NAME(from_right)(const word *x, int i) /* bit c: what x says of column c + 1 */
{
    return big_load(x + i) >> 1 | big_load(x + i + 1) << 63;
}

/* The closed boundaries that a sweep from the left, or with mirror from the right, finds first. */
INLINE big NAME(closed_sweep)(const row_state *r, NAME(sweep) *s, int mirror, int i, big joined)
{
    big n = big_load(r->has_next + i), q = NAME(from_right)(r->has_prev, i);
    if (mirror)
        return big_reversed(NAME(first_closed)(s, big_reversed(q), big_reversed(n), big_reversed(joined)));
    return NAME(first_closed)(s, n, q, joined);
}

/* The kept cells likewise. The boundary ahead of a mirrored cell is the one on its left. */
INLINE big NAME(kept_sweep)(const row_state *r, NAME(sweep) *s, int mirror, int i, big dropped)
{
    big n = big_load(r->n + i), p = NAME(from_left)(r->q, i), found;
    if (mirror)
        found = big_reversed(NAME(first_kept)(s, big_reversed(p), big_reversed(n),
                                              big_reversed(NAME(from_left)(r->n, i)), big_reversed(dropped)));
    else
        found = NAME(first_kept)(s, n, p, big_load(r->q + i), dropped);
    return found & big_load(r->cells + i);
}

/* Run the body with i at each big word, from the left or, backwards, from the right. */
#define EACH_BIG(i, backwards) \
    for (int step_ = (backwards) ? -LANES : LANES, i = (backwards) ? r->padded - LANES : 0; i >= 0 && i < r->padded; i += step_)

/* ---- the four sweeps of a row ------------------------------------------------------------------ */

/* Passages east, and of each ring the boundary that stays closed first in the scan's order. */
INLINE big NAME(join_sweep)(row_state *r, int back)
{
    NAME(sweep) s = {0};
    EACH_BIG(i, back) {
        big n = big_load(r->has_next + i), q = NAME(from_right)(r->has_prev, i), joins = big_load(r->joins + i);
        big first = NAME(closed_sweep)(r, &s, back, i, joins);
        big_store(r->first + i, first);
        big_store(r->east + i, joins & ~(n & q) & ~(first & (back ? n & ~q : q & ~n)));
    }
    return s.too_deep;
}

/* The one that stays closed last is the first one from the other side; then the boundaries' new n and q. */
INLINE big NAME(rejoin_sweep)(row_state *r, int back, int merging)
{
    NAME(sweep) s = {0};
    EACH_BIG(i, !back) {
        big n = big_load(r->has_next + i), q = NAME(from_right)(r->has_prev, i), same = n & q;
        big east = big_load(r->east + i), first = big_load(r->first + i);
        big last = NAME(closed_sweep)(r, &s, !back, i, east);
        if (merging)
            east = big_load(r->boundaries + i) & ~(same | last), first = last;
        big_store(r->east + i, east);
        big_store(r->n + i, east | same | (back ? last : first));
        big_store(r->q + i, east | same | (back ? first : last));
    }
    return s.too_deep;
}

/* Passages south; a kept cell that is not the first of its set has another one behind it in the scan. */
INLINE big NAME(keep_sweep)(row_state *r, int back)
{
    NAME(sweep) s = {0};
    word *behind = back ? r->next_after : r->prev_after;
    EACH_BIG(i, back) {
        big cells = big_load(r->cells + i), dropped = cells & ~big_load(r->keeps + i);
        big first = NAME(kept_sweep)(r, &s, back, i, dropped), south = (cells & ~dropped) | first;
        big_store(r->south + i, south);
        big_store(behind + i, south & ~first);
    }
    return s.too_deep;
}

INLINE big NAME(rekeep_sweep)(row_state *r, int back)
{
    NAME(sweep) s = {0};
    word *ahead = back ? r->prev_after : r->next_after;
    EACH_BIG(i, !back) {
        big south = big_load(r->south + i), dropped = big_load(r->cells + i) & ~south;
        big_store(ahead + i, south & ~NAME(kept_sweep)(r, &s, !back, i, dropped));
    }
    return s.too_deep;
}

/* Carve one row from its coins; false where it nests deeper than the planes count, with the state as it was. */
INLINE int NAME(sweep_row)(row_state *r, int back, int merging)
{
    big too_deep = NAME(join_sweep)(r, back);
    too_deep |= NAME(rejoin_sweep)(r, back, merging);
    too_deep |= NAME(keep_sweep)(r, back);
    too_deep |= NAME(rekeep_sweep)(r, back);
    return !big_any(too_deep);
}

/* ---- coins -------------------------------------------------------------------------------------- */

INLINE big NAME(mix)(big z)
{
    z = (z ^ z >> 30) * big_fill(MIX_1);
    z = (z ^ z >> 27) * big_fill(MIX_2);
    return z ^ z >> 31;
}

/* Coins of the words whose offsets (word number + 1, times GOLDEN) are given. */
INLINE big NAME(toss)(const coin *c, big offsets)
{
    if (c->n == ALWAYS)
        return big_fill(~(word)0);
    big x = big_fill(0);
    for (int bit = c->lowest; bit < 16; bit++) {
        big drawn = NAME(mix)(offsets + big_fill(c->key[bit]));
        x = c->n >> bit & 1 ? drawn | x : drawn & x;
    }
    return x;
}

INLINE big NAME(offsets)(const row_state *r, word row, int i)
{
    return big_fill((row * (word)r->words + (word)i) * GOLDEN) + big_load(r->lane_offsets);
}

INLINE void NAME(toss_row)(row_state *r, const coins *c, word row)
{
    for (int i = 0; i < r->padded; i += LANES) {
        big offsets = NAME(offsets)(r, row, i);
        big_store(r->joins + i, NAME(toss)(&c->east, offsets) & big_load(r->boundaries + i));
        big_store(r->keeps + i, NAME(toss)(&c->south, offsets) & big_load(r->cells + i));
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
        big offsets = NAME(offsets)(r, row, i);
        NAME(braid_coins) coin = {NAME(toss)(&c->braid, offsets), NAME(toss)(&c->third, offsets),
                                  NAME(toss)(&c->even, offsets)};
        NAME(braid_words)(r, coin, may_open_south, i);
    }
    for (int i = 0; i < r->padded; i += LANES)
        big_store(r->east + i, big_load(r->east + i) | big_load(r->n + i) | NAME(from_right)(r->first, i));
}

INLINE void NAME(loop_row)(row_state *r, const coins *c, word row, int last)
{
    for (int i = 0; i < r->padded; i += LANES) {
        big offsets = NAME(offsets)(r, row, i);
        big east = NAME(toss)(&c->loops_east, offsets) & big_load(r->boundaries + i);
        big_store(r->east + i, big_load(r->east + i) | east);
        if (!last)
            big_store(r->south + i, big_load(r->south + i) | (NAME(toss)(&c->loops_south, offsets) & big_load(r->cells + i)));
    }
}

/* ---- rows ----------------------------------------------------------------------------------------- */

INLINE void NAME(carve_row)(row_state *r, const coins *c, word row, int merging, int last)
{
    NAME(toss_row)(r, c, row);
    int back = row & 1;
    if (!(back ? NAME(sweep_row)(r, 1, merging) : NAME(sweep_row)(r, 0, merging)))
        linked_list_row(r, back, merging);
    end_row(r, last);
    if (c->braid.n)
        NAME(braid_row)(r, c, row, !merging);
    memcpy(r->above, r->south, sizeof(word) * (size_t)r->padded);
    if (c->loops_east.n)
        NAME(loop_row)(r, c, row, last);
}

TARGET static void NAME(carve_rows)(row_state *r, const job *j)
{
    for (size_t i = 0; i < j->rows; i++) {
        word row = j->row + i;
        int last = row == j->last_row, merging = last || (j->key_interval && (row + 1) % j->key_interval == 0);
        NAME(carve_row)(r, &j->coins, row, merging, last);
        store_plane(j->east + i * r->row_bytes, r->east, r->row_bytes);
        store_plane(j->south + i * r->row_bytes, r->south, r->row_bytes);
    }
}

#undef EACH_BIG
#undef INLINE
#undef NAME
#undef GLUE
#undef GLUE_
