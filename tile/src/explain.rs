//! Explanations of programs, without a device. An explanation has the program's text with the distribution of every tile, the instructions of each
//! conversion, the width of each access and why it is not wider, the prefetched loads and why others are not, and the roofline of the kernel.
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
//! let explanation = girih_tile::explain::explain(&double::ir()?, 90)?;
//! let (bytes, _) = explanation.bytes();
//! assert_eq!(bytes, 2 * 1024 * 4);
//! println!("{explanation}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod count;
mod iterations;
mod notes;
mod roofline;

use std::fmt;

use crate::compile::build;
use crate::error::{Diagnostic, Error};
use crate::facts::{AxisBounds, Bound, Bounds, GridAxis, Report, Verdict, check, infer};
use crate::ir::{Array, ArrayId, Func, Kind, OpId};
use crate::lower::Lowered;
use crate::pass::simplify;
use crate::place::{Plan, place};
use crate::resources::{Assembled, Blocks, Resources, Spill};
use girih_codegen::plan::Exchange;

use iterations::often;
use roofline::{bytes, roofline};

pub use count::Counts;
pub use roofline::Roofline;

/// Rates of a GPU that the vendor states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The GPU's name.
    pub name: &'static str,
    /// Bytes of memory in a second.
    pub memory: f64,
    /// Cycles in a second.
    pub clock: f64,
    /// SMs.
    pub multiprocessors: u32,
}

impl Rates {
    /// Those of an H200.
    pub const H200: Rates = Rates { name: "H200", memory: 4.8e12, clock: 1.98e9, multiprocessors: 132 };
}

/// The sizes of a launch that the program does not determine: extents in elements, and blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The extents of each array parameter; empty where they are not known.
    pub extents: Vec<Vec<i64>>,
    /// The grid. Without it the one that follows from the stores is taken, if there is one.
    pub grid: Option<[u32; 3]>,
}

impl Sizes {
    /// With the grid that follows from a program's stores.
    fn inferred(mut self, func: &Func) -> Sizes {
        let Ok(axes) = infer(func) else { return self };
        let extent = |axis: &GridAxis| {
            let extent = *self.extents.get(axis.array.index())?.get(usize::from(axis.along))?;
            u32::try_from(extent.max(0)).ok().map(|extent| extent.div_ceil(axis.step.max(1)))
        };
        let grid = axes.map(|axis| axis.as_ref().map_or(Some(1), extent));
        if let ([Some(x), Some(y), Some(z)], None) = (grid, self.grid) {
            self.grid = Some([x, y, z]);
        }
        self
    }
}

/// An explanation of a program, which displays as text. The first part is a program again: explanations are comments in it.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Where its tiles are.
    pub plan: Plan,
    /// The kernel, or why there is none.
    pub lowered: Result<Lowered, Error>,
    /// How bounds are known.
    pub bounds: Bounds,
    /// How it is known that blocks do not store the same elements, or why it is not.
    pub checked: Result<Report, Vec<Diagnostic>>,
    /// The resources of an SM that the kernel uses, if there is a kernel.
    pub resources: Option<Resources>,
    /// The report of NVIDIA's assembler on the kernel, if the environment variable `GIRIH_PTXAS` names it.
    pub assembled: Option<Assembled>,
    /// The sizes of a launch, as far as they are known.
    pub sizes: Sizes,
}

/// Explains a program for a device of this compute capability, such as 90.
///
/// # Errors
/// Those of [`place`], and [`Error::Device`] if `GIRIH_PTXAS` names no assembler that runs.
pub fn explain(func: &Func, sm: u32) -> Result<Explanation, Error> {
    explain_at(func, sm, Sizes::default())
}

/// Explains a program for a launch of these sizes, which do not make it another kernel.
///
/// # Errors
/// As [`explain`].
///
/// # Examples
/// ```
/// use girih_tile::explain::{Sizes, explain_at};
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn row_sum(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
///     let mut sum = zeros::<f32>([256]);
///     for step in 0..cdiv(x.dim(1), 256) {
///         sum += x.tiles([1, 256]).padding(Padding::Zero).load((bid(0), step)).reshape([256]);
///     }
///     y.tiles_mut([1]).store((bid(0),), sum.sum(keep(0)));
/// }
///
/// let sizes = Sizes { extents: vec![vec![64, 1 << 20], vec![64]], grid: None };
/// let explanation = explain_at(&row_sum::ir()?, 90, sizes)?;
/// // A block reads a row, in 4096 iterations.
/// assert_eq!(explanation.bytes(), ((1 << 22) + 4, false));
/// assert!(explanation.to_string().contains("4096 iterations"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain_at(func: &Func, sm: u32, sizes: Sizes) -> Result<Explanation, Error> {
    let simple = simplify(func);
    let (plan, lowered, resources) = match build(&simple, sm.into()) {
        Ok((plan, lowered, resources)) => (plan, Ok(lowered), Some(resources)),
        Err(error) => (place(&simple, sm)?, Err(error), None),
    };
    #[cfg(feature = "launch")]
    let assembled = match &lowered {
        Ok(lowered) => Assembled::from_env(&lowered.kernel, sm)?,
        Err(_) => None,
    };
    #[cfg(not(feature = "launch"))]
    let assembled = None;
    let (bounds, checked) = (Bounds::of_func(&plan.func), check(&simple));
    let sizes = sizes.inferred(func);
    Ok(Explanation { plan, lowered, bounds, checked, resources, assembled, sizes })
}

impl Explanation {
    /// Bytes of global memory that a block reads and writes, and whether more go in loops of which the number of iterations is not known: one
    /// iteration is counted.
    pub fn bytes(&self) -> (u64, bool) {
        let func = &self.plan.func;
        let (often, _) = often(func, &self.sizes);
        let (mut all, mut looped) = (0, false);
        func.walk(func.body(), &mut |id, op| {
            if let Some(bytes) = bytes(func, op) {
                all = u64::saturating_add(all, bytes.saturating_mul(often[&id].times));
                looped |= often[&id].open;
            }
        });
        (all, looped)
    }

    /// The limiting resource of a block on a GPU of these rates, if there is a kernel.
    pub fn roofline(&self, rates: &Rates) -> Option<Roofline> {
        let (Ok(lowered), Some(resources)) = (&self.lowered, &self.resources) else { return None };
        Some(roofline(&self.plan, lowered.kernel.module(), resources, &self.sizes, rates))
    }

    /// The kernel's spills to memory, if a thread needs more registers than it can have.
    pub fn spill(&self) -> Option<Spill> {
        Spill::of(&self.plan, self.resources.as_ref()?)
    }

    /// Bytes of shared memory of each exchange.
    fn shared(&self) -> Vec<i64> {
        let bytes = |exchange: &Exchange| match exchange {
            Exchange::Rename(_) | Exchange::Shuffles(_) => None,
            Exchange::Shared(shared) => Some(shared.bytes()),
        };
        self.plan.exchanges.values().filter_map(bytes).collect()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        let feeding = notes::feeding(&plan.func);
        let producer = plan.of_producer();
        let note = |id: OpId| {
            let alone = plan.products.pipeline.alone.contains(&id);
            let plan = if alone { &producer } else { plan };
            let mut notes = notes::of(plan, id, &self.sizes, &feeding);
            let axes = self.bounds.access(id);
            if !axes.is_empty() {
                // TMA reads zeros beyond an array: nothing in the kernel compares. The end of a part is the kernel's own.
                let whole = |array: ArrayId| matches!(plan.func.arrays()[array.index()], Array::Param(_));
                let op = plan.func.op(id);
                let copied = plan.products.pipeline.loads.contains_key(&id)
                    && matches!(op.kind, Kind::Load(_))
                    && op.kind.array().is_some_and(whole);
                let known = |bound: Bound| match bound {
                    Bound::Kernel if copied => String::from("checked by TMA"),
                    bound => bound.to_string(),
                };
                let text = |(i, axis): (usize, &AxisBounds)| {
                    let (low, high) = (known(axis.low), known(axis.high));
                    format!("axis {i} not below 0 {low}, not beyond its end {high}")
                };
                let axes: Vec<_> = axes.iter().enumerate().map(text).collect();
                notes.push(format!("bounds: {}", axes.join("; ")));
            }
            notes
        };
        f.write_str(&plan.func.noted(&note))?;
        let warps = plan.threads / 32;
        let stays =
            if plan.func.is_persistent() { "; each takes one block of the grid after the other" } else { "" };
        writeln!(f, "\nblock: {} threads, {warps} warps{stays}", plan.threads)?;
        if let Some(Resources { registers, limit, site, blocks, .. }) = &self.resources {
            let site = site.as_ref().map(|site| format!(", most at {site}")).unwrap_or_default();
            writeln!(f, "registers: about {registers} of {limit} that a thread can have{site}")?;
            let Blocks { by_registers, by_shared, by_threads } = blocks;
            writeln!(
                f,
                "blocks of a multiprocessor: {}; by registers {by_registers}, by shared memory {by_shared}, by threads {by_threads}",
                blocks.fit()
            )?;
        }
        if let Some(spill) = self.spill() {
            writeln!(f, "warning: {spill}")?;
        }
        if let Some(assembled) = &self.assembled {
            writeln!(f, "ptxas: {assembled}")?;
        }
        let exchanges = self.shared();
        let shuffles = |exchange: &&Exchange| matches!(exchange, Exchange::Shuffles(_));
        let shuffled = plan.exchanges.values().filter(shuffles).count();
        let most = exchanges.iter().copied().max().unwrap_or(0);
        writeln!(
            f,
            "conversions: {} by new names, {shuffled} by shuffles, {} through shared memory of up to {most} bytes",
            plan.exchanges.len() - shuffled - exchanges.len(),
            exchanges.len()
        )?;
        let (bytes, looped) = self.bytes();
        let (_, open) = often(&plan.func, &self.sizes);
        let each = format!(", with one iteration of loops of {}", open.join(" and of "));
        writeln!(f, "global memory: {bytes} bytes a block{}", if looped { &each } else { "" })?;
        match &self.checked {
            Ok(report) => {
                for (array, verdict) in &report.arrays {
                    let name = &plan.func.param_of(*array).1.name;
                    let how = match verdict {
                        Verdict::Proved(steps) => format!("proved disjoint: {}", steps.join("; ")),
                        Verdict::Waived(why) => format!("said to be disjoint: {why}"),
                        Verdict::NotStored => "none without an order".into(),
                        Verdict::Agreed => "blocks may meet, and agree: relaxed".into(),
                    };
                    writeln!(f, "stores of {name}: {how}")?;
                }
                // Two accesses may ask for the same.
                let mut told: Vec<String> = Vec::new();
                for condition in &report.conditions {
                    let text = Report::text(&plan.func, condition);
                    if !told.contains(&text) {
                        writeln!(f, "checked at launch: {text}")?;
                        told.push(text);
                    }
                }
            }
            Err(diagnostics) => {
                diagnostics.iter().try_for_each(|diagnostic| writeln!(f, "refused: {diagnostic}"))?
            }
        }
        let lowered = match &self.lowered {
            Ok(lowered) => lowered,
            Err(error) => return writeln!(f, "no kernel: {error}"),
        };
        writeln!(f, "shared memory: {} bytes", lowered.kernel.shared_bytes())?;
        let counts = Counts::of(lowered.kernel.module());
        writeln!(f, "instructions: {counts}")?;
        let rates = Rates::H200;
        let Some(found) = self.roofline(&rates) else { return Ok(()) };
        let of = if found.each { "an iteration" } else { "a block" };
        let Roofline { memory, tensor, issue, .. } = found;
        let tensor = if tensor > 0.0 { format!(", the tensor cores {tensor:.0}") } else { String::new() };
        writeln!(
            f,
            "roofline: on an {} a multiprocessor's share of the memory takes {memory:.0} cycles for {of}{tensor}, its schedulers {issue:.0}: \
             bound by {}",
            rates.name,
            found.limit()
        )
    }
}
