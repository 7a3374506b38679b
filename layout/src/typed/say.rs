//! The texts of compile errors, built by hand because constant functions cannot use `format!`.

use super::op::{Op, Operand};
use crate::Lay;
use crate::text::explain::{layout, shape};
use crate::text::message::Message;

/// Writes `op(a, t)`.
pub(super) const fn call(op: Op, a: &Lay, t: &crate::Tiler) -> Message {
    call_as(op.name(), op, a, t)
}

/// [`call`] with the name `name` instead of the operation's.
pub(super) const fn call_as(name: &str, op: Op, a: &Lay, t: &crate::Tiler) -> Message {
    let mut line = Message::EMPTY;
    line.text(name);
    line.text("(");
    if op.takes_shape() {
        shape(&mut line, a);
    } else {
        layout(&mut line, a);
    }
    if !matches!(op.operand(), Operand::None) {
        line.text(", ");
        match t {
            crate::Tiler::Lay(t) => operand(&mut line, op, t),
            crate::Tiler::Modes(tiles) => {
                line.text("<");
                let mut k = 0;
                while k < tiles.len() {
                    if k > 0 {
                        line.text(",");
                    }
                    match tiles.tile(k) {
                        Ok(crate::Tile::Lay(tile)) => operand(&mut line, op, &tile),
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

const fn operand(line: &mut Message, op: Op, t: &Lay) {
    match op.operand() {
        Operand::Tree => shape(line, t),
        _ => layout(line, t),
    }
}
