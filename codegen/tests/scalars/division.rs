//! Indices divided by numbers that are known when the kernel runs.

use girih_codegen::{Builder, BuilderError, Cond, Error, Expr, Scalar};
use girih_ptx::Type;
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::{DType, Space};
use proptest::prelude::*;

/// The quotient and the remainder of two numbers that are known only by their ranges.
fn divided(numbers: [u64; 2], ranges: [(i64, i64); 2]) -> Result<([u64; 2], [Expr; 2]), Error> {
    let mut b = Builder::new("k", 80, 1);
    let to = b.pointer("to", 8);
    let mut operands = Vec::new();
    for (i, (lower, upper)) in ranges.into_iter().enumerate() {
        let reg = b.reg(Type::U64);
        b.load(Space::Gmem, std::slice::from_ref(&reg), &(&to + 8 * i as i64), &Cond::Always)?;
        operands.push(b.var(&reg, lower, upper, 1));
    }
    let (quotient, remainder) = b.div_rem(&operands[0], &operands[1])?;
    for (i, expr) in [&quotient, &remainder].into_iter().enumerate() {
        let reg = b.scalar(&Scalar::index(expr, DType::U64))?;
        b.store(Space::Gmem, &(&to + 8 * i as i64), &[reg], &Cond::Always)?;
    }
    let module = b.finish()?.into_module();
    let memory = Memory::new();
    let at = memory.alloc(16).unwrap();
    memory.write(at, &numbers.map(u64::to_le_bytes).concat()).unwrap();
    let args = vec![at.to_le_bytes().to_vec()];
    let launch = Launch { grid: [1; 3], block: [1; 3], args, ..Launch::default() };
    let program = Program::load(&module).unwrap();
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())
        .unwrap_or_else(|e| panic!("{e}\n{module}"));
    let mut out = [0; 16];
    memory.read(at, &mut out).unwrap();
    let word = |i: usize| u64::from_le_bytes(out[8 * i..8 * i + 8].try_into().unwrap());
    Ok(([word(0), word(1)], [quotient, remainder]))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn quotients_are_exact_and_within_their_ranges(
        bits in [0..60u32, 0..60u32], seeds: [u64; 2], slack in [0..50i64, 0..50i64], below in [0..50i64, 0..50i64]
    ) {
        let dividend = seeds[0] >> (63 - bits[0]);
        let divisor = (seeds[1] >> (63 - bits[1])).max(1);
        let range = |i: usize, x: u64, least: i64| ((x as i64 - below[i]).max(least), x as i64 + slack[i]);
        let ranges = [range(0, dividend, 0), range(1, divisor, 1)];
        let (found, exprs) = divided([dividend, divisor], ranges).unwrap();
        prop_assert_eq!(found, [dividend / divisor, dividend % divisor]);
        for (expr, value) in exprs.iter().zip(found) {
            let (lower, upper) = expr.range();
            prop_assert!(lower <= value as i64 && value as i64 <= upper, "{value} of {lower}..={upper}");
        }
        // The ranges are no wider than they have to be.
        prop_assert_eq!(exprs[0].range(), (ranges[0].0 / ranges[1].1, ranges[0].1 / ranges[1].0));
        prop_assert!(exprs[1].range().1 < ranges[1].1.max(1) && exprs[1].range().1 <= ranges[0].1);
    }
}

#[test]
fn divisors_that_may_be_zero_are_refused() {
    for ranges in [[(0, 5), (0, 5)], [(0, 5), (-1, 5)], [(-1, 5), (1, 5)]] {
        let found = divided([3, 2], ranges);
        assert!(
            matches!(
                found,
                Err(Error::Builder(BuilderError::Dividend { .. } | BuilderError::Divisor { .. }))
            ),
            "{ranges:?}"
        );
    }
    // A divisor of one value needs no instruction.
    let (found, exprs) = divided([37, 5], [(0, 99), (5, 5)]).unwrap();
    assert_eq!((found, exprs[0].range()), ([7, 2], (0, 19)));
}
