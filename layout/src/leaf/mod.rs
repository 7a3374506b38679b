//! Leaves of tuples: integers with their symbols, strides, and the positions of coordinates. All functions here are total; the fallible ones are in
//! `arith`, because an error quotes leaves.

pub(crate) mod crd;
pub(crate) mod int;
pub(crate) mod mode_path;
pub(crate) mod step;
pub(crate) mod stride;
pub(crate) mod symbol;
