//! Products of matrices, against sums of products in Rust.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, Padding, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::number::encode;
use girih_tile_reference::{ArrayData, number, run};
use rand::RngExt;

use super::control::{int, param};
use crate::common::differ::random;

/// What a kernel of loads, `f`, and a store gives; the result is an array of these extents.
fn evaluated(
    inputs: &[ArrayData],
    tiles: &[Vec<u32>],
    result: (DType, &[i64]),
    f: impl Fn(&mut Build, &[Value]) -> Value,
) -> Result<Vec<u64>, String> {
    let mut b = Build::new("product");
    let ids = inputs.iter().map(|array| b.array(param("x", array.dtype, array.extents.len())));
    let ids: Vec<_> = ids.collect();
    let to = b.array(param("y", result.0, result.1.len()));
    let values = ids.iter().zip(tiles).map(|(&id, tile)| {
        let tiles = Tiles { padding: Padding::Undetermined, ..Tiles::new(id, Dims::new(tile).unwrap()) };
        b.load(&tiles, &vec![int(0); tile.len()]).unwrap()
    });
    let values: Vec<Value> = values.collect();
    let value = f(&mut b, &values);
    let dims = b.ty(value).dims;
    b.store(&Tiles::new(to, dims), &vec![int(0); dims.rank()], value.into()).unwrap();
    let size = result.1.iter().product::<i64>() as usize;
    let mut arrays = inputs.to_vec();
    arrays.push(ArrayData::dense(result.0, result.1, &vec![0; size]));
    run(&b.finish(), [1; 3], &mut arrays, &[]).map_err(|error| error.to_string())?;
    Ok(arrays.last().unwrap().elements().unwrap())
}

#[test]
fn products_are_sums_of_products() {
    let mut rng = random(1);
    let pairs = [
        (DType::F16, DType::F16, DType::F32),
        (DType::F16, DType::F16, DType::F16),
        (DType::Bf16, DType::Bf16, DType::F32),
        (DType::Tf32, DType::Tf32, DType::F32),
        (DType::F64, DType::F64, DType::F64),
        (DType::E4m3, DType::E5m2, DType::F32),
        (DType::S8, DType::U8, DType::S32),
    ];
    for (left, right, sum) in pairs {
        for batches in [None, Some((1, 3)), Some((3, 1)), Some((2, 2))] {
            let [m, k, n] = [(); 3].map(|()| rng.random_range(1..7usize));
            let mut matrix = |dtype: DType, batch: Option<usize>, rows: usize, columns: usize| {
                let extents: Vec<i64> = batch.into_iter().chain([rows, columns]).map(|n| n as i64).collect();
                let least = if dtype == DType::U8 { 0 } else { -3 };
                let bits = (0..extents.iter().product::<i64>())
                    .map(|_| encode(dtype, Const::Int(rng.random_range(least..4))));
                ArrayData::dense(dtype, &extents, &bits.collect::<Vec<_>>())
            };
            let batch = batches.map(|(x, y)| x.max(y));
            let a = matrix(left, batches.map(|(x, _)| x), m, k);
            let b = matrix(right, batches.map(|(_, y)| y), k, n);
            let c = matrix(sum, batch, m, n);
            let inputs = [a, b, c];
            let shape = inputs[2].extents.clone();
            let tiles: Vec<Vec<u32>> =
                inputs.iter().map(|array| array.extents.iter().map(|&n| n as u32).collect()).collect();
            let got = evaluated(&inputs, &tiles, (sum, &shape), |b, v| b.mma(v[0], v[1], v[2]).unwrap());
            let numbers = |array: &ArrayData| -> Vec<f64> {
                array.elements().unwrap().into_iter().map(|bits| number(array.dtype, bits)).collect()
            };
            let [x, y, z] = [0, 1, 2].map(|i| numbers(&inputs[i]));
            let (of_x, of_y) = batches.unwrap_or((1, 1));
            let mut want = Vec::new();
            for (at, start) in z.iter().enumerate() {
                let (g, i, j) = (at / (m * n), at / n % m, at % n);
                let left = |p: usize| x[(g % of_x * m + i) * k + p];
                let right = |p: usize| y[(g % of_y * k + p) * n + j];
                want.push((0..k).fold(*start, |total, p| total + left(p) * right(p)));
            }
            let got: Vec<f64> = got.unwrap().into_iter().map(|bits| number(sum, bits)).collect();
            assert_eq!(got, want, "{left} * {right} + {sum}, {batches:?}, {m} {k} {n}");
        }
    }
}

#[test]
fn padding_poisons_the_rows_and_columns_that_it_enters() {
    let one = |extents: &[i64]| {
        let size = extents.iter().product::<i64>() as usize;
        ArrayData::dense(DType::S8, extents, &vec![1; size])
    };
    // Three of four rows are in the array: the product has a row that is undetermined, and others that are not.
    let product = |b: &mut Build, v: &[Value]| {
        let zeros = b.filled(DType::S32, &[4, 2], Const::Int(0)).unwrap();
        b.mma(v[0], v[1], zeros).unwrap()
    };
    let rows = [one(&[3, 4]), one(&[4, 2])];
    let tiles = [vec![4, 4], vec![4, 2]];
    let all = evaluated(&rows, &tiles, (DType::S32, &[4, 2]), product);
    assert!(all.unwrap_err().contains("undetermined"));
    let part = evaluated(&rows, &tiles, (DType::S32, &[2, 2]), |b, v| {
        let whole = product(b, v);
        b.extract(whole, &[0, 0], Dims::new(&[2, 2]).unwrap()).unwrap()
    });
    assert_eq!(part, Ok(vec![4; 4]));
    // Where padding lies along K it enters all sums.
    let inner = [one(&[4, 3]), one(&[4, 2])];
    let part = evaluated(&inner, &tiles, (DType::S32, &[1, 2]), |b, v| {
        let whole = product(b, v);
        b.extract(whole, &[0, 0], Dims::new(&[1, 2]).unwrap()).unwrap()
    });
    assert!(part.unwrap_err().contains("undetermined"));
}
