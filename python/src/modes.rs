//! Layouts from modes, and their modes: sizes, ranks, coalescing, flattening.

use girih::layout::{Int, IntTuple, Lay, Shape};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::algebra::both;
use crate::error::Result;
use crate::layout::Layout;
use crate::layout::swizzle::{Operand, plain};
use crate::tuple::{self, coord, ints, number, sum};

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

/// The shape of a layout, swizzled or not, or of a tuple.
fn shape_of(object: &Bound<'_, PyAny>) -> Result<Shape> {
    match number(object)? {
        None if crate::layout::is_layout(object) => match Operand::of(object)? {
            Operand::Plain(lay) => Ok(*lay.shape()),
            Operand::Swizzled(composed) => Ok(*composed.layout().shape()),
        },
        _ => tuple::shape(object),
    }
}

/// Size of the domain of a layout, or product of a tuple.
#[pyfunction]
fn size<'py>(layout: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    tuple::int(layout.py(), shape_of(layout)?.size()?)
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

/// The modes of the layout under None, and the index of the fixed positions.
#[pyfunction]
fn slice_and_offset<'py>(
    crd: &Bound<'py, PyAny>,
    layout: &Bound<'py, PyAny>,
) -> Result<(Layout, Bound<'py, PyAny>)> {
    let (slice, offset) = plain(layout)?.slice(&coord(crd)?)?;
    Ok((Layout(slice), sum(crd.py(), &offset)?))
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
        make_layout make_layout_right make_ordered_layout make_identity_layout size cosize rank depth coalesce filter
        slice_and_offset group select flatten product_each
    }
    Ok(())
}
