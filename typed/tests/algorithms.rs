//! The algorithms against loops over coordinates, for random layouts; and what they refuse.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_layout::{Coord, Lay, Shape, lay, tiler};
use girih_tensor::{Error, Slice, Tensor};
use girih_typed::algorithm::*;
use girih_typed::host::{Array, B1, PackedMut, S4, U4, ViewMut, packed};
use half::{bf16, f16};
use proptest::prelude::*;

/// An injective layout of these extents: modes in any order, with gaps.
fn layout(extents: &[i64], order: usize, gap: i64) -> Lay {
    let rank = extents.len();
    let mut strides = vec![0; rank];
    let mut step = 1;
    for i in 0..rank {
        let mode = (i + order) % rank;
        let mode = if order >= rank { rank - 1 - mode } else { mode };
        strides[mode] = step;
        step *= extents[mode] + gap;
    }
    Lay::strided(extents.iter().copied(), strides).unwrap()
}

/// Small integers, so that every sum is exact.
fn numbers(seed: u64, n: usize) -> Vec<f32> {
    (0..n as u64).map(|i| ((i.wrapping_mul(0x9e37_79b9).wrapping_add(seed) >> 7) % 17) as f32 - 8.0).collect()
}

fn filled(layout: Lay, seed: u64) -> Array<f32> {
    let mut array = Array::new(layout).unwrap();
    let values = numbers(seed, layout.size().unwrap().get().unwrap() as usize);
    let size = values.len() as i64;
    (0..size).for_each(|i| array.set(i, values[i as usize]).unwrap());
    array
}

fn extent() -> impl Strategy<Value = i64> {
    1..7i64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the shapes and strides, a copy has the same value at the same 1-D coordinate, and nothing else changes.
    #[test]
    fn what_is_copied_is_equal(m in extent(), n in extent(), orders in (0usize..4, 0usize..4), gaps in (0i64..3, 0i64..3)) {
        let from = filled(layout(&[m, n], orders.0, gaps.0), 1);
        let mut to = Array::<f32>::new(layout(&[n * m], orders.1, gaps.1)).unwrap();
        let ragged = Array::<f32>::new(layout(&[m, n + 1], orders.1, gaps.1)).unwrap();
        copy(&from.view(), &mut to.view_mut().unwrap()).unwrap();
        prop_assert!(equal(&from.view(), &to.view()).unwrap());
        prop_assert!(matches!(equal(&from.view(), &ragged.view()), Err(Error::Shape { what: "equal", .. })), "sizes");
        let mut other = filled(*from.layout(), 2);
        axpby(2.0, &from.view(), -1.0, &mut other.view_mut().unwrap()).unwrap();
        transform(&from.view(), &mut to.view_mut().unwrap(), |x| 2.0 * x).unwrap();
        axpby(-1.0, &filled(*from.layout(), 2).view(), 1.0, &mut to.view_mut().unwrap()).unwrap();
        prop_assert!(equal(&other.view(), &to.view()).unwrap());
        // The gaps are as they were.
        let all: f32 = from.data().iter().map(|x| x.abs()).sum();
        let named: f32 = from.view().to_vec().unwrap().iter().map(|x| x.abs()).sum();
        prop_assert_eq!(all, named);
    }

    /// Every form of the product, against a loop over natural coordinates.
    #[test]
    fn products_are_sums_over_coordinates(
        v in 1..4i64, m in extent(), n in extent(), k in extent(), orders in prop::array::uniform3(0usize..6), gap in 0i64..3,
    ) {
        let forms: [(&[i64], &[i64], &[i64]); 4] =
            [(&[m], &[n], &[m, n]), (&[m, k], &[n, k], &[m, n]), (&[v, m], &[v, n], &[v, m, n]), (&[v, m, k], &[v, n, k], &[v, m, n])];
        for (of_a, of_b, of_c) in forms {
            let (a, b) = (filled(layout(of_a, orders[0] % (2 * of_a.len()), gap), 3), filled(layout(of_b, orders[1] % (2 * of_b.len()), 0), 4));
            let mut c = filled(layout(of_c, orders[2] % (2 * of_c.len()), gap), 5);
            let before = c.clone();
            gemm(&a.view(), &b.view(), &mut c.view_mut().unwrap()).unwrap();
            let batched = of_c.len() == 3;
            let deep = of_a.len() == if batched { 3 } else { 2 };
            for (v_at, m_at, n_at) in (0..if batched { v } else { 1 }).flat_map(|v| (0..m).flat_map(move |m| (0..n).map(move |n| (v, m, n)))) {
                let at = |of: &Array<f32>, coords: &[Option<i64>]| {
                    let known: Vec<i64> = coords.iter().flatten().copied().collect();
                    of.get(&Coord::of(&known).unwrap()).unwrap()
                };
                let batch = batched.then_some(v_at);
                let mut want = at(&before, &[batch, Some(m_at), Some(n_at)]);
                for k_at in 0..if deep { k } else { 1 } {
                    let k_at = deep.then_some(k_at);
                    want += at(&a, &[batch, Some(m_at), k_at]) * at(&b, &[batch, Some(n_at), k_at]);
                }
                prop_assert_eq!(at(&c, &[batch, Some(m_at), Some(n_at)]), want);
            }
        }
    }

    /// A ragged tile under its predicate touches what is inside, and nothing else.
    #[test]
    fn predicated_copies_stay_inside(m in 1..20i64, n in 1..20i64, tile in (1..6i64, 1..6i64)) {
        let tiler = girih_layout::Tiler::sizes(&[tile.0, tile.1]).unwrap();
        let from = filled(layout(&[m, n], 0, 0), 6);
        let mut to = Array::<f32>::new(layout(&[m, n], 1, 2)).unwrap();
        let inside = Tensor::identity(&Shape::of([m, n]).unwrap()).unwrap();
        for (i, j) in (0..(m + tile.0 - 1) / tile.0).flat_map(|i| (0..(n + tile.1 - 1) / tile.1).map(move |j| (i, j))) {
            let at = [Slice::at(i), Slice::at(j)];
            let predicate = inside.local_tile(&tiler, &at).unwrap().map(move |at| at[0] < m && at[1] < n);
            let mut tile = to.view_mut().unwrap().local_tile(&tiler, &at).unwrap();
            copy_if(&predicate, &from.view().local_tile(&tiler, &at).unwrap(), &mut tile).unwrap();
        }
        prop_assert!(equal(&from.view(), &to.view()).unwrap());
        let written: f32 = to.data().iter().map(|x| x.abs()).sum();
        prop_assert_eq!(written, from.data().iter().map(|x| x.abs()).sum::<f32>());
    }

    /// Packed elements are those of a plain array.
    #[test]
    fn packed_elements_are_read_as_they_were_written(values in prop::collection::vec(-8i8..8, 24), order in 0usize..4) {
        let at = layout(&[4, 6], order, 0);
        let mut bytes = vec![0xa5u8; 12];
        let mut written = PackedMut::<'_, S4>::packed(&mut bytes, at).unwrap();
        copy(&Tensor::host(&values, lay!("(4,6):(1,4)")).unwrap(), &mut written).unwrap();
        let read = packed::<S4>(&bytes, at).unwrap();
        prop_assert_eq!(read.to_vec().unwrap(), values.clone());
        // Element i of memory is in bits 4i.
        for (i, value) in values.iter().enumerate() {
            let place = at.at(i as i64).unwrap() as usize;
            prop_assert_eq!(bytes[place / 2] >> (4 * (place % 2)) & 15, *value as u8 & 15);
        }
    }
}

#[test]
fn the_dot_product_and_the_product_by_values() {
    let (a, b) = ([1.0f32, 2.0, 3.0], [4.0f32, 5.0, 6.0]);
    let (a, b) = (Tensor::host(&a, lay!("3:1")).unwrap(), Tensor::host(&b, lay!("3:1")).unwrap());
    let mut dot = [10.0f32];
    gemm(&a, &b, &mut ViewMut::new(&mut dot, lay!("1:0")).unwrap()).unwrap();
    assert_eq!(dot, [10.0 + 4.0 + 10.0 + 18.0]);
    let mut each = [1.0f32; 3];
    gemm(&a, &b, &mut ViewMut::new(&mut each, lay!("3:1")).unwrap()).unwrap();
    assert_eq!(each, [5.0, 11.0, 19.0]);
}

/// 4096 products of ones and a half: f16 sums would stop growing at 2048.
#[test]
fn sums_are_rounded_once() {
    let ones = vec![f16::ONE; 4096];
    let a = Tensor::host(&ones, lay!("(1,4096):(4096,1)")).unwrap();
    let mut c = [f16::from_f32(0.5)];
    gemm(&a, &a, &mut ViewMut::new(&mut c, lay!("(1,1):(1,1)")).unwrap()).unwrap();
    assert_eq!(c, [f16::from_f64(4096.5)]);
    let halves = [bf16::from_f32(1.0), bf16::from_f32(1.0 / 256.0)];
    let mut sum = [0.0f32];
    let t = Tensor::host(&halves, lay!("2:1")).unwrap();
    gemm(&t, &t, &mut ViewMut::new(&mut sum, lay!("1:0")).unwrap()).unwrap();
    assert_eq!(sum, [1.0 + 1.0 / 65536.0]);
}

#[test]
fn clearing_filling_and_folding() {
    let mut a = filled(lay!("(3,4):(1,5)"), 7);
    fill(&mut a.view_mut().unwrap(), 2.0).unwrap();
    assert_eq!(reduce(&a.view(), 0.0, |sum, x| sum + x), Ok(24.0));
    let mut seen = 0;
    for_each(&a.view(), |x| seen += (x == 2.0) as i32).unwrap();
    clear(&mut a.view_mut().unwrap()).unwrap();
    assert_eq!((seen, reduce(&a.view(), 0.0, |sum, x| sum + x)), (12, Ok(0.0)));
    let b = filled(lay!("(3,4):(1,5)"), 8);
    let mut most = Array::<f32>::new(lay!("3:1")).unwrap();
    fill(&mut most.view_mut().unwrap(), f32::MIN).unwrap();
    batch_reduce(&b.view(), &mut most.view_mut().unwrap(), f32::max).unwrap();
    for i in 0..3 {
        let row: Vec<f32> = (0..4).map(|j| b.get(&Coord::of(&[i, j]).unwrap()).unwrap()).collect();
        assert_eq!(most.at(i), Ok(row.into_iter().fold(f32::MIN, f32::max)));
    }
}

/// Nothing is written before sizes have been compared.
#[test]
fn what_does_not_fit_is_refused_with_both_layouts() {
    let (a, b) = (filled(lay!("(3,4):(1,3)"), 1), filled(lay!("(5,4):(1,5)"), 2));
    let mut c = Array::<f32>::new(lay!("(3,4):(1,3)")).unwrap();
    let before = c.clone();
    let mut view = c.view_mut().unwrap();
    let messages = [
        copy(&b.view(), &mut view),
        gemm(&a.view(), &b.view(), &mut view),
        gemm(
            &a.view(),
            &a.view().flatten().slice(Slice::tuple([Slice::All, Slice::at(0)])).unwrap(),
            &mut view,
        ),
        batch_reduce(&a.view(), &mut view, |x, _| x),
        axpby(1.0, &b.view(), 0.0, &mut view),
    ]
    .map(|result| result.unwrap_err().to_string());
    assert_eq!(
        messages,
        [
            "copy: (5,4):(1,5) and (3,4):(1,3) do not match: as many values in one as in the other",
            "gemm: (3,4):(1,3) by (5,4):(1,5) and (3,4):(1,3) do not match: A (M,K), B (N,K) and C (M,N) of the same M, N and K",
            "gemm: (3,4):(1,3) by (3):(1) and (3,4):(1,3) do not match: ranks of (V)(V)(V), (K)(K)1, (M)(N)(M,N), (M,K)(N,K)(M,N) or with V before",
            "batch_reduce: (3,4):(1,3) and (3,4):(1,3) do not match: two modes, the first with as many coordinates as there are results",
            "axpby: (5,4):(1,5) and (3,4):(1,3) do not match: as many values in one as in the other",
        ]
    );
    assert_eq!(c, before);
}

#[test]
fn parts_are_written_by_their_owners_once_they_are_proved_disjoint() {
    let mut data = vec![0; 32];
    let tv = lay!("((2,4),(2,2)):((8,1),(4,16))");
    let whole = ViewMut::new(&mut data, lay!("(4,8):(8,1)")).unwrap();
    let mut parts = whole.tv_partition(&tv).unwrap();
    for (thread, part) in parts.iter_mut().enumerate() {
        fill(part, thread as i32 + 1).unwrap();
        // A part is read while it is nobody else's.
        assert_eq!(part.view().to_vec().unwrap(), [thread as i32 + 1; 4]);
    }
    let rows = Tensor::host(&data, lay!("(4,8):(8,1)")).unwrap();
    for (thread, value) in (0..8).flat_map(|thread| (0..4).map(move |value| (thread, value))) {
        assert_eq!(rows.at(tv.at(thread + 8 * value).unwrap()), Ok(thread as i32 + 1));
    }
    let mut tiles = ViewMut::new(&mut data, lay!("(4,8):(8,1)")).unwrap().tiles(&tiler!("<2,4>")).unwrap();
    assert_eq!((tiles.len(), tiles[3].layout().to_string().as_str()), (4, "(2,4):(8,1)"));
    fill(&mut tiles[3], -1).unwrap();
    assert_eq!(data.iter().filter(|value| **value == -1).count(), 8);
}

#[test]
fn parts_that_meet_or_leave_the_tensor_are_refused() {
    let mut data = vec![0; 32];
    let mut refused = |layout: Lay, part: &dyn Fn(ViewMut<'_, i32>) -> Option<Error>| {
        part(ViewMut::new(&mut data, layout).unwrap()).unwrap().to_string()
    };
    // Two threads have value 1 of the first row.
    let tv = lay!("(2,2):(4,4)");
    assert_eq!(
        refused(lay!("(4,8):(8,1)"), &|t| t.tv_partition(&tv).err()),
        "part 1, 2:1, has value 0 at place 1, which part 0 has too: disjoint parts inside the tensor are accepted"
    );
    // The last tile reaches past the tensor's end, where the memory goes on.
    assert_eq!(
        refused(lay!("(10):(1)"), &|t| t.tiles(&tiler!("<4>")).err()),
        "part 2, (4):(1), has value 2 at place 10, which is not the tensor's: disjoint parts inside the tensor are accepted"
    );
    // A part's part must stay in it, though the whole's may be ragged.
    assert!(
        refused(lay!("(10):(1)"), &|t| {
            let mut halves = t.tiles(&tiler!("<5>")).unwrap();
            let first = halves.swap_remove(0);
            first.part(|all| all.flatten().local_tile(&tiler!("<4>"), &[Slice::at(1)])).err()
        })
        .contains("which is not the tensor's")
    );
    let whole = ViewMut::new(&mut data, lay!("(10):(1)")).unwrap();
    assert!(whole.local_tile(&tiler!("<4>"), &[Slice::at(2)]).is_ok());
}

#[test]
fn values_that_there_are_not_are_refused() {
    let mut bytes = [0u8; 2];
    let mut t = PackedMut::<'_, U4>::packed(&mut bytes, lay!("4:1")).unwrap();
    assert_eq!(t.set(1, 16).unwrap_err().to_string(), "16 is no u4: 0 to 15 are accepted");
    assert_eq!((t.set(3, 15), t.at(3)), (Ok(()), Ok(15)));
    let bits = packed::<B1>(&bytes, lay!("16:1")).unwrap();
    assert_eq!(bits.to_vec().unwrap().into_iter().filter(|bit| *bit).count(), 4);
    let data = [1u8, 2, 3];
    let t = Tensor::host(&data, lay!("3:1")).unwrap();
    assert_eq!(
        t.get(&Coord::parse("_").unwrap()).unwrap_err().to_string(),
        "_ keeps modes whole: a value has a position in every mode; `slice` takes `_`"
    );
    assert!(
        Tensor::host(&data, lay!("4:1"))
            .unwrap_err()
            .to_string()
            .starts_with("the layout 4:1 reaches elements 0 to 3")
    );
    assert!(
        Array::<i32>::new(lay!("(s0,2):(1,s0)"))
            .unwrap_err()
            .to_string()
            .starts_with("Array: the size of (s0,2):(1,s0) is not known")
    );
    let words = [0u16; 3];
    let odd = Tensor::host(&words, lay!("(2):(1)")).unwrap().domain_offset(Slice::at(1)).unwrap();
    assert!(
        odd.recast::<u32>()
            .unwrap_err()
            .to_string()
            .starts_with("recast from 2 to 4 bytes: the tensor begins at byte 2: ")
    );
    let t = t.local_tile_projected(&tiler!("<1,1>"), &[Slice::at(0)], &[true]);
    assert_eq!(
        t.unwrap_err().to_string(),
        "a projection of 1 modes for <1:0,1:0> at (0): give one entry for each mode of both"
    );
}

/// A partition among more owners than there are values ends with the first that has another's.
#[test]
fn partitions_among_too_many_are_refused() {
    let mut data = vec![0; 8];
    let found =
        ViewMut::new(&mut data, lay!("(4,2):(1,4)")).unwrap().tv_partition(&lay!("(100000000000,1):(0,0)"));
    assert!(matches!(found, Err(Error::Overlap { part: 1, other: Some(0), .. })), "{found:?}");
}
