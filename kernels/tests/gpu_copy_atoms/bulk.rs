//! `cp.async.bulk` of contiguous bytes.

use girih_codegen::algorithm::{CopyWith, copy, prefetch};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, CopyAtom, Transfer};
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
    Ok(Case { name: atom.name(), module: b.finish()?, from, to, expected, map: None, blocks: 1 })
}
