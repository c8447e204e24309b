//! Otaduy & Lin 2003, "Sensation preserving simplification for haptic rendering", and Otaduy & Lin 2005, "Stable and
//! responsive six-degree-of-freedom haptic manipulation using implicit integration", figure 6.
//!
//! Their jaws are not to be had: the dragon is the tool, the horse is fixed, both in a ball of 6 cm as the jaws. Without
//! the meshes a knot and a blob take their place. The loop is the paper's: a tool of 10 g, a coupling of 500 N/m, contacts
//! of 5 kN/m, backward Euler at 1 kHz; the contact thread answers some milliseconds late, and between its answers the
//! contact force is either linear in pose and velocity or constant.

use serde_json::json;
use voxshell::contact::{hull_contacts, hull_distance, HullQuery, HullWorkspace};
use voxshell::dynamics::{Mass, RigidBody};
use voxshell::math::{Mat6, Pose, Progress, Twist, Vec3, Vec6, Wrench};
use voxshell::mesh::simplify::{HullHierarchy, SimplifyOptions};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::response::{
    cluster, penalty, Body, ClusterSettings, Clusters, Kinematics, On, PenaltySettings, Response,
};
use voxshell::{asset, Result};
use voxshell_cli::render::{self, Camera, Image, Object};
use voxshell_lab::clock::{of_thread, of_wall};
use voxshell_lab::report::palette::{Colour, BLUE, GREEN, ORANGE, RED};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::row::Row;

use super::{Context, Outcome};

/// Radius of the ball around each jaw, metres.
const RADIUS: f64 = 0.06;
const MASS: f64 = 0.01;
const COUPLING: f64 = 500.0;
const CONTACT: f64 = 5000.0;
const STEP: f64 = 1e-3;
/// Length of the figure, seconds.
const LENGTH: f64 = 0.9;
/// Clusters of contacts, and the steps from one exact measurement of the depth to the next.
const CLUSTERS: usize = 10;
const MEASURED_EVERY: usize = 5;

pub struct Bodies {
    pub names: [&'static str; 2],
    /// The fixed body and the tool, their boxes around the origin.
    pub meshes: [TriMesh; 2],
}

impl Bodies {
    /// Returns horse and dragon; without them, and in quick runs, a blob and a knot.
    pub fn new(context: &Context) -> Result<Self> {
        let files = ["horse_48k.obj", "dragon_10k_open.obj"];
        let centred = |mesh: &TriMesh| {
            let middle = mesh.bounds().center();
            let mesh = mesh.transformed(&Pose::from_parts((-middle).into(), Default::default()), 1.0);
            let radius = mesh.vertices.iter().map(|v| Vec3::from(*v).norm()).fold(0.0, f64::max);
            mesh.scaled(RADIUS / radius)
        };
        if !context.quick {
            if let (Some(horse), Some(dragon)) = (context.assets.mesh(files[0])?, context.assets.mesh(files[1])?) {
                return Ok(Self { names: ["horse", "dragon"], meshes: [centred(&horse), centred(&dragon)] });
            }
        }
        let knot = primitives::torus_knot(2, 3, 0.2, 0.07, 96, 16)?;
        Ok(Self { names: ["blob", "knot"], meshes: [centred(&primitives::blob(1)?), centred(&knot)] })
    }
}

pub fn hierarchy(mesh: &TriMesh) -> Result<HullHierarchy> {
    HullHierarchy::build(mesh, &SimplifyOptions::default(), &Progress::none())
}

pub fn run(context: &Context) -> Result<Outcome> {
    let bodies = Bodies::new(context)?;
    let mut outcome = Outcome::default();
    let mut hulls = Vec::new();
    for (name, mesh) in bodies.names.iter().zip(&bodies.meshes) {
        let (seconds, made) = of_wall(|| hierarchy(mesh));
        let made = made?;
        levels(name, mesh, &made, seconds, &mut outcome)?;
        hulls.push(made);
    }
    let [fixed, tool] = [&hulls[0], &hulls[1]];
    figure_4(fixed, tool, context.quick, &mut outcome)?;
    figure_6(fixed, tool, context.quick, &mut outcome)?;
    Ok(outcome)
}

/// Rows, a plot and a picture of the levels of a body (2003, figures 5 and 6).
fn levels(name: &str, mesh: &TriMesh, made: &HullHierarchy, seconds: f64, outcome: &mut Outcome) -> Result<()> {
    outcome.rows.push(
        Row::new(format!("otaduy/levels/{name}/making"), seconds, "s")
            .with("triangles", mesh.triangles.len())
            .with("hulls", made.levels[0].hulls)
            .with("levels", made.levels.len())
            .with("mb", made.bytes() as f64 * 1e-6),
    );
    for (i, level) in made.levels.iter().enumerate() {
        let finite = |x: f64| x.is_finite().then_some(x * 1e3);
        outcome.rows.push(Row::from(json!({
            "figure": "Otaduy & Lin 2003, 5", "row": format!("otaduy/levels/{name}/{i}"), "hulls": level.hulls,
            "triangles": level.triangles, "deviation_mm": finite(level.deviation), "reach_mm": finite(level.reach),
            "surface": i < made.surfaces.len(),
        })));
    }
    let curve = |title: &str, colour: Colour, value: &dyn Fn(usize) -> f64| Curve {
        name: title.into(),
        colour,
        points: (0..made.levels.len()).map(|i| (i as f64, value(i))).collect(),
    };
    let curves = vec![
        curve("hulls", BLUE, &|i| f64::from(made.levels[i].hulls)),
        curve("triangles", ORANGE, &|i| f64::from(made.levels[i].triangles)),
    ];
    let title = format!("Levels of the {name}");
    outcome.plots.push(Plot { x_label: "level", log_from: Some(1.0), ..Plot::over_seconds(title, curves) });
    // The levels that approximate the surface, the finest, coarsest and two between them.
    let last = made.surfaces.len() - 1;
    let mut shown: Vec<usize> = [0, last / 3, 2 * last / 3, last].into();
    shown.dedup();
    let images = shown.iter().map(|&i| drawn(&made.surfaces[i].mesh)).collect::<Result<Vec<Image>>>()?;
    let numbers: Vec<String> = shown.iter().map(|i| i.to_string()).collect();
    let caption = format!("The {name} on the levels {}", numbers.join(", "));
    outcome.pictures.push((Image::side_by_side(&images).png_bytes(), caption));
    Ok(())
}

fn drawn(mesh: &TriMesh) -> Result<Image> {
    let options = asset::CookOptions {
        forms: asset::Forms { field: true, shell: false },
        resolution: asset::Resolution::Cells(96),
        ..asset::CookOptions::default()
    };
    let shape = asset::Shape::cook(mesh, &options, &Progress::none())?;
    let mut scene = render::Scene::default();
    if let Some(field) = shape.field {
        scene.objects.push(Object::new(field, Pose::identity(), [0.36, 0.55, 0.83]));
    }
    let camera = Camera::framing(&mesh.bounds(), Vec3::new(0.6, 0.4, 1.0), Vec3::y(), 0.6, 1.0);
    Ok(render::render(&scene, &camera, 240, 240))
}

/// Rate of the contact thread.
#[derive(Clone, Copy)]
enum Rate {
    /// As fast as its queries are on this machine, at most 1 kHz.
    Free,
    /// Milliseconds from one answer to the next.
    Every(u32),
}

/// How a run is made.
#[derive(Clone, Copy)]
struct Setup {
    /// Tolerance of the hulls, metres.
    tolerance: f64,
    /// Whether the contact force is linear between the answers of the contact thread, or constant.
    linearised: bool,
    rate: Rate,
    /// Stiffness of each contact, N/m.
    stiffness: f64,
    /// Backward Euler, or symplectic Euler.
    implicit: bool,
    /// Simulated time, seconds.
    length: f64,
}

/// Result of a run.
struct Run {
    name: String,
    colour: Colour,
    /// Over time: depth, mm; distance of hand and tool, mm; force of the coupling, N; rate of the contact thread, Hz.
    points: [Vec<(f64, f64)>; 4],
    /// p50 of a contact query, milliseconds.
    query: f64,
    /// False if the state grew beyond all bounds.
    bounded: bool,
}

impl Run {
    fn most(&self, quantity: usize) -> f64 {
        self.points[quantity].iter().map(|p| p.1).fold(0.0, f64::max)
    }

    /// Returns the mean change of the feedback force from step to step in the last third, N: the unstable one shakes.
    fn shaking(&self) -> f64 {
        let points = &self.points[2];
        let last = &points[2 * points.len() / 3..];
        last.windows(2).map(|w| (w[1].1 - w[0].1).abs()).sum::<f64>() / last.len().max(1) as f64
    }
}

/// 2005, figure 4: integration methods and stiffnesses of contacts, whose values the text at hand does not give.
fn figure_4(fixed: &HullHierarchy, tool: &HullHierarchy, quick: bool, outcome: &mut Outcome) -> Result<()> {
    let start = touching(fixed, tool)?;
    let mut runs = Vec::new();
    for (name, stiffness, implicit, colour) in [
        ("backward Euler, 5 kN/m", 5e3, true, BLUE),
        ("backward Euler, 20 kN/m", 2e4, true, GREEN),
        ("symplectic Euler, 5 kN/m", 5e3, false, ORANGE),
        ("symplectic Euler, 20 kN/m", 2e4, false, RED),
    ] {
        let setup = Setup {
            tolerance: 0.025 * RADIUS,
            linearised: true,
            rate: Rate::Every(2),
            stiffness,
            implicit,
            length: if quick { 0.3 } else { LENGTH },
        };
        let mut run = play([fixed, tool], &start, &setup)?;
        (run.name, run.colour) = (name.into(), colour);
        outcome.rows.push(
            Row::new(format!("otaduy/figure4/{name}/depth"), run.most(0), "mm")
                .with("deviation_mm", run.most(1))
                .with("force_n", run.most(2))
                .with("shaking_n", run.shaking())
                .with("bounded", run.bounded),
        );
        runs.push(run);
    }
    plots("Otaduy & Lin 2005, figure 4", &runs, &[0, 1, 2], outcome);
    Ok(())
}

/// Adds the plots of some quantities.
fn plots(figure: &str, runs: &[Run], quantities: &[usize], outcome: &mut Outcome) {
    let titles = ["penetration, mm", "from hand to tool, mm", "feedback force, N", "rate of the contact thread, Hz"];
    for &i in quantities {
        let curves = runs
            .iter()
            .map(|r| Curve { name: r.name.clone(), colour: r.colour, points: r.points[i].clone() })
            .collect();
        // What diverges would hide the others.
        let top = [Some(1.0), Some(20.0), Some(10.0), None][i];
        let title = format!("{figure}: {}", titles[i]);
        outcome.plots.push(Plot { top, ..Plot::over_seconds(title, curves) });
    }
}

fn figure_6(fixed: &HullHierarchy, tool: &HullHierarchy, quick: bool, outcome: &mut Outcome) -> Result<()> {
    // The paper's thresholds, of the radius; its rates for them; with and without the linearised model.
    let paper = [
        ("2.5%, linearised", 0.025, true, 2, BLUE),
        ("0.4%, linearised", 0.004, true, 10, GREEN),
        ("2.5%, constant", 0.025, false, 2, ORANGE),
        ("0.4%, constant", 0.004, false, 10, RED),
    ];
    let start = touching(fixed, tool)?;
    let mut runs = Vec::new();
    for (name, threshold, linearised, period, colour) in paper {
        for (how, rate) in [("paper's rate", Rate::Every(period)), ("own rate", Rate::Free)] {
            let setup = Setup {
                tolerance: threshold * RADIUS,
                linearised,
                rate,
                stiffness: CONTACT,
                implicit: true,
                length: if quick { 0.3 } else { LENGTH },
            };
            let mut run = play([fixed, tool], &start, &setup)?;
            (run.name, run.colour) = (name.into(), colour);
            let row = Row::new(format!("otaduy/figure6/{name}/{how}/depth"), run.most(0), "mm");
            let row = if linearised { row.peer("Otaduy & Lin 2005", 0.1) } else { row };
            outcome.rows.push(
                row.with("deviation_mm", run.most(1))
                    .with("force_n", run.most(2))
                    .with("shaking_n", run.shaking())
                    .with("query_p50_ms", run.query)
                    .with("bounded", run.bounded),
            );
            if matches!(rate, Rate::Every(_)) {
                runs.push(run);
            }
        }
    }
    plots("Otaduy & Lin 2005, figure 6", &runs, &[0, 1, 2, 3], outcome);
    Ok(())
}

/// Returns the pose at which the tool comes from above and is about to touch.
fn touching(fixed: &HullHierarchy, tool: &HullHierarchy) -> Result<Pose> {
    let mut workspace = HullWorkspace::new();
    let exact = HullQuery { max_separation: f64::INFINITY, tolerance: 0.0 };
    let mut pose = Pose::translation(0.0, 3.0 * RADIUS, 0.0);
    for _ in 0..1000 {
        let found = hull_distance([(tool, &pose), (fixed, &Pose::identity())], &exact, &mut workspace)?;
        let apart = found.map_or(0.0, |f| f.0);
        if apart < 1e-5 {
            break;
        }
        pose.translation.vector.y -= apart;
    }
    Ok(pose)
}

/// The hand: 3 mm down in 0.2 s, then 12 mm along in the rest.
fn hand(start: &Pose, t: f64) -> Vec3 {
    let down = 0.003 * (t / 0.2).min(1.0);
    let along = 0.012 * ((t - 0.2) / (LENGTH - 0.2)).max(0.0);
    start.translation.vector + Vec3::new(along, 0.001 - down, 0.3 * along)
}

/// Spring and damper between hand and tool.
fn coupling(body: &RigidBody, start: &Pose, t: f64) -> Response {
    let inertia = body.mass.inertia().trace() / 3.0;
    let turning = COUPLING * inertia / MASS;
    let damping = [2.0 * (COUPLING * MASS).sqrt(), 2.0 * (turning * inertia).sqrt()];
    let twist = body.twist();
    let turn = body.rotation * start.rotation.inverse();
    let force = (hand(start, t) - body.center) * COUPLING - twist.linear * damping[0];
    let torque = turn.scaled_axis() * -turning - twist.angular * damping[1];
    let diagonal = |a: f64, b: f64| Mat6::from_diagonal(&Vec6::new(-a, -a, -a, -b, -b, -b));
    Response {
        wrench: Wrench { force, torque },
        by_pose: diagonal(COUPLING, turning),
        by_twist: diagonal(damping[0], damping[1]),
    }
}

/// The last answer of the contact thread: the load at a state.
struct Model {
    load: Response,
    center: Vec3,
    rotation: voxshell::math::Rotation,
    twist: Twist,
}

impl Model {
    fn at(&self, body: &RigidBody, linearised: bool) -> Response {
        if !linearised {
            return Response::constant(self.load.wrench);
        }
        let moved = body.center - self.center;
        let turned = (body.rotation * self.rotation.inverse()).scaled_axis();
        let twist = body.twist();
        let (v, w) = (twist.linear - self.twist.linear, twist.angular - self.twist.angular);
        let column = |a: &Vec3, b: &Vec3| Vec6::new(a.x, a.y, a.z, b.x, b.y, b.z);
        let wrench = self.load.wrench.column()
            + self.load.by_pose * column(&moved, &turned)
            + self.load.by_twist * column(&v, &w);
        Response { wrench: Wrench::from_column(&wrench), ..self.load }
    }
}

fn play([fixed, tool]: [&HullHierarchy; 2], start: &Pose, setup: &Setup) -> Result<Run> {
    let Setup { tolerance, linearised, rate, stiffness, implicit, length } = *setup;
    let mut body = RigidBody::at(Mass::of_sphere(MASS, RADIUS)?, start);
    let still = Pose::identity();
    let (mut workspace, mut exact, mut clusters) = (HullWorkspace::new(), HullWorkspace::new(), Clusters::new());
    let settings = PenaltySettings::new(stiffness, 0.0);
    let query = HullQuery { max_separation: 0.0, tolerance };
    let depth_query = HullQuery { max_separation: 0.0, tolerance: 0.0 };
    let reduce = ClusterSettings { max_clusters: CLUSTERS, radius: 0.1 * RADIUS, max_separation: 0.0 };
    let mut run = Run { name: String::new(), colour: BLUE, points: Default::default(), query: 0.0, bounded: true };
    let mut model: Option<Model> = None;
    let mut coming: Option<(usize, Model)> = None;
    let (mut times, mut last, mut hz) = (Vec::new(), 0usize, 1e3);
    let steps = (length / STEP) as usize;
    for step in 0..steps {
        let t = step as f64 * STEP;
        if coming.as_ref().is_some_and(|c| c.0 <= step) {
            hz = 1.0 / (STEP * (step - last).max(1) as f64);
            last = step;
            model = coming.take().map(|c| c.1);
        }
        if coming.is_none() {
            let pose = body.pose();
            let (seconds, found) = of_thread(|| {
                hull_contacts([(tool, &pose), (fixed, &still)], &query, &mut workspace).map(<[_]>::to_vec)
            });
            let found = found?;
            let found = cluster(&found, &reduce, &mut clusters);
            let of_tool = Body { geometry: Default::default(), kinematics: body.kinematics() };
            let of_fixed = Body { geometry: Default::default(), kinematics: Kinematics::still(&still) };
            let load = penalty(found, &of_tool, &of_fixed, On::A, &settings);
            times.push(seconds * 1e3);
            let late = match rate {
                Rate::Free => (seconds / STEP).ceil().max(1.0) as usize,
                Rate::Every(n) => n as usize,
            };
            let (center, rotation, twist) = (body.center, body.rotation, body.twist());
            coming = Some((step + late, Model { load, center, rotation, twist }));
        }
        let held = coupling(&body, start, t);
        let mut load = held;
        if let Some(model) = &model {
            load += model.at(&body, linearised);
        }
        if implicit {
            body.implicit_euler(&load, STEP);
        } else {
            body.symplectic_euler(&load.wrench, STEP);
        }
        let apart = (body.center - hand(start, t)).norm();
        if !body.is_finite() || apart.is_nan() || apart > 1.0 {
            run.bounded = false;
            break;
        }
        if step % MEASURED_EVERY == 0 {
            let pose = body.pose();
            let found = hull_contacts([(tool, &pose), (fixed, &still)], &depth_query, &mut exact)?;
            let depth = found.first().map_or(0.0, |c| -c.separation).max(0.0);
            run.points[0].push((t, depth * 1e3));
        }
        run.points[1].push((t, apart * 1e3));
        run.points[2].push((t, held.wrench.force.norm()));
        run.points[3].push((t, hz));
    }
    run.query = crate::haptics_demo::session::quantile(&mut times, 0.5);
    Ok(run)
}
