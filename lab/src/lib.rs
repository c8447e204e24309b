//! Code shared by the measurements and the experiments, public for their tests.
//!
//! | module | content |
//! | --- | --- |
//! | `scene` | several rigid bodies with penalty contacts |
//! | `stability` | largest stable steps and stiffnesses: experiments |
//! | `device` | a simulated haptic device in a simulated hand |
//! | `machine`, `rank_sum` | the state of the machine; whether two samples of times differ |
//! | `clock`, `row`, `table`, `report` | those of the crate `voxshell-report`, which the Bullet demo uses too |

pub mod device;
pub mod machine;
pub mod rank_sum;
pub mod scene;
pub mod stability;

pub use voxshell_report::{clock, report, row, table};
