//! `girih sim`, as a user types the command.

mod arguments;
mod launches;
mod maps;
mod source;
mod watch;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// `y[i] = a * x[i] + y[i]` for i < n, by thread i.
const SAXPY: &str = ".version 7.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
  ld.param.u32 %r1, [n];
  setp.ge.u32 %p, %r0, %r1;
  @%p ret;
  ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.f32 %f0, [a];
  mad.wide.u32 %d0, %r0, 4, %d0; mad.wide.u32 %d1, %r0, 4, %d1;
  ld.global.f32 %f1, [%d0]; ld.global.f32 %f2, [%d1];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%d1], %f3;
  ret;
}
";

/// A kernel in which two threads write the same word of shared memory, and a kernel with a loop over elements of 16 bits.
const OTHERS: &str = ".version 7.0
.target sm_80
.address_size 64
.visible .entry race() {
  .reg .b32 %r; .shared .b32 cell;
  mov.u32 %r, %tid.x; st.shared.u32 [cell], %r; ret;
}
.visible .entry negate(.param .u64 from, .param .u64 to) {
  .reg .b32 %r; .reg .b16 %h; .reg .b64 %d<2>;
  mov.u32 %r, %tid.x; ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mad.wide.u32 %d0, %r, 2, %d0; mad.wide.u32 %d1, %r, 2, %d1;
  ld.global.b16 %h, [%d0]; neg.bf16 %h, %h; st.global.b16 [%d1], %h; ret;
}
.visible .entry unset() {
  .reg .b32 %r<2>; .reg .pred %p; add.u32 %r0, %r1, 1; setp.eq.u32 %p, %r0, 0; @%p trap; ret;
}
";

/// Runs girih in `folder`. The result is the exit status and the texts of both streams.
fn girih(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_girih"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("girih starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The bytes of a C-order file as numpy writes the file.
fn npy(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + header.len() + 1).next_multiple_of(64);
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(((length - 10) as u16).to_le_bytes());
    file.extend(format!("{header:<width$}\n", width = length - 11).bytes());
    file.extend(elements);
    file
}

fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    put("saxpy.ptx", SAXPY.as_bytes());
    put("others.ptx", OTHERS.as_bytes());
    put("x.npy", &npy("<f4", "(100,)", &f32s((0..100).map(|i| i as f32))));
    put("y.npy", &npy("<f4", "(10, 10)", &f32s((0..100).map(|_| 1.0))));
    put("h.npy", &npy("<u2", "(32,)", &[0x80, 0x3f].repeat(32)));
    folder
}

/// The bytes after the header of a file, which must have this header.
fn elements(folder: &Path, name: &str, descr: &str, shape: &str) -> Vec<u8> {
    let file = fs::read(folder.join(name)).expect("the file");
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8_lossy(&file[10..start]).into_owned();
    assert!(header.contains(&format!("'descr': '{descr}'")), "{header}");
    // Files with and without a trailing comma are accepted.
    assert!(header.contains(&format!("'shape': {}", &shape[..shape.len() - 1])), "{header}");
    file[start..].to_vec()
}

const RUN: &str =
    "sim saxpy.ptx --kernel saxpy --grid 4 --block 32,1,1 --arg u32:100 --arg f32:0.5 --arg in:x.npy";

#[test]
fn arrays_come_from_files_and_go_to_files() {
    let folder = folder();
    let (status, out, err) = girih(folder.path(), &format!("{RUN} --arg inout:y.npy:z.npy"));
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    assert!(out.starts_with("kernel                    saxpy\n") && out.ends_with("PASSED\n"), "{out}");
    let want = f32s((0..100).map(|i| 0.5 * i as f32 + 1.0));
    assert_eq!(elements(folder.path(), "z.npy", "<f4", "(10, 10)"), want);
    let line = "sim others.ptx --kernel negate --grid 1 --block 32 --arg in:h.npy --arg out:bf16:8x4:n.npy";
    assert_eq!(girih(folder.path(), line).0, Some(0));
    assert_eq!(elements(folder.path(), "n.npy", "<u2", "(8, 4)"), [0x80, 0xbf].repeat(32));
}

#[test]
fn blocks_form_clusters() {
    let folder = folder();
    let text = ".version 8.0 .target sm_90 .address_size 64 .visible .entry rank(.param .u64 to) {
      .reg .b32 %r<2>; .reg .b64 %d; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_ctarank; ld.param.u64 %d, [to];
      mad.wide.u32 %d, %r0, 4, %d; st.global.u32 [%d], %r1; ret; }";
    fs::write(folder.path().join("rank.ptx"), text).expect("written");
    let line = "sim rank.ptx --grid 6 --block 1 --cluster 2 --arg out:u32:6:r.npy";
    assert_eq!(girih(folder.path(), line).0, Some(0));
    let want: Vec<u8> = [0u32, 1, 0, 1, 0, 1].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(elements(folder.path(), "r.npy", "<u4", "(6,)"), want);
    let (status, _, err) = girih(folder.path(), &line.replace("cluster 2", "cluster 4"));
    assert_eq!(status, Some(2), "{err}");
}

/// The beginning of `grid.sync()`, which traps if there is no memory by which blocks can wait for one another.
#[test]
fn all_blocks_are_launched_together_if_asked() {
    let folder = folder();
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry grid(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p;
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %d0, {%r2, %r1}; setp.eq.u64 %p, %d0, 0; @%p trap;
  atom.add.release.gpu.u32 %r0, [%d0+4], 1; mov.u32 %r3, %nctaid.x;
  WAIT: ld.acquire.gpu.u32 %r0, [%d0+4]; setp.lt.u32 %p, %r0, %r3; @%p bra WAIT;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r0; ret;
}
";
    fs::write(folder.path().join("grid.ptx"), text).expect("written");
    let line = "sim grid.ptx --grid 9 --block 1 --arg out:u32:9:o.npy";
    let (status, _, err) = girih(folder.path(), line);
    assert!(status == Some(1) && err.contains("trap"), "{status:?} {err}");
    let (status, out, err) = girih(folder.path(), &format!("{line} --cooperative"));
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    assert_eq!(elements(folder.path(), "o.npy", "<u4", "(9,)"), 9u32.to_le_bytes().repeat(9));
    // An H100 has room for 132 times 32 of these blocks.
    let line = "sim grid.ptx --grid 4225 --block 1 --arg out:u32:4225:p.npy --cooperative";
    let (status, _, err) = girih(folder.path(), line);
    assert!(status == Some(2) && err.contains("at most 4224"), "{status:?} {err}");
}

#[test]
fn the_report_is_one_json_object() {
    let folder = folder();
    let (status, out, _) =
        girih(folder.path(), &format!("{RUN} --arg inout:y.npy:z.npy --report json --seed 3"));
    assert_eq!(status, Some(0));
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&report["kernel"], &report["seed"], &report["passed"]),
        (&"saxpy".into(), &3.into(), &true.into())
    );
    assert_eq!(report["blocks"], 4);
    // Two loads and a store of 100 elements of 4 bytes take 13 sectors each.
    assert_eq!((&report["sectors"], &report["least_sectors"]), (&39.into(), &39.into()));
    assert_eq!(report["checks"], serde_json::json!(["races", "bounds", "uninit"]));
}

#[test]
fn lines_are_told_as_a_table_and_as_json() {
    let folder = folder();
    let line = format!("{RUN} --arg inout:y.npy:z.npy --lines");
    let (status, out, _) = girih(folder.path(), &line);
    assert_eq!(status, Some(0));
    // There are four warps, and only four threads of the last warp do not return.
    let row = "    12            4            -            -            -           13           13  ld.global.f32 %f1, [%d0]\n";
    assert!(out.contains(row), "{out}");
    assert!(out.contains("global memory             1200 bytes in 39 sectors, at least 39\n"), "{out}");
    let (_, out, _) = girih(folder.path(), &format!("{line} --report json"));
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let lines = report["lines"].as_array().expect("lines");
    let of = |start: &str| {
        lines.iter().find(|line| line["instruction"].as_str().is_some_and(|text| text.starts_with(start)))
    };
    let fma = of("fma.rn.f32").expect("the instruction");
    assert_eq!((&fma["class"], &fma["executed"], &fma["line"]), (&"float".into(), &4.into(), &13.into()));
    let total: u64 = lines.iter().filter_map(|line| line["executed"].as_u64()).sum();
    assert_eq!(report["warp_instructions"], total);
}

#[test]
fn findings_are_told_and_nothing_is_written() {
    let folder = folder();
    let cases = [
        // n is one more than x has elements.
        (
            RUN.replace("u32:100", "u32:101") + " --arg inout:y.npy:z.npy",
            "error: saxpy, line 12: `ld.global.f32 %f1, [%d0]`, block (3, 0, 0), thread (4, 0, 0): read of 4 bytes at \
             global address",
        ),
        (
            "sim others.ptx --kernel race --grid 1 --block 64".into(),
            "error: race, line 6: `st.shared.u32 [cell], %r`, block (0, 0, 0), thread (",
        ),
        (
            "sim others.ptx --kernel unset --grid 1 --block 1".into(),
            "error: unset, line 15: `@%p trap`, block (0, 0, 0), thread (0, 0, 0): register `%r1` is read before it is \
             written by way of `%p`\n",
        ),
    ];
    for (line, message) in cases {
        let (status, out, err) = girih(folder.path(), &line);
        assert_eq!(status, Some(1), "{line}: {err}");
        assert!(out.ends_with("\nFAILED with 1 error\n"), "{line}: {out}");
        assert!(err.starts_with(message), "{line}: {err}");
        assert!(!folder.path().join("z.npy").exists(), "{line}");
    }
}

/// A kernel with two mistakes that are errors and one that is a warning.
const FINDINGS: &str = ".version 8.0 .target sm_90 .address_size 64
.visible .entry k() {
  .shared .b32 s[64]; .reg .b32 %i, %r; .reg .pred %p;
  mov.u32 %i, %tid.x; setp.lt.u32 %p, %i, 32;
  @%p st.shared.u32 [s], 1;
  @!%p st.shared.u32 [s], 1;
  st.shared.u32 [s+4], %i;
  ld.shared.u32 %r, [s+8]; setp.eq.u32 %p, %r, 1; @%p trap;
  ret;
}";

#[test]
fn findings_are_in_the_report_with_their_weight() {
    let folder = folder();
    std::fs::write(folder.path().join("findings.ptx"), FINDINGS).expect("a file");
    let line = "sim findings.ptx --grid 1 --block 64 --report json";
    let report = |line: &str| {
        let (status, out, err) = girih(folder.path(), line);
        let report: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        (status, report, err)
    };
    let (status, all, err) = report(line);
    assert_eq!((status, &all["passed"], &all["seeds"]), (Some(1), &false.into(), &serde_json::json!([0])));
    let findings = all["findings"].as_array().expect("findings");
    let told: Vec<_> = findings.iter().map(|f| (f["kind"].as_str(), f["severity"].as_str())).collect();
    let error = Some("error");
    assert_eq!(
        told,
        [
            (Some("race"), error),
            (Some("uninitialised-memory"), error),
            (Some("same-value-race"), Some("warning")),
        ]
    );
    assert_eq!((&findings[0]["seed"], &findings[0]["places"][0]["line"]), (&0.into(), &7.into()));
    assert_eq!(findings[2]["places"][1]["line"], 5);
    assert!(findings.iter().all(|finding| finding["address"].is_u64()), "{findings:?}");
    assert_eq!((err.matches("error: ").count(), err.matches("warning: ").count()), (2, 1), "{err}");
    // One error and one warning are reported.
    let (_, few, _) = report(&format!("{line} --limit 1"));
    assert_eq!(few["findings"][0]["kind"], "race");
    assert_eq!(few["errors"], 1);
    // With the warning alone four seeds are executed, unless the warning is denied.
    let right = FINDINGS
        .replace("st.shared.u32 [s+4], %i;", "")
        .replace("ld.shared.u32 %r, [s+8]; setp.eq.u32 %p, %r, 1; @%p trap;", "");
    std::fs::write(folder.path().join("findings.ptx"), right).expect("a file");
    for (options, status, seeds) in [
        ("", 0, vec![0, 1, 2, 3]),
        ("--seeds 1", 0, vec![0]),
        ("--seed 7 --seeds 2", 0, vec![7, 8]),
        ("--deny mbarrier-unfenced", 0, vec![0, 1, 2, 3]),
        ("--deny same-value-race", 1, vec![0]),
        ("--deny formal", 1, vec![0]),
        ("--deny padding,formal", 1, vec![0]),
        ("--deny warnings", 1, vec![0]),
    ] {
        let (found, report, _) = report(&format!("{line} {options}"));
        assert_eq!((found, &report["seeds"]), (Some(status), &serde_json::json!(seeds)), "{options}");
        assert_eq!(
            (&report["passed"], report["findings"].as_array().map(Vec::len)),
            (&(status == 0).into(), Some(1))
        );
    }
    let (status, out, _) = girih(folder.path(), "sim findings.ptx --grid 1 --block 64");
    assert!(status == Some(0) && out.ends_with("PASSED with 1 warning\n"), "{out}");
    let (status, _, err) = girih(folder.path(), "sim findings.ptx --grid 1 --block 64 --deny races");
    assert!(status == Some(2) && err.contains("same-value-race"), "{err}");
}

#[test]
fn what_can_not_be_run_is_no_finding() {
    let folder = folder();
    let texts = [
        ("wrong.ptx", "not PTX"),
        (
            "texture.ptx",
            ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() { .reg .b32 %r<4>; .reg .f32 %f; \
          tex.1d.v4.s32.f32 {%r0, %r1, %r2, %r3}, [%r0, {%f}]; ret; }",
        ),
    ];
    for (name, text) in texts {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    for (line, message) in [
        ("sim wrong.ptx --grid 1 --block 1".into(), "error: "),
        ("sim texture.ptx --grid 1 --block 1".into(), "error: "),
        ("sim nothing.ptx --grid 1 --block 1".into(), "error: cannot read nothing.ptx: "),
        ("sim x.npy --grid 1 --block 1".into(), "error: cannot read x.npy: "),
        (format!("{RUN} --arg inout:saxpy.ptx:z.npy"), "error: saxpy.ptx is not an .npy file: "),
        (format!("{RUN} --arg inout:y.npy:nowhere/z.npy"), "error: cannot write nowhere/z.npy: "),
    ] {
        let (status, out, err) = girih(folder.path(), &line);
        assert_eq!((status, &*out), (Some(3), ""), "{line}: {err}");
        assert!(err.starts_with(message), "{line}: {err}");
        assert!(!folder.path().join("z.npy").exists(), "{line}");
    }
}

#[test]
fn a_check_that_is_not_asked_for_is_not_made() {
    let folder = folder();
    for (kernel, threads, check) in
        [("race", 64, "uninit"), ("race", 64, "bounds"), ("unset", 1, "races,bounds")]
    {
        let line = format!("sim others.ptx --kernel {kernel} --grid 1 --block {threads} --check {check}");
        let (status, _, err) = girih(folder.path(), &line);
        assert_eq!((status, &*err), (Some(0), ""), "{line}");
    }
}

#[test]
fn what_can_not_be_launched_is_bad_usage() {
    let folder = folder();
    let whole = format!("{RUN} --arg inout:y.npy:z.npy");
    let cases = [
        (
            RUN.into(),
            "error: kernel `saxpy` takes 4 arguments, 3 given; its parameters: .u32 n, .f32 a, .u64 x, .u64 y\n",
        ),
        (
            whole.replace("f32:0.5", "f64:0.5"),
            "error: kernel `saxpy`: argument 1 (`a`) takes 4 bytes, 8 given\n",
        ),
        (
            whole.replace("--block 32,1,1", "--block 2048"),
            "error: kernel `saxpy`: block.x is 2048, must be 1 to 1024\n",
        ),
        (
            whole.replace("--kernel saxpy", "--kernel saxpi"),
            "error: no kernel `saxpi` in the module, which has: saxpy\n",
        ),
        (
            "sim others.ptx --grid 1 --block 1".into(),
            "error: --kernel must name a kernel of others.ptx, which has: race, negate, unset\n",
        ),
        (
            whole.replace("f32:0.5", "f32:half"),
            "error: invalid value 'f32:half' for '--arg <ARGUMENTS>': `f32:half`: expected a number that f32 holds\n",
        ),
        (
            whole.replace("in:x.npy", "at:x.npy"),
            "error: invalid value 'at:x.npy' for '--arg <ARGUMENTS>': `at:x.npy`: expected TYPE:NUMBER, bytes:HEX, in:FILE, \
             inout:FILE:FILE, out:TYPE:COUNT:FILE, zeros:TYPE:COUNT, ones:TYPE:COUNT, rand:TYPE:COUNT, or \
             tensormap:BOX: and an array; the types are u8, s8, ",
        ),
        (
            whole.replace("--grid 4", "--grid 4,"),
            "error: invalid value '4,' for '--grid <GRID>': `4,`: expected x, or x,y or x,y,z\n",
        ),
        (whole.clone() + " --check speed", "error: invalid value 'speed' for '--check <CHECK>'\n"),
    ];
    for (line, message) in cases {
        let (status, out, err) = girih(folder.path(), &line);
        assert_eq!((status, &*out), (Some(2), ""), "{line}: {err}");
        assert!(err.starts_with(message), "{line}: {err}");
        assert!(!folder.path().join("z.npy").exists(), "{line}");
    }
}
