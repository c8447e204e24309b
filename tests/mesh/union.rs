//! Mass of closed parts that overlap, nest and touch: that of their union, against sums over the cells between all their planes.

use nalgebra::{Isometry3, Matrix3, Translation3};
use support::rng::Rng;
use voxshell::cook::mass_properties;
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::{primitives, MassProperties, TriMesh};

/// A box along the axes: its lowest and highest corner.
type Block = [Vec3; 2];

fn mesh_of(blocks: &[Block], pose: &Pose) -> TriMesh {
    let mut all = TriMesh::default();
    for [low, high] in blocks {
        let half = (high - low) * 0.5;
        let cuboid = primitives::cuboid(half.into()).unwrap();
        let first = all.vertices.len() as u32;
        let place =
            |p: &[f64; 3]| -> [f64; 3] { (pose * nalgebra::Point3::from(Vec3::from(*p) + low + half)).coords.into() };
        all.vertices.extend(cuboid.vertices.iter().map(place));
        all.triangles.extend(cuboid.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    all
}

/// Returns volume, centre and inertia per mass of the union, before it is turned.
fn union_of(blocks: &[Block]) -> (f64, Vec3, Matrix3<f64>) {
    let planes = [0, 1, 2].map(|k| {
        let mut planes: Vec<f64> = blocks.iter().flat_map(|b| [b[0][k], b[1][k]]).collect();
        planes.sort_unstable_by(f64::total_cmp);
        planes.dedup();
        planes
    });
    let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Matrix3::zeros());
    for x in planes[0].windows(2) {
        for y in planes[1].windows(2) {
            for z in planes[2].windows(2) {
                let (low, high) = (Vec3::new(x[0], y[0], z[0]), Vec3::new(x[1], y[1], z[1]));
                let (middle, size) = ((low + high) * 0.5, high - low);
                let holds = |b: &Block| (0..3).all(|k| b[0][k] < middle[k] && middle[k] < b[1][k]);
                if blocks.iter().any(holds) {
                    let own = size.x * size.y * size.z;
                    volume += own;
                    first += middle * own;
                    second +=
                        (middle * middle.transpose() + Matrix3::from_diagonal(&size.component_mul(&size)) / 12.0) * own;
                }
            }
        }
    }
    let center = first / volume;
    let spread = second / volume - center * center.transpose();
    (volume, center, Matrix3::identity() * spread.trace() - spread)
}

fn check(mass: &MassProperties, blocks: &[Block], pose: &Pose, what: &str) {
    let (volume, center, inertia) = union_of(blocks);
    let center = (pose * nalgebra::Point3::from(center)).coords;
    let turn = pose.rotation.to_rotation_matrix();
    let inertia = turn.matrix() * inertia * turn.matrix().transpose();
    let size = inertia.trace().sqrt();
    assert!(mass.exact, "{what}");
    assert!((mass.volume - volume).abs() <= 1e-8 * volume, "{what}: volume {} of {volume}", mass.volume);
    assert!((Vec3::from(mass.center_of_mass) - center).norm() <= 1e-7 * size, "{what}: {:?}", mass.center_of_mass);
    assert!((mass.inertia_matrix() - inertia).norm() <= 1e-7 * inertia.norm(), "{what}: {:?}", mass.inertia);
}

#[test]
fn boxes_that_overlap_nest_and_touch_have_the_mass_of_their_union() {
    for seed in 0..200 {
        let mut rng = Rng(seed);
        let count = 1 + (rng.fraction() * 30.0) as usize;
        // On a lattice many faces share a plane, and boxes touch, nest and repeat.
        let cells = [0.0, 4.0, 12.0][(seed % 3) as usize];
        let mut blocks: Vec<Block> = Vec::new();
        for _ in 0..count {
            let mut at = || match cells {
                0.0 => rng.unit(),
                cells => (rng.unit() * cells).round() / cells,
            };
            let (p, q) = (Vec3::new(at(), at(), at()), Vec3::new(at(), at(), at()));
            let mut block = [p.inf(&q), p.sup(&q)];
            let thin = (rng.fraction() * 9.0) as usize;
            if thin < 3 {
                block[1][thin] = block[0][thin] + 1e-3;
            }
            if (block[1] - block[0]).min() > 0.0 {
                blocks.push(block);
            }
        }
        if blocks.is_empty() {
            continue;
        }
        let turned = Isometry3::from_parts(Translation3::from(rng.vector() * 3.0), rng.rotation());
        for (pose, name) in [(Pose::identity(), "along the axes"), (turned, "turned")] {
            let what = format!("seed {seed}, {} boxes, {name}", blocks.len());
            let mass = mass_properties(&mesh_of(&blocks, &pose)).unwrap_or_else(|| panic!("{what}: no mass"));
            check(&mass, &blocks, &pose, &what);
        }
    }
}

/// Round parts through each other: their sum is that of the union and of what both share, found by columns.
#[test]
fn a_ring_through_a_ring_has_the_mass_of_the_union() {
    let ring = primitives::torus(0.4, 0.1, 48, 24).unwrap();
    let alone = mass_properties(&ring).unwrap();
    for offset in [0.1, 0.37, 0.45, 1.2] {
        let turn = nalgebra::UnitQuaternion::from_euler_angles(1.3, 0.2, 0.4);
        let mut both = ring.clone();
        let place = |p: &[f64; 3]| -> [f64; 3] { (turn * Vec3::from(*p) + Vec3::new(offset, 0.01, 0.02)).into() };
        both.vertices.extend(ring.vertices.iter().map(place));
        let first = ring.vertices.len() as u32;
        both.triangles.extend(ring.triangles.iter().map(|t| t.map(|v| v + first)));
        let mass = mass_properties(&both).unwrap();
        // What both share, by points.
        let sides = [0, 1].map(|k| {
            let half = both.triangles.len() / 2;
            let triangles = both.triangles[k * half..(k + 1) * half].to_vec();
            voxshell::field::Surface::new(&TriMesh { vertices: both.vertices.clone(), triangles }).unwrap()
        });
        let (mut rng, count, mut shared) = (Rng(7), 400_000, 0);
        for _ in 0..count {
            let p = Vec3::new(rng.unit(), rng.unit(), rng.unit()) * 0.55;
            shared += usize::from(sides[0].contains(p) && sides[1].contains(p));
        }
        let shared = 8.0 * 0.55 * 0.55 * 0.55 * shared as f64 / count as f64;
        let expected = 2.0 * alone.volume - shared;
        assert!((mass.volume - expected).abs() <= 0.01 * shared + 1e-9, "{offset}: {} of {expected}", mass.volume);
    }
}
