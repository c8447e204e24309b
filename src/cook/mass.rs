//! Mass properties of the inside of a field: exactly from the triangles where these bound it, else from the samples.

use rayon::prelude::*;

use super::options::FieldOptions;
use voxshell_base::math::{Mat3, Progress, Vec3};
use voxshell_base::memory::ParCollectGuarded;
use voxshell_base::{Error, Result};
use voxshell_field::brick::{CELLS, NODES};
use voxshell_field::sign::Sides;
use voxshell_field::{BrickField, DenseField, Field, Grid, SignRule};
use voxshell_mesh::{MassProperties, TriMesh};

/// Largest number of samples along the edge of a cell that the surface passes.
const FINE: usize = 4;
/// Number of samples along the largest extent of the grid; finer cells are sampled less often, at least once.
const SAMPLES: u32 = 1024;

/// Volume, first and second moments about the local origin.
#[derive(Clone, Copy, Default)]
struct Moments {
    volume: f64,
    first: [f64; 3],
    /// xx, yy, zz, xy, xz, yz.
    second: [f64; 6],
}

impl Moments {
    /// Adds a cube of edge `edge` at `p`, filled to `fraction`.
    fn add_cube(&mut self, p: [f64; 3], edge: f64, fraction: f64) {
        let v = fraction * edge * edge * edge;
        let own = edge * edge / 12.0;
        self.volume += v;
        for k in 0..3 {
            self.first[k] += v * p[k];
            self.second[k] += v * (p[k] * p[k] + own);
        }
        self.second[3] += v * p[0] * p[1];
        self.second[4] += v * p[0] * p[2];
        self.second[5] += v * p[1] * p[2];
    }

    fn add(&mut self, other: &Self) {
        self.volume += other.volume;
        self.first.iter_mut().zip(other.first).for_each(|(a, b)| *a += b);
        self.second.iter_mut().zip(other.second).for_each(|(a, b)| *a += b);
    }
}

/// Returns volume, centre of mass and inertia at unit density of the inside of a field of `mesh`. It uses the
/// same repair of the triangles (repeated ones count once, parts that face inward are flipped, cavities stay) and
/// the same rule for the sign, and integrates exactly over the triangles that bound the inside, and over the pieces of those that
/// meet others.
///
/// `None` for an open mesh, where nothing is inside, and for a mesh that meets itself in so many places that it would take seconds.
/// [`mass_from_field`] then gives an estimate.
pub fn mass_properties(mesh: &TriMesh) -> Option<MassProperties> {
    Sides::new(mesh).mass()
}

/// Returns the mass properties of a mesh: exact ones if possible, else those of {φ < 0} of `field`; without a field,
/// those of a coarse field if the mesh is closed, cooked within `memory_limit` bytes. `sides`: those of the mesh, if they
/// are at hand.
///
/// # Errors
/// `OutOfMemory`.
pub fn mass_of_mesh(
    mesh: &TriMesh,
    sides: Option<Sides>,
    field: Option<&Field>,
    memory_limit: u64,
) -> Result<Option<MassProperties>> {
    let sides = sides.unwrap_or_else(|| Sides::new(mesh));
    let closed = sides.rule != SignRule::WindingNumber;
    match (sides.mass(), field) {
        (Some(mass), _) => Ok(Some(mass)),
        (None, Some(field)) => Ok(mass_of_samples(field)),
        (None, None) if closed => mass_from_coarse(mesh, memory_limit),
        (None, None) => Ok(None),
    }
}

/// Returns the mass properties of {φ < 0} on a grid of 64 cells along the largest extent; `None` also where that
/// cannot be cooked.
///
/// # Errors
/// `OutOfMemory`.
pub fn mass_from_coarse(mesh: &TriMesh, memory_limit: u64) -> Result<Option<MassProperties>> {
    let options = FieldOptions { memory_limit, ..FieldOptions::with_resolution(mesh, 64) };
    match super::dense_field(mesh, &options, &Progress::none()) {
        Ok(field) => Ok(mass_from_field(&field)),
        Err(error @ Error::OutOfMemory { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the mass properties of {φ < 0} of a field on a grid.
pub fn mass_of_samples(field: &Field) -> Option<MassProperties> {
    match field {
        Field::Dense(field) => mass_from_field(field),
        Field::Bricks(field) => mass_from_bricks(field),
        Field::Exact(field) => mass_from_field(field.far()),
        _ => None,
    }
}

/// Returns the number of samples along the edge of a cell.
fn fine(grid: &Grid) -> usize {
    let cells = grid.dims.iter().fold(1, |most, n| most.max(n - 1));
    ((SAMPLES / cells) as usize).clamp(1, FINE)
}

/// Returns the mass properties of {φ < 0} in the grid, body frame; `None` when nothing is inside. Cells that the
/// surface passes are sampled 4³ times in grids of up to 256 cells, less often in finer ones, each sample filled by its
/// distance from the surface along its gradient.
pub fn mass_from_field(field: &DenseField) -> Option<MassProperties> {
    let grid = field.grid();
    let h = f64::from(grid.spacing);
    let (cells, fine) = (grid.dims.map(|n| n - 1), fine(grid));
    let slices: Vec<Moments> = (0..cells[2])
        .into_par_iter()
        .map(|k| {
            let mut sum = Moments::default();
            for j in 0..cells[1] {
                for i in 0..cells[0] {
                    let value = |n: u32| field.values()[grid.index(i + (n & 1), j + (n >> 1 & 1), k + (n >> 2))];
                    add_cell(grid, std::array::from_fn(|n| f64::from(value(n as u32))), [i, j, k], h, fine, &mut sum);
                }
            }
            sum
        })
        .collect_guarded();
    total(&slices, field.center())
}

/// Returns the same for a field in bricks. Coarse bricks have one sign.
pub fn mass_from_bricks(field: &BrickField) -> Option<MassProperties> {
    let grid = field.grid();
    let (h, q) = (f64::from(grid.spacing), f64::from(field.quantum()));
    let (bricks, samples) = (field.bricks(), fine(grid));
    let slices: Vec<Moments> = (0..bricks[2])
        .into_par_iter()
        .map(|k| {
            let mut sum = Moments::default();
            for place in (0..bricks[1]).flat_map(|j| (0..bricks[0]).map(move |i| [i, j, k])) {
                let number = ((place[2] * bricks[1] + place[1]) * bricks[0] + place[0]) as usize;
                let first = place.map(|i| i * CELLS);
                let cells = [0, 1, 2].map(|a| (grid.dims[a] - 1 - first[a]).min(CELLS));
                let corners = field.corners(number).map(f64::from);
                let fine = field.fine(number);
                if fine.is_none() && cells == [CELLS; 3] {
                    add_cell(grid, corners, first, f64::from(CELLS) * h, samples, &mut sum);
                    continue;
                }
                for z in 0..cells[2] {
                    for y in 0..cells[1] {
                        for x in 0..cells[0] {
                            let at = |n: usize| [x + (n as u32 & 1), y + (n as u32 >> 1 & 1), z + (n as u32 >> 2)];
                            let node = |[x, y, z]: [u32; 3]| ((z * NODES + y) * NODES + x) as usize;
                            let v = match fine {
                                Some(samples) => std::array::from_fn(|n| f64::from(samples[node(at(n))]) * q),
                                None => corners,
                            };
                            add_cell(grid, v, [first[0] + x, first[1] + y, first[2] + z], h, samples, &mut sum);
                        }
                    }
                }
            }
            sum
        })
        .collect_guarded();
    total(&slices, field.center())
}

fn total(slices: &[Moments], center: Vec3) -> Option<MassProperties> {
    let mut m = Moments::default();
    slices.iter().for_each(|s| m.add(s));
    if m.volume <= 0.0 {
        return None;
    }
    let [xx, yy, zz, xy, xz, yz] = m.second;
    let second = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    MassProperties::from_moments(m.volume, m.first.into(), second, &center, false)
}

/// Adds a cell of edge `h` with the given corner values; `corner` is its first node. Where the surface passes it, it is
/// sampled `fine`³ times.
fn add_cell(grid: &Grid, v: [f64; 8], corner: [u32; 3], h: f64, fine: usize, sum: &mut Moments) {
    if v.iter().all(|&x| x >= 0.0) {
        return;
    }
    let at = |f: [f64; 3]| {
        let spacing = f64::from(grid.spacing);
        [0, 1, 2].map(|a| f64::from(grid.min[a]) + f64::from(corner[a]) * spacing + f[a] * h)
    };
    if v.iter().all(|&x| x < 0.0) {
        sum.add_cube(at([0.5; 3]), h, 1.0);
        return;
    }
    let lerp = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let edge = h / fine as f64;
    for n in 0..fine * fine * fine {
        let f = [n % fine, n / fine % fine, n / (fine * fine)].map(|i| (i as f64 + 0.5) / fine as f64);
        let x = [0, 2, 4, 6].map(|c| lerp(v[c], v[c + 1], f[0]));
        let gx = lerp(lerp(v[1] - v[0], v[3] - v[2], f[1]), lerp(v[5] - v[4], v[7] - v[6], f[1]), f[2]);
        let gy = lerp(x[1] - x[0], x[3] - x[2], f[2]);
        let (low, high) = (lerp(x[0], x[1], f[1]), lerp(x[2], x[3], f[1]));
        let phi = lerp(low, high, f[2]);
        // Change of φ across the sample's cube, along its gradient.
        let rise = (gx.abs() + gy.abs() + (high - low).abs()) / fine as f64;
        let fraction = if rise > 0.0 { (0.5 - phi / rise).clamp(0.0, 1.0) } else { f64::from(u8::from(phi < 0.0)) };
        if fraction > 0.0 {
            sum.add_cube(at(f), edge, fraction);
        }
    }
}
