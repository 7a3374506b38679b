//! The finite list of configurations.

use girih_codegen::attention::{AttentionConfig, Features, Form, Multistage, Ring};
use girih_tensor::DType;

/// The bytes of the strides and addresses of tensor maps.
pub(super) const LINE: i64 = 16;

/// A tile of the kernels for sm_90.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    pub head_dim: i64,
    value_dim: Option<i64>,
    pub tile: [i64; 2],
    stages: i64,
    buffers: i64,
    registers: [u32; 2],
    pub reason: &'static str,
}

/// Registers of threads that load and that multiply, of two to four warpgroups that multiply.
pub(super) const REGISTERS: [[u32; 2]; 3] = [[24, 240], [32, 160], [24, 112]];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cannot lose: the tiles are constants of this file"
)]
const fn tiling(head_dim: i64, tile: [i64; 2], stages: i64, buffers: i64, reason: &'static str) -> Tiling {
    let registers = REGISTERS[tile[0] as usize / 64 - 2];
    Tiling { head_dim, value_dim: None, tile, stages, buffers, registers, reason }
}

/// The tiles of a head dim: the fastest on an H200; one of two warpgroups, whose threads have registers for features; and one for features that need
/// even more registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilings {
    pub large: Option<Tiling>,
    pub small: Tiling,
    narrow: Option<Tiling>,
    /// The longest sequences for which the small one is faster.
    pub short: i64,
}

const TWO: &str = "two warpgroups, whose tile has fewer rows without queries";
const THREE: &str = "three warpgroups, of which two compute powers while one multiplies";

const FEWER: &str = "two warpgroups, whose threads have registers for a cap and a bias of f32 beside the scores of fewer keys";

/// The tiles by head dim.
const TILINGS: [Tilings; 5] = [
    Tilings {
        large: Some(tiling(
            64,
            [256, 96],
            5,
            2,
            "four warpgroups: powers take longest, and four hide them best",
        )),
        small: tiling(64, [128, 128], 4, 2, TWO),
        narrow: None,
        short: 128,
    },
    Tilings {
        large: Some(tiling(96, [192, 128], 3, 2, THREE)),
        small: tiling(96, [128, 128], 3, 2, TWO),
        narrow: None,
        short: 128,
    },
    Tilings {
        large: Some(tiling(128, [192, 128], 2, 2, THREE)),
        small: tiling(128, [128, 128], 2, 2, TWO),
        narrow: Some(tiling(128, [128, 96], 2, 2, FEWER)),
        short: 1024,
    },
    Tilings {
        large: None,
        small: tiling(192, [128, 64], 2, 2, "two warpgroups, whose threads have registers for 192 columns"),
        narrow: None,
        short: 0,
    },
    Tilings {
        large: None,
        small: tiling(256, [128, 80], 2, 1, "two warpgroups, whose threads have registers for 256 columns"),
        narrow: Some(tiling(256, [128, 48], 2, 1, FEWER)),
        short: 0,
    },
];

const SHARED: &str =
    "two warpgroups, since shared memory has room for the tiles of more columns of K than of V";

const HALVES: &str = "two warpgroups, and two blocks, each with registers for half of the columns of O";

/// The tiles by head dim where V has other columns than K, which no measurement has chosen.
const OF_VALUES: [Tilings; 3] = [
    of_values(128, tiling(192, [128, 128], 2, 1, SHARED), tiling(192, [128, 96], 2, 1, FEWER)),
    of_values(128, tiling(256, [128, 80], 2, 1, SHARED), tiling(256, [128, 48], 2, 1, FEWER)),
    of_values(256, tiling(512, [128, 32], 2, 1, HALVES), tiling(512, [128, 16], 2, 1, FEWER)),
];
/// The most columns of O for which the threads of a block have registers.
const WHOLE: i64 = 256;

/// The tiles of two warpgroups for this many columns of V.
const fn of_values(value_dim: i64, small: Tiling, narrow: Tiling) -> Tilings {
    let value_dim = Some(value_dim);
    let narrow = Some(Tiling { value_dim, ..narrow });
    Tilings { large: None, small: Tiling { value_dim, ..small }, narrow, short: 0 }
}

impl Tilings {
    /// The tiles for heads of this many columns of Q and K, and of V and O.
    pub(super) fn of([head_dim, value_dim]: [i64; 2]) -> Tilings {
        let all = if head_dim == value_dim && head_dim <= WHOLE { &TILINGS[..] } else { &OF_VALUES[..] };
        let fits = all.iter().find(|tilings| head_dim <= tilings.small.head_dim);
        // No head has more columns than the last one.
        *fits.unwrap_or(&all[all.len() - 1])
    }

    /// The tile of two warpgroups for kernels with features.
    pub(super) fn small(&self, features: &Features) -> Tiling {
        let much = features.softcap && features.bias == Some(DType::F32);
        self.narrow.filter(|_| much).unwrap_or(self.small)
    }

    /// All tiles for these features.
    fn all(self, dtype: DType, features: Features) -> impl Iterator<Item = Tiling> {
        let large = self.large.filter(|large| large.refuses(dtype, &features).is_none());
        large.into_iter().chain([self.small(&features)])
    }
}

impl Tiling {
    /// The feature for which threads have no registers, as far as ptxas assembles a kernel without a spill.
    pub(super) fn refuses(&self, dtype: DType, features: &Features) -> Option<&'static str> {
        let widest = self.tile[0] > 128 && self.head_dim == 128;
        match features {
            Features { bias: Some(_), .. } if self.tile[0] > 128 => Some("the bias"),
            // Zero-filling values after a sequence's end fits the registers along with one mask, for bf16 alone.
            Features { packed: true, left, right, .. }
                if widest && (*left || !right || dtype != DType::Bf16) =>
            {
                Some("packed sequences")
            }
            Features { left: true, right: false, .. } if widest => Some("a window that is open behind"),
            _ => None,
        }
    }
}

/// The configuration of a tile for sm_90, of bf16 and without features.
pub(super) fn ring(tiling: Tiling) -> AttentionConfig {
    let Tiling { head_dim, value_dim, tile, stages, buffers, registers, .. } = tiling;
    let ring = ring_of(Ring { warpgroups: tile[0] / 64, stages, buffers, registers }, head_dim, tile[1]);
    AttentionConfig { value_dim, ..ring }
}

/// The same of warpgroups that process this many keys at a time.
pub(super) fn ring_of(ring: Ring, head_dim: i64, keys: i64) -> AttentionConfig {
    config(Form::Ring(ring), head_dim, [64 * ring.warpgroups, keys])
}

fn config(form: Form, head_dim: i64, tile: [i64; 2]) -> AttentionConfig {
    AttentionConfig {
        name: "attention",
        form,
        dtype: DType::Bf16,
        head_dim,
        value_dim: None,
        tile,
        features: Features::default(),
    }
}

/// The columns, tiles, warps and stages of the other kernels, for floats of 16 bits and for f32: the largest for which ptxas spills no register. All fit
/// the shared memory of sm_86. A warp of tensor cores that has 32 rows of queries reads each key and value from shared memory half as often as one of 16.
const OF_16_BITS: [(i64, [i64; 2], i64, i64); 7] = [
    (32, [128, 64], 4, 4),
    (64, [128, 64], 4, 3),
    (96, [128, 64], 4, 3),
    (128, [128, 64], 4, 3),
    (192, [128, 64], 8, 2),
    (256, [128, 32], 8, 2),
    (512, [64, 16], 4, 2),
];
/// The same where a bias is added: its elements and their addresses take registers too.
const WITH_BIAS: [(i64, [i64; 2], i64, i64); 7] = [
    (32, [128, 32], 4, 4),
    (64, [128, 32], 4, 3),
    (96, [64, 32], 4, 3),
    (128, [64, 32], 4, 3),
    (192, [64, 32], 4, 3),
    (256, [64, 16], 4, 3),
    (512, [64, 16], 4, 2),
];
const OF_F32: [(i64, [i64; 2], i64, i64); 7] = [
    (32, [64, 32], 4, 4),
    (64, [64, 32], 4, 3),
    (96, [64, 32], 4, 2),
    (128, [64, 32], 4, 2),
    (192, [32, 32], 4, 2),
    (256, [32, 16], 8, 2),
    (512, [16, 16], 4, 2),
];
/// The least columns of K where V has others.
const LEAST: i64 = OF_VALUES[0].small.head_dim;
/// The columns from which copies of fewer than 16 bytes, which are more, leave no registers for 32 rows.
const WIDE: i64 = 128;

/// The configuration of the other kernels for heads of this many columns of Q and K, and of V and O, which are copied by `vector` elements.
pub(super) fn multistage(
    dtype: DType,
    [head_dim, of_values]: [i64; 2],
    vector: i64,
    features: Features,
) -> AttentionConfig {
    let value_dim = Tilings::of([head_dim, of_values]).small.value_dim;
    let head_dim = if value_dim.is_some() { head_dim.max(LEAST) } else { head_dim };
    let all = match (dtype, features.bias) {
        (DType::F32, _) => &OF_F32,
        (_, None) => &OF_16_BITS,
        (_, Some(_)) => &WITH_BIAS,
    };
    let (columns, tile, mut warps, stages) =
        *all.iter().find(|one| head_dim <= one.0).unwrap_or(&all[all.len() - 1]);
    if columns == WIDE && tile[0] == 32 * warps && vector * i64::from(dtype.bits()) < 8 * LINE {
        warps *= 2;
    }
    let multistage = Multistage { warps, stages, vector, min_blocks: 0 };
    AttentionConfig { dtype, features, value_dim, ..config(Form::Multistage(multistage), columns, tile) }
}

/// Everything that [`choose`](super::choose()) can choose.
pub fn all() -> Vec<AttentionConfig> {
    let mut out = Vec::new();
    for dtype in crate::DTYPES {
        if dtype != DType::F32 {
            for features in features(dtype) {
                let tilings =
                    TILINGS.iter().chain(&OF_VALUES).flat_map(|tilings| tilings.all(dtype, features));
                out.extend(tilings.map(|tiling| AttentionConfig { dtype, features, ..ring(tiling) }));
            }
        }
        let widest = LINE / i64::from(dtype.bits() / 8);
        for (columns, vector) in OF_F32.iter().flat_map(|one| [1, 2, 4, 8].map(|vector| (one.0, vector))) {
            if vector <= widest {
                let dims = |value_dim: i64| {
                    features(dtype)
                        .map(move |features| multistage(dtype, [columns, value_dim], vector, features))
                };
                out.extend(dims(columns));
                if (LEAST..=WHOLE).contains(&columns) {
                    out.extend(dims(1));
                }
            }
        }
    }
    out
}

/// All that kernels of a dtype can do.
fn features(dtype: DType) -> impl Iterator<Item = Features> {
    let biases = [None, Some(DType::F32), Some(dtype)];
    let biases = biases.into_iter().take(if dtype == DType::F32 { 2 } else { 3 });
    biases
        .flat_map(|bias| {
            (0..64).map(move |bits: u32| {
                let bit = |i: u32| bits >> i & 1 == 1;
                Features {
                    left: bit(0),
                    right: bit(1),
                    packed: bit(2),
                    softcap: bit(3),
                    bias,
                    lse: bit(4),
                    sinks: bit(5),
                }
            })
        })
        // Packed sequences have no bias.
        .filter(|features| !(features.packed && features.bias.is_some()))
}
