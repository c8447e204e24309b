//! From a mesh to the hierarchy.

use rayon::prelude::*;

use super::hull::{hull_of, Cover, Hull};
use super::lattice::{Lattice, Point};
use super::levels::{simplify, Snapshot};
use super::measure::{deviations, reach, support_areas};
use super::types::{HullFace, HullHierarchy, Level, LevelSurface, Node, SimplifyOptions, FEW_TRIANGLES};
use crate::{rotated, Bvh, TriMesh};
use voxshell_base::math::{Aabb, Progress, Vec3};
use voxshell_base::memory::{
    boxed_item, filled, filled_with, map_with_capacity, set_with_capacity, with_capacity, CollectGuarded, GrowGuarded,
    Map, ParCollectGuarded, RoomGuarded, Set,
};
use voxshell_base::{Error, Result};

const NONE: u32 = u32::MAX;

/// Distances below this part of the extent are not bounded more closely.
const SMALL: f64 = 1e-6;

/// A node before the nodes have their final order.
struct Draft {
    level: u32,
    children: Vec<u32>,
    hull: Hull,
    /// Support area of each vertex of the hull.
    areas: Vec<f64>,
    deviation: f64,
    reach: f64,
    detail: f64,
    /// Piece of level 0, or `NONE`.
    piece: u32,
}

impl HullHierarchy {
    /// Makes the levels of detail of the surface of a mesh.
    ///
    /// Vertices move to the nearest point of a lattice of 2⁴⁰ steps across the mesh and merge with equal ones; triangles
    /// with coinciding corners, and repeats, are dropped. The surface may be open, non-manifold or self-intersecting:
    /// such edges stay. A mesh whose signed volume is negative faces inward and is turned. The same mesh gives the same bytes
    /// on any number of threads.
    ///
    /// # Errors
    /// `InvalidMesh` as [`TriMesh::new`] and [`TriMesh::check_extent`], for more than `options.max_triangles` triangles,
    /// and if no triangle has three different corners; `InvalidArgument` for options; `Cancelled`; `OutOfMemory`.
    pub fn build(mesh: &TriMesh, options: &SimplifyOptions, progress: &Progress) -> Result<Self> {
        options.check()?;
        mesh.check()?;
        mesh.check_extent()?;
        if mesh.triangles.len() > options.max_triangles {
            return Err(Error::InvalidMesh(format!(
                "it has {} triangles; expected at most {} for a hierarchy of hulls",
                mesh.triangles.len(),
                options.max_triangles
            )));
        }
        progress.guard("making a hierarchy of hulls", || build(mesh, options, progress))
    }
}

/// Returns the points on the lattice, each once, and the triangles with three different corners, each once.
fn snapped(mesh: &TriMesh, lattice: &Lattice) -> Result<(Vec<Point>, Vec<[u32; 3]>)> {
    let mut numbers: Map<Point, u32> = map_with_capacity(mesh.vertices.len());
    let mut seen: Set<[u32; 3]> = set_with_capacity(mesh.triangles.len());
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    for t in &mesh.triangles {
        let corners = t.map(|v| lattice.snap(&mesh.vertices[v as usize]));
        if corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0] {
            continue;
        }
        let face = corners.map(|p| {
            numbers.reserve_guarded(1);
            *numbers.entry(p).or_insert_with(|| {
                points.push_guarded(p);
                points.len() as u32 - 1
            })
        });
        if seen.insert(rotated(face)) {
            faces.push_guarded(face);
        }
    }
    if faces.is_empty() {
        let count = mesh.triangles.len();
        return Err(Error::InvalidMesh(format!("none of its {count} triangles has three different corners")));
    }
    Ok((points, faces))
}

/// Returns whether the signed volume of the surface is negative.
fn faces_inward(points: &[Point], faces: &[[u32; 3]], lattice: &Lattice) -> bool {
    let volume = |f: &[u32; 3]| {
        let [a, b, c] = f.map(|v| lattice.local(&points[v as usize]));
        a.dot(&b.cross(&c))
    };
    faces.iter().map(volume).sum::<f64>() < 0.0
}

fn local_mesh(points: &[Point], triangles: &[[u32; 3]], lattice: &Lattice) -> TriMesh {
    TriMesh {
        vertices: points.iter().map(|p| lattice.local(p).into()).collect_guarded(),
        triangles: triangles.iter().copied().collect_guarded(),
    }
}

fn build(mesh: &TriMesh, options: &SimplifyOptions, progress: &Progress) -> Result<HullHierarchy> {
    let bounds = mesh.bounds();
    let extent = bounds.extents().max();
    let lattice = Lattice::new(&bounds);
    let (points, mut faces) = snapped(mesh, &lattice)?;
    if faces_inward(&points, &faces, &lattice) {
        faces.iter_mut().for_each(|f| f.swap(1, 2));
    }
    let (snapshots, first_pieces) = simplify(&points, &faces, progress)?;
    let original = local_mesh(&points, &faces, &lattice);
    let bvh = Bvh::build(&original);
    progress.report("measuring", 0.0)?;
    let depth = if options.contact_depth > 0.0 { options.contact_depth } else { 0.01 * extent };
    let areas = support_areas(&original, depth, progress)?;
    let mut drafts = Vec::new();
    let mut pieces = first_pieces.iter().copied().collect_guarded();
    // Pieces of a level are `drafts[base + i]`.
    let (mut base, mut bases) = (0, Vec::new());
    for (level, snapshot) in snapshots.iter().enumerate() {
        progress.report("measuring", level as f64 / snapshots.len() as f64)?;
        let before = base;
        base = drafts.len();
        bases.push_guarded(base);
        if level > 0 {
            pieces.iter_mut().for_each(|p: &mut u32| *p = snapshot.parents[*p as usize]);
        }
        let of_level = Measured { level, snapshot, lattice: &lattice, points: &points, areas: &areas };
        let mut children: Vec<Vec<u32>> = filled_with(snapshot.piece_count(), Vec::new);
        for (i, &parent) in snapshot.parents.iter().enumerate() {
            children[parent as usize].push_guarded((before + i) as u32);
        }
        let errors = if level == 0 {
            filled(0.0, snapshot.piece_count())
        } else {
            of_level.errors(&original, &bvh, &pieces, SMALL * extent, progress)?
        };
        let own_vertices = vertices_by_piece(&faces, &pieces, snapshot.piece_count());
        let made: Vec<Draft> = children
            .into_par_iter()
            .enumerate()
            .map(|(i, children)| {
                progress.work(snapshot.piece(i).len() as u64)?;
                Ok::<_, Error>(of_level.draft(i, children, errors[i], &own_vertices, &drafts))
            })
            .try_collect_guarded()?;
        drafts.append_guarded(&mut { made });
    }
    let coarsest = (base as u32..drafts.len() as u32).collect_guarded();
    merge_hulls(&mut drafts, coarsest, snapshots.len() as u32, progress)?;
    let (mut made, places) = ordered(&drafts, &lattice);
    made.surfaces = snapshots
        .iter()
        .zip(&bases)
        .map(|(s, base)| LevelSurface {
            mesh: local_mesh(&s.points, &s.triangles, &lattice),
            nodes: (0..s.piece_count())
                .flat_map(|i| std::iter::repeat_n(places[base + i], s.piece(i).len()))
                .collect_guarded(),
        })
        .collect_guarded();
    made.levels = levels(&drafts, &snapshots, &lattice);
    piece_triangles(&mut made, &drafts, &first_pieces);
    let few = |n: &Node| n.triangles.len() <= FEW_TRIANGLES;
    let piece_bvh = |node: &Node| {
        if few(node) {
            return None;
        }
        let own = &made.piece_triangles[node.triangles.start as usize..node.triangles.end as usize];
        let vertices = own.iter().flat_map(|&t| original.corners(t as usize)).collect_guarded();
        let triangles = (0..own.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect_guarded();
        Some(boxed_item(Bvh::build(&TriMesh { vertices, triangles })))
    };
    made.pieces = made.nodes.iter().map(piece_bvh).collect_guarded();
    (made.mesh, made.bvh) = (original, bvh);
    progress.report("measuring", 1.0)?;
    Ok(made)
}

/// Vertices of the original surface by piece: those of piece i are `.1[.0[i]..0[i + 1]]`.
fn vertices_by_piece(faces: &[[u32; 3]], pieces: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = with_capacity(3 * faces.len());
    for (t, &piece) in faces.iter().zip(pieces) {
        pairs.extend_guarded(t.iter().map(|&v| (piece, v)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut starts = filled(0, count + 1);
    pairs.iter().for_each(|p| starts[p.0 as usize + 1] += 1);
    (0..count).for_each(|i| starts[i + 1] += starts[i]);
    (starts, pairs.iter().map(|p| p.1).collect_guarded())
}

struct Measured<'a> {
    level: usize,
    snapshot: &'a Snapshot,
    lattice: &'a Lattice,
    /// Vertices of the original surface, and the support area of each.
    points: &'a [Point],
    areas: &'a [f64],
}

impl Measured<'_> {
    /// Returns the deviation of each piece.
    fn errors(&self, original: &TriMesh, bvh: &Bvh, pieces: &[u32], small: f64, p: &Progress) -> Result<Vec<f64>> {
        let s = self.snapshot;
        let simplified = local_mesh(&s.points, &s.triangles, self.lattice);
        let own = Bvh::build(&simplified);
        let mut errors = filled(0.0f64, s.piece_count());
        for (e, &piece) in deviations(original, &simplified, &own, small, p)?.iter().zip(pieces) {
            errors[piece as usize] = errors[piece as usize].max(*e);
        }
        let back = deviations(&simplified, original, bvh, small, p)?;
        for (i, error) in errors.iter_mut().enumerate() {
            let own = &back[s.starts[i] as usize..s.starts[i + 1] as usize];
            // Rounding of the distances.
            *error = own.iter().copied().fold(*error, f64::max) * (1.0 + 1e-12) + self.lattice.step;
        }
        Ok(errors)
    }

    fn draft(&self, i: usize, children: Vec<u32>, deviation: f64, own: &(Vec<u32>, Vec<u32>), all: &[Draft]) -> Draft {
        let s = self.snapshot;
        let mut used: Vec<u32> = s.piece(i).iter().flatten().copied().collect_guarded();
        used.sort_unstable();
        used.dedup();
        let points: Vec<Point> = used.iter().map(|&v| s.points[v as usize]).collect_guarded();
        let place = |v: u32| used.binary_search(&v).unwrap_or(0) as u32;
        let surface: Vec<[u32; 3]> = s.piece(i).iter().map(|t| t.map(place)).collect_guarded();
        let hull = hull_of(&points, &surface);
        let local: Vec<Vec3> = hull.points.iter().map(|p| self.lattice.local(p)).collect_guarded();
        let vertices = &own.1[own.0[i] as usize..own.0[i + 1] as usize];
        let mut by_point = filled(0.0f64, points.len());
        for &v in vertices {
            if let Ok(at) = used.binary_search(&s.representatives[v as usize]) {
                by_point[at] = by_point[at].max(self.areas[v as usize]);
            }
        }
        let below = children.iter().flat_map(|&c| all[c as usize].hull.points.iter().copied());
        let reach = match self.level {
            0 => 0.0,
            _ => reach(&hull, vertices.iter().map(|&v| self.points[v as usize]).chain(below), self.lattice, &local),
        };
        Draft {
            level: self.level as u32,
            areas: hull.sources.iter().map(|&v| by_point[v as usize]).collect_guarded(),
            piece: if self.level == 0 { i as u32 } else { NONE },
            detail: s.longest * self.lattice.step,
            children,
            hull,
            deviation,
            reach,
        }
    }
}

/// Completes the hierarchy: merges hulls in pairs, of neighbours, up to one.
fn merge_hulls(drafts: &mut Vec<Draft>, mut nodes: Vec<u32>, first_level: u32, progress: &Progress) -> Result<()> {
    let centers: Vec<[i64; 3]> = drafts
        .iter()
        .map(|d| {
            let b = d.hull.points.iter().fold([[i64::MAX; 3], [i64::MIN; 3]], |b, p| {
                [[0, 1, 2].map(|k| b[0][k].min(p[k])), [0, 1, 2].map(|k| b[1][k].max(p[k]))]
            });
            [0, 1, 2].map(|k| b[0][k] + b[1][k])
        })
        .collect_guarded();
    if nodes.len() > 1 {
        merged(drafts, &mut nodes, &centers, first_level, progress)?;
    }
    Ok(())
}

/// Returns the node that merges `nodes`, and the number of levels below it.
fn merged(all: &mut Vec<Draft>, nodes: &mut [u32], centers: &[Point], level: u32, p: &Progress) -> Result<(u32, u32)> {
    if let [only] = nodes {
        return Ok((*only, 0));
    }
    let spans = [0, 1, 2].map(|k| {
        let of = nodes.iter().map(|&n| centers[n as usize][k]);
        of.clone().max().unwrap_or(0) - of.min().unwrap_or(0)
    });
    let axis = (0..3).max_by_key(|&k| (spans[k], std::cmp::Reverse(k))).unwrap_or(0);
    nodes.sort_unstable_by_key(|&n| (centers[n as usize][axis], n));
    let (left, right) = nodes.split_at_mut(nodes.len() / 2);
    let (a, below_a) = merged(all, left, centers, level, p)?;
    let (b, below_b) = merged(all, right, centers, level, p)?;
    let below = below_a.max(below_b);
    let mut points: Vec<Point> = all[a as usize].hull.points.iter().copied().collect_guarded();
    points.extend_guarded(all[b as usize].hull.points.iter().copied());
    points.sort_unstable();
    points.dedup();
    p.work(points.len() as u64)?;
    let hull = hull_of(&points, &[]);
    all.push_guarded(Draft {
        level: level + below,
        children: vec![a, b],
        areas: filled(0.0, hull.points.len()),
        hull,
        deviation: f64::INFINITY,
        reach: all[a as usize].reach.max(all[b as usize].reach),
        detail: f64::INFINITY,
        piece: NONE,
    });
    Ok((all.len() as u32 - 1, below + 1))
}

/// Puts the nodes in order, the root first and the children of each node side by side. Returns the place of each draft
/// too.
fn ordered(drafts: &[Draft], lattice: &Lattice) -> (HullHierarchy, Vec<u32>) {
    let mut order = vec![drafts.len() as u32 - 1];
    let mut made = HullHierarchy {
        lattice: *lattice,
        nodes: with_capacity(drafts.len()),
        levels: Vec::new(),
        vertices: Vec::new(),
        areas: Vec::new(),
        faces: Vec::new(),
        fans: Vec::new(),
        fan_starts: vec![0],
        surfaces: Vec::new(),
        piece_triangles: Vec::new(),
        mesh: TriMesh::default(),
        bvh: Bvh::build(&TriMesh::default()),
        pieces: Vec::new(),
    };
    let mut parents = vec![NONE];
    let mut next = 0;
    while next < order.len() {
        let draft = &drafts[order[next] as usize];
        let children = order.len() as u32..(order.len() + draft.children.len()) as u32;
        order.extend_guarded(draft.children.iter().copied());
        parents.resize_guarded(order.len(), next as u32);
        let (vertices, faces) = (made.vertices.len() as u32, made.faces.len() as u32);
        made.vertices.extend_guarded(draft.hull.points.iter().map(|p| lattice.local(p)));
        made.areas.extend_guarded(draft.areas.iter().copied());
        let local = &made.vertices[vertices as usize..];
        let mut counts: Vec<u32> = filled(0, local.len());
        for f in &draft.hull.faces {
            let [a, b, c] = f.corners.map(|v| local[v as usize]);
            let normal = (b - a).cross(&(c - a)).normalize();
            let (corners, offset) = (f.corners, normal.dot(&a));
            made.faces.push_guarded(HullFace { corners, plane: f.plane, cover: f.cover, normal, offset });
            corners.iter().for_each(|&v| counts[v as usize] += 1);
        }
        let mut places = Vec::new();
        for count in &counts {
            let start = *made.fan_starts.last().unwrap_or(&0);
            places.push_guarded(start);
            made.fan_starts.push_guarded(start + count);
        }
        made.fans.resize_guarded(*made.fan_starts.last().unwrap_or(&0) as usize, 0);
        for (i, f) in draft.hull.faces.iter().enumerate() {
            for v in f.corners {
                made.fans[places[v as usize] as usize] = i as u32;
                places[v as usize] += 1;
            }
        }
        let bounds = Aabb::from_points(local.iter().map(|v| v.as_ref()));
        let center = bounds.center();
        made.nodes.push_guarded(Node {
            level: draft.level,
            parent: parents[next],
            children,
            vertices: vertices..made.vertices.len() as u32,
            faces: faces..made.faces.len() as u32,
            triangles: draft.piece..draft.piece,
            deviation: draft.deviation,
            reach: draft.reach,
            detail: draft.detail,
            center,
            radius: local.iter().map(|v| (v - center).norm()).fold(0.0, f64::max),
        });
        next += 1;
    }
    let mut places = filled(NONE, drafts.len());
    order.iter().enumerate().for_each(|(place, &draft)| places[draft as usize] = place as u32);
    (made, places)
}

fn levels(drafts: &[Draft], snapshots: &[Snapshot], lattice: &Lattice) -> Vec<Level> {
    let count = drafts.last().map_or(0, |root| root.level as usize + 1).max(snapshots.len());
    let mut levels: Vec<Level> = (0..count)
        .map(|i| {
            let snapshot = snapshots.get(i);
            let detail = snapshot.map_or(f64::INFINITY, |s| s.longest * lattice.step);
            let triangles = snapshot.map_or(0, |s| s.triangles.len() as u32);
            Level { hulls: 0, triangles, resolution: 1.0 / detail, deviation: 0.0, reach: 0.0, support_area: 0.0 }
        })
        .collect_guarded();
    for draft in drafts {
        let level = &mut levels[draft.level as usize];
        level.hulls += 1;
        level.triangles += if draft.deviation.is_infinite() { draft.hull.faces.len() as u32 } else { 0 };
        level.deviation = level.deviation.max(draft.deviation);
        level.reach = level.reach.max(draft.reach);
        level.support_area = draft.areas.iter().copied().fold(level.support_area, f64::max);
    }
    levels
}

/// Lists the triangles of the pieces of level 0, in the order of the nodes.
fn piece_triangles(made: &mut HullHierarchy, drafts: &[Draft], pieces: &[u32]) {
    let count = drafts.iter().filter(|d| d.piece != NONE).count();
    let mut lists: Vec<Vec<u32>> = filled_with(count, Vec::new);
    for (t, &piece) in pieces.iter().enumerate() {
        lists[piece as usize].push_guarded(t as u32);
    }
    for node in &mut made.nodes {
        let start = made.piece_triangles.len() as u32;
        if node.triangles.start != NONE {
            made.piece_triangles.extend_guarded(lists[node.triangles.start as usize].iter().copied());
        }
        node.triangles = start..made.piece_triangles.len() as u32;
    }
}

impl HullHierarchy {
    /// Returns whether the whole of a feature of a hull, spanned by up to three of its vertices, is surface.
    pub fn is_surface(&self, node: &Node, vertices: &[u32]) -> bool {
        let faces = self.faces_of(node);
        let full = |v: u32| {
            let fan = self.fan(node, v).iter().map(|&f| &faces[f as usize]);
            fan.filter(|f| f.cover == Cover::Full).map(|f| f.plane)
        };
        match vertices {
            [] => false,
            [first, others @ ..] => full(*first).any(|plane| others.iter().all(|&v| full(v).any(|p| p == plane))),
        }
    }
}
