//! Tensors side by side: data and scales, values and coordinates.

use girih_layout::{Int, Lay, Tiler};

use super::Source;
use girih_tensor::host::Values;
use girih_tensor::{Engine, Error, Slice, Tensor};

/// Two tensors with modes of equal extents, divided and sliced together (CuTe's `make_zip_tensor`). A tensor of scales
/// has stride 0 along the modes in which values share a scale.
///
/// ```
/// use girih_layout::{lay, tiler};
/// use girih_tensor::{Slice, Tensor};
/// use girih_typed::host::Zipped;
///
/// let (data, scales): (Vec<i32>, Vec<f32>) = ((0..32).collect(), vec![1.0, 10.0]);
/// // 4 x 8 values; a scale for every four columns.
/// let zipped = Zipped::new(
///     Tensor::host(&data, lay!("(4,8):(8,1)"))?,
///     Tensor::host(&scales, lay!("(4,(4,2)):(0,(0,1))"))?,
/// )?;
/// let tile = zipped.local_tile(&tiler!("<4,4>"), &[Slice::at(0), Slice::at(1)])?;
/// assert_eq!(tile.at(1)?, (12, 10.0));
/// # Ok::<(), girih_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Zipped<A, B> {
    first: Tensor<A>,
    second: Tensor<B>,
}

/// The extents of the top-level modes.
fn extents(layout: &Lay) -> Result<Vec<Int>, Error> {
    (0..layout.rank()).map(|i| Ok(layout.mode(i)?.size()?)).collect()
}

impl<A: Engine<Index = i64>, B: Engine<Index = i64>> Zipped<A, B> {
    /// Zips two tensors.
    ///
    /// # Errors
    /// [`Error::Shape`] unless both have as many modes, of equal extents.
    pub fn new(first: Tensor<A>, second: Tensor<B>) -> Result<Zipped<A, B>, Error> {
        let (left, right) = (extents(first.layout())?, extents(second.layout())?);
        if left.len() != right.len() || !left.iter().zip(&right).all(|(a, b)| a.same(*b)) {
            return Err(Error::Shape {
                what: "Zipped",
                a: first.layout().to_string(),
                b: second.layout().to_string(),
                accepted: "two tensors with modes of equal extents",
            });
        }
        Ok(Zipped { first, second })
    }

    /// The two tensors (CuTe's `unzip_tensor`).
    pub fn unzip(self) -> (Tensor<A>, Tensor<B>) {
        (self.first, self.second)
    }

    /// The parts of both tensors at `slice`.
    ///
    /// # Errors
    /// Those of [`Tensor::slice`].
    pub fn slice(&self, slice: impl Into<Slice<i64>>) -> Result<Zipped<A, B>, Error> {
        let slice = slice.into();
        Ok(Zipped { first: self.first.slice(&slice)?, second: self.second.slice(slice)? })
    }

    /// The tiles of both tensors at `coord`.
    ///
    /// # Errors
    /// Those of [`Tensor::local_tile`].
    pub fn local_tile(&self, tiler: &Tiler, coord: impl Into<Slice<i64>>) -> Result<Zipped<A, B>, Error> {
        let coord = coord.into();
        Zipped::new(self.first.local_tile(tiler, &coord)?, self.second.local_tile(tiler, coord)?)
    }

    /// `((TileM,TileN,...),(RestM,RestN,...))` of both tensors.
    ///
    /// # Errors
    /// Those of [`Tensor::zipped_divide`].
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<Zipped<A, B>, Error> {
        Zipped::new(self.first.zipped_divide(tiler)?, self.second.zipped_divide(tiler)?)
    }

    /// The part of both tensors that the thread of number `index` under `threads` has.
    ///
    /// # Errors
    /// Those of [`Tensor::local_partition`].
    pub fn local_partition(&self, threads: &Lay, index: i64) -> Result<Zipped<A, B>, Error> {
        Zipped::new(
            self.first.local_partition(threads, &index)?,
            self.second.local_partition(threads, &index)?,
        )
    }

    /// The values of both tensors that a thread has under a thread-value layout.
    ///
    /// # Errors
    /// Those of [`Tensor::tv_partition`].
    pub fn tv_partition(&self, tv: &Lay, thread: i64) -> Result<Zipped<A, B>, Error> {
        Zipped::new(self.first.tv_partition(tv, &thread)?, self.second.tv_partition(tv, &thread)?)
    }
}

impl<A: Values, B: Values> Zipped<A, B> {
    /// The pair at a 1-D coordinate.
    ///
    /// # Errors
    /// Those of [`Tensor::at`].
    pub fn at(&self, index: i64) -> Result<(A::Value, B::Value), Error> {
        Ok((self.first.at(index)?, self.second.at(index)?))
    }
}

impl<A: Values, B: Values> Source for Zipped<A, B> {
    type Value = (A::Value, B::Value);

    fn layout(&self) -> &Lay {
        self.first.layout()
    }

    fn at(&self, index: i64) -> Result<(A::Value, B::Value), Error> {
        Zipped::at(self, index)
    }
}
