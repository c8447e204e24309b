//! Bodies of the pair benchmark: sharp parts with sizes from a seed, parts that lie flush on each other, and mesh files.

use std::cell::OnceCell;
use std::f64::consts::{PI, TAU};

use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::primitives::{self, Primitive, Thread};
use voxshell::mesh::TriMesh;
use voxshell::Result;

use super::super::random::Random;
use super::log::Log;
use super::oracle::Solid;

/// A cooked body with its triangles.
pub struct Body {
    pub name: String,
    pub mesh: TriMesh,
    pub shape: Shape,
    solid: OnceCell<Solid>,
}

impl Body {
    /// Cooks a mesh in its own size.
    pub fn cook(name: &str, mesh: TriMesh, options: &CookOptions, log: &Log) -> Result<Self> {
        log.begin(&format!("cooking {name}, {} triangles", mesh.triangles.len()));
        let report = |_: &str, _: f64| {
            log.tick();
            true
        };
        let shape = Shape::cook(&mesh, options, &Progress::new(&report))?;
        Ok(Self::of_shape(name, mesh, shape))
    }

    /// Makes a body of a shape and its mesh.
    pub fn of_shape(name: &str, mesh: TriMesh, shape: Shape) -> Self {
        Self { name: name.into(), mesh, shape, solid: OnceCell::new() }
    }

    /// Returns the triangles as a solid, built on first use.
    pub fn solid(&self) -> &Solid {
        let is_embedded = || self.shape.surface().ok().flatten().is_some_and(|surface| surface.has_sides());
        self.solid.get_or_init(|| Solid::new(&self.mesh, is_embedded()))
    }

    /// Returns the largest distance of a vertex from the origin of the body, metres.
    pub fn radius(&self) -> f64 {
        self.mesh.vertices.iter().map(|p| Vec3::from(*p).norm()).fold(0.0, f64::max)
    }

    /// Returns the height of the box along y, metres.
    pub fn height(&self) -> f64 {
        self.mesh.bounds().extents().y
    }
}

/// Returns the default options of cooking, or with `cells` those of another resolution.
pub fn options(cells: Option<u32>) -> CookOptions {
    let default = CookOptions::default();
    CookOptions { resolution: cells.map_or(default.resolution, Resolution::Cells), ..default }
}

/// A pair of bodies by its name, and their meshes, 1 m large.
pub type Meshes = (&'static str, [TriMesh; 2]);

/// Returns a number between two others.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.next()
}

/// Makes a gear with 12 to 20 teeth.
fn gear(random: &mut Random) -> Result<TriMesh> {
    let teeth = 12 + random.below(9);
    Primitive::Gear {
        teeth,
        outer_radius: 0.5,
        root_radius: 0.5 - between(random, 1.2, 1.7) / f64::from(teeth),
        thickness: between(random, 0.1, 0.25),
        bore: between(random, 0.08, 0.2),
    }
    .mesh()
}

/// Makes a trefoil knot.
fn knot(random: &mut Random, nu: u32, nv: u32) -> Result<TriMesh> {
    Primitive::TorusKnot { p: 2, q: 3, radius: 0.3, tube: between(random, 0.06, 0.085), nu, nv }.mesh()
}

/// Makes a plate with a round hole.
fn plate(random: &mut Random, segments: u32) -> Result<TriMesh> {
    Primitive::Hole {
        half: [0.5, between(random, 0.01, 0.04), between(random, 0.3, 0.5)],
        radius: between(random, 0.08, 0.2),
        segments,
    }
    .mesh()
}

/// Makes a spike with 6 to 12 sides.
fn spike(random: &mut Random) -> Result<TriMesh> {
    Primitive::Cone { radius: between(random, 0.06, 0.15), height: 1.0, segments: 6 + random.below(7) }.mesh()
}

/// Makes a bracket of random thickness and width.
fn random_bracket(random: &mut Random) -> Result<TriMesh> {
    bracket(between(random, 0.06, 0.12), between(random, 0.3, 0.6))
}

/// Makes an L of two legs of 1 m: the outline is in the plane of x and z, the width is along y.
fn bracket(thickness: f64, width: f64) -> Result<TriMesh> {
    let outline = [[0.0, 0.0], [1.0, 0.0], [1.0, thickness], [thickness, thickness], [thickness, 1.0], [0.0, 1.0]];
    // The inner corner sees all others.
    let (inner, n) = (3, outline.len() as u32);
    let half = 0.5 * width;
    let vertices = [half, -half].iter().flat_map(|y| outline.map(|[x, v]| [x, *y, -v])).collect();
    let mut triangles = Vec::new();
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.extend([[n + i, n + j, j], [n + i, j, i]]);
        if i != inner && j != inner {
            triangles.extend([[inner, i, j], [n + inner, n + j, n + i]]);
        }
    }
    TriMesh::new(vertices, triangles)
}

/// Number of claws of a half of a coupling, and the play between the claws of two halves over their width.
const CLAWS: u32 = 3;
const PLAY: f64 = 0.04;
/// Height of the claws of a coupling, metres.
pub const CLAW: f64 = 0.2;

/// Makes half of a claw coupling around y: a ring from y = 0 to 0.15 m with claws on it. A second one fits on it turned over
/// about x and by half the distance of two claws about y.
fn coupling() -> Result<TriMesh> {
    const STEPS: u32 = 8;
    let (low, high, inner, outer) = (0.15, 0.15 + CLAW, 0.25, 0.5);
    let half_claw = PI / f64::from(2 * CLAWS) * (1.0 - PLAY);
    let mut corners: Vec<[f64; 3]> = Vec::new();
    let mut quad = |q: [[f64; 3]; 4]| corners.extend([q[0], q[1], q[2], q[0], q[2], q[3]]);
    let at = |r: f64, angle: f64, y: f64| [r * angle.cos(), y, -r * angle.sin()];
    for claw in 0..CLAWS {
        let middle = TAU * f64::from(claw) / f64::from(CLAWS);
        let (start, end) = (middle - half_claw, middle + half_claw);
        let next = TAU * f64::from(claw + 1) / f64::from(CLAWS) - half_claw;
        for (from, to, top) in [(start, end, high), (end, next, low)] {
            for step in 0..STEPS {
                let angle = |k: u32| from + (to - from) * f64::from(k) / f64::from(STEPS);
                let (p, q) = (angle(step), angle(step + 1));
                quad([at(inner, p, 0.0), at(inner, q, 0.0), at(outer, q, 0.0), at(outer, p, 0.0)]);
                quad([at(inner, p, top), at(outer, p, top), at(outer, q, top), at(inner, q, top)]);
                for [below, above] in [[0.0, low], [low, top]] {
                    if above > below {
                        quad([at(outer, p, below), at(outer, q, below), at(outer, q, above), at(outer, p, above)]);
                        quad([at(inner, q, below), at(inner, p, below), at(inner, p, above), at(inner, q, above)]);
                    }
                }
            }
        }
        quad([at(inner, start, low), at(outer, start, low), at(outer, start, high), at(inner, start, high)]);
        quad([at(outer, end, low), at(inner, end, low), at(inner, end, high), at(outer, end, high)]);
    }
    let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    // The angles of a full turn differ by rounding.
    Ok(TriMesh::new(corners, triangles)?.welded(1e-9))
}

/// Returns pairs of sharp bodies. The same seed gives the same ones.
pub fn sharp(seed: u64) -> Result<Vec<Meshes>> {
    let mut random = Random::new(seed);
    let random = &mut random;
    let pairs: [Meshes; 4] = [
        ("gear-knot", [gear(random)?, knot(random, 256, 24)?]),
        ("bracket-plate", [random_bracket(random)?, plate(random, 32)?]),
        ("spike-gear", [spike(random)?, gear(random)?]),
        ("plate-bracket", [plate(random, 48)?, random_bracket(random)?]),
    ];
    Ok(pairs.map(|(name, meshes)| (name, meshes.map(|mesh| mesh.scaled_to_extent(1.0)))).into())
}

/// Returns pairs of sharp bodies of few triangles.
pub fn coarse(seed: u64) -> Result<Vec<Meshes>> {
    let mut random = Random::new(seed);
    let random = &mut random;
    let small_gear =
        Primitive::Gear { teeth: 6, outer_radius: 0.5, root_radius: 0.35, thickness: 0.2, bore: 0.1 }.mesh()?;
    let pairs: [Meshes; 3] = [
        ("spike-bracket", [spike(random)?, random_bracket(random)?]),
        ("plate-knot", [plate(random, 16)?, knot(random, 40, 6)?]),
        ("gear-knot", [small_gear, knot(random, 40, 6)?]),
    ];
    Ok(pairs.map(|(name, meshes)| (name, meshes.map(|mesh| mesh.scaled_to_extent(1.0)))).into())
}

/// Returns pairs of bodies that lie flush on each other, the upper one first.
pub fn flush(seed: u64) -> Result<Vec<Meshes>> {
    let mut random = Random::new(seed);
    let random = &mut random;
    let pairs: [Meshes; 4] = [
        ("bracket", [random_bracket(random)?, random_bracket(random)?]),
        ("coupling", [coupling()?, coupling()?]),
        ("plate", [plate(random, 32)?, plate(random, 32)?]),
        ("gear", [gear(random)?, gear(random)?]),
    ];
    Ok(pairs.map(|(name, meshes)| (name, meshes.map(|mesh| mesh.scaled_to_extent(1.0)))).into())
}

/// Returns a cube and a block of 1 m.
pub fn cube_and_block() -> Result<[TriMesh; 2]> {
    Ok([primitives::cuboid([0.5; 3])?, primitives::cuboid([0.5, 0.05, 0.5])?])
}

/// Returns a plate of 1 m that is a 2,000th of that thick.
pub fn thin_plate() -> Result<TriMesh> {
    primitives::cuboid([0.5, 0.5 * THIN, 0.5])
}

/// Thickness of the thin plate, metres.
pub const THIN: f64 = 1.0 / 2000.0;

/// A bolt and its nut, scaled to a nut of 1 m.
pub struct Screw {
    pub name: &'static str,
    pub nut: TriMesh,
    pub bolt: TriMesh,
    /// Advance per turn, metres.
    pub pitch: f64,
    /// Lengths of the shank and of the nut, metres.
    pub shank: f64,
    pub height: f64,
    /// Difference of the pitch diameters, metres: the flanks of a nut in the middle of its play are a quarter of it apart.
    pub play: f64,
}

/// Sizes of a bolt and its nut, millimetres. The deviations, of the pitch diameter and of the crests, are those of class 6g for
/// the bolt and 6H for the nut in the middle of their zones: the fundamental deviation, which a nut does not have, and half of
/// the tolerance (ISO 965-1). The height of the nut is that of ISO 4032.
struct Sizes {
    name: &'static str,
    diameter: f64,
    pitch: f64,
    height: f64,
    bolt: [f64; 2],
    nut: [f64; 2],
}

const SCREWS: [Sizes; 3] = [
    Sizes {
        name: "M6",
        diameter: 6.0,
        pitch: 1.0,
        height: 5.0,
        bolt: [0.026 + 0.056, 0.026 + 0.090],
        nut: [0.075, 0.118],
    },
    Sizes {
        name: "M10",
        diameter: 10.0,
        pitch: 1.5,
        height: 8.2,
        bolt: [0.032 + 0.066, 0.032 + 0.118],
        nut: [0.090, 0.150],
    },
    Sizes {
        name: "M16",
        diameter: 16.0,
        pitch: 2.0,
        height: 14.5,
        bolt: [0.038 + 0.080, 0.038 + 0.140],
        nut: [0.106, 0.1875],
    },
];

/// Segments of the threads around their axis.
const SEGMENTS: u32 = 96;

impl Sizes {
    fn thread(&self, [pitch_deviation, crest_deviation]: [f64; 2]) -> Thread {
        Thread {
            diameter: 1e-3 * self.diameter,
            pitch: 1e-3 * self.pitch,
            pitch_deviation: 1e-3 * pitch_deviation,
            crest_deviation: 1e-3 * crest_deviation,
        }
    }

    fn screw(&self) -> Result<Screw> {
        let shank = 1.875e-3 * self.diameter;
        let nut = primitives::nut(self.thread(self.nut), 1e-3 * self.height, SEGMENTS)?;
        let bolt = primitives::bolt(self.thread(self.bolt), shank, SEGMENTS)?;
        let scale = 1.0 / nut.bounds().extents().amax();
        Ok(Screw {
            name: self.name,
            nut: nut.scaled(scale),
            bolt: bolt.scaled(scale),
            pitch: scale * 1e-3 * self.pitch,
            shank: scale * shank,
            height: scale * 1e-3 * self.height,
            play: scale * 1e-3 * (self.bolt[0] + self.nut[0]),
        })
    }
}

/// Returns bolts with their nuts.
pub fn screws() -> Result<Vec<Screw>> {
    SCREWS.iter().map(Sizes::screw).collect()
}
