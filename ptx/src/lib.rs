//! PTX as a typed syntax tree.
//!
//! ```text
//! text --parse--> Module --print--> text        parse(print(m)) == m
//!                   |
//!                   +--verify--> every instruction has a form, every name a declaration
//!                   +--kernels-> signatures and resources, for a launcher
//! ```
//!
//! Only the printer writes PTX text; everything that generates PTX builds a [`Module`], everything that reads PTX gets
//! a module from [`Module::parse`]. The tree is open: any opcode takes any modifiers and operands. Which of these are
//! PTX, and since which `.version` and architecture, is said by one table, [`forms`].
//!
//! ```
//! use girih_ptx::Module;
//!
//! let module = Module::parse(
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry twice(.param .u64 data) .maxntid 32
//!      {
//!        .reg .b32 %r<2>; .reg .b64 %rd<3>; .reg .f32 %f<2>;
//!        ld.param.u64 %rd0, [data];
//!        mov.u32 %r0, %tid.x;
//!        mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;
//!        ld.global.f32 %f0, [%rd2]; add.rn.f32 %f1, %f0, %f0; st.global.f32 [%rd2], %f1;
//!        ret;
//!      }",
//! )?;
//! module.verify()?;
//! let kernel = &module.kernels()[0];
//! assert_eq!((&*kernel.name, kernel.params[0].bytes, kernel.max_threads), ("twice", 8, Some(32)));
//! assert!(module.to_string().contains("  mul.wide.u32 %rd1, %r0, 4;\n"));
//! # Ok::<(), girih_ptx::Error>(())
//! ```

pub mod ast;
mod demand;
mod error;
pub mod forms;
pub mod info;
mod lex;
mod link;
mod literal;
mod notes;
mod parse;
mod place;
mod pressure;
mod print;
mod tensor_map;
mod verify;
pub mod words;

pub use ast::*;
pub use error::Error;
pub use forms::Form;
pub use info::{KernelInfo, ParamInfo};
pub use notes::{Claim, Fact, LaunchNotes, Notes, Site};
pub use parse::Refused;
pub use pressure::Pressure;
pub use tensor_map::{
    Columns, Interleave, L2Promotion, OobFill, TENSOR_MAP_BYTES, TENSOR_MAP_RANK, TensorElement, TensorField,
    TensorMap, TensorSwizzle, Tiled,
};
pub use words::{Modifier, Opcode, Special, Type, Word};
