//! Reports of `voxshell-lab haptics-demo` and `bullet-demo`: self-contained HTML pages, line plots and films.
//!
//! | module | content |
//! | --- | --- |
//! | `page` | the document around a body, figures, tables, the style |
//! | `palette` | colours of the light and the dark theme |
//! | `plot` | line plots as SVG |
//! | `film` | pictures as an animated PNG |

mod film;
pub mod page;
pub mod palette;
mod plot;

pub use film::animated_png;
pub use plot::{Curve, Plot};
