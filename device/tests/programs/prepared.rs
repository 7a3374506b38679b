//! Prepared launches, which do what a launch with the same arguments does.

use girih_device::{Arg, Buffer, Device, Error, LaunchConfig, args};

use super::{
    REVERSE, SAXPY, SCALARS, kernel, small,
    streams::{LATE, WORDS},
};

fn words(device: &Device) -> Buffer<u32> {
    device.zeros(WORDS).unwrap()
}

fn first(buffer: &Buffer<u32>) -> u32 {
    buffer.download().unwrap()[0]
}

/// The results of one launch, whose arguments are changed again and again, agree with the host at each run.
pub fn changed_arguments_agree(device: &Device) {
    let saxpy = kernel(device, SAXPY, "saxpy");
    let most = 1000;
    let host: Vec<_> = (1..=4).map(|seed| small(most, seed)).collect();
    let inputs: Vec<_> = host.iter().map(|values| device.upload(values).unwrap()).collect();
    let z = device.alloc::<f32>(most).unwrap();
    let [x, y] = [&inputs[0], &inputs[1]];
    let config = LaunchConfig::linear(most as u32, 256);
    let named = args![z = &z, x = x, y = y, n = 0u32, alpha = 0.0f32];
    let mut launch = saxpy.prepare(&config, &saxpy.arguments(&named).unwrap()).unwrap();
    for (i, (ix, iy, alpha, n)) in
        [(0, 1, 2.0f32, 1000), (2, 1, 2.0, 999), (3, 3, -1.0, 257), (1, 0, 0.0, 1), (0, 2, 3.0, 0)]
            .into_iter()
            .enumerate()
    {
        launch.set("x", &inputs[ix]).unwrap();
        launch.set("y", Arg::from(&inputs[iy])).unwrap();
        launch.set("alpha", alpha).unwrap();
        launch.set("n", n as u32).unwrap();
        for _ in 0..2 {
            z.fill_bytes(0xFF).unwrap();
            // SAFETY: the buffers have at least n elements.
            unsafe { launch.run() }.unwrap();
            let found = z.download().unwrap();
            let wanted: Vec<f32> = (0..n).map(|j| alpha * host[ix][j] + host[iy][j]).collect();
            assert_eq!(found[..n], wanted, "run {i}");
            assert!(found[n..].iter().all(|z| z.to_bits() == u32::MAX), "run {i}");
        }
    }
}

/// Arguments of every size arrive in the kernel, and `Launch::arguments` returns the bytes that were given.
pub fn every_argument_is_in_its_place(device: &Device) {
    let scalars = kernel(device, SCALARS, "scalars");
    let (out, other) = (device.zeros::<u8>(40).unwrap(), device.zeros::<u8>(40).unwrap());
    let shape: Vec<u8> = (1..=12).collect();
    let args = [
        Arg::from(&out),
        Arg::Bytes(&shape),
        Arg::from(-5i32),
        Arg::from(i64::MIN),
        Arg::from(-0.0f64),
        Arg::from(1u64),
    ];
    let mut launch = scalars.prepare(&LaunchConfig::new([1; 3], [1; 3]), &args).unwrap();
    let address = |buffer: &Buffer<u8>| buffer.address().to_le_bytes();
    let mut wanted = [
        address(&out).to_vec(),
        shape,
        (-5i32).to_le_bytes().to_vec(),
        i64::MIN.to_le_bytes().to_vec(),
        (-0.0f64).to_le_bytes().to_vec(),
        1u64.to_le_bytes().to_vec(),
    ];
    let names: Vec<_> = scalars.info().params.iter().map(|param| param.name.to_string()).collect();
    let check = |launch: &girih_device::Launch, wanted: &[Vec<u8>; 6], out: &Buffer<u8>| {
        assert!(launch.arguments().eq(wanted.iter().map(|bytes| &bytes[..])));
        // SAFETY: out has the 40 bytes that the kernel writes.
        unsafe { launch.run() }.unwrap();
        assert_eq!(out.download().unwrap(), wanted[1..].concat());
    };
    check(&launch, &wanted, &out);
    launch.set(&names[5], u64::MAX).unwrap();
    launch.set(&names[2], 77i32).unwrap();
    launch.set(&names[1], Arg::Bytes(&[9; 12])).unwrap();
    wanted[5] = vec![0xFF; 8];
    wanted[2] = 77i32.to_le_bytes().to_vec();
    wanted[1] = vec![9; 12];
    check(&launch, &wanted, &out);
    launch.set(&names[0], &other).unwrap();
    wanted[0] = address(&other).to_vec();
    check(&launch, &wanted, &other);
}

/// A launch with much shared memory can run after other handles of its kernel have prepared and run launches with less.
pub fn shared_memory_stays_allowed(device: &Device) {
    let most = device.limits().shared_per_block_optin;
    let x: Vec<u32> = (0..256).collect();
    let reversed: Vec<u32> = x.iter().rev().copied().collect();
    let dx = device.upload(&x).unwrap();
    let launches = [most, 100 << 10, 1024].map(|shared| {
        let config = LaunchConfig::new([1; 3], [256, 1, 1]).with_dynamic_shared(shared.min(most));
        let reverse = kernel(device, REVERSE, "reverse");
        reverse.prepare(&config, &[Arg::from(&dx), Arg::from(0u32)]).unwrap()
    });
    for launch in launches.iter().chain(&launches) {
        dx.write(&x).unwrap();
        // SAFETY: x has a word for every thread, and so has the pool.
        unsafe { launch.run() }.unwrap();
        assert_eq!(dx.download().unwrap(), reversed);
    }
}

/// Runs are ordered with the streams of their buffers, also of buffers that were set later.
pub fn runs_are_ordered(device: &Device, rounds: u32) {
    let late = kernel(device, LATE, "late");
    let [a, b] = [(); 2].map(|()| device.new_stream().unwrap());
    let (x, y, z) = (words(&a), words(&b), words(device));
    let one = LaunchConfig::new([1; 3], [1; 3]);
    let of = |stream: &Device, to: &Buffer<u32>, from: &Buffer<u32>| {
        let late = late.on(stream).unwrap();
        late.prepare(&one, &late.arguments(&args![to = to, from = from, value = 1u32, rounds]).unwrap())
            .unwrap()
    };
    // SAFETY: the kernel reads the first word of `from` and writes two of `to`, which both have two.
    let run = |launch: &girih_device::Launch| unsafe { launch.run() }.unwrap();
    let (mut on_a, on_b) = (of(&a, &x, &x), of(&b, &y, &x));
    drop(late);
    for round in 0..5 {
        run(&on_a); // x += 1, which takes long
        run(&on_b); // y = x + 1
        assert_eq!(first(&y), round + 2);
    }
    on_a.set("to", &z).unwrap();
    run(&on_a); // z = x + 1, in the stream of x
    x.fill_bytes(0).unwrap();
    assert_eq!((first(&z), first(&x)), (6, 0));
    // The launch keeps the memory of a buffer that is dropped. When the launch is dropped, the memory is freed after the last run.
    on_a.set("from", &y).unwrap();
    drop(y);
    run(&on_a);
    drop((on_a, on_b, a, b));
    words(device).fill_bytes(0xFF).unwrap();
    assert_eq!(first(&z), 7);
}

/// A graph replays a launch with the arguments that the launch had when it was captured. Runs of other threads are refused in a
/// capture.
pub fn captures_agree(device: &Device, rounds: u32) {
    let late = kernel(device, LATE, "late");
    let (x, y) = (words(device), words(device));
    let args = late.arguments(&args![to = &x, from = &x, value = 1u32, rounds]).unwrap();
    let mut launch = late.prepare(&LaunchConfig::new([1; 3], [1; 3]), &args).unwrap();
    // SAFETY: the kernel reads the first word of `from` and writes two of `to`, which both have two.
    let run = |launch: &girih_device::Launch| unsafe { launch.run() };
    let graph = device.capture(|| {
        run(&launch)?;
        launch.set("value", 10u32)?;
        run(&launch)?;
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| run(&launch)).join().unwrap());
        assert!(
            matches!(elsewhere, Err(Error::CapturedByOther { operation: "Launch::run" })),
            "{elsewhere:?}"
        );
        launch.set("to", &y)
    });
    let graph = graph.unwrap();
    for round in 1..=10 {
        // SAFETY: the graph keeps its buffers.
        unsafe { graph.launch() }.unwrap();
        assert_eq!(first(&x), 11 * round);
    }
    run(&launch).unwrap();
    assert_eq!((first(&x), first(&y)), (110, 120));
}
