//! What is loaded once and what is not, by the count of modules that the device has loaded.

use std::{
    sync::{Arc, Barrier, atomic::Ordering::Relaxed},
    thread,
};

use girih_ptx::{Claim, Fact, LaunchNotes, Module, Notes, Site};

use crate::{Device, Error, LaunchConfig, Optimization, late::counting};

const TEXT: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry one(.param .u32 n) { .reg .b32 %r<2>; ld.param.u32 %r0, [n]; mov.u32 %r1, %r0; ret; }
.visible .entry two() { ret; }";

fn module(text: &str) -> Module {
    Module::parse(text).expect("a module")
}

fn same(a: &crate::Module, b: &crate::Module) -> bool {
    Arc::ptr_eq(&a.loaded, &b.loaded)
}

/// The same text is loaded once, by any handle and stream of the device, from any tree with that text.
#[test]
fn the_same_text_is_loaded_once() -> Result<(), Error> {
    let (device, loads) = counting();
    let first = device.load(&module(TEXT))?;
    let spaced = module(&TEXT.replace("ret;", "\n  ret  ;"));
    let again = [
        device.load(&module(TEXT))?,
        device.clone().load(&spaced)?,
        device.new_stream()?.load_with(&module(TEXT), Optimization::Full)?,
    ];
    assert_eq!(loads.load(Relaxed), 1);
    assert!(again.iter().all(|module| same(module, &first)));
    let [one, other] = [&first, &again[2]].map(|module| module.kernel("one"));
    assert!(Arc::ptr_eq(&one?.entry, &other?.entry));
    Ok(())
}

/// Another text, level of optimisation or device is another module.
#[test]
fn what_differs_is_loaded_by_itself() -> Result<(), Error> {
    let (device, loads) = counting();
    let first = device.load(&module(TEXT))?;
    let others = [
        device.load(&module(&TEXT.replace("two", "three")))?,
        device.load_with(&module(TEXT), Optimization::None)?,
    ];
    assert_eq!(loads.load(Relaxed), 3);
    assert!(others.iter().all(|other| !same(other, &first)));
    let (elsewhere, loads) = counting();
    assert!(!same(&elsewhere.load(&module(TEXT))?, &first));
    assert_eq!(loads.load(Relaxed), 1);
    Ok(())
}

/// What is known beside the text belongs to the module: facts about parameters, claims about registers, lines of Rust.
#[test]
fn what_is_known_beside_the_text_counts() -> Result<(), Error> {
    let (device, loads) = counting();
    let site = |line| Site { file: "kernel.rs".into(), line, column: 1 };
    let fact = |multiple| Fact { lower: 0, upper: 64, multiple, site: site(1) };
    let text = module(TEXT).to_string();
    let noted = |multiple, bytes, claimed, line| {
        let claims = vec![Claim { line: 6, register: "%r0".into(), fact: fact(claimed) }];
        let launch = LaunchNotes {
            kernel: "one".into(),
            block: [32, 1, 1],
            dynamic_shared_bytes: bytes,
            facts: vec![("n".into(), fact(multiple))],
        };
        let notes = Notes::new(&text, claims, vec![(6, site(line))]).with_launches(vec![launch]);
        Module { notes, ..module(TEXT) }
    };
    let all = [
        noted(8, 0, 1, 7),
        noted(4, 0, 1, 7),
        noted(8, 16, 1, 7),
        noted(8, 0, 2, 7),
        noted(8, 0, 1, 9),
        module(TEXT),
    ];
    let loaded = all.iter().map(|module| device.load(module)).collect::<Result<Vec<_>, _>>()?;
    assert_eq!(loads.load(Relaxed), all.len());
    for (module, loaded) in all.iter().zip(&loaded) {
        assert!(same(&device.load(module)?, loaded));
    }
    assert_eq!(loads.load(Relaxed), all.len());
    let multiples = loaded.iter().map(|module| {
        module.kernels().next().and_then(|info| info.params[0].fact.as_ref()).map(|fact| fact.multiple)
    });
    assert!(multiples.eq([Some(8), Some(4), Some(8), Some(8), Some(8), None]));
    Ok(())
}

/// A module stays loaded as long as a kernel or a launch of it is there, and no longer.
#[test]
fn what_nobody_uses_is_unloaded() -> Result<(), Error> {
    let (device, loads) = counting();
    type Keeper = fn(&Device) -> Result<Box<dyn Send>, Error>;
    let keepers: [Keeper; 3] = [
        |device| Ok(Box::new(device.load(&module(TEXT))?)),
        |device| Ok(Box::new(device.load(&module(TEXT))?.kernel("two")?)),
        |device| {
            let kernel = device.load(&module(TEXT))?.kernel("two")?;
            Ok(Box::new(kernel.prepare(&LaunchConfig::linear(1, 1), &[])?))
        },
    ];
    for (times, keeper) in keepers.iter().enumerate() {
        let kept = keeper(&device)?;
        let unloaded = Arc::downgrade(&device.load(&module(TEXT))?.loaded);
        assert_eq!(loads.load(Relaxed), times + 1);
        assert!(unloaded.upgrade().is_some());
        drop(kept);
        assert!(unloaded.upgrade().is_none());
    }
    Ok(())
}

/// What fails is not kept, and fails again.
#[test]
fn a_failure_is_not_kept() {
    let (device, loads) = counting();
    let text = TEXT.replace("mov.u32 %r1, %r0;", "mov.u32 %r1, %nothing;");
    let broken = module(&text.replace(".visible .entry two() { ret; }", ""));
    let [first, again] = [(); 2].map(|()| device.load(&broken).map(drop).map_err(|error| error.to_string()));
    assert!(first.is_err());
    assert_eq!((first, loads.load(Relaxed)), (again, 2));
}

/// Threads that load the same texts at a time load each once.
#[test]
fn threads_load_a_text_once() {
    let (device, loads) = counting();
    let texts: Vec<_> = (0..4).map(|i| TEXT.replace("two", &format!("two{i}"))).collect();
    let start = Barrier::new(8);
    let loaded = thread::scope(|scope| {
        let load = |thread: usize| {
            let (device, texts, start) = (&device, &texts, &start);
            scope.spawn(move || {
                start.wait();
                let order = (0..texts.len()).map(|i| (i + thread) % texts.len());
                let mut all: Vec<_> =
                    order.map(|i| (i, device.load(&module(&texts[i])).expect("a module"))).collect();
                all.sort_by_key(|(i, _)| *i);
                all
            })
        };
        let threads: Vec<_> = (0..8).map(load).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect::<Vec<_>>()
    });
    // All are still there, so that nothing had to be loaded twice.
    assert_eq!(loads.load(Relaxed), texts.len());
    for all in &loaded {
        assert!(all.iter().zip(&loaded[0]).all(|((_, a), (_, b))| same(a, b)));
    }
}

/// The cache does not remember texts that are gone.
#[test]
fn places_of_unloaded_modules_are_used_again() -> Result<(), Error> {
    let (device, _) = counting();
    for i in 0..100 {
        drop(device.load(&module(&TEXT.replace("two", &format!("two{i}"))))?);
    }
    assert!(super::lock(&device.modules.slots).len() <= 2);
    Ok(())
}
