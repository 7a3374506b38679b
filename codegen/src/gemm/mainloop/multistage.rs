//! The multistage mainloop: every thread copies tiles of A and B into shared memory, several stages ahead, and multiplies the tiles
//! that have arrived (CUTLASS's `MainloopSm80CpAsync`).

mod config;
mod fragment;
mod load;
mod shared;

use std::ops::Range;

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::Tensor;

use super::Sums;
use crate::algorithm::{clear, gemm};
use crate::builder::Builder;
use crate::sync::CpAsyncRing;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Gmem, Rmem, Smem, TiledCopy, TiledMma};

pub use config::{Multistage, Source};
use fragment::{FragmentLoad, fragment_layout};
use load::{TileCopies, TileLoad};
pub use shared::SharedTile;

/// A multistage mainloop on tiles of one size ([`Multistage::mainloop`]), with its copies and the layouts of tiles in shared memory.
#[derive(Clone, Debug)]
pub struct MultistageMainloop {
    multistage: Multistage,
    /// BlockM, BlockN, BlockK.
    tile: [i64; 3],
    mma: TiledMma,
    shared: [SharedTile; 2],
    copies: [TileCopies; 2],
    /// The copies by `ldmatrix`, where the atom takes its fragments so.
    readers: [Option<TiledCopy>; 2],
}

impl Multistage {
    /// The mainloop on tiles of BlockM, BlockN, BlockK elements.
    ///
    /// # Errors
    /// [`Error::Gemm`], which names the field that does not fit.
    pub fn mainloop(&self, tile: [i64; 3]) -> Result<MultistageMainloop, Error> {
        self.check(tile)?;
        let [a, b] = [Operand::A, Operand::B];
        let extents = |operand: Operand| operand.modes().map(|mode| tile[mode]);
        Ok(MultistageMainloop {
            multistage: *self,
            tile,
            mma: self.mma()?,
            shared: [SharedTile::new(self, a, extents(a))?, SharedTile::new(self, b, extents(b))?],
            copies: [self.tile_copies(a, extents(a))?, self.tile_copies(b, extents(b))?],
            readers: [self.fragment_copy(a)?, self.fragment_copy(b)?],
        })
    }
}

impl MultistageMainloop {
    /// Writes the accumulators over the tiles of `k_tiles` along K: of block tile `at[0]` of A, M x K, and `at[1]` of B, N x K. All
    /// [`Multistage::threads`] threads of the block take part. Elements outside of tensors that carry their extents ([`Gmem::bounded`])
    /// count as zero. A second mainloop in the same kernel, and a mainloop in a loop, needs a barrier before it.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for tensors that do not carry their extents, since the mainloop reads ahead, and for those whose contiguous
    /// mode or alignment is not that of [`Source`].
    ///
    /// # Examples
    /// The kernel finds the largest sum of each thread, and has no C.
    /// ```
    /// use girih_codegen::algorithm::read;
    /// use girih_codegen::atom::{Major, SM80_16X8X16_F32F16F16F32_TN};
    /// use girih_codegen::gemm::{Multistage, Source, k_tiles};
    /// use girih_codegen::{Builder, Expr, Gmem};
    /// use girih_layout::{Tile, lay};
    /// use girih_ptx::Special;
    /// use girih_tensor::DType;
    ///
    /// let source = Source { major: Major::K, vector: 8 };
    /// let multistage = Multistage {
    ///     atom: SM80_16X8X16_F32F16F16F32_TN,
    ///     atoms: lay!("(2,2):(1,2)"),
    ///     permutation: [Tile::All, Tile::All],
    ///     k_atoms: 1,
    ///     fragments: 2,
    ///     stages: 3,
    ///     min_blocks: 1,
    ///     a: source,
    ///     b: source,
    /// };
    /// let mainloop = multistage.mainloop([64, 64, 32])?;
    /// let mut b = Builder::new("k", 80, multistage.threads()?);
    /// let [m, n, k] = b.symbols(["m", "n", "k"], |s| s.at_least(1).at_most(1 << 20))?;
    /// let pitch = b.symbol("pitch", |pitch| pitch.at_most(1 << 20).divisible_by(8))?;
    /// let x = Gmem::matrix(&mut b, "x", DType::F16, [m, k], pitch)?;
    /// let y = Gmem::matrix(&mut b, "y", DType::F16, [n, k], pitch)?;
    /// let [row, column] = [Special::CtaidX, Special::CtaidY].map(|special| b.special(special));
    /// let k_tiles = k_tiles(&Expr::from_int(&k.into()), 32)?;
    /// let sums = mainloop.multiply(&mut b, [&x, &y], [&row, &column], k_tiles)?;
    /// let largest = read(&mut b, &sums.values)?.into_iter().reduce(|x, y| x.maximum(y));
    /// assert!(largest.is_some());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn multiply(
        &self,
        b: &mut Builder,
        operands: [&Tensor<Gmem>; 2],
        at: [&Expr; 2],
        k_tiles: Range<Expr>,
    ) -> Result<Sums, Error> {
        if let Some(operand) = operands.into_iter().find(|operand| operand.engine().coordinate().is_none()) {
            return Err(Error::Mismatch {
                what: "operand of a multistage mainloop",
                layout: operand.layout().to_string(),
                with: String::from("extents"),
                accepted: "a tensor of `Gmem::matrix` or `Gmem::bounded`, outside of which nothing is read",
            });
        }
        let mainloop = Loop::new(b, self, operands, at, k_tiles)?;
        mainloop.emit(b)?;
        Ok(mainloop.sums)
    }

    /// The layouts from which the mainloop is derived, each with its name.
    ///
    /// # Errors
    /// [`Error::Mismatch`].
    pub fn describe(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let copy = |copy: &TiledCopy| format!("{} {}", copy.atom, copy.tv);
        let [tile_m, tile_n, tile_k] = self.tile;
        let c = self.mma.thrfrg(Operand::C, &Lay::col_major([tile_m, tile_n])?)?;
        Ok(vec![
            ("tile (M,N,K)", format!("({tile_m},{tile_n},{tile_k})")),
            ("MMA atom", self.multistage.atom.name()),
            ("MMA atoms (M,N)", self.multistage.atoms.to_string()),
            ("TV of C", c.to_string()),
            ("A: global to shared", copy(&self.copies[0].load)),
            ("B: global to shared", copy(&self.copies[1].load)),
            ("A in shared memory", self.shared[0].to_string()),
            ("B in shared memory", self.shared[1].to_string()),
            ("A: shared to registers", fragment::name(&self.readers[0])),
            ("B: shared to registers", fragment::name(&self.readers[1])),
        ])
    }

    /// The layout of the tiles of A or B in shared memory.
    pub fn shared(&self, operand: Operand) -> &SharedTile {
        &self.shared[operand as usize]
    }

    /// BlockX and BlockK of an operand.
    fn extents(&self, operand: Operand) -> [i64; 2] {
        operand.modes().map(|mode| self.tile[mode])
    }
}

/// The loop over the k-tiles of a tile of C, with `stages - 1` k-tiles in flight ahead.
struct Loop {
    multistage: Multistage,
    ring: CpAsyncRing,
    loads: [TileLoad; 2],
    fragments: [FragmentLoad; 2],
    registers: Vec<[Tensor<Rmem>; 2]>, // (FrgV,RestX,KAtoms) each
    sums: Sums,
    k_tiles: Range<Expr>,
    k_blocks: i64,
}

impl Loop {
    fn new(
        b: &mut Builder,
        mainloop: &MultistageMainloop,
        operands: [&Tensor<Gmem>; 2],
        at: [&Expr; 2],
        k_tiles: Range<Expr>,
    ) -> Result<Loop, Error> {
        let multistage = mainloop.multistage;
        // As a variable of this loop, so that what follows from the thread takes no registers outside of it.
        let thread = b.special(Special::TidX);
        let thread = b.bounded(&thread, i64::from(multistage.threads()?) - 1)?;
        let mut shared = |operand: Operand| -> Result<Tensor<Smem>, Error> {
            let tile = mainloop.shared(operand);
            Smem::alloc(b, multistage.atom.dtype(operand), tile.swizzle, &tile.layout) // (BlockX,BlockK,Stage)
        };
        let shared = [shared(Operand::A)?, shared(Operand::B)?];
        let mut load = |operand: Operand| {
            let i = operand as usize;
            let tensors = (operands[i], &shared[i]);
            TileLoad::new(b, mainloop.copies[i], mainloop.extents(operand), tensors, at[i], &thread)
        };
        let fragment = |operand: Operand| {
            let i = operand as usize;
            FragmentLoad::new(&multistage, operand, &mainloop.readers[i], &shared[i], &thread)
        };
        let loads = [load(Operand::A)?, load(Operand::B)?];
        let fragments = [fragment(Operand::A)?, fragment(Operand::B)?];
        let sums = Sums::new(b, &mainloop.mma, mainloop.tile, mainloop.mma.get_slice(&thread)?)?;
        let mut registers = Vec::new();
        for _ in 0..multistage.fragments {
            let mut fragment = |operand: Operand| -> Result<Tensor<Rmem>, Error> {
                let layout = fragment_layout(&multistage, mainloop.extents(operand), operand)?;
                Rmem::tensor(b, multistage.atom.dtype(operand), layout)
            };
            registers.push([fragment(Operand::A)?, fragment(Operand::B)?]);
        }
        let k_blocks = multistage.k_blocks(mainloop.tile[2]);
        // Copies through registers are never in flight.
        let ring = CpAsyncRing::new(multistage.stages, loads.iter().any(TileLoad::is_asynchronous))?;
        Ok(Loop { multistage, ring, loads, fragments, registers, sums, k_tiles, k_blocks })
    }

    fn emit(&self, b: &mut Builder) -> Result<(), Error> {
        let ring = &self.ring;
        b.comment("prologue: the first stages");
        for stage in 0..ring.ahead() {
            self.load_tile(b, &Expr::from(stage), &Expr::from(stage))?;
            self.store_tile(b, &Expr::from(stage))?;
        }
        clear(b, &self.sums.values)?;
        self.wait(b)?;
        let ahead = self.multistage.fragments > 1;
        if ahead {
            self.load_fragments(b, 0, &Expr::from(0))?;
        }
        b.comment("mainloop");
        b.for_range(&(&self.k_tiles.end - &self.k_tiles.start), |b, tile| {
            let (stage, next) = (ring.stage(tile)?, ring.stage(&(tile + 1))?);
            let fetched = tile + ring.ahead();
            for block in 0..self.k_blocks {
                let last = block == self.k_blocks - 1;
                if !ahead {
                    self.load_fragments(b, block, &stage)?;
                } else if !last {
                    self.load_fragments(b, block + 1, &stage)?;
                }
                if last {
                    self.store_tile(b, &ring.stage(&fetched)?)?;
                    // After this barrier every warp has read this tile's last fragments, so that its stage may be overwritten.
                    self.wait(b)?;
                    if ahead {
                        self.load_fragments(b, 0, &next)?;
                    }
                }
                if block == 0 {
                    self.load_tile(b, &fetched, &ring.stage(&fetched)?)?;
                }
                let [a, operand_b] = self.registers_of(block);
                gemm(b, &self.multistage.atom, a, operand_b, &self.sums.values)?;
            }
            Ok(())
        })?;
        ring.drain(b);
        Ok(())
    }

    /// Issues the copies of one k-tile as one group.
    fn load_tile(&self, b: &mut Builder, tile: &Expr, stage: &Expr) -> Result<(), Error> {
        for load in &self.loads {
            load.emit(b, &(&self.k_tiles.start + tile), stage)?;
        }
        self.ring.commit(b);
        Ok(())
    }

    /// Stores of the k-tile that was loaded last what has gone through registers.
    fn store_tile(&self, b: &mut Builder, stage: &Expr) -> Result<(), Error> {
        self.loads.iter().try_for_each(|load| load.store(b, stage))
    }

    /// Waits until the next tile has arrived, for all threads.
    fn wait(&self, b: &mut Builder) -> Result<(), Error> {
        self.ring.wait(b)?;
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
}
