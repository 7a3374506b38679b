//! Source lines in findings, in counts and for observers; kernels in one module with kernels that can't be executed.

use std::sync::Arc;

use crate::common::{load, module, shape};
use girih_sim::{Error, Memory, Options, Origin, Profile, run};

/// A store by a function that was inlined twice over, as nvcc tells it: places are inlined in places that were told.
const INLINED: &str = ".file 1 \"/src/kernel.cu\"
.file 2 \"/src/inner.cuh\"
.visible .entry k() {
  .reg .b32 %r; .reg .b64 %d;
  mov.u32 %r, %tid.x;
  .loc 1 42 5
  mov.u64 %d, 8;
  .loc 2 9 3, function_name $L1, inlined_at 1 42 5
  add.u64 %d, %d, 8;
  .loc 2 7 1, function_name $L0, inlined_at 2 9 3
  st.global.u32 [%d], %r;
  .loc 1 44 1
  ret;
}
.section .debug_str { $L0: .b8 112, 117, 116, 0
$L1: .b8 95,90,78,51,99,117,98,51,97,100,100,69,105,0 }";

#[test]
fn a_finding_names_its_source_line_and_where_that_was_inlined() {
    let text = module(INLINED);
    let program = load(&text).unwrap();
    let kernel = program.kernel("k").unwrap();
    let error = run(kernel, &Memory::new(), &shape(1, 1), &Options::default()).unwrap_err();
    let Error::OutOfBounds { at, .. } = &error else { panic!("{error}") };
    let origin = at.place.origin.as_ref().unwrap();
    let lines: Vec<_> = origin.chain().map(|at| (&*at.file, at.line, at.column)).collect();
    assert_eq!(lines, [("/src/inner.cuh", 7, 1), ("/src/inner.cuh", 9, 3), ("/src/kernel.cu", 42, 5)]);
    assert_eq!(origin.to_string(), "inner.cuh:7 in put, ..., inlined at kernel.cu:42");
    let place = "k, inner.cuh:7 in put, ..., inlined at kernel.cu:42 (PTX line 14): \
                 `st.global.u32 [%d], %r`, block (0, 0, 0), thread (0, 0, 0)";
    assert!(error.to_string().starts_with(place), "{error}");
    let origins: Vec<_> = kernel.origins().map(|(_, origin)| origin.map(|origin| origin.line)).collect();
    assert_eq!(origins, [None, Some(42), Some(9), Some(7), Some(44), Some(44)]);
}

#[test]
fn counts_are_of_source_lines() {
    let text = module(&INLINED.replace("st.global.u32 [%d], %r", "nanosleep.u32 1"));
    let program = load(&text).unwrap();
    let profile = Profile::default();
    let options = Options { profile: Some(profile.clone()), ..Options::default() };
    run(program.kernel("k").unwrap(), &Memory::new(), &shape(1, 1), &options).unwrap();
    let lines = profile.lines("k");
    let sleep = lines.iter().find(|line| line.instruction.starts_with("nanosleep")).unwrap();
    assert_eq!(sleep.origin.as_ref().map(|origin| (origin.file_name(), origin.line)), Some(("inner.cuh", 7)));
    let table = profile.to_string();
    assert!(table.contains("\nkernel.cu:42\n") && table.contains("\nkernel.cu:44\n"), "{table}");
}

/// A function that is called has lines of its own, and what follows the call has the caller's.
#[test]
fn a_called_function_has_its_own_lines() {
    let text = module(
        ".file 1 \"a.cu\"
         .func f() { .reg .b64 %d; mov.u64 %d, 16; .loc 1 3 1 st.global.u32 [%d], 1; ret; }
         .visible .entry k() { .loc 1 8 1 call f; ret; }",
    );
    let program = load(&text).unwrap();
    let kernel = program.kernel("k").unwrap();
    let origins: Vec<_> = kernel.origins().map(|(_, origin)| origin.map(|origin| origin.line)).collect();
    assert!(
        origins.contains(&Some(3)) && origins.contains(&Some(8)) && origins.contains(&None),
        "{origins:?}"
    );
    let error = run(kernel, &Memory::new(), &shape(1, 1), &Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("k, a.cu:3 (PTX line 5): "), "{error}");
}

/// Places that are inlined in one another without end, files that no directive declares, lines that the compiler does
/// not know.
#[test]
fn lines_that_make_no_sense_do_no_harm() {
    let text = module(
        ".file 1 \"a.cu\"
         .visible .entry k() {
           .loc 1 1 1, inlined_at 1 2 1
           .loc 1 2 1, inlined_at 1 1 1
           trap;
           .loc 7 1 1
           trap;
           .loc 1 0 0
           trap;
           .loc 1 5 0, inlined_at 7 1 1
           trap;
         }",
    );
    let program = load(&text).unwrap();
    let of = |origin: Option<&Origin>| origin.map(|origin| (origin.line, origin.chain().count() > 1));
    let origins: Vec<_> = program.kernel("k").unwrap().origins().map(|(_, origin)| of(origin)).collect();
    assert_eq!(origins[..4], [Some((2, true)), None, None, Some((5, false))]);
}

#[test]
fn a_kernel_that_cant_be_executed_leaves_the_others() {
    let good = ".visible .entry k() { ret; }";
    let bad = ".visible .entry bad() { .reg .b32 %r; call f, (%r); ret; } .func f(.reg .b32 %x) { ret; }"
        .replace("(.reg .b32 %x)", "(.param .b32 x)");
    let text = module(&format!("{good}\n{bad}\n.visible .entry other() {{ ret; }}"));
    let program = load(&text).unwrap();
    assert_eq!(program.kernels().iter().map(|kernel| kernel.name()).collect::<Vec<_>>(), ["k", "other"]);
    assert_eq!(program.names().collect::<Vec<_>>(), ["k", "other", "bad"]);
    run(program.kernel("k").unwrap(), &Memory::new(), &shape(1, 1), &Options::default()).unwrap();
    let error = program.kernel("bad").unwrap_err();
    assert!(matches!(error, Error::Operand { .. }), "{error}");
    // A module with nothing to run is an error of its own.
    assert_eq!(load(&module(&bad)).unwrap_err().to_string().replace("line 4", "line 5"), error.to_string());
}

/// Of the lines of a chain, the innermost and the outermost that are not in headers of the toolkit are told.
#[test]
fn lines_of_the_toolkit_are_left_out() {
    let line = |file: &str, line, inlined: Option<(&str, Arc<Origin>)>| {
        let inlined = inlined.map(|(name, at)| (name.into(), at));
        Arc::new(Origin { file: file.into(), line, column: 0, inlined })
    };
    let kernel = line("/src/kernel.cu", 42, None);
    let helper = line("/src/cuda/sum.cuh", 9, Some(("_Z3sumPf", kernel.clone())));
    let header = line("/usr/include/cuda/std/atomic", 7, Some(("_ZN4cuda3putEv", helper.clone())));
    let deepest = line("/usr/local/cuda/include/cuda_fp16.hpp", 3, Some(("_Z3getv", header)));
    assert_eq!(deepest.to_string(), "sum.cuh:9 in sum, inlined at kernel.cu:42");
    assert_eq!(deepest.innermost(), &*helper);
    let alone = line("/usr/local/cuda/include/cuda_fp16.hpp", 3, None);
    assert_eq!(alone.to_string(), "cuda_fp16.hpp:3");
    let in_kernel = line("/usr/local/cuda/include/cuda_fp16.hpp", 3, Some(("_Z3getv", kernel)));
    assert_eq!(in_kernel.to_string(), "kernel.cu:42");
}

/// The names of functions without C++'s mangling; what is not mangled, or wrongly, stays as it is.
#[test]
fn mangled_names_are_undone() {
    let at = Arc::new(Origin { file: "b.cu".into(), line: 2, column: 0, inlined: None });
    for (mangled, text) in [
        ("_Z3sumif", "sum"),
        ("_ZN3cub4sum2Ei", "cub::sum2"),
        ("_ZNK3cub6detail3addIfEEv", "cub::detail::add<float>"),
        ("_ZL4warpv", "warp"),
        ("cdiv", "cdiv"),
        ("_Z", "_Z"),
        ("_Z99sum", "_Z99sum"),
        ("_ZN99999999999999999999aE", "_ZN99999999999999999999aE"),
        ("_Zplfé", "_Zplfé"),
    ] {
        let inlined = Some((mangled.into(), at.clone()));
        let origin = Origin { file: "d/a.cu".into(), line: 1, column: 0, inlined };
        assert_eq!(origin.to_string(), format!("a.cu:1 in {text}, inlined at b.cu:2"));
    }
}
