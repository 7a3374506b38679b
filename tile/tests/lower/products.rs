//! Products of matrices of all dtypes and shapes, whose factors are small integers, so that any order of sums gives the same.

use girih_tensor::DType;
use girih_tile::dtype::{Const, sums};
use girih_tile::hints::Hint;
use girih_tile::ir::{Build, Dims, End, Func, Kind, Known, Padding, Type, Value};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::number::encode;
use girih_tile::reference::ArrayData;
use rand::RngExt;
use rand::rngs::StdRng;

use super::memory::param;
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

/// Pairs of dtypes that are multiplied.
pub(super) const PAIRS: [(DType, DType); 12] = [
    (DType::F16, DType::F16),
    (DType::Bf16, DType::Bf16),
    (DType::F32, DType::F32),
    (DType::Tf32, DType::Tf32),
    (DType::F64, DType::F64),
    (DType::E4m3, DType::E4m3),
    (DType::E4m3, DType::E5m2),
    (DType::E5m2, DType::E4m3),
    (DType::S8, DType::S8),
    (DType::S8, DType::U8),
    (DType::U8, DType::S8),
    (DType::U8, DType::U8),
];

/// A product in a kernel.
#[derive(Clone, Debug)]
struct Case {
    dtypes: [DType; 3],
    batches: Option<[u32; 2]>,
    mnk: [u32; 3],
    /// Whether A and B lie in memory with their matrices transposed.
    turned: [bool; 2],
    /// The number of tiles along K, one a turn of a loop.
    turns: u32,
    /// Whether A is loaded before the loop.
    around: bool,
    hints: Vec<(Hint, i64)>,
}

impl Case {
    fn random(rng: &mut StdRng, pair: (DType, DType)) -> Case {
        let sums = sums(pair.0, pair.1);
        let sum = sums[rng.random_range(0..sums.len())];
        let size = |rng: &mut StdRng| match rng.random_range(0..4) {
            0 => rng.random_range(1..20),
            1 => [8, 16, 32][rng.random_range(0..3)],
            2 => [16, 32, 64][rng.random_range(0..3)],
            _ => rng.random_range(1..6) * 8,
        };
        let mnk = [size(rng), size(rng), size(rng)];
        let batches = match rng.random_range(0..4) {
            0 => Some([[1, 3], [2, 1], [3, 3], [4, 4]][rng.random_range(0..4)]),
            _ => None,
        };
        let turns = rng.random_range(1..4);
        let mut hints = Vec::new();
        if rng.random() {
            hints.push((Hint::NumWorkerWarps, [4, 8][rng.random_range(0..2)]));
        }
        let turned = [rng.random(), rng.random()];
        Case { dtypes: [pair.0, pair.1, sum], batches, mnk, turned, turns, around: rng.random(), hints }
    }

    /// The kernel, with arrays of small integers.
    fn program(&self, rng: &mut StdRng) -> (Func, Vec<ArrayData>) {
        let [m, n, k] = self.mnk;
        let batch = self.batches.map(|[x, y]| x.max(y));
        let mut b = Build::new("product");
        for &(hint, value) in &self.hints {
            b.hints_mut().set(None, hint, value).unwrap();
        }
        let shape = |batch: Option<u32>, rows: u32, columns: u32| -> Vec<u32> {
            batch.into_iter().chain([rows, columns]).collect()
        };
        let turn = |mut shape: Vec<u32>, turned: bool| {
            let at = shape.len() - 2;
            if turned {
                shape.swap(at, at + 1);
            }
            shape
        };
        let of = self.batches.map_or([None, None], |list| list.map(Some));
        let tiles = [
            turn(shape(of[0], m, k), self.turned[0]),
            turn(shape(of[1], k, n), self.turned[1]),
            shape(batch, m, n),
        ];
        // Of what there is along K, the last tile has a part.
        let all = k * self.turns - if k > 2 && self.turns > 1 { k / 3 } else { 0 };
        let along = |tile: &[u32], axis: usize| {
            let mut extents: Vec<i64> = tile.iter().map(|&n| n.into()).collect();
            extents[axis] = all.into();
            extents
        };
        let rank = tiles[0].len();
        let extents = [
            if self.around {
                tiles[0].iter().map(|&n| n.into()).collect()
            } else {
                along(&tiles[0], if self.turned[0] { rank - 2 } else { rank - 1 })
            },
            along(&tiles[1], if self.turned[1] { rank - 1 } else { rank - 2 }),
            tiles[2].iter().map(|&n| n.into()).collect(),
        ];
        let mut arrays = Vec::new();
        for (i, extents) in extents.iter().enumerate() {
            let least = if self.dtypes[i] == DType::U8 { 0 } else { -2 };
            let bits = (0..extents.iter().product::<i64>())
                .map(|_| encode(self.dtypes[i], Const::Int(rng.random_range(least..3))));
            arrays.push(ArrayData::dense(self.dtypes[i], extents, &bits.collect::<Vec<_>>()));
        }
        arrays.push(zeros(self.dtypes[2], &extents[2]));
        let ids: Vec<_> = arrays
            .iter()
            .enumerate()
            .map(|(i, array)| {
                let extents: Vec<Known> = array.extents.iter().map(|&n| Known::Is(n)).collect();
                let strides: Vec<Known> = array.strides.iter().map(|&n| Known::Is(n)).collect();
                b.array(param(&format!("x{i}"), array.dtype, i == 3, &extents, &strides, 16))
            })
            .collect();
        let int = |n: i64| Arg::Loose(Const::Int(n.into()));
        let load = |b: &mut Build, i: usize, step: Option<Value>| {
            let tile = &tiles[i];
            let at = tile.len() - if i < 2 && self.turned[i] == (i == 0) { 2 } else { 1 };
            let mut index = vec![int(0); tile.len()];
            if let Some(step) = step {
                index[at] = step.into();
            }
            let view = Tiles { padding: Padding::Zero, ..Tiles::new(ids[i], Dims::new(tile).unwrap()) };
            let value = b.load(&view, &index).unwrap();
            if i < 2 && self.turned[i] {
                let mut axes: Vec<i64> = (0..tile.len() as i64).collect();
                axes.swap(tile.len() - 2, tile.len() - 1);
                return b.permute(value, &axes).unwrap();
            }
            value
        };
        let start = load(&mut b, 2, None);
        let before = self.around.then(|| load(&mut b, 0, None));
        let ty = b.ty(start);
        let number = |b: &mut Build, n: u32| b.full(DType::S32, Dims::SCALAR, Const::Int(n.into()));
        let [zero, one, stop] = [0, 1, self.turns].map(|n| number(&mut b, n));
        let (body, args) = b.open(&[Type::scalar(DType::S32), ty]);
        let left = before.unwrap_or_else(|| load(&mut b, 0, Some(args[0])));
        let right = load(&mut b, 1, Some(args[0]));
        let sums = b.mma(left, right, args[1]).unwrap();
        b.close(End::Continue(0, vec![sums]));
        let sums = b.push_regions(Kind::For, &[zero, stop, one, start], &[ty], vec![body])[0];
        let view = Tiles::new(ids[3], ty.dims);
        b.store(&view, &vec![int(0); ty.dims.rank()], sums.into()).unwrap();
        (b.finish(), arrays)
    }
}

#[test]
fn products_of_all_dtypes_and_shapes_agree_with_the_reference() {
    let mut rng = random(15);
    for case in 0..cases(72) {
        let case = Case::random(&mut rng, PAIRS[case % PAIRS.len()]);
        let (func, arrays) = case.program(&mut rng);
        differ(&func, [1; 3], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}
