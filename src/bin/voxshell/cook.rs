//! `voxshell cook`.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use voxshell::asset;
use voxshell::Result;

use crate::{info, source};

#[derive(Clone, Copy, ValueEnum)]
enum Store {
    Compressed,
    Raw,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// A mesh file (.obj, .stl, .ply) or the name of a built-in shape.
    source: String,
    /// The asset to write.
    #[arg(short, long, default_value = "shape.vxs")]
    out: PathBuf,
    /// How a field in bricks is written: small, or as in memory, to be mapped when it is loaded.
    #[arg(long, value_enum, default_value_t = Store::Compressed)]
    store: Store,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let start = Instant::now();
    let shape = source::shape(&arguments.source, &arguments.cook)?;
    let cooked = start.elapsed();
    let store = match arguments.store {
        Store::Compressed => asset::Store::Compressed,
        Store::Raw => asset::Store::Raw,
    };
    shape.save_as(&arguments.out, store)?;
    info::print_shape(&shape);
    println!("wrote {} (cooked in {:.2} s)", arguments.out.display(), cooked.as_secs_f64());
    Ok(())
}
