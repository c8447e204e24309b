//! A dispatcher that measures the time of another one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

use rapier3d::parry::query::details::{ContactManifoldsWorkspace, NormalConstraints};
use rapier3d::parry::query::{
    ClosestPoints, Contact, ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher,
    ShapeCastHit, ShapeCastOptions, ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier3d::prelude::{Pose, Real, Shape, Vector};

/// Nanoseconds that contact manifolds took.
pub type Clock = Arc<AtomicU64>;

pub struct Timed<D> {
    pub dispatcher: D,
    pub clock: Clock,
}

impl<D: QueryDispatcher> QueryDispatcher for Timed<D> {
    fn intersection_test(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        self.dispatcher.intersection_test(pos12, g1, g2)
    }

    fn distance(&self, pos12: &Pose, g1: &dyn Shape, g2: &dyn Shape) -> Result<ShapeDistance, Unsupported> {
        self.dispatcher.distance(pos12, g1, g2)
    }

    fn contact(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        self.dispatcher.contact(pos12, g1, g2, prediction)
    }

    fn closest_points(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        max_dist: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        self.dispatcher.closest_points(pos12, g1, g2, max_dist)
    }

    fn cast_shapes(
        &self,
        pos12: &Pose,
        local_vel12: Vector,
        g1: &dyn Shape,
        g2: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        self.dispatcher.cast_shapes(pos12, local_vel12, g1, g2, options)
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
        let dispatcher = &self.dispatcher;
        dispatcher.cast_shapes_nonlinear(motion1, g1, motion2, g2, start_time, end_time, stop_at_penetration)
    }
}

impl<ManifoldData, ContactData, D> PersistentQueryDispatcher<ManifoldData, ContactData> for Timed<D>
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
        let start = Instant::now();
        let answer = self.dispatcher.contact_manifolds(pos12, g1, g2, prediction, manifolds, workspace);
        self.clock.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        answer
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
        let (first, second) = (normal_constraints1, normal_constraints2);
        self.dispatcher.contact_manifold_convex_convex(pos12, g1, g2, first, second, prediction, manifold)
    }
}
