//! A run: a kernel that was launched under all checks, with the record of one block.

use std::sync::{Arc, Mutex, PoisonError};

use girih_device::Device;
use girih_notation::{LineReport, Plan};
use girih_ptx::Module;
use girih_sim::{Memory, Options, Profile, Program};
use serde::{Deserialize, Serialize};

use super::arrays::MOST_ARRAY;
use super::examples::EXAMPLES;
use super::image::Image;
use super::record::Record;
use super::recorder::Recorder;
use super::{Run, named};
use crate::Fault;

/// What is to be run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    /// A kernel of girih or an example by name, in place of a text.
    #[serde(default)]
    kernel: Option<String>,
    /// The sizes of that kernel; its own small ones for none.
    #[serde(default)]
    sizes: Vec<i64>,
    /// PTX.
    #[serde(default)]
    ptx: String,
    /// Arrays and launches, as `girih sim --launches` takes them. The last launch is recorded.
    #[serde(default)]
    launches: String,
    /// The block that is recorded.
    #[serde(default)]
    block: [u32; 3],
    /// What orders the warps and the asynchronous operations.
    #[serde(default)]
    seed: u64,
}

/// The most instructions that the warps of a cluster may execute, and those of all launches together.
const MOST: u64 = 1 << 20;
const ALL: u64 = 1 << 26;
/// The most blocks of all launches, and the most bytes of their arrays.
const BLOCKS: u64 = 512;
const MEMORY: u64 = 256 << 20;
/// How many runs are kept, and the most bytes of their records together, beside the latest one.
const KEPT: usize = 32;
const BYTES: usize = 256 << 20;

static RUNS: Mutex<Vec<Arc<Run>>> = Mutex::new(Vec::new());

/// The run of this name, if it is still kept.
pub(super) fn find(id: &str) -> Option<Arc<Run>> {
    let runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    runs.iter().find(|run| run.id == id).cloned()
}

/// The run of a request, which is kept for a while.
pub(super) fn get(request: &Request) -> Result<Arc<Run>, Fault> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(request)?.hash(&mut hasher);
    let id = format!("{:016x}", hasher.finish());
    if let Some(run) = find(&id) {
        return Ok(run);
    }
    let example = EXAMPLES.iter().find(|of| request.kernel.as_deref() == Some(of.name));
    let run = Arc::new(match (&request.kernel, example) {
        (_, Some(of)) => {
            let (ptx, launches) = (of.ptx.to_owned(), of.launches.to_owned());
            by_text(&Request { ptx, launches, ..request.clone() }, id)?
        }
        (Some(name), None) => by_name(name, request, id)?,
        (None, None) => by_text(request, id)?,
    });
    let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    runs.insert(0, run.clone());
    let mut bytes = 0;
    let room = runs.iter().take(KEPT).take_while(|run| {
        bytes += run.record.bytes();
        bytes <= BYTES
    });
    let kept = room.count().max(1);
    runs.truncate(kept);
    Ok(run)
}

fn options(request: &Request, recorder: &Arc<Recorder>, profile: &Profile) -> Options {
    Options {
        counts: true,
        seed: request.seed,
        // Of several workers two would see what is executed again.
        threads: Some(1),
        profile: Some(profile.clone()),
        steps: Some(MOST),
        observer: Some(recorder.clone()),
        ..Options::checked()
    }
}

/// Runs a kernel of girih.
fn by_name(name: &str, request: &Request, id: String) -> Result<Run, Fault> {
    let (recorder, profile) = (Arc::new(Recorder::new(request.block, None)), Profile::default());
    let device = Device::open_sim(options(request, &recorder, &profile))?;
    let (modules, arrays) = named::launch(name, &device, &request.sizes)
        .map_err(|stop| Fault::new("refused", stop.to_string()).in_field("kernel"))?;
    let mut record = recorder.take();
    // What the arrays hold is known before the launch and after it.
    let last = record.steps.len().saturating_sub(1) as u32;
    for of in arrays.into_iter().filter(|of| of.before.len() as u64 <= MOST_ARRAY) {
        let mut image = Image::new(format!("array {}", of.name), of.address, of.before);
        image.ty = Some(of.ty.into());
        image.put(last, None, 0, &of.after);
        record.memory.push(image);
    }
    let module =
        modules.iter().find(|module| module.kernels().iter().any(|kernel| *kernel.name == *record.kernel));
    checked(&record, request.block)?;
    let text = module.map(ToString::to_string).ok_or_else(|| {
        let message =
            format!("{name} with these sizes runs {} first, whose text is not known", record.kernel);
        Fault::new("refused", message).in_field("kernel")
    })?;
    Ok(Run {
        id,
        text,
        lines: profile.lines(&record.kernel).iter().map(LineReport::from).collect(),
        record,
        findings: device.sim_findings(),
        seeds: vec![request.seed],
    })
}

/// Refuses a record without a step.
fn checked(record: &Record, [x, y, z]: [u32; 3]) -> Result<(), Fault> {
    if record.steps.is_empty() {
        let message = format!("the launch has no block {x},{y},{z}");
        return Err(Fault::new("no_block", message).in_field("block"));
    }
    Ok(())
}

/// Runs the launches of a text.
fn by_text(request: &Request, id: String) -> Result<Run, Fault> {
    let of_ptx = |error: &girih_ptx::Error| Fault::new("ptx", error.quoting(&request.ptx)).in_field("ptx");
    let of_launches = |message: String| Fault::new("launches", message).in_field("launches");
    let (module, refused) = Module::parse_each(&request.ptx).map_err(|error| of_ptx(&error))?;
    let plan = Plan::parse(&request.launches).map_err(|refused| of_launches(refused.to_string()))?;
    if let Some(file) = plan.file() {
        let message = format!(
            "the page reads and writes no files such as {file}: zeros, ones and rand are arrays without one"
        );
        return Err(of_launches(message));
    }
    let program = Program::load(&module).map_err(|error| Fault::from(error).in_field("ptx"))?;
    let memory = Arc::new(Memory::with_capacity(MEMORY));
    let (ready, _) = plan.bind(&memory).map_err(|error| of_launches(error.to_string()))?;
    let blocks =
        ready.iter().flat_map(|of| of.launch.grid.iter().map(|&n| u64::from(n)).reduce(u64::saturating_mul));
    let blocks = blocks.fold(0, u64::saturating_add);
    if blocks > BLOCKS {
        return Err(of_launches(format!("launches of {blocks} blocks: the page runs up to {BLOCKS} in all")));
    }
    let (recorder, profile) =
        (Arc::new(Recorder::new(request.block, Some(memory.clone()))), Profile::default());
    let steps = Some((ALL / blocks.max(1)).min(MOST));
    let observed = Options { seeds: 4, steps, ..options(request, &recorder, &profile) };
    let mut last = None;
    for (number, of) in ready.iter().enumerate() {
        if let Some(refused) = refused.iter().find(|refused| *refused.name == *of.kernel) {
            return Err(of_ptx(&refused.error));
        }
        let kernel = program.kernel(&of.kernel).map_err(|error| of_launches(error.to_string()))?;
        if number + 1 < ready.len() {
            let before = Options { observer: None, profile: None, ..observed.clone() };
            girih_sim::run(kernel, &memory, &of.launch, &before)
                .map_err(|error| of_launches(format!("launch {}: {error}", number + 1)))?;
            continue;
        }
        let verdict = girih_sim::judge(kernel, &memory, &of.launch, &observed)
            .map_err(|error| of_launches(error.to_string()))?;
        last = Some(verdict);
    }
    let Some(verdict) = last else {
        return Err(of_launches("no launch".into()));
    };
    let record = recorder.take();
    checked(&record, request.block)?;
    Ok(Run {
        id,
        text: request.ptx.clone(),
        lines: profile.lines(&record.kernel).iter().map(LineReport::from).collect(),
        record,
        findings: verdict.findings,
        seeds: verdict.seeds,
    })
}
