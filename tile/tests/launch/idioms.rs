//! The commonest idioms of CUDA as programs of tiles, as someone writes them at first contact: each runs without an error, and a neighbour that is
//! wrong does not.

mod leaving;

use girih_device::{Device, Select};
use girih_tile::launch::{DeviceArray, Launch};
use girih_tile::prelude::*;

fn sim() -> Device {
    Device::open(Select::Sim).unwrap()
}

/// The message of a launch that is refused, or whose kernel is found to be wrong.
fn refused(launch: Launch<'_>) -> String {
    launch.run().unwrap_err().to_string()
}

/// An array of integers that are given.
fn array(device: &Device, values: &[i32]) -> DeviceArray<i32, 1> {
    DeviceArray::upload(device, values, [values.len()]).unwrap()
}

/// Each block says that it was there, and one that finds something says so.
#[kernel]
fn flags(x: &Array<i32, 1>, limit: Scalar<i32>, started: &mut Array<i32, 1>, found: &mut Array<i32, 1>) {
    started.tiles_mut([1]).store((0,), full::<i32>([1], 1));
    if x.tiles([64]).load((bid(0),)).max(0) > limit {
        found.tiles_mut([1]).store((0,), full::<i32>([1], limit));
    }
}

/// Marks what is named, as a breadth-first search does: several lanes and blocks name one place.
#[kernel]
fn marks(names: &Array<i32, 1>, seen: &mut Array<i32, 1>) {
    seen.scatter((names.tiles([64]).load((bid(0),)),), full::<i32>([64], 1));
}

/// Every block leaves the same table.
#[kernel]
fn tables(x: &Array<i32, 1>, table: &mut Array<i32, 1>, y: &mut Array<i32, 1>) {
    table.tiles_mut([32]).store((1,), x.tiles([32]).load((0,)) * 2 + arange::<i32>(32));
    y.tiles_mut([1]).store((bid(0),), bid(0));
}

/// Blocks store what each has to one place.
#[kernel]
fn last_wins(x: &Array<i32, 1>, y: &mut Array<i32, 1>) {
    y.tiles_mut([1]).store((0,), x.tiles([64]).load((bid(0),)).sum(0));
}

/// Blocks store one value, and then another one.
#[kernel]
fn twice(y: &mut Array<i32, 1>, z: &mut Array<i32, 1>) {
    y.tiles_mut([1]).store((0,), full::<i32>([1], 1));
    y.tiles_mut([1]).store((0,), full::<i32>([1], 2));
    z.tiles_mut([1]).store((bid(0),), bid(0));
}

/// Blocks store the same tile to places that overlap.
#[kernel]
fn shifted_table(y: &mut Array<i32, 1>) {
    y.slice_mut(0, bid(0), 64).tiles_mut([32]).store((0,), arange::<i32>(32));
}

/// The value looks the same in all blocks, but it is in another part of `x` for each.
#[kernel]
fn of_own_part(x: &Array<i32, 1>, y: &mut Array<i32, 1>) {
    let value = x.slice(0, bid(0), x.dim(0)).tiles([1]).load((0,));
    y.tiles_mut([1]).store((0,), value);
}

/// The blocks go different ways, by an element and by an extent of a part of their own.
#[kernel]
fn ways_by_own_part<const BY_EXTENT: bool>(x: &Array<i32, 1>, y: &mut Array<i32, 1>, z: &mut Array<i32, 1>) {
    let part = x.slice(0, bid(0), 2);
    let way = if BY_EXTENT { part.dim(0) } else { part.tiles([1]).load((0,)).reshape(()) };
    if way > 1 {
        y.tiles_mut([1]).store((bid(0) + 1,), bid(0));
    } else {
        let other = y.tiles([1]).load((bid(0),));
        z.tiles_mut([1]).store((bid(0),), other);
    }
}

/// A block reads what all store.
#[kernel]
fn reads_the_flag(flag: &mut Array<i32, 1>, y: &mut Array<i32, 1>) {
    flag.tiles_mut([1]).store((0,), full::<i32>([1], 1));
    let flag = flag.tiles([1]).load((0,));
    y.tiles_mut([1]).store((bid(0),), flag);
}

#[test]
fn blocks_that_store_the_same_value() {
    let device = sim();
    let values: Vec<i32> = (0..256).map(|i| i % 50 + if i / 64 > 1 { 100 } else { 0 }).collect();
    let x = array(&device, &values);
    for (limit, wanted) in [(200, 0), (60, 60)] {
        let [mut started, mut found] = [(); 2].map(|()| array(&device, &[0]));
        flags(&x, limit, &mut started, &mut found).grid([4]).run().unwrap();
        assert_eq!([started.download().unwrap(), found.download().unwrap()], [[1], [wanted]]);
    }
    let mut seen = array(&device, &[0; 160]);
    marks(&x, &mut seen).grid([4]).run().unwrap();
    let wanted: Vec<i32> = (0..160).map(|i| i32::from(values.contains(&i))).collect();
    assert_eq!(seen.download().unwrap(), wanted);
    let (mut table, mut y) = (array(&device, &[0; 64]), array(&device, &[0; 4]));
    tables(&x, &mut table, &mut y).run().unwrap();
    let wanted: Vec<i32> =
        (0..64).map(|i| if i < 32 { 0 } else { values[i - 32] * 2 + i as i32 - 32 }).collect();
    assert_eq!(table.download().unwrap(), wanted);

    let mut one = array(&device, &[0]);
    let apart = "not proved to keep to elements of their own";
    for message in [
        refused(last_wins(&x, &mut one).grid([4])),
        refused(twice(&mut one, &mut array(&device, &[0; 4]))),
        refused(reads_the_flag(&mut one, &mut array(&device, &[0; 4]))),
        refused(shifted_table(&mut array(&device, &[0; 64])).grid([2])),
        refused(of_own_part(&x, &mut one).grid([2])),
        refused(ways_by_own_part::<false>(&x, &mut one, &mut array(&device, &[0; 2]))),
        refused(ways_by_own_part::<true>(&x, &mut one, &mut array(&device, &[0; 2]))),
    ] {
        assert!(message.contains(apart) && message.contains("tile/tests/launch/idioms.rs:"), "{message}");
    }
}

/// A histogram of what is in range, and of whole tiles by tile.
#[kernel]
fn histogram(x: &Array<i32, 1>, n: Scalar<i32>, y: &mut Array<i32, 1>) {
    let at = bid(0) * 64 + arange::<i32>(64);
    let value = x.tiles([64]).padding(Padding::Zero).load((bid(0),));
    y.elements_mut().mask((at < n) & (value >= 0)).atomic_add((value,), 1);
}

/// The greatest value and one count by block, under a condition.
#[kernel]
fn greatest(x: &Array<i32, 1>, most: &mut Array<i32, 1>, blocks: &mut Array<i32, 1>) {
    let value = x.tiles([64]).load((bid(0),)).max(0);
    if value > 120 {
        most.atomic_max((0,), value);
        blocks.tiles_mut([1]).atomic_add((0,), full::<i32>([1], 1));
    }
}

/// `if (best[k] > d) atomicMin(&best[k], d)` of each element, with a look that spares most atomic operations.
#[kernel]
fn relaxes(at: &Array<i32, 1>, by: &Array<i32, 1>, best: &mut Array<i32, 1>) {
    let (at, by) = (at.tiles([64]).load((bid(0),)), by.tiles([64]).load((bid(0),)));
    let old = best.gather((at,));
    best.elements_mut().mask(old > by).atomic_min((at,), by);
}

/// The same of one scalar, in a branch.
#[kernel]
fn least(x: &Array<i32, 1>, best: &mut Array<i32, 1>) {
    let value = x.tiles([64]).load((bid(0),)).min(0);
    if best.tiles([1]).load((0,)).reshape(()) > value {
        best.atomic_min((0,), value);
    }
}

/// A count by what was read before.
#[kernel]
fn counts(y: &mut Array<i32, 1>, z: &mut Array<i32, 1>) {
    let old = y.tiles([1]).load((0,));
    y.tiles_mut([1]).store((0,), old + 1);
    z.tiles_mut([1]).store((bid(0),), bid(0));
}

/// A look that is stored as well as compared.
#[kernel]
fn tells_what_it_saw(x: &Array<i32, 1>, best: &mut Array<i32, 1>, y: &mut Array<i32, 1>) {
    let value = x.tiles([64]).load((bid(0),)).min(0);
    let old = best.tiles([1]).load((0,)).reshape(());
    if old > value {
        best.atomic_min((0,), value);
    }
    y.tiles_mut([1]).store((bid(0),), old);
}

/// A look that decides about a store.
#[kernel]
fn stores_after_a_look(x: &Array<i32, 1>, best: &mut Array<i32, 1>) {
    let value = x.tiles([64]).load((bid(0),)).min(0);
    if best.tiles([1]).load((0,)).reshape(()) > value {
        best.tiles_mut([1]).store((0,), value);
    }
}

#[test]
fn atomic_operations_under_a_condition() {
    let device = sim();
    let values: Vec<i32> = (0..256).map(|i| (i * 29) % 64 - 3 + if i / 64 == 2 { 80 } else { 0 }).collect();
    let x = array(&device, &values);
    let mut y = array(&device, &[0; 160]);
    histogram(&x, 200, &mut y).grid([4]).run().unwrap();
    let count = |n: i32| values[..200].iter().filter(|&&value| value == n).count() as i32;
    assert_eq!(y.download().unwrap(), (0..160).map(count).collect::<Vec<i32>>());
    let [mut most, mut blocks] = [(); 2].map(|()| array(&device, &[0]));
    greatest(&x, &mut most, &mut blocks).grid([4]).run().unwrap();
    assert_eq!(
        [most.download().unwrap(), blocks.download().unwrap()],
        [[*values.iter().max().unwrap()], [1]]
    );

    let at: Vec<i32> = (0..256).map(|i| (i * 7) % 24).collect();
    let by: Vec<i32> = (0..256).map(|i| 100 - (i * 13) % 90).collect();
    let mut best = array(&device, &[77; 24]);
    relaxes(&array(&device, &at), &array(&device, &by), &mut best).grid([4]).run().unwrap();
    let least_of =
        |n: i32| at.iter().zip(&by).filter(|(at, _)| **at == n).map(|(_, by)| *by).min().unwrap().min(77);
    assert_eq!(best.download().unwrap(), (0..24).map(least_of).collect::<Vec<i32>>());
    let mut one = array(&device, &[1000]);
    least(&x, &mut one).grid([4]).run().unwrap();
    assert_eq!(one.download().unwrap(), [*values.iter().min().unwrap()]);

    let mut out = array(&device, &[0; 4]);
    for message in [
        refused(counts(&mut one, &mut out)),
        refused(tells_what_it_saw(&x, &mut one, &mut out)),
        refused(stores_after_a_look(&x, &mut one).grid([4])),
    ] {
        assert!(message.contains("not proved to keep to elements of their own"), "{message}");
        assert!(message.contains("tile/tests/launch/idioms.rs:"), "{message}");
    }
}

/// `x[i] *= 2`, by tiles of `N` elements: of fewer than a block has threads, several threads have one element.
#[kernel]
fn doubles<const N: usize>(x: &mut Array<i32, 1>) {
    let values = x.tiles([N]).load((bid(0),));
    x.tiles_mut([N]).store((bid(0),), values * 2);
}

/// Rows that are summed up in place, and a counter of one element: the first of a row is updated by all that hold it.
#[kernel]
fn accumulates(x: &Array<i32, 2>, y: &mut Array<i32, 2>, rows: &mut Array<i32, 1>, iterations: Scalar<i32>) {
    let row = bid(0);
    for k in 0..iterations {
        let part = x.tiles([1, 128]).load((row, k));
        let before = y.tiles([1, 128]).load((row, 0));
        y.tiles_mut([1, 128]).store((row, 0), before + part);
        let sum = rows.tiles([1]).load((row,)) + part.sum(1);
        rows.tiles_mut([1]).store((row,), sum);
    }
    // By index, and by a tile that is broadcast and reduced between.
    let at = arange::<i32>(128);
    let last = y.gather((row, at));
    y.scatter((row, at), last + rows.tiles([1]).load((row,)).reshape(()));
}

/// `x[i] += x[i + 1]` of one array: a block reads what its neighbour updates.
#[kernel]
fn neighbours(x: &mut Array<i32, 1>) {
    let next = x.slice(0, 1, x.dim(0)).tiles([32]).padding(Padding::Zero).load((bid(0),));
    let own = x.tiles([32]).load((bid(0),));
    x.tiles_mut([32]).store((bid(0),), own + next);
}

/// The same in one block, which reads all before it stores.
#[kernel]
fn shifts(x: &mut Array<i32, 1>) {
    let next = x.slice(0, 1, x.dim(0)).tiles([256]).padding(Padding::Zero).load((0,));
    x.tiles_mut([256]).store((0,), next);
}

#[test]
fn updates_in_place() {
    let device = sim();
    let values: Vec<i32> = (0..256).map(|i| (i * 29) % 64 - 3).collect();
    let doubled: Vec<i32> = values.iter().map(|value| value * 2).collect();
    for launch in [doubles::<1>, doubles::<2>, doubles::<16>, doubles::<256>] {
        let mut x = array(&device, &values);
        launch(&mut x).run().unwrap();
        assert_eq!(x.download().unwrap(), doubled);
    }
    let x = DeviceArray::upload(&device, &values.repeat(4), [2, 512]).unwrap();
    let (mut y, mut rows) =
        (DeviceArray::upload(&device, &[5; 256], [2, 128]).unwrap(), array(&device, &[9; 2]));
    accumulates(&x, &mut y, &mut rows, 3).grid([2]).run().unwrap();
    let sum = 9 + values.iter().sum::<i32>() + values[..128].iter().sum::<i32>();
    assert_eq!(rows.download().unwrap(), [sum; 2]);
    let wanted: Vec<i32> = (0..128).map(|i| 5 + 2 * values[i] + values[128 + i] + sum).collect();
    assert_eq!(y.download().unwrap(), wanted.repeat(2));
    let mut x = array(&device, &values);
    shifts(&mut x).run().unwrap();
    assert_eq!(x.download().unwrap(), [&values[1..], &[0]].concat());

    let message = refused(neighbours(&mut x));
    assert!(message.contains("not proved to keep to elements of their own"), "{message}");
    assert!(message.contains("tile/tests/launch/idioms.rs:"), "{message}");
}
