//! An MMA and copies that misuses and right uses are told of.

use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, SM80_CP_ASYNC_CACHEGLOBAL_16, UNIVERSAL_COPY_128};
use girih_codegen::{TiledCopy, TiledMma, constant};
use girih_layout::{Lay, lay};

pub(crate) const MMA: TiledMma =
    constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1):(1,2,0)")));
pub(crate) const THREADS: Lay = lay!("(32,4):(4,1)");
pub(crate) const VALUES: Lay = lay!("(1,8):(8,1)");
pub(crate) const COPY: TiledCopy = constant!(constant::tiled_copy(UNIVERSAL_COPY_128, 16, &THREADS, &VALUES));
pub(crate) const ASYNC: TiledCopy =
    constant!(constant::tiled_copy(SM80_CP_ASYNC_CACHEGLOBAL_16, 16, &THREADS, &VALUES));
pub(crate) const TILE: Lay = lay!("(32,32):(64,1)");
