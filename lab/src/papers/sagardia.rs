//! Sagardia, Stouraitis & Lopes e Silva 2014, what needs no Bullet: making and memory of voxelmap and pointshell (section 4),
//! the time of a check (Algorithm 1), each form of the map, and the answer against the limit of tests (section 2.3). The drops in
//! Bullet are those of `bullet-demo/run --evaluation`.

use std::sync::Arc;

use voxshell::asset::{self, CookOptions, Resolution, Shape};
use voxshell::contact::Completeness;
use voxshell::cook::FieldOptions;
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{Clustering, PointShell, Sampling, ShellOptions};
use voxshell::response::{voxel_query, VoxelQuery, VoxelWorkspace};
use voxshell::voxmap::{Branching, MapForm, Offset, Rule, VoxelModel, VoxelOptions, Voxelmap};
use voxshell::{Error, Result};
use voxshell_lab::clock::{of_process, of_thread};
use voxshell_lab::report::palette::{BLUE, GREEN, ORANGE};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::row::Row;

use super::{Context, Outcome};
use crate::bench::random::Random;
use crate::haptics_demo::session::quantile;

const PAPER: &str = "Sagardia et al. 2014";
const BUNNY: &str = "bunny_34k_filled.obj";

pub fn run(context: &Context) -> Result<Outcome> {
    let (name, mesh) = match context.assets.mesh(BUNNY)?.filter(|_| !context.quick) {
        Some(mesh) => ("bunny", mesh.scaled_to_extent(1.0)),
        None => ("blob", primitives::blob(1)?.scaled_to_extent(1.0)),
    };
    let mut outcome = Outcome::default();
    let maps = made(context, name, &mesh, &mut outcome.rows)?;
    let counts = if context.quick { [275, 799] } else { [799, 35_596] };
    for count in counts {
        let shell = pointshell(name, &mesh, count, &mut outcome.rows)?;
        checks(context, name, &shell, &maps, &mut outcome)?;
    }
    Ok(outcome)
}

/// Makes all forms of the map of 306 x 305 x 282 voxels.
fn made(context: &Context, name: &str, mesh: &TriMesh, rows: &mut Vec<Row>) -> Result<Vec<(&'static str, Voxelmap)>> {
    let voxels = if context.quick { 48 } else { 298 };
    let options = VoxelOptions::with_resolution(mesh, voxels);
    let progress = Progress::none();
    let start = of_process();
    let model = VoxelModel::from_mesh(mesh, &options, &progress)?;
    let model_seconds = of_process() - start;
    let start = of_process();
    let field = voxshell::cook::dense_field(mesh, &FieldOptions::new(options.voxel_size), &progress)?;
    let field_seconds = of_process() - start;
    let tree = MapForm::LayerTree { limit: 20, branching: Branching::Tree64 };
    let types = MapForm::TypeTree { offset: Offset::SURFACE, branching: Branching::Tree512 };
    let forms = [
        ("layers", MapForm::Layers),
        ("layers in a 64-tree", tree),
        ("types in a 512-tree", types),
        ("scaled distances", MapForm::Scaled { precision: 4 }),
        ("float distances", MapForm::Real),
    ];
    let mut maps = Vec::new();
    for (form, kind) in forms {
        let start = of_process();
        let map = Voxelmap::new(&model, Some(&field), kind, &progress)?;
        let mut seconds = of_process() - start + model_seconds;
        if matches!(kind, MapForm::Scaled { .. } | MapForm::Real) {
            seconds += field_seconds;
        }
        let dims = map.grid().dims();
        rows.push(
            Row::new(format!("sagardia/{name}/voxelmap/{form}/making"), seconds, "s")
                .target((!context.quick).then_some(10.0))
                .peer(PAPER, 10.0)
                .with("dims", dims.to_vec()),
        );
        rows.push(
            Row::new(format!("sagardia/{name}/voxelmap/{form}/memory"), map.bytes() as f64 * 1e-6, "MB")
                .peer(PAPER, 1.0),
        );
        maps.push((form, map));
    }
    Ok(maps)
}

fn pointshell(name: &str, mesh: &TriMesh, count: usize, rows: &mut Vec<Row>) -> Result<Arc<PointShell>> {
    let spacing = mesh.bounds().extents().max() / 298.0;
    let options = ShellOptions {
        method: Sampling::Projection { voxel_size: spacing },
        target_count: Some(count),
        branching: 4,
        clustering: Clustering::Greedy,
        ..ShellOptions::default()
    };
    let start = of_process();
    let options = CookOptions {
        forms: asset::Forms { field: false, shell: true },
        resolution: Resolution::Cells(64),
        shell: options,
        ..CookOptions::default()
    };
    let shell = Shape::cook(mesh, &options, &Progress::none())?.shell;
    let shell = shell.ok_or_else(|| Error::Unsupported("a body without samples".into()))?;
    rows.push(
        Row::new(format!("sagardia/{name}/pointshell/{count}/making"), of_process() - start, "s")
            .target(20.0)
            .peer(PAPER, 20.0)
            .with("samples", shell.len()),
    );
    rows.push(
        Row::new(format!("sagardia/{name}/pointshell/{count}/memory"), shell.memory_bytes() as f64 * 1e-6, "MB")
            .peer(PAPER, 2.0),
    );
    Ok(shell)
}

/// Time of a check of the pointshell against a map of the same body, from free to 2% deep; and the curve of the limit.
fn checks(
    context: &Context,
    name: &str,
    shell: &PointShell,
    maps: &[(&'static str, Voxelmap)],
    outcome: &mut Outcome,
) -> Result<()> {
    let poses = if context.quick { 20 } else { 200 };
    let mut random = Random::new(2014);
    let still = Pose::identity();
    let mut workspace = VoxelWorkspace::new();
    // Random directions at distances where the bodies are about to touch.
    let float = &maps[maps.len() - 1].1;
    let mut near = Vec::new();
    while near.len() < poses {
        let direction = Vec3::from_fn(|_, _| random.next() - 0.5).normalize();
        let turn = random.rotation();
        let (mut low, mut high) = (0.0, 2.0);
        for _ in 0..16 {
            let middle = 0.5 * (low + high);
            let pose = Pose::from_parts((direction * middle).into(), turn);
            let query = VoxelQuery { distance: false, ..VoxelQuery::default() };
            voxel_query(float, &still, shell, &pose, &query, &mut workspace);
            if workspace.manifold().is_empty() {
                high = middle;
            } else {
                low = middle;
            }
        }
        near.push(Pose::from_parts((direction * (high - 0.02 * random.next())).into(), turn));
    }
    let paper = if shell.len() > 10_000 { 710.0 } else { 100.0 };
    for (form, map) in maps {
        let (mut times, mut contacts) = (Vec::new(), 0);
        for pose in &near {
            let query = VoxelQuery { rule: Rule::Local, distance: false, ..VoxelQuery::default() };
            let (seconds, _) = of_thread(|| voxel_query(map, &still, shell, pose, &query, &mut workspace));
            times.push(seconds * 1e6);
            contacts += workspace.manifold().len();
        }
        outcome.rows.push(
            Row::new(format!("sagardia/{name}/check/{}/{form}/p50", shell.len()), quantile(&mut times, 0.5), "us")
                .peer(PAPER, paper)
                .with("p99_us", quantile(&mut times, 0.99))
                .with("mean_contacts", contacts as f64 / poses as f64),
        );
    }
    limits(name, shell, float, &near, outcome);
    Ok(())
}

/// The answer against the limit of tests: error of the penetration, the proven bound of it, and share of the force.
fn limits(name: &str, shell: &PointShell, map: &Voxelmap, poses: &[Pose], outcome: &mut Outcome) {
    let still = Pose::identity();
    let mut workspace = VoxelWorkspace::new();
    let query = VoxelQuery { distance: false, ..VoxelQuery::default() };
    let complete: Vec<_> =
        poses.iter().map(|pose| voxel_query(map, &still, shell, pose, &query, &mut workspace)).collect();
    let most = complete.iter().map(|a| a.node_tests + a.sample_tests).max().unwrap_or(1);
    let mut curves = [const { Vec::new() }; 3];
    let mut limit = 16u64;
    while limit < 2 * most {
        let query = VoxelQuery { tests: limit, ..query };
        let (mut error, mut bound, mut force) = (0.0, 0.0, 0.0);
        let mut whole = 0;
        for (pose, full) in poses.iter().zip(&complete) {
            let answer = voxel_query(map, &still, shell, pose, &query, &mut workspace);
            error += (full.penetration - answer.penetration).max(0.0);
            bound += (answer.most - full.penetration).max(0.0);
            let (part, all) = (answer.wrench.force.norm(), full.wrench.force.norm());
            force += if all > 0.0 { (part / all).min(1.0) } else { 1.0 };
            whole += usize::from(answer.completeness == Completeness::Complete);
        }
        let n = poses.len() as f64;
        for (curve, value) in curves.iter_mut().zip([1e3 * error / n, 1e3 * bound / n, force / n]) {
            curve.push((limit as f64, value));
        }
        outcome.rows.push(
            Row::new(format!("sagardia/{name}/limit/{}/{limit}/depth_error", shell.len()), 1e3 * error / n, "mm")
                .with("bound_mm", 1e3 * bound / n)
                .with("force_share", force / n)
                .with("complete_share", whole as f64 / n),
        );
        limit *= 2;
    }
    let names = ["error of the depth, mm", "proven bound of it, mm", "share of the force"];
    let curves = names
        .iter()
        .zip([BLUE, ORANGE, GREEN])
        .zip(curves)
        .map(|((name, colour), points)| Curve { name: (*name).into(), colour, points })
        .collect();
    let title = format!("Answer against the limit of tests, {} samples", shell.len());
    outcome.plots.push(Plot { x_label: "tests", x_log: true, ..Plot::over_seconds(title, curves) });
}
