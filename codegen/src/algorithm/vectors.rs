//! Universal copies, which move vectors between memory and registers, as wide as the atom says or as layouts allow.

use std::collections::{BTreeMap, BTreeSet};

use girih_ptx::{Opcode, Operand, Type};
use girih_tensor::{DType, Space};

use super::Site;
use super::copy::{Move, block, line, whole_registers};
use super::data::memory_order;
use super::fill::fill_registers;
use super::predicates::Cut;
use super::registers::Piece;
use super::scalars::place;
use crate::atom::CopyOp;
use crate::builder::{Builder, Cond, Reg, Width};
use crate::{Error, Expr, Rmem};

/// The loads that are in flight together in a copy from memory to memory.
const BATCH: usize = 8;

/// The place of a vector on one side.
enum End {
    Memory(Space, Place),
    Registers(Piece),
}

/// A vector in memory.
struct Place {
    address: Expr,
    /// The number of bytes that is exclusive-ored with the place of a register within the vector.
    order: Expr,
}

/// Values that one access of each side moves.
struct Vector {
    from: End,
    to: End,
    cond: Cond,
    /// The bits of all values.
    bits: i64,
    /// The number of the first value in the target's registers.
    first: Option<i64>,
    tail: Option<Tail>,
}

/// The pieces of a vector for the case that a row ends within it.
struct Tail {
    cond: Cond,
    pieces: Vec<Vector>,
}

pub(super) fn emit(b: &mut Builder, copy: &Move<'_>) -> Result<(), Error> {
    if copy.source.len() != copy.target.len() {
        return Err(copy.refused("as many values on both sides"));
    }
    let most = i64::from(copy.with.atom.bits());
    let order = match [copy.source.first(), copy.target.first()] {
        [Some(site @ (Site::Gmem(_) | Site::Smem(_))), _] => memory_order(site, &copy.layouts[0])?,
        [_, Some(site @ (Site::Gmem(_) | Site::Smem(_)))] => memory_order(site, &copy.layouts[1])?,
        _ => (0..copy.source.len() as i64).collect(),
    };
    let vectors = if copy.with.atom.op == CopyOp::Universal {
        if most % copy.bits != 0 {
            return Err(copy.refused("an atom that holds whole values"));
        }
        vectors(copy, &order, most)?
    } else {
        widest(copy, &order, most)?
    };
    let vectors = vectors.map_err(|accepted| copy.refused(accepted))?;
    let always = |(i, _): &(usize, &Site)| copy.predicates.of(&[*i as i64]) == Some(Cond::Always);
    let written = copy.target.iter().enumerate().filter(always);
    let mut fresh = Fresh::new(written.filter_map(|(_, value)| value.rmem()));
    if copy.with.zeros && !copy.predicates.hold() && matches!(copy.target.first(), Some(Site::Rmem(_))) {
        if share_registers(&copy.source, &copy.target) {
            return Err(copy.refused("registers of its own for the target, which is filled with zeros first"));
        }
        fill_registers(b, &copy.target, 0);
    }
    vectors.chunks(BATCH).try_for_each(|batch| emit_batch(b, batch, copy.with.zeros, &mut fresh))
}

/// Whether a value of `source` is in a register that has a value of `target`.
fn share_registers(source: &[Site], target: &[Site]) -> bool {
    let register = |site: &Site| site.rmem().map(|value| place(value).0);
    let written: Vec<Reg> = target.iter().filter_map(register).collect();
    source.iter().filter_map(register).any(|reg| written.contains(&reg))
}

/// Writes all loads first, then all stores, then the pieces of vectors that a row's end cuts. Where memory is filled up with zeros, a
/// whole vector of zeros is stored before its pieces.
fn emit_batch(b: &mut Builder, batch: &[Vector], zeros: bool, fresh: &mut Fresh) -> Result<(), Error> {
    let mut waiting = Vec::new();
    for Vector { from, to, cond, bits, first, .. } in batch {
        let fresh = first.is_some_and(|first| fresh.take(first));
        match (from, to) {
            (End::Memory(space, place), End::Registers(piece)) => {
                piece.load_ordered(b, *space, [&place.address, &place.order], cond, fresh)?
            }
            (End::Registers(piece), End::Memory(space, place)) if zeros && *cond != Cond::Always => {
                let filled = piece.zeros(b);
                piece.copy(b, &filled, cond, true)?;
                filled.toggled(b, &place.order, &Cond::Always)?.store(
                    b,
                    *space,
                    &place.address,
                    &Cond::Always,
                )?
            }
            (End::Registers(piece), End::Memory(space, place)) => {
                piece.toggled(b, &place.order, cond)?.store(b, *space, &place.address, cond)?
            }
            (End::Registers(from), End::Registers(to)) => from.copy(b, to, cond, fresh)?,
            (End::Memory(space, place), End::Memory(..)) => {
                let piece = Piece::scratch(b, *bits);
                let filled = zeros && *cond != Cond::Always;
                if filled {
                    piece.clear(b);
                }
                piece.load_ordered(b, *space, [&place.address, &place.order], cond, true)?;
                waiting.push((piece, to, if filled { &Cond::Always } else { cond }));
            }
        }
    }
    for (piece, to, cond) in waiting {
        if let End::Memory(space, place) = to {
            piece.toggled(b, &place.order, cond)?.store(b, *space, &place.address, cond)?;
        }
    }
    for Tail { cond, pieces } in batch.iter().filter_map(|vector| vector.tail.as_ref()) {
        b.if_(cond, |b| emit_batch(b, pieces, false, fresh))?;
    }
    Ok(())
}

/// The widest vectors up to `most` bits.
fn widest(copy: &Move<'_>, order: &[i64], most: i64) -> Result<Result<Vec<Vector>, &'static str>, Error> {
    let mut bits = most;
    loop {
        let found = vectors(copy, order, bits)?;
        if found.is_ok() || bits <= copy.bits {
            return Ok(found);
        }
        bits /= 2;
    }
}

/// The copy in vectors of `bits` bits, or the reason why there are none.
fn vectors(copy: &Move<'_>, order: &[i64], bits: i64) -> Result<Result<Vec<Vector>, &'static str>, Error> {
    let width = (bits / copy.bits) as usize;
    if width == 0 || !order.len().is_multiple_of(width) {
        return Ok(Err("a whole number of vectors"));
    }
    let vector = |group: &[i64]| match copy.predicates.of(group) {
        Some(cond) => vector(copy, group, cond),
        None => cut(copy, group),
    };
    order.chunks(width).map(vector).collect()
}

/// The values of this group in one vector, or the reason why the group is no vector.
fn vector(copy: &Move<'_>, group: &[i64], cond: Cond) -> Result<Result<Vector, &'static str>, Error> {
    let source: Vec<Site> = group.iter().map(|&i| copy.source[i as usize].clone()).collect();
    let target: Vec<Site> = group.iter().map(|&i| copy.target[i as usize].clone()).collect();
    // Where the width is free, a narrower access costs less than to select registers when the kernel runs.
    let selects = copy.with.atom.op == CopyOp::Universal;
    let (Some(from), Some(to)) = (end(&source, copy.bits, selects)?, end(&target, copy.bits, selects)?)
    else {
        return Ok(Err(copy.with.atom.takes()));
    };
    let (bits, first) = (copy.bits * group.len() as i64, target[0].rmem().map(Rmem::offset));
    Ok(Ok(Vector { from, to, cond, bits, first, tail: None }))
}

/// A vector within which a row may end, with its first values in the widest pieces within which no row ends.
fn cut(copy: &Move<'_>, group: &[i64]) -> Result<Result<Vector, &'static str>, Error> {
    let refused = "predicates that hold for whole vectors, or for the first values of each";
    let Some(Cut { whole, partly, below }) = copy.predicates.cut(group) else { return Ok(Err(refused)) };
    let vector = match self::vector(copy, group, whole)? {
        Ok(vector) => vector,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut width = group.len() / 2;
    while width > 0 {
        if group.chunks(width).all(|piece| copy.predicates.of(piece).is_some()) {
            // The last piece is not wanted, since a row ends before it.
            let pieces = group.chunks(width).zip(below.iter().step_by(width)).take(group.len() / width - 1);
            let pieces = pieces.map(|(piece, below)| self::vector(copy, piece, below.clone()));
            if let Ok(pieces) = pieces.collect::<Result<Result<_, _>, Error>>()? {
                return Ok(Ok(Vector { tail: Some(Tail { cond: partly, pieces }), ..vector }));
            }
        }
        width /= 2;
    }
    Ok(Err(refused))
}

fn end(group: &[Site], bits: i64, selects: bool) -> Result<Option<End>, Error> {
    let space = group[0].space();
    if space == Space::Rmem {
        return Ok(Piece::of(group).map(End::Registers));
    }
    if let Some(address) = line(group, bits)? {
        return Ok(Some(End::Memory(space, Place { address, order: Expr::from(0) })));
    }
    let place = block(group, bits)?.filter(|(_, order)| selects || order.as_constant().is_some());
    Ok(match place {
        Some((address, order)) => Some(End::Memory(space, Place { address, order: (&order * bits).div(8)? })),
        None => None,
    })
}

/// Registers of which every value is written, so that the first write need not keep the register's old bits.
pub(super) struct Fresh {
    per: i64,
    whole: BTreeSet<i64>,
}

impl Fresh {
    /// The registers of `written`, which must be values that are written whatever the predicates say.
    pub(super) fn new<'a>(written: impl Iterator<Item = &'a Rmem>) -> Fresh {
        let mut per = 1;
        let mut values: BTreeMap<i64, (BTreeSet<i64>, i64)> = BTreeMap::new();
        for rmem in written {
            per = rmem.per_register() as i64;
            let register = rmem.offset() / per;
            let (held, all) = values.entry(register).or_default();
            held.insert(rmem.offset());
            *all = rmem.values_in(register);
        }
        let whole = values.into_iter().filter(|(_, (held, all))| held.len() as i64 == *all);
        Fresh { per, whole: whole.map(|(register, _)| register).collect() }
    }

    /// Whether the write of value `first` is the first one to its register.
    pub(super) fn take(&mut self, first: i64) -> bool {
        self.whole.remove(&(first / self.per))
    }
}

/// Writes `red` instructions, which add registers to global memory.
pub(super) fn add(b: &mut Builder, copy: &Move<'_>, ty: Type) -> Result<(), Error> {
    let expected = match ty {
        Type::F32 => DType::F32,
        Type::F16x2 => DType::F16,
        _ => DType::Bf16,
    };
    let dtype = copy.source.first().and_then(Site::dtype);
    if dtype != Some(expected) {
        return Err(copy.refused("values of the type that the atom adds"));
    }
    let ([each, _], count) = copy.instructions()?;
    for i in 0..count {
        let group: Vec<i64> = (i * each..(i + 1) * each).map(|v| v as i64).collect();
        let (source, target) =
            (&copy.source[i * each..(i + 1) * each], &copy.target[i * each..(i + 1) * each]);
        let cond = copy
            .predicates
            .of(&group)
            .ok_or_else(|| copy.refused("predicates that hold for whole vectors"))?;
        let (Some(mut regs), Some(address)) = (whole_registers(source), line(target, copy.bits)?) else {
            return Err(copy.refused(copy.with.atom.takes()));
        };
        let address = b.address(&address, Width::W64)?;
        let values = if regs.len() == 1 { regs.remove(0) } else { Operand::Vector(regs) };
        b.inst_if(&cond, Opcode::Red, &copy.with.atom.modifiers(), vec![address, values])?;
    }
    Ok(())
}
