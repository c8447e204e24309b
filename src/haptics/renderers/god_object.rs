//! A god-object that follows the hand: see [`GodObject`].

use super::method::{Effect, RenderingMethod, Round};
use crate::constraint::ConstraintModel;
use crate::god_object::{GodObject, GodSettings, Metric, Waypoint};
use crate::{HeightMap, Obstacle, Settings, Tool};
use voxshell_base::math::{limits, Mat3, Pose};
use voxshell_base::Result;

/// Tools smaller than this count as points, metres.
const POINT: f64 = 1e-3;

pub(super) struct GodObjectRenderer {
    god: GodObject,
    /// The tool with its own mass and inertia.
    tool: Tool,
}

/// Returns the factor k_s k_h with which k_s k_h M is as stiff as the coupling against translation, and no stiffer than
/// it about any axis, 1/s².
fn mass_stiffness(settings: &Settings, tool: &Tool) -> f64 {
    let [linear, angular] = settings.coupling.stiffness;
    let largest = tool.inertia.symmetric_eigenvalues().max();
    (linear / tool.mass).min(angular / largest)
}

/// Returns a tool with M = K / `share`, with K the stiffness of the coupling: its quasi-static motion along constraints
/// has the least energy of the springs.
fn as_stiff(settings: &Settings, tool: &Tool, share: f64) -> Tool {
    let [linear, angular] =
        settings.coupling.stiffness.map(|k| (k / share).clamp(limits::MIN_QUANTITY, limits::MAX_QUANTITY));
    Tool { mass: linear, inertia: Mat3::from_diagonal_element(angular), ..tool.clone() }
}

/// Returns the tool with the mass matrix of the metric, and the settings of its motion.
fn god_settings(settings: &Settings, tool: &Tool) -> (Tool, GodSettings) {
    // A point has no size to which a skin could be relative.
    let size = tool.forms.shell.as_ref().map_or(0.0, |shell| shell.bounds().extents().norm());
    let skin = (size < POINT).then_some(2e-5 * POINT);
    let Settings { detection, budget, surface, .. } = *settings;
    let god = GodSettings { skin, detection, budget, surface, ..GodSettings::default() };
    match settings.metric {
        Metric::Mass => {
            let stiffness = mass_stiffness(settings, tool) / god.coupling;
            (tool.clone(), GodSettings { stiffness, ..god })
        }
        Metric::Stiffness => (as_stiff(settings, tool, god.coupling * god.stiffness), god),
    }
}

impl RenderingMethod for GodObjectRenderer {
    fn new(settings: &Settings, tool: &Tool) -> Result<Self> {
        let (metric, god) = god_settings(settings, tool);
        Ok(Self { god: GodObject::new(metric, &Pose::identity(), god)?, tool: tool.clone() })
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

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        let (metric, god) = god_settings(settings, &self.tool);
        self.god.set_settings(metric.mass, metric.inertia, god)
    }

    fn set_height_map(&mut self, height_map: Option<HeightMap>) {
        self.god.set_height_map(height_map);
    }
}
