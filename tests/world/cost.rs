//! The cost of a step does not depend on the resolution of the fields, however many samples they bring. Counted in tests of
//! nodes, samples, boxes and triangles, so that it is the same on all machines.

use nalgebra::{Isometry3, Translation3};
use support::parts;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{Coverage, Pair, PairOptions, PairStep, Workspace};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::TriMesh;

use super::closest;

/// A fine grid has four times the cells of a coarse one along each axis, and sixteen times the samples on its surface.
const CELLS: [u32; 2] = [32, 128];
/// Largest ratio of the tests with the fine grid to those with the coarse one, in half of the scenes and in all; the largest that was
/// seen in 60 scenes, with 64 and 256 cells, is 9.6.
const MOST: [f64; 2] = [1.5, 16.0];
/// Number of tests below which a search is cheap, whatever the ratio.
const FEW: u64 = 100;

fn cooked(mesh: &TriMesh, cells: u32) -> Shape {
    let options = CookOptions { resolution: Resolution::Cells(cells), ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Returns the tests of the first search of a pair, and the median of those that follow while a body slides over another.
fn tests([a, b]: &[Shape; 2], mut pose: Pose, along: &Translation3<f64>) -> [u64; 2] {
    let mut pair = Pair::new(PairOptions::default()).unwrap();
    let [of_a, of_b] = [a, b].map(|shape| shape.geometry_for(Coverage::Edges).unwrap());
    let mut tests: Vec<u64> = (0..20)
        .map(|_| {
            let step = PairStep::at_rest(pose, Pose::identity());
            pair.update([&of_a, &of_b], Some([a.owner(), b.owner()]), &step).unwrap();
            pose = along * pose;
            let stats = pair.workspace().stats();
            stats.node_tests + stats.sample_tests + stats.edge_tests
        })
        .collect();
    let first = tests.remove(0);
    tests.sort_unstable();
    [first, tests[tests.len() / 2]]
}

#[test]
fn the_cost_of_a_step_does_not_depend_on_the_resolution() {
    let (mut workspace, mut ratios) = (Workspace::new(), Vec::new());
    for seed in 0..super::seeds(6) {
        let mut rng = Rng(seed);
        let meshes = [0, 1].map(|_| parts::body(&mut rng));
        let extent = meshes.iter().map(|m| m.bounds().extents().amax()).fold(f64::INFINITY, f64::min);
        let shapes = CELLS.map(|cells| meshes.each_ref().map(|mesh| cooked(mesh, cells)));
        let (rotation, direction) = (rng.rotation(), rng.vector().normalize());
        let at = |distance: f64| Isometry3::from_parts((direction * distance).into(), rotation);
        // Two tolerances deep.
        let (mut low, mut high) = (0.0, 4.0);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            let [a, b] = &shapes[0];
            let found = closest(a, &at(middle), b, &Pose::identity(), &mut workspace);
            *if found.separation < -1e-3 * extent { &mut low } else { &mut high } = middle;
        }
        let along = Translation3::from(rng.vector().normalize() * extent * 5e-4);
        let [coarse, fine] = shapes.each_ref().map(|bodies| tests(bodies, at(high), &along));
        let samples = [0, 1].map(|i| shapes[i].iter().map(|s| s.shell.as_ref().unwrap().len()).sum::<usize>());
        assert!(samples[1] > 10 * samples[0], "seed {seed}: {samples:?}");
        for (fine, coarse) in fine.into_iter().zip(coarse) {
            ratios.push((fine as f64 / coarse.max(FEW) as f64, seed));
        }
    }
    ratios.sort_unstable_by(|p, q| p.0.total_cmp(&q.0));
    let (half, most) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    assert!(
        half.0 <= MOST[0] && most.0 <= MOST[1],
        "ratios and seeds: half of them up to {half:?}, all up to {most:?}"
    );
}
