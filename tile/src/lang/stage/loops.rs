//! Frames around `for`, `while` and `loop`.

use girih_tensor::Element;

use super::carry::{Slot, Var};
use super::range::{Counted, Staged};
use super::{Condition, Opened, Raw, Stage, int, stale, with};
use crate::error::{Fault, Site};
use crate::fit;
use crate::handle::Tile;
use crate::ir::{End, Kind, RegionId, Type, Value, difference};

/// Calls `f` with every part of variables, and the variable's name.
fn slots(vars: &mut [Var<'_>], mut f: impl FnMut(&'static str, Slot<'_>)) {
    for (name, var) in vars {
        if let Some(var) = var {
            var.slots(&mut |slot| f(name, slot));
        }
    }
}

/// The tiles in variables, each with its variable's name.
pub(super) fn tiles(vars: &mut [Var<'_>]) -> Vec<(&'static str, Raw)> {
    let mut found = Vec::new();
    slots(vars, |name, slot| {
        if let Slot::Tile(raw) = slot {
            found.push((name, *raw));
        }
    });
    found
}

/// The fingerprints of what variables hold of the build.
pub(super) fn hosts(vars: &mut [Var<'_>]) -> Vec<(&'static str, u64)> {
    let mut found = Vec::new();
    slots(vars, |name, slot| {
        if let Slot::Host(print) = slot {
            found.push((name, print));
        }
    });
    found
}

/// Gives the tiles in variables these values, in the order of [`tiles`].
pub(super) fn set(vars: &mut [Var<'_>], values: &[Raw]) {
    let mut values = values.iter();
    slots(vars, |_, slot| {
        // Only a tile takes the next value.
        if let Slot::Tile(raw) = slot
            && let Some(&value) = values.next()
        {
            *raw = value;
        }
    });
}

/// Variables of the build that have changed.
pub(super) fn changed(before: &[(&'static str, u64)], after: &[(&'static str, u64)]) -> Option<&'static str> {
    let differ = before.iter().zip(after).find(|(a, b)| a != b).map(|(a, _)| a.0);
    differ.or_else(|| before.get(after.len()).or_else(|| after.get(before.len())).map(|more| more.0))
}

/// A loop of the run time.
#[derive(Default)]
struct Running {
    /// Bounds and step of a `for` loop.
    bounds: Option<[Raw; 3]>,
    number: Option<Type>,
    before: Vec<(&'static str, u64)>,
    init: Vec<(&'static str, Raw)>,
    /// For each tile, whether it is carried: what was poison or stale before is not.
    types: Vec<Option<Type>>,
    args: Vec<Raw>,
    /// The position of its region in the stack of open ones.
    position: usize,
    region: Option<RegionId>,
    first: Option<RegionId>,
    done: bool,
    found: usize,
    leaves: usize,
}

/// A loop around the user's body.
pub struct LoopFrame {
    at: Site,
    depth: usize,
    running: Option<Running>,
}

impl std::fmt::Debug for LoopFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoopFrame").field("at", &self.at).finish_non_exhaustive()
    }
}

fn frame(at: Site, bounds: Option<[Raw; 3]>, number: Option<Type>, staged: bool) -> LoopFrame {
    let depth = super::depth();
    let running = staged.then(|| Running { bounds, number, position: depth, ..Running::default() });
    LoopFrame { at, depth, running }
}

/// What a `for` loop goes through: a range of scalars at run time, anything else while building.
pub trait IntoLoop {
    /// What the loop's pattern binds.
    type Item;
    /// The iterations that Rust makes.
    type Iter: Iterator<Item = Self::Item>;
    #[doc(hidden)]
    fn into_loop(self, at: Site) -> (LoopFrame, Self::Iter);
}

impl<I: IntoIterator> IntoLoop for I {
    type Item = I::Item;
    type Iter = I::IntoIter;
    fn into_loop(self, at: Site) -> (LoopFrame, I::IntoIter) {
        (frame(at, None, None, false), self.into_iter())
    }
}

/// The two iterations in which a loop's body is built: the number of the iteration is an argument of the region, which is made when an iteration begins.
#[derive(Debug)]
pub struct Iterations<T> {
    left: u8,
    counted: Counted,
    of: std::marker::PhantomData<T>,
}

impl<T> Iterator for Iterations<T> {
    type Item = Tile<T>;
    fn next(&mut self) -> Option<Tile<T>> {
        self.left = self.left.checked_sub(1)?;
        // The region of this iteration is the innermost one: the frame has just opened it.
        let number = with(|stage| {
            stage.build.innermost_args().first().map_or(Raw::POISON, |&value| stage.handle(value))
        });
        Some(Tile::of(self.counted.number(number)))
    }
}

impl<T: Element> IntoLoop for Staged<T> {
    type Item = Tile<T>;
    type Iter = Iterations<T>;
    fn into_loop(self, at: Site) -> (LoopFrame, Iterations<T>) {
        let step = self.step.unwrap_or_else(|| int(T::DTYPE, 1));
        let bounds = [self.from.raw(), self.to.raw(), step];
        let number = Type::scalar(T::DTYPE);
        let iterations = Iterations { left: 2, counted: self.counted, of: std::marker::PhantomData };
        (frame(at, Some(bounds), Some(number), true), iterations)
    }
}

/// Opens a `for` loop.
#[track_caller]
pub fn for_<L: IntoLoop>(l: L) -> (LoopFrame, L::Iter) {
    l.into_loop(Site::caller())
}

/// Opens a `loop`.
#[track_caller]
pub fn loop_() -> LoopFrame {
    frame(Site::caller(), None, None, true)
}

/// Opens a `while`, by the type of its condition, which may change what it is computed from.
#[track_caller]
pub fn while_<C: Condition>(_condition: impl FnOnce() -> C) -> LoopFrame {
    frame(Site::caller(), None, None, C::STAGED)
}

/// Opens a loop that runs while building, whatever it goes through.
#[track_caller]
pub fn host_loop() -> LoopFrame {
    frame(Site::caller(), None, None, false)
}

impl Running {
    /// Opens the region of an iteration, and says what variables hold in it.
    fn enter(&mut self, stage: &mut Stage) {
        let carried = self.types.iter().flatten().copied();
        let types: Vec<Type> = self.number.into_iter().chain(carried).collect();
        let (region, args) = stage.push_open(Opened::Loop, &types);
        self.region = Some(region);
        let mut args = args.into_iter().skip(usize::from(self.number.is_some()));
        self.args = (self.init.iter().zip(&self.types))
            .map(|(&(_, raw), ty)| {
                let arg = if ty.is_some() { args.next() } else { None };
                arg.map_or(raw, |value| stage.handle(value))
            })
            .collect();
    }

    /// What the loop passes on of what variables hold now.
    fn passed(&self, stage: &mut Stage, at: Site, now: &[(&'static str, Raw)]) -> Vec<Value> {
        let mut values = Vec::new();
        for (i, (&(name, _), &ty)) in self.init.iter().zip(&self.types).enumerate() {
            let Some(ty) = ty else { continue };
            let raw = now.get(i).map_or(Raw::POISON, |&(_, raw)| raw);
            let fallback = || stage.usable(self.args[i]);
            match (stage.usable(raw), stage.ty(raw)) {
                (Some(value), Some(is)) if is == ty => values.push(value),
                (Some(_), Some(is)) => {
                    values.extend(fallback());
                    let places = ["before the loop", "at the end of its body"];
                    let name = format!("`{name}`");
                    stage.report(at, Fault::Carry { name, types: Box::new([ty, is]), places });
                }
                (None, Some(_)) => {
                    values.extend(fallback());
                    stage.report(at, stale(name, true));
                }
                _ => values.extend(fallback()),
            }
        }
        values
    }
}

impl LoopFrame {
    /// Before the first iteration.
    pub fn begin(&mut self, vars: &mut [Var<'_>]) {
        let at = self.at;
        let Some(running) = &mut self.running else { return };
        running.init = tiles(vars);
        running.before = hosts(vars);
        let args = with(|stage| {
            running.found = stage.found.len();
            running.leaves = stage.leaves;
            if let Some(bounds) = running.bounds {
                let names = ["start", "end", "step"].into_iter();
                let whats = ["the start of a range", "the end of a range", "the step of a range"];
                for ((raw, name), what) in bounds.into_iter().zip(names).zip(whats) {
                    if stage.usable(raw).is_none() && raw != Raw::POISON {
                        stage.report(at, stale(name, true));
                    } else if let Some(ty) = stage.ty(raw).filter(|ty| ty.dims.rank() != 0) {
                        stage.report(at, Fault::Condition { what, ty, accepted: "a scalar" });
                    }
                }
            }
            let usable = |&(_, raw): &(_, Raw)| stage.usable(raw).and_then(|_| stage.ty(raw));
            running.types = running.init.iter().map(usable).collect();
            running.enter(stage);
            running.args.clone()
        });
        set(vars, &args);
    }

    /// Whether a `while` or `loop` makes another iteration.
    pub fn again(&mut self) -> bool {
        self.running.as_ref().is_none_or(|running| !running.done)
    }

    /// The condition of a `while`: whether Rust leaves the loop.
    #[track_caller]
    pub fn leaves<C: Condition>(&mut self, condition: C, vars: &mut [Var<'_>]) -> bool {
        let Some(running) = &mut self.running else { return !condition.host() };
        let (at, now) = (self.at, tiles(vars));
        let site = Site::caller();
        with(|stage| {
            stage.leaves += 1;
            let passed = running.passed(stage, at, &now);
            let Some(raw) = condition.raw() else { return };
            let Some(cond) = scalar_condition(stage, site, ["while", "the condition of `while`"], raw) else {
                return;
            };
            let (on, _) = stage.push_open(Opened::Branch, &[]);
            stage.pop_open(End::Yield(Vec::new()));
            let (off, _) = stage.push_open(Opened::Branch, &[]);
            stage.pop_open(End::Break(0, passed));
            stage.build.at(Some(site));
            stage.build.push_regions(Kind::If, &[cond], &[], vec![on, off]);
        });
        false
    }

    /// After an iteration's body; whether Rust leaves a loop of the build because a way out of a run-time loop has been taken.
    pub fn end(&mut self, vars: &mut [Var<'_>]) -> bool {
        let at = self.at;
        let Some(running) = &mut self.running else { return with(|stage| stage.dead()) };
        let (now, after) = (tiles(vars), hosts(vars));
        let args = with(|stage| {
            stage.unwind(running.position + 1);
            let left = stage.dead();
            let passed = if left { Vec::new() } else { running.passed(stage, at, &now) };
            let region = running.region;
            stage.pop_open(End::Continue(0, passed));
            if let Some(name) = changed(&running.before, &after) {
                let changes = "changes in a run-time loop, whose body is built once for all iterations";
                stage.report(at, Fault::HostState { name: format!("`{name}`"), changes });
            }
            match (running.first, region) {
                (None, first) => {
                    running.first = first;
                    running.enter(stage);
                }
                (Some(first), Some(second)) => {
                    running.done = true;
                    if stage.found.len() == running.found
                        && let Some(what) = difference(stage.build.func(), first, second)
                    {
                        let what = what.told(stage.build.func(), stage.build.func());
                        stage.report(at, Fault::Unstable { what });
                    }
                }
                (Some(_), None) => running.done = true,
            }
            running.args.clone()
        });
        set(vars, &args);
        false
    }

    /// After the last iteration.
    pub fn finish(&mut self, vars: &mut [Var<'_>]) {
        let at = self.at;
        let Some(running) = &mut self.running else { return };
        let results = with(|stage| {
            if running.bounds.is_none() && running.leaves == stage.leaves {
                stage.report(at, Fault::Endless {});
            }
            let mut operands = Vec::new();
            for raw in running.bounds.into_iter().flatten() {
                operands.extend(stage.usable(raw));
            }
            let bounded = operands.len() == running.bounds.map_or(0, |bounds| bounds.len());
            let carried = running.init.iter().zip(&running.types).filter(|(_, ty)| ty.is_some());
            operands.extend(carried.filter_map(|(&(_, raw), _)| stage.usable(raw)));
            let types: Vec<Type> = running.types.iter().flatten().copied().collect();
            let kind = if running.bounds.is_some() { Kind::For } else { Kind::Loop };
            let Some(region) = running.first.filter(|_| bounded) else {
                return vec![Raw::POISON; running.init.len()];
            };
            stage.build.at(Some(at));
            let mut results = stage.build.push_regions(kind, &operands, &types, vec![region]).into_iter();
            (running.init.iter().zip(&running.types))
                .map(|(&(_, raw), ty)| {
                    let result = if ty.is_some() { results.next() } else { None };
                    result.map_or(raw, |value| stage.handle(value))
                })
                .collect()
        });
        set(vars, &results);
    }

    /// Whether code after this loop of the build is never reached.
    pub fn gone(&self) -> bool {
        self.running.is_none() && with(|stage| stage.dead())
    }

    /// `break` or `continue`: whether Rust does it.
    #[track_caller]
    pub fn leave(&mut self, what: &str, vars: &mut [Var<'_>]) -> bool {
        let site = Site::caller();
        let Some(running) = &mut self.running else {
            return with(|stage| {
                if stage.open.len() == self.depth {
                    return true;
                }
                stage.report(site, Fault::LeaveUnrolled { what: what.into() });
                stage.end(End::Unreachable);
                false
            });
        };
        let now = tiles(vars);
        with(|stage| {
            let passed = running.passed(stage, self.at, &now);
            let inner = stage.open.iter().skip(running.position + 1);
            let depth = fit::item(inner.filter(|open| open.of == Opened::Loop).count());
            stage.end(match what {
                "break" => End::Break(depth, passed),
                _ => End::Continue(depth, passed),
            });
        });
        false
    }
}

/// The value of a condition of the run time, if it is a scalar that can be used.
pub(super) fn scalar_condition(
    stage: &mut Stage,
    site: Site,
    [name, what]: [&'static str; 2],
    raw: Raw,
) -> Option<Value> {
    if raw == Raw::POISON {
        return None;
    }
    let Some(value) = stage.usable(raw) else {
        stage.report(site, stale(name, true));
        return None;
    };
    let ty = stage.build.ty(value);
    if ty.dims.rank() == 0 {
        return Some(value);
    }
    let accepted = "a scalar (`any` and `all` reduce, `select` chooses element by element)";
    stage.report(site, Fault::Condition { what, ty, accepted });
    None
}
