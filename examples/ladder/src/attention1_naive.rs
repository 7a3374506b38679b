//! Attention 1, naive: a warp for each query goes through the keys one by one, with an online softmax. A lane has 4 of the 128 columns.

use girih::codegen::algorithm::{read, warp_reduce, write};
use girih::codegen::{Builder, Error, Expr, Gmem, Scalar};
use girih::layout::{Int, Lay, lay};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

use crate::harness::{Rung, SCALE};

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("attention1_naive", 80, 128);
    let sizes @ [queries, keys, heads] =
        b.symbols(["queries", "keys", "heads"], |s| s.at_least(1).at_most(1 << 15))?;
    let matrices = |b: &mut Builder, name, rows| {
        let layout = Lay::row_major([heads, rows].map(Int::symbol).into_iter().chain([Int::fixed(128)]))?;
        Gmem::bounded(b.pointer(name, 16), DType::Bf16, &layout) // (Head,rows,HeadDim)
    };
    let (m_q, m_k) = (matrices(&mut b, "q", queries)?, matrices(&mut b, "k", keys)?);
    let (m_v, m_o) = (matrices(&mut b, "v", keys)?, matrices(&mut b, "o", queries)?);

    // The CTA's four warps have a query each.
    let [i, head, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let (warp, lane) = (thread.div(32)?, thread.rem(32)?);
    let query = &(&i * 4) + &warp;
    let tv = lay!("(32,4):(4,1)"); // (Thr,Val) -> column
    let row = |tensor: &Tensor<Gmem>, row: &Expr| -> Result<Tensor<Gmem>, Error> {
        Ok(tensor.slice((&head, row, Slice::All))?.tv_partition(&tv, &lane)?) // (Val)
    };
    let floats = |b: &mut Builder, tensor: &Tensor<Gmem>| -> Result<Vec<Scalar>, Error> {
        read(b, tensor)?.iter().map(|x| b.hold(&x.to(DType::F32))).collect()
    };
    let t_q = floats(&mut b, &row(&m_q, &query)?)?;

    // s_j = q k_j / sqrt(HeadDim), in units of log2(e), so that exponentials are powers of 2
    // m' = max(m, s_j), p = 2^(s_j - m'), f = 2^(m - m'), l' = f l + p, o' = f o + p v_j
    let begin = [f64::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0].map(|x| Scalar::new(DType::F32, x));
    let [_, l, o @ ..] =
        b.fold_range(&Expr::from_int(&Int::symbol(keys)), begin, |b, j, [m, l, o @ ..]| {
            let (t_k, t_v) = (floats(b, &row(&m_k, j)?)?, floats(b, &row(&m_v, j)?)?);
            let dot = t_q.iter().zip(&t_k).fold(Scalar::new(DType::F32, 0.0), |s, (q, k)| q.mul_add(k, s));
            let s = warp_reduce(b, &dot, |x, y| x + y)? * SCALE;
            let next = b.hold(&m.max(&s))?;
            let (p, f) = (b.hold(&(s - &next).exp2())?, b.hold(&(m - &next).exp2())?);
            let [o0, o1, o2, o3] = [0, 1, 2, 3].map(|i: usize| o[i].mul_add(&f, &p * &t_v[i]));
            Ok([next, l.mul_add(&f, &p), o0, o1, o2, o3])
        })?;
    let inverse = l.recip();
    write(&mut b, &row(&m_o, &query)?, &o.map(|o| (o * &inverse).to(DType::Bf16)))?;

    let grid = |[queries, _, heads]: [u32; 3], _| [queries.div_ceil(4), heads, 1];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes, maps: Vec::new(), grid })
}
