//! Conversions from one fragment of a tile to another: a warp moves the values in its registers from one TV layout to another.
//!
//! The cheapest way is found. From the cheapest on, the ways are: new names for registers, which cost nothing; byte permutes
//! within a lane; as few shuffles as can be; shared memory. A shuffle moves a register of every lane to one lane each, so a lane
//! that gives away `n` registers needs `n` shuffles; as many as the busiest lane needs are always enough (the lanes' exchanges are
//! a bipartite graph, whose edges take as many colours as its greatest degree: Koenig 1916).

use std::collections::BTreeMap;
use std::fmt;

use girih_layout::Lay;

use super::access::WARP;
use super::proof::exactly_once;
use crate::Error;
use crate::sizes::static_size;

/// Lanes of a warp.
pub(super) const LANES: usize = WARP as usize;

/// The most expensive means that a conversion uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Means {
    /// Registers change their names.
    Rename,
    /// Bytes of a lane's registers change places: `prmt`.
    Permute,
    /// Lanes exchange registers: `shfl`.
    Shuffle,
    /// Values go through shared memory.
    Shared,
}

/// One register of every lane goes to another lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// The lane that each lane receives from.
    pub(super) from: [usize; LANES],
    /// The register that each lane gives away.
    pub(super) give: [usize; LANES],
    /// The register in which each lane puts what it receives; `None` if the lane receives nothing.
    pub(super) put: [Option<usize>; LANES],
}

/// A way from one fragment of a tile to another, for a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub(super) src: Lay,
    pub(super) dst: Lay,
    pub(super) bits: i64,
    /// Values of a lane.
    pub(super) values: usize,
    /// Values in one register.
    pub(super) packed: usize,
    /// In each lane, value `order[i]` first becomes value `i`; from then on registers move as a whole.
    pub(super) order: Vec<usize>,
    /// The moves of registers within their lane, and then the shuffles; `None` if values go through shared memory.
    pub(super) rounds: Option<Vec<Round>>,
}

/// The move of a register: the lane and the register before and after.
type Move = ([usize; 2], [usize; 2]);

impl Conversion {
    /// The way from `src` to `dst`, both `(Lane,Val) -> index in the tile` of 32 lanes, for values of `bits` bits, which
    /// are packed into registers of 32 bits in order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for values of other sizes than 8, 16 or 32 bits, layouts of other than 32 lanes, or of
    /// different tiles; [`Error::Refuted`] if a layout does not hold every element once.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::plan::{Conversion, Means};
    /// use girih_layout::lay;
    ///
    /// // Two accumulators of m16n8 side by side. Each lane is to have 8 values of one row of the 16 x 16: of its 8
    /// // registers 2 stay and 6 go to the other lanes of its quad.
    /// let accumulators = lay!("((4,8),(2,2,2)):((32,1),(16,8,128))");
    /// let rows = lay!("((2,2,8),8):((128,8,1),16)");
    /// let to_rows = Conversion::new(&accumulators, &rows, 32)?;
    /// assert_eq!((to_rows.means(), to_rows.shuffles()), (Means::Shuffle, 6));
    ///
    /// // The A operand of the next product wants the halves of the same values in the same lanes: attention's case.
    /// let a = girih_codegen::atom::SM80_16X8X16_F32BF16BF16F32_TN.a;
    /// assert_eq!(Conversion::new(&accumulators, &a, 16)?.means(), Means::Rename);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn new(src: &Lay, dst: &Lay, bits: i64) -> Result<Conversion, Error> {
        let values = check(src, dst, bits)?;
        let packed = (32 / bits) as usize;
        let ways = ways(src, dst, values)?;
        let mut out = Conversion {
            src: *src,
            dst: *dst,
            bits,
            values,
            packed,
            order: (0..values).collect(),
            rounds: None,
        };
        if let Some(order) = registers_together(&ways, values, packed) {
            let registers = values.div_ceil(packed);
            let way = |lane: usize, register: usize| {
                let [to, value] = ways[lane][order[register * packed]];
                ([lane, register], [to, value / packed])
            };
            let moves: Vec<Move> =
                (0..LANES).flat_map(|lane| (0..registers).map(move |r| way(lane, r))).collect();
            out.order = order;
            out.rounds = Some(rounds(&moves));
        }
        Ok(out)
    }

    /// The most expensive means that the conversion uses.
    pub fn means(&self) -> Means {
        let Some(rounds) = &self.rounds else { return Means::Shared };
        let whole = self.order.chunks(self.packed).all(|register| {
            register[0] % self.packed == 0 && register.windows(2).all(|pair| pair[1] == pair[0] + 1)
        });
        match (rounds.iter().any(|round| !round.stays()), whole) {
            (true, _) => Means::Shuffle,
            (false, true) => Means::Rename,
            (false, false) => Means::Permute,
        }
    }

    /// How many shuffles the conversion takes, as few as possible; 0 where values go through shared memory.
    pub fn shuffles(&self) -> usize {
        self.rounds.iter().flatten().filter(|round| !round.stays()).count()
    }

    /// The registers of each lane after the conversion, given the registers of each lane before it.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless there are 32 lanes with as many registers as the values take.
    pub fn apply(&self, lanes: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, Error> {
        let registers = self.values.div_ceil(self.packed);
        if lanes.len() != LANES || lanes.iter().any(|lane| lane.len() != registers) {
            return Err(Error::Mismatch {
                what: "Conversion::apply",
                layout: self.src.to_string(),
                with: format!("{} lanes of registers", lanes.len()),
                accepted: "32 lanes, each with a register for as many values as it holds",
            });
        }
        let keep = u32::MAX >> (32 - self.bits);
        let get = |lane: &[u32], value: usize| {
            lane[value / self.packed] >> (value % self.packed * self.bits as usize) & keep
        };
        let mut out = vec![vec![0; registers]; LANES];
        let mut set = |lane: usize, value: usize, x: u32| {
            out[lane][value / self.packed] |= x << (value % self.packed * self.bits as usize);
        };
        match &self.rounds {
            Some(rounds) => {
                for round in rounds {
                    for (lane, put) in round.put.iter().enumerate() {
                        let Some(put) = put else { continue };
                        let (from, give) = (round.from[lane], round.give[round.from[lane]]);
                        for i in 0..self.packed.min(self.values) {
                            let value = self.order[give * self.packed + i];
                            set(lane, put * self.packed + i, get(&lanes[from], value));
                        }
                    }
                }
            }
            None => {
                for (from, ways) in ways(&self.src, &self.dst, self.values)?.iter().enumerate() {
                    for (value, &[lane, to]) in ways.iter().enumerate() {
                        set(lane, to, get(&lanes[from], value));
                    }
                }
            }
        }
        Ok(out)
    }
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} in {} bits: ", self.src, self.dst, self.bits)?;
        match self.means() {
            Means::Rename => f.write_str("registers change their names"),
            Means::Permute => f.write_str("byte permutes"),
            Means::Shuffle => write!(f, "{} shuffles", self.shuffles()),
            Means::Shared => f.write_str("through shared memory"),
        }
    }
}

impl Round {
    /// Whether no register leaves its lane.
    pub(super) fn stays(&self) -> bool {
        self.from.iter().enumerate().all(|(lane, &from)| lane == from)
    }

    /// The number whose exclusive or with a lane's index is the lane that this lane receives from, if there is such a number.
    pub(super) fn butterfly(&self) -> Option<usize> {
        let xor = self.from[0];
        self.from.iter().enumerate().all(|(lane, &from)| lane ^ xor == from).then_some(xor)
    }

    fn new() -> Round {
        Round { from: std::array::from_fn(|lane| lane), give: [0; LANES], put: [None; LANES] }
    }

    fn enter(&mut self, ([from, give], [to, put]): Move) {
        self.from[to] = from;
        self.give[from] = give;
        self.put[to] = Some(put);
    }
}

/// The most values of a lane, far more than a lane has registers.
const MOST: i64 = 1 << 16;

/// The number of values of a lane, if both layouts are of 32 lanes and hold every element of one tile once.
fn check(src: &Lay, dst: &Lay, bits: i64) -> Result<usize, Error> {
    const WHAT: &str = "a conversion of fragments";
    let mismatch = |layout: &Lay, with: String, accepted| Error::Mismatch {
        what: WHAT,
        layout: layout.to_string(),
        with,
        accepted,
    };
    if !matches!(bits, 8 | 16 | 32) {
        return Err(mismatch(src, format!("values of {bits} bits"), "8, 16 or 32 bits"));
    }
    let mut sizes = Vec::new();
    for tv in [src, dst] {
        let lanes = static_size(WHAT, &tv.mode(0)?)?;
        if tv.rank() != 2 || lanes != WARP {
            return Err(mismatch(tv, format!("{lanes} lanes"), "(Lane,Val) of 32 lanes"));
        }
        sizes.push(static_size(WHAT, &tv.mode(1)?)?);
    }
    let values = sizes[0];
    if values > MOST {
        return Err(mismatch(src, format!("{values} values of a lane"), "up to 2^16 values of a lane"));
    }
    if sizes[1] != values || values * bits % 32 != 0 {
        let accepted = "as many values in both, which fill whole registers";
        return Err(mismatch(src, format!("{dst}, values of {bits} bits"), accepted));
    }
    let tile = girih_layout::Shape::leaf(girih_layout::Int::fixed(WARP * values));
    for tv in [src, dst] {
        exactly_once(tv, &tile)?;
    }
    Ok(values as usize)
}

/// For every lane and value before the conversion, the lane and value after it.
fn ways(src: &Lay, dst: &Lay, values: usize) -> Result<Vec<Vec<[usize; 2]>>, Error> {
    let at = |tv: &Lay, lane: usize, value: usize| -> Result<usize, Error> {
        Ok(tv.at((lane + LANES * value) as i64)? as usize)
    };
    let mut place = vec![[0; 2]; LANES * values];
    for (lane, value) in (0..LANES).flat_map(|lane| (0..values).map(move |value| (lane, value))) {
        place[at(dst, lane, value)?] = [lane, value];
    }
    let way = |lane| (0..values).map(|value| Ok(place[at(src, lane, value)?])).collect();
    (0..LANES).map(way).collect()
}

/// An order of the values, the same in every lane, after which all values of a register go to one register in their order.
fn registers_together(ways: &[Vec<[usize; 2]>], values: usize, packed: usize) -> Option<Vec<usize>> {
    // The values of lane 0 by the register that they go to; values that the lane has in one register stay neighbours.
    let mut groups: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for (value, [lane, to]) in ways[0].iter().enumerate() {
        groups.entry([*lane, to / packed]).or_default().push(value);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort();
    let mut order = groups.concat();
    order.chunks_mut(packed).for_each(|register| register.sort_by_key(|&value| ways[0][value][1]));
    let together = |lane: &Vec<[usize; 2]>| {
        order.chunks(packed).all(|register| {
            let [to, first] = lane[register[0]];
            first % packed == 0
                && register.iter().enumerate().all(|(i, &value)| lane[value] == [to, first + i])
        })
    };
    (order.len() == values && ways.iter().all(together)).then_some(order)
}

/// The rounds of these moves: the moves within lanes first, then as few shuffles as the lane that gives away the most
/// registers needs. They are xor shuffles if no more of these are needed than of others.
fn rounds(moves: &[Move]) -> Vec<Round> {
    let mut by_xor: BTreeMap<usize, Vec<Round>> = BTreeMap::new();
    for &way in moves {
        let ([from, _], [to, _]) = way;
        let rounds = by_xor.entry(from ^ to).or_default();
        let free = rounds.iter().position(|round| round.put[to].is_none());
        let at = free.unwrap_or(rounds.len());
        if free.is_none() {
            rounds.push(Round { from: std::array::from_fn(|lane| lane ^ from ^ to), ..Round::new() });
        }
        rounds[at].enter(way);
    }
    let mut out = by_xor.remove(&0).unwrap_or_default();
    let leaving: Vec<Move> = moves.iter().copied().filter(|([from, _], [to, _])| from != to).collect();
    let degree = |lane: usize| leaving.iter().filter(|([from, _], _)| *from == lane).count();
    let least = (0..LANES).map(degree).max().unwrap_or(0);
    if by_xor.values().map(Vec::len).sum::<usize>() == least {
        out.extend(by_xor.into_values().flatten());
    } else {
        out.extend(coloured(&leaving, least));
    }
    out
}

/// Distributes moves between lanes over `colours` rounds, as many as the most registers that one lane gives: a colouring of the
/// edges of a bipartite graph by alternating paths.
fn coloured(moves: &[Move], colours: usize) -> Vec<Round> {
    // The move of each colour at each giving and each taking lane.
    let mut giving = vec![vec![None; colours]; LANES];
    let mut taking = vec![vec![None; colours]; LANES];
    let free = |of: &[Option<usize>]| of.iter().position(Option::is_none).unwrap_or(0);
    for (i, ([from, _], [to, _])) in moves.iter().enumerate() {
        let (a, b) = (free(&giving[*from]), free(&taking[*to]));
        if a != b {
            // From the taking lane on, edges of colour a and b change colours, so that a is free at both ends.
            let (mut path, mut lane, mut at_taking, mut colour) = (Vec::new(), *to, true, a);
            while let Some(edge) = if at_taking { taking[lane][colour] } else { giving[lane][colour] } {
                path.push((edge, colour));
                let ([from, _], [to, _]): Move = moves[edge];
                lane = if at_taking { from } else { to };
                at_taking = !at_taking;
                colour = a + b - colour;
            }
            for &(edge, colour) in &path {
                let ([from, _], [to, _]) = moves[edge];
                giving[from][colour] = None;
                taking[to][colour] = None;
            }
            for &(edge, colour) in &path {
                let ([from, _], [to, _]) = moves[edge];
                giving[from][a + b - colour] = Some(edge);
                taking[to][a + b - colour] = Some(edge);
            }
        }
        giving[*from][a] = Some(i);
        taking[*to][a] = Some(i);
    }
    let round = |colour: usize| {
        let mut round = Round::new();
        giving.iter().filter_map(|of| of[colour]).for_each(|edge| round.enter(moves[edge]));
        round
    };
    (0..colours).map(round).collect()
}
