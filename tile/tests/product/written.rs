//! Programs of configurations: what is a kernel of the kernel layer, written over tiles, in several ways.

use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, GemmConfig, Major};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::table::Each;
use girih_tile::ir::{
    ArrayId, ArrayParam, Build, Dims, End, Func, Kind, Known, Padding, Rounding, Type, Value,
};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;

fn dims(extents: &[u32]) -> Dims {
    Dims::new(extents).unwrap()
}

/// An array of a matrix of which the contiguous mode has so many elements at a time; the batch is its first axis.
fn array(
    b: &mut Build,
    name: &str,
    dtype: DType,
    (major, vector, batched): (Major, i64, bool),
    extents: [i64; 2],
) -> ArrayId {
    let (one, pitch) = (Known::Is(1), Known::MultipleOf(vector));
    let strides = if major == Major::K { [pitch, one] } else { [one, pitch] };
    let batch = batched.then_some(Known::MultipleOf(1)).into_iter();
    let batch_stride = batched.then_some(pitch).into_iter();
    b.array(ArrayParam {
        name: name.into(),
        dtype,
        mutable: name == "z",
        extents: batch.chain(extents.map(Known::MultipleOf)).collect(),
        strides: batch_stride.chain(strides).collect(),
        align: (vector * i64::from(dtype.bits()) / 8) as u32,
        assume_disjoint: None,
    })
}

/// Whether rows of a configuration's B, and blocks of its A, have scales, or rows of an A that is converted.
fn iterations(config: &GemmConfig) -> bool {
    config.mixed_input().is_some() || config.block_scales().is_some_and(|scales| scales.granularity[0] == 128)
}

/// The elements along K, and the columns, that share a scale.
const GROUP: i64 = 128;

/// What a configuration asks of a program, which may compute the transpose of what the kernel computes.
pub(super) struct Asked {
    pub(super) tile: [i64; 3],
    majors: [Major; 2],
    aligned: [i64; 2],
    c_major: Major,
}

impl Asked {
    pub(super) fn of(config: &GemmConfig) -> Asked {
        let ([m, n, k], [x, y]) = (config.tile, config.majors());
        let [a, b] = [Operand::A, Operand::B].map(|operand| config.aligned(operand).unwrap());
        // Groups are of rows in a program, rows of A have scales of their own, and B is converted.
        if config.batch == (Batch::Grouped { mode: 1 }) || iterations(config) {
            let c_major = if config.c_major == Major::K { Major::Mn } else { Major::K };
            return Asked { tile: [n, m, k], majors: [y, x], aligned: [b, a], c_major };
        }
        Asked { tile: [m, n, k], majors: [x, y], aligned: [a, b], c_major: config.c_major }
    }
}

/// A scalar of s32.
fn number(b: &mut Build, n: i64) -> Value {
    b.full(DType::S32, Dims::SCALAR, Const::Int(n.into()))
}

/// A function of two scalars.
fn two(b: &mut Build, each: Each, x: Value, y: Value) -> Value {
    b.each(each, &[x.into(), y.into()], Default::default()).unwrap()
}

/// How programs of one meaning are written: bits of a number.
#[derive(Clone, Copy)]
struct Written(usize);

impl Written {
    /// Whether numbers are scaled before they are multiplied, and scales of columns are spread before the product is.
    fn early(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether rows of scales follow each other along the last axis.
    fn turned(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether what is scaled is added by a fused multiply-add.
    fn fused(self) -> bool {
        self.0 & 4 != 0
    }
}

/// The program of which a configuration is a kernel, written in one of its ways, or why there is none.
pub(super) fn program(config: &GemmConfig, written: usize) -> Result<Func, &'static str> {
    if config.batch == Batch::Pointers {
        return Err("an array of addresses is no argument of a program");
    }
    let written = Written(written);
    let (batched, grouped) = (config.batch == Batch::Strided, matches!(config.batch, Batch::Grouped { .. }));
    let Asked { tile: [m, n, k], majors: [a_major, b_major], aligned: [of_a, of_b], c_major } =
        Asked::of(config);
    let mut b = Build::new("tiles");
    let memory = |dtype| if dtype == DType::Tf32 { DType::F32 } else { dtype };
    let multiplied = config.atom().a_type;
    let along_k = config.aligned_k().unwrap();
    let of_c = config.aligned(Operand::C).unwrap();
    // Many programs permute what they load of an A that is contiguous along M.
    let permutes = a_major == Major::Mn && m % 128 == 0 && !grouped;
    let x = if permutes {
        array(&mut b, "x", memory(multiplied), (Major::K, of_a, batched), [along_k, 1])
    } else {
        array(&mut b, "x", memory(multiplied), (a_major, of_a, batched), [1, along_k])
    };
    // B is K x N in a program, and N x K in a configuration.
    let turned = if b_major == Major::K { Major::Mn } else { Major::K };
    let in_memory = config.mixed_input().map_or(memory(multiplied), |mixed| mixed.dtype);
    let y = array(&mut b, "y", in_memory, (turned, of_b, batched || grouped), [along_k, 1]);
    let (rows, columns) = if c_major == Major::K { (1, of_c) } else { (of_c, 1) };
    let z = array(&mut b, "z", config.c_type, (c_major, of_c, batched), [rows, columns]);
    if !grouped {
        let at: Vec<Value> = (0..3).map(|axis| b.bid(axis).unwrap()).collect();
        let one = (if written.turned() { Major::K } else { Major::Mn }, 1, false);
        let mut scales = |name, dtype| Some(array(&mut b, name, dtype, one, [1, 1]));
        let scales = match (config.block_scales(), config.mixed_input()) {
            (Some(_), _) => [scales("of_x", DType::F32), scales("of_y", DType::F32)],
            (_, Some(mixed)) => [None, scales("of_y", mixed.scale)],
            _ => [None; 2],
        };
        let batch = batched.then_some([Some(at[2]); 3]);
        let parts = Parts { x, y, z, at: [at[0], at[1]], batch, scales, written };
        multiply(&mut b, config, &parts, [m, n, k], permutes);
        return Ok(b.finish());
    }
    let ends = b.array(ArrayParam {
        name: "ends".into(),
        dtype: DType::S32,
        mutable: false,
        extents: vec![Known::MultipleOf(1)],
        strides: vec![Known::Is(1)],
        align: 4,
        assume_disjoint: None,
    });
    let (bid, blocks) = (b.bid(0).unwrap(), b.num_blocks(0).unwrap());
    let (zero, one, by_m, by_n) =
        (number(&mut b, 0), number(&mut b, 1), number(&mut b, m), number(&mut b, n));
    let (groups, width) = (b.dim(y, 0).unwrap(), b.dim(z, 1).unwrap());
    let columns = two(&mut b, Each::CeilDiv, width, by_n);
    let s32 = Type::scalar(DType::S32);
    let (outer, args) = b.open(&[s32; 3]);
    let (group, from, first) = (args[0], args[1], args[2]);
    let to = b.load(&Tiles::new(ends, dims(&[1])), &[group.into()]).unwrap();
    let to = b.reshape(to, &[]).unwrap();
    let rows = two(&mut b, Each::Sub, to, from);
    let rows = two(&mut b, Each::CeilDiv, rows, by_m);
    let tiles = two(&mut b, Each::Mul, rows, columns);
    let ahead = two(&mut b, Each::Sub, bid, first);
    let begin = two(&mut b, Each::Mod, ahead, blocks);
    let (inner, iteration) = b.open(&[s32]);
    let (i, j) =
        (two(&mut b, Each::FloorDiv, iteration[0], columns), two(&mut b, Each::Mod, iteration[0], columns));
    let [x, z] = [x, z].map(|array| b.array_slice(array, 0, from.into(), to.into()).unwrap());
    let parts =
        Parts { x, y, z, at: [i, j], batch: Some([None, Some(group), None]), scales: [None; 2], written };
    multiply(&mut b, config, &parts, [m, n, k], false);
    b.close(End::Continue(0, Vec::new()));
    b.push_regions(Kind::For, &[begin, tiles, blocks], &[], vec![inner]);
    let next = two(&mut b, Each::Add, first, tiles);
    b.close(End::Continue(0, vec![to, next]));
    b.push_regions(Kind::For, &[zero, groups, one, zero, zero], &[s32; 2], vec![outer]);
    Ok(b.finish())
}

/// The arrays of a product, the row and the column of its tile, and of those that count matrices the index.
struct Parts {
    x: ArrayId,
    y: ArrayId,
    z: ArrayId,
    at: [Value; 2],
    batch: Option<[Option<Value>; 3]>,
    /// The scales of rows of A, and of blocks or rows of B.
    scales: [Option<ArrayId>; 2],
    written: Written,
}

impl Parts {
    /// So many scales of tile `at` of rows and iteration `iteration` along K, as a column.
    fn column(&self, b: &mut Build, array: ArrayId, rows: i64, [at, iteration]: [Value; 2]) -> Value {
        let rows = rows as u32;
        let (tile, index) =
            if self.written.turned() { ([1, rows], [iteration, at]) } else { ([rows, 1], [at, iteration]) };
        let loaded = b.load(&Tiles::new(array, dims(&tile)), &index.map(Arg::from)).unwrap();
        let scale = b.reshape(loaded, &[rows.into(), 1]).unwrap();
        b.cast(scale, DType::F32, Rounding::Nearest).unwrap()
    }

    /// A product times the scales of its blocks: of each row, and of each 128 columns, of which a tile has some, or a part.
    fn of_blocks(
        &self,
        b: &mut Build,
        product: Value,
        [m, n]: [i64; 2],
        iteration: Value,
        arrays: [ArrayId; 2],
    ) -> [Value; 2] {
        let [row, column] = self.at;
        let of_rows = self.column(b, arrays[0], m, [row, iteration]);
        if n <= GROUP {
            let tiles = number(b, GROUP / n);
            let at = if n == GROUP { column } else { two(b, Each::FloorDiv, column, tiles) };
            let of_block = self.column(b, arrays[1], 1, [at, iteration]);
            return [product, two(b, Each::Mul, of_rows, of_block)];
        }
        let blocks = n / GROUP;
        let of_blocks = self.column(b, arrays[1], blocks, [column, iteration]);
        if self.written.early() {
            let spread = b.broadcast_to(of_blocks, dims(&[blocks as u32, GROUP as u32])).unwrap();
            let of_columns = b.reshape(spread, &[1, n]).unwrap();
            return [product, two(b, Each::Mul, of_rows, of_columns)];
        }
        let parted = b.reshape(product, &[m, blocks, GROUP]).unwrap();
        let of_blocks = b.reshape(of_blocks, &[1, blocks, 1]).unwrap();
        let scaled = two(b, Each::Mul, parted, of_blocks);
        [b.reshape(scaled, &[m, n]).unwrap(), of_rows]
    }
}

/// Multiplies the tiles along K and stores the sums.
fn multiply(b: &mut Build, config: &GemmConfig, parts: &Parts, [m, n, k]: [i64; 3], permutes: bool) {
    let (multiplied, sums) = (config.atom().a_type, config.atom().c_type);
    let counts = |of: usize| parts.batch.and_then(|batch| batch[of]);
    let shape = |of: usize, x: i64, y: i64| {
        let lead: &[u32] = if counts(of).is_some() { &[1] } else { &[] };
        dims(&[lead, &[x as u32, y as u32]].concat())
    };
    let index = |of: usize, x: Value, y: Value| -> Vec<Arg> {
        counts(of).into_iter().chain([x, y]).map(Arg::from).collect()
    };
    let [row, column] = parts.at;
    let (whole, sum) = (shape(2, m, n), Type { dtype: sums, dims: shape(2, m, n) });
    let init = b.full(sums, whole, Const::Int(0));
    let (zero, one, by_k) = (number(b, 0), number(b, 1), number(b, k));
    let extent = b.dim(parts.y, if counts(1).is_some() { 1 } else { 0 }).unwrap();
    let stop = two(b, Each::CeilDiv, extent, by_k);
    let (region, args) = b.open(&[Type::scalar(DType::S32), sum]);
    let tiles = |array, tile| Tiles { padding: Padding::Zero, ..Tiles::new(array, tile) };
    let mut x = if permutes {
        let loaded = b.load(&tiles(parts.x, shape(0, k, m)), &index(0, args[0], row)).unwrap();
        let axes: &[i64] = if counts(0).is_some() { &[0, 2, 1] } else { &[1, 0] };
        b.permute(loaded, axes).unwrap()
    } else {
        b.load(&tiles(parts.x, shape(0, m, k)), &index(0, row, args[0])).unwrap()
    };
    let mut y = b.load(&tiles(parts.y, shape(1, k, n)), &index(1, args[0], column)).unwrap();
    if whole.rank() == 2 && counts(1).is_some() {
        y = b.reshape(y, &[k, n]).unwrap();
    }
    if multiplied == DType::Tf32 {
        x = b.cast(x, DType::Tf32, Rounding::Nearest).unwrap();
        y = b.cast(y, DType::Tf32, Rounding::Nearest).unwrap();
    }
    let scaled = |b: &mut Build, [x, y]: [Value; 2]| {
        if parts.written.fused() {
            let y = b.broadcast_to(y, whole).unwrap();
            return b.each(Each::Fma, &[x.into(), y.into(), args[1].into()], Default::default()).unwrap();
        }
        let scaled = two(b, Each::Mul, x, y);
        two(b, Each::Add, scaled, args[1])
    };
    let next = match parts.scales {
        [Some(of_x), Some(of_y)] => {
            let product = b.mma(x, y, init).unwrap();
            let factors = parts.of_blocks(b, product, [m, n], args[0], [of_x, of_y]);
            scaled(b, factors)
        }
        [_, Some(of_y)] => {
            let column = parts.column(b, of_y, n, [column, args[0]]);
            let of_columns = b.reshape(column, &[1, n]).unwrap();
            if parts.written.early() {
                let wide = b.cast(y, DType::F32, Rounding::Nearest).unwrap();
                let wide = two(b, Each::Mul, wide, of_columns);
                let y = b.cast(wide, multiplied, Rounding::Nearest).unwrap();
                b.mma(x, y, args[1]).unwrap()
            } else {
                let y = b.cast(y, multiplied, Rounding::Nearest).unwrap();
                let product = b.mma(x, y, init).unwrap();
                scaled(b, [product, of_columns])
            }
        }
        _ => b.mma(x, y, args[1]).unwrap(),
    };
    b.close(End::Continue(0, vec![next]));
    let mut stored = b.push_regions(Kind::For, &[zero, stop, one, init], &[sum], vec![region])[0];
    // Integers become f32 before they become anything else.
    for dtype in [DType::F32, config.c_type] {
        if config.c_type != sums && (sums == DType::S32 || dtype == config.c_type) {
            stored = b.cast(stored, dtype, Rounding::Nearest).unwrap();
        }
    }
    b.store(&tiles(parts.z, whole), &index(2, row, column), stored.into()).unwrap();
}
