//! From a function to a kernel: passes, placement, lowering.

use girih_codegen::Kernel;
use girih_codegen::gemm::GemmConfig;

use crate::error::Error;
use crate::facts::ordered;
use crate::ir::{Func, verify};
use crate::lower::{self, Param, Target};
use crate::pass::simplify;
use crate::place::{self, Plan};
use crate::product;

/// A kernel, and all that a launch and an explanation need to know of it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The kernel.
    pub kernel: Kernel,
    /// What each parameter of the kernel stands for.
    pub params: Vec<Param>,
    /// The placed function.
    pub plan: Plan,
    /// What it was compiled for.
    pub target: Target,
}

/// Compiles a function for an architecture, such as 90 for sm_90.
///
/// # Errors
/// [`Error::Place`], [`Error::Lower`] and [`Error::Codegen`].
///
/// # Examples
/// ```
/// use girih_tensor::DType;
/// use girih_tile::dtype::Const;
/// use girih_tile::ir::{ArrayParam, Build, Dims, Known};
/// use girih_tile::ops::memory::Tiles;
///
/// let mut b = Build::new("ones");
/// let y = b.array(ArrayParam {
///     name: "y".into(),
///     dtype: DType::F32,
///     mutable: true,
///     extents: vec![Known::MultipleOf(4)],
///     strides: vec![Known::Is(1)],
///     align: 16,
///     assume_disjoint: None,
/// });
/// let block = b.bid(0)?;
/// let ones = b.full(DType::F32, Dims::new(&[1024]).unwrap(), Const::Float(1.0));
/// b.store(&Tiles::new(y, Dims::new(&[1024]).unwrap()), &[block.into()], ones.into())?;
/// let compiled = girih_tile::compile(&b.finish(), 90)?;
/// assert!(compiled.kernel.module().to_string().contains("st.global.v4"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(func: &Func, target: impl Into<Target>) -> Result<Compiled, Error> {
    let target = target.into();
    verify(func)?;
    let simple = simplify(&ordered(func));
    verify(&simple)?;
    let plan = place::place(&simple, target.sm)?;
    let lowered = lower::lower(&plan, target)?;
    Ok(Compiled { kernel: lowered.kernel, params: lowered.params, plan, target })
}

/// The kernels that launches of a program run: that of the product that it is, by this configuration or by the one that follows from it, and
/// the program's own, which is left out if it cannot be compiled and the other can.
///
/// # Errors
/// As [`compile`].
pub fn kernels(
    func: &Func,
    target: impl Into<Target>,
    config: Option<GemmConfig>,
) -> Result<Vec<Kernel>, Error> {
    let target = target.into();
    let product = product::find(func, target, config).ok().map(|product| product.kernel.kernel);
    with_own(product, compile(func, target).map(|own| own.kernel))
}

/// The kernel of a product, and the program's own.
pub(crate) fn with_own(product: Option<Kernel>, own: Result<Kernel, Error>) -> Result<Vec<Kernel>, Error> {
    match (product, own) {
        (Some(product), Err(_)) => Ok(vec![product]),
        (product, own) => Ok(product.into_iter().chain([own?]).collect()),
    }
}
