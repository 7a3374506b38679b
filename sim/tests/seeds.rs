//! The seeds of the fuzz targets, replayed: inputs that reach different parts of the code, and inputs that once failed.

#[path = "../../fuzz/src/ptx_parse.rs"]
mod ptx_parse;
#[path = "../../fuzz/src/sim_load.rs"]
mod sim_load;

fn seeds(target: &str) -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(folder).expect("the seeds");
    entries.map(|entry| std::fs::read_to_string(entry.expect("a seed").path()).expect("text")).collect()
}

#[test]
fn seeds_parse_and_load_without_a_panic() {
    let (syntax, kernels) = (seeds("ptx_parse"), seeds("sim_load"));
    assert!(!syntax.is_empty() && kernels.len() > 10);
    for text in syntax.iter().chain(&kernels) {
        ptx_parse::run(text);
        sim_load::run(text);
    }
    assert!(
        kernels.iter().any(|text| girih_ptx::Module::parse(text).is_ok_and(|module| module.verify().is_ok()))
    );
}
