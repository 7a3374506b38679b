//! Element types from their names.

use std::str::FromStr;

use crate::{DType, Error};

impl FromStr for DType {
    type Err = Error;

    /// Parses a dtype's name.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// assert_eq!("bf16".parse(), Ok(DType::Bf16));
    /// assert!("fp4".parse::<DType>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<DType, Error> {
        let found = DType::ALL.iter().find(|d| d.name() == text);
        found.copied().ok_or_else(|| Error::UnknownDType(text.to_string()))
    }
}
