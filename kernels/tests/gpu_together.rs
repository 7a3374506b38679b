//! What threads tell one another is the same on a GPU as in the simulator: votes, scans, reductions, atomic operations in every
//! order and scope, semaphores, and division by numbers known at run time. Skips the GPU with one line where there is none.

use girih_codegen::algorithm::{block_reduce, block_scan, cluster_reduce, warp_reduce, warp_scan};
use girih_codegen::sync::{AtomicRef, MemoryOrder, Scope, Semaphore, atomic_thread_fence};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Kernel, Scalar, Smem};
use girih_device::{Device, Select, args};
use girih_layout::{Int, lay};
use girih_ptx::{Module, Special};
use girih_tensor::{DType, Space};

type Failure = Box<dyn std::error::Error>;

const THREADS: i64 = 96;
const BLOCKS: u32 = 8;
/// How many words all threads share. They stand in front of the two words that each thread has.
const SHARED: i64 = 64;
const WORDS: usize = SHARED as usize + 2 * THREADS as usize * BLOCKS as usize;

/// A kernel `name(x, n)`, in which each thread leaves the two words that `body` makes of its number in the grid.
fn kernel(
    name: &str,
    sm: u32,
    body: impl FnOnce(&mut Builder, &Expr, &Expr, &Scalar) -> Result<[Scalar; 2], Error>,
) -> Result<Kernel, Error> {
    let mut b = Builder::new(name, sm, THREADS as u32);
    if sm >= 90 {
        b.cluster([4, 1, 1]);
    }
    let (x, thread, block) = (b.pointer("x", 8), b.special(Special::TidX), b.special(Special::CtaidX));
    let n = Expr::from_int(&Int::from(b.symbol("n", |n| n.at_least(1).at_most(1000))?));
    let number = &(&block * THREADS) + &thread;
    let words = body(&mut b, &x, &n, &Scalar::index(&number, DType::U32))?;
    for (i, word) in words.iter().enumerate() {
        let reg = b.scalar(&word.to(DType::U32))?;
        b.store(Space::Gmem, &(&x + &(&(&number * 8) + 4 * (SHARED + i as i64))), &[reg], &Cond::Always)?;
    }
    b.finish()
}

fn flag(cond: &Cond) -> Scalar {
    Scalar::new(DType::U32, 1.0).select(cond, 0)
}

fn votes(sm: u32) -> Result<Kernel, Error> {
    kernel("votes", sm, |b, _, _, number| {
        let odd = (number & 5).equals(1);
        let (all, any) = (b.vote_all(&Cond::not(odd.clone()))?, b.vote_any(&odd)?);
        let same = b.match_any(&(number % 7))?;
        let mut lanes = b.ballot(&odd)? + flag(&all) + flag(&any) * 2;
        if sm >= 90 {
            let elected = flag(&b.elect_one()?);
            lanes = lanes + warp_reduce(b, &elected, |x, y| x + y)?;
        }
        Ok([lanes, same])
    })
}

fn scans(sm: u32) -> Result<Kernel, Error> {
    kernel("scans", sm, |b, _, _, number| {
        // This operation is associative and not commutative: it keeps the last value that is not zero.
        let last = |x: &Scalar, y: &Scalar| x.select(&y.equals(0), y);
        let own = (number * 37) % 5;
        let scanned = warp_scan(b, &own, last)? + block_scan(b, &own, last)? * 10;
        let sums = block_scan(b, &number.to(DType::F64), |x, y| x + y)?;
        let mut reduced = block_reduce(b, &sums, |x, y| x.max(y))?.to(DType::U32);
        if sm >= 90 {
            reduced = reduced + cluster_reduce(b, number, |x, y| x + y)?;
        }
        Ok([scanned, reduced])
    })
}

fn division() -> Result<Kernel, Error> {
    kernel("division", 80, |b, _, n, number| {
        let number = b.index_of(&(number * 1_000_003))?;
        let (quotient, remainder) = b.div_rem(&number, n)?;
        // Divisions of numbers beyond 32 bits.
        let (wide, _) = b.div_rem(&(&number * 1_000_003), n)?;
        let both = Scalar::index(&quotient, DType::U32) ^ Scalar::index(&wide, DType::U32);
        Ok([both, Scalar::index(&remainder, DType::U32)])
    })
}

/// All threads update the same words, by operations whose result does not depend on the order of the threads.
fn atomics(sm: u32) -> Result<Kernel, Error> {
    use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    kernel("atomics", sm, |b, x, _, number| {
        let scopes = [Scope::Gpu, Scope::Sys];
        let orders = [Relaxed, Acquire, Release, AcqRel, SeqCst];
        let mut nth = 0;
        for dtype in
            [DType::U32, DType::S32, DType::U64, DType::S64, DType::F32, DType::F64, DType::F16, DType::Bf16]
        {
            if dtype == DType::Bf16 && sm < 90 {
                continue;
            }
            let whole = !dtype.is_float();
            // Sums of so few ones are exact in 16 bits.
            let small = (number & 63).equals(0);
            let value = if whole { number.to(dtype) } else { flag(&small).to(DType::F32).to(dtype) };
            for update in 0..if whole { 6 } else { 1 } {
                let at = Gmem::new(x + 8 * nth, dtype);
                let at = AtomicRef::new(b, &at, scopes[nth as usize % 2])?;
                let order = orders[nth as usize % 5];
                match update {
                    0 => at.fetch_add(b, &value, order)?,
                    1 => at.fetch_max(b, &value, order)?,
                    2 => at.fetch_min(b, &value, order)?,
                    3 => at.fetch_or(b, &value, order)?,
                    4 => at.fetch_and(b, &value, order)?,
                    _ => at.fetch_xor(b, &value, order)?,
                };
                nth += 1;
            }
        }
        assert!(2 * nth <= SHARED);
        // In shared memory: a lock that each thread of the first warp takes in its turn, by compare_exchange.
        let (shared, thread) = (Smem::alloc(b, DType::U32, None, &lay!("1:1"))?, b.special(Special::TidX));
        let turn = AtomicRef::new(b, shared.engine(), Scope::Cta)?;
        let (first, mine) = (Cond::less(&thread, &Expr::from(1)), Scalar::index(&thread, DType::U32));
        b.if_(&first, |b| turn.store(b, &Scalar::new(DType::U32, 0.0), Relaxed))?;
        b.barrier();
        b.repeat_until(|b| {
            let found = turn.compare_exchange(b, &mine, &(&mine + 1), AcqRel)?;
            b.cond(&found.equals(&mine))
        })?;
        b.barrier();
        atomic_thread_fence(b, SeqCst, Scope::Gpu)?;
        let end = turn.load(b, Acquire)?;
        Ok([end.clone(), end])
    })
}

/// One block after the other changes a word by an operation that does not commute, and the first block waits for all of them.
fn semaphores() -> Result<Kernel, Error> {
    kernel("semaphores", 80, |b, x, _, number| {
        let block = b.special(Special::CtaidX);
        let [turn, all] = [0, 8].map(|at| Semaphore::new(b, &Gmem::new(x + at, DType::U32)));
        let (turn, all, own) = (turn?, all?, Scalar::index(&block, DType::U32));
        turn.wait_eq(b, &own)?;
        let (word, first) = (x + 16, Cond::less(&b.special(Special::TidX), &Expr::from(1)));
        b.if_(&first, |b| {
            let reg = b.reg(girih_ptx::Type::U32);
            b.load(Space::Gmem, std::slice::from_ref(&reg), &word, &Cond::Always)?;
            let next = b.scalar_in(&reg, DType::U32)? * 7 + &own;
            let next = b.scalar(&next)?;
            b.store(Space::Gmem, &word, &[next], &Cond::Always)
        })?;
        turn.release(b, &(&own + 1))?;
        all.arrive(b)?;
        all.wait_at_least(b, &Scalar::new(DType::U32, BLOCKS.into()))?;
        let reg = b.reg(girih_ptx::Type::U32);
        b.load(Space::Gmem, std::slice::from_ref(&reg), &word, &Cond::Always)?;
        Ok([b.scalar_in(&reg, DType::U32)?, number.clone()])
    })
}

/// The 64 words that each kernel of a module leaves, which are 0 before it runs.
fn left(device: &Device, module: &Module) -> Result<Vec<Vec<u32>>, Failure> {
    let loaded = device.load(module)?;
    let mut all = Vec::new();
    for info in module.kernels() {
        let kernel = loaded.kernel(&info.name)?;
        let x = device.zeros::<u32>(WORDS)?;
        let (config, args) = (kernel.config([BLOCKS, 1, 1])?, kernel.arguments(&args![x, n = 17u32])?);
        // SAFETY: the kernel stays inside of the buffer, and waits for blocks that are all resident.
        #[expect(unsafe_code, reason = "launching generated kernels")]
        unsafe { kernel.launch(&config, &args) }?;
        all.push(x.download()?);
    }
    Ok(all)
}

/// The kernels for an architecture, linked to one module.
fn linked(sm: u32) -> Result<Module, Failure> {
    let mut kernels = vec![votes(sm)?, scans(sm)?, atomics(sm)?];
    if sm < 90 {
        kernels.extend([division()?, semaphores()?]);
    }
    Ok(Module::link(&kernels.into_iter().map(Kernel::into_module).collect::<Vec<_>>())?)
}

#[test]
fn threads_agree_as_in_the_simulator() -> Result<(), Failure> {
    let sim = Device::open(Select::Sim)?;
    let gpu = Device::open(Select::Cuda(0)).inspect_err(|error| println!("skipped on a GPU: {error}")).ok();
    for sm in [80, 90] {
        let module = linked(sm)?;
        let wanted = left(&sim, &module)?;
        if sm == 80 {
            // The blocks have their turns in the order of their numbers.
            let chained = (0..BLOCKS).fold(0u32, |so_far, block| so_far.wrapping_mul(7) + block);
            assert!(wanted[4][SHARED as usize..].iter().step_by(2).all(|word| *word == chained));
        }
        if let Some(gpu) = gpu.as_ref().filter(|gpu| gpu.limits().sm >= sm) {
            for (info, (found, wanted)) in
                module.kernels().iter().zip(left(gpu, &module)?.iter().zip(&wanted))
            {
                let differ = found.iter().zip(wanted).filter(|(a, b)| a != b).count();
                assert_eq!(differ, 0, "{} for sm_{sm}", info.name);
            }
        }
    }
    Ok(())
}
