//! Comparison of the three implementations of an operation.
//!
//! * The run-time layer is the definition: operands that it refuses are refused, at compile time if all are static,
//!   otherwise by an `Err`.
//! * The types compute the structure of the result and its static integers.
//! * The rules compute the same on run-time integers; they supply the dynamic integers.
//!
//! For static operands, the types must agree with the run-time layer, integer for integer. For other operands, the
//! types must agree with the rules when the program is compiled, and the rules' result must be the same function as the
//! run-time layer's when the program runs.

use girih_layout::{Composed, Error, Int, Lay, Message, Stride, Swizzle};

use super::fit::fit;
use super::modes::Modes;
use super::op::Op;
use super::operand::Operand;
use super::say::{call, integer, layout};
use super::tree::Tree;

/// The compile-time checks of the operations on the layout `L` by themselves, for `const` items: `cargo check`
/// evaluates these too, while the checks inside of a call are evaluated only when code is generated for the call.
///
/// ```
/// use girih_typed::{Check, Lt, S};
/// type Tile = Lt<(S<128>, S<64>), (S<64>, S<1>)>;
/// const _: () = Check::<Tile>::zipped_divide::<(S<32>, S<16>)>();
/// ```
///
/// Here the message is `composition((6,2):(8,2), 6:4): stride 4 and extent 6 do not divide one another`:
/// ```compile_fail
/// # use girih_typed::{Check, Lt, S};
/// const _: () = Check::<Lt<(S<6>, S<2>), (S<8>, S<2>)>>::composition::<Lt<S<6>, S<4>>>();
/// ```
pub struct Check<L>(core::marker::PhantomData<L>);

/// Refuses to compile static operands without a result. `found` is the result's type.
pub(super) const fn check(op: Op, fixed: bool, a: &Tree, t: &Operand, found: &Tree) {
    if !fixed {
        let mut line = call(op, a, t);
        line.text(": an operand is dynamic, which is judged when the program runs: call try_");
        line.text(op.name());
        line.stop();
    }
    match op.defined(a, t) {
        Err(error) => refused(op, a, t, &error),
        Ok(exact) => {
            let exact = Tree::of(&exact);
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

/// Refuses to compile operands whose structure has no result, and compares the rules' result with the type of the
/// result.
pub(super) const fn check_structure(op: Op, a: &Tree, t: &Operand, found: &Tree) {
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

/// Refuses to compile an edit of modes that the layout does not have. An edit changes no integer, static or dynamic.
pub(super) const fn check_edit(name: &str, a: &Tree, edited: Result<Tree, Error>, found: &Tree) {
    let mut line = Message::EMPTY;
    line.text(name);
    line.text("(");
    layout(&mut line, a);
    line.text("): ");
    match edited {
        Err(error) => error.explain(&mut line),
        Ok(edited) if identical(&edited, found, true) => return,
        Ok(edited) => {
            line.text("a defect of the typed layer, it should be ");
            layout(&mut line, &edited);
            line.text(" and its types give ");
            layout(&mut line, found);
        }
    }
    line.stop()
}

/// Refuses to compile a recast that a swizzle does not have; `found` is the swizzle of the result's type.
pub(super) const fn check_recast(swizzle: Swizzle, old: u64, new: u64, found: &Swizzle) {
    // Any layout that can be recast will do here: the layout under the swizzle is checked by itself.
    let run = Lay::leaf(Int::fixed(1 << 32), Stride::Int(Int::ONE));
    let mut line = Message::EMPTY;
    line.text("recast of a swizzle: ");
    let recast = match run {
        Ok(run) => Composed::new(swizzle, 0, run).recast(old as i64, new as i64),
        Err(error) => Err(error),
    };
    match recast {
        Ok(recast) => {
            let recast = recast.swizzle();
            let same = recast.bits() == found.bits()
                && recast.base() == found.base()
                && recast.shift() == found.shift();
            if same {
                return;
            }
            line.text("a defect of the typed layer");
        }
        Err(error) => error.explain(&mut line),
    }
    line.stop();
}

/// The modes that the operation gives on operands that may be dynamic.
pub(super) fn run<R: Modes>(op: Op, a: &Tree, t: &Operand) -> Result<R, Error> {
    let found = judged(op, a, t)?;
    R::read(&found, &mut 0).ok_or(Error::Overflow { op: "a dynamic integer" })
}

/// The result by the rules, if it is the same function as the result by definition; otherwise the latter in the
/// structure of the former, if it fits.
fn judged(op: Op, a: &Tree, t: &Operand) -> Result<Tree, Error> {
    // How many modes a mode has depends on what is static, so tiled and flat forms are compared in the zipped form,
    // before their modes are spread.
    let zipped = op.zipped();
    let exact = zipped.defined(a, t)?;
    let mut found = zipped.ruled(a, t)?;
    if !agree(zipped, a, t, &found, &exact)? {
        // The rules' result is wrong, but the right result may fit into its structure.
        found = match fit(&found, &exact, zipped.is_one_function()) {
            Some(fitted) if agree(zipped, a, t, &fitted, &exact)? => fitted,
            _ => {
                return Err(Error::Unsupported {
                    op: op.name(),
                    what: "these values in a typed layout: their result has another structure; use the run-time layout",
                });
            }
        };
    }
    op.spread(&found)
}

/// Whether the rules' result `found` does what the operation promises.
fn agree(op: Op, a: &Tree, t: &Operand, found: &Tree, exact: &Lay) -> Result<bool, Error> {
    let Ok(found) = found.lay() else { return Ok(false) };
    Ok(match (op, t) {
        // The sizes must agree too: a part of the inverse is another result.
        (Op::RightInverse, _) => {
            is_identity(&a.lay()?.composition(&found)?) && found.size()?.same(exact.size()?)
        }
        // For indices that the layout does not have, a left inverse means nothing.
        (Op::LeftInverse, _) => found.composition(&a.lay()?).is_ok_and(|both| is_identity(&both)),
        (Op::QuasiInverse, _) => {
            let a = a.lay()?;
            found.composition(&a).and_then(|both| a.composition(&both)).is_ok_and(|back| back.equivalent(&a))
        }
        (Op::MaxCommonLayout, Operand::One(b)) => {
            is_identity(&a.lay()?.composition(&found)?) && is_identity(&b.lay()?.composition(&found)?)
        }
        (Op::Composition, Operand::One(right)) if right.is_leaf() => found.equivalent(exact),
        (Op::Coalesce | Op::Complement | Op::Nullspace | Op::DomainDistribute | Op::WithShape, _) => {
            found.equivalent(exact)
        }
        // Modes of a dynamic stride that is 0 at run time stay, so both results are filtered before they are compared.
        (Op::Filter | Op::FilterZeros, _) => found.filter().equivalent(&exact.filter()),
        _ => same_functions(&found, exact),
    })
}

/// Whether two layouts are the same function mode by mode.
fn same_functions(a: &Lay, b: &Lay) -> bool {
    let modes = (0..a.rank()).all(|k| match (a.mode(k), b.mode(k)) {
        (Ok(a), Ok(b)) => a.equivalent(&b),
        _ => false,
    });
    a.rank() == b.rank() && modes
}

fn is_identity(a: &Lay) -> bool {
    let a = a.coalesce();
    a.is_leaf() && (a.flat_leaf(0).0.is(1) || a.flat_leaf(0).1 == Stride::Int(Int::ONE))
}

/// Whether two layouts have the same tree and the same leaves. With `marks`, integers must be static in the same
/// places, and dynamic integers are not compared.
const fn identical(a: &Tree, b: &Tree, marks: bool) -> bool {
    if !a.profile().congruent(b.profile()) {
        return false;
    }
    let mut i = 0;
    while i < a.leaf_count() {
        let Some((d, e)) = scales(a.step(i), b.step(i)) else { return false };
        if !matches(a.extent(i), b.extent(i), marks) || !matches(d, e, marks) {
            return false;
        }
        i += 1;
    }
    true
}

/// The integers of two strides of one kind, that go along the same basis vector if they go along one.
const fn scales(a: Stride, b: Stride) -> Option<(Int, Int)> {
    match (a, b) {
        (Stride::Int(d), Stride::Int(e)) => Some((d, e)),
        (Stride::Basis { scale: d, mode }, Stride::Basis { scale: e, .. }) => {
            if (Stride::Basis { scale: e, mode }).same(b) { Some((d, e)) } else { None }
        }
        _ => None,
    }
}

const fn matches(a: Int, b: Int, marks: bool) -> bool {
    match (marks, a.is_static(), b.is_static()) {
        (false, ..) | (true, true, true) => a.same(b),
        (true, false, false) => true,
        _ => false,
    }
}

const fn refused(op: Op, a: &Tree, t: &Operand, error: &Error) -> ! {
    let mut line = call(op, a, t);
    line.text(": ");
    error.explain(&mut line);
    line.stop()
}

/// Refuses to compile a static coordinate outside a static layout.
pub(super) const fn check_position(position: u64, a: &Tree) {
    if let Ok(size) = a.shape.size()
        && size.is_static()
        && position >= size.coefficient() as u64
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
pub(super) const fn check_shape(a: &Tree) {
    if let Err(Error::NonPositiveShape { leaf, .. }) = a.lay() {
        let mut line = Message::EMPTY;
        layout(&mut line, a);
        line.text(": leaf ");
        line.number(leaf);
        line.text(" of the shape is below 1");
        line.stop();
    }
}

/// Refuses to compile `what` of a layout that is not static.
pub(super) const fn check_static(what: &str, fixed: bool, a: &Tree) {
    if !fixed {
        let mut line = Message::EMPTY;
        line.text(what);
        line.text(" needs a static layout, this one is ");
        layout(&mut line, a);
        line.stop();
    }
}

/// Refuses to compile a layout where another one is wanted; integers that are dynamic on either side may have any
/// value.
pub(super) const fn check_exactly(fixed: bool, given: &Tree, wanted: &Tree) {
    let mut line = Message::EMPTY;
    layout(&mut line, given);
    line.text(" is given where ");
    layout(&mut line, wanted);
    line.text(" is wanted");
    if !fixed {
        line.text(": with something dynamic, that is judged when the program runs: call try_exactly");
        line.stop();
    }
    let (mut same, mut i) = (given.profile().congruent(wanted.profile()), 0);
    while same && i < given.leaf_count() {
        same = may_be(given.extent(i), wanted.extent(i))
            && matches!(scales(given.step(i), wanted.step(i)), Some((d, e)) if may_be(d, e));
        i += 1;
    }
    if !same {
        line.stop();
    }
}

const fn may_be(given: Int, wanted: Int) -> bool {
    !given.is_static() || !wanted.is_static() || given.same(wanted)
}

/// Refuses to compile an operation that needs indices which are numbers of at least 0, for a layout whose indices are
/// or may be negative, or are coordinates.
pub(super) const fn check_line(what: &str, signed: bool, coordinates: bool, a: &Tree) {
    if !signed && !coordinates {
        return;
    }
    let mut line = Message::EMPTY;
    line.text(what);
    line.text(if coordinates { ": the indices of " } else { ": a stride of " });
    layout(&mut line, a);
    line.text(if coordinates {
        " are coordinates: call coord_at or slice_coord"
    } else {
        " is or may be negative: call at_signed"
    });
    line.stop();
}

/// Refuses to compile an operation that needs indices which are flat coordinates of rank `rank`, for a layout whose
/// indices are not.
pub(super) const fn check_coordinates(rank: usize, signed: bool, a: &Tree) {
    let (mut most, mut nested, mut line) = (0, false, Message::EMPTY);
    let mut i = 0;
    while i < a.leaf_count() {
        match a.step(i) {
            Stride::Basis { mode, .. } => {
                nested |= mode.depth() > 1;
                if mode.first() >= most {
                    most = mode.first() + 1;
                }
            }
            Stride::Int(d) if !(d.is_static() && d.is(0)) => {
                line.text("coord_at: the indices of ");
                layout(&mut line, a);
                line.text(" are no coordinates: call at");
                line.stop();
            }
            _ => {}
        }
        i += 1;
    }
    if signed || nested || most > rank {
        line.text("coord_at: the coordinates of ");
        layout(&mut line, a);
        line.text(match (signed, nested) {
            (true, _) => " are or may be negative, which the run-time layout has",
            (_, true) => " are nested: erase it and call coord_at of the run-time layout",
            _ => " have rank ",
        });
        if !signed && !nested {
            line.number(most);
            line.text(", not ");
            line.number(rank);
        }
        line.stop();
    }
}
