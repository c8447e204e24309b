//! Shapes that this project makes: the demo's bodies and the tests' shapes with known volumes. All are closed,
//! consistently wound and outward; sizes in metres; up, and the axis of round shapes, is y; each one documents its
//! centre.
//! Sines come from `libm`, so every platform makes the same bytes.

mod arguments;
mod basic;
mod blob;
mod extrude;
mod knot;
mod lathe;
mod primitive;
mod random;
mod thread;
mod tube;

pub use basic::{cuboid, sphere};
pub use blob::blob;
pub use extrude::{gear, hole};
pub use knot::torus_knot;
pub use lathe::{actuator, bowl, capsule, cone, cylinder, peg, torus};
pub use primitive::Primitive;
pub use thread::{bolt, nut, Thread};
pub use tube::{alpha, alpha_line, tube};
