/* The table of jumps: the same as that of table.py, bit for bit.

   Floats have to be rounded after each operation, one after the other in the order that docs/STREAM.md tells; what includes
   this is compiled without contraction (setup.py). Waves are added four at a time: each sum still takes them in order. */

#include <float.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1 /* 1 widens floats alone, and there are none here */
#error "doubles are not rounded after each operation here: use the rows in Python"
#endif

typedef uint64_t word;
typedef uint32_t number;

enum { MAX_WIDTH = 1 << 14 };
#define ENDLESS UINT64_MAX
#define NEGLIGIBLE 0x1p-64

typedef struct {
    double weight;
    number k;
} wave;

typedef struct {
    number width;
    int bits; /* of a bucket's number */
    const double *cosine, *tops, *sums;
    double *corrected;  /* scratch: width + 1 */
    wave *waves;        /* scratch: width + 3 */
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

static inline number turned(number place, number k, number ring)
{
    place += k;
    return place < ring ? place : place - ring;
}

/* Add four waves in order; each has a place of its own on the ring, so that none waits for another. */
static void add_waves(const strip *s, const wave *four)
{
    const double *cosine = s->cosine;
    number ring = 2 * s->width, p = 0, q = 0, r = 0, t = 0;
    wave a = four[0], b = four[1], c = four[2], d = four[3];
    for (number j = 0; j <= s->width; j++) {
        double sum = s->corrected[j] + a.weight * cosine[p];
        sum += b.weight * cosine[q];
        sum += c.weight * cosine[r];
        s->corrected[j] = sum + d.weight * cosine[t];
        p = turned(p, a.k, ring), q = turned(q, b.k, ring), r = turned(r, c.k, ring), t = turned(t, d.k, ring);
    }
}

/* Find the waves that feel the end, and return their count; three that are nothing follow. */
static number find_waves(const strip *s, word below)
{
    number count = 0;
    for (number k = 1; k <= s->width; k++) {
        double top = s->tops[k], fades = fading(s, k, below);
        if (fades < NEGLIGIBLE)
            break;
        double correction = top * fades * (2.0 + top) / (1.0 + fades * (1.0 + top));
        s->waves[count++] = (wave){-((k < s->width ? 2.0 : 1.0) * correction), k};
    }
    for (number i = 0; i < 3; i++)
        s->waves[count + i] = (wave){0.0, 0};
    return count;
}

static void correct(const strip *s, word below)
{
    memcpy(s->corrected, s->sums, (s->width + 1) * sizeof *s->sums);
    number count = is_endless(s, below) ? 0 : find_waves(s, below);
    for (number i = 0; i < count; i += 4)
        add_waves(s, s->waves + i);
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
