// The sets of rows, in colour: asked for a few rows at a time, and kept for the rows around those seen.

import { ask } from "./ask.js";
import { setColour } from "./colours.js";
import { pixelOf } from "./draw.js";
import { jsonOfSpec } from "./spec.js";

const AT_ONCE = 64;
const MOST_NUMBERS = 2 ** 21;

export class Sets {
  /** `hooks.changed()` is told when sets came, `hooks.failed(reason)` when they will not. */
  constructor(spec, shades, hooks) {
    this.spec = spec;
    this.shades = shades;
    this.hooks = hooks;
    this.numbers = new Map();
    this.tints = new Map();
    this.waiting = false;
  }

  /** Return the colours of a row's cells as pixels, null where they have not come. */
  tint(row) {
    const numbers = this.numbers.get(row);
    if (numbers && !this.tints.has(row)) {
      this.tints.set(row, Uint32Array.from(numbers, (number) => pixelOf(setColour(number, this.shades))));
    }
    return this.tints.get(row) ?? null;
  }

  /** Ask for the first of the rows `start` to `stop - 1` that are not there, and some behind them. */
  async need(start, stop) {
    let row = start;
    while (row < stop && this.numbers.has(row)) row++;
    if (row >= stop || this.waiting) return;
    this.waiting = true;
    try {
      const { sets } = await ask("sets", { spec: jsonOfSpec(this.spec), row, rows: AT_ONCE });
      sets.forEach((numbers, i) => this.numbers.set(row + i, numbers));
      if (this.numbers.size * this.spec.width > MOST_NUMBERS) this.forgetFar(start, stop);
      this.waiting = false;
      if (sets.length) this.hooks.changed();
    } catch (error) {
      this.hooks.failed(error.message);
    }
  }

  forgetFar(start, stop) {
    for (const row of this.numbers.keys()) {
      if (row < start - AT_ONCE || row >= stop + AT_ONCE) {
        this.numbers.delete(row);
        this.tints.delete(row);
      }
    }
  }
}
