//! The handles that kernels are written with, and staging of Rust's control flow.

/// Gives a macro the numbers of parts of tuples, with a name and the place of each part.
macro_rules! for_tuples {
    ($each:ident, 4) => {
        $each! { 1: A 0; 2: A 0 B 1; 3: A 0 B 1 C 2; 4: A 0 B 1 C 2 D 3; }
    };
    ($each:ident, 8) => {
        for_tuples!($each, 4);
        $each! {
            5: A 0 B 1 C 2 D 3 E 4; 6: A 0 B 1 C 2 D 3 E 4 F 5; 7: A 0 B 1 C 2 D 3 E 4 F 5 G 6;
            8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
        }
    };
}

pub mod handle;
pub mod stage;
