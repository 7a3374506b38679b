//! Conversions of fragments against their definition, applied on the host and run on the simulator.

use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN};
use girih_codegen::plan::{Conversion, Means};
use girih_codegen::{Builder, Cond, Error, Expr, Reg};
use girih_layout::{Int, Lay, Stride, lay};
use girih_ptx::{Special, Type};
use girih_sim::Memory;
use girih_tensor::Space;
use proptest::prelude::*;

use crate::simulator::{addresses, block, checked, download, ones, upload};

const LANES: usize = 32;

/// The registers of every lane, where value `v` of lane `l` is element `tv(l,v)` of a tile. The value of an element is its number,
/// scrambled so that small values differ too.
fn registers(tv: &Lay, bits: i64) -> Vec<Vec<u32>> {
    let values = tv.size().unwrap().get().unwrap() as usize / LANES;
    let packed = (32 / bits) as usize;
    let element = |lane: usize, value: usize| {
        let index = tv.at((lane + LANES * value) as i64).unwrap() as u32;
        // All bits of the index take part, so that neighbours in the tile differ even if elements are small.
        index.wrapping_mul(0x9e37_79b1) >> (32 - bits)
    };
    let register =
        |lane, r| (0..packed).fold(0, |w, i| w | element(lane, r * packed + i) << (i as i64 * bits));
    (0..LANES).map(|lane| (0..values / packed).map(|r| register(lane, r)).collect()).collect()
}

/// The conversion as a kernel of one warp, on the simulator with all checks on.
fn simulated(conversion: &Conversion, lanes: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let count = lanes[0].len();
    let memory = Memory::new();
    let bytes: Vec<u8> = lanes.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let (input, output) = (upload(&memory, &bytes), ones(&memory, bytes.len()));
    let launch = block(32, conversion.scratch_bytes(), addresses(&[input, output]));
    checked(&kernel(conversion, count).unwrap(), &memory, &launch).unwrap();
    let back = download(&memory, output, bytes.len());
    let words: Vec<u32> = back.chunks(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    words.chunks(count).map(<[u32]>::to_vec).collect()
}

fn kernel(conversion: &Conversion, count: usize) -> Result<girih_ptx::Module, Error> {
    let mut b = Builder::new("convert", 80, 32);
    let (from, to) = (b.pointer("from", 16), b.pointer("to", 16));
    let lane = b.special(Special::TidX);
    let at = |i: usize| &(&lane * (4 * count as i64)) + &Expr::from(4 * i as i64);
    let values: Vec<Reg> = b.regs(Type::B32, count);
    for (i, value) in values.iter().enumerate() {
        b.load(Space::Gmem, std::slice::from_ref(value), &(&from + &at(i)), &Cond::Always)?;
    }
    let scratch = match conversion.means() {
        Means::Shared => Some(b.alloc_shared(conversion.scratch_bytes().into(), 16)?),
        _ => None,
    };
    let values = conversion.emit(&mut b, &lane, &values, scratch.as_ref())?;
    for (i, value) in values.iter().enumerate() {
        b.store(Space::Gmem, &(&to + &at(i)), std::slice::from_ref(value), &Cond::Always)?;
    }
    Ok(b.finish()?.into_module())
}

/// The fewest shuffles: the most registers that a lane must give away, with `packed` values in each at best.
fn least(src: &Lay, dst: &Lay, bits: i64) -> usize {
    let values = src.size().unwrap().get().unwrap() as usize / LANES;
    let owner = |tv: &Lay, lane: usize, value: usize| (tv.at((lane + LANES * value) as i64).unwrap(), lane);
    let owners = |tv: &Lay| {
        let all = (0..LANES).flat_map(|lane| (0..values).map(move |value| (lane, value)));
        let mut owners: Vec<_> = all.map(|(lane, value)| owner(tv, lane, value)).collect();
        owners.sort_unstable();
        owners
    };
    let mut flows = vec![[0usize; LANES]; LANES];
    for ((_, from), (_, to)) in owners(src).into_iter().zip(owners(dst)) {
        flows[from][to] += 1;
    }
    let packed = (32 / bits) as usize;
    let given =
        |from: usize| (0..LANES).filter(|&to| to != from).map(|to| flows[from][to].div_ceil(packed)).sum();
    (0..LANES).map(given).max().unwrap_or(0)
}

/// A bijection of `(32, values)`: the factors of the size dealt out in some order.
fn dealt(values: Vec<i64>) -> impl Strategy<Value = Lay> {
    let extents: Vec<i64> = std::iter::repeat_n(2, 5).chain(values).collect();
    let order: Vec<usize> = (0..extents.len()).collect();
    Just(order).prop_shuffle().prop_map(move |order| {
        let mut strides = vec![0; extents.len()];
        let mut next = 1;
        for i in order {
            strides[i] = next;
            next *= extents[i];
        }
        let leaf = |i: usize| Lay::leaf(Int::fixed(extents[i]), Stride::Int(Int::fixed(strides[i]))).unwrap();
        let mode = |range: std::ops::Range<usize>| Lay::concat(&range.map(leaf).collect::<Vec<_>>()).unwrap();
        Lay::concat(&[mode(0..5), mode(5..extents.len())]).unwrap()
    })
}

fn pairs() -> impl Strategy<Value = (Lay, Lay, i64)> {
    let values = prop::sample::select(vec![vec![2, 2, 2], vec![4, 2], vec![4, 3], vec![2], vec![2, 2, 2, 2]]);
    let bits = prop::sample::select(vec![8i64, 16, 32]);
    (values, bits)
        .prop_filter("whole registers", |(values, bits)| values.iter().product::<i64>() * bits % 32 == 0)
        .prop_flat_map(|(values, bits)| (dealt(values.clone()), dealt(values), Just(bits)))
}

#[test]
fn every_value_arrives_with_the_fewest_shuffles() {
    let config = ProptestConfig::with_cases(600);
    let rng = prop::test_runner::TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = prop::test_runner::TestRunner::new_with_rng(config, rng);
    let met = std::cell::RefCell::new(std::collections::BTreeMap::<String, usize>::new());
    runner
        .run(&pairs(), |(src, dst, bits)| {
            let conversion = Conversion::new(&src, &dst, bits).unwrap();
            let (before, after) = (registers(&src, bits), registers(&dst, bits));
            prop_assert_eq!(conversion.apply(&before).unwrap(), after.clone(), "{}", conversion);
            prop_assert_eq!(simulated(&conversion, &before), after, "{}", conversion);
            if conversion.means() != Means::Shared {
                prop_assert_eq!(conversion.shuffles(), least(&src, &dst, bits), "{}", conversion);
            }
            *met.borrow_mut().entry(format!("{:?} {bits}", conversion.means())).or_default() += 1;
            Ok(())
        })
        .unwrap();
    let met = met.into_inner();
    for kind in ["Shuffle 32", "Shuffle 16", "Shared 16", "Shared 8"] {
        assert!(met.get(kind).is_some_and(|&n| n >= 10), "{met:?}");
    }
}

/// The accumulators of two products side by side are the A operand of the next product, as P in attention.
#[test]
fn accumulators_are_the_next_operand_without_a_move() {
    for atom in [SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN] {
        let side_by_side = Lay::concat(&[
            atom.c.mode(0).unwrap(),
            Lay::concat(&[atom.c.mode(1).unwrap(), lay!("2:128")]).unwrap(),
        ])
        .unwrap();
        let conversion = Conversion::new(&side_by_side, &atom.a, 16).unwrap();
        assert_eq!((conversion.means(), conversion.shuffles()), (Means::Rename, 0), "{conversion}");
    }
}

#[test]
fn each_means_is_found_where_it_is_the_cheapest() {
    let case = |src: &str, dst: &str, bits| {
        let [src, dst] = [src, dst].map(|tv| Lay::parse(tv).unwrap());
        let conversion = Conversion::new(&src, &dst, bits).unwrap();
        let before = registers(&src, bits);
        assert_eq!(simulated(&conversion, &before), registers(&dst, bits), "{conversion}");
        (conversion.means(), conversion.shuffles())
    };
    assert_eq!(case("(32,4):(1,32)", "(32,(2,2)):(1,(64,32))", 32), (Means::Rename, 0));
    // Bytes are transposed within a lane.
    assert_eq!(case("(32,(4,4)):(1,(32,128))", "(32,(4,4)):(1,(128,32))", 8), (Means::Permute, 0));
    // The tile is transposed: every lane keeps one value and gives away the others.
    assert_eq!(case("(32,16):(16,1)", "((16,2),16):((1,256),16)", 32), (Means::Shuffle, 15));
    // The bits of the lanes' numbers rotate: there is no butterfly, and each register takes one shuffle by index.
    assert_eq!(case("((4,8),2):((8,1),32)", "(32,2):(1,32)", 32), (Means::Shuffle, 2));
    // Neighbours in a register go to different lanes.
    assert_eq!(case("(32,2):(2,1)", "(32,2):(1,32)", 16).0, Means::Shared);
}

#[test]
fn refusals_say_what_would_be_accepted() {
    let rows = lay!("(32,4):(4,1)");
    let cases = [
        (Conversion::new(&rows, &lay!("(32,2):(2,1)"), 32), "as many values in both"),
        (Conversion::new(&rows, &lay!("(32,4):(4,0)"), 32), "both hold element"),
        (Conversion::new(&lay!("(16,4):(4,1)"), &rows, 32), "(Lane,Val) of 32 lanes"),
        (Conversion::new(&rows, &rows, 64), "8, 16 or 32 bits"),
        (Conversion::new(&lay!("(32,3):(3,1)"), &lay!("(32,3):(3,1)"), 16), "whole registers"),
    ];
    for (refused, accepted) in cases {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(accepted), "{error}");
    }
    let conversion = Conversion::new(&rows, &rows, 32).unwrap();
    assert!(conversion.apply(&[]).is_err());
    let mut b = Builder::new("refused", 80, 32);
    let (lane, values) = (b.special(Special::TidX), b.regs(Type::B32, 3));
    let error = conversion.emit(&mut b, &lane, &values, None).unwrap_err().to_string();
    assert!(error.contains("3 registers"), "{error}");
}
