//! The multistage mainloop: every thread copies tiles of A and B into shared memory, several stages ahead, and multiplies those that
//! have come (CUTLASS's `MainloopSm80CpAsync`).

mod config;
mod fragment;
mod load;
mod shared;

use girih_layout::{Lay, Shape};
use girih_ptx::Special;
use girih_tensor::Tensor;

use crate::algorithm::{clear, cp_async_fence, cp_async_wait, cp_async_wait_all, gemm};
use crate::builder::{Builder, Cond};
use crate::error::narrow;
use crate::gemm::epilogue;
use crate::gemm::interface::Interface;
use crate::gemm::schedule::Tile;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Rmem, Smem, TiledCopy};

pub use config::{Multistage, Source};
use fragment::{FragmentLoad, fragment_layout};
use load::TileLoad;
pub use shared::SharedTile;

impl Multistage {
    /// Writes the kernel, and returns what it was derived from.
    pub(in crate::gemm) fn emit(
        &self,
        b: &mut Builder,
        interface: &Interface<'_>,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        if self.min_blocks > 0 {
            b.min_blocks(self.min_blocks);
        }
        let config = interface.config;
        let thread = b.special(Special::TidX);
        let mine = self.mma()?.get_slice(&thread)?;
        let k_tiles = interface.k_tiles()?;
        let mut partitions = Vec::new();
        interface.for_each_tile(b, &Cond::Always, false, |b, tile| {
            let mainloop = Loop::new(b, self, interface, &thread, tile)?;
            partitions = mainloop.describe(interface)?;
            if config.schedule.is_persistent() {
                // The stages of the tile before are being read.
                b.barrier();
            }
            mainloop.emit(b, &k_tiles)?;
            b.comment("epilogue");
            let c =
                mine.partition(Operand::C, &interface.tile_of_c(&interface.tensor(Operand::C)?, tile)?)?; // (FrgV,RestM,RestN)
            epilogue::store(b, &interface.epilogue_at(&mine, tile)?, &mainloop.sums, &c)
        })?;
        Ok(partitions)
    }
}

/// The loop over k-tiles of a tile of C, `stages - 1` of them ahead in flight.
struct Loop<'a> {
    multistage: &'a Multistage,
    tiles: [SharedTile; 2],
    copies: [TiledCopy; 2],
    loads: [TileLoad; 2],
    fragments: [FragmentLoad; 2],
    registers: Vec<[Tensor<Rmem>; 2]>, // (FrgV,RestX,KAtoms) each
    sums: Tensor<Rmem>,                // (FrgV,RestM,RestN)
    k_blocks: i64,
}

impl<'a> Loop<'a> {
    fn new(
        b: &mut Builder,
        multistage: &'a Multistage,
        interface: &Interface<'_>,
        thread: &Expr,
        tile: &Tile,
    ) -> Result<Loop<'a>, Error> {
        let config = interface.config;
        let both = [Operand::A, Operand::B];
        let copies = both.map(|operand| multistage.tile_copy(config, operand));
        let [copy_a, copy_b] = copies;
        let copies = [copy_a?, copy_b?];
        let fragments = both.map(|operand| multistage.fragment_copy(operand));
        let [fragment_a, fragment_b] = fragments;
        let readers = [fragment_a?, fragment_b?];
        let shared_tile = |operand: Operand| SharedTile::new(config, operand);
        let tiles = [shared_tile(Operand::A)?, shared_tile(Operand::B)?];
        let mut shared = |operand: Operand| -> Result<Tensor<Smem>, Error> {
            let tile = &tiles[operand as usize];
            Smem::alloc(b, config.atom().dtype(operand), tile.swizzle, &tile.layout) // (BlockX,BlockK,Stage)
        };
        let shared = [shared(Operand::A)?, shared(Operand::B)?];
        let load = |operand: Operand, block: &Expr| {
            let (i, whole) = (operand as usize, interface.tensor(operand)?); // (X,K)
            TileLoad::new(&copies[i], config.extents(operand), &whole, &shared[i], block, thread)
        };
        let fragment = |operand: Operand| {
            let i = operand as usize;
            FragmentLoad::new(multistage, operand, &readers[i], &shared[i], thread)
        };
        let loads = [load(Operand::A, &tile.row)?, load(Operand::B, &tile.column)?];
        let fragments = [fragment(Operand::A)?, fragment(Operand::B)?];
        let [tile_m, tile_n, tile_k] = config.tile;
        let c = multistage.mma()?.thrfrg(Operand::C, &Lay::col_major([tile_m, tile_n])?)?.mode(1)?; // (FrgV,(RestM,RestN))
        let sizes = [c.mode(0)?.size()?, c.mode(1)?.mode(0)?.size()?, c.mode(1)?.mode(1)?.size()?];
        let sums = Rmem::tensor(b, multistage.atom.c_type, Lay::left(&Shape::flat(&sizes)?)?)?;
        let mut registers = Vec::new();
        for _ in 0..multistage.fragments {
            let mut fragment = |operand: Operand| -> Result<Tensor<Rmem>, Error> {
                let layout = fragment_layout(multistage, config.extents(operand), operand)?;
                Rmem::tensor(b, multistage.atom.dtype(operand), layout)
            };
            registers.push([fragment(Operand::A)?, fragment(Operand::B)?]);
        }
        let k_blocks = multistage.k_blocks(tile_k);
        Ok(Loop { multistage, tiles, copies, loads, fragments, registers, sums, k_blocks })
    }

    fn emit(&self, b: &mut Builder, k_tiles: &Expr) -> Result<(), Error> {
        let stages = self.multistage.stages;
        b.comment("prologue: the first stages");
        for stage in 0..stages - 1 {
            self.load_tile(b, &Expr::from(stage), &Expr::from(stage))?;
        }
        clear(b, &self.sums)?;
        self.wait(b)?;
        let ahead = self.multistage.fragments > 1;
        if ahead {
            self.load_fragments(b, 0, &Expr::from(0))?;
        }
        b.comment("mainloop");
        b.for_range(k_tiles, |b, tile| {
            let stage = tile.rem(stages)?;
            let next = (tile + 1).rem(stages)?;
            for block in 0..self.k_blocks {
                let last = block == self.k_blocks - 1;
                if !ahead {
                    self.load_fragments(b, block, &stage)?;
                } else if !last {
                    self.load_fragments(b, block + 1, &stage)?;
                }
                if last {
                    // Every warp has read this tile's last fragments: its stage may be overwritten after the barrier.
                    self.wait(b)?;
                    if ahead {
                        self.load_fragments(b, 0, &next)?;
                    }
                }
                if block == 0 {
                    let fetched = tile + (stages - 1);
                    self.load_tile(b, &fetched, &fetched.rem(stages)?)?;
                }
                let [a, operand_b] = self.registers_of(block);
                gemm(b, &self.multistage.atom, a, operand_b, &self.sums)?;
            }
            Ok(())
        })?;
        cp_async_wait_all(b);
        Ok(())
    }

    /// Issues the copies of one k-tile as one group.
    fn load_tile(&self, b: &mut Builder, tile: &Expr, stage: &Expr) -> Result<(), Error> {
        for load in &self.loads {
            load.emit(b, tile, stage)?;
        }
        cp_async_fence(b);
        Ok(())
    }

    /// Waits until the next tile has arrived, for all threads.
    fn wait(&self, b: &mut Builder) -> Result<(), Error> {
        cp_async_wait(b, narrow("stages", self.multistage.stages - 2)?);
        b.barrier();
        Ok(())
    }

    fn registers_of(&self, block: i64) -> &[Tensor<Rmem>; 2] {
        &self.registers[block as usize % self.registers.len()]
    }

    fn load_fragments(&self, b: &mut Builder, block: i64, stage: &Expr) -> Result<(), Error> {
        for (load, fragment) in self.fragments.iter().zip(self.registers_of(block)) {
            load.emit(b, fragment, block, stage)?;
        }
        Ok(())
    }

    fn describe(&self, interface: &Interface<'_>) -> Result<Vec<(&'static str, String)>, Error> {
        let copy = |copy: &TiledCopy| format!("{} {}", copy.atom, copy.tv);
        let [tile_m, tile_n, tile_k] = interface.config.tile;
        let c = self.multistage.mma()?.thrfrg(Operand::C, &Lay::col_major([tile_m, tile_n])?)?;
        Ok(vec![
            ("tile (M,N,K)", format!("({tile_m},{tile_n},{tile_k})")),
            ("MMA atom", self.multistage.atom.name()),
            ("MMA atoms (M,N)", self.multistage.atoms.to_string()),
            ("TV of C", c.to_string()),
            ("A: global to shared", copy(&self.copies[0])),
            ("B: global to shared", copy(&self.copies[1])),
            ("A in shared memory", self.tiles[0].to_string()),
            ("B in shared memory", self.tiles[1].to_string()),
            ("A: shared to registers", self.fragments[0].name()),
            ("B: shared to registers", self.fragments[1].name()),
        ])
    }
}
