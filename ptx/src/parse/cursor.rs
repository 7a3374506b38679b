//! The parser's position among the tokens.

use std::collections::HashMap;

use crate::lex::{Lexeme, Token, lex};
use crate::literal::integer;
use crate::{Error, Name, Span};

pub(super) struct Parser<'t> {
    /// The tokens, of which `Token::End` is the last and is never passed.
    tokens: Vec<Lexeme<'t>>,
    at: usize,
    /// One allocation for each name, however often the name is in the text.
    names: HashMap<&'t str, Name>,
    /// The strings of the `.debug_str` section, by their labels.
    strings: HashMap<&'t str, Name>,
    /// The registers that are vectors, with the number of their parts.
    pub(super) vectors: HashMap<String, usize>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, Error> {
        let tokens = lex(text)?;
        let strings = super::debug::strings(&tokens);
        Ok(Parser { tokens, at: 0, names: HashMap::new(), strings, vectors: HashMap::new() })
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Token<'t> {
        self.tokens.get(self.at + ahead).map_or(Token::End, |lexeme| lexeme.token)
    }

    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(Span::default(), |lexeme| lexeme.span)
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.skip(1);
        token
    }

    /// Passes `count` tokens.
    pub(super) fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.tokens.len() - 1);
    }

    /// Whether no blank is before the next token.
    pub(super) fn is_glued(&self) -> bool {
        self.is_glued_at(0)
    }

    pub(super) fn is_glued_at(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|lexeme| lexeme.glued)
    }

    /// The index of the next token.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Goes back to the token of index `place`.
    pub(super) fn go_to(&mut self, place: usize) {
        self.at = place.min(self.at);
    }

    /// Takes `c` if it is next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Token::Punct(c);
        if found {
            self.next();
        }
        found
    }

    /// Takes `.word` if it is next.
    pub(super) fn eat_dotted(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Dotted(word);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, c: char) -> Result<(), Error> {
        if self.eat(c) { Ok(()) } else { Err(self.expected(&format!("`{c}`"))) }
    }

    /// The error that `what` should have been next.
    pub(super) fn expected(&self, what: &str) -> Error {
        Error::Syntax { at: self.span(), expected: what.into(), found: self.peek().to_string() }
    }

    pub(super) fn unsupported(&self, what: &'static str, instead: &'static str) -> Error {
        Error::Unsupported { at: self.span(), what, instead }
    }

    pub(super) fn ident(&mut self, what: &str) -> Result<&'t str, Error> {
        match self.peek() {
            Token::Ident(text) => {
                self.next();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<Name, Error> {
        let text = self.ident(what)?;
        Ok(self.intern(text))
    }

    pub(super) fn intern(&mut self, text: &'t str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    /// The string at a label of the `.debug_str` section.
    pub(super) fn string(&self, label: &str) -> Option<Name> {
        self.strings.get(label).cloned()
    }

    /// A non-negative integer literal that fits `T`.
    pub(super) fn integer<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, Error> {
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
