//! The error for parameters that `wgmma` does not support, which constant evaluation reports too.

use std::fmt;

use girih_layout::Message;
use girih_tensor::DType;

/// Parameters of [`MmaAtom::wgmma`](crate::atom::MmaAtom::wgmma) that the instruction does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WgmmaError {
    /// A kind of instruction that is no `wgmma`.
    Kind {
        /// The kind.
        kind: &'static str,
    },
    /// Dtypes that are not supported together.
    Types {
        /// The dtypes of C, A and B.
        types: [DType; 3],
    },
    /// An N that is not supported.
    Columns {
        /// N.
        n: i64,
        /// The values of N that these dtypes support.
        accepted: &'static str,
    },
    /// Majors that are not supported.
    Majors {
        /// The contiguous modes of A and B.
        majors: [&'static str; 2],
    },
    /// An operation, such as `xor.popc`, that the dtypes do not support.
    Product {
        /// The operation.
        product: &'static str,
        /// The operations that they support.
        accepted: &'static str,
    },
}

impl WgmmaError {
    /// The names of all variants, in order.
    pub const KINDS: &[&str] = &["Kind", "Types", "Columns", "Majors", "Product"];

    /// The name of the variant.
    pub const fn kind(&self) -> &'static str {
        match self {
            WgmmaError::Kind { .. } => "Kind",
            WgmmaError::Types { .. } => "Types",
            WgmmaError::Columns { .. } => "Columns",
            WgmmaError::Majors { .. } => "Majors",
            WgmmaError::Product { .. } => "Product",
        }
    }

    /// Appends the text of the error, also in constant evaluation.
    pub(crate) const fn explain(&self, line: &mut Message) {
        match self {
            WgmmaError::Kind { kind } => {
                line.text("wgmma of kind ");
                line.text(kind);
                line.text(": WgmmaSs and WgmmaRs are accepted");
            }
            WgmmaError::Types { types: [c, a, b] } => {
                line.text("wgmma of C, A, B of ");
                list(line, &[c.format().cute, a.format().cute, b.format().cute]);
                line.text(
                    ": f32 or f16 from f16 or from 8-bit floats, f32 from bf16 or tf32, and s32 from 8-bit integers or bits are accepted",
                );
            }
            WgmmaError::Columns { n, accepted } => {
                line.text("wgmma with N = ");
                line.text(if *n < 0 { "-" } else { "" });
                line.number(n.unsigned_abs() as usize);
                line.text(": ");
                line.text(accepted);
                line.text(" are accepted");
            }
            WgmmaError::Majors { majors } => {
                line.text("wgmma with contiguous modes ");
                list(line, majors);
                line.text(" of A, B: K is accepted, and in shared memory MN for elements of 16 bits");
            }
            WgmmaError::Product { product, accepted } => {
                line.text("wgmma by ");
                line.text(product);
                line.text(": ");
                line.text(accepted);
                line.text(" is accepted");
            }
        }
    }
}

impl fmt::Display for WgmmaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Message::EMPTY;
        self.explain(&mut line);
        f.write_str(line.as_str())
    }
}

impl std::error::Error for WgmmaError {}

/// Appends the names in brackets.
const fn list(line: &mut Message, names: &[&str]) {
    line.text("[");
    let mut i = 0;
    while i < names.len() {
        line.text(if i > 0 { ", " } else { "" });
        line.text(names[i]);
        i += 1;
    }
    line.text("]");
}
