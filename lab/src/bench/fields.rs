//! `voxshell-lab bench fields`: cooking, error, sampling and loading of fields, dense and in bricks, compared with
//! parry3d's projection of every node and with OpenVDB's narrow bands.
//!
//! The mesh is 1 m large in a box 1.5 times that, cut into N cells along its largest edge: `…/N`. Times are the minimum
//! of several runs, of one thread's clock unless the row says otherwise; runs of the peers alternate with ours.

use std::hint::black_box;

use voxshell::asset::{Shape, Store};
use voxshell::cook::FieldOptions;
use voxshell::field::{BrickField, DenseField, Field, Grid, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{Bvh, TriMesh};
use voxshell::{Error, Result};

use super::parry::{self, Parry};
use super::peers::{Files, Peer, Program};
use super::progress::Steps;
use super::random::Random;
use super::{stages, Setup};
use voxshell_lab::clock::{of_process, of_thread, of_wall, on, Clock, Run};
use voxshell_lab::row::Row;

/// Number of nodes at which the error is measured.
const NODES: usize = 2000;
/// Number of nodes that parry projects: whole rows of the grid in order, the order in which a grid would be filled.
const PROJECTED: usize = 40_000;

pub fn options(cells: u32) -> FieldOptions {
    FieldOptions { padding_voxels: cells / 6, ..FieldOptions::new(1.5 / f64::from(cells)) }
}

/// Target times: of a full grid, for the bunny with 1,550 triangles, and for the one with 69,674 or another mesh as fine;
/// of bricks, for meshes of about 90,000 triangles and of a million.
struct Targets {
    triangles: usize,
}

impl Targets {
    /// Returns the target of a dense field, seconds.
    fn dense(&self, cells: u32) -> Option<f64> {
        let [coarse, fine] = match cells {
            128 => [0.06, 0.6],
            256 => [0.28, 1.5],
            512 => [1.5, 4.5],
            _ => return None,
        };
        Some(if self.is_fine() { fine } else { coarse })
    }

    fn is_fine(&self) -> bool {
        self.triangles > 5_000
    }

    /// Returns the target of bricks on one thread, seconds.
    fn bricks(&self, cells: u32) -> Option<f64> {
        match cells {
            _ if !(50_000..200_000).contains(&self.triangles) => None,
            128 => Some(0.1),
            512 => Some(0.35),
            _ => None,
        }
    }

    /// Returns the target ratio to OpenVDB's time.
    fn over_openvdb(&self) -> f64 {
        1.0 / if self.is_fine() { 4.0 } else { 9.0 }
    }

    /// Returns the targets of bricks on two threads: seconds, and peak memory in MB.
    fn on_two_threads(&self, cells: u32, open: bool) -> [Option<f64>; 2] {
        let targets = match open {
            true => [3.0, 200.0],
            false if self.triangles > 500_000 => [2.0, 500.0],
            false => [2.0, 150.0],
        };
        targets.map(|target| (cells == 1024).then_some(target))
    }
}

/// Data that all rows are measured with.
struct Bench<'a> {
    mesh: &'a TriMesh,
    /// Hierarchy for exact distances.
    bvh: Bvh,
    targets: Targets,
    parry: Option<Parry>,
    openvdb: Option<Program>,
    files: Files,
    clock: Clock,
    /// Memory of this process before anything is cooked, bytes.
    held: Option<f64>,
    rows: Vec<Row>,
}

pub fn rows(mesh: &TriMesh, setup: &Setup) -> Result<Vec<Row>> {
    let resolutions = setup.resolutions(&[128, 256, 512, 1024]);
    let Some((&largest, others)) = resolutions.split_last() else { return Ok(Vec::new()) };
    let steps = Steps::new(3 * others.len() + 2);
    let files = Files::new(mesh)?;
    let mut openvdb = setup.program(Peer::Openvdb, &files)?;
    if let Some(openvdb) = &mut openvdb {
        openvdb.ask("mesh vertices triangles")?;
    }
    let mut bench = Bench {
        mesh,
        bvh: Bvh::build(mesh),
        targets: Targets { triangles: mesh.triangles.len() },
        parry: setup.wants(Peer::Parry).then(|| Parry::new(mesh)).flatten(),
        openvdb,
        files,
        clock: setup.clock,
        held: None,
        rows: Vec::new(),
    };
    // Measured first, while the allocator holds no freed memory that would hide part of the peak.
    steps.next(&format!("bricks/{largest}"));
    bench.held = status("VmRSS");
    bench.largest(largest)?;
    if let Some(open) = without_bottom(mesh) {
        bench.on_two_threads(&open, largest, "cook_open")?;
    }
    let of_largest = std::mem::take(&mut bench.rows);
    for &cells in others {
        steps.next(&format!("cook_dense/{cells}"));
        let dense = bench.dense(cells)?;
        steps.next(&format!("cook_bricks/{cells}"));
        let bricks = bench.bricks(cells)?;
        if Some(&cells) == others.last() {
            steps.next(&format!("sample/{cells}"));
            bench.sampling(cells, &dense, &bricks)?;
        }
    }
    bench.rows.extend(of_largest);
    Ok(bench.rows)
}

/// Returns a line of /proc/self/status in bytes; `None` on systems other than Linux.
fn status(key: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kb| kb * 1024.0)
}

impl Bench<'_> {
    fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Measures the exact distances of all nodes, and parry's projection of each.
    fn dense(&mut self, cells: u32) -> Result<DenseField> {
        let (mesh, options) = (self.mesh, options(cells));
        let cook = || voxshell::cook::dense_field(mesh, &options, &Progress::none());
        let (seconds, field, projection) = match &self.parry {
            None => self.clock.cook(cook).map(|(seconds, field)| (seconds, field, None))?,
            Some(parry) => {
                // Cooks for the grid, whose nodes the peer projects.
                let (grid, center) = cook().map(|field| (*field.grid(), field.center()))?;
                let rows_of_nodes = PROJECTED.div_ceil(grid.dims[0] as usize);
                let mut random = Random::new(11);
                let starts: Vec<[u32; 2]> =
                    (0..rows_of_nodes).map(|_| [random.below(grid.dims[1]), random.below(grid.dims[2])]).collect();
                let projected = rows_of_nodes * grid.dims[0] as usize;
                let mut project = || {
                    let (seconds, sum) = of_thread(|| {
                        let nodes = starts.iter().flat_map(|&[j, k]| (0..grid.dims[0]).map(move |i| [i, j, k]));
                        nodes.map(|[i, j, k]| parry.distance(in_mesh(grid.node(i, j, k), center))).sum::<f32>()
                    });
                    black_box(sum);
                    Ok(seconds * (grid.len() as f64 / projected as f64))
                };
                let (seconds, theirs, field) = self.clock.cook_beside(cook, Some(&mut project))?;
                (seconds, field, Some((theirs, projected)))
            }
        };
        let (grid, center) = (*field.grid(), field.center());
        let target = self.targets.dense(cells);
        let row = Row::timed(format!("fields/cook_dense/{cells}"), seconds).target(target).with("nodes", grid.len());
        let stages = stages::of(|progress| voxshell::cook::dense_field(mesh, &options, progress))?;
        self.push(row.with("stages_s", stages));

        let near = self.near(&grid, center);
        let errors = near.errors(|n| field.distance(near.nodes[n].1));
        let mut rows = errors.rows("dense", cells, 1e-5, field.sign().closed);
        if let (Some(parry), Some((theirs, projected))) = (&self.parry, projection) {
            let name = format!("fields/cook_dense/{cells}/over_parry");
            let row = Row::timed_ratio(name, seconds, &format!("{} project_local_point", parry::NAME), theirs);
            self.rows.push(row.target(1.0 / 60.0).with("peer_nodes", projected));
            let theirs = near.errors(|n| parry.distance(in_mesh(near.nodes[n].1, center)));
            rows = theirs.beside(rows, parry::NAME);
        }
        self.rows.extend(rows);
        Ok(field)
    }

    /// Measures the quantised narrow band, and OpenVDB's.
    fn bricks(&mut self, cells: u32) -> Result<BrickField> {
        let (mesh, options) = (self.mesh, options(cells));
        let command = format!("volume 1 {} 0 0 0", options.voxel_size);
        let mut volume = self.openvdb.as_mut().map(|openvdb| || openvdb.ask_number(&command, "cpu"));
        let cook = || voxshell::cook::brick_field(mesh, &options, &Progress::none());
        let (seconds, theirs, field) = self.clock.cook_beside(cook, volume.as_mut().map(|run| run as Run))?;
        let stages = stages::of(|progress| voxshell::cook::brick_field(mesh, &options, progress))?;
        let row = Row::timed(format!("fields/cook_bricks/{cells}"), seconds).target(self.targets.bricks(cells));
        self.push(row.with("stages_s", stages));
        if let Some(openvdb) = &self.openvdb {
            let name = format!("fields/cook_bricks/{cells}/over_openvdb");
            let row = Row::timed_ratio(name, seconds, &format!("{} meshToVolume", openvdb.name), theirs);
            self.push(row.target(self.targets.over_openvdb()));
        }
        self.errors_of_bricks(cells, &field)?;
        Ok(field)
    }

    fn errors_of_bricks(&mut self, cells: u32, field: &BrickField) -> Result<()> {
        let (grid, center) = (field.grid(), field.center());
        let near = self.near(grid, center);
        let errors = near.errors(|n| field.distance(near.nodes[n].1));
        let mut rows = errors.rows("bricks", cells, 1e-3, field.sign().closed);
        if let Some(openvdb) = &mut self.openvdb {
            // Runs the peer again, with its nodes at ours.
            let corner = in_mesh(grid.min, center);
            openvdb.ask(&format!("volume 1 {} {} {} {}", grid.spacing, corner[0], corner[1], corner[2]))?;
            self.files.write_nodes(&near.nodes.iter().map(|n| n.0).collect::<Vec<_>>())?;
            openvdb.ask("values nodes values")?;
            let values = self.files.read_values()?;
            rows = near.errors(|n| values[n]).beside(rows, &openvdb.name);
        }
        self.rows.extend(rows);
        Ok(())
    }

    /// Measures bricks on two threads: the elapsed time, and the memory above the amount before cooking.
    fn on_two_threads(&mut self, mesh: &TriMesh, cells: u32, name: &str) -> Result<BrickField> {
        let options = options(cells);
        let targets = self.targets.on_two_threads(cells, name == "cook_open");
        // Resets the peak; other systems than Linux have no such row.
        let before = std::fs::write("/proc/self/clear_refs", "5").ok().and(self.held);
        let (mut cooked, mut computed) = (None, f64::INFINITY);
        let mut ours = || {
            drop(cooked.take());
            let start = of_process();
            let (seconds, field) =
                on(2, || of_wall(|| voxshell::cook::brick_field(mesh, &options, &Progress::none())))?;
            cooked = Some(field?);
            computed = computed.min(of_process() - start);
            Ok(seconds)
        };
        let [seconds] = self.clock.in_turns([&mut ours])?;
        let row = Row::timed(format!("fields/{name}/{cells}/2_threads"), seconds).target(targets[0]);
        // Time of both threads together: less than twice the row's time if other processes used the machine.
        self.push(row.with("computed_s", computed));
        if let (Some(before), Some(peak)) = (before, status("VmHWM")) {
            let row = Row::new(format!("fields/{name}/{cells}/peak"), (peak - before) * 1e-6, "MB");
            self.push(row.target(targets[1]));
        }
        cooked.ok_or_else(|| Error::Unsupported("nothing was cooked".into()))
    }

    /// Measures bricks at the finest resolution: time, memory, file, loading.
    fn largest(&mut self, cells: u32) -> Result<()> {
        let (mesh, options) = (self.mesh, options(cells));
        let at_1024 = |target: f64| (cells == 1024).then_some(target);
        let field = self.on_two_threads(mesh, cells, "cook_bricks")?;
        let mut memory = Row::new(format!("fields/bricks/{cells}/memory"), field.bytes() as f64 * 1e-6, "MB");
        if let Some(openvdb) = &mut self.openvdb {
            let bytes = openvdb.ask_number(&format!("volume 2 {} 0 0 0", options.voxel_size), "bytes")?;
            memory = memory.peer(&openvdb.name, bytes * 1e-6);
        }
        self.push(memory.target(at_1024(60.0)));
        // The same surface and voxels without the empty space, for which the distance to the box is the answer.
        let tight = voxshell::cook::brick_field(mesh, &FieldOptions::new(options.voxel_size), &Progress::none())?;
        let row = Row::new(format!("fields/bricks/{cells}/memory_4_cells_around"), tight.bytes() as f64 * 1e-6, "MB");
        self.push(row.target(at_1024(60.0)));
        self.errors_of_bricks(cells, &field)?;

        let folder = tempfile::tempdir().map_err(|source| Error::Io { path: std::env::temp_dir(), source })?;
        let path = folder.path().join("bricks.vxs");
        let shape = Shape::from_field(Field::Bricks(field));
        for (kind, store) in [("", Store::Raw), ("_compressed", Store::Compressed)] {
            shape.save_as(&path, store)?;
            let size = std::fs::metadata(&path).map_err(|source| Error::Io { path: path.clone(), source })?.len();
            self.push(Row::new(format!("fields/bricks/{cells}/file{kind}"), size as f64 * 1e-6, "MB"));
            let mut load = || {
                let (seconds, shape) = of_wall(|| Shape::load(&path));
                shape.map(|_| seconds)
            };
            let [seconds] = self.clock.in_turns([&mut load])?;
            let row = Row::new(format!("fields/bricks/{cells}/load{kind}"), seconds.least * 1e3, "ms")
                .with("spread", seconds.spread());
            self.push(if store == Store::Raw { row.target(at_1024(50.0)) } else { row });
        }
        Ok(())
    }

    /// Returns nodes of the grid within three voxels of the surface.
    fn near(&self, grid: &Grid, center: Vec3) -> NearNodes {
        let h = f64::from(grid.spacing);
        let mut random = Random::new(7);
        let mut near = NearNodes { spacing: h, nodes: Vec::with_capacity(NODES) };
        while near.nodes.len() < NODES {
            let p = near_surface(self.mesh, 3.0 * h, &mut random) - center;
            let at: [u32; 3] = std::array::from_fn(|a| {
                let t = (p[a] - f64::from(grid.min[a])) / h;
                t.round().clamp(0.0, f64::from(grid.dims[a] - 1)) as u32
            });
            let node = grid.node(at[0], at[1], at[2]);
            let exact = self.bvh.signed_distance(Vec3::from(node.map(f64::from)) + center);
            if exact.abs() <= 3.0 * h {
                near.nodes.push((at, node, exact));
            }
        }
        near
    }

    /// Measures φ in batches of eight and φ with gradient one by one, at points of the band, and the ratio of bricks to
    /// a dense grid.
    fn sampling(&mut self, cells: u32, dense: &DenseField, bricks: &BrickField) -> Result<()> {
        let reach = 2.0 * f64::from(dense.grid().spacing);
        let mut random = Random::new(3);
        // A few points repeatedly, and more points than any cache holds in random order.
        let many = (8 * cells * cells).min(2_000_000) as usize;
        for (name, count, repeats, target) in [("warm", 4096, many / 2048, 1.3), ("cold", many, 1, 1.0)] {
            let points: Vec<Vec3> =
                (0..count).map(|_| near_surface(self.mesh, reach, &mut random) - dense.center()).collect();
            let axis = |a: usize| points.iter().map(|p| p[a] as f32).collect::<Vec<f32>>();
            let (points, calls) = ([axis(0), axis(1), axis(2)], (repeats * count) as f64);
            for (what, gradient) in [("distance", false), ("gradient", true)] {
                let mut full = || Ok(seconds_of(dense, &points, repeats, gradient));
                let mut sparse = || Ok(seconds_of(bricks, &points, repeats, gradient));
                let [full, sparse] = self.clock.in_turns([&mut full, &mut sparse])?.map(|timing| timing.least);
                let row = Row::new(format!("fields/sample_{what}/{cells}/{name}"), sparse / full, "ratio");
                let row = row.with("bricks_ns", sparse / calls * 1e9).with("dense_ns", full / calls * 1e9);
                self.push(row.target((cells == 512).then_some(target)));
            }
        }
        Ok(())
    }
}

/// Returns the mesh without its lowest twentieth, as a scan without the standing surface. `None` if nothing or
/// everything is removed.
fn without_bottom(mesh: &TriMesh) -> Option<TriMesh> {
    let bounds = mesh.bounds();
    let height = bounds.min.y + 0.05 * (bounds.max.y - bounds.min.y);
    let above = |t: &usize| mesh.corners(*t).iter().any(|c| c[1] > height);
    let kept: Vec<[u32; 3]> = (0..mesh.triangles.len()).filter(above).map(|t| mesh.triangles[t]).collect();
    let some = kept.len() < mesh.triangles.len();
    some.then(|| TriMesh::new(mesh.vertices.clone(), kept).ok()).flatten()
}

/// Converts a point from the field's frame to the mesh's.
fn in_mesh(p: [f32; 3], center: Vec3) -> [f32; 3] {
    std::array::from_fn(|a| (f64::from(p[a]) + center[a]) as f32)
}

/// Returns a random point within `reach` of the surface along each axis, frame of the mesh.
fn near_surface(mesh: &TriMesh, reach: f64, random: &mut Random) -> Vec3 {
    let [a, b, c] = mesh.corners(random.below(mesh.triangles.len() as u32) as usize).map(Vec3::from);
    let (s, u) = (random.next().sqrt(), random.next());
    let on = a * (1.0 - s) + b * (s * (1.0 - u)) + c * (s * u);
    on + Vec3::new(random.next() - 0.5, random.next() - 0.5, random.next() - 0.5) * (2.0 * reach)
}

/// Nodes, their positions in the field's frame, and the exact signed distances there in f64.
struct NearNodes {
    spacing: f64,
    nodes: Vec<([u32; 3], [f32; 3], f64)>,
}

/// Largest error in voxels, and the number of nodes with the wrong sign.
struct Errors {
    largest: f64,
    wrong: usize,
}

impl NearNodes {
    /// Returns the errors of a field with the given values at the nodes.
    fn errors(&self, value: impl Fn(usize) -> f32) -> Errors {
        let mut errors = Errors { largest: 0.0, wrong: 0 };
        for (n, &(_, _, exact)) in self.nodes.iter().enumerate() {
            let phi = f64::from(value(n));
            errors.largest = errors.largest.max((phi - exact).abs() / self.spacing);
            // Values below a micrometre may be rounded to zero.
            errors.wrong += usize::from(exact.abs() > 1e-6 && phi * exact < 0.0);
        }
        errors
    }
}

impl Errors {
    fn rows(&self, storage: &str, cells: u32, target: f64, closed: bool) -> [Row; 2] {
        [
            Row::new(format!("fields/error_{storage}/{cells}"), self.largest, "voxel").target(target),
            // The sign of an open mesh is undefined near its holes.
            Row::new(format!("fields/wrong_signs_{storage}/{cells}"), self.wrong as f64, "nodes")
                .target(closed.then_some(0.0)),
        ]
    }

    /// Returns these errors as a peer's in the rows.
    fn beside(&self, [error, wrong]: [Row; 2], peer: &str) -> [Row; 2] {
        [error.peer(peer, self.largest), wrong.peer(peer, self.wrong as f64)]
    }
}

/// Returns the seconds of sampling on this thread.
fn seconds_of(field: &impl SignedDistance, [x, y, z]: &[Vec<f32>; 3], repeats: usize, gradient: bool) -> f64 {
    let mut out = [0.0f32; 8];
    let (seconds, ()) = of_thread(|| {
        for _ in 0..repeats {
            if gradient {
                for ((x, y), z) in x.iter().zip(y).zip(z) {
                    black_box(field.distance_gradient([*x, *y, *z]));
                }
            } else {
                for ((x, y), z) in x.chunks_exact(8).zip(y.chunks_exact(8)).zip(z.chunks_exact(8)) {
                    field.distance_batch(x, y, z, &mut out);
                    black_box(&out);
                }
            }
        }
    });
    seconds
}
