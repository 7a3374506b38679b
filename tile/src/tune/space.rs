//! The search space of the tuner: constants of a kernel and hints, each with some values.

use std::fmt;
use std::str::FromStr;

use super::refused;
use crate::error::{Error, Result};
use crate::hints::{Construct, Hint, Hints};

/// The owner of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Constant(String),
    Hint(Hint),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Constant(name) => f.write_str(name),
            Name::Hint(hint) => write!(f, "{hint}"),
        }
    }
}

/// Constants and hints, each with the values to be tried; the first values of all are the usual ones, which others are measured against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    axes: Vec<Axis>,
}

/// Values that are chosen together, with the candidates. A hint without a value is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis {
    names: Vec<Name>,
    values: Vec<Vec<Option<i64>>>,
}

/// One value of each constant and of each hint of a [`Space`]. It displays as `BM=4, occupancy=2, num_ctas=auto`, where `auto` is a hint that
/// is not set, and is read from that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    values: Vec<(Name, Option<i64>)>,
}

impl Space {
    /// A space of one point.
    pub fn new() -> Space {
        Space::default()
    }

    /// With a constant of the kernel, whose name is that of no hint: what it means is up to the function that makes the launch.
    #[must_use]
    pub fn constant(self, name: &str, values: impl IntoIterator<Item = i64>) -> Space {
        self.constants([name], values.into_iter().map(|value| [value]))
    }

    /// With constants of the kernel that are chosen together, such as the extents of a tile: a value of each in alternation. A value that is missing
    /// is none, one beyond the names is left out.
    #[must_use]
    pub fn constants<'n>(
        mut self,
        names: impl IntoIterator<Item = &'n str>,
        values: impl IntoIterator<Item = impl IntoIterator<Item = i64>>,
    ) -> Space {
        let names: Vec<Name> = names.into_iter().map(|name| Name::Constant(name.into())).collect();
        let row = |values: &mut dyn Iterator<Item = i64>| names.iter().map(|_| values.next()).collect();
        let values = values.into_iter().map(|values| row(&mut values.into_iter())).collect();
        self.axes.push(Axis { names, values });
        self
    }

    /// With a hint of the kernel.
    ///
    /// # Errors
    /// [`LaunchError::Record`](crate::launch::LaunchError::Record) for a hint that belongs to an access, and for a value that it does not take.
    pub fn hint(self, hint: Hint, values: impl IntoIterator<Item = i64>) -> Result<Space> {
        self.with_hint(hint, values.into_iter().map(Some).collect())
    }

    /// With a hint that is not set at the usual point, and then has these values.
    ///
    /// # Errors
    /// As [`Space::hint`].
    pub fn optional_hint(self, hint: Hint, values: impl IntoIterator<Item = i64>) -> Result<Space> {
        self.with_hint(hint, std::iter::once(None).chain(values.into_iter().map(Some)).collect())
    }

    fn with_hint(mut self, hint: Hint, values: Vec<Option<i64>>) -> Result<Space> {
        if hint.check_on(Construct::Kernel).is_err() {
            let of_kernels = Hint::ALL.iter().filter(|hint| hint.check_on(Construct::Kernel).is_ok());
            let names: Vec<&str> = of_kernels.map(|hint| hint.name()).collect();
            let accepted = format!("one of {}", names.join(", "));
            return Err(refused(format!("`{hint}`, which does not belong to a kernel"), accepted));
        }
        for &value in values.iter().flatten() {
            hint.check(value, None).map_err(|_| refused(format!("{hint}={value}"), hint.accepted().1))?;
        }
        let values = values.into_iter().map(|one| vec![one]).collect();
        self.axes.push(Axis { names: vec![Name::Hint(hint)], values });
        Ok(self)
    }

    /// Refuses a space with constants.
    pub(super) fn has_hints_alone(&self) -> Result {
        let mut names = self.axes.iter().flat_map(|axis| &axis.names);
        let Some(name) = names.find(|name| matches!(name, Name::Constant(_))) else { return Ok(()) };
        let accepted =
            "a space of hints, or `tune::tune` with a function that makes the launch of each constant,";
        Err(refused(format!("a space with the constant {name} for one launch"), accepted))
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.axes.iter().fold(1, |size, axis| size.saturating_mul(axis.values.len()))
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn at(&self, mut number: usize) -> Point {
        let mut values = Vec::new();
        for axis in &self.axes {
            let row = &axis.values[number % axis.values.len()];
            number /= axis.values.len();
            values.extend(axis.names.iter().cloned().zip(row.iter().copied()));
        }
        Point { values }
    }

    /// The usual point first, then others, at most `most` in all: where there are more, some from everywhere.
    pub(super) fn points(&self, most: usize) -> impl Iterator<Item = Point> {
        let (all, most) = (self.len(), most.min(self.len()));
        (0..most).map(move |i| self.at((i as u128 * all as u128 / most as u128) as usize))
    }

    /// Whether a point is one of the space's.
    pub(super) fn has(&self, point: &Point) -> bool {
        let mut left = &point.values[..];
        let all = self.axes.iter().all(|axis| {
            let Some((own, rest)) = left.split_at_checked(axis.names.len()) else { return false };
            left = rest;
            let (names, values): (Vec<&Name>, Vec<Option<i64>>) =
                own.iter().map(|(name, value)| (name, *value)).unzip();
            names.iter().eq(&axis.names.iter().collect::<Vec<_>>()) && axis.values.contains(&values)
        });
        all && left.is_empty()
    }
}

impl Point {
    /// The value of a constant; `None` if the space has no such constant.
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.values.iter().find(|(of, _)| matches!(of, Name::Constant(of) if of == name))?.1
    }

    /// The hints.
    pub fn hints(&self) -> Hints {
        let mut hints = Hints::default();
        for (name, value) in &self.values {
            if let (Name::Hint(hint), Some(value)) = (name, value) {
                // A space and a text take legal values alone.
                let _ = hints.set(None, *hint, *value);
            }
        }
        hints
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, value): &(Name, Option<i64>)| match value {
            Some(value) => format!("{name}={value}"),
            None => format!("{name}=auto"),
        };
        f.write_str(&self.values.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}

impl FromStr for Point {
    type Err = Error;
    fn from_str(text: &str) -> Result<Point> {
        let refused = |part: &str| {
            refused(format!("`{part}`"), "constants and hints with legal values, as `BM=4, occupancy=2`")
        };
        let mut values = Vec::new();
        for part in text.split(", ").filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| refused(part))?;
            let number = || value.parse().map_err(|_| refused(part));
            let value = if value == "auto" { None } else { Some(number()?) };
            let name = match Hint::named(name) {
                Some(hint) => {
                    let set = |value| Hints::default().set(None, hint, value);
                    value.map_or(Ok(()), set).map_err(|_| refused(part))?;
                    Name::Hint(hint)
                }
                None => Name::Constant(name.into()),
            };
            values.push((name, value));
        }
        Ok(Point { values })
    }
}
