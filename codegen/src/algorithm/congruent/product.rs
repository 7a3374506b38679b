//! Checks that the fragments of a `gemm` are those that its MMA instructions multiply.
//!
//! An instruction multiplies what is along its own M, N and K: `a(m,k) * b(n,k)` into `c(m,n)`. Fragments fit if each `m` of each
//! instruction has one place in the tile, the same for A and C, and likewise for `n` and `k`. The rows of the tile may be handed to
//! instructions in any order.

use girih_layout::Lay;

use super::{Elements, Held};
use crate::atom::MmaAtom;
use crate::tiled::mma::Operand;
use crate::{Error, Incongruence};

const LETTERS: [&str; 3] = ["m", "n", "k"];

/// A fragment of a product.
struct Side<'a> {
    operand: Operand,
    held: &'a Held,
    elements: Elements,
    /// `(Thr,Val)` -> element of an instruction's matrix.
    atom: Lay,
    /// The number of values of an instruction, and the number of instructions along each mode.
    each: usize,
    rest: [usize; 2],
}

/// The places in the tile of the rows of instructions, along one mode.
struct Along {
    /// By atom and position in the atom: the place, and a thread and a value there.
    places: Vec<Option<(i64, usize, usize)>>,
    /// The distance from the first instruction to each instruction.
    steps: Vec<i64>,
}

/// Refuses fragments of A, B and C, with layouts `(V,X,Y)`, that `atom` would not multiply as `C += A * B^T`.
pub(in crate::algorithm) fn product(
    atom: &MmaAtom,
    held: &[Option<Held>; 3],
    layouts: [&Lay; 3],
) -> Result<(), Error> {
    let Some(lanes) = atom.threads.size()?.get().and_then(|n| usize::try_from(n).ok()) else { return Ok(()) };
    if atom.threads.coalesce() != crate::sizes::extent(lanes as i64)? {
        return Ok(());
    }
    let mut known: [Option<(Side<'_>, [Along; 2])>; 3] = [None, None, None];
    for operand in Operand::ALL {
        let i = operand as usize;
        let Some(side) = held[i].as_ref().and_then(|held| Side::of(atom, operand, held, layouts[i])) else {
            continue;
        };
        let along = [side.along(atom, lanes, 0)?, side.along(atom, lanes, 1)?];
        known[i] = Some((side, along));
    }
    for (first, second) in [(Operand::A, Operand::C), (Operand::B, Operand::C), (Operand::A, Operand::B)] {
        let (Some(a), Some(b)) = (&known[first as usize], &known[second as usize]) else { continue };
        let shared = |of: Operand, other: Operand| of.modes().iter().position(|m| other.modes().contains(m));
        if let (Some(i), Some(j)) = (shared(first, second), shared(second, first)) {
            meet(first.modes()[i], (&a.0, &a.1[i]), (&b.0, &b.1[j]))?;
        }
    }
    Ok(())
}

impl<'a> Side<'a> {
    fn of(atom: &MmaAtom, operand: Operand, held: &'a Held, layout: &Lay) -> Option<Side<'a>> {
        let size = |mode: usize| usize::try_from(layout.mode(mode).ok()?.size().ok()?.get()?).ok();
        let each = if layout.is_leaf() { held.numbers.len() } else { size(0)? };
        let extent = |mode| if mode < layout.rank() && !layout.is_leaf() { size(mode) } else { Some(1) };
        let atom = [atom.a, atom.b, atom.c][operand as usize];
        let rest = [extent(1)?, extent(2)?];
        let whole = each * rest[0] * rest[1] == held.numbers.len();
        let elements = held.elements().filter(|_| whole)?;
        Some(Side { operand, held, elements, atom, each, rest })
    }

    /// The places of the rows of instructions along mode `i` of the operand.
    fn along(&self, atom: &MmaAtom, lanes: usize, i: usize) -> Result<Along, Error> {
        let modes = self.operand.modes().map(|mode| atom.shape_mnk[mode]);
        let threads = self.elements.threads.count;
        let extent = modes[i] as usize;
        let mut places: Vec<Option<(i64, usize, usize)>> = vec![None; threads.div_ceil(lanes) * extent];
        // An atom whose layouts leave its shape is refused where it is used.
        let row = |inside: i64| {
            let row = if i == 0 { inside.checked_rem(modes[0]) } else { inside.checked_div(modes[0]) };
            row.and_then(|row| usize::try_from(row).ok()).filter(|&row| row < extent)
        };
        // By lane and value of the atom.
        let rows: Vec<Option<usize>> = self.atom.indices()?.map(row).collect();
        for (t, v) in (0..threads).flat_map(|t| (0..self.each).map(move |v| (t, v))) {
            let row = rows.get(t % lanes + v * lanes).copied().flatten();
            let Some(slot) = row.and_then(|row| places.get_mut(t / lanes * extent + row)) else { continue };
            let place = self.elements.at(i, (t, v));
            match slot {
                empty @ None => *empty = Some((place, t, v)),
                Some((other, ..)) if *other != place => {
                    return Err(self.unfit(atom, i, (t, v), [place, *other]));
                }
                Some(_) => {}
            }
        }
        let mut steps = vec![None; self.rest[i]];
        for (x, y) in (0..self.rest[0]).flat_map(|x| (0..self.rest[1]).map(move |y| (x, y))) {
            for v in 0..self.each {
                let at = v + self.each * (x + self.rest[0] * y);
                let step = self.elements.at(i, (0, at)) - self.elements.at(i, (0, v));
                let known = *steps[[x, y][i]].get_or_insert(step);
                if known != step {
                    return Err(self.unfit(atom, i, (0, at), [step, known]));
                }
            }
        }
        Ok(Along { places, steps: steps.into_iter().flatten().collect() })
    }

    fn name(&self) -> String {
        format!("{:?}, {}", self.operand, self.held.name())
    }

    /// The error for an operand that is not handed out as the atom takes it.
    fn unfit(&self, atom: &MmaAtom, i: usize, at: (usize, usize), places: [i64; 2]) -> Error {
        let mode = self.operand.modes()[i];
        refused(mode, [self.name(), format!("{:?} of {atom}, {}", self.operand, self.atom)], at, places)
    }
}

/// Refuses operands whose instructions are not in the same places along a mode that they share.
fn meet(mode: usize, a: (&Side<'_>, &Along), b: (&Side<'_>, &Along)) -> Result<(), Error> {
    let names = || [a.0.name(), b.0.name()];
    for (i, (x, y)) in a.1.steps.iter().zip(&b.1.steps).enumerate() {
        if x != y {
            let own = b.0.operand.modes().iter().position(|&m| m == mode);
            let value = b.0.each * if own == Some(0) { i } else { i * b.0.rest[0] };
            return Err(refused(mode, names(), (0, value), [*x, *y]));
        }
    }
    if a.0.held.thread != b.0.held.thread {
        return Ok(());
    }
    let mut distance = None;
    for (x, y) in a.1.places.iter().zip(&b.1.places) {
        if let (Some((x, ..)), Some((y, t, v))) = (x, y)
            && *distance.get_or_insert(x - y) != x - y
        {
            return Err(refused(mode, names(), (*t, *v), [*x, *y]));
        }
    }
    Ok(())
}

fn refused(mode: usize, parts: [String; 2], at: (usize, usize), places: [i64; 2]) -> Error {
    Error::Incongruent(Box::new(Incongruence {
        what: "gemm",
        parts,
        thread: at.0 as i64,
        value: at.1 as i64,
        elements: places.map(|place| format!("{} = {place}", LETTERS[mode])),
        accepted: "fragments of one tiled MMA (`ThrMma::partition_fragment`), which tiled copies fill by `retile_d`",
    }))
}
