//! Errors of copies: the atoms of bulk copies, and the configurations of kernels that copy.

use girih_tensor::DType;

use super::family;

crate::errors! {
    /// A bulk copy that PTX does not have, or a copy kernel that cannot be built.
    CopyError {
        /// A transfer that only tensors have.
        #[error("a bulk copy by {transfer}: Load, Store and Prefetch are accepted; `CopyAtom::bulk_reduce` is for reductions")]
        Transfer { transfer: String = "The transfer." }
        /// A reduction that does not combine values of a dtype.
        #[error("a bulk copy that combines {dtype} by {op}: {} are accepted", family::names(accepted))]
        Reduction { op: String = "The operation.", dtype: DType = "The dtype.", accepted: Vec<DType> = "The dtypes that it combines." }
        /// A tensor of a rank that TMA copies do not have.
        #[error("a TMA copy of rank {rank}: 1 to 5 are accepted")]
        Rank { rank: u32 = "The rank." }
        /// A bulk copy of a part of 16 bytes.
        #[error("a bulk copy of {bits} bits: positive multiples of 128 are accepted")]
        Bits { bits: i64 = "The bits." }
        /// A copy kernel of elements that no register holds.
        #[error("a copy of {dtype}: elements of 1, 2, 4 or 8 bytes are accepted")]
        DType { dtype: DType = "The dtype." }
        /// A mode whose tile, extent or padding does not fit.
        #[error(
            "mode {number} of a copy is {mode}: tiles of 1 element and more are accepted, which cover a known extent without padding, and \
             divisors of 1 and more"
        )]
        Mode { number: usize = "The mode's number.", mode: String = "The mode." }
        /// A side whose order, run or vector does not fit the modes.
        #[error(
            "the {which} of a copy is {side}: every mode once is accepted, a run whose modes but the last are whole tiles, and vectors of up \
             to 16 bytes along it with a positive stride"
        )]
        Side { which: &'static str = "`src` or `dst`.", side: String = "The side." }
        /// Sides of different orders, without shared memory between them.
        #[error("a copy through registers of {dst} and {src}: sides of one order, run and vector are accepted")]
        Sides { dst: String = "The destination.", src: String = "The source." }
        /// A gather that the kernel does not do.
        #[error(
            "{gather}: indices of s32, u32 or s64 are accepted along a mode after a run of one mode, through registers and without padding"
        )]
        Gather { gather: String = "The gather." }
        /// Bulk copies of tiles or vectors that they do not have.
        #[error(
            "bulk copies in {stages} stages of tiles of {tile}: 2 to 64 stages are accepted, of tiles of one mode with vectors of 16 bytes, by \
             persistent blocks"
        )]
        Bulk { stages: i64 = "The stages.", tile: String = "The tile." }
        /// A band of tiles that is no power of two, or too large.
        #[error("bands of {band} tiles: powers of two up to {most} are accepted")]
        Band { band: i64 = "The band.", most: i64 = "The most." }
        /// A tile that the threads' registers do not hold.
        #[error("a tile of {tile} for {threads} threads: 1 to 1024 threads are accepted, with at most {most} words of 4 bytes each")]
        Threads { tile: String = "The tile.", threads: i64 = "The threads.", most: i64 = "The most words of a thread." }
        /// More tiles than a grid has blocks, or persistent blocks count.
        #[error("{tiles} tiles of {tile}: at most {most} are accepted")]
        Tiles { tiles: u64 = "The tiles.", tile: String = "The tile.", most: i64 = "The most." }
    }
}
