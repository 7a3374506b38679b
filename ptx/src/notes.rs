//! What is known of a module beside its text: which lines of a program wrote it, and what that program claims of registers. The
//! text stays as it is, so that the same text runs on a GPU and on the simulator; the simulator names the lines in what it
//! finds, and checks the claims.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::{fmt, panic::Location, sync::Arc};

use crate::Name;

/// A place in the source of the program that wrote PTX.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The file, as the compiler names it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&Location<'_>> for Site {
    fn from(location: &Location<'_>) -> Site {
        Site { file: location.file().into(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// That a register holds a multiple of `multiple` in `lower..=upper` in every thread that comes by.
///
/// A register of 64 bits is signed; one of 32 bits is signed if `lower` is negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The line of the text after whose instruction or label it holds, from 1.
    pub line: u32,
    /// The register.
    pub register: Name,
    /// The least value.
    pub lower: i64,
    /// The greatest value.
    pub upper: i64,
    /// What divides every value, at least 1.
    pub multiple: i64,
    /// Who claims it.
    pub site: Site,
}

impl Claim {
    /// Whether `value`, the bits of a register of `bits` bits, is one of those claimed.
    ///
    /// # Examples
    /// ```
    /// use girih_ptx::{Claim, Site};
    ///
    /// let site = Site { file: "kernel.rs".into(), line: 7, column: 9 };
    /// let claim = Claim { line: 12, register: "%r3".into(), lower: -4, upper: 64, multiple: 4, site };
    /// assert!(claim.holds(32, 60) && claim.holds(32, 0xffff_fffc));
    /// assert!(!claim.holds(32, 61) && !claim.holds(32, 68));
    /// ```
    pub fn holds(&self, bits: u32, value: u64) -> bool {
        let value = self.value(bits, value);
        (self.lower..=self.upper).contains(&value) && value % self.multiple.max(1) == 0
    }

    /// The number that the bits of the register stand for.
    pub fn value(&self, bits: u32, value: u64) -> i64 {
        match bits {
            64 => value as i64,
            _ if self.lower < 0 => i64::from(value as u32 as i32),
            _ => i64::from(value as u32),
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Claim { register, lower, upper, multiple, site, .. } = self;
        write!(f, "{site} claims {register} in {lower}..={upper}")?;
        if *multiple > 1 { write!(f, ", a multiple of {multiple}") } else { Ok(()) }
    }
}

/// What is known of a module beside its text, good for this text alone: in a module that has been changed since, it is
/// ignored.
///
/// Notes are not part of a module's meaning: all are equal.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    claims: Vec<Claim>,
    sites: Vec<(u32, Site)>,
    /// A hash of the text that the lines are of.
    text: u64,
}

impl PartialEq for Notes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Notes {}

impl Notes {
    /// Claims about lines of `text`, and who wrote which.
    pub fn new(text: &str, mut claims: Vec<Claim>, mut sites: Vec<(u32, Site)>) -> Notes {
        claims.sort_by_key(|claim| claim.line);
        sites.sort_by_key(|(line, _)| *line);
        Notes { claims, sites, text: hash(text) }
    }

    /// Whether `text` is what they are about.
    pub fn are_of(&self, text: &str) -> bool {
        self.text == hash(text)
    }

    /// The claims by ascending lines.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Who wrote a line.
    pub fn site(&self, line: u32) -> Option<&Site> {
        let at = self.sites.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        Some(&self.sites[at].1)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.sites.is_empty()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
