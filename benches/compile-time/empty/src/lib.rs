//! What a crate that depends on girih-layout costs without a layout in it.
extern crate girih_layout as _;
