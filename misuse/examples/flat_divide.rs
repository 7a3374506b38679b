//! More modes than a typed tuple has, a program of its own: the compiler says so once.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_typed::layout;

fn main() {
    flat_divide();
}

fn flat_divide() {
    layout!((2,2,2,2,2,2,2) : (1,2,4,8,16,32,64)).flat_divide((
        layout!(1 : 0),
        layout!(1 : 0),
        layout!(1 : 0),
        layout!(1 : 0),
        layout!(1 : 0),
        layout!(1 : 0),
    ));
}
