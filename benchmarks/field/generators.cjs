// Makes one maze with a generator from npm; prints the seconds it took and the passages it has:
// generators.cjs FOLDER NAME ALGORITHM WIDTH HEIGHT. FOLDER is where npm installed it. Loading is not counted, the grid is.
const { createRequire } = require("module");
const { join } = require("path");

const [folder, name, algorithm, ...sizes] = process.argv.slice(2);
const load = createRequire(join(folder, "package.json"));
const [width, height] = sizes.map(Number);

// Each has a function that makes a maze with a package, and one that counts a maze's passages.
const generators = {
  "rot-js": {
    make(rot) {
      const columns = 2 * width + 1;
      const tiles = new Uint8Array(columns * (2 * height + 1));
      new rot.Map[algorithm](columns, 2 * height + 1).create((x, y, wall) => {
        tiles[y * columns + x] = wall;
      });
      return tiles;
    },
    passages: (tiles) => tiles.reduce((open, wall) => open + !wall, 0) - width * height,
  },
  "generate-maze": {
    make: (generate) => generate(width, height, true, 1),
    passages: (rows) => count(rows, (cell) => !cell.right + !cell.bottom),
  },
  "maze-generation": {
    make: (generate) => generate({ width, height, seed: 1, algorithm }),
    passages: (maze) => count(maze.cells, (cell) => !cell.walls.right + !cell.walls.down),
  },
};

function count(rows, passages) {
  return rows.reduce((sum, row) => row.reduce((sum, cell) => sum + passages(cell), sum), 0);
}

const { make, passages } = generators[name];
const package_ = load(name);
const start = process.hrtime.bigint();
const maze = make(package_);
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(seconds, passages(maze));
