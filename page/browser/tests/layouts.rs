use crate::{Session, within};

const CARD: &str = "document.querySelector('#view-layouts .card')";
const FIELD: &str = "document.querySelector('#view-layouts .card input')";
const INFO: &str = "document.querySelector('#view-layouts .info').textContent";

fn answered(text: &str) -> String {
    format!("{CARD}?.dataset.answered === {text:?}")
}

#[test]
fn an_edit_is_answered_at_once() {
    let mut session = Session::at("layouts");
    session.browser.until(&format!("{CARD}?.dataset.answered"));
    session.pictures("layouts", "true");
    let values = ["composition((10,2):(16,4), (5,4):(1,5))", "zipped_divide((8,12):(12,1), <4,3>)"];
    let time = session.edit(
        FIELD,
        values,
        "document.querySelector('#view-layouts .card').dataset.answered === value",
    );
    within("an edited expression and its tables", time, 100.0);
    let large = ["(128,128):(128,1)", "Sw<3,4,3> o 0 o (128,128):(128,1)"];
    let time = session.edit(
        FIELD,
        large,
        "document.querySelector('#view-layouts .card').dataset.answered === value",
    );
    within("an edited expression of 128 x 128 and its table", time, 100.0);
    session.browser.until("decodeURIComponent(location.hash).includes('128,128')");
    session.end(&[]);
}

/// The script's time, and that until the pixels are there: reading one makes the browser draw all.
#[test]
fn a_layout_of_128_by_128_is_drawn_at_once() {
    let mut session = Session::at("layouts?e=(128,128):(128,1)");
    session.browser.until(&answered("(128,128):(128,1)"));
    let draw = "(async () => {
        const { Grid } = await import('/grid.js');
        const body = JSON.stringify({ expression: '(128,128):(128,1)' });
        const answer = await (await fetch('/api/layouts/evaluate', { method: 'POST', body })).json();
        const { table } = answer.panels[0];
        const times = [];
        for (let turn = 0; turn < 7; turn += 1) {
            const grid = new Grid({ label: 'measured' });
            document.body.append(grid.root);
            const start = performance.now();
            grid.draw({ ...table, words: table.values, size: SIZE });
            grid.base.getContext('2d').getImageData(0, 0, 1, 1);
            times.push(performance.now() - start);
            grid.root.remove();
        }
        return times.sort((a, b) => a - b)[3];
    })()";
    let time = session.browser.number(&draw.replace("SIZE", "7"));
    within("128 x 128 cells, as they fit the window", time, 50.0);
    let time = session.browser.number(&draw.replace("SIZE", "32"));
    println!("128 x 128 cells with the first of their 16384 numbers: {time:.1} ms");
    session.browser.shoot(&crate::pictures().join("layouts-128.png"));
    session.end(&[]);
}

#[test]
fn the_keyboard_says_of_a_cell_what_the_mouse_shows() {
    let mut session = Session::at("layouts?e=composition((10,2):(16,4),(5,4):(1,5))");
    session.browser.until(&format!("{CARD}?.dataset.answered"));
    session.browser.value("document.querySelectorAll('#view-layouts [role=grid]')[2].focus()");
    for key in ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"] {
        session.browser.press(key);
    }
    // R(1,3) = A(B(1,3)) = A(16) = 16 * 6 + 4.
    let said = session.browser.text(INFO);
    for part in
        ["C(1,3)", "hierarchical (1,(1,1))", "1-D 16", "index 100", "B(1,3) = 16", "A at 16 is A(6,1) = 100"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let active = "(() => { const grid = document.querySelectorAll('#view-layouts [role=grid]')[2]; return document.getElementById(grid.getAttribute('aria-activedescendant')).textContent })()";
    assert_eq!(session.browser.text(active), said);
    // The mouse at the same cell shows the same.
    session.browser.value("document.activeElement.blur()");
    let place = "(() => { const box = document.querySelectorAll('#view-layouts [role=grid] canvas')[4].getBoundingClientRect(); return JSON.stringify([box.left, box.top, box.width, box.height]) })()";
    let place: Vec<f64> = serde_json::from_str(&session.browser.text(place)).expect("a box");
    let (x, y) = (place[0] + place[2] * 0.88, place[1] + 17.0 + (place[3] - 17.0) * 0.3);
    session.browser.click(x, y);
    assert_eq!(session.browser.text(INFO), said);
    session.pictures("layouts-path", "true");
    session.end(&[]);
}

#[test]
fn a_refusal_has_a_caret_and_a_witness() {
    let text = "composition((4,2):(1,10), (2,2):(2,3))";
    let mut session = Session::at(&format!("layouts?e={text}"));
    session.browser.until(&answered(text));
    assert_eq!(session.browser.text("document.querySelector('#view-layouts .fault mark').textContent"), text);
    assert_eq!(session.browser.number("document.querySelectorAll('#view-layouts [role=grid]').length"), 2.0);
    assert_eq!(
        session
            .browser
            .text("document.querySelector('#view-layouts .card input').getAttribute('aria-invalid')"),
        "true"
    );
    session.pictures("layouts-refused", "true");
    // The answer to a refused request is one that the browser's console notes.
    session.end(&["422"]);
}

#[test]
fn a_caret_is_below_its_place_in_a_long_expression() {
    let text = format!("{}4:1{}, 7)", "coalesce(".repeat(30), ")".repeat(30));
    let mut session = Session::at(&format!("layouts?e={text}"));
    session.browser.until("document.querySelector('#view-layouts .fault')");
    let shown = session.browser.text("document.querySelector('#view-layouts .fault').textContent");
    let lines: Vec<&str> = shown.lines().collect();
    let [line, caret] = lines[lines.len() - 2..] else { panic!("{shown}") };
    assert!(line.chars().count() < 90, "{shown}");
    let at = caret.chars().position(|c| c == '^').expect("a caret");
    assert_eq!(line.chars().nth(at), Some(','), "{shown}");
    session.end(&["422"]);
}

#[test]
fn back_goes_to_the_example_before() {
    let mut session = Session::at("layouts?e=(4,8):(8,1)");
    session.browser.until(&answered("(4,8):(8,1)"));
    let choose = "(() => { const examples = document.querySelector('#view-layouts select'); examples.value = '1'; examples.dispatchEvent(new Event('change')) })()";
    session.browser.value(choose);
    session.browser.until(&format!("{CARD}?.dataset.answered.startsWith('composition')"));
    session.browser.until("location.hash.includes('composition')");
    // What is shown already is no place of its own on the way back.
    session.browser.value(choose);
    session.browser.value("history.back()");
    session.browser.until(&answered("(4,8):(8,1)"));
    session.end(&[]);
}

#[test]
fn a_line_whose_length_is_prime_is_a_table() {
    let mut session = Session::at("layouts?e=65521:3");
    session.browser.until(&answered("65521:3"));
    let wide = "document.querySelector('#view-layouts canvas').offsetWidth";
    assert!(session.browser.number(wide) < 1600.0);
    session.end(&[]);
}

#[test]
fn a_link_shows_several_expressions() {
    let mut session = Session::at(
        "layouts?e=zipped_divide((8,12):(12,1),<4,3>)&e=((4,8),(2,2)):((32,1),(16,8))&tile=(16,8)&by=mode",
    );
    session.browser.until("document.querySelectorAll('#view-layouts [data-answered]').length === 2");
    assert_eq!(session.browser.number("document.querySelectorAll('#view-layouts [role=grid]').length"), 4.0);
    session.pictures("layouts-several", "true");
    session.end(&[]);
}
