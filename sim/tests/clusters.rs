//! Clusters: ranks, distributed shared memory, the cluster's barrier.

use crate::common::{download, launch, module, u64_arg, upload};
use girih_sim::{Awaited, Error, Launch, Memory, Options, Report};

/// Runs lines with an output buffer of `words` words; the first line is line 10.
fn run(
    shape: ([u32; 3], [u32; 3], u32),
    options: &Options,
    words: usize,
    lines: &[&str],
) -> Result<Vec<u32>, Error> {
    let (grid, cluster, threads) = shape;
    let memory = Memory::new();
    let out = upload(&memory, &vec![0; words]);
    let cluster = Some(cluster);
    let shape =
        Launch { grid, cluster, block: [threads, 1, 1], args: vec![u64_arg(out)], ..Launch::default() };
    launch(&text(lines), &memory, &shape, options).map(|_: Report| download(&memory, out, words))
}

fn text(lines: &[&str]) -> String {
    let head = ".visible .entry k(.param .u64 out) {
         .shared .align 16 .b8 s[256];
         .reg .b32 %i, %s, %m, %g, %me, %r<20>; .reg .b64 %p, %q, %rd<9>; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %s, s; mov.u32 %me, %cluster_ctarank;
         mov.u32 %g, %ctaid.x; mov.u32 %m, %ntid.x; mad.lo.u32 %g, %g, %m, %i;
         mul.wide.u32 %q, %g, 4; add.s64 %q, %q, %p; mad.lo.u32 %m, %i, 4, %s;\n";
    module(&format!("{head}{}\nret; }}", lines.join("\n")))
}

fn seeds() -> impl Iterator<Item = Options> {
    (0..6).map(|seed| Options { seed, ..Options::checked() })
}

/// The errors of the lines without line number `dropped`, with several seeds.
fn without(shape: ([u32; 3], [u32; 3], u32), lines: &[&str], dropped: usize) -> Vec<Error> {
    let rest: Vec<&str> = lines.iter().enumerate().filter(|(i, _)| *i != dropped).map(|(_, l)| *l).collect();
    seeds().filter_map(|options| run(shape, &options, 64, &rest).err()).collect()
}

#[test]
fn special_registers_say_where_a_block_is() {
    let names = [
        "%clusterid.x",
        "%clusterid.y",
        "%clusterid.z",
        "%nclusterid.x",
        "%nclusterid.y",
        "%nclusterid.z",
        "%cluster_ctaid.x",
        "%cluster_ctaid.y",
        "%cluster_ctaid.z",
        "%cluster_nctaid.x",
        "%cluster_nctaid.y",
        "%cluster_nctaid.z",
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%ctaid.x",
        "%ctaid.y",
        "%ctaid.z",
    ];
    let mut lines = vec![
        "mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %ctaid.y; mad.lo.u32 %r0, %r0, %r1, %r2;".into(),
        "mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r0, %r0, %r1, %r2;".into(),
        format!("mul.wide.u32 %rd0, %r0, {}; add.s64 %rd0, %rd0, %p;", 4 * names.len()),
    ];
    lines.extend(
        names
            .iter()
            .enumerate()
            .map(|(i, n)| format!("mov.u32 %r3, {n}; st.global.u32 [%rd0+{}], %r3;", 4 * i)),
    );
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (grid, cluster) = ([6, 4, 2], [3, 2, 1]);
    let got = run((grid, cluster, 1), &Options::checked(), 48 * names.len(), &lines).unwrap();
    let mut block = 0;
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                let at = [x, y, z];
                let id: Vec<u32> = (0..3).map(|i| at[i] / cluster[i]).collect();
                let inside: Vec<u32> = (0..3).map(|i| at[i] % cluster[i]).collect();
                let counts: Vec<u32> = (0..3).map(|i| grid[i] / cluster[i]).collect();
                let rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2]);
                let want = [&id[..], &counts, &inside, &cluster, &[rank, 6], &at].concat();
                assert_eq!(got[block * 17..][..17], want, "{at:?}");
                block += 1;
            }
        }
    }
}

/// Every block writes its own shared memory and reads its neighbour's.
const NEIGHBOUR: &[&str] = &[
    "st.shared.u32 [%m], %g;",
    "barrier.cluster.arrive.release.aligned;",
    "barrier.cluster.wait.acquire.aligned;",
    "mov.u32 %r0, %cluster_nctarank; add.u32 %r1, %me, 1; rem.u32 %r1, %r1, %r0; mapa.shared::cluster.u32 %r2, %m, %r1;",
    "ld.shared::cluster.u32 %r3, [%r2];",
    "st.global.u32 [%q], %r3;",
    "barrier.cluster.arrive;",
    "barrier.cluster.wait;",
];

#[test]
fn a_block_reads_its_neighbours_memory() {
    for options in seeds() {
        let got = run(([8, 1, 1], [4, 1, 1], 8), &options, 64, NEIGHBOUR).unwrap();
        let want: Vec<u32> = (0..64).map(|i| (i / 32) * 32 + (i % 32 + 8) % 32).collect();
        assert_eq!(got, want);
    }
}

#[test]
fn without_the_clusters_barrier_it_is_a_race_or_an_exited_block() {
    let shape = ([8, 1, 1], [4, 1, 1], 8);
    // Arrivals and waits go in pairs.
    let pair = |first: usize| {
        let rest: Vec<&str> = NEIGHBOUR
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != first && *i != first + 1)
            .map(|(_, l)| *l)
            .collect();
        seeds().filter_map(|options| run(shape, &options, 64, &rest).err()).collect::<Vec<_>>()
    };
    let races = pair(1);
    assert_eq!(races.len(), 6);
    let told = |e: &Error| matches!(e, Error::NotStarted { .. });
    assert!(races.iter().all(told), "{races:?}");
    // Without the last barrier the result depends on the order of the warps, which seeds permute.
    assert!(pair(6).iter().any(|e| matches!(e, Error::ExitedBlock { .. })));
    let no_wait = without(shape, NEIGHBOUR, 2);
    assert!(no_wait.len() == 6 && no_wait.iter().all(told), "{no_wait:?}");
    let no_arrival = without(shape, NEIGHBOUR, 1);
    let counted =
        |e: &Error| matches!(e, Error::BadValue { what: "arrivals at the cluster's barrier", value: 0, .. });
    assert!(no_arrival.len() == 6 && no_arrival.iter().all(counted), "{no_arrival:?}");
    // A relaxed arrival publishes nothing, unless a fence comes before it.
    let mut relaxed = NEIGHBOUR.to_vec();
    relaxed[1] = "barrier.cluster.arrive.relaxed.aligned;";
    assert!(matches!(run(shape, &Options::checked(), 64, &relaxed), Err(Error::Race { .. })));
    relaxed[1] = "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned;";
    assert!(run(shape, &Options::checked(), 64, &relaxed).is_ok());
}

#[test]
fn generic_addresses_and_atomics_reach_the_cluster() {
    // All count in block 0, through generic addresses; then each reads the count.
    let lines = [
        "setp.eq.u32 %p0, %i, 0; mov.u32 %r0, 0; @%p0 st.shared.u32 [%s], %r0;",
        "barrier.cluster.arrive; barrier.cluster.wait;",
        "cvt.u64.u32 %rd0, %s; cvta.shared.u64 %rd0, %rd0; mapa.u64 %rd1, %rd0, 0; mov.u32 %r1, 1;",
        "atom.add.u32 %r2, [%rd1], %r1; mapa.shared::cluster.u32 %r3, %s, 0; red.relaxed.cluster.shared::cluster.add.u32 [%r3], %r1;",
        "barrier.cluster.arrive; barrier.cluster.wait;",
        "ld.u32 %r4, [%rd1]; getctarank.shared::cluster.u32 %r5, %r3; getctarank.shared::cluster.u32 %r6, %s;",
        "getctarank.u64 %r7, %rd1; isspacep.shared::cta %p1, %rd1; isspacep.shared::cluster %p2, %rd1; selp.u32 %r8, 1, 0, %p1;",
        "selp.u32 %r9, 2, 0, %p2; add.u32 %r4, %r4, %r5; mad.lo.u32 %r4, %r6, 100, %r4; mad.lo.u32 %r4, %r7, 100000, %r4;",
        "add.u32 %r8, %r8, %r9; mad.lo.u32 %r4, %r8, 1000, %r4; st.global.u32 [%q], %r4;",
        "barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    for options in seeds() {
        let got = run(([2, 1, 1], [2, 1, 1], 32), &options, 64, &lines).unwrap();
        let want: Vec<u32> = (0..64).map(|i| 128 + i / 32 * 100 + if i < 32 { 3000 } else { 2000 }).collect();
        assert_eq!(got, want);
    }
}

#[test]
fn a_peers_memory_has_bounds_and_shared_cta_is_ones_own() {
    let far =
        [NEIGHBOUR[0], NEIGHBOUR[1], NEIGHBOUR[2], NEIGHBOUR[3], "ld.shared::cluster.u32 %r3, [%r2+256];"];
    match run(([2, 1, 1], [2, 1, 1], 32), &Options::default(), 64, &far) {
        Err(Error::OutOfBounds { at, address, .. }) => {
            assert_eq!((at.place.line, at.block, address), (14, [1, 0, 0], 1024 + 256))
        }
        other => panic!("{other:?}"),
    }
    let own = [NEIGHBOUR[0], NEIGHBOUR[1], NEIGHBOUR[2], NEIGHBOUR[3], "ld.shared::cta.u32 %r3, [%r2];"];
    let found = run(([2, 1, 1], [2, 1, 1], 32), &Options::default(), 64, &own);
    assert!(matches!(found, Err(Error::OutOfBounds { .. })), "{found:?}");
}

#[test]
fn launches_in_clusters_are_checked() {
    let shape =
        |grid: u32, cluster: u32| run(([grid, 1, 1], [cluster, 1, 1], 1), &Options::default(), 64, &[]);
    let what = |found: Result<Vec<u32>, Error>| match found {
        Err(Error::LaunchShape { what, given, .. }) => (what, given),
        other => panic!("{other:?}"),
    };
    assert_eq!(what(shape(6, 4)), ("grid.x", 6));
    assert_eq!(what(shape(17, 17)), ("blocks of a cluster", 17));
    assert_eq!(what(shape(4, 0)), ("blocks of a cluster", 0));
    let plane = run(([1; 3], [1 << 16, 1 << 16, 1], 1), &Options::default(), 64, &[]);
    assert_eq!(what(plane), ("blocks of a cluster", 1 << 32));
    assert!(shape(16, 16).is_ok());
    let required = text(&["st.global.u32 [%q], %me;"])
        .replace("(.param .u64 out) {", "(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1 {");
    let memory = Memory::new();
    let out = upload(&memory, &[9; 4]);
    let mut shape = Launch { grid: [4, 1, 1], block: [1; 3], args: vec![u64_arg(out)], ..Launch::default() };
    launch(&required, &memory, &shape, &Options::checked()).unwrap();
    assert_eq!(download(&memory, out, 4), [0, 1, 0, 1]);
    shape.cluster = Some([4, 1, 1]);
    assert_eq!(
        what(launch(&required, &memory, &shape, &Options::checked()).map(|_| vec![])),
        ("blocks of a cluster", 4)
    );
}

#[test]
fn exited_threads_count_as_arrived_and_a_deadlock_is_told() {
    let some_exit =
        ["setp.ge.u32 %p0, %i, 20;", "@%p0 exit;", "barrier.cluster.arrive;", "barrier.cluster.wait;"];
    assert!(run(([2, 1, 1], [2, 1, 1], 64), &Options::checked(), 128, &some_exit).is_ok());
    let stuck = [
        "setp.eq.u32 %p0, %me, 0;",
        "@%p0 bra WAIT;",
        "bar.sync 1, 64;",
        "WAIT: barrier.cluster.arrive;",
        "barrier.cluster.wait;",
    ];
    match run(([2, 1, 1], [2, 1, 1], 32), &Options::checked(), 64, &stuck) {
        Err(Error::BadValue { what: "thread count of the barrier", .. }) => {}
        other => panic!("{other:?}"),
    }
    let stuck =
        stuck.map(|line| line.replace("bar.sync 1, 64;", "setp.lt.u32 %p1, %i, 32; @%p1 bar.sync 1, 64;"));
    let stuck: Vec<&str> = stuck.iter().map(String::as_str).collect();
    match run(([2, 1, 1], [2, 1, 1], 64), &Options::checked(), 128, &stuck) {
        Err(Error::Deadlock { waiting, .. }) => {
            let seen: Vec<_> = waiting.iter().map(|w| (w.block[0], w.warp, w.line, w.awaited)).collect();
            let gate = Awaited::Cluster { arrived: 96, expected: 128 };
            let barrier = Awaited::Barrier { barrier: 1, arrived: 32, expected: 64 };
            assert_eq!(seen, [(0, 0, 14, gate), (0, 1, 14, gate), (1, 0, 12, barrier), (1, 1, 14, gate)]);
        }
        other => panic!("{other:?}"),
    }
}
