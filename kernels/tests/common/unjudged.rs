//! Results of random problems that the check cannot judge.

use std::fmt;

/// The bounds of a problem's results are too wide to say anything about them.
#[derive(Debug)]
pub(crate) struct Unjudged(pub(crate) String);

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unjudged {}
