//! `voxshell query`.

use clap::ValueEnum;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use voxshell::contact::{self, Query, Workspace};
use voxshell::math::Pose;
use voxshell::{Error, Result};

use crate::source;

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
pub struct Arguments {
    /// Asset, mesh file or built-in shape.
    a: String,
    /// Asset, mesh file or built-in shape.
    b: String,
    /// Pose of A: x y z, or x y z qx qy qz qw (metres, unit quaternion).
    #[arg(long, num_args = 3..=7, allow_negative_numbers = true)]
    pose_a: Vec<f64>,
    /// Pose of B.
    #[arg(long, num_args = 3..=7, allow_negative_numbers = true)]
    pose_b: Vec<f64>,
    /// Report contacts up to this separation, metres.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    max_separation: f64,
    /// Reduce to this many contacts; 0 reports all.
    #[arg(long, default_value_t = 0)]
    max_contacts: usize,
    #[arg(long, value_enum, default_value_t = Roles::Auto)]
    roles: Roles,
    /// One JSON object a contact.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cook: source::CookArguments,
}

fn pose(name: &str, v: &[f64]) -> Result<Pose> {
    let expected = "3 numbers (x y z) or 7 (x y z qx qy qz qw, a unit quaternion)";
    let rotation = match v {
        [] => return Ok(Pose::identity()),
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
    Ok(Isometry3::from_parts(Translation3::new(v[0], v[1], v[2]), rotation))
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let (pose_a, pose_b) = (pose("pose-a", &arguments.pose_a)?, pose("pose-b", &arguments.pose_b)?);
    let a = source::shape(&arguments.a, &arguments.cook)?;
    let b = source::shape(&arguments.b, &arguments.cook)?;
    let roles = arguments.roles.into();
    let mut workspace = Workspace::new();
    let nearest =
        contact::distance(a.geometry(), &pose_a, b.geometry(), &pose_b, roles, f64::INFINITY, &mut workspace)?;
    let query = Query {
        roles,
        max_separation: arguments.max_separation,
        max_contacts: arguments.max_contacts,
        ..Query::default()
    };
    let found = contact::contacts(a.geometry(), &pose_a, b.geometry(), &pose_b, &query, &mut workspace)?;
    for c in found {
        let (p, q, n) = (c.point_on_a, c.point_on_b, c.normal);
        if arguments.json {
            let row = serde_json::json!({
                "separation_m": c.separation,
                "point_on_a_m": p.as_slice(),
                "point_on_b_m": q.as_slice(),
                "normal": n.as_slice(),
                "feature": c.feature,
            });
            println!("{row}");
        } else {
            println!(
                "separation {:+.6} m  at ({:+.5}, {:+.5}, {:+.5})  normal ({:+.4}, {:+.4}, {:+.4})  feature {:#x}",
                c.separation, p.x, p.y, p.z, n.x, n.y, n.z, c.feature
            );
        }
    }
    if !arguments.json {
        let count = found.len();
        if let Some(c) = nearest {
            let what = if c.separation < 0.0 { "penetration depth" } else { "separation distance" };
            println!("{count} contacts; {what} {:.6} m", c.separation.abs());
        }
    }
    Ok(())
}
