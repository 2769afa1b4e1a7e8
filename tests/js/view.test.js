import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./static.js";

const { View } = await load("view.js");
const { fragmentOf, readFragment } = await load("link.js");
const { drawRows } = await load("draw.js");
const { Window } = await load("window.js");
const { svgOf } = await load("svg.js");

function view(options = {}) {
  return Object.assign(new View(), { size: [800, 600], columns: 20, cell: 16 }, options);
}

test("scrolling far adds up exactly, and back again", () => {
  const seen = view({ row: 2 ** 47 });
  for (let i = 0; i < 1000; i++) seen.scrollBy(0, 7);
  assert.deepEqual([seen.row, seen.offset], [2 ** 47 + 437, 8]);
  for (let i = 0; i < 1000; i++) seen.scrollBy(0, -7);
  assert.deepEqual([seen.row, seen.offset], [2 ** 47, 0]);
});

test("it stays within the maze", () => {
  const seen = view({ stop: 100, columns: 100 });
  seen.scrollBy(1e9, 1e9);
  assert.deepEqual([seen.row, seen.offset, seen.x], [100 - 37, 0, 100 * 16 + 2 - 800]);
  seen.scrollBy(-1e9, -1e9);
  assert.deepEqual([seen.row, seen.offset, seen.x], [0, 0, 0]);
  const fragment = view({ first: 50, stop: 60 });
  fragment.goTo(10);
  assert.equal(fragment.row, 50);
  const last = view({ row: 2 ** 48 - 5 });
  last.scrollBy(0, 1e6);
  assert(last.rows[1] <= 2 ** 48);
});

test("zooming keeps the cell under the pointer", () => {
  const seen = view({ row: 1e12, columns: 5000 });
  seen.scrollBy(10_000, 5);
  const before = seen.cellAt(333, 222);
  for (const cell of [17, 40, 23, 2, 9, 16]) {
    seen.zoomTo(cell, 333, 222);
    const after = seen.cellAt(333, 222);
    assert(Math.abs(after[0] - before[0]) <= 1 && Math.abs(after[1] - before[1]) <= 1);
  }
});

test("a cell is where it is drawn", () => {
  const seen = view({ row: 7 });
  seen.scrollBy(0, 5);
  assert.deepEqual(seen.cellAt(seen.left + 3 * 16 + 8, seen.y(9) + 8), [9, 3]);
  assert.equal(seen.cellAt(seen.left - 1, 50), null);
  assert.equal(seen.cellAt(seen.left + 20 * 16 + 1, 50), null);
});

const SPEC = {
  ...{ algorithm: "eller", width: 10, seed: 2n ** 64n - 1n, height: null, p_east: [[0, 32768]] },
  ...{ p_south: [[0, 32768]], key_interval: 1024, loops: [[0, 0]], braid: 0 },
};

test("a link holds the spec, the seed with all its bits, and the row", () => {
  const fragment = fragmentOf(SPEC, 1e12);
  assert.match(fragment, /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(readFragment(`#${fragment}`), { spec: SPEC, row: 1e12 });
  assert.equal(readFragment(""), null);
  assert.equal(readFragment("#"), null);
});

test("a link that holds none is refused", () => {
  const wrong = { spec: { ...SPEC, seed: "1", width: 0 }, row: 0 };
  for (const text of ["x", "é", "!!!", btoa("null"), btoa("{}"), btoa(JSON.stringify(wrong)), "A".repeat(1e5)]) {
    assert.throws(() => readFragment(`#${text}`), /the link/);
  }
});

// Two rows of three cells: the first open between the first two cells and south of the third, the second all open.
const ROWS = new Window(10);
ROWS.add({
  ...{ start: 0, count: 2, width: 3, floor: null, north: Uint8Array.of(0) },
  ...{ east: Uint8Array.of(0b001, 0b011), south: Uint8Array.of(0b100, 0b000) },
});

test("walls and cells, pixel by pixel", () => {
  const seen = view({ size: [8, 6], cell: 2, columns: 3, stop: 2 });
  const pixels = new Uint32Array(48);
  drawRows(pixels, seen, ROWS, { paper: 1, wall: 2, outside: 3, waiting: 4, rock: 5 });
  const lines = Array.from({ length: 6 }, (_, y) => [...pixels.subarray(8 * y, 8 * y + 8)].join(""));
  assert.deepEqual(lines, ["22222223", "21112123", "22222123", "21111123", "22222223", "33333333"]);
});

// The same, but that the third column is rock and nothing leads there.
const MAP = new Window(10);
MAP.add({
  ...{ start: 0, count: 2, width: 3, floor: Uint8Array.of(0b011, 0b011), north: Uint8Array.of(0) },
  ...{ east: Uint8Array.of(0b001, 0b001), south: Uint8Array.of(0b010, 0b000) },
});

test("rock is drawn as such, with a wall around it but none within", () => {
  const seen = view({ size: [8, 6], cell: 2, columns: 3, stop: 2 });
  const pixels = new Uint32Array(48);
  drawRows(pixels, seen, MAP, { paper: 1, wall: 2, outside: 3, waiting: 4, rock: 5 });
  const lines = Array.from({ length: 6 }, (_, y) => [...pixels.subarray(8 * y, 8 * y + 8)].join(""));
  assert.deepEqual(lines, ["22222223", "21112523", "22212523", "21112523", "22222223", "33333333"]);
  const text = svgOf(MAP, [0, 2], 3, { wall: "#000000", rock: "#888888", paper: "#ffffff" }, () => null, []);
  assert(text.includes('d="M0 10h10M20 0v10M0 0h30M0 20h30M20 10v10M0 0v20M30 0v20"'));
  assert.equal(text.match(/<rect x="20" y="[01]0?" width="10" height="10" fill="#888888"/g).length, 2);
});

test("rows that have not come, and rows that are not to be drawn yet", () => {
  const seen = view({ size: [8, 8], cell: 2, columns: 3, stop: 4 });
  const pixels = new Uint32Array(64);
  const colours = { paper: 1, wall: 2, outside: 3, waiting: 4, rock: 5 };
  drawRows(pixels, seen, ROWS, colours);
  assert.equal([...pixels.subarray(8 * 5, 8 * 5 + 8)].join(""), "44444433");
  drawRows(pixels, seen, ROWS, colours, () => null, 1);
  const lines = Array.from({ length: 4 }, (_, y) => [...pixels.subarray(8 * y, 8 * y + 8)].join(""));
  assert.deepEqual(lines, ["22222223", "21112123", "22222123", "33333333"]);
});

test("the walls of an SVG", () => {
  const text = svgOf(ROWS, [0, 2], 3, { wall: "#000000", rock: "#888888", paper: "#ffffff", path: "#ff0000" }, () => null, [[0, 0], [0, 1]]);
  assert(text.includes('d="M0 10h20M20 0v10M0 0h30M0 20h30M0 0v20M30 0v20"'));
  assert(text.includes('points="5,5 15,5"'));
});
