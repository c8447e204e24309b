//! `voxshell query`: two shapes at two poses, two shapes that move, segments against one shape.

mod moving;
mod segment;
mod still;

use std::ffi::OsString;

use clap::{Subcommand, ValueEnum};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use serde_json::{json, Value};
use voxshell::contact::{self, Contact};
use voxshell::math::{Pose, Vec3};
use voxshell::{Error, Result};

use voxshell_cli::source;

#[derive(Clone, Copy, ValueEnum)]
enum Roles {
    Auto,
    ShellOfA,
    ShellOfB,
    Both,
}

impl From<Roles> for contact::Roles {
    fn from(roles: Roles) -> Self {
        match roles {
            Roles::Auto => Self::Auto,
            Roles::ShellOfA => Self::ShellOfA,
            Roles::ShellOfB => Self::ShellOfB,
            Roles::Both => Self::Both,
        }
    }
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    of: Option<Of>,
    /// Asset, mesh file or built-in shape.
    #[arg(required = true)]
    a: Option<OsString>,
    /// Asset, mesh file or built-in shape.
    #[arg(required = true)]
    b: Option<OsString>,
    #[command(flatten)]
    pair: Pair,
    #[command(flatten)]
    cook: source::CookArguments,
}

#[derive(Subcommand)]
enum Of {
    /// Intersect segments with a shape.
    Segment(segment::Arguments),
}

/// Options of a query of two shapes.
#[derive(clap::Args)]
struct Pair {
    /// Pose of A: x y z, or x y z qx qy qz qw (metres, unit quaternion).
    #[arg(long, num_args = 3..=7, value_name = "NUMBERS", allow_negative_numbers = true)]
    pose_a: Vec<f64>,
    /// Pose of B.
    #[arg(long, num_args = 3..=7, value_name = "NUMBERS", allow_negative_numbers = true)]
    pose_b: Vec<f64>,
    /// Report contacts up to this separation.
    #[arg(long, value_name = "METRES", default_value_t = 0.0, allow_negative_numbers = true)]
    max_separation: f64,
    /// Reduce to this many contacts; 0 reports all.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, conflicts_with = "ends")]
    max_contacts: usize,
    #[arg(long, value_enum, default_value_t = Roles::Auto)]
    roles: Roles,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    motion: moving::MotionArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some(Of::Segment(arguments)) = &arguments.of {
        return segment::run(arguments);
    }
    let pair = &arguments.pair;
    let poses = [pose("--pose-a", &pair.pose_a)?, pose("--pose-b", &pair.pose_b)?].map(Option::unwrap_or_default);
    let motion = moving::Motion::new(&pair.motion, poses)?;
    // Clap requires both if there is no subcommand.
    let [a, b] = [&arguments.a, &arguments.b].map(|name| name.as_deref().unwrap_or_default());
    let [a, b] = [source::shape(a, &arguments.cook)?, source::shape(b, &arguments.cook)?];
    match motion {
        Some(motion) => motion.run(a.geometry(), b.geometry(), pair),
        None => still::run(a.geometry(), b.geometry(), poses, pair),
    }
}

/// Reads a pose from numbers; `None` if there are none.
fn pose(name: &str, v: &[f64]) -> Result<Option<Pose>> {
    let expected = "3 finite numbers (x y z) or 7 (x y z qx qy qz qw, a unit quaternion)";
    if let Some(wrong) = v.iter().find(|n| !n.is_finite()) {
        return Err(Error::argument(name, wrong, expected));
    }
    let rotation = match v {
        [] => return Ok(None),
        [_, _, _] => UnitQuaternion::identity(),
        [_, _, _, x, y, z, w] => {
            let q = Quaternion::new(*w, *x, *y, *z);
            if (q.norm() - 1.0).abs() > 1e-6 {
                return Err(Error::argument(name, format!("a quaternion of length {}", q.norm()), expected));
            }
            UnitQuaternion::from_quaternion(q)
        }
        _ => return Err(Error::argument(name, format!("{} numbers", v.len()), expected)),
    };
    Ok(Some(Isometry3::from_parts(Translation3::new(v[0], v[1], v[2]), rotation)))
}

/// Returns the JSON object of a contact.
fn object(c: &Contact) -> Value {
    json!({
        "separation_m": c.separation,
        "point_on_a_m": c.point_on_a.as_slice(),
        "point_on_b_m": c.point_on_b.as_slice(),
        "normal": c.normal.as_slice(),
        "feature": c.feature,
    })
}

fn words(c: &Contact) -> String {
    let at = at(&c.point_on_a, &c.normal);
    format!("separation {:+.6} m  {at}  feature {:#x}", c.separation, c.feature)
}

fn at(p: &Vec3, n: &Vec3) -> String {
    format!("at ({:+.5}, {:+.5}, {:+.5})  normal ({:+.4}, {:+.4}, {:+.4})", p.x, p.y, p.z, n.x, n.y, n.z)
}
