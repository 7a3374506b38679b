//! Rows of C that have the same bits wherever they stand.

use float8::F8E4M3;
use girih_codegen::gemm::{Epilogue, Schedule};
use girih_device::{Device, Pod};
use girih_kernels::Error;
use girih_kernels::gemm::{Gemms, Given, KernelKind, Layout, Problem, choose};
use girih_tensor::{DType, Element};
use half::bf16;

use super::{Data, Failure, filled, poison};

/// C, row after row, of the rows of A with these numbers, each of which is filled by its number, and the same B for all. Groups are of a few rows.
fn product<T: Element + Pod, C: Element + Pod>(
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
    numbers: &[u64],
) -> Result<Vec<Vec<C>>, Failure> {
    let [_, n, k] = problem.mnk();
    let (matrix, mut a) = (problem.a(), vec![T::from_f64(0.0); problem.a().span() as usize]);
    for (i, &number) in numbers.iter().enumerate() {
        for (j, value) in filled::<T>(k as usize, Data::Random, number).into_iter().enumerate() {
            a[matrix.offset(i as i64, j as i64) as usize] = value;
        }
    }
    let b = filled::<T>(problem.b().span() as usize, Data::Random, 1);
    let c = device.upload(&vec![poison::<C>(); problem.c().span() as usize])?;
    let gemm = Gemms::new(device).get(problem, kind)?;
    let (a, b) = (device.upload(&a)?, device.upload(&b)?);
    let rows = numbers.len() as u32;
    let offsets = problem
        .groups()
        .map(|groups| (0..=groups as u32).map(|i| if i == 0 { 0 } else { rows.min(FEW * i) }));
    let offsets = offsets.map(|offsets| device.upload(&offsets.collect::<Vec<u32>>())).transpose()?;
    let given = offsets.as_ref().map(|offsets| ("offsets", Given::from(offsets)));
    gemm.run_with(&a, &b, &c, given.as_slice())?;
    let c = c.download()?;
    let row = |i: usize| (0..n).map(|j| c[problem.c().offset(i as i64, j) as usize]).collect();
    Ok((0..numbers.len()).map(row).collect())
}

/// The rows of a group.
const FEW: u32 = 37;

/// Computes the same rows of A alone, and among others in products of as many rows as `ms` says, at several places, and
/// in groups of these.
fn of<T: Element + Pod, C: Element + Pod>(
    device: &Device,
    dtype: DType,
    kind: KernelKind,
    [n, k]: [i64; 2],
    ms: &[i64],
) -> Result<(), Failure> {
    let layouts = if dtype.bits() == 16 { &Layout::ALL[..] } else { &[Layout::Tn] };
    for &layout in layouts {
        let problem = |m| Ok::<_, Error>(Problem::new(dtype, [m, n, k], layout)?.with_invariant(true));
        let alone = product::<T, C>(device, &problem(1)?, kind, &[100])?;
        // As many groups as hold all rows, and more of none.
        let grouped = |m| problem(m)?.grouped(m / i64::from(FEW) + 3, Some(0));
        let problems = ms.iter().flat_map(|&m| [(m, problem(m)), (m, grouped(m))]);
        for (m, problem) in problems {
            let problem = problem?;
            // Row 100 of these, first, last and in the middle, and others between.
            let mut numbers: Vec<u64> = (200..200 + m as u64).collect();
            for at in [0, m / 2, m - 1] {
                numbers[at as usize] = 100;
            }
            let rows = product::<T, C>(device, &problem, kind, &numbers)?;
            let bits = |row: &[C]| row.iter().map(|x| x.to_f64().to_bits()).collect::<Vec<_>>();
            for (at, row) in rows.iter().enumerate().filter(|(at, _)| numbers[*at] == 100) {
                if bits(row) != bits(&alone[0]) {
                    return Err(format!("{problem:?} by {}: row {at}", kind.name()).into());
                }
            }
        }
    }
    Ok(())
}

/// Rows of every type have the same bits in products of as many rows as `ms` says.
pub(crate) fn rows_are_the_same(device: &Device, nk: [i64; 2], ms: &[i64]) -> Result<(), Failure> {
    of::<f32, f32>(device, DType::F32, KernelKind::Simt, nk, ms)?;
    of::<f64, f64>(device, DType::F64, KernelKind::Sm80, nk, ms)?;
    of::<bf16, bf16>(device, DType::Bf16, KernelKind::Sm80, nk, ms)?;
    if device.limits().sm == 90 {
        of::<bf16, bf16>(device, DType::Bf16, KernelKind::Sm90, nk, ms)?;
        of::<f32, f32>(device, DType::Tf32, KernelKind::Sm90, nk, ms)?;
        of::<F8E4M3, bf16>(device, DType::E4m3, KernelKind::Sm90, nk, ms)?;
    }
    Ok(())
}

/// What would change a row with its place is refused.
pub(crate) fn other_orders_are_refused(device: &Device) -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, [300, 136, 4096], Layout::Tn)?;
    let (gemms, usual) = (Gemms::new(device), choose(&problem, KernelKind::Sm90, 132)?);
    assert!(!matches!(usual.schedule, Schedule::Persistent { alternate: false }), "{usual:?}");
    let warps = choose(&problem, KernelKind::Sm80, 132)?;
    let split = super::configs::scheduled(warps, Schedule::SplitK { parts: 2, cluster: 1 });
    for config in [usual, split] {
        let refused = gemms.configured(&problem.with_invariant(true), config, &Epilogue::new());
        assert!(matches!(refused, Err(Error::Configuration { what: "schedule", .. })), "{refused:?}");
    }
    Ok(())
}
