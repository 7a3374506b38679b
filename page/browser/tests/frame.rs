use crate::Session;

/// Fields, buttons and grids have names, which screen readers say.
const NAMELESS: &str = "[...document.querySelectorAll('input, select, textarea, button, [role=grid]')].filter((one) => {
    const label = one.labels?.length ? [...one.labels].map((label) => label.textContent).join('') : '';
    return !(label.trim() || one.getAttribute('aria-label') || (one.tagName === 'BUTTON' && one.textContent.trim()));
}).map((one) => one.outerHTML)";

/// Texts whose contrast with their ground is less than 4.5, as WCAG 2 counts it.
const FAINT: &str = "(() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    const ground = (one) => {
        for (; one; one = one.parentElement) {
            const colour = parts(getComputedStyle(one).backgroundColor);
            if ((colour[3] ?? 1) > 0) return colour;
        }
        return [255, 255, 255];
    };
    const texts = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return texts.filter((one) => {
        const [a, b] = [luminance(parts(getComputedStyle(one).color)), luminance(ground(one))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((one) => one.outerHTML);
})()";

#[test]
fn texts_are_legible_in_light_and_dark() {
    let mut session = Session::at("");
    for fragment in [
        "layouts?e=composition((4,2):(1,10), (2,2):(2,3))",
        "partitions?what=banks",
        "kernels?k=sum_race&w=0&s=27",
        "kernels?k=ring&w=1&s=60",
        "tiles?p=transpose_f32_64x64",
    ] {
        session.open(fragment);
        session
            .browser
            .until("document.querySelector('[role=tabpanel]:not([hidden]) canvas')?.offsetWidth > 0");
        for dark in [false, true] {
            session.browser.looks(1000, 800, 1, dark);
            assert_eq!(session.browser.value(FAINT), serde_json::json!([]), "{fragment}, dark: {dark}");
        }
    }
    session.end(&["422"]);
}

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
