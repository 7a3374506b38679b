//! Staging: a kernel's function runs once in Rust and writes its tile program. The attributes of
//! [`girih-tile-macros`](girih_tile_macros) insert calls of these functions around control flow.
//!
//! Rust's control flow stays as it is, with a frame around it. If a condition or a bound is known when the kernel is built, the frame lets Rust
//! continue. If it is known at run time only, the frame opens a region, runs the body once (the body of a loop twice, to check
//! that both results are equal), and joins the values that the body has changed.

mod branch;
mod carry;
mod compare;
mod cond;
mod kernel;
mod loops;
mod range;

use std::cell::Cell;

use girih_tensor::DType;

pub use branch::{IfFrame, if_};
pub use carry::{Carry, NotCarried, Probe, Slot, Var, fingerprint};
pub use compare::{Eq, Ge, Gt, Le, Lt, Ne, eq, ge, gt, le, lt, ne};
pub use cond::{Condition, Logic, and, or};
#[cfg(feature = "launch")]
pub use kernel::Argument;
pub use kernel::{Header, Parameter, array, hint, trace};
pub use loops::{IntoLoop, LoopFrame, for_, host_loop, loop_, while_};
pub use range::{Range, Staged, range};

use crate::dtype::Const;
use crate::error::{Diagnostic, Fault, Site};
use crate::ir::table::Each;
use crate::ir::{Build, End, RegionId, Type, Value};
use crate::ops::{Arg, Mode};

/// A value of a build, or poison: the result of an operation that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    value: u32,
    build: u32,
}

impl Raw {
    /// What stands for the result of a refused operation. Operations on it are silent.
    pub(crate) const POISON: Raw = Raw { value: u32::MAX, build: 0 };
}

/// An operand of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// A tile.
    Tile(Raw),
    /// A constant that takes the dtype of the tile that it meets.
    Loose(Const),
}

/// What an open region belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Loop,
    Branch,
    Combine,
}

type Opening = (Vec<Value>, Vec<Raw>, Vec<Raw>, usize);

struct Open {
    of: Opened,
    /// How the region ends, once it has been left.
    end: Option<End>,
}

/// A build in progress.
pub(crate) struct Stage {
    pub(crate) build: Build,
    number: u32,
    found: Vec<Diagnostic>,
    calls: Vec<(&'static str, Site)>,
    /// Open regions besides the body.
    open: Vec<Open>,
    /// How often regions were left so far.
    leaves: usize,
}

thread_local! {
    static STAGE: Cell<Option<Box<Stage>>> = const { Cell::new(None) };
    static BUILDS: Cell<u32> = const { Cell::new(0) };
}

/// The build in progress, which is out of its place until this is dropped. No function here is generic: every operation of every kernel has
/// one of these.
struct Taken(Option<Box<Stage>>);

impl Taken {
    #[track_caller]
    fn take() -> Taken {
        match STAGE.take() {
            Some(stage) => Taken(Some(stage)),
            None => panic!(
                "operations on tiles run while a kernel is built: in a function with `#[kernel]`, or called from one"
            ),
        }
    }

    fn stage(&mut self) -> &mut Stage {
        let Some(stage) = &mut self.0 else { unreachable!("only `drop` puts the build back") };
        stage
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        STAGE.set(self.0.take());
    }
}

/// Runs `f` on the build in progress.
///
/// # Panics
/// Outside of a build: there is nothing that an operation could be added to.
#[track_caller]
pub(crate) fn with<R>(f: impl FnOnce(&mut Stage) -> R) -> R {
    f(Taken::take().stage())
}

impl Stage {
    fn new(name: &str) -> Stage {
        let number = BUILDS.with(|builds| {
            builds.set(builds.get().wrapping_add(1));
            builds.get()
        });
        let build = Build::new(name);
        Stage { build, number, found: Vec::new(), calls: Vec::new(), open: Vec::new(), leaves: 0 }
    }

    /// Adds to what is wrong. A body that is built twice reports once.
    pub(crate) fn report(&mut self, site: Site, fault: Fault) {
        let mut stack = self.calls.clone();
        stack.reverse();
        let diagnostic = Diagnostic { site, fault, stack };
        if !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }

    pub(crate) fn handle(&self, value: Value) -> Raw {
        Raw { value: value.0, build: self.number }
    }

    /// The value of a handle: none for poison, or for one whose region is closed or that another build made.
    pub(crate) fn usable(&self, raw: Raw) -> Option<Value> {
        let value = Value(raw.value);
        (raw != Raw::POISON && raw.build == self.number && self.build.in_scope(value)).then_some(value)
    }

    pub(crate) fn ty(&self, raw: Raw) -> Option<Type> {
        (raw != Raw::POISON && raw.build == self.number).then(|| self.build.ty(Value(raw.value)))
    }

    /// The operands as `ops` takes them; none if one is poison or was reported here.
    fn args(&mut self, name: &'static str, items: &[Item], site: Site) -> Option<Vec<Arg>> {
        let mut args = Vec::new();
        for item in items {
            args.push(match *item {
                Item::Loose(constant) => Arg::Loose(constant),
                Item::Tile(Raw::POISON) => return None,
                Item::Tile(raw) => match self.usable(raw) {
                    Some(value) => Arg::Value(value),
                    None => {
                        self.report(site, stale(name, raw.build == self.number));
                        return None;
                    }
                },
            });
        }
        Some(args)
    }

    /// The operands of an operation at this place; none if one is poison or was reported here.
    fn begin(&mut self, name: &'static str, items: &[Item], site: Site) -> Option<Vec<Arg>> {
        let args = self.args(name, items, site)?;
        self.build.at(Some(site));
        Some(args)
    }

    /// The handles of an operation's results: poison for one that was not applied, or was refused.
    fn done(&mut self, done: Option<Result<Vec<Value>, Fault>>, results: usize, site: Site) -> Vec<Raw> {
        match done {
            Some(Ok(values)) => return values.into_iter().map(|value| self.handle(value)).collect(),
            Some(Err(fault)) => self.report(site, fault),
            None => {}
        }
        vec![Raw::POISON; results]
    }

    /// Opens the region of a combination: the operands, the handles of the left and the right elements, and the depth outside.
    fn open_combination(&mut self, name: &'static str, site: Site, operands: &[Raw]) -> Option<Opening> {
        let items: Vec<Item> = operands.iter().map(|&raw| Item::Tile(raw)).collect();
        self.args(name, &items, site)?;
        let values: Vec<Value> = operands.iter().filter_map(|&raw| self.usable(raw)).collect();
        let (left, right) = self.build.open_combine(&values);
        let depth = self.open.len();
        self.open.push(Open { of: Opened::Combine, end: None });
        let handles = |of: Vec<Value>| of.into_iter().map(|value| self.handle(value)).collect();
        let (left, right) = (handles(left), handles(right));
        Some((values, left, right, depth))
    }

    /// Closes the region of a combination of `values`; none if a result is of no use.
    fn close_combination(
        &mut self,
        name: &'static str,
        site: Site,
        values: &[Value],
        results: &[Raw],
        depth: usize,
    ) -> Option<Result<RegionId, Fault>> {
        self.unwind(depth + 1);
        self.open.pop();
        let usable: Vec<Value> = results.iter().filter_map(|&raw| self.usable(raw)).collect();
        if usable.len() < results.len() {
            if results.iter().any(|&raw| raw != Raw::POISON && self.usable(raw).is_none()) {
                self.report(site, stale(name, true));
            }
            self.build.close(End::Unreachable);
            return None;
        }
        Some(self.build.close_combine(values, &usable))
    }

    fn push_open(&mut self, of: Opened, args: &[Type]) -> (RegionId, Vec<Value>) {
        self.open.push(Open { of, end: None });
        self.build.open(args)
    }

    /// Closes the innermost region with the end that it was left by, or this one; whether it was left.
    fn pop_open(&mut self, end: End) -> (RegionId, bool) {
        let left = self.open.pop().and_then(|open| open.end);
        let gone = left.is_some();
        (self.build.close(left.unwrap_or(end)), gone)
    }

    /// Whether what follows is never reached.
    fn dead(&self) -> bool {
        self.open.last().is_some_and(|open| open.end.is_some())
    }

    /// Ends the innermost region, if nothing has.
    fn end(&mut self, end: End) {
        self.leaves += 1;
        if let Some(open) = self.open.last_mut() {
            open.end.get_or_insert(end);
        }
    }

    /// Gives up regions that a way out has skipped.
    fn unwind(&mut self, depth: usize) {
        while self.open.len() > depth {
            self.pop_open(End::Unreachable);
        }
    }
}

fn stale(operation: &'static str, own: bool) -> Fault {
    if own { Fault::Uncarried { operation } } else { Fault::OtherBuild { operation } }
}

/// Applies an operation with any number of results.
#[track_caller]
pub(crate) fn apply_all(
    name: &'static str,
    items: &[Item],
    results: usize,
    f: impl FnOnce(&mut Build, &[Arg]) -> Result<Vec<Value>, Fault>,
) -> Vec<Raw> {
    let (mut taken, site) = (Taken::take(), Site::caller());
    let stage = taken.stage();
    let done = stage.begin(name, items, site).map(|args| f(&mut stage.build, &args));
    stage.done(done, results, site)
}

/// Applies an operation with one result.
#[track_caller]
pub(crate) fn apply(
    name: &'static str,
    items: &[Item],
    f: impl FnOnce(&mut Build, &[Arg]) -> Result<Value, Fault>,
) -> Raw {
    let (mut taken, site) = (Taken::take(), Site::caller());
    let stage = taken.stage();
    let done = stage.begin(name, items, site).map(|args| f(&mut stage.build, &args));
    stage.done(done.map(|done| done.map(|value| vec![value])), 1, site)[0]
}

/// Applies a function of elements.
#[track_caller]
pub(crate) fn each(op: Each, items: &[Item], mode: Mode) -> Raw {
    apply(op.row().name, items, |build, args| build.each(op, args, mode))
}

/// Reports a fault at the caller's place.
#[track_caller]
pub(crate) fn refuse(fault: Fault) {
    let site = Site::caller();
    with(|stage| stage.report(site, fault));
}

/// The number of open regions.
pub fn depth() -> usize {
    with(|stage| stage.open.len())
}

/// Reports a `return`, or a `break` out of a block, from inside of a run-time region that was opened since `depth`.
#[track_caller]
pub fn no_leave(what: &str, depth: usize) {
    let site = Site::caller();
    with(|stage| {
        if stage.open.len() > depth {
            stage.report(site, Fault::Leave { what: format!("`{what}`") });
            stage.unwind(depth);
        }
    });
}

/// A helper function on the way, until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Call(());

/// Says that a helper function was called.
#[track_caller]
pub fn call(name: &'static str) -> Call {
    if let Some(mut stage) = STAGE.take() {
        stage.calls.push((name, Site::caller()));
        STAGE.set(Some(stage));
    }
    Call(())
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(mut stage) = STAGE.take() {
            stage.calls.pop();
            STAGE.set(Some(stage));
        }
    }
}

/// Refuses to build unless a condition known while building holds.
#[track_caller]
pub fn static_assert(holds: bool, message: impl FnOnce() -> String) {
    if !holds {
        refuse(Fault::StaticAssertFalse { message: message() });
    }
}

/// An integer scalar of a dtype.
pub(crate) fn int(dtype: DType, n: i64) -> Raw {
    with(|stage| {
        let value = stage.build.full(dtype, crate::ir::Dims::SCALAR, Const::Int(n.into()));
        stage.handle(value)
    })
}

/// Applies an operation with a combination of one's own: `f` writes the region, `done` takes it.
pub(crate) fn combine(
    name: &'static str,
    site: Site,
    operands: &[Raw],
    f: impl FnOnce(&[Raw], &[Raw]) -> Vec<Raw>,
    done: impl FnOnce(&mut Build, &[Value], RegionId) -> Result<Vec<Value>, Fault>,
) -> Vec<Raw> {
    let poison = || vec![Raw::POISON; operands.len()];
    let opened = with(|stage| stage.open_combination(name, site, operands));
    let Some((values, left, right, depth)) = opened else { return poison() };
    let results = f(&left, &right);
    let mut taken = Taken::take();
    let stage = taken.stage();
    let Some(region) = stage.close_combination(name, site, &values, &results, depth) else { return poison() };
    let done = region.and_then(|region| {
        stage.build.at(Some(site));
        done(&mut stage.build, &values, region)
    });
    stage.done(Some(done), operands.len(), site)
}
