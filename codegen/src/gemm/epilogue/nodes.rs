//! Ready-made nodes of an epilogue: scale, add, multiply, activations.

use super::{Activation, Element, Epilogue, Input, InputKind, Node, Step};
use crate::builder::Builder;
use crate::{Error, Scalar};

use std::sync::Arc;

impl Epilogue {
    /// Appends a node that is a function of the value alone. [`Epilogue::node`] documents what the key must name.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::Epilogue;
    ///
    /// let squared = Epilogue::new().map("square", |x| x * x);
    /// assert_eq!(squared.key(), "square");
    /// ```
    #[must_use]
    pub fn map(
        self,
        key: impl Into<String>,
        function: impl Fn(&Scalar) -> Scalar + Send + Sync + 'static,
    ) -> Epilogue {
        self.ready(key.into(), [], move |_, e, []| Ok(function(e.value())))
    }

    /// Multiplies by a scalar argument of the launch, CUTLASS's alpha: an f32 by its name, or an [`Input::scalar`] of another dtype.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::{Epilogue, Input};
    /// use girih_tensor::DType;
    ///
    /// assert_eq!(Epilogue::new().scale("alpha").key(), "times scalar(alpha: f32)");
    /// assert_eq!(Epilogue::new().scale(Input::scalar("alpha", DType::F64)).key(), "times scalar(alpha: f64)");
    /// ```
    #[must_use]
    pub fn scale(self, factor: impl Into<Input>) -> Epilogue {
        self.times(factor.into())
    }

    /// Multiplies by a constant of the kernel.
    #[must_use]
    pub fn scale_by(self, factor: f32) -> Epilogue {
        self.ready(format!("scale_by({factor:?})"), [], move |_, e, []| Ok(e.value() * f64::from(factor)))
    }

    /// Adds an input, such as a bias or a residual.
    #[must_use]
    pub fn plus(self, input: Input) -> Epilogue {
        self.ready(format!("plus {input}"), [input], |_, e, [other]| Ok(e.value() + other))
    }

    /// Adds `factor` times an input: CUTLASS's beta and C. The factor is a scalar argument of the launch, as in [`Epilogue::scale`].
    #[must_use]
    pub fn plus_scaled(self, factor: impl Into<Input>, input: Input) -> Epilogue {
        let factor = factor.into();
        let key = format!("plus {factor} * {input}");
        let inputs = [factor, input];
        self.ready(key, inputs, |_, e, [factor, other]| Ok(other.mul_add(factor, e.value())))
    }

    /// Multiplies by an input, such as scales of rows or columns, or a mask.
    #[must_use]
    pub fn times(self, input: Input) -> Epilogue {
        self.ready(format!("times {input}"), [input], |_, e, [other]| Ok(e.value() * other))
    }

    /// The larger of the value and 0; NaN stays NaN.
    #[must_use]
    pub fn relu(self) -> Epilogue {
        self.activated(Activation::Relu)
    }

    /// GELU by its tanh approximation, `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))` (Hendrycks and Gimpel, "Gaussian Error Linear Units").
    /// The approximation differs from [`Epilogue::gelu_erf`] by less than 0.0005. It is computed with an error of at most 3e-7 times `x`.
    #[must_use]
    pub fn gelu(self) -> Epilogue {
        self.activated(Activation::Gelu)
    }

    /// GELU with the error function, `x/2 * (1 + erf(x / sqrt(2)))`, with an error of at most 3e-7 times `x` (Abramowitz and Stegun, "Handbook of
    /// Mathematical Functions", 7.1.26).
    #[must_use]
    pub fn gelu_erf(self) -> Epilogue {
        self.activated(Activation::GeluErf)
    }

    /// SiLU, `x / (1 + exp(-x))`, with an error of at most 3e-7 times `x`.
    #[must_use]
    pub fn silu(self) -> Epilogue {
        self.activated(Activation::Silu)
    }

    fn activated(self, activation: Activation) -> Epilogue {
        self.map(activation.to_string(), move |x| activation.of(x))
    }

    /// Appends a node whose function gets the values of the node's inputs in order.
    fn ready<const N: usize>(
        self,
        key: String,
        inputs: [Input; N],
        function: impl Fn(&mut Builder, &Element<'_>, [&Scalar; N]) -> Result<Scalar, Error>
        + Send
        + Sync
        + 'static,
    ) -> Epilogue {
        let names = inputs.each_ref().map(|input| input.name.clone());
        let function = move |b: &mut Builder, element: &Element<'_>| {
            let values = names.each_ref().map(|name| element.input(name));
            function(b, element, values.each_ref())
        };
        let reads_tiles = inputs.iter().any(|input| input.kind != InputKind::Scalar);
        self.with(Node { key, inputs: inputs.into(), reads_tiles, step: Step::Map(Arc::new(function)) })
    }
}

impl Activation {
    /// The function's value.
    pub(super) fn of(self, x: &Scalar) -> Scalar {
        match self {
            Activation::Relu => x.maximum(0.0),
            Activation::Gelu => {
                // This is x / (1 + exp(-2 u)), where u is the argument of tanh, since `tanh.approx` is less exact.
                const SCALE: f64 = -2.0 * std::f64::consts::LOG2_E * 0.797_884_560_802_865_4;
                let u = (x * x).mul_add(0.044715 * SCALE, SCALE) * x;
                x * (u.exp2() + 1.0).recip_approx()
            }
            Activation::GeluErf => {
                // erfc(z) = t * polynomial(t) * exp(-z^2) for z >= 0: no digits cancel where the result is small.
                let z = x.abs() * std::f64::consts::FRAC_1_SQRT_2;
                let t = (z.clone() * 0.3275911 + 1.0).recip_approx();
                let first = t.mul_add(1.061405429, -1.453152027);
                let polynomial = [1.421413741, -0.284496736, 0.254829592]
                    .iter()
                    .fold(first, |sum, &next| sum.mul_add(&t, next));
                let erfc = t * polynomial * ((&z * &z) * -std::f64::consts::LOG2_E).exp2();
                // Infinity times 0 would be NaN.
                x.maximum(0.0) - x.abs().minimum(f64::from(f32::MAX)) * 0.5 * erfc
            }
            Activation::Silu => x * ((x * -std::f64::consts::LOG2_E).exp2() + 1.0).recip_approx(),
        }
    }
}
