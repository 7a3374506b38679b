//! The rules of dtypes as traits and as functions are the same.

use girih_tensor::DType;
use girih_tile::dtype::{self, Const};
use girih_tile::prelude::*;

/// What traits say of a pair of types. An inherent constant wins over the trait's where its bounds hold.
struct Pair<A, B>(std::marker::PhantomData<(A, B)>);
struct One<A>(std::marker::PhantomData<A>);

trait Not {
    const COMMON: Option<DType> = None;
    const STORED: bool = false;
    const INT: Option<DType> = None;
    const FLOAT: Option<DType> = None;
    const ARITHMETIC: bool = false;
    const BITS: bool = false;
    const INTEGER: bool = false;
    const IS_FLOAT: bool = false;
    const SUM: Option<DType> = None;
    const SUMMED: bool = false;
}
impl<T> Not for T {}

impl<A: Promote<B>, B: Elem> Pair<A, B> {
    const COMMON: Option<DType> = Some(<A::Out as girih_tensor::Element>::DTYPE);
}
impl<A: StoreTo<B>, B: Elem> Pair<A, B> {
    const STORED: bool = true;
}
impl<A: Loose<i64>> One<A> {
    const INT: Option<DType> = Some(<A::Out as girih_tensor::Element>::DTYPE);
}
impl<A: Loose<f64>> One<A> {
    const FLOAT: Option<DType> = Some(<A::Out as girih_tensor::Element>::DTYPE);
}
impl<A: Num> One<A> {
    const ARITHMETIC: bool = true;
}
impl<A: Bits> One<A> {
    const BITS: bool = true;
}
impl<A: Integer> One<A> {
    const INTEGER: bool = true;
}
impl<A: Float> One<A> {
    const IS_FLOAT: bool = true;
}

struct Three<A, B, C>(std::marker::PhantomData<(A, B, C)>);
impl<A: Product> One<A> {
    const SUM: Option<DType> = Some(<A::Sum as girih_tensor::Element>::DTYPE);
}
impl<A: Mma<C, B>, B: Elem, C: Elem> Three<A, B, C> {
    const SUMMED: bool = true;
}

fn of<T: Elem>() -> DType {
    T::DTYPE
}

macro_rules! all {
    ($($a:ty)*; $all:tt) => { $(row!($a; $all);)* };
}

macro_rules! row {
    ($a:ty; [$($b:ty)*]) => {
        $({
            let (a, b) = (of::<$a>(), of::<$b>());
            let common = dtype::promote(a, b).ok();
            assert_eq!(Pair::<$a, $b>::COMMON, common, "{a} and {b}");
            assert_eq!(Pair::<$a, $b>::STORED, common == Some(b), "{a} into {b}");
            let sums = dtype::sums(a, b);
            assert_eq!(Three::<$a, $b, f16>::SUMMED, sums.contains(&DType::F16), "{a} and {b} into f16");
            assert_eq!(Three::<$a, $b, bf16>::SUMMED, sums.contains(&DType::Bf16), "{a} and {b} into bf16");
            assert_eq!(Three::<$a, $b, f32>::SUMMED, sums.contains(&DType::F32), "{a} and {b} into f32");
            assert_eq!(Three::<$a, $b, f64>::SUMMED, sums.contains(&DType::F64), "{a} and {b} into f64");
            assert_eq!(Three::<$a, $b, i32>::SUMMED, sums.contains(&DType::S32), "{a} and {b} into s32");
            assert_eq!(Three::<$a, $b, Tf32>::SUMMED, sums.contains(&DType::Tf32), "{a} and {b} into tf32");
        })*
        let a = of::<$a>();
        assert_eq!(One::<$a>::SUM, dtype::sums(a, a).first().copied(), "products of {a}");
        assert_eq!(One::<$a>::INT, dtype::loose(a, Const::Int(1)).ok(), "{a} and 1");
        assert_eq!(One::<$a>::FLOAT, dtype::loose(a, Const::Float(1.0)).ok(), "{a} and 1.0");
        let float = a.is_float() && !dtype::is_restricted(a);
        assert_eq!(One::<$a>::IS_FLOAT, float, "{a}");
        let integer = a.is_integer() && !dtype::is_restricted(a);
        assert_eq!(One::<$a>::INTEGER, integer, "{a}");
        assert_eq!(One::<$a>::ARITHMETIC, float || integer, "{a}");
        assert_eq!(One::<$a>::BITS, a == DType::Bool || integer, "{a}");
    };
}

#[test]
fn traits_and_functions_have_the_same_rules() {
    all!(
        bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 Tf32 F8E4M3 F8E5M2 F4E2M1 F8E8M0 S4 U4;
        [bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 Tf32 F8E4M3 F8E5M2 F4E2M1 F8E8M0 S4 U4]
    );
}
