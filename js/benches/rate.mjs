// Times of the module, microseconds, to compare with those of native.py: node js/benches/rate.mjs [MODULE]
import { readFileSync } from "node:fs";

import { load } from "../voxshell.mjs";

const vx = await load(process.argv[2] ? readFileSync(process.argv[2]) : undefined);

/** Two bodies, and the time of cooking them. */
function cook() {
  const begin = performance.now();
  const [a, b] = ["torus_knot", "gear"].map((kind) => vx.primitive(kind, { resolution: 96, samples: 2000 }));
  return { a, b, ms: performance.now() - begin };
}

// In the first one the engine compiles the module.
const { a, b, ms: first_cook_ms } = cook();
const cook_ms = Math.min(...Array.from({ length: 5 }, () => cook().ms));

/** Least mean over 40 rounds: the first ones are slower, because the engine compiles a second time while they run. */
function best(call, count) {
  call();
  let least = Infinity;
  for (let round = 0; round < 40; round++) {
    const begin = performance.now();
    for (let i = 0; i < count; i++) call();
    least = Math.min(least, (1e3 * (performance.now() - begin)) / count);
  }
  return least;
}

const coverage = "samples", poseA = [0, 0.27, 0, 0, 0, 0, 1];
const [fromA, toA] = [[0, 1, 0, 0, 0, 0, 1], [0, -1, 0, 0, 0, 0, 1]];
const points = Float64Array.from({ length: 300_000 }, (_, i) => 0.4 * Math.sin(1.37 * i));
console.log(JSON.stringify({
  first_cook_ms,
  cook_ms,
  distance_us: best(() => vx.distance(a, b, { poseA, coverage }), 200),
  contacts_us: best(() => vx.contacts(a, b, { poseA, maxContacts: 16, coverage }), 200),
  time_of_impact_us: best(() => vx.timeOfImpact(a, b, { fromA, toA, path: "straight", coverage }), 100),
  sample_100k_us: best(() => a.sample(points), 1),
}));
