//! What becomes of a program, without a device: its text with every tile's distribution, how each conversion is done, how wide accesses
//! are and why not wider, and what limits the kernel.
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
mod notes;

use std::fmt;

use girih_kernels::gemm::described;

use crate::error::{Diagnostic, Error, Refusal};
use crate::facts::{AxisBounds, Bound, Bounds, Report, Verdict, check};
use crate::ir::{Array, ArrayId, Func, Kind, OpId};
use crate::lower::{Lowered, lower};
use crate::pass::simplify;
use crate::place::exchange::Exchange;
use crate::place::{Plan, naive, place};
use crate::product::{self, Product};

pub use count::Counts;

/// Rates of a GPU that the vendor states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The GPU's name.
    pub name: &'static str,
    /// Bytes of memory in a second.
    pub memory: f64,
    /// Cycles in a second.
    pub clock: f64,
    /// Multiprocessors.
    pub multiprocessors: u32,
}

impl Rates {
    /// Those of an H200.
    pub const H200: Rates = Rates { name: "H200", memory: 4.8e12, clock: 1.98e9, multiprocessors: 132 };
}

/// Warps that a multiprocessor issues instructions of in a cycle.
const SCHEDULERS: f64 = 4.0;

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
    /// The kernel of `kernels::gemm` that a program which multiplies is, or why it is none.
    pub product: Option<Result<Product, Refusal>>,
}

/// Explains a program for a device of this compute capability, such as 90.
///
/// # Errors
/// Those of [`place`].
pub fn explain(func: &Func, sm: u32) -> Result<Explanation, Error> {
    let mut multiplies = false;
    func.walk(func.body(), &mut |_, op| multiplies |= op.kind == Kind::Mma);
    let product = multiplies.then(|| product::find(func, sm, None));
    let simple = simplify(func);
    let plan = match (place(&simple, sm), &product) {
        // Tiles of a product need not have a place.
        (Err(_), Some(Ok(_))) => naive(&simple, 256),
        (plan, _) => plan?,
    };
    let lowered = lower(&plan, sm);
    let (bounds, checked) = (Bounds::of_func(&plan.func), check(&simple));
    Ok(Explanation { plan, lowered, bounds, checked, product })
}

impl Explanation {
    /// Bytes of global memory that a block reads and writes, and whether more go in loops, whose turns are counted once.
    pub fn bytes(&self) -> (u64, bool) {
        let func = &self.plan.func;
        let (mut bytes, mut inside, mut looped) = (0, Vec::new(), false);
        func.walk(func.body(), &mut |id, op| {
            if matches!(op.kind, Kind::For | Kind::Loop) {
                for &region in &op.regions {
                    func.walk(region, &mut |id, _| inside.push(id));
                }
            }
            let value = match op.kind {
                Kind::Load(_) | Kind::Gather(_) => op.results.first(),
                Kind::Store(_) | Kind::Scatter(_) => op.operands.first(),
                _ => None,
            };
            if let Some(&value) = value {
                let ty = func.ty(value);
                bytes += ty.dims.size() * u64::from(ty.dtype.bits().max(8)) / 8;
                looped |= inside.contains(&id);
            }
        });
        (bytes, looped)
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
        let note = |id: OpId| {
            let mut notes = notes::of(plan, id);
            let axes = self.bounds.access(id);
            if !axes.is_empty() {
                // Of what lies beyond an array, a tensor copy brings zeros: nothing in the kernel compares. The end of a part is the kernel's own.
                let whole = |array: ArrayId| matches!(plan.func.arrays()[array.index()], Array::Param(_));
                let op = plan.func.op(id);
                let copied = plan.products.pipeline.loads.contains_key(&id)
                    && matches!(op.kind, Kind::Load(_))
                    && op.kind.array().is_some_and(whole);
                let known = |bound: Bound| match bound {
                    Bound::Kernel if copied => String::from("checked by the tensor copy"),
                    bound => bound.to_string(),
                };
                let text = |(i, axis): (usize, &AxisBounds)| {
                    format!(
                        "axis {i} not below 0 {}, not beyond its end {}",
                        known(axis.low),
                        known(axis.high)
                    )
                };
                let axes: Vec<_> = axes.iter().enumerate().map(text).collect();
                notes.push(format!("bounds: {}", axes.join("; ")));
            }
            notes
        };
        f.write_str(&plan.func.noted(&note))?;
        let warps = plan.threads / 32;
        match &self.product {
            Some(Ok(product)) => {
                writeln!(f, "\nproduct of kernels::gemm: {}", described(&product.config))?;
                let key = product.epilogue().key();
                writeln!(f, "epilogue: {}", if key.is_empty() { "none, the sums are stored" } else { &key })?;
                writeln!(f, "where a launch is no product of its arrays, the kernel is this one:")?;
            }
            Some(Err(refusal)) => writeln!(f, "\nno product of kernels::gemm: {refusal}")?,
            None => {}
        }
        writeln!(f, "\nblock: {} threads, {warps} warps", plan.threads)?;
        writeln!(f, "tiles: {:.0} registers a thread where they take the most", plan.registers())?;
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
        let turn = if looped { ", with one turn of each loop" } else { "" };
        writeln!(f, "global memory: {bytes} bytes a block{turn}")?;
        match &self.checked {
            Ok(report) => {
                for (array, verdict) in &report.arrays {
                    let name = &plan.func.param_of(*array).1.name;
                    match verdict {
                        Verdict::Proved(steps) => {
                            writeln!(f, "stores of {name}: proved disjoint: {}", steps.join("; "))?
                        }
                        Verdict::Waived(why) => writeln!(f, "stores of {name}: said to be disjoint: {why}")?,
                        Verdict::NotStored => writeln!(f, "stores of {name}: none without an order")?,
                        Verdict::Agreed => {
                            writeln!(f, "stores of {name}: blocks may meet, and agree: relaxed")?
                        }
                    }
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
        let share = rates.memory / rates.clock / f64::from(rates.multiprocessors);
        let memory = bytes as f64 / share;
        let issue = counts.all() as f64 * f64::from(warps) / SCHEDULERS;
        let limit = if memory >= issue { "memory" } else { "instructions" };
        writeln!(
            f,
            "roofline: on an {} a multiprocessor's share of the memory takes {memory:.0} cycles for a block, its schedulers {issue:.0}: \
             bound by {limit}",
            rates.name
        )
    }
}
