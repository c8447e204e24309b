//! What several integration tests share: a crate, so that none has to use all of it.

pub mod allocation;
pub mod brick;
pub mod container;
pub mod crowded;
pub mod extremes;
pub mod faults;
pub mod fuzz;
pub mod haptics;
pub mod motion;
pub mod parts;
pub mod reference;
pub mod rng;
pub mod soup;

use std::path::PathBuf;

use proptest::test_runner::{Config, RngSeed};
use voxshell::mesh::{io, TriMesh};

/// Whether to look for more than a few seconds: VOXSHELL_LONG is set.
pub fn long() -> bool {
    std::env::var_os("VOXSHELL_LONG").is_some()
}

/// `n` cases of a property, the same ones on every run; the long way fifty times as many, others on every run.
pub fn cases(n: u32) -> Config {
    let (cases, rng_seed) = if long() { (50 * n, RngSeed::Random) } else { (n, RngSeed::Fixed(0x766f_7873_6865_6c6c)) };
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

/// A mesh of the shared collection, scaled to 1 m largest extent and centred on its box. When the collection is not
/// beside the checkout, says so and gives `None`: the test skips.
pub fn shared_mesh(name: &str) -> Option<TriMesh> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/meshes").join(name);
    if !path.exists() {
        eprintln!("skipped: shared/meshes/{name} is not beside the checkout");
        return None;
    }
    Some(io::load(&path).expect("a mesh of the collection loads").scaled_to_extent(1.0))
}
