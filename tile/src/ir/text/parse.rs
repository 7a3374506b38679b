//! Programs from text.

mod operation;

use super::token::{Line, Token};
use crate::error::{Error, Result};
use crate::hints::{Hint, HintSet};
use crate::ir::{ArrayParam, Build, End, Func, Known, RegionId, ScalarParam, Type, Value};

/// Reads a program. It is in the function as it is in the text; whether it is a sound one, [`verify`](fn@super::super::verify) says.
///
/// # Errors
/// [`Error::Text`] with the line, and with what would be accepted there.
pub fn parse(text: &str) -> Result<Func> {
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("//")
    });
    let lines = lines.map(|(i, line)| Line::new(i + 1, line)).collect::<Result<Vec<_>>>()?;
    let mut parser =
        Parser { lines, next: 0, b: Build::new(""), values: Vec::new(), scalars: Vec::new(), depth: 0 };
    parser.kernel()
}

struct Parser {
    lines: Vec<Line>,
    next: usize,
    b: Build,
    /// Names of the values in scope.
    values: Vec<(String, Value)>,
    scalars: Vec<String>,
    /// How many regions are open.
    depth: usize,
}

/// This many regions may be inside each other.
const DEEPEST: usize = 64;

impl Parser {
    fn line(&mut self) -> Result<Line> {
        let last = self.lines.last().map_or(0, |line| line.number);
        let line = self.lines.get_mut(self.next).ok_or(Error::Text {
            line: last,
            message: "the text ends within a kernel; `}` is accepted".into(),
        })?;
        self.next += 1;
        Ok(std::mem::replace(line, Line { number: line.number, tokens: Vec::new(), at: 0 }))
    }

    fn kernel(&mut self) -> Result<Func> {
        let mut line = self.line()?;
        line.keyword("kernel")?;
        self.b = Build::new(&line.name()?);
        line.sign('(')?;
        line.list(')', |line| self.parameter(line))?;
        line.sign('{')?;
        line.end()?;
        while matches!(self.lines.get(self.next).and_then(Line::peek), Some(Token::Word(word)) if word == "hint")
        {
            let mut line = self.line()?;
            self.hint(&mut line)?;
        }
        let (end, mut line) = self.region()?;
        if end != End::Yield(Vec::new()) {
            return Err(line.error("the body of a kernel ends without a word"));
        }
        line.sign('}')?;
        line.end()?;
        match self.lines.get(self.next) {
            Some(line) => line.expected("the end of the text"),
            None => Ok(std::mem::replace(&mut self.b, Build::new("")).finish()),
        }
    }

    fn parameter(&mut self, line: &mut Line) -> Result {
        let mutable = line.has_word("mut");
        let name = line.name()?;
        line.sign(':')?;
        let dtype = line.dtype()?;
        if !line.has('[') {
            let known = if line.has('=') { line.known()? } else { Known::MultipleOf(1) };
            self.scalars.push(name.clone());
            self.b.declare_scalar(ScalarParam { name, dtype, known });
            return Ok(());
        }
        let extents = line.list(']', Line::known)?;
        line.keyword("strides")?;
        line.sign('[')?;
        let strides = line.list(']', Line::known)?;
        line.keyword("align")?;
        let align = line.number()?;
        let assume_disjoint = if line.has_word("disjoint") { Some(line.text_token()?) } else { None };
        self.b.array(ArrayParam { name, dtype, mutable, extents, strides, align, assume_disjoint });
        Ok(())
    }

    fn hint(&mut self, line: &mut Line) -> Result {
        line.keyword("hint")?;
        let hints = self.b.hints_mut();
        let set: &mut HintSet = if line.has_word("all") {
            &mut hints.all
        } else {
            hints.by_arch.entry(line.number()?).or_default()
        };
        while line.peek().is_some() {
            let at = line.at;
            let name = line.word("a hint")?;
            let Some(slot) = Hint::named(&name).and_then(|hint| set.slot(hint)) else {
                line.at = at;
                return line
                    .expected("`num_ctas`, `occupancy`, `num_worker_warps`, `opt_level` or `num_stages`");
            };
            *slot = Some(line.number()?);
        }
        Ok(())
    }

    /// The statements of the region that is open, its end, and the line that closes it.
    fn region(&mut self) -> Result<(End, Line)> {
        let mut end = None;
        self.depth += 1;
        loop {
            let mut line = self.line()?;
            if line.peek() == Some(&Token::Sign('}')) {
                self.depth -= 1;
                return Ok((end.unwrap_or(End::Yield(Vec::new())), line));
            }
            if end.is_some() {
                return line.expected("`}` after the end of a region");
            }
            end = self.end(&mut line)?;
            if end.is_none() {
                self.statement(&mut line)?;
            }
        }
    }

    fn end(&mut self, line: &mut Line) -> Result<Option<End>> {
        let Some(Token::Word(word)) = line.peek() else { return Ok(None) };
        let (word, depth) = word.split_once('.').unwrap_or((word, "0"));
        let (word, depth) = (word.to_string(), depth.parse());
        if !matches!(word.as_str(), "yield" | "continue" | "break" | "unreachable") {
            return Ok(None);
        }
        line.at += 1;
        let depth = depth.map_err(|_| line.error("the depth of an end is a number of loops"))?;
        let values = if line.peek().is_some() { self.operands(line)? } else { Vec::new() };
        line.end()?;
        Ok(Some(match word.as_str() {
            "yield" => End::Yield(values),
            "continue" => End::Continue(depth, values),
            "break" => End::Break(depth, values),
            _ => End::Unreachable,
        }))
    }

    fn value(&self, line: &mut Line) -> Result<Value> {
        let Some(Token::Value(name)) = line.peek() else { return line.expected("a value") };
        let found = self.values.iter().rev().find(|(known, _)| known == name).map(|&(_, value)| value);
        let value = found.ok_or_else(|| line.error(format!("`%{name}` is not defined here")))?;
        line.at += 1;
        Ok(value)
    }

    fn operands(&self, line: &mut Line) -> Result<Vec<Value>> {
        let mut values = vec![self.value(line)?];
        while line.has(',') {
            values.push(self.value(line)?);
        }
        Ok(values)
    }

    fn statement(&mut self, line: &mut Line) -> Result {
        let mut names = Vec::new();
        while let Some(Token::Value(name)) = line.peek() {
            names.push(name.clone());
            line.at += 1;
            if !line.has(',') {
                line.sign('=')?;
                break;
            }
        }
        let types = types(line)?;
        if types.len() != names.len() {
            return Err(line.error(format!("{} results and {} types", names.len(), types.len())));
        }
        let (kind, operands) = self.operation(line, &types)?;
        if !types.is_empty() {
            line.sign(':')?;
            for i in 0..types.len() {
                if i > 0 {
                    line.sign(',')?;
                }
                line.ty()?;
            }
        }
        let mut regions = Vec::new();
        if line.has('{') {
            self.regions(line, &mut regions)?;
        }
        line.end()?;
        let results = self.b.push_regions(kind, &operands, &types, regions);
        self.values.extend(names.into_iter().zip(results));
        Ok(())
    }

    /// The regions that follow a brace. `line` becomes the one that closes the last.
    fn regions(&mut self, line: &mut Line, regions: &mut Vec<RegionId>) -> Result {
        loop {
            let args = if line.has('(') {
                line.list(')', |line| {
                    let Some(Token::Value(name)) = line.peek().cloned() else {
                        return line.expected("an argument");
                    };
                    line.at += 1;
                    line.sign(':')?;
                    Ok((name, line.ty()?))
                })?
            } else {
                Vec::new()
            };
            line.end()?;
            if self.depth == DEEPEST {
                return Err(line.error(format!("at most {DEEPEST} regions inside each other are accepted")));
            }
            let types: Vec<Type> = args.iter().map(|(_, ty)| *ty).collect();
            let scope = self.values.len();
            let (_, values) = self.b.open(&types);
            self.values.extend(args.into_iter().map(|(name, _)| name).zip(values));
            let (end, closing) = self.region()?;
            self.values.truncate(scope);
            regions.push(self.b.close(end));
            *line = closing;
            line.sign('}')?;
            if !line.has_word("else") {
                return Ok(());
            }
            line.sign('{')?;
        }
    }
}

/// The types after the colon, before the operation is read.
fn types(line: &mut Line) -> Result<Vec<Type>> {
    let start = line.at;
    let mut depth = 0;
    while let Some(token) = line.peek() {
        match token {
            Token::Sign('(' | '<') => depth += 1,
            Token::Sign(')' | '>') => depth -= 1,
            Token::Sign(':') if depth == 0 => break,
            _ => {}
        }
        line.at += 1;
    }
    let mut types = Vec::new();
    if line.has(':') {
        types.push(line.ty()?);
        while line.has(',') {
            types.push(line.ty()?);
        }
    }
    line.at = start;
    Ok(types)
}
