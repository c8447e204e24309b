//! `voxshell render`: the surface that collides, slices through the field and the voxelmap, the pointshell's samples.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use voxshell::asset::Shape;
use voxshell::field::{Field, Grid, SignedDistance};
use voxshell::math::{Aabb, Pose, Progress, Vec3};
use voxshell::render::{render, Camera, Ground, Image, Object, Scene};
use voxshell::voxmap::{LayerMap, VoxelGrid, VoxelModel, VoxelOptions};
use voxshell::{Error, Result};

use crate::source;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum View {
    /// The zero level of the field, sphere-traced.
    Surface,
    /// The field's values on a plane through the middle.
    Slice,
    /// The pointshell's samples over the surface.
    Shell,
    /// The layered voxelmap on a plane through the middle: surface red, layers green inside and blue outside.
    Voxmap,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Asset, mesh file or built-in shape.
    source: String,
    /// The picture to write.
    #[arg(short, long, default_value = "shape.png")]
    out: PathBuf,
    /// What to show; several are set side by side.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "surface")]
    view: Vec<View>,
    /// Height in pixels; each view is as wide as it is high.
    #[arg(long, default_value_t = 600)]
    size: usize,
    /// Direction from which to look.
    #[arg(long, num_args = 3, default_values_t = [0.5, 0.4, 1.0], allow_negative_numbers = true)]
    from: Vec<f64>,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if !(16..=8192).contains(&arguments.size) {
        return Err(Error::argument("size", arguments.size, "16 to 8192 pixels"));
    }
    let shape = source::shape(&arguments.source, &arguments.cook)?;
    let n = arguments.size;
    let views = arguments.view.len();
    let mut sheet = Image { width: n * views, height: n, rgba: vec![255; n * n * views * 4] };
    for (i, view) in arguments.view.iter().enumerate() {
        let image = draw(&shape, *view, n, &Vec3::from_column_slice(&arguments.from))?;
        for y in 0..n {
            let to = (y * n * views + i * n) * 4;
            sheet.rgba[to..to + n * 4].copy_from_slice(&image.rgba[y * n * 4..(y + 1) * n * 4]);
        }
    }
    sheet.write_png(&arguments.out)?;
    println!("wrote {}", arguments.out.display());
    Ok(())
}

fn draw(shape: &Shape, view: View, n: usize, from: &Vec3) -> Result<Image> {
    let missing = |what: &str| Error::Unsupported(format!("this view needs a {what}, which the shape does not have"));
    let field = shape.field.as_ref().ok_or_else(|| missing("field"))?;
    let bounds = field.bounds();
    if view == View::Slice {
        return Ok(slice(field.as_ref(), &bounds, n));
    }
    if view == View::Voxmap {
        return Ok(layers(&LayerMap::new(&voxels(shape, field)?, &Progress::none())?, n));
    }
    let extent = bounds.extents().max();
    let mut scene = Scene { ground: Some(Ground::floor(bounds.min.y, extent / 4.0)), ..Scene::default() };
    scene.objects.push(Object::new(Arc::clone(field), Pose::identity(), [0.35, 0.55, 0.85]));
    let camera = Camera::framing(&bounds, *from, Vec3::y(), 0.6, 1.0);
    let mut image = render(&scene, &camera, n, n);
    if view == View::Shell {
        let shell = shape.shell.as_ref().ok_or_else(|| missing("pointshell"))?;
        for i in 0..shell.len() {
            let p = shell.position(i);
            let normal = Vec3::from(shell.normal(i).map(f64::from));
            let ray = p - camera.eye;
            if normal.dot(&ray) < 0.0 && !hidden(field.as_ref(), &camera.eye, &p) {
                dot(&mut image, &camera, &ray);
            }
        }
    }
    Ok(image)
}

fn local(field: &impl SignedDistance, p: &Vec3) -> [f32; 3] {
    let q = p - field.local_origin(p);
    [q.x as f32, q.y as f32, q.z as f32]
}

/// Whether the line of sight to a surface point enters the field well before it.
fn hidden(field: &impl SignedDistance, eye: &Vec3, p: &Vec3) -> bool {
    let ray = p - eye;
    let length = ray.norm();
    let mut t = 0.0;
    for _ in 0..256 {
        let d = f64::from(field.distance(local(field, &(eye + ray * (t / length)))));
        if t + d.max(0.0) >= 0.99 * length {
            return false;
        }
        if d < 1e-4 * length {
            return true;
        }
        t += 0.7 * d;
    }
    true
}

fn dot(image: &mut Image, camera: &Camera, ray: &Vec3) {
    let depth = ray.dot(&camera.forward);
    if depth <= 0.0 {
        return;
    }
    let half = (camera.fov_y * 0.5).tan();
    let n = image.height as f64;
    let x = (ray.dot(&camera.right) / depth / half * 0.5 + 0.5) * n;
    let y = (0.5 - ray.dot(&camera.up) / depth / half * 0.5) * n;
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let (px, py) = (x as isize + dx, y as isize + dy);
        if (0..image.width as isize).contains(&px) && (0..image.height as isize).contains(&py) {
            let at = (py as usize * image.width + px as usize) * 4;
            image.rgba[at..at + 3].copy_from_slice(&[250, 210, 60]);
        }
    }
}

/// φ on the plane z = middle: blue inside, orange outside, a line every 25th of the width, the surface in white.
fn slice(field: &impl SignedDistance, bounds: &Aabb, n: usize) -> Image {
    let center = bounds.center();
    let extent = bounds.extents().max() * 1.12;
    let pixel = extent / n as f64;
    let band = extent / 25.0;
    let mut rgba = Vec::with_capacity(n * n * 4);
    for row in 0..n {
        for column in 0..n {
            let x = (column as f64 + 0.5 - n as f64 * 0.5) * pixel;
            let y = (n as f64 * 0.5 - row as f64 - 0.5) * pixel;
            let phi = f64::from(field.distance(local(field, &(center + Vec3::new(x, y, 0.0)))));
            let fade = 1.0 / (1.0 + (phi.abs() / band) * 0.45);
            let base = if phi < 0.0 { [70.0, 120.0, 200.0] } else { [235.0, 150.0, 70.0] };
            let level = (phi / band).rem_euclid(1.0);
            let line = if level.min(1.0 - level) * band < pixel * 0.6 { 0.75 } else { 1.0 };
            let surface = phi.abs() < pixel * 1.6;
            for channel in base {
                let value = if surface { 255.0 } else { (channel * fade + 30.0 * (1.0 - fade)) * line };
                rgba.push(value as u8);
            }
            rgba.push(255);
        }
    }
    Image { width: n, height: n, rgba }
}

/// The voxels of a shape, around the nodes of its grid: of its mesh where it has one, else of its field. Fields without
/// a grid get 64 voxels along their largest extent.
fn voxels(shape: &Shape, field: &Field) -> Result<VoxelModel> {
    let limit = VoxelOptions::new(1.0).memory_limit;
    let grid = if let Field::Dense(dense) = field {
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
    match (&shape.mesh, field) {
        (Some(mesh), Field::Dense(_)) => VoxelModel::on_grid(mesh, grid, limit, &Progress::none()),
        _ => VoxelModel::from_field(field, grid, limit, &Progress::none()),
    }
}

/// Layers on the plane z = middle, every other one a little darker; lines between voxels where they are large enough.
fn layers(map: &LayerMap, n: usize) -> Image {
    let grid = map.grid();
    let s = f64::from(grid.voxel_size());
    let widest = f64::from(grid.dims()[0].max(grid.dims()[1]));
    // Pixels for each voxel.
    let scale = n as f64 / widest;
    let mut rgba = Vec::with_capacity(n * n * 4);
    for row in 0..n {
        for column in 0..n {
            let off = [column as f64 + 0.5 - n as f64 * 0.5, n as f64 * 0.5 - row as f64 - 0.5].map(|x| x / scale);
            let p = [(off[0] * s) as f32, (off[1] * s) as f32, 0.0];
            let layer = map.layer_at(p);
            let fade = 1.0 / (1.0 + f64::from(layer.abs() - 1) * 0.12);
            let (base, to) = match layer {
                0 => ([214.0, 57.0, 48.0], [214.0, 57.0, 48.0]),
                1.. => ([120.0, 200.0, 90.0], [20.0, 60.0, 40.0]),
                _ => ([110.0, 160.0, 225.0], [245.0, 247.0, 250.0]),
            };
            let band = if layer % 2 == 0 && layer != 0 { 0.92 } else { 1.0 };
            // Distance to the nearest wall between voxels, in pixels.
            let wall = [0, 1].map(|k| {
                let t = off[k] + 0.5 * f64::from(grid.dims()[k]);
                (t - t.round()).abs() * scale
            });
            let line = if scale >= 4.0 && wall[0].min(wall[1]) < 0.5 { 0.85 } else { 1.0 };
            for k in 0..3 {
                rgba.push(((base[k] * fade + to[k] * (1.0 - fade)) * band * line) as u8);
            }
            rgba.push(255);
        }
    }
    Image { width: n, height: n, rgba }
}
