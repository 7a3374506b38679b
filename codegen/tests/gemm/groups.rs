//! Products of groups of rows or columns by every mainloop, on the simulator with every check on.

use girih_codegen::Slot;
use girih_codegen::gemm::{
    Arguments, Batch, Epilogue, GemmConfig, GemmKernel, Input, InputKind, Mainloop, Major, Multistage,
    Output, Reduction, Schedule, Source, Store, generate,
};
use girih_layout::lay;
use girih_sim::{Memory, Options};
use girih_tensor::DType;

use super::batches::{Matrices, dot, encode, number, rows};
use super::configs::{simt, sm80, with};
use crate::simulator::{blocks, bytes, download, run, upload};
use crate::teams::two_teams;
use crate::warp_specialized::config as wgmma;

/// The elements before and after C, which must stay as they are.
const GUARD: i64 = 512;

/// A grouped product: M, N and K of all groups together, and where groups begin and the last one ends.
#[derive(Clone, Debug)]
struct Problem {
    mnk: [i64; 3],
    offsets: Vec<u32>,
    /// Whether all groups have the same matrix where each has one of its own.
    same: bool,
}

impl Problem {
    fn groups(&self) -> i64 {
        self.offsets.len() as i64 - 1
    }

    /// The group that has row, or column, `x`, if there is one. Of groups that overlap it is not said which one is stored last.
    fn group_of(&self, x: i64) -> Option<i64> {
        let has = |pair: &[u32]| (i64::from(pair[0])..i64::from(pair[1])).contains(&x);
        self.offsets.windows(2).position(has).map(|group| group as i64)
    }
}

/// The matrices of A, B and C, and of a matrix that lies like C, with pitches that are multiples of `unit`.
fn lying(config: &GemmConfig, problem: &Problem, unit: i64) -> [Matrices; 4] {
    let ([m, n, k], mode) = (problem.mnk, config.batch.grouped().unwrap());
    let [a, b] = config.majors().map(|major| usize::from(major == Major::K));
    let c = usize::from(config.c_major == Major::K);
    let all = [([m, k], a), ([n, k], b), ([m, n], c), ([m, n], c)];
    let mut out = all.map(|(extents, contiguous)| {
        let pitch = (extents[contiguous] + unit - 1) / unit * unit + unit;
        Matrices { extents, contiguous, pitch, stride: 0 }
    });
    let own = &mut out[1 - mode];
    if !problem.same {
        own.stride = own.pitch * own.extents[1 - own.contiguous] + unit;
    }
    out
}

/// What epilogues add, by the kind of the input: the vectors of what all rows of a group have in common are 40 elements apart.
const APART: i64 = 40;

fn added(kernel: &GemmKernel, mode: usize, [x, y]: [i64; 2], group: i64, like_c: &Matrices) -> f64 {
    let value = |input: &Input| match input.kind {
        InputKind::Matrix => number(3, like_c.at(x, y, 0)),
        InputKind::Row => number(4, if mode == 0 { y + APART * group } else { y }),
        InputKind::Column => number(5, if mode == 0 { x } else { x + APART * group }),
        InputKind::Scalar => 0.0,
    };
    kernel.inputs.iter().map(value).sum()
}

/// Runs the problem and compares every byte of C's array.
fn verify(config: &GemmConfig, epilogue: &Epilogue, problem: &Problem) {
    let kernel = &generate(config, epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let (c, memory, all) = launched(config, kernel, problem, &Options { seed: 5, ..Options::checked() });
    let [m, n, k] = problem.mnk;
    let mode = config.batch.grouped().unwrap();
    let mut expected = vec![f64::NAN; (all[2].len(1) + 2 * GUARD) as usize];
    for group in 0..problem.groups() {
        let a = rows([m, k], |x, k| number(0, all[0].at(x, k, group)));
        let b = rows([n, k], |y, k| number(1, all[1].at(y, k, group)));
        let own = (0..m).flat_map(|x| (0..n).map(move |y| [x, y]));
        for [x, y] in own.filter(|at| problem.group_of(at[mode]) == Some(group)) {
            let sum = dot(&a[x as usize], &b[y as usize]);
            expected[(GUARD + all[2].at(x, y, 0)) as usize] =
                sum + added(kernel, mode, [x, y], group, &all[3]);
        }
    }
    let expected: Vec<u8> = expected.into_iter().flat_map(|value| encode(config.c_type, value)).collect();
    let found = download(&memory, c, expected.len());
    let wrong = found.iter().zip(&expected).position(|(x, y)| x != y);
    assert_eq!(wrong, None, "a byte of C: {problem:?}, {config:?}");
}

/// Runs the problem. Returns where C's array is in which memory, and how the matrices lie.
fn launched(
    config: &GemmConfig,
    kernel: &GemmKernel,
    problem: &Problem,
    options: &Options,
) -> (u64, Memory, [Matrices; 4]) {
    let (memory, mnk, groups) = (Memory::new(), problem.mnk, problem.groups());
    let all = lying(config, problem, 8);
    let types = [config.atom().a_type, config.atom().b_type, config.c_type, DType::Bf16];
    let mut places = Vec::new();
    for (i, matrices) in all.iter().enumerate() {
        let (guard, count) = if i == 2 { (GUARD, 1) } else { (0, groups) };
        let value = |at| if i == 2 { f64::NAN } else { number(i, at) };
        let len = matrices.len(if matrices.stride == 0 { 1 } else { count }) + 2 * guard;
        let bytes: Vec<u8> = (0..len).flat_map(|at| encode(types[i], value(at))).collect();
        places.push(upload(&memory, &bytes));
    }
    let of_c = places[2];
    places[2] += (GUARD * i64::from(config.c_type.bits()) / 8) as u64;
    let [m, n, _] = mnk;
    let vector = |operand| {
        let value = move |at| encode(DType::Bf16, number(operand, at));
        upload(&memory, &(0..APART * groups + m + n).flat_map(value).collect::<Vec<_>>())
    };
    let (row, column) = (vector(4), vector(5));
    let offsets: Vec<u8> = problem.offsets.iter().flat_map(|x| x.to_le_bytes()).collect();
    let pitches = [0, 1, 2].map(|i| all[i].pitch);
    let own = &all[1 - config.batch.grouped().unwrap()];
    let batch = [if problem.same { [1, 0] } else { [groups, own.stride] }; 3];
    let arguments = Arguments { mnk, pitches, products: groups, batch, ..Arguments::default() };
    let offsets = upload(&memory, &offsets);
    let args = bytes(&kernel.params, &arguments, |slot| match slot {
        Slot::Memory("a") => places[0],
        Slot::Memory("b") => places[1],
        Slot::Memory("c") => places[2],
        Slot::Memory("offsets") => offsets,
        Slot::Memory("x") => places[3],
        Slot::Memory("row") => row,
        Slot::Memory(_) => column,
        Slot::Pitch(_) => all[3].pitch as u64,
        Slot::Step(_) => APART as u64,
    });
    let grid = kernel.blocks([m, n, groups], 3).unwrap();
    let launch = blocks(grid.into(), kernel.kernel.threads(), kernel.kernel.shared_bytes(), args);
    let ran = run(kernel.kernel.module(), &memory, &launch, options);
    ran.unwrap_or_else(|e| panic!("{e}: {problem:?} {config:?}"));
    (of_c, memory, all)
}

fn grouped(config: GemmConfig, mode: usize) -> GemmConfig {
    let schedule = Schedule::Persistent { alternate: false };
    let config = GemmConfig { schedule, batch: Batch::Grouped { mode }, ..config };
    let Mainloop::Multistage(_) = config.mainloop else { return config };
    // Groups along a contiguous mode begin anywhere.
    let single = |source: Source| Source {
        vector: if source.major == Major::Mn { 1 } else { source.vector },
        ..source
    };
    with(config, |m| match mode {
        0 => Multistage { a: single(m.a), ..m },
        _ => Multistage { b: single(m.b), ..m },
    })
}

/// Both mainloops with groups along each mode, with every contiguous mode of what the groups follow each other in.
fn configs() -> Vec<GemmConfig> {
    let two = lay!("(2,1):(1,0)");
    let hopper = |atom| {
        let store = Store::Coalesced { tile: [128, 64], vector: 1 };
        GemmConfig { store, ..wgmma(atom, [128, 64, 64], two, DType::Bf16) }
    };
    let (tn, nt) = ("SM90_64x64x16_F32BF16BF16_SS", "SM90_64x64x16_F32BF16BF16_SS<MN,MN>");
    let wide = |config| GemmConfig { store: Store::Coalesced { tile: [128, 64], vector: 8 }, ..config };
    let direct = |config| GemmConfig { store: Store::Direct { vector: 1 }, ..config };
    let of_columns = |config| GemmConfig { c_major: Major::Mn, ..config };
    let warps = |a, b| direct(sm80(DType::Bf16, a, b));
    let in_turns = Store::Coalesced { tile: [64, 64], vector: 8 };
    let (k, mn) = (Major::K, Major::Mn);
    vec![
        grouped(wide(hopper(tn)), 0),
        grouped(hopper(nt), 0),
        grouped(hopper(tn), 1),
        grouped(wide(of_columns(hopper(nt))), 1),
        grouped(of_columns(hopper(tn)), 0),
        grouped(direct(hopper(tn)), 0),
        grouped(GemmConfig { store: in_turns, ..two_teams(tn, [64, 64, 64], DType::Bf16) }, 0),
        grouped(warps(k, mn), 0),
        grouped(warps(mn, k), 0),
        grouped(warps(k, mn), 1),
        grouped(warps(k, k), 1),
        grouped(GemmConfig { c_type: DType::F32, ..direct(simt(mn, k)) }, 0),
        grouped(GemmConfig { c_type: DType::F32, ..direct(simt(k, k)) }, 1),
    ]
}

/// A problem of groups along the mode of a configuration's groups, 72 elements along the other one, and `k` sums or the few less that the
/// configuration takes.
fn along(config: &GemmConfig, extent: i64, k: i64, offsets: &[u32]) -> Problem {
    let mut mnk = [72, 72, k - k % config.aligned_k().unwrap()];
    mnk[config.batch.grouped().unwrap()] = extent;
    Problem { mnk, offsets: offsets.to_vec(), same: false }
}

/// Groups of nothing, of one row, of whole tiles and of none, which begin at any row; rows before the first group and after the last one.
#[test]
fn groups_begin_and_end_anywhere() {
    for config in configs() {
        for offsets in [
            &[0, 0, 1, 129, 129, 200][..],
            &[0, 200],
            &[3, 67, 195, 195],
            &[0, 0, 0],
            &[7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
        ] {
            verify(&config, &Epilogue::new(), &along(&config, 200, 70, offsets));
        }
        let problem = along(&config, 150, 64, &[0, 40, 40, 150]);
        verify(&config, &Epilogue::new(), &Problem { same: true, ..problem });
    }
}

/// A matrix and a column lie as C does, and a row is that of the group; or of groups of columns the other way round.
#[test]
fn epilogues_read_what_a_group_has() {
    for config in configs() {
        let epilogue = Epilogue::new()
            .plus(Input::matrix("x", DType::Bf16).unaligned())
            .plus(Input::row("row", DType::Bf16).unaligned())
            .plus(Input::column("column", DType::Bf16).unaligned());
        verify(&config, &epilogue, &along(&config, 200, 64, &[5, 70, 70, 198]));
    }
}

/// Nothing outside of C is written, whatever the offsets are.
#[test]
fn offsets_may_be_anything() {
    for config in configs() {
        let kernel = generate(&config, &Epilogue::new()).unwrap();
        for offsets in [
            &[100, 50, 300, 20][..],
            &[u32::MAX, 0, u32::MAX, 1 << 31, 7],
            &[0, 150, 0, 150, 0, 150],
            &[1 << 30, (1 << 30) + 5],
        ] {
            let problem = along(&config, 150, 64, offsets);
            // Groups that overlap are stored to the same place.
            let options = Options { races: false, ..Options::checked() };
            let (c, memory, all) = launched(&config, &kernel, &problem, &options);
            let element = i64::from(config.c_type.bits()) / 8;
            let [before, len] = [GUARD * element, all[2].len(1) * element];
            let found = download(&memory, c, (len + 2 * before) as usize);
            let poison = encode(config.c_type, f64::NAN);
            let kept = |bytes: &[u8]| bytes.chunks(poison.len()).all(|x| x == poison);
            assert!(kept(&found[..before as usize]), "before C: {offsets:?}, {config:?}");
            assert!(kept(&found[(before + len) as usize..]), "behind C: {offsets:?}, {config:?}");
            let ([m, n, _], mut own) = (problem.mnk, vec![false; all[2].len(1) as usize]);
            (0..m).for_each(|x| (0..n).for_each(|y| own[all[2].at(x, y, 0) as usize] = true));
            let rows = found[before as usize..].chunks(poison.len());
            let between = rows.zip(own).all(|(x, own)| own || x == poison);
            assert!(between, "between the rows of C: {offsets:?}, {config:?}");
        }
    }
}

#[test]
fn what_groups_cannot_have_is_refused() {
    let [hopper, warps] = [configs()[0], configs()[7]];
    let refused = |config: GemmConfig, text: &str| {
        let told = config.check().expect_err("refused").to_string();
        assert!(told.contains(text), "{told}");
    };
    refused(GemmConfig { batch: Batch::Grouped { mode: 2 }, ..hopper }, "groups along mode 2 of C: 0 and 1");
    let alternate = Schedule::Persistent { alternate: true };
    refused(GemmConfig { schedule: alternate, ..hopper }, "alternate: false");
    refused(GemmConfig { schedule: Schedule::Raster { group: 1 }, ..warps }, "alternate: false");
    let store = Store::Tma { tile: [128, 64], stages: 1 };
    refused(
        GemmConfig { store, ..hopper },
        "groups, with which a TMA copy does not end: a direct or a coalesced store",
    );
    refused(GemmConfig { batch: Batch::Grouped { mode: 1 }, ..hopper }, "8 elements of C");
    refused(GemmConfig { batch: Batch::Grouped { mode: 1 }, ..warps }, "8 elements of B");
    let sums = Epilogue::new().reduce(Output::row("sums", Reduction::Sum));
    let told = hopper.takes(&sums).expect_err("refused").to_string();
    assert!(told.contains("Single, Strided or Pointers is accepted"), "{told}");
}
