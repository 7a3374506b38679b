//! Says of what commit a released `girih` is.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // Who develops has a commit in an hour, and would compile everything again for its name.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        // A package from a registry is in no repository, or in another one.
        let ours = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
        if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| ours) {
            version += &format!(" ({commit})");
        }
        for file in ["HEAD", "logs/HEAD"] {
            if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|_| ours) {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    println!("cargo::rustc-env=GIRIH_VERSION={version}");
}
