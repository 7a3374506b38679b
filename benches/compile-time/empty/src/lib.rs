//! What a crate that depends on girih-typed costs without a layout in it.
extern crate girih_typed as _;
