//! Consistency of the documents: every link has a target, every chapter is in the book's table of contents, and the
//! quoted code stands verbatim in files that other tests compile and run.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the pages of the book, relative to the root.
fn chapters() -> Vec<PathBuf> {
    let pages_of = |folder: &'static str| {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of pages");
        entries.map(move |entry| Path::new(folder).join(entry.expect("entry").file_name()))
    };
    let mut pages: Vec<PathBuf> = pages_of("docs")
        .chain(pages_of("docs/evidence"))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

fn pages() -> Vec<PathBuf> {
    let mut all = chapters();
    all.push("README.md".into());
    all
}

/// A page, split into its prose and its fenced blocks.
#[derive(Default)]
struct Page {
    prose: Vec<String>,
    blocks: Vec<Block>,
}

struct Block {
    line: usize,
    language: String,
    /// File of the comment `<!-- from FILE -->` on the line before.
    source: Option<PathBuf>,
    text: Vec<String>,
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut open: Option<Block> = None;
        for (number, line) in text.lines().enumerate() {
            match (&mut open, line.strip_prefix("```")) {
                (Some(_), Some(_)) => page.blocks.extend(open.take()),
                (Some(block), None) => block.text.push(line.trim().into()),
                (None, Some(language)) => {
                    let before = page.prose.last().map(String::as_str).unwrap_or_default();
                    let source = before.strip_prefix("<!-- from ").and_then(|rest| rest.strip_suffix(" -->"));
                    let (line, language, source) = (number + 1, language.trim().into(), source.map(PathBuf::from));
                    open = Some(Block { line, language, source, text: Vec::new() });
                }
                (None, None) => page.prose.push(line.into()),
            }
        }
        assert!(open.is_none(), "a block that is never closed");
        page
    }

    /// Returns the targets of its links, images included.
    fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for line in &self.prose {
            // Text between backticks is no link.
            let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            links.extend(plain.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(String::from));
        }
        links
    }

    /// Returns the anchors that GitHub and mdBook give to its headings.
    fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for heading in self.prose.iter().filter(|line| line.starts_with('#')) {
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            let slug: String = text
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let repeated = (1..).map(|n| format!("{slug}-{n}"));
            let free = std::iter::once(slug.clone()).chain(repeated).find(|name| !anchors.contains(name));
            anchors.extend(free);
        }
        anchors
    }
}

/// Normalises a path: `a/b/../c` becomes `a/c`.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(result.pop(), "{} leaves the project", path.display()),
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

#[test]
fn every_link_and_anchor_leads_somewhere() {
    let mut seen = 0;
    for name in pages() {
        let page = Page::parse(&read(&name));
        for link in page.links() {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').map_or((&*link, None), |(file, anchor)| (file, Some(anchor)));
            let target = match file {
                "" => name.clone(),
                file => normal(&name.parent().expect("a file has a parent").join(file)),
            };
            let place = format!("{}: link to {link}", name.display());
            assert!(root().join(&target).exists(), "{place}: {} is not there", target.display());
            // Pages are also read as a book, which contains only the folder docs.
            assert!(
                !name.starts_with("docs") || target.starts_with("docs"),
                "{place} leaves the book: name the file instead"
            );
            if let Some(anchor) = anchor {
                let anchors = Page::parse(&read(&target)).anchors();
                assert!(anchors.contains(anchor), "{place}: no such heading; there are {anchors:?}");
            }
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} links were found: are they parsed at all?");
}

#[test]
fn every_chapter_is_in_the_table_of_contents_once() {
    let summary = Page::parse(&read(Path::new("docs/SUMMARY.md")));
    let mut listed: Vec<PathBuf> = summary.links().iter().map(|link| Path::new("docs").join(link)).collect();
    listed.push("docs/SUMMARY.md".into());
    listed.sort();
    assert_eq!(listed, chapters());
}

/// Blocks of C and C++ name their source file. A line `…` (commented or not) stands for any omitted lines.
#[test]
fn the_code_shown_is_code_that_is_tested() {
    let tested = ["cpp/bullet/examples/", "tests/c/", "tests/cpp/", "tests/bullet/"];
    let mut seen = 0;
    for name in pages() {
        for block in Page::parse(&read(&name)).blocks {
            let place = format!("{}:{}", name.display(), block.line);
            let Some(source) = block.source else {
                assert!(
                    !matches!(&*block.language, "c" | "cpp"),
                    "{place}: the line before must say <!-- from FILE -->"
                );
                continue;
            };
            let known = tested.iter().any(|folder| source.starts_with(folder));
            assert!(known || !matches!(&*block.language, "c" | "cpp"), "{place}: {} is not tested", source.display());
            let file = read(&source);
            let lines: Vec<&str> = file.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let mut from = 0;
            for part in block.text.split(|line| matches!(&**line, "…" | "// …" | "/* … */" | "# …")) {
                let part: Vec<&str> = part.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
                if part.is_empty() {
                    continue;
                }
                let at = lines[from..].windows(part.len()).position(|window| window == part);
                let at = at.unwrap_or_else(|| panic!("{place}: not in {}:\n{}", source.display(), part.join("\n")));
                from += at + part.len();
            }
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} quoted blocks were found");
}

/// The Bullet guide mentions every row of the plugin's pair table, and every setting.
#[test]
fn the_bullet_guide_names_every_pair_and_setting() {
    let guide = read(Path::new("docs/bullet.md"));
    let between = |text: &str, from: &str, to: &str| -> String {
        let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("{from} is gone"));
        rest.split(to).next().expect("split gives one part").into()
    };
    let table = between(&read(Path::new("cpp/bullet/src/pair_table.cpp")), "kPairTable[] = {", "\n};");
    let pairs: Vec<&str> = table.lines().filter_map(|row| row.split('"').nth(1)).collect();
    assert!(pairs.len() > 20, "only {pairs:?} were found");
    let section = between(&guide, "## Pairs", "\n## ");
    for name in pairs {
        assert!(section.contains(name), "docs/bullet.md does not say what becomes of {name}");
    }

    let header = read(Path::new("cpp/bullet/include/voxshell/bullet/btVoxShellCollisionAlgorithm.h"));
    let settings = between(&header, "struct btVoxShellSettings", "};");
    let names: Vec<&str> =
        settings.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with("m_"))).collect();
    assert!(names.len() >= 5, "only {names:?} were found");
    let section = between(&guide, "## Settings", "\n## ");
    for name in names {
        assert!(section.contains(name), "docs/bullet.md does not explain {name}");
    }
}

#[test]
fn pages_are_cut_as_meant() {
    let text = "# One, two\n[a](b.md#c) `[x](y)` ![p](q.png)\n## One two\n<!-- from f.c -->\n```c\n  x;\n```\n";
    let page = Page::parse(text);
    assert_eq!(page.links(), ["b.md#c", "q.png"]);
    assert_eq!(page.anchors(), ["one-two", "one-two-1"].map(String::from).into());
    assert_eq!(page.blocks.len(), 1);
    assert_eq!(page.blocks[0].source.as_deref(), Some(Path::new("f.c")));
    assert_eq!(page.blocks[0].text, ["x;"]);
}

#[test]
fn every_test_that_a_promise_names_exists() {
    let mut named = 0;
    for line in read(&root().join("docs/accuracy.md")).lines() {
        // `file::test`, then `test` of the same file; `module::file::test` for tests in src. A name may end in "…".
        let mut file = String::new();
        for name in line.split('`').skip(1).step_by(2) {
            let Some((before, test)) = name.rsplit_once("::").or((!file.is_empty()).then_some(("", name))) else {
                continue;
            };
            if !before.is_empty() {
                let place = format!("{}.rs", before.replace("::", "/"));
                let paths = ["tests", "cli/tests", "lab/tests", "src"].map(|folder| root().join(folder).join(&place));
                let path = paths.iter().find(|path| path.exists());
                file = read(path.unwrap_or_else(|| panic!("accuracy.md names {place}, which is not there: {line}")));
            }
            let start = test.trim_end_matches('…');
            let end = if start == test { "(" } else { "" };
            let known = file.contains(&format!("fn {start}{end}")) || root().join(format!("tests/{name}.rs")).exists();
            assert!(known || name.contains('/'), "accuracy.md names {name}: {line}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}
