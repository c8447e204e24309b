//! Counts the bodies that left the bowl of a pile.

use voxshell::math::Vec3;

use crate::figures::Pile;
use crate::run::{pose_of, Cast};
use crate::simulate::Recording;

/// Counts the bodies whose centre of mass has left the large bowl, through the wall or over the rim. The bowl is a half
/// ball around the centre of its rim.
pub fn leavers(cast: &Cast, recording: &Recording) -> Pile {
    let Some(container) = recording.bodies.iter().position(|b| cast.stages[b.model].body.container) else {
        return Pile { lost: 0, spilled: 0 };
    };
    let body = &cast.stages[recording.bodies[container].model].body;
    let stands = pose_of(&recording.poses_at(0)[container]).translation.vector;
    let rim = stands.y + body.upright_bounds.max.y;
    let center = Vec3::new(stands.x, rim, stands.z);
    let radius = 0.5 * body.upright_bounds.extents().x;
    let mut pile = Pile { lost: 0, spilled: 0 };
    for i in (0..recording.bodies.len()).filter(|&i| !recording.bodies[i].fixed) {
        let positions = recording.poses().map(|(_, p)| &p[i]).filter(|p| p.present).map(|p| Vec3::from(p.position));
        let mut was_above = true;
        for p in positions {
            let above = p.y >= rim;
            if !above && (p - center).norm() > radius {
                if was_above {
                    pile.spilled += 1;
                } else {
                    pile.lost += 1;
                }
                break;
            }
            was_above = above;
        }
    }
    pile
}
