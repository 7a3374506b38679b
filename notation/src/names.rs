//! Suggestions for unknown names.
//!
//! # Examples
//! ```
//! use girih_notation::names::{did_you_mean, near};
//!
//! let names = near("sofmax", ["softmax", "gemm"].into_iter());
//! assert_eq!(did_you_mean(&names), "; did you mean softmax?");
//! ```

/// The most names that are suggested.
const MOST: usize = 3;
/// The least similarity of a suggested name; equal names have 1.
const ALIKE: f64 = 0.75;

/// The names of `all` that are most similar to `name`, the most similar first.
pub fn near<S: Into<String>>(name: &str, all: impl Iterator<Item = S>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let rated = all.map(Into::into).map(|other: String| (alike(&wanted, &other.to_lowercase()), other));
    let mut rated: Vec<(f64, String)> = rated.filter(|(alike, _)| *alike >= ALIKE).collect();
    rated.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    rated.into_iter().take(MOST).map(|(_, other)| other).collect()
}

/// The similarity of a name to another one, or, with a lower weight, to its beginning.
fn alike(name: &str, other: &str) -> f64 {
    let beginning: String = other.chars().take(name.chars().count()).collect();
    // In short names, one wrong letter or two exchanged letters are a large part.
    let slip = if strsim::osa_distance(name, other) == 1 { 0.8 } else { 0.0 };
    strsim::jaro_winkler(name, other).max(0.95 * strsim::jaro_winkler(name, &beginning)).max(slip)
}

/// The question after the message about an unknown name, or nothing.
pub fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

/// The same, and the command that lists all names.
pub fn did_you_mean_of(near: &[String], command: &str) -> String {
    let end = if near.is_empty() { ";" } else { "" };
    format!("{}{end} `{command}` lists all", did_you_mean(near))
}
