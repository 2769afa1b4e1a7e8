/* The row kernel: Eller's rows, many columns at a time, the same as _step.py bit for bit.
 *
 * _row.h is the step itself, written over big words; _words.h has the big words of each kind of machine;
 * _row_state.h has a row's memory and the textbook row for what nests too deep. This file carves many rows with them.
 *
 * What to carve with is asked of the machine, and of the rows:
 *
 * *One row after the other*, 8 words of it at a time with AVX-512 (and GFNI, VBMI, VPCLMULQDQ), 4 with AVX2, else 1.
 *
 * *Several bands at once.* Key rows cut the maze into bands of key_interval rows, each of which begins with a state that
 * the coins of the key row above give. So 8, 4 or 2 bands are carved side by side, one in each lane of a vector, in step: row
 * i of all of them is row i of their band, with one direction and one kind of row for all. A band that was
 * begun before, the last row of the maze, and what is too little to fill the lanes go one row after the other.
 *
 * All of it gives the same rows.
 */
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_row_state.h"
#include "_words.h"

#ifndef MAX_SCRATCH
#define MAX_SCRATCH ((size_t)64 << 20) /* bytes of bands side by side; one band at a time takes what it needs */
#endif

enum { EAST = 0, SOUTH = 16, LOOPS_EAST = 32, LOOPS_SOUTH = 48, BRAID = 64, BRAID_THIRD = 80, BRAID_EVEN = 96 };

typedef void carve_row(row_state *, const coins *, word row, int merging, int last);

/* What is to be carved, and with what: 0 lanes and 0 bands are the best there is. */
typedef struct {
    int width, lanes, bands;
    coins coins;
    word last_row, key_interval;
    size_t row_bytes;
} job;

/* Rows on their way: `state` is of `row`, and there are `rows` more to carve, to `east` and `south`. */
typedef struct {
    word row;
    size_t rows;
    unsigned char *state, *east, *south;
} cursor;

/* ---- bytes and words: planes are little-endian whatever the machine is ------------------------ */

static void load_plane(const row_state *r, word *x, int lane, const unsigned char *bytes)
{
    for (int k = 0; k < r->words; k++)
        x[k * r->lanes + lane] = 0;
    for (size_t i = 0; i < r->row_bytes; i++)
        x[i / 8 * (size_t)r->lanes + (size_t)lane] |= (word)bytes[i] << i % 8 * 8;
}

static void store_bytes(unsigned char *bytes, word x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(x >> i * 8);
}

static inline void store_plane(const row_state *r, unsigned char *bytes, const word *x, int lane)
{
    size_t whole = r->row_bytes / 8, lanes = (size_t)r->lanes;
    x += lane;
    for (size_t k = 0; k < whole; k++, x += lanes)
        store_bytes(bytes + 8 * k, *x, 8); /* which compilers know as one store */
    store_bytes(bytes + 8 * whole, *x, r->row_bytes % 8);
}

static void load_state(row_state *r, int lane, const unsigned char *state)
{
    load_plane(r, r->has_next, lane, state);
    load_plane(r, r->has_prev, lane, state + r->row_bytes);
    load_plane(r, r->above, lane, state + 2 * r->row_bytes);
}

static void store_state(const row_state *r, int lane, unsigned char *state)
{
    store_plane(r, state, r->has_next, lane);
    store_plane(r, state + r->row_bytes, r->has_prev, lane);
    store_plane(r, state + 2 * r->row_bytes, r->above, lane);
}

static void advance(cursor *c, size_t rows, size_t row_bytes)
{
    c->row += rows, c->rows -= rows;
    c->east += rows * row_bytes, c->south += rows * row_bytes;
}

/* ---- one row after the other -------------------------------------------------------------------- */

static word words_of(const job *j) { return ((word)j->width + 63) / 64; }

static word vectors_along(const job *j, int lanes) { return (words_of(j) + (word)lanes - 1) / (word)lanes; }

/* A vector along the row takes about as long as three words one by one, with all its carries from lane to lane. */
static int lanes_of(const job *j)
{
    int machine = machine_lanes();
    if (j->lanes)
        return j->lanes;
    return 3 * vectors_along(j, machine) < words_of(j) ? machine : 1;
}

static carve_row *row_carver(int lanes)
{
#if HAVE_X86_VECTORS
    if (lanes == 8)
        return carve_row_row_8;
    if (lanes == 4)
        return carve_row_row_4;
#endif
    (void)lanes;
    return carve_row_row_1;
}

/* Carve `rows` rows; 0 where memory ran out. */
static int carve_rows(const job *j, cursor *c, size_t rows)
{
    row_state r;
    int lanes = lanes_of(j);
    carve_row *carver = row_carver(lanes);
    void *memory = new_rows(&r, j->width, lanes, 1, 0);
    if (!memory)
        return 0;
    load_state(&r, 0, c->state);
    for (size_t i = 0; i < rows; i++) {
        word row = c->row + i;
        int last = row == j->last_row, merging = last || (j->key_interval && (row + 1) % j->key_interval == 0);
        carver(&r, &j->coins, row, merging, last);
        store_plane(&r, c->east + i * r.row_bytes, r.east, 0);
        store_plane(&r, c->south + i * r.row_bytes, r.south, 0);
    }
    store_state(&r, 0, c->state);
    advance(c, rows, j->row_bytes);
    free(r.lists);
    free(memory);
    return !r.no_memory;
}

/* ---- bands side by side -------------------------------------------------------------------------- */

static int machine_bands(void) { return machine_lanes() > 1 ? machine_lanes() : 1 + HAVE_TWO_BANDS; }

static carve_row *band_carver(int bands)
{
#if HAVE_X86_VECTORS
    if (bands == 8)
        return carve_row_bands_8;
    if (bands == 4)
        return carve_row_bands_4;
#endif
#if HAVE_TWO_BANDS
    if (bands == 2)
        return carve_row_bands_2;
#endif
    (void)bands;
    return carve_row_row_1;
}

/* Rows from the cursor on that bands may carve: all but the last one of the maze, if a band begins here. (In an odd
 * interval the bands would not have one direction.) */
static size_t rows_for_bands(const job *j, const cursor *c)
{
    word left = j->last_row - c->row;
    if (!j->key_interval || j->key_interval % 2 || c->row % j->key_interval)
        return 0;
    return left < c->rows ? (size_t)left : c->rows;
}

/* How many bands to carve at once from here; 1: one row after the other.
 *
 * It takes as long for one band as for all that the vector has room for. A vector along the row takes at least
 * twice as long as one across bands, a single word about as long. */
static int bands_at_once(const job *j, const cursor *c)
{
    word rows = rows_for_bands(j, c);
    int lanes = lanes_of(j), bands = j->bands ? j->bands : machine_bands();
    while (bands > 1 && NUM_ARRAYS * array_length(j->width, bands) * sizeof(word) > MAX_SCRATCH)
        bands /= 2;
    if (rows > (word)bands * j->key_interval)
        rows = (word)bands * j->key_interval;
    if (rows <= j->key_interval)
        return 1;
    word along = rows * vectors_along(j, lanes) * (lanes > 1 ? 2 : 1);
    return j->bands || along >= j->key_interval * words_of(j) ? bands : 1;
}

/* A key row has one set, and its cells keep what its own coins say; if all drop, the last of the scan, column 0, is kept. */
static void begin_below(row_state *r, int lane, const coin *south, word key_row)
{
    int first = -1, last = 0;
    for (int k = 0; k < r->words; k++) {
        int i = k * r->lanes + lane;
        r->above[i] = toss_row_1(south, r->cells[i], (key_row * (word)r->words + (word)k + 1) * GOLDEN);
        if (r->above[i])
            last = i, first = first < 0 ? i : first;
    }
    if (first < 0)
        first = last = lane, r->above[lane] = 1;
    for (int i = lane; i < r->words * r->lanes; i += r->lanes)
        r->has_next[i] = r->has_prev[i] = r->above[i];
    word behind = r->has_next[last]; /* clear its highest bit */
    for (int shift = 1; shift < 64; shift *= 2)
        behind |= behind >> shift;
    r->has_next[last] &= behind >> 1;
    r->has_prev[first] &= r->has_prev[first] - 1;
}

/* Carve a group of bands, the last of which may be cut short; return how many rows of the maze that is. */
static size_t carve_group(const job *j, cursor *c, row_state *r, carve_row *carver)
{
    size_t interval = (size_t)j->key_interval, rows = rows_for_bands(j, c), most = interval * (size_t)r->lanes;
    rows = rows < most ? rows : most;
    int used = (int)((rows + interval - 1) / interval);
    size_t short_rows = rows - (size_t)(used - 1) * interval; /* of the last band */
    load_state(r, 0, c->state);
    for (int lane = 1; lane < used; lane++)
        begin_below(r, lane, &j->coins.south, c->row + (word)lane * interval - 1);
    for (size_t i = 0; i < interval; i++) {
        carver(r, &j->coins, c->row + i, i + 1 == interval, 0);
        for (int lane = 0; lane < used - (i >= short_rows); lane++) {
            size_t place = ((size_t)lane * interval + i) * r->row_bytes;
            store_plane(r, c->east + place, r->east, lane);
            store_plane(r, c->south + place, r->south, lane);
        }
        if (i + 1 == short_rows)
            store_state(r, used - 1, c->state);
    }
    return rows;
}

/* Carve groups of so many bands as long as that pays; 0 where memory ran out. */
static int carve_bands(const job *j, cursor *c, int bands)
{
    row_state r;
    void *memory = new_rows(&r, j->width, bands, bands, j->key_interval);
    if (!memory)
        return 0;
    do
        advance(c, carve_group(j, c, &r, band_carver(bands)), j->row_bytes);
    while (bands_at_once(j, c) == bands);
    free(r.lists);
    free(memory);
    return !r.no_memory;
}

/* ---- all rows --------------------------------------------------------------------------------------- */

/* Rows to carve one after the other: to the next band if bands can be carved there, else all. */
static size_t rows_alone(const job *j, const cursor *c)
{
    cursor next = *c;
    word to_next = j->key_interval ? j->key_interval - c->row % j->key_interval : 0;
    if (j->bands == 1 || !to_next || to_next >= c->rows || j->last_row - c->row <= to_next)
        return c->rows;
    advance(&next, (size_t)to_next, j->row_bytes);
    return bands_at_once(j, &next) > 1 ? (size_t)to_next : c->rows;
}

static int carve_all(const job *j, cursor *c)
{
    int done = 1;
    while (done && c->rows) {
        int bands = bands_at_once(j, c);
        done = bands > 1 ? carve_bands(j, c, bands) : carve_rows(j, c, rows_alone(j, c));
    }
    return done;
}

/* Carve, with the state's planes as they stand in `state`; 0 where memory ran out, with the state as it was. */
static int carve_job(const job *j, cursor c)
{
    unsigned char *given = c.state;
    c.state = malloc(3 * j->row_bytes);
    if (!c.state)
        return 0;
    memcpy(c.state, given, 3 * j->row_bytes);
    int done = carve_all(j, &c);
    if (done)
        memcpy(given, c.state, 3 * j->row_bytes);
    free(c.state);
    return done;
}

/* ---- the module ----------------------------------------------------------------------------------- */

static void set_coin(coin *c, word seed, unsigned base, uint32_t n)
{
    c->n = n;
    c->lowest = 16; /* n = 0: no word is drawn */
    for (int b = 15; b >= 0; b--) {
        if (n >> b & 1)
            c->lowest = b;
        c->key[b] = mix_row_1(seed ^ mix_row_1(base + (word)b + 1));
    }
}

static void set_coins(coins *c, word seed, const unsigned n[4])
{
    set_coin(&c->east, seed, EAST, n[0]), set_coin(&c->south, seed, SOUTH, n[1]);
    set_coin(&c->loops_east, seed, LOOPS_EAST, n[2]), set_coin(&c->loops_south, seed, LOOPS_SOUTH, n[2]);
    set_coin(&c->braid, seed, BRAID, n[3]);
    set_coin(&c->third, seed, BRAID_THIRD, THIRD), set_coin(&c->even, seed, BRAID_EVEN, EVEN);
}

static int sizes_fit(const Py_buffer *state, const Py_buffer *east, const Py_buffer *south, Py_ssize_t row_bytes)
{
    return state->len == 3 * row_bytes && east->len == south->len && east->len % row_bytes == 0;
}

/* Set a ValueError and return 0 unless the job is one that can be done. */
static int job_fits(const job *j)
{
    if (j->lanes != 0 && j->lanes != 1 && j->lanes != 4 && j->lanes != 8)
        PyErr_Format(PyExc_ValueError, "lanes is 0 (the best), 1, 4 or 8, not %d", j->lanes);
    else if (j->bands < 0 || j->bands > 8 || (j->bands & (j->bands - 1)))
        PyErr_Format(PyExc_ValueError, "bands is 0 (the best), 1, 2, 4 or 8, not %d", j->bands);
    else if (j->lanes > machine_lanes() || j->bands > machine_bands())
        PyErr_Format(PyExc_ValueError, "this machine has no %d lanes and %d bands", j->lanes, j->bands);
    else
        return 1;
    return 0;
}

static PyObject *carve_buffers(Py_buffer *state, Py_buffer *east, Py_buffer *south, word row, job *j)
{
    Py_ssize_t row_bytes = ((Py_ssize_t)j->width + 7) / 8;
    int done;
    if (j->width < 1 || !sizes_fit(state, east, south, row_bytes))
        return PyErr_Format(PyExc_ValueError, "the buffers are not of the sizes that the width says");
    if (!job_fits(j))
        return NULL;
    j->row_bytes = (size_t)row_bytes;
    cursor c = {row, (size_t)(east->len / row_bytes), state->buf, east->buf, south->buf};
    Py_BEGIN_ALLOW_THREADS
    done = carve_job(j, c);
    Py_END_ALLOW_THREADS
    if (!done)
        return PyErr_NoMemory();
    return Py_NewRef(Py_None);
}

static PyObject *carve(PyObject *module, PyObject *args)
{
    Py_buffer state, east, south;
    unsigned n[4];
    unsigned long long row, seed, key_interval, last_row;
    job j = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*w*iKKIIIIKK|ii:carve", &state, &east, &south, &j.width, &row, &seed, &n[0], &n[1], &n[2],
                          &n[3], &key_interval, &last_row, &j.lanes, &j.bands))
        return NULL;
    j.last_row = last_row, j.key_interval = key_interval;
    set_coins(&j.coins, seed, n);
    PyObject *result = carve_buffers(&state, &east, &south, row, &j);
    PyBuffer_Release(&state), PyBuffer_Release(&east), PyBuffer_Release(&south);
    return result;
}

static PyMethodDef methods[] = {
    {"carve", carve, METH_VARARGS,
     "carve(state, east, south, width, row, seed, p_east, p_south, loops, braid, key_interval, last_row, lanes=0, bands=0)\n\n"
     "Carve rows into the planes; see kernel.Carver. lanes: 1, 4 or 8 words of a row at a time; bands: 1, 2, 4 or 8 bands\n"
     "at a time wherever two or more begin; 0: what suits this machine and these rows best. The rows are the same."},
    {NULL, NULL, 0, NULL}};

static int set_up(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "LANES", machine_lanes()))
        return -1;
    return PyModule_AddIntConstant(module, "BANDS", machine_bands());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, set_up}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The row kernel in C.", 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
