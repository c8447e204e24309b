//! Trees of meshes, fields and voxel models.

use rayon::prelude::*;

use super::tree::{encode_normal, VoxTree, NO_NORMAL};
use voxshell_base::math::{limits, Aabb, Progress, Vec3};
use voxshell_base::memory::{filled, with_capacity, GrowGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::{Grid, MeshField, SignedDistance};
use voxshell_mesh::TriMesh;
use voxshell_voxmap::{Branching, VoxelGrid, VoxelModel};

/// Which voxels of a body are in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voxels {
    /// Those that the surface passes: for bodies that penetrate by less than their thickness (Ruffaldi et al. 2008,
    /// section 3.2).
    Surface,
    /// Those inside too.
    Solid,
}

/// Resolution and kind of a tree, and its memory limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Edge s of a voxel, metres; rounded to f32.
    pub voxel_size: f64,
    pub branching: Branching,
    pub voxels: Voxels,
    /// Whether voxels have normals: 4 bytes each.
    pub normals: bool,
    /// Memory limit, bytes, of the tree with the memory needed to make it.
    pub memory_limit: u64,
}

impl TreeOptions {
    /// Returns options for an octree of surface voxels with normals, and at most 4 GiB.
    pub fn new(voxel_size: f64) -> Self {
        Self { voxel_size, branching: Branching::Octree, voxels: Voxels::Surface, normals: true, memory_limit: 4 << 30 }
    }

    /// Returns the same options with the largest voxels for which a body of this box has at most 2 to the power of `level`
    /// of them along each axis. Its octree then has a root of this level.
    ///
    /// # Errors
    /// `InvalidArgument` for a level that is not 2 to 14, and for an empty or infinite box.
    pub fn with_level(self, bounds: &Aabb, level: u32) -> Result<Self> {
        if !(2..=14).contains(&level) {
            return Err(Error::argument("level", level, "2 to 14"));
        }
        let extent = extent(bounds)?;
        // One voxel beyond the box on either side, and room for rounding.
        let voxel_size = extent / (f64::from(1u32 << level) - 2.0) * (1.0 + 1e-6);
        Ok(Self { voxel_size, ..self })
    }

    /// Returns the voxels around a box: one beyond it on either side.
    fn grid(&self, bounds: &Aabb) -> Result<VoxelGrid> {
        extent(bounds)?;
        if !limits::is_length(self.voxel_size) {
            let expected = "a positive, finite length of 1e-18 to 1e18 m";
            return Err(Error::argument("voxel_size", limits::Shown(self.voxel_size), expected));
        }
        let counts = bounds.extents().map(|e| (e / self.voxel_size - 1e-6).ceil().max(0.0) + 2.0);
        let most = f64::from(VoxelGrid::MOST);
        if counts.iter().any(|&n| n > most) {
            let [x, y, z] = counts.into();
            let what = format!("{} m, which makes {x} x {y} x {z} voxels", limits::Shown(self.voxel_size));
            return Err(Error::argument("voxel_size", what, format!("at most {most} voxels along each axis")));
        }
        let counts: [f64; 3] = counts.into();
        VoxelGrid::new(Grid::centered(counts.map(|n| n as u32), self.voxel_size as f32), bounds.center())
    }
}

fn extent(bounds: &Aabb) -> Result<f64> {
    let extent = bounds.extents().max();
    if bounds.is_empty() || !limits::is_length(extent) {
        let value = if bounds.is_empty() { "empty".into() } else { format!("{} m large", limits::Shown(extent)) };
        return Err(Error::argument("the body", value, "a body of 1e-18 to 1e18 m"));
    }
    Ok(extent)
}

impl VoxTree {
    /// Makes the tree of a field; see [`VoxelModel::from_field`] for its voxels. Normals are the directions of the gradient at
    /// the centres of the voxels.
    ///
    /// # Errors
    /// `InvalidArgument` for a voxel size that gives more than 32,000 voxels along an axis, and for a field that is
    /// infinite, or whose zero level passes no voxel (a sheet: use its mesh). `TooLarge` beyond the memory limit.
    pub fn from_field<F: SignedDistance>(field: &F, options: &TreeOptions, progress: &Progress) -> Result<Self> {
        let grid = options.grid(&field.bounds())?;
        progress.guard("making a tree of voxels", || {
            let model = VoxelModel::from_field(field, grid, options.memory_limit, progress)?;
            Self::build(&model, Some(field), options, progress)
        })
    }

    /// Makes the tree of a mesh; see [`VoxelModel::on_grid`] for its voxels, which are those of any soup of triangles. Normals are
    /// those of the exact field of the mesh.
    ///
    /// # Errors
    /// As [`VoxTree::from_field`], and `InvalidMesh` for a mesh without triangles.
    pub fn from_mesh(mesh: &TriMesh, options: &TreeOptions, progress: &Progress) -> Result<Self> {
        if mesh.triangles.is_empty() {
            return Err(Error::InvalidMesh("there are no triangles; expected at least 1".into()));
        }
        let grid = options.grid(&mesh.bounds())?;
        progress.guard("making a tree of voxels", || {
            let model = VoxelModel::on_grid(mesh, grid, options.memory_limit, progress)?;
            let field = if options.normals { Some(MeshField::new(mesh.copied())?) } else { None };
            Self::build(&model, field.as_ref(), options, progress)
        })
    }

    /// Makes the tree of a model. `field`: for the normals, if `options` ask for them; the voxel size is that of the model.
    ///
    /// # Errors
    /// `InvalidArgument` for a model without voxels, or normals without a field; `TooLarge`.
    pub fn from_model<F: SignedDistance>(
        model: &VoxelModel,
        field: Option<&F>,
        options: &TreeOptions,
        progress: &Progress,
    ) -> Result<Self> {
        progress.guard("making a tree of voxels", || Self::build(model, field, options, progress))
    }

    fn build<F: SignedDistance>(
        model: &VoxelModel,
        field: Option<&F>,
        options: &TreeOptions,
        progress: &Progress,
    ) -> Result<Self> {
        if options.normals && field.is_none() {
            return Err(Error::argument("normals", "true", "a field to take them from"));
        }
        progress.report("tree of voxels", 0.0)?;
        let grid = model.grid();
        let n = options.branching as u32;
        let longest = grid.dims().into_iter().max().unwrap_or(1);
        let levels = (longest.next_power_of_two().ilog2().div_ceil(n)).max(1);
        let too_large =
            |needed| Error::TooLarge { what: "a tree of voxels".into(), needed, limit: options.memory_limit };
        let sets_bytes = model.bytes() + 2 * Set::bytes(grid.dims());
        if sets_bytes > options.memory_limit {
            return Err(too_large(sets_bytes));
        }
        let mut sets: Vec<Set> = with_capacity(levels as usize);
        sets.push_guarded(Set::of_model(model, options.voxels == Voxels::Solid));
        for _ in 1..levels {
            let coarse = sets[sets.len() - 1].coarser(n);
            sets.push_guarded(coarse);
        }
        let counts: Vec<u64> = sets.iter().map(Set::count).collect();
        let (voxels, inner) = (counts[0], counts[1..].iter().sum::<u64>() + 1);
        if voxels == 0 {
            return Err(Error::argument("model", "without voxels", "at least one voxel in the body"));
        }
        let words = (inner * 8u64.pow(n)).div_ceil(64);
        // Masks, ranks and normals; two lists of places while they are made.
        let largest = counts[1..].iter().copied().max().unwrap_or(0);
        let needed = words * 12 + if options.normals { voxels * 4 } else { 0 } + largest * 12;
        if sets_bytes + needed > options.memory_limit {
            return Err(too_large(sets_bytes + needed));
        }
        if voxels + inner >= u64::from(u32::MAX) || words > u64::from(u32::MAX) {
            return Err(Error::argument("voxel_size", options.voxel_size, "fewer than 2^32 voxels and nodes"));
        }
        let spacing = f64::from(grid.voxel_size());
        let half_root = 0.5 * f64::from(1u32 << (n * levels));
        let first = grid.center() + Vec3::from(grid.nodes().min.map(f64::from));
        let mut tree = Self {
            branching: options.branching,
            levels,
            voxel_size: spacing,
            origin: first.add_scalar((half_root - 0.5) * spacing),
            solid: options.voxels == Voxels::Solid,
            inner_count: inner as u32,
            voxel_count: voxels as u32,
            masks: filled(0, words as usize),
            ranks: with_capacity(words as usize),
            normals: Vec::new(),
        };
        let parents = tree.fill(&sets);
        let mut sum = 0;
        for mask in &tree.masks {
            tree.ranks.push_guarded(sum);
            sum += mask.count_ones();
        }
        progress.report("tree of voxels", 0.5)?;
        if let (true, Some(field)) = (options.normals, field) {
            tree.fill_normals(&parents, field);
        }
        progress.report("tree of voxels", 1.0)?;
        Ok(tree)
    }

    /// Writes the masks, level by level. Returns the places of the parents of voxels.
    fn fill(&mut self, sets: &[Set]) -> Vec<[u16; 3]> {
        let n = self.branching as u32;
        let edge = 1u32 << n;
        let row = (1u64 << edge) - 1;
        let mut now: Vec<[u16; 3]> = with_capacity(1);
        now.push_guarded([0; 3]);
        let mut node = 0usize;
        for level in (0..sets.len()).rev() {
            let below = &sets[level];
            let mut next: Vec<[u16; 3]> = if level > 0 { with_capacity(below.count() as usize) } else { Vec::new() };
            for at in &now {
                let first = at.map(|x| u32::from(x) << n);
                for z in 0..edge {
                    for y in 0..edge {
                        let bits = below.bits(first[0], first[1] + y, first[2] + z) & row;
                        let bit = node * 8usize.pow(n) + ((z << n | y) << n) as usize;
                        self.masks[bit / 64] |= bits << (bit % 64);
                        let mut rest = bits;
                        while rest != 0 && level > 0 {
                            let x = first[0] + rest.trailing_zeros();
                            next.push_guarded([x, first[1] + y, first[2] + z].map(|x| x as u16));
                            rest &= rest - 1;
                        }
                    }
                }
                node += 1;
            }
            if level > 0 {
                now = next;
            }
        }
        now
    }

    fn fill_normals<F: SignedDistance>(&mut self, parents: &[[u16; 3]], field: &F) {
        let mut normals = filled(NO_NORMAL, self.voxel_count as usize);
        let first_parent = self.inner_count - parents.len() as u32;
        // Parents in runs, each with the normals of its voxels.
        const RUN: usize = 256;
        let mut runs: Vec<(usize, &mut [[i16; 2]])> = with_capacity(parents.len().div_ceil(RUN));
        let mut rest = normals.as_mut_slice();
        for run in (0..parents.len()).step_by(RUN) {
            let mut count = 0;
            for parent in run..(run + RUN).min(parents.len()) {
                self.each_child(first_parent + parent as u32, |_, _| count += 1);
            }
            let (these, others) = rest.split_at_mut(count);
            runs.push_guarded((run, these));
            rest = others;
        }
        let near = self.origin;
        let shift = self.origin - field.local_origin(&near);
        let n = self.branching as u32;
        runs.into_par_iter().for_each(|(run, out)| {
            let mut next = 0;
            for parent in run..(run + RUN).min(parents.len()) {
                self.each_child(first_parent + parent as u32, |_, place| {
                    let at = [0, 1, 2].map(|k| (parents[parent][k] << n) + place[k]);
                    let p = self.local_center(at, 0) + shift;
                    let (_, g) = field.distance_gradient([p.x as f32, p.y as f32, p.z as f32]);
                    out[next] = encode_normal(Vec3::from(g.map(f64::from)));
                    next += 1;
                });
            }
        });
        self.normals = normals;
    }
}

/// A set of places on one level, one bit each; rows along x of whole words.
struct Set {
    dims: [u32; 3],
    words: usize,
    data: Vec<u64>,
}

impl Set {
    fn bytes(dims: [u32; 3]) -> u64 {
        u64::from(dims[0].div_ceil(64)) * 8 * u64::from(dims[1]) * u64::from(dims[2])
    }

    fn new(dims: [u32; 3]) -> Self {
        let words = dims[0].div_ceil(64) as usize;
        Self { dims, words, data: filled(0, words * dims[1] as usize * dims[2] as usize) }
    }

    fn of_model(model: &VoxelModel, solid: bool) -> Self {
        let mut set = Self::new(model.grid().dims());
        let ny = set.dims[1] as usize;
        set.data.par_chunks_mut(set.words * ny).enumerate().for_each(|(k, slice)| {
            for (j, row) in slice.chunks_mut(row_words(model)).enumerate() {
                row.iter_mut().zip(model.row(j as u32, k as u32, solid)).for_each(|(to, from)| *to = from);
            }
        });
        set
    }

    fn count(&self) -> u64 {
        self.data.par_iter().map(|w| u64::from(w.count_ones())).sum()
    }

    /// Bits of row (y, z) from x on, up to the end of the word that holds x; 0 beyond the set.
    #[inline(always)]
    fn bits(&self, x: u32, y: u32, z: u32) -> u64 {
        if x >= self.dims[0] || y >= self.dims[1] || z >= self.dims[2] {
            return 0;
        }
        let row = z as usize * self.dims[1] as usize + y as usize;
        self.data[row * self.words + x as usize / 64] >> (x % 64)
    }

    /// Returns the places of cubes of 2ᴺ places that hold some place of the set.
    fn coarser(&self, n: u32) -> Self {
        let mut out = Self::new(self.dims.map(|d| d.div_ceil(1 << n)));
        let (words, ny) = (out.words, out.dims[1] as usize);
        out.data.par_chunks_mut(words * ny).enumerate().for_each(|(z, slice)| {
            for k in z << n..((z + 1) << n).min(self.dims[2] as usize) {
                for j in 0..self.dims[1] as usize {
                    let row = &self.data[(k * self.dims[1] as usize + j) * self.words..][..self.words];
                    let to = &mut slice[(j >> n) * words..][..words];
                    for (w, &word) in row.iter().enumerate() {
                        let mut rest = word;
                        while rest != 0 {
                            let x = (w * 64 + rest.trailing_zeros() as usize) >> n;
                            to[x / 64] |= 1 << (x % 64);
                            // Clears the whole cube.
                            let end = (x + 1) << n;
                            rest = if end >= (w + 1) * 64 { 0 } else { rest & (u64::MAX << (end - w * 64)) };
                        }
                    }
                }
            }
        });
        out
    }
}

fn row_words(model: &VoxelModel) -> usize {
    model.grid().dims()[0].div_ceil(64) as usize
}
