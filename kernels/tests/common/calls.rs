//! One GEMM called again and again, with the same buffers, with others, and with buffers that it refuses.

use girih_codegen::gemm::Schedule;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::Error;
use girih_kernels::gemm::{
    Epilogue, Gemm, Gemms, Given, Input, KernelKind, Layout, Order, Problem, check, choose,
};
use girih_tensor::{DType, Element};
use half::bf16;

use super::{Data, Failure, configs, filled, poison};

/// A, B and C with the values of A and B on the host.
struct Set<T: Pod> {
    host: [Vec<T>; 2],
    a: Buffer<T>,
    b: Buffer<T>,
    c: Buffer<T>,
}

impl<T: Element + Pod> Set<T> {
    fn new(device: &Device, problem: &Problem, seed: u64) -> Result<Set<T>, Failure> {
        let spans = [problem.a(), problem.b(), problem.c()].map(|matrix| matrix.span() as usize);
        let host = [0, 1].map(|i| filled::<T>(spans[i], Data::SmallIntegers, 2 * seed + i as u64));
        let [a, b] = [device.upload(&host[0])?, device.upload(&host[1])?];
        Ok(Set { host, a, b, c: device.alloc(spans[2])? })
    }

    /// Poisons C, runs, and checks C.
    fn run(&self, gemm: &Gemm) -> Result<(), Failure> {
        self.c.fill_bytes(0xff)?;
        gemm.run(&self.a, &self.b, &self.c)?;
        let [a, b] = &self.host;
        let found = check(gemm.problem(), a, b, &self.c.download()?, Some(poison()))?;
        if found.passed() { Ok(()) } else { Err(format!("{:?}: {found:?}", gemm.problem()).into()) }
    }
}

/// Kernels with maps and with pointers, with a workspace, with copies of A and B, and with a C that is the transpose of what they compute.
fn gemms(device: &Device) -> Result<Vec<Gemm>, Failure> {
    let gemms = Gemms::new(device);
    let of = |mnk, layout| Problem::new(DType::Bf16, mnk, layout);
    let (whole, odd) = (of([136, 72, 192], Layout::Tn)?, of([135, 71, 49], Layout::Nt)?);
    let [sm80, sm90] = [KernelKind::Sm80, KernelKind::Sm90];
    let mut all = Vec::new();
    for (problem, kind) in [(whole, sm80), (odd, sm80), (whole, sm90), (odd, sm90)] {
        all.push(gemms.get(&problem, kind)?);
        all.push(gemms.get(&problem.with_order(Order::Column), kind)?);
    }
    let shared = Schedule::SplitK { parts: 2, cluster: 1 };
    let split = configs::scheduled(choose(&whole, sm80, device.limits().multiprocessors)?, shared);
    all.push(gemms.configured(&whole, split, &Epilogue::new())?);
    Ok(all)
}

/// Each call computes what its own buffers say, whatever the calls before were given, and keeps none of them.
pub(crate) fn buffers_may_change(device: &Device) -> Result<(), Failure> {
    if device.limits().sm != 90 {
        return Ok(());
    }
    for gemm in gemms(device)? {
        let sets = (0..3).map(|seed| Set::<bf16>::new(device, gemm.problem(), seed));
        let mut sets = sets.collect::<Result<Vec<_>, _>>()?;
        for i in [0, 0, 1, 2, 1, 1, 0] {
            sets[i].run(&gemm)?;
        }
        // A of one set with B and C of others.
        let mixed = Set {
            host: [sets[0].host[0].clone(), sets[1].host[1].clone()],
            a: sets[0].a.slice(..)?,
            b: sets[1].b.slice(..)?,
            c: sets[2].c.slice(..)?,
        };
        mixed.run(&gemm)?;
        drop(mixed);
        sets.truncate(1);
        sets.push(Set::new(device, gemm.problem(), 9)?);
        for i in [1, 0] {
            sets[i].run(&gemm)?;
        }
    }
    Ok(())
}

/// What a call refuses leaves nothing behind for the next, and is refused in the same words when a prepared launch is to get it.
pub(crate) fn refusals_leave_nothing(device: &Device) -> Result<(), Failure> {
    if device.limits().sm != 90 {
        return Ok(());
    }
    for gemm in gemms(device)? {
        let [set, other] = [3, 4].map(|seed| Set::<bf16>::new(device, gemm.problem(), seed));
        let (set, other) = (set?, other?);
        set.run(&gemm)?;
        let short = |buffer: &Buffer<bf16>| buffer.slice(..buffer.len() - 1);
        let odd = |buffer: &Buffer<bf16>| device.zeros::<bf16>(buffer.len() + 1)?.slice(1..);
        let mut prepared = gemm.prepare(&set.a, &set.b, &set.c, &[])?.ok_or("C is not empty")?;
        for (i, name) in ["a", "b", "c"].into_iter().enumerate() {
            let right = [&other.a, &other.b, &other.c];
            let (short, odd) = (short(right[i])?, odd(right[i])?);
            let run = |wrong| {
                let [a, b, c] = [0, 1, 2].map(|at| if at == i { wrong } else { right[at] });
                gemm.run(a, b, c)
            };
            let refused = run(&short);
            assert!(matches!(refused, Err(Error::BufferTooSmall { .. })), "{refused:?}");
            for wrong in [&short, &odd] {
                let told = |outcome: Result<(), Error>| outcome.err().map(|error| error.to_string());
                assert_eq!(
                    told(run(wrong)),
                    told(prepared.set(name, wrong)),
                    "{name} of {:?}",
                    gemm.problem()
                );
            }
        }
        let refused = gemm.run(&other.a, &other.b, &other.a);
        assert!(matches!(refused, Err(Error::Overlap { .. } | Error::BufferTooSmall { .. })), "{refused:?}");
        set.run(&gemm)?;
        other.run(&gemm)?;
    }
    Ok(())
}

/// Threads that share a GEMM each get the product of their own buffers.
pub(crate) fn threads_share_a_gemm(device: &Device) -> Result<(), Failure> {
    if device.limits().sm != 90 {
        return Ok(());
    }
    for gemm in gemms(device)? {
        std::thread::scope(|scope| {
            let threads = [5, 6, 7].map(|seed| {
                let gemm = &gemm;
                scope.spawn(move || {
                    let set = Set::<bf16>::new(device, gemm.problem(), seed).map_err(|e| e.to_string())?;
                    (0..3).try_for_each(|_| set.run(gemm)).map_err(|error| error.to_string())
                })
            });
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a panic".into())))
        })?;
    }
    Ok(())
}

/// GEMMs of one set share a workspace, in which the next finds what the one before has left, and the larger one's.
pub(crate) fn gemms_share_a_workspace(device: &Device) -> Result<(), Failure> {
    let gemms = Gemms::new(device);
    let of = |mnk: [i64; 3], parts| -> Result<Gemm, Failure> {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
        let config = choose(&problem, KernelKind::Sm80, device.limits().multiprocessors)?;
        let config = configs::scheduled(config, Schedule::SplitK { parts, cluster: 1 });
        Ok(gemms.configured(&problem, config, &Epilogue::new())?)
    };
    let (small, large) = (of([20, 40, 200], 2)?, of([200, 300, 300], 3)?);
    let (again, none) = (of([33, 30, 130], 2)?, gemms.get(small.problem(), KernelKind::Sm80)?);
    assert_eq!(none.workspace_bytes()?, 0);
    assert!(0 < small.workspace_bytes()? && small.workspace_bytes()? < large.workspace_bytes()?);
    for gemm in [&small, &large, &again, &small, &large, &large, &again] {
        Set::<bf16>::new(device, gemm.problem(), 3)?.run(gemm)?;
    }
    Ok(())
}

/// What an epilogue reads may change from call to call as well: numbers, vectors, matrices and their pitches.
pub(crate) fn inputs_may_change(device: &Device) -> Result<(), Failure> {
    let problem = Problem::new(DType::F32, [5, 7, 3], Layout::Tn)?;
    let matrix = Input::matrix("matrix", DType::F32).unaligned();
    let epilogue = Epilogue::new().scale("alpha").plus(Input::row("row", DType::F32)).plus(matrix);
    let gemm = Gemms::new(device).fused(&problem, KernelKind::Simt, &epilogue)?;
    let (a, b) = (device.upload(&[1f32; 15])?, device.upload(&[2f32; 21])?);
    let c = device.zeros::<f32>(35)?;
    let vectors = [1, 2].map(|i| device.upload(&[i as f32; 7]));
    let matrices = [10, 20].map(|i| device.upload(&[i as f32; 5 * 9]));
    let ([one, two], [ten, twenty]) = (vectors, matrices);
    let (one, two, ten, twenty) = (one?, two?, ten?, twenty?);
    for (alpha, row, (matrix, pitch), wanted) in [
        (1.0, &one, (&ten, 7), 6.0 + 1.0 + 10.0),
        (0.5, &one, (&ten, 9), 3.0 + 1.0 + 10.0),
        (0.5, &two, (&twenty, 8), 3.0 + 2.0 + 20.0),
        (-1.0, &two, (&ten, 7), -6.0 + 2.0 + 10.0),
    ] {
        let given = [
            ("matrix", Given::pitched(matrix, pitch)),
            ("alpha", Given::from(alpha)),
            ("row", Given::from(row)),
        ];
        gemm.run_with(&a, &b, &c, &given)?;
        assert_eq!(c.download()?, [wanted as f32; 35]);
        let refused = gemm.run_with(&a, &b, &c, &given[1..]);
        assert!(matches!(refused, Err(Error::Input { .. })), "{refused:?}");
    }
    Ok(())
}

/// The same of a matrix that tensor copies read ahead, whose pitch its tensor map has; it may be C.
pub(crate) fn inputs_that_are_read_ahead_may_change(device: &Device) -> Result<(), Failure> {
    if device.limits().sm != 90 {
        return Ok(());
    }
    // C is stored by tensor copies, so that x is read in vectors.
    const M: usize = 264;
    const N: usize = 264;
    const K: usize = 136;
    let problem = Problem::new(DType::Bf16, [M, N, K].map(|extent| extent as i64), Layout::Tn)?;
    let epilogue = Epilogue::new().plus(Input::matrix("x", DType::Bf16));
    let gemm = Gemms::new(device).fused(&problem, KernelKind::Sm90, &epilogue)?;
    let ones = |count: usize| device.upload(&vec![bf16::ONE; count]);
    let (a, b, c) = (ones(M * K)?, ones(N * K)?, device.zeros::<bf16>(M * N)?);
    let matrix = |scale: usize| {
        let values = (0..M * (N + 16)).map(|i| bf16::from_f64((i % 59 * scale) as f64));
        device.upload(&values.collect::<Vec<_>>())
    };
    let (one, two) = (matrix(1)?, matrix(2)?);
    let mut expected = vec![bf16::ZERO; M * N];
    for (x, pitch, scale) in [(&one, N, 1), (&two, N, 2), (&two, N + 16, 2), (&one, N + 8, 1), (&c, N, 0)] {
        for (place, value) in expected.iter_mut().enumerate() {
            let at = place / N * pitch + place % N;
            // C is what the call before has left there.
            let added = if scale == 0 { value.to_f64() } else { (at % 59 * scale) as f64 };
            *value = bf16::from_f64(K as f64 + added);
        }
        gemm.run_with(&a, &b, &c, &[("x", Given::pitched(x, pitch as i64))])?;
        assert_eq!(c.download()?, expected, "a pitch of {pitch}");
        let refused = gemm.run_with(&a, &b, &c, &[("x", Given::pitched(x, pitch as i64 + 1))]);
        assert!(refused.is_err(), "{refused:?}");
    }
    Ok(())
}

/// A captured call multiplies the buffers that it was given, which the graph keeps, and not those of later calls.
pub(crate) fn graphs_keep_their_buffers(device: &Device) -> Result<(), Failure> {
    if device.limits().sm != 90 {
        return Ok(());
    }
    for gemm in gemms(device)? {
        let [set, other] = [8, 9].map(|seed| Set::<bf16>::new(device, gemm.problem(), seed));
        let (set, other) = (set?, other?);
        set.run(&gemm)?; // Loads what no graph can hold.
        let graph = device.capture(|| gemm.run(&set.a, &set.b, &set.c))?;
        other.run(&gemm)?;
        set.c.fill_bytes(0xff)?;
        let Set { host: [a, b], c, .. } = set;
        #[expect(unsafe_code, reason = "the graph launches what the GEMM has checked")]
        // SAFETY: the graph keeps its buffers.
        unsafe { graph.launch() }?;
        let found = check(gemm.problem(), &a, &b, &c.download()?, Some(poison()))?;
        assert!(found.passed(), "{:?}: {found:?}", gemm.problem());
    }
    Ok(())
}
