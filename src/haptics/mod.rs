//! 6-DoF haptics: a tool that a person holds by a device, among bodies that it touches.
//!
//! Two halves share no lock: the servo answers the device at 1 kHz, the simulation finds contacts as fast as it can.
//! Knows contacts, responses and dynamics; nothing of a vendor's device, of files or of the C ABI.
//!
//! | file | what |
//! | --- | --- |
//! | `types`, `bodies`, `settings` | inputs and outputs |
//! | `servo` | the fast half: a simulated tool between the hand and linearised contacts |
//! | `simulation` | the slow half: contacts and their effects |
//! | `renderers` | effect of contacts on the tool, for each of the penalty methods |
//! | `impulses` | impulses on the tool, of all contacts together |
//! | `god_object`, `constraint`, `qp` | a tool that constraints keep outside, their force, and the program behind both |
//! | `shading`, `height_map` | surface effects: friction, shading, texture, height maps of the user |
//! | `coupling_spring` | the coupling spring to a god-object |
//! | `triple_buffer`, `messages` | data exchange of the two halves, without waiting |
//! | `coupling` | the spring and damper between hand and simulated tool |
//! | `slew_limit` | slope limit of a returning force |
//! | `passivity` | the energy at the port to the hand |
//! | `runner` | both halves on threads of their own |

mod bodies;
pub mod constraint;
mod coupling;
mod coupling_spring;
pub mod god_object;
mod height_map;
mod impulses;
mod messages;
mod passivity;
pub mod qp;
mod renderers;
mod runner;
mod servo;
mod settings;
mod shading;
mod simulation;
mod slew_limit;
mod triple_buffer;
mod types;

pub use bodies::{Forms, Obstacle, Tool, VOXMAP_MEMORY};
pub use coupling::{Coupling, Saturation};
pub use height_map::{Height, HeightMap};
pub use passivity::Observer;
pub use runner::{Got, RunOptions, RunReport, Runner, PERIODS};
pub use servo::Servo;
pub use settings::{ContactSettings, Handle, Settings, Timing};
pub use shading::{Surface, Texture};
pub use simulation::{Report, Simulation};
pub use types::*;

use constraint::ConstraintModel;

use crate::dynamics::Mass;
use crate::math::{Pose, Twist};
use crate::response::Kinematics;
use crate::Result;

/// Makes the two halves of a haptic scene, each for a thread of its own; or one after the other on one thread.
///
/// # Errors
/// `InvalidArgument` for settings, a tool or an obstacle out of range; `Unsupported` when the tool and an obstacle lack the
/// forms that they need to meet.
pub fn new(settings: Settings, tool: Tool, obstacles: Vec<Obstacle>) -> Result<(Servo, Simulation)> {
    settings.check()?;
    tool.check()?;
    let mass = Mass::new(tool.mass, tool.center, tool.inertia)?;
    let (hand, twist) = (Pose::identity(), Twist::ZERO);
    let body = Kinematics { pose: hand, center: tool.center, twist };
    let input = messages::Input { generation: 0, clock: 0.0, hand, twist, body, live: false };
    let (inputs, taken) = triple_buffer::channel(|| input);
    let god = match settings.renderer {
        Renderer::GodObject => Some(simulation::god_object(&settings, &tool)?),
        _ => None,
    };
    // A generation that differs from the servo's: there are no results yet.
    let (snapshots, seen) = triple_buffer::channel(|| messages::Snapshot {
        generation: u32::MAX,
        clock: 0.0,
        contacts: 0,
        status: Status::NORMAL,
        contact: messages::Linearised::none(body),
        constraints: god
            .as_ref()
            .map(|god| ConstraintModel { constraints: Vec::with_capacity(qp::MAX_ROWS), ..god.model().clone() }),
    });
    let simulation = Simulation::new(settings, tool, obstacles, god, taken, snapshots)?;
    Ok((Servo::new(settings, mass, inputs, seen)?, simulation))
}
