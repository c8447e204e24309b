//! Numbers of the messages between the two halves. A replay orders the calls of both by them, so that each call takes
//! the message that it took when both ran at the same time.

use super::Load;
use voxshell_base::memory::{with_capacity, GrowGuarded};

/// The messages that a call of one half took from the other and published to it. With the calls of the same half before
/// it, they determine the result of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Number of the call among those of its half, from 1.
    pub turn: u64,
    /// Number of the newest message of the other half, if the call looked for one; 0: there was none yet.
    pub taken: Option<u64>,
    /// Number of the message that the call published, from 1.
    pub published: Option<u64>,
}

impl Exchange {
    /// Begins the next call.
    pub(super) fn begin(&mut self) {
        *self = Self { turn: self.turn + 1, ..Self::default() };
    }
}

/// Numbers that a call of the simulation reads while steps may change them: the time of the servo and impulses on bodies.
/// A replay gives those of the recording.
#[derive(Debug)]
pub(super) struct Readings {
    values: Vec<f64>,
    /// Whether the next call gets `values`.
    is_given: bool,
    /// Place in `values` of the next one that the present call gets.
    next: Option<usize>,
}

impl Readings {
    /// Makes room for the readings of all bodies, so that rounds do not allocate.
    pub fn new(bodies: usize) -> Self {
        Self { values: with_capacity(6 * bodies + 1), is_given: false, next: None }
    }

    pub fn begin(&mut self) {
        self.next = std::mem::take(&mut self.is_given).then_some(0);
        if self.next.is_none() {
            self.values.clear();
        }
    }

    /// Sets the readings of the next call.
    pub fn give(&mut self, values: impl Iterator<Item = f64>) {
        self.values.clear();
        self.values.extend_guarded(values);
        self.is_given = true;
    }

    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the present value, or the given one.
    pub fn number(&mut self, present: f64) -> f64 {
        let Some(at) = &mut self.next else {
            self.values.push_guarded(present);
            return present;
        };
        *at += 1;
        self.values.get(*at - 1).copied().unwrap_or(present)
    }

    /// Returns a load with the present impulse, or the given one.
    pub fn impulse(&mut self, mut present: Load) -> Load {
        let impulse = &mut present.impulse;
        impulse.force.iter_mut().chain(impulse.torque.iter_mut()).for_each(|x| *x = self.number(*x));
        present
    }
}
