//! Files of trees, and impulses at voxel pairs.

use support::container;
use voxshell::asset::{self, Shape};
use voxshell::field::Sphere;
use voxshell::math::{Mat3, Pose, Progress, Twist, Vec3};
use voxshell::response::{impulse, voxel_contacts, ImpulseSettings, Kinematics, Mobility};
use voxshell::voxtree::{query, Placed, QueryOptions, TreeOptions, VoxTree, Voxels, Workspace};

use super::make::BRANCHINGS;

fn trees() -> Vec<VoxTree> {
    let ball = Sphere::new(0.5).unwrap();
    BRANCHINGS
        .into_iter()
        .flat_map(|branching| [Voxels::Surface, Voxels::Solid].map(|voxels| (branching, voxels)))
        .map(|(branching, voxels)| {
            let normals = voxels == Voxels::Surface;
            let options = TreeOptions { branching, voxels, normals, ..TreeOptions::new(0.09) };
            VoxTree::from_field(&ball, &options, &Progress::none()).unwrap()
        })
        .collect()
}

#[test]
fn trees_are_the_same_after_a_file() {
    let folder = tempfile();
    for tree in trees() {
        assert_eq!(asset::tree_from_bytes(&asset::tree_to_bytes(&tree).unwrap()).unwrap(), tree);
        asset::save_tree(&tree, &folder).unwrap();
        assert_eq!(asset::load_tree(&folder).unwrap(), tree);
    }
    std::fs::remove_file(&folder).unwrap();
    assert!(asset::load_tree(&folder).is_err());
}

fn tempfile() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("voxshell-tree-{}.voxtree", std::process::id()))
}

#[test]
fn damaged_files_are_refused() {
    let tree = &trees()[0];
    let bytes = asset::tree_to_bytes(tree).unwrap();
    for i in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[i] ^= 1 << (i % 8);
        assert!(asset::tree_from_bytes(&damaged).is_err(), "byte {i}");
    }
    for length in (0..bytes.len()).step_by(13) {
        assert!(asset::tree_from_bytes(&bytes[..length]).is_err());
    }
    assert!(Shape::from_bytes(&bytes).err().unwrap().to_string().contains("VTRE"));
}

/// With good checksums: whatever is accepted can be queried.
#[test]
fn changed_numbers_are_refused_or_a_sound_tree() {
    let mut workspace = Workspace::new();
    let (mut refused, mut taken) = (0, 0);
    for tree in trees() {
        let bytes = asset::tree_to_bytes(&tree).unwrap();
        let sections = container::sections(&bytes).unwrap();
        let (_, data) = &sections[0];
        for i in 0..data.len().min(3000) {
            let mut changed = sections.clone();
            changed[0].1[i] = changed[0].1[i].wrapping_add(1 + (i % 200) as u8);
            match asset::tree_from_bytes(&container::file(&changed)) {
                Err(_) => refused += 1,
                Ok(other) => {
                    taken += 1;
                    let (a, b) =
                        (Placed::new(&tree, Pose::identity()), Placed::new(&other, Pose::translation(0.9, 0.0, 0.0)));
                    query(&a, &b, &QueryOptions::default(), &mut workspace).unwrap();
                }
            }
        }
    }
    assert!(refused > 1000 && taken > 100, "{refused} refused, {taken} taken");
}

#[test]
fn impulses_at_voxel_pairs_separate_two_balls() {
    let ball = Sphere::new(0.5).unwrap();
    let tree = VoxTree::from_field(&ball, &TreeOptions::new(0.05), &Progress::none()).unwrap();
    let mobility = Mobility { inverse_mass: 2.0, inverse_inertia: Mat3::identity() * 20.0 };
    let toward = Twist { linear: Vec3::new(-1.0, 0.3, 0.0), angular: Vec3::new(0.0, 0.0, 2.0) };
    let pose_b = Pose::translation(0.99, 0.0, 0.0);
    let (a, b) = (Placed::new(&tree, Pose::identity()), Placed { twist: toward, ..Placed::new(&tree, pose_b) });
    let mut workspace = Workspace::new();
    let pairs = query(&a, &b, &QueryOptions::default(), &mut workspace).unwrap();
    let mut contacts = Vec::new();
    voxel_contacts(pairs, &mut contacts);
    assert_eq!(contacts.len(), pairs.len());
    for (contact, pair) in contacts.iter().zip(pairs) {
        let gap = contact.point_on_b - contact.point_on_a;
        assert!((gap - contact.normal * contact.separation).norm() < 1e-12);
        assert_eq!(contact.separation, -pair.depth);
        assert!(contact.normal.x > 0.7);
    }
    let at_a = Kinematics::still(&Pose::identity());
    let at_b = Kinematics { pose: pose_b, center: b.center, twist: toward };
    let settings = ImpulseSettings { max_speed: 0.0, iterations: 1000, ..ImpulseSettings::new(1e-3) };
    let done = impulse(&contacts, (&at_a, &mobility), (&at_b, &mobility), &settings);
    assert!(done.resolved && done.count > 0);
    assert!((done.on_a.force + done.on_b.force).norm() < 1e-12);
    // No pair approaches afterwards: one impulse resolves most of its neighbours.
    let twist = |start: &Twist, load: &voxshell::math::Wrench| Twist {
        linear: start.linear + load.force * mobility.inverse_mass,
        angular: start.angular + mobility.inverse_inertia * load.torque,
    };
    let (of_a, of_b) = (twist(&at_a.twist, &done.on_a), twist(&toward, &done.on_b));
    for contact in &contacts {
        let p = (contact.point_on_a + contact.point_on_b) * 0.5;
        let parting = (of_b.at(&(p - at_b.center)) - of_a.at(&(p - at_a.center))).dot(&contact.normal);
        assert!(parting > -1e-6, "{parting}");
    }
    assert!((done.count as usize) < contacts.len(), "{} impulses at {} pairs", done.count, contacts.len());
}
