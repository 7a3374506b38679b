//! `cp.async.bulk.tensor` of boxes, of every rank and swizzle.

use girih_codegen::algorithm::{copy, prefetch};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, Reduction, Transfer};
use girih_codegen::{Builder, Cond, Counting, Error, Expr, Gmem, Smem, TmaCopy, Width};
use girih_layout::{Int, Lay, Shape, Swizzle, Tile, Tiler, Tiles};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use crate::{Case, Ends, WAIT, begin, expect, leaf, linear, size};

/// What a reduction makes of the old value and the new one.
fn reduced(op: Reduction, old: u32, new: u32) -> u32 {
    match op {
        Reduction::Add => old.wrapping_add(new),
        Reduction::Min => old.min(new),
        Reduction::Max => old.max(new),
        Reduction::Inc => {
            if old >= new {
                0
            } else {
                old + 1
            }
        }
        Reduction::Dec => {
            if old == 0 || old > new {
                new
            } else {
                old - 1
            }
        }
        Reduction::And => old & new,
        Reduction::Or => old | new,
        Reduction::Xor => old ^ new,
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The second tile along each mode of a tensor of u32, whose last modes end one element before the tile does.
struct Tiles32 {
    tile: Vec<i64>,
    extents: Vec<i64>,
    part: Lay,
    whole: Lay,
}

fn left(extents: &[i64]) -> Result<Lay, Error> {
    Ok(Lay::left(&Shape::flat(&extents.iter().map(|&n| Int::fixed(n)).collect::<Vec<_>>())?)?)
}

impl Tiles32 {
    /// How many times as long as the swizzle the rows are.
    fn new(rank: usize, swizzle: Swizzle, times: i64) -> Result<Tiles32, Error> {
        let row = times * if swizzle.bits() == 0 { 16 } else { 4 << swizzle.bits() };
        let tile: Vec<i64> = if rank == 1 { vec![64] } else { [row, 8, 2, 2, 2][..rank].to_vec() };
        let extents: Vec<i64> = tile.iter().enumerate().map(|(i, n)| 2 * n - i64::from(i > 0)).collect();
        Ok(Tiles32 { part: left(&tile)?, whole: left(&extents)?, tile, extents })
    }

    /// The coordinates of the tile in the tensor.
    fn coordinates(&self) -> Result<Tensor<Counting>, Error> {
        let tiles = self.tile.iter().map(|&n| Tile::Lay(leaf(n, 1))).collect::<Vec<_>>();
        let at = vec![Slice::At(Expr::from(1)); self.tile.len()];
        let whole = Tensor::new(Counting::new(self.tile.len()), Lay::identity(self.whole.shape())?);
        Ok(whole.local_tile(&Tiler::Modes(Tiles::new(&tiles)?), &at)?)
    }

    /// Where element `i` of the tile lies in the tensor, if it lies inside.
    fn place(&self, i: i64) -> Option<usize> {
        let (mut rest, mut index, mut pitch) = (i, 0, 1);
        for (n, extent) in self.tile.iter().zip(&self.extents) {
            let at = n + rest % n;
            rest /= n;
            if at >= *extent {
                return None;
            }
            index += at * pitch;
            pitch *= extent;
        }
        Some(index as usize)
    }

    /// The bytes of the target before the copy, and those that it must have afterwards.
    fn data(&self, transfer: Transfer, blocks: usize) -> [Vec<u32>; 3] {
        let count = size(&self.part);
        let all: Vec<u32> = (0..size(&self.whole) as u32).map(|i| i.wrapping_mul(2_654_435) ^ i).collect();
        let some: Vec<u32> =
            (0..count as u32).map(|i| (i.wrapping_mul(40_503) ^ i >> 2) & 0xff_ffff).collect();
        match transfer {
            Transfer::Load | Transfer::Multicast => {
                let loaded: Vec<u32> = (0..count).map(|i| self.place(i).map_or(0, |at| all[at])).collect();
                [all, vec![!0; loaded.len() * blocks], loaded.repeat(blocks)]
            }
            Transfer::Prefetch => [all.clone(), vec![!0; count as usize], all[..count as usize].to_vec()],
            Transfer::Store | Transfer::Reduce(_) => {
                let mut stored = all.clone();
                for (i, &new) in (0..).zip(&some) {
                    if let Some(at) = self.place(i) {
                        let old = stored[at];
                        stored[at] =
                            if let Transfer::Reduce(op) = transfer { reduced(op, old, new) } else { new };
                    }
                }
                [some, all, stored]
            }
        }
    }
}

/// The kernel of a tensor copy of a tile that extends beyond the tensor, with rows that are `times` times as long as the swizzle.
pub(crate) fn case(transfer: Transfer, rank: usize, swizzle: Swizzle, times: i64) -> Result<Case, Error> {
    let tiles = Tiles32::new(rank, swizzle, times)?;
    let tma = TmaCopy::new(transfer, DType::U32, &tiles.whole, &tiles.part, swizzle)?;
    let blocks = if transfer == Transfer::Multicast { 2 } else { 1 };
    let (mut b, ends) = begin(90);
    let map = b.tensor_map("map");
    emit(&mut b, &ends, transfer, &tma, &tiles, &map, Some(swizzle).filter(|s| s.bits() > 0))?;
    let stores = matches!(transfer, Transfer::Store | Transfer::Reduce(_));
    let name = format!("{} {:?} x{times}", tma.copy().atom, tma.tiled()?.swizzle);
    let [from, to, expected] = tiles.data(transfer, blocks as usize).map(|words| bytes(&words));
    Ok(Case {
        name,
        module: b.finish()?.into_module(),
        from,
        to,
        expected,
        map: Some((tma.tiled()?, stores)),
        blocks,
    })
}

fn emit(
    b: &mut Builder,
    ends: &Ends,
    transfer: Transfer,
    tma: &TmaCopy,
    tiles: &Tiles32,
    map: &Expr,
    swizzle: Option<Swizzle>,
) -> Result<(), Error> {
    let mine = tma.copy().get_slice(&Expr::from(0))?;
    let (part, count, coordinates) = (tiles.part, size(&tiles.part), tiles.coordinates()?);
    let rank_in_cluster = b.special(Special::ClusterCtarank);
    let shared = Tensor::new(Smem::new(ends.shared.clone(), DType::U32, swizzle), part);
    let line = |pointer: Expr| Tensor::new(Gmem::new(pointer, DType::U32), part);
    let first = Cond::less(&ends.thread, &Expr::from(1));
    let (auto, with) = (AUTO_VECTORIZING_COPY, tma.with(map));
    match transfer {
        Transfer::Load | Transfer::Multicast => {
            let blocks = if transfer == Transfer::Multicast { 2 } else { 1 };
            let barrier = expect(b, ends, 4 * count, blocks)?;
            let with = if blocks > 1 { with.blocks(0b11) } else { with };
            let leader = Cond::all([first, Cond::less(&rank_in_cluster, &Expr::from(1))]);
            b.if_(&leader, |b| {
                copy(b, with.barrier(&barrier), &mine.partition_s(&coordinates)?, &mine.partition_d(&shared)?)
            })?;
            let address = b.value(&barrier, Width::W32)?;
            b.ptx(WAIT, &[&address])?;
            let to = line(&ends.to + &(&rank_in_cluster * (4 * count)));
            copy(b, auto, &linear(ends, &shared)?, &linear(ends, &to)?)?;
        }
        Transfer::Store | Transfer::Reduce(_) => {
            let from = line(ends.from.clone());
            copy(b, auto, &linear(ends, &from)?, &linear(ends, &shared)?)?;
            b.ptx("fence.proxy.async.shared::cta;", &[])?;
            b.barrier();
            b.if_(&first, |b| {
                copy(b, with, &mine.partition_s(&shared)?, &mine.partition_d(&coordinates)?)?;
                b.ptx("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", &[])
            })?;
        }
        Transfer::Prefetch => {
            b.if_(&first, |b| prefetch(b, with, &mine.partition_s(&coordinates)?))?;
            let (from, to) = (line(ends.from.clone()), line(ends.to.clone()));
            copy(b, auto, &linear(ends, &from)?, &linear(ends, &to)?)?;
        }
    }
    Ok(())
}
