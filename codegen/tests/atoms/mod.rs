//! The layouts of atoms against the formulas of the PTX ISA.
#![expect(clippy::unwrap_used, reason = "tests")]

mod copy;
mod gmma;
mod mma;

use girih_layout::{Coord, Lay};

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

fn at(layout: &Lay, thread: i64, value: i64) -> i64 {
    layout.crd2idx(&Coord::of(&[thread, value]).unwrap()).unwrap()
}
