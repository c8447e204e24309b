//! The dispatcher: answers the queries of parry for pairs with a Voxshell shape.

use std::cell::RefCell;
use std::sync::Arc;

use parry3d::math::{Pose, Real, Vector};
use parry3d::query::details::{ContactManifoldsWorkspace, NormalConstraints, TypedWorkspaceData, WorkspaceData};
use parry3d::query::{
    ClosestPoints, Contact, ContactManifold, DefaultQueryDispatcher, NonlinearRigidMotion, PersistentQueryDispatcher,
    QueryDispatcher, ShapeCastHit, ShapeCastOptions, ShapeDistance, ShapeIntersection, Unsupported,
};
use parry3d::shape::{Shape, SharedShape};
use voxshell::ccd::shell::Workspace as MotionWorkspace;
use voxshell::contact::{Coverage, Workspace};
use voxshell::math::Pose as Pose64;

use crate::body::Body;
use crate::cache::Cache;
use crate::convert::{inverse_transform, pose64, vector};
use crate::pair::{self, Found, Motion};
use crate::shape::VoxshellShape;
use crate::{impact, manifold};

/// Settings of the contacts of a dispatcher. Distances, closest points and casts have none: they test all samples and
/// edges.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What contact manifolds are made of: [`Coverage::Facets`], the default, tests edges where they cost about as much as
    /// samples.
    pub coverage: Coverage,
    /// Largest number of normals of two shapes. Each has a manifold of up to four points, and a second one if it has more than
    /// 16 contacts. Contacts with normals between those are left out, or take the next normal within 5°. A screw needs some
    /// hundreds: with fewer its nut jams.
    pub max_manifolds: usize,
    /// Above this number of samples in contact the most urgent ones of each part of the surface are chosen. 0: never.
    pub dense_above: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { coverage: Coverage::Facets, max_manifolds: 16, dense_above: 1024 }
    }
}

/// Dispatcher for pairs with a [`VoxshellShape`], alone or in a compound. All other pairs go to `D`.
///
/// The first query of a pair with a shape of parry makes the forms of that shape, which takes up to a second. All
/// dispatchers share them. Later queries recognise the shape by its content: all its sizes, vertices and indices. A shape
/// that was changed in place or replaced is therefore never taken for the old one.
///
/// To compare the content takes constant time for round shapes, boxes, cylinders, cones and half-spaces. For meshes,
/// convex polyhedra, height fields, polylines, voxels and compounds it takes time in proportion to their size:
/// [`VoxshellDispatcher::prepare`] them. Queries of prepared shapes find the forms in constant time.
///
/// A query takes no lock if its thread has met the shapes before, or if they are prepared.
#[derive(Clone)]
pub struct VoxshellDispatcher<D = DefaultQueryDispatcher> {
    settings: Settings,
    cache: Cache,
    other: D,
}

impl Default for VoxshellDispatcher {
    fn default() -> Self {
        Self::new(DefaultQueryDispatcher)
    }
}

/// The parts of the shapes of a pair.
type Bodies = [Arc<Body>; 2];

impl<D> VoxshellDispatcher<D> {
    /// Makes a dispatcher with default settings, which gives pairs without a Voxshell shape to `other`.
    pub fn new(other: D) -> Self {
        Self { settings: Settings::default(), cache: Cache::default(), other }
    }

    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// Makes the forms of a shape and shares its ownership, so that queries find the forms by the address of the shape.
    /// Returns whether the shape can collide with Voxshell shapes.
    ///
    /// While the dispatcher holds the shape, `SharedShape::make_mut` and Rapier's `Collider::shape_mut` change a copy of it,
    /// which is not prepared. The shape stays in memory until [`VoxshellDispatcher::release`].
    ///
    /// An engine owns its dispatcher. To prepare more shapes later, prepare them in a clone and give that one to the engine:
    /// `NarrowPhase::set_query_dispatcher`. Clones share the forms.
    pub fn prepare(&mut self, shape: &SharedShape) -> bool {
        self.cache.hold(shape)
    }

    /// Releases a prepared shape. Returns whether it was prepared.
    pub fn release(&mut self, shape: &SharedShape) -> bool {
        self.cache.release(shape)
    }

    /// Returns whether one of two shapes is a Voxshell shape, or a compound with one.
    fn contains_own(&self, g1: &dyn Shape, g2: &dyn Shape) -> bool {
        let is_own = |shape: &dyn Shape| shape.as_shape::<VoxshellShape>().is_some();
        is_own(g1) || is_own(g2) || self.cache.contains_own(g1) || self.cache.contains_own(g2)
    }

    /// Returns the parts of both shapes, or `None` if neither is a Voxshell shape.
    fn bodies(&self, g1: &dyn Shape, g2: &dyn Shape) -> Option<Result<Bodies, Unsupported>> {
        if !self.contains_own(g1, g2) {
            return None;
        }
        let [first, second] = [g1, g2].map(|shape| self.cache.find(shape).ok_or(Unsupported));
        Some(first.and_then(|first| Ok([first, second?])))
    }
}

thread_local! {
    /// Scratch memory of the queries without a memory.
    static SCRATCH: RefCell<(Workspace, MotionWorkspace)> = RefCell::default();
}

fn with_scratch<T>(query: impl FnOnce(&mut Workspace, &mut MotionWorkspace) -> T) -> T {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => {
            let (workspace, motion) = &mut *scratch;
            query(workspace, motion)
        }
        // A query within a query, which only a panic hook could make.
        Err(_) => query(&mut Workspace::new(), &mut MotionWorkspace::new()),
    })
}

/// Returns the closest contact up to a limit, metres.
fn closest(bodies: &Bodies, pose12: &Pose64, limit: f64) -> Result<Option<Found>, Unsupported> {
    with_scratch(|workspace, _| pair::closest(&bodies[0], &bodies[1], pose12, limit, workspace))
}

impl<D: QueryDispatcher> QueryDispatcher for VoxshellDispatcher<D> {
    fn intersection_test(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else { return self.other.intersection_test(pos12, g1, g2) };
        let found = closest(&bodies?, &pose64(pos12), 0.0)?;
        let [subshape1, subshape2] = found.map_or([0, 0], |found| found.subshapes);
        Ok(ShapeIntersection { intersecting: found.is_some_and(|f| f.distance <= 0.0), subshape1, subshape2 })
    }

    fn distance(&self, pos12: &Pose, g1: &dyn Shape, g2: &dyn Shape) -> Result<ShapeDistance, Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else { return self.other.distance(pos12, g1, g2) };
        let found = closest(&bodies?, &pose64(pos12), f64::INFINITY)?.ok_or(Unsupported)?;
        let [subshape1, subshape2] = found.subshapes;
        Ok(ShapeDistance { distance: found.distance.max(0.0) as Real, subshape1, subshape2 })
    }

    fn contact(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else { return self.other.contact(pos12, g1, g2, prediction) };
        let pose12 = pose64(pos12);
        let found = closest(&bodies?, &pose12, checked(prediction)?)?;
        Ok(found.map(|found| {
            let contact = Contact::new(
                vector(&found.point1),
                vector(&inverse_transform(&pose12, &found.point2)),
                vector(&found.normal),
                vector(&pose12.rotation.inverse_transform_vector(&-found.normal)),
                found.distance as Real,
            );
            contact.with_subshapes(found.subshapes[0], found.subshapes[1])
        }))
    }

    fn closest_points(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        max_dist: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else { return self.other.closest_points(pos12, g1, g2, max_dist) };
        let pose12 = pose64(pos12);
        Ok(match closest(&bodies?, &pose12, checked(max_dist)?)? {
            None => ClosestPoints::Disjoint,
            Some(found) if found.distance <= 0.0 => ClosestPoints::Intersecting,
            Some(found) => {
                let point2 = inverse_transform(&pose12, &found.point2);
                ClosestPoints::WithinMargin(vector(&found.point1), vector(&point2))
            }
        })
    }

    fn cast_shapes(
        &self,
        pos12: &Pose,
        local_vel12: Vector,
        g1: &dyn Shape,
        g2: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else {
            return self.other.cast_shapes(pos12, local_vel12, g1, g2, options);
        };
        let [a, b] = bodies?;
        with_scratch(|_, workspace| impact::cast(&a, &b, pos12, local_vel12, &options, workspace))
    }

    fn cast_shapes_nonlinear(
        &self,
        motion1: &NonlinearRigidMotion,
        g1: &dyn Shape,
        motion2: &NonlinearRigidMotion,
        g2: &dyn Shape,
        start_time: Real,
        end_time: Real,
        stop_at_penetration: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else {
            let other = &self.other;
            return other.cast_shapes_nonlinear(motion1, g1, motion2, g2, start_time, end_time, stop_at_penetration);
        };
        let [a, b] = bodies?;
        with_scratch(|_, workspace| {
            impact::cast_nonlinear((motion1, &a), (motion2, &b), [start_time, end_time], stop_at_penetration, workspace)
        })
    }
}

/// Returns a distance up to which contacts are wanted, metres; `f32::MAX` counts as endless.
fn checked(distance: Real) -> Result<f64, Unsupported> {
    match distance {
        d if d.is_nan() => Err(Unsupported),
        Real::MAX => Ok(f64::INFINITY),
        d => Ok(d.into()),
    }
}

/// Memory of a pair: its last pose, which tells how fast it moves. The bounds that the last query proved make the next one
/// faster; they change no answer.
#[derive(Default)]
struct PairWorkspace {
    last: Option<Pose64>,
    queries: Vec<Workspace>,
    found: Vec<Found>,
    manifolds: manifold::Scratch,
}

impl WorkspaceData for PairWorkspace {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        // The bounds are found again; the motion is not.
        Box::new(Self { last: self.last, ..Self::default() })
    }
}

fn pair_workspace(workspace: &mut Option<ContactManifoldsWorkspace>) -> Option<&mut PairWorkspace> {
    // The pair may have had a shape of parry before.
    if workspace.as_ref().is_none_or(|w| w.0.downcast_ref::<PairWorkspace>().is_none()) {
        *workspace = Some(PairWorkspace::default().into());
    }
    workspace.as_mut()?.0.downcast_mut::<PairWorkspace>()
}

impl<ManifoldData, ContactData, D> PersistentQueryDispatcher<ManifoldData, ContactData> for VoxshellDispatcher<D>
where
    D: PersistentQueryDispatcher<ManifoldData, ContactData>,
    ManifoldData: Default + Clone + Send + Sync,
    ContactData: Default + Copy + Send + Sync,
{
    fn contact_manifolds(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
        manifolds: &mut Vec<ContactManifold<ManifoldData, ContactData>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let Some(bodies) = self.bodies(g1, g2) else {
            return self.other.contact_manifolds(pos12, g1, g2, prediction, manifolds, workspace);
        };
        let pose12 = pose64(pos12);
        let find = || {
            let [a, b] = bodies?;
            let limit = checked(prediction)?;
            let memory = pair_workspace(workspace).ok_or(Unsupported)?;
            memory.found.clear();
            let last = memory.last.replace(pose12);
            let motion = last.map_or(Motion::NONE, |last| Motion::since(&last, &a, &b, &pose12));
            let (queries, found) = (&mut memory.queries, &mut memory.found);
            pair::contacts(&a, &b, &pose12, &motion, limit, &self.settings, queries, found)?;
            Ok((limit, memory))
        };
        match find() {
            Ok((limit, memory)) => {
                let PairWorkspace { found, manifolds: scratch, .. } = memory;
                manifold::update(found, &pose12, limit, self.settings.max_manifolds, manifolds, scratch);
                Ok(())
            }
            Err(error) => {
                // The engine goes on with what is there: old contacts must not stay.
                manifolds.clear();
                Err(error)
            }
        }
    }

    fn contact_manifold_convex_convex(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        normal_constraints1: Option<&dyn NormalConstraints>,
        normal_constraints2: Option<&dyn NormalConstraints>,
        prediction: Real,
        manifold: &mut ContactManifold<ManifoldData, ContactData>,
    ) -> Result<(), Unsupported> {
        if self.contains_own(g1, g2) {
            // The contacts of a body that is not convex have several normals.
            return Err(Unsupported);
        }
        let (first, second) = (normal_constraints1, normal_constraints2);
        self.other.contact_manifold_convex_convex(pos12, g1, g2, first, second, prediction, manifold)
    }
}
