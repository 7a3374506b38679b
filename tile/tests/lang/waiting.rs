//! What blocks read of one another while they run.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_device::{Device, SimOptions};
use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

/// The even blocks count, the odd ones look at the count as a tile of one element, and tell it to a whole row.
#[kernel]
fn samples(y: &mut Array<i32, 2>, count: &mut Array<i32, 1>) {
    for i in irange(0, 20) {
        let mut count = count.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device);
        if bid(0) % 2 == 0 {
            count.atomic_add((0,), 1);
        } else {
            let seen = full::<i32>([1, 512], count.load((0,)).reshape(()));
            y.tiles_mut([1, 512]).store((bid(0), i), seen);
        }
    }
}

#[test]
fn threads_of_a_block_agree_on_what_they_have_read() {
    let mut different = 0;
    for seed in 1..6 {
        let device = Device::open_sim(SimOptions { seed, ..SimOptions::checked() }).unwrap();
        let mut y = DeviceArray::zeros(&device, [8, 20 * 512]).unwrap();
        let mut count = DeviceArray::zeros(&device, [1]).unwrap();
        samples(&mut y, &mut count).grid([8]).run().unwrap();
        assert_eq!(count.download().unwrap(), [80]);
        let y = y.download().unwrap();
        for (at, seen) in y.chunks(512).enumerate() {
            assert!(seen.iter().all(|one| *one == seen[0]), "seed {seed}, row {at}: {seen:?}");
        }
        let seen: std::collections::BTreeSet<i32> = y.chunks(512).map(|row| row[0]).collect();
        different += seen.len();
    }
    assert!(different > 50, "blocks run in between one another: {different}");
}
