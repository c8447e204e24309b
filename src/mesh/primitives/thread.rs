//! Bolts and nuts with ISO metric threads.
//!
//! Both are one surface around y: at each angle a column of points in the half-plane of that angle, and between two columns a
//! strip of triangles that follows the thread. The thread is right-handed: it climbs by one pitch while the angle turns once
//! from x towards −z, counter-clockwise seen from above.

use std::f64::consts::{FRAC_PI_6, TAU};

use super::arguments::{length, shorter, within, MAX_SEGMENTS};
use crate::TriMesh;
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};

/// cot 30°: change of the radius along the axis on a flank of the 60° profile.
const FLANK: f64 = 1.732_050_807_568_877_2;
/// Height of the profile's fundamental triangle over the pitch, H/P = √3/2 (ISO 68-1, figure 1).
const TRIANGLE: f64 = 0.866_025_403_784_438_6;

/// An ISO metric thread: the basic profile of ISO 68-1 (60°, truncated by H/8 at the major diameter and by H/4 at the
/// minor one), moved away from its mate by the deviations of its tolerance class. Metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    /// Nominal diameter, d = D of the basic profile.
    pub diameter: f64,
    /// P: advance per turn.
    pub pitch: f64,
    /// Amount by which the pitch diameter is smaller than the basic one (of a bolt) or larger (of a nut). Root and
    /// flanks move with it.
    pub pitch_deviation: f64,
    /// The same for the diameter at the crests: the major one of a bolt, the minor one of a nut.
    pub crest_deviation: f64,
}

impl Thread {
    /// External M16, coarse pitch of 2 mm (ISO 261), class 6g, in the middle of its zones. ISO 965-1: fundamental deviation
    /// es = −38 µm; tolerances T_d2 = 160 µm of the pitch diameter and T_d = 280 µm of the major diameter. So d2 = 14.583 mm
    /// (14.503 to 14.663 mm) and d = 15.822 mm (15.682 to 15.962 mm).
    pub const M16_6G: Self = Self { diameter: 16e-3, pitch: 2e-3, pitch_deviation: 118e-6, crest_deviation: 178e-6 };
    /// Internal M16, class 6H, in the middle of its zones. ISO 965-1: EI = 0, T_D2 = 212 µm, T_D1 = 375 µm. So D2 =
    /// 14.807 mm (14.701 to 14.913 mm) and D1 = 14.022 mm (13.835 to 14.210 mm). With [`Thread::M16_6G`] the pitch diameters
    /// differ by 224 µm: flanks that lie in the middle of the play are 56 µm apart, and the nut has 129 µm of axial play.
    pub const M16_6H: Self = Self { diameter: 16e-3, pitch: 2e-3, pitch_deviation: 106e-6, crest_deviation: 187.5e-6 };

    fn check(&self) -> Result<()> {
        length("diameter", self.diameter)?;
        shorter("pitch", self.pitch, 0.25 * self.diameter, "a quarter of the diameter")?;
        for (name, value) in [("pitch_deviation", self.pitch_deviation), ("crest_deviation", self.crest_deviation)] {
            if !(0.0..=0.25 * self.pitch).contains(&value) {
                return Err(Error::argument(name, format!("{value} m"), "0 to a quarter of the pitch"));
            }
        }
        Ok(())
    }

    /// Length of the longest threaded part, metres: no mesh has more turns than its largest number of segments.
    fn longest(&self) -> f64 {
        (100.0 * self.diameter).min(f64::from(MAX_SEGMENTS) * self.pitch)
    }

    /// Height of the fundamental triangle, H.
    fn triangle(&self) -> f64 {
        TRIANGLE * self.pitch
    }

    fn external(&self) -> Profile {
        let h = self.triangle();
        let middle = 0.5 * (self.diameter - 0.75 * h - self.pitch_deviation);
        Profile {
            pitch: self.pitch,
            low: middle - 0.25 * h,
            middle,
            high: 0.5 * (self.diameter - self.crest_deviation),
        }
    }

    fn internal(&self) -> Profile {
        let h = self.triangle();
        let middle = 0.5 * (self.diameter - 0.75 * h + self.pitch_deviation);
        let low = 0.5 * (self.diameter - 1.25 * h + self.crest_deviation);
        Profile { pitch: self.pitch, low, middle, high: middle + 0.375 * h }
    }
}

/// The radius of a thread over its axis: a trapezium for each pitch, its wide side at the axis.
struct Profile {
    pitch: f64,
    /// Radii of the inner flats, of the line on which thread and gap are equally wide, and of the outer flats.
    low: f64,
    middle: f64,
    high: f64,
}

impl Profile {
    /// Returns the radius at `u` pitches above the middle of an outer flat.
    fn radius(&self, u: f64) -> f64 {
        let away = (u - u.round()).abs() * self.pitch;
        (self.middle + FLANK * (0.25 * self.pitch - away)).clamp(self.low, self.high)
    }

    /// Returns the positions of its bends in one pitch, in pitches above the middle of an outer flat, ascending from
    /// −1/2.
    fn bends(&self) -> [f64; 4] {
        let at = |r: f64| 0.25 + (self.middle - r) / (FLANK * self.pitch);
        [-at(self.low), -at(self.high), at(self.high), at(self.low)]
    }
}

/// Envelope that cuts a thread at its ends: the radius over the height, linear between its points, whose first and last
/// are the ends of the thread.
struct Envelope {
    points: Vec<(f64, f64)>,
    /// True for material that extends at most to the envelope (a bolt), false for a bore that is at least as wide.
    outer: bool,
}

impl Envelope {
    fn radius(&self, y: f64) -> f64 {
        let next = self.points.partition_point(|p| p.0 < y).clamp(1, self.points.len() - 1);
        let ((y0, r0), (y1, r1)) = (self.points[next - 1], self.points[next]);
        r0 + (r1 - r0) * (y - y0) / (y1 - y0)
    }

    fn cut(&self, thread: f64, envelope: f64) -> f64 {
        if self.outer {
            thread.min(envelope)
        } else {
            thread.max(envelope)
        }
    }
}

/// A point of a column.
#[derive(Clone, Copy)]
struct Point {
    r: f64,
    y: f64,
    /// Orders the points along a column; equal ones belong together from column to column. The second part counts pitches
    /// from the crests, in the section that is threaded.
    key: (u32, f64),
}

/// Section of the keys that is the thread.
const THREADED: u32 = 100;

/// Returns the thread's column at `turn` of a full turn, upwards. The ends of the envelope have keys of their own.
fn threaded(profile: &Profile, envelope: &Envelope, turn: f64) -> Vec<Point> {
    let p = profile.pitch;
    let (bottom, top) = (envelope.points[0].0, envelope.points[envelope.points.len() - 1].0);
    let mut heights: Vec<f64> = envelope.points.iter().map(|e| e.0).collect_guarded();
    let (first, last) = ((bottom / p - turn).floor() as i64 - 1, (top / p - turn).ceil() as i64 + 1);
    for m in first..=last {
        heights.extend_guarded(
            profile.bends().iter().map(|u| (m as f64 + u + turn) * p).filter(|y| *y > bottom && *y < top),
        );
    }
    heights.sort_unstable_by(f64::total_cmp);
    // Between two of these heights thread and envelope are both straight: they cross at most once.
    let both = |y: f64| (profile.radius(y / p - turn), envelope.radius(y));
    let mut crossed = with_capacity(heights.len());
    for w in heights.windows(2) {
        let difference = |y: f64| both(y).0 - both(y).1;
        let (d0, d1) = (difference(w[0]), difference(w[1]));
        crossed.push_guarded(w[0]);
        if d0 * d1 < 0.0 {
            crossed.push_guarded(w[0] + (w[1] - w[0]) * d0 / (d0 - d1));
        }
    }
    let least = 1e-4 * p;
    let mut column: Vec<Point> = with_capacity(crossed.len() + 1);
    for y in crossed {
        let apart = column.last().is_none_or(|q: &Point| y - q.y > least);
        if apart && (y == bottom || top - y > least) {
            let (thread, limit) = both(y);
            column.push_guarded(Point { r: envelope.cut(thread, limit), y, key: (THREADED, y / p - turn) });
        }
    }
    let (thread, limit) = both(top);
    column.push_guarded(Point { r: envelope.cut(thread, limit), y: top, key: (THREADED + 1, 0.0) });
    column[0].key = (THREADED - 1, 0.0);
    column
}

/// Returns the hexagon's radius at segment `j` of `n` (a multiple of six), `across` flats, a corner at angle 0.
fn hexagon(across: f64, j: u32, n: u32) -> f64 {
    let angle = TAU * f64::from(j % (n / 6)) / f64::from(n) - FRAC_PI_6;
    0.5 * across / libm::cos(angle)
}

/// Width across flats over the nominal diameter: 24 mm for M16 (ISO 4014, ISO 4032).
const ACROSS: f64 = 1.5;
/// Radius of a hexagon's flat face over its width across flats; from there a cone of 30° cuts its corners.
const FACE: f64 = 0.475;

/// Returns the distance below the face at which the cone meets the hexagon at radius `r`.
fn chamfer(across: f64, r: f64) -> f64 {
    (r - FACE * across) / FLANK
}

/// Makes a hexagonal bolt along y, threaded over its whole shank: the head's bearing face at y = 0, the head below it
/// (5/8 of the diameter high, 3/2 across flats, a corner towards x), the tip at y = `length`. A thread's crest is at y
/// = 0 and angle 0, and whole pitches from there. The tip has a chamfer of 45° to below the roots (ISO 4753, type CH);
/// at the head the thread runs out at 30° into an undercut of 5/4 pitches (after DIN 76), so that a nut can reach it.
/// `segments` around: a multiple of 6, 12 or more.
pub fn bolt(thread: Thread, shank: f64, segments: u32) -> Result<TriMesh> {
    thread.check()?;
    check_segments(segments)?;
    let (d, p) = (thread.diameter, thread.pitch);
    if !(shank >= 5.0 * p && shank <= thread.longest()) {
        let expected = format!("from {} m, five pitches, to {} m", 5.0 * p, thread.longest());
        return Err(Error::argument("length", format!("{shank} m"), expected));
    }
    let profile = thread.external();
    let (across, head) = (ACROSS * d, 0.625 * d);
    let (neck, tip, clear) = (profile.low - 0.2 * p, profile.low - 0.1 * p, profile.high + 0.1 * p);
    let undercut = 1.25 * p;
    let points = vec![
        (0.0, neck),
        (undercut, neck),
        (undercut + (clear - neck) * FLANK, clear),
        (shank - (clear - tip), clear),
        (shank, tip),
    ];
    let envelope = Envelope { points, outer: true };
    strips(segments, -1.0, |j, turn| {
        let r = hexagon(across, j, segments);
        let mut column = vec![
            Point { r: 0.0, y: -head, key: (0, 0.0) },
            Point { r: FACE * across, y: -head, key: (1, 0.0) },
            Point { r, y: chamfer(across, r) - head, key: (2, 0.0) },
            Point { r, y: 0.0, key: (3, 0.0) },
        ];
        column.extend_guarded(threaded(&profile, &envelope, turn));
        column.push_guarded(Point { r: 0.0, y: shank, key: (THREADED + 2, 0.0) });
        column
    })
}

/// Makes a hexagonal nut around y, from y = 0 to `height`: 3/2 of the diameter across flats, a corner towards x, both
/// sides chamfered, countersunk by 45° from 1.04 diameters (ISO 4032). A groove of the thread is at y = 0 and angle 0:
/// moved up by any number of pitches, whole or not, and turned by the same number of turns, the nut is in the middle of
/// its play on [`bolt`]. `segments` as for that function.
pub fn nut(thread: Thread, height: f64, segments: u32) -> Result<TriMesh> {
    thread.check()?;
    check_segments(segments)?;
    let (d, p) = (thread.diameter, thread.pitch);
    if !(height >= 3.0 * p && height <= thread.longest()) {
        let expected = format!("from {} m, three pitches, to {} m", 3.0 * p, thread.longest());
        return Err(Error::argument("height", format!("{height} m"), expected));
    }
    let profile = thread.internal();
    let across = ACROSS * d;
    let (mouth, clear) = (0.52 * d, profile.low - 0.1 * p);
    let sink = mouth - clear;
    let points = vec![(0.0, mouth), (sink, clear), (height - sink, clear), (height, mouth)];
    let envelope = Envelope { points, outer: false };
    strips(segments, 1.0, |j, turn| {
        let r = hexagon(across, j, segments);
        let under = chamfer(across, r);
        let rim = Point { r: FACE * across, y: 0.0, key: (0, 0.0) };
        let mut column = vec![
            rim,
            Point { r, y: under, key: (1, 0.0) },
            Point { r, y: height - under, key: (2, 0.0) },
            Point { r: rim.r, y: height, key: (3, 0.0) },
        ];
        // Down the bore: the keys ascend along the column.
        column.extend_guarded(
            threaded(&profile, &envelope, turn)
                .into_iter()
                .rev()
                .map(|q| Point { key: (2 * THREADED - q.key.0, -q.key.1), ..q }),
        );
        column.push_guarded(Point { key: (2 * THREADED, 0.0), ..rim });
        column
    })
}

fn check_segments(segments: u32) -> Result<()> {
    within("segments", segments, 12, MAX_SEGMENTS)?;
    if segments % 6 == 0 {
        return Ok(());
    }
    Err(Error::argument("segments", segments, "a multiple of 6"))
}

/// Makes the surface through `n` columns. `column` gets the index of a segment and its fraction of a full turn; the
/// solid lies to the left of the column's direction, seen with the axis on the left. After a full turn the keys of the
/// thread have changed by `turned`.
fn strips(n: u32, turned: f64, column: impl Fn(u32, f64) -> Vec<Point>) -> Result<TriMesh> {
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut columns: Vec<Vec<(u32, (u32, f64))>> = with_capacity(n as usize + 1);
    for j in 0..n {
        let turn = f64::from(j) / f64::from(n);
        let (sin, cos) = libm::sincos(TAU * turn);
        let mut points: Vec<(u32, (u32, f64))> = Vec::new();
        let made = column(j, turn);
        for (i, q) in made.iter().enumerate() {
            // Poles are shared by all columns, and a loop ends where it began.
            let pole = (q.r == 0.0 && j > 0).then(|| columns[0][if i == 0 { 0 } else { columns[0].len() - 1 }].0);
            let closed = (i > 0 && i + 1 == made.len() && q.r == made[0].r && q.y == made[0].y).then(|| points[0].0);
            let vertex = pole.or(closed).unwrap_or_else(|| {
                vertices.push_guarded([q.r * cos, q.y, -q.r * sin]);
                vertices.len() as u32 - 1
            });
            points.push_guarded((vertex, q.key));
        }
        columns.push_guarded(points);
    }
    // The first column again, one turn farther along the thread.
    let again =
        |&(vertex, (section, along))| (vertex, (section, if section == THREADED { along + turned } else { along }));
    columns.push_guarded(columns[0].iter().map(again).collect_guarded());

    let mut triangles = Vec::new();
    for pair in columns.windows(2) {
        let (left, right) = (&pair[0], &pair[1]);
        let (mut i, mut k) = (0, 0);
        let mut add = |t: [u32; 3]| {
            if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                triangles.push_guarded(t);
            }
        };
        while i + 1 < left.len() || k + 1 < right.len() {
            let climb_left = match (left.get(i + 1), right.get(k + 1)) {
                (Some(l), Some(r)) => l.1 .0 < r.1 .0 || (l.1 .0 == r.1 .0 && l.1 .1 <= r.1 .1 + 1e-9),
                (l, _) => l.is_some(),
            };
            if climb_left {
                add([left[i].0, right[k].0, left[i + 1].0]);
                i += 1;
            } else {
                add([left[i].0, right[k].0, right[k + 1].0]);
                k += 1;
            }
        }
    }
    TriMesh::new(vertices, triangles)
}
