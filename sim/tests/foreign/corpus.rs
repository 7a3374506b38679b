//! All files parse, verify and print; damaged copies of them are refused or run, without a panic.

use std::path::PathBuf;

use girih_ptx::Module;
use girih_sim::Program;

fn files() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_file_parses_verifies_and_prints() {
    let files = files();
    assert!(files.len() > 15);
    for (path, text) in files {
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        module.verify().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let printed = module.to_string();
        assert_eq!(Module::parse(&printed).as_ref(), Ok(&module), "{}", path.display());
        // A version or a target that is too low is an error.
        assert!(module.required_version().unwrap() <= module.version, "{}", path.display());
        assert!(module.required_target().unwrap().sm <= module.target.sm, "{}", path.display());
    }
}

/// Words, names, numbers and single signs.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || "_$%".contains(c);
        let end = match word(first) {
            true => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

/// One line with a token taken out, doubled, changed with its neighbour or with a token of another line.
fn damaged(lines: &[&str], random: &mut impl FnMut(usize) -> usize) -> String {
    let mut lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
    let (at, other) = (random(lines.len()), random(lines.len()));
    let from: Vec<String> = tokens(&lines[other]).into_iter().map(String::from).collect();
    let mut tokens: Vec<String> = tokens(&lines[at]).into_iter().map(String::from).collect();
    if tokens.is_empty() {
        tokens.push(";".into());
    }
    let place = random(tokens.len());
    match random(6) {
        0 => drop(tokens.remove(place)),
        1 => tokens.insert(place, tokens[place].clone()),
        2 => {
            let second = random(tokens.len());
            tokens.swap(place, second);
        }
        3 if !from.is_empty() => tokens[place] = from[random(from.len())].clone(),
        4 => {
            let numbers = ["0", "-1", "18446744073709551615", "9223372036854775807", "0f7FC00000", "1e300"];
            tokens[place] = numbers[random(numbers.len())].into();
        }
        _ => {
            lines.swap(at, other);
            return lines.join("\n");
        }
    }
    lines[at] = tokens.concat();
    lines.join("\n")
}

/// A part of each file with at most this many lines, whole kernels if they fit, so that many parts can be tried.
fn parts(text: &str) -> Vec<String> {
    let Some(body) = text.find("\n.visible .entry").or(text.find("\n\t// .globl")) else { return Vec::new() };
    let (head, rest) = text.split_at(body);
    let kernels = rest.split("\n\t// .globl").filter(|kernel| kernel.contains(".entry"));
    kernels
        .filter(|kernel| kernel.lines().count() < 200)
        .map(|kernel| format!("{head}\n//{kernel}"))
        .collect()
}

/// Parsing, verifying and loading return a result, and text that parses is printed as text that parses again.
#[test]
fn damaged_files_never_panic() {
    let (mut tried, mut parsed, mut verified, mut loaded) = (0, 0, 0, 0);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for (_, text) in files() {
        for part in parts(&text) {
            let lines: Vec<&str> = part.lines().collect();
            for _ in 0..40 {
                tried += 1;
                let Ok(module) = Module::parse(&damaged(&lines, &mut random)) else { continue };
                parsed += 1;
                assert_eq!(Module::parse(&module.to_string()).as_ref(), Ok(&module));
                let _ = module.kernels();
                verified += u32::from(module.verify().is_ok());
                loaded += u32::from(Program::load(&module).is_ok());
            }
        }
    }
    // The damage is of all kinds: some results are not PTX, some do not verify, some work.
    assert!(tried > 1000 && parsed > tried / 10 && parsed < tried, "{tried} {parsed}");
    assert!(verified > 0 && loaded > 0 && loaded < parsed, "{verified} {loaded}");
}
