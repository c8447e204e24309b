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
//! | `setup` | makes both halves |
//! | `renderers` | the trait of the renderers, and one implementation of it per method |
//! | `impulses` | impulses on the tool, of all contacts together |
//! | `god_object`, `constraint`, `qp` | a tool that constraints keep outside, their force, and the program behind both |
//! | `shading`, `height_map` | surface effects: friction, shading, texture, height maps of the user |
//! | `coupling_spring` | the coupling spring to a god-object |
//! | `linearised` | linearised contacts, each or each cluster of which ends by itself |
//! | `loads` | wrenches of the tool on the bodies, for any thread |
//! | `triple_buffer`, `messages` | data exchange of the two halves, without waiting |
//! | `coupling` | the spring and damper between hand and simulated tool |
//! | `blend` | fading of replaced contacts, for a slow simulation |
//! | `obstacle_motion` | motion of obstacles between the calls of their owner |
//! | `slew_limit` | slope limit of a returning force |
//! | `passivity` | the energy at the port to the hand |
//! | `monitor` | jumps of the device, the workspace's scale, counts of faults |
//! | `runner` | both halves on threads of their own |

mod blend;
mod bodies;
pub mod constraint;
mod coupling;
mod coupling_spring;
pub mod god_object;
mod height_map;
mod impulses;
mod linearised;
mod loads;
mod messages;
mod monitor;
mod obstacle_motion;
mod passivity;
pub mod qp;
mod renderers;
mod runner;
mod servo;
mod settings;
mod setup;
mod shading;
mod simulation;
mod slew_limit;
mod triple_buffer;
mod types;

pub use bodies::{Feel, Forms, Obstacle, Tool, VOXMAP_MEMORY};
pub use coupling::{Coupling, Saturation};
pub use height_map::{Height, HeightMap};
pub use loads::Loads;
pub use monitor::{Monitor, JUMP_WINDOW};
pub use obstacle_motion::ObstacleMotion;
pub use passivity::Observer;
pub use runner::{Got, RunOptions, RunReport, Runner, PERIODS};
pub use servo::Servo;
pub use settings::{ContactSettings, ContactSource, Handle, Settings, Timing, MOST_CLUSTERS};
pub use setup::new;
pub use shading::{Surface, Texture};
pub use simulation::{Report, Simulation};
pub use types::*;
