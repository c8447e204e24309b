//! The stages of the scene.

use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::ccd::impact::{self, Moving, Path};
use voxshell::ccd::segment::{first_hit, Segment, Start};
use voxshell::ccd::shell;
use voxshell::contact::{self, Query, Roles, Workspace};
use voxshell::dynamics::{Mass, RigidBody};
use voxshell::haptics::{self, DeviceState, Forms, Limits, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Twist, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::response::{penalty, Body, Kinematics, On, PenaltySettings};
use voxshell::{Error, Result};

use crate::hash::{Hash, Random};

/// Steps of the simulation, and of the haptic loop.
const STEPS: u32 = 10_000;
const HAPTIC_STEPS: u32 = 2_000;

struct Part {
    name: &'static str,
    shape: Shape,
}

pub fn all() -> Result<Vec<(String, u64)>> {
    let parts = parts()?;
    let mut found = Vec::new();
    for part in &parts {
        let mut hash = Hash::new();
        hash.bytes(&part.shape.to_bytes()?);
        found.push((format!("cook/{}", part.name), hash.value()));
    }
    let mut stage = |name: &str, hash: Hash| found.push((name.to_string(), hash.value()));
    stage("contacts", contacts(&parts)?);
    stage("segments", segments(&parts)?);
    stage("motions", motions(&parts)?);
    stage("steps", steps(&parts)?);
    for renderer in
        [Renderer::Vps, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::GodObject, Renderer::Impulse]
    {
        stage(&format!("haptics/{renderer:?}"), haptics(&parts, renderer)?);
    }
    Ok(found)
}

fn cook(name: &'static str, mesh: TriMesh, storage: Storage, cells: u32) -> Result<Part> {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        storage,
        shell: ShellOptions { target_count: Some(1500), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Ok(Part { name, shape: Shape::cook(&mesh, &options, &Progress::none())? })
}

fn parts() -> Result<Vec<Part>> {
    Ok(vec![
        cook("knot", primitives::torus_knot(2, 3, 0.3, 0.1, 96, 16)?, Storage::Dense, 64)?,
        cook("gear", primitives::gear(9, 0.5, 0.4, 0.2, 0.15)?, Storage::Bricks, 96)?,
        cook("blob", primitives::blob(0)?.scaled_to_extent(0.6), Storage::Exact, 64)?,
        cook("bowl", primitives::bowl(0.9, 0.08, 32)?, Storage::Dense, 96)?,
    ])
}

fn contacts(parts: &[Part]) -> Result<Hash> {
    let (mut hash, mut random, mut workspace) = (Hash::new(), Random(1), Workspace::new());
    for n in 0..400 {
        let (a, b) = (&parts[n % 4].shape, &parts[n / 4 % 4].shape);
        let (at_a, at_b) = (random.pose(0.2), random.pose(0.2));
        let query = Query { max_separation: 0.01, ..Query::default() };
        let (a, b) = (a.geometry_for(query.coverage)?, b.geometry_for(query.coverage)?);
        for c in contact::contacts(a, &at_a, b, &at_b, &query, &mut workspace)? {
            hash.contact(c);
        }
    }
    Ok(hash)
}

fn segments(parts: &[Part]) -> Result<Hash> {
    let (mut hash, mut random) = (Hash::new(), Random(2));
    for n in 0..4000 {
        let Some(field) = &parts[n % 4].shape.field else { continue };
        let segment = Segment { from: random.vector(), to: random.vector() };
        match first_hit(field, &segment, 0.0, Start::Hit) {
            Some(hit) => {
                hash.number(hit.fraction);
                hash.vector(&hit.normal);
            }
            None => hash.bytes(b"none"),
        }
    }
    Ok(hash)
}

fn motions(parts: &[Part]) -> Result<Hash> {
    let (mut hash, mut random, mut workspace) = (Hash::new(), Random(3), shell::Workspace::new());
    for n in 0..120 {
        let path = if n % 2 == 0 { Path::Straight } else { Path::Screw { tolerance: 1e-4 } };
        let query = impact::Query { path, ..impact::Query::default() };
        let side = |part: &Part, random: &mut Random, aside: f64| -> Result<(Pose, Pose)> {
            let (from, to) = (random.pose(0.1), random.pose(0.1));
            let shift = Pose::translation(aside * part.shape.bounds().extents().max(), 0.0, 0.0);
            Ok((shift * from, to))
        };
        let (a, b) = (&parts[n % 4], &parts[(n / 4 + 1) % 4]);
        let ((from_a, to_a), (from_b, to_b)) = (side(a, &mut random, -1.0)?, side(b, &mut random, 1.0)?);
        let a = Moving { geometry: a.shape.geometry_for(query.coverage)?, from: from_a, to: to_a };
        let b = Moving { geometry: b.shape.geometry_for(query.coverage)?, from: from_b, to: to_b };
        match impact::time_of_impact(&a, &b, &query, &mut workspace)? {
            Some(contact) => hash.contact(&contact),
            None => hash.bytes(b"none"),
        }
    }
    Ok(hash)
}

/// A knot and a gear that fall into a bowl, on springs and dampers.
fn steps(parts: &[Part]) -> Result<Hash> {
    let missing = || Error::InvalidMesh("the body has no inside".into());
    let body = |part: &Part, at: Pose| -> Result<RigidBody> {
        let solid = part.shape.mass.as_ref().ok_or_else(missing)?;
        Ok(RigidBody::at(Mass::of_solid(1.0, solid)?, &at))
    };
    let bowl = RigidBody::at(Mass::of_sphere(1.0, 1.0)?, &Pose::identity());
    let tilted = Random(4).pose(0.05);
    let mut bodies = [
        body(&parts[0], Pose::translation(0.1, -0.2, 0.0) * tilted)?,
        body(&parts[1], Pose::translation(0.0, 0.3, 0.05))?,
        bowl,
    ];
    let shapes = [&parts[0].shape, &parts[1].shape, &parts[3].shape];
    let mut workspaces = [(); 3].map(|()| Workspace::new());
    let settings = PenaltySettings { drag: 0.2, ..PenaltySettings::new(2000.0, 1.0) };
    let query = Query { roles: Roles::Both, ..Query::default() };
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let dt = 1.0 / 2000.0;
    let mut hash = Hash::new();
    for _ in 0..STEPS {
        let mut loads = [bodies[0].weight(&gravity), bodies[1].weight(&gravity)];
        for (k, [i, j]) in [[0, 1], [0, 2], [1, 2]].into_iter().enumerate() {
            let still = |n: usize| Kinematics {
                twist: if n == 2 { Twist::ZERO } else { bodies[n].twist() },
                ..bodies[n].kinematics()
            };
            let side = |n: usize| Body { geometry: shapes[n].geometry(), kinematics: still(n) };
            let (a, b) = (side(i), side(j));
            let found = contact::contacts(
                a.geometry,
                &a.kinematics.pose,
                b.geometry,
                &b.kinematics.pose,
                &query,
                &mut workspaces[k],
            )?;
            loads[i] += penalty(found, &a, &b, On::A, &settings);
            if j < 2 {
                loads[j] += penalty(found, &a, &b, On::B, &settings);
            }
        }
        for (body, load) in bodies.iter_mut().zip(&loads) {
            body.symplectic_euler(&load.wrench, dt);
        }
        hash.pose(&bodies[0].pose());
        hash.pose(&bodies[1].pose());
    }
    Ok(hash)
}

/// A blob that a hand leads over a gear, along a fixed path.
fn haptics(parts: &[Part], renderer: Renderer) -> Result<Hash> {
    let forms = |part: &Part| -> Result<Forms> {
        let forms = Forms { field: part.shape.field.clone(), shell: part.shape.shell.clone(), ..Forms::default() };
        forms.with_voxmap(voxshell::voxmap::Offset::SURFACE)
    };
    let solid = parts[2].shape.mass.as_ref().ok_or_else(|| Error::InvalidMesh("the tool has no inside".into()))?;
    let tool = Tool::of_mass(forms(&parts[2])?, solid, 0.2)?;
    let limits = Limits { force: 30.0, torque: 2.0, stiffness: [2000.0, 30.0], damping: [20.0, 0.5] };
    let settings = Settings::for_tool(renderer, &tool, &limits)?;
    let (mut servo, mut simulation) =
        haptics::new(settings, tool, vec![Obstacle::fixed(forms(&parts[1])?, Pose::identity())])?;
    let mut hash = Hash::new();
    for n in 0..HAPTIC_STEPS {
        let t = f64::from(n) / f64::from(HAPTIC_STEPS);
        // From above, into the gear, and across it.
        let at = Vec3::new(0.4 * t - 0.2, 0.6 - 0.5 * (t * 2.0).min(1.0), 0.1 * t);
        let pose = Pose::from_parts(at.into(), Random(5).pose(0.0).rotation);
        let output = servo.step(&DeviceState { pose, twist: Twist::ZERO, engaged: true }, 1e-3);
        simulation.simulate();
        hash.vector(&output.wrench.force);
        hash.vector(&output.wrench.torque);
        hash.pose(&servo.tool_pose());
    }
    Ok(hash)
}
