//! What a launch that comes again costs on the host beyond a prepared launch of the device: no allocation.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use girih_device::{Device, SimOptions};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

thread_local! {
    /// How often the thread has allocated.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator is the only way to see allocations")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often work allocates at least: the simulator's own allocations differ from run to run.
fn allocations(mut work: impl FnMut()) -> usize {
    let counts = (0..40).map(|_| {
        let before = COUNT.get();
        work();
        COUNT.get() - before
    });
    counts.min().unwrap()
}

#[kernel]
fn scaled<const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 2>, by: Scalar<f32>, plus: Scalar<i32>) {
    let at = (bid(0), bid(1));
    let tile = x.tiles([4, N]).load(at) * by + plus.to::<f32>();
    y.tiles_mut([4, N]).store(at, tile);
}

#[test]
fn a_launch_that_comes_again_allocates_nothing() {
    let options = SimOptions { threads: Some(1), ..SimOptions::default() };
    let device = Device::open_sim(options).unwrap();
    let array = || DeviceArray::<f32, 2>::zeros(&device, [8, 64]).unwrap();
    let (x, mut y, mut z) = (array(), array(), array());
    let prepared = scaled::<32>(&x, &mut y, 2.0, 1).prepare().unwrap();
    let raw = prepared.launch().unwrap();
    #[expect(unsafe_code, reason = "the launch was checked")]
    let run = || {
        // SAFETY: the launch was checked, and the arrays live.
        unsafe { raw.run().unwrap() }
    };
    // What the simulator itself allocates.
    let simulated = allocations(run);
    assert_eq!(allocations(|| prepared.run().unwrap()), simulated);
    assert_eq!(allocations(|| scaled::<32>(&x, &mut y, 2.0, 1).run().unwrap()), simulated);
    // With other arrays and numbers; with the grid, the stream, and as a programmatic launch.
    assert_eq!(allocations(|| scaled::<32>(&x, &mut z, 3.0, 4).run().unwrap()), simulated);
    let full = |z: &mut DeviceArray<f32, 2>| {
        scaled::<32>(&x, z, 3.0, 4).grid([2, 2]).on(&device).programmatic().run().unwrap();
    };
    assert_eq!(allocations(|| full(&mut z)), simulated);
    // The count sees what there is to see.
    assert!(allocations(|| drop(prepared.launch().cloned())) > 0);
    assert_eq!(z.download().unwrap(), vec![4.0; 512]);
}
