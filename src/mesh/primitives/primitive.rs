//! A primitive with its parameters, by its name.

use super::{
    blob, bolt, bowl, capsule, cone, cuboid, cylinder, gear, hole, nut, peg, sphere, torus, torus_knot, Thread,
};
use crate::TriMesh;
use voxshell_base::{Error, Result};

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
    /// The names that [`Primitive::by_name`] knows.
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

    /// Returns a primitive of about 1 m largest extent at a fair resolution. Bolt and nut are M16, in their own size:
    /// class 6g, 30 mm long, and class 6H, 14.5 mm high (ISO 4032).
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

    /// Makes the mesh.
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
