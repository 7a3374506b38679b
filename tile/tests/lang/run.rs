//! Kernels launched on the simulator, against what plain Rust computes.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_device::{Device, Select};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

fn sim() -> Device {
    Device::open(Select::Sim).unwrap()
}

/// Numbers that look random and are small.
fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 24) as f32 / 16.0 - 8.0
    };
    (0..n).map(|_| next()).collect()
}

#[kernel]
fn saxpy<const N: usize>(alpha: Scalar<f32>, x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let i = bid(0);
    let sum = alpha * x.tiles([N]).load((i,)) + y.tiles([N]).load((i,));
    y.tiles_mut([N]).store((i,), sum);
}

#[test]
fn saxpy_of_a_ragged_array() {
    let device = sim();
    let (a, b) = (numbers(1000, 1), numbers(1000, 2));
    let x = DeviceArray::upload(&device, &a, [1000]).unwrap();
    let mut y = DeviceArray::upload(&device, &b, [1000]).unwrap();
    saxpy::<256>(2.5, &x, &mut y).run().unwrap();
    let want: Vec<f32> = a.iter().zip(&b).map(|(x, y)| 2.5 * x + y).collect();
    assert_eq!(y.download().unwrap(), want);
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Relu,
    Square,
}

#[derive(Clone, Copy, Tiles)]
struct Running {
    most: Tile<f32>,
    count: Scalar<i32>,
}

impl Running {
    #[function]
    fn add(&mut self, x: Tile<f32>) {
        if x.max(..) > 0.0 {
            self.most = self.most.maximum(x);
            self.count += 1;
        }
    }
}

/// Structs that are carried, methods with control flow, matches and enums of the build, closures, ways out.
#[kernel]
fn rows(
    x: &Array<f32, 2>,
    most: &mut Array<f32, 1>,
    counts: &mut Array<i32, 1>,
    limit: Scalar<i32>,
    act: Act,
) {
    let act = |t: Tile<f32>| match act {
        Act::Relu => maximum(t, 0.0),
        Act::Square => t * t,
    };
    let mut running = Running { most: full::<f32>([8], -1.0), count: scalar(0) };
    for i in 0..x.dim(0) {
        if i == 2 {
            continue;
        }
        if i >= limit {
            break;
        }
        running.add(act(x.tiles([1, 8]).load((i, 0)).reshape([8])));
    }
    most.tiles_mut([8]).store((0,), running.most);
    counts.tiles_mut([1]).store((0,), running.count.reshape([1]));
}

#[test]
fn structs_methods_and_ways_out() {
    let device = sim();
    let data = numbers(12 * 8, 3);
    let x = DeviceArray::upload(&device, &data, [12, 8]).unwrap();
    for (limit, act) in [(9, Act::Relu), (100, Act::Square), (0, Act::Relu)] {
        let mut most = DeviceArray::zeros(&device, [8]).unwrap();
        let mut counts = DeviceArray::zeros(&device, [1]).unwrap();
        rows(&x, &mut most, &mut counts, limit, act).grid([1]).run().unwrap();
        let (mut want, mut count) = ([-1.0f32; 8], 0);
        for (i, row) in data.chunks(8).enumerate().take(limit as usize).filter(|(i, _)| *i != 2) {
            let _ = i;
            let row: Vec<f32> =
                row.iter().map(|&v| if let Act::Relu = act { v.max(0.0) } else { v * v }).collect();
            if row.iter().any(|&v| v > 0.0) {
                count += 1;
                want.iter_mut().zip(&row).for_each(|(most, &v)| *most = most.max(v));
            }
        }
        assert_eq!(most.download().unwrap(), want, "{limit} {act:?}");
        assert_eq!(counts.download().unwrap(), [count], "{limit} {act:?}");
    }
}

/// Collatz steps: a `while` in a `for`, a `loop` with two ways out, nested branches with values, labels.
#[kernel]
fn collatz(from: &Array<i32, 1>, steps: &mut Array<i32, 1>, most: Scalar<i32>) {
    let i = bid(0);
    let mut n = from.tiles([1]).load((i,)).sum(..);
    let mut count = scalar::<i32>(0);
    while n != 1 && count < most {
        n = if n % 2 == 0 { floordiv(n, 2) } else { n * 3 + 1 };
        count += 1;
    }
    let mut found = scalar::<i32>(-1);
    'outer: for a in 0..count {
        let mut b = scalar::<i32>(0);
        loop {
            if b > a {
                break;
            }
            if a * 10 + b == count {
                found = a * 100 + b;
                break 'outer;
            }
            for _ in 0..2usize {
                b += 1;
                if b == 77 {
                    continue 'outer;
                }
            }
        }
    }
    steps.tiles_mut([1]).store((i,), (count * 1000 + found).reshape([1]));
}

#[test]
fn loops_in_loops() {
    let device = sim();
    let from: Vec<i32> = vec![1, 2, 3, 6, 7, 9, 12, 18, 27, 41, 54, 97];
    let x = DeviceArray::upload(&device, &from, [from.len()]).unwrap();
    let mut y = DeviceArray::zeros(&device, [from.len()]).unwrap();
    collatz(&x, &mut y, 100).run().unwrap();
    let want = from.iter().map(|&from| {
        let (mut n, mut count, mut found) = (from, 0, -1);
        while n != 1 && count < 100 {
            n = if n % 2 == 0 { n / 2 } else { n * 3 + 1 };
            count += 1;
        }
        'outer: for a in 0..count {
            let mut b = 0;
            loop {
                if b > a {
                    break;
                }
                if a * 10 + b == count {
                    found = a * 100 + b;
                    break 'outer;
                }
                for _ in 0..2 {
                    b += 1;
                    if b == 77 {
                        continue 'outer;
                    }
                }
            }
        }
        count * 1000 + found
    });
    assert_eq!(y.download().unwrap(), want.collect::<Vec<i32>>());
}

#[derive(Clone, Copy, Tiles)]
#[tiles(parameter)]
struct Scale {
    by: Scalar<f32>,
    plus: Scalar<i32>,
}

/// Parameters of every kind, a reduction and a scan by closures, ranges in steps.
#[kernel(occupancy = 1)]
fn parameters<T: Float, const N: usize>(
    x: &Array<T, 1>,
    y: &mut Array<f32, 1>,
    #[tiles] scale: Scale,
    ends: (Scalar<i32>, Scalar<i32>),
    twice: bool,
) {
    let mut acc = zeros::<f32>([N]);
    for i in (ends.0..ends.1).step_by(2) {
        acc += x.tiles([N]).padding(Padding::Zero).load((i,)).to::<f32>();
    }
    if twice {
        acc *= 2.0;
    }
    let (value, at) = reduce((acc, arange::<i32>(N)), 0, (f32::NEG_INFINITY, -1), |a, b| {
        (maximum(a.0, b.0), select(a.0 >= b.0, a.1, b.1))
    });
    let sums = scan(acc, 0, 0.0, Scan::reverse(), |a, b| a + b);
    y.tiles_mut([N]).store((0,), sums * scale.by + value + (at + scale.plus));
}

#[test]
fn parameters_of_every_kind() {
    let device = sim();
    let data: Vec<f16> = numbers(64, 5).into_iter().map(f16::from_f32).collect();
    let x = DeviceArray::upload(&device, &data, [64]).unwrap();
    for twice in [false, true] {
        let mut y = DeviceArray::zeros(&device, [8]).unwrap();
        parameters::<f16, 8>(&x, &mut y, (0.5, 7), (1, 6), twice).grid([1]).run().unwrap();
        let by = if twice { 2.0 } else { 1.0 };
        let sum = |i: usize| by * [1, 3, 5].iter().map(|t| data[t * 8 + i].to_f32()).sum::<f32>();
        let all: Vec<f32> = (0..8).map(sum).collect();
        let (at, value) = all.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        let want = (0..8).map(|i| all[i..].iter().sum::<f32>() * 0.5 + value + (at as f32 + 7.0));
        assert_eq!(y.download().unwrap(), want.collect::<Vec<f32>>());
    }
    assert!(parameters::<f32, 8>::build(90, &Default::default(), true).is_ok());
    let text = parameters::<f32, 8>::explain(90, &Default::default(), true).unwrap().to_string();
    assert!(text.contains("reduce"), "{text}");
}

#[derive(Clone, Copy, Tiles)]
enum Kept {
    Both(Tile<f32>, Tile<f32>),
    #[allow(dead_code, reason = "the other case")]
    None,
}

/// Arrays, vectors, options and enums of tiles, methods that change them, loops of the build in loops of the run time.
#[kernel]
fn collections(x: &Array<f32, 1>, y: &mut Array<f32, 1>, n: Scalar<i32>) {
    let mut acc = [zeros::<f32>([4]); 2];
    let mut list = Vec::new();
    for u in 0..3usize {
        list.push(x.tiles([4]).load((u,)));
    }
    let mut best: Option<Tile<f32>> = None;
    for t in list.iter() {
        best = match best {
            Some(b) => Some(maximum(b, *t)),
            None => Some(*t),
        };
    }
    let mut kept = Kept::Both(acc[0], acc[1]);
    for i in 0..n {
        for s in 0..2usize {
            acc[s] += list[s] * (s as f64 + 1.0);
        }
        if i == 1 {
            acc.swap(0, 1);
        }
        if let Some(b) = best {
            acc[0] += b;
        }
        let scale = |t: Tile<f32>| t * 2.0;
        let (a, b) = if i > 2 { (acc[0], scale(acc[1])) } else { (acc[1], acc[0]) };
        acc = [a, b];
        let mut stack = vec![1usize, 2, 3];
        while let Some(top) = stack.pop() {
            if top == 2 {
                continue;
            }
            acc[1] += top as f64;
        }
        if let Kept::Both(first, second) = &mut kept {
            *first = *second;
            *second = acc[0];
        }
        kept = match kept {
            Kept::Both(first, second) => Kept::Both(first + 1.0, second),
            other => other,
        };
    }
    let first = match kept {
        Kept::Both(first, _) => first,
        Kept::None => zeros([4]),
    };
    for (i, t) in [acc[0], acc[1], first].into_iter().enumerate() {
        y.tiles_mut([4]).store((i,), t);
    }
}

#[test]
fn collections_of_tiles() {
    let device = sim();
    let data: Vec<f32> = (0..12).map(|i| ((i * 5) % 7) as f32 - 2.0).collect();
    let x = DeviceArray::upload(&device, &data, [12]).unwrap();
    let mut y = DeviceArray::zeros(&device, [12]).unwrap();
    collections(&x, &mut y, 5).grid([1]).run().unwrap();
    let mut want = vec![0.0; 12];
    for e in 0..4 {
        let list = [data[e], data[4 + e], data[8 + e]];
        let best = list.iter().copied().fold(f32::MIN, f32::max);
        let (mut acc, mut kept) = ([0.0f32; 2], (0.0f32, 0.0f32));
        for i in 0..5 {
            acc[0] += list[0];
            acc[1] += list[1] * 2.0;
            if i == 1 {
                acc.swap(0, 1);
            }
            acc[0] += best;
            acc = if i > 2 { [acc[0], acc[1] * 2.0] } else { [acc[1], acc[0]] };
            acc[1] += 4.0;
            kept = (kept.1 + 1.0, acc[0]);
        }
        (want[e], want[4 + e], want[8 + e]) = (acc[0], acc[1], kept.0);
    }
    assert_eq!(y.download().unwrap(), want);
}
