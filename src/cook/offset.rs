//! Offset surfaces: a soup of any kind becomes a solid that contains all points within a distance σ of it.
//!
//! After Xu & Barbič 2014 ("Signed Distance Fields for Polygon Soup Meshes"): the level σ of the unsigned distance d
//! has no holes, even if the soup has. Points that can be reached from the border of the grid without coming within σ
//! are outside; the rest is inside, including closed cavities. Then no wall of the soup is thinner than 2 σ, so that
//! no edge of a cell, which is shorter than σ, passes through it.
//!
//! Outside, φ is d − σ. Inside, d − σ is not the distance to the outer surface: beyond a wall d rises again. So the
//! outer surface is triangulated, with a corner in each cell that it passes (surface nets, Gibson 1998). With g the
//! signed distance to these triangles, φ is d − σ clamped to within a cell of g. None of the three is steeper than
//! one, and neither is φ.

use rayon::prelude::*;

use super::cull::{Band, Culler};
use super::lattice::Lattice;
use super::layout::{near_at_most, Layout};
use super::measure::{self, Near};
use super::options::FieldOptions;
use super::tiles::{Tiles, TILE};
use voxshell_base::math::{Progress, Vec3};
use voxshell_base::memory::{concat, filled, GrowGuarded, ParCollectGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::brick::{bricks_of, place_of, Draft, FineBricks, BAND, CELLS, NODES, STRIDE, VOLUME};
use voxshell_field::sign::Sides;
use voxshell_field::{BrickField, DenseField, Grid};
use voxshell_field::{Decided, FieldError, SignReport, SignRule};
use voxshell_mesh::{Bvh, TriMesh};

/// Largest difference between the distance of a brick's node and the level, cells: the band, the deviation of the
/// triangles from the level, a brick's diagonal, and a margin for rounding.
const RANGE: f64 = 19.5;
/// Half the width of the band in which bricks of the soup are needed, cells.
const WIDTH: f64 = 5.0;

/// The outer surface at a distance from a soup.
struct Outer {
    bricks: [u32; 3],
    /// Nodes that are outside.
    reached: Tiles,
    /// Triangles of the surface, lattice frame and units.
    corners: Vec<[[f64; 3]; 3]>,
    /// d at bricks' corners, metres.
    coarse: Vec<f32>,
    /// d in quanta, in bricks that the level may pass.
    fine: FineBricks,
    /// For each brick its index among those.
    slot: Vec<u32>,
    /// Quantum, metres.
    quantum: f32,
    /// σ in quanta.
    level: i32,
}

const NONE: u32 = u32::MAX;

/// Returns d − σ clamped to within `slack` of g.
fn between<T: PartialOrd + Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T>>(f: T, g: T, slack: T) -> T {
    if f < g - slack {
        g - slack
    } else if f > g + slack {
        g + slack
    } else {
        f
    }
}

impl Outer {
    /// Computes the outer surface. `all`: the grid with a multiple of eight cells along each axis.
    fn new(
        mesh: &TriMesh,
        all: &Grid,
        center: Vec3,
        lattice: &Lattice,
        options: &FieldOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let bricks = bricks_of(all);
        let corners = lattice.corners(&mesh.without_repeats(), center);
        let cells = options.offset / f64::from(all.spacing);
        check_memory(all, near_at_most(lattice, &corners, bricks, cells + WIDTH), mesh.triangles.len(), 0, options)?;
        let culler = Culler::new(&corners);
        drop(corners);
        let mut coarse = filled(0.0f32, bricks.iter().map(|&n| n as usize + 1).product());
        culler.fill(&lattice.every(CELLS), &mut coarse, progress)?;
        let quantum = (cells + RANGE) / 32_767.0;
        let level = (cells / quantum).round() as i32;
        let band = Band {
            width: ((cells + WIDTH) * lattice.spacing) as f32,
            quantum: (quantum * lattice.spacing) as f32,
            bricks,
        };
        let (fine, _) = culler.near(lattice, band, progress)?;
        drop(culler);
        let mut slot = filled(NONE, bricks.iter().map(|&n| n as usize).product());
        (0..).zip(&fine.bricks).for_each(|(n, &brick)| slot[brick as usize] = n);
        let quantum = (quantum * f64::from(all.spacing)) as f32;
        let reached = Tiles::uniform(all.dims, |_| false);
        let mut outer = Self { bricks, reached, corners: Vec::new(), coarse, fine, slot, quantum, level };
        progress.report("sign", 0.0)?;
        outer.flood(all);
        outer.corners = outer.surface(lattice);
        Ok(outer)
    }

    /// Returns d − σ at a node of a brick with samples, quanta.
    fn above(&self, node: [u32; 3]) -> Option<i32> {
        let at = [0, 1, 2].map(|k| (node[k] / CELLS).min(self.bricks[k] - 1));
        let [nx, ny, _] = self.bricks.map(|n| n as usize);
        let slot = self.slot[(at[2] as usize * ny + at[1] as usize) * nx + at[0] as usize];
        let [x, y, z] = [0, 1, 2].map(|k| node[k] - at[k] * CELLS);
        let n = ((z * NODES + y) * NODES + x) as usize;
        (slot != NONE).then(|| i32::from(self.fine.samples[slot as usize * STRIDE + n]) - self.level)
    }

    /// Returns the nodes that are farther than σ; nodes on the border of the grid always count.
    fn open(&self, all: &Grid) -> Tiles {
        let sigma = self.level as f32 * self.quantum;
        let last = all.dims.map(|n| n - 1);
        // A brick without samples is entirely on one side of the level, as is its corner.
        let mut open = Tiles::uniform(all.dims, |tile| self.coarse[tile] > sigma);
        for &brick in &self.fine.bricks {
            let place = place_of(brick as usize, self.bricks);
            let bits = [0, 1, 2, 3, 4, 5, 6, 7].map(|z| {
                let is_open = |n: u32| {
                    let local = [n % TILE, n / TILE, z];
                    let node = [0, 1, 2].map(|k| place[k] * TILE + local[k]);
                    (0..3).any(|k| node[k] == 0 || node[k] == last[k]) || self.above(node).is_some_and(|f| f > 0)
                };
                (0..64).filter(|&n| is_open(n)).fold(0, |word, n| word | 1 << n)
            });
            if let Some(tile) = open.tile(place.map(i64::from)) {
                open.set_bits(tile, bits);
            }
        }
        for tile in 0..open.len() {
            if (0..3).any(|k| open.place(tile)[k] == self.bricks[k]) {
                open.set_one(tile, true);
            }
        }
        open
    }

    /// Finds the nodes that can be reached from the border of the grid along edges between open nodes.
    fn flood(&mut self, all: &Grid) {
        let open = self.open(all);
        let reached = &mut self.reached;
        let mut work = Vec::new();
        for tile in 0..open.len() {
            let place = open.place(tile);
            if (0..3).any(|k| place[k] == self.bricks[k]) {
                reached.set_one(tile, true);
                work.push_guarded(tile);
            } else if place.contains(&0) {
                // Rows and columns on the border.
                let rows = if place[1] == 0 { 0xff } else { 0 };
                let columns = if place[0] == 0 { 0x0101_0101_0101_0101 } else { 0 };
                let mut bits = open.bits(tile).map(|word| word & (rows | columns));
                if place[2] == 0 {
                    bits[0] = open.bits(tile)[0];
                }
                reached.set_bits(tile, bits);
                work.push_guarded(tile);
            }
        }
        while let Some(tile) = work.pop() {
            let grown = grow(reached.bits(tile), open.bits(tile));
            match open.one_value(tile) {
                Some(value) => reached.set_one(tile, value),
                None => reached.set_bits(tile, grown),
            }
            for (other, bits) in open.beside(tile, grown) {
                let (free, known) = (open.bits(other), reached.bits(other));
                let more: [u64; 8] = std::array::from_fn(|z| bits[z] & free[z] | known[z]);
                if more != known {
                    match open.one_value(other) {
                        Some(value) => reached.set_one(other, value),
                        None => reached.set_bits(other, more),
                    }
                    work.push_guarded(other);
                }
            }
        }
    }

    /// Returns two triangles for each edge of the grid that leaves the outside.
    fn surface(&self, lattice: &Lattice) -> Vec<[[f64; 3]; 3]> {
        let found: Vec<Vec<[[f64; 3]; 3]>> = self
            .fine
            .bricks
            .par_iter()
            .map(|&brick| {
                let first = place_of(brick as usize, self.bricks).map(|i| i * CELLS);
                let mut out = Vec::new();
                for n in 0..CELLS * CELLS * CELLS {
                    let local = [n % CELLS, n / CELLS % CELLS, n / (CELLS * CELLS)];
                    let node = [0, 1, 2].map(|k| first[k] + local[k]);
                    let here = self.reached.get(node);
                    for axis in 0..3 {
                        let mut next = node;
                        next[axis] += 1;
                        if self.reached.get(next) == here {
                            continue;
                        }
                        // Nodes on the border are all outside: the edge is inside the grid, and has four cells around it.
                        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                        let corner = |back: [u32; 2]| {
                            let mut cell = node;
                            cell[u] -= back[0];
                            cell[v] -= back[1];
                            self.corner_in(cell, lattice)
                        };
                        let [a, b, c, d] = [[1, 1], [0, 1], [0, 0], [1, 0]].map(corner);
                        // Wound to face the outside.
                        out.extend_guarded(if here { [[a, c, b], [a, d, c]] } else { [[a, b, c], [a, c, d]] });
                    }
                }
                out
            })
            .collect_guarded();
        concat(found)
    }

    /// Returns the mean of the points where the level passes a cell's edges, lattice units.
    fn corner_in(&self, cell: [u32; 3], lattice: &Lattice) -> [f64; 3] {
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for axis in 0..3 {
            for o in 0..4 {
                let mut a = cell;
                a[(axis + 1) % 3] += o & 1;
                a[(axis + 2) % 3] += o >> 1;
                let mut b = a;
                b[axis] += 1;
                if self.reached.get(a) == self.reached.get(b) {
                    continue;
                }
                let f = |node| f64::from(self.above(node).unwrap_or(0));
                let (fa, fb) = (f(a), f(b));
                let s = if fa == fb { 0.5 } else { (fa / (fa - fb)).clamp(0.001, 0.999) };
                for k in 0..3 {
                    sum[k] += f64::from(a[k]) + if k == axis { s } else { 0.0 };
                }
                count += 1.0;
            }
        }
        [0, 1, 2].map(|k| lattice.min[k] + sum[k] / count * lattice.spacing)
    }

    /// Returns the number of quanta per cell.
    fn cell(&self, all: &Grid) -> i32 {
        (all.spacing / self.quantum).round() as i32
    }

    /// Returns φ at a node from d and the distance to the triangles.
    fn phi(&self, node: [u32; 3], d: f32, g: f32, cell: f32) -> f32 {
        let f = d - self.level as f32 * self.quantum;
        if self.reached.get(node) {
            between(f, g, cell)
        } else {
            between(f.min(0.0), -g, cell)
        }
    }

    /// Computes the same for the samples of a brick, which are given as distances to the triangles, quanta.
    fn finish(&self, brick: u32, samples: &mut [i16], cell: i32) {
        let first = place_of(brick as usize, self.bricks).map(|i| i * CELLS);
        let own = self.slot[brick as usize] as usize * STRIDE;
        for (n, v) in (0..).zip(&mut samples[..VOLUME]) {
            let f = i32::from(self.fine.samples[own + n as usize]) - self.level;
            let local = [n % NODES, n / NODES % NODES, n / (NODES * NODES)];
            let outside = self.reached.get([0, 1, 2].map(|k| first[k] + local[k]));
            let (f, g) = if outside { (f, i32::from(*v)) } else { (f.min(0), -i32::from(*v)) };
            // Both are at most the band and a brick's diagonal, which is in range.
            *v = between(f, g, cell).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        }
    }

    /// Measures the difference of φ and d − σ up to two cells outside the surface and one inside.
    fn measure(
        &self,
        field: &impl voxshell_field::SignedDistance,
        grid: &Grid,
        lattice: &Lattice,
        (source, sides): (&TriMesh, &Sides),
        center: Vec3,
        progress: &Progress,
    ) -> Result<FieldError> {
        // Triangles that bound nothing have an offset surface too.
        let own = (sides.mesh.triangles.len() != source.triangles.len()).then(|| Bvh::build(source));
        let bvh = own.as_ref().unwrap_or(&sides.bvh);
        let surface = lattice.mesh(&self.corners, center);
        let sigma = f64::from(self.level as f32 * self.quantum);
        measure::errors(field, grid.spacing, center, &surface, |p, near| {
            let most = match near {
                Near::Known(known) => (known.exact + sigma + (p - known.p).norm()) * (1.0 + 1e-9),
                Near::On | Near::Moved(_) => f64::INFINITY,
            };
            let (closest, looked_at) = bvh.closest_within_and_work(p, most);
            progress.work(looked_at)?;
            let exact = closest.map_or(most, |c| c.distance_squared.sqrt()) - sigma;
            // Farther in, d − σ is not always the distance.
            Ok((exact > -f64::from(grid.spacing)).then_some(exact))
        })
    }
}

/// Returns `bits` and the nodes joined to them by edges of a tile between `free` nodes.
fn grow(mut bits: [u64; 8], free: [u64; 8]) -> [u64; 8] {
    const FIRST: u64 = 0x0101_0101_0101_0101;
    loop {
        let before = bits;
        for z in (0..8).chain((0..8).rev()) {
            let (below, above) = (if z > 0 { bits[z - 1] } else { 0 }, if z < 7 { bits[z + 1] } else { 0 });
            let w = bits[z];
            let beside = (w << 1 & !FIRST) | (w >> 1 & !(FIRST << 7)) | w << 8 | w >> 8;
            bits[z] |= (beside | below | above) & free[z];
        }
        if bits == before {
            return bits;
        }
    }
}

/// Checks the memory for cooking `bricks` bricks around `soup` triangles, and as many around `surface` triangles.
fn check_memory(all: &Grid, bricks: usize, soup: usize, surface: usize, options: &FieldOptions) -> Result<u64> {
    let total = bricks_of(all).iter().map(|&n| n as usize).product::<usize>();
    // Samples of both, signs of nodes twice; the triangles themselves, twice while they are joined.
    let each = 2 * (4 + 2 * STRIDE) + 2 * 64;
    let triangles = FieldOptions::fixed_bytes(soup) + Culler::bytes(surface as u64) + 144 * surface as u64;
    let needed = triangles + (20 * total + each * bricks) as u64;
    if needed > options.memory_limit {
        let [x, y, z] = all.dims;
        let what = format!("an offset surface in {x} x {y} x {z} nodes, {bricks} bricks of them around it,");
        return Err(Error::TooLarge { what, needed, limit: options.memory_limit });
    }
    Ok(needed)
}

/// Returns the memory that is checked before the computation begins, bytes; the number of triangles of the surface is
/// known only later.
pub(super) fn memory_needed(mesh: &TriMesh, options: &FieldOptions) -> Result<u64> {
    let Layout { all, center, bricks, .. } = Layout::new(mesh, options)?;
    let (lattice, cells) = (Lattice::new(&all), options.offset / f64::from(all.spacing));
    let near = near_at_most(&lattice, &lattice.corners(mesh, center), bricks, cells + WIDTH);
    check_memory(&all, near, mesh.triangles.len(), 0, options)
}

/// Returns the report on the sign of an offset surface.
fn report(sides: &Sides, nodes: usize) -> SignReport {
    let decided = Decided { flooding: nodes as u64, ..Decided::default() };
    SignReport { rule: SignRule::Offset, decided, ..sides.report }
}

/// Cooks a full grid around the offset surface.
pub(super) fn dense(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<DenseField> {
    let (grid, center) = options.grid(mesh)?;
    let all = Grid { dims: bricks_of(&grid).map(|n| n * CELLS + 1), ..grid };
    let whole = Lattice::new(&all);
    let outer = Outer::new(mesh, &all, center, &whole, options, progress)?;
    check_memory(&all, outer.fine.bricks.len(), mesh.triangles.len(), outer.corners.len(), options)?;
    let lattice = Lattice { dims: grid.dims, ..whole };
    let (mut d, mut values) = (filled(0.0f32, grid.len()), filled(0.0f32, grid.len()));
    Culler::new(&lattice.corners(&mesh.without_repeats(), center)).fill(&lattice, &mut d, progress)?;
    Culler::new(&outer.corners).fill(&lattice, &mut values, progress)?;
    let [nx, ny, _] = grid.dims.map(|n| n as usize);
    let slices = values.par_chunks_mut(nx * ny).zip(d.par_chunks(nx * ny));
    slices.enumerate().for_each(|(k, (values, d))| {
        for (n, (v, d)) in values.iter_mut().zip(d).enumerate() {
            *v = outer.phi([n % nx, n / nx, k].map(|i| i as u32), *d, *v, grid.spacing);
        }
    });
    drop(d);
    let sides = Sides::new(mesh);
    let field = DenseField::assemble(grid, values.into(), center, report(&sides, grid.len()))?;
    progress.report("error", 0.0)?;
    let error = outer.measure(&field, &grid, &lattice, (mesh, &sides), center, progress)?;
    progress.report("error", 1.0)?;
    Ok(field.described(error, &mesh.bounds().inflated(options.offset)))
}

/// Cooks bricks around the offset surface.
pub(super) fn bricks(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<BrickField> {
    let Layout { grid, all, center, bricks } = Layout::new(mesh, options)?;
    let lattice = Lattice::new(&all);
    let outer = Outer::new(mesh, &all, center, &lattice, options, progress)?;
    check_memory(&all, outer.fine.bricks.len(), mesh.triangles.len(), outer.corners.len(), options)?;
    let culler = Culler::new(&outer.corners);
    let corner_lattice = lattice.every(CELLS);
    let mut coarse = filled(0.0f32, outer.coarse.len());
    culler.fill(&corner_lattice, &mut coarse, progress)?;
    let [nx, ny, _] = corner_lattice.dims.map(|n| n as usize);
    for (n, (g, d)) in coarse.iter_mut().zip(&outer.coarse).enumerate() {
        let node = [n % nx, n / nx % ny, n / (nx * ny)].map(|i| i as u32 * CELLS);
        *g = outer.phi(node, *d, *g, grid.spacing);
    }
    let band = Band {
        width: (f64::from(BAND) * lattice.spacing) as f32,
        quantum: (f64::from(outer.quantum) * lattice.scale) as f32,
        bricks,
    };
    let (mut fine, rounding) = culler.near(&lattice, band, progress)?;
    drop(culler);
    let cell = outer.cell(&all);
    let samples = fine.samples.par_chunks_exact_mut(STRIDE).zip(&fine.bricks);
    samples.for_each(|(samples, &brick)| outer.finish(brick, samples, cell));
    let sides = Sides::new(mesh);
    let field = BrickField::build(Draft {
        grid,
        center,
        sign: report(&sides, coarse.len() + fine.bricks.len() * VOLUME),
        coarse,
        fine,
        quantum: outer.quantum,
        node_lipschitz: 1.0 + 1e-6,
        // Includes the rounding of d.
        rounding: (f64::from(rounding) / lattice.scale) as f32 + 0.5 * outer.quantum,
    })?;
    progress.report("error", 0.0)?;
    let error = outer.measure(&field, &grid, &lattice, (mesh, &sides), center, progress)?;
    progress.report("error", 1.0)?;
    Ok(field.described(error, &mesh.bounds().inflated(options.offset)))
}

/// Returns the outer surface at `options.offset` from a soup, as in φ of a field cooked with the same options:
/// closed, with triangles about as large as the voxels, wound outward.
pub fn offset_surface(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<TriMesh> {
    let Layout { all, center, .. } = Layout::new(mesh, options)?;
    if options.offset == 0.0 {
        return Err(Error::argument("offset", options.offset, "a positive length in metres"));
    }
    progress.guard("computing an offset surface", || {
        let lattice = Lattice::new(&all);
        let outer = Outer::new(mesh, &all, center, &lattice, options, progress)?;
        Ok(lattice.mesh(&outer.corners, center).welded(0.0))
    })
}
