//! Mass properties and the field agree on the inside: parts inside out, overlapping, nested, repeated, split. The
//! reference is closed forms, and lines through the parts along which the winding number is summed.

use std::sync::Mutex;

use rayon::prelude::*;
use support::parts::{Moments, Part};
use support::rng::Rng;
use support::soup::{joined, turned, winding_numbers};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage, Store};
use voxshell::field::{Field, SignedDistance};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, principal_axes, MassProperties, TriMesh};

/// Returns a box by its corners.
fn block(min: [f64; 3], max: [f64; 3]) -> TriMesh {
    let half = [0, 1, 2].map(|k| 0.5 * (max[k] - min[k]));
    let middle = Pose::translation(min[0] + half[0], min[1] + half[1], min[2] + half[2]);
    primitives::cuboid(half).unwrap().transformed(&middle, 1.0)
}

fn block_moments(min: [f64; 3], max: [f64; 3]) -> Moments {
    let [x, y, z] = [0, 1, 2].map(|k| {
        let power = |n: i32| (max[k].powi(n) - min[k].powi(n)) / f64::from(n);
        [power(1), power(2), power(3)]
    });
    Moments {
        volume: x[0] * y[0] * z[0],
        first: [x[1] * y[0] * z[0], x[0] * y[1] * z[0], x[0] * y[0] * z[1]],
        second: [
            x[2] * y[0] * z[0],
            x[0] * y[2] * z[0],
            x[0] * y[0] * z[2],
            x[1] * y[1] * z[0],
            x[1] * y[0] * z[1],
            x[0] * y[1] * z[1],
        ],
    }
}

fn sum(terms: &[(Moments, f64)]) -> Moments {
    let mut total = Moments::default();
    terms.iter().for_each(|(m, factor)| total.add(m, *factor));
    total
}

/// Returns volume, centre of mass and inertia as [`MassProperties`] has them.
fn numbers(m: &Moments) -> (f64, [f64; 3], [f64; 6]) {
    let c = m.first.map(|x| x / m.volume);
    let products = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
    let s: [f64; 6] = std::array::from_fn(|n| m.second[n] / m.volume - c[products[n].0] * c[products[n].1]);
    (m.volume, c, [s[1] + s[2], s[0] + s[2], s[0] + s[1], -s[3], -s[4], -s[5]])
}

/// Returns the largest differences of volume (in units of `size`³), centre (of `size`) and inertia (of `size`²).
fn differences(mass: &MassProperties, expected: &Moments, size: f64) -> [f64; 3] {
    let (volume, center, inertia) = numbers(expected);
    let most = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    [
        (mass.volume - volume).abs() / (size * size * size),
        most(&mass.center_of_mass, &center) / size,
        most(&mass.inertia, &inertia) / (size * size),
    ]
}

fn field_only(cells: u32, storage: Storage) -> CookOptions {
    let forms = Forms { field: true, shell: false };
    CookOptions { forms, resolution: Resolution::Cells(cells), storage, ..CookOptions::default() }
}

fn cook(mesh: &TriMesh, options: &CookOptions) -> Shape {
    Shape::cook(mesh, options, &Progress::none()).unwrap()
}

/// Returns the mesh cooked in both storages, as the exact field of triangles, and with a pointshell only.
fn all_shapes(mesh: &TriMesh) -> Vec<Shape> {
    let shell = CookOptions { forms: Forms { field: false, shell: true }, ..field_only(24, Storage::Dense) };
    vec![
        cook(mesh, &field_only(64, Storage::Dense)),
        cook(mesh, &field_only(64, Storage::Bricks)),
        Shape::from_triangles(mesh.clone()).unwrap(),
        cook(mesh, &shell),
    ]
}

/// Checks that the shape is the same after saving in both ways and loading.
fn survives_the_file(shape: &Shape) {
    let folder = support::fuzz::folder();
    let path = folder.path().join("part.vxs");
    for store in [Store::Compressed, Store::Raw] {
        shape.save_as(&path, store).unwrap();
        let loaded = Shape::load(&path).unwrap();
        assert!(loaded.mass == shape.mass && loaded.field == shape.field && loaded.shell == shape.shell);
    }
}

fn masses_are(mesh: &TriMesh, expected: &Moments, exact: bool, name: &str) {
    for (n, shape) in all_shapes(mesh).iter().enumerate() {
        let mass = shape.mass.unwrap_or_else(|| panic!("{name}, shape {n}: none"));
        let off = differences(&mass, expected, 1.0);
        // The field's edges are rounded: by a quarter of a cell's face along 25 m of them.
        let most = if exact { 1e-12 } else { 0.02 };
        assert!(mass.exact == exact && off.iter().all(|d| *d < most), "{name}, shape {n}: {mass:?} {off:?}");
        if n != 2 {
            survives_the_file(shape);
        }
    }
}

const LARGE: [[f64; 3]; 2] = [[0.0; 3], [1.0; 3]];
const SMALL: [[f64; 3]; 2] = [[1.5, 0.0, 0.0], [2.5, 1.0, 0.9]];

#[test]
fn mass_turns_a_part_that_is_inside_out_as_the_field_does() {
    let (large, small) = (block(LARGE[0], LARGE[1]), block(SMALL[0], SMALL[1]));
    let expected = sum(&[(block_moments(LARGE[0], LARGE[1]), 1.0), (block_moments(SMALL[0], SMALL[1]), 1.0)]);
    assert!((expected.volume - 1.9).abs() < 1e-15);
    for (name, parts) in [
        ("both outward", [large.clone(), small.clone()]),
        ("the second inside out", [large.clone(), turned(&small)]),
        ("the first inside out", [turned(&large), small.clone()]),
        ("both inside out", [turned(&large), turned(&small)]),
    ] {
        masses_are(&joined(&parts), &expected, true, name);
    }
}

#[test]
fn overlapping_parts_have_the_mass_of_their_union() {
    // Two boxes of 2.5 m³ that overlap by 0.88 m³, with and without coplanar faces.
    for (name, z) in [("flush", 0.0), ("offset", 0.1)] {
        let (a, b) = ([[0.0; 3], [2.0, 1.25, 1.0]], [[0.9, 0.45, z], [2.9, 1.7, 1.0 + z]]);
        let common = block_moments(b[0], [2.0, 1.25, 1.0]);
        let expected = sum(&[(block_moments(a[0], a[1]), 1.0), (block_moments(b[0], b[1]), 1.0), (common, -1.0)]);
        let (a, b) = (block(a[0], a[1]), block(b[0], b[1]));
        masses_are(&joined(&[a.clone(), b.clone()]), &expected, true, name);
        masses_are(&joined(&[a, turned(&b)]), &expected, true, &format!("{name}, the second inside out"));
    }
}

#[test]
fn a_nested_shell_is_filled_or_a_cavity_as_the_field_says() {
    let (outer, inner) = ([[0.0; 3], [2.0, 1.66, 1.25]], [[0.3; 3], [1.3, 0.8, 0.83]]);
    let (whole, hollow) = (block_moments(outer[0], outer[1]), block_moments(inner[0], inner[1]));
    let rest = sum(&[(whole, 1.0), (hollow, -1.0)]);
    assert!((whole.volume - 4.15).abs() < 1e-12 && (rest.volume - 3.885).abs() < 1e-12);
    let (outer, inner) = (block(outer[0], outer[1]), block(inner[0], inner[1]));
    let inside = |mesh: &TriMesh| cook(mesh, &field_only(64, Storage::Dense)).field.unwrap().distance([-0.3; 3]) < 0.0;
    for (name, parts, expected) in [
        ("same winding", [outer.clone(), inner.clone()], &whole),
        ("opposite winding", [outer.clone(), turned(&inner)], &rest),
    ] {
        let mesh = joined(&parts);
        assert_eq!(inside(&mesh), name == "same winding", "{name}");
        masses_are(&mesh, expected, true, name);
    }
    // A body in the cavity, and the cavity once more: outside in both cases.
    let third = block([0.4; 3], [0.7; 3]);
    let island = sum(&[(rest, 1.0), (block_moments([0.4; 3], [0.7; 3]), 1.0)]);
    masses_are(&joined(&[outer.clone(), turned(&inner), third.clone()]), &island, true, "a body in the cavity");
    masses_are(&joined(&[outer, turned(&inner), turned(&third)]), &rest, true, "a cavity in the cavity");
}

#[test]
fn repeated_and_turned_triangles_do_not_change_the_mass() {
    let cube = block([-0.5; 3], [0.5; 3]);
    let expected = block_moments([-0.5; 3], [0.5; 3]);
    let with = |change: &dyn Fn(&mut Vec<[u32; 3]>)| {
        let mut mesh = cube.clone();
        change(&mut mesh.triangles);
        mesh
    };
    for (name, mesh) in [
        ("one turned", with(&|t| t[3].swap(0, 1))),
        ("one repeated", with(&|t| t.push(t[5]))),
        ("one repeated and turned", with(&|t| t.push([t[5][1], t[5][0], t[5][2]]))),
        ("all repeated", with(&|t| t.extend_from_within(..))),
        ("all three times, inward", turned(&with(&|t| [t.clone(), t.clone(), t.clone()].concat().clone_into(t)))),
    ] {
        masses_are(&mesh, &expected, true, name);
    }
    // A wall within the cube, passed in both directions: its winding number is 1 on both sides.
    let mut walled = joined(&[cube.clone(), primitives::cuboid([0.2; 3]).unwrap()]);
    walled.triangles.truncate(13);
    let [a, b, c] = walled.triangles[12];
    walled.triangles.push([a, c, b]);
    masses_are(&walled, &expected, true, "with a wall within");
}

#[test]
fn mass_is_exact_where_parts_touch_and_overlap() {
    let cube = block([0.0; 3], [1.0; 3]);
    let exact =
        |parts: &[TriMesh]| voxshell::cook::mass_properties(&joined(parts)).map(|m| (m.volume * 1e9).round() / 1e9);
    let near = |min: [f64; 3]| block(min, min.map(|x| x + 1.0));
    assert_eq!(exact(&[cube.clone(), near([1.0 + 1e-12, 0.0, 0.0])]), Some(2.0), "beside it");
    assert_eq!(exact(&[cube.clone(), near([1.0, 1.0, 0.0])]), Some(2.0), "a common edge");
    assert_eq!(exact(&[cube.clone(), near([1.0; 3])]), Some(2.0), "a common corner");
    assert_eq!(exact(&[cube.clone(), near([1.0, 0.0, 0.0])]), Some(2.0), "a common face, the same triangles");
    assert_eq!(exact(&[cube.clone(), near([1.0, 0.5, 0.25])]), Some(2.0), "half a common face");
    assert_eq!(exact(&[cube.clone(), near([0.5, 0.25, 0.1])]), Some(2.0 - 0.5 * 0.75 * 0.9), "overlapping");
    assert_eq!(exact(&[cube.clone(), near([1.0 - 1e-12, 0.0, 0.0])]), Some(2.0), "a sliver in common");
    let mut open = cube.clone();
    open.triangles.pop();
    assert_eq!(exact(&[open]), None, "open");
    let sheet = TriMesh::new(vec![[0.1; 3], [1.0, 0.0, 0.3], [0.0, 1.0, 0.7]], vec![[0, 1, 2], [0, 2, 1]]).unwrap();
    assert_eq!(exact(&[sheet]), None, "a sheet and its back");
}

#[test]
fn mass_of_a_dense_mesh_takes_less_than_quadratic_time() {
    // Tall triangles around one axis whose boxes mostly overlap; closed below.
    let cone = |n: u32| {
        let rim = (0..n).map(|i| {
            let (sin, cos) = (f64::from(i) / f64::from(n) * std::f64::consts::TAU).sin_cos();
            [cos, sin, 0.0]
        });
        let vertices: Vec<[f64; 3]> = rim.chain([[0.0, 0.0, 1.0], [0.0; 3]]).collect();
        let sides = (0..n).flat_map(|i| [[i, (i + 1) % n, n], [(i + 1) % n, i, n + 1]]);
        TriMesh::new(vertices, sides.collect()).unwrap()
    };
    assert!(voxshell::cook::mass_properties(&cone(1000)).is_some(), "a cone of 2,000 triangles is looked at in full");
    let start = std::time::Instant::now();
    voxshell::cook::mass_properties(&cone(50_000));
    let took = start.elapsed().as_secs_f64();
    eprintln!("a cone of 100,000 triangles: {took:.2} s");
    // Testing all pairs would take minutes.
    assert!(took < 20.0, "{took} s");
}

#[test]
fn cooked_shapes_of_any_size_can_be_loaded() {
    let part = joined(&[block(LARGE[0], LARGE[1]), turned(&block(SMALL[0], SMALL[1]))]);
    let needle = block([0.0; 3], [1e-9, 1e-9, 1.0]);
    let needle = needle.transformed(&Pose::new([0.1; 3].into(), [0.4, 0.5, 0.6].into()), 1.0);
    let mut cooked = 0;
    for exponent in (-45..=45).step_by(3) {
        for (name, mesh) in [("part", &part), ("needle", &needle)] {
            let mesh = mesh.scaled(10f64.powi(exponent));
            for storage in [Storage::Dense, Storage::Bricks] {
                let options =
                    CookOptions { forms: Forms { field: name == "part", shell: true }, ..field_only(12, storage) };
                // A size that a field or a shell cannot have is refused when it is cooked.
                let Ok(shape) = Shape::cook(&mesh, &options, &Progress::none()) else { continue };
                cooked += 1;
                let again =
                    Shape::from_bytes(&shape.to_bytes().unwrap_or_else(|e| panic!("{name}, 1e{exponent}: {e}")));
                assert!(again.unwrap().mass == shape.mass, "{name}, 1e{exponent}");
            }
        }
    }
    assert!(cooked > 40, "{cooked}");
}

/// Statistics over random parts.
#[derive(Default, Debug)]
struct Seen {
    exact: u32,
    estimated: u32,
    /// Largest differences of volume, centre and inertia: relative to size if exact; otherwise in units of the
    /// tolerance.
    off_exact: [f64; 3],
    off_lines: [f64; 3],
    off_samples: [f64; 3],
    /// Number of points whose sign was compared.
    points: usize,
    shells: u32,
}

fn raise(most: &mut [f64; 3], new: [f64; 3]) {
    (0..3).for_each(|k| most[k] = most[k].max(new[k]));
}

/// Returns the moments of {φ < 0} by samples, one at a random position in each 27th of a cell.
fn moments_of_field(field: &Field, rng: &mut Rng) -> Moments {
    let grid = *field.gridded().unwrap().grid;
    let center = field.local_origin(&Vec3::zeros());
    let step = f64::from(grid.spacing) / 3.0;
    let counts = grid.dims.map(|n| (n - 1) * 3);
    let mut sum = Moments::default();
    let volume = step * step * step;
    for k in 0..counts[2] {
        for j in 0..counts[1] {
            for i in 0..counts[0] {
                let p = [i, j, k];
                let p = [0, 1, 2].map(|a| f64::from(grid.min[a]) + (f64::from(p[a]) + rng.fraction()) * step);
                if field.distance(p.map(|x| x as f32)) < 0.0 {
                    let [x, y, z] = [0, 1, 2].map(|a| p[a] + center[a]);
                    let own = Moments {
                        volume,
                        first: [x, y, z].map(|x| x * volume),
                        second: [x * x, y * y, z * z, x * y, x * z, y * z].map(|x| x * volume),
                    };
                    sum.add(&own, 1.0);
                }
            }
        }
    }
    sum
}

/// Returns true if a solid can have these mass properties: by eigenvalues, not by the library's own test.
fn is_physical(mass: &MassProperties) -> bool {
    let moments = mass.inertia_matrix().symmetric_eigenvalues();
    let principal = principal_axes(mass).0;
    let largest = moments.max();
    mass.volume > 0.0
        && moments.min() > 0.0
        && moments.sum() - 2.0 * largest > -1e-9 * largest
        && (principal.min() - moments.min()).abs() < 1e-9 * largest
        && (principal.max() - largest).abs() < 1e-9 * largest
}

fn check_part(seed: u64, seen: &Mutex<Seen>) -> Result<(), String> {
    let part = Part::new(seed);
    let mut rng = Rng(seed ^ 0x5eed);
    let cells = 14 + (rng.next() % 14) as u32;
    let storage = if rng.next() % 2 == 0 { Storage::Dense } else { Storage::Bricks };
    let with_shell = rng.next() % 16 == 0;
    let mut options = field_only(cells, storage);
    options.forms.shell = with_shell;
    let fail = |what: String| {
        let places: Vec<_> = part.bodies.iter().map(|b| (b.place, b.sign, b.mesh.triangles.len())).collect();
        Err(format!("seed {seed}, {cells} cells, {storage:?}: {what}; {places:?} {:?}", part.done))
    };
    let shape = match Shape::cook(&part.mesh, &options, &Progress::none()) {
        Ok(shape) => shape,
        Err(e) => return fail(e.to_string()),
    };
    let bounds = part.mesh.bounds();
    let size = bounds.extents().max();
    let field = shape.field.as_deref().unwrap();
    let h = f64::from(field.gridded().unwrap().grid.spacing);
    let truth = part.truth();
    let Some(mass) = shape.mass else { return fail("no mass properties".into()) };
    if !is_physical(&mass) {
        return fail(format!("no solid has {mass:?}"));
    }

    // The field against the truth: the sign away from the surface.
    let center = field.local_origin(&Vec3::zeros());
    let points: Vec<Vec3> = (0..60)
        .map(|_| {
            bounds.center() + Vec3::new(rng.unit(), rng.unit(), rng.unit()).component_mul(&(bounds.extents() * 0.5))
        })
        .filter(|p| f64::from(field.distance((p - center).cast::<f32>().into())).abs() > 2.0 * h)
        .collect();
    for (p, w) in points.iter().zip(winding_numbers(&truth, &points)) {
        let phi = field.distance((p - center).cast::<f32>().into());
        if (phi < 0.0) != (w > 0.5) {
            return fail(format!("φ is {phi} at {p:?}, where the winding number is {w}"));
        }
    }

    // The mass against the truth.
    let lines = part.moments_by_lines(96);
    let area = truth.area();
    // Where the surface passes, a sample or a line has an error of up to a cell's width.
    let by_lines = differences(&mass, &lines, size);
    let (mut off_exact, mut off_lines, mut off_samples) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    let share = |off: [f64; 3], volume: f64| {
        // Relative change of volume, centre and inertia when the surface moves by w everywhere.
        let unit = area / (size * size);
        let volume = volume / (size * size * size);
        [off[0] / unit, off[1] * volume / unit, off[2] * volume / unit]
    };
    if mass.exact {
        match part.moments() {
            Some(expected) => {
                off_exact = differences(&mass, &expected, size);
                if off_exact.iter().any(|d| *d > 1e-9) {
                    return fail(format!("{mass:?} is called exact, but is off by {off_exact:?}"));
                }
            }
            None => off_lines = share(by_lines, lines.volume).map(|x| x / (size / 96.0 / size)),
        }
    } else {
        if !part.may_overlap() {
            return fail("separate and nested bodies have exact mass properties".into());
        }
        off_lines = share(by_lines, lines.volume).map(|x| x / (h / size));
        let samples = moments_of_field(field, &mut rng);
        off_samples = share(differences(&mass, &samples, size), samples.volume).map(|x| x / (h / size));
    }
    if off_lines.iter().any(|x| *x > 0.5) || off_samples.iter().any(|x| *x > 0.05) {
        return fail(format!("{mass:?} is off by {off_lines:?} and {off_samples:?}, {:?}", numbers(&lines)));
    }

    // The cooked shape is written and read back.
    let again = match shape.to_bytes().and_then(|bytes| Shape::from_bytes(&bytes)) {
        Ok(again) => again,
        Err(e) => return fail(e.to_string()),
    };
    if again.mass != shape.mass || again.field != shape.field || again.shell != shape.shell {
        return fail("another shape was loaded than saved".into());
    }
    let mut seen = seen.lock().unwrap();
    raise(&mut seen.off_exact, off_exact);
    raise(&mut seen.off_lines, off_lines);
    raise(&mut seen.off_samples, off_samples);
    seen.points += points.len();
    *(if mass.exact { &mut seen.exact } else { &mut seen.estimated }) += 1;
    seen.shells += u32::from(with_shell);
    Ok(())
}

/// 400 parts, and 10,000 with VOXSHELL_LONG=1.
#[test]
fn field_mass_and_file_of_random_parts_agree() {
    let number = if support::long() { 10_000 } else { 400 };
    let seen = Mutex::new(Seen::default());
    let failed: Vec<String> = (0..number).into_par_iter().filter_map(|seed| check_part(seed, &seen).err()).collect();
    let seen = seen.into_inner().unwrap();
    eprintln!("{number} random parts: {seen:?}");
    assert!(failed.is_empty(), "{} of {number}:\n{}", failed.len(), failed[..failed.len().min(20)].join("\n"));
    assert!(seen.exact == number as u32, "{seen:?}");
}
