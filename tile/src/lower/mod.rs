//! From a placed function to PTX, one family of operations a file.
//!
//! A value is held in registers of each thread, in the order of its distribution's values:
//!
//! | dtype | register |
//! |---|---|
//! | bool | `.pred` |
//! | s8, s16, s32 | `.s32`, sign-extended |
//! | u8, u16, u32 | `.u32`, zero-extended |
//! | s64, u64 | `.s64`, `.u64` |
//! | f16, bf16 | `.b16` |
//! | f32, tf32 | `.f32` |
//! | f64 | `.f64` |
//! | e4m3, e5m2 | `.u32`, the byte |

use girih_codegen::{Builder, Expr, Reg};
use girih_ptx::Type;
use girih_tensor::DType;

use crate::ir::Value;
use crate::place::Plan;

/// The type of the registers that hold elements of a dtype.
pub fn register(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::Pred,
        DType::F64 => Type::F64,
        DType::F32 | DType::Tf32 => Type::F32,
        DType::F16 | DType::Bf16 => Type::B16,
        DType::S64 => Type::S64,
        DType::U64 => Type::U64,
        DType::S32 | DType::S16 | DType::S8 | DType::S4 => Type::S32,
        DType::U32 | DType::U16 | DType::U8 | DType::U4 | DType::B1 | DType::E4m3 | DType::E5m2 => Type::U32,
    }
}

/// What lowering knows of a value.
#[derive(Clone, Debug)]
pub enum Held {
    /// Registers in the order of the distribution's values.
    Regs(Vec<Reg>),
    /// An integer scalar as an index expression, with its range and divisor.
    Index(Expr),
}

/// A kernel in the making. Families of operations add methods in files of their own.
pub struct Lowering<'a> {
    /// The builder of the kernel.
    pub b: Builder,
    /// The function and its distributions.
    pub plan: &'a Plan,
    /// The thread's number.
    pub thread: Expr,
    pub(crate) held: Vec<Option<Held>>,
}

impl Lowering<'_> {
    /// Says what holds a value.
    pub(crate) fn hold(&mut self, value: Value, held: Held) {
        self.held[value.index()] = Some(held);
    }
}
