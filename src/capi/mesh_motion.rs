//! Time of impact of two moving meshes: triangles against triangles, without fields or samples.

use std::cmp::Ordering;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::motion::{motion_value, vxs_moving_body};
use super::query::vxs_workspace;
use super::record::argument::if_found;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::ccd::mesh_impact::{self, FeaturePair, MeshImpact, MeshQuery, MovingMesh, RigidPath};
use crate::contact::Geometry;
use crate::memory::GrowGuarded;
use crate::mesh::{FeatureKind, Locator, MeshFeature};

/// Rigid screw motion, as VXS_PATH_SCREW: a constant twist from pose to pose.
pub const VXS_RIGID_PATH_SCREW: u32 = 0;
/// The origin of the body moves on a straight line at a constant velocity, and the body turns about it at a constant
/// rate (Redon, Kheddar & Coquillart 2002).
pub const VXS_RIGID_PATH_STRAIGHT: u32 = 1;

/// A triangle.
pub const VXS_MESH_FEATURE_FACE: u32 = 0;
pub const VXS_MESH_FEATURE_EDGE: u32 = 1;
pub const VXS_MESH_FEATURE_VERTEX: u32 = 2;

/// A vertex, edge or face of a shape's mesh.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vxs_mesh_feature {
    /// One of `VXS_MESH_FEATURE_`.
    pub kind: u32,
    /// Face: number of the triangle. Edge: 3 t + i, for the edge from corner i to corner (i + 1) % 3 of the triangle t
    /// with the lowest number that has the edge. Vertex: number of the vertex; of several at one place, the lowest. The
    /// numbers are those of `vxs_shape_get_triangles`.
    pub index: u32,
}

/// A feature of A and one of B.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vxs_mesh_pair {
    pub a: vxs_mesh_feature,
    pub b: vxs_mesh_feature,
}

/// Settings of `vxs_mesh_time_of_impact`. Fill it with `vxs_mesh_motion_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_mesh_motion_query {
    /// `sizeof(vxs_mesh_motion_query)`, set by `vxs_mesh_motion_query_init`.
    pub struct_size: u32,
    /// One of `VXS_RIGID_PATH_`: the motion of the bodies between their poses.
    pub path: u32,
    /// Surfaces that are this close count as touching, metres; 0 or more. Default 0.
    pub max_separation: f64,
    /// Amount by which the distance of a reported pair may exceed `max_separation`, metres. 0, the default: a millionth
    /// of the extent of the smaller mesh.
    pub tolerance: f64,
    /// Length of an interval of time that is not halved any more if the features are within reach in it; a fraction of
    /// the step, 0 to 1. Default 0: the tolerance alone decides.
    pub time_tolerance: f64,
    /// Fraction of the step at which the query ends, 0 to 1. Default 1.
    pub until: f64,
    /// Pairs of features to leave out, in ascending order of the kind and index in A, then in B: contacts of the last
    /// step. Default: null, none.
    pub known: *const vxs_mesh_pair,
    /// Number of `known`.
    pub known_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// First contact of two moving meshes. World frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_mesh_impact {
    /// Fraction of the step, 0 to 1. Before it the surfaces are proven to be farther apart than `max_separation`.
    pub time: f64,
    /// Length of the interval from `time` in which the features touch, or come within the tolerance of it.
    pub width: f64,
    /// Closest points of the two features at `time`, metres.
    pub point_on_a: vxs_vec3,
    pub point_on_b: vxs_vec3,
    /// Unit normal from A to B: the cross product of the edges, or that of the face.
    pub normal: vxs_vec3,
    /// Distance of the two points, metres: not negative.
    pub separation: f64,
    /// The features that touch: two edges, or a vertex and a face. An edge and a face: they pass through each other at
    /// the start.
    pub features: vxs_mesh_pair,
    /// Triangles to which the features belong.
    pub triangle_a: u32,
    pub triangle_b: u32,
}

impl Growable for vxs_mesh_motion_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            path: VXS_RIGID_PATH_SCREW,
            max_separation: 0.0,
            tolerance: 0.0,
            time_tolerance: 0.0,
            until: 1.0,
            known: std::ptr::null(),
            known_count: 0,
            reserved: 0,
        }
    }
}

fn order(a: &vxs_mesh_pair, b: &vxs_mesh_pair) -> Ordering {
    let key = |p: &vxs_mesh_pair| [p.a.kind, p.a.index, p.b.kind, p.b.index];
    key(a).cmp(&key(b))
}

impl vxs_mesh_motion_query {
    fn to_core(self, a: &Locator, b: &Locator) -> Result<MeshQuery<'static>, Failure> {
        if self.reserved != 0 {
            return Err(Failure::argument("query->reserved", self.reserved, "0"));
        }
        let tolerance = check::length_or_zero("query->tolerance", self.tolerance)?;
        let tolerance = if tolerance > 0.0 { tolerance } else { mesh_impact::default_mesh_tolerance(a, b) };
        let paths = [RigidPath::Screw, RigidPath::Straight];
        Ok(MeshQuery {
            path: check::choice("query->path", self.path, "VXS_RIGID_PATH_", &paths)?,
            max_separation: check::length_or_zero("query->max_separation", self.max_separation)?,
            tolerance,
            time_tolerance: check::in_range("query->time_tolerance", self.time_tolerance, 0.0, 1.0)?,
            until: check::in_range("query->until", self.until, 0.0, 1.0)?,
            known: &[],
        })
    }

    /// Checks the known pairs.
    unsafe fn known_pairs<'a>(&self) -> Result<&'a [vxs_mesh_pair], Failure> {
        let known = check::slice("query->known", self.known, "query->known_count", self.known_count as usize)?;
        for (i, pair) in known.iter().enumerate() {
            for (body, feature) in [("a", pair.a), ("b", pair.b)] {
                if feature.kind as usize >= KINDS.len() {
                    let argument = format!("query->known[{i}].{body}.kind");
                    check::choice(&argument, feature.kind, "VXS_MESH_FEATURE_", &KINDS)?;
                }
            }
            if i > 0 && order(&known[i - 1], pair) == Ordering::Greater {
                let expected = "pairs in ascending order of a.kind, a.index, b.kind, b.index";
                return Err(Failure::argument(&format!("query->known[{i}]"), "less than the one before", expected));
            }
        }
        Ok(known)
    }
}

const KINDS: [FeatureKind; 3] = [FeatureKind::Face, FeatureKind::Edge, FeatureKind::Vertex];

impl From<MeshFeature> for vxs_mesh_feature {
    fn from(feature: MeshFeature) -> Self {
        let kind = match feature.kind {
            FeatureKind::Face => VXS_MESH_FEATURE_FACE,
            FeatureKind::Edge => VXS_MESH_FEATURE_EDGE,
            FeatureKind::Vertex => VXS_MESH_FEATURE_VERTEX,
        };
        Self { kind, index: feature.index }
    }
}

impl From<&MeshImpact> for vxs_mesh_impact {
    fn from(c: &MeshImpact) -> Self {
        Self {
            time: c.time,
            width: c.width,
            point_on_a: c.point_on_a.into(),
            point_on_b: c.point_on_b.into(),
            normal: c.normal.into(),
            separation: c.separation,
            features: vxs_mesh_pair { a: c.features.a.into(), b: c.features.b.into() },
            triangle_a: c.triangles[0],
            triangle_b: c.triangles[1],
        }
    }
}

unsafe fn moving_mesh<'a>(argument: &str, body: *const vxs_moving_body) -> Result<MovingMesh<'a>, Failure> {
    let body = check::input(argument, body)?;
    let shape: &Shape = handle::get(format_args!("{argument}->shape"), body.shape)?;
    let nothing = Geometry { field: None, shell: None, surface: None };
    let moving = motion_value(format_args!("{argument}->motion."), nothing, &body.motion)?;
    let mesh = shape.locator()?.ok_or_else(|| {
        Failure::unsupported(format!("{argument}->shape has no triangles; expected a shape made from a mesh"))
    })?;
    Ok(MovingMesh { mesh, from: moving.from, to: moving.to })
}

/// Fills `query` with the defaults.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_mesh_motion_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_mesh_motion_query_init(query: *mut vxs_mesh_motion_query, size: usize) -> vxs_status {
    entry!(vxs_mesh_motion_query_init, [], { check::init(query, size, vxs_mesh_motion_query::defaults()) })
}

/// Finds when the meshes of two moving shapes first touch: vertices against faces and edges against edges, in interval
/// arithmetic (Redon, Kheddar & Coquillart 2002). Needs no field and no samples; works for triangle soup of any kind.
///
/// The query misses no contact of the surfaces: before `impact->time` every pair of features is proven to be farther
/// apart than `query->max_separation`. At that time the reported features exceed it by at most the tolerance, so a near
/// miss within the tolerance may be reported. Surfaces that touch, or pass through each other, at the start give 0; a
/// mesh that is inside another one does not touch it. Once the workspace is warm and the shapes are prepared
/// (`vxs_shape_prepare_triangles`), the query allocates nothing and takes no lock; the same input gives the same bytes.
///
/// @param a, b          the two bodies; their shapes may be the same
/// @param query         settings of the query; null for the defaults
/// @param workspace     this thread's scratch
/// @param[out] impact   the first contact; written if found
/// @param[out] found    false if the surfaces do not touch
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (a shape without triangles),
/// VXS_OUT_OF_MEMORY,         VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_mesh_time_of_impact(
    a: *const vxs_moving_body,
    b: *const vxs_moving_body,
    query: *const vxs_mesh_motion_query,
    workspace: *mut vxs_workspace,
    impact: *mut vxs_mesh_impact,
    found: *mut bool,
) -> vxs_status {
    entry!(
        fast(vxs_mesh_time_of_impact(a, b, query, workspace, if_found(impact, found), found)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b) = (moving_mesh("a", a)?, moving_mesh("b", b)?);
            let given = vxs_mesh_motion_query::read(query)?;
            let query = given.to_core(a.mesh, b.mesh)?;
            let known = given.known_pairs()?;
            let scratch = handle::get("workspace", workspace)?;
            check::out("impact", impact)?;
            check::out("found", found)?;
            let mut scratch = scratch.lock("workspace")?;
            let mut pairs = std::mem::take(&mut scratch.known_pairs);
            pairs.clear();
            let kind = |k: u32| KINDS[k as usize];
            pairs.extend_guarded(known.iter().map(|p| FeaturePair {
                a: MeshFeature::new(kind(p.a.kind), p.a.index),
                b: MeshFeature::new(kind(p.b.kind), p.b.index),
            }));
            let query = MeshQuery { known: &pairs, ..query };
            let first = mesh_impact::mesh_time_of_impact(&a, &b, &query, &mut scratch.mesh);
            scratch.known_pairs = pairs;
            let first = first?;
            if let Some(c) = &first {
                impact.write(c.into());
            }
            found.write(first.is_some());
            Ok(VXS_OK)
        }
    )
}
