// The page: what the controls say goes to the worker, and what it answers is drawn.
import { Camera, Painter } from "./draw.mjs";

const KINDS = { torus_knot: "torus knot", gear: "gear", bowl: "bowl", blob: "blob", cone: "cone", hole: "plate with a hole", nut: "nut", bolt: "bolt" };
const HINTS = {
  shape: "Drag turns the view, two fingers or the wheel zoom. Drop a mesh file here.",
  contacts: "Drag moves the second body; arrow keys, page up and page down too.",
  path: "Drag moves the start of the path; the copy is where the bodies first touch.",
  nut: "The nut turns down its bolt by the pitch: it has room, until it is moved off the thread.",
};
const IDENTITY = [0, 0, 0, 0, 0, 0, 1];
const PITCH = 0.002, NUT_HEIGHT = 0.02; // metres, of the bolt and nut of the library
/** Colours of the parts of a level of the sphere tree; the first is that of all samples. */
const PARTS = [[0.05, 0.1, 0.25, 1], [0.9, 0.35, 0.1, 1], [0.1, 0.6, 0.25, 1], [0.85, 0.7, 0.1, 1], [0.6, 0.15, 0.6, 1], [0.1, 0.65, 0.7, 1], [0.95, 0.95, 0.95, 1]];
const by = (id) => document.getElementById(id);

/** The worker, as a function that returns promises. */
class Core {
  constructor(code, onProgress) {
    this.waiting = new Map();
    this.next = 0;
    this.worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => {
      if (data.progress) return onProgress(...data.progress);
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      return data.error === undefined ? resolve(data.answer) : reject(new Error(data.error));
    };
    this.worker.onerror = (event) => show(`The core ended: ${event.message}. Reload the page.`);
  }

  ask(action, given = {}) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, do: action, ...given });
    });
  }
}

function show(message) {
  by("message").hidden = !message;
  by("message").textContent = message ?? "";
}

function figures(rows) {
  by("figures").tBodies[0].replaceChildren(...rows.map(([name, value]) => {
    const row = document.createElement("tr");
    for (const text of [name, value]) row.insertCell().textContent = text;
    return row;
  }));
}

const length = (x) => (Math.abs(x) < 1e-3 ? `${(1e6 * x).toPrecision(3)} µm` : `${(1e3 * x).toPrecision(4)} mm`);
const time = (us) => (us < 1000 ? `${us.toPrecision(3)} µs` : `${(us / 1000).toPrecision(3)} ms`);

const painter = new Painter(by("view")), camera = new Camera();
const core = new Core(WORKER, (stage, fraction) => {
  by("progress").value = fraction;
  by("stage").value = stage;
});
const bodies = {}; // by slot: { kept, info, samples, milliseconds }
let mode = "shape", place = [0, 0, 0], result = null, file = null, playing = false;

// ---- What the worker does, one request at a time: only the newest wish is kept.
let busy = false, wish = null;
async function want(work) {
  wish = work;
  if (busy) return;
  busy = true;
  while (wish) {
    const next = wish;
    wish = null;
    try {
      await next();
      show(null);
    } catch (error) {
      show(error.message);
    }
    draw();
  }
  busy = false;
}

async function cook(slot, kind, given = {}) {
  const made = await core.ask("cook", { slot, kind, resolution: +by("resolution").value, samples: +by("samples").value, ...given });
  painter.drop(bodies[slot]?.kept);
  bodies[slot] = { ...made, kept: painter.upload(made.mesh), kind };
}

async function cookFirst() {
  await cook("a", by("kind").value, file ?? {});
  const [low, high] = bodies.a.info.bounds, extent = Math.max(...high.map((x, k) => x - low[k]));
  bodies.a.extent = extent;
  by("level").max = Math.max(0, bodies.a.levels.length - 1);
  by("level-value").value = by("level").value;
  await cookSecond();
  look();
}

/** The second body is as large as the first one. */
async function cookSecond() {
  await cook("b", by("second").value, { extent: bodies.a.extent });
  place = [0, bodies.a.extent * 0.9, 0];
}

function look() {
  const isNut = mode === "nut", extent = isNut ? 0.05 : bodies.a?.extent ?? 1;
  camera.distance = extent * (mode === "shape" || isNut ? 2.6 : 3.4);
  const [low, high] = (isNut ? bodies.bolt : bodies.a)?.info.bounds ?? [[0, 0, 0], [0, 0, 0]];
  camera.target = low.map((x, k) => (x + high[k]) / 2);
}

const second = () => [...place, 0, 0, 0, 1];
const opposite = () => [...camera.target.map((t, k) => 2 * t - place[k]), 0, 0, 0, 1];

function nutPose() {
  const turn = +by("turn").value, angle = 2 * Math.PI * turn;
  return [0, NUT_HEIGHT + PITCH * (turn + +by("off").value), 0, 0, Math.sin(angle / 2), 0, Math.cos(angle / 2)];
}

async function refresh() {
  if (mode === "nut") {
    if (!bodies.nut) {
      for (const kind of ["bolt", "nut"]) await cook(kind, kind, { resolution: 192, samples: 4000 });
      look();
    }
    const asked = { a: "nut", b: "bolt", poseA: nutPose(), poseB: IDENTITY, maxSeparation: 1e-4, maxContacts: 400 };
    result = await core.ask("contacts", asked);
    figures([
      [result.nearest.separation < 0 ? "deepest" : "clearance", length(Math.abs(result.nearest.separation))],
      ["places within 0.1 mm", String(result.contacts.length)],
      ["query of the contacts", time(result.microseconds)], ["query of the distance", time(result.distanceMicroseconds)],
    ]);
    return;
  }
  if (!bodies.a) await cookFirst();
  if (mode === "shape") return slice();
  if (mode === "contacts") {
    const asked = { a: "b", b: "a", poseA: second(), poseB: IDENTITY, maxSeparation: 0, maxContacts: 300 };
    result = await core.ask("contacts", asked);
    figures([
      ["contacts", result.contacts.length === 300 ? "300 of more" : String(result.contacts.length)],
      [result.nearest.separation < 0 ? "depth" : "distance", length(Math.abs(result.nearest.separation))],
      ["query of the contacts", time(result.microseconds)], ["query of the distance", time(result.distanceMicroseconds)],
    ]);
  } else {
    result = await core.ask("path", { a: "b", b: "a", fromA: second(), toA: opposite(), poseB: IDENTITY });
    figures([
      ["first touch", result.hit ? `at ${(100 * result.hit.toi).toFixed(3)}% of the path` : "none"],
      ["continuous query", time(result.microseconds)],
    ]);
  }
}

async function slice() {
  const n = 160, axis = +by("axis").value;
  const { distances, extent, microseconds, at } = await core.ask("slice", { slot: "a", axis, position: +by("slice").value, n });
  const canvas = by("slice-view"), context = canvas.getContext("2d");
  Object.assign(canvas, { width: n, height: n });
  const image = context.createImageData(n, n), step = extent / 10;
  for (let i = 0; i < n * n; i++) {
    const d = distances[i], line = Math.abs(d / step - Math.round(d / step)) * step < extent / n / 1.5 ? 0.75 : 1;
    const fade = Math.min(1, Math.abs(d) / (0.4 * extent)), color = d < 0 ? [217, 116, 58] : [61, 127, 196];
    const isSurface = Math.abs(d) < extent / n / 1.5;
    color.forEach((c, k) => { image.data[4 * i + k] = isSurface ? 20 : line * (c + (240 - c) * (d < 0 ? 0.3 : 1) * (1 - fade) * 0.8); });
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  const { info, milliseconds } = bodies.a;
  figures([
    ["triangles", info.triangles.toLocaleString("en")], ["grid", info.grid.join(" × ")], ["voxel", length(info.voxelSize)],
    ["largest error of the field", length(info.fieldErrorMax)], ["samples", info.samples.toLocaleString("en")],
    [`parts of level ${by("level").value} of ${bodies.a.levels.length}`, (bodies.a.levels[+by("level").value]?.length ?? 0).toLocaleString("en")],
    ["cooked in", `${milliseconds.toFixed(0)} ms`], ["25,600 distances", time(microseconds)], ["slice at", length(at)],
  ]);
}

// ---- Drawing.
function hex(name) {
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
  const digits = value.length === 3 ? [...value].map((c) => c + c) : value.match(/../g);
  return digits.map((d) => parseInt(d, 16) / 255);
}

function draw() {
  requestAnimationFrame(() => {
    painter.begin(camera, hex("--back"));
    const blue = [0.36, 0.58, 0.9, 1], orange = [0.92, 0.6, 0.32, 1], red = [0.85, 0.1, 0.2, 1];
    if (mode === "nut") {
      if (!bodies.nut) return;
      painter.body(bodies.bolt.kept, IDENTITY, orange);
      painter.body(bodies.nut.kept, nutPose(), [...blue.slice(0, 3), 0.35]);
      return marks(red);
    }
    if (!bodies.a) return;
    if (mode === "shape") {
      painter.body(bodies.a.kept, IDENTITY, blue);
      if (by("show-samples").checked) treeLevel();
      return;
    }
    painter.body(bodies.a.kept, IDENTITY, mode === "contacts" ? [...blue.slice(0, 3), 0.75] : blue);
    if (mode === "path") {
      const [from, to] = [second(), opposite()], at = +by("time").value;
      painter.plainly("lines", [...from.slice(0, 3), ...to.slice(0, 3)], IDENTITY, red);
      const along = (t) => [...from.slice(0, 3).map((x, k) => x + t * (to[k] - x)), 0, 0, 0, 1];
      if (result?.hit) {
        painter.plainly("points", result.hit.pointOnB, IDENTITY, red, 9);
        painter.body(bodies.b.kept, along(result.hit.toi), [0.3, 0.7, 0.4, 0.6]);
      }
      painter.body(bodies.b.kept, along(at), orange);
    } else {
      painter.body(bodies.b.kept, second(), [...orange.slice(0, 3), 0.75]);
      marks(red);
    }
  });
}

/** Samples in the colours of the parts into which a level of the sphere tree divides them. */
function treeLevel() {
  const { samples, levels } = bodies.a, first = levels[+by("level").value] ?? [0], shown = PARTS.map(() => []);
  first.forEach((from, part) => {
    const to = first[part + 1] ?? samples.length / 3, kept = shown[part % PARTS.length];
    for (let k = 3 * from; k < 3 * to; k++) kept.push(samples[k]);
  });
  shown.forEach((places, i) => places.length && painter.plainly("points", places, IDENTITY, PARTS[i], first.length > 1 ? 4 : 2.5));
}

function marks(color) {
  const found = result?.contacts ?? [];
  if (!found.length) return;
  const size = 0.04 * (mode === "nut" ? 0.03 : bodies.a.extent);
  painter.gl.disable(painter.gl.DEPTH_TEST);
  painter.plainly("points", found.flatMap((c) => [...c.pointOnB]), IDENTITY, color, 5);
  painter.plainly("lines", found.flatMap((c) => [...c.pointOnB, ...c.pointOnB.map((x, k) => x - size * c.normal[k])]), IDENTITY, color);
  painter.gl.enable(painter.gl.DEPTH_TEST);
}

// ---- Controls.
function setMode(next) {
  mode = next;
  result = null;
  for (const tab of document.querySelectorAll("[role=tab]")) tab.setAttribute("aria-selected", String(tab.dataset.mode === mode));
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(mode);
  by("body").hidden = mode === "nut";
  by("hint").textContent = HINTS[mode];
  look();
  want(refresh);
}

function recook() {
  want(async () => {
    await cookFirst();
    await refresh();
  });
}

// This option stands before the built-in bodies while a file is shown, so that each of them can be chosen again.
const named = new Option("", "");

async function take(given) {
  if (!given) return;
  const bytes = new Uint8Array(await given.arrayBuffer());
  const before = file;
  file = { file: bytes, name: given.name };
  want(async () => {
    try {
      await cookFirst();
    } catch (error) {
      file = before;
      throw error;
    }
    named.text = given.name;
    by("kind").prepend(named);
    named.selected = true;
    await refresh();
  });
}

for (const [id, first] of [["kind", "torus_knot"], ["second", "gear"]]) {
  by(id).append(...Object.entries(KINDS).map(([kind, name]) => new Option(name, kind, kind === first, kind === first)));
}
for (const id of ["resolution", "samples"]) {
  by(id).oninput = () => { by(`${id}-value`).value = by(id).value; };
  by(id).onchange = recook;
}
by("kind").onchange = () => {
  file = null;
  named.remove();
  recook();
};
by("second").onchange = () => want(async () => {
  await cookSecond();
  await refresh();
});
by("file").onchange = () => take(by("file").files[0]);
for (const id of ["axis", "slice", "turn", "off"]) by(id).oninput = () => want(refresh);
for (const id of ["time", "show-samples"]) by(id).oninput = draw;
by("level").oninput = () => {
  by("level-value").value = by("level").value;
  want(refresh);
};
for (const tab of document.querySelectorAll("[role=tab]")) tab.onclick = () => setMode(tab.dataset.mode);
by("play").onclick = () => {
  playing = !playing;
  by("play").textContent = playing ? "Stop" : "Turn it";
  const step = () => {
    if (!playing || mode !== "nut") return;
    by("turn").value = +by("turn").value - 0.02 <= -4 ? 4 : +by("turn").value - 0.02;
    want(refresh);
    setTimeout(step, 30);
  };
  step();
};

const view = by("view"), pointers = new Map();
view.onpointerdown = (event) => {
  view.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
};
view.onpointerup = view.onpointercancel = (event) => pointers.delete(event.pointerId);
view.onpointermove = (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const move = [event.clientX - before[0], event.clientY - before[1]];
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    zoom(apart(before) / Math.max(1, apart([event.clientX, event.clientY])));
  } else if (["contacts", "path"].includes(mode) && by("drag-body").checked && !event.shiftKey) {
    const { right, up } = camera.axes(), scale = camera.distance / view.clientHeight / 1.1;
    shift(right.map((r, k) => scale * (move[0] * r - move[1] * up[k])));
  } else {
    camera.turn -= 0.008 * move[0];
    camera.rise = Math.max(-1.5, Math.min(1.5, camera.rise + 0.008 * move[1]));
    draw();
  }
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
};
view.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(0.001 * event.deltaY));
}, { passive: false });
view.onkeydown = (event) => {
  const step = 0.02 * (bodies.a?.extent ?? 1);
  const move = { ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowDown: [0, -1, 0], ArrowUp: [0, 1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1] }[event.key];
  if (!move) return;
  event.preventDefault();
  if (mode === "contacts" || mode === "path") return shift(move.map((x) => step * x));
  camera.turn += 0.1 * move[0];
  camera.rise = Math.max(-1.5, Math.min(1.5, camera.rise + 0.1 * move[1]));
  draw();
};

function zoom(factor) {
  camera.distance *= factor;
  draw();
}

function shift(move) {
  place = place.map((x, k) => x + move[k]);
  draw();
  want(refresh);
}

addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  take(event.dataTransfer.files[0]);
});
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

want(async () => {
  const packed = Uint8Array.from(atob(hasSimd() ? WASM : WASM_BASELINE), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  await core.ask("start", { wasm: await new Response(stream).arrayBuffer() });
  setMode(location.hash.slice(1) in HINTS ? location.hash.slice(1) : "shape");
});
