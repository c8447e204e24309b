//! Mesh files: accepted content, and refused content with its message. The files are written here, byte by byte.

use std::path::PathBuf;

use voxshell::mesh::{io, primitives, TriMesh};
use voxshell::Error;

fn load_bytes(name: &str, bytes: &[u8]) -> voxshell::Result<TriMesh> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    io::load(&path)
}

fn load(name: &str, text: &str) -> TriMesh {
    load_bytes(name, text.as_bytes()).unwrap()
}

/// Returns the reason for refusing a file; the message must begin with the file's path.
fn refusal(name: &str, bytes: &[u8]) -> String {
    match load_bytes(name, bytes) {
        Err(e @ Error::InvalidFile { .. }) => {
            let text = e.to_string();
            assert!(text.split(": ").next().unwrap().ends_with(name), "{text}");
            assert!(!text.contains('\n'), "one line: {text}");
            text
        }
        other => panic!("{name} gave {other:?}"),
    }
}

fn assert_refused(name: &str, bytes: &[u8], parts: &[&str]) {
    let text = refusal(name, bytes);
    assert!(parts.iter().all(|p| text.contains(p)), "{text:?} lacks one of {parts:?}");
}

fn tetrahedron() -> TriMesh {
    let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    TriMesh::new(vertices, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap()
}

/// Checks that two surfaces have the same triangles by coordinates, in the same order.
fn assert_same_surface(a: &TriMesh, b: &TriMesh) {
    assert_eq!(a.triangles.len(), b.triangles.len());
    for t in 0..a.triangles.len() {
        assert_eq!(a.corners(t), b.corners(t), "triangle {t}");
    }
}

fn binary_stl(mesh: &TriMesh, title: &[u8]) -> Vec<u8> {
    let mut out = title.to_vec();
    out.resize(80, b' ');
    out.extend((mesh.triangles.len() as u32).to_le_bytes());
    for t in 0..mesh.triangles.len() {
        out.extend([0; 12]);
        out.extend(mesh.corners(t).iter().flatten().flat_map(|x| (*x as f32).to_le_bytes()));
        out.extend([0; 2]);
    }
    out
}

fn ascii_stl(mesh: &TriMesh) -> String {
    let mut out = String::from("solid a name with spaces\n");
    for t in 0..mesh.triangles.len() {
        out += " facet normal 0 0 1\n  outer loop\n";
        for v in mesh.corners(t) {
            out += &format!("   vertex {:e} {} {}\n", v[0], v[1], v[2]);
        }
        out += "  endloop\n endfacet\n";
    }
    out + "endsolid a name with spaces\n"
}

enum Ply {
    Ascii,
    Little,
    Big,
}

fn ply(mesh: &TriMesh, kind: Ply, double: bool) -> Vec<u8> {
    let format = match kind {
        Ply::Ascii => "ascii",
        Ply::Little => "binary_little_endian",
        Ply::Big => "binary_big_endian",
    };
    let real = if double { "double" } else { "float" };
    let mut out = format!(
        "ply\nformat {format} 1.0\ncomment by hand\nelement vertex {}\nproperty {real} x\nproperty {real} y\nproperty \
         {real} z\nproperty uchar red\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    )
    .into_bytes();
    for v in &mesh.vertices {
        match kind {
            Ply::Ascii => out.extend(format!("{} {} {} 255\n", v[0], v[1], v[2]).bytes()),
            Ply::Little if double => out.extend(v.iter().flat_map(|x| x.to_le_bytes()).chain([255])),
            Ply::Little => out.extend(v.iter().flat_map(|x| (*x as f32).to_le_bytes()).chain([255])),
            Ply::Big if double => out.extend(v.iter().flat_map(|x| x.to_be_bytes()).chain([255])),
            Ply::Big => out.extend(v.iter().flat_map(|x| (*x as f32).to_be_bytes()).chain([255])),
        }
    }
    for t in &mesh.triangles {
        match kind {
            Ply::Ascii => out.extend(format!("3 {} {} {}\n", t[0], t[1], t[2]).bytes()),
            Ply::Little => out.extend([3].into_iter().chain(t.iter().flat_map(|i| i.to_le_bytes()))),
            Ply::Big => out.extend([3].into_iter().chain(t.iter().flat_map(|i| i.to_be_bytes()))),
        }
    }
    out
}

#[test]
fn collection_loads_at_unit_size() {
    for (name, triangles) in [("bunny_777_decimated.obj", 1550), ("teapot_3k_open.obj", 6320), ("horse_48k.obj", 96966)]
    {
        let Some(mesh) = support::shared_mesh(name) else { continue };
        assert_eq!(mesh.triangles.len(), triangles, "{name}");
        let bounds = mesh.bounds();
        assert!((bounds.extents().max() - 1.0).abs() < 1e-12, "{name}");
        assert!(bounds.center().norm() < 1e-12, "{name}");
    }
}

#[test]
fn obj_round_trip_keeps_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.obj");
    // Far from the origin, where f32 would keep three digits.
    let far = voxshell::math::Pose::translation(1e6, -1e6, 1e6);
    let mesh = primitives::torus(0.3, 0.1, 24, 12).unwrap().transformed(&far, 1.0 / 3.0);
    io::write_obj(&path, &mesh).unwrap();
    assert_same_surface(&io::load(&path).unwrap(), &mesh);
    // Again over the old file; no other file is left.
    io::write_obj(&path, &tetrahedron()).unwrap();
    assert_eq!(io::load(&path).unwrap().triangles.len(), 4);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no/such/folder/out.obj");
    assert!(matches!(io::write_obj(&nowhere, &mesh), Err(Error::Io { .. })));
}

#[test]
fn obj_reads_what_is_in_the_wild() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let area = |faces: &str| load("a.obj", &format!("{square}{faces}")).area();
    assert_eq!(area("f 1 2 3 4\n"), 1.0);
    assert_eq!(area("f -4 -3 -2 -1"), 1.0);
    assert_eq!(area("f 1/1 2/2 3/3\nf 1//1 3//7 4//-9\n"), 1.0);
    assert_eq!(area("f 1/1/1 2/2/2 3/3/3 4/4/4 # wrong texture and normal indices do not matter"), 1.0);
    assert_eq!(
        area("mtllib not_there.mtl\nusemtl red\no one\nf 1 2 3\ng two\ns off\nusemtl blue\nf 1 3 4\nl 1 2\np 1\n"),
        1.0
    );
    assert_eq!(area("vn 0 0 1\nvt 0.5\nvp 1 2\nf 1 2 \\\n 3 \\\n 4\r\n"), 1.0);
    let colours = load("C.OBJ", "v 0 0 0 1 0 0\nv 1 0 0 1 0 0 1\nv 0 2 0 2\nf 1 2 3\n");
    assert_eq!(colours.area(), 1.0, "a weight has no effect");
    let scan = load("D.OBJ", "v 0 0 0 nan nan nan\nv 1 0 0 inf 0 0 1\nv 0 2 0 -1\nf 1 2 3\n");
    assert_eq!(scan.area(), 1.0);
    assert_refused("e.obj", b"v 0 0 0 red\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &["line 1", "finite"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", &["3 vertices", "no triangles"]);
    // Objects that share vertices stay one surface.
    let groups = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng a\nf 1 3 2\ng b\nf 1 2 4\no c\nf 1 4 3\nusemtl x\nf 2 3 4\n";
    let mesh = load("groups.obj", groups);
    assert_eq!((mesh.vertices.len(), mesh.report().closed), (4, true));
    // A concave polygon keeps its area from any starting corner; with a fan it would not.
    let arrow = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 1.0]];
    for start in 0..4 {
        let text: String = arrow.iter().map(|p| format!("v {} {} 5\n", p[0], p[1])).collect();
        let face: Vec<String> = (0..4).map(|i| ((start + i) % 4 + 1).to_string()).collect();
        let mesh = load("arrow.obj", &format!("{text}f {}\n", face.join(" ")));
        assert_eq!((mesh.area(), mesh.triangles.len()), (1.0, 2), "from corner {start}");
    }
    // A square with a square hole, joined to its outside by a bridge passed twice.
    let keyhole = "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nv 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\nf 1 2 3 4 1 5 6 7 8 5\n";
    let mesh = load("keyhole.obj", keyhole);
    assert_eq!((mesh.area(), mesh.triangles.len()), (8.0, 8));
    // A comb of many teeth, clockwise.
    let mut comb = vec![[0.0, 0.0]];
    (0..30).for_each(|i| comb.extend([[f64::from(i), 5.0], [f64::from(i) + 0.5, 1.0]]));
    comb.push([30.0, 0.0]);
    let shoelace: f64 = (0..comb.len())
        .map(|i| {
            let (a, b) = (comb[i], comb[(i + 1) % comb.len()]);
            0.5 * (a[0] * b[1] - a[1] * b[0])
        })
        .sum();
    let text: String = comb.iter().map(|p| format!("v {} 0 {}\n", p[0], p[1])).collect();
    let face: Vec<String> = (1..=comb.len()).map(|i| i.to_string()).collect();
    let mesh = load("comb.obj", &format!("{text}f {}\n", face.join(" ")));
    assert!((mesh.area() - shoelace.abs()).abs() < 1e-9 && mesh.triangles.len() == comb.len() - 2);
}

#[test]
fn obj_faults_are_named_with_their_line() {
    assert_refused("e.obj", b"", &["no triangles"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", &["no triangles"]);
    assert_refused("e.obj", b"# points\nv 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", &["line 3", "finite"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", &["line 2", "three finite numbers"]);
    assert_refused("e.obj", b"v 0 0 x\nf 1 1 1\n", &["line 1"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", &["line 4", "vertex 4", "3 vertices"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", &["line 4", "vertex 0"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nf -1 -2 -3\nv 0 1 0\n", &["line 3", "vertex -3", "2 vertices"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", &["line 4", "at least three"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 two 3\n", &["line 4"]);
    assert_refused("e.obj", b"v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n", &["1e18"]);
    assert_refused("e.obj", b"f 99999999999999999999999 -9223372036854775808 1\n", &["line 1"]);
    assert_refused("e.obj", &[0xff; 200], &["line 1", "expected a statement"]);
}

#[test]
fn stl_of_both_kinds_is_welded() {
    let tetra = tetrahedron();
    let many = "solid one\nfacet normal nan nan nan\nOUTER LOOP\nVERTEX 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
                endsolid one\n\nsolid\nfacet normal\nouter loop\nvertex 0 0 -0\nvertex 0 0 1\nvertex 1 0 0\nendloop\nendfacet\nendsolid\n";
    let two = load("two.stl", many);
    assert_eq!((two.vertices.len(), two.triangles.len()), (4, 2));
    let files: [(&str, Vec<u8>); 4] = [
        ("binary.stl", binary_stl(&tetra, b"made by hand")),
        ("solid.STL", binary_stl(&tetra, b"solid but binary")),
        ("ascii.stl", ascii_stl(&tetra).into_bytes()),
        ("crlf.stl", ascii_stl(&tetra).replace('\n', "\r\n").into_bytes()),
    ];
    for (name, bytes) in files {
        let mesh = load_bytes(name, &bytes).unwrap();
        assert_same_surface(&mesh, &tetra);
        assert_eq!(mesh.vertices.len(), 4, "{name}");
    }
    let sphere = primitives::sphere(1.0, 3).unwrap();
    let welded = load_bytes("sphere.stl", &binary_stl(&sphere, b"")).unwrap();
    assert_eq!(welded.vertices.len(), sphere.vertices.len());
    assert!(welded.report().is_solid());
}

#[test]
fn stl_faults_are_named() {
    let binary = binary_stl(&tetrahedron(), b"");
    assert_refused("e.stl", b"", &["0 bytes"]);
    assert_refused("e.stl", b"abc", &["3 bytes", "solid"]);
    assert_refused("e.stl", &binary[..84], &["truncated", "4 triangles", "0 only"]);
    assert_refused("e.stl", &binary[..200], &["truncated", "4 triangles", "2 only"]);
    let mut huge = binary.clone();
    huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_refused("e.stl", &huge, &["truncated", "4294967295"]);
    let mut nan = binary.clone();
    nan[84 + 50 + 12..84 + 50 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_refused("e.stl", &nan, &["triangle 1", "NaN", "finite"]);
    assert_refused("e.stl", &binary_stl(&TriMesh::default(), b""), &["no triangles"]);
    let ascii = ascii_stl(&tetrahedron());
    assert_refused("e.stl", b"solid nothing\nendsolid nothing\n", &["no triangles"]);
    assert_refused("e.stl", ascii.split_at(ascii.len() / 2).0.as_bytes(), &["truncated"]);
    let unended = &ascii[..ascii.rfind("endsolid").unwrap()];
    assert_refused("e.stl", unended.as_bytes(), &["truncated", "endsolid"]);
    assert_refused(
        "e.stl",
        ascii.replacen("vertex 0e0", "vertex inf", 1).as_bytes(),
        &["line 4", "three finite numbers"],
    );
    assert_refused("e.stl", ascii.replacen("  endloop", "  vertex 1 2 3", 1).as_bytes(), &["line 7", "endloop"]);
    assert_refused("e.stl", ascii.replacen(" facet", " facade", 1).as_bytes(), &["line 2", "facet"]);
}

#[test]
fn ply_of_every_kind_is_read() {
    let torus = primitives::torus(0.3, 0.1, 12, 8).unwrap();
    for double in [false, true] {
        for kind in [Ply::Ascii, Ply::Little, Ply::Big] {
            let mesh = load_bytes("torus.ply", &ply(&torus, kind, double)).unwrap();
            assert_eq!(mesh.triangles, torus.triangles);
            let off =
                mesh.vertices.iter().zip(&torus.vertices).flat_map(|(a, b)| (0..3).map(move |i| (a[i] - b[i]).abs()));
            assert!(off.fold(0.0, f64::max) < if double { 1e-300 } else { 1e-7 });
        }
    }
    let quads = "ply\nformat ascii 1.0\nobj_info x\nelement vertex 5\nproperty int x\nproperty int y\nproperty int z\nelement face 2\n\
                 property uchar flags\nproperty list uchar uint vertex_index\nelement edge 1\nproperty int a\nend_header\n\
                 0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n7 4 0 1 2 3\n7 3 1 4 2\n5\n";
    assert_eq!(load("quads.ply", quads).area(), 1.5);
    let strip = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement tristrips 1\n\
                 property list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n9 0 1 2 3 -1 3 2 1 -1\n";
    let mesh = load("strip.ply", strip);
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [3, 2, 1]]);
}

#[test]
fn ply_faults_are_named() {
    let tetra = tetrahedron();
    let (ascii, little) = (ply(&tetra, Ply::Ascii, false), ply(&tetra, Ply::Little, false));
    let text = String::from_utf8(ascii.clone()).unwrap();
    assert_refused("e.ply", b"", &["not a valid PLY file", "end of file"]);
    assert_refused("e.ply", b"plywood", &["not a valid PLY file"]);
    assert_refused("e.ply", text.split("end_header").next().unwrap().as_bytes(), &["end_header"]);
    assert_refused("e.ply", &ascii[..ascii.len() - 20], &["line 17", "\"3 0\"", "more numbers"]);
    assert_refused("e.ply", &little[..little.len() - 5], &["end of file", "face"]);
    assert_refused("e.ply", text.replace("face 4", "face 4000000000000").as_bytes(), &["truncated", "4000000000000"]);
    assert_refused("e.ply", text.replace("3 1 2 3\n", "3 1 2 9\n").as_bytes(), &["face 3", "vertex 9", "4 vertices"]);
    assert_refused("e.ply", text.replace("3 1 2 3\n", "3 1 2 -1\n").as_bytes(), &["face 3", "vertex -1"]);
    assert_refused("e.ply", text.replace("3 1 2 3\n", "2 1 2\n").as_bytes(), &["face 3", "2 corners"]);
    assert_refused("e.ply", text.replace("1 0 0 255", "nan 0 0 255").as_bytes(), &["vertex 1", "NaN", "finite"]);
    assert_refused("e.ply", text.replace("float z", "float depth").as_bytes(), &["\"vertex\"", "x, y and z"]);
    assert_refused(
        "e.ply",
        text.replace("uchar int vertex_indices", "uchar float vertex_indices").as_bytes(),
        &["vertex_indices"],
    );
    let cloud = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n";
    assert_refused("e.ply", cloud.as_bytes(), &["face", "point cloud"]);
    assert_refused(
        "e.ply",
        b"ply\nformat binary_little_endian 1.0\nelement vertex 9\nend_header\n",
        &["no properties"],
    );
    let mut nan = little.clone();
    let start = nan.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    nan[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_refused("e.ply", &nan, &["vertex 0", "NaN", "finite"]);
}

#[test]
fn unknown_types_and_missing_files_are_named() {
    let text = refusal("mesh.fbx", b"whatever");
    assert!(text.contains("\"fbx\"") && text.contains(".obj, .stl or .ply"), "{text}");
    assert!(refusal("mesh", b"").contains("unknown mesh file type"));
    let missing = PathBuf::from("no_such_file.obj");
    let error = io::load(&missing).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
}

#[test]
fn reasons_are_short_however_long_a_line_of_the_file_is() {
    let long = "x".repeat(100_000);
    let header = "ply\nformat ascii 1.0\n";
    let coordinates = "property float x\nproperty float y\nproperty float z\n";
    for (name, text) in [
        ("e.obj", format!("v 0 0 {long}\nf 1 1 1\n")),
        ("e.obj", format!("v 0 0 0\nf 1 1 {long}\n")),
        ("e.obj", format!("v 0 0 0\nf 1 1 {}2\n", "0".repeat(100_000))),
        ("e.stl", format!("solid\n{long}\n")),
        ("e.ply", format!("{header}{long}\nend_header\n")),
        ("e.ply", format!("{header}element {long} 9999999\nend_header\n")),
        ("e.ply", format!("{header}element vertex 1\n{coordinates}end_header\n0 0 {long}\n")),
    ] {
        let reason = refusal(name, text.as_bytes());
        assert!(reason.len() < 600, "{name}: {reason}");
    }
}
