/* Wilson's algorithm, as told in wilson.py. Cells that have fewer than four neighbours are marked, as they are few. */

#include "_bands.h"

static void mark_edges(grid *g, int rooted)
{
    for (size_t row = 0; row < g->rows; row++)
        g->cells[cell_at(g, row, 0)] |= EDGE, g->cells[cell_at(g, row, g->width - 1)] |= EDGE;
    for (size_t column = 0; column < g->width; column++) {
        if (rooted)
            g->cells[column + 1] = IN;
        else
            g->cells[cell_at(g, 0, column)] |= EDGE;
        g->cells[cell_at(g, g->rows - 1, column)] |= EDGE;
    }
}

static int wandering_side(const grid *g, draws *d, size_t cell)
{
    int sides[4];
    if (!(g->cells[cell] & EDGE))
        return (int)below(d, 4);
    int count = sides_without(g, cell, OUTSIDE, sides);
    return sides[below(d, (word)count)];
}

/* Walk from a cell to the maze, and note the way out of each cell. */
static void wander(grid *g, draws *d, size_t cell)
{
    while (!(g->cells[cell] & IN)) {
        int side = wandering_side(g, d, cell);
        g->cells[cell] = (unsigned char)((g->cells[cell] & EDGE) | side << WAY);
        cell += (size_t)g->step[side];
    }
}

/* Carve the way that the walk took, without its loops. */
static void follow(grid *g, size_t cell)
{
    while (!(g->cells[cell] & IN)) {
        int side = g->cells[cell] >> WAY & 3;
        enter(g, cell, side);
        cell += (size_t)g->step[side];
    }
}

int carve_wilson(grid *g, word key, int rooted)
{
    draws d = {key};
    mark_edges(g, rooted);
    if (!rooted)
        g->cells[first_cell(g, &d, NO_START)] |= IN;
    for (size_t row = 0; row < g->rows; row++)
        for (size_t cell = cell_at(g, row, 0); cell < cell_at(g, row, g->width); cell++) {
            wander(g, &d, cell);
            follow(g, cell);
        }
    return 1;
}
