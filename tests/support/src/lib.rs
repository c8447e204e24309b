//! Code shared by integration tests, in a crate so that no test must use all of it.

pub mod allocation;
pub mod brick;
pub mod container;
pub mod dense_meshes;
pub mod extremes;
pub mod faults;
pub mod fuzz;
pub mod haptics;
pub mod motion;
pub mod parts;
pub mod recording;
pub mod reference;
pub mod rng;
pub mod soup;

use std::path::PathBuf;

use proptest::test_runner::{Config, RngSeed};
use voxshell::mesh::{io, TriMesh};

/// Returns true if VOXSHELL_LONG is set: tests then run for longer than a few seconds.
pub fn long() -> bool {
    std::env::var_os("VOXSHELL_LONG").is_some()
}

/// Returns `n` cases of a property, the same in every run; with VOXSHELL_LONG fifty times as many, different in every
/// run.
pub fn cases(n: u32) -> Config {
    let (cases, rng_seed) = if long() { (50 * n, RngSeed::Random) } else { (n, RngSeed::Fixed(0x766f_7873_6865_6c6c)) };
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

/// Returns a mesh of the shared collection, scaled to 1 m largest extent and centred on its box. If the collection is
/// not beside the checkout, prints that and returns `None`: the test skips.
pub fn shared_mesh(name: &str) -> Option<TriMesh> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/meshes").join(name);
    if !path.exists() {
        eprintln!("skipped: shared/meshes/{name} is not beside the checkout");
        return None;
    }
    Some(io::load(&path).expect("a mesh of the collection loads").scaled_to_extent(1.0))
}
