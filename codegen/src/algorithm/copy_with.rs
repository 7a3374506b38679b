//! A copy atom with the operands that its instruction takes besides the tensors.

use girih_ptx::{TensorSwizzle, Word};

use super::predicates::Predicates;
use crate::atom::{CopyAtom, CopyOp, Transfer};
use crate::{Error, Expr, TiledCopy};

/// A copy atom, and the operands of its instruction besides the tensors (CuTe's `atom.with(...)`).
///
/// An option that the atom's instruction does not have is refused by [`copy`](crate::algorithm::copy()), before anything is emitted:
///
/// | option | atoms |
/// |---|---|
/// | [`barrier`](CopyWith::barrier) | `SM90_BULK_COPY_G2S`, `SM90_TMA_LOAD`, `SM90_TMA_LOAD_MULTICAST` |
/// | [`blocks`](CopyWith::blocks) | `SM90_TMA_LOAD_MULTICAST` |
/// | [`cache_hint`](CopyWith::cache_hint) | every `SM90_BULK_*` and `SM90_TMA_*` |
/// | [`zero_fill`](CopyWith::zero_fill) | `UniversalCopy`, `AutoVectorizingCopy`, every `SM80_CP_ASYNC_*` |
/// | [`zero_fill_outside`](CopyWith::zero_fill_outside) | every `SM80_CP_ASYNC_*` |
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::{CacheHint, CopyWith, copy};
/// use girih_codegen::atom::UNIVERSAL_COPY_32;
/// use girih_codegen::{Builder, Gmem, Rmem};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("k", 90, 32);
/// let x = Tensor::new(Gmem::new(b.pointer("x", 16), DType::F32), lay!("4:1"));
/// let values = Rmem::like(&mut b, &x)?;
/// let with = CopyWith::from(UNIVERSAL_COPY_32).cache_hint(CacheHint::EvictFirst);
/// assert_eq!(
///     copy(&mut b, with, &x, &values).unwrap_err().to_string(),
///     "copy: cache_hint EvictFirst does not fit UniversalCopy<uint32_t>: an atom of bulk or TMA copies: SM90_BULK_*, SM90_TMA_*"
/// );
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CopyWith {
    pub(super) atom: CopyAtom,
    pub(super) barrier: Option<Expr>,
    pub(super) blocks: Option<u16>,
    pub(super) map: Option<Expr>,
    /// The modes of the tensor in the order of the map's dimensions.
    pub(super) dims: Vec<usize>,
    /// How the map's boxes are in shared memory.
    pub(super) swizzle: Option<TensorSwizzle>,
    /// The hint for the second-level cache.
    pub(super) hint: Option<CacheHint>,
    /// Bits of a value, where it is known.
    pub(super) bits: Option<u32>,
    /// Whether zeros are written for values that are not copied.
    pub(super) zeros: bool,
    /// Which values of the source exist, if zeros are written for the others alone.
    pub(super) inside: Option<Predicates>,
}

/// How long the second-level cache keeps what a bulk or TMA copy moves (CuTe's `TMA::CacheHintSm90`; PTX ISA,
/// "createpolicy").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheHint {
    /// The cache keeps the data as long as other data.
    EvictNormal,
    /// The cache evicts the data first, since no one reads it soon.
    EvictFirst,
    /// The cache evicts the data last.
    EvictLast,
}

impl CacheHint {
    /// The word of `createpolicy`.
    pub(super) const fn word(self) -> Word {
        match self {
            CacheHint::EvictNormal => Word::L2EvictNormal,
            CacheHint::EvictFirst => Word::L2EvictFirst,
            CacheHint::EvictLast => Word::L2EvictLast,
        }
    }
}

impl From<CopyAtom> for CopyWith {
    fn from(atom: CopyAtom) -> CopyWith {
        CopyWith {
            atom,
            barrier: None,
            blocks: None,
            map: None,
            dims: Vec::new(),
            swizzle: None,
            hint: None,
            bits: None,
            zeros: false,
            inside: None,
        }
    }
}

impl From<&CopyAtom> for CopyWith {
    fn from(atom: &CopyAtom) -> CopyWith {
        CopyWith::from(*atom)
    }
}

impl From<&TiledCopy> for CopyWith {
    fn from(copy: &TiledCopy) -> CopyWith {
        CopyWith { bits: Some(copy.bits), ..CopyWith::from(copy.atom) }
    }
}

impl CopyWith {
    /// With the mbarrier, an address in shared memory, that counts the bytes of a load: of bulk loads and of TMA loads, which need it.
    pub fn barrier(self, address: &Expr) -> CopyWith {
        CopyWith { barrier: Some(address.clone()), ..self }
    }

    /// With the blocks of the cluster that a multicast writes to, a bit for each rank: of TMA copies by
    /// [`Transfer::Multicast`], which need it. A [`Transfer::Load`] writes to its own block alone, and is refused with this option.
    pub fn blocks(self, mask: u16) -> CopyWith {
        CopyWith { blocks: Some(mask), ..self }
    }

    /// With a hint for the second-level cache: of bulk and TMA copies, reductions and prefetches.
    pub fn cache_hint(self, hint: CacheHint) -> CopyWith {
        CopyWith { hint: Some(hint), ..self }
    }

    /// With zeros for values that are not copied because their predicates fail or they are outside of the source's extents. Universal
    /// copies and `cp.async` can do this, into arrays whose extents are not known. The `cp.async` atoms with `_ZFILL` in their names do it
    /// without this option.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::{CopyWith, copy};
    /// use girih_codegen::atom::AUTO_VECTORIZING_COPY;
    /// use girih_codegen::{Builder, Gmem, Smem};
    /// use girih_layout::{lay, tiler};
    /// use girih_ptx::Special;
    /// use girih_tensor::{DType, Slice};
    ///
    /// // Each of 32 threads brings one of the last values of 1000 to shared memory, or a zero.
    /// let mut b = Builder::new("k", 80, 32);
    /// let x = Gmem::bounded(b.pointer("x", 4), DType::F32, &lay!("1000:1"))?;
    /// let staged = Smem::alloc(&mut b, DType::F32, None, &lay!("32:1"))?;
    /// let thread = b.special(Special::TidX);
    /// let tile = x.local_tile(&tiler!("<32>"), &[Slice::at(31)])?; // 32
    /// let (from, to) = (tile.tv_partition(&lay!("(32,1):(1,0)"), &thread)?, staged.tv_partition(&lay!("(32,1):(1,0)"), &thread)?);
    /// copy(&mut b, CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(), &from, &to)?;
    /// let text = b.finish()?.module().to_string();
    /// assert!(text.contains("@%p0 ld.global") && !text.contains("@%p0 st.shared"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[must_use]
    pub fn zero_fill(self) -> CopyWith {
        CopyWith { zeros: true, ..self }
    }

    /// With zeros for values outside of the source, where `inside` fails or the source's extents end. The predicates of [`copy_if`](crate::algorithm::copy_if) say
    /// what the thread copies at all: where they fail, nothing is written. `cp.async` can do this, since its instruction is
    /// predicated and takes the number of bytes to read besides; [`CopyWith::zero_fill`] fills in both cases.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::{CopyWith, Predicates, copy_if};
    /// use girih_codegen::atom::SM80_CP_ASYNC_CACHEGLOBAL_16;
    /// use girih_codegen::{Builder, Cond, Expr, Gmem, Smem};
    /// use girih_layout::lay;
    /// use girih_ptx::Special;
    /// use girih_tensor::{DType, Slice, Tensor};
    ///
    /// // The first 24 of 32 threads bring 4 values each; of these 96 values the source has 80.
    /// let mut b = Builder::new("k", 80, 32);
    /// let thread = b.special(Special::TidX);
    /// let source = Tensor::new(Gmem::new(b.pointer("x", 16), DType::F32), lay!("(32,4):(4,1)"));
    /// let target = Smem::alloc(&mut b, DType::F32, None, &lay!("(24,4):(4,1)"))?;
    /// let mine = Slice::tuple([Slice::At(thread.clone()), Slice::All]);
    /// let below = |end: i64| Predicates::from(Cond::less(&thread, &Expr::from(end)));
    /// let with = CopyWith::from(SM80_CP_ASYNC_CACHEGLOBAL_16).zero_fill_outside(below(20));
    /// copy_if(&mut b, with, &below(24), &source.slice(mine.clone())?, &target.slice(mine)?)?;
    /// assert!(b.finish()?.module().to_string().contains("@%p1 cp.async"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[must_use]
    pub fn zero_fill_outside(self, inside: Predicates) -> CopyWith {
        CopyWith { inside: Some(inside), ..self }
    }

    /// Refuses options that the atom's instruction does not have, and atoms without the operands that their instructions need. Launches
    /// have clusters of `cluster` blocks, if that is known.
    pub(super) fn check(&self, cluster: Option<[u32; 3]>) -> Result<(), Error> {
        let op = self.atom.op;
        let refuse = |option: String, accepted| {
            Err(Error::Mismatch { what: "copy", layout: option, with: self.atom.to_string(), accepted })
        };
        if matches!(op, CopyOp::Bulk(Transfer::Multicast | Transfer::Reduce(_))) {
            let accepted = "`CopyAtom::bulk` of a load, a store or a prefetch; `CopyAtom::bulk_reduce`";
            return refuse(format!("{op:?}"), accepted);
        }
        let is_multicast = matches!(op, CopyOp::Tma { transfer: Transfer::Multicast, .. });
        let loads = matches!(op, CopyOp::Bulk(Transfer::Load) | CopyOp::Tma { transfer: Transfer::Load, .. });
        let is_bulk = matches!(op, CopyOp::Bulk(_) | CopyOp::BulkReduce { .. } | CopyOp::Tma { .. });
        let fills = matches!(op, CopyOp::Universal | CopyOp::AutoVectorizing | CopyOp::CpAsync { .. });
        match (&self.barrier, loads || is_multicast) {
            (Some(barrier), false) => refuse(
                format!("barrier {barrier}"),
                "an atom that loads: SM90_BULK_COPY_G2S, SM90_TMA_LOAD, SM90_TMA_LOAD_MULTICAST",
            ),
            (None, true) => {
                refuse(String::from("no barrier"), "the mbarrier of the load: `CopyWith::barrier`")
            }
            _ => Ok(()),
        }?;
        match (self.blocks, is_multicast) {
            (Some(mask), false) => refuse(
                format!("blocks {mask:#b}"),
                "an atom of `Transfer::Multicast`: SM90_TMA_LOAD_MULTICAST; other loads write to their own block",
            ),
            (None | Some(0), true) => {
                refuse(String::from("no blocks"), "the blocks of the multicast: `CopyWith::blocks`")
            }
            (Some(mask), true) => {
                let blocks = cluster.map_or(u16::BITS, |shape| shape.iter().product());
                let beyond = u32::from(mask).checked_shr(blocks).unwrap_or(0);
                let accepted = "blocks of the kernel's cluster: `Builder::cluster`";
                if beyond > 0 { refuse(format!("blocks {mask:#b}"), accepted) } else { Ok(()) }
            }
            _ => Ok(()),
        }?;
        if let (Some(hint), false) = (self.hint, is_bulk) {
            let accepted = "an atom of bulk or TMA copies: SM90_BULK_*, SM90_TMA_*";
            return refuse(format!("cache_hint {hint:?}"), accepted);
        }
        if self.zeros && !fills {
            let accepted = "an atom that fills: UniversalCopy, AutoVectorizingCopy, SM80_CP_ASYNC_*";
            return refuse(String::from("zero_fill"), accepted);
        }
        if self.inside.is_some() && !matches!(op, CopyOp::CpAsync { .. }) {
            let accepted = "an atom whose instruction takes the number of bytes to read: SM80_CP_ASYNC_*";
            return refuse(String::from("zero_fill_outside"), accepted);
        }
        if self.map.is_none() && matches!(op, CopyOp::Tma { .. }) {
            return refuse(String::from("no tensor map"), "the address of the tensor map: `TmaCopy::with`");
        }
        Ok(())
    }

    /// With the address of the tensor map, the modes of the tensor in the order of the map's dimensions, and the map's swizzle.
    pub(crate) fn tensor(self, map: &Expr, dims: &[usize], swizzle: TensorSwizzle) -> CopyWith {
        CopyWith { map: Some(map.clone()), dims: dims.to_vec(), swizzle: Some(swizzle), ..self }
    }
}
