//! The options `--trace`, `--break`, `--tile` and `--reduce`.

use std::fs;

use super::{RUN, folder, girih};

/// Two warps each fill a row of a matrix of words in shared memory and wait for one another, in three rounds.
const ROWS: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry rows() {
  .reg .pred %p; .reg .u32 %t, %w, %i; .reg .b32 %a; .reg .f32 %x;
  .shared .align 16 .b8 tile[256];
  mov.u32 %t, %tid.x; shr.u32 %w, %t, 5;
  shl.b32 %a, %t, 2; mov.u32 %i, 0;
  cvt.rn.f32.u32 %x, %t;
LOOP:
  st.shared.f32 [%a + 1024], %x;
  bar.sync 0;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 3;
  @%p bra LOOP;
  ret;
}
";

#[test]
fn a_warp_is_traced_with_what_it_writes() {
    let folder = folder();
    let line = format!("{RUN} --arg inout:y.npy:z.npy --trace 0 --at-block 3 --report json");
    let (status, out, err) = girih(folder.path(), &line);
    assert_eq!(status, Some(0), "{err}");
    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
    let lines: Vec<&str> = err.lines().collect();
    // Block 3 would have elements 96 to 127, of which only the first four exist; x[i] is i and y[i] is 1.
    assert_eq!(lines.len(), 17, "{err}");
    assert_eq!(lines[0], "line 6, all lanes: mov.u32 %r0, %ctaid.x; %r0 = 0x3");
    assert_eq!(lines[3], "line 6, all lanes: mad.lo.u32 %r0, %r0, %r1, %r2; %r0 = 0x60, 0x61, ..., 0x7f");
    assert_eq!(lines[5][..57], *"line 8, all lanes: setp.ge.u32 %p, %r0, %r1; %p = 0 0 0 0");
    assert_eq!(lines[6], "line 9, lanes 0xfffffff0: @%p ret");
    assert!(
        lines.contains(&"line 12, lanes 0x0000000f: ld.global.f32 %f1, [%d0]; %f1 = 96, 97, ..., 99"),
        "{err}"
    );
    assert!(
        lines.contains(&"line 13, lanes 0x0000000f: fma.rn.f32 %f3, %f0, %f1, %f2; %f3 = 49 49.5 50 50.5"),
        "{err}"
    );
}

#[test]
fn a_trace_ends_where_the_launch_fails() {
    let folder = folder();
    let (status, _, err) =
        girih(folder.path(), "sim others.ptx --kernel unset --grid 1 --block 32 --trace 0");
    assert_eq!(status, Some(1));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines[0], "line 15, all lanes: add.u32 %r0, %r1, 1; %r0 = -");
    assert_eq!(lines[1], "line 15, all lanes: setp.eq.u32 %p, %r0, 0; %p = -");
    assert_eq!(lines[2], "line 15, no lane: @%p trap; failed");
    assert!(lines.last().is_some_and(|line| line.starts_with("error: ")), "{err}");
}

#[test]
fn a_stop_shows_registers_and_a_tile() {
    let folder = folder();
    fs::write(folder.path().join("rows.ptx"), ROWS).expect("written");
    let line =
        "sim rows.ptx --grid 1 --block 64 --break 12:3 --tile 0:2x4:f32:32 --tile 128:1x2:u32 --trace 1";
    let (status, out, err) = girih(folder.path(), line);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains("6 barriers, 3 waits"), "{out}");
    let stop = err.find("block").expect("a stop");
    let text: Vec<&str> = err[stop..].lines().take(12).collect();
    let want = [
        "block (0,0,0), warp 1, all lanes before line 12: bar.sync 0",
        "  %t .u32    32, 33, ..., 63",
        "  %w .u32    1",
        "  %a .b32    0x80, 0x84, ..., 0xfc",
        "  %i .u32    2",
        "  %x .f32    32, 33, ..., 63",
        "  %p .pred   1",
        "  shared memory from byte 0: 2 x 4 of f32",
        "     0  1  2  3",
        "    32 33 34 35",
        "  shared memory from byte 128: 1 x 2 of u32",
        "    1107296256 1107558400",
    ];
    assert_eq!(text, want, "{err}");
    // The wait is one step of the trace, however long the wait took.
    assert_eq!(err.lines().filter(|line| line.starts_with("line 12,")).count(), 3, "{err}");
}

#[test]
fn a_stop_that_is_not_reached_is_told() {
    let folder = folder();
    fs::write(folder.path().join("rows.ptx"), ROWS).expect("written");
    let (status, _, err) = girih(folder.path(), "sim rows.ptx --grid 1 --block 64 --break 12:7");
    assert_eq!(
        (status, &*err),
        (Some(0), "no stop at line 12: the warps of block (0,0,0) came to the line 6 times\n")
    );
}

#[test]
fn what_can_not_be_looked_at_is_bad_usage() {
    let folder = folder();
    fs::write(folder.path().join("rows.ptx"), ROWS).expect("written");
    for (options, message) in [
        ("--trace 2", "error: `--trace 2`: expected the number of a warp of the block, 0 to 1\n"),
        ("--trace 0 --at-block 1", "error: `--at-block 1,0,0`: expected a block of the grid 1,1,1\n"),
        ("--break 10", "error: `--break 10`: expected a line with an instruction of `rows`, such as 11\n"),
        ("--break 40", "error: `--break 40`: expected a line with an instruction of `rows`, such as 16\n"),
        (
            "--break 12 --tile 4:2x32:f32",
            "error: `--tile 4:2x32:f32`: expected a tile that ends within the block's 256 bytes of shared memory, not at 260\n",
        ),
        (
            "--break x",
            "error: invalid value 'x' for '--break <[FILE:]LINE[:N]>': `x`: expected LINE, LINE:N, FILE:LINE or FILE:LINE:N, with numbers from 1\n",
        ),
        ("--tile 0:1x1:f32", "error: the following required arguments were not provided:\n"),
    ] {
        let (status, out, err) = girih(folder.path(), &format!("sim rows.ptx --grid 1 --block 64 {options}"));
        assert_eq!((status, &*out), (Some(2), ""), "{options}: {err}");
        assert!(err.starts_with(message), "{options}: {err}");
    }
}

/// A loop of five rounds. Line 12 of the source is line 10 of the PTX.
const ROUNDS: &str = ".version 8.0
.target sm_80
.address_size 64
.file 1 \"/src/a.cu\"
.visible .entry rounds() {
  .reg .pred %p; .reg .u32 %i;
  mov.u32 %i, 0;
AGAIN:
  .loc 1 12 1
  add.u32 %i, %i, 1;
  .loc 1 13 1
  setp.lt.u32 %p, %i, 5;
  @%p bra AGAIN;
  ret;
}
";

#[test]
fn stops_are_at_lines_of_ptx_or_source_and_at_the_time_that_is_given() {
    let folder = folder();
    fs::write(folder.path().join("rounds.ptx"), ROUNDS).expect("written");
    for (at, line, i) in [
        ("12", "a.cu:13 (PTX line 12)", 1),
        ("12:3", "a.cu:13 (PTX line 12)", 3),
        ("a.cu:12", "a.cu:12 (PTX line 10)", 0),
        ("src/a.cu:12:3", "a.cu:12 (PTX line 10)", 2),
    ] {
        let (status, _, err) =
            girih(folder.path(), &format!("sim rounds.ptx --grid 1 --block 32 --break {at}"));
        assert_eq!((status, err.matches(" before ").count()), (Some(0), 1), "{at}: {err}");
        assert!(err.contains(&format!(" before {line}: ")), "{at}: {err}");
        assert!(err.contains(&format!("  %i .u32    {i}\n")), "{at}: {err}");
    }
    for text in ["", "0", "1:0", "a", "-1", "a:0", "a:b", ":1", "a:1:0", "a:1:2:3"] {
        let (status, out, err) =
            girih(folder.path(), &format!("sim rounds.ptx --grid 1 --block 32 --break={text}"));
        assert_eq!((status, &*out), (Some(2), ""), "{text}: {err}");
        let message =
            format!("`{text}`: expected LINE, LINE:N, FILE:LINE or FILE:LINE:N, with numbers from 1\n");
        assert!(err.contains(&message), "{text}: {err}");
    }
}

#[test]
fn tiles_have_a_pitch_and_offsets_may_be_hexadecimal() {
    let folder = folder();
    fs::write(folder.path().join("rows.ptx"), ROWS).expect("written");
    let line = "sim rows.ptx --grid 1 --block 32 --break 12";
    let (status, _, err) = girih(folder.path(), &format!("{line} --tile 0:2x3:f32 --tile 0x10:2x3:bf16:8"));
    assert_eq!(status, Some(0), "{err}");
    let text: Vec<&str> = err.lines().skip_while(|line| !line.starts_with("  shared")).collect();
    let want = [
        "  shared memory from byte 0: 2 x 3 of f32",
        "    0 1 2",
        "    3 4 5",
        // The upper half of an f32 is the same number in bf16, and the lower half is 0 for small integers.
        "  shared memory from byte 16: 2 x 3 of bf16",
        "    0 4 0",
        "    0 8 0",
    ];
    assert_eq!(text, want, "{err}");
    for text in ["", "0", "0:2x3", "0:2x3:b32", "0:0x3:f32", "0:2:f32", "0:2x3:f32:1:1", "x:2x3:f32"] {
        let (status, out, err) = girih(folder.path(), &format!("{line} --tile={text}"));
        assert_eq!((status, &*out), (Some(2), ""), "{text}: {err}");
        assert!(err.contains(&format!("`{text}`: expected OFFSET:ROWSxCOLUMNS:TYPE or ")), "{text}: {err}");
    }
}

#[test]
fn a_tile_ends_after_its_last_element() {
    let folder = folder();
    fs::write(folder.path().join("rounds.ptx"), ROUNDS).expect("written");
    let with = |bytes: u128, tile: &str| {
        let line = format!("sim rounds.ptx --grid 1 --block 32 --smem {bytes} --break 12 --tile {tile}");
        girih(folder.path(), &line)
    };
    let refused = |bytes: u128, tile: &str, end: u128| {
        let (status, out, err) = with(bytes, tile);
        assert_eq!((status, &*out), (Some(2), ""), "{tile}: {err}");
        let shared = format!("within the block's {bytes} bytes of shared memory, not at {end}\n");
        assert!(err.ends_with(&shared), "{tile}: {err}");
    };
    for (tile, end) in [("4:2x3:f32", 4 + 6 * 4), ("4:2x3:f16:10", 4 + 13 * 2)] {
        refused(end - 1, tile, end);
        assert_eq!(with(end, tile).0, Some(0), "{tile}");
    }
    refused(64, "0:2x1:u64:0xffffffffffffffff", (u128::from(u64::MAX) + 1) * 8);
}

#[test]
fn a_failing_launch_is_reduced() {
    let folder = folder();
    // There are 100 elements, so that the fourth block of 32 threads is the first to go beyond them.
    let line = RUN.replace("u32:100", "u32:1000").replace("--grid 4", "--grid 32");
    let (status, out, err) = girih(folder.path(), &format!("{line} --arg inout:y.npy:z.npy --reduce"));
    assert_eq!(status, Some(1), "{out}");
    assert!(err.contains("\nthe least grid with which the launch fails: --grid 4,1,1 (found by "), "{err}");
    assert!(!folder.path().join("z.npy").exists());
}

#[test]
fn a_recording_is_a_page_of_its_own() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name));
    let (status, _, err) =
        girih(folder.path(), &format!("{RUN} --arg inout:y.npy:z.npy --at-block 3 --record page.html"));
    assert_eq!(status, Some(0), "{err}");
    let page = read("page.html").unwrap();
    assert!(err.contains("page.html: ") && err.contains(" KB"), "{err}");
    assert!(page.starts_with("<!doctype html>") && page.contains("id=\"recording\""), "{page}");
    // A launch that fails is recorded too.
    let line = "sim others.ptx --kernel unset --grid 1 --block 32 --record failed.html";
    assert_eq!(girih(folder.path(), line).0, Some(1));
    assert!(read("failed.html").unwrap().len() > 1000);
    for (line, said) in [
        (format!("{RUN} --arg inout:y.npy:z.npy --record no/page.html"), "no/page.html"),
        (format!("{RUN} --arg inout:y.npy:z.npy --record page.html --trace 0"), "--trace"),
        (format!("{RUN} --arg inout:y.npy:z.npy --record page.html --at-block 99"), "a block of the grid"),
    ] {
        let (status, _, err) = girih(folder.path(), &line);
        assert!(status != Some(0) && err.contains(said), "{line}: {err}");
    }
}
