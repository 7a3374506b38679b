//! Modules, kernels' heads and variables.

use super::cursor::Parser;
use crate::ast::*;
use crate::lex::Token;
use crate::{Error, Type};

/// The words of [`Linkage`].
macro_rules! LINKAGES {
    () => {
        "visible" | "extern" | "weak" | "common"
    };
}

impl Parser<'_> {
    pub(super) fn module(mut self) -> Result<Module, Error> {
        let version = self.version()?;
        let target = self.target()?;
        if !self.eat_dotted("address_size") {
            return Err(self.expected("`.address_size 64`"));
        }
        let at = self.span();
        if self.integer::<u32>("`64`")? != 64 {
            return Err(Error::Unsupported {
                at,
                what: "addresses of 32 bits are",
                instead: "use `.address_size 64`",
            });
        }
        let mut items = Vec::new();
        while self.peek() != Token::End {
            if !self.skip_debug()? {
                items.push(self.item()?);
            }
        }
        Ok(Module { version, target, items })
    }

    fn version(&mut self) -> Result<(u8, u8), Error> {
        if !self.eat_dotted("version") {
            return Err(self.expected("`.version`"));
        }
        let version = match self.peek() {
            Token::Number(text) => {
                text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
            }
            _ => None,
        };
        let version = version.ok_or_else(|| self.expected("a version such as `8.0`"))?;
        self.next();
        Ok(version)
    }

    fn target(&mut self) -> Result<Target, Error> {
        if !self.eat_dotted("target") {
            return Err(self.expected("`.target`"));
        }
        let what = "a target such as `sm_80` or `sm_90a`";
        let Token::Ident(text) = self.peek() else { return Err(self.expected(what)) };
        let target = text.strip_prefix("sm_").and_then(|sm| {
            let (sm, suffix) = match sm.strip_suffix(['a', 'f']) {
                Some(number) => (number, sm.chars().last()),
                None => (sm, None),
            };
            sm.bytes().all(|c| c.is_ascii_digit()).then_some(())?;
            Some(Target { sm: sm.parse().ok()?, suffix })
        });
        let target = target.ok_or_else(|| self.expected(what))?;
        self.next();
        while self.eat(',') {
            self.ident("a target's option, such as `debug`")?;
        }
        Ok(target)
    }

    /// Skips `.file ...`, `.loc ...` (to the line's end) and `.section name { ... }`; whether there was one.
    pub(super) fn skip_debug(&mut self) -> Result<bool, Error> {
        match self.peek() {
            Token::Dotted("file" | "loc") => {
                let line = self.span().line;
                while self.peek() != Token::End && self.span().line == line {
                    self.next();
                }
                Ok(true)
            }
            Token::Dotted("section") => {
                while !self.eat('{') {
                    if self.next() == Token::End {
                        return Err(self.expected("`{` of this section"));
                    }
                }
                while !self.eat('}') {
                    if self.next() == Token::End {
                        return Err(self.expected("`}` of this section"));
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn item(&mut self) -> Result<Item, Error> {
        let ahead = usize::from(matches!(self.peek(), Token::Dotted(LINKAGES!())));
        match self.peek_at(ahead) {
            Token::Dotted("entry") => self.kernel().map(Item::Kernel),
            Token::Dotted("func") => self.function().map(Item::Function),
            Token::Dotted("global" | "const" | "shared") => {
                let variable = self.variable()?;
                self.expect(';')?;
                Ok(Item::Variable(variable))
            }
            _ => Err(self.expected("`.entry`, `.func`, or a variable's `.global`, `.const` or `.shared`")),
        }
    }

    fn linkage(&mut self) -> Linkage {
        let linkage = match self.peek() {
            Token::Dotted("visible") => Linkage::Visible,
            Token::Dotted("extern") => Linkage::External,
            Token::Dotted("weak") => Linkage::Weak,
            Token::Dotted("common") => Linkage::Common,
            _ => return Linkage::Internal,
        };
        self.next();
        linkage
    }

    fn kernel(&mut self) -> Result<Kernel, Error> {
        let linkage = self.linkage();
        if !self.eat_dotted("entry") {
            return Err(self.expected("`.entry`"));
        }
        let span = self.span();
        let name = self.name("the kernel's name")?;
        let params = self.params()?;
        let mut directives = Vec::new();
        while self.peek() != Token::Punct('{') {
            directives.push(self.directive()?);
        }
        self.expect('{')?;
        let body = self.statements(1)?;
        Ok(Kernel { linkage, name, params, directives, body, span })
    }

    fn function(&mut self) -> Result<Function, Error> {
        let linkage = self.linkage();
        self.next();
        let results = self.params()?;
        let span = self.span();
        let name = self.name("the function's name")?;
        let params = self.params()?;
        let noreturn = self.eat_dotted("noreturn");
        let body = match self.peek() {
            Token::Punct('{') => {
                self.next();
                Some(self.statements(1)?)
            }
            _ => {
                self.expect(';')?;
                None
            }
        };
        Ok(Function { linkage, results, name, params, noreturn, body, span })
    }

    /// `(a, b)`, or nothing.
    fn params(&mut self) -> Result<Vec<Variable>, Error> {
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

    fn directive(&mut self) -> Result<Directive, Error> {
        let expected = self.expected("a performance directive such as `.maxntid`, or the kernel's `{`");
        let Token::Dotted(word) = self.next() else { return Err(expected) };
        Ok(match word {
            "maxntid" => Directive::MaxNtid(self.extents()?),
            "reqntid" => Directive::ReqNtid(self.extents()?),
            "reqnctapercluster" => Directive::ReqNctaPerCluster(self.extents()?),
            "minnctapersm" => Directive::MinNctaPerSm(self.integer("a number of blocks")?),
            "maxnreg" => Directive::MaxNreg(self.integer("a number of registers")?),
            "maxclusterrank" => Directive::MaxClusterRank(self.integer("a number of blocks")?),
            "explicitcluster" => Directive::ExplicitCluster,
            _ => return Err(expected),
        })
    }

    /// One to three extents; missing ones are 1.
    fn extents(&mut self) -> Result<[u32; 3], Error> {
        let mut extents = [1; 3];
        for (i, extent) in extents.iter_mut().enumerate() {
            if i > 0 && !self.eat(',') {
                break;
            }
            *extent = self.integer("an extent in x, y or z")?;
        }
        Ok(extents)
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
        let mut align = self.align()?;
        let ty = self.ty()?;
        if self.eat_dotted("ptr") {
            // What the pointer points to is a hint to the optimiser: it is dropped.
            while matches!(self.peek(), Token::Dotted("global" | "shared" | "const" | "local")) {
                self.next();
            }
            self.align()?;
        } else if align.is_none() {
            align = self.align()?;
        }
        let span = self.span();
        let name = self.name("the variable's name")?;
        let extent = self.extent()?;
        let init = if self.eat('=') { self.init()? } else { Vec::new() };
        Ok(Variable { linkage, space, align, ty, name, extent, init, span })
    }

    fn align(&mut self) -> Result<Option<u32>, Error> {
        if self.eat_dotted("align") { self.integer("an alignment in bytes").map(Some) } else { Ok(None) }
    }

    pub(super) fn ty(&mut self) -> Result<Type, Error> {
        let ty = match self.peek() {
            Token::Dotted(word) => Type::parse(word),
            _ => None,
        };
        let ty = ty.ok_or_else(|| self.expected("a type such as `.b32`"))?;
        self.next();
        Ok(ty)
    }

    fn extent(&mut self) -> Result<Extent, Error> {
        if !self.eat('[') {
            return Ok(Extent::Scalar);
        }
        let extent = match self.peek() {
            Token::Punct(']') => Extent::Unsized,
            _ => Extent::Array(self.integer("a number of elements, or `]`")?),
        };
        self.expect(']')?;
        if self.peek() == Token::Punct('[') {
            return Err(self.unsupported("arrays of arrays are", "declare `[rows*columns]` as one number"));
        }
        Ok(extent)
    }

    fn init(&mut self) -> Result<Vec<Operand>, Error> {
        if !self.eat('{') {
            return self.initial().map(|value| vec![value]);
        }
        let mut values = Vec::new();
        loop {
            if self.peek() == Token::Punct('{') {
                return Err(self.unsupported("initial values in nested braces are", "list them in one pair"));
            }
            values.push(self.initial()?);
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
