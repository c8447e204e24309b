// Draws bodies, points and lines with WebGL 2.

const MESH = [`#version 300 es
in vec3 place; in vec3 normal; uniform mat4 view; uniform mat4 model; out vec3 facing;
void main() { facing = mat3(model) * normal; gl_Position = view * model * vec4(place, 1); }`, `#version 300 es
precision highp float; in vec3 facing; uniform vec4 color; uniform vec3 light; out vec4 seen;
void main() { float lit = 0.45 + 0.55 * abs(dot(normalize(facing), light)); seen = vec4(color.rgb * lit, color.a); }`];
const PLAIN = [`#version 300 es
in vec3 place; uniform mat4 view; uniform mat4 model; uniform float size;
void main() { gl_Position = view * model * vec4(place, 1); gl_Position.z -= 2e-4 * gl_Position.w; gl_PointSize = size; }`, `#version 300 es
precision highp float; uniform vec4 color; uniform bool isPoint; out vec4 seen;
void main() { if (isPoint && length(gl_PointCoord - 0.5) > 0.5) discard; seen = color; }`];

export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) out[4 * i + j] += a[4 * k + j] * b[4 * i + k];
  return out;
}

/** The matrix of a pose, column by column. */
export function matrix([px, py, pz, x, y, z, w]) {
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0,
    2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0,
    2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0, px, py, pz, 1,
  ];
}

/** A camera that turns about a point: angles, radians, and distance. */
export class Camera {
  constructor() {
    Object.assign(this, { turn: 0.6, rise: 0.35, distance: 3, target: [0, 0, 0] });
  }

  /** Unit vectors to the right, up and toward the camera. */
  axes() {
    const [s, c, sr, cr] = [Math.sin(this.turn), Math.cos(this.turn), Math.sin(this.rise), Math.cos(this.rise)];
    return { right: [c, 0, -s], up: [-s * sr, cr, -c * sr], back: [s * cr, sr, c * cr] };
  }

  view(aspect) {
    const { right, up, back } = this.axes(), d = this.distance, t = this.target;
    const dot = (a) => a[0] * t[0] + a[1] * t[1] + a[2] * t[2];
    const look = [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right), -dot(up), -dot(back) - d, 1];
    const f = aspect < 1 ? 2.2 * aspect : 2.2, [near, far] = [0.02 * d, 20 * d];
    return multiply([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0], look);
  }
}

/** Triangles with a normal each, so that edges stay sharp. */
function faceted({ vertices, faces }) {
  const place = new Float32Array(3 * faces.length), normal = new Float32Array(3 * faces.length);
  for (let t = 0; t < faces.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => vertices.subarray(3 * faces[t + k], 3 * faces[t + k] + 3));
    const [u, v] = [b, c].map((p) => [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...n) || 1;
    [a, b, c].forEach((p, k) => {
      place.set(p, 3 * (t + k));
      normal.set(n.map((x) => x / size), 3 * (t + k));
    });
  }
  return { place, normal };
}

export class Painter {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    Object.assign(this, { canvas, gl, mesh: this.program(gl, MESH), plain: this.program(gl, PLAIN), scratch: gl.createBuffer() });
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(gl, sources) {
    const program = gl.createProgram();
    [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, i) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, sources[i]);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    });
    gl.bindAttribLocation(program, 0, "place");
    gl.bindAttribLocation(program, 1, "normal");
    gl.linkProgram(program);
    return program;
  }

  /** Keeps a mesh for drawing. */
  upload(mesh) {
    const { gl } = this, { place, normal } = faceted(mesh), array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const buffers = [place, normal].map((data, i) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, 3, gl.FLOAT, false, 0, 0);
      return buffer;
    });
    gl.bindVertexArray(null);
    return { array, buffers, count: place.length / 3 };
  }

  drop(kept) {
    if (!kept) return;
    kept.buffers.forEach((buffer) => this.gl.deleteBuffer(buffer));
    this.gl.deleteVertexArray(kept.array);
  }

  begin(camera, background) {
    const { gl, canvas } = this, scale = Math.min(2, devicePixelRatio || 1);
    const [w, h] = [Math.max(1, Math.round(canvas.clientWidth * scale)), Math.max(1, Math.round(canvas.clientHeight * scale))];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    gl.viewport(0, 0, w, h);
    gl.clearColor(...background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.view = camera.view(w / h);
    const { back, up } = camera.axes(), light = back.map((x, k) => x + 0.6 * up[k]), size = Math.hypot(...light);
    this.light = light.map((x) => x / size);
    this.scale = scale;
  }

  uniforms(program, pose, color) {
    const { gl } = this, at = (name) => gl.getUniformLocation(program, name);
    gl.useProgram(program);
    gl.uniformMatrix4fv(at("view"), false, this.view);
    gl.uniformMatrix4fv(at("model"), false, matrix(pose));
    gl.uniform4fv(at("color"), color);
    gl[color[3] < 1 ? "enable" : "disable"](gl.BLEND);
    gl.depthMask(color[3] === 1);
    return at;
  }

  body(kept, pose, color) {
    const { gl } = this, at = this.uniforms(this.mesh, pose, color);
    gl.uniform3fv(at("light"), this.light);
    gl.bindVertexArray(kept.array);
    gl.drawArrays(gl.TRIANGLES, 0, kept.count);
    gl.bindVertexArray(null);
    gl.depthMask(true);
  }

  /** Points of a size in pixels, or lines from each point to the next but one. */
  plainly(kind, places, pose, color, size = 1) {
    const { gl } = this, at = this.uniforms(this.plain, pose, color);
    gl.uniform1f(at("size"), size * this.scale);
    gl.uniform1i(at("isPoint"), kind === "points" ? 1 : 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.scratch);
    gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(places), gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.disableVertexAttribArray(1);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.drawArrays(kind === "points" ? gl.POINTS : gl.LINES, 0, places.length / 3);
    gl.depthMask(true);
  }
}
