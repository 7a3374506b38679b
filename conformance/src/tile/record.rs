//! The fields of a record.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Dialect, Nan, Order, Overflow, Padding, Rounding, Scope};
use girih_tile::ops::Mode;
use serde_json::Value;

use super::{Stop, json};

/// A record.
pub(super) struct Record<'a> {
    pub(super) group: &'a str,
    pub(super) op: &'a str,
    pub(super) dialect: Dialect,
    pub(super) inputs: &'a [Value],
    /// The dtype of the array that a program writes, which is recorded with the expected values.
    pub(super) written: Option<DType>,
    attrs: &'a Value,
}

impl<'a> Record<'a> {
    pub(super) fn new(record: &'a Value) -> Result<Record<'a>, Stop> {
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        let (Some(group), Some(op)) = (text("group"), text("op")) else {
            return Err(Stop::Record("a record has the texts \"group\" and \"op\"".into()));
        };
        let dialect = match text("dialect") {
            None | Some("python") => Dialect::Python,
            Some("cxx") => Dialect::Cxx,
            Some(other) => {
                return Err(Stop::Record(format!("the dialect {other:?}: python and cxx are known")));
            }
        };
        let inputs = record.get("inputs").and_then(Value::as_array).map_or(&[][..], |list| list);
        let written = record.get("expect").and_then(|expect| expect.get("dtype"));
        let written = written.and_then(Value::as_str).and_then(json::dtype);
        Ok(Record { group, op, dialect, inputs, written, attrs: record.get("attrs").unwrap_or(&Value::Null) })
    }

    /// An input.
    pub(super) fn input(&self, i: usize) -> Result<&'a Value, Stop> {
        self.inputs.get(i).ok_or_else(|| Stop::Record(format!("`{}` has no input {i}", self.op)))
    }

    /// Whether a tile or array is given without elements, so that types alone are asked for.
    pub(super) fn typed_only(&self) -> bool {
        let bare = |input: &Value| {
            ["data", "const", "strict_const", "storage"].iter().all(|key| input.get(key).is_none())
        };
        self.inputs.iter().any(bare)
    }

    /// An attribute, unless it is absent or null.
    pub(super) fn attr(&self, key: &str) -> Option<&'a Value> {
        self.attrs.get(key).filter(|value| !value.is_null())
    }

    fn need(&self, key: &str) -> Result<&'a Value, Stop> {
        self.attr(key).ok_or_else(|| Stop::Record(format!("`{}` has no attribute \"{key}\"", self.op)))
    }

    fn wrong(&self, key: &str, what: &str) -> Stop {
        Stop::Record(format!("the attribute \"{key}\" of `{}` is no {what}", self.op))
    }

    pub(super) fn int(&self, key: &str) -> Result<i64, Stop> {
        self.need(key)?.as_i64().ok_or_else(|| self.wrong(key, "integer"))
    }

    pub(super) fn float(&self, key: &str) -> Result<f64, Stop> {
        self.need(key)?.as_f64().ok_or_else(|| self.wrong(key, "number"))
    }

    pub(super) fn text(&self, key: &str) -> Result<&'a str, Stop> {
        self.need(key)?.as_str().ok_or_else(|| self.wrong(key, "text"))
    }

    pub(super) fn truth(&self, key: &str) -> bool {
        self.attr(key).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn ints(&self, key: &str) -> Result<Vec<i64>, Stop> {
        let list = self.need(key)?.as_array().and_then(|list| list.iter().map(Value::as_i64).collect());
        list.ok_or_else(|| self.wrong(key, "list of integers"))
    }

    pub(super) fn dtype(&self) -> Result<DType, Stop> {
        json::dtype(self.text("dtype")?).ok_or_else(|| self.wrong("dtype", "dtype"))
    }

    /// Numbers of an attribute, which is one or a list.
    pub(super) fn constants(&self, key: &str) -> Result<Vec<Const>, Stop> {
        match self.need(key)? {
            Value::Array(list) => list.iter().map(json::constant).collect(),
            one => Ok(vec![json::constant(one)?]),
        }
    }

    pub(super) fn constant(&self, key: &str) -> Result<Const, Stop> {
        json::constant(self.need(key)?)
    }

    pub(super) fn nan(&self) -> Nan {
        if self.truth("propagate_nan") { Nan::Propagated } else { Nan::Ignored }
    }

    pub(super) fn mode(&self) -> Result<Mode, Stop> {
        let rounding = match self.attr("rounding_mode").and_then(Value::as_str) {
            None => None,
            Some("rn") => Some(Rounding::Nearest),
            Some("rz") => Some(Rounding::Zero),
            Some("rm") => Some(Rounding::Down),
            Some("rp") => Some(Rounding::Up),
            Some("full") => Some(Rounding::Full),
            Some("approx") => Some(Rounding::Approx),
            Some(_) => return Err(self.wrong("rounding_mode", "rounding: rn, rz, rm, rp, full, approx")),
        };
        let overflow = match self.attr("overflow").and_then(Value::as_str) {
            None | Some("none") => Overflow::Wraps,
            Some("no_signed_wrap") => Overflow::NoSigned,
            Some("no_unsigned_wrap") => Overflow::NoUnsigned,
            Some("no_wrap") => Overflow::Never,
            Some(_) => {
                return Err(
                    self.wrong("overflow", "promise: none, no_signed_wrap, no_unsigned_wrap, no_wrap")
                );
            }
        };
        Ok(Mode { rounding, ftz: self.truth("flush_to_zero"), nan: self.nan(), overflow })
    }

    pub(super) fn padding(&self) -> Result<Padding, Stop> {
        Ok(match self.attr("padding_mode").and_then(Value::as_str) {
            None | Some("undetermined") => Padding::Undetermined,
            Some("zero") => Padding::Zero,
            Some("neg_zero") => Padding::NegZero,
            Some("nan") => Padding::Nan,
            Some("pos_inf" | "inf") => Padding::PosInf,
            Some("neg_inf") => Padding::NegInf,
            Some(_) => return Err(self.wrong("padding_mode", "padding")),
        })
    }

    pub(super) fn order(&self) -> Result<Option<Order>, Stop> {
        Ok(match self.attr("memory_order").and_then(Value::as_str) {
            None => None,
            Some("weak") => Some(Order::Weak),
            Some("relaxed") => Some(Order::Relaxed),
            Some("acquire") => Some(Order::Acquire),
            Some("release") => Some(Order::Release),
            Some("acq_rel") => Some(Order::AcqRel),
            Some(_) => return Err(self.wrong("memory_order", "order")),
        })
    }

    pub(super) fn scope(&self) -> Result<Option<Scope>, Stop> {
        Ok(match self.attr("memory_scope").and_then(Value::as_str) {
            None | Some("none") => None,
            Some("block") => Some(Scope::Block),
            Some("device") => Some(Scope::Device),
            Some("sys") => Some(Scope::System),
            Some(_) => return Err(self.wrong("memory_scope", "scope")),
        })
    }
}
