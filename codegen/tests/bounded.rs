//! Tensors that carry their coordinates: nothing outside of a tensor's extents is touched, however the tensor is cut.

use girih_codegen::algorithm::{
    CopyWith, Predicates, copy, copy_if, cp_async_wait_all, fill, read, reduce, transform, write,
};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4};
use girih_codegen::plan::coalesced_copy;
use girih_codegen::{Builder, Cond, Error, Gmem, Kernel, Rmem, Scalar, Smem};
use girih_layout::{Lay, Tiler, lay, tiler};
use girih_ptx::Special;
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::{DType, Slice, Space, Tensor};
use proptest::prelude::*;

const THREADS: i64 = 32;

/// How the values go from one matrix to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Direct,
    Registers,
    /// By `cp.async`, which fills up with zeros.
    Shared,
    /// All values become 3.
    Fill,
    Scalars,
}

#[derive(Clone, Debug)]
struct Case {
    dtype: DType,
    way: Way,
    tile: [i64; 2],
    /// The number that the pitch is divisible by.
    divisor: i64,
}

/// `y = x` in tiles of a block each.
fn kernel(case: &Case) -> Result<Kernel, Error> {
    let Case { dtype, way, tile, divisor } = case;
    let mut b = Builder::new("k", 80, THREADS as u32);
    let shape = b.symbols(["rows", "columns"], |n| n.at_least(1))?;
    let pitch = b.symbol("pitch", |n| n.divisible_by(*divisor).at_most(1 << 20))?;
    let x = Gmem::matrix(&mut b, "x", *dtype, shape, pitch)?; // (rows,columns)
    let y = Gmem::matrix(&mut b, "y", *dtype, shape, pitch)?;
    let at = [Special::CtaidX, Special::CtaidY].map(|special| Slice::At(b.special(special)));
    let tiler = Tiler::sizes(tile)?;
    let rows = Lay::row_major(*tile)?;
    let by = coalesced_copy(&rows, THREADS, dtype.bits().into())?;
    let mine = by.get_slice(&b.special(Special::TidX))?;
    let [source, target] = [x, y].map(|matrix| mine.partition_s(&matrix.local_tile(&tiler, &at)?)); // (Vec,RestM,RestN)
    let (source, target) = (source?, target?);
    match way {
        Way::Direct => copy(&mut b, AUTO_VECTORIZING_COPY, &source, &target)?,
        Way::Registers => {
            let values = Rmem::like(&mut b, &source)?;
            fill(&mut b, &values, 1.0)?;
            copy(&mut b, AUTO_VECTORIZING_COPY, &source, &values)?;
            copy(&mut b, AUTO_VECTORIZING_COPY, &values, &target)?;
        }
        Way::Shared => {
            let shared = mine.partition_d(&Smem::alloc(&mut b, *dtype, None, &rows)?)?;
            copy(&mut b, SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4, &source, &shared)?;
            cp_async_wait_all(&mut b);
            copy(&mut b, AUTO_VECTORIZING_COPY, &shared, &target)?;
        }
        Way::Fill => fill(&mut b, &target, 3.0)?,
        Way::Scalars => transform(&mut b, &[&source], &target, |_, x| Ok(x[0].clone()))?,
    }
    b.finish()
}

fn cases() -> impl Strategy<Value = Case> {
    let dtype = prop::sample::select(vec![DType::F32, DType::F16, DType::F64, DType::U8]);
    let way = prop::sample::select(vec![Way::Direct, Way::Registers, Way::Shared, Way::Fill, Way::Scalars]);
    let tile = prop::sample::select(vec![[1, 32], [4, 8], [8, 16], [2, 64], [16, 16]]);
    let divisor = prop::sample::select(vec![1, 2, 4, 8]);
    (dtype, way, tile, divisor).prop_map(|(dtype, way, tile, divisor)| Case { dtype, way, tile, divisor })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// The arrays end with their last element, so that the simulator reports an access beyond them too.
    #[test]
    fn what_is_inside_is_copied_and_nothing_else(
        case in cases(), rows in 1..20i64, columns in 1..70i64, gap in 0..3i64
    ) {
        let built = kernel(&case);
        let element = i64::from(case.dtype.bits()) / 8;
        // Copies of four bytes need rows that begin at multiples of four bytes, and at least four bytes for each thread.
        let words = element <= 4 && element * case.divisor >= 4 && element * case.tile[0] * case.tile[1] / THREADS >= 4;
        if case.way == Way::Shared && !words {
            prop_assert!(matches!(built, Err(Error::Mismatch { .. })), "{built:?}");
            return Ok(());
        }
        let built = built.unwrap_or_else(|e| panic!("{case:?}: {e}"));
        let pitch = (columns + gap + case.divisor - 1) / case.divisor * case.divisor;
        let bytes = case.dtype.bits() as usize / 8;
        let size = ((rows - 1) * pitch + columns) as usize * bytes;
        let input: Vec<u8> = (0..size).map(|i| (i * 37 % 251) as u8).collect();
        let memory = Memory::new();
        let [x, y] = [(); 2].map(|()| memory.alloc(size).unwrap());
        memory.write(x, &input).unwrap();
        memory.fill(y, 0xab, size).unwrap();
        let word = |n: i64| (n as u32).to_le_bytes().to_vec();
        let args = vec![word(rows), word(columns), word(pitch), x.to_le_bytes().to_vec(), y.to_le_bytes().to_vec()];
        let tiles = |extent: i64, by: i64| ((extent + by - 1) / by) as u32;
        let launch = Launch {
            grid: [tiles(rows, case.tile[0]), tiles(columns, case.tile[1]), 1],
            block: [THREADS as u32, 1, 1],
            dynamic_shared: built.shared_bytes(),
            args,
            ..Launch::default()
        };
        let program = Program::load(built.module()).unwrap();
        girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())
            .unwrap_or_else(|e| panic!("{case:?}: {e}\n{}", built.module()));
        let mut out = vec![0; size];
        memory.read(y, &mut out).unwrap();
        let three: &[u8] = match case.dtype {
            DType::F32 => &3f32.to_le_bytes(),
            DType::F64 => &3f64.to_le_bytes(),
            DType::F16 => &[0, 0x42],
            _ => &[3],
        };
        for (i, found) in out.chunks(bytes).enumerate() {
            let inside = (i as i64) % pitch < columns;
            let wanted = match (inside, case.way) {
                (false, _) => &[0xab; 8][..bytes],
                (true, Way::Fill) => three,
                (true, _) => &input[i * bytes..][..bytes],
            };
            prop_assert_eq!(found, wanted, "{:?} {}", case, i);
        }
    }
}

/// Wherever the tensor ends, what is before the end is copied, and zeros fill the vector that the end cuts and the vectors after it.
#[test]
fn zeros_follow_the_end() {
    for (dtype, vectors) in [(DType::U8, lay!("(4,16):(16,1)")), (DType::F16, lay!("(8,8):(8,1)"))] {
        for through in [Space::Smem, Space::Rmem] {
            let threads = (64 / vectors.mode(1).unwrap().size().unwrap().get().unwrap()) as u32;
            let mut b = Builder::new("k", 80, threads);
            let n = b.symbol("n", |n| n.at_least(0).at_most(64)).unwrap();
            let (x, y) = (b.pointer("x", 16), b.pointer("y", 16));
            let x = Gmem::bounded(x, dtype, &Lay::col_major([n]).unwrap()).unwrap();
            let y = Tensor::new(Gmem::new(y, dtype), lay!("64:1"));
            let thread = b.special(Special::TidX);
            let whole = x.local_tile(&tiler!("<64>"), &[Slice::at(0)]).unwrap(); // 64
            let [from, to] = [whole, y].map(|tensor| tensor.tv_partition(&vectors, &thread).unwrap());
            let zeros = CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill();
            if through == Space::Smem {
                let staged = Smem::alloc(&mut b, dtype, None, &lay!("64:1")).unwrap();
                let staged = staged.tv_partition(&vectors, &thread).unwrap();
                copy(&mut b, zeros, &from, &staged).unwrap();
                copy(&mut b, AUTO_VECTORIZING_COPY, &staged, &to).unwrap();
            } else {
                let values = Rmem::like(&mut b, &from).unwrap();
                copy(&mut b, zeros, &from, &values).unwrap();
                copy(&mut b, AUTO_VECTORIZING_COPY, &values, &to).unwrap();
            }
            let kernel = b.finish().unwrap();
            assert!(kernel.module().to_string().contains("ld.global.v4.b32"));
            let program = Program::load(kernel.module()).unwrap();
            let bytes = dtype.bits() as usize / 8;
            for n in 0..=64 {
                let memory = Memory::new();
                let input: Vec<u8> = (0..n * bytes).map(|i| i as u8 + 1).collect();
                let [x, y] = [n * bytes, 64 * bytes].map(|size| memory.alloc(size.max(1)).unwrap());
                memory.write(x, &input).unwrap();
                memory.fill(y, 0xab, 64 * bytes).unwrap();
                let args = vec![
                    (n as u32).to_le_bytes().to_vec(),
                    x.to_le_bytes().to_vec(),
                    y.to_le_bytes().to_vec(),
                ];
                let dynamic_shared = kernel.shared_bytes();
                let launch = Launch {
                    grid: [1; 3],
                    block: [threads, 1, 1],
                    dynamic_shared,
                    args,
                    ..Launch::default()
                };
                girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())
                    .unwrap_or_else(|e| panic!("{dtype}, {n}: {e}\n{}", kernel.module()));
                let mut out = vec![0; 64 * bytes];
                memory.read(y, &mut out).unwrap();
                let expected = input.iter().copied().chain(std::iter::repeat(0)).take(64 * bytes);
                assert!(expected.eq(out.iter().copied()), "{dtype} {through:?}, {n}: {out:?}");
            }
        }
    }
}

/// Values outside count as 0 where they are read, and stay where they are copied to; the caller's predicates have to hold too.
#[test]
fn what_is_outside_is_not_read() {
    let mut b = Builder::new("k", 80, 1);
    let (from, to) = (b.pointer("from", 4), b.pointer("to", 4));
    let x = Gmem::bounded(from, DType::S32, &lay!("5:1")).unwrap();
    let y = Gmem::bounded(to, DType::S32, &lay!("8:1")).unwrap();
    let tile = |b: &mut Builder, i: i64| {
        let part = x.local_tile(&tiler!("<4>"), &[Slice::at(i)]).unwrap(); // 4
        let sum = reduce(b, &part, Scalar::new(DType::S32, 0.0), |_, sum, x| Ok(sum + x)).unwrap();
        let values = Rmem::like(b, &part).unwrap();
        fill(b, &values, 7.0).unwrap();
        let odd =
            Predicates::each((0..4).map(|i| if i % 2 == 1 { Cond::Always } else { Cond::Never }).collect());
        copy_if(b, AUTO_VECTORIZING_COPY, &odd, &part, &values).unwrap();
        let kept = read(b, &values).unwrap();
        [sum, kept.into_iter().reduce(|a, b| a * 10 + b).unwrap()]
    };
    let results: Vec<Scalar> = (0..2).flat_map(|i| tile(&mut b, i)).collect();
    let first = y.local_tile(&tiler!("<4>"), &[Slice::at(0)]).unwrap();
    write(&mut b, &first, &results).unwrap();
    assert_eq!(x.engine().inside(), Cond::Always);
    let kernel = b.finish().unwrap();
    let memory = Memory::new();
    let [x, y] = [20, 32].map(|bytes| memory.alloc(bytes).unwrap());
    let words: Vec<u8> = [1i32, 2, 3, 4, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(x, &words).unwrap();
    let args = [x, y].map(|address| address.to_le_bytes().to_vec()).to_vec();
    let launch = Launch { grid: [1; 3], block: [1; 3], args, ..Launch::default() };
    let program = Program::load(kernel.module()).unwrap();
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked()).unwrap();
    let mut out = [0; 16];
    memory.read(y, &mut out).unwrap();
    let out: Vec<i32> = out.chunks(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(out, [10, 7274, 5, 7777]);
}

/// A vector is aligned as rows of the same length are, and at least to its values.
#[test]
fn what_divides_a_vector_aligns_it() {
    for (dtype, divisor, bytes) in [
        (DType::F32, 1, 4),
        (DType::F32, 2, 8),
        (DType::F32, 12, 16),
        (DType::F16, 2, 4),
        (DType::F64, 16, 16),
        (DType::U4, 1, 1),
        (DType::U4, 8, 4),
    ] {
        let mut b = Builder::new("k", 80, 1);
        let len = b.symbol("len", |n| n.divisible_by(divisor)).unwrap();
        let x = Gmem::vector(&mut b, "x", dtype, len).unwrap();
        assert_eq!((x.layout().rank(), x.layout().leaf_count()), (1, 1));
        let kernel = b.finish().unwrap();
        let multiple = kernel.params()[1].fact.as_ref().map_or(1, |fact| fact.multiple);
        assert_eq!(multiple, bytes, "{divisor} of {dtype}");
    }
}

#[test]
fn matrices_that_have_no_extents_are_refused() {
    let mut b = Builder::new("k", 80, 1);
    let pointer = b.pointer("x", 16);
    for layout in [lay!("((2,4),8):((1,16),2)"), lay!("(4,4):(^1,^4)")] {
        let found = Gmem::bounded(pointer.clone(), DType::F32, &layout);
        assert!(matches!(found, Err(Error::Mismatch { what: "a bounded tensor", .. })), "{found:?}");
    }
    let pitch = b.symbol("pitch", |n| n).unwrap();
    let found = Gmem::matrix(&mut b, "m", DType::U4, [pitch, pitch], pitch).unwrap_err().to_string();
    assert!(found.contains("multiples of 2 are accepted"), "{found}");
}
