//! CuTe's layout algebra in Rust, a generator that turns partitions of layouts into PTX, and two machines that run the
//! result: an NVIDIA GPU through its driver, and a simulator on the CPU.
//!
//! This crate is the sum of the libraries, each a module here and a package of its own:
//!
//! | module | package | what is in it |
//! |---|---|---|
//! | [`layout`] | `girih-layout` | [`Lay`](layout::Lay): shapes, strides and the algebra; `no_std`, no heap |
//! | [`tensor`] | `girih-tensor` | [`Tensor`](tensor::Tensor): an engine and a layout; slicing, tiling, partitioning |
//! | `typed` | `girih-typed` | layouts as types, tensors under them and tensors of the host; a feature |
//! | [`ptx`] | `girih-ptx` | [`Module`](ptx::Module): PTX as a tree, with its printer, parser and verifier |
//! | [`codegen`] | `girih-codegen` | atoms, tiled copies and MMAs, the kernel [`Builder`](codegen::Builder) |
//! | [`sim`] | `girih-sim` | [`run`](sim::run): PTX on the CPU, with its checks |
//! | [`device`] | `girih-device` | [`Device`](device::Device): one interface to the GPU and to the simulator |
//! | [`kernels`] | `girih-kernels` | GEMM, attention and copy: problem, configuration, module, run |
//! | [`tile`] | `girih-tile` | kernels over whole tiles: [`#[girih::kernel]`](macro@kernel) |
//! | [`programs`] | `girih-programs` | kernels in the tile language, by name |
//! | [`picture`] | `girih-picture` | [`Sheet`](picture::Sheet): layouts, atoms and banks as SVG, LaTeX and text |
//!
//! Data takes the path layout, tensor, codegen, ptx, device; [`kernels`] walks it for you:
//!
//! ```
//! use girih::device::{Device, Select};
//! use girih::kernels::gemm::{Gemms, KernelKind, Layout, Problem};
//! use girih::tensor::DType;
//!
//! // C = A * B with A of 40 x 24 and B of 24 x 33, both K-contiguous.
//! let [m, n, k] = [40, 33, 24];
//! let problem = Problem::new(DType::F32, [m, n, k], Layout::Tn)?;
//! assert_eq!(problem.a().to_string(), "(40,24):(24,1)");
//!
//! let device = Device::open(Select::Sim)?;
//! let gemm = Gemms::new(&device).get(&problem, KernelKind::Simt)?;
//!
//! let a = device.upload(&vec![2.0f32; (m * k) as usize])?;
//! let b = device.upload(&vec![0.5f32; (n * k) as usize])?;
//! let c = device.zeros::<f32>((m * n) as usize)?;
//! gemm.run(&a, &b, &c)?;
//! assert_eq!(c.download()?, vec![24.0; (m * n) as usize]);
//!
//! // The layouts that the kernel was derived from, and its text.
//! let tile = gemm.partitions().iter().find(|(name, _)| *name == "tile (M,N,K)");
//! assert_eq!(tile.map(|(_, layout)| layout.as_str()), Some("(128,128,16)"));
//! assert!(gemm.ptx().to_string().contains("fma.rn.f32"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! `cuda` (on by default) compiles the GPU backend. It needs no CUDA toolkit: the driver is looked for when a GPU is
//! opened. Without the feature, [`Select::Cuda`](device::Select::Cuda) is an error and everything else works. `cudarc` makes devices and
//! buffers of the streams and slices of that library. `serde` reads and writes layouts as text, with what is known of
//! their symbols; `proptest` adds `layout::strategies`. `typed` adds layouts as types.

pub use girih_codegen as codegen;
pub use girih_device as device;
pub use girih_kernels as kernels;
pub use girih_layout as layout;
pub use girih_picture as picture;
pub use girih_programs as programs;
pub use girih_ptx as ptx;
pub use girih_sim as sim;
pub use girih_tensor as tensor;
#[cfg(feature = "typed")]
pub use girih_typed as typed;
pub use tile::{Tiles, function, kernel};

/// The tile language: kernels over whole tiles in ordinary Rust, by [`#[girih::kernel]`](macro@kernel).
pub mod tile {
    pub use girih_tile::*;
    pub use girih_tile::{GirihTiles as Tiles, girih_function as function, girih_kernel as kernel};

    /// What kernels are written with.
    pub mod prelude {
        pub use super::{Tiles, function, kernel};
        pub use girih_tile::prelude::*;
    }
}

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So are those of the guide to kernels.
#[cfg(doctest)]
#[doc = include_str!("../docs/kernels.md")]
struct Kernels;

/// So are those of the tile model.
#[cfg(doctest)]
#[doc = include_str!("../docs/tile-model.md")]
struct TileModel;

/// And those of the pages for who comes from other tile languages.
#[cfg(doctest)]
#[doc = include_str!("../docs/from-triton.md")]
struct FromTriton;

#[cfg(doctest)]
#[doc = include_str!("../docs/from-cutile.md")]
struct FromCutile;

/// So are those of the book's chapters.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../docs/tile/1-hello.md")]
    struct TileHello;

    #[doc = include_str!("../docs/tile/2-add.md")]
    struct TileAdd;

    #[doc = include_str!("../docs/tile/3-softmax.md")]
    struct TileSoftmax;

    #[doc = include_str!("../docs/tile/4-matmul.md")]
    struct TileMatmul;

    #[doc = include_str!("../docs/tile/5-epilogue.md")]
    struct TileEpilogue;

    #[doc = include_str!("../docs/tile/6-attention.md")]
    struct TileAttention;

    #[doc = include_str!("../docs/tile/7-debugging.md")]
    struct TileDebugging;

    #[doc = include_str!("../docs/tile/8-speed.md")]
    struct TileSpeed;

    #[doc = include_str!("../docs/tutorial/1-layouts.md")]
    struct Layouts;

    #[doc = include_str!("../docs/tutorial/2-coordinates.md")]
    struct Coordinates;

    #[doc = include_str!("../docs/tutorial/3-algebra.md")]
    struct Algebra;

    #[doc = include_str!("../docs/tutorial/4-tensors.md")]
    struct Tensors;

    #[doc = include_str!("../docs/tutorial/5-threads.md")]
    struct Threads;

    #[doc = include_str!("../docs/tutorial/6-copy.md")]
    struct FirstKernel;

    #[doc = include_str!("../docs/tutorial/7-gemm.md")]
    struct MatrixProduct;

    #[doc = include_str!("../docs/tutorial/8-hopper.md")]
    struct Hopper;

    #[doc = include_str!("../docs/performance.md")]
    struct Performance;

    #[doc = include_str!("../docs/embedding.md")]
    struct Embedding;

    #[doc = include_str!("../docs/testing.md")]
    struct Testing;

    #[doc = include_str!("../docs/from-cute-dsl.md")]
    struct FromCuteDsl;

    #[doc = include_str!("../docs/from-ptx.md")]
    struct FromPtx;
}
