/* The carvers of bands in C: the same bands as those of the modules in Python, bit for bit. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "_bands.h"

#define MAX_SIDE ((word)1 << 31)
#define MAX_CELLS ((word)1 << 34)
#define MAX_A ((word)1 << 22)

/* ---- a band's cells, and the planes that come out of them ------------------------------------------- */

static int new_grid(grid *g, size_t width, size_t rows)
{
    word bytes = ((word)width + 2) * ((word)rows + 2);
    if (bytes > PTRDIFF_MAX || !(g->cells = malloc((size_t)bytes)))
        return 0;
    g->width = width, g->rows = rows, g->stride = width + 2;
    g->step[NORTH] = -(ptrdiff_t)g->stride, g->step[SOUTH] = (ptrdiff_t)g->stride;
    g->step[EAST] = 1, g->step[WEST] = -1;
    g->door[NORTH] = g->door[EAST] = 0, g->door[SOUTH] = g->step[SOUTH], g->door[WEST] = g->step[WEST];
    memset(g->cells, IN | OUTSIDE, (size_t)bytes);
    for (size_t row = 0; row < rows; row++)
        memset(g->cells + cell_at(g, row, 0), 0, width);
    return 1;
}

/* The bit of up to eight cells, the first of them lowest. */
static unsigned char packed(const unsigned char *cells, size_t count, int shift)
{
    word x = 0;
    if (count >= 8)
        for (int i = 0; i < 8; i++) /* one load, as compilers know */
            x |= (word)cells[i] << 8 * i;
    else
        for (size_t i = 0; i < count; i++)
            x |= (word)cells[i] << 8 * i;
    return (unsigned char)(((x >> shift & 0x0101010101010101u) * 0x0102040810204080u) >> 56);
}

/* Pack one bit of the cells of `rows` rows into a plane. */
static void pack(const grid *g, size_t rows, int shift, unsigned char *plane)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < g->width; column += 8)
            *plane++ = packed(g->cells + cell_at(g, row, column), g->width - column, shift);
}

/* ---- arguments ------------------------------------------------------------------------------------- */

typedef enum { DFS, PRIM, WILSON, RANDOM_WALK } algorithm;

typedef struct {
    algorithm kind;
    dfs_options dfs;
    prim_options prim;
    walk_options walk;
    word key;
    int rooted;
} order;

static int carve_grid(grid *g, const order *o)
{
    switch (o->kind) {
    case DFS: return carve_dfs(g, &o->dfs);
    case PRIM: return carve_prim(g, &o->prim);
    case WILSON: return carve_wilson(g, o->key, o->rooted);
    default: return carve_random_walk(g, &o->walk);
    }
}

/* Carve into the planes; 0 where memory ran out. A map has one plane, its floor; a maze north, with a row more, and east. */
static int carve_planes(const order *o, Py_buffer *first, Py_buffer *second, size_t width, size_t rows)
{
    grid g;
    if (!new_grid(&g, width, rows))
        return 0;
    int done = carve_grid(&g, o);
    if (done && o->kind == RANDOM_WALK)
        pack(&g, rows, 2, first->buf);
    else if (done) {
        size_t row_bytes = (width + 7) / 8;
        pack(&g, rows, 1, first->buf);
        memset((char *)first->buf + rows * row_bytes, 0, row_bytes);
        pack(&g, rows, 0, second->buf);
    }
    free(g.cells);
    return done;
}

/* Whether the options are such that a band of this size has. */
static int order_fits(const order *o, word width, word rows)
{
    word cells = width * rows;
    switch (o->kind) {
    case DFS: return (o->dfs.start == NO_START || o->dfs.start < cells) && o->dfs.doors <= width;
    case PRIM:
        return (o->prim.start == NO_START || o->prim.start < cells) && o->prim.a <= MAX_A && o->prim.pull >= PULL_EVEN &&
               o->prim.pull <= PULL_TOWARD;
    case WILSON: return 1;
    default:
        return width > 1 && o->walk.max_length && (o->walk.gate_above < (int64_t)width) &&
               (o->walk.gate_below < (int64_t)width) && (rows > 1 || o->walk.gate_above != NO_GATE);
    }
}

/* Carve without the GIL, and release the planes. `second` is NULL for a map. */
static PyObject *carve(const order *o, Py_buffer *first, Py_buffer *second, Py_ssize_t width)
{
    PyObject *result = NULL;
    Py_ssize_t row_bytes = width > 0 ? (width + 7) / 8 : 1;
    Py_buffer *plane = second ? second : first;
    Py_ssize_t rows = plane->len / row_bytes;
    int fits = width > 0 && rows > 0 && plane->len % row_bytes == 0 && (word)width <= MAX_SIDE && (word)rows <= MAX_CELLS / (word)width;
    if (!fits || (second && first->len != plane->len + row_bytes))
        PyErr_SetString(PyExc_ValueError, "the buffers are not of the sizes that the width says");
    else if (!order_fits(o, (word)width, (word)rows))
        PyErr_SetString(PyExc_ValueError, "no band of this size has these options");
    else {
        int done;
        Py_BEGIN_ALLOW_THREADS
        done = carve_planes(o, first, second, (size_t)width, (size_t)rows);
        Py_END_ALLOW_THREADS
        result = done ? Py_NewRef(Py_None) : PyErr_NoMemory();
    }
    PyBuffer_Release(first);
    if (second)
        PyBuffer_Release(second);
    return result;
}

static PyObject *dfs(PyObject *module, PyObject *args)
{
    Py_buffer north, east;
    Py_ssize_t width;
    unsigned long long key, start, doors, row, column;
    order o = {.kind = DFS};
    unsigned *weights = o.dfs.weights;
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*nKKK(IIII)pKK:dfs", &north, &east, &width, &key, &start, &doors, &weights[0],
                          &weights[1], &weights[2], &weights[3], &o.dfs.by_goal, &row, &column))
        return NULL;
    o.dfs.key = key, o.dfs.start = start, o.dfs.doors = doors;
    o.dfs.goal.row = row, o.dfs.goal.column = column;
    return carve(&o, &north, &east, width);
}

static PyObject *prim(PyObject *module, PyObject *args)
{
    Py_buffer north, east;
    Py_ssize_t width;
    unsigned long long key, start, a, row, column;
    order o = {.kind = PRIM};
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*nKpKiKKK:prim", &north, &east, &width, &key, &o.prim.rooted, &start, &o.prim.pull, &a,
                          &row, &column))
        return NULL;
    o.prim.key = key, o.prim.start = start, o.prim.a = a;
    o.prim.goal.row = row, o.prim.goal.column = column;
    return carve(&o, &north, &east, width);
}

static PyObject *wilson(PyObject *module, PyObject *args)
{
    Py_buffer north, east;
    Py_ssize_t width;
    unsigned long long key;
    order o = {.kind = WILSON};
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*nKp:wilson", &north, &east, &width, &key, &o.rooted))
        return NULL;
    o.key = key;
    return carve(&o, &north, &east, width);
}

static PyObject *random_walk(PyObject *module, PyObject *args)
{
    Py_buffer floor;
    Py_ssize_t width;
    unsigned long long key, tunnels, length;
    long long above, below_;
    order o = {.kind = RANDOM_WALK};
    (void)module;
    if (!PyArg_ParseTuple(args, "w*nKLLKK:random_walk", &floor, &width, &key, &above, &below_, &tunnels, &length))
        return NULL;
    o.walk.key = key, o.walk.max_tunnels = tunnels, o.walk.max_length = length;
    o.walk.gate_above = above < 0 ? NO_GATE : above, o.walk.gate_below = below_ < 0 ? NO_GATE : below_;
    return carve(&o, &floor, NULL, width);
}

/* ---- the module ------------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"dfs", dfs, METH_VARARGS,
     "dfs(north, east, width, key, start, doors, weights, by_goal, goal_row, goal_column)\n\nSee _carvers.pyi."},
    {"prim", prim, METH_VARARGS, "prim(north, east, width, key, rooted, start, pull, a, goal_row, goal_column)"},
    {"wilson", wilson, METH_VARARGS, "wilson(north, east, width, key, rooted)"},
    {"random_walk", random_walk, METH_VARARGS,
     "random_walk(floor, width, key, gate_above, gate_below, max_tunnels, max_length)"},
    {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_carvers", "The carvers of bands in C.", 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__carvers(void) { return PyModuleDef_Init(&definition); }
