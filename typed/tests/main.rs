//! One binary for all of them, since linking one for each file takes longer than running it.

#[cfg(feature = "tensor")]
mod algorithms;
mod compile;
mod coordinates;
mod examples;
#[cfg(feature = "tensor")]
mod host;
mod layouts;
mod swizzled;
#[cfg(feature = "tensor")]
mod tensors;
