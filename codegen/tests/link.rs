//! Several kernels in one module.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::{Builder, Cond, Kernel, Scalar, ptx};
use girih_ptx::{Error, Module, Special, Type};
use girih_sim::{Memory, Options, Program};
use girih_tensor::{DType, Space};

use crate::simulator::{addresses, block, download, sizes, upload};

/// Each thread of the block adds `value` to its word, through shared memory; the kernel claims that the word is below `bound`.
fn adding(name: &str, value: f64, bound: i64) -> Kernel {
    let mut b = Builder::new(name, 80, 32);
    let (x, thread) = (b.pointer("x", 4), b.special(Special::TidX));
    b.symbol("n", |n| n.at_least(1).at_most(bound)).unwrap();
    let (reg, at) = (b.reg(Type::U32), &x + &(&thread * 4));
    b.load(Space::Gmem, std::slice::from_ref(&reg), &at, &Cond::Always).unwrap();
    let index = b.var(&reg, 0, bound, 1);
    let shared = &b.alloc_shared(32 * value as i64, 16).unwrap() + &(&thread * 4);
    let sum = b.scalar(&(Scalar::index(&index, DType::U32) + value)).unwrap();
    b.store(Space::Smem, &shared, &[sum], &Cond::Always).unwrap();
    b.load(Space::Smem, std::slice::from_ref(&reg), &shared, &Cond::Always).unwrap();
    b.store(Space::Gmem, &at, &[reg], &Cond::Always).unwrap();
    b.printf("done\n", &[]).unwrap();
    b.finish().unwrap()
}

/// The 32 words after a kernel of the module; each word is at first its thread's index.
fn run(module: &Module, name: &str) -> Result<Vec<u32>, girih_sim::Error> {
    let memory = Memory::new();
    let words: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
    let at = upload(&memory, &words);
    let info = module.kernels().into_iter().find(|info| &*info.name == name).unwrap();
    let args = [addresses(&[at]), sizes(&[1])].concat();
    let launch = block(32, info.dynamic_shared_bytes.unwrap(), args);
    let program = Program::load(module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    girih_sim::run(program.kernel(name).unwrap(), &memory, &launch, &Options::checked())?;
    let out = download(&memory, at, 128);
    Ok(out.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

#[test]
fn linked_kernels_do_what_they_do_alone() {
    let kernels = [("first", 4.0, 100), ("second", 8.0, 100), ("wrong", 16.0, 10)]
        .map(|(name, value, bound)| adding(name, value, bound).into_module());
    let linked = Module::link(&kernels).unwrap();
    linked.verify().unwrap();
    let text = linked.to_string();
    assert_eq!(
        (text.matches(".extern .func").count(), text.matches(".extern .shared").count()),
        (1, 1),
        "{text}"
    );
    for (kernel, name) in kernels.iter().zip(["first", "second", "wrong"]) {
        let [alone, together] = [kernel, &linked].map(|module| run(module, name));
        match (alone, together) {
            (Ok(alone), Ok(together)) => assert_eq!(alone, together),
            // The claim that does not hold is reported with the line of this file in both.
            (Err(alone), Err(together)) => {
                let site = |error: &girih_sim::Error| match error {
                    girih_sim::Error::FalseClaim { claim, at, .. } => {
                        (claim.fact.site.clone(), at.place.origin.clone(), at.thread)
                    }
                    other => panic!("{other}"),
                };
                assert_eq!((name, site(&alone)), ("wrong", site(&together)));
            }
            other => panic!("{name}: {other:?}"),
        }
        // Facts about parameters and the shared memory are the kernel's own.
        let info = |module: &Module| module.kernels().into_iter().find(|info| &*info.name == name).unwrap();
        let (alone, together) = (info(kernel), info(&linked));
        assert_eq!(alone.params, together.params);
        assert_eq!(
            (alone.block, alone.dynamic_shared_bytes),
            (together.block, together.dynamic_shared_bytes)
        );
    }
}

#[test]
fn modules_that_are_not_one_are_refused() {
    let module = |name: &str| adding(name, 4.0, 100).into_module();
    let parse = |text: &str| Module::parse(text).unwrap();
    let head = ".version 8.0 .target sm_90a .address_size 64";
    let other =
        parse(&format!("{head} .extern .shared .align 16 .b8 smem[]; .visible .entry k() {{ ret; }}"));
    let newer = parse(".version 8.7 .target sm_100 .address_size 64 .visible .entry n() { ret; }");
    let apart = parse(&format!("{head} .visible .entry m() {{ ret; }}"));
    let mut lines = Builder::new("lines", 80, 32);
    lines.write_lines();
    lines.barrier();
    let lines = lines.finish().unwrap().into_module();
    for modules in [
        vec![],
        vec![module("a"), module("a")],
        // The alignments differ.
        vec![module("a"), other.clone()],
        vec![apart.clone(), newer],
        vec![module("a"), lines],
    ] {
        let found = Module::link(&modules);
        assert!(matches!(found, Err(Error::Link { .. })), "{found:?}");
    }
    let found = Module::link(&[module("a"), apart]).unwrap();
    assert_eq!(found.target.to_string(), "sm_90a");
}

/// Inline PTX calls a function of PTX that somebody else wrote, beside the functions that the builder calls.
#[test]
fn functions_of_ptx_are_called() {
    let function = "
        .version 8.0 .target sm_80 .address_size 64
        .visible .func (.param .b32 result) twice(.param .b32 x) {
          .reg .b32 %r<2>;
          ld.param.u32 %r0, [x];
          add.u32 %r1, %r0, %r0;
          st.param.u32 [result], %r1;
          ret;
        }";
    let function = Module::parse(function).unwrap();
    let mut b = Builder::new("k", 80, 32);
    b.include(&function).unwrap();
    assert!(b.include(adding("other", 4.0, 100).module()).is_err());
    b.printf("called\n", &[]).unwrap();
    let (x, thread) = (b.pointer("x", 4), b.special(Special::TidX));
    b.symbol("n", |n| n.at_least(1)).unwrap();
    b.alloc_shared(4, 4).unwrap();
    let (reg, at) = (b.reg(Type::B32), &x + &(&thread * 4));
    b.load(Space::Gmem, std::slice::from_ref(&reg), &at, &Cond::Always).unwrap();
    ptx!(b, "{{ .param .b32 a; .param .b32 r; st.param.b32 [a], {reg}; call.uni (r), twice, (a); ld.param.b32 {reg}, [r]; }}")
        .unwrap();
    b.store(Space::Gmem, &at, &[reg], &Cond::Always).unwrap();
    let kernel = b.finish().unwrap();
    let linked = Module::link(&[adding("other", 4.0, 100).into_module(), kernel.into_module()]).unwrap();
    assert_eq!(linked.verify(), Ok(()));
    assert!(run(&linked, "k").unwrap().into_iter().eq((0..32).map(|i| 2 * i)));
    // A function is included once, and another function of the same name is refused.
    let mut b = Builder::new("k", 80, 32);
    b.include(&function).unwrap();
    b.include(&function).unwrap();
    let other = Module::parse(&function.to_string().replace("add.u32", "mul.lo.u32")).unwrap();
    assert!(b.include(&other).unwrap_err().to_string().contains("another `twice`"));
    assert_eq!(b.finish().unwrap().module().to_string().matches(".func").count(), 1);
}
