//! Meshes made by the library.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::status::*;
use crate::mesh::primitives::{Primitive, Thread};
use crate::mesh::TriMesh;

/// Box. size: half extents x, y, z.
pub const VXS_PRIMITIVE_BOX: u32 = 0;
/// Sphere. size: radius; detail: subdivisions of an icosahedron.
pub const VXS_PRIMITIVE_SPHERE: u32 = 1;
/// Capsule along y. size: radius, half height of its segment; detail: segments around.
pub const VXS_PRIMITIVE_CAPSULE: u32 = 2;
/// Cylinder along y. size: radius, half height; detail: segments around.
pub const VXS_PRIMITIVE_CYLINDER: u32 = 3;
/// Cone along y, centred at half its height. size: radius, height; detail: segments around.
pub const VXS_PRIMITIVE_CONE: u32 = 4;
/// Torus around y. size: major, minor radius; detail: segments around, around the tube.
pub const VXS_PRIMITIVE_TORUS: u32 = 5;
/// Torus knot around y. size: radius, tube radius; detail: p, q, segments along, around the tube.
pub const VXS_PRIMITIVE_TORUS_KNOT: u32 = 6;
/// Bowl, open upwards (y): a hemispherical shell. size: outer radius, thickness; detail: segments around.
pub const VXS_PRIMITIVE_BOWL: u32 = 7;
/// Peg along y with chamfered ends. size: radius, length, chamfer; detail: segments around.
pub const VXS_PRIMITIVE_PEG: u32 = 8;
/// Block with a through hole along y. size: half extents x, y, z, hole radius; detail: segments around the hole.
pub const VXS_PRIMITIVE_HOLE: u32 = 9;
/// Gear around y. size: outer radius, root radius, thickness, bore radius; detail: teeth.
pub const VXS_PRIMITIVE_GEAR: u32 = 10;
/// A bunny-like blob. size: scale (1: about 1 m large); detail: subdivisions.
pub const VXS_PRIMITIVE_BLOB: u32 = 11;
/// Hexagonal bolt with an ISO metric thread along y, its head's bearing face at y = 0, its tip at y = length. size:
/// nominal diameter, pitch, length, and the amounts by which pitch diameter and major diameter are below those of the
/// basic profile (ISO 965-1: 0.118 and 0.178 mm in the middle of class 6g at M16, the default); detail: segments
/// around, a multiple of 6.
pub const VXS_PRIMITIVE_BOLT: u32 = 12;
/// Hexagonal nut with an ISO metric thread around y, from y = 0 to its height. size: nominal diameter, pitch, height,
/// and the amounts by which pitch diameter and minor diameter are above those of the basic profile (0.106 and 0.1875 mm
/// in the middle of class 6H at M16, the default); detail: segments around, a multiple of 6. At any height it fits a
/// VXS_PRIMITIVE_BOLT of its diameter and pitch if it is turned around y by that height over the pitch.
pub const VXS_PRIMITIVE_NUT: u32 = 13;

/// A mesh made by the library. Fill it with `vxs_primitive_init`, which also sets a default size and detail for the
/// kind.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_primitive {
    /// `sizeof(vxs_primitive)`, set by `vxs_primitive_init`.
    pub struct_size: u32,
    /// One of `VXS_PRIMITIVE_`.
    pub kind: u32,
    /// Lengths in metres, as listed at the kind.
    pub size: [f64; 6],
    /// Fineness of the triangulation, as listed at the kind; 0 for a good default.
    pub detail: [u32; 4],
}

impl Growable for vxs_primitive {
    const ARGUMENT: &'static str = "primitive";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self { struct_size: 0, kind: VXS_PRIMITIVE_BOX, size: [0.0; 6], detail: [0; 4] }
    }
}

impl vxs_primitive {
    /// Returns a primitive with the size and detail that the core gives to the kind.
    pub(super) fn of_kind(argument: &str, kind: u32) -> Result<Self, Failure> {
        let name = check::choice(argument, kind, "VXS_PRIMITIVE_", &Primitive::NAMES)?;
        let mut size = [0.0; 6];
        let mut detail = [0; 4];
        {
            let mut sizes = size.iter_mut();
            let mut details = detail.iter_mut();
            let mut put = |lengths: &[f64], counts: &[u32]| {
                lengths.iter().zip(&mut sizes).for_each(|(from, to)| *to = *from);
                counts.iter().zip(&mut details).for_each(|(from, to)| *to = *from);
            };
            match Primitive::by_name(name)? {
                Primitive::Cuboid { half } => put(&half, &[]),
                Primitive::Sphere { radius, subdivisions } => put(&[radius], &[subdivisions]),
                Primitive::Capsule { radius, half_height, segments } => put(&[radius, half_height], &[segments]),
                Primitive::Cylinder { radius, half_height, segments } => put(&[radius, half_height], &[segments]),
                Primitive::Cone { radius, height, segments } => put(&[radius, height], &[segments]),
                Primitive::Torus { major, minor, nu, nv } => put(&[major, minor], &[nu, nv]),
                Primitive::TorusKnot { p, q, radius, tube, nu, nv } => put(&[radius, tube], &[p, q, nu, nv]),
                Primitive::Bowl { outer_radius, thickness, segments } => put(&[outer_radius, thickness], &[segments]),
                Primitive::Peg { radius, length, chamfer, segments } => put(&[radius, length, chamfer], &[segments]),
                Primitive::Hole { half: [x, y, z], radius, segments } => put(&[x, y, z, radius], &[segments]),
                Primitive::Gear { teeth, outer_radius, root_radius, thickness, bore } => {
                    put(&[outer_radius, root_radius, thickness, bore], &[teeth]);
                }
                Primitive::Blob { subdivisions } => put(&[1.0], &[subdivisions]),
                Primitive::Bolt { thread: t, length: long, segments }
                | Primitive::Nut { thread: t, height: long, segments } => {
                    put(&[t.diameter, t.pitch, long, t.pitch_deviation, t.crest_deviation], &[segments]);
                }
            }
        }
        Ok(Self { struct_size: 0, kind, size, detail })
    }

    pub(super) fn mesh(&self) -> Result<TriMesh, Failure> {
        let default = Self::of_kind("primitive->kind", self.kind)?;
        for (i, used) in default.size.iter().enumerate() {
            // A chamfer or a bore may be 0. The core checks which lengths may be 0.
            check::coordinate(format!("primitive->size[{i}]"), if *used > 0.0 { self.size[i] } else { 0.0 })?;
        }
        let s = &self.size;
        let d: [u32; 4] = std::array::from_fn(|i| if self.detail[i] == 0 { default.detail[i] } else { self.detail[i] });
        let thread = Thread { diameter: s[0], pitch: s[1], pitch_deviation: s[3], crest_deviation: s[4] };
        let primitive = match self.kind {
            VXS_PRIMITIVE_BOX => Primitive::Cuboid { half: [s[0], s[1], s[2]] },
            VXS_PRIMITIVE_SPHERE => Primitive::Sphere { radius: s[0], subdivisions: d[0] },
            VXS_PRIMITIVE_CAPSULE => Primitive::Capsule { radius: s[0], half_height: s[1], segments: d[0] },
            VXS_PRIMITIVE_CYLINDER => Primitive::Cylinder { radius: s[0], half_height: s[1], segments: d[0] },
            VXS_PRIMITIVE_CONE => Primitive::Cone { radius: s[0], height: s[1], segments: d[0] },
            VXS_PRIMITIVE_TORUS => Primitive::Torus { major: s[0], minor: s[1], nu: d[0], nv: d[1] },
            VXS_PRIMITIVE_TORUS_KNOT => {
                Primitive::TorusKnot { p: d[0], q: d[1], radius: s[0], tube: s[1], nu: d[2], nv: d[3] }
            }
            VXS_PRIMITIVE_BOWL => Primitive::Bowl { outer_radius: s[0], thickness: s[1], segments: d[0] },
            VXS_PRIMITIVE_PEG => Primitive::Peg { radius: s[0], length: s[1], chamfer: s[2], segments: d[0] },
            VXS_PRIMITIVE_HOLE => Primitive::Hole { half: [s[0], s[1], s[2]], radius: s[3], segments: d[0] },
            VXS_PRIMITIVE_GEAR => {
                Primitive::Gear { teeth: d[0], outer_radius: s[0], root_radius: s[1], thickness: s[2], bore: s[3] }
            }
            VXS_PRIMITIVE_BOLT => Primitive::Bolt { thread, length: s[2], segments: d[0] },
            VXS_PRIMITIVE_NUT => Primitive::Nut { thread, height: s[2], segments: d[0] },
            _ => {
                let scale = check::length("primitive->size[0]", s[0])?;
                let blob = Primitive::Blob { subdivisions: d[0] }.mesh()?;
                return Ok(blob.transformed(&crate::math::Pose::identity(), scale));
            }
        };
        Ok(primitive.mesh()?)
    }
}

/// Fills `primitive` with the default size and detail of a kind.
///
/// @param[out] primitive  the struct to fill
/// @param size            `sizeof(vxs_primitive)`
/// @param kind            one of `VXS_PRIMITIVE_`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, or an unknown kind)
#[no_mangle]
pub unsafe extern "C" fn vxs_primitive_init(primitive: *mut vxs_primitive, size: usize, kind: u32) -> vxs_status {
    entry!(vxs_primitive_init, [], { check::init(primitive, size, vxs_primitive::of_kind("kind", kind)?) })
}
