//! Operators. `+ - * / %` broadcast and promote; `/` of integers gives f32; `& | ^` take equal types, `<< >>` integers.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use super::Tile;
use super::math::{binary, unary};
use crate::elem::{Bits, Elem, Float, Integer, Loose, Num, Promote, ToFloat};
use crate::ir::table::Each;

/// An operator of two types, and what it gives.
macro_rules! operator {
    ($name:ident $method:ident $op:ident [$($of:tt)*] $l:ty, $r:ty => $out:ty $(, $bounded:ty: $bound:ident)?) => {
        impl<$($of)*> $name<$r> for $l
        where
            $($bounded: $bound,)?
        {
            type Output = Tile<$out>;
            #[track_caller]
            fn $method(self, r: $r) -> Self::Output {
                binary(Each::$op, self, r)
            }
        }
    };
}

/// An operator that assigns what it gives to a tile.
macro_rules! assign {
    ($name:ident $method:ident $op:ident [$($of:tt)*] $l:ty, $r:ty) => {
        impl<$($of)*> $name<$r> for $l {
            #[track_caller]
            fn $method(&mut self, r: $r) {
                *self = binary(Each::$op, *self, r);
            }
        }
    };
}

macro_rules! arithmetic {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        operator!($name $method $op [A: Promote<B>, B: Elem] Tile<A>, Tile<B> => A::Out, A::Out: Num);
        operator!($name $method $op [A: Loose<i64>] Tile<A>, i64 => <A as Loose<i64>>::Out);
        operator!($name $method $op [A: Loose<i64>] i64, Tile<A> => <A as Loose<i64>>::Out);
        operator!($name $method $op [A: Loose<f64>] Tile<A>, f64 => <A as Loose<f64>>::Out);
        operator!($name $method $op [A: Loose<f64>] f64, Tile<A> => <A as Loose<f64>>::Out);
        assign!($assign $assign_method $op [A: Num + Promote<B, Out = A>, B: Elem] Tile<A>, Tile<B>);
        assign!($assign $assign_method $op [A: Loose<i64, Out = A>] Tile<A>, i64);
        assign!($assign $assign_method $op [A: Loose<f64, Out = A>] Tile<A>, f64);
    )* };
}
arithmetic! {
    Add add AddAssign add_assign Add;
    Sub sub SubAssign sub_assign Sub;
    Mul mul MulAssign mul_assign Mul;
    Rem rem RemAssign rem_assign Mod;
}

operator!(Div div TrueDiv [A: Promote<B>, B: Elem] Tile<A>, Tile<B> => <A::Out as ToFloat>::Out, A::Out: ToFloat);
operator!(Div div TrueDiv [A: Loose<i64>] Tile<A>, i64 => <A::Out as ToFloat>::Out, A::Out: ToFloat);
operator!(Div div TrueDiv [A: Loose<i64>] i64, Tile<A> => <A::Out as ToFloat>::Out, A::Out: ToFloat);
operator!(Div div TrueDiv [A: Loose<f64>] Tile<A>, f64 => <A::Out as ToFloat>::Out, A::Out: ToFloat);
operator!(Div div TrueDiv [A: Loose<f64>] f64, Tile<A> => <A::Out as ToFloat>::Out, A::Out: ToFloat);
assign!(DivAssign div_assign TrueDiv [A: Float + Promote<B, Out = A>, B: Elem] Tile<A>, Tile<B>);
assign!(DivAssign div_assign TrueDiv [A: Float] Tile<A>, i64);
assign!(DivAssign div_assign TrueDiv [A: Float] Tile<A>, f64);

/// Operators on integers and numbers.
macro_rules! of_integers {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        operator!($name $method $op [T: Integer] Tile<T>, i64 => T);
        operator!($name $method $op [T: Integer] i64, Tile<T> => T);
        assign!($assign $assign_method $op [T: Integer] Tile<T>, i64);
    )* };
}

macro_rules! bitwise {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        operator!($name $method $op [T: Bits] Tile<T>, Tile<T> => T);
        assign!($assign $assign_method $op [T: Bits] Tile<T>, Tile<T>);
        of_integers!($name $method $assign $assign_method $op;);
    )* };
}
bitwise! {
    BitAnd bitand BitAndAssign bitand_assign And;
    BitOr bitor BitOrAssign bitor_assign Or;
    BitXor bitxor BitXorAssign bitxor_assign Xor;
}

macro_rules! shifts {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        operator!($name $method $op [A: Integer + Promote<B>, B: Integer] Tile<A>, Tile<B> => <A as Promote<B>>::Out);
        assign!($assign $assign_method $op [A: Integer + Promote<B, Out = A>, B: Integer] Tile<A>, Tile<B>);
        of_integers!($name $method $assign $assign_method $op;);
    )* };
}
shifts! {
    Shl shl ShlAssign shl_assign Shl;
    Shr shr ShrAssign shr_assign Shr;
}

impl<T: Num> Neg for Tile<T> {
    type Output = Tile<T>;
    #[track_caller]
    fn neg(self) -> Tile<T> {
        unary(Each::Neg, self)
    }
}

impl<T: Bits> Not for Tile<T> {
    type Output = Tile<T>;
    #[track_caller]
    fn not(self) -> Tile<T> {
        unary(Each::Not, self)
    }
}
