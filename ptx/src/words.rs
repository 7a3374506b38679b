//! The words of PTX: opcodes, modifiers, types and special registers, each an enum with its spelling in one table.
//!
//! # Examples
//! ```
//! use girih_ptx::{Opcode, Type};
//!
//! assert_eq!((Type::parse("bf16x2"), Type::Bf16x2.bits()), (Some(Type::Bf16x2), Some(32)));
//! assert_eq!(Opcode::parse("no_such_opcode"), None);
//! ```

/// Defines an enum of words with `text`, `parse` and `ALL`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is the PTX word of its text")]
        pub enum $name { $($variant),* }

        impl $name {
            /// Every word, in table order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The spelling in PTX.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// The word spelled `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}

words! {
    /// A type of PTX (PTX ISA, "Fundamental Types", "Alternate Floating-Point Data Formats").
    Type {
        Pred = "pred",
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", Bf16 = "bf16", Bf16x2 = "bf16x2", Tf32 = "tf32",
        F32 = "f32", F64 = "f64",
        U16x2 = "u16x2", S16x2 = "s16x2", E4m3 = "e4m3", E5m2 = "e5m2", E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2",
        S4 = "s4", U4 = "u4", S2 = "s2", U2 = "u2", B1 = "b1",
    }
}

impl Type {
    /// Size in bits of a value; a predicate has none.
    pub const fn bits(self) -> Option<u32> {
        Some(match self {
            Type::Pred => return None,
            Type::B1 => 1,
            Type::S2 | Type::U2 => 2,
            Type::S4 | Type::U4 => 4,
            Type::B8 | Type::U8 | Type::S8 | Type::E4m3 | Type::E5m2 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 | Type::E4m3x2 | Type::E5m2x2 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::Tf32 => 32,
            Type::F16x2 | Type::Bf16x2 | Type::U16x2 | Type::S16x2 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 64,
            Type::B128 => 128,
        })
    }

    /// Size in bytes of a value in memory; a predicate and the types below a byte have none.
    pub const fn bytes(self) -> Option<u32> {
        match self.bits() {
            Some(bits) if bits >= 8 => Some(bits / 8),
            _ => None,
        }
    }
}

impl Type {
    /// A bit-size type, `.b32`: untyped data that fits any type of its size.
    pub const fn is_bits(self) -> bool {
        matches!(self, Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128)
    }

    /// A signed or unsigned integer of 8 to 64 bits.
    pub const fn is_int(self) -> bool {
        self.is_signed() || matches!(self, Type::U8 | Type::U16 | Type::U32 | Type::U64)
    }

    /// A fundamental type: registers and variables can be declared with it.
    pub const fn is_register(self) -> bool {
        self.is_bits()
            || self.is_int()
            || matches!(self, Type::Pred | Type::F16 | Type::F16x2 | Type::F32 | Type::F64)
    }

    /// A signed integer of 8 to 64 bits.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }
}

words! {
    /// The first word of an instruction.
    Opcode {
        Abs = "abs", Activemask = "activemask", Add = "add", Alloca = "alloca", Addc = "addc", And = "and",
        Applypriority = "applypriority", Atom = "atom", Bar = "bar", Barrier = "barrier", Bfe = "bfe",
        Bfi = "bfi", Bfind = "bfind", Bmsk = "bmsk", Bra = "bra", Brev = "brev", Brkpt = "brkpt", Brx = "brx", Call = "call", Clz = "clz", Cnot = "cnot",
        Copysign = "copysign", Cos = "cos", Cp = "cp", Createpolicy = "createpolicy", Cvt = "cvt",
        Cvta = "cvta", Discard = "discard", Div = "div", Dp2a = "dp2a", Dp4a = "dp4a", Elect = "elect",
        Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma", Fns = "fns", Getctarank = "getctarank",
        Griddepcontrol = "griddepcontrol", Isspacep = "isspacep", Ld = "ld", Ldmatrix = "ldmatrix",
        Lg2 = "lg2", Lop3 = "lop3", Mad = "mad", Mad24 = "mad24", Madc = "madc", Mapa = "mapa",
        Match = "match", Max = "max", Mbarrier = "mbarrier", Membar = "membar", Min = "min", Mma = "mma",
        Mov = "mov", Movmatrix = "movmatrix", Mul = "mul", Mul24 = "mul24",
        Nanosleep = "nanosleep", Neg = "neg", Not = "not", Or = "or", Pmevent = "pmevent", Popc = "popc", Prefetch = "prefetch",
        Prefetchu = "prefetchu", Prmt = "prmt", Rcp = "rcp", Red = "red", Redux = "redux", Rem = "rem",
        Ret = "ret", Rsqrt = "rsqrt", Sad = "sad", Selp = "selp", Set = "set", Setmaxnreg = "setmaxnreg",
        Setp = "setp", Shf = "shf", Shfl = "shfl", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct",
        Sqrt = "sqrt", St = "st", Stackrestore = "stackrestore", Stacksave = "stacksave", Stmatrix = "stmatrix", Sub = "sub", Subc = "subc", Szext = "szext",
        Tanh = "tanh", Tensormap = "tensormap", Testp = "testp", Trap = "trap", Vote = "vote",
        Wgmma = "wgmma", Wmma = "wmma", Xor = "xor",
        // video instructions on the halves or bytes of a register
        Vadd2 = "vadd2", Vadd4 = "vadd4", Vsub2 = "vsub2", Vsub4 = "vsub4", Vavrg2 = "vavrg2", Vavrg4 = "vavrg4",
        Vabsdiff2 = "vabsdiff2", Vabsdiff4 = "vabsdiff4", Vmin2 = "vmin2", Vmin4 = "vmin4", Vmax2 = "vmax2",
        Vmax4 = "vmax4", Vset2 = "vset2", Vset4 = "vset4",
        // video instructions on whole registers
        Vadd = "vadd", Vsub = "vsub", Vabsdiff = "vabsdiff", Vmin = "vmin", Vmax = "vmax", Vshl = "vshl",
        Vshr = "vshr", Vset = "vset",
    }
}

words! {
    /// A modifier other than a type: `.global`, `.rn`, `.v4`, `.m16n8k16`.
    Word {
        // state spaces
        Param = "param", Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster",
        Global = "global", Const = "const", Local = "local", To = "to", Generic = "generic",
        ParamEntry = "param::entry", ParamFunc = "param::func",
        // vectors and matrices
        V2 = "v2", V4 = "v4", V8 = "v8", X1 = "x1", X2 = "x2", X4 = "x4", Trans = "trans", M8n8 = "m8n8",
        M16n16 = "m16n16", M8n16 = "m8n16", M8n8k4 = "m8n8k4", M8n8k16 = "m8n8k16", M8n8k32 = "m8n8k32",
        M8n8k128 = "m8n8k128", M16n8k4 = "m16n8k4", M16n8k8 = "m16n8k8", M16n8k16 = "m16n8k16",
        M16n8k32 = "m16n8k32", M16n8k64 = "m16n8k64", M16n8k128 = "m16n8k128", M16n8k256 = "m16n8k256",
        M16n16k16 = "m16n16k16", M8n32k16 = "m8n32k16", M32n8k16 = "m32n8k16", M16n16k8 = "m16n16k8",
        Row = "row", Col = "col", A = "a", B = "b", C = "c", D = "d", Popc = "popc", Dim1 = "1d",
        Dim2 = "2d", Dim3 = "3d", Dim4 = "4d", Dim5 = "5d", Tensor = "tensor", Tile = "tile",
        Im2col = "im2col", Im2colNoOffs = "im2col_no_offs", Im2colW = "im2col::w", Im2colW128 = "im2col::w::128",
        // fields of tensor maps
        Replace = "replace", CpFenceproxy = "cp_fenceproxy", B1024 = "b1024", GlobalAddress = "global_address",
        Rank = "rank", BoxDim = "box_dim", GlobalDim = "global_dim", GlobalStride = "global_stride",
        ElementStride = "element_stride", Elemtype = "elemtype", InterleaveLayout = "interleave_layout",
        SwizzleMode = "swizzle_mode", SwizzleAtomicity = "swizzle_atomicity", FillMode = "fill_mode",
        // sparse MMA
        Sp = "sp", SpOrdered = "sp::ordered_metadata",
        // wgmma shapes of k = 8
        M64n8k8 = "m64n8k8", M64n16k8 = "m64n16k8", M64n24k8 = "m64n24k8", M64n32k8 = "m64n32k8",
        M64n40k8 = "m64n40k8", M64n48k8 = "m64n48k8", M64n56k8 = "m64n56k8", M64n64k8 = "m64n64k8",
        M64n72k8 = "m64n72k8", M64n80k8 = "m64n80k8", M64n88k8 = "m64n88k8", M64n96k8 = "m64n96k8",
        M64n104k8 = "m64n104k8", M64n112k8 = "m64n112k8", M64n120k8 = "m64n120k8", M64n128k8 = "m64n128k8",
        M64n136k8 = "m64n136k8", M64n144k8 = "m64n144k8", M64n152k8 = "m64n152k8", M64n160k8 = "m64n160k8",
        M64n168k8 = "m64n168k8", M64n176k8 = "m64n176k8", M64n184k8 = "m64n184k8", M64n192k8 = "m64n192k8",
        M64n200k8 = "m64n200k8", M64n208k8 = "m64n208k8", M64n216k8 = "m64n216k8", M64n224k8 = "m64n224k8",
        M64n232k8 = "m64n232k8", M64n240k8 = "m64n240k8", M64n248k8 = "m64n248k8", M64n256k8 = "m64n256k8",
        // wgmma shapes of k = 16
        M64n8k16 = "m64n8k16", M64n16k16 = "m64n16k16", M64n24k16 = "m64n24k16", M64n32k16 = "m64n32k16",
        M64n40k16 = "m64n40k16", M64n48k16 = "m64n48k16", M64n56k16 = "m64n56k16", M64n64k16 = "m64n64k16",
        M64n72k16 = "m64n72k16", M64n80k16 = "m64n80k16", M64n88k16 = "m64n88k16", M64n96k16 = "m64n96k16",
        M64n104k16 = "m64n104k16", M64n112k16 = "m64n112k16", M64n120k16 = "m64n120k16",
        M64n128k16 = "m64n128k16", M64n136k16 = "m64n136k16", M64n144k16 = "m64n144k16",
        M64n152k16 = "m64n152k16", M64n160k16 = "m64n160k16", M64n168k16 = "m64n168k16",
        M64n176k16 = "m64n176k16", M64n184k16 = "m64n184k16", M64n192k16 = "m64n192k16",
        M64n200k16 = "m64n200k16", M64n208k16 = "m64n208k16", M64n216k16 = "m64n216k16",
        M64n224k16 = "m64n224k16", M64n232k16 = "m64n232k16", M64n240k16 = "m64n240k16",
        M64n248k16 = "m64n248k16", M64n256k16 = "m64n256k16",
        // wgmma shapes of k = 32
        M64n8k32 = "m64n8k32", M64n16k32 = "m64n16k32", M64n24k32 = "m64n24k32", M64n32k32 = "m64n32k32",
        M64n40k32 = "m64n40k32", M64n48k32 = "m64n48k32", M64n56k32 = "m64n56k32", M64n64k32 = "m64n64k32",
        M64n72k32 = "m64n72k32", M64n80k32 = "m64n80k32", M64n88k32 = "m64n88k32", M64n96k32 = "m64n96k32",
        M64n104k32 = "m64n104k32", M64n112k32 = "m64n112k32", M64n120k32 = "m64n120k32",
        M64n128k32 = "m64n128k32", M64n136k32 = "m64n136k32", M64n144k32 = "m64n144k32",
        M64n152k32 = "m64n152k32", M64n160k32 = "m64n160k32", M64n168k32 = "m64n168k32",
        M64n176k32 = "m64n176k32", M64n184k32 = "m64n184k32", M64n192k32 = "m64n192k32",
        M64n200k32 = "m64n200k32", M64n208k32 = "m64n208k32", M64n216k32 = "m64n216k32",
        M64n224k32 = "m64n224k32", M64n232k32 = "m64n232k32", M64n240k32 = "m64n240k32",
        M64n248k32 = "m64n248k32", M64n256k32 = "m64n256k32",
        // wgmma shapes of k = 64, of sparse A
        M64n8k64 = "m64n8k64", M64n16k64 = "m64n16k64", M64n24k64 = "m64n24k64", M64n32k64 = "m64n32k64",
        M64n40k64 = "m64n40k64", M64n48k64 = "m64n48k64", M64n56k64 = "m64n56k64", M64n64k64 = "m64n64k64",
        M64n72k64 = "m64n72k64", M64n80k64 = "m64n80k64", M64n88k64 = "m64n88k64", M64n96k64 = "m64n96k64",
        M64n104k64 = "m64n104k64", M64n112k64 = "m64n112k64", M64n120k64 = "m64n120k64", M64n128k64 =
        "m64n128k64", M64n136k64 = "m64n136k64", M64n144k64 = "m64n144k64", M64n152k64 = "m64n152k64",
        M64n160k64 = "m64n160k64", M64n168k64 = "m64n168k64", M64n176k64 = "m64n176k64", M64n184k64 =
        "m64n184k64", M64n192k64 = "m64n192k64", M64n200k64 = "m64n200k64", M64n208k64 = "m64n208k64",
        M64n216k64 = "m64n216k64", M64n224k64 = "m64n224k64", M64n232k64 = "m64n232k64", M64n240k64 =
        "m64n240k64", M64n248k64 = "m64n248k64", M64n256k64 = "m64n256k64",
        // wgmma shapes of k = 256
        M64n8k256 = "m64n8k256", M64n16k256 = "m64n16k256", M64n24k256 = "m64n24k256",
        M64n32k256 = "m64n32k256", M64n40k256 = "m64n40k256", M64n48k256 = "m64n48k256",
        M64n56k256 = "m64n56k256", M64n64k256 = "m64n64k256", M64n72k256 = "m64n72k256",
        M64n80k256 = "m64n80k256", M64n88k256 = "m64n88k256", M64n96k256 = "m64n96k256",
        M64n104k256 = "m64n104k256", M64n112k256 = "m64n112k256", M64n120k256 = "m64n120k256",
        M64n128k256 = "m64n128k256", M64n136k256 = "m64n136k256", M64n144k256 = "m64n144k256",
        M64n152k256 = "m64n152k256", M64n160k256 = "m64n160k256", M64n168k256 = "m64n168k256",
        M64n176k256 = "m64n176k256", M64n184k256 = "m64n184k256", M64n192k256 = "m64n192k256",
        M64n200k256 = "m64n200k256", M64n208k256 = "m64n208k256", M64n216k256 = "m64n216k256",
        M64n224k256 = "m64n224k256", M64n232k256 = "m64n232k256", M64n240k256 = "m64n240k256",
        M64n248k256 = "m64n248k256", M64n256k256 = "m64n256k256",
        // rounding and arithmetic
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rni = "rni", Rzi = "rzi", Rmi = "rmi",
        Rpi = "rpi", Ftz = "ftz", Noftz = "noftz", Sat = "sat", Satfinite = "satfinite", Relu = "relu",
        Oob = "oob", Approx = "approx", Full = "full", Lo = "lo", Hi = "hi", Wide = "wide", Abs = "abs",
        Xorsign = "xorsign", Cc = "cc", Shiftamt = "shiftamt", Clamp = "clamp", Wrap = "wrap", Left = "l",
        Right = "r", Nan = "NaN", IsNan = "nan", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr",
        Rc16 = "rc16",
        // comparisons and tests
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs", Equ = "equ",
        Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", And = "and",
        Or = "or", Xor = "xor", Finite = "finite", Infinite = "infinite", Number = "number",
        Notanumber = "notanumber", Normal = "normal", Subnormal = "subnormal",
        // reductions, votes and shuffles
        Add = "add", Inc = "inc", Dec = "dec", Min = "min", Max = "max", Cas = "cas", Exch = "exch",
        Red = "red", All = "all", Any = "any", Uni = "uni", Fence = "fence", Ballot = "ballot", Up = "up", Down = "down",
        Bfly = "bfly", Idx = "idx", Mma = "mma", MmaAsync = "mma_async", Load = "load", Store = "store", Mask = "mask",
        // memory access
        Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt", Nc = "nc",
        Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        AcqRel = "acq_rel", Sc = "sc", Weak = "weak", Mmio = "mmio", Cta = "cta", Cluster = "cluster",
        Gpu = "gpu", Gl = "gl", Sys = "sys", Alias = "alias", Proxy = "proxy", Async = "async",
        Unified = "unified", L1 = "L1", L1NoAllocate = "L1::no_allocate", L1EvictFirst = "L1::evict_first",
        L1EvictLast = "L1::evict_last", L1EvictNormal = "L1::evict_normal",
        L1EvictUnchanged = "L1::evict_unchanged", L2 = "L2", L2EvictFirst = "L2::evict_first",
        L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal",
        L2EvictUnchanged = "L2::evict_unchanged", L2CacheHint = "L2::cache_hint", L2Prefetch64 = "L2::64B",
        L2Prefetch128 = "L2::128B", L2Prefetch256 = "L2::256B", Fractional = "fractional", Range = "range", Cvt = "cvt", Pack = "pack",
        Tensormap = "tensormap", TensormapGeneric = "tensormap::generic",
        AsyncGeneric = "async::generic", SyncRestrictCta = "sync_restrict::shared::cta",
        SyncRestrictCluster = "sync_restrict::shared::cluster",
        // control, barriers, asynchronous copies
        Sync = "sync", Aligned = "aligned", Arrive = "arrive", Wait = "wait", Warp = "warp",
        CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all", Bulk = "bulk",
        BulkGroup = "bulk_group", Read = "read", Reduce = "reduce", Prefetch = "prefetch",
        Mbarrier = "mbarrier", Noinc = "noinc", Init = "init", Inval = "inval", ArriveDrop = "arrive_drop",
        ExpectTx = "expect_tx", CompleteTx = "complete_tx", TestWait = "test_wait", TryWait = "try_wait",
        Parity = "parity", PendingCount = "pending_count", NoComplete = "noComplete",
        MbarrierInit = "mbarrier_init", LaunchDependents = "launch_dependents",
        MbarrierCompleteTxBytes = "mbarrier::complete_tx::bytes", MulticastCluster = "multicast::cluster",
    }
}

words! {
    /// A special register (PTX ISA, "Special Registers").
    Special {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        ClusteridX = "%clusterid.x", ClusteridY = "%clusterid.y", ClusteridZ = "%clusterid.z",
        NclusteridX = "%nclusterid.x", NclusteridY = "%nclusterid.y", NclusteridZ = "%nclusterid.z",
        ClusterCtaidX = "%cluster_ctaid.x", ClusterCtaidY = "%cluster_ctaid.y", ClusterCtaidZ = "%cluster_ctaid.z",
        ClusterNctaidX = "%cluster_nctaid.x", ClusterNctaidY = "%cluster_nctaid.y",
        ClusterNctaidZ = "%cluster_nctaid.z",
        ClusterCtarank = "%cluster_ctarank", ClusterNctarank = "%cluster_nctarank",
        IsExplicitCluster = "%is_explicit_cluster",
        Laneid = "%laneid", Warpid = "%warpid", Nwarpid = "%nwarpid", Smid = "%smid", Nsmid = "%nsmid",
        Gridid = "%gridid",
        LanemaskEq = "%lanemask_eq", LanemaskLe = "%lanemask_le", LanemaskLt = "%lanemask_lt",
        LanemaskGe = "%lanemask_ge", LanemaskGt = "%lanemask_gt",
        Clock = "%clock", ClockHi = "%clock_hi", Clock64 = "%clock64",
        Globaltimer = "%globaltimer", GlobaltimerLo = "%globaltimer_lo", GlobaltimerHi = "%globaltimer_hi",
        DynamicSmemSize = "%dynamic_smem_size", TotalSmemSize = "%total_smem_size",
        AggrSmemSize = "%aggr_smem_size", WarpSize = "WARP_SZ",
        // registers that a driver sets
        Envreg0 = "%envreg0", Envreg1 = "%envreg1", Envreg2 = "%envreg2", Envreg3 = "%envreg3", Envreg4 = "%envreg4", Envreg5 = "%envreg5", Envreg6 = "%envreg6", Envreg7 = "%envreg7", Envreg8 = "%envreg8", Envreg9 = "%envreg9", Envreg10 = "%envreg10", Envreg11 = "%envreg11", Envreg12 = "%envreg12", Envreg13 = "%envreg13", Envreg14 = "%envreg14", Envreg15 = "%envreg15", Envreg16 = "%envreg16", Envreg17 = "%envreg17", Envreg18 = "%envreg18", Envreg19 = "%envreg19", Envreg20 = "%envreg20", Envreg21 = "%envreg21", Envreg22 = "%envreg22", Envreg23 = "%envreg23", Envreg24 = "%envreg24", Envreg25 = "%envreg25", Envreg26 = "%envreg26", Envreg27 = "%envreg27", Envreg28 = "%envreg28", Envreg29 = "%envreg29", Envreg30 = "%envreg30", Envreg31 = "%envreg31",
    }
}

impl Special {
    /// The type of a read of the register.
    pub const fn ty(self) -> Type {
        match self {
            Special::Clock64 | Special::Globaltimer | Special::Gridid => Type::U64,
            Special::IsExplicitCluster => Type::Pred,
            _ => Type::U32,
        }
    }
}

/// A modifier of an instruction: a type or another word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// `.f32`
    Type(Type),
    /// `.global`
    Word(Word),
}

impl Modifier {
    /// The spelling in PTX, without the dot.
    pub const fn text(self) -> &'static str {
        match self {
            Modifier::Type(ty) => ty.text(),
            Modifier::Word(word) => word.text(),
        }
    }

    /// The modifier spelled `text` (without the dot).
    pub fn parse(text: &str) -> Option<Self> {
        Type::parse(text).map(Modifier::Type).or_else(|| Word::parse(text).map(Modifier::Word))
    }
}

impl From<Type> for Modifier {
    fn from(ty: Type) -> Self {
        Modifier::Type(ty)
    }
}

impl From<Word> for Modifier {
    fn from(word: Word) -> Self {
        Modifier::Word(word)
    }
}

impl std::fmt::Display for Modifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}
