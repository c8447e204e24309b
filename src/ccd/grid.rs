//! All passages of a segment through a level of a field on a grid: inside the grid's box by `grid_traversal`, outside
//! by `grid_exterior`.

use std::ops::ControlFlow;

use super::grid_exterior;
use super::grid_traversal::{CertifiedStart, GridTraversal, Setting};
use voxshell_base::math::Vec3;
use voxshell_field::{Cells, Skip};

/// Calls `on(t, below)` in order where φ passes the level between `from` and `to` (metres, body frame). `below` means
/// that φ ≤ level from there on. When the segment starts at or below the level, the first call is at 0.
pub(super) fn walk<C, F>(setting: &Setting<C>, from: &Vec3, to: &Vec3, on: F) -> ControlFlow<()>
where
    C: Cells,
    F: FnMut(f64, bool) -> ControlFlow<()>,
{
    walk_on(setting, from, to, CertifiedStart { until: 0.0, side: 0.0 }, on)
}

/// Does the same as [`walk`], with the certified start of the segment in `certified`.
pub(super) fn walk_on<C, F>(
    setting: &Setting<C>,
    from: &Vec3,
    to: &Vec3,
    certified: CertifiedStart,
    on: F,
) -> ControlFlow<()>
where
    C: Cells,
    F: FnMut(f64, bool) -> ControlFlow<()>,
{
    let Some((line, level)) = setting.line(from, to) else { return ControlFlow::Continue(()) };
    let border = f64::from(setting.cells.blocks().border());
    let mut walk = GridTraversal { setting, line, level, below: false, on };
    if level < border {
        let Some((start, end)) = line.clip([0.0; 3], setting.last) else { return ControlFlow::Continue(()) };
        if start == 0.0 {
            if certified.side < 0.0 {
                walk.pass(0.0, true)?;
            } else if certified.side == 0.0 {
                walk.start()?;
            }
        }
        if line.is_still() || certified.until > end {
            return ControlFlow::Continue(());
        }
        return walk.inside(start, certified.until, end);
    }
    // Outside, φ grows with the distance from the box: beyond this distance it is above the level.
    let reach = (level - border) * setting.inverse_spacing * 1.000_001 + 1e-3;
    let Some((start, end)) = line.clip([-reach; 3], setting.last.map(|l| l + reach)) else {
        return ControlFlow::Continue(());
    };
    if start == 0.0 {
        walk.start()?;
    }
    if line.is_still() {
        return ControlFlow::Continue(());
    }
    match line.clip([0.0; 3], setting.last) {
        None => grid_exterior::walk(&mut walk, start, end),
        Some((enter, leave)) => {
            grid_exterior::walk(&mut walk, start, enter)?;
            walk.inside(enter, 0.0, leave)?;
            grid_exterior::walk(&mut walk, leave, end)
        }
    }
}
