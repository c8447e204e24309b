//! Largest stable steps and stiffnesses (Xu & Barbič 2016, figure 10): penalty at the ends of steps compared with
//! penalty over the contact intervals. Bodies are simulated directly, without renderers.

use std::path::Path;
use std::sync::Arc;

use indicatif::ProgressBar;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::response::PenaltySettings;
use voxshell::{Error, Result};
use voxshell_cli::file::write;
use voxshell_cli::render::{self, Camera, Ground, Image, Object};
use voxshell_lab::report::page::{escape, legend, plots};
use voxshell_lab::report::palette::{Colour, BLUE, ORANGE, VIOLET};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::scene::{Contacts, Integrator, Scene};
use voxshell_lab::stability::{largest_stable, Part, PegInHole, Pile};
use voxshell_lab::table::Table;

use super::asset_cache::AssetCache;
use super::page::stills;

/// A method of contact detection.
pub struct Method {
    /// Name in rows.
    pub name: &'static str,
    title: &'static str,
    pub contacts: Contacts,
    colour: Colour,
}

/// The methods: at the ends of steps; that of the paper, whose force acts one step later; and the one whose force acts
/// in the same step.
pub const METHODS: [Method; 3] = [
    Method { name: "discrete", title: "discrete", contacts: Contacts::Discrete, colour: ORANGE },
    Method {
        name: "continuous",
        title: "continuous, a step later",
        contacts: Contacts::Continuous { midpoints: 5 },
        colour: VIOLET,
    },
    Method {
        name: "ahead",
        title: "continuous, in the same step",
        contacts: Contacts::Ahead { midpoints: 5 },
        colour: BLUE,
    },
];

pub fn part(mesh: &TriMesh, cells: u32, samples: usize) -> Result<Part> {
    let shell = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(cells), shell, ..CookOptions::default() };
    let Shape { field, shell, mass, .. } = Shape::cook(mesh, &options, &Progress::none())?;
    match (field, shell, mass) {
        (Some(field), Some(shell), Some(solid)) => Ok(Part { field, shell, solid }),
        _ => Err(Error::Unsupported("a body with field, pointshell and mass".into())),
    }
}

/// Returns figure 10 (a): 20 bodies of 1 m and 1 kg, 10 kN/m and 10 N·s/m per sample, for two seconds. Uses the papers'
/// bunny if it is present.
pub fn pile(assets: &AssetCache) -> Result<Pile> {
    let mesh = match assets.mesh("bunny_777_decimated.obj")? {
        Some(bunny) => bunny,
        None => primitives::blob(1)?,
    };
    let part = part(&mesh.scaled_to_extent(1.0), if assets.quick { 32 } else { 64 }, 777)?;
    let penalty = PenaltySettings { drag: 10.0, ..PenaltySettings::new(1e4, 0.0) };
    let (count, time) = if assets.quick { (2, 0.3) } else { (20, 2.0) };
    Ok(Pile { part, count, mass: 1.0, penalty, integrator: Integrator::Symplectic, time })
}

/// Returns figure 10 (b): a hand puts a peg into a hole and presses it aside, in steps of a millisecond.
pub fn peg(assets: &AssetCache) -> Result<PegInHole> {
    Ok(PegInHole {
        hole: part(&primitives::hole([0.1, 0.1, 0.1], 0.05, 48)?, 64, if assets.quick { 1000 } else { 6691 })?,
        peg: part(&primitives::peg(0.049, 0.25, 0.01, 48)?, 64, 1000)?,
        mass: 0.3,
        start: 0.3,
        depth: 0.25,
        aside: 0.005,
        coupling: 2000.0,
        dt: 1e-3,
        time: 1.0,
    })
}

/// Returns the largest stable step of each method, seconds.
pub fn largest_steps(pile: &Pile, quick: bool, mut tick: impl FnMut()) -> Result<[f64; 3]> {
    each(|contacts| {
        tick();
        largest_stable(5e-4, 0.1, if quick { 3.0 } else { 0.1 }, |dt| pile.is_stable(contacts, dt))
    })
}

/// Returns the largest stable stiffness of each method, N/m; implicit integration, contacts without damping.
pub fn largest_stiffnesses(peg: &PegInHole, quick: bool, mut tick: impl FnMut()) -> Result<[f64; 3]> {
    each(|contacts| {
        tick();
        let stable = |k| peg.is_stable(contacts, Integrator::Implicit, PenaltySettings::new(k, 0.0));
        largest_stable(1e3, 1e10, if quick { 20.0 } else { 0.05 }, stable)
    })
}

fn each(mut largest: impl FnMut(Contacts) -> Result<f64>) -> Result<[f64; 3]> {
    let [discrete, continuous, ahead] = &METHODS;
    Ok([largest(discrete.contacts)?, largest(continuous.contacts)?, largest(ahead.contacts)?])
}

/// One half of the figure.
pub struct Half {
    name: &'static str,
    title: &'static str,
    text: String,
    /// The quantity that is maximised, with its unit.
    what: &'static str,
    key: &'static str,
    largest: [f64; 3],
    /// Improvement by continuous contacts in the paper.
    paper: f64,
    plot: Plot,
    picture: Option<Image>,
}

/// Computes both halves and writes their plots and pictures to `out`.
pub fn figure(assets: &AssetCache, out: Option<&Path>) -> Result<[Half; 2]> {
    let bar = ProgressBar::new(8).with_style(super::bar_style());
    let tick = |what: &'static str| {
        bar.set_message(what);
        bar.inc(1);
    };
    let halves = [falling(assets, &tick)?, pressing(assets, &tick)?];
    bar.finish_and_clear();
    if let Some(out) = out {
        super::asset_cache::create(out)?;
        for half in &halves {
            write(&out.join(format!("stable-{}.svg", half.name)), half.plot.standalone_svg()?.as_bytes())?;
            if let Some(picture) = &half.picture {
                picture.write_png(&out.join(format!("stable-{}.png", half.name)))?;
            }
        }
    }
    Ok(halves)
}

/// Returns a value beyond the limit of the first method and within that of another, if there is one.
fn between([discrete, continuous, ahead]: [f64; 3]) -> f64 {
    discrete * (continuous.max(ahead) / discrete).sqrt().max(1.1)
}

fn falling(assets: &AssetCache, tick: &dyn Fn(&'static str)) -> Result<Half> {
    let pile = pile(assets)?;
    let largest = largest_steps(&pile, assets.quick, || tick("how long steps may be"))?;
    let dt = between(largest);
    let (mut curves, mut last) = (Vec::new(), Vec::new());
    for method in &METHODS {
        let mut points = Vec::new();
        pile.run(method.contacts, dt, |t, _, energy| points.push((t, energy)))?;
        curves.push(method.curve(points));
    }
    tick("pictures");
    let keep = |_, scene: &Scene, _| last = scene.members.iter().map(|m| m.body.pose()).collect();
    pile.run(Contacts::Discrete, largest[0], keep)?;
    let start = curves[0].points.first().map_or(1.0, |p| p.1);
    let title = format!("Energy, J, in steps of {:.2} ms", dt * 1e3);
    Ok(Half {
        name: "step",
        title: "Bodies that fall on each other",
        text: format!(
            "{} bodies of {} samples each, both roles, 10 kN/m, symplectic Euler. Stable: no body gains more energy than it can have by \
             falling. A line that ends before the others ends where it was not.",
            pile.count,
            pile.part.shell.len()
        ),
        what: "longest step, ms",
        key: "stable_step_ms",
        largest: largest.map(|dt| dt * 1e3),
        paper: 3.0,
        plot: Plot { top: Some(1.25 * start), ..Plot::over_seconds(title, curves) },
        picture: Some(picture(&pile, &last)),
    })
}

fn pressing(assets: &AssetCache, tick: &dyn Fn(&'static str)) -> Result<Half> {
    let peg = peg(assets)?;
    let largest = largest_stiffnesses(&peg, assets.quick, || tick("how hard contacts may be"))?;
    let stiffness = between(largest);
    let mut curves = Vec::new();
    for method in &METHODS {
        let mut points = Vec::new();
        let penalty = PenaltySettings::new(stiffness, 0.0);
        peg.run(method.contacts, Integrator::Implicit, penalty, |t, apart| points.push((t, apart * 1e3)))?;
        curves.push(method.curve(points));
    }
    let title = format!("From hand to peg, mm, at {:.0} kN/m", stiffness * 1e-3);
    Ok(Half {
        name: "stiffness",
        title: "A peg that is pressed aside in its hole",
        text: format!(
            "{} samples, steps of 1 ms, implicit, contacts without damping. Stable: the peg comes to rest while the hand does.",
            peg.hole.shell.len()
        ),
        what: "hardest contact, kN/m",
        key: "stable_stiffness_knpm",
        largest: largest.map(|k| k * 1e-3),
        paper: 2.5,
        plot: Plot::over_seconds(title, curves),
        picture: None,
    })
}

impl Method {
    fn curve(&self, points: Vec<(f64, f64)>) -> Curve {
        Curve { name: self.title.into(), colour: self.colour, points }
    }
}

/// Draws all bodies except the ground, which is first.
fn picture(pile: &Pile, poses: &[Pose]) -> Image {
    const COLOURS: [[f32; 3]; 4] = [[0.82, 0.27, 0.22], [0.36, 0.55, 0.83], [0.95, 0.7, 0.2], [0.35, 0.62, 0.4]];
    let mut scene = render::Scene { fade: 40.0, ..render::Scene::default() };
    for (i, pose) in poses.iter().enumerate().skip(1) {
        scene.objects.push(Object::new(Arc::clone(&pile.part.field), *pose, COLOURS[i % 4]));
    }
    scene.ground = Some(Ground::floor(0.0, 0.5));
    let middle = Vec3::new(0.0, 0.7, 0.0);
    let camera = Camera::looking_at(middle + Vec3::new(3.0, 2.6, 6.5), middle, Vec3::y(), 0.6);
    render::render(&scene, &camera, 560, 400)
}

impl Half {
    /// Returns one JSON object per method.
    pub fn rows(&self) -> Vec<String> {
        let row = |(method, largest): (&Method, f64)| {
            let more = largest / self.largest[0];
            serde_json::json!({ "scene": format!("stable-{}", self.name), "method": method.name, self.key: largest, "over_discrete": more })
        };
        METHODS.iter().zip(self.largest).map(|row_of| format!("{}\n", row(row_of))).collect()
    }

    pub fn table(&self) -> Table {
        self.table_after(Some(self.title))
    }

    /// Returns the table; with a title in its first column for the terminal.
    fn table_after(&self, title: Option<&str>) -> Table {
        let head = title.into_iter().chain(["", self.what, "over discrete"]);
        Table::new(head).with(METHODS.iter().zip(self.largest).map(|(method, largest)| {
            let paper = if method.name == "continuous" { format!(" (paper {})", self.paper) } else { String::new() };
            let more = format!("{:.2}{paper}", largest / self.largest[0]);
            title.map(|_| String::new()).into_iter().chain([method.title.into(), format!("{largest:.3}"), more])
        }))
    }

    pub fn html(&self) -> Result<String> {
        let picture = self.picture.as_ref().map(Image::png_bytes);
        let caption = "At the end, with the longest steps that discrete contacts bear.";
        Ok(format!(
            "<section>\n<h2>{}</h2>\n<p>{}</p>\n{}{}{}{}</section>\n",
            escape(self.title),
            escape(&self.text),
            self.table_after(None).html(),
            stills(picture.iter().map(|png| (png.as_slice(), caption))),
            legend(&self.plot.curves),
            plots([&self.plot])?
        ))
    }
}
