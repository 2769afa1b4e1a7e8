/* Depth-first search, as told in dfs.py. A tree's stack is threaded through its cells: each keeps the side on which it was
   entered, so stepping back needs no memory of its own. */

#include <stdlib.h>

#include "_bands.h"

typedef struct {
    size_t top, root;
} tree;

typedef struct {
    grid *g;
    draws d;
    const dfs_options *o;
    int even;
} search;

static word weight_of(const search *s, size_t cell, int side)
{
    if (!s->o->by_goal)
        return s->o->weights[side];
    place here = place_of(s->g, cell);
    int64_t down = apart(s->o->goal.row, here.row), right = apart(s->o->goal.column, here.column);
    const int nearer[4] = {down < 0, right > 0, down > 0, right < 0};
    return s->o->weights[nearer[side] ? 0 : 1];
}

static int chosen_side(search *s, size_t cell, const int sides[4], int count)
{
    if (s->even)
        return sides[below(&s->d, (word)count)];
    word weights[4], total = 0;
    for (int i = 0; i < count; i++)
        total += weights[i] = weight_of(s, cell, sides[i]);
    if (!total)
        return sides[below(&s->d, (word)count)];
    word left = below(&s->d, total);
    int i = 0;
    while (left >= weights[i])
        left -= weights[i++];
    return sides[i];
}

/* Step back until there is a new cell, and visit it; 0 if there is none. */
static int take_turn(search *s, tree *t)
{
    for (;;) {
        int sides[4], count = sides_without(s->g, t->top, IN, sides);
        if (count) {
            int side = chosen_side(s, t->top, sides, count);
            t->top += (size_t)s->g->step[side];
            enter(s->g, t->top, side ^ 2);
            s->g->cells[t->top] |= (unsigned char)((side ^ 2) << WAY);
            return 1;
        }
        if (t->top == t->root)
            return 0;
        t->top += (size_t)s->g->step[s->g->cells[t->top] >> WAY & 3];
    }
}

static void plant(search *s, tree *trees, size_t count)
{
    if (!s->o->doors) {
        trees[0].top = first_cell(s->g, &s->d, s->o->start);
        s->g->cells[trees[0].top] |= IN;
    } else
        for (size_t i = 0; i < count; i++) {
            word left = i * (word)s->g->width / count, right = (i + 1) * (word)s->g->width / count;
            trees[i].top = cell_at(s->g, 0, (size_t)(left + below(&s->d, right - left)));
            enter(s->g, trees[i].top, NORTH);
        }
    for (size_t i = 0; i < count; i++)
        trees[i].root = trees[i].top;
}

int carve_dfs(grid *g, const dfs_options *o)
{
    size_t growing = o->doors ? (size_t)o->doors : 1;
    tree *trees = malloc(growing * sizeof(tree));
    if (!trees)
        return 0;
    search s = {g, {o->key}, o, !o->by_goal};
    for (int side = 0; side < 4; side++)
        s.even = s.even && o->weights[side] == 1;
    plant(&s, trees, growing);
    while (growing) {
        size_t left = 0;
        for (size_t i = 0; i < growing; i++)
            if (take_turn(&s, &trees[i]))
                trees[left++] = trees[i];
        growing = left;
    }
    free(trees);
    return 1;
}
