//! From a function to a kernel: passes, placement, lowering.

use girih_codegen::Kernel;

use crate::error::Error;
use crate::ir::{Func, verify};
use crate::lower::{self, Param, Target};
use crate::pass::simplify;
use crate::place::{self, Plan};

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
    let simple = simplify(func);
    verify(&simple)?;
    let plan = place::place(&simple, target.sm)?;
    let lowered = lower::lower(&plan, target)?;
    Ok(Compiled { kernel: lowered.kernel, params: lowered.params, plan, target })
}
