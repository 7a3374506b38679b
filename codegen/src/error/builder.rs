//! Errors of a kernel that a [`Builder`](crate::Builder) writes.

use girih_tensor::DType;

crate::errors! {
    /// A kernel, or a part of one, that [`Builder`](crate::Builder) and the algorithms do not write.
    BuilderError {
        /// A block of no threads, or of too many.
        #[error("a block of {threads} threads: 1 to {most} are accepted")]
        Threads { threads: u32 = "The threads.", most: u32 = "The most that a block has." }
        /// A block with a part of a warp, for an algorithm of whole warps.
        #[error("a reduction or scan of a block of {threads} threads: multiples of 32 are accepted, which are whole warps")]
        WholeWarps { threads: i64 = "The threads." }
        /// Something that the architecture does not have.
        #[error("{what} for sm_{sm}: sm_{least} and newer are accepted")]
        Target { what: &'static str = "What was used.", sm: u32 = "The kernel's architecture.", least: u32 = "The first that has it." }
        /// A cluster of no blocks, or of too many.
        #[error("a cluster of {blocks:?} blocks: 1 to {most} in all are accepted")]
        Cluster { blocks: [u32; 3] = "Blocks along x, y and z.", most: u32 = "The most in all." }
        /// A second call of [`Builder::cluster`](crate::Builder::cluster).
        #[error("a cluster of {blocks:?} blocks in a kernel that has one of {first:?}: one call of `Builder::cluster` is accepted")]
        ClusterTwice { blocks: [u32; 3] = "The blocks of the second call.", first: [u32; 3] = "Those of the first call." }
        /// A reduction of a cluster in a kernel that has none.
        #[error("a reduction of a cluster in a kernel without clusters: a kernel that calls `Builder::cluster` is accepted")]
        NoCluster {}
        /// A name that PTX does not have.
        #[error("the {what} {name:?}: letters, digits, _ and $ are accepted, but no digit first")]
        Name { what: &'static str = "What is named.", name: String = "The name." }
        /// Two parameters of one name.
        #[error("another parameter `{name}`: a name is accepted that no other parameter has, and not {shared}, the name of shared memory")]
        ParameterTwice { name: String = "The name.", shared: &'static str = "The name of shared memory." }
        /// A parameter of a dtype that launches have no arguments of.
        #[error("a parameter of {dtype}: f64, f32, s64, u64, s32 and u32 are accepted")]
        ParameterDType { dtype: DType = "The dtype." }
        /// More symbols than layouts can distinguish.
        #[error("symbol {} of a kernel: at most {most} symbols are accepted", most + 1)]
        Symbols { most: usize = "The most." }
        /// Facts of another symbol than the one that they were asked for.
        #[error("facts of the symbol s{symbol}: s{given}, which the closure was given, is accepted with more facts")]
        SymbolFacts { symbol: u8 = "The symbol that was returned.", given: u8 = "The symbol that was given." }
        /// A matrix whose rows do not begin at whole bytes.
        #[error("a matrix of {dtype} with a pitch of {pitch} elements: multiples of {multiple} are accepted, so that rows begin at whole bytes")]
        Pitch { dtype: DType = "The dtype of the elements.", pitch: String = "The pitch.", multiple: u32 = "Elements of whole bytes." }
        /// A number of a tensor map that the hardware does not have.
        #[error("{what} = {value} of a tensor map: multiples of {multiple} from 1 to {most} elements are accepted")]
        TensorMap {
            what: &'static str = "The extent or pitch.", value: i64 = "Its value.", multiple: i64 = "What must divide it.", most: i64 = "The most.",
        }
        /// An access of memory in code that may only compute.
        #[error("{what} contains `{instruction}`: computations on registers are accepted, and inputs for values in memory")]
        MemoryAccess { what: &'static str = "The code.", instruction: String = "The access." }
        /// A dividend that may be negative.
        #[error("a division of {dividend}, which may be {least}: a dividend that is known to be 0 or more is accepted")]
        Dividend { dividend: String = "The dividend.", least: i64 = "Its least value." }
        /// A divisor that may be 0 or negative.
        #[error("a division by {divisor}, which may be {least}: a divisor that is known to be 1 or more is accepted")]
        Divisor { divisor: String = "The divisor.", least: i64 = "Its least value." }
        /// A loop that may begin below 0.
        #[error("a loop from {first}, which may be {least}: a first value that is known to be 0 or more is accepted")]
        LoopFirst { first: String = "The first value.", least: i64 = "Its least value." }
        /// A loop whose step may be 0 or negative.
        #[error("a loop in steps of {step}, which may be {least}: a step that is known to be 1 or more is accepted")]
        LoopStep { step: String = "The step.", least: i64 = "Its least value." }
        /// A loop whose counter may overflow.
        #[error("a loop to {end}, which may be {}, in steps of up to {}: an end is accepted whose sum with the step is known to be below 2^31", most[0], most[1])]
        LoopEnd { end: String = "The end.", most: [i64; 2] = "The greatest value of the end and of the step." }
        /// A branch out of a block that has ended.
        #[error("a branch to `{label}`, the end of a block that has ended: an open block is accepted")]
        EndedBlock { label: String = "The label at the end of the block." }
        /// A branch to the beginning of a block that is no loop.
        #[error("a branch to the beginning of the block that ends at `{label}`: a loop of `Builder::open_repeat` is accepted")]
        NoLoop { label: String = "The label at the end of the block." }
        /// The end of a block that contains open blocks.
        #[error("the end of a block at depth {depth} with blocks open to depth {open}: the innermost block is accepted")]
        OpenBlocks { depth: usize = "The depth of the block.", open: usize = "The depth of the innermost one." }
        /// A named barrier that a block does not have.
        #[error("barrier {id}, which is known to be in {}..={}: 1 to {most} are accepted, since barrier 0 is that of the whole block", range.0, range.1)]
        Barrier { id: String = "The id.", range: (i64, i64) = "Its least and greatest value.", most: i64 = "The last barrier." }
        /// A number of threads that a barrier does not support.
        #[error("a barrier of {threads} threads: multiples of 32 up to 1024 are accepted")]
        BarrierThreads { threads: u32 = "The threads." }
        /// A number of registers that `setmaxnreg` does not have.
        #[error("{registers} registers of a thread: multiples of 8 from 24 to 256 are accepted")]
        Registers { registers: u32 = "The registers." }
        /// An alignment that shared memory does not have.
        #[error("an alignment of {align} bytes in shared memory: powers of two up to {most} are accepted")]
        SharedAlignment { align: i64 = "The alignment.", most: i64 = "The most." }
        /// More shared memory than a block has.
        #[error("{bytes} bytes of shared memory after the {used} in use: 0 to {left} are accepted")]
        SharedMemory { bytes: String = "The bytes.", used: i64 = "Bytes in use, with alignment.", left: i64 = "Bytes that are left." }
        /// A shuffle across more lanes than a warp has.
        #[error("a shuffle by {lanes} lanes: 0 to 31 are accepted")]
        ShuffleLanes { lanes: u32 = "The lanes." }
        /// A dtype that `match.any` does not compare.
        #[error("match_any of {dtype}: dtypes of 32 and 64 bits are accepted")]
        MatchDType { dtype: DType = "The dtype." }
        /// A format whose conversions are not those of the values.
        #[error("printf of {format:?} with {conversions} conversions for {values} values: one conversion for each value is accepted, without `*` and zero bytes")]
        Format { format: String = "The format.", conversions: usize = "Its conversions.", values: usize = "The values." }
        /// A conversion that does not print its value's dtype.
        #[error("printf of {format:?} with %{conversion} for a {dtype}: %f, %e, %g for floats, %d, %u, %x for 32 bits and %lld, %llu, %llx for 64 are accepted")]
        Conversion { format: String = "The format.", conversion: String = "The conversion.", dtype: DType = "The dtype of the value." }
        /// A module with kernels or source files to include.
        #[error("a module with {found} to include: functions and variables are accepted; `Module::link` brings kernels together")]
        IncludedKernel { found: &'static str = "What it contains." }
        /// Two functions or variables of one name.
        #[error("another `{name}` to include: one function or variable of a name is accepted")]
        IncludedTwice { name: String = "The name." }
    }
}
