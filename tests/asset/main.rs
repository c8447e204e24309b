//! Cooked shapes, their files and the layout of the files.

mod cook;
mod file;
mod format;
mod materials;
mod scaled;
mod voxelmaps;
