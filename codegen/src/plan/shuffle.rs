//! Exchanges within warps: a tile moves from one distribution to another by selections and shuffles, without barriers.
//!
//! Digits of coordinates move: a digit is what a bit of the lane's index or a leaf of the values says. Both distributions have the same
//! digits. One that the bits of warps say stays; one that values say on both sides renames registers; one that lanes say on both sides
//! says from which lane to receive. What is left over makes [pairs](Pair) of a bit of the giving lane with a bit of the receiving one.
//!
//! # Examples
//! ```
//! use girih_codegen::plan::Dist;
//! use girih_codegen::plan::shuffle::Shuffles;
//! use girih_tensor::DType;
//!
//! // 32 lanes that have 4 neighbours each, and as many that have every 32nd element.
//! let [blocked, striped] = [4, 1].map(|vector| Dist::blocked(&[128], &[0], vector, 32));
//! let shuffles = Shuffles::new(&[128], DType::F32, &blocked, &striped).expect("inside of a warp");
//! assert!(!shuffles.pairs.is_empty());
//! ```

mod emit;

use girih_tensor::DType;

use super::Dist;

/// Bits of a lane's index.
const LANES: usize = 5;

/// An exchange in which every element stays in its warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffles {
    /// For each bit of the index of the lane that a lane receives from: the bit of its own index that it is, or 0.
    pub from: [Option<usize>; LANES],
    /// The steps in addition to the shuffles.
    pub pairs: Vec<Pair>,
    /// The digits that are values on both sides: the number of values, and their strides among the values of the operand and of the result.
    pub common: Vec<[usize; 3]>,
    /// The leaves of the result's values, the fastest first: how many values each has, and how many of them are not padding in all threads.
    pub results: Vec<[usize; 2]>,
    /// The number of the operand's values.
    pub given: usize,
    /// Elements that go together in a register.
    pub packed: usize,
    /// Registers of an element.
    pub words: usize,
}

/// A bit of the giving lane with one of the receiving lane. Distances are among the operand's values for `give`, the result's for `take`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Lanes that differ in a bit exchange one of two values, then the bit moves on: both values are for the lane `to`.
    Swap {
        /// The distance of the two values before.
        give: usize,
        /// The distance of the two values afterwards.
        take: usize,
        /// The bit before.
        from: usize,
        /// The bit afterwards.
        to: usize,
    },
    /// A lane receives the values of both lanes that differ in the bit `from`. It is its own bit if `own`: then one of them stays.
    Gather {
        /// The distance of the two values afterwards.
        take: usize,
        /// The bit before.
        from: usize,
        /// Whether the receiving lane has one of the values.
        own: bool,
    },
    /// Lanes that differ in the bit `to` receive one of two values each from one lane.
    Spread {
        /// The distance of the two values before.
        give: usize,
        /// The bit afterwards.
        to: usize,
    },
    /// Lanes that differ in the bit `from` have the same two values, and give one each.
    Pick {
        /// The distance of the two values before.
        give: usize,
        /// The bit before.
        from: usize,
    },
}

/// A warp that carries out an exchange, or that counts what it takes.
pub trait Warp {
    /// A register of all lanes.
    type Word: Clone;
    /// The operand's values with these numbers, together.
    fn give(&mut self, values: &[usize]) -> Vec<Self::Word>;
    /// `yes` in the lanes in whose number this bit is 1, `no` in the others.
    fn choose(&mut self, bit: usize, yes: &Self::Word, no: &Self::Word) -> Self::Word;
    /// The word of the lane whose index is that of [`Shuffles::from`] with these bits inverted.
    fn shuffle(&mut self, turned: usize, word: &Self::Word) -> Self::Word;
    /// Keeps what was given together as the result's values with these numbers.
    fn keep(&mut self, words: Vec<Self::Word>, values: &[usize]);
}

/// The meaning of a bit or a leaf: a digit of a coordinate.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Digit {
    mode: usize,
    scale: i64,
    /// Of the elements of the tile; beyond there is padding.
    extent: i64,
}

/// The meaning of a bit: none, so that lanes hold copies; padding; or a digit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Copy,
    Padding,
    Digit(Digit),
}

impl Shuffles {
    /// The exchange, if every element that a lane is to have is in its warp and both distributions have the same digits. Both cover the
    /// tile of these extents.
    pub fn new(extents: &[u32], dtype: DType, from: &Dist, to: &Dist) -> Option<Shuffles> {
        if from.bits.len() < LANES || from.bits.len() != to.bits.len() {
            return None;
        }
        let digit = |mode: usize, scale: i64, extent: i64| {
            let left = (extents.get(mode).map_or(1, |&n| i64::from(n)) + scale - 1) / scale;
            Digit { mode, scale, extent: extent.min(left) }
        };
        let says = |bit: &Option<(usize, i64)>| match bit.map(|(mode, scale)| digit(mode, scale, 2)) {
            None => Says::Copy,
            Some(digit) if digit.extent < 2 => Says::Padding,
            Some(digit) => Says::Digit(digit),
        };
        let sides = [from, to].map(|dist| dist.bits.iter().map(says).collect::<Vec<_>>());
        let stays = |(from, to): (&Says, &Says)| from == to || (*from == Says::Copy && *to == Says::Padding);
        if !sides[0][LANES..].iter().zip(&sides[1][LANES..]).all(stays) {
            return None;
        }
        let values = |dist: &Dist| {
            let mut weight = 1;
            let of = dist.vals.iter().map(|leaf| {
                let at = weight;
                weight *= leaf.extent as usize;
                (digit(leaf.mode, leaf.scale, leaf.extent), at)
            });
            of.filter(|(digit, _)| digit.extent > 1).collect::<Vec<_>>()
        };
        let [mut gives, mut takes] = [values(from), values(to)];
        let remove = |all: &mut Vec<(Digit, usize)>, digit: &Digit| {
            let at = all.iter().position(|(other, _)| other == digit)?;
            Some(all.remove(at).1)
        };

        let mut out = Shuffles {
            from: [None; LANES],
            pairs: Vec::new(),
            common: Vec::new(),
            results: Vec::new(),
            given: from.size(),
            packed: if matches!(dtype, DType::F16 | DType::Bf16) { 2 } else { 1 },
            words: if dtype.bits() == 64 { 2 } else { 1 },
        };
        for leaf in &to.vals {
            let inside = digit(leaf.mode, leaf.scale, leaf.extent).extent;
            out.results.push([leaf.extent as usize, inside as usize]);
        }
        // Bits of lanes that are left over, with the distance of the values that say the same on the other side.
        let (mut left, mut open) = (Vec::new(), Vec::new());
        for (bit, says) in sides[0][..LANES].iter().enumerate() {
            let same = |other: &Says| matches!(says, Says::Digit(_)) && other == says;
            match (says, sides[1][..LANES].iter().position(same)) {
                (_, Some(at)) => out.from[bit] = Some(at),
                (Says::Digit(digit), None) => left.push((bit, *says, remove(&mut takes, digit)?)),
                (_, None) => left.push((bit, *says, 0)),
            }
        }
        for (bit, says) in sides[1][..LANES].iter().enumerate() {
            match says {
                Says::Digit(_) if out.from.contains(&Some(bit)) => {}
                Says::Digit(digit) => open.push((bit, *says, remove(&mut gives, digit)?)),
                _ => open.push((bit, *says, 0)),
            }
        }
        for (digit, give) in gives {
            out.common.push([digit.extent as usize, give, remove(&mut takes, &digit)?]);
        }
        if !takes.is_empty() {
            return None;
        }
        out.pair(left, open);
        Some(out)
    }

    /// Pairs the bits of lanes that are left over, such that few shuffles are needed.
    fn pair(&mut self, mut left: Vec<(usize, Says, usize)>, mut open: Vec<(usize, Says, usize)>) {
        let is_digit = |says: Says| matches!(says, Says::Digit(_));
        // Lanes that have padding alone give nothing, so that another lane gives more where one more digit is to be taken from it.
        left.sort_by_key(|&(bit, says, _)| (says != Says::Padding, !is_digit(says), bit));
        while !left.is_empty() {
            let (bit, says, take) = left.remove(0);
            let worth = |&(at, other, _): &(usize, Says, usize)| match says {
                Says::Padding => (is_digit(other), other != Says::Padding, at != bit),
                // A copy becomes a digit without a further shuffle, and a bit that stays in place may need none.
                Says::Copy => (at != bit, !is_digit(other), false),
                Says::Digit(_) => (at != bit, is_digit(other), false),
            };
            let best = (0..open.len()).min_by_key(|&i| (worth(&open[i]), open[i].0));
            let Some(best) = best else { return };
            let (at, other, give) = open.remove(best);
            self.from[bit] = Some(at);
            match (says, is_digit(other)) {
                (Says::Padding, false) if other == Says::Padding => {}
                (Says::Padding, false) => self.from[bit] = None,
                (Says::Padding, true) => {
                    self.from[bit] = None;
                    self.pairs.push(Pair::Spread { give, to: at });
                }
                (Says::Copy, false) => {}
                (Says::Copy, true) => self.pairs.push(Pair::Pick { give, from: bit }),
                (Says::Digit(_), true) => self.pairs.push(Pair::Swap { give, take, from: bit, to: at }),
                (Says::Digit(_), false) => {
                    if at != bit {
                        self.from[bit] = None;
                    }
                    self.pairs.push(Pair::Gather { take, from: bit, own: at == bit });
                }
            }
        }
    }

    /// Whether lanes receive from their own number, with bits turned over at the most.
    pub fn is_butterfly(&self) -> bool {
        self.from.iter().enumerate().all(|(bit, from)| *from == Some(bit))
    }

    /// Carries out the exchange: every lane gives, and keeps all values that [`Shuffles::values`] names.
    pub fn run<W: Warp>(&self, warp: &mut W) {
        let mut shared = vec![[0; 2]];
        for &[extent, give, take] in &self.common {
            let next = (0..extent)
                .flat_map(|i| shared.iter().map(move |[g, t]: &[usize; 2]| [g + i * give, t + i * take]));
            shared = next.collect();
        }
        for together in shared.chunks(self.packed) {
            self.exchange(warp, together);
        }
    }

    /// Of the values that differ in what the pairs say.
    fn exchange<W: Warp>(&self, warp: &mut W, together: &[[usize; 2]]) {
        let all = 1usize << self.pairs.len();
        let mask = |is: fn(&Pair) -> bool| {
            self.pairs.iter().enumerate().filter(|(_, pair)| is(pair)).fold(0, |mask, (i, _)| mask | 1 << i)
        };
        let gives = !mask(|pair| matches!(pair, Pair::Gather { .. }));
        let picks = mask(|pair| matches!(pair, Pair::Pick { .. }));
        let spreads = mask(|pair| matches!(pair, Pair::Spread { .. }));
        let sum = |at: usize, of: fn(&Pair) -> usize| -> usize {
            self.pairs.iter().enumerate().filter(|(i, _)| at >> i & 1 == 1).map(|(_, pair)| of(pair)).sum()
        };
        let either = |warp: &mut W, bit: usize, yes: &[W::Word], no: &[W::Word]| -> Vec<W::Word> {
            yes.iter().zip(no).map(|(yes, no)| warp.choose(bit, yes, no)).collect()
        };

        // The words of the lanes, by the digits of the pairs.
        let mut have: Vec<Vec<W::Word>> = vec![Vec::new(); all];
        for at in (0..all).filter(|at| at & !gives == 0) {
            let give = sum(at, Pair::give);
            let values: Vec<usize> = together.iter().map(|[first, _]| first + give).collect();
            have[at] = warp.give(&values);
        }
        let mut done = 0;
        for (i, pair) in self.pairs.iter().enumerate() {
            if let Pair::Pick { from, .. } = *pair {
                for at in (0..all).filter(|at| at & (!gives | done | 1 << i) == 0) {
                    have[at] = either(warp, from, &have[at | 1 << i], &have[at]);
                }
                done |= 1 << i;
            }
        }
        for (i, pair) in self.pairs.iter().enumerate() {
            if let Pair::Swap { from, .. } = *pair {
                for at in (0..all).filter(|at| at & (!gives | picks | 1 << i) == 0) {
                    let [low, high] = [&have[at], &have[at | 1 << i]];
                    let [low, high] = [either(warp, from, high, low), either(warp, from, low, high)];
                    (have[at], have[at | 1 << i]) = (low, high);
                }
            }
        }

        let mut got: Vec<Vec<W::Word>> = vec![Vec::new(); all];
        for at in (0..all).filter(|at| at & picks == 0) {
            let turned = sum(at, Pair::turned);
            let given = &have[at & gives];
            got[at] = if turned == 0 && self.is_butterfly() {
                given.clone()
            } else {
                given.iter().map(|word| warp.shuffle(turned, word)).collect()
            };
        }
        let mut done = 0;
        for (i, pair) in self.pairs.iter().enumerate() {
            if let Pair::Spread { to, .. } = *pair {
                for at in (0..all).filter(|at| at & (picks | done | 1 << i) == 0) {
                    got[at] = either(warp, to, &got[at | 1 << i], &got[at]);
                }
                done |= 1 << i;
            }
        }
        for (i, pair) in self.pairs.iter().enumerate() {
            let bit = match *pair {
                Pair::Swap { to, .. } => to,
                Pair::Gather { from, own: true, .. } => from,
                _ => continue,
            };
            for at in (0..all).filter(|at| at & (picks | spreads | 1 << i) == 0) {
                let [low, high] = [&got[at], &got[at | 1 << i]];
                let [low, high] = [either(warp, bit, high, low), either(warp, bit, low, high)];
                (got[at], got[at | 1 << i]) = (low, high);
            }
        }
        for (at, words) in got.into_iter().enumerate().filter(|(at, _)| at & (picks | spreads) == 0) {
            let take = sum(at, Pair::take);
            warp.keep(words, &together.iter().map(|[_, first]| first + take).collect::<Vec<_>>());
        }
    }

    /// For each value of the result, the kept value that it is: itself, or any where it is padding.
    pub fn values(&self) -> Vec<usize> {
        let mut values = vec![0];
        let mut weight = 1;
        for &[extent, inside] in &self.results {
            let of = |i: usize| if i < inside { i * weight } else { 0 };
            values = (0..extent).flat_map(|i| values.iter().map(move |value| value + of(i))).collect();
            weight *= extent;
        }
        values
    }

    /// How many shuffles a warp takes, and how many selections.
    pub fn count(&self) -> [usize; 2] {
        let mut count = Count { words: self.words, shuffles: 0, choices: 0 };
        self.exchange(&mut count, &[[0; 2]]);
        let common: usize = self.common.iter().map(|[extent, ..]| extent).product();
        [count.shuffles, count.choices].map(|each| each * common.div_ceil(self.packed))
    }
}

impl Pair {
    fn give(&self) -> usize {
        match *self {
            Pair::Swap { give, .. } | Pair::Spread { give, .. } | Pair::Pick { give, .. } => give,
            Pair::Gather { .. } => 0,
        }
    }

    fn take(&self) -> usize {
        match *self {
            Pair::Swap { take, .. } | Pair::Gather { take, .. } => take,
            Pair::Spread { .. } | Pair::Pick { .. } => 0,
        }
    }

    /// The bit of the lane to receive from that is turned over.
    fn turned(&self) -> usize {
        match *self {
            Pair::Swap { from, .. } | Pair::Gather { from, .. } => 1 << from,
            Pair::Spread { .. } | Pair::Pick { .. } => 0,
        }
    }
}

struct Count {
    words: usize,
    shuffles: usize,
    choices: usize,
}

impl Warp for Count {
    type Word = ();

    fn give(&mut self, _: &[usize]) -> Vec<()> {
        vec![(); self.words]
    }

    fn choose(&mut self, _: usize, (): &(), (): &()) {
        self.choices += 1;
    }

    fn shuffle(&mut self, _: usize, (): &()) {
        self.shuffles += 1;
    }

    fn keep(&mut self, _: Vec<()>, _: &[usize]) {}
}
