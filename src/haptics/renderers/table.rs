//! From [`Renderer`] to its implementation.

use super::continuous::ContinuousPenalty;
use super::god_object::GodObjectRenderer;
use super::impulse::Impulse;
use super::method::RenderingMethod;
use super::penalty::Penalty;
use super::vps::Vps;
use crate::{Renderer, Settings, Tool};
use voxshell_base::Result;

/// Makes every function that depends on the renderer from one table. The order is that of the `VXS_RENDERER_`
/// constants of the C API.
macro_rules! renderers {
    ($($renderer:ident: $method:ty;)*) => {
        impl Renderer {
            /// All renderers, in the order of their numbers in the C API.
            pub const ALL: &'static [Self] = &[$(Self::$renderer),*];

            /// Returns whether obstacles need a voxmap ([`Forms::with_voxmap`](crate::Forms::with_voxmap)).
            pub fn uses_voxmap(self) -> bool {
                match self {
                    $(Self::$renderer => <$method>::uses_voxmap(),)*
                }
            }

            /// Returns whether the edges of bodies with an exact surface ([`Forms::surface`](crate::Forms::surface))
            /// are tested.
            pub fn uses_surface(self) -> bool {
                match self {
                    $(Self::$renderer => <$method>::uses_surface(),)*
                }
            }

            /// Makes the implementation.
            ///
            /// # Errors
            /// As [`RenderingMethod::new`].
            pub(crate) fn start(self, settings: &Settings, tool: &Tool) -> Result<Box<dyn RenderingMethod>> {
                Ok(match self {
                    $(Self::$renderer => Box::new(<$method>::new(settings, tool)?),)*
                })
            }
        }
    };
}

renderers! {
    Vps: Vps;
    Penalty: Penalty;
    ContinuousPenalty: ContinuousPenalty;
    GodObject: GodObjectRenderer;
    Impulse: Impulse;
}
