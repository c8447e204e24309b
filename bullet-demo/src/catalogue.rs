//! The names and descriptions of scenes and methods.

use voxshell_report::report::palette::{self, Colour};

use crate::bridge::{Drive, Method, SceneKind, Segments};
use crate::fast_bodies::{self, is_fast};
use crate::nut_bolt::sizes::Parts;
use crate::trial::Trial;
use crate::{degenerate, flush};

pub struct SceneEntry {
    pub kind: SceneKind,
    pub name: &'static str,
    pub title: &'static str,
    /// One or two sentences for the report.
    pub text: &'static str,
    /// Default duration, simulated seconds.
    pub seconds: f64,
    /// True for a scene that takes long: it runs only on request.
    pub long: bool,
}

pub const SCENES: [SceneEntry; 21] = [
    SceneEntry {
        kind: SceneKind::DropPlane,
        name: "drop-plane",
        title: "Dropped on a plane",
        text: "The body falls from half a metre onto an infinite plane and comes to rest.",
        seconds: 3.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::DropBox,
        name: "drop-box",
        title: "Dropped on a box",
        text: "The same drop onto a fixed cube of one metre: the ground has edges now.",
        seconds: 3.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Pair,
        name: "pair",
        title: "One on another",
        text: "The body is lowered onto a fixed copy of itself. Its centre of mass is guided on a vertical line; it is free \
               to turn. Engines offer the least for this case, non-convex against non-convex.",
        seconds: 3.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Ball,
        name: "ball",
        title: "Bouncing ball",
        text: "A ball of 0.5 m radius falls from a gap of 1 m, with coefficients of restitution e of 0.1, 0.5 and 0.9. Its \
               first rebound should reach e² metres.",
        seconds: 3.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Pile,
        name: "pile",
        title: "A pile in a bowl",
        text: "Knots, gears and bowls, one every 0.2 s, are poured into a bowl that has room for them: fifty into five metres. \
               None may leave it through its wall.",
        seconds: 20.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Pile500,
        name: "pile-500",
        title: "Five hundred bodies in a bowl",
        text: "Knots, gears and bowls, poured in layers into a bowl that has room for them. None may leave it through its \
               wall.",
        seconds: 7.0,
        long: true,
    },
    SceneEntry {
        kind: SceneKind::Pile2000,
        name: "pile-2000",
        title: "Two thousand bodies in a bowl",
        text: "The same with two thousand: the cost of a pair must not depend on their number.",
        seconds: 10.0,
        long: true,
    },
    SceneEntry {
        kind: SceneKind::StackSpheres,
        name: "stack-spheres",
        title: "Balls on top of each other",
        text: "Five balls of 1 m on top of each other, without sleeping: the least slip makes the tower fall.",
        seconds: 10.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Stack,
        name: "stack",
        title: "Towers of gears and cups",
        text: "Five gears lie face on face; five cups are set over each other's domes, which only a non-convex shape can \
               do. They should keep their height and not move.",
        seconds: 6.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Rolling,
        name: "rolling",
        title: "Sliding, rolling, tumbling",
        text: "Four copies of the body are driven for three seconds: one slides, one is rolled, one tumbles on a plane, and \
               one tumbles in a bowl. Then they are released and come to rest. The scene compares the cost of motion with \
               that of rest.",
        seconds: 6.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::NutBolt,
        name: "nut-bolt",
        title: "Nut on a bolt",
        text: "An M16 steel nut (ISO metric thread of 2 mm pitch, classes 6H and 6g) comes down a standing bolt from seven turns \
               above its head, in real size and steps of 1 ms: by its weight at a friction of 0.01, below the lead angle of \
               2.48°, and by a driver of 5 mN m at 0.2. It should travel 2 mm per turn, and stop at the head.",
        seconds: 10.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::NutBolt100,
        name: "nut-bolt-100",
        title: "A hundred nuts on bolts",
        text: "A hundred of these pairs in one world, each starting at another angle of the turn.",
        seconds: 4.0,
        long: true,
    },
    SceneEntry {
        kind: SceneKind::NutBolt1000,
        name: "nut-bolt-1000",
        title: "A thousand nuts on bolts",
        text: "A thousand pairs in one world, M16, M20 and the mesh files of --bolt and --nut in turn, all driven down their bolts \
               at the same time, with one and two threads of the narrowphase. Each starts at another angle of the turn.",
        seconds: 3.0,
        long: true,
    },
    SceneEntry {
        kind: SceneKind::Wires,
        name: "wires",
        title: "Thrown at wires",
        text: "Eight bodies are thrown at vertical wires 6 mm thick at 25 to 300 m/s, 0.1 to 1.5 m per step. Rows named swept \
               sphere have Bullet's own continuous collision detection on (setCcdSweptSphereRadius, setCcdMotionThreshold), \
               which is for single convex shapes; Voxshell's rows have its motion clamp.",
        seconds: 0.3,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::FastDrop,
        name: "fast-drop",
        title: "Shot at thin plates",
        text: "Eight bodies fly down at 25 to 300 m/s on plates 16 mm thick, two voxels of the fine field. Rows as for the wires.",
        seconds: 0.3,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Fan,
        name: "fan",
        title: "Fan against a peg",
        text: "Six fans of four blades, 8 mm thick, with motors set to 10 to 90 degrees per step, and a fixed peg in the \
               path of each.",
        seconds: 1.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::LowFrequency,
        name: "low-frequency",
        title: "Dropped in long steps",
        text: "The drop on a plane in true steps of 1/200 to 1/10 s.",
        seconds: 3.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Degenerate,
        name: "degenerate",
        title: "Tips, edges and grooves",
        text: "The eight degenerate configurations of Erleben 2018, without friction, at 100 Hz: spikes and wedges of 3 m stand \
               on each other's tips and edges, or slide out of a hole or a crack; a cube lies on a block of its own width, and \
               on a block with edges inside its flat top.",
        seconds: 2.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Flush,
        name: "flush",
        title: "Flat faces",
        text: "Machine parts of 1 m with flat faces rest, slide, rock and roll on a plane, and a cube of 1 m lies on a block of its \
               own width, without friction. The cost should be that of the few contacts that the solver needs.",
        seconds: 3.0,
        long: false,
    },
    SceneEntry {
        kind: SceneKind::Levels,
        name: "levels",
        title: "Segments of a level",
        text: "Ten copies fall on a plane, each with its own orientation. Voxshell's rows have one contact for each segment of a level of \
               the sphere tree (L=1 is the root; the tree has four children per node), four for each contact region, or those that \
               spread widest.",
        seconds: 3.0,
        long: true,
    },
    SceneEntry {
        kind: SceneKind::Scaling,
        name: "scaling",
        title: "Growing number of samples",
        text: "The body is placed against a copy of itself at another pose in every step. A dozen samples are within reach, \
               for any number of samples.",
        seconds: 3.0,
        long: true,
    },
];

/// Parameters that distinguish rows of one scene and method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Case {
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
    /// Steps per second, where it is not 200.
    pub rate: Option<f64>,
    /// Level of the sphere tree whose segments have manifolds of their own; 1 is the root.
    pub level: Option<u32>,
    /// True if contact regions have manifolds of their own.
    pub by_region: bool,
    /// Drive of the nuts.
    pub drive: Option<Drive>,
    /// True if Bullet's own continuous collision detection is on.
    pub swept_spheres: bool,
    /// Arrangement of the bodies, in the scenes that have several.
    pub trial: Option<Trial>,
    /// Cells of the fields along the largest extent of each body, where rows differ in them.
    pub cells: Option<u32>,
    /// Bolts and nuts, in the scenes that have several sizes; `None`: the own M16.
    pub parts: Option<Parts>,
    /// Threads of the narrowphase, where it is not one.
    pub threads: Option<u32>,
    /// True if edges and corners of two meshes are tested against each other.
    pub edges: bool,
}

impl Case {
    /// Returns " spike-on-wedge", " e=0.5", " 30 Hz", " swept sphere" and so on; empty for the default case.
    pub fn label(&self) -> String {
        let e = self.restitution.map_or(String::new(), |e| format!(" e={e}"));
        let rate = self.rate.map_or(String::new(), |r| format!(" {r} Hz"));
        let level = self.level.map_or(String::new(), |l| format!(" L={l}"));
        let region = if self.by_region { " by region" } else { "" };
        let drive = self.drive.map_or(String::new(), |d| format!(" by {}", d.name()));
        let swept = if self.swept_spheres { " swept sphere" } else { "" };
        let trial = self.trial.map_or(String::new(), |t| format!(" {}", t.name));
        let cells = self.cells.map_or(String::new(), |n| format!(" {n} cells"));
        let parts = self.parts.map_or(String::new(), |p| format!(" {}", p.name()));
        let threads = self.threads.map_or(String::new(), |n| format!(" {n} thread{}", if n == 1 { "" } else { "s" }));
        let edges = if self.edges { " edges" } else { "" };
        trial + &e + &rate + &level + region + &parts + &drive + swept + &cells + &threads + edges
    }

    /// Returns the unit with a manifold of its own, and the level, where 0 is the root.
    pub fn segments(&self) -> (Segments, u32) {
        match self.level {
            Some(level) => (Segments::Level, level - 1),
            None if self.by_region => (Segments::Region, 0),
            None => (Segments::None, 0),
        }
    }

    /// Returns the time step, seconds.
    pub fn dt(&self) -> f64 {
        1.0 / self.rate.unwrap_or(200.0)
    }
}

pub struct MethodEntry {
    pub method: Method,
    pub name: &'static str,
    pub title: &'static str,
    pub text: &'static str,
    /// Colour of its lines and names in the report.
    pub colour: Colour,
}

pub const METHODS: [MethodEntry; 9] = [
    MethodEntry {
        method: Method::Sphere,
        name: "sphere",
        title: "Bullet sphere",
        text: "btSphereShape, Bullet's own primitive; only for the ball",
        colour: palette::GREY,
    },
    MethodEntry {
        method: Method::Hull,
        name: "hull",
        title: "Hull, 42 vertices",
        text: "one convex hull, simplified by btShapeHull",
        colour: palette::SAND,
    },
    MethodEntry {
        method: Method::HullFull,
        name: "hull-full",
        title: "Hull, all vertices",
        text: "one exact convex hull",
        colour: palette::VIOLET,
    },
    MethodEntry {
        method: Method::Vhacd32,
        name: "vhacd32",
        title: "V-HACD, 32 hulls",
        text: "convex decomposition by parry3d's V-HACD into about 32 hulls of 64 vertices, a compound of btConvexHullShapes",
        colour: palette::ORANGE,
    },
    MethodEntry {
        method: Method::Hacd,
        name: "hacd",
        title: "HACD",
        text: "convex decomposition by the HACD of Bullet's extras, as in the 2014 paper",
        colour: palette::YELLOW,
    },
    MethodEntry {
        method: Method::Gimpact,
        name: "gimpact",
        title: "GImpact",
        text: "btGImpactMeshShape: triangles against triangles",
        colour: palette::RED,
    },
    MethodEntry {
        method: Method::Voxshell,
        name: "voxshell",
        title: "Voxshell, defaults",
        text: "a mesh as btVoxShellShape cooks it by default, samples one voxel apart",
        colour: palette::GREEN,
    },
    MethodEntry {
        method: Method::VoxshellCoarse,
        name: "voxshell-coarse",
        title: "Voxshell, coarse",
        text: "about 800 surface samples on a body of 1 m, a field of 64 cells along its largest extent",
        colour: palette::TEAL,
    },
    MethodEntry {
        method: Method::VoxshellFine,
        name: "voxshell-fine",
        title: "Voxshell, fine",
        text: "about 35,000 surface samples on a bunny of 1 m, a field of 256 cells along its largest extent",
        colour: palette::BLUE,
    },
];

/// Restitutions of the ball, one row each, as in Table 1 of the 2014 paper.
pub const RESTITUTIONS: [f64; 3] = [0.1, 0.5, 0.9];

/// Returns the segmentations of Table 2 of the 2014 paper by level, then contact regions, then none.
pub fn segmentations() -> Vec<Case> {
    let levels = (1..=5).map(|level| Case { level: Some(level), ..Case::default() });
    let region = Case { by_region: true, ..Case::default() };
    levels.chain([region, Case::default()]).collect()
}

impl SceneKind {
    pub fn entry(self) -> &'static SceneEntry {
        SCENES.iter().find(|e| e.kind == self).expect("every scene is in the catalogue")
    }

    /// Returns the cases of `method`, one row each.
    pub fn cases(self, method: Method) -> Vec<Case> {
        match self {
            scene if is_fast(scene) => fast_bodies::cases(scene, method),
            SceneKind::Ball => RESTITUTIONS.map(|e| Case { restitution: Some(e), ..Case::default() }).to_vec(),
            scene if scene.has_threads() => crate::nut_bolt::cases(scene),
            SceneKind::Levels if method.is_voxshell() => segmentations(),
            SceneKind::Degenerate => {
                let case = |trial| Case { rate: Some(degenerate::RATE), trial: Some(trial), ..Case::default() };
                degenerate::TRIALS.map(case).to_vec()
            }
            SceneKind::Flush => flush::cases(method),
            _ => vec![Case::default()],
        }
    }

    /// Returns the number of bodies that are poured, or of each tower.
    pub fn count(self) -> u32 {
        match self {
            SceneKind::Pile => 50,
            SceneKind::Pile500 => 500,
            SceneKind::Pile2000 => 2000,
            SceneKind::Stack | SceneKind::StackSpheres => 5,
            SceneKind::NutBolt100 => 100,
            SceneKind::NutBolt1000 => 1000,
            SceneKind::Levels => 10,
            _ => 1,
        }
    }

    pub fn is_pile(self) -> bool {
        matches!(self, SceneKind::Pile | SceneKind::Pile500 | SceneKind::Pile2000)
    }

    /// Returns true if the ground is the plane y = 0, against which penetration is measured.
    pub fn on_plane(self) -> bool {
        let fast = is_fast(self) && self != SceneKind::LowFrequency;
        let on_others = matches!(self, SceneKind::DropBox | SceneKind::Pair | SceneKind::Scaling);
        !on_others && !self.is_pile() && !self.has_threads() && !self.has_trials() && !fast
    }

    /// Returns true for scenes of so many bodies that only penetration is measured, not distance.
    pub fn many(self) -> bool {
        let fast = is_fast(self) && self != SceneKind::LowFrequency;
        self.is_pile()
            || self.is_stack()
            || self.has_threads()
            || self.has_trials()
            || self == SceneKind::Rolling
            || self == SceneKind::Levels
            || fast
    }

    pub fn has_threads(self) -> bool {
        matches!(self, SceneKind::NutBolt | SceneKind::NutBolt100 | SceneKind::NutBolt1000)
    }

    /// Returns true for scenes of several small arrangements, each with bodies of its own.
    pub fn has_trials(self) -> bool {
        matches!(self, SceneKind::Degenerate | SceneKind::Flush)
    }

    pub fn is_stack(self) -> bool {
        matches!(self, SceneKind::Stack | SceneKind::StackSpheres)
    }
}

impl Method {
    pub fn entry(self) -> &'static MethodEntry {
        METHODS.iter().find(|e| e.method == self).expect("every method is in the catalogue")
    }

    pub fn is_voxshell(self) -> bool {
        matches!(self, Method::Voxshell | Method::VoxshellCoarse | Method::VoxshellFine)
    }

    /// Returns 0 for the coarse and 1 for the fine method; `None` for the others.
    pub fn fineness_index(self) -> Option<usize> {
        match self {
            Method::VoxshellCoarse => Some(0),
            Method::VoxshellFine => Some(1),
            _ => None,
        }
    }

    /// Returns true if the method can play the scene: Bullet's sphere is only for balls, and only Voxshell's shapes
    /// have samples to scale.
    pub fn applies_to(self, scene: SceneKind) -> bool {
        if scene == SceneKind::Scaling {
            return self.is_voxshell();
        }
        self != Method::Sphere || matches!(scene, SceneKind::Ball | SceneKind::StackSpheres)
    }
}
