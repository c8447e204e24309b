//! Rigid bodies in motion: state, symplectic and linearly implicit Euler, for one body or two linked ones.
//! Knows nothing of devices or files.
//!
//! | file | what |
//! | --- | --- |
//! | `body` | mass properties and the state of a body: x, q, P, L |
//! | `step` | one step of time |

mod body;
mod step;

pub use body::{Mass, RigidBody};
pub use step::{implicit_euler_of_two, Link};
