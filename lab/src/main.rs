//! The command line of the lab: benchmarks of the library and its peers, and the papers' experiments.

mod bench;
mod compare;
mod figures;
mod haptics_demo;
mod papers;
mod soak;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures Voxshell on this machine, compared with other libraries, and runs the experiments of the papers behind it.
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
    /// Tell changes of figures from the noise of the machine.
    Compare(compare::Arguments),
    /// Measure every figure that the pages quote, or write the figures into the pages.
    Figures(figures::Arguments),
    /// Play the papers' haptic scenes with a scripted hand and every renderer: a table, plots and pictures.
    HapticsDemo(haptics_demo::Arguments),
    /// Run the experiments of the papers behind Voxshell, with the papers' figures beside ours: tables, plots, one report.
    Papers(papers::Arguments),
    /// Simulate hours of haptic use with stalls, faults and clutches, and check every step.
    Soak(soak::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Figures(arguments) => figures::run(&arguments),
        Command::HapticsDemo(arguments) => haptics_demo::run(&arguments),
        Command::Papers(arguments) => papers::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("voxshell-lab: {error}");
            ExitCode::FAILURE
        }
    }
}
