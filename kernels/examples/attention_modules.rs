//! Writes the attention kernels that `benches/attention/peers.py` measures: PTX modules, tables of tiles, and a manifest with launches and packed
//! arguments, as they are on a GPU of 132 multiprocessors.
//!
//! `cargo run --release -p girih-kernels --example attention_modules -- FOLDER [PART OF A NAME] [--candidates]`
//!
//! With `--candidates` each row has all configurations that a tuner would try.

use std::path::{Path, PathBuf};
use std::{env, fs};

use girih_device::{Buffer, Device, Select};
use girih_kernels::attention::choose::{candidates, described};
use girih_kernels::attention::{Attention, Attentions, Diagonal, Mask, Order, Problem, Table, Tensor4};
use girih_kernels::gemm::Given;
use girih_ptx::{TENSOR_MAP_BYTES, TensorMap};
use girih_tensor::DType;
use half::bf16;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// The tokens of all rows.
const TOKENS: i64 = 16384;
/// The sequences of packed rows.
const SEQUENCES: usize = 64;

/// A row: its name, and what is computed.
struct Row {
    name: String,
    problem: Problem,
    /// Where packed sequences begin.
    begins: Option<Vec<u32>>,
}

fn rows() -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let mut add = |name: &str, dim: i64, length: i64, heads: i64, kv_heads: i64, begins: Option<Vec<u32>>| {
        for causal in [false, true] {
            let (batches, order) = match begins {
                Some(_) => (1, Order::Bshd),
                None => (TOKENS / length, Order::Bhsd),
            };
            let mut problem = Problem::new(DType::Bf16, order, [batches, heads, length, length, dim])?
                .with_kv_heads(kv_heads)?
                .with_lse(true);
            if let Some(begins) = &begins {
                problem = problem.packed(begins, begins)?;
            }
            if causal {
                problem = problem.with_mask(Mask::causal(Diagonal::TopLeft))?;
            }
            let name = format!("{name} d{dim} S{length}{}", if causal { " causal" } else { "" });
            rows.push(Row { name, problem, begins: begins.clone() });
        }
        Ok::<_, Failure>(())
    };
    for length in [16384, 8192, 4096, 2048, 1024, 512] {
        add("attention", 128, length, 16, 16, None)?;
    }
    for length in [16384, 8192, 4096, 2048, 1024] {
        add("attention", 64, length, 32, 32, None)?;
    }
    for (dim, heads) in [(96, 16), (192, 8), (256, 8)] {
        add("attention", dim, 4096, heads, heads, None)?;
    }
    add("grouped 8:1", 128, 4096, 16, 2, None)?;
    add("packed", 128, TOKENS, 16, 16, Some(lognormal()))?;
    Ok(rows)
}

/// Where sequences of lognormal lengths begin, whose logarithms have a standard deviation of 1.
fn lognormal() -> Vec<u32> {
    // Deviates at the middles of as many equal shares of probability, in an order of their own.
    let deviate = |i: usize| {
        let share = (i as f64 + 0.5) / SEQUENCES as f64;
        // Logistic numbers are close to normal ones with this factor.
        (share / (1.0 - share)).ln() / 1.702
    };
    let weights: Vec<f64> = (0..SEQUENCES).map(|i| deviate(i * 27 % SEQUENCES).exp()).collect();
    let all: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let ends = weights.iter().map(|weight| {
        sum += weight;
        (sum / all * TOKENS as f64).round() as u32
    });
    [0].into_iter().chain(ends).collect()
}

fn main() -> Result<(), Failure> {
    let mut folder = None;
    let (mut only, mut tried) = (String::new(), false);
    for arg in env::args().skip(1) {
        match arg.as_str() {
            "--candidates" => tried = true,
            _ if folder.is_none() => folder = Some(PathBuf::from(arg)),
            _ => only = arg,
        }
    }
    let folder =
        folder.ok_or("the folder is missing: attention_modules FOLDER [PART OF A NAME] [--candidates]")?;
    fs::create_dir_all(&folder)?;
    let device = Device::open(Select::Sim)?;
    let attentions = Attentions::new(&device);
    let mut manifest = Vec::new();
    for Row { name, problem, begins } in rows()?.into_iter().filter(|row| row.name.contains(&only)) {
        let mut launches = Vec::new();
        let all = candidates(&problem, device.limits())?;
        for config in all.into_iter().take(if tried { usize::MAX } else { 1 }) {
            match attentions.configured(&problem, config) {
                Ok(attention) => launches.push(launch(&folder, &device, &attention)?),
                // What the generator refuses is no candidate.
                Err(error) => println!("{name}: {}: {error}", described(&config)),
            }
        }
        let causal = !problem.mask().is_none();
        manifest.push(json!({
            "name": name, "order": problem.order().to_string(), "causal": causal, "begins": begins, "flops": problem.flops(),
            "batch": problem.batches(), "heads": problem.heads(), "kv_heads": problem.kv_heads(), "length": problem.queries(),
            "dim": problem.head_dim(), "dtype": problem.dtype().name(), "scale": problem.scale(), "launches": launches,
        }));
    }
    fs::write(folder.join("manifest.json"), serde_json::to_string_pretty(&json!({ "rows": manifest }))?)?;
    println!("{} rows in {}", manifest.len(), folder.display());
    Ok(())
}

/// Writes the module and the table of a launch, and describes the launch.
fn launch(folder: &Path, device: &Device, attention: &Attention) -> Result<Value, Failure> {
    let problem = attention.problem();
    let config = attention.config().ok_or("the kernels of decoding have no table")?;
    let buffer = |tensor: Tensor4| device.alloc::<bf16>(problem.array(tensor).span() as usize);
    let [q, k, v, o]: [Result<Buffer<bf16>, _>; 4] = Tensor4::ALL.map(buffer);
    let lse = device.alloc::<f32>(problem.lse_len() as usize)?;
    let prepared = attention.prepare([&q?, &k?, &v?, &o?], &[("lse", Given::from(&lse))])?;
    let prepared = prepared.ok_or("there is nothing to compute")?;
    let launch = prepared.launches().next().ok_or("no launch")?;
    let features = config.features;
    let named = [(features.right, "causal"), (features.packed, "packed"), (features.lse, "lse")];
    let named: String = named.iter().filter(|(has, _)| *has).map(|(_, name)| format!("-{name}")).collect();
    let stem = described(config).replace(", ", "-").replace(' ', "") + &named;
    let ptx = format!("{stem}.ptx");
    fs::write(folder.join(&ptx), attention.ptx().to_string())?;
    let table = Table::new(problem, config.tile, launch.config().grid[0])?;
    let bytes: Vec<u8> = table.words().into_iter().flat_map(u32::to_le_bytes).collect();
    let heads = format!("{}of{}", problem.heads(), problem.kv_heads());
    let file = format!("{stem}-{}x{}x{heads}.table", problem.queries(), problem.batches());
    fs::write(folder.join(&file), bytes)?;
    let mut params = Vec::new();
    for (info, bytes) in launch.kernel().info().params.iter().zip(launch.arguments()) {
        params.push(match &*info.name {
            "table" => json!({ "table": file }),
            "q" | "k" | "v" | "o" | "lse" => json!({ "pointer": &*info.name }),
            name => match (name.strip_prefix("map_"), <&[u8; TENSOR_MAP_BYTES]>::try_from(bytes)) {
                (Some(tensor), Ok(bytes)) => {
                    let map = TensorMap::from_bytes(bytes)?;
                    let tiled = map.tiled();
                    json!({ "map": tensor, "dims": tiled.dims, "strides": tiled.strides, "box": tiled.extents, "swizzle": tiled.swizzle as u32 })
                }
                _ => json!({ "bytes": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() }),
            },
        });
    }
    let launched = launch.config();
    Ok(json!({
        "name": described(config), "ptx": ptx, "kernel": config.name, "grid": launched.grid, "block": launched.block,
        "shared": attention.shared_bytes(), "params": params,
    }))
}
