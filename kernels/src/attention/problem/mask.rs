//! Masks: causal, and windows to the left and to the right.

use std::ops::Range;

use girih_codegen::attention::MAX_LENGTH;

use super::{Problem, check_within};
use crate::Error;

/// Which key belongs to query 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// Key 0.
    #[default]
    TopLeft,
    /// The one for which the last query and the last key belong together: key `keys - queries`, which may be negative.
    BottomRight,
}

impl Diagonal {
    /// The key that belongs to query 0.
    pub fn key(self, queries: i64, keys: i64) -> i64 {
        if self == Diagonal::BottomRight { keys - queries } else { 0 }
    }
}

impl std::str::FromStr for Diagonal {
    type Err = Error;
    fn from_str(text: &str) -> Result<Diagonal, Error> {
        let accepted = "top-left and bottom-right are accepted";
        match text {
            "top-left" => Ok(Diagonal::TopLeft),
            "bottom-right" => Ok(Diagonal::BottomRight),
            _ => Err(Error::Unknown { what: "diagonal", text: text.into(), accepted }),
        }
    }
}

impl std::fmt::Display for Diagonal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Diagonal::TopLeft { "top-left" } else { "bottom-right" })
    }
}

/// Which keys a query sees: those from `left` before its own key to `right` after it, of which either may have no limit.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Diagonal, Mask};
///
/// assert_eq!(Mask::NONE.keys(3, 10, 8), 0..8);
/// assert_eq!(Mask::causal(Diagonal::TopLeft).keys(3, 10, 8), 0..4);
/// // The last of 10 queries sees the last of 8 keys, so that the first two see none.
/// assert_eq!(Mask::causal(Diagonal::BottomRight).keys(3, 10, 8), 0..2);
/// assert!(Mask::causal(Diagonal::BottomRight).keys(1, 10, 8).is_empty());
/// // Two keys before its own and none after it.
/// assert_eq!(Mask::window(Some(2), Some(0), Diagonal::TopLeft).keys(6, 10, 8), 4..7);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mask {
    left: Option<i64>,
    right: Option<i64>,
    diagonal: Diagonal,
}

impl Mask {
    /// A query sees all keys.
    pub const NONE: Mask = Mask { left: None, right: None, diagonal: Diagonal::TopLeft };

    /// A query sees its own key and those before it.
    pub const fn causal(diagonal: Diagonal) -> Mask {
        Mask { left: None, right: Some(0), diagonal }
    }

    /// A query sees `left` keys before its own and `right` after it; all of them without a number.
    pub const fn window(left: Option<i64>, right: Option<i64>, diagonal: Diagonal) -> Mask {
        Mask { left, right, diagonal }
    }

    /// How many keys before its own a query sees, if not all.
    pub fn left(&self) -> Option<i64> {
        self.left
    }

    /// How many keys after its own a query sees, if not all.
    pub fn right(&self) -> Option<i64> {
        self.right
    }

    /// Which key belongs to query 0.
    pub fn diagonal(&self) -> Diagonal {
        self.diagonal
    }

    /// Whether queries see all keys.
    pub fn is_none(&self) -> bool {
        self.left.is_none() && self.right.is_none()
    }

    /// The keys that a query of a sequence sees; an empty range if it sees none.
    pub fn keys(&self, query: i64, queries: i64, keys: i64) -> Range<i64> {
        let own = query + self.diagonal.key(queries, keys);
        let begin = self.left.map_or(0, |left| (own - left).clamp(0, keys));
        let end = self.right.map_or(keys, |right| (own + right + 1).clamp(begin, keys));
        begin..end
    }
}

impl std::fmt::Display for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limit = |keys: Option<i64>| keys.map_or(String::from("all"), |keys| keys.to_string());
        match (self.left, self.right) {
            (None, None) => f.write_str("none"),
            (None, Some(0)) => write!(f, "causal {}", self.diagonal),
            (left, right) => {
                write!(f, "window of {} and {} keys {}", limit(left), limit(right), self.diagonal)
            }
        }
    }
}

impl Problem {
    /// The same with queries that do not see all keys.
    ///
    /// # Errors
    /// [`Error::Extent`] unless each limit is in `0..=`[`MAX_LENGTH`].
    pub fn with_mask(self, mask: Mask) -> Result<Problem, Error> {
        for (what, limit) in [("left", mask.left), ("right", mask.right)] {
            check_within(what, limit.unwrap_or(0), 0, MAX_LENGTH)?;
        }
        Ok(Problem { mask, ..self })
    }

    /// Which keys a query sees.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }
}
