//! What `codegen::plan` finds for a tile, put to the test: a kernel copies a tile by the coalesced copy into shared
//! memory under the swizzle found, reads and writes it back by `ldmatrix` and `stmatrix`, and copies it out. The
//! simulator's counts are the plan's, to the wavefront. The same kernels run on a GPU, where a profiler can count:
//!
//! ```text
//! ncu --clock-control none --csv --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,... gpu_plan --nocapture
//! ```
//!
//! (record: `benches/records/`, "Plans against hardware counters")
//!
//! With `GIRIH_RECORD=FILE` the predictions are added to the file, a line of JSON a kernel.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;

use girih_codegen::plan::{Access, best_swizzle, coalesced_copy, warp_accesses};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Memory, Smem, TiledCopy, Width};
use girih_device::{Arg, Device, LaunchConfig, Select, SimOptions};
use girih_layout::{Composed, Lay, Swizzle};
use girih_ptx::{Module, Special, Type};
use girih_sim::Profile;
use girih_tensor::{DType, Slice, Space, Tensor};

const THREADS: i64 = 128;
/// How many elements a row or column of the matrix begins after the one before.
const PITCH: i64 = 4096;

/// A tile of a matrix.
#[derive(Clone, Copy, Debug)]
struct Case {
    extents: [i64; 2],
    dtype: DType,
    row_major: bool,
    swizzled: bool,
}

/// What is planned for a tile.
struct Plan {
    name: String,
    global: Lay,
    shared: Lay,
    swizzle: Swizzle,
    copy: TiledCopy,
    vector: i64,
    /// `ldmatrix` and `stmatrix`, if its elements allow them, with `.trans`.
    matrices: Option<(Access, bool)>,
}

/// What a kernel is expected to take: wavefronts of its loads and stores of shared memory, and sectors of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    shared_loads: u64,
    shared_stores: u64,
    global_loads: u64,
    global_stores: u64,
}

fn matrix([x, y]: [i64; 2], stride: [i64; 2]) -> Lay {
    Lay::strided([x, y], stride).unwrap()
}

/// Which lanes give the addresses of rows, which are 16 bytes long. Four warps stand along mode 0.
fn matrices(case: &Case) -> Option<(Access, bool)> {
    let ([x, y], bits) = (case.extents, i64::from(case.dtype.bits()));
    let row = 128 / bits;
    let text = match (case.row_major, bits) {
        // 16 rows by 32 bytes: (row, half, warp), (element, step down, step right)
        (true, _) => format!(
            "((16,2,4),({row},{},{})):((1,{},16),({x},64,{}))",
            x / 64,
            y / (2 * row),
            row * x,
            2 * row * x
        ),
        // 16 by 16 elements, which are transposed by the instruction.
        (false, 16) => {
            format!("((8,2,2,4),(8,{},{})):(({x},8,{},16),(1,64,{}))", x / 64, y / 16, 8 * x, 16 * x)
        }
        // Only 16-bit elements can be transposed so.
        (false, _) => return None,
    };
    Some((Access { tv: Lay::parse(&text).unwrap(), vector: row }, !case.row_major))
}

impl Plan {
    fn of(case: Case) -> Plan {
        let Case { extents: [x, y], dtype, row_major, swizzled } = case;
        let global = matrix([x, y], if row_major { [PITCH, 1] } else { [1, PITCH] });
        let shared = matrix([x, y], if row_major { [y, 1] } else { [1, x] });
        let bits = i64::from(dtype.bits());
        let copy = coalesced_copy(&global, THREADS, bits).unwrap();
        let vector = i64::from(copy.atom.bits()) / bits;
        let matrices = matrices(&case);
        let mut accesses = vec![Access { tv: copy.layout_d_tv(&[x, y]).unwrap(), vector }];
        accesses.extend(matrices.map(|(access, _)| access));
        let swizzle =
            if swizzled { best_swizzle(&shared, bits, &accesses).unwrap().0 } else { Swizzle::NONE };
        let order = if row_major { "rows" } else { "columns" };
        let name = format!("{dtype}_{order}_{x}x{y}_{}", if swizzled { "swizzled" } else { "plain" });
        Plan { name, global, shared, swizzle, copy, vector, matrices }
    }

    /// `(Thr,Val)` of the copy, and its vectors: 16 bytes where the tile allows.
    fn counts(&self, dtype: DType) -> Counts {
        let bits = i64::from(dtype.bits());
        let size = |mode: usize| self.shared.mode(mode).unwrap().size().unwrap().get().unwrap();
        let tv = self.copy.layout_s_tv(&[size(0), size(1)]).unwrap();
        let shared = Composed::new(self.swizzle, 0, self.shared);
        let global = Composed::new(Swizzle::NONE, 0, self.global);
        let all = |memory: &Composed, tv: &Lay, vector| warp_accesses(memory, tv, bits, vector).unwrap();
        let wavefronts = |tv: &Lay, vector| {
            all(&shared, tv, vector).iter().map(|a| a.wavefronts().taken as u64).sum::<u64>()
        };
        let copied = wavefronts(&tv, self.vector);
        let fragments = self.matrices.map_or(0, |(access, _)| wavefronts(&access.tv, access.vector));
        let sectors = all(&global, &tv, self.vector).iter().map(|a| a.sectors().taken as u64).sum();
        Counts {
            shared_loads: copied + fragments,
            shared_stores: copied + fragments,
            global_loads: sectors,
            global_stores: sectors,
        }
    }

    fn kernel(&self, dtype: DType) -> Result<Module, Error> {
        let mut b = Builder::new(&self.name, 90, THREADS as u32);
        let (from, to) = (b.pointer("from", 16), b.pointer("to", 16));
        let thread = b.special(Special::TidX);
        let shared = Smem::alloc(&mut b, dtype, Some(self.swizzle), &self.shared)?; // (M,N)
        let part = self.copy.get_slice(&thread)?.partition_d(&shared)?; // (Vec,RestM,RestN)
        let global = |pointer: Expr| Tensor::new(Gmem::new(pointer, dtype), self.global);
        let source = self.copy.get_slice(&thread)?.partition_s(&global(from))?; // (Vec,RestM,RestN)
        let target = self.copy.get_slice(&thread)?.partition_d(&global(to))?; // (Vec,RestM,RestN)
        let vectors = part.layout().size()?.get().unwrap_or(0) / self.vector;
        let at = |i: i64| Slice::At(Expr::from(i * self.vector));
        let regs = b.regs(Type::B32, 4);
        for i in 0..vectors {
            b.load(Space::Gmem, &regs, &source.slice(at(i))?.engine().address()?, &Cond::Always)?;
            b.store(Space::Smem, &part.slice(at(i))?.engine().address()?, &regs, &Cond::Always)?;
        }
        b.barrier();
        if let Some((access, transposed)) = &self.matrices {
            let rows = shared.tv_partition(&access.tv, &thread)?; // (Val)
            let trans = if *transposed { ".trans" } else { "" };
            for i in 0..rows.layout().size()?.get().unwrap_or(0) / access.vector {
                let row = rows.slice(Slice::At(Expr::from(i * access.vector)))?;
                let address = b.value(&row.engine().address()?, Width::W32)?;
                let operands: Vec<_> = regs.iter().chain([&address]).collect();
                let form = format!("sync.aligned.m8n8.x4{trans}.shared.b16");
                b.ptx(&format!("ldmatrix.{form} {{%0,%1,%2,%3}}, [%4];"), &operands)?;
                // The elements go back to where they came from, once every lane has its own.
                b.ptx("bar.warp.sync 0xffffffff;", &[])?;
                b.ptx(&format!("stmatrix.{form} [%4], {{%0,%1,%2,%3}};"), &operands)?;
            }
            b.barrier();
        }
        for i in 0..vectors {
            b.load(Space::Smem, &regs, &part.slice(at(i))?.engine().address()?, &Cond::Always)?;
            b.store(Space::Gmem, &target.slice(at(i))?.engine().address()?, &regs, &Cond::Always)?;
        }
        Ok(b.finish()?.into_module())
    }
}

/// What the simulator counted.
fn counted(profile: &Profile, kernel: &str) -> Counts {
    let mut counts = Counts::default();
    for line in profile.lines(kernel) {
        let of = line.counts;
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| line.instruction.starts_with(prefix));
        if starts(&["ld.shared", "ldmatrix"]) {
            counts.shared_loads += of.wavefronts;
        } else if starts(&["st.shared", "stmatrix"]) {
            counts.shared_stores += of.wavefronts;
        } else if starts(&["ld.global"]) {
            counts.global_loads += of.sectors;
        } else if starts(&["st.global"]) {
            counts.global_stores += of.sectors;
        } else {
            assert_eq!((of.wavefronts, of.sectors), (0, 0), "{}", line.instruction);
        }
    }
    counts
}

/// Copies the first tile of a matrix. Nothing else may change.
fn run(device: &Device, plan: &Plan, dtype: DType) {
    let module = plan.kernel(dtype).unwrap_or_else(|error| panic!("{}: {error}", plan.name));
    let bytes = dtype.bits() as usize / 8;
    let elements = plan.global.cosize().unwrap().get().unwrap() as usize;
    let words: Vec<u32> =
        (0..elements as u32 * bytes as u32 / 4 + 1).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let (from, to) = (device.upload(&words).unwrap(), device.alloc::<u32>(words.len()).unwrap());
    to.fill_bytes(0xa5).unwrap();
    let kernel = device.load(&module).unwrap().kernel(&plan.name).unwrap();
    let shared = plan.shared.size().unwrap().get().unwrap() as u32 * bytes as u32;
    let config = LaunchConfig::new([1; 3], [THREADS as u32, 1, 1]).with_dynamic_shared(shared);
    // SAFETY: the kernel reads and writes the elements of the tile's layout, which the buffers hold.
    #[expect(unsafe_code, reason = "launching a generated kernel")]
    unsafe {
        kernel.launch(&config, &[Arg::from(&from), Arg::from(&to)]).unwrap();
    }
    let (from, to): (Vec<u8>, Vec<u8>) = (bytes_of(&words), bytes_of(&to.download().unwrap()));
    let size = plan.global.size().unwrap().get().unwrap();
    let mut inside = vec![false; to.len()];
    for i in 0..size {
        let at = plan.global.at(i).unwrap() as usize * bytes;
        inside[at..at + bytes].fill(true);
    }
    for (i, inside) in inside.into_iter().enumerate() {
        assert_eq!(
            to[i],
            if inside { from[i] } else { 0xa5 },
            "{}: byte {i} on {}",
            plan.name,
            device.name()
        );
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn the_plan_is_what_is_counted() {
    let gpu = match Device::open(Select::Cuda(0)) {
        Ok(gpu) if gpu.limits().sm >= 90 => Some(gpu),
        Ok(gpu) => {
            writeln!(
                std::io::stderr(),
                "skipped on a GPU: stmatrix needs sm_90, this is sm_{}",
                gpu.limits().sm
            )
            .unwrap();
            None
        }
        // The harness swallows what eprintln! writes.
        Err(error) => {
            writeln!(std::io::stderr(), "skipped on a GPU: {error}").unwrap();
            None
        }
    };
    let mut record = std::env::var_os("GIRIH_RECORD")
        .map(|path| std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap());
    let tiles = [[64, 64], [128, 64], [128, 128], [256, 128]];
    for (extents, dtype) in
        tiles.into_iter().flat_map(|e| [DType::Bf16, DType::F32, DType::S8].map(|d| (e, d)))
    {
        for (row_major, swizzled) in [(true, true), (true, false), (false, true), (false, false)] {
            let plan = Plan::of(Case { extents, dtype, row_major, swizzled });
            let want = plan.counts(dtype);
            let least = plan.shared.size().unwrap().get().unwrap() as u64 * u64::from(dtype.bits()) / 8 / 128;
            let accesses = 1 + u64::from(plan.matrices.is_some());
            assert_eq!(
                want.shared_loads == least * accesses,
                swizzled || plan.matrices.is_none(),
                "{}: {want:?}",
                plan.name
            );
            assert_eq!(
                (plan.vector * i64::from(dtype.bits()), want.global_loads),
                (128, least * 4),
                "{}",
                plan.name
            );
            let profile = Profile::default();
            let options =
                SimOptions { counts: true, profile: Some(profile.clone()), ..SimOptions::checked() };
            run(&Device::open_sim(options).unwrap(), &plan, dtype);
            assert_eq!(counted(&profile, &plan.name), want, "{}", plan.name);
            if let Some(gpu) = &gpu {
                run(gpu, &plan, dtype);
            }
            if let Some(record) = &mut record {
                let line = serde_json::json!({
                    "kernel": plan.name,
                    "swizzle": plan.swizzle.to_string(),
                    "shared_loads": want.shared_loads,
                    "shared_stores": want.shared_stores,
                    "global_loads": want.global_loads,
                    "global_stores": want.global_stores,
                });
                writeln!(record, "{line}").unwrap();
            }
        }
    }
}
