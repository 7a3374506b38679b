//! The register pressure of a plan's tiles.

use std::collections::BTreeMap;

use super::Plan;
use super::product::working;
use crate::fit;
use crate::ir::{Def, Kind, RegionId, Type, Value};

struct Lives {
    /// Positions of operations on more than single elements.
    whole: Vec<usize>,
    /// Registers of operations in addition to those of their operands and results, by position.
    working: BTreeMap<usize, f64>,
    /// The position at which each value begins to live, and that of its last use.
    spans: Vec<Option<[usize; 2]>>,
    at: usize,
}

impl Plan {
    /// Registers of 32 bits that a thread's tiles take where they take the most.
    pub fn registers(&self) -> f64 {
        self.peak(false).0
    }

    /// As [`Plan::registers`], if elements of 8 and 16 bits that come from memory stay as they are.
    pub(super) fn packed(&self) -> f64 {
        self.peak(true).0
    }

    /// The tiles that live where they take the most registers, the largest first, and how many they take.
    fn live_values(&self) -> Vec<(f64, Value)> {
        let (_, at, lives) = self.peak(true);
        let lives_there =
            |span: &Option<[usize; 2]>| span.is_some_and(|[first, last]| first < at && at <= last);
        let there = lives.spans.iter().zip(0..).filter(|(span, _)| lives_there(span));
        let all = there.map(|(_, value)| (self.taken(Value(value), true), Value(value)));
        let mut live: Vec<(f64, Value)> = all.filter(|(registers, _)| *registers > 0.0).collect();
        live.sort_by(|a, b| b.0.total_cmp(&a.0));
        live
    }

    /// The same as text.
    pub(super) fn live(&self) -> String {
        let text =
            |(registers, value): &(f64, Value)| format!("{} ({})", self.called(*value), registers.ceil());
        self.live_values().iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// The largest tile where tiles take the most registers, in the user's words, and its type with the greatest extent cut to a power of two:
    /// the nearest of which a thread takes as many registers as it can have, or of which more warps can have a part each.
    pub(crate) fn smaller(&self, registers: u32, limit: u32) -> Option<(String, Type)> {
        let (_, value) = *self.live_values().first()?;
        let Type { dtype, dims } = self.func.ty(value);
        let axis = (0..dims.rank()).rev().max_by_key(|&axis| dims[axis])?;
        let wanted = match dims[axis] {
            extent if extent.is_power_of_two() => extent / registers.div_ceil(limit),
            extent => extent,
        };
        let extent = 1 << wanted.max(1).ilog2();
        Some((self.called(value), Type { dtype, dims: dims.with(axis, extent) }))
    }

    /// A value in the user's words: what it is the result of, its type, and where that was written.
    pub(super) fn called(&self, value: Value) -> String {
        let func = &self.func;
        let ty = func.ty(value);
        let (what, site) = match func.value(value).def {
            Def::Result(id, _) => {
                let op = func.op(id);
                let what = match &op.kind {
                    Kind::Convert => return self.called(op.operands[0]),
                    Kind::Load(_) | Kind::Gather(_) => {
                        let name = op.kind.array().map(|array| func.param_of(array).1.name.as_str());
                        format!("the tile of `{}`", name.unwrap_or_default())
                    }
                    Kind::For | Kind::Loop => "what a loop carries,".into(),
                    Kind::If => "what a condition gives,".into(),
                    kind => kind.word(),
                };
                (what, op.site)
            }
            Def::Argument(region, _) => {
                let mut site = None;
                func.walk(func.body(), &mut |_, op| {
                    if op.regions.contains(&region) {
                        site = op.site;
                    }
                });
                ("what a loop carries,".into(), site)
            }
        };
        match site {
            Some(site) => format!("{what} {ty} at {site}"),
            None => format!("%{}, {what} {ty}", value.0),
        }
    }

    /// Registers that a value takes of a thread; `packed` says that several elements have one.
    fn taken(&self, value: Value, packed: bool) -> f64 {
        let ty = self.func.ty(value);
        // Elements of a broadcast share the operand's registers; constants of one value take one.
        let shared = self.func.maker(value).is_some_and(|op| {
            matches!(self.func.op(op).kind, Kind::Broadcast | Kind::Full(_))
                || self.products.pipeline.alone.contains(&op)
                || self.products.is_shared(op) && !self.products.ahead.waits(op)
        });
        if ty.dims.rank() == 0 || shared {
            return 0.0;
        }
        // A truth value takes a bit; other elements take registers of their own.
        let words = match ty.dtype.bits() {
            1 => 0.25,
            bits if packed => f64::from(bits) / 32.0,
            bits => (f64::from(bits) / 32.0).max(1.0),
        };
        words * self.dist(value).size() as f64
    }

    /// The most registers, and where they are taken.
    fn peak(&self, packed: bool) -> (f64, usize, Lives) {
        let mut lives = Lives {
            whole: Vec::new(),
            working: BTreeMap::new(),
            spans: vec![None; self.func.value_count()],
            at: 0,
        };
        self.lives(self.func.body(), &mut lives);
        let mut change = vec![0.0; lives.at + 2];
        for (value, span) in lives.spans.iter().enumerate() {
            if let Some([first, last]) = span {
                let registers = self.taken(Value(fit::item(value)), packed);
                change[*first] += registers;
                change[*last] -= registers;
            }
        }
        // Between them elements are computed one by one, so that what is needed in between is as good as nothing.
        let mut whole = lives.whole.iter().peekable();
        let mut now = 0.0;
        let (mut most, mut place): (f64, usize) = (0.0, 0);
        for (at, change) in change.iter().enumerate() {
            let sampled = whole.next_if_eq(&&at).is_some();
            let working = lives.working.get(&at).copied().unwrap_or(0.0);
            for registers in [now + working, now + change] {
                if sampled && registers > most {
                    (most, place) = (registers, at);
                }
            }
            now += change;
        }
        (most, place, lives)
    }

    fn lives(&self, region: RegionId, lives: &mut Lives) {
        let use_at = |lives: &mut Lives, value: Value| {
            if let Some(span) = &mut lives.spans[value.index()] {
                span[1] = span[1].max(lives.at);
            }
        };
        let of = self.func.region(region);
        for &arg in &of.args {
            lives.spans[arg.index()] = Some([lives.at, lives.at + 1]);
        }
        for &id in &of.ops {
            let op = self.func.op(id);
            lives.at += 1;
            if !matches!(
                op.kind,
                Kind::Each { .. }
                    | Kind::Cast(_)
                    | Kind::Bitcast
                    | Kind::Broadcast
                    | Kind::Full(_)
                    | Kind::Permute(_)
            ) {
                lives.whole.push(lives.at);
            }
            if op.kind == Kind::Mma && !self.products.wgmma.contains_key(&id) {
                let (sums, held) = (self.dist(op.results[0]), self.in_registers(id));
                let registers = working(&self.func, op, sums, self.products.sm, held);
                lives.working.insert(lives.at, registers);
            }
            op.operands.iter().for_each(|&value| use_at(lives, value));
            let begin = lives.at;
            op.regions.iter().for_each(|&region| self.lives(region, lives));
            if matches!(op.kind, Kind::For | Kind::Loop) {
                // A value that is used in a loop and defined before it lives until the loop ends.
                lives.at += 1;
                let around = |span: &&mut [usize; 2]| span[0] < begin && span[1] > begin;
                for span in lives.spans.iter_mut().flatten().filter(around) {
                    span[1] = span[1].max(lives.at);
                }
            }
            for &result in &op.results {
                lives.spans[result.index()] = Some([lives.at, lives.at + 1]);
            }
        }
        lives.at += 1;
        of.end.values().iter().for_each(|&value| use_at(lives, value));
    }
}
