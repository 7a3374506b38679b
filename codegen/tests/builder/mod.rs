//! The builder writes instructions that compute what was asked for: kernels run on the simulator.

#![expect(clippy::unwrap_used, reason = "tests")]

mod block;
mod claims;
mod conditions;
mod control;
pub(crate) mod harness;
mod sites;
mod unsound;

use girih_codegen::{Builder, Cond, Error, Expr, Width};
use girih_layout::{Int, Symbol};
use girih_ptx::{Item, Opcode, Statement, Type};
use proptest::prelude::*;

use crate::expr::program::programs;
use harness::{Harness, THREADS, UNTOUCHED, literal};

const M: Symbol = Symbol::new(0).at_most(1 << 20);
const LD: Symbol = Symbol::new(1).at_least(1).at_most(1 << 30).divisible_by(8);
const TRIPS: Symbol = Symbol::new(2).at_most(3);

fn tiles(m: Symbol) -> Int {
    Int::symbol(m).ceil_div(Int::fixed(48)).unwrap()
}

fn fits(expr: &Expr) -> bool {
    let (lower, upper) = expr.range();
    lower >= i64::from(i32::MIN) && upper <= i64::from(i32::MAX)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// The computations stand inside a loop of 0 to 3 rounds, some of them under a condition, and after the loop.
    #[test]
    fn materialised_values_are_the_direct_computation(
        outer in programs(6), inner in programs(6),
        m in 0..=1u32 << 20, ld in 1..=(1u32 << 30) / 8, trips in 0..=3u32,
    ) {
        let ld = ld * 8;
        let mut h = Harness::new(3 * 32 + 32);
        let bound = h.bound(M);
        let [rows, tiles] = [Int::symbol(bound), tiles(bound)].map(|int| Expr::from_int(&int));
        let inputs = vec![h.thread.clone(), &h.thread + -20, h.block.clone(), rows, h.symbol(LD), tiles];
        let trips_expr = h.symbol(TRIPS);
        let (outside, out) = (outer.over(&inputs), h.out.clone());
        let mut inside = None;
        h.b.for_range(&trips_expr, |b, i| {
            // What the outer program computed, and the loop's index.
            let known: Vec<Expr> = outside.exprs.iter().cloned().chain([i.clone()]).collect();
            let computation = inner.over(&known);
            let half = Cond::less(&computation.exprs[0], &Expr::from(THREADS / 2));
            let results: Vec<_> = computation.exprs.iter().enumerate().collect();
            for (n, expr) in results.iter().filter(|(n, _)| n % 2 == 0) {
                out.store(b, &(i * 32) + *n as i64, expr)?;
            }
            b.if_(&half, |b| {
                results.iter().filter(|(n, _)| n % 2 == 1).try_for_each(|(n, expr)| out.store(b, &(i * 32) + *n as i64, expr))
            })?;
            inside = Some(computation);
            Ok(())
        }).unwrap();
        for (n, expr) in (0..).zip(&outside.exprs) {
            h.out.store(&mut h.b, 3 * 32 + n, expr).unwrap();
        }
        let inside = inside.unwrap();
        h.check(&[m, ld, trips], |block, thread, slot| {
            let given = [thread, thread - 20, block, m.into(), ld.into(), i64::from(m.div_ceil(48))];
            let outside = outside.values(&given);
            if slot >= 3 * 32 {
                return outside.get(slot as usize - 3 * 32).copied().unwrap_or(UNTOUCHED);
            }
            let (i, n) = (slot / 32, slot as usize % 32);
            if i >= trips.into() || n % 2 == 1 && thread >= THREADS / 2 {
                return UNTOUCHED;
            }
            let values = inside.values(&outside.into_iter().chain([i]).collect::<Vec<_>>());
            values.get(n).copied().unwrap_or(UNTOUCHED)
        });
    }

    /// A value that fits 32 bits is right in 32 bits, and any value that is asked for in 32 bits is right modulo 2^32.
    #[test]
    fn narrow_values_are_the_direct_computation(program in programs(6), m in 0..=1u32 << 20) {
        let mut h = Harness::new(16);
        let inputs = vec![h.thread.clone(), &h.thread + -20, h.block.clone(), h.symbol(M)];
        let computation = program.over(&inputs);
        for (n, expr) in (0..).zip(&computation.exprs) {
            h.out.store_narrow(&mut h.b, n, expr).unwrap();
        }
        h.check(&[m], |block, thread, slot| {
            let values = computation.values(&[thread, thread - 20, block, m.into()]);
            let Some(&value) = values.get(slot as usize) else { return UNTOUCHED };
            assert!(!fits(&computation.exprs[slot as usize]) || i64::from(value as i32) == value);
            UNTOUCHED & !0xffff_ffff | value & 0xffff_ffff
        });
    }
}

#[test]
fn values_first_used_inside_are_there_outside() {
    for trips in 0..=2 {
        let mut h = Harness::new(3);
        let (m, count) = (h.symbol(M), h.symbol(TRIPS));
        let (thread, out) = (h.thread.clone(), h.out.clone());
        let value = &(&m * &thread) + 7;
        let half = Cond::less(&thread, &Expr::from(THREADS / 2));
        h.b.for_range(&count, |b, _| b.if_(&half, |b| out.store(b, 0, &value))).unwrap();
        h.b.if_(&Cond::less(&thread, &Expr::from(3)), |b| out.store(b, 1, &(&value * 3))).unwrap();
        h.out.store(&mut h.b, 2, &(&value * 3)).unwrap();
        h.check(&[1000, trips], |_, thread, slot| {
            let value = 1000 * thread + 7;
            match slot {
                0 if trips > 0 && thread < THREADS / 2 => value,
                1 if thread < 3 => 3 * value,
                2 => 3 * value,
                _ => UNTOUCHED,
            }
        });
    }
}

/// The opcodes of the kernel from its first label on to the branch back.
fn loop_body(module: &girih_ptx::Module) -> Vec<Opcode> {
    let Some(Item::Kernel(kernel)) = module.items.iter().find(|i| matches!(i, Item::Kernel(_))) else {
        panic!()
    };
    let in_loop = kernel.body.iter().skip_while(|s| !matches!(s, Statement::Label(_))).skip(1);
    let in_loop = in_loop.take_while(|s| !matches!(s, Statement::Label(_)));
    in_loop.filter_map(|s| if let Statement::Inst(inst) = s { Some(inst.opcode) } else { None }).collect()
}

#[test]
fn addresses_leave_the_loop() {
    let mut h = Harness::new(4);
    let m = h.symbol(M);
    let (thread, out) = (h.thread.clone(), h.out.clone());
    h.b.for_range(&Expr::from(4), |b, i| out.store(b, i.clone(), &(&(&m * &thread) * 3))).unwrap();
    let module = h.finish();
    // The index in bytes is widened and added to the address; all other instructions are the loop itself.
    let expected =
        [Opcode::Shl, Opcode::Cvt, Opcode::Add, Opcode::St, Opcode::Add, Opcode::Setp, Opcode::Bra];
    assert_eq!(loop_body(&module), expected, "{module}");
}

#[test]
fn a_variable_lives_in_its_scope() {
    let mut h = Harness::new(1);
    let mut escaped = Vec::new();
    let less = Cond::less(&h.thread, &h.block);
    let thread = h.thread.clone();
    h.b.for_range(&Expr::from(4), |_, i| {
        escaped.push(&(i * 2) + 1);
        Ok(())
    })
    .unwrap();
    h.b.if_(&less, |b| {
        escaped.push(b.divide(&thread, &Expr::from(3), THREADS)?);
        Ok(())
    })
    .unwrap();
    for expr in escaped {
        let late = |result: Result<(), Error>| match result {
            Err(Error::OutOfScope { expr: found }) => assert_eq!(found, expr.to_string()),
            other => panic!("{other:?}"),
        };
        late(h.b.value(&expr, Width::W64).map(drop));
        late(h.b.cond(&Cond::less(&expr, &h.thread)).map(drop));
        // A second scope of the same depth does not have the value either.
        late(h.b.if_(&less, |b| b.value(&expr, Width::W32).map(drop)));
    }
}

#[test]
fn loops_count() {
    for (count, trips) in [(Expr::from(0), 0), (Expr::from(1), 1), (Expr::from(5), 5)] {
        let mut h = Harness::new(6);
        let out = h.out.clone();
        h.b.for_range(&count, |b, i| out.store(b, i.clone(), &(i * i))).unwrap();
        h.check(&[], |_, _, slot| if slot < trips { slot * slot } else { UNTOUCHED });
    }
    // Two nested loops have counts that differ from thread to thread; a negative count means no round.
    let mut h = Harness::new(16);
    let (outer, inner, out) = (&h.thread.rem(6).unwrap() + -1, h.block.clone(), h.out.clone());
    h.b.for_range(&outer, |b, i| b.for_range(&inner, |b, j| out.store(b, &(i * 4) + j, &(&(i * 10) + j))))
        .unwrap();
    h.check(&[], |block, thread, slot| {
        let (i, j) = (slot / 4, slot % 4);
        if i < thread % 6 - 1 && j < block { 10 * i + j } else { UNTOUCHED }
    });
}

#[test]
fn quotients_of_registers() {
    let mut h = Harness::new(3);
    let m = h.symbol(Symbol::new(0).at_least(1).at_most(1 << 20));
    let product = &h.thread * 1000;
    let quotient = h.b.divide(&product, &m, THREADS * 1000).unwrap();
    assert_eq!(quotient.range(), (0, THREADS * 1000));
    h.out.store(&mut h.b, 0, &quotient).unwrap();
    // The remainder is less than `m`, which the caller alone knows.
    let remainder = &product - &(&quotient * &m);
    let bounded = h.b.bounded(&remainder, 36).unwrap();
    assert_eq!((remainder.range().0 < 0, bounded.range()), (true, (0, 36)));
    h.out.store(&mut h.b, 1, &bounded.rem(5).unwrap()).unwrap();
    h.out.store(&mut h.b, 2, &bounded.minimum(&Expr::from(9))).unwrap();
    h.check(&[37], |_, thread, slot| {
        let (quotient, remainder) = (thread * 1000 / 37, thread * 1000 % 37);
        [quotient, remainder % 5, remainder.min(9)][slot as usize]
    });
}

#[test]
fn offsets_past_32_bits() {
    let mut h = Harness::new(8);
    let ld = h.symbol(LD);
    let (thread, block) = (h.thread.clone(), h.block.clone());
    let row = &(&block * THREADS) + &thread;
    let offset = &(&row * &ld) + &thread; // about 2^38
    let values = [
        offset.clone(),
        &offset * 4,
        &(&offset * -4) + (1 << 41),
        offset.div(1 << 20).unwrap(),
        (&offset * 3).rem(1_000_003).unwrap(),
        offset.and(0xff_0000_ff00).unwrap().xor(&row).unwrap(),
        offset.minimum(&Expr::from((1 << 33) + 1)),
    ];
    for (slot, value) in (0..).zip(&values) {
        h.out.store(&mut h.b, slot, value).unwrap();
    }
    let ld = (1 << 30) - 8;
    h.check(&[ld as u32], |block, thread, slot| {
        let row = block * THREADS + thread;
        let offset = row * ld + thread;
        let values = [
            offset,
            offset * 4,
            offset * -4 + (1 << 41),
            offset >> 20,
            offset * 3 % 1_000_003,
            offset & 0xff_0000_ff00 ^ row,
            offset.min((1 << 33) + 1),
        ];
        values.get(slot as usize).copied().unwrap_or(UNTOUCHED)
    });
}

#[test]
fn unsigned_registers_past_31_bits() {
    let mut h = Harness::new(4);
    let big = (1i64 << 32) - 5;
    let x = literal(&mut h.b, Type::U32, big, (0, u32::MAX.into()));
    let values = [x.clone(), &x * 2, x.div(3).unwrap(), &x * &h.thread];
    for (slot, value) in (0..).zip(&values) {
        h.out.store(&mut h.b, slot, value).unwrap();
    }
    h.check(&[], |_, thread, slot| [big, big * 2, big / 3, big * thread][slot as usize]);
}

#[test]
fn parameters_of_which_nothing_is_known() {
    let mut h = Harness::new(2);
    let any = h.bound(Symbol::new(0));
    let [any, tiles] = [Int::symbol(any), tiles(any)].map(|int| Expr::from_int(&int));
    h.out.store(&mut h.b, 0, &any).unwrap();
    h.out.store(&mut h.b, 1, &tiles).unwrap();
    h.check(&[u32::MAX - 1], |_, _, slot| {
        [i64::from(u32::MAX - 1), i64::from((u32::MAX - 1).div_ceil(48))][slot as usize]
    });
}

/// The immediates of 32-bit instructions fit 32 bits: an assembler would refuse or cut larger ones.
#[test]
fn narrow_immediates_are_narrow() {
    let mut h = Harness::new(4);
    let far = (5i64 << 40) + 7;
    let values = [&(&h.thread * 3) + far, &h.thread * far, &(&h.thread + -far) + &h.block, Expr::from(far)];
    for (slot, value) in (0..).zip(&values) {
        h.out.store_narrow(&mut h.b, slot, value).unwrap();
    }
    let module = h.finish();
    let Some(Item::Kernel(kernel)) = module.items.first() else { panic!("{module}") };
    for statement in &kernel.body {
        let Statement::Inst(inst) = statement else { continue };
        for operand in &inst.operands {
            let fits = |n: &i64| i32::try_from(*n).is_ok();
            assert!(!matches!(operand, girih_ptx::Operand::Int(n) if !fits(n)), "{inst:?}");
        }
    }
}

#[test]
fn symbols_need_a_parameter() {
    let mut b = Builder::new("k", 80, 32);
    let unbound = Expr::from_int(&Int::symbol(LD));
    assert_eq!(b.value(&unbound, Width::W64).unwrap_err(), Error::UnboundSymbol { symbol: 1 });
    let cond = Cond::less(&unbound, &Expr::from(9));
    assert_eq!(b.if_(&cond, |_| Ok(())).unwrap_err(), Error::UnboundSymbol { symbol: 1 });
    assert_eq!(b.symbol("m", |_| M), Ok(M));
    assert!(b.value(&unbound, Width::W64).is_err());
    assert_eq!(b.symbol("ld", |_| LD), Ok(LD));
    assert!(b.value(&unbound, Width::W64).is_ok());
}

#[test]
fn loads_and_stores_take_vectors_of_one_type() {
    let mut b = Builder::new("k", 80, 32);
    let base = b.alloc_shared(16, 16).unwrap();
    let (words, halves) = (b.regs(Type::B32, 4), b.regs(Type::B16, 1));
    let mixed = [words[0].clone(), halves[0].clone()];
    for regs in [&words[..3], &words[..0], &mixed] {
        let found = b.load(girih_tensor::Space::Smem, regs, &base, &Cond::Always);
        assert!(matches!(found, Err(Error::Access { .. })), "{found:?}");
    }
    let found = b.store(girih_tensor::Space::Rmem, &base, &words, &Cond::Always);
    assert!(matches!(found, Err(Error::Access { .. })), "{found:?}");
    for n in [1, 2, 4] {
        b.store(girih_tensor::Space::Smem, &base, &words[..n], &Cond::Always).unwrap();
    }
}
