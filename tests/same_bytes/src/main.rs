//! Prints the hashes of a fixed scene, one a line, as they stand in `tests/golden/same_bytes.txt`.

fn main() {
    match voxshell_same_bytes::report() {
        Ok(text) => print!("{text}"),
        Err(error) => {
            eprintln!("same-bytes: {error}");
            std::process::exit(1);
        }
    }
}
