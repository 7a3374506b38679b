//! Compares the maps that are found with all maps there are, and with random ones.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::plan::*;
use girih_layout::{Composed, F2Matrix, Lay, lay};
use proptest::prelude::*;

/// A layout of powers of two with any columns.
fn columns(groups: [&[u64]; 2]) -> Lay {
    let text = |first: &str, columns: &[u64], each: &dyn Fn(&u64) -> String| {
        format!("({first}{})", columns.iter().map(each).collect::<String>())
    };
    let shape = groups.map(|group| text("1", group, &|_| String::from(",2")));
    let stride = groups.map(|group| text("0", group, &|column| format!(",^{column}")));
    Lay::parse(&format!("({}):({})", shape.join(","), stride.join(","))).unwrap()
}

/// The elements that the lanes of each phase ask for, in a memory whose element `x` has the value `x`.
fn phases(bits: i64, accesses: &[Access]) -> Vec<Vec<i64>> {
    let mut out = Vec::new();
    for Access { tv, vector } in accesses {
        let [threads, values] = [0, 1].map(|mode| tv.mode(mode).unwrap().size().unwrap().get().unwrap());
        let together = 128 / (vector * bits / 8).max(4);
        for first in (0..values).step_by(*vector as usize) {
            for warp in (0..threads).step_by(32) {
                let lanes: Vec<i64> = (warp..(warp + 32).min(threads)).collect();
                for phase in lanes.chunks(together as usize) {
                    let of =
                        |&thread: &i64| (first..first + vector).map(move |value| thread + threads * value);
                    out.push(phase.iter().flat_map(of).map(|i| tv.at(i).unwrap()).collect());
                }
            }
        }
    }
    out
}

/// The wavefronts where element `x` lies at `map(x)`: for each phase, the words of its busiest bank. This follows the definition, in bytes.
fn counted(map: &F2Matrix, bits: i64, phases: &[Vec<i64>]) -> i64 {
    let mut words = Vec::new();
    let busiest = |phase: &Vec<i64>| {
        words.clear();
        for &element in phase {
            let begin = map.apply(element).unwrap() * bits / 8;
            words.extend(begin / 4..=(begin + bits / 8 - 1) / 4);
        }
        words.sort_unstable();
        words.dedup();
        let mut banks = [0; 32];
        words.iter().for_each(|word| banks[*word as usize % 32] += 1);
        banks.into_iter().max().unwrap()
    };
    phases.iter().map(busiest).sum()
}

fn identity_of(bits: u32) -> Lay {
    Lay::leaf((1i64 << bits).into(), 1.into()).unwrap()
}

/// Accesses to `2^n` elements of which `2^vector` are contiguous; each lane's column and each further value's is any
/// sum of the bits above those of the vector.
fn accesses(n: u32, vector: u32, count: usize) -> impl Strategy<Value = Vec<Access>> {
    let above = move || (1..1u64 << (n - vector)).prop_map(move |column| column << vector);
    let access =
        (prop::bool::ANY, prop::collection::vec(above(), 1..6), prop::collection::vec(above(), 0..2));
    let access = access.prop_map(move |(wide, lanes, values)| {
        let vector = if wide { vector } else { 0 };
        let values: Vec<u64> = (0..vector).map(|bit| 1 << bit).chain(values).collect();
        Access { tv: columns([&lanes, &values]), vector: 1 << vector }
    });
    prop::collection::vec(access, 1..=count)
}

/// All bijections of `n` bits.
fn bijections(n: u32) -> Vec<F2Matrix> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    for _ in 0..n {
        let more = |columns: Vec<u64>| {
            let with = move |column| [columns.as_slice(), &[column]].concat();
            (1..1u64 << n).map(with).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(more).collect();
        all.retain(|columns| F2Matrix::of_columns(columns).unwrap().rank() == columns.len() as u32);
    }
    all.iter().map(|columns| F2Matrix::of_columns(columns).unwrap()).collect()
}

/// A map of the bits above those of a vector, as a map of all bits.
fn above(map: &F2Matrix, vector: u32) -> F2Matrix {
    let own = map.columns().iter().map(|column| column << vector);
    F2Matrix::of_columns(&(0..vector).map(|bit| 1 << bit).chain(own).collect::<Vec<_>>()).unwrap()
}

fn check(found: &BestMap, bits: i64, n: u32, accesses: &[Access]) -> Result<(), TestCaseError> {
    prop_assert!(found.map.inverse().is_ok(), "{:?} loses elements", found.map);
    let whole = F2Matrix::of_columns(
        &(0..n)
            .map(|bit| found.map.columns().get(bit as usize).copied().unwrap_or(1 << bit))
            .collect::<Vec<_>>(),
    )
    .unwrap();
    prop_assert_eq!(
        found.wavefronts.taken,
        counted(&whole, bits, &phases(bits, accesses)),
        "{:?}",
        found.map
    );
    let (_, swizzled) = best_swizzle(&identity_of(n), bits, accesses).unwrap();
    prop_assert!(found.wavefronts.taken <= swizzled.taken);
    Ok(())
}

/// Whether the widest vector keeps its order: its columns stay, and no other column has a bit of them.
fn keeps(map: &F2Matrix, vector: i64) -> bool {
    let inside = vector as u64 - 1;
    map.columns().iter().enumerate().all(|(bit, column)| {
        let own = 1 << bit;
        if own & inside != 0 { *column == own } else { column & inside == 0 }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// For 16 elements of 16 bytes, 8 to a wavefront, none of the 20160 maps is better.
    #[test]
    fn no_map_of_sixteen_elements_is_better(accesses in accesses(4, 0, 4)) {
        let found = best_map(&identity_of(4), 128, &accesses, Order::Kept).unwrap();
        check(&found, 128, 4, &accesses)?;
        let phases = phases(128, &accesses);
        let least = bijections(4).iter().map(|map| counted(map, 128, &phases)).min().unwrap();
        prop_assert_eq!(found.wavefronts.taken, least);
        prop_assert!(found.is_optimal);
    }

    /// For 64 words in vectors of four, no map that keeps the vectors' order is better.
    #[test]
    fn no_map_that_keeps_vectors_is_better(accesses in accesses(6, 2, 3)) {
        let found = best_map(&identity_of(6), 32, &accesses, Order::Kept).unwrap();
        check(&found, 32, 6, &accesses)?;
        let widest = accesses.iter().map(|access| access.vector).max().unwrap();
        prop_assert!(keeps(&found.map, widest));
        prop_assert!(found.is_optimal);
        if widest == 4 {
            let phases = phases(32, &accesses);
            let least = bijections(4).iter().map(|map| counted(&above(map, 2), 32, &phases)).min().unwrap();
            prop_assert_eq!(found.wavefronts.taken, least);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// For 64 words in vectors of four in any order, no map is better. Two words share each bank, so that a map is given by the one
    /// element besides the first that comes to bank 0.
    #[test]
    fn no_map_of_whole_vectors_is_better(accesses in accesses(6, 2, 3)) {
        let found = best_map(&identity_of(6), 32, &accesses, Order::Free).unwrap();
        check(&found, 32, 6, &accesses)?;
        prop_assert!(found.is_optimal);
        let map = |alone: u64| {
            let highest = alone.ilog2();
            // The other bits keep their order, and the highest bit of `alone` is placed so that `alone` comes to 32.
            let rank = |bit: u32| if bit > highest { bit - 1 } else { bit };
            let rest = (0..6).filter(|&bit| bit != highest && alone >> bit & 1 == 1).fold(32, |sum, bit| sum ^ 1 << rank(bit));
            F2Matrix::of_columns(&(0..6).map(|bit| if bit == highest { rest } else { 1 << rank(bit) }).collect::<Vec<u64>>()).unwrap()
        };
        let widest = accesses.iter().map(|access| access.vector).max().unwrap() as u64;
        let phases = phases(32, &accesses);
        let least = (widest..64).map(|alone| counted(&map(alone), 32, &phases)).min().unwrap();
        prop_assert_eq!(found.wavefronts.taken, least);
    }

    /// For larger tiles of any elements, the map that is found is never worse than random maps, nor than the best swizzle.
    #[test]
    fn random_maps_are_not_better(
        (log, n, accesses) in (0u32..5, 7u32..12).prop_flat_map(|(log, n)| {
            (Just(log), Just(n), accesses(n, 4 - log, 4))
        }),
        rows in prop::collection::vec(prop::collection::vec(any::<u64>(), 12), 16),
    ) {
        let bits = 8 << log;
        let free = best_map(&identity_of(n), bits, &accesses, Order::Free).unwrap();
        let kept = best_map(&identity_of(n), bits, &accesses, Order::Kept).unwrap();
        check(&free, bits, n, &accesses)?;
        check(&kept, bits, n, &accesses)?;
        prop_assert!(free.wavefronts.taken <= kept.wavefronts.taken);
        let widest = accesses.iter().map(|access| access.vector).max().unwrap();
        prop_assert!(keeps(&kept.map, widest));
        // The bits within a word stay in any case.
        let vector = (widest.ilog2()).max(2u32.saturating_sub(log));
        let phases = phases(bits, &accesses);
        for columns in rows {
            let columns: Vec<u64> = columns[..(n - vector) as usize].iter().map(|c| c & ((1 << (n - vector)) - 1)).collect();
            let random = F2Matrix::of_columns(&columns).unwrap();
            if random.inverse().is_ok() && kept.is_optimal {
                prop_assert!(kept.wavefronts.taken <= counted(&above(&random, vector), bits, &phases));
            }
        }
    }
}

/// Every map conflicts with one of these accesses: with 16 bytes an element, the accesses are the lines of a plane over F2, and no set
/// of banks misses all of them.
#[test]
fn where_no_map_is_free_of_conflicts_the_least_is_proved() {
    // Every non-zero element of the 16 is the difference of two lanes that are served together.
    let pairs: Vec<Access> =
        (1..16).map(|column| Access { tv: columns([&[column], &[]]), vector: 1 }).collect();
    let best = best_map(&identity_of(4), 128, &pairs, Order::Kept).unwrap();
    assert_eq!((best.wavefronts.to_string().as_str(), best.is_optimal), ("16 (15 at the least)", true));
}

/// A tile whose rows are no power of two has no period to map, and sets of words that are not linear are counted.
#[test]
fn tiles_without_a_period_stay_and_uneven_accesses_are_counted() {
    let columns = Access { tv: lay!("(32,32):(1,32)"), vector: 1 };
    let padded = best_map(&lay!("(32,32):(33,1)"), 32, &[columns], Order::Kept).unwrap();
    assert!(padded.wavefronts.is_least() && padded.is_optimal);
    // 24 lanes down a column of 96 x 32.
    let uneven = Access { tv: lay!("(24,(4,32)):(1,(24,96))"), vector: 1 };
    let best = best_map(&lay!("(96,32):(32,1)"), 32, &[uneven], Order::Kept).unwrap();
    assert!(best.wavefronts.is_least() && best.is_optimal, "{best:?}");
    // In 24 x 32 elements, a map permutes 8 rows at a time.
    let uneven = Access { tv: lay!("(24,32):(1,24)"), vector: 1 };
    let best = best_map(&lay!("(24,32):(32,1)"), 32, &[uneven], Order::Kept).unwrap();
    assert_eq!((best.wavefronts.to_string().as_str(), best.is_optimal), ("96 (32 at the least)", false));
}

#[test]
fn maps_refuse_what_no_instruction_accesses() {
    // These vectors of four begin at element 2.
    let beside = Access { tv: lay!("(4,4):(8,1)"), vector: 4 };
    let moved = lay!("(32):(1)").group(0, 1).unwrap();
    assert!(best_map(&moved, 32, &[beside], Order::Kept).is_ok());
    let beside = Access { tv: lay!("(4,4):(6,1)"), vector: 4 };
    let error = best_map(&moved, 32, &[beside], Order::Kept).unwrap_err().to_string();
    assert!(error.contains("value 0 of thread 1 begins at element 6"), "{error}");
    let error = best_map(&moved, 24, &[], Order::Kept).unwrap_err().to_string();
    assert!(error.contains("a power of two of bits"), "{error}");
}

/// The layout that a map makes takes as many wavefronts as the map is said to take.
#[test]
fn the_map_as_a_layout_is_the_same_memory() {
    let tile = lay!("(32,32):(32,1)");
    let columns = Access { tv: lay!("(32,32):(1,32)"), vector: 1 };
    let pairs = Access { tv: lay!("((16,2),(2,16)):((2,512),(1,32))"), vector: 1 };
    let best = best_map(&tile, 32, &[columns, pairs], Order::Kept).unwrap();
    let layout = best.map.after(&F2Matrix::of_layout(&tile).unwrap()).unwrap().layout(tile.shape()).unwrap();
    let memory = Composed::new(girih_layout::Swizzle::NONE, 0, layout);
    let all = [columns, pairs]
        .iter()
        .flat_map(|a| warp_accesses(&memory, &a.tv, 32, a.vector).unwrap())
        .map(|a| a.wavefronts())
        .sum::<Pieces>();
    assert_eq!(all, best.wavefronts);
}
