//! Tiles that reach beyond their arrays, without padding: a result that depends on what they have there is an error, any other one is right.

use girih_device::{Device, SimOptions};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::error::{Error, LaunchError};
use girih_tile::facts::Facts;
use girih_tile::ir::table::Each;
use girih_tile::ir::{
    ArrayId, ArrayParam, Build, Dims, End, Func, Kind, Known, Nan, Padding, Rounding, Type, Value, verify,
};
use girih_tile::launch::words::{ByHash as _, Constant, Constants};
use girih_tile::launch::{DeviceArray, Launch};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::{Arg, Axes, Mode, Reduce, Reduction, Running, Scan};
use girih_tile::prelude::*;
use girih_tile_reference::{self as reference, ArrayData};
use rand::RngExt;
use rand::rngs::StdRng;

use super::{device, numbers};
use crate::common::differ::{Tolerance, cases, random};

const STEPS: u32 = line!() + 7;
/// The last of the tiles that are summed is ragged.
#[kernel]
fn columns(x: &Array<f32, 2>, y: &mut Array<f32, 2>, padding: Padding, guarded: Scalar<bool>) {
    let rows = bid(0);
    let mut sum = zeros::<f32>([8, 16]);
    for k in 0..cdiv(x.dim(1), 16) {
        let tile = x.tiles([8, 16]).padding(padding).load((rows, k));
        if guarded {
            sum += tile;
        } else {
            sum = sum.maximum(tile);
        }
    }
    y.tiles_mut([8, 16]).store((rows, 0), sum);
}

/// As `columns`, without a branch around the sum.
#[kernel]
fn plain_columns(x: &Array<f32, 2>, y: &mut Array<f32, 2>, padding: Padding) {
    let rows = bid(0);
    let mut sum = zeros::<f32>([8, 16]);
    for k in 0..cdiv(x.dim(1), 16) {
        sum += x.tiles([8, 16]).padding(padding).load((rows, k));
    }
    y.tiles_mut([8, 16]).store((rows, 0), sum);
}

#[test]
fn padding_that_a_loop_carries_is_not_forgotten_in_silence() {
    let device = device();
    for n in [32, 33, 40, 47, 5] {
        let x = DeviceArray::upload(&device, &numbers(8 * n), [8, n]).unwrap();
        let mut y = DeviceArray::zeros(&device, [8, 16]).unwrap();
        let sums: Vec<f32> = (0..8 * 16)
            .map(|at| (at % 16..n).step_by(16).map(|column| numbers(8 * n)[at / 16 * n + column]).sum())
            .collect();
        plain_columns(&x, &mut y, Padding::Zero).run().unwrap();
        assert_eq!(y.download().unwrap(), sums);
        let ran = plain_columns(&x, &mut y, Padding::Undetermined).run();
        assert_eq!(ran.is_ok(), n % 16 == 0, "{n}");
        if let Err(error) = ran {
            let is_refused = matches!(error, Error::Launch(LaunchError::Padding { axis: 1, tile: 16, .. }));
            assert!(is_refused, "{error}");
        }
        // What a branch does, no launch knows; the simulator does.
        for guarded in [true, false] {
            let ran = columns(&x, &mut y, Padding::Undetermined, guarded).run();
            assert_eq!(ran.is_ok(), n % 16 == 0, "{n}");
            if let Err(error) = ran {
                let message = error.to_string();
                assert!(matches!(error, Error::Finding { .. }), "{message}");
                let place = format!("tile/tests/launch/padding.rs:{STEPS}:");
                assert!(message.contains(&place) && message.contains("undetermined padding"), "{message}");
            }
        }
    }
}

/// A random program of 8 x 16 tiles of `x`, whose extents its tiles do not always divide, and the extents of `x` and of its result.
struct Program<'r> {
    rng: &'r mut StdRng,
    b: Build,
    x: ArrayId,
    padding: Padding,
    rows: Value,
    /// Whether tiles divide the extents of `x`.
    whole: [bool; 2],
}

fn parameter(name: &str, mutable: bool) -> ArrayParam {
    let extents = vec![Known::MultipleOf(1); 2];
    let strides = vec![Known::MultipleOf(1), Known::Is(1)];
    ArrayParam {
        name: name.into(),
        dtype: DType::F32,
        mutable,
        extents,
        strides,
        align: 16,
        assume_disjoint: None,
    }
}

impl Program<'_> {
    fn number(&mut self, n: i64) -> Value {
        self.b.full(DType::S32, Dims::SCALAR, Const::Int(n.into()))
    }

    fn each(&mut self, op: Each, args: &[Value]) -> Value {
        let args: Vec<Arg> = args.iter().map(|&arg| arg.into()).collect();
        self.b.each(op, &args, Mode::default()).unwrap()
    }

    /// A tile of `x`; sometimes with zeros instead of the columns that `x` does not have.
    fn tile(&mut self, column: Value) -> Value {
        let tiles = Tiles { padding: self.padding, ..Tiles::new(self.x, Dims::new(&[8, 16]).unwrap()) };
        let tile = self.b.load(&tiles, &[self.rows.into(), column.into()]).unwrap();
        match self.rng.random_range(0..5) {
            0 => {
                let lanes = self.b.arange(DType::S32, 16, Const::Int(0), Const::Int(1)).unwrap();
                let sixteen = self.number(16);
                let begin = self.each(Each::Mul, &[column, sixteen]);
                let at = self.each(Each::Add, &[lanes, begin]);
                let end = self.b.dim(self.x, 1).unwrap();
                let inside = self.each(Each::Less, &[at, end]);
                let inside = self.b.reshape(inside, &[1, 16]).unwrap();
                let zero = self.b.full(DType::F32, Dims::SCALAR, Const::Float(0.0));
                self.each(Each::Select, &[inside, tile, zero])
            }
            1 => self.each(Each::Neg, &[tile]),
            2 => self.each(Each::Abs, &[tile]),
            _ => tile,
        }
    }

    fn combined(&mut self, a: Value, b: Value) -> Value {
        let op = [Each::Add, Each::Sub, Each::Max, Each::Min, Each::Mul][self.rng.random_range(0..5)];
        self.each(op, &[a, b])
    }

    /// Tiles of all columns, or of all but the last ones, combined.
    fn looped(&mut self) -> Value {
        let first = self.number(0);
        let mut carried = if self.rng.random::<bool>() {
            self.tile(first)
        } else {
            self.b.full(DType::F32, Dims::new(&[8, 16]).unwrap(), Const::Float(1.0))
        };
        let (end, sixteen, one) = (self.b.dim(self.x, 1).unwrap(), self.number(16), self.number(1));
        let count = [Each::CeilDiv, Each::FloorDiv][self.rng.random_range(0..2)];
        let end = self.each(count, &[end, sixteen]);
        let ty = self.b.ty(carried);
        let (_, args) = self.b.open(&[Type::scalar(DType::S32), ty]);
        let tile = self.tile(args[0]);
        let next = match self.rng.random_range(0..4) {
            // What is not combined is the tile of the last iteration.
            0 => tile,
            _ => self.combined(args[1], tile),
        };
        let body = self.b.close(End::Continue(0, vec![next]));
        carried = self.b.push_regions(Kind::For, &[first, end, one, carried], &[ty], vec![body])[0];
        carried
    }

    /// Combines elements of a tile with each other, or moves them.
    fn mixed(&mut self, tile: Value) -> Value {
        let axis = self.rng.random_range(0..2);
        match self.rng.random_range(0..8) {
            0 => {
                let op = [Reduction::Sum, Reduction::Max, Reduction::Min][self.rng.random_range(0..3)];
                let how = Reduce { keepdims: true, nan: Nan::Ignored };
                self.b.reduce(op, tile, &Axes::One(axis), how).unwrap()
            }
            1 => {
                let how =
                    Scan { reverse: self.rng.random(), exclusive: self.rng.random(), nan: Nan::Ignored };
                let op = [Running::Sum, Running::Max][self.rng.random_range(0..2)];
                self.b.scan(op, tile, axis, how).unwrap()
            }
            // A sort turns keys into addresses, also those of rows that no store has: the simulator reports them, though they are right.
            2 if self.whole[1 - axis as usize] => self.b.sort(&[tile], axis, self.rng.random()).unwrap()[0],
            3 => self.b.flip(tile, axis).unwrap(),
            4 if self.b.ty(tile).dims == Dims::new(&[8, 16]).unwrap() => {
                self.b.extract(tile, &[0, 1], Dims::new(&[8, 8]).unwrap()).unwrap()
            }
            5 => {
                let wide = self.b.cast(tile, DType::F64, Rounding::Nearest).unwrap();
                self.b.cast(wide, DType::F32, Rounding::Nearest).unwrap()
            }
            _ => tile,
        }
    }
}

/// The program of a number, and the extents of its arrays.
fn program(number: u64, padding: Padding) -> (Func, [[i64; 2]; 2]) {
    let mut rng = random(number);
    let extents = [[8, 16, 21, 24][rng.random_range(0..4)], [16, 21, 32, 39, 48, 7][rng.random_range(0..6)]];
    let mut b = Build::new("padded");
    let (x, y) = (b.array(parameter("x", false)), b.array(parameter("y", true)));
    let rows = b.bid(0).unwrap();
    let whole = [extents[0] % 8 == 0, extents[1] % 16 == 0];
    let mut program = Program { rng: &mut rng, b, x, padding, rows, whole };
    let mut value = match program.rng.random_range(0..4) {
        0 => {
            let at = program.rng.random_range(0..3);
            let at = program.number(at);
            program.tile(at)
        }
        1 => {
            let (one, two) = (program.looped(), program.looped());
            program.combined(one, two)
        }
        _ => program.looped(),
    };
    for _ in 0..program.rng.random_range(0..3) {
        value = program.mixed(value);
    }
    let dims = program.b.ty(value).dims;
    let zero = program.number(0);
    let columns = program.rng.random_range(1..=2 * i64::from(dims[1]));
    let height = if dims[0] == 8 { extents[0] } else { (extents[0] + 7) / 8 };
    let store = Tiles::new(y, dims);
    program.b.store(&store, &[rows.into(), zero.into()], value.into()).unwrap();
    let func = program.b.finish();
    verify(&func).unwrap();
    (func, [extents, [height, columns]])
}

fn evaluated(
    number: u64,
    padding: Padding,
    arrays: &[ArrayData],
    grid: [u32; 3],
) -> Result<Vec<u64>, String> {
    let (func, _) = program(number, padding);
    let mut arrays = arrays.to_vec();
    reference::run(&func, grid, &mut arrays, &[]).map_err(|error| error.to_string())?;
    Ok(arrays[1].elements().unwrap())
}

/// How many programs were refused at launch, found by the simulator, and right.
#[derive(Debug, Default)]
struct Counts {
    refused: usize,
    found: usize,
    right: usize,
}

/// The kernel by which launches of random programs are distinguished from others.
struct Random;

fn check(device: &Device, number: u64, counts: &mut Counts) {
    let (_, [of_x, of_y]) = program(number, Padding::Undetermined);
    let values = numbers((of_x[0] * of_x[1]) as usize);
    let bits: Vec<u64> = values.iter().map(|x| x.to_bits().into()).collect();
    let none = vec![0; (of_y[0] * of_y[1]) as usize];
    let arrays = [ArrayData::dense(DType::F32, &of_x, &bits), ArrayData::dense(DType::F32, &of_y, &none)];
    let grid = [(of_x[0] as u32).div_ceil(8), 1, 1];
    let with = |padding| evaluated(number, padding, &arrays, grid);
    let fillings =
        [Padding::Zero, Padding::Nan, Padding::PosInf, Padding::NegInf].map(|padding| with(padding).unwrap());
    let depends = fillings.iter().any(|one| *one != fillings[0]);
    let expected = with(Padding::Undetermined);
    assert!(!depends || expected.is_err(), "{number}: the reference misses what depends on padding");

    let extents = |of: [i64; 2]| of.map(|n| n as usize);
    let x = DeviceArray::upload(device, &values, extents(of_x)).unwrap();
    let mut y = DeviceArray::<f32, 2>::zeros(device, extents(of_y)).unwrap();
    let source = |facts: &Facts| Ok(program(number, Padding::Undetermined).0.with_facts(facts));
    let mut constants = Constants::default();
    (&&Constant(&number)).add(&mut constants);
    let launch = Launch::new::<Random>("padded", constants, source).array(&x).array_mut(&mut y).grid(grid);
    match launch.run() {
        Ok(()) => {
            assert!(!depends, "{number}: the result depends on padding, and nobody says so");
            counts.right += 1;
        }
        Err(error) => {
            assert!(expected.is_err(), "{number}: right, and an error: {error}");
            match &error {
                Error::Launch(LaunchError::Padding { .. }) => counts.refused += 1,
                Error::Finding { words, .. } => {
                    assert!(
                        words.contains("undetermined padding") || words.contains("padded"),
                        "{number}: {words}"
                    );
                    counts.found += 1;
                }
                other => panic!("{number}: {other}"),
            }
            return;
        }
    }
    let got = y.download().unwrap();
    for (at, (got, &want)) in got.iter().zip(&fillings[0]).enumerate() {
        let same = Tolerance::of(DType::F32).accepts(DType::F32, got.to_bits().into(), want);
        assert!(same, "{number}: element {at} is {got}, and not {}", f32::from_bits(want as u32));
    }
}

fn all(count: usize) -> Counts {
    let device = Device::open_sim(SimOptions { threads: Some(1), ..SimOptions::checked() }).unwrap();
    let mut counts = Counts::default();
    (0..count as u64).for_each(|number| check(&device, number, &mut counts));
    counts
}

#[test]
fn a_result_that_depends_on_padding_is_an_error_and_any_other_is_right() {
    let counts = all(cases(200));
    assert!(counts.refused > 10 && counts.found > 10 && counts.right > 10, "{counts:?}");
}

#[test]
#[ignore = "a minute; the soak runs it"]
fn of_many_programs_no_result_depends_on_padding_in_silence() {
    all(cases(3000));
}
