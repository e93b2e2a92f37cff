//! The arithmetic between the matrix products, each in one pass over memory.
//!
//! Every function runs in the widest vector unit of the machine: the closure given to `pulp` is compiled once for each.
//! Sums go over [`LANES`] interleaved partial sums, in an order that depends on nothing but the length.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

/// Partial sums of one row.
const LANES: usize = 16;

/// The non-linearity between the two layers of a feed-forward block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// `x · Φ(x)` with the exact normal distribution.
    Gelu,
    /// The same by its approximation with the hyperbolic tangent.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
}

/// Adds `bias` to each row.
pub(super) fn add_bias(rows: &mut [f32], bias: &[f32]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(bias.len()) {
                for (value, bias) in row.iter_mut().zip(bias) {
                    *value += bias;
                }
            }
        },
    );
}

/// Adds `bias` to each row and applies the activation.
pub(super) fn activate(rows: &mut [f32], bias: &[f32], activation: Activation) {
    match activation {
        Activation::Gelu => map_rows(rows, bias, gelu),
        Activation::GeluTanh => map_rows(rows, bias, gelu_tanh),
        Activation::Relu => map_rows(rows, bias, relu),
    }
}

#[inline(always)]
fn map_rows(rows: &mut [f32], bias: &[f32], function: impl Fn(f32) -> f32) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(bias.len()) {
                for (value, bias) in row.iter_mut().zip(bias) {
                    *value = function(*value + bias);
                }
            }
        },
    );
}

/// `rows = norm(rows + bias + residual)`, row by row: mean zero, variance one, then scale and shift.
pub(super) fn add_norm(rows: &mut [f32], residual: &[f32], bias: &[f32], norm: &Norm) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (row, residual) in rows.chunks_exact_mut(bias.len()).zip(residual.chunks_exact(bias.len())) {
                for ((value, residual), bias) in row.iter_mut().zip(residual).zip(bias) {
                    *value += residual + bias;
                }
                norm.apply(row);
            }
        },
    );
}

/// Normalises each row.
pub(super) fn norm(rows: &mut [f32], norm: &Norm) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || rows.chunks_exact_mut(norm.scale.len()).for_each(|row| norm.apply(row)),
    );
}

/// Layer normalisation (Ba, Kiros and Hinton 2016, equation 4).
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) epsilon: f32,
}

impl Norm {
    #[inline(always)]
    fn apply(&self, row: &mut [f32]) {
        let width = row.len() as f32;
        let mean = sum(row, |value| value) / width;
        let variance = sum(row, |value| (value - mean) * (value - mean)) / width;
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        for ((value, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *value = (*value - mean) * factor * scale + shift;
        }
    }
}

/// `softmax(scale · row)` of each row of `width`. A row with a NaN becomes NaN, so that it is noticed.
pub(super) fn softmax(rows: &mut [f32], width: usize, scale: f32) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(width) {
                let top = max(row) * scale;
                for value in row.iter_mut() {
                    *value = exp(*value * scale - top);
                }
                let factor = 1.0 / sum(row, |value| value);
                for value in row.iter_mut() {
                    *value *= factor;
                }
            }
        },
    );
}

#[inline(always)]
fn sum(row: &[f32], function: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().map(|&value| function(value)).sum();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += function(value);
        }
    }
    lanes.iter().sum::<f32>() + rest
}

#[inline(always)]
fn max(row: &[f32]) -> f32 {
    let mut lanes = [f32::MIN; LANES];
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder().iter().copied().fold(f32::MIN, larger);
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, value);
        }
    }
    lanes.into_iter().fold(rest, larger)
}

/// `e^x` to about 2 units in the last place for `x` from -87 to 88, clamped outside, without a branch: `x = n ln 2 + r`
/// with `|r| <= ln 2 / 2`, the Taylor polynomial of `e^r`, and `2^n` put together from bits (Cody and Waite 1980).
/// A NaN stays one.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding this leaves a rounded integer in the lowest bits of the mantissa.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, of which the first times a small integer is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Comparisons instead of `clamp` and `max`, which would turn a NaN into a bound.
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let tail = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let polynomial = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * tail))));
    let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    polynomial * f32::from_bits(power)
}

/// `x · Φ(x)`, `Φ` by the complementary error function's approximation 7.1.26 of Abramowitz and Stegun, whose error
/// is below 1.5e-7 and, being a factor of `e^(-z²)`, stays small for large negative `x` too.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let polynomial =
        t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let half_tail = 0.5 * polynomial * exp(-z * z);
    x * if x < 0.0 { half_tail } else { 1.0 - half_tail }
}

/// `x · Φ(x)` with `Φ(x) ≈ (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`, written with one exponential.
#[inline(always)]
fn gelu_tanh(x: f32) -> f32 {
    const TWICE_SQRT_2_OVER_PI: f32 = 1.595_769;
    x / (1.0 + exp(-TWICE_SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x)))
}

#[inline(always)]
fn relu(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(from: f32, to: f32) -> impl Iterator<Item = f32> {
        (0..=2_000).map(move |at| from + (to - from) * at as f32 / 2_000.0)
    }

    /// The error function by its Maclaurin series, in double precision; good for `|x| <= 4`.
    fn erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..120 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn the_exponential_is_good_to_a_few_units_in_the_last_place() {
        for x in series(-80.0, 80.0) {
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() <= 4e-7 * exact, "{x}");
        }
        assert!(exp(f32::NAN).is_nan());
        assert!(exp(-1e30) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn gelu_follows_the_exact_error_function() {
        for x in series(-5.0, 5.0) {
            let wide = f64::from(x);
            let exact = wide * 0.5 * (1.0 + erf(wide / std::f64::consts::SQRT_2));
            assert!((f64::from(gelu(x)) - exact).abs() < 1e-6, "{x}: {} {exact}", gelu(x));
        }
        assert!(gelu(f32::NAN).is_nan());
    }

    #[test]
    fn gelu_by_tanh_follows_its_definition() {
        for x in series(-8.0, 8.0) {
            let wide = f64::from(x);
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044715 * wide.powi(3));
            assert!((f64::from(gelu_tanh(x)) - 0.5 * wide * (1.0 + inner.tanh())).abs() < 2e-6, "{x}");
        }
    }

    #[test]
    fn softmax_sums_to_one_and_lets_a_nan_through() {
        let mut rows: Vec<f32> = series(-30.0, 50.0).take(37 * 3).collect();
        softmax(&mut rows, 37, 0.5);
        for row in rows.chunks(37) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            assert!(row.windows(2).all(|pair| pair[0] <= pair[1]));
        }
        let mut broken = [1.0, f32::NAN, 2.0];
        softmax(&mut broken, 3, 1.0);
        assert!(broken.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn a_normalised_row_has_mean_zero_and_variance_one() {
        let width = 50;
        let plain = Norm { scale: vec![1.0; width], shift: vec![0.0; width], epsilon: 0.0 };
        let mut row: Vec<f32> = series(3.0, 9.0).take(width).collect();
        let residual = row.clone();
        add_norm(&mut row, &residual, &vec![2.0; width], &plain);
        let mean = row.iter().sum::<f32>() / width as f32;
        let variance = row.iter().map(|value| value * value).sum::<f32>() / width as f32;
        assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4, "{mean} {variance}");
    }
}
