//! Registers to global memory: the accumulators become C.

use girih_layout::{Int, Lay, Shape, Stride, Symbol};
use girih_ptx::{Opcode, Operand as Ptx, Type, Word};
use girih_tensor::{DType, Slice, Space, Tensor};

use super::GemmConfig;
use crate::algorithm::registers;
use crate::builder::{Builder, Cond, Reg};
use crate::tiled_copy::shape_tiler;
use crate::tiled_mma::Operand;
use crate::{Counting, Error, Expr, Gmem, Memory, Rmem, engine, vectorise};

/// C in global memory.
pub(crate) struct GlobalC {
    pub(crate) pointer: Expr,
    pub(crate) extents: [Symbol; 2],
    pub(crate) pitch: Symbol,
}

/// Stores the accumulators of block tile `block`, each vector under the predicate that it lies inside C.
pub(crate) fn store(
    b: &mut Builder,
    config: &GemmConfig,
    accumulators: &Rmem,
    global: &GlobalC,
    block: &[Expr; 2],
    thread: &Expr,
) -> Result<(), Error> {
    let shape = Shape::flat(&global.extents.map(Int::symbol))?;
    let strides = [Stride::Int(Int::symbol(global.pitch)), Stride::Int(Int::fixed(1))];
    let matrix = Lay::new(&shape, &girih_layout::Strides::flat(&strides)?)?; // (M,N)
    let tiler = shape_tiler(&config.extents(Operand::C))?;
    let tile = block.clone().map(Slice::At);
    let g =
        Tensor::new(Gmem::new(global.pointer.clone(), config.c_type), matrix).local_tile(&tiler, &tile)?; // (BlockM,BlockN)
    let c = Tensor::new(Counting::new(2), Lay::identity(&shape)?).local_tile(&tiler, &tile)?; // (BlockM,BlockN) -> (m,n)
    let mma = config.mma().get_slice(thread)?;
    let g = mma.partition(Operand::C, &g)?; // (FrgV,RestM,RestN)
    let c = mma.partition(Operand::C, &c)?; // (FrgV,RestM,RestN)

    let compact = Lay::left(g.layout().shape())?;
    let vectors = vectorise(g.layout(), &compact, config.c_vector)?; // ((Vec),(Rest..))
    let coordinates = vectorise_like(g.layout(), c.layout(), config.c_vector)?;
    let g = Tensor::new(g.engine().clone(), vectors.memory);
    let c = Tensor::new(c.engine().clone(), coordinates);
    let extents = global.extents.map(|s| Expr::from_int(&Int::symbol(s)));
    for i in 0..vectors.count()? {
        let at = i * vectors.width;
        let position = engine::at(&c, at)?;
        let inside =
            Cond::all(position.coordinate().iter().zip(&extents).map(|(x, extent)| Cond::less(x, extent)));
        let values = registers(accumulators, &vectors, i)?;
        let values = convert(b, config.c_type, &values)?;
        b.store(Space::Gmem, &engine::at(&g, at)?.address()?, &values, &inside)?;
    }
    Ok(())
}

/// `other` reordered as [`vectorise`] reorders `memory`.
fn vectorise_like(memory: &Lay, other: &Lay, limit: i64) -> Result<Lay, Error> {
    Ok(vectorise(memory, other, limit)?.registers)
}

/// f32 values as registers of the output type: 16-bit values in pairs, a lone one in a 16-bit register.
pub(crate) fn convert(b: &mut Builder, to: DType, values: &[Reg]) -> Result<Vec<Reg>, Error> {
    let (scalar, pair) = match to {
        DType::F32 => return Ok(values.to_vec()),
        DType::F16 => (Type::F16, Type::F16x2),
        DType::Bf16 => (Type::Bf16, Type::Bf16x2),
        other => {
            return Err(Error::Config {
                what: "c_type",
                value: other.to_string(),
                accepted: String::from("f32, f16 or bf16"),
            });
        }
    };
    let mut out = Vec::new();
    for chunk in values.chunks(2) {
        let (ty, reg) = if chunk.len() == 2 { (pair, b.reg(Type::B32)) } else { (scalar, b.reg(Type::B16)) };
        // The first source of a packing conversion is the upper half.
        let mut operands = vec![Ptx::from(&reg)];
        operands.extend(chunk.iter().rev().map(Ptx::from));
        b.inst(Opcode::Cvt, &[Word::Rn.into(), ty.into(), Type::F32.into()], operands);
        out.push(reg);
    }
    Ok(out)
}
