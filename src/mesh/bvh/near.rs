//! Pairs of triangles of two meshes that are near each other.

use super::dual::{boxes_are_apart, Placement};
use super::front::descend;
use super::{Bvh, Front};
use voxshell_base::math::Vec3;

/// Returns a lower bound of the distance between two boxes in one frame, metres: 0 if they touch.
pub(super) fn gap_between(low: &Vec3, high: &Vec3, lower: &Vec3, upper: &Vec3) -> f64 {
    (lower - high).sup(&(low - upper)).sup(&Vec3::zeros()).norm()
}

/// Calls `found` with the indices of the triangles of both meshes whose boxes, in the frame of the second, are not
/// farther apart than `distance`, metres. Triangles may be edges or points. With a `front` the order is another one.
/// Returns the number of tests.
pub fn near_pairs(
    [first, second]: [&Bvh; 2],
    placement: &Placement,
    distance: f64,
    front: Option<&mut Front>,
    mut found: impl FnMut(u32, u32),
) -> u64 {
    let mut item_tests = 0;
    let remembers = front.is_some();
    let node_tests = descend([first, second], placement, distance, front, |a, b| {
        let mut least = f64::INFINITY;
        for ka in a.triangles() {
            let t = placement.place_corners(&first.corners[ka]);
            let (low, high) = (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
            let (near_low, near_high) = (low.add_scalar(-distance), high.add_scalar(distance));
            if boxes_are_apart(&near_low, &near_high, &b.min.into(), &b.max.into()) {
                if remembers {
                    least = least.min(gap_between(&low, &high, &b.min.into(), &b.max.into()));
                }
                continue;
            }
            for kb in b.triangles() {
                let u = &second.corners[kb];
                item_tests += 1;
                let (lower, upper) = (u[0].inf(&u[1]).inf(&u[2]), u[0].sup(&u[1]).sup(&u[2]));
                if !boxes_are_apart(&near_low, &near_high, &lower, &upper) {
                    found(first.id(ka), second.id(kb));
                }
                if remembers {
                    least = least.min(gap_between(&low, &high, &lower, &upper));
                }
            }
        }
        least
    });
    node_tests + item_tests
}
