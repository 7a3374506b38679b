//! The memory accesses of a thread's values of a distribution: vectors, sectors, cache lines, as closed formulas.

use super::dist::{Dist, LANE_BITS, Leaf};

/// Bytes of the widest access of a thread.
pub const WIDEST: i64 = 16;
/// Bytes in which global memory moves.
const SECTOR: i64 = 32;
/// Bytes of a line of the cache, which is looked up as a whole.
const LINE: i64 = 128;

/// A thread's values in the order in which they are accessed.
///
/// # Examples
/// ```
/// use girih_codegen::plan::{Dist, Vectors, run};
///
/// // 64 rows of 64 columns, in which 128 threads have 8 neighbouring columns at a time.
/// let dist = Dist::blocked(&[64, 64], &[1, 0], 8, 128);
/// let vectors = Vectors::new(&dist, &[1, 0], 8);
/// assert_eq!((run(&dist, 1), vectors.vector, vectors.count()), (8, 8, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// Elements of an access; a power of two.
    pub vector: i64,
    /// Numbers of values: each `vector` of them are in a row, the first at a multiple of `vector`.
    pub values: Vec<usize>,
}

impl Vectors {
    /// The widest vectors of at most `most` elements in memory whose modes are `order`, the fastest first; the fastest has stride 1.
    pub fn new(dist: &Dist, order: &[usize], most: i64) -> Vectors {
        let vector = order.first().map_or(1, |&mode| run(dist, mode).min(1 << most.max(1).ilog2()));
        // Leaves by their place in memory, and what each adds to a value's index.
        let mut weight = 1;
        let mut leaves: Vec<(Leaf, usize)> = Vec::new();
        for leaf in &dist.vals {
            leaves.push((*leaf, weight));
            weight *= leaf.extent as usize;
        }
        leaves.sort_by_key(|(leaf, _)| (order.iter().position(|&mode| mode == leaf.mode), leaf.scale));
        let mut values = vec![0];
        for (leaf, weight) in leaves {
            values =
                (0..leaf.extent as usize).flat_map(|i| values.iter().map(move |v| v + i * weight)).collect();
        }
        Vectors { vector, values }
    }

    /// The accesses, each the numbers of its values.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.values.chunks(self.vector as usize)
    }

    /// Number of accesses.
    pub fn count(&self) -> usize {
        self.values.len() / self.vector as usize
    }
}

/// The greatest power of two of elements in a row along a mode that a thread holds, the first at a multiple of it.
pub fn run(dist: &Dist, mode: usize) -> i64 {
    let mut run = 1;
    for (leaf, bit) in dist.along(mode) {
        if bit.is_some() || leaf.extent != 2 || leaf.scale != run {
            break;
        }
        run *= 2;
    }
    run
}

/// Modes from the fastest: this one, then the others row-major.
pub fn fastest(mode: usize, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).rev().filter(|&other| other != mode).collect();
    if mode < rank {
        order.insert(0, mode);
    }
    order
}

/// The sectors of global memory that an access of a warp touches, where `vector` elements of `bytes` each are in a row along the mode
/// `contiguous`, and rows are apart.
pub fn sectors(dist: &Dist, contiguous: Option<usize>, vector: i64, bytes: i64) -> i64 {
    pieces(dist, contiguous, vector, bytes, SECTOR)
}

/// The lines of the cache, 128 bytes each, as [`sectors`].
pub fn lines(dist: &Dist, contiguous: Option<usize>, vector: i64, bytes: i64) -> i64 {
    pieces(dist, contiguous, vector, bytes, LINE)
}

fn pieces(dist: &Dist, contiguous: Option<usize>, vector: i64, bytes: i64, piece: i64) -> i64 {
    let within = |&(mode, scale): &(usize, i64)| Some(mode) == contiguous && scale * bytes < piece;
    let lanes = &dist.bits[..dist.bits.len().min(LANE_BITS)];
    let apart = lanes.iter().flatten().filter(|bit| !within(bit)).count();
    (1 << apart) * (vector * bytes).max(piece) / piece
}

/// The addresses, in elements, at which the lanes of a warp begin their first access to memory with these strides.
pub fn lanes(dist: &Dist, strides: &[i64]) -> Vec<i64> {
    let mut places = vec![0];
    for bit in dist.bits.iter().take(LANE_BITS) {
        let step = bit.map_or(0, |(mode, scale)| scale * strides[mode]);
        places.extend_from_within(..);
        let half = places.len() / 2;
        places[half..].iter_mut().for_each(|place| *place += step);
    }
    places
}
