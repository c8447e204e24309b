//! The scene `flush`: machine parts and boxes with flat faces, at rest, sliding, rocking and rolling on a plane, and a
//! cube that lies flush on a block.

use std::f64::consts::FRAC_PI_2;
use std::path::PathBuf;

use voxshell::asset::{CookOptions, Resolution};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Result;

use crate::bodies::{Body, Measured};
use crate::bridge::{Method, Motion};
use crate::catalogue::Case;
use crate::prepared_body::cells_of;
use crate::solids;
use crate::trial::{Ground, Trial};

/// Steps of each trial; figures are over steps 200 to 600.
const STEPS: f64 = 600.0;

/// Bodies from mesh files, and their files.
const FROM_FILES: [(&str, &str); 2] = [("concave box", "concave_box_169.obj"), ("wing nut", "wingnut_3k.obj")];

/// Cells of the cube and its block with the coarse and the fine method.
const CUBE_CELLS: [u32; 2] = [128, 256];

const fn at_rest(name: &'static str, body: &'static str) -> Trial {
    Trial { name, body, ..Trial::AT_REST }
}

/// A body that falls from half a metre, as in the scene `drop-plane`.
const fn dropped(name: &'static str, body: &'static str) -> Trial {
    Trial { gap: 0.5, ..at_rest(name, body) }
}

const fn sliding(name: &'static str, body: &'static str) -> Trial {
    Trial { velocity: [1.0, 0.0, 0.0], friction: 0.0, ..at_rest(name, body) }
}

const fn rocking(name: &'static str, body: &'static str) -> Trial {
    Trial { motion: Motion::Rocking, ..at_rest(name, body) }
}

const fn rolling(name: &'static str, body: &'static str) -> Trial {
    Trial { motion: Motion::Rolling, ..at_rest(name, body) }
}

const TRIALS: [Trial; 14] = [
    dropped("concave box at rest", "concave box"),
    dropped("wing nut rocking", "wing nut"),
    at_rest("bracket at rest", "bracket"),
    sliding("bracket sliding", "bracket"),
    rocking("bracket rocking", "bracket"),
    rolling("bracket rolling", "bracket"),
    at_rest("plate at rest", "plate"),
    sliding("plate sliding", "plate"),
    rocking("plate rocking", "plate"),
    rolling("plate rolling", "plate"),
    at_rest("gear at rest", "gear"),
    sliding("gear sliding", "gear"),
    rocking("gear rocking", "gear"),
    // On its teeth: the axis along z.
    Trial { turn: [FRAC_PI_2, 0.0, 0.0], ..rolling("gear rolling", "gear") },
];

/// The cube on the frustum of the scene `degenerate`, without friction.
const ON_BLOCK: Trial = Trial {
    name: "cube on block",
    body: "cube",
    ground: Ground::Body("block", -1.0),
    position: [0.0, 0.05, 0.0],
    gap: 0.05,
    friction: 0.0,
    ..Trial::AT_REST
};

/// Returns the rows of a method.
pub fn cases(method: Method) -> Vec<Case> {
    let case = |trial: Trial, rate: f64, cells: [u32; 2]| Case {
        rate: Some(rate),
        trial: Some(Trial { seconds: STEPS / rate, ..trial }),
        cells: method.fineness_index().map(|i| cells[i]),
        ..Case::default()
    };
    let on_plane = TRIALS.iter().map(|&trial| case(trial, 200.0, cells_of()));
    on_plane.chain([200.0, 100.0].map(|rate| case(ON_BLOCK, rate, CUBE_CELLS))).collect()
}

/// Returns the bodies of all trials. Bodies whose mesh file is absent are left out.
pub fn bodies() -> Result<Vec<Body>> {
    let one_metre = |name, mesh: Result<TriMesh>| -> Result<Body> {
        Ok(Body { measured: Measured::Vertices, ..Body::new(name, mesh?.scaled_to_extent(1.0))? })
    };
    let cooking =
        CUBE_CELLS.map(|cells| CookOptions { resolution: Resolution::Cells(cells), ..CookOptions::default() });
    let boxed = |name, mesh: Result<TriMesh>| -> Result<Body> {
        Ok(Body { measured: Measured::Triangles, cooking: Some(cooking.clone()), ..Body::new(name, mesh?)? })
    };
    let mut bodies = vec![
        one_metre("bracket", solids::bracket())?,
        one_metre("plate", solids::plate())?,
        one_metre("gear", primitives::gear(16, 0.5, 0.39, 0.2, 0.15))?,
        boxed("cube", primitives::cuboid([0.5; 3]))?,
        boxed("block", solids::cliff())?,
    ];
    for (name, file) in FROM_FILES {
        let path = meshes().join(file);
        if path.is_file() {
            bodies.push(one_metre(name, voxshell::mesh::io::load(&path))?);
        }
    }
    Ok(bodies)
}

/// Returns the folder of the mesh files: `$VOXSHELL_MESHES`, or `shared/meshes` beside the checkout.
fn meshes() -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/meshes"));
    std::env::var_os("VOXSHELL_MESHES").map_or_else(beside, PathBuf::from)
}

/// Returns the reason why a body is not in the cast.
pub fn missing(name: &str) -> String {
    match FROM_FILES.iter().find(|f| f.0 == name) {
        Some((_, file)) => format!("{file} is not in ../shared/meshes, nor in the folder that VOXSHELL_MESHES names"),
        None => format!("the scene has no body called {name}"),
    }
}
