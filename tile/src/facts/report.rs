//! What is known of a kernel, and what its launches must satisfy.

use super::bounds::Bounds;
use super::index::Index;
use super::interval::{Concrete, Intervals};
use super::poly::Poly;
use crate::error::Site;
use crate::ir::{ArrayId, Func, OpId, Value};

/// What a launch must satisfy so that what was proved holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The grid has one block along an axis, which the kernel does not ask for.
    OneBlock {
        /// The array whose stores would meet.
        array: ArrayId,
        /// The axis of the grid.
        axis: u8,
    },
    /// An expression is 1 or more.
    Positive {
        /// The array whose stores are disjoint then.
        array: ArrayId,
        /// The expression.
        poly: Poly,
    },
    /// The step of a loop is 1 or more.
    Step {
        /// The step.
        value: Value,
        /// Where the loop is in the user's program.
        site: Option<Site>,
        /// Whether the step depends on the values of scalars.
        by_scalars: bool,
    },
    /// No integer on the way to an index leaves its dtype.
    NoWrap {
        /// The array whose stores are disjoint then.
        array: ArrayId,
        /// The access.
        op: OpId,
        /// The index.
        value: Value,
    },
}

/// How it is known that accesses of an array by different blocks do not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is proved; the steps.
    Proved(Vec<String>),
    /// The user says so; the reason.
    Waived(String),
    /// Nothing is stored, or all accesses have an order.
    NotStored,
    /// They may meet: all store one value, or those that load decide about atomic operations alone. The kernel has them with a relaxed order.
    Agreed,
}

/// What is known of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Of each array parameter that may be written.
    pub arrays: Vec<(ArrayId, Verdict)>,
    /// What a launch must satisfy.
    pub conditions: Vec<Condition>,
    /// How the bounds of each access are known.
    pub bounds: Bounds,
}

impl Report {
    /// What a condition asks for, as text.
    pub fn text(func: &Func, condition: &Condition) -> String {
        let index = Index::new(func);
        let name = |value| index.name(value);
        match condition {
            Condition::OneBlock { axis, .. } => format!("the grid has one block along axis {axis}"),
            Condition::Positive { poly, .. } => format!("{} is 1 or more", poly.show(&name)),
            Condition::Step { value, .. } => format!("the step {} of a range is 1 or more", name(*value)),
            Condition::NoWrap { value, .. } => {
                let dtype = func.ty(*value).dtype;
                format!("the index {} is computed without leaving {dtype}", name(*value))
            }
        }
    }

    /// The first condition that a grid and arguments do not satisfy.
    pub fn broken(&self, func: &Func, with: &Concrete) -> Option<&Condition> {
        let index = Index::new(func);
        let intervals = Intervals::new(&index, with, &[]);
        self.conditions.iter().find(|condition| match condition {
            Condition::OneBlock { axis, .. } => with.grid[usize::from(*axis)] > 1,
            Condition::Positive { poly, .. } => intervals.poly(poly).is_none_or(|range| range.0 < 1),
            // What is not known exactly, the kernel compares itself.
            Condition::Step { value, .. } => intervals.value(*value).is_some_and(|range| range.1 < 1),
            Condition::NoWrap { op, value, .. } => {
                let region = index.region_of(*op).unwrap_or(func.body());
                let conditions = index.conditions(region);
                Intervals::new(&index, with, &conditions).value(*value).is_none()
            }
        })
    }
}
