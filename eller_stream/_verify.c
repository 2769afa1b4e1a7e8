/* The row checker of verify.py, in C. The head of verify.py says what is checked and why that suffices;
 * _verify_twin.py is this file once more in plain Python. Nothing here is shared with the generator. */

#include "_verify.h"

/* What a row has come to. */
enum { CLEAN, END, OUTER, FLOOR, CYCLE, CUT_OFF };
static const char *const kinds[] = {"", "end", "outer", "floor", "cycle", "cut-off"};

typedef struct {
    word cells, passages, loops;
} tally;

typedef struct {
    sweep s;
    int loops;     /* cycles are counted, not refused */
    uint8_t *top;  /* at a root: 1 where the set touches what is above the first row; NULL: no set does */
    column second; /* where the row is an end: the first column that is not connected to the others */
} checker;

/* ---- passages east: uniting sets ---- */

/* Unite the sets of columns c and c + 1; 0 if they are one set already. */
static int unite(checker *v, column c)
{
    column low, high;
    if (!join(v->s.sets, c, c + 1, &low, &high))
        return 0;
    if (v->top)
        v->top[low] |= v->top[high];
    return 1;
}

static int go_east(checker *v, const row *r, tally *t)
{
    column inner = v->s.width - 1; /* c + 1 is a column, even if a plane were written to meanwhile */
    for (column low = 0; low < inner; low += 64) {
        word open = columns_from(r->east, low, inner);
        t->passages += count_bits(open);
        for (; open; open &= open - 1) {
            if (unite(v, low + lowest(open)))
                continue;
            t->loops++;
            if (!v->loops) {
                v->s.at = low + lowest(open);
                return CYCLE;
            }
        }
    }
    return CLEAN;
}

/* ---- sets that end ---- */

static int any_set_ends(const checker *v)
{
    int any = 0;
    for (column c = 0; c < v->s.width; c++)
        any |= ends_at(&v->s, c);
    return any;
}

static int goes_on_from_the_top(const checker *v)
{
    for (column c = 0; v->top && c < v->s.width; c++)
        if (v->top[c] && v->s.first[c] != NONE)
            return 1;
    return 0;
}

/* Some sets end and others go on: find the first that had to go on. A set that touches the unknown
 * above may end if another one that does goes on. */
static int cut_off(checker *v)
{
    int excused = goes_on_from_the_top(v);
    for (column c = 0; c < v->s.width; c++)
        if (ends_at(&v->s, c) && !(excused && v->top[c])) {
            v->s.at = c;
            return CUT_OFF;
        }
    return CLEAN;
}

/* All sets end here: find the first one, and the first that is not connected to the main one, which is
 * whatever touches the unknown above, or else the first set. */
static int end(checker *v)
{
    int top = 0;
    for (column c = v->s.width; c-- > 0;)
        if (ends_at(&v->s, c)) {
            v->s.at = c;
            top |= v->top && v->top[c];
        }
    for (column c = v->s.width; c-- > 0;)
        if (ends_at(&v->s, c) && !(top ? v->top[c] : c == v->s.at))
            v->second = c;
    return END;
}

/* Hand each set's mark on to its root in the row below, its first column with a passage south: that is never
 * left of the root, so from right to left no mark is overwritten before it is read. */
static void carry_top(checker *v)
{
    for (column c = v->s.width; c-- > 0;) {
        int goes_on = v->s.first[c] != NONE;
        column below = goes_on ? v->s.first[c] : c;
        uint8_t top = goes_on ? v->top[c] : 0;
        v->top[c] = 0;
        v->top[below] = top;
    }
}

static void step_down(checker *v)
{
    if (v->top)
        carry_top(v);
    memcpy(v->s.sets, v->s.next, sizeof(column) * v->s.width);
}

/* ---- rows ---- */

static int close_row(checker *v, const row *r, tally *t)
{
    int kind = CLEAN;
    word south;
    flatten(v->s.sets, v->s.width);
    south = go_south(&v->s, r);
    t->passages += south;
    if (r->floor)
        pass_over_walls(&v->s, r);
    if (any_set_ends(v))
        kind = south ? cut_off(v) : end(v);
    if (kind != CUT_OFF)
        step_down(v);
    return kind;
}

static int check_row(checker *v, const row *r, tally *t)
{
    t->cells = r->floor ? count_columns(r->floor, v->s.width) : v->s.width;
    if (opens_outwards(&v->s, r)) {
        v->s.at = v->s.width - 1;
        return OUTER;
    }
    if (r->floor && touches_wall(&v->s, r))
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

/* Check up to *count rows, stop at the first that is not clean; *count becomes the rows without a fault. */
static int check(checker *v, row r, Py_ssize_t *count, tally *sum)
{
    size_t row_bytes = (v->s.width + 7) / 8;
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
    v.s.width = width;
    v.loops = loops;
    v.s.sets = b->sets.buf;
    v.s.first = b->scratch.buf;
    v.s.next = v.s.first + width;
    v.top = b->top.len ? b->top.buf : NULL;
    v.s.at = v.second = NONE;
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
    return Py_BuildValue("nsnnKKK", count, kinds[kind], or_minus_one(v.s.at), or_minus_one(v.second),
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
    {"sweep_rows", sweep_rows, METH_VARARGS, "Sweep the rows of a span; spans.py's RowSweeper says how."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "eller_stream._verify", "The row checker of verify.py, in C.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__verify(void) { return PyModuleDef_Init(&definition); }
