//! Setup of the two halves of a haptic scene.

use super::bodies::{Obstacle, Tool};
use super::constraint::ConstraintModel;
use super::linearised::Linearised;
use super::messages::{Input, Snapshot};
use super::qp::MAX_ROWS;
use super::servo::Servo;
use super::settings::Settings;
use super::simulation::{Shared, Simulation};
use super::stops::Stops;
use super::triple_buffer::channel;
use super::types::Status;
use voxshell_base::math::{Pose, Twist};
use voxshell_base::memory::with_capacity;
use voxshell_base::Result;
use voxshell_response::Kinematics;

/// Makes the two halves of a haptic scene, each for a thread of its own; or one after the other on one thread. For the
/// renderers with springs at the contacts, the coupling is that of [`Settings::saturated`] for the smallest voxel of the
/// scene: [`Servo::settings`] has it.
///
/// # Errors
/// `InvalidArgument` for settings, a tool or an obstacle out of range; `Unsupported` when the tool and an obstacle lack the
/// forms that they need to meet.
pub fn new(settings: Settings, tool: Tool, obstacles: Vec<Obstacle>) -> Result<(Servo, Simulation)> {
    settings.check()?;
    tool.check()?;
    let (hand, twist) = (Pose::identity(), Twist::ZERO);
    let body = Kinematics { pose: hand, center: tool.center, twist };
    let input = Input { number: 0, generation: 0, clock: 0.0, hand, twist, body, live: false };
    let (inputs, taken) = channel(|| input);
    let method = settings.renderer.start(&settings, &tool)?;
    let voxel = method.smallest_voxel(&tool.forms, &obstacles);
    let settings = voxel.map_or(settings, |voxel| settings.saturated(&tool, voxel));
    // A generation that differs from the servo's: there are no results yet.
    let (snapshots, seen) = channel(|| Snapshot {
        number: 0,
        generation: u32::MAX,
        clock: 0.0,
        contacts: 0,
        touched: 0,
        is_free: true,
        status: Status::NORMAL,
        edits: 0,
        settings,
        contact: Linearised::none(body, obstacles.len()),
        stops: Stops::none(body),
        constraints: method
            .constraints()
            .map(|model| ConstraintModel { constraints: with_capacity(MAX_ROWS), ..model.clone() }),
    });
    let servo = Servo::new(settings, &tool, inputs, seen, method.fades_in(), obstacles.len())?;
    let simulated = tool.lightened(settings.reflected_mass);
    let shared = Shared { loads: servo.loads().clone(), monitor: servo.monitor().clone() };
    Ok((servo, Simulation::new(settings, simulated, obstacles, method, (taken, snapshots), shared)?))
}
