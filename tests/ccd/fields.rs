//! Segments against every kind of field and of level: a grid's from outside its box, convex shapes, meshes, sheets. The
//! reference is the distance along the segment, which is halved until the sign is proven.

use std::sync::Arc;

use support::rng::Rng;
use voxshell::ccd::segment::{crossings, first_fraction, first_fractions, first_hit, intervals, Segment, Start};
use voxshell::cook::FieldOptions;
use voxshell::field::{
    Capsule, Cone, ConvexHull, Cuboid, Cylinder, DenseField, ExactField, Field, HalfSpace, MeshField, Sheet,
    SignedDistance, Sphere, Torus,
};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};

/// Visits points of the segment where |φ − level| exceeds `tolerance` for certain, by a Lipschitz constant and halving.
fn certain(off: &dyn Fn(f64) -> f64, steep: f64, tolerance: f64, [from, to]: [f64; 2], on: &mut dyn FnMut(f64, bool)) {
    let middle = 0.5 * (from + to);
    let value = off(middle);
    if value.abs() > tolerance {
        on(middle, value <= 0.0);
    }
    let reach = 0.5 * (to - from) * steep;
    if reach > tolerance && value.abs() < reach + tolerance {
        certain(off, steep, tolerance, [from, middle], on);
        certain(off, steep, tolerance, [middle, to], on);
    }
}

/// Checks segments against a field at some levels; `phi` gives φ in f64, with a slope of at most `steep`.
fn check(field: &Field, phi: &dyn Fn(&Vec3) -> f64, steep: f64, levels: &[f64], reach: f64, tolerance: f64) {
    let mut rng = Rng(77);
    let (mut hits, mut free) = (0, 0);
    for n in 0..400 {
        let level = levels[n % levels.len()];
        let mut end = || Vec3::new(rng.unit(), rng.unit(), rng.unit()) * reach;
        let segment = Segment::new(end(), end());
        let mut found = Vec::new();
        intervals(field, &segment, level, |i| found.push(i));
        assert_eq!(first_fraction(field, &segment, level, Start::Hit), found.first().map(|i| i[0]));
        let speed = (segment.to - segment.from).norm();
        certain(&|t| phi(&segment.at(t)) - level, steep * speed, tolerance, [0.0, 1.0], &mut |t, below| {
            let inside = found.iter().any(|i| i[0] <= t && t <= i[1]);
            assert_eq!(inside, below, "{segment:?} level {level}: at {t} of {found:?}");
        });
        hits += usize::from(!found.is_empty());
        free += usize::from(found.is_empty());
    }
    assert!(hits > 20 && free > 20, "{hits} hits, {free} free");
}

/// Returns φ of a grid in f64, extended outside.
fn extended(field: &DenseField, p: &Vec3) -> f64 {
    let g = field.grid();
    let h = f64::from(g.spacing);
    let (mut cell, mut f, mut over) = ([0u32; 3], [0.0; 3], 0.0);
    for a in 0..3 {
        let t = (p[a] - field.center()[a] - f64::from(g.min[a])) / h;
        let c = t.clamp(0.0, f64::from(g.dims[a] - 1));
        cell[a] = (c as u32).min(g.dims[a] - 2);
        f[a] = c - f64::from(cell[a]);
        over += (t - c) * (t - c);
    }
    let mut phi = over.sqrt() * h;
    for corner in 0..8u32 {
        let bits = [corner & 1, corner >> 1 & 1, corner >> 2];
        let v = field.values()[g.index(cell[0] + bits[0], cell[1] + bits[1], cell[2] + bits[2])];
        phi += f64::from(v) * (0..3).map(|a| if bits[a] == 1 { f[a] } else { 1.0 - f[a] }).product::<f64>();
    }
    phi
}

#[test]
fn levels_of_a_grid_are_met_inside_on_the_border_and_outside() {
    let mesh = primitives::torus(0.35, 0.1, 48, 24).unwrap();
    let options = FieldOptions { padding_voxels: 2, ..FieldOptions::with_resolution(&mesh, 20) };
    let dense = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap();
    let steep = f64::from(dense.lipschitz_outside());
    let field = Field::Dense(dense.clone());
    check(&field, &|p| extended(&dense, p), steep, &[0.0, 0.05, 0.12, 0.3, -0.05, 0.6], 1.2, 1e-9);
}

#[test]
fn convex_shapes_are_met_at_any_level() {
    let corners: Vec<[f64; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.3 })).collect();
    let fields = [
        Field::HalfSpace(HalfSpace::new(Vec3::new(0.2, 1.0, 0.1), 0.1).unwrap()),
        Field::Sphere(Sphere::new(0.4).unwrap()),
        Field::Cuboid(Cuboid::new([0.3, 0.5, 0.2]).unwrap()),
        Field::Capsule(Capsule::new(1, 0.2, 0.3).unwrap()),
        Field::Cylinder(Cylinder::new(0, 0.2, 0.4).unwrap()),
        Field::Cone(Cone::new(2, 0.4, 0.9).unwrap()),
        Field::ConvexHull(ConvexHull::new(&corners).unwrap()),
    ];
    for field in &fields {
        let phi = |p: &Vec3| {
            let q = p - field.local_origin(p);
            f64::from(field.distance([q.x as f32, q.y as f32, q.z as f32]))
        };
        check(field, &phi, 1.0, &[0.0, 0.1, -0.05], 1.2, 1e-5);
    }
}

#[test]
fn a_torus_is_met_at_any_level() {
    let field = Field::Torus(Torus::new(1, 0.35, 0.12).unwrap());
    let phi = |p: &Vec3| f64::from(field.distance(p.map(|x| x as f32).into()));
    check(&field, &phi, 1.0, &[0.0, 0.1, -0.05], 1.2, 3e-5);
}

#[test]
fn a_torus_is_hit_from_any_distance() {
    let torus = Field::Torus(Torus::new(1, 0.35, 0.12).unwrap());
    let mut rng = Rng(5);
    for n in 0..2000 {
        // Through the middle of the tube, from one to ten million metres away.
        let angle = rng.fraction() * std::f64::consts::TAU;
        let target = Vec3::new(0.35 * angle.cos(), 0.0, 0.35 * angle.sin());
        let way = Vec3::new(rng.unit(), rng.unit(), rng.unit()).normalize() * 10f64.powi(n % 8);
        let segment = Segment::new(target - way, target + way);
        let found = first_hit(&torus, &segment, 0.0, Start::Hit);
        assert!(found.is_some_and(|hit| hit.fraction <= 0.5), "{segment:?}: {found:?}");
    }
}

#[test]
fn rays_meet_a_closed_mesh_and_its_levels() {
    let mesh = primitives::torus(0.35, 0.1, 32, 16).unwrap();
    let exact = MeshField::new(mesh).unwrap();
    let field = Field::Mesh(exact.clone());
    let phi = |p: &Vec3| {
        let q = p - exact.local_origin(p);
        f64::from(exact.distance([q.x as f32, q.y as f32, q.z as f32]))
    };
    check(&field, &phi, 1.0, &[0.0], 0.6, 1e-6);
    check(&field, &phi, 1.0, &[0.05, -0.03], 0.6, 3e-5);
}

fn exact_grid(mesh: &TriMesh, cells: u32) -> Field {
    let padding_voxels = ExactField::PADDING;
    let options = FieldOptions { padding_voxels, ..FieldOptions::with_resolution(mesh, cells) };
    let grid = voxshell::cook::dense_field(mesh, &options, &Progress::none()).unwrap();
    Field::Exact(ExactField::new(grid, Arc::new(mesh.clone())).unwrap())
}

/// Levels up to two voxels are those of the triangles.
#[test]
fn an_exact_grid_is_met_at_any_level() {
    let mesh = primitives::gear(8, 0.5, 0.35, 0.2, 0.1).unwrap();
    let exact = MeshField::new(mesh.clone()).unwrap();
    let of_triangles = |p: &Vec3| f64::from(exact.distance((p - exact.local_origin(p)).map(|x| x as f32).into()));
    let field = exact_grid(&mesh, 20);
    check(&field, &of_triangles, 1.0, &[0.0], 0.7, 1e-6);
    check(&field, &of_triangles, 1.0, &[0.05, -0.05, 0.1, -0.08], 0.7, 3e-5);
    let Field::Exact(own) = &field else { panic!("another kind of field") };
    let phi = |p: &Vec3| f64::from(own.distance((p - own.local_origin(p)).map(|x| x as f32).into()));
    check(&field, &phi, f64::from(own.lipschitz()), &[0.13, 0.2, 0.3, 0.5], 1.2, 1e-4);
}

/// Returns the first parameter at which a segment meets a triangle, by its plane and its edges.
fn first_of_triangles(mesh: &TriMesh, segment: &Segment) -> Option<f64> {
    let d = segment.to - segment.from;
    let meets = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        let n = (b - a).cross(&(c - a));
        let s = n.dot(&(a - segment.from)) / n.dot(&d);
        let p = segment.at(s);
        let within = [(a, b), (b, c), (c, a)].iter().all(|(u, v)| (v - u).cross(&(p - u)).dot(&n) >= 0.0);
        ((0.0..=1.0).contains(&s) && within).then_some(s)
    };
    (0..mesh.triangles.len()).filter_map(meets).min_by(f64::total_cmp)
}

#[test]
fn segments_at_sharp_edges_of_exact_grids_meet_the_triangles() {
    let (mut grazed, mut hits, mut missed) = (0, 0, 0);
    for mesh in
        [primitives::gear(8, 0.5, 0.35, 0.2, 0.1), primitives::cone(0.2, 0.9, 24), primitives::bowl(0.5, 0.05, 24)]
    {
        let mesh = mesh.unwrap();
        let field = exact_grid(&mesh, 24);
        let Field::Exact(own) = &field else { panic!("another kind of field") };
        let (h, far) = (f64::from(own.voxel_size()), Field::Dense(own.far().clone()));
        let mut rng = Rng(31);
        for n in 0..6_000u32 {
            // Past a corner or an edge, up to half a voxel away from it.
            let t = (rng.next() % mesh.triangles.len() as u64) as usize;
            let [a, b, _] = mesh.corners(t).map(Vec3::from);
            let part = if n % 2 == 0 { 0.0 } else { rng.fraction() };
            let target = a + (b - a) * part + rng.vector() * (h * 0.5f64.powi(1 + n as i32 % 12));
            let way = rng.vector().normalize() * 2.0;
            let segment = Segment::new(target - way, target + way * rng.fraction());
            let (found, expected) = (first_hit(&field, &segment, 0.0, Start::Hit), first_of_triangles(&mesh, &segment));
            let same = match (found, expected) {
                (Some(hit), Some(t)) => (hit.fraction - t).abs() < 1e-9,
                (found, expected) => found.is_none() && expected.is_none(),
            };
            // A segment through an edge, up to rounding, may pass between two triangles of the reference.
            assert!(same || expected.is_none(), "{segment:?}: {found:?}, expected {expected:?}");
            grazed += usize::from(!same);
            hits += usize::from(expected.is_some());
            let by_grid = first_fraction(&far, &segment, 0.0, Start::Hit);
            missed += usize::from(expected.is_some() && by_grid.is_none());
        }
    }
    assert!(grazed < 5 && hits > 5_000, "{grazed} of {hits}");
    assert!(missed > 100, "too easy: the grid alone misses {missed}");
}

#[test]
fn a_sheet_is_crossed_once_where_its_triangles_meet() {
    let square = voxshell::mesh::TriMesh {
        vertices: vec![[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
    };
    let field = Field::Sheet(Sheet::new(Arc::new(square), 0.1).unwrap());
    for x in [0.0, 0.25, -0.5] {
        let segment = Segment::new(Vec3::new(x, 1.0, x), Vec3::new(x, -1.0, x));
        let mut found = Vec::new();
        crossings(&field, &segment, 0.0, |hit| found.push(hit.fraction));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0] - 0.5).abs() < 1e-12);
        let mut off = Vec::new();
        crossings(&field, &segment, 0.25, |hit| off.push(hit.fraction));
        assert!(off.len() == 2 && (off[0] - 0.375).abs() < 1e-9 && (off[1] - 0.625).abs() < 1e-9, "{off:?}");
        // Layers that are thinner than a step of the search.
        for level in [1e-5, 1e-7, 1e-10, 1e-13] {
            let mut found = Vec::new();
            intervals(&field, &segment, level, |[from, to]| found.push([0.5 - from, to - 0.5]));
            let half = 0.5 * level;
            assert!(found.len() == 1 && found[0].iter().all(|d| (d - half).abs() < 1e-14), "{level}: {found:?}");
        }
    }
}

#[test]
fn a_start_inside_is_a_hit_at_once_or_after_leaving() {
    let mesh = primitives::torus(0.35, 0.1, 64, 32).unwrap();
    let dense =
        voxshell::cook::dense_field(&mesh, &FieldOptions::with_resolution(&mesh, 48), &Progress::none()).unwrap();
    let exact = MeshField::new(mesh).unwrap();
    let near = exact_grid(exact.mesh(), 48);
    for field in [Field::Dense(dense), Field::Mesh(exact), near] {
        // Through the tube at +x, the hole, and the tube at −x.
        let through = Segment::new(Vec3::new(1.0, 0.01, 0.02), Vec3::new(-1.0, 0.01, 0.02));
        let mut passed = Vec::new();
        crossings(&field, &through, 0.0, |hit| passed.push(hit));
        assert_eq!(passed.len(), 4);
        // Entries are against the normal, exits along it.
        assert_eq!(passed.iter().map(|h| h.normal.x > 0.0).collect::<Vec<_>>(), [true, false, true, false]);
        let inside = Segment::new(Vec3::new(0.35, 0.01, 0.02), through.to);
        assert_eq!(first_hit(&field, &inside, 0.0, Start::Hit).unwrap().fraction, 0.0);
        let again = first_hit(&field, &inside, 0.0, Start::Leave).unwrap();
        assert!((again.point - passed[2].point).norm() < 1e-9, "{again:?} {:?}", passed[2]);
        let out = Segment::new(inside.from, Vec3::new(1.0, 0.01, 0.02));
        assert_eq!(first_hit(&field, &out, 0.0, Start::Leave), None);
        let mut left = Vec::new();
        crossings(&field, &out, 0.0, |hit| left.push(hit.point.x));
        assert!(left.len() == 1 && (left[0] - passed[0].point.x).abs() < 1e-9, "{left:?}");
        // Segments without length, and with coordinates that overflow.
        let still = Segment::new(inside.from, inside.from);
        assert_eq!(first_fraction(&field, &still, 0.0, Start::Hit), Some(0.0));
        assert_eq!(first_fraction(&field, &still, 0.0, Start::Leave), None);
        let huge = Segment::new(Vec3::repeat(1.7e308), Vec3::repeat(-1.7e308));
        first_fraction(&field, &huge, 0.0, Start::Hit);
        // A batch gives the same as single queries.
        let segments = [through, inside, out, still];
        let mut fractions = [None; 4];
        first_fractions(&field, &segments, 0.0, Start::Hit, &mut fractions);
        assert_eq!(fractions, segments.map(|s| first_fraction(&field, &s, 0.0, Start::Hit)));
    }
}
