//! Haptic renderers: the methods of turning contacts into forces.
//!
//! | file | what |
//! | --- | --- |
//! | `method` | the trait of all renderers, the input and the result of a round |
//! | `table` | from [`Renderer`](super::Renderer) to its implementation |
//! | `penalty`, `continuous`, `vps` | springs at contacts, over intervals of contact, and in a voxmap |
//! | `impulse`, `god_object` | impulses on the tool; constraints that keep it outside |

mod continuous;
mod god_object;
mod impulse;
mod method;
mod penalty;
mod table;
mod vps;

pub(super) use method::{Effect, RenderingMethod, Round};
