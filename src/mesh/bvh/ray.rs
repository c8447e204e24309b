//! Rays.

use super::node::{Node, Stack};
use super::Bvh;
use crate::triangle::{self, Ray};
use voxshell_base::math::Vec3;

/// Rounding of a point of a segment, as a fraction of the coordinates.
const SLACK: f64 = 1e-14;

impl Bvh {
    /// Returns the first triangle that a ray meets at a parameter in [0, `t_max`], and that parameter in lengths of
    /// `direction` (which need not be unit). From either side; watertight across shared edges and vertices.
    pub fn ray_first_hit(&self, origin: Vec3, direction: Vec3, t_max: f64) -> Option<(f64, u32)> {
        self.ray(origin, direction, f64::NEG_INFINITY, t_max)
    }

    /// Returns the first hit as [`Bvh::ray_first_hit`], but only at parameters greater than `after`: repeated with each
    /// result, it gives all of them in order, one triangle for each.
    pub fn ray_next_hit(&self, origin: Vec3, direction: Vec3, after: f64, t_max: f64) -> Option<(f64, u32)> {
        self.ray(origin, direction, after, t_max)
    }

    /// Returns whether a ray meets any triangle at a parameter in [0, `t_max`].
    pub fn any_intersection(&self, origin: Vec3, direction: Vec3, t_max: f64) -> bool {
        let ray = Ray::new(&origin, &direction).filter(|_| t_max >= 0.0);
        ray.is_some_and(|ray| self.any_hit(&ray, t_max, |node| ray.meets_box(&node.min, &node.max, t_max)))
    }

    /// Returns whether the segment from `p` to `p + along` meets any triangle. The shorter it is, the faster.
    pub fn meets_segment(&self, p: Vec3, along: Vec3) -> bool {
        let Some(ray) = Ray::new(&p, &along) else { return false };
        let q = p + along;
        let slack = Vec3::repeat(SLACK * (p.amax() + q.amax()));
        let (min, max) = (p.inf(&q) - slack, p.sup(&q) + slack);
        self.any_hit(&ray, 1.0, |node| {
            // All axes without a branch: most nodes that are looked at overlap along two.
            (0..3).fold(true, |overlaps, k| overlaps & (node.min[k] <= max[k]) & (node.max[k] >= min[k]))
        })
    }

    fn any_hit(&self, ray: &Ray, t_max: f64, enter: impl Fn(&Node) -> bool) -> bool {
        let mut stack = Stack::new();
        stack.push(0);
        while let Some(node) = stack.pop().and_then(|i| self.nodes.get(i as usize)) {
            if node.triangles().any(|k| ray.hit(&self.corners[k], t_max).is_some()) {
                return true;
            }
            let children = if node.count == 0 { node.first..node.first + 2 } else { 0..0 };
            children.filter(|&i| enter(&self.nodes[i as usize])).for_each(|i| stack.push(i));
        }
        false
    }

    /// Returns the crossings of a ray along +x from `p`: the number of exits minus the number of entries, which is the
    /// winding number of a closed surface; and the number of crossings.
    pub fn crossings_along_x(&self, p: Vec3) -> (i32, u32) {
        let (winding, count, _) = self.crossings_along_x_and_work(p, &[]);
        (winding, count)
    }

    /// Returns the same, with each triangle of the mesh counted as often as `weights` says, or once where that is
    /// empty; and the number of triangles looked at.
    #[inline]
    pub fn crossings_along_x_and_work(&self, p: Vec3, weights: &[u32]) -> (i32, u32, u64) {
        let (mut winding, mut count, mut work) = (0, 0, 1);
        let across = |n: &Node, k: usize| n.min[k] <= p[k] && p[k] <= n.max[k];
        self.visit_leaves(
            |n| across(n, 1) && across(n, 2) && p.x <= n.max[0],
            |k| {
                let sign = triangle::crossed_along_x(&self.corners[k], &p);
                work += 1;
                let weight = weights.get(self.id(k) as usize).map_or(1, |&w| w);
                winding += sign * weight as i32;
                count += sign.unsigned_abs() * weight;
            },
        );
        (winding, count, work)
    }

    fn ray(&self, origin: Vec3, direction: Vec3, after: f64, t_max: f64) -> Option<(f64, u32)> {
        let ray = Ray::new(&origin, &direction)?;
        if self.nodes.is_empty() || t_max.is_nan() || t_max < 0.0 {
            return None;
        }
        let (mut limit, mut best) = (t_max, None);
        let mut stack = Stack::new();
        stack.push(0);
        while let Some(i) = stack.pop() {
            let node = &self.nodes[i as usize];
            if !ray.meets_box(&node.min, &node.max, limit) {
                continue;
            }
            if node.count == 0 {
                // Push the child on the ray's entry side last, so that it is popped first.
                let (a, b) = (&self.nodes[node.first as usize], &self.nodes[node.first as usize + 1]);
                let along = |n: &Node| (0..3).map(|i| (n.min[i] + n.max[i]) * direction[i]).sum::<f64>();
                let swapped = along(b) < along(a);
                stack.push(node.first + u32::from(!swapped));
                stack.push(node.first + u32::from(swapped));
                continue;
            }
            for k in node.triangles() {
                if let Some(t) = ray.hit(&self.corners[k], limit).filter(|t| *t > after) {
                    // Ties go to the lower index, independent of the order of the tree.
                    if best.is_none() || t < limit || best.is_some_and(|(_, id)| self.id(k) < id) {
                        (limit, best) = (t, Some((t, self.id(k))));
                    }
                }
            }
        }
        best
    }
}
