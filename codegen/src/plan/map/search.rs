//! The search for the map of [`best_map`](super::best_map): the bank of each column of the matrix over F2. It is depth-first, tries the cheapest bank
//! first, and skips banks that are equivalent to others.

use std::collections::BTreeMap;

use super::{Asked, Order, Tile};

/// The limit of steps of a search.
const STEPS: usize = 1 << 18;

/// The result of a search.
pub(super) struct Found {
    /// The bank of each column.
    pub(super) banks: Vec<u64>,
    /// Whether no other banks cost less.
    pub(super) is_exact: bool,
}

pub(super) struct Search<'a> {
    tile: &'a Tile,
    order: Order,
    /// For each column, the elements whose highest bit is this column, with the cost of each if it is mapped to bank 0.
    wanted: Vec<Vec<(u64, i64)>>,
    /// A lower bound of the cost.
    least: i64,
    /// The cost of elements that no column moves.
    fixed: i64,
    /// Whether costs are counts of wavefronts.
    is_linear: bool,
    /// The number of first columns whose banks are fixed in this pass.
    pinned: usize,
    banks: Vec<u64>,
    best: Option<(i64, Vec<u64>)>,
    steps: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(tile: &'a Tile, order: Order) -> Search<'a> {
        let columns = tile.units() as usize;
        let mut weights: BTreeMap<u64, i64> = BTreeMap::new();
        let (mut least, mut is_linear) = (0, true);
        for (asked, &times) in &tile.asked {
            let elements = match asked {
                Asked::Space(basis) => {
                    least += times * least_of(basis, tile, order);
                    basis.iter().fold(vec![0], |all, row| {
                        all.iter().flat_map(|element| [*element, element ^ row]).collect()
                    })
                }
                Asked::Differences(elements) => {
                    is_linear = false;
                    elements.clone()
                }
            };
            for element in elements.into_iter().filter(|&element| element != 0) {
                *weights.entry(element).or_default() += times;
            }
        }
        let (mut wanted, mut fixed) = (vec![Vec::new(); columns], 0);
        for (element, weight) in weights {
            let moved = element & ((1 << columns) - 1);
            match moved.checked_ilog2() {
                Some(highest) => wanted[highest as usize].push((element, weight)),
                None if tile.bank(element) == 0 => fixed += weight,
                None => {}
            }
        }
        let banks = (0..columns).map(|column| tile.bank(1 << column)).collect();
        Search { tile, order, wanted, least, fixed, is_linear, pinned: 0, banks, best: None, steps: 0 }
    }

    /// Searches first with fixed columns for the bits of the bank, then with any columns.
    pub(super) fn run(mut self) -> Found {
        let columns = self.banks.len();
        let vector = (self.tile.vector as usize).min(columns);
        let mut complete = false;
        for pinned in [(self.tile.banks as usize).min(columns).max(vector), vector] {
            if self.is_least() {
                break;
            }
            (self.pinned, self.steps) = (pinned, 0);
            self.from(0, self.fixed, &[0]);
            complete = self.steps < STEPS;
        }
        let is_exact = self.is_linear && (complete || self.is_least());
        Found { banks: self.best.map_or(self.banks, |(_, banks)| banks), is_exact }
    }

    fn is_least(&self) -> bool {
        self.best.as_ref().is_some_and(|(cost, _)| *cost <= self.least)
    }

    /// Tries banks for the columns from `column` on; `span` holds the sums of the banks of the columns before.
    fn from(&mut self, column: usize, cost: i64, span: &[u64]) {
        let done = self.steps >= STEPS || self.is_least();
        if done || self.best.as_ref().is_some_and(|(best, _)| cost >= *best) {
            return;
        }
        let rank = (self.tile.banks as usize).min(self.banks.len());
        // The columns must span all banks, since the map would not be injective otherwise.
        if span.len().ilog2() as usize + self.banks.len() - column < rank {
            return;
        }
        if column == self.banks.len() {
            self.best = Some((cost, self.banks.clone()));
            return;
        }
        self.steps += 1;
        let mut costs = vec![0; 1 << self.tile.banks];
        for (element, weight) in &self.wanted[column] {
            // The bank of this column that brings the element to bank 0; columns beyond those of the search keep their banks.
            costs[self.bank(element ^ (1 << column)) as usize] += weight;
        }
        for bank in self.choices(column, span, &costs) {
            self.banks[column] = bank;
            let mut wider = span.to_vec();
            if !span.contains(&bank) {
                wider.extend(span.iter().map(|other| other ^ bank));
            }
            self.from(column + 1, cost + costs[bank as usize], &wider);
        }
    }

    /// The bank of an element under the banks chosen so far.
    fn bank(&self, element: u64) -> u64 {
        let chosen = self.banks.iter().enumerate().filter(|(column, _)| element >> column & 1 == 1);
        let above = element >> self.banks.len() << self.banks.len();
        chosen.fold(self.tile.bank(above), |sum, (_, bank)| sum ^ bank)
    }

    /// The banks to try for a column, the best first.
    fn choices(&self, column: usize, span: &[u64], costs: &[i64]) -> Vec<u64> {
        if column < self.pinned {
            return vec![1 << column];
        }
        let rank = (self.tile.banks as usize).min(self.banks.len());
        let step = if self.order == Order::Kept { 1 << (self.tile.vector as usize).min(rank) } else { 1 };
        // The bank that moves this column as far as the column before it, so that one shift moves both.
        let before = if column == 0 { 0 } else { self.banks[column - 1] << 1 };
        let preference = |bank: u64| match bank {
            _ if column < rank && bank == 1 << column => 0,
            _ if column > rank && bank != 0 && bank == before => 1,
            0 => 2,
            _ => 2 + bank.count_ones(),
        };
        let mut all: Vec<u64> = (0..1u64 << rank).step_by(step).collect();
        all.sort_by_key(|&bank| (costs[bank as usize], preference(bank), bank));
        // Banks outside of the span are equivalent to each other, so that one of them is enough.
        let mut fresh =
            all.iter().copied().filter(|bank| !span.contains(bank)).min_by_key(|&bank| preference(bank));
        all.retain(|bank| span.contains(bank) || fresh.take_if(|fresh| *fresh == *bank).is_some());
        all
    }
}

impl Tile {
    /// The bank of a unit under the identity.
    fn bank(&self, unit: u64) -> u64 {
        unit & ((1 << self.banks) - 1)
    }
}

/// The least number of elements of a subspace, except for 0, that are in bank 0 under any map: the subspace may have more elements than there are
/// banks. If vectors keep their order, their units have a part of the banks to themselves.
fn least_of(basis: &[u64], tile: &Tile, order: Order) -> i64 {
    let within = if order == Order::Kept { tile.vector.min(tile.banks) } else { 0 };
    let mut low: Vec<u64> = basis.iter().map(|row| row & ((1 << within) - 1)).collect();
    let mut rank = 0;
    while let Some(row) = low.pop() {
        if row != 0 {
            rank += 1;
            low.iter_mut().for_each(|other| *other = (*other).min(*other ^ row));
        }
    }
    let banks = basis.len().min(rank + (tile.banks - within) as usize);
    (1 << (basis.len() - banks)) - 1
}
