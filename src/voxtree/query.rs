//! Tree against tree, and pointshell against tree.
//!
//! Ruffaldi et al. 2008, section 3.2: breadth-first lists of pairs of nodes whose spheres intersect. A pair is opened by testing
//! the children of A against the sphere of B and those of B against the sphere of A, and what is left of both against each
//! other. Two nodes of which one is much larger: only that one is opened.
//!
//! Spheres are computed and tested in f32, in the frame of A scaled by the sum of both root radii. [`SLACK`] bounds all
//! rounding there, so that no pair is lost; pairs of leaves are then decided in f64, by a formula that depends on the two
//! voxels and the poses alone. So the pairs are the same with every option that only saves time.

use super::cube::cube_overlap;
use super::pair::VoxelPair;
use super::spheres::{Batch, Cell, PlacedShell, PlacedTree, Spheres, LANES};
use super::tree::{Grow, VoxTree};
use voxshell_base::math::{limits, Mat3, Pose, Twist, Vec3};
use voxshell_base::memory::{with_capacity, GrowGuarded, RoomGuarded};
use voxshell_base::wide;
use voxshell_base::{Error, Result};
use voxshell_pointshell::PointShell;

/// Bound on the rounding of the distance of two spheres less the sum of their radii, in sums of both root radii: all
/// coordinates are below 2, a coordinate is a sum of at most ten terms of which each rounds by 2⁻²³, and the square of a
/// distance rounds by 2⁻²².
const SLACK: f32 = 6e-6;

/// A tree or a pointshell at a pose.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a, T = VoxTree> {
    pub shape: &'a T,
    /// Body to world.
    pub pose: Pose,
    /// Reference point of `twist.linear`, world frame, metres.
    pub center: Vec3,
    pub twist: Twist,
}

impl<'a, T> Placed<'a, T> {
    /// Returns a body at rest.
    pub fn new(shape: &'a T, pose: Pose) -> Self {
        Self { shape, pose, center: pose.translation.vector, twist: Twist::ZERO }
    }

    /// Checks the numbers. `names`: of the pose, the centre and both velocities.
    fn check(&self, names: [&str; 4]) -> Result<()> {
        limits::check_pose(names[0], &self.pose)?;
        limits::check_point(names[1], &self.center)?;
        limits::check_quantities(names[2], &self.twist.linear)?;
        limits::check_quantities(names[3], &self.twist.angular)
    }
}

/// Options of a query. The first two only save time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryOptions {
    /// Spheres around the octants that have children, from the table of 255, and not around whole cubes: the "side
    /// optimization for adjusting the position" (Ruffaldi et al. 2008, sections 3.1 and 4, which do not define it further).
    /// Unless only cubes count they are grown by 0.37 voxels: the spheres of the table contain the cubes of the voxels, but not
    /// the spheres around these, and pairs would be lost.
    pub tight: bool,
    /// No sphere test of the child of a node that has a single one: the "one-child optimization for skipping intersection
    /// tests" (section 4, which does not define it further).
    pub one_child: bool,
    /// Pairs of voxels only where their cubes have a common point, with the depth of the cubes. A sample of a pointshell
    /// then is a point.
    pub cubes: bool,
    /// Radius of the samples of a pointshell, metres.
    pub sample_radius: f64,
    /// Largest number of pairs, of the answer and of the lists on the way to it; at least 1. When it is reached, the query ends
    /// with a coarse answer.
    pub max_pairs: usize,
    /// Number of sphere tests after which no further pair is opened: a budget that does not depend on the clock.
    pub max_tests: u64,
    /// Nodes of this level and below are not opened; 0 goes down to the voxels. Level of each tree; those of a
    /// pointshell count from its samples, too.
    pub least_level: u32,
    /// Whether the deepest pairs come first. Otherwise the order is that of the traversal.
    pub deepest_first: bool,
}

impl Default for QueryOptions {
    /// Both optimisations, spheres, at most 2²⁰ pairs, all levels.
    fn default() -> Self {
        Self {
            tight: true,
            one_child: true,
            cubes: false,
            sample_radius: 0.0,
            max_pairs: 1 << 20,
            max_tests: u64::MAX,
            least_level: 0,
            deepest_first: false,
        }
    }
}

impl QueryOptions {
    fn spheres(&self) -> Option<Grow> {
        self.tight.then_some(if self.cubes { Grow::CUBES } else { Grow::SPHERES })
    }
}

/// Completeness and cost of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whether the answer has every pair of leaves that intersect. If not, it is coarse: every such pair is below a pair of the
    /// answer, whose spheres contain it.
    pub complete: bool,
    /// Number of tests of a sphere against a sphere.
    pub tests: u64,
    /// Number of pairs that were opened.
    pub opened: u64,
    /// Length of the longest list.
    pub longest: u64,
}

/// Scratch memory of the queries, one for each thread, and the last answer. Warm queries do not allocate.
#[derive(Clone, Default)]
pub struct Workspace {
    lists: [Vec<[Cell; 2]>; 2],
    batches: [Batch; 2],
    /// Levels of the pairs in `lists`.
    levels: [[u32; 2]; 2],
    pairs: Vec<VoxelPair>,
    report: Report,
}

impl Workspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the pairs of the last query.
    pub fn pairs(&self) -> &[VoxelPair] {
        &self.pairs
    }

    /// Returns the report on the last query.
    pub fn report(&self) -> Report {
        self.report
    }
}

/// Returns the pairs of voxels whose spheres (or cubes) intersect; touching is intersecting. The answer lives in the workspace
/// until its next use. The same input gives the same bytes on any number of threads and on every SIMD path.
///
/// # Errors
/// `InvalidArgument` for poses or velocities out of range, and for `max_pairs` 0. The workspace is then empty.
pub fn query<'w>(
    a: &Placed,
    b: &Placed,
    options: &QueryOptions,
    workspace: &'w mut Workspace,
) -> Result<&'w [VoxelPair]> {
    let tree = a.shape;
    let frame = Frame::new(workspace, (a, tree.origin, tree.root_radius()), b, options)?;
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    let side = PlacedTree::new(tree, options.spheres(), axes, Vec3::zeros(), frame.scale);
    Ok(answer(&side, a, tree.origin, b, &frame, options, workspace))
}

/// Returns the pairs of a sample of a pointshell (A) and a voxel of a tree (B), as [`query`]: the probe against the world of
/// Ruffaldi et al. 2008, section 3.3.1.
///
/// # Errors
/// As [`query`]; also for a sample radius that is negative or not finite.
pub fn query_pointshell<'w>(
    a: &Placed<PointShell>,
    b: &Placed,
    options: &QueryOptions,
    workspace: &'w mut Workspace,
) -> Result<&'w [VoxelPair]> {
    let shell = a.shape;
    let radius = options.sample_radius;
    if !(radius >= 0.0 && limits::is_coordinate(radius)) {
        return Err(Error::argument("sample_radius", limits::Shown(radius), "a finite length, 0 or more"));
    }
    // The root's centre is not the origin of the shell's frame.
    let tree = &shell.tree;
    let reach = |i: usize| Vec3::new(tree.cx[i].into(), tree.cy[i].into(), tree.cz[i].into()).norm();
    let root = tree.radius.first().map_or(0.0, |r| f64::from(*r) + reach(0)) + radius;
    let frame = Frame::new(workspace, (a, shell.origin, root), b, options)?;
    if shell.is_empty() {
        return Ok(&workspace.pairs);
    }
    let side = PlacedShell::new(shell, radius, frame.scale);
    Ok(answer(&side, a, shell.origin, b, &frame, options, workspace))
}

/// The frame of a query: the axes of A, with its origin at the root of A.
struct Frame {
    /// Axes and root of B in the frame, metres.
    rotation: Mat3,
    offset: Vec3,
    /// Units of the scaled frame in a metre.
    scale: f64,
    /// Whether the roots can touch.
    near: bool,
}

impl Frame {
    fn new<T>(
        workspace: &mut Workspace,
        (a, origin, radius): (&Placed<T>, Vec3, f64),
        b: &Placed,
        options: &QueryOptions,
    ) -> Result<Self> {
        workspace.pairs.clear();
        workspace.lists.iter_mut().for_each(Vec::clear);
        workspace.report = Report { complete: true, ..Report::default() };
        a.check(["pose of A", "center of A", "linear velocity of A", "angular velocity of A"])?;
        b.check(["pose of B", "center of B", "linear velocity of B", "angular velocity of B"])?;
        if options.max_pairs == 0 {
            return Err(Error::argument("max_pairs", 0, "at least 1"));
        }
        let relative = a.pose.inv_mul(&b.pose);
        let rotation = *relative.rotation.to_rotation_matrix().matrix();
        let offset = relative.transform_point(&b.shape.origin.into()).coords - origin;
        let sum = radius + b.shape.root_radius();
        Ok(Self { rotation, offset, scale: 1.0 / sum, near: offset.norm() <= sum * (1.0 + 1e-9) })
    }
}

fn answer<'w, A: Spheres, T>(
    side_a: &A,
    a: &Placed<T>,
    origin_a: Vec3,
    b: &Placed,
    frame: &Frame,
    options: &QueryOptions,
    workspace: &'w mut Workspace,
) -> &'w [VoxelPair] {
    if !frame.near {
        return &workspace.pairs;
    }
    let axes = [0, 1, 2].map(|k| frame.rotation.column(k).into_owned());
    let side_b = PlacedTree::new(b.shape, options.spheres(), axes, frame.offset, frame.scale);
    debug_assert_eq!(side_b.scale(), frame.scale);
    traverse(side_a, &side_b, options, workspace);
    let Workspace { lists, levels, pairs, .. } = workspace;
    // The lists swap their memory: both need as much as one of them has needed.
    let most = lists[0].capacity().max(lists[1].capacity());
    for list in lists.iter_mut().filter(|list| list.capacity() < most) {
        let mut larger = with_capacity(most);
        larger.append(list);
        *list = larger;
    }
    for (list, levels) in lists.iter().zip(levels) {
        pairs.reserve_guarded(list.len());
        for cells in list {
            let place_a = side_a.place(cells[0], levels[0]);
            let place_b = side_b.place(cells[1], levels[1]);
            let in_a = frame.rotation * place_b.local + frame.offset;
            let apart = in_a - place_a.local;
            let radii = place_a.radius + place_b.radius;
            let (squared, depth) = (apart.norm_squared(), radii - apart.norm());
            let depth = match (place_a.half, place_b.half) {
                (Some(half_a), Some(half_b)) if options.cubes => {
                    cube_overlap([half_a, half_b], &frame.rotation, &apart)
                }
                // Without a root of three: exact where the numbers are.
                (Some(half_a), Some(half_b)) if half_a > 0.0 => {
                    (squared <= 3.0 * (half_a + half_b) * (half_a + half_b)).then_some(depth)
                }
                (Some(_), Some(_)) => (squared <= radii * radii).then_some(depth),
                _ => Some(depth),
            };
            let Some(depth) = depth else { continue };
            let world =
                |pose: &Pose, origin: &Vec3, local: &Vec3| pose.transform_point(&(origin + local).into()).coords;
            let center_a = world(&a.pose, &origin_a, &place_a.local);
            let center_b = world(&b.pose, &b.shape.origin, &place_b.local);
            let middle = (center_a + center_b) * 0.5;
            pairs.push_guarded(VoxelPair {
                center_a,
                center_b,
                normal_a: a.pose.rotation * place_a.normal,
                normal_b: b.pose.rotation * place_b.normal,
                depth: depth.max(0.0),
                velocity: b.twist.at(&(middle - b.center)) - a.twist.at(&(middle - a.center)),
                cell_a: place_a.number,
                cell_b: place_b.number,
                level_a: levels[0],
                level_b: levels[1],
            });
        }
    }
    if options.deepest_first {
        let place = |p: &VoxelPair| (p.level_a, p.cell_a, p.level_b, p.cell_b);
        pairs.sort_unstable_by(|p, q| q.depth.total_cmp(&p.depth).then(place(p).cmp(&place(q))));
    }
    pairs
}

wide! {
    /// Fills `workspace.lists` with the pairs at which the traversal ends: in the first those of the last list that was
    /// not opened, in the second those of the list after it.
    fn traverse<A: Spheres>(a: &A, b: &PlacedTree, options: &QueryOptions, workspace: &mut Workspace) -> () {
        let Workspace { lists: [now, next], batches: [of_a, of_b], levels, report, .. } = workspace;
        let root = Cell::default();
        let mut level = [a.root_level(), b.root_level()];
        now.push_guarded([root; 2]);
        report.longest = 1;
        loop {
            // Leaves, or nodes that are not to be opened.
            let shut = [level[0] <= options.least_level, level[1] <= options.least_level];
            levels[0] = level;
            levels[1] = level;
            if shut == [true; 2] || now.is_empty() {
                report.complete &= level == [0; 2] || now.is_empty();
                return;
            }
            // Both are opened unless one is much larger.
            let (size_a, size_b) = (a.size(level[0]), b.size(level[1]));
            let open_a = !shut[0] && (shut[1] || size_a * 1.415 >= size_b);
            let open_b = !shut[1] && (shut[0] || size_b * 1.415 >= size_a);
            let below = [level[0] - u32::from(open_a), level[1] - u32::from(open_b)];
            levels[1] = below;
            next.clear();
            let count = now.len();
            for i in 0..count {
                let cells = now[i];
                let before = next.len();
                if report.tests >= options.max_tests {
                    now.drain(..i);
                    report.complete = false;
                    return;
                }
                report.opened += 1;
                let (sphere_a, sphere_b) = (a.sphere(cells[0], level[0]), b.sphere(cells[1], level[1]));
                let mut single = [false; 2];
                if open_a {
                    a.children(cells[0], level[0], of_a);
                    single[0] = options.one_child && of_a.len() == 1;
                    if !single[0] {
                        report.tests += of_a.len() as u64;
                        of_a.keep(sphere_b, SLACK);
                    }
                } else {
                    of_a.clear();
                    of_a.push(cells[0], sphere_a);
                }
                if of_a.len() > 0 {
                    if open_b {
                        b.children(cells[1], level[1], of_b);
                        single[1] = options.one_child && of_b.len() == 1;
                        if !single[1] {
                            report.tests += of_b.len() as u64;
                            of_b.keep(sphere_a, SLACK);
                        }
                    } else {
                        of_b.clear();
                        of_b.push(cells[1], sphere_b);
                    }
                    // Pairs that were tested just now, or that are not to be tested.
                    next.reserve_guarded(of_a.len() * of_b.len());
                    let tested = !open_a || !open_b || single == [true; 2];
                    if tested {
                        for &cell_a in &of_a.cells {
                            next.extend_guarded(of_b.cells.iter().map(|&cell_b| [cell_a, cell_b]));
                        }
                    } else {
                        report.tests += of_a.len() as u64 * of_b.len() as u64;
                        of_b.pad();
                        let count = of_b.len();
                        for i in 0..of_a.len() {
                            let sphere = of_a.sphere(i);
                            for first in (0..count).step_by(LANES) {
                                let mut bits = of_b.hits(first, sphere, SLACK);
                                while bits != 0 {
                                    let other = of_b.cells[first + bits.trailing_zeros() as usize];
                                    next.push_guarded([of_a.cells[i], other]);
                                    bits &= bits - 1;
                                }
                            }
                        }
                    }
                }
                if next.len() + (count - i - 1) > options.max_pairs {
                    next.truncate(before);
                    now.drain(..i);
                    report.complete = false;
                    return;
                }
            }
            report.longest = report.longest.max(next.len() as u64);
            now.clear();
            std::mem::swap(now, next);
            level = below;
        }
    }
}
