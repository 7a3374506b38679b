//! Loads and stores of tiles: extents, strides, alignments, paddings, orders.

use girih_tensor::DType;
use girih_tile::ir::{ArrayParam, Build, Dims, Known, Padding};
use girih_tile::ops::memory::Tiles;
use rand::RngExt;

use crate::common::differ::{Tolerance, array, cases, differ, random, zeros};

pub(crate) fn param(
    name: &str,
    dtype: DType,
    mutable: bool,
    extents: &[Known],
    strides: &[Known],
    align: u32,
) -> ArrayParam {
    ArrayParam {
        name: name.into(),
        dtype,
        mutable,
        extents: extents.to_vec(),
        strides: strides.to_vec(),
        align,
        assume_disjoint: None,
    }
}

/// What is known of a number: itself, one of its powers of two, or nothing.
fn known(rng: &mut rand::rngs::StdRng, value: i64) -> Known {
    match rng.random_range(0..3) {
        0 => Known::Is(value),
        1 if value > 0 => Known::MultipleOf(1 << value.trailing_zeros().min(4)),
        _ => Known::MultipleOf(1),
    }
}

#[test]
fn copies_of_tiles_are_copies() {
    let mut rng = random(1);
    let dtypes =
        [DType::Bool, DType::S8, DType::U16, DType::F16, DType::F32, DType::S32, DType::F64, DType::E4m3];
    for case in 0..cases(60) {
        let rank = rng.random_range(1..=3);
        let dtype = dtypes[case % dtypes.len()];
        let tile: Vec<u32> = (0..rank).map(|_| 1 << rng.random_range(0..5)).collect();
        let extents: Vec<i64> = tile
            .iter()
            .map(|&n| {
                i64::from(n) * rng.random_range(1..4)
                    - if rng.random() { 0 } else { rng.random_range(0..i64::from(n)) }
            })
            .collect();
        let dims = Dims::new(&tile).unwrap();
        let x = array(&mut rng, dtype, &extents);
        let y = zeros(dtype, &extents);
        let facts = |rng: &mut rand::rngs::StdRng| -> (Vec<Known>, Vec<Known>) {
            let mut strides: Vec<Known> = x.strides.iter().map(|&n| known(rng, n)).collect();
            if rng.random_range(0..4) > 0 {
                strides[rank - 1] = Known::Is(1);
            }
            (extents.iter().map(|&n| known(rng, n)).collect(), strides)
        };
        let mut b = Build::new("copy");
        let (e, s) = facts(&mut rng);
        let from = b.array(param(
            "x",
            dtype,
            false,
            &e,
            &s,
            if rng.random() { 16 } else { 4.max(dtype.bits() / 8) },
        ));
        let (e, s) = facts(&mut rng);
        let to = b.array(param("y", dtype, true, &e, &s, 16));
        let index: Vec<_> = (0..rank).map(|axis| b.bid(axis as i64).unwrap().into()).collect();
        let padding =
            if dtype.is_float() && dtype.bits() > 8 { Padding::NegInf } else { Padding::Undetermined };
        let tiles = Tiles { padding, ..Tiles::new(from, dims) };
        let value = b.load(&tiles, &index).unwrap();
        b.store(&Tiles::new(to, dims), &index, value.into()).unwrap();
        let mut grid = [1; 3];
        for axis in 0..rank {
            grid[axis] = (extents[axis] as u32).div_ceil(tile[axis]);
        }
        differ(&b.finish(), grid, &[x.clone(), y], &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {dtype} {extents:?} in tiles {tile:?}: {error}"));
    }
}
