//! Problems of attention and the check of their results, against sums over all pairs and rounded sums on the host.

use girih_kernels::Error;
use girih_kernels::attention::decode::DecodeProblem;
use girih_kernels::attention::{
    Diagonal, Host, MAX_LENGTH, Mask, Order, Problem, Tensor4, Verdict, check, row,
};

use girih_tensor::{DType, Element};
use half::{bf16, f16};

use crate::common::Failure;
use crate::common::attention::{Inputs, Values};

/// O and the logarithms as a kernel of f32 would have them, whose powers are of the dtype. Keys for which `sees` does not hold are left out.
fn computed<T: Element>(
    inputs: &Inputs<T>,
    problem: &Problem,
    sees: impl Fn(i64, i64) -> bool,
) -> (Vec<T>, Vec<f32>) {
    let nan = T::from_f64(f64::NAN);
    let mut o = vec![nan; problem.array(Tensor4::O).span() as usize + 3];
    let mut lse = vec![f32::NAN; problem.lse_len() as usize];
    let [q, k, v, to] = Tensor4::ALL.map(|tensor| problem.array(tensor));
    let float = |x: T| x.to_f64() as f32;
    for sequence in problem.sequences() {
        let own = |query| query + problem.mask().diagonal().key(sequence.queries, sequence.keys);
        for (head, query) in
            (0..problem.heads()).flat_map(|head| (0..sequence.queries).map(move |row| (head, row)))
        {
            let (group, at) = (head * problem.kv_heads() / problem.heads(), sequence.first_query + query);
            let mut all = Vec::new();
            for key in (0..sequence.keys).filter(|&key| sees(query, key)) {
                let left = problem.mask().left().is_none_or(|left| key >= own(query) - left);
                let right = problem.mask().right().is_none_or(|right| key <= own(query) + right);
                if !left || !right {
                    continue;
                }
                let from = sequence.first_key + key;
                let mut score = (0..problem.head_dim()).fold(0.0, |sum, column| {
                    let q = float(inputs.q[q.offset(at, column, head, sequence.batch) as usize]);
                    q.mul_add(float(inputs.k[k.offset(from, column, group, sequence.batch) as usize]), sum)
                });
                score *= problem.scale();
                score = problem.softcap().map_or(score, |cap| cap * (score / cap).tanh());
                if let Some(bias) = problem.bias() {
                    score += inputs.bias[bias.offset(query, key, head, sequence.batch) as usize];
                }
                all.push((from, score));
            }
            let sink = inputs.sinks.get(head as usize).copied().unwrap_or(f32::NEG_INFINITY);
            let most = all.iter().fold(sink, |most, (_, score)| most.max(*score));
            let powers: Vec<f32> = all.iter().map(|(_, score)| (score - most).exp()).collect();
            let of_sink = if sink == f32::NEG_INFINITY { 0.0 } else { (sink - most).exp() };
            let sum = powers.iter().sum::<f32>() + of_sink;
            for column in 0..problem.columns(Tensor4::V) {
                let weighted = all.iter().zip(&powers).fold(0.0, |out, ((from, _), power)| {
                    let v = float(inputs.v[v.offset(*from, column, group, sequence.batch) as usize]);
                    float(T::from_f64(f64::from(*power))).mul_add(v, out)
                });
                let value = if sum == 0.0 { 0.0 } else { weighted / sum };
                o[to.offset(at, column, head, sequence.batch) as usize] = T::from_f64(value.into());
            }
            if problem.lse() {
                lse[problem.lse_offset(at, head, sequence.batch) as usize] = most + sum.ln();
            }
        }
    }
    (o, lse)
}
fn problems() -> Result<Vec<Problem>, Error> {
    let new = |order, sizes| Problem::new(DType::F32, order, sizes);
    let packed = new(Order::Bshd, [1, 4, 40, 50, 16])?
        .with_lse(true)
        .packed(&[0, 9, 9, 30, 37], &[3, 3, 20, 41, 50])?;
    Ok(vec![
        new(Order::Bshd, [2, 4, 13, 29, 24])?.with_kv_heads(2)?,
        new(Order::Bhsd, [2, 3, 29, 13, 8])?.with_mask(Mask::causal(Diagonal::BottomRight))?.with_lse(true),
        new(Order::Bhsd, [1, 3, 29, 13, 8])?.with_mask(Mask::causal(Diagonal::TopLeft))?.with_lse(true),
        new(Order::Bshd, [1, 2, 40, 50, 16])?.with_mask(Mask::window(
            Some(3),
            Some(6),
            Diagonal::BottomRight,
        ))?,
        new(Order::Bhsd, [2, 2, 20, 30, 16])?
            .with_softcap(3.0)?
            .with_scale(1.5)?
            .with_bias(DType::F32, [1, 2, 20])?
            .with_lse(true),
        new(Order::Bhsd, [3, 2, 5, 30, 1])?.with_bias(DType::F32, [3, 1, 1])?,
        packed.clone(),
        packed.with_mask(Mask::causal(Diagonal::BottomRight))?.with_kv_heads(1)?,
        new(Order::Bshd, [2, 2, 5, 0, 8])?.with_lse(true),
        new(Order::Bshd, [0, 2, 5, 7, 8])?.with_lse(true),
        new(Order::Bshd, [2, 4, 13, 29, 24])?.with_kv_heads(2)?.with_sinks(true),
        new(Order::Bhsd, [2, 3, 29, 13, 8])?
            .with_mask(Mask::causal(Diagonal::BottomRight))?
            .with_softcap(3.0)?
            .with_lse(true)
            .with_sinks(true),
        // The heads of K and V beside those of Q, as a projection leaves all three.
        new(Order::Bshd, [2, 2, 7, 7, 8])?
            .with_strides(Tensor4::Q, [48, 8, 336])?
            .with_strides(Tensor4::O, [20, 9, 150])?,
    ])
}

/// Rounded sums pass, and sums that lack one key, or see one too many, do not.
#[test]
fn what_a_kernel_rounds_passes_and_what_it_misses_does_not() -> Result<(), Failure> {
    fn one<T: Element>(problem: &Problem, seed: u64) -> Result<(), Failure> {
        let inputs = Inputs::<T>::new(problem, seed, Values::Uniform(2.0));
        let (o, lse) = computed(&inputs, problem, |_, _| true);
        let poison = Some(T::from_f64(f64::NAN));
        let found = check(problem, &inputs.host(), &o, &lse, poison)?;
        assert!(found.passed(), "{problem:?}: {found:?}");
        assert_eq!(found.compared, found.rows);
        let Some(sequence) = problem.sequences().filter(|s| s.queries.min(s.keys) > 0).last() else {
            return Ok(());
        };
        let (query, keys) = (
            sequence.queries - 1,
            problem.mask().keys(sequence.queries - 1, sequence.queries, sequence.keys),
        );
        if keys.end - keys.start < 2 {
            return Ok(());
        }
        let lacking = computed(&inputs, problem, |row, key| row != query || key != keys.end - 1);
        assert!(!check(problem, &inputs.host(), &lacking.0, &lacking.1, poison)?.passed(), "{problem:?}");
        let mut written = o.clone();
        let end = written.len() - 1;
        written[end] = T::from_f64(1.0);
        assert_eq!(check(problem, &inputs.host(), &written, &lse, poison)?.padding_written, 1);
        Ok(())
    }
    for (seed, problem) in (0..).zip(problems()?) {
        one::<f32>(&problem, seed)?;
    }
    let sizes = [1, 2, 40, 60, 32];
    for mask in [Mask::NONE, Mask::causal(Diagonal::BottomRight)] {
        one::<bf16>(&Problem::new(DType::Bf16, Order::Bshd, sizes)?.with_mask(mask)?, 20)?;
        one::<f16>(&Problem::new(DType::F16, Order::Bshd, sizes)?.with_mask(mask)?, 21)?;
    }
    Ok(())
}

/// Where f32 may round away what decides between scores, the check says that it cannot judge, whatever O holds; where scores are exact, it judges.
#[test]
fn bounds_that_accept_everything_do_not_pass() -> Result<(), Failure> {
    let problem = Problem::new(DType::F32, Order::Bshd, [1, 1, 1, 2, 2])?.with_scale(1.0)?;
    let verdict = |q: [f32; 2], k: [f32; 4], o: [f32; 2]| -> Result<Verdict, Failure> {
        let host = Host { q: &q, k: &k, v: &[1.0, 0.0, 0.0, 1.0], bias: &[], sinks: &[] };
        Ok(check(&problem, &host, &o, &[], None)?.verdict())
    };
    // The scores are 2e8 and 2e8 + 3, whose products f32 rounds.
    let (q, k) = ([1e4 + 0.1, 1e4], [1e4, 1e4, 1e4, 1e4 + 0.0003]);
    for o in [[0.05, 0.95], [0.5, 0.5], [1.0, 0.0]] {
        let told = verdict(q, k, o)?;
        assert!(matches!(told, Verdict::CannotJudge { bound, norm } if bound > 0.1 * norm), "{told:?}");
        assert!(told.to_string().starts_with("this check cannot judge: the bounds have norm "), "{told}");
    }
    // The same sizes with few digits: 2^28 and 2^28 + 2^14 or the same.
    let (q, equal) = ([16384.0, 16384.0], [8192.0, 8192.0, 8192.0, 8192.0]);
    assert_eq!(verdict(q, equal, [0.5, 0.5])?, Verdict::Passed);
    assert_eq!(verdict(q, equal, [0.0, 0.0])?, Verdict::Failed);
    assert_eq!(verdict(q, equal, [f32::NAN, 0.5])?, Verdict::Failed);
    let greater = [8192.0, 8192.0, 8192.0, 8193.0];
    assert_eq!(verdict(q, greater, [0.0, 1.0])?, Verdict::Passed);
    assert_eq!(verdict(q, greater, [0.5, 0.5])?, Verdict::Failed);
    Ok(())
}

/// Rows are NaN where a key that they see has a value or a score that is none, and nowhere else.
#[test]
fn results_are_not_numbers_where_the_definition_says_so() -> Result<(), Failure> {
    let problem =
        Problem::new(DType::F32, Order::Bshd, [1, 1, 2, 2, 1])?.with_mask(Mask::causal(Diagonal::TopLeft))?;
    let nan = f32::NAN;
    let host = Host { q: &[1.0f32, 1.0], k: &[1.0, 1.0], v: &[2.0, nan], bias: &[], sinks: &[] };
    let verdict = |o: [f32; 2]| Ok::<_, Failure>(check(&problem, &host, &o, &[], None)?.verdict());
    assert_eq!(verdict([2.0, nan])?, Verdict::Passed);
    for wrong in [[nan, nan], [2.0, 2.0], [2.5, nan], [2.0, f32::INFINITY]] {
        assert_eq!(verdict(wrong)?, Verdict::Failed, "{wrong:?}");
    }
    Ok(())
}

/// What f64 makes of a row is what sums over all pairs are, with the mask as its two inequalities say.
#[test]
fn masks_are_their_inequalities() -> Result<(), Failure> {
    let limits = [None, Some(0), Some(2), Some(100)];
    for (left, right) in limits.into_iter().flat_map(|left| limits.map(|right| (left, right))) {
        for diagonal in [Diagonal::TopLeft, Diagonal::BottomRight] {
            let mask = Mask::window(left, right, diagonal);
            for (queries, keys) in [(7, 7), (3, 9), (9, 3), (4, 0)] {
                for query in 0..queries {
                    let own = query + if diagonal == Diagonal::TopLeft { 0 } else { keys - queries };
                    let sees = |key: &i64| {
                        left.is_none_or(|left| *key >= own - left)
                            && right.is_none_or(|right| *key <= own + right)
                    };
                    let seen: Vec<i64> = mask.keys(query, queries, keys).collect();
                    assert_eq!(
                        seen,
                        (0..keys).filter(sees).collect::<Vec<_>>(),
                        "{mask} {query} {queries} {keys}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// The operations that are counted are those of the pairs that are seen, and large problems are sampled from the first to the last row.
#[test]
fn large_problems_are_sampled() -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, Order::Bhsd, [1, 2, 1500, 1500, 64])?;
    assert_eq!(problem.flops(), 4.0 * 2.0 * 64.0 * 1500.0 * 1500.0);
    let causal = problem.clone().with_mask(Mask::causal(Diagonal::TopLeft))?;
    assert_eq!(causal.flops(), 4.0 * 2.0 * 64.0 * 1500.0 * 1501.0 / 2.0);
    let inputs = Inputs::<bf16>::new(&problem, 5, Values::Uniform(2.0));
    let sequence = problem.sequences().next().ok_or("a batch")?;
    let mut o = vec![bf16::ZERO; problem.array(Tensor4::O).span() as usize];
    let found = check(&problem, &inputs.host(), &o, &[], None)?;
    assert_eq!((found.compared, found.rows, found.passed()), (192, 3000, false));
    assert!((found.relative_error - 1.0).abs() < 1e-9);
    // The last row alone is right.
    let last = row(&problem, &inputs.host(), &sequence, 1, 1499)?;
    for (place, value) in o.iter_mut().rev().zip(last.output.iter().rev()) {
        *place = bf16::from_f64(*value);
    }
    let better = check(&problem, &inputs.host(), &o, &[], None)?;
    assert!(better.relative_error < found.relative_error && !better.passed());
    Ok(())
}

#[test]
fn refusals_say_what_is_accepted() -> Result<(), Failure> {
    let told = |result: Result<Problem, Error>| result.expect_err("bad input").to_string();
    let problem = Problem::new(DType::Bf16, Order::Bshd, [2, 6, 10, 20, 64])?;
    assert_eq!(
        told(Problem::new(DType::S8, Order::Bshd, [1; 5])),
        "kernel attention does not take s8: f32, f16 and bf16 are accepted"
    );
    for (sizes, what) in [
        ([1, 0, 1, 1, 1], "heads = 0: 1 to 65535"),
        ([1, 1, -1, 1, 1], "queries = -1: 0 to 268435456"),
        ([1, 1, 1, 1, 513], "head dim = 513: 1 to 512"),
        ([1, 1, 1, MAX_LENGTH + 1, 1], "keys = 268435457: 0 to 268435456"),
    ] {
        assert_eq!(
            told(Problem::new(DType::F32, Order::Bhsd, sizes)),
            format!("{what} elements are accepted")
        );
    }
    assert_eq!(
        told(problem.clone().with_kv_heads(4)),
        "6 heads of queries with 4 of keys and values: divisors of 6 are accepted"
    );
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-38, 3e38] {
        assert!(told(problem.clone().with_scale(scale)).starts_with("scale = "), "{scale}");
        assert!(
            told(problem.clone().with_softcap(scale)).ends_with("numbers from 2^-60 to 2^60 are accepted")
        );
    }
    assert_eq!(
        told(problem.clone().with_strides(Tensor4::O, [384, 64, 3839])),
        "o is (10,64,6,2):(384,1,64,3839): strides are accepted with which no two coordinates have one element"
    );
    assert!(problem.clone().with_strides(Tensor4::K, [384, 64, 3839]).is_ok());
    assert_eq!(
        told(problem.clone().with_bias(DType::F32, [2, 3, 1])),
        "`bias`: 2 batches, 3 heads and 1 queries, but accepted are: 2, 6 and 10, or 1 of each"
    );
    assert_eq!(
        told(problem.clone().with_bias(DType::F16, [1, 1, 1])),
        "`bias`: f16, but accepted are: f32 and bf16"
    );
    // What 64 bits do not hold is refused, or larger than every buffer.
    let vast =
        Problem::new(DType::Bf16, Order::Bshd, [MAX_LENGTH, 1 << 15, 1 << 23, 1 << 15, 1])?.with_lse(true);
    assert_eq!([vast.array(Tensor4::O).span(), vast.lse_len()], [i64::MAX; 2]);
    assert_eq!(vast.with_bias(DType::F32, [MAX_LENGTH, 1, 1])?.bias_len(), MAX_LENGTH << 15);
    let long = Problem::new(DType::Bf16, Order::Bshd, [2, 1 << 9, MAX_LENGTH, MAX_LENGTH, 1])?;
    assert!(told(long.with_bias(DType::F32, [2, 1 << 9, MAX_LENGTH])).starts_with("stride of heads = "));
    assert_eq!(
        told(problem.clone().packed(&[0], &[0])),
        "`batches`: 2, but accepted are: 1 for packed sequences"
    );
    let one = Problem::new(DType::Bf16, Order::Bshd, [1, 6, 10, 20, 64])?;
    for (queries, keys, message) in [
        (
            &[][..],
            &[][..],
            "`cu_seqlens_q`: 0 numbers up to 0, but accepted are: numbers that do not fall, up to the 10 rows",
        ),
        (
            &[0, 5, 4],
            &[0, 1, 2],
            "`cu_seqlens_q`: 3 numbers up to 5, but accepted are: numbers that do not fall, up to the 10 rows",
        ),
        (
            &[0, 10],
            &[0, 21],
            "`cu_seqlens_k`: 2 numbers up to 21, but accepted are: numbers that do not fall, up to the 20 rows",
        ),
        (&[0, 10], &[0, 1, 2], "`cu_seqlens_k`: 3 numbers, but accepted are: 2, as of queries"),
    ] {
        assert_eq!(told(one.clone().packed(queries, keys)), message);
    }
    assert!(one.with_bias(DType::F32, [1, 1, 1])?.packed(&[0], &[0]).is_err());
    let host = Host { q: &[bf16::ONE], k: &[], v: &[], bias: &[], sinks: &[] };
    let error = check(&problem, &host, &[], &[], None).expect_err("too small").to_string();
    assert_eq!(error, "q needs 7680 elements, its buffer has 1");
    Ok(())
}

/// The strides of a mode of one element, and of tensors without elements, do not count, whatever they are.
#[test]
fn strides_of_single_elements_do_not_count() -> Result<(), Failure> {
    for sizes in
        [[1, 2, 3, 4, 8], [2, 1, 3, 4, 8], [2, 3, 1, 1, 8], [1, 1, 1, 1, 8], [2, 3, 0, 4, 8], [0, 3, 2, 4, 8]]
    {
        let tight = Problem::new(DType::Bf16, Order::Bhsd, sizes)?;
        let [batches, heads, queries, keys, _] = sizes;
        for tensor in Tensor4::ALL {
            let rows = if matches!(tensor, Tensor4::Q | Tensor4::O) { queries } else { keys };
            let extents = [rows, heads, batches];
            for wild in [0, -1, 1 << 31, 1 << 41, i64::MIN] {
                for mode in 0..3 {
                    let mut strides = tight.array(tensor).strides();
                    strides[mode] = wild;
                    let found = tight.clone().with_strides(tensor, strides);
                    let counts = extents[mode] > 1 && !extents.contains(&0);
                    // An O of stride 0 has rows with elements in common.
                    let least = if tensor == Tensor4::O { 1 } else { 0 };
                    let most = if mode == 0 { 1 << 30 } else { 1 << 38 };
                    assert_eq!(
                        found.is_ok(),
                        !counts || (least..=most).contains(&wild),
                        "{tensor:?} {mode} {wild} of {sizes:?}"
                    );
                    if !counts {
                        assert_eq!(found?.array(tensor), tight.array(tensor));
                    }
                }
            }
        }
        let bias = tight.clone().with_bias_strides(DType::F32, [1 << 41; 3]);
        let counts =
            sizes[..3].iter().any(|&extent| extent > 1) && sizes[..4].iter().all(|&extent| extent > 0);
        assert_eq!(bias.is_err(), counts, "{sizes:?}");
    }
    let decode = DecodeProblem::new(DType::Bf16, [1, 1], [1, 1], 64, 1)?;
    let other = decode.clone().with_strides([[1 << 41, -3, 7]; 2], [[i64::MIN, 1, 1 << 50]; 2])?;
    for tensor in Tensor4::ALL {
        assert_eq!(other.attention().array(tensor), decode.attention().array(tensor));
    }
    assert_eq!((other.row_spans(), other.key_spans()), (decode.row_spans(), decode.key_spans()));
    for of_values in [false, true] {
        assert_eq!(other.key_at(of_values, [1, 1, 1]), 0);
    }
    Ok(())
}
