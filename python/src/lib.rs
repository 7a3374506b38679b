//! The extension module `girih._girih`. This crate converts: everything is computed by the libraries.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

mod algebra;
mod array;
mod buffer;
mod device;
mod error;
mod kept;
mod kernels;
mod layout;
mod modes;
mod sim;
mod site;
mod threads;
mod tuple;

use pyo3::prelude::*;

#[pymodule]
fn _girih(module: &Bound<'_, PyModule>) -> PyResult<()> {
    threads::register();
    error::register(module)?;
    tuple::register(module)?;
    layout::register(module)?;
    algebra::register(module)?;
    modes::register(module)?;
    sim::register(module)?;
    device::register(module)?;
    kernels::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
