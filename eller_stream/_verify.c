/* The row checker of verify.py, in C. The head of verify.py says what is checked and why that suffices;
 * `_Twin` there is this file once more in plain Python. Nothing here is shared with the generator. */

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

/* What a row has come to. */
enum { CLEAN, END, OUTER, FLOOR, CYCLE, CUT_OFF };
static const char *const kinds[] = {"", "end", "outer", "floor", "cycle", "cut-off"};

typedef struct {
    word cells, passages, loops;
} tally;

typedef struct {
    column width;
    int loops;      /* cycles are counted, not refused */
    column *sets;   /* a smaller column of the same set; a root, the set's smallest column, holds itself */
    column *first;  /* at a root: the set's first column with a passage south, NONE without one */
    column *next;   /* the sets of the row below */
    uint8_t *top;   /* at a root: 1 where the set touches what is above the first row; NULL: no set does */
    column at;      /* the place of what was found */
    column second;  /* where the row is an end: the first column that is not connected to the others */
} checker;

typedef struct {
    const uint8_t *east, *south, *above, *floor; /* packed; floor is NULL where every cell is floor */
} row;

/* ---- bits ---- */

static word count_bits(word x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return x * 0x0101010101010101u >> 56;
}

/* The number of the lowest bit set; x is not 0. */
static column lowest(word x)
{
#ifdef __GNUC__
    return (column)__builtin_ctzll(x);
#else
    return (column)count_bits((x & (~x + 1)) - 1);
#endif
}

static word whole_word(const uint8_t *b)
{
    return b[0] | (word)b[1] << 8 | (word)b[2] << 16 | (word)b[3] << 24 | (word)b[4] << 32 | (word)b[5] << 40 |
           (word)b[6] << 48 | (word)b[7] << 56;
}

/* Columns low to low + 63 of a packed row (low is a multiple of 64); those from `end` on read as 0. */
static word columns_from(const uint8_t *packed, column low, column end)
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

static word count_columns(const uint8_t *packed, column width)
{
    word count = 0;
    for (column low = 0; low < width; low += 64)
        count += count_bits(columns_from(packed, low, width));
    return count;
}

/* ---- passages out of the maze and into walls ---- */

static int opens_outwards(const checker *v, const row *r)
{
    column last = v->width - 1;
    return r->east[last / 8] >> last % 8 & 1;
}

/* Find the first cell that is no floor though a passage touches it. */
static int touches_wall(checker *v, const row *r)
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

/* ---- passages east: uniting sets ---- */

/* The root of a column's set; every second step on the way is made shorter (path halving). */
static column root(column *sets, column c)
{
    while (sets[c] != c)
        c = sets[c] = sets[sets[c]];
    return c;
}

/* Unite the sets of columns c and c + 1; 0 if they are one set already. */
static int unite(checker *v, column c)
{
    column a = root(v->sets, c), b = root(v->sets, c + 1);
    column low = a < b ? a : b, high = a < b ? b : a;
    if (low == high)
        return 0;
    v->sets[high] = low;
    if (v->top)
        v->top[low] |= v->top[high];
    return 1;
}

static int go_east(checker *v, const row *r, tally *t)
{
    column inner = v->width - 1; /* c + 1 is a column, even if a plane were written to meanwhile */
    for (column low = 0; low < inner; low += 64) {
        word open = columns_from(r->east, low, inner);
        t->passages += count_bits(open);
        for (; open; open &= open - 1) {
            if (unite(v, low + lowest(open)))
                continue;
            t->loops++;
            if (!v->loops) {
                v->at = low + lowest(open);
                return CYCLE;
            }
        }
    }
    return CLEAN;
}

/* Point every column at its root: the columns before it point at theirs already. */
static void flatten(column *sets, column width)
{
    for (column c = 0; c < width; c++)
        sets[c] = sets[sets[c]];
}

/* ---- passages south: the sets of the row below ---- */

static void no_passages_yet(checker *v)
{
    memset(v->first, 0xff, sizeof(column) * v->width);
    for (column c = 0; c < v->width; c++)
        v->next[c] = c;
}

/* Find each set's first passage south, and put the cells below into their sets. Returns the passages. */
static word go_south(checker *v, const row *r)
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
static void pass_over_walls(checker *v, const row *r)
{
    for (column low = 0; low < v->width; low += 64) {
        word walls = ~columns_from(r->floor, low, v->width);
        for (; walls && low + lowest(walls) < v->width; walls &= walls - 1)
            v->first[low + lowest(walls)] = low + lowest(walls);
    }
}

/* ---- sets that end ---- */

/* Whether column c is the root of a set that has no passage south. */
static int ends_at(const checker *v, column c)
{
    return (v->sets[c] == c) & (v->first[c] == NONE);
}

static int any_set_ends(const checker *v)
{
    int any = 0;
    for (column c = 0; c < v->width; c++)
        any |= ends_at(v, c);
    return any;
}

static int goes_on_from_the_top(const checker *v)
{
    for (column c = 0; v->top && c < v->width; c++)
        if (v->top[c] && v->first[c] != NONE)
            return 1;
    return 0;
}

/* Some sets end and others go on: find the first that had to go on. A set that touches the unknown
 * above may end if another one that does goes on. */
static int cut_off(checker *v)
{
    int excused = goes_on_from_the_top(v);
    for (column c = 0; c < v->width; c++)
        if (ends_at(v, c) && !(excused && v->top[c])) {
            v->at = c;
            return CUT_OFF;
        }
    return CLEAN;
}

/* All sets end here: find the first one, and the first that is not connected to the main one, which is
 * whatever touches the unknown above, or else the first set. */
static int end(checker *v)
{
    int top = 0;
    for (column c = v->width; c-- > 0;)
        if (ends_at(v, c)) {
            v->at = c;
            top |= v->top && v->top[c];
        }
    for (column c = v->width; c-- > 0;)
        if (ends_at(v, c) && !(top ? v->top[c] : c == v->at))
            v->second = c;
    return END;
}

/* Hand each set's mark on to its root in the row below, its first column with a passage south: that is never
 * left of the root, so from right to left no mark is overwritten before it is read. */
static void carry_top(checker *v)
{
    for (column c = v->width; c-- > 0;) {
        int goes_on = v->first[c] != NONE;
        column below = goes_on ? v->first[c] : c;
        uint8_t top = goes_on ? v->top[c] : 0;
        v->top[c] = 0;
        v->top[below] = top;
    }
}

static void step_down(checker *v)
{
    if (v->top)
        carry_top(v);
    memcpy(v->sets, v->next, sizeof(column) * v->width);
}

/* ---- rows ---- */

static int close_row(checker *v, const row *r, tally *t)
{
    int kind = CLEAN;
    word south;
    flatten(v->sets, v->width);
    south = go_south(v, r);
    t->passages += south;
    if (r->floor)
        pass_over_walls(v, r);
    if (any_set_ends(v))
        kind = south ? cut_off(v) : end(v);
    if (kind != CUT_OFF)
        step_down(v);
    return kind;
}

static int check_row(checker *v, const row *r, tally *t)
{
    t->cells = r->floor ? count_columns(r->floor, v->width) : v->width;
    if (opens_outwards(v, r)) {
        v->at = v->width - 1;
        return OUTER;
    }
    if (r->floor && touches_wall(v, r))
        return FLOOR;
    if (go_east(v, r, t) == CYCLE)
        return CYCLE;
    return close_row(v, r, t);
}

static void add(tally *sum, const tally *t)
{
    sum->cells += t->cells;
    sum->passages += t->passages;
    sum->loops += t->loops;
}

static row row_below(row r, size_t row_bytes)
{
    row below = {r.east + row_bytes, r.south + row_bytes, r.south, r.floor ? r.floor + row_bytes : NULL};
    return below;
}

/* Check up to *count rows, stop at the first that is not clean; *count becomes the rows without a fault. */
static int check(checker *v, row r, Py_ssize_t *count, tally *sum)
{
    size_t row_bytes = (v->width + 7) / 8;
    Py_ssize_t left = *count;
    int kind = CLEAN;
    for (*count = 0; kind == CLEAN && left > 0; left--) {
        tally t = {0, 0, 0};
        kind = check_row(v, &r, &t);
        if (kind <= END) {
            add(sum, &t);
            ++*count;
        }
        if (left > 1)
            r = row_below(r, row_bytes);
    }
    return kind;
}

/* ---- Python ---- */

typedef struct {
    Py_buffer east, south, north, floor, sets, top, scratch;
} buffers;

static void release(buffers *b)
{
    Py_buffer *all[] = {&b->east, &b->south, &b->north, &b->floor, &b->sets, &b->top, &b->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        PyBuffer_Release(all[i]);
}

static int holds(const Py_buffer *b, Py_ssize_t count, Py_ssize_t size)
{
    return b->len % size == 0 && b->len / size == count && (uintptr_t)b->buf % (size_t)size == 0;
}

static int sizes_fit(const buffers *b, Py_ssize_t width)
{
    Py_ssize_t row_bytes = (Py_ssize_t)(((size_t)width + 7) / 8);
    return b->east.len % row_bytes == 0 && b->south.len == b->east.len && b->north.len == row_bytes &&
           (!b->floor.buf || b->floor.len == b->east.len) && holds(&b->sets, width, sizeof(column)) &&
           (b->top.len == 0 || b->top.len == width) && holds(&b->scratch, width, 2 * sizeof(column));
}

/* Whether no column points behind itself: what every look-up here relies on. */
static int sets_fit(const column *sets, column width)
{
    int wrong = 0;
    for (column c = 0; c < width; c++)
        wrong |= sets[c] > c;
    return !wrong;
}

static checker checker_of(const buffers *b, column width, int loops)
{
    checker v = {0};
    v.width = width;
    v.loops = loops;
    v.sets = b->sets.buf;
    v.first = b->scratch.buf;
    v.next = v.first + width;
    v.top = b->top.len ? b->top.buf : NULL;
    v.at = v.second = NONE;
    return v;
}

static Py_ssize_t or_minus_one(column c) { return c == NONE ? -1 : (Py_ssize_t)c; }

static PyObject *checked(const buffers *b, column width, int loops)
{
    checker v = checker_of(b, width, loops);
    row r = {b->east.buf, b->south.buf, b->north.buf, b->floor.buf};
    Py_ssize_t count = b->east.len / (Py_ssize_t)((width + 7) / 8);
    tally sum = {0, 0, 0};
    int kind;
    Py_BEGIN_ALLOW_THREADS
    kind = check(&v, r, &count, &sum);
    Py_END_ALLOW_THREADS
    return Py_BuildValue("nsnnKKK", count, kinds[kind], or_minus_one(v.at), or_minus_one(v.second),
                         (unsigned long long)sum.cells, (unsigned long long)sum.passages,
                         (unsigned long long)sum.loops);
}

static PyObject *check_rows(PyObject *self, PyObject *args)
{
    buffers b;
    Py_ssize_t width;
    int loops;
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*z*w*w*w*p", &width, &b.east, &b.south, &b.north, &b.floor, &b.sets, &b.top,
                          &b.scratch, &loops))
        return NULL;
    if (width < 1 || (size_t)width > MAX_WIDTH || !sizes_fit(&b, width))
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit the width and each other");
    else if (!sets_fit(b.sets.buf, (column)width))
        PyErr_SetString(PyExc_ValueError, "a column points at one behind itself");
    else
        result = checked(&b, (column)width, loops);
    release(&b);
    return result;
}

static PyMethodDef methods[] = {
    {"check_rows", check_rows, METH_VARARGS, "Check rows; verify.py's RowChecker says how."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "eller_stream._verify", "The row checker of verify.py, in C.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__verify(void) { return PyModuleDef_Init(&definition); }
