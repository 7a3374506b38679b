//! Conditions, and `&&` and `||`: of `bool` they are Rust's own, of scalars both sides are evaluated.

use super::{Item, Raw, apply, each};
use crate::dtype::Const;
use crate::handle::Tile;
use crate::ir::table::Each;
use crate::ops::Mode;

/// The condition of `if` and `while`: a `bool` while building, a scalar at run time.
#[diagnostic::on_unimplemented(
    message = "a condition is a `bool` or a rank-0 `Tile<bool>`, not `{Self}`",
    note = "`x != 0` makes a condition of a number"
)]
pub trait Condition: Copy {
    /// Whether it is known at run time only.
    const STAGED: bool;
    /// The value while building.
    fn host(self) -> bool;
    /// The scalar.
    fn raw(self) -> Option<Raw>;
}

impl Condition for bool {
    const STAGED: bool = false;
    fn host(self) -> bool {
        self
    }
    fn raw(self) -> Option<Raw> {
        None
    }
}

impl Condition for Tile<bool> {
    const STAGED: bool = true;
    fn host(self) -> bool {
        false
    }
    fn raw(self) -> Option<Raw> {
        Some(self.raw())
    }
}

/// Conditions that `&&` and `||` combine.
#[diagnostic::on_unimplemented(
    message = "`&&` and `||` combine `bool` and `Tile<bool>`, not `{Self}` and `{R}`"
)]
pub trait Logic<R> {
    /// `bool` or a tile.
    type Out;
    /// `self && r()`.
    fn both(self, r: impl FnOnce() -> R) -> Self::Out;
    /// `self || r()`.
    fn either(self, r: impl FnOnce() -> R) -> Self::Out;
}

impl Logic<bool> for bool {
    type Out = bool;
    fn both(self, r: impl FnOnce() -> bool) -> bool {
        self && r()
    }
    fn either(self, r: impl FnOnce() -> bool) -> bool {
        self || r()
    }
}

fn flag(value: bool) -> Item {
    Item::Loose(Const::Bool(value))
}

/// A truth value as a tile.
#[track_caller]
fn known(value: bool) -> Tile<bool> {
    let name = if value { "true" } else { "false" };
    Tile::of(apply(name, &[], |build, _| build.value(Const::Bool(value).into())))
}

#[track_caller]
fn combine(op: Each, a: Tile<bool>, b: Item) -> Tile<bool> {
    Tile::of(each(op, &[Item::Tile(a.raw()), b], Mode::default()))
}

impl Logic<Tile<bool>> for bool {
    type Out = Tile<bool>;
    #[track_caller]
    fn both(self, r: impl FnOnce() -> Tile<bool>) -> Tile<bool> {
        if self { r() } else { known(false) }
    }
    #[track_caller]
    fn either(self, r: impl FnOnce() -> Tile<bool>) -> Tile<bool> {
        if self { known(true) } else { r() }
    }
}

impl Logic<bool> for Tile<bool> {
    type Out = Tile<bool>;
    #[track_caller]
    fn both(self, r: impl FnOnce() -> bool) -> Tile<bool> {
        if r() { self } else { combine(Each::And, self, flag(false)) }
    }
    #[track_caller]
    fn either(self, r: impl FnOnce() -> bool) -> Tile<bool> {
        if r() { combine(Each::Or, self, flag(true)) } else { self }
    }
}

impl Logic<Tile<bool>> for Tile<bool> {
    type Out = Tile<bool>;
    #[track_caller]
    fn both(self, r: impl FnOnce() -> Tile<bool>) -> Tile<bool> {
        combine(Each::And, self, Item::Tile(r().raw()))
    }
    #[track_caller]
    fn either(self, r: impl FnOnce() -> Tile<bool>) -> Tile<bool> {
        combine(Each::Or, self, Item::Tile(r().raw()))
    }
}

/// `a && b()`.
#[track_caller]
pub fn and<A: Logic<B>, B>(a: A, b: impl FnOnce() -> B) -> A::Out {
    a.both(b)
}

/// `a || b()`.
#[track_caller]
pub fn or<A: Logic<B>, B>(a: A, b: impl FnOnce() -> B) -> A::Out {
    a.either(b)
}
