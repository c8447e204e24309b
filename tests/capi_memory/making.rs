//! Calls that make, read and write objects.

use std::ptr::{null, null_mut};

use voxshell::capi::asset::*;
use voxshell::capi::batch::*;
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_bodies::*;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::hulls::*;
use voxshell::capi::materials::*;
use voxshell::capi::pair::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::record::api::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;
use voxshell::capi::voxelmap::*;
use voxshell::capi::voxtree::*;
use voxshell::mesh::TriMesh;

use crate::scene::*;

/// Returns the vertices and indices of a mesh, as a host has them.
pub fn triangles(mesh: &TriMesh) -> (Vec<vxs_vec3>, Vec<u32>) {
    let vertices = mesh.vertices.iter().map(|v| vxs_vec3 { x: v[0], y: v[1], z: v[2] }).collect();
    (vertices, mesh.triangles.iter().flatten().copied().collect())
}

fn cook_options() -> vxs_cook_options {
    vxs_cook_options { resolution: 64, ..made(vxs_cook_options_init) }
}

/// Returns a call that makes a shape from triangles.
fn from_triangles(make: impl FnMut(*const vxs_vec3, usize, *const u32, usize) -> vxs_status + 'static) -> Run {
    of_mesh(&crate::torus(), make)
}

fn of_mesh(
    mesh: &TriMesh,
    mut make: impl FnMut(*const vxs_vec3, usize, *const u32, usize) -> vxs_status + 'static,
) -> Run {
    let (vertices, indices) = triangles(mesh);
    Box::new(move || make(vertices.as_ptr(), vertices.len(), indices.as_ptr(), indices.len() / 3))
}

fn voxtree_options() -> vxs_voxtree_options {
    let mut options = zeroed();
    ok(unsafe { vxs_voxtree_options_init(&mut options, size_of::<vxs_voxtree_options>(), 0.005) });
    options
}

fn voxtree(folder: &std::path::Path) -> *mut vxs_voxtree {
    let mut made = null_mut();
    ok(unsafe { vxs_voxtree_create_from_shape(torus(folder), &voxtree_options(), &mut made) });
    made
}

pub fn haptics_settings(renderer: u32, tool: *const vxs_shape) -> vxs_haptics_settings {
    let mut settings = zeroed();
    let size = size_of::<vxs_haptics_settings>();
    ok(unsafe { vxs_haptics_settings_init(&mut settings, size, renderer, tool, 0.2, null()) });
    settings
}

fn haptics(folder: &std::path::Path, renderer: u32) -> Run {
    let shape = torus(folder);
    let settings = haptics_settings(renderer, shape);
    let bodies = [0.1, 0.6, 2.0].map(|x| vxs_body { shape, pose: pose(x) });
    Box::new(move || unsafe {
        let mut made = null_mut();
        vxs_haptics_create(&settings, shape, bodies.as_ptr(), bodies.len(), &mut made)
    })
}

fn record(folder: &std::path::Path, buffer_bytes: u64) -> Run {
    let file = path(folder, &format!("record{}", std::process::id()));
    let options = vxs_record_options { buffer_bytes, ..made(vxs_record_options_init) };
    Box::new(move || unsafe {
        let status = vxs_record_start(file.as_ptr(), &options);
        if status != 0 {
            return status;
        }
        let mut workspace = null_mut();
        let made = vxs_workspace_create(&mut workspace);
        ok(vxs_record_stop(null_mut()));
        made
    })
}

pub const CALLS: &[Call] = &[
    Call {
        name: "vxs_workspace_create",
        prepare: |_| {
            Box::new(|| unsafe {
                let mut made = null_mut();
                vxs_workspace_create(&mut made)
            })
        },
    },
    Call {
        name: "vxs_batch_create, 1024 threads",
        prepare: |_| {
            Box::new(|| unsafe {
                let mut made = null_mut();
                vxs_batch_create(1024, &mut made)
            })
        },
    },
    Call {
        name: "vxs_batch_create, all processors",
        prepare: |_| {
            Box::new(|| unsafe {
                let mut made = null_mut();
                vxs_batch_create(0, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_from_triangles",
        prepare: |_| {
            let options = cook_options();
            from_triangles(move |vertices, n, indices, m| unsafe {
                let mut made = null_mut();
                vxs_shape_create_from_triangles(vertices, n, indices, m, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_from_triangles, bricks",
        prepare: |_| {
            let options = vxs_cook_options { field_storage: VXS_STORAGE_BRICKS, ..cook_options() };
            from_triangles(move |vertices, n, indices, m| unsafe {
                let mut made = null_mut();
                vxs_shape_create_from_triangles(vertices, n, indices, m, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_cook_estimate_memory",
        prepare: |_| {
            let options = cook_options();
            from_triangles(move |vertices, n, indices, m| unsafe {
                let mut bytes = 0;
                vxs_cook_estimate_memory(vertices, n, indices, m, &options, &mut bytes)
            })
        },
    },
    Call {
        name: "vxs_shape_create_from_file",
        prepare: |folder| {
            let (file, options) = (path(folder, "torus.obj"), cook_options());
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_create_from_file(file.as_ptr(), &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_primitive",
        prepare: |_| {
            let mut primitive: vxs_primitive = zeroed();
            let size = size_of::<vxs_primitive>();
            ok(unsafe { vxs_primitive_init(&mut primitive, size, VXS_PRIMITIVE_TORUS_KNOT) });
            primitive.detail = [0, 0, 1024, 64];
            let options = cook_options();
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_create_primitive(&primitive, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_box",
        prepare: |_| {
            Box::new(|| unsafe {
                let mut made = null_mut();
                vxs_shape_create_box(vxs_vec3 { x: 1.0, y: 1.0, z: 1.0 }, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_convex_hull",
        prepare: |_| {
            from_triangles(|vertices, n, _, _| unsafe {
                let mut made = null_mut();
                vxs_shape_create_convex_hull(vertices, n, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_sphere_hull",
        prepare: |_| {
            let radii = [0.1; 64];
            from_triangles(move |vertices, _, _, _| unsafe {
                let mut made = null_mut();
                vxs_shape_create_sphere_hull(vertices, radii.as_ptr(), 64, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_triangles",
        prepare: |_| {
            from_triangles(|vertices, n, indices, m| unsafe {
                let mut made = null_mut();
                vxs_shape_create_triangles(vertices, n, indices, m, 1e-6, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_sheet",
        prepare: |_| {
            from_triangles(|vertices, n, indices, m| unsafe {
                let mut made = null_mut();
                vxs_shape_create_sheet(vertices, n, indices, m, 0.1, &mut made)
            })
        },
    },
    Call {
        name: "vxs_voxelmap_create_from_triangles",
        prepare: |_| {
            let options = vxs_voxelmap_options { resolution: 64, ..made(vxs_voxelmap_options_init) };
            from_triangles(move |vertices, n, indices, m| unsafe {
                let mut made = null_mut();
                vxs_voxelmap_create_from_triangles(vertices, n, indices, m, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_hulls_create_from_triangles",
        prepare: |_| {
            let options = made(vxs_hulls_options_init);
            of_mesh(&crate::small_torus(), move |vertices, n, indices, m| unsafe {
                let mut made = null_mut();
                vxs_hulls_create_from_triangles(vertices, n, indices, m, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_load",
        prepare: |folder| {
            let file = path(folder, "torus.vxs");
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_load(file.as_ptr(), &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_deserialize",
        prepare: |folder| {
            let bytes = std::fs::read(folder.join("torus.vxs")).unwrap();
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_deserialize(bytes.as_ptr().cast(), bytes.len(), &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_save",
        prepare: |folder| {
            let (shape, file) = (torus(folder), path(folder, &format!("saved{}.vxs", std::process::id())));
            Box::new(move || unsafe { vxs_shape_save(shape, file.as_ptr()) })
        },
    },
    Call {
        name: "vxs_shape_serialize",
        prepare: |folder| {
            let shape = torus(folder);
            Box::new(move || unsafe {
                let mut size = 0;
                vxs_shape_serialize(shape, null_mut(), 0, &mut size)
            })
        },
    },
    Call {
        name: "vxs_shape_create_scaled",
        prepare: |folder| {
            let shape = torus(folder);
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_create_scaled(shape, 1.5, &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_with_materials",
        prepare: |folder| {
            let (shape, materials) = (torus(folder), vec![1; crate::torus().triangles.len()]);
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_create_with_materials(shape, materials.as_ptr(), materials.len(), &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_prepare_triangles",
        prepare: |folder| {
            let shape = torus(folder);
            Box::new(move || unsafe { vxs_shape_prepare_triangles(shape) })
        },
    },
    Call {
        name: "vxs_shape_prepare_coverage",
        prepare: |folder| {
            let shape = torus(folder);
            Box::new(move || unsafe { vxs_shape_prepare_coverage(shape, VXS_COVERAGE_EDGES) })
        },
    },
    Call {
        name: "vxs_shape_prepare_extremes",
        prepare: |folder| {
            let shape = torus(folder);
            Box::new(move || unsafe { vxs_shape_prepare_extremes(shape) })
        },
    },
    Call {
        name: "vxs_voxelmap_create",
        prepare: |folder| {
            let options = vxs_voxelmap_options { resolution: 64, ..made(vxs_voxelmap_options_init) };
            let shape = torus(folder);
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_voxelmap_create(shape, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_voxtree_create_from_shape",
        prepare: |folder| {
            let (shape, options) = (torus(folder), voxtree_options());
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_voxtree_create_from_shape(shape, &options, &mut made)
            })
        },
    },
    Call {
        name: "vxs_pair_create",
        prepare: |folder| {
            let shape = torus(folder);
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_pair_create(shape, shape, null(), &mut made)
            })
        },
    },
    Call {
        name: "vxs_voxtree_save",
        prepare: |folder| {
            let (tree, file) = (voxtree(folder), path(folder, &format!("saved{}.vxt", std::process::id())));
            Box::new(move || unsafe { vxs_voxtree_save(tree, file.as_ptr()) })
        },
    },
    Call {
        name: "vxs_voxtree_load",
        prepare: |folder| {
            let file = path(folder, &format!("tree{}.vxt", std::process::id()));
            ok(unsafe { vxs_voxtree_save(voxtree(folder), file.as_ptr()) });
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_voxtree_load(file.as_ptr(), &mut made)
            })
        },
    },
    Call {
        name: "vxs_shape_create_with_voxelmap",
        prepare: |folder| {
            let options = vxs_voxelmap_options { resolution: 32, ..made(vxs_voxelmap_options_init) };
            let (shape, mut voxelmap) = (torus(folder), null_mut());
            ok(unsafe { vxs_voxelmap_create(shape, &options, &mut voxelmap) });
            Box::new(move || unsafe {
                let mut made = null_mut();
                vxs_shape_create_with_voxelmap(shape, voxelmap, &mut made)
            })
        },
    },
    Call {
        name: "vxs_haptics_set_body",
        prepare: |folder| {
            let (shape, mut haptics) = (torus(folder), null_mut());
            let settings = haptics_settings(VXS_RENDERER_VPS, shape);
            let body = vxs_body { shape, pose: pose(0.1) };
            ok(unsafe { vxs_haptics_create(&settings, shape, &body, 1, &mut haptics) });
            Box::new(move || unsafe { vxs_haptics_set_body(haptics, 0, &body) })
        },
    },
    Call { name: "vxs_haptics_create, voxels", prepare: |folder| haptics(folder, VXS_RENDERER_VPS) },
    Call { name: "vxs_haptics_create, god object", prepare: |folder| haptics(folder, VXS_RENDERER_GOD_OBJECT) },
    Call { name: "vxs_haptics_create, penalty", prepare: |folder| haptics(folder, VXS_RENDERER_PENALTY) },
    Call { name: "vxs_haptics_create, impulse", prepare: |folder| haptics(folder, VXS_RENDERER_IMPULSE) },
    Call { name: "vxs_record_start", prepare: |folder| record(folder, 1 << 20) },
    Call { name: "vxs_record_start, 64 MiB", prepare: |folder| record(folder, 1 << 26) },
];
