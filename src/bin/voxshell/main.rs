//! The command line: cook meshes, look at assets, ask for contacts, measure. Knows the library only through its public
//! interface.

mod bench;
mod board;
mod cook;
mod haptics_demo;
mod info;
mod mesh;
mod query;
mod render;
mod source;
mod stop;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Collision data from any mesh: signed distance fields, pointshells, contacts.
#[derive(Parser)]
#[command(version, about, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Cook meshes (OBJ, STL, PLY) or built-in shapes into assets.
    Cook(cook::Arguments),
    /// Say what is in an asset, or what is wrong with a mesh.
    Info(info::Arguments),
    /// Write a built-in shape or another mesh as an OBJ file.
    Mesh(mesh::Arguments),
    /// Draw shapes as the library sees them: by sphere-tracing their fields.
    Render(render::Arguments),
    /// Contacts and distance of two shapes at two poses, or on their way; where segments meet a shape.
    Query(Box<query::Arguments>),
    /// Measure the library's parts on this machine.
    Bench(bench::Arguments),
    /// Feel the papers' scenes: a scripted hand, every renderer; a table, plots and pictures.
    HapticsDemo(haptics_demo::Arguments),
}

fn main() -> ExitCode {
    let done = |()| ExitCode::SUCCESS;
    let result = match Arguments::parse().command {
        Command::Cook(arguments) => cook::run(&arguments),
        Command::Info(arguments) => info::run(&arguments).map(done),
        Command::Mesh(arguments) => mesh::run(&arguments).map(done),
        Command::Render(arguments) => render::run(&arguments).map(done),
        Command::Query(arguments) => query::run(&arguments).map(done),
        Command::Bench(arguments) => bench::run(&arguments).map(done),
        Command::HapticsDemo(arguments) => haptics_demo::run(&arguments).map(done),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("voxshell: {error}");
            ExitCode::FAILURE
        }
    }
}
