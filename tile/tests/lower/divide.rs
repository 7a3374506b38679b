//! Quotients of many numbers by one, bit for bit against those of the host.

use girih_device::{Device, Select};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::differ::{cases, random};

/// Columns: a thread of a block of 128 has 32 in a row.
const COLUMNS: usize = 1024;

/// Each row by its own number: tiles of 4 rows.
#[kernel]
fn rows(x: &Array<f32, 2>, c: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let dividends = x.tiles([4, COLUMNS]).padding(Padding::Zero).load((bid(0), 0));
    let divisors = c.tiles([4, 1]).padding(Padding::Zero).load((bid(0), 0));
    y.tiles_mut([4, COLUMNS]).store((bid(0), 0), dividends / divisors);
}

/// The same of tiles that nothing is said of outside of the array.
#[kernel]
fn open_rows(x: &Array<f32, 2>, c: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let quotient = x.tiles([4, COLUMNS]).load((bid(0), 0)) / c.tiles([4, 1]).load((bid(0), 0));
    y.tiles_mut([4, COLUMNS]).store((bid(0), 0), quotient);
}

fn bits(rng: &mut StdRng) -> f32 {
    f32::from_bits(rng.random())
}

fn within(rng: &mut StdRng, exponents: std::ops::Range<i32>) -> f32 {
    let number = rng.random_range(1.0f32..2.0) * 2f32.powi(rng.random_range(exponents));
    if rng.random() { number } else { -number }
}

/// Divisors: any bits, those of the range in which the reciprocal serves, and its ends.
fn divisor(rng: &mut StdRng) -> f32 {
    match rng.random_range(0..8) {
        0 => bits(rng),
        1 => [0.0, -0.0, f32::INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45][rng.random_range(0..7)],
        2 => [2f32.powi(20), 2f32.powi(-20), f32::from_bits(0x3fff_ffff), 3.0][rng.random_range(0..4)],
        3 => within(rng, -22..22),
        _ => within(rng, -19..20).abs(),
    }
}

/// Dividends: near the middle of two quotients, of the range, zeros, any bits.
fn dividend(rng: &mut StdRng, c: f32, wild: bool) -> f32 {
    let middle = |rng: &mut StdRng| {
        let q = within(rng, -30..30);
        let between = f64::from(q) + f64::from(f32::from_bits(q.to_bits() + 1));
        (between / 2.0 * f64::from(c)) as f32
    };
    match rng.random_range(0..if wild { 16 } else { 12 }) {
        0..6 => middle(rng),
        6 => [0.0, -0.0][rng.random_range(0..2)],
        7 => within(rng, -99..99),
        8..12 => within(rng, -8..8),
        12 => [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45][rng.random_range(0..5)],
        13 => within(rng, -126..-90),
        14 => within(rng, 90..127),
        _ => bits(rng),
    }
}

#[test]
fn quotients_by_one_number_are_those_of_the_host() {
    let cuda = std::env::var("GIRIH_DEVICE").as_deref() == Ok("cuda");
    let device = Device::open(if cuda { Select::Cuda(0) } else { Select::Sim }).unwrap();
    let (mut rng, tiles) = (random(31), cases(24));
    let c: Vec<f32> = (0..4 * tiles).map(|_| divisor(&mut rng)).collect();
    // In a third of the rows something is beyond what the reciprocal serves.
    let x: Vec<f32> = c
        .iter()
        .flat_map(|&c| {
            let wild = rng.random_range(0..3) == 0;
            (0..COLUMNS).map(|_| dividend(&mut rng, c, wild)).collect::<Vec<_>>()
        })
        .collect();
    let dx = DeviceArray::upload(&device, &x, [c.len(), COLUMNS]).unwrap();
    let dc = DeviceArray::upload(&device, &c, [c.len(), 1]).unwrap();
    let mut y = DeviceArray::<f32, 2>::zeros(&device, [c.len(), COLUMNS]).unwrap();
    let launch = rows(&dx, &dc, &mut y);
    let text = launch.kernels(90).unwrap()[0].module().to_string();
    assert!(text.contains("rcp.rn.f32"), "{text}");
    launch.run().unwrap();
    for (i, got) in y.download().unwrap().into_iter().enumerate() {
        let (x, c) = (x[i], c[i / COLUMNS]);
        let want = x / c;
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{x:e} / {c:e} = {want:e}, not {got:e} ({:#x}, {:#x})", want.to_bits(), got.to_bits());
    }
}

/// Each row by its own number, to two units in the last place.
#[kernel]
fn full_rows(x: &Array<f32, 2>, c: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let dividends = x.tiles([4, COLUMNS]).padding(Padding::Zero).load((bid(0), 0));
    let divisors = c.tiles([4, 1]).padding(Padding::Zero).load((bid(0), 0));
    let quotients = truediv_with(dividends, divisors, Mode::new().rounding(Rounding::Full));
    y.tiles_mut([4, COLUMNS]).store((bid(0), 0), quotients);
}

#[test]
fn approximate_quotients_by_one_number_are_within_two_units_in_the_last_place() {
    let cuda = std::env::var("GIRIH_DEVICE").as_deref() == Ok("cuda");
    let device = Device::open(if cuda { Select::Cuda(0) } else { Select::Sim }).unwrap();
    let (mut rng, tiles) = (random(32), cases(12));
    let ends = [2f32.powi(126), -2f32.powi(-126), f32::from_bits(power(126) - 1), 2f32.powi(127), 1e-40, 0.0];
    let c: Vec<f32> = (0..4 * tiles)
        .map(|at| if at % 2 == 0 { within(&mut rng, -149..128) } else { ends[rng.random_range(0..6)] })
        .collect();
    let x: Vec<f32> = c
        .iter()
        .flat_map(|&c| (0..COLUMNS).map(|_| dividend(&mut rng, c, true)).collect::<Vec<_>>())
        .collect();
    let dx = DeviceArray::upload(&device, &x, [c.len(), COLUMNS]).unwrap();
    let dc = DeviceArray::upload(&device, &c, [c.len(), 1]).unwrap();
    let mut y = DeviceArray::<f32, 2>::zeros(&device, [c.len(), COLUMNS]).unwrap();
    let launch = full_rows(&dx, &dc, &mut y);
    let text = launch.kernels(90).unwrap()[0].module().to_string();
    assert!(text.contains("rcp.rn.f32") && text.contains("div.full.f32"), "{text}");
    launch.run().unwrap();
    for (i, got) in y.download().unwrap().into_iter().enumerate() {
        let (x, c) = (x[i], c[i / COLUMNS]);
        let want = f64::from(x) / f64::from(c);
        // A unit in the last place of the quotient, that of the least normal number for subnormal ones.
        let unit = 2f64.powi((want.abs().log2().floor() as i32).clamp(-126, 127) - 23);
        let near = (f64::from(got) - want).abs() <= 2.0 * unit;
        let beyond = want.abs() > f64::from(f32::MAX) - 2.0 * unit && got.is_infinite();
        let same = near || beyond || (got.is_nan() && want.is_nan()) || f64::from(got) == want;
        assert!(same, "{x:e} / {c:e} = {want:e}, not {got:e}");
    }
}

fn power(exponent: u32) -> u32 {
    (exponent + 127) << 23
}

/// What only an approximate function reads, and what something else reads too.
#[kernel]
fn capped<const ALSO: bool>(x: &Array<f32, 1>, y: &mut Array<f32, 1>, z: &mut Array<f32, 1>, c: Scalar<f32>) {
    let quotient = x.tiles([2048]).padding(Padding::Zero).load((bid(0),)) / c;
    y.tiles_mut([2048]).store((bid(0),), tanh_with(quotient, Mode::new().rounding(Rounding::Approx)));
    if ALSO {
        z.tiles_mut([2048]).store((bid(0),), quotient);
    }
}

#[test]
fn quotients_that_approximate_functions_alone_read_are_products() {
    let device = Device::open(Select::Sim).unwrap();
    let mut rng = random(33);
    let x: Vec<f32> = (0..2048).map(|_| within(&mut rng, -20..4)).collect();
    let dx = DeviceArray::upload(&device, &x, [2048]).unwrap();
    let arrays = || DeviceArray::<f32, 1>::zeros(&device, [2048]).unwrap();
    let (mut y, mut z) = (arrays(), arrays());
    let text = |launch: girih_tile::launch::Launch<'_>| {
        let text = launch.kernels(90).unwrap()[0].module().to_string();
        launch.run().unwrap();
        text
    };
    let alone = text(capped::<false>(&dx, &mut y, &mut z, 3.0f32).grid([1]));
    assert!(alone.contains("div.full.f32") && !alone.contains("rcp.rm.f32"), "{alone}");
    for (x, got) in x.iter().zip(y.download().unwrap()) {
        let want = (f64::from(*x) / 3.0).tanh();
        assert!((f64::from(got) - want).abs() <= want.abs() * 2f64.powi(-10), "tanh({x:e} / 3): {got:e}");
    }
    let both = text(capped::<true>(&dx, &mut y, &mut z, 3.0f32).grid([1]));
    assert!(!both.contains("div.full.f32"), "{both}");
    assert!(x.iter().zip(z.download().unwrap()).all(|(x, got)| got.to_bits() == (x / 3.0).to_bits()));
}

/// A branch would depend on elements that are not determined.
#[test]
fn what_comes_from_outside_is_divided_without_a_branch() {
    let device = Device::open(Select::Sim).unwrap();
    let (x, c) = (vec![3.0f32; 5 * 1000], vec![7.0f32; 5]);
    let dx = DeviceArray::upload(&device, &x, [5, 1000]).unwrap();
    let dc = DeviceArray::upload(&device, &c, [5, 1]).unwrap();
    let mut y = DeviceArray::<f32, 2>::zeros(&device, [5, 1000]).unwrap();
    let launch = open_rows(&dx, &dc, &mut y);
    let text = launch.kernels(90).unwrap()[0].module().to_string();
    assert!(text.contains("div.rn.f32") && !text.contains("rcp.rm.f32"), "{text}");
    launch.run().unwrap();
    assert_eq!(y.download().unwrap(), vec![3.0f32 / 7.0; 5 * 1000]);
}
