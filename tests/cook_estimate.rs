//! `vxs_cook_estimate_memory` against the peak of the allocator while the same call cooks: random meshes and options from
//! a seed.

use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use support::allocation::{peak, Counting};
use support::parts::Part;
use support::rng::Rng;
use support::{dense_meshes, long};
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;
use voxshell::mesh::{primitives, TriMesh};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Lets one test run at a time, because memory is measured over all threads.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that every estimate may have.
const ALWAYS: u64 = 6_000_000;

/// One mesh and the options to cook it with.
struct Case {
    name: String,
    mesh: TriMesh,
    options: vxs_cook_options,
}

/// Returns a mesh from a seed and its name: closed, open, or with many triangles in one place.
fn mesh(rng: &mut Rng) -> (&'static str, TriMesh) {
    let seed = rng.next();
    let size = 1 + (rng.next() % 40) as usize;
    match rng.next() % 8 {
        0 | 1 => ("closed parts", Part::new(seed).mesh),
        2 => {
            let mut mesh = Part::new(seed).mesh;
            let kept = 0.3 + 0.65 * rng.fraction();
            mesh.triangles.retain(|_| rng.fraction() < kept);
            ("parts with holes", mesh)
        }
        3 => {
            let mut mesh = primitives::sphere(0.5, 2 + (rng.next() % 3) as u32).unwrap();
            let (vertices, cut) = (mesh.vertices.clone(), 0.8 * rng.unit() * 0.5);
            mesh.triangles.retain(|t| t.iter().all(|&i| vertices[i as usize][2] < cut));
            ("part of a sphere", mesh)
        }
        4 => {
            let mut mesh = primitives::cuboid([0.5, 0.3, 0.1 + 0.4 * rng.fraction()]).unwrap();
            mesh.triangles.truncate(2 + (rng.next() % 11) as usize);
            ("open box", mesh)
        }
        5 => ("star", dense_meshes::star(40 * size)),
        6 => ("fan", dense_meshes::fan(50 * size)),
        _ => ("torus", primitives::torus(0.35, 0.05 + 0.1 * rng.fraction(), 20 + 4 * size as u32, 12).unwrap()),
    }
}

fn case(seed: u64) -> Case {
    let mut rng = Rng(seed);
    let (name, mesh) = mesh(&mut rng);
    // SAFETY: zeros are a value of the struct, and the pointer is that of a live one.
    let mut options = unsafe { std::mem::zeroed::<vxs_cook_options>() };
    assert_eq!(unsafe { vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()) }, VXS_OK);
    options.resolution = 6 + (70.0 * rng.fraction() * rng.fraction()) as u32;
    options.forms = [3, 3, 3, VXS_FORM_FIELD, VXS_FORM_POINTSHELL][(rng.next() % 5) as usize];
    options.field_storage = [0, VXS_STORAGE_DENSE, VXS_STORAGE_BRICKS, VXS_STORAGE_EXACT][(rng.next() % 4) as usize];
    options.padding_voxels = (rng.next() % 7) as u32;
    options.sampling = (rng.next() % 5) as u32;
    options.clustering = (rng.next() % 2) as u32;
    options.tree = (rng.next() % 2) as u32;
    let voxel = mesh.bounds().extents().max() / f64::from(options.resolution);
    match rng.next() % 3 {
        0 => options.spacing = voxel * (0.5 + 2.0 * rng.fraction()),
        1 => options.sample_count = 50 + (rng.next() % 3000) as u32,
        _ => {}
    }
    if rng.next() % 3 == 0 {
        options.offset = voxel * (1.8 + 6.0 * rng.fraction() * rng.fraction());
    }
    Case { name: format!("case {seed}, {name} of {} triangles", mesh.triangles.len()), mesh, options }
}

/// Returns the estimate, bytes, and the memory that it took itself.
fn estimates(case: &Case) -> (u64, usize) {
    let vertices: Vec<vxs_vec3> = case.mesh.vertices.iter().map(|v| vxs_vec3 { x: v[0], y: v[1], z: v[2] }).collect();
    let (indices, triangles) = (case.mesh.triangles.as_ptr().cast::<u32>(), case.mesh.triangles.len());
    let mut bytes = 0;
    // SAFETY: the pointers are those of live values.
    let (status, most) = peak(|| unsafe {
        vxs_cook_estimate_memory(vertices.as_ptr(), vertices.len(), indices, triangles, &case.options, &mut bytes)
    });
    assert_eq!(status, VXS_OK, "{}", case.name);
    (bytes, most)
}

/// Returns the estimate and the peak of cooking, bytes; `None` if the mesh or the options are refused.
fn estimate_and_peak(case: &Case) -> Option<(u64, u64)> {
    let vertices: Vec<vxs_vec3> = case.mesh.vertices.iter().map(|v| vxs_vec3 { x: v[0], y: v[1], z: v[2] }).collect();
    let (indices, triangles) = (case.mesh.triangles.as_ptr().cast::<u32>(), case.mesh.triangles.len());
    let (mut bytes, mut shape) = (0, null_mut());
    // SAFETY: the pointers are those of live values.
    unsafe {
        let (points, count) = (vertices.as_ptr(), vertices.len());
        let estimated = vxs_cook_estimate_memory(points, count, indices, triangles, &case.options, &mut bytes);
        // A limit of this size is accepted.
        let options = vxs_cook_options { memory_limit: bytes, ..case.options };
        let (status, most) =
            peak(|| vxs_shape_create_from_triangles(points, count, indices, triangles, &options, &mut shape));
        if estimated != VXS_OK || status != VXS_OK {
            let message = std::ffi::CStr::from_ptr(vxs_last_error()).to_string_lossy();
            assert!(status != VXS_PANIC && status != VXS_TOO_LARGE, "{}: {message}", case.name);
            return None;
        }
        assert_eq!(vxs_shape_release(shape), VXS_OK);
        Some((bytes, most as u64))
    }
}

/// Returns the ratio of the estimate and the peak of a case that is neither refused nor too low.
fn ratio(case: &Case) -> Option<f64> {
    let (estimate, peak) = estimate_and_peak(case)?;
    eprintln!("{}: {estimate} bytes, {:.2} times the peak", case.name, estimate as f64 / peak as f64);
    assert!(estimate >= peak, "{}: {estimate} bytes of {peak}, {:?}", case.name, case.options);
    Some(estimate.saturating_sub(ALWAYS) as f64 / peak as f64)
}

/// Holes that the coarse grid of the estimate does not see.
#[test]
fn the_estimate_counts_membranes_across_small_holes() {
    let _alone = alone();
    let mut sieve = primitives::sphere(0.5, 5).unwrap();
    sieve.triangles = sieve.triangles.into_iter().enumerate().filter(|(n, _)| n % 10 != 0).map(|(_, t)| t).collect();
    for storage in [VXS_STORAGE_DENSE, VXS_STORAGE_BRICKS] {
        let mut options = case(0).options;
        (options.resolution, options.forms, options.field_storage, options.offset) =
            (120, VXS_FORM_FIELD, storage, 0.0);
        let case = Case { name: format!("sieve in storage {storage}"), mesh: sieve.clone(), options };
        assert!(ratio(&case).unwrap() < 10.0);
    }
}

#[test]
fn the_estimate_is_at_least_the_peak_of_cooking() {
    let _alone = alone();
    let cases = if long() { 1200 } else { 64 };
    let ratios: Vec<f64> = (0..cases).filter_map(|seed| ratio(&case(seed))).collect();
    let (median, most) = middle_and_most(ratios.clone());
    let large = ratios.iter().filter(|&&ratio| ratio > 10.0).count();
    eprintln!("{} of {cases} cooked, {median:.2} times the peak in the middle, {most:.2} at most", ratios.len());
    assert!(2 * ratios.len() as u64 > cases);
    assert!(median < 2.0 && 100 * large <= ratios.len(), "{median} times the peak, and {large} are large");
}

/// Returns the median and the largest number.
fn middle_and_most(mut numbers: Vec<f64>) -> (f64, f64) {
    numbers.sort_unstable_by(f64::total_cmp);
    (numbers[numbers.len() / 2], numbers[numbers.len() - 1])
}

#[test]
fn the_estimate_of_a_huge_grid_is_a_number() {
    let _alone = alone();
    let mut open = primitives::cuboid([0.5; 3]).unwrap();
    open.triangles.truncate(10);
    for mesh in [primitives::cuboid([0.5; 3]).unwrap(), open] {
        for (voxel_size, padding_voxels, offset) in
            [(1e-9, 4, 0.0), (1e-9, 4, 0.1), (0.02, u32::MAX, 0.0), (0.02, u32::MAX, 0.1)]
        {
            for field_storage in [VXS_STORAGE_DENSE, VXS_STORAGE_BRICKS] {
                let options = vxs_cook_options { voxel_size, padding_voxels, offset, field_storage, ..case(0).options };
                let name = format!("{voxel_size} {padding_voxels} {offset} {field_storage}");
                let (estimate, _) = estimates(&Case { name, mesh: mesh.clone(), options });
                assert!(estimate > 1 << 40, "{estimate} bytes");
            }
        }
    }
}
