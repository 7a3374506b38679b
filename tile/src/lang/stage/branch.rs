//! The frame around `if`.

use super::carry::{Carry, Slot, Var};
use super::loops::{changed, hosts, scalar_condition, set, tiles};
use super::{Condition, Opened, Raw, Stage, with};
use crate::error::{Fault, Site};
use crate::ir::{End, Kind, RegionId, Type, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Fresh,
    Then,
    Else,
}

/// How a value's tiles are found, if its type has it.
type Carried<V> = for<'a> fn(&'a mut V) -> Option<&'a mut (dyn Carry + 'a)>;

/// A branch that is built.
struct Side<V> {
    region: RegionId,
    /// Whether it was left by `break` or `continue`.
    gone: bool,
    /// The tiles in variables, then those in the branch's value; whether each could be used at the end of the branch.
    tiles: Vec<(Raw, bool)>,
    hosts: Vec<u64>,
    value: Option<V>,
}

/// An `if` with a value of type `V`.
pub struct IfFrame<V> {
    at: Site,
    staged: bool,
    host: bool,
    raw: Option<Raw>,
    depth: usize,
    pass: Pass,
    before: Vec<(&'static str, Raw)>,
    hosts: Vec<(&'static str, u64)>,
    then: Option<Side<V>>,
    carried: Option<Carried<V>>,
    last: Option<V>,
    gone: bool,
}

impl<V> std::fmt::Debug for IfFrame<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IfFrame").field("at", &self.at).finish_non_exhaustive()
    }
}

/// Opens an `if`.
#[track_caller]
pub fn if_<C: Condition, V>(condition: C) -> IfFrame<V> {
    let host = !C::STAGED && condition.host();
    IfFrame {
        at: Site::caller(),
        staged: C::STAGED,
        host,
        raw: condition.raw(),
        depth: super::depth(),
        pass: Pass::Fresh,
        before: Vec::new(),
        hosts: Vec::new(),
        then: None,
        carried: None,
        last: None,
        gone: false,
    }
}

/// What the two sides yield, and what comes of it.
#[derive(Default)]
struct Yields {
    types: Vec<Type>,
    then: Vec<Value>,
    other: Vec<Value>,
    /// For each tile: the position among the results, or what it is without one.
    results: Vec<Result<usize, Raw>>,
}

impl Yields {
    /// Adds a tile: what it is at the end of each side that was not left, and whether it could be used there.
    fn add(
        &mut self,
        stage: &mut Stage,
        at: Site,
        name: &str,
        a: Option<(Raw, bool)>,
        b: Option<(Raw, bool)>,
    ) {
        let sides = || [a, b].into_iter().flatten();
        let Some((one, _)) = a.or(b) else { return };
        let equal = sides().all(|(raw, _)| raw == one);
        if let Some((bad, _)) = sides().find(|(_, usable)| !usable) {
            self.results.push(Err(bad));
            return;
        }
        if equal && stage.usable(one).is_some() {
            self.results.push(Err(one));
            return;
        }
        let types: Vec<Type> = sides().filter_map(|(raw, _)| stage.ty(raw)).collect();
        if types.windows(2).any(|pair| pair[0] != pair[1]) {
            let places = ["in one branch of `if`", "in the other"];
            stage.report(
                at,
                Fault::Carry { name: name.into(), types: Box::new([types[0], types[1]]), places },
            );
            self.results.push(Err(Raw::POISON));
            return;
        }
        self.results.push(Ok(self.types.len()));
        self.types.extend(types.first());
        self.then.extend(a.map(|(raw, _)| Value(raw.value)));
        self.other.extend(b.map(|(raw, _)| Value(raw.value)));
    }
}

impl<V> IfFrame<V> {
    /// Before the branches.
    pub fn begin(&mut self, vars: &mut [Var<'_>]) {
        if self.staged {
            self.before = tiles(vars);
            self.hosts = hosts(vars);
        }
    }

    /// Which branch Rust takes now.
    pub fn take(&mut self) -> bool {
        if !self.staged {
            return self.host;
        }
        with(|stage| stage.push_open(Opened::Branch, &[]));
        let fresh = self.pass == Pass::Fresh;
        self.pass = if fresh { Pass::Then } else { Pass::Else };
        fresh
    }

    /// After a branch: the value of the `if`, once it has one. `carried` finds the tiles of the value.
    pub fn join(&mut self, mut value: V, carried: Carried<V>, vars: &mut [Var<'_>]) -> Option<V> {
        if !self.staged {
            return Some(value);
        }
        self.carried = Some(carried);
        let (mut found, mut hosts) = (Vec::new(), Vec::new());
        match carried(&mut value) {
            Some(parts) => parts.slots(&mut |slot| match slot {
                Slot::Tile(raw) => found.push(*raw),
                Slot::Host(print) => hosts.push(print),
            }),
            None => with(|stage| {
                stage.report(self.at, Fault::IfValue { ty: std::any::type_name::<V>() });
            }),
        }
        self.side(Some(value), found, hosts, vars);
        self.over()
    }

    /// After a branch that was left; whether all of the `if` was.
    pub fn diverge(&mut self, vars: &mut [Var<'_>]) -> bool {
        if self.staged {
            self.side(None, Vec::new(), Vec::new(), vars);
        }
        !self.staged || self.gone
    }

    /// The value of the `if`, once both branches are built.
    pub fn over(&mut self) -> Option<V> {
        self.last.take()
    }

    fn side(&mut self, value: Option<V>, found: Vec<Raw>, prints: Vec<u64>, vars: &mut [Var<'_>]) {
        let (now, after) = (tiles(vars), hosts(vars));
        let side = with(|stage| {
            stage.unwind(self.depth + 1);
            if let Some(name) = changed(&self.hosts, &after) {
                let changes = "changes in a run-time branch, of which both sides are built";
                stage.report(self.at, Fault::HostState { name: format!("`{name}`"), changes });
            }
            let all = now.iter().map(|&(_, raw)| raw).chain(found);
            let tiles = all.map(|raw| (raw, stage.usable(raw).is_some())).collect();
            let (region, left) = stage.pop_open(End::Yield(Vec::new()));
            Side { region, gone: left || value.is_none(), tiles, hosts: prints, value }
        });
        if let Some(then) = self.then.take() {
            self.finish(then, side, vars);
        } else {
            self.then = Some(side);
            let before: Vec<Raw> = self.before.iter().map(|&(_, raw)| raw).collect();
            set(vars, &before);
        }
    }

    fn finish(&mut self, then: Side<V>, other: Side<V>, vars: &mut [Var<'_>]) {
        let at = self.at;
        let count = if then.gone { other.tiles.len() } else { then.tiles.len() };
        let both = !then.gone && !other.gone;
        let results = with(|stage| {
            let mut yields = Yields::default();
            if both && (then.hosts != other.hosts || then.tiles.len() != other.tiles.len()) {
                let (name, changes) =
                    ("a part of the value".into(), "differs between the branches of a run-time `if`");
                stage.report(at, Fault::HostState { name, changes });
            }
            for i in 0..count {
                let of = |side: &Side<V>| {
                    (!side.gone).then(|| side.tiles.get(i).copied().unwrap_or((Raw::POISON, false)))
                };
                let name = self.before.get(i).map_or("the value".into(), |(name, _)| format!("`{name}`"));
                yields.add(stage, at, &name, of(&then), of(&other));
            }
            for (side, values) in [(&then, yields.then), (&other, yields.other)] {
                if !side.gone {
                    stage.build.set_end(side.region, End::Yield(values));
                }
            }
            let condition =
                self.raw.and_then(|raw| scalar_condition(stage, at, ["if", "the condition of `if`"], raw));
            let made = condition.map(|condition| {
                stage.build.at(Some(at));
                let regions = vec![then.region, other.region];
                stage.build.push_regions(Kind::If, &[condition], &yields.types, regions)
            });
            if then.gone && other.gone {
                self.gone = true;
                stage.end(End::Unreachable);
            }
            let result =
                |i: usize| made.as_ref().and_then(|made| made.get(i)).map(|&value| stage.handle(value));
            let results = yields.results.into_iter();
            results
                .map(|raw| raw.map_or_else(|raw| raw, |i| result(i).unwrap_or(Raw::POISON)))
                .collect::<Vec<_>>()
        });
        set(vars, &results);
        self.last = if other.gone { then.value } else { other.value };
        if let (Some(value), Some(carried)) = (&mut self.last, self.carried) {
            let mut rest = results.iter().skip(self.before.len());
            if let Some(parts) = carried(value) {
                parts.slots(&mut |slot| {
                    if let Slot::Tile(raw) = slot
                        && let Some(&result) = rest.next()
                    {
                        *raw = result;
                    }
                });
            }
        }
    }
}
