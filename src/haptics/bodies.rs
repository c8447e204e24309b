//! The tool in the hand and the bodies that it touches.

use std::sync::Arc;

use voxshell_base::math::{limits, Mat3, Pose, Progress, Twist, Vec3};
use voxshell_base::{Error, Result};
use voxshell_contact::{Geometry, Owner};
use voxshell_field::{Field, Grid, SignedDistance, Surface};
use voxshell_mesh::simplify::HullHierarchy;
use voxshell_mesh::{Locator, MassProperties};
use voxshell_pointshell::PointShell;
use voxshell_response::{Body, Kinematics};
use voxshell_voxmap::{Offset, VoxelGrid, VoxelModel, Voxmap};

/// Forms of a body's surface, immutable and shared. A body may lack some of them.
#[derive(Clone, Default)]
pub struct Forms {
    pub field: Option<Arc<Field>>,
    pub shell: Option<Arc<PointShell>>,
    /// The exact surface, used by the renderers whose contacts are samples: [`Renderer::Penalty`](super::Renderer::Penalty),
    /// [`Renderer::ContinuousPenalty`](super::Renderer::ContinuousPenalty) and
    /// [`Renderer::Impulse`](super::Renderer::Impulse). If the tool and an obstacle have it, the edges and sharp corners of
    /// both are tested too; without it, sharp edges may sink in between samples.
    pub surface: Option<Arc<Surface>>,
    /// Used by [`Renderer::Vps`](super::Renderer::Vps), which tests the tool's pointshell against it. Its
    /// [`Offset`] decides at which distance of the surface the tool is held.
    pub voxmap: Option<Arc<Voxmap>>,
    /// The triangles, used by [`Renderer::GodObject`](super::Renderer::GodObject) with
    /// [`Detection::Triangles`](super::god_object::Detection::Triangles).
    pub mesh: Option<Arc<Locator>>,
    /// Used by [`Renderer::Penalty`](super::Renderer::Penalty) with [`ContactSource::Hulls`](super::ContactSource::Hulls).
    pub hulls: Option<Arc<HullHierarchy>>,
}

impl Forms {
    /// Returns the geometry for queries of samples.
    pub fn geometry(&self) -> Geometry<'_> {
        Geometry { field: self.field.as_deref(), shell: self.shell.as_deref(), surface: None }
    }

    /// Returns the geometry for queries of samples, edges and corners.
    pub(super) fn exact_geometry(&self) -> Geometry<'_> {
        Geometry { surface: self.surface.as_deref(), ..self.geometry() }
    }

    /// Returns the owners of its samples and its field. Without that of the surface a query remembers nothing of edges, which
    /// would take memory now and then.
    pub(super) fn owner(&self) -> Owner<'_> {
        Owner { field: self.field.as_ref(), shell: self.shell.as_ref(), surface: None }
    }

    /// Adds a voxmap on the grid of the field, with voxels of its size s, if the field has a grid and there is no voxmap
    /// yet. Takes 12 samples of the field per voxel, and at most [`VOXMAP_MEMORY`] bytes.
    ///
    /// `offset` places the force layer. With [`Offset::MCNEELY`], two voxels outside the surface voxels (McNeely et al.
    /// 1999, section 4.2), the tool is held 1 to 4.4 s above the surface, 2 to 2.5 s above a face along the grid. With
    /// [`Offset::SURFACE`] it is held within a voxel of the surface, and the surfaces may meet.
    ///
    /// # Errors
    /// `TooLarge` for a grid that needs more memory, `InvalidArgument` for a field without a surface.
    pub fn with_voxmap(mut self, offset: Offset) -> Result<Self> {
        fn made<F: SignedDistance>(field: &F, grid: &Grid, center: Vec3, offset: Offset) -> Result<Arc<Voxmap>> {
            let on = |grid: Grid| {
                let grid = VoxelGrid::new(grid, center)?;
                let model = VoxelModel::from_field(field, grid, VOXMAP_MEMORY, &Progress::none())?;
                Voxmap::new(&model, offset)
            };
            // Cooked fields have room for the layers around the surface. Others get it.
            let map = on(*grid).or_else(|error| match error {
                Error::InvalidArgument { .. } => on(padded(grid, offset.layers + offset.proximity)),
                other => Err(other),
            })?;
            Ok(Arc::new(map))
        }
        if self.voxmap.is_none() {
            self.voxmap = match self.field.as_deref() {
                Some(Field::Dense(field)) => Some(made(field, field.grid(), field.center(), offset)?),
                Some(Field::Bricks(field)) => Some(made(field, field.grid(), field.center(), offset)?),
                Some(Field::Exact(field)) => Some(made(field, field.grid(), field.center(), offset)?),
                _ => None,
            };
        }
        Ok(self)
    }
}

/// Returns a grid with `layers` more nodes on each side.
fn padded(grid: &Grid, layers: u32) -> Grid {
    let min = grid.min.map(|x| x - layers as f32 * grid.spacing);
    Grid { min, dims: grid.dims.map(|n| n.saturating_add(2 * layers)), ..*grid }
}

/// Memory limit of a voxmap made by [`Forms::with_voxmap`], bytes.
pub const VOXMAP_MEMORY: u64 = 1 << 30;

/// The body in the hand.
#[derive(Clone)]
pub struct Tool {
    pub forms: Forms,
    /// Centre of mass, body frame, metres.
    pub center: Vec3,
    /// Mass, kg.
    pub mass: f64,
    /// Inertia about the centre of mass, body axes, kg·m².
    pub inertia: Mat3,
}

impl Tool {
    /// Makes a tool of a mass (kg) that is distributed as in its homogeneous solid.
    ///
    /// # Errors
    /// `InvalidArgument` as [`Tool::check`].
    pub fn of_mass(forms: Forms, solid: &MassProperties, mass: f64) -> Result<Self> {
        let inertia = solid.inertia_matrix() * mass;
        let tool = Self { forms, center: Vec3::from(solid.center_of_mass), mass, inertia };
        tool.check()?;
        Ok(tool)
    }

    /// # Errors
    /// `InvalidArgument` for a mass or an inertia that is not positive (definite) and finite.
    pub fn check(&self) -> Result<()> {
        if !limits::is_positive_quantity(self.mass) {
            let expected = "a positive, finite mass of 1e-30 to 1e18 kg";
            return Err(Error::argument("tool.mass", limits::Shown(self.mass), expected));
        }
        limits::check_point("tool.center", &self.center)?;
        let finite = self.inertia.iter().all(|i| limits::is_quantity(*i))
            && self.inertia.diagonal().iter().all(|i| limits::is_positive_quantity(*i));
        let skew = (self.inertia - self.inertia.transpose()).amax();
        if !finite || skew > 1e-9 * self.inertia.amax() || self.inertia.cholesky().is_none() {
            let value = format!("{:?}", self.inertia.as_slice());
            return Err(Error::argument(
                "tool.inertia",
                value,
                "a symmetric, positive definite matrix of 1e-30 to 1e18 kg·m²",
            ));
        }
        Ok(())
    }

    /// Returns the tool with at most this mass, distributed in the same way.
    pub fn lightened(&self, mass: f64) -> Self {
        let part = (mass / self.mass).min(1.0);
        // A quantity below the least one would be refused.
        let least = self.inertia.diagonal().min();
        let inertia = self.inertia * part.max((limits::MIN_QUANTITY / least).min(1.0));
        Self { mass: mass.min(self.mass), inertia, ..self.clone() }
    }

    /// Returns half the diagonal of the tool's box, metres, and at least 1 mm: the lever at which forces of contacts
    /// turn it. 0.05 m for a tool without samples.
    pub(super) fn lever(&self) -> f64 {
        self.forms.shell.as_ref().map_or(0.05, |shell| 0.5 * shell.bounds().extents().norm()).max(1e-3)
    }

    /// Returns the inertia about the centre of mass in world axes, kg·m².
    pub fn inertia_at(&self, pose: &Pose) -> Mat3 {
        let r = pose.rotation.to_rotation_matrix().into_inner();
        r * self.inertia * r.transpose()
    }

    /// Returns the centre of mass in the world, metres.
    pub fn center_at(&self, pose: &Pose) -> Vec3 {
        (pose * nalgebra::Point3::from(self.center)).coords
    }
}

/// A body that the tool touches; its owner moves it.
#[derive(Clone)]
pub struct Obstacle {
    pub forms: Forms,
    /// Body to world.
    pub pose: Pose,
    /// Twist of the body's origin, world frame.
    pub twist: Twist,
    pub feel: Feel,
    /// Progress of fading in an obstacle that was added at run time, 0 to 1.
    pub(super) entry: f64,
}

/// How one obstacle feels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feel {
    /// Factor on the stiffness and the damping of its contacts, above 0. With
    /// [`Renderer::GodObject`](super::Renderer::GodObject) it is a factor on the force of its constraints, and counts as
    /// 1 above 1; no effect with [`Renderer::Impulse`](super::Renderer::Impulse).
    pub stiffness: f64,
    /// For [`Renderer::GodObject`](super::Renderer::GodObject): μ of Coulomb friction; `None` for that of
    /// [`Surface::friction`](super::Surface::friction).
    pub friction: Option<f64>,
}

impl Default for Feel {
    fn default() -> Self {
        Self { stiffness: 1.0, friction: None }
    }
}

impl Feel {
    /// # Errors
    /// `InvalidArgument` for numbers out of range.
    pub fn check(&self) -> Result<()> {
        if !limits::is_positive_quantity(self.stiffness) {
            let expected = "a positive, finite number, 1e-30 to 1e18";
            return Err(Error::argument("stiffness", limits::Shown(self.stiffness), expected));
        }
        match self.friction {
            Some(friction) if !(friction >= 0.0 && limits::is_quantity(friction)) => {
                Err(Error::argument("friction", limits::Shown(friction), "a finite number, 0 to 1e18"))
            }
            _ => Ok(()),
        }
    }
}

impl Obstacle {
    /// Makes an obstacle at rest.
    pub fn fixed(forms: Forms, pose: Pose) -> Self {
        Self { forms, pose, twist: Twist::ZERO, feel: Feel::default(), entry: 1.0 }
    }

    /// Makes an empty place, which the tool does not touch. [`Simulation::set_obstacle`](super::Simulation::set_obstacle)
    /// fills it.
    pub fn empty() -> Self {
        Self::fixed(Forms::default(), Pose::identity())
    }

    pub fn is_empty(&self) -> bool {
        let Forms { field, shell, surface: _, voxmap, mesh, hulls } = &self.forms;
        let grids = field.is_none() && shell.is_none() && voxmap.is_none();
        grids && mesh.is_none() && hulls.is_none()
    }

    /// Returns the factor on the stiffness of contacts. The cube makes the balance with the coupling move evenly while
    /// the obstacle is faded in, although the contacts are stiff.
    pub(super) fn hardness(&self) -> f64 {
        self.feel.stiffness * self.entry.powi(3)
    }

    /// Returns the motion of its origin.
    pub(super) fn kinematics(&self) -> Kinematics {
        Kinematics { pose: self.pose, center: self.pose.translation.vector, twist: self.twist }
    }

    /// Returns the body for the response.
    pub(super) fn body(&self) -> Body<'_> {
        Body { geometry: self.forms.geometry(), kinematics: self.kinematics() }
    }
}
