//! Rows of C that have the same bits wherever they stand.

use girih_device::{Device, Select};
use girih_kernels::gemm::{INPUTS, KernelKind, Layout, Order, Problem, choose};

use crate::common::{Failure, invariant};

#[test]
fn rows_are_the_same_wherever_they_stand() -> Result<(), Failure> {
    let device = Device::open(Select::Sim)?;
    invariant::rows_are_the_same(&device, [136, 200], &[5, 200])?;
    invariant::other_orders_are_refused(&device)
}

/// The tile and the schedule depend on neither M nor the number of products nor the device; those of groups on no number of groups.
#[test]
fn the_tile_is_that_of_n() -> Result<(), Failure> {
    for dtype in INPUTS {
        for layout in Layout::ALL {
            for (order, n) in
                [Order::Row, Order::Column].into_iter().flat_map(|o| [16, 64, 4096].map(|n| (o, n)))
            {
                let of_m = |m| -> Result<_, Failure> {
                    Ok(Problem::new(dtype, [m, n, 4096], layout)?.with_order(order).with_invariant(true))
                };
                let chosen = |problem: Problem, multiprocessors| -> Result<_, Failure> {
                    let kind = KernelKind::for_problem(&problem, 90);
                    let config = choose(&problem, kind, multiprocessors)?;
                    Ok((kind, config.tile, config.c_major, config.schedule))
                };
                let one = chosen(of_m(64)?, 132)?;
                let group = chosen(of_m(64)?.grouped(1, None)?, 132)?;
                for m in [128, 512, 4096, 16384] {
                    let batch = of_m(m)?.batched(7, [None; 3])?;
                    assert_eq!(chosen(of_m(m)?, 132)?, one, "{dtype} {layout} {m}");
                    assert_eq!(chosen(batch, 4)?, one, "{dtype} {layout} {m}");
                    for groups in [8, 1000] {
                        let grouped = of_m(m)?.grouped(groups, None)?;
                        assert_eq!(chosen(grouped, 4)?, group, "{dtype} {layout} {m} in {groups}");
                    }
                }
            }
        }
    }
    Ok(())
}
