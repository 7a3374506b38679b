//! Text that kernels print.

use super::tile::{Tile, integer, number};
use super::{Block, failed};
use crate::dtype::{Category, category, is_signed};
use crate::error::Error;
use crate::ir::Op;

impl Block<'_> {
    /// Prints by a format: each conversion takes the next operand, and of a tile it prints the elements in brackets, row-major.
    pub(super) fn print(&mut self, format: &str, op: &Op) -> Result<(), Error> {
        let mut operands = op.operands.iter();
        let mut text = String::new();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                text.push('%');
                rest = after;
                continue;
            }
            let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'l' | 'h' | 'z'))
            else {
                return failed(format!("the format {format:?} ends in a conversion"));
            };
            let (spec, kind) = (&rest[..end], rest[end..].chars().next().unwrap_or('d'));
            rest = &rest[end + kind.len_utf8()..];
            let Some(&value) = operands.next() else {
                return failed(format!(
                    "the format {format:?} has more conversions than the {} operands",
                    op.operands.len()
                ));
            };
            let tile = self.get(value)?;
            let elements: Vec<String> = (0..tile.bits.len()).map(|i| element(&tile, i, spec, kind)).collect();
            match tile.ty.dims.rank() {
                0 => text.push_str(&elements[0]),
                _ => text.push_str(&format!("[{}]", elements.join(", "))),
            }
        }
        text.push_str(rest);
        self.printed.push_str(&text);
        Ok(())
    }
}

fn element(tile: &Tile, i: usize, spec: &str, kind: char) -> String {
    let (bits, poison) = tile.at(i);
    if poison {
        return "undetermined".into();
    }
    let dtype = tile.ty.dtype;
    let digits =
        spec.trim_end_matches(['l', 'h', 'z']).split_once('.').and_then(|(_, digits)| digits.parse().ok());
    let x = number(dtype, bits);
    let whole = match category(dtype) {
        Category::Float => x as i128,
        _ => integer(dtype, bits),
    };
    match kind {
        'd' | 'i' => whole.to_string(),
        'u' if is_signed(dtype) => (whole as u32).to_string(),
        'u' => whole.to_string(),
        'x' => format!("{bits:x}"),
        'e' => format!("{x:.*e}", digits.unwrap_or(6)),
        'g' => x.to_string(),
        _ => format!("{x:.*}", digits.unwrap_or(6)),
    }
}
