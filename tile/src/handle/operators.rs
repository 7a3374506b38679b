//! Operators. `+ - * / %` broadcast and promote; `/` of integers gives f32; `& | ^` take equal types, `<< >>` integers.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use super::Tile;
use super::math::{binary, unary};
use crate::elem::{Bits, Elem, Integer, Loose, Num, Promote, ToFloat};
use crate::ops::table::Each;

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
        impl<A: Elem, B: Copy> $assign<B> for Tile<A>
        where
            Tile<A>: $name<B, Output = Tile<A>>,
        {
            #[track_caller]
            fn $assign_method(&mut self, r: B) {
                *self = $name::$method(*self, r);
            }
        }
    )* };
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

impl<A: Elem, B: Copy> DivAssign<B> for Tile<A>
where
    Tile<A>: Div<B, Output = Tile<A>>,
{
    #[track_caller]
    fn div_assign(&mut self, r: B) {
        *self = *self / r;
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
        impl<T: Elem, B: Copy> $assign<B> for Tile<T>
        where
            Tile<T>: $name<B, Output = Tile<T>>,
        {
            #[track_caller]
            fn $assign_method(&mut self, r: B) {
                *self = $name::$method(*self, r);
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
        impl<T: Elem, B: Copy> $assign<B> for Tile<T>
        where
            Tile<T>: $name<B, Output = Tile<T>>,
        {
            #[track_caller]
            fn $assign_method(&mut self, r: B) {
                *self = $name::$method(*self, r);
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
