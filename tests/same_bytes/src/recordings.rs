//! The recordings of `tests/golden`, replayed.

use voxshell::capi::record::player::{Outcome, Player};

/// Part of the program, because some platforms have no files.
const RECORDINGS: [(&str, &[u8]); 8] = [
    ("vps", include_bytes!("../../golden/record_vps.vxr")),
    ("penalty", include_bytes!("../../golden/record_penalty.vxr")),
    ("continuous_penalty", include_bytes!("../../golden/record_continuous_penalty.vxr")),
    ("god_object", include_bytes!("../../golden/record_god_object.vxr")),
    ("impulse", include_bytes!("../../golden/record_impulse.vxr")),
    ("pair", include_bytes!("../../golden/record_pair.vxr")),
    ("bullet", include_bytes!("../../golden/record_bullet.vxr")),
    ("threads", include_bytes!("../../golden/record_threads.vxr")),
];

/// Returns the name of each recording, and its number of equal answers or its first difference.
pub fn all() -> Vec<(&'static str, String)> {
    RECORDINGS.iter().map(|(name, file)| (*name, replay(file).unwrap_or_else(|error| error))).collect()
}

fn replay(file: &[u8]) -> Result<String, String> {
    let mut player = Player::new(file, false)?;
    while let Some(played) = player.step()? {
        if played.outcome != Outcome::Same {
            return Err(format!("call {}, {}: {:?}", played.number, played.function, played.outcome));
        }
    }
    Ok(format!("{} answers are equal", player.counts().same))
}
