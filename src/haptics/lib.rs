//! 6-DoF haptics: a tool that a person holds by a device, among bodies that it touches.
//!
//! Two halves share no lock: the servo answers the device at 1 kHz, the simulation finds contacts as fast as it can.
//! Knows contacts, responses and dynamics; nothing of a vendor's device, of files or of the C ABI.
//!
//! A device that pushes a ball against a block feels it:
//!
//! ```
//! use voxshell::asset::{CookOptions, Resolution, Shape};
//! use voxshell::haptics::{self, DeviceState, Forms, Limits, Obstacle, Renderer, Settings, Tool};
//! use voxshell::math::{Pose, Progress, Twist, Vec3};
//! use voxshell::mesh::primitives;
//!
//! # fn main() -> voxshell::Result<()> {
//! let options = CookOptions { resolution: Resolution::Cells(32), ..CookOptions::default() };
//! let cook = |mesh| Shape::cook(&mesh, &options, &Progress::none());
//! let forms = |shape: &Shape| Forms { field: shape.field.clone(), shell: shape.shell.clone(), ..Forms::default() };
//! let (ball, block) = (cook(primitives::sphere(0.01, 3)?)?, cook(primitives::cuboid([0.05; 3])?)?);
//! let tool = Tool::of_mass(forms(&ball), &ball.mass.expect("a ball has a volume"), 0.1)?;
//! let limits = Limits { force: 12.0, torque: 0.5, stiffness: [2000.0, 20.0], damping: [20.0, 0.2] };
//! let settings = Settings::for_tool(Renderer::GodObject, &tool, &limits)?;
//! let obstacle = Obstacle::fixed(forms(&block), Pose::identity());
//! let (mut servo, mut simulation) = haptics::new(settings, tool, vec![obstacle])?;
//! let mut force = 0.0;
//! for step in 0..1000 {
//!     // The block's face is at 0.05 m: down to 5 mm below where the ball touches it.
//!     let height = 0.07 - 0.015 * f64::from(step) / 1000.0;
//!     let pose = Pose::new(Vec3::new(0.0, height, 0.0), Vec3::zeros());
//!     let output = servo.step(&DeviceState { pose, twist: Twist::ZERO, engaged: true }, 1e-3);
//!     simulation.simulate(); // as a rule on a thread of its own
//!     force = output.wrench.force.y;
//! }
//! assert!(force > 1.0 && servo.tool_pose().translation.y > 0.0595);
//! # Ok(())
//! # }
//! ```
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
//! | `stops` | the contacts of impulses, each of which ends by itself |
//! | `linearised` | linearised contacts, each or each cluster of which ends by itself |
//! | `loads` | wrenches of the tool on the bodies, for any thread |
//! | `triple_buffer`, `messages` | data exchange of the two halves, without waiting |
//! | `exchange` | numbers of the messages that a call took and published, for replays |
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
mod exchange;
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
mod stops;
mod triple_buffer;
mod types;

pub use bodies::{Feel, Forms, Obstacle, Tool, VOXMAP_MEMORY};
pub use coupling::{Coupling, Saturation};
pub use exchange::Exchange;
pub use height_map::{Height, HeightMap};
pub use loads::Loads;
pub use monitor::{Monitor, JUMP_WINDOW};
pub use obstacle_motion::ObstacleMotion;
pub use passivity::Observer;
pub use runner::{Calls, Got, NotStarted, RunOptions, RunReport, Runner, PERIODS};
pub use servo::Servo;
pub use settings::{ContactSettings, ContactSource, Handle, Settings, Timing, MOST_CLUSTERS};
pub use setup::new;
pub use shading::{Surface, Texture};
pub use simulation::{Report, Simulation};
pub use types::*;
