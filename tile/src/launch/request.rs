//! A kernel with its arguments, on its way to a device.

use std::any::TypeId;
use std::fmt;
use std::ops::Range;

use girih_device::{BufferArg, Device};
use girih_tensor::DType;

use super::{DeviceArray, HostElement, LaunchError, is_injective};
use crate::dtype::number::encode;
use crate::error::Error;
use crate::facts::Facts;
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
pub(super) type Source<'a> = Box<dyn Fn(&Facts) -> Result<Func, Error> + 'a>;

/// An array among the arguments.
pub(super) struct ArrayArgument<'a> {
    pub(super) dtype: DType,
    pub(super) mutable: bool,
    pub(super) extents: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) bytes: Range<u64>,
    pub(super) device: &'a Device,
    pub(super) buffer: BufferArg<'a>,
}

/// A kernel with its arguments. [`Launch::run`] puts it into the stream of its device.
///
/// `#[girih::kernel]` makes the function that returns one; arrays and scalars are given in the order of the kernel's parameters.
#[must_use = "a launch does nothing until `run` is called"]
pub struct Launch<'a> {
    pub(super) name: &'static str,
    pub(super) kernel: TypeId,
    pub(super) constants: String,
    pub(super) source: Source<'a>,
    pub(super) arrays: Vec<ArrayArgument<'a>>,
    pub(super) scalars: Vec<(DType, u64)>,
    pub(super) grid: Option<[u32; 3]>,
    pub(super) stream: Option<Device>,
}

impl<'a> Launch<'a> {
    /// A launch without arguments so far of the kernel that a type names. `constants` tells the kernel's build-time values apart, whatever
    /// they are, and `source` builds it for arguments of which facts hold.
    pub fn new<K: ?Sized + 'static>(
        name: &'static str,
        constants: String,
        source: impl Fn(&Facts) -> Result<Func, Error> + 'a,
    ) -> Launch<'a> {
        Launch {
            name,
            kernel: TypeId::of::<K>(),
            constants,
            source: Box::new(source),
            arrays: Vec::new(),
            scalars: Vec::new(),
            grid: None,
            stream: None,
        }
    }

    fn with<T: HostElement, const R: usize>(mut self, array: &'a DeviceArray<T, R>, mutable: bool) -> Self {
        let first = array.bytes().start - array.buffer().address();
        self.arrays.push(ArrayArgument {
            dtype: T::DTYPE,
            mutable,
            extents: array.extents().to_vec(),
            strides: array.strides().to_vec(),
            bytes: array.bytes(),
            device: array.device(),
            buffer: BufferArg::from(array.buffer()).from_byte(first as usize),
        });
        self
    }

    /// The next argument, an array that the kernel reads.
    pub fn array<T: HostElement, const R: usize>(self, array: &'a DeviceArray<T, R>) -> Launch<'a> {
        self.with(array, false)
    }

    /// The next argument, an array that the kernel writes.
    pub fn array_mut<T: HostElement, const R: usize>(self, array: &'a mut DeviceArray<T, R>) -> Launch<'a> {
        self.with(array, true)
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

    /// A parameter's name for messages, before the kernel is built.
    pub(super) fn array_name(&self, func: &Func, at: usize) -> String {
        match func.arrays().get(at) {
            Some(crate::ir::Array::Param(param)) => param.name.clone(),
            _ => format!("argument {at}"),
        }
    }

    /// Checks that no array that is written overlaps itself or another argument, and that all are on one device.
    pub(super) fn check_memory(&self, func: &Func, device: &Device) -> Result<(), LaunchError> {
        let kernel = || self.name.to_string();
        for (at, array) in self.arrays.iter().enumerate() {
            if !array.device.is_same(device) {
                return Err(LaunchError::OtherDevice { kernel: kernel(), array: self.array_name(func, at) });
            }
            if !array.mutable {
                continue;
            }
            if !is_injective(&array.extents, &array.strides) {
                return Err(LaunchError::OverlappingStrides {
                    kernel: kernel(),
                    array: self.array_name(func, at),
                    extents: array.extents.clone(),
                    strides: array.strides.clone(),
                });
            }
            for (beside, other) in self.arrays.iter().enumerate() {
                let start = array.bytes.start.max(other.bytes.start);
                let bytes = array.bytes.end.min(other.bytes.end).saturating_sub(start);
                if beside != at && bytes > 0 {
                    return Err(LaunchError::Alias {
                        kernel: kernel(),
                        array: self.array_name(func, at),
                        other: self.array_name(func, beside),
                        bytes,
                    });
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launch({}, {} arrays, grid {:?})", self.name, self.arrays.len(), self.grid)
    }
}
