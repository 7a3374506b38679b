//! Tensors as text.

use expect_test::expect;
use girih_layout::{Int, Lay, Shape, Symbol, lay};
use girih_tensor::{Counting, Tensor};
use half::f16;

#[test]
fn tensors_are_printed_as_matrices() {
    let data: Vec<f32> = (0..48).map(|i| i as f32 / 2.0).collect();
    let host = |layout| Tensor::host(&data, layout).unwrap().to_string();
    expect![[r#"
        Host f32 3:4:
          0.0
          2.0
          4.0
    "#]]
    .assert_eq(&host(lay!("3:4")));
    expect![[r#"
        Host f32 ((2,2),3):((1,12),2):
          0.0  1.0  2.0
          0.5  1.5  2.5
          6.0  7.0  8.0
          6.5  7.5  8.5
    "#]]
    .assert_eq(&host(lay!("((2,2),3):((1,12),2)")));
    expect![[r#"
        Host f32 (2,3,2,2):(3,1,6,24):
           0.0   0.5   1.0
           1.5   2.0   2.5
        ------------------
           3.0   3.5   4.0
           4.5   5.0   5.5
        ==================
          12.0  12.5  13.0
          13.5  14.0  14.5
        ------------------
          15.0  15.5  16.0
          16.5  17.0  17.5
    "#]]
    .assert_eq(&host(lay!("(2,3,2,2):(3,1,6,24)")));
}

/// Whatever a tensor's values are: coordinates, or computed; nothing where there is none.
#[test]
fn tensors_of_all_kinds_are_printed() {
    let at = Tensor::<Counting<i64>>::identity(&Shape::parse("(2,2)").unwrap()).unwrap();
    let inside = at.map(|at: Vec<i64>| at[0] + at[1] < 2);
    let halves = [f16::ZERO, f16::from_f32(-0.25)];
    let moved = Tensor::host(&halves, lay!("(1,2):(0,1)")).unwrap().domain_offset((0, 1)).unwrap();
    let all = [at.to_string(), inside.to_string(), moved.to_string()];
    expect![[r#"
        Counting Vec<i64> (2,2):(1@0,1@1):
          [0, 0]  [0, 1]
          [1, 0]  [1, 1]
        Counting bool (2,2):(1@0,1@1):
           true   true
           true  false
        Host f16 (1,2):(0,1):
          -0.25      .
    "#]]
    .assert_eq(&all.concat());
    let symbolic = Lay::left(&Shape::flat(&[Int::symbol(Symbol::new(0)), Int::fixed(2)]).unwrap()).unwrap();
    let unknown = Tensor::new(Counting::<i64>::new(2), Lay::identity(symbolic.shape()).unwrap());
    assert_eq!(unknown.to_string(), "Counting Vec<i64> (s0,2):(1@0,1@1):\n");
}
