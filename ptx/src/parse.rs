//! The parser: recursive descent over the tokens of [`lex`](crate::lex), one function a construct of the grammar.

use std::collections::HashMap;

use crate::ast::*;
use crate::lex::{Lexeme, Token, lex};
use crate::literal::{integer, literal};
use crate::{Error, Modifier, Opcode, Special, Type};

/// Blocks nested deeper than this are refused: the parser and every user of the tree recurse.
const MAX_DEPTH: usize = 64;

impl Module {
    /// Parses PTX text. Comments, `.file`, `.loc` and `.section` are dropped.
    ///
    /// # Errors
    /// The first thing in the text that isn't PTX, or isn't supported, with its line and column.
    ///
    /// ```
    /// # use girih_ptx::Module;
    /// let module = Module::parse(".version 8.0 .target sm_80 .address_size 64 .visible .entry empty() { ret; }")?;
    /// assert_eq!(module.target.sm, 80);
    /// assert_eq!(Module::parse(&module.to_string())?, module);
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Module, Error> {
        Parser { tokens: lex(text)?, at: 0, names: HashMap::new() }.module()
    }
}

impl std::str::FromStr for Module {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Module::parse(text)
    }
}

struct Parser<'t> {
    /// `Token::End` is last and is never passed.
    tokens: Vec<Lexeme<'t>>,
    at: usize,
    /// One allocation a name, however often it stands in the text.
    names: HashMap<&'t str, Name>,
}

/// Tokens.
impl<'t> Parser<'t> {
    fn peek(&self) -> Token<'t> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token<'t> {
        self.tokens.get(self.at + ahead).map_or(Token::End, |lexeme| lexeme.token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(Span::default(), |lexeme| lexeme.span)
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes `c` if it is next.
    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Token::Punct(c);
        if found {
            self.next();
        }
        found
    }

    /// Takes `.word` if it is next.
    fn eat_dotted(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Dotted(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, c: char) -> Result<(), Error> {
        if self.eat(c) { Ok(()) } else { Err(self.expected(&format!("`{c}`"))) }
    }

    /// The error that `what` should have been next.
    fn expected(&self, what: &str) -> Error {
        Error::Syntax { at: self.span(), expected: what.into(), found: self.peek().to_string() }
    }

    fn unsupported(&self, what: &'static str, instead: &'static str) -> Error {
        Error::Unsupported { at: self.span(), what, instead }
    }

    fn ident(&mut self, what: &str) -> Result<&'t str, Error> {
        match self.peek() {
            Token::Ident(text) => {
                self.next();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn name(&mut self, what: &str) -> Result<Name, Error> {
        let text = self.ident(what)?;
        Ok(self.intern(text))
    }

    fn intern(&mut self, text: &'t str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    /// A non-negative integer literal that fits `T`.
    fn integer<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, Error> {
        let at = self.span();
        let Token::Number(text) = self.peek() else { return Err(self.expected(what)) };
        self.next();
        integer(text).and_then(|value| value.try_into().ok()).ok_or_else(|| Error::Literal {
            at,
            literal: text.into(),
            expected: what.into(),
        })
    }
}

/// Modules and declarations.
impl Parser<'_> {
    fn module(mut self) -> Result<Module, Error> {
        let version = self.version()?;
        let target = self.target()?;
        if !self.eat_dotted("address_size") {
            return Err(self.expected("`.address_size 64`"));
        }
        let at = self.tokens.get(self.at).map_or(Span::default(), |lexeme| lexeme.span);
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
    fn skip_debug(&mut self) -> Result<bool, Error> {
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
        let ahead = usize::from(matches!(self.peek(), Token::Dotted("visible" | "extern" | "weak")));
        match self.peek_at(ahead) {
            Token::Dotted("entry") => self.kernel().map(Item::Kernel),
            Token::Dotted("func") => {
                Err(self.unsupported("device functions are", "inline them into the kernel"))
            }
            Token::Dotted("global" | "const" | "shared") => {
                let variable = self.variable()?;
                self.expect(';')?;
                Ok(Item::Variable(variable))
            }
            _ => Err(self.expected("`.entry`, or a variable's `.global`, `.const` or `.shared`")),
        }
    }

    fn kernel(&mut self) -> Result<Kernel, Error> {
        let visible = self.eat_dotted("visible");
        if !self.eat_dotted("entry") {
            return Err(self.expected("`.entry`"));
        }
        let span = self.span();
        let name = self.name("the kernel's name")?;
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
        let mut directives = Vec::new();
        while self.peek() != Token::Punct('{') {
            directives.push(self.directive()?);
        }
        self.expect('{')?;
        let body = self.statements(1)?;
        Ok(Kernel { visible, name, params, directives, body, span })
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
    fn variable(&mut self) -> Result<Variable, Error> {
        let external = self.eat_dotted("extern");
        let visible = self.eat_dotted("visible");
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
        Ok(Variable { external, visible, space, align, ty, name, extent, init, span })
    }

    fn align(&mut self) -> Result<Option<u32>, Error> {
        if self.eat_dotted("align") { self.integer("an alignment in bytes").map(Some) } else { Ok(None) }
    }

    fn ty(&mut self) -> Result<Type, Error> {
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
        if self.eat('{') { self.vector() } else { self.scalar("an initial value").map(|value| vec![value]) }
    }
}

/// Statements and instructions.
impl<'t> Parser<'t> {
    /// Statements up to the `}` that closes them, which is taken.
    fn statements(&mut self, depth: usize) -> Result<Vec<Statement>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.unsupported("blocks nested deeper than 64 are", "use labels instead"));
        }
        let mut body = Vec::new();
        while !self.eat('}') {
            if self.eat('{') {
                body.push(Statement::Block(self.statements(depth + 1)?));
            } else if !self.skip_debug()? {
                body.push(self.statement()?);
            }
        }
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, Error> {
        let statement = match (self.peek(), self.peek_at(1)) {
            (Token::Ident(name), Token::Punct(':')) => {
                self.at += 2;
                return Ok(Statement::Label(self.intern(name)));
            }
            (Token::Ident(_) | Token::Punct('@'), _) => Statement::Inst(self.inst()?),
            (Token::Dotted("reg"), _) => Statement::Reg(self.registers()?),
            (Token::Dotted("pragma"), Token::Quoted(text)) => {
                self.at += 2;
                Statement::Pragma(self.intern(text))
            }
            (Token::Dotted("extern" | "shared" | "local" | "param" | "global" | "const"), _) => {
                Statement::Variable(self.variable()?)
            }
            _ => return Err(self.expected("an instruction, a label, a declaration or `}`")),
        };
        self.expect(';')?;
        Ok(statement)
    }

    fn registers(&mut self) -> Result<RegDecl, Error> {
        let span = self.span();
        self.next();
        let ty = self.ty()?;
        let mut names = Vec::new();
        loop {
            let name = self.name("a register's name")?;
            let count = if self.eat('<') {
                let count = self.integer("a number of registers")?;
                self.expect('>')?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.eat(',') {
                return Ok(RegDecl { ty, names, span });
            }
        }
    }

    fn inst(&mut self) -> Result<Inst, Error> {
        let guard = if self.eat('@') {
            let negated = self.eat('!');
            Some(Guard { reg: self.name("a predicate register")?, negated })
        } else {
            None
        };
        let span = self.span();
        let word = self.ident("an opcode")?;
        let opcode =
            Opcode::parse(word).ok_or_else(|| Error::UnknownOpcode { at: span, word: word.into() })?;
        let mut modifiers = Vec::new();
        while let Token::Dotted(word) = self.peek() {
            modifiers.push(Modifier::parse(word).ok_or_else(|| Error::UnknownModifier {
                at: self.span(),
                word: word.into(),
                opcode: opcode.to_string(),
            })?);
            self.next();
        }
        let mut operands = Vec::new();
        if self.peek() != Token::Punct(';') {
            loop {
                operands.push(self.operand(if operands.is_empty() {
                    "an operand or `;`"
                } else {
                    "an operand"
                })?);
                if !self.eat(',') {
                    break;
                }
            }
        }
        Ok(Inst { guard, opcode, modifiers, operands, span })
    }

    fn operand(&mut self, what: &str) -> Result<Operand, Error> {
        match self.peek() {
            Token::Punct('[') => self.address().map(Operand::Address),
            Token::Punct('(') => {
                Err(self.unsupported("operands in parentheses are", "there are no calls yet"))
            }
            Token::Punct('{') => {
                self.next();
                self.vector().map(Operand::Vector)
            }
            Token::Punct('!') => {
                self.next();
                self.name("a predicate register after `!`").map(Operand::Not)
            }
            Token::Ident(first) if self.peek_at(1) == Token::Punct('|') => {
                self.at += 2;
                let second = self.name("a register after `|`")?;
                Ok(Operand::Pair(self.intern(first), second))
            }
            _ => self.scalar(what),
        }
    }

    /// Scalars up to `}`, which is taken; the `{` was.
    fn vector(&mut self) -> Result<Vec<Operand>, Error> {
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

    /// A name, a special register, a sink or a number.
    fn scalar(&mut self, what: &str) -> Result<Operand, Error> {
        match self.peek() {
            Token::Punct('-') | Token::Number(_) => self.number(what),
            Token::Ident("_") => {
                self.next();
                Ok(Operand::Sink)
            }
            Token::Ident(name) => {
                let at = self.span();
                self.next();
                let Some(component) = self.glued_component() else {
                    return Ok(Special::parse(name)
                        .map_or_else(|| Operand::Name(self.intern(name)), Operand::Special));
                };
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

    /// The `x` of `%tid.x`, taken if it is next without a blank.
    fn glued_component(&mut self) -> Option<&'t str> {
        let glued = self.tokens.get(self.at).is_some_and(|lexeme| lexeme.glued);
        match self.peek() {
            Token::Dotted(component) if glued => {
                self.next();
                Some(component)
            }
            _ => None,
        }
    }

    fn number(&mut self, what: &str) -> Result<Operand, Error> {
        let at = self.span();
        let negative = self.eat('-');
        let Token::Number(text) = self.peek() else { return Err(self.expected(what)) };
        self.next();
        let value = literal(text).map(|value| match value {
            Operand::Int(value) if negative => Operand::Int(value.wrapping_neg()),
            Operand::F32(bits) if negative => Operand::F32(bits ^ 1 << 31),
            Operand::F64(bits) if negative => Operand::F64(bits ^ 1 << 63),
            value => value,
        });
        value.ok_or_else(|| Error::Literal {
            at,
            literal: text.into(),
            expected: "a number of at most 64 bits".into(),
        })
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

    fn offset(&mut self) -> Result<i64, Error> {
        let at = self.span();
        match self.number("an offset in bytes")? {
            Operand::Int(offset) => Ok(offset),
            other => Err(Error::Literal {
                at,
                literal: other.to_string(),
                expected: "a whole number of bytes".into(),
            }),
        }
    }
}
