//! The three readings of an operation held against each other.
//!
//! * The run-time layer's is the definition: what it refuses is refused, at compile time where all is static, else by an `Err`.
//! * The types compute the structure of the result and its static integers.
//! * The rules compute the same on run-time integers; they supply the dynamic integers.
//!
//! Static operands: types = run-time layer, integer for integer. Otherwise: types = rules, when compiled; rules = run-time layer as
//! functions, when run.

use super::op::Op;
use super::{Layout, Modes};
use crate::refuse::Message;
use crate::{Error, Int, Lay, Stride};

/// Refuses to compile static operands without a result. `found` is the result's type.
pub(super) const fn check(op: Op, fixed: bool, a: &Lay, t: &crate::Tiler, found: &Lay) {
    if !fixed {
        let mut line = call(op, a, t);
        line.text(": an operand is dynamic, which is judged when the program runs: call try_");
        line.text(op.name());
        line.stop();
    }
    match op.defined(a, t) {
        Err(error) => refused(op, a, t, &error),
        Ok(exact) => {
            if !identical(&exact, found, false) {
                let mut line = call(op, a, t);
                line.text(": ");
                layout(&mut line, &exact);
                line.text(" is found by the run-time layer only; mode by mode it would be ");
                layout(&mut line, found);
                line.stop();
            }
        }
    }
}

/// Refuses to compile operands whose structure has no result, and holds the rules against the type of the result.
pub(super) const fn check_structure(op: Op, a: &Lay, t: &crate::Tiler, found: &Lay) {
    match op.ruled(a, t) {
        Err(error) => refused(op, a, t, &error),
        Ok(ruled) => {
            if !identical(&ruled, found, true) {
                let mut line = call(op, a, t);
                line.text(": a defect of the typed layer, its rules give ");
                layout(&mut line, &ruled);
                line.text(" and its types ");
                layout(&mut line, found);
                line.stop();
            }
        }
    }
}

/// The operation on operands that may be dynamic.
pub(super) fn run<R: Modes>(op: Op, a: &Lay, t: &crate::Tiler) -> Result<Layout<R>, Error> {
    let found = judged(op, a, t)?;
    R::read(&found, &mut 0).map(Layout).ok_or(Error::Overflow { op: "a dynamic integer" })
}

/// The result by the rules, if it is the one by definition.
fn judged(op: Op, a: &Lay, t: &crate::Tiler) -> Result<Lay, Error> {
    // How many modes a mode has depends on what is static, so the spread forms are judged before they are spread.
    let zipped = op.zipped();
    let exact = zipped.defined(a, t)?;
    let found = zipped.ruled(a, t)?;
    let agree = match op {
        Op::RightInverse => is_identity(&a.composition(&found)?),
        Op::Coalesce | Op::Complement | Op::LeftInverse => found.equivalent(&exact),
        Op::Composition if matches!(t, crate::Tiler::Lay(right) if right.is_leaf()) => {
            found.equivalent(&exact)
        }
        _ => same_functions(&found, &exact),
    };
    if !agree {
        return Err(Error::Unsupported {
            op: op.name(),
            what: "these values in a typed layout: their result has another structure; use the run-time layout",
        });
    }
    if zipped == op { Ok(found) } else { op.ruled(a, t) }
}

/// Mode by mode the same function.
fn same_functions(a: &Lay, b: &Lay) -> bool {
    let modes = (0..a.rank()).all(|k| match (a.mode(k), b.mode(k)) {
        (Ok(a), Ok(b)) => a.equivalent(&b),
        _ => false,
    });
    a.rank() == b.rank() && modes
}

fn is_identity(a: &Lay) -> bool {
    let a = a.coalesce();
    a.is_leaf() && (a.shape().leaves()[0].is(1) || a.flat_leaf(0).1 == Stride::Int(Int::ONE))
}

/// Leaf by leaf the same, under the same tree; with `marks`, static in the same places and dynamic ones not compared.
const fn identical(a: &Lay, b: &Lay, marks: bool) -> bool {
    if !a.shape.profile.congruent(&b.shape.profile) {
        return false;
    }
    let mut i = 0;
    while i < a.leaf_count() {
        let (Stride::Int(d), Stride::Int(e)) = (a.stride[i], b.stride[i]) else { return false };
        if !matches(a.shape.leaves[i], b.shape.leaves[i], marks) || !matches(d, e, marks) {
            return false;
        }
        i += 1;
    }
    true
}

const fn matches(a: Int, b: Int, marks: bool) -> bool {
    match (marks, a.is_static(), b.is_static()) {
        (false, ..) | (true, true, true) => a.same(b),
        (true, false, false) => true,
        _ => false,
    }
}

const fn refused(op: Op, a: &Lay, t: &crate::Tiler, error: &Error) -> ! {
    let mut line = call(op, a, t);
    line.text(": ");
    explain(&mut line, error);
    line.stop()
}

/// Refuses to compile a static coordinate outside a static layout.
pub(super) const fn check_position(position: u64, a: &Lay) {
    if let Ok(size) = a.size()
        && size.is_static()
        && position >= size.coef as u64
    {
        let mut line = Message::EMPTY;
        line.text("coordinate ");
        line.number(position as usize);
        line.text(" is outside ");
        layout(&mut line, a);
        line.text(", whose size is ");
        integer(&mut line, size);
        line.stop();
    }
}

/// Refuses to compile a layout with a static extent below 1.
pub(super) const fn check_shape(a: &Lay) {
    if let Err(Error::NonPositiveShape { leaf, .. }) = a.shape.checked() {
        let mut line = Message::EMPTY;
        layout(&mut line, a);
        line.text(": leaf ");
        line.number(leaf);
        line.text(" of the shape is below 1");
        line.stop();
    }
}

/// Refuses to compile `what` of a layout that is not static.
pub(super) const fn check_static(what: &str, fixed: bool, a: &Lay) {
    if !fixed {
        let mut line = Message::EMPTY;
        line.text(what);
        line.text(" needs a static layout, this one is ");
        layout(&mut line, a);
        line.stop();
    }
}

/// Refuses to compile an unsigned index of a layout with negative strides.
pub(super) const fn check_unsigned(signed: bool, a: &Lay) {
    if signed {
        let mut line = Message::EMPTY;
        line.text("at: a stride of ");
        layout(&mut line, a);
        line.text(" is or may be negative: call at_signed");
        line.stop();
    }
}

/// `op(a, t): `.
const fn call(op: Op, a: &Lay, t: &crate::Tiler) -> Message {
    let mut line = Message::EMPTY;
    line.text(op.name());
    line.text("(");
    layout(&mut line, a);
    match (op, t) {
        (Op::Coalesce | Op::RightInverse | Op::LeftInverse, _) => {}
        (Op::Complement, crate::Tiler::Lay(c)) => {
            line.text(", ");
            integer(&mut line, c.shape.leaves[0]);
        }
        (_, crate::Tiler::Lay(t)) => {
            line.text(", ");
            layout(&mut line, t);
        }
        (_, crate::Tiler::Modes(tiles)) => {
            line.text(", <");
            let mut k = 0;
            while k < tiles.len() {
                if k > 0 {
                    line.text(",");
                }
                match tiles.tile(k) {
                    Ok(crate::Tile::Lay(tile)) => layout(&mut line, &tile),
                    _ => line.text("_"),
                }
                k += 1;
            }
            line.text(">");
        }
    }
    line.text(")");
    line
}

const fn layout(line: &mut Message, of: &Lay) {
    let mut strides = 0;
    while strides < 2 {
        let mut i = 0;
        while i < of.leaf_count() {
            let (opens, closes) = of.shape.profile.parens(of.root(), i);
            if i > 0 {
                line.text(",");
            }
            repeat(line, "(", opens);
            match (strides, of.stride[i]) {
                (0, _) => integer(line, of.shape.leaves[i]),
                (_, Stride::Int(d)) => integer(line, d),
                _ => line.text("?"),
            }
            repeat(line, ")", closes);
            i += 1;
        }
        if strides == 0 {
            line.text(":");
        }
        strides += 1;
    }
}

const fn repeat(line: &mut Message, text: &str, times: u8) {
    let mut i = 0;
    while i < times {
        line.text(text);
        i += 1;
    }
}

const fn integer(line: &mut Message, n: Int) {
    if !n.is_static() {
        return line.text("?");
    }
    if n.coef < 0 {
        line.text("-");
    }
    line.number(n.coef.unsigned_abs() as usize);
}

/// The message of the errors that static operands meet.
const fn explain(line: &mut Message, error: &Error) {
    match error {
        Error::StrideDivisibility { extent, stride, .. } => {
            pair(line, "stride ", *stride, " and extent ", *extent, " do not divide one another");
        }
        Error::ShapeDivisibility { divisor, shape, .. } => {
            pair(line, "", *divisor, " does not divide extent ", *shape, "");
        }
        Error::NotTractable { step, stride, .. } => {
            pair(line, "", *step, " does not divide stride ", *stride, "");
        }
        Error::RankMismatch { rank, other, .. } => {
            let (rank, other) = (Int::fixed(*rank as i64), Int::fixed(*other as i64));
            pair(line, "rank mismatch: the layout has rank ", rank, ", the other operand rank ", other, "");
        }
        Error::Overlap { extent, stride: Stride::Int(stride) } => {
            pair(line, "mode ", *extent, ":", *stride, " meets an index twice");
        }
        Error::NonPositiveShape { leaf, extent } => {
            let leaf = Int::fixed(*leaf as i64);
            pair(line, "leaf ", leaf, " of a shape is ", Int::fixed(*extent), ", which is below 1");
        }
        Error::NonPositiveStride { stride, .. } => {
            let stride = Int::fixed(match stride.get() {
                Some(stride) => stride,
                None => 0,
            });
            pair(line, "stride ", stride, " is below ", Int::ZERO, "");
        }
        Error::Carry { witness: Some(w) } => {
            pair(
                line,
                "the right-hand modes carry into one another: coordinate ",
                Int::fixed(w.coord),
                " has index ",
                Int::fixed(w.expected),
                ", mode by mode it would be ",
            );
            integer(line, Int::fixed(w.obtained));
        }
        Error::Unsupported { what, .. } => {
            line.text("not supported: ");
            line.text(what);
        }
        other => line.text(other.kind()),
    }
}

const fn pair(line: &mut Message, before: &str, a: Int, between: &str, b: Int, after: &str) {
    line.text(before);
    integer(line, a);
    line.text(between);
    integer(line, b);
    line.text(after);
}
