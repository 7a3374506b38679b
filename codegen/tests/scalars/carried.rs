//! Scalars that loops carry and conditions return.

use girih_codegen::{Builder, Cond, Error, Expr, Scalar};
use girih_tensor::DType;

use super::Value::{self, F32, S32};
use super::run;

/// The rounds of a loop hand on scalars, swapped and added; the oracle is a loop of the host.
#[test]
fn loops_carry_scalars() {
    for count in [0, 1, 2, 7] {
        let found = run(&[S32(3), S32(5), F32(0.5)], |b, x| {
            let initial = [x[0].clone(), x[1].clone(), x[2].clone()];
            let count = b.bounded(&Expr::from(count), 8)?;
            let [p, q, r] = b.fold_range(&count, initial, |b, i, [p, q, r]| {
                let i = Scalar::index(i, DType::S32);
                // An inner loop computes with scalars that the outer loop changes.
                let [inner] = b.fold_range(&Expr::from(3), [p.clone()], |_, j, [sum]| {
                    Ok([sum * 2 + Scalar::index(j, DType::S32) * &q])
                })?;
                Ok([q.clone(), p.clone() + &i, r * 1.5 + inner.to(DType::F32)])
            })?;
            Ok(vec![p, q, r, x[0].clone()])
        });
        let (mut p, mut q, mut r) = (3i32, 5i32, 0.5f32);
        for i in 0..count as i32 {
            let inner = (0..3).fold(p, |sum, j| sum * 2 + j * q);
            (p, q, r) = (q, p + i, r * 1.5 + inner as f32);
        }
        assert_eq!(found, [S32(p), S32(q), F32(r), S32(3)].map(Value::bits), "{count}");
    }
}

#[test]
fn conditions_have_results() {
    for x in [-3, 0, 4] {
        let found = run(&[S32(x), S32(10)], |b, v| {
            let [p, q] = b.if_else_scalars(
                &v[0].less(0),
                |_| Ok([v[1].clone(), -&v[0]]),
                |b| {
                    // An inner condition swaps its results.
                    let [p, q] = b.if_else_scalars(
                        &v[0].equals(0),
                        |_| Ok([Scalar::new(DType::S32, 7.0), v[0].clone()]),
                        |_| Ok([&v[0] * &v[0], &v[0] + 1]),
                    )?;
                    Ok([q, p])
                },
            )?;
            let [sure] = b.if_else_scalars(&Cond::Always, |_| Ok([&p + &q]), |_| Ok([p.clone()]))?;
            Ok(vec![p, q, sure])
        });
        let (p, q) = match x {
            ..0 => (10, -x),
            0 => (0, 7),
            _ => (x + 1, x * x),
        };
        assert_eq!(found, [p, q, p + q].map(|x| S32(x).bits()), "{x}");
    }
}

/// Scalars that a loop or a condition returns in another dtype are refused, and scalars that are used outside of their scope.
#[test]
fn what_is_carried_wrongly_is_refused() {
    let mut b = Builder::new("k", 80, 32);
    let (four, zero) = (Expr::from(4), Scalar::new(DType::F32, 0.0));
    let wrong = b.fold_range(&four, [zero.clone()], |_, _, [x]| Ok([x.to(DType::S32)]));
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "fold_range: s32 does not fit f32: scalars of the same dtypes"
    );
    let mut b = Builder::new("k", 80, 32);
    let mut leaked = None;
    b.fold_range(&four, [zero], |_, _, [x]| {
        leaked = Some(x.clone());
        Ok([x + 1.0])
    })
    .unwrap();
    let found = b.scalar(&leaked.unwrap());
    assert!(matches!(found, Err(Error::OutOfScope { .. })), "{found:?}");
}
