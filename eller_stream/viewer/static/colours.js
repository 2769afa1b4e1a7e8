// Colours: those of the page's style sheet as pixels, and one for each set number.

import { pixelOf } from "./draw.js";

const NAMES = ["paper", "wall", "rock", "outside", "waiting", "path", "start", "end"];
const GOLDEN_ANGLE = 137.508;

/** The style sheet's colours, as #rrggbb (`css`) and as pixels (`pixels`), and how light and strong the sets' colours are. */
export function readColours(element) {
  const style = getComputedStyle(element);
  const css = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--maze-${name}`).trim()]));
  const pixels = Object.fromEntries(NAMES.map((name) => [name, pixelOf(css[name])]));
  const [light, strong] = ["light", "colour"].map((name) => Number(style.getPropertyValue(`--set-${name}`)) / 100);
  return { css, pixels, sets: { light, strong } };
}

/** Return the colour of a set number as #rrggbb: neighbouring numbers are far apart on the circle of hues. */
export function setColour(number, { light, strong }) {
  const hue = (number * GOLDEN_ANGLE) % 360;
  const reach = strong * Math.min(light, 1 - light);
  const channel = (n) => {
    const k = (n + hue / 30) % 12;
    return light - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return `#${[0, 8, 4].map((n) => Math.round(255 * channel(n)).toString(16).padStart(2, "0")).join("")}`;
}
