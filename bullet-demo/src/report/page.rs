//! The page around films, plots and tables.

use std::fmt::Write;

use serde_json::Value;
use voxshell_cli::render::Image;
use voxshell_report::report::page::{self, data_url, document, escape, figure, key, table, Line};
use voxshell_report::report::{Curve, Plot};

use super::film::Shooting;
use super::patches;
use crate::bridge::{Method, SceneKind};
use crate::catalogue::{METHODS, RESTITUTIONS};
use crate::fast_bodies::{is_fast, HERTZ};
use crate::figures::{window, SceneRow};
use crate::run::{Cast, Context, Outcome};
use crate::table::values;

type Done = (Cast, Vec<Outcome>);

/// Returns report.html and its title picture. `subject` is the name of the mesh.
pub fn page(done: &[Done], subject: &str, context: &Context) -> voxshell::Result<(String, Option<Image>)> {
    let mut films = Vec::new();
    let mut sections = String::new();
    let mut hero = None;
    for (cast, outcomes) in done {
        sections += &section(cast, outcomes, context, &mut films, &mut hero)?;
    }
    let mut body = top(done, subject, hero.as_ref());
    let _ =
        write!(body, "<main>\n{}{sections}{}{}</main>\n", navigation(done), patches::section()?, how_measured(done));
    let _ = writeln!(
        body,
        "<footer>Voxshell {} with the system's Bullet Physics. Pictures are sphere-traced from the fields that \
                          collide, without a graphics card.</footer>",
        env!("CARGO_PKG_VERSION")
    );
    // A closing tag inside the data would end the script: JSON may write the slash as an escape.
    let data = Value::Array(films).to_string().replace("</", "<\\/");
    let _ = writeln!(body, "<script type=\"application/json\" id=\"films\">{data}</script>");
    let _ = write!(body, "<script>\n{}</script>\n", include_str!("page.js"));
    Ok((document("Voxshell in Bullet: the same scenes, side by side", &body), hero))
}

fn top(done: &[Done], subject: &str, hero: Option<&Image>) -> String {
    let mut html =
        String::from("<header class=\"top\">\n<h1>The same scenes, in stock Bullet and with Voxshell</h1>\n");
    let _ = writeln!(
        html,
        "<p class=\"lead\">Voxshell collides a body's surface samples with the other body's signed distance field. Bullet, \
         unpatched, hands it the narrowphase. Here is what that changes, for {}.</p>",
        escape(subject)
    );
    if let Some(picture) = hero {
        let _ = writeln!(
            html,
            "<img class=\"hero\" width=\"{}\" height=\"{}\" alt=\"The last moment of a scene, drawn from the fields that \
             collide\" src=\"{}\">",
            picture.width,
            picture.height,
            data_url(&picture.png_bytes())
        );
    }
    html += "<div class=\"cards\">\n";
    for (cast, outcomes) in done {
        html += &card(cast, outcomes);
    }
    html + "</div>\n</header>\n"
}

/// Summarises a scene in one sentence.
fn card(cast: &Cast, outcomes: &[Outcome]) -> String {
    let scene = cast.scene;
    let figures = |m: Method| {
        let with = |o: &&Outcome| o.row.method == m && o.row.outcome.is_ok();
        outcomes.iter().rev().find(with).and_then(|o| o.row.outcome.as_ref().ok())
    };
    let Some(ours) = figures(Method::VoxshellFine).or_else(|| figures(Method::VoxshellCoarse)) else {
        return String::new();
    };
    let title = scene.entry().title;
    let (big, small) = match scene {
        SceneKind::Ball => {
            let errors = outcomes.iter().filter(|o| o.row.method == Method::VoxshellFine);
            let errors = errors.filter_map(|o| o.row.outcome.as_ref().ok()?.rebound);
            let worst = errors.map(|r| r.error.abs()).fold(0.0, f64::max);
            (format!("{worst:.1} %"), "off the ideal first rebound at worst, for three restitutions".to_string())
        }
        scene if scene.is_pile() => {
            let lost = ours.pile.map_or(0, |p| p.lost);
            (
                format!("{lost} lost"),
                format!("of {} non-convex bodies; {:.1} ms of narrowphase per step", cast.count, ours.np_mean * 1e-3),
            )
        }
        scene if scene.is_stack() => {
            let (standing, of) = ours.towers.map_or((0, 0), |t| (t.standing, t.bodies));
            (format!("{standing} of {of}"), "bodies still at their place in the tower at the end".to_string())
        }
        SceneKind::Rolling => (
            format!("{:.1} ×", ours.np_mean / ours.np_at_rest.unwrap_or(ours.np_mean)),
            format!("the cost at rest while everything moves; {:.1} µs per step for four pairs", ours.np_mean),
        ),
        scene if scene.has_threads() => {
            let threads = ours.threads.map_or(100.0, |t| t.travel_error.abs());
            (
                format!("{threads:.2} %"),
                format!("off the pitch per turn; {:.0} µs of narrowphase per step", ours.np_mean),
            )
        }
        SceneKind::Degenerate => {
            let rows = outcomes.iter().filter(|o| o.row.method == Method::VoxshellFine);
            let conducts: Vec<_> = rows.filter_map(|o| o.row.outcome.as_ref().ok()?.conduct).collect();
            let kept = conducts.iter().filter(|c| c.as_expected() == Some(true)).count();
            (format!("{kept} of {}", conducts.len()), "bodies end as they should".to_string())
        }
        SceneKind::Flush => {
            let rows = outcomes.iter().filter(|o| o.row.method == Method::VoxshellFine);
            let slowest = rows.filter_map(|o| Some((o.row.outcome.as_ref().ok()?.np_mean, o.row.case.label())));
            let (time, case) = slowest.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
            (format!("{time:.1} µs"), format!("per step in the slowest case,{case}"))
        }
        scene if is_fast(scene) => {
            let worst = |m: Method| {
                let rows = outcomes.iter().filter(|o| o.row.method == m).filter_map(|o| o.row.outcome.as_ref().ok());
                let through = rows.clone().filter_map(|f| f.passage).map(|p| p.through).sum::<usize>();
                (through, rows.map(|f| f.max_penetration_run).fold(0.0, f64::max))
            };
            let (through, depth) = worst(Method::VoxshellFine);
            let mut small = format!("got through, {depth:.1} mm deep at most");
            if figures(Method::Vhacd32).is_some() {
                let (through, depth) = worst(Method::Vhacd32);
                let _ = write!(small, "; V-HACD {through} and {depth:.0} mm");
            }
            (through.to_string(), small)
        }
        _ => {
            let mut small = format!("per step, {:.2} mm deep at most", ours.max_penetration);
            if let Some(theirs) = figures(Method::Vhacd32) {
                let _ = write!(small, "; V-HACD {:.1} µs and {:.2} mm", theirs.np_mean, theirs.max_penetration);
            }
            (format!("{:.1} µs", ours.np_mean), small)
        }
    };
    format!("<div class=\"card\"><span>{title}</span><b>{big}</b><span>{small}</span></div>\n")
}

fn navigation(done: &[Done]) -> String {
    let links = done.iter().map(|(cast, _)| cast.scene.entry());
    let links: String = links.map(|e| format!("<a href=\"#{}\">{}</a>", e.name, e.title)).collect();
    format!(
        "<nav>{links}<a href=\"#patches\">Patches of contact</a><a href=\"#measured\">How it was measured</a></nav>\n"
    )
}

fn section(
    cast: &Cast,
    outcomes: &[Outcome],
    context: &Context,
    films: &mut Vec<Value>,
    hero: &mut Option<Image>,
) -> voxshell::Result<String> {
    let entry = cast.scene.entry();
    let mut html =
        format!("<section id=\"{}\" data-films>\n<h2>{}</h2>\n<p>{}</p>\n", entry.name, entry.title, entry.text);

    let mut panes = String::new();
    for method in super::filmed(outcomes) {
        let shooting = Shooting::new(cast, method, runs_of(outcomes, method), context)?;
        context.progress.start(&format!("{} / {}: drawing", entry.name, method.entry().name), shooting.frame_count());
        let (film, data) = shooting.film(|| context.progress.tick())?;
        let _ = writeln!(
            panes,
            "<figure><img data-film=\"{}\" alt=\"Film of the scene, {}\" src=\"{}\"><figcaption>{}</figcaption></figure>",
            films.len(),
            method.entry().title,
            data_url(&film),
            named(method)
        );
        films.push(data);
    }
    if !panes.is_empty() {
        // The script shows the controls if the browser can decode single frames; elsewhere the films just play.
        let _ = write!(
            html,
            "<div class=\"films\">\n{panes}</div>\n<div class=\"controls\" hidden><button type=\"button\">Play</button>\
             <input type=\"range\" min=\"0\" max=\"1000\" step=\"any\" value=\"0\" aria-label=\"Time\"><output>0.00 s</output>\
             <label><input type=\"checkbox\"> points of the true surface</label></div>\n"
        );
    }

    html += "<h3>Figures</h3>\n";
    html += &figures_table(outcomes);
    if cast.scene == SceneKind::Flush {
        return Ok(html + "</section>\n");
    }
    html += "<h3>Where each method ends</h3>\n";
    html += &stills(cast, outcomes, context, hero)?;
    if cast.scene.has_trials() {
        return Ok(html + "</section>\n");
    }
    html += "<h3>Step by step</h3>\n<div>";
    html += &plots(cast.scene, outcomes)?;
    Ok(html + "</div>\n</section>\n")
}

fn runs_of(outcomes: &[Outcome], method: Method) -> Vec<&crate::run::Run> {
    // Pictures of the runs stand side by side. Runs with a swept sphere are left out, because they look the same.
    let drawn = outcomes.iter().filter(|o| o.row.method == method && !o.row.case.swept_spheres);
    drawn.filter_map(|o| o.run.as_ref()).collect()
}

fn methods_of(outcomes: &[Outcome]) -> Vec<Method> {
    METHODS.iter().map(|e| e.method).filter(|&m| !runs_of(outcomes, m).is_empty()).collect()
}

/// Returns the title of the method after its colour.
fn named(method: Method) -> String {
    key(method.entry().colour) + method.entry().title
}

fn figures_table(outcomes: &[Outcome]) -> String {
    let rows: Vec<&SceneRow> = outcomes.iter().map(|o| &o.row).collect();
    let any = |f: &dyn Fn(&crate::figures::Figures) -> bool| rows.iter().any(|r| r.outcome.as_ref().is_ok_and(f));
    let (gap, rebound, pile, fast) = (
        any(&|f| f.resting_gap.is_some()),
        any(&|f| f.rebound.is_some()),
        any(&|f| f.pile.is_some()),
        any(&|f| f.passage.is_some()),
    );
    let threads = any(&|f| f.threads.is_some());
    let heads = [
        ("mean µs", true),
        ("median µs", true),
        ("p99 µs", true),
        ("max µs", true),
        ("contacts", true),
        ("manifolds", true),
        ("max depth mm", true),
        ("at impact mm", true),
        ("gap at rest mm", gap),
        ("energy at end J", true),
        ("first rebound m", rebound),
        ("bodies lost", pile),
        ("standing", any(&|f| f.towers.is_some())),
        ("at rest µs", any(&|f| f.np_at_rest.is_some())),
        ("travel per turn, off the pitch", threads),
        ("worst jump mm", threads),
        ("stopped at the head", threads),
        ("got through", fast),
        ("of it clamp µs", fast),
        ("speed at end m/s", fast),
        ("energy gained J", any(&|f| f.conduct.is_some_and(|c| c.energy_gained.is_some()))),
        ("ends", any(&|f| f.conduct.is_some_and(|c| c.ending.is_some()))),
        ("drift mm", any(&|f| f.conduct.is_some_and(|c| c.drift.is_some()))),
    ];
    let shown: Vec<usize> = (0..heads.len()).filter(|&c| heads[c].1).collect();
    let head: Vec<&str> = std::iter::once("method").chain(shown.iter().map(|&c| heads[c].0)).collect();
    let line = |row: &&SceneRow| {
        let mut name = named(row.method) + &row.case.label();
        let cells = match &row.outcome {
            Ok(f) => {
                if f.steps < f.steps_wanted {
                    let _ = write!(name, " (stopped at step {})", f.steps);
                }
                let cells = values(f);
                shown.iter().map(|&c| cells[c].clone()).collect()
            }
            Err(reason) => vec![format!("skipped: {}", escape(reason))],
        };
        Line { strong: row.method.is_voxshell(), cells: std::iter::once(name).chain(cells).collect() }
    };
    table(&head, &rows.iter().map(line).collect::<Vec<_>>())
}

fn stills(cast: &Cast, outcomes: &[Outcome], context: &Context, hero: &mut Option<Image>) -> voxshell::Result<String> {
    let mut html = String::from("<div class=\"stills\">\n");
    let methods = methods_of(outcomes);
    context.progress.start(&format!("{}: drawing", cast.scene.entry().name), methods.len());
    for method in methods {
        let shooting = Shooting::new(cast, method, runs_of(outcomes, method), context)?;
        let alt = format!("{} at the end", method.entry().title);
        html += &figure(&shooting.still().png_bytes(), &alt, &named(method));
        // The best method of the last scene makes the title picture.
        if method.is_voxshell() {
            *hero = Some(shooting.hero());
        }
        context.progress.tick();
    }
    Ok(html + "</div>\n")
}

fn plots(scene: SceneKind, outcomes: &[Outcome]) -> voxshell::Result<String> {
    let mut html = String::from("<div class=\"legend\">");
    for method in methods_of(outcomes) {
        let stroke = method.entry().colour.hex();
        let _ = write!(
            html,
            "<button type=\"button\" aria-pressed=\"true\" data-stroke=\"{stroke}\">{}</button>",
            named(method)
        );
    }
    html += "</div>\n";
    // Of the low-frequency drops the one with the longest steps.
    let hertz = (scene == SceneKind::LowFrequency).then(|| HERTZ[HERTZ.len() - 1]);
    let chosen = |o: &&Outcome| !o.row.case.swept_spheres && (hertz.is_none() || o.row.case.rate == hertz);
    let recordings = outcomes.iter().filter(chosen).filter_map(|o| Some(&o.run.as_ref()?.recording));
    let shaded = recordings.max_by_key(|r| r.steps.len()).map(|r| {
        let (from, to) = window(scene, r.steps.len());
        (from as f64 * r.dt, to as f64 * r.dt)
    });
    let plot = |title: &str, log_from: Option<f64>, e: Option<f64>, mark: Option<(f64, String)>, line: &Points| {
        let with = outcomes.iter().filter(chosen).filter(|o| e.is_none() || o.row.case.restitution == e);
        let curves = with.filter_map(|o| {
            let entry = o.row.method.entry();
            Some(Curve { name: entry.title.into(), colour: entry.colour, points: line(o.run.as_ref()?) })
        });
        Plot { log_from, mark, shaded, ..Plot::over_seconds(title, curves.collect()) }
    };
    let steps = |f: fn(&crate::bridge::StepFigures) -> f64| {
        move |run: &crate::run::Run| -> Vec<(f64, f64)> {
            let steps = run.recording.steps.iter().enumerate();
            steps.map(|(i, s)| ((i + 1) as f64 * run.recording.dt, f(s))).collect()
        }
    };
    let gaps = |f: fn(f64) -> f64| {
        move |run: &crate::run::Run| -> Vec<(f64, f64)> {
            run.gaps.iter().filter(|g| g.1.is_finite()).map(|g| (g.0 as f64 * run.recording.dt, f(g.1))).collect()
        }
    };
    let restitution = (scene == SceneKind::Ball).then_some(0.9);
    let at = restitution.map_or(String::new(), |e| format!(", e = {e}"));
    let at = at + &hertz.map_or(String::new(), |h| format!(", {h} Hz"));
    let time = steps(|s| s.narrowphase_ns * 1e-3);
    let energy = steps(|s| s.kinetic_energy);
    let floor = if scene.is_pile() { 1e-4 } else { 1e-10 };
    let depth = gaps(|g| (-g).max(0.0) * 1e3);
    let mut all = vec![
        plot(&format!("Narrowphase, µs per step{at}"), Some(0.1), restitution, None, &time),
        plot(&format!("Kinetic energy, J{at}"), Some(floor), restitution, None, &energy),
        plot(&format!("Depth between the true meshes, mm{at}"), None, restitution, None, &depth),
    ];
    match scene {
        SceneKind::Ball => all.extend(RESTITUTIONS.map(|e| {
            let mark = Some((e * e, format!("ideal first rebound, {:.2} m", e * e)));
            plot(&format!("Gap below the ball, m, e = {e}"), None, Some(e), mark, &gaps(|g| g.max(0.0)))
        })),
        scene if scene.is_pile() => {
            all.push(plot("Contact points", None, None, None, &steps(|s| f64::from(s.contacts))))
        }
        scene if is_fast(scene) => {}
        _ => all.push(plot("Distance between the true meshes, m", Some(1e-4), None, None, &gaps(|g| g))),
    }
    Ok(html + &page::plots(&all)?)
}

type Points<'a> = dyn Fn(&crate::run::Run) -> Vec<(f64, f64)> + 'a;

fn how_measured(done: &[Done]) -> String {
    let mut html = String::from("<section id=\"measured\">\n<h2>How it was measured</h2>\n");
    html += "<p>Bodies have a largest extent of 1 m and a mass of 1 kg, their centre of mass at the origin and their principal \
             axes as frame; friction 0.5, gravity 10 m/s², sleeping off, collision margin 1 mm. Every step is a true 1/200 s: \
             <code>stepSimulation(1/200, 0)</code>, but for the drops in long steps and rows with a rate. Spikes, wedges and the \
             blocks below them are 1 to 4 m large. Nuts and bolts are in real size and of steel, in steps of 1 ms, with a \
             margin of 10 µm, 200 iterations of the solver, and contacts looked for a tenth as far ahead as by default. Times are of Bullet's <code>dispatchAllCollisionPairs</code>, one thread; for \
             fast bodies those of Voxshell are with its motion clamp. \
             Figures are taken over the shaded part of the plots; those of a row that \
             was stopped early over the same share of its own run, so with fewer bodies in the pile.</p>\n\
             <p>Depth and gap are measured between the true meshes, whatever a method puts in their place: dense samples of each \
             surface against the exact distance to the other. A negative gap is a depth. What is drawn is what collides: \
             hulls for the hull methods, fields for Voxshell. Tick “points of the true surface” to see how well it fits.</p>\n<dl>\n";
    for entry in METHODS.iter().filter(|e| done.iter().any(|(_, o)| o.iter().any(|o| o.row.method == e.method))) {
        let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", named(entry.method), entry.text);
    }
    html + "</dl>\n</section>\n"
}
