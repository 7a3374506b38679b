//! Operations from text: their words, the arrays that they access, their attributes.

use std::sync::Arc;

use super::Parser;
use crate::error::Result;
use crate::ir::table::TABLE;
use crate::ir::text::COMBINES;
use crate::ir::text::token::{Line, Token};
use crate::ir::{
    ArrayId, ArrayParam, Combine, Indexed, Kind, Nan, Order, Overflow, Padding, Rmw, Rounding, Scope, Type,
    Value, View,
};

/// Operations without attributes: their text is a word and the operands.
const PLAIN: &[Kind] = &[
    Kind::Bitcast,
    Kind::Broadcast,
    Kind::Reshape,
    Kind::Pack,
    Kind::Unpack,
    Kind::Mma,
    Kind::Histogram,
    Kind::Convert,
    Kind::If,
];

impl Parser {
    fn array(&mut self, line: &mut Line) -> Result<ArrayId> {
        let at = line.at;
        let word = line.word("an array")?;
        let named = |(ArrayId(i), param): &(ArrayId, &ArrayParam)| {
            param.name == word || word.strip_prefix('@') == Some(&i.to_string())
        };
        let Some((mut array, _)) = self.b.func().params().find(named) else {
            line.at = at;
            return line.expected("an array of the kernel");
        };
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
                "pad" => {
                    view.padding = choice(line, Padding::ALL.iter().map(|of| (of.name(), *of)), "a padding")?
                }
                "unchecked" => view.check = false,
                "latency" => view.latency = Some(line.number()?),
                "no_tma" => view.tma = false,
                _ => (view.order, view.scope) = self.order(line)?,
            }
        }
        Ok(view)
    }

    fn index(&self, line: &mut Line, operands: &mut Vec<Value>) -> Result {
        line.keyword("at")?;
        line.sign('(')?;
        operands.extend(line.list(')', |line| self.value(line))?);
        Ok(())
    }

    /// The memory order at the previous token.
    fn order(&self, line: &mut Line) -> Result<(Order, Option<Scope>)> {
        line.at -= 1;
        let Some(Token::Word(word)) = line.peek() else { return line.expected("an order") };
        let (order, scope) = word.split_once('.').map_or((word.as_str(), None), |(a, b)| (a, Some(b)));
        let found = Order::named(order)
            .and_then(|order| scope.map_or(Some((order, None)), |s| Some((order, Some(Scope::named(s)?)))));
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

    pub(super) fn operation(&mut self, line: &mut Line, types: &[Type]) -> Result<(Kind, Vec<Value>)> {
        let at = line.at;
        let word = line.word("an operation")?;
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or_default();
        let plain = |kind, parser: &Parser, line: &mut Line| Ok((kind, parser.operands(line)?));
        if let Some(row) = TABLE.iter().find(|row| row.name == name) {
            let (mut rounding, mut ftz, mut nan) = (Rounding::Nearest, false, Nan::Ignored);
            let mut overflow = Overflow::Wraps;
            for part in parts {
                match (part, Rounding::named(part)) {
                    ("ftz", _) => ftz = true,
                    ("nan", _) => nan = Nan::Propagated,
                    (_, Some(found)) => rounding = found,
                    _ => match Overflow::named(part) {
                        Some(promise) if promise != Overflow::Wraps => overflow = promise,
                        _ => {
                            let accepted = "no rounding, `.ftz`, `.nan`, `.nsw`, `.nuw` or `.nw`";
                            return Err(line.error(format!("`.{part}` is {accepted}")));
                        }
                    },
                }
            }
            return plain(Kind::Each { op: row.op, rounding, ftz, nan, overflow }, self, line);
        }
        if name == "cast" {
            let rounding = parts.next().map_or(Some(Rounding::Nearest), Rounding::named);
            let rounding = rounding.ok_or_else(|| line.error(format!("`{word}` has no such rounding")))?;
            return plain(Kind::Cast(rounding), self, line);
        }
        if let Some(kind) = PLAIN.iter().find(|kind| kind.word() == word) {
            return plain(kind.clone(), self, line);
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
            "bid" => {
                let axis = line.number()?;
                if line.has('=') {
                    operands.push(self.value(line)?);
                }
                Kind::Bid(axis)
            }
            "worker" => Kind::Worker,
            "workers" => Kind::Workers,
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
                let found = found.filter(|&at| at < self.scalars.len()).and_then(|at| u16::try_from(at).ok());
                Kind::Param(found.ok_or_else(|| line.error(format!("no scalar parameter `{name}`")))?)
            }
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
                let combine: Combine = choice(line, COMBINES.iter().copied(), "a combination")?;
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
                let names = Rmw::ALL.iter().map(|of| (of.name().trim_start_matches("atomic_"), *of));
                let rmw: Rmw = choice(line, names, "an atomic operation")?;
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

    fn carried(&self, line: &mut Line, operands: &mut Vec<Value>) -> Result {
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

fn choice<T>(line: &mut Line, all: impl Iterator<Item = (&'static str, T)> + Clone, what: &str) -> Result<T> {
    let at = line.at;
    let word = line.lexeme(what)?;
    match all.clone().find(|(name, _)| *name == word) {
        Some((_, found)) => Ok(found),
        None => {
            line.at = at;
            let names: Vec<&str> = all.map(|(name, _)| name).collect();
            line.expected(&format!("{what} ({})", names.join(", ")))
        }
    }
}
