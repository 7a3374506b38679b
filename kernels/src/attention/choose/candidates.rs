//! The configurations that a tuner measures.

use girih_codegen::attention::{AttentionConfig, Form, Ring};

use super::configs::{REGISTERS, Tilings, ring_of};
use super::{Hardware, choose, configured, dims, misfit};
use crate::Error;
use crate::attention::Problem;

/// The bytes of shared memory of a block on sm_90, without those of barriers.
const SHARED: i64 = (227 << 10) - 512;
/// The registers of a thread other than scores and accumulators.
const OTHERS: i64 = 32;
/// The most tiles of keys and values that are worth the memory.
const MOST_STAGES: i64 = 6;

/// Configurations that compute a problem, the chosen one first: where warpgroups take it, two to four of them with tiles of keys of all sizes for which
/// threads have registers, and as many stages as shared memory has. Which is fastest is to be measured.
///
/// # Errors
/// As [`choose`](super::choose()).
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Hardware, Order, Problem, choose};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, Order::Bshd, [4, 16, 4096, 4096, 128])?;
/// let all = choose::candidates(&problem, Hardware { sm: 90, multiprocessors: 132 })?;
/// assert_eq!(choose::described(&all[0]), "192x128 of 128, 3 warpgroups, 2 stages, 2 buffers");
/// assert!(all.len() > 10);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn candidates(problem: &Problem, hardware: impl Into<Hardware>) -> Result<Vec<AttentionConfig>, Error> {
    let hardware = hardware.into();
    let chosen = choose(problem, None, hardware)?;
    let mut out = vec![chosen];
    // Other columns of V are computed by the one tile that rules choose.
    if hardware.sm != 90 || misfit(problem).is_some() || chosen.value_dim.is_some() {
        return Ok(out);
    }
    let head_dim = Tilings::of(dims(problem)).small.head_dim;
    let element = i64::from(problem.dtype().bits()) / 8;
    for (warpgroups, registers) in (2..).zip(REGISTERS) {
        for keys in (64..=192).step_by(16) {
            if (head_dim + keys) / 2 + OTHERS > i64::from(registers[1]) {
                continue;
            }
            for buffers in [2, 1] {
                let left = SHARED - 64 * warpgroups * head_dim * buffers * element;
                let stages = (left / (2 * keys * head_dim * element)).min(MOST_STAGES);
                let ring = Ring { warpgroups, stages, buffers, registers };
                let config = configured(problem, ring_of(ring, head_dim, keys));
                if stages > 0 && config != chosen {
                    out.push(config);
                }
            }
        }
    }
    Ok(out)
}

/// A configuration in a line, without its features.
pub fn described(config: &AttentionConfig) -> String {
    let ([queries, keys], columns) = (config.tile, config.head_dim);
    let form = match config.form {
        Form::Ring(Ring { warpgroups, stages, buffers, .. }) => {
            format!("{warpgroups} warpgroups, {stages} stages, {buffers} buffers")
        }
        Form::Multistage(form) => {
            format!("{} warps, {} stages, copies of {} elements", form.warps, form.stages, form.vector)
        }
    };
    format!("{queries}x{keys} of {columns}, {form}")
}
