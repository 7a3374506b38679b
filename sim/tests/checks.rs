//! The findings of the simulator: for each kind of mistake the line, the thread and the address that are reported.

mod races;

use crate::common::{self, launch, load, map, module, per_thread, shape, u32_arg, u64_arg, upload};
use girih_sim::{Access, Error, Memory, Nearest, Options, Program, Space};

/// A kernel of lines of its own, run by `threads` threads with an output buffer of 64 words.
fn check(threads: u32, lines: &[&str]) -> Result<girih_sim::Report, Error> {
    check_with(threads, lines, &Options::checked())
}

fn check_with(threads: u32, lines: &[&str], options: &Options) -> Result<girih_sim::Report, Error> {
    let memory = Memory::new();
    let out = upload(&memory, &[0; 64]);
    let mut shape = shape(1, threads);
    shape.args = vec![u64_arg(out)];
    launch(&text(lines), &memory, &shape, options)
}

/// The first of `lines` is line 10.
fn text(lines: &[&str]) -> String {
    let head = ".visible .entry k(.param .u64 out) {
         .shared .align 16 .b8 s[256];
         .reg .b32 %i, %s, %m, %r<9>; .reg .b64 %p, %q, %rd<9>; .reg .pred %p<9>; .reg .f32 %f<9>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %s, s;
         mul.wide.u32 %q, %i, 4; add.s64 %q, %q, %p;
         mad.lo.u32 %m, %i, 4, %s;\n";
    module(&format!("{head}{}\nret; }}", lines.join("\n")))
}

#[test]
fn a_global_access_out_of_bounds_names_the_allocation() {
    match check(64, &["mov.u32 %r0, 0;", "st.global.u32 [%q+8], %r0;"]) {
        Err(Error::OutOfBounds {
            at,
            access: Access::Write,
            space: Space::Global,
            bytes: 4,
            nearest,
            address,
        }) => {
            assert_eq!((at.place.line, at.thread), (11, [62, 0, 0]));
            let Nearest::Region { base, bytes: 256, beyond: 4 } = nearest else { panic!("{nearest:?}") };
            assert_eq!(address, base + 256);
        }
        other => panic!("{other:?}"),
    }
    match check(64, &["ld.global.v2.u32 {%r0, %r1}, [%p+-8];"]) {
        Err(Error::OutOfBounds {
            at,
            access: Access::Read,
            nearest: Nearest::Region { beyond: -8, .. },
            ..
        }) => {
            assert_eq!((at.place.line, at.thread), (10, [0, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
    let null = check(1, &["mov.u64 %rd0, 0;", "ld.global.u32 %r0, [%rd0];"]);
    assert!(matches!(null, Err(Error::OutOfBounds { address: 0, .. })), "{null:?}");
}

#[test]
fn freed_memory_is_out_of_bounds() {
    let memory = Memory::new();
    let (out, other) = (upload(&memory, &[0; 64]), upload(&memory, &[0; 64]));
    memory.free(out).unwrap();
    assert!(matches!(memory.free(out), Err(Error::BadFree { .. })));
    assert!(matches!(memory.free(other + 4), Err(Error::BadFree { .. })));
    let mut shape = shape(1, 32);
    shape.args = vec![u64_arg(out)];
    let found = launch(&text(&["st.global.u32 [%q], %i;"]), &memory, &shape, &Options::default());
    assert!(matches!(found, Err(Error::OutOfBounds { .. })), "{found:?}");
}

#[test]
fn shared_bounds_alignment_and_uninitialised_reads() {
    match check(64, &["st.shared.u32 [%m+4], %i;"]) {
        Err(Error::OutOfBounds {
            at,
            space: Space::Shared,
            nearest: Nearest::Region { bytes: 256, beyond: 4, .. },
            ..
        }) => {
            assert_eq!((at.place.line, at.thread), (10, [63, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
    let null = check(1, &["mov.u32 %r0, 0;", "st.shared.u32 [%r0], %i;"]);
    assert!(matches!(null, Err(Error::OutOfBounds { .. })), "{null:?}");
    match check(32, &["st.shared.u16 [%m+1], %i;"]) {
        Err(Error::Misaligned { at, alignment: 2, .. }) => assert_eq!(at.thread, [0, 0, 0]),
        other => panic!("{other:?}"),
    }
    match check(32, &["mov.u32 %r0, 0;", "st.global.v4.u32 [%q], {%r0, %r0, %r0, %r0};"]) {
        Err(Error::Misaligned { at, alignment: 16, space: Space::Global, .. }) => {
            assert_eq!((at.place.line, at.thread), (11, [1, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
    match check(
        64,
        &[
            "setp.lt.u32 %p0, %i, 40;",
            "@%p0 st.shared.u32 [%m], %i;",
            "bar.sync 0;",
            "ld.shared.u32 %r0, [%m];",
            "st.global.u32 [%q], %r0;",
        ],
    ) {
        Err(Error::UninitialisedMemory { at, space: Space::Shared, bytes: 4, used: Some(used), .. }) => {
            assert_eq!((at.place.line, at.thread), (13, [40, 0, 0]));
            assert_eq!((used.at.place.line, used.at.thread), (14, [40, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
    // A byte of a word is not the word.
    let part = |load: &str| {
        let use_ = "add.u32 %r0, %r0, 1; st.global.u32 [%q], %r0;";
        check(32, &["st.shared.u8 [%m], %i;", load, use_])
    };
    let half = part("ld.shared.u16 %r0, [%m];");
    assert!(matches!(half, Err(Error::UninitialisedMemory { bytes: 2, .. })), "{half:?}");
    assert!(part("ld.shared.u8 %r0, [%m];").is_ok());
}

#[test]
fn registers_must_be_written_in_the_lanes_that_read_them() {
    // Computing with an undefined value is allowed; storing the result is not.
    let steps =
        ["setp.ge.u32 %p0, %i, 3;", "@%p0 mov.u32 %r0, 1;", "add.u32 %r1, %r0, 1;", "add.u32 %r2, %r1, 1;"];
    assert!(check(32, &steps).is_ok());
    match check(32, &[&steps[..], &["st.global.u32 [%q], %r2;"]].concat()) {
        Err(error @ Error::UninitialisedRegister { .. }) => {
            assert!(
                error.to_string().ends_with("`%r0` is read before it is written by way of `%r2`"),
                "{error}"
            );
            let Error::UninitialisedRegister { at, .. } = error else { unreachable!() };
            assert_eq!((at.place.line, at.thread), (14, [0, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
    // The result of a shuffle is undefined where the value of the source lane is.
    let shuffled = |from: &str| {
        let shuffle = format!("shfl.sync.idx.b32 %r1, %r0, {from}, 31, -1;");
        check(32, &[steps[0], steps[1], &shuffle, "st.global.u32 [%q], %r1;"])
    };
    assert!(shuffled("3").is_ok());
    assert!(matches!(shuffled("2"), Err(Error::UninitialisedRegister { .. })));
    assert!(
        check(32, &["setp.ge.u32 %p0, %i, 3;", "@%p0 mov.u32 %r0, 1;", "@%p0 add.u32 %r1, %r0, 1;"]).is_ok()
    );
    let guard = check(32, &["@%p5 mov.u32 %r0, 1;"]);
    assert!(
        matches!(&guard, Err(Error::UninitialisedRegister { register, .. }) if register == "%p5"),
        "{guard:?}"
    );
    // Without the check the value is zero.
    let memory = Memory::new();
    let out = upload(&memory, &[9; 32]);
    let mut shape = shape(1, 32);
    shape.args = vec![u64_arg(out)];
    launch(&text(&["st.global.u32 [%q], %r0;"]), &memory, &shape, &Options::default()).unwrap();
    assert_eq!(common::download(&memory, out, 32), [0; 32]);
}

#[test]
fn every_load_and_store_width_extends_and_truncates() {
    let body = ".shared .align 16 .b8 s[64]; .local .align 8 .b8 l[16]; mov.u32 %r0, s; mov.u32 %r9, l;
        st.shared.b32 [%r0], %a0; ld.shared.s8 %d0, [%r0+3]; ld.shared.u8 %d1, [%r0+3]; ld.shared.s16 %d2, [%r0+2];
        ld.shared.u16 %h0, [%r0]; cvt.u32.u16 %d3, %h0; ld.shared.s16 %rd0, [%r0+2]; shr.u64 %rd0, %rd0, 32; cvt.u32.u64 %d4, %rd0;
        mov.b64 %rd1, {%a0, %a1}; st.local.b64 [%r9+8], %rd1; ld.local.v2.b32 {%d5, %d6}, [%r9+8]; st.local.u8 [%r9], %rd1;
        ld.local.u8 %d7, [%r9]; cvt.u64.u32 %rd2, %r0; cvta.shared.u64 %rd2, %rd2; ld.b32 %d8, [%rd2]; ld.u8 %d9, [%q+4];
        cvta.to.shared.u64 %rd3, %rd2; ld.shared.v4.u8 {%r1, _, %r2, %r3}, [%rd3]; mov.b32 %d10, %r2;";
    let got = map(&per_thread(2, 11, body), 1, &[0x8091_a2b3, 0x1122_3344], 11).unwrap();
    let want = [
        0xffff_ff80,
        0x80,
        0xffff_8091,
        0xa2b3,
        0xffff_ffff,
        0x8091_a2b3,
        0x1122_3344,
        0xb3,
        0x8091_a2b3,
        0x44,
        0x91,
    ];
    assert_eq!(got, want);
}

#[test]
fn what_is_not_known_is_refused_at_load_with_its_line() {
    let cases = [
        ("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col::w [%r0, {%r1, %r2, %r3}], {%r4};", "sm_100"),
        ("ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%r8];", "sm_100"),
        ("ld.global.L2::evict_last.v4.b64 {%fd0, %fd1, %fd0, %fd1}, [%r8];", "sm_100"),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global.im2col [%r0, {%r1, %r2}], {%r3};", "fewer than three"),
        ("szext.clamp.s64 %fd0, %fd0, %r0;", "s64"),
        ("fns.b64 %fd0, %fd0, %r0, %r0;", "b64"),
        ("cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%r0], [%r0], 16;", "bulk_group"),
    ];
    for (instruction, told) in cases {
        let text = module(&format!(
            ".visible .entry k() {{\n .reg .b32 %r<9>; .reg .f64 %fd<2>;\n\n {instruction}\n ret;\n}}"
        ));
        match load(&text) {
            Err(error @ Error::Unsupported { .. }) => {
                let message = error.to_string();
                let start = instruction.split(' ').next().unwrap().trim_end_matches(';');
                assert!(message.starts_with(&format!("k, line 7: `{start}")), "{message}");
                assert!(message.contains(told), "{message}");
            }
            other => panic!("{instruction}: {other:?}"),
        }
    }
    let operands = [
        ("add.u32 %r0, %r0, %fd0;", "operand 2"),
        ("mov.u32 %r0, %nowhere;", "not declared"),
        ("add.u32 %r0, %tid.x, 1;", "only mov and cvt take special ones"),
        ("add.u32 %r0, %r0;", "operand"),
        ("bra NOWHERE;", "not declared as a label"),
        ("ld.shared.u32 %r0, %r1;", "address"),
        ("add.u32 %r9, %r0, %r0;", "not declared"),
        ("mov.u32 %r00, 1;", "not declared"),
    ];
    for (instruction, told) in operands {
        let text =
            module(&format!(".visible .entry k() {{ .reg .b32 %r<9>; .reg .f64 %fd<2>; {instruction} }}"));
        let message = load(&text).unwrap_err().to_string();
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let memory = Memory::new();
    let text = module(
        ".visible .entry k(.param .u64 a, .param .u32 b) .maxntid 128, 1, 1 { .shared .b8 s[1024]; ret; }",
    );
    let good = girih_sim::Launch {
        grid: [1; 3],
        block: [128, 1, 1],
        cluster: None,
        cooperative: false,
        dynamic_shared: 226 << 10,
        args: vec![u64_arg(0), u32_arg(0)],
    };
    let run = |change: &dyn Fn(&mut girih_sim::Launch)| {
        let mut shape = good.clone();
        change(&mut shape);
        launch(&text, &memory, &shape, &Options::default())
    };
    assert!(run(&|_| ()).is_ok());
    assert!(matches!(run(&|l| l.args.truncate(1)), Err(Error::ArgumentCount { expected: 2, given: 1, .. })));
    assert!(matches!(
        run(&|l| l.args[1].push(0)),
        Err(Error::ArgumentSize { index: 1, expected: 4, given: 5, .. })
    ));
    assert!(matches!(run(&|l| l.dynamic_shared += 1), Err(Error::SharedTooLarge { .. })));
    assert!(matches!(run(&|l| l.grid[1] = 0), Err(Error::LaunchShape { what: "grid.y", .. })));
    assert!(matches!(run(&|l| l.grid[2] = 65536), Err(Error::LaunchShape { what: "grid.z", .. })));
    assert!(matches!(run(&|l| l.block = [129, 1, 1]), Err(Error::LaunchShape { .. })));
    assert!(matches!(run(&|l| l.block = [1025, 1, 1]), Err(Error::LaunchShape { what: "block.x", .. })));
    assert!(matches!(run(&|l| l.block = [64, 64, 1]), Err(Error::LaunchShape { given: 4096, .. })));
    let program: Program = load(&text).unwrap();
    let unknown = program.kernel("other").unwrap_err().to_string();
    assert_eq!(unknown, "no kernel `other` in the module, which has: k");
    let small = Memory::with_capacity(1000);
    small.alloc(600).unwrap();
    assert!(matches!(small.alloc(600), Err(Error::OutOfMemory { used: 600, capacity: 1000, .. })));
    assert_eq!((small.used(), small.alloc(0).is_ok()), (600, true));
}

#[test]
fn the_first_block_in_order_is_told_whatever_runs_first() {
    let body = ".visible .entry k() {\n .reg .b32 %r; .reg .pred %p;\n mov.u32 %r, %ctaid.x;\n setp.ge.u32 %p, %r, 37;\n @%p trap;\n }";
    for threads in [None, Some(1), Some(2), Some(5)] {
        let options = Options { threads, ..Options::default() };
        match launch(&module(body), &Memory::new(), &shape(500, 32), &options) {
            Err(Error::Trap { at }) => assert_eq!((at.block, at.place.line), ([37, 0, 0], 8)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn progress_counts_every_block_and_the_report_adds_up() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = seen.clone();
    let progress: girih_sim::Progress =
        std::sync::Arc::new(move |done, total| sink.lock().unwrap().push((done, total)));
    let options = Options { progress: Some(progress), threads: Some(3), ..Options::default() };
    let text = module(
        ".visible .entry k() { .reg .b32 %r<3>; mov.u32 %r0, 1; bar.sync 0; add.u32 %r1, %r0, %r0; ret; }",
    );
    let report = launch(&text, &Memory::new(), &shape(20, 96), &options).unwrap();
    assert_eq!(*seen.lock().unwrap(), (1..=20).map(|i| (i, 20)).collect::<Vec<_>>());
    assert_eq!((report.blocks, report.instructions, report.barriers), (20, 20 * 3 * 4, 20 * 3));
}

/// Halfwords of one word that blocks write in parallel: no write is lost.
#[test]
fn parallel_blocks_share_words() {
    let text = module(
        ".visible .entry k(.param .u64 out) {
         .reg .b32 %i, %b; .reg .b64 %p, %o; .reg .b16 %h;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %i, %i, 64, %b; mul.wide.u32 %o, %i, 2; add.s64 %p, %p, %o;
         cvt.u16.u32 %h, %i; st.global.b16 [%p], %h; ret; }",
    );
    let memory = Memory::new();
    let out = upload(&memory, &[0; 2048]);
    let mut shape = shape(64, 64);
    shape.args = vec![u64_arg(out)];
    launch(&text, &memory, &shape, &Options { threads: Some(4), ..Options::checked() }).unwrap();
    assert_eq!(
        common::download(&memory, out, 2048),
        (0..2048).map(|i| (2 * i) | ((2 * i + 1) << 16)).collect::<Vec<u32>>()
    );
}

#[test]
fn halves_of_a_pair_are_undefined_by_themselves() {
    // %f1 has no value: `cvt` puts the first source into the upper half.
    let stored = |pair: &str, half: &str| {
        let take = format!("shr.u32 %r1, %r0, {half}; and.b32 %r1, %r1, 65535; st.global.u32 [%q], %r1;");
        check(1, &["mov.f32 %f0, 0f3F800000; mov.u32 %r2, 0;", pair, &take])
    };
    for ty in ["f16x2", "bf16x2"] {
        let upper = format!("cvt.rn.{ty}.f32 %r0, %f1, %f0;");
        assert!(stored(&upper, "0").is_ok());
        assert!(stored(&upper, "16").is_err());
        let lower = format!("cvt.rn.{ty}.f32 %r0, %f0, %f1;");
        assert!(stored(&lower, "0").is_err());
        assert!(stored(&lower, "16").is_ok());
        let sum = format!("cvt.rn.{ty}.f32 %r0, %f0, %f1; fma.rn.{ty} %r0, %r0, %r2, %r0;");
        assert!(stored(&sum, "0").is_err());
        assert!(stored(&sum, "16").is_ok());
    }
}
