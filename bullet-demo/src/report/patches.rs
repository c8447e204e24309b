//! Contact patches of a few pairs: the region of contact, its pressure and its wrench.

use std::fmt::Write;
use std::sync::Arc;

use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::response::{patches, Patch, PatchSettings, PatchWorkspace};
use voxshell_cli::render::{render, Ball, Camera, Image, Object, Scene};
use voxshell_report::report::page::{figure, table, Line};

/// Stiffness of each body, Pa/m: rubber of a few centimetres.
const STIFFNESS: f64 = 1e8;
/// Largest overlap, as a fraction of the extent of the lower body.
const OVERLAP: f64 = 0.01;
/// Step by which the upper body is lowered until it overlaps by this much, as a fraction of the same.
const STEP: f64 = 0.001;
/// Cells along the largest extent of a body.
const CELLS: u32 = 96;
const SIZE: usize = 300;

const UPPER: [f32; 3] = [0.93, 0.56, 0.16];
const LOWER: [f32; 3] = [0.66, 0.69, 0.73];
const OUTLINE: [f32; 3] = [0.1, 0.1, 0.12];

struct Pair {
    title: &'static str,
    upper: TriMesh,
    lower: TriMesh,
    /// Sideways offset of the upper body, metres.
    aside: [f64; 2],
}

fn pairs() -> voxshell::Result<Vec<Pair>> {
    let table = || primitives::cuboid([0.5, 0.1, 0.5]);
    Ok(vec![
        Pair {
            title: "gear over the edge of a table",
            upper: primitives::gear(12, 0.3, 0.24, 0.1, 0.1)?,
            lower: table()?,
            aside: [0.4, 0.1],
        },
        Pair { title: "bunny-like body on a table", upper: primitives::blob(0)?, lower: table()?, aside: [0.0; 2] },
        Pair {
            title: "ring in a bowl",
            upper: primitives::torus(0.35, 0.1, 48, 24)?,
            lower: primitives::bowl(0.5, 0.06, 48)?,
            aside: [0.0; 2],
        },
    ])
}

/// Returns the section of the report.
pub fn section() -> voxshell::Result<String> {
    let mut html = String::from(
        "<section id=\"patches\">\n<h2>Patches of contact</h2>\n<p>A body with a stiffness (<code>setStiffness</code>) gets \
         patches instead of points: regions with an area, a pressure and a wrench. Beside each pair is the lower body with the \
         pressure of the patches, blue to red, and their outlines. The bodies overlap by 1% of the size of the lower one.</p>\n",
    );
    let mut lines = Vec::new();
    for pair in pairs()? {
        let (image, found) = draw(&pair)?;
        let _ = write!(html, "{}", figure(&image.png_bytes(), pair.title, pair.title));
        for (i, patch) in found.iter().enumerate() {
            let cells = [
                format!("{}, patch {}", pair.title, i + 1),
                format!("{:.1}", patch.area * 1e4),
                format!("{:.0}", patch.force.norm()),
                format!("{:.1}", patch.mean_pressure * 1e-3),
                format!("{:.1}", patch.max_pressure * 1e-3),
                format!("{:.1}", patch.friction_arm * 1e3),
            ];
            lines.push(Line { cells: cells.into(), ..Line::default() });
        }
    }
    html += &table(
        &["", "area, cm²", "force, N", "mean pressure, kPa", "largest pressure, kPa", "friction arm, mm"],
        &lines,
    );
    Ok(html + "</section>\n")
}

fn cook(mesh: &TriMesh) -> voxshell::Result<Shape> {
    let options = CookOptions { resolution: Resolution::Cells(CELLS), ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none())
}

/// Lowers the upper body until the overlap is reached, and draws both bodies, then the lower one with the patches.
fn draw(pair: &Pair) -> voxshell::Result<(Image, Vec<Patch>)> {
    let (upper, lower) = (cook(&pair.upper)?, cook(&pair.lower)?);
    let (above, below) = (pair.upper.bounds(), pair.lower.bounds());
    let extent = below.extents().max();
    let settings = PatchSettings::new([STIFFNESS; 2]);
    let mut workspace = PatchWorkspace::new();
    let still = Pose::identity();
    let mut pose = Pose::translation(pair.aside[0], below.max.y - above.min.y, pair.aside[1]);
    // Equal laws in series: the pressure is half the stiffness times the overlap.
    let wanted = 0.5 * STIFFNESS * OVERLAP * extent;
    while pose.translation.y > below.min.y - above.max.y {
        let found = patches(lower.geometry(), &still, upper.geometry(), &pose, &settings, &mut workspace)?;
        if found.iter().any(|patch| patch.max_pressure >= wanted) {
            break;
        }
        pose.translation.y -= STEP * extent;
    }
    let found = workspace.patches().to_vec();
    let most = found.iter().map(|patch| patch.max_pressure).fold(0.0, f64::max);
    let mut balls = Vec::new();
    let field = lower.field.as_deref();
    for patch in 0..found.len() {
        balls.extend(workspace.cells(patch).map(|cell| {
            let colour = heat((cell.pressure / most) as f32);
            Ball { center: lifted(field, cell.center), radius: 0.6 * cell.area.sqrt(), colour }
        }));
        let radius = 0.003 * extent;
        let outline = workspace.outline(patch).iter();
        balls.extend(outline.map(|p| Ball { center: lifted(field, *p), radius, colour: OUTLINE }));
    }
    let object = |shape: &Shape, pose: Pose, colour| -> Option<Object> {
        let field: Arc<dyn SignedDistance> = Arc::clone(shape.field.as_ref()?) as _;
        Some(Object { field, pose, colour })
    };
    let under = object(&lower, still, LOWER);
    let both: Vec<Object> = under.clone().into_iter().chain(object(&upper, pose, UPPER)).collect();
    let camera = Camera::framing(&below, Vec3::new(0.5, 0.9, 0.8), Vec3::y(), 0.7, 1.0);
    let picture = |objects, balls| render(&Scene { objects, balls, ..Scene::default() }, &camera, SIZE, SIZE);
    let images = [picture(both, Vec::new()), picture(under.into_iter().collect(), balls)];
    Ok((Image::side_by_side(&images), found))
}

/// Moves a point to the surface of the field: a patch lies between both surfaces, so the lower body would hide it.
fn lifted(field: Option<&impl SignedDistance>, p: Vec3) -> Vec3 {
    let Some(field) = field else { return p };
    let origin = field.local_origin(&p);
    let (distance, gradient) = field.distance_gradient((p - origin).map(|x| x as f32).into());
    p - Vec3::from(gradient.map(f64::from)) * f64::from(distance)
}

/// Returns the colour of a share of the largest pressure: blue, green, yellow, red.
fn heat(share: f32) -> [f32; 3] {
    let stops = [[0.15, 0.3, 0.8], [0.15, 0.7, 0.5], [0.95, 0.85, 0.2], [0.85, 0.15, 0.1]];
    let at = share.clamp(0.0, 1.0) * 3.0;
    let i = (at as usize).min(2);
    let t = at - i as f32;
    [0, 1, 2].map(|k| stops[i][k] * (1.0 - t) + stops[i + 1][k] * t)
}
