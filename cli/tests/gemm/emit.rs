//! `girih emit` prints well-formed PTX, and the same PTX that `girih gemm` runs.

use girih_device::{Device, Select};
use girih_kernels::gemm::{Gemms, INPUTS, KernelKind, Layout, Order, Problem};
use girih_ptx::Module;

use super::{folder, succeeds};

#[test]
fn the_ptx_of_a_gemm_is_the_one_that_runs() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(Select::Sim)?;
    let gemms = Gemms::new(&device);
    // M and N have different divisors, so that an exchange of A and B would be seen.
    let mnk = [40, 36, 34];
    for (i, layout) in Layout::ALL.into_iter().enumerate() {
        for (j, order) in [Order::Row, Order::Column].into_iter().enumerate() {
            let dtype = INPUTS[i + 4 * j];
            let problem = Problem::new(dtype, mnk, layout)?.with_order(order);
            let output = problem.outputs()[i % problem.outputs().len()];
            let line = format!(
                "emit gemm --m 40 --n 36 --k 34 --dtype {dtype} --out {output} --layout {layout} --order {order}"
            );
            let text = succeeds(folder().path(), &line);
            let module = Module::parse(&text)?;
            module.verify()?;
            let run = gemms.get(&problem.with_output(output)?, KernelKind::for_dtype(dtype))?;
            assert!(module == Module::parse(&run.ptx().to_string())?, "girih {line}");
            for (name, partition) in run.partitions() {
                assert!(text.contains(&format!("// {name}: {partition}\n")), "girih {line}: {name}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_ptx_of_a_copy_is_well_formed() -> Result<(), Box<dyn std::error::Error>> {
    for arguments in
        ["", "(3,5):(7,1)", "(3,5):(7,1) (3,5):(1,3) --dtype f32", "(9,4):(4,1) (5,4):(4,1) --gather 0"]
    {
        let module = Module::parse(&succeeds(folder().path(), &format!("emit copy {arguments}")))?;
        module.verify()?;
        let names: Vec<_> = module.kernels().into_iter().map(|kernel| kernel.name).collect();
        assert_eq!(names, ["copy".into()]);
    }
    Ok(())
}

#[test]
fn sizes_are_parameters_and_a_file_holds_the_same_bytes() {
    let folder = folder();
    let text = succeeds(folder.path(), "emit gemm --m 64 --n 64 --k 64");
    assert_eq!(succeeds(folder.path(), "emit gemm --m 1000 --n 8 --k 4096"), text);
    assert_ne!(succeeds(folder.path(), "emit gemm --m 64 --n 64 --k 63"), text);
    assert_eq!(succeeds(folder.path(), "emit gemm --m 64 --n 64 --k 64 -o gemm.ptx"), "");
    assert_eq!(std::fs::read_to_string(folder.path().join("gemm.ptx")).expect("written"), text);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
