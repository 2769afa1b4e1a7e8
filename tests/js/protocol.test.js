import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, hexOf, load, vectors } from "./static.js";

const { PacketDecoder, decode, encode, isFrame } = await load("protocol.js");
const { mapOfSpec, specOfJson } = await load("spec.js");
const { messages, bad, conversations } = vectors("protocol-v1.json");

const holdsBin = ({ fields }) => fields.some((field) => field?.bin !== undefined);
const isSpec = (field) => field?.algorithm !== undefined;
const asMap = (spec) => mapOfSpec(specOfJson({ ...spec, seed: String(spec.seed) }));
const contents = (hex) => new PacketDecoder(65536).feed(bytesOf(hex));

for (const message of messages.filter((other) => !holdsBin(other))) {
  const { from, fields, packet } = message;
  test(`${from} says ${fields[0]} ${packet.length}`, () => {
    if (from === "server") assert.deepEqual(decode(contents(packet)[0]), fields);
    else assert.equal(hexOf(encode(...fields.map((field) => (isSpec(field) ? asMap(field) : field)))), packet);
  });
}

test("what a server must not say", () => {
  const said = bad.filter(({ from }) => from === "server");
  assert(said.length >= 2);
  for (const { packet } of said) assert.throws(() => contents(packet).map(decode), { name: "FormatError" });
});

test("packets in any pieces; frames and messages are told apart", () => {
  let frames = 0;
  for (const { turns } of conversations) {
    const hex = turns.flatMap(({ server }) => server).join("");
    const decoder = new PacketDecoder(2 ** 20);
    const bytewise = [...bytesOf(hex)].flatMap((byte) => decoder.feed(Uint8Array.of(byte)));
    assert.deepEqual(bytewise.map(hexOf), new PacketDecoder(2 ** 20).feed(bytesOf(hex)).map(hexOf));
    for (const content of bytewise) {
      if (isFrame(content)) frames++;
      else if (hexOf(content).slice(2, 4) !== "a8") decode(content); // a8: a snapshot, which a page does not ask for
    }
  }
  assert(frames > 5);
});
