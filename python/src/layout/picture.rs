//! Pictures, for notebooks.

use girih::layout::Composed;
use girih::picture::{By, Sheet};
use girih_notation::find;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::swizzle::{Operand, plain};
use crate::error::Result;
use crate::tuple;

/// Tables of coloured cells: a layout's indices, who owns what of a tile or of an instruction, the banks of shared memory. A notebook shows it;
/// `svg()` is it as SVG, `str()` as text.
#[pyclass(frozen, module = "girih")]
pub(crate) struct Picture(Sheet);

/// A layout, swizzled or not, as a swizzled one.
pub(crate) fn composed(operand: Operand) -> Composed {
    match operand {
        Operand::Plain(lay) => lay.into(),
        Operand::Swizzled(composed) => composed,
    }
}

impl Picture {
    pub(crate) fn indices(operand: Operand) -> Result<Self> {
        Ok(Picture(Sheet::indices(&composed(operand))?))
    }

    /// What a notebook shows of a layout that is alone in a cell: nothing where the picture would be large, since the notebook stores it.
    pub(crate) fn in_notebook(operand: Operand) -> Option<String> {
        const CELLS: i64 = 64 * 64;

        let layout = composed(operand);
        let size = layout.layout().size().ok()?.get().filter(|&size| size <= CELLS);
        size.and_then(|_| Some(Sheet::indices(&layout).ok()?.svg()))
    }

    pub(crate) fn owners(layout: Operand, tile: &Bound<'_, PyAny>) -> Result<Self> {
        Ok(Picture(Sheet::owners(composed(layout).layout(), &tuple::shape(tile)?)?))
    }
}

#[pymethods]
impl Picture {
    /// The index in each cell of a layout of rank 1 or 2. With `tile`, of (thread, value) -> place in a tile of that shape: who owns each place.
    ///
    /// Colours: `together` neighbouring indices share a grey, by itself those that a swizzle moves together; with `dtype` an index has the colour
    /// of the bank of shared memory in which the element is.
    #[staticmethod]
    #[pyo3(signature = (layout, tile = None, *, together = None, dtype = None))]
    fn layout(
        layout: &Bound<'_, PyAny>,
        tile: Option<&Bound<'_, PyAny>>,
        together: Option<i64>,
        dtype: Option<&str>,
    ) -> Result<Self> {
        let by = match (tile, together, dtype) {
            (None, None, None) => return Picture::indices(Operand::of(layout)?),
            (Some(tile), None, None) => return Picture::owners(Operand::Plain(plain(layout)?), tile),
            (None, Some(together), None) => By::Together(together),
            (None, None, Some(dtype)) => By::Bank(find::dtype(dtype)?.bits()),
            _ => return Err(PyValueError::new_err("one of tile, together and dtype is accepted").into()),
        };
        Ok(Picture(Sheet::indices_by(&composed(Operand::of(layout)?), by)?))
    }

    /// Which thread holds what of A, B and C in an instruction, by CuTe's name, such as `SM80_16x8x16_F32BF16BF16F32_TN`.
    #[staticmethod]
    fn mma(name: &str) -> Result<Self> {
        Ok(Picture(Sheet::mma(&find::mma(name)?)?))
    }

    /// What a copy moves from which thread to which thread, in cells of `unit` bits, by CuTe's name, such as `SM75_U32x4_LDSM_N`.
    #[staticmethod]
    #[pyo3(signature = (name, unit = 32))]
    fn copy(name: &str, unit: i64) -> Result<Self> {
        Ok(Picture(Sheet::copy(&find::copy(name)?, unit)?))
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
        let access = access.map(plain).transpose()?;
        let dtype = dtype.parse().map_err(girih::kernels::Error::from)?;
        Ok(Picture(Sheet::banks(&composed(Operand::of(layout)?), dtype, access.as_ref(), vector)?))
    }

    /// The picture as SVG.
    pub(crate) fn svg(&self) -> String {
        self.0.svg()
    }

    fn _repr_svg_(&self) -> String {
        self.0.svg()
    }

    fn __str__(&self) -> String {
        self.0.text()
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Picture>()
}
