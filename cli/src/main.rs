//! The command line: cooks meshes, describes assets, runs queries and draws. It uses only the library's public
//! interface.

mod cook;
mod draw;
mod info;
mod mesh;
mod query;
mod replay;
mod replay_pictures;

use std::process::ExitCode;
use voxshell_cli::print::{self, tell};

use clap::{Parser, Subcommand};

/// With this allocator, running out of memory is an error with a message.
#[global_allocator]
static ALLOCATOR: voxshell::memory::WithReserve = voxshell::memory::WithReserve(std::alloc::System);

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
    /// Show the content of an asset, or the flaws of a mesh.
    Info(info::Arguments),
    /// Write a built-in shape or another mesh as an OBJ file.
    Mesh(mesh::Arguments),
    /// Draw shapes by sphere-tracing their fields, which are the surfaces that collide.
    Render(draw::Arguments),
    /// Find contacts and distance of two shapes at two poses or during a motion, or intersect segments with a shape.
    Query(Box<query::Arguments>),
    /// Make the calls of a recording again and compare their answers, with pictures if wanted.
    Replay(replay::Arguments),
}

fn main() -> ExitCode {
    let done = |()| ExitCode::SUCCESS;
    let result = match Arguments::parse().command {
        Command::Cook(arguments) => cook::run(&arguments),
        Command::Info(arguments) => info::run(&arguments).map(done),
        Command::Mesh(arguments) => mesh::run(&arguments).map(done),
        Command::Render(arguments) => draw::run(&arguments).map(done),
        Command::Query(arguments) => query::run(&arguments).map(done),
        Command::Replay(arguments) => replay::run(&arguments),
    };
    match result {
        Ok(code) => match print::failure() {
            Some(error) => {
                tell(format_args!("voxshell: standard output: {error}"));
                ExitCode::FAILURE
            }
            None => code,
        },
        Err(error) => {
            tell(format_args!("voxshell: {error}"));
            ExitCode::FAILURE
        }
    }
}
