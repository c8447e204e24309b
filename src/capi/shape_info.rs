//! Properties of a shape.

use super::check::{self, Growable};
use super::cook_options::{VXS_FORM_FIELD, VXS_FORM_POINTSHELL};
use super::create::VXS_FIELD_NONE;
use super::guard::entry;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::field::{Field, SignRule};

/// No rule was needed.
pub const VXS_SIGN_NONE: u32 = 0;
/// Counted crossings of the surface: the surface is closed, and is wound consistently or was made so.
pub const VXS_SIGN_CROSSINGS: u32 = 1;
/// Even or odd number of crossings: the surface is closed but cannot be oriented.
pub const VXS_SIGN_PARITY: u32 = 2;
/// Generalised winding number above one half: the surface is open.
pub const VXS_SIGN_WINDING_NUMBER: u32 = 3;
/// Offset surface: a point is inside if no path from far away reaches it without coming within the offset of the
/// triangles.
pub const VXS_SIGN_OFFSET: u32 = 4;

/// Forms of a shape and their accuracy. Call `vxs_shape_info_init`, then `vxs_shape_get_info`. Fields that do not apply
/// are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_shape_info {
    /// `sizeof(vxs_shape_info)`, set by `vxs_shape_info_init`.
    pub struct_size: u32,
    /// `VXS_FORM_` flags: the forms of the shape.
    pub forms: u32,
    /// Number of vertices and of triangles of the mesh that the shape keeps for drawing.
    pub vertex_count: u64,
    pub triangle_count: u64,
    /// One of `VXS_FIELD_`.
    pub field_kind: u32,
    /// 1 if the field is the exact distance of a convex body, such as a box or a hull, else 0.
    pub field_convex: u32,
    /// Grid points along x, y, z.
    pub grid_dims: [u32; 3],
    /// One of `VXS_SIGN_`: the sign rule, by which cooking told inside from outside.
    pub sign_rule: u32,
    /// 1 if the mesh is closed, 0 if it has open edges.
    pub mesh_closed: u32,
    /// Zero.
    pub reserved: u32,
    /// Number of triangles that repeat an earlier one, with the same corners and winding, and number of triangles
    /// turned to agree with their neighbours.
    pub duplicate_triangles: u64,
    pub flipped_triangles: u64,
    /// Distance between neighbouring grid points, metres.
    pub voxel_size: f64,
    /// Largest gradient of the field: its largest change per metre.
    pub lipschitz: f64,
    /// Largest difference between field and mesh on the surface and within two voxels of it, metres. For
    /// VXS_FIELD_EXACT it is a proven bound. For other fields it is the largest difference that a search during
    /// cooking found: an estimate, the true maximum is at least this. Then the root mean square of the difference,
    /// over points spread on and near the surface; for VXS_FIELD_EXACT the same bound.
    pub field_error_max: f64,
    pub field_error_rms: f64,
    /// Grid points where inside and outside could not be told reliably (open or self-intersecting meshes).
    pub uncertain_nodes: u64,
    /// Memory of the field, bytes; for VXS_FIELD_EXACT with the triangles and their hierarchy.
    pub field_bytes: u64,
    /// Number of samples of the pointshell.
    pub sample_count: u64,
    /// Number of nodes and of levels of the sphere tree, and children per node.
    pub tree_nodes: u64,
    pub tree_levels: u32,
    pub branching: u32,
    /// Largest distance from any point of the surface (for `VXS_SAMPLING_FEATURES`: of its sharp edges) to the nearest
    /// sample, metres.
    pub spacing: f64,
    /// Memory of the pointshell, bytes.
    pub pointshell_bytes: u64,
}

/// Mass properties of a solid of uniform density; body frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_mass_properties {
    /// Enclosed volume, m³.
    pub volume: f64,
    /// Centre of mass, metres.
    pub center_of_mass: vxs_vec3,
    /// Inertia tensor per unit mass about the centre of mass, m²: xx, yy, zz, xy, xz, yz. The last three are entries of the
    /// tensor, so they carry its minus sign. Multiply by the mass in kg.
    pub inertia: [f64; 6],
    /// True if integrated exactly over the triangles that bound the inside, false if estimated from the inside of the
    /// field.
    pub exact: bool,
}

/// First point of a segment on a shape; body frame, metres. Without a hit all fields but `hit` are NaN.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_segment_hit {
    /// Position along the segment: 0 at `from` (also if it starts inside), 1 at `to`.
    pub fraction: f64,
    pub point: vxs_vec3,
    /// Unit outward normal of the shape at the point; for a sheet, the normal given by the triangle's winding.
    pub normal: vxs_vec3,
    /// True if the segment meets the shape.
    pub hit: bool,
}

impl Growable for vxs_shape_info {
    const ARGUMENT: &'static str = "info";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            forms: 0,
            vertex_count: 0,
            triangle_count: 0,
            field_kind: VXS_FIELD_NONE,
            field_convex: 0,
            grid_dims: [0; 3],
            sign_rule: VXS_SIGN_NONE,
            mesh_closed: 0,
            reserved: 0,
            duplicate_triangles: 0,
            flipped_triangles: 0,
            voxel_size: 0.0,
            lipschitz: 0.0,
            field_error_max: 0.0,
            field_error_rms: 0.0,
            uncertain_nodes: 0,
            field_bytes: 0,
            sample_count: 0,
            tree_nodes: 0,
            tree_levels: 0,
            branching: 0,
            spacing: 0.0,
            pointshell_bytes: 0,
        }
    }
}

impl vxs_shape_info {
    pub(super) fn of(shape: &Shape) -> Self {
        let mut info = Self::defaults();
        if let Some(mesh) = &shape.mesh {
            info.vertex_count = mesh.vertices.len() as u64;
            info.triangle_count = mesh.triangles.len() as u64;
        }
        if let Some(field) = shape.field.as_deref() {
            info.forms |= VXS_FORM_FIELD;
            info.set_field(field);
        }
        if let Some(report) = &shape.report {
            info.mesh_closed = report.closed as u32;
            info.duplicate_triangles = report.duplicate_triangles as u64;
        }
        if let Some(shell) = shape.shell.as_deref() {
            info.forms |= VXS_FORM_POINTSHELL;
            info.sample_count = shell.len() as u64;
            info.tree_nodes = shell.tree.node_count() as u64;
            info.tree_levels = shell.tree.depth() as u32;
            info.branching = shell.tree.branching;
            info.spacing = shell.spacing as f64;
            info.pointshell_bytes = shell.memory_bytes();
        }
        info
    }

    fn set_field(&mut self, field: &Field) {
        self.field_convex = u32::from(field.is_convex());
        self.field_kind = field.kind();
        if let Some(gridded) = field.gridded() {
            self.grid_dims = gridded.grid.dims;
            self.voxel_size = gridded.grid.spacing as f64;
            self.lipschitz = gridded.lipschitz as f64;
            self.field_error_max = gridded.error.max;
            self.field_error_rms = gridded.error.rms;
            self.field_bytes = gridded.bytes;
        }
        let sign = match (field, field.gridded()) {
            (_, Some(gridded)) => gridded.sign,
            (Field::Mesh(mesh), _) => mesh.sign(),
            _ => return,
        };
        self.uncertain_nodes = sign.uncertain_nodes;
        self.duplicate_triangles = sign.duplicate_triangles;
        self.flipped_triangles = sign.flipped_triangles;
        self.sign_rule = match sign.rule {
            SignRule::Given => VXS_SIGN_NONE,
            SignRule::Crossings => VXS_SIGN_CROSSINGS,
            SignRule::Parity => VXS_SIGN_PARITY,
            SignRule::WindingNumber => VXS_SIGN_WINDING_NUMBER,
            SignRule::Offset => VXS_SIGN_OFFSET,
        };
    }
}

/// Prepares `info` for `vxs_shape_get_info`: sets its size and zeroes the rest.
///
/// @param[out] info  the struct to fill
/// @param size       `sizeof(vxs_shape_info)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_info_init(info: *mut vxs_shape_info, size: usize) -> vxs_status {
    entry!(vxs_shape_info_init, [], { check::init(info, size, vxs_shape_info::defaults()) })
}
