use crate::Session;

/// Fields, buttons and grids have names, which screen readers say.
const NAMELESS: &str = "[...document.querySelectorAll('input, select, textarea, button, [role=grid]')].filter((one) => {
    const label = one.labels?.length ? [...one.labels].map((label) => label.textContent).join('') : '';
    return !(label.trim() || one.getAttribute('aria-label') || (one.tagName === 'BUTTON' && one.textContent.trim()));
}).map((one) => one.outerHTML)";

#[test]
fn every_view_is_a_tab_and_everything_in_it_has_a_name() {
    let mut session = Session::at("");
    let names =
        session.browser.value("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)");
    assert_eq!(names, serde_json::json!(["Layouts", "Partitions", "Kernels", "Tile kernels"]));
    for tab in 0..4 {
        session.browser.value(&format!("document.querySelectorAll('[role=tab]')[{tab}].click()"));
        session.browser.until(&format!("document.querySelectorAll('[role=tab]')[{tab}].getAttribute('aria-selected') === 'true' && !document.querySelectorAll('[role=tabpanel]')[{tab}].hidden"));
        session.browser.until(
            "[...document.querySelectorAll('[role=tabpanel]')].filter((panel) => !panel.hidden).length === 1",
        );
        session.browser.until("document.querySelector('[role=tabpanel]:not([hidden])').querySelectorAll('input, select').length");
        assert_eq!(session.browser.value(NAMELESS), serde_json::json!([]), "tab {tab}");
    }
    session.end(&[]);
}

/// Whatever an address says, a view is there.
#[test]
fn addresses_that_nobody_has_written_show_a_view() {
    let mut session = Session::at("");
    for fragment in [
        "toString",
        "main",
        "partitions?what=constructor&thread=-1",
        "layouts?by=x&level=x&dtype=x",
        "kernels?k=x&w=x&s=-1&b=x&seed=x&z=x",
        "tiles?p=x&sm=1&v=x",
    ] {
        session.open(fragment);
        session.browser.until("document.querySelector('[role=tabpanel]:not([hidden]) :is(canvas, .fault)')");
    }
    session.end(&["422"]);
}

#[test]
fn arrow_keys_go_through_tabs_and_back_to_what_was_left() {
    let mut session = Session::at("layouts?e=%284%2C8%29%3A%288%2C1%29");
    session.browser.until("document.querySelector('[data-answered]')");
    session.browser.value("document.querySelector('[role=tab][aria-selected=true]').focus()");
    session.browser.press("ArrowRight");
    session.browser.until("location.hash.startsWith('#partitions')");
    assert_eq!(session.browser.text("document.activeElement.textContent"), "Partitions");
    session.browser.press("ArrowLeft");
    session.browser.until("location.hash.startsWith('#layouts')");
    session.browser.until("document.querySelector('#view-layouts .card input')?.value === '(4,8):(8,1)'");
    session.end(&[]);
}
