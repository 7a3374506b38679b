//! The words of PTX: opcodes, modifiers, types and special registers, each an enum with its spelling in one table.

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
    }
}

impl Type {
    /// Size in bytes of a value in memory; a predicate has none.
    pub const fn bytes(self) -> Option<u32> {
        Some(match self {
            Type::Pred => return None,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 | Type::Tf32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::B128 => 16,
        })
    }
}

words! {
    /// The first word of an instruction.
    Opcode {
        Abs = "abs", Add = "add", And = "and", Bar = "bar", Bra = "bra", Cp = "cp", Cvt = "cvt", Cvta = "cvta",
        Div = "div", Ex2 = "ex2", Exit = "exit", Fma = "fma", Ld = "ld", Ldmatrix = "ldmatrix", Lg2 = "lg2",
        Mad = "mad", Max = "max", Min = "min", Mma = "mma", Mov = "mov", Mul = "mul", Neg = "neg", Not = "not",
        Or = "or", Rcp = "rcp", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Selp = "selp", Setp = "setp",
        Shl = "shl", Shr = "shr", Sqrt = "sqrt", St = "st", Sub = "sub", Xor = "xor",
    }
}

words! {
    /// What follows an opcode, type words apart: `.global`, `.rn`, `.v4`, `.m16n8k16`.
    Word {
        // state spaces
        Param = "param", Shared = "shared", SharedCta = "shared::cta", Global = "global", Const = "const",
        Local = "local", To = "to",
        // vectors and matrices
        V2 = "v2", V4 = "v4", V8 = "v8", X1 = "x1", X2 = "x2", X4 = "x4", Trans = "trans",
        M8n8 = "m8n8", M16n8k8 = "m16n8k8", M16n8k16 = "m16n8k16", Row = "row", Col = "col",
        // rounding and arithmetic
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        Ftz = "ftz", Sat = "sat", Approx = "approx", Full = "full", Lo = "lo", Hi = "hi", Wide = "wide", Nan = "NaN",
        // comparisons
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num",
        And = "and", Or = "or", Xor = "xor",
        // memory access
        Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt", Nc = "nc",
        Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release", Weak = "weak",
        L1NoAllocate = "L1::no_allocate", L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last",
        L2Prefetch64 = "L2::64B", L2Prefetch128 = "L2::128B", L2Prefetch256 = "L2::256B",
        // control, barriers, asynchronous copies
        Uni = "uni", Sync = "sync", Aligned = "aligned", Arrive = "arrive", Warp = "warp", Async = "async",
        CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all",
    }
}

words! {
    /// A special register (PTX ISA, "Special Registers").
    Special {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        Laneid = "%laneid", Warpid = "%warpid", Smid = "%smid", Nsmid = "%nsmid", Gridid = "%gridid",
        Clock = "%clock", Clock64 = "%clock64", Globaltimer = "%globaltimer",
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
