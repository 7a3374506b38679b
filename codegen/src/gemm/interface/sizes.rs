//! The sizes of a problem as parameters, and the shapes that follow from them.

use girih_layout::{Int, Shape, Symbol};

use super::Locator;
use crate::builder::Builder;
use crate::gemm::GemmConfig;
use crate::gemm::epilogue::Epilogue;
use crate::gemm::kernel::Arguments;
use crate::params::{MAX_EXTENT, Params};
use crate::tiled::mma::Operand;
use crate::{Error, Expr};

/// The names of M, N, K and the pitches of A, B and C, as parameters and in errors.
const SIZES: [&str; 6] = ["m", "n", "k", "lda", "ldb", "ldc"];

pub(super) fn extent(symbol: Symbol) -> Expr {
    Expr::from_int(&Int::symbol(symbol))
}

/// M, N, K and the pitches, with the facts that the configuration states. The sizes that the kernel reads are parameters; from the
/// others the host makes tensor maps.
pub(super) fn sizes(
    params: &mut Params<Arguments>,
    b: &mut Builder,
    config: &GemmConfig,
    epilogue: &Epilogue,
    places: &[Locator],
) -> Result<[Symbol; 6], Error> {
    let by_pointer = |operand: usize| !matches!(places[operand], Locator::Map(_));
    let reads_c =
        !config.schedule.is_persistent() || config.batch.grouped().is_some() || epilogue.reads_tiles();
    // Tensor maps have extents of 1 or more.
    let least_k = match config.schedule.parts()[0] {
        1 => i64::from(config.loads_by_maps()),
        parts => (parts - 1) * config.tile[2] + 1,
    };
    let mut symbols = [Symbol::new(0); 6];
    for (i, symbol) in symbols.iter_mut().enumerate() {
        let (is_read, least) = match i {
            0 | 1 => (reads_c || by_pointer(i) || by_pointer(2), 1),
            2 => (true, least_k),
            _ => (by_pointer(i - 3), 1),
        };
        let divisor = match i {
            1 if epilogue.is_gated() => 2 * config.aligned(Operand::C)?,
            0 | 1 if i == config.c_contiguous() => config.aligned(Operand::C)?,
            0 | 1 => 1,
            2 => config.aligned_k()?,
            _ => config.aligned(Operand::ALL[i - 3])?,
        };
        let facts = |symbol: Symbol| symbol.at_least(least).at_most(MAX_EXTENT).divisible_by(divisor);
        let value = move |a: &Arguments| if i < 3 { a.mnk[i] } else { a.pitches[i - 3] };
        *symbol = match is_read {
            true => params.symbol(b, SIZES[i], facts, value)?,
            false => params.of_maps(b, SIZES[i], facts, value)?,
        };
    }
    Ok(symbols)
}

/// The extents of C, which has half as many columns as the product where pairs of these are gated.
pub(super) fn shape_of_c(symbols: &[Symbol; 6], epilogue: &Epilogue) -> Result<Shape, Error> {
    let [m, n] = [0, 1].map(|mode| Int::symbol(symbols[mode]));
    Ok(Shape::flat(&[m, if epilogue.is_gated() { n.ceil_div(Int::fixed(2))? } else { n }])?)
}
