//! How many registers the tiles of a plan take at a time.

use super::Plan;
use crate::ir::{Def, Kind, RegionId, Value};

struct Lives {
    /// Positions of operations on more than single elements.
    whole: Vec<usize>,
    /// The position at which each value begins to live, and that of its last use.
    spans: Vec<Option<[usize; 2]>>,
    at: usize,
}

impl Plan {
    /// Registers of 32 bits that a thread's tiles take where they take the most.
    pub fn registers(&self) -> f64 {
        let mut lives = Lives { whole: Vec::new(), spans: vec![None; self.func.value_count()], at: 0 };
        self.lives(self.func.body(), &mut lives);
        let mut change = vec![0.0; lives.at + 2];
        for (value, span) in lives.spans.iter().enumerate() {
            let value = Value(value as u32);
            let ty = self.func.ty(value);
            // Elements of a broadcast share the operand's registers; constants of one value take one.
            let shared = match self.func.value(value).def {
                Def::Result(op, _) => {
                    matches!(self.func.op(op).kind, Kind::Broadcast | Kind::Full(_))
                        || self.products.is_shared(op)
                }
                Def::Argument(..) => false,
            };
            if let (Some([first, last]), true, false) = (span, ty.dims.rank() > 0, shared) {
                // A truth value takes a bit; other elements take registers of their own.
                let words = match ty.dtype.bits() {
                    1 => 0.25,
                    bits => (f64::from(bits) / 32.0).max(1.0),
                };
                let registers = words * self.dist(value).size() as f64;
                change[*first] += registers;
                change[*last] -= registers;
            }
        }
        // Between them elements are computed one by one, so that what is needed in between is as good as nothing.
        let mut whole = lives.whole.into_iter().peekable();
        let (mut now, mut most): (f64, f64) = (0.0, 0.0);
        for (at, change) in change.iter().enumerate() {
            let sampled = whole.next_if_eq(&at).is_some();
            if sampled {
                most = most.max(now);
            }
            now += change;
            if sampled {
                most = most.max(now);
            }
        }
        most
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
            op.operands.iter().for_each(|&value| use_at(lives, value));
            let begin = lives.at;
            op.regions.iter().for_each(|&region| self.lives(region, lives));
            if matches!(op.kind, Kind::For | Kind::Loop) {
                // What is used in a loop and defined before lives until the loop ends.
                lives.at += 1;
                let (end, spans) = (lives.at, &mut lives.spans);
                spans.iter_mut().flatten().filter(|[first, last]| *first < begin && *last >= begin).for_each(
                    |span| {
                        span[1] = span[1].max(end);
                    },
                );
            }
            for &result in &op.results {
                lives.spans[result.index()] = Some([lives.at, lives.at + 1]);
            }
        }
        lives.at += 1;
        of.end.values().iter().for_each(|&value| use_at(lives, value));
    }
}
