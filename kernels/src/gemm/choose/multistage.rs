//! The configurations of multistage kernels, by the CUDA cores and by warps of tensor cores. Each follows from a few facts about the problem, and the
//! facts have finitely many values.

use girih_codegen::Operand;
use girih_codegen::atom::{MmaAtom, UNIVERSAL_FMA_F32};
use girih_codegen::gemm::{Batch, GemmConfig, Mainloop, Major, Multistage, Schedule, Source, Store, outputs};
use girih_tensor::DType;

use super::cost::{Cost, Work, multistage};
use super::forms::{
    DOUBLES, DOUBLES_OF_GROUPS, EIGHT_TALL, EIGHT_WARPS, FOUR_WARPS, Form, LARGE, LARGE_SHARED, NARROW,
    NARROW_LOADS, OF_DOUBLES, ROW_SM80, SIMT, SMALL, THREADS, TRANSPOSING, TWO_BLOCKS, WARPS, WIDE,
    WIDEST_BITS, permutation,
};
use super::inputs::{Input, MAJORS, Sm90, aligned, loads, stored, stores};
use super::space::Rule;
use super::{Hardware, KernelKind};
use crate::gemm::problem::is_promoted;
use crate::gemm::repitch::{between, is_worth_turning};
use crate::gemm::{Matrix, Problem};
use crate::launch::widest;

/// The most rows or columns, and the longest K, of a product for which small tiles are considered.
const FEW: i64 = 64;

/// What a multistage kernel relies on.
#[derive(Clone, Copy)]
pub(super) struct Sources {
    /// A's and B's elements.
    dtype: DType,
    a: Source,
    b: Source,
    /// Elements that divide N and C's pitch.
    store: i64,
    /// C's elements.
    output: DType,
    /// Whether something is computed of the accumulators ([`Problem::is_fused`]).
    fused: bool,
    /// Whether a block has shared memory for a large tile ([`LARGE_SHARED`]), and there are tiles enough.
    large: bool,
}

/// The configuration for several products: where a thread reads addresses from memory, or keeps its place among groups, it has registers for these.
fn several(config: GemmConfig, batch: Batch) -> GemmConfig {
    let config = match batch {
        Batch::Single | Batch::Strided => config,
        // So it has where accumulators are promoted.
        Batch::Pointers => by_eight_warps(config, is_promoted(config.atom().a_type)),
        Batch::Grouped { .. } => {
            let config = by_eight_warps(config, false);
            let Mainloop::Multistage(mut parts) = config.mainloop else { return config };
            parts.min_blocks = 1;
            let tile = if parts.atom.a_type == DType::F64 { DOUBLES_OF_GROUPS } else { config.tile };
            // Only such blocks go through groups.
            let schedule = Schedule::Persistent { alternate: false };
            GemmConfig { tile, schedule, ..config.with_mainloop(Mainloop::Multistage(parts)) }
        }
    };
    GemmConfig { batch, ..config }
}

/// The configuration with eight warps of tensor cores, which do not load fragments ahead, if loads are narrow or in any case. With loads of one or
/// two elements of 8 bits, tiles have half of the rows or columns that these loads bring.
fn by_eight_warps(config: GemmConfig, in_any_case: bool) -> GemmConfig {
    let Mainloop::Multistage(mut parts) = config.mainloop else { return config };
    let (mut tile, bits) = (config.tile, i64::from(parts.atom.a_type.bits()));
    let [a, b] = [parts.a, parts.b];
    let least = a.vector.min(b.vector);
    if parts.atom != UNIVERSAL_FMA_F32 && (least * bits < WIDEST_BITS || in_any_case) {
        (parts.atoms, parts.fragments) = (EIGHT_WARPS, 1);
        if bits == 8 && least <= 2 {
            let halved = usize::from(b.vector < a.vector || a.vector == b.vector && b.major == Major::Mn);
            parts.atoms = [EIGHT_WARPS, EIGHT_TALL][halved];
            tile[halved] /= 2;
        }
    }
    GemmConfig { tile, ..config.with_mainloop(Mainloop::Multistage(parts)) }
}

/// A configuration of warps of tensor cores by twice the threads, or with half the tile, where a thread has more accumulators than leave registers for
/// what an epilogue reduces.
pub(super) fn spread(mut config: GemmConfig) -> GemmConfig {
    let Mainloop::Multistage(parts) = &mut config.mainloop else { return config };
    if parts.atom.c_type == DType::F64 && config.tile == DOUBLES {
        config.tile[1] /= 2;
    } else if config.tile[..2] == WIDE[..2] && parts.atoms == FOUR_WARPS {
        parts.atoms = EIGHT_WARPS;
    }
    config
}

/// The configuration of a multistage kernel for a problem.
pub(super) fn choose(problem: &Problem, input: &Input, kind: KernelKind, hardware: Hardware) -> GemmConfig {
    let row_major = problem.oriented(Major::K).0;
    let facts = Sources { large: is_large(&row_major, hardware), ..Sources::of(&row_major) };
    let config = match input.sm90 {
        Sm90::Warps(atom) if kind == KernelKind::Sm90 => facts.config(*atom, input.names[1], OF_DOUBLES),
        _ => {
            let form =
                facts.fastest(&row_major, hardware.multiprocessors).map_or(facts.form(), |(form, _)| form);
            facts.config(input.atom, input.names[0], form)
        }
    };
    several(config, row_major.batch())
}

/// The configurations that a tuner measures for a problem.
pub(in crate::gemm) fn tuned(problem: &Problem) -> Vec<GemmConfig> {
    let Some(input) = Input::of(problem) else { return Vec::new() };
    let row_major = problem.oriented(Major::K).0;
    let facts = Sources::of(&row_major);
    let mut forms = vec![facts.form()];
    forms.extend(facts.small());
    if input.dtype == DType::F32 {
        forms = SIMT[..if facts.transposes() { TRANSPOSING } else { SIMT.len() }].to_vec();
    } else if facts.dtype.bits() == 16 && facts.loads_at_least(16) {
        forms.extend(WARPS.iter().flat_map(|form| [1, 2].map(|fragments| Form { fragments, ..*form })));
    }
    let config = |form| several(facts.config(input.atom, input.names[0], form), row_major.batch());
    forms.into_iter().map(config).collect()
}

/// What a product by warps is expected to take, if the formulas say.
pub(super) fn expected(row_major: &Problem, multiprocessors: u32) -> Option<Cost> {
    Sources::of(row_major).fastest(row_major, multiprocessors).map(|(_, cost)| cost)
}

/// Whether the large tile of warps finishes before two blocks of the usual one on each SM, if it fits: it takes 97 % of the time
/// of two of these, 359 us instead of 371 us for 4096 x 4096 x 4096 on an H200.
fn is_large(problem: &Problem, hardware: Hardware) -> bool {
    let ([m, n, _], each) = (problem.mnk(), i64::from(hardware.multiprocessors.max(1)));
    let tiles = |[rows, columns]: [i64; 2]| {
        ((m + rows - 1) / rows).saturating_mul((n + columns - 1) / columns).saturating_mul(problem.batches())
    };
    let turns = |tiles: i64, at_once: i64| tiles.saturating_add(at_once - 1) / at_once;
    let (large, usual) = (tiles(LARGE), tiles([LARGE[0], LARGE[1] / 2]));
    let sooner = turns(large, each).saturating_mul(97) <= turns(usual, 2 * each).saturating_mul(100);
    let together = matches!(problem.batch(), Batch::Single | Batch::Strided);
    together && large >= each && sooner && hardware.shared >= LARGE_SHARED
}

/// All facts on which kernels of such products rely.
fn sources(input: &'static Input, batch: Batch) -> impl Iterator<Item = Sources> {
    let dtype = input.dtype;
    let of = move || {
        let all = move |major: Major| loads(dtype, major).iter().map(move |&vector| Source { major, vector });
        MAJORS.into_iter().flat_map(all)
    };
    let pairs = of().flat_map(move |a| of().map(move |b| (a, b)));
    let all = pairs.flat_map(move |(a, b)| {
        let outputs = move |&store| outputs(input.sums).iter().map(move |&output| (store, output));
        let base = Sources { dtype, a, b, store: 1, output: dtype, fused: false, large: false };
        let stored = stores(dtype).iter().flat_map(outputs);
        stored.map(move |(store, output)| Sources { store, output, ..base })
    });
    // Groups begin at any element.
    let single = |source: Source| source.major == Major::K || source.vector == 1;
    all.filter(move |facts| match batch {
        Batch::Single | Batch::Strided | Batch::Pointers => true,
        Batch::Grouped { mode: 0 } => single(facts.a),
        Batch::Grouped { .. } => single(facts.b) && facts.store == 1,
    })
}

/// Every configuration of multistage kernels for such products, some of them several times.
pub(super) fn all(input: &'static Input, batch: Batch) -> Vec<GemmConfig> {
    let single = matches!(batch, Batch::Single | Batch::Strided);
    let mut all = Vec::new();
    for facts in sources(input, batch) {
        for (fused, large) in [(false, false), (true, false), (false, single)] {
            let facts = Sources { fused, large, ..facts };
            all.push(several(facts.config(input.atom, input.names[0], facts.form()), batch));
        }
        if single {
            let small = facts.small().iter();
            all.extend(small.map(|form| several(facts.config(input.atom, input.names[0], *form), batch)));
        }
        if let Sm90::Warps(atom) = input.sm90 {
            all.push(several(facts.config(*atom, input.names[1], OF_DOUBLES), batch));
        }
    }
    all
}

impl Sources {
    /// The widest loads and stores that pitches and N are aligned to. Operands of f32 along K that are worth it are copied first, to rows of whole
    /// vectors.
    fn of(problem: &Problem) -> Sources {
        // Groups begin anywhere, and a copy reads from one address.
        let has_copies = problem.groups().is_none() && problem.pointers().is_none();
        let has_copies = has_copies && problem.dtype() == DType::F32 && !problem.is_invariant();
        let source = |matrix: &Matrix, mode: usize, operand| {
            if has_copies && is_worth_turning(problem, operand) {
                return Source { major: Major::Mn, vector: 4 };
            }
            // Vectors of f32 along K are transposed, and end with K.
            let transposed = problem.dtype() == DType::F32 && matrix.major() == Major::K;
            let k = if transposed { problem.mnk()[2] } else { 0 };
            // Groups begin at any element.
            let anywhere = matrix.major() == Major::Mn && problem.batch().grouped() == Some(mode);
            let begins = [aligned(matrix, problem.dtype()), between(matrix), i64::from(anywhere)];
            let vector = widest(
                loads(problem.dtype(), matrix.major()),
                &[matrix.ld(), k, begins[0], begins[1], begins[2]],
            );
            Source { major: matrix.major(), vector }
        };
        Sources {
            dtype: problem.dtype(),
            a: source(&problem.a(), 0, Operand::A),
            b: source(&problem.b(), 1, Operand::B),
            store: stored(problem, stores(problem.dtype())),
            output: problem.output(),
            fused: problem.is_fused(),
            large: false,
        }
    }

    /// Whether accumulators are stored as elements like those of A and B, several at once.
    fn stores_sums(&self) -> bool {
        self.output == self.dtype && self.store > 1 && !self.fused
    }

    /// Whether loads of A and of B take this many bytes.
    fn loads_at_least(&self, bytes: i64) -> bool {
        self.a.vector.min(self.b.vector) * i64::from(self.dtype.bits()) / 8 >= bytes
    }

    /// Whether A or B of f32 are transposed on their way to shared memory.
    fn transposes(&self) -> bool {
        [self.a, self.b].iter().any(|source| source.major == Major::K)
    }

    /// The form of f32 that is chosen.
    fn of_threads(&self) -> Form {
        // Narrower loads are more loads, and each has an address and a predicate. Loads that transpose have few addresses.
        let few = [self.a, self.b].iter().all(|source| source.major == Major::K || source.vector == 4);
        match () {
            () if few && !self.transposes() && !self.fused => SIMT[TWO_BLOCKS],
            () if few => SIMT[0],
            () => NARROW_LOADS,
        }
    }

    /// The small tiles that there are beside the usual one.
    fn small(&self) -> &'static [Form] {
        if self.dtype.bits() == 16 { &SMALL } else { &[] }
    }

    /// The loads of A and of B, of which each thread has one at least.
    fn loads(&self, form: &Form) -> [Source; 2] {
        let [m, n, k] = form.tile;
        let shared = |source: Source, extent: i64| Source {
            vector: source.vector.min(extent * k / THREADS),
            ..source
        };
        [shared(self.a, m), shared(self.b, n)]
    }

    /// The form of a product of 16-bit floats with few rows, few columns or a short K that is expected to be the fastest one, and what it takes. Groups, and what
    /// is reduced, have the usual one, and so have rows that are the same wherever they are.
    fn fastest(&self, problem: &Problem, multiprocessors: u32) -> Option<(Form, Cost)> {
        let is_small = problem.mnk().into_iter().any(|extent| extent <= FEW);
        let alone = matches!(problem.batch(), Batch::Single | Batch::Strided);
        let counts = self.dtype.bits() == 16 && Rule::of(problem) == Rule::Least && is_small && alone;
        if !counts || problem.reduces() || problem.is_gated() {
            return None;
        }
        let work = Work::of(problem);
        let forms = self.small().iter().copied().chain([self.form()]);
        let timed = forms.map(|form| (form, multistage(&work, &form, self.loads(&form), multiprocessors)));
        timed.min_by(|(_, x), (_, y)| x.total().total_cmp(&y.total()))
    }

    /// The usual form.
    fn form(&self) -> Form {
        let bytes = i64::from(self.dtype.bits() / 8);
        // Without asynchronous copies every element passes through a register of its own: a smaller tile leaves room. So do elements
        // of 8 bits that do not lie along K, on their way from shared memory.
        let along_k = self.a.major == Major::K && self.b.major == Major::K;
        let wide = if bytes == 1 { self.loads_at_least(16) && along_k } else { self.loads_at_least(4) };
        let [m, n, _] = if wide { WIDE } else { NARROW };
        // Longer tiles, in as many stages as 99 KB of a GPU of sm_89 have room for, where there are registers for their addresses. Where vectors
        // do not lie along K they gain nothing.
        let whole = bytes == 2 && self.loads_at_least(16) && self.stores_sums();
        // Narrower copies are more copies, and each has an address and a predicate: of copies of 4 bytes twice the threads take their
        // share, and with copies of 8 bytes fragments are not loaded ahead.
        let eight = if wide { !self.loads_at_least(8) } else { bytes == 1 };
        let atoms = if eight { EIGHT_WARPS } else { FOUR_WARPS };
        let usual = Form::new([m, n, ROW_SM80 / bytes], atoms, 4);
        match () {
            () if self.dtype == DType::F32 => self.of_threads(),
            () if self.dtype == DType::F64 => OF_DOUBLES,
            () if whole && self.large => Form::warps([128, 256, ROW_SM80], 4),
            () if whole && along_k => Form { group: 4, ..Form::new([m, n, ROW_SM80], atoms, 3) },
            () if wide && self.loads_at_least(8) && !self.loads_at_least(16) => {
                Form { fragments: 1, ..usual }
            }
            () => usual,
        }
    }

    /// The configuration of a form.
    fn config(&self, atom: MmaAtom, name: &'static str, form: Form) -> GemmConfig {
        let Form { tile, atoms, stages, fragments, min_blocks, group } = form;
        let [a, b] = self.loads(&form);
        GemmConfig {
            name,
            tile,
            mainloop: Mainloop::Multistage(Multistage {
                atom,
                atoms,
                permutation: permutation(&atom, tile),
                k_atoms: 1,
                fragments,
                stages,
                min_blocks,
                a,
                b,
            }),
            schedule: Schedule::Raster { group },
            batch: Batch::Single,
            store: Store::Direct { vector: self.store },
            c_type: self.output,
            c_major: Major::K,
            programmatic: false,
        }
    }
}
