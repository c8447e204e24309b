//! Guarantees of sampling, on generated meshes and on those of the shared collection.

use std::f64::consts::PI;

use voxshell::math::{Progress, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::pointshell::{PointShell, Sampling, ShellOptions};
use voxshell::Error;

const METHODS: [Sampling; 4] =
    [Sampling::Projection { voxel_size: 0.05 }, Sampling::Vertices, Sampling::Uniform, Sampling::VerticesAndUniform];

fn sample(mesh: &TriMesh, options: &ShellOptions) -> PointShell {
    let shell = voxshell::cook::sample(mesh, None, options, &Progress::none()).expect("a valid mesh");
    shell.check_invariants().expect("invariants");
    shell
}

fn spaced(method: Sampling, spacing: f64) -> ShellOptions {
    ShellOptions { method, spacing, ..Default::default() }
}

fn counted(method: Sampling, target: usize) -> ShellOptions {
    ShellOptions { method, target_count: Some(target), ..Default::default() }
}

/// Returns a box with one corner at the origin, wound outward.
fn cuboid(size: [f64; 3]) -> TriMesh {
    let vertices = (0..8).map(|i| [0, 1, 2].map(|a| if i >> a & 1 == 1 { size[a] } else { 0.0 })).collect();
    let quads = [[0u32, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    TriMesh::new(vertices, triangles).unwrap()
}

/// Returns a closed torus around z, smooth at this resolution.
fn torus() -> TriMesh {
    let (nu, nv) = (96u32, 48u32);
    let point = |i: u32, j: u32| {
        let (u, v) = (2.0 * PI * i as f64 / nu as f64, 2.0 * PI * j as f64 / nv as f64);
        let r = 0.35 + 0.15 * v.cos();
        [r * u.cos(), r * u.sin(), 0.15 * v.sin()]
    };
    let vertices = (0..nu).flat_map(|i| (0..nv).map(move |j| point(i, j))).collect();
    let id = |i: u32, j: u32| (i % nu) * nv + j % nv;
    let quad = |i, j| [[id(i, j), id(i + 1, j), id(i + 1, j + 1)], [id(i, j), id(i + 1, j + 1), id(i, j + 1)]];
    TriMesh::new(vertices, (0..nu).flat_map(|i| (0..nv).flat_map(move |j| quad(i, j))).collect()).unwrap()
}

fn distance_to_shell(shell: &PointShell, p: &Vec3) -> f64 {
    let local = (p - shell.origin).map(|c| c as f32);
    shell.nearest(local.into()).1 as f64
}

/// Returns the smallest distance from a sample to its nearest neighbour.
fn smallest_gap(shell: &PointShell) -> f64 {
    let mut points: Vec<Vec3> = (0..shell.len()).map(|i| shell.position(i)).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut best = f64::INFINITY;
    for (i, p) in points.iter().enumerate() {
        for q in &points[i + 1..] {
            if q.x - p.x >= best {
                break;
            }
            best = (q - p).norm().min(best);
        }
    }
    best
}

/// Iterates over surface points of a regular subdivision, several per triangle.
fn dense(mesh: &TriMesh, n: usize) -> impl Iterator<Item = Vec3> + '_ {
    (0..mesh.triangles.len()).flat_map(move |t| {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        (0..=n).flat_map(move |i| {
            (0..=n - i).map(move |j| {
                let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
                a * (1.0 - u - v) + b * u + c * v
            })
        })
    })
}

#[test]
fn all_corners_and_edges_of_a_box_are_sampled() {
    let size = [1.0, 0.6, 0.02];
    let mesh = cuboid(size);
    for method in METHODS {
        for spacing in [0.3, 0.05] {
            let shell = sample(&mesh, &spaced(method, spacing));
            for v in &mesh.vertices {
                assert!(distance_to_shell(&shell, &Vec3::from(*v)) < 1e-6, "{method:?} misses the corner {v:?}");
            }
            for (i, a) in mesh.vertices.iter().enumerate() {
                for b in mesh.vertices[i + 1..].iter().filter(|b| (0..3).filter(|&k| a[k] != b[k]).count() == 1) {
                    for k in 0..=100 {
                        let p = Vec3::from(*a).lerp(&Vec3::from(*b), k as f64 / 100.0);
                        let d = distance_to_shell(&shell, &p);
                        assert!(d <= 0.51 * spacing, "{method:?}: {p:?} on an edge is {d} m from a sample");
                    }
                }
            }
        }
    }
}

#[test]
fn spacing_is_a_covering_radius_and_tight() {
    for mesh in [cuboid([1.0, 0.6, 0.3]), torus()] {
        for method in METHODS {
            let shell = sample(&mesh, &spaced(method, 0.05));
            let n = if mesh.triangles.len() < 100 { 150 } else { 4 };
            let worst = dense(&mesh, n).map(|p| distance_to_shell(&shell, &p)).fold(0.0, f64::max);
            let spacing = shell.spacing as f64;
            assert!(worst <= spacing, "{method:?}: a point is {worst} m from the samples, spacing says {spacing}");
            assert!(worst >= 0.93 * spacing, "{method:?}: spacing {spacing} is far above the {worst} m found");
        }
    }
}

#[test]
fn blue_noise_keeps_its_distance_and_covers() {
    let mesh = torus();
    for seed in [1, 2, 3] {
        let options = ShellOptions { seed, ..spaced(Sampling::Uniform, 0.02) };
        let shell = sample(&mesh, &options);
        let smallest = smallest_gap(&shell) / 0.02;
        let cover = shell.spacing as f64 / 0.02;
        assert!(smallest > 0.62, "nearest neighbours at {smallest} of the spacing");
        assert!(cover < 1.15, "covering radius {cover} of the spacing");
        let lattice = mesh.area() / (0.75f64.sqrt() * 0.02 * 0.02);
        assert!((shell.len() as f64 / lattice - 1.0).abs() < 0.03, "{} samples, lattice {lattice}", shell.len());
    }
}

#[test]
fn target_counts_are_met() {
    for mesh in [cuboid([1.0, 0.6, 0.3]), torus()] {
        for target in [275, 799, 5000] {
            for method in [Sampling::Uniform, Sampling::VerticesAndUniform] {
                assert_eq!(sample(&mesh, &counted(method, target)).len(), target, "{method:?}");
            }
            let projected = sample(&mesh, &counted(METHODS[0], target)).len();
            assert!(projected.abs_diff(target) <= 4 + target / 20, "{projected} projected, target {target}");
        }
    }
}

#[test]
fn each_tiny_component_has_a_sample() {
    let mut mesh = torus();
    let crumb = |k: u32| {
        let at = 2.0 + k as f64 * 0.3;
        [[at, 0.0, 0.0], [at + 1e-4, 0.0, 0.0], [at, 1e-4, 0.0], [at, 0.0, 1e-4]]
    };
    for k in 0..5 {
        let first = mesh.vertices.len() as u32;
        mesh.vertices.extend(crumb(k));
        mesh.triangles.extend([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t| t.map(|i| i + first)));
    }
    for method in METHODS {
        let mut options = counted(method, 100);
        for sharp_angle in [0.5, PI] {
            options.sharp_angle = sharp_angle;
            let shell = sample(&mesh, &options);
            for k in 0..5 {
                let d = distance_to_shell(&shell, &Vec3::from(crumb(k)[0]));
                assert!(d < 3e-4, "{method:?}: component {k} is {d} m from a sample");
            }
        }
    }
}

/// With the spacing that follows from its area alone, its edges would take millions of samples.
#[test]
fn a_sliver_is_sampled_by_count_soon() {
    let sliver = TriMesh::new(vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1e-20, 0.0]], vec![[0, 1, 2]]).unwrap();
    for method in [Sampling::Projection { voxel_size: 1.0 }, Sampling::Uniform, Sampling::VerticesAndUniform] {
        let target = 4000;
        let goes_on = |_: &str, _: f64| true;
        let progress = Progress::new(&goes_on);
        let count = voxshell::cook::sample(&sliver, None, &counted(method, target), &progress).unwrap().len();
        assert!((1..=2 * target).contains(&count), "{method:?}: {count}");
        assert!(progress.units() < 1_000_000_000, "{method:?}: {} units of work", progress.units());
    }
}

#[test]
fn same_options_same_bytes_and_another_seed_other_samples() {
    let mesh = torus();
    for method in METHODS {
        let options = counted(method, 2000);
        let on = |threads: usize, options: &ShellOptions| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sample(&mesh, options))
        };
        assert_eq!(on(1, &options), on(3, &options));
    }
    let options = counted(Sampling::Uniform, 2000);
    assert_ne!(sample(&mesh, &options), sample(&mesh, &ShellOptions { seed: 2, ..options }));
}

#[test]
fn normals_point_outward_also_on_meshes_turned_inside_out() {
    let mesh = torus();
    let mut reversed = mesh.clone();
    reversed.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    for mesh in [mesh, reversed] {
        for method in METHODS {
            let shell = sample(&mesh, &counted(method, 500));
            for i in 0..shell.len() {
                let p = shell.position(i);
                let ring = Vec3::new(p.x, p.y, 0.0).normalize() * 0.35;
                let n = Vec3::from(shell.normal(i).map(|c| c as f64));
                assert!(n.dot(&(p - ring).normalize()) > 0.95, "{method:?}: normal {n:?} at {p:?}");
            }
        }
    }
}

#[test]
fn soup_is_sampled() {
    let soup = |vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>| TriMesh::new(vertices, triangles).unwrap();
    let open = soup(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]);
    let line = soup(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]], vec![[0, 1, 2]]);
    let point = soup(vec![[7.0; 3]], vec![[0, 0, 0]]);
    let mut doubled = torus();
    doubled.triangles.extend(doubled.triangles.clone());
    let mut flipped = torus();
    flipped.triangles.iter_mut().step_by(3).for_each(|t| t.swap(1, 2));
    for method in METHODS {
        let shell = sample(&open, &spaced(method, 0.1));
        assert!(open.vertices.iter().all(|v| distance_to_shell(&shell, &Vec3::from(*v)) < 1e-6));
        assert!(shell.spacing < 0.15 || method == Sampling::Vertices);
        assert!(sample(&line, &spaced(method, 0.1)).spacing <= 0.06);
        let refusal = voxshell::cook::sample(&point, None, &spaced(method, 0.1), &Progress::none()).unwrap_err();
        assert!(refusal.to_string().contains("expected an extent"), "{refusal}");
        for mesh in [&doubled, &flipped] {
            let shell = sample(mesh, &counted(method, 500));
            assert!(shell.len() < 520, "{method:?}: {} samples", shell.len());
        }
    }
}

#[test]
fn bad_options_are_refused_by_name() {
    let mesh = torus();
    let refusal = |options: ShellOptions| {
        voxshell::cook::sample(&mesh, None, &options, &Progress::none()).expect_err("must be refused")
    };
    for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(spaced(Sampling::Uniform, spacing)).to_string().contains("spacing"));
        assert!(refusal(spaced(Sampling::VerticesAndUniform, spacing)).to_string().contains("spacing"));
        let voxels = Sampling::Projection { voxel_size: spacing };
        assert!(refusal(spaced(voxels, 0.1)).to_string().contains("voxel_size"));
    }
    assert!(refusal(spaced(Sampling::Vertices, -1.0)).to_string().contains("spacing"));
    assert!(refusal(counted(Sampling::Uniform, 0)).to_string().contains("target_count"));
    for sharp_angle in [0.0, -0.1, 3.2, f64::NAN] {
        let options = ShellOptions { sharp_angle, ..counted(Sampling::Uniform, 10) };
        assert!(refusal(options).to_string().contains("sharp_angle"));
    }
    for method in METHODS {
        let too_fine = spaced(method, 1e-9);
        assert!(matches!(refusal(too_fine), Error::TooLarge { .. }), "{method:?}");
        let small = ShellOptions { memory_limit: 1000, ..counted(method, 500) };
        assert!(matches!(refusal(small), Error::TooLarge { limit: 1000, .. }), "{method:?}");
    }
    let too_fine = spaced(Sampling::Projection { voxel_size: 1e-12 }, 0.1);
    assert!(matches!(refusal(too_fine), Error::TooLarge { .. }));
    let empty = TriMesh::default();
    let refused = voxshell::cook::sample(&empty, None, &counted(Sampling::Uniform, 10), &Progress::none());
    assert!(matches!(refused, Err(Error::InvalidMesh(_))));
}

#[test]
fn cancelling_stops_the_sampling() {
    let stop = |_: &str, _: f64| false;
    let refused = voxshell::cook::sample(&torus(), None, &counted(Sampling::Uniform, 500), &Progress::new(&stop));
    assert!(matches!(refused, Err(Error::Cancelled)));
}

#[test]
fn bunny_has_the_papers_counts() {
    let Some(mesh) = support::shared_mesh("bunny_34k_filled.obj") else { return };
    for target in [799, 35_000] {
        assert_eq!(sample(&mesh, &counted(Sampling::VerticesAndUniform, target)).len(), target);
    }
}

/// Returns the mean and largest difference between the mesh's and the samples' support distances, over many directions.
fn support_gap(mesh: &TriMesh, shell: &PointShell) -> (f64, f64) {
    let points: Vec<Vec3> = (0..shell.len()).map(|i| shell.position(i)).collect();
    let gap = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f64 / 777.0;
        let (s, phi) = ((1.0 - z * z).sqrt(), i as f64 * 2.399963229728653);
        let d = Vec3::new(s * phi.cos(), s * phi.sin(), z);
        let reach = |p: &Vec3| p.dot(&d);
        let of_mesh = mesh.vertices.iter().map(|v| reach(&Vec3::from(*v))).fold(f64::NEG_INFINITY, f64::max);
        of_mesh - points.iter().map(reach).fold(f64::NEG_INFINITY, f64::max)
    };
    let gaps: Vec<f64> = (0..777).map(gap).collect();
    (gaps.iter().sum::<f64>() / 777.0, gaps.iter().copied().fold(0.0, f64::max))
}

#[test]
fn default_sampling_lets_planes_sink_in_least() {
    let Some(mesh) = support::shared_mesh("bunny_34k_filled.obj") else { return };
    let gap = |method, target| support_gap(&mesh, &sample(&mesh, &counted(method, target)));
    for (target, mean, worst) in [(799, 1e-3, 5e-3), (35_000, 1e-5, 0.5e-3)] {
        let default = gap(Sampling::VerticesAndUniform, target);
        assert!(default.0 < mean && default.1 < worst, "{target}: {default:?} m");
        let uniform = gap(Sampling::Uniform, target);
        assert!(default.0 < 0.5 * uniform.0, "{target}: {default:?} against {uniform:?} m for uniform samples");
    }
}

/// A scan is full of tiny creases; at a coarse spacing they must not use up the samples.
#[test]
fn noise_of_a_scan_does_not_starve_the_area() {
    let Some(mesh) = support::shared_mesh("dragon_10k_open.obj") else { return };
    let lattice = (mesh.area() / (0.75f64.sqrt() * 799.0)).sqrt();
    let shell = sample(&mesh, &counted(Sampling::VerticesAndUniform, 799));
    assert_eq!(shell.len(), 799);
    assert!((shell.spacing as f64) < 1.5 * lattice, "covering radius {} m, lattice {lattice} m", shell.spacing);
}

#[test]
fn mesh_far_from_its_origin_is_sampled_alike() {
    let near = torus();
    let mut far = near.clone();
    far.vertices.iter_mut().for_each(|v| v.iter_mut().for_each(|c| *c += 1e6));
    for method in METHODS {
        let (a, b) = (sample(&near, &counted(method, 500)), sample(&far, &counted(method, 500)));
        assert!(a.len().abs_diff(b.len()) <= 10);
        assert!((a.spacing - b.spacing).abs() < 0.2 * a.spacing, "{method:?}: {} and {}", a.spacing, b.spacing);
    }
}

#[test]
fn normals_come_from_the_field_where_its_gradient_is_strong() {
    use voxshell::field::{Field, SignedDistance, Sphere};
    let mesh = torus();
    // A field of another shape shows which normals were used.
    let sphere = Field::Sphere(Sphere::new(0.2).unwrap());
    let field: &dyn SignedDistance = &sphere;
    let shell =
        voxshell::cook::sample(&mesh, Some(field), &counted(Sampling::Uniform, 300), &Progress::none()).unwrap();
    for i in 0..shell.len() {
        let n = Vec3::from(shell.normal(i).map(|c| c as f64));
        assert!((n - shell.position(i).normalize()).norm() < 1e-5);
    }
}

#[test]
fn all_sharp_edges_of_the_fandisk_are_sampled() {
    let Some(mesh) = support::shared_mesh("fandisk_6k_cad.obj") else { return };
    let spacing = 0.02;
    let shell = sample(&mesh, &spaced(Sampling::Uniform, spacing));
    let normal = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| Vec3::from(mesh.vertices[i as usize]));
        (b - a).cross(&(c - a)).normalize()
    };
    let mut sides = std::collections::HashMap::new();
    for t in &mesh.triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            sides.entry((a.min(b), a.max(b))).or_insert_with(Vec::new).push(normal(t));
        }
    }
    let mut seen = 0;
    for ((a, b), normals) in sides {
        if normals.len() == 2 && normals[0].angle(&normals[1]) > 0.53 {
            let middle = Vec3::from(mesh.vertices[a as usize]).lerp(&Vec3::from(mesh.vertices[b as usize]), 0.5);
            let d = distance_to_shell(&shell, &middle);
            assert!(d < 0.9 * spacing, "a sharp edge is {d} m from a sample");
            seen += 1;
        }
    }
    assert!(seen > 500);
}
