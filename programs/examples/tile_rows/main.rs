//! Writes the tile kernels that `benches/tile/peers.py` measures: PTX modules, and a manifest with launches and packed arguments.
//!
//! `cargo run -p girih-programs --example tile_rows -- FOLDER`
//!
//! With `--times` instead of a folder it measures how long the kernels of `tile::ENTRIES` take to build, and prints a table; with a word behind
//! it, those that have it in their names.

mod rows;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use girih_programs as tile;
use girih_tensor::DType;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::{Func, Known};
use girih_tile::lower::Source;
use rows::{Row, rows};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;
type Built = Result<Func, girih_tile::error::Error>;

/// What `peers.py` knows by these names.
const OPERATIONS: [&str; 6] = ["cumsum", "cumsum_all", "histogram", "sum_all", "argmax_all", "segment_sum"];

/// What a launch would find out about row-major arrays of these extents.
fn facts(row: &Row) -> Facts {
    let power = |n: i64, most: i64| if n == 0 { most } else { (1 << n.trailing_zeros()).min(most) };
    let arrays = row.arrays.iter().map(|(_, dtype, extents)| {
        let vector = 128 / i64::from(dtype.bits());
        let strides = (1..=extents.len()).map(|after| extents[after..].iter().product::<i64>());
        ArrayFacts {
            extents: extents.iter().map(|&n| Known::MultipleOf(power(n, 128))).collect(),
            strides: strides
                .map(|n| if n == 1 { Known::Is(1) } else { Known::MultipleOf(power(n, vector)) })
                .collect(),
            align: 16,
        }
    });
    Facts { arrays: arrays.collect(), scalars: vec![Known::MultipleOf(1); row.scalars.len()] }
}

/// The median of the milliseconds that `run` takes.
fn median(mut run: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut found = Vec::new();
    for _ in 0..31 {
        let begin = Instant::now();
        run()?;
        found.push(1e3 * begin.elapsed().as_secs_f64());
    }
    found.sort_by(f64::total_cmp);
    Ok(found[found.len() / 2])
}

/// From a Rust function to PTX, and the placement alone, in milliseconds.
fn times(word: &str) -> Outcome<()> {
    println!("| kernel | staged | placed | to PTX, in all |");
    println!("|---|---:|---:|---:|");
    for entry in tile::ENTRIES.iter().filter(|entry| entry.name.contains(word)) {
        let simple = girih_tile::pass::simplify(&entry.build()?);
        let staged = median(|| {
            entry.build()?;
            Ok(())
        })?;
        let placed = median(|| {
            girih_tile::place::place(&simple, 90)?;
            Ok(())
        })?;
        let all = median(|| {
            girih_tile::compile(&entry.build()?, 90)?.kernel.module().to_string();
            Ok(())
        })?;
        println!("| {} | {staged:.3} | {placed:.2} | {all:.2} |", entry.name);
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).ok_or("the folder to write to is missing")?;
    if folder == "--times" {
        return times(&std::env::args().nth(2).unwrap_or_default());
    }
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    let mut manifest = Vec::new();
    for row in rows() {
        let begin = Instant::now();
        let compiled = (row.build)(&facts(&row)).and_then(|mut func| {
            func.hints.all.num_worker_warps = row.warps.or(func.hints.all.num_worker_warps);
            func.hints.all.occupancy = row.occupancy.or(func.hints.all.occupancy);
            girih_tile::compile(&func, 90)
        });
        let compiled = compiled.map_err(|error| format!("{}: {error}", row.name))?;
        let built = begin.elapsed();
        let file = format!("{}.ptx", row.name.replace(|c: char| !c.is_alphanumeric(), "_"));
        // Peers are measured beside the first of the rows of a problem.
        let same = |other: &Value| {
            other["op"] == row.op && other["shape"] == json!(row.shape) && other["dtype"] == row.dtype.name()
        };
        let alone = manifest.iter().any(same);
        fs::write(folder.join(&file), compiled.kernel.module().to_string())?;
        let number = |bytes: u32, value: i64| {
            let all = value.to_le_bytes();
            let hex: String = all[..bytes as usize].iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "bytes": hex })
        };
        let params: Vec<Value> = compiled
            .params
            .iter()
            .map(|param| match param.source {
                Source::Pointer(array) => json!({ "pointer": row.arrays[array.index()].0 }),
                Source::Extent(array, axis) => {
                    number(param.bytes, row.arrays[array.index()].2[usize::from(axis)])
                }
                Source::Stride(array, axis) => {
                    number(param.bytes, row.arrays[array.index()].2[usize::from(axis) + 1..].iter().product())
                }
                Source::Map(array) => {
                    let boxes = param.boxes.as_ref().map(|boxes| json!({ "axes": boxes.axes, "box": boxes.extents, "swizzle": boxes.swizzle as u32 }));
                    json!({ "map": row.arrays[array.index()].0, "boxes": boxes })
                }
                Source::Grid(axis) => number(4, row.grid[usize::from(axis)]),
                Source::Scalar(at) => number(4, i64::from(row.scalars[usize::from(at)].to_bits())),
            })
            .collect();
        let result = ["z", "y"].iter().find_map(|name| row.arrays.iter().find(|array| array.0 == *name));
        let result = result.map(|array| array.1);
        let sizes: serde_json::Map<String, Value> =
            row.arrays.iter().map(|(name, _, extents)| (name.to_string(), json!(extents))).collect();
        let state = row.arrays.iter().filter(|(name, ..)| row.state.contains(name));
        let state: serde_json::Map<String, Value> = state
            .map(|(name, dtype, extents)| {
                (name.to_string(), json!({ "dtype": dtype.name(), "shape": extents }))
            })
            .collect();
        println!(
            "{:34} {:3} threads, {:6} bytes of shared memory, built in {built:.1?}",
            row.name,
            compiled.plan.threads,
            compiled.kernel.shared_bytes()
        );
        manifest.push(json!({
            "name": row.name, "op": row.op, "dtype": row.dtype.name(), "shape": row.shape, "ptx": file,
            "kernel": compiled.kernel.name(), "grid": row.grid, "block": [compiled.kernel.threads(), 1, 1],
            "shared": compiled.kernel.shared_bytes(), "params": params, "zeroed": row.zeroed, "state": state, "sizes": sizes, "result": result.map(DType::name), "alone": alone,
        }));
    }
    fs::write(folder.join("manifest.json"), serde_json::to_string_pretty(&json!({ "rows": manifest }))?)?;
    Ok(())
}
