// Do what a test in Python has done with its Windows, read as JSON from stdin, and print what came of it.

import { readFileSync } from "node:fs";
import { bytesOf, hexOf, load } from "./static.js";

const { Window } = await load("window.js");

const plane = (hex) => (hex === null ? null : bytesOf(hex));
const blockOf = ({ start, count, width, east, south, north, floor }) => ({
  ...{ start, count, width, east: plane(east), south: plane(south), north: plane(north), floor: plane(floor) },
});

const DO = {
  add(rows, block, near) {
    try {
      rows.add(blockOf(block), near ?? undefined);
      return "added";
    } catch (error) {
      return error.name;
    }
  },
  discard(rows, start, stop) {
    rows.discard(start, stop ?? undefined);
    return "discarded";
  },
  missing: (rows, top, height) => rows.missing(top, height),
  row(rows, index) {
    const found = rows.find(index);
    if (!found) return null;
    const [{ east, south, floor, width }, at] = found;
    const size = Math.ceil(width / 8);
    return [east, south, floor].map((bits) => bits && hexOf(bits.subarray(at * size, (at + 1) * size)));
  },
};

function replay({ capacity, steps }) {
  const rows = new Window(capacity);
  const came = steps.map(([name, ...args]) => [DO[name](rows, ...args), rows.held]);
  const buffers = new Set(rows.pieces.map((piece) => piece.east.buffer));
  const bytes = [...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0);
  return { came, bytes };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map(replay)));
