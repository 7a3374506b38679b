//! Pictures, for notebooks.

use std::fs;
use std::path::{Path, PathBuf};

use girih::layout::Composed;
use girih::picture::{By, Sheet};
use girih_notation::find;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::swizzle::{Operand, plain};
use crate::error::{PictureError, Result};
use crate::tuple;

/// Tables of coloured cells: a layout's indices, who owns what of a tile or of an instruction, the banks of shared memory. A notebook shows it;
/// `svg()` is it as SVG, `str()` as text, and `save(path)` writes a file.
#[pyclass(frozen, module = "girih")]
pub(crate) struct Picture {
    sheet: Sheet,
    /// The static method that has made it and its arguments, by which it is pickled.
    made: (&'static str, Py<PyTuple>, Py<PyDict>),
}

/// A layout, swizzled or not, as a swizzled one.
pub(crate) fn composed(operand: Operand) -> Composed {
    match operand {
        Operand::Plain(lay) => lay.into(),
        Operand::Swizzled(composed) => composed,
    }
}

/// The index in each cell.
pub(crate) fn indices(operand: Operand) -> Result<Sheet> {
    Ok(Sheet::indices(&composed(operand))?)
}

/// Who owns each place of a tile.
pub(crate) fn owners(layout: Operand, tile: &Bound<'_, PyAny>) -> Result<Sheet> {
    Ok(Sheet::owners(composed(layout).layout(), &tuple::shape(tile)?)?)
}

/// What a notebook shows of a layout that is alone in a cell: nothing where the picture would be large, since the notebook stores it.
pub(crate) fn in_notebook(operand: Operand) -> Option<String> {
    const CELLS: i64 = 64 * 64;

    let layout = composed(operand);
    let size = layout.layout().size().ok()?.get().filter(|&size| size <= CELLS);
    size.and_then(|_| Some(Sheet::indices(&layout).ok()?.svg()))
}

/// A colour such as `#ffcc00`.
fn colour(text: &str) -> Result<u32> {
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6);
    hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{text:?} is no colour: '#' and six hexadecimal digits are accepted, such as '#ffcc00'"
        ))
        .into()
    })
}

impl Picture {
    fn new<'py>(
        py: Python<'py>,
        sheet: Sheet,
        method: &'static str,
        args: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    ) -> Result<Self> {
        Ok(Picture { sheet, made: (method, args.into_pyobject(py)?.unbind(), PyDict::new(py).unbind()) })
    }
}

#[pymethods]
impl Picture {
    /// The index in each cell of a layout: mode 0 counts rows, the modes after it columns. With `tile`, of (thread, value) -> place in a tile of
    /// that shape: who owns each place.
    ///
    /// Colours: `together` neighbouring indices share a grey, by itself those that a swizzle moves together; with `dtype` an index has the colour
    /// of the bank of shared memory in which the element is; `colours` such as `['#ffffff', '#ffcc00']` take the place of the greys.
    #[staticmethod]
    #[pyo3(signature = (layout, tile = None, *, together = None, dtype = None, colours = None))]
    fn layout(
        layout: &Bound<'_, PyAny>,
        tile: Option<&Bound<'_, PyAny>>,
        together: Option<i64>,
        dtype: Option<&str>,
        colours: Option<Vec<String>>,
    ) -> Result<Self> {
        let py = layout.py();
        let whole = |by| Ok(Sheet::indices_by(&composed(Operand::of(layout)?), by)?);
        let sheet: Result<Sheet> = match (tile, together, dtype, &colours) {
            (None, None, None, None) => indices(Operand::of(layout)?),
            (Some(tile), None, None, None) => owners(Operand::Plain(plain(layout)?), tile),
            (None, Some(together), None, None) => whole(By::Together(together)),
            (None, None, Some(dtype), None) => whole(By::Bank(find::dtype(dtype)?.bits())),
            (None, None, None, Some(colours)) => {
                let colours = colours.iter().map(|text| colour(text)).collect::<Result<Vec<_>>>()?;
                Ok(Sheet::indices_in(&composed(Operand::of(layout)?), &colours)?)
            }
            _ => Err(PyValueError::new_err("one of tile, together, dtype and colours is accepted").into()),
        };
        let options = PyDict::new(py);
        options.set_item("together", together)?;
        options.set_item("dtype", dtype)?;
        options.set_item("colours", colours)?;
        let args = PyTuple::new(py, [Some(layout), tile])?;
        Ok(Picture { sheet: sheet?, made: ("layout", args.unbind(), options.unbind()) })
    }

    /// Which thread holds what of A, B and C in an instruction, by CuTe's name, such as `SM80_16x8x16_F32BF16BF16F32_TN`.
    #[staticmethod]
    fn mma(py: Python<'_>, name: &str) -> Result<Self> {
        Picture::new(py, Sheet::mma(&find::mma(name)?)?, "mma", (name,))
    }

    /// What a copy moves from which thread to which thread, in cells of `unit` bits, by CuTe's name, such as `SM75_U32x4_LDSM_N`.
    #[staticmethod]
    #[pyo3(signature = (name, unit = 32))]
    fn copy(py: Python<'_>, name: &str, unit: i64) -> Result<Self> {
        Picture::new(py, Sheet::copy(&find::copy(name)?, unit)?, "copy", (name, unit))
    }

    /// The banks of a tile in shared memory; with `access`, (thread, value) -> element of the tile, how many words it takes from each at a time.
    #[staticmethod]
    #[pyo3(signature = (layout, dtype, access = None, vector = 1))]
    fn banks(
        layout: &Bound<'_, PyAny>,
        dtype: &str,
        access: Option<&Bound<'_, PyAny>>,
        vector: i64,
    ) -> Result<Self> {
        let by = access.map(plain).transpose()?;
        let element = dtype.parse().map_err(girih::kernels::Error::from)?;
        let sheet = Sheet::banks(&composed(Operand::of(layout)?), element, by.as_ref(), vector)?;
        Picture::new(layout.py(), sheet, "banks", (layout, dtype, access, vector))
    }

    /// The picture as SVG.
    fn svg(&self) -> String {
        self.sheet.svg()
    }

    /// The picture as a LaTeX document (TikZ).
    fn latex(&self) -> String {
        self.sheet.latex()
    }

    /// Writes the picture to a file, as what the name ends with: `.svg`; `.svgz`, which is small and what browsers show, too; `.tex`, a LaTeX
    /// document, of which `pdflatex` makes a PDF; or `.txt`. Any other ending is an error.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        let bytes = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => self.sheet.svg().into_bytes(),
            Some("svgz") => {
                let compressed = py
                    .import("gzip")?
                    .call_method1("compress", (PyBytes::new(py, self.sheet.svg().as_bytes()),))?;
                compressed.extract()?
            }
            Some("tex") => self.sheet.latex().into_bytes(),
            Some("txt") => self.sheet.text().into_bytes(),
            _ => return Err(no_ending(&path)),
        };
        Ok(fs::write(&path, bytes).map_err(PyErr::from)?)
    }

    fn _repr_svg_(&self) -> String {
        self.sheet.svg()
    }

    fn __str__(&self) -> String {
        self.sheet.text()
    }

    fn __repr__(&self) -> String {
        format!("<girih.Picture of {}>", self.sheet.title)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Py<PyTuple>)> {
        let (method, args, options) = &self.made;
        let method = py.get_type::<Picture>().getattr(*method)?;
        let method = py.import("functools")?.call_method("partial", (method,), Some(options.bind(py)))?;
        Ok((method, args.clone_ref(py)))
    }
}

/// Refuses a name of a file that does not say what is to be written.
fn no_ending(path: &Path) -> crate::error::Error {
    let path = path.display();
    PictureError::new_err(format!(
        "{path}: pictures are written as .svg, .svgz, .tex and .txt; of an SVG, `rsvg-convert -f png` or `-f pdf` makes the others"
    ))
    .into()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Picture>()
}
