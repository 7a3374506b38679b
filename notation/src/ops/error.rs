//! The errors of operations by name.

use std::fmt;

use crate::marked::Marked;

/// Why an operation has no result.
#[derive(Debug)]
pub enum OpError {
    /// There is no operation of this name.
    Unsupported,
    /// An argument is missing or of the wrong type.
    Args {
        /// The name of the argument.
        name: String,
        /// The expected argument.
        expected: &'static str,
    },
    /// The text of an argument is malformed.
    Text {
        /// The name of the argument.
        name: String,
        /// The text of the argument.
        text: String,
        /// The error in the text.
        source: Box<girih_layout::Error>,
    },
    /// The operation refuses its operands.
    Layout {
        /// Why the operation refuses its operands.
        source: girih_layout::Error,
    },
}

impl OpError {
    /// The name of the kind of error, which stays the same from version to version.
    pub fn kind(&self) -> &'static str {
        match self {
            OpError::Unsupported => "unsupported",
            OpError::Args { .. } => "args",
            OpError::Text { source, .. } => source.kind(),
            OpError::Layout { source } => source.kind(),
        }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpError::Unsupported => f.write_str("there is no such operation"),
            OpError::Args { name, expected } => write!(f, "argument {name:?} must be {expected}"),
            OpError::Text { name, text, source } => {
                write!(f, "argument {name:?}: {}", Marked::of(**source, text))
            }
            OpError::Layout { source } => source.fmt(f),
        }
    }
}

impl std::error::Error for OpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpError::Text { source, .. } => Some(source),
            OpError::Layout { source } => Some(source),
            _ => None,
        }
    }
}

impl From<girih_layout::Error> for OpError {
    fn from(source: girih_layout::Error) -> OpError {
        OpError::Layout { source }
    }
}
