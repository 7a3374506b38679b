//! The forms of the misuses beside it, rightly used.

mod tiled;

use girih_codegen::constant::Place;
use girih_codegen::{Operand, constant};
use girih_layout::{Lay, lay};
use girih_typed::host::Array;
use girih_typed::{Check, Lt, S, int, layout};
use tiled::{ASYNC, COPY, MMA, TILE};

const A: Lay = constant!(constant::thrfrg(&MMA, Operand::A, &lay!("(64,32):(32,1)")));
const SOURCE: Lay = constant!(constant::tidfrg_s(&COPY, &TILE));
const _: () = constant!(constant::copy(&COPY, Place::gmem(TILE, 16), Place::REGISTERS));
const _: () =
    constant!(constant::copy(&ASYNC, Place::gmem(TILE, 16), Place::smem(lay!("(32,32):(40,1)"), 16)));
const _: () = Check::<Lt<(S<6>, S<2>), (S<8>, S<2>)>>::composition::<Lt<S<6>, S<2>>>();

fn main() -> Result<(), girih_tensor::Error> {
    println!("{A} {SOURCE} {}", layout!((6, 2) : (8, 2)).composition(layout!(6 : 2)).erase()?);
    let mut a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    a.put((7, 23), 1.0)?;
    let t = a.view();
    let mine = t.local_tile((int!(4), int!(8)), (1, 2))?.local_partition(layout!((2, 4) : (4, 1)), 7)?;
    println!("{} {}", mine.get((1, 1))?, t.tv_partition(layout!((8, 24) : (1, 8)), 7)?.get(23)?);
    Ok(())
}
