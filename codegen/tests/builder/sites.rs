//! Findings of the simulator and of the verifier name the line of the program that wrote the instruction.

use girih_codegen::algorithm::{copy, fill};
use girih_codegen::atom::AUTO_VECTORIZING_COPY;
use girih_codegen::{Builder, BuilderError, Cond, Error, Expr, Gmem, Rmem, Width};
use girih_layout::lay;
use girih_ptx::{Module, Site, Type};
use girih_sim::Memory;
use girih_tensor::{DType, Space, Tensor};

use crate::simulator::{addresses, block, checked};

/// The first line of this file that begins so.
fn line(what: &str) -> u32 {
    let place = include_str!("sites.rs").lines().position(|line| line.trim_start().starts_with(what));
    place.unwrap() as u32 + 1
}

fn is_here(site: &Site, what: &str) {
    assert!(site.file.ends_with("sites.rs") && site.line == line(what), "{site} is not {what}");
}

/// Every instruction that a closure writes has a line of that closure.
#[test]
fn every_instruction_has_the_line_that_writes_it() {
    let mut b = Builder::new("k", 80, 32);
    let pointer = b.pointer("x", 16);
    let thread = b.special(girih_ptx::Special::TidX);
    let tensor = Tensor::new(Gmem::new(&pointer + &(&thread * 16), DType::F32), lay!("4:1"));
    let registers = Rmem::like(&mut b, &tensor).unwrap();
    b.if_(&Cond::less(&thread, &Expr::from(7)), |b| {
        copy(b, AUTO_VECTORIZING_COPY, &tensor, &registers)?;
        b.for_range(&Expr::from(3), |b, _| {
            b.ptx("bar.warp.sync 127;", &[])?;
            Ok(())
        })?;
        fill(b, &tensor, 1.5)
    })
    .unwrap();
    let module = b.finish().unwrap().into_module();
    let text = module.to_string();
    assert!(module.notes.are_of(&text));
    let of = |part: &str| {
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains(part));
        let sites: Vec<&Site> = lines.map(|(i, _)| module.notes.site(i as u32 + 1).unwrap()).collect();
        assert!(!sites.is_empty(), "{part} in\n{text}");
        sites
    };
    for (part, what) in [
        ("ld.param", "let pointer = b.pointer(\"x\", 16)"),
        ("cvta.to", "let pointer = b.pointer(\"x\", 16)"),
        ("setp.lt.s32 %p0", "b.if_("),
        ("bra $endif", "b.if_("),
        ("ld.global.v4", "copy(b"),
        ("add.s32", "b.for_range("),
        ("bra $loop", "b.for_range("),
        ("bar.warp", "b.ptx(\"bar.warp"),
        ("st.global.v4", "fill(b"),
    ] {
        of(part).into_iter().for_each(|site| is_here(site, what));
    }
    let instructions =
        text.lines().enumerate().filter(|(_, line)| line.trim_end().ends_with(';') && !line.contains(".reg"));
    for (i, line) in instructions.filter(|(_, line)| !line.starts_with('.')) {
        assert!(module.notes.site(i as u32 + 1).is_some(), "{line}");
    }
}

#[test]
fn findings_name_the_line() {
    let mut b = Builder::new("k", 80, 32);
    let pointer = b.pointer("x", 4);
    let value = b.value(&Expr::from(1), Width::W32).unwrap();
    b.store(Space::Gmem, &(&pointer + 4096), &[value], &Cond::Always).unwrap();
    let module = b.finish().unwrap().into_module();
    let memory = Memory::new();
    let launch = block(32, 0, addresses(&[memory.alloc(64).unwrap()]));
    let found = |module: &Module| checked(module, &memory, &launch).unwrap_err().to_string();
    let place = format!("sites.rs:{}", line("b.store(Space::Gmem"));
    assert!(found(&module).contains(&place), "{}", found(&module));
    // A module that is parsed from the text knows only the lines of the text.
    let text = found(&Module::parse(&module.to_string()).unwrap());
    assert!(!text.contains("sites.rs") && text.contains("st.global"), "{text}");
}

#[test]
fn what_is_wrong_is_blamed_on_who_wrote_it() {
    let mut b = Builder::new("k", 80, 32);
    let reg = b.reg(Type::F32);
    b.ptx("add.f32 %0, %0, %nothing;", &[&reg]).unwrap();
    let Err(Error::Written { site, error }) = b.finish() else { panic!("it has no such register") };
    is_here(&site, "b.ptx(\"add.f32 %0, %0, %nothing");
    assert!(error.to_string().contains("%nothing"), "{error}");

    let mut b = Builder::new("k", 80, 32);
    let (float, word) = (b.reg(Type::F32), b.reg(Type::B32));
    b.ptx("add.f32 %0, %0, %1;", &[&float, &word]).unwrap();
    b.inst(girih_ptx::Opcode::Add, &[Type::F64.into()], vec![(&float).into(), (&word).into()]);
    let Err(Error::Written { site, .. }) = b.finish() else { panic!("it has too few operands") };
    is_here(&site, "b.inst(girih_ptx::Opcode::Add");
}

#[test]
fn names_are_the_callers() {
    let param = |names: &[&str]| {
        let mut b = Builder::new("k", 80, 32);
        names.iter().for_each(|name| drop(b.pointer(name, 4)));
        Ok(b.finish()?.into_module())
    };
    assert!(param(&["x", "_y", "$z1", "%w"]).is_ok());
    for (names, value) in [
        (&["my x"][..], "my x"),
        (&["1x"], "1x"),
        (&[""], ""),
        (&["_"], "_"),
        (&["x", "y", "x"], "x"),
        (&["smem"], "smem"),
    ] {
        match param(names) {
            Err(Error::Builder(
                BuilderError::Name { name, .. } | BuilderError::ParameterTwice { name, .. },
            )) => assert_eq!(name, value),
            other => panic!("{names:?}: {other:?}"),
        }
    }
    let kernel = Builder::new("a kernel", 80, 32).finish();
    assert!(matches!(kernel, Err(Error::Builder(BuilderError::Name { .. }))), "{kernel:?}");
}
