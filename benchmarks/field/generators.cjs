// Makes one maze with a generator from npm and prints the seconds it took: generators.cjs FOLDER NAME ALGORITHM WIDTH HEIGHT.
// FOLDER is where npm installed it. Loading is not counted, the grid is.
const { createRequire } = require("module");
const { join } = require("path");

const [folder, name, algorithm, width, height] = process.argv.slice(2);
const load = createRequire(join(folder, "package.json"));
const sizes = [Number(width), Number(height)];

const generators = {
  "rot-js": (rot) => {
    const cells = new Uint8Array((2 * sizes[0] + 1) * (2 * sizes[1] + 1));
    new rot.Map[algorithm](2 * sizes[0] + 1, 2 * sizes[1] + 1).create((x, y, wall) => {
      cells[y * (2 * sizes[0] + 1) + x] = wall;
    });
  },
  "generate-maze": (generate) => generate(sizes[0], sizes[1], true, 1),
  "maze-generation": (generate) => generate({ width: sizes[0], height: sizes[1], seed: 1, algorithm }),
};

const package_ = load(name);
const start = process.hrtime.bigint();
generators[name](package_);
console.log(Number(process.hrtime.bigint() - start) / 1e9);
