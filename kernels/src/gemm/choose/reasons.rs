//! The reasons for the choice of a configuration, as text.

use girih_codegen::Operand;
use girih_codegen::gemm::{GemmConfig, Major, Schedule, Store};

use super::inputs::Input;
use super::space::Rule;
use super::{Hardware, KernelKind, LARGE, by_warpgroups, choose, shipped};
use crate::Error;
use crate::gemm::records::product_of;
use crate::gemm::repitch::{Copying, copied};
use crate::gemm::{Problem, repitched};
use girih_device::Record;

/// The reasons for what [`choose`] chooses, in the order in which it is decided: what is decided, and why it is so.
///
/// # Errors
/// As [`choose`].
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose::reasons};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [4096, 4096, 127], Layout::Tn)?;
/// let reasons = reasons(&problem, KernelKind::Sm90, 132)?;
/// let of_a = reasons.iter().find(|(what, _)| *what == "A").map(|(_, why)| &**why);
/// assert_eq!(of_a, Some("is copied to rows of 128 elements: rows of 127 do not begin at multiples of 8, which the kernel reads at once"));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn reasons(
    problem: &Problem,
    kind: KernelKind,
    hardware: impl Into<Hardware>,
) -> Result<Vec<(&'static str, String)>, Error> {
    let hardware = hardware.into();
    let (config, multiprocessors) = (choose(problem, kind, hardware)?, hardware.multiprocessors);
    let mut reasons = vec![("kernel", family(problem, kind))];
    let [m, n, k] = config.tile;
    let record = followed(problem, kind, multiprocessors);
    let why = match &record {
        Ok(Some(record)) => fastest_of(record)?,
        _ if config.mainloop.warp_specialized().is_some() => why(problem, multiprocessors),
        _ if config.tile[..2] == LARGE => String::from(
            "a block has shared memory for it, and it finishes before two blocks of the usual one on each SM",
        ),
        _ => format!("the usual tile of this family for {}", problem.dtype()),
    };
    reasons.push(("tile", format!("{m}x{n}x{k}: {why}")));
    reasons.extend(record.err().map(|why| ("record", why)));
    if config.c_major != problem.c().major() {
        let of = if config.c_major == Major::Mn { "columns" } else { "rows" };
        reasons.push((
            "order",
            format!("the kernel's C has contiguous {of}: it computes the transpose, of B and A"),
        ));
    }
    if let Some(count) = problem.pointers() {
        let [a, b, c] = [problem.a(), problem.b(), problem.c()].map(|matrix| matrix.alignment());
        reasons.push((
            "addresses",
            format!("those of {count} products stand in memory, where a block finds its tile's; A, B and C begin at multiples of {a}, {b} and {c} bytes"),
        ));
    }
    reasons.push(("schedule", schedule(&config)));
    reasons.push(("store", store(&config)));
    reasons.extend(copies(problem, &config)?);
    if config.programmatic {
        let why = "may begin before the kernel before it has ended, so that less of its start is waited for";
        reasons.push(("start", String::from(why)));
    }
    Ok(reasons)
}

fn family(problem: &Problem, kind: KernelKind) -> String {
    let dtype = problem.dtype();
    match kind {
        KernelKind::Simt => {
            format!("simt: the CUDA cores multiply {dtype}, which tensor cores would round to tf32")
        }
        KernelKind::Sm80 => match () {
            () if Input::of(problem).is_some_and(|input| !input.is_of_warpgroups()) => {
                format!("sm80: warps multiply {dtype} on the tensor cores of every GPU from sm_80 on")
            }
            () if problem.pointers().is_some() => format!(
                "sm80: warps multiply {dtype} from any addresses; wgmma would take tensor maps, which have one address each"
            ),
            () if by_warpgroups(problem) => {
                format!("sm80: warps multiply {dtype} on every GPU from sm_80 on; sm90 is faster on sm_90")
            }
            () => format!(
                "sm80: wgmma takes {dtype} only where A and B are contiguous along K, and copying them first would cost more than it saves"
            ),
        },
        KernelKind::Sm90 if Input::of(problem).is_some_and(|input| !input.is_of_warpgroups()) => {
            format!("sm90: warps multiply {dtype} by the larger instructions of sm_90; wgmma has none for it")
        }
        KernelKind::Sm90 => {
            format!("sm90: warpgroups multiply {dtype} by wgmma, from tiles that TMA loads")
        }
    }
}

/// The record by which a problem is computed, or why there is one that is passed over.
fn followed(
    problem: &Problem,
    kind: KernelKind,
    multiprocessors: u32,
) -> Result<Option<&'static Record>, String> {
    let over = |why: String| format!("passed over: {why}");
    let Some(records) = shipped(multiprocessors).map_err(|error| over(error.to_string()))? else {
        return Ok(None);
    };
    let found = records.follow(problem, kind).map_err(|error| over(error.to_string()))?;
    let other = kind == KernelKind::Sm90 && !problem.is_invariant();
    match (found, records.find(problem)) {
        (Some((_, record)), _) => Ok(Some(record)),
        (None, Ok(Some((_, record)))) if other => Err(over(format!(
            "that of {} names `{}`, which leaves no registers for what is computed of the sums",
            record.date, record.config
        ))),
        _ => Ok(None),
    }
}

/// Why a record counts: what was measured, where and when.
fn fastest_of(record: &Record) -> Result<String, Error> {
    let Record { machine, driver, date, micros, .. } = record;
    let product = product_of(record)?;
    Ok(format!(
        "the fastest that was measured for {product}: {micros:.2} us on {machine}, driver {driver}, {date}"
    ))
}

/// Why a rule names the tile.
fn why(problem: &Problem, multiprocessors: u32) -> String {
    match Rule::of(problem) {
        Rule::Weights => String::from(
            "weights are the rows, whose A is converted in registers, and the columns are the fewest that hold all tokens",
        ),
        Rule::Invariant => String::from("one tile for any M, so that rows of C have the same bits"),
        Rule::Groups => format!(
            "of the tiles for groups, the one with which the last of {multiprocessors} SMs is expected to finish first"
        ),
        Rule::Least => String::from("the least time that is expected of the tiles and schedules that fit"),
    }
}

fn schedule(config: &GemmConfig) -> String {
    match config.schedule {
        _ if config.batch.grouped().is_some() => {
            "a block for each SM goes through the tiles of all groups, whose offsets it keeps in shared memory".into()
        }
        Schedule::Persistent { .. } => {
            "a block for each SM goes through tiles in an order that keeps \
                                        their rows and columns in the L2 cache"
                .into()
        }
        Schedule::StreamK { .. } => "a block for each SM goes through tiles; those that would leave some blocks without work are \
                                     cut along K, and their sums are added in a workspace, in one order"
            .into(),
        Schedule::Raster { group } => format!("a block for each tile, in groups of {group} rows of tiles"),
        Schedule::SplitK { parts, cluster } if parts == cluster => {
            format!("{parts} blocks of a cluster share the K of each tile, and add up through shared memory")
        }
        Schedule::SplitK { parts, .. } => {
            format!("{parts} blocks share the K of each tile, and add up in a workspace, in one order")
        }
    }
}

fn store(config: &GemmConfig) -> String {
    let why = if config.batch.grouped().is_some() {
        "TMA copies do not end with a group"
    } else {
        "its rows do not all begin and end at multiples of 16 bytes"
    };
    let each =
        |vector: i64| if vector == 1 { String::from("one element") } else { format!("{vector} elements") };
    match config.store {
        Store::Tma { .. } => "TMA stores C: its rows begin and end at multiples of 16 bytes".into(),
        Store::Coalesced { vector, .. } => {
            format!("C goes through shared memory to stores of {}: {why}", each(vector))
        }
        Store::Direct { vector } => format!("C is stored from registers, {} at once", each(vector)),
    }
}

/// Which of A and B is copied before the product, and why.
fn copies(problem: &Problem, config: &GemmConfig) -> Result<Vec<(&'static str, String)>, Error> {
    let (oriented, transposed) = problem.oriented(config.c_major);
    let solved = repitched(&oriented, config)?;
    let names = if transposed { ["B", "A"] } else { ["A", "B"] };
    let pairs = [(oriented.a(), solved.a(), Operand::A), (oriented.b(), solved.b(), Operand::B)];
    let mut reasons = Vec::new();
    for ((name, (from, to, operand)), reason) in names.into_iter().zip(pairs).zip(copied(&oriented, config)?)
    {
        let copied = format!("is copied to rows of {} elements", to.ld());
        let why = match reason {
            None => continue,
            Some(Copying::Zeros) => {
                String::from("is a column of zeros: tensor maps describe no matrix without elements")
            }
            Some(Copying::Transposed) if config.loads_by_maps() => format!(
                "{copied} along K: wgmma takes {} only where it is contiguous along K",
                problem.dtype()
            ),
            Some(Copying::Transposed) => {
                format!("{copied} along its other mode: loads that transpose would take longer than the copy")
            }
            Some(Copying::Unaligned) => format!(
                "{copied}: rows of {} do not begin at multiples of {}, which the kernel reads at once",
                from.ld(),
                config.aligned(operand)?
            ),
            Some(Copying::Straddling) => format!(
                "{copied}: many small tiles read its rows, and rows of {} do not begin at lines of the cache",
                from.ld()
            ),
        };
        reasons.push((name, why));
    }
    reasons.sort_unstable();
    Ok(reasons)
}
