//! Guarantees of the sphere tree, on synthetic samples.

use proptest::prelude::*;
use voxshell::math::Vec3;
use voxshell::pointshell::{Clustering, PointShell, ShellOptions, TreeKind};
use voxshell::Error;

const KINDS: [TreeKind; 2] = [TreeKind::MinimalBalls, TreeKind::NestedOnSamples];
const CLUSTERINGS: [Clustering; 2] = [Clustering::Balanced, Clustering::Greedy];

fn options(branching: u32, tree: TreeKind, clustering: Clustering) -> ShellOptions {
    ShellOptions { branching, tree, clustering, ..Default::default() }
}

fn shell(points: &[[f64; 3]], options: &ShellOptions) -> PointShell {
    let normals: Vec<[f64; 3]> = points.iter().enumerate().map(|(i, _)| [1.0, i as f64, 0.0]).collect();
    PointShell::from_samples(points, &normals, options).expect("valid samples")
}

/// Returns a Fibonacci sphere: even samples of a closed surface.
fn sphere(n: usize, radius: f64) -> Vec<[f64; 3]> {
    let point = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f64 / n as f64;
        let (s, phi) = ((1.0 - z * z).sqrt() * radius, i as f64 * 2.399963229728653);
        [s * phi.cos(), s * phi.sin(), z * radius]
    };
    (0..n).map(point).collect()
}

/// Checks all guarantees of the type: independently of `check_invariants` where that is cheap, and with it.
fn check(points: &[[f64; 3]], shell: &PointShell) {
    shell.check_invariants().expect("invariants");
    assert_eq!(shell.len(), points.len());
    let tree = &shell.tree;
    // The same samples in another order: their normals carry the old index.
    let mut seen = vec![false; points.len()];
    for i in 0..shell.len() {
        let n = shell.normal(i);
        assert!((Vec3::new(n[0] as f64, n[1] as f64, n[2] as f64).norm() - 1.0).abs() < 1e-6);
        if points.len() < 1000 {
            let old = (n[1] / n[0]).round() as usize;
            assert!(!std::mem::replace(&mut seen[old], true), "sample {old} twice");
            let moved = (shell.position(i) - Vec3::from(points[old])).norm();
            assert!(moved <= 1e-6 * (1.0 + shell.bounds().extents().norm()), "sample {old} moved by {moved}");
        }
    }
    // Every sample is inside all its ancestors' spheres, in f32 and in any order of summation.
    let mut leaves_of = vec![0; shell.len()];
    let mut stack = vec![(0u32, vec![])];
    while let Some((node, mut ancestors)) = stack.pop() {
        ancestors.push(node);
        let k = node as usize;
        if tree.child_count[k] == 0 {
            for i in tree.first_sample[k]..tree.first_sample[k] + tree.sample_count[k] {
                leaves_of[i as usize] += 1;
                let p = shell.point(i as usize);
                for &a in &ancestors {
                    let a = a as usize;
                    let d = [p[0] - tree.cx[a], p[1] - tree.cy[a], p[2] - tree.cz[a]];
                    let r = tree.radius[a];
                    for [u, v, w] in [[0, 1, 2], [2, 1, 0], [0, 2, 1]] {
                        assert!(((d[u] * d[u] + d[v] * d[v]) + d[w] * d[w]).sqrt() <= r);
                        assert!((d[u] * d[u] + d[v] * d[v]) + d[w] * d[w] <= r * r || r < 1e-18);
                    }
                }
            }
        }
        for child in 0..tree.child_count[k] {
            stack.push((tree.first_child[k] + child, ancestors.clone()));
        }
    }
    assert!(leaves_of.iter().all(|&n| n == 1), "the leaves are not a partition");
}

fn check_all(points: &[[f64; 3]], branching: u32) {
    for tree in KINDS {
        for clustering in CLUSTERINGS {
            let shell = shell(points, &options(branching, tree, clustering));
            check(points, &shell);
            if tree == TreeKind::NestedOnSamples {
                for node in 0..shell.tree.node_count() {
                    let center = [shell.tree.cx[node], shell.tree.cy[node], shell.tree.cz[node]];
                    assert_eq!(center, shell.point(shell.tree.representative[node] as usize));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(support::cases(150))]

    #[test]
    fn samples_are_inside_all_ancestors(
        points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 1..300),
        branching in 1u32..=32,
    ) {
        check_all(&points, branching);
    }

    #[test]
    fn degenerate_sets_are_inside_all_ancestors(
        raw in prop::collection::vec(prop::array::uniform3(0..4i32), 1..120),
        keep in prop::array::uniform3(any::<bool>()),
        offset in prop::sample::select(vec![0.0, 1.0, 1e6, -1e6]),
        scale in prop::sample::select(vec![1e-9, 0.1, 1.0, 1e5]),
        branching in 1u32..=32,
    ) {
        let points: Vec<[f64; 3]> = raw
            .iter()
            .map(|p| std::array::from_fn(|a| offset + if keep[a] { p[a] as f64 * scale } else { 0.0 }))
            .collect();
        check_all(&points, branching);
    }

    #[test]
    fn nearest_agrees_with_brute_force(
        points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 1..200),
        query in prop::array::uniform3(-2.0..2.0f32),
    ) {
        let shell = shell(&points, &options(8, TreeKind::MinimalBalls, Clustering::Balanced));
        let distance = |i: usize| {
            let p = shell.point(i);
            (0..3).map(|k| (p[k] as f64 - query[k] as f64).powi(2)).sum::<f64>().sqrt()
        };
        let best = (0..shell.len()).map(distance).fold(f64::INFINITY, f64::min);
        let (index, found) = shell.nearest(query);
        prop_assert!((found as f64 - best).abs() < 1e-6 && (distance(index as usize) - best).abs() < 1e-12);
    }
}

#[test]
fn one_two_and_coincident_samples_make_a_tree() {
    for branching in [1, 2, 8, 32] {
        check_all(&[[3.0, 4.0, 5.0]], branching);
        check_all(&[[3.0, 4.0, 5.0], [1e6, -4.0, 5.0]], branching);
        check_all(&[[0.25; 3]; 777], branching);
    }
    let one = shell(&[[3.0, 4.0, 5.0]], &options(8, TreeKind::MinimalBalls, Clustering::Balanced));
    assert_eq!((one.tree.node_count(), one.tree.radius[0], one.spacing), (1, 0.0, 0.0));
    assert_eq!(one.position(0), Vec3::new(3.0, 4.0, 5.0));
}

#[test]
fn samples_far_from_the_body_origin_keep_their_precision() {
    let near = sphere(2000, 0.5);
    let far: Vec<[f64; 3]> = near.iter().map(|p| [p[0] + 1e6, p[1] - 1e6, p[2] + 1e6]).collect();
    check_all(&far, 8);
    let shell = shell(&far, &options(8, TreeKind::MinimalBalls, Clustering::Balanced));
    assert!((shell.tree.radius[0] - 0.5).abs() < 1e-5);
}

#[test]
fn trees_are_at_most_one_level_deeper_than_with_full_clusters() {
    for (n, depth) in [(1usize, 1), (8, 1), (9, 2), (64, 2), (65, 3), (799, 4), (10_000, 5), (35_000, 7)] {
        for clustering in CLUSTERINGS {
            let shell = shell(&sphere(n, 0.5), &options(8, TreeKind::MinimalBalls, clustering));
            let tree = &shell.tree;
            assert!(tree.depth() <= depth + usize::from(clustering == Clustering::Greedy), "{n}: {}", tree.depth());
            let leaves = tree.level(tree.depth() - 1).len();
            assert!(leaves as f64 <= 1.0 + n as f64 / 8.0 / 0.75, "{n} samples in {leaves} leaves");
        }
    }
}

/// Reason for the default clustering: the expected work of a traversal is proportional to the sum over the nodes of
/// radius times children.
/// of radius times children.
#[test]
fn balanced_clusters_are_tighter_than_greedy_ones() {
    let cost = |clustering: Clustering| {
        let shell = shell(&sphere(20_000, 0.5), &options(8, TreeKind::MinimalBalls, clustering));
        let tree = &shell.tree;
        let tests = |i: usize| if tree.child_count[i] == 0 { tree.sample_count[i] } else { tree.child_count[i] };
        (0..tree.node_count()).map(|i| tree.radius[i] as f64 * tests(i) as f64).sum::<f64>()
    };
    let (balanced, greedy) = (cost(Clustering::Balanced), cost(Clustering::Greedy));
    assert!(balanced < 0.85 * greedy, "{balanced} against {greedy}");
}

#[test]
fn trees_are_the_same_on_any_number_of_threads() {
    let points = sphere(30_000, 0.5);
    for clustering in CLUSTERINGS {
        let options = options(8, TreeKind::MinimalBalls, clustering);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| shell(&points, &options))
        };
        assert_eq!(on(1), on(4));
    }
}

#[test]
fn broken_shells_are_reported_and_do_not_panic() {
    let good = shell(&sphere(500, 0.5), &options(8, TreeKind::MinimalBalls, Clustering::Balanced));
    good.check_invariants().unwrap();
    let refused = |what: &str, damage: &dyn Fn(&mut PointShell)| {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(bad.check_invariants().is_err(), "{what} was not noticed");
    };
    refused("a short array", &|s| s.y.truncate(3));
    refused("no samples", &|s| s.x.clear());
    refused("NaN", &|s| s.z[7] = f32::NAN);
    refused("a long normal", &|s| s.nx[3] = 2.0);
    refused("negative spacing", &|s| s.spacing = -1.0);
    refused("an infinite origin", &|s| s.origin.x = f64::INFINITY);
    refused("a small sphere", &|s| s.tree.radius[20] *= 0.9);
    refused("a NaN sphere", &|s| s.tree.cx[5] = f32::NAN);
    refused("a foreign child", &|s| s.tree.first_child[1] = u32::MAX - 2);
    refused("too many children", &|s| s.tree.child_count[0] = u32::MAX);
    refused("samples beyond the end", &|s| s.tree.sample_count[0] = u32::MAX);
    refused("a run that begins elsewhere", &|s| s.tree.first_sample[2] += 1);
    refused("a foreign representative", &|s| s.tree.representative[4] = u32::MAX);
    refused("no levels", &|s| s.tree.levels.clear());
    refused("levels in disorder", &|s| s.tree.levels.swap(1, 2));
    refused("levels beyond the end", &|s| *s.tree.levels.last_mut().unwrap() += 1);
    refused("branching 0", &|s| s.tree.branching = 0);
}

#[test]
fn bad_samples_and_options_are_refused_by_name() {
    let good = ShellOptions::default();
    let message = |points: &[[f64; 3]], normals: &[[f64; 3]], options: &ShellOptions| {
        PointShell::from_samples(points, normals, options).expect_err("must be refused").to_string()
    };
    let z = [0.0, 0.0, 1.0];
    assert!(message(&[], &[], &good).contains("points"));
    assert!(message(&[z, z], &[z], &good).contains("normals"));
    assert!(message(&[z, [0.0, f64::NAN, 0.0]], &[z, z], &good).contains("points[1]"));
    assert!(message(&[z], &[[0.0; 3]], &good).contains("normals[0]"));
    assert!(message(&[z], &[[f64::NAN; 3]], &good).contains("normals[0]"));
    assert!(message(&[z], &[z], &ShellOptions { branching: 0, ..good.clone() }).contains("branching"));
    assert!(message(&[z], &[z], &ShellOptions { branching: 65, ..good.clone() }).contains("branching"));
    let small = ShellOptions { memory_limit: 100, ..good };
    let refusal = PointShell::from_samples(&[z], &[z], &small);
    assert!(matches!(refusal, Err(Error::TooLarge { limit: 100, .. })));
}
