import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, hexOf, load, vectors } from "./static.js";

const { FrameDecoder } = await load("frames.js");
const { jsonOfSpec, mapOfSpec, specOfJson } = await load("spec.js");
const { pack } = await load("msgpack.js");
const { crc32 } = await load("crc.js");
const { good, bad } = vectors("format-v1.json");

const plane = (bytes) => bytes && hexOf(bytes);
const TELL = {
  header: (e) => ({
    kind: "header",
    spec: jsonOfSpec(e.spec),
    rows_per_frame: e.rowsPerFrame,
    checkpoint_every: e.checkpointEvery,
    first_row: e.firstRow,
  }),
  rows: ({ block: b, last }) => ({
    ...{ kind: "rows", start: b.start, count: b.count, last, north: plane(b.north) },
    ...{ east: plane(b.east), south: plane(b.south), floor: plane(b.floor) },
  }),
  checkpoint: (e) => ({ kind: "checkpoint", row: e.row, snapshot: plane(e.snapshot) }),
  end: (e) => ({ kind: "end", rows: e.rows, finished: e.finished }),
};

function read(pieces) {
  const decoder = new FrameDecoder();
  const events = pieces.flatMap((piece) => decoder.feed(piece));
  decoder.close();
  return events.map((event) => TELL[event.kind](event));
}

const whole = (frames) => [bytesOf(frames.join(""))];
const byteByByte = (frames) => [...bytesOf(frames.join(""))].map((byte) => Uint8Array.of(byte));

assert(good.length >= 11 && bad.length >= 60);

for (const { name, frames, events } of good) {
  test(`good: ${name}`, () => {
    assert.deepEqual(read(whole(frames)), events);
    assert.deepEqual(read(byteByByte(frames)), events);
  });

  test(`cut short anywhere: ${name}`, () => {
    const bytes = bytesOf(frames.join(""));
    for (let size = 0; size < bytes.length; size++) {
      assert.throws(() => read([bytes.subarray(0, size)]), { name: "CutShortError" });
    }
  });

  test(`its spec is written as it was read: ${name}`, () => {
    const spec = specOfJson(events[0].spec);
    assert(frames[0].includes(hexOf(pack(mapOfSpec(spec)))));
  });
}

for (const { name, frames, error } of bad) {
  test(`bad: ${name}`, () => {
    assert.throws(() => read(whole(frames)), { name: error });
    assert.throws(() => read(byteByByte(frames)), { name: error });
  });
}

test("a damaged byte is seen wherever it is", () => {
  const bytes = bytesOf(good[0].frames.join(""));
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] ^= 1;
    assert.throws(() => read([damaged]), /./);
  }
});

test("the checksum of zlib", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
});
