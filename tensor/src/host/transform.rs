//! Values that are computed when they are read.

use girih_layout::Stride;

use super::Values;
use crate::{Engine, Error, Space, Tensor};

/// A function of another engine's values (CuTe's `transform_iter`).
#[derive(Clone, Debug)]
pub struct Transform<E, F> {
    inner: E,
    function: F,
}

impl<E: Engine, F: Clone> Engine for Transform<E, F> {
    type Index = E::Index;

    fn space(&self) -> Space {
        self.inner.space()
    }

    fn advance(&self, steps: &[(E::Index, Stride)]) -> Result<Self, Error> {
        Ok(Transform { inner: self.inner.advance(steps)?, function: self.function.clone() })
    }
}

impl<E: Values, V, F: Fn(E::Value) -> V + Clone> Values for Transform<E, F> {
    type Value = V;

    fn value(&self) -> Result<V, Error> {
        self.inner.value().map(&self.function)
    }
}

impl<E: Values> Tensor<E> {
    /// The tensor whose values are `function` of this tensor's values, computed when they are read.
    ///
    /// ```
    /// use girih_layout::{Shape, lay};
    /// use girih_tensor::{Counting, Tensor};
    ///
    /// // Which coordinates of an 8 x 4 tensor are inside of 5 x 3?
    /// let inside = Tensor::identity(&Shape::parse("(8,4)")?)?.map(|at: Vec<i64>| at[0] < 5 && at[1] < 3);
    /// assert_eq!(inside.to_vec()?.into_iter().filter(|inside| *inside).count(), 15);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn map<V, F: Fn(E::Value) -> V + Clone>(&self, function: F) -> Tensor<Transform<E, F>> {
        Tensor::new(Transform { inner: self.engine().clone(), function }, *self.layout())
    }
}
