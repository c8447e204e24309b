// Runs the same-bytes scene of a WebAssembly module and prints its report. Usage: node wasm.mjs MODULE
import { readFileSync } from "node:fs";

const CAPACITY = 1 << 16;
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { memory, same_bytes_buffer, same_bytes_report, same_bytes_failure } = instance.exports;
const buffer = same_bytes_buffer(CAPACITY);
// A call may grow the memory, which replaces its array: the view is made after each call.
const text = (length) => new TextDecoder().decode(new Uint8Array(memory.buffer, buffer, length));

let length = 0;
try {
  length = same_bytes_report(buffer, CAPACITY);
} catch (trap) {
  console.error(`same-bytes: ${trap.message}: ${text(same_bytes_failure(buffer, CAPACITY))}`);
  process.exit(1);
}
if (length === 0) {
  console.error(`same-bytes: ${text(same_bytes_failure(buffer, CAPACITY))}`);
  process.exit(1);
}
process.stdout.write(text(length));
