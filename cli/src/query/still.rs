//! Contacts and distance of two shapes at two poses.

use voxshell::contact::{self, Contact, Geometry, Query, Workspace};
use voxshell::math::Pose;
use voxshell::Result;
use voxshell_cli::print::say_all;

use super::{object, words, Pair};

pub fn run(a: Geometry, b: Geometry, [pose_a, pose_b]: [Pose; 2], pair: &Pair) -> Result<()> {
    let roles = pair.roles.into();
    let mut workspace = Workspace::new();
    let nearest = contact::distance(a, &pose_a, b, &pose_b, roles, f64::INFINITY, &mut workspace)?;
    let query =
        Query { roles, max_separation: pair.max_separation, max_contacts: pair.max_contacts, ..Query::default() };
    let found = contact::contacts(a, &pose_a, b, &pose_b, &query, &mut workspace)?;
    if pair.json {
        say_all(found.iter().map(object));
        return Ok(());
    }
    let what = |c: &Contact| if c.separation < 0.0 { "penetration depth" } else { "separation distance" };
    let summary = nearest.map(|c| format!("{} contacts; {} {:.6} m", found.len(), what(&c), c.separation.abs()));
    say_all(found.iter().map(words).chain(summary));
    Ok(())
}
