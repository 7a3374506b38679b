use crate::Session;

#[test]
fn the_view_loads() {
    let mut session = Session::at("kernels");
    session.browser.until("document.querySelector('#view-kernels')?.dataset.step ?? document.querySelector('#view-kernels [data-step]')");
    session.pictures("kernels", "true");
    session.end(&[]);
}
