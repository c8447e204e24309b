//! Two shapes at rest: their contacts, and the contact with the smallest separation.
//!
//! All results are in the frame of the first shape.

use parry3d::query::Unsupported;
use parry3d::shape::PackedFeatureId;
use voxshell::contact::{self, Contact, Coverage, Query, Roles, Step, Workspace, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell::math::{Pose as Pose64, Vec3};

use crate::body::{Body, Part, Role};
use crate::convert::{is_finite, transform};
use crate::dispatcher::Settings;
use crate::kernel::{refine, Kernel};

/// A contact of the field of a round shape counts if it rises above the contact plane of the kernel by at least this part
/// of its distance from the kernel's contact. On a plane the contacts beside the closest one would stop a ball that rolls.
const RISE: f64 = 0.02;

/// Largest motion in a step that is no jump, as a part of the radius of the smaller shape.
const MOST_OF_RADIUS: f64 = 0.5;

/// Bits of the number of a feature in parry.
pub(crate) const NUMBER: u32 = FEATURE_OF_EDGE - 1;

/// Largest number of pairs of parts that keep a workspace each from step to step.
pub(crate) const MOST_CACHED: usize = 16;

/// A contact; frame of the first shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub point1: Vec3,
    pub point2: Vec3,
    /// Unit, from the first shape to the second.
    pub normal: Vec3,
    /// Negative when the shapes penetrate, metres.
    pub distance: f64,
    /// Distance after the next step, if the shapes go on as in the last one, metres: at most `distance`.
    pub gap: f64,
    pub subshapes: [u32; 2],
    pub features: [PackedFeatureId; 2],
}

/// Motion of the second shape relative to the first one in a step; frame of the first shape.
///
/// The engine tells only the prediction distance, which counts no rotation. The pose of the last step tells the motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    /// Place of the origin of the second shape, metres.
    center: Vec3,
    /// Displacement of that place, metres, and rotation about it, radians.
    shift: Vec3,
    turn: Vec3,
    /// Largest distance by which a place of both shapes moves, metres.
    reach: f64,
}

impl Motion {
    pub const NONE: Self = Self {
        center: Vec3::new(0.0, 0.0, 0.0),
        shift: Vec3::new(0.0, 0.0, 0.0),
        turn: Vec3::new(0.0, 0.0, 0.0),
        reach: 0.0,
    };

    /// Returns the motion that leads from the last pose of the second shape to its pose, from there on. A body that moved
    /// by more than half the radius of the smaller shape was put elsewhere: there is no motion.
    pub fn since(last: &Pose64, a: &Body, b: &Body, pose12: &Pose64) -> Self {
        let center = pose12.translation.vector;
        let shift = center - last.translation.vector;
        let turn = (pose12.rotation * last.rotation.inverse()).scaled_axis();
        let ball = |body: &Body, pose: &Pose64| {
            body.parts.iter().fold((0.0f64, 0.0f64), |(far, radius), part| {
                if !part.is_bounded() {
                    return (f64::INFINITY, f64::INFINITY);
                }
                let (middle, own) = part.ball();
                (far.max((transform(pose, &middle) - center).norm() + own), radius.max(own))
            })
        };
        let ((far_a, radius_a), (far_b, radius_b)) = (ball(a, &Pose64::identity()), ball(b, pose12));
        let reach = shift.norm() + turn.norm() * far_a.min(far_b);
        if reach <= MOST_OF_RADIUS * radius_a.min(radius_b) {
            Self { center, shift, turn, reach }
        } else {
            Self::NONE
        }
    }

    /// Returns the distance of a contact after the next step, metres.
    fn gap(&self, found: &Found) -> f64 {
        let velocity = self.shift + self.turn.cross(&(found.point2 - self.center));
        found.distance - (-found.normal.dot(&velocity)).max(0.0)
    }
}

/// A pair of parts, with its poses in the frame of the first shape.
pub(crate) struct PartPair<'a> {
    pub a: &'a Part,
    pub b: &'a Part,
    pub pose_a: Pose64,
    pub pose_b: Pose64,
    /// Number of the pair, the same at all poses.
    pub number: usize,
}

impl<'a> PartPair<'a> {
    /// Returns all pairs of parts that can meet.
    pub fn each(a: &'a Body, b: &'a Body, pose12: &'a Pose64) -> impl Iterator<Item = PartPair<'a>> + 'a {
        let count = b.parts.len();
        a.parts.iter().enumerate().flat_map(move |(i, part_a)| {
            b.parts.iter().enumerate().filter(|(_, part_b)| part_a.can_meet(part_b)).map(move |(j, part_b)| PartPair {
                a: part_a,
                b: part_b,
                pose_a: part_a.pose,
                pose_b: pose12 * part_b.pose,
                number: i * count + j,
            })
        })
    }

    /// Sum of the margins of both parts, metres.
    pub fn margin(&self) -> f64 {
        self.a.margin + self.b.margin
    }

    fn is_bounded(&self) -> bool {
        self.a.is_bounded() && self.b.is_bounded()
    }

    /// Returns whether the boxes of the parts are at most `limit` apart, along the axes of A. True for a half-space.
    fn is_near(&self, limit: f64) -> bool {
        if !self.is_bounded() {
            return true;
        }
        let b_in_a = self.b.bounds.transformed(&self.pose_a.inv_mul(&self.pose_b));
        self.a.bounds.inflated(limit + self.margin()).overlaps(&b_in_a)
    }

    /// Returns the larger of the distances between samples of the parts, metres.
    fn spacing(&self) -> f64 {
        let of_part = |part: &Part| part.shell.as_ref().map_or(0.0, |shell| f64::from(shell.spacing));
        of_part(self.a).max(of_part(self.b))
    }

    pub fn roles(&self) -> Roles {
        let has_both = |part: &Part| part.field.is_some() && part.shell.is_some();
        // A sheet has no edges in the exact search. Its samples stand for them.
        if (self.a.is_sheet() || self.b.is_sheet()) && has_both(self.a) && has_both(self.b) {
            Roles::Both
        } else {
            Roles::Auto
        }
    }

    /// Returns the largest depth behind a sheet at which a sample has gone through it: half the smallest extent of the other
    /// body.
    fn max_depth(&self) -> f64 {
        let depth = |sheet: &Part, other: &Part| {
            let extent = other.bounds.extents().min();
            if sheet.is_sheet() && extent.is_finite() && extent > 0.0 {
                0.5 * extent
            } else {
                f64::INFINITY
            }
        };
        depth(self.a, self.b).min(depth(self.b, self.a))
    }

    pub fn found(&self, contact: &Contact) -> Found {
        let number = contact.feature & NUMBER;
        let own = if contact.feature & FEATURE_OF_EDGE != 0 {
            PackedFeatureId::edge(number)
        } else {
            PackedFeatureId::vertex(number)
        };
        let other = PackedFeatureId::face(self.number as u32 & NUMBER);
        let of_b = contact.feature & FEATURE_OF_B != 0;
        Found {
            point1: contact.point_on_a + contact.normal * self.a.margin,
            point2: contact.point_on_b - contact.normal * self.b.margin,
            normal: contact.normal,
            distance: contact.separation - self.margin(),
            gap: contact.separation - self.margin(),
            subshapes: [self.a.subshape, self.b.subshape],
            features: if of_b { [other, own] } else { [own, other] },
        }
    }
}

fn is_valid(found: &Found) -> bool {
    is_finite(&found.point1) && is_finite(&found.point2) && is_finite(&found.normal) && found.distance.is_finite()
}

/// Returns whether two shapes can collide, whatever their poses.
pub(crate) fn check(a: &Body, b: &Body, pose12: &Pose64) -> Result<(), Unsupported> {
    let is_possible = PartPair::each(a, b, pose12).next().is_some();
    let is_pose = is_finite(&pose12.translation.vector) && pose12.rotation.coords.iter().all(|x| x.is_finite());
    if is_possible && is_pose {
        Ok(())
    } else {
        Err(Unsupported)
    }
}

/// Appends all contacts that have a gap up to a limit, metres. `workspaces` belong to this pair of shapes.
pub(crate) fn contacts(
    a: &Body,
    b: &Body,
    pose12: &Pose64,
    motion: &Motion,
    max_gap: f64,
    settings: &Settings,
    workspaces: &mut Vec<Workspace>,
    found: &mut Vec<Found>,
) -> Result<(), Unsupported> {
    check(a, b, pose12)?;
    let keeps = a.parts.len() * b.parts.len() <= MOST_CACHED;
    let count = if keeps { a.parts.len() * b.parts.len() } else { 1 };
    if workspaces.len() < count {
        workspaces.resize_with(count, Workspace::new);
    }
    let limit = max_gap + motion.reach;
    let ahead = |mut contact: Found| {
        contact.gap = motion.gap(&contact);
        (contact.gap <= max_gap).then_some(contact)
    };
    for pair in PartPair::each(a, b, pose12).filter(|pair| pair.is_near(limit)) {
        if let Some(kernel) = Kernel::of(&pair) {
            kernel.each(limit, |contact| {
                found.extend(Some(contact).filter(is_valid).and_then(ahead));
                limit
            });
            continue;
        }
        let limit = limit + pair.margin();
        // The step selects the corners of flat faces and thins dense contacts, but leaves out edges that are not close:
        // without a step all edges count.
        let step = Step {
            center: motion.center,
            shift: -motion.shift,
            turn: -motion.turn,
            max_gap: max_gap + pair.margin(),
            dense_above: settings.dense_above,
            extremes_only: true,
        };
        let query = Query {
            roles: pair.roles(),
            max_separation: limit,
            max_depth: pair.max_depth(),
            coverage: settings.coverage,
            step: (settings.coverage != Coverage::Edges || !pair.is_bounded()).then_some(step),
            owners: keeps.then(|| [pair.a.owner(), pair.b.owner()]),
            ..Query::default()
        };
        let (of_a, of_b) = (pair.a.geometry(settings.coverage), pair.b.geometry(settings.coverage));
        let workspace = &mut workspaces[if keeps { pair.number } else { 0 }];
        let answer = contact::contacts(of_a, &pair.pose_a, of_b, &pair.pose_b, &query, workspace);
        let answer = answer.map_err(|_| Unsupported)?;
        let before = found.len();
        let is_around = [pair.a, pair.b].map(|part| part.role == Role::Around);
        for contact in answer.iter().map(|contact| pair.found(contact)).filter(is_valid).filter_map(ahead) {
            let rises = |kernel: &Found| {
                let (offset, outward) = match is_around {
                    [true, _] => (contact.point2 - kernel.point2, -kernel.normal),
                    _ => (contact.point1 - kernel.point1, kernel.normal),
                };
                kernel.subshapes != contact.subshapes || offset.dot(&outward) > RISE * offset.norm()
            };
            if is_around == [false; 2] || found[..before].iter().all(rises) {
                found.push(contact);
            }
        }
    }
    Ok(())
}

/// Returns the contact with the smallest distance, if one is at most `limit`, metres, which may be infinite.
pub(crate) fn closest(
    a: &Body,
    b: &Body,
    pose12: &Pose64,
    limit: f64,
    workspace: &mut Workspace,
) -> Result<Option<Found>, Unsupported> {
    check(a, b, pose12)?;
    let mut best: Option<Found> = None;
    for pair in PartPair::each(a, b, pose12) {
        let limit = best.map_or(limit, |best| best.distance.min(limit));
        if !pair.is_near(limit) {
            continue;
        }
        if let Some(kernel) = Kernel::of(&pair) {
            kernel.each(limit, |contact| {
                best = Some(contact).filter(is_valid).or(best);
                contact.distance.min(limit)
            });
            continue;
        }
        let (of_a, of_b) = (pair.a.geometry(Coverage::Edges), pair.b.geometry(Coverage::Edges));
        let (roles, margin) = (pair.roles(), pair.margin());
        // Contacts of samples that are a little farther away may come closer.
        let farther = limit + pair.spacing();
        let answer = contact::distance(of_a, &pair.pose_a, of_b, &pair.pose_b, roles, farther + margin, workspace);
        let answer = answer.map_err(|_| Unsupported)?.map(|contact| refine(&pair, pair.found(&contact)));
        let answer = answer.filter(|found| is_valid(found) && found.distance <= limit);
        best = answer.filter(|found| best.is_none_or(|best| found.distance < best.distance)).or(best);
    }
    Ok(best)
}
