//! Code shared by the measurements and the experiments, public for their tests.
//!
//! | module | what |
//! | --- | --- |
//! | `scene` | several rigid bodies that push each other apart |
//! | `stability` | how large steps and stiffness may be: experiments |
//! | `device` | a simulated haptic device in a simulated hand |
//! | `clock`, `row` | time that means something on a busy machine; rows of figures as JSON and as tables |

pub mod clock;
pub mod device;
pub mod row;
pub mod scene;
pub mod stability;
