//! Penalty forces at the contacts of convex pieces.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use support::allocation::allocations;
use support::haptics::{at_height, DEVICE, NO_LIMITS};
use voxshell::haptics::{
    self, ContactSource, Forms, Obstacle, Renderer, Saturation, Servo, Settings, Simulation, Status, Tool,
};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::simplify::{HullHierarchy, SimplifyOptions};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Error;

fn forms(mesh: &TriMesh) -> Forms {
    let hulls = HullHierarchy::build(mesh, &SimplifyOptions::default(), &Progress::none()).unwrap();
    Forms { hulls: Some(Arc::new(hulls)), ..Forms::default() }
}

/// A pyramid of 4 cm on its tip, which is at the origin.
fn pyramid() -> Tool {
    let vertices = vec![[0.0; 3], [-0.02, 0.04, -0.02], [0.02, 0.04, -0.02], [0.02, 0.04, 0.02], [-0.02, 0.04, 0.02]];
    let triangles = vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [1, 4, 3], [1, 3, 2]];
    Tool {
        forms: forms(&TriMesh::new(vertices, triangles).unwrap()),
        center: Vector3::new(0.0, 0.03, 0.0),
        mass: 0.1,
        inertia: Matrix3::from_diagonal_element(3e-5),
    }
}

fn on_plate(source: ContactSource) -> (Servo, Simulation) {
    let plate = primitives::cuboid([0.3, 0.1, 0.3]).unwrap();
    let plate = Obstacle::fixed(forms(&plate), Pose::translation(0.0, -0.1, 0.0));
    let mut settings = Settings::for_tool(Renderer::Penalty, &pyramid(), &DEVICE).unwrap();
    (settings.contact.source, settings.contact.tolerance) = (source, 0.01);
    settings.coupling.saturation = Saturation::Linear;
    settings.limits = NO_LIMITS;
    haptics::new(settings, pyramid(), vec![plate]).unwrap()
}

#[test]
fn a_tip_on_a_plate_is_held_by_springs_in_series() {
    for tolerance in [0.0, 0.001] {
        let (mut servo, mut simulation) = on_plate(ContactSource::Hulls { tolerance });
        let settings = *servo.settings();
        let series = 1.0 / (1.0 / settings.coupling.stiffness[0] + 1.0 / settings.contact.stiffness);
        let mut last = Default::default();
        for _ in 0..3000 {
            last = servo.step(&at_height(-0.002), 1e-3);
            simulation.simulate();
        }
        let measured = last.wrench.force.y / 0.002;
        assert!((measured / series - 1.0).abs() < 0.01, "{measured} N/m, expected {series}");
        assert_eq!((last.status, last.contacts), (Status::NORMAL, 1));
        let warm = allocations(|| {
            servo.step(&at_height(-0.002), 1e-3);
            simulation.simulate();
        });
        assert_eq!(warm, 0);
    }
}

#[test]
fn bodies_without_hulls_are_refused() {
    let mut settings = Settings::for_tool(Renderer::Penalty, &pyramid(), &DEVICE).unwrap();
    settings.contact.source = ContactSource::Hulls { tolerance: 0.0 };
    let floor = support::haptics::floor();
    assert!(matches!(haptics::new(settings, pyramid(), vec![floor]), Err(Error::Unsupported(_))));
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        settings.contact.source = ContactSource::Hulls { tolerance };
        assert!(settings.check().is_err(), "{tolerance}");
    }
}
