use girih_tensor::DType;
use girih_tile::place::naive;

use super::programs::{looped, softmax, transpose};

#[test]
fn keeps_the_rules() {
    let programs = [
        softmax(16, 1024, DType::Bf16),
        softmax(4, 1000, DType::F32),
        softmax(1, 3, DType::F64),
        transpose(64, 64, DType::Bf16, false),
        transpose(96, 40, DType::F32, true),
        looped(8, 100),
    ];
    for func in &programs {
        for threads in [32, 128, 256, 1024] {
            let plan = naive(func, threads);
            plan.verify().unwrap();
        }
    }
}

#[test]
fn verify_refuses_distributions_that_differ() {
    let mut plan = naive(&softmax(16, 1024, DType::Bf16), 128);
    let reduced = plan.func.value_count() - 1;
    let other = plan.dists[reduced].clone();
    let at = plan.dists.iter().position(|dist| *dist != other && !dist.vals.is_empty()).unwrap();
    plan.dists[at].vals.reverse();
    let why = plan.verify().unwrap_err();
    assert!(why.contains("is accepted") || why.contains("does not cover"), "{why}");
}
