//! The voxel model: the voxels that the surface passes, and those inside.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::bits::Bits;
use super::{flood, surface, VoxelGrid, VoxelOptions};
use voxshell_base::math::Progress;
use voxshell_base::memory::{filled, CollectGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::SignedDistance;
use voxshell_mesh::TriMesh;

/// Surface and interior voxels of a body; all others are free. Immutable; shared by any number of threads. The same
/// input gives the same bytes on any number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxelModel {
    grid: VoxelGrid,
    surface: Bits,
    interior: Bits,
    memory_limit: u64,
}

impl VoxelModel {
    /// Makes the model of a mesh on the grid that `options` give it; see [`VoxelModel::on_grid`].
    pub fn from_mesh(mesh: &TriMesh, options: &VoxelOptions, progress: &Progress) -> Result<Self> {
        Self::on_grid(mesh, options.grid(mesh)?, options.memory_limit, progress)
    }

    /// Makes the model of a mesh, which must lie within the voxels of `grid` (touching the border is within).
    ///
    /// **Surface** voxels are the voxels, closed cubes, that have a point in common with a triangle, degenerate ones
    /// included: a triangle in the face of two voxels makes both surface (separating axes; Sagardia et al. 2014,
    /// section 2.1.1). **Interior** voxels are those that a flood from the walls of the grid, over faces of voxels,
    /// cannot reach (McNeely et al. 1999, section 4.1). The winding of the triangles has no effect:
    ///
    /// - cracks and holes narrower than a voxel are sealed;
    /// - through wider holes the flood enters: such a mesh is a shell of surface voxels around free space;
    /// - cavities of a body are interior, being out of reach from outside, and so are crevices and gaps that are closed
    ///   at the voxel size. [`VoxelModel::from_field`] distinguishes cavities from solid.
    ///
    /// Fails with `TooLarge` before the work when it would need more than `memory_limit` bytes; the forms made from the
    /// model have the same limit.
    pub fn on_grid(mesh: &TriMesh, grid: VoxelGrid, memory_limit: u64, progress: &Progress) -> Result<Self> {
        grid.afford("a voxel model", 2 * Bits::bytes(grid.dims()), memory_limit)?;
        progress.guard("making a voxel model", || {
            progress.report("surface voxels", 0.0)?;
            let surface = surface::touched(mesh, &grid)?;
            progress.report("surface voxels", 1.0)?;
            let interior = flood::enclosed(&surface, &grid, memory_limit, progress)?;
            Ok(Self { grid, surface, interior, memory_limit })
        })
    }

    /// Makes the model of a field φ, sampled at the centre, corners, edge and face middles of each voxel.
    ///
    /// **Surface** voxels are the voxels over whose 27 samples φ is 0 or changes sign. For a
    /// [`DenseField`](voxshell_field::DenseField) whose nodes are the voxel centres these are the voxels through which
    /// the zero level of its interpolant passes, because a trilinear function on a box takes its extremes at corners.
    /// **Interior** voxels are the others with φ < 0 at the centre. For any φ, no step between neighbours, over corners
    /// too, leads from interior to free.
    ///
    /// Takes 12 evaluations of φ for each voxel. Fails as [`VoxelModel::on_grid`], and with `InvalidArgument` when no
    /// voxel is surface.
    pub fn from_field<F: SignedDistance>(
        field: &F,
        grid: VoxelGrid,
        memory_limit: u64,
        progress: &Progress,
    ) -> Result<Self> {
        let dims = grid.dims();
        let planes = rayon::current_num_threads() as u64 * 6 * u64::from(dims[0]) * u64::from(dims[1]);
        grid.afford("a voxel model", 2 * Bits::bytes(dims) + planes, memory_limit)?;
        progress.guard("making a voxel model", || {
            progress.report("surface voxels", 0.0)?;
            let (mut surface, mut interior) = (Bits::new(dims), Bits::new(dims));
            let words = surface.row_words();
            let sampler = Sampler::new(field, &grid);
            // Tasks of a few slices, so that the plane between two of them is sampled once.
            const SLICES: usize = 8;
            let done = AtomicUsize::new(0);
            surface
                .par_slices_mut()
                .chunks(SLICES)
                .zip(interior.par_slices_mut().chunks(SLICES))
                .enumerate()
                .try_for_each(|(task, (surface, interior))| {
                    let first = (task * SLICES) as u32;
                    let mut below = sampler.plane(2 * first);
                    for (k, (surface, interior)) in (first..).zip(surface.into_iter().zip(interior)) {
                        let (middle, above) = (sampler.plane(2 * k + 1), sampler.plane(2 * k + 2));
                        for j in 0..dims[1] as usize {
                            for i in 0..dims[0] as usize {
                                let at = j * dims[0] as usize + i;
                                let seen = below.seen[at] | middle.seen[at] | above.seen[at];
                                let (word, bit) = (j * words + i / 64, 1 << (i % 64));
                                if seen & BOTH == BOTH {
                                    surface[word] |= bit;
                                } else if middle.center[at] == NEGATIVE {
                                    interior[word] |= bit;
                                }
                            }
                        }
                        below = above;
                    }
                    let done = done.fetch_add(SLICES, Ordering::Relaxed);
                    progress.report("surface voxels", done as f64 / f64::from(dims[2]))
                })?;
            let model = Self { grid, surface, interior, memory_limit };
            if model.surface_count() == 0 {
                return Err(Error::argument(
                    "field",
                    "of one sign at all voxels",
                    "a field whose zero level is in the grid",
                ));
            }
            Ok(model)
        })
    }

    /// The voxels.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// Returns whether the surface passes a voxel.
    pub fn is_surface(&self, voxel: [u32; 3]) -> bool {
        self.surface.get(voxel)
    }

    /// Returns whether a voxel is inside, and not surface.
    pub fn is_interior(&self, voxel: [u32; 3]) -> bool {
        self.interior.get(voxel)
    }

    /// Number of surface voxels.
    pub fn surface_count(&self) -> usize {
        self.surface.count()
    }

    /// Number of interior voxels.
    pub fn interior_count(&self) -> usize {
        self.interior.count()
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        size_of::<Self>() as u64 + 2 * Bits::bytes(self.grid.dims())
    }

    /// Returns the voxels of row (j, k), 64 in a word: the surface voxels, with `solid` the interior ones too.
    pub fn row(&self, j: u32, k: u32, solid: bool) -> impl Iterator<Item = u64> + '_ {
        let interior = self.interior.row(j, k).iter().map(move |&word| if solid { word } else { 0 });
        self.surface.row(j, k).iter().zip(interior).map(|(surface, interior)| surface | interior)
    }

    pub(super) fn surface(&self) -> &Bits {
        &self.surface
    }

    pub(super) fn interior(&self) -> &Bits {
        &self.interior
    }

    /// Memory limit of a form made from this model, bytes.
    pub(super) fn memory_limit(&self) -> u64 {
        self.memory_limit
    }
}

/// Flags of a voxel: some sample has φ ≤ 0, some sample has φ ≥ 0. A sample with φ = 0 sets both.
const NEGATIVE: u8 = 1;
const POSITIVE: u8 = 2;
const BOTH: u8 = NEGATIVE | POSITIVE;

fn sign(phi: f32) -> u8 {
    (u8::from(phi <= 0.0) * NEGATIVE) | (u8::from(phi >= 0.0) * POSITIVE)
}

/// Signs of the samples on one horizontal plane, per voxel of a slice.
struct Plane {
    /// Signs seen at the nine samples of the voxel.
    seen: Vec<u8>,
    /// Signs at its middle one.
    center: Vec<u8>,
}

/// Samples a field at voxel centres and half-way between: sample n is at n/2 − ½ voxels from the first centre.
struct Sampler<'a, F> {
    field: &'a F,
    dims: [u32; 3],
    /// Sample positions along x and y, and the start along z, metres, the field's frame.
    x: Vec<f32>,
    y: Vec<f32>,
    z: f32,
    half: f32,
}

impl<'a, F: SignedDistance> Sampler<'a, F> {
    fn new(field: &'a F, grid: &VoxelGrid) -> Self {
        let nodes = grid.nodes();
        let shift = grid.center() - field.local_origin(&grid.center());
        let half = 0.5 * nodes.spacing;
        let start = |k: usize| (f64::from(nodes.min[k]) + shift[k]) as f32 - half;
        let along = |k: usize| (0..2 * nodes.dims[k] + 1).map(|n| start(k) + n as f32 * half).collect_guarded();
        Self { field, dims: nodes.dims, x: along(0), y: along(1), z: start(2), half }
    }

    fn plane(&self, n: u32) -> Plane {
        let (nx, ny) = (self.dims[0] as usize, self.dims[1] as usize);
        let (mut seen, mut center) = (filled(0, nx * ny), filled(0, nx * ny));
        let samples = self.x.len();
        let z = filled(self.z + n as f32 * self.half, samples);
        let (mut y, mut phi) = (filled(0.0, samples), filled(0.0f32, samples));
        let mut row = filled(0u8, nx);
        for (m, &at) in self.y.iter().enumerate() {
            y.fill(at);
            self.field.distance_batch(&self.x, &y, &z, &mut phi);
            for (i, r) in row.iter_mut().enumerate() {
                *r = sign(phi[2 * i]) | sign(phi[2 * i + 1]) | sign(phi[2 * i + 2]);
            }
            // Sample row m is the lower side of voxels m/2, the middle, or the upper side of the ones before.
            let mut add = |j: usize| seen[j * nx..(j + 1) * nx].iter_mut().zip(&row).for_each(|(s, r)| *s |= r);
            if m / 2 < ny {
                add(m / 2);
            }
            if m % 2 == 0 && m > 0 {
                add(m / 2 - 1);
            }
            if m % 2 == 1 {
                center[m / 2 * nx..][..nx].iter_mut().enumerate().for_each(|(i, c)| *c = sign(phi[2 * i + 1]));
            }
        }
        Plane { seen, center }
    }
}
