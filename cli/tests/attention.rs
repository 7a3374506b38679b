//! `girih attention`, and what other commands say of it, on the simulator, as a user types the commands.

use std::path::Path;

use girih_kernels::attention::choose::described;
use girih_kernels::attention::{Attentions, Diagonal, Hardware, Mask, Order, Problem, choose};
use girih_ptx::Module;
use girih_tensor::DType;

use crate::gemm::{folder, girih_in, json, succeeds, text};

/// A file of numbers of 4 bytes, as numpy writes it.
pub(crate) fn save(path: &Path, descr: &str, shape: &[usize], words: &[[u8; 4]]) {
    let shape = shape.iter().map(|extent| format!("{extent},")).collect::<String>();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length are 10 bytes, and all of them a multiple of 64.
    header += &" ".repeat(63 - (header.len() + 10) % 64);
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), words.as_flattened()].concat();
    std::fs::write(path, bytes).expect("written");
}

fn floats(path: &Path, shape: &[usize], values: &[f32]) {
    save(path, "<f4", shape, &values.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>());
}

/// The numbers of such a file, after its header.
pub(crate) fn load(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("read");
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[begin..].chunks(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Numbers from -1 to 1 that look random.
pub(crate) fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn random_tensors_pass() {
    let folder = folder();
    for (line, kernel) in [
        ("", "sm90"),
        ("--batch 2 --heads 4 --kv-heads 2 --queries 40 --keys 90 --causal --lse", "sm90"),
        ("--queries 70 --head-dim 40 --dtype f16 --window 20,3 --order bhsd", "sm90"),
        ("--queries 50 --keys 60 --softcap 5 --bias f32 --kernel sm80", "sm80"),
        ("--queries 50 --head-dim 33 --packed 3 --causal --lse", "sm80"),
        ("--queries 20 --keys 30 --dtype f32 --scale 0.3", "sm80"),
    ] {
        let report = json(folder.path(), &format!("attention {line} --json"));
        assert_eq!(
            (&report["passed"], &report["problem"]["kernel"]),
            (&true.into(), &kernel.into()),
            "{line}"
        );
        assert_eq!(report["check"]["rows_compared"], report["check"]["rows"], "{line}");
    }
    let out = succeeds(folder.path(), "attention --queries 30 --keys 0");
    assert!(out.ends_with("PASSED\n") && out.contains("queries=30 keys=0"), "{out}");
}

/// What is not a number in the files is none in O where the definition says so, and the check passes. Scores that f32 rounds by more than it can judge fail, with
/// the reason.
#[test]
fn numbers_that_are_none_and_checks_that_cannot_judge() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let mut v = numbers(3 * 8, 3);
    v[2 * 8 + 1] = f32::NAN;
    floats(&at("q.npy"), &[1, 3, 1, 8], &numbers(3 * 8, 1));
    floats(&at("k.npy"), &[1, 3, 1, 8], &numbers(3 * 8, 2));
    floats(&at("v.npy"), &[1, 3, 1, 8], &v);
    let line = "attention --q q.npy --k k.npy --v v.npy --lse-output lse.npy -o o.npy";
    let out = succeeds(folder.path(), line);
    assert!(out.ends_with("PASSED\n"), "{out}");
    let nan: Vec<usize> = (0..24).filter(|&at_o| load(&at("o.npy"))[at_o].is_nan()).collect();
    assert_eq!(nan, [1, 9, 17]);
    let loud: Vec<f32> = numbers(3 * 8, 1).iter().map(|x| x * 1e9).collect();
    floats(&at("q.npy"), &[1, 3, 1, 8], &loud);
    floats(&at("v.npy"), &[1, 3, 1, 8], &numbers(3 * 8, 3));
    let out = girih_in(folder.path(), line);
    assert_eq!(out.status.code(), Some(1));
    let out = text(&out.stdout);
    assert!(
        out.contains("this check cannot judge: the bounds have norm ") && out.ends_with("FAILED\n"),
        "{out}"
    );
}

/// Files say extents and type, and O and the logarithms are written as numpy reads them.
#[test]
fn files_are_read_and_written() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let (rows, keys, heads, dim) = (5, 7, 2, 3);
    let (q, k, v) =
        (numbers(rows * heads * dim, 1), numbers(keys * heads * dim, 2), numbers(keys * heads * dim, 3));
    let bias = numbers(heads * keys, 4);
    floats(&at("q.npy"), &[1, rows, heads, dim], &q);
    floats(&at("k.npy"), &[1, keys, heads, dim], &k);
    floats(&at("v.npy"), &[1, keys, heads, dim], &v);
    floats(&at("bias.npy"), &[1, heads, 1, keys], &bias);
    let tensors = "attention --q q.npy --k k.npy --v v.npy";
    let line = format!("{tensors} --bias-file bias.npy --scale 0.5 --causal -o o.npy --lse-output lse.npy");
    succeeds(folder.path(), &line);
    let (o, lse) = (load(&at("o.npy")), load(&at("lse.npy")));
    for (head, row) in (0..heads).flat_map(|head| (0..rows).map(move |row| (head, row))) {
        let part = |all: &[f32], at: usize| {
            all[(at * heads + head) * dim..][..dim].iter().map(|&x| f64::from(x)).collect::<Vec<_>>()
        };
        let query = part(&q, row);
        // The last query sees the last key.
        let powers: Vec<f64> = (0..=row + keys - rows)
            .map(|key| {
                let dot: f64 = query.iter().zip(part(&k, key)).map(|(q, k)| q * k).sum();
                (0.5 * dot + f64::from(bias[head * keys + key])).exp()
            })
            .collect();
        let sum: f64 = powers.iter().sum();
        for column in 0..dim {
            let wanted =
                powers.iter().enumerate().map(|(key, p)| p * part(&v, key)[column]).sum::<f64>() / sum;
            let found = f64::from(o[(row * heads + head) * dim + column]);
            assert!((found - wanted).abs() < 1e-5, "{head} {row} {column}: {found} {wanted}");
        }
        assert!((f64::from(lse[head * rows + row]) - sum.ln()).abs() < 1e-5);
    }
    // The same rows as two packed sequences, of files of three axes.
    floats(&at("q.npy"), &[rows, heads, dim], &q);
    floats(&at("k.npy"), &[keys, heads, dim], &k);
    floats(&at("v.npy"), &[keys, heads, dim], &v);
    save(&at("cu.npy"), "<i4", &[3], &[0i32, 2, 5].map(i32::to_le_bytes));
    let report = json(folder.path(), &format!("{tensors} --cu-seqlens-q cu.npy --json"));
    assert_eq!((&report["passed"], &report["problem"]["sequences"]), (&true.into(), &2.into()));
    let refused = |line: &str, wanted: &str| {
        let output = girih_in(folder.path(), line);
        let error = text(&output.stderr);
        assert!(!output.status.success() && error.contains(wanted), "{line}: {error}");
    };
    refused(tensors, "four axes, or three of packed sequences");
    save(&at("cu.npy"), "<i4", &[3], &[0i32, 2, 8].map(i32::to_le_bytes));
    refused(&format!("{tensors} --cu-seqlens-q cu.npy"), "numbers that do not fall, up to the 5 rows");
    floats(&at("v.npy"), &[keys - 1, heads, dim], &v[..(keys - 1) * heads * dim]);
    refused(&format!("{tensors} --cu-seqlens-q cu.npy"), "equal extents");
}

#[test]
fn bad_arguments_are_told() {
    let folder = folder();
    for (line, wanted) in [
        ("--window 3", "two limits such as 128,0"),
        ("--window 3,x", "two limits such as 128,0"),
        ("--window 3,-1", "right = -1: 0 to 268435456 elements are accepted"),
        (
            "--heads 3 --kv-heads 2",
            "3 heads of queries with 2 of keys and values: divisors of 3 are accepted",
        ),
        ("--head-dim 600", "head dim = 600: 1 to 512"),
        ("--scale 0", "scale = 0: numbers from 2^-60 to 2^60 are accepted"),
        ("--dtype f32 --kernel sm90", "kernel sm90 does not take the dtype f32"),
        ("--dtype s8", "kernel attention does not take s8"),
        ("--order sbhd", "bshd and bhsd are accepted"),
    ] {
        let output = girih_in(folder.path(), &format!("attention {line}"));
        let error = text(&output.stderr);
        assert!(!output.status.success() && error.contains(wanted), "{line}: {error}");
    }
}

/// What is printed is what runs, and what is explained is what is chosen.
#[test]
fn kernels_are_printed_and_explained() -> Result<(), Box<dyn std::error::Error>> {
    let folder = folder();
    let device = girih_device::Device::open(girih_device::Select::Sim)?;
    let problem = Problem::new(DType::F16, Order::Bshd, [1, 4, 300, 500, 64])?
        .with_mask(Mask::causal(Diagonal::TopLeft))?;
    let words = "attention --heads 4 --queries 300 --keys 500 --dtype f16 --causal --diagonal top-left";
    let printed = succeeds(folder.path(), &format!("emit {words}"));
    let module = Module::parse(&printed)?;
    module.verify()?;
    let run = Attentions::new(&device).get(&problem)?;
    assert!(module == Module::parse(&run.ptx().to_string())?);
    for (name, partition) in run.partitions() {
        assert!(printed.contains(&format!("// {name}: {partition}\n")), "{name}");
    }
    let report = json(folder.path(), &format!("explain {words} --json"));
    let chosen = choose(&problem, None, Hardware { sm: 90, multiprocessors: 132 })?;
    assert_eq!(report["config"], described(&chosen));
    // Blocks of sm_90 stay and take several tiles, of the others each takes one.
    let many = format!("explain {words} --batch 100 --json");
    let (stay, each) = (json(folder.path(), &many), json(folder.path(), &format!("{many} --kernel sm80")));
    assert!(stay["blocks"] == 132 && stay["tiles"].as_i64().is_some_and(|tiles| tiles > 132), "{stay}");
    assert_eq!(each["blocks"], each["tiles"]);
    let whats: Vec<_> = report["reasons"]
        .as_array()
        .ok_or("no reasons")?
        .iter()
        .filter_map(|reason| reason["what"].as_str())
        .collect();
    assert_eq!(whats[..2], ["kernel", "tile"]);
    assert!(report["busy"].as_f64().is_some_and(|busy| busy > 0.0 && busy <= 1.0));
    assert!(succeeds(folder.path(), &format!("explain {words}")).contains("expected limit"));
    let tuned = succeeds(folder.path(), "tune attention --queries 64 --heads 1 --most 2 --no-check");
    assert!(tuned.starts_with("2 configurations\n") && tuned.contains("fastest "), "{tuned}");
    Ok(())
}
