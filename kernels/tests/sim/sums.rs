//! Sums of f16.

use girih_codegen::gemm::Schedule;
use girih_kernels::Error;
use girih_kernels::gemm::{Gemms, INPUTS, KernelKind, Layout, Order, Problem, choose};
use girih_tensor::DType;

use crate::checked;
use crate::common::{Data, Failure, padded, verify_dtype};

/// By warps and by warpgroups, in every layout and order, with the types of C by turns and extents that end within tiles.
#[test]
fn sums_of_f16_are_within_their_bounds() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (turn, layout) in Layout::ALL.into_iter().enumerate() {
        for (by, order) in [Order::Row, Order::Column].into_iter().enumerate() {
            let problem =
                Problem::new(DType::F16, [70, 136, 200], layout)?.with_order(order).with_sums(DType::F16)?;
            let outputs = problem.outputs();
            let problem = problem.with_output(outputs[(turn + by) % outputs.len()])?;
            verify_dtype(&gemms, &device, &problem, Data::Random, turn as u64)?;
            verify_dtype(&gemms, &device, &padded(problem, 3), Data::Random, turn as u64)?;
        }
    }
    // Blocks that share K add sums of f16 up.
    let few = Problem::new(DType::F16, [16, 256, 2048], Layout::Tn)?.with_sums(DType::F16)?;
    let schedule = choose(&few, KernelKind::Sm90, 132)?.schedule;
    assert!(matches!(schedule, Schedule::SplitK { .. }), "{schedule:?}");
    verify_dtype(&gemms, &device, &few, Data::Random, 7)?;
    Ok(())
}

/// They are other sums than those of f32: over many products, fewer bits are kept.
#[test]
fn sums_of_f16_keep_fewer_bits() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let problem = Problem::new(DType::F16, [16, 16, 3000], Layout::Tn)?.with_output(DType::F32)?;
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let mut errors = Vec::new();
        for sums in [DType::F32, DType::F16] {
            let problem = problem.with_sums(sums)?;
            let gemm = gemms.get(&problem, kind)?;
            assert_eq!(gemm.config().atom().c_type, sums);
            // A third has no end in binary: sums of many of them are rounded.
            let third = half::f16::from_f32(1.0 / 3.0);
            let (a, b) = (device.upload(&[third; 16 * 3000])?, device.upload(&[third; 16 * 3000])?);
            let c = device.zeros::<f32>(16 * 16)?;
            gemm.run(&a, &b, &c)?;
            let exact = 3000.0 * f64::from(third.to_f32()).powi(2);
            errors.push(c.download()?.into_iter().map(|x| (f64::from(x) - exact).abs()).fold(0.0, f64::max));
        }
        assert!(errors[0] < 0.02 && errors[1] > 0.2, "{kind:?}: {errors:?}");
    }
    Ok(())
}

#[test]
fn other_sums_are_refused() -> Result<(), Failure> {
    for dtype in INPUTS {
        let problem = Problem::new(dtype, [8; 3], Layout::Tn)?;
        for &sums in DType::ALL {
            let own = sums == problem.sums() || (dtype, sums) == (DType::F16, DType::F16);
            match problem.with_sums(sums) {
                Ok(with) => assert!(own && with.sums() == sums, "{dtype} by {sums}"),
                Err(error) => {
                    assert!(!own && matches!(error, Error::Kernel { .. }), "{dtype} by {sums}: {error}")
                }
            }
        }
    }
    // A configuration of other sums is not one for the problem.
    let problem = Problem::new(DType::F16, [8; 3], Layout::Tn)?;
    let config = choose(&problem.with_sums(DType::F16)?, KernelKind::Sm80, 132)?;
    let refused = Gemms::new(&checked()).configured(&problem, config, &girih_kernels::gemm::Epilogue::new());
    assert!(matches!(refused, Err(Error::Configuration { what: "sums", .. })), "{refused:?}");
    Ok(())
}
