//! Every MMA atom, and constants for the atoms that kernels name.

use girih_layout::Error as LayoutError;
use girih_tensor::DType;

use super::family::{Since, Types, Wgmma, dot, fma, quad_pair, warp, wgmma};
use super::{Major, MmaAtom, MmaKind, Product, name};
use crate::Error;
use crate::error::WgmmaError;

use DType::{B1, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S16, S32, Tf32, U4, U8};

const SM75: Since = Since { arch: 75, sm: 75 };
const SM80: Since = Since { arch: 80, sm: 80 };
/// CuTe's name says sm_80, but the instruction is older.
const SM80_SINCE_75: Since = Since { arch: 80, sm: 75 };
const SM89: Since = Since { arch: 89, sm: 89 };
const SM90: Since = Since { arch: 90, sm: 90 };

/// `mma.sync` of floats: architecture, M, K, types of C, A, B.
const FLOATS: &[(Since, i64, i64, Types)] = &[
    (SM75, 16, 8, [F32, F16, F16]),
    (SM75, 16, 8, [F16, F16, F16]),
    (SM80_SINCE_75, 16, 8, [F16, F16, F16]),
    (SM80, 16, 16, [F16, F16, F16]),
    (SM80_SINCE_75, 16, 8, [F32, F16, F16]),
    (SM80, 16, 16, [F32, F16, F16]),
    (SM80, 16, 8, [F32, Bf16, Bf16]),
    (SM80, 16, 16, [F32, Bf16, Bf16]),
    (SM80, 16, 4, [F32, Tf32, Tf32]),
    (SM80, 16, 8, [F32, Tf32, Tf32]),
    (SM80, 8, 4, [F64, F64, F64]),
    (SM89, 16, 32, [F32, E4m3, E4m3]),
    (SM89, 16, 32, [F32, E4m3, E5m2]),
    (SM89, 16, 32, [F32, E5m2, E4m3]),
    (SM89, 16, 32, [F32, E5m2, E5m2]),
    (SM89, 16, 32, [F16, E4m3, E4m3]),
    (SM89, 16, 32, [F16, E4m3, E5m2]),
    (SM89, 16, 32, [F16, E5m2, E4m3]),
    (SM89, 16, 32, [F16, E5m2, E5m2]),
    (SM90, 16, 4, [F64, F64, F64]),
    (SM90, 16, 8, [F64, F64, F64]),
    (SM90, 16, 16, [F64, F64, F64]),
];

/// Shapes of integers by the bits of an element: architecture, M, K.
const INTEGERS: &[(u32, Since, i64, i64)] = &[
    (8, SM80_SINCE_75, 8, 16),
    (8, SM80, 16, 16),
    (8, SM80, 16, 32),
    (4, SM80_SINCE_75, 8, 32),
    (4, SM80, 16, 32),
    (4, SM80, 16, 64),
];

/// Shapes of bits: architecture of `xor`, M, K. `and` needs sm_80.
const BITS: &[(Since, i64, i64)] = &[(SM80_SINCE_75, 8, 128), (SM80, 16, 128), (SM80, 16, 256)];

/// Types of C, A, B of `wgmma`.
const WGMMA: &[Types] = &[
    [F16, F16, F16],
    [F32, F16, F16],
    [F32, Bf16, Bf16],
    [F32, Tf32, Tf32],
    [F16, E4m3, E4m3],
    [F16, E4m3, E5m2],
    [F16, E5m2, E4m3],
    [F16, E5m2, E5m2],
    [F32, E4m3, E4m3],
    [F32, E4m3, E5m2],
    [F32, E5m2, E4m3],
    [F32, E5m2, E5m2],
    [S32, S8, S8],
    [S32, S8, U8],
    [S32, U8, S8],
    [S32, U8, U8],
    [S32, B1, B1],
];

const MAJORS: [[Major; 2]; 4] =
    [[Major::K, Major::K], [Major::Mn, Major::Mn], [Major::Mn, Major::K], [Major::K, Major::Mn]];

/// Whether `wgmma` multiplies these types.
const fn has_types([c, a, b]: Types) -> bool {
    let mut i = 0;
    while i < WGMMA.len() {
        let [known_c, known_a, known_b] = WGMMA[i];
        if known_c as u8 == c as u8 && known_a as u8 == a as u8 && known_b as u8 == b as u8 {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether `wgmma` has this N: multiples of 8 to 256, but for integers and bits above 32 only multiples of 16.
const fn has_n(types: Types, n: i64) -> bool {
    let fine = !matches!(types[0], S32) || n <= 32;
    8 <= n && n <= 256 && n % if fine { 8 } else { 16 } == 0
}

/// The ways in which `wgmma` multiplies elements of the types.
const fn products(types: Types) -> &'static [Product] {
    match types {
        [S32, B1, _] => &[Product::And],
        [S32, ..] => &[Product::Multiply, Product::Saturate],
        _ => &[Product::Multiply],
    }
}

/// Whether `product` is one of [`products`].
const fn has_product(types: Types, product: Product) -> bool {
    let (all, mut i) = (products(types), 0);
    while i < all.len() {
        if all[i] as u8 == product as u8 {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether `wgmma` takes operands in these orders: elements of 16 bits in shared memory may have any, all others go along K.
const fn has_majors(kind: MmaKind, types: Types, [a, b]: [Major; 2]) -> bool {
    let free = types[1].bits() == 16;
    (matches!(a, Major::K) || free && matches!(kind, MmaKind::WgmmaSs)) && (matches!(b, Major::K) || free)
}

fn universal() -> impl Iterator<Item = MmaAtom> {
    [
        UNIVERSAL_FMA_F64,
        UNIVERSAL_FMA_F32,
        UNIVERSAL_FMA_F16,
        UNIVERSAL_FMA_BF16,
        UNIVERSAL_FMA_S32,
        SM61_DP4A,
        SM61_DP2A,
    ]
    .into_iter()
}

fn quad_pairs() -> impl Iterator<Item = MmaAtom> {
    [F16, F32].into_iter().flat_map(|c| MAJORS.into_iter().map(move |majors| quad_pair(c, majors)))
}

fn warps() -> impl Iterator<Item = Result<MmaAtom, LayoutError>> {
    let floats = FLOATS.iter().map(|&(since, m, k, types)| warp(since, m, k, types, Product::Multiply));
    let turing = Some(warp(SM75, 8, 16, [S32, S8, S8], Product::Multiply));
    let integers = INTEGERS.iter().flat_map(|&(bits, since, m, k)| {
        let [s, u] = if bits == 8 { [S8, U8] } else { [S4, U4] };
        [[s, s], [s, u], [u, s], [u, u]].into_iter().flat_map(move |[a, b]| {
            let with = move |product| warp(since, m, k, [S32, a, b], product);
            [Product::Multiply, Product::Saturate].into_iter().map(with)
        })
    });
    let bits = BITS.iter().flat_map(|&(since, m, k)| {
        let with = move |since, product| warp(since, m, k, [S32, B1, B1], product);
        [with(since, Product::Xor), with(SM80, Product::And)]
    });
    floats.chain(turing).chain(integers).chain(bits)
}

/// The atoms of [`warps`] without those of bits and of four bits that have these types of C, A and B and run on an architecture, not yet built.
fn of_types(types: Types, sm: u32) -> impl Iterator<Item = (Since, i64, i64)> {
    let [c, a, b] = types;
    let bytes = |dtype| matches!(dtype, S8 | U8);
    let floats = FLOATS.iter().filter(move |row| row.3 == types).map(|&(since, m, k, _)| (since, m, k));
    let integers = INTEGERS.iter().filter(move |row| row.0 == 8 && c == S32 && bytes(a) && bytes(b));
    let integers = integers.map(|&(_, since, m, k)| (since, m, k));
    floats.chain(integers).filter(move |(since, ..)| since.sm <= sm)
}

fn warpgroups() -> impl Iterator<Item = Result<MmaAtom, LayoutError>> {
    WGMMA.iter().flat_map(|&types| {
        let orders = [MmaKind::WgmmaSs, MmaKind::WgmmaRs]
            .into_iter()
            .flat_map(|kind| MAJORS.into_iter().map(move |majors| (kind, majors)));
        let kept = orders.filter(move |&(kind, majors)| has_majors(kind, types, majors));
        kept.flat_map(move |(kind, majors)| {
            let of = move |n, product| wgmma(Wgmma { kind, n, types, majors, product });
            let ns = (8..=256).step_by(8).filter(move |&n| has_n(types, n));
            ns.flat_map(move |n| products(types).iter().map(move |&product| of(n, product)))
        })
    })
}

impl MmaAtom {
    /// Every atom: first the atoms of one thread, then `mma.sync` and `wgmma` by architecture. The iterator builds each atom.
    ///
    /// ```
    /// use girih_codegen::atom::MmaAtom;
    /// let fp8 = MmaAtom::all().filter(|atom| atom.arch == 89);
    /// assert_eq!(fp8.count(), 8);
    /// ```
    pub fn all() -> impl Iterator<Item = MmaAtom> {
        // The rules build no layout that fails, which the tests prove by counting the atoms.
        universal().chain(quad_pairs()).chain(warps().chain(warpgroups()).filter_map(Result::ok))
    }

    /// The atoms `mma.sync` of a warp that multiply these types, of C, A and B, on an architecture such as 80: wrapping sums of integers.
    ///
    /// ```
    /// use girih_codegen::atom::{MmaAtom, SM80_16X8X16_F32BF16BF16F32_TN};
    /// use girih_tensor::DType::{Bf16, E4m3, F32};
    ///
    /// let atoms = MmaAtom::of_warps([F32, Bf16, Bf16], 80);
    /// assert!(atoms.contains(&SM80_16X8X16_F32BF16BF16F32_TN) && atoms.len() == 2);
    /// assert!(MmaAtom::of_warps([F32, E4m3, E4m3], 80).is_empty());
    /// ```
    pub fn of_warps(types: [DType; 3], sm: u32) -> Vec<MmaAtom> {
        let mut atoms: Vec<MmaAtom> = Vec::new();
        for (since, m, k) in of_types(types, sm) {
            if let Ok(atom) = warp(since, m, k, types, Product::Multiply)
                && !atoms.iter().any(|other| other.shape_mnk == atom.shape_mnk)
            {
                atoms.push(atom);
            }
        }
        atoms
    }

    /// The atom of a warpgroup: M = 64, K = 32 bytes (256 bits of B1), `n` columns, and the types of C, A and B.
    ///
    /// # Errors
    /// [`Error::Wgmma`] for parameters that `wgmma` does not have; the error says which it has.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::atom::{Major, MmaAtom, MmaKind, Product};
    /// use girih_tensor::DType::{Bf16, F32};
    ///
    /// let types = [F32, Bf16, Bf16];
    /// let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 128, types, [Major::K, Major::Mn], Product::Multiply)?;
    /// assert_eq!((atom.shape_mnk, atom.c.to_string()), ([64, 128, 16], "((4,8,4),(2,2,16)):((128,1,16),(64,8,512))".into()));
    /// assert!(MmaAtom::wgmma(MmaKind::WgmmaRs, 128, types, [Major::Mn, Major::K], Product::Multiply).is_err());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn wgmma(
        kind: MmaKind,
        n: i64,
        types: [DType; 3],
        majors: [Major; 2],
        product: Product,
    ) -> Result<MmaAtom, Error> {
        MmaAtom::judged_wgmma(kind, n, types, majors, product).map_err(Error::from)
    }

    /// [`MmaAtom::wgmma`] in constants.
    pub(crate) const fn judged_wgmma(
        kind: MmaKind,
        n: i64,
        types: [DType; 3],
        majors: [Major; 2],
        product: Product,
    ) -> Result<MmaAtom, NoAtom> {
        let error = if !kind.is_wgmma() {
            WgmmaError::Kind { kind: name::kind(kind) }
        } else if !has_types(types) {
            WgmmaError::Types { types }
        } else if !has_n(types, n) {
            let accepted = match types[0] {
                S32 => "8, 16, 24, 32, then multiples of 16 to 256",
                _ => "multiples of 8 to 256",
            };
            WgmmaError::Columns { n, accepted }
        } else if !has_majors(kind, types, majors) {
            WgmmaError::Majors { majors: [name::major(majors[0]), name::major(majors[1])] }
        } else if !has_product(types, product) {
            let accepted = match types {
                [S32, B1, _] => "And",
                [S32, ..] => "Multiply or Saturate",
                _ => "Multiply",
            };
            WgmmaError::Product { product: name::product(product), accepted }
        } else {
            return match wgmma(Wgmma { kind, n, types, majors, product }) {
                Ok(atom) => Ok(atom),
                Err(error) => Err(NoAtom::Layout(error)),
            };
        };
        Err(NoAtom::Wgmma(error))
    }
}

/// The reason why there is no such atom, as constants can report it.
pub(crate) enum NoAtom {
    Layout(LayoutError),
    Wgmma(WgmmaError),
}

impl From<NoAtom> for Error {
    fn from(none: NoAtom) -> Error {
        match none {
            NoAtom::Layout(error) => Error::Layout(error),
            NoAtom::Wgmma(error) => Error::Wgmma(error),
        }
    }
}

/// An atom that is built when the crate is compiled.
const fn built(atom: Result<MmaAtom, LayoutError>) -> MmaAtom {
    match atom {
        Ok(atom) => atom,
        Err(_) => panic!("an atom's layout fails"),
    }
}

macro_rules! named {
    ($($doc:literal $name:ident = $atom:expr;)*) => {
        $(#[doc = $doc] pub const $name: MmaAtom = $atom;)*
    };
}

named! {
    "One thread, one multiply-add: `fma.rn.f64`."
    UNIVERSAL_FMA_F64 = fma(F64);
    "One thread, one multiply-add: `fma.rn.f32`."
    UNIVERSAL_FMA_F32 = fma(F32);
    "One thread, one multiply-add: `fma.rn.f16`."
    UNIVERSAL_FMA_F16 = fma(F16);
    "One thread, one multiply-add: `fma.rn.bf16`."
    UNIVERSAL_FMA_BF16 = fma(Bf16);
    "One thread, one multiply-add: `mad.lo.s32`."
    UNIVERSAL_FMA_S32 = fma(S32);
    "One thread, four products of bytes: `dp4a.s32.s32`."
    SM61_DP4A = built(dot(S8, 4));
    "One thread, two products of 16 by 8 bits: `dp2a.lo.s32.s32`."
    SM61_DP2A = built(dot(S16, 2));
    "`mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32` of a quad pair."
    SM70_8X8X4_F32F16F16F32_TN = quad_pair(F32, [Major::K, Major::K]);
    "`mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32`."
    SM75_16X8X8_F32F16F16F32_TN = built(warp(SM75, 16, 8, [F32, F16, F16], Product::Multiply));
    "`mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`."
    SM80_16X8X16_F32F16F16F32_TN = built(warp(SM80, 16, 16, [F32, F16, F16], Product::Multiply));
    "`mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16`."
    SM80_16X8X16_F16F16F16F16_TN = built(warp(SM80, 16, 16, [F16, F16, F16], Product::Multiply));
    "`mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`."
    SM80_16X8X16_F32BF16BF16F32_TN = built(warp(SM80, 16, 16, [F32, Bf16, Bf16], Product::Multiply));
    "`mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32`."
    SM80_16X8X8_F32TF32TF32F32_TN = built(warp(SM80, 16, 8, [F32, Tf32, Tf32], Product::Multiply));
    "`mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64`."
    SM80_8X8X4_F64F64F64F64_TN = built(warp(SM80, 8, 4, [F64, F64, F64], Product::Multiply));
    "`mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32`."
    SM80_16X8X32_S32S8S8S32_TN = built(warp(SM80, 16, 32, [S32, S8, S8], Product::Multiply));
    "`mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32`."
    SM80_16X8X64_S32S4S4S32_TN = built(warp(SM80, 16, 64, [S32, S4, S4], Product::Multiply));
    "`mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc`."
    SM80_16X8X256_S32U1U1S32_TN_XORPOPC = built(warp(SM80, 16, 256, [S32, B1, B1], Product::Xor));
    "`mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32`."
    SM89_16X8X32_F32E4M3E4M3F32_TN = built(warp(SM89, 16, 32, [F32, E4m3, E4m3], Product::Multiply));
    "`mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32`."
    SM89_16X8X32_F32E5M2E5M2F32_TN = built(warp(SM89, 16, 32, [F32, E5m2, E5m2], Product::Multiply));
    "`mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64`."
    SM90_16X8X4_F64F64F64F64_TN = built(warp(SM90, 16, 4, [F64, F64, F64], Product::Multiply));
    "`mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64`."
    SM90_16X8X8_F64F64F64F64_TN = built(warp(SM90, 16, 8, [F64, F64, F64], Product::Multiply));
    "`mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64`."
    SM90_16X8X16_F64F64F64F64_TN = built(warp(SM90, 16, 16, [F64, F64, F64], Product::Multiply));
}
