//! A field on a grid that is exact near the surface: the grid bounds and shortens the search for the closest triangle.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::flat::FlatCells;
use super::report::{FieldError, SignReport, SignRule};
use super::{Clearance, DenseField, Grid, Modulus, SignedDistance, Surface};
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::{Error, Result};
use voxshell_mesh::{Closest, TriMesh};

/// Bound of |T − E|, voxels: √¾ and the rounding of nodes.
const ERROR: f64 = 0.87;
/// Up to this |E| φ is E, voxels.
const EXACT: f64 = 2.0;
/// |T| up to which φ is E, and from which φ is T, voxels.
const CORE: f64 = EXACT + 0.9;
const END: f64 = CORE + 2.0;
/// Smallest distance of the mesh from the border of the grid, voxels: outside the grid T is more than `END`.
const ROOM: f64 = END + ERROR + 0.1;
/// Largest difference of a stored node from E, voxels.
const NODE: f64 = 1e-3;

/// The type of all fields, which this file cannot name, since `ExactField` is one of them. The grid is kept as a
/// field of that type, so that a query can search it in place of the whole.
pub trait AnyField: Send + Sync {
    /// Returns the field of a grid.
    fn of_grid(grid: DenseField) -> Self;

    /// Returns the grid of a field that [`AnyField::of_grid`] made.
    fn grid(&self) -> &DenseField;
}

/// The signed distance to a closed mesh: exact within two voxels of the surface, and that of a grid farther away.
///
/// With the interpolant T of the grid, the exact signed distance E and voxels of h, φ is
/// - E where |T| ≤ 2.9 h, which includes all points with |E| ≤ 2 h;
/// - T where |T| ≥ 4.9 h, and outside the grid;
/// - E + w (T − E) between the two, where w grows from 0 to 1 linearly with |T|.
///
/// So φ is continuous. In a cell near which the surface is one plane, T is E to 10⁻⁴ h and is used in its place: a
/// point there costs as much as on the grid. Any other point near the surface costs a search for the closest triangle,
/// bounded by T.
///
/// T is a mean of the node values v(nᵢ) = E(nᵢ) with weights wᵢ, Σ wᵢ |nᵢ − p|² ≤ ¾ h², and E has the Lipschitz
/// constant 1. Hence |T − E| ≤ √¾ h in the grid; all bounds below follow from this.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored", bound = "F: AnyField + Clone")]
pub struct ExactField<F> {
    /// The interpolant T.
    far: Arc<F>,
    mesh: Arc<TriMesh>,
    surface: Arc<Surface>,
    flat: FlatCells,
    error: FieldError,
    /// Voxel, and `CORE` and `END` voxels, metres.
    voxel: f64,
    core: f32,
    end: f32,
    /// Lipschitz constant of φ everywhere.
    lipschitz: f32,
    /// Rounding of T and of the cells that count as flat, metres.
    margin: f32,
}

/// Data from which a field can be made again.
#[derive(Serialize, Deserialize)]
struct Stored {
    grid: DenseField,
    mesh: TriMesh,
}

impl<F: AnyField> TryFrom<Stored> for ExactField<F> {
    type Error = Error;
    fn try_from(Stored { grid, mesh }: Stored) -> Result<Self> {
        let TriMesh { vertices, triangles } = mesh;
        Self::new(grid, Arc::new(TriMesh::new(vertices, triangles)?))
    }
}

impl<F: AnyField> From<ExactField<F>> for Stored {
    fn from(field: ExactField<F>) -> Self {
        Self { mesh: field.mesh.copied(), grid: field.far().clone() }
    }
}

impl<F: AnyField> PartialEq for ExactField<F> {
    fn eq(&self, other: &Self) -> bool {
        self.far() == other.far() && self.mesh == other.mesh
    }
}

impl<F: AnyField> ExactField<F> {
    /// Smallest number of cells between the mesh and the border of the grid.
    pub const PADDING: u32 = 6;

    /// Returns the field of a closed `mesh`, body frame, whose `grid` was cooked from it.
    ///
    /// # Errors
    /// `InvalidArgument` if the mesh is not closed, or if the grid is not that of the mesh: every node within seven
    /// voxels of the surface must have its distance to 1/1000 of a voxel, and the border of the grid must be
    /// [`ExactField::PADDING`] voxels away from the mesh.
    pub fn new(grid: DenseField, mesh: Arc<TriMesh>) -> Result<Self> {
        Self::checked(grid, mesh, 1)
    }

    /// Does the same, but checks only one node in 64: for a grid that was just cooked, or stored with its mesh.
    pub fn of_cooked(grid: DenseField, mesh: Arc<TriMesh>) -> Result<Self> {
        Self::checked(grid, mesh, 4)
    }

    /// Checks every `step`-th node along each axis, or each node if the surface lacks triangles of the mesh.
    fn checked(grid: DenseField, mesh: Arc<TriMesh>, step: usize) -> Result<Self> {
        let surface = Surface::new(&mesh)
            .ok_or_else(|| Error::argument("mesh", "an open surface", "a closed one, with at most 2^30 edges"))?;
        let is_whole = surface.triangle_count() as u64 + grid.sign().duplicate_triangles == mesh.triangles.len() as u64;
        let step = if is_whole { step } else { 1 };
        if !matches!(grid.sign().rule, SignRule::Crossings | SignRule::Parity) {
            return Err(Error::argument("grid", grid.sign().rule, "one that was cooked from a closed mesh"));
        }
        let voxel = f64::from(grid.grid().spacing);
        let corner = |p: [f32; 3]| Vec3::from(p.map(f64::from)) + grid.center();
        let (low, high) = (corner(grid.grid().min), corner(grid.grid().max()));
        let bounds = surface.bounds().inflated(ROOM * voxel);
        if (0..3).any(|k| bounds.min[k] < low[k] || bounds.max[k] > high[k]) {
            let expected = format!("a grid with {} cells around the mesh", Self::PADDING);
            return Err(Error::argument("grid", format!("a box from {low:?} to {high:?}"), expected));
        }
        check_nodes(&grid, &surface, step)?;
        let flat = FlatCells::find(&grid, &surface, END * voxel);
        // The blend adds w′ |T − E| |∇T| to the slope.
        let steepest = f64::from(grid.lipschitz()).max(1.0) * (1.0 + ERROR / (END - CORE));
        let rounding = f64::from(grid.slack());
        let error = FieldError { max: flat.error() + rounding, rms: flat.error() + rounding, samples: 0 };
        Ok(Self {
            voxel,
            core: (CORE * voxel) as f32,
            end: (END * voxel) as f32,
            lipschitz: ((steepest * (1.0 + 1e-6)) as f32).max(grid.lipschitz_outside()),
            margin: ((flat.error() + 4.0 * rounding) * (1.0 + 1e-6)) as f32,
            far: Arc::new(F::of_grid(grid)),
            mesh,
            surface: Arc::new(surface),
            flat,
            error,
        })
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let mesh = super::mesh_field::scaled_mesh(&self.mesh, factor)?;
        Self::new(self.far().scaled(factor)?, Arc::new(mesh))
    }

    /// Returns the grid, which decides far from the surface.
    #[inline]
    pub fn far(&self) -> &DenseField {
        self.far.grid()
    }

    /// Returns the same as a field of its own, for queries in which the surface decides near it.
    pub fn far_field(&self) -> &Arc<F> {
        &self.far
    }

    /// Returns the grid of the nodes, local frame.
    pub fn grid(&self) -> &Grid {
        self.far().grid()
    }

    /// Returns the mesh, body frame.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Returns the exact surface.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// Returns the origin of the local frame in the body frame, metres.
    pub fn center(&self) -> Vec3 {
        self.far().center()
    }

    /// Returns the certified Lipschitz constant of φ everywhere, but for the steps of at most [`FieldError::max`] at
    /// the border of flat cells.
    pub fn lipschitz(&self) -> f32 {
        self.lipschitz
    }

    /// Returns bounds on the error within two voxels of the surface; not measured, but proven.
    pub fn error(&self) -> FieldError {
        self.error
    }

    /// Returns the report of the sign rule.
    pub fn sign(&self) -> &SignReport {
        self.far().sign()
    }

    /// Returns the distance from the surface up to which φ is exact, metres.
    pub fn exact_to(&self) -> f64 {
        EXACT * self.voxel
    }

    /// Returns the number of cells near the surface where the grid is exact, and the number of all cells near it.
    pub fn flat_cells(&self) -> [u64; 2] {
        self.flat.counts()
    }

    /// Returns the memory held, bytes, with that of the exact surface, which queries of a coverage share.
    pub fn bytes(&self) -> u64 {
        self.far().bytes() + self.flat.bytes() + self.surface.bytes()
    }

    fn body(&self, p: [f32; 3]) -> Vec3 {
        Vec3::from(p.map(f64::from)) + self.far().center()
    }

    /// Returns E and the closest point, body frame, where T is `t`; `p` is in the grid.
    #[inline]
    fn exact(&self, p: &Vec3, t: f32) -> Option<(f64, Closest)> {
        let (far, error) = (f64::from(t.abs()), ERROR * self.voxel);
        let closest = self.surface.closest(*p, far + error)?;
        let distance = closest.distance_squared.sqrt();
        // T and E have one sign where they differ by less than |T|.
        let certain = (far > error).then_some(t < 0.0);
        let is_inside = certain.unwrap_or_else(|| self.surface.side(p, &closest, None, false).0);
        Some((if is_inside { -distance } else { distance }, closest))
    }

    /// Returns whether φ is `t`, the value of T at `p`.
    #[inline]
    fn is_grid(&self, p: [f32; 3], t: f32) -> bool {
        // False for NaN.
        let is_near = t.abs() < self.end;
        !is_near || self.flat.has(self.far().cell_of(p))
    }

    /// Returns w.
    #[inline]
    fn weight(&self, t: f32) -> f32 {
        ((t.abs() - self.core) / (self.end - self.core)).max(0.0)
    }

    /// Returns φ where T is `t`.
    #[inline]
    fn near(&self, p: [f32; 3], t: f32) -> f32 {
        if self.is_grid(p, t) {
            return t;
        }
        let Some((e, _)) = self.exact(&self.body(p), t) else { return t };
        let e = e as f32;
        e + self.weight(t) * (t - e)
    }

    /// Returns the outward direction of the surface at the closest point: the gradient of E.
    fn outward(&self, p: &Vec3, e: f64, closest: &Closest) -> Vec3 {
        // Below the precision of f32 coordinates the direction between the two would be their rounding.
        let size = p.amax() + self.far().center().amax() + self.surface.bounds().extents().amax();
        let has_direction = e.abs() > 4.0 * f64::from(f32::EPSILON) * size;
        if has_direction {
            return (p - closest.point) / e;
        }
        let (_, outward) = self.surface.side(p, closest, Some(e < 0.0), false);
        let normal = || {
            let n = self.surface.normal(closest.triangle).unwrap_or_else(Vec3::z);
            // Where triangles do not agree on the outside.
            let step = n * (1e-5 * size);
            if self.surface.contains(p + step) && !self.surface.contains(p - step) {
                -n
            } else {
                n
            }
        };
        outward.unwrap_or_else(normal)
    }

    /// Returns a lower bound of T and of E in the grid, over the ball of radius `r` around `c`: the distance from the
    /// closest point of the box to any point of the ball in the box is at most `r`, and E(x) ≥ Σ wᵢ (E(nᵢ) − |nᵢ − x|).
    fn below_both(&self, c: [f32; 3], r: f32) -> f32 {
        let (inside, _) = self.far().split(c);
        let reach = libm::hypot(r.into(), ERROR * self.voxel) as f32 * (1.0 + 1e-6);
        self.far().lower_bound(c, r).min(inside - reach - self.margin)
    }

    /// Returns E where all of φ near a point follows from it: φ ≥ min(E − r, 2 h) over a ball, if E − r ≥ −2 h.
    fn core(&self, c: [f32; 3]) -> Option<f32> {
        let t = self.far().distance(c);
        // False for NaN.
        let is_near = t.abs() <= self.core;
        if !is_near {
            return None;
        }
        if self.flat.has(self.far().cell_of(c)) {
            return Some(t);
        }
        self.exact(&self.body(c), t).map(|(e, _)| e as f32)
    }
}

/// Checks every `step`-th node along each axis that is near the surface against it.
fn check_nodes(grid: &DenseField, surface: &Surface, step: usize) -> Result<()> {
    let dims = grid.grid().dims;
    let voxel = f64::from(grid.grid().spacing);
    // All corners of the cells in which |T| may be less than `END`.
    let near = (END + 1.74 * f64::from(grid.node_lipschitz()).max(1.0)) * voxel;
    let is_right = |i: u32, j: u32, k: u32| {
        let value = f64::from(grid.values()[grid.grid().index(i, j, k)]);
        if value.abs() > near {
            return true;
        }
        let p = Vec3::from(grid.grid().node(i, j, k).map(f64::from)) + grid.center();
        let Some(closest) = surface.closest(p, value.abs() + NODE * voxel) else { return false };
        let distance = closest.distance_squared.sqrt();
        let is_inside = || surface.side(&p, &closest, None, false).0;
        distance >= value.abs() - NODE * voxel && (distance < NODE * voxel || is_inside() == (value < 0.0))
    };
    let wrong = (0..dims[2]).into_par_iter().step_by(step).find_map_first(|k| {
        let rows = (0..dims[1]).step_by(step).flat_map(|j| (0..dims[0]).step_by(step).map(move |i| (i, j)));
        rows.map(|(i, j)| [i, j, k]).find(|&[i, j, k]| !is_right(i, j, k))
    });
    match wrong {
        None => Ok(()),
        Some(node) => Err(Error::argument("grid", format!("node {node:?}"), "the distance of every node to the mesh")),
    }
}

impl<F: AnyField> SignedDistance for ExactField<F> {
    fn local_origin(&self, near: &Vec3) -> Vec3 {
        self.far().local_origin(near)
    }

    fn bounds(&self) -> Aabb {
        self.far().bounds()
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        self.near(p, self.far().distance(p))
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (t, steep) = self.far().distance_gradient(p);
        if self.is_grid(p, t) {
            return (t, steep);
        }
        let body = self.body(p);
        let Some((e, closest)) = self.exact(&body, t) else { return (t, steep) };
        let outward = self.outward(&body, e, &closest).map(|x| x as f32);
        let (e, w) = (e as f32, self.weight(t));
        if w == 0.0 {
            return (e, outward.into());
        }
        let (off, per_metre) = (t - e, t.signum() / (self.end - self.core));
        let slope = |k: usize| (outward[k] + w * (steep[k] - outward[k])) + (per_metre * off) * steep[k];
        (e + w * off, [slope(0), slope(1), slope(2)])
    }

    /// Returns E(c) − r near the surface, and a bound of both T and E elsewhere; see [`ExactField::core`].
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        let by_grid = self.far().lower_bound(c, r);
        if by_grid >= self.end {
            return by_grid;
        }
        let exact_to = self.exact_to() as f32;
        // A large ball would not profit from the search.
        if f64::from(r) <= self.voxel {
            if let Some(e) = self.core(c) {
                let least = e - r;
                if least >= -exact_to {
                    return least.min(exact_to) - self.margin;
                }
            }
        }
        self.below_both(c, r)
    }

    fn distance_batch(&self, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
        self.far().distance_batch(x, y, z, out);
        for (i, phi) in out.iter_mut().enumerate() {
            *phi = self.near([x[i], y[i], z[i]], *phi);
        }
    }

    /// The steps at the border of flat cells count as rounding.
    fn modulus(&self, reach: f64) -> Option<Modulus> {
        let Modulus { rounding, .. } = self.far().modulus(reach)?;
        Some(Modulus { lipschitz: self.lipschitz, rounding: 2.0 * (rounding + f64::from(self.margin)) })
    }

    fn voxel_size(&self) -> f32 {
        self.far().voxel_size()
    }

    fn error_bound(&self) -> f64 {
        self.error.max + f64::from(self.margin)
    }
}

impl<F: AnyField> Clearance for ExactField<F> {
    fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
        // T, and so φ, is above both until a point with |T| < `END` is reached.
        let far = self.far().clearance(c, level.max(self.end));
        let exact_to = (self.exact_to() * (1.0 - 1e-6)) as f32;
        let near = match self.core(c) {
            Some(e) if level.abs() < exact_to => (e - level) - self.margin,
            _ => {
                let off = f64::from(self.far().split(c).0 - level - self.margin);
                let square = off * off.max(0.0) - (ERROR * self.voxel).powi(2);
                self.far().clearance(c, level).min(square.max(0.0).sqrt() as f32)
            }
        };
        near.max(far) * (1.0 - 4.0 * f32::EPSILON)
    }
}
