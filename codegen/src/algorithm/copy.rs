//! `copy` and `copy_if`, by any atom.

use std::panic::Location;

use girih_ptx::Operand;
use girih_tensor::{Space, Tensor};

use super::congruent::{self, Held};
use super::copy_with::CopyWith;
use super::data::{Data, every_value};
use super::predicates::Predicates;
use super::registers::Piece;
use super::{Site, asynchronous, vectors, warp};
use crate::atom::{CopyAtom, CopyOp, Transfer};
use crate::builder::{Builder, Cond};
use crate::{Error, Expr};

/// Copies value `i` of `source` to value `i` of `target`, for all `i` (CuTe's `copy`).
///
/// The tensors are what one thread has, as [`ThrCopy`](crate::ThrCopy) partitions or retiles them; each instruction takes
/// as many values, in colexicographic order, as its atom says. A universal copy from memory to memory goes through registers, and
/// reads memory in the order in which it is. If a tensor carries its coordinates ([`Gmem::bounded`](crate::Gmem::bounded)),
/// nothing outside of its extents is copied, as if by [`copy_if`].
///
/// # Errors
/// [`Error::Mismatch`] for an option of [`CopyWith`] that the atom does not have, if the atom does not copy between these spaces,
/// dtypes or sizes, if the values of an instruction are not together where the atom needs that, or addresses are not known to be aligned; [`Error::NotStatic`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::copy;
/// use girih_codegen::atom::AUTO_VECTORIZING_COPY;
/// use girih_codegen::{Builder, Gmem, Rmem};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("k", 80, 1);
/// let (x, y) = (b.pointer("x", 16), b.pointer("y", 16));
/// let x = Tensor::new(Gmem::new(x, DType::F16), lay!("(2,8):(64,1)"));
/// let y = Tensor::new(Gmem::new(y, DType::F16), lay!("(2,8):(1,2)"));
/// let values = Rmem::like(&mut b, &x)?;
/// copy(&mut b, AUTO_VECTORIZING_COPY, &x, &values)?;
/// copy(&mut b, AUTO_VECTORIZING_COPY, &values, &y)?;
/// let text = b.finish()?.module().to_string();
/// assert!(text.contains("ld.global") && text.contains("st.global.v4"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn copy<S: Data, D: Data>(
    b: &mut Builder,
    atom: impl Into<CopyWith>,
    source: &Tensor<S>,
    target: &Tensor<D>,
) -> Result<(), Error> {
    copy_if(b, atom, &Predicates::from(Cond::Always), source, target)
}

/// Copies the values whose predicates hold (CuTe's `copy_if`). The other values stay as they are; with zero fill
/// ([`CopyWith::zero_fill`]) they become zero. No address of a value whose predicate fails is accessed. Where a row may end within a vector, the
/// values before the row's end go one by one, or in the widest pieces within which no row ends.
///
/// # Errors
/// As [`copy`]; also [`Error::Mismatch`] if the predicates within an instruction may differ otherwise than by holding for its first
/// values only (an [`AutoVectorizing`](CopyOp::AutoVectorizing) copy takes narrower instructions), or if all lanes must execute it.
#[track_caller]
pub fn copy_if<S: Data, D: Data>(
    b: &mut Builder,
    atom: impl Into<CopyWith>,
    predicates: &Predicates,
    source: &Tensor<S>,
    target: &Tensor<D>,
) -> Result<(), Error> {
    let tensors = [Site::tensor(source), Site::tensor(target)];
    b.on_behalf(Location::caller(), |b| copy_sites(b, &atom.into(), predicates, &tensors))
}

fn copy_sites(
    b: &mut Builder,
    with: &CopyWith,
    predicates: &Predicates,
    tensors: &[Tensor<Site>; 2],
) -> Result<(), Error> {
    with.check(b.cluster_shape())?;
    let move_ = Move::new(with, predicates, tensors)?;
    if let [Some(from), Some(to)] = tensors.each_ref().map(Held::of_sites) {
        congruent::copied(&with.atom, move_.bits, &from, &to)?;
    }
    emit(b, &move_)
}

fn emit(b: &mut Builder, move_: &Move<'_>) -> Result<(), Error> {
    match move_.with.atom.op {
        CopyOp::Universal | CopyOp::AutoVectorizing => vectors::emit(b, move_),
        CopyOp::Ldmatrix { .. } | CopyOp::Stmatrix { .. } | CopyOp::Movmatrix | CopyOp::Shuffle { .. } => {
            warp::emit(b, move_)
        }
        CopyOp::RedAdd { ty, .. } => vectors::add(b, move_, ty),
        CopyOp::CpAsync { zfill, .. } => {
            asynchronous::cp_async(b, move_, zfill || move_.with.zeros || move_.with.inside.is_some())
        }
        CopyOp::Bulk(transfer) => asynchronous::bulk(b, move_, transfer),
        CopyOp::BulkReduce { dtype, .. } => {
            if move_.source.first().and_then(Site::dtype) != Some(dtype) {
                return Err(move_.refused("values of the dtype that the atom reduces"));
            }
            asynchronous::bulk(b, move_, Transfer::Store)
        }
        CopyOp::Tma { transfer, .. } => asynchronous::tensor(b, move_, transfer),
    }
}

/// Brings the values of `source` into the L2 cache, by an atom that prefetches (CuTe's `prefetch`).
///
/// # Errors
/// As [`copy`]; [`Error::Mismatch`] for an atom that copies.
#[track_caller]
pub fn prefetch<S: Data>(
    b: &mut Builder,
    atom: impl Into<CopyWith>,
    source: &Tensor<S>,
) -> Result<(), Error> {
    let with = atom.into();
    match with.atom.op {
        CopyOp::Bulk(Transfer::Prefetch) | CopyOp::Tma { transfer: Transfer::Prefetch, .. } => {
            copy(b, with, source, source)
        }
        _ => Err(Error::Mismatch {
            what: "prefetch",
            layout: source.layout().to_string(),
            with: with.atom.name(),
            accepted: "an atom that prefetches",
        }),
    }
}

/// A copy that fits its atom's spaces and sizes.
pub(super) struct Move<'a> {
    pub(super) with: &'a CopyWith,
    /// Which values are copied: inside of the arrays, and where the caller's predicates hold.
    pub(super) predicates: Predicates,
    /// Where anything is written at all, zeros included.
    pub(super) guard: Predicates,
    pub(super) layouts: [girih_layout::Lay; 2],
    /// The number of values on each side.
    pub(super) sizes: [usize; 2],
    /// All values of the source; for a TMA copy, the first value of each instruction.
    pub(super) source: Vec<Site>,
    pub(super) target: Vec<Site>,
    /// Bits of a value.
    pub(super) bits: i64,
}

impl<'a> Move<'a> {
    fn new(
        with: &'a CopyWith,
        predicates: &Predicates,
        [source, target]: &[Tensor<Site>; 2],
    ) -> Result<Move<'a>, Error> {
        let sites = [source.engine(), target.engine()];
        let layouts = [*source.layout(), *target.layout()];
        let mismatch = |accepted| mismatch(with, sites.map(Some), layouts, accepted);
        let tensor = matches!(with.atom.op, CopyOp::Tma { .. });
        let prefetch = matches!(with.atom.op, CopyOp::Tma { transfer: Transfer::Prefetch, .. });
        for (site, accepted) in sites.iter().zip(with.atom.spaces()) {
            let space =
                if tensor && accepted == Some(Space::Gmem) { Some(Space::Counting) } else { accepted };
            let array = prefetch || accepted.is_some() || site.space() != Space::Counting;
            if !array || space.is_some_and(|space| space != site.space()) {
                return Err(mismatch(
                    "the spaces that the atom copies between; of a tensor copy, its coordinates",
                ));
            }
        }
        let dtypes = [sites[0].dtype(), sites[1].dtype()];
        let bits = match (dtypes, with.bits) {
            ([Some(a), Some(b)], _) if a != b => return Err(mismatch("one dtype on both sides")),
            ([Some(dtype), _] | [_, Some(dtype)], Some(bits)) if dtype.bits() != bits => {
                return Err(mismatch("a dtype of as many bits as the tiled copy's values"));
            }
            ([Some(dtype), _] | [_, Some(dtype)], _) => dtype.bits(),
            (_, Some(bits)) => bits,
            _ => return Err(mismatch("a tiled copy, which knows the bits of a value")),
        };
        let every = if tensor { i64::from(with.atom.bits() / bits).max(1) } else { 1 };
        let size = |layout| crate::sizes::static_size("copy", layout);
        let sizes = [size(source.layout())? as usize, size(target.layout())? as usize];
        let (guard, predicates) = match &with.inside {
            Some(inside) => (predicates.clone(), inside.clone()),
            None => (Predicates::from(Cond::Always), predicates.clone()),
        };
        if !(guard.are_of(sizes[0]) && predicates.are_of(sizes[0])) {
            return Err(mismatch("a predicate for each value of the source"));
        }
        let source = every_value("copy", source, every)?;
        let target = every_value("copy", target, every)?;
        let (bounds_of_source, bounds_of_target) = (Predicates::bounds(&source), Predicates::bounds(&target));
        if (with.zeros || with.inside.is_some()) && !bounds_of_target.hold() {
            return Err(mismatch(
                "a target whose extents are not known, if it is to be filled with zeros: none are written outside",
            ));
        }
        let bounds = bounds_of_source.and(bounds_of_target);
        if !bounds.are_of(sizes[0]) {
            return Err(mismatch("as many values on both sides, where an array's extents are known"));
        }
        let predicates = predicates.and(bounds);
        Ok(Move { with, predicates, guard, layouts, sizes, source, target, bits: i64::from(bits) })
    }

    /// The error for operands that the atom does not take.
    pub(super) fn refused(&self, accepted: &'static str) -> Error {
        let sites = [self.source.first(), self.target.first()];
        mismatch(self.with, sites, self.layouts, accepted)
    }

    /// The values that an instruction takes of source and destination, and the number of instructions.
    pub(super) fn instructions(&self) -> Result<([usize; 2], usize), Error> {
        let CopyAtom { src, dst, .. } = self.with.atom;
        let mut each = [0; 2];
        for (each, side) in each.iter_mut().zip([src, dst]) {
            let bits = crate::sizes::static_size("copy", &side.mode(1)?)?;
            if bits % self.bits != 0 {
                return Err(self.refused("values that the atom's pieces hold whole"));
            }
            *each = (bits / self.bits) as usize;
        }
        let count = self.sizes[0] / each[0].max(1);
        if count == 0 || [count * each[0], count * each[1]] != self.sizes {
            return Err(self.refused("as many values on each side as whole instructions take"));
        }
        Ok((each, count))
    }
}

fn mismatch(
    with: &CopyWith,
    sites: [Option<&Site>; 2],
    layouts: [girih_layout::Lay; 2],
    accepted: &'static str,
) -> Error {
    let side = |i: usize| {
        let space = sites[i].map_or(Space::Counting, |site| site.space());
        let dtype = sites[i].and_then(|site| site.dtype()).map_or_else(String::new, |d| format!(" {d}"));
        format!("{space:?}{dtype} {}", layouts[i])
    };
    let space =
        |space: Option<Space>| space.map_or_else(|| String::from("any"), |space| format!("{space:?}"));
    let [from, to] = with.atom.spaces();
    Error::Mismatch {
        what: "copy",
        layout: format!("{} to {}", side(0), side(1)),
        with: format!("{}, from {} to {}", with.atom, space(from), space(to)),
        accepted,
    }
}

/// The address of values that follow each other in memory and begin at a multiple of their size.
pub(super) fn line(group: &[Site], bits: i64) -> Result<Option<Expr>, Error> {
    let Some(together) = consecutive(group) else { return Ok(None) };
    let address = match group[0].address() {
        Ok(Some(address)) => address,
        // The group begins with an element smaller than a byte that may begin inside a byte.
        Ok(None) | Err(Error::Mismatch { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let count = group.len() as i64;
    let whole = is_whole(&address, count * bits) && count <= together;
    Ok(whole.then_some(address))
}

/// The address of values that fill a vector in memory in an order that a swizzle decides, and the number that is exclusive-ored
/// with a value's number to give its place in the vector.
pub(super) fn block(group: &[Site], bits: i64) -> Result<Option<(Expr, Expr)>, Error> {
    let (Site::Smem(array), Some(_)) = (&group[0], consecutive(group)) else { return Ok(None) };
    let count = group.len() as i64;
    let Some((address, order)) = array.block(count)? else { return Ok(None) };
    // Only whole registers can change places.
    let registers = order.multiple() * bits % 32 == 0;
    Ok((registers && is_whole(&address, count * bits)).then_some((address, order)))
}

/// How many values a swizzle leaves together, if the values of the group follow each other before the swizzle.
fn consecutive(group: &[Site]) -> Option<i64> {
    let (first, together) = group[0].offset()?;
    let follows = |(i, value): (usize, &Site)| {
        value.offset().and_then(|(offset, _)| offset.distance(&first)) == Some(i as i64)
    };
    group.iter().enumerate().all(follows).then_some(together)
}

/// Whether `bits` bits are whole bytes, and `address` is a multiple of their number.
fn is_whole(address: &Expr, bits: i64) -> bool {
    bits % 8 == 0 && address.multiple() % (bits / 8) == 0
}

/// The registers of a group as operands of an instruction that takes whole registers.
pub(super) fn whole_registers(group: &[Site]) -> Option<Vec<Operand>> {
    match Piece::of(group)? {
        Piece::Whole(regs) => Some(regs.iter().map(Operand::from).collect()),
        Piece::Field { .. } => None,
    }
}
