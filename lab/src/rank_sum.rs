//! The rank-sum test of Mann & Whitney (1947): how likely two samples of one distribution are as far apart as given ones.
//! Exact, with equal values too: all ways to divide the values among the samples are counted.

/// Largest number of values of a sample.
pub const MOST: usize = 30;

/// Returns the probability that a random division of all values into samples of these sizes has rank sums as far apart as the
/// given one, 0 to 1; 1 for an empty sample.
pub fn two_sided(first: &[f64], second: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> =
        first.iter().map(|v| (*v, true)).chain(second.iter().map(|v| (*v, false))).collect();
    all.sort_by(|p, q| p.0.total_cmp(&q.0));
    // Twice the mean rank of equal values, which is a whole number.
    let mut ranks = Vec::with_capacity(all.len());
    for equal in all.chunk_by(|p, q| p.0 == q.0) {
        let before = ranks.len();
        ranks.resize(before + equal.len(), 2 * before + equal.len() + 1);
    }
    let sum: usize = ranks.iter().zip(&all).filter(|(_, (_, of_first))| *of_first).map(|(rank, _)| rank).sum();
    // ways[k][s]: in how many ways k of the values have the rank sum s.
    let total: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0f64; total + 1]; first.len() + 1];
    ways[0][0] = 1.0;
    for rank in &ranks {
        for k in (1..=first.len()).rev() {
            for s in (*rank..=total).rev() {
                ways[k][s] += ways[k - 1][s - rank];
            }
        }
    }
    // Twice the mean of the rank sum is the share of the first sample in the total; compared without rounding.
    let (of_first, count) = (first.len(), all.len());
    let far = |s: usize| (s * count).abs_diff(total * of_first);
    let of_all: f64 = ways[of_first].iter().sum();
    let extreme: f64 = ways[of_first].iter().enumerate().filter(|(s, _)| far(*s) >= far(sum)).map(|(_, n)| n).sum();
    extreme / of_all
}

/// Returns the least value that [`two_sided`] can have for samples of these sizes, without equal values.
pub fn least(first: usize, second: usize) -> f64 {
    let divisions = (1..=first.min(second)).fold(1.0, |n, i| n * (first + second + 1 - i) as f64 / i as f64);
    (2.0 / divisions).min(1.0)
}

/// Returns the median; of an even number of values the mean of both in the middle. NaN without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => 0.5 * (sorted[middle - 1] + sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts all divisions one by one.
    fn by_counting(first: &[f64], second: &[f64]) -> f64 {
        let all = [first, second].concat();
        let rank = |v: f64| {
            let (below, equal) = (all.iter().filter(|w| **w < v).count(), all.iter().filter(|w| **w == v).count());
            below as f64 + 0.5 * (equal as f64 + 1.0)
        };
        let mean = all.iter().map(|v| rank(*v)).sum::<f64>() * first.len() as f64 / all.len() as f64;
        let far = |sum: f64| (sum - mean).abs();
        let given = far(first.iter().map(|v| rank(*v)).sum());
        let divisions = (0u32..1 << all.len()).filter(|set| set.count_ones() as usize == first.len());
        let sums = divisions.map(|set| (0..all.len()).filter(|i| set >> i & 1 == 1).map(|i| rank(all[i])).sum::<f64>());
        let (extreme, count) = sums.fold((0, 0), |(m, n), sum| (m + usize::from(far(sum) >= given - 1e-9), n + 1));
        extreme as f64 / count as f64
    }

    #[test]
    fn the_probability_is_that_of_all_divisions() {
        let mut state = 7u64;
        for case in 0..200 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 60) as f64
            };
            let first: Vec<f64> = (0..1 + case % 6).map(|_| next()).collect();
            let second: Vec<f64> = (0..1 + case % 5).map(|_| next()).collect();
            let (ours, counted) = (two_sided(&first, &second), by_counting(&first, &second));
            assert!((ours - counted).abs() < 1e-12, "{first:?} {second:?}: {ours}, counted {counted}");
        }
    }

    #[test]
    fn separated_samples_have_the_least_probability() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((two_sided(&low, &high) - 2.0 / 252.0).abs() < 1e-15);
        assert!((least(5, 5) - 2.0 / 252.0).abs() < 1e-15 && least(0, 3) == 1.0);
        assert_eq!(two_sided(&low, &low), 1.0);
        assert_eq!(two_sided(&[], &high), 1.0);
        let most: Vec<f64> = (0..MOST).map(|i| i as f64).collect();
        assert!(two_sided(&most, &most.iter().map(|v| v + 100.0).collect::<Vec<_>>()) < 1e-15);
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])), (2.0, 2.5));
    }
}
