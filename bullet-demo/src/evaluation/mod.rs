//! The evaluation of Sagardia, Stouraitis & Lopes e Silva 2014, section 4: the paper's figures and those of this
//! machine as text tables, JSON rows, and a page with the plots.

mod levels;
mod paper;
mod sections;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use voxshell_cli::file;
use voxshell_report::report::page::document;
use voxshell_report::row::Row;

use crate::arguments::Arguments;
use crate::bridge::{Method, SceneKind};
use crate::cache::HullCache;
use crate::catalogue::{segmentations, Case};
use crate::decompose::Decomposer;
use crate::progress::Progress;
use crate::run::{run_row, Cast, Context, Effort, Outcome};

use sections::Section;

/// Extent of the evaluation.
#[derive(Clone, Copy)]
struct Extent {
    /// Steps of the longest run.
    steps: Option<usize>,
    /// Piles and their numbers of bodies.
    piles: &'static [(SceneKind, u32)],
    ours: &'static [Method],
    /// Time limit of each row, seconds: of stock Bullet, and of a pile with any method.
    patience: [f64; 2],
    rates: &'static [f64],
    /// Numbers of samples of the scaling plot.
    sizes: &'static [usize],
    quick: bool,
}

const FULL: Extent = Extent {
    steps: None,
    piles: &[(SceneKind::Pile500, 500), (SceneKind::Pile2000, 2000)],
    ours: &[Method::VoxshellCoarse, Method::VoxshellFine],
    patience: [5.0, 30.0],
    rates: &[200.0, 100.0, 60.0, 50.0, 40.0, 30.0, 20.0, 15.0, 10.0],
    sizes: &[100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000],
    quick: false,
};
const QUICK: Extent = Extent {
    steps: Some(60),
    piles: &[(SceneKind::Pile500, 6)],
    ours: &[Method::VoxshellCoarse],
    patience: [1.0, 1.0],
    rates: &[200.0, 20.0],
    sizes: &[100, 400],
    quick: true,
};

/// Runs everything and writes evaluation.txt, evaluation.jsonl, evaluation.html and the plots into `out`.
pub fn run(arguments: &Arguments, out: &Path, subject: &str) -> Result<(), String> {
    let extent = if arguments.quick { QUICK } else { FULL };
    let folder = tempfile::Builder::new().prefix("bullet-demo-").tempdir().map_err(|e| e.to_string())?;
    let progress = Progress::new();
    let bench = Bench { extent, progress: &progress, folder: folder.path() };
    fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let start = Instant::now();
    let mut sections = Vec::new();
    let mut written = Ok(());
    // Written after each section, so that the finished sections stay if the user stops the run.
    let keep = |section| {
        sections.push(section);
        if written.is_ok() {
            written = write(out, &sections, subject, start.elapsed());
        }
    };
    bench.all(arguments.mesh.as_deref(), keep).map_err(|e| e.to_string())?;
    progress.finish();
    written?;
    let name = if arguments.json { "evaluation.jsonl" } else { "evaluation.txt" };
    let path = out.join(name);
    print!("{}", fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?);
    eprintln!("{}", out.join("evaluation.html").display());
    Ok(())
}

fn write(out: &Path, sections: &[Section], subject: &str, took: Duration) -> Result<(), String> {
    let title = "The evaluation of Sagardia, Stouraitis and Lopes e Silva 2014, and the same with Voxshell";
    let about = format!(
        "Body: {subject}. Friction 0.5, gravity 10 m/s², true steps of 1/200 s unless said otherwise, no sleeping, one \
         thread. Figures are means over steps 200 to 600 unless said otherwise; depths are between the true meshes. Took {:.0} s.",
        took.as_secs_f64()
    );
    let put = |name: &str, content: &str| file::write(&out.join(name), content.as_bytes()).map_err(|e| e.to_string());
    let text: String = sections.iter().map(Section::text).collect();
    put("evaluation.txt", &format!("# {title}\n\n{about}\n\n{text}"))?;
    let rows: String = sections.iter().flat_map(|s| s.rows()).map(|row| format!("{row}\n")).collect();
    put("evaluation.jsonl", &rows)?;
    let mut body = format!("<header class=\"top\"><h1>{title}</h1><p>{about}</p></header><main>");
    for section in sections {
        for (name, plot) in section.plots() {
            put(&format!("{name}.svg"), &plot.standalone_svg().map_err(|e| e.to_string())?)?;
        }
        body += &section.html().map_err(|e| e.to_string())?;
    }
    put("evaluation.html", &document(title, &(body + "</main>\n")))
}

struct Bench<'a> {
    extent: Extent,
    progress: &'a Progress,
    folder: &'a Path,
}

impl Bench<'_> {
    fn all(&self, mesh: Option<&Path>, mut keep: impl FnMut(Section)) -> voxshell::Result<()> {
        let stock = [Method::Hull, Method::HullFull, Method::Vhacd32, Method::Hacd, Method::Gimpact];
        let stock: &[Method] = if self.extent.quick { &[Method::Hull] } else { &stock };
        let with_ours = |stock: &[Method]| [stock, self.extent.ours].concat();

        let ball = self.cast(SceneKind::Ball, None)?;
        keep(sections::ball(self.rows(&ball, &with_ours(&[Method::Sphere]))));

        // One body, cooked and decomposed once, for the drops and the scenes of touching bodies.
        let mut subject = self.cast_of(SceneKind::DropPlane, mesh)?;
        let drops = self.rows(&subject, &with_ours(stock));
        let mut rates = Vec::new();
        let some = &stock[..stock.len().min(3)];
        for &method in with_ours(some).iter().filter(|m| **m != Method::HullFull) {
            for &rate in self.extent.rates {
                let case = Case { rate: Some(rate), ..Case::default() };
                rates.push(self.row(&subject, method, case));
            }
        }
        keep(sections::rates(rates, self.extent.rates));
        let mut touching = Vec::new();
        for scene in [SceneKind::DropBox, SceneKind::Pair] {
            subject.scene = scene;
            touching.extend(self.rows(&subject, &with_ours(stock)));
        }
        drop(subject);
        let rolling = self.cast_of(SceneKind::Rolling, mesh)?;
        let moving = self.rows(&rolling, self.extent.ours);
        drop(rolling);
        keep(sections::touching(&drops, touching, moving));
        keep(sections::drop(drops));
        let mut turned = self.cast_of(SceneKind::Levels, mesh)?;
        keep(levels::levels(self.rows(&turned, self.extent.ours)));
        // The drop scene with the same tree.
        turned.scene = SceneKind::DropPlane;
        let mut rates = Vec::new();
        for &method in self.extent.ours {
            for case in segmentations() {
                for &rate in self.extent.rates {
                    rates.push(self.row(&turned, method, Case { rate: Some(rate), ..case }));
                }
            }
        }
        drop(turned);
        keep(levels::rates(rates, self.extent.rates));
        let mut rows = Vec::new();
        let finest = self.extent.ours[self.extent.ours.len() - 1];
        for &samples in self.extent.sizes {
            self.progress.start(&format!("scaling, {samples} samples: preparing"), 0);
            rows.push(self.row(&Cast::of_samples(mesh, samples)?, finest, Case::default()));
        }
        keep(levels::scaling(rows));

        let balls = Cast { scene: SceneKind::StackSpheres, count: SceneKind::StackSpheres.count(), ..ball };
        let mut rows = self.rows(&balls, &with_ours(&[Method::Sphere, Method::Hull]));
        drop(balls);
        let towers = self.cast(SceneKind::Stack, None)?;
        let decomposed: &[Method] = if self.extent.quick { &[] } else { &[Method::Vhacd32] };
        rows.extend(self.rows(&towers, &with_ours(decomposed)));
        drop(towers);
        keep(sections::stacking(rows));

        let mut rows = Vec::new();
        for &(scene, count) in self.extent.piles {
            let cast = self.cast(scene, Some(count))?;
            rows.extend(self.rows(&cast, &with_ours(&[Method::Hull])));
        }
        keep(sections::piles(rows));
        Ok(())
    }

    fn cast(&self, scene: SceneKind, count: Option<u32>) -> voxshell::Result<Cast> {
        self.progress.start(&format!("{}: preparing", scene.entry().name), 0);
        Cast::new(scene, None, count)
    }

    fn cast_of(&self, scene: SceneKind, mesh: Option<&Path>) -> voxshell::Result<Cast> {
        self.progress.start(&format!("{}: preparing", scene.entry().name), 0);
        Cast::new(scene, mesh, None)
    }

    fn rows(&self, cast: &Cast, methods: &[Method]) -> Vec<Outcome> {
        let applicable = methods.iter().filter(|m| m.applies_to(cast.scene));
        applicable
            .flat_map(|&m| cast.scene.cases(m).into_iter().map(move |c| (m, c)))
            .map(|(m, c)| self.row(cast, m, c))
            .collect()
    }

    fn row(&self, cast: &Cast, method: Method, case: Case) -> Outcome {
        let [stock, pile] = self.extent.patience;
        let seconds = if cast.scene.is_pile() { pile } else { stock };
        let context = Context {
            decomposer: Decomposer {
                cache: HullCache::of_user(),
                folder: self.folder,
                limit: None,
                progress: self.progress,
            },
            steps: self.extent.steps,
            threads: None,
            edges: false,
            patience: Some(Duration::from_secs_f64(seconds)),
            all_patience: cast.scene.is_pile(),
            json: false,
            effort: Effort { frames: 0, film: (0, 0), measure_every: 1 },
            progress: self.progress,
        };
        run_row(cast, method, case, &context)
    }
}

/// Returns the row as the scenes print it, with the section of the evaluation.
fn tagged(section: &str, outcome: &Outcome) -> Row {
    outcome.row.json().with("experiment", section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn every_table_and_plot_is_written() {
        let out = tempfile::tempdir().unwrap();
        let arguments = Arguments::parse_from(["bullet-demo", "--evaluation", "--quick"]);
        run(&arguments, out.path(), "a test").unwrap();
        let read = |name: &str| fs::read_to_string(out.path().join(name)).unwrap();
        let text = read("evaluation.txt");
        for part in
            ["Table 1", "Stacking", "Figs 8 and 10", "Resting on", "Low-frequency", "Table 2", "Scaling", "Piles"]
        {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        // The paper's figures stand beside ours.
        for figure in ["42.5", "6.8", "25,880", "100 |", "102.2"] {
            assert!(text.contains(figure), "{figure} is missing in\n{text}");
        }
        let rows: Vec<serde_json::Value> =
            read("evaluation.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let has = |row: &serde_json::Value, key: &str| row.get(key).is_some_and(|v| v.is_number());
        for row in rows.iter().filter(|row| row.get("scene").is_some()) {
            for key in ["np_mean_us", "np_p99_us", "max_penetration_mm", "kinetic_energy_j", "pairs_mean"] {
                assert!(row.get("skipped").is_some() || has(row, key), "{key} is missing in {row}");
            }
        }
        for experiment in ["ball", "stacking", "drop", "touching", "rates", "level-rates", "levels", "scaling", "piles"]
        {
            assert!(rows.iter().any(|r| r["experiment"] == experiment), "no rows of {experiment}");
        }
        let page = read("evaluation.html");
        let elsewhere = ["src=\"http", "href=\"http"].iter().any(|link| page.contains(link));
        assert!(page.contains("<svg") && !elsewhere, "self-contained");
        let line =
            format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"{}\"", Method::VoxshellCoarse.entry().colour.hex());
        for name in ["fig6-e0.9.svg", "fig8-time.svg", "fig8-velocity.svg", "fig10-energy.svg", "rates.svg"] {
            assert_eq!(read(name).matches(&line).count(), 2, "{name} has the curve and its key");
        }
    }
}
