//! Segments against fields on grids: no crossing is missed or invented, for millions of random segments and for the
//! hardest ones. Every answer is checked against an independent walk over every cell.

use num_rational::BigRational;
use support::reference::{pieces, Number, Piece};
use support::rng::Rng;
use voxshell::ccd::segment::{first_fraction, first_fractions, first_hit, intervals, intervals_by_bisection, meets};
use voxshell::ccd::segment::{Segment, Start};
use voxshell::cook::FieldOptions;
use voxshell::field::{force_baseline, BrickField, DenseField, Field, Grid, Sphere};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::primitives;

/// Returns the rounding error of φ for a segment, metres: the library promises twice 16 f64::EPSILON of the input
/// numbers, and the reference has rounding of its own.
fn tolerance(field: &DenseField, ends: &[Vec3; 2], level: f64) -> f64 {
    let grid = field.grid();
    let largest = field.values().iter().fold(0.0f64, |m, v| m.max(f64::from(v.abs())));
    let size = (0..3).map(|a| f64::from(grid.min[a].abs()) + f64::from(grid.dims[a]) * f64::from(grid.spacing));
    let reach = ends[0].amax() + ends[1].amax() + field.center().amax() + size.fold(0.0, f64::max);
    40.0 * f64::EPSILON * ((2.0 + f64::from(field.lipschitz_outside())) * reach + level.abs() + largest)
}

/// Calls `on` with (t, φ − level) where a wrong answer shows: at ends of pieces, and close to every root and extremum.
fn telling_points(piece: &Piece<f64>, depth: u32, on: &mut impl FnMut(f64, f64)) {
    on(piece.from, piece.b[0]);
    on(piece.to, piece.b[3]);
    if depth > 0 && !piece.all(|b| *b > 0.0) && !piece.all(|b| *b <= 0.0) {
        piece.halves().iter().for_each(|half| telling_points(half, depth - 1, on));
    }
}

#[derive(Default, Debug)]
struct Count {
    segments: u64,
    hits: u64,
    missed: u64,
    made_up: u64,
}

/// Checks all answers for one segment against the reference.
fn check(field: &Field, ends: [Vec3; 2], level: f64, count: &mut Count) {
    let Field::Dense(dense) = field else { panic!("a grid") };
    let segment = Segment::new(ends[0], ends[1]);
    let first = first_fraction(field, &segment, level, Start::Hit);
    let (mut found, mut used) = ([[0.0; 2]; 64], 0);
    intervals(field, &segment, level, |i| {
        if used < found.len() {
            found[used] = i;
            used += 1;
        }
    });
    let found = &found[..used];
    let tolerance = tolerance(dense, &ends, level);
    assert_eq!(first, found.first().map(|i| i[0]), "{ends:?}: first {first:?} of {found:?}");
    assert_eq!(meets(field, &segment, level), first.is_some());
    // Batches skip more.
    let mut batch = [None];
    first_fractions(field, &[segment], level, Start::Hit, &mut batch);
    assert_eq!(
        batch[0].map(f64::to_bits),
        first.map(f64::to_bits),
        "{ends:?} level {level:e}: {batch:?}, alone {first:?}"
    );
    assert!(found.windows(2).all(|w| w[0][1] <= w[1][0]), "{ends:?}: {found:?}");
    assert!(found.iter().all(|i| 0.0 <= i[0] && i[0] <= i[1] && i[1] <= 1.0), "{ends:?}: {found:?}");
    // Rounding of a parameter.
    let slack = 1e-13 + 1e-15 * (ends[0].amax() + ends[1].amax()) / (ends[1] - ends[0]).norm().max(1e-300);
    let (mut missed, mut made_up) = (None, None);
    for piece in pieces::<f64>(dense, &ends, level) {
        telling_points(&piece, 45, &mut |t, f| {
            let inside = |margin: f64| found.iter().any(|i| i[0] - margin <= t && t <= i[1] + margin);
            if f <= 0.0 && !inside(slack) {
                missed = Some((t, f));
            }
            if f > tolerance && inside(-slack) {
                made_up = Some((t, f));
            }
        });
    }
    count.segments += 1;
    count.hits += u64::from(first.is_some());
    count.missed += u64::from(missed.is_some());
    count.made_up += u64::from(made_up.is_some());
    if count.missed + count.made_up < 5 {
        if let Some((t, f)) = missed.or(made_up) {
            eprintln!("{ends:?} level {level:e}: φ − level at {t:e} is {f:e}; found {found:?}");
        }
    }
}

/// Returns a field of random numbers in which every second cell has several crossings. It is not a distance, and no
/// result may depend on that.
fn noise(dims: [u32; 3], seed: u64) -> Field {
    let mut rng = Rng(seed);
    let grid = Grid::centered(dims, 0.125);
    // Multiples of a quarter, so that levels pass through nodes, edges and faces exactly; the border is positive.
    let border = |i: u32, a: usize| i == 0 || i + 1 == dims[a];
    let values: Vec<f32> = (0..grid.len() as u32)
        .map(|n| {
            let (i, j, k) = (n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]);
            let v = (rng.unit() * 2.0).round() as f32 * 0.0625;
            if border(i, 0) || border(j, 1) || border(k, 2) {
                v.abs() + 0.125
            } else {
                v
            }
        })
        .collect();
    Field::Dense(DenseField::from_values(grid, values, Vec3::new(0.5, -0.25, 1.0)).unwrap())
}

fn torus(cells: u32) -> Field {
    let mesh = primitives::torus(0.35, 0.1, 64, 32).unwrap();
    let options = FieldOptions::with_resolution(&mesh, cells);
    Field::Dense(voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap())
}

fn dense(field: &Field) -> &DenseField {
    let Field::Dense(dense) = field else { panic!("a grid") };
    dense
}

/// Returns a point of the grid's box, enlarged by a tenth.
fn anywhere(field: &DenseField, rng: &mut Rng) -> Vec3 {
    let (min, max) = (field.grid().min, field.grid().max());
    Vec3::from([0, 1, 2].map(|a| {
        let (low, high) = (f64::from(min[a]), f64::from(max[a]));
        0.5 * (low + high) + 0.55 * (high - low) * rng.unit()
    })) + field.center()
}

/// Returns a hard segment: made of nodes, edges, faces, planes of the grid, tangents, tiny and huge lengths.
fn hard(field: &Field, rng: &mut Rng) -> [Vec3; 2] {
    let f = dense(field);
    let grid = f.grid();
    let spacing = f64::from(grid.spacing);
    let pick = |rng: &mut Rng, n: u64| rng.next() % n;
    // A point with some coordinates on planes of the grid, some halfway, some off by a rounding error.
    let lattice = |rng: &mut Rng| {
        Vec3::from([0, 1, 2].map(|a| {
            let i = pick(rng, u64::from(grid.dims[a])) as f64;
            let x = f64::from(grid.min[a]) + i * spacing + f.center()[a];
            match pick(rng, 6) {
                0 => x + 0.5 * spacing,
                1 => x + 0.5 * spacing * rng.unit(),
                2 => f64::from_bits(x.to_bits() + 1),
                3 => x + 1e-12 * rng.unit(),
                _ => x,
            }
        }))
    };
    // A point on the surface, and a direction along it.
    let surface = |rng: &mut Rng| {
        for _ in 0..20 {
            let segment = Segment::new(anywhere(f, rng), anywhere(f, rng));
            if let Some(hit) = first_hit(field, &segment, 0.0, Start::Leave) {
                let tangent = rng.vector().cross(&hit.normal).try_normalize(1e-9).unwrap_or_else(Vec3::x);
                return (hit.point, tangent, hit.normal);
            }
        }
        (anywhere(f, rng), Vec3::x(), Vec3::y())
    };
    let length = |rng: &mut Rng| spacing * 10f64.powf(2.0 * rng.unit());
    match pick(rng, 9) {
        // Between lattice points: along edges, in faces, along diagonals.
        0 | 1 => [lattice(rng), lattice(rng)],
        // Along an axis in a plane of the grid.
        2 => {
            let from = lattice(rng);
            let mut to = from;
            let axis = pick(rng, 3) as usize;
            to[axis] = anywhere(f, rng)[axis];
            [from, to]
        }
        // Grazing: tangent, lifted off the surface by almost nothing.
        3 | 4 => {
            let (p, tangent, normal) = surface(rng);
            let lift = 10f64.powf(-11.0 + 5.0 * rng.unit()) * if rng.unit() > 0.0 { 1.0 } else { -1.0 };
            let (a, b) = (length(rng), length(rng));
            [p - tangent * a + normal * lift, p + tangent * b + normal * lift]
        }
        // From the surface, or to it.
        5 => {
            let (p, tangent, _) = surface(rng);
            let other = if rng.unit() > 0.0 { anywhere(f, rng) } else { p + tangent * length(rng) };
            if rng.unit() > 0.0 {
                [p, other]
            } else {
                [other, p]
            }
        }
        // Lengths from denormal numbers to a rounding error.
        6 => {
            let p = if rng.unit() > 0.0 { surface(rng).0 } else { lattice(rng) };
            let tiny = [5e-324, 1e-310, 1e-200, 1e-100, 1e-20, 1e-16, 1e-13][pick(rng, 7) as usize];
            [p, p + rng.vector() * tiny]
        }
        // From a thousand kilometres away.
        7 => {
            let p = if rng.unit() > 0.0 { surface(rng).0 } else { lattice(rng) };
            let far = rng.vector().normalize() * 1e6;
            [p + far, p - far * rng.unit().abs()]
        }
        // Zero length.
        _ => {
            let p = lattice(rng);
            [p, p]
        }
    }
}

/// Runs on two threads.
fn run(seed: u64, count: u64, job: impl Fn(&mut Rng, &mut Count) + Sync) -> Count {
    let mut total = Count::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|n| {
                let job = &job;
                scope.spawn(move || {
                    let (mut rng, mut mine) = (Rng(seed + n), Count::default());
                    (0..count / 2).for_each(|_| job(&mut rng, &mut mine));
                    mine
                })
            })
            .collect();
        for worker in workers {
            let c = worker.join().expect("no panic");
            total.segments += c.segments;
            total.hits += c.hits;
            total.missed += c.missed;
            total.made_up += c.made_up;
        }
    });
    total
}

fn run_all(random: u64, adversarial: u64) {
    let torus = torus(24);
    let noises = [noise([9, 9, 9], 1), noise([12, 5, 20], 2), noise([2, 2, 2], 3), noise([18, 17, 19], 4)];
    // Levels below that of the border, so that the reference need not evaluate outside.
    let levels = [0.0, 0.0, -0.0625, 0.0625, 0.01, 1e-9];
    let random = run(11, random, |rng, count| {
        let n = rng.next();
        let field = if n % 4 == 0 { &noises[(n >> 8) as usize % 4] } else { &torus };
        let ends = [anywhere(dense(field), rng), anywhere(dense(field), rng)];
        let level = if n % 4 == 0 { levels[(n >> 16) as usize % 6] } else { [0.0, -0.01][(n >> 16) as usize % 2] };
        check(field, ends, level, count);
    });
    println!("random: {random:?}");
    let hard = run(12, adversarial, |rng, count| {
        let n = rng.next();
        let field = if n % 2 == 0 { &noises[(n >> 8) as usize % 4] } else { &torus };
        let ends = hard(field, rng);
        let level = if n % 2 == 0 { levels[(n >> 16) as usize % 6] } else { 0.0 };
        check(field, ends, level, count);
    });
    println!("adversarial: {hard:?}");
    for count in [&random, &hard] {
        assert!(count.hits > count.segments / 10, "too few hits to tell: {count:?}");
        assert_eq!((count.missed, count.made_up), (0, 0), "{count:?}");
    }
}

#[test]
fn no_crossing_is_missed_and_none_made_up() {
    // `VOXSHELL_LONG=1 cargo test --release --test ccd -- segment:: --nocapture` takes three minutes.
    if support::long() {
        run_all(10_000_000, 1_000_000);
    } else {
        run_all(1_000_000, 200_000);
    }
}

/// A segment within a rounding error of a plane of the grid along its whole length. A skip once used the plane to
/// decide which cells it had passed, and the walk continued behind a crossing.
#[test]
fn along_a_plane_a_skip_ends_before_the_crossing() {
    let ends = [
        [-0.300000011920929, -0.2625000178813935, 0.1875000074505806],
        [-0.30000001192092896, 0.0749999955296816, 0.3375000134110451],
    ];
    let mut count = Count::default();
    check(&torus(24), ends.map(Vec3::from), 0.0, &mut count);
    assert_eq!((count.hits, count.missed, count.made_up), (1, 0, 0));
}

/// Hard cases for a batch: segments of different lengths, next to segments that the batch cannot take.
fn mixed(field: &Field, rng: &mut Rng) -> Segment {
    let dense = dense(field);
    let [from, to] = match rng.next() % 8 {
        0..4 => hard(field, rng),
        4 => {
            // From inside, if the field has an inside.
            let inside = || Some(anywhere(dense, rng)).filter(|p| meets(field, &Segment::new(*p, *p), 0.0));
            let from = std::iter::repeat_with(inside).take(50).flatten().next().unwrap_or_default();
            [from, anywhere(dense, rng)]
        }
        5 => {
            let huge = [f64::MAX, -f64::MAX, 1e300, 1e9, f64::INFINITY][(rng.next() % 5) as usize];
            [anywhere(dense, rng), anywhere(dense, rng).map(|x| x * huge)]
        }
        6 => [anywhere(dense, rng) * 40.0, anywhere(dense, rng) * -40.0],
        _ => [anywhere(dense, rng), anywhere(dense, rng)],
    };
    Segment::new(from, to)
}

#[test]
fn batches_of_any_size_answer_as_segments_alone_bit_for_bit() {
    let bricks = |field: &Field| Field::Bricks(BrickField::from_dense(dense(field)).unwrap());
    let (torus, fine) = (torus(24), torus(90));
    let noises = [noise([9, 9, 9], 1), noise([18, 17, 19], 4), noise([40, 33, 21], 5)];
    // The hard segments of a field are made from the dense grid of that field.
    let mut fields: Vec<(&Field, Field)> = [&torus, &fine].into_iter().chain(&noises).map(|f| (f, bricks(f))).collect();
    let cooked = voxshell::cook::brick_field(
        &primitives::torus(0.35, 0.1, 64, 32).unwrap(),
        &FieldOptions::with_resolution(&primitives::torus(0.35, 0.1, 64, 32).unwrap(), 90),
        &Progress::none(),
    );
    fields.push((&fine, Field::Bricks(cooked.unwrap())));
    let bits = |all: &[Option<f64>]| all.iter().map(|t| t.map(f64::to_bits)).collect::<Vec<_>>();
    let mut rng = Rng(41);
    let (mut hits, mut free) = (0, 0);
    let rounds = if support::long() { 50 } else { 1 };
    for (round, (made, in_bricks)) in (0..rounds).flat_map(|round| fields.iter().map(move |f| (round, f))) {
        for size in (0..=17).chain([127, 128, 129, 1000]) {
            let segments: Vec<Segment> = (0..size).map(|_| mixed(made, &mut rng)).collect();
            let level = [0.0, 0.0, 1e-9, 0.03, -0.02][(round + size) % 5];
            for field in [*made, in_bricks] {
                for start in [Start::Hit, Start::Leave] {
                    let alone: Vec<_> = segments.iter().map(|s| first_fraction(field, s, level, start)).collect();
                    let mut together = vec![Some(f64::NAN); size];
                    first_fractions(field, &segments, level, start, &mut together);
                    for (i, s) in segments.iter().enumerate() {
                        let [a, b] = [alone[i], together[i]];
                        assert_eq!(
                            a.map(f64::to_bits),
                            b.map(f64::to_bits),
                            "{s:?} level {level} {start:?}: {a:?}, {b:?}"
                        );
                    }
                    force_baseline(true);
                    let mut baseline = vec![None; size];
                    first_fractions(field, &segments, level, start, &mut baseline);
                    force_baseline(false);
                    assert_eq!(bits(&baseline), bits(&together));
                    hits += alone.iter().flatten().count();
                    free += alone.len() - alone.iter().flatten().count();
                }
            }
        }
    }
    assert!(hits > 5000 && free > 5000, "{hits} hits, {free} free");
}

/// Where the library reports no crossing, rational arithmetic proves that there is none; where it reports one, the
/// arithmetic proves that φ there is at most the level plus rounding.
#[test]
fn exact_arithmetic_agrees_on_hard_segments() {
    let noises = [noise([5, 5, 5], 21), noise([4, 6, 3], 22)];
    let positive = |piece: &Piece<BigRational>| {
        let mut stack = vec![Piece { from: piece.from.clone(), to: piece.to.clone(), b: piece.b.clone() }];
        let zero = BigRational::of(0.0);
        while let Some(p) = stack.pop() {
            if p.b[0] <= zero || p.b[3] <= zero {
                return false;
            }
            if !p.all(|b| *b > zero) {
                stack.extend(p.halves());
            }
        }
        true
    };
    let (mut hits, mut free) = (0, 0);
    let mut rng = Rng(31);
    for n in 0..1000 {
        let field = &noises[n % 2];
        let ends = hard(field, &mut rng);
        if ends[0].amax() > 1e5 {
            // The planes of the border are met far from their f64 position; the walk in f64 tests such segments.
            continue;
        }
        let level = [0.0, 0.0625, -0.0625][n % 3];
        let exact = pieces::<BigRational>(dense(field), &ends, level);
        let segment = Segment::new(ends[0], ends[1]);
        match first_fraction(field, &segment, level, Start::Hit) {
            None => {
                free += 1;
                assert!(exact.iter().all(positive), "{ends:?} is missed");
            }
            Some(t) => {
                hits += 1;
                let t = BigRational::of(t);
                let limit = BigRational::of(tolerance(dense(field), &ends, level));
                // The piece that contains t; a point beside it is sufficient, because the coefficients are convex.
                let near = exact.iter().any(|p| {
                    let margin = BigRational::of(1e-13);
                    if t < p.from.clone() - margin.clone() || t > p.to.clone() + margin {
                        return false;
                    }
                    let s = if p.to > p.from {
                        (t.clone() - p.from.clone()) / (p.to.clone() - p.from.clone())
                    } else {
                        BigRational::of(0.0)
                    };
                    let mix = |a: &BigRational, b: &BigRational| a.clone() + s.clone() * (b.clone() - a.clone());
                    let [b0, b1, b2, b3] = &p.b;
                    let (u, v, w) = (mix(b0, b1), mix(b1, b2), mix(b2, b3));
                    let f = mix(&mix(&u, &v), &mix(&v, &w));
                    f <= limit
                });
                assert!(near, "{ends:?} is made up");
            }
        }
    }
    println!("{hits} hits, {free} free");
    assert!(hits > 200 && free > 200, "{hits} hits, {free} free");
}

/// The papers' bisection over a whole segment: its intervals lie in the exact ones where every cell has at most one
/// passage; in a field of noise it misses and makes up.
#[test]
fn bisection_agrees_where_a_cell_has_one_passage_and_misses_elsewhere() {
    let all = |field: &Field, segment: &Segment| {
        let (mut exact, mut bisected) = (Vec::new(), Vec::new());
        intervals(field, segment, 0.0, |i| exact.push(i));
        intervals_by_bisection(field, segment, 0.0, |i| bisected.push(i)).unwrap();
        (exact, bisected)
    };
    let mut rng = Rng(11);
    let smooth = torus(64);
    let (mut equal, mut fewer) = (0, 0);
    for _ in 0..20_000 {
        let segment = Segment::new(anywhere(dense(&smooth), &mut rng), anywhere(dense(&smooth), &mut rng));
        let (exact, bisected) = all(&smooth, &segment);
        assert!(bisected.len() <= exact.len(), "{segment:?}: {exact:?}, {bisected:?}");
        if bisected.len() == exact.len() {
            equal += usize::from(!exact.is_empty());
            // Five steps of false position in a cell: where the segment grazes the surface they stay within the cell.
            let (length, cell) = ((segment.to - segment.from).norm(), f64::from(dense(&smooth).grid().spacing));
            let same = exact.iter().zip(&bisected).all(|(x, y)| (0..2).all(|k| (x[k] - y[k]).abs() * length < cell));
            assert!(same, "{segment:?}: {exact:?}, {bisected:?}");
        } else {
            fewer += 1;
        }
    }
    println!("a torus: {equal} segments alike, {fewer} with an interval less");
    assert!(equal > 2_000 && fewer < equal / 100, "{equal} alike, {fewer} missed");
    let noise = noise([12, 9, 10], 3);
    let differ = (0..2_000).filter(|_| {
        let segment = Segment::new(anywhere(dense(&noise), &mut rng), anywhere(dense(&noise), &mut rng));
        let (exact, bisected) = all(&noise, &segment);
        exact.len() > bisected.len()
    });
    let missed = differ.count();
    assert!(missed > 200, "{missed}");
    let sphere = Field::Sphere(Sphere::new(1.0).unwrap());
    let segment = Segment::new(Vec3::zeros(), Vec3::x());
    assert!(intervals_by_bisection(&sphere, &segment, 0.0, |_| ()).unwrap_err().to_string().contains("grid"));
}
