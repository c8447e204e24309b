//! The contents of a picture.

use std::sync::Arc;

use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Vec3};

/// A field at a pose in the world.
#[derive(Clone)]
pub struct Object {
    pub field: Arc<dyn SignedDistance>,
    /// Pose, body to world.
    pub pose: Pose,
    /// Colour, sRGB, 0..1.
    pub colour: [f32; 3],
}

impl Object {
    pub fn new(field: Arc<impl SignedDistance + 'static>, pose: Pose, colour: [f32; 3]) -> Self {
        Self { field, pose, colour }
    }
}

/// An exact ball without a field: for marks and for the spheres of a tree, of which there may be many thousands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre, world frame, metres.
    pub center: Vec3,
    /// Radius, metres.
    pub radius: f64,
    /// Colour, sRGB, 0..1.
    pub colour: [f32; 3],
}

/// A checkered plane {x : normal·x = offset}, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Unit normal, to the side of the objects.
    pub normal: Vec3,
    /// Offset along the normal, metres.
    pub offset: f64,
    /// Side of a checker square, metres.
    pub square: f64,
    /// The two sRGB colours, 0..1.
    pub colours: [[f32; 3]; 2],
}

/// Contents and light of a picture.
#[derive(Clone)]
pub struct Scene {
    pub objects: Vec<Object>,
    pub balls: Vec<Ball>,
    pub ground: Option<Ground>,
    /// Unit vector towards the light, world frame.
    pub light: Vec3,
    /// Colours at the horizon and at the top of the sky, sRGB; the ground fades into the first.
    pub sky: [[f32; 3]; 2],
    /// The direction of the sky's top, unit, world frame.
    pub up: Vec3,
    /// Distance at which the ground has half faded into the horizon, metres.
    pub fade: f64,
    /// Pixels on an edge are averaged over n × n rays, where n is this number; 1 means no smoothing.
    pub smoothing: u32,
}

impl Ground {
    /// Returns a light checkered floor at y = `height`.
    pub fn floor(height: f64, square: f64) -> Self {
        Self { normal: Vec3::y(), offset: height, square, colours: [[0.86, 0.87, 0.89], [0.79, 0.81, 0.84]] }
    }
}

impl Default for Scene {
    /// Returns an empty scene in daylight; y is up.
    fn default() -> Self {
        Self {
            objects: Vec::new(),
            balls: Vec::new(),
            ground: None,
            light: Vec3::new(0.45, 0.8, 0.4).normalize(),
            sky: [[0.93, 0.945, 0.96], [0.72, 0.80, 0.90]],
            up: Vec3::y(),
            fade: 12.0,
            smoothing: 3,
        }
    }
}
