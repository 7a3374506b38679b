//! Every variant of the errors has an input that provokes it, and its message has the operands and what would be accepted.

mod algorithm;
mod builder;
mod copies;
mod gemm;
mod sync;

use std::collections::BTreeSet;

use girih_codegen::Error;

/// The family of an error, the name of its variant, and its operands as text.
fn parts(error: &Error) -> (&'static str, &'static str, String) {
    match error {
        Error::Builder(error) => ("builder", error.kind(), format!("{error:?}")),
        Error::Sync(error) => ("sync", error.kind(), format!("{error:?}")),
        Error::Wgmma(error) => ("wgmma", error.kind(), format!("{error:?}")),
        Error::Algorithm(error) => ("algorithm", error.kind(), format!("{error:?}")),
        Error::Copy(error) => ("copy", error.kind(), format!("{error:?}")),
        Error::Gemm(error) => ("gemm", error.kind(), format!("{error:?}")),
        Error::Attention(error) => ("attention", error.kind(), format!("{error:?}")),
        other => panic!("{other}"),
    }
}

/// Checks that the errors are of one family and that all its variants are among them. Each number of the operands is in the message.
#[track_caller]
fn complete(family: &str, kinds: &[&'static str], provoked: impl IntoIterator<Item = Error>) {
    let mut missing: BTreeSet<&str> = kinds.iter().copied().collect();
    for error in provoked {
        let (of, kind, operands) = parts(&error);
        let message = error.to_string();
        assert_eq!(of, family, "{message}");
        missing.remove(kind);
        assert!(message.contains(" accepted"), "{kind}: {message}");
        let numbers = operands.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
        for number in numbers {
            assert!(message.contains(number), "{operands}: {number} is not in `{message}`");
        }
    }
    assert!(missing.is_empty(), "no input provokes {missing:?}");
}
