//! A grid that is exact near the surface, against all triangles in f64.

use std::sync::Arc;

use nalgebra::Isometry3;
use rayon::prelude::*;
use support::parts::Part;
use support::rng::Rng;
use support::{long, shared_mesh, soup};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use voxshell::cook::FieldOptions;
use voxshell::field::{Clearance, DenseField, ExactField, Field, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, triangle, TriMesh};
use voxshell::Error;

/// A body with its field; `truth` is wound so that its winding number is positive inside.
struct Body {
    name: String,
    field: ExactField,
    truth: TriMesh,
    triangles: Vec<[Vec3; 3]>,
    voxel: f64,
}

fn options(cells: u32, storage: Storage) -> CookOptions {
    let forms = Forms { field: true, shell: false };
    CookOptions { resolution: Resolution::Cells(cells), storage, forms, ..CookOptions::default() }
}

fn cook(mesh: &TriMesh, cells: u32) -> ExactField {
    let shape = Shape::cook(mesh, &options(cells, Storage::Exact), &Progress::none()).unwrap();
    match Arc::into_inner(shape.field.unwrap()).unwrap() {
        Field::Exact(field) => field,
        _ => panic!("another kind of field"),
    }
}

impl Body {
    fn new(name: &str, mesh: &TriMesh, truth: &TriMesh, cells: u32) -> Self {
        let field = cook(mesh, cells);
        let voxel = field.grid().spacing.into();
        let triangles = (0..truth.triangles.len()).map(|t| truth.corners(t).map(Vec3::from)).collect();
        Self { name: name.into(), field, truth: truth.clone(), triangles, voxel }
    }

    fn body(&self, p: [f32; 3]) -> Vec3 {
        Vec3::from(p.map(f64::from)) + self.field.center()
    }

    fn distance(&self, p: &Vec3) -> f64 {
        let squared = |t: &[Vec3; 3]| (triangle::closest_point(t, triangle::is_sliver(t), p).0 - p).norm_squared();
        self.triangles.iter().map(squared).fold(f64::INFINITY, f64::min).sqrt()
    }

    fn signed(&self, p: &Vec3) -> f64 {
        let distance = self.distance(p);
        if soup::winding_number(&self.truth, p) > 0.5 {
            -distance
        } else {
            distance
        }
    }

    /// Returns a point up to `reach` voxels away from the surface along each axis: from a face, an edge or a corner.
    fn near(&self, rng: &mut Rng, reach: f64) -> [f32; 3] {
        let t = &self.triangles[(rng.next() % self.triangles.len() as u64) as usize];
        let (mut a, mut b) = (rng.fraction(), rng.fraction());
        match rng.next() % 3 {
            0 => (a, b) = (0.0, b.round()),
            1 => b = 0.0,
            _ if a + b > 1.0 => (a, b) = (1.0 - a, 1.0 - b),
            _ => {}
        }
        let on = t[0] + (t[1] - t[0]) * a + (t[2] - t[0]) * b;
        (on + rng.vector() * (reach * self.voxel) - self.field.center()).map(|x| x as f32).into()
    }
}

/// Returns a pyramid of 1 × 1 × 3 m.
fn spike() -> TriMesh {
    let vertices = vec![[-0.5, 0.0, -0.5], [0.5, 0.0, -0.5], [0.5, 0.0, 0.5], [-0.5, 0.0, 0.5], [0.0, 3.0, 0.0]];
    TriMesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]] }
}

/// Returns a wedge of 1 × 2 × 3 m.
fn wedge() -> TriMesh {
    let (h, z) = (0.5, 1.0);
    let vertices = vec![[-h, 0.0, -z], [h, 0.0, -z], [h, 0.0, z], [-h, 0.0, z], [0.0, 3.0, -z], [0.0, 3.0, z]];
    let triangles = [[0, 1, 2], [0, 2, 3], [1, 0, 4], [3, 2, 5], [2, 1, 4], [2, 4, 5], [0, 3, 5], [0, 5, 4]];
    TriMesh { vertices, triangles: triangles.to_vec() }
}

fn turned(mesh: &TriMesh, seed: u64) -> TriMesh {
    let mut rng = Rng(seed);
    mesh.transformed(&Isometry3::from_parts((rng.vector() * 2.0).into(), rng.rotation()), 1.0)
}

/// Bodies made here, and, where the folder of meshes is there, scanned and designed ones.
fn bodies() -> Vec<Body> {
    let gear = primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap();
    let mut meshes: Vec<(String, TriMesh)> = vec![
        ("gear".into(), gear.clone()),
        ("gear, turned".into(), turned(&gear, 1)),
        ("box".into(), primitives::cuboid([0.5, 0.3, 0.4]).unwrap()),
        ("spike".into(), spike()),
        ("wedge, turned".into(), turned(&wedge(), 2)),
        ("plate with a hole".into(), primitives::hole([0.5, 0.05, 0.5], 0.15, 24).unwrap()),
        ("knot".into(), primitives::torus_knot(2, 3, 0.3, 0.08, 96, 12).unwrap()),
    ];
    for name in ["fandisk_6k_cad.obj", "rocker_arm_10k_genus1.obj", "bunny_34k_filled.obj"] {
        meshes.extend(shared_mesh(name).map(|mesh| (name.into(), mesh)));
    }
    let mut bodies: Vec<Body> = meshes.iter().map(|(name, mesh)| Body::new(name, mesh, mesh, 128)).collect();
    // Bodies that intersect, contain and repeat each other, some inside out.
    for seed in 0..if long() { 40 } else { 4 } {
        let part = Part::new(900 + seed);
        bodies.push(Body::new(&format!("soup {seed}"), &part.mesh, &part.truth(), 64));
    }
    bodies
}

/// Returns coarse bodies with creases at all angles to the grid.
fn small_bodies() -> Vec<Body> {
    let gear = primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap();
    let plate = primitives::hole([0.5, 0.05, 0.5], 0.15, 24).unwrap();
    let part = Part::new(900);
    let mut bodies: Vec<Body> = [("gear", turned(&gear, 1)), ("wedge", turned(&wedge(), 2)), ("plate", plate)]
        .iter()
        .map(|(name, mesh)| Body::new(name, mesh, mesh, 40))
        .collect();
    bodies.push(Body::new("soup", &part.mesh, &part.truth(), 40));
    bodies
}

#[test]
fn distance_is_exact_within_two_voxels_and_that_of_the_grid_far_away() {
    for body in &bodies() {
        let (field, far) = (&body.field, body.field.far());
        let (h, bound) = (body.voxel, body.field.error().max);
        assert!(bound < 1e-3 * h, "{}: {} voxels", body.name, bound / h);
        let work = if long() { 20_000_000 } else { 2_000_000 };
        let points = work / body.triangles.len().clamp(200, 20_000);
        let worst = (0..points as u64).into_par_iter().map(|n| {
            let mut rng = Rng(n + 1);
            let p = body.near(&mut rng, [1.2, 2.0, 7.0][n as usize % 3]);
            let (exact, phi, t) = (body.signed(&body.body(p)), field.distance(p), far.distance(p));
            let (value, gradient) = field.distance_gradient(p);
            assert_eq!(value.to_bits(), phi.to_bits(), "{}: the gradient's value differs at {p:?}", body.name);
            let mut batch = [0.0];
            field.distance_batch(&[p[0]], &[p[1]], &[p[2]], &mut batch);
            assert_eq!(batch[0].to_bits(), phi.to_bits(), "{}: the batch's value differs at {p:?}", body.name);
            let phi = f64::from(phi);
            if f64::from(t.abs()) >= 4.9 * h {
                assert_eq!(phi, f64::from(t), "{}: not the grid at {p:?}", body.name);
            }
            let (low, high) = (exact.min(t.into()), exact.max(t.into()));
            assert!((low - bound..=high + bound).contains(&phi), "{}: {phi}, {exact}, {t} at {p:?}", body.name);
            if exact.abs() > 2.0 * h {
                return [0.0; 2];
            }
            let error = (phi - exact).abs();
            assert!(error <= bound, "{}: {phi} instead of {exact} at {p:?}, bound {bound}", body.name);
            // The gradient leads to the surface.
            let g = Vec3::from(gradient.map(f64::from));
            let off = body.distance(&(body.body(p) - g * phi));
            assert!((g.norm() - 1.0).abs() < 2e-3 && off < 4e-3 * h, "{}: {g:?} at {p:?}, {off}", body.name);
            [error / h, (f64::from(t) - exact).abs() / h]
        });
        let [error, of_grid] = worst.reduce(|| [0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
        let [flat, near] = field.flat_cells();
        let share = 100.0 * flat as f64 / near as f64;
        eprintln!(
            "{}: error {error:.1e} voxels, bound {:.1e}, grid {of_grid:.2}; {share:.0}% of {near} cells are flat",
            body.name,
            bound / h
        );
        assert!(of_grid > 0.05, "{}: too easy, the grid is off by {of_grid}", body.name);
    }
}

#[test]
fn cells_are_flat_on_faces_and_nowhere_else() {
    let share = |mesh: &TriMesh| {
        let [flat, near] = cook(mesh, 64).flat_cells();
        flat as f64 / near as f64
    };
    let cuboid = primitives::cuboid([0.5, 0.4, 0.3]).unwrap();
    assert!(share(&cuboid) > 0.5 && share(&turned(&cuboid, 3)) > 0.5);
    assert_eq!(share(&primitives::sphere(0.5, 5).unwrap()), 0.0);
    // Two triangles in each plane that face opposite ways: a slab thinner than the tolerance of planes.
    let slab = primitives::cuboid([0.5, 0.5, 1e-9]).unwrap();
    let block = primitives::cuboid([0.5; 3]).unwrap().transformed(&Isometry3::translation(2.0, 0.0, 0.0), 1.0);
    let mut both = block;
    let base = both.vertices.len() as u32;
    both.vertices.extend(slab.vertices.iter());
    both.triangles.extend(slab.triangles.iter().map(|t| t.map(|i| i + base)));
    let body = Body::new("slab", &both, &both, 48);
    for p in [[-0.8f64, 0.1, 0.3], [-1.3, 0.2, -0.9], [-1.1, -0.3, 0.0]] {
        let p = [0, 1, 2].map(|k| (p[k] * if k == 2 { body.voxel } else { 1.0 }) as f32);
        let exact = body.signed(&body.body(p));
        assert!((f64::from(body.field.distance(p)) - exact).abs() <= body.field.error().max, "{exact} at {p:?}");
    }
}

/// Returns a box with a pyramid on its upper face that is a fifth of a voxel wide and a tenth high, between the nodes.
fn pimple(voxel: f64) -> TriMesh {
    let (x, e) = (0.5 * voxel, 0.1 * voxel);
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for z in [-1.0, 1.0] {
        vertices.extend([[-1.0, -1.0, z], [1.0, -1.0, z], [1.0, 1.0, z], [-1.0, 1.0, z]]);
    }
    vertices.extend([[x, x - e, 1.0], [x + e, x + e, 1.0], [x - e, x + e, 1.0], [x, x, 1.0 + e]]);
    let mut triangles = vec![[0, 2, 1], [0, 3, 2]];
    for i in 0..4 {
        let j = (i + 1) % 4;
        triangles.extend([[i, j, j + 4], [i, j + 4, i + 4]]);
    }
    // The upper face around the pyramid, then the pyramid.
    triangles.extend([[4, 5, 8], [5, 9, 8], [5, 6, 9], [6, 10, 9], [6, 7, 10], [7, 8, 10], [7, 4, 8]]);
    triangles.extend([[8, 9, 11], [9, 10, 11], [10, 8, 11]]);
    TriMesh { vertices, triangles }
}

#[test]
fn a_feature_between_the_nodes_is_kept() {
    let mesh = pimple(2.0 / 50.0);
    let body = Body::new("pimple", &mesh, &mesh, 50);
    let [flat, near] = body.field.flat_cells();
    assert!(flat > near / 2, "{flat} of {near}");
    let tip = Vec3::from(mesh.vertices[11]) - body.field.center();
    let mut rng = Rng(12);
    let mut of_grid = 0.0f64;
    for _ in 0..5_000 {
        let p: [f32; 3] = (tip + rng.vector() * (0.2 * body.voxel)).map(|x| x as f32).into();
        let exact = body.signed(&body.body(p));
        let error = (f64::from(body.field.distance(p)) - exact).abs();
        assert!(error <= body.field.error().max, "{error} at {p:?}");
        of_grid = of_grid.max((f64::from(body.field.far().distance(p)) - exact).abs());
    }
    assert!(of_grid > 0.05 * body.voxel, "too easy: {of_grid}");
}

#[test]
fn bounds_over_balls_and_clearances_hold() {
    for body in &small_bodies() {
        let (field, h) = (&body.field, body.voxel);
        let mut rng = Rng(9);
        let (mut tight, mut cleared) = (0, 0);
        for n in 0..4_000 {
            let c = body.near(&mut rng, [2.0, 6.0, 40.0][n % 3]);
            let r = (rng.fraction() * h * [0.0, 0.9, 3.0, 30.0][n / 3 % 4]) as f32;
            let bound = field.lower_bound(c, r);
            let level = ([0.0, 0.3, -0.5, 1.9, -1.9, 3.5, -3.5, 6.0][n / 12 % 8] * h) as f32;
            let free = field.clearance(c, level);
            assert!(!bound.is_nan() && !free.is_nan());
            tight += usize::from(f64::from(field.distance(c) - r - bound) < 0.01 * h);
            cleared += usize::from(free > 0.0);
            for _ in 0..12 {
                let direction = rng.vector().normalize();
                let part = 1.0 - rng.fraction().powi(3);
                let at = |radius: f32| {
                    let d = direction * (f64::from(radius) * part * (1.0 - 1e-6));
                    [0, 1, 2].map(|k| (f64::from(c[k]) + d[k]) as f32)
                };
                let x = at(r);
                assert!(field.distance(x) >= bound, "{}: {} < {bound} at {x:?}", body.name, field.distance(x));
                if free > 0.0 {
                    let x = at(free);
                    let phi = field.distance(x);
                    assert!(phi > level, "{}: {phi} at {x:?}, {free} from {c:?}, level {level}", body.name);
                }
            }
        }
        assert!(tight > 500 && cleared > 1_000, "{}: {tight} tight, {cleared} cleared", body.name);
    }
}

#[test]
fn no_two_points_exceed_the_modulus() {
    for body in &small_bodies() {
        let modulus = body.field.modulus(0.0).unwrap();
        let mut rng = Rng(10);
        let mut steepest = 0.0f64;
        for n in 0..20_000 {
            let a = body.near(&mut rng, 6.0);
            let step = rng.vector() * body.voxel * [0.01, 0.3, 3.0][n % 3];
            let b = [0, 1, 2].map(|k| (f64::from(a[k]) + step[k]) as f32);
            let apart = (body.body(a) - body.body(b)).norm();
            let change = f64::from((body.field.distance(a) - body.field.distance(b)).abs());
            let most = f64::from(modulus.lipschitz) * apart + modulus.rounding;
            assert!(change <= most, "{}: {change} over {apart}", body.name);
            if apart > 0.003 * body.voxel {
                steepest = steepest.max(change / apart);
            }
        }
        assert!(steepest > 0.9 && modulus.lipschitz < 3.0, "{}: {steepest} of {modulus:?}", body.name);
        assert!(modulus.rounding < 0.02 * body.voxel, "{}: {modulus:?}", body.name);
    }
}

#[test]
fn grids_and_meshes_that_do_not_fit_are_refused() {
    let gear = primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap();
    let grid = |mesh: &TriMesh, padding_voxels: u32| {
        let options = FieldOptions { padding_voxels, ..FieldOptions::with_resolution(mesh, 40) };
        voxshell::cook::dense_field(mesh, &options, &Progress::none()).unwrap()
    };
    let make = |grid: DenseField, mesh: &TriMesh| ExactField::new(grid, Arc::new(mesh.clone()));
    make(grid(&gear, 6), &gear).unwrap();
    let refused = |grid: DenseField, mesh: &TriMesh, argument: &str, reason: &str| {
        let message = make(grid, mesh).unwrap_err().to_string();
        assert!(message.contains(argument) && message.contains(reason), "{message}");
    };
    refused(grid(&gear, 4), &gear, "grid", "6 cells");
    let mut open = gear.clone();
    open.triangles.pop();
    refused(grid(&gear, 6), &open, "mesh", "closed");
    refused(grid(&open, 6), &gear, "grid", "closed");
    // One corner moved by a hundredth of a voxel, and a body inside out.
    let mut moved = gear.clone();
    moved.vertices[3][0] += 1e-2 / 40.0;
    refused(grid(&gear, 6), &moved, "grid", "distance");
    let outer = primitives::cuboid([0.5; 3]).unwrap();
    let hollow = |inward: bool| {
        let mut both = outer.clone();
        let base = both.vertices.len() as u32;
        both.vertices.extend(outer.vertices.iter().map(|v| v.map(|x| 0.4 * x)));
        let flip = |t: [u32; 3]| if inward { [t[1], t[0], t[2]] } else { t };
        both.triangles.extend(outer.triangles.iter().map(|&t| flip(t).map(|i| i + base)));
        both
    };
    make(grid(&hollow(true), 6), &hollow(true)).unwrap();
    refused(grid(&hollow(true), 6), &hollow(false), "grid", "distance");
}

#[test]
fn cooking_refuses_open_meshes_and_offsets() {
    let mut open = primitives::cuboid([0.5; 3]).unwrap();
    let mut with_offset = options(32, Storage::Exact);
    with_offset.field.offset = 0.1;
    let cook = |mesh: &TriMesh, options: &CookOptions| Shape::cook(mesh, options, &Progress::none()).map(drop);
    let refused = |result: voxshell::Result<()>| matches!(result, Err(Error::Unsupported(_)));
    assert!(refused(cook(&open, &with_offset)));
    cook(&open, &options(32, Storage::Exact)).unwrap();
    open.triangles.pop();
    assert!(refused(cook(&open, &options(32, Storage::Exact))));
}

#[test]
fn copies_written_and_scaled_fields_are_the_same() {
    let field = cook(&turned(&wedge(), 4), 40);
    let bytes = postcard::to_stdvec(&Field::Exact(field.clone())).unwrap();
    let back: Field = postcard::from_bytes(&bytes).unwrap();
    assert!(back == Field::Exact(field.clone()));
    let double = Field::Exact(field.clone()).scaled(2.0).unwrap();
    let mut rng = Rng(6);
    for _ in 0..2_000 {
        let p = [0; 3].map(|_| (rng.unit() * 1.8) as f32);
        let (phi, g) = field.distance_gradient(p);
        assert_eq!(back.distance(p).to_bits(), phi.to_bits());
        let (twice, same) = double.distance_gradient(p.map(|x| 2.0 * x));
        assert!((twice - 2.0 * phi).abs() < 1e-6 && (0..3).all(|k| (same[k] - g[k]).abs() < 1e-4), "{p:?}");
    }
}
