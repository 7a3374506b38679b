//! Checks that values that are combined are the same elements of a tile, for every thread and value.
//!
//! A partition knows its thread-value layout ([`Part`]), and a fragment of registers knows that of the partition for which it was
//! made. Two such layouts are congruent if there is one distance between all elements `first(thread, value)` and
//! `second(thread, value)`: a subtensor may begin anywhere, but the order must be the same. A tensor that knows no partition is
//! congruent to every other.

mod product;

use std::collections::HashMap;

use girih_layout::{Lay, Stride};
use girih_tensor::{Part, Tensor};

use super::Site;
use super::data::Data;
use crate::atom::CopyAtom;
use crate::{Error, Expr, Incongruence};

pub(super) use product::product;

/// The elements of a tile that a tensor's values are.
pub(super) struct Held {
    thread: Expr,
    /// Thread -> element.
    threads: Lay,
    /// Value of the partition -> element.
    values: Lay,
    /// For each value of the tensor, its number among the values of the partition.
    numbers: Vec<i64>,
    /// Whether the tensor is in registers.
    is_fragment: bool,
}

impl Held {
    /// `None` if the tensor knows no partition.
    pub(super) fn of<E: Data>(tensor: &Tensor<E>) -> Option<Held> {
        Held::of_sites(&Site::tensor(tensor))
    }

    pub(super) fn of_sites(tensor: &Tensor<Site>) -> Option<Held> {
        let held = |part: &Part<Expr>, numbers, is_fragment| Held {
            thread: part.thread.clone(),
            threads: part.threads,
            values: part.values,
            numbers,
            is_fragment,
        };
        if let Site::Rmem(registers) = tensor.engine() {
            return registers.held(tensor.layout()).map(|(part, numbers)| held(part, numbers, true));
        }
        let size = tensor.layout().size().ok()?.get()?;
        tensor.part().map(|part| held(part, (0..size).collect(), false))
    }

    /// The fragment in the order in which it was made.
    fn as_made(&self) -> Held {
        Held { thread: self.thread.clone(), numbers: (0..self.numbers.len() as i64).collect(), ..*self }
    }

    /// The number of the layout's threads that the kernel has.
    fn thread_count(&self) -> Option<i64> {
        Some(self.threads.size().ok()?.get()?.min(self.thread.range().1.saturating_add(1)))
    }

    fn elements(&self) -> Option<Elements> {
        let threads: Vec<i64> = (0..self.thread_count()?).collect();
        Some(Elements {
            threads: Places::of(&self.threads, &threads)?,
            values: Places::of(&self.values, &self.numbers)?,
        })
    }

    fn name(&self) -> String {
        let place = if self.is_fragment { "a fragment" } else { "memory" };
        format!("{place} by ({},{})", self.threads, self.values)
    }
}

/// The coordinates to which a layout maps.
struct Places {
    count: usize,
    /// A list for each mode of the tile.
    modes: Vec<Vec<i64>>,
}

impl Places {
    /// The coordinates of `positions`; `None` if a stride or an extent is not static.
    fn of(layout: &Lay, positions: &[i64]) -> Option<Places> {
        let (mut rest, mut modes) = (positions.to_vec(), Vec::<Vec<i64>>::new());
        for leaf in 0..layout.leaf_count() {
            let (extent, stride) = layout.flat_leaf(leaf);
            let extent = extent.get().filter(|&extent| extent > 0)?;
            let along = match stride {
                Stride::Basis { scale, mode } => Some((scale.get()?, mode.only()?)),
                Stride::Int(zero) if zero.is(0) => None,
                _ => return None,
            };
            for (i, rest) in rest.iter_mut().enumerate() {
                let digit = *rest % extent;
                *rest /= extent;
                if let Some((scale, mode)) = along.filter(|_| digit > 0) {
                    if modes.len() <= mode {
                        modes.resize(mode + 1, vec![0; positions.len()]);
                    }
                    modes[mode][i] += digit * scale;
                }
            }
        }
        rest.iter().all(|&rest| rest == 0).then_some(Places { count: positions.len(), modes })
    }

    fn at(&self, mode: usize, i: usize) -> i64 {
        self.modes.get(mode).map_or(0, |places| places[i])
    }

    /// The distance from the first coordinate to number `i`.
    fn step(&self, mode: usize, i: usize) -> i64 {
        self.at(mode, i) - self.at(mode, 0)
    }
}

/// The elements of a tile that each thread has.
struct Elements {
    threads: Places,
    values: Places,
}

impl Elements {
    fn modes(&self) -> usize {
        self.threads.modes.len().max(self.values.modes.len())
    }

    /// Value `v` of thread `t`, counted from value 0 of thread 0.
    fn at(&self, mode: usize, (t, v): (usize, usize)) -> i64 {
        self.threads.step(mode, t) + self.values.step(mode, v)
    }

    /// The elements of these threads and values in sorted order, counted from the first.
    fn sorted(&self, modes: usize, which: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<i64>> {
        let element = |at| (0..modes).map(|mode| self.at(mode, at)).collect();
        let mut all: Vec<Vec<i64>> = which.map(element).collect();
        all.sort_unstable();
        let first = all.first().cloned().unwrap_or_default();
        for element in &mut all {
            element.iter_mut().zip(&first).for_each(|(at, first)| *at -= first);
        }
        all
    }
}

/// Refuses tensors whose values are not the same elements one by one.
pub(super) fn elementwise(what: &'static str, first: &Held, second: &Held) -> Result<(), Error> {
    judged(what, &Handed { lanes: 1, each: 1, from: vec![vec![(0, 0)]] }, first, second)
}

/// Refuses tensors whose values `atom` would copy to other elements. An instruction hands values from lane to lane as the atom's
/// layouts say. Values have `bits` bits.
pub(super) fn copied(atom: &CopyAtom, bits: i64, source: &Held, target: &Held) -> Result<(), Error> {
    if atom.src == atom.dst {
        return elementwise("copy", source, target);
    }
    Handed::by(atom, bits).map_or(Ok(()), |hands| judged("copy", &hands, source, target))
}

/// For each lane and value of the target, the lane and value of the source from which it comes.
struct Handed {
    lanes: usize,
    /// The values of an instruction's source.
    each: usize,
    /// By lane and value of an instruction's target.
    from: Vec<Vec<(usize, usize)>>,
}

impl Handed {
    fn by(atom: &CopyAtom, bits: i64) -> Option<Handed> {
        let (source, target) = (atom.src.upcast(bits).ok()?, atom.dst.upcast(bits).ok()?);
        let size = |lay: &Lay, mode| usize::try_from(lay.mode(mode).ok()?.size().ok()?.get()?).ok();
        let (lanes, each) = (size(&source, 0)?, size(&source, 1)?);
        if size(&target, 0)? != lanes {
            return None;
        }
        // If several lanes name the same place, the first of them counts.
        let mut places = HashMap::new();
        for i in (0..lanes * each).rev() {
            places.insert(source.at(i as i64).ok()?, (i % lanes, i / lanes));
        }
        let lane = |lane: usize| {
            let places = &places;
            let value = move |v: usize| places.get(&target.at((lane + v * lanes) as i64).ok()?).copied();
            (0..size(&target, 1)?).map(value).collect::<Option<Vec<_>>>()
        };
        let from = (0..lanes).map(lane).collect::<Option<_>>()?;
        Some(Handed { lanes, each, from })
    }

    fn to(&self, (thread, value): (usize, usize)) -> Option<(usize, usize)> {
        let own = self.from.get(thread % self.lanes)?;
        let (lane, from) = own.get(value % own.len().max(1))?;
        Some((thread - thread % self.lanes + lane, value / own.len() * self.each + from))
    }
}

/// A value of the second tensor that is another element than the value that comes to it.
struct Clash {
    thread: usize,
    value: usize,
    elements: [String; 2],
    /// Whether the thread gets all of its elements, but in another order.
    reordered: bool,
}

/// The first clash, if there is one and the layouts are known.
fn clash(hands: &Handed, first: &Held, second: &Held) -> Option<Clash> {
    let (a, b) = (first.elements()?, second.elements()?);
    let (modes, alone) = (a.modes().max(b.modes()), hands.lanes == 1);
    // A thread's index under one partition says nothing about its index under the other.
    let threads = if first.thread == second.thread { b.threads.count.min(a.threads.count) } else { 1 };
    if threads < hands.lanes {
        return None;
    }
    let values = b.values.count.min(a.values.count * hands.from[0].len() / hands.each);
    let all: Vec<(usize, usize)> = if alone {
        // An element is the sum of a thread's part and a value's part.
        (0..values).map(|v| (0, v)).chain((0..threads).map(|t| (t, 0))).collect()
    } else {
        (0..threads / hands.lanes * hands.lanes).flat_map(|t| (0..values).map(move |v| (t, v))).collect()
    };
    let origin = hands.to((0, 0))?;
    let apart = |mode, from, at| a.at(mode, from) - a.at(mode, origin) - b.at(mode, at);
    let differs = |at: &&(usize, usize)| {
        hands.to(**at).is_some_and(|from| (0..modes).any(|mode| apart(mode, from, **at) != 0))
    };
    let at = *all.iter().find(differs)?;
    let own = || (0..values).map(|v| (0, v));
    let come = a.sorted(modes, own().filter_map(|at| hands.to(at)));
    let text = |of: &Elements, at| {
        let places: Vec<String> = (0..modes).map(|mode| of.at(mode, at).to_string()).collect();
        format!("({})", places.join(","))
    };
    Some(Clash {
        thread: at.0,
        value: at.1,
        elements: [text(&a, hands.to(at)?), text(&b, at)],
        reordered: come == b.sorted(modes, own()),
    })
}

fn judged(what: &'static str, hands: &Handed, first: &Held, second: &Held) -> Result<(), Error> {
    let Some(Clash { thread, value, elements, reordered }) = clash(hands, first, second) else {
        return Ok(());
    };
    let as_made =
        clash(hands, &first.as_made(), second).is_none() || clash(hands, first, &second.as_made()).is_none();
    let accepted = match [first, second].map(|held| held.is_fragment) {
        _ if as_made => {
            "the fragment in the order in which it was made, which is the order of the other tensor"
        }
        [true, false] if reordered => {
            "the thread's values in the memory's order: `retile_s` of the tiled copy that partitioned it"
        }
        [false, true] if reordered => {
            "the thread's values in the memory's order: `retile_d` of the tiled copy that partitioned it"
        }
        _ if reordered => {
            "one order: `retile_s` or `retile_d` of the tiled copy that has the order of the other tensor"
        }
        _ => {
            "parts of one partition, as `TiledCopy::of_mma` gives them for the fragments of an MMA; `Rmem::of_no_tile` if the combination is meant"
        }
    };
    let parts = [first.name(), second.name()];
    let (thread, value) = (thread as i64, value as i64);
    Err(Error::Incongruent(Box::new(Incongruence { what, parts, thread, value, elements, accepted })))
}
