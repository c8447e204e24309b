//! Signed distance fields: cooking, sign, error, limits.

mod analytic;
mod bricks;
mod bricks_bytes;
mod bricks_cook;
mod certified;
mod cook;
mod dense;
mod error;
mod exact;
mod limits;
mod mass;
mod mesh;
mod offset;
mod open;
mod sign;
mod sphere_hull;
