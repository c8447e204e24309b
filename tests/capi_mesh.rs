//! Meshes through the C ABI: the values of `vxs_shape_get_info`, and meshes that are too small.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use support::rng::Rng;
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::shape::*;
use voxshell::capi::shape_info::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;
use voxshell::mesh::{primitives, TriMesh};

fn ball() -> TriMesh {
    primitives::sphere(0.5, 2).unwrap()
}

/// Returns the mesh as C programs pass it.
fn arrays(mesh: &TriMesh) -> (Vec<vxs_vec3>, Vec<u32>) {
    let vertices = mesh.vertices.iter().map(|&[x, y, z]| vxs_vec3 { x, y, z }).collect();
    (vertices, mesh.triangles.iter().flatten().copied().collect())
}

fn options() -> vxs_cook_options {
    unsafe {
        let mut options = std::mem::zeroed();
        assert_eq!(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()), VXS_OK);
        options.resolution = 16;
        options
    }
}

unsafe fn info(shape: *const vxs_shape) -> vxs_shape_info {
    let mut info = std::mem::zeroed();
    assert_eq!(vxs_shape_info_init(&mut info, size_of::<vxs_shape_info>()), VXS_OK);
    assert_eq!(vxs_shape_get_info(shape, &mut info), VXS_OK);
    info
}

#[test]
fn shape_info_counts_duplicates_as_the_mesh_report_does() {
    let ball = ball();
    let n = ball.triangles.len();
    let with =
        |more: Vec<[u32; 3]>| TriMesh::new(ball.vertices.clone(), [ball.triangles.clone(), more].concat()).unwrap();
    let turned = |t: &[u32; 3]| [t[1], t[0], t[2]];
    let mut loose = ball.clone();
    loose.vertices.extend(ball.vertices.clone());
    loose.triangles.extend(ball.triangles.iter().map(|t| t.map(|i| i + ball.vertices.len() as u32)));
    let mut open = with(ball.triangles[..9].to_vec());
    open.triangles.remove(20);
    let cases = [
        ("none", ball.clone(), 0),
        ("all twice", with(ball.triangles.clone()), n),
        ("all three times", with([ball.triangles.clone(), ball.triangles.clone()].concat()), 2 * n),
        ("all twice, on vertices of their own", loose, n),
        ("some twice", with(ball.triangles.iter().step_by(3).copied().collect()), n.div_ceil(3)),
        ("all turned over", with(ball.triangles.iter().map(turned).collect()), 0),
        ("some turned over", with(ball.triangles[..9].iter().map(turned).collect()), 0),
        ("open, some twice", open, 9),
    ];
    for (name, mesh, expected) in cases {
        assert_eq!(mesh.report().duplicate_triangles, expected, "{name}");
        let ((vertices, indices), options) = (arrays(&mesh), options());
        let (count, triangles) = (vertices.len(), indices.len() / 3);
        let (mut cooked, mut exact) = (null_mut(), null_mut());
        unsafe {
            let (vertices, indices) = (vertices.as_ptr(), indices.as_ptr());
            let status = vxs_shape_create_from_triangles(vertices, count, indices, triangles, &options, &mut cooked);
            // The surface and its reverse enclose nothing.
            if name != "all turned over" {
                assert_eq!(status, VXS_OK, "{name}");
                assert_eq!(info(cooked).duplicate_triangles, expected as u64, "{name}");
                assert_eq!(vxs_shape_release(cooked), VXS_OK);
            }
            assert_eq!(
                vxs_shape_create_triangles(vertices, count, indices, triangles, 0.0, &mut exact),
                VXS_OK,
                "{name}"
            );
            assert_eq!(info(exact).duplicate_triangles, expected as u64, "{name}");
            assert_eq!(vxs_shape_release(exact), VXS_OK);
        }
    }
}

#[test]
fn meshes_too_small_for_a_shape_are_refused_by_size() {
    for size in [1e-150, 9e-19, 0.0] {
        let (vertices, indices) = arrays(&primitives::cuboid([0.5; 3]).unwrap().scaled(size));
        let (count, triangles) = (vertices.len(), indices.len() / 3);
        let (vertices, indices) = (vertices.as_ptr(), indices.as_ptr());
        let mut options = options();
        let mut bytes = 0;
        let mut shape = null_mut();
        unsafe {
            let refused = |call: &str, status: vxs_status| {
                assert_eq!(status, VXS_INVALID_MESH, "{call}, {size}");
                let said = CStr::from_ptr(vxs_last_error()).to_str().unwrap();
                let expected = "m large; expected an extent of at least 1e-18 m";
                assert!(said.contains(&format!("it is {size:e} {expected}")), "{call}: {said}");
            };
            refused(
                "from triangles",
                vxs_shape_create_from_triangles(vertices, count, indices, triangles, null(), &mut shape),
            );
            for (voxel_size, target_error) in [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-3)] {
                (options.voxel_size, options.target_error) = (voxel_size, target_error);
                refused(
                    "cook",
                    vxs_shape_create_from_triangles(vertices, count, indices, triangles, &options, &mut shape),
                );
            }
            refused("estimate", vxs_cook_estimate_memory(vertices, count, indices, triangles, null(), &mut bytes));
            refused("triangles", vxs_shape_create_triangles(vertices, count, indices, triangles, 0.0, &mut shape));
            refused("sheet", vxs_shape_create_sheet(vertices, count, indices, triangles, 0.01, &mut shape));
            assert!(shape.is_null() && bytes == 0);
        }
    }
}

/// Each triangle has corners of its own, which differ by the last bit.
#[test]
fn cracks_within_the_weld_tolerance_do_not_open_a_mesh() {
    let whole = primitives::cuboid([0.5, 0.3, 0.2]).unwrap();
    let mut rng = Rng(7);
    let mut corner = |v: u32| whole.vertices[v as usize].map(|x| x * (1.0 + (rng.next() % 3) as f64 * f64::EPSILON));
    let vertices = whole.triangles.iter().flatten().map(|&v| corner(v)).collect();
    let triangles = (0..whole.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let ((vertices, indices), mut shape) = (arrays(&TriMesh { vertices, triangles }), null_mut());
    for (tolerance, is_closed) in [(0.0, false), (1e-15, true)] {
        unsafe {
            let (points, count) = (vertices.as_ptr(), vertices.len());
            let made =
                vxs_shape_create_triangles(points, count, indices.as_ptr(), indices.len() / 3, tolerance, &mut shape);
            assert_eq!(made, VXS_OK);
            let mut mass = std::mem::zeroed();
            assert_eq!(vxs_shape_get_mass_properties(shape, &mut mass), VXS_OK);
            assert_eq!((info(shape).mesh_closed == 1, (mass.volume - 0.24).abs() < 1e-14), (is_closed, is_closed));
            assert_eq!(vxs_shape_release(shape), VXS_OK);
        }
    }
}
