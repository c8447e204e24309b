//! Algorithm 1 of Sagardia, Stouraitis & Lopes e Silva (2014): a pointshell in a voxelmap gives manifold, force, torque
//! and penetration or distance.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use voxshell_base::math::clock::Instant;
use voxshell_base::math::{Pose, RigidF32, Vec3, Wrench};
use voxshell_base::memory::{GrowGuarded, HeapGuarded, RoomGuarded};
use voxshell_contact::Completeness;
use voxshell_pointshell::PointShell;
use voxshell_voxmap::{Rule, Voxelmap};

/// Parameters of [`voxel_query`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelQuery {
    pub rule: Rule,
    /// Force of each sample per metre of V, N/m. 1 in the paper.
    pub stiffness: f64,
    /// From this number of contacts on, the wrench is the average times this number. The paper sums: `u32::MAX`.
    pub average_from: u32,
    /// Point about which the torque is, in the pointshell's body frame, metres; the centre of mass in the paper.
    pub center: Vec3,
    /// Whether the largest V is searched for when no sample is in contact.
    pub distance: bool,
    /// Deepest level of the sphere tree that is opened, the root being 0. Nodes there stand for their samples with their
    /// parent points.
    pub max_level: u32,
    /// Most tests of spheres and samples.
    pub tests: u64,
    /// Time limit, nanoseconds. The clock is read after every eight opened nodes.
    pub nanoseconds: u64,
}

impl Default for VoxelQuery {
    /// Equation 4, unit stiffness, all samples, with distance.
    fn default() -> Self {
        Self {
            rule: Rule::Local,
            stiffness: 1.0,
            average_from: u32::MAX,
            center: Vec3::zeros(),
            distance: true,
            max_level: u32::MAX,
            tests: u64::MAX,
            nanoseconds: u64::MAX,
        }
    }
}

/// An element (P, n, V(P)) of the manifold M. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelContact {
    /// P: position of the sample, metres.
    pub point: Vec3,
    /// n: unit normal into the pointshell's body.
    pub normal: Vec3,
    /// V(P) ≥ 0, metres.
    pub penetration: f64,
    /// Index of the sample.
    pub sample: u32,
}

/// Answer of [`voxel_query`], but for the manifold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelAnswer {
    /// f and t on the pointshell's body, world frame, t about [`VoxelQuery::center`].
    pub wrench: Wrench,
    /// δ: largest V of the samples that were tested, metres; positive for a penetration, negative for a distance.
    pub penetration: f64,
    /// Proven upper bound of V over all samples, metres. Equal to `penetration` when the answer is complete, and with
    /// `distance` also when there is no contact.
    pub most: f64,
    /// Complete: the manifold holds every sample with V ≥ 0 in the voxels' box. Coarse: `max_level` ended the search.
    /// Partial: a limit did.
    pub completeness: Completeness,
    /// Levels of the sphere tree that were visited for contacts.
    pub levels: u32,
    pub node_tests: u64,
    pub sample_tests: u64,
}

/// A node whose sphere was tested.
#[derive(Clone, Copy, Debug)]
struct Node {
    index: u32,
    /// Upper bound of V over its samples, metres.
    most: f32,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Node {}
impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.total_cmp(&other.most).then(other.index.cmp(&self.index))
    }
}

/// Scratch memory: one per thread, grown on first use. Warm queries do not allocate. Holds the manifold of the last
/// query.
#[derive(Debug, Default)]
pub struct VoxelWorkspace {
    manifold: Vec<VoxelContact>,
    /// Queue of one level, and of the next.
    levels: [Vec<Node>; 2],
    /// Nodes in the order of their bounds.
    heap: BinaryHeap<Node>,
    /// One bit per sample: it was tested in the last query.
    checked: Vec<u64>,
}

impl VoxelWorkspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the manifold M of the last query, deepest first; on a tie the lower sample first.
    pub fn manifold(&self) -> &[VoxelContact] {
        &self.manifold
    }
}

/// Limits of a search, and its cost until now.
struct Meter {
    tests: u64,
    nanoseconds: u64,
    start: Option<Instant>,
    opened: u32,
    node_tests: u64,
    sample_tests: u64,
}

impl Meter {
    /// Counts an opened node; returns whether a limit is reached.
    fn opens(&mut self) -> bool {
        self.opened = self.opened.wrapping_add(1);
        let late = |start: &Instant| start.elapsed().as_nanos() >= u128::from(self.nanoseconds);
        self.node_tests + self.sample_tests >= self.tests
            || self.opened % 8 == 0 && self.start.as_ref().is_some_and(late)
    }
}

/// A pointshell in the frame of a map.
struct Search<'a> {
    map: &'a Voxelmap,
    shell: &'a PointShell,
    rule: Rule,
    max_level: u32,
    /// Between the local frames.
    to_grid: RigidF32,
    shell_pose: Pose,
    /// Upper bound of the rounding of positions and of V, metres.
    slack: f32,
    meter: Meter,
    /// δ.
    deepest: f32,
}

/// Runs a pointshell against a voxelmap at two poses, body to world (Sagardia et al. 2014, section 2.3, algorithm 1).
/// The manifold is left in the workspace.
///
/// Clusters are visited in breadth-first order. A sphere collides when V can be 0 or more within it: by a bound that is
/// proven for the map, where the paper's line 13 compares V of the centre with the radius. (As printed it lacks a sign:
/// V is positive inside.) The parent point of a colliding cluster is tested once, whichever levels it represents, and all
/// points of a colliding leaf. Forces and torques follow equations 2 and 3; line 20 as printed crosses the sum of the
/// forces. Samples beyond the voxels' box are never in contact. When none is, δ is the largest V of all samples: minus the
/// separation (section 2.2), found by branch and bound; line 40 gives a bound of it.
///
/// Any sample that the search leaves out has V ≤ [`VoxelAnswer::most`]. Without a time limit the same input gives the same
/// bytes.
pub fn voxel_query(
    map: &Voxelmap,
    map_pose: &Pose,
    shell: &PointShell,
    shell_pose: &Pose,
    query: &VoxelQuery,
    workspace: &mut VoxelWorkspace,
) -> VoxelAnswer {
    let mut search = Search::new(map, map_pose, shell, shell_pose, query);
    workspace.begin(shell.len());
    let mut answer = search.contacts(workspace);
    if workspace.manifold.is_empty() && query.distance && answer.completeness != Completeness::Partial {
        search.nearest(&mut answer, workspace);
    }
    answer.penetration = search.deepest.into();
    answer.most = answer.most.max(answer.penetration);
    (answer.node_tests, answer.sample_tests) = (search.meter.node_tests, search.meter.sample_tests);
    let deepest_first =
        |a: &VoxelContact, b: &VoxelContact| b.penetration.total_cmp(&a.penetration).then(a.sample.cmp(&b.sample));
    workspace.manifold.sort_unstable_by(deepest_first);
    answer.wrench = search.wrench(query, &workspace.manifold);
    answer
}

impl VoxelWorkspace {
    fn begin(&mut self, samples: usize) {
        self.manifold.clear();
        self.levels.iter_mut().for_each(Vec::clear);
        self.heap.clear();
        let words = samples.div_ceil(64);
        if self.checked.len() < words {
            self.checked.resize_guarded(words, 0);
        }
        self.checked[..words].fill(0);
    }
}

impl<'a> Search<'a> {
    fn new(map: &'a Voxelmap, map_pose: &Pose, shell: &'a PointShell, shell_pose: &Pose, query: &VoxelQuery) -> Self {
        let relative = map_pose.inv_mul(shell_pose);
        let to_grid = RigidF32::between(&relative, &shell.origin, &map.grid().center());
        let tree = &shell.tree;
        let size = |v: [f32; 3]| v.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
        let nodes = map.grid().nodes();
        let of_shell = size([tree.cx[0], tree.cy[0], tree.cz[0]]) + tree.radius[0];
        let reach = size(to_grid.t) + of_shell + size(nodes.min).max(size(nodes.max()));
        Self {
            map,
            shell,
            rule: query.rule,
            max_level: query.max_level,
            to_grid,
            shell_pose: *shell_pose,
            // Twenty roundings of coordinates up to `reach`, and those of V within a voxel.
            slack: 20.0 * f32::EPSILON * reach + 1e-4 * map.grid().voxel_size(),
            meter: Meter {
                tests: query.tests,
                nanoseconds: query.nanoseconds,
                start: (query.nanoseconds != u64::MAX).then(Instant::now),
                opened: 0,
                node_tests: 0,
                sample_tests: 0,
            },
            deepest: f32::NEG_INFINITY,
        }
    }

    /// Tests the sphere of a node.
    fn sphere(&mut self, index: u32) -> Node {
        self.meter.node_tests += 1;
        let (tree, i) = (&self.shell.tree, index as usize);
        let center = self.to_grid.point([tree.cx[i], tree.cy[i], tree.cz[i]]);
        Node { index, most: self.map.bound(self.rule, center, tree.radius[i], self.slack) }
    }

    /// Tests a sample, unless it was tested before: adds it to the manifold when it is in contact, and updates δ.
    fn sample(&mut self, sample: u32, checked: &mut [u64], manifold: &mut Vec<VoxelContact>) {
        let (word, bit) = (&mut checked[sample as usize / 64], 1 << (sample % 64));
        if *word & bit != 0 {
            return;
        }
        *word |= bit;
        self.meter.sample_tests += 1;
        let i = sample as usize;
        let p = self.to_grid.point(self.shell.point(i));
        let outward = self.shell.normal(i);
        let r = &self.to_grid.r;
        let inward = [0, 1, 2].map(|k| -((r[k][0] * outward[0] + r[k][1] * outward[1]) + r[k][2] * outward[2]));
        let v = self.map.penetration(self.rule, p, inward);
        self.deepest = self.deepest.max(v);
        if v >= 0.0 {
            let normal = self.shell_pose.rotation * -Vec3::from(outward.map(f64::from));
            let point = self.shell_pose.transform_point(&self.shell.position(i).into()).coords;
            manifold.push_guarded(VoxelContact { point, normal, penetration: v.into(), sample });
        }
    }

    /// Tests the parent point of a node, and the other points of a leaf. Returns false for an inner node that is not to be
    /// opened further, though it stands for more than its parent point.
    fn points(&mut self, node: u32, depth: u32, checked: &mut [u64], manifold: &mut Vec<VoxelContact>) -> bool {
        let (tree, i) = (&self.shell.tree, node as usize);
        self.sample(tree.representative[i], checked, manifold);
        if depth >= self.max_level {
            return tree.sample_count[i] == 1;
        }
        if tree.child_count[i] == 0 {
            let first = tree.first_sample[i];
            (first..first + tree.sample_count[i]).for_each(|sample| self.sample(sample, checked, manifold));
        }
        true
    }

    /// Returns the children of a node that are to be visited after it.
    fn children(&self, node: u32, depth: u32) -> std::ops::Range<u32> {
        let (tree, i) = (&self.shell.tree, node as usize);
        match tree.child_count[i] {
            count if count > 0 && depth < self.max_level => tree.first_child[i]..tree.first_child[i] + count,
            _ => 0..0,
        }
    }

    /// Lines 10 to 40 of the algorithm, level by level.
    fn contacts(&mut self, workspace: &mut VoxelWorkspace) -> VoxelAnswer {
        let VoxelWorkspace { manifold, levels: [level, next], checked, .. } = workspace;
        let mut answer = VoxelAnswer {
            wrench: Wrench::ZERO,
            penetration: f64::NEG_INFINITY,
            most: f64::NEG_INFINITY,
            completeness: Completeness::Complete,
            levels: 0,
            node_tests: 0,
            sample_tests: 0,
        };
        let mut missed = f32::NEG_INFINITY;
        // The parent point of the root is tested in any case, so that δ is a number.
        self.sample(self.shell.tree.representative[0], checked, manifold);
        let root = self.sphere(0);
        if root.most >= 0.0 {
            level.push_guarded(root);
        } else {
            missed = root.most;
        }
        'levels: while !level.is_empty() {
            for (at, node) in level.iter().enumerate() {
                if self.meter.opens() {
                    answer.completeness = Completeness::Partial;
                    missed = level[at..].iter().chain(next.iter()).fold(missed, |most, node| most.max(node.most));
                    break 'levels;
                }
                if !self.points(node.index, answer.levels, checked, manifold) {
                    answer.completeness = Completeness::Coarse;
                    missed = missed.max(node.most);
                }
                for child in self.children(node.index, answer.levels) {
                    let child = self.sphere(child);
                    if child.most >= 0.0 {
                        next.push_guarded(child);
                    } else {
                        missed = missed.max(child.most);
                    }
                }
            }
            std::mem::swap(level, next);
            next.clear();
            answer.levels += 1;
        }
        answer.most = missed.into();
        answer
    }

    /// Finds the largest V of all samples, none of which is in contact: opens the sphere with the largest bound until no
    /// bound is above the largest V found.
    fn nearest(&mut self, answer: &mut VoxelAnswer, workspace: &mut VoxelWorkspace) {
        let VoxelWorkspace { manifold, heap, checked, .. } = workspace;
        let mut missed = f32::NEG_INFINITY;
        heap.reserve_guarded(self.shell.tree.node_count());
        heap.push_guarded(self.sphere(0));
        while let Some(node) = heap.pop() {
            if node.most <= self.deepest {
                break;
            }
            if self.meter.opens() {
                answer.completeness = Completeness::Partial;
                missed = missed.max(node.most);
                break;
            }
            let depth = self.depth(node.index);
            if !self.points(node.index, depth, checked, manifold) {
                answer.completeness = Completeness::Coarse;
                missed = missed.max(node.most);
            }
            for child in self.children(node.index, depth) {
                let child = self.sphere(child);
                if child.most > self.deepest {
                    heap.push_guarded(child);
                }
            }
        }
        answer.most = missed.into();
    }

    /// Returns the level of a node.
    fn depth(&self, node: u32) -> u32 {
        self.shell.tree.levels.partition_point(|&first| first <= node) as u32 - 1
    }

    /// Equations 2 and 3 over the manifold.
    fn wrench(&self, query: &VoxelQuery, manifold: &[VoxelContact]) -> Wrench {
        let center = self.shell_pose.transform_point(&query.center.into()).coords;
        let mut sum = Wrench::ZERO;
        for contact in manifold {
            let force = contact.normal * (query.stiffness * contact.penetration);
            sum += Wrench::of_force(force, &(contact.point - center));
        }
        let share = match manifold.len() {
            count if count > query.average_from as usize => f64::from(query.average_from) / count as f64,
            _ => 1.0,
        };
        Wrench { force: sum.force * share, torque: sum.torque * share }
    }
}
