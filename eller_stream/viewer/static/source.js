// The rows of one maze, from the server: a conversation of docs/PROTOCOL.md over a WebSocket.
//
// The bytes of the conversation go through the socket's messages as through any stream: where a message ends means
// nothing. A page says which rows it wants (`want`); those that follow what it is being sent only need more room, for
// others it jumps. The server sends no frame that begins behind the room told, so what comes is what was wanted and at
// most one frame more. A connection that the server has given up (`idle`, `closing`) is made again at the next want.

import { FormatError } from "./errors.js";
import { FrameDecoder } from "./frames.js";
import { PacketDecoder, VERSION, decode, encode, isFrame } from "./protocol.js";
import { MAX_ROW, mapOfSpec } from "./spec.js";

const MOST_PACKET = 64 * 2 ** 20;
const FRAMES_AHEAD = 2;
const PASSING = ["idle", "closing", "busy"];
const [PAUSE, LONGEST_PAUSE] = [500, 8000];

export class Source {
  /**
   * `spec` null asks for the file that the server offers; `first` is the first row there is. `hooks` are told what comes: `header(header)`, `rows(block)`,
   * `height(rows)` when it is known, `lost(reason)` (null: for being idle) and `again()` when a
   * lost connection may be made anew, `failed(reason)`.
   */
  constructor(url, spec, first, hooks) {
    this.url = url;
    this.spec = spec;
    this.firstRow = first;
    this.hooks = hooks;
    this.closed = false;
    this.retryAt = 0;
    this.pause = PAUSE;
    this.forget();
  }

  /** Ask for the rows `start` to `stop - 1`, which are not held. Asking again for what is on its way costs nothing. */
  want(start, stop) {
    if (this.closed || (!this.socket && Date.now() < this.retryAt)) return;
    const first = start - (start % (this.rowsPerFrame ?? 1));
    const ahead = this.rowsPerFrame === null ? 0 : FRAMES_AHEAD * this.rowsPerFrame;
    if (!this.socket) this.connect(start, stop);
    else if (this.ended || start < this.next || first > this.next + ahead) this.jump(Math.max(first, this.firstRow), stop);
    else if (stop > this.room) this.tellRoom(stop);
  }

  /** End the conversation for good. */
  close() {
    this.closed = true;
    this.hangUp();
  }

  forget() {
    this.socket = null;
    this.number = 0;
    this.answer = null;
    this.frames = null;
    this.rowsPerFrame = null;
    this.next = this.room = 0;
    this.ended = false;
  }

  hangUp() {
    const { socket } = this;
    this.forget();
    socket?.close();
  }

  connect(start, stop) {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.packets = new PacketDecoder(MOST_PACKET);
    this.out = [encode("eller-net", VERSION, null)];
    socket.onopen = () => this.flush();
    socket.onmessage = ({ data }) => socket === this.socket && this.receive(new Uint8Array(data));
    socket.onclose = () => socket === this.socket && this.lost("The connection to the server is lost.");
    this.ask(start, stop, "open", this.spec && mapOfSpec(this.spec), start, null);
  }

  jump(row, stop) {
    this.ask(row, stop, "jump", row);
  }

  ask(row, stop, kind, ...fields) {
    this.number++;
    this.frames = null;
    this.next = row;
    this.ended = false;
    this.say(kind, this.number, ...fields);
    this.tellRoom(stop);
  }

  tellRoom(stop) {
    this.room = Math.min(stop, MAX_ROW);
    this.say("more", this.room);
  }

  say(...message) {
    this.out.push(encode(...message));
    this.flush();
  }

  flush() {
    if (this.socket.readyState === WebSocket.OPEN) for (const packet of this.out.splice(0)) this.socket.send(packet);
  }

  receive(data) {
    try {
      for (const content of this.packets.feed(data)) {
        if (!isFrame(content)) this.hear(...decode(content));
        else if (this.frames) this.frames.feed(content).forEach((event) => this.take(event));
      }
    } catch (error) {
      this.fail(`what the server sent is not understood: ${error.message}`);
    }
  }

  hear(kind, ...fields) {
    if (kind === "refused") this.refused(...fields);
    if (kind !== "answer" || fields[0] !== this.number) return;
    const [, row, height] = fields;
    this.frames = new FrameDecoder();
    this.next = row;
    if (height !== null) this.hooks.height(height);
  }

  take(event) {
    if (event.kind === "header") this.takeHeader(event);
    if (event.kind === "rows") {
      this.pause = PAUSE;
      this.next = event.block.start + event.block.count;
      this.hooks.rows(event.block);
    }
    if (event.kind === "end") {
      this.ended = true;
      this.hooks.height(this.next);
    }
  }

  takeHeader(header) {
    const came = this.spec && [...mapOfSpec(header.spec)].join();
    if (this.spec && came !== [...mapOfSpec(this.spec)].join()) throw new FormatError("another maze was asked for");
    this.rowsPerFrame = header.rowsPerFrame;
    this.hooks.header(header);
  }

  refused(word, reason) {
    if (PASSING.includes(word)) this.lost(word === "idle" ? null : reason);
    else this.fail(reason);
  }

  /** The connection has gone; it may be made again at the next want, after a pause that grows. */
  lost(reason) {
    this.hangUp();
    this.retryAt = Date.now() + this.pause;
    setTimeout(this.hooks.again, this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    this.hooks.lost(reason);
  }

  fail(reason) {
    this.close();
    this.hooks.failed(reason);
  }
}
