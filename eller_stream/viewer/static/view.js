// What part of the maze is seen: pure arithmetic, no drawing.
//
// The row at the top is a whole number (`row`, up to 2**48) and the pixels that are scrolled past it (`offset`, less
// than a cell), since one floating-point number could not hold both. All lengths are in device pixels.

import { MAX_ROW } from "./spec.js";

const MARGIN_ROWS = 1;

export class View {
  constructor() {
    this.size = [1, 1];
    this.cell = 16;
    this.row = 0;
    this.offset = 0;
    this.x = 0;
    this.columns = 1;
    this.first = 0;
    this.stop = null;
  }

  /** Thickness of a wall. */
  get wall() {
    return Math.max(1, Math.round(this.cell / 9));
  }

  /** Where the maze's left edge is drawn: centred where it is narrower than the page, else as scrolled. */
  get left() {
    const spare = this.size[0] - this.columns * this.cell - this.wall;
    return spare > 0 ? spare >> 1 : -Math.round(this.x);
  }

  /** Where a row's upper edge is drawn. */
  y(row) {
    return (row - this.row) * this.cell - Math.round(this.offset);
  }

  /** How many rows are seen, also those that are cut. */
  get rowsSeen() {
    return Math.ceil((this.size[1] + Math.round(this.offset)) / this.cell) + MARGIN_ROWS;
  }

  /** The rows seen, [start, stop], within the maze. */
  get rows() {
    return [this.row, Math.min(this.row + this.rowsSeen, this.stop ?? MAX_ROW)];
  }

  /** Return the cell [row, column] at a point, null outside of the maze. */
  cellAt(x, y) {
    const column = Math.floor((x - this.left) / this.cell);
    const row = this.row + Math.floor((y + Math.round(this.offset)) / this.cell);
    const inside = column >= 0 && column < this.columns && row >= this.first && row < (this.stop ?? MAX_ROW);
    return inside ? [row, column] : null;
  }

  scrollBy(dx, dy) {
    const by = this.offset + dy;
    const rows = Math.floor(by / this.cell);
    this.row += rows;
    this.offset = by - rows * this.cell;
    this.x += dx;
    this.clamp();
  }

  /** Show a row at the top. */
  goTo(row) {
    this.row = row;
    this.offset = 0;
    this.clamp();
  }

  /** Make cells `cell` pixels large; what is at the point stays there. */
  zoomTo(cell, x, y) {
    const across = (x - this.left) / this.cell;
    const down = (y + this.offset) / this.cell;
    this.cell = cell;
    this.offset = 0;
    this.x = across * cell - x;
    this.scrollBy(0, down * cell - y);
  }

  clamp() {
    const last = this.stop ?? MAX_ROW;
    const most = last - Math.max(1, Math.floor((this.size[1] - this.wall) / this.cell));
    if (this.row >= most && most > this.first) this.standAt(most);
    if (this.row < this.first || most <= this.first) this.standAt(this.first);
    this.x = Math.max(0, Math.min(this.x, this.columns * this.cell + this.wall - this.size[0]));
  }

  standAt(row) {
    this.row = row;
    this.offset = 0;
  }
}
