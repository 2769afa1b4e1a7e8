// Rows to pixels. All is drawn a line of pixels at a time: a row of cells has one line through its walls above and one
// through its cells, and these are copied down as often as the cell is high. So a page of small cells costs no more than
// a page of large ones.

import { bit, rowBytes } from "./block.js";

/** Return a colour #rrggbb as a pixel. */
export function pixelOf(colour) {
  const n = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((n & 0xff) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

const NO_PASSAGES = new Uint8Array(0); // beyond its end a typed array has nothing, which counts as a closed wall

/** What is known of one row: its bits, and whether a cell can be walked on. */
class RowBits {
  constructor(block, index) {
    this.block = block;
    this.at = index * rowBytes(block.width);
  }

  east(column) {
    return bit(this.block.east, this.at, column);
  }

  south(column) {
    return bit(this.block.south, this.at, column);
  }

  floor(column) {
    return this.block.floor === null || bit(this.block.floor, this.at, column) === 1;
  }
}

/** Return a row that is held, null if it is not. */
export function rowOf(rows, index) {
  const found = rows.find(index);
  return found && new RowBits(...found);
}

/**
 * Draw the rows that are seen and held into `pixels`, a Uint32Array of the view's size. `colours` are the pixels
 * {paper, wall, rock, outside, waiting}; `paint(row)` returns the colours of a row's cells (a Uint32Array), or null for paper.
 * Rows from `limit` on are not drawn.
 */
export function drawRows(pixels, view, rows, colours, paint = () => null, limit = Infinity) {
  pixels.fill(colours.outside);
  const [first, stop] = view.rows;
  const painter = new Painter(pixels, view, colours);
  let above = first > 0 ? rowOf(rows, first - 1) : null;
  let tintAbove = above && paint(first - 1);
  for (let row = first; row < Math.min(stop, limit); row++) {
    const here = rowOf(rows, row);
    const tint = here && paint(row);
    if (here) painter.row(row, above, here, tintAbove, tint);
    else painter.wait(row);
    [above, tintAbove] = [here, tint];
  }
  const end = Math.min(stop, limit);
  if (above && end > first) painter.edge(end, above, tintAbove);
}

class Painter {
  constructor(pixels, view, colours) {
    this.pixels = pixels;
    this.view = view;
    this.colours = colours;
    [this.across, this.down] = view.size;
    this.line = new Uint32Array(this.across);
    const from = Math.max(0, Math.floor(-view.left / view.cell));
    const to = Math.min(view.columns, Math.ceil((this.across - view.left) / view.cell));
    this.seen = [from, to];
  }

  /** Draw a row that is held: the walls above it, then its cells. */
  row(row, above, here, tintAbove, tint) {
    const y = this.view.y(row);
    this.walls(y, above, here, this.north(row, above, here), tintAbove);
    this.cells(here, tint);
    this.copyLine(y + this.view.wall, y + this.view.cell);
  }

  /** Return the packed passages to the north of a row, as [plane, at]: of the row above, or the block's own north. */
  north(row, above, here) {
    if (row > 0 && above) return [above.block.south, above.at];
    return row > 0 && here.at === 0 ? [here.block.north, 0] : [NO_PASSAGES, 0];
  }

  /** Draw the lower walls of the last row that is seen. */
  edge(row, above, tint) {
    this.walls(this.view.y(row), above, null, [above.block.south, above.at], tint);
  }

  /** Draw a row that has not come. */
  wait(row) {
    const { left, cell, columns } = this.view;
    this.line.fill(this.colours.outside);
    this.run(left, left + columns * cell, this.colours.waiting);
    this.copyLine(this.view.y(row), this.view.y(row) + cell);
  }

  walls(y, above, here, [plane, at], tint) {
    const { paper, wall, rock } = this.colours;
    const [from, to] = this.seen;
    const { left, cell, wall: thick } = this.view;
    this.line.fill(this.colours.outside);
    let openBefore = from > 0 && bit(plane, at, from - 1);
    let rockBefore = from > 0 && isRock(above, here, from - 1);
    for (let column = from; column <= to; column++) {
      const x = left + column * cell;
      const open = column < to && bit(plane, at, column);
      const solid = column < to && isRock(above, here, column);
      const clear = open && openBefore && above?.east(column - 1) && here?.east(column - 1);
      this.run(x, x + thick, clear ? paper : solid && rockBefore ? rock : wall);
      if (column < to) this.run(x + thick, x + cell, open ? (tint?.[column] ?? paper) : solid ? rock : wall);
      openBefore = open;
      rockBefore = solid;
    }
    this.copyLine(y, y + thick);
  }

  cells(here, tint) {
    const { paper, wall, rock } = this.colours;
    const [from, to] = this.seen;
    const { left, cell, columns, wall: thick } = this.view;
    this.line.fill(this.colours.outside);
    let rockBefore = from > 0 && !here.floor(from - 1);
    for (let column = from; column <= to; column++) {
      const x = left + column * cell;
      const open = column > 0 && column < columns && here.east(column - 1);
      const solid = column < to && !here.floor(column);
      this.run(x, x + thick, open ? (tint?.[column - 1] ?? paper) : solid && rockBefore ? rock : wall);
      if (column < to) this.run(x + thick, x + cell, solid ? rock : (tint?.[column] ?? paper));
      rockBefore = solid;
    }
  }

  /** Draw a part of the line; a plain loop, since most parts are a few pixels long. */
  run(from, to, colour) {
    const end = Math.min(to, this.across);
    for (let x = Math.max(0, from); x < end; x++) this.line[x] = colour;
  }

  copyLine(from, to) {
    for (let y = Math.max(0, from); y < Math.min(to, this.down); y++) this.pixels.set(this.line, y * this.across);
  }
}

/** Return whether a column is rock in both rows; a row that is not held, or beyond the maze, is none. */
function isRock(above, here, column) {
  return above !== null && here !== null && !above.floor(column) && !here.floor(column);
}
