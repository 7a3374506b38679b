//! Int tuples: Python's numbers and tuples as trees, and back; functions over them with pycute's names.

use girih::layout::{
    Coord, Crd, Int, IntTuple, Lay, Leaf, MAX_DEPTH, Shape, Stride, Strides, Sum, crd2crd as layout_crd2crd,
    natural_coord,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};

use crate::error::{Error, Result, wrong_type};

/// The modes of a tuple or of a list.
pub(crate) fn modes<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Some(tuple.iter().collect());
    }
    object.cast::<PyList>().ok().map(|list| list.iter().collect())
}

/// A number, also one of numpy's, but no truth value.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> Result<Option<i64>> {
    if object.is_instance_of::<PyBool>() || object.is_instance_of::<PyString>() {
        return Ok(None);
    }
    match object.call_method0("__index__") {
        Ok(index) => index.extract().map(Some).map_err(|_| {
            PyOverflowError::new_err(format!("{index} has more than 63 bits and a sign")).into()
        }),
        Err(_) if !object.is_instance_of::<PyInt>() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

macro_rules! tree {
    ($(#[$doc:meta])* $name:ident: $tree:ident, |$leaf:ident| $read:expr) => {
        $(#[$doc])*
        pub(crate) fn $name(object: &Bound<'_, PyAny>) -> Result<$tree> {
            fn below(object: &Bound<'_, PyAny>, depth: usize) -> Result<$tree> {
                let Some(modes) = modes(object) else {
                    let $leaf = object;
                    return $read;
                };
                if depth > MAX_DEPTH {
                    return Err(girih::layout::Error::Capacity { op: "a tuple" }.into());
                }
                let modes = modes.iter().map(|mode| below(mode, depth + 1)).collect::<Result<Vec<_>>>()?;
                Ok($tree::concat(&modes)?)
            }
            below(object, 0)
        }
    };
}

tree! {
    /// A shape: a number, a symbol as text (`"s0"`), or a tuple of shapes.
    shape: Shape, |leaf| match (number(leaf)?, leaf.cast::<PyString>()) {
        (Some(extent), _) => Ok(Shape::leaf(Int::value(extent))),
        (None, Ok(text)) => Ok(Shape::parse(&text.to_string())?),
        _ => Err(wrong_type("a shape", "an int, a symbol as text or a tuple of shapes", leaf)),
    }
}

tree! {
    /// Strides: a number, text for other strides (`"s0"`, `"1@0"`, `"^5"`), or a tuple of strides.
    strides: Strides, |leaf| match (number(leaf)?, leaf.cast::<PyString>()) {
        (Some(step), _) => Ok(Strides::leaf(Stride::Int(Int::value(step)))),
        (None, Ok(text)) => Ok(Strides::parse(&text.to_string())?),
        _ => Err(wrong_type("a stride", "an int, text such as 's0' or '1@0', or a tuple of strides", leaf)),
    }
}

tree! {
    /// A coordinate: a number, `None` for all positions, or a tuple of coordinates.
    coord: Coord, |leaf| match number(leaf)? {
        Some(position) => Ok(Coord::at(position)),
        None if leaf.is_none() => Ok(Coord::leaf(Crd::All)),
        None => Err(wrong_type("a coordinate", "an int, None or a tuple of coordinates", leaf)),
    }
}

/// A tree as Python's nested tuples.
pub(crate) fn to_python<'py, T: Leaf, const N: usize>(
    py: Python<'py>,
    tree: &girih::layout::Tuple<T, N>,
    leaf: &dyn Fn(&girih::layout::Tuple<T, N>) -> PyResult<Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    if tree.is_leaf() {
        return Ok(leaf(tree)?);
    }
    let modes = (0..tree.rank()).map(|mode| to_python(py, &tree.mode(mode)?, leaf));
    Ok(PyTuple::new(py, modes.collect::<Result<Vec<_>>>()?)?.into_any())
}

/// A number as an int, anything else as text.
pub(crate) fn int<'py>(py: Python<'py>, value: Int) -> Result<Bound<'py, PyAny>> {
    sum(py, &value.into())
}

/// A number as an int, anything else as text.
pub(crate) fn sum<'py>(py: Python<'py>, value: &Sum) -> Result<Bound<'py, PyAny>> {
    Ok(match value.get() {
        Some(number) => PyInt::new(py, number).into_any(),
        None => PyString::new(py, &value.to_string()).into_any(),
    })
}

pub(crate) fn ints<'py>(py: Python<'py>, tuple: &IntTuple) -> Result<Bound<'py, PyAny>> {
    to_python(py, tuple, &|leaf| match leaf.get(0).map(|value| (value.get(), value)) {
        Some((Some(number), _)) => Ok(PyInt::new(py, number).into_any()),
        Some((None, value)) => Ok(PyString::new(py, &value.to_string()).into_any()),
        None => Ok(PyTuple::empty(py).into_any()),
    })
}

pub(crate) fn steps<'py>(py: Python<'py>, tuple: &Strides) -> Result<Bound<'py, PyAny>> {
    to_python(py, tuple, &|leaf| match leaf.get(0) {
        Some(stride) => match stride.int().and_then(Int::get) {
            Some(number) => Ok(PyInt::new(py, number).into_any()),
            None => Ok(PyString::new(py, &stride.to_string()).into_any()),
        },
        None => Ok(PyTuple::empty(py).into_any()),
    })
}

pub(crate) fn positions<'py>(py: Python<'py>, coord: &Coord) -> Result<Bound<'py, PyAny>> {
    to_python(py, coord, &|leaf| match leaf.get(0) {
        Some(Crd::At(position)) => Ok(PyInt::new(py, position).into_any()),
        _ => Ok(py.None().into_bound(py)),
    })
}

/// shape[, stride] as a layout; without strides the leftmost mode is fastest.
pub(crate) fn lay(of: &Bound<'_, PyAny>, stride: Option<&Bound<'_, PyAny>>) -> Result<Lay> {
    let of = shape(of)?;
    Ok(match stride {
        Some(stride) => Lay::new(&of, &strides(stride)?)?,
        None => Lay::left(&of)?,
    })
}

/// Product of all leaves.
#[pyfunction]
pub(crate) fn product<'py>(a: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    int(a.py(), shape(a)?.size()?)
}

/// Sum of the products of corresponding leaves.
#[pyfunction]
fn inner_product<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    sum(a.py(), &shape(a)?.inner_product(&shape(b)?)?)
}

/// The greatest leaf.
#[pyfunction]
fn tuple_max<'py>(a: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    int(a.py(), shape(a)?.max()?)
}

/// Leaf by leaf `a * b`; a leaf of `a` is multiplied by the product of what is there in `b`.
#[pyfunction]
fn elem_scale<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    ints(a.py(), &shape(a)?.elem_scale(&shape(b)?)?)
}

/// The shape that is left when tiles of `b` elements, counted along the leftmost mode first, are taken out of `a`.
#[pyfunction]
fn shape_div<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    ints(a.py(), &shape(a)?.shape_div(&shape(b)?)?)
}

/// How many tiles `b` cover `a`, leaf by leaf.
#[pyfunction]
fn ceil_div<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    ints(a.py(), &shape(a)?.ceil_div(&shape(b)?)?)
}

/// The strides of the compact layout of shape `a` whose leftmost mode is fastest, from stride `init` on.
#[pyfunction]
#[pyo3(signature = (a, init = 1))]
fn prefix_product<'py>(a: &Bound<'py, PyAny>, init: i64) -> Result<Bound<'py, PyAny>> {
    let shape = shape(a)?;
    let (mut products, mut product) = (Vec::new(), Int::value(init));
    for (number, extent) in shape.leaves().enumerate() {
        products.push(product);
        // The product of all leaves is nobody's, so that it may overflow.
        if number + 1 < shape.leaf_count() {
            product = product.mul(extent)?;
        }
    }
    let mut products = products.into_iter();
    let products = shape.map(|_: Int| products.next().unwrap_or(Int::fixed(0)))?;
    ints(a.py(), &products)
}

/// The coordinate of position `idx` in `shape`; with strides, that of the layout's index `idx`.
#[pyfunction]
#[pyo3(signature = (idx, shape, stride = None))]
fn idx2crd<'py>(
    idx: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    stride: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let crd = match (stride, number(idx)?) {
        (Some(_), Some(index)) => lay(shape, stride)?.hier_coord(index)?,
        (Some(_), None) => return Err(wrong_type("the index of a layout", "an int", idx)),
        (None, _) => natural_coord(&self::shape(shape)?, &coord(idx)?)?,
    };
    positions(idx.py(), &crd)
}

/// The index of a coordinate: `sum(crd * stride)`. `None` counts as 0, and the last mode goes on past its end, as in CuTe.
#[pyfunction]
#[pyo3(signature = (crd, shape, stride = None))]
fn crd2idx<'py>(
    crd: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    stride: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let at = coord(crd)?.map(|leaf: Crd| if leaf == Crd::All { Crd::At(0) } else { leaf })?;
    sum(crd.py(), &lay(shape, stride)?.index_extended(&at)?)
}

/// The coordinate in `dst_shape` that has the same position as `crd` has in `src_shape`.
#[pyfunction]
#[pyo3(signature = (crd, dst_shape, src_shape = None))]
fn crd2crd<'py>(
    crd: &Bound<'py, PyAny>,
    dst_shape: &Bound<'py, PyAny>,
    src_shape: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let to = shape(dst_shape)?;
    let from = src_shape.map_or(Ok(to), shape)?;
    positions(crd.py(), &layout_crd2crd(&from, &to, &coord(crd)?)?)
}

/// Whether two tuples have the same tree.
#[pyfunction]
fn congruent(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> Result<bool> {
    Ok(shape(a)?.congruent(&shape(b)?))
}

/// Whether every coordinate of shape `a` is one of shape `b`.
#[pyfunction]
fn compatible(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> Result<bool> {
    shape(a)?.compatible(&shape(b)?).map_err(Error::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(product, module)?)?;
    module.add_function(wrap_pyfunction!(inner_product, module)?)?;
    module.add_function(wrap_pyfunction!(tuple_max, module)?)?;
    module.add_function(wrap_pyfunction!(elem_scale, module)?)?;
    module.add_function(wrap_pyfunction!(shape_div, module)?)?;
    module.add_function(wrap_pyfunction!(ceil_div, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_product, module)?)?;
    module.add_function(wrap_pyfunction!(idx2crd, module)?)?;
    module.add_function(wrap_pyfunction!(crd2idx, module)?)?;
    module.add_function(wrap_pyfunction!(crd2crd, module)?)?;
    module.add_function(wrap_pyfunction!(congruent, module)?)?;
    module.add_function(wrap_pyfunction!(compatible, module)?)
}
