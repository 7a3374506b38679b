//! Persistent blocks for grouped GEMM, whose group sizes are in device memory.

use girih_ptx::{Opcode, Operand as Ptx, Special, Type};
use girih_tensor::Space;

use super::raster::block_tile;
use super::{MAX_TILES, Place, Share, Span, Tile, persistent};
use crate::builder::{Builder, Cond, Reg, Width};
use crate::gemm::{Arguments, GemmConfig};
use crate::params::{MAX_EXTENT, Params};
use crate::{Error, Expr};

/// The most groups, since a block keeps all offsets in shared memory.
pub const MAX_GROUPS: i64 = 1024;
/// The bytes of an offset, and those of all offsets, in whole mbarriers.
const OFFSET: i64 = 4;
pub(in crate::gemm) const SHARED_BYTES: i64 = (MAX_GROUPS + 2) * OFFSET;
/// Lines of tiles along the groups that are walked together, so that blocks that run together share tiles of both operands.
const TOGETHER: i64 = 16;

/// A persistent block's way through the tiles of all groups: in a grid of `n` blocks, the tile of the block's index and every `n`-th after.
/// The tiles of a group follow those of the group before. The number of tiles follows from the offsets, so that the host knows no more than
/// the most that there may be.
///
/// The offsets need not ascend: group `g` has what is from the `g`-th of them to the next one and within the operand, which is nothing if
/// that one is less.
pub(in crate::gemm) struct Groups {
    mode: usize,
    offsets: Expr,
    /// The number of groups, and the most tiles.
    groups: Expr,
    tiles: Expr,
    /// Where the block has the offsets, once it has fetched them.
    shared: Expr,
    first: Expr,
    step: Expr,
    /// The extent of all groups together, the tile's extent along them, and how many tiles are laid out across.
    extent: Expr,
    along: i64,
    across: Expr,
    /// The number of elements of which the origin of tiles is a multiple: TMA copies begin at multiples of 16 bytes.
    unit: i64,
}

/// Where a thread is among the groups.
struct Walk {
    /// The group after the one at which the thread is, and the number of the first tile of each.
    ahead: Reg,
    first: Reg,
    next: Reg,
    /// The origin of the group's tiles, and where the group begins and ends.
    origin: Reg,
    begin: Reg,
    end: Reg,
}

impl Groups {
    /// Declares the parameters. `extents` are M and N, `tiles` the rows and columns of tiles.
    pub(in crate::gemm) fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
        mode: usize,
        extents: [Expr; 2],
        tiles: [Expr; 2],
    ) -> Result<Groups, Error> {
        let ([first, step], [m, n], [rows, columns]) = (persistent::steps(b, 1)?, extents, tiles);
        let (extent, across) = if mode == 0 { (m, columns) } else { (n, rows) };
        let own = *config;
        Ok(Groups {
            mode,
            offsets: params.pointer(b, "offsets", OFFSET),
            groups: params.number(b, "groups", MAX_GROUPS, |a| a.products),
            tiles: params.number(b, "tiles", MAX_TILES, move |a| own.tiles_for(a.mnk, a.products)),
            shared: Expr::from(0),
            first,
            step,
            extent,
            along: config.tile[mode],
            across,
            unit: config.unit_of_groups(mode)?,
        })
    }

    /// Brings the offsets into shared memory. All threads of the block take part, before any of them computes tiles.
    pub(in crate::gemm) fn fetch(&mut self, b: &mut Builder) -> Result<(), Error> {
        self.shared = b.alloc_shared(SHARED_BYTES, 2 * OFFSET)?;
        let (thread, threads) = (b.special(Special::TidX), i64::from(b.threads()));
        b.for_steps(&thread, &(&self.groups + 1), &Expr::from(threads), |b, i| {
            let offset = b.reg(Type::U32);
            let [from, to] = [&self.offsets, &self.shared].map(|base| base + &(i * OFFSET));
            b.load(Space::Gmem, std::slice::from_ref(&offset), &from, &Cond::Always)?;
            b.store(Space::Smem, &to, &[offset], &Cond::Always)
        })?;
        b.barrier();
        Ok(())
    }

    /// Runs `body` for each of the block's tiles.
    pub(super) fn for_each(
        &self,
        b: &mut Builder,
        extents: [i64; 2],
        body: impl FnOnce(&mut Builder, Tile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let [ahead, first, next, origin, begin, end] = [(); 6].map(|()| b.reg(Type::U32));
        let walk = Walk { ahead, first, next, origin, begin, end };
        for reg in [&walk.ahead, &walk.first, &walk.next, &walk.origin, &walk.begin, &walk.end] {
            b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(reg), Ptx::Int(0)]);
        }
        b.for_steps(&self.first, &self.tiles, &self.step, |b, tile| {
            let reg = b.value(tile, Width::W32)?;
            self.advance(b, &walk, &reg)?;
            // After the last group there are no tiles.
            let exists = b.reg(Type::Pred);
            b.ptx("setp.lt.u32 %0, %1, %2;", &[&exists, &reg, &walk.next])?;
            let exists = b.cond_in(&exists)?;
            b.if_(&exists, |b| {
                let place = self.place(b, &walk, tile, extents)?;
                body(b, Tile { place, backwards: Expr::from(0), share: Share::Whole })
            })
        })
    }

    /// Goes on to the group that has tile `tile`, or to the last one.
    fn advance(&self, b: &mut Builder, walk: &Walk, tile: &Reg) -> Result<(), Error> {
        let Walk { ahead, first, next, origin, begin, end } = walk;
        let groups = b.value(&self.groups, Width::W32)?;
        let (behind, done) = (b.reg(Type::Pred), b.reg(Type::Pred));
        b.ptx(
            "setp.ge.u32 %0, %1, %2; setp.lt.and.u32 %0, %3, %4, %0;",
            &[&behind, tile, next, ahead, &groups],
        )?;
        let behind = b.cond_in(&behind)?;
        b.if_(&behind, |b| {
            b.repeat_until(|b| {
                let at = &self.shared + &(&b.var(ahead, 0, MAX_GROUPS - 1, 1) * OFFSET);
                b.load(Space::Smem, std::slice::from_ref(begin), &at, &Cond::Always)?;
                b.load(Space::Smem, std::slice::from_ref(end), &(&at + OFFSET), &Cond::Always)?;
                let all = b.value(&self.extent, Width::W32)?;
                let text = format!(
                    "min.u32 %0, %0, %2; min.u32 %1, %1, %2; max.u32 %1, %1, %0; and.b32 %3, %0, {}; mov.u32 %4, %5;",
                    -self.unit
                );
                b.ptx(&text, &[begin, end, &all, origin, first, next])?;
                let tiles = self.lines(&self.within(b, walk))?;
                let (tiles, across) = (b.value(&tiles, Width::W32)?, b.value(&self.across, Width::W32)?);
                b.ptx(
                    "mad.lo.u32 %0, %1, %2, %0; add.u32 %3, %3, 1;
                     setp.lt.u32 %4, %5, %0; setp.ge.or.u32 %4, %3, %6, %4;",
                    &[next, &tiles, &across, ahead, &done, tile, &groups],
                )?;
                Ok(done)
            })
        })
    }

    /// How far the group's end is from the origin of the group's tiles.
    fn within(&self, b: &mut Builder, walk: &Walk) -> Expr {
        let origin = b.var(&walk.origin, 0, MAX_EXTENT, self.unit);
        (&b.var(&walk.end, 0, MAX_EXTENT, 1) - &origin).maximum(&Expr::from(0))
    }

    /// How many tiles hold `extent` elements along the groups.
    fn lines(&self, extent: &Expr) -> Result<Expr, Error> {
        (extent + (self.along - 1)).div(self.along)
    }

    /// The place of tile `tile`, which is one of the group at which `walk` is.
    fn place(&self, b: &mut Builder, walk: &Walk, tile: &Expr, extents: [i64; 2]) -> Result<Place, Error> {
        let origin = b.var(&walk.origin, 0, MAX_EXTENT, self.unit);
        let within = self.within(b, walk);
        let lines = self.lines(&within)?;
        let before = if self.unit > 1 {
            (&b.var(&walk.begin, 0, MAX_EXTENT, 1) - &origin).maximum(&Expr::from(0))
        } else {
            Expr::from(0)
        };
        let extent = (&within - &before).maximum(&Expr::from(0));
        let own = tile - &b.var(&walk.first, 0, MAX_TILES, 1);
        let own = b.bounded(&own, MAX_TILES - 1)?;
        let (line, across) = block_tile(b, &own, [&lines, &self.across], TOGETHER)?;
        let [row, column] = if self.mode == 0 { [line, across] } else { [across, line] };
        let batch = &b.var(&walk.ahead, 1, MAX_GROUPS, 1) + -1;
        let span = Some(Span { mode: self.mode, origin, before, extent });
        Ok(Place { row, column, extents, batch, span })
    }
}
