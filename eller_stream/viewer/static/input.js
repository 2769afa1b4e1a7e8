// Wheel, drag, touch and keys on the canvas, as what they ask for.
//
// `act` is told: scroll(dx, dy) and zoom(factor, x, y) in device pixels, click(x, y), key(name).

const A_LINE = 20;
const A_CLICK = 5;
const KEYS = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  PageUp: "pageUp",
  PageDown: "pageDown",
  Home: "first",
  End: "last",
  "+": "zoomIn",
  "=": "zoomIn",
  "-": "zoomOut",
  n: "new",
  N: "new",
  " ": "play",
  ".": "step",
  Enter: "mark",
};

/** Listen to a canvas and to the page's keys. */
export function listen(canvas, act) {
  canvas.addEventListener("wheel", (event) => onWheel(event, canvas, act), { passive: false });
  const touch = new Pointers(canvas, act);
  canvas.addEventListener("pointerdown", (event) => touch.down(event));
  canvas.addEventListener("pointermove", (event) => touch.move(event));
  canvas.addEventListener("pointerup", (event) => touch.up(event, true));
  canvas.addEventListener("pointercancel", (event) => touch.up(event, false));
  document.addEventListener("keydown", (event) => onKey(event, act));
}

function onWheel(event, canvas, act) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? A_LINE : event.deltaMode === 2 ? canvas.clientHeight : 1;
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey || event.metaKey) act.zoom(Math.exp(-dy / 300), ...at(event));
  else if (event.shiftKey && !dx) act.scroll(dy * devicePixelRatio, 0);
  else act.scroll(dx * devicePixelRatio, dy * devicePixelRatio);
}

function onKey(event, act) {
  const busy = event.target.closest?.("input, select, button, a");
  const name = KEYS[event.key];
  if (busy || !name || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act.key(name);
}

const at = (event) => [event.offsetX * devicePixelRatio, event.offsetY * devicePixelRatio];

/** One pointer drags, two pinch; one that has hardly moved has clicked. */
class Pointers {
  constructor(canvas, act) {
    this.canvas = canvas;
    this.act = act;
    this.places = new Map();
    this.moved = 0;
  }

  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus();
    this.places.set(event.pointerId, at(event));
    this.moved = this.places.size > 1 ? Infinity : 0;
  }

  move(event) {
    const before = this.places.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    const [dx, dy] = [before[0] - now[0], before[1] - now[1]];
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.moved < A_CLICK) return;
    this.canvas.classList.add("dragged");
    const other = [...this.places].find(([id]) => id !== event.pointerId)?.[1];
    this.places.set(event.pointerId, now);
    if (other) this.pinch(before, now, other);
    this.act.scroll(other ? dx / 2 : dx, other ? dy / 2 : dy);
  }

  pinch(before, now, other) {
    const apart = ([x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
    this.act.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  up(event, isDone) {
    if (!this.places.delete(event.pointerId)) return;
    if (isDone && this.moved < A_CLICK) this.act.click(...at(event));
    if (!this.places.size) this.canvas.classList.remove("dragged");
  }
}
