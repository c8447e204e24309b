//! Bolts and nuts from mesh files, brought to the frame of this project's own.
//!
//! The frame: the thread's axis is y and points from the bolt's head to its tip. The bolt's bearing face, or the nut's
//! lower face, is at y = 0. The bolt has a crest at y = 0 and angle 0, the nut a groove; so a nut that is moved up by
//! any number of pitches, and turned by as many turns, is in the middle of its play.
//!
//! Pitch and phase come from the first harmonic of the thread: the surface's radius over height h and angle θ is a
//! periodic function of h/p − θ/2π, so its Fourier transform has a peak at the pitch.

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

use voxshell::math::{Pose, Rotation, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::{Error, Result};

/// Mesh files of a bolt and its nut, and how to read them.
#[derive(Clone, Debug)]
pub struct PartFiles {
    pub bolt: PathBuf,
    pub nut: PathBuf,
    /// Unit vector of the files along the thread, from the bolt's head to its tip.
    pub axis: Vec3,
    /// Metres per unit of the files.
    pub unit: f64,
    /// Advance per turn, metres; `None`: derived from the bolt.
    pub pitch: Option<f64>,
}

/// A bolt and its nut in the frame above.
pub struct Threaded {
    pub bolt: TriMesh,
    pub nut: TriMesh,
    pub pitch: f64,
}

/// A vertex this much farther from the axis than the shank belongs to the head.
const HEAD: f64 = 1.05;
/// Pitches that are looked for, as fractions of the threaded length.
const PITCHES: [f64; 2] = [1.0 / 60.0, 1.0 / 3.0];
/// Sample spacing around, radians.
const ANGLE: f64 = 0.25;
/// Sample spacing along the axis, as a fraction of the length: a quarter of the smallest pitch.
const SPACING: f64 = 1.0 / 240.0;
/// Amplitude of the first harmonic over the mean deviation of the radius; 0.8 for a profile of 60°, and far lower
/// without a thread.
const CLEAR: f64 = 0.4;
/// Largest difference between the pitches of bolt and nut, as a fraction. A nut of six turns resolves no less.
const SAME: f64 = 0.02;

impl PartFiles {
    pub fn load(&self) -> Result<Threaded> {
        let (bolt, nut) = (self.upright(&self.bolt)?, self.upright(&self.nut)?);
        let face = bearing_face(&bolt).ok_or_else(|| {
            let expected = "a bolt whose head is wider than its thread and at its lower end along --thread-axis";
            Error::argument("--bolt", self.bolt.display(), expected)
        })?;
        let bolt = bolt.transformed(&Pose::translation(0.0, -face, 0.0), 1.0);
        let low = nut.bounds().min.y;
        let nut = nut.transformed(&Pose::translation(0.0, -low, 0.0), 1.0);

        let outside = Surface::new(&bolt, true, 0.0);
        let inside = Surface::new(&nut, false, 0.0);
        let pitch = match self.pitch {
            Some(pitch) => pitch,
            None => outside.pitch(),
        };
        let of_bolt = outside.phase(pitch).ok_or_else(|| self.no_thread("--bolt", &self.bolt, pitch))?;
        let of_nut = inside.phase(pitch).ok_or_else(|| self.no_thread("--nut", &self.nut, pitch))?;
        let nuts = inside.pitch();
        if (nuts / pitch - 1.0).abs() > SAME {
            let value = format!("{} with a pitch of {:.4} mm", self.nut.display(), nuts * 1e3);
            return Err(Error::argument("--nut", value, format!("the bolt's pitch, {:.4} mm", pitch * 1e3)));
        }
        let turned = |mesh: TriMesh, by: f64| mesh.transformed(&Pose::rotation(Vec3::y() * by), 1.0);
        Ok(Threaded { bolt: turned(bolt, of_bolt), nut: turned(nut, of_nut), pitch })
    }

    /// Loads a file, in metres, its axis along y and in the middle of its box.
    fn upright(&self, path: &Path) -> Result<TriMesh> {
        let mesh = voxshell::mesh::io::load(path)?;
        let turn = Rotation::rotation_between(&self.axis, &Vec3::y())
            .unwrap_or_else(|| Rotation::from_scaled_axis(Vec3::x() * std::f64::consts::PI));
        let mesh = mesh.transformed(&Pose::from_parts(Vec3::zeros().into(), turn), self.unit);
        let middle = mesh.bounds().center();
        Ok(mesh.transformed(&Pose::translation(-middle.x, 0.0, -middle.z), 1.0))
    }

    fn no_thread(&self, argument: &str, path: &Path, pitch: f64) -> Error {
        let value = format!("{} without a clear thread of {:.4} mm pitch", path.display(), pitch * 1e3);
        Error::argument(argument, value, "a right-handed thread along --thread-axis, of the pitch of --pitch if given")
    }
}

/// Returns the height of the highest point of the head: of all that is wider than the upper half.
fn bearing_face(bolt: &TriMesh) -> Option<f64> {
    let bounds = bolt.bounds();
    let middle = 0.5 * (bounds.min.y + bounds.max.y);
    let radius = |v: &[f64; 3]| v[0].hypot(v[2]);
    let shank = bolt.vertices.iter().filter(|v| v[1] > middle).map(radius).fold(0.0, f64::max);
    let head = bolt.vertices.iter().filter(|v| radius(v) > HEAD * shank);
    head.map(|v| v[1]).max_by(f64::total_cmp)
}

/// Samples of the surface of a thread.
struct Surface {
    /// Height, angle, and weighted deviation of the radius from its mean.
    samples: Vec<[f64; 3]>,
    length: f64,
    /// Weighted mean deviation of the radius.
    deviation: f64,
}

impl Surface {
    /// Samples the faces above `low` that look away from the axis (`outside`) or towards it.
    fn new(mesh: &TriMesh, outside: bool, low: f64) -> Self {
        let high = mesh.bounds().max.y;
        let length = high - low;
        let mut points: Vec<[f64; 4]> = Vec::new();
        for triangle in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(triangle).map(Vec3::from);
            let normal = (b - a).cross(&(c - a));
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            // The radius is nearly linear on a face; what must be resolved is the phase, by height and angle.
            let height = a.y.max(b.y).max(c.y) - a.y.min(b.y).min(c.y);
            let far = [a, b, c].map(|p| p.x.hypot(p.z)).into_iter().fold(0.0, f64::max);
            let fine = (height / (SPACING * length)).max(longest / (ANGLE * far));
            let parts = fine.ceil().clamp(1.0, 200.0) as usize;
            let weight = 0.5 * normal.norm() / (parts * parts) as f64;
            let n = parts as f64;
            for i in 0..parts {
                for j in 0..2 * (parts - i) - 1 {
                    // Centres of the small triangles, alternately upright and inverted.
                    let (k, third) = (j / 2, if j % 2 == 0 { 1.0 / 3.0 } else { 2.0 / 3.0 });
                    let (u, v) = ((i as f64 + third) / n, (k as f64 + third) / n);
                    let p = a + (b - a) * u + (c - a) * v;
                    let outwards = normal.x * p.x + normal.z * p.z > 0.0;
                    if outwards == outside && p.y > low {
                        // Hann's window: the ends of a thread are incomplete.
                        let window = (std::f64::consts::PI * (p.y - low) / length).sin().powi(2);
                        points.push([p.y, (-p.z).atan2(p.x), p.x.hypot(p.z), weight * window]);
                    }
                }
            }
        }
        let total: f64 = points.iter().map(|p| p[3]).sum();
        let mean = points.iter().map(|p| p[2] * p[3]).sum::<f64>() / total;
        let samples: Vec<[f64; 3]> = points.iter().map(|p| [p[0], p[1], (p[2] - mean) * p[3]]).collect();
        let deviation = samples.iter().map(|s| s[2].abs()).sum();
        Self { samples, length, deviation }
    }

    /// Returns the first harmonic of a right-handed thread of `turns` per metre: cosine and sine.
    fn harmonic(&self, turns: f64) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for [h, angle, r] in &self.samples {
            let (sin, cos) = (TAU * turns * h - angle).sin_cos();
            sum[0] += r * cos;
            sum[1] += r * sin;
        }
        sum
    }

    fn amplitude(&self, turns: f64) -> f64 {
        let [cos, sin] = self.harmonic(turns);
        cos.hypot(sin)
    }

    /// Returns the pitch with the largest amplitude.
    fn pitch(&self) -> f64 {
        // Hann's window is resolved by quarters of 1/length.
        let step = 0.25 / self.length;
        let [low, high] = [1.0 / (PITCHES[1] * self.length), 1.0 / (PITCHES[0] * self.length)];
        let count = ((high - low) / step) as usize;
        let coarse = (0..=count).map(|i| low + step * i as f64).map(|turns| (turns, self.amplitude(turns)));
        let best = coarse.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(low, |c| c.0);
        // Golden section search; the peak is single within one step of its highest sample.
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let (mut from, mut to) = (best - step, best + step);
        while to - from > 1e-7 * best {
            let (a, b) = (to - golden * (to - from), from + golden * (to - from));
            if self.amplitude(a) > self.amplitude(b) {
                to = b;
            } else {
                from = a;
            }
        }
        2.0 / (from + to)
    }

    /// Returns the angle by which the mesh must be turned about y so that its radius is largest at height 0 and angle
    /// 0; `None` without a clear thread of this pitch.
    fn phase(&self, pitch: f64) -> Option<f64> {
        let [cos, sin] = self.harmonic(1.0 / pitch);
        (cos.hypot(sin) > CLEAR * self.deviation).then(|| sin.atan2(cos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nut_bolt::sizes::Parts;

    /// Writes the meshes of a size in millimetres, along −z, turned by different angles.
    fn written(folder: &Path, parts: Parts) -> PartFiles {
        let size = parts.size().unwrap();
        let write = |mesh: &TriMesh, name: &str, angle: f64| {
            // y to −z.
            let lie = Pose::rotation(Vec3::x() * -std::f64::consts::FRAC_PI_2);
            let path = folder.join(name);
            let turned = Pose::rotation(Vec3::y() * angle);
            voxshell::mesh::io::write_obj(&path, &mesh.transformed(&(lie * turned), 1e3)).unwrap();
            path
        };
        let [bolt, nut] = size.meshes().unwrap();
        let (bolt, nut) = (write(&bolt, "bolt.obj", 0.7), write(&nut, "nut.obj", -2.0));
        PartFiles { bolt, nut, axis: -Vec3::z(), unit: 1e-3, pitch: None }
    }

    #[test]
    fn pitch_and_phase_are_found_in_files() {
        let folder = tempfile::tempdir().unwrap();
        for parts in [Parts::M8, Parts::M20] {
            let size = parts.size().unwrap();
            let threaded = written(folder.path(), parts).load().unwrap();
            let error = threaded.pitch / size.pitch() - 1.0;
            assert!(error.abs() < 2e-4, "{}: {error}", parts.name());
            for (mesh, outside) in [(&threaded.bolt, true), (&threaded.nut, false)] {
                let phase = Surface::new(mesh, outside, 0.0).phase(size.pitch()).unwrap();
                assert!(phase.abs() < 0.03, "{}: {phase} rad", parts.name());
            }
            let heights = [threaded.bolt.bounds().max.y, threaded.nut.bounds().max.y];
            assert!((heights[0] - size.length).abs() < 1e-8 && (heights[1] - size.height).abs() < 1e-8);
            // The own meshes have their phase by construction.
            let own = Surface::new(&size.meshes().unwrap()[0], true, 0.0).phase(size.pitch()).unwrap();
            assert!(own.abs() < 0.03, "{own} rad");
        }
    }

    #[test]
    fn unusable_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let good = written(folder.path(), Parts::M16);
        let message = |files: PartFiles| files.load().err().expect("no error").to_string();
        let missing = PartFiles { bolt: folder.path().join("absent.obj"), ..good.clone() };
        assert!(message(missing).contains("absent.obj"));
        let reversed = PartFiles { axis: Vec3::z(), ..good.clone() };
        assert!(message(reversed).contains("--bolt is"));
        let wrong = PartFiles { pitch: Some(1.7e-3), ..good.clone() };
        assert!(message(wrong).contains("1.7000 mm pitch; expected a right-handed thread"));
        let other = tempfile::tempdir().unwrap();
        let nut = written(other.path(), Parts::M12).nut;
        assert!(message(PartFiles { nut, ..good }).contains("--nut is"));
    }
}
