//! The forms of parry's own shapes.
//!
//! | shape | forms |
//! | --- | --- |
//! | ball, capsule | samples of the centre or the axis with the radius as their margin, and the exact field |
//! | segment, polyline | samples |
//! | cuboid, convex polyhedron, cylinder, cone | exact field, samples and triangles |
//! | half-space | exact field |
//! | triangle, mesh, height field, voxels | a sheet, which collides on both sides, and samples of its vertices and edges |
//! | mesh with `TriMeshFlags::ORIENTED` | exact field of a solid, samples and triangles |
//! | round shapes | those of the inner shape, with the border radius as their margin |
//! | compound | those of its shapes |

use std::sync::Arc;

use parry3d::math::Vector;
use parry3d::shape::{self as parry, Shape, TriMeshFlags, TypedShape};
use voxshell::asset::{self, CookOptions, Forms};
use voxshell::field::{self, ConvexHull, Field, MeshField, Sheet, SignedDistance, Surface};
use voxshell::math::{Pose as Pose64, Progress, Rotation, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::pointshell::{PointShell, Sampling, ShellOptions};

use crate::body::{Body, Exact, Part, Role};
use crate::convert::{points64, pose64, vec3};
use crate::shape::VoxshellShape;

/// Samples of a convex shape: about a thirtieth of its size apart.
const CONVEX_SAMPLES: usize = 4000;
/// Samples of a mesh that is a solid.
const SOLID_SAMPLES: usize = 10_000;
/// Samples of the axis of a capsule, and of a segment.
const AXIS_SAMPLES: usize = 129;
/// Upper limit of the number of samples of a polyline.
const POLYLINE_SAMPLES: usize = 8192;
/// Sides of the polygon that stands for the circle of a cylinder or a cone. Its edges are 7.5e-5 radii inside.
const SIDES: u32 = 256;
/// Sharp edges of a sheet get samples at this fraction of its extent.
const EDGE_SPACING: f64 = 1.0 / 256.0;
/// Meshes of more triangles bring their vertices alone, so that a landscape does not take minutes to sample.
const MOST_SAMPLED: usize = 20_000;

/// Returns the forms of a shape; `None` if the shape has a size that no body can have, or is of an unknown type.
pub(crate) fn body_of(shape: &dyn Shape) -> Option<Body> {
    let parts = match shape.as_typed_shape() {
        TypedShape::Ball(ball) => round(&[Vec3::zeros()], ball.radius.into(), Pose64::identity(), |radius| {
            Some(Field::Sphere(field::Sphere::new(radius).ok()?))
        })?,
        TypedShape::Capsule(capsule) => of_capsule(capsule)?,
        TypedShape::Segment(segment) => vec![samples(&along(&[[segment.a, segment.b]]), 0.0)?],
        TypedShape::Polyline(line) => {
            let segments: Vec<[Vector; 2]> = line.segments().map(|s| [s.a, s.b]).collect();
            vec![samples(&along(&segments), 0.0)?]
        }
        TypedShape::HalfSpace(plane) => {
            let field = field::HalfSpace::new(vec3(plane.normal), 0.0).ok()?;
            vec![Part::new(Some(Arc::new(Field::HalfSpace(field))), None, Exact::None)?]
        }
        TypedShape::Triangle(triangle) => vec![of_triangle(triangle)?],
        TypedShape::RoundTriangle(triangle) => rounded(of_triangle(&triangle.inner_shape)?, triangle.border_radius),
        TypedShape::Cuboid(cuboid) => vec![of_cuboid(cuboid)?],
        TypedShape::RoundCuboid(cuboid) => rounded(of_cuboid(&cuboid.inner_shape)?, cuboid.border_radius),
        TypedShape::Cylinder(cylinder) => vec![of_cylinder(cylinder)?],
        TypedShape::RoundCylinder(cylinder) => rounded(of_cylinder(&cylinder.inner_shape)?, cylinder.border_radius),
        TypedShape::Cone(cone) => vec![of_cone(cone)?],
        TypedShape::RoundCone(cone) => rounded(of_cone(&cone.inner_shape)?, cone.border_radius),
        TypedShape::ConvexPolyhedron(hull) => vec![of_hull(hull)?],
        TypedShape::RoundConvexPolyhedron(hull) => rounded(of_hull(&hull.inner_shape)?, hull.border_radius),
        TypedShape::TriMesh(mesh) => {
            let triangles = mesh_of(mesh.vertices(), mesh.indices())?;
            let is_solid = mesh.flags().contains(TriMeshFlags::ORIENTED);
            vec![is_solid.then(|| solid(&triangles)).flatten().or_else(|| sheet(triangles))?]
        }
        TypedShape::HeightField(heights) => {
            let (vertices, triangles) = heights.to_trimesh();
            vec![sheet(mesh_of(&vertices, &triangles)?)?]
        }
        TypedShape::Voxels(voxels) => {
            let (vertices, triangles) = voxels.to_trimesh();
            vec![sheet(mesh_of(&vertices, &triangles)?)?]
        }
        TypedShape::Compound(compound) => of_compound(compound)?,
        TypedShape::Custom(custom) => custom.as_shape::<VoxshellShape>()?.body.parts.clone(),
    };
    Some(Body { parts })
}

fn of_compound(compound: &parry::Compound) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for (number, (pose, shape)) in compound.shapes().iter().enumerate() {
        let pose = pose64(pose);
        for part in body_of(&**shape)?.parts {
            parts.push(Part { pose: pose * part.pose, subshape: number as u32, ..part });
        }
    }
    Some(parts)
}

fn mesh_of(vertices: &[Vector], triangles: &[[u32; 3]]) -> Option<TriMesh> {
    TriMesh::new(points64(vertices), triangles.to_vec()).ok()
}

fn rounded(part: Part, border_radius: f32) -> Vec<Part> {
    let margin = f64::from(border_radius);
    vec![Part { margin: if margin > 0.0 { margin } else { 0.0 }, ..part }]
}

/// Returns a part of samples alone. They have no surface, and so no meaningful normals.
fn samples(points: &[Vec3], margin: f64) -> Option<Part> {
    let coordinates: Vec<[f64; 3]> = points.iter().map(|p| (*p).into()).collect();
    let normals = vec![[0.0, 1.0, 0.0]; points.len()];
    let shell = PointShell::from_samples(&coordinates, &normals, &ShellOptions::default()).ok()?;
    let part = Part::new(None, Some(Arc::new(shell)), Exact::None)?;
    Some(Part { margin, kernel: Some(points.into()), ..part })
}

/// Returns the parts of a round shape: its kernel with the radius as margin, and its field, if it has a radius.
fn round(kernel: &[Vec3], radius: f64, pose: Pose64, field: impl FnOnce(f64) -> Option<Field>) -> Option<Vec<Part>> {
    if !(radius.is_finite() && radius >= 0.0) {
        return None;
    }
    let mut parts = vec![Part { role: Role::Kernel, ..samples(kernel, radius)? }];
    if let Some(field) = field(radius) {
        let around = Part::new(Some(Arc::new(field)), None, Exact::None)?;
        parts.push(Part { pose, role: Role::Around, ..around });
    }
    Some(parts)
}

fn of_capsule(capsule: &parry::Capsule) -> Option<Vec<Part>> {
    let parry::Segment { a, b } = capsule.segment;
    let (from, to) = (vec3(a), vec3(b));
    let axis = to - from;
    // Rotates z to the axis; half a turn about x if they are opposite.
    let half_turn = || Rotation::from_axis_angle(&Vec3::x_axis(), std::f64::consts::PI);
    let rotation = Rotation::rotation_between(&Vec3::z(), &axis).unwrap_or_else(half_turn);
    let pose = Pose64::from_parts(((from + to) * 0.5).into(), rotation);
    round(&along(&[[a, b]]), capsule.radius.into(), pose, |radius| {
        Some(match field::Capsule::new(2, radius, 0.5 * axis.norm()) {
            Ok(capsule) => Field::Capsule(capsule),
            Err(_) => Field::Sphere(field::Sphere::new(radius).ok()?),
        })
    })
}

/// Returns samples along segments, ends included.
fn along(segments: &[[Vector; 2]]) -> Vec<Vec3> {
    let segments: Vec<[Vec3; 2]> = segments.iter().map(|ends| ends.map(vec3)).collect();
    let total: f64 = segments.iter().map(|[a, b]| (b - a).norm()).sum();
    let most = POLYLINE_SAMPLES.min(AXIS_SAMPLES * segments.len()) as f64;
    let mut points = Vec::new();
    for [a, b] in &segments {
        let fraction = if total > 0.0 { (b - a).norm() / total } else { 0.0 };
        let steps = ((most * fraction) as usize).max(1);
        points.extend((0..=steps).map(|i| a + (b - a) * (i as f64 / steps as f64)));
    }
    // Neighbouring segments share their ends, and a segment without length has one end.
    points.dedup();
    points
}

fn of_triangle(triangle: &parry::Triangle) -> Option<Part> {
    sheet(mesh_of(&[triangle.a, triangle.b, triangle.c], &[[0, 1, 2]])?)
}

fn of_cuboid(cuboid: &parry::Cuboid) -> Option<Part> {
    let (vertices, triangles) = cuboid.to_trimesh();
    let mesh = mesh_of(&vertices, &triangles)?;
    match field::Cuboid::new(vec3(cuboid.half_extents).into()) {
        Ok(field) => convex(Field::Cuboid(field), &mesh),
        Err(_) => sheet(mesh),
    }
}

fn of_cylinder(cylinder: &parry::Cylinder) -> Option<Part> {
    let field = field::Cylinder::new(1, cylinder.radius.into(), cylinder.half_height.into()).ok()?;
    let (vertices, triangles) = cylinder.to_trimesh(SIDES);
    convex(Field::Cylinder(field), &mesh_of(&vertices, &triangles)?)
}

fn of_cone(cone: &parry::Cone) -> Option<Part> {
    let field = field::Cone::new(1, cone.radius.into(), 2.0 * f64::from(cone.half_height)).ok()?;
    let (vertices, triangles) = cone.to_trimesh(SIDES);
    convex(Field::Cone(field), &mesh_of(&vertices, &triangles)?)
}

fn of_hull(hull: &parry::ConvexPolyhedron) -> Option<Part> {
    let (vertices, triangles) = hull.to_trimesh();
    let mesh = mesh_of(&vertices, &triangles)?;
    match ConvexHull::new(&mesh.vertices) {
        Ok(field) => convex(Field::ConvexHull(field), &mesh),
        Err(_) => sheet(mesh),
    }
}

/// Returns the samples of a mesh, and the mesh without repeated vertices.
fn sampled(mesh: &TriMesh, shell: ShellOptions) -> Option<(Arc<PointShell>, Arc<TriMesh>)> {
    let options = CookOptions { forms: Forms { field: false, shell: true }, shell, ..CookOptions::default() };
    let cooked = asset::Shape::cook(mesh, &options, &Progress::none()).ok()?;
    Some((cooked.shell?, cooked.mesh?))
}

/// Returns a convex part.
fn convex(field: Field, mesh: &TriMesh) -> Option<Part> {
    let options = ShellOptions { target_count: Some(CONVEX_SAMPLES), ..ShellOptions::default() };
    let (shell, mesh) = sampled(mesh, options)?;
    let exact = Surface::new(&mesh).map_or(Exact::None, |surface| Exact::Surface(Arc::new(surface)));
    Part::new(Some(Arc::new(field)), Some(shell), exact)
}

/// Returns a closed mesh as a solid; `None` if it is not closed.
fn solid(mesh: &TriMesh) -> Option<Part> {
    let options = ShellOptions { target_count: Some(SOLID_SAMPLES), ..ShellOptions::default() };
    let (shell, mesh) = sampled(mesh, options)?;
    let surface = Arc::new(Surface::new(&mesh)?);
    let field = MeshField::new(TriMesh::clone(&mesh)).ok()?;
    Part::new(Some(Arc::new(Field::Mesh(field))), Some(shell), Exact::Surface(surface))
}

/// Returns a mesh as a surface without an inside, with samples of its vertices and sharp edges.
fn sheet(mesh: TriMesh) -> Option<Part> {
    mesh.check_extent().ok()?;
    let extent = mesh.bounds().extents().max();
    let is_small = mesh.triangles.len() <= MOST_SAMPLED;
    let spacing = if is_small { EDGE_SPACING * extent } else { f64::NAN };
    let options = ShellOptions { method: Sampling::Vertices, spacing, ..ShellOptions::default() };
    let mut shell = sampled(&mesh, options).map(|(shell, _)| shell);
    if shell.is_none() {
        let normals = vec![[0.0, 1.0, 0.0]; mesh.vertices.len()];
        shell = PointShell::from_samples(&mesh.vertices, &normals, &ShellOptions::default()).ok().map(Arc::new);
    }
    // Queries limit the depth by the size of the other body.
    let sheet = Sheet::new(Arc::new(mesh), extent).ok()?;
    debug_assert!(sheet.bounds().extents().max() == extent);
    Part::new(Some(Arc::new(Field::Sheet(sheet))), shell, Exact::None)
}
