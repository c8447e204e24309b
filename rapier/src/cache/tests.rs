//! The cache finds the forms of the shape that is there now, and how much a warm search reads.

use parry3d::math::{Pose, Vector};
use parry3d::shape::*;
use parry3d::utils::Array2;
use voxshell::field::SignedDistance;

use super::*;
use crate::content::WORDS_READ;

/// Returns the number of words that a search reads, and of locks that it takes.
fn effort(cache: &Cache, shape: &dyn Shape) -> (usize, usize) {
    let before = (WORDS_READ.get(), LOCKS.get());
    assert!(cache.find(shape).is_some());
    (WORDS_READ.get() - before.0, LOCKS.get() - before.1)
}

/// Returns a mesh of triangles in a row, with one vertex higher.
fn strip(count: u32, raised: u32, height: f32) -> TriMesh {
    let y = |i: u32| if i == raised { height } else { 0.0 };
    let vertices = (0..count + 2).map(|i| Vector::new(0.01 * i as f32, y(i), 0.02 * (i % 2) as f32));
    TriMesh::new(vertices.collect(), (0..count).map(|i| [i, i + 1, i + 2]).collect()).unwrap()
}

/// Returns the largest height of the box around the forms.
fn height(cache: &Cache, shape: &dyn Shape) -> f64 {
    let body = cache.find(shape).unwrap();
    body.parts.iter().map(|part| part.bounds.max[1]).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn a_prepared_mesh_is_found_without_reading_it() {
    let mesh = SharedShape::new(strip(1000, 500, 0.02));
    let mut cache = Cache::default();
    let (words, locks) = effort(&cache, &*mesh);
    assert!(words > 6000 && locks == 1, "a new mesh: {words} words, {locks} locks");
    let (words, locks) = effort(&cache, &*mesh);
    assert!(words > 6000 && locks == 0, "a mesh that the thread met: {words} words, {locks} locks");
    assert!(cache.hold(&mesh));
    assert_eq!(effort(&cache, &*mesh), (0, 0));
    assert_eq!(effort(&cache.clone(), &*mesh), (0, 0));
}

#[test]
fn a_warm_round_shape_takes_no_lock_and_constant_time() {
    let cache = Cache::default();
    let compound = SharedShape::compound(vec![(Pose::IDENTITY, SharedShape::ball(0.1))]);
    for shape in [SharedShape::ball(0.013), SharedShape::capsule_y(0.017, 0.01), SharedShape::halfspace(Vector::Z)] {
        effort(&cache, &*shape);
        let (words, locks) = effort(&cache, &*shape.clone());
        assert!(words < 10 && locks == 0, "{words} words, {locks} locks");
    }
    effort(&cache, &*compound);
    assert_eq!(effort(&cache, &*compound).1, 0);
}

#[test]
fn another_shape_at_the_same_address_is_not_the_old_one() {
    let cache = Cache::default();
    let mut mesh = strip(300, 137, 0.01);
    let old = place(&mesh);
    for top in [0.02, 0.03] {
        assert!(height(&cache, &mesh) < top - 5e-3);
        mesh = strip(300, 137, top as f32);
        assert_eq!(place(&mesh), old);
        assert!((height(&cache, &mesh) - top).abs() < 1e-7);
    }
    // The vertices are at the same address too.
    let (vertices, mut raised) = (mesh.vertices().as_ptr(), mesh.vertices().to_vec());
    raised[138].y = 0.05;
    mesh.set_vertices(&raised);
    assert_eq!(vertices, mesh.vertices().as_ptr());
    assert!((height(&cache, &mesh) - 0.05).abs() < 1e-7);
}

#[test]
fn shapes_that_are_changed_in_place_have_new_forms() {
    let cache = Cache::default();
    let mut ball = Ball::new(0.011);
    let radius = |ball: &Ball| cache.find(ball).unwrap().parts[0].margin;
    let first = radius(&ball);
    ball.radius = 0.012;
    assert!((radius(&ball) - first - 1e-3).abs() < 1e-8);

    let heights = Array2::new(4, 4, (0..16).map(|i| if i == 5 { 0.03 } else { 0.0 }).collect());
    let mut field = HeightField::new(heights, Vector::ONE);
    assert!((height(&cache, &field) - 0.03).abs() < 1e-7);
    for cell in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        field.set_cell_status(cell[0], cell[1], HeightFieldCellStatus::CELL_REMOVED);
    }
    assert_eq!(height(&cache, &field), 0.0);

    let mut voxels = Voxels::new(Vector::splat(0.01), &[[0, 0, 0].into(), [0, 1, 0].into()]);
    assert!((height(&cache, &voxels) - 0.02).abs() < 1e-7);
    voxels.set_voxel([0, 1, 0].into(), false);
    assert!((height(&cache, &voxels) - 0.01).abs() < 1e-7);

    let child = |radius| vec![(Pose::IDENTITY, SharedShape::ball(radius))];
    let mut compound = Compound::new(child(0.1));
    let first = cache.find(&compound).unwrap().parts[0].margin;
    compound.clone_from(&Compound::new(child(0.2)));
    assert!(cache.find(&compound).unwrap().parts[0].margin > first);
}

#[test]
fn a_prepared_shape_is_copied_before_it_is_changed() {
    let mut cache = Cache::default();
    let mut mesh = SharedShape::new(strip(20, 7, 0.02));
    assert!(cache.hold(&mesh));
    let old = place(&*mesh);
    let held = mesh.clone();
    let changed = mesh.make_mut().as_trimesh_mut().unwrap();
    let mut vertices = changed.vertices().to_vec();
    vertices[7].y = 0.04;
    changed.set_vertices(&vertices);
    assert_ne!(place(&*mesh), old);
    assert!((height(&cache, &*mesh) - 0.04).abs() < 1e-7);
    assert!((height(&cache, &*held) - 0.02).abs() < 1e-7);
    // Its owner dropped it, and the dispatcher did not: no other shape can come to this address.
    drop(held);
    assert!(cache.held.values().any(|held| place(&*held.shape) == old));
}

#[test]
fn a_released_shape_is_recognised_by_its_content() {
    let mut cache = Cache::default();
    let mut mesh = SharedShape::new(strip(20, 7, 0.021));
    assert!(cache.hold(&mesh) && cache.release(&mesh) && !cache.release(&mesh));
    let old = place(&*mesh);
    let changed = mesh.make_mut().as_trimesh_mut().unwrap();
    let mut vertices = changed.vertices().to_vec();
    vertices[7].y = 0.04;
    changed.set_vertices(&vertices);
    assert_eq!(place(&*mesh), old);
    assert!((height(&cache, &*mesh) - 0.04).abs() < 1e-7);
}

#[test]
fn the_shape_inside_a_prepared_one_is_another_one() {
    let mut cache = Cache::default();
    let round = SharedShape::round_cuboid(0.04, 0.02, 0.03, 0.01);
    assert!(cache.hold(&round));
    let inner: &dyn Shape = &round.as_round_cuboid().unwrap().inner_shape;
    assert!(cache.find(&*round).unwrap().parts[0].margin > 0.0);
    assert_eq!(cache.find(inner).unwrap().parts[0].margin, 0.0);
}

#[test]
fn equal_shapes_share_their_forms_on_all_threads() {
    let forms = || {
        let body = Cache::default().find(&Cuboid::new(Vector::new(0.031, 0.032, 0.033))).unwrap();
        body.parts[0].field.clone().unwrap()
    };
    let first = forms();
    let second = std::thread::spawn(forms).join().unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert!((second.bounds().max[0] - 0.031).abs() < 1e-8);
}
