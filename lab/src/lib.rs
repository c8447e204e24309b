//! Code shared by the measurements and the experiments, public for their tests.
//!
//! | module | content |
//! | --- | --- |
//! | `scene` | several rigid bodies with penalty contacts |
//! | `stability` | largest stable steps and stiffnesses: experiments |
//! | `device` | a simulated haptic device in a simulated hand |
//! | `clock`, `row` | timing that is robust on a busy machine; rows of figures as JSON and as tables |
//! | `machine`, `rank_sum` | the state of the machine; whether two samples of times differ |
//! | `table`, `report` | tables; pages, plots and films, also those of the Bullet demo |

pub mod clock;
pub mod device;
pub mod machine;
pub mod rank_sum;
pub mod report;
pub mod row;
pub mod scene;
pub mod stability;
pub mod table;
