//! Between the C structs and the core's types: defaults, and the checks of what only has meaning here.

use super::check::{self, Growable};
use super::guard::Failure;
use super::options::*;
use super::types::*;
use crate::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use crate::contact::{Budget, Completeness, Contact, Query, Roles, Segmentation, Step, Workspace};
use crate::field::{Field, SignRule};
use crate::math::Pose;
use crate::mesh::primitives::{Primitive, Thread};
use crate::mesh::TriMesh;
use crate::pointshell::{Sampling, TreeKind};

pub(super) const ROLES: [Roles; 4] = [Roles::Auto, Roles::ShellOfA, Roles::ShellOfB, Roles::Both];
const STORAGES: [Storage; 3] = [Storage::Dense, Storage::Dense, Storage::Bricks];
const TREES: [TreeKind; 2] = [TreeKind::MinimalBalls, TreeKind::NestedOnSamples];

impl Growable for vxs_cook_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] =
        &[std::mem::offset_of!(Self, field_storage), std::mem::offset_of!(Self, offset), std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = CookOptions::default();
        let (voxel_size, resolution, target_error) = match core.resolution {
            Resolution::VoxelSize(h) => (h, 0, 0.0),
            Resolution::Cells(n) => (0.0, n, 0.0),
            Resolution::Error(e) => (0.0, 0, e),
        };
        Self {
            struct_size: 0,
            forms: VXS_FORM_FIELD | VXS_FORM_POINTSHELL,
            voxel_size,
            resolution,
            padding_voxels: core.field.padding_voxels,
            spacing: 0.0,
            sample_count: 0,
            sampling: VXS_SAMPLING_DEFAULT,
            sharp_angle: core.shell.sharp_angle,
            branching: core.shell.branching,
            tree: TREES.iter().position(|t| *t == core.shell.tree).unwrap_or_default() as u32,
            memory_limit: core.field.memory_limit,
            weld_tolerance: core.weld_tolerance,
            progress: None,
            progress_user: std::ptr::null_mut(),
            field_storage: VXS_STORAGE_AUTO,
            reserved: 0,
            target_error,
            offset: core.field.offset,
        }
    }
}

impl vxs_cook_options {
    /// For the core. All but the progress callback, which is the caller's to keep.
    pub(super) fn to_core(self) -> Result<CookOptions, Failure> {
        let c = self;
        const BOTH: u32 = VXS_FORM_FIELD | VXS_FORM_POINTSHELL;
        if c.forms == 0 || c.forms & !BOTH != 0 {
            return Err(Failure::argument(
                "options->forms",
                c.forms,
                "VXS_FORM_FIELD, VXS_FORM_POINTSHELL, or both (|)",
            ));
        }
        let voxel_size = check::length_or_zero("options->voxel_size", c.voxel_size)?;
        let spacing = check::length_or_zero("options->spacing", c.spacing)?;
        let weld_tolerance = check::length_or_zero("options->weld_tolerance", c.weld_tolerance)?;
        let mut core = CookOptions { weld_tolerance, ..CookOptions::default() };
        core.forms = Forms { field: c.forms & VXS_FORM_FIELD != 0, shell: c.forms & VXS_FORM_POINTSHELL != 0 };
        let target_error = check::length_or_zero("options->target_error", c.target_error)?;
        core.resolution = match (target_error > 0.0, voxel_size > 0.0) {
            (true, true) => {
                let expected = "0 beside a voxel_size, which it would choose";
                return Err(Failure::argument("options->target_error", target_error, expected));
            }
            (true, false) => Resolution::Error(target_error),
            (false, true) => Resolution::VoxelSize(voxel_size),
            (false, false) => Resolution::Cells(c.resolution),
        };
        core.storage = check::choice("options->field_storage", c.field_storage, "VXS_STORAGE_", &STORAGES)?;
        if c.reserved != 0 {
            return Err(Failure::argument("options->reserved", c.reserved, "0"));
        }
        core.field.padding_voxels = c.padding_voxels;
        core.field.offset = check::length_or_zero("options->offset", c.offset)?;
        core.field.memory_limit = c.memory_limit;
        core.shell.memory_limit = c.memory_limit;
        // NaN: the core chooses once it has the mesh.
        let methods = [
            core.shell.method,
            Sampling::Projection { voxel_size: f64::NAN },
            Sampling::Vertices,
            Sampling::Uniform,
            Sampling::Features,
        ];
        core.shell.method = check::choice("options->sampling", c.sampling, "VXS_SAMPLING_", &methods)?;
        core.shell.tree = check::choice("options->tree", c.tree, "VXS_TREE_", &TREES)?;
        core.shell.sharp_angle = check::in_range("options->sharp_angle", c.sharp_angle, 0.0, std::f64::consts::PI)?;
        core.shell.branching = check::in_range("options->branching", c.branching, 2, 64)?;
        if spacing > 0.0 {
            core.shell.spacing = spacing;
        } else if c.sample_count > 0 {
            core.shell.target_count = Some(c.sample_count as usize);
        }
        Ok(core)
    }
}

impl vxs_primitive {
    /// With the size and detail that the core gives to the kind.
    pub(super) fn of_kind(argument: &str, kind: u32) -> Result<Self, Failure> {
        let name = check::choice(argument, kind, "VXS_PRIMITIVE_", &Primitive::NAMES)?;
        let mut size = [0.0; 6];
        let mut detail = [0; 4];
        {
            let mut sizes = size.iter_mut();
            let mut details = detail.iter_mut();
            let mut put = |lengths: &[f64], counts: &[u32]| {
                lengths.iter().zip(&mut sizes).for_each(|(from, to)| *to = *from);
                counts.iter().zip(&mut details).for_each(|(from, to)| *to = *from);
            };
            match Primitive::by_name(name)? {
                Primitive::Cuboid { half } => put(&half, &[]),
                Primitive::Sphere { radius, subdivisions } => put(&[radius], &[subdivisions]),
                Primitive::Capsule { radius, half_height, segments } => put(&[radius, half_height], &[segments]),
                Primitive::Cylinder { radius, half_height, segments } => put(&[radius, half_height], &[segments]),
                Primitive::Cone { radius, height, segments } => put(&[radius, height], &[segments]),
                Primitive::Torus { major, minor, nu, nv } => put(&[major, minor], &[nu, nv]),
                Primitive::TorusKnot { p, q, radius, tube, nu, nv } => put(&[radius, tube], &[p, q, nu, nv]),
                Primitive::Bowl { outer_radius, thickness, segments } => put(&[outer_radius, thickness], &[segments]),
                Primitive::Peg { radius, length, chamfer, segments } => put(&[radius, length, chamfer], &[segments]),
                Primitive::Hole { half: [x, y, z], radius, segments } => put(&[x, y, z, radius], &[segments]),
                Primitive::Gear { teeth, outer_radius, root_radius, thickness, bore } => {
                    put(&[outer_radius, root_radius, thickness, bore], &[teeth]);
                }
                Primitive::Blob { subdivisions } => put(&[1.0], &[subdivisions]),
                Primitive::Bolt { thread: t, length: long, segments }
                | Primitive::Nut { thread: t, height: long, segments } => {
                    put(&[t.diameter, t.pitch, long, t.pitch_deviation, t.crest_deviation], &[segments]);
                }
            }
        }
        Ok(Self { struct_size: 0, kind, size, detail })
    }

    pub(super) fn mesh(&self) -> Result<TriMesh, Failure> {
        let default = Self::of_kind("primitive->kind", self.kind)?;
        for (i, used) in default.size.iter().enumerate() {
            // A chamfer or bore may be 0; the core knows which lengths may.
            check::coordinate(format!("primitive->size[{i}]"), if *used > 0.0 { self.size[i] } else { 0.0 })?;
        }
        let s = &self.size;
        let d: [u32; 4] = std::array::from_fn(|i| if self.detail[i] == 0 { default.detail[i] } else { self.detail[i] });
        let thread = Thread { diameter: s[0], pitch: s[1], pitch_deviation: s[3], crest_deviation: s[4] };
        let primitive = match self.kind {
            VXS_PRIMITIVE_BOX => Primitive::Cuboid { half: [s[0], s[1], s[2]] },
            VXS_PRIMITIVE_SPHERE => Primitive::Sphere { radius: s[0], subdivisions: d[0] },
            VXS_PRIMITIVE_CAPSULE => Primitive::Capsule { radius: s[0], half_height: s[1], segments: d[0] },
            VXS_PRIMITIVE_CYLINDER => Primitive::Cylinder { radius: s[0], half_height: s[1], segments: d[0] },
            VXS_PRIMITIVE_CONE => Primitive::Cone { radius: s[0], height: s[1], segments: d[0] },
            VXS_PRIMITIVE_TORUS => Primitive::Torus { major: s[0], minor: s[1], nu: d[0], nv: d[1] },
            VXS_PRIMITIVE_TORUS_KNOT => {
                Primitive::TorusKnot { p: d[0], q: d[1], radius: s[0], tube: s[1], nu: d[2], nv: d[3] }
            }
            VXS_PRIMITIVE_BOWL => Primitive::Bowl { outer_radius: s[0], thickness: s[1], segments: d[0] },
            VXS_PRIMITIVE_PEG => Primitive::Peg { radius: s[0], length: s[1], chamfer: s[2], segments: d[0] },
            VXS_PRIMITIVE_HOLE => Primitive::Hole { half: [s[0], s[1], s[2]], radius: s[3], segments: d[0] },
            VXS_PRIMITIVE_GEAR => {
                Primitive::Gear { teeth: d[0], outer_radius: s[0], root_radius: s[1], thickness: s[2], bore: s[3] }
            }
            VXS_PRIMITIVE_BOLT => Primitive::Bolt { thread, length: s[2], segments: d[0] },
            VXS_PRIMITIVE_NUT => Primitive::Nut { thread, height: s[2], segments: d[0] },
            _ => {
                let scale = check::length("primitive->size[0]", s[0])?;
                let blob = Primitive::Blob { subdivisions: d[0] }.mesh()?;
                return Ok(blob.transformed(&crate::math::Pose::identity(), scale));
            }
        };
        Ok(primitive.mesh()?)
    }
}

impl Growable for vxs_primitive {
    const ARGUMENT: &'static str = "primitive";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self { struct_size: 0, kind: VXS_PRIMITIVE_BOX, size: [0.0; 6], detail: [0; 4] }
    }
}

impl Growable for vxs_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] =
        &[std::mem::offset_of!(Self, max_depth), std::mem::offset_of!(Self, segmentation), std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = Query::default();
        let Segmentation::Region { distance, angle } = Segmentation::REGION else { unreachable!() };
        Self {
            struct_size: 0,
            roles: VXS_ROLES_AUTO,
            max_separation: core.max_separation,
            max_distance: f64::INFINITY,
            max_contacts: core.max_contacts as u32,
            preferred_count: 0,
            preferred: std::ptr::null(),
            max_depth: core.max_depth,
            segmentation: VXS_SEGMENTATION_NONE,
            segment_level: 0,
            region_distance: distance,
            region_angle: angle,
            preferred_segments: std::ptr::null(),
            max_tests: 0,
            max_nanoseconds: 0,
            accuracy: core.budget.accuracy,
            crowd: 0,
            max_gap: f64::INFINITY,
            step_center: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 },
            step_shift: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 },
            step_turn: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 },
        }
    }
}

impl Growable for vxs_query_report {
    const ARGUMENT: &'static str = "report";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self { struct_size: 0, answer: VXS_ANSWER_COMPLETE, node_tests: 0, sample_tests: 0, least_missed: 0.0 }
    }
}

impl vxs_query_report {
    pub(super) fn of(workspace: &Workspace) -> Self {
        let (stats, report) = (workspace.stats(), workspace.report());
        let answer = match report.completeness {
            Completeness::Complete => VXS_ANSWER_COMPLETE,
            Completeness::Urgent => VXS_ANSWER_URGENT,
            Completeness::Coarse => VXS_ANSWER_COARSE,
            Completeness::Partial => VXS_ANSWER_PARTIAL,
        };
        let least_missed = report.least_missed;
        Self { struct_size: 0, answer, node_tests: stats.node_tests, sample_tests: stats.sample_tests, least_missed }
    }
}

impl vxs_query {
    /// For contacts. The preferred features stay the caller's, for the time of the call.
    pub(super) unsafe fn contacts<'a>(&self) -> Result<Query<'a>, Failure> {
        let roles = self.roles()?;
        let max_separation = check::coordinate("query->max_separation", self.max_separation)?;
        let preferred: &[u32] =
            check::slice("query->preferred", self.preferred, "query->preferred_count", self.preferred_count as usize)?;
        check::ascending("query->preferred", preferred)?;
        let preferred_segments = match self.preferred_segments {
            none if none.is_null() => &[],
            given => check::slice("query->preferred_segments", given, "query->preferred_count", preferred.len())?,
        };
        let distance = check::length_or_zero("query->region_distance", self.region_distance)?;
        let angle = check::in_range("query->region_angle", self.region_angle, 0.0, std::f64::consts::PI)?;
        let segmentations =
            [Segmentation::None, Segmentation::Level(self.segment_level), Segmentation::Region { distance, angle }];
        Ok(Query {
            roles,
            max_separation,
            max_contacts: self.max_contacts as usize,
            preferred,
            max_depth: self.max_depth,
            segmentation: check::choice("query->segmentation", self.segmentation, "VXS_SEGMENTATION_", &segmentations)?,
            preferred_segments,
            budget: Budget {
                tests: check::limit(self.max_tests),
                nanoseconds: check::limit(self.max_nanoseconds),
                accuracy: check::length_or_zero("query->accuracy", self.accuracy)?,
            },
            step: self.step()?,
            owners: None,
        })
    }

    /// Also checks what is not used.
    fn step(&self) -> Result<Option<Step>, Failure> {
        check::bound("query->max_gap", self.max_gap)?;
        let step = Step {
            center: check::point("query->step_center", self.step_center)?,
            shift: check::point("query->step_shift", self.step_shift)?,
            turn: check::quantities("query->step_turn", self.step_turn)?,
            max_gap: self.max_gap,
            crowd: usize::try_from(self.crowd).unwrap_or(usize::MAX),
        };
        Ok((step.crowd > 0 || step.max_gap < f64::INFINITY).then_some(step))
    }

    /// Also checks what every query checks, whether it uses it or not.
    pub(super) fn roles(&self) -> Result<Roles, Failure> {
        check::bound("query->max_distance", self.max_distance)?;
        check::in_range("query->max_depth", self.max_depth, 0.0, f64::INFINITY)?;
        check::choice("query->roles", self.roles, "VXS_ROLES_", &ROLES)
    }
}

impl From<Pose> for vxs_pose {
    fn from(pose: Pose) -> Self {
        let q = pose.rotation.coords;
        Self { position: pose.translation.vector.into(), qx: q.x, qy: q.y, qz: q.z, qw: q.w }
    }
}

impl From<&Contact> for vxs_contact {
    fn from(c: &Contact) -> Self {
        Self {
            point_on_a: c.point_on_a.into(),
            point_on_b: c.point_on_b.into(),
            normal: c.normal.into(),
            separation: c.separation,
            toi: c.toi,
            feature: c.feature,
            reserved: 0,
        }
    }
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
            grid_dims: [0; 3],
            sign_rule: VXS_SIGN_NONE,
            mesh_closed: 0,
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
            // Those of the sign are the same, but were others in assets of before.
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
        self.field_kind = match field {
            Field::Dense(_) => VXS_FIELD_DENSE,
            Field::HalfSpace(_) => VXS_FIELD_HALF_SPACE,
            Field::Sphere(_) => VXS_FIELD_SPHERE,
            Field::Cuboid(_) => VXS_FIELD_BOX,
            Field::Capsule(_) => VXS_FIELD_CAPSULE,
            Field::Cylinder(_) => VXS_FIELD_CYLINDER,
            Field::Cone(_) => VXS_FIELD_CONE,
            Field::ConvexHull(_) => VXS_FIELD_CONVEX_HULL,
            Field::SphereHull(_) => VXS_FIELD_SPHERE_HULL,
            Field::Mesh(_) => VXS_FIELD_TRIANGLES,
            Field::Sheet(_) => VXS_FIELD_SHEET,
            Field::Bricks(_) => VXS_FIELD_BRICKS,
        };
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
