//! Undefined values are passed on, and reported where they decide something: each right kernel passes, and its broken
//! twin does not.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{launch, map, module, shape, u64_arg, upload};
use girih_ptx::{Module, Notes};
use girih_sim::{Error, Memory, Options, Program, Space};

/// A kernel of two buffers: `%q` a word of the output a thread, `%u` a word of memory without a value, which `%v` is the
/// start of; `%m` a word of shared memory, `%l` 64 bytes of local memory.
fn run(threads: u32, body: &str) -> Result<(), Error> {
    let text = module(&format!(
        ".visible .entry k(.param .u64 out, .param .u64 raw) {{
         .shared .align 16 .b8 s[1024]; .local .align 16 .b8 l[64];
         .reg .b32 %i, %s, %m, %l, %r<20>; .reg .b64 %p, %q, %u, %v, %o, %rd<9>; .reg .pred %p<9>; .reg .f32 %f<9>;
         .reg .b16 %h<9>;
         ld.param.u64 %p, [out]; ld.param.u64 %v, [raw]; mov.u32 %i, %tid.x; mov.u32 %s, s; mov.u32 %l, l;
         mul.wide.u32 %o, %i, 4; add.s64 %q, %p, %o; add.s64 %u, %v, %o; mad.lo.u32 %m, %i, 4, %s;
         setp.lt.u32 %p1, %i, 16;
         {body}
         ret; }}"
    ));
    for seed in 0..2 {
        let memory = Memory::new();
        let out = upload(&memory, &[7; 256]);
        let raw = memory.alloc_uninitialised(1024).unwrap();
        let mut shape = shape(1, threads);
        shape.args = vec![u64_arg(out), u64_arg(raw)];
        launch(&text, &memory, &shape, &Options { seed, ..Options::checked() })?;
    }
    Ok(())
}

#[track_caller]
fn right(body: &str) {
    run(32, body).unwrap_or_else(|e| panic!("{body}: {e}"));
}

/// The message names the place from which the undefined value comes.
#[track_caller]
fn broken(body: &str, told: &str) {
    match run(32, body) {
        Err(
            error @ (Error::UninitialisedRegister { .. }
            | Error::UninitialisedMemory { .. }
            | Error::AbsentLane { .. }),
        ) => assert!(error.to_string().contains(told), "{body}: {error}"),
        other => panic!("{body}: {other:?}"),
    }
}

/// Half of the lanes have a value in `%r0`.
const HALF: &str = "@%p1 mov.u32 %r0, %i;";

/// A strong load passes on undefined bytes, as a weak load does; an atomic computes with them.
#[test]
fn strong_loads_pass_undefined_values_on() {
    let kernel = |load: &str, then: &str| {
        format!(
            ".visible .entry k(.param .u64 out, .param .u64 in) {{ .shared .align 8 .b8 s[64]; .reg .b32 %r<4>; .reg .b64 %p;
             .reg .pred %z; ld.param.u64 %p, [out]; {load} {then} st.global.u32 [%p], 1; ret; }}"
        )
    };
    let run = |load: &str, then: &str| map(&module(&kernel(load, then)), 1, &[0], 1);
    for load in ["ld.volatile.shared.u32 %r0, [s];", "ld.acquire.cta.shared.u32 %r0, [s];"] {
        run(load, "add.u32 %r1, %r0, 1;").unwrap_or_else(|e| panic!("{load}: {e}"));
        let decides = run(load, "setp.eq.u32 %z, %r0, 0; @%z exit;").unwrap_err();
        assert_eq!(decides.kind(), "uninitialised-memory", "{load}: {decides}");
    }
    assert_eq!(run("atom.shared.add.u32 %r0, [s], 1;", "").unwrap_err().kind(), "uninitialised-memory");
}

#[test]
fn what_is_undefined_decides_nothing() {
    // Such a value may be computed with and not used.
    for use_ in [
        "add.u32 %r1, %r0, 1;",
        "st.shared.u32 [%m], %r0;",
        "st.local.u32 [%l], %r0;",
        "cvt.rn.f32.u32 %f0, %r0;",
    ] {
        right(&format!("{HALF} {use_}"));
    }
    let deciding = [
        "st.global.u32 [%q], %r0;",
        "add.u32 %r1, %r0, 1; mul.lo.u32 %r2, %r1, 3; st.global.u32 [%q], %r2;",
        "cvt.u64.u32 %rd0, %r0; add.s64 %rd1, %p, %rd0; ld.global.u8 %r2, [%rd1];",
        "add.u32 %r1, %s, %r0; st.shared.u8 [%r1], 1;",
        "setp.lt.u32 %p2, %r0, 5; @%p2 mov.u32 %r2, 1;",
        "setp.lt.u32 %p2, %r0, 5; @%p2 bra L; L:",
        "bar.sync %r0;",
        "bar.warp.sync %r0;",
        "shfl.sync.idx.b32 %r1, %i, %r0, 31, -1;",
        "atom.global.add.u32 %r1, [%p], %r0;",
        "red.shared.add.u32 [%s], %r0;",
        "st.release.cta.shared.u32 [%m], %r0;",
    ];
    for use_ in deciding {
        broken(&format!("{HALF} {use_}"), "`%r0` is read before it is written");
        right(&format!("mov.u32 %r0, 0; {HALF} and.b32 %r9, %r0, 0; st.global.u32 [%q], %r9;"));
    }
    broken(&format!("{HALF} add.u32 %r1, %r0, 1; st.global.u32 [%q], %r1;"), "by way of `%r1`");
}

/// A result that is the same for all values of the undefined bits is defined.
#[test]
fn what_does_not_depend_on_it_is_defined() {
    let store = "st.global.u32 [%q], %r2;";
    for kept in [
        "selp.u32 %r2, %r0, 3, %p1;",
        "and.b32 %r2, %r0, 0;",
        "mov.u32 %r3, 0; and.b32 %r2, %r3, %r0;",
        "or.b32 %r2, %r0, -1;",
        "mul.lo.u32 %r2, %r0, 0;",
        "selp.u32 %r3, 1, 0, %p1; mul.lo.u32 %r2, %r3, %r0;",
        "shl.b32 %r2, %r0, 32;",
        "and.b32 %r3, %r0, 0xff00; and.b32 %r2, %r3, 0xff;",
        "setp.eq.u32 %p3, %r0, 1; and.pred %p2, %p3, %p1; selp.u32 %r2, 1, 2, %p2;",
        "setp.eq.u32 %p3, %r0, 1; not.pred %p4, %p1; or.pred %p2, %p3, %p4; selp.u32 %r2, 1, 2, %p2;",
        "mov.b64 %rd0, {%i, %r0}; mov.b64 {%r2, %r4}, %rd0;",
        "mov.b64 %rd0, {%i, %r0}; cvt.u32.u64 %r2, %rd0;",
        "mov.b64 %rd0, {%r0, %i}; shr.u64 %rd1, %rd0, 32; cvt.u32.u64 %r2, %rd1;",
        "shl.b32 %r3, %r0, 8; prmt.b32 %r2, %r3, %i, 0x7650;  prmt.b32 %r2, %r3, %i, 0x0000;",
        "shl.b32 %r3, %r0, 8; bfe.u32 %r2, %r3, 0, 8;",
        "bfi.b32 %r3, %i, %r0, 0, 16; and.b32 %r2, %r3, 0xffff;",
        "bfi.b32 %r3, %r0, %i, 16, 16; and.b32 %r2, %r3, 0xffff;",
        // As Triton casts a single number to 8 bits and back: the pair's upper number is never used.
        "mov.f32 %f0, 1.0; mov.b32 %f1, %r0; cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f0; cvt.rn.f16x2.e4m3x2 %r3, %h0;
         and.b32 %r2, %r3, 0xffff;",
        "mov.f32 %f0, 1.0; mov.b32 %f1, %r0; cvt.rn.satfinite.e5m2x2.f32 %h0, %f0, %f1; cvt.u32.u16 %r3, %h0; shr.u32 %r2, %r3, 8;",
        "mov.f32 %f0, 1.0; mov.b32 %f1, %r0; cvt.rn.f16x2.f32 %r3, %f0, %f1; cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r3;
         cvt.u32.u16 %r3, %h0; and.b32 %r2, %r3, 0xff00;",
    ] {
        right(&format!("{HALF} {kept} {store}"));
    }
    for lost in [
        "selp.u32 %r2, 3, %r0, %p1;",
        "setp.eq.u32 %p3, %r0, 1; selp.u32 %r2, 3, 4, %p3;",
        "and.b32 %r2, %r0, 1;",
        "xor.b32 %r2, %r0, %r0; xor.b32 %r2, %r0, %i;",
        "mul.lo.u32 %r2, %r0, 2;",
        "bfi.b32 %r3, %i, %r0, 0, 16; shr.u32 %r2, %r3, 16;",
        "bfi.b32 %r2, %i, %i, 0, %r0;",
        "shl.b32 %r2, %r0, 31;",
        "shl.b32 %r2, 1, %r0;",
        "mov.b64 %rd0, {%i, %r0}; mov.b64 {%r4, %r2}, %rd0;",
        "add.u32 %r2, %r0, %i;",
        "shl.b32 %r3, %r0, 8; bfe.u32 %r2, %r3, 4, 8;",
        "mov.f32 %f0, 1.0; mov.b32 %f1, %r0; cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f0; cvt.rn.f16x2.e4m3x2 %r3, %h0;
         shr.u32 %r2, %r3, 16;",
        "mov.f32 %f0, 1.0; mov.b32 %f1, %r0; cvt.rn.satfinite.e5m2x2.f32 %h0, %f0, %f1; cvt.u32.u16 %r3, %h0; and.b32 %r2, %r3, 255;",
        "mov.f32 %f0, 1.0; mov.b32 %f1, %r0; cvt.rn.f16x2.f32 %r3, %f0, %f1; cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r3;
         cvt.u32.u16 %r3, %h0; and.b32 %r2, %r3, 0xff;",
        "setp.eq.u32 %p3, %r0, 1; or.pred %p2, %p3, %p1; selp.u32 %r2, 1, 2, %p2;",
    ] {
        broken(&format!("{HALF} {lost} {store}"), "`%r0`");
    }
}

/// Lanes that do not take part in an exchange, and the values that other lanes get from them.
#[test]
fn exchanges_bring_what_lanes_have() {
    // A ballot tells which lanes take part; a lane that got its value from another lane does not use it.
    let ballot = "activemask.b32 %r5; vote.sync.ballot.b32 %r4, %p1, -1; @!%p1 bra END;
        shfl.sync.down.b32 %r1, %i, 8, 31, 0xffff; add.u32 %r6, %i, 8; shr.u32 %r7, %r4, %r6; and.b32 %r7, %r7, 1;
        setp.ne.u32 %p2, %r7, 0;";
    right(&format!("{ballot} selp.u32 %r2, %r1, 0, %p2; st.global.u32 [%q], %r2; END:"));
    right(&format!("{ballot} @%p2 st.global.u32 [%q], %r1; END:"));
    broken(&format!("{ballot} st.global.u32 [%q], %r1; END:"), "from lane 16,");
    // Lanes that have exited.
    let exited = "@!%p1 exit; shfl.sync.bfly.b32 %r1, %i, 16, 31, -1;";
    right(exited);
    broken(&format!("{exited} st.global.u32 [%q], %r1;"), "from lane 16");
    // A register without a value in the lane that gives it.
    right(&format!("{HALF} shfl.sync.idx.b32 %r1, %r0, 3, 31, -1; st.global.u32 [%q], %r1;"));
    broken(&format!("{HALF} shfl.sync.idx.b32 %r1, %r0, 20, 31, -1; st.global.u32 [%q], %r1;"), "`%r0`");
    right(&format!("{HALF} shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1; @%p1 st.global.u32 [%q], %r0;"));
    broken(
        &format!("{HALF} shfl.sync.bfly.b32 %r0, %r0, 16, 31, -1; @%p1 st.global.u32 [%q], %r0;"),
        "`%r0`",
    );
    // Votes and what lanes combine.
    let pred = "@%p1 setp.eq.u32 %p3, %i, 3;";
    let vote = |vote: &str, then: &str| format!("{pred} vote.sync.{vote}.pred %p4, %p3, -1; {then}");
    right(&vote("any", "@%p4 st.global.u32 [%q], %i;"));
    right(&vote("all", "@%p4 st.global.u32 [%q], %i;"));
    right(&vote("uni", "@%p4 st.global.u32 [%q], %i;"));
    broken(
        "@%p1 setp.eq.u32 %p3, %i, 99; vote.sync.any.pred %p4, %p3, -1; @%p4 st.global.u32 [%q], %i;",
        "`%p3`",
    );
    let ballot = format!("{pred} vote.sync.ballot.b32 %r1, %p3, -1;");
    right(&format!("{ballot} and.b32 %r1, %r1, 0xffff; st.global.u32 [%q], %r1;"));
    broken(&format!("{ballot} st.global.u32 [%q], %r1;"), "`%p3`");
    for op in ["redux.sync.add.u32 %r1, %r0, -1;", "match.any.sync.b32 %r1, %r0, -1;"] {
        right(&format!("{HALF} {op}"));
        broken(&format!("{HALF} {op} st.global.u32 [%q], %r1;"), "`%r0`");
    }
}

/// Memory without a value may be read as long as nothing depends on it.
#[test]
fn memory_without_a_value() {
    let store = "st.global.u32 [%q], %r0;";
    for (load, space) in [
        ("ld.shared.u32 %r0, [%m];", "shared"),
        ("ld.global.u32 %r0, [%u];", "global"),
        ("ld.local.u32 %r0, [%l];", "local"),
    ] {
        right(load);
        right(&format!("{load} selp.u32 %r0, 0, %r0, %p1; @%p1 {store}"));
        broken(&format!("{load} {store}"), space);
        broken(&format!("{load} setp.eq.u32 %p2, %r0, 3; @%p2 {store}"), space);
        // What was undefined when it was stored is undefined.
        let through = format!("{load} st.shared.u32 [%m+512], %r0; ld.shared.u32 %r1, [%m+512];");
        right(&through);
        broken(&format!("{through} st.global.u32 [%q], %r1;"), space);
        right(&format!(
            "{through} st.shared.u32 [%m+512], %i; ld.shared.u32 %r1, [%m+512]; st.global.u32 [%q], %r1;"
        ));
    }
    let found = run(32, "ld.shared.u32 %r0, [%m+4]; add.u32 %r1, %r0, 1; st.global.u32 [%q], %r1;");
    let Err(Error::UninitialisedMemory { at, space: Space::Shared, bytes: 4, used: Some(used), .. }) = &found
    else {
        panic!("{found:?}")
    };
    assert!(at.place.instruction.starts_with("ld.shared"), "{at}");
    assert!(used.register == "%r1" && used.at.place.instruction.starts_with("st.global"), "{used}");
    broken(
        &format!("{HALF} st.local.u32 [%l+4], %r0; ld.local.u32 %r1, [%l+4]; st.global.u32 [%q], %r1;"),
        "`%r0`",
    );
    // Asynchronous copies also copy bytes without a value.
    let copy = "cp.async.ca.shared.global [%m], [%u], 4; cp.async.wait_all; ld.shared.u32 %r0, [%m];";
    right(copy);
    broken(&format!("{copy} {store}"), "shared");
    // Output of a bulk copy, an atomic.
    broken("@%p1 st.shared.u32 [%m], 1; setp.eq.u32 %p2, %i, 0; bar.sync 0; fence.proxy.async; @!%p2 bra END;
        cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:", "shared");
    broken("red.shared.add.u32 [%m], 1;", "shared");
}

/// Structures are copied with their padding.
#[test]
fn padding_is_copied() {
    // A byte and a word, and the same in other chunks.
    let fill = |to: &str| format!("st.{to}.u8 [%B], 1; st.{to}.u32 [%B+4], %i;");
    let copies = [
        "ld.FROM.b64 %rd0, [%B]; st.TO.b64 [%C], %rd0;",
        "ld.FROM.v2.b32 {%r0, %r1}, [%B]; st.TO.v2.b32 [%C], {%r0, %r1};",
        "ld.FROM.v4.b16 {%h0, %h1, %h2, %h3}, [%B]; st.TO.v4.b16 [%C], {%h0, %h1, %h2, %h3};",
        "ld.FROM.b64 %rd0, [%B]; mov.b64 {%r0, %r1}, %rd0; mov.b64 %rd1, {%r0, %r1}; st.TO.b64 [%C], %rd1;",
    ];
    let global = "mul.wide.u32 %rd8, %i, 8; add.s64 %B, %v, %rd8; add.s64 %C, %p, %rd8;";
    let base = global.replace("%B", "%rd6").replace("%C", "%rd7");
    let copies = copies.map(|copy| copy.replace("%B", "%rd6").replace("%C", "%rd7"));
    let fill = fill("global").replace("%B", "%rd6");
    for copy in &copies[..2] {
        let copy = copy.replace("FROM", "global").replace("TO", "global");
        right(&format!("{base} {fill} {copy}"));
        // If no byte has been written, it is no padding.
        broken(&format!("{base} {copy}"), "global");
    }
    // The word alone is used.
    let load =
        "ld.global.b64 %rd0, [%rd6]; shr.u64 %rd1, %rd0, 32; cvt.u32.u64 %r1, %rd1; st.global.u32 [%q], %r1;";
    right(&format!("{base} {fill} {load}"));
    let byte = "ld.global.v2.b32 {%r0, %r1}, [%rd6]; and.b32 %r0, %r0, 255; st.global.u32 [%q], %r0;";
    right(&format!("{base} {fill} {byte}"));
    broken(&format!("{base} {fill} {}", byte.replace(" 255", " 256")), "global");
    // Computing with the padding is a use of it.
    let sum = "ld.global.v2.b32 {%r0, %r1}, [%rd6]; add.u32 %r0, %r0, 1; st.global.u32 [%q], %r0;";
    broken(&format!("{base} {fill} {sum}"), "global");
    // The same through shared and local memory.
    let staged = "mad.lo.u32 %r9, %i, 8, %s; ld.global.b64 %rd0, [%rd6]; st.shared.b64 [%r9], %rd0; ld.shared.v2.b32 {%r0, %r1}, [%r9];
        st.local.v2.b32 [%l], {%r0, %r1}; ld.local.b64 %rd1, [%l]; st.global.b64 [%rd7], %rd1;";
    right(&format!("{base} {fill} {staged}"));
    broken(&format!("{base} {staged}"), "global");
    let own = "mad.lo.u32 %r9, %i, 8, %s; st.shared.u8 [%r9], 1; st.shared.u32 [%r9+4], %i; ld.shared.b64 %rd0, [%r9]; st.global.b64 [%rd7], %rd0;";
    right(&format!("{base} {own}"));
    // A whole word without a value is a missing word, not padding.
    let lost = "mad.lo.u32 %r9, %i, 8, %s; st.shared.u32 [%r9+4], %i; ld.shared.v2.u32 {%r0, %r1}, [%r9]; st.global.v2.u32 [%rd7], {%r0, %r1};";
    broken(&format!("{base} {lost}"), "shared");
    broken(&format!("{base} mov.u32 %r1, %i; st.global.v2.u32 [%rd7], {{%r0, %r1}};"), "`%r0`");
}

/// Products of matrices of which a part is undefined: the other rows and columns of the result are defined.
#[test]
fn matrices_have_undefined_parts() {
    let zero =
        "mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;
        mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;";
    let mma = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f4, %f5, %f6, %f7}, {%r1, %r2}, {%r3}, {%f0, %f1, %f2, %f3};";
    // A's upper rows are in %r2 of all lanes: what comes of them is %f6 and %f7.
    let upper = format!("{} {mma}", zero.replace("mov.u32 %r2, 0;", ""));
    right(&format!("{upper} st.global.f32 [%q], %f4; st.global.f32 [%q], %f5;"));
    broken(&format!("{upper} st.global.f32 [%q], %f6;"), "`%r2`");
    // Row 0 is in lanes 0 to 3.
    let row =
        format!("{} setp.ge.u32 %p2, %i, 4; @%p2 mov.u32 %r1, 0; {mma}", zero.replace("mov.u32 %r1, 0;", ""));
    right(&format!("{row} @%p2 st.global.f32 [%q], %f4;"));
    broken(&format!("{row} st.global.f32 [%q], %f4;"), "`%r1`");
    // Column 7 of B is in lanes 28 to 31; of D in %f5 of every fourth lane.
    let column = format!(
        "{} setp.lt.u32 %p2, %i, 28; @%p2 mov.u32 %r3, 0; and.b32 %r9, %i, 3; setp.ne.u32 %p3, %r9, 3; {mma}",
        zero.replace("mov.u32 %r3, 0;", "")
    );
    right(&format!("{column} st.global.f32 [%q], %f4; @%p3 st.global.f32 [%q], %f5;"));
    broken(&format!("{column} st.global.f32 [%q], %f5;"), "`%r3`");
    let sums = format!("{} {mma}", zero.replace("mov.f32 %f1, 0f00000000;", ""));
    right(&format!("{sums} st.global.f32 [%q], %f4;"));
    broken(&format!("{sums} st.global.f32 [%q], %f5;"), "`%f1`");
    // Rows of shared memory that nothing has written.
    let load = "and.b32 %r9, %i, 7; mad.lo.u32 %r9, %r9, 16, %s; setp.lt.u32 %p2, %i, 4; mov.u32 %r8, 5;
        @%p2 st.shared.v4.u32 [%r9], {%r8, %r8, %r8, %r8}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r9];";
    right(&format!("{load} @%p1 st.global.u32 [%q], %r7;"));
    broken(&format!("{load} st.global.u32 [%q], %r7;"), "shared");
    let back = "mad.lo.u32 %r10, %i, 16, %s; bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10+256], {%r7}; bar.warp.sync -1;
        ld.shared.u32 %r11, [%r10+256];";
    let back =
        back.replace("mad.lo.u32 %r10, %i, 16, %s;", "and.b32 %r10, %i, 7; mad.lo.u32 %r10, %r10, 16, %s;");
    right(&format!("{load} {back} @%p2 st.global.u32 [%q], %r11;"));
    broken(&format!("{load} {back} st.global.u32 [%q], %r11;"), "shared");
}

/// Elements that share a register are undefined each for itself: of sums of 16 bits, those whose own element of C is.
#[test]
fn halves_of_sums_are_undefined_each_for_itself() {
    let product = |stored: &str| {
        format!(
            "mov.b16 %h0, 0; mov.b32 %r0, {{%h0, %h1}}; mov.b32 %r1, 0;
             mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {{%r0, %r1}}, {{%r1, %r1}}, {{%r1}}, {{%r0, %r1}};
             mov.b32 {{%h2, %h3}}, %r0; {stored}"
        )
    };
    right(&product("st.global.b16 [%q], %h2; st.global.b32 [%q+512], %r1;"));
    broken(&product("st.global.b16 [%q], %h3;"), "`%h1` is read before it is written");
    // D has the registers of C in another order.
    let turned = product("mov.b32 {%h2, %h3}, %r1; st.global.b32 [%q], %r0; st.global.b16 [%q+512], %h2;");
    let turned = turned
        .replace("{%r0, %r1}, {%r1, %r1}, {%r1}, {%r0, %r1}", "{%r1, %r0}, {%r2, %r2}, {%r2}, {%r0, %r1}");
    right(&turned.replace("mov.b16 %h0", "mov.b32 %r2, 0; mov.b16 %h0"));
    // An undefined element of A is in a row of the sums, one of B in a column.
    let operand = |a: &str, b: &str, stored: &str| {
        format!(
            "mov.b32 %r1, 0; {HALF} mov.b32 %r4, 0;
             mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {{%r2, %r3}}, {{{a}, %r1}}, {{{b}}}, {{%r1, %r1}}; {stored}"
        )
    };
    right(&operand("%r0", "%r1", "@%p1 st.global.b32 [%q], %r2; st.global.b32 [%q+512], %r3;"));
    broken(&operand("%r0", "%r1", "st.global.b32 [%q], %r2;"), "`%r0` is read before it is written");
    broken(&operand("%r1", "%r0", "st.global.b32 [%q], %r3;"), "`%r0` is read before it is written");
}

/// A predicated load keeps what its register held before, unless the notes of the module say that the register is undefined then.
#[test]
fn a_predicated_load_leaves_its_register_undefined_if_the_notes_say_so() {
    // Two iterations, which load under a guard, into one register or into four; `used` is what is added.
    let sums = |guard: &str, load: &str, used: &str, noted: bool| {
        let text = Module::parse(&module(&format!(
            ".visible .entry k(.param .u64 out) {{ .reg .b32 %i, %r<8>; .reg .b64 %p; .reg .pred %z, %y;
             ld.param.u64 %p, [out]; mov.u32 %i, 0; mov.u32 %r0, 0;
             AGAIN: setp.{guard}; {load} {used} add.u32 %r0, %r0, %r6;
             add.u32 %i, %i, 1; setp.lt.u32 %y, %i, 2; @%y bra AGAIN;
             st.global.u32 [%p], %r0; ret; }}"
        )))
        .unwrap()
        .to_string();
        let mut module = Module::parse(&text).unwrap();
        let line = text.lines().position(|line| line.contains("ld.global")).unwrap() as u32 + 1;
        let notes = Notes::new(&text, Vec::new(), Vec::new());
        module.notes = if noted { notes.with_undefined(vec![line]) } else { notes };
        let program = Program::load(&module).unwrap();
        let memory = Memory::new();
        let mut shape = shape(1, 1);
        shape.args = vec![u64_arg(upload(&memory, &[7; 8]))];
        girih_sim::run(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).map(|_| ())
    };
    let (both, first) = ("lt.u32 %z, %i, 2", "lt.u32 %z, %i, 1");
    let one = "@%z ld.global.u32 %r1, [%p];";
    let four = "@%z ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%p];";
    for (load, register) in [(one, "%r1"), (four, "%r3")] {
        let plain = format!("mov.u32 %r6, {register};");
        let chosen = format!("selp.b32 %r6, {register}, 0, %z;");
        for noted in [false, true] {
            sums(both, load, &plain, noted).unwrap();
            sums(first, load, &chosen, noted).unwrap();
        }
        sums(first, load, &plain, false).unwrap();
        let error = sums(first, load, &plain, true).unwrap_err();
        assert_eq!(error.kind(), "uninitialised-register", "{error}");
        assert!(error.to_string().contains(register), "{error}");
    }
    // The same by a guard that is false where the thread loads.
    let (load, second) = ("@!%z ld.global.u32 %r1, [%p];", "ge.u32 %z, %i, 1");
    sums(second, load, "selp.b32 %r6, 0, %r1, %z;", true).unwrap();
    sums(second, load, "mov.u32 %r6, %r1;", false).unwrap();
    assert!(sums(second, load, "mov.u32 %r6, %r1;", true).is_err());
}
