//! Atomic operations happen one after another in some order, and order other accesses as their orders say.

use girih_codegen::scalar::COMPUTED;
use girih_codegen::sync::{AtomicRef, MemoryOrder, Scope, Semaphore, atomic_thread_fence};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Memory as _, Scalar, Smem, SyncError};
use girih_layout::lay;
use girih_ptx::{Module, Special};
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::{DType, Space};
use half::{bf16, f16};

use super::Value::{self, *};
use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const ORDERS: [MemoryOrder; 5] = [Relaxed, Acquire, Release, AcqRel, SeqCst];
const THREADS: u32 = 64;

/// Runs `blocks` blocks of the kernel on a memory of `words` words of 8 bytes, which begins with `first`.
fn run(module: &Module, blocks: u32, first: &[u64], words: usize) -> Result<Vec<u64>, girih_sim::Error> {
    let memory = Memory::new();
    let at = memory.alloc(8 * words).unwrap();
    let bytes: Vec<u8> = (0..words).flat_map(|i| first.get(i).unwrap_or(&0).to_le_bytes()).collect();
    memory.write(at, &bytes).unwrap();
    let program = Program::load(module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    let info = &module.kernels()[0];
    let launch = Launch {
        grid: [blocks, 1, 1],
        block: info.block.unwrap(),
        dynamic_shared: info.dynamic_shared_bytes.unwrap(),
        args: vec![at.to_le_bytes().to_vec()],
        ..Launch::default()
    };
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())?;
    let mut out = vec![0; 8 * words];
    memory.read(at, &mut out).unwrap();
    Ok(out.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// A compare-exchange that expects the first value, and one that expects what one of the threads leaves.
    CompareExchange,
}

use Update::{Add, And, CompareExchange, Exchange, Max, Min, Or, Xor};

/// The number that a thread adds, from its own number, so that all sums are exact.
fn operand(dtype: DType, thread: u32) -> Value {
    let x = thread % 7;
    match dtype {
        DType::F64 => F64(x.into()),
        DType::F32 => F32(x as f32),
        DType::F16 => F16(f16::from_f32(x as f32)),
        DType::Bf16 => Bf16(bf16::from_f32(x as f32 / 4.0)),
        DType::S64 => S64(i64::from(x) * -0x1_2345_6789 + 3),
        DType::U64 => U64(u64::from(x).wrapping_mul(0xf123_4567_89ab_cdef).wrapping_add(3)),
        DType::S32 => S32(x as i32 * -0x1234_5678 + 3),
        _ => U32(x.wrapping_mul(0xf123_4567) + 3),
    }
}

/// The value that an update leaves.
fn after(update: Update, old: Value, x: Value, expected: Value) -> Value {
    macro_rules! integers {
        ($kind:ident, $a:expr, $b:expr, $expected:expr) => {
            $kind(match update {
                Add => $a.wrapping_add($b),
                Min => $a.min($b),
                Max => $a.max($b),
                And => $a & $b,
                Or => $a | $b,
                Xor => $a ^ $b,
                Exchange => $b,
                CompareExchange => {
                    if $a == $expected {
                        $b
                    } else {
                        $a
                    }
                }
            })
        };
    }
    macro_rules! floats {
        ($kind:ident, $a:expr, $b:expr, $expected:expr) => {
            $kind(match update {
                Add => $a + $b,
                CompareExchange if $a.to_bits() != $expected.to_bits() => $a,
                _ => $b,
            })
        };
    }
    match (old, x, expected) {
        (F64(a), F64(b), F64(e)) => floats!(F64, a, b, e),
        (F32(a), F32(b), F32(e)) => floats!(F32, a, b, e),
        (F16(a), F16(b), F16(e)) => floats!(F16, a, b, e),
        (Bf16(a), Bf16(b), Bf16(e)) => floats!(Bf16, a, b, e),
        (S64(a), S64(b), S64(e)) => integers!(S64, a, b, e),
        (U64(a), U64(b), U64(e)) => integers!(U64, a, b, e),
        (S32(a), S32(b), S32(e)) => integers!(S32, a, b, e),
        (U32(a), U32(b), U32(e)) => integers!(U32, a, b, e),
        other => panic!("{other:?}"),
    }
}

fn update(
    b: &mut Builder,
    update: Update,
    at: &AtomicRef,
    x: &Scalar,
    expected: &Scalar,
    order: MemoryOrder,
) -> Result<Scalar, Error> {
    match update {
        Add => at.fetch_add(b, x, order),
        Min => at.fetch_min(b, x, order),
        Max => at.fetch_max(b, x, order),
        And => at.fetch_and(b, x, order),
        Or => at.fetch_or(b, x, order),
        Xor => at.fetch_xor(b, x, order),
        Exchange => at.exchange(b, x, order),
        CompareExchange => at.compare_exchange(b, expected, x, order),
    }
}

/// A kernel in which each thread updates one element and stores what the element held before. The element is the first word, in global
/// memory, or meanwhile in shared memory.
fn updating(
    kind: Update,
    dtype: DType,
    space: Space,
    order: MemoryOrder,
    scope: Scope,
) -> Result<Module, Error> {
    let mut b = Builder::new("k", 90, THREADS);
    let (to, thread) = (b.pointer("to", 8), b.special(Special::TidX));
    let block = b.special(Special::CtaidX);
    let first = Cond::less(&thread, &Expr::from(1));
    let own = Scalar::index(&thread.rem(7)?, DType::S32);
    let x = match dtype {
        DType::Bf16 => (own.to(DType::F32) * 0.25).to(dtype),
        DType::S64 => own.to(dtype) * -0x1_2345_6789i64 as f64 + 3.0,
        DType::U64 => {
            // The number is beyond those that an f64 constant holds exactly.
            let high = own.to(dtype) * f64::from(0xf123_4567u32);
            (high << 32) + own.to(dtype) * f64::from(0x89ab_cdefu32) + 3.0
        }
        DType::S32 => own * f64::from(-0x1234_5678) + 3.0,
        DType::U32 => own.to(dtype) * f64::from(0xf123_4567u32) + 3.0,
        float => own.to(DType::F32).to(float),
    };
    let expected = Scalar::new(dtype, 0.0);
    let shared = Smem::alloc(&mut b, dtype, None, &lay!("1:1"))?;
    let global = Gmem::new(to.clone(), dtype);
    let at = match space {
        Space::Smem => AtomicRef::new(&b, shared.engine(), scope)?,
        _ => AtomicRef::new(&b, &global, scope)?,
    };
    let elsewhere = AtomicRef::new(&b, &global, scope)?;
    if space == Space::Smem {
        b.if_(&first, |b| {
            let start = elsewhere.load(b, Relaxed)?;
            at.store(b, &start, Relaxed)
        })?;
        b.barrier();
    }
    let old = update(&mut b, kind, &at, &x, &expected, order)?;
    let place = &(&block * i64::from(THREADS)) + &thread;
    let reg = b.scalar(&old)?;
    b.store(Space::Gmem, &(&(&to + &(&place * 8)) + 8), &[reg], &Cond::Always)?;
    if space == Space::Smem {
        b.barrier();
        b.if_(&first, |b| {
            let end = at.load(b, Relaxed)?;
            elsewhere.store(b, &end, Relaxed)
        })?;
    }
    Ok(b.finish()?.into_module())
}

/// In any order of the threads, each thread finds the first value or what another thread has left; so the old values and the last
/// value together are the first value and all new values.
#[test]
fn updates_come_one_after_another() {
    let mut cases = 0;
    for dtype in COMPUTED {
        for kind in [Add, Min, Max, And, Or, Xor, Exchange, CompareExchange] {
            let possible = match kind {
                Add | CompareExchange => true,
                Exchange => dtype.bits() > 16,
                _ => !dtype.is_float(),
            };
            let spaces = [(Space::Gmem, Scope::Gpu, 3), (Space::Smem, Scope::Cta, 1)];
            for (at, (space, scope, blocks)) in spaces.into_iter().enumerate() {
                let order = ORDERS[(cases + at) % ORDERS.len()];
                let module = updating(kind, dtype, space, order, scope);
                if !possible {
                    assert!(
                        matches!(module, Err(Error::Sync(SyncError::AtomicDType { .. }))),
                        "{kind:?} {dtype}"
                    );
                    continue;
                }
                let module = module.unwrap();
                let threads = (blocks * THREADS) as usize;
                let out = run(&module, blocks, &[0], 1 + threads).unwrap_or_else(|e| panic!("{e}\n{module}"));
                let bits = |value: Value| value.bits();
                let start = Value::of_bits(dtype, 0);
                let of = |thread: usize| operand(dtype, thread as u32 % THREADS);
                let old: Vec<Value> = out[1..].iter().map(|&bits| Value::of_bits(dtype, bits)).collect();
                let new = old.iter().enumerate().map(|(thread, &old)| after(kind, old, of(thread), start));
                let mut left: Vec<u64> = new.chain([start]).map(bits).collect();
                let end = Value::of_bits(dtype, out[0]);
                let mut found: Vec<u64> = old.iter().copied().chain([end]).map(bits).collect();
                left.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, left, "{kind:?} {dtype} {space:?} {order:?}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 2 * (8 + 8 + 4 * 5 + 6));
}

/// A block writes a word and sets a flag; another one waits for the flag and reads the word.
fn passing(
    set: MemoryOrder,
    awaited: MemoryOrder,
    scope: Scope,
    fences: bool,
) -> Result<Vec<u64>, girih_sim::Error> {
    let mut b = Builder::new("k", 80, 32);
    let to = b.pointer("to", 8);
    let (block, thread) = (b.special(Special::CtaidX), b.special(Special::TidX));
    let flag = AtomicRef::new(&b, &Gmem::new(&to + 8, DType::U32), scope).unwrap();
    let producer = Cond::less(&block, &Expr::from(1));
    let first = Cond::less(&thread, &Expr::from(1));
    let written = b.scalar(&Scalar::new(DType::U32, 7.0)).unwrap();
    let sets = |b: &mut Builder| {
        b.store(Space::Gmem, &to, &[written], &Cond::Always)?;
        if fences {
            atomic_thread_fence(b, Release, scope)?;
        }
        flag.store(b, &Scalar::new(DType::U32, 1.0), set)
    };
    let awaits = |b: &mut Builder| {
        b.repeat_until(|b| {
            let now = flag.load(b, awaited)?;
            b.cond(&now.equals(1))
        })?;
        if fences {
            atomic_thread_fence(b, Acquire, scope)?;
        }
        let reg = b.reg(girih_ptx::Type::U32);
        b.load(Space::Gmem, std::slice::from_ref(&reg), &to, &Cond::Always)?;
        b.store(Space::Gmem, &(&to + 16), &[reg], &Cond::Always)
    };
    b.if_(&first, |b| b.if_else(&producer, sets, awaits)).unwrap();
    run(b.finish().unwrap().module(), 2, &[], 3)
}

#[test]
fn what_is_released_is_seen_by_who_acquires() {
    for (set, awaited) in [(Release, Acquire), (SeqCst, SeqCst), (Release, SeqCst), (SeqCst, Acquire)] {
        for scope in [Scope::Gpu, Scope::Sys] {
            assert_eq!(passing(set, awaited, scope, false).unwrap()[2], 7, "{set:?} {awaited:?}");
        }
    }
    assert_eq!(passing(Relaxed, Relaxed, Scope::Gpu, true).unwrap()[2], 7);
    for (set, awaited, scope, fences) in [
        (Relaxed, Acquire, Scope::Gpu, false),
        (Release, Relaxed, Scope::Gpu, false),
        (Release, Acquire, Scope::Cta, false),
        (Relaxed, Relaxed, Scope::Cta, true),
    ] {
        let found = passing(set, awaited, scope, fences);
        assert!(
            matches!(found, Err(girih_sim::Error::Race { .. })),
            "{set:?} {awaited:?} {scope:?}: {found:?}"
        );
    }
}

/// Each block changes a word by an operation that does not commute, in which all its threads take part.
fn in_turn(wait: bool, release: bool) -> Result<Vec<u64>, girih_sim::Error> {
    let mut b = Builder::new("k", 80, THREADS);
    let to = b.pointer("to", 8);
    let (block, thread) = (b.special(Special::CtaidX), b.special(Special::TidX));
    let turn = Semaphore::new(&b, &Gmem::new(to.clone(), DType::U32)).unwrap();
    let number = Scalar::index(&block, DType::U32);
    if wait {
        turn.wait_eq(&mut b, &number).unwrap();
    }
    let at = &(&to + 8) + &(&thread * 8);
    let reg = b.reg(girih_ptx::Type::U32);
    b.load(Space::Gmem, std::slice::from_ref(&reg), &at, &Cond::Always).unwrap();
    let next = b.scalar_in(&reg, DType::U32).unwrap() * 10 + &number;
    let next = b.scalar(&next).unwrap();
    b.store(Space::Gmem, &at, &[next], &Cond::Always).unwrap();
    if release {
        turn.release(&mut b, &(number + 1)).unwrap();
    } else {
        turn.arrive(&mut b).unwrap();
    }
    run(b.finish().unwrap().module(), 5, &[], 1 + THREADS as usize)
}

#[test]
fn blocks_hand_over_in_their_order() {
    for release in [true, false] {
        let out = in_turn(true, release).unwrap();
        assert_eq!(out[0], 5);
        assert!(out[1..].iter().all(|&word| word == 1234), "{out:?}");
    }
    let found = in_turn(false, true);
    assert!(matches!(found, Err(girih_sim::Error::Race { .. })), "{found:?}");
}

/// All blocks write; a block that waits for all others reads what all have written.
#[test]
fn a_block_waits_for_all_others() {
    let blocks = 6;
    let mut b = Builder::new("k", 80, THREADS);
    let to = b.pointer("to", 8);
    let (block, thread) = (b.special(Special::CtaidX), b.special(Special::TidX));
    let all = Semaphore::new(&b, &Gmem::new(to.clone(), DType::U32)).unwrap();
    let number = b.scalar(&(Scalar::index(&block, DType::U32) + 1)).unwrap();
    let first = Cond::less(&thread, &Expr::from(1));
    b.store(Space::Gmem, &(&(&to + 16) + &(&block * 8)), &[number], &first).unwrap();
    all.arrive(&mut b).unwrap();
    b.if_(&Cond::less(&block, &Expr::from(1)), |b| {
        all.wait_at_least(b, &Scalar::new(DType::U32, f64::from(blocks)))?;
        let mut sum = Scalar::new(DType::U32, 0.0);
        for other in 0..i64::from(blocks) {
            let reg = b.reg(girih_ptx::Type::U32);
            b.load(Space::Gmem, std::slice::from_ref(&reg), &(&to + (16 + 8 * other)), &Cond::Always)?;
            sum = sum + b.scalar_in(&reg, DType::U32)?;
        }
        let sum = b.scalar(&sum)?;
        b.store(Space::Gmem, &(&to + 8), &[sum], &first)
    })
    .unwrap();
    let out = run(b.finish().unwrap().module(), blocks, &[], 2 + blocks as usize).unwrap();
    assert_eq!(out[1], 21);
}

#[test]
fn what_no_atomic_operation_is_is_refused() {
    let mut b = Builder::new("k", 80, 32);
    let pointer = b.pointer("to", 8);
    let at = |b: &Builder, dtype| AtomicRef::new(b, &Gmem::new(pointer.clone(), dtype), Scope::Gpu);
    assert!(matches!(at(&b, DType::E4m3), Err(Error::Sync(SyncError::AtomicDType { .. }))));
    let word = at(&b, DType::U32).unwrap();
    let (one, half) = (Scalar::new(DType::U32, 1.0), Scalar::new(DType::F32, 0.5));
    let refused = |found: Result<(), Error>, kind: &str| match found {
        Err(Error::Sync(error)) => assert_eq!(error.kind(), kind),
        found => panic!("{found:?}"),
    };
    let mismatch =
        |found: Result<(), Error>| assert!(matches!(found, Err(Error::Mismatch { .. })), "{found:?}");
    refused(AtomicRef::new(&b, &Gmem::new(pointer.clone(), DType::U32), Scope::Cluster).map(drop), "Scope");
    refused(atomic_thread_fence(&mut b, AcqRel, Scope::Cluster), "Scope");
    for order in [Release, AcqRel] {
        refused(word.load(&mut b, order).map(drop), "LoadOrder");
    }
    for order in [Acquire, AcqRel] {
        refused(word.store(&mut b, &one, order), "StoreOrder");
    }
    mismatch(word.store(&mut b, &half, Relaxed));
    mismatch(word.fetch_add(&mut b, &half, Relaxed).map(drop));
    mismatch(word.compare_exchange(&mut b, &one, &half, Relaxed).map(drop));
    refused(Semaphore::new(&b, &Gmem::new(pointer.clone(), DType::S32)).map(drop), "Semaphore");
    let shared = Smem::alloc(&mut b, DType::U32, None, &lay!("1:1")).unwrap();
    refused(Semaphore::new(&b, shared.engine()).map(drop), "Semaphore");
    assert_eq!(shared.engine().dtype(), DType::U32);
}
