//! More modes than a typed tuple has, a program of its own: the compiler says so once.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_typed::layout;

fn main() {
    prepend();
}

fn prepend() {
    layout!((2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2) : (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048))
        .prepend(layout!(2 : 4096));
}
