//! The sign, dense and in bricks, against the winding number summed over all triangles in f64.

use proptest::prelude::*;
use support::brick::{bricks, dense};
use support::rng::Rng;
use support::shared_mesh;
use support::soup::{winding_numbers, Damage, Soup};
use voxshell::field::{DenseField, SignedDistance};
use voxshell::math::Vec3;
use voxshell::mesh::TriMesh;

/// Distance of w from one half within which either sign is right: the library's hierarchy has errors up to 2e-3.
const CLOSE: f64 = 5e-3;

/// Statistics of the tested nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    nodes: usize,
    inside: usize,
    /// Winding number too close to one half.
    close: usize,
    /// Nodes on the surface, within rounding.
    on_surface: usize,
}

fn position(field: &DenseField, n: usize) -> Vec3 {
    let g = field.grid();
    let [nx, ny, _] = g.dims.map(|d| d as usize);
    let at = [n % nx, n / nx % ny, n / (nx * ny)];
    Vec3::from([0, 1, 2].map(|k| f64::from(g.min[k]) + at[k] as f64 * f64::from(g.spacing))) + field.center()
}

/// Checks the sign of up to `most` nodes of both storages; half of them are near the surface. `truth`: the mesh whose
/// winding number defines the inside.
fn check(mesh: &TriMesh, truth: &TriMesh, cells: u32, most: usize, seed: u64) -> Result<Seen, String> {
    let (full, sparse) = (dense(mesh, cells), bricks(mesh, cells));
    let h = full.grid().spacing;
    let all = full.values().len();
    let mut rng = Rng(seed);
    let mut nodes: Vec<usize> = if most >= all {
        (0..all).collect()
    } else {
        let near: Vec<usize> = (0..all).filter(|&n| full.values()[n].abs() < 1.5 * h).collect();
        let any = (0..most / 2).map(|_| (rng.next() % all as u64) as usize);
        let any: Vec<usize> = any.collect();
        let picked = (0..most - most / 2).map(|_| near[(rng.next() % near.len() as u64) as usize]);
        any.into_iter().chain(picked).collect()
    };
    nodes.sort_unstable();
    nodes.dedup();
    let places: Vec<Vec3> = nodes.iter().map(|&n| position(&full, n)).collect();
    let bounds = mesh.bounds();
    let mut seen = Seen::default();
    for ((&n, p), w) in nodes.iter().zip(&places).zip(winding_numbers(truth, &places)) {
        seen.nodes += 1;
        if full.values()[n].abs() < 2e-6 * (h + 1.0) {
            seen.on_surface += 1;
            continue;
        }
        if (w - 0.5).abs() < CLOSE {
            seen.close += 1;
            continue;
        }
        let expected = w > 0.5 && bounds.contains(p);
        seen.inside += usize::from(expected);
        let local = (p - full.center()).cast::<f32>();
        for (name, phi) in [("dense", full.values()[n]), ("bricks", sparse.distance(local.into()))] {
            // Within half a quantum of the surface a sample in bricks is 0, which is neither sign; and the f32 position
            // differs slightly from the node's.
            let quantum = sparse.quantum();
            let neither = name == "bricks" && phi.abs() < 0.01 * quantum && full.values()[n].abs() < 0.501 * quantum;
            if (phi < 0.0) != expected && !neither {
                return Err(format!(
                    "{name}: {phi} m at {:?}, winding number {w}, voxel {h} m; {}",
                    p.as_slice(),
                    full.sign()
                ));
            }
        }
    }
    Ok(seen)
}

/// The meshes of the collection, and whether each is wound inward.
const MESHES: [(&str, bool); 15] = [
    ("alpha_puzzle_env15.obj", true),
    ("alpha_puzzle_robot.obj", true),
    ("bunny_34k_filled.obj", false),
    ("bunny_34k_raw_holes.obj", false),
    ("bunny_3k_libigl.obj", false),
    ("bunny_453_bullet.obj", false),
    ("bunny_777_decimated.obj", false),
    ("concave_box_169.obj", false),
    ("dragon_10k_open.obj", false),
    ("fandisk_6k_cad.obj", false),
    ("horse_48k.obj", true),
    ("rocker_arm_10k_genus1.obj", false),
    ("teapot_3k_open.obj", false),
    ("torus_2k_ccby.obj", false),
    ("wingnut_3k.obj", false),
];

/// The list above names every mesh of the collection, so that new meshes are tested.
#[test]
fn no_mesh_of_the_collection_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: shared/meshes is not beside the checkout");
        return;
    };
    let mut found: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    found.retain(|name| name.ends_with(".obj"));
    found.sort();
    assert_eq!(found, MESHES.map(|(name, _)| name));
}

#[test]
fn sign_of_every_mesh_is_that_of_the_exact_winding_number() {
    for (name, inward) in MESHES {
        let Some(mesh) = shared_mesh(name) else { continue };
        let mut truth = mesh.clone();
        if inward {
            truth.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        }
        let most = if support::long() { usize::MAX } else { (6_000_000 / mesh.triangles.len()).max(150) };
        let large = mesh.triangles.len() > 20_000 && !support::long();
        for cells in if large { vec![47] } else { vec![31, 64] } {
            let seen = check(&mesh, &truth, cells, most, 5).unwrap_or_else(|e| panic!("{name}, {cells} cells: {e}"));
            eprintln!("{name}, {cells} cells: {seen:?}");
            assert!(seen.inside * 20 > seen.nodes && seen.nodes > 60, "{name}: {seen:?}");
            assert!(seen.close * 50 <= seen.nodes, "{name}: {seen:?}");
        }
    }
}

proptest! {
    #![proptest_config(support::cases(12))]

    #[test]
    fn sign_of_soups_is_that_of_the_mesh_they_were_made_from(seed in any::<u64>().no_shrink()) {
        for damage in Damage::EVERY {
            let Soup { mesh, truth } = Soup::new(damage, seed);
            let seen = check(&mesh, &truth, 24, 600, seed);
            prop_assert!(seen.is_ok(), "{:?}, seed {}: {}", damage, seed, seen.unwrap_err());
            let seen = seen.unwrap();
            prop_assert!(seen.close * 10 <= seen.nodes, "{:?}, seed {}: {:?}", damage, seed, seen);
        }
    }
}
