//! `girih plan`: proves properties of partitions and finds copies, swizzles and conversions, without running a kernel.

use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Subcommand;
use girih_codegen::plan::{
    self, Access, BestMap, Conversion, Order, Pieces, Traffic, best_map, best_swizzle, coalesced_copy,
    exactly_once, in_bounds, injective, race_free, staged_copy, traffic,
};
use girih_layout::{Composed, F2Matrix, Int, Lay, Shape};
use girih_notation::find::dtype;
use girih_notation::{TrafficReport, marked};
use girih_tensor::DType;
use serde_json::{Value, json};

use crate::{CommandResult, Error};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The arguments of `girih plan`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  girih plan check '((4,8),(2,2)):((32,1),(16,8))' --tile '(16,8)'
  girih plan access '(64,64):(64,1)' '(32,8):(1,64)' --dtype bf16
  girih plan copy '(128,64):(4096,1)' --threads 256 --dtype bf16
  girih plan staged '(64,64):(64,1)' --threads 128 --dtype bf16
  girih plan swizzle '(64,64):(64,1)' --dtype bf16 --access '((8,16),(8,4)):((512,1),(64,16)):8'
  girih plan swizzle '(32,32):(32,1)' --dtype f32 --access '((8,32),4):((128,1),32):4' \\
    --access '(32,32):(1,32):1'
  girih plan convert '((4,8),(2,2)):((32,1),(16,8))' '((4,8),(2,2)):((16,1),(8,64))' --dtype f32

The exit status is 1 for a partition that is refuted; the answer names the threads and values that refute the partition.")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// Does every element of the tile have exactly one owner? Do threads race? Are all elements inside the tile?
    Check {
        /// (Thr,Val) -> index in the tile
        #[arg(value_parser = marked::layout)]
        tv: Lay,
        /// The shape of the tile
        #[arg(long, value_parser = marked::shape)]
        tile: Shape,
    },
    /// The bank conflicts and sectors of an access, the widest vector, and why the next wider vector is not possible
    Access {
        /// The layout of the tile in memory, coordinate -> element
        #[arg(value_parser = marked::composed)]
        memory: Composed,
        /// (Thr,Val) -> index in the tile
        #[arg(value_parser = marked::layout)]
        tv: Lay,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
        /// Elements that a thread accesses at a time [default: the widest vector]
        #[arg(long)]
        vector: Option<i64>,
    },
    /// The coalesced copy of a tile of global memory by the widest vectors
    Copy {
        /// The layout of the tile in memory, coordinate -> element
        #[arg(value_parser = marked::layout)]
        memory: Lay,
        /// Threads of the block
        #[arg(long)]
        threads: i64,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
    },
    /// The way of a tile through shared memory from one order of its elements to another
    Staged {
        /// The tile's coordinates, the fastest mode of the source first, to the index in the order of the destination
        #[arg(value_parser = marked::layout)]
        tile: Lay,
        /// Threads of the block
        #[arg(long)]
        threads: i64,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
        /// Elements that a thread reads and that it writes at a time [default: 16 bytes]
        #[arg(long, num_args = 2, value_names = ["READ", "WRITTEN"])]
        vectors: Option<Vec<i64>>,
    },
    /// The swizzle, and the linear map over F2, of a tile in shared memory for which accesses have the fewest conflicts
    Swizzle {
        /// The layout of the tile in memory, coordinate -> element
        #[arg(value_parser = marked::layout)]
        memory: Lay,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
        /// An access, (Thr,Val) -> index in the tile, then a colon and how many elements a thread accesses at a time; may be given
        /// several times
        #[arg(long = "access", required = true, value_name = "TV:VECTOR")]
        accesses: Vec<Vectors>,
    },
    /// How a warp turns fragments of one layout into fragments of another layout
    Convert {
        /// (Thr,Val) -> index in the tile, before the conversion
        #[arg(value_parser = marked::layout)]
        from: Lay,
        /// (Thr,Val) -> index in the tile, after the conversion
        #[arg(value_parser = marked::layout)]
        to: Lay,
        /// The type of the elements
        #[arg(long, value_parser = dtype)]
        dtype: DType,
    },
}

/// An access as the command line has it: `(32,8):(1,64):8`.
#[derive(Clone, Copy, Debug)]
struct Vectors(Access);

impl FromStr for Vectors {
    type Err = Error;

    fn from_str(text: &str) -> std::result::Result<Vectors, Error> {
        let refused = |expected: String| Error::Argument { text: text.into(), expected };
        let (tv, vector) = text.rsplit_once(':').ok_or_else(|| refused("TV:VECTOR".into()))?;
        let vector =
            vector.parse().map_err(|_| refused("a number of elements after the last colon".into()))?;
        let tv = marked::layout(tv)
            .map_err(|error| refused(format!("a layout before the last colon: {error}")))?;
        Ok(Vectors(Access { tv, vector }))
    }
}

pub(crate) fn run(args: Args) -> CommandResult {
    let (lines, object, fine) = match args.what {
        What::Check { tv, tile } => check(&tv, &tile)?,
        What::Access { memory, tv, dtype, vector } => access(&memory, &tv, dtype, vector)?,
        What::Copy { memory, threads, dtype } => copy(&memory, threads, dtype)?,
        What::Staged { tile, threads, dtype, vectors } => {
            let widest = (128 / i64::from(dtype.bits())).max(1);
            let vectors = vectors.map_or([widest; 2], |both| [both[0], both[1]]);
            staged(&tile, threads, dtype, vectors)?
        }
        What::Swizzle { memory, dtype, accesses } => {
            let accesses: Vec<Access> = accesses.into_iter().map(|Vectors(access)| access).collect();
            swizzle(&memory, dtype, &accesses)?
        }
        What::Convert { from, to, dtype } => {
            let conversion = Conversion::new(&from, &to, i64::from(dtype.bits()))?;
            let means = match conversion.means() {
                plan::Means::Rename => "rename",
                plan::Means::Permute => "permute",
                plan::Means::Shuffle => "shuffle",
                plan::Means::Shared => "shared",
            };
            let shuffles = conversion.shuffles();
            (
                vec![("conversion", conversion.to_string())],
                json!({ "means": means, "shuffles": shuffles }),
                true,
            )
        }
    };
    let text = if args.json {
        format!("{object}\n")
    } else {
        lines.into_iter().map(|(name, text)| format!("{name:<25} {text}\n")).collect()
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An answer as lines with names, and as JSON; whether what was to be proved is proved.
type Answer = (Vec<(&'static str, String)>, Value, bool);

fn pieces(pieces: Pieces) -> Value {
    json!({ "taken": pieces.taken, "least": pieces.least })
}

fn check(tv: &Lay, tile: &Shape) -> Result<Answer> {
    let proofs = [
        ("every element once", "exactly_once", exactly_once(tv, tile)),
        ("no element twice", "injective", injective(tv)),
        ("no race of threads", "race_free", race_free(tv)),
        ("inside the tile", "in_bounds", in_bounds(tv, tile)),
    ];
    let mut lines = Vec::new();
    let mut object = serde_json::Map::new();
    for (name, key, proof) in &proofs {
        match proof {
            Ok(()) => lines.push((*name, String::from("yes"))),
            Err(girih_codegen::Error::Refuted(fault)) => lines.push((*name, format!("no: {fault}"))),
            Err(error) => return Err(error.clone().into()),
        }
        let witness = proof.as_ref().err().map_or(Value::Null, |error| error.to_string().into());
        object.insert((*key).into(), json!({ "proved": proof.is_ok(), "witness": witness }));
    }
    Ok((lines, Value::Object(object), proofs[0].2.is_ok()))
}

/// The bank conflicts and sectors of an access, and the widest vector.
fn access(memory: &Composed, tv: &Lay, dtype: DType, vector: Option<i64>) -> Result<Answer> {
    let traffic = traffic(memory, tv, i64::from(dtype.bits()), vector)?;
    let object = serde_json::to_value(TrafficReport::from(&traffic))?;
    let Traffic { accesses, vector, widest: (widest, limit), wavefronts, sectors, conflict } = traffic;
    let mut lines = vec![
        ("accesses", format!("{accesses} of a warp, {vector} elements a thread")),
        ("widest vector", format!("{widest} elements: {limit}")),
        ("shared memory", format!("wavefronts {wavefronts}")),
        ("global memory", format!("sectors {sectors}")),
    ];
    lines.extend(conflict.map(|conflict| ("first conflict", conflict)));
    Ok((lines, object, true))
}

fn swizzle(memory: &Lay, dtype: DType, accesses: &[Access]) -> Result<Answer> {
    let bits = i64::from(dtype.bits());
    let (swizzle, wavefronts) = best_swizzle(memory, bits, accesses)?;
    let [kept, free] = [Order::Kept, Order::Free].map(|order| best_map(memory, bits, accesses, order));
    let (kept, free) = (kept?, free?);
    let mut lines = vec![
        ("swizzle", swizzle.to_string()),
        ("wavefronts", wavefronts.to_string()),
        ("any F2 map", in_words(&kept)?),
    ];
    if let Some(layout) = mapped(memory, &kept.map) {
        lines.push(("the tile with it", layout.to_string()));
    }
    if free.wavefronts.taken < kept.wavefronts.taken {
        lines.push(("words of vectors moved", in_words(&free)?));
    }
    let object = |best: &BestMap| -> Result<Value> {
        let layout = mapped(memory, &best.map).map(|layout| layout.to_string());
        let wavefronts = pieces(best.wavefronts);
        Ok(json!({
            "map": map_text(&best.map)?, "layout": layout, "wavefronts": wavefronts, "optimal": best.is_optimal,
        }))
    };
    let object = json!({
        "swizzle": swizzle.to_string(), "wavefronts": pieces(wavefronts),
        "f2": object(&kept)?, "f2_any_order": object(&free)?,
    });
    Ok((lines, object, true))
}

/// The map, how many wavefronts the accesses take with the map, and what is proved of this number.
fn in_words(best: &BestMap) -> Result<String> {
    let proof = match (best.wavefronts.is_least(), best.is_optimal) {
        (true, _) => "",
        (false, true) => ", which is proved to be the fewest of all maps",
        (false, false) => ", which is the fewest that was found",
    };
    Ok(format!("{}: wavefronts {}{proof}", map_text(&best.map)?, best.wavefronts))
}

/// The map as a swizzle, or as the layout that sends an index before the map to the index after the map.
fn map_text(map: &F2Matrix) -> Result<String> {
    Ok(match map.swizzle() {
        Some(swizzle) => swizzle.to_string(),
        None => map.layout(&Shape::flat(&[Int::fixed(1 << map.inputs())])?)?.coalesce().to_string(),
    })
}

/// The tile after the map, if that is a layout, as it is where the extents are powers of two.
fn mapped(memory: &Lay, map: &F2Matrix) -> Option<Lay> {
    map.after(&F2Matrix::of_layout(memory).ok()?).ok()?.layout(memory.shape()).ok()
}

fn copy(memory: &Lay, threads: i64, dtype: DType) -> Result<Answer> {
    let copy = coalesced_copy(memory, threads, i64::from(dtype.bits()))?;
    let extents = copy.extents()?;
    let shape: Vec<String> = extents.iter().map(i64::to_string).collect();
    let lines = vec![
        ("atom", copy.atom.name()),
        ("TV", copy.tv.to_string()),
        ("tile of the copy", format!("({})", shape.join(","))),
    ];
    let object = json!({ "atom": copy.atom.name(), "tv": copy.tv.to_string(), "tile": extents });
    Ok((lines, object, true))
}

fn staged(tile: &Lay, threads: i64, dtype: DType, vectors: [i64; 2]) -> Result<Answer> {
    let copy = staged_copy(tile, i64::from(dtype.bits()), vectors, threads)?;
    let lines = vec![
        ("read from the source", copy.load.to_string()),
        ("written to destination", copy.store.to_string()),
        ("map of shared memory", in_words(&copy.map)?),
    ];
    let object = json!({
        "load": copy.load.to_string(), "store": copy.store.to_string(), "map": map_text(&copy.map.map)?,
        "wavefronts": pieces(copy.map.wavefronts), "optimal": copy.map.is_optimal,
    });
    Ok((lines, object, true))
}
