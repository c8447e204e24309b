//! Segments that are nodes of one level of the sphere tree, each with its deepest contact: the segmented traversal of
//! Sagardia et al. 2014, section 2.4.

use crate::search::Hit;
use voxshell_pointshell::SphereTree;

/// Returns the nodes of a level, or of the last level if the tree is not that deep.
fn nodes(tree: &SphereTree, level: u32) -> std::ops::Range<usize> {
    tree.level((level as usize).min(tree.depth() - 1))
}

/// Number of segments.
pub(crate) fn count(tree: &SphereTree, level: u32) -> u32 {
    tree.segments(level).len() as u32
}

/// Returns the segment of a sample.
pub(crate) fn of(tree: &SphereTree, level: u32, sample: u32) -> u32 {
    (tree.segments(level).partition_point(|&first| first <= sample) - 1) as u32
}

/// Keeps the deepest hit of each segment; on a tie the lowest sample. The hits are in ascending order of samples.
pub(crate) fn keep_deepest(tree: &SphereTree, level: u32, hits: &mut Vec<Hit>) {
    let range = nodes(tree, level);
    let (first, count) = (&tree.first_sample[range.clone()], &tree.sample_count[range]);
    let (mut segment, mut kept, mut end) = (0, 0, 0);
    for i in 0..hits.len() {
        let hit = hits[i];
        if kept == 0 || hit.sample >= end {
            while first[segment] + count[segment] <= hit.sample {
                segment += 1;
            }
            end = first[segment] + count[segment];
            hits[kept] = hit;
            kept += 1;
        } else if hit.phi < hits[kept - 1].phi {
            hits[kept - 1] = hit;
        }
    }
    hits.truncate(kept);
}
