//! Barriers that the lanes of a warp reach at different places, and fences: the promises of the PTX ISA hold on every device.

use std::fmt::Write;

use girih_device::{Arg, Device, LaunchConfig};

use super::{Random, kernel};

/// Threads of a block.
const THREADS: usize = 96;
/// The number of places at which the lanes of a warp reach a barrier.
const PLACES: usize = 3;

/// The way in which the threads of a block wait for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    Sync,
    Count,
    Popc,
    And,
    Or,
    /// The first warp arrives and does not wait.
    Handoff,
    /// Some threads have ended before.
    Leave,
}

impl Meeting {
    fn random(random: &mut Random) -> Meeting {
        use Meeting::*;
        [Sync, Count, Popc, And, Or, Handoff][random.below(6) as usize]
    }

    fn instruction(self) -> &'static str {
        match self {
            Meeting::Sync | Meeting::Leave => "barrier.sync 0;",
            Meeting::Count => "barrier.cta.sync 3, 96;",
            Meeting::Popc => "barrier.cta.red.popc.u32 %c, 0, %odd;",
            Meeting::And => "barrier.red.and.pred %q, 0, %some; selp.u32 %c, 7, 0, %q;",
            Meeting::Or => "barrier.red.or.pred %q, 2, !%some; selp.u32 %c, 9, 0, %q;",
            Meeting::Handoff => "@%first barrier.arrive 1, 96; @!%first barrier.cta.sync 1, 96;",
        }
    }
}

/// A kernel in which in each round each thread writes a word, waits for the others at the place that two bits of its path name, and
/// reads the word of another thread.
struct Meetings {
    /// The barrier of each round, and the distance in threads from which each thread reads.
    rounds: Vec<(Meeting, usize)>,
}

impl Meetings {
    fn random(random: &mut Random) -> Meetings {
        let mut round = |_| (Meeting::random(random), random.below(THREADS as u64) as usize);
        let mut rounds: Vec<_> = (0..10).map(&mut round).collect();
        rounds.extend((10..13).map(|i| (Meeting::Leave, round(i).1)));
        Meetings { rounds }
    }

    fn text(&self) -> String {
        let mut text = String::from(
            ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry meet(.param .u64 values, .param .u64 paths, .param .u64 out) .reqntid 96 {
  .shared .align 4 .b8 words[768];
  .reg .b32 %i, %v, %x, %c, %s, %at, %path, %p; .reg .b64 %d, %o, %out; .reg .pred %q, %odd, %some, %first;
  mov.u32 %i, %tid.x; mov.u32 %s, words; mul.wide.u32 %o, %i, 4;
  ld.param.u64 %d, [values]; add.u64 %d, %d, %o; ld.global.u32 %v, [%d];
  ld.param.u64 %d, [paths]; add.u64 %d, %d, %o; ld.global.u32 %path, [%d];
  ld.param.u64 %out, [out]; add.u64 %out, %out, %o; setp.lt.u32 %first, %i, 32;
  shl.b32 %at, %i, 2; add.u32 %at, %at, %s; st.shared.u32 [%at], 0; st.shared.u32 [%at+384], 0;
  bar.sync 0;\n",
        );
        for (round, &(meeting, from)) in self.rounds.iter().enumerate() {
            let buffer = round % 2 * 384;
            writeln!(
                text,
                "  and.b32 %p, %path, 3; shr.u32 %path, %path, 2; mov.u32 %c, 0;
  and.b32 %x, %v, 1; setp.eq.u32 %odd, %x, 1; and.b32 %x, %v, 63; setp.ne.u32 %some, %x, 0;"
            )
            .unwrap();
            if meeting == Meeting::Leave {
                writeln!(text, "  setp.eq.u32 %q, %p, 3; @%q bra END;").unwrap();
            }
            writeln!(text, "  st.shared.u32 [%at+{buffer}], %v;").unwrap();
            for place in 0..PLACES {
                if place + 1 < PLACES {
                    writeln!(text, "  setp.ne.u32 %q, %p, {place}; @%q bra R{round}P{};", place + 1).unwrap();
                }
                writeln!(text, "  {} xor.b32 %v, %v, {};", meeting.instruction(), 77 * place + 1).unwrap();
                if place + 1 < PLACES {
                    writeln!(text, "  bra R{round};\nR{round}P{}:", place + 1).unwrap();
                }
            }
            let handoff = meeting == Meeting::Handoff;
            let threads = if handoff { 32 } else { THREADS };
            writeln!(
                text,
                "R{round}: add.u32 %x, %i, {from}; rem.u32 %x, %x, {threads}; mad.lo.u32 %x, %x, 4, %s;
  {}ld.shared.u32 %p, [%x+{buffer}]; mad.lo.u32 %v, %v, 3, %c; {}add.u32 %v, %v, %p;{}",
                if handoff { "@!%first " } else { "" },
                if handoff { "@!%first " } else { "" },
                if handoff { " barrier.sync 0;" } else { "" },
            )
            .unwrap();
        }
        text + "END: st.global.u32 [%out], %v; ret;\n}"
    }

    /// The values that the threads have in the end.
    fn results(&self, values: &[u32], paths: &[u32]) -> Vec<u32> {
        let mut values = values.to_vec();
        let mut memory = [[0; THREADS]; 2];
        let mut there = [true; THREADS];
        for (round, &(meeting, from)) in self.rounds.iter().enumerate() {
            let path = |i: usize| (paths[i] >> (2 * round) & 3) as usize;
            for i in 0..THREADS {
                there[i] &= !(meeting == Meeting::Leave && path(i) == 3);
                if there[i] {
                    memory[round % 2][i] = values[i];
                }
            }
            let some = |value: &u32| !value.is_multiple_of(64);
            let c = match meeting {
                Meeting::Popc => values.iter().filter(|value| **value % 2 == 1).count() as u32,
                Meeting::And => 7 * u32::from(values.iter().all(some)),
                Meeting::Or => 9 * u32::from(!values.iter().all(some)),
                _ => 0,
            };
            let handoff = meeting == Meeting::Handoff;
            for i in (0..THREADS).filter(|&i| there[i]) {
                let read = memory[round % 2][(i + from) % if handoff { 32 } else { THREADS }];
                let read = if handoff && i < 32 { 0 } else { read };
                let mixed = values[i] ^ (77 * path(i).min(PLACES - 1) as u32 + 1);
                values[i] = mixed.wrapping_mul(3).wrapping_add(c).wrapping_add(read);
            }
        }
        values
    }
}

/// Threads that wait at several places read what the other threads wrote before.
pub fn meetings_agree(device: &Device, kernels: usize) {
    let mut random = Random::new(21);
    for _ in 0..kernels {
        let meetings = Meetings::random(&mut random);
        let text = meetings.text();
        let meet = kernel(device, &text, "meet");
        for _ in 0..4 {
            let mut words = || (0..THREADS).map(|_| random.next() as u32).collect::<Vec<_>>();
            let (values, paths) = (words(), words());
            let [dv, dp] = [&values, &paths].map(|words| device.upload(words).unwrap());
            let out = device.zeros::<u32>(THREADS).unwrap();
            let args = [Arg::from(&dv), Arg::from(&dp), Arg::from(&out)];
            // SAFETY: each of the threads reads two words and writes one.
            unsafe { meet.launch(&LaunchConfig::new([1; 3], [THREADS as u32, 1, 1]), &args) }
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(out.download().unwrap(), meetings.results(&values, &paths), "{text}");
        }
    }
}

/// The number of rounds of the two threads below.
const ROUNDS: usize = 64;

/// In each round two threads wait for each other; then each thread writes its own word, executes a fence, and reads the other's word.
/// Behind another fence each thread reads what the other has written before its word. If `apart` is true the threads are in two
/// blocks of a cluster, otherwise in two warps of a block.
fn store_and_load(fence: &str, scope: &str, apart: bool) -> String {
    let me = if apart { "%cluster_ctarank" } else { "%tid.y" };
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64
.visible .entry fences(.param .u64 words, .param .u64 out) {{
  .reg .b64 %mine, %other, %both, %out, %d; .reg .b32 %me, %r, %x, %y, %want; .reg .pred %p;
  ld.param.u64 %both, [words]; ld.param.u64 %out, [out]; mov.u32 %me, {me}; mov.u32 %r, 0;
  mov.u32 %x, %tid.x; setp.ne.u32 %p, %x, 0; @%p exit;
  mul.wide.u32 %d, %me, 128; add.u64 %mine, %both, %d; xor.b32 %x, %me, 1; mul.wide.u32 %d, %x, 128; add.u64 %other, %both, %d;
  mul.wide.u32 %d, %me, {bytes}; add.u64 %out, %out, %d;
ROUND: add.u32 %r, %r, 1; shl.b32 %want, %r, 1;
  atom.add.relaxed.{scope}.u32 %x, [%both+256], 1;
MEET: ld.relaxed.{scope}.u32 %x, [%both+256]; setp.lt.u32 %p, %x, %want; @%p bra MEET;
  mad.lo.u32 %x, %r, 5, %me;
  st.u32 [%mine+64], %x; {fence} st.relaxed.{scope}.u32 [%mine], %r; {fence} ld.relaxed.{scope}.u32 %x, [%other];
  st.u32 [%out], %x;
  // A thread that has read the word reads what the other thread has written before it.
WAIT: ld.relaxed.{scope}.u32 %x, [%other]; setp.lt.u32 %p, %x, %r; @%p bra WAIT; {fence}
  ld.u32 %y, [%other+64]; st.u32 [%out+4], %y; add.u64 %out, %out, 8;
  // The threads wait until both have read: an atomic operation between fences.
  {fence} atom.add.relaxed.{scope}.u32 %x, [%both+320], 1;
READ: ld.relaxed.{scope}.u32 %x, [%both+320]; setp.lt.u32 %p, %x, %want; @%p bra READ; {fence}
  setp.lt.u32 %p, %r, {ROUNDS}; @%p bra ROUND; ret;
}}",
        bytes = 8 * ROUNDS
    )
}

/// Of two threads that write and then read, at least one reads what the other wrote; after the word both read the other's number.
pub fn fences_agree(device: &Device) {
    let mut together = 0;
    for (fence, scope, apart) in [
        ("fence.sc.gpu;", "gpu", true),
        ("fence.sc.sys;", "sys", true),
        ("fence.sc.cluster;", "cluster", true),
        ("fence.sc.cta;", "cta", false),
        ("membar.gl;", "gpu", true),
        ("membar.sys;", "sys", true),
        ("membar.cta;", "cta", false),
        ("fence.gpu.sc;", "gpu", true),
    ] {
        let fences = kernel(device, &store_and_load(fence, scope, apart), "fences");
        let words = device.zeros::<u32>(128).unwrap();
        let out = device.zeros::<u32>(4 * ROUNDS).unwrap();
        let config = match apart {
            true => LaunchConfig::new([2, 1, 1], [1, 1, 1]).with_cluster([2, 1, 1]),
            false => LaunchConfig::new([1, 1, 1], [32, 2, 1]),
        };
        // SAFETY: the threads use two lines of words each, and write two words of results a round.
        unsafe { fences.launch(&config, &[Arg::from(&words), Arg::from(&out)]) }
            .unwrap_or_else(|error| panic!("{fence} {error}"));
        let found = out.download().unwrap();
        let (one, other) = found.split_at(2 * ROUNDS);
        for (r, (one, other)) in (1..).zip(one.chunks_exact(2).zip(other.chunks_exact(2))) {
            assert!(one[0] == r || other[0] == r, "{fence} round {r}: {one:?} {other:?}");
            assert_eq!((one[1], other[1]), (5 * r + 1, 5 * r), "{fence} round {r}");
            together += u32::from(one[0] == other[0]);
        }
    }
    println!("{together} rounds in which both saw the other");
}

/// In each round block 0 writes 16 bytes into its shared memory. Block 1 of the cluster reads them when block 0 has set a flag in the
/// shared memory of block 1, and a bulk copy writes them to global memory.
const RESTRICTED: &str = "
.version 8.6
.target sm_90a
.address_size 64
.visible .entry restricted(.param .u64 seen, .param .u64 copied, .param .u32 rounds) {
  .shared .align 16 .b8 data[16]; .shared .align 4 .b32 flag; .shared .align 4 .b32 answer;
  .reg .b32 %d, %f, %r, %x, %y, %rounds, %rank; .reg .b64 %seen, %copied, %o; .reg .pred %p;
  ld.param.u64 %seen, [seen]; ld.param.u64 %copied, [copied]; ld.param.u32 %rounds, [rounds];
  mov.u32 %rank, %cluster_ctarank; mov.u32 %r, 0;
  st.shared.u32 [flag], 0; st.shared.u32 [answer], 0;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.eq.u32 %p, %rank, 0; @!%p bra READER;
  mov.u32 %f, flag; mapa.shared::cluster.u32 %f, %f, 1;
WRITE: add.u32 %r, %r, 1; mul.lo.u32 %x, %r, 3; mul.lo.u32 %y, %r, %r;
  st.shared.v4.u32 [data], {%r, %x, %y, %r};
  fence.release.sync_restrict::shared::cta.cluster;
  st.relaxed.cluster.shared::cluster.u32 [%f], %r;
  fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
  mov.u32 %d, data; cp.async.bulk.global.shared::cta.bulk_group [%copied], [%d], 16;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
  add.u64 %copied, %copied, 16;
ANSWERED: ld.acquire.cluster.shared.u32 %x, [answer]; setp.lt.u32 %p, %x, %r; @%p bra ANSWERED;
  setp.lt.u32 %p, %r, %rounds; @%p bra WRITE;
  bra END;
READER:
  mov.u32 %f, answer; mapa.shared::cluster.u32 %f, %f, 0; mov.u32 %d, data; mapa.shared::cluster.u32 %d, %d, 0;
READ: add.u32 %r, %r, 1;
POLL: ld.relaxed.cluster.shared.u32 %x, [flag]; setp.lt.u32 %p, %x, %r; @%p bra POLL;
  fence.acquire.sync_restrict::shared::cluster.cluster;
  ld.shared::cluster.u32 %x, [%d+4]; ld.shared::cluster.u32 %y, [%d+8];
  st.global.v2.u32 [%seen], {%x, %y}; add.u64 %seen, %seen, 8;
  st.release.cluster.shared::cluster.u32 [%f], %r;
  setp.lt.u32 %p, %r, %rounds; @%p bra READ;
END: barrier.cluster.arrive; barrier.cluster.wait; ret;
}";

/// Fences that are restricted to shared memory order the accesses to shared memory.
pub fn restricted_fences_agree(device: &Device) {
    let restricted = kernel(device, RESTRICTED, "restricted");
    let rounds = 100u32;
    let (seen, copied) = (device.zeros::<u32>(200).unwrap(), device.zeros::<u32>(400).unwrap());
    let config = LaunchConfig::new([2, 1, 1], [1, 1, 1]).with_cluster([2, 1, 1]);
    // SAFETY: eight and sixteen bytes are written in each round.
    unsafe { restricted.launch(&config, &[Arg::from(&seen), Arg::from(&copied), Arg::from(rounds)]) }
        .unwrap();
    let wanted = |count: usize, word: fn(u32) -> [u32; 4]| -> Vec<u32> {
        (1..=rounds).flat_map(|r| word(r).into_iter().take(count)).collect()
    };
    assert_eq!(seen.download().unwrap(), wanted(2, |r| [3 * r, r * r, 0, 0]));
    assert_eq!(copied.download().unwrap(), wanted(4, |r| [r, 3 * r, r * r, r]));
}
