//! Source lines, and files of which a part cannot be parsed.

use std::fs;

use super::{folder, girih};

/// Two warps write what they have read. The second store, which was inlined from line 7, is a race.
const LINES: &str = ".version 8.0
.target sm_80
.address_size 64
.file 1 \"/src/kernel.cu\"
.file 2 \"/src/inner.cuh\"
.visible .entry k() {
  .reg .b32 %r; .shared .b32 s[4];
  .loc 1 41 3
  mov.u32 %r, %tid.x;
  .loc 1 42 5
  st.shared.u32 [s], 5;
  .loc 2 7 1, function_name $L, inlined_at 1 42 5
  st.shared.u32 [s+4], %r;
  add.u32 %r, %r, 1;
  ret;
}
.section .debug_str { $L: .b8 112, 117, 116, 0 }
";

#[test]
fn findings_and_stops_name_source_lines() {
    let folder = folder();
    fs::write(folder.path().join("lines.ptx"), LINES).expect("written");
    let (status, _, err) = girih(folder.path(), "sim lines.ptx --grid 1 --block 64");
    assert_eq!(status, Some(1));
    assert!(
        err.contains("k, inner.cuh:7 in put, inlined at kernel.cu:42 (PTX line 13): `st.shared.u32"),
        "{err}"
    );
    // Warps stop once at the line of the call, with all that was inlined into this line.
    for at in ["kernel.cu:42", "/src/kernel.cu:42", "src/kernel.cu:42:1"] {
        let line = format!("sim lines.ptx --grid 1 --block 32 --check bounds --break {at}");
        let (status, _, err) = girih(folder.path(), &line);
        assert_eq!(status, Some(0), "{err}");
        assert!(
            err.starts_with("block (0,0,0), warp 0, all lanes before kernel.cu:42 (PTX line 11): st."),
            "{err}"
        );
        assert_eq!(err.matches("before").count(), 1, "{err}");
    }
    let (_, _, err) =
        girih(folder.path(), "sim lines.ptx --grid 1 --block 32 --check bounds --break inner.cuh:7");
    assert!(err.contains("before inner.cuh:7 in put, inlined at kernel.cu:42 (PTX line 13)"), "{err}");
    for (at, near) in
        [("kernel.cu:50", "kernel.cu:42"), ("other.cu:7", "inner.cuh:7"), ("rnel.cu:42", "kernel.cu:42")]
    {
        let (status, _, err) =
            girih(folder.path(), &format!("sim lines.ptx --grid 1 --block 32 --break {at}"));
        assert_eq!(status, Some(2), "{err}");
        assert!(err.contains(&format!("such as {near}")), "{err}");
    }
    let (status, _, err) = girih(
        folder.path(),
        "sim saxpy.ptx --grid 1 --block 32 --arg u32:1 --arg f32:1 --arg in:x.npy --arg in:y.npy --break a.cu:1",
    );
    assert_eq!(status, Some(2));
    assert!(err.contains("has no `.loc`"), "{err}");
    let (_, out, _) =
        girih(folder.path(), "sim lines.ptx --grid 1 --block 32 --check bounds --lines --report json");
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let told: Vec<_> =
        report["lines"].as_array().expect("lines").iter().map(|line| line["source"].as_str()).collect();
    let inlined = Some("inner.cuh:7 in put, inlined at kernel.cu:42");
    assert_eq!(told[..4], [Some("kernel.cu:41"), Some("kernel.cu:42"), inlined, inlined]);
}

#[test]
fn only_the_chosen_kernel_must_be_ptx() {
    let folder = folder();
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry good() { ret; }\n\
                .visible .entry bad() {\n  frobnicate.u32 %r1;\n  ret; }\n";
    fs::write(folder.path().join("two.ptx"), text).expect("written");
    assert_eq!(girih(folder.path(), "sim two.ptx --kernel good --grid 1 --block 1").0, Some(0));
    let (_, _, err) = girih(folder.path(), "sim two.ptx --kernel bad --grid 1 --block 1");
    assert_eq!(
        err,
        "error: two.ptx: line 6, column 3: unknown opcode `frobnicate`\n  |   frobnicate.u32 %r1;\n  |   ^\n"
    );
    let (status, _, err) = girih(folder.path(), "sim two.ptx --grid 1 --block 1");
    assert_eq!(status, Some(2));
    assert!(err.contains("good, bad"), "{err}");
}

/// Kernels may be named as their source names them.
#[test]
fn kernels_have_plain_names() {
    let folder = folder();
    let text = ".version 8.0 .target sm_80 .address_size 64
        .visible .entry _Z5saxpyifPf() { trap; }
        .visible .entry _Z6reduceILi4EEvPf() { ret; }
        .visible .entry _Z6reduceILi8EEvPf() { ret; }\n";
    // What NVRTC gives ends with a NUL, which its size counts.
    fs::write(folder.path().join("named.ptx"), format!("{text}\0")).expect("written");
    let run = |kernel: &str| {
        let line = format!("sim named.ptx --grid 1 --block 32 --kernel {kernel}");
        girih(folder.path(), &line)
    };
    for name in ["saxpy", "_Z5saxpyifPf"] {
        let (status, out, err) = run(name);
        assert_eq!(status, Some(1), "{err}");
        assert!(err.contains("error: saxpy, line 2: `trap`") && out.contains(" saxpy\n"), "{out}{err}");
    }
    for name in ["reduce<4>", "_Z6reduceILi8EEvPf"] {
        assert_eq!(run(name).0, Some(0), "{name}");
    }
    let (status, _, err) = run("reduce");
    assert_eq!(status, Some(2));
    assert!(err.contains("_Z6reduceILi4EEvPf, _Z6reduceILi8EEvPf"), "{err}");
    let (status, _, err) = run("none");
    assert!(status == Some(2) && err.contains("_Z5saxpyifPf"), "{err}");
    fs::write(folder.path().join("plan"), "reduce<8> --grid 1 --block 32\nsaxpy --grid 1 --block 32\n")
        .expect("written");
    assert_eq!(girih(folder.path(), "sim named.ptx --launches plan").0, Some(1));
    // A loop without an end is told, and how to allow more.
    fs::write(folder.path().join("loop.ptx"), ".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { .reg .b32 %r; mov.u32 %r, 0; L: add.u32 %r, %r, 1; bra L; }").expect("written");
    let (status, _, err) =
        girih(folder.path(), "sim loop.ptx --grid 1 --block 32 --check bounds --steps 100000");
    assert!(
        status == Some(1) && err.contains("100000 warp instructions") && err.contains("--steps"),
        "{err}"
    );
}
