//! The families of MMA atoms: how a shape and types become layouts.

use girih_layout::{Error, Int, Lay, Shape, Stride, Strides, lay};
use girih_tensor::DType;

use super::{Major, MmaAtom, MmaKind, Product};

macro_rules! get {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}

/// The mode of these (extent, stride) leaves, without the leaves of extent 1.
const fn mode(leaves: [(i64, i64); 3]) -> Result<Lay, Error> {
    let mut shape = [Int::fixed(1); 3];
    let mut stride = [Stride::Int(Int::fixed(0)); 3];
    let (mut i, mut count) = (0, 0);
    while i < 3 {
        if leaves[i].0 != 1 {
            shape[count] = Int::fixed(leaves[i].0);
            stride[count] = Stride::Int(Int::fixed(leaves[i].1));
            count += 1;
        }
        i += 1;
    }
    if count < 2 {
        return Lay::leaf(shape[0], stride[0]);
    }
    Lay::new(&get!(Shape::flat(shape.split_at(count).0)), &get!(Strides::flat(stride.split_at(count).0)))
}

const fn tv(threads: [(i64, i64); 3], values: [(i64, i64); 3]) -> Result<Lay, Error> {
    Lay::concat(&[get!(mode(threads)), get!(mode(values))])
}

/// Elements that are side by side in one register of a fragment.
const fn packed(dtype: DType) -> i64 {
    if dtype.bits() < 32 { 32 / dtype.bits() as i64 } else { 1 }
}

/// The architecture that CuTe files an atom under, and the least compute capability.
#[derive(Clone, Copy)]
pub(super) struct Since {
    pub(super) arch: u32,
    pub(super) sm: u32,
}

/// Types of C, A, B.
pub(super) type Types = [DType; 3];

/// `fma`, `mad`: one thread, one product.
pub(super) const fn fma(dtype: DType) -> MmaAtom {
    MmaAtom {
        kind: MmaKind::Fma,
        product: Product::Multiply,
        shape_mnk: [1, 1, 1],
        threads: lay!("1:0"),
        a: lay!("(1,1):(0,0)"),
        b: lay!("(1,1):(0,0)"),
        c: lay!("(1,1):(0,0)"),
        a_type: dtype,
        b_type: dtype,
        c_type: dtype,
        majors: [Major::K, Major::K],
        arch: 0,
        sm: match dtype {
            DType::F16 => 53,
            DType::Bf16 => 80,
            _ => 50,
        },
    }
}

/// `dp4a`, `dp2a`: one thread, a vector of A times one of B.
pub(super) const fn dot(a: DType, k: i64) -> Result<MmaAtom, Error> {
    let vector = get!(tv([(1, 0); 3], [(k, 1), (1, 0), (1, 0)]));
    Ok(MmaAtom {
        kind: MmaKind::Dot,
        shape_mnk: [1, 1, k],
        a: vector,
        b: vector,
        a_type: a,
        b_type: DType::S8,
        arch: 61,
        sm: 61,
        ..fma(DType::S32)
    })
}

/// `mma.sync.m8n8k4` of f16 by a quad pair, lanes 0-3 and 16-19 of four (PTX ISA, "Matrix Fragments for mma.m8n8k4 with
/// .f16 floating point type").
pub(super) const fn quad_pair(c: DType, majors: [Major; 2]) -> MmaAtom {
    const ROWS: Lay = lay!("(8,4):(1,8)");
    const COLUMNS: Lay = lay!("((4,2),4):((8,4),1)");
    MmaAtom {
        kind: MmaKind::Mma,
        product: Product::Multiply,
        shape_mnk: [8, 8, 4],
        threads: lay!("(4,2):(1,16)"),
        a: if matches!(majors[0], Major::K) { ROWS } else { COLUMNS },
        b: if matches!(majors[1], Major::K) { ROWS } else { COLUMNS },
        c: match c {
            DType::F16 => lay!("(8,8):(1,8)"),
            _ => lay!("((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"),
        },
        a_type: DType::F16,
        b_type: DType::F16,
        c_type: c,
        majors,
        arch: 70,
        sm: 70,
    }
}

/// `mma.sync` by a warp, N = 8. A register holds neighbours along K, the lanes are `(4,8)` along K and rows, and the registers of a
/// lane go over blocks of eight rows, then along K (PTX ISA, "Matrix Fragments for mma.m16n8k16" and its like).
pub(super) const fn warp(
    since: Since,
    m: i64,
    k: i64,
    types: Types,
    product: Product,
) -> Result<MmaAtom, Error> {
    let [c, a, b] = types;
    let p = packed(a);
    let steps = k / (4 * p);
    Ok(MmaAtom {
        kind: MmaKind::Mma,
        product,
        shape_mnk: [m, 8, k],
        threads: lay!("32:1"),
        a: get!(tv([(4, m * p), (8, 1), (1, 0)], [(p, m), (m / 8, 8), (steps, 4 * m * p)])),
        b: get!(tv([(4, 8 * p), (8, 1), (1, 0)], [(p, 8), (steps, 32 * p), (1, 0)])),
        c: get!(tv([(4, 2 * m), (8, 1), (1, 0)], [(2, m), (m / 8, 8), (1, 0)])),
        a_type: a,
        b_type: b,
        c_type: c,
        majors: [Major::K, Major::K],
        arch: since.arch,
        sm: since.sm,
    })
}

/// The parameters of a `wgmma` atom.
#[derive(Clone, Copy)]
pub(super) struct Wgmma {
    pub(super) kind: MmaKind,
    pub(super) n: i64,
    pub(super) types: Types,
    pub(super) majors: [Major; 2],
    pub(super) product: Product,
}

/// `wgmma.mma_async` by four warps, M = 64 (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts").
pub(super) const fn wgmma(of: Wgmma) -> Result<MmaAtom, Error> {
    let Wgmma { kind, n, types: [c, a, b], majors, product } = of;
    let p = packed(a);
    let k = 8 * p;
    let registers = get!(tv([(4, 64 * p), (8, 1), (4, 16)], [(p, 64), (2, 8), (2, 256 * p)]));
    Ok(MmaAtom {
        kind,
        product,
        shape_mnk: [64, n, k],
        threads: lay!("128:1"),
        a: if matches!(kind, MmaKind::WgmmaRs) { registers } else { get!(shared(64, k)) },
        b: get!(shared(n, k)),
        c: get!(tv([(4, 128), (8, 1), (4, 16)], [(2, 64), (2, 8), (n / 8, 512)])),
        a_type: a,
        b_type: b,
        c_type: c,
        majors,
        arch: 90,
        sm: 90,
    })
}

/// A tile in shared memory, which belongs to every thread as a whole.
const fn shared(rows: i64, k: i64) -> Result<Lay, Error> {
    tv([(128, 0), (1, 0), (1, 0)], [(rows, 1), (k, rows), (1, 0)])
}
