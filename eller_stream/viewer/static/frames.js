// Maze bytes to events: docs/FORMAT.md, version 1, as the library's `FrameDecoder` reads them.
//
// It holds the bytes of at most one frame that is not whole. What a length field says is compared with the bound, and
// with what the header makes of it, before a byte is waited for. Only FormatError and its kin come out.

import { part, rowBytes } from "./block.js";
import { crc32 } from "./crc.js";
import { CutShortError, FormatError, VersionError } from "./errors.js";
import { NeedMore, Reader } from "./msgpack.js";
import { MAX_ROW, specOfMap } from "./spec.js";

const VERSION = 1;
const MAGIC = [0xac, ...new TextEncoder().encode("eller-stream")];
const BEGINNING = [0x97, ...MAGIC, VERSION];
const KINDS = { rows: [0x99, 0xa4], checkpoint: [0x94, 0xaa], end: [0x94, 0xa3] };
const MAX_HEADER = 2 ** 16;
const MAX_FRAME = 64 * 2 ** 20;
const MOST_PLANE = 2 ** 32 - 1;
const SMALLEST = 20;
const ROWS_HEAD = 21;
const CHECKPOINT_HEAD = 26;
const SEAL = 5;
const BIN_HEAD = 5;

for (const [kind, head] of Object.entries(KINDS)) head.push(...new TextEncoder().encode(kind));

/** Return the bytes of a frame of `count` rows. */
export function rowsFrameSize(width, count, floor) {
  const plane = BIN_HEAD + count * rowBytes(width);
  return ROWS_HEAD + BIN_HEAD + rowBytes(width) + 2 * plane + (floor ? plane : 1) + SEAL;
}

/**
 * Turns bytes into events: {kind: "header", spec, rowsPerFrame, checkpointEvery, firstRow}, {kind: "rows", block, last},
 * {kind: "checkpoint", row, snapshot}, {kind: "end", rows, finished}. `maxFrame` bounds a frame, in bytes.
 */
export class FrameDecoder {
  constructor(maxFrame = null) {
    this.header = null;
    this.end = null;
    this.row = 0;
    this.maxFrame = maxFrame;
    this.bytes = new Uint8Array(0);
    this.floor = null;
    this.snapshotSize = null;
    this.behindCheckpoint = this.onlyLastRow = this.last = false;
  }

  /** Take bytes, and return the events that are whole by now. */
  feed(data) {
    const bytes = new Uint8Array(this.bytes.length + data.length);
    bytes.set(this.bytes);
    bytes.set(data, this.bytes.length);
    this.bytes = bytes;
    const events = [];
    for (let event = this.next(); event; event = this.next()) events.push(event);
    return events;
  }

  /** Tell that no more bytes will come; CutShortError unless the end frame came. */
  close() {
    if (this.end) return;
    if (!this.header) checkBeginning(this.bytes);
    else if (this.bytes.length) kindOf(this.bytes);
    throw new CutShortError(`cut short behind row ${this.row}`);
  }

  next() {
    if (this.end && this.bytes.length) throw new FormatError("bytes came behind the end frame");
    if (!this.bytes.length) return null;
    if (!this.header) return this.nextHeader();
    if (this.bytes.length < SMALLEST) return kindOf(this.bytes) && null;
    const kind = kindOf(this.bytes);
    return kind === "rows" ? this.nextRows() : kind === "checkpoint" ? this.nextCheckpoint() : this.nextEnd();
  }

  take(size) {
    const frame = this.bytes.subarray(0, size);
    this.bytes = this.bytes.subarray(size);
    checkSeal(frame);
    return frame;
  }

  nextHeader() {
    if (this.bytes.length < BEGINNING.length) return null;
    checkBeginning(this.bytes);
    const reader = new Reader(this.bytes.subarray(0, MAX_HEADER), BEGINNING.length);
    let fields;
    try {
      fields = [reader.value(), reader.fixed(4), reader.fixed(4), reader.fixed(8), reader.fixed(4)];
    } catch (error) {
      if (!(error instanceof NeedMore)) throw error;
      if (this.bytes.length >= MAX_HEADER) throw new FormatError(`header: longer than ${MAX_HEADER} bytes`);
      return null;
    }
    this.take(reader.at);
    const [spec, rowsPerFrame, checkpointEvery, firstRow] = [specOfMap(fields[0]), ...fields.slice(1)];
    if (rowsPerFrame < 1 || firstRow > (spec.height ?? MAX_ROW)) throw new FormatError("header: no such rows");
    this.header = { kind: "header", spec, rowsPerFrame, checkpointEvery, firstRow };
    this.row = firstRow;
    this.checkFrame(rowsPerFrame, false);
    return this.header;
  }

  checkFrame(count, floor) {
    const { width } = this.header.spec;
    const size = rowsFrameSize(width, count, floor);
    const most = this.maxFrame ?? Math.max(MAX_FRAME, rowsFrameSize(width, 1, true));
    if (size > most || count * rowBytes(width) > MOST_PLANE) {
      throw new FormatError(`a frame of ${count} rows has ${size} bytes, at most ${most} are taken`);
    }
  }

  nextRows() {
    const reader = new Reader(this.bytes, KINDS.rows.length);
    const [start, count] = [reader.fixed(8), reader.fixed(4)];
    this.checkRows(start, count);
    const floor = this.floor ?? this.firstFloor(count);
    if (floor === null) return null;
    const size = rowsFrameSize(this.header.spec.width, count, floor);
    if (this.bytes.length < size) return null;
    const event = rowsOf(this.take(size), this.header.spec.width, start, count, floor);
    this.checkLast(event);
    this.floor = floor;
    this.last = event.last;
    this.behindCheckpoint = false;
    this.row = start + count;
    return event;
  }

  firstFloor(count) {
    this.checkFrame(count, false);
    const without = rowsFrameSize(this.header.spec.width, count, false);
    if (this.bytes.length < without) return null;
    const floor = this.bytes[without - SEAL - 1] === 0xc6;
    this.checkFrame(count, floor);
    return floor;
  }

  checkRows(start, count) {
    const { spec, rowsPerFrame } = this.header;
    const due = rowsPerFrame - (this.row % rowsPerFrame);
    this.checkOpen();
    if (start !== this.row) throw new FormatError(`row ${this.row} was expected, the frame begins at row ${start}`);
    if (this.checkpointDue() && !this.behindCheckpoint) throw new FormatError(`no checkpoint before row ${start}`);
    if (count < 1 || count > due) throw new FormatError(`${count} rows came, from 1 to ${due} were expected`);
    if (start + count > (spec.height ?? MAX_ROW)) throw new FormatError("rows came beyond the maze's height");
  }

  checkOpen() {
    const { rowsPerFrame, firstRow } = this.header;
    const full = this.row % rowsPerFrame === 0 || this.row === firstRow;
    if (this.last || !full) throw new FormatError(`only the end frame may follow before row ${this.row}`);
  }

  checkpointDue() {
    const { checkpointEvery, rowsPerFrame, firstRow } = this.header;
    return checkpointEvery > 0 && this.row !== firstRow && this.row % (rowsPerFrame * checkpointEvery) === 0;
  }

  checkLast({ block, last }) {
    const ends = part(block, block.count - 1, block.count).south.every((byte) => byte === 0);
    if (last !== ends && (last || block.floor === null)) {
      throw new FormatError(`last is ${last}, and the final row opens ${ends ? "nothing" : "passages"} south`);
    }
    if (this.row + block.count === this.header.spec.height && !last) throw new FormatError("the last row is not told");
    if (this.onlyLastRow && !(last && block.count === 1)) throw new FormatError("a snapshot of another size came before");
  }

  nextCheckpoint() {
    if (this.behindCheckpoint || !this.checkpointDue()) throw new FormatError(`no checkpoint was due at row ${this.row}`);
    this.checkOpen();
    if (this.bytes.length < CHECKPOINT_HEAD) return null;
    const reader = new Reader(this.bytes, KINDS.checkpoint.length);
    const row = reader.fixed(8);
    if (this.bytes[reader.at] !== 0xc6) throw new FormatError("a snapshot is a bin");
    reader.at++;
    const length = reader.unsigned(4);
    const most = this.maxFrame ?? Math.max(MAX_FRAME, rowsFrameSize(this.header.spec.width, 1, true));
    const size = CHECKPOINT_HEAD + length + SEAL;
    if (size > most) throw new FormatError(`a checkpoint has ${size} bytes, at most ${most} are taken`);
    if (this.bytes.length < size) return null;
    const snapshot = this.take(size).slice(CHECKPOINT_HEAD, CHECKPOINT_HEAD + length);
    if (row !== this.row) throw new FormatError(`a checkpoint of row ${row} came at row ${this.row}`);
    this.snapshotSize ??= length;
    this.onlyLastRow = length !== this.snapshotSize;
    this.behindCheckpoint = true;
    return { kind: "checkpoint", row, snapshot };
  }

  nextEnd() {
    const reader = new Reader(this.take(SMALLEST), KINDS.end.length);
    const [rows, finished] = [reader.fixed(8), reader.value()];
    const came = this.row - this.header.firstRow;
    if (this.behindCheckpoint || rows !== came || finished !== this.last) {
      throw new FormatError(`the end tells ${rows} rows, finished ${finished}; ${came} came, finished ${this.last}`);
    }
    this.end = { kind: "end", rows, finished };
    return this.end;
  }
}

function checkBeginning(bytes) {
  if (!bytes.length) return;
  const isMaze = bytes[0] >= 0x90 && bytes[0] < 0xa0 && MAGIC.every((byte, i) => (bytes[1 + i] ?? byte) === byte);
  const version = bytes[BEGINNING.length - 1] ?? VERSION;
  if (!isMaze || version > 127) throw new FormatError("not a maze");
  if (version > VERSION) throw new VersionError(`version ${version} came, this page reads version ${VERSION}`);
  if (version < VERSION || bytes[0] !== BEGINNING[0]) throw new FormatError("header: another beginning was expected");
}

function kindOf(bytes) {
  for (const [kind, head] of Object.entries(KINDS)) {
    if (head.every((byte, i) => (bytes[i] ?? byte) === byte)) return kind;
  }
  throw new FormatError("a frame of an unknown kind");
}

function checkSeal(frame) {
  const end = frame.length - SEAL;
  if (new Reader(frame, end).fixed(4) !== crc32(frame.subarray(0, end))) throw new FormatError("the checksum does not fit");
}

function rowsOf(frame, width, start, count, floor) {
  const reader = new Reader(frame, ROWS_HEAD - 1);
  const last = reader.value();
  if (typeof last !== "boolean") throw new FormatError("last is true or false");
  const size = rowBytes(width);
  const planes = [size, count * size, count * size].map((length) => planeOf(reader, length, width));
  const ground = floor ? planeOf(reader, count * size, width) : reader.value();
  if (!floor && ground !== null) throw new FormatError("floor is nil or a plane");
  const [north, east, south] = planes;
  if (start === 0 && north.some((byte) => byte)) throw new FormatError("there is no row above row 0");
  return { kind: "rows", block: { start, count, width, east, south, north, floor: ground }, last };
}

function planeOf(reader, length, width) {
  if (reader.bytes[reader.at] !== 0xc6) throw new FormatError("a plane is a bin");
  reader.at++;
  if (reader.unsigned(4) !== length) throw new FormatError(`a plane has ${length} bytes`);
  const at = reader.take(length);
  const plane = reader.bytes.subarray(at, at + length);
  const spare = width % 8 ? 0xff << width % 8 : 0;
  for (let i = rowBytes(width) - 1; i < length; i += rowBytes(width)) {
    if (plane[i] & spare) throw new FormatError("spare bits are 0");
  }
  return plane;
}
