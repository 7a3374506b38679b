//! Facts about a module in addition to its text: the lines of a program that wrote each line of the text, and that program's claims about registers
//! and about the parameters of a launch. The text does not change for the notes, so the same text runs on a GPU and on the simulator. The simulator
//! names the program's lines in its findings and checks the claims about registers; a device checks the parameters of a launch.

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

/// A fact about a number: the number is a multiple of `multiple` in `lower..=upper`.
///
/// A number of 64 bits is signed; one of 32 bits is signed if `lower` is negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    /// The least value.
    pub lower: i64,
    /// The greatest value.
    pub upper: i64,
    /// A divisor of every value, at least 1.
    pub multiple: i64,
    /// The place in the program that claims the fact.
    pub site: Site,
}

impl Fact {
    /// Whether the fact is true of the number whose bits are `value`, in a register or a parameter of `bits` bits.
    ///
    /// # Examples
    /// ```
    /// use girih_ptx::{Fact, Site};
    ///
    /// let site = Site { file: "kernel.rs".into(), line: 7, column: 9 };
    /// let fact = Fact { lower: -4, upper: 64, multiple: 4, site };
    /// assert!(fact.holds(32, 60) && fact.holds(32, 0xffff_fffc));
    /// assert!(!fact.holds(32, 61) && !fact.holds(32, 68));
    /// assert_eq!(fact.accepted(), "multiples of 4 from -4 to 64");
    /// ```
    pub fn holds(&self, bits: u32, value: u64) -> bool {
        let value = self.value(bits, value);
        (self.lower..=self.upper).contains(&value) && value % self.multiple.max(1) == 0
    }

    /// The number that the bits `value` stand for, signed as this fact is.
    pub fn value(&self, bits: u32, value: u64) -> i64 {
        match bits {
            64 => value as i64,
            _ if self.lower < 0 => i64::from(value as u32 as i32),
            _ => i64::from(value as u32),
        }
    }

    /// The numbers that the fact is true of, in words.
    pub fn accepted(&self) -> String {
        let Fact { lower, upper, multiple, .. } = self;
        let what = if *multiple > 1 { format!("multiples of {multiple}") } else { String::from("values") };
        format!("{what} from {lower} to {upper}")
    }
}

/// A fact about a register in every thread that executes a line of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The line of the text after whose instruction or label the fact holds, from 1.
    pub line: u32,
    /// The register.
    pub register: Name,
    /// The fact, and the place in the program that claims it.
    pub fact: Fact,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fact { lower, upper, multiple, site } = &self.fact;
        write!(f, "{site} claims {} in {lower}..={upper}", self.register)?;
        if *multiple > 1 { write!(f, ", a multiple of {multiple}") } else { Ok(()) }
    }
}

/// The facts about a kernel's launches, from the program that wrote the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchNotes {
    /// The kernel.
    pub kernel: Name,
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// Facts about parameters, by the parameters' names, on which the kernel's text relies.
    pub facts: Vec<(Name, Fact)>,
}

/// Facts about a module in addition to its text. The notes are valid for that text alone: they are ignored in a module that has been changed since.
///
/// Notes are not part of a module's meaning: any two notes compare equal.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    claims: Vec<Claim>,
    sites: Vec<(u32, Site)>,
    launches: Vec<LaunchNotes>,
    /// Lines of predicated instructions whose results are undefined in threads that do not execute them.
    undefined: Vec<u32>,
    /// A hash of the text that the notes are about.
    text: u64,
}

impl PartialEq for Notes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Notes {}

impl Notes {
    /// Claims about lines of `text`, and for a line the place in the program that wrote the line.
    pub fn new(text: &str, mut claims: Vec<Claim>, mut sites: Vec<(u32, Site)>) -> Notes {
        claims.sort_by_key(|claim| claim.line);
        sites.sort_by_key(|(line, _)| *line);
        Notes { claims, sites, text: hash(text), ..Notes::default() }
    }

    /// The same notes with lines of predicated instructions that write registers in the threads that execute them, and leave them undefined in
    /// all others, whatever they held before.
    pub fn with_undefined(self, mut lines: Vec<u32>) -> Notes {
        lines.sort_unstable();
        Notes { undefined: lines, ..self }
    }

    /// The same notes with what is known of the launches of the module's kernels.
    pub fn with_launches(self, launches: Vec<LaunchNotes>) -> Notes {
        Notes { launches, ..self }
    }

    /// Whether the notes are about `text`.
    pub fn are_of(&self, text: &str) -> bool {
        self.text == hash(text)
    }

    /// The claims, in ascending order of lines.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The place in the program that wrote line `line`.
    pub fn site(&self, line: u32) -> Option<&Site> {
        let at = self.sites.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        Some(&self.sites[at].1)
    }

    /// The lines of which the writer is known, in ascending order.
    pub(crate) fn sites(&self) -> &[(u32, Site)] {
        &self.sites
    }

    /// Whether the results of the instruction of line `line` are undefined in threads that do not execute it, since its predicate is false.
    pub fn leaves_undefined(&self, line: u32) -> bool {
        self.undefined.binary_search(&line).is_ok()
    }

    /// The lines whose instructions leave results undefined, in ascending order.
    pub(crate) fn undefined(&self) -> &[u32] {
        &self.undefined
    }

    /// The facts about all launches.
    pub(crate) fn launches(&self) -> &[LaunchNotes] {
        &self.launches
    }

    /// The facts about a kernel's launches.
    pub fn launch(&self, kernel: &str) -> Option<&LaunchNotes> {
        self.launches.iter().find(|launch| &*launch.kernel == kernel)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
            && self.sites.is_empty()
            && self.launches.is_empty()
            && self.undefined.is_empty()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
