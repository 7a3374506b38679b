//! Errors of GEMM configurations, epilogues and problems.

use girih_tensor::DType;

use super::family;

crate::errors! {
    /// A GEMM that [`gemm::generate`](crate::gemm::generate) does not build, or that its kernel does not compute.
    GemmError {
        /// Programmatic dependent launch with a mainloop that does not wait for it.
        #[error("programmatic = true with a multistage mainloop: false is accepted")]
        Programmatic {}
        /// A batch that the mainloop does not have.
        #[error("batch = {batch} with {with}: {accepted} is accepted")]
        Batch { batch: String = "The batch.", with: &'static str = "What it does not fit.", accepted: &'static str = "The batches that fit." }
        /// Groups along a mode that C does not have.
        #[error("groups along mode {mode} of C: 0 and 1 are accepted")]
        GroupMode { mode: usize = "The mode." }
        /// Groups with a schedule that does not end at their ends.
        #[error("groups with the schedule {schedule} and a multicast among {multicast} blocks: Persistent {{ alternate: false }} without a multicast is accepted")]
        GroupSchedule { schedule: String = "The schedule.", multicast: i64 = "The blocks of a multicast." }
        /// Vectors along groups, which may begin at any element.
        #[error("vectors of {vector} elements of {operand} along groups: 1 is accepted")]
        GroupVector { operand: String = "The operand.", vector: i64 = "The elements of a vector." }
        /// A dtype of C that the accumulators are not converted to.
        #[error("c_type = {c_type} with accumulators of {accumulator}: {} are accepted", family::names(accepted))]
        CType {
            c_type: DType = "The dtype of C.", accumulator: DType = "The dtype of the accumulators.",
            accepted: &'static [DType] = "The dtypes that C may have.",
        }
        /// An atom that the mainloop or the epilogue does not have.
        #[error("atom = {atom} with {with}: {accepted} are accepted")]
        Atom { atom: String = "The atom.", with: &'static str = "What it does not fit.", accepted: &'static str = "The atoms that fit." }
        /// An arrangement of atoms that the mainloop does not have.
        #[error("atoms = {atoms}: {accepted} is accepted")]
        Atoms { atoms: String = "The layout of the atoms.", accepted: &'static str = "The layouts that fit." }
        /// An atom with more columns than the registers of its instruction hold.
        #[error("atom = {atom} with {warpgroups} warpgroups: at most {most} columns are accepted")]
        AtomColumns { atom: String = "The atom.", warpgroups: i64 = "The warpgroups that multiply.", most: i64 = "The most columns." }
        /// Too few or too many stages.
        #[error("stages = {stages}: {least} to {most} are accepted")]
        Stages { stages: i64 = "The stages.", least: i64 = "The least.", most: i64 = "The most." }
        /// A number of fragments that are not kept in registers.
        #[error("fragments = {fragments}: 1 and 2 are accepted")]
        Fragments { fragments: usize = "The fragments." }
        /// A tile that the atoms do not divide, or a large one.
        #[error("{mode} = {extent} of a tile: multiples of {unit} from {unit} to {most} are accepted")]
        Tile { mode: &'static str = "`M`, `N` or `K`.", extent: i64 = "The extent.", unit: i64 = "The extent of the atoms.", most: i64 = "The most." }
        /// A tile that does not alternate between two fragments of k-blocks.
        #[error("K = {k} of a tile, which are {blocks} k-blocks: an even number of them is accepted, at least 2")]
        KBlocks { k: i64 = "The extent.", blocks: i64 = "The k-blocks." }
        /// A block of other threads than whole warps.
        #[error("threads = {threads}: multiples of 32 from 32 to 1024 are accepted")]
        Threads { threads: i64 = "The threads." }
        /// A tile whose accumulators do not fit in the threads' registers.
        #[error("a tile of {m} x {n}, which takes {registers} registers of a thread for accumulators and operands: at most {most} are accepted")]
        Accumulators { m: i64 = "The rows.", n: i64 = "The columns.", registers: i64 = "What a thread needs.", most: i64 = "What it has for them." }
        /// More registers than a block has.
        #[error(
            "registers = {producer} for the producer and {consumer} for each of {consumers} consumers: at most {most} are accepted for a thread \
             of each warpgroup together"
        )]
        Registers {
            producer: i64 = "The registers of a producer's thread.", consumer: i64 = "Those of a consumer's thread.",
            consumers: i64 = "The warpgroups that multiply.", most: i64 = "The most together.",
        }
        /// More shared memory than a block has.
        #[error("{bytes} bytes of shared memory for stages, barriers and C: at most {most} are accepted")]
        SharedMemory { bytes: i64 = "The bytes.", most: i64 = "The most." }
        /// A vector of a load that no instruction copies.
        #[error("vectors of {vector} elements of {bytes} bytes from global memory: a power of two of 1 to 16 bytes is accepted")]
        LoadVector { vector: i64 = "The elements of a vector.", bytes: i64 = "Bytes of an element." }
        /// Too few or too many teams.
        #[error("teams = {teams} with {with}: 1 to {most} are accepted")]
        Teams { teams: i64 = "The teams.", with: String = "What does not have more.", most: i64 = "The most." }
        /// A multicast among blocks that do not have whole swizzles each.
        #[error("multicast = {multicast} of {columns} columns: 1, 2, 4 or 8 blocks are accepted, each of whole swizzles")]
        Multicast { multicast: i64 = "The blocks.", columns: i64 = "The columns of a tile." }
        /// A multicast where blocks split K.
        #[error("multicast = {multicast} with the schedule {schedule}: 1 is accepted if blocks split K")]
        SplitMulticast { multicast: i64 = "The blocks.", schedule: String = "The schedule." }
        /// An interval of promotions that does not divide the MMAs of a tile.
        #[error("mma_promotion_interval = {interval}: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the {mmas} MMAs along K of a tile")]
        PromotionInterval { interval: i64 = "The interval in MMAs.", mmas: i64 = "The MMAs along K of a tile." }
        /// A mixed input of a dtype that is not converted.
        #[error("a mixed input of {dtype}: {} are accepted", family::names(accepted))]
        MixedInput { dtype: DType = "The dtype.", accepted: &'static [DType] = "The dtypes that are converted." }
        /// Scales of a mixed input of a dtype that does not scale.
        #[error("scales of {dtype} of a mixed input: {} are accepted", family::names(accepted))]
        MixedScale { dtype: DType = "The dtype.", accepted: &'static [DType] = "The dtypes of scales." }
        /// Groups of a mixed input that end within a tile.
        #[error("groups of {group} elements along K with a scale each: multiples of {k} are accepted, the K of a tile")]
        ScaleGroup { group: i64 = "The elements of a group.", k: i64 = "K of a tile." }
        /// Block scales without promotions.
        #[error("block scales with {atom} and mma_promotion_interval = 0: 8-bit floats with an interval are accepted")]
        BlockScales { atom: String = "The atom." }
        /// Block scales that change within an atom's rows or columns.
        #[error(
            "granularity = {granularity:?} of a tile of {tile:?}: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times \
             as many or a divisor, and along K a multiple of the tile"
        )]
        Granularity { granularity: [i64; 3] = "Elements with one scale along M, N and K.", tile: [i64; 3] = "The tile." }
        /// Scales of an operand that has none.
        #[error("scales of {operand}: A of a mixed input is accepted, and A and B of a mainloop with block scales")]
        Scales { operand: String = "The operand." }
        /// Another number of feeds than a warp-specialised mainloop loads by.
        #[error("{feeds} feeds: {accepted} are accepted, for A, for B, and for each operand's scales")]
        Feeds { feeds: usize = "The feeds.", accepted: usize = "The operands and scales." }
        /// Groups of rows in an order of tiles that are empty, or too large.
        #[error("rasters of {group} rows of tiles: 1 to {most} are accepted")]
        RasterGroup { group: i64 = "The rows of a group.", most: i64 = "The most." }
        /// A multistage mainloop that is asked to iterate over K backwards.
        #[error("alternate = true with a multistage mainloop: false is accepted")]
        Alternate {}
        /// Too few or too many splits of K.
        #[error("split-K with {splits} splits: 2 to {most} are accepted")]
        Splits { splits: i64 = "The splits.", most: i64 = "The most." }
        /// A cluster that does not have a split for each block.
        #[error("split-K with {splits} splits in clusters of {cluster} blocks: 1, 2, 4 or 8 blocks are accepted that divide the splits")]
        SplitCluster { splits: i64 = "The splits.", cluster: i64 = "The blocks of a cluster." }
        /// A cluster that splits K with a multistage mainloop.
        #[error("split-K in clusters of {cluster} blocks with a multistage mainloop: 1 is accepted")]
        MultistageCluster { cluster: i64 = "The blocks of a cluster." }
        /// A cluster whose blocks cannot combine a part of the tile each.
        #[error("N = {n} of a tile that {cluster} blocks of a cluster combine: the columns of one atom are accepted, a multiple of {unit} that the blocks share")]
        ClusterColumns { n: i64 = "The columns of the tile.", cluster: i64 = "The blocks of the cluster.", unit: i64 = "What must divide the columns." }
        /// Threads that hold copies of the same accumulators, where blocks split K.
        #[error("{accumulators} accumulators for the {elements} elements of a tile, if blocks split K: one for each element is accepted")]
        Duplicates { accumulators: i64 = "The accumulators of all threads.", elements: i64 = "The elements." }
        /// A store that does not fit the schedule, the mainloop or the epilogue.
        #[error("store = {store} with {with}: {accepted} is accepted")]
        Store { store: String = "The store.", with: &'static str = "What it does not fit.", accepted: &'static str = "The stores that fit." }
        /// A vector of a store that no instruction stores.
        #[error("vectors of {vector} elements in the store of C: powers of two up to {most} are accepted")]
        StoreVector { vector: i64 = "The elements of a vector.", most: i64 = "The most." }
        /// A vector of a coalesced store by which the threads do not divide the subtile.
        #[error("vectors of {vector} elements in a coalesced store of C: vectors are accepted into which 128 threads divide 64 rows of {columns} columns")]
        StoreLanes { vector: i64 = "The elements of a vector.", columns: i64 = "The columns of a subtile." }
        /// Rows of a store that are no rows of atoms, or do not divide the tile.
        #[error("a store of {rows} rows at once: multiples of {unit} are accepted that divide {m}")]
        StoreRows { rows: i64 = "The rows of a subtile.", unit: i64 = "The rows of the atoms.", m: i64 = "The rows of the tile." }
        /// Columns of a store that are no columns of atoms, or do not divide the tile.
        #[error("a store of {columns} columns at once: divisors of {n} are accepted that are the columns of a part of an atom, or of several atoms of {atom}")]
        StoreColumns { columns: i64 = "The columns of a subtile.", n: i64 = "The columns of the tile.", atom: i64 = "Those of an atom." }
        /// Stages of a store that do not divide its subtiles.
        #[error("a store in {stages} stages: divisors of the {subtiles} subtiles are accepted")]
        StoreStages { stages: i64 = "The stages.", subtiles: i64 = "The subtiles of a tile." }
        /// A C of columns with an epilogue of gated pairs of columns.
        #[error("c_major = {major} with a gated epilogue: K is accepted")]
        GatedMajor { major: String = "The contiguous mode of C." }
        /// A gated epilogue of nodes that it does not have.
        #[error("the gated epilogue {epilogue}: {accepted} is accepted")]
        Gate { epilogue: String = "The key of the epilogue.", accepted: &'static str = "The epilogues that can be gated." }
        /// An input whose vectors no instruction loads.
        #[error("the input {input} of an epilogue: vectors of a power of two of elements are accepted, at most {most}")]
        InputVector { input: String = "The input.", most: i64 = "The most elements of a vector." }
        /// Two different inputs of one name.
        #[error("the input {input} of an epilogue: inputs of different names are accepted, or one input of several nodes")]
        InputTwice { input: String = "The second input." }
        /// An output with the name of another output or of an input.
        #[error("the output {output} of an epilogue: inputs and outputs of different names are accepted")]
        OutputTwice { output: String = "The second output." }
        /// An output that the epilogue does not reduce.
        #[error("the output {output} of an epilogue: a scalar, a row or a column of {computed} is accepted")]
        Output { output: String = "The output.", computed: DType = "The dtype that the epilogue computes in." }
        /// More tiles than a grid, or an order of tiles, has.
        #[error("{tiles} tiles of {tile:?}: at most {most} are accepted")]
        Tiles { tiles: i64 = "The tiles of all problems.", tile: [i64; 2] = "Rows and columns of a tile of a cluster.", most: i64 = "The most." }
        /// More tiles along a mode than a work unit of stream-K counts.
        #[error("{tiles} {what} with stream-K: at most {most} are accepted")]
        WorkUnits { what: &'static str = "What is counted.", tiles: u32 = "How many there are.", most: u32 = "The most." }
        /// More rows than a copy of A or B counts.
        #[error("a copy of A or B with {rows} rows in all: at most {most} are accepted")]
        CopiedRows { rows: i64 = "The rows of all matrices.", most: i64 = "The most." }
        /// A copy of A or B of more tiles than a grid has blocks.
        #[error("a copy of A or B in {tiles} tiles: at most {most} are accepted")]
        CopiedTiles { tiles: u64 = "The tiles of all matrices.", most: i64 = "The most." }
        /// A copy of neither A nor B.
        #[error("a copy of no matrix: A, B or both are accepted")]
        NothingCopied {}
    }
}
