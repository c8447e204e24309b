//! Voxel models against the definitions, evaluated for every voxel: separating axes in integers for the surface, a
//! plain flood fill for the interior, signs at the samples for fields.

use support::rng::Rng;
use support::shared_mesh;
use voxshell::cook::FieldOptions;
use voxshell::field::{Cuboid, Grid, SignedDistance, Sphere};
use voxshell::math::{Aabb, Pose, Progress, Vec3};
use voxshell::mesh::{primitives, triangle, Bvh, TriMesh};
use voxshell::voxmap::{VoxelGrid, VoxelModel, VoxelOptions};
use voxshell::Error;

const LIMIT: u64 = 1 << 30;

fn soup(corners: &[[[f64; 3]; 3]]) -> TriMesh {
    let triangles = (0..corners.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    TriMesh::new(corners.iter().flatten().copied().collect(), triangles).unwrap()
}

/// Returns voxels of edge 1 with the first one's centre at 0.
fn unit_grid(dims: [u32; 3]) -> VoxelGrid {
    VoxelGrid::new(Grid { dims, spacing: 1.0, min: [0.0; 3] }, Vec3::zeros()).unwrap()
}

fn voxelise(mesh: &TriMesh, grid: VoxelGrid) -> VoxelModel {
    VoxelModel::on_grid(mesh, grid, LIMIT, &Progress::none()).unwrap()
}

fn voxels(dims: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..dims[2]).flat_map(move |k| (0..dims[1]).flat_map(move |j| (0..dims[0]).map(move |i| [i, j, k])))
}

fn center(grid: &VoxelGrid, v: [u32; 3]) -> Vec3 {
    let nodes = grid.nodes();
    let h = f64::from(nodes.spacing);
    Vec3::from([0, 1, 2].map(|k| f64::from(nodes.min[k]) + f64::from(v[k]) * h)) + grid.center()
}

fn cube(grid: &VoxelGrid, v: [u32; 3]) -> Aabb {
    let (c, h) = (center(grid, v), 0.5 * f64::from(grid.voxel_size()));
    Aabb { min: c.add_scalar(-h), max: c.add_scalar(h) }
}

fn neighbours(v: [u32; 3], dims: [u32; 3], faces_only: bool) -> impl Iterator<Item = [u32; 3]> {
    let steps = (-1i64..=1).flat_map(|z| (-1i64..=1).flat_map(move |y| (-1i64..=1).map(move |x| [x, y, z])));
    steps.filter_map(move |d| {
        let steps = d.iter().filter(|&&x| x != 0).count();
        let n = [0, 1, 2].map(|k| i64::from(v[k]) + d[k]);
        let within = (0..3).all(|k| (0..i64::from(dims[k])).contains(&n[k]));
        (steps != 0 && within && (!faces_only || steps == 1)).then(|| n.map(|x| x as u32))
    })
}

/// Returns the voxels that a flood fill over `faces_only` or all 26 neighbours reaches from the border without entering
/// the surface.
fn flooded(model: &VoxelModel, faces_only: bool) -> Vec<bool> {
    let grid = model.grid();
    let dims = grid.dims();
    let mut reached = vec![false; grid.len()];
    let wall = |v: [u32; 3]| (0..3).any(|k| v[k] == 0 || v[k] == dims[k] - 1);
    let mut stack: Vec<_> = voxels(dims).filter(|&v| wall(v) && !model.is_surface(v)).collect();
    stack.iter().for_each(|&v| reached[grid.index(v)] = true);
    while let Some(v) = stack.pop() {
        for n in neighbours(v, dims, faces_only) {
            if !model.is_surface(n) && !reached[grid.index(n)] {
                reached[grid.index(n)] = true;
                stack.push(n);
            }
        }
    }
    reached
}

/// Returns true if a triangle and the closed cube of edge `2 half` around `c` intersect, in integers.
fn touches_exactly(t: &[[i64; 3]; 3], c: [i64; 3], half: i64) -> bool {
    let v = t.map(|p| [0, 1, 2].map(|k| p[k] - c[k]));
    let sub = |a: [i64; 3], b: [i64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross =
        |a: [i64; 3], b: [i64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let edges = [sub(v[1], v[0]), sub(v[2], v[1]), sub(v[0], v[2])];
    let units = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let mut axes = units.to_vec();
    axes.push(cross(edges[0], edges[1]));
    axes.extend(edges.iter().flat_map(|&e| units.iter().map(move |&u| cross(u, e))));
    axes.iter().all(|a| {
        let d = v.map(|p| p[0] * a[0] + p[1] * a[1] + p[2] * a[2]);
        let reach = half * (a[0].abs() + a[1].abs() + a[2].abs());
        *d.iter().min().unwrap() <= reach && *d.iter().max().unwrap() >= -reach
    })
}

#[test]
fn surface_is_what_separating_axes_in_whole_numbers_say() {
    // Corners on eighths of a voxel, where touching and missing are distinguished exactly; many are on faces, edges and
    // corners of voxels, and many triangles are segments or points.
    let dims = [7u32, 6, 5];
    let mut rng = Rng(3);
    let (mut touched, mut degenerate) = (0, 0);
    for round in 0..4000 {
        let step = [1, 2, 4, 8][round % 4];
        let mut corner = || {
            [0, 1, 2].map(|k| {
                let span = 8 * i64::from(dims[k]) / step;
                (rng.next() % (span as u64 + 1)) as i64 * step - 4
            })
        };
        let mut t = [corner(), corner(), corner()];
        match round % 13 {
            0 => t[2] = t[1],
            1 => t = [t[0]; 3],
            2 => t[2] = [0, 1, 2].map(|k| (t[0][k] + t[1][k]).div_euclid(2)),
            3 => (t[1][0], t[2][0]) = (t[0][0], t[0][0]),
            4 => (t[1][2], t[2][2]) = (t[0][2], t[0][2]),
            _ => {}
        }
        degenerate += usize::from(round % 13 < 2);
        let model = voxelise(&soup(&[t.map(|p| p.map(|x| x as f64 / 8.0))]), unit_grid(dims));
        for v in voxels(dims) {
            let expected = touches_exactly(&t, v.map(|x| i64::from(x) * 8), 4);
            assert_eq!(model.is_surface(v), expected, "round {round}, voxel {v:?}, triangle {t:?} / 8");
            touched += usize::from(expected);
        }
    }
    assert!(touched > 50_000 && degenerate > 300, "{touched} {degenerate}");
}

#[test]
fn surface_voxels_agree_with_separating_axes() {
    let mut meshes = vec![
        ("gear", primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap(), 13),
        ("cuboid", primitives::cuboid([0.5, 0.3, 0.1]).unwrap(), 10),
        ("knot", primitives::torus_knot(2, 3, 0.3, 0.08, 48, 8).unwrap(), 21),
    ];
    meshes.extend(shared_mesh("bunny_453_bullet.obj").map(|m| ("bunny", m, 24)));
    meshes.extend(shared_mesh("alpha_puzzle_robot.obj").map(|m| ("alpha", m, 19)));
    for (name, mesh, resolution) in meshes {
        let far = Pose::translation(300.0, -20.0, 7.0);
        for mesh in [mesh.clone(), mesh.transformed(&far, 1.0)] {
            let model =
                VoxelModel::from_mesh(&mesh, &VoxelOptions::with_resolution(&mesh, resolution), &Progress::none());
            let model = model.unwrap();
            let grid = model.grid();
            let (mut ties, mut count) = (0, 0);
            for v in voxels(grid.dims()) {
                let touched = |margin: f64| {
                    let b = cube(grid, v).inflated(margin);
                    (0..mesh.triangles.len()).any(|t| triangle::overlaps_box(&mesh.corners(t).map(Vec3::from), &b))
                };
                let surface = model.is_surface(v);
                // Coordinates far from the origin are rounded on input.
                let (least, most) = (touched(-1e-12), touched(1e-12));
                assert!(surface as u8 >= least as u8 && surface as u8 <= most as u8, "{name} {v:?}");
                ties += usize::from(least != most);
                count += usize::from(surface);
            }
            assert_eq!(count, model.surface_count());
            assert!(count > 100 && ties < count, "{name}: {count} surface voxels, {ties} undecided");
        }
    }
}

#[test]
fn sheet_in_the_faces_of_voxels_is_two_voxels_thick() {
    let grid = unit_grid([6, 6, 6]);
    let (a, b, c, d) = ([1.0, 1.0, 2.5], [4.0, 1.0, 2.5], [4.0, 4.0, 2.5], [1.0, 4.0, 2.5]);
    let model = voxelise(&soup(&[[a, b, c], [a, c, d]]), grid);
    for v in voxels(grid.dims()) {
        let expected = (1..=4).contains(&v[0]) && (1..=4).contains(&v[1]) && (2..=3).contains(&v[2]);
        assert_eq!(model.is_surface(v), expected, "{v:?}");
        assert!(!model.is_interior(v), "a sheet has no inside");
    }
}

#[test]
fn a_corner_point_touches_eight_voxels_and_an_edge_rows_of_four() {
    let grid = unit_grid([5, 5, 5]);
    let point = voxelise(&soup(&[[[1.5, 2.5, 0.5]; 3]]), grid);
    assert_eq!(point.surface_count(), 8);
    assert!(point.is_surface([1, 2, 0]) && point.is_surface([2, 3, 1]));
    let segment = voxelise(&soup(&[[[1.0, 2.5, 0.5], [3.0, 2.5, 0.5], [2.0, 2.5, 0.5]]]), grid);
    assert_eq!(segment.surface_count(), 4 * 3);
}

#[test]
fn interior_is_what_the_flood_from_the_walls_cannot_reach() {
    let mut rng = Rng(11);
    let mut meshes: Vec<TriMesh> = (0..60)
        .map(|n| {
            let t: Vec<[[f64; 3]; 3]> = (0..n)
                .map(|_| {
                    let c = rng.vector() * 4.5;
                    [0; 3].map(|_| (c + rng.vector() * 4.0).map(|x| x.clamp(-5.0, 5.0)).into())
                })
                .collect();
            soup(&if t.is_empty() { vec![[[0.0; 3]; 3]] } else { t })
        })
        .collect();
    meshes.extend(shared_mesh("bunny_453_bullet.obj").map(|m| m.scaled_to_extent(30.0)));
    meshes.extend(shared_mesh("teapot_3k_open.obj").map(|m| m.scaled_to_extent(40.0)));
    meshes.push(primitives::torus_knot(2, 3, 0.3, 0.08, 48, 8).unwrap().scaled_to_extent(70.0));
    let mut inside = 0;
    for mesh in &meshes {
        let model = VoxelModel::from_mesh(
            mesh,
            &VoxelOptions { padding_voxels: 1, ..VoxelOptions::new(1.0) },
            &Progress::none(),
        );
        let model = model.unwrap();
        let free = flooded(&model, true);
        for v in voxels(model.grid().dims()) {
            let expected = !model.is_surface(v) && !free[model.grid().index(v)];
            assert_eq!(model.is_interior(v), expected, "{v:?}");
            inside += usize::from(expected);
        }
    }
    assert!(inside > 2000, "{inside}");
}

#[test]
fn a_body_may_fill_the_grid_but_not_leave_it() {
    let mesh = primitives::cuboid([3.0, 2.5, 2.0]).unwrap();
    let dims = [6, 5, 4];
    let grid = VoxelGrid::new(Grid::centered(dims, 1.0), Vec3::zeros()).unwrap();
    let model = voxelise(&mesh, grid);
    for v in voxels(dims) {
        let wall = (0..3).any(|k| v[k] == 0 || v[k] == dims[k] - 1);
        assert_eq!((model.is_surface(v), model.is_interior(v)), (wall, !wall), "{v:?}");
    }
    // Walls rounded to f32 leave no gap.
    let third = VoxelGrid::new(Grid::centered(dims, 1.0 / 3.0), Vec3::zeros()).unwrap();
    let model = voxelise(&mesh.transformed(&Pose::identity(), 1.0 / 3.0), third);
    assert_eq!((model.surface_count(), model.interior_count()), (120 - 24, 24));
    let moved = mesh.transformed(&Pose::translation(0.01, 0.0, 0.0), 1.0);
    let error = VoxelModel::on_grid(&moved, grid, LIMIT, &Progress::none()).unwrap_err();
    assert!(matches!(&error, Error::InvalidArgument { argument, .. } if argument == "grid"), "{error}");
}

/// Returns a cube of edge 12, rotated, whose faces are cut in two by a gap of `gap`.
fn cracked_cube(gap: f64, turn: &Pose) -> TriMesh {
    let mut corners = Vec::new();
    for axis in 0..3 {
        for side in [-6.0, 6.0] {
            for (from, to) in [(-6.0, -0.5 * gap), (0.5 * gap, 6.0)] {
                let p = |u: f64, v: f64| {
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    p
                };
                corners.push([p(from, -6.0), p(to, -6.0), p(to, 6.0)]);
                corners.push([p(from, -6.0), p(to, 6.0), p(from, 6.0)]);
            }
        }
    }
    soup(&corners).transformed(turn, 1.0)
}

#[test]
fn narrow_cracks_are_sealed_and_wide_holes_are_flooded() {
    let (mut rng, mut leaks) = (Rng(5), 0);
    for round in 0..40 {
        let turn = match round {
            0 => Pose::identity(),
            _ => Pose::from_parts(rng.vector().into(), rng.rotation()),
        };
        let model = |gap: f64| {
            VoxelModel::from_mesh(&cracked_cube(gap, &turn), &VoxelOptions::new(1.0), &Progress::none()).unwrap()
        };
        let (sealed, cracked) = (model(0.0).interior_count(), model(0.98));
        assert!(sealed > 500, "{sealed}");
        // Voxels in the middle of the cracks may lose their surface but remain part of the wall.
        assert!(cracked.interior_count() >= sealed, "round {round}: {} of {sealed}", cracked.interior_count());
        assert_eq!(model(4.0).interior_count(), 0, "round {round}");
        let middle = cracked.grid().voxel_at([0.0; 3]).unwrap();
        leaks += usize::from(flooded(&cracked, false)[cracked.grid().index(middle)]);
    }
    assert!(leaks > 0, "a flood over edges and corners would have been as good");
}

#[test]
fn closed_meshes_are_filled_and_flooded_voxels_are_outside() {
    let mut meshes = vec![
        primitives::torus(0.35, 0.15, 48, 24).unwrap(),
        primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap(),
        primitives::bowl(0.5, 0.08, 48).unwrap(),
    ];
    meshes.extend(shared_mesh("bunny_453_bullet.obj"));
    meshes.extend(shared_mesh("rocker_arm_10k_genus1.obj"));
    for mesh in meshes {
        let options = VoxelOptions::with_resolution(&mesh, 40);
        let model = VoxelModel::from_mesh(&mesh, &options, &Progress::none()).unwrap();
        let bvh = Bvh::build(&mesh);
        // Surface voxels are closed cubes, so that even steps over corners do not pass through a closed surface.
        let (free, mut inside) = (flooded(&model, false), 0);
        for v in voxels(model.grid().dims()).filter(|&v| !model.is_surface(v)) {
            let within = bvh.winding_number(center(model.grid(), v)) > 0.5;
            assert!(!within || model.is_interior(v), "{v:?} is inside and free");
            assert!(!within || !free[model.grid().index(v)], "{v:?} is inside and reached over corners");
            inside += usize::from(within);
        }
        assert!(inside > 500, "{inside}");
    }
}

#[test]
fn cavity_is_interior_to_a_flood_and_free_to_a_field() {
    let outer = primitives::sphere(0.5, 3).unwrap();
    let inner = primitives::sphere(0.3, 3).unwrap();
    let mut mesh = outer;
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(&inner.vertices);
    mesh.triangles.extend(inner.triangles.iter().map(|t| [t[0] + first, t[2] + first, t[1] + first]));
    let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.04), &Progress::none()).unwrap();
    let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(0.04), &Progress::none()).unwrap();
    let from_field = VoxelModel::from_field(&field, *model.grid(), LIMIT, &Progress::none()).unwrap();
    let middle = model.grid().voxel_at([0.0; 3]).unwrap();
    let wall = model.grid().voxel_at([0.4, 0.0, 0.0]).unwrap();
    assert!(model.is_interior(middle) && model.is_interior(wall));
    assert!(!from_field.is_interior(middle) && from_field.is_interior(wall));
}

#[test]
fn fields_and_meshes_agree_wherever_the_distance_decides() {
    let mut meshes = vec![
        ("torus", primitives::torus(0.35, 0.15, 96, 48).unwrap(), true),
        ("gear", primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap(), true),
    ];
    meshes.extend(shared_mesh("bunny_453_bullet.obj").map(|m| ("bunny", m, false)));
    meshes.extend(shared_mesh("fandisk_6k_cad.obj").map(|m| ("fandisk", m, false)));
    for (name, mesh, no_pockets) in meshes {
        let size = mesh.bounds().extents().max() / 48.0;
        let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(size), &Progress::none()).unwrap();
        let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(size), &Progress::none()).unwrap();
        let grid = *model.grid();
        assert_eq!((grid.nodes(), grid.center()), (field.grid(), field.center()), "the same options, the same nodes");
        let other = VoxelModel::from_field(&field, grid, LIMIT, &Progress::none()).unwrap();
        let bricks = voxshell::cook::brick_field(&mesh, &FieldOptions::new(size), &Progress::none()).unwrap();
        let sparse = VoxelModel::from_field(&bricks, grid, LIMIT, &Progress::none()).unwrap();
        let (s, half_diagonal) = (f64::from(grid.voxel_size()), 0.75f64.sqrt() * f64::from(grid.voxel_size()));
        let error = 1e-5 * s;
        let (mut differ, mut moved) = (0, 0);
        for v in voxels(grid.dims()) {
            let phi = f64::from(field.values()[grid.index(v)]);
            let (a, b) = (model.is_surface(v), other.is_surface(v));
            if phi.abs() < 0.5 * s - error {
                assert!(a, "{name} {v:?}: the surface is within the voxel, {phi} from its centre");
            }
            if phi.abs() > half_diagonal + error {
                assert!(!a, "{name} {v:?}: the surface is outside of the voxel, {phi} from its centre");
                // Near a crease the interpolant may have its full error.
                let inside = phi < 0.0;
                if phi.abs() > 2.0 * s {
                    assert_eq!((b, other.is_interior(v)), (false, inside), "{name} {v:?}, field, {phi}");
                }
                if inside || no_pockets {
                    assert_eq!(model.is_interior(v), inside, "{name} {v:?}, mesh, {phi}");
                }
            }
            differ += usize::from(a != b);
            // The interpolants differ by half a quantum, which can change few voxels.
            let same = sparse.is_surface(v) == b && sparse.is_interior(v) == other.is_interior(v);
            moved += usize::from(!same);
            assert!(same || phi.abs() < 2.0 * s, "{name} {v:?}, bricks, {phi}");
        }
        let count = model.surface_count();
        assert!(moved * 100 < count, "{name}: {moved} of {count} voxels differ between the full grid and bricks");
        assert!(differ * 4 < count, "{name}: {differ} of {count} surface voxels differ");
    }
}

#[test]
fn field_model_is_what_the_signs_at_the_samples_say() {
    let mesh = primitives::torus_knot(2, 3, 0.3, 0.08, 48, 8).unwrap();
    let dense = voxshell::cook::dense_field(&mesh, &FieldOptions::new(0.06), &Progress::none()).unwrap();
    fn check<F: SignedDistance>(field: &F, grid: VoxelGrid) {
        let model = VoxelModel::from_field(field, grid, LIMIT, &Progress::none()).unwrap();
        let dims = grid.dims();
        for v in voxels(dims) {
            let shift = grid.center() - field.local_origin(&grid.center());
            let (mut negative, mut positive) = (false, false);
            let at = |d: [f64; 3]| {
                let c = grid.voxel_center(v);
                let p = [0, 1, 2].map(|k| (f64::from(c[k]) + shift[k] + d[k] * f64::from(grid.voxel_size())) as f32);
                field.distance(p)
            };
            // A sample that is 0 except for rounding may have either sign.
            let mut close = false;
            for n in 0..27 {
                let d = [n % 3, n / 3 % 3, n / 9].map(|m| 0.5 * f64::from(m) - 0.5);
                let phi = at(d);
                close |= phi.abs() < 1e-6;
                negative |= phi <= 0.0;
                positive |= phi >= 0.0;
            }
            if !close {
                assert_eq!(model.is_surface(v), negative && positive, "{v:?}");
                assert_eq!(model.is_interior(v), negative && !positive, "{v:?}");
            }
            if model.is_interior(v) {
                let leak = neighbours(v, dims, false).find(|&n| !model.is_surface(n) && !model.is_interior(n));
                assert_eq!(leak, None, "{v:?}");
            }
        }
    }
    let grid = VoxelGrid::new(*dense.grid(), dense.center()).unwrap();
    check(&dense, grid);
    let shifted = VoxelGrid::new(Grid::centered([23, 17, 31], 0.05), Vec3::new(0.02, 0.01, -0.03)).unwrap();
    check(&dense, shifted);
    check(&voxshell::cook::brick_field(&mesh, &FieldOptions::new(0.03), &Progress::none()).unwrap(), shifted);
    check(&Sphere::new(0.4).unwrap(), shifted);
    check(&Cuboid::new([0.3, 0.25, 0.6]).unwrap(), shifted);
    let error = VoxelModel::from_field(&Sphere::new(9.0).unwrap(), shifted, LIMIT, &Progress::none()).unwrap_err();
    assert!(error.to_string().contains("zero level"), "{error}");
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let mesh = primitives::gear(9, 0.5, 0.39, 0.2, 0.15).unwrap();
    let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(0.02), &Progress::none()).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let a = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.02), &Progress::none()).unwrap();
            let b = VoxelModel::from_field(&field, *a.grid(), LIMIT, &Progress::none()).unwrap();
            (a, b)
        })
    };
    assert_eq!(on(1), on(5));
}

#[test]
fn memory_is_refused_before_the_work_and_cancelling_stops_it() {
    let mesh = primitives::torus(0.35, 0.15, 48, 24).unwrap();
    let options = VoxelOptions { memory_limit: 2 << 20, ..VoxelOptions::new(0.002) };
    let started = std::time::Instant::now();
    let error = VoxelModel::from_mesh(&mesh, &options, &Progress::none()).unwrap_err();
    assert!(matches!(error, Error::TooLarge { needed, limit, .. } if needed > limit && limit == 2 << 20), "{error}");
    assert!(started.elapsed().as_millis() < 50);
    let fine = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(1e-9), &Progress::none()).unwrap_err();
    assert!(matches!(&fine, Error::InvalidArgument { argument, .. } if argument == "voxel_size"), "{fine}");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(VoxelModel::from_mesh(&mesh, &VoxelOptions::new(bad), &Progress::none()).is_err(), "{bad}");
    }
    for stop_at in ["surface voxels", "flood"] {
        let stop = |stage: &str, _: f64| stage != stop_at;
        let cancelled = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.02), &Progress::new(&stop));
        assert!(matches!(cancelled, Err(Error::Cancelled)), "{stop_at}");
    }
}

#[test]
fn voxel_of_a_point_is_the_one_whose_cube_holds_it() {
    let grid = VoxelGrid::new(Grid::centered([5, 4, 7], 0.25), Vec3::new(3.0, 0.0, 1.0)).unwrap();
    let mut rng = Rng(8);
    let mut outside = 0;
    for _ in 0..20_000 {
        let p = [0; 3].map(|_| rng.unit() as f32 * 1.2);
        let holds = voxels(grid.dims()).find(|&v| {
            let c = grid.voxel_center(v);
            (0..3).all(|k| p[k] >= c[k] - 0.125 && p[k] < c[k] + 0.125)
        });
        assert_eq!(grid.voxel_at(p), holds, "{p:?}");
        outside += usize::from(holds.is_none());
    }
    assert!(outside > 1000 && outside < 19_000);
    assert_eq!(grid.voxel_at([f32::NAN, 0.0, 0.0]), None);
    assert_eq!(grid.voxel_at([0.0, f32::INFINITY, 0.0]), None);
    assert_eq!(grid.voxel_at([0.0, 0.0, f32::NEG_INFINITY]), None);
}
