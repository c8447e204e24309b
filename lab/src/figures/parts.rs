//! The measurements behind the figures of the pages.

/// Program of a command.
#[derive(Clone, Copy, PartialEq)]
pub enum Program {
    /// This program.
    Lab,
    /// `bullet-demo/run`, which builds what it needs.
    Demo,
}

/// A command that prints one JSON object per row with `--json`.
pub struct Command {
    pub program: Program,
    pub arguments: &'static str,
    /// Start of the names of its rows, for parts in which two commands print the same names.
    pub prefix: &'static str,
}

impl Command {
    /// Returns the command as a user types it.
    pub fn shown(&self) -> String {
        let program = match self.program {
            Program::Lab => "voxshell-lab",
            Program::Demo => "bullet-demo/run",
        };
        format!("{program} {}", self.arguments)
    }
}

pub struct Part {
    pub name: &'static str,
    /// Short description of the measurement.
    pub text: &'static str,
    /// Seconds that it took on two cores, for --list before the first run.
    pub seconds: f64,
    pub commands: &'static [Command],
    /// Folders and files whose change makes the figures out of date.
    pub sources: &'static [&'static str],
}

const fn lab(arguments: &'static str) -> Command {
    Command { program: Program::Lab, arguments, prefix: "" }
}

const fn demo(arguments: &'static str) -> Command {
    Command { program: Program::Demo, arguments, prefix: "" }
}

const COOKING: &[&str] = &["src/base", "src/mesh", "src/field", "src/pointshell", "src/cook"];
const QUERIES: &[&str] = &["src/base", "src/mesh", "src/field", "src/pointshell", "src/contact"];
const PAIRS: &[&str] = &["src/base", "src/mesh", "src/field", "src/pointshell", "src/cook", "src/contact", "src/asset"];
const MOTIONS: &[&str] = &["src/base", "src/mesh", "src/field", "src/pointshell", "src/ccd"];
const FORMS: &[&str] =
    &["src/base", "src/mesh", "src/field", "src/pointshell", "src/contact", "src/voxmap", "src/voxtree"];
const HAPTICS: &[&str] = &[
    "src/base",
    "src/mesh",
    "src/field",
    "src/pointshell",
    "src/contact",
    "src/ccd",
    "src/response",
    "src/dynamics",
    "src/haptics",
];
const BULLET: &[&str] = &[
    "src/base",
    "src/mesh",
    "src/field",
    "src/pointshell",
    "src/cook",
    "src/contact",
    "src/ccd",
    "cpp/bullet",
    "bullet-demo/scenes",
    "bullet-demo/src",
];

pub const PARTS: [Part; 21] = [
    Part {
        name: "resting",
        text: "a body on a plane, on a box and on a copy of itself in Bullet",
        seconds: 60.0,
        commands: &[demo(
            "--scene drop-plane --scene drop-box --scene pair --method hull --method vhacd32 --method gimpact \
             --method voxshell --patience 3",
        )],
        sources: BULLET,
    },
    Part {
        name: "pile",
        text: "twelve bodies poured into a bowl in Bullet",
        seconds: 40.0,
        commands: &[demo(
            "--scene pile --count 12 --steps 2000 --method hull --method vhacd32 --method gimpact --method voxshell \
             --patience 10",
        )],
        sources: BULLET,
    },
    Part {
        name: "stacks",
        text: "towers of gears and cups, and of balls, in Bullet",
        seconds: 30.0,
        commands: &[demo(
            "--scene stack --scene stack-spheres --method sphere --method hull --method vhacd32 --method voxshell \
             --patience 5",
        )],
        sources: BULLET,
    },
    Part {
        name: "rolling",
        text: "four bodies that slide, roll and tumble in Bullet",
        seconds: 40.0,
        commands: &[demo(
            "--scene rolling --method hull --method vhacd32 --method gimpact --method voxshell \
             --patience 3",
        )],
        sources: BULLET,
    },
    Part {
        name: "fast",
        text: "bodies that fly at wires and at a thin plate, and fans, in Bullet",
        seconds: 30.0,
        commands: &[demo(
            "--scene wires --scene fast-drop --scene fan --method hull --method vhacd32 --method voxshell \
             --patience 3",
        )],
        sources: BULLET,
    },
    Part {
        name: "rates",
        text: "drops on a plane at 200 to 10 steps per second, and a bouncing ball, in Bullet",
        seconds: 20.0,
        commands: &[
            demo("--scene low-frequency --method hull --method vhacd32 --method voxshell --patience 3"),
            demo("--scene ball --method sphere --method voxshell"),
        ],
        sources: BULLET,
    },
    Part {
        name: "levels",
        text: "one contact for each segment of a level of the sphere tree, in Bullet",
        seconds: 30.0,
        commands: &[demo("--scene levels --method voxshell-coarse --method voxshell-fine")],
        sources: BULLET,
    },
    Part {
        name: "flat",
        text: "parts with flat faces that rest, slide, rock and roll in Bullet",
        seconds: 60.0,
        commands: &[demo(
            "--scene flush --method hull --method vhacd32 --method gimpact --method voxshell \
             --patience 3",
        )],
        sources: BULLET,
    },
    Part {
        name: "sharp",
        text: "tips, edges and grooves in Bullet",
        seconds: 30.0,
        commands: &[demo(
            "--scene degenerate --method hull --method vhacd32 --method gimpact --method voxshell \
             --patience 3",
        )],
        sources: BULLET,
    },
    Part {
        name: "nuts",
        text: "an M16 nut that comes down its bolt in Bullet, by its weight and by a driver",
        seconds: 60.0,
        commands: &[demo(
            "--scene nut-bolt --method hull --method vhacd32 --method gimpact --method voxshell-coarse \
             --method voxshell-fine --patience 5",
        )],
        sources: BULLET,
    },
    Part {
        name: "fields",
        text: "cooking, error, sampling, memory and loading of fields, beside parry3d and OpenVDB",
        seconds: 60.0,
        commands: &[lab("bench fields --mesh blob --resolutions 64,128,256 --seconds 0.5")],
        sources: COOKING,
    },
    Part {
        name: "segments",
        text: "random segments against a field, beside rays of parry3d, embree and OpenVDB",
        seconds: 30.0,
        commands: &[lab("bench segments --mesh blob --resolutions 128,256 --segments 200000 --seconds 0.5")],
        sources: MOTIONS,
    },
    Part {
        name: "contact",
        text: "contact queries of touching bodies without an engine",
        seconds: 60.0,
        commands: &[lab("bench contact --mesh blob")],
        sources: QUERIES,
    },
    Part {
        name: "edges",
        text: "penetrations that samples miss, and the time of queries with edges",
        seconds: 20.0,
        commands: &[lab("bench edges --mesh gear --dense torus-knot")],
        sources: QUERIES,
    },
    Part {
        name: "pair",
        text: "contact pairs from step to step beside the stateless query: times, and contacts that are wrong",
        seconds: 180.0,
        commands: &[lab("bench pair")],
        sources: PAIRS,
    },
    Part {
        name: "calls",
        text: "cooking and batches of pairs through the C API",
        seconds: 40.0,
        commands: &[lab("bench calls --mesh blob --seconds 0.5")],
        sources: &["src/mesh", "src/field", "src/pointshell", "src/cook", "src/contact", "src/capi"],
    },
    Part {
        name: "ccd",
        text: "motions of bodies, haptic steps in contact and screw motions",
        seconds: 40.0,
        commands: &[lab("bench ccd --mesh blob --pairs 50 --samples 50000")],
        sources: MOTIONS,
    },
    Part {
        name: "qp",
        text: "quadratic programs of constrained motions, beside DAQP and eiquadprog",
        seconds: 20.0,
        commands: &[lab("bench qp --seconds 0.5")],
        sources: HAPTICS,
    },
    Part {
        name: "haptics",
        text: "servo steps, constraint forces, simulation rounds, pushes, stability and faults of the haptic loop",
        seconds: 90.0,
        commands: &[lab(
            "bench haptics --steps 20000 --pushes 2000 --parts steps,constraint,simulation,pushes,stability,faults",
        )],
        sources: HAPTICS,
    },
    Part {
        name: "haptic-scenes",
        text: "a scripted hand in the scenes of Xu & Barbič with each renderer",
        seconds: 60.0,
        commands: &[lab("haptics-demo --scene alpha,horse-dragon,peg,tight-peg,wires,cylinders,free")],
        sources: HAPTICS,
    },
    Part {
        name: "forms",
        text: "the same pairs by pointshell in field, by sphere trees and by hulls",
        seconds: 30.0,
        commands: &[lab("papers --only forms")],
        sources: FORMS,
    },
];
