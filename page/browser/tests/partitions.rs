use crate::{Session, within};

const ANSWERED: &str = "document.querySelector('#view-partitions [data-answered]')";

#[test]
fn a_thread_is_followed_through_a_b_and_c() {
    let mut session = Session::at("partitions");
    session.browser.until(ANSWERED);
    // The first cell of C is thread 0's.
    session.browser.value("document.querySelectorAll('#view-partitions [role=grid]')[2].focus()");
    session.browser.press("ArrowRight");
    session.browser.press("ArrowRight");
    session.browser.press("Enter");
    session.browser.until("location.hash.includes('thread=1')");
    let said = session.browser.text("document.querySelector('#view-partitions .info').textContent");
    assert!(said.contains("Thread 1") && said.contains("C: V0 (0,2) V1 (0,3) V2 (8,2) V3 (8,3)"), "{said}");
    session.pictures("partitions", "true");
    let field = "document.querySelector('#view-partitions input[list=mmas]')";
    let names = ["SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x8_F32BF16BF16F32_TN"];
    let ready = "document.querySelector('#view-partitions h2').textContent === value";
    within("another atom", session.edit(field, names, ready), 100.0);
    session.end(&[]);
}

#[test]
fn a_swizzle_is_moved_and_planned() {
    let mut session = Session::at("partitions?what=banks");
    session.browser.until(ANSWERED);
    let counts = "document.querySelector('#view-partitions .counts b').textContent";
    assert_eq!(session.browser.text(counts), "32 wavefronts");
    let field = "document.querySelector('#view-partitions input[type=range]')";
    let ready = "JSON.parse(document.querySelector('#view-partitions [data-answered]').dataset.answered).bits === Number(value)";
    within("a slider of the swizzle", session.edit(field, ["1", "2"], ready), 100.0);
    session.browser.value("document.querySelector('#view-partitions button.main').click()");
    session.browser.until(&format!("{counts} === '4 wavefronts'"));
    session.pictures("partitions-banks", "true");
    session.end(&[]);
}
