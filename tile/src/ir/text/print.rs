//! Programs as text.

use std::fmt::{self, Write};

use girih_tensor::DType;

use super::{COMBINES, constant_text};
use crate::hints::HintSet;
use crate::ir::{
    Array, ArrayId, ArrayParam, Combine, End, Func, Indexed, Kind, Known, Nan, Op, OpId, Order, Overflow,
    Padding, RegionId, Rmw, Rounding, Scope, Type, Value, View,
};

impl fmt::Display for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, &|_| Vec::new())?)
    }
}

impl Func {
    /// The text with lines of notes after each operation, as comments.
    pub fn noted(&self, notes: &dyn Fn(OpId) -> Vec<String>) -> String {
        // Writing to a string does not fail.
        text(self, notes).unwrap_or_default()
    }
}

fn text(func: &Func, notes: &dyn Fn(OpId) -> Vec<String>) -> Result<String, fmt::Error> {
    let names = vec![None; func.value_count()];
    let mut printer = Printer { func, out: String::new(), names, next: 0, notes };
    printer.kernel()?;
    Ok(printer.out)
}

struct Printer<'a> {
    func: &'a Func,
    out: String,
    /// Numbers in the order of the text.
    names: Vec<Option<usize>>,
    next: usize,
    notes: &'a dyn Fn(OpId) -> Vec<String>,
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        && text != "mut"
}

/// The words by which parameters are referred to: their names where these distinguish them.
fn words<'a>(names: impl Iterator<Item = &'a str> + Clone) -> impl Iterator<Item = String> {
    names.clone().enumerate().map(move |(i, name)| {
        if is_name(name) && names.clone().filter(|other| *other == name).count() == 1 {
            name.to_string()
        } else {
            format!("@{i}")
        }
    })
}

fn known(known: Known) -> String {
    match known {
        Known::Is(n) => n.to_string(),
        Known::MultipleOf(1) => "?".into(),
        Known::MultipleOf(n) => format!("?{n}"),
    }
}

fn all_known(list: &[Known]) -> String {
    list.iter().map(|&one| known(one)).collect::<Vec<_>>().join(", ")
}

fn ty(ty: Type) -> String {
    if ty.dims.rank() == 0 { ty.dtype.to_string() } else { ty.to_string() }
}

fn quoted_unless_name(name: &str) -> String {
    if is_name(name) { name.to_string() } else { format!("{name:?}") }
}

impl Printer<'_> {
    fn kernel(&mut self) -> fmt::Result {
        let func = self.func;
        let mut params: Vec<String> = func.params().map(|(_, param)| array_param(param)).collect();
        for scalar in &func.scalars {
            let fact = match scalar.known {
                Known::MultipleOf(1) => String::new(),
                other => format!(" = {}", known(other)),
            };
            params.push(format!("{}: {}{fact}", quoted_unless_name(&scalar.name), scalar.dtype));
        }
        writeln!(self.out, "kernel {}({}) {{", quoted_unless_name(&func.name), params.join(", "))?;
        self.hints("all", func.hints.all)?;
        for (arch, hints) in &func.hints.by_arch {
            self.hints(&arch.to_string(), *hints)?;
        }
        self.region(func.body, 1)?;
        writeln!(self.out, "}}")
    }

    fn hints(&mut self, of: &str, mut hints: HintSet) -> fmt::Result {
        let set =
            hints.slots().into_iter().filter_map(|(name, value)| Some(format!(" {name} {}", (*value)?)));
        let set: String = set.collect();
        if set.is_empty() && of == "all" { Ok(()) } else { writeln!(self.out, "  hint {of}{set}") }
    }

    fn name(&mut self, value: Value) -> usize {
        let slot = &mut self.names[value.index()];
        if slot.is_none() {
            *slot = Some(self.next);
            self.next += 1;
        }
        slot.unwrap_or_default()
    }

    /// The text of values; those that nothing has defined so far are marked.
    fn values(&self, values: &[Value]) -> String {
        let text = values.iter().map(|value| match self.names[value.index()] {
            Some(name) => format!("%{name}"),
            None => format!("%undefined{}", value.0),
        });
        text.collect::<Vec<_>>().join(", ")
    }

    fn array(&self, array: ArrayId) -> String {
        let func = self.func;
        match &func.arrays[array.index()] {
            Array::Param(_) => {
                let at = func.params().take_while(|(id, _)| *id != array).count();
                words(func.params().map(|(_, param)| param.name.as_str())).nth(at).unwrap_or_default()
            }
            Array::Slice { of, axis, start, stop } => {
                format!("{}<{axis}: {}..{}>", self.array(*of), self.values(&[*start]), self.values(&[*stop]))
            }
        }
    }

    /// The inside of a region, after its brace.
    fn region(&mut self, region: RegionId, depth: usize) -> fmt::Result {
        let func = self.func;
        let region = func.region(region);
        for &id in &region.ops {
            self.op(func.op(id), depth)?;
            for note in (self.notes)(id) {
                writeln!(self.out, "{:1$}// {note}", "", 2 * depth + 4)?;
            }
        }
        let word = match &region.end {
            End::Yield(values) if values.is_empty() => return Ok(()),
            End::Yield(_) => "yield".to_string(),
            End::Continue(0, _) => "continue".to_string(),
            End::Continue(depth, _) => format!("continue.{depth}"),
            End::Break(0, _) => "break".to_string(),
            End::Break(depth, _) => format!("break.{depth}"),
            End::Unreachable => "unreachable".to_string(),
        };
        let values = self.values(region.end.values());
        let space = if values.is_empty() { "" } else { " " };
        writeln!(self.out, "{:1$}{word}{space}{values}", "", 2 * depth)
    }

    fn op(&mut self, op: &Op, depth: usize) -> fmt::Result {
        let what = self.what(op);
        let types: Vec<String> = op.results.iter().map(|&value| ty(self.func.ty(value))).collect();
        write!(self.out, "{:1$}", "", 2 * depth)?;
        // Numbers follow the text, but a region's values come before the results that are read after it.
        let results = op.results.iter().map(|&value| format!("%{}", self.name(value))).collect::<Vec<_>>();
        if !results.is_empty() {
            write!(self.out, "{} = ", results.join(", "))?;
        }
        write!(self.out, "{what}")?;
        if !types.is_empty() {
            write!(self.out, " : {}", types.join(", "))?;
        }
        for (i, &region) in op.regions.iter().enumerate() {
            self.out.push_str(if i == 0 { " {" } else { " else {" });
            let func = self.func;
            let args = func.region(region).args.iter().map(|&arg| {
                let name = self.name(arg);
                format!("%{name}: {}", ty(func.ty(arg)))
            });
            let args: Vec<String> = args.collect();
            if !args.is_empty() {
                write!(self.out, " ({})", args.join(", "))?;
            }
            self.out.push('\n');
            self.region(region, depth + 1)?;
            write!(self.out, "{:1$}}}", "", 2 * depth)?;
        }
        self.out.push('\n');
        Ok(())
    }

    /// An operation without its results.
    fn what(&self, op: &Op) -> String {
        let operands = &op.operands;
        let all = self.values(operands);
        let dtype = |value: Option<&Value>| value.map(|&value| self.func.ty(value).dtype);
        let constant = |dtype: Option<DType>, bits: u64| match dtype {
            Some(dtype) => constant_text(dtype, bits),
            None => format!("{bits:#x}"),
        };
        let list = |values: &[Value], bits: &[u64]| {
            let text = bits.iter().enumerate().map(|(i, &bits)| constant(dtype(values.get(i)), bits));
            format!("[{}]", text.collect::<Vec<_>>().join(", "))
        };
        let identity = |bits: &[u64]| {
            if bits.is_empty() { String::new() } else { format!(" identity {}", list(operands, bits)) }
        };
        let combine =
            |of: &Combine| COMBINES.iter().find(|(_, other)| other == of).map_or("?", |(name, _)| name);
        match &op.kind {
            Kind::Full(bits) => format!("full {}", constant(dtype(op.results.first()), *bits)),
            Kind::Dense(bits) => {
                let text = bits.iter().map(|&bits| constant(dtype(op.results.first()), bits));
                format!("dense [{}]", text.collect::<Vec<_>>().join(", "))
            }
            Kind::Iota => "iota".into(),
            Kind::Bid(axis) if op.operands.is_empty() => format!("bid {axis}"),
            Kind::Bid(axis) => format!("bid {axis} = {all}"),
            Kind::Worker => "worker".into(),
            Kind::Workers => "workers".into(),
            Kind::NumBlocks(axis) => format!("num_blocks {axis}"),
            Kind::Dim(array, axis) => format!("dim {}, {axis}", self.array(*array)),
            Kind::Param(at) => {
                let names = self.func.scalars.iter().map(|scalar| scalar.name.as_str());
                format!("param {}", words(names).nth(usize::from(*at)).unwrap_or(format!("@{at}")))
            }
            Kind::Each { op, rounding, ftz, nan, overflow } => {
                let ftz = if *ftz { ".ftz" } else { "" };
                let nan = if *nan == Nan::Propagated { ".nan" } else { "" };
                let overflow = match overflow {
                    Overflow::Wraps => String::new(),
                    promise => format!(".{promise}"),
                };
                format!("{}{}{ftz}{nan}{overflow} {all}", op.row().name, suffix(*rounding))
            }
            Kind::Cast(rounding) => format!("cast{} {all}", suffix(*rounding)),
            Kind::Permute(axes) => format!("permute {all} by {axes}"),
            Kind::Extract(at) => format!("extract {all} at {at}"),
            Kind::Insert(at) => format!("insert {all} at {at}"),
            Kind::Cat(axis) => format!("cat {all} along {axis}"),
            Kind::Flip(axis) => format!("flip {all} along {axis}"),
            Kind::Reduce { axis, combine: c, identity: bits } => {
                format!("reduce {} {all} along {axis}{}", combine(c), identity(bits))
            }
            Kind::Scan { axis, combine: c, identity: bits, reverse, exclusive } => {
                let reverse = if *reverse { " reverse" } else { "" };
                let exclusive = if *exclusive { " exclusive" } else { "" };
                format!("scan {} {all} along {axis}{reverse}{exclusive}{}", combine(c), identity(bits))
            }
            Kind::Sort { axis, descending } => {
                format!("sort {all} along {axis}{}", if *descending { " descending" } else { "" })
            }
            Kind::Load(view) => format!("load {}", self.view(view, operands)),
            Kind::Store(view) => {
                let (value, index) = operands.split_at(operands.len().min(1));
                format!("store {} to {}", self.values(value), self.view(view, index))
            }
            Kind::Gather(at) => format!("gather {}", self.indexed(at, operands)),
            Kind::Scatter(at) => {
                let (value, rest) = operands.split_at(operands.len().min(1));
                format!("scatter {} to {}", self.values(value), self.indexed(at, rest))
            }
            Kind::Atomic { rmw, at } => {
                let (update, rest) =
                    operands.split_at(operands.len().min(if *rmw == Rmw::Cas { 2 } else { 1 }));
                let name = rmw.name().replacen('_', " ", 1);
                format!("{name} {} to {}", self.values(update), self.indexed(at, rest))
            }
            Kind::For => {
                let (bounds, carried) = operands.split_at(operands.len().min(3));
                let bound = |i: usize| self.values(bounds.get(i..=i).unwrap_or_default());
                format!("for {} to {} step {}{}", bound(0), bound(1), bound(2), self.carry(carried))
            }
            Kind::Loop => format!("loop{}", self.carry(operands)),
            Kind::Bitcast
            | Kind::Broadcast
            | Kind::Reshape
            | Kind::Pack
            | Kind::Unpack
            | Kind::Mma
            | Kind::Histogram
            | Kind::Convert
            | Kind::If => format!("{} {all}", op.kind.word()),
            Kind::Print(format) => format!("print {format:?} {all}").trim_end().to_string(),
            Kind::Assert(message) => format!("assert {message:?} {all}"),
        }
    }

    fn carry(&self, values: &[Value]) -> String {
        if values.is_empty() { String::new() } else { format!(" carry {}", self.values(values)) }
    }

    fn view(&self, view: &View, index: &[Value]) -> String {
        let mut text = format!("{}{} at ({})", self.array(view.array), view.tile, self.values(index));
        if view.steps != view.tile {
            text += &format!(" steps {}", view.steps);
        }
        if view.padding != Padding::default() {
            text += &format!(" pad {}", view.padding);
        }
        if !view.check {
            text += " unchecked";
        }
        if let Some(latency) = view.latency {
            text += &format!(" latency {latency}");
        }
        if !view.tma {
            text += " no_tma";
        }
        text + &order(view.order, view.scope)
    }

    fn indexed(&self, at: &Indexed, operands: &[Value]) -> String {
        let rank = self.func.param_of(at.array).1.extents.len().min(operands.len());
        let (index, rest) = operands.split_at(rank);
        let mut text = format!("{} at ({})", self.array(at.array), self.values(index));
        let (mask, rest) = rest.split_at(usize::from(at.masked).min(rest.len()));
        if at.masked {
            text += &format!(" mask {}", self.values(mask));
        }
        if !rest.is_empty() {
            text += &format!(" else {}", self.values(rest));
        }
        if !at.check {
            text += " unchecked";
        }
        text + &order(at.order, at.scope)
    }
}

fn suffix(rounding: Rounding) -> String {
    if rounding == Rounding::Nearest { String::new() } else { format!(".{rounding}") }
}

fn order(order: Order, scope: Option<Scope>) -> String {
    match (order, scope) {
        (Order::Weak, None) => String::new(),
        (order, None) => format!(" {order}"),
        (order, Some(scope)) => format!(" {order}.{scope}"),
    }
}

fn array_param(param: &ArrayParam) -> String {
    let mutable = if param.mutable { "mut " } else { "" };
    let name = quoted_unless_name(&param.name);
    let (extents, strides) = (all_known(&param.extents), all_known(&param.strides));
    let mut text =
        format!("{mutable}{name}: {}[{extents}] strides [{strides}] align {}", param.dtype, param.align);
    if let Some(reason) = &param.assume_disjoint {
        text += &format!(" disjoint {reason:?}");
    }
    text
}

/// An operation without its results, with values by their numbers in the function.
pub(in crate::ir) fn op_text(func: &Func, op: &Op) -> String {
    let names = (0..func.value_count()).map(Some).collect();
    Printer { func, out: String::new(), names, next: 0, notes: &|_| Vec::new() }.what(op)
}
