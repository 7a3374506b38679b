//! The order in which tiles are computed: along a curve, so that tiles that are computed at about the same time share rows
//! and columns of A and B in the L2 cache, whichever way the grid is cut.

/// The tiles of a grid of `rows` and `columns` along a generalised Hilbert curve, each as its row and column. Neighbours on the
/// curve are neighbours in the grid, except for one diagonal step where the extents allow no better curve.
///
/// ```
/// use girih_codegen::gemm::hilbert;
/// assert_eq!(hilbert(2, 2), [[0, 0], [1, 0], [1, 1], [0, 1]]);
/// ```
pub fn hilbert(rows: u32, columns: u32) -> Vec<[u32; 2]> {
    let mut out = Vec::with_capacity(rows as usize * columns as usize);
    let (rows, columns) = (i64::from(rows), i64::from(columns));
    if columns >= rows {
        curve(&mut out, [0, 0], [0, columns], [rows, 0]);
    } else {
        curve(&mut out, [0, 0], [rows, 0], [0, columns]);
    }
    out
}

/// The order of tiles of `tile` elements. The curve goes through pieces of C that are as square in elements as whole tiles allow,
/// since rows and columns of elements cost the same.
pub(in crate::gemm) fn order(tile: [i64; 2], tiles: [u32; 2]) -> Vec<[u32; 2]> {
    let side = tile[0].max(tile[1]);
    let piece = tile.map(|extent| (side / extent.max(1)).clamp(1, 1 << 10) as u32);
    let [rows, columns] = [0, 1].map(|i| tiles[i].div_ceil(piece[i]));
    let of_piece = |[row, column]: [u32; 2]| {
        let range = |i: usize, at: u32| at * piece[i]..((at + 1) * piece[i]).min(tiles[i]);
        range(1, column).flat_map(move |column| range(0, row).map(move |row| [row, column]))
    };
    hilbert(rows, columns).into_iter().flat_map(of_piece).collect()
}

fn sum(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn scaled(a: [i64; 2], by: i64) -> [i64; 2] {
    [a[0] * by, a[1] * by]
}

fn negative(a: [i64; 2]) -> [i64; 2] {
    scaled(a, -1)
}

fn length(a: [i64; 2]) -> i64 {
    (a[0] + a[1]).abs()
}

/// Fills the rectangle of the two sides at `at`, from there to the end of `along`.
fn curve(out: &mut Vec<[u32; 2]>, at: [i64; 2], along: [i64; 2], across: [i64; 2]) {
    let (width, height) = (length(along), length(across));
    if width == 0 || height == 0 {
        return;
    }
    let step = [along, across].map(|side| side.map(i64::signum));
    if width == 1 || height == 1 {
        let (count, step) = if height == 1 { (width, step[0]) } else { (height, step[1]) };
        out.extend((0..count).map(|i| sum(at, scaled(step, i)).map(|x| x as u32)));
        return;
    }
    let [mut half, mut half_across] = [along, across].map(|side| side.map(|x| x.div_euclid(2)));
    if 2 * width > 3 * height {
        // A long rectangle is cut into two halves, the first of even length.
        if length(half) % 2 != 0 && width > 2 {
            half = sum(half, step[0]);
        }
        curve(out, at, half, across);
        curve(out, sum(at, half), sum(along, negative(half)), across);
        return;
    }
    if length(half_across) % 2 != 0 && height > 2 {
        half_across = sum(half_across, step[1]);
    }
    // The curve goes up, along, and down again.
    curve(out, at, half_across, half);
    curve(out, sum(at, half_across), along, sum(across, negative(half_across)));
    let last = sum(sum(at, sum(along, negative(step[0]))), sum(half_across, negative(step[1])));
    curve(out, last, negative(half_across), negative(sum(along, negative(half))));
}
