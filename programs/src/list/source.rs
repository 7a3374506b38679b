//! The text of the kernels.

/// A function of this package as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its file in the package.
    pub file: &'static str,
    /// The line at which it begins, with its documentation, from 1.
    pub line: usize,
    /// The function, from its documentation to its end.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal),*) => {
        const FILES: &[(&str, &str)] = &[$((concat!("src/", $name, ".rs"), include_str!(concat!("../", $name, ".rs")))),*];
    };
}

files! {
    "attend", "convolution", "elementwise", "grouped", "indexed", "mlp", "norm", "permute", "product", "quantized", "random", "recurrent",
    "reduce", "rows", "sampling", "scan", "segmented", "split_k"
}

/// The public function of this name.
pub(super) fn source(function: &str) -> Option<Source> {
    FILES.iter().find_map(|&(file, text)| {
        let named = |next: char| format!("\npub fn {function}{next}");
        let named = text.find(&named('(')).or_else(|| text.find(&named('<')))?;
        // Documentation and attributes stand directly above it.
        let begin = text[..named].rfind("\n\n").map_or(0, |blank| blank + 2);
        let end = named + text[named..].find("\n}\n").map(|end| end + 2)?;
        let line = text[..begin].lines().count() + 1;
        Some(Source { file, line, text: &text[begin..end] })
    })
}
