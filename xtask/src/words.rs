//! The words of the documentation: `words.txt` lists phrases that girih's texts do not use, with what they say instead.
//!
//! Checked are module and item documentation below a `src`, the messages of `#[error(..)]`, and the pages of docs/ and of
//! the root. Code, in fences or between backticks, is not.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{Error, at, root};

const LIST: &str = include_str!("../words.txt");
/// The pages beside docs/. The changelog quotes what earlier versions said.
const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// A phrase that is refused.
struct Phrase<'a> {
    words: Vec<&'a str>,
    /// The phrase is allowed if this word follows.
    unless: Option<&'a str>,
    instead: &'a str,
    /// Paths below the root where it is refused; none for all of them.
    places: Vec<&'a str>,
}

/// Refuses the phrases of the list.
pub(crate) fn run() -> Result<(), Error> {
    let phrases = phrases(LIST);
    let mut found = Vec::new();
    for path in files()? {
        let text = fs::read_to_string(&path).map_err(at(&path))?;
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        found.extend(refused(&name, &text, &phrases));
    }
    if found.is_empty() { Ok(()) } else { Err(Error::Words { found: found.join("\n") }) }
}

/// The list: `phrase | what to say | where`, with `#` before a comment.
fn phrases(list: &str) -> Vec<Phrase<'_>> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut columns = line.split('|').map(str::trim);
            let (phrase, instead) = (columns.next().unwrap_or(""), columns.next().unwrap_or(""));
            let places =
                columns.next().unwrap_or("").split_whitespace().filter(|&place| place != "everywhere");
            let (phrase, unless) =
                phrase.split_once(" !").map_or((phrase, None), |(phrase, word)| (phrase, Some(word)));
            let words = phrase.split_whitespace().collect();
            Phrase { words, unless, instead, places: places.collect() }
        })
        .collect()
}

/// The Rust files below each package's `src`, and the pages.
fn files() -> Result<Vec<PathBuf>, Error> {
    let mut files: Vec<PathBuf> = PAGES.iter().map(|page| root().join(page)).collect();
    let mut folders = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(at(&folder))? {
            let path = entry.map_err(at(&folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !["target", "venv", ".", "tests"].iter().any(|start| name.starts_with(start)) {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") && path.components().any(|part| part.as_os_str() == "src")
                || name.ends_with(".md") && path.starts_with(root().join("docs"))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Each use of a phrase in a file, as a line that says where it is and what to say.
fn refused(name: &str, text: &str, phrases: &[Phrase<'_>]) -> Vec<String> {
    let is_rust = Path::new(name).extension().is_some_and(|end| end == "rs");
    let words = words(text, is_rust);
    let mut found = Vec::new();
    for phrase in phrases {
        if !phrase.places.is_empty() && !phrase.places.iter().any(|place| name.starts_with(place)) {
            continue;
        }
        let count = phrase.words.len();
        for (first, window) in words.windows(count).enumerate() {
            let same = window.iter().zip(&phrase.words).all(|((_, word), wanted)| word == wanted);
            let next = words.get(first + count).map(|(_, word)| word.as_str());
            if same && (phrase.unless.is_none() || phrase.unless != next) {
                let (line, said) = (window[0].0, phrase.words.join(" "));
                found.push(format!("{name}:{line}: \"{said}\": say {}", phrase.instead));
            }
        }
    }
    found
}

/// The words of a file's documentation, in lower case, each with its line. What ends a passage is an empty word.
fn words(text: &str, is_rust: bool) -> Vec<(usize, String)> {
    let (mut words, mut is_fenced, mut is_code, mut is_error) = (Vec::new(), false, false, false);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        is_error |= is_rust && line.starts_with("#[error(");
        let said = match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            _ if !is_rust => Some(line),
            None if is_error => line.split_once('"').map(|(_, literal)| literal),
            said => said,
        };
        is_error &= !line.ends_with(")]");
        let said = said.unwrap_or("");
        if said.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        if said.trim().is_empty() || is_fenced {
            is_code = false;
            words.push((number + 1, String::new()));
            continue;
        }
        let mut word = String::new();
        for c in said.chars().chain([' ']) {
            if c.is_alphanumeric() || matches!(c, '-' | '\'' | '_') {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() && !is_code {
                words.push((number + 1, word.clone()));
            }
            word.clear();
            if c == '`' {
                is_code = !is_code;
                words.push((number + 1, "`".into()));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phrase_is_refused_and_its_replacement_is_not() {
        let phrases = phrases(LIST);
        assert!(phrases.len() >= 20, "{}", phrases.len());
        for phrase in &phrases {
            let place = phrase.places.first().copied().unwrap_or("layout/src");
            let (source, page) = (format!("{place}/a.rs"), format!("{place}/a.md"));
            let (said, instead) = (phrase.words.join(" "), phrase.instead);
            assert!(!phrase.words.is_empty() && !instead.is_empty(), "{said:?}: {instead:?}");
            let texts = [
                format!("/// It {said} it."),
                format!("//! It\n//! {said}."),
                format!("#[error(\"{said}\")]"),
            ];
            for text in texts {
                let found = refused(&source, &text, &phrases);
                assert!(found.iter().any(|line| line.contains(&format!("\"{said}\""))), "{text}: {found:?}");
            }
            assert_eq!(refused(&page, instead, &phrases), [""; 0], "{said}");
            assert!(!refused(&page, &said, &phrases).is_empty(), "{said}");
            let elsewhere = refused("elsewhere/a.md", &said, std::slice::from_ref(phrase));
            assert_eq!(elsewhere.is_empty(), !phrase.places.is_empty(), "{said}");
            if let Some(word) = phrase.unless {
                let allowed = refused(&page, &format!("{said} {word}"), std::slice::from_ref(phrase));
                assert!(allowed.is_empty(), "{allowed:?}");
            }
        }
    }

    #[test]
    fn only_documentation_and_messages_are_read() {
        let list = phrases("turns ahead | n iterations ahead | everywhere");
        let code = "let turns = ahead; // turns ahead\nlet x = \"turns ahead\";\n/// `turns ahead` is code.\n/// ```text\n/// turns ahead\n/// ```\n";
        assert_eq!(refused("a/src/b.rs", code, &list), [""; 0]);
        let page = "Two turns\nahead.\n\nTurns\n\nahead\n\n```\nturns ahead\n```\n";
        assert_eq!(
            refused("docs/a.md", page, &list),
            ["docs/a.md:1: \"turns ahead\": say n iterations ahead"]
        );
        let error = "#[error(\n    \"{x}: two turns ahead\"\n)]\nA,\n";
        assert_eq!(refused("a.rs", error, &list), ["a.rs:2: \"turns ahead\": say n iterations ahead"]);
    }
}
