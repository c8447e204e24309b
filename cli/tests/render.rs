//! Pictures against closed form: the sphere tracer shows the field's surface at its true place.

use std::sync::Arc;

use voxshell::field::SignedDistance;
use voxshell::math::{Aabb, Pose, Rotation, Vec3};
use voxshell_cli::render::{render, slice, Camera, Ground, Image, Object, Plane, Scene};

/// A ball with its own code, so that the test does not depend on the library's fields.
struct Ball(f32);

impl SignedDistance for Ball {
    fn local_origin(&self, _: &Vec3) -> Vec3 {
        Vec3::zeros()
    }
    fn bounds(&self) -> Aabb {
        Aabb { min: Vec3::repeat(-f64::from(self.0)), max: Vec3::repeat(f64::from(self.0)) }
    }
    fn distance(&self, p: [f32; 3]) -> f32 {
        (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt() - self.0
    }
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let d = self.distance(p) + self.0;
        (d - self.0, p.map(|c| c / d))
    }
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        self.distance(c) - r
    }
    fn error_bound(&self) -> f64 {
        0.0
    }
}

const RED: [f32; 3] = [0.9, 0.1, 0.1];

fn is_red(image: &Image, x: usize, y: usize) -> bool {
    let p = &image.rgba[4 * (y * image.width + x)..];
    i32::from(p[0]) > i32::from(p[2]) + 25
}

fn balls() -> Scene {
    let mut scene = Scene { smoothing: 1, ..Scene::default() };
    let turned = Pose::from_parts(Vec3::new(0.7, 0.2, -0.4).into(), Rotation::from_euler_angles(0.3, 1.1, -0.6));
    scene.objects.push(Object::new(Arc::new(Ball(0.5)), Pose::identity(), RED));
    scene.objects.push(Object::new(Arc::new(Ball(0.3)), turned, RED));
    scene
}

#[test]
fn every_pixel_of_two_balls_agrees_with_the_quadratic() {
    let scene = balls();
    let (w, h) = (160, 120);
    let camera = Camera::looking_at(Vec3::new(1.5, 1.0, 3.0), Vec3::new(0.2, 0.0, 0.0), Vec3::y(), 0.6);
    let image = render(&scene, &camera, w, h);
    let mut hits = 0;
    for y in 0..h {
        for x in 0..w {
            let d = camera.ray((x as f64 + 0.5) / w as f64, (y as f64 + 0.5) / h as f64, w as f64 / h as f64);
            // Depth of the ray inside the silhouette, metres; within the tracer's tolerance both results are right.
            let depth = scene.objects.iter().zip([0.5, 0.3]).map(|(object, r)| {
                let to = object.pose.translation.vector - camera.eye;
                r - (to - d * to.dot(&d)).norm()
            });
            let depth = depth.fold(f64::NEG_INFINITY, f64::max);
            if depth.abs() > 2e-3 {
                assert_eq!(is_red(&image, x, y), depth > 0.0, "pixel {x} {y}, depth {depth}");
            }
            hits += usize::from(depth > 0.0);
        }
    }
    assert!(hits > 1000, "the balls should fill a good part of the picture: {hits}");
}

#[test]
fn ground_is_shaded_where_a_ball_keeps_the_light_away() {
    let mut scene = balls();
    scene.objects.truncate(1);
    scene.light = Vec3::y();
    scene.ground = Some(Ground { colours: [[0.8; 3]; 2], ..Ground::floor(-0.6, 0.5) });
    let camera = Camera::looking_at(Vec3::new(0.0, 4.0, 4.0), Vec3::zeros(), Vec3::y(), 0.9);
    let (w, h) = (200, 200);
    let image = render(&scene, &camera, w, h);
    let brightness = |p: Vec3| {
        let d = p - camera.eye;
        let half = (0.5 * camera.fov_y).tan() * d.dot(&camera.forward);
        let x = (0.5 + 0.5 * d.dot(&camera.right) / half) * w as f64;
        let y = (0.5 - 0.5 * d.dot(&camera.up) / half) * h as f64;
        i32::from(image.rgba[4 * (y as usize * w + x as usize)])
    };
    let shaded = brightness(Vec3::new(0.0, -0.6, 0.35));
    let open = brightness(Vec3::new(1.6, -0.6, 0.35));
    assert!(shaded + 40 < open, "shaded {shaded}, open {open}");
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let mut scene = balls();
    scene.smoothing = 3;
    scene.ground = Some(Ground::floor(-0.5, 0.25));
    let camera = Camera::looking_at(Vec3::new(1.5, 1.0, 3.0), Vec3::zeros(), Vec3::y(), 0.6);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&scene, &camera, 96, 64))
    };
    assert_eq!(on(1), on(5));
}

#[test]
fn png_reads_back_to_the_same_pixels() {
    let image = render(&balls(), &Camera::looking_at(Vec3::new(0.0, 0.0, 3.0), Vec3::zeros(), Vec3::y(), 0.6), 40, 30);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("balls.png");
    image.write_png(&path).unwrap();
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (40, 30, png::ColorType::Rgb));
    let expected: Vec<u8> = image.rgba.chunks(4).flat_map(|p| p[..3].to_vec()).collect();
    assert_eq!(rgb, expected);
    let missing = folder.path().join("no such folder").join("x.png");
    assert!(image.write_png(&missing).unwrap_err().to_string().contains("no such folder"));
}

#[test]
fn a_slice_has_the_zero_level_where_the_ball_is_on_any_plane() {
    let ball = Ball(0.5);
    let n = 200;
    for axis in 0..3 {
        for at in [0.0, 0.3, -0.45] {
            let plane = Plane::across(axis, at, &ball.bounds());
            assert!((plane.right.cross(&plane.up)[axis] - 1.0).abs() < 1e-12, "seen from the positive side");
            let image = slice(&ball, &plane, n);
            let (pixel, radius) = (plane.side / n as f64, (0.25f64 - at * at).sqrt());
            for row in 0..n {
                for column in 0..n {
                    let p = plane.point(column, row, n);
                    assert!((p[axis] - at).abs() < 1e-12);
                    let off = (p - Vec3::ith(axis, at)).norm() - radius;
                    let colour = &image.rgba[4 * (row * n + column)..][..3];
                    let dark = colour.iter().all(|&c| c < 60);
                    let place = format!("axis {axis} at {at}, {off} m off: {colour:?}");
                    // Lines keep their width where the plane cuts the ball at a slant.
                    assert!(dark || off.abs() > 0.4 * pixel, "{place}");
                    assert!(!dark || off.abs() < 2.5 * pixel, "{place}");
                    if off.abs() > 3.0 * pixel {
                        assert_eq!(colour[2] > colour[0], off < 0.0, "{place}");
                    }
                }
            }
        }
    }
    let steps = [(1.0, 0.05), (0.9, 0.05), (2.4, 0.1), (0.03, 0.002)];
    for (side, step) in steps {
        let plane = Plane { side, ..Plane::across(2, 0.0, &ball.bounds()) };
        assert!((plane.step() - step).abs() < 1e-12, "{side}: {}", plane.step());
    }
}

#[test]
fn many_balls_are_seen_where_each_one_is() {
    // More balls than fit in a leaf, of many sizes; a few hide others.
    let place = |i: i32, k: i32| f64::from((i * k) % 37) / 37.0 - 0.5;
    let ball = |i: i32| voxshell_cli::render::Ball {
        center: Vec3::new(place(i, 7), place(i, 11), place(i, 17)),
        radius: 0.02 + 0.04 * f64::from(i % 5) / 5.0,
        colour: RED,
    };
    let balls: Vec<_> = (0..60).map(ball).collect();
    let scene = Scene { smoothing: 1, balls: balls.clone(), ..Scene::default() };
    let (w, h) = (150, 120);
    let camera = Camera::looking_at(Vec3::new(0.9, 0.7, 1.6), Vec3::zeros(), Vec3::y(), 0.7);
    let image = render(&scene, &camera, w, h);
    let mut hits = 0;
    for y in 0..h {
        for x in 0..w {
            let d = camera.ray((x as f64 + 0.5) / w as f64, (y as f64 + 0.5) / h as f64, w as f64 / h as f64);
            let depth = balls.iter().map(|ball| {
                let to = ball.center - camera.eye;
                ball.radius - (to - d * to.dot(&d)).norm()
            });
            let depth = depth.fold(f64::NEG_INFINITY, f64::max);
            if depth.abs() > 1e-9 {
                assert_eq!(is_red(&image, x, y), depth > 0.0, "pixel {x} {y}, depth {depth}");
            }
            hits += usize::from(depth > 0.0);
        }
    }
    assert!(hits > 1000, "{hits}");
}
