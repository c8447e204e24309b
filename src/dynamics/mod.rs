//! Floor 4: rigid bodies in motion. State, symplectic and linearly implicit Euler, and scenes of several bodies. Knows
//! nothing of devices or files.
//!
//! | file | what |
//! | --- | --- |
//! | `body` | mass properties and the state of a body: x, q, P, L |
//! | `step` | one step of time |
//! | `scene` | several bodies that push each other apart |
//! | `stability` | how large steps and stiffness may be: experiments |

mod body;
mod scene;
pub mod stability;
mod step;

pub use body::{Mass, RigidBody};
pub use scene::{Contacts, Integrator, Member, Scene, SceneReport, SceneSettings};
