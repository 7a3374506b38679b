//! Programs from text.

use std::sync::Arc;

use super::token::{Line, Token};
use super::{COMBINES, ORDERS, OVERFLOWS, PADDINGS, RMWS, ROUNDINGS, SCOPES, by_name};
use crate::error::Error;
use crate::hints::HintSet;
use crate::ir::table::TABLE;
use crate::ir::{
    Array, ArrayId, ArrayParam, Build, Combine, End, Func, Indexed, Kind, Known, Nan, Order, Overflow,
    Padding, RegionId, Rmw, Rounding, ScalarParam, Scope, Type, Value, View,
};

type Result<T> = std::result::Result<T, Error>;

/// Reads a program. It stands in the function as it stands in the text; whether it is a sound one, [`verify`](super::super::verify) says.
///
/// # Errors
/// [`Error::Text`] with the line, and with what would be accepted there.
pub fn parse(text: &str) -> Result<Func> {
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("//")
    });
    let lines = lines.map(|(i, line)| Line::new(i + 1, line)).collect::<Result<Vec<_>>>()?;
    let mut parser = Parser { lines, next: 0, b: Build::new(""), values: Vec::new(), scalars: Vec::new() };
    parser.kernel()
}

struct Parser {
    lines: Vec<Line>,
    next: usize,
    b: Build,
    /// Names of the values in scope.
    values: Vec<(String, Value)>,
    scalars: Vec<String>,
}

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

    fn parameter(&mut self, line: &mut Line) -> Result<()> {
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

    fn hint(&mut self, line: &mut Line) -> Result<()> {
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
            let slot = match name.as_str() {
                "num_ctas" => &mut set.num_ctas,
                "occupancy" => &mut set.occupancy,
                "num_worker_warps" => &mut set.num_worker_warps,
                "opt_level" => &mut set.opt_level,
                "num_stages" => &mut set.num_stages,
                _ => {
                    line.at = at;
                    return line.expected(
                        "`num_ctas`, `occupancy`, `num_worker_warps`, `opt_level` or `num_stages`",
                    );
                }
            };
            *slot = Some(line.number()?);
        }
        Ok(())
    }

    /// The statements of the region that is open, its end, and the line that closes it.
    fn region(&mut self) -> Result<(End, Line)> {
        let mut end = None;
        loop {
            let mut line = self.line()?;
            if line.peek() == Some(&Token::Sign('}')) {
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

    fn statement(&mut self, line: &mut Line) -> Result<()> {
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
        let results = self.b.append_here(kind, &operands, &types, regions);
        self.values.extend(names.into_iter().zip(results));
        Ok(())
    }

    /// The regions that follow a brace. `line` becomes the one that closes the last.
    fn regions(&mut self, line: &mut Line, regions: &mut Vec<RegionId>) -> Result<()> {
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

    fn array(&mut self, line: &mut Line) -> Result<ArrayId> {
        let at = line.at;
        let word = line.word("an array")?;
        let arrays = self.b.func().arrays();
        let found = arrays.iter().enumerate().position(|(i, array)| match array {
            Array::Param(param) => param.name == word || word.strip_prefix('@') == Some(&i.to_string()),
            Array::Slice { .. } => false,
        });
        let Some(found) = found else {
            line.at = at;
            return line.expected("an array of the kernel");
        };
        let mut array = ArrayId(found as u32);
        while line.has('<') {
            let axis = line.number()?;
            line.sign(':')?;
            let start = self.value(line)?;
            line.sign('.')?;
            line.sign('.')?;
            let stop = self.value(line)?;
            line.sign('>')?;
            array = self.b.slice(array, axis, start, stop);
        }
        Ok(array)
    }

    fn view(&mut self, line: &mut Line, operands: &mut Vec<Value>) -> Result<View> {
        let array = self.array(line)?;
        let tile = line.dims()?;
        self.index(line, operands)?;
        let mut view = View {
            array,
            tile,
            steps: tile,
            padding: Padding::default(),
            check: true,
            latency: None,
            tma: true,
            order: Order::Weak,
            scope: None,
        };
        while let Some(Token::Word(word)) = line.peek().cloned() {
            line.at += 1;
            match word.as_str() {
                "steps" => view.steps = line.dims()?,
                "pad" => view.padding = choice(line, PADDINGS, "a padding")?,
                "unchecked" => view.check = false,
                "latency" => view.latency = Some(line.number()?),
                "no_tma" => view.tma = false,
                _ => (view.order, view.scope) = self.order(line)?,
            }
        }
        Ok(view)
    }

    fn index(&self, line: &mut Line, operands: &mut Vec<Value>) -> Result<()> {
        line.keyword("at")?;
        line.sign('(')?;
        operands.extend(line.list(')', |line| self.value(line))?);
        Ok(())
    }

    /// The order whose word was taken.
    fn order(&self, line: &mut Line) -> Result<(Order, Option<Scope>)> {
        line.at -= 1;
        let Some(Token::Word(word)) = line.peek() else { return line.expected("an order") };
        let (order, scope) = word.split_once('.').map_or((word.as_str(), None), |(a, b)| (a, Some(b)));
        let found = by_name(ORDERS, order).and_then(|order| {
            scope.map_or(Some((order, None)), |s| Some((order, Some(by_name(SCOPES, s)?))))
        });
        match found {
            Some(found) => {
                line.at += 1;
                Ok(found)
            }
            None => line.expected("an attribute of the access, or an order such as `acquire.device`,"),
        }
    }

    fn indexed(&mut self, line: &mut Line, operands: &mut Vec<Value>) -> Result<Indexed> {
        let array = self.array(line)?;
        self.index(line, operands)?;
        let mut at = Indexed { array, masked: false, check: true, order: Order::Weak, scope: None };
        while let Some(Token::Word(word)) = line.peek().cloned() {
            line.at += 1;
            match word.as_str() {
                "mask" => {
                    at.masked = true;
                    operands.push(self.value(line)?);
                }
                "else" => operands.push(self.value(line)?),
                "unchecked" => at.check = false,
                _ => (at.order, at.scope) = self.order(line)?,
            }
        }
        Ok(at)
    }

    fn operation(&mut self, line: &mut Line, types: &[Type]) -> Result<(Kind, Vec<Value>)> {
        let at = line.at;
        let word = line.word("an operation")?;
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or_default();
        let plain = |kind, parser: &Parser, line: &mut Line| Ok((kind, parser.operands(line)?));
        if let Some(row) = TABLE.iter().find(|row| row.name == name) {
            let (mut rounding, mut ftz, mut nan) = (Rounding::Nearest, false, Nan::Ignored);
            let mut overflow = Overflow::Wraps;
            for part in parts {
                match (part, by_name(ROUNDINGS, part)) {
                    ("ftz", _) => ftz = true,
                    ("nan", _) => nan = Nan::Propagated,
                    (_, Some(found)) => rounding = found,
                    _ => match by_name(OVERFLOWS, part) {
                        Some(promise) => overflow = promise,
                        None => {
                            let accepted = "no rounding, `.ftz`, `.nan`, `.nsw`, `.nuw` or `.nw`";
                            return Err(line.error(format!("`.{part}` is {accepted}")));
                        }
                    },
                }
            }
            return plain(Kind::Each { op: row.op, rounding, ftz, nan, overflow }, self, line);
        }
        if name == "cast" {
            let rounding = parts.next().map_or(Some(Rounding::Nearest), |part| by_name(ROUNDINGS, part));
            let rounding = rounding.ok_or_else(|| line.error(format!("`{word}` has no such rounding")))?;
            return plain(Kind::Cast(rounding), self, line);
        }
        let mut operands = Vec::new();
        let kind = match word.as_str() {
            "full" | "dense" => {
                let Some(ty) = types.first() else { return Err(line.error("a constant has a type")) };
                if word == "full" {
                    Kind::Full(line.constant(ty.dtype)?)
                } else {
                    line.sign('[')?;
                    Kind::Dense(line.list(']', |line| line.constant(ty.dtype))?.into())
                }
            }
            "iota" => Kind::Iota,
            "bid" => Kind::Bid(line.number()?),
            "num_blocks" => Kind::NumBlocks(line.number()?),
            "dim" => {
                let array = self.array(line)?;
                line.sign(',')?;
                Kind::Dim(array, line.number()?)
            }
            "param" => {
                let name = line.word("a scalar parameter")?;
                let numbered = || name.strip_prefix('@')?.parse().ok();
                let found = self.scalars.iter().position(|scalar| *scalar == name).or_else(numbered);
                let found = found.filter(|&at| at < self.scalars.len());
                Kind::Param(found.ok_or_else(|| line.error(format!("no scalar parameter `{name}`")))? as u16)
            }
            "bitcast" => return plain(Kind::Bitcast, self, line),
            "broadcast" => return plain(Kind::Broadcast, self, line),
            "reshape" => return plain(Kind::Reshape, self, line),
            "pack" => return plain(Kind::Pack, self, line),
            "unpack" => return plain(Kind::Unpack, self, line),
            "mma" => return plain(Kind::Mma, self, line),
            "histogram" => return plain(Kind::Histogram, self, line),
            "convert" => return plain(Kind::Convert, self, line),
            "if" => return plain(Kind::If, self, line),
            "permute" | "extract" | "insert" => {
                operands = self.operands(line)?;
                line.keyword(if word == "permute" { "by" } else { "at" })?;
                let dims = line.dims()?;
                match word.as_str() {
                    "permute" => Kind::Permute(dims),
                    "extract" => Kind::Extract(dims),
                    _ => Kind::Insert(dims),
                }
            }
            "cat" | "flip" | "sort" => {
                operands = self.operands(line)?;
                line.keyword("along")?;
                let axis = line.number()?;
                match word.as_str() {
                    "cat" => Kind::Cat(axis),
                    "flip" => Kind::Flip(axis),
                    _ => Kind::Sort { axis, descending: line.has_word("descending") },
                }
            }
            "reduce" | "scan" => {
                let combine: Combine = choice(line, COMBINES, "a combination")?;
                operands = self.operands(line)?;
                line.keyword("along")?;
                let axis = line.number()?;
                let (reverse, exclusive) = if word == "scan" {
                    (line.has_word("reverse"), line.has_word("exclusive"))
                } else {
                    (false, false)
                };
                let identity = self.identity(line, &operands)?;
                if word == "reduce" {
                    Kind::Reduce { axis, combine, identity }
                } else {
                    Kind::Scan { axis, combine, identity, reverse, exclusive }
                }
            }
            "load" => Kind::Load(self.view(line, &mut operands)?),
            "gather" => Kind::Gather(self.indexed(line, &mut operands)?),
            "store" | "scatter" => {
                operands = self.operands(line)?;
                line.keyword("to")?;
                if word == "store" {
                    Kind::Store(self.view(line, &mut operands)?)
                } else {
                    Kind::Scatter(self.indexed(line, &mut operands)?)
                }
            }
            "atomic" => {
                let rmw: Rmw = choice(line, RMWS, "an atomic operation")?;
                operands = self.operands(line)?;
                line.keyword("to")?;
                Kind::Atomic { rmw, at: self.indexed(line, &mut operands)? }
            }
            "for" => {
                operands.push(self.value(line)?);
                line.keyword("to")?;
                operands.push(self.value(line)?);
                line.keyword("step")?;
                operands.push(self.value(line)?);
                self.carried(line, &mut operands)?;
                Kind::For
            }
            "loop" => {
                self.carried(line, &mut operands)?;
                Kind::Loop
            }
            "print" | "assert" => {
                let text: Arc<str> = line.text_token()?.into();
                if line.peek().is_some() {
                    operands = self.operands(line)?;
                }
                if word == "print" { Kind::Print(text) } else { Kind::Assert(text) }
            }
            _ => {
                line.at = at;
                return line.expected("an operation");
            }
        };
        Ok((kind, operands))
    }

    fn carried(&self, line: &mut Line, operands: &mut Vec<Value>) -> Result<()> {
        if line.has_word("carry") {
            operands.extend(self.operands(line)?);
        }
        Ok(())
    }

    fn identity(&self, line: &mut Line, operands: &[Value]) -> Result<Arc<[u64]>> {
        if !line.has_word("identity") {
            return Ok(Arc::new([]));
        }
        line.sign('[')?;
        let mut dtypes = operands.iter().map(|&value| self.b.ty(value).dtype);
        let bits = line.list(']', |line| match dtypes.next() {
            Some(dtype) => line.constant(dtype),
            None => line.expected("an identity for each operand"),
        })?;
        Ok(bits.into())
    }
}

fn choice<T: Copy>(line: &mut Line, table: &[(&'static str, T)], what: &str) -> Result<T> {
    let at = line.at;
    let word = line.lexeme(what)?;
    by_name(table, &word).map_or_else(
        || {
            line.at = at;
            let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
            line.expected(&format!("{what} ({})", names.join(", ")))
        },
        Ok,
    )
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
