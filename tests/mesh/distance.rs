//! The closest points of two meshes are those of all pairs of triangles.

use nalgebra::UnitQuaternion;
use support::rng::Rng;
use voxshell::math::Vec3;
use voxshell::mesh::{closest_between, primitives, triangle, Bvh, Placement, Slabs, TriMesh};

/// Fraction of a distance by which the answer may be larger.
const PRECISION: f64 = 1e-6;

struct Body {
    mesh: TriMesh,
    bvh: Bvh,
    slabs: Slabs,
}

impl Body {
    fn new(mesh: TriMesh) -> Self {
        let bvh = Bvh::build(&mesh);
        let slabs = Slabs::new(&bvh);
        Self { mesh, bvh, slabs }
    }

    fn triangles(&self, place: impl Fn(Vec3) -> Vec3) -> Vec<[Vec3; 3]> {
        (0..self.mesh.triangles.len()).map(|k| self.mesh.corners(k).map(|p| place(p.into()))).collect()
    }
}

/// Returns the distance of two edges at inner points of both; infinite if they are closest elsewhere.
fn between_edges([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> f64 {
    let (u, w, r) = (p_end - p, q_end - q, q - p);
    let n = u.cross(&w);
    let squared = n.norm_squared();
    if squared == 0.0 {
        return f64::INFINITY;
    }
    let at = [r.cross(&w).dot(&n) / squared, r.cross(&u).dot(&n) / squared];
    if at.iter().all(|x| (0.0..=1.0).contains(x)) {
        (q + w * at[1] - p - u * at[0]).norm()
    } else {
        f64::INFINITY
    }
}

fn between_triangles(t: &[Vec3; 3], u: &[Vec3; 3]) -> f64 {
    let corner = |t: &[Vec3; 3], p: &Vec3| (triangle::closest_point(t, triangle::is_sliver(t), p).0 - p).norm();
    let corners = t.iter().map(|p| corner(u, p)).chain(u.iter().map(|p| corner(t, p))).fold(f64::INFINITY, f64::min);
    let edges = |t: &[Vec3; 3], i: usize| [t[i], t[(i + 1) % 3]];
    (0..9).fold(corners, |least, k| least.min(between_edges(edges(t, k / 3), edges(u, k % 3))))
}

fn brute_force(a: &Body, b: &Body, placement: &Placement) -> f64 {
    let (first, second) = (a.triangles(|p| placement.place(&p)), b.triangles(|p| p));
    first.iter().flat_map(|t| second.iter().map(|u| between_triangles(t, u))).fold(f64::INFINITY, f64::min)
}

/// Checks the answer without a limit, with one just above the distance and with one below, from any first direction.
fn check(a: &Body, b: &Body, placement: &Placement, rng: &mut Rng) {
    let expected = brute_force(a, b, placement);
    let find = |limit: f64, towards: Vec3| {
        closest_between((&a.bvh, &a.slabs), (&b.bvh, &b.slabs), placement, limit, towards).0
    };
    for (limit, towards) in [
        (f64::INFINITY, Vec3::zeros()),
        (f64::INFINITY, rng.vector()),
        (expected * (1.0 + PRECISION), rng.vector()),
        (expected * (1.0 + PRECISION), placement.translation),
    ] {
        let found = find(limit, towards).unwrap_or_else(|| panic!("none within {limit}, distance {expected}"));
        assert!((found.distance - expected).abs() <= PRECISION * expected, "{} is not {expected}", found.distance);
        let along = found.points[1] - found.points[0];
        assert!((along.norm() - found.distance).abs() <= PRECISION * expected);
    }
    assert!(find(expected * (1.0 - 2.0 * PRECISION), rng.vector()).is_none());
}

#[test]
fn closest_points_are_those_of_all_pairs_of_triangles() {
    let meshes = [
        primitives::cuboid([0.4, 0.3, 0.2]),
        primitives::gear(9, 0.5, 0.4, 0.1, 0.15),
        primitives::torus_knot(2, 3, 0.3, 0.08, 24, 6),
        primitives::cylinder(0.2, 0.4, 24),
    ];
    let bodies = meshes.map(|mesh| Body::new(mesh.unwrap()));
    let mut rng = Rng(1);
    for _ in 0..40 {
        let [a, b] = [0, 1].map(|_| &bodies[(rng.next() % 4) as usize]);
        let rotation = rng.rotation().to_rotation_matrix().into_inner();
        let away = rng.vector();
        let translation = away.normalize() * (0.5 + away.norm());
        check(a, b, &Placement { rotation, translation }, &mut rng);
    }
}

/// Returns a square of 1 m in squares across a normal.
fn square(cells: u32, turn: &UnitQuaternion<f64>) -> TriMesh {
    let at = |i: u32| f64::from(i) / f64::from(cells) - 0.5;
    let points = (0..=cells).flat_map(|i| (0..=cells).map(move |j| (i, j)));
    let vertices = points.map(|(i, j)| (turn * Vec3::new(at(i), at(j), 0.0)).into()).collect();
    let corner = |i: u32, j: u32| i * (cells + 1) + j;
    let squares = (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j)));
    let triangles = squares.flat_map(|(i, j)| {
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    TriMesh { vertices, triangles: triangles.collect() }
}

/// A sine of 1e-4 has a cosine that is 1 in single precision.
#[test]
fn closest_points_of_nearly_parallel_faces_are_found() {
    let mut rng = Rng(2);
    for k in 0..24 {
        let [one, two] = [0, 1].map(|_| rng.rotation());
        let (a, b) = (Body::new(square(6, &one)), Body::new(square(6, &two)));
        // In the frame of the second square's plane, the first is above it and hardly tilted.
        let tilt = UnitQuaternion::from_scaled_axis(rng.vector() * [1e-5, 1e-4, 3e-4, 1e-2][k % 4]);
        let rotation = two * tilt * one.inverse();
        let translation = two * Vec3::new(0.1 * rng.vector().x, 0.1, [1e-3, 1e-2][k / 4 % 2]);
        check(&a, &b, &Placement { rotation: rotation.to_rotation_matrix().into_inner(), translation }, &mut rng);
    }
}
