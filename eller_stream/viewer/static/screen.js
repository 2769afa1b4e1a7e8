// The canvas: what is seen of a maze, drawn from the rows that are held, and the colours it is drawn in.

import { readColours } from "./colours.js";
import { drawRows } from "./draw.js";
import { savePng } from "./save.js";
import { View } from "./view.js";

const [SMALLEST, LARGEST] = [2, 40];
const LABELS_FROM = 20;

export class Screen {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    this.view = new View();
    this.zoom = 16; // pixels a cell, in the units of the style sheet
    this.image = null;
    this.recolour();
  }

  recolour() {
    this.colours = readColours(this.canvas);
  }

  /** Take the size that the page gives the canvas. */
  resize() {
    const sides = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.view.size = sides.map((side) => Math.max(1, Math.round(side * devicePixelRatio)));
    [this.canvas.width, this.canvas.height] = this.view.size;
    this.image = this.context.createImageData(...this.view.size);
    this.view.cell = Math.round(this.zoom * devicePixelRatio);
    this.view.clamp();
  }

  /** Make cells so large, from 2 to 40; what is at the point stays there. */
  zoomTo(cell, x = this.view.size[0] / 2, y = this.view.size[1] / 2) {
    this.zoom = Math.max(SMALLEST, Math.min(cell, LARGEST));
    this.view.zoomTo(Math.round(this.zoom * devicePixelRatio), x, y);
  }

  /** Draw the rows above `limit`, in the colours of their sets if `sets` is not null, and the path over them. */
  draw(rows, sets, path, limit) {
    const pixels = new Uint32Array(this.image.data.buffer);
    drawRows(pixels, this.view, rows, this.colours.pixels, (row) => sets?.tint(row) ?? null, limit);
    this.context.putImageData(this.image, 0, 0);
    if (sets && limit < Infinity) this.drawNumbers(sets.numbers.get(limit - 1), limit - 1);
    path.draw(this.context, this.view, this.colours.css);
  }

  /** Write the set numbers into a row's cells, where there is room. */
  drawNumbers(numbers, row) {
    const { view, context } = this;
    if (view.cell < LABELS_FROM * devicePixelRatio || !numbers) return;
    context.font = `${Math.round(view.cell * 0.42)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = this.colours.css.wall;
    const middle = (view.cell + view.wall) / 2;
    numbers.forEach((n, column) => context.fillText(n, view.left + column * view.cell + middle, view.y(row) + middle));
  }

  /** Save the part of the canvas that shows the maze. */
  savePng(name) {
    const { view } = this;
    const left = Math.max(0, view.left);
    const right = Math.min(view.size[0], view.left + view.columns * view.cell + view.wall);
    const bottom = Math.min(view.size[1], view.y(view.rows[1]) + view.wall);
    savePng(this.canvas, left, right - left, bottom, name);
  }
}
