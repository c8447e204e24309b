//! Construction of the shell from samples: clusters, spheres, representatives, flat arrays.

use rayon::prelude::*;

use super::shell::round_up;
use super::{cluster, greedy, nearest, Clustering, PointShell, ShellOptions, SphereTree, TreeKind};
use voxshell_base::math::miniball::minimal_enclosing_ball;
use voxshell_base::math::{limits, Aabb, Progress, Vec3, Work};
use voxshell_base::memory::{self, CollectGuarded, Derived, GrowGuarded, ParCollectGuarded, SliceGuarded};
use voxshell_base::{Error, Result};

/// Relative excess of every radius, see [`SphereTree::radius`].
pub(super) const RADIUS_SLACK: f64 = 1.0 / (1u32 << 20) as f64;

/// Bytes of the arrays and of the scratch for building them, approximately.
pub const BYTES_PER_SAMPLE: u64 = 200;

/// Number of centres tried for a sphere whose centre must be a sample.
const CENTER_CANDIDATES: usize = 64;

impl PointShell {
    /// Makes a shell of given samples: `points` in metres, body frame, with outward `normals` of any non-zero length.
    ///
    /// Only the options `branching`, `tree`, `clustering` and `memory_limit` matter. There is no surface to measure
    /// against, so `spacing` is set to the largest distance from a sample to its nearest neighbour; overwrite it when the
    /// covering radius is known.
    pub fn from_samples(points: &[[f64; 3]], normals: &[[f64; 3]], options: &ShellOptions) -> Result<Self> {
        options.check_tree()?;
        if points.is_empty() {
            return Err(Error::argument("points", "empty", "at least one sample"));
        }
        if points.len() != normals.len() {
            return Err(Error::argument(
                "normals",
                format!("{} long", normals.len()),
                format!("{} long", points.len()),
            ));
        }
        options.check_memory(points.len() as u64, BYTES_PER_SAMPLE, 0)?;
        memory::guard("building a sphere tree", || build(points, normals, options, &Progress::none()))
    }
}

/// Makes a shell of body-frame samples; lengths and options were checked.
pub fn build(
    points: &[[f64; 3]],
    normals: &[[f64; 3]],
    options: &ShellOptions,
    progress: &Progress,
) -> Result<PointShell> {
    for (i, p) in points.iter().enumerate() {
        if !p.iter().all(|c| limits::is_coordinate(*c)) {
            limits::check_point(&format!("points[{i}]"), &(*p).into())?;
        }
    }
    let unit = normals.iter().enumerate().map(|(i, n)| unit_normal(i, n)).try_collect_guarded()?;
    let origin = Aabb::from_points(points).center();
    // The f32 values are the samples from here on; f64 copies of them make the spheres exact.
    let local = |p: &[f64; 3]| (Vec3::from(*p) - origin).map(|c| c as f32 as f64);
    let samples: Vec<Vec3> = points.iter().map(local).collect_guarded();
    let k = options.branching as usize;
    let hierarchy = match options.clustering {
        Clustering::Balanced => cluster::balanced(&samples, k, progress)?,
        Clustering::Greedy => greedy::greedy(&samples, k, progress)?,
    };
    let order = &hierarchy.order;
    let permuted: Vec<Vec3> = order.iter().map(|&i| samples[i as usize]).collect_guarded();
    let coordinate = |axis: usize| permuted.iter().map(|p| p[axis] as f32).collect_guarded();
    let normal = |axis: usize| order.iter().map(|&i| unit[i as usize][axis]).collect_guarded();
    let mut shell = PointShell {
        origin,
        x: coordinate(0),
        y: coordinate(1),
        z: coordinate(2),
        nx: normal(0),
        ny: normal(1),
        nz: normal(2),
        spacing: 0.0,
        tree: spheres(&permuted, &hierarchy.starts, options, progress)?,
        extremes: Derived::default(),
        sharpness: Derived::default(),
    };
    shell.spacing = nearest::largest_gap(&shell, progress)?;
    Ok(shell)
}

fn unit_normal(i: usize, n: &[f64; 3]) -> Result<[f32; 3]> {
    let v = Vec3::from(*n);
    let scale = v.amax();
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::argument(format!("normals[{i}]"), format!("{n:?}"), "a finite, non-zero vector"));
    }
    Ok((v / scale).normalize().map(|c| c as f32).into())
}

/// Makes one sphere per run.
fn spheres(points: &[Vec3], starts: &[Vec<u32>], options: &ShellOptions, progress: &Progress) -> Result<SphereTree> {
    let mut tree = SphereTree { branching: options.branching, levels: vec![0], ..Default::default() };
    for (level, runs) in starts.iter().enumerate() {
        let below = starts.get(level + 1);
        let next_level = tree.node_count() as u32 + runs.len() as u32 - 1;
        let nodes: Vec<(Vec3, f32, u32)> = runs
            .par_windows(2)
            .map_init(
                || Work::new(progress),
                |work, run| {
                    let samples = &points[run[0] as usize..run[1] as usize];
                    let sphere = match options.tree {
                        TreeKind::MinimalBalls => minimal(samples, run[0]),
                        TreeKind::NestedOnSamples => on_sample(samples, run[0]),
                    };
                    work.add(samples.len() as u64)?;
                    Ok(sphere)
                },
            )
            .try_collect_guarded()?;
        let mut child = 0;
        for (run, (center, radius, representative)) in runs.windows(2).zip(nodes) {
            tree.cx.push_guarded(center.x as f32);
            tree.cy.push_guarded(center.y as f32);
            tree.cz.push_guarded(center.z as f32);
            tree.radius.push_guarded(radius);
            tree.first_sample.push_guarded(run[0]);
            tree.sample_count.push_guarded(run[1] - run[0]);
            tree.representative.push_guarded(representative);
            let children = below.map_or(0, |b| b[child..].iter().take_while(|&&s| s < run[1]).count());
            tree.first_child.push_guarded(if children == 0 { u32::MAX } else { next_level + child as u32 });
            tree.child_count.push_guarded(children as u32);
            child += children;
        }
        tree.levels.push_guarded(tree.node_count() as u32);
    }
    if options.tree == TreeKind::MinimalBalls {
        represent(points, &mut tree);
    }
    Ok(tree)
}

/// Returns the smallest ball with its centre rounded to f32.
fn minimal(samples: &[Vec3], first: u32) -> (Vec3, f32, u32) {
    let center = minimal_enclosing_ball(samples).center.map(|c| c as f32 as f64);
    (center, radius_around(&center, samples), first)
}

/// Returns the smallest ball among those centred on a sample. A ball about c has at least the radius √(R² + |c − m|²)
/// when the minimal ball is (m, R), so centres are tried from m outward until no farther one can be better.
fn on_sample(samples: &[Vec3], first: u32) -> (Vec3, f32, u32) {
    let ball = minimal_enclosing_ball(samples);
    let mut nearest: Vec<(f64, u32)> =
        samples.iter().enumerate().map(|(i, p)| ((p - ball.center).norm_squared(), i as u32)).collect_guarded();
    let tried = CENTER_CANDIDATES.min(nearest.len());
    let by_distance = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    nearest.select_nth_unstable_by(tried - 1, by_distance);
    nearest.truncate(tried);
    nearest.sort_unstable_by(by_distance);
    let mut best = (f64::INFINITY, 0);
    for (distance_squared, i) in nearest {
        if ball.radius * ball.radius + distance_squared >= best.0 {
            break;
        }
        let center = samples[i as usize];
        let mut worst = 0.0;
        for p in samples {
            worst = f64::max(worst, (p - center).norm_squared());
            if worst >= best.0 {
                break;
            }
        }
        if worst < best.0 {
            best = (worst, i);
        }
    }
    let center = samples[best.1 as usize];
    (center, radius_around(&center, samples), first + best.1)
}

/// Sets all radii from the present samples and centres.
pub(super) fn measure(shell: &mut PointShell) {
    let at = |x: f32, y: f32, z: f32| Vec3::new(x.into(), y.into(), z.into());
    let samples: Vec<Vec3> = (0..shell.len()).map(|i| at(shell.x[i], shell.y[i], shell.z[i])).collect_guarded();
    let tree = &mut shell.tree;
    for node in 0..tree.node_count() {
        let first = tree.first_sample[node] as usize;
        let last = first + tree.sample_count[node] as usize;
        tree.radius[node] = radius_around(&at(tree.cx[node], tree.cy[node], tree.cz[node]), &samples[first..last]);
    }
}

/// Returns the radius with its slack, rounded up to f32. No sample is farther away as a traversal computes it, in f32:
/// that distance exceeds the slack only where the squares of tiny lengths lose their digits.
fn radius_around(center: &Vec3, samples: &[Vec3]) -> f32 {
    let (mut exact, mut computed) = (0.0f64, 0.0f32);
    for p in samples {
        let d = [0, 1, 2].map(|k| p[k] as f32 - center[k] as f32);
        exact = exact.max((p - center).norm());
        computed = computed.max((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt());
    }
    round_up(exact * (1.0 + RADIUS_SLACK)).max(computed)
}

/// Sets D4's parent points: a leaf's is its sample nearest the mean of its samples, an inner node's is the nearest to
/// their mean among its children's (Sagardia et al. 2014, section 2.1.2).
fn represent(points: &[Vec3], tree: &mut SphereTree) {
    for node in (0..tree.node_count()).rev() {
        let children = tree.child_count[node];
        let candidates: Vec<u32> = if children == 0 {
            (tree.first_sample[node]..tree.first_sample[node] + tree.sample_count[node]).collect_guarded()
        } else {
            let first = tree.first_child[node] as usize;
            tree.representative[first..first + children as usize].to_vec_guarded()
        };
        let mean = candidates.iter().map(|&i| points[i as usize]).sum::<Vec3>() / candidates.len() as f64;
        let mut best = (f64::INFINITY, candidates[0]);
        for &i in &candidates {
            let d = (points[i as usize] - mean).norm_squared();
            if d < best.0 {
                best = (d, i);
            }
        }
        tree.representative[node] = best.1;
    }
}
