//! A folder that checks and measures on a machine with a GPU and without cargo: the `girih` binary, every test and
//! bench target whose name starts with `gpu`, the tests of the tile language, its kernels to be measured beside torch and Triton, and a
//! script that runs them and prints a table.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::shell::{Error, at, check, command, output, root, target_dir};

const METADATA: &str = "cargo metadata --no-deps --format-version 1";

/// An executable to carry.
struct Carried {
    package: String,
    name: String,
    /// `bin`, `test` or `bench`.
    kind: &'static str,
    /// Features that it is built with beside the package's default ones.
    features: Vec<String>,
}

/// Builds and packs.
pub(crate) fn run() -> Result<(), Error> {
    let folder = target_dir().join("gpu");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(at(&folder))?;
    }
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).map_err(at(&bin))?;
    for carried in carried(&parse(METADATA, &output(&mut command(METADATA), METADATA)?)?) {
        let from = build(&carried)?;
        let to = bin.join(match carried.kind {
            "bin" => carried.name.clone(),
            kind => format!("{kind}-{}-{}", carried.package, carried.name),
        });
        println!("--- {}", to.strip_prefix(root()).unwrap_or(&to).display());
        fs::copy(&from, &to).map_err(at(&from))?;
    }
    let shared = root().join("benches/launches.py");
    fs::copy(&shared, folder.join("launches.py")).map_err(at(&shared))?;
    let tile = folder.join("tile");
    let rows = "cargo run --profile bench --package girih-programs --example tile_rows --";
    check(rows, command(rows).arg(&tile))?;
    for file in
        ["benches/tile/peers.py", "benches/tile/products.py", "benches/tile/wide.py", "testdata/tile.jsonl"]
            .map(|file| root().join(file))
    {
        fs::copy(&file, tile.join(file.file_name().unwrap_or_default())).map_err(at(&file))?;
    }
    let attention = folder.join("attention");
    let rows = "cargo run --profile bench --package girih-kernels --example attention_modules --";
    check(rows, command(rows).arg(&attention))?;
    let peers = root().join("benches/attention/peers.py");
    fs::copy(&peers, attention.join("peers.py")).map_err(at(&peers))?;
    let (script, run) = (root().join("xtask/gpu-run.sh"), folder.join("run.sh"));
    fs::copy(&script, &run).map_err(at(&script))?;
    let described = "git describe --always --dirty";
    let commit = folder.join("commit");
    fs::write(&commit, output(&mut command(described), described)?).map_err(at(&commit))?;
    println!("--- copy {} to the machine and start run.sh there", folder.display());
    Ok(())
}

/// What there is to carry, in the metadata's order.
fn carried(metadata: &Value) -> Vec<Carried> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_string();
    let of_package = |package: &Value| {
        let of_target = |target: &Value| {
            let (name, kinds) = (text(target, "name"), list(target, "kind"));
            let kind = ["bin", "test", "bench"].into_iter().find(|&kind| kinds.iter().any(|k| k == kind))?;
            // Programs over tiles are compared with the reference on whatever device the environment names.
            let tile = kind == "test" && text(package, "name") == "girih-tile";
            let wanted = if kind == "bin" { name == "girih" } else { name.starts_with("gpu") || tile };
            let features = list(target, "required-features");
            let features = features.iter().filter_map(Value::as_str).map(String::from);
            wanted.then(|| Carried {
                package: text(package, "name"),
                name,
                kind,
                features: features.collect(),
            })
        };
        list(package, "targets").iter().filter_map(of_target).collect::<Vec<_>>()
    };
    list(metadata, "packages").iter().flat_map(of_package).collect()
}

/// Builds one executable with optimisation and returns its path.
fn build(carried: &Carried) -> Result<PathBuf, Error> {
    let Carried { package, name, kind, features } = carried;
    let line = match *kind {
        "bin" => {
            format!("cargo build --profile bench --package {package} --bin {name} --message-format json")
        }
        kind => format!("cargo {kind} --no-run --package {package} --{kind} {name} --message-format json"),
    };
    let line = if *kind == "test" { line.replace("--no-run", "--profile bench --no-run") } else { line };
    let line = match &features[..] {
        [] => line,
        some => format!("{line} --features {}", some.join(",")),
    };
    let mut executable = None;
    for message in output(command(&line).env("CARGO_PROFILE_RELEASE_STRIP", "symbols"), &line)?
        .lines()
        .filter(|message| message.starts_with('{'))
    {
        let message = parse(&line, message)?;
        if message["target"]["name"] == **name {
            executable =
                message["executable"].as_str().map(|path| Path::new(path).to_path_buf()).or(executable);
        }
    }
    executable.ok_or_else(|| Error::NoExecutable { package: package.clone(), name: name.clone() })
}

fn parse(command: &str, text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|source| Error::Json { command: command.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_and_all_gpu_targets_are_carried() {
        let target = |name: &str, kind: &str| serde_json::json!({"name": name, "kind": [kind]});
        let metadata = serde_json::json!({"packages": [
            {"name": "girih-cli", "targets": [target("girih", "bin"), target("cli", "test")]},
            {"name": "girih", "targets": [target("girih", "lib"), target("gpu_example", "example")]},
            {"name": "girih-kernels", "targets": [target("gpu", "test"), target("sim", "test")]},
            {"name": "girih-tile", "targets": [target("girih_tile", "lib"), target("all", "test")]},
            {"name": "girih-benches", "targets": [target("gpu_gemm", "bench"), target("algebra", "bench")]},
        ]});
        let found: Vec<_> =
            carried(&metadata).iter().map(|c| format!("{} {} {}", c.package, c.kind, c.name)).collect();
        let wanted = [
            "girih-cli bin girih",
            "girih-kernels test gpu",
            "girih-tile test all",
            "girih-benches bench gpu_gemm",
        ];
        assert_eq!(found, wanted);
    }
}
