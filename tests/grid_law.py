"""What is known of uniform spanning trees of a grid by other means: Kirchhoff's determinants and enumeration.

`row_law` knows the rows still to come as the table of jumps does; all else here knows the whole grid and no rows.
"""

from functools import cache
from itertools import product

import numpy as np

from eller_stream.uniform.table import ENDLESS, endless_table, strip, table


def grid_edges(width, height):
    """Return the edges of a grid, cells counted row by row."""
    cells = [(r, c) for r in range(height) for c in range(width)]
    east = [(r * width + c, r * width + c + 1) for r, c in cells if c + 1 < width]
    south = [(r * width + c, r * width + width + c) for r, c in cells if r + 1 < height]
    return east + south


def laplacian(nodes, edges):
    """Return the Laplacian of edges (u, v) or (u, v, conductance); loops count nothing."""
    matrix = np.zeros((nodes, nodes))
    for u, v, *conductance in edges:
        if u != v:
            c = conductance[0] if conductance else 1
            matrix[u, u] += c
            matrix[v, v] += c
            matrix[u, v] -= c
            matrix[v, u] -= c
    return matrix


def tree_weight(nodes, edges):
    """Return the sum over all spanning trees of the product of their conductances (Kirchhoff)."""
    return np.linalg.det(laplacian(nodes, edges)[1:, 1:])


def is_tree(nodes, edges):
    return len(edges) == nodes - 1 and round(tree_weight(nodes, edges)) == 1


@cache
def trees(width, height):
    """Return all spanning trees of a small grid, as rows: a tuple of (east, south), each a tuple of bools."""
    found = []
    edges = grid_edges(width, height)

    def grow(i, chosen, labels):
        if len(chosen) == width * height - 1:
            found.append(rows_of(width, height, set(chosen)))
        elif i < len(edges) and len(chosen) + len(edges) - i >= width * height - 1:
            u, v = edges[i]
            if labels[u] != labels[v]:
                grow(i + 1, [*chosen, edges[i]], [labels[u] if a == labels[v] else a for a in labels])
            grow(i + 1, chosen, labels)

    grow(0, [], list(range(width * height)))
    return found


def rows_of(width, height, edges):
    """Return the rows (east, south) of a set of edges."""
    return tuple(
        (
            tuple(c + 1 < width and (r * width + c, r * width + c + 1) in edges for c in range(width)),
            tuple((r * width + c, r * width + width + c) in edges for c in range(width)),
        )
        for r in range(height)
    )


# ---- the law of one row, from the package's table ------------------------------------------------------


@cache
def chances(width, below):
    """Return the chance of each jump, in 2**-64, as the table's buckets and their others have it."""
    entries = (endless_table(width) if below == ENDLESS else table(strip(width), below)).tolist()
    bits = len(entries).bit_length() - 1
    room, found = 2 ** (64 - bits), [0] * (2 * width)
    for bucket, entry in enumerate(entries):
        cut, other = entry >> bits, entry % 2**bits
        if cut:
            found[bucket] += cut
        found[other] += room - cut
    return found


def hidden_edges(width, below):
    """Return the resistors that the table stands for, between cells of the row below: (cell, cell, conductance)."""
    chance = chances(width, below)
    ring = 2 * width
    return [
        (x, y, (chance[(y - x) % ring] + chance[(ring - 1 - y - x) % ring]) / chance[0])
        for y in range(width)
        for x in range(y)
    ]


def visible_edges(labels, below):
    """Return the edges of a row's graph that it shows: cells of the row below first, then sets."""
    width = len(labels)
    nodes = [width + a for a in labels]
    east = [(nodes[c], nodes[c + 1]) for c in range(width - 1)]
    return east + [(nodes[c], c) for c in range(width) if below]


def row_law(labels, below):
    """Return {(east, south): chance} for a row of these sets with `below` rows below it, by Kirchhoff."""
    width = len(labels)
    visible, hidden = visible_edges(labels, below), hidden_edges(width, below) if below else []
    first = 0 if below else width  # the last row's graph has no cells below
    nodes = width + max(labels) + 1 - first
    shifted = [[(u - first, v - first, *c) for u, v, *c in edges] for edges in (visible, hidden)]
    total = tree_weight(nodes, shifted[0] + shifted[1])
    law = {}
    for chosen in product((False, True), repeat=len(visible)):
        weight = restricted_weight(nodes, [e for e, is_in in zip(shifted[0], chosen, strict=True) if is_in], shifted[1])
        if weight:
            padding = (False,) * (0 if below else width)
            law[(*chosen[: width - 1], False), chosen[width - 1 :] + padding] = weight / total
    return law


def restricted_weight(nodes, taken, others):
    """Return the weight of the trees with all edges of `taken` and beside them only some of `others`."""
    labels = list(range(nodes))
    for u, v, *_ in taken:
        if labels[u] == labels[v]:
            return 0.0
        labels = [labels[u] if a == labels[v] else a for a in labels]
    names = {a: i for i, a in enumerate(dict.fromkeys(labels))}
    moved = [(names[labels[u]], names[labels[v]], *c) for u, v, *c in others]
    weight = tree_weight(len(names), moved) if len(names) > 1 else 1.0
    return weight if weight > 1e-9 else 0.0
