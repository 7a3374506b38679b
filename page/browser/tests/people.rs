//! What people have met with the page: small windows, coarse screens, colours, names.

use std::collections::BTreeSet;
use std::{env, fs};

use serde_json::json;

use crate::{Session, WINDOWS};

/// Every view, with what says that it is there.
const VIEWS: [(&str, &str); 8] = [
    ("layouts?e=composition((10,2):(16,4),(5,4):(1,5))", "canvas"),
    ("partitions", "canvas"),
    ("partitions?what=tiled", "canvas"),
    ("partitions?what=banks", "canvas"),
    ("kernels?k=sum_race&w=0&s=21", ".line[aria-current]"),
    ("kernels?k=gemm_sm90_bf16&w=4&s=200", ".line[aria-current]"),
    ("tiles?p=transpose_f32_64x64", "canvas"),
    ("kernels?k=own", ".outcome p"),
];

fn shown(session: &mut Session, (fragment, ready): (&str, &str)) {
    session.open(fragment);
    session.browser.until(&format!("document.querySelector('[role=tabpanel]:not([hidden]) {ready}')"));
}

#[test]
fn no_view_is_wider_than_the_window() {
    let mut session = Session::at("");
    for view in VIEWS {
        shown(&mut session, view);
        let name: String =
            view.0.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
        session.pictures(&format!("people-{name}"), "true");
    }
    session.end(&["422"]);
}

/// The rules of axe-core, where `GIRIH_AXE` names its script.
#[test]
fn axe_finds_nothing() {
    let Some(script) = env::var_os("GIRIH_AXE") else {
        println!("skipped: GIRIH_AXE does not name axe.min.js of axe-core");
        return;
    };
    let script = fs::read_to_string(script).expect("axe.min.js");
    let mut session = Session::at("");
    session.browser.call("Page.setBypassCSP", json!({ "enabled": true }));
    for view in VIEWS {
        for (width, height) in WINDOWS {
            for dark in [false, true] {
                session.browser.looks(width, height, 1, dark);
                shown(&mut session, view);
                session.browser.value(&format!("{script}; 1"));
                let found = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))";
                assert_eq!(session.browser.value(found), json!([]), "{} at {width}, dark: {dark}", view.0);
            }
        }
    }
    session.end(&["422"]);
}

/// An underscore changes what a field looks like.
#[test]
fn underscores_are_seen_in_fields() {
    let mut session = Session::at("partitions");
    session.browser.until("document.querySelector('#view-partitions canvas')");
    for (width, height) in WINDOWS {
        for (ratio, dark) in [(1, false), (1, true), (2, false), (2, true)] {
            session.browser.looks(width, height, ratio, dark);
            let field = "document.querySelector('#view-partitions input[list=mmas]')";
            let [with, without] = ["A_B", "A B"].map(|text| {
                session.browser.value(&format!("{field}.value = {text:?}"));
                session.browser.picture(Some(field))
            });
            assert!(with != without, "at {width}, {ratio}x, dark: {dark}");
        }
    }
    session.end(&[]);
}

/// Texts on canvases are as large as people read, or not there.
#[test]
fn no_label_is_smaller_than_ten_pixels() {
    let mut session = Session::at("");
    let watch = "window.least = Infinity; const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (...all) {
            window.least = Math.min(window.least, parseFloat(this.font));
            window.drawn = (window.drawn ?? 0) + 1;
            return fillText.apply(this, all);
        };";
    session.browser.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": watch }));
    for (width, height) in WINDOWS {
        session.browser.looks(width, height, 1, false);
        for view in VIEWS.into_iter().filter(|(fragment, _)| *fragment != "kernels?k=own") {
            shown(&mut session, view);
            session.browser.until("window.drawn > 0");
            session.browser.value("new Promise((done) => setTimeout(() => done(1), 300))");
            let least = session.browser.number("window.least");
            assert!(least >= 10.0, "{} at {width}: {least}", view.0);
        }
    }
    session.end(&[]);
}

#[test]
fn buttons_that_do_different_things_have_different_names() {
    let mut session = Session::at("");
    for view in VIEWS {
        shown(&mut session, view);
        let names = session.browser.value(
            "[...document.querySelectorAll('[role=tabpanel]:not([hidden]) button')].filter((one) => one.checkVisibility()).map((one) => one.getAttribute('aria-label') ?? one.textContent)",
        );
        let names: Vec<String> = serde_json::from_value(names).expect("names");
        let different: BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{}: {names:?}", view.0);
    }
    session.end(&[]);
}

/// A picture is an SVG that a browser reads, with the cells and the words that are shown.
#[test]
fn pictures_are_saved_as_svg() {
    let mut session = Session::at("layouts?e=(4,8):(8,1)");
    session.browser.until("document.querySelector('#view-layouts canvas')?.offsetWidth > 0");
    session
        .browser
        .value("URL.createObjectURL = (file) => { window.saved = file.text(); return 'data:,' }; 1");
    session.browser.value("document.querySelector('#view-layouts button.save').click()");
    let texts = "window.saved.then((text) => { const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml'); return [documentElement.tagName, ...documentElement.querySelectorAll('text')].map((one) => one.textContent ?? one) })";
    let texts: Vec<String> = serde_json::from_value(session.browser.value(texts)).expect("texts");
    assert_eq!(texts[0], "svg");
    for number in 0..32 {
        assert!(texts.contains(&number.to_string()), "{number}: {texts:?}");
    }
    session.end(&[]);
}

/// The text is not cut, and is there with the registers, in any window.
#[test]
fn ptx_and_registers_are_there_in_any_window() {
    let mut session = Session::at("kernels?k=gemm_sm90_bf16&w=4&s=200");
    session.browser.until("document.querySelector('#view-kernels .line[aria-current]')");
    for (width, height) in WINDOWS {
        session.browser.looks(width, height, 1, false);
        session.browser.value("new Promise((done) => setTimeout(() => done(1), 200))");
        let cut = "(() => { const { left, right } = document.querySelector('#view-kernels .listing').getBoundingClientRect(); return [...document.querySelectorAll('#view-kernels .listing code')].filter((one) => one.textContent).filter((one) => { const range = document.createRange(); range.selectNodeContents(one); const box = range.getBoundingClientRect(); return box.right > right + 1 || box.left < left; }).length })()";
        assert_eq!(session.browser.number(cut), 0.0, "at {width}");
        let wide = session
            .browser
            .number("document.querySelector('#view-kernels .line[aria-current] code').clientWidth");
        assert!(wide > 270.0, "{wide} pixels of text at {width}");
        let value = "document.querySelector('#view-kernels .register:not([hidden]) [role=cell]:last-child').getBoundingClientRect().width";
        assert!(session.browser.number(value) > 100.0, "registers at {width}");
        // Beside a state that is longer than the window, the text stays.
        session.browser.value("scrollTo(0, document.documentElement.scrollHeight); 1");
        let (top, bottom) =
            ("document.querySelector('#view-kernels .listing').getBoundingClientRect().top", height);
        let top = session.browser.number(top);
        assert!(width < 1280 || (top > -1.0 && top < f64::from(bottom) / 2.0), "{top}");
        session.browser.value("scrollTo(0, 0); 1");
    }
    // Where PTX comes from another language, its lines are beside it.
    assert!(
        session.browser.number("document.querySelectorAll('#view-kernels .listing .source').length") > 10.0
    );
    let now = session.browser.text("document.querySelector('#view-kernels .now').textContent");
    assert!(now.contains(".rs:"), "{now}");
    session.end(&[]);
}

/// A finding, a register, the map and the lanes give a place one number.
#[test]
fn a_place_has_one_number() {
    let mut session = Session::at("kernels?k=sum_race&w=0&s=21");
    session.browser.until("document.querySelector('#view-kernels')?.dataset.step === '0:21'");
    let text = |session: &mut Session, selector: &str| {
        session.browser.text(&format!("document.querySelector('#view-kernels {selector}').textContent"))
    };
    assert!(text(&mut session, ".findings").contains("shared address 0x440"));
    assert!(text(&mut session, ".memory figcaption").contains("from address 0x400 (1024)"));
    let accessed = text(&mut session, ".accessed summary");
    assert!(accessed.contains("lane 0 0x400 (1024) … lane 31 0x47c (1148)"), "{accessed}");
    let registers = text(&mut session, ".registers");
    assert!(registers.contains("1024 (0x400)") && registers.contains("1024, 1028, ..., 1148"), "{registers}");
    // The racing word says so, and its value and its lane.
    session.browser.value("document.querySelector('#view-kernels .memory [role=grid]').focus()");
    for _ in 0..16 {
        session.browser.press("ArrowRight");
    }
    let said = text(&mut session, ".memory .pointed");
    assert!(said.starts_with("0x440: ") && said.contains("(f32)"), "{said}");
    assert!(said.contains("written by lane 16") && said.contains("a finding is about it"), "{said}");
    // The result is in global memory at the end.
    session.browser.press("End");
    let total = "[...document.querySelectorAll('#view-kernels .memory')].at(-1)";
    session.browser.value("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true, cancelable: true }))");
    session
        .browser
        .until(&format!("/: -?\\d+\\.\\d+ \\(f32\\)/.test({total}.querySelector('.pointed').textContent)"));
    assert!(session.browser.text(&format!("{total}.textContent")).contains("Argument 1 (total)"));
    session.end(&[]);
}

#[test]
fn a_part_of_memory_is_a_matrix() {
    let mut session = Session::at("kernels?k=sum&w=0&s=7");
    session.browser.until("document.querySelector('#view-kernels .memory')");
    let part = |session: &mut Session, text: &str| {
        session.browser.value(&format!("(() => {{ const field = document.querySelector('#view-kernels .memory input'); field.value = {text:?}; field.dispatchEvent(new Event('input')) }})()"));
        session.browser.value("new Promise((done) => setTimeout(() => done(1), 100))");
        session.browser.text("document.querySelector('#view-kernels .memory .scroll').innerText")
    };
    assert_eq!(part(&mut session, "0:4x8").lines().count(), 4);
    for (text, said) in [("0:8x8:f32", "OFFSET:ROWSxCOLUMNS"), ("0:8x32", "512 bytes"), ("0:0x4", "OFFSET")] {
        let shown = part(&mut session, text);
        assert!(shown.contains(said), "{text}: {shown}");
        assert_eq!(
            session
                .browser
                .text("document.querySelector('#view-kernels .memory input').getAttribute('aria-invalid')"),
            "true"
        );
    }
    session.end(&[]);
}

/// Numbers are read from bytes as IEEE 754 has them, and written as short as they stay the same.
#[test]
fn numbers_are_those_of_their_bytes() {
    let mut session = Session::at("");
    for (bytes, ty, text) in [
        ("[0, 60]", "f16", "1"),
        ("[1, 0]", "f16", "5.960464477539063e-8"),
        ("[0, 252]", "f16", "-Infinity"),
        ("[128, 63]", "bf16", "1"),
        ("[205, 204, 204, 61]", "f32", "0.1"),
        ("[0, 0, 0, 128]", "f32", "-0"),
        ("[119]", "e4m3", "240"),
        ("[127]", "e4m3", "NaN"),
        ("[124]", "e5m2", "Infinity"),
        ("[255, 255, 255, 255]", "s32", "-1"),
        ("[255, 255, 255, 255, 255, 255, 255, 255]", "u64", "18446744073709551615"),
    ] {
        let value = format!(
            "import('/numbers.js').then(({{ number }}) => number(new DataView(Uint8Array.of(...{bytes}).buffer), 0, {ty:?}))"
        );
        let found = session.browser.text(&value);
        let same = found == text
            || found
                .parse::<f64>()
                .ok()
                .zip(text.parse::<f64>().ok())
                .is_some_and(|(a, b)| (a as f32).to_bits() == (b as f32).to_bits());
        assert!(same, "{bytes} as {ty}: {found}");
    }
    let lanes = "import('/numbers.js').then(({ lanesOf }) => [lanesOf('5, 7, ..., 67')[31], lanesOf('0x10, 0x14, ..., 0x8c')[2], lanesOf('1.5')[9], lanesOf(Array.from({ length: 32 }, (_, i) => i * i).join(' '))[5]])";
    assert_eq!(session.browser.value(lanes), json!(["67", "0x18", "1.5", "25"]));
    session.end(&[]);
}

#[test]
fn an_unknown_kernel_has_near_names_and_no_text_is_no_error() {
    let mut session = Session::at("kernels?k=sum_rac");
    session.browser.until(
        "document.querySelector('#view-kernels .fault')?.textContent.includes('did you mean sum_race')",
    );
    // The address stays what it was.
    session.browser.until("location.hash === '#kernels?k=sum_rac&w=0&s=0'");
    session.open("kernels?k=own");
    session
        .browser
        .until("document.querySelector('#view-kernels .outcome')?.textContent.includes('paste PTX')");
    assert_eq!(session.browser.number("document.querySelectorAll('#view-kernels .fault').length"), 0.0);
    session.end(&["422"]);
}
