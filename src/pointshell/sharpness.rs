//! How sharp a body is at the distance of its samples.
//!
//! Samples of another body see an edge or a tip only by chance, because it fits between them; samples on the edge see the
//! other body there. So the choice of the body that brings its samples needs to know which bodies have such features.

use super::shell::PointShell;

/// Cosine of the least angle by which the surface turns within a cluster of a sharp place: 50°.
const TURN: f64 = 0.642_787_609_686_539_3;

/// Least number of samples of a cluster, on average.
const CLUSTER: usize = 4;

/// Number of samples of a cluster that are compared with each other.
const COMPARED: usize = 64;

impl PointShell {
    /// Returns the length of the convex places, in radii of the shell's sphere, at which the surface turns by more than 50°
    /// within a cluster of samples: 0 for a smooth body whose samples are close, about 14 for a cube. It is the sum of the
    /// diameters of the clusters of samples in which the surface turns so. Computed on the first call.
    pub fn sharpness(&self) -> f32 {
        *self.sharpness.get_or_compute("measuring the sharpness of samples", || self.measure_sharpness())
    }

    fn measure_sharpness(&self) -> f32 {
        let tree = &self.tree;
        let Some(&radius) = tree.radius.first().filter(|radius| **radius > 0.0) else { return 0.0 };
        let is_cluster = |level: &usize| self.len() >= CLUSTER * tree.level(*level).len();
        let Some(level) = (0..tree.depth()).rev().find(is_cluster) else { return 0.0 };
        let sharp = tree.level(level).filter(|&node| {
            let first = tree.first_sample[node] as usize;
            let count = (tree.sample_count[node] as usize).min(COMPARED);
            (first..first + count).any(|i| (first..i).any(|j| self.is_ridge_between(i, j)))
        });
        let length = sharp.fold(0.0, |length, node| length + 2.0 * f64::from(tree.radius[node]));
        (length / f64::from(radius)) as f32
    }

    /// Returns whether the surface turns by more than [`TURN`] between two samples, and away from them.
    fn is_ridge_between(&self, i: usize, j: usize) -> bool {
        let wide = |v: [f32; 3]| v.map(f64::from);
        let (p, q, m, n) = (wide(self.point(i)), wide(self.point(j)), wide(self.normal(i)), wide(self.normal(j)));
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let minus = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        dot(m, n) < TURN && dot(minus(m, n), minus(p, q)) > 0.0
    }
}
