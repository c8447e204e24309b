//! The same pairs by a pointshell in a field, by implicit sphere trees and by hulls: time, memory, making, and the error of
//! what they find. Answers when each is the better one.

use serde_json::json;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{self, hull_contacts, hull_distance, Coverage, HullQuery, HullWorkspace, Query, Roles};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::voxtree::{self, Placed, QueryOptions, TreeOptions, VoxTree};
use voxshell::Result;
use voxshell_lab::clock::{of_thread, of_wall};
use voxshell_lab::row::Row;

use super::otaduy::hierarchy;
use super::{Context, Outcome};
use crate::bench::parry::{self, Parry};
use crate::bench::random::Random;
use crate::haptics_demo::session::quantile;

/// Poses at which parry3d measures, which is slow.
const PEER_POSES: usize = 10;

struct Case {
    name: &'static str,
    meshes: [TriMesh; 2],
    cells: u32,
}

fn cases(context: &Context) -> Result<Vec<Case>> {
    let one = |mesh: &TriMesh| {
        let middle = mesh.bounds().center();
        mesh.transformed(&Pose::from_parts((-middle).into(), Default::default()), 1.0).scaled_to_extent(1.0)
    };
    let gear = one(&primitives::gear(16, 0.5, 0.4, 0.2, 0.15)?);
    let box_ = primitives::cuboid([0.3, 0.2, 0.1])?;
    let (blob, knot) = (one(&primitives::blob(1)?), one(&primitives::torus_knot(2, 3, 0.2, 0.07, 96, 16)?));
    let mut cases = vec![
        Case { name: "box and gear", meshes: [gear, box_], cells: 64 },
        Case { name: "knot and blob", meshes: [blob, knot], cells: 64 },
    ];
    if context.quick {
        return Ok(cases);
    }
    let files = ["horse_48k.obj", "dragon_10k_open.obj"];
    if let (Some(horse), Some(dragon)) = (context.assets.mesh(files[0])?, context.assets.mesh(files[1])?) {
        cases.push(Case { name: "dragon and horse", meshes: [one(&horse), one(&dragon)], cells: 128 });
    }
    Ok(cases)
}

pub fn run(context: &Context) -> Result<Outcome> {
    let mut rows = Vec::new();
    for case in cases(context)? {
        compare(&case, if context.quick { 6 } else { 60 }, &mut rows)?;
    }
    Ok(Outcome { rows, ..Outcome::default() })
}

fn compare(case: &Case, poses: usize, rows: &mut Vec<Row>) -> Result<()> {
    let options = CookOptions { resolution: Resolution::Cells(case.cells), ..CookOptions::default() };
    let (cook, shapes) = of_wall(|| -> Result<Vec<Shape>> {
        case.meshes.iter().map(|m| Shape::cook(m, &options, &Progress::none())).collect()
    });
    let shapes = shapes?;
    let (plant, trees) = of_wall(|| -> Result<Vec<VoxTree>> {
        let tree = |mesh: &TriMesh| {
            VoxTree::from_mesh(mesh, &TreeOptions::new(1.0 / f64::from(case.cells)), &Progress::none())
        };
        case.meshes.iter().map(tree).collect()
    });
    let trees = trees?;
    let (build, hulls) = of_wall(|| -> Result<Vec<_>> { case.meshes.iter().map(hierarchy).collect() });
    let hulls = hulls?;
    let peers = [Parry::new(&case.meshes[0]), Parry::new(&case.meshes[1])];
    // Distances by hulls and by parry3d, microseconds.
    let mut distances = [const { Vec::new() }; 2];
    let mut parry_error: f64 = 0.0;
    let still = Pose::identity();
    let mut random = Random::new(20);
    let exact = HullQuery { max_separation: f64::INFINITY, tolerance: 0.0 };
    let mut scratch = (contact::Workspace::new(), voxtree::Workspace::new(), HullWorkspace::new());
    // Times in the order: field, trees, hulls exact, hulls at 0.4% and 2.5%.
    let (mut times, mut counts) = ([const { Vec::new() }; 5], [0usize; 5]);
    let (mut field_error, mut trees_early) = (Vec::new(), Vec::new());
    for i in 0..poses {
        let direction = Vec3::from_fn(|_, _| random.next() - 0.5).normalize();
        let turn = random.rotation();
        let at = |reach: f64| Pose::from_parts((direction * reach).into(), turn);
        // From outside until the surfaces meet.
        let mut reach = 2.0;
        for _ in 0..500 {
            let pose = at(reach);
            let bodies = [(&hulls[0], &still), (&hulls[1], &pose)];
            let apart = hull_distance(bodies, &exact, &mut scratch.2)?.map_or(0.0, |f| f.0);
            if apart < 1e-6 {
                break;
            }
            reach -= apart;
        }
        // 1% deep, and 1% apart for the distances.
        let (deep, apart) = (at(reach - 0.01), at(reach + 0.01));
        let query = Query { roles: Roles::ShellOfB, coverage: Coverage::Samples, ..Query::default() };
        let (a, b) = (shapes[0].geometry(), shapes[1].geometry());
        let mut note = |k: usize, seconds: f64, count: usize| {
            // The first pose warms up.
            if i > 0 {
                times[k].push(seconds * 1e6);
                counts[k] += count;
            }
        };
        let (seconds, found) =
            of_thread(|| contact::contacts(a, &still, b, &deep, &query, &mut scratch.0).map(<[_]>::len));
        note(0, seconds, found?);
        let (placed_a, placed_b) = (Placed::new(&trees[0], still), Placed::new(&trees[1], deep));
        let (seconds, found) = of_thread(|| {
            voxtree::query(&placed_a, &placed_b, &QueryOptions::default(), &mut scratch.1).map(<[_]>::len)
        });
        note(1, seconds, found?);
        for (k, tolerance) in [0.0, 0.004, 0.025].into_iter().enumerate() {
            let query = HullQuery { max_separation: 0.0, tolerance };
            let bodies = [(&hulls[0], &still), (&hulls[1], &deep)];
            let (seconds, found) = of_thread(|| hull_contacts(bodies, &query, &mut scratch.2).map(<[_]>::len));
            note(2 + k, seconds, found?);
        }
        let bodies = [(&hulls[0], &still), (&hulls[1], &apart)];
        let (seconds, found) = of_thread(|| hull_distance(bodies, &exact, &mut scratch.2));
        let true_distance = found?.map_or(0.0, |f| f.0);
        if let ([Some(a), Some(b)], true) = (&peers, i < PEER_POSES) {
            distances[0].push(seconds * 1e6);
            let (seconds, found) = of_thread(|| a.apart(b, &apart));
            if let Some(found) = found {
                distances[1].push(seconds * 1e6);
                parry_error = parry_error.max((f64::from(found) - true_distance).abs());
            }
        }
        let by_field = contact::distance(a, &still, b, &apart, Roles::ShellOfB, f64::INFINITY, &mut scratch.0)?;
        if let Some(found) = by_field {
            field_error.push((found.separation - true_distance).abs());
        }
        // The trees touch from this distance on.
        let mut early = 0.0;
        for step in 0..40 {
            let gap = 0.06 * (1.0 - f64::from(step) / 40.0);
            let placed = Placed::new(&trees[1], at(reach + gap));
            if !voxtree::query(&placed_a, &placed, &QueryOptions::default(), &mut scratch.1)?.is_empty() {
                early = gap;
                break;
            }
        }
        trees_early.push(early);
    }
    let mean = |k: usize| counts[k] as f64 / (poses - 1) as f64;
    let memory = |shape: &Shape| {
        shape.field.as_deref().and_then(|f| f.gridded()).map_or(0, |g| g.bytes)
            + shape.shell.as_deref().map_or(0, |s| s.memory_bytes())
    };
    let ways = [
        ("pointshell in field", cook, shapes.iter().map(memory).sum::<u64>(), quantile(&mut field_error, 0.9)),
        ("voxtrees", plant, trees.iter().map(VoxTree::bytes).sum(), quantile(&mut trees_early, 0.5)),
        ("hulls, exact", build, hulls.iter().map(|h| h.bytes()).sum(), 0.0),
        ("hulls, 0.4%", build, 0, 0.004),
        ("hulls, 2.5%", build, 0, 0.025),
    ];
    for (k, (way, making, bytes, error)) in ways.into_iter().enumerate() {
        let p50 = quantile(&mut times[k], 0.5);
        let p90 = quantile(&mut times[k], 0.9);
        rows.push(
            Row::new(format!("forms/{}/{way}/p50", case.name), p50, "us")
                .with("p90_us", p90)
                .with("contacts", mean(k))
                .with("making_s", making)
                .with("mb", bytes as f64 * 1e-6)
                .with("error_of_extent", error)
                .with("triangles", case.meshes.iter().map(|m| m.triangles.len()).sum::<usize>()),
        );
    }
    if !distances[1].is_empty() {
        let [ours, theirs] = distances.map(|mut times| quantile(&mut times, 0.5));
        rows.push(
            Row::new(format!("forms/{}/distance/p50", case.name), ours, "us")
                .peer(parry::NAME, theirs)
                .with("largest_difference", parry_error),
        );
    }
    rows.push(Row::from(json!({ "row": format!("forms/{}", case.name), "cells": case.cells, "poses": poses })));
    Ok(())
}
