//! What a caller may choose about a pointshell, and the checks on it.

use crate::{Error, Result};

/// Where samples are put on a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// Centres of the surface voxels of a grid of this size, projected on the triangles and kept when no kept sample is
    /// nearer than the spacing (Sagardia et al. 2014, section 2.1.2; theirs is √2·`voxel_size`). Metres.
    Projection { voxel_size: f64 },
    /// Each vertex that a triangle uses, once. The spacing plays no part but for sharp edges.
    Vertices,
    /// Blue noise over the area: by weighted sample elimination (Yuksel 2015).
    Uniform,
    /// Blue noise in which the mesh's vertices take precedence over points inside its triangles, the more so the more
    /// they stick out: what first touches a neighbour is sampled exactly.
    VerticesAndUniform,
}

/// How spheres are put around the clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// The smallest ball around all samples below the node (Sagardia et al. 2014, section 2.1.2). The tightest.
    MinimalBalls,
    /// The smallest ball around all samples below the node among those centred on one of these samples (Barbič & James
    /// 2008; Xu & Barbič 2014, section 3.3), so that testing a sphere's centre tests a sample.
    NestedOnSamples,
}

/// How samples are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clustering {
    /// Top-down into parts of equal number by planes, full clusters at the leaves.
    Balanced,
    /// Bottom-up: the walk from nearest to nearest neighbour, with outliers re-assigned (Sagardia et al. 2014, section
    /// 2.1.2).
    Greedy,
}

/// How a pointshell is made. Start from `Default` and set `spacing` or `target_count`.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellOptions {
    pub method: Sampling,
    /// Distance between neighbouring samples aimed at, metres. Without effect when `target_count` is given.
    pub spacing: f64,
    /// Number of samples aimed at.
    pub target_count: Option<usize>,
    /// Edges whose faces' normals differ by more than this get samples along them at the spacing, and where such edges
    /// end or turn a sample always; so do boundary and non-manifold edges. Radians, in (0, π]; π switches it off for
    /// edges between two faces.
    pub sharp_angle: f64,
    /// K: children per node and samples per leaf, 1 to 64. With 1 the inner nodes have two children.
    pub branching: u32,
    pub tree: TreeKind,
    pub clustering: Clustering,
    /// Of the pseudo-random numbers: same seed, same shell.
    pub seed: u64,
    /// Refuse to make a shell (with its scratch) larger than this, bytes.
    pub memory_limit: u64,
}

impl Default for ShellOptions {
    /// Vertices and blue noise, sharp edges above 30°, K = 8, 4 GiB. `spacing` is NaN: it must be set, or `target_count`.
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
    pub(super) fn check_tree(&self) -> Result<()> {
        if !(1..=64).contains(&self.branching) {
            return Err(Error::argument("branching", self.branching, "1 to 64"));
        }
        Ok(())
    }

    pub(super) fn check_sampling(&self) -> Result<()> {
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

    /// The finished arrays and the scratch of making them, against the limit.
    pub(super) fn check_memory(&self, samples: u64, bytes_per_sample: u64) -> Result<()> {
        let needed = samples.saturating_mul(bytes_per_sample);
        if needed > self.memory_limit || samples > u32::MAX as u64 / 4 {
            let what = format!("a pointshell of {samples} samples");
            return Err(Error::TooLarge { what, needed, limit: self.memory_limit });
        }
        Ok(())
    }
}
