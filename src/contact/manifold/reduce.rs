//! Manifold reduction: from a contact set to the few points that a solver needs.

/// Factor by which another candidate must be better to displace a preferred feature.
const HYSTERESIS: f32 = 1.2;

/// A contact among which the reduction chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) point: [f32; 3],
    pub(crate) separation: f32,
    pub(crate) feature: u32,
    /// Index of the candidate in its source.
    pub(crate) index: u32,
    /// Squared distance to the nearest chosen candidate, during the selection.
    pub(crate) apart: f32,
}

fn sub(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn area_squared(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> f32 {
    let n = cross(sub(b, a), sub(c, a));
    dot(n, n)
}

/// Keeps `n` candidates, in the order in which they were chosen: the deepest; the one farthest from it; the one that
/// spans the largest triangle with both; the one that adds most area outside that triangle; further ones by largest
/// distance from all chosen. The rule "deepest, then largest area" is that of Sagardia et al. 2014, section 3.2.
///
/// Candidates among `preferred` (sorted) win unless another is better by [`HYSTERESIS`]. Ties go to the lower
/// feature, so the result does not depend on the order of the input.
pub(crate) fn reduce(candidates: &mut Vec<Candidate>, n: usize, preferred: &[u32]) {
    if candidates.len() <= n {
        return;
    }
    candidates.iter_mut().for_each(|c| c.apart = f32::INFINITY);
    for chosen in 0..n {
        let (done, rest) = candidates.split_at_mut(chosen);
        if let [.., last] = done {
            // Distance to the nearest chosen candidate: only the last one is new.
            for c in rest.iter_mut() {
                let d = sub(c.point, last.point);
                c.apart = c.apart.min(dot(d, d));
            }
        }
        let mut best = 0;
        let mut best_score = f32::NEG_INFINITY;
        for (i, c) in rest.iter().enumerate() {
            let mut score = match &*done {
                [] => -c.separation,
                [a, b] => area_squared(a.point, b.point, c.point),
                [a, b, d] => area_outside(a.point, b.point, d.point, c.point),
                _ => c.apart,
            };
            if chosen > 0 && preferred.binary_search(&c.feature).is_ok() {
                score *= HYSTERESIS * HYSTERESIS;
            }
            if score > best_score || (score == best_score && c.feature < rest[best].feature) {
                best = i;
                best_score = score;
            }
        }
        candidates.swap(chosen, chosen + best);
    }
    candidates.truncate(n);
}

/// Returns the squared area that `p` adds to the triangle `a b c`: the largest of the triangles that `p` forms with
/// an edge beyond which it lies; 0 inside the triangle.
fn area_outside(a: [f32; 3], b: [f32; 3], c: [f32; 3], p: [f32; 3]) -> f32 {
    let normal = cross(sub(b, a), sub(c, a));
    let mut most = 0.0f32;
    for (u, v) in [(a, b), (b, c), (c, a)] {
        let t = cross(sub(v, u), sub(p, u));
        if dot(t, normal) < 0.0 {
            most = most.max(dot(t, t));
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(point: [f32; 3], separation: f32, feature: u32) -> Candidate {
        Candidate { point, separation, feature, index: feature, apart: 0.0 }
    }

    fn grid() -> Vec<Candidate> {
        (0..100).map(|i| candidate([(i % 10) as f32, (i / 10) as f32, 0.0], 0.0, i)).collect()
    }

    #[test]
    fn the_corners_of_a_flat_patch_are_kept() {
        let mut c = grid();
        c[44].separation = -0.01;
        reduce(&mut c, 5, &[]);
        let mut features: Vec<u32> = c.iter().map(|c| c.feature).collect();
        assert_eq!(features[0], 44, "the deepest comes first");
        features.sort_unstable();
        assert_eq!(features, [0, 9, 44, 90, 99]);
    }

    #[test]
    fn the_result_does_not_depend_on_the_order_of_the_input() {
        for n in 1..9 {
            let mut forward = grid();
            let mut backward: Vec<Candidate> = grid().into_iter().rev().collect();
            reduce(&mut forward, n, &[]);
            reduce(&mut backward, n, &[]);
            let of = |c: &[Candidate]| c.iter().map(|c| c.feature).collect::<Vec<_>>();
            assert_eq!(of(&forward), of(&backward), "n = {n}");
        }
    }

    #[test]
    fn preferred_features_stay_when_nearly_as_good() {
        let mut c = grid();
        c[44].separation = -0.01;
        reduce(&mut c, 5, &[1, 8, 91, 98]);
        let mut features: Vec<u32> = c.iter().map(|c| c.feature).collect();
        features.sort_unstable();
        assert_eq!(features, [1, 8, 44, 91, 98]);
    }
}
