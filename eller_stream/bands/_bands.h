/* What the carvers in C share: draws, and the cells of a band with a border around them.

   The cells are laid out as in grid.py, one byte each; what a byte says besides is each carver's own matter. A carver
   returns 0 where memory ran out. */

#ifndef ELLER_STREAM_BANDS_H
#define ELLER_STREAM_BANDS_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;

enum { NORTH, EAST, SOUTH, WEST };
enum { OPEN_EAST = 1, OPEN_NORTH = 2, IN = 4, OUTSIDE = 8, WAY = 4, EDGE = 64 }; /* WAY: a side, from bit 4 on */

typedef struct {
    word offset; /* of the last word that was used: the key, plus as many times GOLDEN */
} draws;

typedef struct {
    unsigned char *cells;
    size_t width, rows, stride;
    ptrdiff_t step[4]; /* to the neighbour on a side */
    ptrdiff_t door[4]; /* to the cell whose byte holds the passage on a side */
} grid;

typedef struct {
    word row, column; /* of the band; the row modulo 2**64, as the goal may lie above it */
} place;

/* The options of the carvers; `rooted` is 0 for band 0, which has a first cell: `start`, or NO_START for a random one. */
#define NO_START UINT64_MAX

typedef struct {
    word key, start, doors; /* doors: 0 for band 0 */
    unsigned weights[4];    /* of the sides; by_goal: [0] nearer to the goal, [1] farther from it */
    int by_goal;
    place goal;
} dfs_options;

enum { PULL_EVEN, PULL_AWAY, PULL_TOWARD };

typedef struct {
    word key, start;
    int rooted, pull;
    word a; /* in 65,536ths */
    place goal;
} prim_options;

#define NO_GATE INT64_MIN

typedef struct {
    word key, max_tunnels, max_length;
    int64_t gate_above, gate_below; /* columns; NO_GATE for none */
} walk_options;

int carve_dfs(grid *g, const dfs_options *o);
int carve_prim(grid *g, const prim_options *o);
int carve_wilson(grid *g, word key, int rooted);
int carve_random_walk(grid *g, const walk_options *o);

/* ---- draws ----------------------------------------------------------------------------------------- */

static inline word next_word(draws *d)
{
    word z = d->offset += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* A number from 0 to n - 1, each as likely. The words from 2**64 - 2**64 mod n on are passed over. */
static inline word below(draws *d, word n)
{
    if (n == 1)
        return 0;
    word drawn = next_word(d);
    while (drawn > UINT64_MAX - n && drawn > UINT64_MAX - (0 - n) % n)
        drawn = next_word(d);
    switch (n) { /* what the compiler knows it need not divide by */
    case 2: return drawn & 1;
    case 3: return drawn % 3;
    case 4: return drawn & 3;
    default: return drawn % n;
    }
}

/* ---- cells ------------------------------------------------------------------------------------------ */

static inline size_t cell_at(const grid *g, size_t row, size_t column) { return (row + 1) * g->stride + column + 1; }

static inline size_t nth_cell(const grid *g, word i) { return cell_at(g, (size_t)(i / g->width), (size_t)(i % g->width)); }

static inline size_t first_cell(const grid *g, draws *d, word start)
{
    return nth_cell(g, start == NO_START ? below(d, (word)g->rows * g->width) : start);
}

static inline place place_of(const grid *g, size_t cell)
{
    place p = {cell / g->stride - 1, cell % g->stride - 1};
    return p;
}

/* The signed difference of two rows or columns: a goal is less than 2**49 away. */
static inline int64_t apart(word a, word b) { return (int64_t)(a - b); }

/* Take a cell into the maze, through the passage on this side of it. */
static inline void enter(grid *g, size_t cell, int side)
{
    g->cells[cell] |= IN;
    g->cells[(ptrdiff_t)cell + g->door[side]] |= side & 1 ? OPEN_EAST : OPEN_NORTH;
}

/* The sides of a cell on which the neighbour has none of these bits; returns how many there are. */
static inline int sides_without(const grid *g, size_t cell, int bits, int sides[4])
{
    int count = 0;
    for (int side = 0; side < 4; side++) {
        sides[count] = side;
        count += !(g->cells[(ptrdiff_t)cell + g->step[side]] & bits);
    }
    return count;
}

#endif
