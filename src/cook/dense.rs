//! Cooking of a triangle soup into a full grid.

use std::sync::atomic::AtomicU64;

use super::crossings::{self, Crossings};
use super::cull::Culler;
use super::lattice::Lattice;
use super::membrane::Membrane;
use super::options::{needed_all_the_same, FieldOptions};
use super::zeros::zeros;
use super::{measure, offset, winding};
use voxshell_base::math::{Progress, Vec3};
use voxshell_base::memory;
use voxshell_base::{Error, Result};
use voxshell_field::sign::Sides;
use voxshell_field::SignRule;
use voxshell_field::{DenseField, Grid};
use voxshell_mesh::TriMesh;

/// Bytes for each triangle of a membrane, while it is joined with others, and again as a mesh with its hierarchy.
const SHEET_BYTES: u64 = 600;

/// Cooks the field of a mesh, with the exact distance at every node; see [`SignReport`](voxshell_field::SignReport)
/// for the sign. The same input gives the same bytes on any number of threads (rayon's current pool).
pub fn dense_field(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<DenseField> {
    dense_and_sides(mesh, options, progress).map(|cooked| cooked.0)
}

/// Cooks the field, and returns the sides of the mesh too, if the field has its sign from them.
pub(super) fn dense_and_sides(
    mesh: &TriMesh,
    options: &FieldOptions,
    progress: &Progress,
) -> Result<(DenseField, Option<Sides>)> {
    progress.guard("cooking a field on a full grid", || {
        if options.offset != 0.0 {
            return Ok((offset::dense(mesh, options, progress)?, None));
        }
        let distinct = mesh.without_repeats();
        let (grid, center) = options.grid_of(&distinct, mesh.triangles.len())?;
        let cooked = cook_on(mesh, &distinct, grid, center, options.memory_limit, progress);
        cooked.map(|(field, sides)| (field, Some(sides)))
    })
}

/// Returns the memory that [`dense_field`] checks against the limit, bytes: with a limit of one byte less it
/// refuses. The limit in `options` is ignored.
pub(super) fn memory_needed(mesh: &TriMesh, options: &FieldOptions) -> Result<u64> {
    let unlimited = FieldOptions { memory_limit: u64::MAX, ..*options };
    let counts = unlimited.counts(mesh)?.0;
    let nodes = memory::guard("estimating memory", || {
        unlimited.check_nodes(counts, &mesh.without_repeats(), mesh.triangles.len())
    });
    let surface = if options.offset != 0.0 {
        memory::guard("estimating memory", || offset::memory_needed(mesh, &unlimited))
    } else {
        Ok(0)
    };
    Ok(nodes.or_else(needed_all_the_same)?.max(surface.or_else(needed_all_the_same)?))
}

/// Cooks on a grid whose memory has been checked; `distinct`: the mesh without repeats.
fn cook_on(
    mesh: &TriMesh,
    distinct: &TriMesh,
    grid: Grid,
    center: Vec3,
    limit: u64,
    progress: &Progress,
) -> Result<(DenseField, Sides)> {
    let mut values = zeros(grid.len())
        .ok_or(Error::OutOfMemory { what: "cooking a field on a full grid", bytes: grid.len() as u64 * 4 })?;
    let lattice = Lattice::new(&grid);
    Culler::new(&lattice.corners(distinct, center)).fill(&lattice, &mut values, progress)?;

    progress.report("sign", 0.0)?;
    let sides = Sides::new(mesh);
    let mut sign = sides.report;
    let corners = lattice.corners(&sides.mesh, center);
    let mut sheets = Vec::new();
    if sides.rule == SignRule::WindingNumber {
        let cut = crossings::cut_edges(&lattice, &corners, progress)?;
        winding::apply(&sides, &grid, center, &cut, &mut values, &mut sign, progress)?;
        drop(cut);
        let count = AtomicU64::new(0);
        let membrane = Membrane { sides: &sides, lattice: &lattice, center, spacing: grid.spacing, limit, count };
        sheets = membrane.of_grid(&grid, &values, progress)?;
        if !sheets.is_empty() {
            let needed = 4 * grid.len() as u64
                + FieldOptions::fixed_bytes(mesh.triangles.len())
                + sheets.len() as u64 * SHEET_BYTES
                + Culler::bytes(sheets.len() as u64);
            if needed > limit {
                let what = format!("a field with membranes of {} triangles across its holes", sheets.len());
                return Err(Error::TooLarge { what, needed, limit });
            }
            Culler::new(&sheets).shorten(&lattice, &mut values, progress)?;
        }
    } else {
        let crossings = Crossings::find(&lattice, &corners, &sides.weights, progress)?;
        crossings.apply(&mut values, sides.rule == SignRule::Parity);
        sign.decided.crossings = grid.len() as u64;
    }
    drop(corners);

    progress.report("error", 0.0)?;
    let sheets = lattice.mesh(&sheets, center);
    // Adding 0 avoids −0, which is the sum of an empty list.
    sign.membrane_area = sheets.area() + 0.0;
    let field = DenseField::assemble(grid, values.into(), center, sign)?;
    let error = measure::measure(&field, grid.spacing, center, distinct, &sheets, &sides, progress)?;
    progress.report("error", 1.0)?;
    Ok((field.described(error, &mesh.bounds()), sides))
}
