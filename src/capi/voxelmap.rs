//! Voxelmaps: the layered forms of the literature.

use std::sync::Arc;

use super::check::{self, Growable};
use super::create;
use super::guard::{entry, Failure};
use super::handle;
use super::record::argument::Array;
use super::status::*;
use super::types::*;
use super::workers;
use crate::asset::VoxelmapOptions;
use crate::math::{Progress, Vec3};
use crate::voxmap::{Branching, MapForm, Offset, Rule, Voxelmap};

/// A voxelmap: a grid of cubes of edge s, each with a layer, a type or a distance (McNeely et al. 1999; Sagardia et al. 2014,
/// section 2.1.1). Immutable and shared: any number of threads may use one at once.
///
/// In this header layers, distances and V(P) are positive inside (penetrations), as in the papers and opposite to the
/// signed distance of `vxs_field`.
pub struct vxs_voxelmap {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_voxelmap {
    type Value = Arc<Voxelmap>;
    const KIND: handle::Kind = handle::Kind::Voxelmap;
}

/// The number of the voxel's layer, in 16 bits: 0 at the surface, n in the n-th layer inside, -n in the n-th outside.
pub const VXS_VOXELMAP_LAYERS: u32 = 0;
/// The same in a generalised octree; layers beyond `layer_limit` on either side as that limit. The smallest map.
pub const VXS_VOXELMAP_LAYER_TREE: u32 = 1;
/// The 2-bit type of McNeely et al. 1999. As a layer: interior 1, surface 0, proximity -1, free -2.
pub const VXS_VOXELMAP_TYPES: u32 = 2;
/// The same in a generalised octree.
pub const VXS_VOXELMAP_TYPE_TREE: u32 = 3;
/// The distance of the voxel's centre times 10^p, truncated to 16 bits (Sagardia et al. 2014, equation 1).
pub const VXS_VOXELMAP_SCALED: u32 = 4;
/// The distance of the voxel's centre in 32-bit floating point.
pub const VXS_VOXELMAP_FLOAT: u32 = 5;

/// Children of a node of a generalised octree.
pub const VXS_BRANCHING_8: u32 = 0;
pub const VXS_BRANCHING_64: u32 = 1;
pub const VXS_BRANCHING_512: u32 = 2;

/// VXS_PENETRATION_INTERPOLATED for VXS_VOXELMAP_FLOAT, VXS_PENETRATION_LOCAL for all others.
pub const VXS_PENETRATION_AUTO: u32 = 0;
/// V(P) = n . e + v sigma: local part along the sample's normal plus global part of the voxel (equation 4).
pub const VXS_PENETRATION_LOCAL: u32 = 1;
/// V(P) = grad V . (P - C) / s + V(C): interpolated from the voxel's centre C (equation 5).
pub const VXS_PENETRATION_INTERPOLATED: u32 = 2;

/// Form and resolution of a voxelmap. Fill it with `vxs_voxelmap_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxelmap_options {
    /// `sizeof(vxs_voxelmap_options)`, set by `vxs_voxelmap_options_init`.
    pub struct_size: u32,
    /// One of `VXS_VOXELMAP_`. Default VXS_VOXELMAP_LAYERS.
    pub form: u32,
    /// Edge s of a voxel, metres. 0, the default, takes it from `resolution`.
    pub voxel_size: f64,
    /// Voxels along the largest extent of the body; used when `voxel_size` is 0. Default 128.
    pub resolution: u32,
    /// Voxels between the box of the body and the border of the grid, on every side. Default 4; 0 is the grid of Sagardia et
    /// al. 2014, "sized with the bounding box of the object".
    pub padding_voxels: u32,
    /// VXS_VOXELMAP_SCALED: p, 0 to 9. Default 4: tenths of a millimetre, up to 3.2 m.
    pub precision: u32,
    /// VXS_VOXELMAP_LAYER_TREE: the largest layer, 1 to 127. With 1, 7 and 127 a voxel near the surface takes 2, 4 and 8
    /// bits. Default 7.
    pub layer_limit: u32,
    /// Trees: one of `VXS_BRANCHING_`. Default VXS_BRANCHING_64.
    pub branching: u32,
    /// Types: layers from the surface voxels out to the force layer; 2 in McNeely et al. 1999. The grid needs as many
    /// `padding_voxels`. Default 0.
    pub offset_layers: u32,
    /// Types: layers of proximity voxels around the force layer. Default 1.
    pub proximity_layers: u32,
    /// Zero.
    pub reserved: u32,
    /// Largest number of bytes that each stage may hold. A larger map returns VXS_TOO_LARGE before it is allocated.
    pub memory_limit: u64,
}

/// Properties of a voxelmap. Call `vxs_voxelmap_info_init`, then `vxs_voxelmap_get_info`. Fields that do not apply are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxelmap_info {
    /// `sizeof(vxs_voxelmap_info)`, set by `vxs_voxelmap_info_init`.
    pub struct_size: u32,
    /// One of `VXS_VOXELMAP_`.
    pub form: u32,
    /// Voxels along x, y, z.
    pub dims: [u32; 3],
    /// Trees: one of `VXS_BRANCHING_`.
    pub branching: u32,
    /// s, metres.
    pub voxel_size: f64,
    /// sigma: metres per unit of a voxel's number. s for layers and types, lambda = 10^-p for scaled distances, 1 for
    /// distances.
    pub unit: f64,
    /// p of scaled distances.
    pub precision: u32,
    /// Largest layer of a tree of layers.
    pub layer_limit: u32,
    /// Types: place of the force layer, and number of proximity layers.
    pub offset_layers: u32,
    pub proximity_layers: u32,
    /// Outermost and innermost layer, of layers and types.
    pub min_layer: i32,
    pub max_layer: i32,
    /// Smallest and largest value of a voxel times sigma, metres.
    pub min_value: f64,
    pub max_value: f64,
    /// Number of voxels that hold the surface, and of those inside.
    pub surface_voxels: u64,
    pub interior_voxels: u64,
    /// Memory of the map.
    pub bytes: u64,
    /// Centre of the first voxel, body frame, metres.
    pub first_center: vxs_vec3,
}

const BRANCHINGS: [Branching; 3] = [Branching::Octree, Branching::Tree64, Branching::Tree512];

impl Growable for vxs_voxelmap_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = VoxelmapOptions::default();
        Self {
            struct_size: 0,
            form: VXS_VOXELMAP_LAYERS,
            voxel_size: core.voxel_size,
            resolution: core.resolution,
            padding_voxels: core.padding_voxels,
            precision: 4,
            layer_limit: 7,
            branching: VXS_BRANCHING_64,
            offset_layers: Offset::SURFACE.layers,
            proximity_layers: Offset::SURFACE.proximity,
            reserved: 0,
            memory_limit: core.memory_limit,
        }
    }
}

/// More layers than any grid has voxels.
const MOST_LAYERS: u32 = 32_000;

impl vxs_voxelmap_options {
    fn to_core(self) -> Result<VoxelmapOptions, Failure> {
        let branching = check::choice("options->branching", self.branching, "VXS_BRANCHING_", &BRANCHINGS)?;
        let precision = check::in_range("options->precision", self.precision, 0, 9)? as u8;
        let limit = check::in_range("options->layer_limit", self.layer_limit, 1, 127)? as u8;
        let offset = Offset {
            layers: check::in_range("options->offset_layers", self.offset_layers, 0, MOST_LAYERS)?,
            proximity: check::in_range("options->proximity_layers", self.proximity_layers, 0, MOST_LAYERS)?,
        };
        let forms = [
            MapForm::Layers,
            MapForm::LayerTree { limit, branching },
            MapForm::Types { offset },
            MapForm::TypeTree { offset, branching },
            MapForm::Scaled { precision },
            MapForm::Real,
        ];
        if self.reserved != 0 {
            return Err(Failure::argument("options->reserved", self.reserved, "0"));
        }
        Ok(VoxelmapOptions {
            form: check::choice("options->form", self.form, "VXS_VOXELMAP_", &forms)?,
            voxel_size: check::length_or_zero("options->voxel_size", self.voxel_size)?,
            resolution: check::in_range("options->resolution", self.resolution, 1, MOST_LAYERS)?,
            padding_voxels: check::in_range("options->padding_voxels", self.padding_voxels, 0, MOST_LAYERS)?,
            memory_limit: self.memory_limit,
        })
    }
}

impl Growable for vxs_voxelmap_info {
    const ARGUMENT: &'static str = "info";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            form: 0,
            dims: [0; 3],
            branching: 0,
            voxel_size: 0.0,
            unit: 0.0,
            precision: 0,
            layer_limit: 0,
            offset_layers: 0,
            proximity_layers: 0,
            min_layer: 0,
            max_layer: 0,
            min_value: 0.0,
            max_value: 0.0,
            surface_voxels: 0,
            interior_voxels: 0,
            bytes: 0,
            first_center: vxs_vec3::default(),
        }
    }
}

fn branching(given: Branching) -> u32 {
    given as u32 - Branching::Octree as u32
}

impl vxs_voxelmap_info {
    fn of(map: &Voxelmap) -> Self {
        let grid = map.grid();
        let (least, most) = map.range();
        let first = Vec3::from(grid.voxel_center([0; 3]).map(f64::from)) + grid.center();
        let mut info = Self {
            dims: grid.dims(),
            voxel_size: grid.voxel_size().into(),
            unit: map.unit().into(),
            min_value: least.into(),
            max_value: most.into(),
            surface_voxels: map.surface_count(),
            interior_voxels: map.interior_count(),
            bytes: map.bytes(),
            first_center: first.into(),
            ..Self::defaults()
        };
        let mut types =
            |offset: Offset| (info.offset_layers, info.proximity_layers) = (offset.layers, offset.proximity);
        info.form = match map.form() {
            MapForm::Layers => VXS_VOXELMAP_LAYERS,
            MapForm::LayerTree { limit, branching: of } => {
                (info.layer_limit, info.branching) = (limit.into(), branching(of));
                VXS_VOXELMAP_LAYER_TREE
            }
            MapForm::Types { offset } => {
                types(offset);
                VXS_VOXELMAP_TYPES
            }
            MapForm::TypeTree { offset, branching: of } => {
                types(offset);
                info.branching = branching(of);
                VXS_VOXELMAP_TYPE_TREE
            }
            MapForm::Scaled { precision } => {
                info.precision = precision.into();
                VXS_VOXELMAP_SCALED
            }
            MapForm::Real => VXS_VOXELMAP_FLOAT,
        };
        if info.form <= VXS_VOXELMAP_TYPE_TREE {
            let layers = |value: f32| (value / grid.voxel_size()).round() as i32;
            (info.min_layer, info.max_layer) = (layers(least), layers(most));
        }
        info
    }
}

/// Returns the rule of a constant for a map.
pub(super) fn rule(argument: &str, value: u32, map: &Voxelmap) -> Result<Rule, Failure> {
    let auto = if map.form() == MapForm::Real { Rule::Interpolated } else { Rule::Local };
    check::choice(argument, value, "VXS_PENETRATION_", &[auto, Rule::Local, Rule::Interpolated])
}

/// Fills `options` with the defaults.
///
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_voxelmap_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_options_init(options: *mut vxs_voxelmap_options, size: usize) -> vxs_status {
    entry!(vxs_voxelmap_options_init, [], { check::init(options, size, vxs_voxelmap_options::defaults()) })
}

/// Makes a voxelmap of a shape: of its triangles or, if it has none or its field is at an offset from them, of its field.
///
/// Surface voxels are those that a triangle touches (separating axes), interior voxels those that a flood from the walls of
/// the grid does not reach. Distances are those of the shape's field; of a shape without a field, those to its triangles.
/// Making the map is parallel and gives the same result on any number of threads.
///
/// @param shape          the shape; it stays unchanged
/// @param options        null for the defaults
/// @param[out] voxelmap  release it with `vxs_voxelmap_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also a precision with which a distance does not fit in 16 bits: the message tells
///         the largest that does), VXS_INVALID_HANDLE, VXS_UNSUPPORTED (an infinite shape, or one that is a pointshell
///         alone), VXS_TOO_LARGE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_create(
    shape: *const vxs_shape,
    options: *const vxs_voxelmap_options,
    voxelmap: *mut *mut vxs_voxelmap,
) -> vxs_status {
    entry!(vxs_voxelmap_create(shape, options, voxelmap), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("voxelmap", voxelmap)?;
        let options = vxs_voxelmap_options::read(options)?.to_core()?;
        let made = workers::work(|| value.make_voxelmap(&options, &Progress::none()))??;
        handle::create("voxelmap", voxelmap, Arc::new(made))
    })
}

/// Makes a voxelmap of triangles, as `vxs_voxelmap_create`; distances are those to the triangles.
///
/// @param vertices        `vertex_count` points, metres, body frame, all finite
/// @param indices         `3 * triangle_count` vertex numbers
/// @param options         null for the defaults
/// @param[out] voxelmap   release it with `vxs_voxelmap_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_MESH, VXS_TOO_LARGE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_create_from_triangles(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
    options: *const vxs_voxelmap_options,
    voxelmap: *mut *mut vxs_voxelmap,
) -> vxs_status {
    entry!(
        vxs_voxelmap_create_from_triangles(
            Array(vertices, vertex_count),
            vertex_count,
            Array(indices, triangle_count.saturating_mul(3)),
            triangle_count,
            options,
            voxelmap
        ),
        [],
        {
            check::out("voxelmap", voxelmap)?;
            let options = vxs_voxelmap_options::read(options)?.to_core()?;
            let mesh = create::mesh(vertices, vertex_count, indices, triangle_count)?;
            let made = workers::work(|| options.of_mesh(&mesh, &Progress::none()))??;
            handle::create("voxelmap", voxelmap, Arc::new(made))
        }
    )
}

/// Releases a handle.
///
/// @param voxelmap  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a voxelmap)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_release(voxelmap: *mut vxs_voxelmap) -> vxs_status {
    entry!(vxs_voxelmap_release(voxelmap), [], { handle::release("voxelmap", voxelmap) })
}

/// Creates a shape that shares all data of another one and has a voxelmap, which asset files contain. Scaled copies do not
/// keep it.
///
/// @param shape     the shape; it stays unchanged
/// @param voxelmap  the map, which is shared, not copied; of the same body, which is not checked
/// @param[out] out  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_with_voxelmap(
    shape: *const vxs_shape,
    voxelmap: *const vxs_voxelmap,
    out: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_with_voxelmap(shape, voxelmap, out), [shape, voxelmap], {
        let value = handle::get("shape", shape)?;
        let map = handle::get("voxelmap", voxelmap)?;
        check::out("out", out)?;
        handle::create("out", out, Arc::new(value.with_voxelmap(map.clone())))
    })
}

/// Gets the voxelmap of a shape; it is shared, not copied.
///
/// @param shape          the shape
/// @param[out] voxelmap  release it with `vxs_voxelmap_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (the shape has no voxelmap)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_voxelmap(
    shape: *const vxs_shape,
    voxelmap: *mut *mut vxs_voxelmap,
) -> vxs_status {
    entry!(vxs_shape_get_voxelmap(shape, voxelmap), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("voxelmap", voxelmap)?;
        let map = value.voxelmap.clone().ok_or_else(|| Failure::unsupported("shape has no voxelmap"))?;
        handle::create("voxelmap", voxelmap, map)
    })
}

/// Prepares `info` for `vxs_voxelmap_get_info`: sets its size and zeroes the rest.
///
/// @param[out] info  the struct to fill
/// @param size       `sizeof(vxs_voxelmap_info)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_info_init(info: *mut vxs_voxelmap_info, size: usize) -> vxs_status {
    entry!(vxs_voxelmap_info_init, [], { check::init(info, size, vxs_voxelmap_info::defaults()) })
}

/// Gets form, size and memory of a voxelmap.
///
/// @param voxelmap   the map
/// @param[out] info  prepared by `vxs_voxelmap_info_init`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_get_info(
    voxelmap: *const vxs_voxelmap,
    info: *mut vxs_voxelmap_info,
) -> vxs_status {
    entry!(vxs_voxelmap_get_info(voxelmap, info), [voxelmap], {
        let map = handle::get("voxelmap", voxelmap)?;
        vxs_voxelmap_info::of(map).write(info)
    })
}

/// Checks points, and returns their positions in the map's local frame one by one.
unsafe fn local<'a>(
    map: &Voxelmap,
    points: *const vxs_vec3,
    count: usize,
) -> Result<impl Iterator<Item = [f32; 3]> + 'a, Failure> {
    let points = check::slice("points", points, "count", count)?;
    for (i, p) in points.iter().enumerate() {
        check::point(format_args!("points[{i}]"), *p)?;
    }
    let center = map.grid().center();
    Ok(points.iter().map(move |p| (Vec3::new(p.x, p.y, p.z) - center).map(|c| c as f32).into()))
}

/// Gets the layer of the voxel that holds each of many points; beyond the grid that of the nearest voxel, minus one for each
/// voxel between. Allocates nothing.
///
/// @param voxelmap     a map of layers or types
/// @param points       `count` points, metres, body frame
/// @param count        number of points
/// @param[out] layers  `count` numbers: 0 at the surface, positive inside
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (a map of distances)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_get_layers(
    voxelmap: *const vxs_voxelmap,
    points: *const vxs_vec3,
    count: usize,
    layers: *mut i32,
) -> vxs_status {
    entry!(vxs_voxelmap_get_layers(voxelmap, Array(points, count), count, Array(layers, count)), [voxelmap], {
        let map = handle::get("voxelmap", voxelmap)?;
        let points = local(map, points, count)?;
        check::out_array("layers", layers, "count", count)?;
        if matches!(map.form(), MapForm::Scaled { .. } | MapForm::Real) {
            return Err(Failure::unsupported("voxelmap holds distances; expected layers or types"));
        }
        for (i, p) in points.enumerate() {
            layers.add(i).write(map.layer_at(p).unwrap_or_default());
        }
        Ok(VXS_OK)
    })
}

/// Gets the value of the voxel that holds each of many points, times sigma, and its gradient. Beyond the grid: those of the
/// nearest voxel, the value less the distance from the voxels. Allocates nothing.
///
/// @param voxelmap        the map
/// @param points          `count` points, metres, body frame
/// @param count           number of points
/// @param[out] distances  `count` values, metres, positive inside: the distance of the voxel's centre, or its layer times s
/// @param[out] gradients  `count` changes of the value from voxel to voxel, metres: grad V of equation 5, of length about s,
///                        by central differences; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_get_distances(
    voxelmap: *const vxs_voxelmap,
    points: *const vxs_vec3,
    count: usize,
    distances: *mut f64,
    gradients: *mut vxs_vec3,
) -> vxs_status {
    entry!(
        vxs_voxelmap_get_distances(
            voxelmap,
            Array(points, count),
            count,
            Array(distances, count),
            Array(gradients, count)
        ),
        [voxelmap],
        {
            let map = handle::get("voxelmap", voxelmap)?;
            let points = local(map, points, count)?;
            check::out_array("distances", distances, "count", count)?;
            check::out_optional("gradients", gradients)?;
            for (i, p) in points.enumerate() {
                distances.add(i).write(map.distance_at(p).into());
                if !gradients.is_null() {
                    gradients.add(i).write(Vec3::from(map.gradient_at(p).map(f64::from)).into());
                }
            }
            Ok(VXS_OK)
        }
    )
}

/// Computes V(P) of many points (Sagardia et al. 2014, equations 4 and 5). Beyond the grid: V at the nearest point of its
/// box, or 0 if that is positive, minus the distance to it. Allocates nothing.
///
/// @param voxelmap           the map
/// @param points             `count` points P, metres, body frame of the map
/// @param normals            `count` unit normals n, into the body of the point and out of that of the map, as in the
///                           paper; any length but 0
/// @param count              number of points
/// @param rule               one of `VXS_PENETRATION_`
/// @param[out] penetrations  `count` values V(P), metres, positive inside
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_get_penetrations(
    voxelmap: *const vxs_voxelmap,
    points: *const vxs_vec3,
    normals: *const vxs_vec3,
    count: usize,
    rule: u32,
    penetrations: *mut f64,
) -> vxs_status {
    entry!(
        vxs_voxelmap_get_penetrations(
            voxelmap,
            Array(points, count),
            Array(normals, count),
            count,
            rule,
            Array(penetrations, count)
        ),
        [voxelmap],
        {
            let map = handle::get("voxelmap", voxelmap)?;
            let points = local(map, points, count)?;
            let normals = check::slice("normals", normals, "count", count)?;
            let rule = self::rule("rule", rule, map)?;
            check::out_array("penetrations", penetrations, "count", count)?;
            for (i, n) in normals.iter().enumerate() {
                check_normal(i, *n)?;
            }
            for (i, (p, n)) in points.zip(normals).enumerate() {
                let n = check_normal(i, *n)?;
                penetrations.add(i).write(map.penetration(rule, p, n.map(|c| c as f32).into()).into());
            }
            Ok(VXS_OK)
        }
    )
}

fn check_normal(i: usize, n: vxs_vec3) -> Result<Vec3, Failure> {
    // The message is made only on failure.
    check::direction("normal", n).map_err(|_| {
        let value = format!("({}, {}, {})", n.x, n.y, n.z);
        Failure::argument(&format!("normals[{i}]"), value, "a finite vector that is not 0")
    })
}
