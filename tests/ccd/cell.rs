//! The cubic of a cell against its definition: values, roots, intervals, and the cases that the papers' two methods
//! miss.

use proptest::prelude::*;
use support::rng::Rng;
use voxshell::ccd::cell::Cubic;

/// Evaluates by de Casteljau's algorithm, which the library does not use.
fn value(b: [f64; 4], s: f64) -> f64 {
    let mix = |a: f64, b: f64| a * (1.0 - s) + b * s;
    let (p, q, r) = (mix(b[0], b[1]), mix(b[1], b[2]), mix(b[2], b[3]));
    mix(mix(p, q), mix(q, r))
}

/// Returns the Bernstein coefficients of both halves.
fn halves(b: [f64; 4]) -> [[f64; 4]; 2] {
    let m = |x: f64, y: f64| 0.5 * (x + y);
    let (p, q, r) = (m(b[0], b[1]), m(b[1], b[2]), m(b[2], b[3]));
    let (u, v) = (m(p, q), m(q, r));
    let w = m(u, v);
    [[b[0], p, u, w], [w, v, r, b[3]]]
}

/// Returns points at which any wrong answer shows: the ends, and points close to every root and extremum, found by
/// halving until the coefficients prove that a piece has neither.
fn telling_points(b: [f64; 4], [from, to]: [f64; 2], out: &mut Vec<f64>) {
    let one_sign = |x: &[f64]| x.iter().all(|v| *v >= 0.0) || x.iter().all(|v| *v <= 0.0);
    let steps = [b[1] - b[0], b[2] - b[1], b[3] - b[2]];
    out.extend([from, 0.5 * (from + to), to]);
    if to - from > 1e-9 && !(one_sign(&b) && one_sign(&steps)) && out.len() < 5000 {
        let [left, right] = halves(b);
        telling_points(left, [from, 0.5 * (from + to)], out);
        telling_points(right, [0.5 * (from + to), to], out);
    }
}

/// Checks the answer for a cubic against its values.
fn check(b: [f64; 4]) {
    let cubic = Cubic { b };
    let signs = cubic.signs();
    let intervals: Vec<[f64; 2]> = signs.below().collect();
    let tolerance = 1e-14 * b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(signs.roots().windows(2).all(|w| w[0] <= w[1]), "{b:?}: {signs:?}");
    assert!(signs.roots().iter().all(|s| (0.0..=1.0).contains(s)), "{b:?}: {signs:?}");
    assert_eq!(signs.first_below(), intervals.first().map(|i| i[0]), "{b:?}");
    for &s in signs.roots() {
        assert!(value(b, s).abs() <= tolerance, "{b:?}: f({s:e}) = {:e}", value(b, s));
    }
    let mut points = vec![0.0, 1.0];
    telling_points(b, [0.0, 1.0], &mut points);
    for s in points {
        let f = value(b, s);
        let below = intervals.iter().any(|i| i[0] <= s && s <= i[1]);
        assert!(below || f > -tolerance, "{b:?}: f({s:e}) = {f:e} is missed by {intervals:?}");
        assert!(!below || f <= tolerance, "{b:?}: f({s:e}) = {f:e} is not in {intervals:?}");
    }
}

/// Returns the coefficients of (s − r₀)(s − r₁)(s − r₂) times `scale`.
fn with_roots(r: [f64; 3], scale: f64) -> [f64; 4] {
    let f = |x: f64, y: f64, z: f64| scale * (x - r[0]) * (y - r[1]) * (z - r[2]);
    let mean = |x: f64, y: f64| (f(x, y, y) + f(y, x, y) + f(y, y, x)) / 3.0;
    [f(0.0, 0.0, 0.0), mean(1.0, 0.0), mean(0.0, 1.0), f(1.0, 1.0, 1.0)]
}

proptest! {
    #![proptest_config(support::cases(20_000))]

    #[test]
    fn every_root_of_any_cubic_is_found(b in proptest::array::uniform4(-1.0..1.0f64)) {
        check(b);
    }

    #[test]
    fn every_root_is_found_where_roots_nearly_meet(
        r in -0.2..1.2f64, gap in -16.0..0.0f64, other in -3.0..3.0f64, scale in prop_oneof![-1.0..-1e-6, 1e-6..1.0],
    ) {
        check(with_roots([r, r + 10f64.powf(gap), other], scale));
        check(with_roots([r, r, other], scale));
        check(with_roots([r, r + 10f64.powf(gap), r - 10f64.powf(gap)], scale));
    }

    #[test]
    fn every_root_is_found_of_quadratic_linear_and_constant_cells(
        c in -1.0..1.0f64, d in -1.0..1.0f64, e in -1.0..1.0f64, tiny in -20.0..-10.0f64,
    ) {
        let nearly = 10f64.powf(tiny);
        check([c; 4]);
        check([c, c + d / 3.0, c + 2.0 * d / 3.0, c + d]);
        check([c, c + d / 3.0, c + (2.0 * d + e) / 3.0, c + d + e]);
        check([c, c + d / 3.0, c + (2.0 * d + e) / 3.0, c + d + e + nearly]);
        check([c * nearly, d * nearly, e * nearly, c]);
    }

    #[test]
    fn the_cubic_is_the_interpolant_along_the_segment(
        v in proptest::array::uniform8(-1.0..1.0f64),
        from in proptest::array::uniform3(0.0..=1.0f64), to in proptest::array::uniform3(0.0..=1.0f64), s in 0.0..=1.0f64,
    ) {
        let cubic = Cubic::along(&v, &from, &to);
        let p = [0, 1, 2].map(|k| from[k] + s * (to[k] - from[k]));
        let direct: f64 = (0..8usize)
            .map(|i| v[i] * (0..3).map(|k| if i >> k & 1 == 1 { p[k] } else { 1.0 - p[k] }).product::<f64>())
            .sum();
        prop_assert!((cubic.at(s) - direct).abs() < 1e-14, "{} {}", cubic.at(s), direct);
        prop_assert!((value(cubic.b, s) - direct).abs() < 1e-15 * 8.0);
    }

    #[test]
    fn two_cells_are_bit_identical_on_their_common_face(
        v in proptest::array::uniform12(-1.0..1.0f64), y in 0.0..=1.0f64, z in 0.0..=1.0f64,
        a in proptest::array::uniform3(0.0..=1.0f64), b in proptest::array::uniform3(0.0..=1.0f64),
    ) {
        // Nodes in columns of three along x; the cells are columns 0-1 and 1-2.
        let cell = |first: usize| std::array::from_fn(|i| v[3 * (i >> 1) + first + (i & 1)]);
        let left = Cubic::along(&cell(0), &a, &[1.0, y, z]);
        let right = Cubic::along(&cell(1), &[0.0, y, z], &b);
        prop_assert_eq!(left.b[3].to_bits(), right.b[0].to_bits());
    }
}

#[test]
fn a_double_root_on_the_level_touches_and_one_above_it_does_not() {
    // (2 s − 1)², exactly.
    let touching = Cubic { b: [1.0, -1.0 / 3.0, -1.0 / 3.0, 1.0] };
    assert!((touching.at(0.5)).abs() < 1e-16);
    let lowered = Cubic { b: touching.b.map(|b| b - 1e-15) };
    let roots = lowered.signs();
    assert_eq!(roots.roots().len(), 2);
    assert!(roots.roots().iter().all(|s| (s - 0.5).abs() < 1e-6));
    assert_eq!(Cubic { b: touching.b.map(|b| b + 1e-15) }.signs().first_below(), None);
}

#[test]
fn segments_in_faces_and_along_edges_of_the_cell_have_signs() {
    // x + y + z − 1 at the corners is linear; the segment is in its face z = 0.
    let corners: [f64; 8] = std::array::from_fn(|i| (i & 1) as f64 + (i >> 1 & 1) as f64 + (i >> 2) as f64 - 1.0);
    let face = Cubic::along(&corners, &[0.0, 0.25, 0.0], &[1.0, 0.5, 0.0]).signs();
    assert!(face.starts_below && (face.roots()[0] - 0.6).abs() < 1e-15);
    // The edge from the origin along x reaches the level only at its end.
    let edge = Cubic::along(&corners, &[1.0, 0.0, 0.0], &[0.0, 0.0, 0.0]).signs();
    assert!(edge.starts_below && edge.roots().is_empty());
    // On the diagonal of the face every point is at the level.
    let along = Cubic::along(&corners, &[0.0, 1.0, 0.0], &[1.0, 0.0, 0.0]).signs();
    assert_eq!(along.below().collect::<Vec<_>>(), [[0.0, 1.0]]);
}

/// Xu & Barbič 2016, figure 2 (a): both ends are outside, and the segment dips into the object between them.
#[test]
fn figure_2a_bisection_misses_a_dip() {
    // A saddle: the corners (0,0,·) and (1,1,·) are 1, the others −0.6; the segment is the diagonal of the square.
    let corners: [f64; 8] = std::array::from_fn(|i| if (i & 1) == (i >> 1 & 1) { 1.0 } else { -0.6 });
    let cubic = Cubic::along(&corners, &[0.0, 0.0, 0.5], &[1.0, 1.0, 0.5]);
    assert!(cubic.b[0] > 0.0 && cubic.b[3] > 0.0 && cubic.at(0.5) > 0.0);
    let corners: [f64; 8] = std::array::from_fn(|i| if (i & 1) == (i >> 1 & 1) { 1.0 } else { -1.4 });
    let cubic = Cubic::along(&corners, &[0.0, 0.0, 0.5], &[1.0, 1.0, 0.5]);
    assert!(cubic.b[0] > 0.0 && cubic.b[3] > 0.0 && cubic.at(0.5) < 0.0);
    assert_eq!(cubic.bisection(), None);
    let signs = cubic.signs();
    // 1 − 4.8 s (1 − s) = 0.
    let expected = 0.5 - (0.25f64 - 1.0 / 4.8).sqrt();
    assert!((signs.first_below().unwrap() - expected).abs() < 1e-15);
    assert!((signs.roots()[1] - (1.0 - expected)).abs() < 1e-15);
    assert!((cubic.cardano().unwrap() - expected).abs() < 1e-7);
}

/// Figure 2 (b): three roots. Bisection finds a later one and reports a sign change in the wrong direction.
#[test]
fn figure_2b_bisection_finds_a_later_root() {
    let b = with_roots([0.1, 0.2, 0.95], -1.0);
    let cubic = Cubic { b };
    assert!(cubic.b[0] > 0.0 && cubic.b[3] < 0.0);
    let first = cubic.signs().first_below().unwrap();
    assert!((first - 0.1).abs() < 1e-14, "{first}");
    assert_eq!(cubic.signs().roots().len(), 3);
    let bisection = cubic.bisection().unwrap();
    assert!((bisection - first).abs() > 0.3, "bisection found {bisection}");
    assert!((cubic.cardano().unwrap() - 0.1).abs() < 1e-9);
}

/// The same in cells of random samples, along random segments. If bisection finds a later root, it reports that the
/// segment leaves an interval that it had left before; the library's roots agree with a scan of the cell.
#[test]
fn figure_2_bisection_misses_roots_in_random_cells() {
    let mut rng = Rng(14);
    let (mut missed, mut late, mut thrice) = (0, 0, 0);
    for _ in 0..200_000 {
        let corners: [f64; 8] = std::array::from_fn(|_| rng.unit());
        let mut end = || [0; 3].map(|_| 0.5 + 0.5 * rng.unit());
        let cubic = Cubic::along(&corners, &end(), &end());
        let scan: Vec<f64> = (0..=2000).map(|i| value(cubic.b, f64::from(i) / 2000.0)).collect();
        // Only cells that a scan resolves: it sees every dip and rise, and no two roots are close.
        let changes: Vec<usize> = (0..2000).filter(|&i| (scan[i] <= 0.0) != (scan[i + 1] <= 0.0)).collect();
        let roots = cubic.signs().roots().to_vec();
        let first = scan.iter().position(|f| *f <= 0.0);
        assert!(first.is_none() || cubic.signs().first_below().is_some(), "{cubic:?}");
        assert!(roots.len() >= changes.len(), "{cubic:?}: {roots:?}");
        if roots.len() == changes.len() {
            for (root, i) in roots.iter().zip(&changes) {
                assert!((root * 2000.0 - *i as f64 - 0.5).abs() <= 0.5 + 1e-9, "{cubic:?}: {roots:?}");
            }
        }
        thrice += usize::from(roots.len() == 3);
        let (Some(i), false) = (first, scan[0] <= 0.0) else { continue };
        match cubic.bisection() {
            None => missed += 1,
            Some(s) => late += usize::from(s * 2000.0 > i as f64 + 20.0 && roots.len() == 3),
        }
    }
    println!("bisection missed {missed} dips and took a later root in {late} of {thrice} cells with three");
    assert!(missed > 100 && late > 0, "{missed} missed, {late} late");
}

/// Grazing segments: Cardano's formulas lose some of the hits in rounding, the bracketed search none.
#[test]
fn cardano_misses_hits_that_the_bracketed_search_finds() {
    let mut rng = Rng(2);
    let (mut hits, mut missed_by_cardano, mut missed_by_bisection) = (0, 0, 0);
    for _ in 0..200_000 {
        // Two roots close together and the third far outside, as in most cells: f falls below the level by a small
        // amount, but a thousand times its rounding.
        let (r, gap) = (0.5 + 0.45 * rng.unit(), 10f64.powf(-5.0 + rng.unit()));
        let far = 10f64.powf(2.0 + rng.unit());
        let cubic = Cubic { b: with_roots([r, r + gap, far], -1.0 / far) };
        if value(cubic.b, r + 0.5 * gap) > -1e-13 {
            continue;
        }
        hits += 1;
        assert!(cubic.signs().first_below().is_some(), "{cubic:?}");
        missed_by_cardano += usize::from(cubic.cardano().is_none());
        missed_by_bisection += usize::from(cubic.bisection().is_none());
    }
    println!("{hits} hits; Cardano missed {missed_by_cardano}, bisection {missed_by_bisection}");
    assert!(hits > 10_000 && missed_by_cardano > 0 && missed_by_bisection == hits);
}

/// A known case: a root at the very start of the cell that Cardano's formulas place before it.
#[test]
fn a_root_on_the_border_of_the_cell_is_not_lost() {
    let mut lost = 0;
    let mut rng = Rng(5);
    for _ in 0..10_000 {
        let b = [0.0, rng.unit(), rng.unit(), rng.unit()];
        let cubic = Cubic { b };
        assert_eq!(cubic.signs().first_below(), Some(0.0), "{b:?}");
        lost += usize::from(cubic.cardano().is_none_or(|s| s > 1e-9));
    }
    println!("Cardano lost {lost} of 10000 roots on the border");
    assert!(lost > 0);
}
