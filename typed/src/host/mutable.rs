//! Tensors that can be written, and their parts.

use girih_layout::{Lay, Tiler};

use super::storage::{Exclusive, Packed, StorageMut};
use super::{Host, Storage, SubByte, known_size, within};
use girih_tensor::{Error, Slice, Tensor};

/// A view of values that can be written through this view, and through nothing else while it exists.
///
/// A `TensorMut` cannot be copied. [`TensorMut::partition`] divides it among several owners, after a check that no two
/// owners share a value. (This takes no `unsafe`: the values are in cells. The check keeps results well defined, not
/// memory safe.)
///
/// ```
/// use girih_layout::lay;
/// use girih_typed::host::ViewMut;
///
/// let mut data = [0; 8];
/// let matrix = ViewMut::new(&mut data, lay!("(4,2):(1,4)"))?;
/// // Two threads, each with every second row.
/// let mut parts = matrix.partition(2, |all, thread| all.local_partition(&lay!("(2,1):(1,1)"), &thread))?;
/// for (thread, part) in parts.iter_mut().enumerate() {
///     for i in 0..4 {
///         part.set(i, thread as i32 + 1)?;
///     }
/// }
/// assert_eq!(data, [1, 2, 1, 2, 1, 2, 1, 2]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
#[derive(Debug)]
pub struct TensorMut<S> {
    tensor: Tensor<Host<S>>,
    /// Whether no other `TensorMut` is a part of the same memory.
    sole: bool,
}

/// A Rust slice as a tensor that can be written.
pub type ViewMut<'a, T> = TensorMut<Exclusive<'a, T>>;

/// Packed elements smaller than a byte as a tensor that can be written.
pub type PackedMut<'a, P> = TensorMut<Packed<Exclusive<'a, u8>, P>>;

impl<'a, T: Copy> ViewMut<'a, T> {
    /// `data` as `layout` arranges it.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches outside `data`.
    pub fn new(data: &'a mut [T], layout: Lay) -> Result<Self, Error> {
        Ok(TensorMut::new_sole(within(Exclusive::new(data), &layout)?, layout))
    }
}

impl<'a, P: SubByte> PackedMut<'a, P> {
    /// Elements smaller than a byte, the first of a byte in its lowest bits.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches outside `bytes`.
    pub fn packed(bytes: &'a mut [u8], layout: Lay) -> Result<Self, Error> {
        Ok(TensorMut::new_sole(within(Packed::new(Exclusive::new(bytes)), &layout)?, layout))
    }
}

impl<S: StorageMut> TensorMut<S> {
    fn new_sole(engine: Host<S>, layout: Lay) -> TensorMut<S> {
        TensorMut { tensor: Tensor::new(engine, layout), sole: true }
    }

    /// The layout of the values.
    pub fn layout(&self) -> &Lay {
        self.tensor.layout()
    }

    /// A tensor to read the values from. It borrows this tensor, so that nothing is written while it exists.
    pub fn view(&self) -> Tensor<Host<Reading<'_, S>>> {
        let Host { storage, offset } = self.tensor.engine();
        Tensor::new(Host { storage: Reading(storage), offset: *offset }, *self.tensor.layout())
    }

    /// The value at a 1-D coordinate.
    ///
    /// # Errors
    /// As [`Tensor::at`].
    pub fn at(&self, index: i64) -> Result<S::Value, Error> {
        self.tensor.at(index)
    }

    /// The value at a coordinate.
    ///
    /// # Errors
    /// As [`Tensor::get`].
    pub fn get(&self, coord: impl Into<Slice<i64>>) -> Result<S::Value, Error> {
        self.tensor.get(coord)
    }

    /// Replaces the value at a 1-D coordinate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Beyond`] past the end of a ragged tile; [`Error::OutOfType`] for a value that a
    /// packed type does not have.
    pub fn set(&mut self, index: i64, value: S::Value) -> Result<(), Error> {
        write(self.tensor.slice(Slice::At(index))?.engine(), value)
    }

    /// Replaces the values at 1-D coordinates: all of them, or none.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// use girih_tensor::Slice;
    /// use girih_typed::host::ViewMut;
    /// let mut data = [0; 6];
    /// let mut last = ViewMut::new(&mut data, lay!("(6):(1)"))?.local_tile(&tiler!("<4>"), &[Slice::at(1)])?;
    /// assert!(last.set_all(vec![(0, 5), (2, 7)]).is_err()); // place 6
    /// last.set_all(vec![(0, 5), (1, 7)])?;
    /// assert_eq!(data, [0, 0, 0, 0, 5, 7]);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`TensorMut::set`], before anything is written.
    pub fn set_all(&mut self, values: Vec<(i64, S::Value)>) -> Result<(), Error> {
        for (index, value) in &values {
            self.tensor.at(*index)?;
            self.tensor.engine().storage.check(*value)?;
        }
        values.into_iter().try_for_each(|(index, value)| self.set(index, value))
    }

    /// Replaces the value at a coordinate.
    ///
    /// # Errors
    /// As [`TensorMut::set`]; [`Error::NoCoordinate`] for a coordinate with `_`.
    pub fn put(&mut self, coord: impl Into<Slice<i64>>, value: S::Value) -> Result<(), Error> {
        let coord = coord.into();
        self.tensor.get(&coord)?; // a coordinate with `_` names no value
        write(self.tensor.slice(coord)?.engine(), value)
    }

    /// Only the part at `slice`.
    ///
    /// # Errors
    /// Those of [`Tensor::slice`].
    pub fn slice(self, slice: impl Into<Slice<i64>>) -> Result<TensorMut<S>, Error> {
        Ok(TensorMut { tensor: self.tensor.slice(slice)?, sole: self.sole })
    }

    /// The parts `part(self, 0)`, ..., `part(self, count - 1)`, each of which can be written by its owner: tiles,
    /// threads' partitions, or whatever else operations on tensors give.
    ///
    /// # Errors
    /// [`Error::Overlap`] if two parts have a value in common, or if a part has a place that this tensor does not have,
    /// as the last tile of a ragged divide does; those of `part`.
    pub fn partition(
        self,
        count: usize,
        part: impl for<'b> Fn(&Tensor<Host<Reading<'b, S>>>, i64) -> Result<Tensor<Host<Reading<'b, S>>>, Error>,
    ) -> Result<Vec<TensorMut<S>>, Error> {
        let storage = self.tensor.engine().storage;
        let all = self.view();
        let mut owner = vec![Owner::Nobody; storage.len()];
        for index in indices(&all)? {
            if let Some(owner) = usize::try_from(index).ok().and_then(|index| owner.get_mut(index)) {
                *owner = Owner::Whole;
            }
        }
        let mut parts = Vec::new();
        for number in 0..count {
            let tensor = part(&all, number as i64)?;
            for (i, index) in indices(&tensor)?.into_iter().enumerate() {
                let owner = usize::try_from(index).ok().and_then(|index| owner.get_mut(index));
                match owner {
                    Some(owner @ Owner::Whole) => *owner = Owner::Part(number),
                    Some(Owner::Part(own)) if *own == number => {}
                    other => {
                        return Err(Error::Overlap {
                            part: number,
                            value: i,
                            layout: tensor.layout().to_string(),
                            index,
                            other: match other {
                                Some(Owner::Part(other)) => Some(*other),
                                _ => None,
                            },
                        });
                    }
                }
            }
            // `part` may return the engine of another tensor, so only its offset and layout are taken; the values are
            // this tensor's.
            let engine = Host { storage, offset: tensor.engine().offset };
            parts.push(TensorMut { tensor: Tensor::new(engine, *tensor.layout()), sole: false });
        }
        Ok(parts)
    }

    /// A single part: a tile, or a thread's partition. If this tensor is not itself a part, the new part may reach past
    /// the end, as the last tile of a ragged divide does; a write past the end is an error.
    ///
    /// # Errors
    /// [`Error::Overlap`] if this tensor is a part of another and does not have all values of the new part; those of
    /// `part`.
    pub fn part(
        self,
        part: impl for<'b> Fn(&Tensor<Host<Reading<'b, S>>>) -> Result<Tensor<Host<Reading<'b, S>>>, Error>,
    ) -> Result<TensorMut<S>, Error> {
        if !self.sole {
            let parts = self.partition(1, |all, _| part(all))?;
            return parts.into_iter().next().ok_or(Error::Beyond { index: 0, len: 0 });
        }
        let (offset, layout) = {
            let tensor = part(&self.view())?;
            (tensor.engine().offset, *tensor.layout())
        };
        let engine = Host { storage: self.tensor.engine().storage, offset };
        Ok(TensorMut { tensor: Tensor::new(engine, layout), sole: true })
    }

    /// The tile at `coord`, as [`Tensor::local_tile`] gives it, as a [`TensorMut::part`].
    ///
    /// # Errors
    /// Those of the two functions.
    pub fn local_tile(self, tiler: &Tiler, coord: impl Into<Slice<i64>>) -> Result<TensorMut<S>, Error> {
        let coord = coord.into();
        self.part(|all| all.local_tile(tiler, &coord))
    }

    /// One part for each thread of a thread-value layout, `(Thr,Val) -> index in the tensor`.
    ///
    /// # Errors
    /// [`Error::Overlap`] if two threads have a value in common; those of [`Tensor::tv_partition`].
    pub fn tv_partition(self, tv: &Lay) -> Result<Vec<TensorMut<S>>, Error> {
        let threads = known_size("tv_partition", &tv.mode(0)?)?;
        self.partition(usize::try_from(threads).unwrap_or(0), |all, thread| all.tv_partition(tv, &thread))
    }

    /// One part for each tile that `tiler` cuts, in colexicographic order.
    ///
    /// # Errors
    /// [`Error::Overlap`] if the tiler does not divide the tensor; those of [`Tensor::zipped_divide`].
    pub fn tiles(self, tiler: &Tiler) -> Result<Vec<TensorMut<S>>, Error> {
        let rest = self.tensor.zipped_divide(tiler)?.layout().mode(1)?; // (RestM,RestN)
        let count = known_size("tiles", &rest)?;
        self.partition(usize::try_from(count).unwrap_or(0), |all, tile| {
            all.inner_partition(tiler, Slice::At(tile))
        })
    }
}

/// Storage that reads the values of a [`TensorMut`] while that is borrowed.
#[derive(Debug)]
pub struct Reading<'a, S>(&'a S);

impl<S> Clone for Reading<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Reading<'_, S> {}

impl<S: Storage> Storage for Reading<'_, S> {
    type Value = S::Value;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn read(&self, index: usize) -> Option<S::Value> {
        self.0.read(index)
    }
    fn value_name(&self) -> &'static str {
        self.0.value_name()
    }
}

/// Who owns a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The tensor does not have the value.
    Nobody,
    /// The tensor has the value, and no part has taken it yet.
    Whole,
    Part(usize),
}

/// The places of a tensor's values in storage, in colexicographic order.
fn indices<S: Storage>(tensor: &Tensor<Host<S>>) -> Result<Vec<i64>, Error> {
    let size = known_size("partition", tensor.layout())?;
    (0..size).map(|i| Ok(tensor.slice(Slice::At(i))?.engine().offset)).collect()
}

fn write<S: StorageMut>(engine: &Host<S>, value: S::Value) -> Result<(), Error> {
    let beyond = |_| Error::Beyond { index: engine.offset, len: engine.storage.len() };
    engine.storage.write(usize::try_from(engine.offset).map_err(beyond)?, value)
}
