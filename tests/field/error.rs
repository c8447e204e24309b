//! The largest error that a field reports, against dense sampling by an independent method.

use nalgebra::Isometry3;
use rayon::prelude::*;
use support::rng::Rng;
use voxshell::cook::FieldOptions;
use voxshell::field::{Field, MeshField, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::primitives::{self, Primitive};
use voxshell::mesh::TriMesh;

/// Cells along the largest extent.
const CELLS: u32 = 40;

/// The field, the exact one, and the search radius around a point, metres.
struct Pair {
    field: Field,
    exact: MeshField,
    voxel: f64,
}

impl Pair {
    fn new(mesh: &TriMesh, bricks: bool) -> Self {
        let options = FieldOptions::with_resolution(mesh, CELLS);
        let field = match bricks {
            true => Field::Bricks(voxshell::cook::brick_field(mesh, &options, &Progress::none()).unwrap()),
            false => Field::Dense(voxshell::cook::dense_field(mesh, &options, &Progress::none()).unwrap()),
        };
        Self { field, exact: MeshField::new(mesh.clone()).unwrap(), voxel: options.voxel_size }
    }

    /// Returns |φ − exact|, metres, within two voxels of the surface, else 0. Both use the same local frame.
    fn error(&self, p: Vec3) -> f64 {
        let p = p.map(|x| x as f32).into();
        let exact = f64::from(self.exact.distance(p));
        if exact.abs() > 2.0 * self.voxel {
            return 0.0;
        }
        (f64::from(self.field.distance(p)) - exact).abs()
    }

    /// Evaluates four points of each cell near the surface, then searches ever more closely around the worst of them.
    fn largest(&self, rng: &mut Rng) -> f64 {
        let grid = *self.field.gridded().unwrap().grid;
        let h = self.voxel;
        let mut points = Vec::new();
        for k in 0..grid.dims[2] - 1 {
            for j in 0..grid.dims[1] - 1 {
                for i in 0..grid.dims[0] - 1 {
                    let at = [i, j, k];
                    let low: Vec3 = [0, 1, 2].map(|a| f64::from(grid.min[a]) + f64::from(at[a]) * h).into();
                    let middle = low + Vec3::repeat(0.5 * h);
                    if f64::from(self.field.distance(middle.map(|x| x as f32).into())).abs() < 2.5 * h {
                        let inside = |rng: &mut Rng| Vec3::new(rng.fraction(), rng.fraction(), rng.fraction()) * h;
                        points.extend((0..4).map(|_| low + inside(rng)));
                    }
                }
            }
        }
        let mut found: Vec<(f64, Vec3)> = points.into_par_iter().map(|p| (self.error(p), p)).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(100);
        let seed = rng.next();
        let tops = found.par_iter().enumerate().map(|(i, &(mut most, mut p))| {
            let mut rng = Rng(seed ^ i as u64);
            for round in 0..200 {
                let q = p + rng.vector() * (0.4 * h * 0.98f64.powi(round));
                let e = self.error(q);
                if e > most {
                    (most, p) = (e, q);
                }
            }
            most
        });
        tops.reduce(|| 0.0, f64::max)
    }
}

/// Returns thin pyramids on a box.
fn spikes(rng: &mut Rng) -> TriMesh {
    let half = Vec3::new(0.3, 0.2, 0.25);
    let mut mesh = primitives::cuboid(half.into()).unwrap();
    for _ in 0..6 {
        let (foot, side) = (rng.vector() * 0.15, 0.03 + 0.05 * rng.fraction());
        let tip = foot + rng.vector().normalize() * (0.5 + 0.2 * rng.fraction());
        let along = (tip - foot).normalize();
        let u = along.cross(&Vec3::new(0.3, 0.5, 0.8)).normalize();
        let v = along.cross(&u);
        let base = mesh.vertices.len() as u32;
        let corners = [u, v, -u, -v].map(|d| foot + d * side);
        mesh.vertices.extend(corners.map(<[f64; 3]>::from));
        mesh.vertices.push(tip.into());
        let sides = (0..4).map(|i| [base + i, base + (i + 1) % 4, base + 4]);
        mesh.triangles.extend(sides.chain([[base, base + 2, base + 1], [base, base + 3, base + 2]]));
    }
    mesh
}

fn bodies(seed: u64) -> Vec<(String, TriMesh)> {
    let mut rng = Rng(seed);
    let mut length = |low: f64, high: f64| low + (high - low) * rng.fraction();
    let mut bodies = vec![
        ("box", primitives::cuboid([length(0.2, 0.5), length(0.2, 0.5), length(0.1, 0.5)]).unwrap()),
        ("plate", primitives::cuboid([0.5, length(0.3, 0.5), length(0.03, 0.08)]).unwrap()),
        ("plate with a hole", primitives::hole([0.5, length(0.05, 0.1), 0.4], length(0.05, 0.25), 48).unwrap()),
        ("gear", primitives::gear(12, 0.5, length(0.38, 0.42), length(0.1, 0.3), length(0.05, 0.2)).unwrap()),
        ("cone", primitives::cone(length(0.2, 0.4), length(0.6, 1.0), 48).unwrap()),
        ("bowl", primitives::bowl(0.5, length(0.06, 0.1), 48).unwrap()),
        ("organic", primitives::blob(1).unwrap()),
        ("drawn", Primitive::random(seed).mesh().unwrap()),
    ];
    bodies.push(("spikes", spikes(&mut rng)));
    bodies
        .into_iter()
        .map(|(name, mesh)| {
            // Faces at all angles to the grid, except for every second box.
            let turn = if name == "box" && seed % 2 == 0 { Default::default() } else { rng.rotation() };
            let mesh = mesh.scaled_to_extent(1.0).transformed(&Isometry3::from_parts(Default::default(), turn), 1.0);
            (format!("{name} {seed}"), mesh)
        })
        .collect()
}

#[test]
fn dense_sampling_finds_hardly_more_than_the_error_reported() {
    let seeds = if support::long() { 40 } else { 2 };
    let mut worst = 0.0f64;
    for seed in 0..seeds {
        for (name, mesh) in bodies(seed) {
            let pair = Pair::new(&mesh, seed % 2 == 1);
            let reported = pair.field.gridded().unwrap().error.max;

            let found = pair.largest(&mut Rng(seed ^ 0x5eed));
            let ratio = found / reported;
            eprintln!("{name}: {:.3} voxels reported, {:.3} found", reported / pair.voxel, found / pair.voxel);
            worst = worst.max(ratio);
        }
    }
    eprintln!("at most {worst:.3} times the reported error");
    assert!(worst <= if support::long() { 1.15 } else { 1.05 }, "{worst} times the reported error");
}
