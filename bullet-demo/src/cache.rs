//! Cache of convex decompositions, which take long to compute, in the user's cache folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use voxshell::mesh::TriMesh;

use crate::bridge::Hull;

/// Cache of hulls by mesh and parameters. Without a cache folder every decomposition is computed anew; a damaged entry
/// counts as missing.
pub struct HullCache {
    folder: Option<PathBuf>,
}

impl HullCache {
    /// Returns the cache in `$XDG_CACHE_HOME/voxshell/hulls`, or the same under `~/.cache`.
    pub fn of_user() -> Self {
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        let base = base.or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")));
        Self::at(base.map(|b| b.join("voxshell").join("hulls")))
    }

    pub fn at(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Returns the hulls of `mesh` for the method and parameters spelled out in `what`, and computes them if they are
    /// not cached. Failures are not cached.
    pub fn hulls<E>(
        &self,
        mesh: &TriMesh,
        what: &str,
        compute: impl FnOnce() -> Result<Vec<Hull>, E>,
    ) -> Result<Vec<Hull>, E> {
        let path = self.folder.as_ref().map(|f| f.join(format!("{:016x}.json", fingerprint(mesh, what))));
        if let Some(hulls) = path.as_deref().and_then(read) {
            return Ok(hulls);
        }
        let hulls = compute()?;
        if let Some(path) = path {
            // If the cache cannot be written, the only loss is time in the next run.
            let _ = write(&path, &hulls);
        }
        Ok(hulls)
    }
}

/// Reads the hulls from a file of [`write`]; `None` if it is missing or damaged.
pub fn read(path: &Path) -> Option<Vec<Hull>> {
    let text = std::fs::read_to_string(path).ok()?;
    let hulls: Vec<Vec<f64>> = serde_json::from_str(&text).ok()?;
    let sound = !hulls.is_empty() && hulls.iter().all(|h| h.len() >= 12 && h.len() % 3 == 0);
    sound.then(|| hulls.into_iter().map(|points| Hull { points }).collect())
}

/// Writes under a temporary name and renames, so that a second demo never reads an incomplete file.
pub fn write(path: &Path, hulls: &[Hull]) -> std::io::Result<()> {
    let folder = path.parent().expect("the entry is in the cache folder");
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let plain: Vec<&[f64]> = hulls.iter().map(|h| h.points.as_slice()).collect();
    file.write_all(serde_json::to_string(&plain)?.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Computes the FNV-1a hash (Fowler, Noll, Vo) of everything that determines the result.
fn fingerprint(mesh: &TriMesh, what: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for &b in bytes {
            hash = (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(what.as_bytes());
    add(&(mesh.vertices.len() as u64).to_le_bytes());
    mesh.vertices.iter().flatten().for_each(|x| add(&x.to_le_bytes()));
    mesh.triangles.iter().flatten().for_each(|i| add(&i.to_le_bytes()));
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> TriMesh {
        let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        TriMesh::new(vertices, vec![[0, 1, 2]]).unwrap()
    }

    #[test]
    fn second_call_does_not_compute_and_other_parameters_do() {
        let folder = tempfile::tempdir().unwrap();
        let cache = HullCache::at(Some(folder.path().join("new")));
        let made = vec![Hull { points: (0..12).map(|i| f64::from(i) / 7.0).collect() }];
        assert_eq!(cache.hulls(&mesh(), "a", || Ok::<_, ()>(made.clone())), Ok(made.clone()));
        assert_eq!(cache.hulls(&mesh(), "a", || -> Result<_, ()> { unreachable!("it is cached") }), Ok(made));
        assert_eq!(cache.hulls(&mesh(), "b", || Err("late")), Err("late"));
        assert_eq!(cache.hulls(&mesh(), "b", || Ok::<_, ()>(Vec::new())), Ok(Vec::new()));
    }

    #[test]
    fn damaged_entry_is_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = HullCache::at(Some(folder.path().to_path_buf()));
        let made = vec![Hull { points: vec![0.5; 12] }];
        cache.hulls(&mesh(), "a", || Ok::<_, ()>(made.clone())).unwrap();
        let entry = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        std::fs::write(entry, "[[1,2").unwrap();
        let mut computed = false;
        let again = cache.hulls(&mesh(), "a", || {
            computed = true;
            Ok::<_, ()>(made.clone())
        });
        assert!(computed);
        assert_eq!(again, Ok(made));
    }
}
