//! Operators. `+ - * / %` broadcast and promote; `/` of integers gives f32; `& | ^` take equal types, `<< >>` integers.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use super::Tile;
use super::math::{binary, unary};
use crate::elem::{Bits, Elem, Float, Integer, Loose, Num, Promote, ToFloat};
use crate::ir::table::Each;

macro_rules! arithmetic {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        impl<A: Promote<B>, B: Elem> $name<Tile<B>> for Tile<A>
        where
            A::Out: Num,
        {
            type Output = Tile<A::Out>;
            #[track_caller]
            fn $method(self, r: Tile<B>) -> Self::Output {
                binary(Each::$op, self, r)
            }
        }
        arithmetic!(loose $name $method $op i64);
        arithmetic!(loose $name $method $op f64);
        impl<A: Num + Promote<B, Out = A>, B: Elem> $assign<Tile<B>> for Tile<A> {
            #[track_caller]
            fn $assign_method(&mut self, r: Tile<B>) {
                *self = binary(Each::$op, *self, r);
            }
        }
        arithmetic!(assign $assign $assign_method $op i64);
        arithmetic!(assign $assign $assign_method $op f64);
    )* };
    (assign $assign:ident $assign_method:ident $op:ident $constant:ty) => {
        impl<A: Loose<$constant, Out = A>> $assign<$constant> for Tile<A> {
            #[track_caller]
            fn $assign_method(&mut self, r: $constant) {
                *self = binary(Each::$op, *self, r);
            }
        }
    };
    (loose $name:ident $method:ident $op:ident $constant:ty) => {
        impl<A: Loose<$constant>> $name<$constant> for Tile<A> {
            type Output = Tile<<A as Loose<$constant>>::Out>;
            #[track_caller]
            fn $method(self, r: $constant) -> Self::Output {
                binary(Each::$op, self, r)
            }
        }
        impl<A: Loose<$constant>> $name<Tile<A>> for $constant {
            type Output = Tile<<A as Loose<$constant>>::Out>;
            #[track_caller]
            fn $method(self, r: Tile<A>) -> Self::Output {
                binary(Each::$op, self, r)
            }
        }
    };
}
arithmetic! {
    Add add AddAssign add_assign Add;
    Sub sub SubAssign sub_assign Sub;
    Mul mul MulAssign mul_assign Mul;
    Rem rem RemAssign rem_assign Mod;
}

impl<A: Promote<B>, B: Elem> Div<Tile<B>> for Tile<A>
where
    A::Out: ToFloat,
{
    type Output = Tile<<A::Out as ToFloat>::Out>;
    #[track_caller]
    fn div(self, r: Tile<B>) -> Self::Output {
        binary(Each::TrueDiv, self, r)
    }
}

macro_rules! quotients {
    ($($constant:ty),*) => { $(
        impl<A: Loose<$constant>> Div<$constant> for Tile<A>
        where
            A::Out: ToFloat,
        {
            type Output = Tile<<A::Out as ToFloat>::Out>;
            #[track_caller]
            fn div(self, r: $constant) -> Self::Output {
                binary(Each::TrueDiv, self, r)
            }
        }
        impl<A: Loose<$constant>> Div<Tile<A>> for $constant
        where
            A::Out: ToFloat,
        {
            type Output = Tile<<A::Out as ToFloat>::Out>;
            #[track_caller]
            fn div(self, r: Tile<A>) -> Self::Output {
                binary(Each::TrueDiv, self, r)
            }
        }
    )* };
}
quotients!(i64, f64);

impl<A: Float + Promote<B, Out = A>, B: Elem> DivAssign<Tile<B>> for Tile<A> {
    #[track_caller]
    fn div_assign(&mut self, r: Tile<B>) {
        *self = binary(Each::TrueDiv, *self, r);
    }
}

impl<A: Float> DivAssign<i64> for Tile<A> {
    #[track_caller]
    fn div_assign(&mut self, r: i64) {
        *self = binary(Each::TrueDiv, *self, r);
    }
}

impl<A: Float> DivAssign<f64> for Tile<A> {
    #[track_caller]
    fn div_assign(&mut self, r: f64) {
        *self = binary(Each::TrueDiv, *self, r);
    }
}

macro_rules! bitwise {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        impl<T: Bits> $name for Tile<T> {
            type Output = Tile<T>;
            #[track_caller]
            fn $method(self, r: Tile<T>) -> Tile<T> {
                binary(Each::$op, self, r)
            }
        }
        impl<T: Integer> $name<i64> for Tile<T> {
            type Output = Tile<T>;
            #[track_caller]
            fn $method(self, r: i64) -> Tile<T> {
                binary(Each::$op, self, r)
            }
        }
        impl<T: Integer> $name<Tile<T>> for i64 {
            type Output = Tile<T>;
            #[track_caller]
            fn $method(self, r: Tile<T>) -> Tile<T> {
                binary(Each::$op, self, r)
            }
        }
        impl<T: Bits> $assign for Tile<T> {
            #[track_caller]
            fn $assign_method(&mut self, r: Tile<T>) {
                *self = binary(Each::$op, *self, r);
            }
        }
        impl<T: Integer> $assign<i64> for Tile<T> {
            #[track_caller]
            fn $assign_method(&mut self, r: i64) {
                *self = binary(Each::$op, *self, r);
            }
        }
    )* };
}
bitwise! {
    BitAnd bitand BitAndAssign bitand_assign And;
    BitOr bitor BitOrAssign bitor_assign Or;
    BitXor bitxor BitXorAssign bitxor_assign Xor;
}

macro_rules! shifts {
    ($($name:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => { $(
        impl<A: Integer + Promote<B>, B: Integer> $name<Tile<B>> for Tile<A> {
            type Output = Tile<<A as Promote<B>>::Out>;
            #[track_caller]
            fn $method(self, r: Tile<B>) -> Self::Output {
                binary(Each::$op, self, r)
            }
        }
        impl<T: Integer> $name<i64> for Tile<T> {
            type Output = Tile<T>;
            #[track_caller]
            fn $method(self, r: i64) -> Tile<T> {
                binary(Each::$op, self, r)
            }
        }
        impl<T: Integer> $name<Tile<T>> for i64 {
            type Output = Tile<T>;
            #[track_caller]
            fn $method(self, r: Tile<T>) -> Tile<T> {
                binary(Each::$op, self, r)
            }
        }
        impl<A: Integer + Promote<B, Out = A>, B: Integer> $assign<Tile<B>> for Tile<A> {
            #[track_caller]
            fn $assign_method(&mut self, r: Tile<B>) {
                *self = binary(Each::$op, *self, r);
            }
        }
        impl<T: Integer> $assign<i64> for Tile<T> {
            #[track_caller]
            fn $assign_method(&mut self, r: i64) {
                *self = binary(Each::$op, *self, r);
            }
        }
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
