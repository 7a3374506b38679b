//! A vectorised copy between two matrices with contiguous rows, from copy atoms and a TV layout.

use girih_layout::{Int, Lay, Shape, Stride, Symbol};
use girih_ptx::{Special, Type};
use girih_tensor::{DType, Slice, Space, Tensor};

use crate::atom::universal_copy;
use crate::builder::{Builder, Cond, Reg};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::MAX_EXTENT;
use crate::tiled::copy::{TiledCopy, coalesced, shape_tiler, static_size};
use crate::{Counting, Error, Expr, Gmem, Kernel, Memory};

/// What a copy module is specialised by; no size and no pitch is among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// Element type.
    pub dtype: DType,
    /// Elements moved at once: both pointers and pitches are multiples of their size.
    pub vector: i64,
    /// Whether rows are whole vectors, so that no row ends within one.
    pub whole: bool,
    /// Threads of a block.
    pub threads: i64,
    /// Rows and columns of a block's tile in elements.
    pub tile: [i64; 2],
}

/// The kernel's parameters: two 64-bit pointers, then four 32-bit sizes and pitches in elements.
pub const PARAMETERS: [&str; 6] = ["dst", "src", "rows", "columns", "ld_dst", "ld_src"];

/// Registers that a thread's part of a tile may take: all of it is in flight together.
const MAX_WORDS: i128 = 128;

/// A generated copy kernel.
#[derive(Clone, Debug)]
pub struct CopyKernel {
    /// The kernel [`CopyConfig::name`].
    pub kernel: Kernel,
    /// What the kernel was derived from, line by line: name and layout.
    pub partitions: Vec<(&'static str, String)>,
}

/// One thread's vectors of the two matrices and their coordinates, `(Vec,RestM,RestN)` each.
struct Partition {
    target: Tensor<Gmem>,
    source: Tensor<Gmem>,
    coordinate: Tensor<Counting>,
    extents: [Expr; 2],
}

/// Generates the kernel of `config`: `dst(r, c) = src(r, c)` for all r < rows, c < columns.
///
/// # Errors
/// [`Error::Config`] or [`Error::Mismatch`] for a configuration that cannot be built.
pub fn generate(config: &CopyConfig) -> Result<CopyKernel, Error> {
    let element = element_bytes("dtype", config.dtype)?;
    if !matches!(element, 2 | 4) {
        return Err(Error::Config {
            what: "dtype",
            value: config.dtype.to_string(),
            accepted: String::from("elements of 2 or 4 bytes"),
        });
    }
    let bytes = config.vector.saturating_mul(element);
    let atom = u32::try_from(bytes).ok().and_then(universal_copy).ok_or_else(|| Error::Config {
        what: "vector",
        value: config.vector.to_string(),
        accepted: format!("2, 4, 8 or 16 bytes of {element}-byte elements"),
    })?;
    let copy = coalesced(*atom, config.threads, config.tile, 1, config.vector)?;
    let words = i128::from(config.tile[0]) * i128::from(config.tile[1]) * i128::from(element)
        / i128::from(4 * config.threads);
    if words > MAX_WORDS {
        return Err(Error::Config {
            what: "tile",
            value: format!("({},{})", config.tile[0], config.tile[1]),
            accepted: format!("at most {MAX_WORDS} words of 4 bytes for each of {} threads", config.threads),
        });
    }
    let threads = narrow("threads", copy.threads()?)?;
    let mut b = Builder::new(config.name, 80, threads);
    let pointers = [b.pointer(PARAMETERS[0], bytes), b.pointer(PARAMETERS[1], bytes)];
    let fact = if config.whole { config.vector } else { 1 };
    let mut symbol =
        |name, divisor| b.symbol(name, |symbol| symbol.at_least(1).at_most(MAX_EXTENT).divisible_by(divisor));
    let [_, _, rows, columns, ld_dst, ld_src] = PARAMETERS;
    let symbols = [
        symbol(rows, 1)?,
        symbol(columns, fact)?,
        symbol(ld_dst, config.vector)?,
        symbol(ld_src, config.vector)?,
    ];
    let partition = partition(&mut b, config, &copy, pointers, symbols)?;
    emit(&mut b, config, &partition)?;
    let partitions = vec![
        ("tile (rows,columns)", format!("({},{})", config.tile[0], config.tile[1])),
        ("copy atom", copy.atom.name()),
        ("copy TV", copy.tv.to_string()),
    ];
    Ok(CopyKernel { kernel: b.finish()?, partitions })
}

fn partition(
    b: &mut Builder,
    config: &CopyConfig,
    copy: &TiledCopy,
    pointers: [Expr; 2],
    symbols: [Symbol; 4],
) -> Result<Partition, Error> {
    let [rows, columns, ld_dst, ld_src] = symbols;
    let thread = b.special(Special::TidX);
    let block = b.special(Special::CtaidX);
    let extents = [rows, columns].map(|s| Expr::from_int(&Int::symbol(s)));
    let tiles = (&extents[1] + (config.tile[1] - 1)).div(config.tile[1])?;
    let row = b.divide(&block, &tiles, MAX_EXTENT / config.tile[0])?;
    let column = b.bounded(&(&block - &(&row * &tiles)), MAX_EXTENT / config.tile[1])?;
    let shape = Shape::flat(&[Int::symbol(rows), Int::symbol(columns)])?;
    let tiler = shape_tiler(&config.tile)?;
    let at = [Slice::At(row), Slice::At(column)];
    let matrix = |ld: Symbol| -> Result<Lay, Error> {
        let strides =
            girih_layout::Strides::flat(&[Stride::Int(Int::symbol(ld)), Stride::Int(Int::fixed(1))])?;
        Ok(Lay::new(&shape, &strides)?) // (Rows,Columns)
    };
    let tile = |pointer: &Expr, ld: Symbol| -> Result<Tensor<Gmem>, Error> {
        let global = Tensor::new(Gmem::new(pointer.clone(), config.dtype), matrix(ld)?);
        Ok(global.local_tile(&tiler, &at)?) // (TileM,TileN)
    };
    let mine = copy.get_slice(&thread)?;
    let identity = Tensor::new(Counting::new(2), Lay::identity(&shape)?).local_tile(&tiler, &at)?; // (TileM,TileN)
    Ok(Partition {
        target: mine.partition_d(&tile(&pointers[0], ld_dst)?)?, // (Vec,RestM,RestN)
        source: mine.partition_s(&tile(&pointers[1], ld_src)?)?, // (Vec,RestM,RestN)
        coordinate: mine.partition_s(&identity)?,                // (Vec,RestM,RestN)
        extents,
    })
}

/// All loads first, then all stores, so that the loads are in flight together.
fn emit(b: &mut Builder, config: &CopyConfig, partition: &Partition) -> Result<(), Error> {
    let layout = partition.target.layout();
    let (rest_m, rest_n) = (static_size("copy", &layout.mode(1)?)?, static_size("copy", &layout.mode(2)?)?);
    let mut moved = Vec::new();
    for (m, n) in (0..rest_m).flat_map(|m| (0..rest_n).map(move |n| (m, n))) {
        let at = Slice::tuple([0, m, n].map(|i| Slice::At(Expr::from(i))));
        let coordinate = partition.coordinate.slice(&at)?.into_engine();
        let [row, column] = [0, 1].map(|i| coordinate.coordinate()[i].clone());
        let row_inside = Cond::less(&row, &partition.extents[0]);
        let end = if config.whole { column.clone() } else { &column + (config.vector - 1) };
        let inside = Cond::all([row_inside.clone(), Cond::less(&end, &partition.extents[1])]);
        let source = partition.source.slice(&at)?.into_engine().address()?;
        let target = partition.target.slice(&at)?.into_engine().address()?;
        let regs = words(b, config);
        b.load(Space::Gmem, &regs, &source, &inside)?;
        moved.push((regs, inside, row_inside, column, source, target));
    }
    for (regs, inside, row_inside, column, source, target) in moved {
        b.store(Space::Gmem, &target, &regs, &inside)?;
        if !config.whole && config.vector > 1 {
            tail(b, config, &partition.extents[1], &row_inside, &column, [&target, &source])?;
        }
    }
    Ok(())
}

/// The elements of a vector that a row's end cuts.
fn tail(
    b: &mut Builder,
    config: &CopyConfig,
    columns: &Expr,
    row_inside: &Cond,
    column: &Expr,
    [target, source]: [&Expr; 2],
) -> Result<(), Error> {
    let cut = Cond::less(columns, &(column + config.vector));
    b.if_(&Cond::all([row_inside.clone(), cut]), |b| {
        let ty = if config.dtype.bits() == 16 { Type::B16 } else { Type::B32 };
        let bytes = i64::from(config.dtype.bits() / 8);
        for element in 0..config.vector - 1 {
            let inside = Cond::less(&(column + element), columns);
            let reg = b.reg(ty);
            b.load(Space::Gmem, std::slice::from_ref(&reg), &(source + element * bytes), &inside)?;
            b.store(Space::Gmem, &(target + element * bytes), &[reg], &inside)?;
        }
        Ok(())
    })
}

/// Registers for one vector: words of 32 bits, or one of 16.
fn words(b: &mut Builder, config: &CopyConfig) -> Vec<Reg> {
    let bytes = config.vector * i64::from(config.dtype.bits()) / 8;
    if bytes == 2 { b.regs(Type::B16, 1) } else { b.regs(Type::B32, bytes as usize / 4) }
}
