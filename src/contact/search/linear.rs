//! The least value over a triangle of the greatest of some planes: a linear program with three unknowns.

/// Largest number of planes that are solved together. The vertices of their arrangement are tried one by one.
const MOST: usize = 8;

/// Amount by which a barycentric coordinate may be negative: rounding.
const OUTSIDE: f64 = 1e-12;

/// Returns the least value over a triangle of the greatest of some planes, and its barycentric coordinates. A plane is given
/// by its values at the corners. Of many planes it may be that of some of them, a lower bound.
pub(crate) fn least_of_greatest(planes: &[[f64; 3]]) -> (f64, [f64; 3]) {
    if planes.len() <= 4 {
        return of_few(planes);
    }
    // Planes are added where they are above the others. (Kelley 1960, "The Cutting-Plane Method for Solving Convex
    // Programs".)
    let mut active = [[0.0; 3]; MOST];
    let mut count = 0;
    let mut best = (f64::NEG_INFINITY, [1.0 / 3.0; 3]);
    loop {
        let above = planes.iter().map(|p| at(p, &best.1)).enumerate();
        let Some((highest, value)) = above.max_by(|p, q| p.1.total_cmp(&q.1)) else { return best };
        if value <= best.0 || count == MOST || active[..count].contains(&planes[highest]) {
            return best;
        }
        active[count] = planes[highest];
        count += 1;
        best = of_few(&active[..count]);
    }
}

fn at(plane: &[f64; 3], w: &[f64; 3]) -> f64 {
    (plane[0] * w[0] + plane[1] * w[1]) + plane[2] * w[2]
}

fn of_few(planes: &[[f64; 3]]) -> (f64, [f64; 3]) {
    let mut best = (f64::INFINITY, [1.0, 0.0, 0.0]);
    let mut offer = |w: [f64; 3]| {
        // False for NaN.
        if w.iter().all(|x| *x >= -OUTSIDE) {
            let value = planes.iter().fold(f64::NEG_INFINITY, |most, plane| most.max(at(plane, &w)));
            if value < best.0 {
                best = (value, w);
            }
        }
    };
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].into_iter().for_each(&mut offer);
    for i in 0..planes.len() {
        for j in i + 1..planes.len() {
            let e = [0, 1, 2].map(|k| planes[i][k] - planes[j][k]);
            for k in 0..3 {
                let l = (k + 1) % 3;
                let share = e[l] / (e[l] - e[k]);
                let mut w = [0.0; 3];
                (w[k], w[l]) = (share, 1.0 - share);
                offer(w);
            }
            for m in j + 1..planes.len() {
                let f = [0, 1, 2].map(|k| planes[i][k] - planes[m][k]);
                let w = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
                let sum = w[0] + w[1] + w[2];
                offer(w.map(|x| x / sum));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least value over a grid of points is never below, and close to, the answer.
    #[test]
    fn grid_of_points_finds_nothing_lower() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        const STEPS: usize = 60;
        for round in 0..300 {
            let planes: Vec<[f64; 3]> = (0..1 + round % 12).map(|_| [random(), random(), random()]).collect();
            let (least, w) = least_of_greatest(&planes);
            let value = |w: &[f64; 3]| planes.iter().map(|p| at(p, w)).fold(f64::NEG_INFINITY, f64::max);
            let mut lowest = f64::INFINITY;
            for i in 0..=STEPS {
                for j in 0..=STEPS - i {
                    let w = [i, j, STEPS - i - j].map(|n| n as f64 / STEPS as f64);
                    lowest = lowest.min(value(&w));
                }
            }
            assert!(least <= lowest + 1e-12, "{planes:?}: {least} above {lowest}");
            assert!(lowest - least < 4.0 / STEPS as f64, "{planes:?}: {least} far below {lowest}");
            assert!((value(&w) - least).abs() < 1e-9 || planes.len() > MOST, "{planes:?}: {least} is not at {w:?}");
        }
    }
}
