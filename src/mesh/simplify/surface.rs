//! The surface while it is simplified: triangles on the lattice, the convex patch of each, and their neighbours.

use super::lattice::{side, Point};
use voxshell_base::memory::{filled, filled_with, CollectGuarded, GrowGuarded};

/// Marks triangles that were removed, in [`Surface::faces`].
pub const REMOVED: u32 = u32::MAX;

pub struct Surface {
    pub points: Vec<Point>,
    /// Corners; [`REMOVED`] thrice for a triangle that was removed.
    pub faces: Vec<[u32; 3]>,
    /// Number of the patch in which each triangle began; [`Surface::patch_of`] follows the merges.
    pub patches: Vec<u32>,
    /// Triangles at each vertex.
    pub fans: Vec<Vec<u32>>,
    /// Vertices that do not move: on open or non-manifold edges.
    pub is_fixed: Vec<bool>,
    /// Triangles of each patch; those of merged patches are with the patch that remains. May contain removed ones.
    pub members: Vec<Vec<u32>>,
    /// The patch with which each was merged; itself if it remains.
    merged: Vec<u32>,
    pub patch_count: usize,
    pub face_count: usize,
    /// The vertex onto which each vertex was collapsed; itself if it remains.
    collapsed: Vec<u32>,
}

/// Returns the representative in a forest of parents, and shortens the path to it.
fn root(parents: &mut [u32], mut i: u32) -> u32 {
    while parents[i as usize] != i {
        let next = parents[parents[i as usize] as usize];
        parents[i as usize] = next;
        i = next;
    }
    i
}

impl Surface {
    /// `faces` have three different corners with different coordinates.
    pub fn new(points: Vec<Point>, faces: Vec<[u32; 3]>) -> Self {
        let mut fans: Vec<Vec<u32>> = filled_with(points.len(), Vec::new);
        for (f, corners) in faces.iter().enumerate() {
            corners.iter().for_each(|&v| fans[v as usize].push_guarded(f as u32));
        }
        let mut surface = Self {
            collapsed: (0..points.len() as u32).collect_guarded(),
            is_fixed: filled(false, points.len()),
            patches: filled(REMOVED, faces.len()),
            members: Vec::new(),
            merged: Vec::new(),
            patch_count: 0,
            face_count: faces.len(),
            points,
            faces,
            fans,
        };
        surface.find_fixed();
        surface
    }

    /// Marks the vertices at which the triangles do not form one closed fan.
    fn find_fixed(&mut self) {
        for v in 0..self.points.len() as u32 {
            let fan = &self.fans[v as usize];
            // The edges opposite of v, from their first to their second end.
            let next = |f: u32| {
                let c = self.faces[f as usize];
                let i = c.iter().position(|&x| x == v).unwrap_or(0);
                (c[(i + 1) % 3], c[(i + 2) % 3])
            };
            let mut closed = !fan.is_empty();
            if let Some(&start) = fan.first() {
                let (first, mut at) = next(start);
                let mut walked = 1;
                while closed && at != first {
                    let mut following = fan.iter().filter(|&&f| next(f).0 == at);
                    match (following.next(), following.next()) {
                        (Some(&f), None) if walked < fan.len() => (at, walked) = (next(f).1, walked + 1),
                        _ => closed = false,
                    }
                }
                closed &= walked == fan.len();
            }
            self.is_fixed[v as usize] = !closed;
        }
    }

    pub fn is_alive(&self, face: u32) -> bool {
        self.faces[face as usize][0] != REMOVED
    }

    pub fn corners(&self, face: u32) -> [&Point; 3] {
        self.faces[face as usize].map(|v| &self.points[v as usize])
    }

    /// Returns on which side of the plane of a triangle a point lies.
    pub fn side_of(&self, face: u32, p: &Point) -> i8 {
        side(self.corners(face), p)
    }

    /// Returns the triangle on the other side of the edge from `from` to `to` of a triangle, if the edge has exactly two
    /// triangles and they are wound alike.
    pub fn across(&self, face: u32, from: u32, to: u32) -> Option<u32> {
        let mut others =
            self.fans[from as usize].iter().filter(|&&f| f != face && self.faces[f as usize].contains(&to));
        let (other, none) = (*others.next()?, others.next());
        let c = self.faces[other as usize];
        (none.is_none() && (0..3).any(|i| c[i] == to && c[(i + 1) % 3] == from)).then_some(other)
    }

    /// Starts a patch of one triangle and returns its number.
    pub fn begin_patch(&mut self, face: u32) -> u32 {
        let patch = self.members.len() as u32;
        self.members.push_guarded(vec![face]);
        self.merged.push_guarded(patch);
        self.patches[face as usize] = patch;
        self.patch_count += 1;
        patch
    }

    pub fn patch_of(&mut self, face: u32) -> u32 {
        let patch = self.patches[face as usize];
        root(&mut self.merged, patch)
    }

    /// Returns the patch that a patch was merged with in the end.
    pub fn remaining(&mut self, patch: u32) -> u32 {
        root(&mut self.merged, patch)
    }

    /// Returns the vertex onto which a vertex was collapsed in the end.
    pub fn representative(&mut self, vertex: u32) -> u32 {
        root(&mut self.collapsed, vertex)
    }

    /// Removes dead triangles from the list of a patch and returns it.
    pub fn alive_members(&mut self, patch: u32) -> &[u32] {
        let faces = &self.faces;
        let members = &mut self.members[patch as usize];
        members.retain(|&f| faces[f as usize][0] != REMOVED);
        members
    }

    /// Merges the patch `from` into `into`.
    pub fn merge(&mut self, from: u32, into: u32) {
        let mut moved = std::mem::take(&mut self.members[from as usize]);
        self.members[into as usize].append_guarded(&mut moved);
        self.merged[from as usize] = into;
        self.patch_count -= 1;
    }

    pub fn remove_face(&mut self, face: u32) {
        for v in self.faces[face as usize] {
            self.fans[v as usize].retain(|&f| f != face);
        }
        self.faces[face as usize] = [REMOVED; 3];
        self.face_count -= 1;
    }

    /// Moves all triangles of the vertex `from` to the vertex `to`.
    pub fn move_fan(&mut self, from: u32, to: u32) {
        let moved = std::mem::take(&mut self.fans[from as usize]);
        for &f in &moved {
            self.faces[f as usize] = self.faces[f as usize].map(|v| if v == from { to } else { v });
        }
        self.fans[to as usize].extend_guarded(moved);
        self.collapsed[from as usize] = to;
    }

    /// Returns the vertices next to a vertex, ascending.
    pub fn ring(&self, v: u32, out: &mut Vec<u32>) {
        out.clear();
        for &f in &self.fans[v as usize] {
            out.extend_guarded(self.faces[f as usize].into_iter().filter(|&x| x != v));
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Returns the corners of the triangles of a list, ascending and without repeats.
    pub fn vertices_of(&self, faces: &[u32], out: &mut Vec<u32>) {
        out.clear();
        out.extend_guarded(faces.iter().flat_map(|&f| self.faces[f as usize]));
        out.sort_unstable();
        out.dedup();
    }

    /// Returns a copy of the triangles that remain.
    pub fn alive_faces(&self) -> Vec<u32> {
        (0..self.faces.len() as u32).filter(|&f| self.is_alive(f)).collect_guarded()
    }
}
