//! Several launches in one call, and arrays that are not read from files.

use std::fs;

use girih_ptx::{TensorElement, TensorMap, Tiled};

use super::arguments::first_thread_stores;
use super::{elements, f32s, folder, girih};

/// A kernel that sets `part[b]` to the sum of the 32 elements of x that block b has, and a kernel that sets `sum` to the sum of four parts.
const SUMS: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 x, .param .u64 part) {
  .reg .pred %p; .reg .b32 %t, %b, %i; .reg .b64 %x, %d; .reg .f32 %s, %v;
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; ld.param.u64 %x, [x]; ld.param.u64 %d, [part];
  setp.ne.u32 %p, %t, 0;
  @%p ret;
  mad.wide.u32 %d, %b, 4, %d; mad.wide.u32 %x, %b, 128, %x;
  mov.f32 %s, 0f00000000; mov.u32 %i, 0;
AGAIN:
  ld.global.f32 %v, [%x]; add.f32 %s, %s, %v; add.u64 %x, %x, 4; add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 32;
  @%p bra AGAIN;
  st.global.f32 [%d], %s;
  ret;
}
";

#[test]
fn launches_run_in_order_on_the_same_arrays() {
    let folder = folder();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("sums.ptx", SUMS);
    put(
        "run.txt",
        "# two levels\nx = in:x32.npy\npart = zeros:f32:32\nsum = out:f32:1:sum.npy\n\nsums --grid 4 --block 32 --arg x --arg part\nsums --grid 1 --block 32 --arg part --arg sum # the second\n",
    );
    let values = f32s((0..128).map(|i| i as f32));
    fs::write(folder.path().join("x32.npy"), super::npy("<f4", "(128,)", &values)).expect("written");
    let (status, out, err) = girih(folder.path(), "sim sums.ptx --launches run.txt");
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    assert_eq!(out.matches("PASSED").count(), 2, "{out}");
    assert_eq!(elements(folder.path(), "sum.npy", "<f4", "(1,)"), f32s([127.0 * 64.0]));
    let (_, out, _) = girih(folder.path(), "sim sums.ptx --launches run.txt --report json");
    let reports: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(reports.as_array().map(Vec::len), Some(2), "{out}");
    // A launch with an error is the last one, and no file is written.
    fs::remove_file(folder.path().join("sum.npy")).expect("it was there");
    put(
        "bad.txt",
        "x = zeros:f32:32\nsum = out:f32:1:sum.npy\nsums --grid 2 --block 32 --arg x --arg sum\nsums --grid 1 --block 32 --arg x --arg sum\n",
    );
    let (status, out, err) = girih(folder.path(), "sim sums.ptx --launches bad.txt");
    assert_eq!(status, Some(1), "{out}{err}");
    assert!(err.contains("argument 0 (x) + 128, behind its 128 bytes"), "{err}");
    assert_eq!(out.matches("kernel  ").count(), 1, "{out}");
    assert!(!folder.path().join("sum.npy").exists());
    for (text, says) in [
        (
            "x = zeros:f32:32\nsums --grid 1 --block 32 --arg y --arg x",
            "run2.txt, line 2: no line before gives the name `y`",
        ),
        ("x = zeros:f33:32", "run2.txt, line 1: `zeros:f33:32`: expected one of the types"),
        ("# nothing", "run2.txt, line 1: the file has no launch"),
        ("sums --grid 1 --block 32", "takes 2 arguments, 0 given"),
        ("other --grid 1 --block 32", "no kernel `other`"),
    ] {
        put("run2.txt", text);
        let (status, _, err) = girih(folder.path(), "sim sums.ptx --launches run2.txt");
        assert_eq!(status, Some(2), "{text}: {err}");
        assert!(err.contains(says), "{text}: {err}");
    }
}

#[test]
fn arrays_need_no_files() {
    let folder = folder();
    fs::write(folder.path().join("sums.ptx"), SUMS).expect("written");
    let run = |x: &str| {
        let line = format!("sim sums.ptx --grid 1 --block 32 --arg {x} --arg out:float32:1:s.npy");
        let (status, out, err) = girih(folder.path(), &line);
        assert_eq!((status, &*err), (Some(0), ""), "{out}");
        elements(folder.path(), "s.npy", "<f4", "(1,)")
    };
    assert_eq!((run("zeros:f32:32"), run("ones:float:4x8")), (f32s([0.0]), f32s([32.0])));
    // Random values are the same in every run, and are written to the file that the argument names.
    let sum = run("rand:f32:32:r.npy");
    assert_eq!(sum, run("rand:f32:32"));
    let values = elements(folder.path(), "r.npy", "<f4", "(32,)");
    let values: Vec<f32> =
        values.chunks(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
    assert_eq!(sum, f32s([values.iter().fold(0.0, |sum, value| sum + value)]));
    assert!(values.iter().all(|value| (-1.0..1.0).contains(value)) && values[0] != values[1]);
}

/// A kernel that stores the shape of its launch and its arguments, and all bytes of a tensor map in another array.
fn told() -> String {
    let shape = ["nctaid.x", "nctaid.y", "nctaid.z", "ntid.x", "ntid.y", "ntid.z", "dynamic_smem_size"];
    let map: String =
        (0..16).map(|i| format!(" ld.b64 %d, [%m+{0}]; st.global.b64 [%to+{0}], %d;", 8 * i)).collect();
    format!(
        ".version 8.0 .target sm_90 .address_size 64
         .visible .entry k(.param .u64 x, .param .u32 n, .param .align 64 .b8 map[128], .param .f32 a, .param .u64 to) {{
         .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %d, %m, %to;
         ld.param.u64 %to, [to]; mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %d, [x]; {}
         ld.param.u32 %r1, [n]; st.global.u32 [%d+28], %r1; ld.param.b32 %r1, [a]; st.global.b32 [%d+32], %r1;
         st.global.u64 [%d+40], %d; {map} ret; }}",
        first_thread_stores(&shape)
    )
}

#[test]
fn lines_name_arrays_and_launch_kernels() {
    let folder = folder();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("told.ptx", &told());
    let launch =
        "k --grid 2,1 --block 32 --smem 64 --arg x --arg n --arg tensormap:2x4:x --arg f32:1 --arg to";
    put("run.txt", &format!("x = zeros:f32:4x4:x.npy\nn=u32:5\nto = out:u8:128:map.npy\n{launch}\n"));
    let (status, out, err) = girih(folder.path(), "sim told.ptx --launches run.txt");
    assert_eq!((status, &*err, out.matches("PASSED").count()), (Some(0), "", 1), "{out}");
    let x = elements(folder.path(), "x.npy", "<f4", "(4, 4)");
    let told = [2, 1, 1, 32, 1, 1, 64, 5, 1f32.to_bits()];
    assert_eq!(x[..36], *told.map(u32::to_le_bytes).as_flattened());
    let map = elements(folder.path(), "map.npy", "|u1", "(128,)");
    let map = TensorMap::from_bytes(map[..].try_into().expect("128 bytes")).expect("a map");
    // The tensor map has the address that is the first argument.
    assert_eq!(x[40..48], map.address().to_le_bytes());
    assert_eq!(*map.tiled(), Tiled::new(TensorElement::F32, &[4, 4], &[4, 2]));
    for (line, says) in [
        ("x = u32:1", "`x` stands for something already"),
        ("y = in", "`in`: expected"),
        ("k --grid 1", "--block"),
        ("k --grid 1 --block 1 --arg z", "no line before gives the name `z`; the names are: x, n"),
        ("k --grid 1 --block 1 --arg tensormap:2:z", "expected"),
        ("k --grid a --block 1", "expected x, or x,y or x,y,z"),
        ("k --gird 1", "--gird"),
    ] {
        put("bad.txt", &format!("x = zeros:f32:4x4\nn=u32:5\n{line}\n"));
        let (status, out, err) = girih(folder.path(), "sim told.ptx --launches bad.txt");
        assert_eq!((status, &*out, err.lines().count()), (Some(2), "", 1), "{line}: {err}");
        assert!(err.starts_with("error: bad.txt, line 3: ") && err.contains(says), "{line}: {err}");
    }
}
