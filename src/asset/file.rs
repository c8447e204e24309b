//! Contents of the file: mesh, field, pointshell with its tree, mass properties, each in a section of its own.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::container::{self, decode, encode, name, Container, Section, Tag};
use super::{bricks, Shape, Store};
use voxshell_base::memory::{self, Bytes, SliceGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::{DenseField, ExactField, Field, SignedDistance};
use voxshell_mesh::{MassProperties, Report, TriMesh};
use voxshell_pointshell::PointShell;
use voxshell_voxmap::{StoredVoxelmap, Voxelmap};

const META: Tag = *b"META";
const MESH: Tag = *b"MESH";
const FIELD: Tag = *b"FELD";
/// The grid of a field that is exact near the surface of the mesh in section MESH.
const EXACT: Tag = *b"EXCT";
const SHELL: Tag = *b"SHEL";
/// The user's material numbers. In small letters: a reader without materials may skip them.
const MATERIALS: Tag = *b"matl";
/// A voxelmap. A reader without them may skip it.
const VOXELS: Tag = *b"voxm";
const KNOWN: [Tag; 8] = [META, MESH, FIELD, EXACT, bricks::BRICKS, bricks::RAW, bricks::PACKED, SHELL];

/// Name of the file in errors for an asset in memory.
const IN_MEMORY: &str = "asset in memory";

/// Section of the small data.
#[derive(serde::Serialize, serde::Deserialize)]
struct Meta {
    mass: Option<MassProperties>,
    report: Option<Report>,
}

/// Section of the material numbers.
#[derive(serde::Serialize, serde::Deserialize)]
struct Materials(#[serde(deserialize_with = "memory::deserialize_vec")] Vec<u32>);

/// Checks the numbers of a field that decoding does not check: those that were measured at cooking, and those that
/// follow from all of its samples.
fn check_field(field: &Field) -> std::result::Result<(), String> {
    let known = field.gridded().ok_or("it holds a field without a grid")?;
    let bounds = field.bounds();
    let measured = [known.error.max, known.error.rms, known.sign.membrane_area, f64::from(known.lipschitz)];
    let sound = measured.iter().all(|x| x.is_finite() && *x >= 0.0)
        && known.sign.is_sound()
        && field.error_bound().is_finite()
        && (bounds.is_empty() || bounds.min.iter().chain(&bounds.max).all(|x| x.is_finite()));
    if sound {
        Ok(())
    } else {
        Err(format!("the field's measures are {measured:?}, its bounds {bounds:?}; expected finite, positive numbers"))
    }
}

/// Checks the parts of a shape beyond the checks of decoding each section. Reading and writing both call it, so that no
/// file is written that could not be read.
fn check_parts(
    mass: Option<&MassProperties>,
    field: Option<&Field>,
    shell: Option<&PointShell>,
) -> std::result::Result<(), String> {
    mass.map_or(Ok(()), |mass| mass.check().map_err(|e| format!("section META: {e}")))?;
    field.map_or(Ok(()), check_field)?;
    shell.map_or(Ok(()), |shell| shell.check_invariants().map_err(|e| format!("section SHEL: {e}")))?;
    if field.is_none() && shell.is_none() {
        return Err("it holds neither a field nor a pointshell".into());
    }
    Ok(())
}

impl Shape {
    /// Writes the asset, compressed: see [`Shape::save_as`].
    pub fn save(&self, path: &Path) -> Result<()> {
        self.save_as(path, Store::default())
    }

    /// Writes the asset: to a temporary file beside `path`, then renames it to `path`. A shape that was loaded from the
    /// old file keeps that file.
    ///
    /// # Errors
    /// `Unsupported` for analytic fields (store their parameters instead) and for parts that [`Shape::load`] would
    /// refuse, which no cooked or loaded shape has; `Io`. On errors nothing is written.
    pub fn save_as(&self, path: &Path, store: Store) -> Result<()> {
        // The old file is replaced once the memory was enough.
        memory::guard("writing the asset", || container::prepare(path, &self.sections(store)?))?.keep()
    }

    /// Returns the bytes that [`Shape::save`] writes.
    ///
    /// # Errors
    /// `Unsupported` as [`Shape::save_as`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        memory::guard("writing the asset", || {
            let sections = self.sections(Store::default())?;
            let mut bytes = Bytes(memory::with_capacity(container::length(&sections)));
            container::emit(&sections, &mut bytes).map_err(|source| Error::Io { path: IN_MEMORY.into(), source })?;
            Ok(bytes.0)
        })
    }

    fn sections(&self, store: Store) -> Result<Vec<Section>> {
        if self.field.as_deref().is_none_or(|field| field.gridded().is_some()) {
            self.check_readable().map_err(|reason| {
                Error::Unsupported(format!("the shape cannot be written, since no file of it could be read: {reason}"))
            })?;
        }
        let mut sections = Vec::new();
        encode(META, &Meta { mass: self.mass, report: self.report.clone() }, &mut sections)?;
        if let Some(mesh) = &self.mesh {
            encode(MESH, mesh.as_ref(), &mut sections)?;
        }
        match self.field.as_deref() {
            None => {}
            Some(Field::Dense(field)) => encode(FIELD, field, &mut sections)?,
            Some(Field::Bricks(field)) => bricks::write(field, store, &mut sections)?,
            Some(Field::Exact(field)) => encode(EXACT, field.far(), &mut sections)?,
            Some(_) => {
                return Err(Error::Unsupported(
                    "only cooked fields are stored in an asset, not analytic ones, triangles or sheets; make this one anew from what \
                     it was made of".into(),
                ))
            }
        }
        if let Some(shell) = &self.shell {
            encode(SHELL, shell.as_ref(), &mut sections)?;
        }
        if let Some(materials) = &self.materials {
            encode(MATERIALS, &Materials(materials.to_vec_guarded()), &mut sections)?;
        }
        if let Some(map) = &self.voxelmap {
            encode(VOXELS, &map.to_stored(), &mut sections)?;
        }
        Ok(sections)
    }

    /// Makes the checks of [`Shape::load`] on the parts in memory.
    fn check_readable(&self) -> std::result::Result<(), String> {
        if let Some(mesh) = &self.mesh {
            mesh.check().map_err(|e| format!("section MESH: {e}"))?;
        }
        if let Some(materials) = &self.materials {
            self.check_materials(materials)
                .map_err(|e| format!("section matl has {} numbers; expected {e}", materials.len()))?;
        }
        if let (Some(Field::Exact(field)), mesh) = (self.field.as_deref(), &self.mesh) {
            if mesh.as_deref() != Some(field.mesh()) {
                return Err("the field is exact near the surface of another mesh".into());
            }
        }
        if let Some(Field::Bricks(field)) = self.field.as_deref() {
            field.check().map_err(|e| format!("a section of bricks: {e}"))?;
        }
        check_parts(self.mass.as_ref(), self.field.as_deref(), self.shell.as_deref())
    }

    /// Reads an asset, checking lengths, checksums and every index before any data is used.
    ///
    /// The file is read and closed: the shape does not depend on what becomes of it.
    ///
    /// # Errors
    /// `Io` when the file cannot be read, `InvalidFile` with the reason when it is not a whole, sound asset.
    pub fn load(path: &Path) -> Result<Self> {
        memory::guard("reading the asset", || {
            let io = |source| Error::Io { path: path.to_path_buf(), source };
            let invalid = |reason| Error::InvalidFile { path: path.to_path_buf(), reason };
            let mut file = File::open(path).map_err(io)?;
            let mut bytes = Vec::new();
            memory::read_to_end(&mut file, &mut bytes).map_err(io)?;
            let bytes = Arc::new(bytes);
            Self::parse(&bytes, Some(&bytes)).map_err(invalid)
        })
    }

    /// Reads an asset from memory, which is not needed afterwards: the bytes of a file of either encoding, checked as
    /// in [`Shape::load`].
    ///
    /// # Errors
    /// `InvalidFile` with the reason.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        memory::guard("reading the asset", || {
            Self::parse(bytes, None).map_err(|reason| Error::InvalidFile { path: IN_MEMORY.into(), reason })
        })
    }

    /// Reads an asset. `owner`: what keeps the bytes, if samples may be used in place.
    fn parse(bytes: &[u8], owner: Option<&Arc<Vec<u8>>>) -> std::result::Result<Self, String> {
        let container = Container::parse(bytes)?;
        // A reader may ignore sections in lower case that a later version added.
        if let Some(tag) = container.tags().find(|tag| !KNOWN.contains(tag) && !tag[0].is_ascii_lowercase()) {
            return Err(format!("section {} is of a kind that this library does not know", name(tag)));
        }
        let meta: Meta = decode(META, container.section(&META).ok_or("section META is missing")?)?;
        let mesh = match container.section(&MESH) {
            Some(bytes) => {
                let raw: TriMesh = decode(MESH, bytes)?;
                Some(Arc::new(TriMesh::new(raw.vertices, raw.triangles).map_err(|e| format!("section MESH: {e}"))?))
            }
            None => None,
        };
        let fields = [FIELD, EXACT, bricks::BRICKS].map(|tag| container.section(&tag));
        let field = match fields {
            // Decoding a field checks its grid against its samples.
            [Some(bytes), None, None] => Some(Field::Dense(decode::<DenseField>(FIELD, bytes)?)),
            [None, Some(bytes), None] => {
                let mesh = mesh.clone().ok_or("section MESH is missing, which section EXCT needs")?;
                let field = ExactField::of_cooked(decode::<DenseField>(EXACT, bytes)?, mesh);
                Some(Field::Exact(field.map_err(|e| format!("section EXCT: {e}"))?))
            }
            [None, None, Some(_)] => Some(Field::Bricks(bricks::read(&container, owner)?)),
            [None, None, None] => None,
            _ => return Err("it holds several fields, in sections FELD, EXCT and BRIK".into()),
        };
        let shell = container.section(&SHELL).map(|bytes| decode::<PointShell>(SHELL, bytes)).transpose()?;
        check_parts(meta.mass.as_ref(), field.as_ref(), shell.as_ref())?;
        let (field, shell) = (field.map(Arc::new), shell.map(Arc::new));
        let voxelmap = match container.section(&VOXELS) {
            Some(bytes) => {
                let map = Voxelmap::from_stored(decode::<StoredVoxelmap>(VOXELS, bytes)?);
                Some(Arc::new(map.map_err(|e| format!("section voxm: {e}"))?))
            }
            None => None,
        };
        let built = Default::default();
        let (mass, report) = (meta.mass, meta.report);
        let shape = Self { mesh, field, shell, mass, report, materials: None, voxelmap, hulls: None, built };
        match container.section(&MATERIALS) {
            Some(bytes) => {
                let Materials(numbers) = decode(MATERIALS, bytes)?;
                shape
                    .check_materials(&numbers)
                    .map_err(|e| format!("section matl has {} numbers; expected {e}", numbers.len()))?;
                Ok(Self { materials: Some(Arc::new(numbers)), ..shape })
            }
            None => Ok(shape),
        }
    }
}
