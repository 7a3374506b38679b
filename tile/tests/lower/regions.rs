//! Combinations of one's own whose functions are written out as loops, which the threads of a warp leave at different iterations.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, Func, Known, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::reduce::Reduce;
use girih_tile::ops::scan::Scan;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile_reference::ArrayData;
use rand::RngExt;

use super::memory::param;
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

/// What sums are taken modulo.
const M: u32 = 97;

/// Sums modulo [`M`] along the rows of a tile, taken of multiples of a power of two that a quotient does not hold.
fn remainders(dtype: DType, extents: [i64; 2], scan: bool) -> Func {
    let power = if dtype == DType::F32 { 120 } else { 300 };
    let by = (0..power).fold(1, |by, _| by * 2 % M);
    let back = (1..M).find(|n| n * by % M == 1).unwrap();
    let mut b = Build::new("remainders");
    let known = extents.map(Known::Is);
    let x = b.array(param("x", dtype, false, &known, &[known[1], Known::Is(1)], 16));
    let columns = if scan { extents[1] } else { 1 };
    let to = [known[0], Known::Is(columns)];
    let y = b.array(param("y", dtype, true, &to, &[to[1], Known::Is(1)], 16));
    let zero = [(); 2].map(|()| Arg::Loose(Const::Int(0)));
    let dims = |n: i64| Dims::new(&[extents[0] as u32, n as u32]).unwrap();
    let value = b.load(&Tiles::new(x, dims(extents[1])), &zero).unwrap();
    let (left, right) = b.open_combine(&[value]);
    let mut each = |op, x: Value, y: Arg| b.each(op, &[x.into(), y], Mode::default()).unwrap();
    let number = |n: f64| Arg::Loose(Const::Float(n));
    let mut far = |x| {
        let x = each(Each::Mul, x, number(2f64.powi(power)));
        each(Each::Mod, x, number(M.into()))
    };
    let (l, r) = (far(left[0]), far(right[0]));
    let sum = each(Each::Add, l, r.into());
    let sum = each(Each::Mod, sum, number(M.into()));
    let sum = each(Each::Mul, sum, number(back.into()));
    let sum = each(Each::Mod, sum, number(M.into()));
    let region = b.close_combine(&[value], &[sum]).unwrap();
    let identity = [Const::Int(0)];
    let made = if scan {
        b.scan_by(&[value], 1, &identity, region, Scan::default())
    } else {
        b.reduce_by(&[value], 1, &identity, region, Reduce { keepdims: true, ..Reduce::default() })
    };
    b.store(&Tiles::new(y, dims(columns)), &zero, made.unwrap()[0].into()).unwrap();
    b.finish()
}

#[test]
fn remainders_of_floats_are_taken_in_combinations() {
    let mut rng = random(21);
    for case in 0..cases(8) {
        let dtype = [DType::F32, DType::F64][case % 2];
        let extents = [rng.random_range(1..6), rng.random_range(1..70)];
        let bits: Vec<u64> = (0..extents[0] * extents[1])
            .map(|_| girih_tile::ops::number::encode(dtype, Const::Int(rng.random_range(0..M.into()))))
            .collect();
        let x = ArrayData::dense(dtype, &extents, &bits);
        for scan in [false, true] {
            let func = remainders(dtype, extents, scan);
            let y = zeros(dtype, &[extents[0], if scan { extents[1] } else { 1 }]);
            let result = differ(&func, [1; 3], &[x.clone(), y], &[], |_| Tolerance::EXACT);
            result.unwrap_or_else(|error| panic!("case {case}: {dtype} {extents:?}, scan {scan}: {error}"));
        }
    }
}
