//! Conversions of fragments against rounding in exact integer arithmetic.

mod exact;

use std::collections::BTreeSet;

use girih_codegen::algorithm::{
    byte_to_f16, convert, copy, f32_to_byte, f32_to_tf32, load_elements, store_elements,
};
use girih_codegen::atom::AUTO_VECTORIZING_COPY;
use girih_codegen::{Builder, Cond, Expr, Gmem, Rmem};
use girih_layout::{Lay, lay};
use girih_ptx::{Module, Special};
use girih_sim::{Launch, Memory};
use girih_tensor::{DType, Space, Tensor};

use crate::simulator::{addresses, block, checked, download, ones, upload};
use exact::{Number, decode, encode, format, stored};

/// Threads of a block.
const THREADS: i64 = 64;

/// A kernel each of whose threads converts as many values as `order` has, in this order of the registers' values.
fn kernel(from: DType, to: DType, sm: u32, order: &Lay) -> Module {
    let mut b = Builder::new("k", sm, THREADS as u32);
    let (dst, src) = (b.pointer("dst", 16), b.pointer("src", 16));
    let block = b.special(Special::CtaidX);
    let block = b.bounded(&block, 1 << 16).unwrap();
    let thread = &(&block * THREADS) + &b.special(Special::TidX);
    let count = order.size().unwrap().get().unwrap();
    let array = |pointer, dtype: DType| {
        let bytes = count * i64::from(dtype.bits()) / 8;
        Tensor::new(Gmem::new(pointer + &(&thread * bytes), dtype), Lay::strided([count], [1]).unwrap())
    };
    let (source, target) = (array(&src, from), array(&dst, to));
    let values = Rmem::tensor(&mut b, from, Lay::strided([count], [1]).unwrap()).unwrap();
    copy(&mut b, AUTO_VECTORIZING_COPY, &source, &values).unwrap();
    let results = Rmem::tensor(&mut b, to, Lay::strided([count], [1]).unwrap()).unwrap();
    convert(&mut b, &Tensor::new(values.engine().clone(), *order), &results).unwrap();
    copy(&mut b, AUTO_VECTORIZING_COPY, &results, &target).unwrap();
    b.finish().unwrap().into_module()
}

fn packed(dtype: DType, values: &[u64]) -> Vec<u8> {
    let bits = dtype.bits() as usize;
    let mut out = vec![0u8; (values.len() * bits).div_ceil(8)];
    for (i, value) in values.iter().enumerate() {
        for bit in (0..bits).filter(|bit| value >> bit & 1 == 1) {
            out[(i * bits + bit) / 8] |= 1 << ((i * bits + bit) % 8);
        }
    }
    out
}

fn unpacked(dtype: DType, bytes: &[u8], count: usize) -> Vec<u64> {
    let bits = dtype.bits() as usize;
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    (0..count).map(|i| (0..bits).map(|b| bit(i * bits + b) << b).sum()).collect()
}

/// A kernel each of whose threads converts one value that has a register of its own.
fn kernel_of_one(from: DType, to: DType, sm: u32) -> Module {
    let mut b = Builder::new("k", sm, THREADS as u32);
    let (dst, src) = (b.pointer("dst", 16), b.pointer("src", 16));
    let block = b.special(Special::CtaidX);
    let block = b.bounded(&block, 1 << 16).unwrap();
    let thread = &(&block * THREADS) + &b.special(Special::TidX);
    let at = |pointer: &Expr, dtype: DType| pointer + &(&thread * dtype.bytes());
    let x = load_elements(&mut b, Space::Gmem, from, 1, &at(&src, from), &Cond::Always, None).unwrap();
    let y = match to {
        DType::F16 => byte_to_f16(&mut b, from, &x[0]),
        DType::Tf32 => f32_to_tf32(&mut b, &x[0]),
        _ => f32_to_byte(&mut b, to, &x[0]),
    };
    store_elements(&mut b, Space::Gmem, to, &at(&dst, to), &Cond::Always, &[y]).unwrap();
    b.finish().unwrap().into_module()
}

/// Converts all values and compares each result with the oracle's.
fn check(from: DType, to: DType, sm: u32, order: &Lay, values: &[u64]) {
    judge(&kernel(from, to, sm, order), from, to, sm, order, values);
}

fn judge(module: &Module, from: DType, to: DType, sm: u32, order: &Lay, values: &[u64]) {
    let each = order.size().unwrap().get().unwrap() as usize;
    let mut padded = values.to_vec();
    padded.resize(values.len().next_multiple_of(each * THREADS as usize), values[0]);
    let memory = Memory::new();
    let length = padded.len() * to.bits() as usize / 8;
    let arrays = [ones(&memory, length), upload(&memory, &packed(from, &padded))];
    let blocks = (padded.len() / each / THREADS as usize) as u32;
    let launch = Launch { grid: [blocks, 1, 1], ..block(THREADS as u32, 0, addresses(&arrays)) };
    checked(module, &memory, &launch).unwrap();
    let found = unpacked(to, &download(&memory, arrays[0], length), padded.len());
    for (i, &bits) in found.iter().enumerate() {
        let source = padded[i / each * each + order.at((i % each) as i64).unwrap() as usize];
        let expected = encode(to, decode(from, source));
        let right = expected.map_or_else(|| decode(to, bits) == Number::Nan, |expected| expected == bits);
        assert!(right, "{from} {source:#x} to {to} on sm_{sm}, {order}: {bits:#x}, {expected:x?} is right");
    }
}

/// All values of a dtype of up to 8 bits; of others the ends, the neighbours of powers of two and of what other dtypes have, and random ones.
fn samples(dtype: DType) -> Vec<u64> {
    let bits = dtype.bits();
    if dtype == DType::Bool {
        return vec![0, 1, 1, 0];
    }
    if bits <= 8 {
        return (0..1 << bits).collect();
    }
    let mask = u64::MAX >> (64 - bits);
    let mut out = BTreeSet::new();
    for &other in DType::ALL.iter().filter(|other| format(**other).is_some() || other.bits() <= 64) {
        let ends = [0, 1, 2, u64::MAX, 1 << (other.bits() - 1), (1 << (other.bits() - 1)) - 1];
        let float = format(other).map(|(e, f)| {
            let one = stored(other, ((1 << (e - 1)) - 1) << f);
            [one, one + 1, stored(other, ((1 << e) - 1) << f), stored(other, (((1 << e) - 1) << f) - 1), 3]
        });
        for end in ends.into_iter().chain(float.into_iter().flatten()) {
            let number = decode(other, end & (u64::MAX >> (64 - other.bits())));
            for negative in [false, true] {
                let number = match number {
                    Number::Finite { mantissa, exponent, .. } => {
                        Number::Finite { negative, mantissa, exponent }
                    }
                    Number::Infinite { .. } => Number::Infinite { negative },
                    Number::Nan => Number::Nan,
                };
                let code = encode(dtype, number).unwrap_or(mask >> 1);
                out.extend([code.wrapping_sub(1) & mask, code, code.wrapping_add(1) & mask]);
            }
        }
    }
    // Halves between neighbouring numbers of few bits.
    if let Some((e, f)) = format(dtype) {
        for (exponent, fraction) in
            (0..1u64 << e).step_by(1 << e.saturating_sub(6)).flat_map(|e| (0..16).map(move |f| (e, f)))
        {
            let code = exponent << f | fraction << (f - 4);
            out.extend([code, code | 1]);
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in 0..128 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Small integers, too.
        out.insert((state >> (i % 8 * u64::from(bits) / 8)) & mask);
    }
    // A tf32 has no other bits.
    let out = out.into_iter().map(|bits| if dtype == DType::Tf32 { bits & !0x1fff } else { bits });
    out.collect()
}

/// Every dtype becomes every other, by instructions that are old and by new ones.
#[test]
fn every_dtype_becomes_every_other() {
    for &from in DType::ALL {
        let values = samples(from);
        for &to in DType::ALL.iter().filter(|to| **to != from) {
            for sm in [80, 90] {
                check(from, to, sm, &lay!("32:1"), &values);
            }
        }
    }
}

/// The same dtype keeps its bits.
#[test]
fn the_same_dtype_keeps_its_bits() {
    for &dtype in DType::ALL {
        let mut b = Builder::new("k", 80, 1);
        let values = Rmem::tensor(&mut b, dtype, lay!("32:1")).unwrap();
        let results = Rmem::tensor(&mut b, dtype, lay!("32:1")).unwrap();
        convert(&mut b, &values, &results).unwrap();
        let text = b.finish().unwrap().module().to_string();
        assert!(!text.contains("cvt") && !text.contains("fma"), "{dtype}: {text}");
    }
}

/// The sixteen upper bits of an f32, with lower bits that decide what is halfway between two numbers.
fn singles() -> Vec<u64> {
    (0..1 << 16).step_by(3).flat_map(|upper| [0, 1, 0xffff].map(|low| upper << 16 | low)).collect()
}

/// Values that have a register each become what those of fragments do.
#[test]
fn single_registers_are_converted_exactly() {
    let narrow = [DType::E4m3, DType::E5m2, DType::Tf32].map(|to| (DType::F32, to));
    let widen = [DType::E4m3, DType::E5m2].map(|from| (from, DType::F16));
    for ((from, to), sm) in narrow.into_iter().chain(widen).flat_map(|pair| [80, 89].map(|sm| (pair, sm))) {
        let mut values = samples(from);
        values.extend(singles().into_iter().filter(|_| from == DType::F32));
        judge(&kernel_of_one(from, to, sm), from, to, sm, &lay!("1:1"), &values);
    }
}

/// All 65536 f16 and bf16, and f32 of all exponents, become floats of 8 bits; all 8-bit floats become the others.
#[test]
fn floats_of_eight_bits_are_rounded_exactly() {
    let halves: Vec<u64> = (0..1 << 16).collect();
    for (from, to) in
        [DType::F16, DType::Bf16].into_iter().flat_map(|f| [DType::E4m3, DType::E5m2].map(|t| (f, t)))
    {
        for sm in [80, 90] {
            check(from, to, sm, &lay!("32:1"), &halves);
        }
    }
    let singles = singles();
    for (to, sm) in [DType::E4m3, DType::E5m2].into_iter().flat_map(|to| [80, 89].map(|sm| (to, sm))) {
        check(DType::F32, to, sm, &lay!("32:1"), &singles);
    }
}

/// Values of 4 and 8 bits in any order of a register's values, which decides the instructions, and not the results.
#[test]
fn any_order_of_values_is_converted() {
    let orders = [
        "(2,4,4):(1,2,8)",
        "(2,4,4):(4,1,8)", // values four apart, as two halves of a register of 4-bit values
        "(2,2,8):(2,1,4)",
        "(2,2,2,4):(4,2,1,8)", // pairs of even, then of odd ones
        "(2,16):(16,1)",       // the two values of a pair are in two registers
        "(4,8):(8,1)",
        "31:1",
        "(3,5):(5,1)",
    ];
    let small = [DType::S4, DType::U4, DType::S8, DType::U8, DType::E4m3, DType::E5m2];
    let wide = [DType::F16, DType::Bf16, DType::F32, DType::S8, DType::U8, DType::S32, DType::E4m3];
    for (&from, &to) in small.iter().flat_map(|f| wide.iter().map(move |t| (f, t))).filter(|(f, t)| f != t) {
        for order in orders {
            // Whole bytes in memory: the values of a thread are as many as the order has, rounded up.
            let order = Lay::parse(order).unwrap();
            if order.size().unwrap().get().unwrap() * i64::from(from.bits()) % 8 != 0 {
                continue;
            }
            let values = samples(from);
            for sm in [80, 90] {
                // Each value at each place.
                let turned = values.iter().cycle().skip(5).take(values.len().max(64)).copied();
                check(from, to, sm, &order, &values.iter().copied().chain(turned).collect::<Vec<_>>());
            }
        }
    }
}

/// The instructions of a conversion of 32 values, without those that set constants, and the most that are expected.
#[test]
fn conversions_take_few_instructions() {
    let (line, apart) = (lay!("32:1"), lay!("(2,4,4):(4,1,8)"));
    let table = [
        // For two neighbours: prmt, lop3, fma.
        (DType::S4, DType::F16, 80, line, 48),
        (DType::U4, DType::F16, 80, line, 48),
        (DType::S4, DType::Bf16, 80, line, 48 + 4),
        (DType::U4, DType::Bf16, 80, line, 48 + 4),
        // For two that are four apart: lop3, fma, and a shift for four of them.
        (DType::S4, DType::F16, 80, apart, 32 + 4),
        (DType::U4, DType::F16, 80, apart, 32 + 4),
        (DType::S4, DType::Bf16, 80, apart, 32 + 12),
        (DType::S4, DType::F32, 80, line, 64 + 4),
        (DType::S4, DType::S8, 80, line, 36),
        (DType::U4, DType::U8, 80, line, 20),
        (DType::S8, DType::F16, 80, line, 32 + 8),
        (DType::U8, DType::F16, 80, line, 32),
        (DType::S8, DType::Bf16, 80, line, 64),
        (DType::U8, DType::Bf16, 80, line, 80),
        (DType::S8, DType::F32, 80, line, 64 + 8),
        (DType::U8, DType::F32, 80, line, 64),
        (DType::E4m3, DType::F16, 89, line, 16 + 8),
        (DType::E4m3, DType::F16, 90, line, 16 + 8),
        (DType::E4m3, DType::F16, 80, line, 16 * 7),
        (DType::E4m3, DType::Bf16, 90, line, 16 * 7),
        (DType::E5m2, DType::F16, 80, line, 16),
        (DType::E5m2, DType::Bf16, 80, line, 16 * 5),
        (DType::F16, DType::E4m3, 90, line, 16 + 8),
        (DType::F32, DType::E4m3, 90, line, 32 + 16 + 8),
        (DType::F32, DType::S8, 80, line, 32 + 32 + 16),
        (DType::S32, DType::S8, 80, line, 32 + 16),
        (DType::S32, DType::U4, 80, line, 32 + 16),
    ];
    let mut texts = Vec::new();
    for (from, to, sm, order, most) in table {
        let mut b = Builder::new("k", sm, 1);
        let values = Rmem::tensor(&mut b, from, lay!("32:1")).unwrap();
        let results = Rmem::tensor(&mut b, to, lay!("32:1")).unwrap();
        convert(&mut b, &Tensor::new(values.engine().clone(), order), &results).unwrap();
        let text = b.finish().unwrap().module().to_string();
        let constant =
            |line: &str| line.starts_with("mov.b32") && !line.contains('{') && !line.contains(", %");
        let instructions = text.lines().map(str::trim).filter(|line| line.ends_with(';'));
        let instructions =
            instructions.filter(|line| !line.starts_with('.') && *line != "ret;" && !constant(line));
        let count = instructions.count();
        if count > most {
            texts.push(format!("{from} to {to} on sm_{sm}, {order}: {count}, at most {most}\n{text}"));
        }
    }
    assert!(texts.is_empty(), "{}", texts.join("\n"));
}

/// Modules with every conversion that takes several values at once, for the assembler.
#[test]
fn modules_for_the_assembler() {
    use expect_test::expect_file;
    let module = |sm| {
        let mut b = Builder::new("convert", sm, 1);
        let integers = [DType::S4, DType::U4, DType::S8, DType::U8];
        let floats = [DType::F16, DType::Bf16, DType::F32];
        let bytes = [DType::E4m3, DType::E5m2];
        let mut all: Vec<(DType, DType)> = integers.iter().flat_map(|&f| floats.map(|t| (f, t))).collect();
        all.extend(bytes.iter().flat_map(|&f| floats.map(|t| (f, t))));
        all.extend(floats.iter().flat_map(|&f| bytes.map(|t| (f, t))));
        all.extend(integers.map(|t| (DType::F32, t)));
        all.extend(integers.map(|t| (DType::S32, t)));
        all.extend([
            (DType::S4, DType::S8),
            (DType::U4, DType::U8),
            (DType::F64, DType::Bf16),
            (DType::F32, DType::Tf32),
        ]);
        let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
        for (i, (from, to)) in (0..).zip(all) {
            let array = |pointer, dtype| Tensor::new(Gmem::new(pointer + 64 * i, dtype), lay!("8:1"));
            let (source, target) = (array(&pointers[1], from), array(&pointers[0], to));
            let values = Rmem::like(&mut b, &source).unwrap();
            let results = Rmem::like(&mut b, &target).unwrap();
            copy(&mut b, AUTO_VECTORIZING_COPY, &source, &values).unwrap();
            convert(&mut b, &values, &results).unwrap();
            copy(&mut b, AUTO_VECTORIZING_COPY, &results, &target).unwrap();
        }
        b.finish().unwrap().module().to_string()
    };
    expect_file!["../../testdata/golden/convert_sm80.ptx"].assert_eq(&module(80));
    expect_file!["../../testdata/golden/convert_sm89.ptx"].assert_eq(&module(89));
    expect_file!["../../testdata/golden/convert_sm90.ptx"].assert_eq(&module(90));
}
