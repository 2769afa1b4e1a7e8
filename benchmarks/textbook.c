/* The yardstick in C: the textbook row of Eller's algorithm, cell by cell, with its coins.
 *
 * Every set is a circular list of its columns in their order: after[c] and before[c], with which two sets are
 * united and a cell is taken out of its set in constant time. A row is one scan, left to right on even
 * rows and right to left on odd ones. At each cell it
 *
 *   - opens the boundary to the cell that the scan meets next, where the coin says so and the two cells are in
 *     different sets (sets never cross, so two neighbours are in one set exactly if one list leads to the other);
 *   - closes the passage south where that coin says so, unless the cell is the only one left in its set.
 *
 * The coins are even ones: one SplitMix64 word for 64 cells, from the lanes that eller_stream uses, so that the
 * rows are the same as its rows without key rows. textbook.py compiles this file and checks that.
 */
#include <stdint.h>
#include <string.h>

typedef uint64_t word;

enum { EAST_LANE = 15, SOUTH_LANE = 31 }; /* an even coin is the word of bit 15 above its base, 0 or 16 */

typedef struct {
    uint32_t width, words;
    uint32_t *after, *before;           /* the sets */
    word *joins, *keeps, *east, *south; /* one row's coins and passages */
} maze;

/* ---- coins ---------------------------------------------------------------------------------- */

static inline word mix(word z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void toss(word *coins, uint32_t words, word seed, word lane, word row)
{
    word key = mix(seed ^ mix(lane + 1)), first = row * words + 1;
    for (uint32_t k = 0; k < words; k++)
        coins[k] = mix(key + (first + k) * 0x9e3779b97f4a7c15);
}

/* ---- sets ----------------------------------------------------------------------------------- */

static inline void chain(maze *m, uint32_t c, uint32_t after) { m->after[c] = after, m->before[after] = c; }

/* Open the boundary between c and c + 1: 1 if they were in different sets. */
static inline word join(maze *m, uint32_t c)
{
    uint32_t after = m->after[c], before = m->before[c + 1];
    if (after == c + 1)
        return 0;
    chain(m, c, c + 1);
    chain(m, before, after);
    return 1;
}

/* Take c out of its set: 1 if there was another cell in it. */
static inline word leave(maze *m, uint32_t c)
{
    if (m->after[c] == c)
        return 0;
    chain(m, m->before[c], m->after[c]);
    chain(m, c, c);
    return 1;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The boundary that a scan from right to left meets behind cell c is that of c - 1: its coins move up by one column. */
static void move_up(word *x, uint32_t words)
{
    for (uint32_t k = words; k-- > 1;)
        x[k] = x[k] << 1 | x[k - 1] >> 63;
    x[0] <<= 1;
}

static void move_down(word *x, uint32_t words)
{
    for (uint32_t k = 0; k + 1 < words; k++)
        x[k] = x[k] >> 1 | x[k + 1] << 63;
    x[words - 1] >>= 1;
}

/* Scan word k's cells. Bit c of `joins` and of `east` speaks of the boundary that the scan meets behind cell c. */
static inline void scan_word(maze *m, uint32_t k, int backwards)
{
    uint32_t first = k * 64, cells = m->width - first < 64 ? m->width - first : 64, edge = backwards ? 0 : m->width - 1;
    word joins = m->joins[k], keeps = m->keeps[k], east = 0, south = 0;
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t b = backwards ? cells - 1 - i : i, c = first + b;
        if (joins >> b & 1 && c != edge)
            east |= join(m, backwards ? c - 1 : c) << b;
        if (keeps >> b & 1 || !leave(m, c))
            south |= (word)1 << b;
    }
    m->east[k] = east, m->south[k] = south;
}

static void scan_forwards(maze *m)
{
    for (uint32_t k = 0; k < m->words; k++)
        scan_word(m, k, 0);
}

static void scan_backwards(maze *m)
{
    move_up(m->joins, m->words);
    for (uint32_t k = m->words; k-- > 0;)
        scan_word(m, k, 1);
    move_down(m->east, m->words);
}

/* Carve `rows` rows from `row` on into planes of ceil(width / 8) bytes a row (on a little-endian machine).
 * lists: 2 * width numbers, each its own column's at row 0; scratch: 4 * ceil(width / 64) words. */
void textbook_rows(uint32_t width, word seed, word row, uint32_t rows, uint32_t *lists, word *scratch, unsigned char *east,
                   unsigned char *south)
{
    uint32_t words = (width + 63) / 64, row_bytes = (width + 7) / 8;
    maze m = {width, words, lists, lists + width, scratch, scratch + words, scratch + 2 * words, scratch + 3 * words};
    for (uint32_t i = 0; i < rows; i++) {
        toss(m.joins, words, seed, EAST_LANE, row + i);
        toss(m.keeps, words, seed, SOUTH_LANE, row + i);
        if ((row + i) % 2)
            scan_backwards(&m);
        else
            scan_forwards(&m);
        memcpy(east + (size_t)i * row_bytes, m.east, row_bytes);
        memcpy(south + (size_t)i * row_bytes, m.south, row_bytes);
    }
}
