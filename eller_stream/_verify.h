/* What the two checkers of rows share, _verify.c and _spans.c: packed rows, and the sets of one row on their way
 * down. Sets are kept as verify.py says at its head. Nothing here is shared with the generator. */

#ifndef ELLER_STREAM_VERIFY_H
#define ELLER_STREAM_VERIFY_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t word;
typedef uint32_t column;

#define NONE UINT32_MAX
#define MAX_WIDTH INT32_MAX

typedef struct {
    column width;
    column *sets;  /* a smaller column of the same set; a root, the set's smallest column, holds itself */
    column *first; /* at a root: the set's first column with a passage south, NONE without one */
    column *next;  /* the sets of the row below */
    column at;     /* the place of what was found */
} sweep;

typedef struct {
    const uint8_t *east, *south, *above, *floor; /* packed; floor is NULL where every cell is floor */
} row;

static inline row row_below(row r, size_t row_bytes)
{
    row below = {r.east + row_bytes, r.south + row_bytes, r.south, r.floor ? r.floor + row_bytes : NULL};
    return below;
}

/* ---- bits ---- */

static inline word count_bits(word x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return x * 0x0101010101010101u >> 56;
}

/* The number of the lowest bit set; x is not 0. */
static inline column lowest(word x)
{
#ifdef __GNUC__
    return (column)__builtin_ctzll(x);
#else
    return (column)count_bits((x & (~x + 1)) - 1);
#endif
}

static inline word whole_word(const uint8_t *b)
{
    return b[0] | (word)b[1] << 8 | (word)b[2] << 16 | (word)b[3] << 24 | (word)b[4] << 32 | (word)b[5] << 40 |
           (word)b[6] << 48 | (word)b[7] << 56;
}

/* Columns low to low + 63 of a packed row (low is a multiple of 64); those from `end` on read as 0. */
static inline word columns_from(const uint8_t *packed, column low, column end)
{
    const uint8_t *bytes = packed + low / 8;
    word x = 0;
    if (low >= end)
        return 0;
    if (end - low >= 64)
        return whole_word(bytes);
    for (column i = 0; 8 * i < end - low; i++)
        x |= (word)bytes[i] << 8 * i;
    return x & (((word)1 << (end - low)) - 1);
}

static inline word count_columns(const uint8_t *packed, column width)
{
    word count = 0;
    for (column low = 0; low < width; low += 64)
        count += count_bits(columns_from(packed, low, width));
    return count;
}

/* ---- passages out of the maze and into walls ---- */

static inline int opens_outwards(const sweep *v, const row *r)
{
    column last = v->width - 1;
    return r->east[last / 8] >> last % 8 & 1;
}

/* Find the first cell that is no floor though a passage touches it. */
static inline int touches_wall(sweep *v, const row *r)
{
    word west = 0; /* the passage east out of the column before the word */
    for (column low = 0; low < v->width; low += 64) {
        word east = columns_from(r->east, low, v->width - 1);
        word touched = east | east << 1 | west | columns_from(r->south, low, v->width) |
                       columns_from(r->above, low, v->width);
        word wrong = touched & ~columns_from(r->floor, low, v->width);
        if (wrong) {
            v->at = low + lowest(wrong);
            return 1;
        }
        west = east >> 63;
    }
    return 0;
}

/* ---- sets ---- */

/* The root of a column's set; every second step on the way is made shorter (path halving). */
static inline column root(column *sets, column c)
{
    while (sets[c] != c)
        c = sets[c] = sets[sets[c]];
    return c;
}

/* Unite the sets of two columns: the root `low` stays, `high` goes. 0 if they are one set already, and both its root. */
static inline int join(column *sets, column a, column b, column *low, column *high)
{
    a = root(sets, a), b = root(sets, b);
    *low = a < b ? a : b, *high = a < b ? b : a;
    sets[*high] = *low;
    return a != b;
}

/* Point every column at its root: the columns before it point at theirs already. */
static inline void flatten(column *sets, column width)
{
    for (column c = 0; c < width; c++)
        sets[c] = sets[sets[c]];
}

/* ---- passages south: the sets of the row below ---- */

static inline void no_passages_yet(sweep *v)
{
    memset(v->first, 0xff, sizeof(column) * v->width);
    for (column c = 0; c < v->width; c++)
        v->next[c] = c;
}

/* Find each set's first passage south, and put the cells below into their sets. Returns the passages. */
static inline word go_south(sweep *v, const row *r)
{
    word count = 0;
    no_passages_yet(v);
    for (column low = 0; low < v->width; low += 64) {
        word open = columns_from(r->south, low, v->width);
        count += count_bits(open);
        for (; open; open &= open - 1) {
            column c = low + lowest(open), set = v->sets[c], first = v->first[set];
            first = first < c ? first : c;
            v->first[set] = v->next[c] = first;
        }
    }
    return count;
}

/* A wall is no set that could be cut off: let it count as one that goes on. */
static inline void pass_over_walls(sweep *v, const row *r)
{
    for (column low = 0; low < v->width; low += 64) {
        word walls = ~columns_from(r->floor, low, v->width);
        for (; walls && low + lowest(walls) < v->width; walls &= walls - 1)
            v->first[low + lowest(walls)] = low + lowest(walls);
    }
}

/* Whether column c is the root of a set that has no passage south. */
static inline int ends_at(const sweep *v, column c)
{
    return (v->sets[c] == c) & (v->first[c] == NONE);
}

/* ---- buffers ---- */

static inline int holds(const Py_buffer *b, Py_ssize_t count, Py_ssize_t size)
{
    return b->len % size == 0 && b->len / size == count && (uintptr_t)b->buf % (size_t)size == 0;
}

/* _spans.c */
PyObject *sweep_rows(PyObject *self, PyObject *args);

#endif
