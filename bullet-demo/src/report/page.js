"use strict";
// Films: animated PNGs, whose frames are decoded here if the browser can (WebCodecs); elsewhere they just play. Surface
// points are projected here, so that they can be laid over any frame.
const films = JSON.parse(document.getElementById("films").textContent);

class Pane {
  constructor(image, film) {
    this.film = film;
    this.canvas = document.createElement("canvas");
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = film.width * scale;
    this.canvas.height = film.height * scale;
    this.context = this.canvas.getContext("2d");
    this.context.scale(scale, scale);
    this.ready = this.open(image);
  }

  async open(image) {
    const data = await (await fetch(image.src)).arrayBuffer();
    this.decoder = new ImageDecoder({ data, type: "image/png" });
    await this.decoder.tracks.ready;
    await this.draw(0, false);
    image.replaceWith(this.canvas);
  }

  async draw(share, points) {
    const k = Math.round(share * (this.film.seconds.length - 1));
    this.wanted = k;
    const { image } = await this.decoder.decode({ frameIndex: k });
    // A later call may have asked for another frame meanwhile.
    if (k === this.wanted) {
      this.context.drawImage(image, 0, 0, this.film.width, this.film.height);
      if (points) this.overlay(k);
    }
    image.close();
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
  const images = [...section.querySelectorAll("img[data-film]")];
  if (images.length === 0 || !window.ImageDecoder) continue;
  section.querySelector(".controls").hidden = false;
  const button = section.querySelector(".controls button");
  const slider = section.querySelector("input[type=range]");
  const box = section.querySelector("input[type=checkbox]");
  const clock = section.querySelector("output");
  let panes = null, playing = false, before = 0;
  const longest = Math.max(...images.map(i => films[i.dataset.film].seconds.at(-1)));
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
    panes = images.map(i => new Pane(i, films[i.dataset.film]));
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
      const lines = legend.parentElement.querySelectorAll(`polyline[stroke="${button.dataset.stroke}"]`);
      for (const line of lines) line.classList.toggle("hidden", !shown);
    });
  }
}
