//! Changes of the scene while the soak uses it.

use voxshell::haptics::{Feel, Forms, Obstacle, Settings, Simulation};
use voxshell::math::{Pose, Vec3};
use voxshell::Result;

use super::{forms, WANDER};
use crate::bench::random::Random;

/// Mean time between changes, seconds.
const MEAN: f64 = 2.0;
/// Least factor on the stiffness of a body.
const SOFTEST: f64 = 0.1;

/// Bodies that come, go and change places, and settings that change.
pub struct Edits {
    random: Random,
    bodies: Vec<Forms>,
    settings: Option<Settings>,
    /// Factors on the stiffness of the bodies, by place.
    stiffness: Vec<f64>,
    next: f64,
}

impl Edits {
    /// Returns those of a session: one in three has changes. Their numbers are their own, so that the others stay as
    /// they are.
    pub fn of_session(session: usize, seed: u64) -> Option<Self> {
        let random = Random::new(!seed.wrapping_mul(1 << 20).wrapping_add(session as u64));
        (session % 3 == 2).then(|| Self {
            random,
            bodies: Vec::new(),
            settings: None,
            stiffness: Vec::new(),
            next: MEAN,
        })
    }

    /// Makes one more body, and an empty place for it.
    ///
    /// # Errors
    /// Those of cooking.
    pub fn prepare(&mut self, scale: f64, obstacles: &mut Vec<Obstacle>) -> Result<()> {
        self.bodies.extend(obstacles.iter().map(|obstacle| obstacle.forms.clone()));
        self.bodies.push(forms(scale, &mut self.random)?);
        obstacles.push(Obstacle::empty());
        self.stiffness = vec![1.0; obstacles.len()];
        Ok(())
    }

    /// Returns whether it is time for the next change.
    pub fn are_due(&self, time: f64) -> bool {
        time >= self.next
    }

    /// Returns the least factor on the stiffness of a body.
    pub fn softest(&self) -> f64 {
        self.stiffness.iter().copied().fold(1.0, f64::min)
    }

    /// Makes a change. `home` is the place of the second obstacle at rest.
    ///
    /// # Errors
    /// Those of the simulation.
    pub fn apply(&mut self, simulation: &mut Simulation, scale: f64, home: &mut Pose) -> Result<()> {
        let random = &mut self.random;
        self.next += 2.0 * MEAN * random.next();
        let place = random.below(simulation.obstacles() as u32) as usize;
        match random.below(6) {
            0 => {
                let feel = feel(random);
                self.stiffness[place] = feel.stiffness;
                simulation.set_feel(place, feel)
            }
            1 => {
                let first = self.settings.get_or_insert(*simulation.settings());
                let mut settings = *first;
                let part = 0.3 + 0.7 * random.next();
                settings.coupling.stiffness = first.coupling.stiffness.map(|k| part * k);
                settings.contact.stiffness *= 0.3 + 0.7 * random.next();
                simulation.set_settings(&settings)
            }
            2 => {
                self.stiffness[place] = 1.0;
                simulation.set_obstacle(place, Obstacle::empty())
            }
            _ => {
                let body = random.below(self.bodies.len() as u32) as usize;
                let at = [(); 3].map(|()| WANDER[0] * (2.0 * random.next() - 1.0));
                let pose = Pose::from_parts((Vec3::from(at) * scale).into(), random.rotation());
                let mut obstacle = Obstacle::fixed(self.bodies[body].clone(), pose);
                obstacle.feel = feel(random);
                self.stiffness[place] = obstacle.feel.stiffness;
                if place == 1 {
                    *home = pose;
                }
                simulation.set_obstacle(place, obstacle)
            }
        }
    }
}

/// Returns a random feel, from the least to the whole stiffness.
fn feel(random: &mut Random) -> Feel {
    let friction = if random.below(2) == 0 { None } else { Some(random.next()) };
    Feel { stiffness: SOFTEST.powf(random.next()), friction }
}
