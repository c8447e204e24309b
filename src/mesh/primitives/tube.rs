//! Tubes along open lines: bars, wires, and the body of the alpha puzzle.

use std::f64::consts::PI;

use super::arguments::{length, shorter, turn, within, MAX_SEGMENTS};
use crate::TriMesh;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};

/// Makes a tube of radius `radius` with flat ends along a line of two or more points, mitred where the line bends:
/// between bends its section is the same polygon of `segments` corners.
pub fn tube(line: &[Vec3], radius: f64, segments: u32) -> Result<TriMesh> {
    length("radius", radius)?;
    within("segments", segments, 3, MAX_SEGMENTS)?;
    let directions = directions(line, radius)?;
    let mut vertices: Vec<[f64; 3]> = with_capacity(line.len() * segments as usize + 2);
    let (mut u, mut v) = across(&directions[0]);
    for (i, p) in line.iter().enumerate() {
        let (before, after) = (directions[i.saturating_sub(1)], directions[i.min(directions.len() - 1)]);
        // The section through the bend lies in the plane that halves it; the ring slides there along the direction
        // before the bend.
        let half = (before + after).normalize();
        vertices.extend_guarded((0..segments).map(|j| -> [f64; 3] {
            let (cos, sin) = turn(j, segments);
            let out = (u * cos + v * sin) * radius;
            (p + out - before * (out.dot(&half) / before.dot(&half))).into()
        }));
        // The frame turns by the reflection that takes the direction before the bend to the one after it.
        let onward = |e: Vec3| {
            let slid = e - before * (e.dot(&half) / before.dot(&half));
            slid - after * slid.dot(&after)
        };
        (u, v) = (onward(u).normalize(), onward(v).normalize());
    }
    let (first, last) = (vertices.len() as u32, vertices.len() as u32 + 1);
    vertices.extend_guarded([<[f64; 3]>::from(line[0]), line[line.len() - 1].into()]);
    let mut triangles = Vec::new();
    for j in 0..segments {
        let next = (j + 1) % segments;
        for ring in 0..line.len() as u32 - 1 {
            let (a, b) = (ring * segments, (ring + 1) * segments);
            triangles.extend_guarded([[a + j, a + next, b + next], [a + j, b + next, b + j]]);
        }
        let end = (line.len() as u32 - 1) * segments;
        triangles.extend_guarded([[first, next, j], [last, end + j, end + next]]);
    }
    TriMesh::new(vertices, triangles)
}

/// Returns the unit directions from point to point; refuses points that coincide and bends that a mitre of this radius
/// cannot take.
fn directions(line: &[Vec3], radius: f64) -> Result<Vec<Vec3>> {
    let bad = |what: String| Error::argument("line", what, "two or more points apart, and bends wider than the tube");
    if line.len() < 2 || line.len() > 1 << 20 || !line.iter().flatten().all(|x| x.is_finite()) {
        return Err(bad(format!("{} points, or one that is not finite", line.len())));
    }
    let direction =
        |w: &[Vec3]| (w[1] - w[0]).try_normalize(1e-12).ok_or_else(|| bad("two points in the same place".into()));
    let directions: Vec<Vec3> = line.windows(2).map(direction).try_collect_guarded()?;
    // The cut at the inside of each bend, over the radius: the tangent of half its angle.
    let mut cut = filled(0.0, line.len());
    for (i, w) in directions.windows(2).enumerate() {
        cut[i + 1] = (w[1] - w[0]).norm() / (w[1] + w[0]).norm();
    }
    for i in 0..directions.len() {
        let straight = (line[i + 1] - line[i]).norm();
        if radius * (cut[i] + cut[i + 1]) >= straight {
            return Err(bad(format!("bends of a tube of {radius} m that meet between points {i} and {}", i + 1)));
        }
    }
    Ok(directions)
}

/// Returns two unit vectors that make a right-handed frame with `axis` as the third.
fn across(axis: &Vec3) -> (Vec3, Vec3) {
    let away = Vec3::ith(axis.iamin(), 1.0);
    let u = away.cross(axis).normalize();
    (u, axis.cross(&u))
}

/// Returns the centre line of the alpha puzzle's body: a loop around y whose two ends cross beside each other and
/// continue as legs. The loop is a circle of `radius` about the origin; the legs leave it as tangents, cross on +x, 1.5
/// `radius` from the origin and `rise` apart in y, and end `leg` behind the crossing. The first point is the end of the
/// lower leg.
///
/// The puzzle is Boris Yamrom's; the task is to separate two such bodies (Bayazit, Song & Amato 2000).
pub fn alpha_line(radius: f64, leg: f64, rise: f64) -> Result<Vec<Vec3>> {
    length("radius", radius)?;
    length("leg", leg)?;
    shorter("rise", rise, radius, "the loop's radius")?;
    const CROSSING: f64 = 1.5;
    const ARC: u32 = 96;
    let touch = libm::acos(1.0 / CROSSING);
    let (sin, cos) = libm::sincos(touch);
    let tangent = radius * (CROSSING * CROSSING - 1.0).sqrt();
    let round = 2.0 * (PI - touch) * radius;
    // Height grows evenly along the line, by `rise` from crossing to crossing.
    let slope = rise / (2.0 * tangent + round);
    let half = 0.5 * round + tangent + leg;
    // The end of a leg: beyond the crossing, seen from its point of tangency.
    let out = (tangent + leg) / tangent;
    let end = |side: f64| {
        let (touch_x, touch_z) = (radius * cos, side * radius * sin);
        Vec3::new(touch_x + out * (CROSSING * radius - touch_x), -side * slope * half, touch_z * (1.0 - out))
    };
    let mut line = vec![end(1.0)];
    line.extend_guarded((0..=ARC).map(|i| {
        let angle = touch + 2.0 * (PI - touch) * f64::from(i) / f64::from(ARC);
        let (sin, cos) = libm::sincos(angle);
        Vec3::new(radius * cos, slope * (angle - PI) * radius, radius * sin)
    }));
    line.push_guarded(end(-1.0));
    Ok(line)
}

/// Makes the alpha puzzle's body: a tube of radius `thickness` along [`alpha_line`].
pub fn alpha(radius: f64, leg: f64, rise: f64, thickness: f64, segments: u32) -> Result<TriMesh> {
    shorter("thickness", thickness, 0.5 * rise, "half the rise, where the legs touch each other")?;
    tube(&alpha_line(radius, leg, rise)?, thickness, segments)
}
