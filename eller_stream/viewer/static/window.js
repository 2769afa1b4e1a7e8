// Rows that came as blocks, in any order, held as long as there is room: the rules of the library's `Window`.
//
// The rows held are pieces: blocks that share no row, in the order of their rows. A block that is added is compared with
// every piece that it shares rows with or stands against. A piece is a copy, so the memory is that of the rows held (at
// most twice as much where a piece was cut).

import { copied, part, rowBytes, samePlane } from "./block.js";
import { BlockError } from "./errors.js";

export class Window {
  /** Hold at most `capacity` rows. */
  constructor(capacity) {
    this.capacity = capacity;
    this.width = null;
    this.pieces = [];
  }

  /** How many rows are held. */
  get size() {
    return this.pieces.reduce((sum, piece) => sum + piece.count, 0);
  }

  /** The rows held, as [start, stop] from top to bottom with gaps between them. */
  get held() {
    const ranges = [];
    for (const { start, count } of this.pieces) {
      const before = ranges.at(-1);
      if (before && before[1] === start) before[1] += count;
      else ranges.push([start, start + count]);
    }
    return ranges;
  }

  /**
   * Hold the rows of a block too; those held already have to be the same. When that is more than the capacity, those
   * farthest from `near` ([start, stop]; the block itself by default) go. BlockError, and no change, for another width,
   * a floor where the others have none or the other way round, and for rows that contradict those held.
   */
  add(block, near = [block.start, block.start + block.count]) {
    this.checkFits(block);
    this.width = block.width;
    for (const [start, stop] of this.missing(block.start, block.count)) {
      this.pieces.push(copied(part(block, start - block.start, stop - block.start)));
    }
    this.pieces.sort((a, b) => a.start - b.start);
    if (this.size > this.capacity) this.keepNear(near);
  }

  /** Return which of the rows from `top` on, `height` of them, are not held, as [start, stop] from top to bottom. */
  missing(top, height) {
    const gaps = [];
    let row = top;
    const stop = top + height;
    for (const piece of this.pieces) {
      const end = piece.start + piece.count;
      if (end <= row) continue;
      if (piece.start >= stop) break;
      if (piece.start > row) gaps.push([row, piece.start]);
      row = end;
    }
    if (row < stop) gaps.push([row, stop]);
    return gaps;
  }

  /** Return the piece that holds a row, and where in it the row is, as [piece, index]; null if the row is not held. */
  find(row) {
    let [low, high] = [0, this.pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pieces[middle].start + this.pieces[middle].count <= row) low = middle + 1;
      else high = middle;
    }
    const piece = this.pieces[low];
    return piece && piece.start <= row ? [piece, row - piece.start] : null;
  }

  /** Hold the rows `start` to `stop - 1` no longer. */
  discard(start, stop = Infinity) {
    const kept = [];
    for (const piece of this.pieces) {
      const before = Math.min(Math.max(start - piece.start, 0), piece.count);
      const behind = Math.min(Math.max(stop - piece.start, before), piece.count);
      if (before === behind) kept.push(piece);
      else {
        if (before > 0) kept.push(unburdened(part(piece, 0, before)));
        if (behind < piece.count) kept.push(unburdened(part(piece, behind, piece.count)));
      }
    }
    this.pieces = kept;
  }

  checkFits(block) {
    if (this.width !== null && this.width !== block.width) throw new BlockError("the rows have another width");
    if (this.pieces.length && (this.pieces[0].floor === null) !== (block.floor === null)) {
      throw new BlockError("some rows have a floor plane, others have none");
    }
    const stop = block.start + block.count;
    for (const piece of this.pieces) {
      const first = Math.max(piece.start, block.start);
      const last = Math.min(piece.start + piece.count, stop);
      if (first <= last) checkSame(piece, block, first, last);
    }
  }

  /** Let go of the rows farthest from `near`, as many above as below, down to the capacity. */
  keepNear([start, stop]) {
    const counted = (low, high) => this.pieces.reduce((sum, { start: at, count }) => sum + common(at, at + count, low, high), 0);
    const around = (reach) => [Math.max(0, start - Math.max(reach, 0)), stop + reach];
    let low = start - stop;
    let high = Math.max(start - this.pieces[0].start, this.pieces.at(-1).start + this.pieces.at(-1).count - stop, 0);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (counted(...around(middle)) <= this.capacity) low = middle;
      else high = middle - 1;
    }
    const [first, end] = around(low);
    this.discard(0, first);
    this.discard(end);
  }
}

const common = (a, b, c, d) => Math.max(0, Math.min(b, d) - Math.max(a, c));

/** Compare the rows `first` to `stop - 1` of two blocks, and the south plane's row above them. */
function checkSame(held, came, first, stop) {
  const [a, b] = [held, came].map((block) => part(block, first - block.start, stop - block.start));
  if (!samePlane(a.north, b.north)) throw new BlockError(`row ${first - 1} is held with other passages south`);
  const same = samePlane(a.east, b.east) && samePlane(a.south, b.south);
  if (!same || (a.floor && !samePlane(a.floor, b.floor))) {
    throw new BlockError(`rows from ${first} on are held with other bits`);
  }
}

/** Return a piece, as a copy if it keeps more than twice its memory alive. */
function unburdened(piece) {
  return 2 * piece.count * rowBytes(piece.width) < piece.east.buffer.byteLength ? copied(piece) : piece;
}
