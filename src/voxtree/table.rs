//! The smallest sphere around any set of a node's octants.
//!
//! Ruffaldi et al. 2008, section 3.1: "a single, global table that contains the relative offset and scale". Everything
//! here is computed in whole numbers, at compile time. The unit is a sixth of an octant's edge.

/// The smallest sphere around a set of octants of a cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TightSphere {
    /// Centre, from the centre of the cube, in sixths of an octant's edge: exact.
    pub center: [i32; 3],
    /// Square of the radius, in squares of a sixth of an octant's edge: exact. 108 is the sphere around the whole cube.
    pub radius_squared: i32,
    /// Centre, from the centre of the cube, in edges of the cube.
    pub offset: [f32; 3],
    /// Radius over the radius of the sphere around the whole cube.
    pub scale: f32,
}

/// Number of sets of octants with a sphere smaller than that of the whole cube.
pub const SMALLER: usize = 78;
/// The number of such sets that Ruffaldi et al. 2008 state. Exact computation gives [`SMALLER`].
pub const PAPER_SMALLER: usize = 85;

/// Coordinates that centres have along each axis, from the corner of the cube: middles and faces of octants, and thirds
/// of them for sets of three octants around a missing one. The tests compare with the smallest balls over all rational
/// points.
const PLACES: [i32; 5] = [3, 4, 6, 8, 9];

/// Tight spheres by the set of octants: bit x + 2y + 4z for the octant at (x, y, z). Entry 0 is that of the whole cube.
pub static TABLE: [TightSphere; 256] = table();

const fn table() -> [TightSphere; 256] {
    let whole = TightSphere { center: [0; 3], radius_squared: 108, offset: [0.0; 3], scale: 1.0 };
    let mut table = [whole; 256];
    let mut place = 0;
    while place < 125 {
        let center = [PLACES[place % 5], PLACES[place / 5 % 5], PLACES[place / 25]];
        // Squared distance from this centre to the farthest corner of each set.
        let mut farthest = [0; 256];
        let mut set = 1;
        while set < 256usize {
            let octant = set.trailing_zeros() as usize;
            let rest = farthest[set & (set - 1)];
            let this = farthest_corner(center, octant);
            farthest[set] = if this > rest { this } else { rest };
            if farthest[set] < table[set].radius_squared {
                table[set] = sphere(center, farthest[set]);
            }
            set += 1;
        }
        place += 1;
    }
    table
}

const fn farthest_corner(center: [i32; 3], octant: usize) -> i32 {
    let mut sum = 0;
    let mut k = 0;
    while k < 3 {
        let low = 6 * (octant >> k & 1) as i32;
        let (to_low, to_high) = ((center[k] - low).abs(), (center[k] - low - 6).abs());
        let most = if to_low > to_high { to_low } else { to_high };
        sum += most * most;
        k += 1;
    }
    sum
}

const fn sphere(place: [i32; 3], radius_squared: i32) -> TightSphere {
    let center = [place[0] - 6, place[1] - 6, place[2] - 6];
    let offset = [center[0] as f32 / 12.0, center[1] as f32 / 12.0, center[2] as f32 / 12.0];
    // The square root is not a constant function.
    let scale = match radius_squared {
        27 => 0.5,
        54 => std::f32::consts::FRAC_1_SQRT_2,
        81 => 0.866_025_4,
        96 => 0.942_809_04,
        _ => 1.0,
    };
    TightSphere { center, radius_squared, offset, scale }
}
