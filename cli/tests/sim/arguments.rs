//! The arguments of `girih sim`: numbers, arrays that are not read from files, boxes of tensor maps, and the shape of a launch.

use std::fmt::Write;
use std::fs;

use girih_ptx::{OobFill, TensorElement, TensorMap, TensorSwizzle, Tiled};
use half::{bf16, f16};

use super::maps::MAP;
use super::{elements, folder, girih, npy};

const HEADER: &str = ".version 8.0 .target sm_90 .address_size 64\n";

/// PTX by which the first of all threads stores special registers, one after another from `%d` on. The other threads return.
pub(super) fn first_thread_stores(specials: &[&str]) -> String {
    let mut text = "mov.u32 %r0, 0;".to_string();
    for place in ["tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z"] {
        let _ = write!(text, " mov.u32 %r1, %{place}; or.b32 %r0, %r0, %r1;");
    }
    text += " setp.ne.u32 %p, %r0, 0; @%p ret;";
    for (i, special) in specials.iter().enumerate() {
        let _ = write!(text, " mov.u32 %r1, %{special}; st.global.u32 [%d+{}], %r1;", 4 * i);
    }
    text
}

/// The bytes that a kernel finds in a parameter for each of these arguments, each with the number of its bytes.
fn bytes(arguments: &[(&str, usize)]) -> Vec<Vec<u8>> {
    let folder = folder();
    let (mut ptx, mut launches) = (HEADER.to_string(), String::new());
    for (i, (argument, size)) in arguments.iter().enumerate() {
        let _ = write!(ptx, ".visible .entry k{i}(.param .b8 a[{size}], .param .u64 to) {{");
        ptx += " .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [to];";
        for byte in 0..*size {
            let _ = write!(ptx, " ld.param.u8 %r, [a+{byte}]; st.global.u8 [%d+{byte}], %r;");
        }
        ptx += " ret; }\n";
        let _ = writeln!(launches, "to{i} = out:u8:{size}:{i}.npy");
        let _ = writeln!(launches, "k{i} --grid 1 --block 1 --arg {argument} --arg to{i}");
    }
    fs::write(folder.path().join("take.ptx"), ptx).expect("written");
    fs::write(folder.path().join("run.txt"), launches).expect("written");
    let (status, out, err) = girih(folder.path(), "sim take.ptx --launches run.txt");
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    let found = |(i, (_, size)): (usize, &(&str, usize))| {
        elements(folder.path(), &format!("{i}.npy"), "|u1", &format!("({size},)"))
    };
    arguments.iter().enumerate().map(found).collect()
}

#[track_caller]
fn have_bytes(wanted: &[(&str, Vec<u8>)]) {
    let arguments: Vec<_> = wanted.iter().map(|(argument, bytes)| (*argument, bytes.len())).collect();
    for ((argument, wanted), found) in wanted.iter().zip(bytes(&arguments)) {
        assert_eq!(*wanted, found, "{argument}");
    }
}

#[test]
fn numbers_have_the_bytes_of_their_types() {
    have_bytes(&[
        ("u32:5", 5u32.to_le_bytes().into()),
        ("s16:-0x8000", i16::MIN.to_le_bytes().into()),
        ("u64:0xffffffffffffffff", u64::MAX.to_le_bytes().into()),
        ("f32:0.5", 0.5f32.to_le_bytes().into()),
        ("f64:-1e-3", (-1e-3f64).to_le_bytes().into()),
        ("bytes:01fF00", vec![1, 0xff, 0]),
        ("s32:-5", (-5i32).to_le_bytes().into()),
        ("f64:2", 2f64.to_le_bytes().into()),
        ("f16:2", vec![0, 0x40]),
        ("bf16:1", vec![0x80, 0x3f]),
    ]);
    let folder = folder();
    for text in [
        "bytes:", "bytes:1", "bytes:0g", "u8:256", "u32:-1", "s8:128", "u32:", "u32:--1", "u32:+-1", "f32:x",
        "i33:1", "u32", "in:", "i8:128", "x:1",
    ] {
        let (status, _, err) =
            girih(folder.path(), &format!("sim saxpy.ptx --grid 1 --block 1 --arg {text}"));
        let message = format!("error: invalid value '{text}' for '--arg <ARGUMENTS>': `{text}`: expected ");
        assert!(status == Some(2) && err.starts_with(&message), "{text}: {status:?} {err}");
    }
}

#[test]
fn names_of_other_languages_are_known() {
    let float = 3f32.to_le_bytes().to_vec();
    have_bytes(&[
        ("i8:-3", vec![0xfd]),
        ("int8:-3", vec![0xfd]),
        ("char:-3", vec![0xfd]),
        ("i16:-2", vec![0xfe, 0xff]),
        ("int16:-2", vec![0xfe, 0xff]),
        ("short:-2", vec![0xfe, 0xff]),
        ("i32:-5", (-5i32).to_le_bytes().into()),
        ("int32:-5", (-5i32).to_le_bytes().into()),
        ("int:-5", (-5i32).to_le_bytes().into()),
        ("i64:-5", (-5i64).to_le_bytes().into()),
        ("int64:-5", (-5i64).to_le_bytes().into()),
        ("long:-5", (-5i64).to_le_bytes().into()),
        ("u8:255", vec![0xff]),
        ("uint8:255", vec![0xff]),
        ("uint16:65535", vec![0xff; 2]),
        ("uint32:4294967295", vec![0xff; 4]),
        ("uint:4294967295", vec![0xff; 4]),
        ("uint64:18446744073709551615", vec![0xff; 8]),
        ("fp16:2", vec![0, 0x40]),
        ("float16:2", vec![0, 0x40]),
        ("half:2", vec![0, 0x40]),
        ("bfloat16:1", vec![0x80, 0x3f]),
        ("fp32:3", float.clone()),
        ("float32:3", float.clone()),
        ("float:3", float),
        ("fp64:2", 2f64.to_le_bytes().into()),
        ("float64:2", 2f64.to_le_bytes().into()),
        ("double:2", 2f64.to_le_bytes().into()),
    ]);
}

/// Runs a kernel that does nothing, with these arrays, each of which is written to a file of its name.
fn made(arrays: &[(&str, String)]) -> tempfile::TempDir {
    let folder = folder();
    let launches: String =
        arrays.iter().map(|(name, array)| format!("{name} = {array}:{name}.npy\n")).collect();
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("written");
    put("nothing.ptx", format!("{HEADER}.visible .entry nothing() {{ ret; }}"));
    put("run.txt", launches + "nothing --grid 1 --block 1\n");
    let (status, out, err) = girih(folder.path(), "sim nothing.ptx --launches run.txt");
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    folder
}

#[test]
fn random_floats_are_exact_and_lie_around_zero() {
    for (ty, descr, precision) in
        [("f64", "<f8", 52), ("f32", "<f4", 23), ("f16", "<f2", 10), ("bf16", "<u2", 7)]
    {
        let runs = [(); 2].map(|()| {
            let folder = made(&["a", "b"].map(|name| (name, format!("rand:{ty}:10000"))));
            ["a.npy", "b.npy"].map(|name| elements(folder.path(), name, descr, "(10000,)"))
        });
        assert!(runs[0] == runs[1], "{ty} differs from run to run");
        let [bytes, others] = &runs[0];
        assert!(bytes != others, "{ty} does not differ from place to place");
        let values: Vec<f64> = (bytes.chunks(bytes.len() / 10_000))
            .map(|bytes| match *bytes {
                [a, b] if ty == "f16" => f16::from_le_bytes([a, b]).to_f64(),
                [a, b] => bf16::from_le_bytes([a, b]).to_f64(),
                [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
                [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
                _ => f64::NAN,
            })
            .collect();
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)), "{ty}");
        assert!(values.iter().all(|value| (value * f64::powi(2.0, precision)).fract() == 0.0), "{ty}");
        let mean = values.iter().sum::<f64>() / 10_000.0;
        let square = values.iter().map(|value| value * value).sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0 / 3.0).abs() < 0.02, "{ty} {mean} {square}");
    }
}

#[test]
fn arrays_are_full_of_ones_or_zeros() {
    let folder = made(&[("ones", "ones:bf16:2".into()), ("zeros", "zeros:s16:2".into())]);
    assert_eq!(elements(folder.path(), "ones.npy", "<u2", "(2,)"), [0x80, 0x3f, 0x80, 0x3f]);
    assert_eq!(elements(folder.path(), "zeros.npy", "<i2", "(2,)"), [0; 4]);
}

#[test]
fn extents_are_one_to_three_numbers() {
    let folder = folder();
    let counts = ["nctaid.x", "nctaid.y", "nctaid.z", "ntid.x", "ntid.y", "ntid.z"];
    let stores = first_thread_stores(&counts);
    let text = format!(
        "{HEADER}.visible .entry shape(.param .u64 to) {{ .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %d;
         ld.param.u64 %d, [to]; {stores} ret; }}"
    );
    fs::write(folder.path().join("shape.ptx"), text).expect("written");
    for (grid, block, shape) in [("4", "4,2,3", [4, 1, 1, 4, 2, 3]), ("4,2,3", "4", [4, 2, 3, 4, 1, 1])] {
        let line = format!("sim shape.ptx --grid {grid} --block {block} --arg out:u32:6:s.npy");
        let (status, out, err) = girih(folder.path(), &line);
        assert_eq!((status, &*err), (Some(0), ""), "{out}");
        let want: Vec<u8> = shape.into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(elements(folder.path(), "s.npy", "<u4", "(6,)"), want, "{grid} {block}");
    }
    for text in ["", "4,", "1,2,3,4", "-1", "a"] {
        for (grid, block) in [(text, "1"), ("1", text)] {
            let line = format!("sim shape.ptx --grid={grid} --block={block} --arg out:u32:6:t.npy");
            let (status, _, err) = girih(folder.path(), &line);
            assert_eq!(status, Some(2), "{text}: {err}");
            assert!(err.contains(&format!("`{text}`: expected x, or x,y or x,y,z\n")), "{text}: {err}");
        }
    }
}

#[test]
fn boxes_are_extents_and_options() {
    let folder = folder();
    fs::write(folder.path().join("map.ptx"), MAP).expect("written");
    fs::write(folder.path().join("a.npy"), npy("<u2", "(20, 72)", &[0; 2880])).expect("written");
    let map = |boxed: &str| {
        let line = format!(
            "sim map.ptx --grid 1 --block 16 --arg tensormap:{boxed}:in:a.npy --arg out:u8:128:m.npy"
        );
        girih(folder.path(), &line)
    };
    let (status, out, err) = map("16x64,128B,nan,bf16");
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    let bytes = elements(folder.path(), "m.npy", "|u1", "(128,)");
    let found = TensorMap::from_bytes(bytes[..].try_into().expect("128 bytes")).expect("a map");
    let want = Tiled::new(TensorElement::Bf16, &[72, 20], &[64, 16]);
    assert_eq!(*found.tiled(), want.with_swizzle(TensorSwizzle::B128).with_fill(OobFill::Nan));
    for text in ["", "16x", "16x64,", "16x64,256B", "x"] {
        let (status, _, err) = map(text);
        let message = format!("`tensormap:{text}:in:a.npy`: expected a BOX such as 16x64, which ");
        assert!(status == Some(2) && err.contains(&message), "{text}: {status:?} {err}");
    }
}
