//! Random compositions in numbers, each judged by enumeration: what the property tests sample, run long.

use std::collections::BTreeMap;
use std::fmt;

use girih_layout::{Error, Int, Lay, Stride};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::oracle;

/// The generator families, see [`crate::strategies`].
pub const FAMILIES: [&str; 4] = ["arbitrary", "tractable", "compact", "generic"];

const EXTENTS: [i64; 7] = [1, 2, 2, 3, 4, 6, 8];
const STRIDES: [i64; 10] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24];
const GENERIC: [i64; 5] = [1_009, 10_007, 100_003, 1_000_003, 7_919];
/// Right-hand sides stay small, so that the oracle is cheap.
const COORDS: i64 = 64;

/// What came of one family.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Answered, and equal to `A(B(c))` over the whole domain.
    pub right: u64,
    /// Refused, and no layout of a shape that refines `B`'s has these values.
    pub refused: u64,
    /// Refused for lack of room.
    pub capacity: u64,
    /// Wrong answers, and refusals of what exists.
    pub wrong: u64,
}

/// The counts of all families, and the first composition that went wrong.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// By the family of the left-hand side.
    pub families: BTreeMap<&'static str, Counts>,
    /// The operands.
    pub first_wrong: Option<(Lay, Lay)>,
}

impl Report {
    /// The number of compositions that went wrong.
    pub fn wrong(&self) -> u64 {
        self.families.values().map(|counts| counts.wrong).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| left-hand family | right | refused, none exists | no room | wrong |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        for (family, c) in &self.families {
            let Counts { right, refused, capacity, wrong } = c;
            writeln!(f, "| {family} | {right} | {refused} | {capacity} | {wrong} |")?;
        }
        self.first_wrong.map_or(Ok(()), |(a, b)| writeln!(f, "first wrong: {a} o {b}"))
    }
}

/// Composes `count` random pairs, the families on both sides in alternation, and compares every answer with the definition.
pub fn compositions(count: u64, seed: u64) -> Report {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut report = Report::default();
    for i in 0..count {
        let (left, right) = ((i % 4) as usize, (i / 4 % 4) as usize);
        let a = layout(&mut rng, left, 4);
        let b = loop {
            let b = layout(&mut rng, right, 3);
            if oracle::size(&b) <= COORDS {
                break b;
            }
        };
        let counts = report.families.entry(FAMILIES[left]).or_default();
        if !judge(&a, &b, counts) {
            counts.wrong += 1;
            report.first_wrong = report.first_wrong.or(Some((a, b)));
        }
    }
    report
}

fn judge(a: &Lay, b: &Lay, counts: &mut Counts) -> bool {
    let truth: Vec<i64> = oracle::table(b).into_iter().map(|i| oracle::at(a, i)).collect();
    match a.compose_general(b) {
        Ok(r) => {
            let right = oracle::table(&r) == truth && b.shape().compatible(r.shape()) == Ok(true);
            counts.right += u64::from(right);
            right
        }
        Err(Error::Capacity { .. }) => {
            counts.capacity += 1;
            true
        }
        Err(Error::NoLayout { witness: Some(w), .. }) => {
            let proved = truth.get(w.coord as usize) == Some(&w.expected)
                && w.expected != w.obtained
                && !oracle::has_layout(b, &truth);
            counts.refused += u64::from(proved);
            proved
        }
        Err(_) => false,
    }
}

/// A layout of a family, up to `most` leaves.
pub(crate) fn layout(rng: &mut StdRng, family: usize, most: usize) -> Lay {
    let n = rng.random_range(1..=most);
    let mut leaves: Vec<(i64, i64)> =
        (0..n).map(|_| (EXTENTS[rng.random_range(0..EXTENTS.len())], 0)).collect();
    match family {
        0 => leaves.iter_mut().for_each(|leaf| leaf.1 = STRIDES[rng.random_range(0..STRIDES.len())]),
        3 => {
            let first = rng.random_range(0..GENERIC.len());
            leaves.iter_mut().enumerate().for_each(|(i, leaf)| leaf.1 = GENERIC[(first + i) % GENERIC.len()]);
        }
        family => {
            let (mut step, mut order) = (1, (0..n).collect::<Vec<_>>());
            for i in (1..n).rev() {
                order.swap(i, rng.random_range(0..=i));
            }
            for i in order {
                step *= if family == 1 { [1, 1, 2, 3][rng.random_range(0..4)] } else { 1 };
                leaves[i].1 = step;
                step *= leaves[i].0;
            }
        }
    }
    tree(rng, &leaves)
}

/// The leaves in a flat tuple, three in ten times with a group inside; a single one is a leaf as often as a tuple.
#[expect(clippy::expect_used, reason = "a generator that makes a malformed layout must stop the run")]
fn tree(rng: &mut StdRng, leaves: &[(i64, i64)]) -> Lay {
    let modes: Vec<Lay> = leaves
        .iter()
        .map(|(s, d)| Lay::leaf(Int::value(*s), Stride::from(*d)).expect("extents are at least 1"))
        .collect();
    if let ([leaf], true) = (&modes[..], rng.random_bool(0.5)) {
        return *leaf;
    }
    let flat = Lay::concat(&modes).expect("few leaves");
    if modes.len() > 1 && rng.random_bool(0.3) {
        let begin = rng.random_range(0..modes.len() - 1);
        let end = rng.random_range(begin + 1..=modes.len());
        return flat.group(begin, end).expect("modes in range");
    }
    flat
}
