//! Writes kernels of configurations that can be chosen into a folder, a PTX module each, for `cargo xtask ratchet`.
//!
//! Of products and of attention they are few: if two facts are true together of some configuration of a kernel, they are true together of one that is written.
//! With `--all` after the folder, every configuration is written. Those with outputs other than C, or with a gate, are a few of each kernel in any case.
//! With `--attention` those of attention alone are written.

mod attention;

use std::collections::BTreeSet;
use std::path::Path;

use girih_codegen::Kernel;
use girih_codegen::gemm::{Batch, Mainloop, Major, Schedule, Store, generate, repitch};
use girih_kernels::copy::Problem;
use girih_kernels::gemm::{Activation, Epilogue, GemmConfig, Input, Output, Reduction, choose, passes};
use girih_layout::Lay;
use girih_tensor::DType;

/// Epilogues: none; a bias, GELU and a residual, as in a linear layer of a network (of f64, without GELU); the same from memory of any
/// alignment.
const EPILOGUES: [&str; 3] = ["plain", "linear", "unaligned"];
/// The linear layer, with the sums of C's columns and rows and the largest absolute value (of f64, the sum of all) as outputs other than C.
const REDUCED: &str = "reduced";
/// A bias of the product, a gate of pairs of columns and a residual of C.
const GATED: &str = "gated";

/// A kernel to be written.
struct Case {
    config: GemmConfig,
    /// One of [`EPILOGUES`], [`REDUCED`] or [`GATED`].
    epilogue: &'static str,
    /// What is true of it, as words of its name.
    facts: Vec<String>,
}

impl Case {
    fn new(config: GemmConfig, epilogue: &'static str) -> Case {
        let [m, n, k] = config.tile;
        let mut facts = vec![config.name.to_string(), format!("{m}x{n}x{k}") + &shared_out(&config)];
        let letter = |major| if major == Major::K { "k" } else { "mn" };
        match &config.mainloop {
            Mainloop::Multistage(multistage) => {
                facts.extend([("a", multistage.a), ("b", multistage.b)].into_iter().flat_map(
                    |(operand, source)| {
                        [format!("{operand}{}", letter(source.major)), format!("{operand}{}", source.vector)]
                    },
                ));
                if multistage.min_blocks > 1 {
                    facts.push(format!("{}-blocks", multistage.min_blocks));
                }
            }
            Mainloop::WarpSpecialized(warp_specialized) => {
                let operands = ["a", "b"].into_iter().zip(warp_specialized.atom.majors);
                facts.extend(operands.map(|(operand, major)| format!("{operand}{}", letter(major))));
                if matches!(config.atom().a_type, DType::E4m3 | DType::E5m2) {
                    let promoted = warp_specialized.mma_promotion_interval > 0;
                    facts.push(String::from(if promoted { "promoted" } else { "fast" }));
                }
            }
        }
        facts.push(match config.store {
            Store::Direct { vector } | Store::Coalesced { vector, .. } => format!("c{vector}"),
            Store::Tma { .. } => String::from("cmaps"),
        });
        facts.push(config.c_type.to_string());
        facts.extend(config.mixed_input().map(|mixed| format!("scales-{}", mixed.scale)));
        facts.extend(config.block_scales().map(|scales| {
            let [m, n, k] = scales.granularity;
            format!("scaled-{m}x{n}x{k}")
        }));
        facts.extend(match config.batch {
            Batch::Single => None,
            Batch::Strided => Some(String::from("batch")),
            Batch::Pointers => Some(String::from("pointers")),
            Batch::Grouped { mode } => Some(format!("groups{mode}")),
        });
        facts.push(epilogue.to_string());
        Case { config, epilogue, facts }
    }

    fn epilogue(&self) -> Epilogue {
        let dtype = match self.config.atom().a_type {
            DType::Tf32 => DType::F32,
            // Inputs of the epilogue have no 8 bits.
            DType::E4m3 | DType::E5m2 | DType::S8 => DType::Bf16,
            same => same,
        };
        let (bias, residual) = (Input::row("bias", dtype), Input::matrix("residual", dtype));
        let linear = |bias, residual| {
            let biased = Epilogue::new().plus(bias);
            // There is no exponential function of f64.
            (if dtype == DType::F64 { biased } else { biased.gelu() }).plus(residual)
        };
        match self.epilogue {
            "linear" => linear(bias, residual),
            GATED => Epilogue::new().plus(bias).gated(Activation::Silu).plus(residual),
            REDUCED => [
                Output::row("columns", Reduction::Sum),
                Output::column("rows", Reduction::Sum),
                Output::scalar("most", if dtype == DType::F64 { Reduction::Sum } else { Reduction::AbsMax }),
            ]
            .into_iter()
            .map(|output| Output { dtype: if dtype == DType::F64 { dtype } else { output.dtype }, ..output })
            .fold(linear(bias, residual), Epilogue::reduce),
            "unaligned" => linear(bias.unaligned(), residual.unaligned()),
            _ => Epilogue::new(),
        }
    }

    /// The kernel's name, but for what only says the type of its sums.
    fn family(&self) -> &'static str {
        self.config.name.trim_end_matches("_sums_f16")
    }
}

/// What has to be true together of some case.
trait Facts {
    /// Every two facts of the case, with the kernel's family.
    fn pairs(&self) -> impl Iterator<Item = [&str; 3]>;
}

impl Facts for Case {
    /// Groups change the walk through tiles alone,
    /// which all kernels with one mainloop have in common: each fact has to be true of some of these kernels.
    fn pairs(&self) -> impl Iterator<Item = [&str; 3]> {
        let groups = self.config.batch.grouped().map(|_| match &self.config.mainloop {
            Mainloop::Multistage(_) => "groups by a multistage mainloop",
            Mainloop::WarpSpecialized(_) => "groups by a warp-specialised mainloop",
        });
        let pair = move |i: usize, j: usize| match groups {
            Some(groups) => [groups, "", &*self.facts[i]],
            None => [self.family(), &*self.facts[j], &*self.facts[i]],
        };
        (0..self.facts.len()).flat_map(move |i| (0..i).map(move |j| pair(i, j)))
    }
}

/// How the work of a warp-specialised kernel is shared out, as a part of its tile's word: both belong together.
fn shared_out(config: &GemmConfig) -> String {
    let Mainloop::WarpSpecialized(parts) = &config.mainloop else { return String::new() };
    let mut word = format!("-w{}", parts.threads().map_or(0, |threads| threads / 128 - 1));
    if parts.teams > 1 {
        word += &format!("-t{}", parts.teams);
    }
    if parts.multicast > 1 {
        word += &format!("-m{}", parts.multicast);
    }
    if let Schedule::SplitK { parts, cluster } = config.schedule {
        word += &format!("-k{parts}c{cluster}");
    }
    if config.schedule == (Schedule::Persistent { alternate: false }) {
        word += "-forwards";
    }
    word += if config.c_major == Major::Mn { "-columns" } else { "" };
    word + if config.programmatic { "-early" } else { "" }
}

/// Cases with outputs other than C, or with a gate: of one dtype for each kind of kernel, one for each tile and each way in which C is stored.
fn few(epilogue: &'static str) -> impl Iterator<Item = Case> {
    let mut seen = BTreeSet::new();
    let of_one_dtype = move |config: &GemmConfig| {
        // Activations are of f32.
        let f64s = config.atom().a_type == DType::F64 && epilogue != GATED;
        f64s || matches!(config.atom().a_type, DType::Bf16 | DType::F32 | DType::E4m3)
    };
    let all = choose::all().filter(choose::takes_outputs).filter(of_one_dtype);
    let cases = all.filter_map(move |config| {
        let nodes = Case::new(config, epilogue).epilogue();
        let config = choose::with_room(config, &nodes);
        config.takes(&nodes).is_ok().then(|| Case::new(config, epilogue))
    });
    cases.filter(move |case| {
        let stored = case.facts.iter().find(|fact| fact.starts_with('c')).cloned();
        seen.insert((case.config.name, case.facts[1].clone(), stored))
    })
}

/// Cases that have all pairs of facts that are not `covered` yet: again and again one of those with most new ones.
fn covering<'a, T: Facts>(cases: &'a [T], covered: &mut BTreeSet<[&'a str; 3]>) -> Vec<&'a T> {
    let mut missing: BTreeSet<[&str; 3]> =
        cases.iter().flat_map(Facts::pairs).filter(|pair| !covered.contains(pair)).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let new = |case: &&T| case.pairs().filter(|pair| missing.contains(pair)).count();
        let Some(best) = cases.iter().rev().max_by_key(new) else { break };
        for pair in best.pairs() {
            missing.remove(&pair);
            covered.insert(pair);
        }
        chosen.push(best);
    }
    chosen
}

/// Problems of copies, each with what its kernel is known by and the alignment of both sides in bytes.
fn copies() -> Result<Vec<(String, Problem, [i64; 2])>, girih_kernels::Error> {
    let mut all = Vec::new();
    for (dtype, name) in [(DType::U8, "u8"), (DType::U16, "u16"), (DType::U32, "u32"), (DType::U64, "u64")] {
        let element = i64::from(dtype.bits() / 8);
        let mut add = |what: &str, aligned: [i64; 2], problem: Problem| {
            all.push((format!("copy.{what}.{name}"), problem, aligned))
        };
        let (whole, single) = ([16; 2], [element; 2]);
        let strided = |extents: &[i64], src: &[i64], dst: &[i64]| Problem::strided(dtype, extents, src, dst);
        add("line", whole, strided(&[1 << 28], &[1], &[1])?);
        add("line_unaligned", single, strided(&[(1 << 28) + 1], &[1], &[1])?);
        add("rows", whole, strided(&[4096, 4096], &[1, 8192], &[1, 4096])?);
        add("rows_ragged", whole, strided(&[4097, 4096], &[1, 4097], &[1, 4112])?);
        add("transpose", whole, strided(&[8192, 8192], &[1, 8192], &[8192, 1])?);
        add("transpose_ragged", whole, strided(&[8000, 8000], &[1, 8000], &[8000, 1])?);
        add("transpose_unaligned", single, strided(&[4097, 4099], &[1, 4097], &[4099, 1])?);
        // Before a product that takes its operands along K alone.
        let lines = |row: i64| (row * element + 127) / 128 * 128 / element;
        add("to_k", whole, strided(&[8192, 8192], &[1, 8192], &[8192, 1])?);
        add("to_k_ragged", [element, 16], strided(&[4097, 4099], &[1, 4097], &[lines(4099), 1])?);
        add(
            "to_k_batch",
            [element, 16],
            strided(&[4097, 4099, 9], &[1, 4097, 4097 * 4099], &[lines(4099), 1, 4097 * lines(4099)])?,
        );
        add(
            "permute",
            whole,
            strided(&[128, 32, 4096, 32], &[1, 128, 4096, 1 << 24], &[1, 128 << 12, 128, 1 << 24])?,
        );
        add("channels", whole, strided(&[224 * 224, 3, 64], &[1, 50_176, 150_528], &[3, 1, 150_528])?);
        let table = Lay::strided([1 << 20, 32], [32, 1])?;
        add("gather", whole, Problem::gather(dtype, &table, &table, 0, DType::S64)?);
        let (inner, outer) = (Lay::strided([8000, 8000], [8000, 1])?, Lay::strided([8192, 8192], [8192, 1])?);
        add("pad", whole, Problem::pad(dtype, &inner, &outer, &[1, 1], 0.0)?);
        add(
            "pad_transposed",
            whole,
            Problem::pad(dtype, &inner, &Lay::strided([8192, 8192], [1, 8192])?, &[8, 8], 0.0)?,
        );
    }
    Ok(all)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("the folder that modules are written to")?;
    let words: Vec<String> = std::env::args().skip(2).collect();
    let asked = |word: &str| words.iter().any(|other| other == word);
    let of_attention = attention::all();
    let written = if asked("--all") {
        of_attention.iter().collect()
    } else {
        covering(&of_attention, &mut BTreeSet::new())
    };
    for case in written {
        write(&folder, &case.name(), &case.kernel()?)?;
    }
    if asked("--attention") {
        return Ok(());
    }
    let all = choose::all().flat_map(|config| {
        let count = if choose::takes_epilogues(&config) { EPILOGUES.len() } else { 1 };
        let mut epilogues = EPILOGUES[..count].to_vec();
        if config.batch.grouped().is_some() {
            // Of cases with as many new facts the first is taken: one that needs many registers.
            epilogues.reverse();
        }
        epilogues.into_iter().map(move |epilogue| Case::new(config, epilogue))
    });
    let all: Vec<Case> = all.collect();
    // Facts are those of one kernel, so that each kernel is covered for itself: first for single products, and then what batches add.
    let kernels = all.chunk_by(|case, next| case.family() == next.family());
    let mut covered = BTreeSet::new();
    let chosen: Vec<&Case> = if asked("--all") {
        all.iter().collect()
    } else {
        kernels.flat_map(|cases| covering(cases, &mut covered)).collect()
    };
    let special: Vec<Case> = [REDUCED, GATED].into_iter().flat_map(few).collect();
    for case in chosen.into_iter().chain(&special) {
        write(&folder, &case.facts.join("."), &generate(&case.config, &case.epilogue())?.kernel)?;
    }
    // A pass that copies one matrix is a part of one that copies two, and which of the two is A does not matter.
    for config in passes() {
        if config.copied == [true; 2] {
            let batch = if config.batch == Batch::Strided { ".batch" } else { "" };
            let name = format!("{}{batch}", config.name);
            write(&folder, &name, &repitch(&config)?.kernel)?;
        }
    }
    for (name, problem, aligned) in copies()? {
        let mut chosen = girih_kernels::copy::choose(&problem, aligned)?;
        chosen.config.programmatic = name.starts_with("copy.to_k");
        write(&folder, &name, &girih_codegen::copy::generate(&chosen.config)?.kernel)?;
    }
    Ok(())
}

fn write(folder: &str, name: &str, kernel: &Kernel) -> std::io::Result<()> {
    let text = format!("// {} bytes of dynamic shared memory\n{}", kernel.shared_bytes(), kernel.module());
    std::fs::write(Path::new(folder).join(name).with_added_extension("ptx"), text)
}
