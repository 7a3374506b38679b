//! Any text: what parses prints as what parses to the same tree, and no check of it panics.

use girih_ptx::Module;

/// Panics where the text shows a defect.
pub(crate) fn run(text: &str) {
    let Ok(module) = Module::parse(text) else { return };
    let printed = module.to_string();
    assert_eq!(Module::parse(&printed).as_ref(), Ok(&module), "{printed}");
    let _ = (module.kernels(), module.verify(), module.required_version(), module.required_target());
}
