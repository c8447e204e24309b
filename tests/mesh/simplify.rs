//! The hierarchy of hulls: exact convexity and containment, and the errors of its levels.

use num_rational::BigRational as Rational;
use support::parts::{body, Part};
use support::rng::Rng;
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::simplify::{Cover, HullHierarchy, Node, SimplifyOptions};
use voxshell::mesh::{primitives, Bvh, TriMesh};
use voxshell::Error;

fn hierarchy(mesh: &TriMesh) -> HullHierarchy {
    HullHierarchy::build(mesh, &SimplifyOptions::default(), &Progress::none()).unwrap()
}

/// Closed convex and organic bodies, CAD parts, and soups with flaws.
fn bodies() -> Vec<(String, TriMesh)> {
    let mut rng = Rng(11);
    let mut all: Vec<(String, TriMesh)> = vec![
        ("cube".into(), primitives::cuboid([0.5, 0.3, 0.2]).unwrap()),
        ("sphere".into(), primitives::sphere(0.5, 3).unwrap()),
        ("torus".into(), primitives::torus(0.35, 0.12, 36, 18).unwrap()),
        ("gear".into(), primitives::gear(11, 0.5, 0.4, 0.2, 0.15).unwrap()),
        ("blob".into(), primitives::blob(0).unwrap()),
        ("bowl".into(), primitives::bowl(0.5, 0.05, 24).unwrap()),
        (
            "far".into(),
            primitives::sphere(0.5, 2).unwrap().transformed(&nalgebra::Isometry3::translation(3e3, -7e2, 1e4), 1.0),
        ),
    ];
    let more = if support::long() { 60 } else { 3 };
    all.extend((0..more).map(|i| (format!("body {i}"), body(&mut rng))));
    all.extend((0..more).map(|i| (format!("part {i}"), Part::new(i).mesh)));
    all
}

/// The integer coordinates of a vertex, which are exact.
fn integers(h: &HullHierarchy, v: &Vec3) -> [i128; 3] {
    [0, 1, 2].map(|k| {
        let x = v[k] / h.lattice_step();
        assert_eq!(x, x.round(), "a vertex off the lattice");
        x as i128
    })
}

fn height(t: [[i128; 3]; 3], p: [i128; 3]) -> i128 {
    let sub = |a: [i128; 3], b: [i128; 3]| [0, 1, 2].map(|k| a[k] - b[k]);
    let (u, v, w) = (sub(t[1], t[0]), sub(t[2], t[0]), sub(p, t[0]));
    (0..3).map(|k| (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]) * w[k]).sum()
}

/// Exact squared distance, in lattice steps, of `p` to a point of the hull that is near it.
fn squared_distance(h: &HullHierarchy, node: &Node, p: &Vec3) -> Rational {
    let vertices = h.vertices_of(node);
    let exact = |x: i128| Rational::from_integer(x.into());
    let mut triangles: Vec<[Vec3; 3]> =
        h.faces_of(node).iter().map(|f| f.corners.map(|v| vertices[v as usize])).collect();
    if triangles.is_empty() {
        triangles = vertices.iter().flat_map(|a| vertices.iter().map(move |b| [*a, *b, *b])).collect();
    }
    let best = triangles
        .iter()
        .map(|t| {
            let sliver = voxshell::mesh::triangle::is_sliver(t);
            (t, voxshell::mesh::triangle::closest_point(t, sliver, p))
        })
        .min_by(|a, b| (a.1 .0 - p).norm_squared().total_cmp(&(b.1 .0 - p).norm_squared()));
    let (t, (point, feature)) = best.unwrap();
    let weights = voxshell::mesh::triangle::barycentric(t, feature, &point).map(|w| w.max(0.0));
    let weights = weights.map(|w| Rational::from_float(w).unwrap());
    let sum = weights.iter().fold(exact(0), |s, w| s + w);
    let (corners, p) = (t.map(|v| integers(h, &v)), integers(h, p));
    (0..3)
        .map(|k| {
            let at = (0..3).fold(exact(0), |s, i| s + &weights[i] * exact(corners[i][k]));
            let d = at / &sum - exact(p[k]);
            &d * &d
        })
        .fold(exact(0), |s, x| s + x)
}

#[test]
fn hulls_are_convex_and_contain_what_is_below_them_exactly() {
    for (name, mesh) in bodies() {
        let h = hierarchy(&mesh);
        let (mut solid, mut outside) = (0, 0);
        for (i, node) in h.nodes.iter().enumerate() {
            let vertices: Vec<[i128; 3]> = h.vertices_of(node).iter().map(|v| integers(&h, v)).collect();
            let faces: Vec<[[i128; 3]; 3]> =
                h.faces_of(node).iter().map(|f| f.corners.map(|v| vertices[v as usize])).collect();
            for f in &faces {
                assert!(vertices.iter().all(|v| height(*f, *v) <= 0), "{name}: node {i} is not convex");
            }
            let is_solid = faces.iter().any(|f| vertices.iter().any(|v| height(*f, *v) < 0));
            solid += usize::from(is_solid);
            // Vertices of the children, and of the original surface below the children.
            let mut below: Vec<Vec3> = Vec::new();
            for c in node.children.clone() {
                let child = &h.nodes[c as usize];
                assert_eq!(child.parent as usize, i);
                assert!(child.level < node.level);
                below.extend(h.vertices_of(child));
                let corners = h.triangles_of(child).iter().flat_map(|&t| h.mesh.corners(t as usize));
                below.extend(corners.map(Vec3::from));
            }
            // The exact distance is slow: of a part of the points, in turn.
            let each = if support::long() { 1 } else { below.len() / 12 + 1 };
            for p in below.into_iter().skip(i % each).step_by(each) {
                if is_solid && faces.iter().all(|f| height(*f, integers(&h, &p)) <= 0) {
                    continue;
                }
                outside += 1;
                let reach = Rational::from_float(node.reach / h.lattice_step()).unwrap();
                assert!(squared_distance(&h, node, &p) <= &reach * &reach, "{name}: node {i}, level {}", node.level);
                let below_reach = node.level as usize >= h.surfaces.len() && node.reach == 0.0;
                assert!(!below_reach || !is_solid, "{name}: merged hulls contain their parts");
            }
        }
        assert!(solid > 0, "{name}");
        assert!(name != "torus" || outside > 0, "the simplification moves vertices");
    }
}

#[test]
fn reported_deviation_bounds_the_sampled_hausdorff_distance() {
    let mut rng = Rng(5);
    for (name, mesh) in bodies() {
        let h = hierarchy(&mesh);
        let extent = mesh.bounds().extents().max();
        let original = Bvh::build(&h.mesh);
        for (level, surface) in h.surfaces.iter().enumerate() {
            let bvh = Bvh::build(&surface.mesh);
            let report = h.levels[level];
            assert_eq!(report.triangles as usize, surface.mesh.triangles.len());
            let mut most = 0.0f64;
            for (one, other) in [(&surface.mesh, &original), (&h.mesh, &bvh)] {
                for t in 0..one.triangles.len() {
                    let [a, b, c] = one.corners(t).map(Vec3::from);
                    let random = |rng: &mut Rng| {
                        let (u, v) = (rng.fraction(), rng.fraction());
                        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                        a + (b - a) * u + (c - a) * v
                    };
                    for p in [a, b, c, random(&mut rng), random(&mut rng)] {
                        most = most.max(other.closest_point(p).distance_squared.sqrt());
                    }
                }
            }
            // The closest points of slivers are rounded by some 1e-12 of the extent.
            assert!(most <= report.deviation + 1e-11 * extent, "{name} {level}: {most} {}", report.deviation);
            // The bound is no empty one.
            let sharp = report.deviation <= 1.5 * most + 0.02 * extent;
            assert!(sharp, "{name} {level}: {} for {most}", report.deviation);
        }
        assert!(h.levels[0].deviation == 0.0 && h.levels[0].resolution.is_infinite());
    }
}

#[test]
fn each_level_has_at_most_half_the_hulls_and_fewer_triangles() {
    for (name, mesh) in bodies() {
        let h = hierarchy(&mesh);
        let fine = h.surfaces.len();
        for pair in h.levels[..fine].windows(2) {
            assert!(pair[1].triangles < pair[0].triangles, "{name}");
            assert!(pair[1].hulls < pair[0].hulls, "{name}");
            assert!(pair[1].resolution <= pair[0].resolution, "{name}");
        }
        for pair in h.levels[..fine.max(2) - 1].windows(2) {
            assert!(2 * pair[1].hulls <= pair[0].hulls, "{name}");
        }
        assert!(h.levels[fine..].iter().all(|l| l.is_bound_only() && l.resolution == 0.0), "{name}");
        assert_eq!(h.nodes[0].parent, u32::MAX);
        let triangles: usize = h.nodes.iter().map(|n| h.triangles_of(n).len()).sum();
        assert_eq!(triangles, h.mesh.triangles.len(), "{name}: each triangle is in one piece");
    }
    // A closed convex body ends as one piece, and its faces are surface.
    let h = hierarchy(&primitives::sphere(0.5, 2).unwrap());
    assert_eq!(h.levels.last().unwrap().hulls, 1);
    assert!(h.faces_of(&h.nodes[0]).iter().all(|f| f.cover == Cover::Full));
}

#[test]
fn shared_meshes_lose_most_hulls_in_their_levels() {
    for name in ["bunny_3k_libigl.obj", "horse_48k.obj", "dragon_10k_open.obj", "fandisk_6k_cad.obj"] {
        if name != "bunny_3k_libigl.obj" && !support::long() {
            continue;
        }
        let Some(mesh) = support::shared_mesh(name) else { continue };
        let start = std::time::Instant::now();
        let h = hierarchy(&mesh);
        println!("{name}: {:.1} s, {:.1} MB", start.elapsed().as_secs_f64(), h.bytes() as f64 / 1e6);
        for l in &h.levels {
            println!("  {l:?}");
        }
        let coarsest = h.levels[h.surfaces.len() - 1];
        assert!(10 * coarsest.hulls < h.levels[0].hulls, "{name}");
        assert!(5 * coarsest.triangles < h.levels[0].triangles, "{name}");
    }
}

#[test]
fn hierarchies_are_the_same_bytes_on_any_number_of_threads() {
    let mesh = primitives::blob(0).unwrap();
    let on = |threads: usize| {
        let pool = rayon_pool(threads);
        pool.install(|| format!("{:?}", hierarchy(&mesh)))
    };
    let one = on(1);
    assert!(one == on(2) && one == on(5));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn unusable_meshes_and_options_are_refused_by_name() {
    let build = |mesh: &TriMesh, o: SimplifyOptions| HullHierarchy::build(mesh, &o, &Progress::none());
    let cube = primitives::cuboid([0.5; 3]).unwrap();
    let default = SimplifyOptions::default();
    for depth in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        let Err(Error::InvalidArgument { argument, .. }) =
            build(&cube, SimplifyOptions { contact_depth: depth, ..default })
        else {
            panic!("{depth}")
        };
        assert_eq!(argument, "options.contact_depth");
    }
    assert!(build(&cube, SimplifyOptions { max_triangles: 11, ..default }).is_err());
    let folded = TriMesh { vertices: vec![[0.0; 3], [1.0, 0.0, 0.0]], triangles: vec![[0, 1, 1]] };
    assert!(build(&folded, default).is_err());
    let stop = |_: &str, _: f64| false;
    let cancelled = HullHierarchy::build(&cube, &default, &Progress::new(&stop));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
}
