//! The tokens of a line of text.

use girih_tensor::DType;

use super::constant_bits;
use crate::error::{Error, Result};
use crate::ir::{DTYPES, Dims, Known, MAX_RANK, Type};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, with dots.
    Word(String),
    /// `%3`.
    Value(String),
    /// A token that begins like a number.
    Number(String),
    /// A string in quotes.
    Text(String),
    /// Anything else.
    Sign(char),
}

pub(super) struct Line {
    pub(super) number: usize,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
}

impl Line {
    pub(super) fn new(number: usize, text: &str) -> Result<Line> {
        let mut line = Line { number, tokens: Vec::new(), at: 0 };
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let (token, length) = line.token(first, rest)?;
            line.tokens.push(token);
            rest = rest[length..].trim_start();
        }
        Ok(line)
    }

    fn token(&self, first: char, rest: &str) -> Result<(Token, usize)> {
        let run = |from: usize, more: &str| {
            let inside = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
            rest[from..].find(|c: char| !inside(c)).map_or(rest.len(), |n| n + from)
        };
        Ok(match first {
            '%' => {
                let end = run(1, "_");
                (Token::Value(rest[1..end].to_string()), end)
            }
            '"' => self.text(rest)?,
            c if c.is_ascii_digit() || c == '-' => {
                // A sign is part of a number that it begins, and of an exponent.
                let mut end = run(1, ".");
                let decimal = !rest.starts_with("0x");
                if decimal && rest[..end].ends_with('e') && rest[end..].starts_with(['-', '+']) {
                    end = run(end + 1, "");
                }
                // `%3..%4` contains no numbers, but `0..` must not be read as a number `0.`.
                (Token::Number(rest[..end].to_string()), end)
            }
            c if c.is_ascii_alphabetic() || c == '_' || c == '@' => {
                let end = run(1, "_.");
                (Token::Word(rest[..end].to_string()), end)
            }
            c => (Token::Sign(c), c.len_utf8()),
        })
    }

    fn text(&self, rest: &str) -> Result<(Token, usize)> {
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return Ok((Token::Text(text), at + 1)),
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('0') => text.push('\0'),
                    Some('u') => {
                        let code: String =
                            chars.by_ref().map(|(_, c)| c).skip(1).take_while(|&c| c != '}').collect();
                        let c = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                        text.push(c.ok_or_else(|| self.error(format!("`\\u{{{code}}}` is no character")))?);
                    }
                    Some(c) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(self.error("a string without an end"))
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::Text { line: self.number, message: message.into() }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// An error with the token that is here and the accepted one.
    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            None => "the end of the line".to_string(),
            Some(Token::Word(text) | Token::Number(text)) => format!("`{text}`"),
            Some(Token::Value(name)) => format!("`%{name}`"),
            Some(Token::Text(text)) => format!("{text:?}"),
            Some(Token::Sign(c)) => format!("`{c}`"),
        };
        Err(self.error(format!("{what} is accepted here, not {found}")))
    }

    pub(super) fn sign(&mut self, sign: char) -> Result {
        if self.has(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    /// Consumes a sign if it is here.
    pub(super) fn has(&mut self, sign: char) -> bool {
        let has = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(has);
        has
    }

    /// Consumes a word if it is here.
    pub(super) fn has_word(&mut self, word: &str) -> bool {
        let has = matches!(self.peek(), Some(Token::Word(found)) if found == word);
        self.at += usize::from(has);
        has
    }

    pub(super) fn keyword(&mut self, word: &str) -> Result {
        if self.has_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// Consumes a token if `is` accepts it.
    pub(super) fn take<T>(&mut self, what: &str, is: impl FnOnce(&Token) -> Option<T>) -> Result<T> {
        let Some(found) = self.peek().and_then(is) else { return self.expected(what) };
        self.at += 1;
        Ok(found)
    }

    /// Consumes a word.
    pub(super) fn word(&mut self, what: &str) -> Result<String> {
        self.take(what, |token| if let Token::Word(word) = token { Some(word.clone()) } else { None })
    }

    /// Consumes a name, in quotes or not.
    pub(super) fn name(&mut self) -> Result<String> {
        if let Some(Token::Text(_)) = self.peek() { self.text_token() } else { self.word("a name") }
    }

    pub(super) fn text_token(&mut self) -> Result<String> {
        self.take("a string", |token| if let Token::Text(text) = token { Some(text.clone()) } else { None })
    }

    /// Consumes a word or a number as text.
    pub(super) fn lexeme(&mut self, what: &str) -> Result<String> {
        self.take(what, |token| match token {
            Token::Word(text) | Token::Number(text) => Some(text.clone()),
            _ => None,
        })
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.take("a number in range", |token| match token {
            Token::Number(text) => text.parse().ok(),
            _ => None,
        })
    }

    /// A list separated by commas, up to a sign, which is consumed.
    pub(super) fn list<T>(
        &mut self,
        end: char,
        mut item: impl FnMut(&mut Line) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.has(end) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.has(',') {
                self.sign(end)?;
                return Ok(items);
            }
        }
    }

    pub(super) fn dims(&mut self) -> Result<Dims> {
        self.sign('[')?;
        let extents = self.list(']', Line::number)?;
        Dims::new(&extents).ok_or_else(|| self.error(format!("more than {MAX_RANK} axes")))
    }

    pub(super) fn dtype(&mut self) -> Result<DType> {
        self.take("a dtype", |token| match token {
            Token::Word(word) => DTYPES.iter().copied().find(|dtype| dtype.name() == word),
            _ => None,
        })
    }

    pub(super) fn ty(&mut self) -> Result<Type> {
        let dtype = self.dtype()?;
        let dims = if self.peek() == Some(&Token::Sign('[')) { self.dims()? } else { Dims::SCALAR };
        Ok(Type { dtype, dims })
    }

    pub(super) fn known(&mut self) -> Result<Known> {
        if !self.has('?') {
            return Ok(Known::Is(self.number()?));
        }
        let more = matches!(self.peek(), Some(Token::Number(_)));
        Ok(Known::MultipleOf(if more { self.number()? } else { 1 }))
    }

    /// A constant of a dtype, as bits.
    pub(super) fn constant(&mut self, dtype: DType) -> Result<u64> {
        let at = self.at;
        let text = self.lexeme("a constant")?;
        constant_bits(dtype, &text).ok_or_else(|| {
            self.at = at;
            self.error(format!(
                "`{text}` is no constant of {dtype}; a number of it or its bits in hexadecimal are accepted"
            ))
        })
    }

    pub(super) fn end(&self) -> Result {
        if self.peek().is_none() { Ok(()) } else { self.expected("the end of the line") }
    }
}
