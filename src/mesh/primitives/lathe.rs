//! Surfaces of revolution about y.

use super::arguments::{self, length, shorter, turn, within, MAX_SEGMENTS};
use crate::TriMesh;
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::Result;

/// Revolves a profile of (distance from the axis, height) about y. With the solid to the left of the profile's
/// direction
/// seen with the axis on the left (upwards on an outer wall), the surface faces outwards. A point at distance 0 is a
/// pole; `closed` joins the last point to the first.
fn lathe(profile: &[(f64, f64)], segments: u32, closed: bool) -> Result<TriMesh> {
    let mut vertices = Vec::new();
    let mut rings = with_capacity(profile.len());
    for &(r, y) in profile {
        let first = vertices.len() as u32;
        if r == 0.0 {
            vertices.push_guarded([0.0, y, 0.0]);
            rings.push((first, 1));
        } else {
            vertices.extend_guarded((0..segments).map(|j| {
                let (cos, sin) = turn(j, segments);
                [r * cos, y, r * sin]
            }));
            rings.push((first, segments));
        }
    }
    let mut triangles = Vec::new();
    let bands = if closed { rings.len() } else { rings.len() - 1 };
    for i in 0..bands {
        let (lower, upper) = (rings[i], rings[(i + 1) % rings.len()]);
        for j in 0..segments {
            let at = |ring: (u32, u32), j: u32| ring.0 + j % ring.1;
            let (a, b) = (at(lower, j), at(lower, j + 1));
            let (c, d) = (at(upper, j), at(upper, j + 1));
            if upper.1 > 1 {
                triangles.push_guarded([a, c, d]);
            }
            if lower.1 > 1 {
                triangles.push_guarded([a, if upper.1 > 1 { d } else { c }, b]);
            }
        }
    }
    TriMesh::new(vertices, triangles)
}

/// Returns points of an arc around (0, `y`) from `from` to `to` quarters of a turn, both included.
fn arc(radius: f64, y: f64, from: f64, to: f64, steps: u32) -> impl Iterator<Item = (f64, f64)> {
    (0..=steps).map(move |i| {
        let quarters = from + (to - from) * f64::from(i) / f64::from(steps);
        let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_2 * quarters);
        // Poles exactly on the axis, equators exactly at their height.
        let (r, h) = (if quarters.abs() == 1.0 { 0.0 } else { cos }, if quarters == 0.0 { 0.0 } else { sin });
        (radius * r, y + radius * h)
    })
}

/// Makes a cylinder of half height `half_height` with hemispheres on its ends, along y, centred. `segments` around (4
/// or more).
pub fn capsule(radius: f64, half_height: f64, segments: u32) -> Result<TriMesh> {
    length("radius", radius)?;
    length("half_height", half_height)?;
    within("segments", segments, 4, MAX_SEGMENTS)?;
    let steps = (segments / 4).max(1);
    // The rows on the wall are about as high as the segments are wide.
    let wide = std::f64::consts::TAU * radius / f64::from(segments);
    let rows = (2.0 * half_height / wide).round().clamp(1.0, f64::from(MAX_SEGMENTS)) as u32;
    let mut profile: Vec<_> = arc(radius, -half_height, -1.0, 0.0, steps).collect_guarded();
    profile.extend_guarded((1..rows).map(|i| (radius, half_height * (2.0 * f64::from(i) / f64::from(rows) - 1.0))));
    profile.extend_guarded(arc(radius, half_height, 0.0, 1.0, steps));
    lathe(&profile, segments, false)
}

/// Makes a cylinder along y, centred.
pub fn cylinder(radius: f64, half_height: f64, segments: u32) -> Result<TriMesh> {
    length("radius", radius)?;
    length("half_height", half_height)?;
    within("segments", segments, 3, MAX_SEGMENTS)?;
    let (r, h) = (radius, half_height);
    lathe(&[(0.0, -h), (r, -h), (r, h), (0.0, h)], segments, false)
}

/// Makes a cone along y, its apex up, centred at half its height.
pub fn cone(radius: f64, height: f64, segments: u32) -> Result<TriMesh> {
    length("radius", radius)?;
    length("height", height)?;
    within("segments", segments, 3, MAX_SEGMENTS)?;
    let h = 0.5 * height;
    lathe(&[(0.0, -h), (radius, -h), (0.0, h)], segments, false)
}

/// Makes a torus around y, centred: `major` to the tube's centre, `minor` the tube's radius (less than `major`), `nu`
/// segments
/// around y and `nv` around the tube.
pub fn torus(major: f64, minor: f64, nu: u32, nv: u32) -> Result<TriMesh> {
    length("major", major)?;
    shorter("minor", minor, major, "the major radius")?;
    within("nu", nu, 3, MAX_SEGMENTS)?;
    within("nv", nv, 3, MAX_SEGMENTS)?;
    let tube = |i: u32| {
        let (cos, sin) = turn(i, nv);
        (major + minor * cos, minor * sin)
    };
    lathe(&(0..nv).map(tube).collect_guarded(), nu, true)
}

/// Makes a solid hemispherical shell that opens upwards, with a flat rim at y = 0; the spheres' centre is the origin.
/// `segments` around (4 or more), a quarter as many from bottom to rim.
pub fn bowl(outer_radius: f64, thickness: f64, segments: u32) -> Result<TriMesh> {
    length("outer_radius", outer_radius)?;
    shorter("thickness", thickness, outer_radius, "the outer radius")?;
    within("segments", segments, 4, MAX_SEGMENTS)?;
    let steps = (segments / 4).max(1);
    let mut profile: Vec<_> = arc(outer_radius, 0.0, -1.0, 0.0, steps).collect_guarded();
    profile.extend_guarded(arc(outer_radius - thickness, 0.0, 0.0, -1.0, steps));
    lathe(&profile, segments, false)
}

/// Makes a cylinder along y, centred, whose two rims are cut at 45° over `chamfer` (0 for none).
pub fn peg(radius: f64, length: f64, chamfer: f64, segments: u32) -> Result<TriMesh> {
    arguments::length("length", length)?;
    let h = 0.5 * length;
    if chamfer == 0.0 {
        return cylinder(radius, h, segments);
    }
    arguments::length("radius", radius)?;
    shorter("chamfer", chamfer, radius.min(h), "the radius and half the length")?;
    within("segments", segments, 3, MAX_SEGMENTS)?;
    let (r, c) = (radius, chamfer);
    lathe(&[(0.0, -h), (r - c, -h), (r, c - h), (r, h - c), (r - c, h), (0.0, h)], segments, false)
}

/// Radii of an actuator's two balls, of the neck between ball and barrel, and of the rod, over the radius of its
/// barrel.
const BALL: f64 = 0.8;
const NECK: f64 = 0.4;
const ROD: f64 = 0.45;

/// Makes a hydraulic actuator along y, centred: a ball joint at each end, a barrel of `radius` between flanges over the
/// lower 0.45 of `length`, a rod above. `segments` around (8 or more).
pub fn actuator(radius: f64, length: f64, segments: u32) -> Result<TriMesh> {
    arguments::length("length", length)?;
    arguments::length("radius", radius)?;
    shorter("radius", radius, 0.1 * length, "a tenth of the length")?;
    within("segments", segments, 8, MAX_SEGMENTS)?;
    let (h, r, ball) = (0.5 * length, radius, BALL * radius);
    // A ball ends where it meets its neck or rod.
    let meets = |neck: f64| libm::acos(neck / ball) / std::f64::consts::FRAC_PI_2;
    let steps = segments / 4;
    let (bottom, top) = (-h + 2.2 * ball, -h + 2.2 * ball + 0.45 * length);
    let mut profile: Vec<_> = arc(ball, ball - h, -1.0, meets(NECK * r), steps).collect_guarded();
    profile.extend_guarded([
        (NECK * r, bottom),
        (1.15 * r, bottom),
        (1.15 * r, bottom + 0.3 * r),
        (r, bottom + 0.3 * r),
    ]);
    profile.extend_guarded([(r, top - 0.5 * r), (1.15 * r, top - 0.5 * r), (1.15 * r, top), (ROD * r, top)]);
    profile.extend_guarded(arc(ball, h - ball, -meets(ROD * r), 1.0, steps));
    lathe(&profile, segments, false)
}
