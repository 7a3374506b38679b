//! Layouts, swizzled or not, and pictures of them as classes.

mod picture;
pub(crate) mod swizzle;

use std::hash::{DefaultHasher, Hash, Hasher};

use girih::layout::Lay;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PySlice, PyString, PyTuple};

use crate::error::{Error, Result, wrong_type};
use crate::tuple::{self, coord, ints, number, steps, sum};
use picture::composed;
use swizzle::{ComposedLayout, Operand};

/// A function from coordinates to indices: a tree of extents and a congruent tree of strides, `shape:stride`.
///
/// `Layout((2, 4), (1, 2))`, `Layout((2, 4))` (leftmost mode fastest) or `Layout("(2,4):(1,2)")`.
#[pyclass(frozen, module = "girih")]
pub(crate) struct Layout(pub(crate) Lay);

/// A coordinate from the arguments of a call: one, or one for each mode.
pub(crate) fn of_arguments<'py>(args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    match args.len() {
        0 => Err(PyTypeError::new_err("a layout is called with a coordinate: one, or one for each mode")),
        1 => args.get_item(0),
        _ => Ok(args.clone().into_any()),
    }
}

/// Whether a coordinate leaves positions open.
pub(crate) fn has_none(object: &Bound<'_, PyAny>) -> bool {
    object.is_none() || tuple::modes(object).is_some_and(|modes| modes.iter().any(has_none))
}

/// The mode of a number, of which negative ones count from the end.
pub(crate) fn part_of(lay: &Lay, mode: &Bound<'_, PyAny>) -> Result<Lay> {
    if let Ok(slice) = mode.cast::<PySlice>() {
        return modes_of(lay, slice);
    }
    let Some(mode) = number(mode)? else { return Err(wrong_type("a mode", "an int or a slice", mode)) };
    let rank = lay.rank() as i64;
    match usize::try_from(if mode < 0 { mode.saturating_add(rank) } else { mode }) {
        // A leaf is its own mode 0.
        Ok(0) if lay.is_leaf() => Ok(*lay),
        Ok(at) if at < lay.rank() => Ok(lay.mode(at)?),
        // What ends Python's iteration over modes.
        _ => Err(PyIndexError::new_err(format!("mode {mode} of a layout of rank {rank}")).into()),
    }
}

/// The modes of a slice, as pycute has them: `layout[0:1]` has one mode.
fn modes_of(lay: &Lay, slice: &Bound<'_, PySlice>) -> Result<Lay> {
    let of = slice.indices(lay.rank() as isize)?;
    let at = (0..of.slicelength).map(|nth| of.start + of.step * nth as isize);
    let modes: Vec<usize> = at.filter_map(|at| at.try_into().ok()).collect();
    if modes.is_empty() {
        let refused =
            format!("no mode of a layout of rank {} is in the slice: a layout has one or more", lay.rank());
        return Err(PyIndexError::new_err(refused).into());
    }
    Ok(lay.select(&modes)?)
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (shape, stride = None))]
    fn new(shape: &Bound<'_, PyAny>, stride: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        if let (Ok(text), None) = (shape.cast::<PyString>(), stride) {
            let text = text.to_string();
            let lay = if text.contains(':') {
                Lay::parse(&text)?
            } else {
                Lay::left(&girih::layout::Shape::parse(&text)?)?
            };
            return Ok(Layout(lay));
        }
        Ok(Layout(tuple::lay(shape, stride)?))
    }

    /// The extents: an int, or nested tuples of ints. A symbolic extent is text.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        ints(py, self.0.shape())
    }

    /// The strides, congruent with the shape.
    #[getter]
    fn stride<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        steps(py, &self.0.stride())
    }

    /// Size of the domain.
    fn size<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        tuple::int(py, self.0.size()?)
    }

    /// Size of the codomain: one more than the greatest index.
    fn cosize<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        sum(py, &self.0.cosize()?)
    }

    /// The number of modes.
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// How deep the tree of modes is.
    fn depth(&self) -> usize {
        self.0.depth()
    }

    fn __len__(&self) -> usize {
        self.0.rank()
    }

    /// A mode, or with a slice several as a layout.
    fn __getitem__(&self, mode: &Bound<'_, PyAny>) -> Result<Layout> {
        Ok(Layout(part_of(&self.0, mode)?))
    }

    /// The index of a coordinate; with `None` in it, the layout of the modes under `None`. As in CuTe, the last mode goes on past its end:
    /// `at` refuses that.
    #[pyo3(signature = (*crd))]
    fn __call__<'py>(&self, crd: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyAny>> {
        let at = of_arguments(crd)?;
        if has_none(&at) {
            return Ok(Bound::new(crd.py(), Layout(self.0.slice(&coord(&at)?)?.0))?.into_any());
        }
        sum(crd.py(), &self.0.index_extended(&coord(&at)?)?)
    }

    /// The index of a coordinate of the domain; any other coordinate is an error.
    #[pyo3(signature = (*crd))]
    fn at<'py>(&self, crd: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyAny>> {
        sum(crd.py(), &self.0.index(&coord(&of_arguments(crd)?)?)?)
    }

    /// The indices at all positions in order, as the bytes of int64.
    fn _indices(&self, py: Python<'_>) -> Result<Py<PyByteArray>> {
        indices(py, Operand::Plain(self.0))
    }

    /// Whether no two coordinates have the same index.
    fn is_injective(&self) -> Result<bool> {
        Ok(self.0.is_injective()?)
    }

    /// Whether the indices are those from 0 to size - 1, each once.
    fn is_compact(&self) -> Result<bool> {
        Ok(self.0.is_compact()?)
    }

    /// Whether two layouts are the same function of the position.
    fn equivalent(&self, other: &Layout) -> bool {
        self.0.equivalent(&other.0)
    }

    /// The coordinate at which the layout has an index, or None.
    fn preimage<'py>(&self, py: Python<'py>, index: i64) -> Result<Option<Bound<'py, PyAny>>> {
        self.0.preimage(index)?.map(|at| tuple::positions(py, &at)).transpose()
    }

    /// The table of the indices, as text: mode 0 counts rows, the modes after it columns.
    fn table(&self) -> Result<String> {
        Ok(self.0.table()?.to_string())
    }

    /// A picture of a layout of rank 1 or 2: the index in each cell. With `tile`, of (thread, value) -> place in a tile of that shape: who owns
    /// each place.
    #[pyo3(signature = (tile = None))]
    fn svg(&self, tile: Option<&Bound<'_, PyAny>>) -> Result<String> {
        let own = Operand::Plain(self.0);
        let sheet = match tile {
            None => picture::indices(own),
            Some(tile) => picture::owners(own, tile),
        };
        Ok(sheet?.svg())
    }

    /// The picture of a layout that has one, in a notebook: up to 64 x 64 cells, which the notebook stores.
    fn _repr_svg_(&self) -> Option<String> {
        picture::in_notebook(Operand::Plain(self.0))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Layout>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Layout('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Layout>().into_any(), (self.0.to_string(),)))
    }
}

/// The indices at all positions in order, as the bytes of int64.
pub(crate) fn indices(py: Python<'_>, operand: Operand) -> Result<Py<PyByteArray>> {
    let composed = composed(operand);
    let size = composed.layout().size()?;
    let size = size.get().ok_or(girih::layout::Error::NotKnown {
        op: "indices",
        value: girih::layout::Stride::Int(size).into(),
    })?;
    let bytes = usize::try_from(size).ok().and_then(|size| size.checked_mul(size_of::<i64>()));
    let refused = || {
        PyMemoryError::new_err(format!("the {size} indices of {} do not fit in memory", composed.layout()))
    };
    let bytes = bytes.ok_or_else(refused)?;
    let mut failed = Ok(());
    let indices = PyByteArray::new_with(py, bytes, |bytes| {
        failed = bytes.chunks_exact_mut(size_of::<i64>()).zip(0..).try_for_each(|(place, position)| {
            place.copy_from_slice(&composed.at(position)?.to_le_bytes());
            Ok::<_, Error>(())
        });
        Ok(())
    });
    // Python's own error says nothing.
    let indices =
        indices.map_err(|error| if error.is_instance_of::<PyMemoryError>(py) { refused() } else { error })?;
    failed?;
    Ok(indices.unbind())
}

/// Whether an object is a layout, swizzled or not.
#[pyfunction]
pub(crate) fn is_layout(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<Layout>() || object.is_instance_of::<ComposedLayout>()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Layout>()?;
    swizzle::register(module)?;
    picture::register(module)?;
    module.add_function(wrap_pyfunction!(is_layout, module)?)
}
