// Voxshell in JavaScript: shapes of triangles, their contacts, distances, times of impact and hits of segments.
//
// Units are SI. A pose is an array of 7 numbers: position x, y, z in metres, and unit quaternion x, y, z, w, body to world.
// Signed distances are negative inside. Normals point from shape A to shape B. voxshell.d.ts describes all functions.

const CONTACT = 12;
const HIT = 8;
const KINDS = ["box", "sphere", "capsule", "cylinder", "cone", "torus", "torus_knot", "bowl", "peg", "hole", "gear", "blob",
  "bolt", "nut"];
const SAMPLING = ["default", "projection", "vertices", "uniform", "features"];
const STORAGE = ["auto", "dense", "bricks", "exact"];
const COVERAGE = ["samples", "edges", "facets"];
const OPTIONS = ["resolution", "voxelSize", "samples", "spacing", "sampling", "storage", "offset", "targetError"];
const IDENTITY = [0, 0, 0, 0, 0, 0, 1];

// A module with one instruction of SIMD128.
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11]);

function refuse(argument, value, expected) {
  throw new RangeError(`${argument} is ${value}; expected ${expected}`);
}

function choice(argument, value, names) {
  const index = names.indexOf(value);
  return index >= 0 ? index : refuse(argument, JSON.stringify(value), `one of ${names.join(", ")}`);
}

function knownNames(argument, given, names) {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) refuse(argument, JSON.stringify(name), `one of ${names.join(", ")}`);
  }
}

function numbers(argument, given, multiple, type = Float64Array) {
  const isArray = Array.isArray(given) || (ArrayBuffer.isView(given) && !(given instanceof DataView));
  if (!isArray || given.length % multiple !== 0) {
    refuse(argument, isArray ? `${given.length} numbers` : typeof given, `an array of numbers, ${multiple} for each element`);
  }
  const array = given instanceof type ? given : type.from(given);
  if (type === Uint32Array && array !== given) {
    const wrong = array.findIndex((x, i) => x !== given[i]);
    if (wrong >= 0) refuse(`${argument}[${wrong}]`, given[wrong], "a whole number of 0 or more");
  }
  return array;
}

function pose(argument, given = IDENTITY) {
  const p = numbers(argument, given, 7);
  return p.length === 7 ? p : refuse(argument, `${p.length} numbers`, "7 numbers");
}

/** Returns whether the runtime has SIMD128. */
export function hasSimd() {
  return WebAssembly.validate(SIMD);
}

async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const url = source ?? new URL(hasSimd() ? "voxshell.wasm" : "voxshell-baseline.wasm", import.meta.url);
  if (String(url).startsWith("file:") && typeof process === "object") {
    const { readFile } = await import("node:fs/promises");
    return readFile(new URL(url));
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

/** Loads the module. Each one has a memory of its own. */
export async function load(source) {
  const core = new Core();
  const { instance } = await WebAssembly.instantiate(await bytesOf(source), { voxshell: { progress: core.progress } });
  core.exports = instance.exports;
  const make = (name) => (...given) => Shape[name](core, ...given);
  return {
    cook: make("cook"), cookFile: make("cookFile"), primitive: make("primitive"), sphere: make("sphere"), box: make("box"), halfSpace: make("halfSpace"),
    fromBytes: make("fromBytes"),
    contacts: (a, b, options) => core.contacts(a, b, options),
    distance: (a, b, options) => core.distance(a, b, options),
    timeOfImpact: (a, b, options) => core.timeOfImpact(a, b, options),
  };
}

/** The module, and arrays in its memory. */
class Core {
  exports = null;
  onProgress = null;
  raised = null;

  progress = (stage, fraction) => {
    if (!this.onProgress) return 1;
    try {
      return this.onProgress(this.text(stage), fraction) === false ? 0 : 1;
    } catch (error) {
      this.raised = error;
      return 0;
    }
  };

  // A call may grow the memory, which replaces its buffer: views are made after each call.
  view(type, at, length) {
    return new type(this.exports.memory.buffer, at, length);
  }

  text(at) {
    const bytes = new Uint8Array(this.exports.memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  /** Calls a function, with the message of the module when it fails. */
  call(name, ...given) {
    let status;
    try {
      status = this.exports[name](...given);
    } catch (trap) {
      throw new Error(`${trap.message}: ${this.text(this.exports.vxj_error())}; load the module anew`);
    }
    return status;
  }

  check(status) {
    const raised = this.raised;
    this.raised = null;
    if (raised) throw raised;
    if (status !== 0) throw new Error(this.text(this.exports.vxj_error()));
  }

  /** Runs `use` with the places of arrays in the memory: copies of those given, and room for numbers of elements. */
  with(arrays, use) {
    const held = arrays.map((array) => {
      const [type, length] = Array.isArray(array) ? array : [array.constructor, array.length];
      const bytes = length * type.BYTES_PER_ELEMENT;
      const at = this.exports.vxj_alloc(bytes);
      if (at === 0) throw new Error(`there is no memory for ${bytes} bytes`);
      return { at, bytes, array };
    });
    try {
      for (const { at, array } of held) {
        if (!Array.isArray(array)) this.view(array.constructor, at, array.length).set(array);
      }
      return use(...held.map(({ at }) => at));
    } finally {
      for (const { at, bytes } of held) this.exports.vxj_free(at, bytes);
    }
  }

  found(count) {
    return this.with([[Float64Array, Math.max(1, CONTACT * count)]], (at) => {
      this.call("vxj_found", at);
      const all = this.view(Float64Array, at, CONTACT * count).slice();
      return Array.from({ length: count }, (_, i) => {
        const row = all.subarray(CONTACT * i, CONTACT * (i + 1));
        return {
          pointOnA: row.slice(0, 3), pointOnB: row.slice(3, 6), normal: row.slice(6, 9),
          separation: row[9], toi: row[10], feature: row[11],
        };
      });
    });
  }

  query(name, a, b, poses, ...rest) {
    for (const [argument, shape] of [["a", a], ["b", b]]) {
      if (!(shape instanceof Shape) || shape.core !== this) refuse(argument, typeof shape, "a shape of this module");
    }
    const count = this.with(poses, (atA, atB) => this.call(name, a.place(), atA, b.place(), atB, ...rest));
    if (count < 0) this.check(-count);
    return this.found(count);
  }

  contacts(a, b, options = {}) {
    knownNames("option", options, ["poseA", "poseB", "maxSeparation", "maxContacts", "coverage"]);
    const { poseA, poseB, maxSeparation = 0, maxContacts = 0, coverage = "edges" } = options;
    const poses = [pose("poseA", poseA), pose("poseB", poseB)];
    return this.query("vxj_contacts", a, b, poses, maxSeparation, maxContacts, choice("coverage", coverage, COVERAGE));
  }

  distance(a, b, options = {}) {
    knownNames("option", options, ["poseA", "poseB", "maxDistance", "coverage"]);
    const { poseA, poseB, maxDistance = Infinity, coverage = "edges" } = options;
    const poses = [pose("poseA", poseA), pose("poseB", poseB)];
    return this.query("vxj_distance", a, b, poses, maxDistance, choice("coverage", coverage, COVERAGE))[0] ?? null;
  }

  timeOfImpact(a, b, options = {}) {
    knownNames("option", options, ["fromA", "toA", "fromB", "toB", "path", "maxSeparation", "coverage"]);
    const { fromA, toA = fromA, fromB, toB = fromB, path = "screw", maxSeparation = 0, coverage = "edges" } = options;
    const both = (nameFrom, from, nameTo, to) => Float64Array.from([...pose(nameFrom, from), ...pose(nameTo, to)]);
    const poses = [both("fromA", fromA, "toA", toA), both("fromB", fromB, "toB", toB)];
    const straight = choice("path", path, ["screw", "straight"]);
    return this.query("vxj_time_of_impact", a, b, poses, straight, maxSeparation, choice("coverage", coverage, COVERAGE))[0] ?? null;
  }
}

const released = typeof FinalizationRegistry === "function"
  ? new FinalizationRegistry(({ core, at }) => core.exports.vxj_release(at)) : null;

/** Field and samples of a body. Immutable. */
class Shape {
  #at = 0;

  constructor(core, at) {
    this.core = core;
    this.#at = at;
    released?.register(this, { core, at }, this);
  }

  /** The handle. */
  place() {
    return this.#at || refuse("shape", "freed", "a shape that was not freed");
  }

  static make(core, create) {
    return core.with([[Uint32Array, 1]], (out) => {
      core.check(create(out));
      return new Shape(core, core.view(Uint32Array, out, 1)[0]);
    });
  }

  static cooked(core, options, create) {
    knownNames("option", options, [...OPTIONS, "progress"]);
    const values = OPTIONS.map((name) => {
      if (options[name] === undefined) return NaN;
      if (name === "sampling") return choice(name, options[name], SAMPLING);
      if (name === "storage") return choice(name, options[name], STORAGE);
      return Number.isFinite(options[name]) ? options[name] : refuse(name, options[name], "a finite number");
    });
    core.onProgress = options.progress ?? null;
    try {
      return core.with([Float64Array.from(values)], (given) => Shape.make(core, (out) => create(given, out)));
    } finally {
      core.onProgress = null;
    }
  }

  static cook(core, vertices, faces, options = {}) {
    const points = numbers("vertices", vertices, 3);
    const corners = numbers("faces", faces, 3, Uint32Array);
    return Shape.cooked(core, options, (given, out) => core.with([points, corners], (atPoints, atCorners) =>
      core.call("vxj_cook", atPoints, points.length / 3, atCorners, corners.length, given, out)));
  }

  static cookFile(core, bytes, name, options = {}) {
    const path = new TextEncoder().encode(name);
    return Shape.cooked(core, options, (given, out) => {
      const failed = core.with([bytes, path], (at, atPath) => core.call("vxj_read", at, bytes.length, atPath, path.length));
      if (failed) throw new Error(core.text(core.exports.vxj_read_error()));
      return core.call("vxj_cook_read", given, out);
    });
  }

  static primitive(core, kind, { size = [], detail = [], ...options } = {}) {
    if (size.length > 6) refuse("size", `${size.length} numbers`, "at most 6");
    if (detail.length > 4) refuse("detail", `${detail.length} numbers`, "at most 4");
    const number = choice("kind", kind, KINDS);
    const sizes = Float64Array.from({ length: 6 }, (_, i) => size[i] ?? NaN);
    const details = Uint32Array.from({ length: 4 }, (_, i) => detail[i] ?? 0);
    return Shape.cooked(core, options, (given, out) => core.with([sizes, details], (atSizes, atDetails) =>
      core.call("vxj_primitive", number, atSizes, atDetails, given, out)));
  }

  static sphere(core, radius) {
    return Shape.make(core, (out) => core.call("vxj_exact", 0, radius, 0, 0, 0, out));
  }

  static box(core, [x, y, z]) {
    return Shape.make(core, (out) => core.call("vxj_exact", 1, x, y, z, 0, out));
  }

  static halfSpace(core, [x, y, z] = [0, 0, 1], offset = 0) {
    return Shape.make(core, (out) => core.call("vxj_exact", 2, x, y, z, offset, out));
  }

  static fromBytes(core, bytes) {
    return core.with([bytes], (at) => Shape.make(core, (out) => core.call("vxj_from_bytes", at, bytes.length, out)));
  }

  toBytes() {
    const { core } = this;
    return core.with([[Uint32Array, 1]], (count) => {
      core.call("vxj_to_bytes", this.place(), 0, 0, count);
      const length = core.view(Uint32Array, count, 1)[0];
      return core.with([[Uint8Array, length]], (out) => {
        core.check(core.call("vxj_to_bytes", this.place(), out, length, count));
        return core.view(Uint8Array, out, length).slice();
      });
    });
  }

  get info() {
    const { core } = this;
    return core.with([[Float64Array, 15]], (out) => {
      core.check(core.call("vxj_info", this.place(), out));
      const n = core.view(Float64Array, out, 15);
      return {
        vertices: n[0], triangles: n[1], grid: [...n.subarray(2, 5)], voxelSize: n[5], fieldErrorMax: n[6], samples: n[7],
        bounds: [[...n.subarray(8, 11)], [...n.subarray(11, 14)]], treeLevels: n[14],
      };
    });
  }

  get mesh() {
    const { core, info } = this;
    const [points, corners] = [3 * info.vertices, 3 * info.triangles];
    return core.with([[Float64Array, points], [Uint32Array, corners]], (atPoints, atCorners) => {
      core.check(core.call("vxj_mesh", this.place(), atPoints, points / 3, atCorners, corners));
      return { vertices: core.view(Float64Array, atPoints, points).slice(), faces: core.view(Uint32Array, atCorners, corners).slice() };
    });
  }

  get samples() {
    const { core, info } = this, size = 3 * info.samples;
    return core.with([[Float64Array, size], [Float64Array, size]], (points, normals) => {
      core.check(core.call("vxj_samples", this.place(), points, normals, info.samples));
      return { points: core.view(Float64Array, points, size).slice(), normals: core.view(Float64Array, normals, size).slice() };
    });
  }

  treeLevel(level) {
    if (!Number.isInteger(level) || level < 0 || level > 255) refuse("level", level, "a whole number from 0 to 255");
    const { core, info } = this;
    return core.with([[Uint32Array, info.samples], [Uint32Array, 1]], (first, count) => {
      core.check(core.call("vxj_tree_level", this.place(), level, first, info.samples, count));
      return core.view(Uint32Array, first, core.view(Uint32Array, count, 1)[0]).slice();
    });
  }

  sample(points) {
    const given = numbers("points", points, 3), { core } = this, count = given.length / 3;
    return core.with([given, [Float64Array, count], [Float64Array, 3 * count]], (at, distances, gradients) => {
      core.check(core.call("vxj_sample", this.place(), at, count, distances, gradients));
      return {
        distances: core.view(Float64Array, distances, count).slice(),
        gradients: core.view(Float64Array, gradients, 3 * count).slice(),
      };
    });
  }

  segments(from, to) {
    const [start, end] = [numbers("from", from, 3), numbers("to", to, 3)], { core } = this, count = start.length / 3;
    if (end.length !== start.length) refuse("to", `${end.length} numbers`, `${start.length}, as many as from has`);
    return core.with([start, end, [Float64Array, HIT * count]], (atStart, atEnd, out) => {
      core.check(core.call("vxj_segments", this.place(), atStart, atEnd, count, out));
      const all = core.view(Float64Array, out, HIT * count).slice();
      return Array.from({ length: count }, (_, i) => {
        const row = all.subarray(HIT * i, HIT * (i + 1));
        return row[7] ? { fraction: row[0], point: row.slice(1, 4), normal: row.slice(4, 7) } : null;
      });
    });
  }

  free() {
    const at = this.place();
    this.#at = 0;
    released?.unregister(this);
    this.core.call("vxj_release", at);
  }
}
