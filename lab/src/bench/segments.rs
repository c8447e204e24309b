//! `voxshell-lab bench segments`: Xu & Barbič 2014, table 2, compared with rays of parry3d and embree against the mesh
//! and of OpenVDB through a level set. A million pairs of points, uniform in a cube of 1.5 times the mesh's largest
//! extent.
//!
//! Times are the minimum of several runs of one thread's clock, which alternate with the peers' runs. A row gives the
//! number of segments that cross the surface. The peers do not know the inside, so they report exactly those.

use voxshell::ccd::segment::{crossings, first_fraction, first_fractions, Segment, Start};
use voxshell::field::Field;
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{Bvh, TriMesh};
use voxshell::Result;

use super::parry::{self, Parry};
use super::peers::{Files, Peer, Program};
use super::progress::Steps;
use super::random::Random;
use super::{fields, Setup};
use voxshell_lab::clock::{of_thread, Clock, Timing};
use voxshell_lab::row::Row;

pub const COUNT: usize = 1_000_000;
const SIDE: f64 = 1.5;
/// Resolution from which a dense grid exceeds the memory of many machines.
const FULL_GRID: u32 = 1024;

/// Target for the million at every resolution, seconds.
const TARGET: f64 = 0.12;
/// Largest time of single segments over that of a batch.
const SINGLY: f64 = 1.5;

struct Bench {
    segments: Vec<Segment>,
    parry: Option<(Parry, Vec<parry3d::query::Ray>)>,
    openvdb: Option<Program>,
    embree: Option<Program>,
    /// Number of crossings by rays of the library in f64.
    mesh_hits: usize,
    clock: Clock,
    rows: Vec<Row>,
}

pub fn rows(mesh: &TriMesh, setup: &Setup) -> Result<Vec<Row>> {
    let resolutions = setup.resolutions(&[128, 256, 512, 1024]);
    let steps = Steps::new(2 * resolutions.len() + 1);
    let segments = segments(mesh.bounds().center(), setup.segments);
    let files = Files::new(mesh)?;
    files.write_segments(segments.iter().map(|s| [s.from, s.to]))?;
    steps.next("peers");
    let program = |peer| -> Result<Option<Program>> {
        let mut program = setup.program(peer, &files)?;
        if let Some(program) = &mut program {
            program.ask("mesh vertices triangles")?;
            program.ask("segments segments")?;
        }
        Ok(program)
    };
    let parry = setup.wants(Peer::Parry).then(|| Parry::new(mesh)).flatten();
    let bvh = Bvh::build(mesh);
    let mut bench = Bench {
        parry: parry.map(|p| (p, Parry::rays(&segments))),
        openvdb: program(Peer::Openvdb)?,
        embree: program(Peer::Embree)?,
        mesh_hits: segments.iter().filter(|s| bvh.any_intersection(s.from, s.to - s.from, 1.0)).count(),
        segments,
        clock: setup.clock,
        rows: Vec::new(),
    };
    let mut in_bricks = Vec::new();
    for &cells in &resolutions {
        let options = fields::options(cells);
        if cells < FULL_GRID {
            steps.next(&format!("{cells}"));
            let field = Field::Dense(voxshell::cook::dense_field(mesh, &options, &Progress::none())?);
            bench.against(&field, cells, "")?;
        }
        steps.next(&format!("{cells}/bricks"));
        let field = Field::Bricks(voxshell::cook::brick_field(mesh, &options, &Progress::none())?);
        in_bricks.push(bench.against(&field, cells, "/bricks")?);
    }
    if let ([first, .., last], [coarse, .., fine]) = (&in_bricks[..], &resolutions[..]) {
        let row = Row::new(format!("segments/bricks/growth_{coarse}_to_{fine}"), last / first, "ratio");
        bench.rows.push(row.target((*coarse == 128 && *fine == 1024).then_some(2.0)));
    }
    Ok(bench.rows)
}

impl Bench {
    /// Adds the rows of a field with this number of cells; returns the seconds of the batch.
    fn against(&mut self, field: &Field, cells: u32, storage: &str) -> Result<f64> {
        let segments = &self.segments;
        let mut fractions = vec![None; segments.len()];
        let mut batch = || Ok(of_thread(|| first_fractions(field, segments, 0.0, Start::Hit, &mut fractions)).0);
        let mut singly = vec![None; segments.len()];
        let mut one = || {
            let each = || segments.iter().map(|s| first_fraction(field, s, 0.0, Start::Hit));
            Ok(of_thread(|| singly.iter_mut().zip(each()).for_each(|(to, t)| *to = t)).0)
        };
        let mut parry_hits = 0;
        let parry = &self.parry;
        let mut by_parry = || {
            let Some((shape, rays)) = parry else { return Ok(0.0) };
            let (seconds, hits) = of_thread(|| shape.cast(rays));
            parry_hits = hits;
            Ok(seconds)
        };
        if let Some(openvdb) = &mut self.openvdb {
            openvdb.ask(&format!("volume 1 {} 0 0 0", fields::options(cells).voxel_size))?;
        }
        let (mut openvdb_hits, mut embree_hits) = (0.0, 0.0);
        let mut by_openvdb = || cast(&mut self.openvdb, &mut openvdb_hits);
        let mut by_embree = || cast(&mut self.embree, &mut embree_hits);
        let [batch, one, by_parry, by_openvdb, by_embree] =
            self.clock.in_turns([&mut batch, &mut one, &mut by_parry, &mut by_openvdb, &mut by_embree])?;

        let crossed = segments.iter().zip(&fractions).filter(|(s, t)| match t {
            Some(0.0) => leaves_or_enters(field, s),
            other => other.is_some(),
        });
        let hits = crossed.count();
        let name = format!("segments/{cells}{storage}");
        let counted = |row: Row| row.with("segments", segments.len()).with("hits", hits);
        let ours = counted(Row::timed(&name, batch)).with("mesh_hits", self.mesh_hits);
        self.rows.push(ours.target(TARGET));
        let singly = Row::timed_ratio(format!("{name}/one_at_a_time/over_batch"), one, "batch", batch);
        self.rows.push(counted(singly).with("one_at_a_time_s", one.least).target(SINGLY));
        let mut over = |peer: &str, title: &str, seconds: Timing, peer_hits: f64, target: Option<f64>| {
            let row = Row::timed_ratio(format!("{name}/over_{peer}"), batch, title, seconds).target(target);
            self.rows.push(counted(row).with("peer_hits", peer_hits));
        };
        if self.parry.is_some() {
            over("parry", &format!("{} TriMesh::cast_local_ray", parry::NAME), by_parry, parry_hits as f64, None);
        }
        if let Some(openvdb) = &self.openvdb {
            let title = format!("{} LevelSetRayIntersector", openvdb.name);
            over("openvdb", &title, by_openvdb, openvdb_hits, Some(0.25));
        }
        if let Some(embree) = &self.embree {
            let title = format!("{} rtcIntersect1", embree.name);
            over("embree", &title, by_embree, embree_hits, Some(1.0));
        }
        Ok(batch.least)
    }
}

/// Returns true if a segment that starts inside meets the surface on its path.
fn leaves_or_enters(field: &Field, segment: &Segment) -> bool {
    let mut any = false;
    crossings(field, segment, 0.0, |_| any = true);
    any
}

fn cast(program: &mut Option<Program>, hits: &mut f64) -> Result<f64> {
    let Some(program) = program else { return Ok(0.0) };
    let answer = program.ask("cast")?;
    *hits = answer["hits"].as_f64().unwrap_or_default();
    Ok(answer["cpu"].as_f64().unwrap_or(f64::NAN))
}

pub fn segments(center: Vec3, count: usize) -> Vec<Segment> {
    let mut random = Random::new(2014);
    let mut point = || {
        let mut along = || random.next() - 0.5;
        center + Vec3::new(along(), along(), along()) * SIDE
    };
    (0..count).map(|_| Segment::new(point(), point())).collect()
}
