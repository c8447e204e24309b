//! A body prepared for every method: decompositions, cooked assets, the field for pictures and the truth for measuring.
//! Each is made on first use.

use std::sync::{Arc, OnceLock};

use parry3d::math::Vector;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::Geometry;
use voxshell::cook::FieldOptions;
use voxshell::field::{Field, SignedDistance};
use voxshell::math::Progress;
use voxshell::mesh::TriMesh;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::Error;

use crate::bodies::{Body, Measured};
use crate::bridge::{small_hull, Hull, Method, Model};
use crate::decompose::Decomposer;
use crate::ground_truth::Truth;

/// Distance between samples, metres, for bodies without a given number of samples, coarse and fine. The 1 m bunny would
/// get about 800 and 35,000 samples.
const COARSE_SPACING: f64 = 0.1;
const FINE_SPACING: f64 = 0.0095;

/// Resolution of the cooked body.
#[derive(Clone, Copy)]
struct Fineness {
    name: &'static str,
    spacing: f64,
    /// Cells along the largest extent.
    cells: u32,
}

const COARSE: Fineness = Fineness { name: "coarse", spacing: COARSE_SPACING, cells: 64 };
const FINE: Fineness = Fineness { name: "fine", spacing: FINE_SPACING, cells: 256 };
/// The defaults of `CookOptions`; the spacing is that of the voxels.
const DEFAULT: Fineness = Fineness { name: "default", spacing: f64::NAN, cells: 128 };

/// Returns the cells along the largest extent of a body, coarse and fine, where the body does not determine them.
pub const fn cells_of() -> [u32; 2] {
    [COARSE.cells, FINE.cells]
}

pub struct PreparedBody {
    pub body: Body,
    pub truth: Truth,
    vhacd: OnceLock<Result<Vec<Hull>, String>>,
    hacd: OnceLock<Result<Vec<Hull>, String>>,
    coarse: OnceLock<Cooked>,
    fine: OnceLock<Cooked>,
    default: OnceLock<Cooked>,
}

/// An asset on disk for the C++ side, and the field of the same asset for pictures.
struct Cooked {
    path: String,
    field: Arc<Field>,
    shell: Option<Arc<PointShell>>,
}

impl PreparedBody {
    pub fn new(body: Body) -> voxshell::Result<Self> {
        let truth = match body.measured {
            Measured::Samples => Truth::new(&body.mesh)?,
            Measured::Triangles => Truth::for_few_triangles(&body.mesh)?,
            Measured::Vertices => Truth::for_planes(&body.mesh)?,
        };
        let (vhacd, hacd, coarse, fine, default) = Default::default();
        Ok(Self { body, truth, vhacd, hacd, coarse, fine, default })
    }

    /// Returns the data from which the C++ side makes the collision shape. Assets are written to the decomposer's
    /// folder, which must outlive the scenes. An error gives the reason why the method is unavailable.
    pub fn model(&self, method: Method, decomposer: &Decomposer) -> Result<Model, String> {
        let body = &self.body;
        let q = body.upright.coords;
        let hulls = self.hulls(method, decomposer)?.to_vec();
        let asset = match fineness(method) {
            Some(fineness) => self.cooked(fineness, decomposer).map_err(|e| e.to_string())?.path.clone(),
            None => String::new(),
        };
        Ok(Model {
            vertices: body.mesh.vertices.iter().flatten().copied().collect(),
            triangles: body.mesh.triangles.iter().flatten().copied().collect(),
            inertia: body.inertia.into(),
            upright: [q.x, q.y, q.z, q.w],
            upright_min: body.upright_bounds.min.into(),
            upright_max: body.upright_bounds.max.into(),
            mesh_origin: body.mesh_origin.into(),
            volume: body.volume,
            radius: body.radius,
            pitch: body.pitch,
            lead: body.lead,
            container: body.container,
            hulls,
            asset,
        })
    }

    /// Returns the model of a body that the run does not use.
    pub fn unused_model(&self) -> Model {
        Model {
            vertices: Vec::new(),
            triangles: Vec::new(),
            inertia: [1.0; 3],
            upright: [0.0, 0.0, 0.0, 1.0],
            upright_min: [0.0; 3],
            upright_max: [0.0; 3],
            mesh_origin: [0.0; 3],
            volume: 0.0,
            radius: 0.0,
            pitch: 0.0,
            lead: 0.0,
            container: false,
            hulls: Vec::new(),
            asset: String::new(),
        }
    }

    /// Returns the colliding shape under `method` as a field in the body's frame.
    pub fn collides(&self, method: Method, decomposer: &Decomposer) -> voxshell::Result<Arc<dyn SignedDistance>> {
        if let Some(fineness) = fineness(method) {
            let field = self.cooked(fineness, decomposer)?.field.clone();
            return Ok(field);
        }
        let hulls = match method {
            _ if self.body.container => Vec::new(),
            Method::Hull => small_hull(&self.flat_vertices())
                .map(|hull| vec![hull])
                .map_err(|e| Error::Unsupported(e.to_string()))?,
            Method::HullFull => vec![Hull { points: self.flat_vertices() }],
            _ => self.hulls(method, decomposer).map_err(Error::Unsupported)?.to_vec(),
        };
        if hulls.is_empty() {
            return Ok(Arc::new(self.truth.field().clone()));
        }
        let mesh = union_mesh(&hulls);
        let cells = self.body.voxel.map_or(128, |voxel| (mesh.bounds().extents().max() / voxel) as u32);
        let options = FieldOptions::with_resolution(&mesh, cells);
        Ok(Arc::new(voxshell::cook::dense_field(&mesh, &options, &Progress::none())?))
    }

    /// Returns the number of samples of the pointshell for `method`; `None` without one.
    pub fn samples(&self, method: Method) -> Option<usize> {
        let cell = match method {
            Method::VoxshellCoarse => &self.coarse,
            Method::VoxshellFine => &self.fine,
            Method::Voxshell => &self.default,
            _ => return None,
        };
        cell.get().map(|c| c.shell.as_ref().map_or(0, |s| s.len()))
    }

    /// Returns the geometry of `method` for Voxshell's queries; `None` if the method has none.
    pub fn geometry(&self, method: Method, decomposer: &Decomposer) -> voxshell::Result<Option<Geometry<'_>>> {
        let Some(fineness) = fineness(method) else { return Ok(None) };
        let cooked = self.cooked(fineness, decomposer)?;
        Ok(Some(Geometry { field: Some(&cooked.field), shell: cooked.shell.as_deref(), surface: None }))
    }

    fn flat_vertices(&self) -> Vec<f64> {
        self.body.mesh.vertices.iter().flatten().copied().collect()
    }

    /// Returns the convex parts of a decomposing method. Empty for other methods, and for a container, which stock
    /// methods build from its triangles.
    fn hulls(&self, method: Method, decomposer: &Decomposer) -> Result<&[Hull], String> {
        let made = match method {
            _ if self.body.container => return Ok(&[]),
            Method::Vhacd32 => &self.vhacd,
            Method::Hacd => &self.hacd,
            _ => return Ok(&[]),
        };
        let made = made.get_or_init(|| decomposer.hulls(method, &self.body.name, &self.body.mesh));
        made.as_deref().map_err(Clone::clone)
    }

    fn cooked(&self, fineness: Fineness, decomposer: &Decomposer) -> voxshell::Result<&Cooked> {
        let cell = match fineness.name {
            name if name == COARSE.name => &self.coarse,
            name if name == FINE.name => &self.fine,
            _ => &self.default,
        };
        if cell.get().is_none() {
            decomposer.progress.start(&format!("cooking {}, {}", self.body.name, fineness.name), 0);
            let shape = Shape::cook(&self.body.mesh, &self.options(fineness), &Progress::none())?;
            let name = format!("{}-{}.vxs", self.body.name.replace(['/', ' '], "-"), fineness.name);
            let path = decomposer.folder.join(name);
            shape.save(&path)?;
            let path = path.to_str().ok_or_else(|| Error::argument("path", path.display(), "UTF-8"))?.to_string();
            let field = shape.field.ok_or_else(|| Error::Unsupported("a shape without a field".into()))?;
            let _ = cell.set(Cooked { path, field, shell: shape.shell });
        }
        Ok(cell.get().expect("just made"))
    }

    fn options(&self, fineness: Fineness) -> CookOptions {
        if fineness.name == DEFAULT.name {
            return CookOptions::default();
        }
        if let Some([coarse, fine]) = &self.body.cooking {
            return if fineness.name == COARSE.name { coarse.clone() } else { fine.clone() };
        }
        // The container is many times larger. It gets the same number of cells, and samples that match them.
        let scale = if self.body.container { self.body.upright_bounds.extents().max() } else { 1.0 };
        let fine = fineness.name == FINE.name;
        let target_count = self.body.samples.map(|n| n[usize::from(fine)]);
        let (resolution, spacing) = match self.body.voxel {
            Some(voxel) => (Resolution::VoxelSize(voxel), voxel * if fine { 2.0 } else { 4.0 }),
            None => (Resolution::Cells(fineness.cells), fineness.spacing * scale),
        };
        CookOptions {
            resolution,
            shell: ShellOptions { spacing, target_count, branching: self.body.branching, ..ShellOptions::default() },
            ..CookOptions::default()
        }
    }
}

fn fineness(method: Method) -> Option<Fineness> {
    match method {
        Method::VoxshellCoarse => Some(COARSE),
        Method::VoxshellFine => Some(FINE),
        Method::Voxshell => Some(DEFAULT),
        _ => None,
    }
}

/// Joins the surfaces of all hulls in one mesh.
fn union_mesh(hulls: &[Hull]) -> TriMesh {
    let mut mesh = TriMesh::default();
    for hull in hulls {
        let points: Vec<Vector> =
            hull.points.chunks_exact(3).map(|p| Vector::new(p[0] as f32, p[1] as f32, p[2] as f32)).collect();
        let Ok((corners, sides)) = parry3d::transformation::try_convex_hull(&points) else { continue };
        let first = mesh.vertices.len() as u32;
        mesh.vertices.extend(corners.iter().map(|c| [c.x, c.y, c.z].map(f64::from)));
        mesh.triangles.extend(sides.iter().map(|t| t.map(|i| i + first)));
    }
    mesh
}
