//! Loops with steps, both halves of a condition, repetition, barriers.

use girih_codegen::{Builder, Cond, Expr};
use girih_layout::Symbol;
use girih_ptx::Type;

use super::M;
use super::harness::{Harness, THREADS, UNTOUCHED};

const STEP: Symbol = Symbol::new(2).at_least(1).at_most(1 << 10);

/// The loop takes every value from the first on in steps, for ends before, at and between them.
#[test]
fn steps_are_taken_up_to_the_end() {
    for (end, step) in [(0, 1), (1, 1), (17, 1), (33, 5), (40, 5), (41, 5), (30, 1000)] {
        let mut h = Harness::new(64);
        let (end_at, by) = (h.symbol(M), h.symbol(STEP));
        let (first, out) = (h.thread.clone(), h.out.clone());
        h.b.for_steps(&first, &end_at, &by, |b, i| {
            let slot = i.minimum(&Expr::from(63));
            out.store(b, slot, &(i * 3))
        })
        .unwrap();
        h.check(&[end, step], |_, thread, slot| {
            let (end, step) = (i64::from(end), i64::from(step));
            let last = slot == 63 && (thread..end).step_by(step as usize).any(|i| i >= 63);
            if last {
                return 3 * (thread..end).step_by(step as usize).last().unwrap();
            }
            let taken = slot >= thread && slot < end && (slot - thread) % step == 0;
            if taken { 3 * slot } else { UNTOUCHED }
        });
    }
}

#[test]
fn loops_that_may_pass_the_ends_of_32_bits_are_refused() {
    let mut b = Builder::new("k", 80, 32);
    let reg = b.reg(Type::B32);
    let mut var = |lower, upper| b.var(&reg, lower, upper, 1);
    let (any, huge, zero) = (var(-1, 5), var(0, i64::from(i32::MAX)), var(0, 9));
    let ten = Expr::from(10);
    let one = Expr::from(1);
    let mut texts = String::new();
    for [first, end, step] in [[&any, &ten, &one], [&one, &ten, &zero], [&one, &huge, &ten]] {
        let error = b.for_steps(first, end, step, |_, _| Ok(())).unwrap_err();
        texts += &format!("{error}\n");
    }
    expect_test::expect![[r#"
        a loop from v0, which may be -1: a first value that is known to be 0 or more is accepted
        a loop in steps of v2, which may be 0: a step that is known to be 1 or more is accepted
        a loop to v1, which may be 2147483647, in steps of up to 10: an end is accepted whose sum with the step is known to be below 2^31
    "#]]
    .assert_eq(&texts);
}

/// A value that one half of a condition computes first is also available in the other half and after both.
#[test]
fn halves_share_what_stands_before_them() {
    let mut h = Harness::new(4);
    let m = h.symbol(M);
    let (thread, block, out) = (h.thread.clone(), h.block.clone(), h.out.clone());
    let (first, second) = (&(&m * &thread) + 7, &(&m * &block) + 9);
    let half = Cond::less(&thread, &Expr::from(THREADS / 2));
    h.b.if_else(
        &half,
        |b| out.store(b, 0, &first),
        |b| {
            out.store(b, 1, &second)?;
            out.store(b, 2, &(&first * 2))
        },
    )
    .unwrap();
    h.out.store(&mut h.b, 3, &(&second * 3)).unwrap();
    h.check(&[1000], |block, thread, slot| {
        let (first, second, lower) = (1000 * thread + 7, 1000 * block + 9, thread < THREADS / 2);
        match slot {
            0 if lower => first,
            1 if !lower => second,
            2 if !lower => 2 * first,
            3 => 3 * second,
            _ => UNTOUCHED,
        }
    });
}

#[test]
fn decided_conditions_have_one_half() {
    for (cond, expected) in [(Cond::Always, 1), (Cond::Never, 2)] {
        let mut h = Harness::new(1);
        let out = h.out.clone();
        let store = |value: i64| {
            let out = out.clone();
            move |b: &mut Builder| out.store(b, 0, &Expr::from(value))
        };
        h.b.if_else(&cond, store(1), store(2)).unwrap();
        h.check(&[], |_, _, _| expected);
    }
}

/// Counts Collatz steps to 1: the body runs once at least, and in each thread as often as the thread needs.
#[test]
fn bodies_repeat_until_their_predicate_holds() {
    let mut h = Harness::new(2);
    let start = h.b.value(&(&h.thread + 1), girih_codegen::Width::W32).unwrap();
    let (x, count, done) = (h.b.reg(Type::U32), h.b.reg(Type::U32), h.b.reg(Type::Pred));
    h.b.ptx("mov.u32 %0, %1; mov.u32 %2, 0;", &[&x, &start, &count]).unwrap();
    h.b.repeat_until(|b| {
        let (odd, half, triple) = (b.reg(Type::Pred), b.reg(Type::U32), b.reg(Type::U32));
        b.ptx(
            "and.b32 %1, %0, 1; setp.ne.u32 %2, %1, 0; shr.u32 %1, %0, 1; mad.lo.u32 %3, %0, 3, 1;
             selp.b32 %0, %3, %1, %2; add.u32 %4, %4, 1; setp.eq.u32 %5, %0, 1;",
            &[&x, &half, &odd, &triple, &count, &done],
        )?;
        Ok(done.clone())
    })
    .unwrap();
    let (x, count) = (h.b.var(&x, 0, 1 << 20, 1), h.b.var(&count, 0, 1 << 10, 1));
    h.out.store(&mut h.b, 0, &x).unwrap();
    h.out.store(&mut h.b, 1, &count).unwrap();
    h.check(&[], |_, thread, slot| {
        let (mut x, mut count) = (thread + 1, 0);
        loop {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            count += 1;
            if x == 1 {
                return if slot == 0 { 1 } else { count };
            }
        }
    });
}

#[test]
fn barriers_and_registers_say_what_they_take() {
    let mut b = Builder::new("k", 90, 128);
    let reg = b.reg(Type::B32);
    let open = b.var(&reg, 0, 15, 1);
    let inside = b.var(&reg, 1, 15, 1);
    b.named_barrier_sync(&inside, 1024).unwrap();
    b.named_barrier_arrive(&Expr::from(15), 32).unwrap();
    let mut texts = String::new();
    for (id, threads) in [(0, 32), (16, 32), (1, 0), (1, 33), (1, 1056)] {
        texts += &format!("{}\n", b.named_barrier_sync(&Expr::from(id), threads).unwrap_err());
    }
    texts += &format!("{}\n", b.named_barrier_arrive(&open, 32).unwrap_err());
    for registers in [16, 23, 25, 264] {
        texts += &format!("{}\n", b.warpgroup_reg_alloc(registers).unwrap_err());
        assert!(b.warpgroup_reg_dealloc(registers).is_err());
    }
    expect_test::expect![[r#"
        barrier 0, which is known to be in 0..=0: 1 to 15 are accepted, since barrier 0 is that of the whole block
        barrier 16, which is known to be in 16..=16: 1 to 15 are accepted, since barrier 0 is that of the whole block
        a barrier of 0 threads: multiples of 32 up to 1024 are accepted
        a barrier of 33 threads: multiples of 32 up to 1024 are accepted
        a barrier of 1056 threads: multiples of 32 up to 1024 are accepted
        barrier v0, which is known to be in 0..=15: 1 to 15 are accepted, since barrier 0 is that of the whole block
        16 registers of a thread: multiples of 8 from 24 to 256 are accepted
        23 registers of a thread: multiples of 8 from 24 to 256 are accepted
        25 registers of a thread: multiples of 8 from 24 to 256 are accepted
        264 registers of a thread: multiples of 8 from 24 to 256 are accepted
    "#]]
    .assert_eq(&texts);
}
