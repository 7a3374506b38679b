//! Algorithms that take one value at a time.

use girih_layout::Lay;

use crate::host::{Source, StorageMut, TensorMut, known_size};
use girih_tensor::{Element, Error};

/// The size of both layouts, which must be equal.
pub(super) fn same_size(what: &'static str, a: &Lay, b: &Lay) -> Result<i64, Error> {
    let (size, other) = (known_size(what, a)?, known_size(what, b)?);
    if size == other {
        return Ok(size);
    }
    Err(Error::Shape {
        what,
        a: a.to_string(),
        b: b.to_string(),
        accepted: "as many values in one as in the other",
    })
}

/// `t(i) = value`.
///
/// # Errors
/// [`Error::NotStatic`]; [`Error::Beyond`] past the end of a ragged tile.
pub fn fill<S: StorageMut>(t: &mut TensorMut<S>, value: S::Value) -> Result<(), Error> {
    t.set_all((0..known_size("fill", t.layout())?).map(|i| (i, value)).collect())
}

/// `t(i) = 0`, the type's default value.
///
/// # Errors
/// As [`fill`].
pub fn clear<S: StorageMut<Value: Default>>(t: &mut TensorMut<S>) -> Result<(), Error> {
    fill(t, S::Value::default())
}

/// `to(i) = from(i)`.
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::Tensor;
/// use girih_typed::algorithm::{copy, equal};
/// use girih_typed::host::Array;
///
/// let data: Vec<i32> = (0..12).collect();
/// let rows = Tensor::host(&data, lay!("(3,4):(4,1)"))?;
/// let mut columns = Array::new(lay!("(3,4):(1,3)"))?;
/// copy(&rows, &mut columns.view_mut()?)?;
/// assert!(equal(&rows, &columns.view())?);
/// assert_eq!(columns.data()[..4], [0, 4, 8, 1]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for different sizes; [`Error::Beyond`] past the end of a ragged tile.
pub fn copy<R, S>(from: &R, to: &mut TensorMut<S>) -> Result<(), Error>
where
    R: Source,
    S: StorageMut<Value = R::Value>,
{
    let size = same_size("copy", from.layout(), to.layout())?;
    to.set_all((0..size).map(|i| Ok((i, from.at(i)?))).collect::<Result<_, Error>>()?)
}

/// `to(i) = from(i)` where `predicate(i)` holds. Nothing is read or written where it does not hold, so that a ragged
/// tile may reach past the end there (CuTe guide, "Predication").
///
/// ```
/// use girih_layout::{Shape, lay, tiler};
/// use girih_tensor::{Slice, Tensor};
/// use girih_typed::algorithm::copy_if;
/// use girih_typed::host::{Array, ViewMut};
///
/// // The last tile of eight of a vector of 20.
/// let mut data = vec![0; 20];
/// let ones = vec![1; 8];
/// let at = [Slice::at(2)];
/// let inside = Tensor::identity(&Shape::parse("(20)")?)?.local_tile(&tiler!("<8>"), &at)?.map(|at| at[0] < 20);
/// let whole = ViewMut::new(&mut data, lay!("(20):(1)"))?;
/// copy_if(&inside, &Tensor::host(&ones, lay!("8:1"))?, &mut whole.local_tile(&tiler!("<8>"), &at)?)?;
/// assert_eq!(data[14..], [0, 0, 1, 1, 1, 1]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for different sizes; [`Error::Beyond`] if the predicate holds past the end.
pub fn copy_if<P, R, S>(predicate: &P, from: &R, to: &mut TensorMut<S>) -> Result<(), Error>
where
    P: Source<Value = bool>,
    R: Source,
    S: StorageMut<Value = R::Value>,
{
    same_size("copy_if", predicate.layout(), to.layout())?;
    let mut values = Vec::new();
    for i in 0..same_size("copy_if", from.layout(), to.layout())? {
        if predicate.at(i)? {
            values.push((i, from.at(i)?));
        }
    }
    to.set_all(values)
}

/// `to(i) = function(from(i))`; for a function of two tensors' values, `from` is a [`Zipped`](crate::host::Zipped).
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::Tensor;
/// use girih_typed::algorithm::transform;
/// use girih_typed::host::{Array, Zipped};
///
/// let (a, b) = ([1, 2, 3, 4], [10, 20, 30, 40]);
/// let both = Zipped::new(Tensor::host(&a, lay!("(2,2):(1,2)"))?, Tensor::host(&b, lay!("(2,2):(2,1)"))?)?;
/// let mut sums = Array::<i32>::new(lay!("4:1"))?;
/// transform(&both, &mut sums.view_mut()?, |(x, y)| x + y)?;
/// assert_eq!(sums.data(), [11, 32, 23, 44]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for different sizes; [`Error::Beyond`] past the end of a ragged tile.
pub fn transform<R: Source, S: StorageMut>(
    from: &R,
    to: &mut TensorMut<S>,
    mut function: impl FnMut(R::Value) -> S::Value,
) -> Result<(), Error> {
    let size = same_size("transform", from.layout(), to.layout())?;
    to.set_all((0..size).map(|i| Ok((i, function(from.at(i)?)))).collect::<Result<_, Error>>()?)
}

/// `y(i) = alpha * x(i) + beta * y(i)`, each computed in f64 and rounded once; with `beta` 0, `y` is not read, so that it
/// may hold anything.
///
/// # Errors
/// [`Error::Shape`] for different sizes.
pub fn axpby<R, S>(alpha: f64, x: &R, beta: f64, y: &mut TensorMut<S>) -> Result<(), Error>
where
    R: Source<Value: Element>,
    S: StorageMut<Value: Element>,
{
    let mut values = Vec::new();
    for i in 0..same_size("axpby", x.layout(), y.layout())? {
        let kept = if beta == 0.0 { 0.0 } else { beta * y.at(i)?.to_f64() };
        values.push((i, S::Value::from_f64(alpha * x.at(i)?.to_f64() + kept)));
    }
    y.set_all(values)
}

/// Whether all values are the same, `a(i) == b(i)`.
///
/// # Errors
/// [`Error::Shape`] for different sizes.
pub fn equal<A, B>(a: &A, b: &B) -> Result<bool, Error>
where
    A: Source<Value: PartialEq<B::Value>>,
    B: Source,
{
    for i in 0..same_size("equal", a.layout(), b.layout())? {
        if a.at(i)? != b.at(i)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Calls `function` with every value, colexicographically.
///
/// # Errors
/// Those of [`Source::at`].
pub fn for_each<R: Source>(t: &R, mut function: impl FnMut(R::Value)) -> Result<(), Error> {
    (0..known_size("for_each", t.layout())?).try_for_each(|i| t.at(i).map(&mut function))
}
