//! The scenes of fast bodies and long steps: their bodies, their rows, and the bodies that tunnelled.

use voxshell::math::{Pose, Rotation, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Result;

use crate::bodies::Body;
use crate::bridge::{Method, SceneKind};
use crate::catalogue::Case;
use crate::run::pose_of;
use crate::simulate::Recording;

/// Bodies that passed an obstacle that should have stopped them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    pub movers: usize,
    pub through: usize,
    /// Mean speed of the movers at the end, m/s: of the centre, or of the tips of the fan.
    pub final_speed: f64,
}

/// Returns true if Voxshell's rows of the scene use the motion clamp.
pub fn is_clamped(scene: SceneKind, method: Method) -> bool {
    is_fast(scene) && method.is_voxshell()
}

/// Steps per second of the low-frequency drops.
pub const HERTZ: [f64; 6] = [200.0, 100.0, 50.0, 30.0, 20.0, 10.0];

/// Half the extent of the fan's blades, metres.
const TIP: f64 = 0.5;

pub fn is_fast(scene: SceneKind) -> bool {
    matches!(scene, SceneKind::Wires | SceneKind::FastDrop | SceneKind::Fan | SceneKind::LowFrequency)
}

/// Returns the rows of a method; none for scenes that are not about speed.
pub fn cases(scene: SceneKind, method: Method) -> Vec<Case> {
    match scene {
        SceneKind::LowFrequency => HERTZ.map(|h| Case { rate: Some(h), ..Case::default() }).to_vec(),
        _ if !is_fast(scene) => Vec::new(),
        // Bullet sweeps spheres along with single convex shapes only.
        _ if matches!(method, Method::Hull | Method::HullFull) => {
            [false, true].map(|swept_spheres| Case { swept_spheres, ..Case::default() }).to_vec()
        }
        _ => vec![Case::default()],
    }
}

/// Returns the bodies in the order that the scene's .cpp expects; `body` is the one that is thrown or dropped.
pub fn bodies(scene: SceneKind, body: impl FnOnce() -> Result<Body>) -> Result<Vec<Body>> {
    // The voxel size is half the thickness of the thin part.
    let thin = |name, mesh: TriMesh, thickness: f64| -> Result<Body> {
        Ok(Body { voxel: Some(0.5 * thickness), ..Body::new(name, mesh)? })
    };
    Ok(match scene {
        SceneKind::Wires => vec![body()?, thin("wire", wire(0.003, 1.5)?, 0.006)?],
        SceneKind::FastDrop => vec![body()?, thin("plate", primitives::cuboid([1.0, 0.008, 1.0])?, 0.016)?],
        SceneKind::Fan => {
            let peg = primitives::cylinder(0.02, 0.15, 24)?.transformed(&y_to_z(), 1.0);
            vec![thin("fan", fan()?, 0.008)?, thin("peg", peg, 0.01)?]
        }
        _ => vec![body()?],
    })
}

fn y_to_z() -> Pose {
    Pose::rotation(Vec3::x() * std::f64::consts::FRAC_PI_2)
}

/// Returns a cylinder along y like the primitive, in rings of 2 cm: sampling is slow on triangles as long as the wire.
fn wire(radius: f64, half: f64) -> Result<TriMesh> {
    const AROUND: u32 = 12;
    let rings = (half / 0.01) as u32;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for ring in 0..=rings {
        let y = half * (2.0 * f64::from(ring) / f64::from(rings) - 1.0);
        for i in 0..AROUND {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(AROUND)).sin_cos();
            vertices.push([radius * cos, y, radius * sin]);
            let [a, b] = [i, (i + 1) % AROUND].map(|k| ring * AROUND + k);
            if ring < rings {
                triangles.extend([[a, a + AROUND, b], [b, a + AROUND, b + AROUND]]);
            }
        }
    }
    let [bottom, top] = [0, rings * AROUND];
    for i in 1..AROUND - 1 {
        triangles.extend([[bottom, bottom + i, bottom + i + 1], [top, top + i + 1, top + i]]);
    }
    TriMesh::new(vertices, triangles)
}

/// Returns a fan of 1 m: a hub along z and four blades along x and y, 8 mm thick, each pitched by 60° out of the plane
/// of rotation.
fn fan() -> Result<TriMesh> {
    let mut mesh = primitives::cylinder(0.08, 0.07, 32)?.transformed(&y_to_z(), 1.0);
    let blade = primitives::cuboid([0.215, 0.06, 0.004])?;
    for quarter in 0..4 {
        let pitched = Pose::from_parts(
            Vec3::new(TIP - 0.215, 0.0, 0.0).into(),
            Rotation::from_axis_angle(&Vec3::x_axis(), 60f64.to_radians()),
        );
        let turned = Pose::rotation(Vec3::z() * (f64::from(quarter) * std::f64::consts::FRAC_PI_2));
        let blade = blade.transformed(&(turned * pitched), 1.0);
        let first = mesh.vertices.len() as u32;
        mesh.vertices.extend(&blade.vertices);
        mesh.triangles.extend(blade.triangles.iter().map(|t| t.map(|i| i + first)));
    }
    TriMesh::new(mesh.vertices, mesh.triangles)
}

/// Counts the movers that passed their obstacle. A thrown body has passed when its centre of mass is beyond the middle
/// of the obstacle, because the obstacle is thinner than the body and its gaps are narrower. A fan has passed when it
/// has turned by more than the 45° at which the middle of a blade meets the middle of the peg.
pub fn passage(scene: SceneKind, recording: &Recording) -> Passage {
    let movers: Vec<usize> = (0..recording.bodies.len()).filter(|&i| !recording.bodies[i].fixed).collect();
    let last = recording.steps.len();
    let before = last.saturating_sub(1);
    let position = |step: usize, i: usize| Vec3::from(recording.poses_at(step)[i].position);
    let is_through = |&i: &usize| match scene {
        SceneKind::Fan => {
            let mut turned = 0.0;
            (0..last).any(|step| {
                turned += turn(recording, step, i);
                f64::abs(turned) > std::f64::consts::FRAC_PI_4
            })
        }
        SceneKind::Wires => (0..=last).any(|step| position(step, i).z < 0.0),
        _ => (0..=last).any(|step| position(step, i).y < 0.0),
    };
    let speed = |&i: &usize| match scene {
        _ if before == last => 0.0,
        SceneKind::Fan => TIP * turn(recording, before, i).abs() / recording.dt,
        _ => (position(last, i) - position(before, i)).norm() / recording.dt,
    };
    Passage {
        movers: movers.len(),
        through: movers.iter().filter(|i| is_through(i)).count(),
        final_speed: movers.iter().map(speed).sum::<f64>() / movers.len().max(1) as f64,
    }
}

/// Returns the angle by which a body turns about z from this step to the next, radians.
fn turn(recording: &Recording, step: usize, body: usize) -> f64 {
    let [from, to] = [step, step + 1].map(|s| pose_of(&recording.poses_at(s)[body]).rotation);
    let q = (to * from.inverse()).coords;
    let angle = 2.0 * q.z.atan2(q.w);
    // A quaternion and its negative are the same rotation.
    angle - (angle / std::f64::consts::TAU).round() * std::f64::consts::TAU
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::HullCache;
    use crate::decompose::Decomposer;
    use crate::figures::Figures;
    use crate::progress::Progress;
    use crate::run::{run_scene, Cast, Context, Effort};

    /// Runs the rows of a scene with a method; returns the figures and the passage of each.
    fn played(scene: SceneKind, method: Method, steps: Option<usize>) -> Vec<(Figures, Passage)> {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new();
        let cache = HullCache::at(None);
        let context = Context {
            decomposer: Decomposer { cache, folder: folder.path(), limit: None, progress: &progress },
            steps,
            threads: None,
            edges: false,
            patience: None,
            all_patience: false,
            json: false,
            effort: Effort { frames: 0, film: (0, 0), measure_every: 1 },
            progress: &progress,
        };
        let outcomes = run_scene(&Cast::new(scene, None, None).unwrap(), &[method], None, &context);
        outcomes.into_iter().map(|o| o.row.outcome.unwrap()).map(|f| (f.clone(), f.passage.unwrap())).collect()
    }

    #[test]
    fn wires_and_fans_are_solids() {
        let report = wire(0.003, 1.5).unwrap().report();
        assert!(report.closed && report.consistent);
        // A prism of twelve sides.
        let volume = 0.5 * 12.0 * 0.003f64.powi(2) * (std::f64::consts::TAU / 12.0).sin() * 3.0;
        assert!((report.volume - volume).abs() < 1e-9 * volume);
        assert!((fan().unwrap().bounds().extents().x - 2.0 * TIP).abs() < 1e-12);
    }

    #[test]
    fn blades_stop_at_the_peg_with_the_clamp_and_not_without() {
        let ours = &played(SceneKind::Fan, Method::VoxshellCoarse, Some(40))[0];
        assert_eq!((ours.1.movers, ours.1.through), (6, 0));
        assert!(ours.0.max_penetration_run < 8.0 && ours.0.clamp_mean > 0.0);
        let stock = &played(SceneKind::Fan, Method::Gimpact, Some(40))[0];
        assert!(stock.1.through > 0 && stock.0.clamp_mean == 0.0);
    }

    #[test]
    fn nothing_thrown_gets_through_with_the_clamp() {
        for scene in [SceneKind::Wires, SceneKind::FastDrop] {
            let ours = &played(scene, Method::VoxshellCoarse, Some(24))[0];
            assert_eq!((ours.1.movers, ours.1.through), (8, 0));
            let stock = played(scene, Method::Hull, Some(24));
            assert_eq!(stock.len(), 2, "without and with swept spheres");
            assert!(stock[0].1.through > 0);
        }
    }

    #[test]
    fn drops_in_steps_of_a_tenth_of_a_second_stay_above_ground() {
        let rows = played(SceneKind::LowFrequency, Method::VoxshellCoarse, None);
        assert_eq!(rows.len(), HERTZ.len());
        for ((figures, passage), hertz) in rows.iter().zip(HERTZ) {
            assert_eq!(figures.steps, (3.0 * hertz).round() as usize);
            assert_eq!(passage.through, 0);
            assert!(figures.max_penetration_run < 20.0, "{hertz} Hz: {} mm", figures.max_penetration_run);
        }
    }
}
