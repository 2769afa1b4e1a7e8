// What is said over the socket, docs/PROTOCOL.md: packets, and the messages that a page says and hears.

import { crc32 } from "./crc.js";
import { FormatError } from "./errors.js";
import { NeedMore, Reader, pack } from "./msgpack.js";
import { MAX_ROW } from "./spec.js";

export const VERSION = 1;
const HEAD = 5;

const isNumber = (value) => Number.isSafeInteger(value) && value < 2 ** 32;
const isRow = (value) => Number.isSafeInteger(value) && value <= MAX_ROW;
const isText = (most) => (value) => typeof value === "string" && [...value].length <= most;
const FIELDS = {
  welcome: [isNumber],
  answer: [isNumber, isRow, (value) => value === null || isRow(value)],
  wait: [isRow],
  refused: [isText(32), isText(500)],
};
const FRAME_HEADS = [0x97ac, 0x99a4, 0x94a3]; // arrays of 7, 9 and 4 that begin with a text of 12, 4 and 3 bytes

/** Return a message's packet: its kind and its fields, closed by a checksum. */
export function encode(kind, ...fields) {
  const values = [kind, ...fields].map(pack);
  const content = joined([Uint8Array.of(0x91 + values.length), ...values]);
  return joined([wide(0xc6, content.length + HEAD), content, wide(0xce, crc32(content))]);
}

/** Return whether a packet's content is a frame of a maze, and no message. */
export const isFrame = (content) => FRAME_HEADS.includes(content[0] * 256 + content[1]);

/** Return the message of the server that is a packet's content, as [kind, ...fields]; FormatError if it is none. */
export function decode(content) {
  const end = content.length - HEAD;
  const reader = new Reader(content);
  let values;
  let crc;
  try {
    const count = reader.bytes[reader.take(1)] - 0x91;
    values = Array.from({ length: Math.max(0, Math.min(count, 8)) }, () => reader.value());
    if (reader.at === end) crc = reader.fixed(4);
  } catch (error) {
    throw error instanceof NeedMore ? new FormatError("a message ends too early") : error;
  }
  if (crc !== crc32(content.subarray(0, Math.max(end, 0)))) throw new FormatError("a message's checksum does not fit");
  const checks = Object.hasOwn(FIELDS, values[0]) ? FIELDS[values[0]] : [];
  if (checks.length !== values.length - 1 || !checks.every((check, i) => check(values[i + 1]))) {
    throw new FormatError(`no message of a server: ${values[0]}`);
  }
  return values;
}

/** Turns bytes, in whatever pieces they come, into the contents of packets of at most `most` bytes. */
export class PacketDecoder {
  constructor(most) {
    this.most = most;
    this.pieces = [];
    this.length = 0;
  }

  feed(data) {
    this.pieces.push(data);
    this.length += data.length;
    const contents = [];
    while (this.length >= HEAD && this.length >= HEAD + this.size()) contents.push(this.take(HEAD + this.size()));
    return contents;
  }

  /** Return the length that the packet to come says it has. */
  size() {
    if (this.pieces[0].length < HEAD) this.pieces = [joined(this.pieces)];
    const size = new DataView(this.pieces[0].buffer, this.pieces[0].byteOffset).getUint32(1);
    if (this.pieces[0][0] !== 0xc6) throw new FormatError("no packet");
    if (size > this.most) throw new FormatError(`a packet says it has ${size} bytes, at most ${this.most} are taken`);
    return size;
  }

  take(size) {
    const all = this.pieces.length === 1 ? this.pieces[0] : joined(this.pieces);
    this.pieces = size < all.length ? [all.subarray(size)] : [];
    this.length -= size;
    return all.subarray(HEAD, size);
  }
}

/** Return a head and a number in 4 bytes behind it. */
function wide(head, number) {
  return Uint8Array.of(head, number >>> 24, number >>> 16, number >>> 8, number);
}

function joined(pieces) {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
