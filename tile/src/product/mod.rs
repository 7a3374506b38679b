//! Recognition of programs that are one GEMM: a loop over tiles along K with an MMA, and a store of the
//! accumulator after an epilogue. Such a program runs the kernel of [`girih_kernels::gemm`].
//!
//! ```text
//! Func --loops: which operations--> Sketch --operand: arrays and axes--> Matrix A, B, C
//!                                     |
//!                                     +--slice: from the sums to the store--> Fused --program: an Epilogue of codegen
//! facts of the arrays --problem--> Problem --configure--> GemmConfig --codegen::gemm::generate--> GemmKernel
//! ```
//!
//! A launch also checks that the blocks store each tile of C once ([`Tiles`]), that the loop covers all of K, and that A, B and C
//! have the extents of one GEMM. Otherwise the program is lowered like any other.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let block = bid(0);
//!     y.tiles_mut([1024]).store((block,), x.tiles([1024]).load((block,)) * 2.0);
//! }
//!
//! // A refusal says what would be accepted.
//! let refusal = girih_tile::product::find(&double::ir()?, 90, None).expect_err("no product");
//! assert!(refusal.why.contains("0 products, one is accepted"), "{refusal}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod configure;
mod groups;
mod loops;
mod operand;
mod place;
mod problem;
mod program;
mod scales;
mod slice;
mod sums;
mod tiles;

use girih_codegen::gemm::{Epilogue, GemmConfig, GemmKernel};
use girih_kernels::gemm::Problem;

use crate::error::Refusal;
use crate::ir::{Array, ArrayId, Func, Kind, Op};
use crate::lower::Target;
use crate::pass::{per_byte, simplify};

pub use scales::{Scale, Scales};
#[cfg(feature = "launch")]
pub(crate) use slice::passed;
pub use slice::{Fused, Source};
pub use tiles::{Arguments, Tiles};

/// A refusal at an operation.
fn refused(op: &Op, why: impl Into<String>) -> Refusal {
    Refusal { site: op.site, why: why.into() }
}

impl From<girih_kernels::Error> for Refusal {
    fn from(error: girih_kernels::Error) -> Refusal {
        Refusal::new(error.to_string())
    }
}

impl From<girih_codegen::Error> for Refusal {
    fn from(error: girih_codegen::Error) -> Refusal {
        Refusal::new(error.to_string())
    }
}

/// A matrix of a product in an array: (M,K), (N,K) or (M,N), as [`Problem`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The array, a parameter.
    pub array: ArrayId,
    /// The axes of its two modes.
    pub modes: [u8; 2],
    /// The axis that counts products, if the array has a matrix for each.
    pub batch: Option<u8>,
}

/// A program that is a product.
#[derive(Clone, Debug)]
pub struct Product {
    /// The program, [simplified](simplify).
    pub func: Func,
    /// A, B and C.
    pub matrices: [Matrix; 3],
    /// The scales, if some operands have them.
    pub scales: Option<Scales>,
    /// The epilogue.
    pub fused: Fused,
    /// A problem of which no more is known than of the program's arrays.
    pub problem: Problem,
    /// The configuration of the kernel.
    pub config: GemmConfig,
    /// The kernel.
    pub kernel: GemmKernel,
    /// Which blocks store which tiles.
    pub tiles: Tiles,
}

impl Product {
    /// What the kernel computes of the accumulators.
    pub fn epilogue(&self) -> &Epilogue {
        &self.fused.epilogue
    }
}

/// The product that a program is, with its kernel for an architecture, such as 90. A configuration takes the place of the one that follows from
/// the program's tiles and hints.
///
/// # Errors
/// Why the program is none, or the configuration does not fit it.
pub fn find(func: &Func, target: impl Into<Target>, config: Option<GemmConfig>) -> Result<Product, Refusal> {
    let Target { sm, programmatic } = target.into();
    let mut products = 0;
    func.walk(func.body(), &mut |_, op| products += usize::from(op.kind == Kind::Mma));
    if products != 1 {
        return Err(Refusal::new(format!("the kernel has {products} products, one is accepted")));
    }
    let is_packed = |array: &Array| matches!(array, Array::Param(param) if per_byte(param.dtype) > 1);
    if func.arrays().iter().any(is_packed) {
        return Err(Refusal::new("an array has elements smaller than a byte"));
    }
    let func = simplify(func);
    let sketch = loops::sketch(&func)?;
    let (matrices, scales) = (sketch.matrices, sketch.scales);
    let (fused, tiles) = (slice::fused(&sketch)?, Tiles::of(&sketch));
    let problem = problem::sample(&func, &sketch)?.with_epilogue(&fused.epilogue);
    let asked = configure::asked(&func, &sketch, sm);
    let config = configure::configuration(&problem, sm, &asked, config)?;
    let early = config.programmatic || programmatic && config.loads_by_maps();
    let config = GemmConfig { name: configure::name(&func.name), programmatic: early, ..config };
    config.takes(&fused.epilogue)?;
    let kernel = girih_kernels::gemm::generated(&problem, &config, &fused.epilogue)?;
    Ok(Product { matrices, scales, fused, problem, config, kernel, tiles, func: func.clone() })
}
