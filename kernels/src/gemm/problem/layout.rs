//! The layouts of a problem's matrices.

use girih_codegen::gemm::Major;

use crate::Error;

/// Which modes of A and B are contiguous, as BLAS and CuTe name it: the first letter `t` means that A is K-contiguous,
/// `n` that it is M-contiguous; the second letter `n` means that B is K-contiguous, `t` that it is N-contiguous.
///
/// torch's `a @ b.T` on row-major tensors is `tn`, its `a @ b` is `tt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A and B K-contiguous.
    Tn,
    /// A K-contiguous, B N-contiguous.
    Tt,
    /// A M-contiguous, B K-contiguous.
    Nn,
    /// A M-contiguous, B N-contiguous.
    Nt,
}

impl Layout {
    /// The four layouts.
    pub const ALL: [Layout; 4] = [Layout::Tn, Layout::Tt, Layout::Nn, Layout::Nt];

    /// The two letters of a layout.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Tn => "tn",
            Layout::Tt => "tt",
            Layout::Nn => "nn",
            Layout::Nt => "nt",
        }
    }

    /// The contiguous modes of A and B.
    pub const fn majors(self) -> [Major; 2] {
        match self {
            Layout::Tn => [Major::K, Major::K],
            Layout::Tt => [Major::K, Major::Mn],
            Layout::Nn => [Major::Mn, Major::K],
            Layout::Nt => [Major::Mn, Major::Mn],
        }
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Layout {
    type Err = Error;
    fn from_str(text: &str) -> Result<Layout, Error> {
        let unknown = || Error::Unknown {
            what: "layout",
            text: text.into(),
            accepted: "tn, tt, nn and nt are accepted",
        };
        Layout::ALL.into_iter().find(|l| l.name() == text).ok_or_else(unknown)
    }
}

/// Whether C's rows or columns are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows: strides `(ldc,1)`.
    Row,
    /// Columns: strides `(1,ldc)`.
    Column,
}

impl std::str::FromStr for Order {
    type Err = Error;
    fn from_str(text: &str) -> Result<Order, Error> {
        match text {
            "row" => Ok(Order::Row),
            "column" => Ok(Order::Column),
            _ => Err(Error::Unknown {
                what: "order",
                text: text.into(),
                accepted: "row and column are accepted",
            }),
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Order::Row { "row" } else { "column" })
    }
}
