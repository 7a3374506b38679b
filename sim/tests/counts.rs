//! Wavefronts and sectors of accesses with a stride, against closed forms.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{kernels, launch, module, shape, u32_arg, u64_arg};
use girih_sim::{Class, Memory, Options, Profile, Report};

/// One warp; `%s` is a shared address and `%p` a global one, `stride` bytes apart from lane to lane.
fn count(stride: u32, body: &str) -> Report {
    let text = module(&format!(
        ".visible .entry k(.param .u64 out) {{
         .shared .align 16 .b8 s[16384]; .reg .b32 %i, %s, %r<8>; .reg .b64 %p, %o;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, {stride}; add.s64 %p, %p, %o;
         mov.u32 %s, s; mad.lo.u32 %s, %i, {stride}, %s; {body} }}"
    ));
    let memory = Memory::new();
    let mut shape = shape(1, 32);
    shape.args = vec![u64_arg(memory.alloc(65536).unwrap())];
    launch(&text, &memory, &shape, &Options { counts: true, ..Options::default() }).unwrap()
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn word_accesses_conflict_by_the_common_factor_of_stride_and_banks() {
    for words in 0..=64 {
        let report = count(4 * words, "ld.shared.u32 %r0, [%s];");
        let conflicts = if words == 0 { 1 } else { gcd(words, 32) };
        assert_eq!((report.wavefronts, report.least_wavefronts), (conflicts.into(), 1), "{words}");
        let report = count(4 * words, "st.global.u32 [%p], %i;");
        let sectors = if words == 0 { 1 } else { 32.min(4 * words) };
        assert_eq!(report.sectors, sectors.into(), "{words}");
        assert_eq!(report.least_sectors, if words == 0 { 1 } else { 4 });
    }
}

#[test]
fn wide_accesses_are_served_in_parts() {
    let vector = |stride| count(stride, "st.shared.v4.u32 [%s], {%i, %i, %i, %i};");
    assert_eq!((vector(16).wavefronts, vector(16).least_wavefronts), (4, 4));
    assert_eq!(vector(32).wavefronts, 8);
    assert_eq!(vector(128).wavefronts, 32);
    // 80 bytes spread eight rows over all banks.
    assert_eq!(vector(80).wavefronts, 4);
    let pair = |stride| count(stride, "ld.shared.v2.u32 {%r0, %r1}, [%s];");
    assert_eq!((pair(8).wavefronts, pair(16).wavefronts, pair(8).least_wavefronts), (2, 4, 2));
    // Bytes of a word are one word.
    assert_eq!(count(1, "ld.shared.u8 %r0, [%s];").wavefronts, 1);
}

#[test]
fn ldmatrix_rows_and_copies_conflict_too() {
    let matrices =
        |stride| count(stride, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];");
    assert_eq!((matrices(16).wavefronts, matrices(16).least_wavefronts), (4, 4));
    assert_eq!((matrices(64).wavefronts, matrices(128).wavefronts, matrices(144).wavefronts), (16, 32, 4));
    let copy = count(64, "cp.async.cg.shared.global [%s], [%p], 16; cp.async.wait_all;");
    assert_eq!((copy.wavefronts, copy.sectors, copy.least_sectors), (16, 32, 16));
    assert_eq!(count(0, "mov.u32 %r0, 1;").wavefronts, 0);
}

/// A tile of `kernels::simt` on 2 x 2 blocks and two steps of K.
fn tile(seed: u64) -> (Report, Profile) {
    let (memory, profile) = (Memory::new(), Profile::default());
    let matrix = |elements: usize| memory.alloc(4 * elements).unwrap();
    let (c, a, b) = (matrix(128 * 128), matrix(128 * 32), matrix(32 * 128));
    let mut shape = shape(1, 256);
    shape.grid = [2, 2, 1];
    shape.args = vec![u64_arg(c), u64_arg(a), u64_arg(b), u32_arg(128), u32_arg(32)];
    let options = Options { counts: true, seed, profile: Some(profile.clone()), ..Options::default() };
    (launch(&kernels::simt(), &memory, &shape, &options).unwrap(), profile)
}

#[test]
fn the_counts_of_the_lines_are_those_of_the_launch() {
    for seed in [0, 7] {
        let (report, profile) = tile(seed);
        let lines = profile.lines("k");
        let sum = |of: fn(&Report) -> u64| lines.iter().map(|line| of(&line.counts)).sum::<u64>();
        for (total, of) in [
            (report.instructions, (|r| r.instructions) as fn(&Report) -> u64),
            (report.global, |r| r.global),
            (report.shared, |r| r.shared),
            (report.barriers, |r| r.barriers),
            (report.wavefronts, |r| r.wavefronts),
            (report.least_wavefronts, |r| r.least_wavefronts),
            (report.sectors, |r| r.sectors),
            (report.least_sectors, |r| r.least_sectors),
            (report.global_bytes, |r| r.global_bytes),
            (report.shared_bytes, |r| r.shared_bytes),
        ] {
            assert_eq!(sum(of), total, "seed {seed}");
            assert!(total > 0);
        }
        assert_eq!(profile.classes("k").values().sum::<u64>(), report.instructions);
    }
}

#[test]
fn each_line_has_its_own_counts() {
    let (report, profile) = tile(0);
    // 4 blocks of 8 warps, 2 steps of K: 16 loads of 4 words by each row's threads, 16 of one vector.
    let lines = profile.lines("k");
    let of = |start: &str| {
        let mut found = lines.iter().filter(|line| line.instruction.starts_with(start));
        found.next().unwrap_or_else(|| panic!("{start}"))
    };
    assert_eq!(of("bar.sync").counts.barriers, 4 * 8 * 2);
    assert_eq!(of("fma.rn.f32").counts.instructions, 4 * 8 * 2);
    let loads = of("ld.global.v4.f32").counts;
    // Whole tiles of A: 64 x 16 elements for each block and step.
    assert_eq!(
        (loads.global_bytes, loads.sectors, loads.least_sectors),
        (4 * 2 * 4096, 4 * 2 * 128, 4 * 2 * 128)
    );
    // Stores of C.
    let stored: u64 =
        lines.iter().filter(|l| l.instruction.starts_with("st.global")).map(|l| l.counts.global_bytes).sum();
    assert_eq!(stored, 128 * 128 * 4);
    assert_eq!(profile.classes("k")[&Class::Float], 4 * 8 * 2 * 256);
    let table = profile.to_string();
    let executed = lines.iter().filter(|line| line.counts.instructions > 0).count();
    assert_eq!(table.lines().count(), 2 + executed, "{table}");
    assert!(report.mma == 0 && lines.iter().all(|line| line.flops == 0));
}

#[test]
fn products_count_their_multiplications_and_additions() {
    let text = module(
        ".visible .entry k() { .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .pred %p;
         mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; mov.b32 %r0, 0; mov.b32 %r1, 0;
         L: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r0, %r0, %r0},
         {%r0, %r0}, {%f0, %f1, %f2, %f3};
         add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 5; @%p bra L; }",
    );
    let profile = Profile::default();
    let options = Options { profile: Some(profile.clone()), ..Options::default() };
    let report = launch(&text, &Memory::new(), &shape(3, 64), &options).unwrap();
    assert_eq!(report.mma, 3 * 2 * 5);
    let flops: u64 = profile.lines("k").iter().map(|line| line.flops).sum();
    assert_eq!(flops, 3 * 2 * 5 * 2 * 16 * 8 * 8);
}

/// The lines of a kernel that jumps over these instructions, and their classes.
fn classes(instructions: &[&str]) -> Vec<(String, Class)> {
    let text = module(&format!(
        ".visible .entry k() {{ .shared .align 1024 .b8 s[4096];
         .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .f64 %fd<2>; .reg .b64 %rd<4>; .reg .pred %p<3>;
         bra.uni END;
         {}
         END: }}",
        instructions.join("\n")
    ));
    let text = text.replace("sm_90", "sm_90a");
    let profile = Profile::default();
    let options = Options { profile: Some(profile.clone()), ..Options::default() };
    launch(&text, &Memory::new(), &shape(1, 32), &options).unwrap();
    profile.lines("k").iter().map(|line| (line.instruction.to_string(), line.class)).collect()
}

#[test]
fn instructions_have_classes() {
    let cases = [
        ("add.rn.f32 %f0, %f1, %f2;", Class::Float),
        ("@!%p1 mad.wide.u32 %rd0, %r0, 4, %rd1;", Class::Integer),
        ("cp.async.wait_group 0;", Class::Barrier),
        ("cp.async.commit_group;", Class::Barrier),
        ("cp.async.ca.shared.global [%r0], [%rd0], 16;", Class::Memory),
        ("wgmma.fence.sync.aligned;", Class::Barrier),
        ("setp.lt.f32 %p0, %f0, %f1;", Class::Move),
        ("fma.rn.bf16x2 %r0, %r1, %r2, %r3;", Class::Float),
        ("ex2.approx.f32 %f0, %f1;", Class::Float),
        ("shl.b32 %r0, %r1, 3;", Class::Integer),
        ("cvt.rn.f32.u32 %f0, %r0;", Class::Convert),
        ("shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;", Class::Exchange),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];", Class::Matrix),
        ("@%p0 ld.global.f32 %f0, [%rd0];", Class::Memory),
        ("atom.global.add.u32 %r0, [%rd0], 1;", Class::Atomic),
        ("bar.sync 0;", Class::Barrier),
        ("nanosleep.u32 1;", Class::Other),
        ("trap;", Class::Control),
    ];
    let found = classes(&cases.map(|(instruction, _)| instruction));
    let wanted = cases.iter().map(|(text, class)| (text.trim_end_matches(';').to_owned(), *class));
    let start = ("bra.uni END".to_owned(), Class::Control);
    let wanted: Vec<_> = [start].into_iter().chain(wanted).chain([("}".to_owned(), Class::Other)]).collect();
    assert_eq!(found, wanted);
}

/// Each warp's part of a product; a `wgmma` is one of four warps. Moves of fragments have none.
#[test]
fn products_are_counted_from_their_shapes() {
    let list = |name: &str, n: usize| (0..n).map(|i| format!("%{name}{i}")).collect::<Vec<_>>().join(", ");
    let mma = format!(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{{0}}}, {{{1}}}, {{%a0, %a1}}, {{{0}}};",
        list("f", 4),
        list("a", 4)
    );
    let wgmma = format!(
        "@%p wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{{}}}, %d, %d, 0, 1, 1, 0, 0;",
        list("f", 128)
    );
    let text = module(&format!(
        ".visible .entry k() {{ .shared .align 1024 .b8 s[16384];
         .reg .f32 %f<128>; .reg .b32 %a<4>, %s; .reg .b64 %d; .reg .pred %p; setp.eq.u32 %p, 0, 0;
         mov.u32 %s, s; and.b32 %s, %s, 0x3ffff; shr.u32 %s, %s, 4; cvt.u64.u32 %d, %s; or.b64 %d, %d, 0x0000000801000000;
         {mma}
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%a0, %a1, %a2, %a3}}, [s];
         wgmma.fence.sync.aligned;
         {wgmma}
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }}"
    ));
    let text = text.replace("sm_90", "sm_90a");
    let profile = Profile::default();
    let options = Options { profile: Some(profile.clone()), ..Options::default() };
    launch(&text, &Memory::new(), &shape(1, 128), &options).unwrap();
    for line in profile.lines("k") {
        let each = match &line.instruction {
            text if text.starts_with("mma.") => 4096,
            text if text.contains("wgmma.mma_async") => 2 * 64 * 256 * 16 / 4,
            _ => 0,
        };
        assert_eq!((line.flops, line.counts.instructions), (4 * each, 4), "{}", line.instruction);
    }
}
