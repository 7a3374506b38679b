//! Races that do no harm on any GPU are distinguished from those that may: each with a twin that is an error.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{load, module, shape, u64_arg, upload};
use girih_sim::{Deny, Error, Launch, Memory, Options, Severity, judge};

/// The kinds of what is found in blocks of threads: `%q` is a word of the output a thread, `%p` its begin, `%m` a word of
/// shared memory a thread.
fn kinds(blocks: u32, threads: u32, body: &str) -> Vec<&'static str> {
    let text = module(&format!(
        ".visible .entry k(.param .u64 out) {{ .shared .align 16 .b8 s[1024];
         .reg .b32 %i, %s, %m, %r<20>; .reg .b64 %p, %q, %o, %rd<9>; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %s, s; mad.lo.u32 %m, %i, 4, %s;
         mul.wide.u32 %o, %i, 4; add.s64 %q, %p, %o; setp.lt.u32 %p0, %i, 32; setp.eq.u32 %p1, %i, 0;
         {body} ret; }}"
    ));
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    let launch = Launch { args: vec![u64_arg(upload(&memory, &[9; 256]))], ..shape(blocks, threads) };
    let verdict = judge(program.kernel("k").unwrap(), &memory, &launch, &Options::checked()).unwrap();
    for finding in &verdict.findings {
        let formal = Error::FORMAL.contains(&finding.error.kind());
        assert_eq!(finding.error.is_formal(), formal);
        assert_eq!(finding.severity == Severity::Warning, formal, "{finding}");
        assert_eq!(Deny::Formal.severity(&finding.error), Severity::Error);
    }
    verdict.findings.iter().map(|finding| finding.error.kind()).collect()
}

#[test]
fn what_has_exited_has_written_before_the_barrier() {
    let left = |sync: &str, read: &str| {
        format!(
            "st.shared.u32 [%m], %i; @!%p0 exit; {sync} ld.shared.u32 %r0, [{read}]; st.global.u32 [%q], %r0;"
        )
    };
    assert_eq!(kinds(1, 64, &left("bar.sync 0;", "%m+128")), ["exited-race"]);
    assert!(kinds(1, 64, &left("", "%m+128")).contains(&"race"));
    // A barrier of some threads does not wait for all that have not exited.
    assert_eq!(kinds(1, 64, &left("bar.sync 0, 32;", "%m+128")), ["race"]);
    // A warp that comes to the barrier afterwards is ordered.
    assert_eq!(kinds(1, 64, &left("bar.sync 0;", "%m")), [""; 0]);
    // The exit must come before the barrier is complete: here the other warp writes after it.
    let later = "bar.sync 0; @!%p0 st.shared.u32 [%m], %i; @!%p0 exit; ld.volatile.shared.u32 %r1, [%s+512]; \
                 ld.shared.u32 %r0, [%m+128]; st.global.u32 [%q], %r0;";
    assert!(kinds(1, 64, later).contains(&"race"));
    // In global memory, and in the same warp by a barrier that names the lanes.
    let global = "add.u32 %r0, %i, 1; st.global.u32 [%q], %r0; @!%p0 exit; bar.sync 0; ld.global.u32 %r0, [%q+128]; st.global.u32 [%q], %r0;";
    assert_eq!(kinds(1, 64, global), ["exited-race"]);
    let lanes = |mask: &str| {
        format!(
            "setp.lt.u32 %p2, %i, 8; st.shared.u32 [%m], %i; @!%p2 exit; bar.warp.sync {mask}; ld.shared.u32 %r0, [%m+32]; st.global.u32 [%q], %r0;"
        )
    };
    assert_eq!(kinds(1, 32, &lanes("-1")), ["exited-race"]);
    assert_eq!(kinds(1, 32, &lanes("0xff")), ["race"]);
}

#[test]
fn a_look_that_guards_an_atomic() {
    let guarded = |load: &str, then: &str| {
        format!("{load} %r0, [%p]; setp.le.u32 %p2, %r0, %i; @%p2 bra END; {then} END:")
    };
    let atomic = "red.global.min.u32 [%p], %i;";
    assert_eq!(kinds(2, 32, &guarded("ld.global.u32", atomic)), ["guard-race"]);
    // Nothing is the matter with a strong look.
    assert_eq!(kinds(2, 32, &guarded("ld.relaxed.gpu.global.u32", atomic)), [""; 0]);
    // In shared memory, and by the guard of the atomic itself.
    let shared = "@%p1 st.shared.u32 [%s], 99; bar.sync 0; ld.shared.u32 %r0, [%s]; setp.gt.u32 %p2, %r0, %i; @%p2 red.shared.min.u32 [%s], %i;";
    assert_eq!(kinds(1, 64, shared), ["guard-race"]);
    // The value is told, makes an address, or is what the atomic puts there.
    for then in [
        "red.global.min.u32 [%p], %i; st.global.u32 [%q+128], %r0;",
        "red.global.min.u32 [%p], %i; and.b32 %r1, %r0, 4; cvt.u64.u32 %rd0, %r1; add.s64 %rd0, %q, %rd0; ld.global.u32 %r2, [%rd0+256];",
        "add.u32 %r1, %r0, 1; red.global.min.u32 [%p], %r1;",
        // Another place, another size, no atomic.
        "red.global.min.u32 [%p+4], %i; st.global.u32 [%p], %i;",
        "cvt.u64.u32 %rd1, %i; red.global.min.u64 [%p], %rd1;",
        "st.global.u32 [%p], %i;",
    ] {
        assert!(kinds(2, 32, &guarded("ld.global.u32", then)).contains(&"race"), "{then}");
    }
    // A flag that is looked at, and what was written before it.
    let flag = "@%p0 bra WRITE; ld.global.u32 %r0, [%p]; setp.ne.u32 %p2, %r0, 1; @%p2 bra END;
        ld.global.u32 %r1, [%p+64]; atom.global.exch.b32 %r2, [%p], 0; st.global.u32 [%q], %r1; bra END;
        WRITE: @%p1 st.global.u32 [%p+64], 5; @%p1 atom.global.exch.b32 %r3, [%p], 1; END:";
    assert!(kinds(1, 64, flag).contains(&"race"));
}

#[test]
fn lanes_that_discard_what_one_of_them_updates() {
    // Threads i and i + 32 load the same word, and one of them stores.
    let at = "and.b32 %r1, %i, 31; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd0, %p, %rd1; ld.global.u32 %r0, [%rd0]; add.u32 %r2, %r0, 1;";
    assert_eq!(kinds(1, 64, &format!("{at} @%p0 st.global.u32 [%rd0], %r2;")), ["discarded-race"]);
    assert_eq!(
        kinds(1, 64, &format!("{at} @!%p0 bra END; st.global.u32 [%rd0], %r2; END:")),
        ["discarded-race"]
    );
    // All store, or the others store what they have read elsewhere, or go where it says.
    for then in [
        "st.global.u32 [%rd0], %r2;",
        "@%p0 st.global.u32 [%rd0], %r2; @!%p0 st.global.u32 [%rd0+256], %r2;",
        "@!%p0 st.global.u32 [%rd0+256], %r2; @%p0 st.global.u32 [%rd0], %r2;",
        "@%p0 st.global.u32 [%rd0], %r2; setp.eq.u32 %p3, %r0, 7; @%p3 trap;",
        "@%p0 st.global.u32 [%rd0], %i;",
    ] {
        assert!(kinds(1, 64, &format!("{at} {then}")).contains(&"race"), "{then}");
    }
    assert!(kinds(2, 64, &format!("{at} @%p0 st.global.u32 [%rd0], %r2;")).contains(&"race"));
    // In shared memory.
    let shared = "and.b32 %r1, %i, 31; mad.lo.u32 %r5, %r1, 4, %s; @%p0 st.shared.u32 [%r5], %i; bar.sync 0;
        ld.shared.u32 %r0, [%r5]; add.u32 %r2, %r0, 1; @%p0 st.shared.u32 [%r5], %r2;";
    assert_eq!(kinds(1, 64, shared), ["discarded-race"]);
}

/// Findings of the same source lines are one, with a count; without source lines each pair of instructions is told.
#[test]
fn findings_of_the_same_lines_are_folded() {
    let text = |lines: bool| {
        let pairs: String = (0..50)
            .map(|k| {
                let line = |n: u32| if lines { format!(".loc 1 {n} 1\n") } else { String::new() };
                let of = k % 4;
                format!(
                    "{}st.shared.u32 [s+{}], %i;\n{}ld.shared.u32 %r, [s+{}];\n",
                    line(10 + of),
                    4 * k,
                    line(20 + of),
                    4 * k
                )
            })
            .collect();
        module(&format!(
            ".file 1 \"a.cu\"\n.visible .entry _Z5sevenv() {{ .shared .b8 s[256]; .reg .b32 %i, %r;\nmov.u32 %i, %tid.x;\n{pairs} ret; }}"
        ))
    };
    let verdict = |lines| {
        let program = load(&text(lines)).unwrap();
        let options = Options { limit: Some(1000), ..Options::checked() };
        judge(&program.kernels()[0], &Memory::new(), &shape(1, 64), &options).unwrap()
    };
    let folded = verdict(true);
    // Four lines that store, each against itself and against the line that loads: writes and reads.
    let pairs: std::collections::BTreeSet<_> = folded
        .findings
        .iter()
        .map(|finding| {
            finding.error.sites().map(|site| site.place.origin.as_ref().unwrap().line).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(folded.findings.len(), pairs.len(), "{pairs:?}");
    assert!(folded.findings.len() <= 8, "{}", folded.findings.len());
    let all = verdict(false);
    assert_eq!(folded.findings.iter().map(|finding| finding.count).sum::<u64>(), all.findings.len() as u64);
    assert!(all.findings.iter().all(|finding| finding.count == 1));
    let told = folded.findings[0].to_string();
    assert!(told.starts_with("seven, a.cu:") && told.contains(" more like it"), "{told}");
}
