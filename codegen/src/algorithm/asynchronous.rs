//! Copies that are still in flight after their instruction: `cp.async`, bulk and TMA copies.

use girih_ptx::{Address, Modifier, Opcode, Operand, Type, Word};

use super::Site;
use super::copy::{Move, line};
use crate::atom::Transfer;
use crate::builder::{Builder, Cond, Reg, Width};
use crate::{Error, Expr};

pub(super) fn cp_async(b: &mut Builder, copy: &Move<'_>, zfill: bool) -> Result<(), Error> {
    let ([each, _], count) = copy.instructions()?;
    let (modifiers, bytes) = (copy.with.atom.modifiers(), each as i64 * copy.bits / 8);
    for i in 0..count {
        let values = i * each..(i + 1) * each;
        let group: Vec<i64> = values.clone().map(|v| v as i64).collect();
        let (Some(source), Some(target)) =
            (line(&copy.source[values.clone()], copy.bits)?, line(&copy.target[values], copy.bits)?)
        else {
            return Err(copy.refused(copy.with.atom.takes()));
        };
        let guard = copy.guard.of(&group);
        let whole = copy.predicates.of(&group);
        let mut wanted = None;
        if zfill && whole != Some(Cond::Always) {
            let refused =
                || copy.refused("predicates that hold for the first values of each vector, in whole bytes");
            wanted = Some(copy.predicates.wanted(b, &group, copy.bits)?.ok_or_else(refused)?);
        }
        let target = b.address(&target, Width::W32)?;
        let source = b.address(&source, Width::W64)?;
        let mut operands = vec![target, source, Operand::Int(bytes)];
        let cond = if wanted.is_some() {
            guard
        } else {
            guard.zip(whole).map(|both| Cond::all(<[Cond; 2]>::from(both)))
        };
        let cond = cond.ok_or_else(|| copy.refused("predicates that hold for whole vectors"))?;
        operands.extend(wanted);
        b.inst_if(&cond, Opcode::Cp, &modifiers, operands)?;
    }
    Ok(())
}

/// The one condition of a bulk copy.
fn condition(copy: &Move<'_>) -> Result<Cond, Error> {
    let all: Vec<i64> = (0..copy.sizes[0] as i64).collect();
    copy.predicates.of(&all).ok_or_else(|| copy.refused("one predicate for the whole copy"))
}

fn barrier(b: &mut Builder, copy: &Move<'_>) -> Result<Operand, Error> {
    let barrier = copy.with.barrier.as_ref();
    b.address(barrier.ok_or_else(|| copy.refused("an mbarrier"))?, Width::W32)
}

pub(super) fn bulk(b: &mut Builder, copy: &Move<'_>, transfer: Transfer) -> Result<(), Error> {
    let ([each, _], count) = copy.instructions()?;
    let (mut modifiers, bytes) = (copy.with.atom.modifiers(), each as i64 * copy.bits / 8);
    let cond = condition(copy)?;
    let hint = hint(b, copy, &mut modifiers);
    for i in 0..count {
        let values = i * each..(i + 1) * each;
        let apart = || copy.refused(copy.with.atom.takes());
        let at = |address: Option<Expr>| address.filter(|a| a.multiple() % 16 == 0).ok_or_else(apart);
        let source = at(lines(&copy.source[values.clone()])?)?;
        let mut operands = Vec::new();
        let wide = |site: &Site| if matches!(site, Site::Gmem(_)) { Width::W64 } else { Width::W32 };
        if transfer != Transfer::Prefetch {
            let target = at(lines(&copy.target[values])?)?;
            operands.push(b.address(&target, wide(&copy.target[0]))?);
        }
        operands.push(b.address(&source, wide(&copy.source[0]))?);
        operands.push(Operand::from(&size(b, bytes)?));
        if transfer == Transfer::Load {
            operands.push(barrier(b, copy)?);
        }
        operands.extend(hint.as_ref().map(Operand::from));
        b.inst_if(&cond, Opcode::Cp, &modifiers, operands)?;
    }
    Ok(())
}

/// The size of a bulk copy, which PTX takes from a register.
fn size(b: &mut Builder, bytes: i64) -> Result<Reg, Error> {
    b.value(&Expr::from(bytes), Width::W32)
}

/// The address of values that follow each other in memory; its alignment is not checked here.
fn lines(group: &[Site]) -> Result<Option<Expr>, Error> {
    let Some((first, together)) = group[0].offset() else { return Ok(None) };
    let follows = |(i, value): (usize, &Site)| {
        value.offset().and_then(|(offset, _)| (&offset - &first).as_constant()) == Some(i as i64)
    };
    if group.len() as i64 > together || !group.iter().enumerate().all(follows) {
        return Ok(None);
    }
    group[0].address()
}

pub(super) fn tensor(b: &mut Builder, copy: &Move<'_>, transfer: Transfer) -> Result<(), Error> {
    let map = copy.with.map.clone().ok_or_else(|| copy.refused("a tensor map"))?;
    let blocks = copy.with.blocks.unwrap_or(0);
    let (each, count) = copy.instructions()?;
    match transfer {
        Transfer::Load | Transfer::Multicast => boxes(copy, &copy.target, &copy.layouts[1], each[1])?,
        Transfer::Store | Transfer::Reduce(_) => boxes(copy, &copy.source, &copy.layouts[0], each[0])?,
        Transfer::Prefetch => {}
    }
    let (mut modifiers, cond) = (copy.with.atom.modifiers(), condition(copy)?);
    let hint = hint(b, copy, &mut modifiers);
    for i in 0..count {
        let (source, target) = (&copy.source[i], &copy.target[i]);
        let box_in_global = |b: &mut Builder, site: &Site| -> Result<Operand, Error> {
            let Site::Counting(at) = site else { return Err(copy.refused("the coordinates of the tensor")) };
            let mut coordinates = Vec::new();
            for &dim in &copy.with.dims {
                let value = b.value(&at.coordinate()[dim], Width::W32)?;
                coordinates.push(Operand::from(&value));
            }
            let Operand::Address(base) = b.address(&map, Width::W64)? else {
                return Err(copy.refused("a map"));
            };
            Ok(Operand::Address(Address { coordinates, ..base }))
        };
        let in_shared = |b: &mut Builder, site: &Site| -> Result<Operand, Error> {
            let Site::Smem(array) = site else { return Err(copy.refused("boxes in shared memory")) };
            // The instruction applies the swizzle itself.
            let address = array.linear_address()?;
            if address.multiple() % 128 != 0 {
                return Err(copy.refused("shared memory at multiples of 128 bytes"));
            }
            // The instruction swizzles by the bits of the address, the tensor by the bits of the offset.
            let period =
                copy.with.swizzle.and_then(|swizzle| swizzle.span()).map_or(1, |span| 8 * i64::from(span));
            if array.base().multiple() % period != 0 {
                return Err(copy
                    .refused("an array in shared memory that begins at a multiple of its swizzle's period"));
            }
            b.address(&address, Width::W32)
        };
        let mut operands = match transfer {
            Transfer::Load | Transfer::Multicast => {
                let mut operands = vec![in_shared(b, target)?, box_in_global(b, source)?, barrier(b, copy)?];
                if transfer == Transfer::Multicast {
                    operands.push(Operand::from(&mask(b, blocks)));
                }
                operands
            }
            Transfer::Store | Transfer::Reduce(_) => vec![box_in_global(b, target)?, in_shared(b, source)?],
            Transfer::Prefetch => vec![box_in_global(b, source)?],
        };
        operands.extend(hint.as_ref().map(Operand::from));
        b.inst_if(&cond, Opcode::Cp, &modifiers, operands)?;
    }
    Ok(())
}

/// Checks that shared memory has the tensor map's swizzle, and that the elements of a box follow each other in shared memory.
fn boxes(copy: &Move<'_>, shared: &[Site], layout: &girih_layout::Lay, each: usize) -> Result<(), Error> {
    let swizzle = match shared.first() {
        Some(Site::Smem(array)) if array.map().is_none() => {
            *array.swizzle().unwrap_or(&girih_layout::Swizzle::NONE)
        }
        _ => return Err(copy.refused("boxes in shared memory, with a swizzle or none")),
    };
    if crate::atom::tensor_swizzle(swizzle, copy.bits / 8) != copy.with.swizzle {
        return Err(copy.refused("shared memory with the swizzle of the tensor map"));
    }
    for first in (0..copy.sizes[0]).step_by(each) {
        let start = layout.at(first as i64)?;
        for i in 0..each as i64 {
            if layout.at(first as i64 + i)? != start + i {
                return Err(copy.refused("shared memory in the layout that the tensor copy was made for"));
            }
        }
    }
    Ok(())
}

fn mask(b: &mut Builder, blocks: u16) -> Reg {
    let reg = b.reg(Type::U16);
    b.inst(Opcode::Mov, &[Type::U16.into()], vec![Operand::from(&reg), Operand::Int(i64::from(blocks))]);
    reg
}

/// The register with the policy of the hint for the second-level cache, if there is a hint, which is added to the modifiers.
fn hint(b: &mut Builder, copy: &Move<'_>, modifiers: &mut Vec<Modifier>) -> Option<Reg> {
    let hint = copy.with.hint?;
    // In a reduction of contiguous values, the operation and the type come after the hint.
    let group = modifiers.iter().position(|&word| word == Word::BulkGroup.into());
    modifiers.insert(group.map_or(modifiers.len(), |group| group + 1), Word::L2CacheHint.into());
    let reg = b.reg(Type::B64);
    let modifiers = [Word::Fractional.into(), hint.word().into(), Type::B64.into()];
    b.inst(Opcode::Createpolicy, &modifiers, vec![Operand::from(&reg)]);
    Some(reg)
}
