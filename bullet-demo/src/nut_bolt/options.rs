//! Command-line options of the scenes of nuts and bolts.

use std::path::PathBuf;

use clap::Args;
use voxshell::math::Vec3;

use super::files::PartFiles;

/// Turns of the nuts above the head at the start.
const TURNS: f64 = 7.0;
/// Iterations of the solver. Along the axis a turning nut has a thousand times the effective mass of a falling one. So
/// the head stops the fall of the nut at once and its rotation only gradually, and the solver needs many iterations.
const ITERATIONS: u32 = 200;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Nuts and bolts")]
pub struct NutArguments {
    /// Mesh file of a bolt (.obj, .stl, .ply), for nut-bolt in place of the own M16 and for nut-bolt-1000 beside it.
    /// The head must be wider than the thread
    #[arg(long, value_name = "FILE", requires = "nut")]
    pub bolt: Option<PathBuf>,

    /// Mesh file of its nut
    #[arg(long, value_name = "FILE", requires = "bolt")]
    pub nut: Option<PathBuf>,

    /// Direction of the thread in both files, from the bolt's head to its tip: x, -x, y, -y, z or -z. The thread's axis
    /// is the middle of each mesh's box
    #[arg(long, value_name = "AXIS", default_value = "z", value_parser = axis, allow_hyphen_values = true)]
    pub thread_axis: Vec3,

    /// Unit of both files: m, mm or inch
    #[arg(long, value_name = "UNIT", default_value = "m", value_parser = unit)]
    pub mesh_unit: f64,

    /// Advance of the thread of both files per turn, mm. Default: derived from the bolt
    #[arg(long, value_name = "MM", value_parser = positive, requires = "bolt")]
    pub pitch: Option<f64>,

    /// Steps per second in scenes of nuts and in the experiments with one. Default: 1000; with --strip-through five rates
    #[arg(long, value_name = "HZ", value_parser = positive)]
    pub rate: Option<f64>,

    /// Largest number of turns of a nut above the head at the start
    #[arg(long, value_name = "N", default_value_t = TURNS, value_parser = positive)]
    pub turns: f64,

    /// Iterations of Bullet's solver in scenes of nuts
    #[arg(long, value_name = "N", default_value_t = ITERATIONS, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub iterations: u32,

    /// Coefficient of friction between nut and bolt in scenes of nuts. Default: 0.01 by its weight, 0.2 with a driver
    #[arg(long, value_name = "MU", value_parser = friction)]
    pub friction: Option<f64>,
}

/// Settings of the scenes of nuts and bolts.
#[derive(Clone, Debug)]
pub struct NutOptions {
    pub files: Option<PartFiles>,
    /// Steps per second; `None`: the scene's own.
    pub rate: Option<f64>,
    pub turns: f64,
    pub iterations: u32,
    /// Friction of nut and bolt; `None`: the scene's own.
    pub friction: Option<f64>,
}

impl Default for NutOptions {
    fn default() -> Self {
        Self { files: None, rate: None, turns: TURNS, iterations: ITERATIONS, friction: None }
    }
}

impl NutArguments {
    pub fn options(&self) -> NutOptions {
        let files = self.bolt.clone().zip(self.nut.clone()).map(|(bolt, nut)| PartFiles {
            bolt,
            nut,
            axis: self.thread_axis,
            unit: self.mesh_unit,
            pitch: self.pitch.map(|mm| mm * 1e-3),
        });
        NutOptions { files, rate: self.rate, turns: self.turns, iterations: self.iterations, friction: self.friction }
    }
}

fn friction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if (0.0..=10.0).contains(&x) => Ok(x),
        _ => Err("expected a number from 0 to 10".into()),
    }
}

fn axis(text: &str) -> Result<Vec3, String> {
    let (sign, letter) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let axis = match letter {
        "x" => Vec3::x(),
        "y" => Vec3::y(),
        "z" => Vec3::z(),
        _ => return Err("expected x, -x, y, -y, z or -z".into()),
    };
    Ok(sign * axis)
}

fn unit(text: &str) -> Result<f64, String> {
    match text {
        "m" => Ok(1.0),
        "mm" => Ok(1e-3),
        "inch" => Ok(25.4e-3),
        _ => Err("expected m, mm or inch".into()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1e5 => Ok(x),
        _ => Err("expected a positive number, at most 1e5".into()),
    }
}
