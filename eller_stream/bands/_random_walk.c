/* Random-walk tunnels, as told in random_walk.py. */

#include "_bands.h"

typedef struct {
    grid *g;
    draws d;
    word row, column, most; /* where he stands, and the most cells of a tunnel */
    int side;               /* of the last tunnel; -1 before the first one */
} walker;

static word room(const walker *w, int side)
{
    const word cells[4] = {w->row, w->g->width - 1 - w->column, w->g->rows - 1 - w->row, w->column};
    return cells[side];
}

static void dig(walker *w, int side, word length)
{
    unsigned char *cell = w->g->cells + cell_at(w->g, (size_t)w->row, (size_t)w->column);
    for (word i = 0; i < length; i++) {
        cell += w->g->step[side];
        *cell |= IN;
    }
    w->row += side == SOUTH ? length : side == NORTH ? 0 - length : 0;
    w->column += side == EAST ? length : side == WEST ? 0 - length : 0;
    w->side = side;
}

/* Dig the next tunnel that counts. */
static void dig_tunnel(walker *w)
{
    word length;
    int side;
    do {
        if (w->side < 0)
            side = (int)below(&w->d, 4);
        else /* east or west follow north or south, and the other way round */
            side = (w->side & 1 ? NORTH : EAST) + 2 * (int)below(&w->d, 2);
        length = 1 + below(&w->d, w->most);
        if (length > room(w, side))
            length = room(w, side);
    } while (!length);
    dig(w, side, length);
}

/* Dig tunnels to a cell, each as long as drawn. */
static void go_to(walker *w, word row, word column)
{
    while (w->row != row || w->column != column) {
        int ahead = w->side & 1 ? SOUTH : EAST;
        int64_t way = ahead == EAST ? apart(column, w->column) : apart(row, w->row);
        word far = (word)(way < 0 ? -way : way);
        if (far)
            dig(w, way > 0 ? ahead : ahead ^ 2, 1 + below(&w->d, far < w->most ? far : w->most));
        else
            dig(w, room(w, ahead) ? ahead : ahead ^ 2, 1);
    }
}

int carve_random_walk(grid *g, const walk_options *o)
{
    walker w = {.g = g, .d = {o->key}, .most = o->max_length, .side = -1};
    word start = o->gate_above == NO_GATE ? below(&w.d, (word)g->rows * g->width) : (word)o->gate_above;
    w.row = start / g->width, w.column = start % g->width;
    g->cells[nth_cell(g, start)] |= IN;
    if (g->rows == 1)
        return 1;
    for (word i = 0; i < o->max_tunnels; i++)
        dig_tunnel(&w);
    if (o->gate_below != NO_GATE)
        go_to(&w, g->rows - 1, (word)o->gate_below);
    return 1;
}
