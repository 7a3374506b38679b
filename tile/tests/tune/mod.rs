//! The tuner, by counts on the simulator, and its records.

use girih_device::{Device, Limits, SimOptions};
use girih_tile::error::Error;
use girih_tile::hints::Hint;
use girih_tile::launch::{DeviceArray, Launch, LaunchError};
use girih_tile::prelude::*;
use girih_tile::tune::{Budget, Point, Records, Space, Tuned, launch, tune};

fn device() -> Device {
    Device::open_sim(SimOptions { threads: Some(1), ..SimOptions::checked() }).unwrap()
}

type Arrays = (DeviceArray<f32, 2>, DeviceArray<f32, 2>);

fn arrays(device: &Device, rows: usize) -> Arrays {
    let x: Vec<f32> = (0..rows * 128).map(|i| (i % 37) as f32 - 18.0).collect();
    let x = DeviceArray::upload(device, &x, [rows, 128]).unwrap();
    (x, DeviceArray::upload(device, &vec![3.0f32; rows * 128], [rows, 128]).unwrap())
}

#[kernel(num_worker_warps = 8)]
fn centred<const R: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let row = x.tiles([R, 128]).load((bid(0), 0));
    y.tiles_mut([R, 128]).store((bid(0), 0), row - row.sum(keep(1)) * (1.0 / 128.0));
}

/// Adds to what stands there: it has the same result again only where that was put back.
#[kernel]
fn added<const R: usize, const MORE: i64>(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let at = (bid(0), 0);
    let sum = y.tiles([R, 128]).load(at) + x.tiles([R, 128]).load(at) + MORE;
    y.tiles_mut([R, 128]).store(at, sum);
}

fn centred_at<'a>((x, y): &'a mut Arrays, at: &Point) -> Launch<'a> {
    match at.constant("R") {
        Some(1) => centred::<1>(x, y),
        Some(4) => centred::<4>(x, y),
        _ => centred::<16>(x, y),
    }
}

fn space() -> Space {
    Space::new().constant("R", [1, 4, 16]).hint(Hint::NumWorkerWarps, [16, 4]).unwrap()
}

fn tuned(arrays: &mut Arrays) -> Tuned {
    tune(arrays, &space(), &Budget::default(), centred_at).unwrap()
}

#[test]
fn the_best_point_is_the_one_of_the_least_cost() {
    let device = device();
    let mut arrays = arrays(&device, 32);
    let tuned = tuned(&mut arrays);
    assert_eq!(tuned.measured.len(), 6);
    assert_eq!(tuned.measured[0].share, Ok(1.0));
    // Counted independently, launch by launch.
    let mut least = (f64::INFINITY, Point::default());
    for measured in &tuned.measured {
        centred_at(&mut arrays, &measured.point).replace_hints(&measured.point.hints()).run().unwrap();
        let cost = device.simulated_cost().unwrap() as f64;
        let share = measured.share.clone().unwrap();
        assert!((share * tuned.costs[1] - cost).abs() < 1e-6 * cost, "{}", measured.point);
        if cost < least.0 {
            least = (cost, measured.point.clone());
        }
    }
    assert_eq!((tuned.costs[0], &tuned.best), (least.0, &least.1));
    assert!(tuned.costs[0] < 0.99 * tuned.costs[1], "{:?}", tuned.costs);
}

#[test]
fn a_budget_takes_points_from_everywhere() {
    let device = device();
    let mut arrays = arrays(&device, 16);
    let budget = Budget { points: 3, ..Budget::default() };
    let tuned = tune(&mut arrays, &space(), &budget, centred_at).unwrap();
    let points: Vec<String> = tuned.measured.iter().map(|of| of.point.to_string()).collect();
    assert_eq!(points, ["R=1, num_worker_warps=16", "R=16, num_worker_warps=16", "R=4, num_worker_warps=4"]);
}

#[test]
fn what_is_written_is_put_back_and_other_results_are_left_out() {
    let device = device();
    let mut arrays = arrays(&device, 16);
    let before = arrays.1.download().unwrap();
    let space = Space::new().constant("R", [16, 4, 1]).constant("MORE", [0, 1]);
    let tuned = tune(&mut arrays, &space, &Budget::default(), |(x, y), at| {
        match (at.constant("R").unwrap(), at.constant("MORE").unwrap()) {
            (16, 0) => added::<16, 0>(x, y),
            (4, 0) => added::<4, 0>(x, y),
            (_, 0) => added::<1, 0>(x, y),
            (16, _) => added::<16, 1>(x, y),
            (4, _) => added::<4, 1>(x, y),
            _ => added::<1, 1>(x, y),
        }
    })
    .unwrap();
    assert_eq!(arrays.1.download().unwrap(), before);
    for of in &tuned.measured {
        let same = of.point.constant("MORE") == Some(0);
        assert_eq!(of.share.is_ok(), same, "{}: {:?}", of.point, of.share);
    }
}

/// Infinite where `x` is 0, or not even there, and with something added.
#[kernel]
fn inverse<const MORE: i64, const MOST: i64>(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let at = (bid(0), 0);
    let inverse = 1.0 / x.tiles([4, 128]).load(at) + MORE;
    y.tiles_mut([4, 128]).store(at, if MOST > 0 { minimum(inverse, MOST) } else { inverse });
}

#[test]
fn infinite_results_make_no_other_result_right() {
    let device = device();
    let mut arrays = arrays(&device, 16);
    let space = Space::new().constant("OTHER", [0, 1, 2, 3]);
    let tuned = tune(&mut arrays, &space, &Budget::default(), |(x, y), at| match at.constant("OTHER") {
        Some(1) => inverse::<7, 0>(x, y),
        Some(2) => inverse::<0, 100>(x, y),
        Some(3) => inverse::<0, 0>(x, y).replace_hints(&Default::default()),
        _ => inverse::<0, 0>(x, y),
    });
    let right: Vec<bool> = tuned.unwrap().measured.iter().map(|of| of.share.is_ok()).collect();
    assert_eq!(right, [true, false, false, true]);
}

#[test]
fn a_launch_follows_its_record() {
    let device = device();
    let mut arrays = arrays(&device, 32);
    let tuned = tuned(&mut arrays);
    let mut records = Records::new(device.limits());
    records.insert(tuned.record("2026-11-26"));
    let records = Records::read(&records.to_string(), device.limits()).unwrap();
    launch(&mut arrays, &space(), &records, centred_at).unwrap().run().unwrap();
    assert_eq!(device.simulated_cost().unwrap() as f64, tuned.costs[0]);
    // Of other extents nothing is recorded: the usual point.
    let mut others = self::arrays(&device, 16);
    let usual = launch(&mut others, &space(), &records, centred_at).unwrap().prepare().unwrap();
    assert_eq!(usual.launch().unwrap().config().block, [512, 1, 1]);
}

fn refused<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Launch(error @ LaunchError::Record { .. })) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_record_of_something_else_is_refused() {
    let device = device();
    let mut arrays = arrays(&device, 32);
    let mut records = Records::new(device.limits());
    records.insert(tuned(&mut arrays).record("2026-11-26"));
    let text = records.to_string();
    let read = |text: &str| Records::read(text, device.limits());
    // Another version of girih, another machine, a line that is none.
    assert!(
        refused(read(&text.replace("girih tile records", "girih gemm records"))).contains("measure again")
    );
    assert!(refused(read(&text.replacen(env!("CARGO_PKG_VERSION"), "0.0.0", 1))).contains("measure again"));
    assert!(refused(read(&text.replace('\t', " "))).contains("seven fields"));
    let other = Limits { multiprocessors: 7, ..device.limits().clone() };
    assert!(refused(Records::read(&text, &other)).contains("7 multiprocessors"));
    // Another program, other facts, another space.
    let mut follow = |text: String, space: &Space| {
        launch(&mut arrays, space, &read(&text).unwrap(), centred_at).map(|launch| format!("{launch:?}"))
    };
    follow(text.clone(), &space()).unwrap();
    for (word, digits) in [("programs ", 16), ("facts ", 16)] {
        let at = text.find(word).unwrap() + word.len();
        let changed = format!("{}{}{}", &text[..at], "0".repeat(digits), &text[at + digits..]);
        assert!(refused(follow(changed, &space())).contains("measure again"));
    }
    let narrower = Space::new().constant("R", [1]).hint(Hint::NumWorkerWarps, [16]).unwrap();
    assert!(refused(follow(text.clone(), &narrower)).contains("a point of the space"));
    let illegal = text.replacen("num_worker_warps=", "num_worker_warps=5", 1);
    assert!(refused(follow(illegal, &space())).contains("legal values"));
    assert!(refused(Space::new().hint(Hint::NumCtas, [3])).contains("1, 2, 4, 8 or 16"));
    assert!(refused(Space::new().hint(Hint::Latency, [3])).contains("does not belong"));
    let nothing = Space::new().constant("R", []);
    assert!(refused(tune(&mut arrays, &nothing, &Budget::default(), centred_at)).contains("without points"));
}

#[test]
fn constants_are_chosen_together() {
    let space = Space::new().constants(["A", "B"], [[1, 2], [3, 4], [5, 6]]).constant("C", [7, 8]);
    assert_eq!(space.len(), 6);
    let device = device();
    let mut arrays = arrays(&device, 16);
    let mut seen = Vec::new();
    let tuned = tune(&mut arrays, &space, &Budget::default(), |(x, y), at| {
        seen.push(["A", "B", "C"].map(|name| at.constant(name).unwrap()));
        centred::<4>(x, y)
    });
    assert_eq!(seen, [[1, 2, 7], [3, 4, 7], [5, 6, 7], [1, 2, 8], [3, 4, 8], [5, 6, 8]]);
    assert_eq!(tuned.unwrap().best.to_string(), "A=1, B=2, C=7");
}

/// One launch is tuned over its hints, with none of them as the usual point, and follows what was recorded.
#[test]
fn a_launch_is_tuned_over_its_hints() {
    let device = device();
    let (x, mut y) = arrays(&device, 32);
    let space = Space::new().optional_hint(Hint::NumWorkerWarps, [16, 4]).unwrap();
    let tuned = centred::<4>(&x, &mut y).tune(&space, &Budget::default()).unwrap();
    let points: Vec<String> = tuned.measured.iter().map(|of| of.point.to_string()).collect();
    assert_eq!(points, ["num_worker_warps=auto", "num_worker_warps=16", "num_worker_warps=4"]);
    // The kernel's own 8 warps are the usual ones.
    centred::<4>(&x, &mut y).run().unwrap();
    assert_eq!(device.simulated_cost().unwrap() as f64, tuned.costs[1]);
    let mut records = Records::new(device.limits());
    records.insert(tuned.record("2026-11-26"));
    let records = Records::read(&records.to_string(), device.limits()).unwrap();
    centred::<4>(&x, &mut y).recorded(&space, &records).unwrap().run().unwrap();
    assert_eq!(device.simulated_cost().unwrap() as f64, tuned.costs[0]);
    assert!(tuned.costs[0] < tuned.costs[1] && tuned.best.to_string() == "num_worker_warps=4", "{tuned:?}");
    let constants = Space::new().constant("R", [4]);
    let one = centred::<4>(&x, &mut y).tune(&constants, &Budget::default());
    assert!(refused(one).contains("a space with the constant R for one launch"));
}

/// What blocks leave for one another differs with the tiles, and is no result.
#[kernel]
fn in_parts<const N: usize>(x: &Array<f32, 2>, parts: &mut Array<f32, 2>) {
    let part = x.tiles([1, N]).padding(Padding::Zero).load((bid(0), 0)).sum(1);
    parts.tiles_mut([1, 1]).store((bid(0), 0), part.reshape([1, 1]));
}

#[test]
fn scratch_is_put_back_and_not_compared() {
    let device = device();
    let mut arrays = arrays(&device, 16);
    let before = arrays.1.download().unwrap();
    let space = Space::new().constant("N", [128, 64]);
    for scratch in [false, true] {
        let tuned = tune(&mut arrays, &space, &Budget::default(), |(x, y), at| {
            let launch =
                if at.constant("N") == Some(64) { in_parts::<64>(x, y) } else { in_parts::<128>(x, y) };
            let launch = launch.grid([16]);
            if scratch { launch.scratch() } else { launch }
        });
        assert_eq!(tuned.unwrap().measured[1].share.is_ok(), scratch);
        assert_eq!(arrays.1.download().unwrap(), before);
    }
}
