//! Distributions as layouts and as expressions of the thread's index: against their coordinates one by one.

use girih_codegen::plan::{Dist, Leaf};
use girih_codegen::{Builder, Cond, Expr, Width};
use girih_ptx::{Module, Special};
use girih_sim::Memory;
use girih_tensor::Space;

use crate::simulator::{addresses, block, checked, download, ones};

fn distributions() -> Vec<(Dist, Vec<i64>)> {
    let blocked = |extents: &[i64], order: &[usize], vector, threads| {
        (Dist::blocked(extents, order, vector, threads), extents.to_vec())
    };
    let bits = vec![None, Some((1, 4)), Some((0, 1)), None, None, Some((1, 1)), Some((1, 2))];
    let vals = [(3, 0, 2), (2, 1, 8), (2, 1, 16)];
    let vals = vals.map(|(extent, mode, scale)| Leaf { extent, mode, scale }).to_vec();
    vec![
        blocked(&[8, 64], &[1, 0], 4, 32),
        blocked(&[6, 40], &[0, 1], 2, 64),
        blocked(&[1024], &[0], 8, 128),
        blocked(&[4], &[0], 1, 128),
        (Dist { bits, vals }, vec![6, 32]),
        (Dist::scalar(64), Vec::new()),
    ]
}

#[test]
fn layouts_say_where_each_value_is() {
    for (dist, extents) in distributions() {
        let (rank, extents) = (extents.len(), dist.padded(extents.len()));
        let lay = dist.lay(&extents).unwrap();
        for (thread, value) in (0..dist.threads()).flat_map(|t| (0..dist.size()).map(move |v| (t, v))) {
            let at = dist.origin(thread, rank).into_iter().zip(dist.offset(value, rank));
            let index = at.zip(&extents).rev().fold(0, |index, ((at, by), extent)| index * extent + at + by);
            assert_eq!(lay.at(thread + dist.threads() * value as i64).unwrap(), index, "{dist}: {lay}");
        }
    }
}

/// Each thread stores the coordinate of its first value, and 1 or 0 for whether it is the owner.
fn coordinates(dist: &Dist, rank: usize) -> Result<Module, girih_codegen::Error> {
    let mut b = Builder::new("k", 80, dist.threads() as u32);
    let (y, thread) = (b.pointer("y", 4), b.special(Special::TidX));
    let mut stored = dist.coordinate(&thread, rank)?;
    stored.push(Expr::from(1));
    let row = &thread * (4 * stored.len() as i64);
    for (i, number) in stored.iter().enumerate() {
        let cond = if i == rank { dist.owner(&thread)? } else { Cond::Always };
        let reg = b.value(number, Width::W32)?;
        b.store(Space::Gmem, &(&(&y + &row) + 4 * i as i64), &[reg], &cond)?;
    }
    Ok(b.finish()?.into_module())
}

#[test]
fn threads_know_their_coordinates_and_the_first_of_those_with_copies_owns_them() {
    for (dist, extents) in distributions() {
        let rank = extents.len();
        let module = coordinates(&dist, rank).unwrap();
        let (memory, length) = (Memory::new(), dist.threads() as usize * 4 * (rank + 1));
        let y = ones(&memory, length);
        let launch = block(dist.threads() as u32, 0, addresses(&[y]));
        checked(&module, &memory, &launch).unwrap_or_else(|e| panic!("{dist}: {e}\n{module}"));
        let found = download(&memory, y, length);
        let found: Vec<i32> =
            found.chunks(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap())).collect();
        let origins: Vec<Vec<i64>> = (0..dist.threads()).map(|thread| dist.origin(thread, rank)).collect();
        for (thread, (found, origin)) in found.chunks(rank + 1).zip(&origins).enumerate() {
            let coordinate: Vec<i64> = found[..rank].iter().copied().map(i64::from).collect();
            assert_eq!(coordinate, *origin, "{dist}: thread {thread}");
            let owns = !origins[..thread].contains(origin);
            assert_eq!(found[rank], if owns { 1 } else { -1 }, "{dist}: thread {thread}");
        }
    }
}
