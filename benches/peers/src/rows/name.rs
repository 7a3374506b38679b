//! Names of rows: what a row measures, in a line.

use std::fmt;

use super::{Kind, Movement, Product, Work};

/// Numbers with something between them.
fn joined<T: ToString>(numbers: &[T], by: &str) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(by)
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Product(product) => product.fmt(f),
            Work::Movement(movement) => movement.fmt(f),
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dtype = self.dtype;
        write!(f, "{dtype}")?;
        match self.weights {
            Some(weights) => write!(f, " x {weights}")?,
            None if self.fast => write!(f, " fast")?,
            None => {}
        }
        write!(f, " {} ", self.layout)?;
        match (self.grouped, self.batch) {
            (true, groups) => write!(f, "{groups} groups of ")?,
            (false, 1) => {}
            (false, batch) => write!(f, "{batch} x ")?,
        }
        write!(f, "{}", joined(&self.mnk, "x"))?;
        if let Some(ld) = &self.ld {
            write!(f, " ld {}", joined(ld, ","))?;
        }
        if self.fused {
            write!(f, " gelu bias residual")?;
        }
        match (self.kernel, &self.tile) {
            (Some(kernel), _) => write!(f, " by {}", kernel.name()),
            (None, Some(tile)) => write!(f, " by tiles of {}", joined(tile, "x")),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Movement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Copy => "copy",
            Kind::Permute => "permute",
            Kind::Gather => "gather",
        };
        write!(f, "{kind} {} {}", self.dtype, joined(&self.shape, "x"))?;
        match self.kind {
            Kind::Permute => write!(f, " by {}", joined(&self.order, ",")),
            Kind::Copy | Kind::Gather => Ok(()),
        }
    }
}
