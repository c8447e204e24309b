//! A tool in a press fit between two walls: contacts on opposite sides stay, however slow the simulation is.

use std::ptr::{null, null_mut};
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use support::extremes::ok;
use support::haptics::DEVICE;
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query_options::vxs_body;
use voxshell::capi::response::vxs_twist;
use voxshell::capi::shape::*;
use voxshell::capi::types::*;
use voxshell::field::{Field, HalfSpace};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Renderer, Settings, Status, Tool};
use voxshell::math::{Pose, Twist};
use voxshell::pointshell::{PointShell, ShellOptions};

const DT: f64 = 1e-3;
/// The tool is thicker than the gap by this amount, metres.
const PRESS: f64 = 1e-4;
/// Amplitude of the hand, metres, and its angular frequency, rad/s: 5 Hz.
const SWING: f64 = 2e-3;
const OMEGA: f64 = 10.0 * std::f64::consts::PI;
const SECONDS: f64 = 0.8;

/// Returns position and velocity of the hand: it starts swinging smoothly after the tool has settled.
fn hand(t: f64) -> (f64, f64) {
    let t = (t - 0.3).max(0.0);
    (SWING * (OMEGA * t).sin(), SWING * OMEGA * (OMEGA * t).cos() * if t > 0.0 { 1.0 } else { 0.0 })
}

/// Returns a block of 4 cm and 10 g with 3 × 3 samples on its bottom and on its top.
fn block() -> Tool {
    let at = |i: usize| 0.02 * (i as f64 - 1.0);
    let (mut points, mut normals) = (Vec::new(), Vec::new());
    for y in [-1.0, 1.0] {
        for n in 0..9 {
            points.push([at(n % 3), 0.02 * y, at(n / 3)]);
            normals.push([0.0, y, 0.0]);
        }
    }
    let shell = PointShell::from_samples(&points, &normals, &ShellOptions::default()).unwrap();
    Tool {
        forms: Forms { shell: Some(Arc::new(shell)), ..Forms::default() },
        center: Vector3::zeros(),
        mass: 0.01,
        inertia: Matrix3::from_diagonal_element(0.01 * 0.04 * 0.04 / 6.0),
    }
}

/// Returns the half-spaces below and above the block.
fn plates() -> Vec<Obstacle> {
    let plate = |y: f64| {
        let half_space = HalfSpace::new(Vector3::y() * y, -(0.02 - 0.5 * PRESS)).unwrap();
        let forms = Forms { field: Some(Arc::new(Field::HalfSpace(half_space))), ..Forms::default() };
        Obstacle::fixed(forms, Pose::identity())
    };
    vec![plate(1.0), plate(-1.0)]
}

/// Result of a run after the tool has settled.
#[derive(Clone, Copy, Debug)]
struct Swing {
    /// Largest displacement of the tool, metres.
    most: f64,
    /// Largest force on the hand, N.
    force: f64,
    /// Flags of all steps, and of any step.
    all: u32,
    any: u32,
}

impl Swing {
    const NONE: Self = Self { most: 0.0, force: 0.0, all: u32::MAX, any: 0 };

    fn add(&mut self, place: f64, force: f64, status: u32) {
        (self.most, self.force) = (self.most.max(place.abs()), self.force.max(force));
        (self.all, self.any) = (self.all & status, self.any | status);
    }
}

/// Runs the block with a round of the simulation every `rounds` steps.
fn swing_of_block(renderer: Renderer, rounds: u32) -> Swing {
    let settings = Settings::for_tool(renderer, &block(), &DEVICE).unwrap();
    let (mut servo, mut simulation) = haptics::new(settings, block(), plates()).unwrap();
    let mut swing = Swing::NONE;
    for n in 0..(SECONDS / DT) as u32 {
        let t = f64::from(n) * DT;
        let (y, v) = hand(t);
        let twist = Twist { linear: Vector3::new(0.0, v, 0.0), angular: Vector3::zeros() };
        let device = DeviceState { pose: Pose::translation(0.0, y, 0.0), twist, engaged: true };
        let output = servo.step(&device, DT);
        if n % rounds == 0 {
            simulation.simulate();
        }
        if t > 0.5 {
            swing.add(servo.tool_pose().translation.y, output.wrench.force.norm(), output.status.0);
        }
    }
    swing
}

unsafe fn shape(kind: u32, size: [f64; 3]) -> *mut vxs_shape {
    let (mut primitive, mut options, mut shape) =
        (std::mem::zeroed::<vxs_primitive>(), std::mem::zeroed::<vxs_cook_options>(), null_mut());
    ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), kind));
    primitive.size[..3].copy_from_slice(&size);
    ok(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()));
    ok(vxs_shape_create_primitive(&primitive, &options, &mut shape));
    shape
}

fn at(y: f64) -> vxs_pose {
    vxs_pose { position: vxs_vec3 { x: 0.0, y, z: 0.0 }, qx: 0.0, qy: 0.0, qz: 0.0, qw: 1.0 }
}

/// A ball of 5 mm, and a plate of 10 mm.
struct Shapes {
    ball: *mut vxs_shape,
    plate: *mut vxs_shape,
}

impl Shapes {
    fn new() -> Self {
        unsafe {
            let ball = shape(VXS_PRIMITIVE_SPHERE, [0.005, 0.0, 0.0]);
            Self { ball, plate: shape(VXS_PRIMITIVE_BOX, [0.02, 0.005, 0.02]) }
        }
    }
}

impl Drop for Shapes {
    fn drop(&mut self) {
        unsafe {
            ok(vxs_shape_release(self.ball));
            ok(vxs_shape_release(self.plate));
        }
    }
}

/// Runs the ball, of 10 g, between two plates, with the default settings of the C API.
fn swing_of_ball(&Shapes { ball, plate }: &Shapes, renderer: u32, rounds: u32) -> Swing {
    unsafe {
        let y = 0.01 - 0.5 * PRESS;
        let bodies = [-y, y].map(|y| vxs_body { shape: plate, pose: at(y) });
        let (mut settings, mut haptics) = (std::mem::zeroed::<vxs_haptics_settings>(), null_mut());
        let size = size_of::<vxs_haptics_settings>();
        ok(vxs_haptics_settings_init(&mut settings, size, renderer, ball, 0.01, null()));
        ok(vxs_haptics_create(&settings, ball, bodies.as_ptr(), 2, &mut haptics));
        let mut swing = Swing::NONE;
        for n in 0..(SECONDS / DT) as u32 {
            let t = f64::from(n) * DT;
            let (y, v) = hand(t);
            let twist = vxs_twist { linear: vxs_vec3 { x: 0.0, y: v, z: 0.0 }, angular: vxs_vec3::default() };
            let state = vxs_device_state { pose: at(y), twist, engaged: 1, reserved: 0 };
            let mut output = std::mem::zeroed::<vxs_haptics_output>();
            ok(vxs_haptics_step(haptics, &state, DT, &mut output));
            if n % rounds == 0 {
                ok(vxs_haptics_simulate(haptics, null_mut()));
            }
            if t > 0.5 {
                let f = output.wrench.force;
                let force = Vector3::new(f.x, f.y, f.z).norm();
                swing.add(output.tool.position.y, force, output.status);
            }
        }
        ok(vxs_haptics_release(haptics));
        swing
    }
}

#[test]
fn issue_19_a_press_fit_holds_at_any_rate_of_rounds() {
    // Springs in series: the coupling, and nine contacts on each of both walls, averaged to ten.
    let settings = Settings::for_tool(Renderer::Penalty, &block(), &DEVICE).unwrap();
    let [coupling, walls] =
        [settings.coupling.stiffness[0], f64::from(settings.contact.average_from) * settings.contact.stiffness];
    let series = SWING * coupling / (coupling + walls);
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty] {
        for rounds in [1, 10, 16] {
            let swing = swing_of_block(renderer, rounds);
            println!(
                "block {renderer:?}, rounds of {rounds} ms: {:.2} µm, series {:.2}",
                swing.most * 1e6,
                series * 1e6
            );
            assert!((swing.most / series - 1.0).abs() < 0.02, "{renderer:?} {rounds}: {swing:?}, series {series}");
            assert!(swing.any & Status::PENETRATING.0 == 0, "{renderer:?} {rounds}: {swing:?}");
        }
    }
}

#[test]
fn issue_19_a_ball_in_a_press_fit_holds_at_any_rate_of_rounds() {
    let shapes = Shapes::new();
    for renderer in [VXS_RENDERER_PENALTY, VXS_RENDERER_CONTINUOUS_PENALTY] {
        let [fast, slow, slowest] = [1, 10, 16].map(|rounds| swing_of_ball(&shapes, renderer, rounds));
        for swing in [fast, slow, slowest] {
            println!("ball {renderer}: {:.2} µm", swing.most * 1e6);
        }
        assert!(fast.most < 25e-6, "{renderer}: {fast:?}");
        for swing in [slow, slowest] {
            assert!((swing.most / fast.most - 1.0).abs() < 0.3, "{renderer}: {swing:?}, {fast:?} with fast rounds");
            assert!(swing.any & VXS_HAPTICS_PENETRATING == 0, "{renderer}: {swing:?}");
        }
    }
}

/// It begins inside both walls, and there is no way out: it stays, feels the walls, and says so.
#[test]
fn issue_19_a_god_object_in_a_press_fit_goes_no_deeper() {
    let shapes = Shapes::new();
    for rounds in [1, 10, 16] {
        let block = swing_of_block(Renderer::GodObject, rounds);
        // Each round of the ball takes a millisecond.
        let ball = (rounds > 1).then(|| swing_of_ball(&shapes, VXS_RENDERER_GOD_OBJECT, rounds));
        for (name, swing) in [("block", Some(block)), ("ball", ball)] {
            let Some(swing) = swing else { continue };
            println!("{name}, rounds of {rounds} ms: {:.4} µm, {:.3} N", swing.most * 1e6, swing.force);
            // The skin is 2e-5 of the plates of 5 cm.
            assert!(swing.most < 2e-6, "{name} {rounds}: {swing:?}");
            assert!(swing.all & VXS_HAPTICS_PENETRATING != 0, "{name} {rounds}: {swing:?}");
            // The coupling draws 1000 N/m over 2 mm.
            assert!((1.9..2.1).contains(&swing.force), "{name} {rounds}: {swing:?}");
        }
    }
}

/// Two faces that lie in each other have hundreds of contacts. A round that counts only the deepest of them turns the tool
/// about these, and lets the other end of the face go in.
#[test]
fn issue_19_impulses_ease_a_face_out_of_a_plate() {
    const START: f64 = 3e-3;
    let half = Vector3::new(0.03, 0.02, 0.025);
    let mesh = voxshell::mesh::primitives::cuboid(half.into()).unwrap();
    let options = ShellOptions { target_count: Some(2000), ..ShellOptions::default() };
    let cook = voxshell::asset::CookOptions { shell: options, ..Default::default() };
    let shape = voxshell::asset::Shape::cook(&mesh, &cook, &voxshell::math::Progress::none()).unwrap();
    let forms = Forms { field: shape.field.clone(), shell: shape.shell.clone(), ..Forms::default() };
    let tool = Tool::of_mass(forms, &shape.mass.unwrap(), 0.1).unwrap();
    let plate = Field::HalfSpace(HalfSpace::new(Vector3::y(), -half.y).unwrap());
    let plate = Obstacle::fixed(Forms { field: Some(Arc::new(plate)), ..Forms::default() }, Pose::identity());
    let settings = Settings::for_tool(Renderer::Impulse, &tool, &DEVICE).unwrap();
    let (mut servo, mut simulation) = haptics::new(settings, tool, vec![plate]).unwrap();
    let (mut late, mut fastest, mut last) = (0.0f64, 0.0f64, Vector3::y());
    for n in 0..1500 {
        let t = f64::from(n) * DT;
        // The hand goes 4 mm deeper within a second and rocks by up to 0.1 rad.
        let rotation =
            nalgebra::UnitQuaternion::from_scaled_axis(Vector3::new(0.03, 0.02, 0.04) * (0.5 + 2.0 * (9.0 * t).sin()));
        let pose = Pose::from_parts(Vector3::new(0.0, -START - 4e-3 * t.min(1.0), 0.0).into(), rotation);
        servo.step(&DeviceState { pose, twist: Twist::default(), engaged: true }, DT);
        simulation.simulate();
        let at = servo.tool_pose();
        let up = at.rotation * Vector3::y();
        // Half the extent of the turned box along y: the depth of its lowest corner below the plate is what exceeds it.
        let reach = (0..3).map(|k| (at.rotation * Vector3::ith(k, half[k])).y.abs()).sum::<f64>();
        if n > 300 {
            late = late.max(reach - half.y - at.translation.y);
            fastest = fastest.max((up - last).norm() / DT);
        }
        last = up;
    }
    assert!(late < 1e-4, "the lowest corner is {late} m deep");
    assert!(fastest < 2.0, "the tool turns at {fastest} rad/s");
}
