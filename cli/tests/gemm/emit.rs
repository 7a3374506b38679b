//! `girih emit` prints well-formed PTX, and the same PTX that `girih gemm` runs.

use std::path::{Path, PathBuf};

use girih_device::{Bundle, Device, Select};
use girih_kernels::gemm::{Epilogue, Gemms, INPUTS, KernelKind, Layout, Order, Problem, choose, kernels};
use girih_ptx::Module;
use girih_tensor::DType;

use super::{folder, girih, girih_in, succeeds, text};

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
            let problem = problem.with_output(output)?;
            let run = gemms.get(&problem, KernelKind::for_problem(&problem, 90))?;
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
    let text = succeeds(folder.path(), "emit gemm --kernel sm80 --m 128 --n 128 --k 128");
    assert_eq!(succeeds(folder.path(), "emit gemm --kernel sm80 --m 1000 --n 72 --k 4096"), text);
    assert_ne!(succeeds(folder.path(), "emit gemm --kernel sm80 --m 128 --n 128 --k 127"), text);
    assert_eq!(succeeds(folder.path(), "emit gemm --kernel sm80 --m 128 --n 128 --k 128 -o gemm.ptx"), "");
    assert_eq!(std::fs::read_to_string(folder.path().join("gemm.ptx")).expect("written"), text);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// The assembler that the gate fetches, or the one that `GIRIH_PTXAS` names.
fn ptxas() -> Option<PathBuf> {
    let fetched = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ptx-tools").join("ptxas");
    let path = std::env::var_os("GIRIH_PTXAS").map_or_else(fetched, PathBuf::from);
    path.is_file().then_some(path)
}

#[test]
fn a_cubin_is_for_its_architecture() {
    let Some(ptxas) = ptxas() else {
        eprintln!("SKIPPED: no ptxas (GIRIH_PTXAS names one)");
        return;
    };
    let folder = folder();
    let emit = |rest: &str| {
        let line = format!("emit gemm --m 64 --n 64 --k 64 --cubin -o gemm.cubin {rest}");
        let output = girih(folder.path(), &line).env("GIRIH_PTXAS", &ptxas).output().expect("girih starts");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && out.is_empty() && err.is_empty(), "girih {line}: {out}{err}");
        std::fs::read(folder.path().join("gemm.cubin")).expect("written")
    };
    // ELF of CUDA, machine 190; the second byte of the flags is the architecture (as `cuobjdump -elf` says).
    let about = |code: &[u8]| (code[..4].to_vec(), u16::from_le_bytes([code[18], code[19]]), code[49]);
    for (rest, sm) in [
        ("", 90),
        ("--kernel sm80", 80),
        ("--kernel sm80 --sm 90", 90),
        ("--kernel sm90", 90),
        ("--kernel simt --dtype f32 --sm 89", 89),
    ] {
        assert_eq!(about(&emit(rest)), (b"\x7fELF".to_vec(), 190, sm), "{rest}");
    }
}

/// A bundle has every kernel of the product, also those that copy operands, as a device loads them.
#[test]
#[allow(unsafe_code, reason = "a bundle is read")]
fn a_bundle_has_all_kernels() -> Result<(), Box<dyn std::error::Error>> {
    let Some(ptxas) = ptxas() else {
        eprintln!("SKIPPED: no ptxas (GIRIH_PTXAS names one)");
        return Ok(());
    };
    let folder = folder();
    for (k, layout, count) in [(64, Layout::Tn, 1), (63, Layout::Tn, 2), (64, Layout::Nn, 1)] {
        let line = format!(
            "emit gemm --m 64 --n 64 --k {k} --layout {layout} --kernel sm90 --bundle -o gemm.bundle"
        );
        let output = girih(folder.path(), &line).env("GIRIH_PTXAS", &ptxas).output()?;
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && out.is_empty() && err.is_empty(), "girih {line}: {out}{err}");
        let problem = Problem::new(DType::Bf16, [64, 64, k], layout)?;
        let config = choose(&problem, KernelKind::Sm90, 132)?;
        let kernels = kernels(&problem, &config, &Epilogue::new())?;
        assert_eq!(kernels.len(), count, "girih {line}");
        // SAFETY: the file is a bundle, of which nothing is run.
        let bundle = unsafe { Bundle::from_bytes(&std::fs::read(folder.path().join("gemm.bundle"))?) }?;
        let texts: Vec<String> = kernels.iter().map(|kernel| kernel.module().to_string()).collect();
        assert!(bundle.modules().map(|(_, text)| text).eq(&texts), "girih {line}");
        assert!(bundle.modules().all(|(target, _)| matches!(target, "sm_90" | "sm_90a")), "girih {line}");
        // The simulator runs the text: it needs no code.
        assert_eq!(Device::open(Select::Sim)?.provide(&bundle), 0);
    }
    let both = "emit gemm --cubin --bundle -o both";
    assert!(!girih_in(folder.path(), both).status.success(), "girih {both}");
    Ok(())
}

#[test]
fn without_an_assembler_there_is_no_cubin() {
    let folder = folder();
    for (variable, value, wanted) in [
        (
            "PATH",
            "",
            "error: machine code is made by NVIDIA's assembler, and there is no `ptxas` in PATH: install the CUDA toolkit, or let GIRIH_PTXAS name one\n",
        ),
        (
            "GIRIH_PTXAS",
            "/no/ptxas",
            "error: the assembler /no/ptxas does not run (there is no such program): GIRIH_PTXAS names the `ptxas` of a CUDA toolkit, or is not set, and then the driver compiles\n",
        ),
    ] {
        let mut command = girih(folder.path(), "emit copy --cubin -o copy.cubin");
        let output = command.env_remove("GIRIH_PTXAS").env(variable, value).output().expect("girih starts");
        assert!(!output.status.success());
        assert_eq!(text(&output.stderr), wanted);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
    // A cubin is not for a terminal.
    assert!(!girih_in(folder.path(), "emit gemm --cubin").status.success());
}
