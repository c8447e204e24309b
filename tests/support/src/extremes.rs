//! Numbers of every magnitude that the C API accepts, and bodies to test with them.

// These functions are unsafe because they pass their arguments to the C API; only tests of this project call them.
#![allow(clippy::missing_safety_doc)]

use std::ptr::null_mut;
use std::time::{Duration, Instant};

use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query_options::*;
use voxshell::capi::response::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

use crate::rng::Rng;

/// Time limit of a call on a busy machine. Most take microseconds; a motion of all samples along a surface takes
/// seconds.
pub const LONGEST: Duration = Duration::from_secs(120);

pub fn ok(status: vxs_status) {
    assert_eq!(status, VXS_OK, "{:?}", unsafe { std::ffi::CStr::from_ptr(vxs_last_error()) });
}

/// Runs a call that must succeed, and reports its time if it is too long.
pub fn timed(what: &dyn Fn() -> String, call: impl FnOnce() -> vxs_status) {
    let begin = Instant::now();
    let status = call();
    let took = begin.elapsed();
    assert!(took < LONGEST, "{took:?} for {}", what());
    let message = || unsafe { std::ffi::CStr::from_ptr(vxs_last_error()) };
    assert!([VXS_OK, VXS_TRUNCATED].contains(&status), "{:?}: {}", message(), what());
}

/// Returns a number of a random magnitude and sign, `least` to `most`, or 0.
pub fn number(rng: &mut Rng, least: f64, most: f64) -> f64 {
    let size = match rng.next() % 6 {
        0 => 0.0,
        1 => most,
        2 => least,
        3 => 1.0f64.clamp(least, most),
        _ => (least.ln() + rng.fraction() * (most / least).ln()).exp().clamp(least, most),
    };
    if rng.next() % 2 == 0 {
        size
    } else {
        -size
    }
}

pub fn vector(rng: &mut Rng, least: f64, most: f64) -> vxs_vec3 {
    let [x, y, z] = [0; 3].map(|_| number(rng, least, most));
    vxs_vec3 { x, y, z }
}

pub fn place(rng: &mut Rng) -> vxs_vec3 {
    vector(rng, VXS_MIN_LENGTH, VXS_MAX_COORDINATE)
}

pub fn quantities(rng: &mut Rng) -> vxs_vec3 {
    vector(rng, VXS_MIN_QUANTITY, VXS_MAX_QUANTITY)
}

pub fn positive(rng: &mut Rng) -> f64 {
    number(rng, VXS_MIN_QUANTITY, VXS_MAX_QUANTITY).abs().max(VXS_MIN_QUANTITY)
}

pub fn not_negative(rng: &mut Rng) -> f64 {
    number(rng, VXS_MIN_QUANTITY, VXS_MAX_QUANTITY).abs()
}

pub fn pose(rng: &mut Rng) -> vxs_pose {
    let q = rng.rotation().coords;
    let [qx, qy, qz, qw] = if rng.next() % 4 == 0 { [0.0, 0.0, 0.0, 1.0] } else { [q.x, q.y, q.z, q.w] };
    vxs_pose { position: place(rng), qx, qy, qz, qw }
}

/// Returns a pose that is often equal to another one or near it.
pub fn pose_near(rng: &mut Rng, other: &vxs_pose, size: f64) -> vxs_pose {
    let mut near = pose(rng);
    if rng.next() % 3 != 0 {
        let p = other.position;
        let off = rng.vector() * size;
        let within = |x: f64| x.clamp(-VXS_MAX_COORDINATE, VXS_MAX_COORDINATE);
        near.position = vxs_vec3 { x: within(p.x + off.x), y: within(p.y + off.y), z: within(p.z + off.z) };
    }
    near
}

pub fn twist(rng: &mut Rng) -> vxs_twist {
    vxs_twist { linear: quantities(rng), angular: quantities(rng) }
}

pub fn of(v: &vxs_vec3) -> [f64; 3] {
    [v.x, v.y, v.z]
}

pub fn is_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

pub fn is_contact(c: &vxs_contact) -> bool {
    let unit: f64 = of(&c.normal).iter().map(|x| x * x).sum();
    is_finite(&of(&c.point_on_a))
        && is_finite(&of(&c.point_on_b))
        && (unit - 1.0).abs() < 1e-5
        && c.separation.is_finite()
        && (0.0..=1.0).contains(&c.toi)
}

pub struct Body {
    pub name: String,
    pub shape: *mut vxs_shape,
    /// Largest distance of a point from the origin, metres; infinite for a half-space.
    pub radius: f64,
    pub has_shell: bool,
}

impl Drop for Body {
    fn drop(&mut self) {
        unsafe { ok(vxs_shape_release(self.shape)) };
    }
}

impl Body {
    pub unsafe fn new(name: &str, shape: *mut vxs_shape, radius: f64, has_shell: bool) -> Self {
        Self { name: name.into(), shape, radius, has_shell }
    }

    pub unsafe fn cooked(storage: u32) -> Self {
        let (mut primitive, mut options, mut shape) = (std::mem::zeroed(), std::mem::zeroed(), null_mut());
        ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), VXS_PRIMITIVE_TORUS));
        ok(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()));
        (options.resolution, options.field_storage) = (16, storage);
        (primitive.size[0], primitive.size[1]) = (1.0, 0.4);
        ok(vxs_shape_create_primitive(&primitive, &options, &mut shape));
        Self::new(if storage == VXS_STORAGE_BRICKS { "bricks" } else { "dense" }, shape, 1.5, true)
    }

    pub unsafe fn scaled(&self, factor: f64) -> Self {
        let mut shape = null_mut();
        ok(vxs_shape_create_scaled(self.shape, factor, &mut shape));
        Self::new(&format!("{} times {factor:e}", self.name), shape, self.radius * factor, self.has_shell)
    }
}

/// Returns bodies of each kind about 1 m large, and cooked ones of all sizes.
pub unsafe fn bodies() -> Vec<Body> {
    let mut all = vec![Body::cooked(VXS_STORAGE_DENSE), Body::cooked(VXS_STORAGE_BRICKS)];
    for factor in [1e-15, 1e-3, 1e4, 6e17] {
        for k in 0..2 {
            let scaled = all[k].scaled(factor);
            all.push(scaled);
        }
    }
    let points =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|[x, y, z]| vxs_vec3 { x, y, z });
    let faces = [0u32, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let half = vxs_vec3 { x: 0.5, y: 0.6, z: 0.7 };
    let up = vxs_vec3 { x: 0.0, y: 0.6, z: 0.8 };
    let mut shapes = [null_mut(); 10];
    let [plane, ball, cuboid, capsule, cylinder, cone, hull, triangles, sheet, rounded] = &mut shapes;
    ok(vxs_shape_create_half_space(up, 0.1, plane));
    ok(vxs_shape_create_sphere(1.0, ball));
    ok(vxs_shape_create_box(half, cuboid));
    ok(vxs_shape_create_capsule(0.3, 0.6, 0, capsule));
    ok(vxs_shape_create_cylinder(0.3, 0.6, 1, cylinder));
    ok(vxs_shape_create_cone(0.5, 0.8, 2, cone));
    ok(vxs_shape_create_convex_hull(points.as_ptr(), 4, hull));
    ok(vxs_shape_create_triangles(points.as_ptr(), 4, faces.as_ptr(), 4, 0.0, triangles));
    ok(vxs_shape_create_sheet(points.as_ptr(), 4, faces.as_ptr(), 4, 0.1, sheet));
    ok(vxs_shape_create_sphere_hull(points.as_ptr(), [0.1, 0.2, 0.0, 0.3].as_ptr(), 4, rounded));
    let names = ["plane", "ball", "box", "capsule", "cylinder", "cone", "hull", "triangles", "sheet", "rounded"];
    for (name, shape) in names.iter().zip(shapes) {
        all.push(Body::new(name, shape, if *name == "plane" { f64::INFINITY } else { 1.5 }, false));
    }
    all
}

pub fn rounds(n: usize) -> usize {
    if crate::long() {
        20 * n
    } else {
        n
    }
}

/// Calls `each` with pairs of bodies of which the first has a pointshell, and with random numbers.
pub unsafe fn pairs(seed: u64, n: usize, mut each: impl FnMut(&Body, &Body, &mut Rng)) {
    let bodies = bodies();
    let mut rng = Rng(seed);
    for _ in 0..rounds(n) {
        for a in bodies.iter().filter(|a| a.has_shell) {
            let b = &bodies[rng.next() as usize % bodies.len()];
            each(a, b, &mut rng);
        }
    }
}

pub fn size(a: &Body, b: &Body) -> f64 {
    a.radius + if b.radius.is_finite() { b.radius } else { 0.0 }
}
