//! The linearised contacts that the simulation publishes to the servo (Otaduy & Lin 2005, section 6).
//!
//! Contacts only push. A sum of contacts cannot show that: between two walls it is small, and it changes its sign with
//! every small motion, although no contact has ended. So contacts are kept one by one, or in clusters of contacts that
//! are near each other and push in similar directions, and each cluster ends by itself.

use voxshell_base::math::{from_scaled_axis, scaled_axis, Mat6, Pose, Twist, Vec3, Vec6, Wrench};
use voxshell_base::memory::{with_capacity, GrowGuarded};
use voxshell_response::{Kinematics, Response, Sums};

/// Largest number of clusters with few bodies. With up to that many contacts, each contact is a cluster of its own.
/// Bounds the cost of a servo step.
pub(super) const MAX_CLUSTERS: usize = 24;

/// Returns the largest number of clusters for a number of bodies. Contacts with two bodies are never in one cluster, so
/// that the load on each body is known: one cluster for each body has room, and one more.
fn most_clusters(bodies: usize) -> usize {
    MAX_CLUSTERS.max(bodies + 1)
}

/// Distance below which clusters are merged when there are too many; it doubles until there are few enough. Positions
/// count as fractions of the tool's radius, and directions as unit vectors: opposite ones are 2 apart.
const FIRST_MERGE: f64 = 0.02;

/// Least cosine of the angle between a contact's force and the gradient of its depth. The force is along the sample's
/// normal; where the field's gradient is against it, deep in a thin body for example, the linear model alone would push
/// the harder the farther the tool moves away, for ever. With this, every contact ends at the latest after four times
/// its depth.
const STEEPEST: f64 = 0.25;

/// A body that contacts are with, and the position and velocity of its origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub body: u32,
    pub origin: Vec3,
    pub velocity: Vec3,
}

/// A contact, or contacts with one body that push in similar directions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cluster {
    /// Index of the body's place.
    place: u32,
    response: Response,
    /// Change of the wrench with time by the obstacles' own motion, N/s and N·m/s.
    drift: Vec6,
}

impl Cluster {
    const NONE: Self = Self { place: 0, response: Response::NONE, drift: Vec6::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0) };

    fn add(&mut self, other: &Self) {
        self.response += other.response;
        self.drift += other.drift;
    }

    fn subtract(&mut self, other: &Self) {
        let Response { wrench, by_pose, by_twist } = &other.response;
        self.response.wrench += Wrench { force: -wrench.force, torque: -wrench.torque };
        self.response.by_pose -= by_pose;
        self.response.by_twist -= by_twist;
        self.drift -= other.drift;
    }
}

/// Tells whether a cluster still pushes: F₀ · F(Δx, Δv, t) > 0, the rows of which are computed once. The force decides,
/// along its own direction: torque depends on a reference point, and has another unit. For a single contact it is
/// k d − b u·v along u (Otaduy & Lin 2005, equation 21).
///
/// A rotation moves the tool's points by less than a diameter, but its linear model knows no such bound, so it could hold
/// a contact at any distance. Therefore no contact lasts when the tool's centre has moved away along the force by more
/// than a diameter and the distance at which the contact ends without a rotation, seen from the body that it is with.
#[derive(Clone, Copy, Debug)]
struct Sign {
    square: f64,
    /// F₀, its product with the body's velocity at the tool's centre, and |F₀| times the farthest distance.
    force: Vec3,
    carried: f64,
    farthest: f64,
    by_time: f64,
    by_pose: Vec6,
    by_twist: Vec6,
}

impl Sign {
    fn of(cluster: &Cluster, velocity: &Vec3, radius: f64) -> Self {
        let Response { wrench, by_pose, by_twist } = &cluster.response;
        let force = wrench.force;
        let row = |m: &Mat6| m.fixed_rows::<3>(0).tr_mul(&force);
        let by_time = force.dot(&cluster.drift.fixed_rows::<3>(0));
        let (square, by_pose, by_twist) = (force.norm_squared(), row(by_pose), row(by_twist));
        let falls = -by_pose.fixed_rows::<3>(0).dot(&force);
        let depth = if falls > 0.0 { square * force.norm() / falls } else { f64::INFINITY };
        let (carried, farthest) = (force.dot(velocity), (2.0 * radius + depth) * force.norm());
        Self { square, force, carried, farthest, by_time, by_pose, by_twist }
    }

    fn pushes(&self, moved: &Vec6, faster: &Vec6, age: f64) -> bool {
        let along = self.square + self.by_time * age + self.by_pose.dot(moved) + self.by_twist.dot(faster);
        let away = self.force.dot(&moved.fixed_rows::<3>(0)) - self.carried * age;
        // A pure torque has no direction in which it could end.
        (along > 0.0 && away < self.farthest) || self.square == 0.0
    }
}

/// Effect of contacts on the tool near a state of it: Σ W₀ + K Δx + B Δv + t Ẇ over the clusters that push there.
#[derive(Clone, Debug)]
pub(super) struct Linearised {
    /// The state of the tool.
    pub at: Kinematics,
    /// Age of that state when the model was made, seconds.
    lag: f64,
    /// Bodies that the clusters are with.
    places: Vec<Place>,
    /// At most [`most_clusters`]; capacity for all is reserved from the start.
    clusters: Vec<Cluster>,
    /// For each cluster, and the sum of all: known when the model is finished.
    signs: Vec<Sign>,
    sum: Cluster,
}

impl Linearised {
    /// Returns the effect of no contacts, with room for those with a number of bodies.
    pub fn none(at: Kinematics, bodies: usize) -> Self {
        let most = most_clusters(bodies);
        let (clusters, signs) = (with_capacity(most), with_capacity(most));
        Self { at, lag: 0.0, places: with_capacity(bodies), clusters, signs, sum: Cluster::NONE }
    }

    /// Copies another model, without allocation.
    pub fn copy_from(&mut self, other: &Self) {
        (self.at, self.lag, self.sum) = (other.at, other.lag, other.sum);
        self.places.clear();
        self.places.extend_slice_guarded(&other.places);
        self.clusters.clear();
        self.clusters.extend_slice_guarded(&other.clusters);
        self.signs.clear();
        self.signs.extend_slice_guarded(&other.signs);
    }

    /// Returns the differences of pose and twist from the model's state to another, and the age of the model's state.
    fn apart(&self, body: &Kinematics, age: f64) -> (Vec6, Vec6, f64) {
        let shift = body.center - self.at.center;
        let turn = scaled_axis(&(body.pose.rotation * self.at.pose.rotation.inverse()));
        let moved = Twist { linear: shift, angular: turn }.column();
        (moved, body.twist.column() - self.at.twist.column(), age + self.lag)
    }

    /// Gives the wrench on each body, about the body's origin, cluster by cluster: the opposite of the wrench on the
    /// tool in a step that begins at the state `from` and ends at `to`, as [`Linearised::predict`] predicts it at `from`
    /// and an implicit step takes it at `to`.
    pub fn on_bodies(&self, [from, to]: [&Kinematics; 2], age: f64, mut add: impl FnMut(&Place, &Wrench)) {
        if self.clusters.is_empty() {
            return;
        }
        let (moved, faster, lagged) = self.apart(from, age);
        let turn = scaled_axis(&(to.pose.rotation * from.pose.rotation.inverse()));
        let step = Twist { linear: to.center - from.center, angular: turn }.column();
        let (there, pace) = (moved + step, faster + to.twist.column() - from.twist.column());
        for (Cluster { place, response, drift }, sign) in self.clusters.iter().zip(&self.signs) {
            if sign.pushes(&moved, &faster, lagged) {
                let Response { wrench, by_pose, by_twist } = response;
                let on_tool = wrench.column() + drift * lagged + by_pose * there + by_twist * pace;
                let place = self.places[*place as usize];
                let origin = place.origin + place.velocity * lagged;
                let on_body = Wrench::from_column(&-on_tool).about(&(origin - to.center));
                add(&Place { origin, ..place }, &on_body);
            }
        }
    }

    /// Returns the response at another state, `age` seconds after the model was made.
    pub fn predict(&self, body: &Kinematics, age: f64) -> Response {
        let (moved, faster, age) = self.apart(body, age);
        let pushes = |sign: &Sign| sign.pushes(&moved, &faster, age);
        let count = self.signs.iter().filter(|sign| pushes(sign)).count();
        let all = || self.clusters.iter().zip(&self.signs);
        // Mostly all push, or all of one wall.
        let mut sum = self.sum;
        if 2 * count > self.clusters.len() {
            all().filter(|(_, sign)| !pushes(sign)).for_each(|(cluster, _)| sum.subtract(cluster));
        } else {
            sum = Cluster::NONE;
            all().filter(|(_, sign)| pushes(sign)).for_each(|(cluster, _)| sum.add(cluster));
        }
        let Response { wrench, by_pose, by_twist } = sum.response;
        let column = wrench.column() + sum.drift * age + by_pose * moved + by_twist * faster;
        Response { wrench: Wrench::from_column(&column), by_pose, by_twist }
    }
}

/// Position and direction of the first contact of a cluster, and the index of its body's place: see [`FIRST_MERGE`].
#[derive(Clone, Copy, Debug)]
struct Leader([f64; 6], u32);

impl Leader {
    fn is_near(&self, other: &Self, distance: f64) -> bool {
        let squares = self.0.iter().zip(&other.0).map(|(a, b)| (a - b) * (a - b));
        self.1 == other.1 && squares.sum::<f64>() <= distance * distance
    }
}

/// Builds a linearised model, contact by contact: by the incremental clustering of Charikar, Chekuri, Feder & Motwani
/// (1997, the doubling algorithm), in one pass and in the order of the contacts. The sum of all clusters is that of all
/// contacts.
#[derive(Debug)]
pub(super) struct Builder {
    model: Linearised,
    /// Place of the body whose contacts are being added, and its index once there is a cluster for it.
    current: Place,
    place: Option<u32>,
    /// Largest number of clusters.
    most: usize,
    /// For each cluster.
    leaders: Vec<Leader>,
    /// Velocity at the tool's centre of the body of each place.
    velocities: Vec<Vec3>,
    /// ∂W/∂pose of each cluster, as far as the motion of obstacles is in its drift.
    drifting: Vec<Mat6>,
    /// Radius of the tool, metres.
    radius: f64,
    /// Contacts within this distance of a leader join its cluster.
    merge: f64,
}

impl Builder {
    /// Makes a builder for a tool of this radius, metres, and a number of bodies.
    pub fn new(at: Kinematics, radius: f64, bodies: usize) -> Self {
        let most = most_clusters(bodies);
        Self {
            model: Linearised::none(at, bodies),
            current: Place::default(),
            place: None,
            most,
            leaders: with_capacity(most),
            velocities: with_capacity(bodies),
            drifting: with_capacity(most),
            radius: radius.max(1e-9),
            merge: 0.0,
        }
    }

    /// Starts a new model without contacts, at a state of the tool.
    pub fn begin(&mut self, at: Kinematics) {
        (self.model.at, self.model.lag) = (at, 0.0);
        (self.merge, self.place) = (0.0, None);
        self.model.places.clear();
        self.model.clusters.clear();
        self.model.signs.clear();
        self.model.sum = Cluster::NONE;
        self.leaders.clear();
        self.velocities.clear();
        self.drifting.clear();
    }

    /// Returns the state of the tool.
    pub fn at(&self) -> &Kinematics {
        &self.model.at
    }

    /// Finishes the model: no contact is added afterwards.
    pub fn finish(&mut self) -> &Linearised {
        let Linearised { clusters, signs, sum, .. } = &mut self.model;
        signs.clear();
        let sign = |cluster: &Cluster| Sign::of(cluster, &self.velocities[cluster.place as usize], self.radius);
        signs.extend_guarded(clusters.iter().map(sign));
        *sum = Cluster::NONE;
        clusters.iter().for_each(|cluster| sum.add(cluster));
        &self.model
    }

    /// Begins the contacts with a body.
    pub fn begin_obstacle(&mut self, place: Place) {
        self.current = place;
        self.place = self.model.places.iter().position(|p| p.body == place.body).map(|k| k as u32);
    }

    /// Makes the middle of a motion the state to which the contacts belong: their wrenches are means over that motion.
    /// `center` is that of the tool at the motion's beginning, and `time` its duration, seconds.
    ///
    /// For contacts that last, the mean is the wrench in the middle. Used for the end of the motion it comes half a
    /// round late, and the tool overshoots by half of what it moves in a round.
    pub fn refer_to_middle(&mut self, from: &Pose, center: &Vec3, time: f64) {
        let at = &mut self.model.at;
        at.center = (at.center + center) * 0.5;
        let turn = scaled_axis(&(at.pose.rotation * from.rotation.inverse()));
        at.pose.rotation = from_scaled_axis(turn * 0.5) * from.rotation;
        at.pose.translation.vector = (at.pose.translation.vector + from.translation.vector) * 0.5;
        self.model.lag = 0.5 * time;
    }

    /// Multiplies the wrenches of all contacts.
    pub fn scale(&mut self, factor: f64) {
        for (cluster, drifting) in self.model.clusters.iter_mut().zip(&mut self.drifting) {
            cluster.response = cluster.response.scaled(factor);
            cluster.drift *= factor;
            *drifting *= factor;
        }
    }

    /// Returns the index of the body whose contacts are being added.
    pub fn obstacle(&self) -> usize {
        self.current.body as usize
    }

    /// Returns the wrench of all contacts at the state of the tool, about its centre.
    pub fn wrench(&self) -> Wrench {
        let mut sum = Wrench::ZERO;
        self.model.clusters.iter().for_each(|cluster| sum += cluster.response.wrench);
        sum
    }

    /// Ends the contacts with an obstacle; `twist` is the velocity of the obstacle at the tool's centre.
    pub fn end_obstacle(&mut self, twist: &Twist) {
        if let Some(place) = self.place {
            self.velocities[place as usize] = twist.linear;
        }
        let twist = twist.column();
        for (cluster, drifting) in self.model.clusters.iter_mut().zip(&mut self.drifting) {
            cluster.drift -= (cluster.response.by_pose - *drifting) * twist;
            *drifting = cluster.response.by_pose;
        }
    }

    /// Merges clusters until there is room for one more.
    fn make_room(&mut self) {
        while self.leaders.len() >= self.most {
            self.merge = (2.0 * self.merge).max(FIRST_MERGE);
            let mut i = 0;
            while i < self.leaders.len() {
                let mut k = i + 1;
                while k < self.leaders.len() {
                    if self.leaders[i].is_near(&self.leaders[k], self.merge) {
                        self.leaders.swap_remove(k);
                        let other = self.model.clusters.swap_remove(k);
                        self.model.clusters[i].add(&other);
                        let drifting = self.drifting.swap_remove(k);
                        self.drifting[i] += drifting;
                    } else {
                        k += 1;
                    }
                }
                i += 1;
            }
        }
    }
}

impl Sums for Builder {
    fn of(&mut self, point: &Vec3, push: &Vec3) -> &mut Response {
        let arm = (point - self.model.at.center) / self.radius;
        let place = self.place.unwrap_or(self.model.places.len() as u32);
        if self.place.is_none() {
            self.model.places.push_guarded(self.current);
            self.velocities.push_guarded(Vec3::zeros());
            self.place = Some(place);
        }
        let leader = Leader([arm.x, arm.y, arm.z, push.x, push.y, push.z], place);
        let near = |builder: &Self| builder.leaders.iter().position(|l| l.is_near(&leader, builder.merge));
        let mut found = near(self);
        if found.is_none() && self.leaders.len() >= self.most {
            self.make_room();
            found = near(self);
        }
        let k = found.unwrap_or_else(|| {
            self.leaders.push_guarded(leader);
            self.drifting.push_guarded(Mat6::zeros());
            self.model.clusters.push_guarded(Cluster { place, ..Cluster::NONE });
            self.leaders.len() - 1
        });
        &mut self.model.clusters[k].response
    }

    fn gradient(gradient: &Vec3, push: &Vec3) -> Vec3 {
        gradient + push * (STEEPEST * gradient.norm() - gradient.dot(push)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_base::math::Rotation;

    /// A spring along `push` at an arm from the centre, pressed by `depth`.
    #[derive(Clone, Copy)]
    struct Spring {
        arm: Vec3,
        push: Vec3,
        depth: f64,
    }

    const STIFFNESS: f64 = 1e4;
    const RADIUS: f64 = 0.03;

    impl Spring {
        fn row(&self) -> Vec6 {
            let moment = self.arm.cross(&self.push);
            Twist { linear: self.push, angular: moment }.column()
        }

        fn response(&self) -> Response {
            let row = self.row();
            let wrench = Wrench::from_column(&(row * (STIFFNESS * self.depth)));
            Response { wrench, by_pose: row * row.transpose() * -STIFFNESS, by_twist: Mat6::zeros() }
        }

        /// Returns the wrench after a motion: the spring does not pull.
        fn after(&self, moved: &Vec6) -> Vec6 {
            let row = self.row();
            row * (STIFFNESS * (self.depth - row.dot(moved)).max(0.0))
        }
    }

    fn built(springs: &[Spring], twist: &Twist) -> Builder {
        let mut builder = Builder::new(Kinematics::still(&Pose::identity()), RADIUS, 2);
        for spring in springs {
            *builder.of(&spring.arm, &spring.push) += spring.response();
        }
        builder.end_obstacle(twist);
        builder
    }

    fn at(shift: Vec3) -> Kinematics {
        Kinematics::still(&Pose::translation(shift.x, shift.y, shift.z))
    }

    /// Returns springs all over the walls at y = ±2 cm, each pressed by up to 0.1 mm.
    fn walls(each: u32) -> Vec<Spring> {
        let spring = |n: u32| {
            let side = if n % 2 == 0 { 1.0 } else { -1.0 };
            let turn = f64::from(n) * 2.4;
            let far = 0.02 * (f64::from(n) / f64::from(2 * each)).sqrt();
            let arm = Vec3::new(far * turn.cos(), -0.02 * side, far * turn.sin());
            Spring { arm, push: Vec3::y() * side, depth: 5e-5 * (1.0 + (5.0 * turn).sin()) }
        };
        (0..2 * each).map(spring).collect()
    }

    #[test]
    fn few_contacts_end_one_by_one() {
        let springs = walls(12);
        let mut builder = built(&springs, &Twist::ZERO);
        assert_eq!(builder.finish().clusters.len(), MAX_CLUSTERS);
        for n in -12..=12 {
            let shift = Vec3::new(1e-5, 1e-5 * f64::from(n), -2e-5);
            let moved = Twist { linear: shift, angular: Vec3::zeros() }.column();
            let expected: Vec6 = springs.iter().map(|s| s.after(&moved)).sum();
            let found = builder.finish().predict(&at(shift), 0.0).wrench.column();
            assert!((found - expected).norm() < 1e-9, "{n}: {found} {expected}");
        }
    }

    #[test]
    fn many_contacts_become_few_with_the_same_sum() {
        let springs = walls(700);
        let mut builder = built(&springs, &Twist::ZERO);
        let count = builder.finish().clusters.len();
        assert!((6..=MAX_CLUSTERS).contains(&count), "{count}");
        let expected: Vec6 = springs.iter().map(|s| s.response().wrench.column()).sum();
        let size: f64 = springs.iter().map(|s| s.response().wrench.force.norm()).sum();
        for found in [builder.wrench(), builder.finish().predict(&at(Vec3::zeros()), 0.0).wrench] {
            assert!((found.column() - expected).norm() < 1e-12 * size, "{found:?} {expected}");
        }
        // None mixes the two walls: away from one by 0.1 mm, only the other pushes.
        for side in [1.0, -1.0] {
            let shift = Vec3::y() * (1e-4 * side);
            let moved = Twist { linear: shift, angular: Vec3::zeros() }.column();
            let expected: Vec6 = springs.iter().map(|s| s.after(&moved)).sum();
            let found = builder.finish().predict(&at(shift), 0.0).wrench.column();
            assert!((found - expected).norm() < 1e-9 * size, "{side}: {found} {expected}");
        }
    }

    #[test]
    fn the_drift_is_that_of_each_obstacle() {
        let (first, second) = (walls(300), walls(40));
        let twists = [Vec3::new(0.01, -0.02, 0.0), Vec3::new(0.0, 0.005, 0.03)];
        let twists = twists.map(|linear| Twist { linear, angular: linear * 0.5 });
        let mut builder = built(&first, &twists[0]);
        let mut expected = Vec6::zeros();
        for (springs, twist) in [(&first, &twists[0]), (&second, &twists[1])] {
            for spring in springs {
                expected -= spring.response().by_pose * twist.column();
            }
        }
        builder.begin_obstacle(Place { body: 1, ..Place::default() });
        for spring in &second {
            *builder.of(&spring.arm, &spring.push) += spring.response();
        }
        builder.end_obstacle(&twists[1]);
        let found: Vec6 = builder.finish().clusters.iter().map(|c| c.drift).sum();
        assert!((found - expected).norm() < 1e-12 * expected.norm(), "{found} {expected}");
    }

    #[test]
    fn no_contact_pushes_the_harder_the_farther_the_tool_is() {
        for degrees in [0.0f64, 60.0, 75.0, 90.0, 120.0, 180.0] {
            let gradient = Rotation::from_scaled_axis(Vec3::x() * degrees.to_radians()) * Vec3::y() * 0.8;
            let found = Builder::gradient(&gradient, &Vec3::y());
            assert!(found.y > 0.8 * (STEEPEST - 1e-12), "{degrees}: {found}");
            let (across, before) = (found - Vec3::y() * found.y, gradient - Vec3::y() * gradient.y);
            assert!((across - before).norm() < 1e-15 && (degrees > 75.0 || found == gradient), "{degrees}: {found}");
        }
    }

    /// By its linear model, a rotation can take back any shift.
    #[test]
    fn a_contact_ends_within_a_diameter_and_its_depth() {
        let spring = Spring { arm: Vec3::x() * RADIUS, push: Vec3::y(), depth: 1e-4 };
        for speed in [0.0, 0.4] {
            let mut builder = built(&[spring], &Twist { linear: Vec3::y() * speed, angular: Vec3::zeros() });
            let model = builder.finish();
            // The rotation takes the whole shift back, seen from the body, which moves by 4 cm in 0.1 s.
            let force = |shift: f64, age: f64| {
                let turn = Rotation::from_scaled_axis(Vec3::z() * -((shift - speed * age) / RADIUS));
                let pose = Pose::from_parts((Vec3::y() * shift).into(), turn);
                model.predict(&Kinematics::still(&pose), age).wrench.force.y
            };
            let farthest = 2.0 * RADIUS + spring.depth + speed * 0.1;
            assert!((force(0.99 * farthest, 0.1) - STIFFNESS * spring.depth).abs() < 1e-9, "{speed}");
            assert_eq!(force(1.01 * farthest, 0.1), 0.0, "{speed}");
        }
    }

    #[test]
    fn a_tool_without_extent_keeps_its_contact_over_its_depth() {
        let spring = Spring { arm: Vec3::zeros(), push: Vec3::y(), depth: 1e-4 };
        let mut builder = Builder::new(Kinematics::still(&Pose::identity()), 0.0, 1);
        *builder.of(&spring.arm, &spring.push) += spring.response();
        builder.end_obstacle(&Twist::ZERO);
        let model = builder.finish();
        for share in [0.0, 0.5, 0.99, 1.01, 1e3] {
            let force = model.predict(&at(Vec3::y() * (share * spring.depth)), 0.0).wrench.force.y;
            let expected = STIFFNESS * spring.depth * f64::max(1.0 - share, 0.0);
            assert!((force - expected).abs() < 1e-9, "{share}: {force} {expected}");
        }
    }

    /// A spring that moves evenly, averaged over a round: its linear model gives its force at the round's end.
    #[test]
    fn means_over_a_round_belong_to_its_middle() {
        let spring = Spring { arm: Vec3::new(0.0, -0.02, 0.0), push: Vec3::y(), depth: 5e-5 };
        let mut builder = built(&[spring], &Twist::ZERO);
        // The mean of a motion from 10 µm above the middle to 10 µm below.
        builder.begin(at(Vec3::y() * -1e-5));
        *builder.of(&spring.arm, &spring.push) += spring.response();
        builder.end_obstacle(&Twist { linear: Vec3::y() * 1e-3, angular: Vec3::zeros() });
        builder.refer_to_middle(&Pose::translation(0.0, 1e-5, 0.0), &(Vec3::y() * 1e-5), 0.01);
        let found = builder.finish().predict(&at(Vec3::y() * -1e-5), 0.0).wrench.force.y;
        // The obstacle has come 5 µm nearer in half of the round.
        assert!((found - STIFFNESS * 6.5e-5).abs() < 1e-9, "{found}");
    }

    /// Many bodies, each pressed by a few springs, so that there are more contacts than clusters.
    fn crowd(bodies: u32) -> (Builder, Vec<(Place, Vec<Spring>)>) {
        let mut builder = Builder::new(Kinematics::still(&Pose::identity()), RADIUS, bodies as usize);
        let mut made = Vec::new();
        for body in 0..bodies {
            let angle = f64::from(body);
            let place = Place {
                body,
                origin: Vec3::new(0.1 * angle.cos(), 0.1 * angle.sin(), 0.02),
                velocity: Vec3::new(0.0, 0.0, 0.01 * angle),
            };
            builder.begin_obstacle(place);
            let push = Vec3::new(-angle.cos(), -angle.sin(), 0.0);
            let springs: Vec<_> =
                (0..4).map(|k| Spring { arm: push * -RADIUS, push, depth: 1e-4 * f64::from(1 + k) }).collect();
            for spring in &springs {
                *builder.of(&spring.arm, &spring.push) += spring.response();
            }
            builder.end_obstacle(&Twist { linear: place.velocity, angular: Vec3::zeros() });
            made.push((place, springs));
        }
        (builder, made)
    }

    #[test]
    fn each_body_gets_the_opposite_of_its_own_contacts() {
        for bodies in [1, 7, 24, 60] {
            let (mut builder, made) = crowd(bodies);
            let model = builder.finish();
            let from = Kinematics::still(&Pose::identity());
            let to = at(Vec3::new(1e-6, -2e-6, 3e-6));
            let mut found = vec![Wrench::ZERO; bodies as usize];
            model.on_bodies([&from, &to], 0.0, |place, wrench| found[place.body as usize] += *wrench);
            let moved = Twist { linear: to.center, angular: Vec3::zeros() }.column();
            for ((place, springs), found) in made.iter().zip(&found) {
                let on_tool: Vec6 = springs.iter().map(|s| s.after(&moved)).sum();
                let expected = Wrench::from_column(&-on_tool).about(&(place.origin - to.center)).column();
                assert!((found.column() - expected).norm() < 1e-9 * expected.norm(), "{bodies} {}", place.body);
            }
            // Together they are the opposite of the load that the step takes.
            let whole = model.predict(&from, 0.0);
            let on_tool = whole.wrench.column() + whole.by_pose * moved;
            let sum: Vec6 = made.iter().zip(&found).map(|((p, _), w)| w.about(&(to.center - p.origin)).column()).sum();
            assert!((sum + on_tool).norm() < 1e-11 * made.len() as f64, "{bodies}: {sum} {on_tool}");
        }
    }
}
