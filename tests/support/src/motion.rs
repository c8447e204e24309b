//! Moving bodies in contact, for tests of contact forces.

use std::sync::OnceLock;

use nalgebra::Isometry3;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::field::{Cuboid, Field, HalfSpace, SignedDistance, Sphere};
use voxshell::math::{Pose, Progress, Rotation, Twist, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::ShellOptions;
use voxshell::response::{Body, Kinematics};

use crate::rng::Rng;

/// A pair of shapes.
pub struct Scene {
    pub name: &'static str,
    pub a: Shape,
    pub b: Shape,
    /// Error bound of a finite difference of a force, as a fraction of the largest entry: f32 samples, cells of grids.
    pub error_bound: f64,
}

impl Scene {
    pub fn body_a(&self, kinematics: &Kinematics) -> Body<'_> {
        Body { geometry: self.a.geometry(), kinematics: *kinematics }
    }

    pub fn body_b(&self, kinematics: &Kinematics) -> Body<'_> {
        Body { geometry: self.b.geometry(), kinematics: *kinematics }
    }
}

/// Returns the shared scenes: shells in analytic fields, in both roles, and two cooked shapes.
pub fn scenes() -> &'static [Scene] {
    static SCENES: OnceLock<Vec<Scene>> = OnceLock::new();
    SCENES.get_or_init(|| {
        let options = CookOptions {
            resolution: Resolution::Cells(40),
            shell: ShellOptions { target_count: Some(600), ..ShellOptions::default() },
            ..CookOptions::default()
        };
        let torus =
            || Shape::cook(&primitives::torus(0.3, 0.12, 64, 24).unwrap(), &options, &Progress::none()).unwrap();
        let shell = || Shape { field: None, ..torus() };
        let analytic = |field: Field| Shape::from_field(field);
        let half_space = || analytic(Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.05).unwrap()));
        let sphere = || analytic(Field::Sphere(Sphere::new(0.25).unwrap()));
        let cuboid = || analytic(Field::Cuboid(Cuboid::new([0.2, 0.15, 0.3]).unwrap()));
        let scene = |name, a, b, error_bound| Scene { name, a, b, error_bound };
        vec![
            scene("shell in a half-space", shell(), half_space(), 3e-3),
            scene("shell in a sphere", shell(), sphere(), 3e-3),
            scene("sphere around a shell", sphere(), shell(), 3e-3),
            scene("cuboid around a shell", cuboid(), shell(), 0.02),
            scene("torus in torus", torus(), torus(), 0.03),
        ]
    })
}

/// Two bodies at random poses in contact, with random twists.
pub struct Case {
    pub scene: &'static Scene,
    pub a: Kinematics,
    pub b: Kinematics,
}

impl Case {
    pub fn random(seed: u64) -> Self {
        let mut rng = Rng(seed);
        let scenes = scenes();
        let scene = &scenes[rng.next() as usize % scenes.len()];
        let b = random_pose(&mut rng, 2.0);
        // Near the surface of the body at the origin: the tori are 0.42 m large, the others about as much.
        let beside = if scene.name == "shell in a half-space" {
            Isometry3::from_parts(Vec3::new(0.1, 0.05 + 0.3 * rng.fraction(), 0.2).into(), rng.rotation())
        } else {
            Isometry3::from_parts((rng.vector().normalize() * (0.2 + 0.2 * rng.fraction())).into(), rng.rotation())
        };
        let a = b * beside;
        let kinematics = |pose: Pose, rng: &mut Rng| Kinematics {
            pose,
            center: pose.transform_point(&(rng.vector() * 0.1).into()).coords,
            twist: Twist { linear: rng.vector() * 2.0, angular: rng.vector() * 4.0 },
        };
        Self { scene, a: kinematics(a, &mut rng), b: kinematics(b, &mut rng) }
    }
}

fn random_pose(rng: &mut Rng, reach: f64) -> Pose {
    Isometry3::from_parts((rng.vector() * reach).into(), rng.rotation())
}

/// Returns φ of a field at a point of the world.
pub fn between(field: &Field, pose: &Pose, point: &Vec3) -> f64 {
    let p = pose.inverse_transform_point(&(*point).into()).coords;
    match field {
        Field::Sphere(_) => p.norm() - 0.25,
        Field::HalfSpace(_) => p.y - 0.05,
        _ => f64::from(field.distance((p - field.local_origin(&p)).map(|c| c as f32).into())),
    }
}

/// Returns a body changed by `h` along one of six axes: translated along the first three, rotated about its centre
/// along the others; or with its velocity changed by that amount.
pub fn moved(body: &Kinematics, by_pose: bool, axis: usize, h: f64) -> Kinematics {
    let mut shift = [Vec3::zeros(); 2];
    shift[axis / 3][axis % 3] = h;
    let [linear, angular] = shift;
    if !by_pose {
        let twist = Twist { linear: body.twist.linear + linear, angular: body.twist.angular + angular };
        return Kinematics { twist, ..*body };
    }
    let turn = Rotation::from_scaled_axis(angular);
    let origin = body.center + linear + turn * (body.pose.translation.vector - body.center);
    let pose = Pose::from_parts(origin.into(), turn * body.pose.rotation);
    Kinematics { pose, center: body.center + linear, ..*body }
}
