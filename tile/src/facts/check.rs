//! Checks of a whole kernel: accesses of different blocks, steps of loops, and the conditions that a launch checks.

use std::collections::BTreeSet;

use num_integer::gcd;

use super::access::{Access, accesses};
use super::agree::{agreeing, relaxed};
use super::bounds::Bounds;
use super::disjoint::{Extra, Proof, determined};
use super::index::Index;
use super::interval::{Concrete, Intervals};
use super::poly::{Atom, Poly};
use super::witness::witness;
use crate::error::{Diagnostic, Fault, Site};
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{ArrayId, Func, Kind, OpId, Value};

/// What a launch must satisfy so that what was proved holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The grid has one block along an axis, which the kernel does not ask for.
    OneBlock {
        /// The array whose stores would meet.
        array: ArrayId,
        /// The axis of the grid.
        axis: u8,
    },
    /// An expression is 1 or more.
    Positive {
        /// The array whose stores are disjoint then.
        array: ArrayId,
        /// The expression.
        poly: Poly,
    },
    /// The step of a loop is 1 or more.
    Step {
        /// The step.
        value: Value,
        /// Where the loop is in the user's program.
        site: Option<Site>,
        /// Whether the step depends on the values of scalars.
        by_scalars: bool,
    },
    /// No integer on the way to an index leaves its dtype.
    NoWrap {
        /// The array whose stores are disjoint then.
        array: ArrayId,
        /// The access.
        op: OpId,
        /// The index.
        value: Value,
    },
}

/// How it is known that accesses of an array by different blocks do not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is proved; the steps.
    Proved(Vec<String>),
    /// The user says so; the reason.
    Waived(String),
    /// Nothing is stored, or all accesses have an order.
    NotStored,
    /// They may meet: all store one value, or those that load decide about atomic operations alone. The kernel has them with a relaxed order.
    Agreed,
}

/// What is known of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Of each array parameter that may be written.
    pub arrays: Vec<(ArrayId, Verdict)>,
    /// What a launch must satisfy.
    pub conditions: Vec<Condition>,
    /// How the bounds of each access are known.
    pub bounds: Bounds,
}

/// Checks a kernel.
///
/// # Errors
/// Diagnostics of [`Fault::Disjoint`] and, where in-kernel checks are denied, [`Fault::BoundsCheck`].
pub fn check(func: &Func) -> Result<Report, Vec<Diagnostic>> {
    let index = Index::new(func);
    let all = accesses(&index);
    let mut report = Report { bounds: Bounds::of(&index), ..Report::default() };
    let mut diagnostics = Vec::new();
    let used = axes_used(func);
    for (id, param) in func.params().filter(|(_, param)| param.mutable) {
        let of: Vec<&Access> = all.iter().filter(|access| access.array == id).collect();
        if !any_meet(&of) {
            report.arrays.push((id, Verdict::NotStored));
            continue;
        }
        if let Some(reason) = &param.assume_disjoint {
            report.arrays.push((id, Verdict::Waived(reason.clone())));
        } else {
            match decide(&index, id, &of, used) {
                Ok(Decision::Agreed(_)) => report.arrays.push((id, Verdict::Agreed)),
                Ok(Decision::Apart(proofs)) => {
                    let mut steps = Vec::new();
                    for (proof, conditions) in proofs {
                        steps.extend(proof.steps);
                        report.conditions.extend(conditions);
                    }
                    report.arrays.push((id, Verdict::Proved(unique(steps))));
                }
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
    }
    report.conditions.extend(steps(&index));
    report.conditions = unique(report.conditions);
    if func.deny_in_kernel_checks {
        diagnostics.extend(report.bounds.denied(func));
    }
    if diagnostics.is_empty() { Ok(report) } else { Err(diagnostics) }
}

/// Why accesses of different blocks do no harm.
enum Decision {
    /// They do not meet: proofs, and what launches must satisfy.
    Apart(Vec<(Proof, Vec<Condition>)>),
    /// They may meet: these have no order in the program.
    Agreed(Vec<OpId>),
}

/// Decides about the accesses of an array, some of which may not meet as the program has them.
fn decide(
    index: &Index<'_>,
    array: ArrayId,
    of: &[&Access],
    used: [bool; 3],
) -> Result<Decision, Box<Diagnostic>> {
    let proofs: Result<Vec<_>, _> =
        worlds(index, of).iter().map(|of| blocks(index, array, of, used)).collect();
    // Of a kernel that asks for no block's number the proof is that there is one block.
    match (proofs, used.contains(&true)) {
        (Ok(proofs), true) => Ok(Decision::Apart(proofs)),
        (proofs, _) => match (agreeing(index, of), proofs) {
            (Some(ops), _) => Ok(Decision::Agreed(ops)),
            (None, proofs) => proofs.map(Decision::Apart),
        },
    }
}

/// The program with an order for the accesses that may meet without one ([`Verdict::Agreed`]).
pub(crate) fn ordered(func: &Func) -> Func {
    let index = Index::new(func);
    let (all, used) = (accesses(&index), axes_used(func));
    let mut ops = Vec::new();
    for (id, param) in func.params() {
        let of: Vec<&Access> = all.iter().filter(|access| access.array == id).collect();
        // Most programs are told by their accesses alone.
        if any_meet(&of)
            && param.assume_disjoint.is_none()
            && agreeing(&index, &of).is_some()
            && let Ok(Decision::Agreed(found)) = decide(&index, id, &of, used)
        {
            ops.extend(found);
        }
    }
    if ops.is_empty() { func.clone() } else { relaxed(func, &ops) }
}

/// Whether two accesses by different blocks must be of different elements.
pub(super) fn may_not_meet(a: &Access, b: &Access) -> bool {
    (a.stores || b.stores) && !(a.ordered && b.ordered)
}

/// Whether some of these accesses must be of different elements.
fn any_meet(of: &[&Access]) -> bool {
    of.iter().any(|a| of.iter().any(|b| may_not_meet(a, b)))
}

/// The axes of the grid whose block numbers the kernel asks for.
pub(crate) fn axes_used(func: &Func) -> [bool; 3] {
    let mut used = [false; 3];
    func.walk(func.body(), &mut |_, op| {
        if let Kind::Bid(axis) = op.kind {
            used[usize::from(axis)] = true;
        }
    });
    used
}

/// Proves that no block accesses what another one stores.
fn blocks(
    index: &Index<'_>,
    array: ArrayId,
    of: &[&Access],
    used: [bool; 3],
) -> Result<(Proof, Vec<Condition>), Box<Diagnostic>> {
    let name = &index.func.param_of(array).1.name;
    let mut whole = Proof { axes: [true; 3], ..Proof::default() };
    let mut conditions = Vec::new();
    for group in groups(of) {
        if !any_meet(&group) {
            continue;
        }
        let (common, extra) = union(index, &group);
        let proof = determined(index, &common, &extra);
        let open: Vec<usize> = (0..3).filter(|&axis| used[axis] && !proof.axes[axis]).collect();
        if !open.is_empty() {
            let why: Vec<String> = open.iter().map(|axis| format!("bid({axis})")).collect();
            return Err(refused(index, name, &group, &format!("do not determine {}", why.join(" and "))));
        }
        let alone = (0..3u8).filter(|&axis| !proof.axes[usize::from(axis)]);
        conditions.extend(alone.map(|axis| Condition::OneBlock { array, axis }));
        conditions.extend(proof.assumptions.into_iter().map(|poly| Condition::Positive { array, poly }));
        conditions.extend(group.iter().flat_map(|access| unwrapped(index, access)));
        whole.steps.extend(proof.steps);
    }
    for (at, a) in of.iter().enumerate() {
        for b in &of[at + 1..] {
            if may_not_meet(a, b) && form(a) != form(b) && !apart(a, b) {
                if used.contains(&true) {
                    let pair = [*a, *b];
                    let (common, extra) = between(index, a, b);
                    let proof = determined(index, &common, &extra);
                    if (0..3).all(|axis| !used[axis] || proof.axes[axis]) {
                        let needs = proof.assumptions.into_iter();
                        conditions.extend(needs.map(|poly| Condition::Positive { array, poly }));
                        conditions.extend(pair.iter().flat_map(|access| unwrapped(index, access)));
                        whole.steps.extend(proof.steps);
                        continue;
                    }
                    let why = "are of different forms, which are not compared";
                    return Err(refused(index, name, &pair, why));
                }
                // A kernel that asks for no block's number is one for a single block, which meets none.
                conditions.extend((0..3).map(|axis| Condition::OneBlock { array, axis }));
            }
        }
    }
    Ok((whole, conditions))
}

fn unique<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    all.into_iter().fold(Vec::new(), |mut list, item| {
        if !list.contains(&item) {
            list.push(item);
        }
        list
    })
}

/// The most conditions of branches, the same in all blocks, by which accesses are told apart: twice as many sets of accesses for each.
const MOST_BRANCHES: usize = 4;

/// The sets of accesses that one launch may have: in a branch on a condition that is the same in all blocks, those of one side alone.
fn worlds<'a>(index: &Index<'_>, of: &[&'a Access]) -> Vec<Vec<&'a Access>> {
    let uniform = |&(cond, _): &(Value, bool)| index.poly(cond).is_uniform();
    let sides: Vec<Vec<(Value, bool)>> = of
        .iter()
        .map(|access| index.conditions(access.region).into_iter().filter(uniform).collect())
        .collect();
    let mut branches = unique(sides.iter().flatten().map(|&(cond, _)| cond).collect());
    branches.truncate(MOST_BRANCHES);
    let all = (0..1u32 << branches.len()).map(|world| {
        let holds = |&(cond, side): &(Value, bool)| {
            branches.iter().position(|&other| other == cond).is_none_or(|at| (world >> at & 1 == 1) == side)
        };
        let here = of.iter().zip(&sides).filter(|(_, sides)| sides.iter().all(holds));
        here.map(|(access, _)| *access).collect()
    });
    all.collect()
}

/// The steps of loops that a launch knows, where the loop is sure to be reached.
fn steps(index: &Index<'_>) -> Vec<Condition> {
    let func = index.func;
    let mut found = Vec::new();
    for &id in &func.region(func.body()).ops {
        let op = func.op(id);
        if op.kind != Kind::For || is_positive(func, op.operands[2]) {
            continue;
        }
        let mut by_scalars = false;
        if of_launch(index, op.operands[2], &mut by_scalars) {
            found.push(Condition::Step { value: op.operands[2], site: op.site, by_scalars });
        }
    }
    found
}

/// Whether a scalar of the program is 1 or more whatever the arguments are.
pub(crate) fn is_positive(func: &Func, value: Value) -> bool {
    let Some(op) = func.op_of(value) else { return false };
    let positive = |&operand: &Value| is_positive(func, operand);
    match &op.kind {
        Kind::Full(_) => func.number(value).is_some_and(|n| n > 0),
        Kind::NumBlocks(_) => true,
        Kind::Each { op: Each::Max, .. } => op.operands.iter().any(positive),
        Kind::Each { op: Each::Min, .. } => op.operands.iter().all(positive),
        _ => false,
    }
}

/// Whether a scalar follows from the arguments and the grid, and whether scalars are among these arguments.
fn of_launch(index: &Index<'_>, value: Value, by_scalars: &mut bool) -> bool {
    let func = index.func;
    index.op_of(value).is_some_and(|op| {
        let known = match &op.kind {
            Kind::Full(_) | Kind::NumBlocks(_) | Kind::Param(_) => true,
            Kind::Dim(array, _) => matches!(func.arrays()[array.index()], crate::ir::Array::Param(_)),
            Kind::Each { .. } | Kind::Cast(_) => true,
            _ => false,
        };
        *by_scalars |= matches!(op.kind, Kind::Param(_));
        known && op.operands.iter().all(|&operand| of_launch(index, operand, by_scalars))
    })
}

/// That no integer on the way to an access leaves its dtype.
fn unwrapped<'a>(index: &'a Index<'_>, access: &'a Access) -> impl Iterator<Item = Condition> + 'a {
    let computed = access.values.iter().filter(|&&value| is_computed(index.func, value));
    computed.map(|&value| Condition::NoWrap { array: access.array, op: access.op, value })
}

/// The coordinates that two accesses of different forms have in common where they meet: along axes of one form, and along those where they
/// are apart by a number that is the same in all blocks.
fn between(index: &Index<'_>, a: &Access, b: &Access) -> (Vec<Poly>, Extra) {
    let along = |access: &Access, axes: &[usize]| Access {
        origin: axes.iter().map(|&axis| access.origin[axis].clone()).collect(),
        tile: axes.iter().map(|&axis| access.tile[axis]).collect(),
        ..access.clone()
    };
    let alike = |axes: &[usize]| form(&along(a, axes)) == form(&along(b, axes));
    let (same, other): (Vec<usize>, Vec<usize>) = (0..a.origin.len()).partition(|&axis| alike(&[axis]));
    let same = if alike(&same) { same } else { Vec::new() };
    let (mut common, mut extra) = union(index, &[&along(a, &same), &along(b, &same)]);
    for axis in other {
        let Some(apart) = b.origin[axis].plus(&a.origin[axis], -1).filter(Poly::is_uniform) else { continue };
        let number = fit::axis(common.len());
        let which = Poly::atom(Atom::Which(number)).times(&apart);
        let poly = which.and_then(|which| a.origin[axis].plus(&which, 1));
        if let Some(poly) = poly.and_then(|poly| poly.plus(&Poly::atom(Atom::Element(number)), 1)) {
            common.push(poly);
            extra.elements.push(a.tile[axis].max(b.tile[axis]));
            extra.which.push(2);
        }
    }
    (common, extra)
}

fn refused(index: &Index<'_>, name: &str, group: &[&Access], why: &str) -> Box<Diagnostic> {
    let store = group.iter().find(|access| access.stores).copied();
    let at = |access: &Access| {
        access.origin.iter().map(|poly| poly.show(&|value| index.name(value))).collect::<Vec<_>>().join(", ")
    };
    let shown: Vec<String> = group.iter().map(|access| format!("({})", at(access))).collect();
    let found = witness(index, group);
    let what = match found {
        Some(text) => text,
        None => format!("the elements from {} on {why}", shown.join(" and ")),
    };
    let fault = Fault::Disjoint { array: name.into(), what };
    Box::new(Diagnostic::at(store.and_then(|access| access.site), fault))
}

/// The coordinates without their constants, with loops and lanes numbered as they appear: what is equal for accesses that differ by
/// constants alone.
fn form(access: &Access) -> Vec<Poly> {
    let mut seen: Vec<Atom> = Vec::new();
    let mut number = |atom: &Atom| match atom {
        Atom::Iteration(_) | Atom::Lane(..) => {
            let at = seen.iter().position(|other| other == atom).unwrap_or_else(|| {
                seen.push(atom.clone());
                seen.len() - 1
            });
            let value = Value(u32::MAX - fit::item(at));
            Poly::atom(match atom {
                Atom::Iteration(_) => Atom::Iteration(value),
                _ => Atom::Lane(value, value),
            })
        }
        other => Poly::atom(other.clone()),
    };
    access
        .origin
        .iter()
        .map(|poly| poly.without_constant().map(&mut number).unwrap_or_else(|| poly.clone()))
        .collect()
}

/// Accesses by their form.
fn groups<'a>(of: &[&'a Access]) -> Vec<Vec<&'a Access>> {
    let mut found: Vec<(Vec<Poly>, Vec<&Access>)> = Vec::new();
    for access in of {
        let form = form(access);
        match found.iter_mut().find(|(other, _)| *other == form) {
            Some((_, group)) => group.push(access),
            None => found.push((form, vec![access])),
        }
    }
    found.into_iter().map(|(_, group)| group).collect()
}

/// Whether two accesses never meet, since along some axis they keep to different numbers.
fn apart(a: &Access, b: &Access) -> bool {
    // Expressions that are the same for all, but for constants.
    (0..a.origin.len()).any(|axis| {
        let (x, y) = (&a.origin[axis], &b.origin[axis]);
        let ([start, other], [tile, of_other]) = ([x, y].map(Poly::constant), [a.tile[axis], b.tile[axis]]);
        x.is_uniform()
            && x.without_constant() == y.without_constant()
            && (start + tile <= other || other + of_other <= start)
    })
}

/// The atoms of loops and lanes in the order in which they appear.
fn movers(access: &Access) -> Vec<Atom> {
    let mut seen = Vec::new();
    for poly in &access.origin {
        let _ = poly.map(&mut |atom| {
            if matches!(atom, Atom::Iteration(_) | Atom::Lane(..)) && !seen.contains(atom) {
                seen.push(atom.clone());
            }
            Poly::atom(atom.clone())
        });
    }
    seen
}

/// The coordinates that any two accesses of one form have in common where they meet.
fn union(index: &Index<'_>, group: &[&Access]) -> (Vec<Poly>, Extra) {
    let first = group[0];
    let rank = first.origin.len();
    let mut extra = Extra { elements: vec![1; rank], which: vec![1; rank] };
    // Loops that differ in how far they go bound nothing.
    let own = movers(first);
    let mut loose = BTreeSet::new();
    for other in &group[1..] {
        for (mine, theirs) in own.iter().zip(movers(other)) {
            if mine != &theirs && index.extents(mine) != index.extents(&theirs) {
                loose.insert(mine.clone());
            }
        }
    }
    let mut common = Vec::new();
    for axis in 0..rank {
        extra.elements[axis] = group.iter().map(|access| access.tile[axis]).max().unwrap_or(1);
        let constants: Vec<i64> = group.iter().map(|access| access.origin[axis].constant()).collect();
        let least = constants.iter().copied().min().unwrap_or(0);
        let unit = constants.iter().map(|&c| c - least).fold(0, gcd);
        let mut poly = first.origin[axis].without_constant();
        if unit > 0 {
            let most = constants.iter().map(|&c| (c - least) / unit).max().unwrap_or(0);
            extra.which[axis] = most + 1;
            poly = poly.plus(&Poly::atom(Atom::Which(fit::axis(axis))), unit).unwrap_or_default();
        }
        if extra.elements[axis] > 1 {
            poly = poly.plus(&Poly::atom(Atom::Element(fit::axis(axis))), 1).unwrap_or_default();
        }
        let loosened = poly.map(&mut |atom| match atom {
            Atom::Iteration(value) | Atom::Lane(_, value) if loose.contains(atom) => {
                Poly::atom(Atom::Free(*value))
            }
            other => Poly::atom(other.clone()),
        });
        common.push(loosened.unwrap_or_default());
    }
    (common, extra)
}

/// Whether a value is the result of arithmetic, which may leave its dtype.
fn is_computed(func: &Func, value: Value) -> bool {
    let is_given =
        |kind: &Kind| matches!(kind, Kind::Full(_) | Kind::Bid(_) | Kind::NumBlocks(_) | Kind::Dim(..));
    !func.op_of(value).is_some_and(|op| is_given(&op.kind))
}

impl Report {
    /// What a condition asks for, as text.
    pub fn text(func: &Func, condition: &Condition) -> String {
        let index = Index::new(func);
        let name = |value| index.name(value);
        match condition {
            Condition::OneBlock { axis, .. } => format!("the grid has one block along axis {axis}"),
            Condition::Positive { poly, .. } => format!("{} is 1 or more", poly.show(&name)),
            Condition::Step { value, .. } => format!("the step {} of a range is 1 or more", name(*value)),
            Condition::NoWrap { value, .. } => {
                let dtype = func.ty(*value).dtype;
                format!("the index {} is computed without leaving {dtype}", name(*value))
            }
        }
    }

    /// The first condition that a grid and arguments do not satisfy.
    pub fn broken(&self, func: &Func, with: &Concrete) -> Option<&Condition> {
        let index = Index::new(func);
        let intervals = Intervals::new(&index, with, &[]);
        self.conditions.iter().find(|condition| match condition {
            Condition::OneBlock { axis, .. } => with.grid[usize::from(*axis)] > 1,
            Condition::Positive { poly, .. } => intervals.poly(poly).is_none_or(|range| range.0 < 1),
            // What is not known exactly, the kernel compares itself.
            Condition::Step { value, .. } => intervals.value(*value).is_some_and(|range| range.1 < 1),
            Condition::NoWrap { op, value, .. } => {
                let region = index.region_of(*op).unwrap_or(func.body());
                let conditions = index.conditions(region);
                Intervals::new(&index, with, &conditions).value(*value).is_none()
            }
        })
    }
}
