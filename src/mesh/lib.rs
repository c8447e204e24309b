//! Triangle soup: import, validation, welding, mass properties, BVH with closest point and winding number, and the
//! primitives of this project. Knows nothing of grids, samples or contacts.

mod apart;
mod bucket;
mod bvh;
mod features;
mod hull;
pub mod io;
mod locate;
mod mass;
pub mod primitives;
mod report;
mod sharp;
pub mod simplify;
pub mod triangle;
mod unit;
mod weld;

pub use bucket::sorted_by_bucket;
pub use bvh::{
    closest_between, crossings, near_pairs, Between, Branch, Crossing, Edges, Front, Placement, Slabs, WantedEdges,
    WINDING_LANES,
};
pub use bvh::{Bvh, Closest};
pub use features::FeaturedTriangles;
pub use features::{FeatureKind, MeshFeature};
pub use hull::convex_hull;
pub use locate::{Located, Locator};
pub use mass::{principal_axes, Integral};
pub use report::count_repeats;
pub use report::{validate_raw, Report};
pub use sharp::Sharp;
pub use triangle::Feature;
pub use unit::ProbableSize;
pub use weld::rotated;

pub use voxshell_base::math::limits::MAX_COORDINATE;
use voxshell_base::math::{Aabb, Pose, Vec3};
use voxshell_base::memory::{CollectGuarded, SliceGuarded};
use voxshell_base::{Error, Result};

/// Smallest extent of a mesh from which a shape can be made, metres: the inner loops square lengths in f32.
pub const MIN_EXTENT: f64 = voxshell_base::math::limits::MIN_LENGTH;

/// An indexed triangle soup, metres, body frame. Counter-clockwise triangles seen from outside, where there is an outside.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TriMesh {
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub vertices: Vec<[f64; 3]>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub triangles: Vec<[u32; 3]>,
}

/// Mass properties for unit density and for a total mass; body frame.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MassProperties {
    /// Enclosed volume, m³.
    pub volume: f64,
    /// Centre of mass, metres, body frame.
    pub center_of_mass: [f64; 3],
    /// Inertia per unit mass about the centre of mass, body axes, m²: xx, yy, zz, xy, xz, yz (tensor entries, so the
    /// products carry their minus sign).
    pub inertia: [f64; 6],
    /// True when integrated exactly over the triangles that bound the inside, false when estimated from a field's inside.
    pub exact: bool,
}

impl MassProperties {
    /// Returns the mass properties of the body `factor` times as large and of the same density.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            volume: self.volume * factor * factor * factor,
            center_of_mass: self.center_of_mass.map(|x| x * factor),
            inertia: self.inertia.map(|x| x * factor * factor),
            exact: self.exact,
        }
    }
}

impl TriMesh {
    /// Returns a copy, made under a [`memory::guard`](voxshell_base::memory::guard).
    pub fn copied(&self) -> Self {
        Self { vertices: self.vertices.to_vec_guarded(), triangles: self.triangles.to_vec_guarded() }
    }

    /// Checks indices and coordinates and takes ownership; all data from outside passes through it.
    ///
    /// `vertices` in metres, body frame, finite and at most [`MAX_COORDINATE`]; `triangles` index them. Degenerate,
    /// duplicated or inconsistently wound triangles are accepted: [`TriMesh::report`] reports them.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self> {
        let mesh = Self { vertices, triangles };
        mesh.check().map(|()| mesh)
    }

    /// Makes the checks of [`TriMesh::new`].
    pub fn check(&self) -> Result<()> {
        let Self { vertices, triangles } = self;
        if triangles.is_empty() {
            return Err(Error::InvalidMesh(format!(
                "it has {} vertices and no triangles; expected at least one triangle",
                vertices.len()
            )));
        }
        for (i, v) in vertices.iter().enumerate() {
            if !v.iter().all(|x| x.abs() <= MAX_COORDINATE) {
                return Err(Error::InvalidMesh(format!(
                    "vertex {i} is ({:?}, {:?}, {:?}); expected finite coordinates of at most {MAX_COORDINATE:e} m",
                    v[0], v[1], v[2]
                )));
            }
        }
        for (i, t) in triangles.iter().enumerate() {
            if let Some(bad) = t.iter().find(|&&v| v as usize >= vertices.len()) {
                return Err(Error::InvalidMesh(format!(
                    "triangle {i} refers to vertex {bad}, but there are {} vertices",
                    vertices.len()
                )));
            }
        }
        Ok(())
    }

    /// The box around the vertices that triangles use, body frame, metres.
    pub fn bounds(&self) -> Aabb {
        Aabb::from_points(self.triangles.iter().flatten().map(|&i| &self.vertices[i as usize]))
    }

    /// Refuses a mesh that is too small for a shape; smaller ones can be read, checked, scaled and written.
    ///
    /// # Errors
    /// `InvalidMesh` for triangles whose box is less than [`MIN_EXTENT`] along every axis.
    pub fn check_extent(&self) -> Result<()> {
        let extent = self.bounds().extents().max();
        if self.triangles.is_empty() || extent >= MIN_EXTENT {
            return Ok(());
        }
        Err(Error::InvalidMesh(format!("it is {extent:e} m large; expected an extent of at least {MIN_EXTENT:e} m")))
    }

    /// The three corners of a triangle.
    #[inline]
    pub fn corners(&self, triangle: usize) -> [[f64; 3]; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }

    /// Total area of the triangles, m².
    pub fn area(&self) -> f64 {
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t).map(Vec3::from);
                0.5 * (b - a).cross(&(c - a)).norm()
            })
            .sum()
    }

    /// Returns the mesh with every vertex p moved to `pose` · (`scale` · p). A negative scale mirrors, and reverses the
    /// winding so that the outside stays outside.
    pub fn transformed(&self, pose: &Pose, scale: f64) -> Self {
        let vertices = self.vertices.iter().map(|v| {
            let p = nalgebra::Point3::from(Vec3::from(*v) * scale);
            (pose * p).coords.into()
        });
        let turn = |t: &[u32; 3]| if scale < 0.0 { [t[0], t[2], t[1]] } else { *t };
        Self { vertices: vertices.collect_guarded(), triangles: self.triangles.iter().map(turn).collect_guarded() }
    }

    /// The mesh with all coordinates times `factor`, which is positive.
    pub fn scaled(&self, factor: f64) -> Self {
        let vertices = self.vertices.iter().map(|v| v.map(|x| x * factor)).collect_guarded();
        Self { vertices, triangles: self.triangles.to_vec_guarded() }
    }

    /// The mesh with its box centred on the origin and the box's largest edge `extent` metres long. A mesh that is a
    /// single point is only centred.
    pub fn scaled_to_extent(&self, extent: f64) -> Self {
        let bounds = self.bounds();
        let largest = bounds.extents().max();
        let scale = if largest > 0.0 { extent / largest } else { 1.0 };
        let center = bounds.center();
        let place = |v: &[f64; 3]| {
            let from_center = Vec3::from(*v) - center;
            // The factor overflows for the smallest numbers of f64.
            (if scale.is_finite() { from_center * scale } else { from_center / largest * extent }).into()
        };
        let vertices = self.vertices.iter().map(place).collect_guarded();
        Self { vertices, triangles: self.triangles.to_vec_guarded() }
    }
}
