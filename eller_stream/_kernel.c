/* The row kernel: Eller's rows, many columns at a time, the same as _step.py bit for bit.
 *
 * _row.h is the step itself, written over big words of LANES * 64 columns. This file holds what surrounds it:
 * the row's memory, the textbook row for what nests too deep, the big words of each kind of machine, and
 * the module. Which LANES run is asked of the machine: 8 with AVX-512 (and GFNI, VBMI, VPCLMULQDQ), 4 with
 * AVX2, else 1. All give the same rows.
 */
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t word;

#ifndef PLANES
#define PLANES 3 /* bit planes of the depth counter; a row that nests deeper goes the textbook's way */
#endif
#define DEPTHS (1 << PLANES)

enum { GUARD = 8, MAX_LANES = 8, ALWAYS = 65536, EVEN = 32768, THIRD = 21845, NUM_ARRAYS = 15 };
enum { EAST = 0, SOUTH = 16, LOOPS_EAST = 32, LOOPS_SOUTH = 48, BRAID = 64, BRAID_THIRD = 80, BRAID_EVEN = 96 };

static const word GOLDEN = 0x9e3779b97f4a7c15, MIX_1 = 0xbf58476d1ce4e5b9, MIX_2 = 0x94d049bb133111eb;

#if (defined(__GNUC__) || defined(__clang__)) && (defined(__x86_64__) || defined(__i386__))
#define HAVE_X86_VECTORS 1
#include <immintrin.h>
#else
#define HAVE_X86_VECTORS 0
#endif

#if defined(__clang__)
#define INLINE_HINT inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define INLINE_HINT inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
#else
#define INLINE_HINT inline
#define UNROLL
#endif

/* A coin that falls with n of 65,536: one word for each bit of n from the lowest set one to bit 15. */
typedef struct {
    uint32_t n;
    int lowest;
    word key[16];
} coin;

typedef struct {
    coin east, south, loops_east, loops_south, braid, third, even;
} coins;

/* One row's memory: arrays of `padded` words (a multiple of MAX_LANES), GUARD words of 0 around each. */
typedef struct {
    int words, padded;
    size_t row_bytes;
    word *has_next, *has_prev;     /* the state of the row to come */
    word *next_after, *prev_after; /* the state behind it, as it is being made */
    word *above;                   /* passages south of the row above, as carved and braided */
    word *joins, *keeps;           /* the coins: open the boundary east, keep the passage south */
    word *east, *south;            /* the passages */
    word *n, *q, *first;           /* the boundaries between the two phases */
    word *cells, *boundaries;      /* the columns that there are */
    word *not_first;               /* all columns but the first */
    word lane_offsets[MAX_LANES];
    int width;
    uint32_t *lists; /* of linked_list_row, made when first needed */
    int no_memory;
} row_state;

typedef struct {
    coins coins;
    word row, last_row, key_interval;
    size_t rows;
    unsigned char *east, *south;
} job;

/* ---- bytes and words: planes are little-endian whatever the machine is ------------------------ */

static void load_plane(word *x, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i / 8] |= (word)bytes[i] << i % 8 * 8;
}

static inline void store_plane(unsigned char *bytes, const word *x, size_t count)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(bytes, x, count);
#else
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(x[i / 8] >> i % 8 * 8);
#endif
}

static inline int bit(const word *x, int c) { return (int)(x[c / 64] >> c % 64 & 1); }

/* ---- the textbook row, for what nests deeper than the planes count ----------------------------- */

/* Every set is a circular list of its columns: after[c] and before[c], in column order. */
typedef struct {
    uint32_t *after, *before, *waiting, *first;
} lists;

static inline void chain(lists *l, uint32_t c, uint32_t after) { l->after[c] = after, l->before[after] = c; }

/* Read the brackets: a cell with has_prev continues the set that was left waiting last. (Brackets that do not
 * balance make some row or other, but never a column that is not there.) */
static void lists_from_state(lists *l, const row_state *r)
{
    uint32_t depth = 0;
    for (uint32_t c = 0; c < (uint32_t)r->width; c++) {
        l->first[c] = c;
        chain(l, c, c);
        if (depth && bit(r->has_prev, (int)c)) {
            uint32_t latest = l->waiting[--depth];
            l->first[c] = l->first[latest];
            chain(l, latest, c);
        }
        if (bit(r->has_next, (int)c))
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

static void join_scan(lists *l, row_state *r, int back, int all)
{
    for (int i = 0; i < r->width - 1; i++) {
        int c = back ? r->width - 2 - i : i;
        if (all || bit(r->joins, c))
            r->east[c / 64] |= join(l, (uint32_t)c) << c % 64;
    }
}

static void keep_scan(lists *l, row_state *r, int back)
{
    for (int i = 0; i < r->width; i++) {
        int c = back ? r->width - 1 - i : i;
        r->south[c / 64] |= keep(l, (uint32_t)c, !bit(r->keeps, c)) << c % 64;
    }
}

static void state_from_lists(const lists *l, row_state *r)
{
    for (uint32_t c = 0; c < (uint32_t)r->width; c++) {
        r->next_after[c / 64] |= (word)(l->after[c] > c) << c % 64;
        r->prev_after[c / 64] |= (word)(l->before[c] < c) << c % 64;
    }
}

static void clear_row(row_state *r, word *x) { memset(x, 0, sizeof(word) * (size_t)r->padded); }

static void linked_list_row(row_state *r, int back, int merging)
{
    size_t width = (size_t)r->width;
    if (!r->lists)
        r->lists = malloc(4 * width * sizeof(uint32_t));
    if (!r->lists) {
        r->no_memory = 1;
        return;
    }
    lists l = {r->lists, r->lists + width, r->lists + 2 * width, r->lists + 3 * width};
    clear_row(r, r->east), clear_row(r, r->south), clear_row(r, r->next_after), clear_row(r, r->prev_after);
    lists_from_state(&l, r);
    join_scan(&l, r, back, 0);
    if (merging)
        join_scan(&l, r, back, 1);
    keep_scan(&l, r, back);
    state_from_lists(&l, r);
}

/* ---- a row's memory ------------------------------------------------------------------------------ */

static inline void swap(word **a, word **b)
{
    word *x = *a;
    *a = *b, *b = x;
}

/* The state made by a row becomes that of the row to come; the last row opens nothing south. */
static inline void end_row(row_state *r, int last)
{
    swap(&r->has_next, &r->next_after);
    swap(&r->has_prev, &r->prev_after);
    if (last)
        clear_row(r, r->south), clear_row(r, r->has_next), clear_row(r, r->has_prev);
}

static void set_columns(word *x, int columns)
{
    int full = columns / 64;
    memset(x, 0xff, sizeof(word) * (size_t)full);
    if (columns % 64)
        x[full] = ((word)1 << columns % 64) - 1;
}

static word *new_row(row_state *r, int width)
{
    memset(r, 0, sizeof *r);
    r->width = width, r->words = (int)(((size_t)width + 63) / 64), r->row_bytes = ((size_t)width + 7) / 8;
    r->padded = (r->words + MAX_LANES - 1) / MAX_LANES * MAX_LANES;
    word **arrays[NUM_ARRAYS] = {&r->has_next, &r->has_prev, &r->next_after, &r->prev_after, &r->above,
                                 &r->joins, &r->keeps, &r->east, &r->south, &r->n,
                                 &r->q, &r->first, &r->cells, &r->boundaries, &r->not_first};
    size_t length = (size_t)r->padded + 2 * GUARD;
    word *memory = calloc(NUM_ARRAYS * length, sizeof(word));
    for (size_t i = 0; memory && i < NUM_ARRAYS; i++)
        *arrays[i] = memory + i * length + GUARD;
    return memory;
}

static void fill_constants(row_state *r)
{
    set_columns(r->cells, r->width);
    set_columns(r->boundaries, r->width - 1);
    set_columns(r->not_first, r->width);
    r->not_first[0] &= ~(word)1;
    for (int i = 0; i < MAX_LANES; i++)
        r->lane_offsets[i] = ((word)i + 1) * GOLDEN;
}

/* ---- one lane: any machine ------------------------------------------------------------------------ */

#define LANES 1
#define TARGET
typedef word big_1;
#define big big_1
#define big_load(x) (*(x))
#define big_store(x, y) (*(x) = (y))
#define big_fill(x) ((word)(x))
#define big_any(x) ((x) != 0)
#define big_reversed reversed_word
#define big_prefix_xor prefix_xor_word
#define big_add add_word

static INLINE_HINT word reversed_word(word x)
{
    x = ((x >> 1) & 0x5555555555555555) | ((x & 0x5555555555555555) << 1);
    x = ((x >> 2) & 0x3333333333333333) | ((x & 0x3333333333333333) << 2);
    x = ((x >> 4) & 0x0f0f0f0f0f0f0f0f) | ((x & 0x0f0f0f0f0f0f0f0f) << 4);
    x = ((x >> 8) & 0x00ff00ff00ff00ff) | ((x & 0x00ff00ff00ff00ff) << 8);
    x = ((x >> 16) & 0x0000ffff0000ffff) | ((x & 0x0000ffff0000ffff) << 16);
    return x >> 32 | x << 32;
}

static INLINE_HINT word prefix_xor_word(word x, unsigned *carry)
{
    for (int shift = 1; shift < 64; shift *= 2)
        x ^= x << shift;
    x ^= (word)0 - *carry;
    *carry = (unsigned)(x >> 63);
    return x;
}

static INLINE_HINT word add_word(word a, word b, unsigned *carry)
{
    word sum = a + b, with_carry = sum + *carry;
    *carry = (sum < a) | (with_carry < sum);
    return with_carry;
}

#include "_row.h"

#undef LANES
#undef TARGET
#undef big
#undef big_load
#undef big_store
#undef big_fill
#undef big_any
#undef big_reversed
#undef big_prefix_xor
#undef big_add

/* ---- 4 and 8 lanes: AVX2 and AVX-512 ------------------------------------------------------------- */

#if HAVE_X86_VECTORS

/* The parities or carries of the lanes go through a small integer, one bit a lane: what reaches lane i is
 * bit i of the result, what leaves the last lane is the new carry. */
static INLINE_HINT unsigned spread_parity(unsigned parities, unsigned lanes, unsigned *carry)
{
    parities ^= parities << 1, parities ^= parities << 2, parities ^= parities << 4;
    unsigned before = parities << 1 ^ (0u - *carry);
    *carry = before >> lanes & 1;
    return before;
}

static INLINE_HINT unsigned spread_carries(unsigned carries, unsigned all_ones, unsigned lanes, unsigned *carry)
{
    unsigned sum = (carries << 1 | *carry) + all_ones; /* a lane of all ones hands a carry on: so does an addition */
    *carry = sum >> lanes;
    return sum ^ all_ones;
}

#define big_load(x) BIG_LOAD((const void *)(x))
#define big_store(x, y) BIG_STORE((void *)(x), y)

#define LANES 4
#define TARGET __attribute__((target("avx2")))
typedef word big_4 __attribute__((vector_size(32)));
#define big big_4
#define BIG_LOAD(x) ((big_4)_mm256_loadu_si256(x))
#define BIG_STORE(x, y) _mm256_storeu_si256(x, (__m256i)(y))
#define big_fill(x) ((big_4)_mm256_set1_epi64x((long long)(x)))
#define big_any(x) (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#define big_reversed reversed_4
#define big_prefix_xor prefix_xor_4
#define big_add add_4

static const word LANE_MASKS[16][4] = {
#define M(bits) {0 - (word)((bits) & 1), 0 - (word)((bits) >> 1 & 1), 0 - (word)((bits) >> 2 & 1), 0 - (word)((bits) >> 3 & 1)}
    M(0), M(1), M(2), M(3), M(4), M(5), M(6), M(7), M(8), M(9), M(10), M(11), M(12), M(13), M(14), M(15)
#undef M
};

static INLINE_HINT TARGET big_4 reversed_4(big_4 x)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i nibbles = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
    const __m256i bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m256i y = _mm256_shuffle_epi8((__m256i)x, bytes);
    __m256i high = _mm256_shuffle_epi8(nibbles, _mm256_and_si256(y, low));
    y = _mm256_shuffle_epi8(nibbles, _mm256_and_si256(_mm256_srli_epi64(y, 4), low));
    y = _mm256_or_si256(y, _mm256_slli_epi64(high, 4));
    return (big_4)_mm256_permute2x128_si256(y, y, 1);
}

static INLINE_HINT TARGET unsigned top_bits_4(big_4 x) { return (unsigned)_mm256_movemask_pd((__m256d)x); }

static INLINE_HINT TARGET big_4 lane_mask_4(unsigned bits) { return BIG_LOAD((const void *)LANE_MASKS[bits & 15]); }

static INLINE_HINT TARGET big_4 prefix_xor_4(big_4 x, unsigned *carry)
{
    x ^= x << 1, x ^= x << 2, x ^= x << 4, x ^= x << 8, x ^= x << 16, x ^= x << 32;
    return x ^ lane_mask_4(spread_parity(top_bits_4(x), 4, carry));
}

static INLINE_HINT TARGET big_4 add_4(big_4 a, big_4 b, unsigned *carry)
{
    big_4 sum = a + b, carries = (big_4)(sum < a), ones = (big_4)(sum == big_fill(-1));
    return sum - lane_mask_4(spread_carries(top_bits_4(carries), top_bits_4(ones), 4, carry));
}

#include "_row.h"

#undef LANES
#undef TARGET
#undef big
#undef BIG_LOAD
#undef BIG_STORE
#undef big_fill
#undef big_any
#undef big_reversed
#undef big_prefix_xor
#undef big_add

#define LANES 8
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq,pclmul")))
typedef word big_8 __attribute__((vector_size(64)));
#define big big_8
#define BIG_LOAD(x) ((big_8)_mm512_loadu_si512(x))
#define BIG_STORE(x, y) _mm512_storeu_si512(x, (__m512i)(y))
#define big_fill(x) ((big_8)_mm512_set1_epi64((long long)(x)))
#define big_any(x) (_mm512_test_epi64_mask((__m512i)(x), (__m512i)(x)) != 0)
#define big_reversed reversed_8
#define big_prefix_xor prefix_xor_8
#define big_add add_8

static INLINE_HINT TARGET big_8 reversed_8(big_8 x)
{
    const __m512i mirror = _mm512_set1_epi64((long long)0x8040201008040201);
    const __m512i from_last = _mm512_set_epi64(0x0001020304050607, 0x08090a0b0c0d0e0f, 0x1011121314151617, 0x18191a1b1c1d1e1f,
                                               0x2021222324252627, 0x28292a2b2c2d2e2f, 0x3031323334353637, 0x38393a3b3c3d3e3f);
    return (big_8)_mm512_permutexvar_epi8(from_last, _mm512_gf2p8affine_epi64_epi8((__m512i)x, mirror, 0));
}

static INLINE_HINT TARGET big_8 prefix_xor_8(big_8 x, unsigned *carry) /* a carry-less product with all ones */
{
    const __m512i ones = _mm512_set1_epi64(-1);
    __m512i y = _mm512_unpacklo_epi64(_mm512_clmulepi64_epi128((__m512i)x, ones, 0x00),
                                      _mm512_clmulepi64_epi128((__m512i)x, ones, 0x01));
    unsigned before = spread_parity(_mm512_movepi64_mask(y), 8, carry);
    return (big_8)_mm512_mask_xor_epi64(y, (__mmask8)before, y, ones);
}

static INLINE_HINT TARGET big_8 add_8(big_8 a, big_8 b, unsigned *carry)
{
    const __m512i ones = _mm512_set1_epi64(-1);
    __m512i sum = (__m512i)(a + b);
    unsigned carries = _mm512_cmplt_epu64_mask(sum, (__m512i)a), all_ones = _mm512_cmpeq_epi64_mask(sum, ones);
    unsigned reached = spread_carries(carries, all_ones, 8, carry);
    return (big_8)_mm512_mask_sub_epi64(sum, (__mmask8)reached, sum, ones);
}

#include "_row.h"

static int machine_lanes(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni") &&
        __builtin_cpu_supports("vpclmulqdq"))
        return 8;
    return __builtin_cpu_supports("avx2") ? 4 : 1;
}

#else

static int machine_lanes(void) { return 1; }

#endif

/* ---- the module ----------------------------------------------------------------------------------- */

static word mixed(word z)
{
    z = (z ^ z >> 30) * MIX_1;
    z = (z ^ z >> 27) * MIX_2;
    return z ^ z >> 31;
}

static void set_coin(coin *c, word seed, unsigned base, uint32_t n)
{
    c->n = n;
    c->lowest = 16; /* n = 0: no word is drawn */
    for (int b = 15; b >= 0; b--) {
        if (n >> b & 1)
            c->lowest = b;
        c->key[b] = mixed(seed ^ mixed(base + (word)b + 1));
    }
}

/* Fewer lanes than the machine has where the row is too narrow to fill them. */
static int best_lanes(int machine, int words)
{
    if (machine == 8 && words > 2)
        return 8;
    return machine >= 4 && words > 1 ? 4 : 1;
}

static void run(row_state *r, const job *j, int lanes)
{
#if HAVE_X86_VECTORS
    if (lanes == 8) {
        carve_rows_8(r, j);
        return;
    }
    if (lanes == 4) {
        carve_rows_4(r, j);
        return;
    }
#endif
    (void)lanes;
    carve_rows_1(r, j);
}

/* Carve with the state's planes as they stand in `state`; 0 where memory ran out, with the state as it was. */
static int carve_job(unsigned char *state, int width, const job *j, int lanes)
{
    row_state r;
    word *memory = new_row(&r, width);
    if (!memory)
        return 0;
    fill_constants(&r);
    load_plane(r.has_next, state, r.row_bytes);
    load_plane(r.has_prev, state + r.row_bytes, r.row_bytes);
    load_plane(r.above, state + 2 * r.row_bytes, r.row_bytes);
    run(&r, j, lanes ? lanes : best_lanes(machine_lanes(), r.words));
    if (!r.no_memory) {
        store_plane(state, r.has_next, r.row_bytes);
        store_plane(state + r.row_bytes, r.has_prev, r.row_bytes);
        store_plane(state + 2 * r.row_bytes, r.above, r.row_bytes);
    }
    free(r.lists);
    free(memory);
    return !r.no_memory;
}

static int sizes_fit(const Py_buffer *state, const Py_buffer *east, const Py_buffer *south, Py_ssize_t row_bytes)
{
    return state->len == 3 * row_bytes && east->len == south->len && east->len % row_bytes == 0;
}

static PyObject *carve_buffers(Py_buffer *state, Py_buffer *east, Py_buffer *south, int width, job *j, int lanes)
{
    Py_ssize_t row_bytes = ((Py_ssize_t)width + 7) / 8;
    int done;
    if (width < 1 || !sizes_fit(state, east, south, row_bytes))
        return PyErr_Format(PyExc_ValueError, "the buffers are not of the sizes that the width says");
    if (lanes != 0 && lanes != 1 && lanes != 4 && lanes != 8)
        return PyErr_Format(PyExc_ValueError, "lanes is 0 (the best), 1, 4 or 8, not %d", lanes);
    if (lanes > machine_lanes())
        return PyErr_Format(PyExc_ValueError, "this machine has no %d lanes", lanes);
    j->rows = (size_t)(east->len / row_bytes), j->east = east->buf, j->south = south->buf;
    Py_BEGIN_ALLOW_THREADS
    done = carve_job(state->buf, width, j, lanes);
    Py_END_ALLOW_THREADS
    if (!done)
        return PyErr_NoMemory();
    return Py_NewRef(Py_None);
}

static void set_coins(coins *c, word seed, const unsigned n[4])
{
    set_coin(&c->east, seed, EAST, n[0]), set_coin(&c->south, seed, SOUTH, n[1]);
    set_coin(&c->loops_east, seed, LOOPS_EAST, n[2]), set_coin(&c->loops_south, seed, LOOPS_SOUTH, n[2]);
    set_coin(&c->braid, seed, BRAID, n[3]);
    set_coin(&c->third, seed, BRAID_THIRD, THIRD), set_coin(&c->even, seed, BRAID_EVEN, EVEN);
}

static PyObject *carve(PyObject *module, PyObject *args)
{
    Py_buffer state, east, south;
    int width, lanes = 0;
    unsigned n[4];
    unsigned long long row, seed, key_interval, last_row;
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*w*iKKIIIIKK|i:carve", &state, &east, &south, &width, &row, &seed, &n[0], &n[1], &n[2],
                          &n[3], &key_interval, &last_row, &lanes))
        return NULL;
    job j = {.row = row, .last_row = last_row, .key_interval = key_interval};
    set_coins(&j.coins, seed, n);
    PyObject *result = carve_buffers(&state, &east, &south, width, &j, lanes);
    PyBuffer_Release(&state), PyBuffer_Release(&east), PyBuffer_Release(&south);
    return result;
}

static PyMethodDef methods[] = {
    {"carve", carve, METH_VARARGS,
     "carve(state, east, south, width, row, seed, p_east, p_south, loops, braid, key_interval, last_row, lanes=0)\n\n"
     "Carve rows into the planes; see kernel.Carver. lanes: 1, 4 or 8 words at a time; 0: the best of this machine."},
    {NULL, NULL, 0, NULL}};

static int set_up(PyObject *module) { return PyModule_AddIntConstant(module, "LANES", machine_lanes()); }

static PyModuleDef_Slot slots[] = {{Py_mod_exec, set_up}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The row kernel in C.", 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
