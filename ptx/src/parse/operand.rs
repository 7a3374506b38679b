//! Operands.

use super::cursor::Parser;
use crate::ast::*;
use crate::lex::Token;
use crate::literal::literal;
use crate::{Error, Special};

/// The name of a part of a register that is a vector. PTX has no name for it that can be declared.
pub(super) fn vector_part(name: &str, part: usize) -> Name {
    format!("{name}${}", ["x", "y", "z", "w"][part % 4]).into()
}

impl<'t> Parser<'t> {
    /// An operand; an operand of a `call` may be a list.
    pub(super) fn operand(&mut self, call: bool, what: &str) -> Result<Operand, Error> {
        match self.peek() {
            Token::Punct('[') => self.address().map(Operand::Address),
            Token::Punct('(') if call => {
                self.next();
                self.list().map(Operand::List)
            }
            Token::Punct('{') => {
                self.next();
                self.vector().map(Operand::Vector)
            }
            Token::Punct('!') if !matches!(self.peek_at(1), Token::Number(_) | Token::Punct(_)) => {
                self.next();
                self.name("a predicate register after `!`").map(Operand::Not)
            }
            Token::Ident(first) if self.peek_at(1) == Token::Punct('|') => {
                self.skip(2);
                let second = self.name("a register after `|`")?;
                Ok(Operand::Pair(self.intern(first), second))
            }
            _ => match self.vector_register() {
                Some(vector) => Ok(vector),
                None => self.scalar(what),
            },
        }
    }

    /// Scalars up to `}`, which is taken; the `{` is taken already.
    pub(super) fn vector(&mut self) -> Result<Vec<Operand>, Error> {
        let mut parts = Vec::new();
        loop {
            parts.push(self.scalar("a register or a number")?);
            if self.eat('}') {
                return Ok(parts);
            }
            if !self.eat(',') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    /// Scalars up to `)`, which is taken; the `(` is taken already.
    fn list(&mut self) -> Result<Vec<Operand>, Error> {
        let mut parts = Vec::new();
        if self.eat(')') {
            return Ok(parts);
        }
        loop {
            parts.push(self.scalar("an argument")?);
            if self.eat(')') {
                return Ok(parts);
            }
            if !self.eat(',') {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    /// The parts of a register that is a vector, if one is next; it is taken.
    fn vector_register(&mut self) -> Option<Operand> {
        let Token::Ident(name) = self.peek() else { return None };
        let parts = *self.vectors.get(name)?;
        if matches!(self.peek_at(1), Token::Dotted(_)) && self.is_glued_at(1) {
            return None;
        }
        self.next();
        Some(Operand::Vector((0..parts).map(|part| Operand::Name(vector_part(name, part))).collect()))
    }

    /// A name, a special register, a sink or a number.
    pub(super) fn scalar(&mut self, what: &str) -> Result<Operand, Error> {
        match self.peek() {
            Token::Number(_) | Token::Punct('-' | '(' | '!' | '~') => self.number(what),
            Token::Ident("WARP_SZ") if self.at_operator(1) => self.number(what),
            Token::Ident("_") => {
                self.next();
                Ok(Operand::Sink)
            }
            Token::Ident(name) => {
                let at = self.span();
                self.next();
                let Some(component) = self.glued_component() else {
                    if let Some(special) = Special::parse(name) {
                        return Ok(Operand::Special(special));
                    }
                    let name = self.intern(name);
                    return if self.eat('+') {
                        Ok(Operand::Offset(name, self.offset()?))
                    } else {
                        Ok(Operand::Name(name))
                    };
                };
                if let Some(&parts) = self.vectors.get(name)
                    && let Some(part) =
                        "xyzwrgba".find(component).map(|at| at % 4).filter(|&part| part < parts)
                    && component.len() == 1
                {
                    return Ok(Operand::Name(vector_part(name, part)));
                }
                if matches!(component, "b0" | "b1" | "b2" | "b3" | "h0" | "h1") {
                    return Err(Error::Unsupported {
                        at,
                        what: "the bytes and halves of a register as operands, `.b0` to `.b3`, `.h0` and `.h1`, are",
                        instead: "select them by `prmt` or `bfe`",
                    });
                }
                let found = format!("{name}.{component}");
                let special = Special::parse(&found).map(Operand::Special);
                special.ok_or_else(|| Error::Syntax {
                    at,
                    expected: "a special register such as `%tid.x`".into(),
                    found: format!("`{found}`"),
                })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The `x` of `%tid.x`, taken if the `.x` is next without a blank.
    fn glued_component(&mut self) -> Option<&'t str> {
        let glued = self.is_glued();
        match self.peek() {
            Token::Dotted(component) if glued => {
                self.next();
                Some(component)
            }
            _ => None,
        }
    }

    /// A floating-point literal, or an integer constant expression.
    fn number(&mut self, what: &str) -> Result<Operand, Error> {
        let negative = self.peek() == Token::Punct('-');
        let value = match self.peek_at(negative.into()) {
            Token::Number(text) => literal(text),
            _ => None,
        };
        let float = match value {
            Some(Operand::F32(bits)) => Operand::F32(bits ^ u32::from(negative) << 31),
            Some(Operand::F64(bits)) => Operand::F64(bits ^ u64::from(negative) << 63),
            _ => return self.expression(what).map(Operand::Int),
        };
        self.skip(1 + usize::from(negative));
        Ok(float)
    }

    fn address(&mut self) -> Result<Address, Error> {
        self.expect('[')?;
        let base = match self.peek() {
            Token::Ident(_) => Some(self.name("a register")?),
            _ => None,
        };
        // PTX has no `[a-4]`: a negative offset is added, `[a+-4]`.
        let signed = self.eat('+');
        let offset = if signed || base.is_none() { self.offset()? } else { 0 };
        let mut coordinates = Vec::new();
        if self.eat(',') {
            self.expect('{')?;
            coordinates = self.vector()?;
        }
        if !self.eat(']') {
            return Err(self.expected(if signed || !coordinates.is_empty() {
                "`]`"
            } else {
                "`+`, `,` or `]`"
            }));
        }
        Ok(Address { base, offset, coordinates })
    }

    pub(super) fn offset(&mut self) -> Result<i64, Error> {
        self.expression("an offset in bytes")
    }
}
