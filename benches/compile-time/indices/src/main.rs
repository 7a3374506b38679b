//! Nanoseconds that typed layouts with dynamic integers take, the empty loop among them: the least of 15 times 10^6 indices.

use std::hint::black_box;
use std::time::Instant;

use girih_layout::Error;
use girih_typed::{int, layout};

fn time(name: &str, mut index: impl FnMut(usize) -> usize) {
    const ROUNDS: usize = 1_000_000;
    let least = (0..15).map(|_| {
        let start = Instant::now();
        for i in 0..ROUNDS {
            black_box(index(black_box(i & 127)));
        }
        start.elapsed().as_nanos() as f64 / ROUNDS as f64
    });
    println!("{name}: {:.2} ns", least.fold(f64::MAX, f64::min));
}

fn main() -> Result<(), Error> {
    let (n, ld) = (black_box(64usize), black_box(70usize));
    time("empty loop", |i| i);
    let a = layout!((128, n) : (ld, 1));
    time("(128,n):(ld,1) at (i,j)", |i| a.at((i, i)));
    let b = layout!(((4, 2), (8, n)) : ((1, 64), (4, {2 * n})));
    time("((4,2),(8,n)):((1,64),(4,2n)) at ((i,j),(k,l))", |i| b.at(((i & 3, i & 1), (i & 7, i))));
    time("the same at (i,j)", |i| b.at((i & 7, i)));
    time("the same at i", |i| b.at(i));
    let tiles = a.try_zipped_divide((int!(32), int!(16)))?;
    time("((32,16),(4,4)):((ld,1),(32ld,16)) at ((i,j),(k,l))", |i| tiles.at(((i & 31, i & 15), (i & 3, 1))));
    let right = layout!((16, 2) : (1, 16));
    time("try_composition and an index", |_| black_box(a).try_composition(right).map_or(0, |l| l.at(1)));
    time("try_zipped_divide and an index", |_| {
        black_box(a).try_zipped_divide((int!(32), int!(16))).map_or(0, |l| l.at(1))
    });
    Ok(())
}
