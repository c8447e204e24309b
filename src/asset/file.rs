//! What is in the file: mesh, field, pointshell with its tree, mass properties, each a section of its own.

use std::path::Path;
use std::sync::Arc;

use super::container::{self, name, Container, Tag};
use super::{bricks, old, Shape};
use crate::field::{BrickHeader, DenseField, Field, SignedDistance};
use crate::mesh::{MassProperties, Report, TriMesh};
use crate::pointshell::PointShell;
use crate::{Error, Result};

const META: Tag = *b"META";
const MESH: Tag = *b"MESH";
const FIELD: Tag = *b"FELD";
const BRICKS: Tag = *b"BRIK";
const SHELL: Tag = *b"SHEL";
const KNOWN: [Tag; 5] = [META, MESH, FIELD, BRICKS, SHELL];
/// The first version whose fields are not read by `old`.
const FIELDS: u32 = 3;

/// The small things.
#[derive(serde::Serialize, serde::Deserialize)]
struct Meta {
    mass: Option<MassProperties>,
    report: Option<Report>,
}

fn encode<T: serde::Serialize>(tag: Tag, value: &T, sections: &mut Vec<(Tag, Vec<u8>)>) -> Result<()> {
    let bytes = postcard::to_stdvec(value)
        .map_err(|e| Error::Unsupported(format!("section {} cannot be written: {e}", name(&tag))))?;
    sections.push((tag, bytes));
    Ok(())
}

pub(super) fn decode<T: serde::de::DeserializeOwned>(tag: Tag, bytes: &[u8]) -> std::result::Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("section {} has {} bytes too many", name(&tag), rest.len())),
        Err(e) => Err(format!("section {} cannot be read: {e}", name(&tag))),
    }
}

/// The numbers of a field that decoding does not look at: those that were measured when it was cooked, and what follows from
/// all of its samples.
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

fn check_mass(mass: &MassProperties) -> std::result::Result<(), String> {
    let finite = mass.center_of_mass.iter().chain(&mass.inertia).all(|x| x.is_finite());
    let positive = [mass.volume, mass.inertia[0], mass.inertia[1], mass.inertia[2]].iter().all(|x| *x > 0.0);
    if finite && positive && mass.volume.is_finite() {
        Ok(())
    } else {
        Err(format!("section META: {mass:?}; expected finite numbers, volume and moments of inertia positive"))
    }
}

impl Shape {
    /// Writes the asset: to a temporary file beside `path`, then renamed over it.
    ///
    /// # Errors
    /// `Unsupported` for analytic fields (store their parameters instead), `Io`.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut sections = Vec::new();
        encode(META, &Meta { mass: self.mass, report: self.report.clone() }, &mut sections)?;
        if let Some(mesh) = &self.mesh {
            encode(MESH, mesh.as_ref(), &mut sections)?;
        }
        match self.field.as_deref() {
            None => {}
            Some(Field::Dense(field)) => encode(FIELD, field, &mut sections)?,
            Some(Field::Bricks(field)) => sections.push((BRICKS, bricks::encode(field)?)),
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
        container::write(path, &sections)
    }

    /// Reads an asset, checking lengths, checksums and every index before anything is trusted.
    ///
    /// # Errors
    /// `Io` when the file cannot be read, `InvalidFile` with the reason when it is not a whole, sound asset.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
        Self::parse(&bytes).map_err(|reason| Error::InvalidFile { path: path.to_path_buf(), reason })
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let container = Container::parse(bytes)?;
        // What a later writer added in lower case can be done without.
        if let Some(tag) = container.tags().find(|tag| !KNOWN.contains(tag) && !tag[0].is_ascii_lowercase()) {
            return Err(format!("section {} is of a kind that this library does not know", name(tag)));
        }
        let meta: Meta = decode(META, container.section(&META).ok_or("section META is missing")?)?;
        meta.mass.as_ref().map_or(Ok(()), check_mass)?;
        let mesh = match container.section(&MESH) {
            Some(bytes) => {
                let raw: TriMesh = decode(MESH, bytes)?;
                Some(Arc::new(TriMesh::new(raw.vertices, raw.triangles).map_err(|e| format!("section MESH: {e}"))?))
            }
            None => None,
        };
        let old = container.version < FIELDS;
        let field = match (container.section(&FIELD), container.section(&BRICKS)) {
            // Decoding a field checks its grid against its samples.
            (Some(bytes), None) if old => Some(Field::Dense(old::dense(bytes)?)),
            (None, Some(bytes)) if old => Some(Field::Bricks(old::bricks(bytes)?)),
            (Some(bytes), None) => Some(Field::Dense(decode::<DenseField>(FIELD, bytes)?)),
            (None, Some(bytes)) => Some(Field::Bricks(bricks::decode::<BrickHeader>(bytes)?)),
            (None, None) => None,
            (Some(_), Some(_)) => return Err("it holds two fields, in sections FELD and BRIK".into()),
        };
        field.as_ref().map_or(Ok(()), check_field)?;
        let shell = match container.section(&SHELL) {
            Some(bytes) => {
                let shell: PointShell = decode(SHELL, bytes)?;
                shell.check_invariants().map_err(|e| format!("section SHEL: {e}"))?;
                Some(Arc::new(shell))
            }
            None => None,
        };
        if field.is_none() && shell.is_none() {
            return Err("it holds neither a field nor a pointshell".into());
        }
        Ok(Self { mesh, field: field.map(Arc::new), shell, mass: meta.mass, report: meta.report })
    }
}
