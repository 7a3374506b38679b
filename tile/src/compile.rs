//! From a function to a kernel: passes, placement, lowering.

use girih_codegen::Kernel;
use girih_codegen::gemm::GemmConfig;

use crate::error::Error;
use crate::facts::ordered;
use crate::ir::{Func, verify};
use crate::lower::{self, Lowered, Param, Target};
use crate::pass::simplify;
use crate::place::{self, Plan};
use crate::product;
use crate::resources::{Resources, Spill};

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
    /// What it takes of a multiprocessor.
    pub resources: Resources,
}

impl Compiled {
    /// What is known of the kernel's spills to memory, if a thread needs more registers than it can have: no number of warps has avoided them.
    pub fn spill(&self) -> Option<Spill> {
        Spill::of(&self.plan, &self.resources)
    }
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
    let (plan, Lowered { kernel, params }, resources) = build(&simple, target)?;
    Ok(Compiled { kernel, params, plan, target, resources })
}

type Built = (Plan, Lowered, Resources);

/// Places and lowers a simplified function. If a thread would need more registers than it can have, another number of warps is taken with which
/// it does not, if there is one: products stay by the instructions that they are by, and tiles come as they do. If there is none, functions are
/// computed element by element, by the number of warps that leaves the most registers.
pub(crate) fn build(func: &Func, target: Target) -> Result<Built, Error> {
    let first = built(place::place(func, target.sm)?, target)?;
    if !first.2.spills() {
        return Ok(first);
    }
    let same = |plan: &Plan| {
        let (products, other) = (&first.0.products, &plan.products);
        other.wgmma.len() >= products.wgmma.len()
            && other.pipeline.loads.len() >= products.pipeline.loads.len()
            && other.ahead.loads.len() >= products.ahead.loads.len()
    };
    let mut others = Vec::new();
    for plan in place::others(func, target.sm, first.0.threads / 32).filter(same) {
        match built(plan, target) {
            Ok(other) if !other.2.spills() => return Ok(other),
            Ok(other) => others.push(other),
            Err(_) => {}
        }
    }
    let mut best = by_elements(first, target);
    for other in others {
        let other = by_elements(other, target);
        if other.2.over() < best.2.over() {
            best = other;
        }
    }
    Ok(best)
}

fn built(plan: Plan, target: Target) -> Result<Built, Error> {
    let lowered = lower::lower(&plan, target)?;
    let resources = Resources::of(&lowered.kernel, target.sm).of_program(&plan.func);
    Ok((plan, lowered, resources))
}

/// The kernel in which functions are computed element by element, if it needs fewer registers so.
fn by_elements((plan, lowered, resources): Built, target: Target) -> Built {
    let kernel = lowered.kernel.clone().on_demand();
    let other = Resources::of(&kernel, target.sm).of_program(&plan.func);
    if other.over() < resources.over() {
        (plan, Lowered { kernel, ..lowered }, other)
    } else {
        (plan, lowered, resources)
    }
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
