//! `girih show`: draws atoms, tiled copies and MMAs, and what an access does to the banks of shared memory.

use clap::Subcommand;
use girih_codegen::TiledCopy;
use girih_layout::{Composed, Lay, Tiler};
use girih_notation::find::{self, dtype};
use girih_notation::marked;
use girih_picture::Sheet;
use girih_tensor::DType;

use crate::CommandResult;
use crate::drawing::Drawing;

/// The arguments of `girih show`.
#[derive(clap::Args)]
#[command(after_help = "\
A cell names a thread (T) and a value (V) and has the colour of the thread: a hue for each warp, a shade for each thread. T* is what all \
threads share. Thick lines separate warps, thinner ones the modes of a hierarchy.

Examples:
  girih show mma SM80_16x8x16_F32BF16BF16F32_TN
  girih show mma SM90_64x64x16_F32BF16BF16_RS --format svg -o mma.svg
  girih show copy SM75_U32x4_LDSM_N
  girih show tiled-mma SM80_16x8x16_F32F16F16F32_TN --atoms '(2,2,1)'
  girih show tiled-copy 'UniversalCopy<uint128_t>' --threads '(32,8):(8,1)' --values '(1,8):(8,1)' \\
    --dtype bf16
  girih show smem 'Sw<3,3,3> o 0 o (64,64):(64,1)' --dtype bf16 --access '(32,8):(1,64)' --vector 8")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    drawing: Drawing,
}

#[derive(Subcommand)]
enum What {
    /// Which thread holds which elements of A, B and C in an MMA atom
    Mma {
        /// CuTe's name of the atom
        name: String,
    },
    /// Which bits a copy atom moves from which thread to which thread, 16 bytes in a row of the picture
    Copy {
        /// CuTe's name of the atom
        name: String,
        /// Bits of a cell
        #[arg(long, default_value_t = 16)]
        unit: i64,
    },
    /// Which thread holds which elements of a block's tiles of A, B and C
    TiledMma {
        /// CuTe's name of the atom
        name: String,
        /// The layout of the atoms, (AtomM,AtomN,AtomK) -> number of the atom, or the layout's shape alone
        #[arg(long, value_parser = marked::layout)]
        atoms: Lay,
        /// The orders in which M, N and K are handed out to the atoms: <32,16,_>
        #[arg(long, value_parser = marked::tiler)]
        permutation: Option<Tiler>,
    },
    /// Which thread copies which elements of a tile
    TiledCopy {
        /// CuTe's name of the atom
        name: String,
        /// (ThrM,ThrN) -> thread
        #[arg(long, value_parser = marked::layout)]
        threads: Lay,
        /// (ValM,ValN) -> value
        #[arg(long, value_parser = marked::layout)]
        values: Lay,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
    },
    /// The banks of a tile in shared memory, and how many words an access takes from each bank at a time
    Smem {
        /// The layout of the tile in memory, coordinate -> element
        #[arg(value_name = "LAYOUT", allow_hyphen_values = true, value_parser = marked::composed)]
        memory: Composed,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
        /// The access, (Thr,Val) -> index in the tile [default: none, which draws the banks alone]
        #[arg(long, value_parser = marked::layout)]
        access: Option<Lay>,
        /// Elements that a thread accesses at a time
        #[arg(long, default_value_t = 1)]
        vector: i64,
    },
}

pub(crate) fn run(args: Args) -> CommandResult {
    let sheet = match args.what {
        What::Mma { name } => Sheet::mma(&find::mma(&name)?)?,
        What::Copy { name, unit } => Sheet::copy(&find::copy(&name)?, unit)?,
        What::TiledMma { name, atoms, permutation } => {
            Sheet::mma_atoms(find::mma(&name)?, atoms, permutation.as_ref())?
        }
        What::TiledCopy { name, threads, values, dtype } => {
            let copy = TiledCopy::new(find::copy(&name)?, dtype.bits(), &threads, &values)?;
            Sheet::tiled_copy(&copy)?
        }
        What::Smem { memory, dtype, access, vector } => {
            Sheet::banks(&memory, dtype, access.as_ref(), vector)?
        }
    };
    args.drawing.finish(&sheet)
}
