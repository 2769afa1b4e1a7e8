/* A row's memory, its coins, and the textbook row for what nests too deep: plain C, for every kind of big word.
 *
 * A row_state holds `lanes` rows side by side, of as many bands of the maze: word k of lane j stands at
 * k * lanes + j. With one lane that is simply the row.
 */
typedef uint64_t word;

#ifndef PLANES
#define PLANES 3 /* bit planes of the depth counter; a row that nests deeper goes the textbook's way */
#endif
#define DEPTHS (1 << PLANES)
#define SELDOM 3 /* the depth from which on most big words have no tokens */

enum { GUARD = 8, MAX_LANES = 8, ALWAYS = 65536, EVEN = 32768, THIRD = 21845 };

static const word GOLDEN = 0x9e3779b97f4a7c15, MIX_1 = 0xbf58476d1ce4e5b9, MIX_2 = 0x94d049bb133111eb;

/* A coin that falls with n of 65,536: one word for each bit of n from the lowest set one to bit 15. */
typedef struct {
    uint32_t n;
    int lowest;
    word key[16];
} coin;

typedef struct {
    coin east, south, loops_east, loops_south, braid, third, even;
} coins;

/* Arrays of `padded` words (a multiple of MAX_LANES), GUARD words of 0 around each. */
typedef struct {
    int width, lanes, words, padded; /* words: of one lane */
    size_t row_bytes;
    word *has_next, *has_prev;     /* the state of the row to come */
    word *next_after, *prev_after; /* the state behind it, as it is being made */
    word *above;                   /* passages south of the row above, as carved and braided */
    word *joins, *keeps;           /* the coins: open the boundary east, keep the passage south */
    word *east, *south;            /* the passages */
    word *n, *q, *first;           /* the boundaries between the two phases */
    word *planes[PLANES];          /* the depth of each boundary, or of each cell */
    word *cells, *boundaries;      /* the columns that there are */
    word *not_first;               /* all columns but the first */
    word offsets[MAX_LANES];       /* of the coins' words, from one word of a vector to the next */
    uint32_t *lists;               /* of linked_list_row, made when first needed */
    int no_memory;
} row_state;

enum { NUM_ARRAYS = 15 + PLANES };

static inline size_t at(const row_state *r, int c, int lane) { return (size_t)(c / 64) * (size_t)r->lanes + (size_t)lane; }

static inline int bit(const row_state *r, const word *x, int c, int lane) { return (int)(x[at(r, c, lane)] >> c % 64 & 1); }

/* ---- the textbook row, for what nests deeper than the planes count ----------------------------- */

/* Every set is a circular list of its columns: after[c] and before[c], in column order. */
typedef struct {
    uint32_t *after, *before, *waiting, *first;
} lists;

static inline void chain(lists *l, uint32_t c, uint32_t after) { l->after[c] = after, l->before[after] = c; }

/* Read the brackets: a cell with has_prev continues the set that was left waiting last. (Brackets that do not
 * balance make some row or other, but never a column that is not there.) */
static void lists_from_state(lists *l, const row_state *r, int lane)
{
    uint32_t depth = 0;
    for (uint32_t c = 0; c < (uint32_t)r->width; c++) {
        l->first[c] = c;
        chain(l, c, c);
        if (depth && bit(r, r->has_prev, (int)c, lane)) {
            uint32_t latest = l->waiting[--depth];
            l->first[c] = l->first[latest];
            chain(l, latest, c);
        }
        if (bit(r, r->has_next, (int)c, lane))
            l->waiting[depth++] = c;
        else
            chain(l, c, l->first[c]);
    }
}

static inline word join(lists *l, uint32_t c) /* 1 where c and c + 1 were apart */
{
    uint32_t after = l->after[c], before = l->before[c + 1];
    if (after == c + 1)
        return 0;
    chain(l, c, c + 1);
    chain(l, before, after);
    return 1;
}

static inline word keep(lists *l, uint32_t c, int dropped) /* 1 where the cell keeps its passage south */
{
    if (!dropped || l->after[c] == c)
        return 1;
    chain(l, l->before[c], l->after[c]);
    chain(l, c, c);
    return 0;
}

static void join_scan(lists *l, row_state *r, int lane, int back, int all)
{
    for (int i = 0; i < r->width - 1; i++) {
        int c = back ? r->width - 2 - i : i;
        if (all || bit(r, r->joins, c, lane))
            r->east[at(r, c, lane)] |= join(l, (uint32_t)c) << c % 64;
    }
}

static void keep_scan(lists *l, row_state *r, int lane, int back)
{
    for (int i = 0; i < r->width; i++) {
        int c = back ? r->width - 1 - i : i;
        r->south[at(r, c, lane)] |= keep(l, (uint32_t)c, !bit(r, r->keeps, c, lane)) << c % 64;
    }
}

static void state_from_lists(const lists *l, row_state *r, int lane)
{
    for (int c = 0; c < r->width; c++) {
        r->next_after[at(r, c, lane)] |= (word)(l->after[c] > (uint32_t)c) << c % 64;
        r->prev_after[at(r, c, lane)] |= (word)(l->before[c] < (uint32_t)c) << c % 64;
    }
}

static void clear_results(row_state *r, int lane)
{
    for (int i = lane; i < r->words * r->lanes; i += r->lanes)
        r->east[i] = r->south[i] = r->next_after[i] = r->prev_after[i] = 0;
}

static void linked_list_row(row_state *r, int lane, int back, int merging)
{
    size_t width = (size_t)r->width;
    if (!r->lists)
        r->lists = malloc(4 * width * sizeof(uint32_t));
    if (!r->lists) {
        r->no_memory = 1;
        return;
    }
    lists l = {r->lists, r->lists + width, r->lists + 2 * width, r->lists + 3 * width};
    clear_results(r, lane);
    lists_from_state(&l, r, lane);
    join_scan(&l, r, lane, back, 0);
    if (merging)
        join_scan(&l, r, lane, back, 1);
    keep_scan(&l, r, lane, back);
    state_from_lists(&l, r, lane);
}

/* ---- a row's memory ------------------------------------------------------------------------------ */

static inline void swap(word **a, word **b)
{
    word *x = *a;
    *a = *b, *b = x;
}

static void clear_row(row_state *r, word *x) { memset(x, 0, sizeof(word) * (size_t)r->padded); }

/* The state made by a row becomes that of the row to come; the last row opens nothing south. */
static inline void end_row(row_state *r, int last)
{
    swap(&r->has_next, &r->next_after);
    swap(&r->has_prev, &r->prev_after);
    if (last)
        clear_row(r, r->south), clear_row(r, r->has_next), clear_row(r, r->has_prev);
}

static void set_columns(const row_state *r, word *x, int columns)
{
    for (int i = 0; i < r->words * r->lanes; i++) {
        int left = columns - i / r->lanes * 64;
        x[i] = left >= 64 ? ~(word)0 : left > 0 ? ((word)1 << left) - 1 : 0;
    }
}

/* Words of each array: with GUARDs, and a multiple of 64 bytes, so that all big words stand at such ones. */
static size_t array_length(int width, int lanes)
{
    size_t words = ((size_t)width + 63) / 64 * (size_t)lanes;
    return (words + MAX_LANES - 1) / MAX_LANES * MAX_LANES + 2 * GUARD;
}

/* The coins' words of a row follow one another, and so do the rows; `apart`: rows from one lane to the next. */
static void fill_constants(row_state *r, word apart)
{
    set_columns(r, r->cells, r->width);
    set_columns(r, r->boundaries, r->width - 1);
    set_columns(r, r->not_first, r->width);
    for (int lane = 0; lane < r->lanes; lane++)
        r->not_first[lane] &= ~(word)1;
    word step = r->lanes > 1 ? apart * (word)r->words : 1;
    for (int i = 0; i < MAX_LANES; i++)
        r->offsets[i] = ((word)i * step + 1) * GOLDEN;
}

/* Return the rows' memory, to be freed, with all constants filled in; NULL where there is none.
 * big_words: the words of one vector; lanes: 1, or as many. */
static void *new_rows(row_state *r, int width, int big_words, int lanes, word apart)
{
    memset(r, 0, sizeof *r);
    size_t length = array_length(width, lanes);
    r->width = width, r->lanes = lanes, r->row_bytes = ((size_t)width + 7) / 8;
    r->words = (int)(((size_t)width + 63) / 64);
    r->padded = (r->words * lanes + big_words - 1) / big_words * big_words;
    word **arrays[NUM_ARRAYS] = {&r->has_next, &r->has_prev, &r->next_after, &r->prev_after, &r->above,
                                 &r->joins, &r->keeps, &r->east, &r->south, &r->n,
                                 &r->q, &r->first, &r->cells, &r->boundaries, &r->not_first};
    for (int k = 0; k < PLANES; k++)
        arrays[NUM_ARRAYS - PLANES + k] = &r->planes[k];
    char *memory = calloc(NUM_ARRAYS * length * sizeof(word) + 64, 1);
    word *aligned = memory ? (word *)(memory + (64 - (uintptr_t)memory % 64)) : NULL;
    for (size_t i = 0; memory && i < NUM_ARRAYS; i++)
        *arrays[i] = aligned + i * length + GUARD;
    if (memory)
        fill_constants(r, apart);
    return memory;
}
