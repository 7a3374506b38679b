//! The reasons for the choice of a configuration, as text.

use girih_codegen::attention::Form;

use super::{Hardware, KernelKind, blocks, choose, fastest, misfit};
use crate::Error;
use crate::attention::{Problem, Table};

/// The reasons for what [`choose`](super::choose()) chooses, in the order in which it is decided: what is decided, and why it is so.
///
/// # Errors
/// As [`choose`](super::choose()).
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Hardware, Order, Problem, choose::reasons};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::F32, Order::Bshd, [1, 8, 512, 512, 64])?;
/// let reasons = reasons(&problem, None, Hardware { sm: 90, multiprocessors: 132 })?;
/// let kernel = reasons.iter().find(|(what, _)| *what == "kernel").map(|(_, why)| &**why);
/// assert_eq!(kernel, Some("sm80: sm90 takes f16 and bf16, which wgmma multiplies; the dtype is f32"));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn reasons(
    problem: &Problem,
    kind: Option<KernelKind>,
    hardware: impl Into<Hardware>,
) -> Result<Vec<(&'static str, String)>, Error> {
    let hardware = hardware.into();
    let config = choose(problem, kind, hardware)?;
    let ([queries, keys], columns) = (config.tile, config.head_dim);
    let mut reasons = vec![("kernel", family(problem, &config.form, hardware))];
    let why = match &config.form {
        Form::Ring(_) => fastest(problem, hardware).1,
        Form::Multistage(form) => {
            format!(
                "{} warps, each with rows of its own, in the shared memory that every GPU has",
                form.warps
            )
        }
    };
    reasons.push(("tile", format!("{queries} queries and {keys} keys: {why}")));
    if columns != problem.head_dim() {
        let why = format!("zeros fill the {} columns of heads up to {columns}", problem.head_dim());
        reasons.push(("head dim", why));
    }
    if let Form::Multistage(form) = &config.form {
        let bytes = form.vector * i64::from(config.dtype.bits()) / 8;
        reasons.push(("copies", format!("of {bytes} bytes, which divide strides, columns and addresses")));
    }
    let tiles = Table::count(problem, queries);
    let grid = blocks(&config, tiles, hardware.multiprocessors);
    let schedule = match &config.form {
        Form::Ring(_) => format!("{grid} blocks stay and take {tiles} tiles: {}", order(problem)),
        Form::Multistage(_) => format!("a block for each of {tiles} tiles: {}", order(problem)),
    };
    reasons.push(("schedule", schedule));
    if problem.is_packed() && matches!(config.form, Form::Ring(_)) {
        reasons.push(("store", "by threads: TMA would write beyond the ends of sequences".into()));
    }
    Ok(reasons)
}

fn family(problem: &Problem, form: &Form, hardware: Hardware) -> String {
    match (form, misfit(problem)) {
        (Form::Ring(_), _) => {
            "sm90: warpgroups multiply by wgmma and ping-pong on the tensor cores, from tiles that TMA loads"
                .into()
        }
        (Form::Multistage(_), Some((what, found, accepted))) => {
            let is = if what.ends_with('s') { "are" } else { "is" };
            format!("sm80: sm90 takes {accepted}; the {what} {is} {found}")
        }
        (Form::Multistage(_), None) if hardware.sm == 90 => "sm80: asked for; sm90 is faster on sm_90".into(),
        (Form::Multistage(_), None) => {
            "sm80: warps multiply on the tensor cores of every GPU from sm_80 on".into()
        }
    }
}

fn order(problem: &Problem) -> &'static str {
    if problem.mask().is_none() && !problem.is_packed() {
        "head by head, and at the end the last ones of heads, which have fewer queries"
    } else {
        "by heads whose keys and values have 16 MB together, the tiles with most keys first"
    }
}
