//! What has no meaning, what is outside of arrays, the order of blocks, printing.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, End, Kind, Overflow, Padding, Rounding};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Axes, Mode, Reduce, Reduction};
use girih_tile_reference::{ArrayData, run};

use super::control::{int, param, put};

fn dims(extents: &[u32]) -> Dims {
    Dims::new(extents).unwrap()
}

/// A kernel that loads 4 of 3 elements without padding, and does something with them.
fn padded(
    use_it: impl Fn(&mut Build, girih_tile::ir::Value) -> girih_tile::ir::Value,
) -> Result<Vec<u64>, String> {
    let mut b = Build::new("padded");
    let (x, y) = (b.array(param("x", DType::S32, 1)), b.array(param("y", DType::S32, 1)));
    let value = b.load(&Tiles::new(x, dims(&[4])), &[int(0)]).unwrap();
    let value = use_it(&mut b, value);
    let shape = b.ty(value).dims;
    b.store(&Tiles::new(y, shape), &[int(0)], value.into()).unwrap();
    let mut arrays =
        [ArrayData::dense(DType::S32, &[3], &[5, 6, 7]), ArrayData::dense(DType::S32, &[4], &[0; 4])];
    run(&b.finish(), [1; 3], &mut arrays, &[]).map_err(|error| error.to_string())?;
    Ok(arrays[1].elements().unwrap())
}

#[test]
fn padding_that_is_used_is_an_error() {
    let add = |b: &mut Build, value: girih_tile::ir::Value| {
        b.each(Each::Add, &[value.into(), int(1)], Mode::default()).unwrap()
    };
    assert!(padded(add).unwrap_err().contains("undetermined"));
    let sum = |b: &mut Build, value| {
        b.reduce(Reduction::Sum, value, &Axes::All, Reduce { keepdims: true, ..Reduce::default() }).unwrap()
    };
    assert!(padded(sum).unwrap_err().contains("undetermined"));
    // A selection takes the other one, and a part leaves it out.
    let masked = |b: &mut Build, value: girih_tile::ir::Value| {
        let at = b.arange(DType::S32, 4, Const::Int(0), Const::Int(1)).unwrap();
        let inside = b.each(Each::Less, &[at.into(), int(3)], Mode::default()).unwrap();
        b.each(Each::Select, &[inside.into(), value.into(), int(-1)], Mode::default()).unwrap()
    };
    assert_eq!(padded(masked), Ok(vec![5, 6, 7, u64::from(u32::MAX)]));
    let part = |b: &mut Build, value| b.extract(value, &[0], dims(&[2])).unwrap();
    assert_eq!(padded(part), Ok(vec![5, 6, 0, 0]));
}

#[test]
fn undetermined_conditions_and_indices_are_errors() {
    for deciding in [true, false] {
        let mut b = Build::new("deciding");
        let (x, y) = (b.array(param("x", DType::S32, 1)), b.array(param("y", DType::S32, 1)));
        let value = b.load(&Tiles::new(x, Dims::SCALAR), &[int(7)]).unwrap();
        if deciding {
            let cond = b.each(Each::Equal, &[value.into(), int(0)], Mode::default()).unwrap();
            let regions = [(); 2].map(|()| {
                b.open(&[]);
                b.close(End::Yield(vec![]))
            });
            b.push_regions(Kind::If, &[cond], &[], regions.to_vec());
        } else {
            let one = b.value(int(1)).unwrap();
            put(&mut b, y, value.into(), one);
        }
        let mut arrays =
            [ArrayData::dense(DType::S32, &[3], &[5, 6, 7]), ArrayData::dense(DType::S32, &[1], &[0])];
        let error = run(&b.finish(), [1; 3], &mut arrays, &[]).unwrap_err().to_string();
        assert!(error.contains("undetermined"), "{error}");
    }
}

/// A quotient by 0 has no value; what does not depend on it has.
#[test]
fn quotients_by_zero_are_undetermined() {
    let quotient = |divisor: i64| {
        let mut b = Build::new("quotient");
        let y = b.array(param("y", DType::S32, 1));
        let divisor = b.value(int(divisor)).unwrap();
        let value = b.each(Each::FloorDiv, &[int(7), divisor.into()], Mode::default()).unwrap();
        put(&mut b, y, int(0), value);
        let mut arrays = [ArrayData::dense(DType::S32, &[1], &[0])];
        run(&b.finish(), [1; 3], &mut arrays, &[]).map(|_| arrays[0].read(&[0]))
    };
    assert_eq!(quotient(-2).unwrap(), Some(u64::from(-4i32 as u32)));
    assert!(quotient(0).is_err());
}

/// Blocks run in the order of the grid, axis 0 first; of a part of an array, what is outside of the array is outside.
#[test]
fn blocks_run_in_order() {
    let mut b = Build::new("order");
    let x = b.array(param("x", DType::S32, 1));
    let (i, j) = (b.bid(0).unwrap(), b.bid(1).unwrap());
    b.print("%d,%d;", &[i.into(), j.into()]).unwrap();
    let part = b.array_slice(x, 0, int(2), int(9)).unwrap();
    let value = b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(part, dims(&[4])) }, &[int(0)]).unwrap();
    b.print("[%3d]", &[value.into()]).unwrap();
    let mut arrays = [ArrayData::dense(DType::S32, &[4], &[1, 2, 3, 4])];
    let outcome = run(&b.finish(), [2, 2, 1], &mut arrays, &[]).unwrap();
    let tile = "[  3][  4][  0][  0]";
    assert_eq!(outcome.printed, format!("0,0;{tile}1,0;{tile}0,1;{tile}1,1;{tile}"));
}

#[test]
fn printing_is_that_of_c() {
    let mut b = Build::new("print");
    let x = |x: f64| Arg::Strict(DType::F64, Const::Float(x));
    b.print(
        "%f|%.2e|%g|%g|%g|%8.3f|%-6d|%+d|%x|%%",
        &[x(1.5), x(-12345.678), x(0.0001), x(1e-7), x(100000.0), x(2.0), int(7), int(7), int(255)],
    )
    .unwrap();
    let outcome = run(&b.finish(), [1; 3], &mut [], &[]).unwrap();
    assert_eq!(outcome.printed, "1.500000|-1.23e+04|0.0001|1e-07|100000|   2.000|7     |+7|ff|%");
}

#[test]
fn assertions_and_arguments_are_checked() {
    let mut b = Build::new("assert");
    let block = b.bid(0).unwrap();
    let cond = b.each(Each::Less, &[block.into(), int(2)], Mode::default()).unwrap();
    b.assert(cond.into(), "two blocks").unwrap();
    let func = b.finish();
    assert!(run(&func, [2, 1, 1], &mut [], &[]).is_ok());
    let error = run(&func, [3, 1, 1], &mut [], &[]).unwrap_err().to_string();
    assert!(error.contains("block (2, 0, 0)") && error.contains("two blocks"), "{error}");
    assert!(run(&func, [1; 3], &mut [], &[1]).is_err());

    let mut b = Build::new("memory");
    let y = b.array(param("y", DType::S32, 1));
    let one = b.value(int(1)).unwrap();
    put(&mut b, y, int(3), one);
    // The extent promises an element that the memory does not have.
    let mut arrays = [ArrayData { extents: vec![4], ..ArrayData::dense(DType::S32, &[3], &[0; 3]) }];
    assert!(run(&b.finish(), [1; 3], &mut arrays, &[]).is_err());
}

/// Constants that meet each other, and directions that casts do not have.
#[test]
fn constants_and_casts_are_refused_where_they_do_not_fit() {
    let mut b = Build::new("constants");
    let big = 1i64 << 40;
    let sum = b.each(Each::Add, &[int(2), int(big)], Mode::default()).unwrap();
    assert_eq!(b.ty(sum).dtype, DType::S64);
    let mixed = b.each(Each::Add, &[int(big), Arg::Loose(Const::Float(0.5))], Mode::default()).unwrap();
    assert_eq!(b.ty(mixed).dtype, DType::F32);
    let signs = b.each(Each::Add, &[int(-1), Arg::Loose(Const::Int(u64::MAX.into()))], Mode::default());
    assert_eq!(signs.unwrap_err().code(), "const_out_of_range");
    for (dtype, rounding) in
        [(DType::S32, Rounding::Up), (DType::E4m3, Rounding::Zero), (DType::F16, Rounding::Approx)]
    {
        assert_eq!(b.cast(mixed, dtype, rounding).unwrap_err().code(), "rounding_unsupported", "{dtype}");
    }
    assert!(b.cast(mixed, DType::F16, Rounding::Down).is_ok());
}

#[test]
fn broken_promises_about_overflow_are_undetermined() {
    // Each number, added to and multiplied by itself, in 8 bits, against arithmetic in Rust.
    let all: Vec<u64> = (0..256).collect();
    for (op, overflow) in [
        (Each::Add, Overflow::NoSigned),
        (Each::Add, Overflow::NoUnsigned),
        (Each::Mul, Overflow::NoSigned),
        (Each::Mul, Overflow::NoUnsigned),
        (Each::Sub, Overflow::Never),
        (Each::Shl, Overflow::Never),
    ] {
        for &n in &all {
            let mut b = Build::new("promised");
            let (x, y) = (b.array(param("x", DType::U8, 1)), b.array(param("y", DType::U8, 1)));
            let value = b.load(&Tiles::new(x, dims(&[1])), &[int(0)]).unwrap();
            let mode = Mode { overflow, ..Mode::default() };
            let other = if op == Each::Sub { 1 } else { 3 };
            let result = b.each(op, &[value.into(), int(other)], mode).unwrap();
            b.store(&Tiles::new(y, dims(&[1])), &[int(0)], result.into()).unwrap();
            let mut arrays =
                [ArrayData::dense(DType::U8, &[1], &[n]), ArrayData::dense(DType::U8, &[1], &[0])];
            let ran = run(&b.finish(), [1; 3], &mut arrays, &[]).map_err(|error| error.to_string());
            let (unsigned, signed) = (n as u8, n as u8 as i8);
            let (kept, wrapped) = match (op, overflow) {
                (Each::Add, Overflow::NoSigned) => {
                    (signed.checked_add(3).is_some(), unsigned.wrapping_add(3))
                }
                (Each::Add, _) => (unsigned.checked_add(3).is_some(), unsigned.wrapping_add(3)),
                (Each::Mul, Overflow::NoSigned) => {
                    (signed.checked_mul(3).is_some(), unsigned.wrapping_mul(3))
                }
                (Each::Mul, _) => (unsigned.checked_mul(3).is_some(), unsigned.wrapping_mul(3)),
                (Each::Sub, _) => {
                    let kept = unsigned.checked_sub(1).is_some() && signed.checked_sub(1).is_some();
                    (kept, unsigned.wrapping_sub(1))
                }
                _ => (unsigned.checked_mul(8).is_some() && signed.checked_mul(8).is_some(), unsigned << 3),
            };
            match ran {
                Ok(_) => assert!(
                    kept && arrays[1].elements() == Some(vec![wrapped.into()]),
                    "{op:?} {overflow:?} {n}"
                ),
                Err(error) => {
                    assert!(!kept && error.contains("undetermined"), "{op:?} {overflow:?} {n}: {error}")
                }
            }
        }
    }
}
