//! Ground truth of contacts: distances between the true meshes, for any shape that a method uses instead.
//!
//! For two bodies, dense samples of each surface (all vertices, and points between them no farther apart than
//! [`Truth::SPACING`] of the extent) are measured against the exact signed distance of the other. A field of the mesh
//! selects the few samples that can be the deepest; only for those the exact distance is computed.

use voxshell::cook::FieldOptions;
use voxshell::field::{DenseField, SignedDistance};
use voxshell::math::{Aabb, Pose, Progress, RigidF32, Vec3};
use voxshell::mesh::{Bvh, Closest, Feature, TriMesh};
use voxshell::Result;

use crate::exact_depth::{depth, ExactSurface};

/// The true surface of a body, prepared for measuring.
pub struct Truth {
    bvh: Bvh,
    /// Body frame.
    mesh: TriMesh,
    closed: bool,
    bounds: Aabb,
    /// Vertices and points between them, in the field's local frame; samples of one patch are contiguous.
    samples: Vec<[f32; 3]>,
    patches: Vec<Patch>,
    field: DenseField,
    /// For bodies of few triangles.
    exact: Option<ExactSurface>,
}

/// Neighbouring samples, and their bounding ball.
struct Patch {
    center: [f32; 3],
    radius: f32,
    samples: std::ops::Range<usize>,
}

/// An axis-aligned box in the world frame.
pub struct Block {
    pub bounds: Aabb,
}

impl Truth {
    /// Largest distance between neighbouring samples, as a fraction of the largest extent.
    const SPACING: f64 = 0.005;
    /// Edge of a patch, as a fraction of the largest extent.
    const PATCH: f64 = 0.04;

    /// Cells of the field along the largest extent, and of a field that only pictures need.
    const CELLS: u32 = 256;
    const PICTURE_CELLS: u32 = 96;

    pub fn new(mesh: &TriMesh) -> Result<Self> {
        Self::with_cells(mesh, Self::CELLS)
    }

    /// Prepares a body for [`Truth::exact_depth`] and pictures.
    pub fn for_few_triangles(mesh: &TriMesh) -> Result<Self> {
        let exact = Some(ExactSurface::new(mesh));
        Ok(Self { exact, ..Self::with_cells(mesh, Self::PICTURE_CELLS)? })
    }

    /// Prepares a body for [`Truth::lowest`] and pictures.
    pub fn for_planes(mesh: &TriMesh) -> Result<Self> {
        Self::with_cells(mesh, Self::PICTURE_CELLS)
    }

    fn with_cells(mesh: &TriMesh, cells: u32) -> Result<Self> {
        let bounds = mesh.bounds();
        let extent = bounds.extents().max();
        let options = FieldOptions { padding_voxels: 16, ..FieldOptions::with_resolution(mesh, cells) };
        let field = voxshell::cook::dense_field(mesh, &options, &Progress::none())?;
        let origin = field.local_origin(&Vec3::zeros());
        let local = |p: Vec3| {
            let p = p - origin;
            [p.x as f32, p.y as f32, p.z as f32]
        };
        let mut samples: Vec<[f32; 3]> = mesh.vertices.iter().map(|v| local(Vec3::from(*v))).collect();
        for triangle in 0..mesh.triangles.len() {
            between(mesh.corners(triangle).map(Vec3::from), Self::SPACING * extent, |p| samples.push(local(p)));
        }
        let report = mesh.report();
        let patches = patches(&mut samples, (Self::PATCH * extent) as f32);
        let closed = report.closed && report.consistent && report.volume > 0.0;
        Ok(Self { bvh: Bvh::build(mesh), mesh: mesh.clone(), closed, bounds, samples, patches, field, exact: None })
    }

    /// Returns the field, for pictures of the true shape.
    pub fn field(&self) -> &DenseField {
        &self.field
    }

    /// Returns the height of the lowest point. It is exact, because the lowest point of a mesh is a vertex.
    pub fn lowest(&self, pose: &Pose) -> f64 {
        self.lowest_along(pose, Vec3::y())
    }

    /// Returns the smallest coordinate along `up`, a unit vector of the world frame.
    pub fn lowest_along(&self, pose: &Pose, up: Vec3) -> f64 {
        let local = pose.rotation.inverse() * up;
        let lowest = self.mesh.vertices.iter().map(|v| local.dot(&Vec3::from(*v))).fold(f64::INFINITY, f64::min);
        pose.translation.vector.dot(&up) + lowest
    }

    /// Returns the depth of the deepest surface point of either body in the other, metres; 0 if they are apart. For
    /// bodies made by [`Truth::for_few_triangles`].
    pub fn exact_depth(&self, pose: &Pose, other: &Truth, other_pose: &Pose) -> f64 {
        let message = "a body of few triangles";
        let (own, others) = (self.exact.as_ref().expect(message), other.exact.as_ref().expect(message));
        depth(own, pose, others, other_pose)
    }

    /// Returns the smallest distance to `other`, or minus the largest depth, metres. Infinite when it exceeds `limit`;
    /// a smaller limit makes the search faster.
    pub fn gap(&self, pose: &Pose, other: &Truth, other_pose: &Pose, limit: f64) -> f64 {
        let forth = self.one_way(&(other_pose.inverse() * pose), other, limit);
        let back = other.one_way(&(pose.inverse() * other_pose), self, forth.min(limit));
        forth.min(back)
    }

    /// Returns true if the boxes overlap, so that penetration is possible.
    pub fn may_touch(&self, pose: &Pose, other: &Truth, other_pose: &Pose) -> bool {
        self.bounds.transformed(pose).overlaps(&other.bounds.transformed(other_pose))
    }

    /// Returns [`Truth::gap`] against a block.
    pub fn gap_to_block(&self, pose: &Pose, block: &Block) -> f64 {
        let origin = self.field.local_origin(&Vec3::zeros());
        let (center, half) = (block.bounds.center(), block.bounds.extents() * 0.5);
        let to_world = RigidF32::between(pose, &origin, &center);
        let depth = |p: [f32; 3]| {
            let q = [0, 1, 2].map(|i| f64::from(p[i]).abs() - half[i]);
            let outside = q.iter().map(|d| d.max(0.0).powi(2)).sum::<f64>().sqrt();
            outside + q[0].max(q[1]).max(q[2]).min(0.0)
        };
        let forth = self.samples.iter().map(|&s| depth(to_world.point(s))).fold(f64::INFINITY, f64::min);
        // The samples of the block: they detect an edge that cuts into the body between two of the body's samples.
        let to_body = pose.inverse();
        let back = block.edge_points(Self::SPACING).map(|p| {
            let p = (to_body * nalgebra::Point3::from(p)).coords;
            if self.bounds.contains(&p) {
                self.bvh.signed_distance(p)
            } else {
                f64::INFINITY
            }
        });
        back.fold(forth, f64::min)
    }

    /// Returns the smallest signed distance of the samples to `other` if it is at most `limit`; `relative` maps this
    /// body's frame to the other's.
    fn one_way(&self, relative: &Pose, other: &Truth, limit: f64) -> f64 {
        let own_origin = self.field.local_origin(&Vec3::zeros());
        let origin = other.field.local_origin(&Vec3::zeros());
        let to_other = RigidF32::between(relative, &own_origin, &origin);
        // A sample more than twice the field's error above the current minimum cannot be the true minimum.
        let slack = 2.0 * other.field.error_bound() as f32;
        let mut least = limit as f32;
        let bound = |p: &Patch| other.field.lower_bound(to_other.point(p.center), p.radius);
        let mut near: Vec<(f32, usize)> =
            self.patches.iter().map(bound).zip(0..).filter(|b| b.0 <= least + slack).collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut rough: Vec<(f32, usize)> = Vec::new();
        for (bound, patch) in near {
            if bound > least + slack {
                break;
            }
            for i in self.patches[patch].samples.clone() {
                let phi = other.field.distance(to_other.point(self.samples[i]));
                if phi <= least + slack {
                    least = least.min(phi);
                    rough.push((phi, i));
                }
            }
        }
        rough.retain(|r| r.0 <= least + slack);
        rough.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let error = other.field.error_bound();
        let mut exact = limit;
        let mut found = false;
        for (phi, i) in rough {
            if f64::from(phi) - error > exact {
                break;
            }
            let s = self.samples[i];
            let p = Vec3::new(f64::from(s[0]), f64::from(s[1]), f64::from(s[2])) + own_origin;
            let q = (relative * nalgebra::Point3::from(p)).coords;
            let closest = other.bvh.closest_point(q);
            let distance = closest.distance_squared.sqrt();
            // The sign costs more than the distance, so it is computed only if it matters and the field does not
            // determine it.
            if -distance >= exact {
                continue;
            }
            let inside = match f64::from(phi) {
                phi if phi > error => false,
                phi if phi < -error => true,
                _ => other.is_inside(q, &closest),
            };
            let signed = if inside { -distance } else { distance };
            if signed <= exact {
                (exact, found) = (signed, true);
            }
        }
        if found {
            exact
        } else {
            f64::INFINITY
        }
    }

    /// Returns true if `p`, whose closest point is given, is inside.
    fn is_inside(&self, p: Vec3, closest: &Closest) -> bool {
        // If the closest point is inside a triangle of a closed mesh, the side of that triangle decides; on edges the
        // winding number does.
        match closest.feature {
            Feature::Face if self.closed => {
                let [a, b, c] = self.mesh.corners(closest.triangle as usize).map(Vec3::from);
                (p - closest.point).dot(&(b - a).cross(&(c - a))) < 0.0
            }
            _ => self.bvh.winding_number(p) > 0.5,
        }
    }
}

/// Sorts the samples by the cells of a grid of this size, and returns the ranges of the patches.
fn patches(samples: &mut [[f32; 3]], size: f32) -> Vec<Patch> {
    let cell = |p: &[f32; 3]| p.map(|x| (x / size).floor() as i32);
    samples.sort_by_key(cell);
    let mut patches = Vec::new();
    let mut first = 0;
    for chunk in samples.chunk_by(|a, b| cell(a) == cell(b)) {
        let low = chunk.iter().fold([f32::INFINITY; 3], |m, p| [0, 1, 2].map(|i| m[i].min(p[i])));
        let high = chunk.iter().fold([f32::NEG_INFINITY; 3], |m, p| [0, 1, 2].map(|i| m[i].max(p[i])));
        let center = [0, 1, 2].map(|i| 0.5 * (low[i] + high[i]));
        let squared = |p: &[f32; 3]| (0..3).map(|i| (p[i] - center[i]).powi(2)).sum::<f32>();
        // The factor covers the rounding of the farthest sample.
        let radius = chunk.iter().map(squared).fold(0.0, f32::max).sqrt() * 1.000_01;
        patches.push(Patch { center, radius, samples: first..first + chunk.len() });
        first += chunk.len();
    }
    patches
}

impl Block {
    fn edge_points(&self, spacing: f64) -> impl Iterator<Item = Vec3> + '_ {
        let e = self.bounds.extents();
        (0..12).flat_map(move |edge| {
            let (axis, side) = (edge / 4, edge % 4);
            let n = (e[axis] / spacing).ceil().max(1.0) as u32;
            (0..=n).map(move |i| {
                let mut p = self.bounds.min;
                p[axis] += e[axis] * f64::from(i) / f64::from(n);
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                p[u] += e[u] * (side & 1) as f64;
                p[v] += e[v] * (side >> 1) as f64;
                p
            })
        })
    }
}

/// Calls `take` with points in a triangle, without its corners, no farther apart than `spacing`.
fn between(corners: [Vec3; 3], spacing: f64, mut take: impl FnMut(Vec3)) {
    let [a, b, c] = corners;
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    let n = (longest / spacing).ceil() as u32;
    for i in 0..=n {
        for j in 0..=n - i {
            let is_corner = (i == 0 && j == 0) || i == n || j == n;
            if !is_corner {
                take(a + (b - a) * (f64::from(i) / f64::from(n)) + (c - a) * (f64::from(j) / f64::from(n)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use voxshell::mesh::primitives;

    use super::*;

    #[test]
    fn boxes_on_boxes_measure_their_gap_and_their_depth() {
        let truth = Truth::new(&primitives::cuboid([0.5; 3]).unwrap()).unwrap();
        let block = Block { bounds: Aabb { min: Vec3::new(-0.5, -1.0, -0.5), max: Vec3::new(0.5, 0.0, 0.5) } };
        for gap in [0.02, 0.001, -0.0007, -0.004] {
            let above = Pose::translation(0.13, 0.5 + gap, -0.21);
            let below = Pose::translation(0.0, -0.5, 0.0);
            assert!((truth.gap(&above, &truth, &below, f64::INFINITY) - gap).abs() < 1e-6);
            assert!((truth.gap_to_block(&above, &block) - gap).abs() < 1e-6);
            assert!((truth.lowest(&above) - gap).abs() < 1e-12);
        }
    }

    #[test]
    fn edge_in_a_face_is_seen_from_both_sides() {
        // The edge of the fixed block cuts into the flat side of a turned box: no sample of the box need be inside.
        let truth = Truth::new(&primitives::cuboid([0.5, 0.5, 0.5]).unwrap()).unwrap();
        let block = Block { bounds: Aabb { min: Vec3::new(-2.0, -1.0, -0.05), max: Vec3::new(2.0, 0.0, 0.05) } };
        let turned = voxshell::math::Rotation::from_axis_angle(&Vec3::z_axis(), 0.0);
        let pose = Pose::from_parts(Vec3::new(0.0, 0.497, 0.0).into(), turned);
        assert!((truth.gap_to_block(&pose, &block) + 0.003).abs() < 1e-6);
    }
}
