//! Kernels with mbarriers and asynchronous operations, and their mutants.

use girih_sim::{Deny, Error, Launch, Memory, Options};

use super::{download, launch, module, u64_arg, upload};

/// Declarations of every kernel: `s`, 1024 bytes of shared memory at %s; `bar`, eight mbarriers at %b; output and input
/// buffers of 512 words at %p and %q; thread, warp and lane, rank; %m, %o, %n: the thread's four bytes in s, output and
/// input.
pub(crate) const HEAD: &str = ".visible .entry k(.param .u64 out, .param .u64 in) {
    .shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar[8];
    .reg .b32 %i, %s, %m, %b, %w, %l, %me, %v, %r<20>; .reg .b64 %p, %q, %o, %n, %st, %rd<9>; .reg .pred %first, %lead, %p<9>;
    .reg .b16 %h<4>;
    ld.param.u64 %p, [out]; ld.param.u64 %q, [in]; mov.u32 %i, %tid.x; mov.u32 %s, s; mov.u32 %b, bar;
    shr.u32 %w, %i, 5; and.b32 %l, %i, 31; mov.u32 %me, %cluster_ctarank; setp.eq.u32 %first, %i, 0; setp.eq.u32 %lead, %l, 0;
    mul.wide.u32 %o, %i, 4; add.s64 %n, %q, %o; add.s64 %o, %p, %o; mad.lo.u32 %m, %i, 4, %s;\n";
/// The first line of the kernel's own text.
pub(crate) const FIRST: u32 = 11;

pub(crate) fn text(lines: &[&str]) -> String {
    module(&format!("{HEAD}{}\nret; }}", lines.join("\n")))
}

/// Runs a cluster on the input 1000, 1001, ...; returns the output.
pub(crate) fn run(blocks: u32, threads: u32, options: &Options, lines: &[&str]) -> Result<Vec<u32>, Error> {
    let memory = Memory::new();
    let input: Vec<u32> = (1000..1512).collect();
    let (out, source) = (upload(&memory, &[0; 512]), upload(&memory, &input));
    let shape = Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        cluster: Some([blocks, 1, 1]),
        args: vec![u64_arg(out), u64_arg(source)],
        ..Launch::default()
    };
    launch(&text(lines), &memory, &shape, options)?;
    Ok(download(&memory, out, 512))
}

pub(crate) fn seeds() -> impl Iterator<Item = Options> {
    (0..8).map(|seed| Options { seed, deny: Deny::Warnings, ..Options::checked() })
}

/// The kernel is right with every seed. Without any one of the lines that start with `!` at least one seed reports it,
/// with an error that `expected` accepts for that line (given by its number among the marked lines).
pub(crate) fn mutants(
    blocks: u32,
    threads: u32,
    marked: &[&str],
    want: &dyn Fn(&[u32]),
    expected: &dyn Fn(usize, &Error) -> bool,
) {
    let lines: Vec<&str> = marked.iter().map(|line| line.trim_start_matches('!')).collect();
    for options in seeds() {
        let got = run(blocks, threads, &options, &lines);
        want(&got.unwrap_or_else(|e| panic!("seed {}: {e}", options.seed)));
    }
    let needed = marked.iter().enumerate().filter(|(_, line)| line.starts_with('!'));
    for (which, (dropped, line)) in needed.enumerate() {
        let rest: Vec<&str> =
            lines.iter().enumerate().map(|(i, l)| if i == dropped { "" } else { *l }).collect();
        let found: Vec<Error> =
            seeds().filter_map(|options| run(blocks, threads, &options, &rest).err()).collect();
        assert!(!found.is_empty(), "not missed: {line}");
        assert!(expected(which, &found[0]), "without {line}: {}", found[0]);
    }
}

pub(crate) fn line(error: &Error) -> u32 {
    match error {
        Error::Race { at, .. }
        | Error::InFlight { at, .. }
        | Error::Unfenced { at, .. }
        | Error::MbarrierUnfenced { at, .. }
        | Error::UninitialisedMemory { at, .. }
        | Error::Unfinished { at, .. }
        | Error::Mbarrier { at, .. }
        | Error::MbarrierAccess { at, .. } => at.place.line,
        other => panic!("{other}"),
    }
}

pub(crate) const INIT: &str = "@%first mbarrier.init.shared::cta.b64 [%b], 1;";
pub(crate) const FENCE: &str = "@%first fence.mbarrier_init.release.cluster;";
pub(crate) const SYNC: &str = "bar.sync 0;";

/// The errors for a read of bytes that an operation writes, before the operation is known to be complete.
pub(crate) fn early(error: &Error) -> bool {
    matches!(error, Error::InFlight { .. } | Error::Race { .. } | Error::UninitialisedMemory { .. })
}
