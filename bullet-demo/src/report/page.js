"use strict";
// Films: a background and, for each frame, the part that differs from it. Surface points are projected here, so that
// they can be laid over any frame.
const films = JSON.parse(document.getElementById("films").textContent);

function picture(base64) {
  const image = new Image();
  image.loaded = new Promise(done => { image.onload = image.onerror = done; });
  image.src = "data:image/png;base64," + base64;
  return image;
}

class Pane {
  constructor(canvas, film) {
    this.canvas = canvas;
    this.film = film;
    this.background = picture(film.background);
    this.frames = film.frames.map(f => f && { x: f[0], y: f[1], image: picture(f[2]) });
    this.ready = Promise.all([this.background, ...this.frames.filter(f => f).map(f => f.image)].map(i => i.loaded));
    const scale = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = film.width * scale;
    canvas.height = film.height * scale;
    this.context = canvas.getContext("2d");
    this.context.scale(scale, scale);
  }

  draw(share, points) {
    const k = Math.round(share * (this.film.frames.length - 1));
    const frame = this.frames[k];
    this.context.drawImage(this.background, 0, 0);
    if (frame) this.context.drawImage(frame.image, frame.x, frame.y);
    if (points) this.overlay(k);
  }

  overlay(k) {
    const { camera, width, height, models, points } = this.film;
    const poses = this.film.poses[k];
    const context = this.context;
    context.fillStyle = "rgba(10, 16, 26, 0.75)";
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    models.forEach((model, i) => {
      const [px, py, pz, x, y, z, w] = poses.slice(7 * i, 7 * i + 7);
      if (x === 0 && y === 0 && z === 0 && w === 0) return;
      const rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]];
      const surface = points[model];
      for (let j = 0; j < surface.length; j += 6) {
        const local = [surface[j] / 1000, surface[j + 1] / 1000, surface[j + 2] / 1000];
        const normal = [surface[j + 3] / 1000, surface[j + 4] / 1000, surface[j + 5] / 1000];
        const to = [px + dot(rows[0], local) - camera.eye[0], py + dot(rows[1], local) - camera.eye[1],
          pz + dot(rows[2], local) - camera.eye[2]];
        if (dot(to, rows.map(r => dot(r, normal))) > 0) continue;
        const depth = dot(to, camera.forward) * camera.half;
        const u = width / 2 + dot(to, camera.right) / depth * height / 2;
        const v = height / 2 - dot(to, camera.up) / depth * height / 2;
        context.fillRect(u - 0.6, v - 0.6, 1.2, 1.2);
      }
    });
  }
}

for (const section of document.querySelectorAll("section[data-films]")) {
  const canvases = [...section.querySelectorAll("canvas")];
  if (canvases.length === 0) continue;
  const button = section.querySelector(".controls button");
  const slider = section.querySelector("input[type=range]");
  const box = section.querySelector("input[type=checkbox]");
  const clock = section.querySelector("output");
  let panes = null, playing = false, before = 0;
  const longest = Math.max(...canvases.map(c => films[c.dataset.film].seconds.at(-1)));
  const speed = Math.max(1, longest / 8);
  const show = () => {
    const time = slider.value / 1000 * longest;
    clock.textContent = time.toFixed(2) + " s";
    // A run that was stopped early stays at its last frame.
    for (const pane of panes) pane.draw(Math.min(1, time / pane.film.seconds.at(-1)), box.checked);
  };
  const tick = now => {
    if (!playing) return;
    slider.value = Number(slider.value) + (now - before) * speed / longest;
    before = now;
    show();
    if (Number(slider.value) >= 1000) stop(); else requestAnimationFrame(tick);
  };
  const stop = () => { playing = false; button.textContent = "Play"; };
  const open = async () => {
    if (panes) return;
    panes = canvases.map(c => new Pane(c, films[c.dataset.film]));
    await Promise.all(panes.map(p => p.ready));
    show();
  };
  button.addEventListener("click", async () => {
    await open();
    if (playing) { stop(); return; }
    if (Number(slider.value) >= 1000) slider.value = 0;
    playing = true;
    button.textContent = "Pause";
    before = performance.now();
    requestAnimationFrame(tick);
  });
  slider.addEventListener("input", async () => { await open(); show(); });
  box.addEventListener("change", async () => { await open(); show(); });
  new IntersectionObserver((entries, observer) => {
    if (entries.some(e => e.isIntersecting)) { observer.disconnect(); open(); }
  }, { rootMargin: "400px" }).observe(section);
}

// Legend: a method is shown or hidden in all plots of its scene.
for (const legend of document.querySelectorAll(".legend")) {
  for (const button of legend.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", shown);
      for (const line of legend.parentElement.querySelectorAll(".m-" + button.dataset.method)) line.classList.toggle("hidden", !shown);
    });
  }
}
