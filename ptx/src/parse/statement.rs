//! Statements and instructions.

use super::cursor::Parser;
use super::operand::vector_part;
use crate::ast::*;
use crate::lex::Token;
use crate::{Error, Modifier, Opcode, Special};

/// Blocks nested deeper than this are refused: the parser and every user of the tree recurse.
const MAX_DEPTH: usize = 64;

/// The most vector registers of a declaration, each of which becomes registers with names of their own.
const MAX_VECTORS: u32 = 4096;

/// Instructions that the assembler has and girih does not, and what can be written instead.
fn not_supported(opcode: &str) -> Option<(&'static str, &'static str)> {
    Some(match opcode {
        "multimem" => (
            "instructions on the memory of several GPUs at once, `multimem`, are",
            "use `ld`, `st` and `red` on the memory of each GPU",
        ),
        "tex" | "tld4" | "txq" | "istypep" => {
            ("textures, `tex`, `tld4`, `txq` and `istypep`, are", "read global memory by `ld.global.nc`")
        }
        "suld" | "sust" | "sured" | "suq" => {
            ("surfaces, `suld`, `sust`, `sured` and `suq`, are", "use `ld`, `st` and `red` on global memory")
        }
        "vmad" => ("the video instruction `vmad` is", "use `mad` and `prmt`"),
        _ => return None,
    })
}

impl<'t> Parser<'t> {
    /// Statements up to the end of the text.
    pub(super) fn body(&mut self) -> Result<Vec<Statement>, Error> {
        let mut body = Vec::new();
        while self.peek() != Token::End {
            if self.eat('{') {
                body.push(Statement::Block(self.statements(1)?));
            } else if let Some(loc) = self.loc()? {
                body.push(Statement::Loc(loc));
            } else if !self.skip_section()? {
                body.push(self.statement()?);
            }
        }
        Ok(body)
    }

    /// Statements up to the `}` that closes their block, which is taken.
    pub(super) fn statements(&mut self, depth: usize) -> Result<Vec<Statement>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.unsupported("blocks nested deeper than 64 are", "use labels instead"));
        }
        let mut body = Vec::new();
        while !self.eat('}') {
            if self.eat('{') {
                body.push(Statement::Block(self.statements(depth + 1)?));
            } else if let Some(loc) = self.loc()? {
                body.push(Statement::Loc(loc));
            } else if !self.skip_section()? {
                body.push(self.statement()?);
            }
        }
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, Error> {
        let statement = match (self.peek(), self.peek_at(1)) {
            (Token::Ident(name), Token::Punct(':')) => {
                self.skip(2);
                return Ok(Statement::Label(self.intern(name)));
            }
            (Token::Ident(_) | Token::Punct('@'), _) => match self.special_vector()? {
                Some(moves) => return Ok(moves),
                None => Statement::Inst(self.inst()?),
            },
            (Token::Dotted("reg"), _) => Statement::Reg(self.registers()?),
            (Token::Dotted("branchtargets"), _) => Statement::BranchTargets(self.targets()?),
            (Token::Dotted("pragma"), Token::Quoted(text)) => {
                self.skip(2);
                Statement::Pragma(self.intern(text))
            }
            (
                Token::Dotted(
                    "extern" | "visible" | "weak" | "shared" | "local" | "param" | "global" | "const",
                ),
                _,
            ) => Statement::Variable(self.variable()?),
            (Token::Dotted("calltargets"), _) => Statement::CallTargets(self.targets()?),
            (Token::Dotted("callprototype"), _) => Statement::CallPrototype(self.prototype()?),
            _ => return Err(self.expected("an instruction, a label, a declaration or `}`")),
        };
        self.expect(';')?;
        Ok(statement)
    }

    fn targets(&mut self) -> Result<Vec<Name>, Error> {
        self.next();
        let mut labels = Vec::new();
        loop {
            labels.push(self.name("a label")?);
            if !self.eat(',') {
                return Ok(labels);
            }
        }
    }

    fn prototype(&mut self) -> Result<Prototype, Error> {
        self.next();
        let results = self.params()?;
        self.ident("`_` in the place of the function's name")?;
        let params = self.params()?;
        Ok(Prototype { results, params, noreturn: self.eat_dotted("noreturn") })
    }

    fn registers(&mut self) -> Result<RegDecl, Error> {
        let span = self.span();
        self.next();
        let vector = match self.peek() {
            Token::Dotted("v2") => Some(2),
            Token::Dotted("v4") => Some(4),
            _ => None,
        };
        self.skip(vector.is_some().into());
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
            match vector {
                None => names.push((name, count)),
                Some(parts) => self.vector_registers(&name, count, parts, &mut names)?,
            }
            if !self.eat(',') {
                return Ok(RegDecl { ty, names, span });
            }
        }
    }

    /// Declares a register for each part of registers that are vectors.
    fn vector_registers(
        &mut self,
        name: &Name,
        count: Option<u32>,
        parts: usize,
        names: &mut Vec<(Name, Option<u32>)>,
    ) -> Result<(), Error> {
        if count.is_some_and(|count| count > MAX_VECTORS) {
            return Err(
                self.unsupported("more than 4096 vector registers in a declaration are", "declare fewer")
            );
        }
        let whole: Vec<String> = match count {
            None => vec![name.to_string()],
            Some(count) => (0..count).map(|i| format!("{name}{i}")).collect(),
        };
        for name in whole {
            names.extend((0..parts).map(|part| (vector_part(&name, part), None)));
            self.vectors.insert(name, parts);
        }
        Ok(())
    }

    /// `mov.v4.u32 {a, b, c, d}, %tid;` as a block of a `mov` for each part that is not `_`.
    fn special_vector(&mut self) -> Result<Option<Statement>, Error> {
        let start = self.place();
        let guard = self.guard()?;
        let span = self.span();
        let (Token::Ident("mov"), Token::Dotted("v4"), Token::Dotted(ty)) =
            (self.peek(), self.peek_at(1), self.peek_at(2))
        else {
            self.go_to(start);
            return Ok(None);
        };
        self.skip(3);
        let parts = match self.operand(false, "an operand")? {
            Operand::Vector(parts) if parts.len() == 4 && self.eat(',') => parts,
            _ => {
                self.go_to(start);
                return Ok(None);
            }
        };
        let special = |part: &str| match self.peek() {
            Token::Ident(name) => Special::parse(&format!("{name}.{part}")),
            _ => None,
        };
        let ([Some(x), Some(y), Some(z)], Some(ty)) = (["x", "y", "z"].map(special), Modifier::parse(ty))
        else {
            self.go_to(start);
            return Ok(None);
        };
        self.next();
        self.expect(';')?;
        // The fourth part is always 0.
        let sources = [x, y, z].map(Operand::Special).into_iter().chain([Operand::Int(0)]);
        let moves = parts.into_iter().zip(sources).filter(|(part, _)| *part != Operand::Sink);
        let inst = |(to, from)| {
            let operands = vec![to, from];
            Statement::Inst(Inst {
                guard: guard.clone(),
                opcode: Opcode::Mov,
                modifiers: vec![ty],
                operands,
                span,
            })
        };
        Ok(Some(Statement::Block(moves.map(inst).collect())))
    }

    fn guard(&mut self) -> Result<Option<Guard>, Error> {
        if !self.eat('@') {
            return Ok(None);
        }
        let negated = self.eat('!');
        Ok(Some(Guard { reg: self.name("a predicate register")?, negated }))
    }

    fn inst(&mut self) -> Result<Inst, Error> {
        let guard = self.guard()?;
        let span = self.span();
        let word = self.ident("an opcode")?;
        if let Some((what, instead)) = not_supported(word) {
            return Err(Error::Unsupported { at: span, what, instead });
        }
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
                let what = if operands.is_empty() { "an operand or `;`" } else { "an operand" };
                operands.push(self.operand(opcode == Opcode::Call, what)?);
                if !self.eat(',') {
                    break;
                }
            }
        }
        Ok(Inst { guard, opcode, modifiers, operands, span })
    }
}
