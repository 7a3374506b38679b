//! What the compiler makes of static indices: a crate of its own, built by cargo.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Functions whose bodies are looked at, and the instructions that they may have.
const INDICES: &str = r#"
use girih_typed::{__, layout};
#[unsafe(no_mangle)]
pub fn constant() -> usize { layout!(((2, 4), 8) : ((8, 1), 64)).at(((1, 2), 3)) }
#[unsafe(no_mangle)]
pub fn row_major(i: usize, j: usize) -> usize { layout!((128, 64) : (64, 1)).at((i, j)) }
#[unsafe(no_mangle)]
pub fn thread_value(t: usize, v: usize) -> usize {
    let c = layout!((16, 16) : (16, 1)).composition(layout!(((4, 8), (2, 2)) : ((32, 1), (16, 8))));
    c.at((t, v))
}
#[unsafe(no_mangle)]
pub fn leading_dimension(i: usize, j: usize, ld: usize) -> usize { layout!((128, 64) : (ld, 1)).at((i, j)) }
#[unsafe(no_mangle)]
pub fn sliced(i: usize, j: usize) -> usize {
    let (row, offset) = layout!((128, (8, 8)) : (64, (1, 8))).slice((i, __));
    row.at(j) + offset as usize
}
"#;

/// The assembly of [`INDICES`], optimised; the layouts themselves are not, as a program has what is inline optimised with itself.
fn assembly() -> String {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("indices");
    let typed = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"indices\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         girih-typed = {{ path = {typed:?} }}\n\n[workspace]\n[profile.release.package]\n\
         girih-layout = {{ opt-level = 0 }}\ngirih-typed = {{ opt-level = 0 }}\n"
    );
    let _old = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    fs::write(root.join("src/lib.rs"), INDICES).unwrap();
    let lock = typed.parent().map(|workspace| workspace.join("Cargo.lock"));
    if let Some(lock) = lock.filter(|lock| lock.exists()) {
        fs::copy(lock, root.join("Cargo.lock")).unwrap();
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--offline", "--release", "--lib", "--", "--emit", "asm=indices.s"]);
    cargo.args(["-C", "debuginfo=0", "-C", "codegen-units=1"]).current_dir(&root);
    cargo.env("CARGO_TARGET_DIR", root.join("target")).env_remove("RUSTFLAGS");
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(root.join("indices.s")).unwrap()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn static_indices_are_constants_shifts_and_adds() {
    let assembly = assembly();
    let body = |name: &str| -> Vec<String> {
        let lines = assembly.lines().skip_while(|line| *line != format!("{name}:"));
        let lines = lines.map(str::trim).skip(1).take_while(|line| !line.starts_with(".Lfunc_end"));
        lines.filter(|line| !line.starts_with('.') && !line.starts_with('#')).map(String::from).collect()
    };
    let opcodes = |name| -> Vec<String> {
        body(name).iter().map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
    };
    assert_eq!(body("constant"), ["movl\t$202, %eax", "retq"]);
    for name in ["row_major", "thread_value", "sliced"] {
        let found = opcodes(name);
        let plain = [
            "mov", "movq", "movl", "shlq", "shll", "shrq", "shrl", "leaq", "leal", "addq", "addl", "orq",
            "orl", "andl", "andq", "retq",
        ];
        assert!(found.iter().all(|code| plain.contains(&code.as_str())), "{name}: {:?}", body(name));
        assert!((3..=20).contains(&found.len()), "{name}: {:?}", body(name));
    }
    let found = opcodes("leading_dimension");
    assert!(found.iter().filter(|code| *code == "imulq").count() == 1, "{found:?}");
    assert!(
        !found.iter().any(|code| code.contains("div") || code.contains("call") || code.starts_with('j')),
        "{found:?}"
    );
}
