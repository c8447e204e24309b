//! Pointshells of corners and sharp edges only.

use nalgebra::{Isometry3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Forms, Resolution, Shape};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, Sampling, ShellOptions};
use voxshell::Error;

const HALF: [f64; 3] = [0.3, 0.2, 0.1];

fn options(spacing: f64) -> ShellOptions {
    ShellOptions { method: Sampling::Features, spacing, ..ShellOptions::default() }
}

fn sample(mesh: &TriMesh, options: &ShellOptions) -> PointShell {
    let shell = voxshell::cook::sample(mesh, None, options, &Progress::none()).unwrap();
    shell.check_invariants().unwrap();
    shell
}

/// Returns the number of coordinates of a sample that are on the box's faces.
fn on_faces(p: &Vec3) -> usize {
    (0..3).filter(|&k| (p[k].abs() - HALF[k]).abs() < 1e-6).count()
}

#[test]
fn all_samples_of_a_box_are_on_its_edges_which_they_cover() {
    let shell = sample(&primitives::cuboid(HALF).unwrap(), &options(0.04));
    let positions: Vec<Vec3> = (0..shell.len()).map(|i| shell.position(i)).collect();
    assert!(positions.iter().all(|p| on_faces(p) >= 2));
    assert_eq!(positions.iter().filter(|p| on_faces(p) == 3).count(), 8, "every corner once");
    // Four edges of each length, in 15, 10 and 5 steps, and the corners.
    assert_eq!(shell.len(), 4 * (14 + 9 + 4) + 8);
    for (i, p) in positions.iter().enumerate() {
        let n = Vec3::from(shell.normal(i).map(f64::from));
        let outward = Vec3::from_fn(|k, _| if (p[k].abs() - HALF[k]).abs() < 1e-6 { p[k].signum() } else { 0.0 });
        assert!((n - outward.normalize()).norm() < 1e-5, "the normal is not between the faces: {n} at {p}");
    }
    // The spacing is the largest distance from any point of an edge to a sample.
    let mut farthest = 0.0f64;
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            for step in 0..=1000 {
                let mut p = Vec3::zeros();
                (p[u], p[v], p[axis]) = (s * HALF[u], t * HALF[v], HALF[axis] * (f64::from(step) / 500.0 - 1.0));
                farthest = farthest.max(positions.iter().map(|q| (q - p).norm()).fold(f64::INFINITY, f64::min));
            }
        }
    }
    let spacing = f64::from(shell.spacing);
    assert!(farthest <= spacing && spacing <= farthest * 1.02 + 1e-4, "{farthest} {spacing}");
    assert!(spacing <= 0.021, "{spacing}");
}

#[test]
fn a_target_count_is_met_and_the_corners_are_kept() {
    let mesh = primitives::cuboid(HALF).unwrap();
    for target in [20, 100, 1000] {
        let options = ShellOptions { target_count: Some(target), ..options(f64::NAN) };
        let shell = sample(&mesh, &options);
        assert!(shell.len().abs_diff(target) * 20 <= target + 100, "{} for {target}", shell.len());
        assert_eq!((0..shell.len()).filter(|&i| on_faces(&shell.position(i)) == 3).count(), 8);
    }
}

#[test]
fn an_open_sheet_has_its_border_and_its_folds() {
    // An L of two squares with its fold along z: six corners, seven edges.
    let vertices =
        vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]];
    let triangles = vec![[0, 2, 1], [0, 3, 2], [0, 5, 3], [0, 4, 5]];
    for turned in [false, true] {
        let mut mesh = TriMesh::new(vertices.clone(), triangles.clone()).unwrap();
        if turned {
            // Faces with inconsistent winding do not change the positions of the samples.
            mesh.triangles[2].swap(0, 1);
        }
        let shell = sample(&mesh, &options(0.1));
        assert!((68..=72).contains(&shell.len()), "{}", shell.len());
        for i in 0..shell.len() {
            let p = shell.position(i);
            let is_on = |q: Vec3, along: Vec3| {
                let off = p - q;
                (off - along * off.dot(&along)).norm() < 1e-6
            };
            let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
            let lines = [(Vec3::zeros(), x), (Vec3::zeros(), y), (Vec3::zeros(), z), (x, z), (y, z), (z, x), (z, y)];
            assert!(lines.iter().any(|(q, along)| is_on(*q, *along)), "{p}");
            assert!((Vec3::from(shell.normal(i).map(f64::from)).norm() - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn a_triangle_soup_has_the_features_of_the_welded_mesh() {
    let mesh = primitives::gear(12, 0.5, 0.4, 0.2, 0.15).unwrap();
    let corners: Vec<[f64; 3]> = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let soup = TriMesh::new(corners, triangles).unwrap();
    let positions = |mesh: &TriMesh| {
        let shell = sample(mesh, &options(0.03));
        let mut all: Vec<[u64; 3]> = (0..shell.len()).map(|i| shell.position(i).map(f64::to_bits).into()).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(positions(&mesh), positions(&soup));
}

#[test]
fn a_mesh_without_features_is_refused_and_says_so() {
    let sphere = primitives::sphere(0.5, 4).unwrap();
    let refused = voxshell::cook::sample(&sphere, None, &options(0.05), &Progress::none()).unwrap_err();
    assert!(matches!(&refused, Error::InvalidMesh(m) if m.contains("sharper than")), "{refused}");
    // With a smaller angle every edge is sharp.
    let every = ShellOptions { sharp_angle: 1e-4, ..options(0.05) };
    assert!(sample(&sphere, &every).len() > 100);
    let unset = voxshell::cook::sample(&primitives::cuboid(HALF).unwrap(), None, &options(f64::NAN), &Progress::none());
    assert!(matches!(unset, Err(Error::InvalidArgument { argument, .. }) if argument == "spacing"));
}

#[test]
fn a_cone_has_its_tip() {
    let shell = sample(&primitives::cone(0.2, 0.5, 48).unwrap(), &options(0.05));
    let tip = (0..shell.len()).find(|&i| (shell.position(i) - Vec3::new(0.0, 0.25, 0.0)).norm() < 1e-6);
    let normal = shell.normal(tip.expect("the tip is a corner"));
    assert!(normal[1] > 0.99, "{normal:?}");
}

#[test]
fn flat_sheets_are_cooked_without_a_field_wherever_they_are() {
    let square = TriMesh::new(
        vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
        vec![[0, 2, 1], [0, 3, 2]],
    )
    .unwrap();
    let mut rng = Rng(3);
    for _ in 0..20 {
        let pose = Isometry3::from_parts(Translation3::from(rng.vector() * 100.0), rng.rotation());
        let cooking =
            CookOptions { forms: Forms { field: false, shell: true }, shell: options(0.1), ..CookOptions::default() };
        let shape = Shape::cook(&square.transformed(&pose, 1.0), &cooking, &Progress::none()).unwrap();
        // Ten steps per side, or eleven where rounding makes the side longer than 1 m.
        let count = shape.shell.unwrap().len();
        assert!((40..=44).contains(&count), "{count}");
    }
}

#[test]
fn edge_samples_keep_the_normal_between_the_faces() {
    let options = CookOptions { resolution: Resolution::Cells(128), ..CookOptions::default() };
    let shape = Shape::cook(&primitives::cuboid(HALF).unwrap(), &options, &Progress::none()).unwrap();
    let shell = shape.shell.unwrap();
    let mut seen = 0;
    for i in 0..shell.len() {
        let p = shell.position(i);
        if on_faces(&p) >= 2 {
            let outward = Vec3::from_fn(|k, _| if (p[k].abs() - HALF[k]).abs() < 1e-6 { p[k].signum() } else { 0.0 });
            let n = Vec3::from(shell.normal(i).map(f64::from));
            assert!((n - outward.normalize()).norm() < 1e-4, "{n} at {p}");
            seen += 1;
        }
    }
    assert!(seen > 500);
}
