//! `voxshell-lab haptics-demo`: plays the papers' scenes with a scripted hand and each renderer. Writes a table, plots,
//! pictures and a report.

pub mod asset_cache;
pub mod film;
mod hand;
mod landing_gear;
mod motion;
mod page;
pub mod plot;
pub mod scenes;
pub mod session;
pub mod stability;

use std::path::PathBuf;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use voxshell::{Error, Result};
use voxshell_cli::file::write;
use voxshell_cli::render::Image;

use asset_cache::{create, AssetCache};
use page::Section;
use scenes::{SceneName, Stage};
use session::{play, Recording, RendererName};
use voxshell_lab::table::{Align, Table};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  voxshell-lab haptics-demo --out report                               all scenes with all renderers
  voxshell-lab haptics-demo --scene wires --renderer god-object        one of them
  voxshell-lab haptics-demo --stability                                how long steps and how hard contacts may be
  voxshell-lab haptics-demo --meshes DIR --cache DIR --out report      with the papers' meshes, cooked once")]
pub struct Arguments {
    /// Scenes to play; default: all.
    #[arg(long, value_enum, value_delimiter = ',')]
    scene: Vec<SceneName>,
    /// Find the largest stable steps and stiffnesses with discrete and continuous penalty (Fig 10); also done when no
    /// scene is named.
    #[arg(long)]
    stability: bool,
    /// Renderers to use; default: all.
    #[arg(long, value_enum, value_delimiter = ',')]
    renderer: Vec<RendererName>,
    /// Write report.html, title.png, plots, pictures and figures.jsonl into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of pictures of each film.
    #[arg(long, value_name = "NUMBER", default_value_t = 36, value_parser = clap::value_parser!(u32).range(1..=1000))]
    frames: u32,
    /// Print one JSON object per scene and renderer.
    #[arg(long)]
    json: bool,
    /// Play coarser and ten times as fast, for tests.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    bodies: Bodies,
}

/// Sources of the scenes' bodies.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Bodies")]
pub struct Bodies {
    /// Folder with alpha_puzzle_robot.obj, alpha_puzzle_env15.obj, horse_48k.obj and dragon_10k_open.obj. Without it,
    /// built-in shapes replace them.
    #[arg(long, value_name = "DIR", env = "VOXSHELL_MESHES")]
    meshes: Option<PathBuf>,
    /// Keep cooked shapes in this folder and reuse them in the next run.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl Bodies {
    pub fn assets(&self, quick: bool, voxmaps: bool) -> AssetCache {
        AssetCache { meshes: self.meshes.clone(), cache: self.cache.clone(), quick, voxmaps }
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let scenes = match arguments.scene.is_empty() && arguments.stability {
        true => Vec::new(),
        false => chosen(&arguments.scene, &SceneName::ALL),
    };
    let renderers = chosen(&arguments.renderer, &RendererName::PLAYED);
    let assets = arguments.bodies.assets(arguments.quick, renderers.contains(&RendererName::Vps));
    let mut sections = Vec::new();
    for scene in scenes {
        sections.push(played(scene.build(&assets)?, &renderers, arguments)?);
    }
    let stable = match arguments.stability || arguments.scene.is_empty() {
        true => stability::figure(&assets, arguments.out.as_deref())?.into(),
        false => Vec::new(),
    };
    let played = sections.iter().flat_map(|s| s.recordings.iter().map(|r| format!("{}\n", r.json(&s.stage))));
    let rows: Vec<String> = played.chain(stable.iter().flat_map(stability::Half::rows)).collect();
    if arguments.json {
        rows.iter().for_each(|row| print!("{row}"));
    } else {
        if !sections.is_empty() {
            print(&sections);
        }
        stable.iter().for_each(|half| print!("{}", half.table().text(Align::Left)));
    }
    if let Some(out) = &arguments.out {
        write(&out.join("figures.jsonl"), rows.concat().as_bytes())?;
        let titles: Vec<Image> = sections.iter().filter_map(|s| s.title.clone()).collect();
        if !titles.is_empty() {
            Image::side_by_side(&titles).write_png(&out.join("title.png"))?;
        }
        let report = out.join("report.html");
        write(&report, page::html(&sections, &stable)?.as_bytes())?;
        eprintln!("wrote {}", report.display());
    }
    Ok(())
}

/// Returns the named entries in the order of `all`; all of them when none is named.
fn chosen<T: ValueEnum + Copy + PartialEq>(named: &[T], all: &[T]) -> Vec<T> {
    all.iter().copied().filter(|one| named.is_empty() || named.contains(one)).collect()
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg:<36} {bar:30} {percent:>3}% {eta} left").expect("a valid template")
}

/// Plays a scene: runs, plots and pictures.
fn played(stage: Stage, renderers: &[RendererName], arguments: &Arguments) -> Result<Section> {
    let steps = (stage.motion.duration() / session::STEP).ceil() as u64;
    let bar = ProgressBar::new(steps * renderers.len() as u64);
    bar.set_style(bar_style());
    let mut recordings = Vec::new();
    for renderer in renderers {
        bar.set_message(format!("{}, {}", stage.scene.name(), renderer.title()));
        let mut done = 0;
        // Rare enough not to affect the timings.
        let tick = || {
            done += 1;
            if done % 100 == 0 {
                bar.inc(100);
            }
        };
        match play(&stage, *renderer, tick) {
            Ok(recording) => recordings.push(recording),
            Err(Error::Unsupported(why)) => {
                bar.suspend(|| eprintln!("{} without {}: {why}", stage.scene.name(), renderer.title()));
            }
            Err(error) => return Err(error),
        }
    }
    let mut section = Section { stage, recordings, pictures: Vec::new(), title: None, plots: Vec::new() };
    if let Some(out) = &arguments.out {
        create(out)?;
        let name = section.stage.scene.name();
        bar.set_message(format!("{name}, pictures"));
        bar.set_length(u64::from(arguments.frames) + section.recordings.len() as u64);
        bar.set_position(0);
        for quantity in &plot::QUANTITIES {
            let plot = quantity.plot(&section.recordings);
            write(&out.join(format!("{name}-{}.svg", quantity.name)), plot.standalone_svg()?.as_bytes())?;
            section.plots.push(plot);
        }
        pictures(&mut section, arguments.frames as usize, out, &bar)?;
    }
    bar.finish_and_clear();
    Ok(section)
}

/// Adds a film of the god-object, or else of the last renderer; and of each renderer its most informative moment.
fn pictures(section: &mut Section, frames: usize, out: &std::path::Path, bar: &ProgressBar) -> Result<()> {
    let name = section.stage.scene.name();
    let by_constraints = |r: &&Recording| r.renderer == RendererName::GodObject;
    if let Some(filmed) = section.recordings.iter().find(by_constraints).or(section.recordings.last()) {
        let film = film::film(&section.stage, filmed, frames, || bar.inc(1))?;
        write(&out.join(format!("{name}.png")), &film)?;
        section.pictures.push((film, format!("All of it, {}. Yellow: where the hand is.", filmed.renderer.title())));
    }
    for recording in &section.recordings {
        let moment = &recording.moments[recording.telling()];
        let still = film::still(&section.stage, moment)?;
        let picture = still.png_bytes();
        write(&out.join(format!("{name}-{}.png", recording.renderer.name())), &picture)?;
        let caption = format!(
            "{} at {:.2} s: {:.2} mm deep, {:.1} N",
            recording.renderer.title(),
            moment.time,
            moment.penetration * 1e3,
            moment.wrench.force.norm()
        );
        section.pictures.push((picture, caption));
        if section.title.is_none() || recording.renderer == RendererName::GodObject {
            section.title = Some(still);
        }
        bar.inc(1);
    }
    detections(section, out)
}

/// Adds the god-object with both detections, at the moment where the discrete one is deepest (Fig 11): discrete left,
/// continuous right.
fn detections(section: &mut Section, out: &std::path::Path) -> Result<()> {
    let of = |name| section.recordings.iter().find(|r| r.renderer == name);
    let (Some(discrete), Some(continuous)) = (of(RendererName::GodObjectDiscrete), of(RendererName::GodObject)) else {
        return Ok(());
    };
    let k = discrete.telling();
    let stills = [discrete, continuous].map(|r| film::still(&section.stage, &r.moments[k]));
    let [left, right] = stills;
    let picture = Image::side_by_side(&[left?, right?]).png_bytes();
    write(&out.join(format!("{}-detection.png", section.stage.scene.name())), &picture)?;
    let time = discrete.moments[k].time;
    section.pictures.push((picture, format!("Discrete and continuous detection at {time:.2} s")));
    Ok(())
}

fn print(sections: &[Section]) {
    let mut table = Table::new(["", "renderer"].into_iter().chain(page::HEADS));
    for section in sections {
        for r in &section.recordings {
            let names = [section.stage.scene.name(), r.renderer.title()].map(String::from);
            table.push(names.into_iter().chain(page::cells(&r.figures())));
        }
    }
    print!("{}", table.text(Align::Left));
}
