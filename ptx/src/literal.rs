//! The values of numeric literals (PTX ISA, "Integer Constants", "Floating-Point Constants").

use crate::Operand;

/// The value of a literal: an integer in 64 bits, an f32's or an f64's bits. `None` if it is malformed or too large.
pub(crate) fn literal(text: &str) -> Option<Operand> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', hex @ ..] if hex.len() == 8 => {
            u32::from_str_radix(digits(&text[2..])?, 16).ok().map(Operand::F32)
        }
        [b'0', b'd' | b'D', hex @ ..] if hex.len() == 16 => {
            u64::from_str_radix(digits(&text[2..])?, 16).ok().map(Operand::F64)
        }
        _ => match integer(text) {
            // The value's 64 bits: PTX has one integer constant type for both signs.
            Some(value) => Some(Operand::Int(value.cast_signed())),
            None => decimal(text).map(|value| Operand::F64(value.to_bits())),
        },
    }
}

/// The value of an integer literal: decimal, `0x`, `0b` or octal with a leading `0`; a `U` at the end is allowed.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let body = text.strip_suffix('U').unwrap_or(text);
    let (radix, body) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        [b'0', _, ..] => (8, &body[1..]),
        _ => (10, body),
    };
    u64::from_str_radix(digits(body)?, radix).ok()
}

/// A decimal floating-point literal: with a point or an exponent.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    let float = text.contains(['.', 'e', 'E']);
    text.parse().ok().filter(|value: &f64| plain && float && value.is_finite())
}

/// `text` if it is letters and digits alone: a sign, which Rust's parsers take, is not part of a literal.
fn digits(text: &str) -> Option<&str> {
    text.bytes().all(|c| c.is_ascii_alphanumeric()).then_some(text)
}
