// Puts the page's parts into one file. Usage: node build.mjs OUT
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const read = (name) => readFileSync(new URL(name, import.meta.url));
const packed = (name) => JSON.stringify(gzipSync(read(`../js/${name}`), { level: 9 }).toString("base64"));
// Modules in one script: without their imports and exports, which all name each other.
const plain = (name) => read(name).toString().replace(/^import .*;\n/gm, "").replace(/^export (default )?/gm, "");

// In a worker, the bytes of the module are given: its address is never asked for.
const core = plain("../js/voxshell.mjs").replaceAll("import.meta.url", '"voxshell:"');
const worker = `${core}\n${plain("worker.mjs")}`;
const simd = core.match(/^const SIMD = [^;]*;\n/m)[0];
const script = [
  `const WASM = ${packed("voxshell.wasm")};`, `const WASM_BASELINE = ${packed("voxshell-baseline.wasm")};`,
  `const WORKER = ${JSON.stringify(worker)};`, `${simd}const hasSimd = () => WebAssembly.validate(SIMD);`,
  plain("draw.mjs"), plain("page.mjs"),
].join("\n").replaceAll("</script", "<\\/script");

const put = (page, mark, text) => {
  if (!page.includes(mark)) throw new Error(`index.html has no ${mark}`);
  return page.replace(mark, () => text);
};
let page = read("index.html").toString();
page = put(page, "/* page.css */", `\n${read("page.css")}`);
page = put(page, "/* page.mjs */", `\n${script}\n`);
const out = process.argv[2];
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);
console.log(`${out}: ${page.length} bytes`);
