/* The yardstick of uniform mazes: Wilson's algorithm as textbooks have it, on a whole grid in memory, in C.
 *
 * From each cell that is not in the tree, in order, a walk wanders to random neighbours until it meets the tree, and
 * each cell keeps the side on which it was left last; these sides from the beginning on are the walk without its
 * loops. Each step draws a word of SplitMix64, whose upper bits are a side; one that leads out of the grid is drawn again.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t word;

enum { WAY = 3, IN_TREE = 4, OUTSIDE = 8 }; /* a cell's byte: the side on which it was left last, and flags */

static inline unsigned side(word *state)
{
    word z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (unsigned)((z ^ z >> 31) >> 62);
}

static word wander(unsigned char *cells, const ptrdiff_t *step, word *state, ptrdiff_t cell)
{
    word steps = 0;
    while (!(cells[cell] & IN_TREE)) {
        unsigned way = side(state);
        if (cells[cell + step[way]] & OUTSIDE)
            continue;
        cells[cell] = (unsigned char)way;
        cell += step[way];
        steps++;
    }
    return steps;
}

static void follow(unsigned char *cells, const ptrdiff_t *step, ptrdiff_t cell)
{
    while (!(cells[cell] & IN_TREE)) {
        cells[cell] |= IN_TREE;
        cell += step[cells[cell] & WAY];
    }
}

/* Fill `cells`, (rows + 2) x (width + 2) bytes with a border, with a tree whose root is cell `root`; return the steps.
 * Sides are north, east, south, west. */
word textbook_wilson(uint32_t width, uint32_t rows, word seed, word root, unsigned char *cells)
{
    ptrdiff_t stride = (ptrdiff_t)width + 2, step[4] = {-stride, 1, stride, -1};
    word state = seed, steps = 0;
    memset(cells, OUTSIDE, (size_t)stride * (rows + 2));
    for (uint32_t row = 0; row < rows; row++)
        memset(cells + stride * (row + 1) + 1, 0, width);
    cells[stride * (ptrdiff_t)(root / width + 1) + (ptrdiff_t)(root % width) + 1] = IN_TREE;
    for (uint32_t row = 0; row < rows; row++)
        for (ptrdiff_t cell = stride * (row + 1) + 1, end = cell + width; cell < end; cell++) {
            steps += wander(cells, step, &state, cell);
            follow(cells, step, cell);
        }
    return steps;
}
