//! Histograms that loops add up.

use girih_tensor::DType;
use girih_tile::facts::Facts;
use girih_tile::ir::Func;
use girih_tile::prelude::*;
use girih_tile_reference::{self as reference, ArrayData};
use rand::RngExt;

use crate::common::differ::{self, Tolerance, cases, differ, random};

/// Two sums, one of which begins with something.
#[kernel]
fn counted<T: Integer, const N: usize, const BINS: usize>(x: &Array<T, 1>, y: &mut Array<i32, 1>) {
    let mut found = arange::<i32>(BINS);
    let mut halves = zeros::<i32>([BINS]);
    for k in 0..cdiv(x.dim(0), N) {
        let x = x.tiles([N]).padding(Padding::Zero).load((k,));
        found += x.histogram(BINS);
        halves = floordiv(x, 2).histogram(BINS) + halves;
    }
    y.tiles_mut([BINS]).store((0,), found);
    y.tiles_mut([BINS]).store((1,), halves);
}

/// Counters that are used again in each iteration of a loop around.
#[kernel]
fn nested<T: Integer, const N: usize, const BINS: usize>(x: &Array<T, 1>, y: &mut Array<i32, 1>) {
    for iteration in 0..2 + bid(0) {
        let mut found = zeros::<i32>([BINS]);
        for k in iteration..cdiv(x.dim(0), N) {
            found += x.tiles([N]).padding(Padding::Zero).load((k,)).histogram(BINS);
        }
        y.tiles_mut([BINS]).store((iteration,), found);
    }
}

/// A sum that is read on the way, and loops that end early: these add up tile by tile.
#[kernel]
fn watched<T: Integer, const N: usize, const BINS: usize>(x: &Array<T, 1>, y: &mut Array<i32, 1>) {
    let mut found = zeros::<i32>([BINS]);
    let mut most = zeros::<i32>([BINS]);
    for k in 0..cdiv(x.dim(0), N) {
        found += x.tiles([N]).padding(Padding::Zero).load((k,)).histogram(BINS);
        most = maximum(most, found % 7);
    }
    let mut some = zeros::<i32>([BINS]);
    for k in 0..cdiv(x.dim(0), N) {
        if k == 2 {
            break;
        }
        some += x.tiles([N]).padding(Padding::Zero).load((k,)).histogram(BINS);
    }
    y.tiles_mut([BINS]).store((0,), most + found);
    y.tiles_mut([BINS]).store((1,), some);
}

/// Weights that are added by number, where a part of an array is small.
#[kernel]
fn weighted<const N: usize, const BINS: usize>(
    x: &Array<i32, 1>,
    y: &mut Array<i32, 1>,
    twice: &mut Array<i32, 1>,
) {
    let mut y = y.slice_mut(0, 2, (2 + BINS) as i64);
    for k in (bid(0)..cdiv(x.dim(0), N)).step_by(num_blocks(0)) {
        let at = x.tiles([N]).padding(Padding::Zero).load((k,));
        let inside = arange::<i32>(N) < x.dim(0) - k * N as i64;
        for iteration in 0..bid(0) + 1 {
            let y = y.elements_mut().memory_order(Order::Relaxed, Scope::Device);
            y.mask(inside).atomic_add((at,), at % 3 + iteration);
        }
        // An array that may have any length is added to as it is.
        let twice = twice.elements_mut().memory_order(Order::Relaxed, Scope::Device);
        twice.mask(inside).atomic_add((at,), 1);
    }
}

/// Sums into a matrix, some of which nobody sees before the loop ends, and some of which the loop itself reads.
#[kernel]
fn table<const N: usize, const ROWS: usize, const COLUMNS: usize>(
    x: &Array<i32, 1>,
    y: &mut Array<i32, 2>,
    z: &mut Array<i32, 1>,
) {
    let mut y = y.slice_mut(0, 0, ROWS as i64);
    let mut y = y.slice_mut(1, 0, COLUMNS as i64);
    let mut z = z.slice_mut(0, 0, 8);
    let mut seen = scalar::<i32>(0);
    for k in 0..cdiv(x.dim(0), N) {
        let x = x.tiles([N]).padding(Padding::Zero).load((k,));
        let y = y.elements_mut().memory_order(Order::Relaxed, Scope::Device);
        y.atomic_add((x % ROWS as i64, floordiv(x, 3)), 1);
        seen += z.atomic_add((zeros::<i32>([4]),), 1).sum(0) % 2;
    }
    z.atomic_add((7,), seen);
}

/// Sums that other blocks may read once they know how many tiles have been added.
#[kernel]
fn told<const N: usize>(x: &Array<i32, 1>, y: &mut Array<i32, 1>, done: &mut Array<i32, 1>) {
    let mut y = y.slice_mut(0, 0, 64);
    for k in 0..cdiv(x.dim(0), N) {
        let at = x.tiles([N]).padding(Padding::Zero).load((k,));
        y.elements_mut().memory_order(Order::Relaxed, Scope::Device).atomic_add((at,), 1);
        done.elements_mut().memory_order(Order::Release, Scope::Device).atomic_add((0,), 1);
    }
}

fn check(func: &Func, dtype: DType, n: i64, bins: i64, case: usize) {
    let mut rng = random(31 + case as u64);
    let mask = reference::mask(dtype);
    let signed = matches!(dtype, DType::S32 | DType::S64);
    let range = (if signed { -3 } else { 0 })..bins + 3;
    let bits: Vec<u64> = (0..n).map(|_| rng.random_range(range.clone()) as u64 & mask).collect();
    let arrays = [ArrayData::dense(dtype, &[n], &bits), differ::zeros(DType::S32, &[2 * bins])];
    differ(func, [1; 3], &arrays, &[], |_| Tolerance::EXACT)
        .unwrap_or_else(|error| panic!("case {case}: {n} of {dtype} into {bins}: {error}"));
}

fn facts(dtype: DType) -> Facts {
    Facts::row_major(&[(1, dtype), (1, DType::S32)], 0)
}

#[test]
fn sums_of_histograms_are_sums() {
    for case in 0..cases(4) {
        let n = [1, 127, 700, 2049][case % 4];
        check(&counted::<u8, 256, 256>::ir_with(&facts(DType::U8)).unwrap(), DType::U8, n, 256, case);
        check(&counted::<i32, 128, 37>::ir_with(&facts(DType::S32)).unwrap(), DType::S32, n, 37, case);
        check(&nested::<i64, 96, 5>::ir_with(&facts(DType::S64)).unwrap(), DType::S64, n, 5, case);
        check(&watched::<u16, 256, 300>::ir_with(&facts(DType::U16)).unwrap(), DType::U16, n, 300, case);
    }
}

#[test]
fn threads_do_not_meet_while_they_count() {
    let barriers = |func: Func| {
        let text = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
        let body = text.split("$repeat").nth(1).unwrap().to_string();
        body.matches("bar.sync").count()
    };
    assert_eq!(barriers(counted::<u8, 256, 256>::ir_with(&facts(DType::U8)).unwrap()), 0);
    assert_ne!(barriers(watched::<u8, 256, 256>::ir_with(&facts(DType::U8)).unwrap()), 0);
}

#[test]
fn sums_by_number_are_sums() {
    for case in 0..cases(4) {
        let n = [1, 129, 700, 2049][case % 4];
        let mut rng = random(51 + case as u64);
        let bits: Vec<u64> = (0..n).map(|_| rng.random_range(-3..80i64) as u64 & 0xffff_ffff).collect();
        let x = ArrayData::dense(DType::S32, &[n], &bits);
        let ranks = |ranks: &[usize]| {
            Facts::row_major(&ranks.iter().map(|&rank| (rank, DType::S32)).collect::<Vec<_>>(), 0)
        };
        // Parts that are longer and shorter than their arrays.
        for length in [90, 40] {
            let arrays = [x.clone(), differ::zeros(DType::S32, &[length]), differ::zeros(DType::S32, &[70])];
            let func = weighted::<128, 64>::ir_with(&ranks(&[1, 1, 1])).unwrap();
            differ(&func, [3, 1, 1], &arrays, &[], |_| Tolerance::EXACT)
                .unwrap_or_else(|error| panic!("case {case}, {length}: {error}"));
        }
        let arrays = [x, differ::zeros(DType::S32, &[9, 17]), differ::zeros(DType::S32, &[8])];
        let func = table::<256, 7, 30>::ir_with(&ranks(&[1, 2, 1])).unwrap();
        differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}, table: {error}"));
    }
}

#[test]
fn a_loop_adds_to_small_arrays_when_it_has_ended() {
    let func = weighted::<128, 64>::ir_with(&Facts::row_major(&[(1, DType::S32); 3], 0)).unwrap();
    let text = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
    let (before, rest) = text.split_once("$repeat").unwrap();
    let end = rest.rfind("$repeat").unwrap();
    let (inner, after) = rest.split_at(end);
    assert!(!before.contains(" red."));
    assert!(inner.contains("red.shared.add.u32"));
    let global = |text: &str| {
        text.lines().filter(|line| line.contains(" red.") && line.contains("global.add")).count()
    };
    assert_eq!((global(inner), global(after)), (1, 1), "{text}");
}

#[test]
fn what_others_are_told_of_is_in_the_array() {
    let func = told::<128>::ir_with(&Facts::row_major(&[(1, DType::S32); 3], 0)).unwrap();
    let text = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
    assert!(!text.contains("red.shared"), "{text}");
}
