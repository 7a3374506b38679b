//! Random copies on the simulator: a copy that is accepted moves the values whose predicates hold, and nothing else.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::algorithm::{Predicates, copy, copy_if, fill};
use girih_codegen::atom::*;
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Rmem, Smem};
use girih_layout::{Int, Lay, Shape, Stride, Strides, Swizzle};
use girih_ptx::{Module, Special};
use girih_sim::{Memory, Options};
use girih_tensor::{DType, Tensor};
use proptest::prelude::*;

use crate::simulator::{self, addresses, block, download, ones, upload};

/// The bytes of the arrays.
const BYTES: usize = 2048;

/// Extents, and a stride for each of them in some order, now and then with a gap.
#[derive(Clone, Debug)]
struct Modes {
    extents: Vec<i64>,
    order: Vec<usize>,
    gaps: Vec<i64>,
    /// The mode whose stride is 0, if any.
    shared: Option<usize>,
}

impl Modes {
    fn lay(&self) -> Lay {
        let mut strides = vec![Stride::ZERO; self.extents.len()];
        let mut step = 1;
        for (&mode, gap) in self.order.iter().zip(&self.gaps) {
            step += gap;
            if self.shared != Some(mode) {
                strides[mode] = Stride::Int(Int::fixed(step));
            }
            step *= self.extents[mode];
        }
        let extents: Vec<Int> = self.extents.iter().map(|&n| Int::fixed(n)).collect();
        Lay::new(&Shape::flat(&extents).unwrap(), &Strides::flat(&strides).unwrap()).unwrap()
    }
}

/// Layouts of `size` values.
fn modes(size: i64, shared: bool) -> impl Strategy<Value = Modes> {
    let divisors: Vec<i64> = (1..=size).filter(|n| size % n == 0).collect();
    let extents = prop::sample::select(divisors).prop_flat_map(move |first| {
        let rest = size / first;
        let divisors: Vec<i64> = (1..=rest).filter(|n| rest % n == 0).collect();
        prop::sample::select(divisors).prop_map(move |second| vec![first, second, rest / second])
    });
    let order = Just(vec![0, 1, 2]).prop_shuffle();
    let gaps = prop::collection::vec(prop_oneof![3 => Just(0i64), 1 => 1i64..4], 3);
    let shared = if shared { prop::option::weighted(0.2, 0..3usize).boxed() } else { Just(None).boxed() };
    (extents, order, gaps, shared).prop_map(|(extents, order, gaps, shared)| Modes {
        extents,
        order,
        gaps,
        shared,
    })
}

/// The way of the values from source to destination.
#[derive(Clone, Copy, Debug)]
enum Way {
    Direct,
    Registers,
    Shared(Option<Swizzle>),
}

#[derive(Clone, Debug)]
struct Case {
    dtype: DType,
    size: i64,
    source: Modes,
    between: Modes,
    target: Modes,
    way: Way,
    atom: CopyAtom,
    /// For each value, whether it is copied, and whether this is known before the kernel runs.
    wanted: Vec<(bool, bool)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let dtypes = prop::sample::select(vec![DType::U8, DType::F16, DType::F32, DType::F64]);
    let sizes = prop::sample::select(vec![1i64, 2, 3, 4, 6, 8, 12, 16, 24]);
    let swizzles = [None, Swizzle::new(1, 1, 2).ok(), Swizzle::new(2, 2, 3).ok(), Swizzle::new(3, 3, 3).ok()];
    let ways =
        [vec![Way::Direct, Way::Registers, Way::Registers], swizzles.map(Way::Shared).to_vec()].concat();
    let atoms = vec![
        AUTO_VECTORIZING_COPY,
        AUTO_VECTORIZING_COPY,
        AUTO_VECTORIZING_COPY_32,
        UNIVERSAL_COPY_8,
        UNIVERSAL_COPY_16,
        UNIVERSAL_COPY_32,
        UNIVERSAL_COPY_64,
        UNIVERSAL_COPY_128,
    ];
    (dtypes, sizes, prop::sample::select(ways), prop::sample::select(atoms)).prop_flat_map(
        |(dtype, size, way, atom)| {
            let wanted = prop_oneof![
                Just(vec![(true, true); size as usize]),
                Just(vec![(true, false); size as usize]),
                prop::collection::vec(any::<(bool, bool)>(), size as usize),
            ];
            let made = move |(source, between, target, wanted)| Case {
                dtype,
                size,
                source,
                between,
                target,
                way,
                atom,
                wanted,
            };
            (modes(size, true), modes(size, false), modes(size, false), wanted).prop_map(made)
        },
    )
}

/// The kernel of a case, launched with one of the two threads that there may be.
fn kernel(case: &Case) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, 2);
    let array = |pointer: Expr, modes: &Modes| Tensor::new(Gmem::new(pointer, case.dtype), modes.lay());
    let target = array(b.pointer("dst", 16), &case.target);
    let source = array(b.pointer("src", 16), &case.source);
    // The thread's index is 0, which is known only when the kernel runs.
    let thread = b.special(Special::TidX);
    assert_eq!(thread.as_constant(), None);
    let cond = |wanted: &(bool, bool)| match wanted {
        (true, true) => Cond::Always,
        (false, true) => Cond::Never,
        (true, false) => Cond::less(&thread, &Expr::from(1)),
        (false, false) => Cond::less(&Expr::from(0), &thread),
    };
    let predicates = Predicates::each(case.wanted.iter().map(cond).collect());
    let layout = case.between.lay();
    match case.way {
        Way::Direct => copy_if(&mut b, case.atom, &predicates, &source, &target)?,
        Way::Registers => {
            let registers = Rmem::tensor(&mut b, case.dtype, layout)?;
            fill(&mut b, &registers, 1.0)?;
            copy_if(&mut b, case.atom, &predicates, &source, &registers)?;
            copy(&mut b, AUTO_VECTORIZING_COPY, &registers, &target)?;
        }
        Way::Shared(swizzle) => {
            let base = b.alloc_shared(BYTES as i64, 1024)?;
            let shared = Tensor::new(Smem::new(base, case.dtype, swizzle), layout);
            fill(&mut b, &shared, 1.0)?;
            copy_if(&mut b, case.atom, &predicates, &source, &shared)?;
            copy(&mut b, AUTO_VECTORIZING_COPY, &shared, &target)?;
        }
    }
    Ok(b.finish()?.into_module())
}

/// The destination after the kernel, which gets `data` as its source.
fn run(module: &Module, data: &[u8]) -> Result<Vec<u8>, String> {
    let memory = Memory::new();
    let (dst, src) = (ones(&memory, BYTES), upload(&memory, data));
    let options = Options { threads: Some(1), ..Options::checked() };
    let launch = block(1, BYTES as u32, addresses(&[dst, src]));
    simulator::run(module, &memory, &launch, &options).map_err(|error| error.to_string())?;
    Ok(download(&memory, dst, BYTES))
}

fn one(dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F64 => 1f64.to_le_bytes().to_vec(),
        DType::F32 => 1f32.to_le_bytes().to_vec(),
        DType::F16 => vec![0, 0x3c],
        _ => vec![1],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_move_what_is_wanted_and_nothing_else(case in cases()) {
        let module = match kernel(&case) {
            Ok(module) => module,
            Err(error) => {
                prop_assert!(matches!(error, Error::Mismatch { what: "copy", .. }), "{}", error);
                // A copy that finds its own width always finds one.
                prop_assert!(case.atom != AUTO_VECTORIZING_COPY, "{}", error);
                return Ok(());
            }
        };
        let data: Vec<u8> = (0..BYTES).map(|i| (i * 7 % 253) as u8).collect();
        let bytes = case.dtype.bits() as usize / 8;
        let mut expected = vec![0xff; BYTES];
        for i in 0..case.size {
            let from = bytes * case.source.lay().at(i).unwrap() as usize;
            let to = bytes * case.target.lay().at(i).unwrap() as usize;
            let value = match (case.wanted[i as usize].0, case.way) {
                (true, _) => data[from..from + bytes].to_vec(),
                (false, Way::Direct) => continue,
                (false, _) => one(case.dtype),
            };
            expected[to..to + bytes].copy_from_slice(&value);
        }
        let found = run(&module, &data);
        prop_assert_eq!(found.as_deref(), Ok(&expected[..]), "{}", module);
    }
}
