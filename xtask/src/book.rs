//! The book of docs/: `mdbook` builds it, and its links are looked at by the tests of this file.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
};

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use crate::shell::{Error, at, root, sh};

/// Recordings of launches, which the book has beside its pages: the path from docs/, and the kernel.
const RECORDINGS: [(&str, &str); 2] =
    [("recordings/race.html", "sum_race"), ("recordings/gemm.html", "gemm_sm90_bf16")];

/// Builds the book, where mdBook is installed.
pub(crate) fn build() -> Result<(), Error> {
    let probe = Command::new("mdbook").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if probe.is_ok_and(|status| status.success()) {
        sh("mdbook build")?;
        return record(&root().join("target/book"));
    }
    println!("--- mdbook build: SKIPPED (not installed; `cargo install mdbook --locked`)");
    Ok(())
}

/// Writes the recordings into the book's folder.
fn record(book: &Path) -> Result<(), Error> {
    for (path, kernel) in RECORDINGS {
        let file = book.join(path);
        let folder = file.parent().unwrap_or(book);
        fs::create_dir_all(folder).map_err(at(folder))?;
        sh(&format!(
            "cargo run --release --quiet --package girih-page --locked -- --record {} {kernel}",
            file.display()
        ))?;
    }
    Ok(())
}

/// mdBook's preprocessor: links from the book to files that are beside docs/ lead to the repository.
pub(crate) fn links(words: &[String]) -> Result<(), Error> {
    if words.first().is_some_and(|word| word == "supports") {
        return Ok(());
    }
    let json = |source| Error::Json { command: "mdbook".into(), source };
    let mut given: Value = serde_json::from_reader(io::stdin()).map_err(json)?;
    let mut book = given.get_mut(1).map_or(Value::Null, Value::take);
    chapters(&mut book, &|chapter| {
        let path = chapter.get("path").and_then(Value::as_str).map(PathBuf::from);
        let (Some(path), Some(content)) = (path, chapter.get("content").and_then(Value::as_str)) else {
            return;
        };
        let outward = outward(&Path::new("docs").join(path), content);
        chapter["content"] = outward.into();
    });
    serde_json::to_writer(io::stdout(), &book).map_err(json)
}

/// Applies `change` to every chapter of mdBook's book.
fn chapters(value: &mut Value, change: &impl Fn(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| chapters(item, change)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if name == "Chapter" {
                    change(field);
                }
                chapters(field, change);
            }
        }
        _ => {}
    }
}

/// The page, at `path` from the root, with links to files outside of docs/ as links to the repository.
fn outward(path: &Path, page: &str) -> String {
    let mut out = page.to_string();
    for (target, range) in targets(page).into_iter().rev() {
        let there = path.parent().map(|folder| normal(&folder.join(&target)));
        let Some(there) = there.filter(|there| !there.starts_with("docs")) else { continue };
        let text = &page[range.clone()];
        if let Some(at) = text.rfind(&format!("]({target})")) {
            let begin = range.start + at + 2;
            let url = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");
            out.replace_range(begin..begin + target.len(), &format!("{url}/{}", there.display()));
        }
    }
    out
}

/// The relative links and pictures of a page, without those inside of the page, and where they are.
fn targets(page: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let parser = Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter();
    let links = parser.filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some((dest_url.to_string(), range))
        }
        _ => None,
    });
    links.filter(|(target, _)| !target.contains("://") && !target.starts_with('#')).collect()
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, component| {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pulldown_cmark::TagEnd;

    use super::*;

    /// The pages of docs/, from the root, with their texts.
    fn pages() -> Vec<(PathBuf, String)> {
        let pages = texts("docs");
        assert!(pages.len() >= 20, "{}", pages.len());
        pages
    }

    /// What is written below a folder, but for what is built or fetched there.
    fn texts(folder: &str) -> Vec<(PathBuf, String)> {
        let (mut pages, mut folders) = (Vec::new(), vec![root().join(folder)]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if ["target", ".", "venv"].iter().any(|start| name.starts_with(start)) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "md") {
                    let text = fs::read_to_string(&path).expect("a page");
                    pages.push((path.strip_prefix(root()).expect("below the root").into(), text));
                }
            }
        }
        pages
    }

    /// The anchors of a page's headings, as mdBook and GitHub name them.
    fn anchors(page: &str) -> BTreeSet<String> {
        let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
        for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
                (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
                (Event::End(TagEnd::Heading(_)), Some(text)) => {
                    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                    anchors.insert(kept.collect::<String>().trim().to_lowercase().replace(' ', "-"));
                    heading = None;
                }
                _ => {}
            }
        }
        anchors
    }

    #[test]
    fn every_page_is_in_the_summary() {
        let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
        let listed: BTreeSet<PathBuf> =
            targets(&summary).into_iter().map(|(target, _)| Path::new("docs").join(target)).collect();
        let there: BTreeSet<PathBuf> =
            pages().into_iter().map(|(path, _)| path).filter(|path| !path.ends_with("SUMMARY.md")).collect();
        assert_eq!(listed, there);
    }

    #[test]
    fn every_link_leads_somewhere() {
        let mut astray = Vec::new();
        for (path, page) in texts("") {
            let inside = Parser::new_ext(&page, Options::ENABLE_TABLES).filter_map(|event| match event {
                Event::Start(Tag::Link { dest_url, .. }) if dest_url.starts_with('#') => {
                    Some(dest_url.to_string())
                }
                _ => None,
            });
            for target in targets(&page).into_iter().map(|(target, _)| target).chain(inside) {
                let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
                let folder = path.parent().expect("a folder");
                let there = if file.is_empty() { path.clone() } else { normal(&folder.join(file)) };
                // The book is built with recordings.
                let recorded = RECORDINGS.iter().any(|(path, _)| there == Path::new("docs").join(path));
                let found = recorded || root().join(&there).exists();
                let known = || {
                    fs::read_to_string(root().join(&there)).is_ok_and(|page| anchors(&page).contains(anchor))
                };
                if !found
                    || !anchor.is_empty() && there.extension().is_some_and(|end| end == "md") && !known()
                {
                    astray.push(format!("{}: {target}", path.display()));
                }
            }
        }
        assert!(astray.is_empty(), "{}", astray.join("\n"));
    }

    /// Each row of a table has as many cells as its head: an empty line within a table makes text of what follows.
    #[test]
    fn tables_are_whole() {
        let mut broken = Vec::new();
        for (path, page) in texts("") {
            let (mut is_code, mut above) = (false, "");
            for (i, line) in page.lines().enumerate() {
                is_code ^= line.trim_start().starts_with("```");
                let cells = |line: &str| line.replace("\\|", "").matches('|').count();
                let is_row = line.starts_with('|') && !is_code;
                let next = page.lines().nth(i + 1).unwrap_or_default();
                let is_head = is_row && !above.starts_with('|');
                if is_head && !next.starts_with("|-") && !next.starts_with("|:")
                    || is_row && !is_head && cells(line) != cells(above)
                {
                    broken.push(format!("{}:{}: {line}", path.display(), i + 1));
                }
                above = line;
            }
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn links_that_leave_the_book_lead_to_the_repository() {
        let page = "[a](../sim/src/lib.rs), `[no](../x)`, [b](kernels.md#tensors), ![c](../pictures/d.svg)";
        let url = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");
        assert_eq!(
            outward(Path::new("docs/tutorial/a.md"), page),
            "[a](../sim/src/lib.rs), `[no](../x)`, [b](kernels.md#tensors), ![c](../pictures/d.svg)"
        );
        assert_eq!(
            outward(Path::new("docs/a.md"), page),
            format!(
                "[a]({url}/sim/src/lib.rs), `[no](../x)`, [b](kernels.md#tensors), ![c]({url}/pictures/d.svg)"
            )
        );
    }
}
