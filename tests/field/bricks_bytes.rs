//! The bytes of a field in bricks: equal for any number of threads and any processor, and refused when inconsistent.

use support::brick::{bricks, dense, random_dense};
use support::rng::Rng;
use support::shared_mesh;
use voxshell::field::{BrickField, BrickParts, Field, Grid, SignedDistance, LANES};
use voxshell::mesh::primitives;

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let ball = primitives::sphere(0.5, 3).unwrap();
    let mut open = ball.clone();
    open.triangles.truncate(1000);
    let mut meshes = vec![ball, open];
    meshes.extend(shared_mesh("bunny_3k_libigl.obj"));
    for mesh in meshes {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let field = pool.install(|| bricks(&mesh, 130));
            field.parts()
        };
        let one = run(1);
        assert!(one == run(2) && one == run(4));
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let field = bricks(&primitives::sphere(0.5, 2).unwrap(), 40);
    let parts = field.parts();
    assert!(BrickField::from_parts(parts.clone()).unwrap() == field);
    let refused = |change: &dyn Fn(&mut BrickParts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        BrickField::from_parts(parts).unwrap_err().to_string()
    };
    assert!(refused(&|p| p.bricks.truncate(2)).contains("bricks and rises"));
    assert!(refused(&|p| p.rises.truncate(2)).contains("bricks and rises"));
    assert!(refused(&|p| p.samples = p.samples[1..].to_vec().into()).contains("samples"));
    assert!(refused(&|p| p.bricks[1] = p.bricks[0]).contains("bricks[1]"));
    assert!(refused(&|p| p.bricks[1] = u32::MAX).contains("bricks[1]"));
    assert!(refused(&|p| p.bricks.swap(3, 4)).contains("bricks[4]"));
    assert!(refused(&|p| p.header.step = 65).contains("step"));
    assert!(refused(&|p| p.header.quantum = f32::NAN).contains("quantum"));
    assert!(refused(&|p| p.header.grid.dims[2] += 8).contains("samples"));
    assert!(refused(&|p| p.masks.as_mut().unwrap().truncate(2)).contains("masks"));
    assert!(refused(&|p| p.masks.as_mut().unwrap()[0] ^= 1).contains("masks"));
}

/// Optional parts of a file are recomputed from the samples, equal to those at cooking.
#[test]
fn certified_bounds_and_masks_follow_from_the_samples() {
    for seed in 0..40 {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let anew = BrickField::from_parts(BrickParts { certificate: None, masks: None, ..field.parts() }).unwrap();
        assert!(anew == field, "{seed}");
    }
}

/// Bricks in a column share the nodes between them: fewer than 9³ samples per brick, with equal values.
#[test]
fn a_layer_between_two_bricks_is_kept_once() {
    for seed in 0..40 {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let [nx, ny, nz] = field.bricks().map(|n| n as usize);
        let (mut shared, mut fine) = (0, 0);
        for brick in 0..nx * ny * nz {
            let Some(samples) = field.fine(brick) else { continue };
            fine += 1;
            if let Some(above) = (brick / (nx * ny) + 1 < nz).then(|| field.fine(brick + nx * ny)).flatten() {
                assert_eq!(samples[8 * 81..], above[..81]);
                assert_eq!(samples[8 * 81..].as_ptr(), above.as_ptr());
                shared += 81;
            }
        }
        assert_eq!(field.fine_bricks(), fine);
        assert_eq!(field.parts().samples.len(), fine * 729 - shared + (nx + 1) * (ny + 1) * (nz + 1));
    }
}

#[test]
fn avx2_and_baseline_give_the_same_bytes() {
    if !voxshell::field::uses_avx2() {
        eprintln!("skipped: this processor has no AVX2, or VOXSHELL_BASELINE is set");
        return;
    }
    let mesh = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap();
    let fields = [Field::Dense(dense(&mesh, 60)), Field::Bricks(bricks(&mesh, 60))];
    let mut rng = Rng(2);
    let axis = |rng: &mut Rng| (0..4099).map(|_| rng.unit() as f32 * 0.8).collect::<Vec<f32>>();
    let (x, y, z) = (axis(&mut rng), axis(&mut rng), axis(&mut rng));
    let r: Vec<f32> = axis(&mut rng).iter().map(|v| v * v).collect();
    let run = |field: &Field| {
        let (mut d, mut b) = (vec![0.0f32; x.len()], vec![0.0f32; x.len()]);
        field.distance_batch(&x, &y, &z, &mut d);
        field.lower_bound_batch(&x, &y, &z, &r, &mut b);
        let one = |i: usize| field.distance_gradient([x[i], y[i], z[i]]);
        let g: Vec<(f32, [f32; 3])> = (0..x.len()).map(one).collect();
        for i in 0..x.len() {
            assert_eq!(d[i].to_bits(), field.distance([x[i], y[i], z[i]]).to_bits());
            assert_eq!(b[i].to_bits(), field.lower_bound([x[i], y[i], z[i]], r[i]).to_bits());
        }
        (d, b, g)
    };
    // The cooked bytes too, because culling has kernels of its own. Other tests of this binary may run on either path
    // meanwhile, which is intended.
    let wide: Vec<_> = fields.iter().map(run).collect();
    voxshell::field::force_baseline(true);
    assert!(!voxshell::field::uses_avx2());
    let narrow: Vec<_> = fields.iter().map(run).collect();
    let cooked = [Field::Dense(dense(&mesh, 60)), Field::Bricks(bricks(&mesh, 60))];
    voxshell::field::force_baseline(false);
    assert!(voxshell::field::uses_avx2());
    assert!(wide == narrow);
    assert!(cooked == fields);
}

/// At points in fine and coarse bricks and in full grids, on nodes, on the border and far outside it.
#[test]
fn a_few_points_together_have_the_same_bytes_as_one_by_one() {
    let mut rng = Rng(8);
    for (mesh, cells) in [(primitives::sphere(0.5, 3).unwrap(), 90), (primitives::torus(0.3, 0.1, 40, 16).unwrap(), 60)]
    {
        let (sparse, full) = (bricks(&mesh, cells), dense(&mesh, cells));
        check_lanes(&sparse, sparse.grid(), &mut rng);
        check_lanes(&full, full.grid(), &mut rng);
    }
}

fn check_lanes<F: SignedDistance>(field: &F, grid: &Grid, rng: &mut Rng) {
    let max = grid.max();
    for case in 0..4_000 {
        let reach = [0.5, 1.0, 1.1, 40.0][case % 4];
        let point = |rng: &mut Rng| {
            let v = rng.vector();
            [0, 1, 2].map(|k| {
                let at = grid.min[k] + (max[k] - grid.min[k]) * (0.5 + reach * 0.5 * v[k] as f32);
                let node = ((at - grid.min[k]) / grid.spacing).round() * grid.spacing + grid.min[k];
                if case % 3 == 0 {
                    node
                } else {
                    at
                }
            })
        };
        let points: [[f32; 3]; LANES] = std::array::from_fn(|_| point(rng));
        let lanes = [0, 1, 2].map(|k| points.map(|p| p[k]));
        let (phi, gradient) = field.distance_gradient_lanes(&lanes, LANES);
        for (i, p) in points.into_iter().enumerate() {
            let (one, g) = field.distance_gradient(p);
            assert_eq!(phi[i].to_bits(), one.to_bits(), "{p:?}");
            assert_eq!([0, 1, 2].map(|k| gradient[k][i].to_bits()), g.map(f32::to_bits), "{p:?}");
        }
    }
    // For any input, no memory outside the field is read.
    for odd in [f32::NAN, f32::INFINITY, -f32::MAX] {
        field.distance_gradient_lanes(&[[odd; LANES], [0.0; LANES], [odd; LANES]], LANES);
    }
}
