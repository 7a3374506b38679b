//! One interface to an NVIDIA GPU, through its driver, and to the CPU simulator.
//!
//! ```text
//! Device::from_raw                   on a context and a stream that another library made
//! Device::open --> Buffer            typed device memory; Buffer::slice, Device::borrow
//!             \--> Pinned            host memory, for Buffer::write_async and download_async
//!             \--> Module --> Kernel --> launch(LaunchConfig, &[Arg])
//!                                    \--> prepare(LaunchConfig, &[Arg]) --> Launch --> open(&[name]) --> Template
//!             \--> Timer, Event
//!             \--> Device::capture --> Graph
//!             \--> Device::new_stream    a second sequence of operations, ordered with the first by events
//! Buffer  --> TensorMap                a tensor in a buffer, for the copy engine of sm_90
//!        \--> Pointers                 the addresses of several buffers, for kernels that take an array of pointers
//! ```
//!
//! The feature `cuda` (on by default) adds the GPU, the feature `sim` (on by default) the simulator. The feature `cudarc`
//! makes devices and buffers of the streams and slices of cudarc 0.19 (`Device::from_cudarc`, `Device::borrow_cudarc`).
//! Contexts, streams and memory of any other library are passed as raw handles ([`Device::from_raw`], [`Device::borrow`]).
//!
//! No CUDA toolkit is needed: the driver compiles the PTX text, and the driver's library is loaded when a GPU is opened, not
//! when the program is built or started.
//!
//! "The driver's" in a list of errors means [`Error::Driver`], or
//! [`Error::KernelFailed`] if a kernel that was launched earlier has failed.
//!
//! ```
//! use girih_device::{Arg, Device, LaunchConfig, Select};
//!
//! let module = girih_ptx::Module::parse(
//!     ".version 7.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry double(.param .u64 x) {
//!        .reg .b32 %r<4>; .reg .b64 %rd<4>;
//!        ld.param.u64 %rd0, [x];
//!        cvta.to.global.u64 %rd0, %rd0;
//!        mov.u32 %r0, %tid.x;
//!        mul.wide.u32 %rd1, %r0, 4;
//!        add.s64 %rd2, %rd0, %rd1;
//!        ld.global.u32 %r1, [%rd2];
//!        add.u32 %r2, %r1, %r1;
//!        st.global.u32 [%rd2], %r2;
//!        ret;
//!      }",
//! )?;
//! let device = Device::open(Select::Sim)?;
//! let kernel = device.load(&module)?.kernel("double")?;
//! let x = device.upload(&[1u32, 2, 3])?;
//! // SAFETY: the kernel reads and writes x[tid] alone, and tid < 3 = x.len().
//! unsafe { kernel.launch(&LaunchConfig::new([1, 1, 1], [3, 1, 1]), &[Arg::from(&x)])? };
//! assert_eq!(x.download()?, [2, 4, 6]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]
#![cfg_attr(
    not(any(feature = "cuda", feature = "sim")),
    allow(dead_code, reason = "without a backend nothing makes a device")
)]

mod args;
mod assembler;
mod backend;
mod borrow;
mod buffer;
mod bundle;
mod cache;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod event;
mod fault;
mod graph;
mod host;
#[cfg(all(test, feature = "cuda", feature = "sim"))]
mod late;
mod launch;
mod limits;
mod module;
mod open;
mod parts;
mod pinned;
mod pod;
mod pointers;
mod prepared;
mod record;
mod samples;
mod select;
#[cfg(feature = "sim")]
mod sim;
pub mod sizes;
mod slice;
mod source;
#[cfg(feature = "cuda")]
mod store;
mod stream;
mod template;
mod tensor;
mod time;

pub use args::Arg;
pub use assembler::{Assembled, Assembler};
pub use backend::Resources;
pub use buffer::{Buffer, BufferArg};
pub use bundle::Bundle;
#[cfg(feature = "cudarc")]
pub use cuda::Borrowed;
pub use device::Device;
pub use error::Error;
pub use event::Event;
pub use fault::Fault;
#[cfg(feature = "sim")]
pub use girih_sim::Options as SimOptions;
pub use graph::Graph;
pub use host::{ShortMemory, free_host_memory, host_fits};
pub use launch::LaunchConfig;
pub use limits::{DriverVersion, Kind, Limits};
pub use module::{Kernel, Module};
pub use pinned::{Pinned, Transfer};
pub use pod::Pod;
pub use pointers::Pointers;
pub use prepared::Launch;
pub use record::Record;
pub use samples::Samples;
pub use select::Select;
pub use source::Optimization;
pub use template::Template;
pub use tensor::TensorMap;
pub use time::Timer;
