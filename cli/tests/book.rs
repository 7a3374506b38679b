//! The commands of `docs/`: what stands below a command is what the command prints, and the pictures are what commands draw.
//!
//! A block `sh` has commands, one a line, or on several that end with `\`. A block `text` that follows it is what its last command prints, standard output before standard
//! error; a line `...` stands for any lines. `UPDATE_EXPECT=1` writes outputs without such lines, and pictures.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The files of `folder` and its folders whose names end so.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A fenced block: the word after the fence, the text, and where the text begins and ends in the file.
struct Block<'a> {
    word: &'a str,
    text: &'a str,
    range: std::ops::Range<usize>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut at) = (Vec::new(), None, 0);
    for line in page.split_inclusive('\n') {
        if let Some(word) = line.strip_prefix("```") {
            open = match open {
                None => Some((word.trim(), at + line.len())),
                Some((word, begin)) => {
                    blocks.push(Block { word, text: &page[begin..at], range: begin..at });
                    None
                }
            };
        }
        at += line.len();
    }
    blocks
}

/// Whether `found` is `wanted`, in which a line `...` stands for any lines.
fn agrees(wanted: &str, found: &str) -> bool {
    let mut rest = found;
    let pieces: Vec<&str> = wanted.split("...\n").collect();
    for (i, piece) in pieces.iter().enumerate() {
        let begins_line = |at: usize| at == 0 || rest.as_bytes()[at - 1] == b'\n';
        let at = match i {
            0 => Some(0).filter(|_| rest.starts_with(piece)),
            _ => rest.match_indices(piece).map(|(at, _)| at).find(|&at| begins_line(at)),
        };
        let Some(at) = at else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty() || pieces.last().is_some_and(|last| pieces.len() > 1 && last.is_empty())
}

/// Runs a command line as a reader does, in a folder of its own.
fn run(line: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_girih")).parent().unwrap();
    let path = env::join_paths(
        [binary.to_path_buf()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())),
    );
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path.unwrap()).env("GIRIH_DEVICE", "sim");
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
#[cfg_attr(not(unix), ignore = "the commands are those of a shell")]
fn commands_print_what_the_book_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let update = env::var_os("UPDATE_EXPECT").is_some();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("docs/pictures")).unwrap();
    for path in files(&root.join("docs"), "ptx") {
        let place = folder.path().join(path.strip_prefix(root).unwrap());
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(&path, place).unwrap();
    }
    let (mut commands, mut differences) = (0, Vec::new());
    for path in files(&root.join("docs"), "md") {
        let page = fs::read_to_string(&path).unwrap();
        let blocks = blocks(&page);
        let mut edits = Vec::new();
        for (i, block) in blocks.iter().enumerate().filter(|(_, block)| block.word == "sh") {
            let text = block.text.replace("\\\n", "");
            let is_ours = |line: &&str| line.starts_with("girih ") || line.starts_with("cat docs/");
            let lines: Vec<&str> = text.lines().filter(is_ours).collect();
            let mut printed = String::new();
            for line in &lines {
                commands += 1;
                printed = run(line, folder.path());
                assert!(!printed.contains("Usage: girih"), "{}: {line}\n{printed}", path.display());
            }
            let next = blocks.get(i + 1).filter(|next| {
                next.word == "text" && page[block.range.end..next.range.start].matches("\n\n").count() == 1
            });
            let Some(next) = next.filter(|_| !lines.is_empty()) else { continue };
            if !agrees(next.text, &printed) {
                if !next.text.contains("...\n") {
                    edits.push((next.range.clone(), printed.clone()));
                }
                differences.push(format!("{}: {}\n{printed}", path.display(), lines.join("\n")));
            }
        }
        if update {
            let mut page = page.clone();
            for (range, printed) in edits.into_iter().rev() {
                page.replace_range(range, &printed);
            }
            fs::write(&path, page).unwrap();
        }
    }
    let drawn = files(folder.path(), "svg");
    for picture in &drawn {
        let place = root.join(picture.strip_prefix(folder.path()).unwrap());
        let text = fs::read_to_string(picture).unwrap();
        if fs::read_to_string(&place).ok().as_ref() != Some(&text) {
            differences.push(format!("{} is not what its command draws", place.display()));
            if update {
                fs::write(&place, text).unwrap();
            }
        }
    }
    let kept = files(&root.join("docs/pictures"), "svg").len();
    assert_eq!(kept, drawn.len(), "each picture of docs/pictures is drawn by a command in docs");
    assert!(commands >= 20, "{commands}");
    if !update {
        let more = "(`UPDATE_EXPECT=1 cargo test -p girih-cli --test all book::` writes what commands print)";
        assert!(differences.is_empty(), "{}\n{more}", differences.join("\n"));
    }
}

#[test]
fn lines_may_be_left_out() {
    assert!(agrees("a\nb\n", "a\nb\n") && !agrees("a\n", "a\nb\n") && !agrees("b\n", "a\nb\n"));
    assert!(
        agrees("a\n...\n", "a\nb\n") && agrees("...\nb\n", "a\nb\n") && agrees("a\n...\nc\n", "a\nb\nc\n")
    );
    assert!(!agrees("a\n...\nc\n", "a\nb\n") && !agrees("...\nb\n", "ab\n"));
}
