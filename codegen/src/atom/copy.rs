//! Copy atoms: loads, stores and copies between memories and registers (CuTe's `Copy_Atom` and `Copy_Traits`).

mod catalogue;
mod reduction;
mod tensor;

use std::fmt;

use girih_layout::{Lay, Message};
use girih_ptx::{Modifier, Opcode, Type, Word};
use girih_tensor::{DType, Space};

pub use catalogue::*;
pub use reduction::Reduction;
pub(crate) use tensor::{tensor_element, tensor_swizzle};

/// Which caches `cp.async` goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// `.ca`: the caches of all levels.
    Always,
    /// `.cg`: the L2 cache alone.
    Global,
}

/// What a bulk copy does with its piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// Global memory to the shared memory of the block; an mbarrier counts the bytes.
    Load,
    /// Global memory to the same place in the shared memory of several blocks of the cluster
    /// ([`CopyWith::blocks`](crate::algorithm::CopyWith::blocks)), for TMA copies. The mbarrier at the same place in each block counts the
    /// bytes that come there.
    Multicast,
    /// Shared to global memory, in a bulk group.
    Store,
    /// Shared memory is combined with global memory by an operation, in a bulk group.
    Reduce(Reduction),
    /// Global memory to the L2 cache.
    Prefetch,
}

/// The instruction of a copy atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyOp {
    /// `ld`, `st` or `mov` through registers, by the tensors' spaces.
    Universal,
    /// The widest universal copy up to the atom's bits that layouts and alignment allow.
    AutoVectorizing,
    /// `shfl`: pairs of lanes whose numbers differ in the bit `xor` transpose their two registers.
    Shuffle {
        /// The bit: 1 or 4.
        xor: u32,
    },
    /// `cp.async`: global to shared memory.
    CpAsync {
        /// The caches that the copy goes through.
        cache: Cache,
        /// Whether values that a predicate excludes become zero instead of staying as they are.
        zfill: bool,
    },
    /// `ldmatrix`: shared memory to a warp's registers.
    Ldmatrix {
        /// The number of 8x8 matrices of 16-bit elements.
        matrices: u32,
        /// Whether each matrix is transposed on the way.
        transposed: bool,
    },
    /// `stmatrix`: a warp's registers to shared memory.
    Stmatrix {
        /// The number of 8x8 matrices of 16-bit elements.
        matrices: u32,
        /// Whether each matrix is transposed on the way.
        transposed: bool,
    },
    /// `movmatrix`: an 8x8 matrix of 16-bit elements is transposed between registers.
    Movmatrix,
    /// `red.global.add`: registers are added to global memory.
    RedAdd {
        /// What one register holds: f32, f16x2 or bf16x2.
        ty: Type,
        /// How many registers.
        vector: u32,
    },
    /// `cp.async.bulk`: contiguous bytes.
    Bulk(Transfer),
    /// `cp.reduce.async.bulk`: contiguous values in shared memory are combined with the values in global memory.
    BulkReduce {
        /// The operation.
        op: Reduction,
        /// The dtype of the values.
        dtype: DType,
    },
    /// `cp.async.bulk.tensor`: a box of a tensor that a tensor map describes.
    Tma {
        /// What the copy does.
        transfer: Transfer,
        /// Dimensions of the tensor, 1 to 5.
        rank: u32,
    },
}

/// A copy instruction, and which thread moves which bits.
///
/// The three layouts map `(Thr,Val)` to a bit of what the atom moves. The reference is the side, source or destination, that the
/// thread-value layout of a [`TiledCopy`](crate::TiledCopy) speaks of: the side in registers, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyAtom {
    /// The instruction.
    pub op: CopyOp,
    /// The threads that execute it together.
    pub threads: Lay,
    /// (Thr,Val) -> bit, of the source.
    pub src: Lay,
    /// (Thr,Val) -> bit, of the destination.
    pub dst: Lay,
    /// (Thr,Val) -> bit, of the reference.
    pub reference: Lay,
    /// Least compute capability, as in sm_80.
    pub sm: u32,
}

impl CopyAtom {
    /// Bits that a thread's part of the reference holds.
    pub const fn bits(&self) -> u32 {
        let Ok(values) = self.reference.mode(1) else { return 0 };
        let Ok(size) = values.size() else { return 0 };
        match size.get() {
            Some(bits @ 0..=0xffff_ffff) => bits as u32,
            _ => 0,
        }
    }

    /// CuTe's name; atoms that CuTe does not have are named in its manner.
    ///
    /// ```
    /// use girih_codegen::atom::{CopyAtom, SM75_U16X8_LDSM_T};
    /// assert_eq!(SM75_U16X8_LDSM_T.name(), "SM75_U16x8_LDSM_T");
    /// assert_eq!(CopyAtom::find("SM75_U16x8_LDSM_T"), Some(SM75_U16X8_LDSM_T));
    /// assert!(CopyAtom::all().len() > 50);
    /// ```
    pub fn name(&self) -> String {
        let mut name = Message::EMPTY;
        self.spell(&mut name);
        name.as_str().to_owned()
    }

    /// Writes the name; constants can call this.
    pub(crate) const fn spell(&self, out: &mut Message) {
        let bits = self.bits() as usize;
        match self.op {
            CopyOp::Universal => numbered(out, "UniversalCopy<uint", bits, "_t>"),
            CopyOp::AutoVectorizing => numbered(out, "AutoVectorizingCopyWithAssumedAlignment<", bits, ">"),
            CopyOp::Shuffle { xor } => numbered(out, "SM50_Shuffle_U32_2x2Trans_XOR", xor as usize, ""),
            CopyOp::CpAsync { cache, zfill } => {
                out.text("SM80_CP_ASYNC_");
                out.text(if matches!(cache, Cache::Always) { "CACHEALWAYS" } else { "CACHEGLOBAL" });
                numbered(out, if zfill { "_ZFILL<uint" } else { "<uint" }, bits, "_t>");
            }
            CopyOp::Ldmatrix { matrices, transposed } => {
                of_matrices(out, "SM75_U", matrices, transposed, "_LDSM")
            }
            CopyOp::Stmatrix { matrices, transposed } => {
                of_matrices(out, "SM90_U", matrices, transposed, "_STSM")
            }
            CopyOp::Movmatrix => out.text("SM75_U32x1_MOVM_T"),
            CopyOp::RedAdd { ty, vector } => {
                numbered(out, "SM", self.sm as usize, "_RED_ADD_");
                out.upper(ty.text());
                numbered(out, "_V", vector as usize, "");
            }
            CopyOp::Bulk(Transfer::Load) => out.text("SM90_BULK_COPY_G2S"),
            CopyOp::Bulk(Transfer::Prefetch) => out.text("SM90_BULK_COPY_G2S::PREFETCH"),
            CopyOp::Bulk(_) => out.text("SM90_BULK_COPY_S2G"),
            CopyOp::BulkReduce { op, dtype } => {
                out.text("SM90_BULK_REDUCE_");
                out.upper(op.word().text());
                out.text("_");
                out.upper(dtype.name());
            }
            CopyOp::Tma { transfer, rank } => {
                out.text("SM90_TMA_");
                match transfer {
                    Transfer::Load | Transfer::Prefetch => out.text("LOAD"),
                    Transfer::Multicast => out.text("LOAD_MULTICAST"),
                    Transfer::Store => out.text("STORE"),
                    Transfer::Reduce(op) => {
                        out.text("REDUCE_");
                        out.upper(op.word().text());
                    }
                }
                let prefetch = matches!(transfer, Transfer::Prefetch);
                numbered(out, "_", rank as usize, if prefetch { "D::PREFETCH" } else { "D" });
            }
        }
    }

    /// The atom of this name; a bulk copy, whose size is free, is one of 16 bytes.
    pub fn find(name: &str) -> Option<CopyAtom> {
        CopyAtom::all().into_iter().find(|atom| atom.name() == name)
    }

    /// The spaces that the atom reads and writes; `None` where any space will do.
    pub const fn spaces(&self) -> [Option<Space>; 2] {
        let (gmem, smem, rmem) = (Some(Space::Gmem), Some(Space::Smem), Some(Space::Rmem));
        match self.op {
            CopyOp::Universal | CopyOp::AutoVectorizing => [None, None],
            CopyOp::Shuffle { .. } | CopyOp::Movmatrix => [rmem, rmem],
            CopyOp::CpAsync { .. } => [gmem, smem],
            CopyOp::Ldmatrix { .. } => [smem, rmem],
            CopyOp::Stmatrix { .. } => [rmem, smem],
            CopyOp::RedAdd { .. } => [rmem, gmem],
            CopyOp::BulkReduce { .. } => [smem, gmem],
            CopyOp::Bulk(transfer) | CopyOp::Tma { transfer, .. } => match transfer {
                Transfer::Load | Transfer::Multicast => [gmem, smem],
                Transfer::Store | Transfer::Reduce(_) => [smem, gmem],
                Transfer::Prefetch => [gmem, None],
            },
        }
    }

    /// What the instruction needs of memory, in words, for the error of a copy that does not have it.
    pub(crate) const fn takes(&self) -> &'static str {
        match self.op {
            CopyOp::CpAsync { .. } => "values that lie together on both sides, aligned to their size",
            CopyOp::Ldmatrix { .. } | CopyOp::Stmatrix { .. } => {
                "rows of 16 bytes that lie together in shared memory, at multiples of 16"
            }
            CopyOp::RedAdd { .. } => {
                "values that lie together in memory, aligned to their size, and whole registers"
            }
            CopyOp::Bulk(_) | CopyOp::BulkReduce { .. } => "bytes that lie together, at multiples of 16",
            _ => "vectors that lie together in memory, aligned to their size, and in whole registers",
        }
    }

    /// The opcode; `None` for universal copies, which are `ld`, `st` or `mov` by the tensors' spaces.
    pub fn opcode(&self) -> Option<Opcode> {
        match self.op {
            CopyOp::Universal | CopyOp::AutoVectorizing => None,
            CopyOp::Shuffle { .. } => Some(Opcode::Shfl),
            CopyOp::Ldmatrix { .. } => Some(Opcode::Ldmatrix),
            CopyOp::Stmatrix { .. } => Some(Opcode::Stmatrix),
            CopyOp::Movmatrix => Some(Opcode::Movmatrix),
            CopyOp::RedAdd { .. } => Some(Opcode::Red),
            CopyOp::CpAsync { .. } | CopyOp::Bulk(_) | CopyOp::BulkReduce { .. } | CopyOp::Tma { .. } => {
                Some(Opcode::Cp)
            }
        }
    }

    /// The modifiers that follow the opcode; universal copies have none.
    pub fn modifiers(&self) -> Vec<Modifier> {
        let words = |words: &[Word]| words.iter().map(|&word| Modifier::Word(word)).collect::<Vec<_>>();
        let mut out = match self.op {
            CopyOp::Universal | CopyOp::AutoVectorizing => Vec::new(),
            CopyOp::Shuffle { .. } => words(&[Word::Sync, Word::Bfly]),
            CopyOp::CpAsync { cache, .. } => {
                let cache = if cache == Cache::Always { Word::Ca } else { Word::Cg };
                words(&[Word::Async, cache, Word::Shared, Word::Global])
            }
            CopyOp::Ldmatrix { matrices, transposed } | CopyOp::Stmatrix { matrices, transposed } => {
                let count = [Word::X1, Word::X2, Word::X4][matrices.trailing_zeros().min(2) as usize];
                let mut out = words(&[Word::Sync, Word::Aligned, Word::M8n8, count]);
                out.extend(transposed.then_some(Modifier::Word(Word::Trans)));
                out.push(Word::Shared.into());
                out
            }
            CopyOp::Movmatrix => words(&[Word::Sync, Word::Aligned, Word::M8n8, Word::Trans]),
            CopyOp::RedAdd { ty, vector } => {
                let mut out = words(&[Word::Global, Word::Add]);
                out.extend((ty != Type::F32).then_some(Modifier::Word(Word::Noftz)));
                out.extend((vector > 1).then_some(Modifier::Word(if vector == 2 {
                    Word::V2
                } else {
                    Word::V4
                })));
                out
            }
            CopyOp::Bulk(transfer) => words(bulk(transfer)),
            CopyOp::BulkReduce { op, dtype } => {
                let mut out = words(&[Word::Reduce]);
                out.extend(words(bulk(Transfer::Store)));
                out.push(op.word().into());
                let half = matches!(dtype, DType::F16 | DType::Bf16);
                out.extend((op == Reduction::Add && half).then_some(Modifier::Word(Word::Noftz)));
                out
            }
            CopyOp::Tma { transfer, rank } => tensor(transfer, rank),
        };
        out.extend(match self.op {
            CopyOp::Shuffle { .. } => Some(Modifier::Type(Type::B32)),
            CopyOp::Ldmatrix { .. } | CopyOp::Stmatrix { .. } | CopyOp::Movmatrix => Some(Type::B16.into()),
            CopyOp::RedAdd { ty, .. } => Some(ty.into()),
            CopyOp::BulkReduce { op, dtype } => op.ty(dtype).map(Modifier::Type),
            _ => None,
        });
        out
    }
}

const fn numbered(out: &mut Message, before: &str, n: usize, after: &str) {
    out.text(before);
    out.number(n);
    out.text(after);
}

/// Writes the registers of a name: 32 bits each, or 16 bits where matrices are transposed.
const fn of_matrices(out: &mut Message, before: &str, matrices: u32, transposed: bool, word: &str) {
    let (registers, bits) = if transposed { (2 * matrices, 16) } else { (matrices, 32) };
    numbered(out, before, bits, "x");
    numbered(out, "", registers as usize, word);
    out.text(if transposed { "_T" } else { "_N" });
}

fn bulk(transfer: Transfer) -> &'static [Word] {
    match transfer {
        Transfer::Load | Transfer::Multicast => {
            &[Word::Async, Word::Bulk, Word::SharedCluster, Word::Global, Word::MbarrierCompleteTxBytes]
        }
        Transfer::Store | Transfer::Reduce(_) => {
            &[Word::Async, Word::Bulk, Word::Global, Word::SharedCta, Word::BulkGroup]
        }
        Transfer::Prefetch => &[Word::Async, Word::Bulk, Word::Prefetch, Word::L2, Word::Global],
    }
}

fn tensor(transfer: Transfer, rank: u32) -> Vec<Modifier> {
    const DIMS: [Word; 5] = [Word::Dim1, Word::Dim2, Word::Dim3, Word::Dim4, Word::Dim5];
    let dim = DIMS[(rank.clamp(1, 5) - 1) as usize];
    let mut out = match transfer {
        Transfer::Load | Transfer::Multicast => {
            vec![Word::Async, Word::Bulk, Word::Tensor, dim, Word::SharedCluster, Word::Global, Word::Tile]
        }
        Transfer::Store => {
            vec![Word::Async, Word::Bulk, Word::Tensor, dim, Word::Global, Word::SharedCta, Word::Tile]
        }
        Transfer::Reduce(_) => {
            vec![Word::Reduce, Word::Async, Word::Bulk, Word::Tensor, dim, Word::Global, Word::SharedCta]
        }
        Transfer::Prefetch => {
            vec![
                Word::Async,
                Word::Bulk,
                Word::Prefetch,
                Word::Tensor,
                dim,
                Word::L2,
                Word::Global,
                Word::Tile,
            ]
        }
    };
    out.extend_from_slice(match transfer {
        Transfer::Load => &[Word::MbarrierCompleteTxBytes],
        Transfer::Multicast => &[Word::MbarrierCompleteTxBytes, Word::MulticastCluster],
        Transfer::Store => &[Word::BulkGroup],
        Transfer::Prefetch => &[],
        Transfer::Reduce(_) => &[Word::Tile, Word::BulkGroup],
    });
    if let Transfer::Reduce(op) = transfer {
        out.insert(7, op.word());
    }
    out.into_iter().map(Modifier::Word).collect()
}

impl fmt::Display for CopyAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
