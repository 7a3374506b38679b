//! The parameters of a kernel: pointers, what of extents and strides is not known, scalars.

use std::collections::BTreeMap;

use girih_codegen::atom::GmmaSwizzle;
use girih_codegen::{Builder, Expr, TmaCopy};
use girih_layout::{Int, Symbol};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::words::{integer, m};
use super::{Held, Lowering, unfit};
use crate::error::Result;
use crate::fit;
use crate::ir::{ArrayId, ArrayParam, Func, Kind, Known, Op, OpId};
use crate::place::wgmma::SharedTile;

/// What a parameter of a kernel stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The address of an array's first element.
    Pointer(ArrayId),
    /// The extent of an array along an axis.
    Extent(ArrayId, u8),
    /// The stride of an array along an axis, in elements.
    Stride(ArrayId, u8),
    /// A scalar parameter of the function, by its position.
    Scalar(u16),
    /// The extent of the grid along an axis, of which each block that runs takes several blocks.
    Grid(u8),
    /// A tensor map of an array, by [`Param::boxes`].
    Map(ArrayId),
}

/// The boxes of a tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The axes of the array in the order of the map's dimensions, the innermost first.
    pub axes: Vec<usize>,
    /// The extents of a box, by the map's dimensions.
    pub extents: Vec<u32>,
    /// How a box is laid out in shared memory.
    pub swizzle: GmmaSwizzle,
}

impl Boxes {
    /// Those of the TMA copy of a tile.
    pub(crate) fn of(tile: &SharedTile, copy: &TmaCopy) -> Boxes {
        let (axes, extents) = copy.boxes().unzip();
        Boxes { dtype: tile.dtype, axes, extents, swizzle: tile.swizzle }
    }
}

/// A parameter of a kernel, by which a launch binds it. Integers and bool of fewer than 32 bits are extended to 32; floats of 16 and 8
/// bits are the lowest bits of 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The parameter's name in the kernel.
    pub name: String,
    /// What it stands for.
    pub source: Source,
    /// Its size in bytes: 4 or 8, and 128 of a tensor map.
    pub bytes: u32,
    /// The largest value of an extent or a stride.
    pub most: i64,
    /// The boxes of a tensor map.
    pub boxes: Option<Boxes>,
}

/// An array parameter as the kernel sees it.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) pointer: Expr,
    pub(crate) extents: Vec<Expr>,
    /// In elements.
    pub(crate) strides: Vec<Expr>,
}

/// The parameters of a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params {
    pub(crate) list: Vec<Param>,
    pub(crate) arrays: BTreeMap<ArrayId, Bound>,
    pub(crate) scalars: Vec<Held>,
    /// The extents of the grid of which each block takes several blocks.
    pub(crate) grid: Vec<Expr>,
}

impl Params {
    pub(crate) fn declare(b: &mut Builder, func: &Func) -> Result<Params> {
        let mut params = Params::default();
        for (array, param) in func.params() {
            params.array(b, array, param)?;
        }
        for (i, scalar) in func.scalars().iter().enumerate() {
            let held = params.scalar(b, fit::scalar(i), &scalar.name, scalar.dtype, scalar.known)?;
            params.scalars.push(held);
        }
        if func.is_persistent() {
            for axis in 0..3 {
                // No parameter of a program has a `$`.
                let name = params.add(format!("grid${axis}"), Source::Grid(axis), 4, i32::MAX.into());
                params.grid.push(b.number(&name, i32::MAX.into()));
            }
        }
        Ok(params)
    }

    fn add(&mut self, name: String, source: Source, bytes: u32, most: i64) -> String {
        self.list.push(Param { name: name.clone(), source, bytes, most, boxes: None });
        name
    }

    pub(crate) fn add_map(&mut self, name: String, source: Source, boxes: Boxes) {
        let bytes = fit::item(girih_ptx::TENSOR_MAP_BYTES);
        self.list.push(Param { name, source, bytes, most: 0, boxes: Some(boxes) });
    }

    fn array(&mut self, b: &mut Builder, id: ArrayId, param: &ArrayParam) -> Result {
        let name = self.add(param.name.clone(), Source::Pointer(id), 8, 0);
        let pointer = b.pointer(&name, i64::from(param.align.max(1)));
        let mut extents = Vec::new();
        for (axis, &known) in param.extents.iter().enumerate() {
            let source = Source::Extent(id, fit::axis(axis));
            let name = format!("{}_n{axis}", param.name);
            extents.push(self.size(b, name, source, known, i32::MAX.into())?);
        }
        let mut strides = Vec::new();
        let most = fit::farthest(param.strides.len());
        for (axis, &known) in param.strides.iter().enumerate() {
            let source = Source::Stride(id, fit::axis(axis));
            strides.push(self.size(b, format!("{}_s{axis}", param.name), source, known, most)?);
        }
        self.arrays.insert(id, Bound { pointer, extents, strides });
        Ok(())
    }

    fn size(
        &mut self,
        b: &mut Builder,
        name: String,
        source: Source,
        known: Known,
        most: i64,
    ) -> Result<Expr> {
        let multiple = match known {
            Known::Is(value) => return Ok(Expr::from(value)),
            Known::MultipleOf(n) => n.max(1),
        };
        if most > i32::MAX.into() {
            let name = self.add(name, source, 8, most);
            return Ok(b.wide_number(&name, most, multiple));
        }
        let name = self.add(name, source, 4, most);
        let symbol: Symbol = b.symbol(&name, |n| n.at_most(most).divisible_by(multiple))?;
        Ok(Expr::from_int(&Int::symbol(symbol)))
    }

    fn scalar(
        &mut self,
        b: &mut Builder,
        position: u16,
        name: &str,
        dtype: DType,
        known: Known,
    ) -> Result<Held> {
        let source = Source::Scalar(position);
        let (least, most) = crate::dtype::range(dtype);
        if let (Known::Is(value), true) = (known, dtype.is_integer())
            && (least..=most).contains(&value)
        {
            return Ok(Held::Index(Expr::from(value)));
        }
        let wide = dtype.bits() == 64;
        let name = self.add(name.to_string(), source, if wide { 8 } else { 4 }, 0);
        let raw = match dtype {
            DType::F64 | DType::F32 | DType::S64 | DType::U64 | DType::S32 => dtype,
            DType::Tf32 => DType::F32,
            _ => DType::U32,
        };
        let raw = b.scalar_parameter(&name, raw)?;
        let reg = b.scalar(&raw)?;
        Ok(match dtype {
            DType::Bool => {
                let inputs = vec![Operand::from(&reg), Operand::Int(0)];
                Held::Regs(vec![b.inst_to(Type::Pred, Opcode::Setp, m![Word::Ne, Type::U32], inputs)])
            }
            DType::F16 | DType::Bf16 => {
                let inputs = vec![Operand::from(&reg)];
                Held::Regs(vec![b.inst_to(Type::B16, Opcode::Cvt, m![Type::U16, Type::U32], inputs)])
            }
            _ if dtype.is_integer() => {
                // Index expressions do not reach all numbers of 64 bits.
                if wide {
                    return Ok(Held::Regs(vec![reg]));
                }
                let multiple = match known {
                    Known::MultipleOf(n) => n.max(1),
                    Known::Is(_) => 1,
                };
                let ty = integer(dtype);
                let reg = if dtype.is_signed() && dtype.bits() < 32 {
                    b.inst_to(ty, Opcode::Mov, m![Type::B32], vec![Operand::from(&reg)])
                } else {
                    reg
                };
                Held::Index(b.var(&reg, least / multiple * multiple, most / multiple * multiple, multiple))
            }
            _ => Held::Regs(vec![reg]),
        })
    }
}

impl Lowering<'_> {
    /// A block's number, the grid's extent, an array's extent, or a scalar parameter.
    pub(crate) fn number(&mut self, id: OpId, op: &Op) -> Result {
        use girih_ptx::Special as S;
        let held = match op.kind {
            Kind::Worker => Held::Index(self.b.special(S::CtaidX)),
            Kind::Workers => Held::Index(self.b.special(S::NctaidX)),
            Kind::Bid(_) if !op.operands.is_empty() => {
                let at = self.index(op.operands[0])?;
                Held::Index(self.b.bounded(&at, i64::from(i32::MAX) - 1)?)
            }
            Kind::NumBlocks(axis) if !self.params.grid.is_empty() => {
                Held::Index(self.params.grid[usize::from(axis)].clone())
            }
            Kind::Bid(axis) => {
                let special = [S::CtaidX, S::CtaidY, S::CtaidZ].get(usize::from(axis)).copied();
                Held::Index(self.b.special(special.ok_or_else(|| self.unsupported(id, "no such axis"))?))
            }
            Kind::NumBlocks(axis) => {
                let special = [S::NctaidX, S::NctaidY, S::NctaidZ].get(usize::from(axis)).copied();
                Held::Index(self.b.special(special.ok_or_else(|| self.unsupported(id, "no such axis"))?))
            }
            Kind::Dim(array, axis) => Held::Index(self.array_at(array)?.extents[usize::from(axis)].clone()),
            Kind::Param(position) => self
                .params
                .scalars
                .get(usize::from(position))
                .cloned()
                .ok_or_else(|| unfit(format!("no scalar parameter {position}")))?,
            _ => return Err(self.unsupported(id, "is no number")),
        };
        self.hold(op.results[0], held);
        Ok(())
    }
}
