//! The extension module `girih._girih`. What stands here converts: everything is computed by the libraries.

mod algebra;
mod buffer;
mod device;
mod error;
mod kernels;
mod layout;
mod picture;
mod sim;
mod swizzle;
mod tuple;

use pyo3::prelude::*;

#[pymodule]
fn _girih(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::register(module)?;
    tuple::register(module)?;
    layout::register(module)?;
    swizzle::register(module)?;
    picture::register(module)?;
    algebra::register(module)?;
    sim::register(module)?;
    device::register(module)?;
    kernels::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
