//! Host tensors that are owned and written, at their edges: all or nothing is written, sums of any kind, positions outside,
//! tensors side by side; and the examples of CuTe's tutorial on tensors that need them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::expect;
use girih_layout::{Coord, Lay, Shape, lay, tiler};
use girih_tensor::host::View;
use girih_tensor::{Error, Slice, Tensor};
use girih_typed::algorithm::*;
use girih_typed::host::{Array, PackedMut, S4, U4, ViewMut, Zipped, packed};
use half::f16;
use proptest::prelude::*;

const ALL: Slice<i64> = Slice::All;

fn data(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

/// Every algorithm on a tile that reaches past the end: the values that are there stay as they were.
#[test]
fn nothing_is_written_to_a_tile_that_is_not_all_there() {
    type Run = fn(&mut ViewMut<'_, i32>) -> Result<(), Error>;
    let runs: [Run; 8] = [
        |t| fill(t, 9),
        |t| clear(t),
        |t| copy(&Tensor::host(&[9; 4], lay!("4:1"))?, t),
        |t| {
            let always = Tensor::identity(&Shape::parse("(4)")?)?.map(|_| true);
            copy_if(&always, &Tensor::host(&[9; 4], lay!("4:1"))?, t)
        },
        |t| transform(&Tensor::host(&[9; 4], lay!("4:1"))?, t, |x| x + 1),
        |t| axpby(1.0, &Tensor::host(&[9; 4], lay!("4:1"))?, 0.0, t),
        |t| {
            let nines = [9; 4];
            let nines = Tensor::host(&nines, lay!("4:1"))?;
            gemm_by(&nines, &nines, t, |c| c, |c, a, b| c + a * b, |c| c)
        },
        |t| logical_reduce(&Tensor::host(&[9; 4], lay!("4:1"))?, t, |to, x| to + x),
    ];
    for (number, run) in runs.into_iter().enumerate() {
        let mut data = [7; 10];
        let whole = ViewMut::new(&mut data, lay!("(10):(1)")).unwrap();
        let mut last = whole.local_tile(&tiler!("<4>"), &[Slice::at(2)]).unwrap(); // 8, 9 and two beyond
        assert_eq!(run(&mut last), Err(Error::Beyond { index: 10, len: 10 }), "{number}");
        assert_eq!(data, [7; 10], "{number}");
        // A tile that is there is written.
        let whole = ViewMut::new(&mut data, lay!("(10):(1)")).unwrap();
        run(&mut whole.local_tile(&tiler!("<4>"), &[Slice::at(1)]).unwrap()).unwrap();
        assert_ne!(data, [7; 10], "{number}");
    }
}

#[test]
fn nothing_is_written_if_one_value_is_not_of_the_type() {
    let mut bytes = [0x11u8; 2];
    let mut t = PackedMut::<'_, U4>::packed(&mut bytes, lay!("4:1")).unwrap();
    let found = copy(&Tensor::host(&[2u8, 3, 16, 4], lay!("4:1")).unwrap(), &mut t);
    assert_eq!(found.unwrap_err().to_string(), "16 is no u4: 0 to 15 are accepted");
    assert_eq!(bytes, [0x11; 2]);
    let mut t = PackedMut::<'_, S4>::packed(&mut bytes, lay!("4:1")).unwrap();
    assert_eq!(t.set(0, -9).unwrap_err().to_string(), "-9 is no s4: -8 to 7 are accepted");
    assert_eq!(
        t.set(4, 0).unwrap_err().to_string(),
        "coordinate 4 is outside the mode 4:1: 0 <= coordinate < size is accepted"
    );
}

/// What f64 cannot hold: the difference of products next to 2^80, and sums that wrap.
#[test]
fn sums_are_of_the_kind_that_is_asked_for() {
    let (a, b) = ([(1i64 << 40) + 1, -(1 << 40)], [(1i64 << 40) - 1, 1 << 40]);
    let (a, b) = (Tensor::host(&a, lay!("2:1")).unwrap(), Tensor::host(&b, lay!("2:1")).unwrap());
    let mut exact = [5i64];
    let mut c = ViewMut::new(&mut exact, lay!("1:0")).unwrap();
    let wide = |sum: i128, x: i64, y: i64| sum + i128::from(x) * i128::from(y);
    gemm_by(&a, &b, &mut c, i128::from, wide, |sum| sum as i64).unwrap();
    assert_eq!(exact, [4]);
    let most = [i32::MAX, 1];
    let most = Tensor::host(&most, lay!("2:1")).unwrap();
    let ones = Tensor::host(&[1, 1], lay!("2:1")).unwrap();
    let (mut wrapped, mut saturated) = ([0], [0]);
    let mut c = ViewMut::new(&mut wrapped, lay!("1:0")).unwrap();
    gemm_by(&most, &ones, &mut c, |c| c, |c: i32, x: i32, y| c.wrapping_add(x.wrapping_mul(y)), |c| c)
        .unwrap();
    gemm(&most, &ones, &mut ViewMut::new(&mut saturated, lay!("1:0")).unwrap()).unwrap();
    assert_eq!((wrapped, saturated), ([i32::MIN], [i32::MAX]));
    // Packed operands: all pairs of s4, in s32.
    let bytes: Vec<u8> = (0..8).map(|i| (2 * i) | (2 * i + 1) << 4).collect();
    let all = packed::<S4>(&bytes, lay!("16:1")).unwrap();
    let mut c = Array::<i32>::new(lay!("(16,16):(1,16)")).unwrap();
    gemm(&all, &all, &mut c.view_mut().unwrap()).unwrap();
    let value = |bits: i64| (if bits < 8 { bits } else { bits - 16 }) as i32;
    for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
        assert_eq!(c.get((i, j)), Ok(value(i) * value(j)));
    }
}

/// Packed values and owned ones; nothing where there is none.
#[test]
fn packed_and_owned_tensors_are_printed() {
    let packed = packed::<S4>(&[0x21, 0xf3], lay!("(2,2):(2,1)")).unwrap();
    let mut owned = Array::<f16>::new(lay!("(1,2):(0,1)")).unwrap();
    owned.set(1, f16::from_f32(-0.25)).unwrap();
    let moved = packed.domain_offset((1, 0)).unwrap();
    expect![[r#"
        Host s4 (2,2):(2,1):
           1   2
           3  -1
        Host f16 (1,2):(0,1):
            0.0  -0.25
        Host s4 (2,2):(2,1):
           3  -1
           .   .
    "#]]
    .assert_eq(&[packed.to_string(), owned.view().to_string(), moved.to_string()].concat());
}

#[test]
fn owning_tensors_copy_their_values() {
    let columns = Array::<f32>::new(lay!("(4,8):(1,4)")).unwrap();
    let rows = Array::<f32>::new(lay!("(4,8):(8,1)")).unwrap();
    let like = Array::<f32>::like(&rows.view()).unwrap();
    assert_eq!((columns.data().len(), like.layout().to_string().as_str()), (32, "(4,8):(8,1)"));
    let mut copied = rows.clone();
    copied.set(3, 1.0).unwrap();
    assert_eq!((copied.at(3), rows.at(3)), (Ok(1.0), Ok(0.0)));
}

#[test]
fn values_are_named_by_natural_and_by_flat_coordinates() {
    let mut a = Array::<f32>::new(lay!("((4,5),13):((12,1),64)")).unwrap();
    let mut b = Array::<f32>::new(lay!("(13,20):(1,13)")).unwrap();
    for (m0, m1, n) in (0..4).flat_map(|i| (0..5).flat_map(move |j| (0..13).map(move |k| (i, j, k)))) {
        let natural = Coord::parse(&format!("(({m0},{m1}),{n})")).unwrap();
        a.put(&natural, (n + 2 * m0) as f32).unwrap();
    }
    // Transpose A into B.
    for (m, n) in (0..20).flat_map(|m| (0..13).map(move |n| (m, n))) {
        let value = a.get(&Coord::of(&[m, n]).unwrap()).unwrap();
        assert_eq!(value, (n + 2 * (m % 4)) as f32);
        b.put(&Coord::of(&[n, m]).unwrap(), value).unwrap();
    }
    // Copy B to A as one long vector, whatever the shapes.
    for i in 0..a.size().unwrap() {
        a.set(i, b.at(i).unwrap()).unwrap();
    }
    assert_eq!(equal(&a.view(), &b.view()), Ok(true));
}

/// From global memory to registers, a column at a time.
fn sums_of(gmem: &Tensor<View<'_, f32>>, columns: i64, slice: impl Fn(i64) -> Slice<i64>) -> f32 {
    let mut rmem = Array::<f32>::like(&gmem.slice(slice(0)).unwrap()).unwrap();
    let mut sum = 0.0;
    for j in 0..columns {
        copy(&gmem.slice(slice(j)).unwrap(), &mut rmem.view_mut().unwrap()).unwrap();
        sum += rmem.data().iter().sum::<f32>();
    }
    sum
}

#[test]
fn copies_of_subtiles_from_global_memory_to_registers() {
    let memory = data(8 * 16);
    let gmem = Tensor::host(&memory, lay!("(8,16):(1,8)")).unwrap();
    let first = Array::<f32>::like(&gmem.slice(Slice::from((ALL, 0))).unwrap()).unwrap();
    assert_eq!((first.layout().to_string().as_str(), first.data().len()), ("(8):(1)", 8));
    let all: f32 = memory.iter().sum();
    assert_eq!(sums_of(&gmem, 16, |j| Slice::from((ALL, j))), all);
    // The same with a tiler: tiles of 8 x 4 of a 24 x 16 matrix.
    let memory = data(24 * 16);
    let gmem = Tensor::host(&memory, lay!("(24,16):(1,24)")).unwrap();
    let tiled = gmem.zipped_divide(&tiler!("<8,4>")).unwrap(); // ((8,4),(3,4))
    assert_eq!(tiled.layout().to_string(), "((8,4),(3,4)):((1,24),(8,96))");
    assert_eq!(sums_of(&tiled, 12, |j| Slice::from((ALL, j))), memory.iter().sum());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Values and scales cut by one tiler stay together, though their layouts coalesce differently.
    #[test]
    fn zipped_tensors_are_cut_together(m in 1..5i64, groups in 1..5i64, width in 1..5i64, tile in (1..4i64, 1..4i64)) {
        let k = groups * width;
        let values: Vec<i64> = (0..m * k).collect();
        let scales: Vec<i64> = (0..m * groups).map(|i| 1000 + i).collect();
        let of_scales = Lay::parse(&format!("({m},({width},{groups})):({groups},(0,1))")).unwrap();
        let both = || Zipped::new(
            Tensor::host(&values, Lay::strided([m, k], [k, 1]).unwrap()).unwrap(),
            Tensor::host(&scales, of_scales).unwrap(),
        ).unwrap();
        // Divisors, so that every tile is whole.
        let (tm, tk) = (if m % tile.0 == 0 { tile.0 } else { 1 }, width * if groups % tile.1 == 0 { tile.1 } else { 1 });
        let tiler = girih_layout::Tiler::sizes(&[tm, tk]).unwrap();
        for (p, q) in (0..m / tm).flat_map(|p| (0..k / tk).map(move |q| (p, q))) {
            let part = both().local_tile(&tiler, &[Slice::at(p), Slice::at(q)]).unwrap();
            for (i, j) in (0..tm).flat_map(|i| (0..tk).map(move |j| (i, j))) {
                let (row, column) = (p * tm + i, q * tk + j);
                prop_assert_eq!(part.at(i + tm * j), Ok((row * k + column, 1000 + row * groups + column / width)));
            }
        }
        let (values, scales) = both().unzip();
        let refused = Zipped::new(values, scales.flatten());
        prop_assert!(matches!(refused, Err(Error::Shape { what: "Zipped", .. })), "another rank");
    }
}
