//! Random conditions over indices and scalars are decided in every thread as the host decides them.

use girih_codegen::{Cond, Expr, Scalar};
use girih_ptx::Special;
use girih_tensor::DType;
use proptest::prelude::*;

use super::together::per_thread;

const THREADS: u32 = 64;

/// A condition of a thread's index.
#[derive(Clone, Debug)]
enum Logic {
    Decided(bool),
    Less(i32),
    Equal(i32),
    /// Compares the number as a float.
    Differs(i32),
    AtLeast(i32),
    Not(Box<Logic>),
    All(Vec<Logic>),
    Any(Vec<Logic>),
}

impl Logic {
    fn cond(&self, index: &Expr, number: &Scalar) -> Cond {
        let of = |parts: &[Logic]| parts.iter().map(|part| part.cond(index, number)).collect::<Vec<_>>();
        match self {
            Logic::Decided(holds) => {
                if *holds {
                    Cond::Always
                } else {
                    Cond::Never
                }
            }
            Logic::Less(limit) => Cond::less(index, &Expr::from(i64::from(*limit))),
            Logic::Equal(value) => Cond::equal(index, &Expr::from(i64::from(*value))),
            Logic::Differs(value) => number.to(DType::F32).differs(f64::from(*value)),
            Logic::AtLeast(limit) => number.at_least(*limit),
            Logic::Not(part) => Cond::not(part.cond(index, number)),
            Logic::All(parts) => Cond::all(of(parts)),
            Logic::Any(parts) => Cond::any(of(parts)),
        }
    }

    fn holds(&self, thread: i32) -> bool {
        match self {
            Logic::Decided(holds) => *holds,
            Logic::Less(limit) => thread < *limit,
            Logic::Equal(value) => thread == *value,
            Logic::Differs(value) => thread != *value,
            Logic::AtLeast(limit) => thread >= *limit,
            Logic::Not(part) => !part.holds(thread),
            Logic::All(parts) => parts.iter().all(|part| part.holds(thread)),
            Logic::Any(parts) => parts.iter().any(|part| part.holds(thread)),
        }
    }
}

fn logic() -> impl Strategy<Value = Logic> {
    let leaf = (0..5u8, -2..66i32).prop_map(|(kind, value)| match kind {
        0 => Logic::Decided(value % 2 == 0),
        1 => Logic::Less(value),
        2 => Logic::Equal(value),
        3 => Logic::Differs(value),
        _ => Logic::AtLeast(value),
    });
    leaf.prop_recursive(4, 24, 4, |part| {
        let parts = proptest::collection::vec(part.clone(), 0..4);
        prop_oneof![
            part.prop_map(|part| Logic::Not(Box::new(part))),
            parts.clone().prop_map(Logic::All),
            parts.prop_map(Logic::Any),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn conditions_are_what_the_host_decides(logic in logic()) {
        let found = per_thread(THREADS, |b, thread| {
            let index = b.special(Special::TidX);
            let cond = logic.cond(&index, thread);
            let [chosen] = b.if_else_scalars(
                &cond,
                |_| Ok([Scalar::new(DType::S32, 1.0)]),
                |_| Ok([Scalar::new(DType::S32, 0.0)]),
            )?;
            Ok(chosen + Scalar::new(DType::S32, 2.0).select(&cond, 0))
        });
        let wanted: Vec<i32> = (0..THREADS as i32).map(|thread| 3 * i32::from(logic.holds(thread))).collect();
        prop_assert_eq!(found.unwrap(), wanted);
    }
}
