/* The rows of uniform in C: the same tables and rows as those of table.py and rows.py, bit for bit.

   A word says which jump it means whatever cell the walk is at, since the ring looks the same from everywhere. So the next
   word is drawn and its jump looked up one step ahead, and neither waits for the walk. What remains are branches that nobody
   can foretell; where one can be had without, it is.

   Floats have to be rounded after each operation; this file is compiled without contraction (setup.py). */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "doubles are not rounded after each operation here: use the rows in Python"
#endif

typedef uint64_t word;
typedef uint32_t number;

enum { MAX_WIDTH = 1 << 14 };
#define GOLDEN 0x9E3779B97F4A7C15u
#define ENDLESS UINT64_MAX
#define NEGLIGIBLE 0x1p-64
#define NO_WAY UINT32_MAX

static inline word mix(word z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- the table of jumps ------------------------------------------------------------------------------ */

typedef struct {
    number width;
    int bits; /* of a bucket's number */
    const double *cosine, *tops, *sums;
    double *corrected; /* scratch: width + 1 */
    number *stack;      /* scratch: one for each bucket */
} strip;

static int bits_of(number width)
{
    int bits = 1;
    while ((number)1 << bits < 2 * width)
        bits++;
    return bits;
}

static double power(double base, word n)
{
    double result = 1.0;
    for (; n; n >>= 1) {
        if (n & 1)
            result *= base;
        base *= base;
    }
    return result;
}

static double fading(const strip *s, number k, word below)
{
    double up = 1.0 / (1.0 + s->tops[k]);
    return power(up * up, below);
}

static int is_endless(const strip *s, word below) { return below == ENDLESS || fading(s, 1, below) < NEGLIGIBLE; }

static void add_wave(const strip *s, number k, double weight)
{
    number ring = 2 * s->width;
    for (number j = 0, i = 0; j <= s->width; j++, i += k, i -= i >= ring ? ring : 0)
        s->corrected[j] += weight * s->cosine[i];
}

static void correct(const strip *s, word below)
{
    memcpy(s->corrected, s->sums, (s->width + 1) * sizeof *s->sums);
    if (is_endless(s, below))
        return;
    for (number k = 1; k <= s->width; k++) {
        double top = s->tops[k], fades = fading(s, k, below);
        if (fades < NEGLIGIBLE)
            return;
        double correction = top * fades * (2.0 + top) / (1.0 + fades * (1.0 + top));
        add_wave(s, k, -((k < s->width ? 2.0 : 1.0) * correction));
    }
}

/* The chances of the jumps, in 2**-64. */
static void round_chances(const strip *s, word *chances)
{
    number ring = 2 * s->width;
    double whole = (double)ring + s->corrected[0];
    word others = 0;
    for (number j = 1; j <= s->width; j++) {
        double jump = -s->corrected[j] > 0.0 ? -s->corrected[j] : 0.0;
        chances[j] = chances[ring - j] = (word)(jump / whole * 0x1p64);
        others += j < s->width ? 2 * chances[j] : chances[j];
    }
    chances[0] = 0 - others;
    memset(chances + ring, 0, (((size_t)1 << s->bits) - ring) * sizeof *chances);
}

/* From chances to cuts and others, in place: a cut stands above its other. */
static void alias(const strip *s, word *entries)
{
    number size = (number)1 << s->bits, small = 0, large = size;
    word room = (word)1 << (64 - s->bits);
    for (number j = 0; j < size; j++)
        s->stack[entries[j] < room ? small++ : --large] = j;
    while (small && large < size) {
        number a = s->stack[--small], b = s->stack[large];
        entries[b] -= room - entries[a];
        entries[a] = entries[a] << s->bits | b;
        if (entries[b] < room)
            s->stack[small++] = b, large++;
    }
    while (large < size) { /* full: whatever the cut, it is itself */
        number b = s->stack[large++];
        entries[b] = b;
    }
}

static void make_table(const strip *s, word below, word *entries)
{
    correct(s, below);
    round_chances(s, entries);
    alias(s, entries);
}

/* ---- draws ------------------------------------------------------------------------------------------- */

typedef struct {
    word offset, mask; /* of the last word that was drawn; of a bucket's number */
    const word *entries;
    word drawn;  /* the next word, */
    number jump; /* and what it means at a cell of the row below; 0: up */
} draws;

static inline void draw_ahead(draws *d)
{
    word drawn = d->drawn = mix(d->offset += GOLDEN), entry = d->entries[drawn & d->mask];
    d->jump = (number)(((drawn | d->mask) < entry ? drawn : entry) & d->mask);
}

static inline word next_word(draws *d)
{
    word drawn = d->drawn;
    draw_ahead(d);
    return drawn;
}

static inline number next_jump(draws *d)
{
    number jump = d->jump;
    draw_ahead(d);
    return jump;
}

/* floor(drawn * n / 2**64) */
static inline number scaled(word drawn, number n)
{
#ifdef __SIZEOF_INT128__
    return (number)((unsigned __int128)drawn * n >> 64);
#else
    return (number)(((drawn >> 32) * n + ((drawn & UINT32_MAX) * n >> 32)) >> 32);
#endif
}

/* ---- a row's tree ------------------------------------------------------------------------------------ */

/* Nodes are numbered as in rows.py. */
typedef struct {
    number width, sets;
    number *nodes;    /* node of the set of each cell */
    number *exits;    /* first exit of each set, and of the one behind the last */
    number *to;       /* node that an exit leads to */
    number *passages; /* and through what: 2 * c east of cell c, 2 * c + 1 south of it */
    number *ways;     /* last way out of each node: the exit of a set, the node that a cell's way led to */
    number *numbers;  /* scratch: 2 * width */
    unsigned char *inside;
    unsigned char *east, *south; /* the row */
} tree;

static inline void open_bit(unsigned char *plane, number c) { plane[c >> 3] |= (unsigned char)(1 << (c & 7)); }

static inline int bit(const unsigned char *plane, number c) { return plane[c >> 3] >> (c & 7) & 1; }

/* The neighbours of cell c in its row, as nodes; itself where there is none. */
static inline number west_of(const tree *t, number c) { return t->nodes[c ? c - 1 : c]; }
static inline number east_of(const tree *t, number c) { return t->nodes[c + 1 < t->width ? c + 1 : c]; }

static void count_exits(tree *t, int deep)
{
    number *counts = t->exits + 1;
    memset(t->exits, 0, (t->sets + 1) * sizeof *t->exits);
    for (number c = 0; c < t->width; c++) {
        number node = t->nodes[c];
        counts[node - t->width] += (west_of(t, c) != node) + (east_of(t, c) != node) + (number)deep;
    }
}

/* Turn the counts of exits into places, and return the node of the set with the most. */
static number place_exits(tree *t)
{
    number root = 0, most = 0;
    for (number a = 0; a < t->sets; a++) {
        if (t->exits[a + 1] > most)
            root = a, most = t->exits[a + 1];
        t->exits[a + 1] += t->exits[a];
    }
    return t->width + root;
}

/* Write an exit that may be none without a branch, and return the next place; what is none goes behind all exits. */
static inline number add_exit(tree *t, number place, int is_one, number to, number passage)
{
    number here = is_one ? place : 3 * t->width;
    t->to[here] = to, t->passages[here] = passage;
    return place + (number)is_one;
}

static void fill_exits(tree *t, int deep)
{
    number *ends = t->numbers;
    memcpy(ends, t->exits, t->sets * sizeof *ends);
    for (number c = 0; c < t->width; c++) {
        number node = t->nodes[c], west = west_of(t, c), east = east_of(t, c), place = ends[node - t->width];
        place = add_exit(t, place, west != node, west, 2 * (c - 1));
        place = add_exit(t, place, east != node, east, 2 * c);
        ends[node - t->width] = add_exit(t, place, deep, c, 2 * c + 1);
    }
}

/* Where a jump leads: around the ring, and folded over. A number below 0 is a huge one. */
static inline number landing(number cell, number jump, number ring)
{
    number place = cell + jump, once_around = place - ring;
    place = place < once_around ? place : once_around;
    number mirrored = ring - 1 - place;
    return place < mirrored ? place : mirrored;
}

/* Walk along the row below, from a cell to the tree or up to a set; note the last way out of each cell. */
static inline number walk_below(const tree *t, draws *d, number cell)
{
    const unsigned char *inside = t->inside;
    number width = t->width, *ways = t->ways;
    do {
        number jump = next_jump(d);
        if (!jump)
            return ways[cell] = t->nodes[cell];
        cell = ways[cell] = landing(cell, jump, 2 * width);
    } while (!inside[cell]);
    return cell;
}

/* Walk from set to set, to the tree or down to a cell; note the last exit of each set. */
static inline number walk_sets(const tree *t, draws *d, number node)
{
    const unsigned char *inside = t->inside;
    number width = t->width, *ways = t->ways;
    do {
        const number *first = &t->exits[node - width];
        number exit = first[0] + scaled(next_word(d), first[1] - first[0]);
        ways[node] = exit;
        node = t->to[exit];
    } while (node >= width && !inside[node]);
    return node;
}

/* Walk from a node to the tree. */
static inline void wander(const tree *t, draws *d, number node)
{
    while (!t->inside[node])
        node = node < t->width ? walk_below(t, d, node) : walk_sets(t, d, node);
}

/* Take the way that the walk took, without its loops, into the tree. */
static void follow(tree *t, number node)
{
    while (!t->inside[node]) {
        t->inside[node] = 1;
        number way = t->ways[node];
        if (node < t->width) {
            if (way >= t->width)
                open_bit(t->south, node);
            node = way;
        } else {
            number passage = t->passages[way];
            open_bit(passage & 1 ? t->south : t->east, passage >> 1);
            node = t->to[way];
        }
    }
}

static inline void add_walk(tree *t, draws *d, number node)
{
    if (t->inside[node])
        return;
    wander(t, d, node);
    follow(t, node);
}

static void grow_tree(tree *t, draws d, int deep)
{
    number width = t->width;
    count_exits(t, deep);
    number root = place_exits(t);
    fill_exits(t, deep);
    memset(t->inside, 0, width + t->sets);
    t->inside[root] = 1;
    t->ways[root] = NO_WAY;
    for (number node = width; node < width + t->sets; node++)
        add_walk(t, &d, node);
    for (number node = 0; deep && node < width; node++)
        add_walk(t, &d, node);
}

/* ---- sets -------------------------------------------------------------------------------------------- */

static inline number root_of(number *joined, number a)
{
    while (joined[a] != a)
        a = joined[a] = joined[joined[a]];
    return a;
}

/* The set that the tree leads to from a set without leaving the row; itself if the set is the root or the way out is south. */
static inline number next_set(const tree *t, number a)
{
    number way = t->ways[t->width + a];
    return way == NO_WAY || t->passages[way] & 1 ? a : t->to[way] - t->width;
}

/* From a row's sets to those of the row below, numbered from the left. */
static void descend(tree *t)
{
    number width = t->width, *joined = t->numbers, *names = t->numbers + width, count = 0;
    for (number a = 0; a < t->sets; a++)
        joined[a] = next_set(t, a), names[a] = 0;
    for (number a = 0; a < t->sets; a++)
        joined[a] = root_of(joined, a);
    for (number c = 0; c < width; c++) {
        number alone = 0, *name = bit(t->south, c) ? &names[joined[t->nodes[c] - width]] : &alone, is_new = !*name;
        *name = is_new ? width + count : *name;
        count += is_new;
        t->nodes[c] = *name;
    }
    t->sets = count;
}

/* Read the sets of has_next and has_prev; 0 if they are no row's. The sets that go on are a stack, as sets never cross. */
static int read_sets(tree *t, const unsigned char *has_next, const unsigned char *has_prev)
{
    number *open = t->numbers, depth = 0;
    t->sets = 0;
    for (number c = 0; c < t->width; c++) {
        if (!bit(has_prev, c))
            t->nodes[c] = t->width + t->sets++;
        else if (depth)
            t->nodes[c] = open[--depth];
        else
            return 0;
        if (bit(has_next, c))
            open[depth++] = t->nodes[c];
    }
    return !depth;
}

static void write_sets(const tree *t, unsigned char *has_next, unsigned char *has_prev, size_t row_bytes)
{
    number *lasts = t->numbers;
    memset(has_next, 0, row_bytes), memset(has_prev, 0, row_bytes);
    for (number a = 0; a < t->sets; a++)
        lasts[a] = UINT32_MAX;
    for (number c = 0; c < t->width; c++) {
        number *last = &lasts[t->nodes[c] - t->width];
        if (*last != UINT32_MAX)
            open_bit(has_next, *last), open_bit(has_prev, c);
        *last = c;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------- */

typedef struct {
    unsigned char *planes, *east, *south;
    size_t rows, row_bytes;
    word key, row, last_row;
    const word *endless;
    word *entries; /* the table of a row near the last one */
} order;

static const word NO_JUMPS[2];

static void carve_row(tree *t, strip *s, const order *o, word row)
{
    word below = o->last_row == ENDLESS ? ENDLESS : o->last_row - row;
    draws d = {.offset = mix(o->key ^ mix(row + 1)), .mask = below ? ((word)1 << s->bits) - 1 : 1};
    d.entries = !below ? NO_JUMPS : is_endless(s, below) ? o->endless : o->entries;
    if (d.entries == o->entries)
        make_table(s, below, o->entries);
    draw_ahead(&d);
    memset(t->east, 0, o->row_bytes), memset(t->south, 0, o->row_bytes);
    grow_tree(t, d, below != 0);
    descend(t);
}

/* Carve the rows; 0 if the planes are no row's. */
static int carve_rows(tree *t, strip *s, const order *o)
{
    unsigned char *has_next = o->planes, *has_prev = has_next + o->row_bytes, *above = has_prev + o->row_bytes;
    if (!read_sets(t, has_next, has_prev))
        return 0;
    for (size_t i = 0; i < o->rows; i++) {
        t->east = o->east + i * o->row_bytes, t->south = o->south + i * o->row_bytes;
        carve_row(t, s, o, o->row + i);
    }
    if (o->rows)
        memcpy(above, t->south, o->row_bytes);
    write_sets(t, has_next, has_prev, o->row_bytes);
    return 1;
}

/* Give a tree, a strip and a table their scratch, out of one piece; NULL where memory ran out. */
static void *scratch_of(tree *t, strip *s, order *o)
{
    size_t width = t->width, buckets = (size_t)1 << s->bits;
    size_t indices = width + (width + 1) + 2 * (3 * width + 1) + 2 * width + 2 * width + buckets;
    char *piece = malloc(8 * buckets + 8 * (width + 1) + 4 * indices + 2 * width);
    if (!piece)
        return NULL;
    o->entries = (word *)piece;
    s->corrected = (double *)(o->entries + buckets);
    t->nodes = (number *)(s->corrected + width + 1);
    t->exits = t->nodes + width;
    t->to = t->exits + width + 1;
    t->passages = t->to + 3 * width + 1;
    t->ways = t->passages + 3 * width + 1;
    t->numbers = t->ways + 2 * width;
    s->stack = t->numbers + 2 * width;
    t->inside = (unsigned char *)(s->stack + buckets);
    return piece;
}

/* ---- the module -------------------------------------------------------------------------------------- */

typedef struct {
    Py_buffer cosine, tops, sums, table;
} floats;

static int sizes_fit(const floats *f, Py_ssize_t width)
{
    if (width < 1 || width > MAX_WIDTH)
        return 0;
    Py_ssize_t half = (width + 1) * 8;
    return f->cosine.len == 16 * width && f->tops.len == half && f->sums.len == half &&
           f->table.len == (Py_ssize_t)8 << bits_of((number)width);
}

static strip strip_of(const floats *f, Py_ssize_t width)
{
    strip s = {(number)width, bits_of((number)width), f->cosine.buf, f->tops.buf, f->sums.buf, NULL, NULL};
    return s;
}

static void release(floats *f)
{
    PyBuffer_Release(&f->cosine), PyBuffer_Release(&f->tops), PyBuffer_Release(&f->sums), PyBuffer_Release(&f->table);
}

static PyObject *wrong_sizes(void)
{
    PyErr_SetString(PyExc_ValueError, "the buffers are not of the sizes that the width says");
    return NULL;
}

static PyObject *carve_checked(const floats *f, order *o, Py_ssize_t width)
{
    tree t = {.width = (number)width};
    strip s = strip_of(f, width);
    void *scratch = scratch_of(&t, &s, o);
    int done;
    if (!scratch)
        return PyErr_NoMemory();
    o->endless = f->table.buf;
    Py_BEGIN_ALLOW_THREADS
    done = carve_rows(&t, &s, o);
    Py_END_ALLOW_THREADS
    free(scratch);
    if (done)
        Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "the planes are not the sets of a row");
    return NULL;
}

static PyObject *carve(PyObject *module, PyObject *args)
{
    Py_buffer planes, east, south;
    floats f;
    Py_ssize_t width;
    unsigned long long key, row, last_row;
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*w*nKKKy*y*y*y*:carve", &planes, &east, &south, &width, &key, &row, &last_row,
                          &f.cosine, &f.tops, &f.sums, &f.table))
        return NULL;
    PyObject *result;
    Py_ssize_t row_bytes = width > 0 ? (width + 7) / 8 : 1;
    if (!sizes_fit(&f, width) || planes.len != 3 * row_bytes || east.len != south.len || east.len % row_bytes)
        result = wrong_sizes();
    else {
        order o = {planes.buf, east.buf, south.buf, (size_t)(east.len / row_bytes), (size_t)row_bytes, key, row, last_row,
                   NULL, NULL};
        result = carve_checked(&f, &o, width);
    }
    PyBuffer_Release(&planes), PyBuffer_Release(&east), PyBuffer_Release(&south);
    release(&f);
    return result;
}

static PyObject *table(PyObject *module, PyObject *args)
{
    floats f;
    Py_ssize_t width;
    unsigned long long below;
    (void)module;
    if (!PyArg_ParseTuple(args, "w*nKy*y*y*:table", &f.table, &width, &below, &f.cosine, &f.tops, &f.sums))
        return NULL;
    PyObject *result;
    if (!sizes_fit(&f, width) || !below)
        result = wrong_sizes();
    else {
        tree t = {.width = (number)width};
        strip s = strip_of(&f, width);
        order o = {0};
        void *scratch = scratch_of(&t, &s, &o);
        if (scratch)
            make_table(&s, below, f.table.buf);
        free(scratch);
        result = scratch ? Py_NewRef(Py_None) : PyErr_NoMemory();
    }
    release(&f);
    return result;
}

static PyMethodDef methods[] = {
    {"carve", carve, METH_VARARGS, "carve(planes, east, south, width, key, row, last_row, cosine, tops, sums, endless)"},
    {"table", table, METH_VARARGS, "table(entries, width, below, cosine, tops, sums)"},
    {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_uniform", "The rows of uniform in C.", 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__uniform(void) { return PyModuleDef_Init(&definition); }
