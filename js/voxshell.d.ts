/** Three numbers, metres unless said otherwise. */
export type Vector = ArrayLike<number>;
/** Position x, y, z, metres, and unit quaternion x, y, z, w; body to world. */
export type Pose = ArrayLike<number>;
/** What is tested besides samples: edges of the meshes too, flat faces, or samples alone. */
export type Coverage = "edges" | "facets" | "samples";

export interface CookOptions {
  /** Voxels along the largest extent; by default 32 for a closed mesh of at most 1,024 triangles, whose field is exact, else 128. */
  resolution?: number;
  /** Edge of a voxel, metres; replaces `resolution`. */
  voxelSize?: number;
  /** Approximate number of samples. */
  samples?: number;
  /** Largest gap between samples, metres; replaces `samples`. */
  spacing?: number;
  sampling?: "default" | "projection" | "vertices" | "uniform" | "features";
  storage?: "auto" | "dense" | "bricks" | "exact";
  /** Cooks the surface at this distance from the triangles, metres: for sheets and soups. */
  offset?: number;
  /** Largest error of the field that is aimed at, metres. */
  targetError?: number;
  /** Called while it cooks, with a fraction from 0 to 1; `false` in return cancels, which is an error. */
  progress?: (stage: string, fraction: number) => boolean | void;
}

export interface Contact {
  /** World, metres. */
  pointOnA: Float64Array;
  pointOnB: Float64Array;
  /** Unit, from A to B. */
  normal: Float64Array;
  /** Metres, negative when penetrating. */
  separation: number;
  /** Fraction of the motion, 0 to 1; 0 for contacts at rest. */
  toi: number;
  /** Number of the sample or edge. */
  feature: number;
}

export interface Hit {
  /** Along the segment, 0 to 1. */
  fraction: number;
  /** Body frame, metres. */
  point: Float64Array;
  /** Unit, outward. */
  normal: Float64Array;
}

export interface ShapeInfo {
  vertices: number;
  triangles: number;
  grid: [number, number, number];
  /** Metres. */
  voxelSize: number;
  fieldErrorMax: number;
  samples: number;
  /** Lowest and highest corner, body frame, metres. */
  bounds: [number[], number[]];
  /** Levels of the sphere tree; 0 without samples. */
  treeLevels: number;
}

/** Field and samples of a body. Immutable. Freed by `free`, or when it is collected. */
export interface Shape {
  readonly info: ShapeInfo;
  readonly mesh: { vertices: Float64Array; faces: Uint32Array };
  /** Points and unit normals of the samples, body frame, metres. */
  readonly samples: { points: Float64Array; normals: Float64Array };
  /**
   * First sample of each part into which a level of the sphere tree divides the samples, ascending; 0 is the root, with one
   * part. The samples of a part have consecutive numbers.
   */
  treeLevel(level: number): Uint32Array;
  /** Signed distances, metres, and gradients at points x, y, z, …, body frame. */
  sample(points: ArrayLike<number>): { distances: Float64Array; gradients: Float64Array };
  /** First hits of segments between points x, y, z, …, body frame; null without one. */
  segments(from: ArrayLike<number>, to: ArrayLike<number>): (Hit | null)[];
  /** The bytes of an asset file, which every platform reads. */
  toBytes(): Uint8Array;
  free(): void;
}

export interface Voxshell {
  /** Cooks triangles: vertices x, y, z, …, metres; faces with three indices each, counter-clockwise seen from outside. */
  cook(vertices: ArrayLike<number>, faces: ArrayLike<number>, options?: CookOptions): Shape;
  /** Cooks the bytes of a mesh file, OBJ, STL or PLY by the extension of its name. */
  cookFile(bytes: Uint8Array, name: string, options?: CookOptions): Shape;
  /** Cooks a mesh of the library. Sizes, metres, and details replace the defaults from the first on. */
  primitive(
    kind: "box" | "sphere" | "capsule" | "cylinder" | "cone" | "torus" | "torus_knot" | "bowl" | "peg" | "hole" | "gear" | "blob" |
      "bolt" | "nut",
    options?: CookOptions & { size?: number[]; detail?: number[] },
  ): Shape;
  /** Exact shapes without samples. */
  sphere(radius: number): Shape;
  box(halfExtents: Vector): Shape;
  halfSpace(normal?: Vector, offset?: number): Shape;
  fromBytes(bytes: Uint8Array): Shape;
  /** All contacts up to `maxSeparation` (0), deepest first; `maxContacts` reduces them. */
  contacts(a: Shape, b: Shape, options?: {
    poseA?: Pose; poseB?: Pose; maxSeparation?: number; maxContacts?: number; coverage?: Coverage;
  }): Contact[];
  /** The closest or deepest contact; null beyond `maxDistance`. */
  distance(a: Shape, b: Shape, options?: { poseA?: Pose; poseB?: Pose; maxDistance?: number; coverage?: Coverage }): Contact | null;
  /** The first contact of moving shapes, or null. A shape without a `to` rests. */
  timeOfImpact(a: Shape, b: Shape, options?: {
    fromA?: Pose; toA?: Pose; fromB?: Pose; toB?: Pose; path?: "screw" | "straight"; maxSeparation?: number; coverage?: Coverage;
  }): Contact | null;
}

/** Returns whether the runtime has SIMD128; `load` takes a module without it otherwise. */
export function hasSimd(): boolean;

/** Loads a module: that of the package, or one from bytes or an address. A trap ends a module: load another one then. */
export function load(source?: ArrayBuffer | ArrayBufferView | URL | string): Promise<Voxshell>;
