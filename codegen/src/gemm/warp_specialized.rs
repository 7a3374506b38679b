//! GEMM by tensor copies and warpgroup MMAs (CUTLASS's `KernelTmaWarpSpecializedCooperative`): one warpgroup issues the
//! copies into a pipeline of stages, the others multiply what has come and store C by tensor copies of their own. Blocks
//! are persistent: each goes through every so many tiles, and stores of one tile pass while the next is loaded.

mod config;
mod consumer;
mod order;
mod producer;
mod tiles;

use girih_layout::{Int, Lay, Shape, Stride, Strides, Symbol};
use girih_ptx::{Special, Tiled};
use girih_tensor::Tensor;

use super::MAX_EXTENT;
use crate::algorithm::fence_barrier_init;
use crate::atom::{Major, Transfer};
use crate::builder::{Builder, Cond, SHARED_ALIGN};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::tiled_mma::Operand;
use crate::{Error, Expr, Kernel, Pipeline, Smem, TmaCopy};

pub use config::WarpSpecializedConfig;
pub use order::hilbert;
pub use tiles::MAX_TILES;
use tiles::Tiles;

/// The kernel's parameters: the tensor maps of A, B and C, the address of the tiles' order (for each its row and column, two
/// 32-bit values), how many there are, and K in elements.
pub const PARAMETERS: [&str; 6] = ["map_a", "map_b", "map_c", ORDER, TILES, "k"];
const ORDER: &str = "order";
const TILES: &str = "tiles";

/// M, N, K and the pitches of A, B and C, of which the maps are made.
const NAMES: [&str; SYMBOLS] = ["M", "N", "K", "lda", "ldb", "ldc"];
const SYMBOLS: usize = 6;

/// A generated kernel and what its launch needs.
#[derive(Clone, Debug)]
pub struct WarpSpecializedKernel {
    /// The kernel [`WarpSpecializedConfig::name`].
    pub kernel: Kernel,
    /// What the kernel was derived from, line by line: name and layout.
    pub partitions: Vec<(&'static str, String)>,
    tile: [i64; 3],
    copies: [TmaCopy; 3],
    symbols: [Symbol; SYMBOLS],
}

impl WarpSpecializedKernel {
    /// The tiles of an M x N problem in the order in which their operands are shared best.
    ///
    /// # Errors
    /// [`Error::Config`] for more than [`MAX_TILES`] tiles.
    pub fn order(&self, m: i64, n: i64) -> Result<Vec<[u32; 2]>, Error> {
        let tiles = |extent: i64, mode: usize| (extent.max(0) as u64).div_ceil(self.tile[mode] as u64) as i64;
        let (rows, columns) = (tiles(m, 0), tiles(n, 1));
        let count = rows.saturating_mul(columns);
        if count > MAX_TILES {
            let accepted = format!("at most {MAX_TILES}");
            return Err(Error::Config { what: "tiles", value: count.to_string(), accepted });
        }
        let tiles = [narrow("rows of tiles", rows)?, narrow("columns of tiles", columns)?];
        Ok(order::order([self.tile[0], self.tile[1]], tiles))
    }

    /// What the tensor maps of A, B and C say for extents M, N, K and the three pitches, in elements.
    ///
    /// # Errors
    /// [`Error::Config`] for values that tensor maps don't take: extents below 1, or an N or a pitch that is not whole 16
    /// bytes.
    pub fn maps(&self, mnk: [i64; 3], pitches: [i64; 3]) -> Result<[Tiled; 3], Error> {
        let values: [i64; SYMBOLS] = std::array::from_fn(|i| if i < 3 { mnk[i] } else { pitches[i - 3] });
        for ((what, symbol), value) in NAMES.into_iter().zip(self.symbols).zip(values) {
            let line = symbol.divisor();
            if !(1..=MAX_EXTENT).contains(&value) || value % line != 0 {
                let accepted = format!("multiples of {line} from 1 to {MAX_EXTENT} elements");
                return Err(Error::Config { what, value: value.to_string(), accepted });
            }
        }
        let bound = |copy: &TmaCopy| -> Result<Tiled, Error> {
            let bind = |copy: TmaCopy, (symbol, value)| copy.bind(symbol, value);
            self.symbols.into_iter().zip(values).try_fold(copy.clone(), bind)?.tiled()
        };
        let [a, b, c] = &self.copies;
        Ok([bound(a)?, bound(b)?, bound(c)?])
    }
}

/// What producer and consumers share.
struct Context<'a> {
    config: &'a WarpSpecializedConfig,
    shared: [Tensor<Smem>; 2], // (BlockX,BlockK,Stage)
    /// The base of C's tile in shared memory.
    base_c: Expr,
    pipeline: Pipeline,
    copies: &'a [TmaCopy; 3],
    maps: [Expr; 3],
    shapes: [Shape; 3], // (M,K), (N,K), (M,N)
    tiles: Tiles,
    k_tiles: Expr,
    thread: Expr,
    /// The warpgroup: 0 is the producer's.
    group: Expr,
}

/// Generates the kernel of `config`.
///
/// # Errors
/// [`Error::Config`] for a configuration that cannot be built; [`Error::Mismatch`] where tiles and atoms do not fit.
pub fn generate(config: &WarpSpecializedConfig) -> Result<WarpSpecializedKernel, Error> {
    config.check()?;
    let mut b = Builder::new(config.name, 90, config.threads()?);
    b.min_blocks(1);
    let maps = [PARAMETERS[0], PARAMETERS[1], PARAMETERS[2]].map(|name| b.tensor_map(name));
    let tiles = Tiles::new(&mut b, config)?;
    let symbols = symbols(&mut b, config)?;
    let k = Expr::from_int(&Int::symbol(symbols[2]));
    let copies = copies(config, &symbols)?;
    let thread = b.special(Special::TidX);
    let shared = [shared_tile(&mut b, config, Operand::A)?, shared_tile(&mut b, config, Operand::B)?];
    let base_c = b.alloc_shared(config.shared_bytes_c()?, SHARED_ALIGN)?;
    let pipeline = Pipeline::new(&mut b, config.stages, config.stage_bytes()?, config.consumers()?)?;
    b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
        pipeline.init(b)?;
        fence_barrier_init(b);
        Ok(())
    })?;
    b.barrier();
    let group = b.canonical_warp_group_idx(&thread)?;
    let shape = |modes: [usize; 2]| Shape::flat(&modes.map(|mode| Int::symbol(symbols[mode])));
    let context = Context {
        config,
        shared,
        base_c,
        pipeline,
        copies: &copies,
        maps,
        tiles,
        k_tiles: (&k + (config.tile[2] - 1)).div(config.tile[2])?,
        shapes: [shape(Operand::A.modes())?, shape(Operand::B.modes())?, shape(Operand::C.modes())?],
        thread,
        group: group.clone(),
    };
    b.if_else(&Cond::less(&group, &Expr::from(1)), |b| context.produce(b), |b| context.consume(b))?;
    let partitions = describe(config, &context)?;
    Ok(WarpSpecializedKernel { kernel: b.finish()?, partitions, tile: config.tile, copies, symbols })
}

/// M, N, K and the pitches, with the facts that tensor maps need; K alone is a parameter.
fn symbols(b: &mut Builder, config: &WarpSpecializedConfig) -> Result<[Symbol; SYMBOLS], Error> {
    let line = 16 / element_bytes("atom", config.atom.a_type)?;
    let line_c = 16 / element_bytes("c_type", config.c_type)?;
    let facts = |divisor| move |symbol: Symbol| symbol.at_least(1).at_most(MAX_EXTENT).divisible_by(divisor);
    Ok([
        b.unbound_symbol(facts(1))?,
        b.unbound_symbol(facts(line_c))?,
        b.symbol(PARAMETERS[5], facts(1))?,
        b.unbound_symbol(facts(line))?,
        b.unbound_symbol(facts(line))?,
        b.unbound_symbol(facts(line_c))?,
    ])
}

/// The tensor copies of a stage's tiles of A and B, and of a warpgroup's rows of C.
fn copies(config: &WarpSpecializedConfig, symbols: &[Symbol; SYMBOLS]) -> Result<[TmaCopy; 3], Error> {
    let global = |operand: Operand, major: Major| -> Result<Lay, Error> {
        let shape = Shape::flat(&operand.modes().map(|mode| Int::symbol(symbols[mode])))?;
        let pitch = Stride::Int(Int::symbol(symbols[3 + operand as usize]));
        let one = Stride::Int(Int::fixed(1));
        let strides = if major == Major::K { [pitch, one] } else { [one, pitch] };
        Ok(Lay::new(&shape, &Strides::flat(&strides)?)?)
    };
    let load = |operand: Operand| {
        let tile = config.shared(operand)?;
        let global = global(operand, config.atom.majors[operand as usize])?;
        TmaCopy::new(Transfer::Load, config.atom.dtype(operand), &global, tile.layout(), tile.swizzle())
    };
    let rows = config.shared_c()?;
    let c = TmaCopy::new(
        Transfer::Store,
        config.c_type,
        &global(Operand::C, Major::K)?,
        rows.layout(),
        rows.swizzle(),
    )?;
    Ok([load(Operand::A)?, load(Operand::B)?, c])
}

/// All stages of an operand's tile, (BlockX,BlockK,Stage).
fn shared_tile(
    b: &mut Builder,
    config: &WarpSpecializedConfig,
    operand: Operand,
) -> Result<Tensor<Smem>, Error> {
    let tile = config.shared(operand)?;
    let [x, k] = operand.modes().map(|mode| config.tile[mode]);
    let stage = Lay::leaf(Int::fixed(config.stages), Stride::Int(Int::fixed(x * k)))?;
    Smem::alloc(b, config.atom.dtype(operand), Some(tile.swizzle()), &tile.layout().append(&stage)?)
}

fn describe(
    config: &WarpSpecializedConfig,
    context: &Context<'_>,
) -> Result<Vec<(&'static str, String)>, Error> {
    let shared = |operand: usize| {
        let tensor = &context.shared[operand];
        let swizzle = tensor.engine().swizzle().map(ToString::to_string).unwrap_or_default();
        format!("{swizzle} o 0 o {}", tensor.layout())
    };
    let [m, n, k] = config.tile;
    let c = config.mma()?.thrfrg(Operand::C, &Lay::col_major([m, n])?)?;
    Ok(vec![
        ("tile (M,N,K)", format!("({m},{n},{k})")),
        ("MMA atom", config.atom.name()),
        ("MMA atoms (M,N)", config.atoms.to_string()),
        ("TV of C", c.to_string()),
        ("A: global to shared", context.copies[0].copy().atom.to_string()),
        ("B: global to shared", context.copies[1].copy().atom.to_string()),
        ("A in shared memory", shared(0)),
        ("B in shared memory", shared(1)),
        ("C in shared memory", config.shared_c()?.to_string()),
        ("C: registers to shared", config.store_c()?.atom.to_string()),
        ("C: shared to global", context.copies[2].copy().atom.to_string()),
    ])
}
