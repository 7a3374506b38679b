//! `fill`, `clear`, `transform` and `axpby` against the same computations on the host.

use girih_codegen::algorithm::{axpby, clear, convert, copy, fill, transform};
use girih_codegen::atom::AUTO_VECTORIZING_COPY;
use girih_codegen::{Builder, Error, Gmem, Rmem};
use girih_layout::{Lay, lay};
use girih_ptx::Type;
use girih_tensor::{DType, Tensor};

use super::execute;

/// The value of `dtype` whose bytes are `bytes`.
pub(super) fn decode(dtype: DType, bytes: &[u8]) -> f64 {
    let word = bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    match dtype {
        DType::F64 => f64::from_bits(word),
        DType::F32 | DType::Tf32 => f32::from_bits(word as u32).into(),
        DType::F16 => half::f16::from_bits(word as u16).to_f64(),
        DType::Bf16 => half::bf16::from_bits(word as u16).to_f64(),
        DType::E4m3 => float8::F8E4M3::from_bits(word as u8).to_f64(),
        DType::E5m2 => float8::F8E5M2::from_bits(word as u8).to_f64(),
        DType::E8m0 => 2f64.powi(word as i32 - 127),
        DType::S64 => word as i64 as f64,
        DType::S32 => f64::from(word as i32),
        DType::S16 => f64::from(word as i16),
        DType::S8 => f64::from(word as i8),
        _ => word as f64,
    }
}

#[test]
fn fill_writes_every_value_and_no_other() {
    let layouts = [lay!("8:1"), lay!("(2,4):(16,1)"), lay!("(4,2):(2,1)"), lay!("8:3"), lay!("1:0")];
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.bits() >= 8) {
        let bytes = dtype.bits() as usize / 8;
        for layout in layouts {
            for through_registers in [false, true] {
                let mut b = Builder::new("k", 80, 1);
                let (dst, _) = (b.pointer("dst", 16), b.pointer("src", 16));
                let target = Tensor::new(Gmem::new(dst, dtype), layout);
                if through_registers {
                    let registers = Rmem::like(&mut b, &target).unwrap();
                    clear(&mut b, &registers).unwrap();
                    fill(&mut b, &registers, 3.0).unwrap();
                    copy(&mut b, AUTO_VECTORIZING_COPY, &registers, &target).unwrap();
                } else {
                    fill(&mut b, &target, 3.0).unwrap();
                }
                let out = execute(&b.finish().unwrap().into_module());
                let mut written = vec![false; 256];
                for i in 0..layout.size().unwrap().get().unwrap() {
                    let at = layout.at(i).unwrap() as usize * bytes;
                    // Whatever is not 0 is true.
                    let value = match dtype {
                        DType::Bool => 1.0,
                        // Of 2 and 4 the one whose exponent is even.
                        DType::E8m0 => 2.0,
                        _ => 3.0,
                    };
                    assert_eq!(decode(dtype, &out[at..at + bytes]), value, "{dtype} {layout}");
                    written[at..at + bytes].fill(true);
                }
                let untouched = |(i, byte): (usize, &u8)| written[i] || *byte == 0xff;
                assert!(out.iter().enumerate().all(untouched), "{dtype} {layout}");
            }
        }
    }
}

/// Values in registers that exist are packed as those of new registers; registers of other sizes are refused.
#[test]
fn fragments_of_registers_are_packed() {
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.bits() >= 8) {
        let mut b = Builder::new("k", 80, 1);
        let [target, source] = numbers(&mut b, dtype, [lay!("8:1"), lay!("8:1")]);
        let bits = 8 * dtype.bits();
        let regs = match dtype.bits() {
            64 => b.regs(Type::B64, 8),
            _ => b.regs(Type::B32, bits as usize / 32),
        };
        let fragment = Rmem::of(regs.clone(), dtype).unwrap();
        assert_eq!((fragment.values(), fragment.dtype(), fragment.regs()), (8, dtype, &regs[..]));
        let fragment = Tensor::new(fragment, lay!("8:1"));
        copy(&mut b, AUTO_VECTORIZING_COPY, &source, &fragment).unwrap();
        copy(&mut b, AUTO_VECTORIZING_COPY, &fragment, &target).unwrap();
        let out = execute(&b.finish().unwrap().into_module());
        let bytes = bits as usize / 8;
        assert!(out[..bytes].iter().enumerate().all(|(i, &byte)| usize::from(byte) == i), "{dtype}");
        assert!(out[bytes..].iter().all(|&byte| byte == 0xff), "{dtype}");
    }
    let mut b = Builder::new("k", 80, 1);
    let others =
        [(DType::F16, Type::B16), (DType::F32, Type::B64), (DType::F64, Type::B32), (DType::U8, Type::Pred)];
    for (dtype, ty) in others {
        let found = Rmem::of(b.regs(ty, 2), dtype).unwrap_err();
        assert!(matches!(found, Error::Mismatch { what: "registers", .. }), "{found}");
    }
    let reg = b.reg(Type::B16);
    let found = Rmem::of(vec![reg], DType::F16).unwrap_err().to_string();
    expect_test::expect!["registers: %h2 of b16 does not fit values of f16: registers of 32 bits, of 64 bits for a dtype of 64 bits"].assert_eq(&found);
}

/// To fill a part of a register leaves the register's other values.
#[test]
fn fill_keeps_the_other_values_of_a_register() {
    for (dtype, count) in [(DType::U8, 8), (DType::F16, 8), (DType::F32, 8)] {
        let mut b = Builder::new("k", 80, 1);
        let (dst, src) = (b.pointer("dst", 16), b.pointer("src", 16));
        let [target, source] = [dst, src].map(|pointer| Tensor::new(Gmem::new(pointer, dtype), lay!("8:1")));
        let registers = Rmem::like(&mut b, &source).unwrap();
        copy(&mut b, AUTO_VECTORIZING_COPY, &source, &registers).unwrap();
        clear(&mut b, &Tensor::new(registers.engine().clone(), lay!("4:2"))).unwrap();
        copy(&mut b, AUTO_VECTORIZING_COPY, &registers, &target).unwrap();
        let out = execute(&b.finish().unwrap().into_module());
        let bytes = dtype.bits() as usize / 8;
        for (i, &found) in out.iter().enumerate().take(count * bytes) {
            let expected = if i / bytes % 2 == 1 { i } else { 0 };
            assert_eq!(usize::from(found), expected, "{dtype}: byte {i}");
        }
    }
}

fn numbers(b: &mut Builder, dtype: DType, layouts: [Lay; 2]) -> [Tensor<Gmem>; 2] {
    let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
    [0, 1].map(|i| Tensor::new(Gmem::new(pointers[i].clone(), dtype), layouts[i]))
}

#[test]
fn transform_applies_to_each_value() {
    for dtype in [DType::U8, DType::U16, DType::U32] {
        let layouts = [lay!("(4,2):(1,8)"), lay!("(4,2):(2,1)")];
        let mut b = Builder::new("k", 80, 1);
        let [target, source] = numbers(&mut b, dtype, layouts);
        transform(&mut b, &[&source, &source], &target, |_, x| Ok(&x[0] + &x[1])).unwrap();
        let out = execute(&b.finish().unwrap().into_module());
        let bytes = dtype.bits() as usize / 8;
        for i in 0..8 {
            let [to, from] = layouts.map(|layout| layout.at(i).unwrap() as usize * bytes);
            let input: Vec<u8> = (from..from + bytes).map(|i| i as u8).collect();
            assert_eq!(decode(dtype, &out[to..to + bytes]), 2.0 * decode(dtype, &input), "{dtype}: {i}");
        }
    }
}

#[test]
fn axpby_is_what_its_name_says() {
    for dtype in [DType::F64, DType::F32, DType::F16, DType::Bf16] {
        for (alpha, beta) in [(1.0, 0.0), (2.0, 0.5), (-0.5, -3.0), (0.0, 1.0)] {
            let mut b = Builder::new("k", 80, 1);
            let [target, source] = numbers(&mut b, dtype, [lay!("8:1"), lay!("(2,4):(4,1)")]);
            fill(&mut b, &target, 6.0).unwrap();
            let x = Rmem::like(&mut b, &source).unwrap();
            fill(&mut b, &x, -8.0).unwrap();
            fill(&mut b, &Tensor::new(x.engine().clone(), lay!("4:1")), 2.0).unwrap();
            axpby(&mut b, alpha, &x, beta, &target).unwrap();
            let out = execute(&b.finish().unwrap().into_module());
            let bytes = dtype.bits() as usize / 8;
            for i in 0..8 {
                let x = if i < 4 { 2.0 } else { -8.0 };
                let found = decode(dtype, &out[i * bytes..(i + 1) * bytes]);
                assert_eq!(found, alpha * x + beta * 6.0, "{dtype}: {alpha} x + {beta} y, {i}");
            }
        }
    }
    let mut b = Builder::new("k", 80, 1);
    let [target, source] = numbers(&mut b, DType::S32, [lay!("8:1"), lay!("8:1")]);
    let found = axpby(&mut b, 1.0, &source, 1.0, &target).unwrap_err();
    assert!(matches!(found, Error::Mismatch { what: "axpby", .. }), "{found}");
    expect_test::expect![
        "axpby: 8:1 of s32 does not fit 8:1 of s32: as many values of one dtype, f64, f32, f16 or bf16"
    ]
    .assert_eq(&found.to_string());
}

/// Tensors of other sizes are refused.
#[test]
fn convert_refuses_other_sizes() {
    let mut b = Builder::new("k", 80, 1);
    let bytes = Rmem::tensor(&mut b, DType::E4m3, lay!("4:1")).unwrap();
    let to = Rmem::tensor(&mut b, DType::Bf16, lay!("6:1")).unwrap();
    let refused = convert(&mut b, &bytes, &to).unwrap_err().to_string();
    assert_eq!(refused, "convert: e4m3 4:1 does not fit bf16 6:1: tensors of as many values");
}
