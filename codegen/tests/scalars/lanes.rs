//! Votes, shuffles, reductions and scans of the threads of a warp, a block and a cluster.

use girih_codegen::algorithm::{block_scan, cluster_reduce, warp_scan};
use girih_codegen::scalar::COMPUTED;
use girih_codegen::{Builder, BuilderError, Cond, Error, Scalar};
use girih_ptx::{Special, Type};
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::{DType, Space};

use super::together::per_thread;

/// Sets of the lanes of a warp, as bits.
const SETS: [u32; 6] = [0, u32::MAX, 1, 0x8000_0000, 0x1234_5678, 0xffff_fffe];

/// Whether the thread's lane is in the set.
fn member(thread: &Scalar, set: u32) -> Cond {
    let bits = Scalar::new(DType::U32, set.into());
    Cond::not(((bits >> (thread & 31).to(DType::U32)) & 1).equals(0))
}

#[test]
fn votes_are_of_all_lanes() {
    let flag = |cond: &Cond| Scalar::new(DType::S32, 1.0).select(cond, 0);
    for set in SETS {
        let run = |vote: fn(&mut Builder, &Cond) -> Result<Cond, Error>| {
            per_thread(64, |b, thread| {
                let holds = vote(b, &member(thread, set))?;
                Ok(flag(&holds))
            })
            .unwrap()
        };
        assert_eq!(run(Builder::vote_all), [i32::from(set == u32::MAX); 64], "{set:#x}");
        assert_eq!(run(Builder::vote_any), [i32::from(set != 0); 64], "{set:#x}");
        let lanes = per_thread(64, |b, thread| Ok(b.ballot(&member(thread, set))?.to(DType::S32)));
        assert_eq!(lanes.unwrap(), [set as i32; 64]);
    }
    for (cond, all) in [(Cond::Always, 1), (Cond::Never, 0)] {
        let found = per_thread(32, |b, _| Ok(flag(&b.vote_all(&cond)?))).unwrap();
        assert_eq!(found, [all; 32]);
    }
}

#[test]
fn lanes_with_the_same_bits_are_found() {
    for dtype in COMPUTED {
        let key = |thread: i32| thread * 7 % 5;
        let found = per_thread(64, |b, thread| {
            let own = ((thread * 7) % 5).to(dtype);
            Ok(b.match_any(&own)?.to(DType::S32))
        });
        if dtype.bits() == 16 {
            assert!(matches!(found, Err(Error::Builder(BuilderError::MatchDType { .. }))), "{found:?}");
            continue;
        }
        let same = |thread: i32| {
            let lanes = (0..32).filter(|lane| key(thread / 32 * 32 + lane) == key(thread));
            lanes.fold(0u32, |all, lane| all | 1 << lane) as i32
        };
        assert_eq!(found.unwrap(), (0..64).map(same).collect::<Vec<_>>(), "{dtype}");
    }
}

/// An operation that is associative and not commutative: the last operand that is not zero.
fn last(x: &Scalar, y: &Scalar) -> Scalar {
    x.select(&y.equals(0), y)
}

#[test]
fn scans_are_of_the_threads_before() {
    let own = |thread: i32| thread * 37 % 11 - 5;
    let value = |thread: &Scalar| (thread * 37) % 11 - 5;
    let folded = |from: i32, to: i32, op: &dyn Fn(i32, i32) -> i32| (from..=to).map(own).reduce(op).unwrap();
    let later = |x: i32, y: i32| if y == 0 { x } else { y };
    let sum = |x: i32, y: i32| x + y;
    for threads in [32, 64, 96, 1024] {
        let all = 0..threads as i32;
        let warp = per_thread(threads, |b, thread| warp_scan(b, &value(thread), last)).unwrap();
        assert_eq!(warp, all.clone().map(|t| folded(t / 32 * 32, t, &later)).collect::<Vec<_>>());
        let block = per_thread(threads, |b, thread| block_scan(b, &value(thread), last)).unwrap();
        assert_eq!(block, all.clone().map(|t| folded(0, t, &later)).collect::<Vec<_>>(), "{threads}");
        // Two scans follow each other in the same shared memory.
        let twice = per_thread(threads, |b, thread| {
            let once = block_scan(b, &value(thread), |x, y| x + y)?;
            Ok(block_scan(b, &once, |x, y| x.max(y))? - once)
        });
        let sums: Vec<i32> = all.clone().map(|t| folded(0, t, &sum)).collect();
        let most = |t: usize| sums[..=t].iter().max().unwrap() - sums[t];
        assert_eq!(twice.unwrap(), (0..threads as usize).map(most).collect::<Vec<_>>());
    }
    let part = per_thread(33, |b, thread| block_scan(b, thread, last));
    assert!(matches!(part, Err(Error::Builder(BuilderError::WholeWarps { threads: 33 }))), "{part:?}");
}

/// The number that each block of a cluster computes from its rank, which all its threads must have.
fn per_block(
    cluster: u32,
    body: impl FnOnce(&mut Builder, &Scalar) -> Result<Scalar, Error>,
) -> Result<Vec<i32>, Error> {
    let (threads, blocks) = (64, 2 * cluster);
    let mut b = Builder::new("k", 90, threads);
    b.cluster([cluster, 1, 1]);
    let (to, thread, block) = (b.pointer("to", 4), b.special(Special::TidX), b.special(Special::CtaidX));
    let number = &(&block * i64::from(threads)) + &thread;
    let result = body(&mut b, &Scalar::index(&number, DType::S32))?;
    let reg = b.scalar(&result)?;
    b.store(Space::Gmem, &(&to + &(&number * 4)), &[reg], &Cond::Always)?;
    let kernel = b.finish()?;
    let memory = Memory::new();
    let at = memory.alloc(4 * (threads * blocks) as usize).unwrap();
    let launch = Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: kernel.shared_bytes(),
        args: vec![at.to_le_bytes().to_vec()],
        ..Launch::default()
    };
    let program = Program::load(kernel.module()).unwrap();
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())
        .unwrap_or_else(|e| panic!("{e}\n{}", kernel.module()));
    let mut out = vec![0; 4 * (threads * blocks) as usize];
    memory.read(at, &mut out).unwrap();
    let out: Vec<i32> =
        out.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect();
    let blocks = out.chunks_exact(threads as usize);
    Ok(blocks
        .map(|of| {
            assert!(of.iter().all(|value| *value == of[0]), "{of:?}");
            of[0]
        })
        .collect())
}

#[test]
fn clusters_reduce_what_their_blocks_have() {
    for cluster in [1, 2, 4, 8] {
        let found = per_block(cluster, |b, number| {
            let sum = cluster_reduce(b, number, |x, y| x + y)?;
            // A second reduction goes through the same memory.
            let most = cluster_reduce(b, number, |x, y| x.max(y))?;
            Ok(sum * 3 - most)
        });
        let threads = 64 * cluster as i32;
        let of = |group: i32| {
            let numbers = group * threads..(group + 1) * threads;
            3 * numbers.clone().sum::<i32>() - (numbers.end - 1)
        };
        let wanted: Vec<i32> = (0..2 * cluster as i32).map(|block| of(block / cluster as i32)).collect();
        assert_eq!(found.unwrap(), wanted, "{cluster}");
    }
    let none = per_thread(32, |b, thread| cluster_reduce(b, thread, |x, y| x + y));
    assert!(matches!(none, Err(Error::Builder(BuilderError::NoCluster {}))), "{none:?}");
    for (sm, blocks, kind) in
        [(80, [2, 1, 1], "Target"), (90, [0, 1, 1], "Cluster"), (90, [4, 4, 2], "Cluster")]
    {
        let mut b = Builder::new("k", sm, 32);
        b.cluster(blocks);
        let Err(Error::Builder(error)) = b.finish() else { panic!("{sm} {blocks:?}") };
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn one_lane_is_elected() {
    let elected = per_block(1, |b, _| {
        let one = Scalar::new(DType::S32, 1.0).select(&b.elect_one()?, 0);
        let count = b.ballot(&one.equals(1))?.count_ones();
        Ok(count.to(DType::S32))
    });
    assert_eq!(elected.unwrap(), [1, 1]);
    let old = Builder::new("k", 80, 32).elect_one();
    assert!(matches!(old, Err(Error::Builder(BuilderError::Target { sm: 80, least: 90, .. }))), "{old:?}");
}

#[test]
fn predicates_are_what_they_hold_now() {
    let mut b = Builder::new("k", 80, 32);
    let reg = b.reg(Type::Pred);
    b.ptx("setp.eq.u32 %0, 1, 2;", &[&reg]).unwrap();
    let holds = b.cond_in(&reg).unwrap();
    assert_eq!(b.cond(&holds).unwrap(), reg);
    let other = Builder::new("other", 80, 32).cond(&holds);
    assert!(matches!(other, Err(Error::OtherBuilder { .. })), "{other:?}");
    b.ptx("setp.eq.u32 %0, 1, 1;", &[&reg]).unwrap();
    for stale in [holds.clone(), Cond::not(holds.clone()), Cond::all([holds.clone(), Cond::Always])] {
        assert!(matches!(b.cond(&stale), Err(Error::Stale { .. })));
    }
    let word = b.reg(Type::B32);
    assert!(matches!(b.cond_in(&word), Err(Error::Mismatch { .. })));
}
