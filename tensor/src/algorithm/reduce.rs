//! Folds.

use crate::host::{StorageMut, TensorMut, Values, known_size};
use crate::{Error, Slice, Tensor};

/// `fold(... fold(fold(start, t(0)), t(1)) ..., t(n-1))`.
///
/// # Errors
/// Those of [`Tensor::at`].
pub fn reduce<E: Values, V>(
    t: &Tensor<E>,
    start: V,
    mut fold: impl FnMut(V, E::Value) -> V,
) -> Result<V, Error> {
    (0..known_size("reduce", t.layout())?).try_fold(start, |sum, i| Ok(fold(sum, t.at(i)?)))
}

/// Each mode-0 coordinate's values along mode 1 by themselves: `to(i) = fold(... fold(to(i), from(i,0)) ..., from(i,n-1))`
/// (CuTe's `batch_reduce`).
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::{Tensor, algorithm::batch_reduce, host::Array};
///
/// let data: Vec<i32> = (0..6).collect();
/// let mut sums = Array::<i32>::new(lay!("2:1"))?;
/// batch_reduce(&Tensor::host(&data, lay!("(2,3):(3,1)"))?, &mut sums.view_mut()?, |sum, value| sum + value)?;
/// assert_eq!(sums.data(), [0 + 1 + 2, 3 + 4 + 5]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if `from` has not two modes, or its mode 0 not as many coordinates as `to`.
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
    for i in 0..size {
        let row = from.slice(&Slice::tuple([Slice::At(i), Slice::All]))?;
        let sum = reduce(&row, to.at(i)?, &mut fold)?;
        to.set(i, sum)?;
    }
    Ok(())
}
