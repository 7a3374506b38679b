//! One binary for all of them, since linking one for each file takes longer than running it.

#[cfg(feature = "tensor")]
mod algorithms;
mod compile;
mod examples;
#[cfg(feature = "tensor")]
mod host;
mod layouts;
#[cfg(feature = "tensor")]
mod tensors;
