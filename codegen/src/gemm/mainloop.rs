//! The kernel: prologue, multistage mainloop, epilogue.

use girih_layout::{Lay, Shape, Symbol};
use girih_ptx::{Opcode, Operand as Ptx, Special};
use girih_tensor::{DType, Tensor};

use super::epilogue::{self, GlobalC};
use super::fragment::{FragmentLoad, fragment_layout};
use super::load::{GlobalOperand, TileLoad};
use super::{GemmConfig, SharedTile, raster};
use crate::algorithm::{cp_async_fence, cp_async_wait, cp_async_wait_all, gemm};
use crate::builder::{Builder, SHARED_ALIGN};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::tiled_copy::static_size;
use crate::tiled_mma::Operand;
use crate::{Error, Expr, Kernel, Rmem, Smem};

/// The largest M, N, K or pitch in elements: index arithmetic on them stays in 32 bits.
pub const MAX_EXTENT: i64 = 1 << 30;

/// The kernel's parameters: three 64-bit pointers, then six 32-bit sizes and pitches in elements.
pub const PARAMETERS: [&str; 9] = ["a", "b", "c", "m", "n", "k", "lda", "ldb", "ldc"];

/// A generated GEMM kernel.
#[derive(Clone, Debug)]
pub struct GemmKernel {
    /// The kernel [`GemmConfig::name`].
    pub kernel: Kernel,
    /// What the kernel was derived from, line by line: name and layout.
    pub partitions: Vec<(&'static str, String)>,
}

/// Generates the kernel of `config`.
///
/// # Errors
/// [`Error::Config`] for a configuration that cannot be built; [`Error::Mismatch`] where tiles and atoms do not fit.
pub fn generate(config: &GemmConfig) -> Result<GemmKernel, Error> {
    config.check()?;
    let threads = narrow("threads", config.mma().threads()?)?;
    let mut b = Builder::new(config.name, config.atom.sm.max(80), threads);
    if config.min_blocks > 0 {
        b.min_blocks(config.min_blocks);
    }
    let element = config.element()?;
    let pointers = [
        b.pointer(PARAMETERS[0], config.a.vector * element),
        b.pointer(PARAMETERS[1], config.b.vector * element),
        b.pointer(PARAMETERS[2], config.c_vector * element_bytes("c_type", config.c_type)?),
    ];
    let [m, n, k, lda, ldb, ldc] = symbols(&mut b, config)?;
    let [pointer_a, pointer_b, pointer_c] = pointers;
    let expr = |s: Symbol| Expr::from_int(&girih_layout::Int::symbol(s));
    let tiles = |s: Symbol, tile: i64| (&expr(s) + (tile - 1)).div(tile);
    let thread = b.special(Special::TidX);
    let (row, column) =
        raster::block_tile(&mut b, &tiles(m, config.tile[0])?, &tiles(n, config.tile[1])?, config.raster)?;

    let shared = [SharedTile::new(config, Operand::A)?, SharedTile::new(config, Operand::B)?];
    let mut tensor = |tile: &SharedTile| -> Result<Tensor<Smem>, Error> {
        let base = b.alloc_shared(tile.bytes, SHARED_ALIGN)?;
        Ok(Tensor::new(Smem::new(base, config.atom.a_type, tile.swizzle), tile.layout)) // (BlockX,BlockK,Stage)
    };
    let (s_a, s_b) = (tensor(&shared[0])?, tensor(&shared[1])?);

    let global_a = GlobalOperand { pointer: pointer_a, extents: [m, k], pitch: lda };
    let global_b = GlobalOperand { pointer: pointer_b, extents: [n, k], pitch: ldb };
    let loads = [
        TileLoad::new(config, Operand::A, &global_a, s_a.clone(), &row, &thread)?,
        TileLoad::new(config, Operand::B, &global_b, s_b.clone(), &column, &thread)?,
    ];
    let fragments = [
        FragmentLoad::new(config, Operand::A, &s_a, &thread)?,
        FragmentLoad::new(config, Operand::B, &s_b, &thread)?,
    ];
    let partitions = describe(config, &shared, &loads, &fragments)?;

    let k_tiles = tiles(k, config.tile[2])?;
    let accumulators = Mainloop::new(&mut b, config, loads, fragments)?.emit(&mut b, &k_tiles)?;
    b.comment("epilogue");
    let global_c = GlobalC { pointer: pointer_c, extents: [m, n], pitch: ldc };
    epilogue::store(&mut b, config, &accumulators, &global_c, &[row, column], &thread)?;
    Ok(GemmKernel { kernel: b.finish()?, partitions })
}

/// The parameters M, N, K and the pitches, with the facts that the configuration states.
fn symbols(b: &mut Builder, config: &GemmConfig) -> Result<[Symbol; 6], Error> {
    let [_, _, _, m, n, k, lda, ldb, ldc] = PARAMETERS;
    let mut symbol = |name, least, divisor| {
        b.symbol(name, |symbol| symbol.at_least(least).at_most(MAX_EXTENT).divisible_by(divisor))
    };
    Ok([
        symbol(m, 1, 1)?,
        symbol(n, 1, config.c_vector)?,
        symbol(k, 0, 1)?,
        symbol(lda, 1, config.a.vector)?,
        symbol(ldb, 1, config.b.vector)?,
        symbol(ldc, 1, config.c_vector)?,
    ])
}

fn describe(
    config: &GemmConfig,
    shared: &[SharedTile; 2],
    loads: &[TileLoad; 2],
    fragments: &[FragmentLoad; 2],
) -> Result<Vec<(&'static str, String)>, Error> {
    let copy = |load: &TileLoad| format!("{} {}", load.copy.atom, load.copy.tv);
    let [tile_m, tile_n, _] = config.tile;
    let c = config.mma().thrfrg(Operand::C, &Lay::col_major([tile_m, tile_n])?)?;
    Ok(vec![
        ("tile (M,N,K)", format!("({},{},{})", config.tile[0], config.tile[1], config.tile[2])),
        ("MMA atom", config.atom.name()),
        ("MMA atoms (M,N)", config.atoms.to_string()),
        ("TV of C", c.to_string()),
        ("A: global to shared", copy(&loads[0])),
        ("B: global to shared", copy(&loads[1])),
        ("A in shared memory", shared[0].to_string()),
        ("B in shared memory", shared[1].to_string()),
        ("A: shared to registers", fragments[0].name()),
        ("B: shared to registers", fragments[1].name()),
    ])
}

/// The loop over k-tiles, `stages - 1` of them ahead in flight.
struct Mainloop<'a> {
    config: &'a GemmConfig,
    loads: [TileLoad; 2],
    fragments: [FragmentLoad; 2],
    layouts: [Lay; 2], // (FrgV,RestX,KAtoms) each
    registers: Vec<[Rmem; 2]>,
    accumulators: Rmem,
    accumulator: Lay, // (FrgV,RestM,RestN)
}

impl<'a> Mainloop<'a> {
    fn new(
        b: &mut Builder,
        config: &'a GemmConfig,
        loads: [TileLoad; 2],
        fragments: [FragmentLoad; 2],
    ) -> Result<Mainloop<'a>, Error> {
        let layouts = [fragment_layout(config, Operand::A)?, fragment_layout(config, Operand::B)?];
        let [tile_m, tile_n, _] = config.tile;
        let c = config.mma().thrfrg(Operand::C, &Lay::col_major([tile_m, tile_n])?)?.mode(1)?;
        let sizes = [c.mode(0)?.size()?, c.mode(1)?.mode(0)?.size()?, c.mode(1)?.mode(1)?.size()?];
        let accumulator = Lay::left(&Shape::flat(&sizes)?)?;
        let values = static_size("accumulator", &accumulator)? as usize;
        let accumulators = Rmem::new(b, config.atom.c_type, values);
        let mut registers = Vec::new();
        for _ in 0..config.fragments {
            let mut fragment = |layout: &Lay| -> Result<Rmem, Error> {
                Ok(Rmem::new(b, config.atom.a_type, static_size("fragment", layout)? as usize))
            };
            registers.push([fragment(&layouts[0])?, fragment(&layouts[1])?]);
        }
        Ok(Mainloop { config, loads, fragments, layouts, registers, accumulators, accumulator })
    }

    fn emit(self, b: &mut Builder, k_tiles: &Expr) -> Result<Rmem, Error> {
        let stages = self.config.stages;
        b.comment("prologue: the first stages");
        for stage in 0..stages - 1 {
            self.load_tile(b, &Expr::from(stage), &Expr::from(stage))?;
        }
        for reg in self.accumulators.regs() {
            let zero = if self.config.atom.c_type == DType::F32 { Ptx::F32(0) } else { Ptx::Int(0) };
            b.inst(Opcode::Mov, &[reg.ty().into()], vec![Ptx::from(reg), zero]);
        }
        self.wait(b)?;
        let ahead = self.config.fragments > 1;
        if ahead {
            self.load_fragments(b, 0, &Expr::from(0))?;
        }
        b.comment("mainloop");
        let blocks = self.config.k_blocks();
        b.for_range(k_tiles, |b, tile| {
            let stage = tile.rem(stages)?;
            let next = (tile + 1).rem(stages)?;
            for block in 0..blocks {
                let last = block == blocks - 1;
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
                self.multiply(b, block)?;
            }
            Ok(())
        })?;
        cp_async_wait_all(b);
        Ok(self.accumulators)
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
        cp_async_wait(b, narrow("stages", self.config.stages - 2)?);
        b.barrier();
        Ok(())
    }

    fn load_fragments(&self, b: &mut Builder, block: i64, stage: &Expr) -> Result<(), Error> {
        let registers = &self.registers[block as usize % self.registers.len()];
        for (load, fragment) in self.fragments.iter().zip(registers) {
            load.emit(b, fragment, block, stage)?;
        }
        Ok(())
    }

    /// All atoms of a k-block.
    fn multiply(&self, b: &mut Builder, block: i64) -> Result<(), Error> {
        let [a, bb] = &self.registers[block as usize % self.registers.len()];
        let tensor = |registers: &Rmem, layout: &Lay| Tensor::new(registers.clone(), *layout);
        gemm(
            b,
            &self.config.atom,
            &tensor(a, &self.layouts[0]),                   // (FrgV,RestM,KAtoms)
            &tensor(bb, &self.layouts[1]),                  // (FrgV,RestN,KAtoms)
            &tensor(&self.accumulators, &self.accumulator), // (FrgV,RestM,RestN)
        )
    }
}
