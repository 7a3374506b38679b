//! Where the simulator has found something.

use girih::sim;
use pyo3::prelude::*;

/// The place of a finding: an instruction, and the thread that executed it.
#[pyclass(frozen, get_all, module = "girih.sim")]
pub(crate) struct Site {
    /// The kernel's name.
    kernel: String,
    /// The line of the PTX text, from 1.
    line: u32,
    /// The instruction, as text.
    instruction: String,
    /// The file and the line that the instruction was compiled from, if the text says that.
    source: Option<(String, u32)>,
    /// `%ctaid`
    block: [u32; 3],
    /// `%tid`
    thread: [u32; 3],
    text: String,
}

#[pymethods]
impl Site {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.text)
    }
}

impl Site {
    pub(crate) fn new(site: &sim::Site) -> Site {
        let place = &site.place;
        Site {
            kernel: place.kernel.to_string(),
            line: place.line,
            instruction: place.instruction.to_string(),
            source: place.origin.as_ref().map(|origin| (origin.file.to_string(), origin.line)),
            block: site.block,
            thread: site.thread,
            text: site.to_string(),
        }
    }
}
