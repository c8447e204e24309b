//! The command line: cook meshes, look at assets, ask for contacts, measure. Knows the library only through its public
//! interface.

mod bench;
mod cook;
mod info;
mod query;
mod render;
mod source;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Collision data from any mesh: signed distance fields, pointshells, contacts.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Cook a mesh (OBJ, STL, PLY) or a built-in shape into an asset.
    Cook(cook::Arguments),
    /// Say what is in an asset, or what is wrong with a mesh.
    Info(info::Arguments),
    /// Draw shapes as the library sees them: by sphere-tracing their fields.
    Render(render::Arguments),
    /// Contacts and distance of two shapes at two poses.
    Query(query::Arguments),
    /// Measure the library's parts on this machine.
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Cook(arguments) => cook::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Query(arguments) => query::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("voxshell: {error}");
            ExitCode::FAILURE
        }
    }
}
