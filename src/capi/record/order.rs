//! The order in which a replay makes the calls: that of their beginnings, except where a haptic step and a round of the
//! simulation ran at the same time.
//!
//! A step takes the newest snapshot of the contacts and then publishes an input for the simulation; a round takes the newest
//! input and then publishes a snapshot. A replay on one thread makes a step when it took its snapshot, and a round when it
//! published its snapshot. So each call is made at a moment between its beginning and its end, and calls that did not overlap
//! keep their order. The input of a round is taken earlier: after the step that published it, and before the next one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::calls;
use super::file::{Call, Content, Event, Reader};
use super::sink::Half;
use crate::capi::status::VXS_OK;
use crate::haptics::Exchange;

pub(super) const OVERLAPS: &str = "another thread was in a call with the same vxs_haptics at the same time";
const LACKS: &str = "a call of another thread on which it depends has no answer in the recording";

/// Calls whose answers depend on other threads.
#[derive(Default)]
pub(super) struct Uncertain {
    /// Calls from which on the answers of their `vxs_haptics` are not compared, and why.
    pub from: HashMap<u64, &'static str>,
    /// Calls whose own answers are not compared, because they read while another thread wrote.
    pub alone: HashSet<u64>,
}

/// Brings the calls into the order of the replay. Ends them at the first lost record.
pub(super) fn arrange(content: &mut Content) -> Uncertain {
    if let Some(first) = content.first_lost {
        let is_after = |event: &Event| matches!(event, Event::Call(call) if call.number >= first);
        let end = content.events.iter().position(is_after).unwrap_or(content.events.len());
        content.events.truncate(end);
    }
    let mut found = overlaps(content);
    if content.has_exchange {
        let mut graph = Graph::default();
        for (haptics, scene) in scenes(&content.events) {
            graph.add(haptics, &scene, content.events.len(), &mut found);
        }
        content.events = graph.sorted(&content.events);
    }
    found
}

/// Returns the name of a function that uses a `vxs_haptics`, and the number of the object.
fn use_of_haptics(call: &Call) -> Option<(&'static str, u64)> {
    let name = calls::find(call.function)?.name;
    // The handle is the first argument.
    let is_use = name.starts_with("vxs_haptics_") && name != "vxs_haptics_create";
    Some((name, Reader(call.arguments).number().filter(|_| is_use)?))
}

/// Returns the calls that change or read a `vxs_haptics` while another call changes it. Two calls with an exchange have an
/// order.
fn overlaps(content: &Content) -> Uncertain {
    struct Open {
        call: u64,
        answer: u64,
        is_reader: bool,
    }
    let mut found = Uncertain::default();
    let mut open: HashMap<u64, Vec<Open>> = HashMap::new();
    for event in &content.events {
        let Event::Call(call) = event else { continue };
        let Some((name, haptics)) = use_of_haptics(call) else { continue };
        let others = open.entry(haptics).or_default();
        others.retain(|other| other.answer > call.number);
        let is_reader = name.starts_with("vxs_haptics_get_");
        let answer = call.answer.map_or(u64::MAX, |reply| reply.number);
        let this = Open { call: call.number, answer, is_reader };
        for other in others.iter().filter(|other| !(is_reader && other.is_reader)) {
            for one in [&this, other] {
                if one.is_reader {
                    found.alone.insert(one.call);
                } else if !content.has_exchange {
                    found.from.insert(one.call, OVERLAPS);
                }
            }
        }
        others.push(this);
    }
    found
}

/// A call with an exchange.
struct Part {
    /// Index among the events.
    event: usize,
    number: u64,
    exchange: Exchange,
}

/// The calls of a `vxs_haptics`.
#[derive(Default)]
struct Scene {
    steps: Vec<Part>,
    rounds: Vec<Part>,
    /// Event of the release.
    release: Option<usize>,
}

fn scenes(events: &[Event]) -> HashMap<u64, Scene> {
    let mut found: HashMap<u64, Scene> = HashMap::new();
    for (event, call) in events.iter().enumerate() {
        let Event::Call(call) = call else { continue };
        let Some(((name, haptics), reply)) = use_of_haptics(call).zip(call.answer) else { continue };
        let scene = found.entry(haptics).or_default();
        if let Some(exchanged) = reply.exchange {
            let half = match exchanged.half {
                Half::Servo => &mut scene.steps,
                Half::Simulation => &mut scene.rounds,
            };
            half.push(Part { event, number: call.number, exchange: exchanged.exchange });
        } else if name == "vxs_haptics_release" && reply.status == VXS_OK {
            scene.release = Some(event);
        }
    }
    for scene in found.values_mut() {
        for half in [&mut scene.steps, &mut scene.rounds] {
            half.sort_by_key(|part| (part.exchange.turn, part.event));
        }
    }
    found
}

/// Events, each of which may have to follow others.
#[derive(Default)]
struct Graph {
    /// An event, and one that follows it.
    edges: Vec<(usize, usize)>,
    /// Inputs of rounds: the event of the round, and the number of the `vxs_haptics`. Their indices follow those of the
    /// events.
    inputs: Vec<(usize, u64)>,
}

impl Graph {
    fn add(&mut self, haptics: u64, scene: &Scene, events: usize, found: &mut Uncertain) {
        let Scene { steps, rounds, release } = scene;
        for half in [steps, rounds] {
            self.edges.extend(half.windows(2).map(|pair| (pair[0].event, pair[1].event)));
            self.edges.extend(half.last().zip(*release).map(|(last, release)| (last.event, release)));
            // A call without a record changed its half, too.
            let lack = half.iter().zip(1..).find(|(part, turn)| part.exchange.turn != *turn);
            found.from.extend(lack.map(|(part, _)| (part.number, LACKS)));
        }
        let publishers = |half: &[Part]| -> HashMap<u64, usize> {
            half.iter().filter_map(|part| Some((part.exchange.published?, part.event))).collect()
        };
        let (of_steps, of_rounds) = (publishers(steps), publishers(rounds));
        for step in steps {
            self.take(step, step.event, &of_rounds, found);
        }
        let mut last = None;
        for round in rounds.iter().filter(|round| round.exchange.taken.is_some()) {
            let input = events + self.inputs.len();
            self.inputs.push((round.event, haptics));
            self.edges.push((input, round.event));
            self.edges.extend(last.map(|last| (last, input)));
            last = Some(input);
            self.take(round, input, &of_steps, found);
        }
    }

    /// Puts the node `taking` after the event that published the message of a call, and before the next one.
    fn take(&mut self, part: &Part, taking: usize, publishers: &HashMap<u64, usize>, found: &mut Uncertain) {
        let Some(taken) = part.exchange.taken else { return };
        match publishers.get(&taken) {
            Some(publisher) => self.edges.push((*publisher, taking)),
            None if taken == 0 => {}
            None => drop(found.from.insert(part.number, LACKS)),
        }
        self.edges.extend(taken.checked_add(1).and_then(|next| publishers.get(&next)).map(|next| (taking, *next)));
    }

    /// Returns the events in an order in which each one follows those that it has to, and otherwise in their own.
    fn sorted<'a>(mut self, events: &[Event<'a>]) -> Vec<Event<'a>> {
        self.edges.sort_unstable();
        self.edges.dedup();
        let nodes = events.len() + self.inputs.len();
        let mut waits = vec![0u32; nodes];
        self.edges.iter().for_each(|(_, after)| waits[*after] += 1);
        // An input comes before its round, and before every event that begins later.
        let rank = |node: usize| match node.checked_sub(events.len()) {
            Some(input) => Reverse((self.inputs[input].0, 0, node)),
            None => Reverse((node, 1, node)),
        };
        let mut ready: BinaryHeap<_> = (0..nodes).filter(|node| waits[*node] == 0).map(rank).collect();
        let mut sorted = Vec::with_capacity(nodes);
        while let Some(Reverse((_, _, node))) = ready.pop() {
            sorted.push(match node.checked_sub(events.len()) {
                Some(input) => Event::Input(self.inputs[input].1),
                None => events[node],
            });
            let first = self.edges.partition_point(|edge| edge.0 < node);
            for (_, after) in self.edges[first..].iter().take_while(|edge| edge.0 == node) {
                waits[*after] -= 1;
                if waits[*after] == 0 {
                    ready.push(rank(*after));
                }
            }
        }
        // Only the events of a damaged recording can wait for each other.
        sorted.extend((0..events.len()).filter(|node| waits[*node] > 0).map(|node| events[node]));
        sorted
    }
}
