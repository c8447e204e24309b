//! Xu & Barbič 2014 and 2016: tables 1 to 4, short segments by the octree, and bisection, with the papers' figures beside.

use voxshell::mesh::primitives;
use voxshell::Result;

use super::{Context, Outcome};
use crate::bench::{tables::Tables, Setup};

/// The papers' bunny of 777 vertices; without it a blob of the project's own.
const BUNNY: &str = "bunny_777_decimated.obj";
const DRAGON: &str = "dragon_10k_open.obj";

pub fn run(context: &Context) -> Result<Outcome> {
    let (name, mesh) = match context.assets.mesh(BUNNY)? {
        Some(mesh) => (BUNNY, mesh.scaled_to_extent(1.0)),
        None => ("blob", primitives::blob(1)?.scaled_to_extent(1.0)),
    };
    let dense = context.assets.mesh(DRAGON)?.map(|mesh| mesh.scaled_to_extent(1.0));
    let setup = if context.quick {
        Setup::of_tables(&[64], 2_000, 20, 2_000, dense)
    } else {
        Setup::of_tables(&[128, 256, 512, 1024], 1_000_000, 200, 437_645, dense)
    };
    let tables = Tables::measure(name, &mesh, &setup)?;
    Ok(Outcome { rows: tables.rows(), ..Outcome::default() })
}
