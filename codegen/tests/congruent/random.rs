//! Pairs of partitions are accepted exactly if an enumeration of threads and values says that they are congruent.

use girih_codegen::algorithm::{copy, transform};
use girih_codegen::atom::*;
use girih_codegen::{Builder, Error, Gmem, Operand, Rmem, Smem, TiledCopy, TiledMma};
use girih_layout::{Lay, Tile, lay};
use girih_ptx::Special;
use girih_tensor::{DType, Engine, Index, Slice, Tensor};
use proptest::prelude::*;

const THREADS: i64 = 64;
/// Rows and columns of the tile.
const TILE: i64 = 32;

/// Each value is its own number.
static NUMBERS: [i32; (TILE * TILE) as usize] = {
    let mut numbers = [0; (TILE * TILE) as usize];
    let mut i = 0;
    while i < numbers.len() {
        numbers[i] = i as i32;
        i += 1;
    }
    numbers
};

/// A way to hand out a tile to 64 threads.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few of them")]
enum Way {
    Copy(TiledCopy),
    Mma(TiledMma),
    Tv(Lay),
}

impl Way {
    fn partition<E: Engine<Index = I>, I: Index>(&self, tensor: &Tensor<E>, thread: &I) -> Tensor<E> {
        match self {
            Way::Copy(copy) => copy.get_slice(thread).unwrap().partition_d(tensor).unwrap(),
            Way::Mma(mma) => mma.get_slice(thread).unwrap().partition(Operand::C, tensor).unwrap(),
            Way::Tv(tv) => tensor.tv_partition(tv, thread).unwrap(),
        }
    }
}

/// Two warps, and the columns of the tile in some order.
fn mmas() -> impl Strategy<Value = TiledMma> {
    (any::<bool>(), 0..3usize).prop_map(|(along_m, permuted)| {
        let atoms = if along_m { lay!("(2,1,1)") } else { lay!("(1,2,1)") };
        let order = [Tile::All, Tile::Lay(lay!("32:1")), Tile::Lay(lay!("(8,2,2):(1,16,8)"))][permuted];
        let mma = TiledMma::new(SM80_16X8X8_F32TF32TF32F32_TN, atoms).unwrap();
        mma.with_permutation([Tile::All, order, Tile::All])
    })
}

fn ways() -> impl Strategy<Value = Way> {
    let order =
        |m: i64, n: i64, rows: bool| Lay::strided([m, n], if rows { [n, 1] } else { [1, m] }).unwrap();
    let copies = (1u32..=5, 0u32..=2, 0u32..=2, any::<[bool; 2]>(), 0..3usize);
    let copies = copies.prop_filter_map("a copy of the tile", move |(m, vm, vn, rows, atom)| {
        let (threads, values) = ((1 << m, THREADS >> m), (1 << vm, 1 << vn));
        let inside = threads.0 * values.0 <= TILE && threads.1 * values.1 <= TILE;
        let atom = [UNIVERSAL_COPY_32, UNIVERSAL_COPY_64, UNIVERSAL_COPY_128][atom];
        let layouts = [order(threads.0, threads.1, rows[0]), order(values.0, values.1, rows[1])];
        let copy = inside.then(|| TiledCopy::new(atom, 32, &layouts[0], &layouts[1]).ok())??;
        Some(copy)
    });
    let of_mma = (mmas(), 0..2usize).prop_filter_map("an atom that divides the fragments", |(mma, atom)| {
        TiledCopy::of_mma([UNIVERSAL_COPY_32, UNIVERSAL_COPY_64][atom], 32, &mma, Operand::C).ok()
    });
    prop_oneof![
        3 => copies.clone().prop_map(Way::Copy),
        2 => of_mma.prop_map(Way::Copy),
        2 => mmas().prop_map(Way::Mma),
        1 => copies.prop_map(|copy| Way::Tv(copy.layout_d_tv(&[TILE, TILE]).unwrap())),
    ]
}

/// The elements that the threads have, by the host's partition.
fn elements(way: &Way, cut: Option<i64>) -> Vec<Vec<i32>> {
    let tile = Tensor::host(&NUMBERS, Lay::col_major([TILE, TILE]).unwrap()).unwrap();
    let mine = |thread| cut_at(&way.partition(&tile, &thread), cut).to_vec().unwrap();
    (0..THREADS).map(mine).collect()
}

/// Whether the same thread and value have the same element, counted from where each part begins in rows and columns.
fn congruent(held: [&[Vec<i32>]; 2]) -> bool {
    let mut all = (0..THREADS as usize).flat_map(|t| (0..held[0][0].len()).map(move |v| (t, v)));
    all.all(|(t, v)| apart(held, t, v) == apart(held, 0, 0))
}

fn apart(held: [&[Vec<i32>]; 2], t: usize, v: usize) -> [i32; 2] {
    let [a, b] = held.map(|held| [held[t][v] % TILE as i32, held[t][v] / TILE as i32]);
    [a[0] - b[0], a[1] - b[1]]
}

/// A subtensor at a coordinate of the last mode, if there are several.
fn cut_at<E: Engine>(tensor: &Tensor<E>, at: Option<i64>) -> Tensor<E>
where
    E::Index: From<i64>,
{
    let rank = tensor.layout().rank();
    let Some(at) = at.filter(|_| rank > 1 && !tensor.layout().is_leaf()) else { return tensor.clone() };
    let last = tensor.layout().mode(rank - 1).unwrap().size().unwrap().get().unwrap();
    let all = (1..rank).map(|_| Slice::All);
    tensor.slice(Slice::tuple(all.chain([Slice::At((at % last).into())]))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Memory and a fragment, and two fragments, are congruent exactly if the elements of the same thread and value are the same,
    /// counted from where a subtensor begins.
    #[test]
    fn congruent_is_what_has_the_same_elements(
        first in ways(),
        other in ways(),
        same in any::<bool>(),
        cuts in prop::option::of(any::<[u8; 2]>()),
    ) {
        let ways = [first.clone(), if same { first } else { other }];
        let modes = ways.iter().all(|way| !matches!(way, Way::Tv(_)));
        let cuts = [0, 1].map(|i| cuts.filter(|_| modes).map(|cuts| i64::from(cuts[i])));
        let held = [elements(&ways[0], cuts[0]), elements(&ways[1], cuts[1])];
        prop_assume!(held[0][0].len() == held[1][0].len());
        let held = [&held[0][..], &held[1][..]];
        let expected = congruent(held);

        let mut b = Builder::new("k", 80, THREADS as u32);
        let thread = b.special(Special::TidX);
        let layouts = [Lay::col_major([TILE, TILE]).unwrap(), lay!("((4,8),32):((1,128),4)")];
        let matrix = |b: &mut Builder, i: usize| {
            Tensor::new(Gmem::new(b.pointer(&format!("x{i}"), 16), DType::F32), layouts[i])
        };
        let tiles = [matrix(&mut b, 0), matrix(&mut b, 1)];
        let parts = [0, 1].map(|i| ways[i].partition(&tiles[i], &thread));
        let fragments = [0, 1].map(|i| {
            let mine = Rmem::like(&mut b, &parts[i]).unwrap();
            cut_at(&mine, cuts[i])
        });
        let parts = [0, 1].map(|i| cut_at(&parts[i], cuts[i]));
        let outcomes = [
            transform(&mut b, &[&fragments[0]], &fragments[1], |_, x| Ok(x[0].clone())),
            copy(&mut b, AUTO_VECTORIZING_COPY, &fragments[0], &fragments[1]),
            copy(&mut b, AUTO_VECTORIZING_COPY, &fragments[0], &parts[1]),
            copy(&mut b, AUTO_VECTORIZING_COPY, &parts[0], &fragments[1]),
            copy(&mut b, AUTO_VECTORIZING_COPY, &parts[0], &parts[1]),
        ];
        for (i, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Ok(()) => prop_assert!(expected, "{i}: {ways:?}"),
                Err(Error::Incongruent(found)) => {
                    prop_assert!(!expected, "{i}: {ways:?}");
                    let (t, v) = (found.thread as usize, found.value as usize);
                    prop_assert!(apart(held, t, v) != apart(held, 0, 0), "{i}: {ways:?}: ({t},{v})");
                }
                Err(error) => prop_assert!(false, "{i}: {error}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// `ldmatrix` brings values from rows that other lanes read, into a fragment with the elements that the copy writes.
    #[test]
    fn lanes_get_what_others_read(mma in mmas(), target in ways(), matrices in 0..3usize, retiled in any::<bool>()) {
        let atom = [SM75_U32X1_LDSM_N, SM75_U32X2_LDSM_N, SM75_U32X4_LDSM_N][matrices];
        let load = TiledCopy::of_mma(atom, 32, &mma, Operand::C).unwrap();
        let target = if retiled { Way::Mma(mma) } else { target };
        let mut held = [elements(&Way::Copy(load), None), elements(&target, None)];
        prop_assume!(held[0][0].len() == held[1][0].len());

        let mut b = Builder::new("k", 80, THREADS as u32);
        let thread = b.special(Special::TidX);
        let tile = Smem::alloc(&mut b, DType::F32, None, &Lay::col_major([TILE, TILE]).unwrap()).unwrap();
        let fragment = Rmem::like(&mut b, &target.partition(&tile, &thread)).unwrap();
        let mine = load.get_slice(&thread).unwrap();
        let fragment = if retiled {
            let retiled = mine.retile_d(&fragment).unwrap();
            let order: Vec<i64> = retiled.layout().indices().unwrap().collect();
            held[1] = held[1].iter().map(|all| order.iter().map(|&i| all[i as usize]).collect()).collect();
            retiled
        } else {
            fragment
        };
        let expected = congruent([&held[0], &held[1]]);
        let outcome = copy(&mut b, &load, &mine.partition_s(&tile).unwrap(), &fragment);
        // The atom does not read rows of C, wherever the elements belong.
        let is_refused = matches!(outcome, Err(Error::Incongruent(_)));
        prop_assert_eq!(is_refused, !expected, "{:?}, {:?}: {:?}", mma, target, outcome);
    }
}
