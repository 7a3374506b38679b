use crate::Session;

#[test]
fn the_view_loads() {
    let mut session = Session::at("tiles");
    session.browser.until("document.querySelector('#view-tiles')?.dataset.program ?? document.querySelector('#view-tiles [data-program]')");
    session.pictures("tiles", "true");
    session.end(&[]);
}
