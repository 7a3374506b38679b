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

    /// Of its fields; for `pickle`.
    #[staticmethod]
    fn _of(fields: Fields) -> Site {
        let (kernel, line, instruction, source, block, thread, text) = fields;
        Site { kernel, line, instruction, source, block, thread, text }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Fields,))> {
        let Site { kernel, line, instruction, source, block, thread, text } = self;
        let (kernel, instruction, text) = (kernel.clone(), instruction.clone(), text.clone());
        let fields = (kernel, *line, instruction, source.clone(), *block, *thread, text);
        Ok((py.get_type::<Site>().getattr("_of")?, (fields,)))
    }
}

/// The fields of a place.
type Fields = (String, u32, String, Option<(String, u32)>, [u32; 3], [u32; 3], String);

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
