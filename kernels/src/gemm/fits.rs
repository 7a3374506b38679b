//! Checks that a configuration and an epilogue fit a problem.

use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, BlockScales, Epilogue, GemmConfig, Major, MixedInput, Schedule};
use girih_tensor::DType;

use super::{Problem, choose};
use crate::Error;

/// Checks that both the problem and the epilogue make one column of C of two of the product, or neither.
pub(super) fn gates(problem: &Problem, epilogue: &Epilogue) -> Result<(), Error> {
    let refused = |found: &str, accepted| Err(Error::Gated { found: found.into(), accepted });
    match (problem.is_gated(), epilogue.is_gated()) {
        (true, false) => {
            refused("an epilogue without a gate", "one with `Epilogue::gated`, for a C of N/2 columns")
        }
        (false, true) => {
            refused("a C of N columns", "`Problem::gated`, with a C of N/2 columns, for a gated epilogue")
        }
        _ => Ok(()),
    }
}

/// Checks that a configuration multiplies the matrices of `problem`, which is [oriented](Problem::oriented) as the configuration's C is: what
/// the facts of its parameters do not tell.
///
/// # Errors
/// [`Error::Configuration`], with what is found and what is accepted.
pub fn fits(problem: &Problem, config: &GemmConfig) -> Result<(), Error> {
    let refuse = |what, found: String, accepted: String| Err(Error::Configuration { what, found, accepted });
    let dtypes = |dtypes: [DType; 3]| format!("{} and {} to {}", dtypes[0], dtypes[1], dtypes[2]);
    let found = [config.dtype(Operand::A), config.dtype(Operand::B), config.c_type];
    // The numbers of tf32 are f32 in memory.
    let multiplied = |operand| match problem.dtype_of(operand) {
        DType::F32 => problem.dtype(),
        same => same,
    };
    let wanted = [multiplied(Operand::A), multiplied(Operand::B), problem.output()];
    if found != wanted {
        return refuse("dtypes", dtypes(found), dtypes(wanted));
    }
    if config.atom().c_type != problem.sums() {
        return refuse("sums", config.atom().c_type.to_string(), problem.sums().to_string());
    }
    if config.mixed_input() != problem.mixed_input() {
        let scales = |mixed: Option<&MixedInput>| format!("{mixed:?}");
        return refuse("scales", scales(config.mixed_input()), scales(problem.mixed_input()));
    }
    if config.block_scales().copied() != problem.block_scales() {
        let scales = |scales: Option<BlockScales>| format!("{scales:?}");
        return refuse("scales", scales(config.block_scales().copied()), scales(problem.block_scales()));
    }
    if let Schedule::SplitK { parts, .. } = config.schedule {
        let [k, tile] = [problem.mnk()[2], config.tile[2].max(1)];
        let tiles = (k + tile - 1) / tile;
        if tiles < parts {
            let accepted = format!("at most {tiles}, since K has as many tiles");
            return refuse("parts of K", parts.to_string(), accepted);
        }
    }
    if problem.is_invariant() && !choose::is_invariant(config) {
        let accepted = String::from("one block for each tile, which goes through K in one order");
        return refuse("schedule", format!("{:?}", config.schedule), accepted);
    }
    if config.batch == Batch::Single && problem.batches() > 1 {
        return refuse("products", String::from("one"), format!("{}, those of a batch", problem.batches()));
    }
    let kind = |batch: Batch| match batch {
        Batch::Grouped { mode: 0 } => "those of groups of rows",
        Batch::Grouped { .. } => "those of groups of columns",
        Batch::Pointers => "those of matrices at addresses of their own",
        Batch::Single | Batch::Strided => "those of matrices at strides",
    };
    let [found, wanted] = [config.batch, problem.batch()].map(kind);
    if found != wanted {
        return refuse("products", found.into(), wanted.into());
    }
    let majors = [problem.a(), problem.b()].map(|matrix| matrix.major());
    // Operands that `wgmma` accepts only along K are copied to that layout. Operands of f32 may be copied to an address where they need not be
    // transposed.
    let taken = if config.loads_by_maps() { choose::taken(problem.dtype(), majors) } else { majors };
    let turned = |found: Major| config.atom().a_type == DType::F32 && found == Major::Mn;
    let fits = |(found, taken): (Major, Major)| found == taken || turned(found);
    if !config.majors().into_iter().zip(taken).all(fits) {
        let found = format!("{:?}", config.majors());
        return refuse("contiguous modes of A and B", found, format!("{majors:?}"));
    }
    Ok(())
}
