//! Flat outlines extruded along y, with or without a bore.

use std::f64::consts::{PI, TAU};

use super::arguments::{length, shorter, within, MAX_SEGMENTS};
use crate::TriMesh;
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};

/// Extrudes an outline, given as (radius, angle) with the angle ascending over less than a full turn, to ±`half` along
/// y.
/// A positive `bore` is cut out along the axis, with a corner at each of the outline's angles, so that every cell of the
/// faces is a convex sector. Angles turn from x towards −z, which is counter-clockwise seen from above.
fn extrude(outline: &[(f64, f64)], bore: f64, half: f64) -> Result<TriMesh> {
    let n = outline.len() as u32;
    let mut vertices = with_capacity(outline.len() * 4);
    let mut ring = |y: f64, bore: Option<f64>| {
        let first = vertices.len() as u32;
        vertices.extend_guarded(outline.iter().map(|&(r, angle)| {
            let (sin, cos) = libm::sincos(angle);
            let r = bore.unwrap_or(r);
            [r * cos, y, -r * sin]
        }));
        first
    };
    let (top, bottom) = (ring(half, None), ring(-half, None));
    let inner = (bore > 0.0).then(|| (ring(half, Some(bore)), ring(-half, Some(bore))));
    let centers = vertices.len() as u32;
    if inner.is_none() {
        vertices.extend_guarded([[0.0, half, 0.0], [0.0, -half, 0.0]]);
    }
    let mut triangles = Vec::new();
    let mut quad = |a: u32, b: u32, c: u32, d: u32| triangles.extend_guarded([[a, b, c], [a, c, d]]);
    for i in 0..n {
        let j = (i + 1) % n;
        quad(bottom + i, bottom + j, top + j, top + i);
        if let Some((over, under)) = inner {
            quad(over + i, top + i, top + j, over + j);
            quad(under + i, under + j, bottom + j, bottom + i);
            quad(under + j, under + i, over + i, over + j);
        }
    }
    if inner.is_none() {
        for i in 0..n {
            let j = (i + 1) % n;
            triangles.extend_guarded([[centers, top + i, top + j], [centers + 1, bottom + j, bottom + i]]);
        }
    }
    TriMesh::new(vertices, triangles)
}

/// Makes a block of half extents `half`, centred, with a round hole along y through its middle.
pub fn hole(half: [f64; 3], radius: f64, segments: u32) -> Result<TriMesh> {
    half.iter().try_for_each(|&h| length("half", h))?;
    let [x, y, z] = half;
    shorter("radius", radius, x.min(z), "the block's half extents along x and z")?;
    within("segments", segments, 3, MAX_SEGMENTS)?;
    let corner = libm::atan2(z, x);
    let corners = [corner, PI - corner, PI + corner, TAU - corner];
    let reach = (x * x + z * z).sqrt();
    // Regular angles, except those that a corner of the block replaces.
    let step = TAU / f64::from(segments);
    let mut outline: Vec<(f64, f64)> = (0..segments)
        .map(|i| step * f64::from(i))
        .filter(|a| corners.iter().all(|c| (a - c).abs() > 0.25 * step))
        .map(|a| {
            let (sin, cos) = libm::sincos(a);
            ((x / cos.abs()).min(z / sin.abs()), a)
        })
        .collect_guarded();
    outline.extend_guarded(corners.map(|c| (reach, c)));
    outline.sort_by(|a, b| a.1.total_cmp(&b.1));
    extrude(&outline, radius, y)
}

/// Pressure angle of the gear's teeth.
const PRESSURE_ANGLE: f64 = 20.0 * PI / 180.0;

/// Makes a spur gear along y, centred, with involute flanks of 20° pressure angle about the mean of the two radii.
/// `bore` is the radius of its hole, 0 for none.
pub fn gear(teeth: u32, outer_radius: f64, root_radius: f64, thickness: f64, bore: f64) -> Result<TriMesh> {
    within("teeth", teeth, 4, 512)?;
    length("outer_radius", outer_radius)?;
    shorter("root_radius", root_radius, outer_radius, "the outer radius")?;
    length("thickness", thickness)?;
    if bore != 0.0 {
        shorter("bore", bore, root_radius, "the root radius")?;
    }
    let pitch = 0.5 * (outer_radius + root_radius);
    let (sin, cos) = libm::sincos(PRESSURE_ANGLE);
    let base = pitch * cos;
    // inv α = tan α − α with cos α = base / r; below the base circle the foot widens a little, as a fillet does.
    let involute = |r: f64| {
        if r < base {
            return 0.4 * (r - base) / base;
        }
        let tan = (r * r - base * base).sqrt() / base;
        tan - libm::atan(tan)
    };
    let pitch_involute = sin / cos - PRESSURE_ANGLE;
    let tooth = TAU / f64::from(teeth);
    // Half the tooth's angular width at a radius.
    let half_width = |r: f64| 0.25 * tooth + pitch_involute - involute(r);
    let (tip, foot) = (half_width(outer_radius), half_width(root_radius));
    if tip < 0.02 * tooth || foot > 0.48 * tooth {
        let value = format!("{outer_radius} m over a root radius of {root_radius} m with {teeth} teeth");
        return Err(Error::argument("outer_radius", value, "teeth that neither end in a point nor meet at their feet"));
    }
    const FLANK: u32 = 6;
    const ARC: u32 = 3;
    let mut outline = Vec::new();
    for t in 0..teeth {
        let middle = tooth * (f64::from(t) + 0.5);
        let flank = (0..=FLANK).map(|i| {
            let r = root_radius + (outer_radius - root_radius) * f64::from(i) / f64::from(FLANK);
            (r, half_width(r))
        });
        let rising: Vec<_> = flank.collect_guarded();
        outline.extend_guarded(rising.iter().map(|&(r, w)| (r, middle - w)));
        outline.extend_guarded(
            (1..ARC).map(|i| (outer_radius, middle + tip * (2.0 * f64::from(i) / f64::from(ARC) - 1.0))),
        );
        outline.extend_guarded(rising.iter().rev().map(|&(r, w)| (r, middle + w)));
        let gap = tooth - 2.0 * foot;
        outline.extend_guarded((1..ARC).map(|i| (root_radius, middle + foot + gap * f64::from(i) / f64::from(ARC))));
    }
    extrude(&outline, bore, 0.5 * thickness)
}
