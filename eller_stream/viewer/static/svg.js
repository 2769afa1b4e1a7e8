// What is seen as an SVG: walls as one path of straight lines, in units of a tenth of a cell.

import { rowOf } from "./draw.js";

const UNIT = 10;

/** Return the SVG of the rows [first, stop], as far as they are held: walls, the ground of maps, sets' tints, a path. */
export function svgOf(rows, [first, stop], columns, { wall, paper, path }, tint, cells) {
  const [width, height] = [columns * UNIT, (stop - first) * UNIT];
  const shapes = [];
  const walls = [];
  for (let row = first; row < stop; row++) {
    const here = rowOf(rows, row);
    if (!here) continue;
    const y = (row - first) * UNIT;
    shapes.push(...grounds(here, y, columns, wall, tint(row)));
    const above = row > 0 ? rowOf(rows, row - 1) : null;
    if (row === 0 || above) walls.push(...runs(columns, (c) => !above?.south(c)).map(([a, b]) => `M${a * UNIT} ${y}h${(b - a) * UNIT}`));
    for (let c = 0; c < columns - 1; c++) if (!here.east(c)) walls.push(`M${(c + 1) * UNIT} ${y}v${UNIT}`);
    if (row === stop - 1) walls.push(...runs(columns, (c) => !here.south(c)).map(([a, b]) => `M${a * UNIT} ${y + UNIT}h${(b - a) * UNIT}`));
  }
  walls.push(`M0 0v${height}M${width} 0v${height}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 ${width + 2} ${height + 2}">`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    ...shapes,
    `<path d="${walls.join("")}" fill="none" stroke="${wall}" stroke-width="1.2" stroke-linecap="square"/>`,
    ...lines(cells, first, stop, path),
    "</svg>\n",
  ].join("\n");
}

/** Return the runs [from, to] of columns for which something holds. */
function runs(columns, holds) {
  const found = [];
  for (let c = 0; c < columns; c++) {
    if (!holds(c)) continue;
    if (found.at(-1)?.[1] === c) found.at(-1)[1]++;
    else found.push([c, c + 1]);
  }
  return found;
}

function grounds(here, y, columns, wall, tint) {
  const solid = runs(columns, (c) => !here.floor(c)).map(([a, b]) => rect(a, y, b - a, wall));
  if (!tint) return solid;
  return [...solid, ...Array.from({ length: columns }, (_, c) => rect(c, y, 1, tint[c]))];
}

const rect = (column, y, count, colour) =>
  `<rect x="${column * UNIT}" y="${y}" width="${count * UNIT}" height="${UNIT}" fill="${colour}"/>`;

/** Return the parts of a path that lie in the rows, each as a polyline. */
function lines(cells, first, stop, colour) {
  const parts = [];
  let before = false;
  for (const [row, column] of cells) {
    const inside = row >= first && row < stop;
    if (inside && !before) parts.push([]);
    if (inside) parts.at(-1).push(`${column * UNIT + UNIT / 2},${(row - first) * UNIT + UNIT / 2}`);
    before = inside;
  }
  return parts.map((points) => `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="2.5"/>`);
}
