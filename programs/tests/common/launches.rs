//! What launches share with each other, on a device: streams, graphs, clusters, kernels that begin early, kernels built ahead of time, tuning.

use std::time::Duration;

use girih_device::{Assembler, Bundle, Device};
use girih_programs as tile;
use girih_tile::error::Error;
use girih_tile::hints::{Hint, Hints};
use girih_tile::launch::{DeviceArray, Launch};
use girih_tile::prelude::*;
use girih_tile::tune::{Budget, Point, Records, Space, launch, tune};

type Outcome = Result<(), Error>;

#[kernel]
fn advance<const N: usize>(x: &mut Array<i32, 2>, by: Scalar<i32>) {
    let at = (bid(0), bid(1));
    let next = x.tiles([1, N]).load(at) * 3 + by;
    x.tiles_mut([1, N]).store(at, next);
}

fn advanced(x: i32, times: usize, by: i32) -> i32 {
    (0..times).fold(x, |x, _| x.wrapping_mul(3).wrapping_add(by))
}

/// Each kernel works on what the one before it has left, though it may begin before that one has ended.
pub(crate) fn early(device: &Device) -> Outcome {
    let (rows, columns, times) = (40, 500, 25);
    let start: Vec<i32> = (0..rows * columns).map(|i| i % 1001 - 500).collect();
    let mut x = DeviceArray::upload(device, &start, [rows as usize, columns as usize])?;
    for i in 0..times {
        let launch = advance::<128>(&mut x, 7);
        // Plain launches in between wait for all, as ever.
        if i % 8 == 5 { launch.run()? } else { launch.programmatic().run()? }
    }
    let wanted: Vec<i32> = start.iter().map(|&x| advanced(x, times, 7)).collect();
    assert_eq!(x.download()?, wanted);
    Ok(())
}

/// Launches in a graph, on a stream that is not the arrays'.
pub(crate) fn graphs(device: &Device) -> Outcome {
    let stream = device.new_stream()?;
    let mut x = DeviceArray::upload(device, &[5i32; 300], [3, 100])?;
    advance::<64>(&mut x, 1).on(&stream).prepare()?;
    advance::<64>(&mut x, 2).on(&stream).programmatic().prepare()?;
    let graph = stream.capture(|| -> Outcome {
        advance::<64>(&mut x, 1).on(&stream).run()?;
        advance::<64>(&mut x, 2).on(&stream).programmatic().run()
    })?;
    assert_eq!(x.download()?, [5; 300]);
    for _ in 0..3 {
        #[allow(unsafe_code, reason = "a graph of launches that were checked")]
        // SAFETY: the launches were checked, and the array lives.
        unsafe {
            graph.launch()?;
        }
    }
    let wanted = (0..3).fold(5, |x, _| advanced(advanced(x, 1, 1), 1, 2));
    assert_eq!(x.download()?, [wanted; 300]);
    Ok(())
}

/// Hints, clusters among them, leave results as they are.
pub(crate) fn hints(device: &Device) -> Outcome {
    let legal = |hint: Hint| [1, 2, 4, 8, 16, 32].into_iter().filter(move |&n| hint.check(n, None).is_ok());
    for hint in [Hint::NumCtas, Hint::Occupancy, Hint::NumWorkerWarps, Hint::NumStages] {
        for value in legal(hint) {
            let mut x = DeviceArray::upload(device, &[9i32; 16 * 130], [16, 130])?;
            let mut hints = Hints::default();
            hints.set(None, hint, value).map_err(|fault| Error::Place(fault.into()))?;
            advance::<64>(&mut x, 3).replace_hints(&hints).run()?;
            assert_eq!(x.download()?, [30; 16 * 130], "{hint} = {value}");
        }
    }
    Ok(())
}

/// The device takes what was built ahead of time, if there is an assembler.
pub(crate) fn bundles(device: &Device) -> Outcome {
    let mut x = DeviceArray::upload(device, &[2i32; 96 * 4], [4, 96])?;
    let sm = device.limits().sm;
    let kernels = advance::<96>(&mut x, 4).kernels(sm)?;
    assert_eq!(kernels.len(), 1);
    let Some(assembler) = Assembler::find("ptxas") else { return Ok(()) };
    let bundle = Bundle::assemble(&assembler, sm, &kernels)?;
    let provided = device.provide(&bundle);
    advance::<96>(&mut x, 4).run()?;
    assert_eq!(x.download()?, [10; 96 * 4]);
    let log = device.load(&kernels[0])?.log().to_string();
    assert_eq!(provided == 1, log == bundle.logs().next().unwrap_or_default() && !log.is_empty(), "{log}");
    Ok(())
}

type Rows = (DeviceArray<f32, 2>, DeviceArray<f32, 2>);

fn softmax<'a>((x, y): &'a mut Rows, at: &Point) -> Launch<'a> {
    match at.constant("rows") {
        Some(1) => tile::softmax::<f32, 1, 512>(x, y),
        Some(2) => tile::softmax::<f32, 2, 512>(x, y),
        _ => tile::softmax::<f32, 8, 512>(x, y),
    }
}

/// The fastest of a few points is recorded, and followed; it is right.
pub(crate) fn tuning(device: &Device) -> Outcome {
    let (rows, columns) = (64, 512);
    let data: Vec<f32> = (0..rows * columns).map(|i| (i * 7 % 23) as f32 * 0.25).collect();
    let mut arrays =
        (DeviceArray::upload(device, &data, [rows, columns])?, DeviceArray::zeros(device, [rows, columns])?);
    let space = Space::new().constant("rows", [8, 2, 1]).hint(Hint::NumWorkerWarps, [8, 4])?;
    let budget = Budget { time: Duration::from_millis(300), ..Budget::default() };
    let tuned = tune(&mut arrays, &space, &budget, softmax)?;
    println!("  {} takes {:.2} of {:.2}", tuned.best, tuned.costs[0], tuned.costs[1]);
    assert!(tuned.measured.iter().all(|of| of.share.is_ok()), "{:?}", tuned.measured);
    assert!(tuned.costs[0] <= tuned.costs[1]);
    let mut records = Records::new(device.limits());
    records.insert(tuned.record("2026-11-26"));
    let records = Records::read(&records.to_string(), device.limits())?;
    launch(&mut arrays, &space, &records, softmax)?.run()?;
    for (found, row) in arrays.1.download()?.chunks(columns).zip(data.chunks(columns)) {
        let most = row.iter().fold(f64::MIN, |most, &x| most.max(f64::from(x)));
        let sum: f64 = row.iter().map(|&x| (f64::from(x) - most).exp()).sum();
        for (&found, &x) in found.iter().zip(row) {
            let wanted = (f64::from(x) - most).exp() / sum;
            assert!((f64::from(found) - wanted).abs() <= 1e-5 * wanted, "{found}, not {wanted}");
        }
    }
    Ok(())
}
