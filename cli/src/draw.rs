//! `voxshell render`: the colliding surface, slices through the field and the voxelmap, the samples of the pointshell
//! and the spheres over them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use voxshell_cli::print::say;

use clap::ValueEnum;
use voxshell::asset::Shape;
use voxshell::field::{Field, Grid, SignedDistance};
use voxshell::math::{Aabb, Pose, Progress, Vec3};
use voxshell::pointshell::PointShell;
use voxshell::voxmap::{LayerMap, VoxelGrid, VoxelModel, VoxelOptions};
use voxshell::{Error, Result};
use voxshell_cli::render::{render, slice, Ball, Camera, Ground, Image, Object, Plane, Scene};

use voxshell_cli::source;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum View {
    /// The zero level of the field, sphere-traced.
    Surface,
    /// The field's values on a plane, with its zero level.
    Slice,
    /// The pointshell: its samples on the surface, or the spheres of a --level of its tree.
    Shell,
    /// The layered voxelmap on a plane: surface red, layers green inside and blue outside.
    Voxmap,
}

#[derive(Clone, Copy, ValueEnum)]
enum Axis {
    X,
    Y,
    Z,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  voxshell render part.vxs                                     the surface
  voxshell render part.vxs --view slice --axis x --at 0.02     the field on the plane x = 2 cm
  voxshell render part.vxs --view shell --level 1,2,3          the spheres of three levels, side by side")]
pub struct Arguments {
    /// An asset (.vxs), a mesh file (.obj, .stl, .ply) or the name of a built-in shape.
    #[arg(value_name = "SHAPE")]
    source: OsString,
    /// The PNG file to write.
    #[arg(short, long, value_name = "FILE", default_value = "shape.png")]
    out: PathBuf,
    /// Views to draw; several are placed side by side.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "surface")]
    view: Vec<View>,
    /// Axis across which the plane lies, seen from the positive side; several are placed side by side.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "z")]
    axis: Vec<Axis>,
    /// Position of the plane along the axis, in the frame of the shape; default: the middle.
    #[arg(long, value_name = "METRES", allow_negative_numbers = true)]
    at: Option<f64>,
    /// Levels of the sphere tree for the shell view, 0 being the root; several are placed side by side.
    #[arg(long, value_delimiter = ',', value_name = "NUMBER")]
    level: Vec<usize>,
    /// Height in pixels; each view is square.
    #[arg(long, value_name = "PIXELS", default_value_t = 600)]
    size: usize,
    /// Direction of the camera as seen from the shape.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [0.5, 0.4, 1.0], allow_negative_numbers = true)]
    from: Vec<f64>,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if !(16..=8192).contains(&arguments.size) {
        return Err(Error::argument("--size", arguments.size, "16 to 8192 pixels"));
    }
    let from = Vec3::from_column_slice(&arguments.from);
    if !(from.norm() > 0.0 && from.norm().is_finite()) {
        return Err(Error::argument("--from", format!("{:?}", arguments.from), "a finite direction that is not 0 0 0"));
    }
    if arguments.at.is_some_and(|at| !at.is_finite()) {
        return Err(Error::argument("--at", arguments.at.unwrap_or_default(), "a finite position in metres"));
    }
    let shape = source::shape(&arguments.source, &arguments.cook)?;
    let pictures = Pictures::new(&shape, arguments, from)?;
    let mut images = Vec::new();
    for view in &arguments.view {
        match view {
            View::Surface => images.push(pictures.surface(Vec::new())),
            View::Slice => images.extend(pictures.planes(arguments).map(|plane| pictures.slice(&plane))),
            View::Voxmap => {
                let map = LayerMap::new(&voxels(&shape, pictures.field)?, &Progress::none())?;
                images.extend(pictures.planes(arguments).map(|plane| pictures.layers(&map, &plane)));
            }
            View::Shell if arguments.level.is_empty() => images.push(pictures.samples()?),
            View::Shell => {
                for level in &arguments.level {
                    images.push(pictures.spheres(*level)?);
                }
            }
        }
    }
    Image::side_by_side(&images).write_png(&arguments.out)?;
    say(format_args!("wrote {}", arguments.out.display()));
    Ok(())
}

/// Data shared by all pictures of a shape.
struct Pictures<'a> {
    shape: &'a Shape,
    field: &'a Arc<Field>,
    bounds: Aabb,
    camera: Camera,
    n: usize,
}

impl<'a> Pictures<'a> {
    fn new(shape: &'a Shape, arguments: &Arguments, from: Vec3) -> Result<Self> {
        let field = shape.field.as_ref().ok_or_else(|| missing("field"))?;
        let bounds = field.bounds();
        if !bounds.extents().norm().is_finite() {
            return Err(Error::Unsupported("a picture needs a shape of finite size".into()));
        }
        let camera = Camera::framing(&bounds, from, Vec3::y(), 0.6, 1.0);
        Ok(Self { shape, field, bounds, camera, n: arguments.size })
    }

    /// Iterates over one plane for each requested axis.
    fn planes<'b>(&self, arguments: &'b Arguments) -> impl Iterator<Item = Plane> + 'b {
        let bounds = self.bounds;
        arguments.axis.iter().map(move |&axis| {
            let axis = axis as usize;
            Plane::across(axis, arguments.at.unwrap_or(bounds.center()[axis]), &bounds)
        })
    }

    /// Draws the zero level and `balls` on a floor.
    fn surface(&self, balls: Vec<Ball>) -> Image {
        let object = Object::new(Arc::clone(self.field), Pose::identity(), [0.35, 0.55, 0.85]);
        self.scene(vec![object], balls)
    }

    fn scene(&self, objects: Vec<Object>, balls: Vec<Ball>) -> Image {
        let lowest = balls.iter().map(|b| b.center.y - b.radius).fold(self.bounds.min.y, f64::min);
        let ground = Some(Ground::floor(lowest, self.bounds.extents().max() / 4.0));
        render(&Scene { objects, balls, ground, ..Scene::default() }, &self.camera, self.n, self.n)
    }

    fn slice(&self, plane: &Plane) -> Image {
        say(format_args!("lines every {} m", plane.step()));
        slice(self.field.as_ref(), plane, self.n)
    }

    fn shell(&self) -> Result<&'a PointShell> {
        self.shape.shell.as_deref().ok_or_else(|| missing("pointshell"))
    }

    /// Draws a small ball for each sample.
    fn samples(&self) -> Result<Image> {
        let shell = self.shell()?;
        // Small enough that neighbours stay apart, and large enough to be visible.
        let radius = (0.22 * f64::from(shell.spacing)).max(0.001 * self.bounds.extents().max());
        let ball = |i: usize| Ball { center: shell.position(i), radius, colour: [0.98, 0.78, 0.2] };
        Ok(self.surface((0..shell.len()).map(ball).collect()))
    }

    /// Draws the spheres of a level, and of the leaves above it.
    fn spheres(&self, level: usize) -> Result<Image> {
        let shell = self.shell()?;
        let tree = &shell.tree;
        if level >= tree.depth() {
            return Err(Error::argument(
                "--level",
                level,
                format!("less than {}, the levels of the tree", tree.depth()),
            ));
        }
        let is_leaf = |i: &usize| tree.child_count[*i] == 0;
        let above = (0..tree.level(level).start).filter(is_leaf);
        let ball = |i: usize| {
            let center = shell.origin + Vec3::new(tree.cx[i].into(), tree.cy[i].into(), tree.cz[i].into());
            Ball { center, radius: tree.radius[i].into(), colour: hue(i) }
        };
        Ok(self.scene(Vec::new(), above.chain(tree.level(level)).map(ball).collect()))
    }

    /// Draws layers of voxels on the plane, every second one a little darker; lines between voxels if they are large
    /// enough.
    fn layers(&self, map: &LayerMap, plane: &Plane) -> Image {
        let grid = map.grid();
        let (size, origin) = (f64::from(grid.voxel_size()), grid.center());
        // As wide as the grid, so that its border is visible.
        let widest = grid.dims().map(f64::from);
        let wide = |axis: &Vec3| (0..3).map(|k| axis[k].abs() * widest[k]).sum::<f64>();
        let side = wide(&plane.right).max(wide(&plane.up)) * size;
        let normal = plane.right.cross(&plane.up);
        let plane = Plane { side, center: origin + normal * normal.dot(&(plane.center - origin)), ..*plane };
        let pixels_each = self.n as f64 * size / plane.side;
        let mut rgba = Vec::with_capacity(self.n * self.n * 4);
        for row in 0..self.n {
            for column in 0..self.n {
                let p = plane.point(column, row, self.n) - origin;
                let layer = map.layer_at([p.x as f32, p.y as f32, p.z as f32]);
                let fade = 1.0 / (1.0 + f64::from(layer.abs() - 1) * 0.12);
                let (base, to) = match layer {
                    0 => ([214.0, 57.0, 48.0], [214.0, 57.0, 48.0]),
                    1.. => ([120.0, 200.0, 90.0], [20.0, 60.0, 40.0]),
                    _ => ([110.0, 160.0, 225.0], [245.0, 247.0, 250.0]),
                };
                let band = if layer % 2 == 0 && layer != 0 { 0.92 } else { 1.0 };
                // Returns the distance to the nearest border between voxels, in pixels.
                let wall = |axis: &Vec3| {
                    let t = axis.dot(&p) / size + 0.5 * wide(axis);
                    (t - t.round()).abs() * pixels_each
                };
                let at_wall = pixels_each >= 4.0 && wall(&plane.right).min(wall(&plane.up)) < 0.5;
                let line = if at_wall { 0.85 } else { 1.0 };
                rgba.extend([0, 1, 2].map(|k| ((base[k] * fade + to[k] * (1.0 - fade)) * band * line) as u8));
                rgba.push(255);
            }
        }
        Image { width: self.n, height: self.n, rgba }
    }
}

fn missing(what: &str) -> Error {
    Error::Unsupported(format!("this picture needs a {what}, which the shape does not have"))
}

/// Returns a different colour for each number: hues a golden angle apart.
fn hue(i: usize) -> [f32; 3] {
    let turn = (i as f32 * 0.618_034).fract() * 6.0;
    [5.0, 3.0, 1.0].map(|shift: f32| {
        let k = (turn + shift) % 6.0;
        0.9 - 0.42 * k.min(4.0 - k).clamp(0.0, 1.0)
    })
}

/// Makes the voxels of a shape around the nodes of its grid: from its mesh if it has one, else from its field. Fields
/// without a grid get 64 voxels along their largest extent.
fn voxels(shape: &Shape, field: &Field) -> Result<VoxelModel> {
    let limit = VoxelOptions::new(1.0).memory_limit;
    let dense = match field {
        Field::Dense(dense) => Some(dense),
        Field::Exact(exact) => Some(exact.far()),
        _ => None,
    };
    let grid = if let Some(dense) = dense {
        VoxelGrid::new(*dense.grid(), dense.center())?
    } else {
        let bounds = field.bounds();
        let size = bounds.extents().max() / 64.0;
        if !size.is_finite() {
            return Err(Error::Unsupported("this view needs a shape of finite size".into()));
        }
        let dims: [f64; 3] = bounds.extents().map(|e| (e / size).ceil() + 9.0).into();
        VoxelGrid::new(Grid::centered(dims.map(|n| n as u32), size as f32), bounds.center())?
    };
    match (&shape.mesh, dense) {
        (Some(mesh), Some(_)) => VoxelModel::on_grid(mesh, grid, limit, &Progress::none()),
        _ => VoxelModel::from_field(field, grid, limit, &Progress::none()),
    }
}
