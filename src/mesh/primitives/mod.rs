//! Shapes this project makes itself: the demo's bodies and the tests' shapes with known volumes. All are closed,
//! consistently wound and outward; sizes in metres; up, and the axis of round things, is y; centred as each says.
//! Sines come from `libm`, so every platform makes the same bytes.

mod blob;
mod extrude;
mod knot;
mod lathe;
mod random;
mod thread;
mod tube;

use std::collections::HashMap;

use crate::math::limits;
use crate::mesh::TriMesh;
use crate::{Error, Result};

pub use blob::blob;
pub use extrude::{gear, hole};
pub use knot::torus_knot;
pub use lathe::{actuator, bowl, capsule, cone, cylinder, peg, torus};
pub use thread::{bolt, nut, Thread};
pub use tube::{alpha, alpha_line, tube};

/// Most segments around or along anything.
const MAX_SEGMENTS: u32 = 4096;

/// A primitive with its parameters; the fields are the arguments of the function of the same name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    Cuboid { half: [f64; 3] },
    Sphere { radius: f64, subdivisions: u32 },
    Capsule { radius: f64, half_height: f64, segments: u32 },
    Cylinder { radius: f64, half_height: f64, segments: u32 },
    Cone { radius: f64, height: f64, segments: u32 },
    Torus { major: f64, minor: f64, nu: u32, nv: u32 },
    TorusKnot { p: u32, q: u32, radius: f64, tube: f64, nu: u32, nv: u32 },
    Bowl { outer_radius: f64, thickness: f64, segments: u32 },
    Peg { radius: f64, length: f64, chamfer: f64, segments: u32 },
    Hole { half: [f64; 3], radius: f64, segments: u32 },
    Gear { teeth: u32, outer_radius: f64, root_radius: f64, thickness: f64, bore: f64 },
    Blob { subdivisions: u32 },
    Bolt { thread: Thread, length: f64, segments: u32 },
    Nut { thread: Thread, height: f64, segments: u32 },
}

impl Primitive {
    /// The names [`Primitive::by_name`] knows.
    pub const NAMES: [&str; 14] = [
        "box",
        "sphere",
        "capsule",
        "cylinder",
        "cone",
        "torus",
        "torus-knot",
        "bowl",
        "peg",
        "hole",
        "gear",
        "blob",
        "bolt",
        "nut",
    ];

    /// A primitive of about 1 m largest extent at a fair resolution; of bolt and nut an M16 one, in its own size: class 6g,
    /// 30 mm long, and class 6H, 14.5 mm high (ISO 4032).
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match name {
            "box" | "cuboid" => Self::Cuboid { half: [0.5; 3] },
            "sphere" => Self::Sphere { radius: 0.5, subdivisions: 4 },
            "capsule" => Self::Capsule { radius: 0.2, half_height: 0.3, segments: 48 },
            "cylinder" => Self::Cylinder { radius: 0.3, half_height: 0.5, segments: 64 },
            "cone" => Self::Cone { radius: 0.4, height: 1.0, segments: 64 },
            "torus" => Self::Torus { major: 0.35, minor: 0.15, nu: 96, nv: 48 },
            "torus-knot" => Self::TorusKnot { p: 2, q: 3, radius: 0.3, tube: 0.08, nu: 256, nv: 24 },
            "bowl" => Self::Bowl { outer_radius: 0.5, thickness: 0.08, segments: 64 },
            "peg" => Self::Peg { radius: 0.1, length: 1.0, chamfer: 0.02, segments: 64 },
            "hole" => Self::Hole { half: [0.5, 0.25, 0.5], radius: 0.101, segments: 64 },
            "gear" => Self::Gear { teeth: 16, outer_radius: 0.5, root_radius: 0.39, thickness: 0.2, bore: 0.15 },
            "blob" => Self::Blob { subdivisions: 2 },
            "bolt" => Self::Bolt { thread: Thread::M16_6G, length: 30e-3, segments: 144 },
            "nut" => Self::Nut { thread: Thread::M16_6H, height: 14.5e-3, segments: 144 },
            _ => {
                return Err(Error::argument(
                    "primitive",
                    format!("{name:?}"),
                    format!("one of {}", Self::NAMES.join(", ")),
                ))
            }
        })
    }

    /// Makes it.
    pub fn mesh(&self) -> Result<TriMesh> {
        match *self {
            Self::Cuboid { half } => cuboid(half),
            Self::Sphere { radius, subdivisions } => sphere(radius, subdivisions),
            Self::Capsule { radius, half_height, segments } => capsule(radius, half_height, segments),
            Self::Cylinder { radius, half_height, segments } => cylinder(radius, half_height, segments),
            Self::Cone { radius, height, segments } => cone(radius, height, segments),
            Self::Torus { major, minor, nu, nv } => torus(major, minor, nu, nv),
            Self::TorusKnot { p, q, radius, tube, nu, nv } => torus_knot(p, q, radius, tube, nu, nv),
            Self::Bowl { outer_radius, thickness, segments } => bowl(outer_radius, thickness, segments),
            Self::Peg { radius, length, chamfer, segments } => peg(radius, length, chamfer, segments),
            Self::Hole { half, radius, segments } => hole(half, radius, segments),
            Self::Gear { teeth, outer_radius, root_radius, thickness, bore } => {
                gear(teeth, outer_radius, root_radius, thickness, bore)
            }
            Self::Blob { subdivisions } => blob(subdivisions),
            Self::Bolt { thread, length, segments } => bolt(thread, length, segments),
            Self::Nut { thread, height, segments } => nut(thread, height, segments),
        }
    }
}

/// A box of half extents `half`, centred. Twelve triangles.
pub fn cuboid(half: [f64; 3]) -> Result<TriMesh> {
    half.iter().try_for_each(|&h| length("half", h))?;
    let vertices = (0..8).map(|i| std::array::from_fn(|k| if i >> k & 1 == 1 { half[k] } else { -half[k] })).collect();
    // Each side as a quad, counter-clockwise from outside; corner bits are x, y, z.
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    TriMesh::new(vertices, triangles)
}

/// A sphere, centred: an icosahedron with every triangle cut in four `subdivisions` (at most 8) times, all vertices on
/// the sphere.
pub fn sphere(radius: f64, subdivisions: u32) -> Result<TriMesh> {
    length("radius", radius)?;
    within("subdivisions", subdivisions, 0, 8)?;
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.push([a, b, 0.0]);
    }
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.push([0.0, a, b]);
    }
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.push([b, 0.0, a]);
    }
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    let on_sphere = |p: [f64; 3]| {
        let scale = radius / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
        p.map(|x| x * scale)
    };
    vertices.iter_mut().for_each(|v| *v = on_sphere(*v));
    for _ in 0..subdivisions {
        let mut middles = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let (p, q) = (vertices[a as usize], vertices[b as usize]);
                vertices.push(on_sphere(std::array::from_fn(|k| 0.5 * (p[k] + q[k]))));
                vertices.len() as u32 - 1
            })
        };
        let quartered = triangles.iter().flat_map(|&[a, b, c]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        });
        triangles = quartered.collect();
    }
    TriMesh::new(vertices, triangles)
}

/// Refuses what is not a positive, finite length.
fn length(argument: &str, value: f64) -> Result<()> {
    if limits::is_length(value) {
        return Ok(());
    }
    Err(Error::argument(argument, format!("{} m", limits::Shown(value)), "a positive, finite length, 1e-18 to 1e18 m"))
}

/// Refuses a length that is not in (0, `limit`); `what` explains the limit.
fn shorter(argument: &str, value: f64, limit: f64, what: &str) -> Result<()> {
    length(argument, value)?;
    if value < limit {
        return Ok(());
    }
    Err(Error::argument(argument, format!("{value} m"), format!("less than {limit} m, {what}")))
}

/// Refuses a count outside [`least`, `most`].
fn within(argument: &str, value: u32, least: u32, most: u32) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::argument(argument, value, format!("{least} to {most}")))
}

/// cos and sin of `i`/`n` of a full turn.
fn turn(i: u32, n: u32) -> (f64, f64) {
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(i) / f64::from(n));
    (cos, sin)
}
