//! The hand-written kernels of `testdata/`: what is printed parses to the same tree.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_ptx::Module;

fn files() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ptx"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn print_and_parse_is_the_identity() {
    let files = files();
    assert_eq!(files.len(), 10);
    for (path, text) in files {
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let printed = module.to_string();
        let again = Module::parse(&printed).unwrap_or_else(|error| panic!("{path}, printed: {error}"));
        assert_eq!(again, module, "{path}");
        assert_eq!(again.to_string(), printed, "{path}");
    }
}

#[test]
fn every_kernel_verifies_and_no_lower_version_will_do() {
    for (path, text) in files() {
        let mut module = Module::parse(&text).unwrap();
        module.verify().unwrap_or_else(|error| panic!("{path}: {error}"));
        module.version = module.required_version().unwrap();
        module.target = module.required_target().unwrap();
        module.verify().unwrap_or_else(|error| panic!("{path}: {error}"));
        if module.version > module.target.version() {
            let (major, minor) = module.version;
            module.version = if minor == 0 { (major - 1, 9) } else { (major, minor - 1) };
            assert!(module.verify().is_err(), "{path}");
        }
    }
}
