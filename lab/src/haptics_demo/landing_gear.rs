//! A simplified landing gear with the difficulties of the original: struts, wheels, and wires two voxels wide.

use voxshell::math::{Pose, Vec3};
use voxshell::mesh::primitives::{cuboid, cylinder, torus, tube};
use voxshell::mesh::TriMesh;
use voxshell::Result;

/// Height, which is the largest extent, metres.
pub const HEIGHT: f64 = 0.5;
/// Plane z of the wires of the net in front, metres.
pub const NET: f64 = 0.11;
/// Distance between the wires of the net, metres.
const APART: f64 = 0.016;

/// Returns the gear, upright, from y = −[`HEIGHT`]/2 to [`HEIGHT`]/2, with wires of this radius.
pub fn landing_gear(wire: f64) -> Result<TriMesh> {
    let at = |mesh: TriMesh, x: f64, y: f64, z: f64| mesh.transformed(&Pose::translation(x, y, z), 1.0);
    let lying = |mesh: TriMesh| mesh.transformed(&Pose::rotation(Vec3::z() * std::f64::consts::FRAC_PI_2), 1.0);
    let bar = |points: &[[f64; 3]], radius: f64| {
        tube(&points.iter().copied().map(Vec3::from).collect::<Vec<_>>(), radius, 24)
    };
    let mut parts = vec![
        // The strut with its piston, the axle, the wheels.
        at(cylinder(0.026, 0.13, 48)?, 0.0, 0.12, 0.0),
        at(cylinder(0.017, 0.1, 48)?, 0.0, -0.07, 0.0),
        at(cylinder(0.03, 0.008, 48)?, 0.0, -0.005, 0.0),
        at(lying(cylinder(0.012, 0.11, 32)?), 0.0, -0.17, 0.0),
        at(lying(torus(0.055, 0.025, 64, 32)?), -0.075, -0.17, 0.0),
        at(lying(torus(0.055, 0.025, 64, 32)?), 0.075, -0.17, 0.0),
        // Beam above and bracket below; they hold the net.
        at(cuboid([0.16, 0.012, 0.03])?, 0.0, 0.5 * HEIGHT - 0.012, 0.0),
        at(cuboid([0.13, 0.006, 0.012])?, 0.0, 0.5 * HEIGHT - 0.018, NET - 0.006),
        at(cuboid([0.13, 0.005, 0.006])?, 0.0, -0.06, NET),
        at(cuboid([0.014, 0.01, 0.5 * NET])?, 0.0, 0.5 * HEIGHT - 0.016, 0.5 * NET),
        at(cuboid([0.012, 0.005, 0.5 * NET])?, 0.0, -0.06, 0.5 * NET),
        // Braces to both sides, torque links behind.
        bar(&[[-0.15, 0.235, 0.0], [-0.02, 0.04, 0.0]], 0.008)?,
        bar(&[[0.15, 0.235, 0.0], [0.02, 0.04, 0.0]], 0.008)?,
        bar(&[[0.0, 0.03, -0.015], [0.0, -0.05, -0.08], [0.0, -0.13, -0.015]], 0.007)?,
    ];
    let wires = (0.22 / APART) as i32;
    for i in -wires / 2..=wires / 2 {
        let x = f64::from(i) * APART;
        // Wires between the bars, each with its own slack.
        let slack = 0.004 + 0.003 * f64::from(i % 3);
        let points: Vec<Vec3> = (0..=16)
            .map(|k| f64::from(k) / 16.0)
            .map(|u| Vec3::new(x, -0.06 + u * (0.5 * HEIGHT + 0.042), NET + 4.0 * slack * u * (1.0 - u)))
            .collect();
        parts.push(tube(&points, wire, 12)?);
    }
    // Hoses down the strut to the axle.
    for side in [-1.0, 1.0] {
        let points: Vec<Vec3> = (0..=48)
            .map(|k| f64::from(k) / 48.0)
            .map(|u| {
                let sin = (9.0 * u).sin();
                let belly = 0.03 * 4.0 * u * (1.0 - u);
                Vec3::new(side * (0.03 + belly + 0.004 * sin), 0.23 - 0.4 * u, 0.012 + belly)
            })
            .collect();
        parts.push(tube(&points, wire, 12)?);
    }
    joined(&parts)
}

/// Joins the parts in one triangle soup.
pub fn joined(parts: &[TriMesh]) -> Result<TriMesh> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for part in parts {
        let first = vertices.len() as u32;
        vertices.extend_from_slice(&part.vertices);
        triangles.extend(part.triangles.iter().map(|t| t.map(|i| i + first)));
    }
    TriMesh::new(vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gear_is_as_high_as_said_and_made_of_solids() {
        let gear = landing_gear(HEIGHT / 1024.0).expect("a gear");
        let report = gear.report();
        assert!(report.closed && report.consistent && report.components > 25, "{report}");
        let extents = gear.bounds().extents();
        assert!((extents.max() - extents.y).abs() < 1e-12 && (extents.y - HEIGHT).abs() < 1e-3, "{extents:?}");
    }
}
