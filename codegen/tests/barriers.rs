//! mbarriers and pipelines on the simulator with every check on, and the simulator's reports when one of their parts is missing.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::algorithm::{CopyWith, copy, fence_barrier_init};
use girih_codegen::atom::{CopyAtom, Transfer};
use girih_codegen::sync::{CpAsyncRing, PingPong};
use girih_codegen::{
    Builder, Cond, Error, Expr, Gmem, MBARRIER_BYTES, Mbarrier, Memory as _, Pipeline, PipelineState, Smem,
    TiledCopy, Width,
};
use girih_layout::{Lay, Tile, Tiles, lay};
use girih_ptx::{Module, Special};
use girih_sim::{Deny, Launch, Memory, Options};
use girih_tensor::{DType, Slice, Space, Tensor};

use crate::mutants::without;
use crate::simulator::{self, addresses, blocks, download, upload};

fn run(module: &Module, launch: [u32; 4], memory: &Memory, args: &[u64], seed: u64) -> Result<(), String> {
    let [grid, threads, cluster, dynamic_shared] = launch;
    let launch = blocks(grid.into(), threads, dynamic_shared, addresses(args));
    let launch = Launch { cluster: (cluster > 0).then_some([cluster, 1, 1]), ..launch };
    // The module is parsed from its text, so that findings have lines.
    let module = Module::parse(&module.to_string()).unwrap();
    let options = Options { seed, deny: Deny::Warnings, ..Options::checked() };
    simulator::run(&module, memory, &launch, &options).map(drop).map_err(|e| e.to_string())
}

const CHUNK: i64 = 64;
const CHUNKS: i64 = 7;

/// Thread 0 loads chunks by bulk copies; the warps after the first one add up the chunks, each thread a column of its own.
fn pipelined(stages: i64) -> Result<Module, Error> {
    let mut b = Builder::new("k", 90, 96);
    let (from, to) = (b.pointer("from", 16), b.pointer("to", 4));
    let thread = b.special(Special::TidX);
    let pipeline = Pipeline::new(&mut b, stages, 4 * CHUNK, 2)?;
    let shared = Smem::alloc(&mut b, DType::U32, None, &Lay::col_major([CHUNK, stages])?)?;
    let source = Tensor::new(Gmem::new(from, DType::U32), Lay::col_major([CHUNK, CHUNKS]).unwrap());
    let target = Tensor::new(Gmem::new(to, DType::U32), lay!("64:1"));
    b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
        pipeline.init(b)?;
        fence_barrier_init(b);
        Ok(())
    })?;
    b.barrier();
    let atom = CopyAtom::bulk(Transfer::Load, 32 * CHUNK)?;
    let bulk = TiledCopy::from_tv(atom, 32, &lay!("(1,64):(0,1)"), Tiles::new(&[Tile::Lay(lay!("64:1"))])?)?;
    let column = |tensor: &Expr| Slice::tuple([Slice::All, Slice::At(tensor.clone())]);
    b.if_else(
        &Cond::less(&thread, &Expr::from(32)),
        |b| {
            b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
                let state = PipelineState::new(b, stages);
                b.for_range(&Expr::from(CHUNKS), |b, chunk| {
                    let stage = state.stage(b);
                    pipeline.producer_acquire(b, &stage)?;
                    let full = pipeline.full(&stage.index)?;
                    let mine = bulk.get_slice(&Expr::from(0))?;
                    copy(
                        b,
                        CopyWith::from(&bulk).barrier(full.address()),
                        &mine.partition_s(&source.slice(column(chunk))?)?,
                        &mine.partition_d(&shared.slice(column(&stage.index))?)?,
                    )?;
                    state.advance(b);
                    Ok(())
                })
            })
        },
        |b| {
            let place = b.bounded(&(&thread - &Expr::from(32)), 63)?;
            let sum = b.reg(girih_ptx::Type::U32);
            b.ptx("mov.u32 %0, 0;", &[&sum])?;
            let state = PipelineState::new(b, stages);
            b.for_range(&Expr::from(CHUNKS), |b, _| {
                let stage = state.stage(b);
                pipeline.consumer_wait(b, &stage)?;
                let value = b.reg(girih_ptx::Type::U32);
                let at = Slice::tuple([Slice::At(place.clone()), Slice::At(stage.index.clone())]);
                let address = shared.slice(&at)?.into_engine().address()?;
                b.load(Space::Smem, std::slice::from_ref(&value), &address, &Cond::Always)?;
                b.ptx("add.u32 %0, %0, %1; bar.warp.sync -1;", &[&sum, &value])?;
                let leader = Cond::less(&place.rem(32)?, &Expr::from(1));
                pipeline.consumer_release(b, &stage, &leader)?;
                state.advance(b);
                Ok(())
            })?;
            let address = target.slice(Slice::At(place.clone()))?.into_engine().address()?;
            b.store(Space::Gmem, &address, &[sum], &Cond::Always)
        },
    )?;
    Ok(b.finish()?.into_module())
}

fn sums(module: &Module, stages: i64, seed: u64) -> Result<(), String> {
    let memory = Memory::new();
    let (from, to) =
        (memory.alloc((4 * CHUNK * CHUNKS) as usize).unwrap(), memory.alloc(4 * CHUNK as usize).unwrap());
    let values: Vec<u32> = (0..(CHUNK * CHUNKS) as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    memory.write(from, &bytes).unwrap();
    run(module, [1, 96, 0, 1024 + (4 * CHUNK * stages) as u32], &memory, &[from, to], seed)?;
    let mut out = vec![0; 4 * CHUNK as usize];
    memory.read(to, &mut out).unwrap();
    for (i, found) in out.chunks_exact(4).enumerate() {
        let expected =
            values.iter().skip(i).step_by(CHUNK as usize).fold(0u32, |sum, v| sum.wrapping_add(*v));
        let found = u32::from_le_bytes(found.try_into().unwrap());
        if found != expected {
            return Err(format!("sum {i} is {found}, not {expected}"));
        }
    }
    Ok(())
}

#[test]
fn what_is_loaded_is_added_up() {
    for stages in [1, 2, 3, 4, 8] {
        let module = pipelined(stages).unwrap();
        for seed in 0..8 {
            sums(&module, stages, seed).unwrap_or_else(|e| panic!("{stages} stages, seed {seed}: {e}"));
        }
    }
}

/// The pipeline is reported when any one of its arrivals, barriers, fences and waits is missing.
#[test]
fn every_part_is_needed() {
    let module = pipelined(2).unwrap();
    let mut removed = 0;
    for index in 0.. {
        let Some((mutant, text)) = without(&module, index) else { break };
        removed += 1;
        let caught = (0..8).find_map(|seed| sums(&mutant, 2, seed).err());
        println!("{text}: {caught:?}");
        assert!(caught.is_some(), "{text} is not missed");
    }
    assert_eq!(removed, 11);
}

/// Each of two blocks waits for the other's threads at an mbarrier of its own.
#[test]
fn threads_arrive_in_the_other_block() {
    let mut b = Builder::new("k", 90, 32);
    let to = b.pointer("to", 4);
    let thread = b.special(Special::TidX);
    let base = b.alloc_shared(MBARRIER_BYTES, MBARRIER_BYTES).unwrap();
    let rank = b.special(Special::ClusterCtarank);
    let barrier = Mbarrier::new(&base).unwrap();
    b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
        barrier.init(b, 20)?;
        fence_barrier_init(b);
        Ok(())
    })
    .unwrap();
    b.cluster_sync();
    let other = &Expr::from(1) - &rank;
    barrier.arrive_remote(&mut b, &other, &Cond::less(&thread, &Expr::from(20))).unwrap();
    barrier.wait(&mut b, &Expr::from(0)).unwrap();
    let value = b.value(&(&rank + 7), Width::W32).unwrap();
    b.store(Space::Gmem, &(&to + &(&(&(&rank * 32) + &thread) * 4)), &[value], &Cond::Always).unwrap();
    b.cluster_sync();
    let module = b.finish().unwrap().into_module();
    let memory = Memory::new();
    let to = memory.alloc(256).unwrap();
    run(&module, [2, 32, 2, MBARRIER_BYTES as u32], &memory, &[to], 0).unwrap();
    let mut out = vec![0; 256];
    memory.read(to, &mut out).unwrap();
    assert!(out.chunks_exact(4).enumerate().all(|(i, w)| w == (7 + i as u32 / 32).to_le_bytes()));
}

/// Each warpgroup notes its number in its part of each iteration, with nothing but the ping-pong between the accesses of different warpgroups.
fn alternating(warpgroups: i64) -> Result<Module, Error> {
    let mut b = Builder::new("k", 90, 128 * warpgroups as u32);
    let notes = b.pointer("notes", 4);
    let thread = b.special(Special::TidX);
    let warpgroup = b.canonical_warp_group_idx(&thread)?;
    let ping_pong = PingPong::new(&mut b, &warpgroup, warpgroups, 3)?;
    let leader = Cond::less(&thread.rem(128)?, &Expr::from(1));
    let (base, number) = (b.value(&notes, Width::W64)?, b.value(&warpgroup, Width::W32)?);
    let (count, place) = (b.reg(girih_ptx::Type::U32), b.reg(girih_ptx::Type::U64));
    b.if_(&ping_pong.opens(), |b| ping_pong.signal(b))?;
    b.for_range(&Expr::from(ITERATIONS), |b, _| {
        ping_pong.wait(b)?;
        // The first word is the number of notes.
        b.if_(&leader, |b| {
            b.ptx(
                "ld.global.u32 %0, [%1]; add.u32 %0, %0, 1; mad.wide.u32 %2, %0, 4, %1; st.global.u32 [%2], %3; st.global.u32 [%1], %0;",
                &[&count, &base, &place, &number],
            )
        })?;
        ping_pong.signal(b)
    })?;
    b.if_(&ping_pong.closes(), |b| ping_pong.wait(b))?;
    Ok(b.finish()?.into_module())
}

const ITERATIONS: i64 = 5;

#[test]
fn warpgroups_alternate() {
    for warpgroups in 2..=4 {
        let module = alternating(warpgroups).unwrap();
        let ran = |module: &Module, seed| {
            let memory = Memory::new();
            let notes = 1 + warpgroups * ITERATIONS;
            let to = upload(&memory, &vec![0; 4 * notes as usize]);
            run(module, [1, 128 * warpgroups as u32, 0, 0], &memory, &[to], seed)?;
            let bytes = download(&memory, to, 4 * notes as usize);
            let words =
                bytes.chunks_exact(4).map(|word| i64::from(u32::from_le_bytes(word.try_into().unwrap())));
            Ok::<Vec<i64>, String>(words.collect())
        };
        let order = (0..warpgroups * ITERATIONS).map(|i| (warpgroups - i % warpgroups) % warpgroups);
        let expected: Vec<i64> = std::iter::once(warpgroups * ITERATIONS).chain(order).collect();
        for seed in 0..4 {
            assert_eq!(ran(&module, seed).unwrap(), expected, "{warpgroups} warpgroups");
        }
        // Without the first signal nobody begins; without a wait or a signal of an iteration, warpgroups race or wait forever. The last wait
        // leaves the barrier as it was found.
        for index in 0..3 {
            let (module, text) = without(&module, index).unwrap();
            assert!((0..8).any(|seed| ran(&module, seed).is_err()), "{text} is not missed");
        }
        assert!(without(&module, 3).is_some() && without(&module, 4).is_none());
    }
}

#[test]
fn misuse_is_told() {
    let mut b = Builder::new("k", 90, 32);
    let base = b.alloc_shared(16, 8).unwrap();
    let barrier = Mbarrier::new(&base).unwrap();
    let mut texts = String::new();
    let mut say = |error: Error| texts += &format!("{error}\n");
    say(Mbarrier::new(&(&base + 4)).unwrap_err());
    say(barrier.init(&mut b, 0).unwrap_err());
    say(barrier.init(&mut b, 1 << 20).unwrap_err());
    say(barrier.arrive_and_expect_tx(&mut b, 1 << 20, &Cond::Always).unwrap_err());
    say(Pipeline::new(&mut b, 0, 128, 1).unwrap_err());
    say(Pipeline::new(&mut b, i64::MAX, 128, 1).unwrap_err());
    say(CpAsyncRing::new(1, true).unwrap_err());
    for (warpgroups, first) in [(1, 1), (2, 0), (4, 13)] {
        say(PingPong::new(&mut b, &Expr::from(0), warpgroups, first).unwrap_err());
    }
    expect_test::expect![[r#"
        mbarrier: v0 + 4 does not fit an mbarrier: addresses that are known to be multiples of 8 bytes
        a phase of an mbarrier with 0 arrivals: 1 to 1048575 are accepted
        a phase of an mbarrier with 1048576 arrivals: 1 to 1048575 are accepted
        a phase of an mbarrier with 1048576 bytes: 0 to 1048575 are accepted
        0 stages: 1 to 14528 are accepted
        9223372036854775807 stages: 1 to 14528 are accepted
        1 stages: 2 to 232448 are accepted
        ping-pong of 1 warpgroups by barriers 1 and up: 2 warpgroups or more are accepted, each with a barrier of its own in 1 to 15
        ping-pong of 2 warpgroups by barriers 0 and up: 2 warpgroups or more are accepted, each with a barrier of its own in 1 to 15
        ping-pong of 4 warpgroups by barriers 13 and up: 2 warpgroups or more are accepted, each with a barrier of its own in 1 to 15
    "#]]
    .assert_eq(&texts);
}
