//! The bodies of the scenes: meshes scaled to 1 m, in the frame of centre of mass and principal axes.

use std::path::Path;

use voxshell::asset::CookOptions;
use voxshell::cook::{mass_from_field, FieldOptions};
use voxshell::math::{Aabb, Pose, Progress, Rotation, Vec3};
use voxshell::mesh::{primitives, principal_axes, MassProperties, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::{Error, Result};

/// Samples of the bunny, coarse and fine, in Table 2 of Sagardia, Stouraitis & Lopes e Silva 2014.
const BUNNY_SAMPLES: [usize; 2] = [799, 35_596];
/// Samples of the ball in their Table 1.
const BALL_SAMPLES: [usize; 2] = [275, 25_880];

/// Way of measuring how deep a body is in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// By dense samples of its surface.
    Samples,
    /// Exactly, by its triangles, which are few.
    Triangles,
    /// By its vertices: it only meets planes.
    Vertices,
}

/// A body's true geometry.
pub struct Body {
    pub name: String,
    /// Origin at the centre of mass, axes principal; metres.
    pub mesh: TriMesh,
    /// Rotation from body to world in the pose as modelled.
    pub upright: Rotation,
    /// Box of the mesh in that pose, relative to the centre of mass, metres.
    pub upright_bounds: Aabb,
    /// Principal moments for 1 kg, kg m².
    pub inertia: Vec3,
    /// Origin of the original mesh in that pose, relative to the centre of mass, metres.
    pub mesh_origin: Vec3,
    /// Volume, m³.
    pub volume: f64,
    /// Radius of a ball, metres; 0 otherwise.
    pub radius: f64,
    /// Samples of the coarse and of the fine pointshell, where the number is given instead of the spacing.
    pub samples: Option<[usize; 2]>,
    /// Number of children of a node of the sphere tree.
    pub branching: u32,
    /// Height of one body above the body below it in a stack, metres.
    pub pitch: f64,
    /// Advance per turn of its thread, metres; 0 without a thread.
    pub lead: f64,
    /// True for a body that holds others.
    pub container: bool,
    /// Options of cooking, coarse and fine, for bodies to which the defaults for about 1 m do not apply.
    pub cooking: Option<[CookOptions; 2]>,
    /// Edge of the field's voxels, metres, where the thickness of the body determines it; otherwise it follows from the
    /// extent.
    pub voxel: Option<f64>,
    pub measured: Measured,
}

impl Body {
    /// Returns the body of the solid that `mesh` encloses, at the mesh's own size.
    pub fn new(name: &str, mesh: TriMesh) -> Result<Self> {
        let mass = match voxshell::cook::mass_properties(&mesh) {
            Some(mass) => mass,
            None => mass_of_open(&mesh)?,
        };
        let (moments, axes) = principal_axes(&mass);
        let center = Vec3::from(mass.center_of_mass);
        let to_body =
            Pose::from_parts(Vec3::zeros().into(), axes.inverse()) * Pose::translation(-center.x, -center.y, -center.z);
        let upright_bounds = mesh.bounds();
        let upright_bounds = Aabb { min: upright_bounds.min - center, max: upright_bounds.max - center };
        Ok(Self {
            name: name.to_string(),
            mesh: mesh.transformed(&to_body, 1.0),
            upright: axes,
            upright_bounds,
            inertia: moments,
            mesh_origin: -center,
            volume: mass.volume,
            radius: 0.0,
            samples: None,
            branching: ShellOptions::default().branching,
            pitch: upright_bounds.extents().y,
            lead: 0.0,
            container: false,
            cooking: None,
            voxel: None,
            measured: Measured::Samples,
        })
    }

    /// Returns the body with pointshells of as many samples as those of the bunny of 1 m.
    pub fn with_samples(self) -> Self {
        Self { samples: Some(BUNNY_SAMPLES), ..self }
    }

    /// Loads a mesh file and scales it to a largest extent of 1 m.
    pub fn load(path: &Path) -> Result<Self> {
        let mesh = voxshell::mesh::io::load(path)?.scaled_to_extent(1.0);
        let name = path.file_stem().map_or_else(|| "mesh".into(), |s| s.to_string_lossy().into_owned());
        Ok(Self { samples: Some(BUNNY_SAMPLES), ..Self::new(&name, mesh)? })
    }

    /// Returns the shape of the scenes when no mesh is given.
    pub fn embedded() -> Result<Self> {
        Ok(Self { samples: Some(BUNNY_SAMPLES), ..Self::new("blob", primitives::blob(2)?.scaled_to_extent(1.0))? })
    }

    pub fn ball() -> Result<Self> {
        let radius = 0.5;
        Ok(Self { radius, samples: Some(BALL_SAMPLES), ..Self::new("ball", primitives::sphere(radius, 5)?)? })
    }

    /// Returns the bodies that are poured, 1 m each.
    pub fn poured() -> Result<[Self; 3]> {
        let knot = primitives::torus_knot(2, 3, 0.3, 0.085, 144, 16)?;
        let gear = primitives::gear(14, 0.5, 0.39, 0.2, 0.15)?;
        let bowl = primitives::bowl(0.5, 0.1, 48)?;
        let one_metre = |name, mesh: TriMesh| Self::new(name, mesh.scaled_to_extent(1.0));
        Ok([one_metre("knot", knot)?, one_metre("gear", gear)?, one_metre("small bowl", bowl)?])
    }

    /// Returns the bodies that are stacked: a gear, and a cup that opens downwards and fits over the dome of the next
    /// one.
    pub fn stacked() -> Result<[Self; 2]> {
        let gear = Self::new("gear", primitives::gear(14, 0.5, 0.39, 0.2, 0.15)?)?;
        let (radius, wall) = (0.5, 0.1);
        let over = Pose::rotation(Vec3::x() * std::f64::consts::PI);
        let cup = Self::new("cup", primitives::bowl(radius, wall, 96)?.transformed(&over, 1.0))?;
        // The inner edge of the rim, a circle of radius r − w, lies on the sphere of radius r below.
        let pitch = (2.0 * radius * wall - wall * wall).sqrt();
        Ok([gear, Self { pitch, ..cup }])
    }

    /// Returns the bowl for `count` bodies of [`Body::poured`]: five metres across for fifty.
    pub fn container(count: u32) -> Result<Self> {
        let radius = 2.5 * (f64::from(count) / 50.0).cbrt();
        let name = format!("bowl for {count}");
        Ok(Self { container: true, ..Self::new(&name, primitives::bowl(radius, 0.06 * radius, 72)?)? })
    }
}

/// Computes the mass properties of an open mesh from the interior of its field.
fn mass_of_open(mesh: &TriMesh) -> Result<MassProperties> {
    let field = voxshell::cook::dense_field(mesh, &FieldOptions::with_resolution(mesh, 96), &Progress::none())?;
    mass_from_field(&field)
        .ok_or_else(|| Error::InvalidMesh("it encloses no volume, so it has no centre of mass".into()))
}
