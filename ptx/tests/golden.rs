//! The printer's style, pinned.

use expect_test::expect;
use girih_ptx::{Item, Module, Statement};

#[test]
fn one_kernel() {
    let text = ".version 8.0 .target sm_90a .address_size 64
        .extern .shared .align 16 .b8 pool[]; .const .f32 weights[2] = { 1.0, -0.5 };
        .visible .entry scale(.param .u64 data, .param .align 64 .b8 map[128]) .maxntid 128 .minnctapersm 2 {
          .reg .b32 %r<4>, n; .reg .b64 %rd<3>; .reg .pred p; .reg .f32 %f<4>; .pragma \"nounroll\";
          ld.param.u64 %rd1, [data]; mov.u32 n, 0x10; L: { .reg .f32 t; mov.f32 t, 0f3f800000; INNER: @!p bra INNER; }
          ld.global.v4.f32 {%f0, %f1, _, %f3}, [%rd1 + -16]; setp.lt.s32 p|_, n, -1; @p bra L; ret; }";
    let mut module = Module::parse(text).unwrap();
    let Item::Kernel(kernel) = &mut module.items[2] else { panic!() };
    kernel.body.insert(0, Statement::Comment("two\nlines".into()));
    expect![[r#"
        .version 8.0
        .target sm_90a
        .address_size 64

        .extern .shared .align 16 .b8 pool[];
        .const .f32 weights[2] = {0d3FF0000000000000, 0dBFE0000000000000};

        .visible .entry scale(
          .param .u64 data,
          .param .align 64 .b8 map[128]
        )
        .maxntid 128, 1, 1
        .minnctapersm 2
        {
          // two
          // lines
          .reg .b32 %r<4>, n;
          .reg .b64 %rd<3>;
          .reg .pred p;
          .reg .f32 %f<4>;
          .pragma "nounroll";
          ld.param.u64 %rd1, [data];
          mov.u32 n, 16;
        L:
          {
            .reg .f32 t;
            mov.f32 t, 0f3F800000;
          INNER:
            @!p bra INNER;
          }
          ld.global.v4.f32 {%f0, %f1, _, %f3}, [%rd1+-16];
          setp.lt.s32 p|_, n, -1;
          @p bra L;
          ret;
        }
    "#]]
    .assert_eq(&module.to_string());
}

#[test]
fn an_empty_module_and_kernel() {
    let module = Module::parse(".version 8.0 .target sm_80 .address_size 64 .entry k() {}").unwrap();
    expect![[r#"
        .version 8.0
        .target sm_80
        .address_size 64

        .entry k()
        {
        }
    "#]]
    .assert_eq(&module.to_string());
}

#[test]
fn comments_and_sections_are_dropped() {
    let bare = ".version 8.0 .target sm_80 .address_size 64 .entry k() { ret; }";
    let full = "// generated
        .version 8.0 /* of
        a compiler */ .target sm_80, debug .address_size 64
        .entry k() {
          ret; // done
        }
        .section .debug_str { $L__info: .b8 102, 0 }";
    assert_eq!(Module::parse(full).unwrap(), Module::parse(bare).unwrap());
    assert!(Module::parse(full.trim_end_matches('}')).is_err());
}
