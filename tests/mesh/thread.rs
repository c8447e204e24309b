//! Bolt and nut are solids with the threads and the play of ISO 965-1.

use std::f64::consts::{PI, TAU};

use voxshell::cook::FieldOptions;
use voxshell::field::{DenseField, SignedDistance};
use voxshell::math::{Pose, Progress, Rotation, Vec3};
use voxshell::mesh::primitives::{bolt, nut, Thread};
use voxshell::mesh::{Bvh, TriMesh};

const P: f64 = 2e-3;
const LENGTH: f64 = 30e-3;
const HEIGHT: f64 = 14.5e-3;

fn solid(name: &str, mesh: &TriMesh, euler: i64) -> f64 {
    let r = mesh.report();
    assert!(r.closed && r.consistent && r.volume > 0.0, "{name}: {r}");
    let flaws = r.degenerate_triangles + r.duplicate_triangles + r.opposed_triangles + r.non_manifold_edges;
    assert_eq!((flaws, r.components, r.euler_characteristic), (0, 1, euler), "{name}: {r}");
    r.volume
}

fn m16_bolt(segments: u32) -> TriMesh {
    bolt(Thread::M16_6G, LENGTH, segments).unwrap()
}

fn m16_nut(segments: u32) -> TriMesh {
    nut(Thread::M16_6H, HEIGHT, segments).unwrap()
}

/// Returns the point at a radius, a height and a fraction of a full turn from x towards −z.
fn at(r: f64, y: f64, turn: f64) -> Vec3 {
    Vec3::new(r * (TAU * turn).cos(), y, -r * (TAU * turn).sin())
}

/// Returns the radius of a 60° thread with these diameters at `u` pitches above a crest's middle.
fn thread_radius(u: f64, minor: f64, pitch_diameter: f64, major: f64) -> f64 {
    let away = (u - u.round()).abs() * P;
    (0.5 * pitch_diameter + (0.25 * P - away) / (PI / 6.0).tan()).clamp(0.5 * minor, 0.5 * major)
}

/// Returns the pose of the nut moved up by `y` and turned so that it is in the middle of its play.
fn on_the_helix(y: f64) -> Pose {
    Pose::from_parts(Vec3::new(0.0, y, 0.0).into(), Rotation::from_axis_angle(&Vec3::y_axis(), TAU * y / P))
}

#[test]
fn bolts_and_nuts_are_solids_at_every_resolution_and_size() {
    for segments in [12, 30, 48, 96, 144] {
        solid("bolt", &m16_bolt(segments), 2);
        solid("nut", &m16_nut(segments), 0);
    }
    // Other sizes, and lengths that end at any angle of a turn.
    for k in 0..24 {
        let pitch = 0.5e-3 + 0.11e-3 * f64::from(k);
        let thread =
            Thread { diameter: 7.3 * pitch, pitch, pitch_deviation: 0.04 * pitch, crest_deviation: 0.09 * pitch };
        let long = pitch * (7.0 + 0.137 * f64::from(k));
        solid("bolt", &bolt(thread, long, 36).unwrap(), 2);
        solid("nut", &nut(thread, long, 36).unwrap(), 0);
        solid("basic", &bolt(Thread { pitch_deviation: 0.0, crest_deviation: 0.0, ..thread }, long, 24).unwrap(), 2);
    }
}

#[test]
fn surface_does_not_pass_through_itself() {
    for mesh in [m16_bolt(48), m16_nut(48)] {
        let bvh = Bvh::build(&mesh);
        for t in (0..mesh.triangles.len()).step_by(3) {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let n = (b - a).cross(&(c - a));
            let lift = n.normalize() * (1e-3 * n.norm().sqrt()).min(1e-7);
            let center = (a + b + c) / 3.0;
            assert!(
                bvh.signed_distance(center + lift) > 0.0 && bvh.signed_distance(center - lift) < 0.0,
                "triangle {t}"
            );
        }
    }
}

#[test]
fn volume_is_that_of_the_turned_profile() {
    // Ten more turns of thread add ten pitches of its mean square radius, on a polygon instead of a circle.
    let n = 96;
    let polygon = 0.5 * f64::from(n) * (TAU / f64::from(n)).sin();
    let mean_square = |minor: f64, pitch_diameter: f64, major: f64| {
        let steps = 100_000;
        let square =
            |i: u32| thread_radius((f64::from(i) + 0.5) / f64::from(steps), minor, pitch_diameter, major).powi(2);
        (0..steps).map(square).sum::<f64>() / f64::from(steps)
    };
    let longer = bolt(Thread::M16_6G, LENGTH + 10.0 * P, n).unwrap().report().volume - m16_bolt(n).report().volume;
    let expected = 10.0 * P * polygon * mean_square(13.717e-3, 14.583e-3, 15.822e-3);
    assert!((longer / expected - 1.0).abs() < 1e-3, "{longer} m³, not {expected}");
    let higher = nut(Thread::M16_6H, HEIGHT + 10.0 * P, n).unwrap().report().volume - m16_nut(n).report().volume;
    let hexagon = 0.5 * 3f64.sqrt() * 24e-3f64.powi(2);
    let expected = 10.0 * P * (hexagon - polygon * mean_square(14.0225e-3, 14.807e-3, 16.106e-3));
    assert!((higher / expected - 1.0).abs() < 1e-3, "{higher} m³, not {expected}");
    // The volume of the whole nut is between these: without its chamfers, and with countersinks of 1.15 mm.
    let whole = m16_nut(n).report().volume;
    assert!(whole < expected * HEIGHT / (10.0 * P) && whole > 0.95 * expected * HEIGHT / (10.0 * P), "{whole} m³");
}

#[test]
fn diameters_and_pitch_are_those_of_the_class() {
    // Caliper measurement: the outermost and the innermost points of the threads.
    let (b, n) = (m16_bolt(144), m16_nut(144));
    let radii = |mesh: &TriMesh, y: (f64, f64)| {
        let inside = |v: &&[f64; 3]| v[1] > y.0 && v[1] < y.1 && v[0].hypot(v[2]) < 9e-3;
        let r: Vec<f64> = mesh.vertices.iter().filter(inside).map(|v| v[0].hypot(v[2])).collect();
        (2.0 * r.iter().copied().fold(f64::INFINITY, f64::min), 2.0 * r.iter().copied().fold(0.0, f64::max))
    };
    let close = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-8, "{got} m, not {expected} m");
    let (minor, major) = radii(&b, (8e-3, 26e-3));
    close(major, 15.822e-3);
    close(minor, 16e-3 - 1.082_531_754_73 * P - 0.118e-3);
    let (minor, major) = radii(&n, (2e-3, 12e-3));
    close(minor, 16e-3 - 1.082_531_754_73 * P + 0.1875e-3);
    close(major, 16.106e-3);

    // Thread-wire measurement: along a line at the pitch radius, metal and air are half a pitch each, and flanks repeat
    // after one pitch; a quarter of a turn farther they are a quarter of a pitch higher (right-handed).
    for (mesh, pitch_diameter, span) in [(&b, 14.583e-3, (8e-3, 26e-3)), (&n, 14.807e-3, (2e-3, 12e-3))] {
        let bvh = Bvh::build(mesh);
        for turn in [0.0, 0.25, 0.5, 0.75] {
            let side = |y: f64| bvh.signed_distance(at(0.5 * pitch_diameter, y, turn)) < 0.0;
            let mut flanks = Vec::new();
            let step = 0.05e-3;
            let mut y = span.0;
            while y < span.1 {
                if side(y) != side(y + step) {
                    let (mut low, mut high) = (y, y + step);
                    while high - low > 1e-9 {
                        let middle = 0.5 * (low + high);
                        if side(middle) == side(low) {
                            low = middle;
                        } else {
                            high = middle;
                        }
                    }
                    flanks.push((low, side(y)));
                }
                y += step;
            }
            assert!(flanks.len() >= 9, "{flanks:?}");
            for w in flanks.windows(3) {
                assert!((w[2].0 - w[0].0 - P).abs() < 1e-7, "pitch {}", w[2].0 - w[0].0);
                assert!((w[1].0 - w[0].0 - 0.5 * P).abs() < 1e-6, "half a pitch at the pitch diameter: {flanks:?}");
            }
            for &(y, above_metal) in &flanks {
                // On bolt and nut a crest of the bolt is in the middle, at whole pitches plus the turn.
                let is_bolt = pitch_diameter < 14.7e-3;
                let middle = if above_metal == is_bolt { y - 0.25 * P } else { y + 0.25 * P };
                let phase = middle / P - turn;
                assert!((phase - phase.round()).abs() < 1e-3, "{y} m at {turn} turns");
            }
        }
    }
}

/// Returns the smallest distance of vertices, edge midpoints and triangle centres of each to the other, negative
/// inside.
fn clearance(b: &TriMesh, n: &TriMesh, pose: &Pose) -> f64 {
    let one_way = |mesh: &TriMesh, other: &Bvh, pose: &Pose| {
        let mut least = f64::INFINITY;
        for t in 0..mesh.triangles.len() {
            let [p, q, r] = mesh.corners(t).map(Vec3::from);
            for point in [p, 0.5 * (p + q), 0.5 * (q + r), 0.5 * (r + p), (p + q + r) / 3.0] {
                if point.x.hypot(point.z) < 8.1e-3 {
                    least = least.min(other.signed_distance((pose * nalgebra::Point3::from(point)).coords));
                }
            }
        }
        least
    };
    let (bolt_bvh, nut_bvh) = (Bvh::build(b), Bvh::build(n));
    one_way(n, &bolt_bvh, pose).min(one_way(b, &nut_bvh, &pose.inverse()))
}

#[test]
fn nut_has_the_play_of_6h_6g_on_the_helix_and_none_off_it() {
    let (b, n) = (m16_bolt(96), m16_nut(96));
    // The flanks are apart by half the difference of the pitch diameters times sin 30°, seen along the axis; a
    // helicoid's normal leans slightly more. The polygons approximate circles to within this error.
    let lead = P / (PI * 14.7e-3);
    let expected = 0.25 * (14.807e-3 - 14.583e-3) * (4.0 / 3.0f64).sqrt() / (4.0 / 3.0 + lead * lead).sqrt();
    let sagitta = 8e-3 * (1.0 - (PI / 96.0).cos());
    for y in [9.0e-3, 10.37e-3] {
        let got = clearance(&b, &n, &on_the_helix(y));
        assert!((got - expected).abs() < sagitta, "{got} m at {y} m; expected {expected}");
    }
    let (b, n) = (m16_bolt(48), m16_nut(48));
    // The axial play is 129 µm: at 60 µm off the helix they are separated, at 70 µm they penetrate, and half a turn off
    // too.
    for (off, free) in [(60e-6, true), (-60e-6, true), (70e-6, false), (-70e-6, false), (1e-3, false)] {
        let pose = Pose::translation(0.0, off, 0.0) * on_the_helix(9e-3);
        let got = clearance(&b, &n, &pose);
        assert_eq!(got > 0.0, free, "{got} m when {off} m off the helix");
    }
}

#[test]
fn field_of_the_threads_has_the_right_sign() {
    let (b, n) = (m16_bolt(48), m16_nut(48));
    let cook =
        |mesh: &TriMesh| voxshell::cook::dense_field(mesh, &FieldOptions::new(0.2e-3), &Progress::none()).unwrap();
    let (b, n) = (cook(&b), cook(&n));
    let value = |field: &DenseField, p: Vec3| {
        let q = p - field.local_origin(&Vec3::zeros());
        field.distance([q.x as f32, q.y as f32, q.z as f32])
    };
    for i in 0..200 {
        let turn = 0.618 * f64::from(i);
        let y = 6e-3 + 0.031e-3 * f64::from(i);
        let u = y / P - turn.fract();
        let bolt_radius = thread_radius(u, 13.717e-3, 14.583e-3, 15.822e-3);
        let nut_radius = thread_radius(u, 14.0225e-3, 14.807e-3, 16.106e-3);
        assert!(value(&b, at(bolt_radius - 0.2e-3, y, turn)) < 0.0, "{i}: in the bolt");
        assert!(value(&b, at(bolt_radius + 0.2e-3, y, turn)) > 0.0, "{i}: out of the bolt");
        assert!(value(&n, at(nut_radius - 0.2e-3, y, turn)) > 0.0, "{i}: in the nut's bore");
        assert!(value(&n, at(nut_radius + 0.2e-3, y, turn)) < 0.0, "{i}: in the nut");
    }
}

#[test]
fn bad_threads_are_named() {
    let message = |r: voxshell::Result<TriMesh>| r.unwrap_err().to_string();
    let thread = Thread::M16_6G;
    assert!(message(bolt(Thread { pitch: 5e-3, ..thread }, LENGTH, 48)).starts_with("pitch is"));
    assert!(message(bolt(Thread { diameter: f64::NAN, ..thread }, LENGTH, 48)).starts_with("diameter is"));
    assert!(message(bolt(Thread { pitch_deviation: -1e-6, ..thread }, LENGTH, 48)).starts_with("pitch_deviation is"));
    assert!(message(nut(Thread { crest_deviation: 1e-3, ..thread }, HEIGHT, 48)).starts_with("crest_deviation is"));
    assert!(message(bolt(thread, 5e-3, 48)).starts_with("length is"));
    assert!(message(nut(thread, f64::INFINITY, 48)).starts_with("height is"));
    assert!(message(nut(thread, HEIGHT, 50)).starts_with("segments is 50"));
}
