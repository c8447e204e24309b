//! Options of a pointshell, and their checks.

use voxshell_base::{Error, Result};

/// Placement of samples on a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// Centres of the surface voxels of a grid of this size, projected on the triangles and kept when no kept sample is
    /// nearer than the spacing (Sagardia et al. 2014, section 2.1.2; theirs is √2·`voxel_size`). Metres.
    Projection { voxel_size: f64 },
    /// Each vertex that a triangle uses, once, and sharp edges at the spacing when that is given; with a `target_count`
    /// below their number, corners and a blue-noise choice of the others.
    Vertices,
    /// Blue noise over the area: by weighted sample elimination (Yuksel 2015).
    Uniform,
    /// Blue noise in which protruding vertices take precedence over points inside the triangles: first those that planes
    /// meet first, then those that project above their surroundings at the scale of the spacing.
    VerticesAndUniform,
    /// Corners and sharp edges only, at the spacing or as many as `target_count` says. They do not cover the surface:
    /// they are the samples of a body that would otherwise sink in between the samples of another one.
    Features,
}

/// Construction of the spheres around the clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// The smallest ball around all samples below the node (Sagardia et al. 2014, section 2.1.2). The tightest.
    MinimalBalls,
    /// The smallest ball around all samples below the node among those centred on one of these samples (Barbič & James
    /// 2008; Xu & Barbič 2014, section 3.3), so that testing a sphere's centre tests a sample. Radii are larger by about a
    /// fifth at the leaves and a few percent above.
    NestedOnSamples,
}

/// Method of grouping samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clustering {
    /// Bottom-up, level by level: division by planes into sets of equal number, then exchanges between neighbours that
    /// make the clusters round. The expected work of a traversal (the sum over nodes of radius times children) is a
    /// fifth less than with `Greedy`, on the bunny with 35,000 samples and the dragon with 437,645; construction takes
    /// three times as long.
    Balanced,
    /// Bottom-up: the walk from nearest to nearest neighbour, with outliers re-assigned (Sagardia et al. 2014, section
    /// 2.1.2).
    Greedy,
}

/// Options of making a pointshell. Start from `Default` and set `spacing` or `target_count`.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellOptions {
    pub method: Sampling,
    /// Target distance between neighbouring samples, metres: blue noise has as many samples as a hexagonal lattice of
    /// this spacing, neighbours at least 0.65 of it apart (except for edges), and a covering radius of about 1.1 of it
    /// (the lattice: 0.58). Without effect when `target_count` is given. NaN means unset: allowed for the vertices, and
    /// for projection, where it becomes √2·`voxel_size`.
    pub spacing: f64,
    /// Target number of samples: met exactly by the blue-noise methods unless the corners and components alone are
    /// more, and within about 1% by projection.
    pub target_count: Option<usize>,
    /// Edges whose faces' normals differ by more than this get samples along them at the spacing, and corners, where such
    /// edges meet or turn, always; so do boundary and non-manifold edges. Radians, in (0, π]; π switches it off for edges
    /// between two faces. Connected sharp edges that fit in half the spacing are a detail (the noise of a scan) and get one
    /// sample; corners next to each other are thinned when a `target_count` is too small for them.
    pub sharp_angle: f64,
    /// K: children per node and samples per leaf, 1 to 64. With 1 the inner nodes have two children.
    pub branching: u32,
    pub tree: TreeKind,
    pub clustering: Clustering,
    /// Seed of the pseudo-random numbers: the same seed gives the same shell.
    pub seed: u64,
    /// Memory limit of a shell with its scratch, bytes; a larger shell is refused.
    pub memory_limit: u64,
}

impl Default for ShellOptions {
    /// Vertices and blue noise, sharp edges above 30°, K = 8, 4 GiB. `spacing` is NaN: it must be set, or `target_count`.
    ///
    /// This method lets planes sink in least at a given number of samples. On the 34k bunny of 1 m, a plane from a
    /// random direction goes deeper into the samples than into the mesh by (mean and largest, mm): with 799 samples
    /// 0.57 and 3.0, against 2.2 and 13 for uniform, 2.1 and 11 for projected samples; with 35,000 samples 0.003 and
    /// 0.33, against 0.11 and 0.95, 0.06 and 0.82 (`default_sampling_lets_planes_sink_in_least`).
    fn default() -> Self {
        Self {
            method: Sampling::VerticesAndUniform,
            spacing: f64::NAN,
            target_count: None,
            sharp_angle: std::f64::consts::FRAC_PI_6,
            branching: 8,
            tree: TreeKind::MinimalBalls,
            clustering: Clustering::Balanced,
            seed: 1,
            memory_limit: 4 << 30,
        }
    }
}

impl ShellOptions {
    pub fn check_tree(&self) -> Result<()> {
        if !(1..=64).contains(&self.branching) {
            return Err(Error::argument("branching", self.branching, "1 to 64"));
        }
        Ok(())
    }

    pub fn check_sampling(&self) -> Result<()> {
        let is_length = |x: f64| x > 0.0 && x.is_finite();
        if let Sampling::Projection { voxel_size } = self.method {
            if !is_length(voxel_size) {
                return Err(Error::argument("voxel_size", voxel_size, "a positive, finite length in metres"));
            }
        }
        match self.target_count {
            Some(0) => return Err(Error::argument("target_count", 0, "at least 1")),
            Some(_) => {}
            None => {
                let has_own = matches!(self.method, Sampling::Projection { .. } | Sampling::Vertices);
                if !(is_length(self.spacing) || self.spacing.is_nan() && has_own) {
                    let expected = "a positive, finite length in metres, or a target_count instead";
                    return Err(Error::argument("spacing", self.spacing, expected));
                }
            }
        }
        if !(self.sharp_angle > 0.0 && self.sharp_angle <= std::f64::consts::PI) {
            return Err(Error::argument("sharp_angle", self.sharp_angle, "an angle in (0, π], radians"));
        }
        Ok(())
    }

    /// Checks the bytes of the finished arrays, of the scratch for making them and of `others` against the limit;
    /// returns their number.
    pub fn check_memory(&self, samples: u64, bytes_per_sample: u64, others: u64) -> Result<u64> {
        let needed = samples.saturating_mul(bytes_per_sample).saturating_add(others);
        let what = || format!("a pointshell of {samples} samples");
        if needed > self.memory_limit {
            return Err(Error::TooLarge { what: what(), needed, limit: self.memory_limit });
        }
        let most = u64::from(u32::MAX) / 4;
        if samples > most {
            let expected = format!("at most {most}: try a larger spacing");
            return Err(Error::TooMany { what: what(), expected, needed });
        }
        Ok(needed)
    }
}
