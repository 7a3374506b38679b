//! Several launches in one call, and arrays that come from no file.

use std::fs;

use super::{elements, f32s, folder, girih};

/// `part[b]` is the sum of x over the block's 32 elements; then `sum` is that of 4 of them.
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
    // After a launch with an error there is no other, and no file is written.
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
            "run2.txt, line 2: `y` is no name of a line before",
        ),
        ("x = zeros:f33:32", "run2.txt, line 1: `zeros:f33:32`: expected a type of"),
        ("# nothing", "run2.txt, line 1: no launch"),
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
    // Random values are the same in every run, and go to a file if there is one.
    let sum = run("rand:f32:32:r.npy");
    assert_eq!(sum, run("rand:f32:32"));
    let values = elements(folder.path(), "r.npy", "<f4", "(32,)");
    let values: Vec<f32> =
        values.chunks(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
    assert_eq!(sum, f32s([values.iter().fold(0.0, |sum, value| sum + value)]));
    assert!(values.iter().all(|value| (-1.0..1.0).contains(value)) && values[0] != values[1]);
}
