// A maze's spec as the header holds it, docs/FORMAT.md "Header": which keys, in which order, and what their values may be.
//
// A spec here is a plain object with its keys in the format's order and a BigInt as seed. As JSON (`to_json()` in the
// library, the share link here) its seed is a text of digits.

import { FormatError } from "./errors.js";

export const MAX_ROW = 2 ** 48;
const MAX_WIDTH = 2 ** 31 - 1;
const ONE = 65536;

const ALL = ["algorithm", "width", "seed", "height"];
export const OPTIONS = {
  eller: ["p_east", "p_south", "key_interval", "loops", "braid"],
  dfs: ["band", "loops", "braid", "start", "goal", "weights", "doors"],
  prim: ["band", "loops", "braid", "start", "goal", "weights"],
  wilson: ["band", "loops", "braid"],
  random_walk: ["band", "loops", "braid", "max_tunnels", "max_length"],
  uniform: ["loops", "braid"],
};

const isInteger = (value, low, high) => Number.isSafeInteger(value) && low <= value && value <= high;
const isCell = (value) => value === null || (isList(value, 2) && value.every((n) => isInteger(n, 0, MAX_ROW)));
const isList = (value, length) => Array.isArray(value) && value.length === length;

function isSchedule(value) {
  if (!Array.isArray(value) || value.length < 1 || value.length > 256) return false;
  return value.every((pair, i) => {
    if (!isList(pair, 2) || !isInteger(pair[0], 0, MAX_ROW) || !isInteger(pair[1], 0, ONE)) return false;
    return i === 0 ? pair[0] === 0 : pair[0] > value[i - 1][0] && pair[1] !== value[i - 1][1];
  });
}

function isWeights(value) {
  if (value === "even") return true;
  if (!Array.isArray(value)) return false;
  if (typeof value[0] === "string") return isList(value, 2) && isInteger(value[1], 1, 64 * ONE);
  return [2, 4].includes(value.length) && value.every((n) => isInteger(n, 0, ONE));
}

const CHECKS = {
  algorithm: (value) => Object.hasOwn(OPTIONS, value),
  width: (value) => isInteger(value, 1, MAX_WIDTH),
  seed: (value) => typeof value === "bigint" && 0n <= value && value < 1n << 64n,
  height: (value) => value === null || isInteger(value, 1, MAX_ROW),
  p_east: isSchedule,
  p_south: isSchedule,
  key_interval: (value) => isInteger(value, 0, MAX_ROW) && value % 2 === 0,
  loops: isSchedule,
  braid: (value) => isInteger(value, 0, ONE),
  band: (value) => isInteger(value, 1, MAX_ROW),
  start: isCell,
  goal: isCell,
  weights: isWeights,
  doors: (value) => isInteger(value, 1, MAX_WIDTH),
  max_tunnels: (value) => isInteger(value, 1, Number.MAX_SAFE_INTEGER),
  max_length: (value) => isInteger(value, 1, MAX_WIDTH),
};

/** Return the keys of an algorithm's spec, in their order. */
export const keysOf = (algorithm) => [...ALL, ...(OPTIONS[algorithm] ?? [])];

/** Return the spec that a header's map holds; FormatError if it is none. */
export function specOfMap(map) {
  if (!(map instanceof Map)) throw new FormatError("header: the spec is no map");
  const spec = Object.fromEntries(map);
  if (typeof spec.seed === "number") spec.seed = BigInt(spec.seed);
  checkSpec(spec, [...map.keys()]);
  return spec;
}

/** Return the spec as the map that a header or an `open` holds. */
export const mapOfSpec = (spec) => new Map(keysOf(spec.algorithm).map((key) => [key, spec[key]]));

/** Return the spec that plain JSON data holds; FormatError if it is none. The order of its keys is as it may be. */
export function specOfJson(data) {
  if (data === null || typeof data !== "object") throw new FormatError("a spec is a map");
  if (typeof data.seed !== "string" || !/^[0-9]{1,20}$/.test(data.seed)) throw new FormatError("seed: no digits");
  const keys = keysOf(data.algorithm);
  const spec = Object.fromEntries(keys.map((key) => [key, data[key]]));
  spec.seed = BigInt(data.seed);
  checkSpec(spec, keys);
  return spec;
}

/** Return the spec as plain JSON data. */
export const jsonOfSpec = (spec) => ({ ...spec, seed: String(spec.seed) });

function checkSpec(spec, keys) {
  if (!CHECKS.algorithm(spec.algorithm)) throw new FormatError(`algorithm: ${spec.algorithm} is not known`);
  const expected = keysOf(spec.algorithm);
  if (keys.join() !== expected.join()) throw new FormatError(`a spec has the keys ${expected.join(", ")}`);
  for (const key of expected) {
    if (!CHECKS[key](spec[key])) throw new FormatError(`${key}: ${spec[key]} is no value that a maze can have`);
  }
}

/** Return whether a maze of this spec may have cycles. */
export const promisesLoops = (spec) => spec.braid > 0 || spec.loops.some(([, n]) => n > 0);

/** Return a probability, or a schedule, as people write it: 0.5 or 0:0.5,1000:0.6. */
export function chanceText(value) {
  if (!Array.isArray(value)) return decimal(value);
  if (value.length === 1) return decimal(value[0][1]);
  return value.map(([row, n]) => `${row}:${decimal(n)}`).join(",");
}

/** Return the shortest decimal that is nearest to so many 65,536ths. */
function decimal(n) {
  for (let digits = 1; ; digits++) {
    const short = Number((n / ONE).toPrecision(digits));
    if (Math.round(short * ONE) === n) return String(short);
  }
}
