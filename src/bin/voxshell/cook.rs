//! `voxshell cook`.

use std::path::PathBuf;
use std::time::Instant;

use voxshell::Result;

use crate::{info, source};

#[derive(clap::Args)]
pub struct Arguments {
    /// A mesh file (.obj, .stl, .ply) or the name of a built-in shape.
    source: String,
    /// The asset to write.
    #[arg(short, long, default_value = "shape.vxs")]
    out: PathBuf,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let start = Instant::now();
    let shape = source::shape(&arguments.source, &arguments.cook)?;
    let cooked = start.elapsed();
    shape.save(&arguments.out)?;
    info::print_shape(&shape);
    println!("wrote {} (cooked in {:.2} s)", arguments.out.display(), cooked.as_secs_f64());
    Ok(())
}
