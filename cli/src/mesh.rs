//! `voxshell mesh`: a mesh as an OBJ file.

use std::ffi::OsString;
use std::path::PathBuf;
use voxshell_cli::print::say;

use voxshell::mesh::io;
use voxshell::Result;

use voxshell_cli::source;

#[derive(clap::Args)]
pub struct Arguments {
    /// Name of a built-in shape, random:SEED for a random primitive, or a mesh file (.obj, .stl, .ply).
    #[arg(value_name = "MESH")]
    source: OsString,
    /// The OBJ file to write.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Unit of the mesh's numbers, which are scaled to metres.
    #[arg(long, value_enum, default_value_t = source::Unit::M)]
    unit: source::Unit,
    /// Scale the mesh to this largest extent, centred on its box.
    #[arg(long, value_name = "METRES", conflicts_with = "unit")]
    extent: Option<f64>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mesh = source::mesh_in(arguments.unit, &arguments.source, arguments.extent)?;
    io::write_obj(&arguments.out, &mesh)?;
    say(format_args!("wrote {} ({} triangles)", arguments.out.display(), mesh.triangles.len()));
    Ok(())
}
