//! The laboratory's command line: measures the library beside its peers and runs the papers' experiments.

mod bench;
mod haptics_demo;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measurements of Voxshell on this machine, beside its peers, and the experiments of the papers it builds on.
#[derive(Parser)]
#[command(version, about, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the library's parts on this machine.
    Bench(Box<bench::Arguments>),
    /// Feel the papers' scenes: a scripted hand, every renderer; a table, plots and pictures.
    HapticsDemo(haptics_demo::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::HapticsDemo(arguments) => haptics_demo::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("voxshell-lab: {error}");
            ExitCode::FAILURE
        }
    }
}
