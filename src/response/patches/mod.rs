//! Contact patches: regions of contact with pressure, area, wrench and outline.
//!
//! Elandt, Drumwright, Sherman & Ruina 2019, "A pressure field model for fast, robust approximation of net contact force and
//! moment between nominally rigid objects"; Masterjohn, Guoy, Shepherd & Castro 2022, "Velocity level approximation of pressure
//! field contact patches". Each body has a pressure that grows with depth; the contact surface is where both pressures are equal.
//! Here the pressure is a function of the signed distance, p = k (−φ)ᵐ, with a stiffness k for each body and one exponent m. With
//! s = k^(1/m) the surface is { sᴬ φᴬ = sᴮ φᴮ }, and the pressure on it is p = (s (−φᴬ − φᴮ))ᵐ with 1/s = 1/sᴬ + 1/sᴮ: near the
//! surface the overlap −φᴬ − φᴮ does not change along the normal, so that the error of its place has little effect.
//!
//! | file | content |
//! | --- | --- |
//! | `types` | pressure laws, patches |
//! | `query` | the query, and the integrals over the contact surface |
//! | `cells` | cells of a grid in the world that the contact surface may pass |
//! | `surface` | polygons of the contact surface, cut where the overlap ends |
//! | `regions` | connected cells; outlines |

mod cells;
mod query;
mod regions;
mod surface;
mod types;

pub use query::{patches, PatchWorkspace};
pub use types::{Patch, PatchCell, PatchSettings};
