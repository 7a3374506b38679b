//! Copies of some values, in any order of memory: nothing else changes, and vectors are as wide as they can be.

use girih_codegen::algorithm::{Predicates, axpby, clear, copy, copy_if, fill, transform};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Rmem, Smem};
use girih_layout::{Lay, Shape, lay};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::{execute, execute_with};

/// The two arrays of [`execute`].
fn arrays(b: &mut Builder, dtype: DType, layouts: [Lay; 2]) -> [Tensor<Gmem>; 2] {
    let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
    [0, 1].map(|i| Tensor::new(Gmem::new(pointers[i].clone(), dtype), layouts[i]))
}

/// In every order of the modes, also of nested modes, 32 words that lie together are eight accesses of 16 bytes.
#[test]
fn vectors_are_found_whatever_the_order_of_the_modes() {
    let layouts = [
        lay!("32:1"),
        lay!("(2,16):(16,1)"),
        lay!("(2,4,4):(4,1,8)"),
        lay!("((2,8),2):((1,4),2)"),
        lay!("((2,2),(2,2),2):((16,1),(8,2),4)"),
        lay!("(8,4):(1,8)"),
        lay!("(2,2,2,2,2):(16,8,4,2,1)"),
    ];
    for layout in layouts {
        let mut b = Builder::new("k", 80, 1);
        let [target, source] = arrays(&mut b, DType::F32, [layout; 2]);
        copy(&mut b, AUTO_VECTORIZING_COPY, &source, &target).unwrap();
        let module = b.finish().unwrap().into_module();
        let text = module.to_string();
        assert_eq!(text.matches("ld.global.v4.b32").count(), 8, "{layout}\n{text}");
        assert_eq!(text.matches("st.global").count(), 8, "{layout}\n{text}");
        let out = execute(&module);
        assert!(
            out.iter().enumerate().all(|(i, &x)| usize::from(x) == if i < 128 { i } else { 0xff }),
            "{layout}"
        );
    }
}

/// For every set of values that share registers, the values whose predicates fail stay as they are.
#[test]
fn registers_keep_the_values_that_are_not_copied() {
    for dtype in [DType::U8, DType::F16] {
        let bytes = dtype.bits() as usize / 8;
        for wanted in 0..16u32 {
            let is_wanted = |i: usize| wanted >> i & 1 == 1;
            let mut b = Builder::new("k", 80, 1);
            // The values lie apart in memory, so that each is copied by itself.
            let [target, source] = arrays(&mut b, dtype, [lay!("4:1"), lay!("4:3")]);
            let registers = Rmem::like(&mut b, &source).unwrap();
            let initial = if dtype == DType::U8 { 77.0 } else { 1.0 };
            fill(&mut b, &registers, initial).unwrap();
            let each = (0..4).map(|i| if is_wanted(i) { Cond::Always } else { Cond::Never }).collect();
            copy_if(&mut b, AUTO_VECTORIZING_COPY, &Predicates::each(each), &source, &registers).unwrap();
            copy(&mut b, AUTO_VECTORIZING_COPY, &registers, &target).unwrap();
            let out = execute(&b.finish().unwrap().into_module());
            let old: &[u8] = if dtype == DType::U8 { &[77] } else { &[0x00, 0x3c] };
            for (i, &found) in out[..4 * bytes].iter().enumerate() {
                let (value, byte) = (i / bytes, i % bytes);
                let expected = if is_wanted(value) { (3 * value * bytes + byte) as u8 } else { old[byte] };
                assert_eq!(found, expected, "{dtype}, {wanted:04b}: byte {i}");
            }
        }
    }
}

/// A value that is written twice does not count as two values: the other value of its register stays.
#[test]
fn values_written_twice_leave_the_others() {
    let mut b = Builder::new("k", 80, 1);
    let [target, source] = arrays(&mut b, DType::U16, [lay!("2:1"), lay!("2:4")]);
    let registers = Rmem::tensor(&mut b, DType::U16, lay!("2:1")).unwrap();
    fill(&mut b, &registers, 77.0).unwrap();
    let first = Tensor::new(registers.engine().clone(), lay!("2:0"));
    copy(&mut b, AUTO_VECTORIZING_COPY, &source, &first).unwrap();
    copy(&mut b, AUTO_VECTORIZING_COPY, &registers, &target).unwrap();
    assert_eq!(execute(&b.finish().unwrap().into_module())[..4], [8, 9, 77, 0]);
}

/// Elements smaller than a byte change their places within registers one by one.
#[test]
fn elements_smaller_than_a_byte_move_between_registers() {
    for (dtype, per_byte) in [(DType::S4, 2), (DType::B1, 8)] {
        let mut b = Builder::new("k", 80, 1);
        // 8 bytes are two rows, which are transposed in registers.
        let half = 4 * per_byte;
        let line = Lay::leaf((2 * half).into(), 1.into()).unwrap();
        let [target, source] = arrays(&mut b, dtype, [line; 2]);
        let [rows, columns] = [(); 2].map(|()| Rmem::tensor(&mut b, dtype, line).unwrap());
        copy(&mut b, AUTO_VECTORIZING_COPY, &source, &rows).unwrap();
        let seen =
            |of: &Tensor<Rmem>, text: String| Tensor::new(of.engine().clone(), Lay::parse(&text).unwrap());
        let by_rows = seen(&rows, format!("({half},2):(1,{half})"));
        let by_columns = seen(&columns, format!("({half},2):(2,1)"));
        copy(&mut b, AUTO_VECTORIZING_COPY, &by_rows, &by_columns).unwrap();
        copy(&mut b, AUTO_VECTORIZING_COPY, &columns, &target).unwrap();
        let out = execute(&b.finish().unwrap().into_module());
        let bits = dtype.bits() as usize;
        let element = |bytes: &dyn Fn(usize) -> u8, i: usize| {
            bytes(i * bits / 8) >> (i * bits % 8) & ((1u16 << bits) - 1) as u8
        };
        for i in 0..2 * half as usize {
            let (column, row) = (i / 2, i % 2);
            let from = element(&|byte| byte as u8, column + row * half as usize);
            assert_eq!(element(&|byte| out[byte], i), from, "{dtype}: element {i}");
        }
    }
}

/// `cp.async` with zero fill writes zeros for values that its predicate excludes, also for elements of less than a byte.
#[test]
fn zeros_fill_packed_elements() {
    for (dtype, elements) in [(DType::S4, 8), (DType::B1, 32), (DType::U8, 4)] {
        for wanted in [true, false] {
            let mut b = Builder::new("k", 80, 2);
            let line = Lay::leaf(elements.into(), 1.into()).unwrap();
            let [target, source] = arrays(&mut b, dtype, [line; 2]);
            let shared = Smem::alloc(&mut b, dtype, None, &line).unwrap();
            fill(&mut b, &shared, 1.0).unwrap();
            // The condition is known only when the kernel runs: a block may have two threads, and thread 0 alone is launched.
            let (zero, thread) = (Expr::from(0), b.special(Special::TidX));
            let cond = if wanted { Cond::less(&thread, &Expr::from(1)) } else { Cond::less(&zero, &thread) };
            assert!(matches!(cond, Cond::Less(..)), "{cond:?}");
            let inside = Predicates::from(cond);
            copy_if(&mut b, SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4, &inside, &source, &shared).unwrap();
            b.ptx("cp.async.wait_all;", &[]).unwrap();
            copy(&mut b, AUTO_VECTORIZING_COPY, &shared, &target).unwrap();
            let out = execute_with(&b.finish().unwrap().into_module(), 4);
            assert_eq!(out[..4], if wanted { [0, 1, 2, 3] } else { [0; 4] }, "{dtype}");
        }
    }
}

/// A tensor is moved so that the rest of an uneven division comes first: coordinates before its beginning are outside too.
#[test]
fn nothing_before_the_beginning_is_touched() {
    let mut b = Builder::new("k", 80, 2);
    let [target, source] = arrays(&mut b, DType::F32, [lay!("(8):(1)"); 2]);
    // The distance of 3 is known only when the kernel runs: a block may have two threads, and thread 0 alone is launched.
    let thread = b.special(Special::TidX);
    assert_eq!(thread.as_constant(), None);
    let moved = Slice::tuple([Slice::At(&thread + -3)]);
    let coordinates = Tensor::identity(&Shape::parse("(8)").unwrap()).unwrap().domain_offset(&moved).unwrap();
    let inside = Predicates::inside(&coordinates, &[Expr::from(4)]).unwrap();
    let [target, source] = [target, source].map(|t| t.domain_offset(&moved).unwrap());
    let registers = Rmem::like(&mut b, &source).unwrap();
    clear(&mut b, &registers).unwrap();
    copy_if(&mut b, AUTO_VECTORIZING_COPY, &inside, &source, &registers).unwrap();
    copy_if(&mut b, AUTO_VECTORIZING_COPY, &inside, &registers, &target).unwrap();
    let out = execute(&b.finish().unwrap().into_module());
    assert!(out.iter().enumerate().all(|(i, &x)| usize::from(x) == if i < 16 { i } else { 0xff }), "{out:?}");
}

/// A layout that names values that its fragment does not have is refused.
#[test]
fn registers_past_the_last_are_refused() {
    for layout in [lay!("8:1"), lay!("2:-1"), lay!("(2,2):(1,4)")] {
        for dtype in [DType::F64, DType::F32, DType::F16] {
            let mut b = Builder::new("k", 80, 1);
            let short = Tensor::new(Rmem::new(&mut b, dtype, 4), layout);
            let long = Rmem::tensor(&mut b, dtype, Lay::left(layout.shape()).unwrap()).unwrap();
            let found = [
                fill(&mut b, &short, 1.0),
                copy(&mut b, AUTO_VECTORIZING_COPY, &short, &long),
                copy(&mut b, AUTO_VECTORIZING_COPY, &long, &short),
                transform(&mut b, &[&long], &short, |_, values| Ok(values[0].clone())),
                axpby(&mut b, 1.0, &short, 1.0, &long),
            ];
            for found in found {
                let beyond =
                    |e: &girih_tensor::Error| matches!(e, girih_tensor::Error::Beyond { len: 4, .. });
                assert!(matches!(&found, Err(Error::Tensor(e)) if beyond(e)), "{layout}: {found:?}");
            }
        }
    }
    let mut b = Builder::new("k", 80, 1);
    let found = Rmem::tensor(&mut b, DType::F32, lay!("2:4000000000")).unwrap_err();
    expect_test::expect![
        "a fragment: 2:4000000000 does not fit the registers of a thread: a layout of at most 65536 values"
    ]
    .assert_eq(&found.to_string());
}
