// Runs Python in a real MicroPython: the npm package @micropython/micropython-webassembly-pyscript, under Node.
//
//     node tests/micropython.mjs micropython.mjs < job.json
//
// The argument is the package's main file. The job: {heapsize: bytes, files: {name: text}, calls: [code, ...]}. The files stand
// in /, from where they are imported. Each call is one from the top level, the only place where that MicroPython collects its
// garbage. What they print goes to stdout; after an error its message goes to stderr and the exit code is 1.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { loadMicroPython } = await import(pathToFileURL(process.argv[2]));
const job = JSON.parse(readFileSync(0, "utf8"));
const printed = [];
const micropython = await loadMicroPython({
  heapsize: job.heapsize,
  stdout: (line) => printed.push(line + "\n"),
  linebuffer: true,
});

for (const [name, text] of Object.entries(job.files)) {
  micropython.FS.writeFile("/" + name, text);
}
try {
  micropython.runPython("import sys; sys.path.append('/')");
  for (const code of job.calls) {
    micropython.runPython(code);
  }
} catch (error) {
  process.stderr.write(String(error.message));
  process.exitCode = 1;
}
process.stdout.write(printed.join(""));
