//! Score modifiers (soft cap and bias), and outputs in addition to O.

use girih_codegen::attention::{Features, Scores};
use girih_codegen::gemm::{MAX_EXTENT, MAX_STRIDE};
use girih_tensor::DType;

use super::{Problem, check_within};
use crate::Error;
use crate::attention::array::span;

/// The additive bias of scores, (Query,Key,Head,Batch): keys are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bias {
    dtype: DType,
    strides: [i64; 3],
}

/// Score modifiers and outputs of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Options {
    scores: Scores,
    pub(super) bias: Option<Bias>,
    lse: bool,
    sinks: bool,
}

impl Options {
    /// Those of rows of this many elements, if nothing else is asked for.
    pub(super) fn new(head_dim: i64) -> Options {
        let scale = (head_dim as f32).sqrt().recip();
        Options { scores: Scores { scale, softcap: None }, bias: None, lse: false, sinks: false }
    }
}

impl Bias {
    /// The dtype: f32, or that of the problem.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The elements from one query, head and batch to the next: 0 where all have the same.
    pub fn strides(&self) -> [i64; 3] {
        self.strides
    }

    /// The place of an element, counted from the first one.
    pub fn offset(&self, query: i64, key: i64, head: i64, batch: i64) -> i64 {
        let [queries, heads, batches] = self.strides;
        query * queries + key + head * heads + batch * batches
    }
}

impl Problem {
    fn with_options(self, change: impl FnOnce(Options) -> Options) -> Problem {
        Problem { options: change(self.options), ..self }
    }

    /// The same with another scale of the scores than `1 / sqrt(head dim)`.
    ///
    /// # Errors
    /// [`Error::Number`] unless the scale is in `2^-60..=2^60`, so that f32 represents what kernels make of it.
    pub fn with_scale(self, scale: f32) -> Result<Problem, Error> {
        let scores = Scores { scale: check_factor("scale", scale)?, ..self.options.scores };
        Ok(self.with_options(|options| Options { scores, ..options }))
    }

    /// The factor of the scores.
    pub fn scale(&self) -> f32 {
        self.options.scores.scale
    }

    /// The same with scores that become `cap * tanh(score / cap)` once they are scaled, before a bias is added. Scores are then exact to about 2^-22 of
    /// the cap, however small they are; kernels of sm_90 for many queries, whose operands have 16 bits, are exact to 2^-11 of the score.
    ///
    /// # Errors
    /// [`Error::Number`] unless the cap is in `2^-60..=2^60`.
    pub fn with_softcap(self, cap: f32) -> Result<Problem, Error> {
        let scores = Scores { softcap: Some(check_factor("softcap", cap)?), ..self.options.scores };
        Ok(self.with_options(|options| Options { scores, ..options }))
    }

    /// The cap of scores.
    pub fn softcap(&self) -> Option<f32> {
        self.options.scores.softcap
    }

    /// How scores become exponents.
    pub(in crate::attention) fn scores(&self) -> Scores {
        self.options.scores
    }

    /// The same with a tensor without gaps that is added to the scores, [batch, head, query, key], after scale and cap. Batches, heads and
    /// queries are all, or 1 where all have the same. A bias of negative infinity hides a key. Any finite one is a score as others are: a row whose keys all
    /// have the least number of f32, as a mask, is the mean of their values.
    ///
    /// # Errors
    /// [`Error::Input`] for another dtype than f32 and that of the problem, for other extents, and for packed sequences; [`Error::Extent`] as
    /// [`Problem::with_bias_strides`].
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::attention::{Order, Problem};
    /// use girih_tensor::DType;
    ///
    /// // A slope for each head, as ALiBi has it: one row of 300 keys for all queries and batches.
    /// let problem = Problem::new(DType::Bf16, Order::Bhsd, [2, 8, 100, 300, 64])?.with_bias(DType::F32, [1, 8, 1])?;
    /// assert_eq!(problem.bias().map(|bias| bias.strides()), Some([0, 300, 0]));
    /// assert_eq!(problem.bias_len(), 8 * 300);
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn with_bias(self, dtype: DType, [batches, heads, queries]: [i64; 3]) -> Result<Problem, Error> {
        let all = [self.batches, self.heads, self.queries];
        if [batches, heads, queries].into_iter().zip(all).any(|(extent, all)| extent != all && extent != 1) {
            let [b, h, q] = all;
            return Err(Error::Input {
                name: "bias".into(),
                found: format!("{batches} batches, {heads} heads and {queries} queries"),
                accepted: format!("{b}, {h} and {q}, or 1 of each"),
            });
        }
        let stride = |extent: i64, inner: i64| if extent == 1 { 0 } else { inner };
        let of_head = if queries == 1 { self.keys } else { queries * self.keys };
        // 64 bits may not hold it, and no stride is as large.
        let of_batch = heads.saturating_mul(of_head);
        let strides = [stride(queries, self.keys), stride(heads, of_head), stride(batches, of_batch)];
        self.with_bias_strides(dtype, strides)
    }

    /// The same with a bias whose queries, heads and batches begin this many elements apart, 0 where all have the same.
    ///
    /// # Errors
    /// [`Error::Input`] for another dtype than f32 and that of the problem, and for packed sequences; [`Error::Extent`] for strides outside of
    /// `0..=`[`MAX_EXTENT`] of queries and `0..=`[`MAX_STRIDE`] of heads and batches.
    pub fn with_bias_strides(self, dtype: DType, strides: [i64; 3]) -> Result<Problem, Error> {
        let refuse =
            |found: String, accepted: String| Err(Error::Input { name: "bias".into(), found, accepted });
        if dtype != DType::F32 && dtype != self.dtype {
            return refuse(dtype.to_string(), format!("f32 and {}", self.dtype));
        }
        if self.packed.is_some() {
            return refuse("packed sequences".into(), "batches".into());
        }
        // A mode of one element has no stride, and a bias without elements has none.
        let extents = [self.queries, self.heads, self.batches];
        let empty = self.keys == 0 || extents.contains(&0);
        let counts = extents.map(|extent| extent > 1 && !empty);
        let strides = [0, 1, 2].map(|mode| if counts[mode] { strides[mode] } else { 0 });
        for (what, stride, most) in [
            ("stride of queries", strides[0], MAX_EXTENT),
            ("stride of heads", strides[1], MAX_STRIDE),
            ("stride of batches", strides[2], MAX_STRIDE),
        ] {
            check_within(what, stride, 0, most)?;
        }
        let bias = Some(Bias { dtype, strides });
        Ok(self.with_options(|options| Options { bias, ..options }))
    }

    /// The features that a kernel must have in addition to attention of all queries to all keys.
    pub fn features(&self) -> Features {
        Features {
            left: self.mask.left().is_some(),
            right: self.mask.right().is_some(),
            packed: self.is_packed(),
            softcap: self.softcap().is_some(),
            bias: self.bias().map(Bias::dtype),
            lse: self.lse(),
            sinks: self.sinks(),
        }
    }

    /// The additive bias of the scores.
    pub fn bias(&self) -> Option<&Bias> {
        self.options.bias.as_ref()
    }

    /// The elements of the bias from the first one to the last one: 0 without a bias.
    pub fn bias_len(&self) -> i64 {
        let empty = [self.batches, self.queries, self.keys].contains(&0);
        let extents = [self.queries, self.heads, self.batches];
        self.bias().filter(|_| !empty).map_or(0, |bias| span(self.keys, bias.strides, extents))
    }

    /// The same with attention sinks: a logit of each query head, f32, joins the softmax's denominator as the score of a key without a value
    /// does. A sink of negative infinity changes nothing. A query that sees no key has an O of 0, and its sink as logsumexp.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::attention::{Host, Order, Problem, row};
    /// use girih_tensor::DType;
    ///
    /// // A key and a sink whose logits are equal: half of the value is left.
    /// let problem = Problem::new(DType::F32, Order::Bshd, [1, 1, 1, 1, 1])?.with_sinks(true);
    /// let host = Host { q: &[1.0f32], k: &[3.0], v: &[8.0], bias: &[], sinks: &[3.0] };
    /// let sequence = problem.sequences().next().ok_or("a batch")?;
    /// let row = row(&problem, &host, &sequence, 0, 0)?;
    /// assert_eq!((row.output, row.lse), (vec![4.0], 3.0 + std::f64::consts::LN_2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_sinks(self, sinks: bool) -> Problem {
        self.with_options(|options| Options { sinks, ..options })
    }

    /// Whether there are sinks.
    pub fn sinks(&self) -> bool {
        self.options.sinks
    }

    /// The elements of the sinks, (Head): 0 without sinks.
    pub fn sinks_len(&self) -> i64 {
        if self.sinks() { self.heads } else { 0 }
    }

    /// The same with the logsumexps written too, to the base e: f32, [batch, head, query] without gaps. A query that sees no key has
    /// negative infinity, or its sink.
    #[must_use]
    pub fn with_lse(self, lse: bool) -> Problem {
        self.with_options(|options| Options { lse, ..options })
    }

    /// Whether the logsumexps are written.
    pub fn lse(&self) -> bool {
        self.options.lse
    }

    /// The elements of these logarithms: 0 where they are not written.
    pub fn lse_len(&self) -> i64 {
        if self.lse() { (self.heads * self.queries).saturating_mul(self.batches) } else { 0 }
    }

    /// The place of the logarithm of a row of Q.
    pub fn lse_offset(&self, row: i64, head: i64, batch: i64) -> i64 {
        (batch * self.heads + head) * self.queries + row
    }
}

/// The largest scale and cap; the least ones are 1 divided by it. Their quotients and products with small numbers are normal numbers of f32.
const LARGEST: f32 = (1u64 << 60) as f32;

/// Checks a scale or a cap. NaN is in no range.
fn check_factor(what: &'static str, value: f32) -> Result<f32, Error> {
    if (1.0 / LARGEST..=LARGEST).contains(&value) { Ok(value) } else { Err(Error::Number { what, value }) }
}
