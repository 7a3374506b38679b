//! The arguments of a call, parsed into the types that operations take.

use std::cell::RefCell;

use girih_layout::{Composed, Coord, Int, Lay, Shape, Swizzle, Symbol, Tiler};
use serde_json::{Map, Value};

use super::{OpError, Result};
use crate::marked::is_swizzled;

/// The named arguments of a call, the facts about symbols in the arguments, and notes for the caller.
pub struct Args<'a> {
    pub(super) values: &'a Map<String, Value>,
    pub(super) facts: &'a [Symbol],
    pub(super) notes: RefCell<Vec<String>>,
}

/// A layout or a swizzled layout.
pub(super) enum Operand {
    Plain(Lay),
    Swizzled(Composed),
}

impl Args<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(super) fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    pub(super) fn text(&self, name: &str) -> Result<String> {
        match self.values.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(OpError::Args { name: name.into(), expected: "text" }),
        }
    }

    pub(super) fn read<T>(
        &self,
        name: &str,
        parse: fn(&str) -> std::result::Result<T, girih_layout::Error>,
    ) -> Result<T> {
        let text = self.text(name)?;
        parse(&text).map_err(|source| OpError::Text { name: name.into(), text, source: Box::new(source) })
    }

    /// The layout with the facts about all symbols.
    pub(super) fn known<T>(
        &self,
        value: T,
        assume: fn(&T, Symbol) -> std::result::Result<T, girih_layout::Error>,
    ) -> Result<T> {
        Ok(self.facts.iter().try_fold(value, |value, symbol| assume(&value, *symbol))?)
    }

    /// The layout of an argument. A swizzled layout becomes the plain layout of the same function, whose strides are F2 columns.
    pub(super) fn lay(&self, name: &str) -> Result<Lay> {
        match self.operand(name)? {
            Operand::Plain(layout) => Ok(layout),
            Operand::Swizzled(composed) => Ok(composed.columns()?),
        }
    }

    pub(super) fn operand(&self, name: &str) -> Result<Operand> {
        if is_swizzled(&self.text(name)?) {
            return Ok(Operand::Swizzled(self.known(self.read(name, Composed::parse)?, Composed::assume)?));
        }
        Ok(Operand::Plain(self.known(self.read(name, Lay::parse)?, Lay::assume)?))
    }

    /// The swizzled layout of an argument. A plain layout becomes a layout with the identity as swizzle.
    pub(super) fn swizzled(&self, name: &str) -> Result<Composed> {
        Ok(match self.operand(name)? {
            Operand::Plain(layout) => Composed::from(layout),
            Operand::Swizzled(composed) => composed,
        })
    }

    pub(super) fn shape(&self, name: &str) -> Result<Shape> {
        self.known(self.read(name, Shape::parse)?, Shape::assume)
    }

    pub(super) fn int(&self, name: &str) -> Result<Int> {
        self.known(self.read(name, Int::parse)?, |int, symbol| int.assume(symbol))
    }

    pub(super) fn coord(&self, name: &str) -> Result<Coord> {
        self.read(name, Coord::parse)
    }

    pub(super) fn tiler(&self, name: &str) -> Result<Tiler> {
        let text = self.text(name)?;
        if is_swizzled(&text) {
            return Ok(Tiler::Lay(self.lay(name)?));
        }
        let tiler = self.known(self.read(name, Tiler::parse)?, Tiler::assume)?;
        if let Tiler::Lay(layout) = &tiler
            && layout.rank() > 1
            && !text.contains(':')
        {
            let modes = text.trim();
            let modes = modes.strip_prefix('(').and_then(|modes| modes.strip_suffix(')')).unwrap_or(modes);
            self.note(format!(
                "the tiler {} is the layout {layout} of 1-D coordinates; <{modes}> is a tiler for each mode",
                text.trim()
            ));
        }
        Ok(tiler)
    }

    pub(super) fn number(&self, name: &str) -> Result<i64> {
        let known = match self.values.get(name) {
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            _ => None,
        };
        known.ok_or(OpError::Args { name: name.into(), expected: "an integer" })
    }

    pub(super) fn index(&self, name: &str) -> Result<usize> {
        let error = OpError::Args { name: name.into(), expected: "an integer of at least 0" };
        usize::try_from(self.number(name)?).map_err(|_| error)
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Vec<i64>> {
        let known = match self.values.get(name) {
            Some(Value::Array(list)) => list.iter().map(Value::as_i64).collect(),
            Some(Value::String(text)) => text
                .trim()
                .trim_matches(|c| "()".contains(c))
                .split(',')
                .map(|n| n.trim().parse().ok())
                .collect(),
            Some(Value::Number(number)) => number.as_i64().map(|n| vec![n]),
            _ => None,
        };
        known.ok_or(OpError::Args { name: name.into(), expected: "a list of integers" })
    }

    pub(super) fn swizzle(&self) -> Result<Swizzle> {
        let part = |name: &str| -> Result<u32> {
            let error = OpError::Args { name: name.into(), expected: "an integer of at least 0" };
            u32::try_from(self.number(name)?).map_err(|_| error)
        };
        let shift = i32::try_from(self.number("shift")?)
            .map_err(|_| OpError::Args { name: "shift".into(), expected: "a small integer" })?;
        Ok(Swizzle::new(part("bits")?, part("base")?, shift)?)
    }

    pub(super) fn composed(&self) -> Result<Composed> {
        let offset = if self.has("offset") { self.number("offset")? } else { 0 };
        Ok(Composed::new(self.swizzle()?, offset, self.lay("layout")?))
    }
}
