//! The commands that the README shows are the commands that the gate runs.

use std::fs;

use crate::shell::{Error, at, root};

const WANTED: &str = "cargo test --workspace";

/// The README's `cargo test` command lines.
pub(crate) fn test_commands() -> Result<Vec<String>, Error> {
    let path = root().join("README.md");
    let commands = of_text(&fs::read_to_string(&path).map_err(at(&path))?);
    if commands.iter().any(|command| command == WANTED) {
        Ok(commands)
    } else {
        Err(Error::Readme { wanted: WANTED })
    }
}

/// Lines of fenced blocks that start with `cargo test`, prompt and comment stripped.
fn of_text(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut commands = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced && line.trim_start_matches("$ ").starts_with("cargo test") {
            let command = line.trim_start_matches("$ ");
            commands.push(command.split('#').next().unwrap_or(command).trim().to_string());
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_fenced_blocks() {
        let text = "\
Run `cargo test` often.
cargo test --not-fenced
```sh
$ cargo test --workspace   # everything
cargo run
cargo test -p girih-layout
```
cargo test --not-fenced
";
        assert_eq!(of_text(text), ["cargo test --workspace", "cargo test -p girih-layout"]);
    }

    #[test]
    fn the_program_of_the_readme_is_its_example() {
        let read = |file: &str| fs::read_to_string(root().join(file)).expect(file);
        let (readme, example) = (read("README.md"), read("examples/tile_gemm.rs"));
        let listing = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
        assert_eq!(listing, example.split_once("\n\n").map(|(_, program)| program));
    }
}
