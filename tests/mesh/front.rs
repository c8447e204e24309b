//! A resumed descent of two hierarchies finds what one from the roots finds, whatever the motion between them.

use nalgebra::UnitQuaternion;
use support::rng::Rng;
use voxshell::math::Vec3;
use voxshell::mesh::{
    crossings, near_pairs, primitives, triangle, Bvh, Crossing, Edges, Front, Placement, TriMesh, WantedEdges,
};

struct Body {
    mesh: TriMesh,
    bvh: Bvh,
    edges: Edges,
}

impl Body {
    fn new(mesh: TriMesh) -> Self {
        let bvh = Bvh::build(&mesh);
        let edges = Edges::new(&bvh, &mesh.triangles);
        Self { mesh, bvh, edges }
    }
}

/// Where the first body is in the frame of the second.
#[derive(Clone, Copy)]
struct Place {
    rotation: UnitQuaternion<f64>,
    translation: Vec3,
}

impl Place {
    fn placement(&self) -> Placement {
        Placement { rotation: self.rotation.to_rotation_matrix().into_inner(), translation: self.translation }
    }

    /// Returns the largest distance by which a corner of a mesh is elsewhere at another place.
    fn moved(&self, other: &Self, mesh: &TriMesh) -> f64 {
        let at = |place: &Self, v: &[f64; 3]| place.rotation * Vec3::from(*v) + place.translation;
        mesh.vertices.iter().fold(0.0, |most, v| f64::max(most, (at(self, v) - at(other, v)).norm()))
    }
}

fn sorted_crossings(a: &Body, b: &Body, placement: &Placement, front: Option<&mut Front>) -> (Vec<Crossing>, u64) {
    let mut found = Vec::new();
    let tests = crossings((&a.bvh, &a.edges), (&b.bvh, &b.edges), placement, WantedEdges::All, front, |crossing| {
        found.push(crossing)
    });
    found.sort_by(|p, q| {
        (p.of_second, p.edge, p.triangle).cmp(&(q.of_second, q.edge, q.triangle)).then(p.at.total_cmp(&q.at))
    });
    (found, tests)
}

/// Returns the pairs of triangles of which one has a corner within a distance of the other. Others that were found may differ.
fn sorted_pairs(
    a: &Body,
    b: &Body,
    placement: &Placement,
    distance: f64,
    front: Option<&mut Front>,
) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    near_pairs([&a.bvh, &b.bvh], placement, distance, front, |i, j| found.push((i, j)));
    let has_corner_near = |t: &[Vec3; 3], u: &[Vec3; 3]| {
        t.iter().any(|p| (triangle::closest_point(u, triangle::is_sliver(u), p).0 - p).norm() <= distance)
    };
    found.retain(|&(i, j)| {
        let t = a.mesh.corners(i as usize).map(|v| placement.place(&Vec3::from(v)));
        let u = b.mesh.corners(j as usize).map(Vec3::from);
        has_corner_near(&t, &u) || has_corner_near(&u, &t)
    });
    found.sort_unstable();
    found
}

/// Runs random motions of two bodies from a touching place. Returns the tests of boxes and triangles from the roots and of
/// the front. `part` of each motion is told to the front.
fn wander(bodies: &[Body], seed: u64, steps: usize, part: f64) -> [u64; 2] {
    let mut rng = Rng(seed);
    let pick = |rng: &mut Rng| (rng.next() % bodies.len() as u64) as usize;
    let (a, b) = (&bodies[pick(&mut rng)], &bodies[pick(&mut rng)]);
    let mut place =
        Place { rotation: UnitQuaternion::from_scaled_axis(rng.vector() * 3.0), translation: rng.vector() * 0.8 };
    let [mut front, mut near_front] = [Front::default(), Front::default()];
    let mut tests = [0; 2];
    for _ in 0..steps {
        // From rest to a jump over the whole body, often towards the middle, so that the bodies stay near each other.
        let size = if rng.fraction() < 0.1 { 0.0 } else { 10f64.powf(-7.0 * rng.fraction()) };
        let next = Place {
            rotation: UnitQuaternion::from_scaled_axis(rng.vector() * size) * place.rotation,
            translation: place.translation + (rng.vector() - 0.3 * place.translation) * size,
        };
        let moved = part * place.moved(&next, &a.mesh);
        front.moved_by(moved);
        near_front.moved_by(moved);
        place = next;
        let placement = place.placement();
        let (expected, cold) = sorted_crossings(a, b, &placement, None);
        let (found, warm) = sorted_crossings(a, b, &placement, Some(&mut front));
        assert!(found == expected, "seed {seed}: other crossings");
        tests[0] += cold;
        tests[1] += warm;
        let distance = 0.02 * rng.fraction();
        let expected = sorted_pairs(a, b, &placement, distance, None);
        let found = sorted_pairs(a, b, &placement, distance, Some(&mut near_front));
        assert!(found == expected, "seed {seed}: other pairs");
    }
    tests
}

fn bodies() -> Vec<Body> {
    let meshes = [
        primitives::cuboid([0.5, 0.3, 0.01]),
        primitives::gear(12, 0.5, 0.4, 0.2, 0.12),
        primitives::torus_knot(2, 3, 0.35, 0.09, 60, 10),
        primitives::sphere(0.4, 3),
    ];
    meshes.into_iter().map(|mesh| Body::new(mesh.unwrap())).collect()
}

#[test]
fn a_resumed_descent_finds_what_one_from_the_roots_finds() {
    let bodies = bodies();
    let count = if support::long() { 1000 } else { 40 };
    let mut tests = [0; 2];
    for seed in 0..count {
        let [cold, warm] = wander(&bodies, seed, 50, 1.0);
        tests = [tests[0] + cold, tests[1] + warm];
    }
    // Half of the motions are so large that little can be kept.
    assert!(tests[1] < tests[0], "tests from the roots and of the front: {tests:?}");
}

/// The check above can fail: a front that is told of half the motion misses crossings.
#[test]
fn a_front_that_is_not_told_of_all_motion_misses_some() {
    let bodies = bodies();
    let misses = |seed: u64| std::panic::catch_unwind(|| wander(&bodies, seed, 50, 0.5)).is_err();
    assert!((0..40).any(misses));
}
