//! The help of every command.

use std::process::Command;

/// Prints the help of the command that these words name and of its subcommands. The result is the number of these commands. With debug
/// assertions, as in tests, clap checks that the arguments of a command are consistent before it prints the help.
fn shown(words: &[&str]) -> usize {
    let output = Command::new(env!("CARGO_BIN_EXE_girih")).args(words).arg("--help").output();
    let output = output.expect("girih starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let help = String::from_utf8(output.stdout).expect("text");
    let below = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let lines = below.lines().take_while(|line| !line.is_empty());
    // The text about a command may continue in the next line, which begins farther to the right.
    let names = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = names.filter_map(|line| line.split(' ').next()).filter(|&name| name != "help");
    1 + names.map(|name| shown(&[words, &[name]].concat())).sum::<usize>()
}

#[test]
fn every_command_has_help() {
    assert_eq!(shown(&["gemm"]), 1);
    let all = shown(&[]);
    assert!(all > 20, "{all}");
}
