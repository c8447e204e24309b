//! Pairs of shapes that stay near each other for a while: manifolds from step to step.

use std::fmt::Display;
use std::sync::Arc;

use super::batch::vxs_batch;
use super::check::{self, Growable};
use super::contact_triangles::vxs_contact_triangles;
use super::guard::{self, entry, Failure};
use super::handle::{self, Exclusive, Locked};
use super::query_options::vxs_query_report;
use super::record::argument::{list, Array};
use super::response::{kinematics, vxs_kinematics};
use super::status::*;
use super::types::*;
use crate::asset::{contact_triangles, Shape};
use crate::contact::{Coverage, Manifold, Motion, Origin, Pair, PairOptions, PairPoint, PairStep};
use crate::math::Pose;
use crate::memory::GrowGuarded;

/// Two shapes that stay near each other for a while, with the contacts that they had last. Used by one thread at a time.
pub struct vxs_pair {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_pair {
    type Value = Exclusive<Held>;
    const KIND: handle::Kind = handle::Kind::Pair;
}

/// Value of a `vxs_pair`.
pub struct Held {
    shapes: [Arc<Shape>; 2],
    pair: Pair,
    /// Those of the last update.
    poses: [Pose; 2],
    /// The answer, as C has it. The manifolds point into `points`.
    points: Vec<vxs_pair_point>,
    manifolds: Vec<vxs_manifold>,
}

// SAFETY: the pointers are to memory of the same value.
unsafe impl Send for Held {}

/// Settings of a pair; 0 means automatic. Fill it with `vxs_pair_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_pair_options {
    /// `sizeof(vxs_pair_options)`, set by `vxs_pair_options_init`.
    pub struct_size: u32,
    /// Largest number of points of a manifold. 0: 4.
    pub max_points: u32,
    /// Lengths below it do not matter, metres: an answer is kept, turned with the bodies, while no point of the smaller body has
    /// moved by more than a quarter of it against the other body. 0: 1/2,000 of the largest extent of the smaller body.
    pub tolerance: f64,
    /// Separation up to which surfaces have contacts, metres, now or at the end of the step. 0: four tolerances.
    pub margin: f64,
}

/// Motion of both bodies in a step.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_pair_step {
    /// Poses at the start of the step, and the velocities that the bodies have in the step if no contact stops them: those of
    /// gravity and other forces included.
    pub a: vxs_kinematics,
    pub b: vxs_kinematics,
    /// Length of the step, s, 0 or more. 0: no contact is found ahead of time.
    pub duration: f64,
    /// What gravity and other forces add to the linear velocities of A and of B in the step, m/s: parts of these velocities. A
    /// body that lies on a third one does not get it, so the gap of a point is that without the part which takes either body away
    /// from the other: a body that falls on one at rest is stopped at its surface. May be 0.
    pub gained_by_a: vxs_vec3,
    pub gained_by_b: vxs_vec3,
}

/// A pair that is to be updated, with its step.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_pair_in_step {
    pub pair: *mut vxs_pair,
    pub step: vxs_pair_step,
}

/// A contact point. World frame, metres.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_pair_point {
    /// Point on the surface of A, and point on the surface of B.
    pub point_on_a: vxs_vec3,
    pub point_on_b: vxs_vec3,
    /// Unit vector from A to B at this point.
    pub normal: vxs_vec3,
    /// Signed distance at the start of the step: negative when penetrating.
    pub separation: f64,
    /// Signed distance at the end of the step if nothing stops the bodies. An approach counts, a retreat does not.
    pub gap: f64,
    /// Unique in the pair, and the same from step to step. The upper 32 bits are the feature, as in `vxs_contact`.
    pub id: u64,
    /// Numbers of the caller, such as impulses. What is written here is found again in the point with the same id after the
    /// next update; 0 in a new point.
    pub user: [f64; 4],
}

/// Contact points with like normals: those of a contact region, a set of contacts that are connected in space and in normal.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_manifold {
    /// Unit vector from A to B, world frame: the mean of the normals of the points.
    pub normal: vxs_vec3,
    /// `count` points, in the order of their ids.
    pub points: *mut vxs_pair_point,
    pub count: usize,
    /// Number of the region, the same while it keeps some of its points.
    pub region: u32,
    /// Zero.
    pub reserved: u32,
}

/// The answer of a pair: memory of the pair, valid until its next update, reset or release.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_manifolds {
    /// `count` manifolds, in the order of their regions. Of a point only `user` may be written.
    pub data: *const vxs_manifold,
    pub count: usize,
}

/// The answer of the last update is that of the last search, turned with the bodies.
pub const VXS_PAIR_RECYCLED: u32 = 0;
/// The last update has searched.
pub const VXS_PAIR_SEARCHED: u32 = 1;

impl Growable for vxs_pair_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self { struct_size: 0, max_points: 0, tolerance: 0.0, margin: 0.0 }
    }
}

/// Fills `options` with the defaults: all automatic.
///
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_pair_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_options_init(options: *mut vxs_pair_options, size: usize) -> vxs_status {
    entry!(vxs_pair_options_init, [], { check::init(options, size, vxs_pair_options::defaults()) })
}

/// Largest number of points of a manifold.
const MOST_POINTS: u32 = 1024;

/// Makes a pair of two shapes, and prepares the shapes for its search.
///
/// @param a, b       the shapes of the two bodies; they may be the same. The pair retains them
/// @param options    null for the defaults
/// @param[out] pair  release it with `vxs_pair_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_create(
    a: *const vxs_shape,
    b: *const vxs_shape,
    options: *const vxs_pair_options,
    pair: *mut *mut vxs_pair,
) -> vxs_status {
    entry!(vxs_pair_create(a, b, options, pair), [a, b], {
        let shapes = [handle::get("a", a)?, handle::get("b", b)?];
        let options = vxs_pair_options::read(options)?;
        let options = PairOptions {
            tolerance: check::length_or_zero("options->tolerance", options.tolerance)?,
            margin: check::length_or_zero("options->margin", options.margin)?,
            max_points: check::in_range("options->max_points", options.max_points, 0, MOST_POINTS)? as usize,
        };
        check::out("pair", pair)?;
        for shape in shapes {
            shape.geometry_for(Coverage::Edges)?;
            shape.prepare_extremes();
        }
        let shapes = shapes.map(Arc::clone);
        handle::create("pair", pair, Exclusive::new(Held::new(shapes, Pair::new(options)?, [Pose::identity(); 2])))
    })
}

/// Frees a pair, and releases its shapes.
///
/// @param pair  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a pair), VXS_BUSY (it is in use)
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_release(pair: *mut vxs_pair) -> vxs_status {
    entry!(vxs_pair_release(pair), [], {
        // Null has no lock. Taking the lock makes sure that no call uses the pair.
        if !pair.is_null() {
            handle::get_to_release("pair", pair)?.lock("pair").map(std::mem::forget)?;
        }
        handle::release("pair", pair)
    })
}

/// Makes a pair with the same shapes, settings, points and numbers of the caller: for hosts that copy their state or roll it
/// back. The next update of both has the same answer.
///
/// @param pair       the pair to copy
/// @param[out] copy  release it with `vxs_pair_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_copy(pair: *const vxs_pair, copy: *mut *mut vxs_pair) -> vxs_status {
    entry!(vxs_pair_copy(pair, copy), [pair], {
        let mut held = handle::get("pair", pair)?.lock("pair")?;
        check::out("copy", copy)?;
        held.take_numbers();
        let mut copied = Held::new(held.shapes.clone(), held.pair.copied(), held.poses);
        copied.give();
        handle::create("copy", copy, Exclusive::new(copied))
    })
}

/// Forgets the points of a pair, as for a body that was moved by hand: the next answer is that of a new pair, byte for byte.
///
/// @param pair  its answer is empty afterwards
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_reset(pair: *mut vxs_pair) -> vxs_status {
    entry!(fast(vxs_pair_reset(pair)), [pair], {
        let mut held = handle::get("pair", pair)?.lock("pair")?;
        held.pair.reset();
        held.give();
        Ok(VXS_OK)
    })
}

/// Finds the contacts of a pair in a step.
///
/// The pair has a contact where the surfaces are closer than the margin, or will be at the end of the step: every edge that
/// passes through the other mesh, the sharp edges and corners that are as near, and the samples of the pointshells (as
/// `vxs_query_contacts` finds them with VXS_COVERAGE_EDGES). They are divided into regions, and each region is reduced to
/// `max_points`: the deepest, the one with the least gap, and those that are spread the widest. A contact ahead of time is
/// left out if its point, moved straight through the step, passes the other body by.
///
/// The same bodies and the same answer before give the same bytes. Once the pair is warm, the update allocates nothing and
/// takes no lock.
///
/// @param pair            used by one thread at a time
/// @param step            poses and velocities of both bodies
/// @param[out] manifolds  memory of the pair, valid until its next update, reset or release
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (no pointshell can be paired with a field),
///         VXS_BUSY. After an error the pair has the answer that it had before
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_update(
    pair: *mut vxs_pair,
    step: *const vxs_pair_step,
    manifolds: *mut vxs_manifolds,
) -> vxs_status {
    entry!(fast(vxs_pair_update(pair, step, manifolds)), [pair], {
        let pair = handle::get("pair", pair)?;
        let step = step_value("step->", &check::input("step", step)?)?;
        check::out("manifolds", manifolds)?;
        let mut held = pair.lock("pair")?;
        held.update(&step)?;
        check::write(manifolds, held.answer())
    })
}

/// Finds the contacts of many pairs, each as `vxs_pair_update` does, on the threads of `batch`. The answers do not depend on
/// the number of threads. A call wakes the threads and allocates a list of the pairs.
///
/// @param batch           used by one call at a time
/// @param pairs           `count` different pairs, each with its step
/// @param count           number of pairs
/// @param[out] manifolds  `count` answers, in the order of the pairs
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also if a pair is given twice), VXS_INVALID_HANDLE, VXS_UNSUPPORTED, VXS_BUSY (`batch` or
///         a pair is in use; or called by a progress callback), VXS_OUT_OF_MEMORY. The message names the first pair that failed;
///         the others are updated all the same if the arguments of all are valid
#[no_mangle]
pub unsafe extern "C" fn vxs_pairs_update(
    batch: *mut vxs_batch,
    pairs: *const vxs_pair_in_step,
    count: usize,
    manifolds: *mut vxs_manifolds,
) -> vxs_status {
    let mut body = || {
        let batch = handle::get("batch", batch)?;
        let pairs = check::slice("pairs", pairs, "count", count)?;
        check::out_array("manifolds", manifolds, "count", count)?;
        let mut batch = batch.lock("batch")?;
        let mut jobs = Vec::new();
        for (i, pair) in pairs.iter().enumerate() {
            let name = format!("pairs[{i}].pair");
            let held = handle::get(&name, pair.pair)?.lock(&name).map_err(|busy| {
                // Locked by this call.
                let first = pairs[..i].iter().position(|other| other.pair == pair.pair);
                first.map_or(busy, |first| {
                    Failure::argument(&name, format_args!("the pair of pairs[{first}]"), "each pair once")
                })
            })?;
            jobs.push_guarded(Job { held, step: step_value(format_args!("pairs[{i}].step."), &pair.step)? });
        }
        batch.each(&mut jobs, |job| job.held.update(&job.step))?;
        for (i, job) in jobs.iter().enumerate() {
            manifolds.add(i).write(job.held.answer());
        }
        Ok(VXS_OK)
    };
    let poison = || {
        handle::poison(batch);
        if let Ok(pairs) = check::slice("pairs", pairs, "count", count) {
            pairs.iter().for_each(|pair| handle::poison(pair.pair));
        }
    };
    guard::recorded!(
        Wait,
        vxs_pairs_update(batch, Array(pairs, count), count, Array(manifolds, count)),
        guard::run("vxs_pairs_update", &mut body, &poison)
    )
}

/// Reports on the last update of a pair: how its answer was found, and what its last search has tested.
///
/// @param pair         the pair
/// @param[out] origin  one of `VXS_PAIR_`; may be null
/// @param[out] report  of the last search; prepared by `vxs_query_report_init`; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_get_report(
    pair: *const vxs_pair,
    origin: *mut u32,
    report: *mut vxs_query_report,
) -> vxs_status {
    entry!(fast(vxs_pair_get_report(pair, origin, report)), [pair], {
        let pair = handle::get("pair", pair)?;
        check::out_optional("origin", origin)?;
        let held = pair.lock("pair")?;
        if !report.is_null() {
            vxs_query_report::of(held.pair.workspace()).write(report)?;
        }
        if !origin.is_null() {
            origin.write(match held.pair.origin() {
                Origin::Recycled => VXS_PAIR_RECYCLED,
                Origin::Searched => VXS_PAIR_SEARCHED,
            });
        }
        Ok(VXS_OK)
    })
}

/// Finds the triangles of the points of the last update, as `vxs_query_triangles` does for contacts: for each point and body
/// the closest triangle, its barycentric coordinates and its material. Allocates nothing and takes no lock once the shapes
/// are prepared (`vxs_shape_prepare_triangles`).
///
/// @param pair            used by one thread at a time
/// @param[out] triangles  at most `capacity`, in the order of the manifolds and of their points; may be null if `capacity` is 0
/// @param capacity        length of `triangles`
/// @param[out] count      number of points, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE,
///         VXS_BUSY, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_pair_get_triangles(
    pair: *const vxs_pair,
    triangles: *mut vxs_contact_triangles,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(fast(vxs_pair_get_triangles(pair, list(triangles, capacity, count), capacity, count)), [pair], {
        let pair = handle::get("pair", pair)?;
        let list = check::list("triangles", triangles, capacity, count)?;
        let held = pair.lock("pair")?;
        let [a, b] = &held.shapes;
        // Outputs are written only on success: nothing fails after this.
        a.locator()?;
        b.locator()?;
        let [pose_a, pose_b] = &held.poses;
        let points = held.pair.points().iter();
        list.write(
            points.map(|point| contact_triangles((a, pose_a), (b, pose_b), &point.into()).unwrap_or_default().into()),
        )
    })
}

/// A pair whose arguments are checked.
struct Job<'a> {
    held: Locked<'a, Held>,
    step: PairStep,
}

fn step_value(argument: impl Display, step: &vxs_pair_step) -> Result<PairStep, Failure> {
    let motion = |name: &str, of: &vxs_kinematics| -> Result<Motion, Failure> {
        let k = kinematics(format_args!("{argument}{name}"), of)?;
        Ok(Motion {
            pose: k.pose,
            center_of_mass: k.center,
            linear_velocity: k.twist.linear,
            angular_velocity: k.twist.angular,
        })
    };
    let duration = check::not_negative(format_args!("{argument}duration"), step.duration)?;
    let gained = [
        check::quantities(format_args!("{argument}gained_by_a"), step.gained_by_a)?,
        check::quantities(format_args!("{argument}gained_by_b"), step.gained_by_b)?,
    ];
    Ok(PairStep { a: motion("a", &step.a)?, b: motion("b", &step.b)?, duration, gained })
}

impl Held {
    fn new(shapes: [Arc<Shape>; 2], pair: Pair, poses: [Pose; 2]) -> Self {
        Self { shapes, pair, poses, points: Vec::new(), manifolds: Vec::new() }
    }

    fn update(&mut self, step: &PairStep) -> crate::Result<()> {
        self.take_numbers();
        let [a, b] = &self.shapes;
        let (of_a, of_b) = (a.geometry_for(Coverage::Edges)?, b.geometry_for(Coverage::Edges)?);
        self.pair.update([&of_a, &of_b], Some([a.owner(), b.owner()]), step)?;
        self.poses = [step.a.pose, step.b.pose];
        self.give();
        Ok(())
    }

    /// Takes over the numbers that the caller has written.
    fn take_numbers(&mut self) {
        for (point, given) in self.pair.points_mut().iter_mut().zip(&self.points) {
            point.user = given.user;
        }
    }

    /// Writes the answer for C.
    fn give(&mut self) {
        self.points.clear();
        self.pair.points().iter().for_each(|point| self.points.push_guarded(point.into()));
        self.manifolds.clear();
        let points = self.points.as_mut_ptr();
        for manifold in self.pair.manifolds() {
            let Manifold { normal, first, count, region } = *manifold;
            let points = points.wrapping_add(first);
            self.manifolds.push_guarded(vxs_manifold { normal: normal.into(), points, count, region, reserved: 0 });
        }
    }

    fn answer(&self) -> vxs_manifolds {
        vxs_manifolds { data: self.manifolds.as_ptr(), count: self.manifolds.len() }
    }
}

impl From<&PairPoint> for vxs_pair_point {
    fn from(point: &PairPoint) -> Self {
        let PairPoint { point_on_a, point_on_b, normal, separation, gap, id, user } = *point;
        let [point_on_a, point_on_b, normal] = [point_on_a, point_on_b, normal].map(Into::into);
        Self { point_on_a, point_on_b, normal, separation, gap, id, user }
    }
}
