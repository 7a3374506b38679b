//! Attention by every form of kernel, with every feature, on the simulator with all its checks; on a GPU where `GIRIH_DEVICE` is `cuda`.

use std::collections::BTreeMap;

use girih_codegen::attention::generate;
use girih_device::{Buffer, Device, Select};
use girih_kernels::Error;
use girih_kernels::attention::{
    AttentionConfig, Attentions, Diagonal, Form, Hardware, KernelKind, Mask, Order, Problem, Table, Tensor4,
    choose, few_queries,
};
use girih_kernels::gemm::{Given, Untyped};
use girih_tensor::DType;
use half::{bf16, f16};

use crate::checked;
use crate::common::Failure;
use crate::common::assembler::complaints;
use crate::common::attention::{
    Inputs, MASKS, Values, exact, features, generator, random, verify, verify_inputs, verify_values,
};
use crate::common::random::Unjudged;

fn device() -> Result<Device, Failure> {
    match std::env::var("GIRIH_DEVICE").as_deref() {
        Ok("cuda") => Ok(Device::open(Select::Cuda(0))?),
        _ => Ok(checked()),
    }
}

/// How many cases, unless `GIRIH_CASES` says another number.
fn cases(usual: u64) -> u64 {
    std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// One configuration of each form that can be chosen, whatever it can do besides.
fn forms() -> Vec<AttentionConfig> {
    let mut forms = BTreeMap::new();
    for config in choose::all() {
        let key = format!("{:?} {:?} {} {:?}", config.form, config.dtype, config.head_dim, config.tile);
        forms.entry(key).or_insert(config);
    }
    forms.into_values().collect()
}

/// Each form computes problems with each feature. A few of both at a time: `GIRIH_CASES` says how many of 56.
#[test]
fn every_form_has_every_feature() -> Result<(), Failure> {
    let (device, of_all) = (device()?, cases(1));
    let attentions = Attentions::new(&device);
    for (i, form) in (0..).zip(forms()) {
        let dim = match form.form {
            // Every other one has columns that are zeros.
            Form::Ring(_) => form.head_dim - 8 * (i as i64 % 2),
            Form::Multistage(multistage) => form.head_dim - multistage.vector * (i as i64 % 2),
        };
        let most = form.tile[0].max(form.tile[1]) + 40;
        for (j, problem) in (0..).zip(features(form.dtype, dim, most)?) {
            if (7 * i + 11 * j) % 56 >= of_all {
                continue;
            }
            let config = AttentionConfig { features: problem.features(), ..form };
            let attention = match attentions.configured(&problem, config) {
                // Strides with gaps of odd columns are not for the widest copies.
                Err(Error::Configuration { .. } | Error::Misfit { .. }) => continue,
                other => other?,
            };
            verify(&attention, &device, i, if j % 3 == 0 { 30.0 } else { 2.0 })?;
        }
    }
    Ok(())
}

/// Small random problems, by the kernel that is chosen and by that for other GPUs.
#[test]
fn random_problems() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    for seed in 0..cases(4) {
        let mut rng = generator(seed);
        let dtype = [DType::Bf16, DType::F16, DType::F32][seed as usize % 3];
        let problem = random(&mut rng, dtype, [64, 128, 40, 33, 96, 192, 256][seed as usize % 7], 160)?;
        for kind in [None, Some(KernelKind::Sm80)] {
            verify(&attentions.by(&problem, kind)?, &device, seed, 1.0 + (seed % 5) as f64 * 20.0)
                .map_err(|error| format!("{seed}: {error}"))?;
        }
    }
    Ok(())
}

/// Scores up to 1e30 that f32 has exactly, and masks of large finite numbers, by the kernel that is chosen and by that for other GPUs.
#[test]
fn large_scores_and_finite_masks() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    let (count, mut unjudged) = (cases(6), 0);
    for seed in 0..count {
        let mut rng = generator(9000 + seed);
        let dtype = [DType::Bf16, DType::F16, DType::F32][seed as usize % 3];
        let (problem, values) = exact(&mut rng, dtype, [64, 128, 40, 32][seed as usize % 4], 100)?;
        for kind in [None, Some(KernelKind::Sm80)] {
            match verify_values(&attentions.by(&problem, kind)?, &device, seed, values) {
                Err(error) if error.is::<Unjudged>() => unjudged += 1,
                other => _ = other.map_err(|error| format!("{seed}, {values:?}: {error}"))?,
            }
        }
    }
    // Few problems have scores whose rounding alone may change a result by a tenth.
    assert!(20 * unjudged <= count, "{unjudged} of {count} problems were not judged");
    Ok(())
}

/// The kernels of a dtype that take any problem.
fn kinds(dtype: DType) -> &'static [KernelKind] {
    if dtype == DType::F32 { &[KernelKind::Sm80] } else { &[KernelKind::Sm80, KernelKind::Sm90] }
}

/// The inputs of a dtype whose elements, of Q, K, V and the bias, are functions of the tensor, the head, the row and the column.
fn verify_elements<T: girih_tensor::Element + girih_device::Pod>(
    device: &Device,
    problem: &Problem,
    of: &dyn Fn(usize, [i64; 3]) -> f64,
) -> Result<(), Failure> {
    let attentions = Attentions::new(device);
    let tensor = |which: Tensor4| -> Vec<T> {
        let array = problem.array(which);
        let mut all = vec![T::from_f64(f64::NAN); array.span() as usize];
        let [rows, columns, heads, _] = array.extents();
        for (head, row) in (0..heads).flat_map(|head| (0..rows).map(move |row| (head, row))) {
            for column in 0..columns {
                let at = array.offset(row, column, head, 0) as usize;
                all[at] = T::from_f64(of(which as usize, [head, row, column]));
            }
        }
        all
    };
    let keys = problem.keys();
    let of_head =
        if problem.bias().is_some_and(|bias| bias.strides()[0] == 0) { 1 } else { problem.queries() };
    let bias = (0..problem.bias_len()).map(|at| {
        let place = [at / (keys * of_head), at / keys % of_head, at % keys];
        let value = of(3, place);
        // A bias of the dtype is what the dtype makes of it.
        match problem.bias() {
            Some(bias) if bias.dtype() != DType::F32 => T::from_f64(value).to_f64() as f32,
            _ => value as f32,
        }
    });
    let bias = bias.collect();
    let inputs = Inputs {
        q: tensor(Tensor4::Q),
        k: tensor(Tensor4::K),
        v: tensor(Tensor4::V),
        bias,
        sinks: Vec::new(),
    };
    for &kind in kinds(problem.dtype()) {
        verify_inputs(&attentions.by(problem, Some(kind))?, device, &inputs)?;
    }
    Ok(())
}

fn verify_dtypes(
    of_problem: &dyn Fn(DType) -> Result<Problem, Error>,
    of: &dyn Fn(usize, [i64; 3]) -> f64,
) -> Result<(), Failure> {
    let device = device()?;
    verify_elements::<f32>(&device, &of_problem(DType::F32)?, of)?;
    verify_elements::<f16>(&device, &of_problem(DType::F16)?, of)?;
    verify_elements::<bf16>(&device, &of_problem(DType::Bf16)?, of)
}

/// Some value, not the same for any two neighbours.
fn varied([head, row, column]: [i64; 3]) -> f64 {
    ((head * 5 + row * 7 + column * 3) % 11) as f64 / 4.0 - 1.0
}

/// A row whose scores are all one number is the mean of V, whatever the number: from a bias of f32 or of the tensors' dtype, or from Q K^T.
#[test]
fn rows_of_equal_scores_are_means() -> Result<(), Failure> {
    let heads = MASKS.len() as i64;
    for of_dtype in [false, true] {
        let problem = |dtype: DType| {
            let of_bias = if of_dtype { dtype } else { DType::F32 };
            Problem::new(dtype, Order::Bhsd, [1, heads, 3, 70, 32])?
                .with_lse(true)
                .with_bias(of_bias, [1, heads, 1])
        };
        verify_dtypes(&problem, &|which, at| match which {
            2 => varied(at),
            // What another dtype rounds to infinity is no finite mask.
            3 => f64::from(MASKS[at[0] as usize]),
            _ => 0.0,
        })?;
    }
    // Of a mask of the least number and negative scores the sum is no finite f32, rounded to nearest.
    let beyond = |which: usize, at: [i64; 3]| match which {
        0 => -f64::from(1 << 30),
        1 => f64::from(1 << 30),
        2 => varied(at),
        _ => f64::from([f32::MIN, -3.4028e38][at[0] as usize]),
    };
    let problem = |dtype| -> Result<Problem, Failure> {
        let problem = Problem::new(dtype, Order::Bhsd, [1, 2, 2, 70, 32])?.with_lse(true);
        Ok(problem.with_bias(DType::F32, [1, 2, 1])?.with_scale((1u64 << 60) as f32)?)
    };
    let device = device()?;
    verify_elements::<f32>(&device, &problem(DType::F32)?, &beyond)?;
    verify_elements::<bf16>(&device, &problem(DType::Bf16)?, &beyond)?;
    // Numbers of few digits, whose products f32 adds up exactly. f16 has no more than 65504.
    let sizes = [1.0, 1000.0, 31616.0, 133_120.0, 3.0 * 2f64.powi(30), 2f64.powi(50)];
    let problem = |dtype| -> Result<Problem, Failure> {
        Ok(Problem::new(dtype, Order::Bhsd, [1, sizes.len() as i64, 2, 70, 32])?.with_lse(true))
    };
    let size = |head: i64, most: f64| f64::min(sizes[head as usize], most);
    for sign in [1.0, -1.0] {
        let of = |most: f64| {
            move |which: usize, at: [i64; 3]| match which {
                0 => sign * size(at[0], most),
                1 => size(at[0], most),
                _ => varied(at),
            }
        };
        verify_elements::<f16>(&device, &problem(DType::F16)?, &of(61440.0))?;
        verify_elements::<f32>(&device, &problem(DType::F32)?, &of(f64::MAX))?;
        verify_elements::<bf16>(&device, &problem(DType::Bf16)?, &of(f64::MAX))?;
    }
    Ok(())
}

/// One query and one key: O is V, whatever the score.
#[test]
fn one_key_is_its_value() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let attention =
            attentions.by(&Problem::new(DType::Bf16, Order::Bshd, [1, 1, 1, 1, 64])?, Some(kind))?;
        let large = device.upload(&[bf16::from_f32(133_120.0); 64])?;
        let o = device.zeros::<bf16>(64)?;
        attention.run(&large, &large, &large, &o)?;
        assert_eq!(o.download()?, vec![bf16::from_f32(133_120.0); 64]);
    }
    Ok(())
}

/// What is not a number in V and K at keys that no query of a tile sees stays out of the tile's rows: behind the diagonal of the last query, before the window of
/// the first one, and at keys that later tiles see.
#[test]
fn unseen_keys_may_hold_anything() -> Result<(), Failure> {
    let new = |dtype, queries, keys| {
        Ok::<_, Error>(Problem::new(dtype, Order::Bshd, [1, 1, queries, keys, 32])?.with_lse(true))
    };
    let top = Mask::causal(Diagonal::TopLeft);
    let last = |which: usize, at: [i64; 3], from: i64, value: f64| match which {
        1 | 2 if at[1] >= from => value,
        _ => varied(at),
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // One query, two keys.
        verify_dtypes(&|dtype| new(dtype, 1, 2)?.with_mask(top), &|which, at| last(which, at, 1, value))?;
    }
    // A prefill into a cache.
    for (queries, keys) in [(10, 100), (64, 100), (100, 256)] {
        let of = |which: usize, at: [i64; 3]| last(which, at, queries, f64::NAN);
        verify_dtypes(&|dtype| new(dtype, queries, keys)?.with_mask(top), &of)?;
    }
    // A window that begins inside of a tile of keys, and ends inside of one.
    let window = Mask::window(Some(20), Some(5), Diagonal::BottomRight);
    let of = |which: usize, at: [i64; 3]| match which {
        1 | 2 if at[1] < 170 => f64::INFINITY,
        _ => varied(at),
    };
    verify_dtypes(&|dtype| new(dtype, 10, 200)?.with_mask(window), &of)?;
    // The last keys, which the last tile of queries alone sees.
    let device = device()?;
    let problem = new(DType::Bf16, 400, 400)?.with_mask(top)?;
    let inputs = |which: usize, at: [i64; 3]| last(which, at, 390, f64::NAN);
    let attentions = Attentions::new(&device);
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let attention = attentions.by(&problem, Some(kind))?;
        let tile = attention.config().ok_or("a form with tiles")?.tile[0];
        let buffer = |which: usize| {
            let all: Vec<bf16> =
                (0..400 * 32).map(|at| bf16::from_f64(inputs(which, [0, at / 32, at % 32]))).collect();
            device.upload(&all)
        };
        let (q, k, v, o) = (buffer(0)?, buffer(1)?, buffer(2)?, device.zeros::<bf16>(400 * 32)?);
        let lse = device.zeros::<f32>(400)?;
        attention.run_with([&q, &k, &v, &o], &[("lse", Given::from(&lse))])?;
        let first = (390 / tile * tile * 32) as usize;
        assert!(o.download()?[..first].iter().all(|x| x.is_finite()), "{kind:?}");
    }
    Ok(())
}

/// A module is specialised by configuration and facts, never by lengths, heads or strides.
#[test]
fn sizes_with_the_same_facts_share_one_module() -> Result<(), Failure> {
    let device = checked();
    let attentions = Attentions::new(&device);
    for sizes in [[1, 20, 3000, 3000, 128], [2, 8, 4096, 50, 128], [1, 64, 2000, 7, 120]] {
        for order in [Order::Bshd, Order::Bhsd] {
            attentions.get(&Problem::new(DType::Bf16, order, sizes)?)?;
        }
    }
    assert_eq!(attentions.modules(), 1);
    attentions.get(&Problem::new(DType::Bf16, Order::Bshd, [1, 20, 3000, 3000, 128])?.with_lse(true))?;
    assert_eq!(attentions.modules(), 2);
    Ok(())
}

fn untyped(buffer: &Buffer<bf16>) -> Untyped<'_> {
    let (address, len) = (buffer.address(), buffer.len());
    Untyped { arg: buffer.into(), device: buffer.device(), dtype: DType::Bf16, address, len }
}

/// One attention is called again and again, with the same buffers, with others, prepared, and in a graph.
#[test]
fn calls_are_repeated() -> Result<(), Failure> {
    let device = checked();
    let problem = Problem::new(DType::Bf16, Order::Bshd, [1, 1, 3, 2, 64])?.with_lse(true);
    let attention = Attentions::new(&device).get(&problem)?;
    let filled = |x: f32, rows: usize| device.upload(&vec![bf16::from_f32(x); rows * 64]);
    let (q, k, lse) = (filled(0.5, 3)?, filled(1.0, 2)?, device.zeros::<f32>(3)?);
    let given = [("lse", Given::from(&lse))];
    for value in [2.0, 3.0, 4.0] {
        let (v, o) = (filled(value, 2)?, filled(0.0, 3)?);
        attention.run_with([&q, &k, &v, &o], &given)?;
        assert_eq!(o.download()?, vec![bf16::from_f32(value); 3 * 64]);
    }
    let (v, o, other) = (filled(5.0, 2)?, filled(0.0, 3)?, filled(0.0, 3)?);
    attention.run_untyped([&q, &k, &v, &o].map(untyped), &given)?;
    let mut launch = attention.prepare([&q, &k, &v, &o], &given)?.ok_or("there are queries")?;
    launch.set("o", &other)?;
    #[expect(unsafe_code, reason = "launching PTX is unsafe")]
    // SAFETY: the buffers hold the problem's tensors.
    unsafe { launch.run() }?;
    assert_eq!(
        (o.download()?, other.download()?),
        (vec![bf16::from_f32(5.0); 192], vec![bf16::from_f32(5.0); 192])
    );
    let scores = 64.0 * 0.5 * problem.scale();
    assert!(lse.download()?.iter().all(|&x| (x - scores - 2f32.ln()).abs() < 1e-5));
    let graph = device.capture(|| {
        attention.run_with([&q, &k, &v, &o], &given).map_err(|error| match error {
            Error::Device(error) => error,
            other => unreachable!("{other}"),
        })
    })?;
    o.fill_bytes(0)?;
    #[expect(unsafe_code, reason = "replaying PTX is unsafe")]
    // SAFETY: the buffers still hold the problem's tensors.
    unsafe { graph.launch() }?;
    assert_eq!(o.download()?, vec![bf16::from_f32(5.0); 192]);
    Ok(())
}

/// V and O may have other columns than Q and K, and heads may have up to 512: blocks share the columns of V, and one of them writes the logsumexps.
#[test]
fn values_may_have_other_columns_than_keys() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    let causal = Mask::causal(Diagonal::BottomRight);
    let window = Mask::window(Some(20), Some(3), Diagonal::BottomRight);
    for (kind, dtype) in
        [(KernelKind::Sm80, DType::Bf16), (KernelKind::Sm80, DType::F32), (KernelKind::Sm90, DType::Bf16)]
    {
        let of = |dim, of_values, sizes: [i64; 4]| -> Result<Problem, Error> {
            let [batches, heads, queries, keys] = sizes;
            Problem::new(dtype, Order::Bshd, [batches, heads, queries, keys, dim])?.with_value_dim(of_values)
        };
        let problems = [
            of(192, 128, [1, 2, 70, 90])?.with_kv_heads(1)?.with_mask(causal)?.with_lse(true),
            of(192, 128, [1, 1, 90, 100])?
                .packed(&[0, 30, 88], &[0, 40, 70])?
                .with_mask(causal)?
                .with_lse(true),
            of(160, 200, [1, 1, 40, 50])?.with_mask(window)?.with_lse(true).with_sinks(true),
            of(40, 16, [1, 1, 30, 40])?.with_softcap(5.0)?,
            of(512, 512, [1, 1, 70, 40])?.with_mask(causal)?.with_lse(true),
            of(512, 512, [1, 1, 40, 50])?.packed(&[0, 30, 38], &[0, 20, 50])?,
            of(304, 304, [1, 2, 20, 30])?.with_kv_heads(1)?.with_lse(true),
        ];
        for (seed, problem) in (0..).zip(problems) {
            let attention = attentions.by(&problem, Some(kind))?;
            verify(&attention, &device, seed, 2.0)?;
        }
    }
    let told = |result: Result<Problem, Error>| result.expect_err("too many columns").to_string();
    let new = |dim| Problem::new(DType::Bf16, Order::Bshd, [1, 1, 8, 8, dim]);
    assert!(told(new(513)).contains("head dim = 513: 1 to 512"));
    assert!(told(new(64)?.with_value_dim(513)).contains("value dim = 513: 1 to 512"));
    Ok(())
}

/// A sink joins each row once, by every form, with every option, and in rows that see no key.
#[test]
fn sinks_join_every_row() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    let causal = Mask::causal(Diagonal::BottomRight);
    let window = Mask::window(Some(20), Some(3), Diagonal::BottomRight);
    for (kind, dtype) in [
        (KernelKind::Sm80, DType::Bf16),
        (KernelKind::Sm80, DType::F32),
        (KernelKind::Sm90, DType::F16),
        (KernelKind::Sm90, DType::Bf16),
    ] {
        let new = |order, sizes| Problem::new(dtype, order, sizes);
        let problems = [
            new(Order::Bhsd, [2, 4, 70, 90, 64])?.with_kv_heads(2)?.with_mask(window)?.with_lse(true),
            new(Order::Bshd, [1, 4, 90, 60, 64])?.with_mask(causal)?.with_lse(true),
            new(Order::Bshd, [1, 4, 90, 100, 64])?.packed(&[0, 30, 30, 88], &[0, 40, 70, 70])?.with_lse(true),
            new(Order::Bshd, [1, 4, 60, 70, 64])?.with_softcap(5.0)?.with_bias(dtype, [1, 4, 1])?,
        ];
        for (seed, problem) in (0..).zip(problems) {
            let attention = attentions.by(&problem.with_sinks(true), Some(kind))?;
            verify(&attention, &device, seed, 3.0)?;
        }
    }
    Ok(())
}

/// Sinks of negative infinity change no bit. Those far above all scores take the whole sum, and a row without keys is 0, with its sink as logsumexp.
#[test]
fn sinks_may_have_any_size() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    let causal = Mask::causal(Diagonal::BottomRight);
    // The last problem is one of decoding, in several parts.
    for (kind, queries, keys) in
        [(Some(KernelKind::Sm80), 40i64, 30i64), (Some(KernelKind::Sm90), 40, 30), (None, 2, 700)]
    {
        let sizes = [1, 4, queries, keys, 64];
        let problem = Problem::new(DType::Bf16, Order::Bhsd, sizes)?.with_mask(causal)?.with_lse(true);
        let inputs = Inputs::<bf16>::new(&problem, 3, Values::Uniform(2.0));
        let (q, k, v) = (device.upload(&inputs.q)?, device.upload(&inputs.k)?, device.upload(&inputs.v)?);
        let run = |sinks: Option<[f32; 4]>| -> Result<(Vec<bf16>, Vec<f32>), Failure> {
            let attention = attentions.by(&problem.clone().with_sinks(sinks.is_some()), kind)?;
            assert_eq!(attention.decode().is_some(), kind.is_none());
            let (o, lse) = (device.zeros::<bf16>(inputs.q.len())?, device.zeros((4 * queries) as usize)?);
            let sinks = sinks.map(|sinks| device.upload(&sinks)).transpose()?;
            let mut given = vec![("lse", Given::from(&lse))];
            given.extend(sinks.as_ref().map(|sinks| ("sinks", Given::from(sinks))));
            attention.run_with([&q, &k, &v, &o], &given)?;
            Ok((o.download()?, lse.download()?))
        };
        let (plain, plain_lse) = run(None)?;
        let none = run(Some([f32::NEG_INFINITY; 4]))?;
        assert_eq!((&none.0, &none.1), (&plain, &plain_lse), "{kind:?}");
        let large = [1e4, f32::MAX, f32::NEG_INFINITY, -1e4];
        let (o, lse) = run(Some(large))?;
        let empty = (queries - keys).max(0) as usize;
        for (head, sink) in large.into_iter().enumerate() {
            for row in 0..queries as usize {
                let at = head * queries as usize + row;
                let (columns, of_row) = (&o[at * 64..][..64], lse[at]);
                if row < empty || sink > 0.0 {
                    assert!(columns.iter().all(|x| x.to_f32() == 0.0), "{kind:?} {head} {row}");
                    assert_eq!(of_row, sink, "{kind:?} {head} {row}");
                } else {
                    assert_eq!((columns, of_row), (&plain[at * 64..][..64], plain_lse[at]));
                }
            }
        }
    }
    // A sink for each head is given once, in f32.
    let problem = Problem::new(DType::Bf16, Order::Bhsd, [1, 4, 8, 8, 64])?.with_sinks(true);
    let attention = attentions.get(&problem)?;
    let all = device.zeros::<bf16>(4 * 8 * 64)?;
    let o = device.zeros::<bf16>(4 * 8 * 64)?;
    let (few, other) = (device.zeros::<f32>(3)?, device.zeros::<f16>(4)?);
    let refused = |given: &[(&str, Given<'_>)]| {
        attention.run_with([&all, &all, &all, &o], given).expect_err("bad sinks").to_string()
    };
    assert!(refused(&[]).contains("sinks"));
    assert!(refused(&[("sinks", Given::from(&few))]).contains("sinks"));
    assert!(refused(&[("sinks", Given::from(&other))]).contains("f16"));
    Ok(())
}

/// Few queries are computed by the kernels of decoding, whatever these do, and are as exact; prepared calls launch all their kernels.
#[test]
fn few_queries_are_decoded() -> Result<(), Failure> {
    let device = device()?;
    let attentions = Attentions::new(&device);
    let causal = Mask::causal(Diagonal::BottomRight);
    let window = Mask::window(Some(70), Some(0), Diagonal::BottomRight);
    let bf16 = |order, sizes| Problem::new(DType::Bf16, order, sizes);
    let problems = [
        bf16(Order::Bshd, [2, 4, 1, 300, 64])?.with_kv_heads(1)?.with_lse(true),
        bf16(Order::Bhsd, [1, 4, 5, 700, 128])?.with_kv_heads(2)?.with_mask(causal)?.with_lse(true),
        bf16(Order::Bhsd, [1, 2, 16, 260, 40])?.with_mask(window)?.with_softcap(20.0)?,
        // A single query sees the last key and those before it, whatever it may see behind.
        Problem::new(DType::F16, Order::Bshd, [1, 3, 1, 256, 96])?
            .with_mask(Mask::window(Some(100), Some(9), Diagonal::BottomRight))?
            .with_scale(0.3)?
            .with_lse(true),
        bf16(Order::Bshd, [2, 2, 3, 257, 64])?
            .with_mask(causal)?
            .with_strides(Tensor4::K, [272, 64, 80_000])?,
    ];
    for (seed, problem) in (0..).zip(&problems) {
        let attention = attentions.get(problem)?;
        assert!(attention.decode().is_some() && attention.config().is_none(), "{problem:?}");
        verify(&attention, &device, seed, 3.0)?;
    }
    assert_eq!(attentions.modules(), 0);
    // Kernels that go through tiles of queries are had by name.
    assert!(attentions.by(&problems[0], Some(KernelKind::Sm80))?.config().is_some());
    let problem = bf16(Order::Bshd, [1, 1, 1, 1024, 64])?.with_lse(true);
    let ones = |len: usize| device.upload(&vec![bf16::ONE; len]);
    let (q, k, o, lse) = (ones(64)?, ones(1 << 16)?, ones(64)?, device.zeros::<f32>(1)?);
    let (given, decoded) = ([("lse", Given::from(&lse))], attentions.get(&problem)?);
    let mut prepared = decoded.prepare([&q, &k, &k, &o], &given)?.ok_or("there are queries")?;
    assert_eq!(prepared.launches().len(), 2);
    let (v, other) = (device.upload(&vec![bf16::from_f32(3.0); 1 << 16])?, device.zeros::<bf16>(64)?);
    prepared.set("v", &v)?;
    prepared.set("o", &other)?;
    assert!(prepared.set("bias", &v).is_err());
    #[expect(unsafe_code, reason = "launching PTX is unsafe")]
    // SAFETY: the buffers hold the problem's tensors.
    unsafe { prepared.run() }?;
    assert_eq!((o.download()?, other.download()?), (vec![bf16::ONE; 64], vec![bf16::from_f32(3.0); 64]));
    Ok(())
}

/// What the kernels of decoding do not compute, or are not made for, goes to the others.
#[test]
fn other_problems_are_not_decoded() -> Result<(), Failure> {
    let new = |dtype, sizes| Problem::new(dtype, Order::Bshd, sizes);
    let few = new(DType::Bf16, [1, 2, 4, 300, 64])?;
    let causal = few.clone().with_mask(Mask::causal(Diagonal::BottomRight))?;
    assert!(few_queries(&causal).is_some());
    let others = [
        few.clone(),
        few.with_mask(Mask::causal(Diagonal::TopLeft))?,
        causal.clone().with_mask(Mask::window(Some(5), Some(1), Diagonal::BottomRight))?,
        causal.clone().with_bias(DType::F32, [1, 1, 1])?,
        causal.clone().with_alignment(Tensor4::K, 8)?,
        causal.clone().with_strides(Tensor4::V, [132, 64, 40_000])?,
        new(DType::Bf16, [1, 2, 1, 300, 64])?.packed(&[0, 1], &[0, 300])?,
        new(DType::F32, [1, 2, 1, 300, 64])?,
        new(DType::Bf16, [1, 2, 1, 255, 64])?,
        new(DType::Bf16, [1, 2, 17, 300, 64])?.with_mask(Mask::causal(Diagonal::BottomRight))?,
        new(DType::Bf16, [1, 2, 1, 300, 60])?,
    ];
    for problem in others {
        assert!(few_queries(&problem).is_none(), "{problem:?}");
    }
    Ok(())
}

/// Nothing is launched where there are no queries.
#[test]
fn there_may_be_nothing_to_compute() -> Result<(), Failure> {
    let device = checked();
    let none = device.zeros::<bf16>(0)?;
    for sizes in [[0, 1, 5, 5, 64], [2, 1, 0, 5, 64], [2, 1, 0, 0, 64]] {
        let attention = Attentions::new(&device).get(&Problem::new(DType::Bf16, Order::Bshd, sizes)?)?;
        let keys = device.zeros::<bf16>(640)?;
        attention.run(&none, &keys, &keys, &none)?;
        assert!(attention.prepare([&none, &keys, &keys, &none], &[])?.is_none());
        assert!(attention.launch_config()?.is_none());
    }
    Ok(())
}

#[test]
fn refusals_say_what_is_accepted() -> Result<(), Failure> {
    let device = checked();
    let attentions = Attentions::new(&device);
    let problem = Problem::new(DType::Bf16, Order::Bshd, [1, 1, 4, 4, 64])?
        .with_lse(true)
        .with_bias(DType::F32, [1, 1, 1])?;
    let attention = attentions.get(&problem)?;
    let all = device.zeros::<bf16>(2048)?;
    let [q, k, v, o] = [0, 256, 512, 768].map(|at| all.slice(at..at + 256));
    let (q, k, v, o) = (q?, k?, v?, o?);
    let (bias, lse) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    let given = [("bias", Given::from(&bias)), ("lse", Given::from(&lse))];
    attention.run_with([&q, &k, &v, &o], &given)?;
    let told = |result: Result<(), Error>| result.expect_err("bad input").to_string();
    let same = told(attention.run_with([&q, &k, &v, &q], &given));
    assert!(same.starts_with("o and q have 512 bytes in common, such as the byte at"), "{same}");
    let between = all.slice(600..856)?;
    assert!(
        told(attention.run_with([&q, &k, &v, &between], &given))
            .starts_with("o and v have 336 bytes in common")
    );
    let odd = all.slice(1025..1281)?;
    let begins = told(attention.run_with([&odd, &k, &v, &o], &given));
    assert!(begins.starts_with("q begins at") && begins.contains("takes multiples of 16 bytes"), "{begins}");
    let short = all.slice(1024..1279)?;
    assert_eq!(
        told(attention.run_with([&q, &short, &v, &o], &given)),
        "k needs 256 elements, its buffer has 255"
    );
    let names = "but accepted are: each of these once: [bias, lse]";
    assert_eq!(
        told(attention.run_with([&q, &k, &v, &o], &[("mask", given[0].1)])),
        format!("`mask`: nothing that the problem has, {names}")
    );
    assert_eq!(
        told(attention.run_with([&q, &k, &v, &o], &[given[1], given[1]])),
        format!("`lse`: given twice, {names}")
    );
    assert_eq!(
        told(attention.run_with([&q, &k, &v, &o], &given[..1])),
        "`lse`: nothing, but accepted are: a buffer of 4 elements of f32 or more"
    );
    let wrong = [("bias", Given::from(&q)), given[1]];
    assert_eq!(
        told(attention.run_with([&q, &k, &v, &o], &wrong)),
        "`bias`: 256 elements of bf16, but accepted are: a buffer of 4 elements of f32 or more"
    );
    assert!(
        told(attention.run_with([&q, &k, &v, &o], &[given[0], ("lse", Given::from(&bias))]))
            .starts_with("lse and bias have 16 bytes")
    );
    let floats = Problem::new(DType::F32, Order::Bshd, [1, 1, 4, 4, 64])?;
    assert_eq!(
        told(attentions.by(&floats, Some(KernelKind::Sm90)).map(drop)),
        "kernel sm90 does not take the dtype f32; accepted are: f16 and bf16, which wgmma multiplies"
    );
    let config = choose(&floats, None, device.limits())?;
    assert!(
        told(attentions.configured(&problem, config).map(drop))
            .starts_with("the configuration's dtypes are f32")
    );
    let causal = floats.with_mask(Mask::window(Some(1), None, Default::default()))?;
    assert!(
        told(attentions.configured(&causal, config).map(drop))
            .starts_with("the configuration's features are")
    );
    Ok(())
}

/// What is chosen computes the problem, is in the finite list, and has a reason.
#[test]
fn choices_are_in_the_list() -> Result<(), Failure> {
    let all: std::collections::HashSet<AttentionConfig> = choose::all().into_iter().collect();
    assert_eq!(all.len(), choose::all().len());
    for seed in 0..2000 {
        let mut rng = generator(seed);
        let dtype = [DType::Bf16, DType::F16, DType::F32][seed as usize % 3];
        let problem = random(&mut rng, dtype, 1 + seed as i64 % 512, 5000)?;
        for hardware in [Hardware { sm: 90, multiprocessors: 132 }, Hardware { sm: 86, multiprocessors: 84 }]
        {
            let config = choose(&problem, None, hardware)?;
            assert!(all.contains(&config), "{problem:?}: {config:?}");
            assert!(config.form.sm() <= hardware.sm);
            let reasons = choose::reasons(&problem, None, hardware)?;
            assert!(reasons.iter().all(|(what, why)| !what.is_empty() && !why.is_empty()));
        }
    }
    // Tensor maps take no stride of 0, which another kernel does.
    let shared =
        Problem::new(DType::Bf16, Order::Bshd, [2, 2, 40, 40, 64])?.with_strides(Tensor4::K, [64, 0, 0])?;
    let h200 = Hardware { sm: 90, multiprocessors: 132 };
    assert!(matches!(choose(&shared, None, h200)?.form, Form::Multistage(_)));
    assert_eq!(Table::count(&shared, 64), 4);
    Ok(())
}

/// No kernel that can be chosen spills, and none has its products serialised. A few of each form are assembled, or as many as `GIRIH_CASES` says.
#[test]
fn registers_suffice() -> Result<(), Failure> {
    let by_warps = |config: &AttentionConfig| matches!(config.form, Form::Multistage(_));
    let (warps, rings): (Vec<_>, Vec<_>) = choose::all().into_iter().partition(by_warps);
    let mut bad = Vec::new();
    for (all, targets) in [(warps, &["80", "90"][..]), (rings, &["90a"])] {
        // Odd, so that what kernels can do besides is not always the same.
        let step = (all.len() / cases(4).max(1) as usize) | 1;
        for config in all.iter().step_by(step) {
            let text = generate(config)?.kernel.module().to_string();
            for arch in targets {
                let Some(complaints) = complaints(&text, arch)? else {
                    println!("SKIPPED: no ptxas");
                    return Ok(());
                };
                if !complaints.is_empty() {
                    bad.push(format!("{config:?} on sm_{arch}: {complaints:?}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    Ok(())
}

/// O may be a part of the rows that hold Q, K and V.
#[test]
fn o_may_be_packed_with_q_k_and_v() -> Result<(), Failure> {
    let device = checked();
    let mut problem = Problem::new(DType::F32, Order::Bshd, [1, 1, 8, 8, 16])?;
    for tensor in Tensor4::ALL {
        problem = problem.with_strides(tensor, [64, 16, 512])?;
    }
    let attention = Attentions::new(&device).get(&problem)?;
    let all = device.upload(&vec![1f32; 512])?;
    let [q, k, v, o] = [0, 16, 32, 48].map(|from| all.slice(from..));
    let (q, k, v, o) = (q?, k?, v?, o?);
    attention.run_with([&q, &k, &v, &o], &[])?;
    assert_eq!(all.download()?, [1.0; 512]);
    let refused = attention.run_with([&q, &k, &v, &all.slice(40..)?], &[]).expect_err("overlap").to_string();
    assert!(refused.starts_with("o and v have ") && refused.contains("such as the byte at"), "{refused}");
    Ok(())
}
