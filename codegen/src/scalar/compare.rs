//! Comparisons of scalars.

use girih_ptx::Word;
use girih_tensor::DType;

use super::ops::is_float;
use super::{Cond, IntoScalar, Scalar};

/// A comparison of two scalars. If one is NaN, only [`Compare::Ne`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Compare {
    /// The comparison in PTX.
    pub(crate) fn word(self, dtype: DType) -> Word {
        match self {
            Compare::Eq => Word::Eq,
            // The unordered comparison, which holds for NaN.
            Compare::Ne if is_float(dtype) => Word::Neu,
            Compare::Ne => Word::Ne,
            Compare::Lt => Word::Lt,
            Compare::Le => Word::Le,
            Compare::Gt => Word::Gt,
            Compare::Ge => Word::Ge,
        }
    }
}

macro_rules! comparisons {
    ($($name:ident $compare:ident $sign:literal),*) => {
        impl Scalar {$(
            #[doc = concat!("`self ", $sign, " other`")]
            #[track_caller]
            pub fn $name(&self, other: impl IntoScalar) -> Cond {
                self.compared(Compare::$compare, other)
            }
        )*}
    };
}
comparisons!(equals Eq "==", differs Ne "!=", less Lt "<", at_most Le "<=", greater Gt ">", at_least Ge ">=");

impl Scalar {
    #[track_caller]
    fn compared(&self, compare: Compare, other: impl IntoScalar) -> Cond {
        let dtype = self.dtype();
        let mut other = other.into_scalar(dtype);
        if other.dtype() != dtype && other.faulty().is_none() {
            let what = format!("{compare:?} of {dtype} and {}", other.dtype());
            other = Scalar::fault(dtype, what, "operands of one dtype, `to` converts");
        }
        Cond::Compare(compare, self.clone(), other)
    }
}
