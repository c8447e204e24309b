//! Poses in which a body touches a copy of itself with a fixed number of samples, for any density of samples.

use voxshell::contact::{contacts, Geometry, Query, Roles, Workspace};
use voxshell::math::{Pose, Rotation, Vec3};

use crate::bridge::{BodyPose, Method};
use crate::decompose::Decomposer;
use crate::prepared_body::PreparedBody;

/// Samples within the margin, both bodies together.
const CONTACTS: usize = 12;
/// Number of poses.
const PLACES: usize = 100;

/// 64-bit LCG of Knuth, upper bits.
pub struct Rng(pub u64);

impl Rng {
    /// Returns a number in −1 to 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.next(), self.next(), self.next());
            if (0.01..1.0).contains(&v.norm_squared()) {
                return v.normalize();
            }
        }
    }
}

/// Returns poses whose directions and turns do not depend on the number of samples; none for methods without a
/// pointshell.
pub fn places(
    stage: &PreparedBody,
    method: Method,
    decomposer: &Decomposer,
    margin: f64,
) -> voxshell::Result<Vec<BodyPose>> {
    let Some(geometry) = stage.geometry(method, decomposer)? else { return Ok(Vec::new()) };
    let far = 2.0 * stage.body.upright_bounds.extents().norm();
    let mut workspace = Workspace::new();
    let mut rng = Rng(6);
    (0..PLACES)
        .map(|_| {
            let (from, axis) = (rng.direction(), rng.direction());
            let rotation = Rotation::from_axis_angle(&nalgebra::Unit::new_normalize(axis), 3.0 * rng.next());
            touching(geometry, &rotation, &from, far, margin, &mut workspace)
        })
        .collect()
}

/// Moves the body inwards on a line through the fixed copy's centre, up to the pose after which more samples than
/// wanted are within the margin.
fn touching(
    geometry: Geometry,
    rotation: &Rotation,
    from: &Vec3,
    far: f64,
    margin: f64,
    workspace: &mut Workspace,
) -> voxshell::Result<BodyPose> {
    let query = Query { roles: Roles::Both, max_separation: margin, ..Query::default() };
    let pose = |along: f64| Pose::from_parts((from * along).into(), *rotation);
    let (mut inside, mut outside) = (0.0, far);
    while outside - inside > 1e-7 {
        let along = 0.5 * (inside + outside);
        let found = contacts(geometry, &Pose::identity(), geometry, &pose(along), &query, workspace)?.len();
        *(if found > CONTACTS { &mut inside } else { &mut outside }) = along;
    }
    let (p, q) = (pose(outside).translation.vector, rotation.coords);
    Ok(BodyPose { position: p.into(), rotation: [q.x, q.y, q.z, q.w], present: true })
}

/// Returns the slope of the least-squares line through the logarithms of points.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.0.ln(), p.1.ln())).collect();
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let of = |f: &dyn Fn(f64, f64) -> f64| logs.iter().map(|p| f(p.0 - x, p.1 - y)).sum::<f64>();
    of(&|dx, dy| dx * dy) / of(&|dx, _| dx * dx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_exponents() {
        let points: Vec<(f64, f64)> = [1e2, 1e3, 1e5, 1e6].map(|n: f64| (n, 3.0 * n.powf(0.2))).to_vec();
        assert!((slope(&points) - 0.2).abs() < 1e-12);
    }
}
