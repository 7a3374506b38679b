//! Facts about a kernel's parameters.

use girih_tensor::DType;

use crate::ir::{Array, ArrayParam, Func, Known};

/// The facts of an array parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayFacts {
    /// Of its extents, in elements.
    pub extents: Vec<Known>,
    /// Of its strides, in elements.
    pub strides: Vec<Known>,
    /// The alignment of the address of its first element, in bytes.
    pub align: u32,
}

impl ArrayFacts {
    /// The facts of every row-major array of a rank: the stride of the last axis alone.
    pub fn row_major(rank: usize, dtype: DType) -> ArrayFacts {
        let mut strides = vec![Known::MultipleOf(1); rank];
        if let Some(last) = strides.last_mut() {
            *last = Known::Is(1);
        }
        ArrayFacts { extents: vec![Known::MultipleOf(1); rank], strides, align: dtype.bits().div_ceil(8) }
    }

    /// The parameter that these facts hold of.
    pub fn param(&self, name: &str, dtype: DType, mutable: bool) -> ArrayParam {
        ArrayParam {
            name: name.to_string(),
            dtype,
            mutable,
            extents: self.extents.clone(),
            strides: self.strides.clone(),
            align: self.align,
            assume_disjoint: None,
        }
    }
}

/// The facts of a kernel's parameters, arrays and scalars each in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Facts {
    /// Of arrays.
    pub arrays: Vec<ArrayFacts>,
    /// Of scalars.
    pub scalars: Vec<Known>,
}

impl Facts {
    /// The facts of row-major arrays of these ranks and dtypes, and of any scalars.
    pub fn row_major(arrays: &[(usize, DType)], scalars: usize) -> Facts {
        Facts {
            arrays: arrays.iter().map(|&(rank, dtype)| ArrayFacts::row_major(rank, dtype)).collect(),
            scalars: vec![Known::MultipleOf(1); scalars],
        }
    }
}

impl Func {
    /// The same program for arguments of which these facts hold. What nothing is said of stays as it is.
    #[must_use]
    pub fn with_facts(&self, facts: &Facts) -> Func {
        let mut func = self.clone();
        for (array, facts) in func.arrays.iter_mut().zip(&facts.arrays) {
            let Array::Param(param) = array else { continue };
            param.extents.clone_from(&facts.extents);
            param.strides.clone_from(&facts.strides);
            param.align = facts.align;
        }
        for (scalar, &known) in func.scalars.iter_mut().zip(&facts.scalars) {
            scalar.known = known;
        }
        func
    }
}
