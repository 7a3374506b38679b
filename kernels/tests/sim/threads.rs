//! Threads that ask for kernels at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::thread;
use std::time::Duration;

use girih_kernels::gemm::{Epilogue, Gemms, KernelKind, Layout, Problem};
use girih_tensor::DType;

use crate::checked;
use crate::common::Failure;

/// Longer than any kernel takes to be generated.
const LONG: Duration = Duration::from_secs(60);

fn problem() -> Result<Problem, Failure> {
    Ok(Problem::new(DType::F32, [5, 7, 3], Layout::Tn)?)
}

/// Each kernel is generated only if the other one is being generated too.
#[test]
fn different_kernels_are_generated_at_the_same_time() -> Result<(), Failure> {
    let (gemms, problem) = (Gemms::new(&checked()), problem()?);
    let both = Arc::new((Mutex::new(0), Condvar::new()));
    let meeting = |key: &'static str| {
        let (both, first) = (both.clone(), Once::new());
        Epilogue::new().map(key, move |x| {
            first.call_once(|| {
                let (count, arrived) = &*both;
                *count.lock().expect("no panic") += 1;
                arrived.notify_all();
                let waiting = count.lock().expect("no panic");
                let (count, _) =
                    arrived.wait_timeout_while(waiting, LONG, |count| *count < 2).expect("no panic");
                assert_eq!(*count, 2, "the other kernel waits until this one is generated");
            });
            x * x
        })
    };
    let epilogues = ["one", "other"].map(meeting);
    thread::scope(|scope| {
        let (gemms, problem) = (&gemms, &problem);
        let get = |epilogue| scope.spawn(move || gemms.fused(problem, KernelKind::Simt, epilogue).map(drop));
        let threads = epilogues.each_ref().map(get);
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(gemms.modules(), 2);
    Ok(())
}

/// Of several threads that ask for one kernel, one generates it.
#[test]
fn one_kernel_is_generated_once() -> Result<(), Failure> {
    let (device, problem, calls) = (checked(), problem()?, Arc::new(AtomicUsize::new(0)));
    let counted = calls.clone();
    let epilogue = Epilogue::new().map("counted", move |x| {
        counted.fetch_add(1, Ordering::Relaxed);
        x * x
    });
    Gemms::new(&device).fused(&problem, KernelKind::Simt, &epilogue)?;
    let once = calls.swap(0, Ordering::Relaxed);
    let gemms = Gemms::new(&device);
    thread::scope(|scope| {
        let get = || gemms.fused(&problem, KernelKind::Simt, &epilogue).map(drop);
        let threads = [(); 4].map(|()| scope.spawn(get));
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!((calls.load(Ordering::Relaxed), gemms.modules()), (once, 1));
    assert!(once > 0);
    Ok(())
}

/// A kernel that cannot be made is not kept, and does not keep others from being made.
#[test]
fn a_failure_is_not_kept() -> Result<(), Failure> {
    let (gemms, problem) = (Gemms::new(&checked()), problem()?);
    let once = Epilogue::new().amax("same");
    // Two outputs of one name.
    let twice = once.clone().amax("same");
    for _ in 0..2 {
        assert!(gemms.fused(&problem, KernelKind::Simt, &twice).is_err());
    }
    assert_eq!(gemms.modules(), 0);
    gemms.fused(&problem, KernelKind::Simt, &once)?;
    assert_eq!(gemms.modules(), 1);
    Ok(())
}
