// The share link: a maze's spec and a row, as base64url of JSON behind the `#` of the address. It never leaves the page.

import { jsonOfSpec, specOfJson } from "./spec.js";

const MOST = 2 ** 16;

/** Return the part of a link behind `#` that holds a spec and a row. */
export function fragmentOf(spec, row) {
  const text = btoa(JSON.stringify({ spec: jsonOfSpec(spec), row }));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return the {spec, row} that a link holds; null where it holds none, an Error for one that is damaged. */
export function readFragment(fragment) {
  const text = fragment.replace(/^#/, "");
  if (!text) return null;
  if (text.length > MOST) throw new Error("the link is too long to hold a maze");
  try {
    const { spec, row } = JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
    return { spec: specOfJson(spec), row: Number.isSafeInteger(row) && row >= 0 ? row : 0 };
  } catch {
    throw new Error("the link holds no maze");
  }
}
