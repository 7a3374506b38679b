//! Random numbers: the generator's published answers, its distributions, and the same on the simulator.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayParam, Build, Dims, Func, Known, Value, verify};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile_reference::{self as reference, ArrayData};

use crate::common::differ::{Tolerance, differ, zeros};

fn output(b: &mut Build, dtype: DType) -> girih_tile::ir::ArrayId {
    b.array(ArrayParam {
        name: "y".into(),
        dtype,
        mutable: true,
        extents: vec![Known::MultipleOf(1)],
        strides: vec![Known::Is(1)],
        align: 16,
        assume_disjoint: None,
    })
}

/// A kernel that fills an array in tiles of `size`.
fn filled(size: u32, dtype: DType, f: impl Fn(&mut Build, Value) -> Value) -> Func {
    let mut b = Build::new("fill");
    let y = output(&mut b, dtype);
    let block = b.bid(0).unwrap();
    let tile = Dims::new(&[size]).unwrap();
    let within = b.arange(DType::S32, size.into(), Const::Int(0), Const::Int(1)).unwrap();
    let mul = |b: &mut Build, op, x: Value, y: Arg| b.each(op, &[x.into(), y], Default::default()).unwrap();
    let first = mul(&mut b, Each::Mul, block, Arg::Loose(Const::Int(size.into())));
    let offset = mul(&mut b, Each::Add, within, first.into());
    let value = f(&mut b, offset);
    b.store(&Tiles::new(y, tile), &[block.into()], value.into()).unwrap();
    let func = b.finish();
    verify(&func).unwrap();
    func
}

fn run(func: &Func, dtype: DType, size: i64, blocks: u32) -> Vec<f64> {
    let mut arrays = [zeros(dtype, &[size * i64::from(blocks)])];
    reference::run(func, [blocks, 1, 1], &mut arrays, &[]).unwrap();
    arrays[0].elements().unwrap().iter().map(|&bits| reference::number(dtype, bits)).collect()
}

/// The answers of Random123's `kat_vectors` for `philox4x32 10`.
#[test]
fn philox_gives_the_published_answers() {
    for (counter, key, want) in [
        ([0; 4], [0; 2], [0x6627_e8d5u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ] {
        let mut b = Build::new("k");
        let y = output(&mut b, DType::U32);
        let one = Dims::new(&[1]).unwrap();
        let mut c = |n: u32| b.full(DType::U32, one, Const::Int(n.into()));
        let (counter, key) = (counter.map(&mut c), key.map(&mut c));
        let words = b.philox(counter, key).unwrap();
        for (i, word) in words.into_iter().enumerate() {
            let at = b.full(DType::S32, Dims::SCALAR, Const::Int(i as i128));
            b.store(&Tiles::new(y, one), &[at.into()], word.into()).unwrap();
        }
        let mut arrays = [zeros(DType::U32, &[4])];
        reference::run(&b.finish(), [1, 1, 1], &mut arrays, &[]).unwrap();
        assert_eq!(arrays[0].elements().unwrap(), want.map(u64::from));
    }
}

/// The seed is the key and the offset the lower half of the counter, each by its lower word first.
#[test]
fn seeds_and_offsets_are_64_bits() {
    let words = |seed: i128, offset: i128| {
        let mut b = Build::new("k");
        let y = output(&mut b, DType::U32);
        let one = Dims::new(&[1]).unwrap();
        let offset = b.full(DType::U64, one, Const::Int(offset));
        let direct = b.randint(Arg::Strict(DType::U64, Const::Int(seed)), offset.into()).unwrap();
        let mut c = |n: i128| b.full(DType::U32, one, Const::Int(n & 0xffff_ffff));
        let counter = [c(0x1_2345_6789), c(1), c(0), c(0)];
        let key = [c(0xfedc_ba98_7654_3210u64.into()), c(0xfedc_ba98)];
        let by_words = b.philox(counter, key).unwrap()[0];
        for (i, word) in [direct, by_words].into_iter().enumerate() {
            let at = b.full(DType::S32, Dims::SCALAR, Const::Int(i as i128));
            b.store(&Tiles::new(y, one), &[at.into()], word.into()).unwrap();
        }
        let mut arrays = [zeros(DType::U32, &[2])];
        reference::run(&b.finish(), [1, 1, 1], &mut arrays, &[]).unwrap();
        arrays[0].elements().unwrap()
    };
    let seed = i128::from(0xfedc_ba98_7654_3210u64);
    let same = words(seed, 0x1_2345_6789);
    assert_eq!(same[0], same[1]);
    let other = words(seed - 1, 0x1_2345_6789);
    assert_ne!(other[0], other[1]);
}

#[test]
fn uniform_numbers_are_uniform() {
    let func =
        filled(4096, DType::F32, |b, offset| b.rand(Arg::Loose(Const::Int(7)), offset.into()).unwrap());
    let x = run(&func, DType::F32, 4096, 8);
    let n = x.len() as f64;
    assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>() / n;
    // Five standard deviations of each estimate.
    assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt(), "{mean}");
    assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0 / n).sqrt(), "{variance}");
    let neighbours = x.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum::<f64>() / n;
    assert!(neighbours.abs() < 5.0 / 12.0 / n.sqrt(), "{neighbours}");
    // Chi squared of 64 bins: 63 degrees of freedom.
    let mut bins = [0f64; 64];
    x.iter().for_each(|x| bins[(x * 64.0) as usize] += 1.0);
    let chi: f64 = bins.iter().map(|count| (count - n / 64.0).powi(2) / (n / 64.0)).sum();
    assert!((chi - 63.0).abs() < 5.0 * (2.0 * 63f64).sqrt(), "{chi}");
}

#[test]
fn normal_numbers_are_normal() {
    let func =
        filled(4096, DType::F32, |b, offset| b.randn(Arg::Loose(Const::Int(7)), offset.into()).unwrap());
    let x = run(&func, DType::F32, 4096, 8);
    let n = x.len() as f64;
    let moment = |power: i32| x.iter().map(|x| x.powi(power)).sum::<f64>() / n;
    // The variance of the estimate of a moment m of power p is (m(2p) - m(p)^2) / n.
    for (power, want, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let got = moment(power);
        assert!((got - want).abs() < 5.0 * (variance / n).sqrt(), "moment {power}: {got}");
    }
    for (edge, below) in
        [(-1.959963984540054, 0.025), (-0.6744897501960817, 0.25), (0.0, 0.5), (1.2815515655446004, 0.9)]
    {
        let got = x.iter().filter(|&&x| x < edge).count() as f64 / n;
        assert!((got - below).abs() < 5.0 * (below * (1.0 - below) / n).sqrt(), "{got} below {edge}");
    }
}

#[test]
fn the_simulator_draws_the_same() {
    let seed = || Arg::Loose(Const::Int(0x1234_5678_9abc));
    type Draw = Box<dyn Fn(&mut Build, Value) -> Value>;
    let draws: [(DType, Draw); 3] = [
        (DType::U32, Box::new(move |b, offset| b.randint(seed(), offset.into()).unwrap())),
        (DType::F32, Box::new(move |b, offset| b.rand(seed(), offset.into()).unwrap())),
        (DType::F32, Box::new(move |b, offset| b.randn(seed(), offset.into()).unwrap())),
    ];
    for (dtype, draw) in draws {
        let func = filled(256, dtype, draw);
        let arrays: [ArrayData; 1] = [zeros(dtype, &[700])];
        differ(&func, [3, 1, 1], &arrays, &[], Tolerance::of).unwrap();
    }
}

#[test]
fn seeds_and_offsets_are_integers() {
    let mut b = Build::new("k");
    let x = b.full(DType::F32, Dims::SCALAR, Const::Float(1.0));
    let fault = b.rand(Arg::Loose(Const::Int(1)), x.into()).unwrap_err();
    assert_eq!(fault.code(), "float_input_unsupported");
    assert_eq!(fault.to_string(), "`rand` of f32: integers are accepted");
    let n = b.full(DType::S32, Dims::SCALAR, Const::Int(1));
    let fault = b.philox([n; 4], [n; 2]).unwrap_err();
    assert_eq!(fault.to_string(), "`philox` of s32[] and s32[]: u32 tiles of one shape are accepted");
}
