//! Every public item of the layouts has an example, as in girih-layout.

const SOURCES: &str = "src/layouts";

#[path = "../../layout/tests/examples.rs"]
mod layout;
