//! Launches that come again: what they share, and what is compared anew.

use std::thread;

use girih_device::{Device, Kind};
use girih_tile::error::Error;
use girih_tile::hints::{Hint, Hints};
use girih_tile::launch::{DeviceArray, Launch, LaunchError};
use girih_tile::prelude::*;

use super::{device, numbers};

#[kernel]
fn halved<const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let at = (bid(0), bid(1));
    y.tiles_mut([4, N]).store(at, x.tiles([4, N]).load(at) * 0.5);
}

fn pair(device: &Device, extents: [usize; 2]) -> [DeviceArray<f32, 2>; 2] {
    let x = DeviceArray::upload(device, &numbers(extents.iter().product()), extents).unwrap();
    [x, DeviceArray::zeros(device, extents).unwrap()]
}

fn check(y: &DeviceArray<f32, 2>) {
    let wanted: Vec<f32> = numbers(y.len()).iter().map(|x| x * 0.5).collect();
    assert_eq!(y.download().unwrap(), wanted);
}

/// Rows and columns from 2 to 77: a module for each answer to what the program asks, and none for a size.
#[test]
fn modules_are_as_many_as_answers_to_what_is_asked() {
    let device = device();
    let asked = |rows: usize, columns: usize| {
        let vector = 4.min(1 << columns.trailing_zeros());
        (rows.is_multiple_of(4), columns.is_multiple_of(32), vector)
    };
    let mut keys = std::collections::BTreeMap::new();
    for (i, rows) in (2..78).enumerate() {
        for columns in (2..78).skip(i % 5).step_by(5) {
            let [x, mut y] = pair(&device, [rows, columns]);
            let key = halved::<32>(&x, &mut y).key(90).unwrap();
            assert_eq!(keys.entry(asked(rows, columns)).or_insert(key.clone()), &key, "{rows} x {columns}");
        }
    }
    let mut distinct: Vec<_> = keys.values().collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 8);
    // What was built for one size serves the others.
    for extents in [[8, 64], [4, 32], [12, 96], [7, 63], [9, 5], [5, 33]] {
        let [x, mut y] = pair(&device, extents);
        halved::<32>(&x, &mut y).run().unwrap();
        check(&y);
    }
}

#[kernel]
fn gathered(x: &Array<f32, 1>, at: &Array<i32, 1>, y: &mut Array<f32, 1>) {
    let i = at.tiles([32]).padding(Padding::Zero).load((bid(0),));
    y.tiles_mut([32]).store((bid(0),), x.gather((i,)));
}

#[kernel]
fn column(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    let tile = x.tiles([64, 1]).load((bid(0), 0));
    y.tiles_mut([64]).store((bid(0),), tile.reshape([64]));
}

/// A column of one element a row has no vectors, so that alignment and pitch make no module.
#[test]
fn what_is_not_asked_makes_no_module() {
    let device = device();
    let key = |from: usize, pitch: usize| {
        let buffer = device.zeros::<f32>(200 * pitch).unwrap();
        let x = DeviceArray::new(buffer, from, [128, 1], [pitch, 1]).unwrap();
        let mut y = DeviceArray::<f32, 1>::zeros(&device, [128]).unwrap();
        column(&x, &mut y).key(90).unwrap()
    };
    let first = key(0, 8);
    for (from, pitch) in [(1, 8), (0, 7), (2, 12), (3, 101)] {
        assert_eq!(key(from, pitch), first);
    }
}

#[test]
fn an_equal_launch_is_checked_for_what_may_differ() {
    let (here, there) = (device(), device());
    let [x, mut y] = pair(&here, [8, 32]);
    halved::<32>(&x, &mut y).run().unwrap();
    check(&y);
    let error = |launch: Launch<'_>| match launch.run() {
        Err(Error::Launch(error)) => error,
        other => panic!("{other:?}"),
    };
    // Of the same extents, strides and alignment, but in the same memory, or in another one.
    let mut same = x.slice(0, 0..8).unwrap();
    assert!(matches!(error(halved::<32>(&x, &mut same)), LaunchError::Alias { .. }));
    let [far, _] = pair(&there, [8, 32]);
    assert!(matches!(error(halved::<32>(&far, &mut y).on(&here)), LaunchError::OtherDevice { .. }));
    // Of other strides, which overlap.
    let mut repeated = DeviceArray::new(here.zeros(256).unwrap(), 0, [8, 32], [0, 1]).unwrap();
    assert!(matches!(error(halved::<32>(&x, &mut repeated)), LaunchError::OverlappingStrides { .. }));
    // Another grid, and another constant.
    assert!(matches!(error(halved::<32>(&x, &mut y).grid([3, 1])), LaunchError::GridBeyond { .. }));
    halved::<16>(&x, &mut y).run().unwrap();
    check(&y);
}

#[test]
fn a_prepared_launch_runs_again_and_takes_other_arrays() {
    let device = device();
    let [x, mut y] = pair(&device, [9, 40]);
    let mut launch = halved::<32>(&x, &mut y).prepare().unwrap();
    assert_eq!(y.download().unwrap(), vec![0.0; 360]);
    assert_eq!(launch.grid(), Some([3, 2, 1]));
    for _ in 0..2 {
        launch.run().unwrap();
        check(&y);
        y.buffer().fill_bytes(0).unwrap();
    }
    // The launch keeps the memory.
    let [more, mut other] = pair(&device, [5, 7]);
    let read = other.slice(0, 0..5).unwrap();
    launch.bind(halved::<32>(&more, &mut other)).unwrap();
    drop((more, other));
    launch.run().unwrap();
    check(&read);
    // One that is refused leaves it as it was.
    read.buffer().fill_bytes(0).unwrap();
    let mut same = x.slice(0, 0..9).unwrap();
    assert!(launch.bind(halved::<32>(&x, &mut same)).is_err());
    launch.run().unwrap();
    check(&read);
    let mut empty = DeviceArray::<f32, 2>::zeros(&device, [0, 7]).unwrap();
    let nothing = halved::<32>(&DeviceArray::zeros(&device, [0, 7]).unwrap(), &mut empty).prepare().unwrap();
    nothing.run().unwrap();
    assert_eq!(nothing.grid(), None);
}

#[test]
fn launches_join_streams_and_graphs() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let [x, mut y] = pair(&device, [8, 32]);
    let mut z = DeviceArray::<f32, 2>::zeros(&device, [8, 32]).unwrap();
    // Nothing is built in a capture.
    let captured = stream.capture(|| halved::<8>(&x, &mut y).on(&stream).run());
    assert!(matches!(captured, Err(Error::Device(_))), "{captured:?}");
    let first = halved::<8>(&x, &mut y).on(&stream).prepare().unwrap();
    halved::<8>(&y, &mut z).on(&stream).prepare().unwrap();
    let graph = stream
        .capture(|| -> Result<(), Error> {
            first.run()?;
            halved::<8>(&y, &mut z).on(&stream).run()
        })
        .unwrap();
    assert_eq!(z.download().unwrap(), vec![0.0; 256]);
    #[allow(unsafe_code, reason = "a graph of checked launches")]
    // SAFETY: the launches were checked, and the arrays live.
    unsafe {
        graph.launch().unwrap();
    }
    let event = stream.record().unwrap();
    device.wait(&event).unwrap();
    let wanted: Vec<f32> = numbers(256).iter().map(|x| x * 0.25).collect();
    assert_eq!(z.download().unwrap(), wanted);
}

#[test]
fn threads_launch_side_by_side() {
    let device = device();
    thread::scope(|scope| {
        for i in 0..4 {
            let device = &device;
            scope.spawn(move || {
                let stream = if i % 2 == 0 { device.clone() } else { device.new_stream().unwrap() };
                for n in [3, 4, 3, 4 + i] {
                    let [x, mut y] = pair(&stream, [n, 10]);
                    halved::<32>(&x, &mut y).on(&stream).run().unwrap();
                    check(&y);
                }
            });
        }
    });
}

#[kernel(occupancy = 2, num_worker_warps = 8, sm_90(num_worker_warps = 4))]
fn hinted(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let at = (bid(0), bid(1));
    let tile = x.tiles([4, 32]).padding(Padding::NegInf).load(at);
    y.tiles_mut([4, 32]).store(at, tile - tile.max(keep(1)));
}

fn hints(list: &[(Option<&str>, Hint, i64)]) -> Hints {
    let mut hints = Hints::default();
    list.iter().for_each(|&(arch, hint, value)| hints.set(arch, hint, value).unwrap());
    hints
}

#[test]
fn hints_are_replaced_and_leave_results_as_they_are() {
    let device = device();
    let [x, mut y] = pair(&device, [32, 64]);
    hinted(&x, &mut y).run().unwrap();
    let wanted = y.download().unwrap();
    let own = hinted(&x, &mut y).key(90).unwrap();
    for hint in [Hint::NumCtas, Hint::Occupancy, Hint::NumWorkerWarps, Hint::OptLevel, Hint::NumStages] {
        for value in (0..=32).filter(|&n| hint.check(n, None).is_ok()) {
            for arch in [None, Some("sm_90")] {
                let replaced = hints(&[(arch, hint, value)]);
                y.buffer().fill_bytes(0xff).unwrap();
                hinted(&x, &mut y).replace_hints(&replaced).run().unwrap();
                assert_eq!(y.download().unwrap(), wanted, "{hint} = {value}");
                assert_ne!(hinted(&x, &mut y).replace_hints(&replaced).key(90).unwrap(), own);
            }
        }
    }
    let threads = |replaced: &Hints| {
        let launch =
            hinted(&x, &mut DeviceArray::zeros(&device, [32, 64]).unwrap()).replace_hints(replaced).prepare();
        launch.unwrap().launch().unwrap().config().block[0]
    };
    // The kernel's own for this architecture; one for all in its place; one for the architecture before one for all.
    assert_eq!(threads(&Hints::default()), 4 * 32);
    assert_eq!(threads(&hints(&[(None, Hint::NumWorkerWarps, 16)])), 16 * 32);
    let both = [(None, Hint::NumWorkerWarps, 16), (Some("sm_90"), Hint::NumWorkerWarps, 8)];
    assert_eq!(threads(&hints(&both)), 8 * 32);
    assert_eq!(threads(&hints(&[(Some("sm_80"), Hint::NumWorkerWarps, 16)])), 4 * 32);
}

#[test]
fn blocks_stand_in_clusters_as_the_grid_allows() {
    let device = device();
    for (rows, asked, found) in [(32, 2, Some(2)), (32, 16, Some(8)), (24, 4, Some(2)), (20, 4, None)] {
        let [x, mut y] = pair(&device, [rows, 8]);
        let replaced = hints(&[(None, Hint::NumCtas, asked)]);
        let launch = hinted(&x, &mut y).replace_hints(&replaced).prepare().unwrap();
        let cluster = launch.launch().unwrap().config().cluster;
        assert_eq!(cluster, found.map(|n| [n, 1, 1]), "{rows} rows, {asked} blocks");
    }
}

#[test]
fn a_programmatic_kernel_waits_before_it_touches_memory() {
    let device = device();
    assert_eq!((device.kind(), device.limits().sm), (Kind::Sim, 90));
    let [x, mut y] = pair(&device, [8, 32]);
    halved::<32>(&x, &mut y).programmatic().run().unwrap();
    check(&y);
    let launch = halved::<32>(&x, &mut y).programmatic().prepare().unwrap();
    assert!(launch.launch().unwrap().config().programmatic);
    let func = halved::<32>::ir().unwrap();
    let text = |programmatic| {
        let target = girih_tile::Target { programmatic, ..girih_tile::Target::from(90) };
        girih_tile::compile(&func, target).unwrap().kernel.module().to_string()
    };
    let (plain, waiting) = (text(false), text(true));
    assert!(!plain.contains("griddepcontrol"));
    let at = |word: &str| waiting.find(word).unwrap();
    assert!(at("griddepcontrol.wait") < at("ld.global"), "{waiting}");
    assert!(at("griddepcontrol.launch_dependents") < at("ld.global"), "{waiting}");
}
