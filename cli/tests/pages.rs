//! Commands and options in the pages: those of `voxshell` are run, the others are compared with the sources of their
//! programs. A command that this test does not know fails, so that no page names one that nothing checks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

type Check = Result<(), String>;
type Words = BTreeSet<String>;

/// All text files of the project except this one, with their paths from its root.
static FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let (mut files, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = entry.file_name().into_string().unwrap_or_default();
            if kind.is_dir() && ![".git", "build", "target", "shared", "node_modules"].contains(&&*name) {
                folders.extend((!path.join("CMakeCache.txt").exists()).then_some(path));
            } else if kind.is_file() && name != "pages.rs" && entry.metadata().unwrap().len() < 1 << 20 {
                let from_root = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
                files.extend(std::fs::read_to_string(path).ok().map(|text| (from_root, text)));
            }
        }
    }
    files.sort();
    files
});

/// The text of all files but the pages, and its words.
static SOURCES: LazyLock<String> = LazyLock::new(|| text_of(|path| !path.ends_with(".md")));
static WORDS: LazyLock<Words> = LazyLock::new(|| words_of(&SOURCES, "-_+"));
static CMAKE: LazyLock<String> =
    LazyLock::new(|| text_of(|path| path.ends_with(".cmake") || path.ends_with("CMakeLists.txt")));
static CMAKE_WORDS: LazyLock<Words> = LazyLock::new(|| words_of(&CMAKE, "_"));
static COOK: LazyLock<Words> = LazyLock::new(|| words_of(&help(&["cook"]), "-"));
static VERBS: LazyLock<Words> =
    LazyLock::new(|| help(&[]).split("\n  ").filter_map(|line| line.split(' ').next()).map(String::from).collect());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into()
}

fn file(path: &str) -> Option<&'static str> {
    FILES.binary_search_by(|(name, _)| (**name).cmp(path)).ok().map(|at| &*FILES[at].1)
}

fn text_of(filter: impl Fn(&str) -> bool) -> String {
    FILES.iter().filter(|(path, _)| filter(path)).map(|(_, text)| &**text).collect::<Vec<_>>().join("\n")
}

/// Returns the words of a text: letters, digits and the given characters.
fn words_of(text: &str, others: &str) -> Words {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !others.contains(c)).map(String::from).collect()
}

/// Returns the code spans of a page's prose, and its blocks of shell commands with `true`. Blocks that quote a file are left
/// to `tests/docs.rs`.
fn code(page: &str) -> Vec<(String, bool)> {
    let (mut all, mut prose, mut before) = (Vec::new(), String::new(), "");
    let mut lines = page.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            assert!(!["bash", "shell", "console"].contains(&language), "write ```sh, so that the commands are checked");
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            if language == "sh" && !before.starts_with("<!-- from ") {
                all.push((text.join("\n"), true));
            }
        } else {
            // A span ends with its paragraph or its row of a table.
            prose += if line.is_empty() || line.starts_with('|') { "\n\n" } else { "\n" };
            prose += line;
        }
        before = line;
    }
    for paragraph in prose.split("\n\n") {
        let spans = paragraph.split('`').skip(1).step_by(2);
        all.extend(spans.map(|span| (span.replace('\n', " ").replace("\\|", "|"), false)));
    }
    all
}

/// Splits shell text into commands and these into words, without quotes, comments, redirections, variables and `$(…)`.
fn commands(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word, mut quote, mut depth) = (Vec::new(), Vec::new(), String::new(), None, 0);
    let mut letters = text.chars().chain(['\n']).peekable();
    while let Some(c) = letters.next() {
        match (c, quote) {
            (_, Some(q)) if c == q => quote = None,
            (_, Some(_)) => word.push(c),
            ('\'' | '"', None) => quote = Some(c),
            ('(', None) if word.ends_with('$') || depth > 0 => depth += 1,
            (')', None) if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            ('\\', None) => drop(letters.next()),
            ('#', None) if word.is_empty() => while letters.next_if(|&c| c != '\n').is_some() {},
            ('>' | '<', None) => words.push(String::from(">")),
            (' ' | '\n' | ';' | '|' | '&', None) => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                if c != ' ' {
                    all.push(std::mem::take(&mut words));
                }
            }
            _ => word.push(c),
        }
    }
    for words in &mut all {
        while let Some(at) = words.iter().position(|word| word == ">") {
            words.drain(at..words.len().min(at + 2));
        }
        let variable = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_upper(name));
        let leading = words.iter().take_while(|word| variable(word) || ["do", "sudo"].contains(&&***word)).count();
        words.drain(..leading);
    }
    all.retain(|words| !words.is_empty() && !["for", "done", "cd"].contains(&&*words[0]));
    all
}

/// Returns whether a word stands for another one, such as `FILE`.
fn is_upper(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.contains(|c: char| c.is_ascii_lowercase())
}

/// Returns `HapticsDemo` as `haptics-demo`, and `max_gap` as `max-gap`.
fn kebab(name: &str) -> String {
    let dash = |c: char| if c.is_ascii_uppercase() { format!("-{}", c.to_ascii_lowercase()) } else { c.into() };
    name.chars().map(dash).collect::<String>().trim_start_matches('-').replace('_', "-")
}

/// Options and names of a program whose command line clap derives from its sources.
struct Clap {
    source: String,
    options: Words,
    /// Names of all types and variants.
    variants: Words,
}

static CLI: LazyLock<Clap> = LazyLock::new(|| Clap::new("cli/src/"));
static LAB: LazyLock<Clap> = LazyLock::new(|| Clap::new("lab/src/"));
static DEMO: LazyLock<Clap> = LazyLock::new(|| Clap::new("bullet-demo/src/"));

impl Clap {
    fn new(folder: &str) -> Self {
        let source = text_of(|path| path.starts_with(folder) && path.ends_with(".rs"));
        let mut options: Words = ["--help", "--version"].map(String::from).into();
        for attribute in source.split("#[arg(").skip(1) {
            let (arguments, rest) = attribute.split_once(")]\n").expect("an attribute ends");
            let words: Vec<&str> = arguments.split([',', ' ', '\n']).collect();
            let Some(at) = words.iter().position(|&word| word == "long") else { continue };
            let field =
                rest.lines().map(str::trim).find(|line| !line.starts_with(['#', '/'])).expect("a field follows");
            let name = field.trim_start_matches("pub ").split(':').next().unwrap_or_default();
            let given = (words.get(at + 1) == Some(&"=")).then(|| words[at + 2].trim_matches('"').to_string());
            options.insert(format!("--{}", given.unwrap_or_else(|| kebab(name))));
        }
        let types = words_of(&source, "").into_iter().filter(|word| word.starts_with(char::is_uppercase));
        let variants = types.map(|word| kebab(&word)).collect();
        Self { source, options, variants }
    }

    /// Checks the options of a command, and the names of scenes and so on. With `verbs`, its first words are verbs.
    fn check(&self, words: &[String], verbs: usize) -> Check {
        // Some commands share the options of cooking.
        check_options(words, |option| self.options.contains(option) || COOK.contains(option))?;
        let is_name =
            |word: &str| is_upper(word) || self.source.contains(&format!("\"{word}\"")) || self.variants.contains(word);
        for (i, word) in words.iter().enumerate() {
            let is_verb = i < verbs && (i == 0 || words[0] == "bench") && !word.starts_with('-');
            let names = ["--scene", "--method", "--renderer", "--only", "--parts", "--peers"];
            if is_verb || (i > 0 && names.contains(&&*words[i - 1])) {
                let unknown: Vec<&str> = word.split(',').filter(|name| !is_name(name)).collect();
                require(unknown.is_empty(), format!("no {unknown:?} in the program"))?;
            }
        }
        Ok(())
    }
}

fn require(condition: bool, message: impl Into<String>) -> Check {
    condition.then_some(()).ok_or_else(|| message.into())
}

fn check_options(words: &[String], known: impl Fn(&str) -> bool) -> Check {
    let options = words.iter().filter_map(|word| word.split('=').next());
    let unknown: Vec<&str> = options.filter(|word| word.starts_with("--") && word.len() > 2 && !known(word)).collect();
    require(unknown.is_empty(), format!("no option {}", unknown.join(", ")))
}

/// Checks a script of the project: its text has the options, and its text or CMake has the lower-case words.
fn check_script(words: &[String], path: &str, text: &str) -> Check {
    let cooks = text.contains("voxshell cook") || text.contains("\"cook\"") || text.contains("} cook");
    check_options(words, |option| text.contains(option) || (cooks && COOK.contains(option)))?;
    let own = words_of(text, "-_");
    let plain =
        |word: &&String| word.chars().all(|c| c.is_ascii_lowercase() || "-_".contains(c)) && !word.starts_with('-');
    let known = |word: &&String| own.contains(*word) || CMAKE_WORDS.contains(*word);
    // Folders of the user follow options, or are the first arguments of scripts that cook and build.
    let first = if cooks || path == "python/build" { words.len() } else { 0 };
    let before = |i: usize| if i == 0 { "" } else { &*words[i - 1] };
    let given =
        words.iter().enumerate().skip(first).filter(|(i, _)| !before(*i).starts_with("--")).map(|(_, word)| word);
    let unknown: Vec<&String> = given.filter(plain).filter(|word| !known(word)).collect();
    require(unknown.is_empty(), format!("{path} does not know {unknown:?}"))
}

/// Returns the value that follows an option.
fn value<'a>(words: &'a [String], names: &[&str]) -> Option<&'a String> {
    words.get(words.iter().position(|word| names.contains(&&**word))? + 1)
}

fn check_cargo(words: &[String]) -> Check {
    let (own, rest) = words.split_at(words.iter().position(|word| word == "--").unwrap_or(words.len()));
    let Some(verb) = own.first() else { return Ok(()) };
    require(
        ["build", "test", "run", "bench", "fmt", "clippy", "tree", "install"].contains(&&**verb),
        "no verb of cargo",
    )?;
    let known = ["--release", "--locked", "--workspace", "--test", "--bench", "--manifest-path", "--depth"];
    check_options(own, |option| known.contains(&option))?;
    require(verb != "install" || WORDS.contains(&own[1]), "no script names the package")?;
    let package = value(own, &["-p", "--package"]).map(|name| format!("name = \"{name}\""));
    let manifest = |name: &String| FILES.iter().any(|(path, text)| path.ends_with("Cargo.toml") && text.contains(name));
    require(package.as_ref().is_none_or(manifest), "no such package")?;
    require(value(own, &["--manifest-path"]).is_none_or(|path| file(path).is_some()), "no such manifest")?;
    for (option, folder) in [("--test", "tests"), ("--bench", "benches")] {
        let Some(name) = value(own, &[option]) else { continue };
        let stem = format!("/{folder}/{name}");
        let in_test = |path: &str| [".rs", "/"].iter().any(|end| format!("/{path}").contains(&format!("{stem}{end}")));
        let text = text_of(in_test);
        require(!text.is_empty(), format!("no {stem}"))?;
        // A filter, such as `oracle::`, begins with a module or is part of the name of a test.
        let filter = own.iter().skip_while(|word| *word != name).nth(1).and_then(|word| word.split("::").next());
        let found =
            |filter: &str| filter.starts_with('-') || text.contains(&format!("mod {filter};")) || text.contains(filter);
        require(filter.is_none_or(found), "the filter meets no test")?;
    }
    let runs_lab = verb == "run" && package.is_some_and(|name| name.contains("voxshell-lab"));
    require(verb != "run" || runs_lab, "a program that this test does not know")?;
    if runs_lab {
        LAB.check(rest.get(1..).unwrap_or_default(), 2)
    } else {
        Ok(())
    }
}

fn check_cmake(words: &[String]) -> Check {
    let standard =
        ["CMAKE_BUILD_TYPE", "CMAKE_INSTALL_PREFIX", "CMAKE_TOOLCHAIN_FILE", "CMAKE_PREFIX_PATH", "BULLET_ROOT"];
    for variable in words.iter().filter_map(|word| word.strip_prefix("-D")?.split('=').next()) {
        require(standard.contains(&variable) || CMAKE_WORDS.contains(variable), format!("no variable {variable}"))?;
    }
    for (_, path) in words.iter().filter_map(|word| word.split_once("$PWD/")) {
        require(file(path).is_some(), format!("no file {path}"))?;
    }
    require(value(words, &["--target"]).is_none_or(|target| CMAKE_WORDS.contains(target)), "no such target")?;
    let known = ["--build", "--component", "--install", "--parallel", "--prefix", "--strip", "--target"];
    check_options(words, |o| known.contains(&o))
}

fn check_ctest(words: &[String]) -> Check {
    check_options(words, |option| ["--test-dir", "--output-on-failure"].contains(&option))?;
    for name in words_of(value(words, &["-R", "-L"]).map_or("", |pattern| pattern), "_") {
        let is_source =
            FILES.iter().any(|(path, _)| path.starts_with("tests/") && path.contains(&format!("/{name}.c")));
        require(is_source || name.parse::<u32>().is_ok() || CMAKE.contains(&name), format!("no test {name}"))?;
    }
    Ok(())
}

fn voxshell(folder: &Path, words: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_voxshell")).current_dir(folder).args(words).stdin(Stdio::null()).output().unwrap()
}

fn help(verbs: &[&str]) -> String {
    let words: Vec<String> = verbs.iter().copied().chain(["--help"]).map(String::from).collect();
    String::from_utf8(voxshell(&root(), &words).stdout).unwrap()
}

/// Runs a command of `voxshell`. Words that stand for any file become files of the folder. In prose a command may lack
/// arguments.
fn run_voxshell(words: &[String], is_block: bool, folder: &Path) -> Check {
    let mut all: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| *word != "…") {
        match &**word {
            "SHAPE" | "MESH" | "MESH…" | "A" | "B" => all.push("part.stl".into()),
            "FILE" => all.push(if words[0] == "replay" { "session.vxr" } else { "part.stl" }.into()),
            "parts/*.obj" => all.extend(["parts/one.obj", "parts/two.obj"].map(String::from)),
            _ => all.push(word.clone()),
        }
    }
    let output = voxshell(folder, &all);
    let said = String::from_utf8_lossy(&output.stderr);
    let lacks =
        ["required arguments were not provided", "but none was supplied"].iter().any(|text| said.contains(text));
    require(output.status.success() || (!is_block && (all.is_empty() || lacks)), said)
}

/// Makes the files that the commands of the pages name. The meshes are rods, which cook fast at any resolution.
fn prepare(folder: &Path) {
    let write = |name: &str, text: &[u8]| std::fs::write(folder.join(name), text).unwrap();
    std::fs::create_dir(folder.join("parts")).unwrap();
    let corner = |i: usize| [0.02 * (i & 1) as f64, 0.0005 * (i & 2) as f64, 0.00025 * (i & 4) as f64];
    let faces = ["021", "132", "456", "576", "014", "154", "263", "367", "042", "246", "135", "375"];
    let vertices = (0..8).map(corner).map(|[x, y, z]| format!("{x} {y} {z}\n")).collect::<Vec<_>>();
    let corners = |face: &'static str| face.bytes().map(|digit| usize::from(digit - b'0'));
    let vertex = |i: usize| format!("vertex {}", vertices[i]);
    let facet = |face| {
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", corners(face).map(vertex).collect::<String>())
    };
    write("part.stl", format!("solid part\n{}endsolid part\n", faces.map(facet).concat()).as_bytes());
    let line = |face| corners(face).fold("f".to_string(), |line, i| format!("{line} {}", i + 1)) + "\n";
    let obj = vertices.iter().map(|vertex| format!("v {vertex}")).collect::<String>() + &faces.map(line).concat();
    ["parts/one.obj", "parts/two.obj"].iter().for_each(|name| write(name, obj.as_bytes()));
    run_voxshell(&["cook", "bowl", "-o", "bowl.vxs", "--cells", "32"].map(String::from), true, folder).unwrap();
    write("rays.txt", b"-1 0 0 1 0 0\n0 -1 0 0 1 0\n");
    let session = std::fs::read(root().join("tests/golden/record_pair.vxr")).unwrap();
    ["session.vxr", "session.vxr.part"].iter().for_each(|name| write(name, &session));
}

/// Checks one command; `None` if the words are no command.
fn check(words: &[String], is_block: bool, page: &str, folder: &Path) -> Option<Check> {
    let (program, rest) = (&*words[0], &words[1..]);
    let beside = Path::new(page).with_file_name(program).to_str().unwrap().replace('\\', "/");
    let script = [program.to_string(), beside].into_iter().find_map(|path| Some((file(&path)?, path)));
    let is_run = program.ends_with("/run") || program.ends_with("/build");
    let is_named = |name: &String| name == "…" || WORDS.contains(name);
    Some(match program.rsplit('/').next().unwrap_or_default() {
        "voxshell" => run_voxshell(rest, is_block, folder),
        "voxshell-lab" => LAB.check(rest, 2),
        name @ "voxshell-same-bytes" => require(WORDS.contains(name), "no such program"),
        _ if program == "bullet-demo/run" => DEMO.check(rest, 0),
        name if name.starts_with("bullet.") => {
            let source = format!("tests/{}.cpp", name.replace('.', "/"));
            require(FILES.iter().any(|(path, _)| *path == source || path.ends_with(name)), "no such test")
        }
        "cargo" => check_cargo(rest),
        "cmake" => check_cmake(rest),
        "ctest" => check_ctest(rest),
        "cpack" => check_options(rest, |option| option == "--config"),
        "apt" | "pip" => {
            let stem =
                |word: &String| word.rsplit('/').next().unwrap().split(['[', '*', '.']).next().unwrap().to_string();
            let unknown: Vec<String> =
                rest[1..].iter().map(|w| stem(w).trim_end_matches('-').into()).filter(|n| !is_named(n)).collect();
            require(unknown.is_empty(), format!("no script names {unknown:?}"))
        }
        // A program of all tests of a folder, with the name of one.
        _ if program.starts_with("build/") && program.ends_with("_tests") => {
            let folder = program.rsplit('/').next().unwrap().trim_end_matches("_tests");
            let exists =
                |name: &String| ["c", "cpp"].iter().any(|e| root().join(format!("tests/{folder}/{name}.{e}")).exists());
            require(rest.iter().all(exists), "no such test")
        }
        "rustup" => require(rest.last().is_some_and(is_named), "no script names it"),
        "node" | "pytest" | "sbatch" | "make" => {
            let path = rest.iter().find(|word| word.contains('/') && !word.contains('='));
            let exists = |path: &String| root().join(path).exists();
            check_options(rest, |option| ["--test", "--array"].contains(&option) || COOK.contains(option))
                .and_then(|()| require(path.is_none_or(exists), "no such file"))
        }
        _ if program.starts_with("--") => {
            let derived = [&CLI.options, &LAB.options, &DEMO.options];
            check_options(words, |option| derived.iter().any(|of| of.contains(option)) || WORDS.contains(option))
        }
        _ if script.is_some() && (is_block || words.len() > 1 || is_run) => {
            let (text, path) = script?;
            check_script(rest, &path, text)
        }
        _ if words.len() > 1 && VERBS.contains(program) => run_voxshell(words, false, folder),
        // `papers NAME` stands for `voxshell-lab papers --only NAME`.
        "papers" if words.len() == 2 => LAB.check(&["papers", "--only", &words[1]].map(String::from), 2),
        "bench" if words.len() > 1 => LAB.check(words, 2),
        _ if is_block || is_run || words.iter().any(|word| word.starts_with("--") && word.len() > 2) => {
            Err("not a command that this test knows".into())
        }
        _ => return None,
    })
}

#[test]
fn every_command_of_the_pages_works() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let (mut wrong, mut checked) = (Vec::new(), BTreeSet::new());
    let is_page = |path: &str| path.starts_with("docs/") || !path.contains('/') || path.ends_with("/README.md");
    for (path, page) in
        FILES.iter().filter(|(path, _)| is_page(path) && path.ends_with(".md") && path != "CHANGELOG.md")
    {
        for (text, is_block) in code(page) {
            // What follows a variable of the environment is a command too.
            let runs = is_block || text.split_once('=').is_some_and(|(name, _)| is_upper(name) && !name.contains(' '));
            for words in commands(&text) {
                let Some(result) = check(&words, runs, path, folder.path()) else { continue };
                let line = words.join(" ");
                wrong.extend(result.err().map(|reason| format!("{path}: {line}: {reason}")));
                checked.insert(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked.len() > 100, "only {} commands were found", checked.len());
}
