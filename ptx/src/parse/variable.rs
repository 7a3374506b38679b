//! Variables: their types, extents and initial values.

use super::cursor::Parser;
use crate::ast::*;
use crate::lex::Token;
use crate::{Error, Type};

/// The most elements that the initial values may have when inner braces are filled up with zeros.
const INITIAL: usize = 1 << 20;

impl Parser<'_> {
    /// `(a, b)`, or nothing.
    pub(super) fn params(&mut self) -> Result<Vec<Variable>, Error> {
        let mut params = Vec::new();
        if self.eat('(') && !self.eat(')') {
            loop {
                params.push(self.param()?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        Ok(params)
    }

    fn param(&mut self) -> Result<Variable, Error> {
        if self.peek() != Token::Dotted("param") {
            return Err(self.expected("`.param`"));
        }
        self.variable()
    }

    /// A variable without its semicolon.
    pub(super) fn variable(&mut self) -> Result<Variable, Error> {
        let linkage = self.linkage();
        let space = match self.peek() {
            Token::Dotted("param") => VarSpace::Param,
            Token::Dotted("shared") => VarSpace::Shared,
            Token::Dotted("global") => VarSpace::Global,
            Token::Dotted("const") => VarSpace::Const,
            Token::Dotted("local") => VarSpace::Local,
            _ => return Err(self.expected("a state space such as `.shared`")),
        };
        self.next();
        self.skip_attributes()?;
        let mut align = self.align()?;
        let ty = self.ty()?;
        if self.eat_dotted("ptr") {
            // The state space and alignment that the pointer points to are hints to the optimiser: they are dropped.
            while matches!(self.peek(), Token::Dotted("global" | "shared" | "const" | "local")) {
                self.next();
            }
            self.align()?;
        } else if align.is_none() {
            align = self.align()?;
        }
        let span = self.span();
        let name = self.name("the variable's name")?;
        let dimensions = self.dimensions()?;
        let inner = dimensions.get(1..).unwrap_or_default();
        let init = if self.eat('=') { self.init(ty, inner)? } else { Vec::new() };
        let extent = self.extent(&dimensions, init.len())?;
        Ok(Variable { linkage, space, align, ty, name, extent, init, span })
    }

    fn align(&mut self) -> Result<Option<u32>, Error> {
        if self.eat_dotted("align") { self.integer("an alignment in bytes").map(Some) } else { Ok(None) }
    }

    /// Skips attributes, such as `.attribute(.managed)`, which tell the driver where to put a variable.
    fn skip_attributes(&mut self) -> Result<(), Error> {
        if self.eat_dotted("attribute") {
            self.expect('(')?;
            while !self.eat(')') {
                if self.next() == Token::End {
                    return Err(self.expected("`)` of these attributes"));
                }
            }
        }
        Ok(())
    }

    pub(super) fn ty(&mut self) -> Result<Type, Error> {
        let ty = match self.peek() {
            Token::Dotted("v2" | "v4" | "v8") => {
                let instead = "declare an array, or a register for each element";
                return Err(self.unsupported("variables and registers that are vectors are", instead));
            }
            Token::Dotted(word) => Type::parse(word),
            _ => None,
        };
        let ty = ty.ok_or_else(|| self.expected("a type such as `.b32`"))?;
        self.next();
        Ok(ty)
    }

    /// The extents of an array, each the size of a `[ ]`; the first may be left open. Empty for a scalar.
    fn dimensions(&mut self) -> Result<Vec<Option<u64>>, Error> {
        let mut dimensions = Vec::new();
        while self.eat('[') {
            let open = dimensions.is_empty() && self.peek() == Token::Punct(']');
            dimensions.push(if open { None } else { Some(self.size()?) });
            self.expect(']')?;
        }
        Ok(dimensions)
    }

    fn size(&mut self) -> Result<u64, Error> {
        let what = "a number of elements, or `]`";
        if self.peek_at(1) == Token::Punct(']') {
            return self.integer(what);
        }
        let at = self.span();
        let size = self.expression(what)?;
        let literal = size.to_string();
        u64::try_from(size).map_err(|_| Error::Literal { at, literal, expected: what.into() })
    }

    /// The number of elements of an array of arrays, which is one array in memory.
    fn extent(&self, dimensions: &[Option<u64>], initial: usize) -> Result<Extent, Error> {
        let Some((first, rest)) = dimensions.split_first() else { return Ok(Extent::Scalar) };
        let first = match first {
            Some(first) => *first,
            None if initial == 0 || rest.is_empty() => return Ok(Extent::Unsized),
            None => return Ok(Extent::Array(initial as u64)),
        };
        let count = rest.iter().try_fold(first, |count, size| count.checked_mul(size.unwrap_or(0)));
        count
            .map(Extent::Array)
            .ok_or_else(|| self.unsupported("arrays of over 2^64 elements are", "use less"))
    }

    /// Initial values, those of inner braces filled up with zeros to the inner extent.
    fn init(&mut self, ty: Type, inner: &[Option<u64>]) -> Result<Vec<Operand>, Error> {
        if !self.eat('{') {
            return self.initial().map(|value| vec![value]);
        }
        let mut values = Vec::new();
        loop {
            match (self.peek(), inner.split_first()) {
                (Token::Punct('{'), Some((_, deeper))) => {
                    let size = inner.iter().try_fold(1u64, |size, n| size.checked_mul(n.unwrap_or(0)));
                    let size = size
                        .and_then(|size| usize::try_from(size).ok())
                        .filter(|&size| values.len() + size <= INITIAL);
                    let size = size.ok_or_else(|| {
                        self.unsupported(
                            "initial values of over a million elements are",
                            "store them in the kernel",
                        )
                    })?;
                    let at = self.span();
                    let mut part = self.init(ty, deeper)?;
                    if part.len() > size {
                        let (expected, found) =
                            (format!("at most {size} values in these braces"), part.len().to_string());
                        return Err(Error::Syntax { at, expected, found });
                    }
                    part.resize(
                        size,
                        if ty.is_int() || ty.is_bits() { Operand::Int(0) } else { Operand::F64(0) },
                    );
                    values.append(&mut part);
                }
                _ => values.push(self.initial()?),
            }
            if self.eat('}') {
                return Ok(values);
            }
            if !self.eat(',') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn initial(&mut self) -> Result<Operand, Error> {
        if (self.peek(), self.peek_at(1)) != (Token::Ident("generic"), Token::Punct('(')) {
            return self.scalar("an initial value");
        }
        self.skip(2);
        let name = self.name("a variable")?;
        self.expect(')')?;
        let offset = if self.eat('+') { self.offset()? } else { 0 };
        Ok(Operand::Generic(name, offset))
    }
}
