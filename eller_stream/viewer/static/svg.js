// What is seen as an SVG: walls as one path of straight lines, in units of a tenth of a cell.

import { rowOf } from "./draw.js";

const UNIT = 10;

/**
 * Return the SVG of the rows [first, stop], as far as they are held: walls, the rock of maps, the sets' tints, a path.
 * `tint(row)` gives the colours of a row's cells, or null.
 */
export function svgOf(rows, [first, stop], columns, { wall, rock, paper, path }, tint, cells) {
  const [width, height] = [columns * UNIT, (stop - first) * UNIT];
  const grounds = [];
  const walls = [];
  for (let row = first; row < stop; row++) {
    const here = rowOf(rows, row);
    if (!here) continue;
    const y = (row - first) * UNIT;
    grounds.push(...groundsOf(here, y, columns, rock, tint(row)));
    walls.push(...wallsBelow(here, rowOf(rows, row + 1), y + UNIT, columns), ...wallsEast(here, y, columns));
    if (row === first) walls.push(...wallsBelow(row > 0 ? rowOf(rows, row - 1) : null, here, y, columns));
  }
  walls.push(`M0 0v${height}M${width} 0v${height}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 ${width + 2} ${height + 2}">`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    ...grounds,
    `<path d="${walls.join("")}" fill="none" stroke="${wall}" stroke-width="1.2" stroke-linecap="square"/>`,
    ...lines(cells, first, stop, path),
    "</svg>\n",
  ].join("\n");
}

/** Return the walls between two rows; one of the two may be beyond the maze, or not held. */
function wallsBelow(upper, lower, y, columns) {
  const isWall = (c) => !upper?.south(c) && (!upper || !lower || upper.floor(c) || lower.floor(c));
  return runs(columns, isWall).map(([from, to]) => `M${from * UNIT} ${y}h${(to - from) * UNIT}`);
}

function wallsEast(here, y, columns) {
  const isWall = (c) => !here.east(c) && (here.floor(c) || here.floor(c + 1));
  return Array.from({ length: columns - 1 }, (_, c) => (isWall(c) ? `M${(c + 1) * UNIT} ${y}v${UNIT}` : ""));
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

function groundsOf(here, y, columns, rock, tint) {
  const solid = runs(columns, (c) => !here.floor(c)).map(([from, to]) => rect(from, y, to - from, rock));
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
