//! Constant copies and MMAs that do not fit: what the compiler finds when it evaluates
//! constants. Nothing is called here, so that `cargo check` finds it too.
#![allow(unused, reason = "only what the compiler says to it counts")]

mod tiled;

use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, SM80_CP_ASYNC_CACHEGLOBAL_16, UNIVERSAL_COPY_128};
use girih_codegen::constant::Place;
use girih_codegen::{Operand, TiledCopy, TiledMma, constant};
use girih_layout::{Lay, Tile, lay};
use girih_typed::{Check, Lt, S, layout_type};
use tiled::{ASYNC, COPY, MMA, THREADS, TILE};

const ORDERED: TiledMma = MMA.with_permutation([Tile::Lay(lay!("48:1")), Tile::All, Tile::All]);

fn main() {}

const ATOM: Lay = constant!(constant::thrfrg(&MMA, Operand::A, &lay!("(24,32):(32,1)")));
const PERMUTATION: Lay = constant!(constant::thrfrg(&ORDERED, Operand::A, &lay!("(64,32):(32,1)")));
const SIX_VALUES: TiledCopy =
    constant!(constant::tiled_copy(UNIVERSAL_COPY_128, 16, &THREADS, &lay!("(1,6):(6,1)")));
const COPY_TILE: Lay = constant!(constant::tidfrg_s(&COPY, &lay!("(48,32):(32,1)")));
const ARRANGEMENT: TiledMma =
    constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1,1):(1,2,0,0)")));
const OPERAND: Lay = constant!(constant::thrfrg(&MMA, Operand::B, &lay!("(64,32,2):(32,1,2048)")));
const ONE_MODE: TiledCopy = constant!(constant::tiled_copy(UNIVERSAL_COPY_128, 16, &THREADS, &lay!("8:1")));
const COPY_RANK: Lay = constant!(constant::tidfrg_s(&COPY, &lay!("1024:1")));
const PITCH: () = constant!(constant::copy(&COPY, Place::gmem(lay!("(32,32):(33,1)"), 16), Place::REGISTERS));
const COLUMNS: () =
    constant!(constant::copy(&COPY, Place::gmem(lay!("(32,32):(1,32)"), 16), Place::REGISTERS));
const ADDRESS: () = constant!(constant::copy(&ASYNC, Place::gmem(TILE, 16), Place::smem(TILE, 8)));
const LARGER_COPY: Lay = constant!(constant::tidfrg_d(&COPY, &lay!("(16,32):(32,1)")));
const LARGER_MMA: Lay = constant!(constant::thrfrg(&MMA, Operand::C, &lay!("(16,16):(16,1)")));
const REGISTERS: () = constant!(constant::copy(&ASYNC, Place::gmem(TILE, 16), Place::REGISTERS));
const BACKWARDS: () = constant!(constant::copy(&ASYNC, Place::smem(TILE, 16), Place::gmem(TILE, 16)));
const BIJECTION: TiledMma =
    constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2):(1,1)")));
type Operands = Check<Lt<(S<6>, S<2>), (S<8>, S<2>)>>;
const COMPOSITION: () = Operands::composition::<Lt<S<6>, S<4>>>();
const ROOM: usize = <layout_type!((4, usize) : (1, 4))>::COSIZE;
