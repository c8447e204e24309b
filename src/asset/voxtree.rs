//! Implicit sphere trees in files of their own: the container of the assets with a single section.

use std::path::Path;

use super::container::{self, decode, encode, Container, Tag};
use voxshell_base::memory::{self, Bytes, SliceGuarded};
use voxshell_base::{Error, Result};
use voxshell_voxtree::VoxTree;

const TREE: Tag = *b"VTRE";
/// Name of the file in errors for a tree in memory.
const IN_MEMORY: &str = "tree of voxels in memory";

/// Section of the tree. Counts of bits are not stored.
#[derive(serde::Serialize, serde::Deserialize)]
struct Stored {
    branching: u32,
    levels: u32,
    voxel_size: f64,
    origin: [f64; 3],
    solid: bool,
    inner_count: u32,
    voxel_count: u32,
    #[serde(deserialize_with = "memory::deserialize_vec")]
    masks: Vec<u64>,
    #[serde(deserialize_with = "memory::deserialize_vec")]
    normals: Vec<[i16; 2]>,
}

/// Writes a tree: to a temporary file beside `path`, then renames it to `path`.
///
/// # Errors
/// `Io`, `OutOfMemory`. On errors nothing is written.
pub fn save_tree(tree: &VoxTree, path: &Path) -> Result<()> {
    // The old file is replaced once the memory was enough.
    memory::guard("writing a tree of voxels", || container::prepare(path, &sections(tree)?))?.keep()
}

/// Returns the bytes that [`save_tree`] writes.
pub fn tree_to_bytes(tree: &VoxTree) -> Result<Vec<u8>> {
    memory::guard("writing a tree of voxels", || {
        let sections = sections(tree)?;
        let mut bytes = Bytes(memory::with_capacity(container::length(&sections)));
        container::emit(&sections, &mut bytes).map_err(|source| Error::Io { path: IN_MEMORY.into(), source })?;
        Ok(bytes.0)
    })
}

/// Reads a tree; checks lengths, checksums and every number before any is used.
///
/// # Errors
/// `Io`; `InvalidFile` with the reason.
pub fn load_tree(path: &Path) -> Result<VoxTree> {
    memory::guard("reading a tree of voxels", || {
        let io = |source| Error::Io { path: path.to_path_buf(), source };
        let mut file = std::fs::File::open(path).map_err(io)?;
        let mut bytes = Vec::new();
        memory::read_to_end(&mut file, &mut bytes).map_err(io)?;
        parse(&bytes).map_err(|reason| Error::InvalidFile { path: path.to_path_buf(), reason })
    })
}

/// Reads a tree from memory; as [`load_tree`].
///
/// # Errors
/// `InvalidFile` with the reason.
pub fn tree_from_bytes(bytes: &[u8]) -> Result<VoxTree> {
    memory::guard("reading a tree of voxels", || {
        parse(bytes).map_err(|reason| Error::InvalidFile { path: IN_MEMORY.into(), reason })
    })
}

fn sections(tree: &VoxTree) -> Result<Vec<container::Section>> {
    let stored = Stored {
        branching: tree.branching as u32,
        levels: tree.levels,
        voxel_size: tree.voxel_size,
        origin: tree.origin.into(),
        solid: tree.solid,
        inner_count: tree.inner_count,
        voxel_count: tree.voxel_count,
        masks: tree.masks.to_vec_guarded(),
        normals: tree.normals.to_vec_guarded(),
    };
    let mut sections = Vec::new();
    encode(TREE, &stored, &mut sections)?;
    Ok(sections)
}

fn parse(bytes: &[u8]) -> std::result::Result<VoxTree, String> {
    let container = Container::parse(bytes)?;
    let section = container.section(&TREE).ok_or("section VTRE is missing: it is not a tree of voxels")?;
    let stored: Stored = decode(TREE, section)?;
    VoxTree::from_parts(
        stored.branching,
        stored.levels,
        (stored.voxel_size, stored.origin.into()),
        stored.solid,
        [stored.inner_count, stored.voxel_count],
        stored.masks,
        stored.normals,
    )
    .map_err(|e| format!("section VTRE: {e}"))
}
