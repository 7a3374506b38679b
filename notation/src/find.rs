//! Dtypes and atoms by name.
//!
//! # Examples
//! ```
//! use girih_notation::find;
//!
//! assert_eq!(find::dtype("bf16")?.bits(), 16);
//! let error = find::mma("SM80_16x8x16_F32BF16BF16F32").expect_err("no atom").to_string();
//! assert!(error.contains("SM80_16x8x16_F32BF16BF16F32_TN"));
//! # Ok::<(), girih_notation::Error>(())
//! ```

use girih_codegen::atom::{CopyAtom, MmaAtom};
use girih_tensor::DType;

use crate::Error;
use crate::names::near;

/// The dtype of a name.
///
/// # Errors
/// [`Error::UnknownDType`].
pub fn dtype(text: &str) -> Result<DType, Error> {
    let near = || near(text, DType::ALL.iter().map(|dtype| dtype.name()));
    text.parse().map_err(|source| Error::UnknownDType { source: Box::new(source), near: near() })
}

/// The MMA atom with CuTe's name.
///
/// # Errors
/// [`Error::UnknownAtom`].
pub fn mma(name: &str) -> Result<MmaAtom, Error> {
    MmaAtom::find(name).ok_or_else(|| unknown(name, MmaAtom::all().map(|atom| atom.name())))
}

/// The copy atom with CuTe's name.
///
/// # Errors
/// [`Error::UnknownAtom`].
pub fn copy(name: &str) -> Result<CopyAtom, Error> {
    CopyAtom::find(name).ok_or_else(|| unknown(name, CopyAtom::all().iter().map(CopyAtom::name)))
}

/// The error for a name that no atom has, with the names of atoms that are most like it.
fn unknown(name: &str, all: impl Iterator<Item = String>) -> Error {
    Error::UnknownAtom { name: name.into(), near: near(name, all) }
}
