//! Many balls: the spheres of a tree, or samples made visible. Exact ray tests with a tree of boxes.

use super::scene::Ball;
use super::trace::slab;
use voxshell::math::{Aabb, Vec3};

/// Largest number of balls in a leaf.
const LEAF: usize = 4;

/// The balls in the order of a binary tree of boxes: the children of a range are its halves.
pub(super) struct Balls {
    balls: Vec<Ball>,
    /// Node `i` has the children `2i + 1` and `2i + 2`.
    boxes: Vec<Aabb>,
}

impl Balls {
    pub fn new(balls: &[Ball]) -> Self {
        let mut balls = balls.to_vec();
        let mut boxes = Vec::new();
        build(&mut balls, 0, &mut boxes);
        Self { balls, boxes }
    }

    /// Returns the first entry of a ray into a ball, in front of its origin and before `limit`, and the ball.
    pub fn first_hit(&self, origin: &Vec3, direction: &Vec3, limit: f64) -> Option<(f64, &Ball)> {
        let inverse = direction.map(|d| 1.0 / d);
        let mut best = None;
        let mut nearest = limit;
        let mut open = vec![(0, 0..self.balls.len())];
        while let Some((node, range)) = open.pop() {
            if range.is_empty() || slab(&self.boxes[node], origin, &inverse, nearest).is_none() {
                continue;
            }
            if range.len() > LEAF {
                let middle = range.start + range.len() / 2;
                open.push((2 * node + 2, middle..range.end));
                open.push((2 * node + 1, range.start..middle));
                continue;
            }
            for ball in &self.balls[range] {
                let out = origin - ball.center;
                let along = out.dot(direction);
                let under = along * along - (out.norm_squared() - ball.radius * ball.radius);
                let t = -along - under.max(0.0).sqrt();
                if under > 0.0 && t > 0.0 && t < nearest {
                    (nearest, best) = (t, Some(ball));
                }
            }
        }
        best.map(|ball| (nearest, ball))
    }
}

/// Builds the tree: sorts a range by halves along its longest side.
fn build(balls: &mut [Ball], node: usize, boxes: &mut Vec<Aabb>) {
    let mut bounds = Aabb::empty();
    for ball in balls.iter() {
        bounds.include(&ball.center.add_scalar(ball.radius));
        bounds.include(&ball.center.add_scalar(-ball.radius));
    }
    if boxes.len() <= node {
        boxes.resize(node + 1, Aabb::empty());
    }
    boxes[node] = bounds;
    if balls.len() > LEAF {
        let axis = bounds.extents().imax();
        let middle = balls.len() / 2;
        balls.select_nth_unstable_by(middle, |a, b| a.center[axis].total_cmp(&b.center[axis]));
        let (left, right) = balls.split_at_mut(middle);
        build(left, 2 * node + 1, boxes);
        build(right, 2 * node + 2, boxes);
    }
}
