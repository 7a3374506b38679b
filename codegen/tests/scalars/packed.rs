//! Floats of 16 bits two at a time.

use expect_test::expect_file;
use girih_codegen::algorithm::{copy, pattern, transform};
use girih_codegen::atom::AUTO_VECTORIZING_COPY;
use girih_codegen::{Builder, Gmem, Rmem, Scalar};
use girih_layout::Lay;
use girih_ptx::Module;
use girih_sim::Memory;
use girih_tensor::{DType, Tensor};
use proptest::prelude::*;

use super::Value;
use super::random::{Step, Two, grown, steps};
use crate::simulator::{addresses, block, checked, download, upload};

/// The bits of special numbers: zeros, ones, the least and the greatest numbers, infinities, NaN.
const SPECIAL: [u16; 14] =
    [0, 0x8000, 0x3c00, 0xbc00, 0x3f80, 0xbf80, 1, 0x8001, 0x7bff, 0x7f7f, 0xff7f, 0x7c00, 0x7f80, 0xffff];

/// The last scalar of the sources' dtype that the steps make from a value of each source.
fn last(sources: Vec<(Scalar, Value)>, steps: &[Step]) -> (Scalar, Value) {
    let dtype = sources[0].1.dtype();
    let constants = [1.0, -2.5].map(|x| (Scalar::new(dtype, x), super::converted(Value::F64(x), dtype)));
    let constants = constants.into_iter().filter_map(|(x, value)| Some((x, value?)));
    let all = grown(sources.into_iter().chain(constants).collect(), steps);
    all.into_iter().rev().find(|(scalar, _)| scalar.dtype() == dtype).unwrap()
}

/// A kernel that computes `y = f(x0, x1)` from values in global memory, in registers of its own if `in_place`.
fn kernel(
    dtype: DType,
    count: usize,
    in_place: bool,
    op: impl FnMut(&mut Builder, &[Scalar]) -> Scalar,
) -> Module {
    let mut op = op;
    let mut b = Builder::new("k", 80, 1);
    let [x, z, y] = ["x0", "x1", "y"].map(|name| {
        Tensor::new(Gmem::new(b.pointer(name, 16), dtype), Lay::col_major([count as i64]).unwrap())
    });
    if in_place {
        let [left, right] = [&x, &z].map(|source| {
            let values = Rmem::like(&mut b, source).unwrap();
            copy(&mut b, AUTO_VECTORIZING_COPY, source, &values).unwrap();
            values
        });
        transform(&mut b, &[&left, &right], &left, |b, x| Ok(op(b, x))).unwrap();
        copy(&mut b, AUTO_VECTORIZING_COPY, &left, &y).unwrap();
    } else {
        transform(&mut b, &[&x, &z], &y, |b, x| Ok(op(b, x))).unwrap();
    }
    b.finish().unwrap().into_module()
}

/// The bits of `y`, with every NaN as the same one, and the host's results: `op` makes both from a value of each source.
fn results(
    dtype: DType,
    in_place: bool,
    sources: [&[Value]; 2],
    op: impl Fn(&(Scalar, Value), &(Scalar, Value)) -> (Scalar, Value),
) -> (Vec<u64>, Vec<u64>) {
    let (count, mut wanted) = (sources[0].len(), Vec::new());
    let module = kernel(dtype, count, in_place, |_, x| {
        let [a, b] = sources.map(|values| values[wanted.len()]);
        let (scalar, value) = op(&(x[0].clone(), a), &(x[1].clone(), b));
        wanted.push(value.bits());
        scalar
    });
    let memory = Memory::new();
    let bytes = |values: &[Value]| -> Vec<u8> {
        let half = |value: &Value| match value {
            Value::F16(x) => x.to_bits().to_le_bytes(),
            Value::Bf16(x) => x.to_bits().to_le_bytes(),
            other => panic!("{other:?}"),
        };
        values.iter().flat_map(half).collect()
    };
    let [x, z] = sources.map(|values| upload(&memory, &bytes(values)));
    let y = memory.alloc(2 * count).unwrap();
    checked(&module, &memory, &block(1, 0, addresses(&[x, z, y]))).unwrap();
    let found = download(&memory, y, 2 * count);
    let half = |word: &[u8]| Value::of_bits(dtype, u16::from_le_bytes([word[0], word[1]]).into()).bits();
    (found.chunks(2).map(half).collect(), wanted)
}

/// Every operation on pairs gives, for all pairs of special numbers, what it gives for each number alone.
#[test]
fn special_numbers_are_as_alone() {
    for dtype in [DType::F16, DType::Bf16] {
        let value = |i: usize| Value::of_bits(dtype, SPECIAL[i].into());
        let all = 0..SPECIAL.len() * SPECIAL.len();
        let sources: [Vec<Value>; 2] = [
            all.clone().map(|i| value(i % SPECIAL.len())).collect(),
            all.map(|i| value(i / SPECIAL.len())).collect(),
        ];
        for two in [Two::Add, Two::Sub, Two::Mul, Two::Min, Two::Max, Two::MulAdd] {
            let (found, wanted) =
                results(dtype, true, [&sources[0], &sources[1]], |x, y| two.apply(x, y).unwrap());
            assert_eq!(found, wanted, "{two:?} of {dtype}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Both halves of a pair are, bit by bit, what they are alone.
    #[test]
    fn pairs_are_computed_as_their_halves(
        is_f16 in any::<bool>(),
        in_place in any::<bool>(),
        bits in prop::collection::vec(any::<u16>(), 16),
        small in prop::option::weighted(0.7, prop::collection::vec(-40..40i32, 16)),
        steps in steps(),
    ) {
        let dtype = if is_f16 { DType::F16 } else { DType::Bf16 };
        let value = |i: usize| match &small {
            Some(small) => super::converted(Value::F32(small[i] as f32 / 4.0), dtype).unwrap(),
            None => Value::of_bits(dtype, bits[i].into()),
        };
        let sources: [Vec<Value>; 2] = [(0..8).map(value).collect(), (8..16).map(value).collect()];
        let op = |x: &(Scalar, Value), y: &(Scalar, Value)| last(vec![x.clone(), y.clone()], &steps);
        let (found, wanted) = results(dtype, in_place, [&sources[0], &sources[1]], op);
        prop_assert_eq!(found, wanted);
    }
}

/// A number next to the middle of two becomes the nearer one, wherever a kernel's author writes it.
#[test]
fn constants_are_the_nearest_numbers() {
    // One above 1 in the last place, and half of that.
    for (dtype, one, last) in [(DType::F16, 0x3c00, 2f64.powi(-10)), (DType::Bf16, 0x3f80, 2f64.powi(-7))] {
        for (value, wanted) in [
            (1.0 + last / 2.0, one),
            (1.0 + last / 2.0 + 2f64.powi(-40), one + 1),
            (1.0 + last * 1.5 - 2f64.powi(-40), one + 1),
            (1.0 + last * 1.5, one + 2),
        ] {
            let found = super::run(&[], |_, _| Ok(vec![Scalar::new(dtype, value)]));
            assert_eq!((found[0], pattern(dtype, value) & 0xffff), (wanted, wanted), "{value:e} as {dtype}");
        }
    }
}

/// The golden modules show the instructions, and ptxas assembles them.
#[test]
fn pairs_are_one_instruction() {
    for (dtype, golden) in [
        (DType::F16, expect_file!["../../testdata/golden/transform_f16.ptx"]),
        (DType::Bf16, expect_file!["../../testdata/golden/transform_bf16.ptx"]),
    ] {
        let module = kernel(dtype, 8, false, |_, x| {
            let y = (&x[0] + &x[1]).mul_add(&x[0], 0.5) - &x[1] * 3.0;
            (-y).max(x[0].abs()).minimum(&x[1]).min(8.0)
        });
        let text = module.to_string();
        // There is an instruction for each of four pairs, and none for a single value.
        let name = dtype.to_string();
        assert_eq!(text.matches(&format!("max.{name}x2")).count(), 4);
        assert!(!text.contains(&format!(".{name} ")) && !text.contains("f32"), "{text}");
        golden.assert_eq(&text);
    }
}
