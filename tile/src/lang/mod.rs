//! Typed handles of tiles, scalars and arrays with which kernels are written, and the staging of Rust's control flow.

/// Calls a macro with the tuples of 1 to 4 or 1 to 8 elements, each element as a type name and an index.
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
