// Two cells and the path between them: asked for, and drawn over the rows.

import { ask } from "./ask.js";
import { jsonOfSpec } from "./spec.js";

const STEPS = { N: [-1, 0], E: [0, 1], S: [1, 0], W: [0, -1] };

export class Path {
  /** `spec` null is the file's maze. `hooks`: `changed()`, and `tell(text)` for what there is to say. */
  constructor(spec, hooks) {
    this.spec = spec;
    this.hooks = hooks;
    this.clear();
  }

  clear() {
    this.start = this.end = null;
    this.cells = [];
    this.hooks.tell("Click two cells.");
    this.hooks.changed();
  }

  /** Make a cell the start, or the end if there is a start already; a third one begins again. */
  mark(cell) {
    if (!this.start || this.end) {
      this.clear();
      this.start = cell;
      this.hooks.tell(`From row ${told(cell[0])}, column ${cell[1]}. Click the end.`);
    } else {
      this.end = cell;
      this.find(this.start, cell);
    }
    this.hooks.changed();
  }

  async find(start, end) {
    this.hooks.tell("Looking for the path …");
    try {
      const spec = this.spec && jsonOfSpec(this.spec);
      const { moves, rows, only } = await ask("path", { spec, from: start, to: end });
      if (this.start !== start || this.end !== end) return;
      this.cells = cellsOf(start, moves);
      const which = only ? "the only way" : `the shortest within rows ${told(rows[0])} to ${told(rows[1] - 1)}`;
      this.hooks.tell(`${told(moves.length)} steps, ${which}.`);
    } catch (error) {
      if (this.start !== start || this.end !== end) return;
      this.hooks.tell(`No path: ${error.message}.`);
    }
    this.hooks.changed();
  }

  draw(context, view, colours) {
    const place = ([row, column]) => [
      view.left + column * view.cell + (view.cell + view.wall) / 2,
      view.y(row) + (view.cell + view.wall) / 2,
    ];
    this.drawLine(context, view, colours, place);
    const size = Math.max(3, view.cell * 0.28);
    if (this.start) drawCircle(context, ...place(this.start), size, colours.start);
    if (this.end) drawSquare(context, ...place(this.end), size, colours.end);
  }

  drawLine(context, view, colours, place) {
    const [first, stop] = view.rows;
    context.beginPath();
    let drawn = false;
    for (const cell of this.cells) {
      const seen = cell[0] >= first - 1 && cell[0] <= stop;
      if (seen) context[drawn ? "lineTo" : "moveTo"](...place(cell));
      drawn = seen;
    }
    context.strokeStyle = colours.path;
    context.lineWidth = Math.max(1.5, view.cell * 0.22);
    context.lineJoin = context.lineCap = "round";
    context.stroke();
  }
}

const told = (number) => number.toLocaleString("en-US");

function cellsOf(start, moves) {
  const cells = [start];
  for (const letter of moves) {
    const [row, column] = cells.at(-1);
    cells.push([row + STEPS[letter][0], column + STEPS[letter][1]]);
  }
  return cells;
}

function drawCircle(context, x, y, size, colour) {
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
}

function drawSquare(context, x, y, size, colour) {
  context.fillStyle = colour;
  context.fillRect(x - size, y - size, 2 * size, 2 * size);
}
