use serde_json::json;

use crate::{Session, within};

/// The step that is shown: warp and step.
const STEP: &str = "document.querySelector('#view-kernels')?.dataset.step";
const LINE: &str = "document.querySelector('#view-kernels .line[aria-current] span').textContent";

fn at(kernel: &str, step: &str) -> Session {
    let (warp, nth) = step.split_once(':').expect("warp and step");
    let mut session = Session::at(&format!("kernels?k={kernel}&w={warp}&s={nth}"));
    session.browser.until(&format!("{STEP} === {step:?}"));
    session
}

/// The milliseconds from a key to the next step in the document and its place there: the lower quartile of 31, so that what else runs on
/// the machine counts little. The median is printed.
fn stepped(session: &mut Session) -> f64 {
    let times = session.browser.value(&format!(
        "(async () => {{
            const times = [];
            const {{ port1, port2 }} = new MessageChannel();
            const soon = () => new Promise((done) => {{ port1.onmessage = done; port2.postMessage(0); }});
            for (let turn = 0; turn < 31; turn += 1) {{
                const [before, start] = [{STEP}, performance.now()];
                document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight', bubbles: true, cancelable: true }}));
                while ({STEP} === before) await soon();
                document.querySelector('#view-kernels .registers').getBoundingClientRect();
                times.push(performance.now() - start);
            }}
            return times.sort((a, b) => a - b);
        }})()"
    ));
    let times: Vec<f64> = serde_json::from_value(times).expect("times");
    println!("a step: the median is {:.1} ms", times[15]);
    times[7]
}

#[test]
fn a_race_leads_to_both_places_and_goes_with_its_barrier() {
    let mut session = at("sum_race", "1:20");
    session.pictures("kernels-race", "true");
    let places = session.browser.value(
        "[...document.querySelectorAll('#view-kernels .findings button')].map((place) => place.textContent)",
    );
    let places: Vec<String> = serde_json::from_value(places).expect("texts");
    assert_eq!(places.len(), 2, "{places:?}");
    for (nth, place) in places.iter().enumerate() {
        session
            .browser
            .value(&format!("document.querySelectorAll('#view-kernels .findings button')[{nth}].click()"));
        let line = place.split_once("line ").and_then(|(_, rest)| rest.split_once(',')).expect("a line").0;
        session.browser.until(&format!("{LINE} === {line:?}"));
    }
    session.browser.until("location.hash.includes('k=sum_race')");
    // The missing barrier, typed in and taken out again.
    let field = "document.querySelector('#view-kernels textarea')";
    let text = session.browser.text(&format!("{field}.value"));
    let mended = text.replace("TURN:\n", "TURN:\n  bar.sync 0;\n");
    assert_ne!(text, mended);
    let ready =
        "(document.querySelector('#view-kernels .passed') !== null) === value.includes('TURN:\\n  bar.sync')";
    within("an edited kernel, run and judged", session.edit(field, [&mended, &text], ready), 100.0);
    session.end(&[]);
}

#[test]
fn keys_step_and_say_where() {
    let mut session = at("ring", "1:40");
    for (key, step) in [("ArrowRight", "1:41"), ("ArrowLeft", "1:40"), ("Home", "1:0"), ("ArrowRight", "1:1")]
    {
        session.browser.press(key);
        session.browser.until(&format!("{STEP} === {step:?}"));
    }
    let key = |session: &mut Session, key: &str, shift: bool, step: &str| {
        session.browser.value(&format!(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: {key:?}, shiftKey: {shift}, bubbles: true, cancelable: true }}))"
        ));
        session.browser.until(&format!("{STEP}.startsWith({step:?})"));
    };
    // The other warp where it is at this time, and back; then ten steps.
    key(&mut session, "w", false, "0:");
    key(&mut session, "w", false, "1:");
    session.browser.press("Home");
    session.browser.until(&format!("{STEP} === '1:0'"));
    key(&mut session, "ArrowRight", false, "1:1");
    key(&mut session, "ArrowRight", true, "1:11");
    let said = session.browser.text("document.getElementById('said').textContent");
    let line = session.browser.text(LINE);
    assert!(said.starts_with("warp 1, step 12, ") && said.contains(&format!("line {line}")), "{said}");
    // Arrows in a field are the field's.
    session.browser.value("document.querySelector('#view-kernels input[type=number]').focus()");
    session.browser.press("ArrowUp");
    session.browser.until("location.hash.includes('seed=1')");
    session.pictures("kernels-ring", "true");
    session.end(&[]);
}

#[test]
fn a_click_on_the_timeline_or_on_a_line_goes_there() {
    let mut session = at("gemm_sm90_bf16", "4:200");
    session.pictures("kernels-gemm", "true");
    within("a step of a GEMM's warp", stepped(&mut session), 20.0);
    let place = "(() => { const box = document.querySelector('#view-kernels .timeline canvas').getBoundingClientRect(); return [box.left, box.top, box.width] })()";
    session.browser.value("document.querySelector('#view-kernels .timeline').scrollIntoView()");
    let place: Vec<f64> = serde_json::from_value(session.browser.value(place)).expect("a place");
    // The row of warp 8.
    session.browser.click(place[0] + place[2] * 0.6, place[1] + 16.0 + 18.0 * 8.5);
    session.browser.until(&format!("{STEP}.startsWith('8:') && {STEP} !== '8:0'"));
    let line = "[...document.querySelectorAll('#view-kernels .line.code')].find((line) => line.textContent.includes('wgmma.mma_async'))";
    session.browser.value(&format!("{line}.click()"));
    session.browser.until(&format!("{LINE} === {line}.firstChild.textContent"));
    // The keyboard goes to a line too.
    let number = format!("{line}.firstChild.textContent");
    let field = "document.querySelector('#view-kernels [aria-label=\"To line\"]')";
    session.browser.press("Home");
    session.browser.until(&format!("{STEP} === '8:0'"));
    session.browser.value(&format!("(() => {{ const field = {field}; field.value = {number}; field.dispatchEvent(new Event('change')) }})()"));
    session.browser.until(&format!("{LINE} === {number}"));
    // Registers open to lanes.
    session
        .browser
        .value("document.querySelector('#view-kernels .chunk .register:not([hidden]) button').click()");
    session.browser.until("document.querySelectorAll('#view-kernels .lanes li').length === 32");
    session.end(&[]);
}

#[test]
fn steps_of_many_registers_are_as_fast() {
    let mut session = at("attention_sm90_bf16", "4:600");
    within("a step of attention's warp, of 2000 registers", stepped(&mut session), 20.0);
    session.end(&[]);
}

#[test]
fn what_cannot_be_run_says_so_at_its_field() {
    let mut session = at("saxpy", "0:0");
    let set = |session: &mut Session, nth: usize, text: &str| {
        session.browser.value(&format!(
            "(() => {{ const field = document.querySelectorAll('#view-kernels textarea')[{nth}]; field.value = {text:?}; field.dispatchEvent(new Event('input', {{ bubbles: true }})) }})()"
        ));
    };
    set(&mut session, 1, "saxpy --grid 2 --block 64 --arg in:x.npy");
    session.browser.until("document.querySelector('#view-kernels .fault')?.textContent.includes('no files')");
    let invalid = "[...document.querySelectorAll('#view-kernels textarea')].map((field) => field.getAttribute('aria-invalid'))";
    assert_eq!(session.browser.value(invalid), json!([null, "true"]));
    // What is no number is said before the program is asked.
    session.browser.value("(() => { const kernel = document.querySelector('#view-kernels select'); kernel.value = 'transpose_f32'; kernel.dispatchEvent(new Event('change')) })()");
    session.browser.until(
        "location.hash.includes('transpose_f32') && document.querySelector('#view-kernels .fault') === null",
    );
    let sizes = "[...document.querySelectorAll('#view-kernels label')].find((label) => label.textContent.startsWith('Sizes')).control";
    session.browser.value(&format!(
        "(() => {{ const sizes = {sizes}; sizes.value = '64xa'; sizes.dispatchEvent(new Event('input')) }})()"
    ));
    session.browser.until("document.querySelector('#view-kernels .fault')?.textContent.includes('m x n')");
    assert_eq!(session.browser.text(&format!("{sizes}.getAttribute('aria-invalid')")), "true");
    // Back goes to the kernel before.
    session.browser.value("history.back()");
    session.browser.until("document.querySelector('#view-kernels .fault')?.textContent.includes('no files')");
    set(&mut session, 0, "frob");
    session.browser.until(
        "document.querySelectorAll('#view-kernels textarea')[0].getAttribute('aria-invalid') === 'true'",
    );
    session.end(&["422"]);
}
