//! Bodies against sheets: the same answer as brute force over all samples by the same rule, and the right answer in
//! cases with a known solution.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rayon::prelude::*;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::ccd::segment::{self, Segment, Start};
use voxshell::contact::{contacts, distance, Contact, Geometry, Query, Roles, Workspace};
use voxshell::field::{Cone, Cuboid, Field, Sheet, SignedDistance};
use voxshell::math::{Aabb, Pose, Progress, RigidF32, Vec3};
use voxshell::mesh::{primitives, Bvh, TriMesh};
use voxshell::pointshell::{PointShell, Sampling, ShellOptions};
use voxshell::Error;

fn cook(mesh: &TriMesh, samples: usize) -> Shape {
    cook_at(mesh, samples, 64)
}

fn cook_at(mesh: &TriMesh, samples: usize, cells: u32) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Returns `n` by `n` squares in the xz-plane, facing +y, with the given heights; `extent` metres wide.
fn grid(n: u32, extent: f64, height: impl Fn(f64, f64) -> f64) -> TriMesh {
    let at = |i: u32| (f64::from(i) / f64::from(n) - 0.5) * extent;
    let vertices = (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j)));
    let vertices = vertices.map(|(i, j)| [at(i), height(at(i), at(j)), at(j)]).collect();
    let id = |i: u32, j: u32| i * (n + 1) + j;
    let square =
        |i: u32, j: u32| [[id(i, j), id(i, j + 1), id(i + 1, j + 1)], [id(i, j), id(i + 1, j + 1), id(i + 1, j)]];
    TriMesh::new(vertices, (0..n).flat_map(|i| (0..n).flat_map(move |j| square(i, j))).collect()).unwrap()
}

fn terrain() -> TriMesh {
    grid(24, 3.0, |x, z| 0.12 * (3.0 * x).sin() * (2.5 * z).cos())
}

fn flat() -> TriMesh {
    grid(6, 2.0, |_, _| 0.0)
}

fn sheet(mesh: TriMesh, depth: f64) -> Shape {
    Shape::from_sheet(mesh, depth).unwrap()
}

fn only_shell(shape: &Shape) -> Geometry<'_> {
    Geometry { field: None, shell: shape.shell.as_deref(), surface: None }
}

/// Expected result of a sample: its separation and the outward direction, in the sheet's frame.
type Answer = Option<(f32, Vec3)>;

/// The rule of `contact::search::sheet`, without its tree and its bounds.
struct Oracle<'a> {
    body: Geometry<'a>,
    sheet: &'a Sheet,
    bvh: Bvh,
}

impl<'a> Oracle<'a> {
    fn new(body: Geometry<'a>, sheet: &'a Shape) -> Self {
        let Some(Field::Sheet(sheet)) = sheet.field.as_deref() else { panic!("a sheet is expected") };
        Self { body, sheet, bvh: Bvh::build(sheet.mesh()) }
    }

    fn answers(&self, pose: &Pose, sheet_pose: &Pose) -> Vec<Answer> {
        let shell = self.body.shell.unwrap();
        let relative = sheet_pose.inv_mul(pose);
        let origin = (relative * Point3::from(shell.origin)).coords;
        let to_sheet = RigidF32::between(&relative, &shell.origin, &origin);
        let phi = |p: Vec3| {
            let field = self.body.field.unwrap();
            let p = relative.inverse_transform_point(&p.into()).coords;
            let local = p - field.local_origin(&p);
            f64::from(field.distance([local.x as f32, local.y as f32, local.z as f32]))
        };
        let answer = |i: usize| {
            let local = to_sheet.point(shell.point(i));
            let p = Vec3::from(local.map(f64::from)) + origin;
            let closest = self.bvh.closest_point(p);
            let d = closest.distance_squared.sqrt();
            let n = relative.rotation * Vec3::from(shell.normal(i).map(f64::from));
            let [a, b, c] = self.sheet.mesh().corners(closest.triangle as usize).map(Vec3::from);
            let face = (b - a).cross(&(c - a)).try_normalize(0.0);
            let span: f64 = local.iter().map(|x| f64::from(x.abs())).sum();
            if d <= 4e-7 * span + 1e-14 * origin.abs().sum() {
                let face = face.unwrap_or(-n);
                return Some((0.0, if face.dot(&n) > 0.0 { -face } else { face }));
            }
            let g = (p - closest.point) / d;
            if n.dot(&g) < 0.0 {
                return Some((d as f32, g));
            }
            let way = (g + n) * -d;
            let is_through = if self.body.field.is_some() {
                let here = -phi(p);
                -phi(p + way * 0.5) - here > 0.02 * d && -phi(p + way) - here > 0.02 * d
            } else {
                face.is_some_and(|m| m.dot(&g) < 0.0)
            };
            let is_through = is_through && n.dot(&g) >= 0.3 && self.bvh.any_intersection(p, way, 1.0);
            (is_through && d as f32 <= self.sheet.depth()).then_some((-(d as f32), -g))
        };
        (0..shell.len()).map(answer).collect()
    }
}

/// Converts a direction with the same operations in the same order as the library, for bit-identical results.
fn into_world(pose: &Pose, v: Vec3) -> Vec3 {
    let m = pose.rotation.to_rotation_matrix();
    Vec3::from([0, 1, 2].map(|i| (m[(i, 0)] * v.x + m[(i, 1)] * v.y) + m[(i, 2)] * v.z))
}

fn check_contact(c: &Contact) {
    assert!((c.normal.norm() - 1.0).abs() < 1e-9, "{c:?}");
    let scale = 1.0 + c.point_on_a.norm();
    assert!((c.point_on_b - c.point_on_a - c.normal * c.separation).norm() < 1e-13 * scale, "{c:?}");
}

/// Runs `poses` poses of the body against the sheet, in both orders; returns the numbers of poses with penetrating
/// samples, with other contacts, and with left-out samples.
fn check_against_brute_force(
    name: &str,
    body: Geometry,
    sheet: &Shape,
    poses: u64,
    pose_of: impl Fn(&mut Rng) -> Pose + Sync,
) {
    let oracle = Oracle::new(body, sheet);
    let counts = (0..poses).into_par_iter().map_init(Workspace::new, |workspace, i| {
        let mut rng = Rng(i.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 23);
        let away = if i % 8 == 3 { 1e4 } else { 1.0 };
        let world = Isometry3::from_parts(Translation3::from(rng.vector() * away), rng.rotation());
        let (pose, sheet_pose) = (world * pose_of(&mut rng), world);
        let limit = [0.0, 0.01, -0.002, 0.3][(i / 2 % 4) as usize];
        let all = oracle.answers(&pose, &sheet_pose);
        let expected: Vec<(u32, f32, Vec3)> = (0u32..)
            .zip(&all)
            .filter_map(|(sample, answer)| answer.map(|(separation, out)| (sample, separation, out)))
            .collect();
        let is_swapped = i % 2 == 1;
        let query = Query { max_separation: limit, ..Query::default() };
        let (a, pose_a, b, pose_b) = match is_swapped {
            false => (body, &pose, sheet.geometry(), &sheet_pose),
            true => (sheet.geometry(), &sheet_pose, body, &pose),
        };
        let found = contacts(a, pose_a, b, pose_b, &query, workspace).unwrap();
        found.iter().for_each(check_contact);
        assert!(found.windows(2).all(|w| w[0].separation <= w[1].separation), "{name} pose {i}: not deepest first");
        let mut found: Vec<(u32, f32, Vec3)> = found
            .iter()
            .map(|c| (c.feature & !(1 << 31), c.separation as f32, if is_swapped { c.normal } else { -c.normal }))
            .collect();
        found.sort_unstable_by_key(|c| c.0);
        let turned = |c: &(u32, f32, Vec3)| (c.0, c.1, into_world(&sheet_pose, c.2));
        let within: Vec<(u32, f32, Vec3)> = expected.iter().filter(|c| c.1 <= limit as f32).map(turned).collect();
        assert_eq!(found, within, "{name} pose {i}");
        for limit in [f64::INFINITY, 0.005] {
            let nearest = expected.iter().copied().filter(|c| c.1 <= limit as f32);
            let nearest = nearest.reduce(|p, q| if q.1 < p.1 { q } else { p }).map(|c| (c.0, c.1));
            let got = distance(a, pose_a, b, pose_b, Roles::Auto, limit, workspace).unwrap();
            let got = got.map(|c| (c.feature & !(1 << 31), c.separation as f32));
            assert_eq!(got, nearest, "{name} pose {i}: nearest up to {limit}");
        }
        let through = expected.iter().filter(|c| c.1 < 0.0).count();
        let far = all.iter().filter(|a| a.is_none()).count();
        [(through > 0) as u64, (found.len() > through) as u64, (far > 0) as u64]
    });
    let counts = counts.reduce(|| [0; 3], |p, q| [p[0] + q[0], p[1] + q[1], p[2] + q[2]]);
    eprintln!("{name}: of {poses} poses {counts:?} with samples that are through, that face, that are on the far side");
    assert!(counts.iter().all(|&n| n > poses / 20), "{name}: {counts:?} of {poses} poses test too little");
}

/// Returns a pose near a point of the terrain, or of any sheet about as large.
fn near_terrain(rng: &mut Rng) -> Pose {
    let at = Vector3::new(1.3 * rng.unit(), 0.0, 1.3 * rng.unit());
    let height = 0.12 * (3.0 * at.x).sin() * (2.5 * at.z).cos();
    Isometry3::from_parts(Translation3::from(at + Vec3::y() * (height + 0.35 * rng.unit())), rng.rotation())
}

const POSES: u64 = 1_500;

#[test]
fn a_knot_meets_a_terrain_as_by_brute_force() {
    let knot = cook(&primitives::torus_knot(2, 3, 0.25, 0.08, 160, 16).unwrap(), 1_500);
    let terrain = sheet(terrain(), 0.05);
    check_against_brute_force("knot on terrain", knot.geometry(), &terrain, POSES, near_terrain);
    check_against_brute_force("knot without a field", only_shell(&knot), &terrain, POSES, near_terrain);
}

#[test]
fn a_blob_meets_a_terrain_as_by_brute_force() {
    let blob = cook(&primitives::blob(2).unwrap().scaled_to_extent(0.6), 1_500);
    let terrain = sheet(terrain(), 0.03);
    check_against_brute_force("blob on terrain", blob.geometry(), &terrain, POSES, near_terrain);
    check_against_brute_force("blob without a field", only_shell(&blob), &terrain, POSES, near_terrain);
}

#[test]
fn box_and_wall_agree_with_brute_force_on_sides_and_edge() {
    let mesh = primitives::cuboid([0.2, 0.15, 0.1]).unwrap();
    let cooked = cook(&mesh, 1_000);
    let exact = Field::Cuboid(Cuboid::new([0.2, 0.15, 0.1]).unwrap());
    let exact = Geometry { field: Some(&exact), shell: cooked.shell.as_deref(), surface: None };
    // Upright, with degenerate triangles among the others.
    let upright = Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_euler_angles(1.57, 0.0, 0.0));
    let mut wall = grid(4, 1.0, |_, _| 0.0).transformed(&upright, 1.0);
    wall.triangles.extend([[0, 1, 1], [2, 2, 2], [0, 5, 10]]);
    let wall = sheet(wall, 0.04);
    let near_wall = |rng: &mut Rng| {
        let at = Vector3::new(0.8 * rng.unit(), 0.8 * rng.unit(), 0.25 * rng.unit());
        let turn = if rng.unit() < 0.0 { UnitQuaternion::identity() } else { rng.rotation() };
        Isometry3::from_parts(Translation3::from(at), turn)
    };
    check_against_brute_force("box at a wall", cooked.geometry(), &wall, POSES, near_wall);
    check_against_brute_force("exact box at a wall", exact, &wall, POSES, near_wall);
    check_against_brute_force("box without a field", only_shell(&cooked), &wall, POSES, near_wall);
}

/// Makes a body of the given mesh in the plane's frame, and returns the contacts up to `limit`.
fn at_plane(mesh: &TriMesh, pose: &Pose, depth: f64, limit: f64) -> (PointShell, Vec<Contact>) {
    let body = cook_at(mesh, 1_500, 256);
    let query = Query { max_separation: limit, ..Query::default() };
    let mut workspace = Workspace::new();
    let found =
        contacts(body.geometry(), pose, sheet(flat(), depth).geometry(), &Pose::identity(), &query, &mut workspace)
            .unwrap()
            .to_vec();
    found.iter().for_each(check_contact);
    (body.shell.as_deref().unwrap().clone(), found)
}

#[test]
fn a_body_rests_on_the_front_and_on_the_back() {
    let mesh = primitives::cuboid([0.1, 0.1, 0.1]).unwrap();
    for (height, up) in [(0.1, 1.0), (-0.1, -1.0)] {
        for sunk in [-0.001, 0.0, 0.001, 0.002, 0.005] {
            let pose = Pose::translation(0.03, height - up * sunk, 0.02);
            let (shell, found) = at_plane(&mesh, &pose, 0.02, 0.0015);
            let bottom = |i: usize| (shell.position(i).y + up * 0.1).abs() < 1e-7;
            let expected = (0..shell.len()).filter(|&i| bottom(i)).count();
            let deep: Vec<&Contact> = found.iter().filter(|c| (c.separation + sunk).abs() < 2e-7).collect();
            assert_eq!(deep.len(), expected, "sunk {sunk}, up {up}");
            for c in &deep {
                assert!((c.normal + Vec3::y() * up).norm() < 1e-6, "sunk {sunk}: out of the sheet is {up} y: {c:?}");
            }
            // Other contacts can only be those of sides just above or below the sheet, which are never deep.
            for c in found.iter().filter(|c| (c.separation + sunk).abs() >= 2e-7) {
                assert!(c.separation >= 0.0 && !bottom(c.feature as usize), "sunk {sunk}: {c:?}");
            }
        }
    }
}

#[test]
fn the_top_of_a_thin_plate_is_no_contact() {
    // 6 mm thick, on a sheet with a depth limit of 20 mm.
    let mesh = primitives::cuboid([0.2, 0.003, 0.2]).unwrap();
    for sunk in [-0.0005, 0.0, 0.0005, 0.002] {
        let (shell, found) = at_plane(&mesh, &Pose::translation(0.0, 0.003 - sunk, 0.0), 0.02, 0.001);
        assert!(!found.is_empty());
        for c in &found {
            let y = shell.position(c.feature as usize).y;
            assert!(y < 0.0029, "sunk {sunk}: a sample of the top: {c:?}");
            assert!(c.separation >= -sunk - 1e-6, "sunk {sunk}: {c:?}");
        }
    }
}

#[test]
fn a_clamp_around_the_edge_of_a_sheet_is_free() {
    // Open to +x: two jaws, 0.05 from the sheet on each side; the sheet's edge at x = -1 is inside the opening.
    let outline =
        [[0.0, -0.1], [0.3, -0.1], [0.3, -0.05], [0.05, -0.05], [0.05, 0.05], [0.3, 0.05], [0.3, 0.1], [0.0, 0.1]];
    let n = outline.len() as u32;
    let mut vertices = vec![];
    for z in [-0.1, 0.1] {
        vertices.extend(outline.iter().map(|p| [p[0], p[1], z]));
    }
    let mut triangles: Vec<[u32; 3]> = vec![];
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.extend([[i, j, j + n], [i, j + n, i + n]]);
    }
    // The end is three rectangles.
    for [a, b, c, d] in [[0, 1, 2, 3], [0, 3, 4, 7], [4, 5, 6, 7]] {
        triangles.extend([[a, c, b], [a, d, c], [a + n, b + n, c + n], [a + n, c + n, d + n]]);
    }
    let mesh = TriMesh::new(vertices, triangles).unwrap();
    assert!(voxshell::cook::mass_properties(&mesh).unwrap().volume > 0.0);
    let (_, found) = at_plane(&mesh, &Pose::translation(-1.1, 0.0, 0.0), 0.2, 0.06);
    // Both jaws are 0.05 m from the sheet, on their inner sides, and nothing penetrates.
    for up in [1.0, -1.0] {
        assert!(found.iter().any(|c| (c.normal.y - up).abs() < 1e-6 && (c.separation - 0.05).abs() < 1e-6));
    }
    assert!(found.iter().all(|c| c.separation > 0.049), "{:?}", found.first());
    // Moved up until the lower jaw penetrates by 2 mm: its upper face is pushed back down.
    let (_, found) = at_plane(&mesh, &Pose::translation(-1.1, 0.052, 0.0), 0.02, 0.0);
    assert!(found.iter().any(|c| (c.separation + 0.002).abs() < 1e-6 && (c.normal.y - 1.0).abs() < 1e-6), "{found:?}");
    assert!(found.iter().all(|c| c.separation >= 0.0 || c.normal.y > 0.99), "{found:?}");
}

#[test]
fn a_needle_stays_caught() {
    // A tip of 20 degrees, 200 mm long, a few millimetres through.
    let mesh = primitives::cone(0.035, 0.2, 64).unwrap();
    let down = UnitQuaternion::from_euler_angles(std::f64::consts::PI, 0.0, 0.0);
    let options = ShellOptions { spacing: 0.004, ..ShellOptions::default() };
    let shell = voxshell::cook::sample(&mesh, None, &options, &Progress::none()).unwrap();
    let field = Field::Cone(Cone::new(1, 0.035, 0.2).unwrap());
    let needle = Geometry { field: Some(&field), shell: Some(&shell), surface: None };
    let mut workspace = Workspace::new();
    let thick = sheet(flat(), 0.02);
    for sunk in [0.001, 0.005] {
        let pose = Isometry3::from_parts(Translation3::new(0.1, 0.1 - sunk, 0.1), down);
        let (a, b) = (needle, thick.geometry());
        let c = distance(a, &pose, b, &Pose::identity(), Roles::Auto, f64::INFINITY, &mut workspace).unwrap().unwrap();
        assert!((c.separation + sunk).abs() < 1e-6 && (c.normal + Vec3::y()).norm() < 1e-6, "sunk {sunk}: {c:?}");
    }
}

#[test]
fn a_body_without_a_field_trusts_the_winding() {
    let body = cook(&primitives::sphere(0.1, 3).unwrap(), 500);
    let ground = sheet(flat(), 0.05);
    let mut workspace = Workspace::new();
    for (height, through) in [(0.098, true), (-0.098, false)] {
        let pose = Pose::translation(0.0, height, 0.0);
        let query = Query::default();
        let found =
            contacts(only_shell(&body), &pose, ground.geometry(), &Pose::identity(), &query, &mut workspace).unwrap();
        assert_eq!(found.iter().any(|c| c.separation < -1e-4), through, "at {height}");
    }
}

#[test]
fn a_sheet_with_its_own_features_meets_the_field_of_the_body() {
    // The edge of the sheet is 3 mm inside a face of the box, between the box's samples.
    let mesh = flat();
    let options = ShellOptions { method: Sampling::Features, spacing: 0.05, ..ShellOptions::default() };
    let shell = voxshell::cook::sample(&mesh, None, &options, &Progress::none()).unwrap();
    let field = sheet(mesh, 0.05).field.unwrap();
    let with_edges = Shape::from_parts(Some(field), Some(shell.into())).unwrap();
    let body = cook(&primitives::cuboid([0.1, 0.1, 0.1]).unwrap(), 600);
    let pose = Pose::translation(1.097, 0.0, 0.0);
    let mut workspace = Workspace::new();
    let query = Query { roles: Roles::Both, ..Query::default() };
    let found =
        contacts(body.geometry(), &pose, with_edges.geometry(), &Pose::identity(), &query, &mut workspace).unwrap();
    let deepest = found.first().expect("the edge is inside");
    assert!((deepest.separation + 0.003).abs() < 1e-4 && (deepest.normal + Vec3::x()).norm() < 1e-3, "{deepest:?}");
}

#[test]
fn a_large_sheet_far_from_its_origin_stays_precise() {
    let body = cook(&primitives::cuboid([0.1, 0.1, 0.1]).unwrap(), 600);
    let land = sheet(grid(100, 20_000.0, |_, _| 0.0), 0.05);
    let mut workspace = Workspace::new();
    for x in [0.0, 50.0, 9_000.0] {
        let pose = Pose::translation(x, 0.099, -x);
        let c = distance(body.geometry(), &pose, land.geometry(), &Pose::identity(), Roles::Auto, 1.0, &mut workspace);
        let c = c.unwrap().unwrap();
        assert!((c.separation + 0.001).abs() < 1e-7, "at {x} m: {}", c.separation);
    }
}

#[test]
fn a_reduced_manifold_is_of_contacts_that_count() {
    let body = cook_at(&primitives::cuboid([0.2, 0.003, 0.2]).unwrap(), 1_500, 256);
    let ground = sheet(flat(), 0.02);
    let mut workspace = Workspace::new();
    let query = Query { max_contacts: 4, max_separation: 0.001, ..Query::default() };
    let pose = Pose::translation(0.0, 0.0025, 0.0);
    let found = contacts(body.geometry(), &pose, ground.geometry(), &Pose::identity(), &query, &mut workspace).unwrap();
    assert_eq!(found.len(), 4);
    let mut spread = Aabb::empty();
    for c in found {
        assert!((c.separation + 0.0005).abs() < 1e-6 && c.normal.y < -0.999, "{c:?}");
        spread.include(&c.point_on_a);
    }
    assert!(spread.extents().x > 0.39 && spread.extents().z > 0.39, "{spread:?}");
}

#[test]
fn segments_meet_a_sheet_from_either_side_exactly() {
    let terrain = sheet(terrain(), 0.05);
    let field = terrain.field.as_deref().unwrap();
    let mesh = terrain.mesh.as_deref().unwrap();
    let mut rng = Rng(5);
    let mut hits = 0;
    for _ in 0..500 {
        let (from, to) = (rng.vector() * 2.0, rng.vector() * 2.0);
        // Every triangle alone, by the signed volumes of the segment with its edges.
        let mut expected: Option<f64> = None;
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let d = to - from;
            let side = |p: &Vec3, q: &Vec3| d.dot(&(p - from).cross(&(q - from)));
            let sides = [side(&a, &b), side(&b, &c), side(&c, &a)];
            let n = (b - a).cross(&(c - a));
            let t = n.dot(&(a - from)) / n.dot(&d);
            if (sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0)) && (0.0..=1.0).contains(&t) {
                expected = Some(expected.map_or(t, |e: f64| e.min(t)));
            }
        }
        let hit = segment::first_hit(field, &Segment::new(from, to), 0.0, Start::Hit);
        assert_eq!(hit.is_some(), expected.is_some(), "{from} {to}");
        if let (Some(hit), Some(expected)) = (hit, expected) {
            hits += 1;
            assert!((hit.fraction - expected).abs() < 1e-12 && hit.normal.y > 0.5, "{hit:?}");
        }
    }
    assert!(hits > 100);
}

#[test]
fn invalid_sheets_are_refused() {
    for depth in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-60] {
        let refused = Shape::from_sheet(flat(), depth).err().unwrap();
        assert!(matches!(&refused, Error::InvalidArgument { argument, .. } if argument == "depth"), "{refused}");
    }
    let refused = Shape::from_sheet(TriMesh::default(), 0.1).err().unwrap();
    assert!(matches!(refused, Error::InvalidMesh(_)), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let refused = sheet(flat(), 0.1).save(&folder.path().join("sheet.vxs")).unwrap_err();
    assert!(matches!(&refused, Error::Unsupported(m) if m.contains("sheets")), "{refused}");
}

#[test]
fn the_bound_of_a_sheet_is_one() {
    let terrain = terrain();
    let sheet = Sheet::new(terrain.into(), 0.1).unwrap();
    let mut rng = Rng(9);
    for i in 0..2_000 {
        let origin = rng.vector() * if i % 2 == 0 { 1.0 } else { 1e4 };
        let around = sheet.around(origin);
        let c = rng.vector().map(|x| x as f32);
        let r = rng.unit().abs() as f32;
        let inside = c + rng.vector().map(|x| x as f32) * (r * 0.999);
        let bound = around.lower_bound(c.into(), r);
        let phi = around.distance(inside.into());
        assert!(bound <= phi, "{bound} {phi}");
        // The bound is also tight: at least the distance at the centre minus the radius, except for rounding.
        assert!(f64::from(bound) > f64::from(around.distance(c.into()) - r) - 1e-6 * (1.0 + origin.norm()), "{bound}");
        let (d, g) = around.distance_gradient(c.into());
        assert!((Vector3::from(g).norm() - 1.0).abs() < 1e-5 && d == around.distance(c.into()));
    }
}

/// A depth limit of the caller gives the answers of a sheet with that depth limit.
#[test]
fn max_depth_is_as_a_shallower_sheet() {
    let body = cook_at(&primitives::cuboid([0.1, 0.1, 0.1]).unwrap(), 1_500, 64);
    let (deep, shallow) = (sheet(flat(), 0.05), sheet(flat(), 0.004));
    let mut rng = Rng(11);
    let mut workspace = Workspace::new();
    let (mut through, mut beyond) = (0, 0);
    for _ in 0..200 {
        let at = Vector3::new(0.1 * rng.unit(), 0.1 + 0.02 * rng.unit(), 0.1 * rng.unit());
        let pose = Isometry3::from_parts(Translation3::from(at), rng.rotation());
        let mut ask = |sheet: &Shape, max_depth: f64| {
            let query = Query { max_separation: 0.001, max_depth, ..Query::default() };
            contacts(body.geometry(), &pose, sheet.geometry(), &Pose::identity(), &query, &mut workspace)
                .unwrap()
                .to_vec()
        };
        let (limited, expected, all) = (ask(&deep, 0.004), ask(&shallow, f64::INFINITY), ask(&deep, f64::INFINITY));
        assert_eq!(limited, expected);
        through += limited.iter().filter(|c| c.separation < 0.0).count();
        beyond += all.len() - limited.len();
    }
    assert!(through > 100 && beyond > 100, "{through} {beyond}");
    for refused in [-0.001, f64::NAN] {
        let query = Query { max_depth: refused, ..Query::default() };
        assert!(contacts(
            body.geometry(),
            &Pose::identity(),
            deep.geometry(),
            &Pose::identity(),
            &query,
            &mut workspace
        )
        .is_err());
    }
}
