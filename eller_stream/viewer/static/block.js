// Blocks: consecutive rows as packed bit planes, as the library's `Block` is.
//
// A block is {start, count, width, east, south, north, floor}: `east`, `south` and `floor` hold ceil(width / 8) bytes a
// row, column c being bit c % 8 of byte c >> 3; `north` is the south plane's row above the block; `floor` is null where
// every cell is floor.

/** Return the bytes of a packed row. */
export const rowBytes = (width) => Math.ceil(width / 8);

/** Return the bit of a column in a packed row that begins at byte `at` of a plane. */
export const bit = (plane, at, column) => (plane[at + (column >> 3)] >> (column & 7)) & 1;

/** Return a block's rows `first` to `stop - 1`, counted from its start, as views. */
export function part(block, first, stop) {
  const size = rowBytes(block.width);
  const cut = (plane) => plane && plane.subarray(first * size, stop * size);
  return {
    start: block.start + first,
    count: stop - first,
    width: block.width,
    east: cut(block.east),
    south: cut(block.south),
    north: first ? block.south.subarray((first - 1) * size, first * size) : block.north,
    floor: cut(block.floor),
  };
}

/** Return a block in memory of its own. */
export function copied(block) {
  const { east, south, north, floor } = block;
  return { ...block, east: east.slice(), south: south.slice(), north: north.slice(), floor: floor && floor.slice() };
}

/** Return whether two planes hold the same bytes. */
export const samePlane = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
