//! The rows that are measured: kernels, shapes and launches.

use girih_programs as tile;
use girih_tensor::DType;
use girih_tile::facts::Facts;
use half::bf16;

use super::{Built, OPERATIONS};

/// A row to be measured.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) op: &'static str,
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    /// Names and extents, of parameters in their order.
    pub(super) arrays: Vec<(&'static str, DType, Vec<i64>)>,
    pub(super) scalars: Vec<f32>,
    pub(super) grid: [i64; 3],
    pub(super) zeroed: Vec<&'static str>,
    /// What launches leave for one another: zeroed once, and neither input nor output.
    pub(super) state: Vec<&'static str>,
    /// Warps of a block, and blocks of a multiprocessor, where placement does not choose.
    pub(super) warps: Option<u32>,
    pub(super) occupancy: Option<u32>,
    pub(super) build: fn(&Facts) -> Built,
}

/// Rows of `[m, n]` by kernels of rows: softmax and the norms, with the rows of a block, columns, and 100 times the blocks of a
/// multiprocessor and the warps of a block (0: placement chooses).
macro_rules! by_rows {
    ($rows:ident, $op:literal, $extra:expr, $eps:expr, $($kernel:ident ($($tile:literal),+) $r:literal $n:literal $warps:literal;)*) => { $(
        let (m, n) = (4096, $n);
        let mut arrays = vec![("x", DType::Bf16, vec![m, n])];
        arrays.extend($extra.iter().map(|&name| (name, DType::Bf16, vec![n])));
        arrays.push(("y", DType::Bf16, vec![m, n]));
        let how = concat!(stringify!($kernel), $(" ", $tile,)+ " w", $warps);
        $rows.push(Row {
            name: format!("{} bf16 {m}x{n} {how}", $op),
            op: $op,
            dtype: DType::Bf16,
            shape: vec![m, n],
            arrays,
            scalars: $eps.to_vec(),
            grid: [m / $r, 1, 1],
            zeroed: Vec::new(),
        state: Vec::new(),
            warps: ($warps % 100 > 0).then_some($warps % 100),
            occupancy: ($warps >= 100).then_some($warps / 100),
            build: tile::$kernel::<bf16, $($tile),+>::ir_with,
        });
    )* };
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let flat = |name: &str, op, arrays: &[&'static str], n: i64, per: i64, build| Row {
        name: name.to_string(),
        op,
        dtype: DType::F32,
        shape: vec![n],
        arrays: arrays.iter().map(|&name| (name, DType::F32, vec![n])).collect(),
        scalars: Vec::new(),
        grid: [n / per, 1, 1],
        zeroed: Vec::new(),
        state: Vec::new(),
        warps: None,
        occupancy: None,
        build,
    };
    let big = 1 << 28;
    rows.push(flat("add f32 2^28", "add", &["x", "y", "z"], big, 2048, tile::add::<f32, 2048>::ir_with));
    rows.push(flat(
        "add f32 2^28, tiles of 1024",
        "add",
        &["x", "y", "z"],
        big,
        1024,
        tile::add::<f32, 1024>::ir_with,
    ));
    rows.push(flat(
        "add f32 2^28, tiles of 4096",
        "add",
        &["x", "y", "z"],
        big,
        4096,
        tile::add::<f32, 4096>::ir_with,
    ));
    let side = 16384;
    let square = |name: &str, dtype, r: i64, c: i64, build| Row {
        name: name.to_string(),
        op: "transpose",
        dtype,
        shape: vec![side, side],
        arrays: vec![("x", dtype, vec![side, side]), ("y", dtype, vec![side, side])],
        scalars: Vec::new(),
        grid: [side / c, side / r, 1],
        zeroed: Vec::new(),
        state: Vec::new(),
        warps: None,
        occupancy: None,
        build,
    };
    rows.push(square("transpose f32 16384", DType::F32, 64, 64, tile::transpose::<f32, 64, 64>::ir_with));
    rows.push(square(
        "transpose f32 16384, 32x32",
        DType::F32,
        32,
        32,
        tile::transpose::<f32, 32, 32>::ir_with,
    ));
    rows.push(square(
        "transpose f32 16384, 64x32",
        DType::F32,
        64,
        32,
        tile::transpose::<f32, 64, 32>::ir_with,
    ));
    rows.push(square("transpose bf16 16384", DType::Bf16, 64, 64, tile::transpose::<bf16, 64, 64>::ir_with));
    rows.push(square(
        "transpose bf16 16384, 128x64",
        DType::Bf16,
        128,
        64,
        tile::transpose::<bf16, 128, 64>::ir_with,
    ));
    rows.push(square(
        "transpose bf16 16384, 64x128",
        DType::Bf16,
        64,
        128,
        tile::transpose::<bf16, 64, 128>::ir_with,
    ));
    by_rows!(rows, "softmax", [""; 0], [0.0; 0],
        softmax(2, 1024) 2 1024 0; softmax(1, 1024) 1 1024 2; softmax(1, 4096) 1 4096 0; softmax(1, 4096) 1 4096 8;
        softmax(1, 16384) 1 16384 0; softmax(1, 16384) 1 16384 8; softmax_long(16384) 1 65536 32; softmax_long(16384) 1 65536 0;
    );
    by_rows!(rows, "rmsnorm", ["w"], [1e-5],
        rmsnorm(4, 1024) 4 1024 4; rmsnorm(2, 1024) 2 1024 0; rmsnorm(1, 4096) 1 4096 0;
        rmsnorm(1, 16384) 1 16384 216; rmsnorm(1, 16384) 1 16384 0; rmsnorm_long(16384) 1 65536 32; rmsnorm_long(16384) 1 65536 0;
    );
    by_rows!(rows, "layernorm", ["w", "b"], [1e-5],
        layernorm(1, 1024) 1 1024 4; layernorm(1, 1024) 1 1024 2; layernorm(2, 1024) 2 1024 0; layernorm(1, 4096) 1 4096 0;
        layernorm_long(4096) 1 16384 8; layernorm_long(2048) 1 16384 4; layernorm_long(2048) 1 16384 8; layernorm_long(8192) 1 16384 32; layernorm(1, 16384) 1 16384 0;
        layernorm_long(8192) 1 65536 32; layernorm_long(16384) 1 65536 32; layernorm_long(16384) 1 65536 0;
    );
    let sum = |name: &str, op, grid: i64, build| Row {
        name: name.to_string(),
        op,
        dtype: DType::F32,
        shape: vec![side, side],
        arrays: vec![("x", DType::F32, vec![side, side]), ("y", DType::F32, vec![side])],
        scalars: Vec::new(),
        grid: [grid, 1, 1],
        zeroed: Vec::new(),
        state: Vec::new(),
        warps: None,
        occupancy: None,
        build,
    };
    rows.push(sum("row sum f32 16384", "row_sum", side, tile::row_sum::<1, 4096>::ir_with));
    rows.push(sum("row sum f32 16384, 4x1024", "row_sum", side / 4, tile::row_sum::<4, 1024>::ir_with));
    rows.push(sum("column sum f32 16384", "column_sum", side / 32, tile::column_sum::<128, 32>::ir_with));
    rows.push(sum(
        "column sum f32 16384, 32x128",
        "column_sum",
        side / 128,
        tile::column_sum::<32, 128>::ir_with,
    ));
    rows.push(sum(
        "column sum f32 16384, 256x32",
        "column_sum",
        side / 32,
        tile::column_sum::<256, 32>::ir_with,
    ));
    rows.push(sum(
        "column sum f32 16384, 256x16",
        "column_sum",
        side / 16,
        tile::column_sum::<256, 16>::ir_with,
    ));
    let mut full = flat("full sum f32 2^28", "full_sum", &["x"], big, 1, tile::full_sum::<4096>::ir_with);
    full.arrays.push(("y", DType::F32, vec![1]));
    full.grid = [132 * 8, 1, 1];
    full.zeroed = vec!["y"];
    rows.push(full);
    rows.extend(wide());
    rows.extend(products());
    rows
}

/// Rows of kernels with products: attention, whose peer is cuDNN's, groups of rows, and the gated pair.
fn products() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |op: &'static str,
                   name: String,
                   shape: &[i64],
                   arrays: &[(&'static str, &[i64])],
                   scalars,
                   grid,
                   build| {
        let dtype = |name: &str| if name == "ends" { DType::S32 } else { DType::Bf16 };
        rows.push(Row {
            name,
            op,
            dtype: DType::Bf16,
            shape: shape.to_vec(),
            arrays: arrays.iter().map(|&(name, extents)| (name, dtype(name), extents.to_vec())).collect(),
            scalars,
            grid,
            zeroed: Vec::new(),
            state: Vec::new(),
            warps: None,
            occupancy: None,
            build,
        });
    };
    macro_rules! attention {
        ($($op:literal $batch:literal $length:literal, $m:literal $n:literal $d:literal $causal:literal;)*) => { $(
            let shape: &[i64] = &[$batch, 2048 / $d, $length, $d];
            let name = format!("{} bf16 {}x{}x{}x{}, {}x{}", $op, $batch, 2048 / $d, $length, $d, $m, $n);
            let arrays = ["q", "k", "v", "y"].map(|name| (name, shape));
            let scale = 1.0 / f32::sqrt($d as f32);
            let grid = [($length + $m - 1) / $m, 2048 / $d, $batch];
            let build = tile::attention::<bf16, $m, $n, $d, $causal>::ir_with;
            add($op, name, shape, &arrays, vec![scale], grid, build);
        )* };
    }
    attention! {
        "attention" 4 4096, 128 128 128 false;
        "attention" 4 4096, 128 64 128 false;
        "attention" 4 4096, 64 128 128 false;
        "attention" 1 16384, 128 128 128 false;
        "attention" 4 4096, 128 128 64 false;
        "attention_causal" 4 4096, 128 128 128 true;
        "attention_causal" 4 4096, 128 64 128 true;
    }
    let (m, n, k) = (8192, 4096, 4096);
    macro_rules! grouped {
        ($($groups:literal, $m:literal $n:literal $k:literal;)*) => { $(
            let name = format!("grouped bf16 {} groups of {m}x{n}x{k}, {}x{}x{}", $groups, $m, $n, $k);
            let arrays: [(&str, &[i64]); 4] =
                [("a", &[m, k]), ("b", &[$groups, k, n]), ("ends", &[$groups]), ("y", &[m, n])];
            let build = tile::gemm_grouped::<bf16, $m, $n, $k>::ir_with;
            add("grouped", name, &[m, n, k, $groups], &arrays, Vec::new(), [132, 1, 1], build);
        )* };
    }
    grouped! { 8, 128 256 64; 8, 256 128 64; 64, 128 256 64; 64, 256 128 64; 64, 128 128 64; }
    macro_rules! gated {
        ($($m:literal $n:literal $k:literal;)*) => { $(
            let (m, n, k) = (4096, 14336, 4096);
            let name = format!("gated_mlp bf16 {m}x{n}x{k}, {}x{}x{}", $m, $n, $k);
            let arrays: [(&str, &[i64]); 4] = [("x", &[m, k]), ("gate", &[k, n]), ("up", &[k, n]), ("y", &[m, n])];
            let build = tile::gated_mlp::<bf16, $m, $n, $k>::ir_with;
            add("gated_mlp", name, &[m, n, k], &arrays, Vec::new(), [m / $m, n / $n, 1], build);
        )* };
    }
    gated! { 128 128 64; 128 64 64; }
    rows
}

/// Rows of kernels whose blocks have something of one another, and of running sums of rows: extents of tiles, then `w` with 100 times the
/// blocks of a multiprocessor and the warps of a block, as in [`by_rows`].
fn wide() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add =
        |name: &str, how: &str, arrays: &[(&'static str, DType, &[i64])], grid: i64, warps: u32, build| {
            let op = name.split(' ').next().unwrap_or(name);
            let op = OPERATIONS.iter().find(|known| **known == op).copied().unwrap_or("unknown");
            let (_, dtype, shape) = arrays[0];
            rows.push(Row {
                name: format!("{name} {how} w{warps}"),
                op,
                dtype,
                shape: shape.to_vec(),
                arrays: arrays
                    .iter()
                    .map(|&(name, dtype, extents)| (name, dtype, extents.to_vec()))
                    .collect(),
                scalars: Vec::new(),
                grid: [grid, 1, 1],
                zeroed: if op == "histogram" { vec!["y"] } else { Vec::new() },
                state: arrays.iter().map(|array| array.0).filter(|name| name.starts_with("state")).collect(),
                warps: (!warps.is_multiple_of(100)).then_some(warps % 100),
                occupancy: (warps >= 100).then_some(warps / 100),
                build,
            });
        };
    let (m, n) = (4096, 16384);
    let matrix: [(&str, DType, &[i64]); 2] = [("x", DType::F32, &[m, n]), ("y", DType::F32, &[m, n])];
    macro_rules! by_row {
        ($($tile:literal $warps:literal;)*) => { $(
            let how = stringify!($tile);
            add("cumsum f32 4096x16384", how, &matrix, m, $warps, tile::cumsum::<f32, $tile>::ir_with);
        )* };
    }
    by_row! { 16384 0; 16384 16; 16384 32; 8192 0; 8192 16; 4096 0; 4096 8; 2048 0; }

    macro_rules! scans {
        ($($name:literal $n:expr, $dtype:ident $from:ty, $to:ty, $tile:literal $window:literal $warps:literal;)*) => { $(
            let (n, grid): (i64, i64) = ($n, $n / $tile);
            let arrays: [(&str, DType, &[i64]); 3] =
                [("x", DType::$dtype, &[n]), ("y", DType::$dtype, &[n]), ("state", DType::U64, &[grid + 16])];
            let how = concat!($tile, " ", $window);
            add($name, how, &arrays, grid, $warps, tile::cumsum_all::<$from, $to, $tile, $window>::ir_with);
        )* };
    }
    scans! {
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 4096 128 0;
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 4096 32 0;
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 4096 256 0;
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 4096 128 8;
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 8192 128 8;
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 8192 256 8;
        "cumsum_all f32 2^27" 1 << 27, F32 f32, f32, 2048 128 0;
        "cumsum_all s32 2^27" 1 << 27, S32 i32, i32, 4096 128 0;
        "cumsum_all bf16 2^28" 1 << 28, Bf16 bf16, f32, 4096 128 0;
        "cumsum_all bf16 2^28" 1 << 28, Bf16 bf16, f32, 8192 128 8;
    }
    let bytes = 1 << 28;
    let counted: [(&str, DType, &[i64]); 2] = [("x", DType::U8, &[bytes]), ("y", DType::S32, &[256])];
    macro_rules! histograms {
        ($($tile:literal $blocks:literal $warps:literal;)*) => { $(
            let how = concat!($tile, " ", $blocks, " blocks");
            let build = tile::histogram::<$tile, 256>::ir_with;
            add("histogram u8 2^28", how, &counted, 132 * $blocks, $warps, build);
        )* };
    }
    histograms! { 4096 7 8; 8192 7 8; 8192 4 16; 16384 4 16; 16384 2 32; 4096 6 4; }
    let big = 1 << 28;
    macro_rules! reductions {
        ($($tile:literal $blocks:literal $warps:literal;)*) => { $(
            let (grid, how) = (132 * $blocks, concat!($tile, " ", $blocks, " blocks"));
            let x: (&str, DType, &[i64]) = ("x", DType::F32, &[big]);
            let (y, parts) = (("y", DType::F32, [1]), [grid]);
            let arrays = [x, (y.0, y.1, &y.2), ("state_parts", DType::F32, &parts), ("state", DType::U32, &[1])];
            add("sum_all f32 2^28", how, &arrays, grid, $warps, tile::sum_all::<f32, f32, $tile>::ir_with);
            let arrays: [(&str, DType, &[i64]); 5] = [
                x,
                ("y", DType::S32, &[1]),
                ("state_parts", DType::F32, &parts),
                ("state_places", DType::S32, &parts),
                ("state", DType::U32, &[1]),
            ];
            add("argmax_all f32 2^28", how, &arrays, grid, $warps, tile::argmax_all::<f32, $tile>::ir_with);
        )* };
    }
    reductions! { 4096 8 0; 4096 4 0; 2048 8 0; 8192 4 8; }
    let (elements, segments) = (1 << 27, 1 << 20);
    macro_rules! segmented {
        ($($tile:literal $window:literal $warps:literal;)*) => { $(
            let grid: i64 = elements / $tile;
            let arrays: [(&str, DType, &[i64]); 4] = [
                ("x", DType::F32, &[elements]),
                ("offsets", DType::S32, &[segments + 1]),
                ("y", DType::F32, &[segments]),
                ("state", DType::U64, &[grid + 16]),
            ];
            let build = tile::segment_sum::<f32, f32, $tile, $window>::ir_with;
            add("segment_sum f32 2^27", concat!($tile, " ", $window), &arrays, grid, $warps, build);
        )* };
    }
    segmented! { 2048 128 0; 4096 128 0; 4096 256 8; }
    rows
}
