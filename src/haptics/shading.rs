//! Surface effects besides solidity: Coulomb friction, force shading and texture. Knows constraints' geometry and
//! fields, but neither queries nor the program.

use voxshell_base::math::{limits, Mat6, Pose, Vec3, Vec6};
use voxshell_base::{Error, Result};
use voxshell_field::{Field, SignedDistance};

/// Surface effects of a god-object. All zero by default: surfaces are smooth and unshaded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// μ of Coulomb friction, the same at rest and in motion: not negative. The god-object moves as far as the friction
    /// cone allows (Harwin & Melder 2002).
    pub friction: f64,
    /// Force shading (Morgenbesser & Srinivasan 1996): half the width over which normals are averaged for the force,
    /// metres. Facets narrower than that feel round; the allowed positions of the tool do not change.
    pub shading: f64,
    pub texture: Texture,
}

/// Bumps that turn the force as the slope of a height function does, without moving the surface (bump mapping, Blinn 1978;
/// haptically Minsky et al. 1990). Where several contacts bear the force, all of it is turned by the mean of their slopes
/// (Ortega et al. 2007, section 6). h(p) = `height` / 3 (sin 2πx/w + sin 2πy/w + sin 2πz/w) in the frame of the body, with
/// w = `wavelength`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Texture {
    /// Metres; 0 for none.
    pub height: f64,
    /// Metres; positive where there is a height.
    pub wavelength: f64,
}

impl Surface {
    /// # Errors
    /// `InvalidArgument` for negative or non-finite numbers, and for a height without a wavelength.
    pub fn check(&self) -> Result<()> {
        let Texture { height, wavelength } = self.texture;
        for (name, value) in [
            ("surface.friction", self.friction),
            ("surface.shading", self.shading),
            ("surface.texture.height", height),
            ("surface.texture.wavelength", wavelength),
        ] {
            if !(value >= 0.0 && limits::is_quantity(value)) {
                return Err(Error::argument(name, limits::Shown(value), "a finite number, 0 to 1e18"));
            }
        }
        if height > 0.0 && wavelength < limits::MIN_QUANTITY {
            let value = limits::Shown(wavelength);
            return Err(Error::argument("surface.texture.wavelength", value, "positive where there is a height"));
        }
        Ok(())
    }

    /// Returns whether forces have another direction than constraints.
    pub fn turns_forces(&self) -> bool {
        self.shading > 0.0 || self.texture.height > 0.0
    }
}

impl Texture {
    /// Returns ∇h at a point, both in the body's frame; without a unit.
    pub fn slope(&self, p: &Vec3) -> Vec3 {
        if self.height == 0.0 {
            return Vec3::zeros();
        }
        let turn = std::f64::consts::TAU / self.wavelength;
        p.map(|x| self.height / 3.0 * turn * libm::cos(turn * x))
    }

    /// Returns the outward direction of a textured surface, unit: `outward` minus the slope across it.
    pub fn outward(&self, outward: &Vec3, slope: &Vec3) -> Vec3 {
        let across = slope - outward * outward.dot(slope);
        (outward - across).normalize()
    }
}

/// Returns the fraction of a motion along constraints that friction leaves, 0 to 1.
///
/// With the loads λ that the constraints carry, friction takes μ λ |v| from a motion in which its point slides by v.
/// Among all fractions s of the allowed motion a, the result minimises ½ ‖s a − a_u‖²_M + s Σ μ λ |v|: as ⟨a, a_u⟩_M =
/// ‖a‖²_M, s = 1 − Σ μ λ |v| / ‖a‖²_M, or 0 where that is negative. The load that is held back, (1 − s) M a, does as
/// much work on a as Coulomb friction: for one sliding point, it is μ λ.
///
/// `works` gives μ λ |v| of each active constraint, with λ in the units of M a.
pub fn slip(mass: &Mat6, allowed: &Vec6, works: impl Iterator<Item = f64>) -> f64 {
    let taken: f64 = works.sum();
    let whole = allowed.dot(&(mass * allowed));
    if taken == 0.0 || whole <= 0.0 {
        return 1.0;
    }
    (1.0 - taken / whole).max(0.0)
}

/// Returns the distance by which a point slides across a normal in a motion of the centre, at distance `arm` from it.
pub fn slide(motion: &Vec6, arm: &Vec3, normal: &Vec3) -> f64 {
    let turn: Vec3 = motion.fixed_rows::<3>(3).into_owned();
    let displacement = motion.fixed_rows::<3>(0) + turn.cross(arm);
    (displacement - normal * normal.dot(&displacement)).norm()
}

/// Returns the outward direction of a field at a point of the world, unit, averaged over `half` to each side along each
/// of the body's axes: from φ, the difference of its values at the ends. `None` where that has no meaning: across thin
/// walls, and for sheets, which have two sides.
pub fn averaged_outward(field: &Field, pose: &Pose, point: &Vec3, half: f64) -> Option<Vec3> {
    if matches!(field, Field::Sheet(_)) {
        return None;
    }
    let p = pose.inverse_transform_point(&(*point).into()).coords;
    let phi = |p: Vec3| {
        let p = p - field.local_origin(&p);
        f64::from(field.distance([p.x as f32, p.y as f32, p.z as f32]))
    };
    let gradient = Vec3::from_fn(|k, _| phi(p + Vec3::ith(k, half)) - phi(p - Vec3::ith(k, half))) / (2.0 * half);
    let length = gradient.norm();
    (length > 0.25).then(|| pose.rotation * (gradient / length))
}
