//! Tokens of PTX text. Comments and blanks separate tokens and are dropped.

use crate::{Error, Span};

/// A token, borrowed from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// `ld`, `%r1`, `_`.
    Ident(&'t str),
    /// The word after a dot: `f32`, `2d`, `shared::cta`.
    Dotted(&'t str),
    /// A literal as written: `16`, `0xFFU`, `1.5`, `0f3F800000`.
    Number(&'t str),
    /// The text between double quotes.
    Quoted(&'t str),
    /// One character of punctuation.
    Punct(char),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Ident(text) | Token::Number(text) => write!(f, "`{text}`"),
            Token::Dotted(text) => write!(f, "`.{text}`"),
            Token::Quoted(text) => write!(f, "`\"{text}\"`"),
            Token::Punct(c) => write!(f, "`{c}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A token and where it stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme<'t> {
    pub(crate) token: Token<'t>,
    pub(crate) span: Span,
    /// Whether no blank is before the token, which tells `%tid.x` from `%tid .x`.
    pub(crate) glued: bool,
}

/// All tokens of `text`, `Token::End` last.
pub(crate) fn lex(text: &str) -> Result<Vec<Lexeme<'_>>, Error> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        let glued = !lexer.skip_blanks()?;
        let span = lexer.span();
        let token = lexer.token()?;
        tokens.push(Lexeme { token, span, glued });
        if token == Token::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

impl<'t> Lexer<'t> {
    fn span(&self) -> Span {
        Span { line: self.line, column: self.column }
    }

    /// Takes the next `bytes` of the text, which end at a character's boundary.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        for c in taken.chars() {
            if c == '\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        taken
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'t str {
        self.take(self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len()))
    }

    /// Skips blanks and comments; returns whether there were any.
    fn skip_blanks(&mut self) -> Result<bool, Error> {
        let before = self.rest.len();
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest.find("*/") else {
                    return Err(self.syntax("`*/` at the end of this comment", "the end of the text"));
                };
                self.take(end + 2);
            } else {
                return Ok(self.rest.len() != before);
            }
        }
    }

    fn token(&mut self) -> Result<Token<'t>, Error> {
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        if first.is_ascii_digit() {
            return Ok(Token::Number(self.take(number_length(self.rest))));
        }
        if is_ident(first) || first == '%' {
            let tail = self.rest[1..].find(|c| !is_ident(c)).map_or(self.rest.len(), |at| at + 1);
            return Ok(Token::Ident(self.take(tail)));
        }
        match first {
            '.' => self.dotted(),
            '"' => self.quoted(),
            ',' | ';' | ':' | '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | '+' | '-' | '!' | '|' | '@'
            | '=' | '*' | '/' | '&' | '^' | '~' | '?' => {
                self.take(1);
                Ok(Token::Punct(first))
            }
            _ => Err(self.syntax("a token of PTX", &format!("`{}`", first.escape_debug()))),
        }
    }

    fn dotted(&mut self) -> Result<Token<'t>, Error> {
        let body = &self.rest[1..];
        let mut length = word_length(body);
        while length > 0 && body[length..].starts_with("::") && word_length(&body[length + 2..]) > 0 {
            length += 2 + word_length(&body[length + 2..]);
        }
        if length == 0 {
            return Err(self.syntax("a word after `.`", "none"));
        }
        Ok(Token::Dotted(&self.take(1 + length)[1..]))
    }

    fn quoted(&mut self) -> Result<Token<'t>, Error> {
        match self.rest[1..].find(['"', '\n']) {
            Some(end) if self.rest[1 + end..].starts_with('"') => {
                Ok(Token::Quoted(&self.take(end + 2)[1..=end]))
            }
            _ => Err(self.syntax("`\"` at the end of this string", "the end of the line")),
        }
    }

    fn syntax(&self, expected: &str, found: &str) -> Error {
        Error::Syntax { at: self.span(), expected: expected.into(), found: found.into() }
    }
}

fn is_ident(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Length in bytes of the literal that `text` starts with: letters and digits, and in a decimal literal also a point
/// and an exponent's sign.
fn number_length(text: &str) -> usize {
    let word = word_length(text);
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut length = word;
    if digits == word && text[word..].starts_with('.') {
        length += 1 + word_length(&text[word + 1..]);
    }
    let decimal = digits == word || text[digits..word].eq_ignore_ascii_case("e");
    if decimal && text[..length].ends_with(['e', 'E']) && text[length..].starts_with(['+', '-']) {
        length += 1 + word_length(&text[length + 1..]);
    }
    length
}
