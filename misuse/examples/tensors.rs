//! Tensors whose numbers do not fit: what the compiler finds when it builds the program.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_tensor::Error;
use girih_typed::host::Array;
use girih_typed::{int, layout};

fn main() -> Result<(), Error> {
    tile()?;
    partition()?;
    larger_tile()?;
    larger_tv()?;
    outside()?;
    numbers()?;
    negative();
    Ok(())
}

fn tile() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.local_tile((int!(4), int!(7)), (0, 0))?;
    Ok(())
}

fn partition() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.local_partition(layout!((3, 4) : (4, 1)), 0)?;
    Ok(())
}

fn larger_tile() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.local_tile((int!(16), int!(8)), (0, 0))?;
    Ok(())
}

fn larger_tv() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.tv_partition(layout!((8, 25) : (1, 8)), 0)?;
    Ok(())
}

fn outside() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.get((int!(8), 0))?;
    Ok(())
}

fn numbers() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.local_partition(layout!((2, 2) : (1, 1)), 0)?;
    Ok(())
}

fn negative() {
    Array::filled(layout!(8 : -1), 0f32);
}
