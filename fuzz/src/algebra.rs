//! Three small layouts made of bytes, the third one of F2 columns: every answer is compared with the definition, point by point.

use girih_layout::{Error, Int, Lay, Stride, Tiler};

/// Up to four leaves of two bytes each: the extent, then the stride.
fn layout(bytes: &mut impl Iterator<Item = u8>) -> Option<Vec<(i64, i64)>> {
    let count = bytes.next()? % 4 + 1;
    (0..count)
        .map(|_| {
            let (extent, stride) = (bytes.next()? % 8 + 1, bytes.next()? as i8);
            Some((i64::from(extent), i64::from(stride)))
        })
        .collect()
}

fn lay(leaves: &[(i64, i64)]) -> Lay {
    let modes: Vec<Lay> = leaves
        .iter()
        .map(|(s, d)| Lay::leaf(Int::value(*s), Stride::from(*d)).expect("extents from 1"))
        .collect();
    Lay::concat(&modes).expect("few leaves")
}

fn size(leaves: &[(i64, i64)]) -> i64 {
    leaves.iter().map(|(s, _)| s).product()
}

/// The index of a 1-D coordinate; past the end, the last leaf goes on.
fn at(leaves: &[(i64, i64)], mut coord: i64) -> i64 {
    let mut index = 0;
    for (i, (s, d)) in leaves.iter().enumerate() {
        index += if i + 1 == leaves.len() { coord } else { coord % s } * d;
        coord /= s;
    }
    index
}

fn table(leaves: &[(i64, i64)]) -> Vec<i64> {
    (0..size(leaves)).map(|i| at(leaves, i)).collect()
}

fn values(l: &Lay) -> Vec<i64> {
    l.indices().expect("integers").collect()
}

/// Judges what the algebra makes of the layouts in the bytes.
///
/// # Panics
/// For every wrong answer.
pub(crate) fn run(bytes: &[u8]) {
    let mut bytes = bytes.iter().copied();
    let (Some(left), Some(right)) = (layout(&mut bytes), layout(&mut bytes)) else { return };
    let (a, b) = (lay(&left), lay(&right));
    let indices = table(&left);
    assert_eq!(values(&a), indices);
    assert_eq!(values(&a.coalesce()), indices);
    assert_eq!(Lay::recognise(&indices), Ok(a.coalesce()));
    let mut sorted = indices.clone();
    sorted.sort_unstable();
    assert_eq!(a.is_injective(), Ok(sorted.windows(2).all(|pair| pair[0] != pair[1])));
    for index in [0, 1, sorted[0], sorted[sorted.len() - 1], 77] {
        let found = a.preimage(index).expect("few modes");
        assert_eq!(found.map(|c| a.crd2idx(&c)), sorted.contains(&index).then_some(Ok(index)));
    }

    // Composition: the definition or a witness against it. A negative right-hand index has no left-hand digits.
    if right.iter().all(|(_, d)| *d >= 0) && size(&right) <= 512 {
        let truth: Vec<i64> = table(&right).into_iter().map(|i| at(&left, i)).collect();
        match a.compose_general(&b) {
            Ok(r) => assert_eq!(values(&r), truth, "{a} o {b}"),
            Err(Error::NoLayout { witness: Some(w), .. }) => {
                assert_eq!(truth[w.coord as usize], w.expected);
                assert_ne!(w.expected, w.obtained);
            }
            Err(error) => panic!("{a} o {b}: {error}"),
        }
    }

    // Complement: together they meet every index once.
    if let Ok(rest) = a.complement(Int::value(64)) {
        let mut both: Vec<i64> = Vec::new();
        for x in values(&a.filter()) {
            both.extend(values(&rest).into_iter().map(|y| x + y));
        }
        both.sort_unstable();
        assert!(both.iter().copied().eq(0..both.len() as i64), "complement of {a}");
    }

    // Divide: the elements that the residue lets through are those of the layout.
    if right.iter().all(|(_, d)| *d > 0)
        && let Ok((tiles, residue)) = a.divide_with_residue(&Tiler::Lay(b))
        && tiles.size().is_ok_and(|size| size.get().is_some_and(|size| size <= 4096))
    {
        let all = values(&tiles).into_iter().zip(0..);
        let mut inside: Vec<i64> =
            all.filter(|(_, i)| residue.is_inside(*i).expect("integers")).map(|(index, _)| index).collect();
        inside.sort_unstable();
        assert_eq!(inside, sorted, "{a} / {b}");
    }
    if let Some(third) = columns(&mut bytes) {
        judge_columns(&left, &a, &third);
    }
}

/// Up to three leaves: the extent, a power of two, and the column.
fn columns(bytes: &mut impl Iterator<Item = u8>) -> Option<Vec<(i64, i64)>> {
    let count = bytes.next()? % 3 + 1;
    (0..count).map(|_| Some((1 << (bytes.next()? % 4), i64::from(bytes.next()?)))).collect()
}

/// The index of a 1-D coordinate of columns: each bit of a digit toggles a shifted column.
fn joined(leaves: &[(i64, i64)], mut coord: i64) -> i64 {
    let mut index = 0;
    for (s, column) in leaves {
        (0..3).filter(|bit| ((coord % s) >> bit) & 1 == 1).for_each(|bit| index ^= column << bit);
        coord /= s;
    }
    index
}

fn judge_columns(left: &[(i64, i64)], a: &Lay, leaves: &[(i64, i64)]) {
    let modes: Vec<Lay> = leaves
        .iter()
        .map(|(s, c)| Lay::leaf(Int::value(*s), Stride::F2(*c as u64)).expect("extents from 1"))
        .collect();
    let c = Lay::concat(&modes).expect("few leaves");
    let indices: Vec<i64> = (0..size(leaves)).map(|i| joined(leaves, i)).collect();
    assert_eq!(values(&c), indices);
    assert_eq!(values(&c.coalesce()), indices);
    let mut sorted = indices.clone();
    sorted.sort_unstable();
    let injective = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    assert_eq!(c.is_injective(), Ok(injective));
    assert_eq!(c.max_index(), Ok(sorted[sorted.len() - 1]));
    let right = c.right_inverse().expect("powers of two");
    for (i, coord) in (0..).zip(values(&right)) {
        assert_eq!(joined(leaves, coord), i, "{c}: {right}");
    }
    match c.left_inverse() {
        Ok(inverse) => {
            (0..).zip(&indices).for_each(|(i, x)| assert_eq!(inverse.at_extended(*x), Ok(i), "{c}"))
        }
        Err(error) => assert!(!injective && error.kind() == "overlap", "{c}: {error}"),
    }
    if let Ok(rest) = c.complement(Int::value(4096)) {
        let rest = values(&rest);
        let image = values(&c.filter_zeros());
        let mut both: Vec<i64> = image.iter().flat_map(|x| rest.iter().map(move |y| x ^ y)).collect();
        both.sort_unstable();
        assert!(both.iter().copied().eq(0..both.len() as i64), "complement of {c}");
    }
    if let Ok(r) = a.composition(&c) {
        let truth: Vec<i64> = indices.iter().map(|i| at(left, *i)).collect();
        assert_eq!(values(&r), truth, "{a} o {c}");
    }
}
