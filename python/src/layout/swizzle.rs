//! Swizzles, and swizzled layouts.

use girih::layout::{Composed, Error as LayoutError, Int, Lay, Stride, Tile, Tiler, Tiles};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyInt, PyTuple};

use super::{Layout, has_none, indices, of_arguments, part_of, picture};
use crate::error::{Result, wrong_type};
use crate::tuple::{coord, modes, number};

/// `bits` bits from `base` on are joined by exclusive or with those that are `shift` places further left.
#[pyclass(frozen, module = "girih", eq, hash)]
#[derive(PartialEq, Hash)]
pub(crate) struct Swizzle(pub(crate) girih::layout::Swizzle);

#[pymethods]
impl Swizzle {
    #[new]
    fn new(bits: i64, base: i64, shift: i64) -> Result<Self> {
        let refused = || {
            let given = format!("Swizzle({bits}, {base}, {shift})");
            PyValueError::new_err(format!(
                "{given}: bits and base from 0 on and a shift of 32 bits are accepted"
            ))
        };
        let (Ok(bits), Ok(base), Ok(shift)) = (bits.try_into(), base.try_into(), shift.try_into()) else {
            return Err(refused().into());
        };
        Ok(Swizzle(girih::layout::Swizzle::new(bits, base, shift)?))
    }

    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    #[getter]
    fn base(&self) -> u32 {
        self.0.base()
    }

    #[getter]
    fn shift(&self) -> i32 {
        self.0.shift()
    }

    fn __call__(&self, offset: i64) -> i64 {
        self.0.apply(offset)
    }

    /// How many indices there are before the pattern begins again.
    fn size(&self) -> i64 {
        self.0.period()
    }

    /// As `size`: a swizzle permutes indices.
    fn cosize(&self) -> i64 {
        self.0.period()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Swizzle({}, {}, {})", self.0.bits(), self.0.base(), self.0.shift())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (u32, u32, i32))> {
        Ok((py.get_type::<Swizzle>().into_any(), (self.0.bits(), self.0.base(), self.0.shift())))
    }
}

/// A swizzle after an offset after a layout: `swizzle(offset + layout(crd))`.
#[pyclass(frozen, module = "girih", eq, hash)]
#[derive(PartialEq, Hash)]
pub(crate) struct ComposedLayout(pub(crate) Composed);

#[pymethods]
impl ComposedLayout {
    #[new]
    #[pyo3(signature = (swizzle, offset, layout))]
    fn new(swizzle: &Swizzle, offset: i64, layout: &Layout) -> Self {
        ComposedLayout(Composed::new(swizzle.0, offset, layout.0))
    }

    /// The outer function, under pycute's name.
    #[getter(layoutB)]
    fn layout_b(&self) -> Swizzle {
        Swizzle(self.0.swizzle())
    }

    #[getter]
    fn swizzle(&self) -> Swizzle {
        Swizzle(self.0.swizzle())
    }

    #[getter]
    fn offset(&self) -> i64 {
        self.0.offset()
    }

    /// The inner layout, under pycute's name.
    #[getter(layoutA)]
    fn layout_a(&self) -> Layout {
        Layout(*self.0.layout())
    }

    #[getter]
    fn layout(&self) -> Layout {
        Layout(*self.0.layout())
    }

    fn size<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        crate::tuple::int(py, self.0.layout().size()?)
    }

    fn cosize<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        crate::tuple::int(py, self.0.cosize()?)
    }

    /// The number of modes.
    fn rank(&self) -> usize {
        self.0.layout().rank()
    }

    fn __len__(&self) -> usize {
        self.0.layout().rank()
    }

    /// A mode, or with a slice several as a layout.
    fn __getitem__(&self, mode: &Bound<'_, PyAny>) -> Result<ComposedLayout> {
        let layout = part_of(self.0.layout(), mode)?;
        Ok(ComposedLayout(Composed::new(self.0.swizzle(), self.0.offset(), layout)))
    }

    /// The index of a coordinate; with `None` in it, the layout of the modes under `None`. As in CuTe, the last mode goes on past its end:
    /// `at` refuses that.
    #[pyo3(signature = (*crd))]
    fn __call__<'py>(&self, crd: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyAny>> {
        let at = of_arguments(crd)?;
        if has_none(&at) {
            return Operand::from(self.0.slice(&coord(&at)?)?).into_python(crd.py());
        }
        let at = coord(&at)?;
        let index = match self.0.layout().index_extended(&at)?.get() {
            Some(index) => {
                let index = index.checked_add(self.0.offset());
                self.0.swizzle().apply(index.ok_or(LayoutError::Overflow { op: "an index" })?)
            }
            // The error of a symbol.
            None => self.0.crd2idx(&at)?,
        };
        Ok(PyInt::new(crd.py(), index).into_any())
    }

    /// The index of a coordinate of the domain; any other coordinate is an error.
    #[pyo3(signature = (*crd))]
    fn at(&self, crd: &Bound<'_, PyTuple>) -> Result<i64> {
        Ok(self.0.crd2idx(&coord(&of_arguments(crd)?)?)?)
    }

    /// The indices at all positions in order, as the bytes of int64.
    fn _indices(&self, py: Python<'_>) -> Result<Py<PyByteArray>> {
        indices(py, Operand::Swizzled(self.0))
    }

    /// A picture of the index in each cell, as SVG.
    fn svg(&self) -> Result<String> {
        Ok(picture::indices(Operand::Swizzled(self.0))?.svg())
    }

    fn _repr_svg_(&self) -> Option<String> {
        picture::in_notebook(Operand::Swizzled(self.0))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Swizzle, i64, Layout))> {
        Ok((py.get_type::<ComposedLayout>().into_any(), (self.swizzle(), self.offset(), self.layout())))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let Swizzle(swizzle) = self.swizzle();
        let [bits, base, shift] = [i64::from(swizzle.bits()), swizzle.base().into(), swizzle.shift().into()];
        format!(
            "ComposedLayout(Swizzle({bits}, {base}, {shift}), {}, Layout('{}'))",
            self.0.offset(),
            self.0.layout()
        )
    }
}

/// A layout, swizzled or not.
pub(crate) enum Operand {
    Plain(Lay),
    Swizzled(Composed),
}

/// `n:1`
fn line(extent: i64) -> Result<Lay> {
    Ok(Lay::leaf(Int::value(extent), Stride::Int(Int::fixed(1)))?)
}

impl Operand {
    /// A layout, or an int `n` for `n:1`.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> Result<Operand> {
        if let Ok(layout) = object.cast::<Layout>() {
            return Ok(Operand::Plain(layout.get().0));
        }
        if let Ok(composed) = object.cast::<ComposedLayout>() {
            return Ok(Operand::Swizzled(composed.get().0));
        }
        match number(object)? {
            Some(extent) => Ok(Operand::Plain(line(extent)?)),
            None => Err(wrong_type("a layout", "a Layout, a ComposedLayout or an int", object)),
        }
    }

    pub(crate) fn into_python(self, py: Python<'_>) -> Result<Bound<'_, PyAny>> {
        Ok(match self {
            Operand::Plain(lay) => Bound::new(py, Layout(lay))?.into_any(),
            Operand::Swizzled(composed) => Bound::new(py, ComposedLayout(composed))?.into_any(),
        })
    }
}

impl From<Lay> for Operand {
    fn from(lay: Lay) -> Self {
        Operand::Plain(lay)
    }
}

impl From<Composed> for Operand {
    fn from(composed: Composed) -> Self {
        Operand::Swizzled(composed)
    }
}

/// A layout that is not swizzled, or an int `n` for `n:1`.
pub(crate) fn plain(object: &Bound<'_, PyAny>) -> Result<Lay> {
    match Operand::of(object)? {
        Operand::Plain(lay) => Ok(lay),
        Operand::Swizzled(_) => Err(wrong_type("this operand", "a Layout or an int", object)),
    }
}

/// A tiler: a layout, an int `n` for `n:1`, or a tuple of tilers for the modes, in which None keeps a mode.
pub(crate) fn tiler(object: &Bound<'_, PyAny>) -> Result<Tiler> {
    match modes(object) {
        Some(modes) => Ok(Tiler::Modes(tiles(&modes, 1)?)),
        None => Ok(Tiler::Lay(plain(object)?)),
    }
}

fn tiles(modes: &[Bound<'_, PyAny>], depth: usize) -> Result<Tiles> {
    if depth > girih::layout::MAX_DEPTH {
        return Err(girih::layout::Error::Capacity { op: "a tiler" }.into());
    }
    let tile = |object: &Bound<'_, PyAny>| -> Result<Tile> {
        if object.is_none() {
            return Ok(Tile::All);
        }
        match self::modes(object) {
            Some(modes) => Ok(Tile::Modes(tiles(&modes, depth + 1)?)),
            None => Ok(Tile::Lay(plain(object)?)),
        }
    };
    Ok(Tiles::new(&modes.iter().map(tile).collect::<Result<Vec<_>>>()?)?)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Swizzle>()?;
    module.add_class::<ComposedLayout>()
}
