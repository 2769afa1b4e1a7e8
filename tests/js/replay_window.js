// Do what a test in Python has done with its Window, read as JSON from stdin, and print what came of it.

import { readFileSync } from "node:fs";
import { bytesOf, hexOf, load } from "./static.js";

const { Window } = await load("window.js");
const { capacity, steps } = JSON.parse(readFileSync(0, "utf-8"));
const rows = new Window(capacity);

const plane = (hex) => (hex === null ? null : bytesOf(hex));
const blockOf = ({ start, count, width, east, south, north, floor }) => ({
  ...{ start, count, width, east: plane(east), south: plane(south), north: plane(north), floor: plane(floor) },
});

const DO = {
  add(block, near) {
    try {
      rows.add(blockOf(block), near ?? undefined);
      return "added";
    } catch (error) {
      return error.name;
    }
  },
  discard(start, stop) {
    rows.discard(start, stop ?? undefined);
    return "discarded";
  },
  missing: (top, height) => rows.missing(top, height),
  row(index) {
    const found = rows.find(index);
    if (!found) return null;
    const [{ east, south, floor, width }, at] = found;
    const size = Math.ceil(width / 8);
    return [east, south, floor].map((bits) => bits && hexOf(bits.subarray(at * size, (at + 1) * size)));
  },
};

const came = steps.map(([name, ...args]) => [DO[name](...args), rows.held]);
const memory = new Set(rows.pieces.map((piece) => piece.east.buffer));
const bytes = [...memory].reduce((sum, buffer) => sum + buffer.byteLength, 0);
process.stdout.write(JSON.stringify({ came, size: rows.size, bytes }));
