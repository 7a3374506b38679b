use girih_page::{Fault, call};
use serde_json::Value;

fn refused(view: &str, name: &str, body: &str) -> Fault {
    call(view, name, body.as_bytes()).unwrap_err()
}

#[test]
fn unknown_views_and_calls_name_those_that_are() {
    let fault = refused("layout", "evaluate", "{}");
    assert_eq!(fault.kind, "no_view");
    assert!(fault.message.contains("layouts"), "{fault:?}");
    let fault = refused("layouts", "eval", "{}");
    assert_eq!(fault.kind, "no_call");
    assert!(fault.message.contains("evaluate"), "{fault:?}");
}

#[test]
fn requests_that_are_malformed_say_what_is_missing_or_unknown() {
    for (body, said) in [
        ("", "EOF"),
        ("[]", "invalid length 0"),
        ("{}", "missing field `expression`"),
        (r#"{"expression": 3}"#, "expected a string"),
        (r#"{"expression": "4:1", "colour": "red"}"#, "unknown field `colour`"),
        ("\u{1}", "line 1"),
    ] {
        let fault = refused("layouts", "evaluate", body);
        assert_eq!(fault.kind, "request", "{body}");
        assert!(fault.message.contains(said), "{body}: {fault:?}");
    }
}

#[test]
fn palettes_are_colours_that_differ() {
    let palettes: Value = serde_json::from_str(&call("colours", "palettes", b"{}").unwrap()).unwrap();
    for name in ["numbers", "threads"] {
        let fills = palettes[name].as_array().unwrap();
        let mut texts: Vec<&str> = fills.iter().map(|fill| fill.as_str().unwrap()).collect();
        assert!(texts.iter().all(|fill| fill.len() == 7 && fill.starts_with('#')), "{texts:?}");
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), fills.len(), "{name}");
    }
}
