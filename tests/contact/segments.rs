//! Contacts in segments, by level of the tree and by region, against brute force.

use nalgebra::{Isometry3, Vector3};
use support::rng::Rng;
use support::soup::joined;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, Contact, Geometry, Query, Roles, Segmentation, Workspace, FEATURE_OF_B};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

fn cook(mesh: &TriMesh, samples: usize) -> Shape {
    let shell = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(64), shell, ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

fn knot() -> Shape {
    cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap(), 2_000)
}

/// Positions of the legs, metres.
const LEGS: [[f64; 2]; 3] = [[0.35, 0.0], [-0.3, 0.3], [-0.3, -0.3]];

fn stool() -> Shape {
    let leg = |[x, y]: [f64; 2]| {
        let shift = Isometry3::translation(x, y, -0.2);
        primitives::cuboid([0.06, 0.06, 0.2]).unwrap().transformed(&shift, 1.0)
    };
    let seat = primitives::cuboid([0.5, 0.5, 0.05]).unwrap();
    cook(&joined(&[seat, leg(LEGS[0]), leg(LEGS[1]), leg(LEGS[2])]), 6_000)
}

fn floor() -> Shape {
    Shape::from_field(Field::HalfSpace(HalfSpace::new(Vector3::z(), 0.0).unwrap()))
}

fn leg_of(c: &Contact, pose: &Pose) -> usize {
    let p = pose.inverse_transform_point(&c.point_on_a.into());
    let near = |[x, y]: &[f64; 2]| (p.x - x).abs() < 0.07 && (p.y - y).abs() < 0.07;
    LEGS.iter().position(near).expect("contacts are at the feet")
}

fn ask(a: Geometry, pose_a: &Pose, b: Geometry, pose_b: &Pose, query: &Query) -> Vec<Contact> {
    contacts(a, pose_a, b, pose_b, query, &mut Workspace::new()).unwrap().to_vec()
}

#[test]
fn a_body_on_three_legs_has_three_manifolds() {
    let (stool, floor) = (stool(), floor());
    let pose = Isometry3::new(Vector3::new(0.3, -2.0, 0.398), Vector3::new(0.0, 0.0, 0.7));
    for max_contacts in [0, 4, 1] {
        let query = Query { segmentation: Segmentation::REGION, max_contacts, ..Query::default() };
        let found = ask(stool.geometry(), &pose, floor.geometry(), &Pose::identity(), &query);
        let mut segment_of_leg = [None; 3];
        for c in &found {
            let segment = segment_of_leg[leg_of(c, &pose)].get_or_insert(c.segment);
            assert_eq!(*segment, c.segment, "a leg is one region");
        }
        let mut segments = segment_of_leg.map(Option::unwrap);
        segments.sort_unstable();
        assert_eq!(segments, [0, 1, 2]);
        let count = |segment: u32| found.iter().filter(|c| c.segment == segment).count();
        assert!((0..3).all(|s| if max_contacts == 0 { count(s) > 4 } else { count(s) == max_contacts }));
        assert!(found.windows(2).all(|w| w[0].separation <= w[1].separation));
        assert_eq!(found[0].segment, 0, "new regions are numbered deepest first");
    }
    let together = ask(stool.geometry(), &pose, floor.geometry(), &Pose::identity(), &Query::default());
    assert!(together.iter().all(|c| c.segment == 0));
}

#[test]
fn a_region_keeps_its_number_while_the_body_slides_and_rocks() {
    let (stool, floor) = (stool(), floor());
    let mut workspace = Workspace::new();
    let (mut preferred, mut preferred_segments) = (Vec::new(), Vec::new());
    let mut numbers = [None; 3];
    let mut lifted = 0;
    for step in 0..200 {
        let t = f64::from(step) * 0.01;
        // The body rocks on two legs and back while it slides and turns.
        let rock = 0.01 * (9.0 * t).sin().max(0.0);
        let turn = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::z_axis(), t);
        let tilt = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -rock);
        let mut pose = Isometry3::from_parts(Vector3::new(t, 0.0, 0.0).into(), turn * tilt);
        // The feet of the other two stay slightly inside.
        let foot = pose * nalgebra::Point3::new(-0.36, 0.0, -0.4);
        pose.translation.z -= foot.z + 0.001;
        let query = Query {
            segmentation: Segmentation::REGION,
            max_contacts: 4,
            preferred: &preferred,
            preferred_segments: &preferred_segments,
            ..Query::default()
        };
        let (a, b) = (stool.geometry(), floor.geometry());
        let found = contacts(a, &pose, b, &Pose::identity(), &query, &mut workspace).unwrap().to_vec();
        let mut now = [None; 3];
        found.iter().for_each(|c| now[leg_of(c, &pose)] = Some(c.segment));
        for leg in 0..3 {
            if let (Some(before), Some(now)) = (numbers[leg], now[leg]) {
                assert_eq!(before, now, "step {step}, leg {leg}");
            }
        }
        let all: Vec<u32> = now.iter().flatten().copied().collect();
        assert!(all.iter().all(|n| all.iter().filter(|m| *m == n).count() == 1), "step {step}: {now:?}");
        assert!(now[1].is_some() && now[2].is_some());
        lifted += usize::from(now[0].is_none());
        numbers = now;
        let mut last: Vec<(u32, u32)> = found.iter().map(|c| (c.feature, c.segment)).collect();
        last.sort_unstable();
        (preferred, preferred_segments) = last.into_iter().unzip();
    }
    assert!((20..180).contains(&lifted), "the first leg was up in {lifted} steps");
}

/// Returns the region of each contact as its lowest feature, by visiting all pairs.
fn by_brute_force(all: &[Contact], distance: f64, angle: f64) -> Vec<u32> {
    let middle = |c: &Contact| (c.point_on_a + c.point_on_b) * 0.5;
    let mut label: Vec<u32> = all.iter().map(|c| c.feature).collect();
    loop {
        let mut changed = false;
        for i in 0..all.len() {
            for j in 0..i {
                let near = (middle(&all[i]) - middle(&all[j])).norm() <= distance;
                if label[i] != label[j] && near && all[i].normal.dot(&all[j].normal) >= angle.cos() {
                    let lower = label[i].min(label[j]);
                    (label[i], label[j], changed) = (lower, lower, true);
                }
            }
        }
        if !changed {
            return label;
        }
    }
}

/// Returns the same for the segments of an answer.
fn by_segment(all: &[Contact], feature: impl Fn(&Contact) -> u32) -> Vec<u32> {
    let lowest = |segment: u32| all.iter().filter(|c| c.segment == segment).map(&feature).min().unwrap();
    all.iter().map(|c| lowest(c.segment)).collect()
}

#[test]
fn regions_are_those_of_brute_force_whichever_body_comes_first() {
    let shape = knot();
    let g = shape.geometry();
    let (mut several, mut contacts) = (0, 0);
    for i in 0..60u64 {
        let mut rng = Rng(i * 131 + 7);
        let pose = Isometry3::from_parts((rng.vector() * 0.35).into(), rng.rotation());
        let world = Isometry3::from_parts((rng.vector() * 50.0).into(), rng.rotation());
        let (pose_a, pose_b) = (world * pose, world);
        let distance = [0.02, 0.05, 0.1][i as usize % 3];
        let angle = [0.3, 1.0, 3.2f64.min(std::f64::consts::PI)][i as usize / 3 % 3];
        for (roles, turned) in [(Roles::ShellOfA, Roles::ShellOfB), (Roles::Both, Roles::Both)] {
            let segmentation = Segmentation::Region { distance, angle };
            let query = Query { roles, segmentation, ..Query::default() };
            let found = ask(g, &pose_a, g, &pose_b, &query);
            let expected = by_brute_force(&found, distance, angle);
            assert_eq!(by_segment(&found, |c| c.feature), expected, "pose {i} {roles:?}");
            // Reducing all regions together equals reducing each region alone.
            let reduced = ask(g, &pose_a, g, &pose_b, &Query { max_contacts: 3, ..query });
            let regions = found.iter().map(|c| c.segment + 1).max().unwrap_or(0);
            for region in 0..regions {
                let of = |all: &[Contact]| all.iter().filter(|c| c.segment == region).copied().collect::<Vec<_>>();
                let (whole, part) = (of(&found), of(&reduced));
                assert_eq!(part.len(), whole.len().min(3));
                assert_eq!(part[0], whole[0], "the deepest is kept");
                assert!(part.iter().all(|c| whole.contains(c)));
            }
            // With exchanged bodies the features change sides and the regions stay.
            let other = ask(g, &pose_b, g, &pose_a, &Query { roles: turned, segmentation, ..Query::default() });
            let sets = |all: &[Contact], flip: u32| {
                let label = by_segment(all, |c| c.feature ^ flip);
                let mut pairs: Vec<(u32, u32)> = all.iter().zip(label).map(|(c, l)| (c.feature ^ flip, l)).collect();
                pairs.sort_unstable();
                pairs
            };
            assert_eq!(sets(&found, 0), sets(&other, FEATURE_OF_B), "pose {i} {roles:?}");
            several += usize::from(regions > 1);
            contacts += found.len();
        }
    }
    assert!(several > 30 && contacts > 3_000, "{several} answers with several regions, {contacts} contacts");
}

#[test]
fn a_level_gives_the_deepest_contact_of_each_of_its_nodes() {
    let shape = knot();
    let (g, tree) = (shape.geometry(), &shape.shell.as_ref().unwrap().tree);
    let mut several = 0;
    for i in 0..40u64 {
        let mut rng = Rng(i * 17 + 5);
        let pose = Isometry3::from_parts((rng.vector() * 0.3).into(), rng.rotation());
        for roles in [Roles::ShellOfA, Roles::ShellOfB, Roles::Both] {
            let all = ask(g, &pose, g, &Pose::identity(), &Query { roles, ..Query::default() });
            for level in 0..tree.depth() + 2 {
                let segmentation = Segmentation::Level(level as u32);
                let query = Query { roles, segmentation, max_contacts: 2, ..Query::default() };
                let found = ask(g, &pose, g, &Pose::identity(), &query);
                let nodes = tree.level(level.min(tree.depth() - 1));
                let mut expected = Vec::new();
                for side in [0, FEATURE_OF_B] {
                    for (k, node) in nodes.clone().enumerate() {
                        let samples = tree.first_sample[node]..tree.first_sample[node] + tree.sample_count[node];
                        let in_it = |c: &&Contact| {
                            c.feature & FEATURE_OF_B == side && samples.contains(&(c.feature & !FEATURE_OF_B))
                        };
                        // `all` is sorted, so the first contact in the segment is the deepest.
                        let after_a = if side != 0 && roles == Roles::Both { nodes.len() } else { 0 };
                        let segment = (after_a + k) as u32;
                        expected.extend(all.iter().find(in_it).map(|c| Contact { segment, ..*c }));
                    }
                }
                expected.sort_by(|p, q| p.separation.total_cmp(&q.separation).then(p.feature.cmp(&q.feature)));
                assert_eq!(found, expected, "pose {i} {roles:?} level {level}");
                several += usize::from(found.len() > 3);
            }
        }
    }
    assert!(several > 100, "{several} answers with more than three segments");
}

#[test]
fn numbers_out_of_their_range_are_refused() {
    let shape = knot();
    let g = shape.geometry();
    let region = |distance, angle| Segmentation::Region { distance, angle };
    for (segmentation, preferred_segments, expected) in [
        (region(-1.0, 0.5), &[][..], "distance is -1; expected a finite length, 0 to 1e18 m"),
        (region(f64::NAN, 0.5), &[], "distance is NaN"),
        (region(0.0, 4.0), &[], "angle is 4; expected an angle in radians, 0 to π"),
        (Segmentation::REGION, &[1], "preferred_segments is 1 long; expected 2 long, as preferred, or empty"),
    ] {
        let query = Query { segmentation, preferred: &[3, 4], preferred_segments, ..Query::default() };
        let said = contacts(g, &Pose::identity(), g, &Pose::identity(), &query, &mut Workspace::new()).unwrap_err();
        assert!(said.to_string().contains(expected), "{said}");
    }
}
