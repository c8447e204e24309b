//! Holds the layers of `docs/architecture.md` and the absence of cycles among the files of each crate of `src/`.
//!
//! The layers are crates, so the compiler refuses an import from above; this test holds that the manifests agree with the
//! table of the page. For the files of a crate, a small parser reads the `use` declarations and the paths of every file. It resolves each name through the re-exports of
//! `mod.rs` files to the file that defines the item, which gives the graph of files. A `mod.rs` that only re-exports has no edges.
//! Test-only code does not count. Calls of methods are not paths, so they add no edge.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Source files by their path relative to `src/`, with `/` as separator.
type Sources = BTreeMap<String, String>;

/// For each file the files that it imports from, each with one path as evidence.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Returns words, `::` and single punctuation characters, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let until = |from: usize, end: &str| {
        let end: Vec<char> = end.chars().collect();
        (from..chars.len()).find(|&i| chars[i..].starts_with(&end)).map_or(chars.len(), |i| i + end.len())
    };
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match (chars[i], at(i + 1)) {
            ('/', '/') => i = until(i, "\n"),
            ('/', '*') => {
                let mut depth = 1;
                i += 2;
                while depth > 0 && i < chars.len() {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                }
            }
            ('"', _) => {
                i += 1;
                while i < chars.len() && chars[i] != '"' {
                    i += if chars[i] == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            // A character literal, or else the apostrophe of a lifetime, whose name then counts as a word.
            ('\'', '\\') => i = until(i + 3, "'"),
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (c, _) if is_word(c) => {
                let end = (i..chars.len()).find(|&k| !is_word(chars[k])).unwrap_or(chars.len());
                let word: String = chars[i..end].iter().collect();
                i = end;
                if matches!(word.as_str(), "r" | "br" | "cr") && matches!(at(i), '"' | '#') {
                    let hashes = chars[i..].iter().take_while(|&&c| c == '#').count();
                    if at(i + hashes) == '"' {
                        i = until(i + hashes + 1, &format!("\"{}", "#".repeat(hashes)));
                    } else {
                        i += hashes;
                    }
                } else if !matches!((word.as_str(), at(i)), ("b" | "c", '"' | '\'')) {
                    out.push(word);
                }
            }
            (':', ':') => {
                out.push("::".into());
                i += 2;
            }
            (c, _) => {
                out.extend((!c.is_whitespace()).then(|| c.to_string()));
                i += 1;
            }
        }
    }
    out
}

/// Returns the index after the group that opens at `open`.
fn group_end(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// Returns the tokens without attributes and without test-only items.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let open = i + 1 + usize::from(tokens.get(i + 1).is_some_and(|t| t == "!"));
        if tokens[i] != "#" || tokens.get(open).is_none_or(|t| t != "[") {
            out.push(tokens[i].clone());
            i += 1;
            continue;
        }
        let end = group_end(tokens, open);
        let attribute: String = tokens[open..end].concat();
        i = end;
        if attribute == "[cfg(test)]" || attribute.starts_with("[cfg(all(test,") || attribute == "[test]" {
            while tokens.get(i).is_some_and(|t| t == "#") {
                i = group_end(tokens, i + 1);
            }
            while i < tokens.len() && tokens[i] != ";" && tokens[i] != "{" {
                i = if matches!(tokens[i].as_str(), "(" | "[") { group_end(tokens, i) } else { i + 1 };
            }
            i = if tokens.get(i).is_some_and(|t| t == "{") { group_end(tokens, i) } else { i + 1 };
        }
    }
    out
}

struct Use {
    path: Vec<String>,
    /// Bound name; `*` for all.
    name: String,
    is_reexport: bool,
}

/// One module: a file, or a braced part of one.
#[derive(Default)]
struct Module {
    file: String,
    parent: usize,
    children: BTreeMap<String, usize>,
    defined: BTreeSet<String>,
    uses: Vec<Use>,
    /// Words outside `use`, without the names of methods and fields.
    words: BTreeSet<String>,
    /// Paths of two words or more outside `use`.
    paths: BTreeSet<Vec<String>>,
}

/// Result of resolving a path.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Module(usize),
    /// An item in the module that defines it.
    Item(usize),
    /// Something of another crate of the library.
    OtherCrate,
}

#[derive(Default)]
struct Crate {
    modules: Vec<Module>,
}

const ITEMS: [&str; 8] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

impl Crate {
    /// Parses the crate whose root is the file `root`.
    fn parse(sources: &Sources, root: &str) -> Self {
        let mut this = Self::default();
        this.parse_file(sources, root, 0);
        this
    }

    fn parse_file(&mut self, sources: &Sources, file: &str, parent: usize) -> usize {
        let text = sources.get(file).unwrap_or_else(|| panic!("{file} is declared and missing"));
        self.parse_module(sources, file, parent, &without_tests(&tokens(text)))
    }

    /// Returns the file of `mod name;` in another file.
    fn child_file(sources: &Sources, file: &str, name: &str) -> String {
        let (folder, own) = file.rsplit_once('/').map_or(("", file), |(folder, own)| (folder, own));
        let stem = own.trim_end_matches(".rs");
        let parts = [folder, if matches!(stem, "lib" | "mod") { "" } else { stem }, name];
        let path = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let alone = format!("{path}.rs");
        if sources.contains_key(&alone) {
            alone
        } else {
            format!("{path}/mod.rs")
        }
    }

    fn parse_module(&mut self, sources: &Sources, file: &str, parent: usize, tokens: &[String]) -> usize {
        let id = self.modules.len();
        self.modules.push(Module { file: file.into(), parent, ..Module::default() });
        let text = |i: usize| tokens.get(i).map_or("", String::as_str);
        // For each open bracket: true if its items belong to the module, as in the braces of a macro.
        let mut open: Vec<bool> = Vec::new();
        let (mut i, mut macro_end) = (0, 0);
        while i < tokens.len() {
            let in_module = open.iter().all(|&transparent| transparent);
            let before = if i > 0 { text(i - 1) } else { "" };
            match text(i) {
                "{" | "(" | "[" => open.push(before == "!" && is_name(text(i.saturating_sub(2)))),
                "}" | ")" | "]" => drop(open.pop()),
                "mod" if in_module && text(i + 2) == ";" => {
                    let child = self.parse_file(sources, &Self::child_file(sources, file, text(i + 1)), id);
                    self.modules[id].children.insert(text(i + 1).into(), child);
                    i += 2;
                }
                "mod" if in_module && text(i + 2) == "{" => {
                    let end = group_end(tokens, i + 2);
                    let child = self.parse_module(sources, file, id, &tokens[i + 3..end - 1]);
                    self.modules[id].children.insert(text(i + 1).into(), child);
                    i = end - 1;
                }
                "use" if text(i + 1) != "<" => {
                    let is_reexport = matches!(before, "pub" | ")");
                    let end = (i..tokens.len()).find(|&k| tokens[k] == ";").unwrap_or(tokens.len());
                    parse_use(&tokens[i + 1..end], &[], is_reexport, &mut self.modules[id].uses);
                    i = end;
                }
                "macro_rules" if is_name(text(i + 2)) => {
                    // Named items in its body count as defined in this module.
                    self.modules[id].defined.insert(text(i + 2).into());
                    (i, macro_end) = (i + 2, group_end(tokens, i + 3).max(macro_end));
                }
                item if (in_module || i < macro_end) && ITEMS.contains(&item) && is_name(text(i + 1)) => {
                    self.modules[id].defined.insert(text(i + 1).into());
                }
                word if is_name(word) && !matches!(before, "." | "::") => {
                    let mut path = vec![word.to_string()];
                    while text(i + 1) == "::" && is_name(text(i + 2)) {
                        path.push(text(i + 2).into());
                        i += 2;
                    }
                    self.modules[id].words.insert(path[0].clone());
                    if path.len() > 1 {
                        self.modules[id].paths.insert(path);
                    }
                }
                _ => {}
            }
            i += 1;
        }
        id
    }

    /// Returns all that a path in a module resolves to: a name can be a module and a function. Empty for crates that are not
    /// of this library.
    fn resolve(&self, module: usize, path: &[String], seen: &mut BTreeSet<(usize, String)>) -> Vec<Found> {
        let mut found = match path[0].as_str() {
            "crate" => vec![Found::Module(0)],
            "self" => vec![Found::Module(module)],
            "super" => vec![Found::Module(self.modules[module].parent)],
            name if name.starts_with("voxshell_") => vec![Found::OtherCrate],
            name => self.find(module, name, seen),
        };
        for name in &path[1..] {
            found = found
                .into_iter()
                .flat_map(|found| match found {
                    Found::Module(m) if name == "super" => vec![Found::Module(self.modules[m].parent)],
                    Found::Module(m) => self.find(m, name, seen),
                    item => vec![item],
                })
                .collect();
        }
        found
    }

    fn find(&self, id: usize, name: &str, seen: &mut BTreeSet<(usize, String)>) -> Vec<Found> {
        if !seen.insert((id, name.into())) {
            return Vec::new();
        }
        let module = &self.modules[id];
        let mut found: Vec<Found> = module.children.get(name).map(|&child| Found::Module(child)).into_iter().collect();
        if module.defined.contains(name) {
            found.push(Found::Item(id));
        }
        for import in module.uses.iter().filter(|import| import.name == name) {
            found.extend(self.resolve(id, &import.path, seen));
        }
        if found.is_empty() {
            for import in module.uses.iter().filter(|import| import.name == "*") {
                for target in self.resolve(id, &import.path, &mut seen.clone()) {
                    if let Found::Module(m) = target {
                        found.extend(self.find(m, name, seen));
                    }
                }
            }
        }
        seen.remove(&(id, name.to_string()));
        found
    }

    /// Returns paths of this crate that do not resolve; they show an error of the parser.
    fn unresolved(&self) -> Vec<String> {
        let mut out = Vec::new();
        for (id, module) in self.modules.iter().enumerate() {
            for path in module.uses.iter().map(|import| &import.path).chain(&module.paths) {
                let is_own = matches!(path[0].as_str(), "crate" | "super" | "self");
                if is_own && self.resolve(id, path, &mut BTreeSet::new()).is_empty() {
                    out.push(format!("{}: {}", module.file, path.join("::")));
                }
            }
        }
        out
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (id, module) in self.modules.iter().enumerate() {
            let edges = graph.entry(module.file.clone()).or_default();
            let mut add = |path: &[String]| {
                for found in self.resolve(id, path, &mut BTreeSet::new()) {
                    if let Found::Item(m) = found {
                        if self.modules[m].file != module.file {
                            edges.entry(self.modules[m].file.clone()).or_insert_with(|| path.join("::"));
                        }
                    }
                }
            };
            module.paths.iter().for_each(|path| add(path));
            for import in &module.uses {
                if import.name != "*" && (!import.is_reexport || module.words.contains(&import.name)) {
                    add(&import.path);
                }
                let is_local = |word: &String| {
                    module.defined.contains(word)
                        || module.children.contains_key(word)
                        || module.uses.iter().any(|import| import.name == *word)
                };
                for word in module.words.iter().filter(|word| import.name == "*" && !is_local(word)) {
                    add(&[&import.path[..], std::slice::from_ref(word)].concat());
                }
            }
        }
        graph
    }
}

/// Splits the tree of one `use` into entries without braces and aliases.
fn parse_use(tree: &[String], prefix: &[String], is_reexport: bool, out: &mut Vec<Use>) {
    let mut path = prefix.to_vec();
    let mut i = usize::from(tree.first().is_some_and(|t| t == "::"));
    while i < tree.len() {
        match tree[i].as_str() {
            "{" => {
                let inner = &tree[i + 1..group_end(tree, i) - 1];
                let mut depth = 0;
                let at_commas = inner.split(|token| {
                    depth += i32::from(token == "{") - i32::from(token == "}");
                    token == "," && depth == 0
                });
                at_commas.filter(|part| !part.is_empty()).for_each(|part| parse_use(part, &path, is_reexport, out));
                return;
            }
            "*" | "as" => {
                out.push(Use { path, name: tree[tree.len() - 1].clone(), is_reexport });
                return;
            }
            word if word == "::" || (word == "self" && !path.is_empty()) => {}
            word => path.push(word.into()),
        }
        i += 1;
    }
    let name = path.last().cloned().unwrap_or_default();
    out.push(Use { path, name, is_reexport });
}

/// Returns files that import from each other, directly or indirectly: one entry per strongly connected component.
fn cycles(graph: &Graph) -> Vec<String> {
    let reach = |from: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = graph[from].keys().collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(graph[file].keys());
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|file| (file, reach(file))).collect();
    let mut done: BTreeSet<&String> = BTreeSet::new();
    let mut out = Vec::new();
    for (&file, ahead) in &reached {
        if !ahead.contains(file) || !done.insert(file) {
            continue;
        }
        let members: BTreeSet<&String> = ahead.iter().copied().filter(|&other| reached[other].contains(file)).collect();
        let edges = members.iter().flat_map(|&from| {
            let inside = graph[from].iter().filter(|(to, _)| members.contains(to));
            inside.map(move |(to, path)| format!("  {from} -> {to} by {path}"))
        });
        out.push(format!("cycle of {} files:\n{}", members.len(), edges.collect::<Vec<_>>().join("\n")));
        done.extend(members);
    }
    out
}

/// Layer and row of each crate in the table.
type Layers = BTreeMap<String, (u32, usize)>;

fn layers(page: &str) -> Layers {
    let section =
        page.split("\n## ").find(|section| section.starts_with("Layers of the library")).expect("the section");
    let mut out = Layers::new();
    for (row, line) in section.lines().filter(|line| line.starts_with('|')).enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Ok(layer) = cells[1].parse() else { continue };
        for name in cells[2].split('`').skip(1).step_by(2) {
            assert!(out.insert(name.to_string(), (layer, row)).is_none(), "{name} has two layers");
        }
    }
    out
}

/// Crates of the library that the manifest depends on, by folder of `src/`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let names = manifest.lines().filter_map(|line| line.strip_prefix("voxshell-"));
    names.map(|rest| rest.split(['.', ' ', '=']).next().unwrap_or_default().to_string()).collect()
}

/// Returns the dependencies that do not lead to a lower row of the table, and the crates without a layer.
fn upward(manifests: &BTreeMap<String, String>, layers: &Layers) -> Vec<String> {
    let mut out = Vec::new();
    for (name, manifest) in manifests {
        let Some(own) = layers.get(name) else {
            out.push(format!("{name} has no layer"));
            continue;
        };
        for other in dependencies(manifest) {
            match layers.get(&other) {
                Some(lower) if lower.1 > own.1 && lower.0 <= own.0 => {}
                Some(_) => out.push(format!("{name} depends on {other}, which is not below it")),
                None => out.push(format!("{other} has no layer")),
            }
        }
    }
    out
}

fn read(folder: &Path, name: &str, sources: &mut Sources) {
    for entry in std::fs::read_dir(folder.join(name)).expect("a folder of src") {
        let entry = entry.expect("an entry");
        let own = entry.file_name().into_string().expect("a name in UTF-8");
        let path = if name.is_empty() { own } else { format!("{name}/{own}") };
        if entry.path().is_dir() {
            read(folder, &path, sources);
        } else if path.ends_with(".rs") {
            sources.insert(path, std::fs::read_to_string(entry.path()).expect("a source file"));
        }
    }
}

fn source_folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the parsed crates of the library: one for each folder of `src/` with a manifest, and the root.
fn crates() -> Vec<Crate> {
    let mut sources = Sources::new();
    read(&source_folder(), "", &mut sources);
    let roots: Vec<&String> = sources.keys().filter(|file| *file == "lib.rs" || file.ends_with("/lib.rs")).collect();
    assert!(roots.len() > 10, "{roots:?}");
    roots.into_iter().map(|root| Crate::parse(&sources, root)).collect()
}

fn manifests() -> BTreeMap<String, String> {
    let folders = std::fs::read_dir(source_folder()).expect("src").map(|entry| entry.expect("an entry").path());
    let with_manifest = folders.filter_map(|folder| {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        Some((folder.file_name()?.to_str()?.to_string(), text))
    });
    with_manifest.collect()
}

fn table() -> Layers {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    layers(&std::fs::read_to_string(page).expect("the page with the layers"))
}

fn given(files: &[(&str, &str)]) -> Graph {
    let sources = files.iter().map(|&(path, text)| (path.to_string(), text.to_string())).collect();
    let library = Crate::parse(&sources, "lib.rs");
    assert_eq!(library.unresolved(), Vec::<String>::new());
    library.graph()
}

#[test]
fn no_crate_depends_on_a_layer_above() {
    let found = upward(&manifests(), &table());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_table_lists_every_crate_and_no_other() {
    let mut names: Vec<String> = manifests().into_keys().collect();
    names.push("capi".into());
    names.sort();
    assert_eq!(table().into_keys().collect::<Vec<_>>(), names);
}

#[test]
fn no_files_import_from_each_other() {
    let found: Vec<String> = crates().iter().flat_map(|one| cycles(&one.graph())).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_path_of_the_library_is_resolved() {
    let found: Vec<String> = crates().iter().flat_map(Crate::unresolved).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_upward_dependency_is_found() {
    let rows = "\n## Layers of the library\n\n| layer | crate | |\n| --- | --- | --- |\n\
        | 1 | `upper` | |\n| 0 | `lower` | |\n| 0 | `lowest` | |\n\n## Next\n\n| 7 | `lower` | |\n";
    let upward =
        |name: &str, manifest: &str| upward(&BTreeMap::from([(name.to_string(), manifest.to_string())]), &layers(rows));
    assert!(upward("upper", "voxshell-lower.workspace = true\nvoxshell-lowest = { path = \"..\" }\n").is_empty());
    assert_eq!(upward("lower", "voxshell-upper.workspace = true\n").len(), 1);
    assert_eq!(upward("lowest", "voxshell-lower.workspace = true\n").len(), 1, "rows of one layer have an order");
    assert_eq!(upward("stray", ""), ["stray has no layer"]);
}

#[test]
fn comments_literals_and_tests_are_no_imports() {
    for text in [
        "//! [`crate::upper::Item`]\n/* use /* nested */ crate::upper::Item; */",
        "pub const A: &str = \"\\\" crate::upper::Item\"; pub const B: &str = r#\"\" crate::upper::Item\"#;",
        "#[cfg(test)] mod tests { use crate::upper::Item; }",
        "#[cfg(test)] #[allow(unused)] use crate::upper::{Item, made}; #[test] fn f() { crate::upper::made() }",
        "#[cfg(all(test, unix))] fn f(_: [u8; 2]) -> crate::upper::Item { crate::upper::Item }",
    ] {
        let graph = given(&[
            ("lib.rs", "mod lower; mod upper;"),
            ("lower.rs", text),
            ("upper.rs", "pub struct Item; pub fn made() {}"),
        ]);
        assert!(graph["lower.rs"].is_empty(), "{text}");
    }
}

#[test]
fn each_form_of_an_import_is_found() {
    for text in [
        "use crate::upper::Item;",
        "use crate::{upper::{self, Item as Thing}};",
        "pub fn f() { super::upper::made(); }",
        "use crate::upper; pub fn f() -> upper::Item { upper::Item }",
        "use crate::upper::*; pub type T = Item;",
        "mod inner { use super::super::upper::Item; }",
        "#[cfg(unix)] fn f<'a>() { let _c = ('\\'', b'\"'); use crate::upper::Item; }",
        "macro_rules! m { () => { $crate::upper::made() }; }",
    ] {
        let graph = given(&[
            ("lib.rs", "mod lower; mod upper;"),
            ("lower.rs", text),
            ("upper.rs", "pub struct Item; pub fn made() {}"),
        ]);
        assert_eq!(graph["lower.rs"].keys().collect::<Vec<_>>(), ["upper.rs"], "{text}");
    }
}

#[test]
fn a_cycle_of_files_is_found() {
    let root = ("lib.rs", "mod m; pub use m::A;");
    let found = cycles(&given(&[
        root,
        ("m/mod.rs", "mod a; mod b; mod c; pub use a::A; use c::C;"),
        ("m/a.rs", "use super::b; pub struct A(b::B);"),
        ("m/b.rs", "pub struct B(super::C);"),
        ("m/c.rs", "pub struct C(Box<crate::A>); pub fn c() {}"),
    ]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("cycle of 3 files"), "{}", found[0]);
    assert!(found[0].contains("m/b.rs -> m/c.rs by super::C"), "{}", found[0]);

    let found = cycles(&given(&[
        root,
        ("m/mod.rs", "mod a; pub use a::A; struct M(A);"),
        ("m/a.rs", "use super::*; pub struct A(M);"),
    ]));
    assert_eq!(found.len(), 1, "the module has an item of its own, which the child imports: {found:?}");
}

#[test]
fn a_module_that_only_lists_is_in_no_cycle() {
    let found = cycles(&given(&[
        ("lib.rs", "mod m; pub use m::A;"),
        ("m/mod.rs", "mod a; mod b; pub use a::A; pub(crate) use b::*;"),
        ("m/a.rs", "use super::*; pub struct A(Option<B>);"),
        ("m/b.rs", "pub struct B; impl B { fn a(&self) { self.A() } fn A(&self) {} }"),
    ]));
    assert_eq!(found, Vec::<String>::new());
}
