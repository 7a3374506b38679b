//! The choice of a device by its name: `auto`, `cuda`, `cuda:1`, `sim`.

use std::{env, fmt, str::FromStr};

use crate::Error;

/// The environment variable that names the device of [`Select::Auto`].
pub(crate) const VARIABLE: &str = "GIRIH_DEVICE";

/// The choice of a device. Its text is `auto`, `cuda` (GPU 0), `cuda:N` (GPU N) or `sim`.
///
/// ```
/// use girih_device::Select;
/// assert_eq!("cuda:1".parse::<Select>()?, Select::Cuda(1));
/// assert_eq!("cuda".parse::<Select>()?, Select::Cuda(0));
/// assert_eq!(Select::Sim.to_string(), "sim");
/// # Ok::<(), girih_device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// The device that the environment variable `GIRIH_DEVICE` names; if the variable is not set or is `auto`, GPU 0 if that
    /// can be used, and otherwise the simulator.
    #[default]
    Auto,
    /// The GPU with this index, from 0. To open a GPU that can't be used is an error.
    Cuda(usize),
    /// The CPU simulator.
    Sim,
}

impl Select {
    /// The device that `GIRIH_DEVICE` names, for `Auto`; every other choice stays as it is.
    ///
    /// # Errors
    /// [`Error::BadSelect`] when the variable names no device.
    pub(crate) fn resolve(self) -> Result<Select, Error> {
        self.resolve_with(env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned()).as_deref())
    }

    fn resolve_with(self, variable: Option<&str>) -> Result<Select, Error> {
        match (self, variable) {
            (Select::Auto, Some(text)) if !text.is_empty() => parse(text, "GIRIH_DEVICE="),
            _ => Ok(self),
        }
    }
}

impl FromStr for Select {
    type Err = Error;

    fn from_str(text: &str) -> Result<Select, Error> {
        parse(text, "")
    }
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Select::Auto => f.write_str("auto"),
            Select::Cuda(index) => write!(f, "cuda:{index}"),
            Select::Sim => f.write_str("sim"),
        }
    }
}

fn parse(text: &str, origin: &'static str) -> Result<Select, Error> {
    match text {
        "auto" => Ok(Select::Auto),
        "cuda" => Ok(Select::Cuda(0)),
        "sim" => Ok(Select::Sim),
        _ => match text.strip_prefix("cuda:").map(str::parse) {
            Some(Ok(index)) => Ok(Select::Cuda(index)),
            _ => Err(Error::BadSelect { origin, text: text.into() }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_every_selection_parses_back() {
        for select in [Select::Auto, Select::Sim, Select::Cuda(0), Select::Cuda(7), Select::Cuda(usize::MAX)]
        {
            assert_eq!(select.to_string().parse::<Select>().ok(), Some(select));
        }
    }

    #[test]
    fn other_text_is_refused_with_what_is_accepted() {
        for text in
            ["", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "sim ", "cuda:99999999999999999999"]
        {
            let error = text.parse::<Select>().err().map(|e| e.to_string());
            let wanted =
                format!("`{text}` names no device: expected auto, cuda, cuda:N (N = 0, 1, ...) or sim");
            assert_eq!(error, Some(wanted));
        }
    }

    #[test]
    fn the_environment_decides_for_auto_alone() {
        let of = |select: Select, variable| select.resolve_with(variable).map_err(|e| e.to_string());
        for explicit in [Select::Sim, Select::Cuda(3)] {
            for variable in [None, Some(""), Some("auto"), Some("cuda:1"), Some("sim"), Some("nonsense")] {
                assert_eq!(of(explicit, variable), Ok(explicit));
            }
        }
        assert_eq!(of(Select::Auto, None), Ok(Select::Auto));
        assert_eq!(of(Select::Auto, Some("")), Ok(Select::Auto));
        assert_eq!(of(Select::Auto, Some("sim")), Ok(Select::Sim));
        assert_eq!(of(Select::Auto, Some("cuda:2")), Ok(Select::Cuda(2)));
        let wanted = "GIRIH_DEVICE=`tpu` names no device: expected auto, cuda, cuda:N (N = 0, 1, ...) or sim";
        assert_eq!(of(Select::Auto, Some("tpu")), Err(wanted.to_string()));
    }
}
