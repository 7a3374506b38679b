//! The algebra as functions with pycute's names; where CuTe has more, with CuTe's: compositions, divisions, products, inverses, complements.

use girih::layout::{Int, Lay, Product};
use pyo3::prelude::*;

use crate::error::Result;
use crate::layout::Layout;
use crate::layout::swizzle::{Operand, plain, tiler};
use crate::tuple;

/// The same operation on a plain or on a swizzled layout, whose swizzle stays.
macro_rules! both {
    ($object:expr, |$layout:ident| $body:expr) => {{
        let py = $object.py();
        match Operand::of($object)? {
            Operand::Plain($layout) => Operand::from($body).into_python(py),
            Operand::Swizzled($layout) => Operand::from($body).into_python(py),
        }
    }};
}
pub(crate) use both;

/// Functions of a layout alone.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident |$layout:ident| $body:expr;)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            fn $name<'py>(layout: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
                let py = layout.py();
                let $layout = plain(layout)?;
                Operand::from($body).into_python(py)
            }
        )*
    };
}

/// Functions of a layout and a tiler; None as the tiler leaves the layout as it is.
macro_rules! tiled {
    ($($(#[$doc:meta])* $name:ident = $method:ident;)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            fn $name<'py>(
                layout: &Bound<'py, PyAny>,
                tiler: &Bound<'py, PyAny>,
            ) -> Result<Bound<'py, PyAny>> {
                if tiler.is_none() {
                    return both!(layout, |layout| layout);
                }
                let tiler = self::tiler(tiler)?;
                both!(layout, |layout| layout.$method(&tiler)?)
            }
        )*
    };
}

tiled! {
    /// `R(c) = layout(tiler(c))`; with a tuple, mode by mode.
    composition = compose;
    /// Split by the tiler: (tile, rest), in each mode for a tuple.
    logical_divide = logical_divide;
    /// As `logical_divide`, with the tiles of all modes in mode 0 and the rests in mode 1.
    zipped_divide = zipped_divide;
    /// As `zipped_divide`, with the rests as modes: (tile, rest, rest, ...).
    tiled_divide = tiled_divide;
    /// As `zipped_divide`, with tiles and rests as modes.
    flat_divide = flat_divide;
    /// (layout, copies): the layout repeated by the tiler.
    logical_product = logical_product;
    /// As `logical_product`, with the blocks of all modes in mode 0 and the copies in mode 1.
    zipped_product = zipped_product;
    /// As `zipped_product`, with the copies as modes.
    tiled_product = tiled_product;
    /// As `zipped_product`, with blocks and copies as modes.
    flat_product = flat_product;
}

unary! {
    /// As `left_inverse`, but stride 0 is accepted: `layout(Q(layout(i))) == layout(i)`.
    quasi_inverse |layout| layout.quasi_inverse()?;
    /// The positions that the layout sends to index 0.
    nullspace |layout| layout.nullspace()?;
    /// A compact layout whose modes are in the order of the strides.
    make_layout_like |layout| layout.compact_like()?;
    /// The layout with extent 1 where the stride is 0.
    filter_zeros |layout| layout.filter_zeros();
}

/// The longest layout with `layout(right_inverse(layout)(i)) == i`.
#[pyfunction]
fn right_inverse<'py>(layout: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    if layout.is_none() {
        Ok(layout.clone())
    } else {
        Operand::from(plain(layout)?.right_inverse()?).into_python(layout.py())
    }
}

/// A layout with `left_inverse(layout)(layout(i)) == i`; what is not injective is refused.
#[pyfunction]
fn left_inverse<'py>(layout: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    if layout.is_none() {
        Ok(layout.clone())
    } else {
        Operand::from(plain(layout)?.left_inverse()?).into_python(layout.py())
    }
}

/// The layout that meets, together with `layout`, each index below `max_idx` (rounded up to a whole number of copies) exactly once. Where
/// there is none, `complement_floor` is CuTe's rounded form.
#[pyfunction]
#[pyo3(signature = (layout, max_idx = 1))]
fn complement(layout: &Bound<'_, PyAny>, max_idx: i64) -> Result<Layout> {
    Ok(Layout(plain(layout)?.complement(Int::value(max_idx))?))
}

/// As `complement`, but steps that do not divide are rounded down, so that indices are left out.
#[pyfunction]
#[pyo3(signature = (layout, max_idx = 1))]
fn complement_floor(layout: &Bound<'_, PyAny>, max_idx: i64) -> Result<Layout> {
    Ok(Layout(plain(layout)?.complement_floor(Int::value(max_idx))?))
}

/// The product whose copies go past the block instead of into its holes.
#[pyfunction]
fn outer_product(layout: &Bound<'_, PyAny>, tiler: &Bound<'_, PyAny>) -> Result<Layout> {
    Ok(Layout(plain(layout)?.logical_product_with(&self::tiler(tiler)?, Product::Outer)?))
}

/// Blocks side by side: ((block, copies), (block, copies), ...).
#[pyfunction]
fn blocked_product<'py>(layout: &Bound<'py, PyAny>, tiler: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let tiler = plain(tiler)?;
    both!(layout, |layout| layout.blocked_product(&tiler)?)
}

/// Blocks interleaved: ((copies, block), (copies, block), ...).
#[pyfunction]
fn raked_product<'py>(layout: &Bound<'py, PyAny>, tiler: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let tiler = plain(tiler)?;
    both!(layout, |layout| layout.raked_product(&tiler)?)
}

/// The layout of `shape` that is made of copies of the block, in an order of modes.
#[pyfunction]
#[pyo3(signature = (block, shape, order = None))]
fn tile_to_shape<'py>(
    block: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    order: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let (target, order) = (tuple::shape(shape)?, order.map(tuple::shape).transpose()?);
    both!(block, |block| block.tile_to_shape(&target, order.as_ref())?)
}

/// The longest layout on which both have the same indices.
#[pyfunction]
fn max_common_layout(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> Result<Layout> {
    Ok(Layout(plain(a)?.max_common_layout(&plain(b)?)?))
}

/// How many elements in a row both layouts have.
#[pyfunction]
fn max_common_vector<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    tuple::int(a.py(), plain(a)?.max_common_vector(&plain(b)?)?)
}

/// The layout for elements of `new_bits` bits of a layout for elements of `old_bits` bits.
#[pyfunction]
fn recast<'py>(layout: &Bound<'py, PyAny>, old_bits: i64, new_bits: i64) -> Result<Bound<'py, PyAny>> {
    both!(layout, |layout| layout.recast(old_bits, new_bits)?)
}

/// The layout whose indices are these numbers, if there is one.
#[pyfunction]
fn recognise(values: Vec<i64>) -> Result<Layout> {
    Ok(Layout(Lay::recognise(&values)?))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! functions {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    functions! {
        composition logical_divide zipped_divide tiled_divide flat_divide logical_product zipped_product tiled_product
        flat_product right_inverse left_inverse quasi_inverse nullspace make_layout_like filter_zeros complement
        complement_floor outer_product blocked_product raked_product tile_to_shape max_common_layout max_common_vector
        recast recognise
    }
    Ok(())
}
