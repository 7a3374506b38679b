//! The verdict: all findings with all seeds, their severity, and the final memory.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, load, module, shape, u64_arg, upload};
use girih_sim::{Deny, Error, Formal, Memory, Options, Severity, Verdict, judge, run};

/// Judges lines on blocks with a zeroed buffer of 64 words at %p, of which %q is the thread's, and 64 bytes of shared
/// memory at %s, of which %m is the thread's; the first line is line 8. What the buffer holds afterwards, too.
fn judged(blocks: u32, threads: u32, options: &Options, lines: &[&str]) -> (Verdict, Vec<u32>) {
    let head = ".visible .entry k(.param .u64 out) { .shared .align 16 .b8 s[4096];
         .reg .b32 %i, %me, %s, %m, %r<9>; .reg .b64 %p, %q, %rd<9>; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %me, %ctaid.x; mov.u32 %i, %tid.x; mov.u32 %s, s;
         mul.wide.u32 %q, %i, 4; add.s64 %q, %q, %p; mad.lo.u32 %m, %i, 4, %s;\n";
    let text = module(&format!("{head}{}\nret; }}", lines.join("\n")));
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    let out = upload(&memory, &[0; 64]);
    let mut shape = shape(blocks, threads);
    shape.args = vec![u64_arg(out)];
    let verdict = judge(program.kernel("k").unwrap(), &memory, &shape, options).unwrap();
    (verdict, download(&memory, out, 64))
}

fn kinds(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.error.kind()).collect()
}

#[test]
fn all_findings_of_an_execution_are_told_once_each() {
    let lines = [
        "st.shared.u32 [%m], %i; ld.shared.u32 %r0, [%s+4];",
        "bar.sync 0;",
        "ld.shared.u32 %r1, [%m+512]; setp.ne.u32 %p0, %r1, 0; @%p0 mov.u32 %r2, 1;",
        "st.shared.u32 [%s+1024], %i;",
        "bar.sync 0; st.global.u32 [%q], %r0;",
    ];
    let (verdict, out) = judged(1, 64, &Options::checked(), &lines);
    assert_eq!(kinds(&verdict), ["race", "uninitialised-memory", "race"], "{verdict:?}");
    let at = verdict.findings.iter().map(|finding| finding.error.sites().next().unwrap().place.line);
    assert_eq!(at.collect::<Vec<_>>(), [8, 10, 11]);
    assert!(!verdict.passed() && verdict.errors().count() == 3 && verdict.warnings().count() == 0);
    // The execution went on to its end.
    assert_eq!((verdict.report.blocks, out[5]), (1, 1));
    // As many as asked for; the execution ends with the last error.
    let few = Options { limit: Some(2), ..Options::checked() };
    let (verdict, out) = judged(1, 64, &few, &lines);
    assert_eq!((kinds(&verdict), out[5]), (vec!["race", "uninitialised-memory"], 0));
}

#[test]
fn what_leaves_no_sense_ends_the_execution() {
    for (line, kind) in [
        ("st.global.u32 [%q+4096], %i;", "out-of-bounds"),
        ("st.global.u32 [%q+1], %i;", "misaligned"),
        ("trap;", "trap"),
        ("setp.lt.u32 %p0, %i, 32; @!%p0 exit; bar.sync 1, 64;", "deadlock"),
    ] {
        let lines = ["st.shared.u32 [%s], %i;", "bar.warp.sync -1;", line, "st.shared.u32 [%s], 1;"];
        let (verdict, _) = judged(1, 64, &Options { seeds: 4, ..Options::checked() }, &lines);
        assert_eq!(kinds(&verdict), ["race", kind]);
        assert_eq!(verdict.seeds, [0]);
    }
}

#[test]
fn equal_values_are_a_warning_and_may_be_denied() {
    let lines = ["setp.lt.u32 %p0, %i, 32; @%p0 st.global.u32 [%p], 7; @!%p0 st.global.u32 [%p], 7;"];
    for (deny, severity) in [
        (Deny::Nothing, Severity::Warning),
        (Deny::Kinds(vec!["race".into()]), Severity::Warning),
        (Deny::Kinds(vec!["same-value-race".into()]), Severity::Error),
        (Deny::Formal, Severity::Error),
        (Deny::Warnings, Severity::Error),
    ] {
        let options = Options { deny, ..Options::checked() };
        let (verdict, out) = judged(1, 64, &options, &lines);
        let [finding] = &verdict.findings[..] else { panic!("{verdict:?}") };
        assert!(matches!(finding.error, Error::Race { formal: Some(Formal::SameValue), .. }), "{finding}");
        assert_eq!((finding.severity, verdict.passed(), out[0]), (severity, severity < Severity::Error, 7));
    }
    // Writes of different values are an error; writes of equal values by one instruction are nothing.
    let (verdict, _) = judged(
        1,
        64,
        &Options::checked(),
        &[&lines[0].replace("@!%p0 st.global.u32 [%p], 7", "@!%p0 st.global.u32 [%p], 8")],
    );
    assert_eq!(kinds(&verdict), ["race"]);
    assert_eq!(
        kinds(&judged(1, 64, &Options::checked(), &["st.global.u32 [%p], 7; st.shared.u32 [%s], 7;"]).0),
        [""; 0]
    );
    // Of different blocks they are told.
    assert_eq!(kinds(&judged(2, 1, &Options::checked(), &["st.global.u32 [%p], 7;"]).0), ["same-value-race"]);
}

#[test]
fn memory_is_left_by_the_first_seed() {
    // The order of the warps decides the final value: each warp takes a number.
    let head = "atom.global.add.u32 %r0, [%p+252], 1; setp.lt.u32 %p0, %r0, 60; mul.wide.u32 %rd0, %r0, 4;";
    let lines = [head, "add.s64 %rd0, %rd0, %p; @%p0 st.global.u32 [%rd0], %i;"];
    let left = |seed, seeds| judged(1, 60, &Options { seed, seeds, ..Options::checked() }, &lines);
    let one: Vec<_> = (0..6).map(|seed| left(seed, 1)).collect();
    assert!(one.iter().any(|(_, out)| *out != one[0].1), "the seed does not matter");
    for seed in 0..3 {
        let (verdict, out) = left(seed, 4);
        assert_eq!(verdict.seeds, [seed, seed + 1, seed + 2, seed + 3]);
        assert_eq!((out, verdict.report), (one[seed as usize].1.clone(), one[seed as usize].0.report));
    }
}

/// A race whose wrong value shows only in a certain order of warps is found by the first seed that shows it.
#[test]
fn further_seeds_find_what_the_first_does_not() {
    // Warp 0 traps if warp 1 was faster.
    let lines = [
        "setp.lt.u32 %p0, %i, 32; @%p0 bra FIRST; atom.shared.exch.b32 %r0, [%s], 1; exit;",
        "FIRST: atom.shared.or.b32 %r0, [%s], 0; setp.ne.u32 %p1, %r0, 0; @%p1 trap;",
    ];
    let with = |seeds| judged(1, 64, &Options { seeds, ..Options::default() }, &lines).0;
    assert!(with(1).passed());
    let verdict = with(16);
    assert_eq!(kinds(&verdict), ["trap"]);
    assert_eq!(verdict.seeds.last(), Some(&verdict.findings[0].seed));
    assert!(verdict.seeds.len() > 1 && verdict.seeds.len() < 16);
}

#[test]
fn a_run_counts_warnings_and_ends_at_the_first_error() {
    let lines = [
        "st.global.u32 [%p], 7;",
        "st.global.u32 [%p], 7;",
        "st.global.u32 [%p+4], 7;",
        "st.global.u32 [%p+4], %i;",
    ];
    let text = |lines: &[&str]| {
        module(&format!(
            ".visible .entry k(.param .u64 out) {{ .reg .b32 %i; .reg .b64 %p;
             ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; {} ret; }}",
            lines.join("\n")
        ))
    };
    let memory = Memory::new();
    let mut shape = shape(1, 2);
    shape.args = vec![u64_arg(upload(&memory, &[0; 64]))];
    let program = load(&text(&lines[..2])).unwrap();
    let report = run(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
    assert_eq!(report.warnings, 1);
    let program = load(&text(&lines)).unwrap();
    let error = run(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap_err();
    assert_eq!((error.kind(), error.sites().count()), ("race", 2));
}
