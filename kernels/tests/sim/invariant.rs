//! Rows of C that have the same bits wherever they stand.

use girih_device::{Device, Select};
use girih_kernels::gemm::{INPUTS, KernelKind, Layout, Order, Problem, choose};

use crate::common::{Failure, invariant};

#[test]
fn rows_are_the_same_wherever_they_stand() -> Result<(), Failure> {
    let device = Device::open(Select::Sim)?;
    invariant::rows_are_the_same(&device, [136, 200], &[5, 130, 300])?;
    invariant::other_orders_are_refused(&device)
}

/// The tile and the schedule depend on neither M nor the number of products nor the device.
#[test]
fn the_tile_is_that_of_n() -> Result<(), Failure> {
    for dtype in INPUTS {
        for layout in Layout::ALL {
            for (order, n) in
                [Order::Row, Order::Column].into_iter().flat_map(|o| [16, 64, 4096].map(|n| (o, n)))
            {
                let of = |m, batches, multiprocessors| -> Result<_, Failure> {
                    let problem =
                        Problem::new(dtype, [m, n, 4096], layout)?.with_order(order).with_invariant(true);
                    let problem = problem.batched(batches, [None; 3])?;
                    let kind = KernelKind::for_problem(&problem, 90);
                    let config = choose(&problem, kind, multiprocessors)?;
                    Ok((kind, config.tile, config.c_major, config.schedule))
                };
                let one = of(64, 1, 132)?;
                for m in [128, 512, 4096, 16384] {
                    assert_eq!(of(m, 1, 132)?, one, "{dtype} {layout} {m}");
                    assert_eq!(of(m, 7, 4)?, one, "{dtype} {layout} {m}");
                }
            }
        }
    }
    Ok(())
}
