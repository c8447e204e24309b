//! A bit for each node of a grid, stored only where neighbours differ.
use voxshell_base::memory::{CollectGuarded, GrowGuarded};

/// Number of nodes along the edge of a tile.
pub(super) const TILE: u32 = 8;

/// The grid's nodes in tiles of 8³: the nodes of a brick without its upper sides. Most tiles have one value.
pub(super) struct Tiles {
    /// Number of nodes, and of tiles, along the axes.
    dims: [u32; 3],
    tiles: [u32; 3],
    /// For each tile, x fastest, [`CLEAR`], [`SET`], or its index in `bits`.
    place: Vec<u32>,
    /// For each tile with both values: one bit per node, x fastest, and one word per z.
    bits: Vec<[u64; 8]>,
}

const CLEAR: u32 = u32::MAX;
const SET: u32 = u32::MAX - 1;

impl Tiles {
    /// Returns tiles of one value each: `value(tile)`. `dims`: number of nodes along the axes.
    pub fn uniform(dims: [u32; 3], value: impl Fn(usize) -> bool) -> Self {
        let tiles = dims.map(|n| n.div_ceil(TILE));
        let count = tiles.iter().map(|&n| n as usize).product();
        let place = (0..count).map(|t| if value(t) { SET } else { CLEAR }).collect_guarded();
        Self { dims, tiles, place, bits: Vec::new() }
    }

    /// Returns the number of tiles.
    pub fn len(&self) -> usize {
        self.place.len()
    }

    /// Returns the number of tiles with bits of their own.
    pub fn mixed(&self) -> usize {
        self.bits.len()
    }

    /// Returns the position of a tile along the axes; its first node is at [`TILE`] times that.
    pub fn place(&self, tile: usize) -> [u32; 3] {
        let [nx, ny, _] = self.tiles.map(|n| n as usize);
        [tile % nx, tile / nx % ny, tile / (nx * ny)].map(|i| i as u32)
    }

    /// Returns the tile at a position; `None` beyond the grid.
    pub fn tile(&self, place: [i64; 3]) -> Option<usize> {
        let inside = (0..3).all(|k| (0..i64::from(self.tiles[k])).contains(&place[k]));
        let [nx, ny, _] = self.tiles.map(i64::from);
        inside.then(|| ((place[2] * ny + place[1]) * nx + place[0]) as usize)
    }

    /// Returns the value of a tile of one value; `None` if its nodes have bits of their own.
    pub fn one_value(&self, tile: usize) -> Option<bool> {
        match self.place[tile] {
            CLEAR => Some(false),
            SET => Some(true),
            _ => None,
        }
    }

    /// Gives a tile bits of its own.
    pub fn set_bits(&mut self, tile: usize, bits: [u64; 8]) {
        match self.place[tile] {
            CLEAR | SET => {
                self.place[tile] = self.bits.len() as u32;
                self.bits.push_guarded(bits);
            }
            own => self.bits[own as usize] = bits,
        }
    }

    /// Sets all nodes of a tile to one value.
    pub fn set_one(&mut self, tile: usize, value: bool) {
        self.place[tile] = if value { SET } else { CLEAR };
    }

    /// Returns a bit for each node of a tile.
    pub fn bits(&self, tile: usize) -> [u64; 8] {
        match self.place[tile] {
            CLEAR => [0; 8],
            SET => [u64::MAX; 8],
            own => self.bits[own as usize],
        }
    }

    /// Returns the six tiles beside a tile, each with its nodes that are next to those of `bits` in this one.
    pub fn beside(&self, tile: usize, bits: [u64; 8]) -> impl Iterator<Item = (usize, [u64; 8])> + '_ {
        const FIRST: u64 = 0x0101_0101_0101_0101;
        let at = self.place(tile).map(i64::from);
        (0..6).filter_map(move |side: usize| {
            let mut place = at;
            place[side / 2] += if side % 2 == 1 { 1 } else { -1 };
            let only = |z: usize, word: u64| std::array::from_fn(|n| if n == z { word } else { 0 });
            let over = match side {
                0 => bits.map(|w| (w & FIRST) << 7),
                1 => bits.map(|w| w >> 7 & FIRST),
                2 => bits.map(|w| w << 56),
                3 => bits.map(|w| w >> 56),
                4 => only(7, bits[0]),
                _ => only(0, bits[7]),
            };
            Some((self.tile(place)?, over))
        })
    }

    /// Returns the value at a node.
    pub fn get(&self, [i, j, k]: [u32; 3]) -> bool {
        let [nx, ny, _] = self.tiles.map(|n| n as usize);
        let tile = ((k / TILE) as usize * ny + (j / TILE) as usize) * nx + (i / TILE) as usize;
        match self.place[tile] {
            CLEAR => false,
            SET => true,
            own => self.bits[own as usize][(k % TILE) as usize] >> (j % TILE * TILE + i % TILE) & 1 == 1,
        }
    }

    /// Returns the tiles, of the six beside a tile of bits, that have one value which differs from that of an
    /// adjacent node of this tile.
    pub fn unlike(&self, tile: usize) -> impl Iterator<Item = usize> + '_ {
        let at = self.place(tile);
        // In the last tiles only the first nodes are in the grid.
        let nodes = [0, 1, 2].map(|k| (self.dims[k] - at[k] * TILE).min(TILE));
        (0..6).filter_map(move |side: usize| {
            let (axis, upper) = (side / 2, side % 2 == 1);
            let mut place = at.map(i64::from);
            place[axis] += if upper { 1 } else { -1 };
            let other = self.tile(place)?;
            let value = self.one_value(other)?;
            let (mut from, mut to) = ([0; 3], nodes);
            from[axis] = if upper { TILE - 1 } else { 0 };
            to[axis] = from[axis] + 1;
            let row = (1u64 << to[0]) - (1 << from[0]);
            let slice = (from[1]..to[1]).fold(0, |word, j| word | row << (j * TILE));
            let bits = self.bits.get(self.place[tile] as usize)?;
            let alike =
                bits[from[2] as usize..to[2] as usize].iter().all(|w| w & slice == if value { slice } else { 0 });
            (!alike).then_some(other)
        })
    }
}
