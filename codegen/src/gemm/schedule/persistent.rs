//! Persistent blocks: each computes one tile after another, in the order of a table.

use girih_ptx::{Opcode, Operand as Ptx, Special, Type};
use girih_tensor::Space;

use super::{Place, Share, Tile};
use crate::builder::{Builder, Cond, Reg, Width};
use crate::gemm::batch::{MAX_BATCHES, Products};
use crate::gemm::{Arguments, GemmConfig};
use crate::params::Params;
use crate::{Error, Expr};

/// The most blocks of a grid.
const BLOCKS: i64 = 1 << 20;
/// The most tiles of C that a kernel computes.
pub const MAX_TILES: i64 = 1 << 26;
/// The bytes of a tile's row and column in the order.
const ENTRY: i64 = 8;

/// The order of tiles in memory: its address, and how many tiles there are to go through. A tile is its row and its column, two 32-bit
/// values. Each GEMM of a batch has the same order.
pub(in crate::gemm) struct Order {
    address: Expr,
    count: Expr,
}

impl Order {
    /// Declares the order's parameters.
    pub(in crate::gemm) fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
    ) -> Order {
        let (address, config) = (params.pointer(b, "order", ENTRY), *config);
        let count = params.number(b, "tiles", MAX_TILES, move |a| config.tiles_for(a.mnk, a.products));
        Order { address, count }
    }
}

/// The first tile of a persistent block, or of a cluster of `cluster` blocks, and how many tiles further its next one is.
pub(super) fn steps(b: &mut Builder, cluster: i64) -> Result<[Expr; 2], Error> {
    let grid = b.special(Special::NctaidX).div(cluster)?;
    // A grid has at least one block.
    let step = b.bounded(&grid, BLOCKS - 1)?.maximum(&Expr::from(1));
    let first = b.special(Special::CtaidX).div(cluster)?;
    Ok([b.bounded(&first, BLOCKS - 1)?, step])
}

/// A persistent block's way through the order of tiles: in a grid of `n` blocks, the tile of the block's index and every `n`-th after.
pub(in crate::gemm) struct Tiles {
    order: Order,
    first: Expr,
    step: Expr,
    /// The most rows and columns of tiles.
    most: [i64; 2],
}

impl Tiles {
    /// The way of a cluster of `cluster` blocks through `order`, whose rows and columns of tiles are at most `most`.
    pub(in crate::gemm) fn new(
        b: &mut Builder,
        order: Order,
        most: [i64; 2],
        cluster: i64,
    ) -> Result<Tiles, Error> {
        let [first, step] = steps(b, cluster)?;
        Ok(Tiles { order, first, step, most })
    }

    /// Runs `body` for each of the block's tiles; the threads where `who` holds know which tile it is.
    pub(super) fn for_each(
        &self,
        b: &mut Builder,
        extents: [i64; 2],
        batch: Option<&Products>,
        who: &Cond,
        alternate: bool,
        body: impl FnOnce(&mut Builder, Tile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let parity: Option<Reg> = alternate.then(|| {
            let parity = b.reg(Type::B32);
            b.inst(Opcode::Mov, &[Type::B32.into()], vec![Ptx::from(&parity), Ptx::Int(0)]);
            parity
        });
        // A tile's row and column, and its GEMM in a batch.
        let registers = if batch.is_some() { 3 } else { 2 };
        let fetch = |b: &mut Builder, to: &[Reg], tile: &Expr| -> Result<(), Error> {
            let inside = Cond::all([who.clone(), Cond::less(tile, &self.order.count)]);
            let mut entry = tile.clone();
            if let Some(products) = batch {
                let [product, own] = products.split(b, tile)?;
                let product = b.operand(&product, Width::W32)?;
                b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(&to[2]), product]);
                entry = own;
            }
            b.load(Space::Gmem, &to[..2], &(&self.order.address + &(&entry * ENTRY)), &inside)
        };
        // The next tile's entry is prefetched, so that nothing waits for it.
        let next = b.regs(Type::U32, registers);
        fetch(b, &next, &self.first)?;
        b.for_steps(&self.first, &self.order.count, &self.step, |b, tile| {
            let place = b.regs(Type::U32, registers);
            for (to, from) in place.iter().zip(&next) {
                b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(to), Ptx::from(from)]);
            }
            fetch(b, &next, &(tile + &self.step))?;
            let [row, column] = [0, 1].map(|i| b.var(&place[i], 0, self.most[i] - 1, 1));
            let batch = place.get(2).map_or(Expr::from(0), |reg| b.var(reg, 0, MAX_BATCHES - 1, 1));
            let backwards = match &parity {
                Some(parity) => b.var(parity, 0, 1, 1),
                None => Expr::from(0),
            };
            let place = Place { row, column, extents, batch, span: None };
            body(b, Tile { place, backwards, share: Share::Whole })?;
            if let Some(parity) = &parity {
                let operands = vec![Ptx::from(parity), Ptx::from(parity), Ptx::Int(1)];
                b.inst(Opcode::Xor, &[Type::B32.into()], operands);
            }
            Ok(())
        })
    }
}
