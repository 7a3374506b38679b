//! Layouts where there is neither std nor alloc: exits with 0 if they compute what they should.
#![no_std]
#![no_main]

use girih_layout::{Coord, Error, lay, tiler};

// The start and end of a process, and the memory functions that compiled Rust calls.
#[link(name = "c")]
unsafe extern "C" {}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The compiled `core` names it; nothing unwinds here.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

/// Where the tile of 128 x 32 begins that is at `tile` among the tiles of a row-major 256 x 64 matrix.
fn offset(tile: &str) -> Result<i64, Error> {
    let tiles = lay!("(256,64):(64,1)").zipped_divide(&tiler!("<128,32>"))?; // ((128,32),(2,2))
    tiles.crd2idx(&Coord::parse(tile)?)
}

/// What the operating system calls.
#[unsafe(no_mangle)]
pub extern "C" fn main(_arguments: i32, _values: *const *const u8) -> i32 {
    let right = offset("((0,0),(1,1))") == Ok(128 * 64 + 32) && offset("((0,0),(2,0))").is_err();
    i32::from(!right)
}
