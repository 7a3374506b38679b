//! Decoding on the simulator, with every check, against attention in f64.

use girih_codegen::attention::decode::generate;
use girih_device::Buffer;
use girih_kernels::Error;
use girih_kernels::attention::decode::{
    CacheOrder, Decode, DecodeArgs, DecodePlan, DecodeProblem, ScalesOf, choose,
};
use girih_kernels::attention::{Mask, Problem};
use girih_tensor::DType;
use half::{bf16, f16};
use rand::{SeedableRng, rngs::StdRng};

use super::checked;
use super::common::Failure;
use super::common::decode::{Case, Tensors, window};

fn of(problem: DecodeProblem, lengths: &[u32]) -> Case {
    Case { problem, lengths: lengths.to_vec(), parts: None, loud: 1.0, exact: None }
}

/// The same with logsumexps.
fn with_lse(attention: Problem) -> Result<Problem, Error> {
    Ok(attention.with_lse(true))
}

#[test]
fn random_problems() -> Result<(), Failure> {
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(12);
    let device = checked();
    for seed in 0..cases {
        let case = Case::random(&mut StdRng::seed_from_u64(seed), 300)?;
        case.verify(&device, seed).map_err(|error| format!("case {seed}: {error}"))?;
    }
    Ok(())
}

/// Scores up to 1e30 that f32 has exactly, in one part and in several.
#[test]
fn large_scores() -> Result<(), Failure> {
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(8);
    let device = checked();
    for seed in 0..cases {
        let case = Case::large(&mut StdRng::seed_from_u64(7000 + seed), 300)?;
        case.verify(&device, seed).map_err(|error| format!("case {seed}: {error}"))?;
    }
    Ok(())
}

/// A sink joins each row once, of sequences in one part and in several, of tiles of rows of both sizes, and of 8-bit caches with scales.
#[test]
fn sinks_join_once() -> Result<(), Failure> {
    let device = checked();
    for (queries, heads, cache) in [
        (1, [8, 2], DType::Bf16),
        (3, [12, 3], DType::E4m3),
        (16, [8, 1], DType::Bf16),
        (1, [40, 2], DType::E5m2),
    ] {
        let problem = DecodeProblem::new(DType::Bf16, [4, queries], heads, 64, 300)?
            .with_cache(cache, Some(ScalesOf::Head))?
            .map(|attention| Ok(attention.with_sinks(true).with_lse(true)))?;
        for parts in [1, 3] {
            let case = Case { parts: Some(parts), ..of(problem.clone(), &[300, 0, 1, 130]) };
            case.verify(&device, 4)?;
        }
        let paged = problem.paged(32, 60, CacheOrder::HeadsFirst)?;
        Case { parts: Some(2), ..of(paged, &[300, 0, 1, 130]) }.verify(&device, 5)?;
    }
    Ok(())
}

/// Splits whose maxima are equal weigh as many as their keys, however large the scores are: all scores are one number, and O is the mean.
#[test]
fn equal_scores_are_the_mean_over_all_splits() -> Result<(), Failure> {
    let device = checked();
    let dim = 64;
    for (size, scale) in [(31616.0, 0.125), (133_120.0, 0.125), (-133_120.0, 0.3), (3e9, 7.0), (-1e15, 1e6)] {
        let problem = DecodeProblem::new(DType::Bf16, [1, 1], [2, 1], dim, 300)?
            .map(|attention| Ok(attention.with_scale(scale)?.with_lse(true)))?;
        for parts in [1, 3] {
            let mut plan = choose(&problem, device.limits(), Some(parts))?;
            plan.least_tiles = 1;
            let decode = Decode::planned(&device, &problem, plan)?;
            let (q, k) = (device.upload(&[bf16::from_f64(size); 128])?, bf16::from_f64(size.abs()));
            let k = device.upload(&vec![k; 300 * 64])?;
            let value = |at: usize| bf16::from_f64((at / 64 % 7) as f64);
            let v = device.upload(&(0..300 * 64).map(value).collect::<Vec<_>>())?;
            let (o, lse) = (device.zeros::<bf16>(128)?, device.zeros::<f32>(2)?);
            for keys in [1usize, 70, 300] {
                let lengths = device.upload(&[keys as u32])?;
                let args = DecodeArgs {
                    q: &q,
                    kv: [&k, &v],
                    lengths: &lengths,
                    table: None,
                    scales: None,
                    o: &o,
                    given: &[("lse", (&lse).into())],
                };
                decode.run(&args)?;
                let mean = (0..keys).map(|key| (key % 7) as f64).sum::<f64>() / keys as f64;
                let near = |x: &bf16| (x.to_f64() - mean).abs() <= 0.01 * mean;
                assert!(o.download()?.iter().all(near), "{size}, {parts} parts, {keys} keys: {mean}");
                let score = 64.0 * bf16::from_f64(size).to_f64() * bf16::from_f64(size.abs()).to_f64();
                let wanted = score * f64::from(scale) + (keys as f64).ln();
                let near = |x: &f32| (f64::from(*x) - wanted).abs() <= 1e-6 * wanted.abs();
                assert!(lse.download()?.iter().all(near), "{size}, {parts} parts, {keys} keys: {wanted}");
            }
        }
    }
    Ok(())
}

/// What is not a number at the last key stays out of rows of other tiles than that of the last query, which alone sees it.
#[test]
fn keys_behind_a_tile_of_rows_may_hold_anything() -> Result<(), Failure> {
    let device = checked();
    let (queries, keys) = (16usize, 100usize);
    let problem = DecodeProblem::new(DType::Bf16, [1, queries as i64], [8, 1], 64, keys as i64)?;
    for parts in [1, 2] {
        let decode = Decode::planned(&device, &problem, choose(&problem, device.limits(), Some(parts))?)?;
        let of_tile = decode.plan().config.rows[1] as usize;
        assert!(of_tile < queries);
        let (q, o) = (device.upload(&vec![bf16::ONE; queries * 8 * 64])?, device.zeros(queries * 8 * 64)?);
        let mut values = vec![bf16::ONE; keys * 64];
        values[(keys - 1) * 64..].fill(bf16::NAN);
        let v = device.upload(&values)?;
        let lengths = device.upload(&[keys as u32])?;
        let args = DecodeArgs {
            q: &q,
            kv: [&v, &v],
            lengths: &lengths,
            table: None,
            scales: None,
            o: &o,
            given: &[],
        };
        decode.run(&args)?;
        let seen = (queries - of_tile) * 8 * 64;
        assert!(o.download()?[..seen].iter().all(|x| *x == bf16::ONE), "{parts} parts");
    }
    Ok(())
}

/// Each of them in one part and in several: no keys, one key, as many as tiles have, and all; pages of every size.
#[test]
fn lengths_and_pages() -> Result<(), Failure> {
    let device = checked();
    let problem = DecodeProblem::new(DType::Bf16, [6, 2], [4, 2], 64, 260)?.map(with_lse)?;
    let lengths = [0, 1, 64, 128, 129, 260];
    for (page, order) in [
        (None, CacheOrder::KeysFirst),
        (None, CacheOrder::HeadsFirst),
        (Some(16), CacheOrder::KeysFirst),
        (Some(32), CacheOrder::HeadsFirst),
        (Some(64), CacheOrder::KeysFirst),
        (Some(128), CacheOrder::HeadsFirst),
        (Some(256), CacheOrder::KeysFirst),
    ] {
        let problem = match page {
            Some(size) => problem.clone().paged(size, 110, order)?,
            None => problem.clone().contiguous(order)?,
        };
        for parts in [1, 3] {
            Case { parts: Some(parts), ..of(problem.clone(), &lengths) }.verify(&device, 1)?;
        }
    }
    Ok(())
}

/// Rows of several tiles, of heads and of queries; a window that begins inside of a tile; strides with gaps.
#[test]
fn rows_windows_and_strides() -> Result<(), Failure> {
    let device = checked();
    for (queries, heads) in [(16, [8, 1]), (3, [5, 1]), (1, [40, 2]), (16, [17, 1])] {
        let problem = DecodeProblem::new(DType::F16, [2, queries], heads, 64, 150)?.map(with_lse)?;
        Case { parts: Some(2), ..of(problem.clone(), &[150, 7]) }.verify(&device, 2)?;
        let window = problem.map(|attention| attention.with_mask(window(70)))?;
        Case { parts: Some(2), ..of(window, &[150, 90]) }.verify(&device, 3)?;
    }
    let problem = DecodeProblem::new(DType::Bf16, [2, 2], [4, 2], 72, 100)?;
    let rows = [[512, 80, 1024], [400, 96, 800]];
    let keys = [[160, 80, 16_000], [80, 8000, 16_000]];
    of(problem.with_strides(rows, keys)?, &[100, 33]).verify(&device, 4)
}

/// A launch takes the lengths that stand in memory when it runs, as in a graph, and no more than there is room for.
#[test]
fn lengths_change_between_launches() -> Result<(), Failure> {
    let device = checked();
    let problem =
        DecodeProblem::new(DType::Bf16, [2, 1], [8, 1], 64, 200)?.paged(16, 40, CacheOrder::KeysFirst)?;
    let decode = Decode::planned(&device, &problem, choose(&problem, device.limits(), Some(2))?)?;
    let mut case = of(problem.clone(), &[200, 200]);
    let tensors = Tensors::<bf16, bf16>::new(&device, &case, 5)?;
    let graph = device.capture(|| decode.run(&tensors.args(&[])))?;
    for lengths in [[200u32, 200], [3, 199], [0, 64], [u32::MAX, 1000]] {
        tensors.lengths.write(&lengths)?;
        launch(&graph)?;
        case.lengths = lengths.map(|length| length.min(200)).to_vec();
        tensors.compare(&case)?;
    }
    Ok(())
}

#[expect(unsafe_code, reason = "the launch of a graph")]
fn launch(graph: &girih_device::Graph) -> Result<(), Failure> {
    // SAFETY: the calls in the graph are safe ones, and their buffers live as long as the graph.
    Ok(unsafe { graph.launch() }?)
}

#[test]
fn problems_and_buffers_that_do_not_fit_are_refused() -> Result<(), Failure> {
    let message = |result: Result<DecodeProblem, Error>| result.expect_err("bad input").to_string();
    let new = |dtype, sequences, heads, dim| DecodeProblem::new(dtype, sequences, heads, dim, 100);
    let good = new(DType::Bf16, [2, 2], [8, 2], 64)?;
    for (result, words) in [
        (new(DType::F32, [2, 1], [8, 2], 64), "f16 and bf16 are accepted"),
        (new(DType::F16, [2, 17], [8, 2], 64), "queries = 17: 1 to 16"),
        (new(DType::F16, [2, 1], [8, 3], 64), "divisors of 8 are accepted"),
        (new(DType::F16, [2, 1], [8, 2], 272), "head dim = 272: 1 to 256"),
        (new(DType::F16, [2, 1], [8, 2], 68), "multiples of 8 elements"),
        (good.clone().paged(48, 10, CacheOrder::KeysFirst), "16, 32, 64, 128 and 256"),
        (good.clone().with_cache(DType::F16, None), "e4m3 and e5m2"),
        (good.clone().map(|attention| attention.with_softcap(0.0)), "numbers from 2^-60 to 2^60"),
        (good.clone().with_strides([[512, 64, 1024]; 2], [[64, 8, 4]; 2]), "multiples of 8 elements"),
        (
            good.clone().with_strides([[512, 64, 960]; 2], [[64, 8, 4096]; 2]),
            "o is (2,64,8,2):(512,1,64,960)",
        ),
        (good.clone().map(|attention| attention.with_bias(DType::F32, [1, 8, 1])), "`bias`: a bias"),
        (
            good.clone().map(|attention| attention.with_mask(Mask::NONE)),
            "`mask`: none, but accepted are: causal",
        ),
        (good.map(|attention| attention.with_scale(-1.0)), "numbers from 2^-60 to 2^60"),
    ] {
        let found = message(result);
        assert!(found.contains(words), "{found}");
    }
    let good = new(DType::Bf16, [2, 1], [8, 2], 64)?;
    let device = checked();
    let decode = Decode::new(&device, &good.with_cache(DType::Bf16, Some(ScalesOf::Head))?)?;
    let room = |len| -> Result<Buffer<bf16>, Failure> { Ok(device.alloc(len)?) };
    let [q, o, k, v, small] = [room(1024)?, room(1024)?, room(25_600)?, room(25_600)?, room(1023)?];
    let (lengths, scales) = (device.zeros::<u32>(2)?, device.zeros::<f32>(2)?);
    let good = DecodeArgs {
        q: &q,
        kv: [&k, &v],
        lengths: &lengths,
        table: None,
        scales: Some([&scales, &scales]),
        o: &o,
        given: &[],
    };
    decode.run(&good)?;
    let refused = |args: DecodeArgs<'_, bf16, bf16>| decode.run(&args).expect_err("bad input").to_string();
    for (args, words) in [
        (DecodeArgs { q: &small, ..good }, "Q needs 1024 elements, its buffer has 1023"),
        (DecodeArgs { o: &q, ..good }, "O and Q have 2048 bytes in common"),
        (DecodeArgs { scales: None, ..good }, "`scales`: no buffer, but accepted are: a buffer"),
        (DecodeArgs { table: Some(&lengths), ..good }, "`table`: a buffer"),
        (DecodeArgs { kv: [&k, &small], ..good }, "V needs 25600 elements"),
    ] {
        let found = refused(args);
        assert!(found.contains(words), "{found}");
    }
    let other = device.zeros::<f16>(25_600)?;
    let wrong = DecodeArgs {
        q: &q,
        kv: [&other, &other],
        lengths: &lengths,
        table: None,
        scales: None,
        o: &o,
        given: &[],
    };
    assert!(decode.run(&wrong).expect_err("bad input").to_string().contains("the buffers hold f16"));
    Ok(())
}

/// A plan is checked as a problem is: kernels of another problem would access what this one does not have.
#[test]
fn plans_of_other_problems_are_refused() -> Result<(), Failure> {
    let device = checked();
    let problem = DecodeProblem::new(DType::Bf16, [2, 3], [8, 2], 72, 100)?;
    let good = choose(&problem, device.limits(), Some(2))?;
    Decode::planned(&device, &problem, good.clone())?;
    let mut plans = vec![];
    let mut change = |words, change: &dyn Fn(&mut DecodePlan)| {
        let mut plan = good.clone();
        change(&mut plan);
        plans.push((plan, words));
    };
    change("columns are 64: the problem takes 72 or more", &|plan| plan.config.head_dim = 64);
    change("facts are", &|plan| plan.config.features.padded = false);
    change("facts are", &|plan| plan.config.features.parts = false);
    change("facts are", &|plan| plan.config.features.lse = true);
    change("facts are", &|plan| (plan.config.dtype, plan.config.cache) = (DType::F16, DType::F16));
    change("facts are", &|plan| plan.config.page = Some(16));
    change("tiles of rows are [1, 2]", &|plan| plan.tiles[1] = 2);
    change("tiles of rows are", &|plan| plan.grid[0] = 3);
    change("parts = 257: 1 to 256", &|plan| plan.parts = 257);
    change("least tiles = 0", &|plan| plan.least_tiles = 0);
    change("powers of two are accepted, whose product is 16 or 64", &|plan| plan.config.rows = [0, 16]);
    for (plan, words) in plans {
        let found = Decode::planned(&device, &problem, plan).expect_err("of another problem").to_string();
        assert!(found.contains(words), "{found}");
    }
    Ok(())
}

/// As many parts as let all multiprocessors share the memory, and no more than are worth it.
#[test]
fn parts_follow_from_blocks_and_keys() -> Result<(), Failure> {
    let mut limits = checked().limits().clone();
    limits.multiprocessors = 132;
    let parts = |batches, groups, keys| -> Result<i64, Failure> {
        let problem = DecodeProblem::new(DType::Bf16, [batches, 1], [8 * groups, groups], 128, keys)?;
        Ok(choose(&problem, &limits, None)?.parts)
    };
    // GPUs that have 99 KiB of shared memory for a block take no heads of 256 columns of 16 bits.
    let mut small = limits.clone();
    (small.sm, small.shared_per_multiprocessor, small.shared_per_block_optin) = (86, 100 << 10, 99 << 10);
    for (dim, cache, taken) in [
        (128, DType::Bf16, true),
        (256, DType::E4m3, true),
        (200, DType::Bf16, false),
        (256, DType::Bf16, false),
    ] {
        let problem = DecodeProblem::new(DType::Bf16, [1, 1], [8, 1], dim, 100)?.with_cache(cache, None)?;
        match choose(&problem, &small, None) {
            Ok(plan) => {
                assert!(taken, "{plan:?}");
                let bytes = generate(&plan.config)?.kernel.shared_bytes();
                assert!(bytes <= small.shared_per_block_optin, "{bytes}: {plan:?}");
            }
            Err(error) => {
                let words = "does not take the head dim 256; accepted are: those of which 2 tiles";
                assert!(!taken && error.to_string().contains(words), "{dim} {cache}: {error}");
            }
        }
    }
    assert_eq!(parts(64, 8, 8192)?, 1);
    assert_eq!(parts(1, 1, 64)?, 1);
    // No part has more than 8192 keys, since other sequences may be shorter.
    assert_eq!(parts(64, 8, 65_536)?, 8);
    for (batches, keys) in [(1, 8192), (1, 65_536), (4, 65_536)] {
        let parts = parts(batches, 8, keys)?;
        // The blocks fill the multiprocessors to nine tenths or more.
        let blocks = (8 * batches * parts) as f64 / 132.0;
        assert!(blocks / blocks.ceil() > 0.9, "{batches}, {keys}: {parts} parts");
    }
    Ok(())
}
