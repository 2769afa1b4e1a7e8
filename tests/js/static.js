// The modules of the page, and the documents' vectors, for the tests.

import { readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);

/** Load a module of the page; of the installed package if ELLER_STREAM_STATIC tells where that is. */
export const load = (name) => import(new URL(name, process.env.ELLER_STREAM_STATIC));

export const vectors = (name) => JSON.parse(readFileSync(new URL(`docs/vectors/${name}`, ROOT), "utf-8"));

export const bytesOf = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
export const hexOf = (bytes) => Buffer.from(bytes).toString("hex");
