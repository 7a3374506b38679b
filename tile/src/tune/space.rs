//! What is chosen among: constants of a kernel and hints, each with some values.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::hints::{Hint, Hints};
use crate::launch::LaunchError;

/// What a value is of.
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
    axes: Vec<(Name, Vec<i64>)>,
}

/// One value of each constant and of each hint of a [`Space`]. It displays as `BM=4, occupancy=2`, and is read from that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    values: Vec<(Name, i64)>,
}

impl Space {
    /// A space of one point.
    pub fn new() -> Space {
        Space::default()
    }

    /// With a constant of the kernel, whose name is that of no hint: what it means is up to the function that makes the launch.
    #[must_use]
    pub fn constant(mut self, name: &str, values: impl IntoIterator<Item = i64>) -> Space {
        self.axes.push((Name::Constant(name.into()), values.into_iter().collect()));
        self
    }

    /// With a hint of the kernel.
    ///
    /// # Errors
    /// [`LaunchError::Record`] for a hint that belongs to an access, and for a value that it does not take.
    pub fn hint(mut self, hint: Hint, values: impl IntoIterator<Item = i64>) -> Result<Space, Error> {
        let values: Vec<i64> = values.into_iter().collect();
        for &value in &values {
            Hints::default().set(None, hint, value).map_err(|fault| LaunchError::Record {
                found: format!("{hint}={value}"),
                accepted: fault.to_string(),
            })?;
        }
        self.axes.push((Name::Hint(hint), values));
        Ok(self)
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.axes.iter().fold(1, |size, (_, values)| size.saturating_mul(values.len()))
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn at(&self, mut number: usize) -> Point {
        let value = |(name, values): &(Name, Vec<i64>)| {
            let value = values[number % values.len()];
            number /= values.len();
            (name.clone(), value)
        };
        Point { values: self.axes.iter().map(value).collect() }
    }

    /// The usual point first, then others, at most `most` in all: where there are more, some from everywhere.
    pub(super) fn points(&self, most: usize) -> impl Iterator<Item = Point> {
        let (all, most) = (self.len(), most.min(self.len()));
        (0..most).map(move |i| self.at((i as u128 * all as u128 / most as u128) as usize))
    }

    /// Whether a point is one of the space's.
    pub(super) fn has(&self, point: &Point) -> bool {
        self.axes.len() == point.values.len()
            && self.axes.iter().zip(&point.values).all(|(axis, of)| axis.0 == of.0 && axis.1.contains(&of.1))
    }
}

impl Point {
    /// The value of a constant; none if the space has no such constant.
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.values.iter().find(|(of, _)| matches!(of, Name::Constant(of) if of == name)).map(|of| of.1)
    }

    /// The hints.
    pub fn hints(&self) -> Hints {
        let mut hints = Hints::default();
        for (name, value) in &self.values {
            if let Name::Hint(hint) = name {
                // A space and a text take legal values alone.
                let _ = hints.set(None, *hint, *value);
            }
        }
        hints
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.iter().enumerate().try_for_each(|(i, (name, value))| {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{name}={value}")
        })
    }
}

impl FromStr for Point {
    type Err = Error;
    fn from_str(text: &str) -> Result<Point, Error> {
        let refused = |part: &str| LaunchError::Record {
            found: format!("`{part}`"),
            accepted: "constants and hints with legal values, as `BM=4, occupancy=2`".into(),
        };
        let mut values = Vec::new();
        for part in text.split(", ").filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| refused(part))?;
            let value = value.parse().map_err(|_| refused(part))?;
            let name = match Hint::named(name) {
                Some(hint) => {
                    Hints::default().set(None, hint, value).map_err(|_| refused(part))?;
                    Name::Hint(hint)
                }
                None => Name::Constant(name.into()),
            };
            values.push((name, value));
        }
        Ok(Point { values })
    }
}
