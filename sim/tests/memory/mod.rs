//! The memory consistency model (PTX ISA, "Memory Consistency Model"). Of each group of kernels one is right, and each
//! of the others lacks one thing that the model demands. The right kernel must pass, and the others must be reported.
#![expect(clippy::unwrap_used, reason = "tests")]

mod asynchronous;
mod fences;
mod peers;
mod restricted;
mod scopes;

use crate::common::{launch, load, module, u64_arg, upload};
use girih_sim::{Error, Launch, Memory, Options, judge};

/// The shape of a launch: blocks, threads a block, blocks a cluster.
type Shape = (u32, u32, u32);

/// %p is a buffer of 1024 zeroed words, %q a buffer of 1000, 1001, ...; %n is the thread's word of %q, %o that of %p;
/// %s is shared memory, %m the thread's word there, %b an mbarrier; %me is the block, %c its number in the cluster, %i
/// the thread, %l the lane.
const HEAD: &str = ".visible .entry k(.param .u64 out, .param .u64 in) {
    .shared .align 128 .b8 s[2048]; .shared .align 8 .b64 bar[4];
    .reg .b32 %i, %l, %me, %c, %s, %b, %m, %r<9>; .reg .b64 %p, %q, %n, %o, %rd<9>; .reg .pred %first, %lead, %p<9>;
    ld.param.u64 %p, [out]; ld.param.u64 %q, [in]; mov.u32 %i, %tid.x; mov.u32 %me, %ctaid.x; mov.u32 %c, %cluster_ctarank;
    and.b32 %l, %i, 31; mov.u32 %s, s; mov.u32 %b, bar; setp.eq.u32 %first, %i, 0; setp.eq.u32 %lead, %l, 0;
    mad.lo.u32 %m, %i, 4, %s; mul.wide.u32 %o, %i, 4; add.s64 %n, %q, %o; add.s64 %o, %p, %o;\n";

/// The errors, with several seeds and numbers of workers.
fn found((blocks, threads, cluster): Shape, lines: &[&str]) -> Vec<Option<Error>> {
    let text = module(&format!("{HEAD}{}\nret; }}", lines.join("\n")));
    let run = |threads_of_host, seed| {
        let memory = Memory::new();
        let input: Vec<u32> = (1000..2024).collect();
        let (out, source) = (upload(&memory, &[0; 1024]), upload(&memory, &input));
        let shape = Launch {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: (cluster > 1).then_some([cluster, 1, 1]),
            args: vec![u64_arg(out), u64_arg(source)],
            ..Launch::default()
        };
        let options = Options { threads: threads_of_host, seed, ..Options::checked() };
        launch(&text, &memory, &shape, &options).err()
    };
    [(Some(1), 0), (Some(2), 0), (Some(1), 1), (Some(1), 2), (Some(1), 3)]
        .map(|(t, seed)| run(t, seed))
        .into()
}

/// The kinds of the findings with the first seed, warnings included.
fn kinds((blocks, threads, cluster): Shape, lines: &[&str]) -> Vec<&'static str> {
    let text = module(&format!("{HEAD}{}\nret; }}", lines.join("\n")));
    let memory = Memory::new();
    let (out, source) = (upload(&memory, &[0; 1024]), upload(&memory, &[7; 1024]));
    let shape = Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        cluster: (cluster > 1).then_some([cluster, 1, 1]),
        args: vec![u64_arg(out), u64_arg(source)],
        ..Launch::default()
    };
    let program = load(&text).unwrap();
    let verdict = judge(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
    let mut kinds: Vec<&str> = verdict.findings.iter().map(|finding| finding.error.kind()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The kernel is right.
fn right(shape: Shape, lines: &[&str]) {
    let found = found(shape, lines);
    assert!(found.iter().all(Option::is_none), "{lines:#?}: {found:#?}");
}

/// The kernel is reported with every seed, as something that `expected` accepts.
fn wrong(shape: Shape, lines: &[&str], expected: fn(&Error) -> bool) {
    let found = found(shape, lines);
    let accepted = |error: &Option<Error>| error.as_ref().is_some_and(expected);
    assert!(found.iter().all(accepted), "{lines:#?}: {found:#?}");
}

/// The kernel is right, and is reported if any of these parts is put in the place of another.
fn twins(shape: Shape, lines: &[&str], broken: &[(&str, &str)], expected: fn(&Error) -> bool) {
    right(shape, lines);
    for (from, to) in broken {
        let changed: Vec<String> = lines.iter().map(|line| line.replace(from, to)).collect();
        assert!(changed.iter().zip(lines).any(|(a, b)| a != b), "no {from} in {lines:#?}");
        wrong(shape, &changed.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}

fn race(error: &Error) -> bool {
    matches!(error, Error::Race { .. })
}
