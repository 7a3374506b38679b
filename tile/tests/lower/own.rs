//! A block sees its own stores in the order of the program: random programs that store to an array and load from it, in branches and loops, by
//! tiles of several shapes and orders of axes, by parts and by indices.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayId, Build, Dims, End, Func, Kind, Known, Padding, ScalarParam, Type, Value};
use girih_tile::ops::indexed::Elements;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile_reference::ArrayData;
use rand::RngExt;
use rand::rngs::StdRng;

use super::memory::param;
use crate::common::differ::{Tolerance, array, cases, differ, random};

/// Rows of a block.
const ROWS: u32 = 8;
const COLUMNS: u32 = 32;
/// Tiles of the rows of a block, and whether their axes are exchanged.
const TILES: [([u32; 2], bool); 6] =
    [([8, 32], false), ([8, 32], true), ([4, 32], false), ([8, 8], false), ([1, 32], false), ([2, 16], true)];

struct Program {
    b: Build,
    rng: StdRng,
    y: ArrayId,
    /// The block's index, and the scalar of the launch.
    block: Value,
    scalar: Value,
    /// The numbers of loops around.
    numbers: Vec<Value>,
}

fn int(n: i64) -> Arg {
    Arg::Loose(Const::Int(n.into()))
}

impl Program {
    fn each(&mut self, op: Each, args: &[Arg]) -> Value {
        self.b.each(op, args, Mode::default()).unwrap()
    }

    /// A small number that is known while building, or a loop's number, below `n`.
    fn number(&mut self, n: i64) -> Value {
        let number = match self.numbers.last() {
            Some(&number) if self.rng.random() => number,
            _ => {
                let fixed = self.rng.random_range(0..n);
                self.b.full(DType::S32, Dims::SCALAR, Const::Int(fixed.into()))
            }
        };
        self.each(Each::Mod, &[number.into(), int(n)])
    }

    /// A condition that is known to the launch, to the block, to a loop, or to nobody before the block has loaded something.
    fn condition(&mut self, sum: Value) -> Value {
        let number = match self.rng.random_range(0..4) {
            0 => self.scalar,
            1 => self.block,
            2 => self.numbers.last().copied().unwrap_or(self.block),
            _ => {
                let all = self.b.reshape(sum, &[-1]).unwrap();
                let first = self.b.extract(all, &[0], Dims::new(&[1]).unwrap()).unwrap();
                self.b.reshape(first, &[]).unwrap()
            }
        };
        let bit = self.each(Each::And, &[number.into(), int(1)]);
        self.each(Each::Equal, &[bit.into(), int(0)])
    }

    /// A tile of the block's rows, and its index.
    fn tiles(&mut self) -> (Tiles, Vec<Arg>) {
        let (tile, turned) = TILES[self.rng.random_range(0..TILES.len())];
        let along = self.number((ROWS / tile[0]).into());
        let across = self.number((COLUMNS / tile[1]).into());
        if self.rng.random_range(0..4) == 0 {
            // Through a part of the array that begins somewhere in the block's rows.
            let by = self.number(ROWS.into());
            let first = self.each(Each::Mul, &[self.block.into(), int(ROWS.into())]);
            let start = self.each(Each::Add, &[first.into(), by.into()]);
            let stop = self.each(Each::Add, &[first.into(), int(ROWS.into())]);
            let part = self.b.array_slice(self.y, 0, start.into(), stop.into()).unwrap();
            let tiles = Tiles { padding: Padding::Zero, ..Tiles::new(part, Dims::new(&tile).unwrap()) };
            return (tiles, vec![along.into(), across.into()]);
        }
        let rows = self.each(Each::Mul, &[self.block.into(), int((ROWS / tile[0]).into())]);
        let along = self.each(Each::Add, &[rows.into(), along.into()]);
        let mut tiles = Tiles { padding: Padding::Zero, ..Tiles::new(self.y, Dims::new(&tile).unwrap()) };
        let mut index: Vec<Arg> = vec![along.into(), across.into()];
        if turned {
            tiles.tile = Dims::new(&[tile[1], tile[0]]).unwrap();
            tiles.axes = Dims::new(&[1, 0]);
            index.reverse();
        }
        (tiles, index)
    }

    /// Indices of elements of the block's rows in an order of their own.
    fn places(&mut self) -> [Arg; 2] {
        let rows = self.b.iota(DType::S32, &[ROWS.into()]).unwrap();
        let rows = self.each(Each::Mul, &[rows.into(), int(3)]);
        let rows = self.each(Each::Mod, &[rows.into(), int(ROWS.into())]);
        let first = self.each(Each::Mul, &[self.block.into(), int(ROWS.into())]);
        let rows = self.each(Each::Add, &[rows.into(), first.into()]);
        let rows = self.b.reshape(rows, &[ROWS.into(), 1]).unwrap();
        let by = self.number(COLUMNS.into());
        let columns = self.b.iota(DType::S32, &[COLUMNS.into()]).unwrap();
        let columns = self.each(Each::Add, &[columns.into(), by.into()]);
        let columns = self.each(Each::Mod, &[columns.into(), int(COLUMNS.into())]);
        [rows.into(), columns.into()]
    }

    /// The sum with what was loaded, in the shape of the sum.
    fn added(&mut self, sum: Value, loaded: Value) -> Value {
        let ty = self.b.ty(sum);
        let loaded = if self.b.ty(loaded).dims.size() == ty.dims.size() {
            self.b.reshape(loaded, &[ROWS.into(), COLUMNS.into()]).unwrap()
        } else {
            let all = self.b.reshape(loaded, &[-1]).unwrap();
            let first = self.b.extract(all, &[0], Dims::new(&[1]).unwrap()).unwrap();
            self.b.reshape(first, &[1, 1]).unwrap()
        };
        let loaded = self.each(Each::Mul, &[loaded.into(), int(3)]);
        self.each(Each::Add, &[sum.into(), loaded.into()])
    }

    fn steps(&mut self, mut sum: Value, depth: u32) -> Value {
        for _ in 0..self.rng.random_range(2..5) {
            sum = match self.rng.random_range(0..10) {
                0..3 => {
                    let (tiles, index) = self.tiles();
                    let loaded = self.b.load(&tiles, &index).unwrap();
                    self.added(sum, loaded)
                }
                3..6 => {
                    let (tiles, index) = self.tiles();
                    let all = self.b.reshape(sum, &[-1]).unwrap();
                    let size = Dims::new(&[tiles.tile.size() as u32]).unwrap();
                    let part = self.b.extract(all, &[0], size).unwrap();
                    let dims: Vec<i64> = tiles.tile.iter().map(|&n| n.into()).collect();
                    let part = self.b.reshape(part, &dims).unwrap();
                    self.b.store(&tiles, &index, part.into()).unwrap();
                    sum
                }
                6 => {
                    let places = self.places();
                    let loaded = self.b.gather(&Elements::new(self.y), &places, None, None).unwrap();
                    self.added(sum, loaded)
                }
                7 => {
                    let places = self.places();
                    self.b.scatter(&Elements::new(self.y), &places, sum.into(), None).unwrap();
                    sum
                }
                8 if depth < 3 => self.branch(sum, depth),
                9 if depth < 3 => self.repetition(sum, depth),
                _ => self.each(Each::Add, &[sum.into(), int(1)]),
            };
        }
        sum
    }

    fn branch(&mut self, sum: Value, depth: u32) -> Value {
        let cond = self.condition(sum);
        let sides = [(); 2].map(|()| {
            self.b.open(&[]);
            let end = self.steps(sum, depth + 1);
            self.b.close(End::Yield(vec![end]))
        });
        let ty = self.b.ty(sum);
        self.b.push_regions(Kind::If, &[cond], &[ty], sides.to_vec())[0]
    }

    fn repetition(&mut self, sum: Value, depth: u32) -> Value {
        let ty = self.b.ty(sum);
        let stop = self.rng.random_range(1..4);
        let bounds = [0, stop, 1].map(|n| self.b.full(DType::S32, Dims::SCALAR, Const::Int(n)));
        let (_, args) = self.b.open(&[Type::scalar(DType::S32), ty]);
        self.numbers.push(args[0]);
        let end = self.steps(args[1], depth + 1);
        self.numbers.pop();
        let body = self.b.close(End::Continue(0, vec![end]));
        self.b.push_regions(Kind::For, &[bounds[0], bounds[1], bounds[2], sum], &[ty], vec![body])[0]
    }
}

/// The program of a seed, with its arguments, for a grid of two blocks.
fn program(seed: u64) -> (Func, Vec<ArrayData>, Vec<u64>) {
    let mut rng = random(seed);
    let extents = [i64::from(2 * ROWS), COLUMNS.into()];
    let arrays = vec![array(&mut rng, DType::S32, &extents), array(&mut rng, DType::S32, &extents)];
    let mut b = Build::new("own");
    let (known, strides) = (extents.map(Known::Is), [Known::Is(COLUMNS.into()), Known::Is(1)]);
    let y = b.array(param("y", DType::S32, true, &known, &strides, 16));
    let z = b.array(param("z", DType::S32, true, &known, &strides, 16));
    let scalar = b.scalar(ScalarParam { name: "n".into(), dtype: DType::S32, known: Known::MultipleOf(1) });
    let block = b.bid(0).unwrap();
    let bits = rng.random_range(0..2);
    let mut p = Program { b, rng, y, block, scalar, numbers: Vec::new() };
    let rows = Dims::new(&[ROWS, COLUMNS]).unwrap();
    let first = p.b.load(&Tiles::new(y, rows), &[block.into(), int(0)]).unwrap();
    let sum = p.steps(first, 0);
    p.b.store(&Tiles::new(z, rows), &[block.into(), int(0)], sum.into()).unwrap();
    (p.b.finish(), arrays, vec![bits])
}

#[test]
fn a_block_sees_its_own_stores_in_order() {
    let first: u64 = std::env::var("GIRIH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut failed = Vec::new();
    for seed in first..first + cases(40) as u64 {
        let (func, arrays, scalars) = program(seed);
        if let Err(error) = differ(&func, [2, 1, 1], &arrays, &scalars, |_| Tolerance::EXACT) {
            let line = error.lines().next().unwrap_or_default();
            failed.push(format!("GIRIH_SEED={seed} GIRIH_CASES=1: {line}"));
        }
    }
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));
}
