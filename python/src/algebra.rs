//! The algebra as functions with pycute's names; where CuTe has more, with CuTe's.

use girih::layout::{Int, IntTuple, Lay, Product};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Result;
use crate::layout::Layout;
use crate::swizzle::{Operand, plain, shape_of, tiler};
use crate::tuple::{self, coord, ints, number, sum};

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

/// A layout from layouts, each a mode.
#[pyfunction]
#[pyo3(signature = (*layouts))]
fn make_layout(layouts: &Bound<'_, PyTuple>) -> Result<Layout> {
    let given = match layouts.get_item(0) {
        Ok(first) if layouts.len() == 1 && !first.is_instance_of::<Layout>() => {
            first.try_iter()?.collect::<PyResult<Vec<_>>>()?
        }
        _ => layouts.iter().collect(),
    };
    Ok(Layout(Lay::concat(&given.iter().map(plain).collect::<Result<Vec<_>>>()?)?))
}

/// The compact layout of a shape whose rightmost mode is fastest, as numpy's C order.
#[pyfunction]
fn make_layout_right(shape: &Bound<'_, PyAny>) -> Result<Layout> {
    Ok(Layout(Lay::right(&tuple::shape(shape)?)?))
}

/// The compact layout of a shape whose modes are in an order: the mode with the least number is fastest.
#[pyfunction]
fn make_ordered_layout(shape: &Bound<'_, PyAny>, order: &Bound<'_, PyAny>) -> Result<Layout> {
    Ok(Layout(Lay::ordered(&tuple::shape(shape)?, &tuple::shape(order)?)?))
}

/// The layout from coordinates to themselves, with strides such as `1@0`.
#[pyfunction]
fn make_identity_layout(shape: &Bound<'_, PyAny>) -> Result<Layout> {
    Ok(Layout(Lay::identity(&tuple::shape(shape)?)?))
}

/// Size of the domain of a layout, or product of a tuple.
#[pyfunction]
fn size<'py>(layout: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    match Operand::of(layout) {
        Ok(Operand::Swizzled(composed)) => tuple::int(layout.py(), composed.layout().size()?),
        _ => tuple::int(layout.py(), shape_of(layout)?.size()?),
    }
}

/// Size of the codomain: one more than the greatest index.
#[pyfunction]
fn cosize<'py>(layout: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    match Operand::of(layout)? {
        Operand::Plain(plain) => sum(layout.py(), &plain.cosize()?),
        Operand::Swizzled(composed) => tuple::int(layout.py(), composed.cosize()?),
    }
}

/// The number of modes of a layout or of a tuple; 1 for an int.
#[pyfunction]
fn rank(of: &Bound<'_, PyAny>) -> Result<usize> {
    Ok(shape_of(of)?.rank())
}

/// How deep the tree of a layout or of a tuple is; 0 for an int.
#[pyfunction]
fn depth(of: &Bound<'_, PyAny>) -> Result<usize> {
    Ok(shape_of(of)?.depth())
}

/// The same function with as few modes as possible; with a profile, for each of its leaves apart.
#[pyfunction]
#[pyo3(signature = (layout, profile = None))]
fn coalesce<'py>(
    layout: &Bound<'py, PyAny>,
    profile: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    match profile {
        Some(profile) if tuple::modes(profile).is_some() => {
            let profile = by_profile(profile)?;
            both!(layout, |layout| layout.coalesce_by(&profile)?)
        }
        _ => both!(layout, |layout| layout.coalesce()),
    }
}

/// The tree of a profile, whose leaves may be anything.
fn by_profile(profile: &Bound<'_, PyAny>) -> Result<IntTuple> {
    fn below(object: &Bound<'_, PyAny>, depth: usize) -> Result<IntTuple> {
        let Some(modes) = tuple::modes(object) else { return Ok(IntTuple::leaf(Int::fixed(1))) };
        if depth > girih::layout::MAX_DEPTH {
            return Err(girih::layout::Error::Capacity { op: "a profile" }.into());
        }
        let modes = modes.iter().map(|mode| below(mode, depth + 1)).collect::<Result<Vec<_>>>()?;
        Ok(IntTuple::concat(&modes)?)
    }
    below(profile, 0)
}

/// The layout without modes of extent 1 or of stride 0, coalesced; with a profile, mode by mode.
#[pyfunction]
#[pyo3(signature = (layout, profile = None))]
fn filter<'py>(layout: &Bound<'py, PyAny>, profile: Option<&Bound<'py, PyAny>>) -> Result<Bound<'py, PyAny>> {
    let Some(modes) = profile.and_then(tuple::modes) else { return both!(layout, |layout| layout.filter()) };
    fn by(lay: &Lay, modes: &[Bound<'_, PyAny>]) -> Result<Lay> {
        let mode = |at: usize| -> Result<Lay> {
            let mode = lay.mode(at)?;
            match modes.get(at) {
                None => Ok(mode),
                Some(profile) => tuple::modes(profile).map_or(Ok(mode.filter()), |modes| by(&mode, &modes)),
            }
        };
        if modes.len() > lay.rank() {
            return Err(
                girih::layout::Error::ModeOutOfRange { mode: modes.len() - 1, rank: lay.rank() }.into()
            );
        }
        Ok(Lay::concat(&(0..lay.rank()).map(mode).collect::<Result<Vec<_>>>()?)?)
    }
    Operand::from(by(&plain(layout)?, &modes)?).into_python(layout.py())
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

/// The modes of the layout under None, and the index of the fixed positions.
#[pyfunction]
fn slice_and_offset<'py>(
    crd: &Bound<'py, PyAny>,
    layout: &Bound<'py, PyAny>,
) -> Result<(Layout, Bound<'py, PyAny>)> {
    let (slice, offset) = plain(layout)?.slice(&coord(crd)?)?;
    Ok((Layout(slice), sum(crd.py(), &offset)?))
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

/// Modes `begin` to `end` of a layout as one mode.
#[pyfunction]
fn group<'py>(layout: &Bound<'py, PyAny>, begin: usize, end: usize) -> Result<Bound<'py, PyAny>> {
    both!(layout, |layout| layout.group(begin, end)?)
}

/// The modes with these numbers.
#[pyfunction]
fn select<'py>(layout: &Bound<'py, PyAny>, modes: Vec<usize>) -> Result<Bound<'py, PyAny>> {
    both!(layout, |layout| layout.select(&modes)?)
}

/// The leaves of a layout, or of a tuple, as one tuple; an int gives a tuple of one.
#[pyfunction]
fn flatten<'py>(of: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    if let Ok(operand) = Operand::of(of)
        && number(of)?.is_none()
    {
        return match operand {
            Operand::Plain(lay) => Operand::from(lay.flatten()).into_python(of.py()),
            Operand::Swizzled(composed) => Operand::from(composed.flatten()).into_python(of.py()),
        };
    }
    let Some(modes) = tuple::modes(of) else {
        return Ok(PyTuple::new(of.py(), [of])?.into_any());
    };
    if modes.is_empty() {
        return Ok(PyTuple::empty(of.py()).into_any());
    }
    // Leaves of any type, such as None, stay as they are.
    fn leaves<'py>(object: &Bound<'py, PyAny>, depth: usize, out: &mut Vec<Bound<'py, PyAny>>) -> Result<()> {
        if depth > girih::layout::MAX_DEPTH {
            return Err(girih::layout::Error::Capacity { op: "flatten" }.into());
        }
        match tuple::modes(object) {
            Some(modes) => modes.iter().try_for_each(|mode| leaves(mode, depth + 1, out)),
            None => {
                out.push(object.clone());
                Ok(())
            }
        }
    }
    let mut out = Vec::new();
    leaves(of, 0, &mut out)?;
    Ok(PyTuple::new(of.py(), out)?.into_any())
}

/// The product of each mode.
#[pyfunction]
fn product_each<'py>(shape: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    ints(shape.py(), &tuple::shape(shape)?.product_each()?)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! functions {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    functions! {
        composition logical_divide zipped_divide tiled_divide flat_divide logical_product zipped_product tiled_product
        flat_product right_inverse left_inverse quasi_inverse nullspace make_layout_like filter_zeros make_layout
        make_layout_right make_ordered_layout make_identity_layout size cosize rank depth coalesce filter complement
        complement_floor outer_product blocked_product raked_product tile_to_shape slice_and_offset max_common_layout
        max_common_vector recast recognise group select flatten product_each
    }
    Ok(())
}
