use crate::{Session, within};

const PROGRAM: &str = "document.querySelector('#view-tiles')?.dataset.program";

fn at(fragment: &str, program: &str) -> Session {
    let mut session = Session::at(fragment);
    session.browser.until(&format!("{PROGRAM} === {program:?}"));
    session
}

#[test]
fn a_program_stands_beside_what_becomes_of_it() {
    let mut session = at("tiles?p=transpose_f32_64x64", "transpose_f32_64x64");
    session.browser.until("document.querySelector('#view-tiles [role=grid]')?.offsetParent");
    let source = session.browser.text("document.querySelector('#view-tiles pre.code').textContent");
    assert!(source.contains("pub fn transpose"), "{source}");
    // The conversion is marked, and its layout is another than that of its operand.
    let converts = "[...document.querySelectorAll('#view-tiles .ir .converts')]";
    assert_eq!(session.browser.number(&format!("{converts}.length")), 1.0);
    let caption = "document.querySelector('#view-tiles figcaption').textContent";
    let first = session.browser.text(caption);
    session.browser.value("document.querySelectorAll('#view-tiles .ir button.tile')[1].click()");
    session.browser.until(&format!("{caption} !== {first:?}"));
    session.browser.until("location.hash.includes('v=')");
    session.pictures("tiles", "true");
    session.end(&[]);
}

#[test]
fn the_keyboard_says_who_holds_an_element() {
    let mut session = at("tiles", "softmax_bf16_16x1024");
    session.browser.until("document.querySelector('#view-tiles [role=grid]')?.offsetParent");
    session.browser.value("document.querySelector('#view-tiles [role=grid]').focus()");
    for key in ["ArrowRight", "ArrowDown"] {
        session.browser.press(key);
    }
    // 8 elements of a row are in a thread, and a row in a warp.
    let said = session.browser.text("document.querySelector('#view-tiles figure [role=status]').textContent");
    assert_eq!(said, "(1,1): value 1 of thread 32 (warp 1, lane 0)");
    session.end(&[]);
}

#[test]
fn an_edited_program_is_explained_at_once() {
    let mut session = at("tiles?p=transpose_f32_64x64", "transpose_f32_64x64");
    session.browser.value("document.querySelector('#view-tiles details').open = true");
    let field = "document.querySelector('#view-tiles textarea')";
    session.browser.until(&format!("{field}.value.includes('permute')"));
    let text = session.browser.text(&format!("{field}.value"));
    let other = text.replace("kernel transpose(", "kernel turned(");
    assert_ne!(text, other);
    let ready = "value.startsWith(document.querySelector('#view-tiles .ir code').textContent)";
    within("an edited program over tiles", session.edit(field, [&other, &text], ready), 100.0);
    session.end(&[]);
}
