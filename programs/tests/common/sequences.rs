//! Attention, recurrences, convolutions and sampling against what they mean, in f64.

use girih_tensor::Element;
use girih_tile::elem::{Float, Mma, StoreTo};
use girih_tile::error::Error;
use girih_tile::launch::HostElement;
use half::bf16;

use crate::on::{Host, On, near, run};

/// What of attention: queries `[at..]` of one head and its keys and values, all with rows of `d`, in memory with these distances of rows.
fn attended(q: &[f64], k: &[f64], v: &[f64], d: usize, scale: f64, causal: bool) -> Vec<f64> {
    let (queries, keys) = (q.len() / d, k.len() / d);
    let mut o = Vec::new();
    for (i, q) in q.chunks(d).enumerate() {
        let seen = if causal { (i + 1 + keys).saturating_sub(queries) } else { keys };
        let score = |k: &[f64]| scale * q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>();
        let scores: Vec<f64> = k.chunks(d).take(seen).map(score).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        o.extend((0..d).map(|e| weights.iter().zip(v.chunks(d)).map(|(w, v)| w * v[e]).sum::<f64>() / sum));
    }
    o
}

/// Attention of heads that share keys, of as many keys as queries and of more, and of sequences of different lengths.
pub(crate) fn attention<
    T: HostElement + Element + Mma<f32> + StoreTo<T>,
    const BM: usize,
    const BN: usize,
    const D: usize,
    const CAUSAL: bool,
>(
    on: &On,
    sizes: &[[usize; 2]],
    bound: f64,
) -> Result<(), Error> {
    let (batch, heads, groups) = (2, 4, 2);
    let scale = 0.7 / (D as f32).sqrt();
    for &[queries, keys] in sizes {
        let q = Host::<T, 4>::random(1, [batch, heads, queries, D], 3.0);
        let k = Host::<T, 4>::random(2, [batch, groups, keys, D], 3.0);
        let v = Host::<T, 4>::random(3, [batch, groups, keys, D], 3.0);
        let mut o = Host::<T, 4>::poisoned([batch, heads, queries, D]);
        let grid = [queries.div_ceil(BM) as u32, heads as u32, batch as u32];
        run!(on, attention[T, BM, BN, D, CAUSAL](q, k, v => o; scale), grid);
        let (q, k, v) = (q.wide(), k.wide(), v.wide());
        let wanted: Vec<f64> = (0..batch * heads)
            .flat_map(|head| {
                let group = head / heads * groups + head % heads * groups / heads;
                let part = |x: &[f64], at: usize, rows: usize| x[at * rows * D..(at + 1) * rows * D].to_vec();
                let (k, v) = (part(&k, group, keys), part(&v, group, keys));
                attended(&part(&q, head, queries), &k, &v, D, scale.into(), CAUSAL)
            })
            .collect();
        near(&format!("attention {} {queries} x {keys}", T::DTYPE), &o.elements, &wanted, bound);
    }
    let starts = [0, 5, 5, sizes[0][0], sizes[0][0] + BM + 1];
    let tokens = starts[4];
    let q = Host::<T, 3>::random(1, [tokens, heads, D], 3.0);
    let k = Host::<T, 3>::random(2, [tokens, groups, D], 3.0);
    let v = Host::<T, 3>::random(3, [tokens, groups, D], 3.0);
    let at = Host::of([starts.len()], starts.map(|start| start as i32).to_vec());
    let mut o = Host::<T, 3>::poisoned([tokens, heads, D]);
    let longest = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let grid = [longest.div_ceil(BM) as u32, heads as u32, starts.len() as u32 - 1];
    run!(on, attention_varlen[T, BM, BN, D, CAUSAL](q, k, v, at => o; scale), grid);
    let (q, k, v) = (q.wide(), k.wide(), v.wide());
    let mut wanted = vec![0.0; tokens * heads * D];
    for (pair, head) in starts.windows(2).flat_map(|pair| (0..heads).map(move |head| (pair, head))) {
        let rows = |x: &[f64], heads: usize, head: usize| {
            let row = |token: usize| &x[(token * heads + head) * D..][..D];
            (pair[0]..pair[1]).flat_map(|token| row(token).to_vec()).collect::<Vec<_>>()
        };
        let group = head * groups / heads;
        let o = attended(
            &rows(&q, heads, head),
            &rows(&k, groups, group),
            &rows(&v, groups, group),
            D,
            scale.into(),
            CAUSAL,
        );
        for (token, o) in (pair[0]..pair[1]).zip(o.chunks(D)) {
            wanted[(token * heads + head) * D..][..D].copy_from_slice(o);
        }
    }
    near(&format!("attention {} of sequences", T::DTYPE), &o.elements, &wanted, bound);
    Ok(())
}

/// Attention whose scores are all one large number: the mean of the values.
pub(crate) fn equal_scores<
    T: HostElement + Element + Mma<f32> + StoreTo<T>,
    const BM: usize,
    const BN: usize,
    const D: usize,
>(
    on: &On,
    bound: f64,
) -> Result<(), Error> {
    let (queries, keys) = (3, BN + 5);
    let v = Host::<T, 4>::random(3, [1, 1, keys, D], 3.0);
    let values = v.wide();
    for (size, scale) in [(31623.0, 0.3), (31623.0, 1e15), (-31623.0, 1e15), (0.0, 1.0)] {
        let all = |rows: usize, x: f64| Host::of([1, 1, rows, D], vec![T::from_f64(x); rows * D]);
        let (q, k) = (all(queries, size), all(keys, f64::abs(size)));
        let mut o = Host::<T, 4>::poisoned([1, 1, queries, D]);
        let grid = [queries.div_ceil(BM) as u32, 1, 1];
        run!(on, attention[T, BM, BN, D, false](q, k, v => o; scale), grid);
        let mean = |e: usize| (0..keys).map(|key| values[key * D + e]).sum::<f64>() / keys as f64;
        let wanted: Vec<f64> = (0..queries).flat_map(|_| (0..D).map(mean)).collect();
        near(&format!("scores of {size}^2 times {scale}"), &o.elements, &wanted, bound);
    }
    Ok(())
}

/// The scan of chunks, token by token.
pub(crate) fn recurrences<
    T: HostElement + Element + Float + Mma<f32>,
    const C: usize,
    const D: usize,
    const E: usize,
>(
    on: &On,
    tokens: usize,
    bound: f64,
) -> Result<(), Error> {
    let heads = 2;
    let q = Host::<T, 3>::random(1, [heads, tokens, D], 1.0);
    let k = Host::<T, 3>::random(2, [heads, tokens, D], 1.0);
    let v = Host::<T, 3>::random(3, [heads, tokens, E], 1.0);
    let mut decay = Host::<f32, 2>::random(4, [heads, tokens], 0.5);
    decay.elements.iter_mut().for_each(|decay| *decay = -decay.abs());
    let mut y = Host::<T, 3>::poisoned([heads, tokens, E]);
    run!(on, chunk_scan[T, C, D, E](q, k, v, decay => y), [heads as u32]);
    let (q, k, v, decay) = (q.wide(), k.wide(), v.wide(), decay.wide());
    let mut wanted = Vec::new();
    for head in 0..heads {
        let mut state = [[0.0; E]; D];
        for t in head * tokens..(head + 1) * tokens {
            for (i, row) in state.iter_mut().enumerate() {
                let from = |e: usize| k[t * D + i] * v[t * E + e];
                row.iter_mut().enumerate().for_each(|(e, x)| *x = *x * decay[t].exp() + from(e));
            }
            wanted.extend((0..E).map(|e| (0..D).map(|i| q[t * D + i] * state[i][e]).sum::<f64>()));
        }
    }
    near(&format!("chunks of {}", T::DTYPE), &y.elements, &wanted, bound);
    Ok(())
}

/// Convolutions by tiles that overlap and by rows that are gathered.
pub(crate) fn convolutions<const B: usize, const BO: usize, const BC: usize>(
    on: &On,
    [images, height, width, channels, outputs]: [usize; 5],
) -> Result<(), Error> {
    for (filter, pad) in [([3, 3], 1), ([1, 1], 0), ([2, 3], 0)] {
        let x = Host::<bf16, 4>::random(1, [images, height, width, channels], 1.0);
        let w = Host::<bf16, 4>::random(2, [filter[0], filter[1], channels, outputs], 1.0);
        let size = |stride: usize, of: usize, filter: usize| (of + 2 * pad - filter) / stride + 1;
        let wanted = |stride: usize| {
            let (p, q) = (size(stride, height, filter[0]), size(stride, width, filter[1]));
            let (x, w) = (x.wide(), w.wide());
            let mut y = vec![0.0; images * p * q * outputs];
            for (at, y) in y.chunks_mut(outputs).enumerate() {
                let (n, row, column) = (at / (p * q), at / q % p, at % q);
                for (r, s) in (0..filter[0]).flat_map(|r| (0..filter[1]).map(move |s| (r, s))) {
                    let (h, v) =
                        ((stride * row + r).wrapping_sub(pad), (stride * column + s).wrapping_sub(pad));
                    if h < height && v < width {
                        for c in 0..channels {
                            let x = x[((n * height + h) * width + v) * channels + c];
                            let w = &w[((r * filter[1] + s) * channels + c) * outputs..][..outputs];
                            y.iter_mut().zip(w).for_each(|(y, w)| *y += x * w);
                        }
                    }
                }
            }
            ([p, q], y)
        };
        let what = format!("convolution by {} x {}", filter[0], filter[1]);
        let ([p, q], one) = wanted(1);
        let mut y = Host::<bf16, 4>::poisoned([images, p, q, outputs]);
        let grid = [q.div_ceil(B) as u32, outputs.div_ceil(BO) as u32, (images * p) as u32];
        run!(on, conv2d[bf16, B, BO, BC](x, w => y; pad as i32), grid);
        near(&what, &y.elements, &one, 1e-5);

        let x = Host::of([images * height * width, channels], x.elements.clone());
        let run = |stride: usize, [p, q]: [usize; 2], wanted: &[f64]| -> Result<(), Error> {
            let mut y = Host::<bf16, 2>::poisoned([images * p * q, outputs]);
            let grid = [(images * p * q).div_ceil(B) as u32, outputs.div_ceil(BO) as u32];
            let (of_x, of_y) = ((height as i32, width as i32), (p as i32, q as i32));
            match stride {
                1 => run!(on, conv2d_gather[bf16, B, BO, BC, 1](x, w => y; of_x, of_y, pad as i32), grid),
                _ => run!(on, conv2d_gather[bf16, B, BO, BC, 2](x, w => y; of_x, of_y, pad as i32), grid),
            }
            near(&format!("{what}, gathered in steps of {stride}"), &y.elements, wanted, 1e-5);
            Ok(())
        };
        run(1, [p, q], &one)?;
        let (size, two) = wanted(2);
        run(2, size, &two)?;
    }
    Ok(())
}

/// The best of all tokens, and what is drawn from the best few of equal rows as often as it is likely.
pub(crate) fn samples<const K: usize, const N: usize>(
    on: &On,
    [rows, vocabulary]: [usize; 2],
) -> Result<(), Error> {
    let logits = Host::<bf16, 2>::random(1, [5, vocabulary], 8.0);
    let mut tokens = Host::<i32, 1>::poisoned([5]);
    run!(on, sample_top_k[bf16, 1, N](logits => tokens; 1f32, 7u64), [5]);
    for (row, token) in logits.elements.chunks(vocabulary).zip(&tokens.elements) {
        let best = (0..vocabulary).fold(0, |best, i| if row[i] > row[best] { i } else { best });
        assert_eq!(row[best], row[*token as usize], "token {token}, not {best}");
    }

    let one = Host::<bf16, 2>::random(2, [1, vocabulary], 4.0);
    let logits = Host::of([rows, vocabulary], one.elements.repeat(rows));
    let mut tokens = Host::<i32, 1>::poisoned([rows]);
    let temperature = 1.5f32;
    run!(on, sample_top_k[bf16, K, N](logits => tokens; temperature, 42u64), [rows as u32]);
    let x = one.wide();
    let mut order: Vec<usize> = (0..vocabulary).collect();
    order.sort_by(|&a, &b| x[b].total_cmp(&x[a]));
    let weight = |token: usize| (x[token] / f64::from(temperature)).exp();
    let last = weight(order[K - 1]);
    let all: f64 = order[..K].iter().map(|&token| weight(token)).sum();
    for &token in &tokens.elements {
        assert!(weight(token as usize) >= last, "{token} is not among the {K} likeliest");
    }
    // Of tokens that are as likely as the first one left out, any may be among the few.
    for &token in order[..K].iter().filter(|&&token| weight(token) > weight(order[K])) {
        let found = tokens.elements.iter().filter(|&&found| found as usize == token).count() as f64;
        let p = weight(token) / all;
        // Five standard deviations of the binomial distribution.
        let apart = (found - p * rows as f64).abs();
        assert!(apart <= 5.0 * (rows as f64 * p * (1.0 - p)).sqrt() + 1.0, "{token}: {found} of {rows}, {p}");
    }
    let mut again = Host::<i32, 1>::poisoned([rows]);
    run!(on, sample_top_k[bf16, K, N](logits => again; temperature, 42u64), [rows as u32]);
    assert_eq!(tokens.elements, again.elements);
    Ok(())
}
