//! Voxelmaps in files: every form comes back the same, and damaged ones are refused or harmless.

use std::sync::Arc;

use support::container::{file, sections};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, VoxelmapOptions};
use voxshell::math::Progress;
use voxshell::mesh::primitives;
use voxshell::voxmap::{Branching, MapForm, Offset, Rule};

fn shapes() -> Vec<Shape> {
    let mesh = primitives::torus(0.3, 0.12, 32, 16).unwrap();
    let options = CookOptions { resolution: Resolution::Cells(16), ..CookOptions::default() };
    let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
    let trees = [Branching::Octree, Branching::Tree64, Branching::Tree512];
    let mut forms = vec![
        MapForm::Layers,
        MapForm::Types { offset: Offset::MCNEELY },
        MapForm::Scaled { precision: 4 },
        MapForm::Real,
    ];
    for branching in trees {
        forms.push(MapForm::TypeTree { offset: Offset::SURFACE, branching });
        forms.extend([1, 7, 127].map(|limit| MapForm::LayerTree { limit, branching }));
    }
    let make = |form| {
        let options = VoxelmapOptions { form, resolution: 21, ..VoxelmapOptions::default() };
        shape.with_voxelmap(Arc::new(shape.make_voxelmap(&options, &Progress::none()).unwrap()))
    };
    forms.into_iter().map(make).collect()
}

#[test]
fn every_form_comes_back_the_same() {
    for shape in shapes() {
        let bytes = shape.to_bytes().unwrap();
        let loaded = Shape::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.voxelmap, shape.voxelmap);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
    }
}

/// Behind correct checksums.
#[test]
fn damaged_maps_are_refused_or_answer_within_bounds() {
    let (mut rng, mut refused, mut taken) = (Rng(5), 0, 0);
    for shape in shapes() {
        let bytes = shape.to_bytes().unwrap();
        for _ in 0..if support::long() { 5000 } else { 100 } {
            let mut parts = sections(&bytes).unwrap();
            let section = &mut parts.iter_mut().find(|(tag, _)| tag == b"voxm").unwrap().1;
            let at = rng.next() as usize % section.len();
            // Half of the time in the header and the first numbers.
            let at = if rng.next() % 2 == 0 { at % 64 } else { at };
            section[at] = rng.next() as u8;
            match Shape::from_bytes(&file(&parts)) {
                Err(_) => refused += 1,
                Ok(shape) => {
                    taken += 1;
                    let map = shape.voxelmap.as_ref().unwrap();
                    for _ in 0..50 {
                        let p = (rng.vector() * 0.5).map(|c| c as f32).into();
                        let v = map.penetration(Rule::Interpolated, p, [0.0, 0.0, 1.0]);
                        assert!(v.is_finite() && map.bound(Rule::Local, p, 0.01, 1e-3).is_finite());
                    }
                }
            }
        }
    }
    assert!(refused > 100 && taken > 100, "{refused} {taken}");
}
