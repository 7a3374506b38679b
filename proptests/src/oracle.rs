//! What a layout means, by enumeration: nothing here calls the algebra.

use girih_layout::Lay;

/// Extent and stride of every leaf, leftmost first.
///
/// # Panics
/// For symbols and for strides that are no integers: the oracle knows numbers only.
#[expect(clippy::expect_used, reason = "an oracle that can't read its input must stop the test")]
pub fn leaves(layout: &Lay) -> Vec<(i64, i64)> {
    (0..layout.leaf_count())
        .map(|i| {
            let (extent, stride) = layout.flat_leaf(i);
            let stride = stride.int().and_then(|d| d.get()).expect("an integer stride");
            (extent.get().expect("a known extent"), stride)
        })
        .collect()
}

/// The number of coordinates.
pub fn size(layout: &Lay) -> i64 {
    leaves(layout).iter().map(|(extent, _)| extent).product()
}

/// The index at a 1-D coordinate; past the end, the last leaf goes on.
pub fn at(layout: &Lay, coord: i64) -> i64 {
    let leaves = leaves(layout);
    let (mut rest, mut index) = (coord, 0);
    for (i, (extent, stride)) in leaves.iter().enumerate() {
        let digit = if i + 1 == leaves.len() { rest } else { rest.rem_euclid(*extent) };
        index += digit * stride;
        rest = rest.div_euclid(*extent);
    }
    index
}

/// The indices of all coordinates in order.
pub fn table(layout: &Lay) -> Vec<i64> {
    (0..size(layout)).map(|i| at(layout, i)).collect()
}

/// The indices, sorted.
pub fn sorted(mut table: Vec<i64>) -> Vec<i64> {
    table.sort_unstable();
    table
}

/// Whether no index comes twice.
pub fn injective(layout: &Lay) -> bool {
    sorted(table(layout)).windows(2).all(|pair| pair[0] != pair[1])
}

/// Whether a list of values is the table of some layout: every first extent that divides the length is tried.
pub fn is_layout(values: &[i64]) -> bool {
    let n = values.len();
    if n <= 1 || values[0] != 0 {
        return values.first().is_none_or(|first| *first == 0);
    }
    (2..=n).filter(|extent| n.is_multiple_of(*extent)).any(|extent| {
        let straight = |b: &[i64]| b.iter().zip(0..).all(|(v, k): (_, i64)| *v == b[0] + k * values[1]);
        let origins: Vec<i64> = values.iter().step_by(extent).copied().collect();
        values.chunks(extent).all(straight) && is_layout(&origins)
    })
}

/// Whether some layout of a shape that refines `shape_of` has these values: each leaf's line is a layout, and the lines add up.
pub fn has_layout(shape_of: &Lay, values: &[i64]) -> bool {
    let (mut step, mut lines) = (1, Vec::new());
    for (s, _) in leaves(shape_of) {
        lines.push((0..s).map(|j| values[(j * step) as usize]).collect::<Vec<_>>());
        step *= s;
    }
    let adds_up = values.iter().enumerate().all(|(i, value)| {
        let mut rest = i;
        let digits = lines.iter().map(|line| {
            let digit = line[rest % line.len()];
            rest /= line.len();
            digit
        });
        digits.sum::<i64>() == *value
    });
    adds_up && lines.iter().all(|line| is_layout(line))
}

/// The modes that lead somewhere, by stride.
pub fn essential(layout: &Lay) -> Vec<(i64, i64)> {
    let mut leaves: Vec<_> = leaves(layout).into_iter().filter(|(s, d)| *s > 1 && *d != 0).collect();
    leaves.sort_by_key(|(_, d)| *d);
    leaves
}

/// Where the mode of the greatest stride ends: extent times stride.
pub fn end(layout: &Lay) -> i64 {
    essential(layout).last().map_or(1, |(s, d)| s * d)
}

/// All sums of an index of `a` and one of `b`, sorted.
pub fn sums(a: &Lay, b: &Lay) -> Vec<i64> {
    let (a, b) = (table(a), table(b));
    sorted(b.iter().flat_map(|y| a.iter().map(move |x| x + y)).collect())
}

/// Whether each index is greater than the one before.
pub fn increasing(layout: &Lay) -> bool {
    table(layout).windows(2).all(|w| w[0] < w[1])
}

/// The least multiple of `to` that is not below `n`.
pub fn round_up(n: i64, to: i64) -> i64 {
    (n + to - 1) / to * to
}
