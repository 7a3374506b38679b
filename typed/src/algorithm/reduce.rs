//! Reductions.

use super::elementwise::same_size;
use crate::host::{Source, StorageMut, TensorMut, known_size};
use girih_tensor::host::Values;
use girih_tensor::{Error, Slice, Tensor};

/// `fold(... fold(fold(start, t(0)), t(1)) ..., t(n-1))`.
///
/// # Errors
/// Those of [`Tensor::at`].
pub fn reduce<R: Source, V>(t: &R, start: V, mut fold: impl FnMut(V, R::Value) -> V) -> Result<V, Error> {
    (0..known_size("reduce", t.layout())?).try_fold(start, |sum, i| Ok(fold(sum, t.at(i)?)))
}

/// Reduces mode 1, for each coordinate of mode 0 by itself: `to(i) = fold(... fold(to(i), from(i,0)) ..., from(i,n-1))`
/// (CuTe's `batch_reduce`).
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::Tensor;
/// use girih_typed::algorithm::batch_reduce;
/// use girih_typed::host::Array;
///
/// let data: Vec<i32> = (0..6).collect();
/// let mut sums = Array::<i32>::new(lay!("2:1"))?;
/// batch_reduce(&Tensor::host(&data, lay!("(2,3):(3,1)"))?, &mut sums.view_mut()?, |sum, value| sum + value)?;
/// assert_eq!(sums.data(), [0 + 1 + 2, 3 + 4 + 5]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if `from` does not have two modes, or if its mode 0 does not have as many coordinates as `to`.
pub fn batch_reduce<E: Values, S: StorageMut>(
    from: &Tensor<E>,
    to: &mut TensorMut<S>,
    mut fold: impl FnMut(S::Value, E::Value) -> S::Value,
) -> Result<(), Error> {
    let size = known_size("batch_reduce", to.layout())?;
    if from.layout().rank() != 2 || known_size("batch_reduce", &from.layout().mode(0)?)? != size {
        return Err(Error::Shape {
            what: "batch_reduce",
            a: from.layout().to_string(),
            b: to.layout().to_string(),
            accepted: "two modes, the first with as many coordinates as there are results",
        });
    }
    let mut results = Vec::new();
    for i in 0..size {
        let row = from.slice((i, Slice::All))?;
        results.push((i, reduce(&row, to.at(i)?, &mut fold)?));
    }
    to.set_all(results)
}

/// Folds each value into its place, `to(i) = fold(to(i), from(i))`, for one `i` after the other. Coordinates along a
/// mode of `to` with stride 0 share a result (CuTe's `logical_reduce`).
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::Tensor;
/// use girih_typed::algorithm::logical_reduce;
/// use girih_typed::host::Array;
///
/// let data: Vec<i32> = (0..6).collect();
/// let mut columns = Array::<i32>::new(lay!("(2,3):(0,1)"))?;
/// logical_reduce(&Tensor::host(&data, lay!("(2,3):(3,1)"))?, &mut columns.view_mut()?, |sum, value| sum + value)?;
/// assert_eq!(columns.data(), [0 + 3, 1 + 4, 2 + 5]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if the two differ in size; [`Error::Beyond`] past the end of a ragged tile. [`Error::OutOfType`]
/// for a result that a packed type does not have, which is only found once the results before it are written.
pub fn logical_reduce<R: Source, S: StorageMut>(
    from: &R,
    to: &mut TensorMut<S>,
    mut fold: impl FnMut(S::Value, R::Value) -> S::Value,
) -> Result<(), Error> {
    let size = same_size("logical_reduce", from.layout(), to.layout())?;
    let values = (0..size).map(|i| to.at(i).and_then(|_| from.at(i))).collect::<Result<Vec<_>, _>>()?;
    for (i, value) in (0..size).zip(values) {
        to.set(i, fold(to.at(i)?, value))?;
    }
    Ok(())
}
