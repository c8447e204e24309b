//! The README shows code that is compiled and run: its blocks are lines of files that other tests build.

fn squeezed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The fenced blocks of one language.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    readme.split(&fence).skip(1).map(|rest| rest.split("```").next().expect("split gives one part")).collect()
}

fn assert_quoted(language: &str, file: &str) {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).expect(name);
    let (readme, source) = (read("README.md"), read(file));
    let found = blocks(&readme, language);
    assert_eq!(found.len(), 1, "the README has {} blocks of {language}, expected 1", found.len());
    let (quoted, lines) = (squeezed(found[0]), squeezed(&source));
    assert!(
        lines.windows(quoted.len()).any(|window| window == quoted),
        "the README's {language} block does not stand in {file}:\n{}",
        quoted.join("\n")
    );
}

#[test]
fn the_c_example_is_a_tested_program() {
    assert_quoted("c", "tests/c/readme.c");
}

#[test]
fn the_bullet_example_is_the_hello_program() {
    assert_quoted("cpp", "bullet-demo/hello.cpp");
}
