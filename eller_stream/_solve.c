/* The row steps of solve/, in C: solve/_twin.py is this file once more in plain Python, and solve/steps.py says what
 * each step takes and gives. The theory stands at the heads of solve/tree.py and solve/search.py. */

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef int32_t column;
typedef uint32_t node;

enum { NORTH = 1, SOUTH = 2, EAST = 4, WEST = 8 };
enum { CLEAN, CYCLE, APART };
static const char *const kinds[] = {"", "cycle", "apart"};

/* A path's two ends, and at each row the labels of the sets above that hold them. */
typedef struct {
    int64_t row, column;
} cell;

static int bit(const uint8_t *packed, column c) { return packed[c / 8] >> c % 8 & 1; }

static void set_bit(uint8_t *packed, column c) { packed[c / 8] |= (uint8_t)(1 << c % 8); }

/* ---- sweep: the sets of each row, from the top ---- */

static node root(node *sets, node v)
{
    while (sets[v] != v)
        v = sets[v] = sets[sets[v]];
    return v;
}

/* Unite two sets, and return the larger of their roots, which is none any more (unless they were one set). */
static node unite(node *sets, node a, node b)
{
    node ra = root(sets, a), rb = root(sets, b);
    node low = ra < rb ? ra : rb, high = ra < rb ? rb : ra;
    sets[high] = low;
    return high;
}

/* Point every column at its set's smallest column, by the labels above and the passages east. */
static void sets_of_row(column width, const uint8_t *east, const column *labels, node *sets)
{
    for (column c = 0; c < width; c++)
        sets[c] = (node)(labels[c] < 0 ? c : labels[c]);
    for (column c = 0; c < width - 1; c++)
        if (bit(east, c))
            unite(sets, (node)c, (node)c + 1);
    for (column c = 0; c < width; c++)
        sets[c] = sets[sets[c]];
}

/* Label the columns below: each passage south with the first one of its set; first[root] becomes that, or -1. */
static void labels_below(column width, const uint8_t *south, const node *sets, column *first, column *below)
{
    memset(first, 0xff, sizeof(column) * (size_t)width);
    memset(below, 0xff, sizeof(column) * (size_t)width);
    for (column c = 0; c < width; c++) {
        node set = sets[c];
        if (!bit(south, c))
            continue;
        if (first[set] < 0)
            first[set] = c;
        below[c] = first[set];
    }
}

static void marks_below(int64_t row, const cell *ends, column *marks, const node *sets, const column *first)
{
    column *below = marks + 2;
    for (int k = 0; k < 2; k++) {
        column c = ends[k].row == row ? (column)ends[k].column : marks[k];
        below[k] = c < 0 ? -1 : first[sets[c]];
    }
}

static void sweep_rows(column width, Py_ssize_t rows, const uint8_t *east, const uint8_t *south, column *labels,
                       column *marks, const cell *ends, node *scratch)
{
    size_t row_bytes = ((size_t)width + 7) / 8;
    node *sets = scratch;
    column *first = (column *)(scratch + width);
    for (Py_ssize_t i = 0; i < rows; i++) {
        sets_of_row(width, east, labels, sets);
        labels_below(width, south, sets, first, labels + width);
        marks_below(i, ends, marks, sets, first);
        east += row_bytes, south += row_bytes, labels += width, marks += 2;
    }
}

/* ---- trace: the path through each row, from the bottom ---- */

/* A row as a forest: node c is the set above of label c, node width + s the run of cells that begins at column s,
 * and each passage north is an edge, named by its column. */
typedef struct {
    column width;
    const column *labels;
    column *runs;  /* the first column of each column's run */
    node *degree;  /* edges of each node */
    node *link;    /* the exclusive or of their columns */
    node *odd;     /* whether an odd number of the path's edges must meet at the node */
} forest;

static forest forest_in(column width, node *scratch)
{
    forest f = {width, NULL, NULL, NULL, NULL, NULL};
    f.degree = scratch;
    f.link = f.degree + 2 * (size_t)width;
    f.odd = f.link + 2 * (size_t)width;
    f.runs = (column *)(f.odd + 2 * (size_t)width);
    return f;
}

static node run_of(const forest *f, column c) { return (node)f->width + (node)f->runs[c]; }

static void add_edge(const forest *f, node v, column c)
{
    f->degree[v]++;
    f->link[v] ^= (node)c;
}

static void grow(forest *f, const uint8_t *east, const column *labels, const uint8_t *demand)
{
    f->labels = labels;
    memset(f->degree, 0, 6 * sizeof(node) * (size_t)f->width);
    for (column c = 0; c < f->width; c++) {
        f->runs[c] = c && bit(east, c - 1) ? f->runs[c - 1] : c;
        f->odd[run_of(f, c)] ^= (node)bit(demand, c);
        if (labels[c] >= 0) {
            add_edge(f, (node)labels[c], c);
            add_edge(f, run_of(f, c), c);
        }
    }
}

/* Take leaves away, one after another: the path takes a leaf's edge if the leaf is odd. */
static void peel(forest *f, node v, uint8_t *used)
{
    while (f->degree[v] == 1) {
        column c = (column)f->link[v];
        node other = v < (node)f->width ? run_of(f, c) : (node)f->labels[c];
        f->degree[v] = 0;
        f->degree[other]--;
        f->link[other] ^= (node)c;
        if (f->odd[v])
            set_bit(used, c);
        f->odd[other] ^= f->odd[v];
        f->odd[v] = 0;
        v = other;
    }
}

static int what_is_left(const forest *f)
{
    node degree = 0, odd = 0;
    for (size_t v = 0; v < 2 * (size_t)f->width; v++) {
        degree |= f->degree[v];
        odd |= f->odd[v];
    }
    return degree ? CYCLE : odd ? APART : CLEAN;
}

/* Going from left to right, the path runs east after an odd number of places where it turns off. */
static void go_east(column width, const uint8_t *turns, const uint8_t *north, uint8_t *path)
{
    int running = 0;
    for (column c = 0; c < width; c++) {
        running ^= bit(turns, c) ^ bit(north, c);
        if (running)
            set_bit(path, c);
    }
}

/* demand: where the path ends in this row or comes from below; becomes its passages north. turns: room for a row. */
static int trace_row(forest *f, const uint8_t *east, const column *labels, const column *marks, uint8_t *demand,
                     uint8_t *turns, uint8_t *path_east)
{
    size_t row_bytes = ((size_t)f->width + 7) / 8;
    grow(f, east, labels, demand);
    memcpy(turns, demand, row_bytes);
    memset(demand, 0, row_bytes);
    for (int k = 0; k < 2; k++)
        if (marks[k] >= 0)
            f->odd[marks[k]] ^= 1;
    for (size_t v = 0; v < 2 * (size_t)f->width; v++)
        peel(f, (node)v, demand);
    memset(path_east, 0, row_bytes);
    go_east(f->width, turns, demand, path_east);
    return what_is_left(f);
}

static int trace_rows(forest *f, Py_ssize_t *rows, const uint8_t *east, const column *labels, const column *marks,
                      const cell *ends, uint8_t *demand, uint8_t *turns, uint8_t *path_east, uint8_t *path_south)
{
    size_t row_bytes = ((size_t)f->width + 7) / 8;
    int kind = CLEAN;
    while (kind == CLEAN && *rows > 0) {
        Py_ssize_t i = --*rows;
        memcpy(path_south + (size_t)i * row_bytes, demand, row_bytes);
        for (int k = 0; k < 2; k++)
            if (ends[k].row == i)
                demand[ends[k].column / 8] ^= (uint8_t)(1 << ends[k].column % 8);
        kind = trace_row(f, east + (size_t)i * row_bytes, labels + i * f->width, marks + 2 * i, demand, turns,
                         path_east + (size_t)i * row_bytes);
    }
    return kind;
}

/* ---- search: distances in a maze in memory ---- */

typedef struct {
    int32_t *distance, *queue;
    int32_t count;
} search_state;

static void reach(search_state *s, int32_t cell, int32_t distance)
{
    if (s->distance[cell] < 0) {
        s->distance[cell] = distance;
        s->queue[s->count++] = cell;
    }
}

static int32_t search_cells(int32_t width, const uint8_t *sides, int32_t cells, int32_t *distance, int32_t *queue,
                            int32_t start)
{
    search_state s = {distance, queue, 0};
    reach(&s, start, 0);
    for (int32_t head = 0; head < s.count; head++) {
        int32_t at = queue[head], next = distance[at] + 1;
        if (sides[at] & NORTH && at >= width)
            reach(&s, at - width, next);
        if (sides[at] & WEST && at > 0)
            reach(&s, at - 1, next);
        if (sides[at] & EAST && at < cells - 1)
            reach(&s, at + 1, next);
        if (sides[at] & SOUTH && at < cells - width)
            reach(&s, at + width, next);
    }
    return s.count;
}

/* ---- corridors: how long the chains of cells with two passages are ---- */

/* Node c is the cell of column c, node width + l the corridor from above whose label is l. */
typedef struct {
    column width;
    column *labels;   /* at each passage that a corridor comes down by: the corridor's first such column; else -1 */
    int64_t *sizes;   /* at a label: the corridor's cells so far; else 0 */
    int64_t *totals;  /* at each root of a row: its cells */
    node *sets;
    column *first;    /* at each root: its first column with a passage south, -1 without one */
    int64_t *lengths; /* of the corridors that have ended */
    Py_ssize_t count;
} corridors_state;

static void begin_corridors(corridors_state *s, const uint8_t *two)
{
    size_t nodes = 2 * (size_t)s->width;
    for (column c = 0; c < s->width; c++) {
        s->totals[c] = bit(two, c);
        s->totals[s->width + (size_t)c] = s->sizes[c];
    }
    for (size_t v = 0; v < nodes; v++)
        s->sets[v] = (node)v;
    memset(s->first, 0xff, sizeof(column) * nodes);
}

static void join_corridors(corridors_state *s, node a, node b)
{
    node high = unite(s->sets, a, b), low = s->sets[high];
    if (low != high) {
        s->totals[low] += s->totals[high];
        s->totals[high] = 0;
    }
}

static void lead_corridors_down(corridors_state *s, const uint8_t *two, const uint8_t *south)
{
    for (column c = 0; c < s->width; c++) {
        node set;
        s->labels[c] = -1;
        s->sizes[c] = 0;
        if (!bit(two, c) || !bit(south, c))
            continue;
        set = root(s->sets, (node)c);
        if (s->first[set] < 0)
            s->first[set] = c;
        s->labels[c] = s->first[set];
    }
}

static void end_corridors(corridors_state *s)
{
    for (size_t v = 0; v < 2 * (size_t)s->width; v++) {
        if (!s->totals[v])
            continue;
        if (s->first[v] < 0)
            s->lengths[s->count++] = s->totals[v] + 1;
        else
            s->sizes[s->first[v]] = s->totals[v];
    }
}

static void corridors_of_row(corridors_state *s, const uint8_t *two, const uint8_t *east, const uint8_t *south)
{
    begin_corridors(s, two);
    for (column c = 0; c < s->width; c++)
        if (bit(two, c) && s->labels[c] >= 0)
            join_corridors(s, (node)c, (node)s->width + (node)s->labels[c]);
    for (column c = 0; c < s->width - 1; c++)
        if (bit(east, c) && bit(two, c) && bit(two, c + 1))
            join_corridors(s, (node)c, (node)c + 1);
    lead_corridors_down(s, two, south);
    end_corridors(s);
}

/* ---- Python ---- */

enum { MOST_BUFFERS = 9 };

static void release(Py_buffer *b)
{
    for (int i = 0; i < MOST_BUFFERS; i++)
        if (b[i].obj)
            PyBuffer_Release(&b[i]);
}

static int holds(const Py_buffer *b, Py_ssize_t count, Py_ssize_t size)
{
    return b->len % size == 0 && b->len / size == count && (uintptr_t)b->buf % (size_t)size == 0;
}

/* Whether every label is -1 or a column that is not behind its own: what every look-up here relies on. */
static int labels_fit(const column *labels, Py_ssize_t rows, column width)
{
    int wrong = 0;
    for (Py_ssize_t i = 0; i < rows; i++, labels += width)
        for (column c = 0; c < width; c++)
            wrong |= labels[c] > c || labels[c] < -1;
    return !wrong;
}

/* Whether every one of some columns is -1 or one of the row's. */
static int columns_fit(const column *columns, Py_ssize_t count, column width)
{
    int wrong = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        wrong |= columns[i] >= width || columns[i] < -1;
    return !wrong;
}

static int ends_fit(const cell *ends, column width)
{
    return ends[0].column >= 0 && ends[0].column < width && ends[1].column >= 0 && ends[1].column < width;
}

static PyObject *misfit(Py_buffer *b)
{
    release(b);
    PyErr_SetString(PyExc_ValueError, "the buffers do not fit the width and each other");
    return NULL;
}

/* Whether labels and marks hold `more` rows besides those of the plane, and two ends are there. */
static int rows_fit(Py_ssize_t width, const Py_buffer *plane, const Py_buffer *labels, const Py_buffer *marks,
                    const Py_buffer *ends, Py_ssize_t more)
{
    Py_ssize_t row_bytes, rows;
    if (width < 1 || width > INT32_MAX)
        return 0;
    row_bytes = (width + 7) / 8;
    rows = plane->len / row_bytes;
    return plane->len % row_bytes == 0 && holds(labels, (rows + more) * width, sizeof(column)) &&
           holds(marks, 2 * (rows + more), sizeof(column)) && ends->len == 2 * sizeof(cell) &&
           (uintptr_t)ends->buf % sizeof(int64_t) == 0 && ends_fit(ends->buf, (column)width);
}

static PyObject *sweep(PyObject *self, PyObject *args)
{
    enum { EASTS, SOUTHS, LABELS, MARKS, ENDS, SCRATCH };
    Py_buffer b[MOST_BUFFERS] = {{0}};
    Py_ssize_t width;
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*w*w*y*w*", &width, b, b + SOUTHS, b + LABELS, b + MARKS, b + ENDS, b + SCRATCH))
        return NULL;
    if (!rows_fit(width, b, b + LABELS, b + MARKS, b + ENDS, 1) || b[SOUTHS].len != b[EASTS].len ||
        !holds(b + SCRATCH, 2 * width, sizeof(column)) || !labels_fit(b[LABELS].buf, 1, (column)width) ||
        !columns_fit(b[MARKS].buf, 2, (column)width))
        return misfit(b);
    Py_BEGIN_ALLOW_THREADS
    sweep_rows((column)width, b[EASTS].len / ((width + 7) / 8), b[EASTS].buf, b[SOUTHS].buf, b[LABELS].buf,
               b[MARKS].buf, b[ENDS].buf, b[SCRATCH].buf);
    Py_END_ALLOW_THREADS
    release(b);
    Py_RETURN_NONE;
}

static PyObject *trace(PyObject *self, PyObject *args)
{
    enum { EASTS, LABELS, MARKS, ENDS, DEMAND, PATH_EAST, PATH_SOUTH, SCRATCH };
    Py_buffer b[MOST_BUFFERS] = {{0}};
    Py_ssize_t width, rows;
    int kind;
    forest f;
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*y*w*w*w*w*", &width, b, b + LABELS, b + MARKS, b + ENDS, b + DEMAND,
                          b + PATH_EAST, b + PATH_SOUTH, b + SCRATCH))
        return NULL;
    if (!rows_fit(width, b, b + LABELS, b + MARKS, b + ENDS, 0) || b[DEMAND].len != (width + 7) / 8 ||
        b[PATH_EAST].len != b[EASTS].len || b[PATH_SOUTH].len != b[EASTS].len ||
        !holds(b + SCRATCH, 8 * width, sizeof(node)))
        return misfit(b);
    rows = b[EASTS].len / ((width + 7) / 8);
    if (!labels_fit(b[LABELS].buf, rows, (column)width) || !columns_fit(b[MARKS].buf, 2 * rows, (column)width))
        return misfit(b);
    f = forest_in((column)width, b[SCRATCH].buf);
    Py_BEGIN_ALLOW_THREADS
    kind = trace_rows(&f, &rows, b[EASTS].buf, b[LABELS].buf, b[MARKS].buf, b[ENDS].buf, b[DEMAND].buf,
                      (uint8_t *)(f.runs + width), b[PATH_EAST].buf, b[PATH_SOUTH].buf);
    Py_END_ALLOW_THREADS
    release(b);
    return Py_BuildValue("ns", rows, kinds[kind]);
}

static PyObject *search(PyObject *self, PyObject *args)
{
    enum { SIDES, DISTANCE, QUEUE };
    Py_buffer b[MOST_BUFFERS] = {{0}};
    Py_ssize_t width, start, cells;
    int32_t reached;
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*w*w*n", &width, b, b + DISTANCE, b + QUEUE, &start))
        return NULL;
    cells = b[SIDES].len;
    if (width < 1 || cells > INT32_MAX || cells % width || !holds(b + DISTANCE, cells, sizeof(int32_t)) ||
        !holds(b + QUEUE, cells, sizeof(int32_t)) || start < 0 || start >= cells)
        return misfit(b);
    memset(b[DISTANCE].buf, 0xff, sizeof(int32_t) * (size_t)cells);
    Py_BEGIN_ALLOW_THREADS
    reached = search_cells((int32_t)width, b[SIDES].buf, (int32_t)cells, b[DISTANCE].buf, b[QUEUE].buf,
                           (int32_t)start);
    Py_END_ALLOW_THREADS
    release(b);
    return PyLong_FromLong(reached);
}

static PyObject *corridors(PyObject *self, PyObject *args)
{
    enum { TWO, EASTS, SOUTHS, LABELS, SIZES, LENGTHS, SCRATCH };
    Py_buffer b[MOST_BUFFERS] = {{0}};
    Py_ssize_t width, row_bytes, rows;
    corridors_state s;
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*w*w*w*w*", &width, b, b + EASTS, b + SOUTHS, b + LABELS, b + SIZES,
                          b + LENGTHS, b + SCRATCH))
        return NULL;
    row_bytes = width < 1 || width > INT32_MAX ? 1 : (width + 7) / 8;
    rows = b[TWO].len / row_bytes;
    if (width < 1 || width > INT32_MAX || b[TWO].len % row_bytes || b[EASTS].len != b[TWO].len ||
        b[SOUTHS].len != b[TWO].len || !holds(b + LABELS, width, sizeof(column)) ||
        !holds(b + SIZES, width, sizeof(int64_t)) || !holds(b + LENGTHS, (rows + 1) * width, sizeof(int64_t)) ||
        !holds(b + SCRATCH, 4 * width, sizeof(int64_t)) || !columns_fit(b[LABELS].buf, width, (column)width))
        return misfit(b);
    s = (corridors_state){(column)width, b[LABELS].buf, b[SIZES].buf, b[SCRATCH].buf, NULL, NULL, b[LENGTHS].buf, 0};
    s.sets = (node *)(s.totals + 2 * width);
    s.first = (column *)(s.sets + 2 * width);
    Py_BEGIN_ALLOW_THREADS
    for (size_t at = 0; at < (size_t)b[TWO].len; at += (size_t)row_bytes)
        corridors_of_row(&s, (uint8_t *)b[TWO].buf + at, (uint8_t *)b[EASTS].buf + at, (uint8_t *)b[SOUTHS].buf + at);
    Py_END_ALLOW_THREADS
    release(b);
    return PyLong_FromSsize_t(s.count);
}

static PyMethodDef methods[] = {
    {"sweep", sweep, METH_VARARGS, "The sets of each row; solve/steps.py says how."},
    {"trace", trace, METH_VARARGS, "The path through each row; solve/steps.py says how."},
    {"search", search, METH_VARARGS, "Distances by breadth-first search; solve/steps.py says how."},
    {"corridors", corridors, METH_VARARGS, "The lengths of corridors; solve/steps.py says how."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "eller_stream._solve", "The row steps of solve/, in C.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__solve(void) { return PyModuleDef_Init(&definition); }
