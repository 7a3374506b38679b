//! Text that kernels print.

use super::tile::Tile;
use super::{Block, Result, failed};
use girih_tile::dtype::{Category, category};
use girih_tile::exact::{integer, number};
use girih_tile::ir::Op;

impl Block<'_> {
    /// Prints by a format as C's `printf`. Of tiles it prints the whole format for each element, row-major.
    pub(super) fn print(&mut self, format: &str, op: &Op) -> Result {
        let values = self.all(&op.operands)?;
        for i in 0..values.first().map_or(1, |tile| tile.bits.len()) {
            let mut operands = values.iter();
            let mut rest = format;
            while let Some(at) = rest.find('%') {
                self.printed.push_str(&rest[..at]);
                rest = &rest[at + 1..];
                if let Some(after) = rest.strip_prefix('%') {
                    self.printed.push('%');
                    rest = after;
                    continue;
                }
                let end = rest.find(|c: char| c.is_ascii_alphabetic() && c != 'l');
                let (Some(end), Some(tile)) = (end, operands.next()) else {
                    return failed(format!("the format {format:?} does not fit {} operands", values.len()));
                };
                let text = conversion(tile, i, &rest[..end], &rest[end..=end])?;
                self.printed.push_str(&text);
                rest = &rest[end + 1..];
            }
            self.printed.push_str(rest);
        }
        Ok(())
    }
}

/// An element by a conversion: its flags, width and precision, and its letter.
fn conversion(tile: &Tile, i: usize, spec: &str, letter: &str) -> Result<String> {
    let (bits, poison) = tile.at(i);
    if poison {
        return failed("an undetermined value is printed".into());
    }
    let dtype = tile.ty.dtype;
    let spec = spec.trim_end_matches('l');
    let flags: String = spec.chars().take_while(|c| "-+ #0".contains(*c)).collect();
    let (width, precision) = match spec[flags.len()..].split_once('.') {
        Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
        None => (&spec[flags.len()..], None),
    };
    let width: usize = width.parse().unwrap_or(0);
    let (x, n) = (number(dtype, bits), integer(dtype, bits));
    let digits = precision.unwrap_or(6);
    let mut text = match letter {
        "d" | "i" => n.to_string(),
        "u" if category(dtype) != Category::Float => (n & ((1 << dtype.bits().max(32)) - 1)).to_string(),
        "x" => format!("{bits:x}"),
        "X" => format!("{bits:X}"),
        "o" => format!("{bits:o}"),
        "f" | "F" => format!("{x:.digits$}"),
        "e" | "E" => exponential(x, digits),
        "g" | "G" => shortest(x, digits.max(1)),
        _ => format!("{x:?}"),
    };
    if !x.is_finite() && "feg".contains(&letter.to_lowercase()) {
        text = if x.is_nan() { "nan".into() } else { format!("{}inf", if x < 0.0 { "-" } else { "" }) };
    }
    if flags.contains('+') && !text.starts_with('-') {
        text.insert(0, '+');
    }
    let missing = width.saturating_sub(text.len());
    Ok(if flags.contains('-') {
        text + &" ".repeat(missing)
    } else if flags.contains('0') {
        let sign = usize::from(text.starts_with(['-', '+']));
        format!("{}{}{}", &text[..sign], "0".repeat(missing), &text[sign..])
    } else {
        " ".repeat(missing) + &text
    })
}

fn exponential(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
            format!("{mantissa}e{sign}{power:0>2}")
        }
        None => text,
    }
}

/// `%g`: this many significant digits, in the shorter of the two forms, without zeros at the end.
fn shortest(x: f64, digits: usize) -> String {
    let scientific = exponential(x, digits - 1);
    let power: i64 = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if power < -4 || power >= digits as i64 {
        let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{power}", trimmed(mantissa));
    }
    trimmed(&format!("{x:.*}", usize::try_from(digits as i64 - 1 - power).unwrap_or_default()))
}
