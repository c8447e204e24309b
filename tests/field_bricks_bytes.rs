//! The bytes of a field in bricks: the same on any number of threads and any processor, and refused when they do not fit.

use support::brick::{bricks, dense};
use support::rng::Rng;
use support::shared_mesh;
use voxshell::field::{BrickField, Field, SignedDistance};
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
            (format!("{:?}", field.parts().0), field.parts().1, field.parts().2.to_vec())
        };
        let one = run(1);
        assert!(one == run(2) && one == run(4));
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let field = bricks(&primitives::sphere(0.5, 2).unwrap(), 40);
    let (header, numbers, samples) = field.parts();
    let again = BrickField::from_parts(header.clone(), &numbers, samples.into()).unwrap();
    assert!(again == field);
    let refused = |h: &voxshell::field::BrickHeader, n: &[u32], s: &[i16]| {
        BrickField::from_parts(h.clone(), n, s.into()).unwrap_err().to_string()
    };
    assert!(refused(&header, &numbers[1..], samples).contains("samples"));
    assert!(refused(&header, &numbers, &samples[1..]).contains("samples"));
    let mut twice = numbers.clone();
    twice[1] = twice[0];
    assert!(refused(&header, &twice, samples).contains("bricks[1]"));
    twice[1] = u32::MAX;
    assert!(refused(&header, &twice, samples).contains("bricks[1]"));
    let mut bad = header.clone();
    bad.step = 65;
    assert!(refused(&bad, &numbers, samples).contains("step"));
    bad = header.clone();
    bad.quantum = f32::NAN;
    assert!(refused(&bad, &numbers, samples).contains("quantum"));
    bad = header.clone();
    bad.grid.dims[1] += 8;
    assert!(refused(&bad, &numbers, samples).contains("samples"));
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
    // The cooked bytes as well: culling has kernels of its own. Other tests of this binary may run on either path meanwhile:
    // that is the point.
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
