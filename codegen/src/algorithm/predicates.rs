//! The values of a partition that a copy may access (CuTe guide, "Predication").

use girih_tensor::Tensor;

use super::data::{Site, values};
use crate::builder::{Builder, Cond};
use crate::{Counting, Error, Expr};

/// The condition of each value, in the order of the tensors that are copied. Tensors that carry coordinates
/// ([`Gmem::bounded`](crate::Gmem::bounded)) need no predicates, since copies of such tensors stay inside by themselves.
#[derive(Clone, Debug)]
pub struct Predicates {
    /// The conditions, all of which have to hold.
    parts: Vec<Kind>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// One condition for all values.
    All(Cond),
    /// A condition for each value.
    Each(Vec<Cond>),
    /// The condition that the value's coordinate is inside these extents.
    Inside { coordinates: Vec<Vec<Expr>>, extents: Vec<Expr> },
}

impl From<Cond> for Predicates {
    fn from(cond: Cond) -> Predicates {
        Predicates { parts: vec![Kind::All(cond)] }
    }
}

impl Predicates {
    /// A condition of its own for each value.
    pub fn each(conds: Vec<Cond>) -> Predicates {
        Predicates { parts: vec![Kind::Each(conds)] }
    }

    /// The conditions that a value is inside the tensor: `coordinate` is the identity tensor of the whole, partitioned like the
    /// data, and every coordinate must be at least 0 and less than its extent (CuTe's `elem_less`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the coordinates have another number of modes than there are extents; [`Error::NotStatic`].
    pub fn inside(coordinate: &Tensor<Counting>, extents: &[Expr]) -> Result<Predicates, Error> {
        let modes = coordinate.engine().coordinate().len();
        if modes != extents.len() {
            return Err(Error::Mismatch {
                what: "predicates",
                layout: coordinate.layout().to_string(),
                with: format!("{} extents", extents.len()),
                accepted: "an extent for each mode of the coordinates",
            });
        }
        let all = values("predicates", &Site::tensor(coordinate))?;
        let coordinate = |at: &Site| match at {
            Site::Counting(at) => Some(at.coordinate().to_vec()),
            _ => None,
        };
        let coordinates = all.iter().filter_map(coordinate).collect();
        Ok(Predicates { parts: vec![Kind::Inside { coordinates, extents: extents.to_vec() }] })
    }

    /// The conditions that values are inside the extents of their array, if these are known.
    pub(super) fn bounds(all: &[Site]) -> Predicates {
        let at = |site: &Site| match site {
            Site::Gmem(array) => array.coordinate().map(|(at, extents)| (at.to_vec(), extents.to_vec())),
            _ => None,
        };
        let Some((_, extents)) = all.first().and_then(at) else { return Predicates { parts: Vec::new() } };
        let coordinates = all.iter().filter_map(|site| at(site).map(|(at, _)| at)).collect();
        Predicates { parts: vec![Kind::Inside { coordinates, extents }] }
    }

    /// The predicates of both: a value is wanted if both say so.
    #[must_use]
    pub fn and(mut self, others: Predicates) -> Predicates {
        self.parts.extend(others.parts);
        self
    }

    /// Whether all values are known to be wanted.
    pub(super) fn hold(&self) -> bool {
        let holds = |part: &Kind| match part {
            Kind::All(cond) => *cond == Cond::Always,
            Kind::Each(conds) => conds.iter().all(|cond| *cond == Cond::Always),
            Kind::Inside { coordinates, .. } => {
                (0..coordinates.len() as i64).all(|i| part.of(&[i]) == Some(Cond::Always))
            }
        };
        self.parts.iter().all(holds)
    }

    /// Whether there are as many conditions as values, where each value has its own.
    pub(super) fn are_of(&self, values: usize) -> bool {
        self.parts.iter().all(|part| match part {
            Kind::All(_) => true,
            Kind::Each(conds) => conds.len() == values,
            Kind::Inside { coordinates, .. } => coordinates.len() == values,
        })
    }

    /// The condition of these values; `None` unless it is known to hold for all of them if it holds for one.
    pub(super) fn of(&self, group: &[i64]) -> Option<Cond> {
        self.parts.iter().map(|part| part.of(group)).collect::<Option<Vec<_>>>().map(Cond::all)
    }

    /// The conditions of a vector of these values within which a row may end, so that only its first values are wanted. `None` if the
    /// coordinates of the first and the last value do not tell this.
    pub(super) fn cut(&self, group: &[i64]) -> Option<Cut> {
        let (others, ends) = self.ends(group)?;
        let below = |i: i64| Cond::all(ends.iter().map(|end| Cond::less(&(&end.first + i), end.extent)));
        let count = group.len() as i64;
        let (first, last, others) = (below(0), below(count - 1), Cond::all(others));
        Some(Cut {
            whole: Cond::all([others.clone(), last.clone()]),
            partly: Cond::all([others, first, Cond::not(last)]),
            below: std::iter::once(Cond::Always).chain((1..count).map(below)).collect(),
        })
    }

    /// How many bytes of these values, each of `bits` bits, are wanted, if the wanted values are the first ones: for copies that fill
    /// up with zeros. `None` if the conditions do not say so, or if the wanted values may end inside a byte.
    pub(super) fn wanted(
        &self,
        b: &mut Builder,
        group: &[i64],
        bits: i64,
    ) -> Result<Option<girih_ptx::Operand>, Error> {
        let count = Expr::from(group.len() as i64);
        let Some((others, ends)) = self.ends(group) else { return Ok(None) };
        let least =
            |left: Expr, end: &End<'_>| left.minimum(&(end.extent - &end.first).maximum(&Expr::from(0)));
        let wanted = &ends.iter().fold(count, least) * bits;
        if wanted.multiple() % 8 != 0 {
            return Ok(None);
        }
        b.select_or_zero(&Cond::all(others), &wanted.div(8)?).map(Some)
    }

    /// The conditions that hold for all of these values or for none, and the modes along which the values' coordinates go up one by one
    /// and may reach the end of the extent within the values.
    fn ends(&self, group: &[i64]) -> Option<(Vec<Cond>, Vec<End<'_>>)> {
        let (mut others, mut ends) = (Vec::new(), Vec::new());
        for part in &self.parts {
            if let Some(cond) = part.of(group) {
                others.push(cond);
                continue;
            }
            let Kind::Inside { coordinates, extents } = part else { return None };
            for (mode, extent) in extents.iter().enumerate() {
                let line = along(coordinates, group, mode);
                match inside(&line, extent) {
                    Some(cond) => others.push(cond),
                    None if follows(&line) && line[0].range().0 >= 0 => {
                        let end = End { first: line[0].clone(), extent };
                        // Source and target mostly have the same extents.
                        if !ends.contains(&end) {
                            ends.push(end);
                        }
                    }
                    None => return None,
                }
            }
        }
        Some((others, ends))
    }
}

/// Coordinates that go up one by one from `first`, and the extent that they may cross.
#[derive(PartialEq)]
struct End<'a> {
    first: Expr,
    extent: &'a Expr,
}

/// A vector within which a row may end.
pub(super) struct Cut {
    /// The condition that all values are wanted.
    pub(super) whole: Cond,
    /// The condition that some values are wanted, but not the last one.
    pub(super) partly: Cond,
    /// Where `partly` holds, for each value the condition that this value is wanted, and with it the values before it.
    pub(super) below: Vec<Cond>,
}

impl Kind {
    fn of(&self, group: &[i64]) -> Option<Cond> {
        match self {
            Kind::All(cond) => Some(cond.clone()),
            Kind::Each(conds) => {
                let mut all = group.iter().map(|&i| conds.get(i as usize));
                let first = all.next()??;
                all.all(|cond| cond == Some(first)).then(|| first.clone())
            }
            Kind::Inside { coordinates, extents } => {
                let modes =
                    (0..extents.len()).map(|mode| inside(&along(coordinates, group, mode), &extents[mode]));
                modes.collect::<Option<Vec<_>>>().map(Cond::all)
            }
        }
    }
}

fn along(coordinates: &[Vec<Expr>], group: &[i64], mode: usize) -> Vec<Expr> {
    group.iter().map(|&i| coordinates[i as usize][mode].clone()).collect()
}

/// Whether each coordinate is one more than the coordinate before.
fn follows(line: &[Expr]) -> bool {
    line.windows(2).all(|pair| (&pair[1] - &pair[0]).as_constant() == Some(1))
}

/// The condition that these coordinates are from 0 to below `extent`, if it holds for all or for none.
fn inside(line: &[Expr], extent: &Expr) -> Option<Cond> {
    let inside = |at: &Expr| Cond::all([Cond::less(&Expr::from(-1), at), Cond::less(at, extent)]);
    let steps = line.iter().map(|at| (at - &line[0]).as_constant()).collect::<Option<Vec<_>>>()?;
    let (low, high) = (*steps.iter().min()?, *steps.iter().max()?);
    let (first, last) = (&line[0] + low, &line[0] + high);
    let cond = inside(&first);
    // Both ends are multiples of more than the coordinates span, so that no extent ends within the coordinates.
    let step = num_integer::gcd(first.multiple(), extent.multiple());
    (step > high - low || cond == inside(&last)).then_some(cond)
}
