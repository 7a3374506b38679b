//! The source line that an instruction was compiled from.

use std::fmt;
use std::sync::Arc;

use crate::plain_name;

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

/// Folders and names of the headers that come with compilers, which are not the user's.
const TOOLKIT: [&str; 9] = [
    "/include/cuda",
    "/include/crt/",
    "/cccl/",
    "/cub/",
    "/thrust/",
    "/libcudacxx/",
    "/cooperative_groups",
    "/nvidia/cu",
    "/triton/language/",
];
const HEADERS: [&str; 6] =
    ["cuda_", "sm_", "device_atomic_functions", "math_functions", "vector_functions", "mma.h"];

impl Origin {
    /// Whether the line is in a header of the toolkit.
    fn is_toolkit(&self) -> bool {
        let header =
            self.file_name().rsplit('.').next().is_some_and(|end| matches!(end, "h" | "hpp" | "cuh" | "py"));
        let named = HEADERS.iter().any(|name| self.file_name().starts_with(name));
        TOOLKIT.iter().any(|folder| self.file.contains(folder)) || header && named
    }

    /// The innermost line of the [chain](Origin::chain) that is the user's own, and not in a header of the toolkit; the
    /// innermost of all if none is.
    pub fn innermost(&self) -> &Origin {
        self.chain().find(|origin| !origin.is_toolkit()).unwrap_or(self)
    }
}

/// The innermost and the outermost line of the user's: `reduce.cuh:7 in sum, inlined at kernel.cu:42`. Lines between
/// these are left out.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.innermost();
        write!(f, "{}:{}", inner.file_name(), inner.line)?;
        let Some((function, at)) = &inner.inlined else { return Ok(()) };
        write!(f, " in {}, ", plain_name(function))?;
        let mut around = at.chain().filter(|origin| !origin.is_toolkit());
        let (first, last) = (around.next().unwrap_or(at), around.last());
        if last.is_some() {
            f.write_str("..., ")?;
        }
        let outer = last.unwrap_or(first);
        write!(f, "inlined at {}:{}", outer.file_name(), outer.line)
    }
}
