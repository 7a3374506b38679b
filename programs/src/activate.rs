//! Functions between layers, exact to 1e-6: by one instruction for the power and one for the quotient, since sums of products are cast to 16
//! bits after them.

use std::f64::consts::LOG2_E;

use girih_tile::prelude::*;

/// `x / (1 + 2^power)`.
fn weighted(x: Tile<f32>, power: Tile<f32>) -> Tile<f32> {
    let fast = Mode::new().rounding(Rounding::Approx).ftz();
    truediv_with(x, exp2_with(power, fast) + 1.0, fast)
}

/// `x / 2 (1 + tanh(u)) = x / (1 + exp(-2 u))` with `u = sqrt(2 / pi) (x + 0.044715 x^3)`, the approximation of GELU with a hyperbolic tangent
/// (D. Hendrycks, K. Gimpel, "Gaussian error linear units", 2016).
pub(crate) fn gelu(x: Tile<f32>) -> Tile<f32> {
    let scale = -2.0 * LOG2_E * 0.797_884_560_802_865_4;
    weighted(x, fma(x * x, 0.044_715 * scale, scale) * x)
}

/// `x / (1 + exp(-x))`.
pub(crate) fn silu(x: Tile<f32>) -> Tile<f32> {
    weighted(x, x * -LOG2_E)
}
