//! Layouts of versions 1 and 2 of the file where they differ from the present one. These structs never change.
//! `tests/golden` has a file of each version.

use serde::Deserialize;

use super::bricks::{part, unpack_all};
use super::container::decode;
use crate::field::{BrickField, BrickHeader, BrickParts, DenseField, FieldError, Grid, SignReport, SignRule};
use crate::math::{Aabb, Vec3};
use crate::memory::{boxed, SliceGuarded};

/// Numbers for each fine brick: 9³ samples, and their largest excess over the distance.
const BRICK: usize = 9 * 9 * 9 + 1;

#[derive(Deserialize)]
enum Rule {
    Given,
    Crossings,
    Parity,
    WindingNumber,
}

#[derive(Deserialize)]
struct Sign {
    closed: bool,
    consistent: bool,
    rule: Rule,
    duplicate_triangles: u64,
    flipped_triangles: u64,
    uncertain_nodes: u64,
    membrane_area: f64,
}

impl From<Sign> for SignReport {
    fn from(s: Sign) -> Self {
        Self {
            closed: s.closed,
            consistent: s.consistent,
            rule: match s.rule {
                Rule::Given => SignRule::Given,
                Rule::Crossings => SignRule::Crossings,
                Rule::Parity => SignRule::Parity,
                Rule::WindingNumber => SignRule::WindingNumber,
            },
            duplicate_triangles: s.duplicate_triangles,
            flipped_triangles: s.flipped_triangles,
            uncertain_nodes: s.uncertain_nodes,
            membrane_area: s.membrane_area,
            // These files do not store how the sign was decided.
            ..SignReport::given()
        }
    }
}

/// Section FELD.
#[derive(Deserialize)]
struct Dense {
    grid: Grid,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    values: Vec<f32>,
    center: Vec3,
    bounds: Aabb,
    error: FieldError,
    sign: Sign,
}

/// The header in section BRIK.
#[derive(Deserialize)]
struct Header {
    grid: Grid,
    fine: u32,
    quantum: f32,
    step: u32,
    node_lipschitz: f32,
    rounding: f32,
    center: Vec3,
    bounds: Aabb,
    error: FieldError,
    sign: Sign,
}

/// Start of section BRIK.
#[derive(Deserialize)]
struct Head {
    header: Header,
    packing: u8,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    numbers: Vec<u32>,
}

impl From<Header> for BrickHeader {
    fn from(h: Header) -> Self {
        Self {
            grid: h.grid,
            fine: h.fine,
            quantum: h.quantum,
            step: h.step,
            node_lipschitz: h.node_lipschitz,
            rounding: h.rounding,
            center: h.center,
            bounds: h.bounds,
            error: h.error,
            sign: h.sign.into(),
        }
    }
}

pub(super) fn dense(bytes: &[u8]) -> Result<DenseField, String> {
    let Dense { grid, values, center, bounds, error, sign } = decode(*b"FELD", bytes)?;
    let field = DenseField::assemble(grid, boxed(values), center, sign.into());
    Ok(field.map_err(|e| format!("section FELD: {e}"))?.described(error, &bounds))
}

/// Section BRIK: a header, and the samples of bricks that share nothing, in compressed blocks.
pub(super) fn bricks(mut bytes: &[u8]) -> Result<BrickField, String> {
    let head = part(&mut bytes).ok_or("section BRIK is too short for its header")?;
    let Head { header, packing, numbers } = decode(*b"BRIK", head)?;
    if packing != 1 || numbers.len() != header.fine as usize {
        return Err(format!("section BRIK has packing {packing} and {} of {} bricks", numbers.len(), header.fine));
    }
    let header = BrickHeader::from(header);
    let wrong = |e: crate::Error| format!("section BRIK: {e}");
    let corners = BrickParts::sample_count(&header, &[]).map_err(wrong)?;
    let fine = numbers.len() * BRICK;
    let mut samples = unpack_all(bytes, fine + corners).map_err(|e| format!("section BRIK: {e}"))?;
    let coarse = samples[fine..].to_vec_guarded();
    samples.truncate(fine);
    BrickField::from_separate(header, numbers, samples, &coarse).map_err(wrong)
}
