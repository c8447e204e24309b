//! Checks of all arguments before they reach the core. Messages name the argument, its value and the expected values.

use std::ffi::{c_char, CStr};
use std::fmt::{Arguments, Display};
use std::mem::size_of;
use std::path::PathBuf;

use super::failure::Failure;
use super::status::*;
use super::types::*;
use crate::math::{limits, Pose, Vec3};
use crate::memory::{CollectGuarded, SliceGuarded};

impl From<Vec3> for vxs_vec3 {
    fn from(v: Vec3) -> Self {
        Self { x: v.x, y: v.y, z: v.z }
    }
}

/// Largest accepted deviation of a quaternion's norm from 1.
const UNIT_TOLERANCE: f64 = 1e-6;

fn usable<T>(argument: &str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(unusable(argument, pointer.cast(), align_of::<T>()));
    }
    Ok(())
}

#[cold]
fn unusable(argument: &str, pointer: *const u8, alignment: usize) -> Failure {
    if pointer.is_null() {
        return Failure::argument(argument, "null", "a valid pointer");
    }
    Failure::argument(argument, format!("{pointer:p}"), &format!("a pointer aligned to {alignment} bytes"))
}

/// Checks an output that must not be null.
pub(super) fn out<T>(argument: &str, pointer: *mut T) -> Result<(), Failure> {
    usable(argument, pointer)
}

/// Checks an output that may be null.
pub(super) fn out_optional<T>(argument: &str, pointer: *mut T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Ok(());
    }
    usable(argument, pointer)
}

/// Checks an output array, which may be null if the capacity is 0.
pub(super) fn out_array<T>(
    argument: &str,
    pointer: *mut T,
    capacity_argument: &str,
    capacity: usize,
) -> Result<(), Failure> {
    array_length::<T>(capacity_argument, capacity)?;
    if capacity == 0 {
        return Ok(());
    }
    usable(argument, pointer)
}

/// An output array of the caller with a capacity, and the output for its count.
pub(super) struct List<T> {
    out: *mut T,
    capacity: usize,
    count: *mut usize,
}

/// Checks the arguments of a list. `name` is the argument of the array, beside `capacity` and `count`.
pub(super) fn list<T>(name: &str, out: *mut T, capacity: usize, count: *mut usize) -> Result<List<T>, Failure> {
    out_array(name, out, "capacity", capacity)?;
    self::out("count", count)?;
    Ok(List { out, capacity, count })
}

impl<T> List<T> {
    /// Writes as many elements of `found` as fit, and the number of all.
    pub(super) unsafe fn write(self, found: impl ExactSizeIterator<Item = T>) -> Result<vxs_status, Failure> {
        let count = found.len();
        for (i, item) in found.take(self.capacity).enumerate() {
            self.out.add(i).write(item);
        }
        self.count.write(count);
        Ok(if count > self.capacity { VXS_TRUNCATED } else { VXS_OK })
    }
}

/// Writes an output that was checked by [`out`].
pub(super) unsafe fn write<T>(pointer: *mut T, value: T) -> Result<vxs_status, Failure> {
    pointer.write(value);
    Ok(VXS_OK)
}

fn array_length<T>(argument: &str, count: usize) -> Result<(), Failure> {
    let most = isize::MAX as usize / size_of::<T>();
    if count > most {
        return Err(Failure::argument(argument, count, &format!("at most {most}, which fills the address space")));
    }
    Ok(())
}

pub(super) unsafe fn slice<'a, T>(
    argument: &str,
    pointer: *const T,
    count_argument: &str,
    count: usize,
) -> Result<&'a [T], Failure> {
    array_length::<T>(count_argument, count)?;
    if count == 0 {
        return Ok(&[]);
    }
    usable(argument, pointer)?;
    Ok(std::slice::from_raw_parts(pointer, count))
}

/// Returns `value` if `fits` is true; `expected` describes the accepted values.
fn number(argument: impl Display, value: f64, fits: bool, expected: &str) -> Result<f64, Failure> {
    if fits {
        Ok(value)
    } else {
        Err(Failure::argument(&argument.to_string(), limits::Shown(value), expected))
    }
}

/// Checks a length of either sign, metres.
pub(super) fn coordinate(argument: impl Display, value: f64) -> Result<f64, Failure> {
    number(argument, value, limits::is_coordinate(value), "a finite length of at most 1e18 m")
}

/// Checks the size of a body, metres.
pub(super) fn length(argument: impl Display, value: f64) -> Result<f64, Failure> {
    number(argument, value, limits::is_length(value), "a positive, finite length of 1e-18 to 1e18 m")
}

/// Checks a length, metres. Zero stands for the default.
pub(super) fn length_or_zero(argument: impl Display, value: f64) -> Result<f64, Failure> {
    let fits = value >= 0.0 && limits::is_coordinate(value);
    number(argument, value, fits, "a positive, finite length of at most 1e18 m, or 0 for the default")
}

/// Checks a length that bounds a search, metres. A value beyond the largest coordinate acts like infinity, so only NaN
/// is refused.
pub(super) fn bound(argument: impl Display, value: f64) -> Result<f64, Failure> {
    number(argument, value, !value.is_nan(), "a length in metres, or infinity")
}

/// Checks a physical number that is not a length and not negative, SI units.
pub(super) fn not_negative(argument: impl Display, value: f64) -> Result<f64, Failure> {
    let fits = value >= 0.0 && limits::is_quantity(value);
    number(argument, value, fits, "a finite number, 0 or more, of at most 1e18")
}

/// Checks a physical number of either sign that is not a length, SI units.
pub(super) fn quantity(argument: impl Display, value: f64) -> Result<f64, Failure> {
    number(argument, value, limits::is_quantity(value), "a finite number of at most 1e18")
}

/// Checks a time that is used as a divisor, seconds.
pub(super) fn seconds(argument: impl Display, value: f64) -> Result<f64, Failure> {
    let fits = limits::is_positive_quantity(value);
    number(argument, value, fits, "a positive, finite time of 1e-30 to 1e18 s")
}

/// Checks a mass, kg.
pub(super) fn mass(argument: impl Display, value: f64) -> Result<f64, Failure> {
    number(argument, value, limits::is_positive_quantity(value), "a positive, finite mass of 1e-30 to 1e18 kg")
}

/// Converts a limit: zero stands for "no limit".
pub(super) fn limit(given: u64) -> u64 {
    if given == 0 {
        u64::MAX
    } else {
        given
    }
}

fn vec3(
    argument: impl Display,
    v: vxs_vec3,
    each: impl Fn(Arguments, f64) -> Result<f64, Failure>,
) -> Result<Vec3, Failure> {
    for (axis, value) in [("x", v.x), ("y", v.y), ("z", v.z)] {
        each(format_args!("{argument}.{axis}"), value)?;
    }
    Ok(Vec3::new(v.x, v.y, v.z))
}

/// Checks a point or a displacement, metres.
pub(super) fn point(argument: impl Display, v: vxs_vec3) -> Result<Vec3, Failure> {
    vec3(argument, v, |name, x| coordinate(name, x))
}

/// Checks a vector of physical numbers that are not lengths, SI units.
pub(super) fn quantities(argument: impl Display, v: vxs_vec3) -> Result<Vec3, Failure> {
    vec3(argument, v, |name, x| quantity(name, x))
}

pub(super) fn direction(argument: &str, v: vxs_vec3) -> Result<Vec3, Failure> {
    let v = vec3(argument, v, |name, x| number(name, x, x.is_finite(), "a finite number"))?;
    // Scales first, so that neither tiny nor huge components overflow or underflow.
    let largest = v.amax();
    if largest > 0.0 {
        Ok((v / largest).normalize())
    } else {
        Err(Failure::argument(argument, "(0, 0, 0)", "a vector that is not 0"))
    }
}

pub(super) fn axis(argument: &str, axis: u32) -> Result<usize, Failure> {
    if axis < 3 {
        Ok(axis as usize)
    } else {
        Err(Failure::argument(argument, axis, "0, 1 or 2, for x, y or z"))
    }
}

/// Returns the choice for one of the constants that start with `prefix`.
pub(super) fn choice<V: Copy>(argument: &str, value: u32, prefix: &str, choices: &[V]) -> Result<V, Failure> {
    choices.get(value as usize).copied().ok_or_else(|| {
        Failure::argument(argument, value, &format!("one of the {prefix} constants, 0 to {}", choices.len() - 1))
    })
}

/// Returns a choice of yes or no.
pub(super) fn flag(argument: &str, value: u32) -> Result<bool, Failure> {
    match value {
        0 | 1 => Ok(value == 1),
        _ => Err(Failure::argument(argument, value, "0 or 1")),
    }
}

/// Checks that features do not decrease.
pub(super) fn ascending(argument: &str, features: &[u32]) -> Result<(), Failure> {
    match features.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(i) => {
            let expected = format!("at least {argument}[{i}], which is {}: ascending order", features[i]);
            Err(Failure::argument(&format!("{argument}[{}]", i + 1), features[i + 1], &expected))
        }
        None => Ok(()),
    }
}

pub(super) fn in_range<V: PartialOrd + Display>(argument: &str, value: V, min: V, max: V) -> Result<V, Failure> {
    if value >= min && value <= max {
        Ok(value)
    } else {
        Err(Failure::argument(argument, value, &format!("{min} to {max}")))
    }
}

/// Reads a struct that the caller filled.
pub(super) unsafe fn input<T: Copy>(argument: &str, pointer: *const T) -> Result<T, Failure> {
    usable(argument, pointer)?;
    Ok(pointer.read())
}

pub(super) unsafe fn pose(argument: &str, pointer: *const vxs_pose) -> Result<Pose, Failure> {
    pose_value(format_args!("{argument}->"), &input(argument, pointer)?)
}

/// Checks a pose. `prefix` is the text before the names of the pose's fields in messages.
pub(super) fn pose_value(prefix: impl Display, p: &vxs_pose) -> Result<Pose, Failure> {
    let position = point(format_args!("{prefix}position"), p.position)?;
    let q = nalgebra::Quaternion::new(p.qw, p.qx, p.qy, p.qz);
    let norm = q.norm();
    // The comparison is also false for a norm that is NaN.
    if (norm - 1.0).abs() <= UNIT_TOLERANCE {
        Ok(Pose::from_parts(position.into(), nalgebra::UnitQuaternion::new_normalize(q)))
    } else {
        let value = format!("({}, {}, {}, {}), of norm {norm}", p.qx, p.qy, p.qz, p.qw);
        Err(Failure::argument(&format!("{prefix}qx..qw"), value, "a quaternion of norm 1 to within 1e-6"))
    }
}

pub(super) unsafe fn text<'a>(argument: &str, pointer: *const c_char) -> Result<&'a CStr, Failure> {
    usable(argument, pointer)?;
    Ok(CStr::from_ptr(pointer))
}

pub(super) unsafe fn path(argument: &str, pointer: *const c_char) -> Result<PathBuf, Failure> {
    let text = text(argument, pointer)?;
    if text.is_empty() {
        return Err(Failure::argument(argument, "empty", "the name of a file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(text.to_bytes()).into())
    }
    #[cfg(not(unix))]
    match text.to_str() {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(Failure::argument(argument, format!("{:?}", text), "UTF-8")),
    }
}

/// Returns the handle at the start of a struct that holds a shape, for the guard; null if there is none to read.
pub(super) unsafe fn shape_of<T>(body: *const T) -> *const vxs_shape {
    match usable("body", body) {
        Ok(()) => body.cast::<*const vxs_shape>().read(),
        Err(_) => std::ptr::null(),
    }
}

/// A struct whose first field is a pointer to a handle of kind `H`.
pub(super) trait StartsWith<H> {}

/// Returns the handle at the start of a struct, for the guard; null if there is none to read.
pub(super) unsafe fn first_of<T: StartsWith<H>, H>(body: *const T) -> *const H {
    match usable("body", body) {
        Ok(()) => body.cast::<*const H>().read(),
        Err(_) => std::ptr::null(),
    }
}

/// Copies points. `status` is the error for a point that is not finite, or beyond the limit.
pub(super) unsafe fn points(
    argument: &str,
    count_argument: &str,
    pointer: *const vxs_vec3,
    count: usize,
    status: vxs_status,
) -> Result<Vec<[f64; 3]>, Failure> {
    if count == 0 {
        return Err(Failure::new(status, format!("{count_argument} is 0; expected at least one point")));
    }
    let points = slice(argument, pointer, count_argument, count)?;
    for (i, p) in points.iter().enumerate() {
        point(format_args!("{argument}[{i}]"), *p).map_err(|f| Failure { status, ..f })?;
    }
    Ok(points.iter().map(|p| [p.x, p.y, p.z]).collect_guarded())
}

/// Copies triangles whose corners are all below `vertex_count`.
pub(super) unsafe fn triangles(
    argument: &str,
    pointer: *const u32,
    triangle_count: usize,
    vertex_count: usize,
) -> Result<Vec<[u32; 3]>, Failure> {
    let triangles = slice(argument, pointer.cast::<[u32; 3]>(), "triangle_count", triangle_count)?;
    for (t, corners) in triangles.iter().enumerate() {
        if let Some(c) = corners.iter().position(|index| *index as usize >= vertex_count) {
            return Err(Failure::mesh(format!(
                "{argument}[{}] (triangle {t}, corner {c}) is {}; expected less than vertex_count, which is {vertex_count}",
                3 * t + c,
                corners[c]
            )));
        }
    }
    Ok(triangles.to_vec_guarded())
}

/// A struct that starts with `struct_size` and grows at its end from release to release.
pub(super) trait Growable: Copy {
    /// Name of the argument in the entry points that take it.
    const ARGUMENT: &'static str;
    /// Sizes of the struct in all releases, the present one last. A release that appends fields keeps the earlier sizes.
    const SIZES: &'static [usize];
    /// True if null stands for the defaults.
    const NULLABLE: bool;

    /// Returns the defaults. `struct_size` is set when the struct is written.
    fn defaults() -> Self;

    /// Reads the caller's struct, with defaults for the fields that the caller's release does not have.
    unsafe fn read(pointer: *const Self) -> Result<Self, Failure> {
        Self::read_as(Self::ARGUMENT, pointer)
    }

    /// Like [`Growable::read`], for a pointer with another name in the caller's code: a field of another struct.
    unsafe fn read_as(argument: &str, pointer: *const Self) -> Result<Self, Failure> {
        let mut value = Self::defaults();
        if !(Self::NULLABLE && pointer.is_null()) {
            let size = given_size(argument, pointer)?;
            std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), std::ptr::addr_of_mut!(value).cast::<u8>(), size);
        }
        Ok(value)
    }

    /// Writes the fields that the caller's release has, and keeps its size.
    unsafe fn write(&self, pointer: *mut Self) -> Result<vxs_status, Failure> {
        let size = given_size(Self::ARGUMENT, pointer)?;
        fill(pointer, size, self);
        Ok(VXS_OK)
    }
}

unsafe fn given_size<T: Growable>(argument: &str, pointer: *const T) -> Result<usize, Failure> {
    usable(argument, pointer)?;
    let size = pointer.cast::<u32>().read() as usize;
    known_size(T::SIZES, format_args!("{argument}->struct_size"), size)
}

fn known_size(sizes: &[usize], argument: impl Display, size: usize) -> Result<usize, Failure> {
    if sizes.contains(&size) {
        return Ok(size);
    }
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let expected =
        format!("{} bytes, the size in a release of the library; fill it with its _init", sizes.join(" or "));
    Err(Failure::argument(&argument.to_string(), size, &expected))
}

unsafe fn fill<T: Growable>(pointer: *mut T, size: usize, value: &T) {
    std::ptr::copy_nonoverlapping(std::ptr::from_ref(value).cast::<u8>(), pointer.cast::<u8>(), size);
    pointer.cast::<u32>().write(size as u32);
}

/// Implements the `_init` functions.
pub(super) unsafe fn init<T: Growable>(pointer: *mut T, size: usize, value: T) -> Result<vxs_status, Failure> {
    usable(T::ARGUMENT, pointer)?;
    let size = known_size(T::SIZES, "size", size)?;
    fill(pointer, size, &value);
    Ok(VXS_OK)
}
