//! Calls of [`Build`] that are refused.

use girih_tensor::DType;
use girih_tile::dtype::{self, Const};
use girih_tile::error::Fault;
use girih_tile::hints::{Construct, Hint, arch};
use girih_tile::ir::table::Each;
use girih_tile::ir::{
    ArrayId, ArrayParam, Build, Dialect, Dims, Order, Overflow, Padding, Rmw, Rounding, Scope, Value,
};
use girih_tile::ops::indexed::{Along, Elements};
use girih_tile::ops::memory::{Access, Tiles, check_order};
use girih_tile::ops::{Arg, Axes, Mode, Nested, Reduce, Reduction};

use crate::facts::kernels::param;

/// What a call gets: arrays of rank 2 of f32 that is read, of f32 that is written, and of u4 that is written.
struct Given {
    x: ArrayId,
    y: ArrayId,
    pairs: ArrayId,
}

const ZERO: Arg = Arg::Loose(Const::Int(0));
const HALF: Arg = Arg::Loose(Const::Float(0.5));

fn dims(extents: &[u32]) -> Dims {
    Dims::new(extents).unwrap()
}

fn tile(b: &mut Build, dtype: DType, extents: &[u32]) -> Value {
    b.full(dtype, dims(extents), Const::Int(1))
}

/// `f` of a tile of f32 (4,6).
fn floats(b: &mut Build, f: impl FnOnce(&mut Build, Value) -> Result<Value, Fault>) -> Result<(), Fault> {
    let x = tile(b, DType::F32, &[4, 6]);
    f(b, x).map(drop)
}

/// A function of scalars of these dtypes.
fn each(b: &mut Build, op: Each, dtypes: &[DType], mode: Mode) -> Result<(), Fault> {
    let args: Vec<Arg> = dtypes.iter().map(|&dtype| tile(b, dtype, &[]).into()).collect();
    b.each(op, &args, mode).map(drop)
}

fn mma(b: &mut Build, dtypes: [DType; 3], shapes: [&[u32]; 3]) -> Result<(), Fault> {
    let [x, y, acc] = [0, 1, 2].map(|i| tile(b, dtypes[i], shapes[i]));
    b.mma(x, y, acc).map(drop)
}

type Call = fn(&mut Build, &Given) -> Result<(), Fault>;

const SHAPES: [Call; 26] = [
    |b, _| {
        let args = [&[64, 32][..], &[48, 64]].map(|shape| Arg::from(tile(b, DType::F32, shape)));
        b.each(Each::Add, &args, Mode::default()).map(drop)
    },
    |b, _| floats(b, |b, x| b.broadcast_to(x, dims(&[4, 12]))),
    |b, _| floats(b, |b, x| b.broadcast_to(x, dims(&[6]))),
    |b, _| floats(b, |b, x| b.flip(x, -3)),
    |b, _| b.filled(DType::S32, &[], Const::Int(1)).and_then(|x| b.flip(x, 0)).map(drop),
    |b, _| floats(b, |b, x| b.permute(x, &[1, -1])),
    |b, _| floats(b, |b, x| b.reduce(Reduction::Max, x, &Axes::Many(vec![0, 0]), Reduce::default())),
    |b, _| floats(b, |b, x| b.reduce(Reduction::ArgMax, x, &Axes::Many(vec![0, 1]), Reduce::default())),
    |b, _| floats(b, |b, x| b.permute(x, &[0])),
    |b, given| {
        b.load(&Tiles { axes: Dims::new(&[0, 0]), ..Tiles::new(given.x, dims(&[4, 8])) }, &[ZERO; 2])
            .map(drop)
    },
    |b, _| b.arange(DType::S32, 8, Const::Int(0), Const::Int(1)).and_then(|x| b.transpose(x, None)).map(drop),
    |b, _| b.filled(DType::S32, &[2, 3, 4], Const::Int(0)).and_then(|x| b.transpose(x, None)).map(drop),
    |b, _| b.tile_dims(&[4, 0]).map(drop),
    |b, _| b.filled(DType::S32, &[1; 8], Const::Int(0)).and_then(|x| b.expand_dims(x, 0)).map(drop),
    |b, _| {
        b.strict_pow2 = true;
        b.tile_dims(&[4, 6]).map(drop)
    },
    |b, _| floats(b, |b, x| b.reshape(x, &[5, 5])),
    |b, _| floats(b, |b, x| b.reshape(x, &[-1, -1])),
    |b, _| floats(b, |b, x| b.reshape(x, &[-1, 5])),
    |b, _| {
        floats(b, |b, x| {
            let y = tile(b, DType::F32, &[4]);
            b.cat(x, y, 0)
        })
    },
    |b, _| {
        floats(b, |b, x| {
            let y = tile(b, DType::S32, &[4, 6]);
            b.insert(x, &[0, 0], y)
        })
    },
    |b, _| {
        floats(b, |b, x| {
            let y = tile(b, DType::F32, &[4, 5]);
            b.cat(x, y, 0)
        })
    },
    |b, _| b.sort(&[], 0, false).map(drop),
    |b, _| {
        let (region, _) = b.open(&[]);
        b.scan_by(&[], 0, &[Const::Int(1)], region, Default::default()).map(drop)
    },
    |b, _| floats(b, |b, x| b.extract(x, &[0, 2], dims(&[4, 3]))),
    |b, _| floats(b, |b, x| b.extract(x, &[0, 0], dims(&[3, 3]))),
    |b, _| floats(b, |b, x| Ok(b.top_k(x, 9, 1, false)?.0)),
];

const ACCESSES: [Call; 30] = [
    |b, given| b.load(&Tiles::new(given.x, dims(&[4, 8])), &[ZERO]).map(drop),
    |b, given| b.gather(&Elements::new(given.x), &[ZERO], None, None).map(drop),
    |b, _| floats(b, |b, x| b.extract(x, &[0], dims(&[4, 3]))),
    |b, given| b.load(&Tiles::new(given.x, dims(&[4, 8])), &[ZERO, HALF]).map(drop),
    |b, given| {
        let index = tile(b, DType::S32, &[4]);
        b.load(&Tiles::new(given.x, dims(&[4, 8])), &[ZERO, index.into()]).map(drop)
    },
    |b, given| {
        let rows = Along::Rows(tile(b, DType::S32, &[2, 2]).into());
        b.load_rows(&Elements::new(given.x), &[rows, Along::Span { start: ZERO, count: 4 }], None).map(drop)
    },
    |b, given| {
        let rows = Along::Rows(tile(b, DType::S32, &[2]).into());
        b.load_rows(&Elements::new(given.x), &[rows, Along::Span { start: ZERO, count: 0 }], None).map(drop)
    },
    |b, given| b.gather(&Elements::new(given.x), &[ZERO; 2], Some(ZERO), None).map(drop),
    |b, given| {
        let value = tile(b, DType::F64, &[]);
        b.scatter(&Elements::new(given.y), &[ZERO; 2], value.into(), None)
    },
    |b, given| b.scatter(&Elements::new(given.pairs), &[ZERO; 2], HALF, None),
    |b, given| b.store(&Tiles::new(given.x, dims(&[4, 8])), &[ZERO; 2], ZERO),
    |b, given| b.load(&Tiles::new(given.x, dims(&[4])), &[ZERO; 2]).map(drop),
    |b, given| b.load(&Tiles::new(given.x, dims(&[4, 0])), &[ZERO; 2]).map(drop),
    |b, given| {
        b.load(&Tiles { steps: Dims::new(&[0, 8]), ..Tiles::new(given.x, dims(&[4, 8])) }, &[ZERO; 2])
            .map(drop)
    },
    |b, given| {
        b.store(&Tiles { steps: Dims::new(&[2, 8]), ..Tiles::new(given.y, dims(&[4, 8])) }, &[ZERO; 2], ZERO)
    },
    |b, given| {
        b.load(&Tiles { padding: Padding::Nan, ..Tiles::new(given.pairs, dims(&[4, 8])) }, &[ZERO; 2])
            .map(drop)
    },
    |b, given| b.load(&Tiles::new(given.pairs, dims(&[4, 3])), &[ZERO; 2]).map(drop),
    |b, given| b.array_slice(given.pairs, 1, ZERO, ZERO).map(drop),
    |b, _| b.bid(3).map(drop),
    |_, _| check_order(Access::Load, Order::Release, Some(Scope::Device)),
    |_, _| check_order(Access::Store, Order::Relaxed, None),
    |_, _| check_order(Access::Store, Order::Weak, Some(Scope::Block)),
    |b, given| {
        let value = tile(b, DType::F32, &[8, 4]);
        b.store(&Tiles::new(given.y, dims(&[4, 8])), &[ZERO; 2], value.into())
    },
    |b, given| b.atomic(Rmw::Max, &Elements::new(given.y), &[ZERO; 2], None, ZERO, None).map(drop),
    |b, _| {
        let z = b.array(ArrayParam { dtype: DType::S32, ..param("z", 1, true) });
        let wide = tile(b, DType::S64, &[]);
        b.atomic(Rmw::And, &Elements::new(z), &[ZERO], None, wide.into(), None).map(drop)
    },
    |b, given| b.atomic(Rmw::Add, &Elements::new(given.y), &[ZERO; 2], Some(ZERO), ZERO, None).map(drop),
    |b, given| b.atomic(Rmw::Cas, &Elements::new(given.y), &[ZERO; 2], None, ZERO, None).map(drop),
    |b, _| b.print("%d %s", &[ZERO]),
    |b, _| b.print("%d", &[HALF]),
    |b, _| b.assert(HALF, "half"),
];

const DTYPES: [Call; 41] = [
    |_, _| dtype::promote(DType::S32, DType::U32).map(drop),
    |_, _| dtype::promote(DType::F16, DType::Bf16).map(drop),
    |_, _| dtype::promote(DType::E4m3, DType::F32).map(drop),
    |_, _| dtype::loose(DType::E4m3, Const::Int(1)).map(drop),
    |b, _| each(b, Each::Add, &[DType::Tf32; 2], Mode::default()),
    |b, _| each(b, Each::Select, &[DType::E4m3, DType::F32, DType::F32], Mode::default()),
    |b, _| each(b, Each::Add, &[DType::Bool; 2], Mode::default()),
    |b, _| b.filled(DType::U8, &[4], Const::Int(256)).map(drop),
    |_, _| dtype::loose(DType::S8, Const::Int(300)).map(drop),
    |_, _| dtype::of_constants(&[Const::Int(-1), Const::Int(u64::MAX.into())]).map(drop),
    |_, _| dtype::dtype_of(Const::Int(1 << 70)).map(drop),
    |b, _| {
        b.dialect = Dialect::Cxx;
        let x = tile(b, DType::S32, &[]);
        b.each(Each::Mul, &[x.into(), HALF], Mode::default()).map(drop)
    },
    |b, _| each(b, Each::Xor, &[DType::S32, DType::U32], Mode::default()),
    |b, _| each(b, Each::And, &[DType::F32; 2], Mode::default()),
    |b, _| each(b, Each::Shl, &[DType::S32, DType::F32], Mode::default()),
    |b, _| each(b, Each::Not, &[DType::F64], Mode::default()),
    |b, _| floats(b, |b, x| b.histogram(x, 8)),
    |b, _| b.rand(ZERO, HALF).map(drop),
    |b, _| each(b, Each::IsNan, &[DType::S16], Mode::default()),
    |b, _| each(b, Each::Add, &[DType::S8; 2], Mode { rounding: Some(Rounding::Zero), ..Mode::default() }),
    |b, _| {
        each(b, Each::TrueDiv, &[DType::F64; 2], Mode { rounding: Some(Rounding::Approx), ..Mode::default() })
    },
    |b, _| each(b, Each::Mul, &[DType::F64; 2], Mode { rounding: Some(Rounding::Full), ..Mode::default() }),
    |b, _| floats(b, |b, x| b.cast(x, DType::S16, Rounding::Up)),
    |b, _| each(b, Each::Add, &[DType::F64; 2], Mode { ftz: true, ..Mode::default() }),
    |b, _| each(b, Each::Add, &[DType::F64; 2], Mode { overflow: Overflow::Never, ..Mode::default() }),
    |b, _| floats(b, |b, x| b.bitcast(x, DType::S16)),
    |b, _| floats(b, |b, x| b.bitcast(x, DType::Bool)),
    |b, _| floats(b, |b, x| b.unpack_from_bytes(x, DType::F64)),
    |b, given| {
        let x = b.load(&Tiles::new(given.pairs, dims(&[4, 8])), &[ZERO; 2])?;
        b.pack_to_bytes(x).map(drop)
    },
    |b, _| {
        let row = |n| Nested::Many(vec![Nested::One(Const::Int(1)); n]);
        b.tile_of(DType::S32, &Nested::Many(vec![row(2), row(1)])).map(drop)
    },
    |b, _| b.dense(DType::S32, &[4], &[Const::Int(1); 3]).map(drop),
    |b, _| {
        let word = tile(b, DType::S32, &[]);
        b.philox([word; 4], [word; 2]).map(drop)
    },
    |b, _| mma(b, [DType::F16, DType::F16, DType::F32], [&[16], &[16, 8], &[8]]),
    |b, _| mma(b, [DType::F16, DType::F16, DType::F32], [&[32, 8], &[16, 32], &[32, 32]]),
    |b, _| mma(b, [DType::F16, DType::F16, DType::F32], [&[16, 32], &[32, 8], &[8, 16]]),
    |b, _| mma(b, [DType::S64, DType::S64, DType::S64], [&[4, 4]; 3]),
    |b, _| mma(b, [DType::F16, DType::Bf16, DType::F32], [&[4, 4]; 3]),
    |b, _| mma(b, [DType::F16, DType::F16, DType::F64], [&[4, 4]; 3]),
    |b, _| {
        let [x, y] = [DType::S64; 2].map(|dtype| tile(b, dtype, &[4, 4]));
        b.matmul(x, y).map(drop)
    },
    |b, _| {
        let [x, y] = [&[][..], &[4, 4]].map(|shape| tile(b, DType::F16, shape));
        b.matmul(x, y).map(drop)
    },
    |b, _| {
        floats(b, |b, x| {
            let (left, _) = b.open_combine(&[x]);
            let wrong = b.reshape(left[0], &[1])?;
            b.close_combine(&[x], &[wrong]).map(|_| x)
        })
    },
];

const DECISIONS: [Call; 9] = [
    |b, _| b.range_step(ZERO),
    |b, _| b.static_assert(false, "N is 4"),
    |b, _| {
        let block = b.bid(0)?;
        b.extent(block.into()).map(drop)
    },
    |b, _| b.extent(HALF).map(drop),
    |_, _| Hint::NumCtas.check(3, None).map(drop),
    |_, _| Hint::NumCtas.check(2, Some(80)).map(drop),
    |_, _| Hint::Latency.check_on(Construct::Atomic),
    |_, _| arch("sm_75").map(drop),
    |b, given| {
        let latency = Elements { latency: Some(11), ..Elements::new(given.x) };
        b.gather(&latency, &[ZERO; 2], None, None).map(drop)
    },
];

/// The faults of all calls.
pub(super) fn faults() -> Vec<Fault> {
    let calls = [&SHAPES[..], &ACCESSES, &DTYPES, &DECISIONS].concat();
    let refused = |(at, call): (usize, Call)| {
        let mut b = Build::new("k");
        let x = b.array(param("x", 2, false));
        let y = b.array(param("y", 2, true));
        let pairs = b.array(ArrayParam { dtype: DType::U4, ..param("pairs", 2, true) });
        call(&mut b, &Given { x, y, pairs }).err().unwrap_or_else(|| panic!("call {at} is not refused"))
    };
    calls.into_iter().enumerate().map(refused).collect()
}
