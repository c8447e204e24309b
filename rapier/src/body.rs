//! The forms in which a shape takes part in a query: a field, samples, an exact surface, or several of them.

use std::sync::Arc;

use voxshell::asset;
use voxshell::contact::{Coverage, Geometry, Owner};
use voxshell::field::{Field, SignedDistance, Surface};
use voxshell::math::{Aabb, Pose as Pose64, Vec3};
use voxshell::pointshell::PointShell;

/// Exact surface of a part.
#[derive(Clone)]
pub(crate) enum Exact {
    None,
    /// That of a cooked shape, which builds it on first use.
    Asset(Arc<asset::Shape>),
    Surface(Arc<Surface>),
}

/// How a part completes the other parts of its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Alone.
    Plain,
    /// The points or the axis of a round shape, as samples with a margin. It finds the closest contacts exactly.
    Kernel,
    /// The field of the same round shape. It finds the contacts that point in other directions than those of the
    /// kernel, such as those of a ball in a groove.
    Around,
}

/// A part of a shape.
#[derive(Clone)]
pub(crate) struct Part {
    /// Pose of the part's frame in that of the shape.
    pub pose: Pose64,
    /// Number of the part's shape in a compound.
    pub subshape: u32,
    pub role: Role,
    pub field: Option<Arc<Field>>,
    pub shell: Option<Arc<PointShell>>,
    pub exact: Exact,
    /// The samples, if they are all that there is: a point or a line, which may have a margin.
    pub kernel: Option<Arc<[Vec3]>>,
    /// Distance by which the part is rounded off, metres.
    pub margin: f64,
    /// Box around the forms without the margin, part's frame; infinite for a half-space.
    pub bounds: Aabb,
}

impl Part {
    /// Returns a part that has the frame of its shape, or `None` without forms.
    pub fn new(field: Option<Arc<Field>>, shell: Option<Arc<PointShell>>, exact: Exact) -> Option<Self> {
        let mut bounds = Aabb::empty();
        if let Some(field) = &field {
            bounds = bounds.merged(&field.bounds());
        }
        if let Some(shell) = &shell {
            bounds = bounds.merged(&shell.bounds());
        }
        let (pose, margin) = (Pose64::identity(), 0.0);
        (field.is_some() || shell.is_some()).then_some(Self {
            pose,
            subshape: 0,
            role: Role::Plain,
            field,
            shell,
            exact,
            kernel: None,
            margin,
            bounds,
        })
    }

    pub fn of_asset(shape: &Arc<asset::Shape>) -> Option<Self> {
        Self::new(shape.field.clone(), shape.shell.clone(), Exact::Asset(shape.clone()))
    }

    /// Returns the geometry for a coverage. Without memory for the exact surface, that of the samples answers.
    pub fn geometry(&self, coverage: Coverage) -> Geometry<'_> {
        let surface = match &self.exact {
            _ if coverage == Coverage::Samples => None,
            Exact::None => None,
            Exact::Asset(shape) => shape.geometry_for(coverage.of_surfaces()).ok().and_then(|geometry| geometry.surface),
            Exact::Surface(surface) => Some(&**surface),
        };
        Geometry { field: self.field.as_deref(), shell: self.shell.as_deref(), surface }
    }

    pub fn owner(&self) -> Owner<'_> {
        let surface = match &self.exact {
            Exact::None => None,
            Exact::Asset(shape) => shape.owner().surface,
            Exact::Surface(surface) => Some(surface),
        };
        Owner { field: self.field.as_ref(), shell: self.shell.as_ref(), surface }
    }

    pub fn is_sheet(&self) -> bool {
        matches!(self.field.as_deref(), Some(Field::Sheet(_)))
    }

    pub fn is_bounded(&self) -> bool {
        self.bounds.min.iter().chain(&self.bounds.max).all(|x| x.is_finite())
    }

    /// Returns whether one of two parts can bring samples and the other a field.
    pub fn can_meet(&self, other: &Self) -> bool {
        (self.shell.is_some() && other.field.is_some()) || (other.shell.is_some() && self.field.is_some())
    }

    /// Returns the centre and the radius of a ball around the part, shape's frame.
    pub fn ball(&self) -> (Vec3, f64) {
        let center = self.pose.transform_point(&self.bounds.center().into()).coords;
        (center, 0.5 * self.bounds.extents().norm() + self.margin)
    }
}

/// A shape as its parts. Kernels come before the other parts of the same shape.
#[derive(Clone, Default)]
pub(crate) struct Body {
    pub parts: Vec<Part>,
}
