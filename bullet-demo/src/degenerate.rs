//! The scene `degenerate`: the eight configurations of Erleben 2018 in which contact points and normals are not defined
//! by the surfaces alone. Poses, velocities and pushes are those of Ferguson et al. 2021 (rigid IPC), frictionless.

use std::f64::consts::PI;

use voxshell::mesh::primitives;
use voxshell::Result;

use crate::bodies::{Body, Measured};
use crate::solids;
use crate::trial::{Ending, Ground, Trial};

/// Steps per second.
pub const RATE: f64 = 100.0;

/// A body upside down above a fixed one, which it should fall off.
const IN_A_GROOVE: Trial = Trial {
    turn: [0.0, 0.0, PI],
    velocity: [1.0, 0.0, 0.0],
    friction: 0.0,
    expected: Some(Ending::Falls),
    ..Trial::AT_REST
};

/// A body upside down above the tip or edge of a fixed one. Its balance is unstable, so it may stand or fall.
const BALANCED: Trial = Trial {
    position: [0.0, 3.0001, 0.0],
    turn: [0.0, 0.0, PI],
    gap: 1e-4,
    friction: 0.0,
    seconds: 1.25,
    expected: Some(Ending::Either),
    ..Trial::AT_REST
};

const CUBE: Trial = Trial {
    body: "cube",
    position: [0.0, 0.05, 0.0],
    gap: 0.05,
    friction: 0.0,
    expected: Some(Ending::Stays),
    ..Trial::AT_REST
};

pub const TRIALS: [Trial; 8] = [
    Trial { name: "spike-on-spike", body: "spike", ground: Ground::Body("spike", -3.0), ..BALANCED },
    Trial { name: "spike-on-wedge", body: "spike", ground: Ground::Body("wedge", -3.0), ..BALANCED },
    Trial { name: "wedge-on-wedge", body: "wedge", ground: Ground::Body("wedge", -3.0), ..BALANCED },
    Trial {
        name: "spike-in-hole",
        body: "spike",
        ground: Ground::Body("hole", -1.0),
        position: [0.0, 2.0001, 0.0],
        gap: 1e-4,
        seconds: 2.0,
        ..IN_A_GROOVE
    },
    Trial {
        name: "spike-in-crack",
        body: "spike",
        ground: Ground::Body("crack", -1.0),
        position: [0.0, 2.0001, 0.0],
        gap: 1e-4,
        acceleration: [1.0, -10.0, 0.0],
        seconds: 2.0,
        ..IN_A_GROOVE
    },
    Trial {
        name: "wedge-in-crack",
        body: "wedge",
        ground: Ground::Body("crack", -1.0),
        position: [0.0, 2.001, 0.0],
        gap: 1e-3,
        // 10 N on a wedge of 3 kg.
        acceleration: [10.0 / 3.0, -10.0, 0.0],
        seconds: 3.0,
        ..IN_A_GROOVE
    },
    Trial { name: "cliff-edges", ground: Ground::Body("cliff", -1.0), seconds: 2.5, ..CUBE },
    Trial { name: "internal-edges", ground: Ground::Body("internal edges", -1.0), seconds: 5.0, ..CUBE },
];

/// Returns the bodies of all trials.
pub fn bodies() -> Result<Vec<Body>> {
    let body = |name: &str, mesh: Result<_>| {
        Ok(Body { measured: Measured::Triangles, ..Body::new(name, mesh?)?.with_samples() })
    };
    [
        body("spike", solids::spike()),
        body("wedge", solids::wedge()),
        body("hole", solids::hole()),
        body("crack", solids::crack()),
        body("cube", primitives::cuboid([0.5; 3])),
        body("cliff", solids::cliff()),
        body("internal edges", solids::internal_edges()),
    ]
    .into_iter()
    .collect()
}
