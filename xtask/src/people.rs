//! What people use who don't write Rust, built and tested as they get it: the page in a browser, the Python package as a wheel.

use std::{env, fs, path::Path, process::Command};

use crate::book;
use crate::shell::{Error, at, check, command, root, sh, target_dir};

/// What the package's tests import. Triton's and NVRTC's compilers need no GPU.
const PACKAGES: &[&str] = &[
    "maturin>=1.9,<2",
    "numpy",
    "pytest",
    "ml_dtypes",
    "mypy",
    "pyright",
    "triton",
    "cuda-bindings",
    "nvidia-cuda-nvrtc",
];

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub(crate) enum Part {
    Book,
    Page,
    Python,
}

pub(crate) fn run(part: Option<Part>) -> Result<(), Error> {
    let parts: [(_, fn() -> _); 3] = [(Part::Book, book::build), (Part::Page, page), (Part::Python, python)];
    parts.into_iter().filter(|(each, _)| part.is_none_or(|part| part == *each)).try_for_each(|(_, run)| run())
}

/// Chromium's names, the distribution's first.
const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// The script of axe-core.
const AXE: &str = "node_modules/axe-core/axe.min.js";

/// Tests the page in a browser. What is measured is printed, and pictures of all views are stored in target/people.
fn page() -> Result<(), Error> {
    let paths: Vec<_> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let found = |name: &&str| paths.iter().any(|folder| folder.join(name).is_file());
    let found_npm = found(&"npm");
    if env::var_os("CHROMIUM").is_none() && !CHROMIUM.iter().any(found) {
        return Err(Error::NoChromium);
    }
    // Another program, such as one without optimisation, for who tests what he has changed.
    let program = match env::var_os("GIRIH_PAGE") {
        Some(program) => root().join(program),
        None => {
            sh("cargo build --release --package girih-page --locked")?;
            target_dir().join("release/girih-page")
        }
    };
    let axe = target_dir().join("people/axe");
    // The rules for who does not see or hold a mouse, where npm gets them.
    let line = "npm install --silent --no-save axe-core@4";
    if !axe.join(AXE).is_file() && found_npm {
        fs::create_dir_all(&axe).map_err(at(&axe))?;
        check(line, command(line).arg("--prefix").arg(&axe))?;
    }
    let line = "cargo test --locked --manifest-path page/browser/Cargo.toml -- --nocapture";
    let mut tests = command(line);
    tests.env("CARGO_TARGET_DIR", target_dir().join("browser")).env("GIRIH_PAGE", program);
    if axe.join(AXE).is_file() {
        tests.env("GIRIH_AXE", axe.join(AXE));
    }
    check(line, tests.env("GIRIH_PICTURES", target_dir().join("people")))
}

fn python() -> Result<(), Error> {
    let people = target_dir().join("people");
    let python = people.join("venv/bin/python");
    if !python.is_file() {
        check("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(people.join("venv")))?;
    }
    check("pip install", pip(&python).args(PACKAGES))?;
    // pycute, to which random layouts are compared, comes with packages that it does not need.
    check("pip install nvidia-cutlass", pip(&python).args(["--no-deps", "nvidia-cutlass"]))?;
    wheel(&people, &python)
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip
}

/// Builds the wheel, installs it and runs its tests. They run at the root, where Python does not find the sources in the wheel's place.
fn wheel(people: &Path, python: &Path) -> Result<(), Error> {
    let wheels = people.join("wheels");
    // The folder holds one wheel, the one that is built here.
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(at(&wheels))?;
    }
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--locked", "--manifest-path", "python/Cargo.toml", "--profile"]);
    // Another profile compiles faster, for who tests what he has changed.
    maturin.arg(env::var("GIRIH_WHEEL_PROFILE").unwrap_or_else(|_| "wheel".into())).arg("--out").arg(&wheels);
    check("maturin build", maturin.current_dir(root()))?;
    let built = fs::read_dir(&wheels).map_err(at(&wheels))?.flatten().map(|entry| entry.path());
    let built: Vec<_> = built.filter(|path| path.extension().is_some_and(|end| end == "whl")).collect();
    check("pip install the wheel", pip(python).args(["--force-reinstall", "--no-deps"]).args(&built))?;
    let mut tests = Command::new(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "python", "python/tests"]);
    if let [wheel] = &built[..] {
        tests.env("GIRIH_WHEEL", wheel);
        pack(people, wheel)?;
    }
    check("pytest", tests.current_dir(root()))
}

/// The folder for a machine with a GPU, Python and torch: the wheel, and what checks it there.
fn pack(people: &Path, wheel: &Path) -> Result<(), Error> {
    let folder = people.join("gpu");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(at(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let files =
        ["python/tests/gpu_check.py", "python/tests/ptx.py", "docs/python.md"].map(|name| root().join(name));
    for file in files.iter().map(|path| path.as_path()).chain([wheel]) {
        let to = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, &to).map_err(at(file))?;
    }
    println!(
        "--- on a machine with a GPU: pip install --no-deps *.whl && python gpu_check.py, in {}",
        folder.display()
    );
    Ok(())
}
