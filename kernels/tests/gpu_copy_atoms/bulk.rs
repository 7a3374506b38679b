//! `cp.async.bulk` of contiguous bytes, `cp.reduce.async.bulk` of contiguous values.

use girih_codegen::algorithm::{CopyWith, copy, prefetch};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, CopyAtom, Reduction, Transfer};
use girih_codegen::{Cond, Error, Expr, Gmem, Smem, TiledCopy, Width};
use girih_layout::{Lay, Tile, Tiles, lay};
use girih_tensor::{DType, Tensor};

use crate::{Case, WAIT, begin, expect, leaf, linear};

/// The kernel of a bulk copy, which takes two instructions.
pub(crate) fn case(transfer: Transfer) -> Result<Case, Error> {
    const COUNT: i64 = 512;
    let atom = CopyAtom::bulk(transfer, 16 * COUNT / 2)?;
    let tv = Lay::concat(&[lay!("1:0"), leaf(COUNT, 1)])?;
    let copy_tile = TiledCopy::from_tv(atom, 16, &tv, Tiles::new(&[Tile::Lay(leaf(COUNT, 1))])?)?;
    let mine = copy_tile.get_slice(&Expr::from(0))?;
    let (mut b, ends) = begin(90);
    let array = |pointer: &Expr| Tensor::new(Gmem::new(pointer.clone(), DType::U16), leaf(COUNT, 1));
    let (from, to) = (array(&ends.from), array(&ends.to));
    let shared = Tensor::new(Smem::new(ends.shared.clone(), DType::U16, None), leaf(COUNT, 1));
    let first = Cond::less(&ends.thread, &Expr::from(1));
    let auto = AUTO_VECTORIZING_COPY;
    match transfer {
        Transfer::Load => {
            let barrier = expect(&mut b, &ends, 2 * COUNT, 1)?;
            b.if_(&first, |b| {
                let with = CopyWith::from(&copy_tile).barrier(&barrier);
                copy(b, with, &mine.partition_s(&from)?, &mine.partition_d(&shared)?)
            })?;
            let address = b.value(&barrier, Width::W32)?;
            b.ptx(WAIT, &[&address])?;
            copy(&mut b, auto, &linear(&ends, &shared)?, &linear(&ends, &to)?)?;
        }
        Transfer::Store => {
            copy(&mut b, auto, &linear(&ends, &from)?, &linear(&ends, &shared)?)?;
            b.ptx("fence.proxy.async.shared::cta;", &[])?;
            b.barrier();
            b.if_(&first, |b| {
                copy(b, &copy_tile, &mine.partition_s(&shared)?, &mine.partition_d(&to)?)?;
                b.ptx("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", &[])
            })?;
        }
        _ => {
            b.if_(&first, |b| prefetch(b, &copy_tile, &mine.partition_s(&from)?))?;
            copy(&mut b, auto, &linear(&ends, &from)?, &linear(&ends, &to)?)?;
        }
    }
    let from: Vec<u8> = (0..2 * COUNT).map(|i| (i * 37 + i / 256) as u8).collect();
    let (to, expected) = (vec![0xff; from.len()], from.clone());
    Ok(Case {
        name: atom.name(),
        module: b.finish()?.into_module(),
        from,
        to,
        expected,
        map: None,
        blocks: 1,
    })
}

/// The kernel of a bulk reduction, which takes two instructions.
pub(crate) fn reduction(op: Reduction, dtype: DType) -> Result<Case, Error> {
    const COUNT: i64 = 128;
    let atom = CopyAtom::bulk_reduce(op, dtype, i64::from(dtype.bits()) * COUNT / 2)?;
    let tv = Lay::concat(&[lay!("1:0"), leaf(COUNT, 1)])?;
    let copy_tile = TiledCopy::from_tv(atom, dtype.bits(), &tv, Tiles::new(&[Tile::Lay(leaf(COUNT, 1))])?)?;
    let mine = copy_tile.get_slice(&Expr::from(0))?;
    let (mut b, ends) = begin(90);
    let array = |pointer: &Expr| Tensor::new(Gmem::new(pointer.clone(), dtype), leaf(COUNT, 1));
    let (from, to) = (array(&ends.from), array(&ends.to));
    let shared = Tensor::new(Smem::new(ends.shared.clone(), dtype, None), leaf(COUNT, 1));
    copy(&mut b, AUTO_VECTORIZING_COPY, &linear(&ends, &from)?, &linear(&ends, &shared)?)?;
    b.ptx("fence.proxy.async.shared::cta;", &[])?;
    b.barrier();
    b.if_(&Cond::less(&ends.thread, &Expr::from(1)), |b| {
        copy(b, &copy_tile, &mine.partition_s(&shared)?, &mine.partition_d(&to)?)?;
        b.ptx("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", &[])
    })?;
    // Small numbers, whose sums every type has. Signed types get negative ones too.
    let least = if matches!(dtype, DType::U32 | DType::U64) { 0 } else { -6 };
    let old = |i: i64| i * 5 % 13 + least;
    let new = |i: i64| i * 7 % 11 + least;
    let bytes = |value: &dyn Fn(i64) -> i64| (0..COUNT).flat_map(|i| encode(dtype, value(i))).collect();
    let (from, to) = (bytes(&new), bytes(&old));
    let expected = bytes(&|i| combined(op, old(i), new(i)));
    Ok(Case {
        name: atom.name(),
        module: b.finish()?.into_module(),
        from,
        to,
        expected,
        map: None,
        blocks: 1,
    })
}

/// What `op` makes of the old value and the new one (PTX ISA, "red").
fn combined(op: Reduction, old: i64, new: i64) -> i64 {
    match op {
        Reduction::Add => old + new,
        Reduction::Min => old.min(new),
        Reduction::Max => old.max(new),
        Reduction::Inc if old >= new => 0,
        Reduction::Inc => old + 1,
        Reduction::Dec if old == 0 || old > new => new,
        Reduction::Dec => old - 1,
        Reduction::And => old & new,
        Reduction::Or => old | new,
        Reduction::Xor => old ^ new,
    }
}

fn encode(dtype: DType, value: i64) -> Vec<u8> {
    match dtype {
        DType::F64 => (value as f64).to_le_bytes().to_vec(),
        DType::F32 => (value as f32).to_le_bytes().to_vec(),
        DType::F16 => half::f16::from_f32(value as f32).to_le_bytes().to_vec(),
        DType::Bf16 => half::bf16::from_f32(value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes()[..dtype.bits() as usize / 8].to_vec(),
    }
}
