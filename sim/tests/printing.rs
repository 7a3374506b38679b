//! What `vprintf` prints, against what a C library prints (ISO C, "The fprintf function").
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};

use crate::common::{download, launch, module, shape, u64_arg, upload};
use girih_sim::{Launch, Memory, Options};

/// Bytes of each block's format, and of its values.
const SLOT: usize = 32;

/// What formats print of values as a program packs them, and how many values each takes.
fn printed(memory: &Memory, cases: &[(&str, Vec<u8>)]) -> Vec<(String, u32)> {
    let text = module(&format!(
        ".extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);
         .visible .entry k(.param .u64 formats, .param .u64 values, .param .u64 counts) {{
         .reg .b32 %i, %n; .reg .b64 %f, %v, %c, %o;
         ld.param.u64 %f, [formats]; ld.param.u64 %v, [values]; ld.param.u64 %c, [counts]; mov.u32 %i, %ctaid.x;
         mul.wide.u32 %o, %i, {SLOT}; add.s64 %f, %f, %o; add.s64 %v, %v, %o;
         mul.wide.u32 %o, %i, 4; add.s64 %c, %c, %o;
         {{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %f; st.param.b64 [p1], %v;
         call.uni (q), vprintf, (p0, p1); ld.param.b32 %n, [q]; }}
         st.global.u32 [%c], %n; ret; }}"
    ));
    let slots = |all: &mut dyn Iterator<Item = &[u8]>| {
        let mut bytes = Vec::new();
        for (i, slot) in all.enumerate() {
            assert!(slot.len() < SLOT, "{slot:?}");
            bytes.extend(slot);
            bytes.resize((i + 1) * SLOT, 0);
        }
        let address = memory.alloc(bytes.len()).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    };
    let formats = slots(&mut cases.iter().map(|(format, _)| format.as_bytes()));
    let values = slots(&mut cases.iter().map(|(_, values)| &values[..]));
    let counts = upload(memory, &vec![u32::MAX; cases.len()]);
    let args = vec![u64_arg(formats), u64_arg(values), u64_arg(counts)];
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    let print: girih_sim::Print = Arc::new(move |text| sink.lock().unwrap().push(text.to_owned()));
    let options = Options { print: Some(print), ..Options::checked() };
    launch(&text, memory, &Launch { args, ..shape(cases.len() as u32, 1) }, &options).unwrap();
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len(), cases.len());
    told.into_iter().zip(download(memory, counts, cases.len())).collect()
}

/// Formats of one value of eight bytes, and what they print.
fn check(cases: &[(&str, u64, &str)]) {
    let packed: Vec<_> = cases.iter().map(|(format, bits, _)| (*format, bits.to_le_bytes().into())).collect();
    for ((format, bits, want), (text, _)) in cases.iter().zip(printed(&Memory::new(), &packed)) {
        assert_eq!(text, *want, "{format} {bits:#x}");
    }
}

#[test]
fn integers_are_printed_as_in_c() {
    let cases = [
        ("%d", -5i64, "-5"),
        ("%5d|", 42, "   42|"),
        ("%-5d|", 42, "42   |"),
        ("%05d", -42, "-0042"),
        ("%+d", 7, "+7"),
        ("% d", 7, " 7"),
        ("%.3d", 7, "007"),
        ("%06.3d|", 7, "   007|"),
        ("%.0d|", 0, "|"),
        ("%.0d", 0, ""),
        ("%u", -1, "4294967295"),
        ("%lu", -1, "18446744073709551615"),
        ("%lld", i64::MIN, "-9223372036854775808"),
        ("%hd", 0x1_8000, "-32768"),
        ("%hhu", 0x1ff, "255"),
        ("%x", 0xbeef, "beef"),
        ("%#X", 0xbeef, "0XBEEF"),
        ("%#010x", 0xbeef, "0x0000beef"),
        ("%#x", 0, "0"),
        ("%#o", 8, "010"),
        ("%o", 8, "10"),
        ("%c", 65, "A"),
        ("%3c|", 65, "  A|"),
        ("%p", 0x7000, "0x7000"),
        ("100%%", 0, "100%"),
        ("%zu %", 3, "3 %"),
        ("%y%d", 3, "%y3"),
    ];
    check(&cases.map(|(format, value, want)| (format, value as u64, want)));
}

#[test]
fn floats_are_printed_as_in_c() {
    let cases = [
        ("%f", 1.5f64, "1.500000"),
        ("%8.2f|", -3.70999, "   -3.71|"),
        ("%08.2f", -3.70999, "-0003.71"),
        ("%.0f", 2.5, "2"),
        ("%#.0f", 2.5, "2."),
        ("%f", f64::INFINITY, "inf"),
        ("%05F|", f64::NEG_INFINITY, " -INF|"),
        ("%e", 12345.678, "1.234568e+04"),
        ("%.2E", 0.00012345, "1.23E-04"),
        ("%e", 0.0, "0.000000e+00"),
        ("%e", 1e-200, "1.000000e-200"),
        ("%g", 0.0001, "0.0001"),
        ("%g", 0.00001, "1e-05"),
        ("%g", 123456.0, "123456"),
        ("%g", 1234567.0, "1.23457e+06"),
        ("%g", 100.0, "100"),
        ("%#g", 100.0, "100.000"),
        ("%.3g", 9999.0, "1e+04"),
        ("%.10g", 0.1, "0.1"),
        ("%g", 0.0, "0"),
        ("%a", 1.0, "0x1p+0"),
        ("%a", 0.1, "0x1.999999999999ap-4"),
        ("%.2a", 0.1, "0x1.9ap-4"),
        ("%A", -1023.5, "-0X1.FFCP+9"),
        ("%a", 5e-324, "0x0.0000000000001p-1022"),
    ];
    check(&cases.map(|(format, x, want)| (format, x.to_bits(), want)));
}

#[test]
fn strings_are_cut_and_padded() {
    let memory = Memory::new();
    let word = memory.alloc(5).unwrap();
    memory.write(word, b"word\0").unwrap();
    let cases = [("%s", "word"), ("%6s|", "  word|"), ("%-6s|", "word  |"), ("%.2s|", "wo|")];
    let packed = cases.map(|(format, _)| (format, u64_arg(word)));
    for ((format, want), (text, _)) in cases.iter().zip(printed(&memory, &packed)) {
        assert_eq!(text, *want, "{format}");
    }
}

/// Each value is at a multiple of its size; widths and precisions may be values, too.
#[test]
fn values_are_taken_in_order() {
    let ints = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let cases = [
        ("%d %c%% %d", ints(&[-1, 66, 3]), "-1 B% 3", 3),
        ("%d %.2f|%x", [ints(&[7, 0]), 2.5f64.to_le_bytes().into(), ints(&[255])].concat(), "7 2.50|ff", 3),
        ("%*d|", ints(&[5, 42]), "   42|", 2),
        ("%*d|", ints(&[-5, 42]), "42   |", 2),
        ("%.*f", [ints(&[1, 0]), 2.77f64.to_le_bytes().into()].concat(), "2.8", 2),
        ("%.*d", ints(&[-1, 5]), "5", 2),
        ("no values", Vec::new(), "no values", 0),
    ];
    let packed: Vec<_> = cases.iter().map(|(format, values, ..)| (*format, values.clone())).collect();
    for ((format, _, want, count), found) in cases.iter().zip(printed(&Memory::new(), &packed)) {
        assert_eq!(found, (want.to_string(), *count), "{format}");
    }
}
