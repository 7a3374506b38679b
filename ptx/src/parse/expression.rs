//! Integer constant expressions (PTX ISA, "Constant Expressions", "Integer Constant Expression Evaluation"). The tree
//! has an expression's value in its place.

use super::cursor::Parser;
use crate::Error;
use crate::lex::Token;
use crate::literal::{integer, literal};

/// Parentheses and signs nested deeper than this are refused: the parser recurses.
const MAX_DEPTH: usize = 64;

/// A value of 64 bits, which is signed unless an operand was unsigned.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn of(truth: bool) -> Value {
        Value { bits: truth.into(), unsigned: false }
    }

    fn signed(self) -> i64 {
        self.bits.cast_signed()
    }
}

/// The operators of two operands with how tightly they bind. An operator is before the shorter operators that it
/// starts with, as the first match is taken.
const BINARY: &[(&str, u32)] = &[
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<<", 8),
    (">>", 8),
    ("<=", 7),
    (">=", 7),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
];

/// The value of `a operator b`; `None` for a division by zero.
fn binary(operator: &str, a: Value, b: Value) -> Option<Value> {
    let unsigned = a.unsigned || b.unsigned;
    let less = |a: Value, b: Value| if unsigned { a.bits < b.bits } else { a.signed() < b.signed() };
    let shift = |shifted: Option<u64>| Value { bits: shifted.unwrap_or(0), unsigned: a.unsigned };
    // A shift by more than 32 bits count shifts everything out, as one by 64 does.
    let amount = u32::try_from(b.bits).unwrap_or(u32::MAX);
    let number = |bits: u64| Value { bits, unsigned };
    Some(match operator {
        "||" => Value::of(a.bits != 0 || b.bits != 0),
        "&&" => Value::of(a.bits != 0 && b.bits != 0),
        "==" => Value::of(a.bits == b.bits),
        "!=" => Value::of(a.bits != b.bits),
        "<" => Value::of(less(a, b)),
        ">" => Value::of(less(b, a)),
        "<=" => Value::of(!less(b, a)),
        ">=" => Value::of(!less(a, b)),
        "<<" => shift(a.bits.checked_shl(amount)),
        ">>" if a.unsigned => shift(a.bits.checked_shr(amount)),
        ">>" => shift(Some((a.signed() >> amount.min(63)).cast_unsigned())),
        "|" => Value { bits: a.bits | b.bits, unsigned: true },
        "^" => Value { bits: a.bits ^ b.bits, unsigned: true },
        "&" => Value { bits: a.bits & b.bits, unsigned: true },
        "+" => number(a.bits.wrapping_add(b.bits)),
        "-" => number(a.bits.wrapping_sub(b.bits)),
        "*" => number(a.bits.wrapping_mul(b.bits)),
        _ if b.bits == 0 => return None,
        _ if unsigned => number(a.bits / b.bits),
        _ => number(a.signed().wrapping_div(b.signed()).cast_unsigned()),
    })
}

impl Parser<'_> {
    /// An integer constant expression; an error names `what` if none starts here.
    pub(super) fn expression(&mut self, what: &str) -> Result<i64, Error> {
        self.conditional(what, 0).map(Value::signed)
    }

    /// Whether the token `ahead` of the next one begins an operator of two operands, or is `?`.
    pub(super) fn at_operator(&self, ahead: usize) -> bool {
        let Token::Punct(c) = self.peek_at(ahead) else { return false };
        c == '?' || BINARY.iter().any(|(text, _)| text.starts_with(c))
    }

    fn conditional(&mut self, what: &str, depth: usize) -> Result<Value, Error> {
        let condition = self.joined(1, what, depth)?;
        if !self.eat('?') {
            return Ok(condition);
        }
        let yes = self.conditional("a constant after `?`", depth + 1)?;
        self.expect(':')?;
        let no = self.conditional("a constant after `:`", depth + 1)?;
        Ok(if condition.bits != 0 { yes } else { no })
    }

    /// Operands joined by operators that bind at least as tightly as `least`, from the left.
    fn joined(&mut self, least: u32, what: &str, depth: usize) -> Result<Value, Error> {
        let mut value = self.single(what, depth)?;
        while let Some(&(operator, binds)) = self.operator().filter(|(_, binds)| *binds >= least) {
            let at = self.span();
            self.skip(operator.len());
            let right = self.joined(binds + 1, "a constant after an operator", depth + 1)?;
            value = binary(operator, value, right).ok_or_else(|| Error::Literal {
                at,
                literal: "/ 0".into(),
                expected: "a divisor other than 0".into(),
            })?;
        }
        Ok(value)
    }

    /// The operator of two operands that is next.
    fn operator(&self) -> Option<&'static (&'static str, u32)> {
        BINARY.iter().find(|(text, _)| {
            let mut places = text.chars().enumerate();
            places.all(|(i, c)| self.peek_at(i) == Token::Punct(c) && (i == 0 || self.is_glued_at(i)))
        })
    }

    /// A literal, `WARP_SZ`, an expression in parentheses, or one of these after signs and casts.
    fn single(&mut self, what: &str, depth: usize) -> Result<Value, Error> {
        if depth > MAX_DEPTH {
            return Err(self.unsupported("constants nested deeper than 64 are", "write the number"));
        }
        match self.peek() {
            Token::Number(text) => {
                let value = integer(text).ok_or_else(|| Error::Literal {
                    at: self.span(),
                    literal: text.into(),
                    expected: match literal(text) {
                        Some(_) => "an integer".into(),
                        None => "a number of at most 64 bits".into(),
                    },
                })?;
                self.next();
                Ok(Value { bits: value, unsigned: text.ends_with('U') || value > i64::MAX.cast_unsigned() })
            }
            Token::Ident("WARP_SZ") => {
                self.next();
                Ok(Value { bits: 32, unsigned: false })
            }
            Token::Punct(sign @ ('+' | '-' | '!' | '~')) => {
                self.next();
                let value = self.single("a constant after a sign", depth + 1)?;
                Ok(match sign {
                    '-' => Value { bits: value.bits.wrapping_neg(), ..value },
                    '!' => Value::of(value.bits == 0),
                    '~' => Value { bits: !value.bits, unsigned: true },
                    _ => value,
                })
            }
            Token::Punct('(') => {
                self.next();
                let unsigned = self.eat_dotted("u64");
                if unsigned || self.eat_dotted("s64") {
                    self.expect(')')?;
                    let value = self.single("a constant after a cast", depth + 1)?;
                    return Ok(Value { unsigned, ..value });
                }
                let value = self.conditional("a constant", depth + 1)?;
                self.expect(')')?;
                Ok(value)
            }
            _ => Err(self.expected(what)),
        }
    }
}
