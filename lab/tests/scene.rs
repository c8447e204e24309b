//! Scenes of several bodies, and the bisection for the largest stable step.

use std::sync::Arc;

use support::allocation::{allocations, Counting};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::dynamics::{Mass, RigidBody};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Pose, Progress, Twist, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::response::PenaltySettings;
use voxshell_lab::scene::{Contacts, Integrator, Member, Scene, SceneSettings};
use voxshell_lab::stability::{largest_stable, Part, Pile};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const DETECTIONS: [Contacts; 3] =
    [Contacts::Discrete, Contacts::Continuous { midpoints: 5 }, Contacts::Ahead { midpoints: 5 }];

fn torus() -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(32),
        shell: ShellOptions { target_count: Some(300), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(&primitives::torus(0.3, 0.12, 48, 20).unwrap(), &options, &Progress::none()).unwrap()
}

fn settings(contacts: Contacts, gravity: f64) -> SceneSettings {
    let penalty = PenaltySettings::new(2000.0, 1.0);
    SceneSettings { contacts, integrator: Integrator::Symplectic, penalty, gravity: Vec3::y() * -gravity }
}

fn member(shape: &Shape, at: Vec3, twist: Twist) -> Member {
    let mass = Mass::of_solid(1.5, shape.mass.as_ref().unwrap()).unwrap();
    let mut body = RigidBody::at(mass, &Pose::from_parts(at.into(), Rng(7).rotation()));
    body.set_twist(&twist);
    Member::new(body, shape.field.clone(), shape.shell.clone())
}

fn ground() -> Member {
    let field = Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap());
    let body = RigidBody::at(Mass::of_sphere(1.0, 1.0).unwrap(), &Pose::identity());
    Member::fixed(body, Some(Arc::new(field)), None)
}

#[test]
fn bodies_that_collide_keep_their_momenta() {
    let shape = torus();
    for contacts in DETECTIONS {
        let twist = |x: f64| Twist { linear: Vec3::x() * x, angular: Vec3::new(0.3, x, 0.1) };
        let a = member(&shape, Vec3::new(-0.6, 0.0, 0.0), twist(2.0));
        let b = member(&shape, Vec3::new(0.5, 0.2, 0.1), twist(-1.0));
        let mut scene = Scene::new(vec![a, b], settings(contacts, 0.0));
        let momenta = |scene: &Scene| {
            let of = |m: &Member| {
                let p = m.body.momentum;
                (p, m.body.angular_momentum + m.body.center.cross(&p))
            };
            scene.members.iter().map(of).fold((Vec3::zeros(), Vec3::zeros()), |s, p| (s.0 + p.0, s.1 + p.1))
        };
        let before = momenta(&scene);
        let (mut met, dt) = (0, 1e-3);
        for _ in 0..600 {
            met += scene.step(dt).unwrap().contacts;
        }
        let now = momenta(&scene);
        assert!(met > 20, "they must meet: {met} contacts");
        assert!((now.0 - before.0).norm() < 1e-9, "{contacts:?}");
        // A force that acts one step late is about a centre that has moved by v h.
        assert!((now.1 - before.1).norm() < 0.02 * before.1.norm().max(1.0), "{contacts:?}: {} {}", now.1, before.1);
        let speed = scene.members[0].body.twist().linear.x;
        assert!(speed < 1.5, "{contacts:?}: they bounced, {speed}");
    }
}

/// Returns a body with one sample right below its centre.
fn dot() -> Member {
    let shell = PointShell::from_samples(&[[0.0; 3]], &[[0.0, -1.0, 0.0]], &ShellOptions::default()).unwrap();
    let body = RigidBody::at(Mass::of_sphere(2.0, 0.1).unwrap(), &Pose::translation(0.0, 0.05, 0.0));
    Member::new(body, None, Some(Arc::new(shell)))
}

#[test]
fn a_body_comes_to_rest_as_deep_as_its_weight_presses() {
    for contacts in DETECTIONS {
        for integrator in [Integrator::Symplectic, Integrator::Implicit] {
            let mut rules = SceneSettings { integrator, ..settings(contacts, 9.81) };
            rules.penalty = PenaltySettings::new(2000.0, 60.0);
            let mut scene = Scene::new(vec![ground(), dot()], rules);
            for _ in 0..4000 {
                scene.step(1e-3).unwrap();
            }
            let depth = -scene.members[1].body.center.y;
            assert!((depth - 2.0 * 9.81 / 2000.0).abs() < 2e-5, "{contacts:?} {integrator:?}: {depth}");
            assert!((scene.penetration().unwrap() - depth).abs() < 1e-6);
        }
    }
}

#[test]
fn discrete_contacts_act_at_once_and_continuous_a_step_later() {
    for (contacts, first) in DETECTIONS.into_iter().zip([1.0, 0.0, 1.0]) {
        let mut body = dot();
        body.body.center.y = -0.01;
        let mut scene = Scene::new(vec![ground(), body], settings(contacts, 0.0));
        let push = 2000.0 * 0.01 * 1e-3;
        scene.step(1e-3).unwrap();
        let momentum = scene.members[1].body.momentum.y;
        assert!((momentum - first * push).abs() < 1e-6 * push, "{contacts:?}: {momentum}");
        scene.step(1e-3).unwrap();
        let momentum = scene.members[1].body.momentum.y;
        assert!((momentum - (1.0 + first) * push).abs() < 0.01 * push, "{contacts:?}: {momentum}");
    }
}

#[test]
fn the_largest_stable_step_of_a_spring_is_found() {
    // A symplectic step is stable below 2/ω.
    let limit = 2.0 * (2.0f64 / 500.0).sqrt();
    let stable = |dt: f64| {
        let mass = Mass::of_sphere(2.0, 0.1).unwrap();
        let mut body = RigidBody::at(mass, &Pose::translation(0.1, 0.0, 0.0));
        for _ in 0..2000 {
            let force = body.center * -500.0;
            body.symplectic_euler(&voxshell::math::Wrench { force, torque: Vec3::zeros() }, dt);
        }
        Ok(body.center.norm() < 10.0)
    };
    let found = largest_stable(1e-3, 10.0, 0.01, stable).unwrap();
    assert!((found / limit - 1.0).abs() < 0.02, "{found} for {limit}");
    assert_eq!(largest_stable(1.0, 2.0, 0.01, |_| Ok(false)).unwrap(), 1.0);
    assert_eq!(largest_stable(1.0, 2.0, 0.01, |_| Ok(true)).unwrap(), 2.0);
    // Stable values beyond the first unstable one do not count.
    let found = largest_stable(1.0, 100.0, 0.01, |x| Ok(!(3.0..40.0).contains(&x))).unwrap();
    assert!((2.96..3.0).contains(&found), "{found}");
}

#[test]
fn a_small_pile_is_stable_only_with_short_steps() {
    let shape = torus();
    let part = Part { field: shape.field.unwrap(), shell: shape.shell.unwrap(), solid: shape.mass.unwrap() };
    let penalty = PenaltySettings { drag: 10.0, ..PenaltySettings::new(1e4, 0.0) };
    let pile = Pile { part, count: 3, mass: 1.0, penalty, integrator: Integrator::Symplectic, time: 1.5 };
    for contacts in DETECTIONS {
        assert!(pile.is_stable(contacts, 5e-4).unwrap(), "{contacts:?}");
        assert!(!pile.is_stable(contacts, 0.05).unwrap(), "{contacts:?}");
    }
}

#[test]
fn warm_steps_do_not_allocate() {
    let shape = torus();
    for contacts in DETECTIONS {
        let members = || {
            let at = |x: f64, y: f64| member(&shape, Vec3::new(x, y, 0.0), Twist::ZERO);
            vec![ground(), at(0.0, 0.5), at(0.1, 1.2)]
        };
        let mut scene = Scene::new(members(), settings(contacts, 9.81));
        let run = |scene: &mut Scene| (0..400).map(|_| scene.step(1e-3).unwrap().contacts).sum::<usize>();
        let met = run(&mut scene);
        assert!(met > 100, "{met}");
        let again = members();
        scene.members.clone_from_slice(&again);
        assert_eq!(allocations(|| assert_eq!(run(&mut scene), met)), 0, "{contacts:?}");
    }
}
