//! The names of scenes and methods, and what they mean.

use crate::bridge::{Method, SceneKind};

pub struct SceneEntry {
    pub kind: SceneKind,
    pub name: &'static str,
    pub title: &'static str,
    /// One sentence or two for the report.
    pub text: &'static str,
    /// Simulated seconds unless the user says otherwise.
    pub seconds: f64,
}

pub const SCENES: [SceneEntry; 5] = [
    SceneEntry {
        kind: SceneKind::DropPlane,
        name: "drop-plane",
        title: "Dropped on a plane",
        text: "The body falls from half a metre onto an infinite plane and comes to rest.",
        seconds: 3.0,
    },
    SceneEntry {
        kind: SceneKind::DropBox,
        name: "drop-box",
        title: "Dropped on a box",
        text: "The same drop onto a fixed cube of one metre: the ground has edges now.",
        seconds: 3.0,
    },
    SceneEntry {
        kind: SceneKind::Pair,
        name: "pair",
        title: "One on another",
        text: "The body is lowered onto a fixed copy of itself. Its centre of mass is guided on a vertical line; it is free \
               to turn. Non-convex against non-convex, the case for which engines offer least.",
        seconds: 3.0,
    },
    SceneEntry {
        kind: SceneKind::Ball,
        name: "ball",
        title: "Bouncing ball",
        text: "A ball of 0.5 m radius falls from a gap of 1 m, with coefficients of restitution e of 0.1, 0.5 and 0.9. Its \
               first rebound should reach e² metres.",
        seconds: 3.0,
    },
    SceneEntry {
        kind: SceneKind::Pile,
        name: "pile",
        title: "Fifty bodies in a bowl",
        text: "Knots, gears and bowls, one every 0.2 s, are poured into a bowl of five metres. None may leave it through \
               its wall.",
        seconds: 20.0,
    },
];

pub struct MethodEntry {
    pub method: Method,
    pub name: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

pub const METHODS: [MethodEntry; 8] = [
    MethodEntry {
        method: Method::Sphere,
        name: "sphere",
        title: "Bullet sphere",
        text: "btSphereShape, Bullet's own primitive; only for the ball",
    },
    MethodEntry {
        method: Method::Hull,
        name: "hull",
        title: "Hull, 42 vertices",
        text: "one convex hull, simplified by btShapeHull",
    },
    MethodEntry {
        method: Method::HullFull,
        name: "hull-full",
        title: "Hull, all vertices",
        text: "one exact convex hull",
    },
    MethodEntry {
        method: Method::Vhacd32,
        name: "vhacd32",
        title: "V-HACD, 32 hulls",
        text: "convex decomposition by parry3d's V-HACD into about 32 hulls of 64 vertices, a compound of btConvexHullShapes",
    },
    MethodEntry {
        method: Method::Hacd,
        name: "hacd",
        title: "HACD",
        text: "convex decomposition by the HACD of Bullet's extras, as in the 2014 paper",
    },
    MethodEntry {
        method: Method::Gimpact,
        name: "gimpact",
        title: "GImpact",
        text: "btGImpactMeshShape: triangles against triangles",
    },
    MethodEntry {
        method: Method::VoxshellCoarse,
        name: "voxshell-coarse",
        title: "Voxshell, coarse",
        text: "about 800 surface samples on a body of 1 m, a field of 64 cells along its largest extent",
    },
    MethodEntry {
        method: Method::VoxshellFine,
        name: "voxshell-fine",
        title: "Voxshell, fine",
        text: "about 35,000 surface samples on a bunny of 1 m, a field of 256 cells along its largest extent",
    },
];

/// The restitutions of the ball, one row each: those of the 2014 paper's Table 1.
pub const RESTITUTIONS: [f64; 3] = [0.1, 0.5, 0.9];

impl SceneKind {
    pub fn entry(self) -> &'static SceneEntry {
        SCENES.iter().find(|e| e.kind == self).expect("every scene is in the catalogue")
    }
}

impl Method {
    pub fn entry(self) -> &'static MethodEntry {
        METHODS.iter().find(|e| e.method == self).expect("every method is in the catalogue")
    }

    pub fn is_voxshell(self) -> bool {
        matches!(self, Method::VoxshellCoarse | Method::VoxshellFine)
    }

    /// Bullet's sphere is a ball and nothing else.
    pub fn applies_to(self, scene: SceneKind) -> bool {
        self != Method::Sphere || scene == SceneKind::Ball
    }
}
