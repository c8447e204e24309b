//! Cooks small soups of triangles: every storage, both forms and the sheet, at a low resolution.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::{fuzz_target, Corpus};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use voxshell::contact::{contacts, Query, Workspace};
use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Progress};
use voxshell::mesh::TriMesh;
use voxshell_fuzz::{in_proportion, start, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most triangles of a soup, and most cells of its grid along the longest side.
const TRIANGLES: usize = 24;
const CELLS: u32 = 12;
/// Memory that cooking may hold for such a soup.
const MEMORY: usize = 24 << 20;

/// Coordinates on a lattice, so that corners coincide and faces are coplanar; some beyond it.
#[derive(Arbitrary, Debug)]
enum Coordinate {
    Lattice(i8),
    Near(i8, i8),
    Any(f64),
}

#[derive(Arbitrary, Debug)]
struct Soup {
    cells: u8,
    storage: u8,
    forms: u8,
    vertices: Vec<[Coordinate; 3]>,
    triangles: Vec<[u8; 3]>,
}

impl Coordinate {
    fn value(&self) -> f64 {
        match *self {
            Coordinate::Lattice(n) => f64::from(n) / 16.0,
            Coordinate::Near(n, d) => f64::from(n) / 16.0 + f64::from(d) * 1e-9,
            Coordinate::Any(x) => x,
        }
    }
}

fuzz_target!(|soup: Soup| -> Corpus {
    start();
    if soup.vertices.is_empty() || soup.triangles.len() > TRIANGLES {
        return Corpus::Reject;
    }
    let vertices: Vec<[f64; 3]> = soup.vertices.iter().map(|v| [0, 1, 2].map(|k| v[k].value())).collect();
    let triangles = soup.triangles.iter().map(|t| t.map(|i| u32::from(i) % vertices.len() as u32)).collect();
    let Ok(mesh) = TriMesh::new(vertices, triangles) else { return Corpus::Keep };
    let options = CookOptions {
        resolution: Resolution::Cells(1 + u32::from(soup.cells) % CELLS),
        storage: [Storage::Dense, Storage::Bricks, Storage::Exact][usize::from(soup.storage) % 3],
        forms: [Forms::BOTH, Forms { shell: false, ..Forms::BOTH }, Forms { field: false, ..Forms::BOTH }]
            [usize::from(soup.forms) % 3],
        ..CookOptions::default()
    };
    let cooked = in_proportion(0, 0, MEMORY, || Shape::cook(&mesh, &options, &Progress::none()));
    if let Ok(shape) = cooked {
        is_sound(&shape);
    }
    Corpus::Keep
});

fn is_sound(shape: &Shape) {
    if let Some(shell) = &shape.shell {
        shell.check_invariants().expect("the pointshell is valid");
    }
    if let Some(field) = shape.field.as_deref() {
        let bounds = field.bounds();
        for part in [-0.5, 0.1, 0.5, 0.8, 1.5] {
            let p = [0, 1, 2].map(|k| (bounds.min[k] + part * (bounds.max[k] - bounds.min[k])) as f32);
            let (phi, gradient) = field.distance_gradient(p);
            assert!(phi.is_finite() && gradient.iter().all(|g| g.is_finite()), "{phi} {gradient:?} at {p:?}");
            let bound = field.lower_bound(p, 0.0);
            assert!(bound <= phi, "{bound} > {phi} at {p:?}");
        }
    }
    let geometry = shape.geometry();
    if geometry.field.is_some() && geometry.shell.is_some() {
        let turn = Pose::new([0.1, 0.2, 0.3].into(), [0.5, 0.1, 0.0].into());
        let mut workspace = Workspace::new();
        let found = contacts(geometry, &Pose::identity(), geometry, &turn, &Query::default(), &mut workspace)
            .expect("the query is valid");
        assert!(found.iter().all(|c| c.separation.is_finite() && c.normal.iter().all(|x| x.is_finite())), "{found:?}");
    }
    let bytes = shape.to_bytes().expect("a cooked shape can be written");
    let again = Shape::from_bytes(&bytes).expect("and read");
    assert!(again.to_bytes().expect("and written again") == bytes, "saved again it is another file");
}
