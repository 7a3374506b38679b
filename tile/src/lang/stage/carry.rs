//! Values that loops and branches can carry.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Raw;
use crate::handle::Tile;

/// A part of a value.
pub enum Slot<'a> {
    /// A tile, which run-time control flow carries.
    Tile(&'a mut Raw),
    /// The fingerprint of what is known while building, which must stay as it is.
    Host(u64),
}

impl Debug for Slot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slot::Tile(raw) => f.debug_tuple("Tile").field(raw).finish(),
            Slot::Host(print) => f.debug_tuple("Host").field(print).finish(),
        }
    }
}

/// Values that control flow may change: the tiles in them are carried, what is known while building must stay as it is in a loop or
/// branch of the run time.
///
/// `#[derive(Tiles)]` implements it for structs and enums whose fields have it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` changes inside of a loop or branch and cannot be carried",
    label = "changed inside of a loop or branch",
    note = "tiles, numbers, bool, strings, tuples, arrays, `Vec` and `Option` of them can; derive `Tiles` for a type of your own"
)]
pub trait Carry {
    /// Calls `f` with every part, in an order that depends on the parts of the run of the build alone.
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>));
}

/// A variable around a loop or branch: its name, and what carries it.
pub type Var<'a> = (&'static str, Option<&'a mut (dyn Carry + 'a)>);

/// A number that differs where values differ, by how they print.
pub fn fingerprint(value: &impl Debug) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{value:?}").hash(&mut hasher);
    hasher.finish()
}

/// A variable that may be changed by a method; whether its type can be carried is asked where the type is known.
#[derive(Debug)]
pub struct Probe<'a, T: ?Sized>(pub &'a mut T);

impl<'a, T: Carry> Probe<'a, T> {
    /// The variable, if its type can be carried.
    pub fn carried(self) -> Option<&'a mut (dyn Carry + 'a)> {
        Some(self.0)
    }
}

/// The answer for types that cannot be carried. Where they change nevertheless, the second build of a loop's body shows it.
pub trait NotCarried<'a> {
    /// Nothing.
    fn carried(self) -> Option<&'a mut (dyn Carry + 'a)>;
}

impl<'a, T: ?Sized> NotCarried<'a> for Probe<'a, T> {
    fn carried(self) -> Option<&'a mut (dyn Carry + 'a)> {
        None
    }
}

impl<T> Carry for Tile<T> {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        f(Slot::Tile(self.raw_mut()));
    }
}

macro_rules! host {
    ($($ty:ty),*) => { $(impl Carry for $ty {
        fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
            f(Slot::Host(fingerprint(self)));
        }
    })* };
}
host!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64, &str, String);
host!(half::f16, half::bf16, girih_tensor::DType);

macro_rules! tuples {
    ($($n:literal: $($name:ident $at:tt)*;)*) => { $(impl<$($name: Carry),*> Carry for ($($name,)*) {
        fn slots(&mut self, _f: &mut dyn FnMut(Slot<'_>)) {
            $(self.$at.slots(_f);)*
        }
    })* };
}
tuples! { 0: ; }
for_tuples!(tuples, 8);

impl<T: Carry, const N: usize> Carry for [T; N] {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        self.iter_mut().for_each(|part| part.slots(f));
    }
}

impl<T: Carry> Carry for [T] {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        f(Slot::Host(self.len() as u64));
        self.iter_mut().for_each(|part| part.slots(f));
    }
}

impl<T: Carry> Carry for Vec<T> {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        self.as_mut_slice().slots(f);
    }
}

impl<T: Carry> Carry for Option<T> {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        f(Slot::Host(self.is_some().into()));
        if let Some(part) = self {
            part.slots(f);
        }
    }
}

impl<T: Carry + ?Sized> Carry for Box<T> {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        self.as_mut().slots(f);
    }
}

impl<T: Carry + ?Sized> Carry for &mut T {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        (**self).slots(f);
    }
}

impl<K: Debug, T: Carry> Carry for BTreeMap<K, T> {
    fn slots(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
        self.iter_mut().for_each(|(key, part)| {
            f(Slot::Host(fingerprint(key)));
            part.slots(f);
        });
        f(Slot::Host(self.len() as u64));
    }
}
