//! Contacts of voxel pairs, for the impulses of Ruffaldi et al. 2008, section 3.3.1.

use voxshell_base::memory::GrowGuarded;
use voxshell_contact::Contact;
use voxshell_voxtree::VoxelPair;

/// Replaces `out` by one contact for each pair of voxels: its point is the middle between the centres, its normal
/// [`VoxelPair::direction`], its separation the depth with a minus sign, its feature the number of A's voxel. Pairs of nodes, which
/// a coarse answer has, are contacts as well: a coarse answer holds bodies apart where the complete one may not.
pub fn voxel_contacts(pairs: &[VoxelPair], out: &mut Vec<Contact>) {
    out.clear();
    out.extend_guarded(pairs.iter().map(|pair| {
        let normal = pair.direction();
        let (middle, half) = ((pair.center_a + pair.center_b) * 0.5, normal * (0.5 * pair.depth));
        Contact {
            point_on_a: middle + half,
            point_on_b: middle - half,
            normal,
            separation: -pair.depth,
            toi: 0.0,
            feature: pair.cell_a,
            segment: 0,
        }
    }));
}
