// The core in a worker: cooks and answers, so that the page stays alive. A message is {id, do, …}; its answer {id, answer} or
// {id, error}; while it cooks, {progress: [stage, fraction]}. `load` is that of js/voxshell.mjs.

const shapes = new Map();
let core = null;

const now = () => performance.now();

/** Times a query: its answer, and the mean time of as many calls as fit into 20 ms, microseconds. A browser's clock is coarse. */
function timed(query) {
  const answer = query(), begin = now();
  let calls = 0;
  do {
    query();
    calls++;
  } while (now() - begin < 20);
  return { answer, microseconds: (1e3 * (now() - begin)) / calls };
}

/** Cooks a primitive whose largest extent is `extent`. */
function scaled(kind, extent, options) {
  const rough = core.primitive(kind, { resolution: 16, samples: 50 }), { vertices, faces } = rough.mesh;
  const [low, high] = rough.info.bounds, factor = extent / Math.max(...high.map((x, k) => x - low[k]));
  rough.free();
  return core.cook(vertices.map((x) => factor * x), faces, options);
}

/** First samples of the parts of each level of the sphere tree. */
const treeLevels = (shape) => Array.from({ length: shape.info.treeLevels }, (_, level) => shape.treeLevel(level));

const actions = {
  async start({ wasm }) {
    core = await load(wasm);
  },

  /** Cooks a body for a slot, scaled to an extent if one is given, and returns what there is to draw. */
  cook({ slot, kind, file, name, extent, resolution, samples }) {
    const progress = (stage, fraction) => postMessage({ progress: [stage, fraction] });
    const begin = now();
    const options = { resolution, samples, progress };
    const shape = file ? core.cookFile(file, name, options) : extent ? scaled(kind, extent, options) : core.primitive(kind, options);
    const milliseconds = now() - begin;
    shapes.get(slot)?.free();
    shapes.set(slot, shape);
    return { mesh: shape.mesh, samples: shape.samples.points, info: shape.info, milliseconds, levels: treeLevels(shape) };
  },

  /** Distances on a square of n × n points, in rows, at `position` along an axis, with the extent that they span. */
  slice({ slot, axis, position, n }) {
    const shape = shapes.get(slot), [low, high] = shape.info.bounds;
    const extent = 1.15 * Math.max(...high.map((x, k) => x - low[k]));
    const middle = low.map((x, k) => (x + high[k]) / 2);
    const [u, v] = [0, 1, 2].filter((k) => k !== axis);
    const points = new Float64Array(3 * n * n);
    for (let j = 0; j < n; j++) {
      for (let i = 0; i < n; i++) {
        const at = 3 * (j * n + i);
        points[at + axis] = low[axis] + position * (high[axis] - low[axis]);
        points[at + u] = middle[u] + ((i + 0.5) / n - 0.5) * extent;
        points[at + v] = middle[v] + (0.5 - (j + 0.5) / n) * extent;
      }
    }
    const { answer, microseconds } = timed(() => shape.sample(points));
    return { distances: answer.distances, extent, microseconds, at: points[axis] };
  },

  contacts({ a, b, poseA, poseB, maxSeparation, maxContacts }) {
    const [first, second] = [shapes.get(a), shapes.get(b)];
    const found = timed(() => core.contacts(first, second, { poseA, poseB, maxSeparation, maxContacts, coverage: "facets" }));
    const least = timed(() => core.distance(first, second, { poseA, poseB, coverage: "facets" }));
    return { contacts: found.answer, microseconds: found.microseconds, nearest: least.answer, distanceMicroseconds: least.microseconds };
  },

  path({ a, b, fromA, toA, poseB }) {
    const { answer, microseconds } = timed(() => core.timeOfImpact(shapes.get(a), shapes.get(b),
      { fromA, toA, fromB: poseB, path: "straight", coverage: "samples" }));
    return { hit: answer, microseconds };
  },
};

onmessage = async ({ data: { id, do: action, ...given } }) => {
  try {
    postMessage({ id, answer: await actions[action](given) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
