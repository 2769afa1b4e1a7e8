// The part of msgpack that mazes and messages are made of: nil, booleans, integers from 0, texts, arrays, maps.
//
// Each value has one encoding, the shortest. The reader refuses any other, so what it has read need not be encoded again
// to see that it is in that form. (Bins stand at places of their own, see frames.js.) Integers above 2**53 - 1 are BigInts, all others Numbers;
// a map becomes a Map, in the order of its keys.

import { FormatError } from "./errors.js";

const UTF8 = new TextDecoder("utf-8", { fatal: true });
const DEEPEST = 8;

/** Some bytes more are needed before the value is whole. */
export class NeedMore extends Error {}

/** Reads values from bytes, one after another, from `at` on. Throws NeedMore where they end, FormatError for others. */
export class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  take(size) {
    if (this.at + size > this.bytes.length) throw new NeedMore();
    this.at += size;
    return this.at - size;
  }

  /** Return the integer of a field whose width is fixed: `size` is 4 (head ce) or 8 (head cf). */
  fixed(size) {
    const head = this.bytes[this.take(1)];
    if (head !== (size === 4 ? 0xce : 0xcf)) throw new FormatError(`an integer of ${size} bytes was expected`);
    return this.unsigned(size);
  }

  unsigned(size) {
    const at = this.take(size);
    if (size === 1) return this.bytes[at];
    if (size === 2) return this.view.getUint16(at);
    if (size === 4) return this.view.getUint32(at);
    const large = this.view.getBigUint64(at);
    return large <= Number.MAX_SAFE_INTEGER ? Number(large) : large;
  }

  value(depth = 0) {
    if (depth > DEEPEST) throw new FormatError("values are nested too deeply");
    const head = this.bytes[this.take(1)];
    if (head < 0x80) return head;
    if (head < 0x90) return this.map(head & 0x0f, depth);
    if (head < 0xa0) return this.array(head & 0x0f, depth);
    if (head < 0xc0) return this.text(head & 0x1f);
    if (head === 0xc0) return null;
    if (head === 0xc2 || head === 0xc3) return head === 0xc3;
    if (head >= 0xcc && head <= 0xcf) return this.integer(1 << (head - 0xcc));
    if (head === 0xd9) return this.text(this.shortest(1, 32));
    if (head === 0xda) return this.text(this.shortest(2, 256));
    if (head === 0xdc) return this.array(this.shortest(2, 16), depth);
    throw new FormatError(`no value of a maze begins with byte ${head}`);
  }

  integer(size) {
    return this.shortest(size, size === 1 ? 128 : size === 2 ? 2 ** 8 : size === 4 ? 2 ** 16 : 2 ** 32);
  }

  shortest(size, least) {
    const number = this.unsigned(size);
    if (number < least) throw new FormatError(`${number} is written in ${size} bytes, and fits in fewer`);
    return number;
  }

  text(length) {
    const at = this.take(length);
    try {
      return UTF8.decode(this.bytes.subarray(at, at + length));
    } catch {
      throw new FormatError("a text is no UTF-8");
    }
  }

  array(length, depth) {
    return Array.from({ length }, () => this.value(depth + 1));
  }

  map(length, depth) {
    const map = new Map();
    for (let i = 0; i < length; i++) map.set(this.value(depth + 1), this.value(depth + 1));
    if (map.size !== length) throw new FormatError("a map has a key twice");
    return map;
  }
}

/** Return a value's bytes: null, a boolean, an integer >= 0, a BigInt, a text, an array or a Map. */
export function pack(value) {
  const bytes = [];
  put(bytes, value);
  return Uint8Array.from(bytes);
}

function put(bytes, value) {
  if (value === null) bytes.push(0xc0);
  else if (typeof value === "boolean") bytes.push(value ? 0xc3 : 0xc2);
  else if (typeof value === "number" || typeof value === "bigint") putInteger(bytes, BigInt(value));
  else if (typeof value === "string") putText(bytes, new TextEncoder().encode(value));
  else if (value instanceof Map) putMap(bytes, value);
  else putArray(bytes, value);
}

function putInteger(bytes, value) {
  if (value < 0n || value >= 1n << 64n) throw new RangeError(`integers are from 0 to 2**64 - 1, not ${value}`);
  if (value < 128n) return bytes.push(Number(value));
  const size = value < 1n << 8n ? 1 : value < 1n << 16n ? 2 : value < 1n << 32n ? 4 : 8;
  return bytes.push(0xcc + Math.log2(size), ...bigEndian(value, size));
}

function putText(bytes, text) {
  if (text.length < 32) bytes.push(0xa0 + text.length, ...text);
  else if (text.length < 256) bytes.push(0xd9, text.length, ...text);
  else bytes.push(0xda, ...bigEndian(BigInt(text.length), 2), ...text);
}

function putArray(bytes, values) {
  if (values.length < 16) bytes.push(0x90 + values.length);
  else bytes.push(0xdc, ...bigEndian(BigInt(values.length), 2));
  for (const value of values) put(bytes, value);
}

function putMap(bytes, map) {
  if (map.size > 15) throw new RangeError(`a map has up to 15 keys, not ${map.size}`);
  bytes.push(0x80 + map.size);
  for (const [key, value] of map) {
    put(bytes, key);
    put(bytes, value);
  }
}

function bigEndian(value, size) {
  return Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * (size - 1 - i))) & 0xffn));
}
