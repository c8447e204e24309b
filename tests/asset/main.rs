//! Cooked shapes, their files and versions.

mod cook;
mod file;
mod scaled;
mod versions;
