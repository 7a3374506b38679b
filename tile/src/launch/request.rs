//! A kernel with its arguments, on its way to a device.

use std::any::TypeId;
use std::fmt;

use girih_device::Device;
use girih_tensor::DType;

use super::few::Few;
use super::passed::Passed;
use super::words::Constants;
use super::{AnyArray, DeviceArray, HostElement};
use crate::dtype::number::encode;
use crate::error::Result;
use crate::facts::Facts;
use crate::fit;
use crate::hints::Hints;
use crate::ir::Func;

/// A number that a kernel is called with.
pub trait ScalarArgument: Copy {
    /// Its dtype.
    const DTYPE: DType;
    /// Its bits.
    fn bits(self) -> u64;
}

macro_rules! scalars {
    ($($ty:ty as $kind:ident),*) => {$(
        impl ScalarArgument for $ty {
            const DTYPE: DType = <$ty as girih_tensor::Element>::DTYPE;
            fn bits(self) -> u64 {
                encode(Self::DTYPE, crate::dtype::Const::$kind(self.into()))
            }
        }
    )*};
}
scalars!(
    bool as Bool,
    i8 as Int,
    i16 as Int,
    i32 as Int,
    i64 as Int,
    u8 as Int,
    u16 as Int,
    u32 as Int,
    u64 as Int,
    half::f16 as Float,
    half::bf16 as Float,
    f32 as Float,
    f64 as Float
);

/// A kernel's own function: what it does for arguments of which these facts hold.
pub(super) type Source<'a> = Box<dyn Fn(&Facts) -> Result<Func> + 'a>;

/// An array among the arguments.
#[derive(Clone, Copy)]
pub(crate) struct ArrayArgument<'a> {
    pub(crate) array: &'a dyn Passed,
    pub(crate) mutable: bool,
}

/// A kernel with its arguments. [`Launch::run`] puts it into the stream of its device.
///
/// `#[girih::kernel]` makes the function that returns one; arrays and scalars are given in the order of the kernel's parameters.
///
/// The first launch builds the kernel, unless one with equal facts of its arguments has been built ([`Uses`](crate::facts::Uses)). Another
/// launch with arrays of the same extents, strides and alignment costs about as much as a launch that was prepared ([`Launch::prepare`]).
#[must_use = "a launch does nothing until `run` is called"]
pub struct Launch<'a> {
    pub(super) name: &'static str,
    pub(super) kernel: TypeId,
    pub(super) constants: Constants,
    pub(super) source: Source<'a>,
    pub(super) arrays: Few<ArrayArgument<'a>, 8>,
    pub(super) scalars: Few<(DType, u64), 8>,
    pub(super) grid: Option<[u32; 3]>,
    pub(super) stream: Option<Device>,
    pub(super) hints: Hints,
    pub(super) programmatic: bool,
    /// A bit for each array that is no result.
    pub(super) scratch: u64,
}

impl<'a> Launch<'a> {
    /// A launch without arguments so far of the kernel that a type names. `constants` are the kernel's build-time values, and `source` builds
    /// it for arguments of which facts hold.
    pub fn new<K: ?Sized + 'static>(
        name: &'static str,
        constants: Constants,
        source: impl Fn(&Facts) -> Result<Func> + 'a,
    ) -> Launch<'a> {
        Launch::of(name, TypeId::of::<K>(), constants, Box::new(source))
    }

    fn of(name: &'static str, kernel: TypeId, constants: Constants, source: Source<'a>) -> Launch<'a> {
        Launch {
            name,
            kernel,
            constants,
            source,
            arrays: Few::default(),
            scalars: Few::default(),
            grid: None,
            stream: None,
            hints: Hints::default(),
            programmatic: false,
            scratch: 0,
        }
    }

    /// Another launch of the same arguments.
    pub(crate) fn again(&self) -> Launch<'_> {
        Launch {
            source: Box::new(|facts| (self.source)(facts)),
            constants: self.constants.clone(),
            arrays: self.arrays.clone(),
            scalars: self.scalars.clone(),
            stream: self.stream.clone(),
            hints: self.hints.clone(),
            ..*self
        }
    }

    pub(crate) fn hints(&self) -> &Hints {
        &self.hints
    }

    /// The next argument, an array that the kernel reads.
    pub fn array<T: HostElement, const R: usize>(mut self, array: &'a DeviceArray<T, R>) -> Launch<'a> {
        self.arrays.push(ArrayArgument { array, mutable: false });
        self
    }

    /// The next argument, an array that the kernel writes.
    pub fn array_mut<T: HostElement, const R: usize>(
        mut self,
        array: &'a mut DeviceArray<T, R>,
    ) -> Launch<'a> {
        self.arrays.push(ArrayArgument { array, mutable: true });
        self
    }

    /// The next argument, an array that the kernel reads, of a dtype and a rank that are compared with those of the parameter.
    pub fn any(mut self, array: &'a AnyArray) -> Launch<'a> {
        self.arrays.push(ArrayArgument { array, mutable: false });
        self
    }

    /// The next argument, an array that the kernel writes, of a dtype and a rank that are compared with those of the parameter.
    pub fn any_mut(mut self, array: &'a mut AnyArray) -> Launch<'a> {
        self.arrays.push(ArrayArgument { array, mutable: true });
        self
    }

    /// Says of the latest argument, an array that the kernel writes, that it holds no result: what blocks leave in it for one another. A tuner
    /// does not compare it.
    pub fn scratch(mut self) -> Launch<'a> {
        self.scratch |= 1u64.checked_shl(fit::item(self.arrays.len().saturating_sub(1))).unwrap_or(0);
        self
    }

    /// Whether an array holds no result.
    pub(super) fn is_scratch(&self, at: usize) -> bool {
        self.scratch.checked_shr(fit::item(at)).is_some_and(|bits| bits & 1 == 1)
    }

    /// The next argument, a number.
    pub fn scalar(mut self, value: impl ScalarArgument) -> Launch<'a> {
        fn of<S: ScalarArgument>(value: S) -> (DType, u64) {
            (S::DTYPE, value.bits())
        }
        self.scalars.push(of(value));
        self
    }

    /// Blocks along each axis of the grid. Without, the grid has a block for each tile of the array that the kernel stores to, where the
    /// index of the store is a permutation of the block's numbers.
    pub fn grid<const D: usize>(mut self, grid: [u32; D]) -> Launch<'a> {
        const { assert!(D >= 1 && D <= 3, "a grid has 1 to 3 axes") };
        let mut all = [1; 3];
        all[..D].copy_from_slice(&grid);
        self.grid = Some(all);
        self
    }

    /// The stream that the launch goes into. Without, it is that of the first array.
    pub fn on(mut self, stream: &Device) -> Launch<'a> {
        self.stream = Some(stream.clone());
        self
    }

    /// Launches the kernel with these hints, each in the place of the kernel's own of that name; of several calls, the later one counts. The
    /// kernel is built anew for hints that it was not built for.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tile::hints::{Hint, Hints};
    /// use girih_tile::launch::DeviceArray;
    /// use girih_tile::prelude::*;
    ///
    /// #[kernel(occupancy = 2)]
    /// fn twice(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    ///     y.tiles_mut([64]).store((bid(0),), x.tiles([64]).load((bid(0),)) * 2.0);
    /// }
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let x = DeviceArray::upload(&device, &[1.0f32, 2.0, 3.0], [3])?;
    /// let mut y = DeviceArray::zeros(&device, [3])?;
    /// let mut hints = Hints::default();
    /// hints.set(Some("sm_90"), Hint::Occupancy, 4).map_err(|fault| fault.to_string())?;
    /// twice(&x, &mut y).replace_hints(&hints).run()?;
    /// assert_eq!(y.download()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace_hints(mut self, hints: &Hints) -> Launch<'a> {
        self.hints = hints.over(&self.hints);
        self
    }

    /// Lets the kernel begin while the kernel before it in its stream still runs, if the device can (sm_90): it waits for that one before it
    /// touches memory, so that what it costs to begin is hidden. The results are the same.
    pub fn programmatic(mut self) -> Launch<'a> {
        self.programmatic = true;
        self
    }
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launch({}, {} arrays, grid {:?})", self.name, self.arrays.len(), self.grid)
    }
}
