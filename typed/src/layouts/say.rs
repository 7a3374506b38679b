//! The texts of compile errors, built by hand because constant functions cannot use `format!`.

use girih_layout::{Int, Lay, Message, Shape, Stride, Strides, Symbol};

use super::op::{Kind, Op};
use super::operand::Operand;
use super::tree::Tree;

/// Writes `op(a, t)`.
pub(super) const fn call(op: Op, a: &Tree, t: &Operand) -> Message {
    call_as(op.name(), op, a, t)
}

/// [`call`] with the name `name` instead of the operation's.
pub(super) const fn call_as(name: &str, op: Op, a: &Tree, t: &Operand) -> Message {
    let mut line = Message::EMPTY;
    line.text(name);
    line.text("(");
    if op.takes_shape() {
        shape(&mut line, &a.shape);
    } else {
        layout(&mut line, a);
    }
    if !matches!(op.operand(), Kind::None) {
        line.text(", ");
        match t {
            Operand::None => {}
            Operand::One(t) => operand(&mut line, op, t),
            Operand::Tiles(tiles) => {
                line.text("<");
                let mut k = 0;
                while k < tiles.len() {
                    if k > 0 {
                        line.text(",");
                    }
                    match tiles.tile(k) {
                        Ok(Some(tile)) => operand(&mut line, op, &tile),
                        _ => line.text("_"),
                    }
                    k += 1;
                }
                line.text(">");
            }
        }
    }
    line.text(")");
    line
}

const fn operand(line: &mut Message, op: Op, t: &Tree) {
    match op.operand() {
        Kind::Tree => shape(line, &t.shape),
        _ => layout(line, t),
    }
}

/// Appends `shape:stride`, with `?` for each dynamic integer.
pub(super) const fn layout(line: &mut Message, of: &Tree) {
    shape(line, &of.shape);
    line.text(":");
    strides(line, &of.stride);
}

/// Appends a tree of one kind of leaf, with `?` for each dynamic integer.
macro_rules! trees {
    ($($name:ident $tree:ty, $leaf:ident;)*) => {$(
        pub(super) const fn $name(line: &mut Message, of: &$tree) {
            if let (true, Some(leaf)) = (of.is_leaf(), of.get(0)) {
                return $leaf(line, leaf);
            }
            line.text("(");
            let mut k = 0;
            while let Ok(mode) = of.mode(k) {
                if k > 0 {
                    line.text(",");
                }
                $name(line, &mode);
                k += 1;
            }
            line.text(")");
        }
    )*};
}

trees! {
    shape Shape, integer;
    strides Strides, stride;
}

pub(super) const fn integer(line: &mut Message, n: Int) {
    if !n.is_static() {
        return line.text("?");
    }
    if n.coefficient() < 0 {
        line.text("-");
    }
    line.number(n.coefficient().unsigned_abs() as usize);
}

const fn stride(line: &mut Message, of: Stride) {
    let of = match of {
        Stride::Int(n) => return integer(line, n),
        // The run-time layer's messages have `?` for what is not known.
        Stride::Basis { scale, mode } if !scale.is_static() => {
            Stride::Basis { scale: Int::symbol(Symbol::new(0)), mode }
        }
        of => of,
    };
    if let Ok(leaf) = Lay::leaf(Int::ONE, of) {
        let mut written = Message::EMPTY;
        written.layout(&leaf);
        line.text(written.as_str().split_at("1:".len()).1);
    }
}
