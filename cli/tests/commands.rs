//! What all commands have in common: exit statuses, JSON, names, completions, the manual, and readers that go away.

mod calls;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::gemm::matrix::Matrix;
use crate::gemm::{folder, girih, girih_in, text};
use calls::CALLS;

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

fn files(folder: &Path) {
    // The sum of its first row and column is infinite by definition, but the accumulator becomes infinite in the other direction first.
    let mut big = Matrix::filled([4, 4], 0.0);
    (big.values[1], big.values[2], big.values[4], big.values[8]) = (1e38, f32::INFINITY, -1e38, 1.0);
    big.save(&folder.join("big.npy"), "<f4", false);
    let right = format!("{HEAD}.visible .entry right() {{ ret; }}\n");
    let race = format!(
        "{HEAD}.visible .entry race() {{ .shared .b32 tile; .reg .b32 %r<2>; mov.u32 %r0, %tid.x; st.shared.u32 [tile], %r0; ret; }}\n"
    );
    for (name, text) in [("right.ptx", right), ("race.ptx", race)] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

#[test]
fn exit_statuses_are_those_of_the_help() {
    let folder = folder();
    files(folder.path());
    let help = text(&girih_in(folder.path(), "--help").stdout);
    for status in 0..=3 {
        assert!(help.lines().any(|line| line.starts_with(&format!("  {status}  "))), "{help}");
    }
    for (line, status) in CALLS {
        let output = girih_in(folder.path(), line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(*status), "girih {line}: {error}");
        // What the call needs is named on standard error, and nothing else is printed.
        if *status > 1 {
            assert!(output.stdout.is_empty() && !error.is_empty(), "girih {line}: {}", text(&output.stdout));
        }
    }
}

/// One object a line, errors too, and nothing else on either stream but the findings of the simulator.
#[test]
fn every_command_speaks_json() {
    let folder = folder();
    files(folder.path());
    let none = ["--help", "--version", "", "gem", "man right.ptx", "completions nonsense"];
    for (line, status) in CALLS.iter().filter(|(line, _)| !none.contains(line)) {
        let output = girih_in(folder.path(), &format!("{line} --json"));
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(*status), "girih {line}: {out}{error}");
        assert!(
            !out.is_empty() && (error.is_empty() || line.starts_with("sim")),
            "girih {line}: {out}{error}"
        );
        for object in out.lines() {
            let object: Value =
                serde_json::from_str(object).unwrap_or_else(|e| panic!("girih {line}: {e}: {object}"));
            assert!(object.is_object(), "girih {line}: {object}");
            if *status > 1 {
                assert_eq!(object["error"]["status"], json!(status), "girih {line}: {object}");
                assert!(object["error"]["message"].as_str().is_some_and(|text| text.len() > 10), "{object}");
            }
        }
    }
    let object = |line: &str| -> Value {
        serde_json::from_slice(&girih_in(folder.path(), line).stdout).expect("an object")
    };
    let error = object("layout coalesce(composition(8:1,(2,2):(1,z))) --json");
    assert_eq!((&error["error"]["kind"], &error["error"]["at"]), (&json!("refused"), &json!(34)));
    assert_eq!(object("gemm --m many --json")["error"]["kind"], "usage");
    assert_eq!(object("emit copy --json")["sm"], 80);
    // Who asks for JSON by the form of the report gets errors so too.
    for line in
        ["sim none.ptx --grid 1 --block 1 --report json", "sim --report=json", "sim none.ptx --report json"]
    {
        assert!(object(line)["error"]["message"].is_string(), "girih {line}");
    }
    std::fs::write(folder.path().join("two"), "right --grid 1 --block 32\n".repeat(2)).expect("a file");
    let output = girih_in(folder.path(), "sim right.ptx --launches two --json");
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().count(), 2, "{lines}{}", text(&output.stderr));
}

/// The names that are meant, for everything that has names.
#[test]
fn unknown_names_get_the_names_that_are_meant() {
    let folder = folder();
    for (line, words) in [
        ("gem", "similar subcommands exist: 'emit', 'gemm'"),
        ("gemm --dtyp f32", "a similar argument exists: '--dtype'"),
        ("layout compositon(8:1,2:1)", "no operation \"compositon\"; did you mean composition"),
        ("layout size(logical_devide(8:1,2:1))", "did you mean logical_divide"),
        ("show mma SM80_16x8x16_F32BF16BF16F32_NT", "did you mean SM80_16x8x16_F32BF16BF16F32_TN"),
        ("show copy sm75_u32x4_ldms_n", "did you mean SM75_U32x4_LDSM_N"),
        ("show smem 8:1 --dtype bf61", "did you mean bf16"),
        ("plan copy 8:1 --threads 8 --dtype f23", "did you mean f32"),
        ("gemm --dtype bf1", "did you mean bf16"),
        // Only what is accepted is suggested.
        ("gemm --out s16", "are accepted; did you mean f16?"),
        ("attention --dtype bf61", "did you mean bf16"),
        ("attention --bias f23", "did you mean f32"),
        ("attention decode --cache e4m", "did you mean e4m3"),
        ("copy 8:1 --dtype f23", "did you mean f32"),
        ("list atoms ldms", "none of the atoms has `ldms` in its name"),
        ("tile explain sofmax_bf16_16x1024", "did you mean softmax_bf16_16x1024"),
        ("tune tile sofmax_bf16_16x1024", "did you mean softmax_bf16_16x1024"),
        ("emit tile sofmax_bf16_16x1024", "did you mean softmax_bf16_16x1024"),
        ("list atom", "a similar value exists: 'atoms'"),
    ] {
        let output = girih_in(folder.path(), line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "girih {line}");
        assert!(error.contains(words), "girih {line}: {error}");
    }
    // What is like nothing gets no question.
    let error = text(&girih_in(folder.path(), "layout qqqq(8:1)").stderr);
    assert!(!error.contains("did you mean") && error.contains("`girih list operations`"), "{error}");
}

fn listed(what: &str) -> Vec<Value> {
    let output = girih_in(Path::new("."), &format!("list {what} --json"));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

/// What is listed is what other commands take.
#[test]
fn lists_have_the_names_that_commands_take() {
    let names = |rows: &[Value]| -> Vec<String> {
        rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    let atoms = listed("atoms");
    let expected = girih_codegen::atom::MmaAtom::all().count() + girih_codegen::atom::CopyAtom::all().len();
    assert_eq!(atoms.len(), expected);
    for atom in atoms.iter().step_by(40) {
        let (kind, name) = (atom["kind"].as_str().expect("a kind"), atom["name"].as_str().expect("a name"));
        let output = Command::new(env!("CARGO_BIN_EXE_girih")).args(["show", kind, name]).output();
        assert!(output.expect("girih starts").status.success(), "{kind} {name}");
    }
    let ldsm = names(&listed("atoms ldsm"));
    assert!(!ldsm.is_empty() && ldsm.iter().all(|name| name.contains("LDSM")), "{ldsm:?}");
    let operations = listed("operations");
    assert_eq!(operations.len(), girih_notation::ops::all().count());
    let complement = operations.iter().find(|row| row["name"] == "complement").expect("there");
    assert_eq!(complement["arguments"].as_array().map(Vec::len), Some(2), "{complement}");
    let kernels = names(&listed("kernels"));
    for name in
        ["gemm simt", "gemm sm90", "attention sm90", "attention decode", "copy", "tile softmax_bf16_16x1024"]
    {
        assert!(kernels.iter().any(|kernel| kernel == name), "{name}");
    }
    let of = |name: &str| {
        listed("kernels").into_iter().find(|row| row["name"] == name).expect("there")["dtypes"].clone()
    };
    assert_eq!(of("gemm simt"), json!(["f32"]));
    assert!(of("gemm sm90").as_array().is_some_and(|dtypes| dtypes.contains(&json!("bf16"))));
    assert!(names(&listed("dtypes")).contains(&"bf16".to_owned()));
}

/// All commands, as the help has them.
fn commands() -> Vec<String> {
    let help = text(&girih_in(Path::new("."), "--help").stdout);
    let (_, below) = help.split_once("\nCommands:\n").expect("commands");
    let lines = below.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&girih_in(Path::new("."), &format!("completions {shell}")).stdout);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
    // The shell that most machines have takes the script.
    let script = girih_in(Path::new("."), "completions bash").stdout;
    if let Ok(mut bash) = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn() {
        bash.stdin.take().expect("a pipe").write_all(&script).expect("bash reads");
        assert!(bash.wait().expect("bash ends").success());
    }
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let folder = folder();
    let output = girih_in(folder.path(), "man .");
    assert!(output.status.success() && output.stdout.is_empty(), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    for command in commands() {
        let page = read(&format!("girih-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"), "{command}: {page}");
    }
    assert!(read("girih.1").contains("Exit status:"), "{}", read("girih.1"));
    assert!(read("girih-show-mma.1").contains("MMA atom"));
}

/// A folder that is not there is made.
#[test]
fn the_manual_makes_its_folder() {
    let folder = folder();
    let output = girih_in(folder.path(), "man share/man/man1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(folder.path().join("share/man/man1/girih-gemm.1").is_file());
}

/// The name of a fact, and of a part of one, ends before the fact begins.
#[test]
fn names_do_not_run_into_what_they_name() {
    let folder = folder();
    for line in [
        "gemm --m 16 --n 16 --k 16",
        "attention --queries 16 --keys 16 --heads 1 --batch 1",
        "attention decode --heads 1 --keys 130",
        "copy (8,8):(8,1) (8,8):(1,8)",
        "explain gemm",
        "explain attention",
        "explain attention decode",
    ] {
        let out = text(&girih_in(folder.path(), line).stdout);
        let facts = out.lines().filter(|line| line.len() > 26);
        assert!(facts.clone().count() > 4, "girih {line}: {out}");
        for fact in facts {
            assert_eq!(fact.as_bytes()[25], b' ', "girih {line}: {fact}");
        }
    }
}

/// A reader that closes the pipe has read enough: nothing is said of it, and it is no error.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    for line in [
        "--help",
        "gemm --m 16 --n 16 --k 16",
        "list atoms",
        "list operations --json",
        "completions bash",
        "emit gemm",
        "emit gemm --json",
        "explain gemm",
        "show copy SM75_U32x4_LDSM_N --format svg",
        "tune gemm --m 64 --n 64 --k 64 --most 1 --no-check",
        "tune gemm --m 64 --n 64 --k 64 --most 1 --no-check --json",
        "tile explain softmax_bf16_16x1024 --json",
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = girih(folder.path(), line).stdout(writer).output().expect("girih starts");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "girih {line}");
    }
}

/// Who does not read standard error gets the same result and exit status.
#[test]
fn nobody_needs_to_read_standard_error() {
    let folder = folder();
    files(folder.path());
    for (line, status) in [
        ("sim race.ptx --grid 1 --block 64", 1),
        ("sim right.ptx --grid 1 --block 32 --trace 0", 0),
        ("sim right.ptx --grid 1 --block 32 --break 4", 0),
        ("layout --plain size(logical_divide((16,16):(16,1),(4,8)))", 0),
        ("layout (4,8", 2),
    ] {
        let whole = girih_in(folder.path(), line);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = girih(folder.path(), line).stderr(writer).output().expect("girih starts");
        assert_eq!(output.status.code(), Some(status), "girih {line}");
        assert_eq!(text(&output.stdout), text(&whole.stdout), "girih {line}");
    }
}

/// Negative numbers are values, so that the message says which are accepted.
#[test]
fn negative_numbers_are_values_of_every_option() {
    for (line, words) in [
        ("show copy SM75_U32x4_LDSM_N --unit -3", "`-3`: expected bits of a cell that divide"),
        ("show smem 8:1 --dtype f32 --access (8,1):(1,0) --vector -1", "vectors of -1"),
        ("gemm --seed -1", "invalid value '-1' for '--seed"),
        ("sim a.ptx --grid -1 --block 1", "`-1`: expected x, or x,y"),
        ("explain gemm --multiprocessors 0", "invalid value '0' for '--multiprocessors"),
        ("tune gemm --most 0", "invalid value '0' for '--most"),
        ("tile explain saxpy_2048 --sm 75", "`--sm 75`: expected 80 or newer"),
        ("emit copy 8:1 --sm 90", "`--sm 90`: expected --cubin or --bundle"),
    ] {
        let output = girih_in(Path::new("."), line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "girih {line}");
        assert!(error.contains(words), "girih {line}: {error}");
    }
    let written = text(&girih_in(Path::new("."), "emit tile saxpy_2048 --sm 80").stdout);
    assert!(written.contains(".target sm_80"), "{written}");
}

/// Colours and progress are for terminals, and colours are nowhere where NO_COLOR is set.
#[test]
fn what_is_no_terminal_gets_no_colours_and_no_progress() {
    let folder = folder();
    let run = |line: &str, variables: &[(&str, &str)]| -> Output {
        girih(folder.path(), line).envs(variables.iter().copied()).output().expect("girih starts")
    };
    let escapes =
        |output: &Output| [&output.stdout, &output.stderr].iter().any(|bytes| bytes.contains(&0x1b));
    for line in ["--help", "gem", "gemm --m 16 --n 16 --k 16", "list atoms"] {
        assert!(!escapes(&run(line, &[])), "{line}");
        assert!(!escapes(&run(line, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")])), "{line}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = text(&girih_in(Path::new("."), "--version").stdout);
    let rest =
        version.strip_prefix(&format!("girih {}", env!("CARGO_PKG_VERSION"))).expect("the version").trim();
    // A release build names its commit.
    let commit = rest.trim_start_matches('(').trim_end_matches(')');
    assert!(
        rest.is_empty() || commit.len() >= 12 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
        "{version}"
    );
}
