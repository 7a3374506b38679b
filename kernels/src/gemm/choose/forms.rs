//! The tiles of multistage kernels, and the threads that compute them.

use girih_codegen::atom::{MmaAtom, MmaKind};
use girih_layout::{Lay, Tile, lay};

/// A tile in elements, the threads that compute it and how far ahead they load, the blocks on an SM, and the tiles of a group.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) tile: [i64; 3],
    pub(super) atoms: Lay,
    pub(super) stages: i64,
    pub(super) fragments: usize,
    pub(super) min_blocks: u32,
    pub(super) group: i64,
}

impl Form {
    pub(super) const fn new(tile: [i64; 3], atoms: Lay, stages: i64) -> Form {
        Form { tile, atoms, stages, fragments: 2, min_blocks: 1, group: 8 }
    }

    /// A tile of 16-bit floats by warps of tensor cores, for copies of 16 bytes.
    pub(super) const fn warps(tile: [i64; 3], stages: i64) -> Form {
        let atoms = match tile {
            [128, 256, _] => EIGHT_WARPS,
            [256, 128, _] => EIGHT_TALL,
            _ => FOUR_WARPS,
        };
        Form { group: 4, ..Form::new(tile, atoms, stages) }
    }

    const fn two_blocks(self) -> Form {
        Form { min_blocks: 2, ..self }
    }
}

/// Each thread owns 4 x 4 blocks of C, so that M- and N-contiguous operands are read in 16-byte vectors.
const FOURS: Lay = lay!("(16,4,2):(4,1,64)");
/// A warp is 4 x 8 threads. Of each two neighbours, and of each two pairs, two read the same: so 16 threads read 128 bytes at once.
const SIMT_ATOMS: Lay = lay!("(((2,2),4),(8,2)):(((1,16),64),(2,32))");
/// The same of a tile twice as high.
const FOUR_FOURS: Lay = lay!("(16,4,4):(4,1,64)");
pub(super) const FOUR_WARPS: Lay = lay!("(2,2):(1,2)");
pub(super) const EIGHT_WARPS: Lay = lay!("(2,4):(1,2)");
pub(super) const EIGHT_TALL: Lay = lay!("(4,2):(1,4)");
/// Bytes of a tile along K, for atoms of warps.
pub(super) const ROW_SM80: i64 = 64;
/// Rows and columns of a tile of eight warps, and the bytes of its four stages.
pub(super) const LARGE: [i64; 2] = [128, 256];
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cannot lose: a constant of 18 bits"
)]
pub(super) const LARGE_SHARED: u32 = (4 * (LARGE[0] + LARGE[1]) * 2 * ROW_SM80) as u32;
/// Rows and columns of a tile, and elements along K.
pub(super) const WIDE: [i64; 3] = [128, 128, 32];
const SHALLOW: [i64; 3] = [128, 128, 16];
pub(super) const NARROW: [i64; 3] = [64, 64, 32];
/// Of f64.
pub(super) const DOUBLES: [i64; 3] = [128, 128, 16];
/// The same of groups.
pub(super) const DOUBLES_OF_GROUPS: [i64; 3] = [64, 128, 16];
/// The bits of the widest load.
pub(super) const WIDEST_BITS: i64 = 128;

/// Tiles of f32 on the CUDA cores. Where ptxas has no registers to choose from, the values of a product are in the same bank, and products take up to
/// twice as long: loads that transpose leave room for the first [`TRANSPOSING`] alone. Two blocks on an SM hide each other's waits; a tile twice as
/// high reads less of shared memory for each product. The first is chosen, or [`TWO_BLOCKS`] where nothing is transposed and there is no epilogue,
/// for which threads of two blocks have no registers (339 us and 356 us for 2048^3 on an H200). The others are for tuners.
pub(super) const SIMT: [Form; 5] = [
    Form::new(SHALLOW, SIMT_ATOMS, 4),
    Form::new([256, 128, 16], SIMT_ATOMS, 4),
    Form::new(SHALLOW, SIMT_ATOMS, 4).two_blocks(),
    Form::new(WIDE, SIMT_ATOMS, 2).two_blocks(),
    Form::new([256, 128, 32], SIMT_ATOMS, 4),
];
pub(super) const TRANSPOSING: usize = 2;
/// The tile of which two blocks run on an SM.
pub(super) const TWO_BLOCKS: usize = 2;
/// For loads that have many addresses.
pub(super) const NARROW_LOADS: Form = Form { fragments: 1, ..SIMT[0] };

/// Those that tuners measure beside the one that is chosen. GPUs of sm_86 and sm_89 have shared memory for no more than 99 KB
/// of stages.
pub(super) const WARPS: [Form; 12] = [
    Form::warps([128, 256, 32], 4),
    Form::warps([128, 256, 32], 3),
    Form::warps([128, 256, 64], 3),
    Form::warps([128, 256, 64], 4),
    Form::warps([256, 128, 64], 3),
    Form::warps([256, 128, 64], 4),
    Form::warps([256, 128, 32], 3),
    Form::warps([256, 128, 32], 4),
    Form::warps([128, 128, 64], 3),
    Form::warps([128, 128, 64], 4),
    Form::warps([128, 128, 32], 3),
    Form::warps([128, 128, 32], 4).two_blocks(),
];

/// Tiles of 16-bit floats for products of few columns, few rows, or a short K, and their threads, the fewest that any form has.
pub(super) const SMALL: [Form; 2] = [
    Form { fragments: 1, ..Form::new([64, 16, 32], lay!("(4,1):(1,4)"), 2) },
    Form { fragments: 1, ..Form::new([16, 64, 32], lay!("(1,4):(4,1)"), 2) },
];
pub(super) const THREADS: i64 = 128;

/// f64 by an atom of warps. A product takes so long that each warp's loads hide behind those of another one.
pub(super) const OF_DOUBLES: Form = Form::new(DOUBLES, EIGHT_WARPS, 4);

/// How the elements of C are handed to threads before warps have them.
pub(super) fn permutation(atom: &MmaAtom, [rows, columns, _]: [i64; 3]) -> [Tile; 2] {
    if atom.kind != MmaKind::Fma {
        return [Tile::All, Tile::All];
    }
    let fours = [Tile::Lay(FOURS), Tile::Lay(FOUR_FOURS)];
    [fours[usize::from(rows > WIDE[0])], fours[usize::from(columns > WIDE[1])]]
}
