//! Bodies whose surfaces cross do so at an edge that is not in the middle of a flat face.

use std::collections::HashSet;

use support::rng::Rng;
use voxshell::math::Vec3;
use voxshell::mesh::{crossings, primitives, Bvh, Crossing, Edges, Placement, Sharp, TriMesh, WantedEdges};

struct Body {
    bvh: Bvh,
    edges: Edges,
    in_faces: HashSet<u32>,
}

impl Body {
    fn new(mesh: &TriMesh) -> Self {
        let bvh = Bvh::build(mesh);
        let mut edges = Edges::new(&bvh, &mesh.triangles);
        let sharp = Sharp::new(mesh, &edges);
        edges.set_in_faces(|ends| sharp.is_in_face(mesh, ends));
        let in_faces = (0..edges.count() as u32).filter(|e| sharp.is_in_face(mesh, edges.ends(*e))).collect();
        Self { bvh, edges, in_faces }
    }
}

fn found([a, b]: [&Body; 2], placement: &Placement, wanted: WantedEdges) -> Vec<Crossing> {
    let mut found = Vec::new();
    crossings((&a.bvh, &a.edges), (&b.bvh, &b.edges), placement, wanted, None, |crossing| found.push(crossing));
    found
}

#[test]
fn surfaces_that_cross_do_so_at_an_edge_that_is_in_no_face() {
    let meshes = [
        primitives::cuboid([0.4, 0.3, 0.2]),
        primitives::hole([0.5, 0.1, 0.5], 0.2, 12),
        primitives::gear(9, 0.5, 0.4, 0.1, 0.15),
    ];
    let bodies = meshes.map(|mesh| Body::new(&mesh.unwrap()));
    // A cuboid has a diagonal in each face.
    assert_eq!(bodies[0].in_faces.len(), 6);
    let mut rng = Rng(1);
    let (mut crossing, mut left_out) = (0, 0);
    for _ in 0..2000 {
        let [a, b] = [0, 1].map(|_| &bodies[(rng.next() % 3) as usize]);
        let rotation = rng.rotation().to_rotation_matrix().into_inner();
        let placement = Placement { rotation, translation: rng.vector() * 0.7 + Vec3::new(0.01, 0.02, 0.03) };
        let all = found([a, b], &placement, WantedEdges::All);
        let rims = found([a, b], &placement, WantedEdges::Rims);
        let is_in_face = |c: &Crossing| if c.of_second { &b.in_faces } else { &a.in_faces }.contains(&c.edge);
        assert_eq!(rims, all.iter().copied().filter(|c| !is_in_face(c)).collect::<Vec<_>>());
        assert_eq!(rims.is_empty(), all.is_empty());
        crossing += usize::from(!all.is_empty());
        left_out += all.len() - rims.len();
    }
    assert!(crossing > 500 && left_out > 500, "{crossing} of 2000 poses cross, {left_out} crossings are in faces");
}
