// Row by row: the rows from `limit` on are not drawn, and the limit moves down by itself or step by step.

export class Player {
  /** `hooks`: `start()` gives the row to begin with, `stepped(limit)` is told each new limit and returns whether to go on. */
  constructor(hooks) {
    this.hooks = hooks;
    this.limit = null;
    this.timer = null;
    this.perSecond = 6;
  }

  get playing() {
    return this.timer !== null;
  }

  /** Let one row more appear. */
  step() {
    this.limit = (this.limit ?? this.hooks.start()) + 1;
    const goesOn = this.hooks.stepped(this.limit);
    if (!goesOn) this.pause();
  }

  play() {
    if (!this.playing) this.tick();
  }

  tick() {
    this.timer = setTimeout(() => this.tick(), 1000 / this.perSecond);
    this.step();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  /** Draw all rows again. */
  leave() {
    this.pause();
    this.limit = null;
  }
}
