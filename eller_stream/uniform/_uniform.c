/* The rows of uniform in C: the same tables and rows as those of table.py and rows.py, bit for bit.

   A walk is a chain of steps that wait for each other, so a step is made short, and has no branch but whether the walk has
   come to the tree; where it is, at a set or at a cell, nobody can foretell. To this end all ways out of all nodes are
   slots of one array, and a slot holds what the next step needs to know of the node that it leads to: its home, which is
   where its own slots begin, and the count of its exits. With w the width:

       0 to 3w     the ring one and a half times: the jump by j leads cell c, whose home is c, out by slot c + j
       3w to 4w    up, from each cell
       4w to 7w    the exits of the sets, one set after the other
       7w          for what has to be written somewhere though it is none

   A cell counts as without exits, and going up as a jump by 3w. So a node is left by slot home + jump, if its count is 0, or
   home + floor(word * count / 2**64), and these are one sum. Nodes are known by their homes.

   A word says which jump it means whatever cell the walk is at, since the ring looks the same from everywhere. So the next
   word is drawn and its jump looked up one step ahead, and neither waits for the walk. _table.h makes the table. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_table.h"

#define GOLDEN 0x9E3779B97F4A7C15u

/* ---- draws ------------------------------------------------------------------------------------------- */

static inline word mix(word z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

typedef struct {
    word offset, mask; /* of the last word that was drawn; of a bucket's number */
    const word *entries;
    number up;   /* the jump that stands for going up */
    number jump; /* what the next word means at a cell of the row below */
    word drawn;  /* the next word */
} draws;

static inline void draw_ahead(draws *d)
{
    word drawn = d->drawn = mix(d->offset += GOLDEN), entry = d->entries[drawn & d->mask];
    number jump = (number)(((drawn | d->mask) < entry ? drawn : entry) & d->mask), is_up = (jump - 1) >> 31;
    d->jump = jump + (d->up & (0 - is_up));
}

/* floor(drawn * n / 2**64) */
static inline number scaled(word drawn, word n)
{
#ifdef __SIZEOF_INT128__
    return (number)((unsigned __int128)drawn * n >> 64);
#else
    return (number)(((drawn >> 32) * n + ((drawn & UINT32_MAX) * n >> 32)) >> 32);
#endif
}

/* ---- a row's tree ------------------------------------------------------------------------------------ */

typedef struct {
    number home, count;
} node;

typedef struct {
    number width, sets;
    number *labels;         /* number of the set of each cell */
    node *nodes;            /* of the sets */
    number *homes, *counts; /* of the node that a slot leads to, */
    number *passages;       /* and through what: c east of cell c, width + c south of it, 2 * width: nothing */
    number *ways;           /* at the home of each node: slot by which a walk left it last, */
    number *heads, *joined; /* where the way in the row began that it is on, and at a head which set that way joined, */
    unsigned char *inside;  /* and whether it is in the tree */
    unsigned char *opened;  /* the passages */
    number *numbers;        /* scratch: one for each slot */
    unsigned char *east, *south; /* the row */
} tree;

static inline void open_bit(unsigned char *plane, number c) { plane[c >> 3] |= (unsigned char)(1 << (c & 7)); }

static inline int bit(const unsigned char *plane, number c) { return plane[c >> 3] >> (c & 7) & 1; }

static inline number all_slots(const tree *t) { return 7 * t->width + 1; }
static inline number up_from(const tree *t, number c) { return 3 * t->width + c; }

static inline void lead(tree *t, number slot, node to, number passage)
{
    t->homes[slot] = to.home, t->counts[slot] = to.count, t->passages[slot] = passage;
}

/* Fold the ring over, one and a half times. */
static void fold_ring(tree *t)
{
    number width = t->width, nothing = 2 * width;
    for (number c = 0; c < width; c++) {
        node cell = {c, 0};
        lead(t, c, cell, nothing), lead(t, 2 * width - 1 - c, cell, nothing), lead(t, 2 * width + c, cell, nothing);
    }
}

/* The neighbours' sets of cell c in its row; its own where there is none. */
static inline number west_of(const tree *t, number c) { return t->labels[c ? c - 1 : c]; }
static inline number east_of(const tree *t, number c) { return t->labels[c + 1 < t->width ? c + 1 : c]; }

static void count_exits(tree *t, int deep)
{
    for (number a = 0; a < t->sets; a++)
        t->nodes[a].count = 0;
    for (number c = 0; c < t->width; c++) {
        number set = t->labels[c];
        t->nodes[set].count += (west_of(t, c) != set) + (east_of(t, c) != set) + (number)deep;
    }
}

/* Give the sets their homes, and return that of the set with the most exits. */
static number place_exits(tree *t)
{
    number root = 0, next = up_from(t, t->width);
    for (number a = 0; a < t->sets; a++) {
        t->nodes[a].home = next;
        next += t->nodes[a].count;
        root = t->nodes[a].count > t->nodes[root].count ? a : root;
    }
    return t->nodes[root].home;
}

/* Write an exit that may be none without a branch, and return the next slot. */
static inline number add_exit(tree *t, number slot, int is_one, node to, number passage)
{
    lead(t, is_one ? slot : all_slots(t) - 1, to, passage);
    return slot + (number)is_one;
}

static void fill_exits(tree *t, int deep)
{
    number *ends = t->numbers;
    for (number a = 0; a < t->sets; a++)
        ends[a] = t->nodes[a].home;
    for (number c = 0; c < t->width; c++) {
        number set = t->labels[c], west = west_of(t, c), east = east_of(t, c), slot = ends[set];
        slot = add_exit(t, slot, west != set, t->nodes[west], c - 1);
        slot = add_exit(t, slot, east != set, t->nodes[east], c);
        ends[set] = add_exit(t, slot, deep, (node){c, 0}, t->width + c);
        lead(t, up_from(t, c), t->nodes[set], t->width + c);
    }
}

/* Walk from a node to the tree, and note the last way out of each node. */
static inline void wander(const tree *t, draws *d, node start)
{
    const number *homes = t->homes, *counts = t->counts;
    number home = start.home;
    word count = start.count;
    do {
        number if_cell = (number)((count - 1) >> 32);
        number slot = t->ways[home] = home + (d->jump & if_cell) + scaled(d->drawn, count);
        home = homes[slot], count = counts[slot];
        draw_ahead(d);
    } while (!t->inside[home]);
}

/* Take the way that the walk took, without its loops, into the tree.

   Where it goes from set to set in the row, it joins them: all have the first of them for a head, and if that way ends at a
   set of the tree, its head is joined to what the head of that set is joined to. Of cells the same is noted, in vain, as
   this needs no branch. */
static inline void follow(tree *t, number home)
{
    number head = home;
    do {
        number slot = t->ways[home], passage = t->passages[slot];
        t->inside[home] = t->opened[passage] = 1;
        t->heads[home] = head;
        home = t->homes[slot];
        head = passage < t->width ? head : home;
    } while (!t->inside[home]);
    t->joined[head] = t->joined[t->heads[home]];
}

static inline void add_walk(tree *t, draws *d, node start)
{
    if (t->inside[start.home])
        return;
    wander(t, d, start);
    follow(t, start.home);
}

static void plant(tree *t, number root)
{
    memset(t->inside, 0, all_slots(t));
    memset(t->opened, 0, 2 * t->width);
    for (number a = 0; a < t->sets; a++)
        t->joined[t->nodes[a].home] = t->nodes[a].home;
    t->inside[root] = 1;
    t->heads[root] = root;
}

static void grow_tree(tree *t, draws d, int deep)
{
    count_exits(t, deep);
    plant(t, place_exits(t));
    fill_exits(t, deep);
    for (number a = 0; a < t->sets; a++)
        add_walk(t, &d, t->nodes[a]);
    for (number c = 0; deep && c < t->width; c++)
        add_walk(t, &d, (node){c, 0});
}

static void pack(const unsigned char *opened, number width, unsigned char *plane)
{
    for (number c = 0; c < width; c++)
        plane[c >> 3] |= (unsigned char)(opened[c] << (c & 7));
}

/* ---- sets -------------------------------------------------------------------------------------------- */

/* From a row's sets to those of the row below, numbered from the left. */
static void descend(tree *t)
{
    number *names = t->numbers, count = 0;
    names[0] = 0;
    for (number a = 0; a < t->sets; a++)
        names[t->nodes[a].home] = 0;
    for (number c = 0; c < t->width; c++) {
        number set = t->joined[t->heads[t->nodes[t->labels[c]].home]], if_open = 0 - (number)t->opened[t->width + c];
        number *place = &names[set & if_open], is_new = !*place;
        count += is_new;
        number name = *place | (count & (0 - is_new));
        *place = name & if_open;
        t->labels[c] = name - 1;
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
            t->labels[c] = t->sets++;
        else if (depth)
            t->labels[c] = open[--depth];
        else
            return 0;
        if (bit(has_next, c))
            open[depth++] = t->labels[c];
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
        number *last = &lasts[t->labels[c]];
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
    draws d = {.offset = mix(o->key ^ mix(row + 1)), .mask = below ? ((word)1 << s->bits) - 1 : 1, .up = up_from(t, 0)};
    d.entries = !below ? NO_JUMPS : is_endless(s, below) ? o->endless : o->entries;
    if (d.entries == o->entries)
        make_table(s, below, o->entries);
    draw_ahead(&d);
    grow_tree(t, d, below != 0);
    memset(t->east, 0, o->row_bytes), memset(t->south, 0, o->row_bytes);
    pack(t->opened, t->width, t->east), pack(t->opened + t->width, t->width, t->south);
    descend(t);
}

/* Carve the rows; 0 if the planes are no row's. */
static int carve_rows(tree *t, strip *s, const order *o)
{
    unsigned char *has_next = o->planes, *has_prev = has_next + o->row_bytes, *above = has_prev + o->row_bytes;
    if (!read_sets(t, has_next, has_prev))
        return 0;
    fold_ring(t);
    for (size_t i = 0; i < o->rows; i++) {
        t->east = o->east + i * o->row_bytes, t->south = o->south + i * o->row_bytes;
        carve_row(t, s, o, o->row + i);
    }
    if (o->rows)
        memcpy(above, t->south, o->row_bytes);
    write_sets(t, has_next, has_prev, o->row_bytes);
    return 1;
}

/* Give a tree, a strip and a table their scratch, out of one piece of zeros; NULL where memory ran out. */
static void *scratch_of(tree *t, strip *s, order *o)
{
    size_t width = t->width, slots = all_slots(t), buckets = (size_t)1 << s->bits;
    size_t indices = 7 * slots + width + buckets;
    char *piece = calloc(1, 8 * buckets + 8 * (width + 1) + sizeof(wave) * (width + 3) + sizeof(node) * width + 4 * indices +
                                slots + 2 * width + 1);
    if (!piece)
        return NULL;
    o->entries = (word *)piece;
    s->corrected = (double *)(o->entries + buckets);
    s->waves = (wave *)(s->corrected + width + 1);
    t->nodes = (node *)(s->waves + width + 3);
    t->homes = (number *)(t->nodes + width);
    t->counts = t->homes + slots;
    t->passages = t->counts + slots;
    t->ways = t->passages + slots;
    t->heads = t->ways + slots;
    t->joined = t->heads + slots;
    t->numbers = t->joined + slots;
    t->labels = t->numbers + slots;
    s->stack = t->labels + width;
    t->inside = (unsigned char *)(s->stack + buckets);
    t->opened = t->inside + slots;
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
    strip s = {(number)width, bits_of((number)width), f->cosine.buf, f->tops.buf, f->sums.buf, NULL, NULL, NULL};
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
