//! Prints the hashes of a fixed scene and the results of the recordings, one a line, as they stand in
//! `tests/golden/same_bytes.txt`. With `--recordings` only the latter.

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == "--recordings") {
        print!("{}", voxshell_same_bytes::recorded());
        return;
    }
    match voxshell_same_bytes::report() {
        Ok(text) => print!("{text}"),
        Err(error) => {
            eprintln!("same-bytes: {error}");
            std::process::exit(1);
        }
    }
}
