//! The loads of the tool on the bodies: wrenches of each step, and their sums over time, which any thread may read.
//!
//! A simulation of the bodies takes the difference of two sums as the impulse of the time between. So it loses no step
//! and counts none twice, at whatever rates the two run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::linearised::Place;
use super::types::Load;
use voxshell_base::math::{Vec3, Vec6, Wrench};
use voxshell_base::memory::{boxed, filled, filled_with, with_capacity, GrowGuarded};

/// Wrenches on bodies, about their origins. Only bodies that have one are visited; nothing is allocated after the start.
#[derive(Debug)]
pub(super) struct PerBody {
    wrenches: Vec<(Place, Wrench)>,
    is_listed: Vec<bool>,
    listed: Vec<u32>,
}

impl PerBody {
    pub fn new(bodies: usize) -> Self {
        let none = (Place::default(), Wrench::ZERO);
        Self { wrenches: filled(none, bodies), is_listed: filled(false, bodies), listed: with_capacity(bodies) }
    }

    pub fn clear(&mut self) {
        for body in self.listed.drain(..) {
            self.is_listed[body as usize] = false;
        }
    }

    /// Adds a wrench on the body of a place, about the body's origin.
    pub fn add(&mut self, place: &Place, wrench: &Wrench) {
        let k = place.body as usize;
        let Some(known) = self.is_listed.get_mut(k) else { return };
        if std::mem::replace(known, true) {
            self.wrenches[k].1 += *wrench;
        } else {
            self.wrenches[k] = (*place, *wrench);
            self.listed.push_guarded(place.body);
        }
    }

    /// Multiplies all wrenches.
    pub fn scale(&mut self, factor: f64) {
        for &body in &self.listed {
            let wrench = &mut self.wrenches[body as usize].1;
            *wrench = Wrench { force: wrench.force * factor, torque: wrench.torque * factor };
        }
    }

    /// Moves the places along with their bodies.
    pub fn carry(&mut self, dt: f64) {
        for &body in &self.listed {
            let place = &mut self.wrenches[body as usize].0;
            place.origin += place.velocity * dt;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Place, Wrench)> {
        self.listed.iter().map(|&body| &self.wrenches[body as usize])
    }
}

/// Numbers of one body: of the last step, and summed over all steps.
#[derive(Debug, Default)]
struct Cell {
    wrench: [AtomicU64; 6],
    impulse: [AtomicU64; 6],
}

fn read(cells: &[AtomicU64; 6]) -> Wrench {
    Wrench::from_column(&Vec6::from_fn(|i, _| f64::from_bits(cells[i].load(Ordering::Relaxed))))
}

fn write(cells: &[AtomicU64; 6], value: &Wrench) {
    for (cell, x) in cells.iter().zip(value.column().iter()) {
        cell.store(x.to_bits(), Ordering::Relaxed);
    }
}

/// The loads that any thread may read while the servo runs. No lock.
#[derive(Debug)]
pub struct Loads(Box<[Cell]>);

impl Loads {
    fn new(bodies: usize) -> Self {
        Self(boxed(filled_with(bodies, Cell::default)))
    }

    /// Returns the number of bodies.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the load on a body; `None` for an index without one. Each number is read on its own: while the servo
    /// steps, they may belong to two steps. The sums lose nothing by that: what one reading misses, the next one has.
    pub fn get(&self, body: usize) -> Option<Load> {
        let Cell { wrench, impulse } = self.0.get(body)?;
        Some(Load { wrench: read(wrench), impulse: read(impulse) })
    }
}

/// The servo's side: gathers the wrenches of a step, then publishes them.
#[derive(Debug)]
pub(super) struct Ledger {
    now: PerBody,
    /// Bodies with a wrench in the last step.
    last: Vec<u32>,
    loads: Arc<Loads>,
}

impl Ledger {
    pub fn new(bodies: usize) -> Self {
        let loads = Arc::new(Loads::new(bodies));
        Self { now: PerBody::new(bodies), last: with_capacity(bodies), loads }
    }

    pub fn loads(&self) -> &Arc<Loads> {
        &self.loads
    }

    /// Adds a wrench on a body about the body's origin.
    pub fn add(&mut self, place: &Place, wrench: &Wrench) {
        self.now.add(place, wrench);
    }

    /// Returns the opposite of all wrenches added, about a point: the wrench of the bodies on the tool.
    pub fn on_tool(&self, point: &Vec3) -> Wrench {
        let mut sum = Wrench::ZERO;
        for (place, wrench) in self.now.iter() {
            let Wrench { force, torque } = wrench.about(&(point - place.origin));
            sum += Wrench { force: -force, torque: -torque };
        }
        sum
    }

    /// Publishes the wrenches of a step of `dt` seconds, and clears them.
    pub fn publish(&mut self, dt: f64) {
        for &body in &self.last {
            write(&self.loads.0[body as usize].wrench, &Wrench::ZERO);
        }
        self.last.clear();
        for (place, wrench) in self.now.iter() {
            let Cell { wrench: newest, impulse } = &self.loads.0[place.body as usize];
            write(newest, wrench);
            let mut sum = read(impulse);
            sum += Wrench { force: wrench.force * dt, torque: wrench.torque * dt };
            write(impulse, &sum);
            self.last.push_guarded(place.body);
        }
        self.now.clear();
    }
}
