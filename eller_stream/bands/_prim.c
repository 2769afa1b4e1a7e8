/* Randomized Prim, as told in prim.py: the list of walls, and for uneven weights a Fenwick tree over it. */

#include <stdlib.h>

#include "_bands.h"

#define UNIT 65536u
#define MOST ((word)1 << 28)
#define MOST_DISTANCE ((int64_t)1 << 32)

typedef struct {
    grid *g;
    draws d;
    const prim_options *o;
    word *walls; /* 4 * the cell behind it + the side of that cell */
    word *sums;  /* uneven weights: item i > 0 is what the last (lowest bit of i) walls up to the i-th weigh */
    word total;
    size_t count, room;
} frontier;

static word weight_of(const frontier *f, word wall)
{
    place here = place_of(f->g, (size_t)(wall >> 2));
    int64_t down = apart(f->o->goal.row, here.row), right = apart(f->o->goal.column, here.column);
    int64_t distance = (down < 0 ? -down : down) + (right < 0 ? -right : right);
    word grown = UNIT + f->o->a * (word)(distance < MOST_DISTANCE ? distance : MOST_DISTANCE);
    grown = grown < MOST ? grown : MOST;
    return f->o->pull == PULL_TOWARD ? UNIT * MOST / grown : grown;
}

static int grow(word **items, size_t count)
{
    word *more = count <= SIZE_MAX / sizeof(word) ? realloc(*items, count * sizeof(word)) : NULL;
    if (more)
        *items = more;
    return more != NULL;
}

static int make_room(frontier *f)
{
    if (f->count < f->room)
        return 1;
    size_t room = 2 * f->room + 1024;
    if (!grow(&f->walls, room) || (f->o->pull != PULL_EVEN && !grow(&f->sums, room + 1)))
        return 0;
    f->room = room;
    return 1;
}

static int push(frontier *f, word wall)
{
    if (!make_room(f))
        return 0;
    f->walls[f->count++] = wall;
    if (f->o->pull == PULL_EVEN)
        return 1;
    word weight = weight_of(f, wall);
    size_t i = f->count, lowest = i & (0 - i);
    f->total += weight;
    for (size_t k = i - 1; k > i - lowest; k -= k & (0 - k))
        weight += f->sums[k];
    f->sums[i] = weight;
    return 1;
}

/* The first wall up to which the weights sum to more than `left`. */
static size_t find(const frontier *f, word left)
{
    size_t i = 0, bit = 1;
    while (bit <= f->count / 2)
        bit *= 2;
    for (; bit; bit /= 2)
        if ((i | bit) <= f->count && f->sums[i | bit] <= left) {
            i |= bit;
            left -= f->sums[i];
        }
    return i;
}

/* Choose a wall and take it out; the last one takes its place. */
static word take(frontier *f)
{
    int even = f->o->pull == PULL_EVEN;
    size_t i = even ? (size_t)below(&f->d, f->count) : find(f, below(&f->d, f->total));
    word wall = f->walls[i], last = f->walls[--f->count];
    f->walls[i] = last;
    if (even)
        return wall;
    word weight = weight_of(f, wall), change = weight_of(f, last) - weight;
    f->total -= weight;
    for (size_t k = i + 1; k <= f->count; k += k & (0 - k))
        f->sums[k] += change;
    return wall;
}

static int push_walls(frontier *f, size_t cell)
{
    int sides[4], count = sides_without(f->g, cell, IN, sides);
    for (int i = 0; i < count; i++)
        if (!push(f, 4 * (word)(cell + (size_t)f->g->step[sides[i]]) + (word)(sides[i] ^ 2)))
            return 0;
    return 1;
}

/* Put what the band begins with on the list; returns how many cells are missing, and sets *fits to 0 without memory. */
static word begin(frontier *f, int *fits)
{
    word missing = (word)f->g->rows * f->g->width;
    if (f->o->rooted) {
        for (size_t column = 0; column < f->g->width && *fits; column++)
            *fits = push(f, 4 * (word)cell_at(f->g, 0, column) + NORTH);
        return missing;
    }
    size_t cell = first_cell(f->g, &f->d, f->o->start);
    f->g->cells[cell] |= IN;
    *fits = push_walls(f, cell);
    return missing - 1;
}

int carve_prim(grid *g, const prim_options *o)
{
    frontier f = {.g = g, .d = {o->key}, .o = o};
    int fits = 1;
    for (word missing = begin(&f, &fits); missing && fits;) {
        word wall = take(&f);
        size_t cell = (size_t)(wall >> 2);
        if (g->cells[cell] & IN)
            continue;
        enter(g, cell, (int)(wall & 3));
        missing--;
        fits = push_walls(&f, cell);
    }
    free(f.walls);
    free(f.sums);
    return fits;
}
