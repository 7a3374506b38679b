//! Conditions: comparisons of indices and scalars.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use girih_tensor::DType;

use super::{Compare, DEEPEST, Home, Scalar, Span};
use crate::expr::{Expr, VarId};

/// The most conditions of a conjunction.
const MOST_PARTS: usize = 1024;

/// A condition over expressions. It is folded if the expressions' ranges decide it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cond {
    /// The condition always holds.
    Always,
    /// The condition never holds.
    Never,
    /// `a < b`; made by [`Cond::less`].
    Less(Expr, Expr),
    /// A comparison of scalars; made by [`Scalar::less`] and its like.
    Compare(Compare, Scalar, Scalar),
    /// All of these conditions hold; made by [`Cond::all`].
    All(Vec<Cond>),
    /// The condition does not hold; made by [`Cond::not`].
    Not(Box<Cond>),
    /// The value of a predicate register; made by [`Builder::cond_in`](crate::Builder::cond_in).
    Register(Predicate),
}

/// A predicate register of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate(pub(crate) VarId);

impl Cond {
    /// `a < b`.
    pub fn less(a: &Expr, b: &Expr) -> Cond {
        let difference = (a - b).range();
        if difference.1 < 0 {
            Cond::Always
        } else if difference.0 >= 0 {
            Cond::Never
        } else {
            Cond::Less(a.clone(), b.clone())
        }
    }

    /// The negation.
    #[track_caller]
    #[expect(clippy::should_implement_trait, reason = "beside `all` and `any`")]
    pub fn not(cond: Cond) -> Cond {
        match cond {
            Cond::Always => Cond::Never,
            Cond::Never => Cond::Always,
            Cond::Not(cond) => *cond,
            Cond::Less(a, b) => Cond::less(&b, &(&a + 1)),
            cond => Cond::Not(Box::new(cond)).shallow(),
        }
    }

    /// `a == b`.
    pub fn equal(a: &Expr, b: &Expr) -> Cond {
        Cond::all([Cond::less(a, &(b + 1)), Cond::less(b, &(a + 1))])
    }

    /// The disjunction.
    #[track_caller]
    pub fn any(conds: impl IntoIterator<Item = Cond>) -> Cond {
        Cond::not(Cond::all(conds.into_iter().map(Cond::not)))
    }

    /// The conjunction. One of more than 1024 conditions is refused where it is used.
    #[track_caller]
    pub fn all(conds: impl IntoIterator<Item = Cond>) -> Cond {
        let mut parts = Vec::new();
        for cond in conds {
            match cond {
                Cond::Always => {}
                Cond::Never => return Cond::Never,
                Cond::All(more) => parts.extend(more),
                less => parts.push(less),
            }
        }
        parts.sort_by(order);
        parts.dedup();
        match parts.len() {
            0 => Cond::Always,
            1 => parts.remove(0),
            n if n > MOST_PARTS => {
                let refused = Scalar::fault(
                    DType::U32,
                    format!("a conjunction of {n} conditions"),
                    "at most 1024; a predicate register keeps some of them (`Builder::cond`, `Builder::cond_in`)",
                );
                Cond::Compare(Compare::Eq, refused.clone(), refused)
            }
            _ => Cond::All(parts).shallow(),
        }
    }

    pub(super) fn span(&self) -> Span {
        match self {
            Cond::Always | Cond::Never | Cond::Less(..) => Span::over([]),
            Cond::Compare(_, a, b) => Span::over([a.span(), b.span()]),
            Cond::All(parts) => Span::over(parts.iter().map(Cond::span)),
            Cond::Not(cond) => Span::over([cond.span()]),
            Cond::Register(Predicate(id)) => Span { depth: 1, home: Home::Builder(id.home) },
        }
    }

    /// The condition itself, or a condition that is refused because it is too deep.
    #[track_caller]
    fn shallow(self) -> Cond {
        if self.span().depth <= DEEPEST {
            return self;
        }
        let refused = Scalar::too_deep(DType::U32);
        Cond::Compare(Compare::Eq, refused.clone(), refused)
    }
}

/// An order of conditions that is the same at every build.
fn order(a: &Cond, b: &Cond) -> Ordering {
    let hash = |cond: &Cond| {
        let mut hasher = DefaultHasher::new();
        cond.hash(&mut hasher);
        hasher.finish()
    };
    match (a, b) {
        (Cond::Less(a, b), Cond::Less(c, d)) => (a, b).cmp(&(c, d)),
        (Cond::Less(..), _) => Ordering::Less,
        (_, Cond::Less(..)) => Ordering::Greater,
        _ => hash(a).cmp(&hash(b)),
    }
}
