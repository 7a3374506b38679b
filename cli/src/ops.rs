//! The layout operations by name, as the vectors, `girih eval` and `girih layout` call them.

use std::fmt;

use girih_layout::{
    Composed, Coord, Crd, F2Matrix, Int, IntTuple, Lay, Product, Shape, Swizzle, Symbol, Tiler, crd2crd,
    natural_coord,
};
use serde_json::{Map, Value};

/// Why an operation gave no result.
#[derive(Debug)]
pub enum OpError {
    /// There is no operation of this name.
    Unsupported,
    /// An argument is missing or of the wrong type.
    Args {
        /// Its name.
        name: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The text of an argument is malformed, or the operation refuses its operands.
    Layout {
        /// The argument whose text it is, if it is about one.
        name: Option<String>,
        /// What is wrong.
        source: girih_layout::Error,
    },
}

impl OpError {
    /// A stable name for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            OpError::Unsupported => "unsupported",
            OpError::Args { .. } => "args",
            OpError::Layout { source, .. } => source.kind(),
        }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpError::Unsupported => f.write_str("there is no such operation"),
            OpError::Args { name, expected } => write!(f, "argument {name:?} must be {expected}"),
            OpError::Layout { name: Some(name), source } => write!(f, "argument {name:?}: {source}"),
            OpError::Layout { name: None, source } => source.fmt(f),
        }
    }
}

impl std::error::Error for OpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpError::Layout { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<girih_layout::Error> for OpError {
    fn from(source: girih_layout::Error) -> OpError {
        OpError::Layout { name: None, source }
    }
}

type Result<T = Value> = std::result::Result<T, OpError>;

/// An operation: its name and the names of its arguments, in the order in which an expression gives them.
#[derive(Debug)]
pub struct Op {
    /// The name.
    pub name: &'static str,
    /// The arguments; one that begins with `?` may be left out.
    pub params: &'static [&'static str],
    run: fn(&Args<'_>) -> Result,
}

/// The named arguments of a call.
pub struct Args<'a>(&'a Map<String, Value>, &'a [Symbol]);

impl Args<'_> {
    fn text(&self, name: &str) -> Result<String> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(OpError::Args { name: name.into(), expected: "text" }),
        }
    }

    fn read<T>(
        &self,
        name: &str,
        parse: fn(&str) -> std::result::Result<T, girih_layout::Error>,
    ) -> Result<T> {
        parse(&self.text(name)?).map_err(|source| OpError::Layout { name: Some(name.into()), source })
    }

    /// With the facts of all symbols.
    fn known<T>(
        &self,
        value: T,
        assume: fn(&T, Symbol) -> std::result::Result<T, girih_layout::Error>,
    ) -> Result<T> {
        Ok(self.1.iter().try_fold(value, |value, symbol| assume(&value, *symbol))?)
    }

    fn lay(&self, name: &str) -> Result<Lay> {
        self.known(self.read(name, Lay::parse)?, Lay::assume)
    }

    fn shape(&self, name: &str) -> Result<Shape> {
        self.known(self.read(name, Shape::parse)?, Shape::assume)
    }

    fn int(&self, name: &str) -> Result<Int> {
        self.known(self.read(name, Int::parse)?, |int, symbol| int.assume(symbol))
    }

    fn swizzled(&self) -> Result<Composed> {
        self.known(self.read("swizzled", Composed::parse)?, Composed::assume)
    }

    fn coord(&self, name: &str) -> Result<Coord> {
        self.read(name, Coord::parse)
    }

    fn tiler(&self, name: &str) -> Result<Tiler> {
        self.known(self.read(name, Tiler::parse)?, Tiler::assume)
    }

    fn number(&self, name: &str) -> Result<i64> {
        let known = match self.0.get(name) {
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            _ => None,
        };
        known.ok_or(OpError::Args { name: name.into(), expected: "an integer" })
    }

    fn index(&self, name: &str) -> Result<usize> {
        let error = OpError::Args { name: name.into(), expected: "an integer of at least 0" };
        usize::try_from(self.number(name)?).map_err(|_| error)
    }

    fn numbers(&self, name: &str) -> Result<Vec<i64>> {
        let known = match self.0.get(name) {
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

    fn swizzle(&self) -> Result<Swizzle> {
        let part = |name: &str| -> Result<u32> {
            let error = OpError::Args { name: name.into(), expected: "an integer of at least 0" };
            u32::try_from(self.number(name)?).map_err(|_| error)
        };
        let shift = i32::try_from(self.number("shift")?)
            .map_err(|_| OpError::Args { name: "shift".into(), expected: "a small integer" })?;
        Ok(Swizzle::new(part("bits")?, part("base")?, shift)?)
    }

    fn composed(&self) -> Result<Composed> {
        let offset = if self.0.contains_key("offset") { self.number("offset")? } else { 0 };
        Ok(Composed::new(self.swizzle()?, offset, self.lay("layout")?))
    }
}

fn text(value: impl fmt::Display) -> Result {
    Ok(Value::String(value.to_string()))
}

fn truth(value: bool) -> Result {
    text(value)
}

/// A number where it is one, else the text of the symbolic integer.
fn int(value: Int) -> Result {
    value.get().map_or_else(|| text(value), |n| Ok(n.into()))
}

/// A leaf as a number, a tuple as text.
fn ints(tuple: IntTuple) -> Result {
    if tuple.is_leaf() { int(tuple.leaves()[0]) } else { text(tuple) }
}

/// A leaf as a number, a tuple as text.
fn coord(coord: Coord) -> Result {
    match coord.leaves() {
        [Crd::At(position)] if coord.is_leaf() => Ok((*position).into()),
        _ => text(coord),
    }
}

fn complement(layout: &Lay, cotarget: Int) -> Result<Lay> {
    // Where only CuTe's rounded form exists, it is the answer that an evaluation is after.
    Ok(match layout.complement(cotarget) {
        Err(girih_layout::Error::NotTractable { .. }) => layout.complement_floor(cotarget)?,
        exact => exact?,
    })
}

/// The operation of a name.
pub fn find(name: &str) -> Option<&'static Op> {
    OPS.iter().copied().flatten().find(|op| op.name == name)
}

/// All operations.
pub fn all() -> impl Iterator<Item = &'static Op> {
    OPS.iter().copied().flatten()
}

/// Calls an operation with named arguments. The result is a layout's or a coordinate's text, a number, a list of numbers, or `"true"` and
/// `"false"`.
///
/// # Errors
/// [`OpError`].
pub fn evaluate(name: &str, args: &Map<String, Value>) -> Result {
    evaluate_with(name, args, &[])
}

/// [`evaluate`] with facts about the symbols in the operands.
///
/// # Errors
/// [`OpError`].
pub fn evaluate_with(name: &str, args: &Map<String, Value>, facts: &[Symbol]) -> Result {
    let op = find(name).ok_or(OpError::Unsupported)?;
    (op.run)(&Args(args, facts))
}

const OPS: &[&[Op]] = &[TUPLES, MAKE, QUERY, MODES, ALGEBRA, PRODUCTS, ANALYSIS, SWIZZLES];

macro_rules! ops {
    ($($table:ident: $( $name:literal ($($param:literal),*) |$args:ident| $body:expr; )*)+) => {
        $(const $table: &[Op] = &[$(Op { name: $name, params: &[$($param),*], run: |$args| $body }),*];)+
    };
}

ops! {
TUPLES:
    "congruent"("a", "b") |args| truth(args.shape("a")?.congruent(&args.shape("b")?));
    "weakly_congruent"("a", "b") |args| truth(args.shape("a")?.weakly_congruent(&args.shape("b")?));
    "compatible"("a", "b") |args| truth(args.shape("a")?.compatible(&args.shape("b")?)?);
    "evenly_divides"("a", "b") |args| truth(args.shape("a")?.evenly_divides(&args.shape("b")?)?);
    "shape_div"("a", "b") |args| ints(args.shape("a")?.shape_div(&args.shape("b")?)?);
    "ceil_div"("a", "b") |args| ints(args.shape("a")?.ceil_div(&args.shape("b")?)?);
    "round_up"("a", "b") |args| ints(args.shape("a")?.round_up(&args.shape("b")?)?);
    "crd2crd"("from", "to", "crd") |args| {
        coord(crd2crd(&args.shape("from")?, &args.shape("to")?, &args.coord("crd")?)?)
    };
    "idx2crd"("shape", "idx") |args| coord(natural_coord(&args.shape("shape")?, &args.coord("idx")?)?);
MAKE:
    "parse"("layout") |args| text(args.lay("layout")?);
    "make_layout_left"("shape") |args| text(Lay::left(&args.shape("shape")?)?);
    "make_layout_right"("shape") |args| text(Lay::right(&args.shape("shape")?)?);
    "make_identity_layout"("shape") |args| text(Lay::identity(&args.shape("shape")?)?);
    "make_ordered_layout"("shape", "order") |args| {
        text(Lay::ordered(&args.shape("shape")?, &args.read("order", IntTuple::parse)?)?)
    };
    "make_layout_like"("layout") |args| text(args.lay("layout")?.compact_like()?);
    "make_fragment_like"("layout") |args| text(args.lay("layout")?.fragment_like()?);
QUERY:
    "size"("layout") |args| int(args.lay("layout")?.size()?);
    "cosize"("layout") |args| {
        let layout = args.lay("layout")?;
        match layout.cosize() {
            // CuTe counts the indices from the least to the greatest.
            Err(girih_layout::Error::NonPositiveStride { .. }) => Ok(layout.span()?.into()),
            cosize => int(cosize?),
        }
    };
    "crd2idx"("layout", "crd") |args| Ok(args.lay("layout")?.crd2idx_extended(&args.coord("crd")?)?.into());
    "get_hier_coord"("layout", "idx") |args| coord(args.lay("layout")?.hier_coord(args.number("idx")?)?);
    "slice"("layout", "crd") |args| text(args.lay("layout")?.slice(&args.coord("crd")?)?.0);
    "slice_offset"("layout", "crd") |args| {
        let (layout, offset) = args.lay("layout")?.slice(&args.coord("crd")?)?;
        text(format_args!("{layout} @ {offset}"))
    };
    "dice"("layout", "crd") |args| text(args.lay("layout")?.dice(&args.coord("crd")?)?);
MODES:
    "flatten"("layout") |args| text(args.lay("layout")?.flatten());
    "group"("layout", "begin", "end") |args| {
        text(args.lay("layout")?.group(args.index("begin")?, args.index("end")?)?)
    };
    "take"("layout", "begin", "end") |args| {
        text(args.lay("layout")?.take(args.index("begin")?, args.index("end")?)?)
    };
    "select"("layout", "modes") |args| {
        let error = || OpError::Args { name: "modes".into(), expected: "a list of modes" };
        let modes = args.numbers("modes")?.into_iter().map(|mode| usize::try_from(mode).map_err(|_| error()));
        text(args.lay("layout")?.select(&modes.collect::<Result<Vec<_>>>()?)?)
    };
    "append"("a", "b") |args| text(args.lay("a")?.append(&args.lay("b")?)?);
    "prepend"("a", "b") |args| text(args.lay("a")?.prepend(&args.lay("b")?)?);
    "append_to"("a", "rank", "?b") |args| {
        let mode = if args.0.contains_key("b") { args.lay("b")? } else { Lay::UNIT };
        text(args.lay("a")?.append_to(args.index("rank")?, &mode)?)
    };
    "prepend_to"("a", "rank", "?b") |args| {
        let mode = if args.0.contains_key("b") { args.lay("b")? } else { Lay::UNIT };
        text(args.lay("a")?.prepend_to(args.index("rank")?, &mode)?)
    };
    "insert"("a", "at", "b") |args| text(args.lay("a")?.insert(args.index("at")?, &args.lay("b")?)?);
    "remove"("layout", "mode") |args| text(args.lay("layout")?.remove(args.index("mode")?)?);
    "reverse"("layout") |args| text(args.lay("layout")?.reverse());
    "zip"("a", "b") |args| text(args.lay("a")?.zip(&args.lay("b")?)?);
    "with_shape"("layout", "shape") |args| text(args.lay("layout")?.with_shape(&args.shape("shape")?)?);
ALGEBRA:
    "coalesce"("layout") |args| text(args.lay("layout")?.coalesce());
    "coalesce_profile"("layout", "profile") |args| {
        text(args.lay("layout")?.coalesce_by(&args.shape("profile")?)?)
    };
    "filter"("layout") |args| text(args.lay("layout")?.filter());
    "filter_zeros"("layout") |args| text(args.lay("layout")?.filter_zeros());
    "composition"("a", "b") |args| text(args.lay("a")?.compose(&args.tiler("b")?)?);
    "composition_tiler"("a", "tiler") |args| text(args.lay("a")?.compose(&args.tiler("tiler")?)?);
    "compose_general"("a", "b") |args| text(args.lay("a")?.compose_general(&args.lay("b")?)?);
    "compose_in_bounds"("a", "b") |args| text(args.lay("a")?.compose_in_bounds(&args.lay("b")?)?);
    "recognise"("values") |args| text(Lay::recognise(&args.numbers("values")?)?);
    "preimage"("layout", "idx") |args| {
        args.lay("layout")?.preimage(args.number("idx")?)?.map_or(Ok(Value::Null), coord)
    };
    "complement_floor"("layout", "cotarget") |args| {
        text(args.lay("layout")?.complement_floor(args.int("cotarget")?)?)
    };
    "complement"("layout", "cotarget") |args| {
        text(complement(&args.lay("layout")?, args.int("cotarget")?)?)
    };
    "complement_default"("layout") |args| {
        let layout = args.lay("layout")?;
        text(complement(&layout, layout.filter().cosize()?)?)
    };
    "right_inverse"("layout") |args| text(args.lay("layout")?.right_inverse()?);
    "left_inverse"("layout") |args| text(args.lay("layout")?.quasi_inverse()?);
    "logical_divide"("a", "tiler") |args| text(args.lay("a")?.logical_divide(&args.tiler("tiler")?)?);
    "zipped_divide"("a", "tiler") |args| text(args.lay("a")?.zipped_divide(&args.tiler("tiler")?)?);
    "tiled_divide"("a", "tiler") |args| text(args.lay("a")?.tiled_divide(&args.tiler("tiler")?)?);
    "flat_divide"("a", "tiler") |args| text(args.lay("a")?.flat_divide(&args.tiler("tiler")?)?);
PRODUCTS:
    "logical_product"("a", "tiler") |args| text(args.lay("a")?.logical_product(&args.tiler("tiler")?)?);
    "outer_product"("a", "tiler") |args| {
        text(args.lay("a")?.logical_product_with(&args.tiler("tiler")?, Product::Outer)?)
    };
    "zipped_product"("a", "tiler") |args| text(args.lay("a")?.zipped_product(&args.tiler("tiler")?)?);
    "tiled_product"("a", "tiler") |args| text(args.lay("a")?.tiled_product(&args.tiler("tiler")?)?);
    "flat_product"("a", "tiler") |args| text(args.lay("a")?.flat_product(&args.tiler("tiler")?)?);
    "blocked_product"("a", "tiler") |args| text(args.lay("a")?.blocked_product(&args.lay("tiler")?)?);
    "raked_product"("a", "tiler") |args| text(args.lay("a")?.raked_product(&args.lay("tiler")?)?);
    "tile_to_shape"("block", "target", "?order") |args| {
        let order = args.0.contains_key("order").then(|| args.read("order", IntTuple::parse)).transpose()?;
        text(args.lay("block")?.tile_to_shape(&args.shape("target")?, order.as_ref())?)
    };
ANALYSIS:
    "nullspace"("layout") |args| text(args.lay("layout")?.nullspace()?);
    "is_injective"("layout") |args| truth(args.lay("layout")?.is_injective()?);
    "is_compact"("layout") |args| truth(args.lay("layout")?.is_compact()?);
    "max_common_layout"("a", "b") |args| text(args.lay("a")?.max_common_layout(&args.lay("b")?)?);
    "max_common_vector"("a", "b") |args| int(args.lay("a")?.max_common_vector(&args.lay("b")?)?);
    "max_alignment"("layout") |args| Ok(args.lay("layout")?.max_alignment()?.into());
    "domain_distribute"("shape", "n") |args| {
        text(Lay::domain_distribute(&args.shape("shape")?, args.number("n")?)?)
    };
    "upcast"("layout", "n") |args| text(args.lay("layout")?.upcast(args.number("n")?)?);
    "downcast"("layout", "n") |args| text(args.lay("layout")?.downcast(args.number("n")?)?);
    "recast"("layout", "old_bits", "new_bits") |args| {
        text(args.lay("layout")?.recast(args.number("old_bits")?, args.number("new_bits")?)?)
    };
SWIZZLES:
    "swizzle"("bits", "base", "shift", "xs") |args| {
        let swizzle = args.swizzle()?;
        Ok(args.numbers("xs")?.into_iter().map(|x| swizzle.apply(x)).collect())
    };
    "swizzle_layout"("bits", "base", "shift", "offset", "layout") |args| text(args.composed()?);
    "swizzle_zipped_divide"("bits", "base", "shift", "layout", "tiler") |args| {
        text(args.composed()?.zipped_divide(&args.tiler("tiler")?)?)
    };
    "decay"("swizzled") |args| {
        let (layout, offset) = args.swizzled()?.decay()?;
        text(format_args!("{layout} @ {offset}"))
    };
    "columns"("swizzled") |args| text(args.swizzled()?.columns()?);
    "swizzle_left_inverse"("swizzled") |args| text(args.swizzled()?.left_inverse()?);
    "swizzle_right_inverse"("swizzled") |args| text(args.swizzled()?.right_inverse()?);
    "f2"("swizzled") |args| {
        let composed = args.swizzled()?;
        text(F2Matrix::of_composed(&composed)?.layout(composed.layout().shape())?)
    };
    "swizzle_recast"("bits", "base", "shift", "layout", "old_bits", "new_bits") |args| {
        text(args.composed()?.recast(args.number("old_bits")?, args.number("new_bits")?)?)
    };
}
