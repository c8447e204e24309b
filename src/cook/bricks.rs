//! Cooking of a triangle soup directly into bricks, without an array over all nodes and without visiting nodes far
//! from the surface.

use rayon::prelude::*;

use super::crossings::Crossings;
use super::cull::{Band, Culler};
use super::lattice::Lattice;
use super::layout::Layout;
use super::open::{Distances, Open};
use super::options::{needed_all_the_same, FieldOptions};
use super::{measure, offset};
use voxshell_base::math::Progress;
use voxshell_base::memory::{self, concat, filled};
use voxshell_base::Result;
use voxshell_field::brick::{place_of, BrickField, Draft, FineBricks, BAND, CELLS, NODES, QUANTA, STRIDE, VOLUME};
use voxshell_field::scan::PATH;
use voxshell_field::sign::Sides;
use voxshell_field::SignRule;
use voxshell_mesh::TriMesh;

/// Cooks the field of a mesh: at nodes in the narrow band the exact distance, rounded to a quantum (1/1920 of the
/// voxel size). See [`SignReport`](voxshell_field::SignReport) for the sign, which is the same as on the full grid.
/// The same input gives the same bytes on any number of threads (rayon's current pool).
///
/// Memory and time grow with the area of the surface and with the number of bricks, which is 1/512 of the number
/// of nodes.
pub fn brick_field(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<BrickField> {
    bricks_and_sides(mesh, options, progress).map(|cooked| cooked.0)
}

/// Cooks the field, and returns the sides of the mesh too, if the field has its sign from them.
pub(super) fn bricks_and_sides(
    mesh: &TriMesh,
    options: &FieldOptions,
    progress: &Progress,
) -> Result<(BrickField, Option<Sides>)> {
    progress.guard("cooking a field in bricks", || {
        if options.offset != 0.0 {
            return Ok((offset::bricks(mesh, options, progress)?, None));
        }
        cook_mesh(mesh, options, progress).map(|(field, sides)| (field, Some(sides)))
    })
}

/// Cooks without an offset.
fn cook_mesh(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<(BrickField, Sides)> {
    let layout = Layout::new(mesh, options)?;
    let Layout { all, center, bricks, .. } = layout;
    progress.report("sign", 0.0)?;
    let sides = Sides::new(mesh);
    let mut sign = sides.report;
    let lattice = Lattice::new(&all);
    let distinct = mesh.without_repeats();
    let corners = lattice.corners(&distinct, center);
    let open = sides.rule == SignRule::WindingNumber;
    let fixed = layout.fixed_bytes(mesh, &distinct, open);
    layout.check_memory(&lattice, &corners, fixed, open, options)?;
    let culler = Culler::new(&corners);
    drop(corners);

    progress.report("distance", 0.0)?;
    let corner_lattice = lattice.every(CELLS);
    let mut coarse = filled(0.0f32, bricks.iter().map(|&n| n as usize + 1).product());
    culler.fill(&corner_lattice, &mut coarse, progress)?;
    let quantum = layout.grid.spacing / QUANTA;
    let band = Band {
        width: (f64::from(BAND) * lattice.spacing) as f32,
        quantum: (lattice.spacing / f64::from(QUANTA)) as f32,
        bricks,
    };
    let (mut fine, mut rounding) = culler.near(&lattice, band, progress)?;
    drop(culler);

    progress.report("sign", 0.5)?;
    let repaired = lattice.corners(&sides.mesh, center);
    let (mut rim, mut membrane_area) = (TriMesh::default(), 0.0);
    let mut node_lipschitz = 1.0 + 1e-6;
    if open {
        layout.sign_corners(&sides, &repaired, &mut coarse, progress)?;
        let limit = options.memory_limit;
        let distances = Distances { grid: &all, bricks, coarse: &coarse, fine: &fine, quantum, limit };
        let mut open = Open::new(&sides, distances, &lattice, &repaired, center, &mut sign, progress)?;
        let sheets = std::mem::take(&mut open.sheets);
        if !sheets.is_empty() {
            drop(fine);
            Culler::new(&sheets).shorten(&corner_lattice, &mut coarse, progress)?;
            membrane_area = lattice.mesh(&sheets, center).area();
            rim = lattice.mesh(&std::mem::take(&mut open.rim), center);
            let count = sheets.len() as u64;
            let both = concat(vec![lattice.corners(&distinct, center), sheets]);
            let fixed = fixed + Culler::bytes(count) + 96 * count;
            layout.check_memory(&lattice, &both, fixed, true, options)?;
            let culler = Culler::new(&both);
            drop(both);
            (fine, rounding) = culler.near(&lattice, band, progress)?;
        }
        open.apply(bricks, &mut fine);
        node_lipschitz = steepest_path(&fine);
    } else {
        let crossings = Crossings::find(&lattice, &repaired, &sides.weights, progress)?;
        let parity = sides.rule == SignRule::Parity;
        sign_corners(&crossings, parity, bricks, &mut coarse);
        sign_bricks(&crossings, parity, bricks, &mut fine);
        sign.decided.crossings = (coarse.len() + fine.bricks.len() * VOLUME) as u64;
    }
    drop(repaired);
    sign.membrane_area = membrane_area;

    let field = BrickField::build(Draft {
        grid: layout.grid,
        center,
        coarse,
        fine,
        quantum,
        node_lipschitz,
        rounding: (f64::from(rounding) / lattice.scale) as f32,
        sign,
    })?;
    progress.report("error", 0.0)?;
    let error = measure::measure(&field, layout.grid.spacing, center, &distinct, &rim, &sides, progress)?;
    progress.report("error", 1.0)?;
    Ok((field.described(error, &mesh.bounds()), sides))
}

/// Returns the memory that [`brick_field`] checks against the limit before it begins, bytes: with a limit of
/// one byte less it refuses. The limit in `options` is ignored. Visits every triangle, but computes no distance.
/// The membranes across the holes of an open mesh take more, which is checked once they are known.
pub(super) fn memory_needed(mesh: &TriMesh, options: &FieldOptions) -> Result<u64> {
    let unlimited = FieldOptions { memory_limit: u64::MAX, ..*options };
    let check = || {
        if options.offset != 0.0 {
            return offset::memory_needed(mesh, &unlimited);
        }
        let layout = Layout::new(mesh, &unlimited)?;
        let lattice = Lattice::new(&layout.all);
        let distinct = mesh.without_repeats();
        let corners = lattice.corners(&distinct, layout.center);
        let open = Sides::new(mesh).rule == SignRule::WindingNumber;
        layout.check_memory(&lattice, &corners, layout.fixed_bytes(mesh, &distinct, open), open, &unlimited)
    };
    memory::guard("estimating memory", check).or_else(needed_all_the_same)
}

/// Number of the 26 neighbours of a node that come after it in the order of the samples.
const LATER: usize = 13;

/// Step to a later neighbour along each axis, −1 to 1.
const fn step(neighbour: usize) -> [isize; 3] {
    let o = neighbour + LATER + 1;
    [(o % 3) as isize - 1, (o / 3 % 3) as isize - 1, (o / 9) as isize - 1]
}

/// For each later neighbour and each node of a brick: all bits set if the brick has the neighbour.
static HAS: [[u16; VOLUME]; LATER] = {
    let n = NODES as isize;
    let mut has = [[0; VOLUME]; LATER];
    let mut o = 0;
    while o < LATER {
        let step = step(o);
        let mut from = 0;
        while from < VOLUME {
            let i = from as isize;
            let at = [i % n + step[0], i / n % n + step[1], i / (n * n) + step[2]];
            if at[0] >= 0 && at[0] < n && at[1] >= 0 && at[1] < n && at[2] < n {
                has[o][from] = u16::MAX;
            }
            from += 1;
        }
        o += 1;
    }
    has
};

/// Returns a bound on the difference of the distances that two samples represent, per metre between their nodes, from
/// neighbours in bricks in the band: elsewhere neighbours have one sign and exact distances. See [`PATH`].
fn steepest_path(fine: &FineBricks) -> f32 {
    let n = NODES as isize;
    let bricks = fine.samples.par_chunks_exact(STRIDE).map(|samples| {
        let samples = &samples[..VOLUME];
        // By the squared length of the step: 1, 2, 3.
        let mut most = [0; 3];
        for (o, has) in HAS.iter().enumerate() {
            let step = step(o);
            let later = &samples[((step[2] * n + step[1]) * n + step[0]) as usize..];
            // A mask instead of a branch, so that the compiler can vectorise the loop.
            let differences = samples.iter().zip(later).zip(has).map(|((from, to), has)| from.abs_diff(*to) & has);
            let axes = step.iter().filter(|&&s| s != 0).count();
            most[axes - 1] = differences.fold(most[axes - 1], u16::max);
        }
        most
    });
    let most = bricks.reduce(|| [0; 3], |a, b| [0, 1, 2].map(|k| a[k].max(b[k])));
    // Both are rounded, by half a quantum each.
    let per_cell = (1..).zip(most).map(|(squared, m)| f64::from(u32::from(m) + 1) / f64::from(squared).sqrt());
    (per_cell.fold(f64::from(QUANTA), f64::max) / f64::from(QUANTA) * PATH * (1.0 + 1e-6)) as f32
}

/// Makes the distances at the bricks' corners negative inside a closed surface.
fn sign_corners(crossings: &Crossings, parity: bool, bricks: [u32; 3], coarse: &mut [f32]) {
    let [nx, ny, _] = bricks.map(|n| n as usize + 1);
    coarse.par_chunks_mut(nx * ny).enumerate().for_each(|(k, slice)| {
        for (j, row) in slice.chunks_mut(nx).enumerate() {
            let mut inside = crossings.row(j as u32 * CELLS, k as u32 * CELLS, parity);
            for (i, v) in row.iter_mut().enumerate() {
                if inside.at(i as u32 * CELLS) {
                    *v = -*v;
                }
            }
        }
    });
}

/// Makes the samples of bricks negative inside a closed surface.
fn sign_bricks(crossings: &Crossings, parity: bool, bricks: [u32; 3], fine: &mut FineBricks) {
    fine.samples.par_chunks_exact_mut(STRIDE).zip(&fine.bricks).for_each(|(samples, &brick)| {
        let first = place_of(brick as usize, bricks).map(|i| i * CELLS);
        for (n, row) in (0..).zip(samples[..VOLUME].chunks_exact_mut(NODES as usize)) {
            let mut inside = crossings.row(first[1] + n % NODES, first[2] + n / NODES, parity);
            for (i, v) in (0..).zip(row) {
                if inside.at(first[0] + i) {
                    *v = -*v;
                }
            }
        }
    });
}
