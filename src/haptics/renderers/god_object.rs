//! A god-object that follows the hand: see [`GodObject`].

use super::method::{Effect, RenderingMethod, Round};
use crate::haptics::constraint::ConstraintModel;
use crate::haptics::god_object::{GodObject, GodSettings, Waypoint};
use crate::haptics::{HeightMap, Obstacle, Settings, Tool};
use crate::math::{limits, Mat3, Pose};
use crate::Result;

/// Tools smaller than this count as points, metres.
const POINT: f64 = 1e-3;

pub(super) struct GodObjectRenderer {
    god: GodObject,
}

impl RenderingMethod for GodObjectRenderer {
    /// Makes a god-object whose force is as stiff as the coupling: of a tool with M = K / (k_s k_h), so that its
    /// quasi-static motion along constraints minimises the energy of the springs.
    fn new(settings: &Settings, tool: &Tool) -> Result<Self> {
        // A point has no size to which a skin could be relative.
        let size = tool.forms.shell.as_ref().map_or(0.0, |shell| shell.bounds().extents().norm());
        let skin = (size < POINT).then_some(2e-5 * POINT);
        let Settings { detection, budget, surface, .. } = *settings;
        let god = GodSettings { skin, detection, budget, surface, ..GodSettings::default() };
        let share = god.coupling * god.stiffness;
        let [linear, angular] =
            settings.coupling.stiffness.map(|k| (k / share).clamp(limits::MIN_QUANTITY, limits::MAX_QUANTITY));
        let as_stiff = Tool { mass: linear, inertia: Mat3::from_diagonal_element(angular), ..tool.clone() };
        Ok(Self { god: GodObject::new(as_stiff, &Pose::identity(), god)? })
    }

    fn begin(&mut self, round: &Round) {
        if round.is_first {
            self.god.reset(&round.input.hand);
        }
    }

    /// Moves the god-object toward the hand, among all obstacles.
    fn end(&mut self, round: &Round, obstacles: &[Obstacle], effect: &mut Effect) -> Result<()> {
        let advance = self.god.advance(&round.input.hand, obstacles)?;
        effect.contacts = advance.constraints;
        effect.least_separation = if advance.constraints > 0 { advance.clearance } else { f64::INFINITY };
        effect.wrench = advance.wrench;
        effect.status |= advance.status;
        Ok(())
    }

    fn constraints(&self) -> Option<&ConstraintModel> {
        Some(self.god.model())
    }

    fn path(&self) -> &[Waypoint] {
        self.god.path()
    }

    fn set_height_map(&mut self, height_map: Option<HeightMap>) {
        self.god.set_height_map(height_map);
    }
}
