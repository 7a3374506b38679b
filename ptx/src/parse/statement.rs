//! Statements and instructions.

use super::cursor::Parser;
use crate::ast::*;
use crate::lex::Token;
use crate::{Error, Modifier, Opcode};

/// Blocks nested deeper than this are refused: the parser and every user of the tree recurse.
const MAX_DEPTH: usize = 64;

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
            (Token::Ident(_) | Token::Punct('@'), _) => Statement::Inst(self.inst()?),
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
