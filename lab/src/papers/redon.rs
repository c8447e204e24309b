//! Triangles against triangles on rigid motions (Redon, Kheddar & Coquillart 2002), as the detection of the god-object
//! (Ortega, Redon & Coquillart 2007).
//!
//! Ortega et al. report two bunnies of 27,000 triangles at 70 updates a second, and a peg of 288 and 280 triangles whose
//! updates take less than 10 ms. The rows of a peg are those of `voxshell-lab bench haptics --parts insertion`.

use std::sync::Arc;

use serde_json::json;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::ccd::impact::{self, Moving};
use voxshell::ccd::mesh_impact::{mesh_time_of_impact, MeshQuery, MeshWorkspace, MovingMesh};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::Roles;
use voxshell::haptics::god_object::{Detection, GodObject, GodSettings};
use voxshell::haptics::{Forms, Obstacle, Status, Tool};
use voxshell::math::{Pose, Progress, Rotation, Vec3};
use voxshell::mesh::{primitives, Locator, TriMesh};
use voxshell::Result;
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

use super::{Context, Outcome};
use crate::bench::random::Random;
use crate::haptics_demo::session::quantile;

/// A mesh with its forms; 1 m large.
struct Body {
    name: String,
    triangles: usize,
    mesh: Arc<Locator>,
    shape: Shape,
}

impl Body {
    fn new(name: &str, mesh: &TriMesh, cells: u32) -> Result<Self> {
        let mesh = mesh.scaled_to_extent(1.0);
        let options = CookOptions { resolution: Resolution::Cells(cells), ..CookOptions::default() };
        let shape = Shape::cook(&mesh, &options, &Progress::none())?;
        Ok(Self { name: name.into(), triangles: mesh.triangles.len(), mesh: Arc::new(Locator::new(&mesh)), shape })
    }

    fn forms(&self, triangles: bool) -> Forms {
        let (field, shell) = (self.shape.field.clone(), self.shape.shell.clone());
        Forms { field, shell, mesh: triangles.then(|| self.mesh.clone()), ..Forms::default() }
    }
}

pub fn run(context: &Context) -> Result<Outcome> {
    let files = ["rocker_arm_10k_genus1.obj", "bunny_34k_filled.obj"];
    let mut bodies = vec![Body::new("gear", &primitives::gear(12, 0.5, 0.4, 0.2, 0.2)?, 128)?];
    for file in files.iter().take(if context.quick { 0 } else { files.len() }) {
        match context.assets.mesh(file)? {
            Some(mesh) => bodies.push(Body::new(file, &mesh, 128)?),
            None => eprintln!("no rows of {file}: it is absent"),
        }
    }
    let mut rows = Vec::new();
    for body in &bodies {
        motions(body, if context.quick { 20 } else { 300 }, &mut rows)?;
        for detection in [Detection::Triangles, Detection::Continuous] {
            updates(body, detection, if context.quick { 100 } else { 1500 }, &mut rows)?;
        }
    }
    Ok(Outcome { rows, ..Outcome::default() })
}

/// Time of impact of random motions of 5 cm and about 3 degrees from near poses: by triangles, and by samples in the fields.
fn motions(body: &Body, count: usize, rows: &mut Vec<Row>) -> Result<()> {
    let mut random = Random::new(2002);
    let (mut by_mesh, mut by_samples) = (MeshWorkspace::new(), Workspace::new());
    let query = MeshQuery::new(1e-6);
    let still = Pose::identity();
    let (mut times, mut sample_times, mut hits, mut sample_hits, mut later) = (Vec::new(), Vec::new(), 0, 0, 0.0f64);
    while times.len() < count {
        let direction = Vec3::from_fn(|_, _| random.next() - 0.5).normalize();
        let turn = random.rotation();
        let at = |reach: f64, turn| Pose::from_parts((direction * reach).into(), turn);
        // From outside until the bodies are near.
        let far = at(2.0, turn);
        let come = MovingMesh { mesh: &body.mesh, from: far, to: at(0.0, turn) };
        let other = MovingMesh { mesh: &body.mesh, from: still, to: still };
        let Some(first) = mesh_time_of_impact(&come, &other, &query, &mut by_mesh)? else { continue };
        let near = 2.0 * (1.0 - first.time);
        let from = at(near + 0.03 * random.next(), turn);
        let to = at(near - 0.02, Rotation::from_scaled_axis(direction * 0.05) * turn);
        let moving = MovingMesh { mesh: &body.mesh, from, to };
        let (seconds, found) = of_thread(|| mesh_time_of_impact(&moving, &other, &query, &mut by_mesh));
        let found = found?;
        times.push(seconds * 1e6);
        hits += usize::from(found.is_some());
        let geometry = body.shape.geometry();
        let (a, b) = (Moving { geometry, from, to }, Moving::still(geometry, &still));
        let both = impact::Query { roles: Roles::Both, ..impact::Query::default() };
        let (seconds, sampled) = of_thread(|| impact::time_of_impact(&a, &b, &both, &mut by_samples));
        let sampled = sampled?;
        sample_times.push(seconds * 1e6);
        sample_hits += usize::from(sampled.is_some());
        if let (Some(mesh), Some(sample)) = (found, sampled) {
            later = later.max((sample.toi - mesh.time) * (to.translation.vector - from.translation.vector).norm());
        }
    }
    rows.push(Row::from(json!({
        "row": format!("redon/time_of_impact/{}", body.name), "triangles": body.triangles, "motions": count,
        "mesh_hits": hits, "sample_hits": sample_hits, "samples_later_by_at_most_mm": later * 1e3,
        "mesh_p50_us": quantile(&mut times, 0.5), "mesh_p90_us": quantile(&mut times, 0.9),
        "samples_p50_us": quantile(&mut sample_times, 0.5), "samples_p90_us": quantile(&mut sample_times, 0.9),
    })));
    Ok(())
}

/// Updates of a god-object that a hand presses 3 cm into a copy of itself and leads around it, at 1 kHz.
fn updates(body: &Body, detection: Detection, count: usize, rows: &mut Vec<Row>) -> Result<()> {
    let triangles = detection == Detection::Triangles;
    let Some(mass) = body.shape.mass else { return Ok(()) };
    let tool = Tool::of_mass(body.forms(triangles), &mass, 0.3)?;
    let path = |t: f64| {
        let angle = 0.5 * t;
        let direction = Vec3::new(angle.cos(), 0.3 * (2.0 * angle).sin(), angle.sin());
        Pose::from_parts(
            (direction * (1.6 - 0.8 * (2.0 * t).min(1.0))).into(),
            Rotation::from_euler_angles(0.2 * t, 0.3, 0.1),
        )
    };
    let mut god = GodObject::new(tool, &path(0.0), GodSettings { detection, ..GodSettings::default() })?;
    let bodies = [Obstacle::fixed(body.forms(triangles), Pose::identity())];
    let (mut times, mut constraints, mut inside) = (Vec::new(), 0, 0);
    for step in 0..count {
        let target = path(f64::from(step as u32) * 1e-3);
        let (seconds, advance) = of_thread(|| god.advance(&target, &bodies));
        let advance = advance?;
        if advance.constraints > 0 {
            times.push(seconds * 1e3);
            constraints = constraints.max(advance.constraints);
        }
        inside += usize::from(advance.status.contains(Status::PENETRATING));
    }
    if times.is_empty() {
        eprintln!("no update of {} touched", body.name);
        return Ok(());
    }
    let (mean, touching) = (times.iter().sum::<f64>() / times.len() as f64, times.len());
    let how = if triangles { "triangles" } else { "samples" };
    let row = Row::new(format!("redon/god_object/{}/{how}/p99", body.name), quantile(&mut times, 0.99), "ms");
    let row = row.with("updates_per_s", 1e3 / mean).with("p50_ms", quantile(&mut times, 0.5)).with("updates", touching);
    let row = row.with("most_constraints", constraints).with("penetrating_updates", inside);
    rows.push(row.with("triangles", body.triangles).peer("Ortega et al. 2007, 27,000 triangles", 1e3 / 70.0));
    Ok(())
}
