/* The row sweeper of spans.py, in C; `sweep_rows` in _verify_twin.py is this file once more in plain Python.
 *
 * Beside the sets of the row it keeps which cells of the span's first row each set is connected with: at a set's root one of
 * these cells, and in `united` which of them are connected with each other, as sets of columns like those of a row. */

#include "_verify.h"

typedef struct {
    sweep s;
    column *tops;   /* at a root: a column of the first row that the set is connected with, NONE without one */
    column *united; /* the sets of the first row: which of its cells are connected */
    column *below;  /* the tops of the row below */
} sweeper;

typedef struct {
    word cells, passages, loops, closed;
} tally;

/* ---- one row ---- */

/* Two sets become one, which is connected with what either was; return the column to mark it with. */
static column united_top(column *united, column a, column b)
{
    column low, high;
    if (a == b || b == NONE)
        return a;
    if (a == NONE)
        return b;
    join(united, a, b, &low, &high);
    return low;
}

/* Unite the sets of columns c and c + 1; 0 if they are one set already. */
static int unite(sweeper *w, column c)
{
    column low, high;
    if (!join(w->s.sets, c, c + 1, &low, &high))
        return 0;
    w->tops[low] = united_top(w->united, w->tops[low], w->tops[high]);
    return 1;
}

static void go_east(sweeper *w, const row *r, tally *t)
{
    column inner = w->s.width - 1; /* c + 1 is a column, even if a plane were written to meanwhile */
    for (column low = 0; low < inner; low += 64) {
        word open = columns_from(r->east, low, inner);
        t->passages += count_bits(open);
        for (; open; open &= open - 1)
            t->loops += !unite(w, low + lowest(open));
    }
}

/* Count the sets that end here and are not connected with the first row: nothing reaches them any more. */
static column count_closed(const sweeper *w)
{
    column count = 0;
    for (column c = 0; c < w->s.width; c++)
        count += ends_at(&w->s, c) & (w->tops[c] == NONE);
    return count;
}

/* Put every cell below a passage into the set above, and hand its mark on; those of roots are the ones that count. */
static void step_down(sweeper *w, const row *r)
{
    memset(w->below, 0xff, sizeof(column) * w->s.width);
    for (column low = 0; low < w->s.width; low += 64)
        for (word open = columns_from(r->south, low, w->s.width); open; open &= open - 1) {
            column c = low + lowest(open);
            w->below[c] = w->tops[w->s.sets[c]];
        }
    memcpy(w->tops, w->below, sizeof(column) * w->s.width);
    memcpy(w->s.sets, w->s.next, sizeof(column) * w->s.width);
}

static void sweep_row(sweeper *w, const row *r, tally *t)
{
    t->cells += r->floor ? count_columns(r->floor, w->s.width) : w->s.width;
    go_east(w, r, t);
    flatten(w->s.sets, w->s.width);
    t->passages += go_south(&w->s, r);
    if (r->floor)
        pass_over_walls(&w->s, r);
    t->closed += count_closed(w);
    step_down(w, r);
}

/* Sweep rows until a passage leads out of the maze or into a wall; return how many were swept. */
static Py_ssize_t sweep_all(sweeper *w, row r, Py_ssize_t count, tally *t)
{
    size_t row_bytes = (w->s.width + 7) / 8;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (opens_outwards(&w->s, &r) || (r.floor && touches_wall(&w->s, &r)))
            return i;
        sweep_row(w, &r, t);
        if (i + 1 < count)
            r = row_below(r, row_bytes);
    }
    return count;
}

/* ---- Python ---- */

typedef struct {
    Py_buffer east, south, north, floor, sets, tops, united, scratch;
} buffers;

static void release(buffers *b)
{
    Py_buffer *all[] = {&b->east, &b->south, &b->north, &b->floor, &b->sets, &b->tops, &b->united, &b->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        PyBuffer_Release(all[i]);
}

static int sizes_fit(const buffers *b, Py_ssize_t width)
{
    Py_ssize_t row_bytes = (Py_ssize_t)(((size_t)width + 7) / 8);
    return b->east.len % row_bytes == 0 && b->south.len == b->east.len && b->north.len == row_bytes &&
           (!b->floor.buf || b->floor.len == b->east.len) && holds(&b->sets, width, sizeof(column)) &&
           holds(&b->tops, width, sizeof(column)) && holds(&b->united, width, sizeof(column)) &&
           holds(&b->scratch, 3 * width, sizeof(column));
}

/* Whether every mark is a column or NONE, and no column of the sets points behind itself. */
static int state_fits(const buffers *b, column width)
{
    const column *sets = b->sets.buf, *tops = b->tops.buf, *united = b->united.buf;
    int wrong = 0;
    for (column c = 0; c < width; c++)
        wrong |= (sets[c] > c) | (united[c] > c) | ((tops[c] >= width) & (tops[c] != NONE));
    return !wrong;
}

static PyObject *swept(const buffers *b, column width)
{
    column *scratch = b->scratch.buf;
    sweeper w = {{width, b->sets.buf, scratch, scratch + width, NONE}, b->tops.buf, b->united.buf, scratch + 2 * width};
    row r = {b->east.buf, b->south.buf, b->north.buf, b->floor.buf};
    Py_ssize_t count = b->east.len / (Py_ssize_t)((width + 7) / 8);
    tally t = {0, 0, 0, 0};
    Py_BEGIN_ALLOW_THREADS
    count = sweep_all(&w, r, count, &t);
    Py_END_ALLOW_THREADS
    return Py_BuildValue("nKKKK", count, (unsigned long long)t.cells, (unsigned long long)t.passages,
                         (unsigned long long)t.loops, (unsigned long long)t.closed);
}

PyObject *sweep_rows(PyObject *self, PyObject *args)
{
    buffers b;
    Py_ssize_t width;
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*z*w*w*w*w*", &width, &b.east, &b.south, &b.north, &b.floor, &b.sets, &b.tops,
                          &b.united, &b.scratch))
        return NULL;
    if (width < 1 || (size_t)width > MAX_WIDTH || !sizes_fit(&b, width))
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit the width and each other");
    else if (!state_fits(&b, (column)width))
        PyErr_SetString(PyExc_ValueError, "a column points at one behind itself, or outside");
    else
        result = swept(&b, (column)width);
    release(&b);
    return result;
}
