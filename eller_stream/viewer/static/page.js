// The page: one maze on a canvas, and what is done with it. What is seen is drawn anew, once a frame, after any change.

import { ask } from "./ask.js";
import { rowBytes } from "./block.js";
import { drawnSeed, fillForm, listenToButtons, listenToForm } from "./controls.js";
import { listen } from "./input.js";
import { fragmentOf, readFragment } from "./link.js";
import { Path } from "./path.js";
import { Player } from "./player.js";
import { save } from "./save.js";
import { Screen } from "./screen.js";
import { Sets } from "./sets.js";
import { Source } from "./source.js";
import { MAX_ROW, specOfJson } from "./spec.js";
import { svgOf } from "./svg.js";
import { Window } from "./window.js";

const MOST_BYTES_AHEAD = 16 * 2 ** 20;
const SOCKET = `ws://${location.host}/socket`;

const byId = (id) => document.getElementById(id);
const told = (number) => number.toLocaleString("en-US");

export class Page {
  constructor() {
    this.canvas = byId("maze");
    this.screen = new Screen(this.canvas);
    this.view = this.screen.view;
    this.drawing = false;
    this.offered = null;
    this.spec = null;
    this.player = new Player({
      start: () => this.view.row,
      end: () => this.view.stop ?? MAX_ROW,
      stepped: (limit) => this.keepInSight(limit),
      playing: (isPlaying) => this.showPlaying(isPlaying),
    });
    this.listen();
  }

  /** Show what the address says, or else what the server offers first. */
  async begin() {
    this.offered = await ask("maze", {});
    this.showFragment();
  }

  showFragment() {
    try {
      const linked = readFragment(location.hash);
      if (linked) this.show(linked.spec, linked.row);
      else this.showOffered();
    } catch (error) {
      this.showOffered();
      this.say(error.message);
    }
  }

  showOffered() {
    const { spec, file, first, stop } = this.offered;
    this.show(specOfJson(spec), first, file === null ? null : { file, first, stop });
  }

  // ---- the maze -------------------------------------------------------------------------------

  /** Show a maze from a row on; `offered` tells of the server's file, if it is that. */
  show(spec, row = 0, offered = null) {
    this.source?.close();
    this.player.leave();
    [this.spec, this.file] = [spec, offered];
    Object.assign(this.view, { columns: spec.width, first: offered?.first ?? 0, stop: offered?.stop ?? spec.height });
    this.rows = new Window(1);
    this.rowsPerFrame = 1;
    this.isNew = true;
    this.isLost = false;
    this.source = new Source(SOCKET, offered ? null : spec, this.view.first, {
      header: (header) => this.frameSize(header.rowsPerFrame),
      rows: (block) => this.take(block),
      height: (rows) => this.end(rows),
      lost: (reason) => this.lost(reason),
      again: () => this.changed(),
      failed: (reason) => this.say(reason),
    });
    this.sets = null;
    this.path = new Path(offered ? null : spec, { changed: () => this.changed(), tell: (text) => this.tellPath(text) });
    byId("sets").disabled = byId("play").disabled = byId("step").disabled = spec.algorithm !== "eller";
    this.setSets(byId("sets").checked && spec.algorithm === "eller");
    fillForm(spec);
    this.view.goTo(row);
    this.say("");
  }

  /** Show a maze, and put it into the address, so that it is there again when the page is loaded anew. */
  showNew(spec) {
    history.replaceState(null, "", `#${fragmentOf(spec, 0)}`);
    this.show(spec);
  }

  frameSize(rows) {
    this.rowsPerFrame = rows;
    this.changed();
  }

  take(block) {
    const [first, stop] = this.view.rows;
    this.rows.capacity = this.capacity;
    this.rows.add(block, [first, Math.max(stop, first + 1)]);
    if (this.isNew && block.floor && first === this.view.first) this.leaveRock(block, stop);
    this.isNew = false;
    if (this.isLost) this.say("");
    this.isLost = false;
    this.changed();
  }

  lost(reason) {
    this.isLost = true;
    this.say(reason ?? "");
  }

  /** A map may begin with rows of solid rock: show the first row with ground, if none is seen. */
  leaveRock(block, stop) {
    const ground = block.start + Math.floor(block.floor.findIndex((byte) => byte) / rowBytes(block.width));
    if (ground >= stop) this.view.goTo(ground - 2);
  }

  end(rows) {
    this.view.stop = rows;
    this.view.clamp();
    this.changed();
  }

  /** Rows that are asked for above and below those seen. */
  get ahead() {
    const most = Math.floor(MOST_BYTES_AHEAD / (2 * rowBytes(this.spec.width)));
    return Math.max(1, Math.min(this.view.rowsSeen, most));
  }

  /** The most rows that are held: those seen, those ahead, and the frames they come in. */
  get capacity() {
    return this.view.rowsSeen + 2 * this.ahead + 2 * this.rowsPerFrame;
  }

  /** Ask for what is seen and not there; if all of it is, for what may be seen next. */
  askForRows() {
    const [first, stop] = this.view.rows;
    const { ahead } = this;
    const low = Math.max(this.view.first, first - ahead);
    const high = Math.min(stop + ahead, this.view.stop ?? Infinity);
    const above = Math.max(this.view.first, first - 1);
    const gap = [[above, stop], [stop, high], [low, above]]
      .flatMap(([from, to]) => this.rows.missing(from, to - from))
      .find(([from, to]) => to > from);
    if (gap) this.source.want(...gap);
  }

  // ---- what is seen -----------------------------------------------------------------------------

  changed() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.drawing = false;
    if (!this.spec) return;
    const [first, stop] = this.view.rows;
    const limit = this.player.limit ?? Infinity;
    this.screen.draw(this.rows, this.sets, this.path, limit);
    this.tell();
    this.askForRows();
    this.sets?.need(first, Math.min(stop, limit));
  }

  tell() {
    const { view, spec } = this;
    const [first, stop] = view.rows;
    const last = Math.min(stop, first + Math.floor(view.size[1] / view.cell)) - 1;
    const height = view.stop === null ? "endless" : `of ${told(view.stop)}`;
    const what = `${this.file ? `${this.file.file}, ` : ""}${spec.algorithm}, ${told(spec.width)} wide, seed ${spec.seed}`;
    byId("status").textContent = `Rows ${told(first)} to ${told(last)}, ${height}. ${what}`;
    if (document.activeElement !== byId("row")) byId("row").value = told(first);
    byId("zoom").value = this.screen.zoom;
  }

  say(text) {
    byId("said").textContent = text;
    this.changed();
  }

  tellPath(text) {
    byId("path-text").textContent = text;
  }

  // ---- moving about -----------------------------------------------------------------------------

  resize() {
    this.screen.resize();
    this.changed();
  }

  scroll(dx, dy) {
    this.view.scrollBy(dx, dy);
    this.changed();
  }

  goTo(row) {
    this.player.leave();
    this.view.goTo(row);
    this.changed();
  }

  zoomTo(cell, x, y) {
    this.screen.zoomTo(cell, x, y);
    this.changed();
  }

  jump(text) {
    const digits = text.replace(/[\s,._']/g, "");
    const row = Number(digits);
    const last = (this.view.stop ?? MAX_ROW) - 1;
    if (!/^[0-9]+$/.test(digits) || row < this.view.first || row > last) {
      this.say(`A row is a whole number from ${told(this.view.first)} to ${told(last)}.`);
    } else {
      this.say("");
      this.goTo(row);
      this.canvas.focus();
    }
  }

  press(key) {
    const { view } = this;
    const page = Math.max(view.cell, view.size[1] - 2 * view.cell);
    const moves = { up: [0, -3], down: [0, 3], left: [-3, 0], right: [3, 0] };
    if (moves[key]) return this.scroll(...moves[key].map((cells) => cells * view.cell));
    const actions = {
      pageUp: () => this.scroll(0, -page),
      pageDown: () => this.scroll(0, page),
      first: () => this.goTo(view.first),
      last: () => view.stop !== null && this.goTo(view.stop),
      zoomIn: () => this.zoomTo(this.screen.zoom * 1.25 + 0.5),
      zoomOut: () => this.zoomTo(this.screen.zoom / 1.25 - 0.5),
      new: () => this.another(),
      play: () => this.togglePlay(),
      step: () => this.stepOnce(),
      mark: () => this.click(view.size[0] / 2, view.size[1] / 2),
    };
    return actions[key]();
  }

  // ---- sets, path, link, files ------------------------------------------------------------------

  setSets(wanted) {
    byId("sets").checked = wanted;
    this.sets = !wanted
      ? null
      : new Sets(this.spec, this.screen.colours.sets, {
          changed: () => this.changed(),
          failed: (reason) => this.say(reason),
        });
    if (!wanted) this.player.leave();
    this.changed();
  }

  togglePlay() {
    if (this.spec.algorithm !== "eller") return;
    if (!this.sets) this.setSets(true);
    if (this.player.playing) this.player.pause();
    else this.player.play();
  }

  stepOnce() {
    if (this.spec.algorithm !== "eller") return;
    if (!this.sets) this.setSets(true);
    this.player.pause();
    this.player.step();
  }

  showPlaying(isPlaying) {
    byId("play").textContent = isPlaying ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(isPlaying));
  }

  /** A row more is drawn, up to `limit`: keep it in sight. */
  keepInSight(limit) {
    const { view } = this;
    const below = view.y(limit) - Math.round(view.size[1] * 0.8);
    if (below > 0) view.scrollBy(0, below);
    this.changed();
  }

  click(x, y) {
    const cell = this.view.cellAt(x, y);
    if (cell) this.path.mark(cell);
  }

  another() {
    this.showNew({ ...this.spec, seed: drawnSeed() });
  }

  async share() {
    history.replaceState(null, "", `#${fragmentOf(this.spec, this.view.row)}`);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is copied, and in the address bar.");
    } catch {
      this.say("The link is in the address bar.");
    }
  }

  get fileName() {
    return `maze-${this.spec.algorithm}-${this.spec.width}-${this.spec.seed}-row-${this.view.row}`;
  }

  saveSvg() {
    const tint = (row) => {
      const pixels = this.sets?.tint(row);
      return pixels && Array.from(pixels, cssOf);
    };
    const rows = [this.view.row, Math.min(this.view.rows[1], this.player.limit ?? Infinity)];
    const text = svgOf(this.rows, rows, this.spec.width, this.screen.colours.css, tint, this.path.cells);
    save(new Blob([text], { type: "image/svg+xml" }), `${this.fileName}.svg`);
  }

  // ---- events -----------------------------------------------------------------------------------

  listen() {
    listen(this.canvas, {
      scroll: (dx, dy) => this.scroll(dx, dy),
      zoom: (factor, x, y) => this.zoomTo(this.screen.zoom * factor, x, y),
      click: (x, y) => this.click(x, y),
      key: (name) => this.press(name),
    });
    listenToForm((spec) => this.showNew(spec));
    listenToButtons({
      new: () => this.another(),
      share: () => this.share(),
      png: () => this.screen.savePng(`${this.fileName}.png`),
      svg: () => this.saveSvg(),
      play: () => this.togglePlay(),
      step: () => this.stepOnce(),
      clear: () => this.path.clear(),
      options: () => this.togglePanel(),
      "zoom-in": () => this.press("zoomIn"),
      "zoom-out": () => this.press("zoomOut"),
    });
    byId("jump").addEventListener("submit", (event) => {
      event.preventDefault();
      this.jump(byId("row").value);
    });
    byId("zoom").addEventListener("input", (event) => this.zoomTo(Number(event.target.value)));
    byId("speed").addEventListener("input", (event) => (this.player.perSecond = Number(event.target.value)));
    byId("sets").addEventListener("change", (event) => this.setSets(event.target.checked));
    addEventListener("hashchange", () => this.showFragment());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  togglePanel() {
    byId("panel").hidden = !byId("panel").hidden;
    byId("options").setAttribute("aria-expanded", String(!byId("panel").hidden));
  }

  recolour() {
    this.screen.recolour();
    if (this.sets) this.setSets(true);
    this.changed();
  }
}

function cssOf(pixel) {
  const [red, green, blue] = [pixel & 0xff, (pixel >> 8) & 0xff, (pixel >> 16) & 0xff];
  return `#${[red, green, blue].map((n) => n.toString(16).padStart(2, "0")).join("")}`;
}

export const page = new Page();
page.resize();
await page.begin();
