//! Names that are meant where an unknown name is given.

/// The most names that are suggested.
const MOST: usize = 3;
/// Names that are less alike than this are not suggested, 1 being the same.
const ALIKE: f64 = 0.75;

/// The names of `all` that are most like `name`, the likest first.
pub(crate) fn near<S: Into<String>>(name: &str, all: impl Iterator<Item = S>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let rated = all
        .map(Into::into)
        .map(|other: String| (strsim::jaro_winkler(&wanted, &other.to_lowercase()), other));
    let mut rated: Vec<(f64, String)> = rated.filter(|(alike, _)| *alike >= ALIKE).collect();
    rated.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    rated.into_iter().take(MOST).map(|(_, other)| other).collect()
}

/// The question after the message about an unknown name, or nothing.
pub(crate) fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}
