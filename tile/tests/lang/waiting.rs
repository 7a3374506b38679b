//! What blocks read of one another while they run.

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

/// Tiles that are handed on from turn to turn: each block adds its own to what the block before has stored, when that has said so.
#[kernel]
fn handed_on(
    x: &Array<f32, 1>,
    y: &mut Array<f32, 1>,
    said: &mut Array<u32, 1>,
    state: &mut Array<u64, 1>,
    launch: Scalar<u32>,
) {
    let turn = Turn::take(state).number();
    let mut sum = x.tiles([192]).padding(Padding::Zero).load((turn,));
    let before = turn - 1;
    #[expect(unsafe_code, reason = "who stores what is decided by turns")]
    // SAFETY: a block stores the tile of its turn, and loads that of the turn before after an acquire.
    let mut y = unsafe { y.tiles_mut([192]).assume_disjoint("tiles of turns") };
    if turn > 0 {
        let words = said.tiles_mut([1]).memory_order(Order::Acquire, Scope::Device);
        while words.load((before,)).reshape(()) != launch {}
        sum += y.load((before,));
    }
    y.store((turn,), sum);
    said.tiles_mut([1]).memory_order(Order::Release, Scope::Device).store((turn,), launch);
}

#[test]
fn what_is_released_is_there_when_it_is_acquired() {
    let (n, blocks) = (192 * 11, 11);
    let x: Vec<f32> = (0..n as u16).map(|i| f32::from(i % 7)).collect();
    let wanted: Vec<f32> = (0..n).map(|i| (0..=i / 192).map(|t| x[t * 192 + i % 192]).sum()).collect();
    for seed in 0..5 {
        let device = Device::open_sim(SimOptions { seed, ..SimOptions::checked() }).unwrap();
        let xs = DeviceArray::upload(&device, &x, [n]).unwrap();
        let mut said = DeviceArray::zeros(&device, [blocks]).unwrap();
        let mut state = DeviceArray::zeros(&device, [blocks + 1]).unwrap();
        for launch in 1..3 {
            let mut y = DeviceArray::upload(&device, &vec![f32::NAN; n], [n]).unwrap();
            handed_on(&xs, &mut y, &mut said, &mut state, launch).grid([blocks as u32]).run().unwrap();
            assert_eq!(y.download().unwrap(), wanted, "seed {seed}, launch {launch}");
        }
    }
}

/// A state that is too small for the grid ends the kernel, and nobody waits for ever.
#[test]
fn turns_without_room_are_refused() {
    let device = Device::open_sim(SimOptions::checked()).unwrap();
    let x = DeviceArray::upload(&device, &[1.0; 192 * 3], [192 * 3]).unwrap();
    let mut y = DeviceArray::zeros(&device, [192 * 3]).unwrap();
    let (mut said, mut state) =
        (DeviceArray::zeros(&device, [3]).unwrap(), DeviceArray::zeros(&device, [3]).unwrap());
    let refused = handed_on(&x, &mut y, &mut said, &mut state, 1).grid([3]).run();
    assert!(refused.is_err());
}

#[kernel]
fn wide_turns(x: &Array<f64, 1>, y: &mut Array<f64, 1>, state: &mut Array<u64, 1>) {
    let turn = Turn::take(state);
    let own = x.tiles([1]).load((turn.number(),)).reshape(());
    let before = turn.before(state, own, 0.0, 32, |left, right| left + right);
    y.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((turn.number(),), before);
}

#[test]
fn a_word_of_a_turn_has_room_for_32_bits() {
    let refused = wide_turns::ir().unwrap_err().to_string();
    assert!(
        refused.contains("what turns have is f64, of 64 bits: types of 32 bits are accepted"),
        "{refused}"
    );
}

/// Every block waits for all others, and adds up what they have left.
#[kernel]
fn meeting(count: &mut Array<i32, 1>, left: &mut Array<i32, 1>, y: &mut Array<i32, 1>) {
    let own = full::<i32>([1], bid(0) + 1);
    left.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((bid(0),), own);
    count.atomic_add((0,), 1);
    let words = count.tiles_mut([1]).memory_order(Order::Acquire, Scope::Device);
    while words.load((0,)).reshape(()) < num_blocks(0) {}
    let all = left.tiles([16]).padding(Padding::Zero).memory_order(Order::Relaxed, Scope::Device).load((0,));
    y.tiles_mut([1]).store((bid(0),), all.sum(0));
}

#[test]
fn blocks_wait_for_one_another() {
    let device = Device::open_sim(SimOptions::checked()).unwrap();
    let array = |n| DeviceArray::<i32, 1>::zeros(&device, [n]).unwrap();
    let (mut count, mut left, mut y) = (array(1), array(16), array(16));
    meeting(&mut count, &mut left, &mut y).grid([16]).run().unwrap();
    assert_eq!(y.download().unwrap(), [136; 16]);
}
