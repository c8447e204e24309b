//! The convex hull of a piece of the surface, and which of its faces the surface covers.

use std::collections::HashMap;

use super::lattice::{difference, plane, Point};
use crate::hull::lattice_hull;
use voxshell_base::memory::{CollectGuarded, GrowGuarded, RoomGuarded, SliceGuarded};

/// How much of a face of a hull is surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// None: the face closes the hull behind the surface, or over a hollow.
    Virtual,
    /// The triangles of the surface in the face's plane do not fill the faces of the hull in it.
    Partial,
    /// All of it.
    Full,
}

/// A face of a hull.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Indices of the hull's vertices, counter-clockwise seen from outside.
    pub corners: [u32; 3],
    /// Number of its plane: faces in one plane have the same number.
    pub plane: u32,
    pub cover: Cover,
}

/// A convex hull on the lattice.
#[derive(Clone, Debug, Default)]
pub struct Hull {
    /// The corners of the faces; all points for points on a line.
    pub points: Vec<Point>,
    /// Index of each in the points from which the hull was made.
    pub sources: Vec<u32>,
    /// None for points on a line. One side of a polygon for points in one plane.
    pub faces: Vec<Face>,
    /// Whether the points are not in one plane.
    pub is_solid: bool,
}

/// Returns the hull of `points`. `surface`: the triangles of the surface that decide the cover of its faces, as indices
/// of `points`.
pub fn hull_of(points: &[Point], surface: &[[u32; 3]]) -> Hull {
    let (triangles, is_solid) = match lattice_hull(points.to_vec_guarded()) {
        Some(hull) => (hull.triangles, true),
        None => (polygon(points, surface), false),
    };
    let mut numbers = HashMap::new();
    let mut areas: Vec<[u128; 2]> = Vec::new();
    let mut faces = Vec::new();
    let mut corners: Vec<[u32; 3]> = Vec::new();
    for t in triangles {
        let Some((key, area)) = plane(&points[t[0] as usize], &points[t[1] as usize], &points[t[2] as usize]) else {
            continue;
        };
        numbers.reserve_guarded(1);
        let number = *numbers.entry(key).or_insert(areas.len() as u32);
        if number as usize == areas.len() {
            areas.push_guarded([0; 2]);
        }
        areas[number as usize][0] += area;
        corners.push_guarded(t);
        faces.push_guarded(Face { corners: t, plane: number, cover: Cover::Virtual });
    }
    for t in surface {
        let Some((key, area)) = plane(&points[t[0] as usize], &points[t[1] as usize], &points[t[2] as usize]) else {
            continue;
        };
        if let Some(&number) = numbers.get(&key) {
            areas[number as usize][1] += area;
        }
    }
    for face in &mut faces {
        let [whole, covered] = areas[face.plane as usize];
        face.cover = match covered {
            0 => Cover::Virtual,
            c if c == whole => Cover::Full,
            _ => Cover::Partial,
        };
    }
    let mut used: Vec<u32> = corners.iter().flatten().copied().collect_guarded();
    used.sort_unstable();
    used.dedup();
    if faces.is_empty() {
        used = (0..points.len() as u32).collect_guarded();
    }
    let renumbered = |v: u32| used.binary_search(&v).unwrap_or(0) as u32;
    faces.iter_mut().for_each(|f| f.corners = f.corners.map(renumbered));
    Hull { points: used.iter().map(|&v| points[v as usize]).collect_guarded(), sources: used, faces, is_solid }
}

/// Returns the triangles of the convex polygon around points of one plane, wound as the first triangle of the surface that
/// has an area; none for points on a line.
fn polygon(points: &[Point], surface: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let at = |i: u32| &points[i as usize];
    let own = surface.iter().find_map(|t| plane(at(t[0]), at(t[1]), at(t[2])));
    let Some(n) = own.map(|(key, _)| key).or_else(|| any_plane(points)) else { return Vec::new() };
    let axis = (0..3).max_by_key(|&k| (n[k].abs(), k)).unwrap_or(0);
    let (i, j) = if n[axis] > 0 { ((axis + 1) % 3, (axis + 2) % 3) } else { ((axis + 2) % 3, (axis + 1) % 3) };
    let mut order: Vec<u32> = (0..points.len() as u32).collect_guarded();
    let key = |&v: &u32| (at(v)[i], at(v)[j]);
    order.sort_unstable_by_key(|v| (key(v), *v));
    order.dedup_by_key(|v| key(v));
    let turn = |a: u32, b: u32, c: u32| {
        let (u, v) = (difference(at(b), at(a)), difference(at(c), at(a)));
        i128::from(u[i]) * i128::from(v[j]) - i128::from(u[j]) * i128::from(v[i])
    };
    let chain = |order: &mut dyn Iterator<Item = u32>| {
        let mut chain: Vec<u32> = Vec::new();
        for v in order {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], v) <= 0 {
                chain.pop();
            }
            chain.push_guarded(v);
        }
        chain.pop();
        chain
    };
    let mut outline = chain(&mut order.iter().copied());
    outline.append_guarded(&mut chain(&mut order.iter().rev().copied()));
    (2..outline.len()).map(|k| [outline[0], outline[k - 1], outline[k]]).collect_guarded()
}

/// Returns the plane of points of one plane; `None` if they are on a line.
fn any_plane(points: &[Point]) -> Option<[i128; 4]> {
    let a = points.first()?;
    let b = points.iter().max_by_key(|p| difference(p, a).map(|x| i128::from(x).abs()).iter().sum::<i128>())?;
    points.iter().find_map(|c| plane(a, b, c)).map(|p| p.0)
}
