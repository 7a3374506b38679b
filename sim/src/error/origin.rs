//! The source line that an instruction was compiled from.

use std::fmt;
use std::sync::Arc;

/// The source line that an instruction was compiled from, as the compiler's `.loc` directives say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file's path, as it was given to the compiler.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if the compiler gave none.
    pub column: u32,
    /// If the line belongs to an inlined function: the function, and the line at which it was inlined.
    pub inlined: Option<(Arc<str>, Arc<Origin>)>,
}

impl Origin {
    /// The file's name without its folder.
    pub fn file_name(&self) -> &str {
        self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file)
    }

    /// This line, then the lines at which the functions around it were inlined, from the inside out.
    pub fn chain(&self) -> impl Iterator<Item = &Origin> {
        std::iter::successors(Some(self), |origin| origin.inlined.as_ref().map(|(_, at)| &**at))
    }
}

/// `reduce.cuh:7 in sum, inlined at kernel.cu:42`
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file_name(), self.line)?;
        let Some((function, at)) = &self.inlined else { return Ok(()) };
        write!(f, " in {}, inlined at {at}", plain(function))
    }
}

/// The name of a function without C++'s mangling. Only nested names are demangled; others stay as they are.
fn plain(name: &str) -> String {
    let parts = || {
        let mangled = name.strip_prefix("_Z")?;
        let (mut rest, nested) = match mangled.strip_prefix('N') {
            Some(nested) => (nested.trim_start_matches(['K', 'V', 'r']), true),
            None => (mangled.strip_prefix('L').unwrap_or(mangled), false),
        };
        let mut parts = Vec::new();
        while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&digits| digits > 0) {
            let length: usize = rest[..digits].parse().ok()?;
            let end = digits.checked_add(length)?;
            parts.push(rest.get(digits..end)?);
            rest = &rest[end..];
            if !nested {
                break;
            }
        }
        (!parts.is_empty()).then(|| parts.join("::"))
    };
    parts().unwrap_or_else(|| name.into())
}
