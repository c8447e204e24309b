//! Counts of wrong answers.

/// Numbers of wrong answers.
#[derive(Default)]
pub struct Verdict {
    /// Bodies that intersect by more than a tolerance and have no contact at a separation of 0 or less.
    pub missed: usize,
    /// Deepest contacts that are less deep than the triangles by more than a tolerance, missed ones among them.
    pub shallow: usize,
    /// Deepest contacts that are deeper than the triangles by more than a tolerance.
    pub deep: usize,
}

impl Verdict {
    /// Counts an answer: the separation of its deepest contact, if it has one, beside the depth of the triangles, which is
    /// negative for bodies that are apart. Metres. Returns whether it is wrong.
    pub fn add(&mut self, found: Option<f64>, depth: f64, tolerance: f64, margin: f64) -> bool {
        let is_wanted = -depth < margin - tolerance;
        let error = found.map_or(if is_wanted { f64::INFINITY } else { 0.0 }, |separation| separation + depth);
        let is_missed = depth > tolerance && found.is_none_or(|separation| separation > 0.0);
        self.missed += usize::from(is_missed);
        self.shallow += usize::from(error > tolerance);
        self.deep += usize::from(error < -tolerance);
        is_missed || error.abs() > tolerance
    }
}

/// Differences in tolerances.
#[derive(Default)]
pub struct Differences {
    pub largest: f64,
    /// Number of those above one, missing answers among them.
    pub beyond: usize,
    /// Number of answers that are missing.
    pub missing: usize,
}

impl Differences {
    /// Counts a difference in tolerances. Returns whether it is above one.
    pub fn add(&mut self, difference: f64) -> bool {
        let difference = difference.abs();
        self.largest = self.largest.max(difference);
        let is_beyond = difference > 1.0;
        self.beyond += usize::from(is_beyond);
        is_beyond
    }

    /// Counts the difference of two separations, metres; an answer is missing if there is only one of them. Returns whether
    /// that is so or the difference is above a tolerance.
    pub fn between(&mut self, p: Option<f64>, q: Option<f64>, tolerance: f64) -> bool {
        match (p, q) {
            (Some(p), Some(q)) => self.add((p - q) / tolerance),
            (None, None) => false,
            _ => {
                self.missing += 1;
                self.beyond += 1;
                true
            }
        }
    }
}

/// Formats a separation in millimetres.
pub fn in_mm(separation: Option<f64>) -> String {
    separation.map_or("no contact".into(), |separation| format!("{:.4} mm", 1e3 * separation))
}
