//! Random computations: the same steps on expressions and on plain integers.

use girih_codegen::Expr;
use girih_layout::Swizzle;
use proptest::prelude::*;
use proptest::sample::Index;

/// A step's operation on two earlier values. For an operation without negative operands, a negative one counts as 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Scale(i64),
    Offset(i64),
    Div(i64),
    Rem(i64),
    Xor,
    And(i64),
    Min,
    Max,
    Swizzle(Swizzle),
}

/// Steps over inputs and earlier results.
#[derive(Clone, Debug)]
pub(crate) struct Program(Vec<(Op, Index, Index)>);

/// A program over given inputs: `exprs[..inputs]` are the inputs, the others the steps' results.
pub(crate) struct Computation {
    pub(crate) exprs: Vec<Expr>,
    /// `None` where the result could leave [`LIMIT`], in which case the step gives its first operand.
    steps: Vec<(Option<Op>, usize, usize)>,
}

/// Results stay below this, far beyond 32 bits and far from the end of 64.
const LIMIT: i128 = 1 << 45;

pub(crate) fn swizzles() -> impl Strategy<Value = Swizzle> {
    (0..4u32, 0..5u32, 0..3i32, any::<bool>()).prop_map(|(bits, base, more, down)| {
        let distance = bits as i32 + more;
        Swizzle::new(bits, base, if down { -distance } else { distance }).unwrap()
    })
}

pub(crate) fn programs(longest: usize) -> impl Strategy<Value = Program> {
    let constant = prop_oneof![1..=8i64, Just(16), Just(64), Just(96), Just(1 << 20), 1..=1000i64];
    let op = prop_oneof![
        3 => Just(Op::Add),
        2 => Just(Op::Sub),
        2 => Just(Op::Mul),
        2 => constant.clone().prop_map(Op::Scale),
        1 => (-3..=3i64).prop_map(Op::Scale),
        2 => prop_oneof![-64..=64i64, constant.clone()].prop_map(Op::Offset),
        3 => constant.clone().prop_map(Op::Div),
        3 => constant.clone().prop_map(Op::Rem),
        2 => Just(Op::Xor),
        2 => prop_oneof![0..=255i64, Just(0xff00), Just(7 << 33), 0..=i64::MAX].prop_map(Op::And),
        2 => Just(Op::Min),
        2 => Just(Op::Max),
        2 => swizzles().prop_map(Op::Swizzle),
    ];
    proptest::collection::vec((op, any::<Index>(), any::<Index>()), 1..=longest).prop_map(Program)
}

impl Program {
    /// The program as expressions over `inputs`.
    pub(crate) fn over(&self, inputs: &[Expr]) -> Computation {
        let mut out = Computation { exprs: inputs.to_vec(), steps: Vec::new() };
        for (op, a, b) in &self.0 {
            let (a, b) = (a.index(out.exprs.len()), b.index(out.exprs.len()));
            let result = expression(*op, &out.exprs[a], &out.exprs[b]);
            out.steps.push((result.is_some().then_some(*op), a, b));
            out.exprs.push(result.unwrap_or_else(|| out.exprs[a].clone()));
        }
        out
    }
}

impl Computation {
    /// The program on integers.
    pub(crate) fn values(&self, inputs: &[i64]) -> Vec<i64> {
        let mut values = inputs.to_vec();
        for &(op, a, b) in &self.steps {
            values.push(op.map_or(values[a], |op| direct(op, values[a], values[b])));
        }
        values
    }
}

fn magnitude(expr: &Expr) -> i128 {
    let (low, high) = expr.range();
    i128::from(low).abs().max(i128::from(high).abs())
}

fn expression(op: Op, a: &Expr, b: &Expr) -> Option<Expr> {
    let at_most = match op {
        Op::Mul => magnitude(a) * magnitude(b),
        Op::Scale(by) => magnitude(a) * i128::from(by).abs(),
        Op::Swizzle(_) => magnitude(a) << 8,
        _ => magnitude(a) + magnitude(b),
    };
    if at_most > LIMIT {
        return None;
    }
    let natural = |e: &Expr| e.maximum(&Expr::from(0));
    Some(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Scale(by) => a * by,
        Op::Offset(by) => a + by,
        Op::Div(by) => natural(a).div(by).unwrap(),
        Op::Rem(by) => natural(a).rem(by).unwrap(),
        Op::Xor => natural(a).xor(&natural(b)).unwrap(),
        Op::And(mask) => natural(a).and(mask).unwrap(),
        Op::Min => a.minimum(b),
        Op::Max => a.maximum(b),
        Op::Swizzle(swizzle) => natural(a).swizzle(&swizzle).unwrap(),
    })
}

fn direct(op: Op, a: i64, b: i64) -> i64 {
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Scale(by) => a * by,
        Op::Offset(by) => a + by,
        Op::Div(by) => a.max(0) / by,
        Op::Rem(by) => a.max(0) % by,
        Op::Xor => a.max(0) ^ b.max(0),
        Op::And(mask) => a.max(0) & mask,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Swizzle(swizzle) => swizzle.apply(a.max(0)),
    }
}
