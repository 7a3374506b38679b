//! Bank conflicts and sectors against formulas, and the copies and swizzles that are synthesised.

use girih_codegen::plan::*;
use girih_layout::{Composed, Int, Lay, Swizzle};
use proptest::prelude::*;

fn layout(shape: &[i64], stride: &[i64]) -> Lay {
    Lay::strided(shape.iter().copied(), stride.iter().copied()).unwrap()
}

fn access(bytes: i64, address: impl Fn(i64) -> i64) -> WarpAccess {
    WarpAccess { warp: 0, value: 0, addresses: (0..32).map(address).collect(), bytes }
}

/// The xor of the columns that a number's bits choose.
fn chosen(columns: &[i64], number: i64) -> i64 {
    columns.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1).fold(0, |sum, (_, column)| sum ^ column)
}

fn rank(mut columns: Vec<i64>) -> u32 {
    let mut rank = 0;
    while let Some(column) = columns.pop() {
        if column != 0 {
            rank += 1;
            let low = column & -column;
            columns.iter_mut().filter(|c| **c & low != 0).for_each(|c| *c ^= column);
        }
    }
    rank
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Where the words of the lanes are linear over F2, an access takes 2^(rank of the words - rank of the banks) wavefronts ("Linear
    /// Layouts", 2025, bank conflicts).
    #[test]
    fn wavefronts_of_linear_accesses_follow_from_ranks(words in prop::array::uniform5(0i64..1024)) {
        let pieces = access(4, |lane| 4 * chosen(&words, lane)).wavefronts();
        let all = rank(words.to_vec());
        let banks = rank(words.iter().map(|w| w % 32).collect());
        prop_assert_eq!(pieces.taken, 1 << (all - banks));
        prop_assert_eq!(pieces.least, 1);
    }

    /// A conflict is reported exactly where an access takes more wavefronts than the least, and both lanes ask the bank.
    #[test]
    fn conflicts_are_told_with_the_lanes(
        addresses in prop::collection::vec(0i64..64, 1..32), bytes in prop::sample::select(vec![1i64, 2, 4, 8, 16]),
    ) {
        let addresses: Vec<i64> = addresses.into_iter().map(|at| at * bytes).collect();
        let access = WarpAccess { warp: 0, value: 0, addresses, bytes };
        match access.conflict() {
            None => prop_assert!(access.wavefronts().is_least()),
            Some(Conflict { lanes, bank, ways }) => {
                prop_assert!(!access.wavefronts().is_least() && ways > 1);
                for lane in lanes {
                    let at = access.addresses[lane as usize];
                    prop_assert!((at / 4..=(at + bytes - 1) / 4).any(|word| word % 32 == bank));
                }
            }
        }
    }

    /// The sectors are those of the set of all bytes.
    #[test]
    fn sectors_are_those_of_the_bytes(
        addresses in prop::collection::vec(0i64..600, 1..32), bytes in prop::sample::select(vec![1i64, 2, 4, 8, 16]),
    ) {
        let mut all: Vec<i64> = addresses.iter().flat_map(|at| (0..bytes).map(move |i| at * bytes + i)).collect();
        all.sort_unstable();
        all.dedup();
        let mut sectors: Vec<i64> = all.iter().map(|byte| byte / 32).collect();
        sectors.dedup();
        let addresses = addresses.into_iter().map(|at| at * bytes).collect();
        let pieces = WarpAccess { warp: 0, value: 0, addresses, bytes }.sectors();
        prop_assert_eq!(pieces.taken, sectors.len() as i64);
        prop_assert_eq!(pieces.least, (all.len() as i64 + 31) / 32);
    }
}

/// Rows of 16 * 2^b bytes under `Sw<b,4,3>`, in bytes: eight rows at any 16-byte column take one wavefront, written or
/// read.
#[test]
fn canonical_swizzles_serve_every_column_at_once() {
    for b in 0..=3u32 {
        let (swizzle, pitch) = (Swizzle::new(b, 4, 3).unwrap(), 16i64 << b);
        for column in 0..1 << b {
            let at = |row: i64| swizzle.apply(row * pitch + 16 * column);
            let addresses: Vec<i64> = (0..8).map(at).collect();
            let pieces = WarpAccess { warp: 0, value: 0, addresses, bytes: 16 }.wavefronts();
            assert_eq!((pieces.taken, pieces.least), (1, 1), "rows of {pitch} bytes, column {column}");
        }
    }
}

/// A 16 x 16-byte block of a tile with contiguous mode 1: what `ldmatrix.x4` and `stmatrix.x4` read and write, the
/// lanes' rows first along mode 0.
fn matrices([x, y]: [i64; 2], bits: i64) -> Access {
    let row = 128 / bits;
    let tv = [[16, 2, row, x / 16, y / (2 * row)], [1, row * x, x, 16, 2 * row * x]];
    Access { tv: grouped(&tv, 2), vector: row }
}

/// The same block of a tile with contiguous mode 0, for `.trans`: matrices of 8 k by 8 x.
fn transposed([x, y]: [i64; 2]) -> Access {
    let tv = [[8, 2, 2, 8, x / 16, y / 16], [x, 8, 8 * x, 1, 16, 16 * x]];
    Access { tv: grouped(&tv, 3), vector: 8 }
}

/// `(Thr,Val)`, the first `threads` leaves of shape and stride the threads.
fn grouped<const N: usize>([shape, stride]: &[[i64; N]; 2], threads: usize) -> Lay {
    let flat = layout(shape, stride);
    flat.group(0, threads).unwrap().group(1, 1 + N - threads).unwrap()
}

#[test]
fn synthesis_finds_full_sectors_and_no_conflicts() {
    let tiles = [64i64, 128, 256].into_iter().flat_map(|x| [64i64, 128].map(|y| [x, y]));
    for (extents, bits, row_major) in
        tiles.flat_map(|e| [8i64, 16, 32].into_iter().flat_map(move |b| [true, false].map(|r| (e, b, r))))
    {
        let [x, y] = extents;
        let name = format!("({x},{y}) of {bits} bits, {}", if row_major { "rows" } else { "columns" });
        // The tile lies in a matrix of 4096 elements in each mode.
        let global = layout(&extents, if row_major { &[4096, 1] } else { &[1, 4096] });
        let copy = coalesced_copy(&global, 256, bits).unwrap();
        let vector = i64::from(copy.atom.bits()) / bits;
        assert_eq!(vector * bits, 128, "{name}");
        let (memory, tv) = (Composed::new(Swizzle::NONE, 0, global), copy.layout_s_tv(&extents).unwrap());
        for access in warp_accesses(&memory, &tv, bits, vector).unwrap() {
            assert!(access.sectors().is_least(), "{name}: {}", access.sectors());
        }

        let shared = layout(&extents, &if row_major { [y, 1] } else { [1, x] });
        let mut accesses = vec![Access { tv, vector }];
        match (row_major, bits) {
            // Reads by ldmatrix and the epilogue's stmatrix are the same access.
            (true, _) => accesses.push(matrices(extents, bits)),
            (false, 16) => accesses.push(transposed(extents)),
            // Only 16-bit elements can be transposed by the instruction.
            (false, _) => {}
        }
        for access in &accesses {
            exactly_once(&access.tv, &layout(&extents, &[1, x]).shape().clone()).unwrap();
        }
        let (swizzle, wavefronts) = best_swizzle(&shared, bits, &accesses).unwrap();
        assert!(wavefronts.is_least(), "{name}: {swizzle} takes {wavefronts}");
        // Rows of 128 bytes and more need a swizzle for accesses by matrices.
        let plain = Composed::new(Swizzle::NONE, 0, shared);
        let all = |access: &Access| warp_accesses(&plain, &access.tv, bits, access.vector).unwrap();
        let plain: Pieces = accesses.iter().flat_map(all).map(|access| access.wavefronts()).sum();
        assert_eq!(plain.is_least(), accesses.len() == 1, "{name}");
    }
}

/// For accesses that no swizzle serves, the conflicts are counted.
#[test]
fn rows_and_columns_of_words_have_no_swizzle_of_whole_vectors() {
    // The accesses are 16-byte rows and 4-byte columns of a 32 x 32 tile of f32: the column's words are in one of four banks.
    let tile = layout(&[32, 32], &[32, 1]);
    let rows = Access { tv: grouped(&[[8, 32, 4], [128, 1, 32]], 2), vector: 4 };
    let columns = Access { tv: grouped(&[[32, 32], [1, 32]], 1), vector: 1 };
    let (_, both) = best_swizzle(&tile, 32, &[rows, columns]).unwrap();
    assert!(!both.is_least());
    let (swizzle, alone) = best_swizzle(&tile, 32, &[columns]).unwrap();
    assert!(alone.is_least() && swizzle == Swizzle::new(5, 0, 5).unwrap(), "{swizzle} {alone}");
}

#[test]
fn refusals_say_what_would_be_accepted() {
    let tile = Composed::new(Swizzle::NONE, 0, layout(&[8, 8], &[8, 1]));
    let tv = layout(&[8, 8], &[1, 8]);
    let cases = [
        (warp_accesses(&tile, &tv, 16, 3).unwrap_err(), "as many values as vectors hold"),
        // No access takes 32 bytes at a time, or 12.
        (warp_accesses(&tile, &tv, 32, 8).unwrap_err(), "1, 2, 4, 8 or 16 bytes"),
        (warp_accesses(&tile, &layout(&[4, 6], &[6, 1]), 16, 6).unwrap_err(), "1, 2, 4, 8 or 16 bytes"),
        (
            warp_accesses(&tile, &layout(&[8, 8], &[8, 1]), 16, 2).unwrap_err(),
            "values of a vector next to each other",
        ),
        (coalesced_copy(&layout(&[8, 8], &[16, 2]), 8, 16).unwrap_err(), "a mode of stride 1"),
        (coalesced_copy(&layout(&[8, 8], &[8, 1]), 8, 12).unwrap_err(), "8, 16, 32, 64 or 128 bits"),
        (
            coalesced_copy(&Lay::leaf(Int::fixed(8), girih_layout::Stride::ZERO).unwrap(), 8, 16)
                .unwrap_err(),
            "two modes",
        ),
    ];
    for (error, accepted) in cases {
        assert!(error.to_string().contains(accepted), "{error}");
    }
}

/// For tiles that are no powers of two, a copy is found wherever threads in rows divide vectors in rows. The copy has the widest such
/// vectors, and the longest rows of threads; 96 columns of bf16 in vectors of 16 bytes by 128 threads, for example.
#[test]
fn copies_of_any_tile_that_rows_of_threads_divide_are_found() {
    let mut found = 0;
    for (rows, columns) in
        [(16, 24), (64, 96), (96, 48), (100, 60), (12, 20), (7, 9), (3, 1), (1, 3), (24, 24)]
    {
        for (threads, bits) in
            [32i64, 48, 96, 128, 21, 1].into_iter().flat_map(|t| [8, 16, 32, 64].map(|b| (t, b)))
        {
            let global = layout(&[rows, columns], &[columns, 1]);
            let along = |vector: i64| {
                let divides = |along: &i64| {
                    let across = threads / along;
                    threads % along == 0 && columns % (vector * along) == 0 && rows % across == 0
                };
                (1..=threads).rev().find(divides)
            };
            // Rows follow each other without padding, so that vectors must divide them.
            let wanted = (0..=4).rev().map(|log| 1 << log).filter(|v| v * bits <= 128 && columns % v == 0);
            let wanted = wanted.filter_map(|vector| Some((vector, along(vector)?))).next();
            let name = format!("({rows},{columns}) of {bits} bits by {threads}");
            let Some((vector, along)) = wanted else {
                assert!(coalesced_copy(&global, threads, bits).is_err(), "{name}");
                continue;
            };
            found += 1;
            let copy =
                coalesced_copy(&global, threads, bits).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(i64::from(copy.atom.bits()), vector * bits, "{name}");
            assert_eq!(copy.extents().unwrap(), [threads / along, along * vector], "{name}");
            let tv = copy.layout_s_tv(&[rows, columns]).unwrap();
            exactly_once(&tv, global.shape()).unwrap();
            warp_accesses(&Composed::new(Swizzle::NONE, 0, global), &tv, bits, vector).unwrap();
        }
    }
    assert!(found > 40, "{found}");
    let copy = coalesced_copy(&layout(&[64, 96], &[96, 1]), 128, 16).unwrap();
    assert_eq!((copy.atom.bits(), copy.extents().unwrap()), (128, vec![32, 32]));
}
