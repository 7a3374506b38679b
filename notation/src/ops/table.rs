//! Every operation: its name, its arguments, and how it computes its answer.

use std::fmt;

use girih_layout::{
    Coord, Crd, F2Matrix, Int, IntTuple, Lay, Product, Stride, Strides, Sum, crd2crd, natural_coord,
};
use serde_json::Value;

use super::args::{Args, Operand};
use super::{Op, OpError, Result};

pub(super) const OPS: &[&[Op]] = &[TUPLES, MAKE, QUERY, MODES, ALGEBRA, PRODUCTS, ANALYSIS, SWIZZLES];

fn text(value: impl fmt::Display) -> Result {
    Ok(Value::String(value.to_string()))
}

fn truth(value: bool) -> Result {
    text(value)
}

/// The sum as a number if the sum is a number, else as text.
fn int(value: impl Into<Sum>) -> Result {
    let value = value.into();
    value.get().map_or_else(|| text(value), |n| Ok(n.into()))
}

/// A tuple that is one leaf as a number, any other tuple as text.
fn ints(tuple: IntTuple) -> Result {
    match tuple.get(0) {
        Some(leaf) if tuple.is_leaf() => int(leaf),
        _ => text(tuple),
    }
}

/// A tuple that is one leaf as a number, any other tuple as text.
fn coord(coord: Coord) -> Result {
    match coord.get(0) {
        Some(Crd::At(position)) if coord.is_leaf() => Ok(position.into()),
        _ => text(coord),
    }
}

fn complement(args: &Args<'_>, layout: &Lay, cotarget: Int) -> Result<Lay> {
    use girih_layout::Error as Layout;
    // Where only CuTe's rounded form exists, the rounded form is the answer.
    Ok(match layout.complement(cotarget) {
        Err(error @ Layout::NotTractable { .. }) => {
            let floor = layout.complement_floor(cotarget).map_err(|open| match open {
                // With numbers for the symbols there may be a complement, so the error of the symbols is the answer.
                Layout::NeedsFact { symbol, fact, .. } => {
                    Layout::NeedsFact { op: "complement", symbol, fact }
                }
                Layout::NotKnown { value, .. } => Layout::NotKnown { op: "complement", value },
                other if other.op().is_none() => other,
                _ => error,
            })?;
            args.note(format!("this is the rounded form, complement_floor: {error}"));
            floor
        }
        exact => exact?,
    })
}

/// How many basis vectors a layout has: one more than the last one that the layout steps along.
fn basis_rank(layout: &Lay) -> usize {
    let mode = |leaf| match layout.flat_leaf(leaf).1 {
        Stride::Basis { mode, .. } => mode.first() + 1,
        _ => 0,
    };
    (0..layout.leaf_count()).map(mode).max().unwrap_or(0)
}

/// The extents along the basis vectors of a tree, which may be sums, as text.
fn coshape(layout: &Lay, basis: &Strides) -> Result<String> {
    if let (true, Some(Stride::Basis { mode, .. })) = (basis.is_leaf(), basis.get(0)) {
        return Ok(layout.coextent(mode)?.to_string());
    }
    let modes = (0..basis.rank()).map(|mode| coshape(layout, &basis.mode(mode)?));
    Ok(format!("({})", modes.collect::<Result<Vec<_>>>()?.join(",")))
}

/// Applies the same operation to a plain layout or to a swizzled layout, whose swizzle stays.
macro_rules! both {
    ($args:ident, $name:literal, |$operand:ident| $body:expr) => {
        match $args.operand($name)? {
            Operand::Plain($operand) => $body,
            Operand::Swizzled($operand) => $body,
        }
    };
}

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
    "size"("layout") |args| int(args.swizzled("layout")?.layout().size()?);
    "cosize"("layout") |args| match args.operand("layout")? {
        Operand::Plain(layout) => match layout.cosize() {
            // CuTe counts the indices from the least index to the greatest index.
            Err(girih_layout::Error::NonPositiveStride { .. }) => int(layout.span()?),
            cosize => int(cosize?),
        },
        Operand::Swizzled(composed) => int(composed.cosize()?),
    };
    "crd2idx"("layout", "crd") |args| match args.operand("layout")? {
        Operand::Plain(layout) => int(layout.index_extended(&args.coord("crd")?)?),
        Operand::Swizzled(composed) => Ok(composed.crd2idx(&args.coord("crd")?)?.into()),
    };
    "get_hier_coord"("layout", "idx") |args| coord(args.lay("layout")?.hier_coord(args.number("idx")?)?);
    "rank"("layout") |args| Ok(args.swizzled("layout")?.layout().rank().into());
    "depth"("layout") |args| Ok(args.swizzled("layout")?.layout().depth().into());
    "coshape"("layout") |args| {
        let layout = args.lay("layout")?;
        let basis = layout.coordinate_basis(basis_rank(&layout).max(1))?;
        text(coshape(&layout, &basis)?)
    };
    "slice"("layout", "crd") |args| match args.operand("layout")? {
        Operand::Plain(layout) => text(layout.slice(&args.coord("crd")?)?.0),
        // The fixed positions go into the offset before the swizzle.
        Operand::Swizzled(composed) => text(composed.slice(&args.coord("crd")?)?),
    };
    "slice_offset"("layout", "crd") |args| match args.operand("layout")? {
        Operand::Plain(layout) => {
            let (layout, offset) = layout.slice(&args.coord("crd")?)?;
            text(format_args!("{layout} @ {offset}"))
        }
        Operand::Swizzled(composed) => text(composed.slice(&args.coord("crd")?)?),
    };
    "domain_offset"("layout", "crd") |args| match args.operand("layout")? {
        Operand::Plain(layout) => {
            let offset = layout.domain_offset(&args.coord("crd")?)?;
            text(format_args!("{layout} @ {offset}"))
        }
        Operand::Swizzled(composed) => text(composed.domain_offset(&args.coord("crd")?)?),
    };
    "dice"("layout", "crd") |args| text(args.lay("layout")?.dice(&args.coord("crd")?)?);
MODES:
    "flatten"("layout") |args| both!(args, "layout", |layout| text(layout.flatten()));
    "group"("layout", "begin", "end") |args| {
        both!(args, "layout", |layout| text(layout.group(args.index("begin")?, args.index("end")?)?))
    };
    "take"("layout", "begin", "end") |args| {
        both!(args, "layout", |layout| text(layout.take(args.index("begin")?, args.index("end")?)?))
    };
    "select"("layout", "modes") |args| {
        let error = || OpError::Args { name: "modes".into(), expected: "a list of modes" };
        let modes = args.numbers("modes")?.into_iter().map(|mode| usize::try_from(mode).map_err(|_| error()));
        let modes = modes.collect::<Result<Vec<_>>>()?;
        both!(args, "layout", |layout| text(layout.select(&modes)?))
    };
    "append"("a", "b") |args| text(args.lay("a")?.append(&args.lay("b")?)?);
    "prepend"("a", "b") |args| text(args.lay("a")?.prepend(&args.lay("b")?)?);
    "append_to"("a", "rank", "?b") |args| {
        let mode = if args.has("b") { args.lay("b")? } else { Lay::UNIT };
        text(args.lay("a")?.append_to(args.index("rank")?, &mode)?)
    };
    "prepend_to"("a", "rank", "?b") |args| {
        let mode = if args.has("b") { args.lay("b")? } else { Lay::UNIT };
        text(args.lay("a")?.prepend_to(args.index("rank")?, &mode)?)
    };
    "insert"("a", "at", "b") |args| text(args.lay("a")?.insert(args.index("at")?, &args.lay("b")?)?);
    "replace"("layout", "mode", "by") |args| {
        text(args.lay("layout")?.replace(args.index("mode")?, &args.lay("by")?)?)
    };
    "remove"("layout", "mode") |args| text(args.lay("layout")?.remove(args.index("mode")?)?);
    "reverse"("layout") |args| text(args.lay("layout")?.reverse());
    "zip"("a", "b") |args| text(args.lay("a")?.zip(&args.lay("b")?)?);
    "with_shape"("layout", "shape") |args| {
        both!(args, "layout", |layout| text(layout.with_shape(&args.shape("shape")?)?))
    };
    "unflatten"("layout", "profile") |args| {
        let profile = args.shape("profile")?;
        both!(args, "layout", |layout| text(layout.unflatten(profile.profile())?))
    };
ALGEBRA:
    "coalesce"("layout") |args| both!(args, "layout", |layout| text(layout.coalesce()));
    "coalesce_profile"("layout", "profile") |args| {
        both!(args, "layout", |layout| text(layout.coalesce_by(&args.shape("profile")?)?))
    };
    "filter"("layout") |args| both!(args, "layout", |layout| text(layout.filter()));
    "filter_zeros"("layout") |args| text(args.lay("layout")?.filter_zeros());
    "composition"("a", "b") |args| both!(args, "a", |a| text(a.compose(&args.tiler("b")?)?));
    "composition_tiler"("a", "tiler") |args| both!(args, "a", |a| text(a.compose(&args.tiler("tiler")?)?));
    "compose_general"("a", "b") |args| both!(args, "a", |a| text(a.compose_general(&args.lay("b")?)?));
    "compose_in_bounds"("a", "b") |args| both!(args, "a", |a| text(a.compose_in_bounds(&args.lay("b")?)?));
    "recognise"("values") |args| text(Lay::recognise(&args.numbers("values")?)?);
    "preimage"("layout", "idx") |args| {
        args.lay("layout")?.preimage(args.number("idx")?)?.map_or(Ok(Value::Null), coord)
    };
    "complement_floor"("layout", "cotarget") |args| {
        text(args.lay("layout")?.complement_floor(args.int("cotarget")?)?)
    };
    "complement"("layout", "cotarget") |args| {
        text(complement(args, &args.lay("layout")?, args.int("cotarget")?)?)
    };
    "complement_default"("layout") |args| {
        let layout = args.lay("layout")?;
        text(complement(args, &layout, layout.filter().cosize()?.try_into()?)?)
    };
    "right_inverse"("layout") |args| both!(args, "layout", |layout| text(layout.right_inverse()?));
    "left_inverse"("layout") |args| match args.operand("layout")? {
        Operand::Plain(layout) => text(layout.quasi_inverse()?),
        Operand::Swizzled(composed) => text(composed.left_inverse()?),
    };
    "logical_divide"("a", "tiler") |args| both!(args, "a", |a| text(a.logical_divide(&args.tiler("tiler")?)?));
    "zipped_divide"("a", "tiler") |args| both!(args, "a", |a| text(a.zipped_divide(&args.tiler("tiler")?)?));
    "tiled_divide"("a", "tiler") |args| both!(args, "a", |a| text(a.tiled_divide(&args.tiler("tiler")?)?));
    "flat_divide"("a", "tiler") |args| both!(args, "a", |a| text(a.flat_divide(&args.tiler("tiler")?)?));
PRODUCTS:
    "logical_product"("a", "tiler") |args| both!(args, "a", |a| text(a.logical_product(&args.tiler("tiler")?)?));
    "outer_product"("a", "tiler") |args| {
        text(args.lay("a")?.logical_product_with(&args.tiler("tiler")?, Product::Outer)?)
    };
    "zipped_product"("a", "tiler") |args| both!(args, "a", |a| text(a.zipped_product(&args.tiler("tiler")?)?));
    "tiled_product"("a", "tiler") |args| both!(args, "a", |a| text(a.tiled_product(&args.tiler("tiler")?)?));
    "flat_product"("a", "tiler") |args| both!(args, "a", |a| text(a.flat_product(&args.tiler("tiler")?)?));
    "blocked_product"("a", "tiler") |args| both!(args, "a", |a| text(a.blocked_product(&args.lay("tiler")?)?));
    "raked_product"("a", "tiler") |args| both!(args, "a", |a| text(a.raked_product(&args.lay("tiler")?)?));
    "tile_to_shape"("block", "target", "?order") |args| {
        let order = args.has("order").then(|| args.read("order", IntTuple::parse)).transpose()?;
        both!(args, "block", |block| text(block.tile_to_shape(&args.shape("target")?, order.as_ref())?))
    };
ANALYSIS:
    "nullspace"("layout") |args| text(args.lay("layout")?.nullspace()?);
    // A swizzle only permutes indices.
    "is_injective"("layout") |args| truth(args.swizzled("layout")?.layout().is_injective()?);
    "is_compact"("layout") |args| truth(args.lay("layout")?.is_compact()?);
    "max_common_layout"("a", "b") |args| match [args.operand("a")?, args.operand("b")?] {
        [Operand::Plain(a), Operand::Plain(b)] => text(a.max_common_layout(&b)?),
        _ => text(args.swizzled("a")?.max_common_layout(&args.swizzled("b")?)?),
    };
    "max_common_vector"("a", "b") |args| match [args.operand("a")?, args.operand("b")?] {
        [Operand::Plain(a), Operand::Plain(b)] => int(a.max_common_vector(&b)?),
        _ => int(args.swizzled("a")?.max_common_vector(&args.swizzled("b")?)?),
    };
    "max_alignment"("layout") |args| both!(args, "layout", |layout| Ok(layout.max_alignment()?.into()));
    "domain_distribute"("shape", "n") |args| {
        text(Lay::domain_distribute(&args.shape("shape")?, args.number("n")?)?)
    };
    "upcast"("layout", "n") |args| text(args.lay("layout")?.upcast(args.number("n")?)?);
    "downcast"("layout", "n") |args| text(args.lay("layout")?.downcast(args.number("n")?)?);
    "recast"("layout", "old_bits", "new_bits") |args| {
        let [old, new] = [args.number("old_bits")?, args.number("new_bits")?];
        both!(args, "layout", |layout| text(layout.recast(old, new)?))
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
        let (layout, offset) = args.swizzled("swizzled")?.decay()?;
        text(format_args!("{layout} @ {offset}"))
    };
    "columns"("swizzled") |args| text(args.swizzled("swizzled")?.columns()?);
    "swizzle_left_inverse"("swizzled") |args| text(args.swizzled("swizzled")?.left_inverse()?);
    "swizzle_right_inverse"("swizzled") |args| text(args.swizzled("swizzled")?.right_inverse()?);
    "f2"("swizzled") |args| {
        let composed = args.swizzled("swizzled")?;
        text(F2Matrix::of_composed(&composed)?.layout(composed.layout().shape())?)
    };
    "swizzle_recast"("bits", "base", "shift", "layout", "old_bits", "new_bits") |args| {
        text(args.composed()?.recast(args.number("old_bits")?, args.number("new_bits")?)?)
    };
}
