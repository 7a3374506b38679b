//! Compilation of a tile program to a kernel: passes, placement, lowering.

use girih_codegen::Kernel;
#[cfg(feature = "launch")]
use girih_device::Device;

use crate::error::Error;
#[cfg(feature = "launch")]
use crate::error::LaunchError;
use crate::facts::ordered;
use crate::ir::{Array, Func, verify};
use crate::lower::{self, Lowered, Param, Target};
use crate::pass::{is_even, per_byte, persistent, simplify};
use crate::place::wgmma::{WARPGROUP, registers_of_consumers};
use crate::place::{self, Plan};
use crate::resources::{MARGIN, Resources, Spill};

/// A kernel, and all that a launch and an explanation need to know of it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The kernel.
    pub kernel: Kernel,
    /// The meaning of each parameter of the kernel.
    pub params: Vec<Param>,
    /// The placed function.
    pub plan: Plan,
    /// The target of the compilation.
    pub target: Target,
    /// The resources of an SM that it uses.
    pub resources: Resources,
    /// How many elements of each array a byte holds, 1 unless they are smaller: the kernel counts such arrays in bytes along the last axis.
    pub per_byte: Vec<i64>,
}

impl Compiled {
    /// The kernel's spills to memory, if a thread needs more registers than it can have and no number of warps has avoided this.
    pub fn spill(&self) -> Option<Spill> {
        Spill::of(&self.plan, &self.resources)
    }
}

#[cfg(feature = "launch")]
impl Compiled {
    /// How many blocks run a grid on a device: all, or as many as there is room for where each takes one block of the grid after the other.
    pub(crate) fn blocks(&self, grid: [u32; 3], device: &Device) -> Result<[u32; 3], LaunchError> {
        if !self.plan.func.is_persistent() {
            return Ok(grid);
        }
        let all = grid.iter().try_fold(1u32, |all, &n| all.checked_mul(n)).filter(|all| *all < MOST);
        let kernel = || self.plan.func.name.clone();
        let all = all.ok_or_else(|| LaunchError::GridBlocks { kernel: kernel(), grid, limit: MOST - 1 })?;
        let room = device.limits().multiprocessors * self.resources.blocks.fit().max(1);
        Ok([all.min(room), 1, 1])
    }
}

/// The upper bound of a grid's blocks in a persistent kernel, so that a step beyond the last block does not overflow.
#[cfg(feature = "launch")]
const MOST: u32 = 1 << 30;

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
    let per_byte = func.arrays().iter().map_while(|array| match array {
        Array::Param(param) => Some(per_byte(param.dtype)),
        Array::Slice { .. } => None,
    });
    Ok(Compiled { kernel, params, plan, target, resources, per_byte: per_byte.collect() })
}

type Built = (Plan, Lowered, Resources);

/// Places and lowers a simplified function: for two blocks of an SM at a time where that can be, or else as a persistent kernel.
pub(crate) fn build(func: &Func, target: Target) -> Result<Built, Error> {
    let alone = build_alone(func, target)?;
    let two = build_for_two(func, target, &alone)?;
    let better = if two.is_some() { two } else { build_persistent(func, target, &alone)? };
    Ok(better.unwrap_or(alone))
}

/// A persistent kernel, where an SM has room for one block, TMA loads tiles, and blocks have as much to do as others. Where
/// warpgroups ping-pong, persistent kernels were measured to be slower.
fn build_persistent(
    func: &Func,
    target: Target,
    (alone, _, resources): &Built,
) -> Result<Option<Built>, Error> {
    let hints = func.hints.resolve(target.sm);
    let one = resources.blocks.fit() == 1 && hints.num_ctas.is_none_or(|blocks| blocks == 1);
    let by_tma = !alone.products.pipeline.rings.is_empty();
    let fits = by_tma && one && !alone.alternates() && is_even(func);
    if fits { built_like(&persistent(func), target, alone) } else { Ok(None) }
}

/// A kernel for two blocks of an SM that has room for one: one computes while the other begins, waits or stores. Tiles come by TMA, the
/// hints say nothing of occupancy, threads have the registers that they need, and tiles are prefetched as far ahead.
fn build_for_two(func: &Func, target: Target, (alone, _, resources): &Built) -> Result<Option<Built>, Error> {
    let rings = &alone.products.pipeline.rings;
    let kept = alone.products.pipeline.kept;
    let limit = registers_of_consumers((alone.threads / WARPGROUP).into(), 2, kept);
    let open = func.hints.resolve(target.sm).occupancy.is_none() && resources.blocks.fit() < 2;
    // While an MMA is in flight, the assembler hoists computations into further registers.
    let margin = if alone.alternates() { 2 * MARGIN } else { MARGIN };
    if rings.is_empty() || !open || i64::from(resources.registers + margin) > limit {
        return Ok(None);
    }
    let mut func = func.clone();
    func.hints.all.occupancy = Some(2);
    let found = built_like(&func, target, alone)?;
    Ok(found.filter(|(plan, _, resources)| {
        let others = &plan.products.pipeline.rings;
        others.len() == rings.len()
            && rings.iter().zip(others).all(|(one, two)| two.iterations >= one.iterations)
            && resources.registers + margin <= resources.limit
            && resources.blocks.fit() >= 2
    }))
}

/// Places and lowers another form of a function by as many warps, unless less is computed by `wgmma` or prefetched then, or a thread spills. Memory
/// may not suffice for the form; what is placed can be lowered.
fn built_like(func: &Func, target: Target, like: &Plan) -> Result<Option<Built>, Error> {
    let Ok(plan) = place::place_by(func, target.sm, &[like.threads / 32]) else { return Ok(None) };
    let found = built(plan, target)?;
    let found = if found.2.spills() { by_elements(found, target) } else { found };
    let (plan, _, resources) = &found;
    let keeps = plan.products.keeps(&like.products) && !resources.spills();
    Ok(keeps.then_some(found))
}

/// Places and lowers a simplified function. If a thread would need more registers than it can have, another number of warps is taken with which
/// it does not, if there is one: MMAs stay by the instructions that they are by, and tiles come as they do. If there is none, functions are
/// computed element by element, by the number of warps that leaves the most registers.
fn build_alone(func: &Func, target: Target) -> Result<Built, Error> {
    let first = built(place::place(func, target.sm)?, target)?;
    if !first.2.spills() {
        return Ok(first);
    }
    let same = |plan: &Plan| plan.products.keeps(&first.0.products);
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

fn built(mut plan: Plan, target: Target) -> Result<Built, Error> {
    let lowered = |plan: &Plan| -> Result<(Lowered, Resources), Error> {
        let lowered = lower::lower(plan, target)?;
        let resources = Resources::of(&lowered.kernel, target.sm).of_program(&plan.func);
        Ok((lowered, resources))
    };
    let (mut kernel, mut resources) = lowered(&plan)?;
    // The assembler holds what registers were before they are set, and takes a few more then.
    if plan.func.is_persistent() && resources.registers + 4 * MARGIN > resources.limit {
        plan.products.clears = true;
        (kernel, resources) = lowered(&plan)?;
    }
    if resources.told.is_some() {
        plan.products.blocks = resources.told;
        (kernel, resources) = lowered(&plan)?;
    }
    let found = (plan, kernel, resources);
    Ok(if found.2.is_far_over() && !found.2.spills() { by_elements(found, target) } else { found })
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
