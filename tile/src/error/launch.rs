//! Errors of launches.

use std::ops::{Deref, Range};
use std::sync::Arc;

use girih_tensor::DType;

use crate::figures::{Assembled, Spill};

girih_codegen::errors! {
    /// Why a launch, or an array for it, is refused. Extents and strides are in elements.
    LaunchError {
        /// An extent that kernels cannot count to.
        #[error("an extent of {extent} along axis {axis}: at most 2^31 - 1 is accepted")]
        Extent { axis: usize = "The axis.", extent: usize = "The extent." }
        /// An extent or a stride that a kernel was not built for.
        #[error("`{kernel}` is given `{array}` with {what} of {value} along axis {axis}: {accepted} is accepted")]
        Size {
            kernel: String = "The kernel.", array: String = "The array.", what: &'static str = "Extent or stride.",
            axis: usize = "The axis.", value: i64 = "What is given.", accepted: String = "What would be accepted.",
        }
        /// Elements outside of the buffer.
        #[error("elements {extents:?}:{strides:?} from element {offset} on are not all in a buffer of {elements} elements")]
        Outside {
            offset: usize = "The first element.", extents: Vec<usize> = "Extents.", strides: Vec<usize> = "Strides.",
            elements: usize = "Elements of the buffer.",
        }
        /// Elements smaller than a byte that do not fill whole bytes.
        #[error(
            "elements of {dtype} {extents:?}:{strides:?} from element {offset} on: two share a byte, so that the stride 1 and an even extent along \
             the last axis, even strides along others and an even first element are accepted"
        )]
        Pairs {
            dtype: girih_tensor::DType = "The dtype.", offset: usize = "The first element.", extents: Vec<usize> = "Extents.",
            strides: Vec<usize> = "Strides.",
        }
        /// Another number of elements than the extents say.
        #[error("{given} elements for an array {extents:?}, which has as many as the product of its extents")]
        Elements { given: usize = "Elements given.", extents: Vec<usize> = "Extents." }
        /// Axes that are no permutation.
        #[error("the axes {axes:?} are no permutation of 0 to {}", .axes.len().saturating_sub(1))]
        Axes { axes: Vec<usize> = "The axes." }
        /// An array that there is not when its dtype and rank are known at run time alone.
        #[error("an array of {dtype} of rank {rank}: dtypes of whole bytes and rank 1 to 4 are accepted")]
        NoArray { dtype: DType = "The dtype.", rank: usize = "The rank." }
        /// A part that an array does not have.
        #[error("the elements {range:?} along axis {axis} are not in an array {extents:?}")]
        Slice { axis: usize = "The axis.", range: Range<usize> = "The elements.", extents: Vec<usize> = "The array's extents." }
        /// Another number of arguments than the kernel has parameters, or others.
        #[error("`{kernel}` has the parameters {wanted}, and is given {given}")]
        Arguments { kernel: String = "The kernel.", wanted: String = "Its parameters.", given: String = "What it is given." }
        /// An array that a kernel writes and that shares memory with another argument.
        #[error("`{kernel}` writes `{array}`, which has {bytes} bytes in common with `{other}`: an array that is written is accepted if no other argument overlaps it; a kernel that works in place takes one `&mut` array")]
        Alias {
            kernel: String = "The kernel.", array: String = "The array that is written.", other: String = "The other argument.",
            bytes: u64 = "Bytes between the first and the last element that both have.",
        }
        /// An array that a kernel writes and whose elements share memory.
        #[error("`{kernel}` writes `{array}`, whose layout {extents:?}:{strides:?} has several coordinates for one element: strides that keep elements apart are accepted")]
        OverlappingStrides {
            kernel: String = "The kernel.", array: String = "The array.", extents: Vec<usize> = "Extents.",
            strides: Vec<usize> = "Strides.",
        }
        /// An array in the memory of another device than the launch's.
        #[error("`{array}` is in the memory of another device than `{kernel}` is launched on")]
        OtherDevice { kernel: String = "The kernel.", array: String = "The array." }
        /// A grid that was not given and does not follow from the stores.
        #[error("the grid of `{kernel}` does not follow from its stores ({why}): `.grid([x, y, z])` is accepted")]
        NoGrid { kernel: String = "The kernel.", why: String = "What of them." }
        /// A grid with an extent that the device does not have.
        #[error("a grid of {grid:?} blocks for `{kernel}`: 1 to {limit} along axis {axis} is accepted")]
        GridExtent {
            kernel: String = "The kernel.", grid: [u32; 3] = "The grid.", axis: usize = "The axis.",
            limit: u32 = "The most blocks along it.",
        }
        /// A grid of more blocks than each that runs can count.
        #[error("a grid of {grid:?} blocks for `{kernel}`: 1 to {limit} blocks in all are accepted")]
        GridBlocks { kernel: String = "The kernel.", grid: [u32; 3] = "The grid.", limit: u32 = "The most blocks." }
        /// A grid whose blocks access tiles that an array does not have.
        #[error("{blocks} blocks along axis {axis} of the grid of `{kernel}` access tiles of `{array}` along its axis {along}, which has {tiles}: at most {tiles} blocks are accepted")]
        GridBeyond {
            kernel: String = "The kernel.", axis: usize = "Axis of the grid.", blocks: u32 = "Blocks along it.",
            array: String = "The array.", along: usize = "Axis of the array.", tiles: u64 = "Tiles along it.",
        }
        /// Stores of different blocks that were proved disjoint on a condition that does not hold here.
        #[error("blocks of `{kernel}` store to disjoint elements of `{array}` only if {condition}")]
        Condition { kernel: String = "The kernel.", array: String = "The array.", condition: String = "What must hold." }
        /// A result that depends on elements that do not exist, where the load does not say what is there instead.
        #[error("a result of `{kernel}` depends on what its load of `{array}`{site} has beyond the end of the array, which is undetermined padding: tiles of {tile} along axis {axis}, whose extent is {extent}; `.padding(Padding::Zero)` is accepted, or another value that changes nothing")]
        Padding {
            kernel: String = "The kernel.", array: String = "The array.",
            site: String = "Where the load is, after ` at `; empty where nobody knows.",
            axis: usize = "The axis along which the tile reaches beyond the array.", tile: i64 = "Elements of a tile along it.",
            extent: i64 = "Elements of the array along it.",
        }
        /// A kernel whose program is another one each time it is built.
        #[error("`{kernel}` is another program when it is built again: {what}; what a kernel reads of the host, such as a `static`, is fixed when the kernel is built: pass it as an argument")]
        HostState { kernel: String = "The kernel.", what: String = "The operations that differ first." }
        /// A loop in steps of 0 or fewer, which would never end.
        #[error("a loop of `{kernel}`{site} is accepted where {condition}")]
        Step {
            kernel: String = "The kernel.", site: String = "Where the loop is, after ` at `; empty where nobody knows.",
            condition: String = "What must hold.",
        }
        /// An array without elements along an axis that the kernel divides by.
        #[error("`{kernel}` divides by the extent of `{array}` along axis {axis}, which is 0: 1 or more is accepted")]
        Empty { kernel: String = "The kernel.", array: String = "The array.", axis: usize = "The axis." }
        /// A launch without arrays and without a stream.
        #[error("`{kernel}` has no arrays that say which device it runs on: `.on(&stream)` is accepted")]
        NoDevice { kernel: String = "The kernel." }
        /// What was recorded, or is to be measured, that is not of this launch.
        #[error("{found}: {accepted} is accepted")]
        Record { found: String = "What was found.", accepted: String = "What would be accepted." }
    }

    /// What a launch does that is accepted and hardly meant. Extents are in elements.
    Warning {
        /// Elements of an output that no store reaches: a grid, a loop or a tile is too small.
        #[error(
            "no block of the grid {grid:?} of `{kernel}` stores to elements {covered} to {} of `{array}` along axis {axis}: {covered} of {extent} are covered", extent - 1
        )]
        Short {
            kernel: String = "The kernel.", array: String = "The array.", axis: usize = "The axis of the array.",
            grid: [u32; 3] = "The grid.", covered: i64 = "Stores reach the elements below this one.",
            extent: i64 = "Elements of the array along the axis.",
        }
        /// A result that may depend on elements that do not exist, where the load does not say what is there instead.
        #[error("a result of `{kernel}` may depend on what its load of `{array}`{site} has beyond the end of the array, which is undetermined padding: tiles of {tile} along axis {axis}, whose extent is {extent}; `.padding(Padding::Zero)` is accepted, or another value that changes nothing")]
        Padding {
            kernel: String = "The kernel.", array: String = "The array.",
            site: String = "Where the load is, after ` at `; empty where nobody knows.",
            axis: usize = "The axis along which the tile reaches beyond the array.", tile: i64 = "Elements of a tile along it.",
            extent: i64 = "Elements of the array along it.",
        }
        /// A thread that needs more registers than it can have.
        #[error("`{kernel}`: {spill}")]
        Spill { kernel: String = "The kernel.", spill: Spill = "What is needed, and by which tile." }
        /// What NVIDIA's assembler objects to in the kernel, where `GIRIH_PTXAS` names it: spills, a stack frame, or a note that it has serialised
        /// `wgmma` or ignored what was asked of it (`C75xx`).
        #[error("`{kernel}`: ptxas: {assembled}")]
        Assembled { kernel: String = "The kernel.", assembled: Assembled = "What it reports." }
    }
}

/// The warnings of a launch, as a list of [`Warning`]. The library prints nothing: a program that wants to know asks the launch.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_tile::launch::DeviceArray;
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn ones_of(y: &mut Array<f32, 1>) {
///     y.tiles_mut([4]).store((bid(0),), ones::<f32>([4]));
/// }
///
/// let device = Device::open(Select::Sim)?;
/// let mut y = DeviceArray::zeros(&device, [10])?;
/// assert!(ones_of(&mut y).warnings()?.is_empty());
/// let warnings = ones_of(&mut y).grid([2]).warnings()?;
/// assert_eq!(
///     warnings[0].to_string(),
///     "no block of the grid [2, 1, 1] of `ones_of` stores to elements 8 to 9 of `y` along axis 0: 8 of 10 are covered"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Warnings(Option<Arc<[Warning]>>);

impl Warnings {
    pub(crate) fn new(list: Vec<Warning>) -> Warnings {
        Warnings((!list.is_empty()).then(|| list.into()))
    }

    /// These and more.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = Warning>) -> Warnings {
        Warnings::new(self.iter().cloned().chain(more).collect())
    }
}

impl Deref for Warnings {
    type Target = [Warning];
    fn deref(&self) -> &[Warning] {
        self.0.as_deref().unwrap_or_default()
    }
}
