//! Scopes and signatures: what a module may say, and what a launcher learns of it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_ptx::{Module, Target, Type};

fn module(items: &str) -> Module {
    Module::parse(&format!(".version 8.0 .target sm_90a .address_size 64 {items}")).unwrap()
}

#[test]
fn inner_blocks_see_outer_names_and_may_reuse_them() {
    let module = module(
        ".global .u32 counter; .extern .shared .align 16 .b8 pool[];
         .entry k(.param .u64 out) {
           .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred p;
           ld.param.u64 %rd0, [out]; mov.u32 %r0, pool; ld.global.u32 %r1, [counter];
         LOOP:
           { .reg .f32 %r<2>; .reg .b32 r1<12>, r<1>; add.f32 %r0, %r1, 0f3F800000; mov.b32 r111, r0; bra LOOP; }
           { .reg .b32 only; mov.b32 only, %r2; LOOP: @p bra LOOP; }
         }
         .entry counterpart() { LOOP: bra LOOP; }",
    );
    module.verify().unwrap();
    // The version is the target's; the code itself would do with the oldest.
    assert_eq!(module.required_version().unwrap(), (8, 0));
    assert_eq!(module.required_target().unwrap(), Target { sm: 70, suffix: None });
}

/// Which of two declarations clash is decided by the sets of names that they spell out.
#[test]
fn register_ranges_clash_exactly_if_they_share_a_name() {
    let declarations =
        ["a", "a1", "a01", "a<0>", "a<1>", "a<12>", "a<200>", "a1<1>", "a1<4>", "a0<3>", "a10<2>", "b<12>"];
    let names = |declaration: &str| match declaration.trim_end_matches('>').split_once('<') {
        None => vec![declaration.to_string()],
        Some((prefix, count)) => (0..count.parse::<u32>().unwrap()).map(|i| format!("{prefix}{i}")).collect(),
    };
    for first in declarations {
        for second in declarations {
            // A prefix is taken once a block, whatever its names are.
            let same = first.contains('<')
                && second.contains('<')
                && first.split('<').next() == second.split('<').next();
            let clash = same || names(first).iter().any(|name| names(second).contains(name));
            let module = module(&format!(".entry k() {{ .reg .b32 {first}, {second}; }}"));
            assert_eq!(module.verify().is_err(), clash, "{first} {second}");
            for name in names(first).iter().chain(&names(second)).filter(|_| !clash) {
                let text = format!(".entry k() {{ .reg .b32 {first}, {second}; mov.b32 {name}, 1; }}");
                self::module(&text).verify().unwrap();
            }
        }
    }
}

#[test]
fn parameters_lie_as_in_a_struct_of_c() {
    let kernels = module(
        ".entry k(.param .u8 a, .param .u64 b, .param .f32 c, .param .align 64 .b8 map[128], .param .u16 d[3], .param .u64 .ptr .global .align 16 e)
         .reqntid 32, 4 .explicitcluster .reqnctapercluster 2 { ret; }",
    )
    .kernels();
    let [kernel] = &kernels[..] else { panic!() };
    let params: Vec<_> = kernel.params.iter().map(|p| (p.ty, p.offset, p.bytes, p.align)).collect();
    assert_eq!(
        params,
        [
            (Type::U8, 0, 1, 1),
            (Type::U64, 8, 8, 8),
            (Type::F32, 16, 4, 4),
            (Type::B8, 64, 128, 64),
            (Type::U16, 192, 6, 2),
            (Type::U64, 200, 8, 8)
        ]
    );
    assert_eq!(kernel.max_threads, Some(128));
    assert_eq!(kernel.required_threads, Some([32, 4, 1]));
    assert_eq!(kernel.required_cluster, Some([2, 1, 1]));
    assert_eq!(kernel.instructions, 1);
}

#[test]
fn shared_memory_counts_what_the_kernel_uses() {
    let kernels = module(
        ".extern .shared .align 16 .b8 pool[]; .shared .b8 used[3]; .shared .b8 unused[64]; .global .b8 far[9];
         .entry all() {
           .shared .align 8 .b64 bar; .reg .b32 r<2>;
           { .shared .f32 tile[5]; mov.u32 r0, pool; ld.shared.u8 r1, [used]; { ret; } }
         }
         .entry none() .maxntid 8, 8, 8 { ret; }",
    )
    .kernels();
    // 3 bytes, 8 at 8, 20 at 16
    assert_eq!((kernels[0].static_shared_bytes, kernels[0].dynamic_shared), (36, true));
    assert_eq!((kernels[1].static_shared_bytes, kernels[1].dynamic_shared), (0, false));
    assert_eq!((kernels[0].instructions, kernels[1].instructions), (3, 1));
    assert_eq!((kernels[1].max_threads, kernels[1].required_threads), (Some(512), None));
}
