//! What reductions cost: shuffles, barriers, masks.

use girih_codegen::plan::Dist;
use girih_tensor::DType;
use girih_tile::ir::{Combine, Kind};
use girih_tile::lower::lower;
use girih_tile::place::Plan;

use super::run::{Operand, program};

/// The text of a reduction along the last axis by threads that lie along it, in vectors of 4.
fn reduction(dtype: DType, combine: Combine, extents: [i64; 2], threads: i64) -> String {
    let operand = Operand { dtype, extents: extents.to_vec(), bits: Vec::new() };
    let kind = Kind::Reduce { axis: 1, combine, identity: [].into() };
    let func = program(&kind, &[operand], &[(dtype, vec![extents[0], 1])], |_, _| None);
    let dist = Dist::blocked(&extents, &[1, 0], 4, threads);
    let dists = (0..func.value_count()).map(|i| {
        let dims = func.ty(girih_tile::ir::Value(i as u32)).dims;
        match (dims.rank(), dims.last()) {
            (0, _) => Dist::scalar(threads),
            (_, Some(1)) => dist.slice(1),
            _ => dist.clone(),
        }
    });
    let dists = dists.collect();
    let plan = Plan {
        func,
        dists,
        threads: threads as u32,
        exchanges: Default::default(),
        products: Default::default(),
    };
    plan.verify().unwrap();
    lower(&plan, 90).unwrap().kernel.module().to_string()
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn a_row_in_a_warp_takes_five_shuffles() {
    // 8 rows of 128 by 4 warps: two rows a warp.
    let text = reduction(DType::F32, Combine::Sum, [8, 128], 128);
    assert_eq!(count(&text, "shfl.sync.bfly"), 2 * 5, "{text}");
    assert_eq!(
        (count(&text, "bar.sync"), count(&text, ".shared"), count(&text, "selp")),
        (0, 0, 0),
        "{text}"
    );
}

#[test]
fn integers_of_a_warp_are_combined_at_once() {
    let text = reduction(DType::S32, Combine::Sum, [8, 128], 128);
    assert_eq!((count(&text, "redux.sync.add.s32"), count(&text, "shfl")), (2, 0), "{text}");
}

#[test]
fn a_row_of_a_block_takes_one_barrier_and_one_value_of_each_warp() {
    // 32 warps: each lane reads one value, and five shuffles more combine them.
    let text = reduction(DType::F32, Combine::Sum, [1, 16384], 1024);
    assert_eq!((count(&text, "shfl.sync.bfly"), count(&text, "bar.sync")), (10, 1), "{text}");
    assert_eq!((count(&text, "st.shared"), count(&text, "ld.shared")), (1, 1), "{text}");
    // 4 warps: one vector has all.
    let text = reduction(DType::F32, Combine::Sum, [1, 2048], 128);
    assert_eq!((count(&text, "shfl.sync.bfly"), count(&text, "bar.sync")), (5, 1), "{text}");
    assert_eq!((count(&text, "st.shared"), count(&text, "ld.shared.v4")), (1, 1), "{text}");
}

#[test]
fn registers_that_can_hold_padding_are_masked_and_no_others() {
    // 1000 of 1024: of 8 vectors of 4, the last alone reaches beyond.
    let text = reduction(DType::F32, Combine::Sum, [1, 1000], 32);
    assert_eq!(count(&text, "selp"), 4, "{text}");
}
