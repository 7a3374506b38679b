//! Fragments of three tilings are multiplied exactly if the instructions give the product of the matrices.

use girih_codegen::algorithm::gemm;
use girih_codegen::atom::SM80_16X8X8_F32TF32TF32F32_TN;
use girih_codegen::{Builder, Error, Gmem, Operand, TiledMma};
use girih_layout::{Lay, Tile, lay};
use girih_ptx::Special;
use girih_tensor::Tensor;
use proptest::prelude::*;

/// Fragments of an MMA's operands, from tilings with as many values but in other orders.
fn tilings() -> impl Strategy<Value = [TiledMma; 3]> {
    let orders = [Tile::All, Tile::Lay(lay!("32:1")), Tile::Lay(lay!("(8,2,2):(1,16,8)"))];
    let depths = [
        Tile::All,
        Tile::Lay(lay!("16:1")),
        Tile::Lay(lay!("(4,2,2):(1,8,4)")),
        Tile::Lay(lay!("(2,8):(8,1)")),
        Tile::Lay(lay!("(8,2,2):(1,16,8)")),
    ];
    let one = (
        prop_oneof![3 => Just(0), 1 => 1..3usize],
        prop_oneof![3 => Just(0), 1 => 1..5usize],
        prop_oneof![5 => Just(false), 1 => Just(true)],
    );
    let one = one.prop_map(move |(order, depth, swapped)| {
        let atoms = if swapped { lay!("(2,2,1):(2,1,4)") } else { lay!("(2,2,1):(1,2,4)") };
        let mma = TiledMma::new(SM80_16X8X8_F32TF32TF32F32_TN, atoms).unwrap();
        mma.with_permutation([Tile::All, orders[order], depths[depth]])
    });
    [one.clone(), one.clone(), one]
}

/// What the instructions of [`gemm`] add to each value of C, by their definition: the elements of a thread's fragments are those of
/// the tilings that made them.
fn multiplied(tilings: &[TiledMma; 3], numbers: [&[i64]; 2]) -> bool {
    const LANES: usize = 32;
    let atom = &tilings[0].atom;
    let held = |operand: Operand| -> Vec<Vec<i32>> {
        let modes = operand.modes().map(|mode| [64, 32, 32][mode]);
        let tile = Tensor::host(&NUMBERS, Lay::col_major(modes).unwrap()).unwrap();
        let mma = &tilings[operand as usize];
        let mine = |t| mma.get_slice(&t).unwrap().partition(operand, &tile).unwrap().to_vec().unwrap();
        (0..128i64).map(mine).collect()
    };
    let all = Operand::ALL.map(held);
    let each = [4, 2, 4]; // values of an instruction
    let rest = [[2, 4], [2, 4], [2, 2]]; // instructions along the operand's modes
    let sums = |warp: usize, i: usize, j: usize| {
        let mut sums = vec![0; 16 * 8];
        for k in 0..rest[0][1] {
            let matrix = |x: usize, place: usize| {
                let layout = [atom.a, atom.b][x];
                let mut matrix = vec![0; [16, 8][x] * 8];
                for (lane, v) in (0..LANES).flat_map(|lane| (0..each[x]).map(move |v| (lane, v))) {
                    let value = v + each[x] * (place + rest[x][0] * k);
                    let element = all[x][warp * LANES + lane][value] as usize;
                    matrix[layout.at((lane + LANES * v) as i64).unwrap() as usize] = numbers[x][element];
                }
                matrix
            };
            let (a, b) = (matrix(0, i), matrix(1, j));
            for (m, n) in (0..16).flat_map(|m| (0..8).map(move |n| (m, n))) {
                sums[m + 16 * n] += (0..8).map(|k| a[m + 16 * k] * b[n + 8 * k]).sum::<i64>();
            }
        }
        sums
    };
    let expected =
        |m: usize, n: usize| (0..32).map(|k| numbers[0][m + 64 * k] * numbers[1][n + 32 * k]).sum::<i64>();
    (0..4).all(|warp| {
        (0..2).flat_map(|i| (0..2).map(move |j| (i, j))).all(|(i, j)| {
            let sums = sums(warp, i, j);
            (0..LANES).flat_map(|lane| (0..4).map(move |v| (lane, v))).all(|(lane, v)| {
                let element = all[2][warp * LANES + lane][v + 4 * (i + 2 * j)] as usize;
                let found = sums[atom.c.at((lane + LANES * v) as i64).unwrap() as usize];
                found == expected(element % 64, element / 64)
            })
        })
    })
}

static NUMBERS: [i32; 64 * 32] = {
    let mut numbers = [0; 64 * 32];
    let mut i = 0;
    while i < numbers.len() {
        numbers[i] = i as i32;
        i += 1;
    }
    numbers
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Fragments of three tilings are multiplied exactly if that gives the product of the matrices.
    #[test]
    fn products_are_of_fragments_that_belong_together(tilings in tilings(), seed in any::<u32>()) {
        let number = |x: usize| move |i: usize| i64::from((seed ^ (i + 5000 * x) as u32).wrapping_mul(0x9e37_79b1) >> 12);
        let numbers = [64 * 32, 32 * 32].map(|n: usize| n);
        let numbers = [0, 1].map(|x| (0..numbers[x]).map(number(x)).collect::<Vec<_>>());
        let expected = multiplied(&tilings, [&numbers[0], &numbers[1]]);

        let mut b = Builder::new("k", 80, 128);
        let thread = b.special(Special::TidX);
        let fragments = Operand::ALL.map(|operand| {
            let modes = operand.modes().map(|mode| [64, 32, 32][mode]);
            let pointer = b.pointer(&format!("{operand:?}"), 16);
            let dtype = tilings[0].atom.dtype(operand);
            let tile = Tensor::new(Gmem::new(pointer, dtype), Lay::col_major(modes).unwrap());
            let mma = tilings[operand as usize].get_slice(&thread).unwrap();
            mma.partition_fragment(&mut b, operand, &tile).unwrap()
        });
        match gemm(&mut b, &tilings[0], &fragments[0], &fragments[1], &fragments[2]) {
            Ok(()) => prop_assert!(expected, "{tilings:?}"),
            Err(Error::Incongruent(_)) => prop_assert!(!expected, "{tilings:?}"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
