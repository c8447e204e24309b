//! Conversion of a brick field to and from its parts, the form in which files hold it.

use super::build::certify;
use super::index::{self, Index};
use super::layout::STEP;
use super::masks::{self, slot, Masks};
use super::{bricks_of, BrickField, BrickHeader, BrickParts, FineBricks, STRIDE};
use voxshell_base::math::{limits, Aabb};
use voxshell_base::memory::{boxed, filled, CollectGuarded, GrowGuarded, SliceGuarded};
use voxshell_base::{Error, Result};

impl TryFrom<BrickParts> for BrickField {
    type Error = Error;
    fn try_from(parts: BrickParts) -> Result<Self> {
        Self::from_parts(parts)
    }
}

impl From<BrickField> for BrickParts {
    fn from(field: BrickField) -> Self {
        field.parts()
    }
}

impl BrickHeader {
    fn check(&self) -> Result<()> {
        self.grid.check()?;
        let sound = |x: f32| x.is_finite() && x > 0.0;
        if !sound(self.quantum) || !sound(self.node_lipschitz) || !self.rounding.is_finite() {
            let what = format!("{}, {}, {}", self.quantum, self.node_lipschitz, self.rounding);
            return Err(Error::argument("quantum, node_lipschitz, rounding", what, "finite, positive numbers"));
        }
        if self.step < STEP || !self.step.is_power_of_two() || self.step > 1 << 15 {
            return Err(Error::argument("step", self.step, "a power of two from 64"));
        }
        limits::check_point("center", &self.center)
    }
}

impl BrickParts {
    /// Returns the number of samples of the given fine bricks and of all corners. Checks the bricks.
    pub fn sample_count(header: &BrickHeader, bricks: &[u32]) -> Result<usize> {
        header.grid.check()?;
        index::sample_count(bricks_of(&header.grid), bricks)
    }
}

impl BrickField {
    /// Returns all parts of the field; the samples are shared.
    pub fn parts(&self) -> BrickParts {
        let [nx, ny, _] = self.bricks();
        let fine = self.index.fine();
        BrickParts {
            header: self.header.clone(),
            bricks: fine.map(|([i, j, k], _)| (k * ny + j) * nx + i).collect_guarded(),
            rises: self.index.fine().map(|(_, from)| self.rises[slot(from)]).collect_guarded(),
            samples: self.samples.clone(),
            certificate: Some(self.certificate),
            masks: Some(self.masks.words(&self.index)),
        }
    }

    /// Checks the numbers that do not come from the samples, as [`BrickField::from_parts`] does.
    pub fn check(&self) -> Result<()> {
        self.header.check()?;
        self.certificate.checked(&self.header).map(drop)
    }

    /// Returns the field of such parts, after checking that they fit each other.
    pub fn from_parts(parts: BrickParts) -> Result<Self> {
        let BrickParts { mut header, bricks, rises, samples, certificate, masks } = parts;
        header.check()?;
        if [bricks.len(), rises.len()] != [header.fine as usize; 2] {
            let what = format!("{} and {}", bricks.len(), rises.len());
            return Err(Error::argument("bricks and rises", what, format!("{} each", header.fine)));
        }
        let index = Index::new(bricks_of(&header.grid), &bricks, samples.len())?;
        let certificate = match certificate {
            Some(given) => given.checked(&header)?,
            None => certify(&header.grid, header.step, &index, &samples),
        };
        let (hot, lower) = certificate.constants(&header, &index);
        let masks = match masks {
            None => Masks::new(&index, &samples),
            Some(words) => Masks::from_words(&index, bricks.len(), &words).ok_or_else(|| {
                Error::argument("masks", format!("{} words", words.len()), "one mask for each bit set")
            })?,
        };
        let mut by_slot = filled(0, masks::slots(&index));
        index.fine().zip(&rises).for_each(|((_, from), &rise)| by_slot[slot(from)] = rise);
        let body = Aabb { min: lower.min + header.center, max: lower.max + header.center };
        header.bounds = body.merged(&header.bounds);
        Ok(Self { header, index, samples, rises: boxed(by_slot), certificate, hot, masks })
    }

    /// Returns the field of fine bricks that do not share samples: `STRIDE` numbers for each of `bricks`, the
    /// samples x fastest and their largest excess over the distance; and of coarse samples.
    pub fn from_separate(header: BrickHeader, bricks: Vec<u32>, samples: Vec<i16>, coarse: &[i16]) -> Result<Self> {
        header.grid.check()?;
        if samples.len() != bricks.len() * STRIDE {
            let what = format!("{} samples of {} bricks", samples.len(), bricks.len());
            return Err(Error::argument("samples", what, format!("{STRIDE} for each")));
        }
        let (bricks, rises, mut samples) = index::join(bricks_of(&header.grid), FineBricks { bricks, samples });
        samples.extend_guarded(coarse.iter().copied());
        let samples = samples.to_vec_guarded().into();
        Self::from_parts(BrickParts { header, bricks, rises, samples, certificate: None, masks: None })
    }
}
