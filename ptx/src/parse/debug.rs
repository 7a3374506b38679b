//! Debugging directives: `.file`, `.loc`, and the sections, of which only the strings that `.loc` names are read.

use std::collections::HashMap;

use super::cursor::Parser;
use crate::Error;
use crate::ast::*;
use crate::lex::{Lexeme, Token};
use crate::literal::integer;

/// The string after each label of the `.debug_str` section, up to the zero byte that ends it.
pub(super) fn strings<'t>(tokens: &[Lexeme<'t>]) -> HashMap<&'t str, Name> {
    let mut strings = HashMap::new();
    let starts = tokens.windows(3).enumerate().filter(|(_, window)| {
        let [section, name, open] = [window[0].token, window[1].token, window[2].token];
        (section, name, open) == (Token::Dotted("section"), Token::Dotted("debug_str"), Token::Punct('{'))
    });
    for (start, _) in starts {
        let mut text: Option<(&str, Vec<u8>)> = None;
        let mut rest = tokens[start + 3..].iter().map(|lexeme| lexeme.token).peekable();
        while let Some(token) = rest.next().filter(|token| !matches!(token, Token::Punct('}') | Token::End)) {
            match (token, &mut text) {
                (Token::Ident(label), _) if rest.peek() == Some(&Token::Punct(':')) => {
                    finish(&mut strings, text.replace((label, Vec::new())));
                }
                (Token::Number(byte), Some((_, bytes))) => {
                    bytes.push(integer(byte).and_then(|byte| byte.try_into().ok()).unwrap_or(b'?'));
                }
                _ => {}
            }
        }
        finish(&mut strings, text);
    }
    strings
}

fn finish<'t>(strings: &mut HashMap<&'t str, Name>, text: Option<(&'t str, Vec<u8>)>) {
    if let Some((label, bytes)) = text {
        let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        strings.insert(label, String::from_utf8_lossy(bytes).into());
    }
}

impl Parser<'_> {
    /// `.file 1 "kernel.cu"`, perhaps with the file's folder before the name, or with its time and size after the name.
    pub(super) fn file(&mut self) -> Result<Option<SourceFile>, Error> {
        let line = self.span().line;
        if !self.eat_dotted("file") {
            return Ok(None);
        }
        let index = self.integer("the number of a file")?;
        let Token::Quoted(mut name) = self.peek() else { return Err(self.expected("a file's name")) };
        self.next();
        let mut folder = None;
        if let Token::Quoted(second) = self.peek() {
            self.next();
            folder = (!second.starts_with('/')).then_some(name);
            name = second;
        }
        self.skip_line(line);
        let name = folder.map_or_else(|| name.into(), |folder| format!("{folder}/{name}").into());
        Ok(Some(SourceFile { index, name }))
    }

    /// `.loc 1 42 5` and, of inlined code, `, function_name label, inlined_at 1 77 3`.
    pub(super) fn loc(&mut self) -> Result<Option<Loc>, Error> {
        let line = self.span().line;
        if !self.eat_dotted("loc") {
            return Ok(None);
        }
        let at = self.source_place()?;
        let (mut function, mut outside) = (None, None);
        while self.span().line == line && self.eat(',') {
            match self.ident("`function_name` or `inlined_at`")? {
                "function_name" => {
                    let label = self.ident("the label of a name in `.debug_str`")?;
                    function = self.string(label);
                    if self.eat('+') {
                        self.integer::<u64>("a number of bytes")?;
                        // With an offset the name is not the string at the label.
                        function = None;
                    }
                }
                "inlined_at" => outside = Some(self.source_place()?),
                _ => self.skip_line(line),
            }
        }
        let inlined = outside.map(|at| Inlined { function: function.unwrap_or_else(|| "?".into()), at });
        Ok(Some(Loc { at, inlined }))
    }

    fn source_place(&mut self) -> Result<SourcePlace, Error> {
        let file = self.integer("the number of a file")?;
        let line = self.integer("a line")?;
        Ok(SourcePlace { file, line, column: self.integer("a column")? })
    }

    /// Skips the remaining tokens of a line.
    fn skip_line(&mut self, line: u32) {
        while self.peek() != Token::End && self.span().line == line {
            self.next();
        }
    }

    /// Skips `.section name { ... }`; returns whether there was one.
    pub(super) fn skip_section(&mut self) -> Result<bool, Error> {
        if self.peek() != Token::Dotted("section") {
            return Ok(false);
        }
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
}
