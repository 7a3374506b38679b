//! Proof that different blocks store to different coordinates, for all grids and sizes.
//!
//! A set of *determined* atoms grows until it has the block's index along each axis, or stops. What two blocks that access one element
//! have in common are the coordinates of the element. An expression that both have in common determines the atoms of its terms
//! if their factors form a mixed-radix chain: each factor is beyond what the terms before it reach. Quotient and remainder by a determined
//! modulus determine the dividend. Atoms that are the same in all blocks are determined from the start.

use std::collections::BTreeSet;

use super::index::Index;
use super::poly::{Atom, Poly};

/// The assumptions of a proof about arguments: expressions that must be 1 or more.
pub(super) type Assumptions = BTreeSet<Poly>;

/// The atoms that were found to be determined, in order, each with the reason.
#[derive(Clone, Debug, Default)]
pub(super) struct Proof {
    /// The assumptions of the proof.
    pub(super) assumptions: Assumptions,
    /// The steps.
    pub(super) steps: Vec<String>,
    /// Axes of the grid that are determined.
    pub(super) axes: [bool; 3],
}

struct Prover<'a> {
    index: &'a Index<'a>,
    known: BTreeSet<Atom>,
    /// Expressions that have one value in both blocks.
    common: Vec<Poly>,
    proof: Proof,
}

/// The range of the atoms that stand for the elements of a tile and for one of several accesses.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    /// Extents of [`Atom::Element`] by axis.
    pub(super) elements: Vec<i64>,
    /// Extents of [`Atom::Which`] by axis.
    pub(super) which: Vec<i64>,
}

/// Which axes of the grid expressions determine that two blocks have in common.
pub(super) fn determined(index: &Index<'_>, common: &[Poly], extra: &Extra) -> Proof {
    let (known, proof) = Default::default();
    let mut prover = Prover { index, known, common: common.to_vec(), proof };
    loop {
        let before = (prover.known.len(), prover.common.len());
        for at in 0..prover.common.len() {
            let poly = prover.common[at].clone();
            prover.chain(&poly, extra);
        }
        prover.dividends();
        if before == (prover.known.len(), prover.common.len()) {
            break;
        }
    }
    for axis in 0..3 {
        prover.proof.axes[usize::from(axis)] = prover.known.contains(&Atom::Bid(axis));
    }
    prover.proof
}

impl Prover<'_> {
    fn is_known(&self, atom: &Atom) -> bool {
        if self.known.contains(atom) {
            return true;
        }
        match atom.parts() {
            Some((_, a, b)) => self.is_known_poly(a) && self.is_known_poly(b),
            None => matches!(atom, Atom::Uniform(_) | Atom::Blocks(_)),
        }
    }

    fn is_known_poly(&self, poly: &Poly) -> bool {
        poly.atoms().iter().all(|atom| self.is_known(atom))
    }

    /// A lower bound of an atom, and what must hold for it.
    fn low(&self, atom: &Atom, needs: &mut Assumptions) -> Option<i64> {
        match atom {
            Atom::Blocks(_) => Some(1),
            Atom::Uniform(_) => {
                needs.insert(Poly::atom(atom.clone()));
                Some(1)
            }
            Atom::Bid(_) | Atom::Iteration(_) | Atom::Lane(..) | Atom::Element(_) | Atom::Which(_) => Some(0),
            Atom::Mod(_, m) => {
                needs.insert((**m).clone());
                Some(0)
            }
            Atom::Div(x, m) => {
                needs.insert((**m).clone());
                needs.insert(x.plus(&Poly::number(1), 1)?);
                Some(0)
            }
            Atom::Min(..) | Atom::Max(..) => {
                needs.insert(Poly::atom(atom.clone()));
                Some(1)
            }
            Atom::Free(_) => None,
        }
    }

    /// Whether an expression is 0 or more wherever the assumptions hold that are added.
    fn at_least_zero(&self, poly: &Poly, needs: &mut Assumptions) -> bool {
        if let Some(n) = poly.as_number() {
            return n >= 0;
        }
        let mut more = needs.clone();
        // Each atom is its lower bound and something that is not negative.
        let beyond = |atom: &Atom| {
            let low = self.low(atom, &mut more)?;
            Poly::atom(atom.clone()).plus(&Poly::number(low), 1)
        };
        let shifted = poly.of(Poly::number, beyond, Poly::binary);
        let holds = shifted.is_some_and(|shifted| shifted.terms().all(|(_, factor)| factor >= 0));
        if holds {
            *needs = more;
        }
        holds
    }

    /// Determines the atoms of a common expression if their factors form a mixed-radix chain.
    fn chain(&mut self, poly: &Poly, extra: &Extra) {
        let mut rest: Vec<(Poly, Atom)> = Vec::new();
        for (atoms, factor) in poly.terms() {
            let (known, open): (Vec<&Atom>, Vec<&Atom>) = atoms.iter().partition(|atom| self.is_known(atom));
            match open[..] {
                [] => {}
                [atom] => {
                    let part = Poly::term(known.into_iter().cloned().collect(), factor);
                    match rest.iter_mut().find(|(_, other)| other == atom) {
                        Some((sum, _)) => match sum.plus(&part, 1) {
                            Some(all) => *sum = all,
                            None => return,
                        },
                        None => rest.push((part, atom.clone())),
                    }
                }
                _ => return,
            }
        }
        if rest.is_empty() || rest.len() > 8 {
            return;
        }
        // Factors are taken by their size: a negative one turns its term round.
        let mut needs = self.proof.assumptions.clone();
        for (factor, _) in &mut rest {
            let Some(less) = factor.plus(&Poly::number(1), -1) else { return };
            if !self.at_least_zero(&less, &mut needs) {
                let Some(turned) = Poly::default().plus(factor, -1) else { return };
                let Some(less) = turned.plus(&Poly::number(1), -1) else { return };
                if !self.at_least_zero(&less, &mut needs) {
                    return;
                }
                *factor = turned;
            }
        }
        if let Some(needs) = self.order(&rest, &Poly::default(), needs, extra) {
            self.proof.assumptions = needs;
            for (factor, atom) in rest {
                self.proof.steps.push(format!("{atom} by its factor {factor} in {poly}"));
                self.known.insert(atom);
            }
        }
    }

    /// Finds an order in which each factor is beyond what the terms before it reach.
    fn order(
        &self,
        left: &[(Poly, Atom)],
        reach: &Poly,
        needs: Assumptions,
        extra: &Extra,
    ) -> Option<Assumptions> {
        for (at, (factor, atom)) in left.iter().enumerate() {
            let mut here = needs.clone();
            let beyond = factor.plus(reach, -1).and_then(|poly| poly.plus(&Poly::number(1), -1));
            if !beyond.is_some_and(|poly| self.at_least_zero(&poly, &mut here)) {
                continue;
            }
            let mut others = left.to_vec();
            others.remove(at);
            if others.is_empty() {
                return Some(here);
            }
            let numbers = |list: &[i64], axis: u8| {
                list.get(usize::from(axis)).map(|&n| (Poly::number(n), Vec::new())).into_iter().collect()
            };
            let extents: Vec<(Poly, Vec<Poly>)> = match atom {
                Atom::Element(axis) => numbers(&extra.elements, *axis),
                Atom::Which(axis) => numbers(&extra.which, *axis),
                atom => self.index.extents(atom),
            };
            for (extent, conditions) in extents {
                let mut here = here.clone();
                here.extend(conditions.into_iter().filter(|poly| poly.as_number().is_none()));
                let grown = extent
                    .plus(&Poly::number(1), -1)
                    .and_then(|most| factor.times(&most))
                    .and_then(|more| reach.plus(&more, 1));
                if let Some(found) = grown.and_then(|reach| self.order(&others, &reach, here, extra)) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Quotient and remainder by a determined modulus give the dividend.
    fn dividends(&mut self) {
        for atom in self.known.clone() {
            let Atom::Div(x, m) = &atom else { continue };
            if self.known.contains(&Atom::Mod(x.clone(), m.clone()))
                && self.is_known_poly(m)
                && !self.common.contains(x)
            {
                self.proof.steps.push(format!("{x} by its quotient and remainder by {m}"));
                self.proof.assumptions.insert((**m).clone());
                self.common.push((**x).clone());
            }
        }
    }
}
