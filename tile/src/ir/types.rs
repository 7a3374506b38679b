//! Types of values: a dtype and a shape.

use std::fmt;
use std::ops::Deref;

use girih_tensor::DType;

/// The most axes that a tile has.
pub const MAX_RANK: usize = 8;

/// A shape of up to [`MAX_RANK`] extents, in elements. A tile of rank 0 is a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Dims {
    rank: u8,
    extents: [u32; MAX_RANK],
}

impl Dims {
    /// The shape of a scalar.
    pub const SCALAR: Dims = Dims { rank: 0, extents: [0; MAX_RANK] };

    /// The shape with these extents; `None` for more than [`MAX_RANK`].
    pub fn new(extents: &[u32]) -> Option<Dims> {
        let mut dims = Dims { rank: u8::try_from(extents.len()).ok()?, extents: [0; MAX_RANK] };
        dims.extents.get_mut(..extents.len())?.copy_from_slice(extents);
        Some(dims)
    }

    /// A shape of this many extents of 1, at most [`MAX_RANK`].
    pub fn ones(rank: usize) -> Dims {
        Dims::new(&[1; MAX_RANK][..rank]).unwrap_or_default()
    }

    /// Number of elements, or all that 64 bits count.
    pub fn size(&self) -> u64 {
        self.iter().fold(1, |size, &n| size.saturating_mul(n.into()))
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// Numbers of axes as such.
    pub(crate) fn modes(&self) -> Vec<usize> {
        self.iter().map(|&axis| axis as usize).collect()
    }

    /// The shape with `extent` along `axis`. The axis must exist.
    pub fn with(&self, axis: usize, extent: u32) -> Dims {
        let mut dims = *self;
        dims.extents[axis] = extent;
        dims
    }
}

impl Deref for Dims {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.extents[..usize::from(self.rank)]
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, n) in self.iter().enumerate() {
            write!(f, "{}{n}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The shape.
    pub dims: Dims,
}

impl Type {
    /// A scalar of this dtype.
    pub const fn scalar(dtype: DType) -> Type {
        Type { dtype, dims: Dims::SCALAR }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.dims)
    }
}
