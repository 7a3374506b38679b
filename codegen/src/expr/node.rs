//! Nodes of expressions: equal expressions are one node.
//!
//! [`Sum::new`] returns the node that has these terms and this constant, and makes one only when there is none. Two expressions are
//! therefore equal when they are the same node, and a node's facts, its hash and its size are computed once.
//!
//! Each thread has a table of its nodes. An [`Expr`] stays on its thread, so that the table needs no lock; layouts have
//! expressions before a builder exists, and a builder takes those that another one made only to refuse them, so that a table of
//! a builder would have to name its builder in each operation. The table holds no node alive: a node leaves it with its last
//! expression, and a thread that builds kernels for ever holds no more than the expressions that are alive.
//!
//! A node has two numbers. The `id` counts the nodes of a thread, and is not used again. The `hash` follows from the
//! structure alone. Nothing that reaches a kernel's text may depend on the `id`, which depends on what the thread built before.
//! Nor may anything recurse here from a node to its operands: how deep they are is the program's choice.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::rc::{Rc, Weak};

use super::facts::Known;
use super::{Atom, Expr, Term};
use crate::Error;
use crate::quick::{Quick, QuickMap};

/// The most factors that an expression may have in all its terms.
pub(super) const MOST_FACTORS: usize = 1024;
/// The most factors that a product may have before like terms are collected.
pub(super) const MOST_MULTIPLIED: usize = 16 * MOST_FACTORS;
/// The most quotients, remainders, minima and their like that an expression may have inside one another.
const DEEPEST: u32 = 1000;

/// A constant and terms, in order.
pub(crate) struct Sum {
    id: u64,
    /// The key of the node in the table.
    key: u64,
    hash: u64,
    /// The number of quotients, remainders and their like inside one another.
    depth: u32,
    /// The number of factors in all terms.
    pub(super) factors: usize,
    pub(super) terms: Vec<Term>,
    pub(super) constant: i64,
    /// The facts that follow from the terms and the constant.
    pub(super) known: Known,
}

/// The nodes of a thread.
#[derive(Default)]
struct Table {
    nodes: QuickMap<u64, Weak<Sum>>,
    /// The nodes whose key another node had first.
    others: Vec<Weak<Sum>>,
    made: u64,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

impl Table {
    fn find(&self, key: u64, terms: &[Term], constant: i64) -> Option<Rc<Sum>> {
        let same = |node: &Weak<Sum>| {
            node.upgrade().filter(|n| n.key == key && n.constant == constant && n.terms == terms)
        };
        self.nodes.get(&key).and_then(same).or_else(|| self.others.iter().find_map(same))
    }

    fn insert(&mut self, node: &Rc<Sum>) {
        let entry = self.nodes.entry(node.key).or_default();
        if entry.strong_count() == 0 {
            *entry = Rc::downgrade(node);
        } else {
            self.others.push(Rc::downgrade(node));
        }
    }

    fn remove(&mut self, node: &Sum) {
        let is_node = |entry: &Weak<Sum>| std::ptr::eq(entry.as_ptr(), node);
        if self.nodes.get(&node.key).is_some_and(is_node) {
            self.nodes.remove(&node.key);
        } else {
            self.others.retain(|entry| !is_node(entry));
        }
    }
}

/// A hash of terms and a constant. A key has the ids of nodes and builders; the other hash has nothing that differs between two
/// builds of a kernel.
fn digest(terms: &[Term], constant: i64, key: bool) -> u64 {
    let mut hasher = Quick::default();
    hasher.write_i64(constant);
    for term in terms {
        hasher.write_i64(term.coefficient);
        hasher.write_usize(term.atoms.len());
        for atom in term.atoms.iter() {
            atom.digest(&mut hasher, key);
        }
    }
    hasher.finish()
}

impl Sum {
    /// The node that has these terms, in order and without coefficients of 0, and this constant.
    pub(super) fn new(terms: Vec<Term>, constant: i64) -> Rc<Sum> {
        let key = digest(&terms, constant, true);
        if let Some(found) = TABLE.with_borrow(|table| table.find(key, &terms, constant)) {
            return found;
        }
        let (mut depth, mut factors) = (0, 0);
        for term in &terms {
            factors += term.atoms.len();
            for atom in term.atoms.iter() {
                depth = atom.depth().max(depth);
            }
        }
        TABLE.with_borrow_mut(|table| {
            table.made += 1;
            let node = Rc::new(Sum {
                id: table.made,
                key,
                hash: digest(&terms, constant, false),
                depth,
                factors,
                known: Known::of(&terms, constant),
                terms,
                constant,
            });
            table.insert(&node);
            node
        })
    }

    /// Removes the node from its thread's table, which may be gone at the thread's end.
    fn leave(&self) {
        let _ = TABLE.try_with(|table| table.borrow_mut().remove(self));
    }
}

/// Operands that nothing else has are dropped one after another, not inside one another.
impl Drop for Sum {
    fn drop(&mut self) {
        self.leave();
        if self.depth == 0 || self.terms.is_empty() {
            return;
        }
        let mut dropped = vec![std::mem::take(&mut self.terms)];
        while let Some(terms) = dropped.pop() {
            for mut term in terms {
                let Some(atoms) = Rc::get_mut(&mut term.atoms) else { continue };
                for Expr(node) in atoms.iter_mut().flat_map(Atom::operands_mut) {
                    if Rc::strong_count(node) == 1 {
                        node.leave();
                    }
                    if let Some(node) = Rc::get_mut(node) {
                        dropped.push(std::mem::take(&mut node.terms));
                    }
                }
            }
        }
    }
}

impl Expr {
    /// How many nodes the thread's expressions have.
    #[doc(hidden)]
    pub fn nodes_alive() -> usize {
        TABLE.with_borrow(|table| table.nodes.len() + table.others.len())
    }

    /// The number of the expression's node, which no other node of the thread has had.
    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    /// Whether every factor is a register or a symbol.
    pub(crate) fn is_flat(&self) -> bool {
        self.0.depth == 0
    }

    /// The expressions inside of the factors.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Expr> {
        self.0.terms.iter().flat_map(|term| term.atoms.iter()).flat_map(Atom::operands)
    }

    /// The expression that is one factor, or one that is refused since the factor is too deep.
    pub(crate) fn atom(atom: Atom) -> Expr {
        let depth = atom.depth();
        if depth > DEEPEST {
            return Expr::refused(Error::Large {
                operation: atom.operation(),
                operands: atom.operands().map(Expr::brief).collect(),
                what: "operations inside one another",
                found: depth as usize,
                most: DEEPEST as usize,
            });
        }
        Expr(Sum::new(vec![Term { atoms: Rc::new([atom]), coefficient: 1 }], 0))
    }

    /// The first factors of the expression's text.
    pub(super) fn brief(&self) -> String {
        format!("{self:.32}")
    }
}

impl Atom {
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Expr> {
        let [a, b] = match self {
            Atom::Var { .. } | Atom::Symbol { .. } | Atom::Refused(_) => [None, None],
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => [Some(x), None],
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => [Some(a), Some(b)],
        };
        a.into_iter().chain(b)
    }

    fn operands_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let [a, b] = match self {
            Atom::Var { .. } | Atom::Symbol { .. } | Atom::Refused(_) => [None, None],
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => [Some(x), None],
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => [Some(a), Some(b)],
        };
        a.into_iter().chain(b)
    }

    fn depth(&self) -> u32 {
        match self {
            Atom::Var { .. } | Atom::Symbol { .. } | Atom::Refused(_) => 0,
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => x.0.depth + 1,
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => a.0.depth.max(b.0.depth) + 1,
        }
    }

    fn operation(&self) -> &'static str {
        match self {
            Atom::Var { .. } | Atom::Symbol { .. } | Atom::Refused(_) => "value",
            Atom::Div(..) => "division",
            Atom::Rem(..) => "remainder",
            Atom::Xor(..) => "exclusive or",
            Atom::And(..) => "and",
            Atom::Min(..) => "minimum",
            Atom::Max(..) => "maximum",
        }
    }

    /// The place of the variant among the others.
    fn rank(&self) -> u8 {
        match self {
            Atom::Var { .. } => 0,
            Atom::Symbol { .. } => 1,
            Atom::Div(..) => 2,
            Atom::Rem(..) => 3,
            Atom::Xor(..) => 4,
            Atom::And(..) => 5,
            Atom::Min(..) => 6,
            Atom::Max(..) => 7,
            Atom::Refused(_) => 8,
        }
    }

    fn digest(&self, hasher: &mut Quick, key: bool) {
        hasher.write_u8(self.rank());
        match self {
            // Its other facts are those of its number.
            Atom::Var { id, .. } => {
                hasher.write_u32(id.index);
                if key {
                    hasher.write_u64(id.home);
                }
            }
            Atom::Symbol { id, den, lower, upper, multiple } => {
                hasher.write_u8(*id);
                [*den, *lower, *upper, *multiple].into_iter().for_each(|fact| hasher.write_i64(fact));
            }
            Atom::Div(_, by) | Atom::Rem(_, by) | Atom::And(_, by) => hasher.write_i64(*by),
            Atom::Xor(..) | Atom::Min(..) | Atom::Max(..) => {}
            Atom::Refused(error) => error.to_string().hash(hasher),
        }
        let of_node = |Expr(node): &Expr| if key { node.id } else { node.hash };
        match self {
            Atom::Var { .. } | Atom::Symbol { .. } | Atom::Refused(_) => {}
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => hasher.write_u64(of_node(x)),
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                hasher.write_u64(of_node(a));
                hasher.write_u64(of_node(b));
            }
        }
    }

    /// The order of two factors, or the operands whose order it is.
    fn order<'a>(&'a self, other: &'a Atom) -> Found<'a> {
        match (self, other) {
            (
                Atom::Var { id, lower, upper, multiple },
                Atom::Var { id: id2, lower: lower2, upper: upper2, multiple: multiple2 },
            ) => Found::Order((id, lower, upper, multiple).cmp(&(id2, lower2, upper2, multiple2))),
            (
                Atom::Symbol { id, den, lower, upper, multiple },
                Atom::Symbol { id: id2, den: den2, lower: lower2, upper: upper2, multiple: multiple2 },
            ) => Found::Order((id, den, lower, upper, multiple).cmp(&(id2, den2, lower2, upper2, multiple2))),
            (Atom::Div(x, c), Atom::Div(y, d))
            | (Atom::Rem(x, c), Atom::Rem(y, d))
            | (Atom::And(x, c), Atom::And(y, d)) => {
                if x == y {
                    Found::Order(c.cmp(d))
                } else {
                    Found::Operands(x, y)
                }
            }
            (Atom::Xor(a, b), Atom::Xor(c, d))
            | (Atom::Min(a, b), Atom::Min(c, d))
            | (Atom::Max(a, b), Atom::Max(c, d)) => {
                if a == c {
                    Found::Operands(b, d)
                } else {
                    Found::Operands(a, c)
                }
            }
            (Atom::Refused(a), Atom::Refused(b)) => Found::Order(a.to_string().cmp(&b.to_string())),
            _ => Found::Order(self.rank().cmp(&other.rank())),
        }
    }
}

/// Where two expressions or factors differ first.
enum Found<'a> {
    Order(Ordering),
    /// The operands that differ first.
    Operands(&'a Expr, &'a Expr),
}

/// The first difference of two sums.
fn difference<'a>(a: &'a Sum, b: &'a Sum) -> Found<'a> {
    let Some((x, y)) = a.terms.iter().zip(&b.terms).find(|(x, y)| x != y) else {
        return Found::Order(a.terms.len().cmp(&b.terms.len()).then(a.constant.cmp(&b.constant)));
    };
    match x.atoms.iter().zip(y.atoms.iter()).find(|(x, y)| x != y) {
        Some((x, y)) => x.order(y),
        None => Found::Order(x.atoms.len().cmp(&y.atoms.len()).then(x.coefficient.cmp(&y.coefficient))),
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Expr {}

/// The hash is the same for every builder that writes the same kernel.
impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// The order of the structures: by the terms, then by the constants.
impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> Ordering {
        let (mut a, mut b) = (self, other);
        while a != b {
            match difference(&a.0, &b.0) {
                Found::Order(order) => return order,
                Found::Operands(x, y) => (a, b) = (x, y),
            }
        }
        Ordering::Equal
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Atom) -> Ordering {
        match self.order(other) {
            Found::Order(order) => order,
            Found::Operands(x, y) => x.cmp(y),
        }
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Atom) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
