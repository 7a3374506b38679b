//! Copy atoms whose tile is a line of memory: universal copies, `cp.async`, matrices, shuffles and `red`.

use girih_codegen::algorithm::{Predicates, copy, copy_if};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, CopyAtom, CopyOp};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Smem, TiledCopy};
use girih_layout::{Lay, Tile, Tiles};
use girih_ptx::Type;
use girih_tensor::{DType, Tensor};

use crate::{Case, Ends, THREADS, begin, leaf, linear, size};

/// How many threads have predicates that hold, where a copy has predicates.
const WANTED: i64 = 20;

/// The dtype that values of so many bits are given.
fn element(atom: CopyAtom, bits: u32) -> DType {
    match (atom.op, bits) {
        (CopyOp::RedAdd { ty: Type::F32, .. }, _) => DType::F32,
        (CopyOp::RedAdd { ty: Type::F16x2, .. }, _) => DType::F16,
        (CopyOp::RedAdd { .. }, _) => DType::Bf16,
        (_, 8) => DType::U8,
        (_, 16) => DType::U16,
        (_, 32) => DType::U32,
        _ => DType::U64,
    }
}

/// A tile in which each warp or thread executes two instructions along a line.
fn tiled(atom: CopyAtom, bits: u32) -> Result<TiledCopy, Error> {
    let own =
        if atom.op == CopyOp::AutoVectorizing { leaf(8, 1) } else { leaf(i64::from(atom.bits() / bits), 1) };
    let tv = if size(&atom.threads) == THREADS {
        let reference = atom.reference.upcast(i64::from(bits))?;
        let values = Lay::concat(&[reference.mode(1)?, leaf(2, size(&reference))])?;
        Lay::concat(&[reference.mode(0)?, values])?
    } else {
        let count = size(&own);
        Lay::concat(&[leaf(THREADS, count), Lay::concat(&[own, leaf(2, THREADS * count)])?])?
    };
    TiledCopy::from_tv(atom, bits, &tv, Tiles::new(&[Tile::Lay(leaf(size(&tv), 1))])?)
}

/// The kernel of an atom for values of so many bits.
pub(crate) fn case(atom: CopyAtom, bits: u32) -> Result<Case, Error> {
    let (copy, element) = (tiled(atom, bits)?, element(atom, bits));
    let (mut b, ends) = begin(atom.sm);
    emit(&mut b, &ends, &copy, element)?;
    let [from, to, expected] = data(atom, element, copy.extents()?[0] as usize);
    Ok(Case {
        name: format!("{atom} of {element}"),
        module: b.finish()?.into_module(),
        from,
        to,
        expected,
        map: None,
        blocks: 1,
    })
}

fn emit(b: &mut Builder, ends: &Ends, copy_tile: &TiledCopy, element: DType) -> Result<(), Error> {
    let (count, auto) = (copy_tile.extents()?[0], AUTO_VECTORIZING_COPY);
    let array = |pointer: &Expr| Tensor::new(Gmem::new(pointer.clone(), element), leaf(count, 1));
    let (from, to) = (array(&ends.from), array(&ends.to));
    let shared = Tensor::new(Smem::new(ends.shared.clone(), element, None), leaf(count, 1));
    let mine = copy_tile.get_slice(&ends.thread)?;
    let (source, target) = (mine.partition_s(&from)?, mine.partition_d(&to)?);
    match copy_tile.atom.op {
        CopyOp::Universal | CopyOp::AutoVectorizing => {
            let registers = mine.partition_fragment_s(b, &from)?;
            copy(b, copy_tile, &source, &registers)?;
            copy(b, copy_tile, &registers, &target)?;
        }
        CopyOp::CpAsync { zfill, .. } => {
            let wanted = if zfill { Cond::less(&ends.thread, &Expr::from(WANTED)) } else { Cond::Always };
            copy_if(b, copy_tile, &Predicates::from(wanted), &source, &mine.partition_d(&shared)?)?;
            b.ptx("cp.async.wait_all;", &[])?;
            b.barrier();
            copy(b, auto, &linear(ends, &shared)?, &linear(ends, &to)?)?;
        }
        CopyOp::Ldmatrix { .. } => {
            copy(b, auto, &linear(ends, &from)?, &linear(ends, &shared)?)?;
            b.barrier();
            let registers = mine.partition_fragment_d(b, &to)?;
            copy(b, copy_tile, &mine.partition_s(&shared)?, &registers)?;
            copy(b, auto, &registers, &target)?;
        }
        CopyOp::Stmatrix { .. } => {
            let registers = mine.partition_fragment_s(b, &from)?;
            copy(b, auto, &source, &registers)?;
            copy(b, copy_tile, &registers, &mine.partition_d(&shared)?)?;
            b.barrier();
            copy(b, auto, &linear(ends, &shared)?, &linear(ends, &to)?)?;
        }
        CopyOp::Movmatrix | CopyOp::Shuffle { .. } => {
            let before = mine.partition_fragment_s(b, &from)?;
            let after = mine.partition_fragment_d(b, &to)?;
            copy(b, auto, &source, &before)?;
            copy(b, copy_tile, &before, &after)?;
            copy(b, auto, &after, &target)?;
        }
        _ => {
            let registers = mine.partition_fragment_s(b, &from)?;
            copy(b, auto, &source, &registers)?;
            copy(b, copy_tile, &registers, &target)?;
        }
    }
    Ok(())
}

/// The bytes of the target before the copy, and those that it must have afterwards.
fn data(atom: CopyAtom, element: DType, count: usize) -> [Vec<u8>; 3] {
    let numbers = |step: usize| (0..count).map(|i| i * step % 13).collect::<Vec<usize>>();
    let encode = |numbers: &[usize]| -> Vec<u8> {
        let bytes = |&n: &usize| match element {
            DType::F32 => (n as f32).to_le_bytes().to_vec(),
            DType::F16 => half::f16::from_f64(n as f64).to_le_bytes().to_vec(),
            _ => half::bf16::from_f64(n as f64).to_le_bytes().to_vec(),
        };
        numbers.iter().flat_map(bytes).collect()
    };
    if let CopyOp::RedAdd { .. } = atom.op {
        let sums: Vec<usize> = numbers(5).iter().zip(numbers(3)).map(|(a, b)| a + b).collect();
        return [encode(&numbers(5)), encode(&numbers(3)), encode(&sums)];
    }
    let length = count * element.bits() as usize / 8;
    let from: Vec<u8> = (0..length).map(|i| (i * 37 + i / 256) as u8).collect();
    let mut expected = from.clone();
    if let CopyOp::CpAsync { zfill: true, .. } = atom.op {
        let each = atom.bits() as usize / 8;
        let excluded = |i: usize| (i / each) as i64 % THREADS >= WANTED;
        (0..length).filter(|&i| excluded(i)).for_each(|i| expected[i] = 0);
    }
    [from, vec![0xff; length], expected]
}
