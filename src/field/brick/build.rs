//! Construction of a brick field from exact samples: quanta, seams, and the certificate of the result.

use rayon::prelude::*;

use super::constants::{Certified, Hot};
use super::fine;
use super::index::Index;
use super::layout::{borders, each_node, MAX_STEP, STEP};
use super::{
    bricks_of, corners_of, place_of, BrickField, BrickHeader, Certificate, Draft, FineBricks, CELLS, STRIDE, VOLUME,
};
use crate::report::FieldError;
use crate::Grid;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{filled, CollectGuarded};
use voxshell_base::{Error, Result};

impl BrickField {
    pub fn build(draft: Draft) -> Result<Self> {
        let Draft { grid, center, coarse, fine, quantum, node_lipschitz, rounding, sign } = draft;
        let bricks = bricks_of(&grid);
        let largest = coarse.iter().fold(0.0f32, |a, v| a.max(v.abs()));
        let mut step = STEP;
        while largest > 32_767.0 * quantum * step as f32 {
            step *= 2;
        }
        if step > MAX_STEP {
            let most = 32_767.0 * quantum * MAX_STEP as f32;
            let what = format!("{largest} m at a voxel size of {} m", grid.spacing);
            return Err(Error::argument("distance from the surface in the grid", what, format!("at most {most} m")));
        }
        let FineBricks { bricks: numbers, mut samples } = fine;
        let mut is_fine = filled(false, bricks.iter().map(|&n| n as usize).product());
        numbers.iter().for_each(|&b| is_fine[b as usize] = true);
        let unit = 1.0 / (quantum * step as f32);
        let corners: Vec<i16> = coarse.iter().map(|v| (v * unit).round() as i16).collect_guarded();
        drop(coarse);
        let seams = Seams { bricks, is_fine: &is_fine, coarse: &corners, step };
        samples.par_chunks_exact_mut(STRIDE).zip(&numbers).for_each(|(samples, &brick)| seams.close(brick, samples));
        drop(is_fine);
        let header = BrickHeader {
            grid,
            fine: numbers.len() as u32,
            quantum,
            step,
            node_lipschitz,
            rounding,
            center,
            bounds: Aabb::empty(),
            error: FieldError::default(),
            sign,
        };
        Self::from_separate(header, numbers, samples, &corners)
    }
}

/// Returns for each of the 27 pieces of a brick (inside, faces, edges, corners; 0 lower, 1 between, 2 upper along
/// each axis, x fastest) whether a coarse brick shares it.
fn seam_parts(bricks: [u32; 3], place: [u32; 3], is_fine: impl Fn(usize) -> bool) -> [bool; 27] {
    // Coarse neighbours, with the same numbering.
    let mut coarse = [false; 27];
    for (n, c) in coarse.iter_mut().enumerate() {
        let at = [0, 1, 2].map(|k| i64::from(place[k]) + [n % 3, n / 3 % 3, n / 9][k] as i64 - 1);
        if (0..3).all(|k| (0..i64::from(bricks[k])).contains(&at[k])) {
            let number = (at[2] * i64::from(bricks[1]) + at[1]) * i64::from(bricks[0]) + at[0];
            *c = !is_fine(number as usize);
        }
    }
    // A piece is shared by the neighbours that differ from the middle only along axes where the piece is at a side.
    std::array::from_fn(|n| {
        let part = [n % 3, n / 3 % 3, n / 9];
        (0..27).any(|m| {
            let neighbour = [m % 3, m / 3 % 3, m / 9];
            coarse[m] && (0..3).all(|k| neighbour[k] == 1 || neighbour[k] == part[k])
        })
    })
}

/// Returns the piece of a brick that contains a node (0 to 8 along each axis).
fn part_of([x, y, z]: [u32; 3]) -> usize {
    let side = |i: u32| match i {
        0 => 0,
        CELLS => 2,
        _ => 1,
    };
    side(x) + 3 * side(y) + 9 * side(z)
}

struct Seams<'a> {
    bricks: [u32; 3],
    is_fine: &'a [bool],
    coarse: &'a [i16],
    step: u32,
}

impl Seams<'_> {
    /// Sets the samples of a fine brick on seams to the coarse interpolant, and stores the largest excess of a sample
    /// over the distance that it represents.
    fn close(&self, brick: u32, samples: &mut [i16]) {
        let place = place_of(brick as usize, self.bricks);
        let seam = seam_parts(self.bricks, place, |b| self.is_fine[b]);
        // Samples are rounded to the nearest quantum; the distance itself may be half a quantum lower.
        let mut rise = 1;
        if seam.contains(&true) {
            let corners = corners_of(self.bricks, place).map(|c| i64::from(self.coarse[c]));
            each_node(|at, n| {
                if !seam[part_of(at)] {
                    return;
                }
                let mut sum = 0;
                for (c, v) in corners.iter().enumerate() {
                    let weight = |k: usize| i64::from(if c >> k & 1 == 1 { at[k] } else { CELLS - at[k] });
                    sum += v * weight(0) * weight(1) * weight(2);
                }
                // One coordinate is at an end, so the weights are multiples of 8, and the step is a multiple of 64.
                let value = (sum * i64::from(self.step) / 512) as i32;
                rise = rise.max(value - i32::from(samples[n]) + 1);
                samples[n] = value.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
            });
        }
        samples[VOLUME] = rise.min(65_535) as u16 as i16;
    }
}

/// Certifies a coarse brick from its corners, quanta.
fn coarse_part(grid: &Grid, place: [u32; 3], v: [i32; 8]) -> Certificate {
    let mut part = Certificate::NONE;
    let cells = f64::from(CELLS);
    for c in 0..8 {
        let slope = |a: usize| (f64::from(v[c]) - f64::from(v[c ^ 1 << a])) / cells;
        part.steepest = part.steepest.max(slope(0).powi(2) + slope(1).powi(2) + slope(2).powi(2));
    }
    part.settle(v.iter().copied());
    part.largest = v.iter().fold(0, |a, v| a.max(v.abs()));
    if v.iter().any(|&v| v <= 0) {
        part.include(place.map(|i| f64::from(i * CELLS)));
        part.include([0, 1, 2].map(|k| f64::from(((place[k] + 1) * CELLS).min(grid.dims[k] - 1))));
    }
    if borders(grid, place).next().is_some() {
        part.border = v.iter().copied().min().unwrap_or(i32::MAX);
    }
    part
}

/// Certifies the samples of a field.
pub(super) fn certify(grid: &Grid, step: u32, index: &Index, samples: &[i16]) -> Certificate {
    let (bricks, step) = (index.bricks, step as i32);
    let is_fine = |b: usize| index.at(place_of(b, bricks)) < index.coarse;
    let nodes = (0..index.len())
        .into_par_iter()
        .fold(
            || Certificate::NONE,
            |part, b| {
                let place = place_of(b, bricks);
                let from = index.at(place);
                part.merged(if from < index.coarse {
                    let seam = seam_parts(bricks, place, is_fine);
                    fine::part(grid, place, &seam, &samples[from..from + VOLUME])
                } else {
                    let corners = corners_of(bricks, place).map(|c| i32::from(samples[index.coarse + c]) * step);
                    coarse_part(grid, place, corners)
                })
            },
        )
        .reduce(|| Certificate::NONE, Certificate::merged);
    let widened = (0..index.len())
        .into_par_iter()
        .filter(|&b| is_fine(b))
        .fold(
            || Certificate::NONE,
            |mut widened, b| {
                let place = place_of(b, bricks);
                fine::widen(place, &samples[index.at(place)..][..VOLUME], &nodes, &mut widened);
                widened
            },
        )
        .reduce(|| Certificate::NONE, Certificate::merged);
    nodes.merged(widened)
}

impl Certificate {
    /// Refuses a certificate that no samples of such a field can have.
    pub(super) fn checked(self, header: &BrickHeader) -> Result<Self> {
        let most = 32_768 * header.step as i32;
        let (steepest, last) =
            (3.0 * (2.0 * f64::from(most)).powi(2), bricks_of(&header.grid).map(|n| f64::from(n * CELLS)));
        let numbers = (0.0..=steepest).contains(&self.steepest)
            && (0..=most).contains(&self.largest)
            && ((0..=most).contains(&self.calm) || self.calm == i32::MAX)
            && ((-most..=most).contains(&self.border) || self.border == i32::MAX);
        let empty = self.min == Self::NONE.min && self.max == Self::NONE.max;
        let boxed = (0..3).all(|k| 0.0 <= self.min[k] && self.min[k] <= self.max[k] && self.max[k] <= last[k]);
        if !numbers || !(empty || boxed) {
            return Err(Error::argument("certificate", format!("{self:?}"), "numbers that samples can have"));
        }
        Ok(self)
    }

    /// Returns the constants of sampling, and the box of {φ ≤ 0} in the local frame.
    pub(super) fn constants(&self, header: &BrickHeader, index: &Index) -> (Hot, Aabb) {
        let BrickHeader { grid, quantum, node_lipschitz, .. } = header;
        let (h, q) = (f64::from(grid.spacing), f64::from(*quantum));
        let place = |p: [f64; 3]| Vec3::from([0, 1, 2].map(|k| f64::from(grid.min[k]) + p[k] * h));
        let mut bounds = Aabb::empty();
        if self.min[0] <= self.max[0] {
            bounds.include(&place(self.min));
            bounds.include(&place(self.max));
            // Where the border of the grid is inside, φ rises by one per metre from there, and the positions are
            // rounded.
            let reach = bounds.extents().abs().max();
            bounds = bounds.inflated(f64::from(-self.border.min(0)) * q + 1e-6 * reach);
        }
        let lipschitz = (self.steepest.sqrt() * q / h * (1.0 + 1e-6)) as f32;
        let calm = if self.calm == i32::MAX { f32::INFINITY } else { (f64::from(self.calm) * q * (1.0 - 1e-6)) as f32 };
        let largest = (f64::from(self.largest) * q * (1.0 + 1e-6)) as f32;
        let border = (f64::from(self.border) * q) as f32;
        let border = border - 1e-6 * border.abs();
        let certified = Certified { lipschitz, node_lipschitz: *node_lipschitz, calm, largest, border };
        (Hot::new(header, index, certified), bounds)
    }
}
