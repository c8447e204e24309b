//! One cube in all variants in which tools write mesh files: each file must give the same mesh. Files with content that
//! a reader does not understand must be refused with the position.

use voxshell::mesh::{io, TriMesh};

const CORNERS: [[i32; 3]; 8] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
const FACES: [[usize; 3]; 12] = [
    [0, 2, 1],
    [0, 3, 2],
    [4, 5, 6],
    [4, 6, 7],
    [0, 1, 5],
    [0, 5, 4],
    [1, 2, 6],
    [1, 6, 5],
    [2, 3, 7],
    [2, 7, 6],
    [3, 0, 4],
    [3, 4, 7],
];
const MARK: &str = "\u{feff}";

fn load(name: &str, bytes: &[u8]) -> voxshell::Result<TriMesh> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    io::load(&path)
}

fn v(corner: [i32; 3]) -> String {
    let [x, y, z] = corner;
    format!("{x} {y} {z}")
}

fn obj() -> String {
    let vertices: String = CORNERS.iter().map(|c| format!("v {}\n", v(*c))).collect();
    let faces: String = FACES.iter().map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1)).collect();
    format!("# a cube\n{vertices}g sides\n{faces}")
}

fn stl() -> String {
    let facet = |f: &[usize; 3]| {
        let corners: String = f.iter().map(|&i| format!("      vertex {}\n", v(CORNERS[i]))).collect();
        format!("  facet normal 0 0 1\n    outer loop\n{corners}    endloop\n  endfacet\n")
    };
    let facets: String = FACES.iter().map(facet).collect();
    format!("solid a cube\n{facets}endsolid a cube\n")
}

fn binary_stl(title: &[u8]) -> Vec<u8> {
    let mut out = title.to_vec();
    out.resize(80, 0);
    out.extend((FACES.len() as u32).to_le_bytes());
    for face in FACES {
        out.extend([0; 12]);
        out.extend(face.iter().flat_map(|&i| CORNERS[i]).flat_map(|x| (x as f32).to_le_bytes()));
        out.extend([0; 2]);
    }
    out
}

fn ply_header(format: &str) -> String {
    format!(
        "ply\nformat {format} 1.0\ncomment a cube\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n\
         element face 12\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

fn ply_vertices() -> String {
    CORNERS.iter().map(|c| v(*c) + "\n").collect()
}

fn ply_faces() -> String {
    FACES.iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n")).collect()
}

fn ply() -> String {
    ply_header("ascii") + &ply_vertices() + &ply_faces()
}

fn ply_body(big: bool) -> Vec<u8> {
    let order = |little: [u8; 4]| if big { [little[3], little[2], little[1], little[0]] } else { little };
    let mut out: Vec<u8> = CORNERS.iter().flatten().flat_map(|&x| order((x as f32).to_le_bytes())).collect();
    for face in FACES {
        out.push(3);
        out.extend(face.iter().flat_map(|&i| order((i as i32).to_le_bytes())));
    }
    out
}

fn binary_ply(header: &str, big: bool) -> Vec<u8> {
    [header.as_bytes(), &ply_body(big)].concat()
}

/// Returns the same text with other line ends, blank lines, other spaces, and a byte order mark.
fn rewritten(text: &str) -> Vec<(&'static str, String)> {
    let spaced = |by: &str| text.lines().map(|l| by.to_string() + &l.replace(' ', by) + by + "\n").collect::<String>();
    vec![
        ("as it is", text.into()),
        ("byte order mark", format!("{MARK}{text}")),
        ("CR LF", text.replace('\n', "\r\n")),
        ("CR", text.replace('\n', "\r")),
        ("mark and CR LF", MARK.to_string() + &text.replace('\n', "\r\n")),
        ("mark and CR", MARK.to_string() + &text.replace('\n', "\r")),
        ("no end of the last line", text.trim_end().into()),
        ("blank lines at the end", format!("{text}\n \n\t\r\n\n")),
        ("spaces at the ends", text.replace('\n', "  \n")),
        ("tabs at the ends", text.replace('\n', "\t\n")),
        ("tabs", text.replace(' ', "\t")),
        ("many spaces", spaced("  ").trim_start().into()),
        ("many tabs", spaced("\t \t").trim_start().into()),
        ("decimals", text.replace(" 1 ", " 1.000 ")),
    ]
}

/// Checks that all texts give the same mesh as the first; decimals only where no integer becomes one.
fn assert_same(extension: &str, files: Vec<(String, Vec<u8>)>) {
    let expected = load(&format!("cube.{extension}"), &files[0].1).unwrap();
    assert_eq!((expected.vertices.len(), expected.triangles.len()), (8, 12));
    assert!(expected.report().is_solid() && expected.report().volume == 1.0);
    let mut wrong = Vec::new();
    for (what, bytes) in &files {
        match load(&format!("cube.{extension}"), bytes) {
            Ok(mesh) if mesh == expected => {}
            Ok(mesh) => {
                wrong.push(format!("{what}: {} vertices, {} triangles", mesh.vertices.len(), mesh.triangles.len()))
            }
            Err(e) => wrong.push(format!("{what}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{extension}:\n{}", wrong.join("\n"));
}

fn named(files: Vec<(&'static str, String)>) -> Vec<(String, Vec<u8>)> {
    files.into_iter().map(|(what, text)| (what.to_string(), text.into_bytes())).collect()
}

#[test]
fn every_variant_of_an_obj_file_gives_the_same_mesh() {
    let text = obj();
    let mut files = rewritten(&text);
    files.retain(|(what, _)| *what != "decimals");
    let continued = |by: &str| {
        text.replace("v 1 1 1\n", &format!("v 1 {by}1 {by}1\n")).replace("f 1 3 2\n", &format!("f 1 {by}3 {by} 2\n"))
    };
    let words = |from: &str, to: &str| text.replace(from, to);
    let cube = &text[text.find("v ").unwrap()..];
    files.extend([
        ("continued lines", continued("\\\n")),
        ("continued lines, CR LF", continued("\\\r\n").replace('\n', "\r\n").replace("\r\r", "\r")),
        ("continued lines, spaces after the backslash", continued("\\ \t\n")),
        ("a comment that ends in a backslash", words("# a cube\n", "# C:\\parts\\\n")),
        ("a name that ends in a backslash", words("# a cube\n", "o C:\\parts\\\n")),
        ("a comment after a statement", words("v 0 0 1\n", "v 0 0 1 # corner \\\n")),
        ("a comment before the mark's line", format!("{MARK}{cube}")),
        ("a comment in another encoding", words("# a cube\n", "# caf\u{e9}\n")),
        ("plus signs and exponents", words("v 1 1 1\n", "v +1 1.0e0 10E-1\n")),
        ("no digits before or after the point", words("v 1 1 1\n", "v 1. 1.0 .1e1\n")),
        ("weights", words("v 1 1 1\n", "v 1 1 1 2\n")),
        ("a weight of 0", words("v 1 1 1\n", "v 1 1 1 0\n")),
        ("colours that are no numbers", words("v 1 1 1\n", "v 1 1 1 nan nan nan\n")),
        ("colours", words("v 1 1 1\n", "v 1 1 1 0.5 0.5 0.5\n")),
        ("colours with alpha", words("v 1 1 1\n", "v 1 1 1 0.5 0.5 0.5 1\n")),
        ("texture and normals", words("f 1 3 2\n", "vt 0 0\nvn 0 0 1\nf 1/1/1 3/1/1 2/1/1\n")),
        ("normals alone", words("f 1 3 2\n", "vn 0 0 1\nf 1//1 3//1 2//1\n")),
        ("relative numbers", words("f 1 3 2\n", "f -8 -6 -7\n")),
        (
            "faces before vertices",
            format!("{}{}", &text[text.find("f ").unwrap()..], &text[..text.find("g ").unwrap()]),
        ),
        ("points and lines", words("g sides\n", "g sides\np 1\nl 1 2 3\n")),
        ("a curve", words("g sides\n", "cstype bezier\ndeg 3\ncurv 0 1 1 2 3 4\nparm u 0 1\nend\n")),
        ("materials", words("g sides\n", "mtllib a b.mtl\nusemtl red\ns off\no one\ng\n")),
        ("an unused vertex", format!("{text}v 7 7 7\n")),
    ]);
    assert_same("obj", named(files));
}

#[test]
fn every_variant_of_an_stl_file_gives_the_same_mesh() {
    let text = stl();
    let mut files = rewritten(&text);
    let words = |from: &str, to: &str| text.replace(from, to);
    files.extend([
        ("capitals", text.to_uppercase()),
        ("no name", words(" a cube", "")),
        ("a name of keywords", words("a cube", "facet normal 0 0 1")),
        ("normals that are no numbers", words("normal 0 0 1", "normal nan nan nan")),
        ("normals without numbers", words("normal 0 0 1", "normal")),
        ("blank lines", words("\n", "\n\n")),
        ("a blank line first", format!("\n{text}")),
        ("several solids", words("  endloop\n  endfacet\n  facet normal 0 0 1\n    outer loop\n      vertex 0 0 1\n      vertex 1 0 1\n", "  endloop\n  endfacet\nendsolid a\n\nsolid b\n  facet normal 0 0 1\n    outer loop\n      vertex 0 0 1\n      vertex 1 0 1\n")),
        ("exponents", words("vertex 1 1 1", "vertex 1e0 1.0E+0 10e-1")),
    ]);
    let mut files = named(files);
    for title in [
        &b""[..],
        b"solid binary",
        b"solid and 80 letters long, so that there is no zero in the whole of the title of it.",
        b"\xef\xbb\xbfsolid",
        b"\xff\xfes\0o\0l\0",
    ] {
        files
            .push((format!("binary, {:?}", String::from_utf8_lossy(title)), binary_stl(&title[..title.len().min(80)])));
    }
    assert_same("stl", files);
}

#[test]
fn every_variant_of_a_ply_file_gives_the_same_mesh() {
    let text = ply();
    let mut files = rewritten(&text);
    files.retain(|(what, _)| !["decimals", "many spaces", "many tabs"].contains(what));
    let words = |from: &str, to: &str| text.replace(from, to);
    let doubled = |from: &str, to: &str| text.replace(from, to).replace("\nend_header\n", "\n\nend_header\n\n");
    let header = ply_header("ascii");
    files.extend([
        ("blank lines in the header", words("element", "\n \nelement")),
        ("blank lines around the header's end", doubled("x", "x")),
        (
            "blank lines in the body",
            header.clone() + &ply_vertices().replace('\n', "\n\n") + " \n\t\n" + &ply_faces().replace('\n', "\r\n\r\n"),
        ),
        ("lines of the body ended otherwise", header.clone() + &(ply_vertices() + &ply_faces()).replace('\n', "\r")),
        (
            "many spaces in the body",
            header.clone() + &(ply_vertices() + &ply_faces()).replace(' ', " \t ").replace('\n', "  \n "),
        ),
        (
            "no digit before or after the point",
            header.clone() + &ply_vertices().replace("1 ", "1. ").replace(" 1\n", " .1e1\n") + &ply_faces(),
        ),
        ("other names of types", words("float", "float32").replace("uchar int", "uint8 int32")),
        ("doubles", words("float", "double")),
        ("integers", words("float", "short")),
        ("vertex_index", words("vertex_indices", "vertex_index")),
        ("an empty comment", words("comment a cube", "comment\nobj_info")),
        ("faces before vertices", {
            let [vertex, face] = [
                "element vertex 8\nproperty float x\nproperty float y\nproperty float z\n",
                "element face 12\nproperty list uchar int vertex_indices\n",
            ];
            header.replace(vertex, "").replace(face, &format!("{face}{vertex}")) + &ply_faces() + &ply_vertices()
        }),
        ("other elements and properties", {
            let header = header.replace(
                "end_header",
                "property float area\nelement edge 1\nproperty int vertex1\nproperty int vertex2\nend_header",
            );
            header.replace("float z\n", "float z\nproperty uchar red\n")
                + &ply_vertices().replace('\n', " 255\n")
                + &ply_faces().replace('\n', " 0.5\n")
                + "0 1\n"
        }),
    ]);
    let mut files = named(files);
    for (format, big) in [("binary_little_endian", false), ("binary_big_endian", true)] {
        let header = ply_header(format);
        for (end, header) in [
            ("LF", header.clone()),
            ("CR LF", header.replace('\n', "\r\n")),
            ("CR", header.replace('\n', "\r")),
            ("mark and LF", format!("{MARK}{header}")),
            ("blank lines and LF", header.replace("element", "\n \nelement")),
        ] {
            files.push((format!("{format}, {end}"), binary_ply(&header, big)));
        }
    }
    assert_same("ply", files);
}

/// Byte 10, LF, is the first of the body: a CR at the end of the header must not join it.
#[test]
fn binary_ply_with_cr_line_ends_keeps_its_first_byte() {
    let header = "ply\rformat binary_little_endian 1.0\relement vertex 3\rproperty uchar x\rproperty uchar y\rproperty uchar z\r\
                  element face 1\rproperty list uchar uchar vertex_indices\rend_header\r";
    let body = [10, 0, 0, 11, 0, 0, 10, 1, 0, 3, 0, 1, 2];
    let mesh = load("a.ply", &[header.as_bytes(), &body].concat()).unwrap();
    assert_eq!(mesh.vertices, [[10.0, 0.0, 0.0], [11.0, 0.0, 0.0], [10.0, 1.0, 0.0]]);
}

#[test]
fn numbers_of_text_keep_all_their_digits() {
    let far = "1000000.0123456789";
    for (name, text) in [("a.obj", obj()), ("a.stl", stl()), ("a.ply", ply())] {
        let text = text.replace("1 1 1", &format!("1 1 {far}"));
        let mesh = load(name, text.as_bytes()).unwrap();
        assert_eq!(mesh.bounds().max.z, far.parse::<f64>().unwrap(), "{name}");
    }
}

/// Returns the reason of a refusal, without the path.
fn refusal(name: &str, bytes: &[u8]) -> String {
    match load(name, bytes) {
        Err(voxshell::Error::InvalidFile { reason, .. }) => reason,
        other => panic!("{name} {:?} gave {other:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(200)])),
    }
}

fn assert_refused(name: &str, cases: &[(String, &[&str])]) {
    for (text, parts) in cases {
        let reason = refusal(name, text.as_bytes());
        assert!(parts.iter().all(|p| reason.contains(p)), "{reason:?} lacks one of {parts:?}");
    }
}

#[test]
fn utf16_text_is_refused_by_name() {
    for (name, text) in [("a.obj", obj()), ("a.stl", stl()), ("a.ply", ply())] {
        for text in [text.clone(), format!("{MARK}{text}")] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            for bytes in [little, big] {
                let reason = refusal(name, &bytes);
                assert!(reason.contains("UTF-16") && reason.contains("expected UTF-8"), "{name}: {reason}");
            }
        }
    }
}

#[test]
fn obj_statements_not_understood_are_refused() {
    let text = obj();
    let with = |from: &str, to: &str| text.replace(from, to);
    assert_refused(
        "a.obj",
        &[
            (with("v 1 1 1\n", "V 1 1 1\n"), &["line 8", "\"V 1 1 1\"", "expected a statement"]),
            (with("v 1 1 1\n", "v1 1 1\n"), &["line 8", "expected a statement"]),
            (with("v 1 1 1\n", "\u{feff}v 1 1 1\n"), &["line 8", "expected a statement"]),
            (with("f 1 3 2\n", "F 1 3 2\n"), &["line 11", "expected a statement"]),
            (with("f 1 3 2\n", "f 1,3,2\n"), &["line 11", "at least three"]),
            (with("f 1 3 2\n", "f 1.0 3.0 2.0\n"), &["line 11", "at least three"]),
            (with("f 1 3 2\n", "f 1/1/1/1 3 2\n"), &["line 11", "at least three"]),
            (with("f 1 3 2\n", "f 1/x 3 2\n"), &["line 11", "at least three"]),
            (with("f 1 3 2\n", "f 1 3\n2\n"), &["line 11", "at least three"]),
            (with("v 1 1 1\n", "v 1 1\n1\n"), &["line 8", "three finite numbers"]),
            (with("v 1 1 1\n", "v 1 1 1 1 1\n"), &["line 8", "three finite numbers"]),
            (with("v 1 1 1\n", "v 1 1 1 1 1 1 1 1\n"), &["line 8", "three finite numbers"]),
            (with("v 1 1 1\n", "v 1 1 1 red\n"), &["line 8", "three finite numbers"]),
            (with("v 1 1 1\n", "v 1 1 1 0 0\n"), &["line 8", "three finite numbers"]),
            (with("v 1 1 1\n", "v 1,0 1,0 1,0\n"), &["line 8", "three finite numbers"]),
            (with("g sides\n", "surf 0 1 0 1 1 2 3 4\n"), &["line 10", "free-form"]),
            (with("g sides\n", "call other.obj\n"), &["line 10", "commands"]),
            (format!("{text}f 1 2 3 \\\n"), &["line 23", "ends in a continued line"]),
            (format!("{text}f 1 2 3 \\"), &["line 23", "ends in a continued line"]),
            (format!("{text}f 1 2 9\nf 1 2 10\nf 1 2 3\n"), &["line 23", "vertex 9", "8 vertices"]),
        ],
    );
}

#[test]
fn stl_lines_not_understood_are_refused() {
    let text = stl();
    let with = |from: &str, to: &str| text.replacen(from, to, 1);
    assert_refused(
        "a.stl",
        &[
            (with("outer loop", "outer loop vertex 0 0 0"), &["line 3", "outer loop"]),
            (with("outer loop", "outer"), &["line 3", "outer loop"]),
            (with("endloop", "endloop endfacet"), &["line 7", "endloop"]),
            (with("endfacet", "endfacet facet"), &["line 8", "endfacet"]),
            (with("facet normal 0 0 1", "facet normal 0 0 1 outer loop"), &["line 2", "facet normal"]),
            (with("vertex 0 0 0", "vertex 0 0 0 0"), &["line 4", "three finite numbers"]),
            (with("vertex 0 0 0", "vertex 0 0 0\nvertex 0 0 0"), &["line 7", "endloop"]),
            (with("  facet", "color 1 0 0\n  facet"), &["line 2", "facet"]),
            (format!("{text}facet normal 0 0 1\n"), &["line 87", "solid"]),
            (text.replace('\n', " "), &["truncated"]),
        ],
    );
}

#[test]
fn binary_stl_with_other_counts_is_refused() {
    let good = binary_stl(b"solid or not");
    let mut fewer_announced = good.clone();
    fewer_announced[80..84].copy_from_slice(&6u32.to_le_bytes());
    let mut none_announced = good.clone();
    none_announced[80..84].copy_from_slice(&0u32.to_le_bytes());
    let mut more_announced = good.clone();
    more_announced[80..84].copy_from_slice(&13u32.to_le_bytes());
    for (bytes, parts) in [
        (fewer_announced, ["6 triangles are announced", "bytes for 12"]),
        (none_announced, ["0 triangles are announced", "bytes for 12"]),
        (more_announced, ["13 triangles are announced", "bytes for 12 only"]),
        (good[..good.len() - 1].to_vec(), ["12 triangles are announced", "bytes for 11 only"]),
        ([&good[..], b"\0"].concat(), ["12 triangles are announced", "1 bytes follow"]),
        ([&good[..], b"by an exporter"].concat(), ["12 triangles are announced", "14 bytes follow"]),
        ([&good[..], &[0; 50]].concat(), ["12 triangles are announced", "bytes for 13"]),
    ] {
        let reason = refusal("a.stl", &bytes);
        assert!(parts.iter().all(|p| reason.contains(p)), "{reason:?} lacks one of {parts:?}");
    }
}

#[test]
fn ply_parts_not_understood_are_refused() {
    let text = ply();
    let with = |from: &str, to: &str| text.replacen(from, to, 1);
    assert_refused(
        "a.ply",
        &[
            (with("1 1 1\n", "1 1 1 7\n"), &["line 17", "no more numbers than element \"vertex\""]),
            (with("3 0 2 1\n", "3 0 2 1 3\n"), &["line 19", "no more numbers than element \"face\""]),
            (with("3 0 2 1\n", "4 0 2 1\n"), &["line 19", "expected more numbers"]),
            (with("3 0 2 1\n", "3 0 2\n1\n"), &["line 19", "expected more numbers"]),
            (with("3 0 2 1\n", "3 0 2.0 1\n"), &["line 19", "a whole number", "2.0"]),
            (with("3 0 2 1\n", "300 0 2 1\n"), &["line 19", "from 0 to 255"]),
            (with("1 1 1\n", "1 1 one\n"), &["line 17", "a number", "one"]),
            (format!("{text}3 0 1 2\n"), &["line 31", "the end of the file"]),
            (with("face 12", "face 11"), &["line 30", "the end of the file"]),
            (with("face 12", "face 13"), &["truncated", "13 of element \"face\"", "end of file"]),
            (with("element face", "element vertex"), &["line 8", "different names"]),
            (with("float z", "float y"), &["line 7", "different names"]),
            (with("float z", "float depth"), &["vertex", "x, y and z"]),
            (with("float z", "quad z"), &["line 7", "property type name"]),
            (with("float z", "float z w"), &["line 7", "property type name"]),
            (with("element face", "element faces"), &["\"faces\"", "face and tristrips"]),
            (with("vertex_indices", "corners"), &["face", "vertex_indices"]),
            (with("int vertex_indices", "float vertex_indices"), &["vertex_indices", "whole numbers"]),
            (with("format ascii 1.0", "format ascii 2.0"), &["line 2", "format"]),
            (with("format ascii 1.0", "format text 1.0"), &["line 2", "binary_little_endian"]),
            (with("comment a cube", "remark a cube"), &["line 3", "remark"]),
            (with("comment a cube", "property int first"), &["line 3", "an element before"]),
        ],
    );
    let good = binary_ply(&ply_header("binary_big_endian"), true);
    let reason = refusal("a.ply", &[&good[..], b"\n\0"].concat());
    assert!(reason.contains("2 bytes follow the last element"), "{reason}");
}
