//! Mistakes that compile: what a launch says of them, and where.

use std::sync::atomic::{AtomicI64, Ordering};

use girih_device::{Device, Select, SimOptions};
use girih_tile::error::{Error, LaunchError, Warning};
use girih_tile::launch::{DeviceArray, Launch};
use girih_tile::prelude::*;

use super::{device, numbers};

/// The message of a launch that is refused.
fn refused(launch: Launch<'_>) -> String {
    launch.run().unwrap_err().to_string()
}

/// Whether a message names a line of this file.
fn names(message: &str, line: u32) -> bool {
    message.contains(&format!("tile/tests/launch/meant.rs:{line}:"))
}

static SHIFT: AtomicI64 = AtomicI64::new(0);

const READS: u32 = line!() + 3;
#[kernel]
fn reads_a_static(y: &mut Array<i32, 1>) {
    let by = SHIFT.load(Ordering::Relaxed) + full::<i32>([8], 0);
    y.tiles_mut([8]).store((bid(0),), by);
}

#[kernel]
fn counts_its_builds(y: &mut Array<i32, 1>) {
    static BUILDS: AtomicI64 = AtomicI64::new(0);
    y.tiles_mut([8]).store((bid(0),), full::<i32>([8], BUILDS.fetch_add(1, Ordering::Relaxed)));
}

#[kernel]
fn takes_an_argument(y: &mut Array<i32, 1>, by: i64) {
    y.tiles_mut([8]).store((bid(0),), full::<i32>([8], by));
}

#[test]
fn state_of_the_host_is_not_frozen_in_silence() {
    let device = device();
    let mut y = DeviceArray::zeros(&device, [8]).unwrap();
    let mut found = 0;
    for by in 1..6 {
        SHIFT.store(by, Ordering::Relaxed);
        match reads_a_static(&mut y).run() {
            Ok(()) => assert_eq!(y.download().unwrap(), [by as i32; 8]),
            Err(error) => {
                found += 1;
                let message = error.to_string();
                assert!(matches!(error, Error::Launch(LaunchError::HostState { .. })), "{message}");
                assert!(names(&message, READS) && message.contains("pass it as an argument"), "{message}");
            }
        }
    }
    // The first launch is right, and each launch in a debug build that would not be is refused.
    assert_eq!(found, 4);
    // With other arrays the program is found again, and compared too.
    SHIFT.store(1, Ordering::Relaxed);
    let mut z = DeviceArray::zeros(&device, [16]).unwrap();
    reads_a_static(&mut z).run().unwrap();
    SHIFT.store(2, Ordering::Relaxed);
    let mut z = DeviceArray::zeros(&device, [24]).unwrap();
    assert!(refused(reads_a_static(&mut z)).contains("is another program when it is built again"));

    assert!(refused(counts_its_builds(&mut y)).contains("is another program when it is built again"));
    for by in 1..4 {
        takes_an_argument(&mut y, by).run().unwrap();
        assert_eq!(y.download().unwrap(), [by as i32; 8]);
    }
}

const STEPS: u32 = line!() + 4;
#[kernel]
fn steps(y: &mut Array<i32, 1>, n: Scalar<i32>, s: Scalar<i32>) {
    let mut count = scalar::<i32>(0);
    for _ in (0..n).step_by(s) {
        count += 1;
    }
    y.tiles_mut([1]).store((bid(0),), count);
}

const LOADED: u32 = line!() + 5;
#[kernel]
fn loaded_steps(x: &Array<i32, 1>, y: &mut Array<i32, 1>) {
    let mut count = scalar::<i32>(0);
    let s = x.tiles([1]).load((bid(0),)).reshape(());
    for _ in irange(0, 10).step_by(s) {
        count += 1;
    }
    y.tiles_mut([1]).store((bid(0),), count);
}

/// Only where `s` is positive.
#[kernel]
fn guarded_steps(y: &mut Array<i32, 1>, s: Scalar<i32>) {
    let mut count = scalar::<i32>(0);
    if s > 0 {
        for _ in irange(0, 10).step_by(s) {
            count += 1;
        }
    }
    y.tiles_mut([1]).store((bid(0),), count);
}

#[test]
fn a_range_in_steps_of_zero_is_refused() {
    let device = device();
    let mut y = DeviceArray::zeros(&device, [1]).unwrap();
    for (n, s) in [(10, 1), (10, 3), (10, 11), (0, 1), (-3, 2)] {
        steps(&mut y, n, s).run().unwrap();
        assert_eq!(y.download().unwrap(), [(0..n).step_by(s as usize).count() as i32], "{n} {s}");
        for s in [0, -1, i32::MIN] {
            let message = refused(steps(&mut y, n, s));
            assert!(names(&message, STEPS) && message.contains("1 or more"), "{message}");
        }
    }
    for s in [1, 4] {
        let x = DeviceArray::upload(&device, &[s], [1]).unwrap();
        loaded_steps(&x, &mut y).run().unwrap();
        assert_eq!(y.download().unwrap(), [(10 + s - 1) / s]);
    }
    for s in [0, -2] {
        let x = DeviceArray::upload(&device, &[s], [1]).unwrap();
        let message = refused(loaded_steps(&x, &mut y));
        assert!(names(&message, LOADED) && message.contains("steps of 1 or more are accepted"), "{message}");
    }
    for (s, count) in [(0, 0), (-1, 0), (2, 5)] {
        guarded_steps(&mut y, s).run().unwrap();
        assert_eq!(y.download().unwrap(), [count]);
    }
}

const ASSERTS: u32 = line!() + 4;
#[kernel]
fn asserts(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let x = x.tiles([8]).load((bid(0),));
    assert_((x > 0.0).all(0), "x is positive: 100% of it");
    y.tiles_mut([8]).store((bid(0),), x.log());
}

const PADS: u32 = line!() + 3;
#[kernel]
fn pads(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let x = x.tiles([64]).load((bid(0),));
    y.tiles_mut([1]).store((bid(0),), x.sum(0));
}

const SCATTERS: u32 = line!() + 6;
#[kernel]
#[allow(unsafe_code, reason = "on the simulator a wrong kernel is an error")]
fn scatters(at: &Array<i32, 1>, y: &mut Array<f32, 1>) {
    // SAFETY: on the simulator a wrong promise is an error.
    let y = unsafe { y.elements_mut().assume_disjoint("a false promise") };
    y.scatter((at.tiles([8]).load((bid(0),)),), full::<f32>([8], bid(0)));
}

#[test]
fn findings_are_told_in_the_user_s_words() {
    let device = Device::open(Select::Sim).unwrap();
    let (x, mut y) =
        (DeviceArray::upload(&device, &[1.0, -1.0], [2]).unwrap(), DeviceArray::zeros(&device, [2]).unwrap());
    let message = refused(asserts(&x, &mut y));
    assert!(names(&message, ASSERTS), "{message}");
    assert!(message.contains("assertion failed: x is positive: 100% of it"), "{message}");
    assert!(!message.contains("print.rs"), "{message}");

    let mut one = DeviceArray::zeros(&device, [1]).unwrap();
    let message = refused(pads(&x, &mut one));
    assert!(names(&message, PADS) && message.contains("undetermined padding"), "{message}");
    assert!(message.contains("`.padding(Padding::Zero)` is accepted"), "{message}");

    let at = DeviceArray::upload(&device, &[0; 16], [16]).unwrap();
    let message = refused(scatters(&at, &mut y).grid([2]));
    assert!(names(&message, SCATTERS) && message.contains("a scatter to `y`"), "{message}");
    assert!(message.contains("race") && !message.contains("tile/src/lower"), "{message}");
}

/// A lock that nobody opens again.
#[kernel]
fn locked(lock: &mut Array<i32, 1>, y: &mut Array<i32, 1>) {
    loop {
        if lock.atomic_cas((0,), 0, 1) == 0 {
            break;
        }
    }
    y.tiles_mut([1]).store((bid(0),), bid(0));
}

/// A word that nobody writes.
#[kernel]
fn unanswered(word: &mut Array<i32, 1>, y: &mut Array<i32, 1>) {
    let words = word.tiles_mut([1]).memory_order(Order::Acquire, Scope::Device);
    while words.load((0,)).reshape(()) == 0 {}
    y.tiles_mut([1]).store((bid(0),), bid(0));
}

#[test]
fn waits_that_nobody_ends_are_reported_with_their_line() {
    let options = SimOptions { steps: Some(200_000), ..SimOptions::checked() };
    let device = Device::open_sim(options).unwrap();
    let array = |n| DeviceArray::<i32, 1>::zeros(&device, [n]).unwrap();
    let message = refused(locked(&mut array(1), &mut array(2)).grid([2]));
    assert!(message.starts_with("tile/tests/launch/meant.rs:"), "{message}");
    let message = refused(unanswered(&mut array(1), &mut array(2)).grid([2]));
    assert!(message.starts_with("tile/tests/launch/meant.rs:"), "{message}");
    // One block takes the lock.
    let mut y = array(1);
    locked(&mut array(1), &mut y).grid([1]).run().unwrap();
}

const TAIL: u32 = line!() + 8;
/// A product whose first operand is not padded.
#[kernel]
fn unpadded<const BK: usize>(a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>, floor: bool) {
    let mut acc = zeros::<f32>([16, 16]);
    let steps = if floor { floordiv(a.dim(1), BK as i64) } else { cdiv(a.dim(1), BK) };
    let whole = b.tiles([BK, 16]).padding(Padding::Zero);
    for k in 0..steps {
        acc = mma(a.tiles([16, BK]).load((bid(0), k)), whole.load((k, bid(1))), acc);
    }
    c.tiles_mut([16, 16]).store((bid(0), bid(1)), acc);
}

#[test]
fn padding_that_a_product_needs_is_not_forgotten_in_silence() {
    let device = device();
    let mut c = DeviceArray::zeros(&device, [16, 16]).unwrap();
    for (k, floor, right) in
        [(32, false, true), (33, false, false), (40, false, false), (40, true, true), (5, false, false)]
    {
        let a = DeviceArray::upload(&device, &numbers(16 * k), [16, k]).unwrap();
        let b = DeviceArray::upload(&device, &numbers(16 * k), [k, 16]).unwrap();
        let ran = unpadded::<16>(&a, &b, &mut c, floor).run();
        match ran {
            Ok(()) => assert!(right, "{k}"),
            Err(error) => {
                let message = error.to_string();
                assert!(!right && matches!(error, Error::Launch(LaunchError::Padding { .. })), "{message}");
                assert!(names(&message, TAIL) && message.contains("`.padding(Padding::Zero)`"), "{message}");
            }
        }
    }
}

/// A block for each tile of rows, and columns that nobody thinks of.
#[kernel]
fn rows(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    y.tiles_mut([4, 8]).store((bid(0), 0), x.tiles([4, 8]).load((bid(0), 0)));
}

#[kernel]
fn persistent(y: &mut Array<f32, 1>) {
    for i in (bid(0)..cdiv(y.dim(0), 8)).step_by(num_blocks(0)) {
        y.tiles_mut([8]).store((i,), ones::<f32>([8]));
    }
}

#[test]
fn outputs_that_are_not_covered_are_warned_of() {
    let device = device();
    let covered = |extents: [usize; 2], grid: Option<u32>| {
        let x = DeviceArray::<f32, 2>::zeros(&device, extents).unwrap();
        let mut y = DeviceArray::zeros(&device, extents).unwrap();
        let launch = rows(&x, &mut y);
        let launch = match grid {
            Some(n) => launch.grid([n]),
            None => launch,
        };
        launch
            .warnings()
            .unwrap()
            .iter()
            .map(|warning| match warning {
                Warning::Short { axis, covered, extent, .. } => (*axis, *covered, *extent),
                other => panic!("{other}"),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(covered([10, 8], None), []);
    assert_eq!(covered([10, 8], Some(3)), []);
    assert_eq!(covered([10, 7], Some(3)), []);
    assert_eq!(covered([10, 8], Some(2)), [(0, 8, 10)]);
    assert_eq!(covered([10, 9], None), [(1, 8, 9)]);
    assert_eq!(covered([10, 24], Some(1)), [(0, 4, 10), (1, 8, 24)]);
    let mut y = DeviceArray::zeros(&device, [100]).unwrap();
    for blocks in [1, 3, 13] {
        assert!(persistent(&mut y).grid([blocks]).warnings().unwrap().is_empty());
    }
    assert_eq!(persistent(&mut y).grid([2]).prepare().unwrap().warnings().len(), 0);

    // What is not written is known after a run too.
    let x = DeviceArray::<f32, 2>::zeros(&device, [10, 16]).unwrap();
    let mut y = DeviceArray::alloc(&device, [10, 16]).unwrap();
    assert_eq!(y.first_unwritten(), Some([0, 0]));
    rows(&x, &mut y).run().unwrap();
    assert_eq!(y.first_unwritten(), Some([0, 8]));
    assert_eq!(y.slice(1, 0..8).unwrap().first_unwritten(), None);
    assert_eq!(x.first_unwritten(), None);
}

#[kernel]
fn either(y: &mut Array<f32, 1>, z: &mut Array<f32, 1>) {
    let i = bid(0);
    if i % 2 == 0 {
        y.tiles_mut([8]).store((i,), full::<f32>([8], i));
    } else {
        let loaded = y.tiles([8]).padding(Padding::Zero).load((i,));
        z.tiles_mut([8]).store((i,), loaded + 1.0);
    }
}

/// As a match: three ways, a loop around, and what the block itself has stored before.
#[kernel]
fn nested(y: &mut Array<f32, 1>, z: &mut Array<f32, 1>, n: Scalar<i32>) {
    let i = bid(0);
    let mut sum = zeros::<f32>([8]);
    for k in 0..n {
        if k % 3 == 0 {
            y.tiles_mut([8]).store((i,), sum + 2.0);
        } else if k % 3 == 1 {
            sum += y.tiles([8]).load((i,));
        } else {
            let own = y.tiles([8]).load((i,));
            y.tiles_mut([8]).store((i,), own * 2.0);
            sum += y.tiles([8]).load((i,));
        }
    }
    z.tiles_mut([8]).store((i,), sum);
}

/// Neighbours are loaded where no block stores: the condition is the same in all blocks.
#[kernel]
fn in_turns(y: &mut Array<f32, 1>, z: &mut Array<f32, 1>, load: Scalar<bool>) {
    let i = bid(0);
    if load {
        let next = y.tiles([8]).padding(Padding::Zero).load((i + 1,));
        z.tiles_mut([8]).store((i,), next);
    } else {
        y.tiles_mut([8]).store((i,), full::<f32>([8], i));
    }
}

/// The condition is another one in each block, so that a block may load what its neighbour stores.
#[kernel]
fn neighbours(y: &mut Array<f32, 1>, z: &mut Array<f32, 1>) {
    let i = bid(0);
    if i % 2 == 0 {
        let next = y.tiles([8]).padding(Padding::Zero).load((i + 1,));
        z.tiles_mut([8]).store((i,), next);
    } else {
        y.tiles_mut([8]).store((i,), full::<f32>([8], i));
    }
}

#[test]
fn stores_and_loads_in_branches_are_accepted_where_no_blocks_meet() {
    let device = Device::open_sim(SimOptions { threads: Some(1), ..SimOptions::checked() }).unwrap();
    let pair = || {
        let y = DeviceArray::upload(&device, &numbers(32), [32]).unwrap();
        (y, DeviceArray::<f32, 1>::zeros(&device, [32]).unwrap())
    };
    let (mut y, mut z) = pair();
    either(&mut y, &mut z).run().unwrap();
    let of = |f: &dyn Fn(usize) -> f32| (0..32).map(f).collect::<Vec<_>>();
    let before = numbers(32);
    assert_eq!(y.download().unwrap(), of(&|i| if i / 8 % 2 == 0 { (i / 8) as f32 } else { before[i] }));
    assert_eq!(z.download().unwrap(), of(&|i| if i / 8 % 2 == 0 { 0.0 } else { before[i] + 1.0 }));

    for n in 0..8 {
        let (mut y, mut z) = pair();
        nested(&mut y, &mut z, n).run().unwrap();
        let wanted = of(&|i| {
            let (mut y, mut sum) = (before[i], 0.0);
            for k in 0..n {
                match k % 3 {
                    0 => y = sum + 2.0,
                    1 => sum += y,
                    _ => {
                        y *= 2.0;
                        sum += y;
                    }
                }
            }
            sum
        });
        assert_eq!(z.download().unwrap(), wanted, "{n}");
    }

    let (mut y, mut z) = pair();
    in_turns(&mut y, &mut z, false).run().unwrap();
    in_turns(&mut y, &mut z, true).run().unwrap();
    assert_eq!(z.download().unwrap(), of(&|i| if i < 24 { (i / 8 + 1) as f32 } else { 0.0 }));

    let message = refused(neighbours(&mut y, &mut z));
    assert!(message.contains("blocks are not proved to keep to elements of their own in `y`"), "{message}");
}
