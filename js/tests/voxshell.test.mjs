// Tests of the JavaScript package: node --test js/tests/. VOXSHELL_WASM names a module to test in place of the package's.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { hasSimd, load } from "../voxshell.mjs";

const source = process.env.VOXSHELL_WASM ? readFileSync(process.env.VOXSHELL_WASM) : undefined;
const vx = await load(source);
const at = (x, y, z) => [x, y, z, 0, 0, 0, 1];
const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b} to within ${tolerance}`);
const torusDistance = (x, y, z) => Math.hypot(Math.hypot(x, z) - 0.1, y) - 0.03;
const torus = vx.primitive("torus", { size: [0.1, 0.03], detail: [96, 48], resolution: 96, samples: 2000 });

function random(seed) {
  let state = BigInt(seed);
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 11n) / 2 ** 53;
  };
}

test("the field is the distance to the torus", () => {
  const next = random(1), points = Float64Array.from({ length: 3000 }, () => 0.28 * (next() - 0.5));
  const { distances, gradients } = torus.sample(points);
  let [seen, unit] = [0, 0];
  for (let i = 0; i < 1000; i++) {
    const exact = torusDistance(...points.subarray(3 * i, 3 * i + 3));
    if (Math.abs(exact) > 0.02) continue;
    near(distances[i], exact, 1e-3);
    if (Math.abs(Math.hypot(...gradients.subarray(3 * i, 3 * i + 3)) - 1) < 0.02) unit++;
    seen++;
  }
  assert.ok(seen > 100 && unit > 0.8 * seen, `${unit} of ${seen} gradients have length 1`);
});

test("triangles are cooked with progress", () => {
  const { vertices, faces } = torus.mesh, stages = new Set();
  assert.equal(vertices.length, 3 * torus.info.vertices);
  const again = vx.cook(vertices, faces, { resolution: 48, samples: 500, progress: (stage) => void stages.add(stage) });
  assert.equal(again.info.triangles, faces.length / 3);
  assert.ok(stages.has("distance") && stages.has("done"), [...stages].join());
  near(again.info.bounds[1][0], 0.13, 2e-3);
});

test("cooking can be cancelled, and exceptions pass through", () => {
  const { vertices, faces } = torus.mesh;
  assert.throws(() => vx.cook(vertices, faces, { progress: () => false }), /cancel/i);
  assert.throws(() => vx.cook(vertices, faces, { progress: () => { throw new TypeError("mine"); } }), TypeError);
  vx.cook(vertices, faces, { resolution: 16, samples: 100 });
});

test("contacts of a box on the ground are its depth", () => {
  const box = vx.primitive("box", { size: [0.1, 0.1, 0.1], resolution: 32, samples: 500 });
  const ground = vx.halfSpace([0, 1, 0]);
  const found = vx.contacts(box, ground, { poseA: at(0, 0.099, 0), maxContacts: 8 });
  assert.ok(found.length >= 4 && found.length <= 8);
  near(found[0].separation, -1e-3, 1e-6);
  near(found[0].normal[1], -1, 1e-6);
  assert.deepEqual(vx.contacts(box, ground, { poseA: at(0, 0.2, 0) }), []);
  assert.equal(vx.distance(box, ground, { poseA: at(0, 0.2, 0), maxDistance: 0.05 }), null);
  near(vx.distance(box, ground, { poseA: at(0, 0.2, 0) }).separation, 0.1, 1e-6);
});

test("a ball meets the ground when its path says", () => {
  const ball = vx.primitive("sphere", { size: [0.05], detail: [4], resolution: 48, samples: 1000 });
  const hit = vx.timeOfImpact(ball, vx.halfSpace([0, 1, 0]), { fromA: at(0, 1, 0), toA: at(0, -1, 0), path: "straight" });
  near(hit.toi, 0.475, 1e-3);
  assert.equal(vx.timeOfImpact(ball, vx.halfSpace([0, 1, 0]), { fromA: at(0, 1, 0), toA: at(0, 0.5, 0) }), null);
});

test("segments hit the torus", () => {
  const [hit, miss, hole] = torus.segments([0.5, 0, 0, 0.5, 0.5, 0, 0, 1, 0], [-0.5, 0, 0, -0.5, 0.5, 0, 0, -1, 0]);
  near(hit.fraction, 0.37, 1e-3);
  near(hit.normal[0], 1, 1e-2);
  assert.equal(miss, null);
  assert.equal(hole, null);
});

test("bytes are read and written alike on every platform", () => {
  const bytes = torus.toBytes(), again = vx.fromBytes(bytes);
  assert.deepEqual(again.toBytes(), bytes);
  // The hash that `voxshell cook` gives on Linux with the same options.
  if (process.env.VOXSHELL_ASSET) {
    const native = readFileSync(process.env.VOXSHELL_ASSET), hash = (b) => createHash("sha256").update(b).digest("hex");
    assert.equal(hash(bytes), hash(native));
  }
});

test("many queries do not grow the memory", () => {
  for (let i = 0; i < 50; i++) vx.contacts(torus, torus, { poseA: at(0.05, 0.01, 0), coverage: "samples" });
  for (let i = 0; i < 50; i++) vx.primitive("box", { resolution: 16, samples: 50 }).free();
});

test("a mesh file is read", () => {
  const text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
  const bytes = new TextEncoder().encode(text), shape = vx.cookFile(bytes, "a/tetrahedron.OBJ", { resolution: 24, samples: 200 });
  assert.equal(shape.info.triangles, 4);
  const { points, normals } = shape.samples;
  assert.ok(points.length === 3 * shape.info.samples && normals.length === points.length && points.length > 300);
  for (let i = 0; i < points.length; i += 3) near(Math.hypot(...normals.subarray(i, i + 3)), 1, 1e-5);
  assert.throws(() => vx.cookFile(bytes, "a.step"), /a.step.*unknown mesh file type "step"; expected .obj, .stl or .ply/);
  assert.throws(() => vx.cookFile(new TextEncoder().encode("v 0 0\nf 1 2 3\n"), "a.obj"), /line 1/);
});

test("levels of the sphere tree divide the samples", () => {
  const { samples, treeLevels } = torus.info;
  assert.ok(treeLevels > 2);
  assert.deepEqual([...torus.treeLevel(0)], [0]);
  let before = new Set([0]);
  for (let level = 1; level < treeLevels; level++) {
    const first = [...torus.treeLevel(level)];
    assert.ok(first.length > before.size && first.every((n, i) => n < samples && (i === 0 ? n === 0 : n > first[i - 1])));
    // A part is divided, never cut across.
    assert.ok([...before].every((n) => first.includes(n)));
    before = new Set(first);
  }
  assert.equal(vx.sphere(1).info.treeLevels, 0);
});

test("bad input is named", () => {
  const wrong = [
    [() => vx.cook([0, 0], [0, 1, 2]), /vertices is 2 numbers; expected an array of numbers, 3 for each/],
    [() => vx.cook([0, 0, 0], [0, 1, 2.5]), /faces\[2\] is 2.5; expected a whole number/],
    [() => vx.cook([0, 0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 7]), /7/],
    [() => vx.cook([0, 0, NaN, 1, 0, 0, 0, 1, 0], [0, 1, 2]), /NaN/],
    [() => vx.cook([], []), /triangle|vert/],
    [() => vx.primitive("bunny"), /kind is "bunny"; expected one of box/],
    [() => vx.primitive("box", { resolutoin: 3 }), /option is "resolutoin"; expected one of resolution/],
    [() => vx.primitive("box", { resolution: NaN }), /resolution is NaN; expected a finite number/],
    [() => vx.contacts(torus, torus, { poseA: [0, 0, 0, 0, 0, 0, 2] }), /unit|norm|quaternion/],
    [() => vx.contacts(torus, torus, { poseA: [0, 0, 0] }), /poseA is 3 numbers/],
    [() => vx.contacts(torus, torus, { poseB: [0, 0, NaN, 0, 0, 0, 1] }), /NaN|finite/],
    [() => vx.contacts(torus, {}), /b is .*; expected a shape of this module/],
    [() => vx.fromBytes(new Uint8Array([1, 2, 3])), /./],
    [() => torus.treeLevel(-1), /level is -1; expected a whole number from 0 to 255/],
    [() => torus.sample([0, 0]), /points is 2 numbers/],
    [() => torus.segments([0, 0, 0], []), /to is 0 numbers; expected 3/],
  ];
  for (const [call, message] of wrong) assert.throws(call, (error) => message.test(error.message) || assert.fail(`${call}: ${error.message}`));
  const gone = vx.sphere(1);
  gone.free();
  assert.throws(() => gone.info, /freed/);
  assert.throws(() => gone.free(), /freed/);
});

test("this runtime has SIMD128", () => assert.equal(hasSimd(), true));
