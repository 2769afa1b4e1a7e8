// Row by row: the rows from `limit` on are not drawn, and the limit moves down by itself or step by step.

export class Player {
  /**
   * `hooks`: `start()` gives the row to begin with and `end()` the one behind the last, `stepped(limit)` is told each new
   * limit, `playing(isPlaying)` when it begins or ends to move by itself.
   */
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
    const end = this.hooks.end();
    this.limit = Math.min((this.limit ?? this.hooks.start()) + 1, end);
    this.hooks.stepped(this.limit);
    if (this.limit === end) this.pause();
  }

  play() {
    this.timer = setTimeout(() => this.play(), 1000 / this.perSecond);
    this.hooks.playing(true);
    this.step();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.hooks.playing(false);
  }

  /** Draw all rows again. */
  leave() {
    this.pause();
    this.limit = null;
  }
}
