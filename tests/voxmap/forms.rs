//! The forms made from a voxel model against their definitions in the papers, evaluated for every voxel.

use support::brick::bricks;
use support::rng::Rng;
use support::shared_mesh;
use voxshell::cook::FieldOptions;
use voxshell::field::{DenseField, Grid, SignedDistance, Sphere};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, triangle, Bvh, TriMesh};
use voxshell::voxmap::{
    Branching, DistanceMap, LayerMap, Offset, VoxelGrid, VoxelModel, VoxelOptions, VoxelType, Voxmap,
};
use voxshell::Error;

const LIMIT: u64 = 1 << 30;
const TREES: [Branching; 3] = [Branching::Octree, Branching::Tree64, Branching::Tree512];

fn voxels(dims: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..dims[2]).flat_map(move |k| (0..dims[1]).flat_map(move |j| (0..dims[0]).map(move |i| [i, j, k])))
}

fn center(grid: &VoxelGrid, v: [u32; 3]) -> Vec3 {
    let nodes = grid.nodes();
    let h = f64::from(nodes.spacing);
    Vec3::from([0, 1, 2].map(|k| f64::from(nodes.min[k]) + f64::from(v[k]) * h)) + grid.center()
}

fn model(mesh: &TriMesh, options: &VoxelOptions) -> VoxelModel {
    VoxelModel::from_mesh(mesh, options, &Progress::none()).unwrap()
}

fn layers(model: &VoxelModel) -> LayerMap {
    LayerMap::new(model, &Progress::none()).unwrap()
}

/// Returns loose triangles, closed bodies and a long thin grid.
fn models() -> Vec<VoxelModel> {
    let mut rng = Rng(21);
    let mut out: Vec<VoxelModel> = (1..40)
        .map(|n| {
            let dims = [5 + n % 13, 4 + n % 7, 3 + n % 17];
            let mut corner = || [0, 1, 2].map(|k| (rng.unit() * 0.5 + 0.5) * f64::from(dims[k] - 1));
            let vertices: Vec<[f64; 3]> = (0..n.min(9) * 3).map(|_| corner()).collect();
            let triangles = (0..n.min(9)).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            let mesh = TriMesh::new(vertices, triangles).unwrap();
            let grid = VoxelGrid::new(Grid { dims, spacing: 1.0, min: [0.0; 3] }, Vec3::zeros()).unwrap();
            VoxelModel::on_grid(&mesh, grid, LIMIT, &Progress::none()).unwrap()
        })
        .collect();
    let ball = primitives::sphere(0.5, 2).unwrap();
    out.push(model(&ball, &VoxelOptions::new(0.06)));
    out.push(model(&primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap(), &VoxelOptions::new(0.05)));
    let long = VoxelGrid::new(Grid::centered([3, 2, 90], 0.5), Vec3::zeros()).unwrap();
    let bit = primitives::cuboid([0.2, 0.1, 0.3]).unwrap();
    out.push(VoxelModel::on_grid(&bit, long, LIMIT, &Progress::none()).unwrap());
    // From fields: analytic, and bricks on a grid of their own.
    let grid = VoxelGrid::new(Grid::centered([17, 19, 18], 0.1), Vec3::new(0.01, 0.02, 0.0)).unwrap();
    let sphere = Sphere::new(0.55).unwrap();
    out.push(VoxelModel::from_field(&sphere, grid, LIMIT, &Progress::none()).unwrap());
    let gear = primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap();
    out.push(VoxelModel::from_field(&bricks(&gear, 90), grid, LIMIT, &Progress::none()).unwrap());
    out
}

fn steps(a: [u32; 3], b: [u32; 3]) -> u32 {
    (0..3).map(|k| a[k].abs_diff(b[k])).max().unwrap()
}

/// Returns the number of steps from a voxel to the nearest surface voxel.
fn to_surface(surface: &[[u32; 3]], v: [u32; 3]) -> i32 {
    surface.iter().map(|&s| steps(s, v)).min().unwrap() as i32
}

fn surface_of(model: &VoxelModel) -> Vec<[u32; 3]> {
    voxels(model.grid().dims()).filter(|&v| model.is_surface(v)).collect()
}

#[test]
fn layer_is_the_number_of_steps_to_the_surface_positive_inside() {
    let (mut deepest, mut farthest) = (0, 0);
    for model in models() {
        let (map, surface) = (layers(&model), surface_of(&model));
        let mut range = (0, 0);
        for v in voxels(model.grid().dims()) {
            let n = to_surface(&surface, v);
            let expected = if model.is_interior(v) { n } else { -n };
            assert_eq!(map.layer(v), expected, "{v:?} of {:?}", model.grid().dims());
            assert_eq!(map.layer(v) == 0, model.is_surface(v));
            range = (range.0.min(expected), range.1.max(expected));
        }
        assert_eq!(map.range(), range);
        (farthest, deepest) = (range.0.min(farthest), range.1.max(deepest));
    }
    assert!(deepest >= 4 && farthest <= -40, "{deepest} {farthest}");
}

#[test]
fn layer_bounds_the_distance_as_documented() {
    let mut meshes = vec![primitives::torus(0.35, 0.15, 48, 24).unwrap()];
    meshes.extend(shared_mesh("bunny_453_bullet.obj"));
    for mesh in meshes {
        let model = model(&mesh, &VoxelOptions::with_resolution(&mesh, 32));
        let (map, bvh) = (layers(&model), Bvh::build(&mesh));
        let s = f64::from(model.grid().voxel_size());
        for v in voxels(model.grid().dims()) {
            let d = bvh.closest_point(center(model.grid(), v)).distance_squared.sqrt();
            let n = f64::from(map.layer(v).abs());
            assert!((n - 0.5) * s <= d + 1e-9 && d <= 3f64.sqrt() * (n + 0.5) * s + 1e-9, "{v:?}: {n} layers, {d} m");
        }
    }
}

#[test]
fn layers_fall_by_one_per_voxel_beyond_the_grid() {
    let model = model(&primitives::torus(0.35, 0.15, 48, 24).unwrap(), &VoxelOptions::new(0.05));
    let (map, grid) = (layers(&model), *model.grid());
    let tree = map.compact(3, Branching::Tree64).unwrap();
    let mut rng = Rng(4);
    for _ in 0..20_000 {
        let p = [0; 3].map(|_| rng.unit() as f32 * 0.9);
        let expected = match grid.voxel_at(p) {
            Some(v) => map.layer(v),
            None => {
                let cell = [0, 1, 2].map(|k| ((p[k] - grid.nodes().min[k]) / grid.voxel_size() + 0.5).floor() as i32);
                let near = [0, 1, 2].map(|k| cell[k].clamp(0, grid.dims()[k] as i32 - 1) as u32);
                let between = (0..3).map(|k| (cell[k] - near[k] as i32).abs()).max().unwrap();
                map.layer(near) - between
            }
        };
        assert_eq!(map.layer_at(p), expected, "{p:?}");
        assert_eq!(tree.layer_at(p), expected.clamp(-3, 3), "{p:?}");
    }
    assert!(map.layer_at([1e30, 0.0, 0.0]) < -1_000_000);
    assert!(map.layer_at([f32::NEG_INFINITY, 0.0, f32::INFINITY]) < -1_000_000);
    let _no_panic = map.layer_at([f32::NAN; 3]);
}

#[test]
fn types_are_what_the_layers_say_for_every_offset() {
    let offsets = [Offset::SURFACE, Offset::MCNEELY]
        .into_iter()
        .chain((0..4).flat_map(|layers| (0..3).map(move |proximity| Offset { layers, proximity })));
    for offset in offsets {
        let mut seen = [0; 4];
        for model in models() {
            let map = layers(&model);
            let dims = model.grid().dims();
            let wall = |v: [u32; 3]| (0..3).any(|k| v[k] == 0 || v[k] == dims[k] - 1);
            let n = offset.layers as i32;
            let complete = n == 0 || voxels(dims).all(|v| !wall(v) || map.layer(v) <= -n);
            let voxmap = Voxmap::new(&model, offset);
            if !complete {
                let error = voxmap.unwrap_err();
                assert!(matches!(&error, Error::InvalidArgument { argument, .. } if argument == "offset.layers"));
                continue;
            }
            let voxmap = voxmap.unwrap();
            for v in voxels(dims) {
                let layer = map.layer(v);
                let expected = if layer > -n {
                    VoxelType::Interior
                } else if layer == -n {
                    VoxelType::Surface
                } else if layer >= -n - offset.proximity as i32 {
                    VoxelType::Proximity
                } else {
                    VoxelType::Free
                };
                assert_eq!(voxmap.voxel(v), expected, "{offset:?} {v:?}: layer {layer}");
                seen[expected as usize] += 1;
            }
        }
        assert!(seen[0] > 100 && seen[1] > 100 && seen[2] > 100, "{offset:?} {seen:?}");
        assert_eq!(seen[3] > 100, offset.proximity > 0);
    }
}

#[test]
fn two_bits_are_two_bits() {
    let model = model(&primitives::torus(0.35, 0.15, 48, 24).unwrap(), &VoxelOptions::new(0.01));
    let voxmap = Voxmap::new(&model, Offset::SURFACE).unwrap();
    let quarter = model.grid().len() as u64 / 4;
    assert!((quarter..quarter + 256).contains(&voxmap.bytes()), "{} bytes, {quarter}", voxmap.bytes());
}

#[test]
fn points_outside_the_force_layer_keep_surfaces_apart() {
    // A point represents a piece of surface within its own voxel, in any orientation: within √3/2 s of it.
    let mut rng = Rng(9);
    let turn = Pose::from_parts(Vec3::zeros().into(), rng.rotation());
    let cuboid = primitives::cuboid([0.31, 0.2, 0.13]).unwrap();
    for mesh in [primitives::torus(0.35, 0.15, 48, 24).unwrap(), cuboid.transformed(&turn, 1.0), cuboid] {
        let model = model(&mesh, &VoxelOptions::new(0.04));
        let voxmap = Voxmap::new(&model, Offset::MCNEELY).unwrap();
        let (bvh, s) = (Bvh::build(&mesh), f64::from(model.grid().voxel_size()));
        let (mut closest, mut in_force_layer) = (f64::INFINITY, 0);
        for _ in 0..200_000 {
            let p = [0; 3].map(|_| rng.unit() as f32 * 0.7);
            let kind = voxmap.at(p);
            let away = bvh.closest_point(Vec3::from(p.map(f64::from)) + model.grid().center()).distance_squared.sqrt();
            if kind == VoxelType::Surface {
                closest = closest.min(away);
                in_force_layer += 1;
            }
            assert!(kind == VoxelType::Interior || away > 0.75f64.sqrt() * s, "{kind:?} {away}");
        }
        assert!(closest >= s - 1e-6, "{closest}");
        assert!(in_force_layer > 1000);
    }
}

#[test]
fn trees_answer_as_the_full_grid_and_are_smaller() {
    let mut all = models();
    let mut meshes = vec![primitives::torus(0.35, 0.15, 48, 24).unwrap()];
    meshes.extend(shared_mesh("bunny_453_bullet.obj"));
    let small = all.len();
    all.extend(meshes.iter().map(|m| model(m, &VoxelOptions::with_resolution(m, 100))));
    for (n, model) in all.iter().enumerate() {
        let map = layers(model);
        let voxmap = Voxmap::new(model, Offset::SURFACE).unwrap();
        for branching in TREES {
            let tree = voxmap.tree(branching).unwrap();
            for v in voxels(model.grid().dims()) {
                assert_eq!(tree.voxel(v), voxmap.voxel(v), "{branching:?} {v:?}");
            }
            // References of four bytes to leaves of two are too many for an octree to be smaller than this torus.
            if n >= small && branching != Branching::Octree {
                assert!(tree.bytes() < voxmap.bytes(), "{branching:?}: {} of {}", tree.bytes(), voxmap.bytes());
                assert!(tree.tree().levels() > 0);
            }
            let mut rng = Rng(2);
            let size = model.grid().nodes().max().map(f32::abs).into_iter().fold(1.0, f32::max) * 1.3;
            for _ in 0..500 {
                let p = [0; 3].map(|_| rng.unit() as f32 * size);
                assert_eq!(tree.at(p), voxmap.at(p), "{branching:?} {p:?}");
            }
            for limit in [1, 2, 7, 127] {
                let tree = map.compact(limit, branching).unwrap();
                let most = i32::from(limit);
                for v in voxels(model.grid().dims()) {
                    assert_eq!(tree.layer(v), map.layer(v).clamp(-most, most), "{branching:?} {limit} {v:?}");
                }
                if n >= small {
                    assert!(tree.bytes() < map.bytes());
                }
            }
        }
    }
    assert!(layers(&all[0]).compact(0, Branching::Octree).is_err());
    assert!(layers(&all[0]).compact(128, Branching::Octree).is_err());
}

/// Returns a model, and the field on the same grid.
fn with_field(mesh: &TriMesh, size: f64) -> (VoxelModel, DenseField) {
    let field = voxshell::cook::dense_field(mesh, &FieldOptions::new(size), &Progress::none()).unwrap();
    (model(mesh, &VoxelOptions::new(size)), field)
}

#[test]
fn distances_are_those_of_the_closest_point_of_all_triangles() {
    let mut meshes = vec![("gear", primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap())];
    meshes.extend(shared_mesh("bunny_453_bullet.obj").map(|m| ("bunny", m)));
    for (name, mesh) in meshes {
        let (model, field) = with_field(&mesh, 0.06);
        let real = DistanceMap::real(&model, &field).unwrap();
        let scaled = DistanceMap::scaled(&model, &field, 4).unwrap();
        assert_eq!((scaled.precision(), scaled.lambda()), (4, 1e-4));
        let grid = model.grid();
        for v in voxels(grid.dims()) {
            let p = center(grid, v);
            let exact = (0..mesh.triangles.len())
                .map(|t| {
                    let t = mesh.corners(t).map(Vec3::from);
                    (triangle::closest_point(&t, triangle::is_sliver(&t), &p).0 - p).norm()
                })
                .fold(f64::INFINITY, f64::min);
            let d = f64::from(real.distance(v));
            assert!((d.abs() - exact).abs() < 1e-6, "{name} {v:?}: {d} for {exact}");
            if !model.is_surface(v) {
                assert_eq!(d > 0.0, model.is_interior(v), "{name} {v:?}");
            } else {
                assert_eq!(d > 0.0, field.values()[grid.index(v)] < 0.0);
            }
            let rounded = f64::from(scaled.distance(v));
            assert!(rounded * d >= 0.0 && d.abs() - rounded.abs() > -1e-7, "{name} {v:?}: truncated {rounded} of {d}");
            assert!((d - rounded).abs() < 1e-4 + 2e-7 * d.abs(), "{name} {v:?}: {rounded} of {d}");
        }
    }
}

#[test]
fn sign_is_the_floods_in_a_cavity() {
    let mut mesh = primitives::sphere(0.5, 3).unwrap();
    let inner = primitives::sphere(0.3, 3).unwrap();
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(&inner.vertices);
    mesh.triangles.extend(inner.triangles.iter().map(|t| [t[0] + first, t[2] + first, t[1] + first]));
    let (by_flood, field) = with_field(&mesh, 0.05);
    let by_field = VoxelModel::from_field(&field, *by_flood.grid(), LIMIT, &Progress::none()).unwrap();
    let at = |model: &VoxelModel| DistanceMap::real(model, &field).unwrap().interpolated([0.01, 0.0, 0.0]);
    assert!((at(&by_flood) - 0.29).abs() < 0.02 && (at(&by_field) + 0.29).abs() < 0.02);
}

/// Returns φ = n·p − d on a grid, and the model of that field.
fn plane(n: [f32; 3], d: f32, scale: f32) -> (VoxelModel, DenseField) {
    let grid = Grid::centered([14, 12, 16], 0.25 * scale);
    let values: Vec<f32> = voxels(grid.dims)
        .map(|[i, j, k]| {
            let p = grid.node(i, j, k);
            ((n[0] * p[0] + n[1] * p[1]) + n[2] * p[2]) - d
        })
        .collect();
    let field = DenseField::from_values(grid, values, Vec3::new(1.0, 2.0, 3.0)).unwrap();
    let voxels = VoxelGrid::new(grid, field.center()).unwrap();
    (VoxelModel::from_field(&field, voxels, LIMIT, &Progress::none()).unwrap(), field)
}

#[test]
fn equation_1_gives_the_papers_example() {
    // d = 1.61803 and p = 3: v = 1618, d̃ = v·10⁻ᵖ = 1.618; outside the same with the other sign.
    let (model, field) = plane([1.0, 0.0, 0.0], 1.61803 - 1.125, 1.0);
    let map = DistanceMap::scaled(&model, &field, 3).unwrap();
    let inside = model.grid().voxel_at([-1.1, 0.0, 0.0]).unwrap();
    assert_eq!(model.grid().voxel_center(inside)[0], -1.125);
    assert_eq!(map.values()[model.grid().index(inside)], 1618);
    assert!((map.distance(inside) - 1.618).abs() < 1e-6);
    let (model, field) = plane([1.0, 0.0, 0.0], 1.125 - 1.61803, 1.0);
    let map = DistanceMap::scaled(&model, &field, 3).unwrap();
    let outside = model.grid().voxel_at([1.1, 0.0, 0.0]).unwrap();
    assert_eq!(map.values()[model.grid().index(outside)], -1618);
}

#[test]
fn equations_4_and_5_are_exact_on_a_plane() {
    let n = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
    let (model, field) = plane(n, 0.3, 1.0);
    let (real, scaled) = (DistanceMap::real(&model, &field).unwrap(), DistanceMap::scaled(&model, &field, 3).unwrap());
    let map = layers(&model);
    let s = model.grid().voxel_size();
    let mut rng = Rng(6);
    for _ in 0..20_000 {
        let p = [0; 3].map(|_| rng.unit() as f32 * 2.3);
        let Some(v) = model.grid().voxel_at(p) else { continue };
        let depth = 0.3 - (n[0] * p[0] + n[1] * p[1] + n[2] * p[2]);
        assert!((real.interpolated(p) - depth).abs() < 1e-5, "{p:?}");
        assert!((real.penetration(p, n) - depth).abs() < 1e-5, "{p:?}");
        // Truncation by less than λ, of the value and in each difference, which is taken over at most half a voxel.
        assert!((scaled.penetration(p, n) - depth).abs() < 1.001e-3, "{p:?}");
        assert!((scaled.interpolated(p) - depth).abs() < 2.501e-3, "{p:?}");
        let c = model.grid().voxel_center(v);
        let local = (0..3).map(|k| n[k] * (c[k] - p[k])).sum::<f32>();
        assert!((map.penetration(p, n) - (local + map.layer(v) as f32 * s)).abs() < 1e-5, "{p:?}");
        let g = real.gradient(v);
        assert!((0..3).all(|k| (g[k] + n[k] * s).abs() < 1e-5), "∇V leads inwards, s long: {g:?}");
    }
}

#[test]
fn equation_5_is_of_second_order_near_a_sphere() {
    let mesh = primitives::sphere(0.5, 5).unwrap();
    let worst = |size: f64| {
        let (model, field) = with_field(&mesh, size);
        let real = DistanceMap::real(&model, &field).unwrap();
        let mut rng = Rng(13);
        (0..20_000)
            .map(|_| {
                let u = rng.vector().normalize() * (0.5 + 0.1 * rng.unit());
                let p = [u.x as f32, u.y as f32, u.z as f32];
                (f64::from(real.interpolated(p)) - (0.5 - u.norm())).abs()
            })
            .fold(0.0, f64::max)
    };
    // The curvature is at most 1/0.4 m, and half a diagonal from the centre: h²/2 · 3/4 · 2.5; and the mesh's own 0.3
    // mm.
    let (coarse, fine) = (worst(0.04), worst(0.02));
    assert!(coarse < 0.94 * 0.04 * 0.04 + 5e-4 && fine < 0.94 * 0.02 * 0.02 + 5e-4, "{coarse} {fine}");
    assert!(fine < 0.5 * coarse, "{coarse} {fine}");
}

#[test]
fn distance_beyond_the_grid_falls_with_distance_to_its_voxels() {
    let mesh = primitives::cuboid([0.3, 0.2, 0.1]).unwrap();
    let (model, field) = with_field(&mesh, 0.05);
    let real = DistanceMap::real(&model, &field).unwrap();
    let grid = model.grid();
    let half = [0, 1, 2].map(|k| grid.nodes().max()[k] + 0.5 * grid.voxel_size());
    let mut rng = Rng(17);
    for _ in 0..5000 {
        let p = [0; 3].map(|_| rng.unit() as f32 * 3.0);
        let q = [0, 1, 2].map(|k| p[k].clamp(-half[k], half[k]));
        let off = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f32>().sqrt();
        assert!((real.interpolated(p) - (real.interpolated(q) - off)).abs() < 1e-5);
    }
}

#[test]
fn distances_are_read_from_any_field_on_any_grid() {
    let sphere = Sphere::new(0.5).unwrap();
    let grid = VoxelGrid::new(Grid::centered([25, 22, 24], 0.06), Vec3::new(0.01, -0.02, 0.03)).unwrap();
    let model = VoxelModel::from_field(&sphere, grid, LIMIT, &Progress::none()).unwrap();
    let (real, scaled) =
        (DistanceMap::real(&model, &sphere).unwrap(), DistanceMap::scaled(&model, &sphere, 4).unwrap());
    for v in voxels(grid.dims()) {
        let depth = 0.5 - center(&grid, v).norm();
        let (d, rounded) = (f64::from(real.distance(v)), f64::from(scaled.distance(v)));
        assert!((d - depth).abs() < 1e-6 && (rounded - depth).abs() < 1.01e-4, "{v:?}: {d} {rounded} {depth}");
    }
}

#[test]
fn distances_from_bricks_are_those_from_the_full_grid() {
    let mut meshes = vec![("gear", primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap())];
    meshes.extend(shared_mesh("bunny_3k_libigl.obj").map(|m| ("bunny", m)));
    for (name, mesh) in meshes {
        let (model, dense) = with_field(&mesh, 0.02);
        let bricks = voxshell::cook::brick_field(&mesh, &FieldOptions::new(0.02), &Progress::none()).unwrap();
        let (full, sparse) = (DistanceMap::real(&model, &dense).unwrap(), DistanceMap::real(&model, &bricks).unwrap());
        let (mut near, mut far) = (0, 0);
        for v in voxels(model.grid().dims()) {
            let (a, b) = (full.distance(v), sparse.distance(v));
            // In the band every node is kept; outside it distances are within the bound that the field states.
            let band = b.abs() < 2.9 * 0.02;
            let most = if band { 0.6 * bricks.quantum() } else { 6.98 * 0.02 + bricks.coarse_quantum() };
            assert!((a - b).abs() <= most, "{name} {v:?}: {a} {b}");
            // Within half a quantum of the surface, bricks are on it.
            assert!(a * b > 0.0 || b.abs() < 0.6 * bricks.quantum(), "{name} {v:?}: {a} {b}");
            near += usize::from(band);
            far += usize::from(!band);
        }
        assert!(near > 1000 && far > 1000, "{name}: {near} {far}");
        // A finer field of the model's own body with other nodes.
        let finer = voxshell::cook::brick_field(&mesh, &FieldOptions::new(0.007), &Progress::none()).unwrap();
        let map = DistanceMap::real(&model, &finer).unwrap();
        // Within two voxels of the finer field. Its error is the largest measured one, not the true maximum.
        for v in voxels(model.grid().dims()).filter(|&v| full.distance(v).abs() < 0.008) {
            let off = (map.distance(v) - full.distance(v)).abs();
            assert!(off < 1.5 * finer.error_bound() as f32, "{name} {v:?}: {off}");
        }
    }
}

#[test]
fn fields_of_another_body_and_too_large_distances_are_refused() {
    let mesh = primitives::cuboid([0.3, 0.2, 0.1]).unwrap();
    let (model, field) = with_field(&mesh, 0.05);
    let other = Sphere::new(0.5).unwrap();
    let error = DistanceMap::real(&model, &other).unwrap_err();
    assert!(matches!(&error, Error::InvalidArgument { argument, .. } if argument == "field"), "{error}");
    assert!(error.to_string().contains("surface voxel"), "{error}");
    assert!(DistanceMap::scaled(&model, &other, 3).is_err());
    let error = DistanceMap::scaled(&model, &field, 6).unwrap_err().to_string();
    assert!(error.contains("precision") && error.contains("at most 4"), "{error}");
    assert!(DistanceMap::scaled(&model, &field, 4).is_ok());
    assert!(DistanceMap::scaled(&model, &field, 200).is_err());
}

#[test]
fn forms_are_the_same_on_any_number_of_threads() {
    let mesh = primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap();
    let (model, field) = with_field(&mesh, 0.02);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let map = layers(&model);
            let tree = map.compact(7, Branching::Tree512).unwrap();
            let voxmap = Voxmap::new(&model, Offset::MCNEELY).unwrap();
            let types = voxmap.tree(Branching::Octree).unwrap();
            (map, tree, voxmap, types, DistanceMap::scaled(&model, &field, 3).unwrap())
        })
    };
    assert!(on(1) == on(5));
}

#[test]
fn forms_check_memory_first_and_layers_can_be_cancelled() {
    let mesh = primitives::torus(0.35, 0.15, 48, 24).unwrap();
    let options = VoxelOptions::new(0.01);
    // Enough for the model (a quarter of a byte per voxel, and its runs), but not for two bytes per voxel.
    let grid = options.grid(&mesh).unwrap();
    let poor = VoxelOptions { memory_limit: grid.len() as u64, ..options };
    let model = self::model(&mesh, &poor);
    let error = LayerMap::new(&model, &Progress::none()).unwrap_err();
    assert!(matches!(error, Error::TooLarge { needed, limit, .. } if needed > limit), "{error}");
    let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(0.01), &Progress::none()).unwrap();
    assert!(matches!(DistanceMap::real(&model, &field), Err(Error::TooLarge { .. })));
    assert!(matches!(DistanceMap::scaled(&model, &field, 3), Err(Error::TooLarge { .. })));
    let stop = |_: &str, fraction: f64| fraction < 0.5;
    let cancelled = LayerMap::new(&self::model(&mesh, &options), &Progress::new(&stop));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
}
