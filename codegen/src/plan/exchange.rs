//! The exchange that moves a tile from one distribution to another: renaming, shuffles, or shared memory.

use girih_layout::Swizzle;
use girih_tensor::DType;

use super::access::WarpAccess;
use super::dist::Dist;
use super::shuffle::Shuffles;
use super::vectors::{Vectors, WIDEST, fastest, lanes};

/// The exchange that moves a tile from one distribution to another.
///
/// # Examples
/// ```
/// use girih_codegen::plan::{Dist, Exchange};
/// use girih_tensor::DType;
///
/// let [rows, columns] = [[1, 0], [0, 1]].map(|order| Dist::blocked(&[64, 64], &order, 4, 128));
/// let exchange = |to| Exchange::new(&[64, 64], DType::F32, &rows, to);
/// // From rows to rows every thread has its elements already; a transpose is worth shared memory.
/// assert!(matches!(exchange(&rows), Exchange::Rename(_)));
/// assert!(matches!(exchange(&columns), Exchange::Shared(_)));
/// assert!(exchange(&rows).cost() < exchange(&columns).cost());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Every thread has its elements already: value `i` of the result is this value of the operand.
    Rename(Vec<usize>),
    /// By shuffles between the lanes of a warp.
    Shuffles(Shuffles),
    /// Through shared memory.
    Shared(Shared),
}

/// An exchange through shared memory. Of threads that hold copies, those whose bits without a mode are 0 store. All threads load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The extents of the tile in shared memory, at least the tile's own. A vector that begins beyond one is neither stored nor loaded;
    /// one that begins inside is accessed as a whole.
    pub extents: Vec<i64>,
    /// The strides by mode, in elements.
    pub strides: Vec<i64>,
    /// The swizzle of element indices, which moves whole vectors. The memory begins at a multiple of `alignment`.
    pub swizzle: Swizzle,
    /// The number of elements, a multiple of the swizzle's period.
    pub size: i64,
    /// Bytes of an element; a bool takes one.
    pub bytes: i64,
    /// The required alignment of the memory's address, in bytes.
    pub alignment: i64,
    /// The operand's values as they are stored.
    pub store: Vectors,
    /// The result's values as they are loaded.
    pub load: Vectors,
    /// The wavefronts of all accesses of a warp, and the minimum for as many bytes.
    pub wavefronts: [i64; 2],
}

impl Exchange {
    /// The cheapest exchange. Both distributions cover the shape.
    pub fn new(extents: &[u32], dtype: DType, from: &Dist, to: &Dist) -> Exchange {
        if let Some(values) = rename(extents, from, to) {
            return Exchange::Rename(values);
        }
        let shared = || Exchange::Shared(Shared::new(extents, dtype, from, to));
        let Some(shuffles) = Shuffles::new(extents, dtype, from, to).map(Exchange::Shuffles) else {
            return shared();
        };
        if shuffles.cost() <= ROUND_TRIP {
            return shuffles;
        }
        let shared = shared();
        if shuffles.cost() <= shared.cost() { shuffles } else { shared }
    }

    /// The exchange with this swizzle, if shared memory is needed and the swizzle keeps vectors contiguous and stays inside the memory.
    pub fn with_swizzle(
        self,
        extents: &[u32],
        dtype: DType,
        sides: [&Dist; 2],
        swizzle: Swizzle,
    ) -> Exchange {
        let best = match self {
            Exchange::Rename(_) => return self,
            Exchange::Shuffles(_) => Shared::new(extents, dtype, sides[0], sides[1]),
            Exchange::Shared(best) => best,
        };
        let orders = (0..extents.len()).rev().map(|mode| fastest(mode, extents.len()));
        let plain = orders.map(|order| Shared::of(extents, dtype, sides, &order, 0, None));
        let fits = plain.filter(|plain| swizzle == Swizzle::NONE || plain.swizzles().contains(&swizzle));
        let all = fits.map(|plain| plain.swizzled(sides, swizzle));
        Exchange::Shared(all.min_by_key(Shared::slots).unwrap_or(best))
    }

    /// Issue slots of a warp, about.
    pub fn cost(&self) -> f64 {
        match self {
            Exchange::Rename(_) => 0.0,
            Exchange::Shuffles(shuffles) => shuffles.cost(),
            Exchange::Shared(shared) => {
                ROUND_TRIP
                    + 2.0 * (shared.store.count() + shared.load.count()) as f64
                    + (shared.wavefronts[0] - shared.wavefronts[1]) as f64
            }
        }
    }
}

/// A shuffle and its latency, in issue slots of a warp.
const SHUFFLE: f64 = 5.0;

impl Shuffles {
    /// Issue slots of a warp, about.
    pub fn cost(&self) -> f64 {
        let [shuffles, choices] = self.count();
        SHUFFLE * shuffles as f64 + choices as f64
    }
}

/// Two barriers and the latency between them, in issue slots of a warp.
pub const ROUND_TRIP: f64 = 60.0;

/// The index of the operand's value for each value of the result, if every thread has its elements already.
pub fn rename(extents: &[u32], from: &Dist, to: &Dist) -> Option<Vec<usize>> {
    // A thread whose elements are padding may have any values.
    let beyond =
        |bit: &Option<(usize, i64)>| bit.is_some_and(|(mode, scale)| scale >= i64::from(extents[mode]));
    if from.bits.iter().zip(&to.bits).any(|(from, to)| from != to && !(from.is_none() && beyond(to))) {
        return None;
    }
    let mut weights = Vec::new();
    let mut weight = 1;
    for leaf in &from.vals {
        weights.push(weight);
        weight *= leaf.extent as usize;
    }
    let mut values = vec![0];
    for leaf in &to.vals {
        let by = match from.vals.iter().position(|other| other == leaf) {
            Some(at) => weights[at],
            // Padding alone: any value will do.
            None if leaf.scale >= i64::from(extents[leaf.mode]) => 0,
            None => return None,
        };
        values = (0..leaf.extent as usize).flat_map(|i| values.iter().map(move |v| v + i * by)).collect();
    }
    Some(values)
}

impl Shared {
    /// Row-major in shared memory, one element at a time.
    pub fn plain(extents: &[u32], dtype: DType, from: &Dist, to: &Dist) -> Shared {
        let rank = extents.len();
        Shared::of(extents, dtype, [from, to], &fastest(rank.saturating_sub(1), rank), 0, Some(1))
    }

    /// The exchange with the order of modes, and the swizzle or the padding of rows, that take the fewest instructions and wavefronts.
    pub fn new(extents: &[u32], dtype: DType, from: &Dist, to: &Dist) -> Shared {
        let rank = extents.len();
        let mut best = Shared::plain(extents, dtype, from, to);
        let better = |shared: Shared, best: &mut Shared| {
            if shared.slots() < best.slots() {
                *best = shared;
            }
        };
        for mode in (0..rank).rev().filter(|&mode| extents[mode] > 1 || rank == 1) {
            let order = fastest(mode, rank);
            let plain = Shared::of(extents, dtype, [from, to], &order, 0, None);
            for swizzle in plain.swizzles() {
                better(plain.clone().swizzled([from, to], swizzle), &mut best);
            }
            let step = plain.store.vector.max(plain.load.vector);
            better(plain, &mut best);
            for pad in [step, 2 * step] {
                better(Shared::of(extents, dtype, [from, to], &order, pad, None), &mut best);
            }
        }
        best
    }

    /// The exchange with modes in `order`, the fastest padded by `pad` elements.
    fn of(
        extents: &[u32],
        dtype: DType,
        sides: [&Dist; 2],
        order: &[usize],
        pad: i64,
        most: Option<i64>,
    ) -> Shared {
        let rank = extents.len();
        // The memory has room for the operand's padding, up to whole vectors of the result. Its stores need no bounds check then.
        let covered = sides[0].padded(rank);
        let extents: Vec<i64> =
            extents.iter().zip(&covered).map(|(&n, covered)| *covered.max(&n.into())).collect();
        let bytes = dtype.bytes();
        let mut strides = vec![1; rank];
        let mut size = 1;
        for (i, &mode) in order.iter().enumerate() {
            strides[mode] = size;
            size *= extents[mode] + if i == 0 { pad } else { 0 };
        }
        // Vectors begin at multiples of their size in every row.
        let row = order.first().map_or(1, |&mode| extents[mode] + pad);
        let most = most.unwrap_or(WIDEST / bytes).min(row & row.wrapping_neg());
        let side = |dist: &Dist| Vectors::new(dist, order, most);
        let mut shared = Shared {
            extents,
            strides,
            swizzle: Swizzle::NONE,
            size,
            bytes,
            alignment: WIDEST,
            store: side(sides[0]),
            load: side(sides[1]),
            wavefronts: [0; 2],
        };
        shared.wavefronts = shared.count(sides);
        shared
    }

    fn slots(&self) -> (i64, i64) {
        let instructions = (self.store.count() + self.load.count()) as i64;
        (2 * instructions + self.wavefronts[0], self.size)
    }

    fn swizzled(mut self, sides: [&Dist; 2], swizzle: Swizzle) -> Shared {
        self.swizzle = swizzle;
        self.alignment = 1024;
        self.wavefronts = self.count(sides);
        self
    }

    /// Swizzles of the memory that move whole vectors, those that move the fewest bits first.
    fn swizzles(&self) -> Vec<Swizzle> {
        let reach = (self.size & self.size.wrapping_neg()).trailing_zeros();
        let base = self.store.vector.max(self.load.vector).trailing_zeros();
        let free = reach.saturating_sub(base);
        (1..=5.min(free / 2))
            .flat_map(|bits| (bits..=free - bits).map(move |shift| (bits, shift)))
            .flat_map(|(bits, shift)| (base..=reach - bits - shift).map(move |base| (bits, base, shift)))
            .filter_map(|(bits, base, shift)| Swizzle::new(bits, base, shift as i32).ok())
            .collect()
    }

    /// Wavefronts of a warp's accesses, and the fewest, by the first access of the first warp: the others are translations of it.
    fn count(&self, sides: [&Dist; 2]) -> [i64; 2] {
        let mut sum = [0; 2];
        for (dist, vectors) in sides.iter().zip([&self.store, &self.load]) {
            let addresses = lanes(dist, &self.strides);
            let addresses = addresses.into_iter().map(|at| self.swizzle.apply(at) * self.bytes).collect();
            let access = WarpAccess { warp: 0, value: 0, addresses, bytes: vectors.vector * self.bytes };
            let pieces = access.wavefronts();
            sum[0] += pieces.taken * vectors.count() as i64;
            sum[1] += pieces.least * vectors.count() as i64;
        }
        sum
    }

    /// Bytes of shared memory.
    pub fn bytes(&self) -> i64 {
        self.size * self.bytes
    }
}
