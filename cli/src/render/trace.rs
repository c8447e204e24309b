//! Rays against fields: sphere tracing (Hart 1996) between the bounds of each object, with a bracketed root at the end.

use super::balls::Balls;
use super::scene::{Object, Scene};
use voxshell::field::SignedDistance;
use voxshell::math::{Aabb, RigidF32, Vec3};

/// Length of a step as a fraction of φ: the interpolant of a grid may be a little steeper than 1. A step that still
/// crosses the surface is bracketed and bisected.
const STEP: f32 = 0.9;
const MAX_STEPS: usize = 256;
/// Squared penumbra factor: the larger, the harder the shadow's edge.
const SHADOW_SHARPNESS: f32 = 14.0;

/// An object with the data for ray tests.
struct Target<'a> {
    field: &'a dyn SignedDistance,
    /// World to the field's local frame.
    to_local: RigidF32,
    /// Pose of the local frame, in f64: distant directions and origins keep their precision until they reach the box.
    to_body: voxshell::math::Pose,
    origin: Vec3,
    /// Box around {φ ≤ 0}, local frame.
    bounds: Aabb,
    /// The same box in the world.
    world: Aabb,
    /// Ball around the world box, for quick rejection; the radius is infinite for an infinite shape.
    center: Vec3,
    radius: f64,
    /// Tolerance of hits, negligible for this object, metres.
    tiny: f32,
    colour: [f32; 3],
}

/// The scene prepared for rays.
pub(super) struct Tracer<'a> {
    targets: Vec<Target<'a>>,
    balls: Balls,
    scene: &'a Scene,
}

/// Intersection of a ray with an object or the ground.
pub(super) struct Hit {
    /// Distance along the ray, metres.
    pub t: f64,
    pub point: Vec3,
    /// Unit normal, world frame.
    pub normal: Vec3,
    /// Colour of the object, sRGB.
    pub colour: [f32; 3],
    /// Index of the object, `objects.len()` for the ground, and one more for all balls.
    pub id: u32,
    /// Tolerance at this point, metres.
    pub tiny: f64,
}

impl<'a> Tracer<'a> {
    pub fn new(scene: &'a Scene) -> Self {
        let targets = scene.objects.iter().map(Target::new).collect();
        Self { targets, balls: Balls::new(&scene.balls), scene }
    }

    /// Returns the first surface on the ray, if any.
    pub fn first_hit(&self, origin: &Vec3, direction: &Vec3) -> Option<Hit> {
        let inverse = direction.map(|d| 1.0 / d);
        let mut best: Option<Hit> = None;
        for (id, target) in self.targets.iter().enumerate() {
            let limit = best.as_ref().map_or(f64::INFINITY, |h| h.t);
            if target.is_off(origin, direction, 0.0) || slab(&target.world, origin, &inverse, limit).is_none() {
                continue;
            }
            if let Some((t, local)) = target.first_hit(origin, direction, limit) {
                let (_, g) = target.field.distance_gradient(local);
                let gradient = Vec3::new(f64::from(g[0]), f64::from(g[1]), f64::from(g[2]));
                let normal = self.scene.objects[id].pose.rotation * gradient;
                best = Some(Hit {
                    t,
                    point: origin + direction * t,
                    normal: normal.try_normalize(1e-12).unwrap_or(-direction),
                    colour: target.colour,
                    id: id as u32,
                    tiny: f64::from(target.tiny),
                });
            }
        }
        let limit = best.as_ref().map_or(f64::INFINITY, |h| h.t);
        if let Some((t, ball)) = self.balls.first_hit(origin, direction, limit) {
            let point = origin + direction * t;
            let normal = (point - ball.center) / ball.radius;
            let id = self.targets.len() as u32 + 1;
            best = Some(Hit { t, point, normal, colour: ball.colour, id, tiny: 1e-3 * ball.radius });
        }
        let limit = best.as_ref().map_or(f64::INFINITY, |h| h.t);
        self.ground_hit(origin, direction).filter(|h| h.t < limit).or(best)
    }

    fn ground_hit(&self, origin: &Vec3, direction: &Vec3) -> Option<Hit> {
        let ground = self.scene.ground.as_ref()?;
        let slope = ground.normal.dot(direction);
        let t = (ground.offset - ground.normal.dot(origin)) / slope;
        if slope >= 0.0 || t.is_nan() || t <= 0.0 {
            return None;
        }
        let point = origin + direction * t;
        // Two axes in the plane, from the world axis most across the normal.
        let across = if ground.normal.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
        let u = (across - ground.normal * ground.normal.dot(&across)).normalize();
        let v = ground.normal.cross(&u);
        let cell = |axis: &Vec3| (axis.dot(&point) / ground.square).floor();
        let colour = ground.colours[((cell(&u) + cell(&v)).rem_euclid(2.0)) as usize];
        // Distant squares would flicker: fade them to their mean.
        let pixels = (0.004 * t / ground.square / -slope).clamp(0.0, 1.0) as f32;
        let mean = |i: usize| 0.5 * (ground.colours[0][i] + ground.colours[1][i]);
        let colour = [0, 1, 2].map(|i| colour[i] + (mean(i) - colour[i]) * pixels);
        Some(Hit { t, point, normal: ground.normal, colour, id: self.targets.len() as u32, tiny: 1e-4 })
    }

    /// Returns the fraction of the light that reaches `point`, 0..1: the narrowest cone on the path (Quilez's soft
    /// shadow).
    pub fn light(&self, point: &Vec3, normal: &Vec3, tiny: f64) -> f32 {
        let direction = &self.scene.light;
        let origin = point + normal * (4.0 * tiny);
        let inverse = direction.map(|d| 1.0 / d);
        // Balls cast hard shadows.
        if self.balls.first_hit(&origin, direction, f64::INFINITY).is_some() {
            return 0.0;
        }
        let mut open = 1.0f32;
        for target in &self.targets {
            // The penumbra extends beyond the object by the fraction 1 / SHADOW_SHARPNESS of the distance.
            if target.is_off(&origin, direction, 1.0 / f64::from(SHADOW_SHARPNESS)) {
                continue;
            }
            let reach = ((target.center - origin).norm() + target.radius) / f64::from(SHADOW_SHARPNESS);
            let wide = target.world.inflated(if reach.is_finite() { reach } else { 0.0 });
            if let Some((t0, t1)) = slab(&wide, &origin, &inverse, f64::INFINITY) {
                open = open.min(target.openness(&origin, direction, t0, t1));
                if open <= 0.0 {
                    return 0.0;
                }
            }
        }
        open * open * (3.0 - 2.0 * open)
    }

    /// Returns the fraction of the sky visible at `point`, 0..1, from the clearance along the normal up to `reach`
    /// metres.
    pub fn sky(&self, point: &Vec3, normal: &Vec3, reach: f64) -> f32 {
        let heights: [f64; 5] = std::array::from_fn(|i| reach * ((i + 1) * (i + 1)) as f64 / 25.0);
        // Clearance at each height, limited to the height.
        let mut free = heights;
        for target in &self.targets {
            if (target.center - point).norm_squared() > (target.radius + 2.0 * reach).powi(2) {
                continue;
            }
            for (free, h) in free.iter_mut().zip(heights) {
                let p = point + normal * h;
                if target.world.distance_squared(&p) < *free * *free {
                    *free = free.min(f64::from(target.field.distance(target.to_local(&p))));
                }
            }
        }
        let mut blocked = 0.0;
        let mut weight = 1.0;
        for (mut free, h) in free.into_iter().zip(heights) {
            if let Some(ground) = &self.scene.ground {
                free = free.min(ground.normal.dot(&(point + normal * h)) - ground.offset);
            }
            blocked += weight * (h - free).max(0.0) / h;
            weight *= 0.7;
        }
        (1.0 - 0.36 * blocked).clamp(0.0, 1.0) as f32
    }
}

impl<'a> Target<'a> {
    fn new(object: &'a Object) -> Self {
        let body = object.field.bounds();
        let inverse = object.pose.inverse();
        let origin = object.field.local_origin(&inverse.translation.vector);
        let bounds = Aabb { min: body.min - origin, max: body.max - origin };
        let size = bounds.extents().norm();
        let world = if size.is_finite() {
            body.transformed(&object.pose)
        } else {
            Aabb { min: Vec3::repeat(f64::NEG_INFINITY), max: Vec3::repeat(f64::INFINITY) }
        };
        Self {
            field: object.field.as_ref(),
            to_local: RigidF32::between(&inverse, &Vec3::zeros(), &origin),
            to_body: inverse,
            origin,
            bounds,
            world,
            center: if size.is_finite() { world.center() } else { Vec3::zeros() },
            radius: 0.5 * world.extents().norm(),
            tiny: if size.is_finite() { (2e-4 * size) as f32 } else { 1e-4 },
            colour: object.colour,
        }
    }

    /// Returns true if the ray, widened by `spread` metres per metre, certainly misses the object.
    fn is_off(&self, origin: &Vec3, direction: &Vec3, spread: f64) -> bool {
        let to = self.center - origin;
        let along = to.dot(direction);
        let radius = self.radius + spread * (along + self.radius).max(0.0);
        along < -radius || to.norm_squared() - along * along > radius * radius
    }

    fn to_local(&self, p: &Vec3) -> [f32; 3] {
        self.to_local.point([p.x as f32, p.y as f32, p.z as f32])
    }

    /// Returns the first zero of φ on the ray before `limit`, and the local-frame point of it.
    fn first_hit(&self, origin: &Vec3, direction: &Vec3, limit: f64) -> Option<(f64, [f32; 3])> {
        let d = self.to_body.rotation * direction;
        let o = (self.to_body * nalgebra::Point3::from(*origin)).coords - self.origin;
        let inflated = self.bounds.inflated(f64::from(self.tiny));
        let (t0, t1) = slab(&inflated, &o, &d.map(|x| 1.0 / x), limit)?;
        // Uses f32 only from the entry point on, so that a distant camera costs no precision.
        let start = o + d * t0;
        let at = |s: f32| [0, 1, 2].map(|i| start[i] as f32 + d[i] as f32 * s);
        let length = (t1 - t0) as f32;
        let mut before = 0.0f32;
        let mut s = 0.0f32;
        for _ in 0..MAX_STEPS {
            let phi = self.field.distance(at(s));
            if phi <= 0.0 {
                let (mut free, mut inside) = (before, s);
                for _ in 0..24 {
                    let middle = 0.5 * (free + inside);
                    if self.field.distance(at(middle)) <= 0.0 {
                        inside = middle;
                    } else {
                        free = middle;
                    }
                }
                return Some((t0 + f64::from(free), at(free)));
            }
            before = s;
            s += (STEP * phi).max(self.tiny);
            if s > length {
                return None;
            }
        }
        None
    }

    /// Returns the narrowest cone of clearance around the ray between `t0` and `t1`; 1 is fully open.
    fn openness(&self, origin: &Vec3, direction: &Vec3, t0: f64, t1: f64) -> f32 {
        let mut open = 1.0f32;
        let mut t = t0.max(f64::from(self.tiny));
        for _ in 0..96 {
            let phi = self.field.distance(self.to_local(&(origin + direction * t)));
            open = open.min(SHADOW_SHARPNESS * phi / t as f32);
            if open <= 0.0 {
                return 0.0;
            }
            t += f64::from((STEP * phi).max(8.0 * self.tiny));
            if t > t1 {
                break;
            }
        }
        open
    }
}

/// Returns the interval of the ray in front of its origin that is in the box, before `limit`.
pub(super) fn slab(bounds: &Aabb, origin: &Vec3, inverse: &Vec3, limit: f64) -> Option<(f64, f64)> {
    let (mut t0, mut t1) = (0.0f64, limit);
    for i in 0..3 {
        let a = (bounds.min[i] - origin[i]) * inverse[i];
        let b = (bounds.max[i] - origin[i]) * inverse[i];
        // A NaN (the origin is on a face and the ray runs along it) leaves the interval unchanged: `min` and `max` skip
        // it.
        t0 = t0.max(a.min(b));
        t1 = t1.min(a.max(b));
    }
    (t0 <= t1).then_some((t0, t1))
}
